//! The composition theorems that the source texts use: basic, advanced and DR14 Corollary 3.21.
//!
//! They are here for the papers' literal constants and as cross-checks. What they allow per run is never above
//! [`optimal::epsilon_per_run`](super::optimal::epsilon_per_run).

use super::{CompositionError, count, greatest_accepted, refuse_pure};
use crate::{Budget, Delta, Epsilon, Hits, ParameterError, Rational, exact};

/// Basic composition (DR14 Theorem 3.16): each of `runs` mechanisms may have ε/c, exactly.
///
/// # Errors
/// If that is below the least [`Epsilon`].
///
/// ```
/// use tamis_noise::{Epsilon, Hits, composition::papers};
/// assert_eq!(papers::basic(Hits::new(11)?, &Epsilon::new(1.0)?)?, "1/11".parse()?);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn basic(runs: Hits, epsilon: &Epsilon) -> Result<Epsilon, ParameterError> {
    Epsilon::from_rational(epsilon.as_rational() / Rational::from(runs.get()))
}

/// Advanced composition (DRV10; DR14 Theorem 3.20): the total √(2c·ln(1/δ'))·ε₀ + c·ε₀·(e^ε₀ − 1) of `runs`
/// mechanisms of `epsilon_per_run` each, at `slack` δ'. Rounded up by less than one part in 10¹⁴.
///
/// It can be more than basic composition's c·ε₀, and for few runs it is.
///
/// # Errors
/// If `slack` is 0, or the result is outside the range of [`Epsilon`].
///
/// ```
/// use tamis_noise::{Delta, Epsilon, Hits, composition::papers};
/// let total = papers::advanced(Hits::new(100)?, &Epsilon::new(0.01)?, &Delta::new(1e-6)?)?;
/// assert!((total.to_f64_up() - 0.535_702).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn advanced(runs: Hits, epsilon_per_run: &Epsilon, slack: &Delta) -> Result<Epsilon, CompositionError> {
    refuse_pure(slack, ADVANCED)?;
    let total = advanced_at(count(runs), epsilon_per_run.to_f64_up(), slack.to_f64_down());
    from_f64(total)
}

/// The inverse of [`advanced`]: what each of `runs` mechanisms may have within `budget`, the whole δ being its slack.
/// Rounded down by less than one part in 10¹¹.
///
/// # Errors
/// If δ is 0, or the result is below the least [`Epsilon`].
///
/// ```
/// use tamis_noise::{Budget, Delta, Epsilon, Hits, composition::papers};
/// let budget = Budget::approximate(Epsilon::new(0.535_703)?, Delta::new(1e-6)?);
/// let per_run = papers::advanced_per_run(Hits::new(100)?, &budget)?;
/// assert!((per_run.to_f64_down() - 0.01).abs() < 1e-7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn advanced_per_run(runs: Hits, budget: &Budget) -> Result<Epsilon, CompositionError> {
    refuse_pure(budget.delta(), ADVANCED)?;
    let (epsilon, slack) = (budget.epsilon().to_f64_down(), budget.delta().to_f64_down());
    let within = |per_run: f64| advanced_at(count(runs), per_run, slack) <= epsilon;
    // The first summand alone is more than ε at twice ε/√(2c·ln(1/δ)).
    let refused = 2.0 * epsilon / (2.0 * count(runs) * -slack.ln()).sqrt();
    Ok(Epsilon::from_rational(greatest_accepted(f64::MIN_POSITIVE, refused, within))?)
}

/// DR14 Corollary 3.21, the book's ε₀ = ε/√(8c·ln(1/δ)) for each of `runs` mechanisms within `budget`. Rounded down
/// by less than one part in 10¹⁴.
///
/// The corollary follows from [`advanced`]: its first summand is then ε/2, and the second must not be more, that is
/// c·ε₀·(e^ε₀ − 1) ≤ ε/2. Where ε and δ are at most 1 and ½ it never is. Beyond, the conclusion itself can be false
/// (c = 10⁴, ε = 200, δ = 10⁻⁶: the true δ is 0.139), and as δ goes to 1 the noise goes to none: refused.
///
/// # Errors
/// If δ is 0 or above ½; if the second summand is above ε/2; if the result is below the least [`Epsilon`].
///
/// ```
/// use tamis_noise::{Budget, Delta, Epsilon, Hits, composition::{CompositionError, papers}};
/// let (runs, delta) = (Hits::new(10_000)?, Delta::new(1e-6)?);
/// let book = papers::corollary_3_21(runs, &Budget::approximate(Epsilon::new(1.0)?, delta.clone()))?;
/// assert!((book.to_f64_down() - 9.511_8e-4).abs() < 1e-7);
///
/// let refusal = papers::corollary_3_21(runs, &Budget::approximate(Epsilon::new(200.0)?, delta)).unwrap_err();
/// assert!(matches!(refusal, CompositionError::EpsilonTooLarge { runs: 10_000, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn corollary_3_21(runs: Hits, budget: &Budget) -> Result<Epsilon, CompositionError> {
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    refuse_pure(delta, "DR14 corollary 3.21")?;
    if *delta.as_rational() > Rational::ONE / Rational::from(2) {
        return Err(CompositionError::DeltaTooLarge { delta: delta.clone() });
    }
    let divisor = printed_divisor(runs, delta);
    let per_run = epsilon.to_f64_down() / divisor * (1.0 - ROUNDING);
    let half = epsilon.to_f64_down() / 2.0;
    if count(runs) * per_run * per_run.exp_m1() * (1.0 + ROUNDING) > half {
        // With s = √(8c·ln(1/δ)) and ε₀ = ε/s the condition reads e^(ε/s) − 1 ≤ s/(2c).
        let largest = divisor * (divisor / (2.0 * count(runs))).ln_1p();
        return Err(CompositionError::EpsilonTooLarge {
            runs: runs.get(),
            budget: Box::new(budget.clone()),
            largest: format!("{:.3}", largest - 5e-4),
        });
    }
    from_f64(per_run)
}

/// √(8c·ln(1/δ)), rounded up.
fn printed_divisor(runs: Hits, delta: &Delta) -> f64 {
    (8.0 * count(runs) * -delta.to_f64_down().ln()).sqrt() * (1.0 + ROUNDING)
}

/// DR14 Corollary 3.21 **as printed**, without the condition that it needs: what it gives may overspend. Use
/// [`corollary_3_21`]; this one is for showing the difference.
///
/// # Errors
/// If δ is 0, or the result outside the range of [`Epsilon`].
///
/// ```
/// use tamis_noise::{Budget, Delta, Epsilon, Hits, composition::{optimal, papers}};
/// let (runs, epsilon) = (Hits::new(10_000)?, Epsilon::new(200.0)?);
/// let budget = Budget::approximate(epsilon.clone(), Delta::new(1e-6)?);
/// let printed = papers::corollary_3_21_as_printed(runs, &budget)?;
/// assert!(optimal::delta(runs, &printed, &epsilon) > 0.138); // and not 10⁻⁶
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn corollary_3_21_as_printed(runs: Hits, budget: &Budget) -> Result<Epsilon, CompositionError> {
    refuse_pure(budget.delta(), "DR14 corollary 3.21")?;
    from_f64(budget.epsilon().to_f64_down() / printed_divisor(runs, budget.delta()))
}

const ADVANCED: &str = "advanced composition (DR14 theorem 3.20)";

/// More than the relative rounding error of any formula here: at most eight operations and three calls of `ln`,
/// `exp_m1` or `sqrt`, each right to 4·2⁻⁵³, all of positive numbers.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// DR14 Theorem 3.20, rounded up.
fn advanced_at(runs: f64, per_run: f64, slack: f64) -> f64 {
    let first = (2.0 * runs * -slack.ln()).sqrt() * per_run;
    let second = runs * per_run * per_run.exp_m1();
    (first + second) * (1.0 + ROUNDING)
}

fn from_f64(epsilon: f64) -> Result<Epsilon, CompositionError> {
    // Not `Epsilon::new`, whose shortest decimal may be on either side of the number.
    let exactly = exact::from_f64(epsilon).ok_or_else(|| ParameterError::Epsilon(epsilon.to_string()))?;
    Ok(Epsilon::from_rational(exactly)?)
}
