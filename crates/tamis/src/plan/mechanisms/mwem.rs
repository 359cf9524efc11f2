//! Multiplicative weights with the exponential mechanism.

use super::{Effort, Planned, QueryRelease, Question, Refusal};
use crate::plan::{About, Basis};
use tamis_baselines::{DenseWorkload, MwemPlan};

/// [`MwemPlan`], of as many rounds as give the least bound.
#[derive(Clone, Copy, Debug)]
pub struct Mwem;

impl QueryRelease for Mwem {
    fn about(&self) -> About {
        About {
            name: "mwem",
            title: "MWEM, weights learned from a workload",
            strength: "right for very many queries, all fixed beforehand, of few records over a small universe",
            found_at: "tamis::baselines::MwemPlan",
            is_adaptive: false,
            basis: Basis::Theorem,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let elements = question.needs_universe()?;
        let Question { budget, neighbours, rows_per_unit, records, queries, beta, .. } = question;
        question.needs_workload(elements)?;
        let plan =
            MwemPlan::with_least_guarantee(budget, *neighbours, *rows_per_unit, *records, elements, *queries, *beta)?;
        let steps = f64::from(plan.rounds()) * queries.to_f64() * elements as f64;
        Ok(Planned {
            typical: None,
            within: plan.guarantee(elements, *queries, *beta),
            cost: plan.cost().clone(),
            effort: Effort::searched(steps, question.support as f64, elements as f64),
            release: Box::new(move |records, queries, rng| {
                let workload = DenseWorkload::new(records.universe_of(elements)?.iter().copied(), queries)?;
                let release = plan.release(&workload, records.histogram(), rng)?;
                queries.iter().map(|query| Ok(release.answer(query)?)).collect()
            }),
        })
    }
}
