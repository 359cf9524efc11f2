//! What a row claims, and how it is judged.

use tamis_harness::{Finding, Sample};

/// All that a row claims, as one finding: the worst verdict, all reasons. None if it claims nothing.
///
/// ```
/// use tamis_experiments::claims::together;
/// use tamis_harness::{Finding, Verdict};
/// let both = together([("error", Some(Finding::at_most(3.0, 2.0))), ("size", Some(Finding::at_most(1.0, 2.0)))]);
/// assert_eq!(both.unwrap().verdict, Verdict::Fails);
/// assert_eq!(together([("error", None)]), None);
/// ```
pub fn together<const N: usize>(findings: [(&str, Option<Finding>); N]) -> Option<Finding> {
    let made = || findings.iter().filter_map(|(name, finding)| Some((name, finding.as_ref()?)));
    let verdict = made().map(|(_, finding)| finding.verdict).max()?;
    let reasons: Vec<String> = made().map(|(name, finding)| format!("{name}: {}", finding.because)).collect();
    Some(Finding { verdict, because: reasons.join("; ") })
}

/// Fewer trials without a failure cannot tell a rate of 0.05 from one of 0.15.
const ENOUGH: u64 = 29;

/// At most a share `beta` of all trials measure more than the bound; of few trials, none of these does.
///
/// Of few it says no more than that: they are seeded, and a true claim fails with a probability of `beta` for each.
pub fn rarely_above(sample: &Sample, measurement: &str, bound: f64, beta: f64) -> Finding {
    if sample.trials() >= ENOUGH {
        return Finding::rarely_above(sample.values(measurement), bound, beta);
    }
    Finding::at_most(sample.quantile(measurement, 1.0), bound)
}

/// The largest of the values is at most so many times the least. Fewer than two show nothing, and fail.
///
/// ```
/// use tamis_experiments::claims::flat;
/// use tamis_harness::Verdict;
/// assert_eq!(flat(&[100.0, 95.0, 104.0], 1.1).verdict, Verdict::Holds);
/// assert_eq!(flat(&[100.0, 90.0], 1.1).verdict, Verdict::Fails);
/// assert_eq!(flat(&[100.0], 1.1).verdict, Verdict::Fails);
/// assert_eq!(flat(&[], 1.1).verdict, Verdict::Fails);
/// ```
pub fn flat(values: &[f64], most: f64) -> Finding {
    let extreme = |choose: fn(f64, f64) -> f64| values.iter().copied().fold(f64::NAN, choose);
    let ratio = if values.len() < 2 { f64::NAN } else { extreme(f64::max) / extreme(f64::min) };
    Finding::at_most(ratio, most)
}
