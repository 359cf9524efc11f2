//! The c largest of many scores, one selection after the other.

use super::PermuteAndFlip;
use crate::composition::optimal;
use crate::{Beta, Budget, Epsilon, Hits, Neighbours, ParameterError, Queries, Sensitivity, StreamKind};
use rand::CryptoRng;

/// Top-c by iteration: c times [`PermuteAndFlip`] among those not yet selected (Dwork and Roth 2014, section 3.6: the
/// non-interactive analogue of the sparse vector).
///
/// # Privacy
/// The indices, in the order of their selection, of scores of sensitivity Δ each, are (ε, δ)-private: each selection is ε₀-private whatever was
/// selected before, since leaving out what is public changes no sensitivity and no monotonicity, and c adaptive ε₀-private
/// mechanisms are (ε, δ)-private together at the ε₀ of [`optimal::epsilon_per_run`]. The scores themselves must be released
/// with noise of their own.
///
/// Cost: c·k coins.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{Budget, Epsilon, Hits, Neighbours, Sensitivity, StreamKind, TopByIteration};
/// let (neighbours, kind) = (Neighbours::AddRemove, StreamKind::Counts);
/// let budget = Budget::pure(Epsilon::new(1.0)?);
/// let top = TopByIteration::new(Hits::new(2)?, Sensitivity::ONE, &budget, neighbours, kind)?;
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// assert_eq!(top.select(&[300, 1, 500, 2], &mut rng), [2, 0]);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TopByIteration {
    selections: Hits,
    per_selection: Epsilon,
    selection: PermuteAndFlip,
}

impl TopByIteration {
    /// For scores of sensitivity Δ and c = `selections` within `budget`.
    ///
    /// # Errors
    /// If ε₀ is below the least [`Epsilon`], or needs a scale that the samplers do not serve.
    pub fn new(
        selections: Hits,
        sensitivity: Sensitivity,
        budget: &Budget,
        neighbours: Neighbours,
        kind: StreamKind,
    ) -> Result<Self, ParameterError> {
        let per_selection = optimal::epsilon_per_run(selections, budget)?;
        let selection = PermuteAndFlip::new(sensitivity, &per_selection, neighbours, kind)?;
        Ok(Self { selections, per_selection, selection })
    }

    /// ε₀: what one selection spends.
    pub fn epsilon_per_selection(&self) -> &Epsilon {
        &self.per_selection
    }

    /// How far a selected score may be below the largest of those left at its turn: with probability 1 − β none of the c is
    /// further below than the [accuracy](PermuteAndFlip::accuracy) at β/c. So the j-th selected is at most so far below the
    /// j-th largest of all. Grid units.
    ///
    /// ```
    /// use tamis_noise::{Beta, Budget, Delta, Epsilon, Hits, Neighbours, Queries, Sensitivity, StreamKind, TopByIteration};
    /// let (neighbours, kind) = (Neighbours::AddRemove, StreamKind::Counts);
    /// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
    /// let top = TopByIteration::new(Hits::new(100)?, Sensitivity::ONE, &budget, neighbours, kind)?;
    /// assert_eq!(top.accuracy(Queries::new(1000)?, Beta::new(0.05)?), 740);
    /// # Ok::<(), tamis_noise::ParameterError>(())
    /// ```
    pub fn accuracy(&self, candidates: Queries, beta: Beta) -> u64 {
        self.selection.accuracy_at(candidates, beta.get() / f64::from(self.selections.get()))
    }

    /// The indices of c candidates, or of all if there are fewer, in the order of their selection.
    pub fn select<R: CryptoRng + ?Sized>(&self, scores: &[i64], rng: &mut R) -> Vec<usize> {
        let mut left: Vec<usize> = (0..scores.len()).collect();
        let mut scores = scores.to_vec();
        let mut selected = Vec::new();
        for _ in 0..self.selections.get() {
            let Some(candidate) = self.selection.select(&scores, rng) else { break };
            scores.swap_remove(candidate);
            selected.push(left.swap_remove(candidate));
        }
        selected
    }
}
