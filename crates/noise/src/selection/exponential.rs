//! The exponential mechanism over integer scores.

use super::{reach, scale};
use crate::coins::{ExponentialCoin, uniform_below};
use crate::{Beta, Epsilon, Neighbours, ParameterError, Queries, Scale, Sensitivity, StreamKind};
use rand::CryptoRng;
use std::num::NonZeroU64;

/// The exponential mechanism (McSherry and Talwar 2007; Dwork and Roth 2014, section 3.4): candidate i with a probability
/// proportional to e^(score_i/t), t = 2Δ/ε.
///
/// It is the textbook's, and what other theorems are stated for. Where one index is wanted,
/// [`PermuteAndFlip`](crate::PermuteAndFlip) is at least as good.
///
/// # Privacy
/// The index alone, of scores of sensitivity Δ each, is ε-private; t = Δ/ε is enough if the scores are monotone (all move the same way
/// between neighbours). *Proof*: [`select`](Self::select) draws candidates uniformly until one's coin, of probability
/// e^((score_i − largest)/t), shows heads; so i comes out with probability w_i/Σ_j w_j, w_i = e^(score_i/t), for the largest score
/// cancels. Between neighbours w_i changes by a factor of at most e^(Δ/t), and so does the sum: together e^(2Δ/t). If all scores
/// grow by up to Δ, w_i and the sum each change by a factor from 1 to e^(Δ/t), and their quotient by at most e^(Δ/t) either way.
///
/// # Exact
/// The coins are compared with e^(−n/t) in integers where floats cannot tell, and the uniform candidate is exactly uniform: the
/// law is exact but for an event of probability below 2⁻⁴⁰⁰⁰.
///
/// **The time depends on the scores**: on average k/Σ_i e^((score_i − largest)/t) candidates are drawn, between 1 and k. Do
/// not let an analyst measure it.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{Epsilon, ExponentialMechanism, Neighbours, Sensitivity, StreamKind};
/// let (neighbours, kind) = (Neighbours::AddRemove, StreamKind::Counts);
/// let selection = ExponentialMechanism::new(Sensitivity::ONE, &Epsilon::new(1.0)?, neighbours, kind)?;
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// assert_eq!(selection.select(&[3, 1, 500, 2], &mut rng), Some(2));
/// assert_eq!(selection.select(&[], &mut rng), None);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExponentialMechanism {
    coin: ExponentialCoin,
}

/// Candidates drawn for each there is, at most: all are refused with a probability below e⁻⁴⁰⁹⁶, by a broken generator.
const MAX_ROUNDS: u64 = 4096;

impl ExponentialMechanism {
    /// For scores of sensitivity Δ at privacy ε.
    ///
    /// # Errors
    /// If t is a scale that the samplers do not serve.
    pub fn new(
        sensitivity: Sensitivity,
        epsilon: &Epsilon,
        neighbours: Neighbours,
        kind: StreamKind,
    ) -> Result<Self, ParameterError> {
        Ok(Self { coin: ExponentialCoin::new(scale(sensitivity, epsilon, neighbours, kind)?) })
    }

    /// t, in grid units.
    pub fn scale(&self) -> &Scale {
        self.coin.scale()
    }

    /// How far below the largest score the selected one may be, among `candidates`: a with probability 1 − β. Grid units.
    ///
    /// Dwork and Roth 2014, Theorem 3.11 (Corollary 3.12) with the terms that its proof drops: those of k candidates that are
    /// more than a below, at most k − 1, weigh at most w = (k − 1)·e^(−(a + 1)/t) together against 1 of the largest, so one of
    /// them comes out with probability w/(1 + w) at most, which some scores attain. So a is below t·ln(k/β), the book's.
    ///
    /// ```
    /// use tamis_noise::{Beta, Epsilon, ExponentialMechanism, Neighbours, Queries, Sensitivity, StreamKind};
    /// let (neighbours, kind) = (Neighbours::AddRemove, StreamKind::Counts);
    /// let selection = ExponentialMechanism::new(Sensitivity::ONE, &Epsilon::new(1.0)?, neighbours, kind)?;
    /// assert_eq!(selection.accuracy(Queries::new(1000)?, Beta::new(0.05)?), 9);
    /// # Ok::<(), tamis_noise::ParameterError>(())
    /// ```
    pub fn accuracy(&self, candidates: Queries, beta: Beta) -> u64 {
        reach(self.scale(), (candidates.to_f64() - 1.0) * (1.0 - beta.get()) / beta.get())
    }

    /// The index of the selected candidate; `None` for no candidates.
    pub fn select<R: CryptoRng + ?Sized>(&self, scores: &[i64], rng: &mut R) -> Option<usize> {
        let largest = *scores.iter().max()?;
        let candidates = NonZeroU64::new(scores.len() as u64)?;
        let mut words = || rng.next_u64();
        for _ in 0..MAX_ROUNDS.saturating_mul(candidates.get()) {
            // Lossless: below the length of a slice.
            let candidate = uniform_below(candidates, &mut words) as usize;
            if self.coin.toss(largest.abs_diff(scores[candidate]), &mut words) {
                return Some(candidate);
            }
        }
        scores.iter().position(|&score| score == largest)
    }
}
