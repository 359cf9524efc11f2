//! How far answers reach where heavy keys are apart: by the most that a key can have left.
//!
//! # Law
//! Given r = x − c̃, what [heavy keys apart](crate::heavy) leave, a list of m keys errs by its noise and by ±r_v/s for each of its ms entries
//! that shares a row with an entry of another key v, which happens with probability s/T. If no |r_v| is beyond X and entries are independent,
//! the cumulant generating function of an error is at most
//!
//! ```text
//! K(t) = K_noise(t) + (ms²/T)·(‖r‖²/X²)·(cosh(Xt/s) − 1),
//! ```
//!
//! since (cosh y − 1)/y² grows with |y|. K_noise is that of the [tails](crate::tails), and by Chernoff's method all of k lists are within
//! min over t of (K(t) + ln(4k/β))/t but for β/2. X is τ + α, where α is what the noise of none of the at most n/τ keys of τ records or more
//! exceeds but for β/2: one that is not told apart has x < τ − Z, of one that is |Z| is left.
//!
//! That is far less than the conservative rule, Chebyshev's inequality, which has to reckon with a key of all of ‖r‖². It is a prediction:
//! signs are independent for any few keys, not for all, and ‖r‖² is estimated.

use crate::release::predicted_tails;
use crate::{Noise, Shape};
use tamis_noise::discrete_laplace::margin;
use tamis_noise::stability::StabilityThreshold;
use tamis_noise::{Beta, Queries};

/// What k lists of m keys are within but for β, where of n records so much of ‖r‖² is left.
pub(crate) fn reach(
    (shape, noise): (Shape, &Noise),
    threshold: &StabilityThreshold,
    (records, left): (f64, f64),
    support: f64,
    queries: Queries,
    beta: Beta,
) -> f64 {
    let tau = threshold.threshold().max(1) as f64;
    let heavy = (records / tau).max(1.0);
    let most = tau + margin(threshold.scale(), 0.5 * beta.get() / heavy) as f64;
    let (width, nonzeros) = (f64::from(shape.width()), f64::from(shape.nonzeros()));
    let jump = most / nonzeros;
    let jumps = support * left / (width * jump * jump);
    let (_, tails) = predicted_tails(shape, noise, support, 1.0);
    let cumulants = |t: f64| tails.cumulants_of_noise(t) + 2.0 * jumps * (0.5 * jump * t).sinh().powi(2);
    let outside = (4.0 * queries.to_f64() / beta.get()).ln();
    least(|t| (cumulants(t) + outside) / t, tails.end())
}

/// The least of a function that falls and then grows on (0, `end`), by thirds of a logarithmic scale. Any place gives a bound, so
/// the search need not be exact.
fn least(function: impl Fn(f64) -> f64, end: f64) -> f64 {
    let (mut low, mut high) = (end.ln() - 40.0, end.ln());
    for _ in 0..80 {
        let third = (high - low) / 3.0;
        // Infinite or not a number near the end: too far.
        if function((low + third).exp()) < function((high - third).exp()) || !function((high - third).exp()).is_finite()
        {
            high -= third;
        } else {
            low += third;
        }
    }
    function(low.exp())
}
