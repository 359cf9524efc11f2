//! The binomial tail, and the confidence bounds of Clopper and Pearson (1934) read off it.
//!
//! The tail is summed from its largest term outwards, each term from the one before it, so the cost is
//! a few times √trials. The largest term comes from Loader's saddle-point form ("Fast and accurate
//! computation of binomial probabilities", 2000), whose relative error stays near 1e-14 where a
//! difference of log-gammas of 1e8 has already lost eight digits. The regularised incomplete beta
//! function of statrs is not used: it stops its continued fraction after 140 terms, too early in the
//! middle of a million trials, and its inverse need not return at all near 1e7.

use std::f64::consts::{LN_2, PI};

/// Relative error allowed for in a computed tail: far above the 1e-12 measured in the tests, and far
/// below anything that matters in a bound.
const TAIL_ERROR: f64 = 1e-9;

/// P(X ≥ `successes`) for X binomial over `trials` with success probability `p`.
///
/// Relative error below 1e-11 wherever the result is at most ½; above, the same absolute error.
/// Cost: about `10·√trials` multiplications.
///
/// # Panics
///
/// If `p` is not in `[0, 1]`.
///
/// ```
/// use tamis_oracle::statistics::binomial_tail;
/// // At least two heads in three tosses.
/// assert!((binomial_tail(3, 0.5, 2) - 0.5).abs() < 1e-15);
/// ```
pub fn binomial_tail(trials: u64, p: f64, successes: u64) -> f64 {
    assert!((0.0..=1.0).contains(&p), "a probability must be in [0, 1], got {p}");
    if successes == 0 {
        return 1.0;
    }
    if successes > trials || p == 0.0 {
        return 0.0;
    }
    if p == 1.0 {
        return 1.0;
    }
    let odds = p / (1.0 - p);
    let n = trials as f64;
    // Terms shrink away from the mode, so sum the side that does not contain it.
    if successes as f64 > n * p {
        let mut term = binomial_probability(trials, p, successes);
        let mut sum = term;
        let mut k = successes as f64;
        while k < n && term > sum * 1e-18 {
            term *= (n - k) / (k + 1.0) * odds;
            k += 1.0;
            sum += term;
        }
        sum
    } else {
        let mut term = binomial_probability(trials, p, successes - 1);
        let mut sum = term;
        let mut k = (successes - 1) as f64;
        while k > 0.0 && term > sum * 1e-18 {
            term *= k / (n - k + 1.0) / odds;
            k -= 1.0;
            sum += term;
        }
        1.0 - sum
    }
}

/// P(X ≤ `successes`), by symmetry, so that small lower tails keep their relative accuracy.
fn binomial_lower_tail(trials: u64, p: f64, successes: u64) -> f64 {
    // 1 − p rounds, by at most 2^-54 absolutely; callers bisect on p, so they move by as much.
    binomial_tail(trials, 1.0 - p, trials - successes)
}

/// Lower confidence bound on a success probability, one-sided.
///
/// `level` is the confidence, for example `1.0 - 1e-6`: whatever the true probability, the bound
/// exceeds it with probability at most `1 − level`. It is the largest `p` for which seeing at least
/// `successes` has probability at most `1 − level`, rounded down.
/// `level` itself is a float, so false alarms below about 1e-12 cannot be asked for.
///
/// Cost: 60 binomial tails, about 1 ms at 1e7 trials.
///
/// # Panics
///
/// If `successes > trials`, or `level` is not strictly between 0 and 1.
///
/// ```
/// use tamis_oracle::statistics::clopper_pearson_lower;
/// // All of 10 trials succeed: the bound is (1 − level)^(1/10).
/// let bound = clopper_pearson_lower(10, 10, 0.99);
/// assert!((bound - 0.01_f64.powf(0.1)).abs() < 1e-9);
/// ```
pub fn clopper_pearson_lower(successes: u64, trials: u64, level: f64) -> f64 {
    let false_alarm = checked_false_alarm(successes, trials, level);
    if successes == 0 {
        return 0.0;
    }
    // `low` always satisfies the inequality, even with the tail overstated.
    let mut low = 0.0;
    let mut high = successes as f64 / trials as f64;
    while let Some(middle) = split(low, high) {
        if binomial_tail(trials, middle, successes) * (1.0 + TAIL_ERROR) <= false_alarm {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Upper confidence bound on a success probability, one-sided; see [`clopper_pearson_lower`].
/// Rounded up. With no success in n trials it is `1 − (1 − level)^(1/n)`.
///
/// # Panics
///
/// If `successes > trials`, or `level` is not strictly between 0 and 1.
///
/// ```
/// use tamis_oracle::statistics::clopper_pearson_upper;
/// let bound = clopper_pearson_upper(0, 1000, 1.0 - 1e-6);
/// assert!((bound - (1.0 - 1e-6_f64.powf(1e-3))).abs() < 1e-9);
/// ```
pub fn clopper_pearson_upper(successes: u64, trials: u64, level: f64) -> f64 {
    let false_alarm = checked_false_alarm(successes, trials, level);
    if successes == trials {
        return 1.0;
    }
    let mut low = successes as f64 / trials as f64;
    let mut high = 1.0;
    while let Some(middle) = split(low, high) {
        if binomial_lower_tail(trials, middle, successes) * (1.0 + TAIL_ERROR) <= false_alarm {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// The largest count still consistent with success probability `p`: the least `count` with
/// P(X > count) ≤ `false_alarm`.
///
/// A check that a failure rate is at most `p` accepts up to this many failures, and so accuses a
/// true claim with probability at most `false_alarm`.
/// Power: a claim is caught with probability ½ once the true rate reaches about
/// `count / trials`, that is `p + z·√(p(1−p)/trials)` with z = 4.75 at `false_alarm` = 1e-6.
///
/// # Panics
///
/// If `p` is not in `[0, 1]` or `false_alarm` not strictly between 0 and 1.
///
/// ```
/// use tamis_oracle::statistics::binomial_upper_quantile;
/// assert_eq!(binomial_upper_quantile(1000, 0.05, 1e-6), 86);
/// assert_eq!(binomial_upper_quantile(1000, 0.0, 1e-6), 0);
/// ```
pub fn binomial_upper_quantile(trials: u64, p: f64, false_alarm: f64) -> u64 {
    assert!(
        0.0 < false_alarm && false_alarm < 1.0,
        "a false alarm must be strictly between 0 and 1, got {false_alarm}"
    );
    let (mut low, mut high) = (0, trials);
    while low < high {
        let middle = low + (high - low) / 2;
        if binomial_tail(trials, p, middle + 1) * (1.0 + TAIL_ERROR) <= false_alarm {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

fn checked_false_alarm(successes: u64, trials: u64, level: f64) -> f64 {
    assert!(successes <= trials, "successes must be at most trials, got {successes} of {trials}");
    assert!(0.0 < level && level < 1.0, "a confidence level must be strictly between 0 and 1, got {level}");
    1.0 - level
}

/// A point strictly between the two, or none once they are a relative 1e-15 apart.
fn split(low: f64, high: f64) -> Option<f64> {
    // Geometric while the ends differ in magnitude: a bound may be 1e-300.
    let middle = if high > 4.0 * low { (low.max(f64::MIN_POSITIVE) * high).sqrt() } else { (low + high) / 2.0 };
    (low < middle && middle < high && high - low > 1e-15 * high).then_some(middle)
}

/// P(X = k), by Loader's saddle-point expansion.
fn binomial_probability(trials: u64, p: f64, successes: u64) -> f64 {
    let (n, k) = (trials as f64, successes as f64);
    let failures = (trials - successes) as f64;
    if successes == 0 {
        return (n * (-p).ln_1p()).exp();
    }
    if successes == trials {
        return (n * p.ln()).exp();
    }
    let exponent = stirling_error(trials)
        - stirling_error(successes)
        - stirling_error(trials - successes)
        - deviance(k, n * p)
        - deviance(failures, n * (1.0 - p));
    exponent.exp() * (n / (2.0 * PI * k * failures)).sqrt()
}

/// ln n! − ((n + ½) ln n − n + ½ ln 2π), absolute error near 1e-16.
fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n <= 15 {
        // 15! is exact in an f64.
        let factorial: f64 = (1..=n).map(|i| i as f64).product();
        return factorial.ln() - ((x + 0.5) * x.ln() - x + 0.5 * (LN_2 + PI.ln()));
    }
    let y = 1.0 / (x * x);
    (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x
}

/// x ln(x/mean) + mean − x, without cancellation near x = mean.
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - difference;
    }
    let v = difference / (x + mean);
    let mut sum = difference * v;
    let mut power = 2.0 * x * v;
    let mut j = 1.0;
    loop {
        power *= v * v;
        let next = sum + power / (2.0 * j + 1.0);
        if next == sum {
            return sum;
        }
        sum = next;
        j += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    /// The tail in exact rationals for a dyadic p, from its definition.
    fn exact_tail(trials: u32, numerator: u32, bits: usize, successes: u32) -> f64 {
        use dashu_int::{IBig, UBig};
        use dashu_ratio::RBig;
        let p = RBig::from_parts(IBig::from(numerator), UBig::ONE << bits);
        let q = RBig::ONE - &p;
        let mut choose = UBig::ONE;
        let mut sum = RBig::ZERO;
        for k in 0..=trials {
            if k >= successes {
                sum += RBig::from(choose.clone()) * p.pow(k as isize) * q.pow((trials - k) as isize);
            }
            choose = choose * UBig::from(trials - k) / UBig::from(k + 1);
        }
        sum.to_f64_fast()
    }

    #[test]
    fn the_tail_is_the_exact_sum() {
        for (trials, numerator, successes) in
            [(1, 3, 1), (10, 1, 4), (10, 12, 4), (40, 5, 39), (60, 8, 30), (200, 3, 80), (200, 15, 170)]
        {
            let exact = exact_tail(trials, numerator, 4, successes);
            let computed = binomial_tail(trials.into(), f64::from(numerator) / 16.0, successes.into());
            assert!(
                (computed / exact - 1.0).abs() < 1e-12,
                "{trials} {numerator}/16 {successes}: {computed} against {exact}"
            );
        }
    }

    #[test]
    fn large_tails_agree_across_a_shift_of_one() {
        // P(X ≥ k) − P(X ≥ k+1) is one term; at 1e7 trials the two sums share no rounding with it.
        let (n, p) = (10_000_000, 0.3);
        for k in [3_000_500_u64, 3_005_000, 3_010_000] {
            let difference = binomial_tail(n, p, k) - binomial_tail(n, p, k + 1);
            let term = binomial_probability(n, p, k);
            assert!((difference / term - 1.0).abs() < 1e-8, "{k}: {difference} {term}");
        }
        // Both sides of the mode add up to one.
        let both = binomial_tail(n, p, 3_000_400) + binomial_tail(n, 1.0 - p, n - 3_000_399);
        assert!((both - 1.0).abs() < 1e-11, "{both}");
    }

    #[test]
    fn extreme_counts_have_their_closed_forms() {
        for trials in [1_u64, 7, 1000, 100_000, 10_000_000] {
            for false_alarm in [0.5, 0.05, 1e-6, 1e-9] {
                let level: f64 = 1.0 - false_alarm;
                // ln(1 − level)/n, with the level as the float it became.
                let log = (1.0 - level).ln() / trials as f64;
                let upper = clopper_pearson_upper(0, trials, level);
                let lower = clopper_pearson_lower(trials, trials, level);
                assert!((upper / -log.exp_m1() - 1.0).abs() < 1e-7, "{trials} {false_alarm} {upper}");
                assert!((lower / log.exp() - 1.0).abs() < 1e-8, "{trials} {false_alarm} {lower}");
                assert!(upper >= -log.exp_m1() * (1.0 - 1e-15), "must round up");
                assert!(lower <= log.exp() * (1.0 + 1e-15), "must round down");
            }
        }
    }

    #[test]
    fn bounds_solve_their_own_equation() {
        for (k, n) in [(1, 10), (5, 10), (354, 10_000), (70_800, 2_000_000), (9_999_999, 10_000_000)] {
            let level = 1.0 - 1e-6;
            let lower = clopper_pearson_lower(k, n, level);
            let upper = clopper_pearson_upper(k, n, level);
            assert!(0.0 < lower && lower < k as f64 / n as f64 && k as f64 / (n as f64) < upper);
            assert!((binomial_tail(n, lower, k) / 1e-6 - 1.0).abs() < 1e-5);
            // One unit in the last place of an upper bound near 1 moves its tail by a thousandth.
            let tail = binomial_lower_tail(n, upper, k);
            assert!(0.99e-6 < tail && tail < 1e-6 * (1.0 + 1e-8), "{k} of {n}: {tail}");
        }
        // R: binom.test(5, 10, conf.level = 0.95)$conf.int, two-sided, so 0.975 on each side.
        assert!((clopper_pearson_lower(5, 10, 0.975) - 0.187_086_028_447_398_3).abs() < 1e-8);
        assert!((clopper_pearson_upper(5, 10, 0.975) - 0.812_913_971_552_601_7).abs() < 1e-8);
    }

    #[test]
    fn the_sample_sizes_of_a_published_table_are_reproduced() {
        // The event of probability .0333 against .0080 that proves a loss above 1 at 99.9 % from
        // 16 525 samples a side, and from no fewer (to the table's rounding of the probabilities).
        let proven = |n: f64| {
            let level = 1.0 - 0.001;
            let lower = clopper_pearson_lower((0.03334 * n) as u64, n as u64, level);
            let upper = clopper_pearson_upper((0.03334 * n / 1.422_f64.exp()) as u64, n as u64, level);
            (lower / upper).ln()
        };
        assert!(proven(20_000.0) > 1.0, "{}", proven(20_000.0));
        assert!(proven(12_000.0) < 1.0, "{}", proven(12_000.0));
    }

    #[test]
    fn a_bound_misses_no_more_often_than_it_says() {
        // At confidence 0.9 the lower bound may exceed p in a tenth of the runs: exactly, by summing
        // over all outcomes of 50 trials. A bound at the wrong tail would miss in nine tenths.
        for p in [0.02, 0.3, 0.77] {
            let missed: f64 = (0..=50)
                .filter(|&k| clopper_pearson_lower(k, 50, 0.9) > p)
                .map(|k| binomial_probability(50, p, k))
                .sum();
            assert!(missed <= 0.1 && missed > 0.01, "{p}: {missed}");
            let missed: f64 = (0..=50)
                .filter(|&k| clopper_pearson_upper(k, 50, 0.9) < p)
                .map(|k| binomial_probability(50, p, k))
                .sum();
            assert!(missed <= 0.1, "{p}: {missed}");
        }
    }

    /// Failures in `N` trials of a coin.
    fn failures(rate: f64) -> u64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..N).filter(|_| rng.random::<f64>() < rate).count() as u64
    }
    const FALSE_ALARM: f64 = 1e-6;
    /// Rejects a rate of 0.06 against a claim of 0.05 with probability above 0.999; does not see 0.052.
    const N: u64 = 100_000;

    #[test]
    fn a_true_rate_is_accepted() {
        assert!(failures(0.05) <= binomial_upper_quantile(N, 0.05, FALSE_ALARM));
    }

    #[test]
    fn a_rate_a_fifth_too_high_is_rejected() {
        assert!(failures(0.06) > binomial_upper_quantile(N, 0.05, FALSE_ALARM));
    }

    #[test]
    fn the_quantile_is_the_least_such_count() {
        for (trials, p) in [(10, 0.5), (1000, 0.05), (1_000_000, 1e-5), (1_000_000, 0.5)] {
            let count = binomial_upper_quantile(trials, p, 1e-6);
            assert!(binomial_tail(trials, p, count + 1) <= 1e-6);
            assert!(count == 0 || binomial_tail(trials, p, count) > 1e-6);
        }
        assert_eq!(binomial_upper_quantile(20, 1.0, 1e-6), 20);
    }

    #[test]
    #[should_panic(expected = "successes must be at most trials")]
    fn impossible_counts_are_refused() {
        clopper_pearson_lower(2, 1, 0.9);
    }

    #[test]
    #[should_panic(expected = "strictly between 0 and 1")]
    fn a_level_of_nan_is_refused() {
        clopper_pearson_upper(0, 1, f64::NAN);
    }
}
