//! Sessions whose hypothesis learns.

use super::{Effort, Planned, QueryRelease, Question, Refusal};
use crate::plan::{About, AnswerError, Basis, Records};
use rand::CryptoRng;
use tamis_interactive::{Hypothesis, Learner, Plan, Query, Session, SparsePerceptron};
use tamis_queries::SparseQuery;

/// [Sparse multiplicative weights](tamis_interactive::sparse_weights) with the least bound that is proven.
#[derive(Clone, Copy, Debug)]
pub struct SparseWeights;

/// The same with the papers' constants.
#[derive(Clone, Copy, Debug)]
pub struct SparseWeightsPaper;

/// The [sparse perceptron](tamis_interactive::perceptron) with the least bound that is proven.
#[derive(Clone, Copy, Debug)]
pub struct Perceptron;

/// [Dense multiplicative weights](tamis_interactive::dense_weights) with the least bound that is proven.
#[derive(Clone, Copy, Debug)]
pub struct DenseWeights;

const SPARSE_WEIGHTS: &str =
    "right for more questions, of more keys, than ten times the records: its bound hardly grows with either";

impl QueryRelease for SparseWeights {
    fn about(&self) -> About {
        About {
            name: "sparse-mw",
            title: "sparse multiplicative weights",
            strength: SPARSE_WEIGHTS,
            found_at: "tamis session create --mode sparse-mw",
            is_adaptive: true,
            basis: Basis::Theorem,
        }
    }

    fn learns(&self) -> bool {
        true
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let plan = Plan::tight(&question.setting(), Learner::SparseWeights)?;
        Ok(planned(plan, question, sparse_weights))
    }
}

impl QueryRelease for SparseWeightsPaper {
    fn about(&self) -> About {
        About {
            name: "sparse-mw-paper",
            title: "sparse weights, the papers' constants",
            strength: SPARSE_WEIGHTS,
            found_at: "tamis session create --mode paper",
            is_adaptive: true,
            basis: Basis::Theorem,
        }
    }

    fn learns(&self) -> bool {
        true
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let plan = Plan::paper(&question.setting(), Learner::SparseWeights)?;
        Ok(planned(plan, question, sparse_weights))
    }
}

impl QueryRelease for Perceptron {
    fn about(&self) -> About {
        About {
            name: "sparse-perceptron",
            title: "sparse perceptron",
            strength: "right for adaptive questions about keys that are rare each",
            found_at: "tamis::interactive::Plan::tight",
            is_adaptive: true,
            basis: Basis::Theorem,
        }
    }

    fn learns(&self) -> bool {
        true
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let plan = Plan::tight(&question.setting(), Learner::SparsePerceptron)?;
        Ok(planned(plan, question, |plan, records, queries, rng| {
            let setting = plan.setting();
            let spare = setting.records / setting.largest_count;
            let perceptron = SparsePerceptron::new(setting.support, spare, records.data().width())?;
            ask(Session::with_hypothesis(plan.clone(), perceptron, records.data(), rng)?, queries, rng)
        }))
    }
}

impl QueryRelease for DenseWeights {
    fn about(&self) -> About {
        About {
            name: "dense-mw",
            title: "dense multiplicative weights",
            strength: "right for any number of adaptive questions over a universe small enough to go through",
            found_at: "tamis::interactive::Plan::tight",
            is_adaptive: true,
            basis: Basis::Theorem,
        }
    }

    fn learns(&self) -> bool {
        true
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let universe = question.needs_universe()?;
        // One more, which stands for the records that are not there.
        let plan = Plan::tight(&question.setting(), Learner::DenseWeights(universe.saturating_add(1)))?;
        Ok(planned(plan, question, move |plan, records, queries, rng| {
            let keys = records.universe_of(universe)?.iter().copied();
            let weights = tamis_interactive::DenseWeights::new(keys, 1)?;
            ask(Session::with_hypothesis(plan.clone(), weights, records.data(), rng)?, queries, rng)
        }))
    }
}

fn sparse_weights(
    plan: &Plan,
    records: &Records,
    queries: &[SparseQuery],
    rng: &mut dyn CryptoRng,
) -> Result<Vec<f64>, AnswerError> {
    ask(Session::new(plan.clone(), records.data(), rng)?, queries, rng)
}

/// All of them, one after the other.
pub(super) fn ask<H: Hypothesis>(
    mut session: Session<'_, H>,
    queries: &[SparseQuery],
    rng: &mut dyn CryptoRng,
) -> Result<Vec<f64>, AnswerError> {
    queries.iter().map(|query| Ok(session.answer(&Query::keys(query.clone()), rng)?.value)).collect()
}

fn planned(
    plan: Plan,
    question: &Question,
    answers: impl Fn(&Plan, &Records, &[SparseQuery], &mut dyn CryptoRng) -> Result<Vec<f64>, AnswerError>
    + Send
    + Sync
    + 'static,
) -> Planned {
    let support = question.support as f64;
    let updates = plan.updates().map_or(0.0, |updates| f64::from(updates.get()));
    let hypothesis = match plan.learner() {
        Learner::DenseWeights(universe) => Effort::dense_vector(universe as f64),
        _ => Effort::table(support, support * updates, 0.0),
    };
    Planned {
        typical: plan.error_of_nothing_learned(question.typical_answer()),
        within: plan.guarantee_in_records(),
        cost: plan.cost(),
        effort: hypothesis.beside_data(support, question.keys()),
        release: Box::new(move |records, queries, rng| answers(&plan, records, queries, rng)),
    }
}
