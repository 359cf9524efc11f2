//! What counts prove: runs whose number is a Poisson variable, and exact limits from them.

use rand::RngExt;
use tamis_oracle::statistics::{clopper_pearson_lower, clopper_pearson_upper};

use super::Claim;
use crate::TrialRng;

/// Runs at the times of a Poisson process of rate 1: up to any time there is a Poisson number of them.
pub(super) struct Arrivals {
    pub(super) rng: TrialRng,
    time: f64,
    /// How many there were.
    pub(super) count: u64,
}

impl Arrivals {
    pub(super) fn new(rng: TrialRng) -> Self {
        Self { rng, time: 0.0, count: 0 }
    }

    /// Whether the next run is before `end`. If not, it is looked at again the next time: the process has no memory.
    pub(super) fn next_before(&mut self, end: f64) -> bool {
        // In (0, 1]; the interval is exponential.
        let uniform = 1.0 - self.rng.random::<f64>();
        self.time = (self.time - uniform.ln()).min(end);
        let is_before = self.time < end;
        self.count += u64::from(is_before);
        is_before
    }
}

/// A lower bound on the loss of an event beyond δ, wrong with probability at most `alpha`, 0 if nothing is shown: from its counts on the
/// likelier input and the other, and the runs there were on each.
pub(super) fn lower_bound(claim: Claim, counts: [u64; 2], runs: [u64; 2], alpha: f64) -> f64 {
    let [likelier, other] = counts;
    if claim.delta > 0.0 {
        let level = 1.0 - alpha / 2.0;
        let least = clopper_pearson_lower(likelier, runs[0], level) - claim.delta;
        return (least.max(0.0) / clopper_pearson_upper(other, runs[1], level)).ln().max(0.0);
    }
    if likelier == 0 {
        return 0.0;
    }
    let share = clopper_pearson_lower(likelier, likelier + other, 1.0 - alpha);
    (share / (1.0 - share)).ln().max(0.0)
}

/// An upper bound on the same, as [`lower_bound`].
pub(super) fn upper_bound(claim: Claim, counts: [u64; 2], runs: [u64; 2], alpha: f64) -> f64 {
    let [likelier, other] = counts;
    if claim.delta > 0.0 {
        let level = 1.0 - alpha / 2.0;
        let most = clopper_pearson_upper(likelier, runs[0], level) - claim.delta;
        return (most.max(0.0) / clopper_pearson_lower(other, runs[1], level)).ln().max(0.0);
    }
    if other == 0 {
        return f64::INFINITY;
    }
    let share = clopper_pearson_upper(likelier, likelier + other, 1.0 - alpha);
    (share / (1.0 - share)).ln().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use tamis_oracle::statistics::ChiSquare;

    /// P(Poisson(mean) = k), k up to where nothing is left: slow and obvious.
    fn poisson(mean: f64) -> Vec<f64> {
        let terms = (mean + 20.0 * mean.sqrt() + 20.0) as usize;
        (0..terms)
            .scan((-mean).exp(), |term, k| {
                let now = *term;
                *term *= mean / (k + 1) as f64;
                Some(now)
            })
            .collect()
    }

    /// The probability that a bound is wrong, by summation over all counts.
    fn is_wrong(means: [f64; 2], wrong: impl Fn([u64; 2]) -> bool) -> f64 {
        let [first, second] = means.map(poisson);
        let all =
            first.iter().enumerate().flat_map(|(k, p)| second.iter().enumerate().map(move |(l, q)| ([k, l], p * q)));
        all.filter(|(counts, _)| wrong(counts.map(|count| count as u64))).map(|(_, p)| p).sum()
    }

    #[test]
    fn bounds_are_wrong_no_more_often_than_alpha() {
        let claim = Claim::pure(1.0);
        for (means, alpha) in [([30.0, 10.0], 0.01), ([12.0, 12.0], 0.05), ([60.0, 8.0], 0.001)] {
            let loss = f64::ln(means[0] / means[1]);
            let below = is_wrong(means, |counts| lower_bound(claim, counts, [0, 0], alpha) > loss.max(0.0));
            assert!((alpha / 5.0..=alpha).contains(&below), "{means:?} at {alpha}: {below}");
            let above = is_wrong(means, |counts| upper_bound(claim, counts, [0, 0], alpha) < loss);
            assert!(above <= alpha, "{means:?} at {alpha}: {above}");
        }
        // With δ from a hundred runs each: a loss of ln((0.4 − 0.1)/0.1). Counts that are nearly Poisson have larger
        // variance than binomial ones, and are a harder test.
        let claim = Claim::approximate(1.0, 0.1);
        let below = is_wrong([40.0, 10.0], |counts| {
            counts[0] <= 100 && counts[1] <= 100 && lower_bound(claim, counts, [100, 100], 0.01) > 3_f64.ln()
        });
        assert!(below <= 0.01, "{below}");
    }

    #[test]
    fn nothing_seen_shows_nothing() {
        for claim in [Claim::pure(1.0), Claim::approximate(1.0, 0.1)] {
            assert_eq!(lower_bound(claim, [0, 0], [0, 0], 0.01), 0.0);
            assert_eq!(lower_bound(claim, [0, 9], [10, 10], 0.01), 0.0);
            assert!(lower_bound(claim, [1_000, 0], [1_000, 1_000], 0.01) > 4.0);
            assert_eq!(upper_bound(claim, [10, 0], [10, 10], 0.01), f64::INFINITY);
        }
    }

    /// Arrivals in windows of mean 12, looked at twice on the way: Poisson. False alarm 1e-6; the same test rejects windows with a
    /// fixed number of runs but for one coin.
    #[test]
    fn the_number_of_runs_is_poisson() {
        let law: Vec<f64> = poisson(12.0).into_iter().take(40).collect();
        let mut arrivals = Arrivals::new(TrialRng::seed_from_u64(1));
        let mut counts = vec![0; law.len()];
        for window in 0..5_000 {
            let start = 12.0 * f64::from(window);
            let mut up_to = |end: f64| std::iter::from_fn(|| arrivals.next_before(start + end).then_some(())).count();
            counts[up_to(1.0) + up_to(5.0) + up_to(12.0)] += 1;
        }
        assert!(ChiSquare::new(&counts, &law, 10.0).accepts(1e-6), "{counts:?}");
        let mut fixed = vec![0; law.len()];
        (fixed[11], fixed[12]) = (2_500, 2_500);
        assert!(!ChiSquare::new(&fixed, &law, 10.0).accepts(1e-6));
    }
}
