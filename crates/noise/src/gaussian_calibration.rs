//! The variance that integer Gaussian noise needs for a budget, by routes that are proven for the integer law.
//!
//! σ never comes from the formula for continuous noise (Balle, Wang 2018): the integer law leaks a little more. At
//! ε = 1, δ = 10⁻⁶ and one count, that σ gives δ = 1.020·10⁻⁶.
//!
//! - [`concentrated`]: any integer shift of bounded Euclidean length, so any neighbours (CKS20 Theorem 4, whose ρ
//!   add up over the coordinates, and Corollary 13). σ₁ = 4.531 at ε = 1, δ = 10⁻⁶.
//! - [`add_remove`]: integer coordinates that all move by exactly 1 (CKS20 Theorem 7; for more than one coordinate
//!   with KLS21's convolution bound). σ₁ = 4.23.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | σ²    | `variance`, of the noise on one coordinate | squared grid units |
//! | j     | `coordinates` | count |
//! | Δ₂²   | `squared_norm` | squared grid units |
//!
//! # References
//!
//! - **CKS20** C. Canonne, G. Kamath, T. Steinke, *The discrete Gaussian for differential privacy*, NeurIPS 2020.
//! - **KLS21** P. Kairouz, Z. Liu, T. Steinke, *The distributed discrete Gaussian mechanism for federated learning
//!   with secure aggregation*, ICML 2021.

use crate::composition::{CompositionError, least_accepted, least_within, zcdp};
use crate::{Budget, Epsilon, Rational, Variance};
use std::{
    f64::consts::{PI, TAU},
    num::{NonZeroU32, NonZeroU128},
};

/// Variance for integers that one privacy unit moves, together, by a Euclidean distance of at most √`squared_norm`
/// grid units: Δ₂²/(2ρ), exactly, at [`zcdp::rho`] of the budget.
///
/// # Errors
/// If δ is 0, which Gaussian noise cannot give; if ρ or the variance is outside its range.
///
/// ```
/// use std::num::NonZero;
/// use tamis_noise::{Budget, Delta, Epsilon, gaussian_calibration};
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let variance = gaussian_calibration::concentrated(NonZero::<u128>::MIN, &budget)?;
/// assert!((variance.to_f64_up().sqrt() - 4.531).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn concentrated(squared_norm: NonZeroU128, budget: &Budget) -> Result<Variance, CompositionError> {
    let rho = zcdp::rho(budget)?;
    let variance = Rational::from(squared_norm.get()) / (Rational::from(2) * rho.as_rational());
    Ok(Variance::from_rational(variance)?)
}

/// Variance, per coordinate, for `coordinates` integers each of which one privacy unit moves by exactly 1, up or
/// down: the least that [`add_remove_delta`] was seen to accept. Less noise than [`concentrated`].
///
/// δ is not monotone in the variance where that is small, so that a larger variance than the result is not always
/// enough: use the result itself.
///
/// Cost: some fifty evaluations of [`add_remove_delta`].
///
/// # Errors
/// If δ is 0, which Gaussian noise cannot give; if the variance is outside its range.
///
/// ```
/// use std::num::NonZero;
/// use tamis_noise::{Budget, Delta, Epsilon, gaussian_calibration};
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let variance = gaussian_calibration::add_remove(NonZero::<u32>::MIN, &budget)?;
/// assert!((variance.to_f64_up().sqrt() - 4.23).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add_remove(coordinates: NonZeroU32, budget: &Budget) -> Result<Variance, CompositionError> {
    let (epsilon, delta) = (budget.epsilon().to_f64_down(), budget.delta().to_f64_down());
    let delta_of = |variance: f64| delta_at(f64::from(coordinates.get()), variance, epsilon);
    let within = |variance: f64| delta_of(variance) <= delta; // not so if it is not a number
    let mut enough = concentrated(NonZeroU128::from(coordinates), budget)?.to_f64_up();
    // The concentrated variance is enough for one coordinate, but for the convolution bound it may be too small.
    while !within(enough) {
        enough *= 2.0;
        if enough > LARGEST_VARIANCE {
            return concentrated(NonZeroU128::from(coordinates), budget);
        }
    }
    // The sum of narrow noise is on few integers: δ goes up and down with σ², and a curve through it leads nowhere. From a variance of 3 on that is
    // e^(−2π²·3), and no more to be seen in a float.
    if f64::from(coordinates.get()) * enough < 6.0 {
        return Ok(Variance::from_rational(least_accepted(LEAST_VARIANCE, enough, within))?);
    }
    let mut too_small = enough / 2.0;
    while too_small > LEAST_VARIANCE && within(too_small) {
        (too_small, enough) = (too_small / 2.0, too_small);
    }
    Ok(Variance::from_rational(least_within(too_small.max(LEAST_VARIANCE), enough, delta, delta_of))?)
}

/// δ at `epsilon` of integer Gaussian noise of parameter `variance` on each of `coordinates` integers that one
/// privacy unit moves by exactly 1, up or down: an upper bound.
///
/// For one coordinate it is above the true value by less than one part in 10⁹; for more, by the factor e^κ besides,
/// which from a variance of 4 on is 1 to fifteen places; for wide noise, √(jσ²) above 2¹⁴, by one part in 10⁵
/// besides. It is 1, that is no bound at all, for several coordinates of a variance below ¼, and for wide noise
/// where δ is above about ε/12.
///
/// Cost: some √(jσ²) terms, at most a million.
///
/// ```
/// use std::num::NonZero;
/// use tamis_noise::{Epsilon, Variance, gaussian_calibration};
/// // The σ that would do for continuous noise at ε = 1, δ = 1e-6 does not do for integers.
/// let continuous = Variance::new(4.224_676_f64.powi(2))?;
/// let delta = gaussian_calibration::add_remove_delta(NonZero::<u32>::MIN, &continuous, &Epsilon::new(1.0)?);
/// assert!(1.01e-6 < delta && delta < 1.03e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add_remove_delta(coordinates: NonZeroU32, variance: &Variance, epsilon: &Epsilon) -> f64 {
    delta_at(f64::from(coordinates.get()), variance.to_f64_down(), epsilon.to_f64_down())
}

/// The range of [`Variance`].
const LEAST_VARIANCE: f64 = 1e-6;
const LARGEST_VARIANCE: f64 = (1u128 << 80) as f64;

/// The convolution bound of KLS21 is for σ from ½ on.
const LEAST_CONVOLVED_VARIANCE: f64 = 0.25;
/// Above this standard deviation the sum over integers is replaced by an integral.
const WIDE: f64 = 16384.0;
/// What may be left out of a sum, as a share of it.
const NEGLIGIBLE: f64 = 1e-18;

/// With loss (2S + j)/(2σ²) at S = Σ Z_i, the sum of the noises (by symmetry all coordinates may be taken to move the
/// same way),
///
/// ```text
/// δ(ε) = Σ_s P(S = s)·max(0, 1 − e^−(s − t)/σ²),    t = εσ² − j/2,
/// ```
///
/// which is CKS20 Theorem 7 for j = 1. In general P(S = s) ≤ e^κ·P(N_Z(0, jσ²) = s) (KLS21), so that δ is at most
/// e^κ times what Theorem 7 gives with Δ := j and σ² := jσ².
///
/// `variance` may be rounded down: the loss becomes larger by that, and the law of S changes by less than the error
/// allowed for below.
fn delta_at(coordinates: f64, variance: f64, epsilon: f64) -> f64 {
    if coordinates > 1.0 && variance < LEAST_CONVOLVED_VARIANCE {
        return 1.0;
    }
    let total = coordinates * variance;
    let (excess, terms) = if total.sqrt() <= WIDE {
        summed(coordinates, variance, epsilon)
    } else {
        integrated(coordinates, variance, epsilon)
    };
    // Rounding, with u = 2⁻⁵³: exponents s²/(2jσ²) are below 746 where the weight is not 0, and right to 5u of
    // themselves: 3730u; exp, the share of the loss, the products and the mass: below 100u; the sum: a further u a
    // term. Twice that is applied. κ needs as much.
    let error = (terms + 4096.0) * f64::EPSILON;
    let kappa = convolution_exponent(coordinates, variance) * (1.0 + error);
    (excess / least_mass(total) * kappa.exp() * (1.0 + error)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// Σ over integers s > t of e^(−s²/(2jσ²))·(1 − e^(−(s−t)/σ²)), from above; and the number of terms.
fn summed(coordinates: f64, variance: f64, epsilon: f64) -> (f64, f64) {
    let total = coordinates * variance;
    let edge = epsilon * variance - coordinates / 2.0;
    // One integer early, against the rounding of t; and what lies 40 standard deviations below has no weight.
    let start = (edge.floor() - 1.0).max(-(40.0 * total.sqrt()).ceil());
    // s + j/2 is exact, so that s − t is rounded once, relative to itself.
    sum_weights(total, start, 1.0, |s, _| (-epsilon).mul_add(variance, s + coordinates / 2.0) / variance)
}

/// The same from an integral, for wide noise.
///
/// The trapezoidal rule of step h errs by at most h²/8 times the total variation of the derivative, so the sum over
/// integers is within ⅛ of that variation of the integral, and the integral within h²/8 of it of a sum of step h
/// from t on. The summand is w·g with g = 1 − e^(−(s−t)/σ²) ≤ (s−t)/σ², and from one standard deviation on w is
/// convex; so ∫|w″|g ≤ w(t)/σ² (by parts), ∫|w′|g′ and ∫w|g″| likewise, and at t the derivative jumps by as much:
/// with 2|w′g′| the variation is at most 5w(t)/σ².
fn integrated(coordinates: f64, variance: f64, epsilon: f64) -> (f64, f64) {
    let total = coordinates * variance;
    let edge = epsilon * variance - coordinates / 2.0;
    let step = total.sqrt() / WIDE;
    if edge < total.sqrt() {
        return (f64::INFINITY, 1.0);
    }
    let (excess, terms) = sum_weights(total, edge, step, |_, distance| distance / variance);
    let variation = 5.0 * weight(edge, total) / variance;
    // The rounding of t is below 10⁻⁹ of the first step.
    ((excess + variation * (1.0 + step * step) / 8.0) * (1.0 + 1e-9), terms)
}

/// Σ step·w(s)·(1 − e^−loss) over s = start, start + step, …, from above; and the number of terms. `loss` is given s
/// and its distance from the start.
fn sum_weights(total: f64, start: f64, step: f64, loss: impl Fn(f64, f64) -> f64) -> (f64, f64) {
    let (mut excess, mut terms) = (0.0, 0.0);
    loop {
        let distance = step * terms;
        let s = start + distance;
        let weight = weight(s, total);
        excess += step * weight * -(-loss(s, distance).max(0.0)).exp_m1();
        terms += 1.0;
        if s > 0.0 {
            // All that follows, by a geometric series of ratio e^(−step·s/v), is below this.
            let rest = weight * total / s;
            if rest <= NEGLIGIBLE * excess {
                return (excess + rest, terms);
            }
        }
    }
}

fn weight(s: f64, total: f64) -> f64 {
    (-s * s / (2.0 * total)).exp()
}

/// Σ over the integers of e^(−s²/(2v)), from below: the first terms of that series, or of the one that Poisson
/// summation makes of it, whichever is more.
fn least_mass(total: f64) -> f64 {
    let direct = 1.0 + 2.0 * (-0.5 / total).exp() + 2.0 * (-2.0 / total).exp();
    let quickly = -2.0 * PI * PI * total;
    let transformed = (TAU * total).sqrt() * (1.0 + 2.0 * quickly.exp() + 2.0 * (4.0 * quickly).exp());
    direct.max(transformed)
}

/// κ = 5·Σ_{i<j} e^(−2π²σ²·i/(i+1)), from above: its terms fall, and from the thousandth on that one stands for all.
fn convolution_exponent(coordinates: f64, variance: f64) -> f64 {
    let term = |i: f64| (-2.0 * PI * PI * variance * (i / (i + 1.0))).exp();
    let several = (coordinates - 1.0).min(1000.0);
    let first: f64 = (1..=several as u32).map(|i| term(f64::from(i))).sum();
    5.0 * (first + (coordinates - 1.0 - several) * term(1001.0))
}
