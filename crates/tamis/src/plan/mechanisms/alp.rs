//! Noisy bits.

use super::{Effort, Planned, QueryRelease, Question, Refusal};
use crate::plan::{About, Basis};
use tamis_baselines::AlpPlan;

/// [`AlpPlan`].
#[derive(Clone, Copy, Debug)]
pub struct Alp;

impl QueryRelease for Alp {
    fn about(&self) -> About {
        About {
            name: "alp",
            title: "ALP, noisy bits for each key",
            strength: "right where single keys are looked up: its errors do not cancel in a long list",
            found_at: "tamis::baselines::AlpPlan",
            is_adaptive: false,
            basis: Basis::Theorem,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let Question { budget, neighbours, rows_per_unit, records, largest_count, .. } = question;
        let plan = AlpPlan::new(budget, *neighbours, *rows_per_unit, *records, *largest_count)?;
        let levels = |count: f64| count / plan.step();
        let (in_data, of_key) = (levels(*records as f64), levels(question.key_multiplicity));
        Ok(Planned {
            typical: Some(question.typical_of_list(|count| plan.error_of_key(count))),
            within: plan.guarantee(question.support, question.queries, question.beta),
            cost: plan.cost().clone(),
            effort: Effort::bits(question.support as f64, plan.bits() as f64, in_data, of_key),
            release: Box::new(move |records, queries, rng| {
                let release = plan.release(records.histogram(), rng)?;
                Ok(queries.iter().map(|query| release.answer(query)).collect())
            }),
        })
    }
}
