//! What a run will do, decided before any data is seen.

use crate::composition::{CompositionError, optimal, papers};
use crate::discrete_laplace::margin;
use crate::parameters::{
    Beta, Delta, Epsilon, Hits, Neighbours, ParameterError, Queries, Scale, Sensitivity, StreamKind,
};
use crate::{Budget, Rational};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What every plan must be told: nothing here has a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// c: after how many answers above the threshold the run ends.
    pub hits: Hits,
    /// What the whole run may cost.
    pub budget: Budget,
    /// Δ: how far one privacy unit can move one answer, in grid units.
    pub sensitivity: Sensitivity,
    /// Which data sets must be hard to tell apart.
    pub neighbours: Neighbours,
    /// What the answers are; with `neighbours` it decides whether the stream is monotone.
    pub kind: StreamKind,
}

impl Setting {
    /// Whether all answers move the same way between any two neighbours.
    pub fn is_monotone(&self) -> bool {
        self.kind.is_monotone(self.neighbours)
    }

    /// The Δ by which the noise of a ⊤ may have to move: Δ on a monotone stream, else 2Δ.
    fn query_shift(&self, monotone: bool) -> Rational {
        Rational::from(self.sensitivity.get()) * Rational::from(if monotone { 1 } else { 2 })
    }

    fn threshold_shift(&self) -> Rational {
        Rational::from(self.sensitivity.get())
    }
}

/// Which mechanism a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Variant {
    /// DR14 Algorithm 2 (with c = 1: Algorithm 1), with the book's constants.
    BookSparse,
    /// DR14 Algorithm 3, with the book's constants.
    BookNumericSparse,
    /// c runs of one hit each, at the optimal ε₀ and the split best for α.
    Restarted,
    /// One threshold for all hits, with the split best for α.
    NoRedraw,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::BookSparse => "Sparse, as in the book",
            Self::BookNumericSparse => "NumericSparse, as in the book",
            Self::Restarted => "sparse vector restarted after each hit",
            Self::NoRedraw => "sparse vector with one threshold for all hits",
        })
    }
}

/// What a ⊤ carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The verdict alone.
    Verdict,
    /// How far the noisy answer exceeds the noisy threshold: free, but biased upward, since only hits are seen.
    Gap,
    /// The answer with fresh Laplace noise.
    Value,
}

/// A plan that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A noise scale that the samplers do not serve.
    #[error("{0}; it follows from sensitivity, hits and budget: change one of them")]
    Parameter(#[from] ParameterError),
    /// A composition theorem used outside its range.
    #[error(transparent)]
    Composition(#[from] CompositionError),
    /// One threshold for all hits has no use for a δ.
    #[error("one threshold for all hits is a pure mechanism: delta must be 0, got {0}")]
    NoRedrawIsPure(Delta),
    /// The gap beside the value would cost more than the plan charges.
    #[error("{0} releases the value; the gap beside it is not covered by its proof")]
    GapBesideValue(Variant),
    /// Noise that does not cover its budget.
    #[error("{0}")]
    Overspent(Box<Overspent>),
}

/// Noise that does not cover its budget: what the check of a plan found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variant}: noise of scales {threshold_noise} and {query_noise} does not cover {budget}")]
pub struct Overspent {
    variant: Variant,
    threshold_noise: Scale,
    query_noise: Scale,
    budget: Budget,
}

/// The noise of one run, its privacy and its accuracy. See the [module](super) for the choice and the proof.
///
/// ```
/// use tamis_noise::sparse_vector::{Plan, Setting};
/// use tamis_noise::{Beta, Budget, Epsilon, Hits, Neighbours, Queries, Sensitivity, StreamKind};
/// let setting = Setting {
///     hits: Hits::new(2)?,
///     budget: Budget::pure(Epsilon::new(1.0)?),
///     sensitivity: Sensitivity::ONE,
///     neighbours: Neighbours::AddRemove,
///     kind: StreamKind::Counts,
/// };
/// let (queries, beta) = (Queries::new(365)?, Beta::new(0.05)?);
/// let book = Plan::sparse(&setting)?;
/// let tight = Plan::tight(&setting, queries, beta)?;
/// assert_eq!(book.accuracy(queries, beta), 94); // T ± 94 counts with probability 95 %
/// assert_eq!(tight.accuracy(queries, beta), 40);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Plan {
    variant: Variant,
    setting: Setting,
    threshold_noise: Scale,
    query_noise: Scale,
    value_noise: Option<Scale>,
    report: Report,
}

/// A plan as it is stored, before it has passed [`Plan::check`].
#[derive(Deserialize)]
struct Unchecked {
    variant: Variant,
    setting: Setting,
    threshold_noise: Scale,
    query_noise: Scale,
    value_noise: Option<Scale>,
    report: Report,
}

impl TryFrom<Unchecked> for Plan {
    type Error = PlanError;

    fn try_from(stored: Unchecked) -> Result<Self, PlanError> {
        let Unchecked { variant, setting, threshold_noise, query_noise, value_noise, report } = stored;
        Self { variant, setting, threshold_noise, query_noise, value_noise, report }.check()
    }
}

/// Resolution of a split of the budget: a split is a public choice, so any multiple of 2^-20 will do.
const SPLIT_UNITS: u32 = 1 << 20;

/// `share` as an exact fraction strictly between 0 and 1, rounded down.
fn fraction(share: f64) -> Rational {
    // Cannot overflow: a share is below 1; a NaN would become 0 and then 1.
    let units = ((share * f64::from(SPLIT_UNITS)) as u32).clamp(1, SPLIT_UNITS - 1);
    Rational::from_parts(units.into(), SPLIT_UNITS.into())
}

/// The scale at which hiding a shift of `shift` units costs `epsilon`.
fn scale(shift: Rational, epsilon: &Rational) -> Result<Scale, ParameterError> {
    Scale::from_rational(shift / epsilon)
}

/// The book's share of ε for the comparisons of NumericSparse; the rest is for the values. DR14 Algorithm 3 writes
/// (8/9, 2/9) and (√512, 2)/(√512 + 1); of the second entry its σ uses one half.
fn comparison_share(delta: &Delta) -> Rational {
    if delta.is_zero() {
        Rational::from_parts(8.into(), 9u8.into())
    } else {
        fraction(512f64.sqrt() / (512f64.sqrt() + 1.0))
    }
}

fn half(delta: &Delta) -> Result<Delta, ParameterError> {
    Delta::from_rational(delta.as_rational() / Rational::from(2))
}

/// The book's ε₀ for each of c mechanisms: basic composition, or DR14 Corollary 3.21 within its range.
fn book_epsilon(hits: Hits, budget: &Budget) -> Result<Epsilon, PlanError> {
    if budget.delta().is_zero() {
        Ok(papers::basic(hits, budget.epsilon())?)
    } else {
        Ok(papers::corollary_3_21(hits, budget)?)
    }
}

impl Plan {
    /// DR14 Algorithm 1, AboveThreshold: one hit, pure.
    ///
    /// # Errors
    /// If a noise scale is out of range.
    pub fn above_threshold(
        epsilon: Epsilon,
        sensitivity: Sensitivity,
        neighbours: Neighbours,
        kind: StreamKind,
    ) -> Result<Self, PlanError> {
        Self::sparse(&Setting { hits: Hits::ONE, budget: Budget::pure(epsilon), sensitivity, neighbours, kind })
    }

    /// DR14 Algorithm 2, Sparse, with the book's constants: T̂ has noise of scale σ = 2Δ/ε₀, a query of scale 2σ.
    ///
    /// # Errors
    /// If a noise scale is out of range or, for δ > 0, the budget outside the range of DR14 Corollary 3.21.
    pub fn sparse(setting: &Setting) -> Result<Self, PlanError> {
        let epsilon = book_epsilon(setting.hits, &setting.budget)?;
        let sigma = scale(setting.threshold_shift() * Rational::from(2), epsilon.as_rational())?;
        Self {
            variant: Variant::BookSparse,
            query_noise: sigma.times(&Rational::from(2))?,
            threshold_noise: sigma,
            value_noise: None,
            report: Report::Verdict,
            setting: setting.clone(),
        }
        .check()
    }

    /// DR14 Algorithm 3, NumericSparse, with the book's constants: Sparse on ε₁, then the value with noise of scale σ(ε₂).
    ///
    /// # Errors
    /// As [`Plan::sparse`].
    pub fn numeric_sparse(setting: &Setting) -> Result<Self, PlanError> {
        let (comparisons, values) = numeric_budgets(&setting.budget)?;
        let sparse = Self::sparse(&Setting { budget: comparisons, ..setting.clone() })?;
        let value_noise = scale(setting.threshold_shift(), book_epsilon(setting.hits, &values)?.as_rational())?;
        Self {
            variant: Variant::BookNumericSparse,
            value_noise: Some(value_noise),
            report: Report::Value,
            setting: setting.clone(),
            ..sparse
        }
        .check()
    }

    /// c runs of one hit each at the optimal ε₀ (KOV15), split between threshold and queries as ε₁ : ε₂ =
    /// √ln(2c/β) : √(2 ln(2k/β)) (monotone: without the 2), which is best for the α of `queries` and `beta`.
    ///
    /// # Errors
    /// If a noise scale is out of range.
    pub fn restarted(setting: &Setting, queries: Queries, beta: Beta) -> Result<Self, PlanError> {
        let epsilon = optimal::epsilon_per_run(setting.hits, &setting.budget)?;
        let shift = setting.query_shift(setting.is_monotone());
        Self::split(Variant::Restarted, setting, &epsilon, setting.hits, shift, queries, beta)
    }

    /// One threshold for all c hits (LSL17 Algorithm 1), split as ε₁ : ε₂ = √ln(2/β) : √(2c ln(2k/β)) (monotone: without
    /// the 2), which is best for the α of `queries` and `beta`. (LSL17's own 1 : (2c)^⅔ is best for the variance.)
    ///
    /// # Errors
    /// If δ is not 0, or a noise scale is out of range.
    pub fn no_redraw(setting: &Setting, queries: Queries, beta: Beta) -> Result<Self, PlanError> {
        if !setting.budget.delta().is_zero() {
            return Err(PlanError::NoRedrawIsPure(setting.budget.delta().clone()));
        }
        let shift = setting.query_shift(setting.is_monotone()) * Rational::from(setting.hits.get());
        Self::split(Variant::NoRedraw, setting, setting.budget.epsilon(), Hits::ONE, shift, queries, beta)
    }

    /// `epsilon` split between `thresholds` draws of the threshold and queries whose noise must hide `shift`.
    fn split(
        variant: Variant,
        setting: &Setting,
        epsilon: &Epsilon,
        thresholds: Hits,
        shift: Rational,
        queries: Queries,
        beta: Beta,
    ) -> Result<Self, PlanError> {
        // α = Δ·A/ε₁ + shift·B/ε₂ is least at ε₁ : ε₂ = √(Δ·A) : √(shift·B).
        let a = (setting.sensitivity.get() as f64 * accuracy_log(f64::from(thresholds.get()), beta)).sqrt();
        let b = (shift.to_f64_fast() * accuracy_log(queries.to_f64(), beta)).sqrt();
        let share = fraction(a / (a + b));
        Self {
            variant,
            threshold_noise: scale(setting.threshold_shift(), &(epsilon.as_rational() * &share))?,
            query_noise: scale(shift, &(epsilon.as_rational() * (Rational::ONE - share)))?,
            value_noise: None,
            report: Report::Verdict,
            setting: setting.clone(),
        }
        .check()
    }

    /// The better of [`Plan::restarted`] and [`Plan::no_redraw`] for the α of `queries` and `beta`. With δ > 0 the second
    /// runs at (ε, 0), which is (ε, δ)-private all the more: for few hits that is often the better use.
    ///
    /// # Errors
    /// If neither can be made.
    pub fn tight(setting: &Setting, queries: Queries, beta: Beta) -> Result<Self, PlanError> {
        let pure = Setting { budget: Budget::pure(setting.budget.epsilon().clone()), ..setting.clone() };
        let no_redraw = Self::no_redraw(&pure, queries, beta);
        match (Self::restarted(setting, queries, beta), no_redraw) {
            (Ok(restarted), Ok(no_redraw)) => {
                let restarted_wins = restarted.accuracy(queries, beta) < no_redraw.accuracy(queries, beta);
                Ok(if restarted_wins { restarted } else { no_redraw })
            }
            (Ok(plan), Err(_)) | (Err(_), Ok(plan)) => Ok(plan),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// The same plan, with the gap of each ⊤ released beside it, at no cost.
    ///
    /// # Errors
    /// If the plan releases values: gap and value together are not covered.
    pub fn with_gap(self) -> Result<Self, PlanError> {
        if self.value_noise.is_some() {
            return Err(PlanError::GapBesideValue(self.variant));
        }
        Ok(Self { report: Report::Gap, ..self })
    }

    /// The proof's arithmetic, on the scales themselves: gives the plan back if its noise covers its budget.
    ///
    /// One run of one ⊤ costs ε₀ = Δ/t₁ + 2Δ/t₂ (Δ/t₂ where this variant uses that the stream is monotone).
    fn check(self) -> Result<Self, PlanError> {
        let Self { variant, setting, threshold_noise, query_noise, value_noise, .. } = &self;
        let cost = |shift: &Rational, noise: &Scale| shift / noise.as_rational();
        let threshold = cost(&setting.threshold_shift(), threshold_noise);
        let monotone = matches!(variant, Variant::Restarted | Variant::NoRedraw) && setting.is_monotone();
        let query = cost(&setting.query_shift(monotone), query_noise);
        let hits = Rational::from(setting.hits.get());
        let budget = &setting.budget;
        let covered = match (variant, value_noise, self.report) {
            (Variant::BookSparse | Variant::Restarted, None, Report::Verdict | Report::Gap) => {
                covers(setting.hits, &(threshold + query), budget)
            }
            (Variant::NoRedraw, None, Report::Verdict | Report::Gap) => {
                threshold + hits * query <= *budget.epsilon().as_rational()
            }
            (Variant::BookNumericSparse, Some(noise), Report::Value) => {
                let (comparisons, values) = numeric_budgets(budget)?;
                covers(setting.hits, &(threshold + query), &comparisons)
                    && covers(setting.hits, &cost(&setting.threshold_shift(), noise), &values)
            }
            _ => false,
        };
        if covered {
            return Ok(self);
        }
        Err(PlanError::Overspent(Box::new(Overspent {
            variant: self.variant,
            threshold_noise: self.threshold_noise,
            query_noise: self.query_noise,
            budget: self.setting.budget,
        })))
    }

    /// Which mechanism this is.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// What it was made from. Its budget is what the whole run costs.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Scale of the threshold's noise.
    pub fn threshold_noise(&self) -> &Scale {
        &self.threshold_noise
    }

    /// Scale of each query's noise.
    pub fn query_noise(&self) -> &Scale {
        &self.query_noise
    }

    /// Scale of the fresh noise of a released value, if values are released.
    pub fn value_noise(&self) -> Option<&Scale> {
        self.value_noise.as_ref()
    }

    /// What a ⊤ carries.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Whether the threshold is drawn afresh after each ⊤.
    pub fn redraws(&self) -> bool {
        self.variant != Variant::NoRedraw
    }

    /// α in grid units: with probability 1 − β over `queries` queries, of which at most c have answers of T − α or more,
    /// every ⊤ has an answer of at least T − α, every ⊥ of at most T + α, and the run does not end before
    /// (Definition 3.9); values are within α, and so is T + gap (Definition 3.10).
    ///
    /// Half of β is for the threshold's noise in all its draws (c, or one), half for the noise of k queries; each stays
    /// within the [`margin`] of its share. Where values are released, β is first halved between verdicts and values.
    pub fn accuracy(&self, queries: Queries, beta: Beta) -> u64 {
        let beta = beta.get() / if self.value_noise.is_some() { 2.0 } else { 1.0 };
        let hits = f64::from(self.setting.hits.get());
        let draws = if self.redraws() { hits } else { 1.0 };
        let verdicts = margin(&self.threshold_noise, beta / (2.0 * draws))
            + margin(&self.query_noise, beta / (2.0 * queries.to_f64()));
        let values = self.value_noise.as_ref().map_or(0, |noise| margin(noise, beta / hits));
        verdicts.max(values)
    }
}

/// ln(2·`events`/β).
fn accuracy_log(events: f64, beta: Beta) -> f64 {
    (2.0 * events / beta.get()).ln()
}

/// NumericSparse's budget in two: for the comparisons and for the values. δ is halved; the ε add up to no more than ε.
fn numeric_budgets(budget: &Budget) -> Result<(Budget, Budget), ParameterError> {
    let share = comparison_share(budget.delta());
    let delta = half(budget.delta())?;
    let part = |share: &Rational| {
        let epsilon = Epsilon::from_rational(budget.epsilon().as_rational() * share)?;
        Ok(Budget::approximate(epsilon, delta.clone()))
    };
    Ok((part(&share)?, part(&(Rational::ONE - &share))?))
}

/// Whether `runs` mechanisms of pure privacy loss `each` stay within `budget`, by optimal composition.
fn covers(runs: Hits, each: &Rational, budget: &Budget) -> bool {
    if Rational::from(runs.get()) * each <= *budget.epsilon().as_rational() {
        return true;
    }
    Epsilon::from_rational(each.clone())
        .is_ok_and(|each| optimal::delta(runs, &each, budget.epsilon()) <= budget.delta().to_f64_down())
}
