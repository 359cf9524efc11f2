//! How far an error reaches that is in part the noise of few keys.
//!
//! # Law
//! Given the signs, the noise of an answer is Σ_j w_j·N_j, w_j = B_j/s as in [`answer`](crate::answer), with independent
//! discrete Laplace N_j of variance v. What other keys add is taken for normal, of variance V. So the cumulant generating
//! function of an error is
//!
//! ```text
//! K(t) = V·t²/2 + Σ_j w_j²·g(w_j²),    w²·g(w²) = −ln(1 − v·(cosh(wt) − 1)).
//! ```
//!
//! # Few numbers for all weights
//! g is a power series without negative coefficients, so it is convex, and below its chord between 0 and the square of the
//! largest weight W. With S₂ = Σw² and S₄ = Σw⁴
//!
//! ```text
//! Σ_j w_j²·g(w_j²) ≤ (S₂ − S₄/W²)·g(0) + (S₄/W²)·g(W²),    g(0) = v·t²/2:
//! ```
//!
//! at no t is K more than that of a normal part of variance V + v·(S₂ − S₄/W²) and of S₄/W⁴ rows of weight W. Variance and
//! kurtosis are the same, and all is if all weights are equal, as those of a list of keys that do not share a row.
//!
//! # Tail
//! With r = √(2(t·K′(t) − K(t))) and u = t·√K″(t), by Lugannani and Rice
//!
//! ```text
//! P(|E| > K′(t)) ≈ P(|normal| > r) + √(2/π)·e^(−r²/2)·(1/u − 1/r),
//! ```
//!
//! which is solved for t by bisection, some microseconds an interval. Errors of a list are whole multiples of 1/s, and the
//! approximation is of a law without steps: half a step is added. The normal quantile is taken where it is more, as it is at
//! levels below nine in ten. Enumeration, of one key to a thousand, scales from 0.3 to 20 and probabilities down to 10⁻⁹, finds
//! the exact probability beyond the result at most 1.07 times the one that was asked for, from ten keys on at most 1.01 times.
//!
//! Discrete Gaussian noise has lighter tails than discrete Laplace noise of the same variance. It is normal by itself for
//! σ ≥ 1; where it is narrower, and few keys are asked for, it is treated as the latter.
//!
//! ```
//! use tamis_noise::{Beta, Budget, Epsilon, Neighbours, Queries};
//! use tamis_projection::{ProjectionRelease, bounds::deviations};
//! let budget = Budget::pure(Epsilon::new(1.0)?);
//! let plan = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).records(1_000).support(10).build()?;
//! // A thousand lists of ten keys: a bell curve's interval would be too narrow by a seventh.
//! let (queries, beta) = (Queries::new(1_000)?, Beta::new(0.05)?);
//! let normal = deviations(queries, beta) * plan.predicted_standard_error(10.0, 1_000.0, 0.0);
//! assert!((1.12..1.22).contains(&(plan.predicted_half_width(queries, beta) / normal)));
//! # Ok::<(), tamis_projection::ProjectionError>(())
//! ```
//!
//! # References
//! - R. Lugannani, S. Rice, *Saddle point approximation for the distribution of the sum of independent random variables*,
//!   Adv. Appl. Probab. 12(2), 1980.

use crate::bounds::normal_quantile;
use statrs::function::erf::erfc;
use std::f64::consts::{FRAC_2_PI, SQRT_2};

/// The law of an error that is in part the noise of few keys, in units of its standard error. See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// Variance of the normal part.
    normal: f64,
    /// How many rows of noise make up the rest. Not whole if weights differ.
    number: f64,
    /// The weight of each.
    weight: f64,
    /// v: the variance of the noise on a row, in records.
    noise: f64,
    /// Between one possible error and the next.
    step: f64,
}

impl Tails {
    /// Of an answer of this standard error, by v, S₄, W, and the `step` of which errors of lists are whole multiples, all in
    /// records.
    pub(crate) fn new(standard_error: f64, noise: f64, fourths: f64, largest: f64, step: f64) -> Self {
        let (number, weight) = (fourths / largest.powi(4), largest / standard_error);
        // Of less weighty queries the errors are so much smaller.
        let step = step.min(largest) / standard_error;
        Self { normal: (1.0 - number * weight * weight * noise).max(0.0), number, weight, noise, step }
    }

    /// The excess kurtosis.
    pub(crate) fn kurtosis(&self) -> f64 {
        // Of discrete Laplace noise the fourth cumulant is v + 3v².
        self.number * self.weight.powi(4) * self.noise * (1.0 + 3.0 * self.noise)
    }

    /// How many standard errors such an error is beyond with this probability.
    pub(crate) fn deviations(&self, outside: f64) -> f64 {
        self.quantile(outside).max(normal_quantile(outside)) + self.step / 2.0
    }

    /// K′ at the t of which the [tail](self#tail) is `outside`.
    fn quantile(&self, outside: f64) -> f64 {
        // Where K ends: v·(cosh(wt) − 1) = 1.
        let most = self.noise.recip();
        let end = (most + most.sqrt() * (most + 2.0).sqrt()).ln_1p() / self.weight;
        let (mut low, mut high) = (0.0, end);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            // Not a number where rounding has reached the end.
            if self.saddle(middle).tail > outside { low = middle } else { high = middle }
        }
        self.saddle(low).error
    }

    fn saddle(&self, t: f64) -> Saddle {
        let Self { normal, number, weight, noise, .. } = *self;
        // sinh²(wt/2), by which cosh(wt) = 1 + 2·half and sinh(wt) = 2·√(half·(1 + half)).
        let half = (weight * t / 2.0).sinh().powi(2);
        // v·(cosh(wt) − 1), and what is left of 1.
        let used = 2.0 * noise * half;
        let left = 1.0 - used;
        let slope = 2.0 * noise * weight * half.sqrt() * (1.0 + half).sqrt() / left;
        let error = normal * t + number * slope;
        let cumulants = normal * t * t / 2.0 - number * (-used).ln_1p();
        let curvature = normal + number * (noise * weight * weight * (1.0 + 2.0 * half) / left + slope * slope);
        let (r, u) = ((2.0 * (t * error - cumulants)).sqrt(), t * curvature.sqrt());
        Saddle { error, tail: erfc(r / SQRT_2) + FRAC_2_PI.sqrt() * (-r * r / 2.0).exp() * (u.recip() - r.recip()) }
    }
}

/// An error, and how probable it is to be beyond on either side.
struct Saddle {
    error: f64,
    tail: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The twin: P(Σ of m discrete Laplace variables = d) for d ≥ 0, as a difference of two negative binomial ones.
    fn enumerated(number: u32, scale: f64) -> Vec<f64> {
        let q = (-1.0 / scale).exp();
        let deviation = (f64::from(number) * 2.0 * q).sqrt() / (1.0 - q);
        let range = (12.0 * deviation + 60.0 * scale) as usize + 5;
        let mut binomial = vec![(1.0 - q).powi(number as i32)];
        for k in 1..2 * range + (f64::from(number) * q / (1.0 - q) + 40.0 * scale) as usize {
            binomial.push(binomial[k - 1] * (f64::from(number) + k as f64 - 1.0) / k as f64 * q);
        }
        (0..range).map(|d| binomial.iter().zip(&binomial[d..]).map(|(a, b)| a * b).sum()).collect()
    }

    /// P(|E| > h) with a normal part beside the sum.
    fn beyond(law: &[f64], normal: f64, half: f64) -> f64 {
        let at = |d: f64| match normal {
            0.0 => f64::from(d.abs() > half),
            _ => (erfc((half - d) / (2.0 * normal).sqrt()) + erfc((half + d) / (2.0 * normal).sqrt())) / 2.0,
        };
        law.iter().enumerate().map(|(d, p)| p * at(d as f64) * if d == 0 { 1.0 } else { 2.0 }).sum()
    }

    fn variance(scale: f64) -> f64 {
        let q = (-1.0 / scale).exp();
        2.0 * q / (1.0 - q).powi(2)
    }

    /// Tails of a list of m keys that share no row, and their standard error.
    fn of_list(number: u32, scale: f64, normal: f64) -> (Tails, f64) {
        let error = (normal + f64::from(number) * variance(scale)).sqrt();
        (Tails::new(error, variance(scale), f64::from(number), 1.0, 1.0), error)
    }

    /// Against enumeration: never short by more than 7 % of the probability, from ten keys on 1 %; and not wider than by a step
    /// and as many percent, but where the normal quantile is.
    #[test]
    fn intervals_are_as_wide_as_enumeration_says() {
        for (scale, most) in [(0.3, 1_000), (1.0, 1_000), (8.0, 100), (20.0, 2)] {
            for number in [1, 2, 5, 10, 100, 1_000].into_iter().filter(|&number| number <= most) {
                let law = enumerated(number, scale);
                for share in [0.0, 0.3, 0.8, 0.93, 0.97] {
                    let normal = f64::from(number) * variance(scale) * share / (1.0 - share);
                    let (tails, error) = of_list(number, scale, normal);
                    for outside in [0.1, 0.05, 0.01, 1e-3, 5e-5, 1e-6, 1e-9] {
                        let half = tails.deviations(outside) * error;
                        let slack = if number < 10 { 1.07 } else { 1.01 };
                        let ratio = beyond(&law, normal, half) / outside;
                        let case = format!("scale {scale}, {number} keys, normal {normal}, {outside}: {ratio}");
                        assert!(ratio <= slack, "{case}");
                        let narrower = half / slack - 1.0;
                        let is_normal = tails.quantile(outside) < normal_quantile(outside);
                        assert!(is_normal || beyond(&law, normal, narrower) > outside, "{case}");
                    }
                }
            }
        }
    }

    /// What the normal law would give is far too narrow for ten keys, and right for a thousand.
    #[test]
    fn for_many_keys_the_normal_law_is_right() {
        let (law, (tails, error)) = (enumerated(10, 1.0), of_list(10, 1.0, 0.0));
        assert!(beyond(&law, 0.0, normal_quantile(5e-5) * error + 0.5) > 2.0 * 5e-5);
        assert!(beyond(&law, 0.0, tails.deviations(5e-5) * error) <= 5e-5);
        for outside in [0.5, 0.1, 0.05, 0.01, 1e-3] {
            let ratio = of_list(1_000, 1.0, 0.0).0.deviations(outside) / normal_quantile(outside);
            assert!((1.0..1.02).contains(&ratio) && (ratio < 1.01 || outside > 0.1), "{outside}: {ratio}");
        }
    }

    /// The few numbers have the variance of the weights, and at no t less cumulants: the twin, all weights equal with the same
    /// variance and kurtosis, has less.
    #[test]
    fn the_largest_weight_stands_for_all() {
        let weights: Vec<f64> =
            [(100, 1.0), (3, 2.0), (1, 3.0), (50, 0.2)].into_iter().flat_map(|(n, w)| vec![w; n]).collect();
        let sum = |power: i32| weights.iter().map(|weight| weight.powi(power)).sum::<f64>();
        let noise = variance(1.0);
        let error = (noise * sum(2)).sqrt();
        let tails = Tails::new(error, noise, sum(4), 3.0, 1.0);
        let cumulants = |t: f64, number: f64, weight: f64| -number * (1.0 - noise * ((weight * t).cosh() - 1.0)).ln();
        let (number, weight) = (sum(2).powi(2) / sum(4), (sum(4) / sum(2)).sqrt());
        for t in [0.05, 0.1, 0.2, 0.3, 0.32] {
            let exact: f64 = weights.iter().map(|&weight| cumulants(t, 1.0, weight)).sum();
            let few = tails.normal * (error * t).powi(2) / 2.0 + cumulants(t, tails.number, 3.0);
            assert!(few >= exact && few < 1.05 * exact + 3.0, "{t}: {few} {exact}");
            assert!(cumulants(t, number, weight) < exact, "{t}");
        }
        assert!((tails.normal + tails.number * tails.weight.powi(2) * noise - 1.0).abs() < 1e-12);
    }

    /// Whatever the noise, a number that grows with the level.
    #[test]
    fn every_law_has_its_quantiles() {
        for noise in [1e-300, 1e-20, 1.0, 1e20, 1e40] {
            for number in [1f64, 1e3, 1e15] {
                for share in [1e-6, 1.0] {
                    let error = (number * noise / share).sqrt();
                    let tails = Tails::new(error, noise, number, 1.0, 1.0);
                    let at = [0.99, 0.5, 1e-3, 1e-30, 1e-300].map(|outside| tails.deviations(outside));
                    assert!(at.is_sorted() && at.iter().all(|z| z.is_finite() && *z > 0.0), "{noise} {number}: {at:?}");
                }
            }
        }
    }
}
