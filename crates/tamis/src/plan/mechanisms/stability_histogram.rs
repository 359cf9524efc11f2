//! Noise on the counts of keys that are frequent.

use super::{Effort, Planned, QueryRelease, Question, Refusal};
use crate::plan::{About, Basis};
use tamis_baselines::StabilityHistogramPlan;

/// [`StabilityHistogramPlan`].
#[derive(Clone, Copy, Debug)]
pub struct StabilityHistogram;

impl QueryRelease for StabilityHistogram {
    fn about(&self) -> About {
        About {
            name: "stability-histogram",
            title: "noisy counts of frequent keys",
            strength: "right where keys have many records each: rare keys count as nothing, the others have little noise",
            found_at: "tamis::baselines::StabilityHistogramPlan",
            is_adaptive: false,
            basis: Basis::Theorem,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        question.needs_delta()?;
        let plan = StabilityHistogramPlan::new(&question.budget, question.neighbours, question.rows_per_unit)?;
        let released = question.keys().min(question.records as f64 / plan.threshold().threshold().max(1) as f64);
        Ok(Planned {
            typical: Some(question.typical_of_list(|count| plan.error_of_key(count))),
            within: plan.guarantee(question.support, question.queries, question.beta),
            cost: plan.cost().clone(),
            effort: Effort::table(question.support as f64, released, question.keys()),
            release: Box::new(move |records, queries, rng| {
                let release = plan.release(records.histogram(), rng)?;
                Ok(queries.iter().map(|query| release.answer(query).value).collect())
            }),
        })
    }
}
