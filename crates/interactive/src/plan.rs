//! What a session will do, decided and priced before any data is seen.
//!
//! # Which plan
//!
//! | plan | the data is asked | a wrong guess is corrected by | every answer is within |
//! | ---- | ----------------- | ----------------------------- | ---------------------- |
//! | [`Plan::paper`] | by NumericSparse with the book's constants, at 2α | a step of rate α/2 | 3α |
//! | [`Plan::tight`] | by the [better][tight] sparse vector and its gap, at α_up + α_svt | [`Step::Reach`] | α_up + 2α_svt |
//! | [`Plan::budgeted`] | the same, c and T being the user's | the same | T + α_svt, for c corrections |
//! | [`GuardedPlan`] | the same | the same, beside a projection release | T + α_svt, for c corrections |
//! | [`Plan::gaussian`] | always: there is no hypothesis | – | σ√(2 ln(2k/β)) |
//!
//! [tight]: tamis_noise::sparse_vector::Plan::tight
//! [`Step::Reach`]: crate::Step::Reach
//! [`GuardedPlan`]: crate::GuardedPlan
//!
//! Compare their [guarantees](Plan::guarantee): for up to about 10n queries plain Gaussian noise is the least in the
//! worst case, and where a guarantee [is vacuous](Plan::is_vacuous) it is worth nothing. A budgeted session promises
//! less and in practice does much better than its bound.
//!
//! # Accuracy
//! A ⊤ is an answer of the sparse vector that is above its threshold: the guess is off, a correction is made. α_svt is
//! how far all noises together can be off but for a probability β:
//! [`accuracy`](tamis_noise::sparse_vector::Plan::accuracy) over 2k signed queries. (Not by DR14 Theorems 3.26 and
//! 3.28, which ask that few queries are near the threshold:) on that event,
//!
//! - every ⊤ has an error of at least T − α_svt =: α_up, so by the hypothesis' mistake bound there are at most B(α_up)
//!   of them. c is not less: the run does not end before the hypothesis has learned all it can, and then it is wrong by
//!   less than α_up, whether or not the data is looked at. (With ⌊B⌋ ≤ c the least α_up is √(P/(c + 1)), where B(α) =
//!   P/α².)
//! - every ⊥ has an error of at most T + α_svt = α_up + 2α_svt;
//! - every released value is off by at most α_svt.
//!
//! Paper: α_svt := α by [`theorem_3_28`], corrected, T = 2α, so 3α; B(α) = 4 ln N/α² ≤ c (DR14 Theorems 5.14, 5.15; up
//! to constants BR11's theorem).
//!
//! # Units
//! All errors are whole units of 2⁻²⁰ records, rounded up; guesses are rounded to them, and so are the weights of
//! queries that have fractions, which adds at most half a unit for each record: answers to such say so in their bound
//! ([`Answer::bound`](crate::Answer::bound)), plans do not. α is in shares of `records`. Under
//! add-remove neighbours that is an upper bound ñ on n that was stated: if it is too low, accuracy is void (no
//! distribution answers like the data); privacy never depends on it.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | n     | [`Setting::records`] | records |
//! | m     | [`Setting::support`] | keys |
//! | k, β  | [`Setting::queries`], [`Setting::beta`] | count, probability |
//! | c     | [`Plan::updates`] | count |
//! | N     | [`Plan::slots`] | slots |
//! | T     | [`Plan::threshold`] | records |
//! | α     | [`Plan::guarantee`] | share of the records |

use crate::data::UNIT;
use crate::hypothesis::check_size;
use crate::sparse_weights::{self, divergence, slots};
use crate::{Refused, SparseWeights, perceptron};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU128;
use tamis_noise::composition::CompositionError;
use tamis_noise::sparse_vector::{self, Report, Variant, accuracy::theorem_3_28};
use tamis_noise::{
    Beta, Budget, GaussianMechanism, Hits, Neighbours, ParameterError, Queries, Sensitivity, StreamKind,
};
use tamis_projection::ProjectionError;

/// What every plan must be told: nothing here has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// How many records: n, which is public, under substitution; an upper bound, stated and public, under add-remove.
    pub records: u64,
    /// The most records that one key has, if that is known of all data of this kind; else `records`. Accuracy rests on
    /// it, privacy does not.
    pub largest_count: u64,
    /// m: the most keys a query has.
    pub support: u64,
    /// k: for how many different queries the guarantee is to hold.
    pub queries: Queries,
    /// β: the probability with which it may fail.
    pub beta: Beta,
    /// What the whole session may cost.
    pub budget: Budget,
    /// Which data sets must be hard to tell apart.
    pub neighbours: Neighbours,
    /// L: how many records a unit of privacy has at most. 1 under substitution.
    pub rows_per_unit: u32,
}

/// What learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Learner {
    /// [`SparseWeights`], over any universe.
    SparseWeights,
    /// [`DenseWeights`](crate::DenseWeights) or [`SupportWeights`](crate::SupportWeights), over a universe of so many
    /// elements, padding included. Where `records` is only a bound there must be one that no record has and no query
    /// names: it stands for the records that are not there.
    DenseWeights(u64),
    /// [`SparsePerceptron`](crate::SparsePerceptron), over any universe.
    SparsePerceptron,
    /// [`GuardedRelease`](crate::GuardedRelease), over any universe: see [`GuardedPlan`](crate::GuardedPlan).
    GuardedRelease,
}

/// Which kind of plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// The papers' constants.
    Paper,
    /// The least error that is proven for all queries.
    Tight,
    /// As many corrections as the user says.
    Budgeted,
    /// Noise for every query.
    Gaussian,
}

impl Mode {
    /// How many times as often as with the best step a hypothesis can be wrong with this mode's.
    pub(crate) fn step_factor(self) -> f64 {
        if self == Self::Paper { 8.0 } else { 1.0 }
    }
}

/// A plan that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A size outside its range.
    #[error(transparent)]
    Size(#[from] Refused),
    /// The noise of the sparse vector.
    #[error(transparent)]
    SparseVector(#[from] sparse_vector::PlanError),
    /// The Gaussian noise.
    #[error(transparent)]
    Gaussian(#[from] CompositionError),
    /// A parameter that follows from others.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A learner whose mistakes the plan has no bound for.
    #[error("a {plan} plan needs a bound on the mistakes of its learner, and has none for {learner:?}")]
    Learner {
        /// Which.
        plan: &'static str,
        /// As given.
        learner: Learner,
    },
    /// The release that is guarded.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A release whose privacy is not that of its guard: neighbours, and how many rows a unit has.
    #[error(
        "release and guard must be for the same neighbours and rows of a unit: {} and {}, got {} and {}",
        of_guard.0, of_guard.1, of_release.0, of_release.1
    )]
    OtherUnits {
        /// Of the release.
        of_release: (Neighbours, u32),
        /// Of the guard.
        of_guard: (Neighbours, u32),
    },
    /// Substitution makes the number of records public, which tells how many a unit has where that may vary.
    #[error(
        "under substitution the number of records is public, and would tell how many a unit has: it must have 1, got {0}; \
         take add-remove"
    )]
    PrivateRecords(u32),
    /// A stored plan that was not made.
    #[error("a stored plan is damaged: {0}")]
    Damaged(&'static str),
}

/// A session before it has begun. See the [module](self).
///
/// ```
/// use tamis_interactive::{Learner, Plan, Setting};
/// use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
/// let setting = Setting {
///     records: 1_000_000,
///     largest_count: 1_000_000, // nothing is known
///     support: 10_000,
///     queries: Queries::new(1_000_000)?,
///     beta: Beta::new(0.05)?,
///     budget: Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?),
///     neighbours: Neighbours::AddRemove,
///     rows_per_unit: 1,
/// };
/// let alpha = |plan: Plan| (plan.guarantee() * 1e3).round() / 1e3;
/// assert_eq!(alpha(Plan::paper(&setting, Learner::SparseWeights)?), 0.512);
/// assert_eq!(alpha(Plan::tight(&setting, Learner::SparseWeights)?), 0.107);
/// assert_eq!(alpha(Plan::gaussian(&setting)?), 0.034);
///
/// let distinct = Setting { largest_count: 1, ..setting }; // every key occurs at most once
/// assert_eq!(alpha(Plan::tight(&distinct, Learner::SparseWeights)?), 0.063);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Plan {
    setting: Setting,
    mode: Mode,
    learner: Learner,
    /// None: Gaussian noise.
    gate: Option<sparse_vector::Plan>,
    /// T, in units.
    threshold: i64,
    errors: Errors,
}

/// How far answers can be off on the event that no noise is larger than foreseen, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Errors {
    /// A value from the data.
    pub(crate) released: u64,
    /// A guess that was compared with the data.
    pub(crate) checked: u64,
    /// A guess that was not, once there is nothing left to learn.
    pub(crate) unchecked: Option<u64>,
}

/// A plan as it is stored, before it is checked.
#[derive(Deserialize)]
struct Unchecked {
    setting: Setting,
    mode: Mode,
    learner: Learner,
    gate: Option<sparse_vector::Plan>,
    threshold: i64,
    errors: Errors,
}

impl TryFrom<Unchecked> for Plan {
    type Error = PlanError;

    fn try_from(stored: Unchecked) -> Result<Self, PlanError> {
        let Unchecked { setting, mode, learner, gate, threshold, errors } = stored;
        Self { setting, mode, learner, gate, threshold, errors }.check()
    }
}

impl Setting {
    /// Most records: 2⁴⁰.
    pub const MAX_RECORDS: u64 = 1 << 40;

    fn check(&self) -> Result<(), PlanError> {
        check_size("the number of records", self.records, Self::MAX_RECORDS)?;
        check_size("the records of one key", self.largest_count, self.records)?;
        check_size("the keys of a query", self.support, SparseWeights::MAX_SUPPORT)?;
        check_size("the rows of a unit", self.rows_per_unit.into(), 1_000_000)?;
        if self.neighbours == Neighbours::Substitute && self.rows_per_unit > 1 {
            return Err(PlanError::PrivateRecords(self.rows_per_unit));
        }
        Ok(())
    }

    /// Δ in units: a record moves an answer by at most 2²⁰, under both kinds of neighbours.
    fn sensitivity(&self) -> Result<Sensitivity, ParameterError> {
        Sensitivity::new(u64::from(self.rows_per_unit) * UNIT as u64)
    }

    /// What the sparse vector is asked: differences of answer and guess, which a neighbour may move either way.
    fn sparse_vector(&self, hits: Hits) -> Result<sparse_vector::Setting, ParameterError> {
        Ok(sparse_vector::Setting {
            hits,
            budget: self.budget.clone(),
            sensitivity: self.sensitivity()?,
            neighbours: self.neighbours,
            kind: StreamKind::Values,
        })
    }

    /// Two for each query: answer less guess, guess less answer.
    fn signed_queries(&self) -> Result<Queries, ParameterError> {
        Queries::new(self.queries.get().saturating_mul(2))
    }

    /// S: no key has more than one S-th of the records.
    pub(crate) fn spare(&self) -> u64 {
        self.records / self.largest_count
    }

    /// All records, in units: at most 2⁶⁰.
    pub(crate) fn total(&self) -> i64 {
        // No overflow, and no cast of this file loses anything: `check` has seen that records are at most 2⁴⁰, so units 2⁶⁰.
        self.records as i64 * UNIT
    }

    /// A share of the records in units, rounded up; all of them if it is 1 or more.
    fn units(&self, share: f64) -> u64 {
        let total = self.total() as u64;
        // So that NaN is all of them.
        if share < 1.0 { ((share * total as f64).ceil() as u64).min(total) } else { total }
    }
}

impl Learner {
    fn check(self) -> Result<(), Refused> {
        match self {
            Self::DenseWeights(universe) => check_size("the elements of the universe", universe, u64::MAX),
            _ => Ok(()),
        }
    }

    /// P, where B(α) = P/α² bounds the updates (by the best step), if there are at most `updates`.
    fn potential(self, setting: &Setting, updates: Hits) -> f64 {
        let (support, spare) = (setting.support as f64, setting.spare() as f64);
        match self {
            Self::SparseWeights => {
                let slots = slots(setting.support, updates, setting.spare());
                sparse_weights::mistakes(divergence(slots as f64, spare), 1.0)
            }
            Self::DenseWeights(universe) => sparse_weights::mistakes((universe as f64).ln(), 1.0),
            Self::SparsePerceptron => perceptron::mistakes(support, spare, 1.0),
            // An adversary is not bounded.
            Self::GuardedRelease => f64::INFINITY,
        }
    }
}

/// What α_up is taken larger by, relatively: the floats above have 15 digits, and logarithms of weights are rounded to 2⁻⁴⁰.
const RELATIVE_SLACK: f64 = 1e-9;
/// … as a share of the records: a guess is known to 10⁻¹¹, and targets stay 2⁻⁴⁰ from 0 and 1.
const ABSOLUTE_SLACK: f64 = 2e-11;
/// … and in units, to which guess and threshold are rounded.
const UNITS_OF_SLACK: u64 = 2;
/// By how much the divergence can fall short of 2α² in an update whose weights are rounded to 2⁻⁴⁰ on both sides, over 2.
const ROUNDED_STEP: f64 = 1.0 / (1u64 << 41) as f64;

impl Plan {
    /// The papers' algorithm with their constants, the erratum of Theorem 3.28 mended: the least α for which the proof
    /// goes through.
    ///
    /// # Errors
    /// If a size is out of range, the learner is a perceptron, or the noise is out of the range of theorem or sampler.
    pub fn paper(setting: &Setting, learner: Learner) -> Result<Self, PlanError> {
        setting.check()?;
        learner.check()?;
        if !matches!(learner, Learner::SparseWeights | Learner::DenseWeights(_)) {
            return Err(PlanError::Learner { plan: "paper", learner });
        }
        // The paper's data may lie on one key.
        let any_data = Setting { largest_count: setting.records, ..setting.clone() };
        let signed_queries = setting.signed_queries()?;
        let budget = &setting.budget;
        let slower = Mode::Paper.step_factor();
        let learned = |hits: Hits| (slower * learner.potential(&any_data, hits) / f64::from(hits.get())).sqrt();
        let heard = |hits: Hits| {
            let alpha = theorem_3_28(signed_queries, hits, budget.epsilon(), budget.delta(), setting.beta);
            alpha * f64::from(setting.rows_per_unit) / setting.records as f64
        };
        let alpha = |hits: Hits| learned(hits).max(heard(hits));
        // The first falls with c, the second grows.
        let crossing = least_hits(|hits| heard(hits) >= learned(hits));
        let before = Hits::new(u64::from(crossing.get()) - 1).unwrap_or(crossing);
        let hits = if alpha(before) < alpha(crossing) { before } else { crossing };
        // Two noises are heard, each in whole units.
        let alpha = setting.units(alpha(hits)) + 2;
        Self {
            mode: Mode::Paper,
            learner,
            gate: Some(sparse_vector::Plan::numeric_sparse(&setting.sparse_vector(hits)?)?),
            threshold: 2 * alpha as i64,
            errors: Errors { released: alpha, checked: 3 * alpha, unchecked: Some(alpha) },
            setting: any_data,
        }
        .check()
    }

    /// The least error that this page proves for all k queries: c, noise and threshold are chosen for it.
    ///
    /// Cost: some fifty plans of the sparse vector, some hundredths of a second.
    ///
    /// # Errors
    /// If a size is out of range, or there is no number of updates whose noise can be drawn.
    pub fn tight(setting: &Setting, learner: Learner) -> Result<Self, PlanError> {
        setting.check()?;
        learner.check()?;
        if learner == Learner::GuardedRelease {
            return Err(PlanError::Learner { plan: "tight", learner });
        }
        let candidate = |updates: u64| Self::tight_with(setting, learner, Hits::new(updates)?);
        let error = |plan: &Result<Self, PlanError>| plan.as_ref().map_or(u64::MAX, |plan| plan.errors.checked);
        let mut best = (1, candidate(1));
        // Coarsely first. Noise grows with c, so that from where it alone is above the least error all are.
        for updates in (1..20).map(|power| 1 << power) {
            let plan = candidate(updates);
            if plan.as_ref().is_ok_and(|plan| 2 * plan.errors.released >= error(&best.1)) {
                break;
            }
            if error(&plan) < error(&best.1) {
                best = (updates, plan);
            }
        }
        // Then ever finer around the best so far.
        let mut ratio = 2.0;
        while ratio > 1.0 + 1e-4 {
            ratio = f64::sqrt(ratio);
            // Positive numbers below 2^21.
            let around = [best.0 as f64 / ratio, best.0 as f64 * ratio].map(|updates| updates.round() as u64);
            for updates in around {
                if updates == best.0 {
                    continue;
                }
                let plan = candidate(updates);
                if error(&plan) < error(&best.1) {
                    best = (updates, plan);
                }
            }
        }
        best.1
    }

    /// The tight plan of just so many updates.
    fn tight_with(setting: &Setting, learner: Learner, updates: Hits) -> Result<Self, PlanError> {
        let alpha = (learner.potential(setting, updates) / f64::from(updates.get() + 1) + ROUNDED_STEP).sqrt();
        let detected = setting.units(alpha * (1.0 + RELATIVE_SLACK) + ABSOLUTE_SLACK) + UNITS_OF_SLACK;
        let (gate, noise) = Self::gap_gate(setting, updates)?;
        Self {
            setting: setting.clone(),
            mode: Mode::Tight,
            learner,
            gate: Some(gate),
            // No overflow: both are below 2^61.
            threshold: (detected + noise) as i64,
            errors: Errors { released: noise, checked: detected + 2 * noise, unchecked: Some(detected) },
        }
        .check()
    }

    /// The user's number of corrections and the user's threshold, in records.
    ///
    /// Nothing is promised of the time after the last correction. In exchange there may be far fewer of them than a
    /// worst case needs, with as much less noise.
    ///
    /// # Errors
    /// If a size is out of range, or the noise cannot be drawn.
    pub fn budgeted(setting: &Setting, learner: Learner, updates: Hits, threshold: u64) -> Result<Self, PlanError> {
        setting.check()?;
        check_size("the threshold in records", threshold, setting.records)?;
        Self::budgeted_over_noise(setting, learner, updates, |_| threshold)
    }

    /// The same with a threshold from 1 to all records, which may depend on α_svt: how far the noise can be off, in units.
    pub(crate) fn budgeted_over_noise(
        setting: &Setting,
        learner: Learner,
        updates: Hits,
        threshold: impl FnOnce(u64) -> u64,
    ) -> Result<Self, PlanError> {
        setting.check()?;
        learner.check()?;
        let (gate, noise) = Self::gap_gate(setting, updates)?;
        let threshold = threshold(noise) * UNIT as u64;
        Self {
            setting: setting.clone(),
            mode: Mode::Budgeted,
            learner,
            gate: Some(gate),
            threshold: threshold as i64,
            errors: Errors { released: noise, checked: threshold + noise, unchecked: None },
        }
        .check()
    }

    /// What [`budgeted_over_noise`](Self::budgeted_over_noise) guarantees at best, in units, if the threshold is at least α_svt or all records.
    pub(crate) fn least_over_noise(setting: &Setting, updates: Hits) -> Result<u64, PlanError> {
        setting.check()?;
        let (_, noise) = Self::gap_gate(setting, updates)?;
        Ok(noise.min(setting.total() as u64) + noise)
    }

    /// The better sparse vector with its gap, and how far its noise can be off in units.
    fn gap_gate(setting: &Setting, updates: Hits) -> Result<(sparse_vector::Plan, u64), PlanError> {
        let signed_queries = setting.signed_queries()?;
        let gate = sparse_vector::Plan::tight(&setting.sparse_vector(updates)?, signed_queries, setting.beta)?;
        // Half a unit more, for the guess that was rounded.
        let noise = gate.accuracy(signed_queries, setting.beta) + 1;
        Ok((gate.with_gap()?, noise))
    }

    /// Gaussian noise on each of k answers, without any hypothesis.
    ///
    /// # Errors
    /// If δ is 0, a size is out of range, or the noise cannot be drawn.
    pub fn gaussian(setting: &Setting) -> Result<Self, PlanError> {
        setting.check()?;
        let noise = gaussian_noise(setting)?.accuracy(setting.queries, setting.beta);
        Self {
            setting: setting.clone(),
            mode: Mode::Gaussian,
            learner: Learner::SparseWeights,
            gate: None,
            threshold: 0,
            errors: Errors { released: noise, checked: noise, unchecked: None },
        }
        .check()
    }

    /// What privacy rests on: that the noise is for this setting. That it covers its own budget, the sparse vector's
    /// plan has checked itself, and Gaussian noise is always made from the setting.
    fn check(self) -> Result<Self, PlanError> {
        self.setting.check()?;
        if self.gate.is_some() == (self.mode == Mode::Gaussian) {
            return Err(PlanError::Damaged("its noise is of another mode"));
        }
        let Some(gate) = &self.gate else { return Ok(self) };
        let expected = self.setting.sparse_vector(gate.setting().hits)?;
        // A pure run costs no more than one that may fail.
        let pure = Budget::pure(expected.budget.epsilon().clone());
        let budget = if gate.variant() == Variant::NoRedraw { pure } else { expected.budget.clone() };
        if *gate.setting() != (sparse_vector::Setting { budget, ..expected }) {
            return Err(PlanError::Damaged("its noise is for another setting"));
        }
        let report = if self.mode == Mode::Paper { Report::Value } else { Report::Gap };
        if gate.report() != report || !(1..=1 << 62).contains(&self.threshold) {
            return Err(PlanError::Damaged("its threshold or its values are of another mode"));
        }
        Ok(self)
    }

    /// What it was made from. Its budget is what the whole session costs.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// What it really costs: no δ, if one threshold serves all corrections.
    pub fn cost(&self) -> Budget {
        self.gate.as_ref().map_or_else(|| self.setting.budget.clone(), |gate| gate.setting().budget.clone())
    }

    /// Which kind it is.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What learns; means nothing for Gaussian noise.
    pub fn learner(&self) -> Learner {
        self.learner
    }

    /// How the data is asked; none for Gaussian noise.
    pub fn gate(&self) -> Option<&sparse_vector::Plan> {
        self.gate.as_ref()
    }

    /// c: how many corrections it can afford; none for Gaussian noise.
    pub fn updates(&self) -> Option<Hits> {
        self.gate.as_ref().map(|gate| gate.setting().hits)
    }

    /// N: how many slots sparse weights will have, or how large the universe is; none where no weights learn.
    pub fn slots(&self) -> Option<u64> {
        let updates = self.updates()?;
        match self.learner {
            Learner::SparseWeights => Some(slots(self.setting.support, updates, self.setting.spare())),
            Learner::DenseWeights(universe) => Some(universe),
            Learner::SparsePerceptron | Learner::GuardedRelease => None,
        }
    }

    /// T, in records.
    pub fn threshold(&self) -> f64 {
        records(self.threshold as u64)
    }

    /// α: with probability 1 − β all of k different queries, chosen in any way, are answered within this share of the
    /// records; in a budgeted plan, those that come while corrections are left.
    pub fn guarantee(&self) -> f64 {
        self.errors.checked as f64 / self.setting.total() as f64
    }

    /// The same in records.
    pub fn guarantee_in_records(&self) -> f64 {
        records(self.errors.checked)
    }

    /// The error in records of weights or a perceptron that have learned nothing yet, for a query of m keys whose true answer is so many
    /// records: what they begin with are n·m/N and 0.
    ///
    /// None if such a query may be corrected, the error being above T − α_svt; then no more is known than the
    /// [guarantee](Self::guarantee). Below that it is not, but for a probability β of all queries together, and if all are of that kind, nothing
    /// is learned and the figure is exact. None without a hypothesis, and for a release, which
    /// [knows its own](tamis_projection::Plan::predicted_standard_error).
    ///
    /// ```
    /// use tamis_interactive::{Learner, Plan, Setting};
    /// use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
    /// let setting = Setting {
    ///     records: 1_000_000,
    ///     largest_count: 1,
    ///     support: 10_000,
    ///     queries: Queries::new(1_000_000)?,
    ///     beta: Beta::new(0.05)?,
    ///     budget: Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?),
    ///     neighbours: Neighbours::AddRemove,
    ///     rows_per_unit: 1,
    /// };
    /// let plan = Plan::tight(&setting, Learner::SparsePerceptron)?;
    /// assert_eq!(plan.error_of_nothing_learned(5_000.0), Some(5_000.0));
    /// assert_eq!(plan.error_of_nothing_learned(50_000.0), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn error_of_nothing_learned(&self, answer: f64) -> Option<f64> {
        let guess = match (self.learner, self.slots()) {
            (Learner::SparsePerceptron, _) if self.gate.is_some() => 0.0,
            (_, Some(slots)) => self.setting.records as f64 * self.setting.support as f64 / slots as f64,
            _ => return None,
        };
        // T − α_svt, which is 2T − (T + α_svt) as long as corrections last.
        let uncorrected = 2.0 * self.threshold() - self.guarantee_in_records();
        let error = (answer - guess).abs();
        (error <= uncorrected).then_some(error)
    }

    /// Whether the guarantee says nothing: it reaches all the records.
    pub fn is_vacuous(&self) -> bool {
        self.errors.checked >= self.setting.total() as u64
    }

    /// Whether the guarantee goes on when no corrections are left: the hypothesis has learned all it can.
    pub fn survives_exhaustion(&self) -> bool {
        self.errors.unchecked.is_some()
    }

    /// B: how often the hypothesis can be wrong, where that is bounded; none if errors as large as all records go unnoticed.
    pub fn mistakes(&self) -> Option<f64> {
        let alpha = self.errors.unchecked? as f64 / self.setting.total() as f64;
        let potential = self.learner.potential(&self.setting, self.updates()?);
        (alpha < 1.0).then(|| self.mode.step_factor() * potential / (alpha * alpha))
    }

    /// The hypothesis that it begins with, for sparse weights over records of `width` packed booleans, if they have.
    ///
    /// # Errors
    /// If the width is out of range.
    pub fn sparse_weights(&self, width: Option<u32>) -> Result<SparseWeights, Refused> {
        SparseWeights::new(self.setting.support, self.updates().unwrap_or(Hits::ONE), self.setting.spare(), width)
    }

    /// T, in units.
    pub(crate) fn threshold_in_units(&self) -> i64 {
        self.threshold
    }

    pub(crate) fn errors(&self) -> Errors {
        self.errors
    }
}

/// The noise of k answers of sensitivity Δ each.
pub(crate) fn gaussian_noise(setting: &Setting) -> Result<GaussianMechanism, PlanError> {
    let one = u128::from(setting.sensitivity()?.get()).pow(2);
    // Beyond 2^128 the variance is out of range all the more.
    let squared_norm = one.saturating_mul(setting.queries.get().into());
    let squared_norm = NonZeroU128::new(squared_norm).unwrap_or(NonZeroU128::MAX);
    Ok(GaussianMechanism::new(squared_norm, &setting.budget)?)
}

/// Units as records.
pub(crate) fn records(units: u64) -> f64 {
    units as f64 / UNIT as f64
}

/// The least number that `accept` takes, if it takes all above; else the largest.
fn least_hits(accept: impl Fn(Hits) -> bool) -> Hits {
    let (mut low, mut high) = (1, 1_000_000);
    while low < high {
        let middle = u64::midpoint(low, high);
        if Hits::new(middle).is_ok_and(&accept) { high = middle } else { low = middle + 1 }
    }
    Hits::new(high).unwrap_or(Hits::ONE)
}
