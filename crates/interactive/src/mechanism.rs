//! The mechanism: answers from a public guess, asks the data whether the guess was wrong, and only then lets it speak.
//! The only place of this crate that draws noise.
//!
//! # The algorithm
//! A query q comes, chosen in any way. [`Hypothesis::evaluate`] gives the guess. The sparse vector is asked two signed
//! queries against one noisy threshold: first q(x) − guess, then, if that was ⊥, guess − q(x).
//!
//! - Both ⊥: the guess is the answer. It costs nothing.
//! - The first ⊤: its sign and its gap (paper mode: a value with noise of its own) tell where the answer is. The
//!   hypothesis is corrected, and the answer comes from the data.
//! - After c ⊤ the data is never read again; guesses go on ([`Source::Unchecked`]).
//!
//! A query that was asked before gets its old answer. (HR10; GRU12's frame; DR14 Algorithm 15; BR11 section 3.)
//!
//! # Privacy
//! A session is (ε, δ)-private, the budget of its [`Plan`], for the neighbours it names, for any adaptive queries,
//! together with all its answers and whatever is computed from them.
//!
//! *Proof sketch.* What of the data gets out, gets out in [`SparseVector::answer_with`], called in `listen`.
//! It is a run of a plan that has checked its noise against the budget at sensitivity Δ = L·2²⁰ units and for queries
//! that are not monotone (`Setting::sparse_vector`, `Plan::check`), and each of its queries has that sensitivity: a
//! guess is a function of earlier outputs, so given these it is a constant, and q(x), exact in units, moves by at most
//! 2²⁰ for each of the at most L rows of a unit, one way or the other, since a query is a set of keys with weights of
//! at most 1 (under substitution one row goes and one comes: still at most 2²⁰). Which of the two signed queries is ⊤
//! is the verdict of two queries of the stream; the second, after a ⊤ of the first, is never asked. The gap is free and
//! the value paid for, see [`sparse_vector`](tamis_noise::sparse_vector). Everything else is computed from verdicts and
//! gaps: guesses, corrections, aims, clamping, the transcript. In a Gaussian session k answers of sensitivity Δ are one
//! vector of squared norm kΔ², and there is no (k + 1)-st. A guarded session is two mechanisms, the [projection
//! release](tamis_projection::release) and the sparse vector, on two shares of the budget (basic composition); the
//! guess is computed from the first and from earlier outputs.
//!
//! Refusals depend on public things: the query's width, the plan, how often it answered. Under substitution a wrong n
//! is refused, because n is public; under add-remove it is not looked at.
//!
//! # Limitations
//! The time of an answer depends on private margins and on the number of distinct records: do not let an analyst
//! measure it. The state holds the noisy threshold and is as secret as the data.
//!
//! # Crashes
//! A ⊤ is counted before anything comes of it, so what is in memory never owes. To survive the end of the process,
//! store *before an answer is drawn* the [charged head](Session::charged_head), as if it had used up a correction
//! already: it may be lost, and that it was may tell where it came from. Store after it, *before it is given out*, the
//! [`Head`] (small), the new [`Entry`] of the [`transcript`](Session::transcript), and, if the answer came from the data,
//! the [hypothesis](Session::hypothesis), or what of it [that query changed](crate::SparseWeights::store_keys_of).
//! [`Session::state`] is all of it at once. **Only the latest state may be continued, and once**: nothing in it can
//! tell.
//!
//! # References
//! - **DR14** C. Dwork, A. Roth, *The Algorithmic Foundations of Differential Privacy*, 2014, sections 4.2 and 5.2.
//! - BR11, HR10, GRU12: see [`sparse_weights`](crate::sparse_weights).

use crate::data::UNIT;
use crate::plan::{PlanError, gaussian_noise};
use crate::transcript::{Entry, Transcript};
use crate::{
    Data, GuardedPlan, GuardedRelease, Hypothesis, Learner, Mode, Plan, Query, Refused, SparseWeights, Step,
    StoredWeights,
};
use rand::CryptoRng;
use serde::{Deserialize, Serialize};
use std::fmt;
use tamis_noise::sparse_vector::{Halted, Reported, Snapshot, SnapshotError, SparseVector, Verdict};
use tamis_noise::{GaussianMechanism, Hits, Neighbours, Scale};
use tamis_projection::ProjectionError;
use tamis_queries::SparseQuery;

/// Where an answer is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The guess, which the data did not contradict.
    Hypothesis,
    /// The data, with noise.
    Data,
    /// The guess, after the last correction: the data was not asked.
    Unchecked,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Hypothesis => "hypothesis",
            Self::Data => "data",
            Self::Unchecked => "hypothesis, unchecked",
        })
    }
}

/// The answer to a query. All of it may be published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// In records.
    pub value: f64,
    /// Where it is from.
    pub source: Source,
    /// How far it is from the truth at most, in records: all of a session's bounds hold together with probability 1 −
    /// β. The truth is that of the weights as they were given. None where nothing is promised.
    pub bound: Option<f64>,
    /// Whether it is the answer to the same query, asked before.
    pub is_repeated: bool,
    /// How many corrections are left; in a Gaussian session, how many answers.
    pub left: u64,
}

/// Answers to the first of a batch of queries, and why there are no more.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// In order: for all queries, or up to the one that was refused.
    pub answers: Vec<Answer>,
    /// Of the query after them.
    pub refused: Option<Refusal>,
}

/// A query, a plan, data or a state that is refused. Nothing in it is private, and nothing was spent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The query.
    #[error(transparent)]
    Query(#[from] Refused),
    /// A Gaussian session has given all its answers.
    #[error("the session has given all its {0} answers; more need a new session and a new budget")]
    Exhausted(u64),
    /// n, under substitution.
    #[error("under substitution the number of records is public: the plan says {planned}, there are {actual}")]
    Records {
        /// Of the plan.
        planned: u64,
        /// Of the data.
        actual: i64,
    },
    /// L.
    #[error(
        "the plan is for at most {planned} rows a unit, the data was bounded to {bounded}: bound it to fewer, or \
         plan for more"
    )]
    RowsBeyondPlan {
        /// Of the plan.
        planned: u32,
        /// Of the data.
        bounded: u32,
    },
    /// A hypothesis that can be wrong more often than the plan affords.
    #[error(
        "the plan is for another hypothesis: it affords {planned} updates, this one may make {made} and need {needed}"
    )]
    Hypothesis {
        /// c.
        planned: u32,
        /// How many it may make.
        made: u32,
        /// B(α), as text.
        needed: String,
    },
    /// The plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The release that is to be guarded.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A stored run of the sparse vector.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A stored session that no run has made.
    #[error("a stored session is damaged: {0}")]
    Damaged(&'static str),
}

/// A session: see the [module](self) for algorithm, privacy and proof.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_interactive::{Data, Learner, Plan, Query, Session, Setting, Source};
/// use tamis_noise::{Beta, Budget, Epsilon, Hits, Neighbours, Queries};
/// use tamis_queries::{Fingerprint, Histogram, SparseQuery};
///
/// let mut table = Histogram::builder();
/// for key in 0..2_000 {
///     table.add(Fingerprint::raw(key), 5)?; // 10 000 records
/// }
/// let data = Data::keys(table.build());
/// let setting = Setting {
///     records: 10_000,
///     largest_count: 10_000,
///     support: 1_000,
///     queries: Queries::new(100)?,
///     beta: Beta::new(0.05)?,
///     budget: Budget::pure(Epsilon::new(1.0)?),
///     neighbours: Neighbours::Substitute,
///     rows_per_unit: 1,
/// };
/// let plan = Plan::budgeted(&setting, Learner::SparseWeights, Hits::new(5)?, 500)?;
/// assert!(plan.guarantee() < 0.1);
///
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let mut session = Session::new(plan, &data, &mut rng)?;
/// let list = Query::keys(SparseQuery::count((0..1_000).map(Fingerprint::raw)));
/// let answer = session.answer(&list, &mut rng)?;
/// assert_eq!((answer.source, answer.left), (Source::Data, 4)); // the first guess was m/N, a sixth
/// assert!((answer.value - 5_000.0).abs() <= answer.bound.unwrap());
///
/// let half = Query::keys(SparseQuery::count((0..500).map(Fingerprint::raw)));
/// assert_eq!(session.answer(&half, &mut rng)?.source, Source::Hypothesis); // it has learned
/// assert!(session.answer(&list, &mut rng)?.is_repeated);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It cannot be cloned: two sessions under one noisy threshold would spend the budget twice.
pub struct Session<'data, H = SparseWeights> {
    plan: Plan,
    data: &'data Data,
    hypothesis: H,
    ear: Ear,
    transcript: Transcript,
    /// Hits, or answers, that were charged and of which nothing is known.
    lost: u64,
    /// Comparisons that may have been made and forgotten. Made again, they have another chance to err.
    forgotten: u64,
}

/// How the data is asked.
enum Ear {
    SparseVector(Box<SparseVector>),
    Gaussian { noise: GaussianMechanism, left: u64 },
}

/// Without the noisy threshold and the keys.
impl<H> fmt::Debug for Session<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("plan", &self.plan).field("left", &self.left()).finish_non_exhaustive()
    }
}

/// What the data said when it contradicted a guess.
struct Correction {
    /// Whether the answer is above the guess, …
    is_above: bool,
    /// … and by how much, noise included. Units.
    distance: i64,
}

impl<'data> Session<'data> {
    /// Begins a session with sparse weights. From here on the plan's whole budget is spent.
    ///
    /// `rng` must be cryptographic and, in a release, seeded by the operating system.
    ///
    /// # Errors
    /// If the plan is not for such data, by what is public of it, or for another learner.
    pub fn new<R: CryptoRng + ?Sized>(plan: Plan, data: &'data Data, rng: &mut R) -> Result<Self, Refusal> {
        let weights = plan.sparse_weights(data.width())?;
        Self::with_hypothesis(plan, weights, data, rng)
    }
}

impl<'data> Session<'data, GuardedRelease> {
    /// Releases the projection, and begins a session that guards it. From here on the plan's whole cost is spent.
    ///
    /// # Errors
    /// If the plan is not for such data, by what is public of it.
    pub fn guarded<R: CryptoRng + ?Sized>(plan: &GuardedPlan, data: &'data Data, rng: &mut R) -> Result<Self, Refusal> {
        let guard = plan.guard();
        check_data(guard, data)?;
        let release = plan.release().release(data.histogram(), rng)?;
        let hypothesis = GuardedRelease::new(release, guard.setting().records, guard.setting().support, data.width())?;
        Self::with_hypothesis(guard.clone(), hypothesis, data, rng)
    }
}

impl<'data, H: Hypothesis> Session<'data, H> {
    /// Begins a session with another hypothesis: one that nobody has shown the data to, or only what was paid for.
    ///
    /// # Errors
    /// If the plan is not for such data, by what is public of it, or the hypothesis can be wrong more often than the
    /// plan affords.
    pub fn with_hypothesis<R: CryptoRng + ?Sized>(
        plan: Plan,
        hypothesis: H,
        data: &'data Data,
        rng: &mut R,
    ) -> Result<Self, Refusal> {
        check_data(&plan, data)?;
        check_hypothesis(&plan, &hypothesis, plan.updates().map_or(0, Hits::get))?;
        let mut key = [0; 16];
        rng.fill_bytes(&mut key);
        let ear = match plan.gate() {
            Some(gate) => Ear::SparseVector(Box::new(SparseVector::new(gate.clone(), plan.threshold_in_units(), rng))),
            None => Ear::Gaussian { noise: gaussian_noise(plan.setting())?, left: plan.setting().queries.get() },
        };
        Ok(Self { plan, data, hypothesis, ear, transcript: Transcript::new(key), lost: 0, forgotten: 0 })
    }

    /// The answer to the same query, if it was asked before. Asking it again gives just that, at no cost.
    pub fn recall(&self, query: &Query) -> Option<Answer> {
        let entry = self.transcript.find(self.transcript.digest(query))?;
        Some(self.published(entry, true))
    }

    /// Answers one query.
    ///
    /// # Errors
    /// If the query is wider than the plan allows, or a Gaussian session has given all its answers: then nothing was
    /// spent.
    pub fn answer<R: CryptoRng + ?Sized>(&mut self, query: &Query, rng: &mut R) -> Result<Answer, Refusal> {
        let digest = self.transcript.digest(query);
        if let Some(entry) = self.transcript.find(digest) {
            return Ok(self.published(entry, true));
        }
        let guess = self.guess(query)?;
        let (units, source) = self.settle(query, guess, rng)?;
        let bound = self.bound(query, source);
        let entry = Entry { digest, units, source, bound };
        self.transcript.push(entry);
        Ok(self.published(entry, false))
    }

    /// Answers queries in order, until one is refused. What was answered before it is never lost.
    pub fn answer_all<R: CryptoRng + ?Sized>(&mut self, queries: &[Query], rng: &mut R) -> Batch {
        let mut batch = Batch { answers: Vec::with_capacity(queries.len()), refused: None };
        for query in queries {
            match self.answer(query, rng) {
                Ok(answer) => batch.answers.push(answer),
                Err(refusal) => {
                    batch.refused = Some(refusal);
                    break;
                }
            }
        }
        batch
    }

    /// The guess in units, from public things alone.
    fn guess(&self, query: &Query) -> Result<i64, Refused> {
        let share = self.hypothesis.evaluate(query)?;
        // At most 2^60; a hypothesis that is no share (NaN) guesses 0.
        Ok((share.clamp(0.0, 1.0) * self.total() as f64).round() as i64)
    }

    /// The answer in units, and where it is from.
    fn settle<R: CryptoRng + ?Sized>(
        &mut self,
        query: &Query,
        guess: i64,
        rng: &mut R,
    ) -> Result<(i64, Source), Refusal> {
        match &mut self.ear {
            Ear::Gaussian { left: 0, .. } => Err(Refusal::Exhausted(self.plan.setting().queries.get())),
            Ear::Gaussian { noise, left } => {
                *left -= 1;
                let value = noise.release(self.data.evaluate(query), rng);
                Ok((value.clamp(0, self.total()), Source::Data))
            }
            Ear::SparseVector(gate) => match listen(gate, self.data, query, guess, rng) {
                Err(Halted { .. }) => Ok((guess, Source::Unchecked)),
                Ok(None) => Ok((guess, Source::Hypothesis)),
                Ok(Some(correction)) => {
                    let value = correction.value(guess).clamp(0, self.total());
                    let step = self.step(guess, &correction);
                    // What was answered does not depend on what is learned, so it is not lost if nothing is.
                    let learned = self.hypothesis.update(query, step);
                    debug_assert!(learned.is_ok(), "{learned:?}");
                    Ok((value, Source::Data))
                }
            },
        }
    }

    /// How the hypothesis is to be corrected.
    fn step(&self, guess: i64, correction: &Correction) -> Step {
        let (total, errors) = (self.total() as f64, self.plan.errors());
        // Lossless: the noise is below 2⁶¹.
        let (distance, noise) = (correction.distance, errors.released as i64);
        let aim = match self.plan.mode() {
            Mode::Paper => {
                // η = α/2. A positive number.
                let rate = noise as f64 / total / 2.0;
                return if correction.is_above { Step::Raise(rate) } else { Step::Lower(rate) };
            }
            // As near as the truth can be: the aim is not beyond it, and at least α_up away.
            Mode::Tight | Mode::Gaussian => distance.saturating_sub(noise),
            // The user's threshold may be below the noise; then half-way is a better aim than none.
            Mode::Budgeted => distance.saturating_sub(noise).max(distance / 2),
        };
        let aim = Correction { is_above: correction.is_above, distance: aim };
        Step::Reach((aim.value(guess) as f64 / total).clamp(0.0, 1.0))
    }

    /// What holds for an answer from there, in units.
    fn bound(&self, query: &Query, source: Source) -> Option<u64> {
        // Half a unit for each record. No overflow: records are at most 2⁴⁰, bounds below 2⁶².
        let is_rounded = query.as_keys().is_some_and(SparseQuery::is_rounded);
        let rounding = if is_rounded { self.plan.setting().records.div_ceil(2) } else { 0 };
        self.promise(source).map(|bound| bound + rounding)
    }

    fn published(&self, entry: Entry, is_repeated: bool) -> Answer {
        Answer { value: entry.value(), source: entry.source(), bound: entry.bound(), is_repeated, left: self.left() }
    }

    /// n or ñ, in units.
    fn total(&self) -> i64 {
        self.plan.setting().total()
    }
}

/// Asks the data both ways whether the guess is wrong. The data is not touched once the run has ended.
fn listen<R: CryptoRng + ?Sized>(
    gate: &mut SparseVector,
    data: &Data,
    query: &Query,
    guess: i64,
    rng: &mut R,
) -> Result<Option<Correction>, Halted> {
    let threshold = gate.threshold();
    let mut truth = None;
    for is_above in [true, false] {
        let error = || {
            let truth = *truth.get_or_insert_with(|| data.evaluate(query));
            // No overflow: both are from 0 to 2^60.
            if is_above { truth - guess } else { guess - truth }
        };
        match gate.answer_with(error, rng)? {
            Verdict::Below => {}
            Verdict::Above(Reported::Value(distance)) => return Ok(Some(Correction { is_above, distance })),
            Verdict::Above(Reported::Gap(gap)) => {
                return Ok(Some(Correction { is_above, distance: threshold.saturating_add(gap) }));
            }
            // No plan of a session reports this; the threshold is then all that is known.
            Verdict::Above(Reported::Nothing) => return Ok(Some(Correction { is_above, distance: threshold })),
        }
    }
    Ok(None)
}

impl Correction {
    fn value(&self, guess: i64) -> i64 {
        if self.is_above { guess.saturating_add(self.distance) } else { guess.saturating_sub(self.distance) }
    }
}

/// Refuses data that the plan is not for, by what is public of it.
fn check_data(plan: &Plan, data: &Data) -> Result<(), Refusal> {
    let setting = plan.setting();
    let planned = setting.rows_per_unit;
    if !data.rows_per_unit().within(planned) {
        return Err(Refusal::RowsBeyondPlan { planned, bounded: data.rows_per_unit().known() });
    }
    // Under add-remove n is private, and nothing may depend on it. Lossless: a plan's records are at most 2⁴⁰.
    if setting.neighbours == Neighbours::Substitute && data.total() != setting.records as i64 {
        return Err(Refusal::Records { planned: setting.records, actual: data.total() });
    }
    Ok(())
}

/// Refuses a hypothesis that can be wrong more often than the plan affords, or learn less often than may still be
/// needed.
fn check_hypothesis<H: Hypothesis>(plan: &Plan, hypothesis: &H, left: u32) -> Result<(), Refusal> {
    let Some(updates) = plan.updates() else { return Ok(()) };
    let times = plan.mode().step_factor();
    let needed = match plan.errors().unchecked {
        Some(detected) => times * hypothesis.mistake_bound(detected as f64 / plan.setting().total() as f64),
        None => 0.0,
    };
    let made = hypothesis.updates_left();
    // A vacuous plan promises nothing.
    let is_enough = needed < f64::from(updates.get()) + 1.0 || plan.is_vacuous();
    if is_enough && made >= left {
        return Ok(());
    }
    Err(Refusal::Hypothesis { planned: updates.get(), made, needed: format!("{needed:.1}") })
}

/// The small part of a session's state, which every answer changes. It holds the noisy threshold: as secret as the
/// data.
#[derive(PartialEq, Serialize, Deserialize)]
pub struct Head {
    plan: Plan,
    transcript_key: [u8; 16],
    answered: u64,
    #[serde(default)]
    lost: u64,
    #[serde(default)]
    forgotten: u64,
    ear: StoredEar,
}

impl Head {
    /// What the session promised.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

#[derive(PartialEq, Serialize, Deserialize)]
enum StoredEar {
    SparseVector(Box<Snapshot>),
    Gaussian { left: u64 },
}

/// Without the noisy threshold and the key: what is debugged ends in logs.
impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, answered, .. } = self;
        f.debug_struct("Head").field("plan", plan).field("answered", answered).finish_non_exhaustive()
    }
}

/// All that a session needs to go on later, beside its data. No generator is in it, and no float.
///
/// **Only the latest may be continued, and once**, with the same data. Nothing in it can tell whether it is: whoever
/// stores it must.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What every answer changes.
    pub head: Head,
    /// What an answer from the data changes.
    pub weights: StoredWeights,
    /// To which every new answer is added.
    pub transcript: Vec<Entry>,
}

impl<H> Session<'_, H> {
    /// The plan it runs.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What it has learned so far: public.
    pub fn hypothesis(&self) -> &H {
        &self.hypothesis
    }

    /// How many corrections are left; in a Gaussian session, how many answers.
    pub fn left(&self) -> u64 {
        match &self.ear {
            Ear::SparseVector(gate) => gate.hits_left().into(),
            Ear::Gaussian { left, .. } => *left,
        }
    }

    /// How many corrections (in a Gaussian session, answers) were charged and then lost with the process that drew them.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How many comparisons may have been made and lost with the process that made them. They count among the k of the bound.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// What holds for a new answer from there, in units, if no weight of the query had to be rounded.
    fn promise(&self, source: Source) -> Option<u64> {
        let asked = (self.transcript.entries().len() as u64).saturating_add(self.forgotten);
        if asked >= self.plan.setting().queries.get() {
            return None;
        }
        let errors = self.plan.errors();
        match source {
            Source::Data => Some(errors.released),
            Source::Hypothesis => Some(errors.checked),
            // Corrections that were lost have taught nothing.
            Source::Unchecked => errors.unchecked.filter(|_| self.lost == 0),
        }
    }

    /// The standard deviation of the noise in an answer from the data, in records: σ of Gaussian noise; in paper mode that of
    /// the value's noise; else that of a gap, in which threshold and query have a noise each (a scale t counts as √2·t, which
    /// the discrete law is below).
    ///
    /// What clamping takes off is left out. **A gap is told because it was large**: where the guess was wrong by less than
    /// the threshold, it was the noise that was, and the answer is off by what was missing at least.
    pub fn noise_standard_deviation(&self) -> f64 {
        let laplace = |scale: &Scale| 2.0 * scale.to_f64_up().powi(2);
        let variance = match &self.ear {
            Ear::Gaussian { noise, .. } => noise.variance().to_f64_up(),
            Ear::SparseVector(gate) => {
                let plan = gate.plan();
                let gap = || laplace(plan.threshold_noise()) + laplace(plan.query_noise());
                plan.value_noise().map_or_else(gap, laplace)
            }
        };
        variance.sqrt() / UNIT as f64
    }

    /// Whether new answers are not compared with the data and nothing is promised of them: no correction is left, and what
    /// was learned need not be all.
    pub fn is_blind(&self) -> bool {
        self.plan.updates().is_some() && self.is_exhausted() && self.promise(Source::Unchecked).is_none()
    }

    /// Whether the data will not be read any more.
    pub fn is_exhausted(&self) -> bool {
        self.left() == 0
    }

    /// All different queries' answers, in order.
    pub fn transcript(&self) -> &[Entry] {
        self.transcript.entries()
    }

    /// The small part of the state. See [`State`].
    pub fn head(&self) -> Head {
        let ear = match &self.ear {
            Ear::SparseVector(gate) => StoredEar::SparseVector(Box::new(gate.snapshot())),
            Ear::Gaussian { left, .. } => StoredEar::Gaussian { left: *left },
        };
        self.head_with(ear, self.lost, self.forgotten)
    }

    /// The same as if so many `answers` had been drawn and lost, and with them a correction: what is to be stored before so
    /// many are drawn. A session that goes on from it has paid for what may have been seen, and counts them among the k of
    /// its bounds: [`charged_snapshot`](SparseVector::charged_snapshot), which also says when nothing may be drawn. After an
    /// answer from the data of a session that corrects itself, the [head](Self::head) is to be stored before another is
    /// drawn.
    pub fn charged_head<R: CryptoRng + ?Sized>(&self, answers: u64, rng: &mut R) -> Head {
        let charged = match &self.ear {
            Ear::SparseVector(gate) => u64::from(gate.hits_left()).min(1),
            Ear::Gaussian { left, .. } => answers.min(*left),
        };
        let ear = match &self.ear {
            Ear::SparseVector(gate) => StoredEar::SparseVector(Box::new(gate.charged_snapshot(rng))),
            Ear::Gaussian { left, .. } => StoredEar::Gaussian { left: left - charged },
        };
        let compared = if self.plan.updates().is_some() && charged > 0 { answers } else { 0 };
        self.head_with(ear, self.lost + charged, self.forgotten.saturating_add(compared))
    }

    fn head_with(&self, ear: StoredEar, lost: u64, forgotten: u64) -> Head {
        let answered = self.transcript.entries().len() as u64;
        Head { plan: self.plan.clone(), transcript_key: self.transcript.key(), answered, lost, forgotten, ear }
    }
}

impl<'data> Session<'data> {
    /// All of the state: what an answer leads to is to be stored before the answer is given out. Cost: linear in the
    /// assigned keys and in the answers; [`head`](Self::head), [`hypothesis`](Self::hypothesis) and
    /// [`transcript`](Self::transcript) give the parts.
    pub fn state(&self) -> State {
        State { head: self.head(), weights: self.hypothesis.store(), transcript: self.transcript.entries().to_vec() }
    }

    /// Goes on from the latest stored state, with the data it began with, under the same noisy threshold.
    ///
    /// # Errors
    /// If no session can have stored that, or the data is not what the plan is for.
    pub fn restore(state: State, data: &'data Data) -> Result<Self, Refusal> {
        let State { head, weights, transcript } = state;
        let weights = SparseWeights::restore(&weights)?;
        let session = Self::resume(head, weights, transcript, data)?;
        if session.plan.mode() == Mode::Gaussian {
            return Ok(session);
        }
        let fresh = session.plan.sparse_weights(data.width())?;
        if session.plan.learner() != Learner::SparseWeights || !session.hypothesis.has_the_sizes_of(&fresh) {
            return Err(Refusal::Damaged("its hypothesis is of another plan"));
        }
        if u64::from(session.hypothesis.updates_left()) != session.left() + session.lost {
            return Err(Refusal::Damaged("hypothesis and noisy threshold are of different moments"));
        }
        Ok(session)
    }
}

impl<'data, H: Hypothesis> Session<'data, H> {
    /// As [`restore`](Session::restore), with any hypothesis, brought back by other means to where the latest state had
    /// it.
    ///
    /// # Errors
    /// If no session can have stored that, or the data is not what the plan is for.
    pub fn resume(head: Head, hypothesis: H, transcript: Vec<Entry>, data: &'data Data) -> Result<Self, Refusal> {
        let Head { plan, transcript_key, answered, lost, forgotten, ear } = head;
        check_data(&plan, data)?;
        // All three are far below 2⁶³ where they are right.
        let used = answered.saturating_add(lost);
        let ear = restore_ear(&plan, ear, used)?;
        let transcript = restore_transcript(&plan, transcript_key, transcript)?;
        let entries = transcript.entries();
        if entries.len() as u64 != answered {
            return Err(Refusal::Damaged("the transcript has another length than the session says"));
        }
        if let (Ear::SparseVector(gate), Some(updates)) = (&ear, plan.updates()) {
            check_hypothesis(&plan, &hypothesis, gate.hits_left())?;
            let heard = entries.iter().filter(|entry| entry.source == Source::Data).count() as u64;
            if heard.saturating_add(lost) != u64::from(updates.get() - gate.hits_left()) {
                return Err(Refusal::Damaged("transcript and noisy threshold are of different moments"));
            }
        }
        Ok(Self { plan, data, hypothesis, ear, transcript, lost, forgotten })
    }
}

fn restore_ear(plan: &Plan, stored: StoredEar, used: u64) -> Result<Ear, Refusal> {
    match (stored, plan.gate()) {
        (StoredEar::SparseVector(snapshot), Some(gate)) => {
            let run = SparseVector::restore(*snapshot)?;
            if run.plan() != gate || run.threshold() != plan.threshold_in_units() {
                return Err(Refusal::Damaged("its noisy threshold is of another plan"));
            }
            Ok(Ear::SparseVector(Box::new(run)))
        }
        (StoredEar::Gaussian { left }, None) => {
            if left.checked_add(used) != Some(plan.setting().queries.get()) {
                return Err(Refusal::Damaged("it has more answers left than were not given"));
            }
            Ok(Ear::Gaussian { noise: gaussian_noise(plan.setting())?, left })
        }
        _ => Err(Refusal::Damaged("its noise is of another mode")),
    }
}

fn restore_transcript(plan: &Plan, key: [u8; 16], entries: Vec<Entry>) -> Result<Transcript, Refusal> {
    let mut transcript = Transcript::new(key);
    for entry in entries {
        if !(0..=plan.setting().total()).contains(&entry.units) {
            return Err(Refusal::Damaged("an answer beyond all records"));
        }
        if !transcript.push(entry) {
            return Err(Refusal::Damaged("one query with two answers"));
        }
    }
    Ok(transcript)
}
