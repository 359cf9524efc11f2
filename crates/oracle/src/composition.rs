//! Slow twins of the composition bounds: each sums its definition directly.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use crate::discrete_gaussian::DiscreteGaussian;
use crate::enclosure::{Enclosure, exponential, f64_above, f64_below, rational};

/// Bits kept of e^ε₀ and e^ε. Powers up to 1000 lose ten of them.
const BITS: usize = 256;

/// The optimal δ of `c` adaptive ε₀-private mechanisms at ε, between two floats.
///
/// Kairouz, Oh and Viswanath (2015), Theorem 3.3 at δ₀ = 0:
/// δ(ε) = Σ_l C(c,l)·max(0, e^((c−l)ε₀) − e^(ε+lε₀)) / (1+e^ε₀)^c, in exact rationals between
/// enclosures of e^ε₀ and e^ε. The two ends are neighbouring floats, or nearly, down to 1e-70.
/// Cost: c products of 256·c bits; a second at c = 300.
///
/// # Panics
///
/// If a parameter is negative or not finite, or `c` is 0.
///
/// ```
/// use tamis_oracle::composition::optimal_delta;
/// // At ε = c·ε₀ nothing is left; at ε = 0 and c = 1 it is the total variation of randomised response.
/// assert_eq!(optimal_delta(3, 0.5, 1.5).0, 0.0);
/// let (lower, upper) = optimal_delta(1, 1.0, 0.0);
/// let variation = 1.0_f64.sinh() / (1.0 + 1.0_f64.cosh());
/// assert!((lower - variation).abs() < 1e-15 && (upper - variation).abs() < 1e-15);
/// ```
pub fn optimal_delta(c: u32, epsilon_per_run: f64, epsilon: f64) -> (f64, f64) {
    assert!(c > 0, "at least one mechanism is needed");
    assert!(
        epsilon_per_run >= 0.0 && epsilon >= 0.0,
        "ε₀ and ε must not be negative, got {epsilon_per_run} and {epsilon}"
    );
    let per_run = exponential(&rational(epsilon_per_run), BITS);
    let total = exponential(&rational(epsilon), BITS);
    let below = |x: &RBig, high: &RBig, factor: &RBig| numerator(c, x, high, factor);
    let denominator = |x: &RBig| (RBig::ONE + x).pow(c as isize);
    let delta = Enclosure {
        lower: below(&per_run.lower, &per_run.upper, &total.upper) / denominator(&per_run.upper),
        upper: below(&per_run.upper, &per_run.lower, &total.lower) / denominator(&per_run.lower),
    };
    delta.to_f64()
}

/// Σ C(c,l)·max(0, gain^(c−l) − factor·cost^l): gain and cost both stand for e^ε₀, rounded apart.
fn numerator(c: u32, gain: &RBig, cost: &RBig, factor: &RBig) -> RBig {
    let mut sum = RBig::ZERO;
    let mut choose = UBig::ONE;
    for l in 0..=c {
        let difference = gain.pow((c - l) as isize) - factor * cost.pow(l as isize);
        // The differences fall as l grows.
        if difference <= RBig::ZERO {
            break;
        }
        sum += difference * RBig::from(choose.clone());
        choose = choose * UBig::from(c - l) / UBig::from(l + 1);
    }
    sum
}

/// δ of a ρ-zCDP mechanism at ε by Canonne, Kamath and Steinke (2020), Corollary 13:
/// δ ≤ inf over α > 1 of e^((α−1)(αρ−ε))/(α−1)·(1−1/α)^α, by trying `steps` values of α.
///
/// Every α gives a valid bound, so this is at least the infimum; with 100 000 steps, a relative 1e-6
/// above it at most.
///
/// # Panics
///
/// If ρ or ε is not positive and finite.
///
/// ```
/// use tamis_oracle::composition::zcdp_delta;
/// // ρ = 1/(2·4.531²): the σ that route needs at ε = 1, δ = 1e-6.
/// let delta = zcdp_delta(0.5 / 4.531_f64.powi(2), 1.0, 100_000);
/// assert!((delta / 1e-6 - 1.0).abs() < 2e-3);
/// ```
pub fn zcdp_delta(rho: f64, epsilon: f64, steps: u32) -> f64 {
    assert!(0.0 < rho && rho.is_finite(), "ρ must be finite and positive, got {rho}");
    assert!(0.0 < epsilon && epsilon.is_finite(), "ε must be finite and positive, got {epsilon}");
    (0..steps)
        .map(|i| {
            // α − 1 from 1e-6 to 1e6 times the value that minimises the exponent, or 1.
            let centre = ((epsilon / rho - 1.0) / 2.0).max(1.0);
            let excess = centre * 10.0_f64.powf(12.0 * f64::from(i) / f64::from(steps) - 6.0);
            let alpha = 1.0 + excess;
            let log = excess * (alpha * rho - epsilon) - excess.ln() - alpha * excess.recip().ln_1p();
            log.exp()
        })
        .fold(1.0, f64::min)
}

/// δ at ε of discrete Gaussian noise of this σ on each coordinate, for databases whose answers differ
/// by exactly `shifts`.
///
/// The privacy loss of the outcome x is (Σdᵢ² − 2·Σdᵢxᵢ)/(2σ²), a function of S = Σdᵢxᵢ alone, so
/// δ = Σ over S of P(S)·max(0, 1 − e^(ε − loss(S))), with the law of S by direct convolution.
/// All terms are positive: relative error below 1e-11, plus an absolute 1e-130 for the law cut at 25σ.
/// Cost: (50σ)² · j · Σ|dᵢ| products for j coordinates.
///
/// # Panics
///
/// If σ is not positive and finite, ε is negative or NaN, or there is no shift.
///
/// ```
/// use tamis_oracle::composition::discrete_gaussian_delta;
/// // The continuous formula asks for σ = 4.2247 at ε = 1, δ = 1e-6. It is not enough.
/// let delta = discrete_gaussian_delta(4.2247, &[1], 1.0);
/// assert!(1.01e-6 < delta && delta < 1.03e-6);
/// ```
pub fn discrete_gaussian_delta(sigma: f64, shifts: &[i64], epsilon: f64) -> f64 {
    assert!(epsilon >= 0.0, "ε must not be negative, got {epsilon}");
    assert!(!shifts.is_empty(), "at least one coordinate is needed");
    let law = DiscreteGaussian::new(sigma);
    let reach = (25.0 * sigma).ceil() as i64;
    // P(S = start + i)
    let mut sum = vec![1.0];
    let mut start = 0_i64;
    for &shift in shifts.iter().filter(|&&shift| shift != 0) {
        let step = shift.unsigned_abs() as usize;
        let mut longer = vec![0.0; sum.len() + 2 * reach as usize * step];
        for (i, &p) in sum.iter().enumerate() {
            for z in -reach..=reach {
                longer[i + (z + reach) as usize * step] += p * law.probability(z);
            }
        }
        start -= reach * step as i64;
        sum = longer;
    }
    let squared: i64 = shifts.iter().map(|shift| shift * shift).sum();
    let mut terms: Vec<f64> = sum
        .iter()
        .enumerate()
        .map(|(i, &p)| {
            let s = (start + i as i64) as f64;
            let loss = (squared as f64 - 2.0 * s) / (2.0 * sigma * sigma);
            if loss > epsilon { p * -(epsilon - loss).exp_m1() } else { 0.0 }
        })
        .collect();
    terms.sort_unstable_by(f64::total_cmp);
    terms.iter().sum()
}

/// Exactly enclosed δ of one discrete Gaussian coordinate with a unit shift, for a rational σ²: the same
/// sum in rational arithmetic, tails bounded by geometric series.
///
/// The check of the float sum; slow.
///
/// # Panics
///
/// If σ² is not in (0, 400] (the tail's bound needs the upper end) or ε negative.
pub fn discrete_gaussian_delta_enclosure(variance: &RBig, epsilon: &RBig) -> (f64, f64) {
    assert!(RBig::ZERO < *variance && *variance <= RBig::from(400), "a variance must be in (0, 400], got {variance}");
    assert!(*epsilon >= RBig::ZERO, "ε must not be negative, got {epsilon}");
    // Terms to where x² = 400·σ² + 400: the rest is below e^−200 relative to the kept ones.
    let last = (20.0 * variance.to_f64_fast().sqrt()).ceil() as i64 + 20;
    let weight = |x: i64| exponential(&(-RBig::from(x) * RBig::from(x) / (RBig::from(2) * variance)), 128);
    let weights: Vec<Enclosure> = (0..=last + 1).map(weight).collect();
    let two = RBig::from(2);
    let add = |sum: RBig, x: &RBig| sum + x;
    // From x ≥ σ² on each weight is below ½ of the one before, and `last` ≥ σ²: what follows a weight is
    // below it.
    let tail = &weights[last as usize + 1].upper * &two;
    let kept = &weights[1..=last as usize];
    let total = Enclosure {
        lower: RBig::ONE + &two * kept.iter().map(|w| &w.lower).fold(RBig::ZERO, add),
        upper: RBig::ONE + &two * (kept.iter().map(|w| &w.upper).fold(RBig::ZERO, add) + &tail),
    };
    // Loss (1 − 2x)/(2σ²) > ε iff x < ½ − εσ².
    let factor = exponential(epsilon, 128);
    let limit = RBig::from_parts(IBig::ONE, 2_u8.into()) - epsilon * variance;
    let (mut lower, mut upper) = (RBig::ZERO, tail);
    for x in -last..=last {
        if RBig::from(x) >= limit {
            break;
        }
        // P(x) − e^ε·P(x−1)
        let (p, q) = (&weights[x.unsigned_abs() as usize], &weights[(x - 1).unsigned_abs() as usize]);
        lower += &p.lower - &factor.upper * &q.upper;
        upper += &p.upper - &factor.lower * &q.lower;
    }
    (f64_below(&(lower / total.upper)), f64_above(&(upper / total.lower)))
}

/// δ of continuous Gaussian noise of this σ on a number of sensitivity 1 (Balle and Wang 2018, Theorem 8). It is not the δ of
/// integer noise.
///
/// ```
/// let delta = tamis_oracle::composition::continuous_gaussian_delta(4.224_68, 1.0);
/// assert!((delta / 1e-6 - 1.0).abs() < 1e-5);
/// ```
pub fn continuous_gaussian_delta(sigma: f64, epsilon: f64) -> f64 {
    let tail = |x: f64| statrs::function::erf::erfc(x / f64::sqrt(2.0)) / 2.0;
    tail(epsilon * sigma - 0.5 / sigma) - epsilon.exp() * tail(epsilon * sigma + 0.5 / sigma)
}

/// The least σ up to 100 at which [`continuous_gaussian_delta`] is at most `delta`: what the usual analytic calibration gives.
///
/// # Panics
///
/// If no σ up to 100 does.
pub fn continuous_gaussian_sigma(epsilon: f64, delta: f64) -> f64 {
    let (mut short, mut enough) = (1e-3, 100.0);
    assert!(continuous_gaussian_delta(enough, epsilon) <= delta, "ε = {epsilon}, δ = {delta} need σ above {enough}");
    while enough - short > 1e-12 {
        let middle = f64::midpoint(short, enough);
        if continuous_gaussian_delta(middle, epsilon) <= delta { enough = middle } else { short = middle }
    }
    enough
}

#[cfg(test)]
mod tests {
    use super::*;

    /// δ of c randomised responses from the definition: all 2^c outcomes.
    fn randomised_responses(c: u32, epsilon_per_run: f64, epsilon: f64) -> f64 {
        let (yes, no) = (epsilon_per_run.exp(), 1.0);
        (0..1_u32 << c)
            .map(|outcome| {
                let ones = outcome.count_ones() as i32;
                let zeros = c as i32 - ones;
                let p = yes.powi(zeros) * f64::powi(no, ones);
                let q = yes.powi(ones) * f64::powi(no, zeros);
                (p - epsilon.exp() * q).max(0.0) / (yes + no).powi(c as i32)
            })
            .sum()
    }

    #[test]
    fn optimal_composition_is_that_of_randomised_responses() {
        for c in [1, 2, 3, 7, 12] {
            for (epsilon_per_run, epsilon) in [(0.1, 0.05), (0.1, 0.3), (1.0, 2.5), (3.0, 0.0)] {
                let (lower, upper) = optimal_delta(c, epsilon_per_run, epsilon);
                let direct = randomised_responses(c, epsilon_per_run, epsilon);
                assert!(lower <= upper && upper - lower <= 1e-15 * upper, "{lower} {upper}");
                assert!(
                    lower - 1e-13 <= direct && direct <= upper + 1e-13,
                    "{c} {epsilon_per_run} {epsilon}: {lower} {direct} {upper}"
                );
            }
        }
    }

    #[test]
    fn nothing_is_left_at_basic_composition_and_everything_below_it() {
        let (lower, upper) = optimal_delta(4, 0.25, 1.0);
        assert!(lower == 0.0 && upper < 1e-70, "{upper}");
        let (lower, _) = optimal_delta(4, 0.25, 1.0_f64.next_down());
        assert!(0.0 < lower && lower < 1e-15);
        assert_eq!(optimal_delta(5, 0.0, 0.0), (0.0, 0.0));
    }

    #[test]
    fn a_hundred_runs_take_no_time_and_lose_no_digits() {
        let (lower, upper) = optimal_delta(100, 0.02, 1.0);
        assert!(0.0 < lower && upper - lower <= 1e-15 * upper, "{lower} {upper}");
    }

    #[test]
    fn the_float_sum_lies_in_the_enclosure() {
        for (variance, epsilon) in [("1/4", "1"), ("1", "1/2"), ("20", "1"), ("20", "0"), ("33", "2")] {
            let variance: RBig = variance.parse().expect("a rational literal");
            let epsilon: RBig = epsilon.parse().expect("a rational literal");
            let (lower, upper) = discrete_gaussian_delta_enclosure(&variance, &epsilon);
            // √σ² rounds, by a relative 1e-16, which the exponents of up to 50 enlarge.
            let sigma = variance.to_f64_fast().sqrt();
            let delta = discrete_gaussian_delta(sigma, &[1], epsilon.to_f64_fast());
            assert!(
                lower * (1.0 - 1e-11) <= delta && delta <= upper * (1.0 + 1e-11),
                "{variance} {epsilon}: {lower} {delta} {upper}"
            );
            assert!(upper - lower < 1e-14 * upper);
        }
    }

    #[test]
    fn coordinates_are_those_of_the_joint_law() {
        let (sigma, epsilon) = (1.7, 0.8);
        let law = DiscreteGaussian::new(sigma);
        for shifts in [[1_i64, 1], [1, -1], [2, 1], [0, 3]] {
            let mut direct = 0.0;
            for x in -40..=40 {
                for y in -40..=40 {
                    let p = law.probability(x) * law.probability(y);
                    let q = law.probability(x - shifts[0]) * law.probability(y - shifts[1]);
                    direct += (p - f64::exp(epsilon) * q).max(0.0);
                }
            }
            let delta = discrete_gaussian_delta(sigma, &shifts, epsilon);
            assert!((delta / direct - 1.0).abs() < 1e-11, "{shifts:?}: {delta} {direct}");
        }
        assert!((discrete_gaussian_delta(sigma, &[0], epsilon)).abs() < 1e-300);
    }

    #[test]
    fn delta_is_not_monotone_in_sigma() {
        // Why a σ is verified where it is used, and not only searched for.
        let delta = |i: u32| discrete_gaussian_delta(0.2 + f64::from(i) * 0.01, &[1], 1.0);
        assert!((0..100).any(|i| delta(i + 1) > delta(i)));
    }

    #[test]
    fn the_route_through_zcdp_is_valid_and_not_far() {
        for (sigma, epsilon) in [(1.0_f64, 1.0), (4.531, 1.0), (4.531, 0.3), (10.0, 0.5)] {
            let bound = zcdp_delta(0.5 / (sigma * sigma), epsilon, 100_000);
            let exact = discrete_gaussian_delta(sigma, &[1], epsilon);
            assert!(exact < bound && bound < 20.0 * exact, "{sigma} {epsilon}: {exact} {bound}");
        }
    }
}
