//! The small database mechanism.

use super::{Effort, Planned, QueryRelease, Question, Refusal};
use crate::plan::{About, Basis};
use tamis_baselines::{DenseWorkload, SmallDatabasePlan};

/// [`SmallDatabasePlan`], of the size that gives the least bound.
#[derive(Clone, Copy, Debug)]
pub struct SmallDatabase;

impl QueryRelease for SmallDatabase {
    fn about(&self) -> About {
        About {
            name: "small-database",
            title: "small database (enumerated)",
            strength: "right for comparison, over a universe of some ten keys: it enumerates all small databases",
            found_at: "tamis::baselines::SmallDatabasePlan",
            is_adaptive: false,
            basis: Basis::Theorem,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let elements = question.needs_universe()?;
        let Question { budget, neighbours, rows_per_unit, records, queries, beta, .. } = question;
        question.needs_workload(elements)?;
        let plan = SmallDatabasePlan::with_least_guarantee(
            budget.epsilon(),
            *neighbours,
            *rows_per_unit,
            *records,
            elements,
            *queries,
            *beta,
        )?;
        let steps = plan.databases(elements)?.to_f64() * f64::from(plan.size()) * queries.to_f64();
        Ok(Planned {
            typical: None,
            within: plan.guarantee(elements, *queries, *beta)?,
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
