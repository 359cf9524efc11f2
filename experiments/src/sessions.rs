//! Sessions of every kind behind one function, questions with their true answers, and a table to ask.

use rand::RngExt;
use tamis::interactive::{
    Answer, Data, GuardedPlan, Hypothesis, Learner, Plan, Query, Session, Setting, Source, SparsePerceptron,
};
use tamis::noise::{Beta, Budget, Delta, Epsilon, Hits, Neighbours, Queries};
use tamis::projection::ProjectionRelease;
use tamis::queries::{Conjunction, Fingerprint, FingerprintKey, Histogram, SparseQuery};
use tamis_harness::{Sample, TrialError, TrialRng};

use crate::points::Points;

/// Of all guarantees.
pub const BETA: f64 = 0.05;
/// What every session costs at most: ε, δ.
pub const BUDGET: (f64, f64) = (1.0, 1e-9);

/// What answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Engine {
    /// Sparse weights with the papers' constants.
    Paper,
    /// Sparse weights with ours.
    Tight,
    /// The sparse perceptron with ours.
    Perceptron,
    /// Sparse weights with so many corrections and this threshold, in records.
    Budgeted {
        /// c.
        updates: u64,
        /// T.
        threshold: u64,
    },
    /// Noise for each query.
    Gaussian,
    /// A projection release under guard, with so many corrections.
    Guarded {
        /// c.
        updates: u64,
    },
    /// A projection release alone.
    Release,
}

impl Engine {
    /// As in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Tight => "tight",
            Self::Perceptron => "tight, perceptron",
            Self::Budgeted { .. } => "budgeted",
            Self::Gaussian => "Gaussian for each",
            Self::Guarded { .. } => "guarded",
            Self::Release => "release alone",
        }
    }
}

/// What is known beforehand of the data and of what it will be asked.
#[derive(Clone, Copy, Debug)]
pub struct Stated {
    /// n.
    pub records: u64,
    /// The most records of one key.
    pub largest_count: u64,
    /// ‖x‖₂²/n: for prediction.
    pub multiplicity: f64,
    /// m.
    pub support: u64,
    /// k.
    pub queries: u64,
}

impl Stated {
    /// As plans want it, at [`BUDGET`] and [`BETA`].
    ///
    /// # Errors
    /// If a size is out of range.
    pub fn setting(&self) -> Result<Setting, TrialError> {
        Ok(Setting {
            records: self.records,
            largest_count: self.largest_count,
            support: self.support,
            queries: Queries::new(self.queries)?,
            beta: Beta::new(BETA)?,
            budget: Budget::approximate(Epsilon::new(BUDGET.0)?, Delta::new(BUDGET.1)?),
            neighbours: Neighbours::AddRemove,
            rows_per_unit: 1,
        })
    }
}

/// An engine with its plan.
#[derive(Clone, Debug)]
pub enum Prepared {
    /// A session of weights, of a perceptron, or of Gaussian noise.
    Session(Box<Plan>),
    /// A guarded release.
    Guarded(Box<GuardedPlan>),
    /// A release, and what it predicts for all queries together that do not depend on it.
    Release {
        /// For the whole ε.
        plan: Box<tamis::projection::Plan>,
        /// In records.
        error: f64,
    },
}

/// What gives a question its answer.
pub type Ask<'data> = Box<dyn FnMut(&Question, &mut TrialRng) -> Result<Answer, TrialError> + 'data>;

/// What asks this session.
pub fn asking<'data, H: Hypothesis + 'data>(mut session: Session<'data, H>) -> Ask<'data> {
    Box::new(move |question, rng| Ok(session.answer(&question.query, rng)?))
}

impl Prepared {
    /// Makes the plan: some tenths of a second if it is tight.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(engine: Engine, stated: &Stated) -> Result<Self, TrialError> {
        let setting = stated.setting()?;
        let session = |plan: Plan| Ok(Self::Session(Box::new(plan)));
        match engine {
            Engine::Paper => session(Plan::paper(&setting, Learner::SparseWeights)?),
            Engine::Tight => session(Plan::tight(&setting, Learner::SparseWeights)?),
            Engine::Perceptron => session(Plan::tight(&setting, Learner::SparsePerceptron)?),
            Engine::Budgeted { updates, threshold } => {
                session(Plan::budgeted(&setting, Learner::SparseWeights, Hits::new(updates)?, threshold)?)
            }
            Engine::Gaussian => session(Plan::gaussian(&setting)?),
            Engine::Guarded { updates } => {
                Ok(Self::Guarded(Box::new(GuardedPlan::new(&setting, Hits::new(updates)?, stated.multiplicity)?)))
            }
            Engine::Release => {
                let pure = Budget::pure(setting.budget.epsilon().clone());
                let plan = ProjectionRelease::builder(pure, setting.neighbours, setting.rows_per_unit)
                    .records(setting.records)
                    .key_multiplicity(stated.multiplicity)
                    .support(setting.support)
                    .queries(setting.queries)
                    .beta(setting.beta)
                    .build()?;
                let (support, records) = (stated.support as f64, stated.records as f64);
                let norm = records * stated.multiplicity;
                let (queries, beta) = (setting.queries, setting.beta);
                let normal = plan.predicted_error_of_all(support, norm, records, queries, beta);
                // A few frequent keys make errors that are not normal.
                let error = normal.max(plan.predicted_half_width(queries, beta)).min(records);
                Ok(Self::Release { plan: Box::new(plan), error })
            }
        }
    }

    /// The plan that listens to the data; none of a release alone.
    fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Session(plan) => Some(plan),
            Self::Guarded(plan) => Some(plan.guard()),
            Self::Release { .. } => None,
        }
    }

    /// What is promised, in records: of a release alone only to those who do not look at its answers before they ask.
    pub fn guarantee(&self) -> f64 {
        match self {
            Self::Release { error, .. } => *error,
            Self::Session(plan) => plan.guarantee_in_records(),
            Self::Guarded(plan) => plan.guard().guarantee_in_records(),
        }
    }

    /// c.
    pub fn updates(&self) -> Option<u32> {
        Some(self.plan()?.updates()?.get())
    }

    /// B: how often the hypothesis can be wrong, where that is bounded.
    pub fn mistakes(&self) -> Option<f64> {
        match self {
            Self::Session(plan) => plan.mistakes(),
            Self::Guarded(_) | Self::Release { .. } => None,
        }
    }

    /// Begins.
    ///
    /// # Errors
    /// If the plan is not for such data.
    pub fn begin<'data>(&self, world: &'data World, rng: &mut TrialRng) -> Result<Ask<'data>, TrialError> {
        let data = &world.data;
        match self {
            Self::Release { plan, error } => {
                let (release, bound) = (plan.release(&world.table, rng)?, *error);
                Ok(Box::new(move |question, _| {
                    let value = release.answer(&question.list).value;
                    Ok(Answer { value, source: Source::Hypothesis, bound: Some(bound), is_repeated: false, left: 0 })
                }))
            }
            Self::Guarded(plan) => Ok(asking(Session::guarded(plan, data, rng)?)),
            Self::Session(plan) if plan.learner() == Learner::SparsePerceptron => {
                let setting = plan.setting();
                let spare = setting.records / setting.largest_count;
                let perceptron = SparsePerceptron::new(setting.support, spare, data.width())?;
                Ok(asking(Session::with_hypothesis(Plan::clone(plan), perceptron, data, rng)?))
            }
            Self::Session(plan) => Ok(asking(Session::new(Plan::clone(plan), data, rng)?)),
        }
    }
}

/// Of all fingerprints here: any will do, where nothing is secret.
pub fn key() -> FingerprintKey {
    FingerprintKey::new([7; 16])
}

/// What is asked, and the table that has the true answers.
#[derive(Debug)]
pub struct World {
    /// For the truth.
    pub table: Histogram,
    /// For a session.
    pub data: Data,
}

impl World {
    /// Keys, each with how many records it has.
    ///
    /// # Errors
    /// If those are more than a table holds.
    pub fn of_keys(counts: impl IntoIterator<Item = (Fingerprint, u64)>) -> Result<Self, TrialError> {
        let mut table = Histogram::builder();
        for (key, count) in counts {
            table.add(key, count.try_into()?)?;
        }
        let table = table.build();
        Ok(Self { data: Data::keys(table.clone()), table })
    }

    /// Records of booleans, under [`key`].
    ///
    /// # Errors
    /// If a record has a bit beyond the width.
    pub fn of_points(points: &Points) -> Result<Self, TrialError> {
        let table = points.table(&key())?;
        let data = Data::named_points(table.clone(), points.width, &key(), points.points.iter().copied())?;
        Ok(Self { data, table })
    }
}

/// A query, as sessions take it, and as a list.
#[derive(Clone, Debug)]
pub struct Question {
    /// For a session.
    pub query: Query,
    /// For a release, and for the truth.
    pub list: SparseQuery,
}

impl Question {
    /// A list of keys.
    pub fn keys(keys: impl IntoIterator<Item = Fingerprint>) -> Self {
        let list = SparseQuery::count(keys);
        Self { query: Query::keys(list.clone()), list }
    }

    /// A conjunction of records of booleans, under [`key`].
    ///
    /// # Errors
    /// If it has too many points to be listed.
    pub fn conjunction(conjunction: Conjunction) -> Result<Self, TrialError> {
        Ok(Self { query: Query::conjunction(conjunction, key()), list: conjunction.query(&key())? })
    }

    /// The exact answer, in records.
    pub fn truth(&self, table: &Histogram) -> f64 {
        self.list.evaluate(table) as f64 / f64::from(SparseQuery::UNIT)
    }
}

/// The column of what is guaranteed for all answers together, as a share of the records.
pub const PROMISED: &str = "promised (share)";
/// The column of [`Tally::mean`], as a share of the records.
pub const MEAN: &str = "mean of all answers (share)";
/// The column of [`Tally::worst`]: its 95 % quantile over sessions, as a share of the records.
pub const WORST: &str = "worst of bounded answers (share)";
/// The column of [`after_the_last`], as a share of the records.
pub const UNCHECKED: &str = "worst of unchecked answers (share)";

/// What answers were like: all in records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// How many there were.
    pub answers: u64,
    /// The sum of all errors.
    pub sum: f64,
    /// The largest error of those that came with a bound.
    pub worst: f64,
    /// How many were beyond their bound.
    pub broken: u64,
    /// The largest error of those that the data was not asked about any more.
    pub after: f64,
    /// How many those were.
    pub unchecked: u64,
    /// How many were corrections.
    pub updates: u64,
}

impl Tally {
    /// Counts one answer. Repetitions are left out.
    pub fn add(&mut self, answer: &Answer, truth: f64) {
        if answer.is_repeated {
            return;
        }
        let error = (answer.value - truth).abs();
        self.answers += 1;
        self.sum += error;
        if let Some(bound) = answer.bound {
            self.worst = self.worst.max(error);
            self.broken += u64::from(error > bound);
        }
        if answer.source == Source::Unchecked {
            self.after = self.after.max(error);
            self.unchecked += 1;
        }
        self.updates += u64::from(answer.source == Source::Data);
    }

    /// The mean of all errors.
    pub fn mean(&self) -> f64 {
        self.sum / self.answers.max(1) as f64
    }
}

/// The worst error (its 1 − β quantile) once the data was not asked any more; none where that did not happen.
///
/// Of trials that measure `after` and `unchecked` as a [`Tally`] has them.
pub fn after_the_last(sample: &Sample) -> Option<f64> {
    (sample.mean("unchecked") > 0.0).then(|| sample.quantile("after", 1.0 - BETA))
}

/// How many records each of so many keys has, the i-th most frequent in proportion to 1/i; the first has what rounding
/// leaves.
///
/// ```
/// assert_eq!(tamis_experiments::sessions::zipf(3, 11), [6, 3, 2]);
/// ```
pub fn zipf(keys: u64, records: u64) -> Vec<u64> {
    let harmonic: f64 = (1..=keys).map(|rank| 1.0 / rank as f64).sum();
    let mut counts: Vec<u64> = (1..=keys).map(|rank| (records as f64 / harmonic / rank as f64) as u64).collect();
    let rest = records - counts.iter().sum::<u64>();
    if let Some(first) = counts.first_mut() {
        *first += rest;
    }
    counts
}

/// A rank from 1 to 2^`bits` − 1, small ones as likely as large ones: its length in binary is uniform.
pub fn any_rank(bits: u32, rng: &mut TrialRng) -> u64 {
    let length = rng.random_range(0..bits);
    (1 << length) + rng.random_range(0..1 << length)
}
