//! Checks: what a claim says, what was seen, and the verdict.
//!
//! A claim about a probability is judged by exact binomial confidence limits (Clopper & Pearson 1934) on the
//! number of trials that break the bound:
//!
//! | claim | holds | fails |
//! | ----- | ----- | ----- |
//! | rate ≤ β | it does not fail, and the rate is at most min(3β, (1 + β)/2) with confidence 0.99 | the rate is above β with confidence 1 − 10⁻⁶ |
//! | rate > β | the rate is above β with confidence 1 − 10⁻⁶ | the rate is at most β with confidence 1 − 10⁻⁶ |
//!
//! Between them it is inconclusive. The first claim is [`Finding::rarely_above`] and its kin, the second
//! [`Finding::often_above`], for bounds that must be shown false.
//!
//! *False alarm:* a true claim is called false with probability at most [`FALSE_ALARM`] a check. *Power:* a
//! rate above min(3β, (1 + β)/2) passes for "at most β" with probability at most [`MISSED`], whatever the
//! number of trials. That is why a handful of trials without a failure is inconclusive: 10 trials cannot tell
//! a rate of 0.05 from one of 0.3.

use tamis_oracle::statistics::{clopper_pearson_lower, clopper_pearson_upper};

use crate::cell::significant;

/// The probability that one check calls a true claim false.
pub const FALSE_ALARM: f64 = 1e-6;

/// The probability that one check accepts "at most β" where the rate is above min(3β, (1 + β)/2).
pub const MISSED: f64 = 0.01;

/// The answer to a claim, from best to worst, so that the worst of many is their maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The claim agrees with what was seen, and would not have if it were false by a stated margin.
    Holds,
    /// Too few trials to tell.
    Inconclusive,
    /// What was seen contradicts the claim.
    Fails,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Verdict::Holds => "holds",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Fails => "fails",
        })
    }
}

impl std::str::FromStr for Verdict {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Verdict::Holds, Verdict::Inconclusive, Verdict::Fails]
            .into_iter()
            .find(|verdict| verdict.to_string() == text)
            .ok_or_else(|| format!("a verdict is holds, inconclusive or fails, got {text:?}"))
    }
}

/// A verdict and the sentence that supports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Whether the claim holds.
    pub verdict: Verdict,
    /// What was seen, in words.
    pub because: String,
}

impl Finding {
    /// The claim that a value exceeds `bound` with probability at most `beta`: the shape of nearly every
    /// theorem here.
    ///
    /// ```
    /// use tamis_harness::{Finding, Verdict};
    /// let errors: Vec<f64> = (0..1000).map(f64::from).collect();
    /// assert_eq!(Finding::rarely_above(&errors, 950.0, 0.05).verdict, Verdict::Holds);        // 49 of 1000
    /// assert_eq!(Finding::rarely_above(&errors, 800.0, 0.05).verdict, Verdict::Fails);        // 199 of 1000
    /// assert_eq!(Finding::rarely_above(&errors[..10], 950.0, 0.05).verdict, Verdict::Inconclusive);
    /// ```
    pub fn rarely_above(values: &[f64], bound: f64, beta: f64) -> Self {
        Self::rate_at_most(count_above(values, bound), values.len() as u64, beta)
            .about(&format!("above {}", significant(bound)))
    }

    /// The opposite claim, for a bound that must be shown false: a value exceeds `bound` with probability
    /// above `beta`.
    ///
    /// ```
    /// use tamis_harness::{Finding, Verdict};
    /// let errors: Vec<f64> = (0..1000).map(f64::from).collect();
    /// assert_eq!(Finding::often_above(&errors, 800.0, 0.05).verdict, Verdict::Holds);
    /// assert_eq!(Finding::often_above(&errors, 998.0, 0.05).verdict, Verdict::Fails);
    /// assert_eq!(Finding::often_above(&errors, 950.0, 0.05).verdict, Verdict::Inconclusive);
    /// ```
    pub fn often_above(values: &[f64], bound: f64, beta: f64) -> Self {
        Self::rate_above(count_above(values, bound), values.len() as u64, beta)
            .about(&format!("above {}", significant(bound)))
    }

    /// The claim that a trial fails with probability at most `beta`, given `failures` of `trials`. A `beta`
    /// that is not between 0 and 1 fails.
    ///
    /// # Panics
    /// If there are more failures than trials; in a check, the harness makes that the row's error.
    pub fn rate_at_most(failures: u64, trials: u64, beta: f64) -> Self {
        let (lower, upper) =
            (rate_at_least(failures, trials, 1.0 - FALSE_ALARM), rate_at_most(failures, trials, 1.0 - MISSED));
        let tolerated = (3.0 * beta).min((1.0 + beta) / 2.0);
        let verdict = match () {
            () if !(beta > 0.0 && beta < 1.0) || lower > beta => Verdict::Fails,
            () if upper <= tolerated => Verdict::Holds,
            () => Verdict::Inconclusive,
        };
        let limit = match verdict {
            Verdict::Fails => format!("a rate of at least {} with confidence 1 - 1e-6", significant(lower)),
            _ => format!("a rate of at most {} with confidence 0.99", significant(upper)),
        };
        Self { verdict, because: format!("{failures} of {trials}: {limit}; claimed at most {}", significant(beta)) }
    }

    /// The claim that a trial fails with probability above `beta`, given `failures` of `trials`. A `beta`
    /// that is not in [0, 1) fails.
    ///
    /// # Panics
    /// As [`rate_at_most`](Self::rate_at_most).
    pub fn rate_above(failures: u64, trials: u64, beta: f64) -> Self {
        let (lower, upper) =
            (rate_at_least(failures, trials, 1.0 - FALSE_ALARM), rate_at_most(failures, trials, 1.0 - FALSE_ALARM));
        let verdict = match () {
            () if !(0.0..1.0).contains(&beta) || upper <= beta => Verdict::Fails,
            () if lower > beta => Verdict::Holds,
            () => Verdict::Inconclusive,
        };
        let between =
            format!("a rate between {} and {} with confidence 1 - 1e-6", significant(lower), significant(upper));
        Self { verdict, because: format!("{failures} of {trials}: {between}; claimed above {}", significant(beta)) }
    }

    /// The claim that a trial succeeds with probability at least `share`: `rate_at_most` of its failures.
    ///
    /// ```
    /// use tamis_harness::{Finding, Verdict};
    /// assert_eq!(Finding::rate_at_least(1_850, 2_000, 0.9).verdict, Verdict::Holds);
    /// assert_eq!(Finding::rate_at_least(1_600, 2_000, 0.9).verdict, Verdict::Fails);
    /// ```
    pub fn rate_at_least(successes: u64, trials: u64, share: f64) -> Self {
        Self::rate_at_most(trials.saturating_sub(successes), trials, 1.0 - share).about("fail")
    }

    /// A comparison without chance: `observed` is at least `wanted`. NaN fails.
    pub fn at_least(observed: f64, wanted: f64) -> Self {
        Self::require(observed >= wanted, format!("{} against at least {}", significant(observed), significant(wanted)))
    }

    /// A comparison without chance: `observed` is at most `wanted`. NaN fails.
    pub fn at_most(observed: f64, wanted: f64) -> Self {
        Self::require(observed <= wanted, format!("{} against at most {}", significant(observed), significant(wanted)))
    }

    /// Any other condition without chance, with the sentence that explains it.
    pub fn require(holds: bool, because: impl Into<String>) -> Self {
        Self { verdict: if holds { Verdict::Holds } else { Verdict::Fails }, because: because.into() }
    }

    /// The claim that ln y grows on ln x with a least-squares slope in [`low`, `high`]: the exponent of a
    /// power law. Inconclusive with fewer than three points at which both are positive and finite, or a
    /// single x.
    ///
    /// ```
    /// use tamis_harness::{Finding, Verdict};
    /// let square_root: Vec<(f64, f64)> = [1.0, 10.0, 100.0].map(|x: f64| (x, 3.0 * x.sqrt())).to_vec();
    /// assert_eq!(Finding::slope_within(&square_root, 0.45, 0.55).verdict, Verdict::Holds);
    /// assert_eq!(Finding::slope_within(&square_root, 0.9, 1.1).verdict, Verdict::Fails);
    /// ```
    pub fn slope_within(points: &[(f64, f64)], low: f64, high: f64) -> Self {
        let usable = |value: f64| value > 0.0 && value.is_finite();
        let logs: Vec<(f64, f64)> =
            points.iter().filter(|(x, y)| usable(*x) && usable(*y)).map(|(x, y)| (x.ln(), y.ln())).collect();
        let count = logs.len() as f64;
        let (mean_x, mean_y) =
            (logs.iter().map(|p| p.0).sum::<f64>() / count, logs.iter().map(|p| p.1).sum::<f64>() / count);
        let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        if logs.len() < 3 || spread == 0.0 {
            return Self {
                verdict: Verdict::Inconclusive,
                because: format!("{} points are too few for a slope", logs.len()),
            };
        }
        let slope = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
        let because = format!(
            "slope {} over {} points; claimed {} to {}",
            significant(slope),
            logs.len(),
            significant(low),
            significant(high)
        );
        Self::require(low <= slope && slope <= high, because)
    }

    /// Names what was counted: "3 of 200" becomes "3 of 200 above 17".
    fn about(mut self, what: &str) -> Self {
        self.because = self.because.replacen(':', &format!(" {what}:"), 1);
        self
    }
}

/// NaN as a bound is exceeded by everything: a bound that could not be computed must not pass.
fn count_above(values: &[f64], bound: f64) -> u64 {
    (values.len() - values.iter().filter(|value| **value <= bound).count()) as u64
}

fn rate_at_least(count: u64, trials: u64, confidence: f64) -> f64 {
    if trials == 0 { 0.0 } else { clopper_pearson_lower(count, trials, confidence) }
}

fn rate_at_most(count: u64, trials: u64, confidence: f64) -> f64 {
    if trials == 0 { 1.0 } else { clopper_pearson_upper(count, trials, confidence) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(Binomial(trials, rate) = k) for every k, by the recurrence from the mode: slow, obvious, and
    /// independent of the limits under test.
    fn binomial(trials: u64, rate: f64) -> Vec<f64> {
        let mut weights = vec![0.0; trials as usize + 1];
        let mode = (trials as f64 * rate) as usize;
        weights[mode] = 1.0;
        for k in mode..trials as usize {
            weights[k + 1] = weights[k] * (trials as usize - k) as f64 / (k + 1) as f64 * rate / (1.0 - rate);
        }
        for k in (1..=mode).rev() {
            weights[k - 1] = weights[k] * k as f64 / (trials as usize - k + 1) as f64 * (1.0 - rate) / rate;
        }
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    }

    /// The exact probability that `check` gives `verdict` when trials fail at `rate`.
    fn probability(check: impl Fn(u64) -> Finding, verdict: Verdict, trials: u64, rate: f64) -> f64 {
        binomial(trials, rate)
            .iter()
            .enumerate()
            .filter(|(k, _)| check(*k as u64).verdict == verdict)
            .map(|(_, p)| p)
            .sum()
    }

    #[test]
    fn a_true_claim_fails_no_more_often_than_the_false_alarm_rate() {
        for (trials, beta) in [(20, 0.05), (200, 0.05), (200, 0.5), (2000, 0.01)] {
            let alarm = probability(|k| Finding::rate_at_most(k, trials, beta), Verdict::Fails, trials, beta);
            assert!(alarm <= FALSE_ALARM, "{trials} trials at {beta}: {alarm:e}");
            assert!(alarm > FALSE_ALARM / 100.0, "the test would be blunter than it says: {alarm:e}");
            let shown = probability(|k| Finding::rate_above(k, trials, beta), Verdict::Holds, trials, beta);
            assert!(shown <= FALSE_ALARM, "{trials} trials at {beta}: {shown:e}");
        }
    }

    #[test]
    fn a_claim_false_by_a_factor_of_three_hardly_ever_holds() {
        for (trials, beta) in [(5, 0.05), (50, 0.05), (200, 0.05), (2000, 0.01)] {
            let missed = probability(|k| Finding::rate_at_most(k, trials, beta), Verdict::Holds, trials, 3.0 * beta);
            assert!(missed <= MISSED, "{trials} trials at {beta}: {missed}");
        }
        // With enough trials the false claim does not only fail to hold: it fails. And the exact claim, with
        // nothing to spare, holds.
        assert!(probability(|k| Finding::rate_at_most(k, 2000, 0.05), Verdict::Fails, 2000, 0.1) > 0.99);
        assert!(probability(|k| Finding::rate_at_most(k, 2000, 0.05), Verdict::Holds, 2000, 0.05) > 0.999_99);
        assert!(probability(|k| Finding::rate_at_most(k, 200, 0.05), Verdict::Holds, 200, 0.05) > 0.99);
        assert!(probability(|k| Finding::rate_above(k, 2000, 0.05), Verdict::Holds, 2000, 0.1) > 0.99);
    }

    #[test]
    fn nothing_seen_decides_nothing() {
        assert_eq!(Finding::rate_at_most(0, 0, 0.05).verdict, Verdict::Inconclusive);
        assert_eq!(Finding::rate_above(0, 0, 0.05).verdict, Verdict::Inconclusive);
        assert_eq!(Finding::rate_at_most(0, 0, 0.9).verdict, Verdict::Inconclusive);
        assert_eq!(Finding::rate_at_most(0, 20, 0.05).verdict, Verdict::Inconclusive);
        assert_eq!(Finding::slope_within(&[(1.0, 1.0), (2.0, 2.0)], 0.0, 2.0).verdict, Verdict::Inconclusive);
        assert_eq!(Finding::slope_within(&[(1.0, 1.0); 5], 0.0, 2.0).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn a_bound_that_is_not_a_number_fails() {
        assert_eq!(Finding::rarely_above(&[0.0; 1000], f64::NAN, 0.05).verdict, Verdict::Fails);
        assert_eq!(Finding::rate_at_most(0, 1000, f64::NAN).verdict, Verdict::Fails);
        assert_eq!(Finding::rate_above(500, 1000, f64::NAN).verdict, Verdict::Fails);
        assert_eq!(Finding::at_least(f64::NAN, 1.0).verdict, Verdict::Fails);
        assert_eq!(Finding::at_most(f64::NAN, 1.0).verdict, Verdict::Fails);
    }

    #[test]
    fn the_sentence_names_what_was_counted() {
        let finding = Finding::rarely_above(&[1.0, 2.0, 3.0], 2.5, 0.05);
        assert!(finding.because.starts_with("1 of 3 above 2.5: a rate of at most "), "{}", finding.because);
        for verdict in [Verdict::Holds, Verdict::Inconclusive, Verdict::Fails] {
            assert_eq!(verdict.to_string().parse(), Ok(verdict));
        }
    }
}
