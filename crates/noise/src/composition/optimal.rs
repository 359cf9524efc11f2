//! Optimal composition of c pure mechanisms (KOV15 Theorem 3.3), at any ε.
//!
//! c adaptive mechanisms, each (ε₀, 0)-private, are together (ε, δ)-private exactly from
//!
//! ```text
//! δ(ε) = Σ_l C(c,l) · max(0, e^((c−l)·ε₀) − e^(ε + l·ε₀)) / (1 + e^ε₀)^c
//!      = Σ_l P(L = l) · max(0, 1 − e^−((c−2l)·ε₀ − ε)),     L ~ Binomial(c, 1/(1 + e^ε₀)),
//! ```
//!
//! on: L counts the runs whose randomised response came out the unlikely way, and (c−2l)·ε₀ is the privacy loss.

use super::{LARGEST_EPSILON, LEAST_EPSILON, count, greatest_within, least_accepted};
use crate::{Budget, Delta, Epsilon, Hits, ParameterError, Rational, exact};

/// δ of `runs` mechanisms of `epsilon_per_run` each at a total of `epsilon`: an upper bound, above the true value by
/// less than one part in 10⁹ while that is above 1e-300. 0 just where the true value is 0, at c·ε₀ ≤ ε.
///
/// Cost: O(√c) terms, some microseconds at c = 1000.
///
/// ```
/// use tamis_noise::{Epsilon, Hits, composition::optimal};
/// let delta = optimal::delta(Hits::new(10)?, &Epsilon::new(0.1)?, &Epsilon::new(0.5)?);
/// assert!(0.009_929 < delta && delta < 0.009_930);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn delta(runs: Hits, epsilon_per_run: &Epsilon, epsilon: &Epsilon) -> f64 {
    // Exactly, since the two conversions below would leave a rounding error of δ where basic composition has none.
    if epsilon_per_run.as_rational() * Rational::from(runs.get()) <= *epsilon.as_rational() {
        return 0.0;
    }
    delta_at(count(runs), epsilon_per_run.to_f64_up(), epsilon.to_f64_down())
}

/// The privacy loss that each of `runs` mechanisms may have within `budget`: the largest, rounded down by less than
/// one part in 10¹¹.
///
/// With δ = 0, and for a single run, it is ε/c exactly; it is never less. (For a single run at δ > 0 the theorem
/// would give a little more than ε, which no accounting of pure mechanisms uses.)
///
/// Cost: some fifteen evaluations of [`delta`].
///
/// # Errors
/// If the result is below the least [`Epsilon`].
///
/// ```
/// use tamis_noise::{Budget, Delta, Epsilon, Hits, composition::optimal};
/// let pure = Budget::pure(Epsilon::new(1.0)?);
/// assert_eq!(optimal::epsilon_per_run(Hits::new(3)?, &pure)?, "1/3".parse()?);
///
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
/// let per_run = optimal::epsilon_per_run(Hits::new(1000)?, &budget)?;
/// assert!(per_run > Epsilon::new(0.005)?); // basic composition: 0.001
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn epsilon_per_run(runs: Hits, budget: &Budget) -> Result<Epsilon, ParameterError> {
    let basic = budget.epsilon().as_rational() / Rational::from(runs.get());
    if runs == Hits::ONE || budget.delta().is_zero() {
        return Epsilon::from_rational(basic);
    }
    let (epsilon, delta) = (budget.epsilon().to_f64_down(), budget.delta().to_f64_down());
    let delta_of = |per_run: f64| delta_at(count(runs), per_run, epsilon);
    // Basic composition has δ = 0, and two runs or more start at half of the largest ε at most.
    let mut accepted = exact::to_f64_down(&basic);
    while 2.0 * accepted < LARGEST_EPSILON && delta_of(2.0 * accepted) <= delta {
        accepted *= 2.0;
    }
    let largest = greatest_within(accepted, (2.0 * accepted).min(LARGEST_EPSILON), delta, delta_of);
    Epsilon::from_rational(largest.max(basic))
}

/// The total ε of `runs` mechanisms of `epsilon_per_run` each, at `delta`: the least, rounded up by less than one
/// part in 10¹¹. It is never more than c·ε₀, and just that at δ = 0.
///
/// # Errors
/// If the result is above the largest [`Epsilon`].
///
/// ```
/// use tamis_noise::{Delta, Epsilon, Hits, composition::optimal};
/// let (hundred, per_run) = (Hits::new(100)?, Epsilon::new(0.01)?);
/// assert_eq!(optimal::epsilon(hundred, &per_run, &Delta::ZERO)?, Epsilon::new(1.0)?);
/// assert!(optimal::epsilon(hundred, &per_run, &Delta::new(1e-6)?)? < Epsilon::new(0.5)?);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn epsilon(runs: Hits, epsilon_per_run: &Epsilon, delta: &Delta) -> Result<Epsilon, ParameterError> {
    let basic = epsilon_per_run.as_rational() * Rational::from(runs.get());
    if delta.is_zero() {
        return Epsilon::from_rational(basic);
    }
    let (per_run, allowed) = (epsilon_per_run.to_f64_up(), delta.to_f64_down());
    let within = |total: f64| delta_at(count(runs), per_run, total) <= allowed;
    let start = exact::to_f64_up(&basic);
    if start > LARGEST_EPSILON && !within(LARGEST_EPSILON) {
        return Epsilon::from_rational(basic);
    }
    let least = least_accepted(LEAST_EPSILON, start.min(LARGEST_EPSILON), within);
    Epsilon::from_rational(least.min(basic))
}

/// Weight given to the most likely l, and weight below which a term is no longer looked at. Between them lie 580
/// orders of magnitude: all of `f64` for the quotient of two sums, with no underflow and no overflow on the way.
const PEAK: f64 = 1e290;
const FLOOR: f64 = 1e-290;
/// What may be left out of a sum, as a share of it.
const NEGLIGIBLE: f64 = 1e-18;

/// δ(ε) from above, for positive finite arguments.
///
/// The binomial probabilities come from their ratios alone, P(l−1)/P(l) = l·e^ε₀/(c−l+1), starting at the mode with
/// an arbitrary weight; their sum normalises them. No factorial is computed, and all terms are positive, so that each
/// is rounded relative to itself. With u = 2⁻⁵³ a step costs 7u (4u for `exp`, three roundings), a sum of n terms nu
/// more, and a share of the loss 6u (u for the fused rounding of the loss, which `expm1` does not magnify, 4u for
/// `expm1`, u for the product). Numerator, denominator and quotient together: (16n + 8)u. Applied: (32n + 64)u.
///
/// What is left out: below and above the terms visited the weights fall, so all of them together are less than the
/// last one times their number. That product is added to the numerator, and leaving them out of the denominator
/// rounds the quotient up.
fn delta_at(runs: f64, per_run: f64, epsilon: f64) -> f64 {
    let odds = (-per_run).exp();
    let share = |l: f64| {
        let above = (runs - 2.0 * l).mul_add(per_run, -epsilon);
        if above > 0.0 { -(-above).exp_m1() } else { 0.0 }
    };
    if share(0.0) == 0.0 {
        return 0.0;
    }
    let mode = ((runs + 1.0) * odds / (1.0 + odds)).floor().min(runs);
    let (mut total, mut excess, mut terms) = (PEAK, PEAK * share(mode), 1.0);

    let (mut l, mut weight) = (mode, PEAK);
    while weight > FLOOR && weight * l > NEGLIGIBLE * excess {
        weight *= l / ((runs - l + 1.0) * odds);
        l -= 1.0;
        total += weight;
        excess += weight * share(l);
        terms += 1.0;
    }
    excess += weight * l;

    let (mut l, mut weight) = (mode, PEAK);
    // Where the loss is not above ε the terms count in the denominator only.
    while weight > FLOOR && weight * (runs - l) > NEGLIGIBLE * if share(l) > 0.0 { excess } else { total } {
        weight *= (runs - l) * odds / (l + 1.0);
        l += 1.0;
        total += weight;
        excess += weight * share(l);
        terms += 1.0;
    }
    if share(l) > 0.0 {
        excess += weight * (runs - l);
    }

    let error = (16.0 * terms + 32.0) * f64::EPSILON;
    (excess / total * (1.0 + error)).clamp(f64::MIN_POSITIVE, 1.0)
}
