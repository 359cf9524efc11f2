//! Noise on the counts of all keys that there may be.

use super::{Effort, Planned, QueryRelease, Question, Refusal};
use crate::plan::{About, Basis};
use tamis_baselines::PerturbedHistogramPlan;

/// [`PerturbedHistogramPlan::laplace`].
#[derive(Clone, Copy, Debug)]
pub struct LaplaceHistogram;

/// [`PerturbedHistogramPlan::gaussian`].
#[derive(Clone, Copy, Debug)]
pub struct GaussianHistogram;

impl QueryRelease for LaplaceHistogram {
    fn about(&self) -> About {
        about("laplace-histogram", "noisy counts of all keys (Laplace)")
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let universe = question.needs_universe()?;
        let plan = PerturbedHistogramPlan::laplace(&question.budget, question.neighbours, question.rows_per_unit)?;
        Ok(planned(plan, universe, question))
    }
}

impl QueryRelease for GaussianHistogram {
    fn about(&self) -> About {
        about("gaussian-histogram", "noisy counts of all keys (Gaussian)")
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        question.needs_delta()?;
        let universe = question.needs_universe()?;
        let plan = PerturbedHistogramPlan::gaussian(&question.budget, question.neighbours, question.rows_per_unit)?;
        Ok(planned(plan, universe, question))
    }
}

fn about(name: &'static str, title: &'static str) -> About {
    About {
        name,
        title,
        strength: "right where all keys can be listed: its error grows with the root of a list's length",
        found_at: "tamis::baselines::PerturbedHistogramPlan",
        is_adaptive: false,
        basis: Basis::Theorem,
    }
}

fn planned(plan: PerturbedHistogramPlan, universe: u64, question: &Question) -> Planned {
    let support = question.support as f64;
    Planned {
        typical: Some(plan.predicted_standard_error(support)),
        within: plan.guarantee(question.support, question.queries, question.beta),
        cost: plan.cost().clone(),
        effort: Effort::table(support, universe as f64, universe as f64),
        release: Box::new(move |records, queries, rng| {
            let keys = records.universe_of(universe)?.iter().copied();
            let release = plan.release(keys, records.histogram(), rng)?;
            queries.iter().map(|query| Ok(release.answer(query)?.value)).collect()
        }),
    }
}
