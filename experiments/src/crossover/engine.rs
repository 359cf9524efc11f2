//! Every mechanism of the planner behind one function: the same plans, made once, and answers to lists.

use super::scene::{Lists, Scene};
use crate::sessions::{Engine as Interactive, Prepared, asking};
use tamis::baselines::{AlpPlan, PerQueryPlan, PerturbedHistogramPlan, StabilityHistogramPlan};
use tamis::interactive::{DenseWeights, Learner, Plan, Session};
use tamis::plan::Mechanism;
use tamis::projection::{HeavyKeys, NoiseKind, ProjectionRelease};
use tamis_harness::{TrialError, TrialRng};

/// Corrections of a guarded release: as many as the planner reckons with.
const CORRECTIONS: u64 = 10;

/// A mechanism with its plan.
#[derive(Debug)]
pub enum Engine {
    PerQuery(PerQueryPlan),
    Perturbed(PerturbedHistogramPlan),
    Stability(StabilityHistogramPlan),
    Alp(AlpPlan),
    Release(Box<tamis::projection::Plan>),
    Session(Prepared),
    DenseWeights(Box<Plan>),
}

impl Engine {
    /// Plans for what the scene states.
    pub fn new(mechanism: Mechanism, scene: &Scene) -> Result<Self, TrialError> {
        let question = scene.question()?;
        let (budget, neighbours) = (&question.budget, question.neighbours);
        let session = |engine| Ok(Self::Session(Prepared::new(engine, &scene.stated()?)?));
        match mechanism {
            Mechanism::LaplacePerQuery => {
                Ok(Self::PerQuery(PerQueryPlan::laplace(budget, neighbours, 1, question.queries)?))
            }
            Mechanism::GaussianPerQuery => {
                Ok(Self::PerQuery(PerQueryPlan::gaussian(budget, neighbours, 1, question.queries)?))
            }
            Mechanism::LaplaceHistogram => Ok(Self::Perturbed(PerturbedHistogramPlan::laplace(budget, neighbours, 1)?)),
            Mechanism::GaussianHistogram => {
                Ok(Self::Perturbed(PerturbedHistogramPlan::gaussian(budget, neighbours, 1)?))
            }
            Mechanism::StabilityHistogram => Ok(Self::Stability(StabilityHistogramPlan::new(budget, neighbours, 1)?)),
            Mechanism::Alp => {
                Ok(Self::Alp(AlpPlan::new(budget, neighbours, 1, question.records, question.largest_count)?))
            }
            Mechanism::Projection | Mechanism::HeavyKeysApart | Mechanism::DenseProjection => {
                let builder = ProjectionRelease::builder(budget.clone(), neighbours, 1)
                    .records(question.records)
                    .key_multiplicity(question.key_multiplicity)
                    .support(question.support)
                    .queries(question.queries)
                    .beta(question.beta);
                let builder = match mechanism {
                    Mechanism::DenseProjection => builder.dense().noise(NoiseKind::Gaussian).heavy(HeavyKeys::Off),
                    Mechanism::HeavyKeysApart => builder.heavy(HeavyKeys::On),
                    _ => builder.heavy(HeavyKeys::Off),
                };
                Ok(Self::Release(Box::new(builder.build()?)))
            }
            Mechanism::GuardedRelease => session(Interactive::Guarded { updates: CORRECTIONS }),
            Mechanism::SparseWeights => session(Interactive::Tight),
            Mechanism::SparseWeightsPaper => session(Interactive::Paper),
            Mechanism::Perceptron => session(Interactive::Perceptron),
            Mechanism::DenseWeights => {
                // One more, which stands for the records that are not there.
                let learner = Learner::DenseWeights(question.universe.unwrap_or(0) + 1);
                Ok(Self::DenseWeights(Box::new(Plan::tight(&scene.stated()?.setting()?, learner)?)))
            }
        }
    }

    /// Answers, in records, all of one release or session.
    pub fn answers(&self, scene: &Scene, asked: &Lists, rng: &mut TrialRng) -> Result<Vec<f64>, TrialError> {
        let world = scene.world()?;
        let lists = || asked.lists.iter();
        let mut ask = match self {
            Self::PerQuery(plan) => {
                let answers = plan.release(&asked.lists, &world.table, rng)?;
                return Ok(answers.into_iter().map(|answer| answer.value).collect());
            }
            Self::Perturbed(plan) => {
                let release = plan.release(scene.universe(), &world.table, rng)?;
                return lists().map(|list| Ok(release.answer(list)?.value)).collect();
            }
            Self::Stability(plan) => {
                let release = plan.release(&world.table, rng)?;
                return Ok(lists().map(|list| release.answer(list).value).collect());
            }
            Self::Alp(plan) => {
                let release = plan.release(&world.table, rng)?;
                return Ok(lists().map(|list| release.answer(list)).collect());
            }
            Self::Release(plan) => {
                let release = plan.release(&world.table, rng)?;
                return Ok(lists().map(|list| release.answer(list).value).collect());
            }
            Self::Session(prepared) => prepared.begin(world, rng)?,
            Self::DenseWeights(plan) => {
                let weights = DenseWeights::new(scene.universe(), 1)?;
                asking(Session::with_hypothesis(Plan::clone(plan), weights, &world.data, rng)?)
            }
        };
        asked.questions.iter().map(|question| Ok(ask(question, rng)?.value)).collect()
    }
}
