//! A release that is watched over.

use super::projection::{effort, predicted};
use super::{Planned, QueryRelease, Question, Refusal};
use crate::plan::{About, Basis};
use tamis_interactive::{GuardedPlan, Session};
use tamis_noise::Hits;

/// A [guarded release](tamis_interactive::guarded), of ten corrections.
#[derive(Clone, Copy, Debug)]
pub struct GuardedRelease;

/// c.
const CORRECTIONS: u64 = 10;

impl QueryRelease for GuardedRelease {
    fn about(&self) -> About {
        About {
            name: "guarded-release",
            title: "guarded release",
            strength: "right for questions that depend on answers: a projection release that is corrected where it is wrong",
            found_at: "tamis session create --mode guarded",
            is_adaptive: true,
            basis: Basis::UntilCorrected,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let plan = GuardedPlan::new(&question.setting(), Hits::new(CORRECTIONS)?, question.key_multiplicity)?;
        let release = plan.release();
        Ok(Planned {
            typical: Some(predicted(release, question)),
            within: plan.guard().guarantee_in_records(),
            cost: plan.cost()?,
            effort: effort(release, question).beside_data(question.support as f64, question.keys()),
            release: Box::new(move |records, queries, rng| {
                let session = Session::guarded(&plan, records.data(), rng)?;
                super::learners::ask(session, queries, rng)
            }),
        })
    }
}
