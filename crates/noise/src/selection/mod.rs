//! Private selection: which of many candidates has the largest score, without the score.
//!
//! Scores are integers of sensitivity Δ each, in grid units. All but the last give one index:
//!
//! | mechanism | chance to fall more than a below the largest of k | time |
//! | --------- | ------------------------------------------------- | ---- |
//! | [`NoisyMax`] | k·e^(−a/2t) or so | k draws |
//! | [`ExponentialMechanism`] | (k − 1)·e^(−a/t) | up to k coins in expectation, hanging on the scores |
//! | [`PermuteAndFlip`] | half of that | k coins |
//! | [`TopByIteration`] | c times [`PermuteAndFlip`] | c·k coins |
//!
//! with t = 2Δ/ε, or Δ/ε for monotone scores.

mod exponential;
mod noisy_max;
mod permute_and_flip;
mod top;

pub use exponential::ExponentialMechanism;
pub use noisy_max::NoisyMax;
pub use permute_and_flip::PermuteAndFlip;
pub use top::TopByIteration;

use crate::{Epsilon, Neighbours, ParameterError, Rational, Scale, Sensitivity, StreamKind};

/// 2Δ/ε; Δ/ε if all scores move the same way between neighbours.
fn scale(
    sensitivity: Sensitivity,
    epsilon: &Epsilon,
    neighbours: Neighbours,
    kind: StreamKind,
) -> Result<Scale, ParameterError> {
    let factor = if kind.is_monotone(neighbours) { 1 } else { 2 };
    Scale::of(sensitivity, epsilon)?.times(&Rational::from(factor))
}

/// The least whole a ≥ 0 with odds·e^(−(a + 1)/t) ≤ 1: no whole distance above a is reached but with the chance that `odds` is
/// a multiple of. Rounded up where floats might not tell.
fn reach(scale: &Scale, odds: f64) -> u64 {
    // A relative 1e-12 is more than ln and the products may be off by.
    let reach = scale.to_f64_up() * odds.ln() * (1.0 + 1e-12);
    // Whole and not negative, also for odds of 0; beyond the integers it becomes the largest.
    (reach.ceil() - 1.0).max(0.0) as u64
}
