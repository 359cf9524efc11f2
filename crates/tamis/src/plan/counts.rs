//! How many records keys have, as far as that is public: what typical errors are predicted by.
//!
//! # Model
//! Where nothing is stated but n and ‖x‖²/n, all keys are alike. Where it is stated how many keys there are, D, each has one
//! record and the n − D others follow a power law,
//!
//! ```text
//! xᵢ = 1 + (n − D)·i^−s / H(s),    H(s) = Σ i^−s,    i = 1 … D,
//! ```
//!
//! with the s for which Σxᵢ² = ‖x‖², that is H(2s)/H(s)² = (‖x‖² − 2n + D)/(n − D)². The left side grows with s, from 1/D at
//! s = 0 (all alike) to 1 (one key has them all). Words, names and places are about so (Zipf's law is s = 1); the experiment `crossover`
//! shows how far the prediction is right for people.

use super::Question;
use std::collections::BTreeMap;
use tamis_baselines::KeyError;

/// How many keys have how many records.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Records of a key, and how many keys have so many: not whole.
    keys: BTreeMap<u64, f64>,
}

/// Ranks up to this are summed one by one.
const EXACT: u32 = 64;
/// The exponent is at most this: the second key has 2⁻⁶⁴ of the records of the first then.
const STEEPEST: f64 = 64.0;
/// Ranks within an eighth are taken together.
const TOGETHER: f64 = 1.125;

impl Counts {
    /// By what is stated, as far as it is possible.
    pub(super) fn of(question: &Question) -> Self {
        let (records, norm) = (question.records as f64, question.records as f64 * question.key_multiplicity);
        let mut counts = Self { keys: BTreeMap::new() };
        match question.distinct_keys {
            Some(keys) if keys > 1 && (keys as f64) < records => {
                counts.add_power_law(records, keys as f64, norm, question.largest_count)
            }
            _ => counts.add(question.keys(), question.key_multiplicity, question.largest_count),
        }
        counts
    }

    fn add_power_law(&mut self, records: f64, keys: f64, norm: f64, largest: u64) {
        let others = records - keys;
        let share = (norm - 2.0 * records + keys) / others.powi(2);
        let exponent = exponent(share, keys);
        let most = others / power_sum(exponent, keys);
        let mut before = 0.0;
        let mut rank = 1.0;
        while rank <= keys {
            let last = (rank * TOGETHER).floor().min(keys);
            let sum = power_sum(exponent, last);
            // Cannot be negative but for rounding.
            let mean = 1.0 + most * (sum - before).max(0.0) / (last - rank + 1.0);
            self.add(last - rank + 1.0, mean, largest);
            (before, rank) = (sum, last + 1.0);
        }
    }

    /// So many keys with so many records on the average, each with one of the two whole numbers next to it.
    fn add(&mut self, keys: f64, mean: f64, largest: u64) {
        let mean = mean.min(largest as f64);
        for (count, share) in [(mean.floor(), 1.0 - mean.fract()), (mean.floor() + 1.0, mean.fract())] {
            if share > 0.0 {
                // From 1 to the largest count.
                *self.keys.entry(count as u64).or_default() += keys * share;
            }
        }
    }

    /// Σ over keys.
    pub(super) fn sum(&self, of_key: impl Fn(u64) -> f64) -> f64 {
        self.keys.iter().map(|(&count, keys)| keys * of_key(count)).sum()
    }

    /// The root of the mean square of an answer to `support` keys: as many keys of the data as it has, each as likely as any other, and
    /// the rest of nobody.
    ///
    /// With p of D keys named, each key's error of mean b and variance v (both depending on its count), a mean of squares is
    /// (p·E b)² + p·E v + p·(D − p)/(D − 1)·Var b: the last since a list has no key twice.
    pub(super) fn typical_error_of_list(&self, support: f64, error_of_key: impl Fn(u64) -> KeyError) -> f64 {
        let keys = self.sum(|_| 1.0);
        let errors: Vec<(f64, KeyError)> =
            self.keys.iter().map(|(&count, &with)| (with / keys, error_of_key(count))).collect();
        let mean = |of: &dyn Fn(&KeyError) -> f64| errors.iter().map(|(share, error)| share * of(error)).sum::<f64>();
        let bias = mean(&|error| error.bias);
        let spread = mean(&|error| error.bias.powi(2)) - bias.powi(2);
        let present = support.min(keys);
        let (absent, none) = (support - present, error_of_key(0));
        let left = ((keys - present) / (keys - 1.0).max(1.0)).min(1.0);
        let square = (present * bias + absent * none.bias).powi(2)
            + present * (mean(&KeyError::variance) + left * spread.max(0.0))
            + absent * none.variance();
        square.sqrt()
    }
}

/// The s from 0 to [`STEEPEST`] for which H(2s)/H(s)² is the share, by halving.
fn exponent(share: f64, keys: f64) -> f64 {
    let (mut low, mut high) = (0.0, STEEPEST);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if power_sum(2.0 * middle, keys) < share * power_sum(middle, keys).powi(2) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Σ i^−s over i from 1 to `last`: the first one by one, the rest by Euler and Maclaurin, within a relative 10⁻⁷ for s up to
/// twice the [`STEEPEST`].
fn power_sum(exponent: f64, last: f64) -> f64 {
    let term = |rank: f64| rank.powf(-exponent);
    let exact = f64::from(EXACT);
    let sum: f64 = (1..=EXACT).map(f64::from).take_while(|&rank| rank <= last).map(term).sum();
    if last <= exact {
        return sum;
    }
    let decades = (last / exact).ln();
    let growth = (1.0 - exponent) * decades;
    // ∫ x^−s dx, which is a logarithm at s = 1.
    let integral = exact * term(exact) * decades * if growth == 0.0 { 1.0 } else { growth.exp_m1() / growth };
    let slopes = exponent * (term(exact) / exact - term(last) / last) / 12.0;
    sum + integral + 0.5 * (term(last) - term(exact)) + slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Asking;
    use tamis_noise::{Beta, Budget, Epsilon, Neighbours, Queries};

    fn counts(records: u64, key_multiplicity: f64, distinct_keys: Option<u64>) -> Counts {
        Counts::of(&Question {
            records,
            support: 1,
            queries: Queries::new(1).unwrap(),
            beta: Beta::new(0.05).unwrap(),
            budget: Budget::pure(Epsilon::new(1.0).unwrap()),
            neighbours: Neighbours::AddRemove,
            rows_per_unit: 1,
            largest_count: records,
            key_multiplicity,
            distinct_keys,
            universe: None,
            asking: Asking::Beforehand,
            memory: 1 << 34,
        })
    }

    /// What a key counts for that is told from nobody if it is frequent: much like the counts of frequent keys.
    fn up_to_20(count: u64) -> KeyError {
        KeyError { bias: -(count.min(20) as f64), mean_square: (count.min(20) as f64).powi(2) + 1.0 }
    }

    #[test]
    fn power_sums_are_sums() {
        for last in [1, 2, 64, 65, 1_000, 100_000] {
            for exponent in [0.0, 0.3, 1.0, 1.0 + 1e-9, 1.2, 2.0, 9.0, 128.0] {
                let slow: f64 = (1..=last).rev().map(|rank| f64::from(rank).powf(-exponent)).sum();
                let fast = power_sum(exponent, f64::from(last));
                assert!((fast / slow - 1.0).abs() < 1e-7, "{exponent} {last}: {fast} {slow}");
            }
        }
    }

    /// Keys and records are as many as was stated; squares too, within the 2 % that counts are whole and ranks taken together for.
    #[test]
    fn the_model_has_the_moments_that_were_stated() {
        for (records, multiplicity, keys) in [
            (100_000, 2_584.0, Some(4_096)),
            (32_561, 1_289.0, Some(4_140)),
            (1_000_000, 1.0, Some(1_000_000)),
            (1_000, 10.0, Some(100)),
            (1 << 40, 1e9, Some(1 << 30)),
            (1_000_000, 300_000.0, Some(300_000)),
            (1_000, 10.0, None),
            (1_000, 1.0, None),
            (7, 7.0, Some(1)),
        ] {
            let counts = counts(records, multiplicity, keys);
            let near = |one: f64, other: f64, tolerance: f64| (one / other - 1.0).abs() < tolerance;
            let number = keys.map_or(records as f64 / multiplicity, |keys| keys as f64);
            assert!(near(counts.sum(|_| 1.0), number, 1e-9), "{records} {keys:?}");
            assert!(near(counts.sum(|count| count as f64), records as f64, 1e-6), "{records} {keys:?}");
            let norm = counts.sum(|count| (count as f64).powi(2));
            assert!(near(norm, records as f64 * multiplicity, 0.02), "{records} {keys:?}: {norm}");
            assert!(counts.keys.len() < 1_000);
        }
    }

    /// The mean square over all lists of two or of all of four keys, one by one, beside keys of nobody.
    #[test]
    fn a_list_errs_as_the_mean_of_all_lists() {
        let of = [1, 1, 5, 30];
        let counts = Counts { keys: BTreeMap::from([(1, 2.0), (5, 1.0), (30, 1.0)]) };
        let none = KeyError { bias: 0.5, mean_square: 1.5 };
        let error = |count| if count == 0 { none } else { up_to_20(count) };
        let square = |keys: &[u64], absent: f64| {
            let bias: f64 = keys.iter().map(|&count| error(count).bias).sum();
            let variance: f64 = keys.iter().map(|&count| error(count).variance()).sum();
            (bias + absent * none.bias).powi(2) + variance + absent * none.variance()
        };
        let pairs = (0..4).flat_map(|one| (0..one).map(move |other| [of[one], of[other]]));
        let slow = (pairs.map(|pair| square(&pair, 0.0)).sum::<f64>() / 6.0).sqrt();
        assert!((counts.typical_error_of_list(2.0, error) / slow - 1.0).abs() < 1e-12);
        for absent in [0.0, 3.0] {
            let slow = square(&of, absent).sqrt();
            assert!((counts.typical_error_of_list(4.0 + absent, error) / slow - 1.0).abs() < 1e-12);
        }
    }

    /// On keys by Zipf's law the prediction is that of the true counts within 15 %; of keys alike it is 60 times less.
    #[test]
    fn zipf_is_predicted_by_the_number_of_keys() {
        let (records, keys) = (100_000.0, 4_096);
        let harmonic: f64 = (1..=keys).map(|rank| 1.0 / rank as f64).sum();
        let mut truth = Counts { keys: BTreeMap::new() };
        (1..=keys).for_each(|rank| truth.add(1.0, records / harmonic / rank as f64, 1 << 40));
        let multiplicity = truth.sum(|count| (count as f64).powi(2)) / records;
        let light = |count: u64| KeyError {
            bias: if count < 20 { -(count as f64) } else { 0.0 },
            mean_square: if count < 20 { (count as f64).powi(2) } else { 2.0 },
        };
        let [alike, stated, truth] =
            [counts(100_000, multiplicity, None), counts(100_000, multiplicity, Some(keys)), truth]
                .map(|counts| counts.typical_error_of_list(256.0, light));
        assert!((stated / truth - 1.0).abs() < 0.15 && alike < truth / 60.0, "{alike} {stated} {truth}");
    }
}
