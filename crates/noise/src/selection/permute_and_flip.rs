//! Permute-and-flip: never worse than the exponential mechanism.

use super::{reach, scale};
use crate::coins::{ExponentialCoin, uniform_below};
use crate::{Beta, Epsilon, Neighbours, ParameterError, Queries, Scale, Sensitivity, StreamKind};
use rand::CryptoRng;
use std::num::NonZeroU64;

/// Permute-and-flip (McKenna and Sheldon 2020): candidates in random order, each with a coin of probability
/// e^((score − largest)/t), t = 2Δ/ε; the first that shows heads is selected.
///
/// Use it where one index is wanted. It falls as far below the largest score as the
/// [`ExponentialMechanism`](crate::ExponentialMechanism) never more often, as they show, and half as often where that is rare.
///
/// # Privacy
/// The index alone, of scores of sensitivity Δ each, is ε-private; t = Δ/ε is enough if the scores are monotone (all move the same way
/// between neighbours). *Proof*: [`select`](Self::select) tosses all coins and takes one of the heads at random, which is the
/// same law, since no coin depends on the order. That law is the one of the largest score_i + E_i, E_i independent and
/// exponential with mean t (Ding, Kifer, Ghane, Steinke, Xiao, Zhang 2021): E_i lifts i above the largest score with the probability of
/// its coin, and by memorylessness those lifted stand above it at heights of one law, so each is equally likely to be the
/// highest. Fix the noise of all others, and call their highest r: i wins iff E_i > r − score_i; between neighbours that
/// moves by at most 2Δ (monotone: Δ), and P(E > y') ≥ e^(−|y − y'|/t)·P(E > y) for all real y and y'.
///
/// # Exact
/// The coins are compared with e^(−n/t) in integers where floats cannot tell, and the choice among the heads is exactly uniform:
/// the law is exact but for an event of probability below 2⁻⁴⁰⁰⁰. Cost: k coins, of some ten nanoseconds each, whatever the scores; that
/// some coins are certain, and how many show heads, is seen in the time all the same.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{Epsilon, Neighbours, PermuteAndFlip, Sensitivity, StreamKind};
/// let (neighbours, kind) = (Neighbours::AddRemove, StreamKind::Counts);
/// let selection = PermuteAndFlip::new(Sensitivity::ONE, &Epsilon::new(1.0)?, neighbours, kind)?;
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// assert_eq!(selection.select(&[3, 1, 500, 2], &mut rng), Some(2));
/// assert_eq!(selection.select(&[], &mut rng), None);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PermuteAndFlip {
    coin: ExponentialCoin,
}

impl PermuteAndFlip {
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
    /// A candidate more than a below needs heads, of probability e^(−(a + 1)/t) at most, and then to be preferred to the
    /// largest, which always shows heads: at most one time in two. There are at most k − 1. (For β above ½ it is the bound of
    /// the [`ExponentialMechanism`](crate::ExponentialMechanism), which is then the lower.)
    ///
    /// ```
    /// use tamis_noise::{Beta, Epsilon, Neighbours, PermuteAndFlip, Queries, Sensitivity, StreamKind};
    /// let (neighbours, kind) = (Neighbours::AddRemove, StreamKind::Counts);
    /// let selection = PermuteAndFlip::new(Sensitivity::ONE, &Epsilon::new(0.1)?, neighbours, kind)?;
    /// assert_eq!(selection.accuracy(Queries::new(1000)?, Beta::new(0.05)?), 92); // exponential mechanism: 98
    /// # Ok::<(), tamis_noise::ParameterError>(())
    /// ```
    pub fn accuracy(&self, candidates: Queries, beta: Beta) -> u64 {
        self.accuracy_at(candidates, beta.get())
    }

    /// The same for any failure probability, be it as small as no [`Beta`] is.
    pub(super) fn accuracy_at(&self, candidates: Queries, probability: f64) -> u64 {
        reach(self.scale(), (candidates.to_f64() - 1.0) * (1.0 - probability).min(0.5) / probability)
    }

    /// The index of the selected candidate; `None` for no candidates.
    pub fn select<R: CryptoRng + ?Sized>(&self, scores: &[i64], rng: &mut R) -> Option<usize> {
        let largest = *scores.iter().max()?;
        let mut words = || rng.next_u64();
        let coins = scores.iter().enumerate();
        let heads = coins.filter(|(_, score)| self.coin.toss(largest.abs_diff(**score), &mut words));
        let heads: Vec<usize> = heads.map(|(candidate, _)| candidate).collect();
        // There is one: the coin of the largest is certain.
        let count = NonZeroU64::new(heads.len() as u64)?;
        // Lossless: below the length of a slice.
        Some(heads[uniform_below(count, &mut words) as usize])
    }
}
