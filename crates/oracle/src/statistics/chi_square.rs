//! Pearson's chi-square goodness of fit, counted in full.
//!
//! Three slips make such a test blind, and are excluded here by construction: an empty bin scored as
//! zero instead of its whole expectation; tails left out, so that a sampler with a wrong tail looks
//! perfect; bins that expect too little for the asymptotic p-value to mean anything.

use statrs::function::gamma::gamma_ur;

/// Goodness of fit of counts to exact probabilities.
///
/// The p-value is asymptotic. With at least 5 expected in each bin it is right within a factor of a
/// few down to about 1e-6; ask for 25 when the false alarm is smaller than that.
///
/// Power: with `n` draws in equally likely bins, a scale off by a fraction r moves the statistic by
/// about `n·r²` (Laplace) or `2·n·r²` (Gaussian) times a factor near 0.9 for 50 bins or more, against a
/// spread of √(2·bins). So at 1e7 draws in 100 bins a scale 2 % off adds about 3 600 to a statistic
/// of 99 ± 14; at 1e5 draws a scale 10 % off adds 900.
///
/// ```
/// use tamis_oracle::statistics::ChiSquare;
/// const FALSE_ALARM: f64 = 1e-6;
/// let fair = [1.0 / 6.0; 6];
/// assert!(ChiSquare::new(&[103, 95, 99, 110, 94, 99], &fair, 25.0).accepts(FALSE_ALARM));
/// // A die that never shows six: the empty bin counts in full.
/// assert!(!ChiSquare::new(&[120, 120, 120, 120, 120, 0], &fair, 25.0).accepts(FALSE_ALARM));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquare {
    /// Σ (observed − expected)² / expected over the merged bins.
    pub statistic: f64,
    /// Merged bins less one.
    pub degrees_of_freedom: u64,
    /// Probability of a statistic at least this large if the law is right.
    pub p_value: f64,
}

impl ChiSquare {
    /// Compares counts with the probabilities of the same bins, tails included.
    ///
    /// Neighbouring bins are merged, from the first on, until each expects at least
    /// `minimum_expected`; a remainder that expects less joins the last bin.
    ///
    /// # Panics
    ///
    /// If the slices differ in length, the probabilities are negative or do not sum to 1 within 1e-9 (a
    /// bin, most likely a tail, was left out), `minimum_expected` is below 5, or fewer than two bins
    /// remain: nothing would be tested.
    pub fn new(observed: &[u64], probabilities: &[f64], minimum_expected: f64) -> Self {
        assert_eq!(observed.len(), probabilities.len(), "one probability a bin");
        assert!(probabilities.iter().all(|&p| p >= 0.0), "probabilities must not be negative");
        let total: f64 = probabilities.iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "probabilities must sum to 1, tails included, got {total}");
        assert!(minimum_expected >= 5.0, "each bin must expect at least 5, got {minimum_expected}");
        let draws = observed.iter().sum::<u64>() as f64;
        let bins = merge(observed, probabilities, draws, minimum_expected);
        assert!(bins.len() >= 2, "at least two bins must remain after merging: draw more than {draws}");
        let statistic = bins.iter().map(|&(observed, expected)| (observed - expected).powi(2) / expected).sum();
        let degrees_of_freedom = bins.len() as u64 - 1;
        let p_value = if statistic == 0.0 { 1.0 } else { gamma_ur(degrees_of_freedom as f64 / 2.0, statistic / 2.0) };
        Self { statistic, degrees_of_freedom, p_value }
    }

    /// Whether the fit stands at this false alarm.
    pub fn accepts(&self, false_alarm: f64) -> bool {
        self.p_value >= false_alarm
    }
}

/// (observed, expected) of the merged bins.
fn merge(observed: &[u64], probabilities: &[f64], draws: f64, minimum: f64) -> Vec<(f64, f64)> {
    let mut bins: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (&count, &probability) in observed.iter().zip(probabilities) {
        open.0 += count as f64;
        open.1 += probability * draws;
        if open.1 >= minimum {
            bins.push(std::mem::take(&mut open));
        }
    }
    match bins.last_mut() {
        Some(last) => {
            last.0 += open.0;
            last.1 += open.1;
        }
        None => bins.push(open),
    }
    bins
}

/// Bins of the integers for a given law: nearly equally likely, with both tails.
///
/// ```
/// use tamis_oracle::statistics::IntegerBins;
/// // The geometric law 2^-(j+1) on j = 0, 1, …
/// let survival = |j: i64| if j <= 0 { 1.0 } else { 0.5_f64.powi(j.min(2000) as i32) };
/// let bins = IntegerBins::new(survival, 100);
/// let probabilities = bins.probabilities();
/// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// let counts = bins.count([0, 0, 1, 5]);
/// assert_eq!(counts.iter().sum::<u64>(), 4);
/// ```
#[derive(Clone, Debug)]
pub struct IntegerBins {
    /// First integer of each bin but the first, which starts at −∞; increasing.
    starts: Vec<i64>,
    probabilities: Vec<f64>,
}

impl IntegerBins {
    /// At most `bins` bins of about equal probability, from the survival function P(Z ≥ j).
    ///
    /// Where single integers are likelier than that, each is its own bin.
    /// Cost: 64 evaluations of `survival` a bin.
    ///
    /// # Panics
    ///
    /// If `bins` is below 2.
    pub fn new(survival: impl Fn(i64) -> f64, bins: usize) -> Self {
        assert!(bins >= 2, "at least two bins are needed, got {bins}");
        let mut starts: Vec<i64> = (1..bins)
            .map(|i| {
                let wanted = 1.0 - i as f64 / bins as f64;
                // The least j with P(Z ≥ j) ≤ wanted.
                let (mut low, mut high) = (i64::MIN, i64::MAX);
                while low < high {
                    let middle = ((i128::from(low) + i128::from(high)) >> 1) as i64;
                    if survival(middle) <= wanted { high = middle } else { low = middle + 1 }
                }
                low
            })
            .collect();
        starts.dedup();
        // Where the law jumps over several quantiles, the atom that does it must be alone in its bin:
        // otherwise a wrong atom could hide behind a neighbour.
        let alone: Vec<i64> = starts.iter().filter_map(|&j| j.checked_sub(1)).collect();
        starts.extend(alone.into_iter().filter(|&j| survival(j) - survival(j + 1) > 0.5 / bins as f64));
        starts.sort_unstable();
        starts.dedup();
        let edges: Vec<f64> = starts.iter().map(|&j| survival(j)).collect();
        let upper = std::iter::once(1.0).chain(edges.iter().copied());
        let lower = edges.iter().copied().chain(std::iter::once(0.0));
        let probabilities = upper.zip(lower).map(|(upper, lower)| upper - lower).collect();
        Self { starts, probabilities }
    }

    /// Probability of each bin.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Counts of the draws in each bin.
    pub fn count(&self, draws: impl IntoIterator<Item = i64>) -> Vec<u64> {
        let mut counts = vec![0; self.probabilities.len()];
        for draw in draws {
            counts[self.starts.partition_point(|&start| start <= draw)] += 1;
        }
        counts
    }

    /// The test itself, on these draws.
    ///
    /// # Panics
    ///
    /// As [`ChiSquare::new`].
    pub fn test(&self, draws: impl IntoIterator<Item = i64>) -> ChiSquare {
        ChiSquare::new(&self.count(draws), &self.probabilities, 25.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    const FALSE_ALARM: f64 = 1e-6;
    const DRAWS: usize = 100_000;

    /// P(Z ≥ j) of a two-sided geometric law with this scale.
    fn survival(scale: f64) -> impl Fn(i64) -> f64 {
        move |j| {
            let s = (-1.0 / scale).exp();
            if j >= 1 {
                (-(j as f64) / scale).exp() / (1.0 + s)
            } else {
                1.0 - ((j as f64 - 1.0) / scale).exp() / (1.0 + s)
            }
        }
    }

    /// Difference of two geometric draws: the same law by another road.
    fn draw(scale: f64, rng: &mut Xoshiro256PlusPlus) -> i64 {
        let mut geometric = || (-scale * (1.0 - rng.random::<f64>()).ln()).floor() as i64;
        geometric() - geometric()
    }

    fn fits(drawn: f64, claimed: f64) -> bool {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let bins = IntegerBins::new(survival(claimed), 100);
        bins.test((0..DRAWS).map(|_| draw(drawn, &mut rng))).accepts(FALSE_ALARM)
    }

    #[test]
    fn the_right_law_is_accepted() {
        for scale in [0.3, 1.0, 10.0, 1000.0, 1e9] {
            assert!(fits(scale, scale), "{scale}");
        }
    }

    #[test]
    fn a_scale_ten_percent_off_is_rejected() {
        for scale in [0.3, 1.0, 10.0, 1000.0, 1e9] {
            assert!(!fits(1.1 * scale, scale), "{scale}");
            assert!(!fits(0.9 * scale, scale), "{scale}");
        }
    }

    #[test]
    fn a_missing_atom_is_rejected() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let bins = IntegerBins::new(survival(1.0), 50);
        let draws = (0..DRAWS).map(|_| draw(1.0, &mut rng)).map(|z| if z == 3 { 4 } else { z });
        assert!(!bins.test(draws).accepts(FALSE_ALARM));
    }

    #[test]
    fn the_p_value_is_uniform_under_the_law() {
        // 20 000 tests of a right law at 0.05 reject 840 to 1160 times, except with probability 3e-7.
        // One degree of freedom too few would reject 1560 times, one too many 640 times.
        let rejected = (0..20_000)
            .filter(|&seed| {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                let mut counts = [0_u64; 10];
                (0..500).for_each(|_| counts[rng.random_range(0..10)] += 1);
                !ChiSquare::new(&counts, &[0.1; 10], 25.0).accepts(0.05)
            })
            .count();
        assert!((840..=1160).contains(&rejected), "{rejected}");
    }

    #[test]
    fn known_values() {
        // Mendel's peas, 9:3:3:1.
        let test = ChiSquare::new(&[315, 101, 108, 32], &[9.0 / 16.0, 3.0 / 16.0, 3.0 / 16.0, 1.0 / 16.0], 25.0);
        assert_eq!(test.degrees_of_freedom, 3);
        assert!((test.statistic - 0.470_024).abs() < 1e-6);
        // R: pchisq(0.470024, 3, lower.tail = FALSE)
        assert!((test.p_value - 0.925_426).abs() < 1e-5);
    }

    #[test]
    fn thin_bins_are_merged_and_none_is_lost() {
        let test = ChiSquare::new(&[1, 2, 97, 0, 0], &[0.01, 0.02, 0.9, 0.03, 0.04], 5.0);
        assert_eq!(test.degrees_of_freedom, 1);
        // (100 against 93, 0 against 7)
        assert!((test.statistic - (49.0 / 93.0 + 7.0)).abs() < 1e-9);
    }

    #[test]
    #[should_panic(expected = "tails included")]
    fn a_forgotten_tail_is_refused() {
        ChiSquare::new(&[50, 50], &[0.5, 0.49], 5.0);
    }

    #[test]
    #[should_panic(expected = "at least two bins")]
    fn a_test_of_nothing_is_refused() {
        ChiSquare::new(&[3, 3], &[0.5, 0.5], 5.0);
    }
}
