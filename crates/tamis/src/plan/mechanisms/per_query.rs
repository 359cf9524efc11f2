//! Noise for each answer.

use super::{Effort, Planned, QueryRelease, Question, Refusal};
use crate::plan::{About, Basis};
use tamis_baselines::PerQueryPlan;

/// [`PerQueryPlan::laplace`].
#[derive(Clone, Copy, Debug)]
pub struct LaplacePerQuery;

/// [`PerQueryPlan::gaussian`].
#[derive(Clone, Copy, Debug)]
pub struct GaussianPerQuery;

impl QueryRelease for LaplacePerQuery {
    fn about(&self) -> About {
        About {
            name: "laplace-per-query",
            title: "Laplace noise for each answer",
            strength: "right for a handful of queries: its error grows with their number, not with their length",
            found_at: "tamis::baselines::PerQueryPlan",
            is_adaptive: true,
            basis: Basis::Theorem,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let Question { budget, neighbours, rows_per_unit, queries, .. } = question;
        let plan = PerQueryPlan::laplace(budget, *neighbours, *rows_per_unit, *queries);
        let plan = plan.map_err(|_| too_many(question))?;
        Ok(planned(plan, question))
    }
}

impl QueryRelease for GaussianPerQuery {
    fn about(&self) -> About {
        About {
            name: "gaussian-per-query",
            title: "Gaussian noise for each answer",
            strength: "right while queries are few: its error grows with the root of their number, not with their length",
            found_at: "tamis session create --mode gaussian",
            is_adaptive: true,
            basis: Basis::Theorem,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        question.needs_delta()?;
        let Question { budget, neighbours, rows_per_unit, queries, .. } = question;
        let plan = PerQueryPlan::gaussian(budget, *neighbours, *rows_per_unit, *queries);
        let plan = plan.map_err(|_| too_many(question))?;
        Ok(planned(plan, question))
    }
}

/// Why there is no plan, without a share of an answer, which nobody stated.
fn too_many(question: &Question) -> Refusal {
    let (epsilon, queries) = (question.budget.epsilon(), question.queries.get());
    let reason = format!("epsilon = {epsilon}, shared by {queries} answers, leaves each less than there is noise for");
    Refusal { reason, remedy: None }
}

fn planned(plan: PerQueryPlan, question: &Question) -> Planned {
    Planned {
        typical: Some(plan.predicted_standard_error()),
        within: plan.guarantee(question.beta),
        cost: plan.cost().clone(),
        effort: Effort::table(question.support as f64, question.keys(), 0.0),
        release: Box::new(move |records, queries, rng| {
            let answers = plan.release(queries, records.histogram(), rng)?;
            Ok(answers.into_iter().map(|answer| answer.value).collect())
        }),
    }
}
