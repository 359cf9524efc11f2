//! Means of what trials measured, and how well they are known.

/// So many standard deviations of a mean are exceeded with probability 10⁻⁶.
pub const DEVIATIONS: f64 = 4.9;

/// The mean of independent values and its standard deviation, from their spread. NaN for fewer than two.
///
/// ```
/// use tamis_experiments::means::mean_and_deviation;
/// let (mean, deviation) = mean_and_deviation(&[1.0, 3.0, 1.0, 3.0]);
/// assert_eq!(mean, 2.0);
/// assert!((deviation - (1.0f64 / 3.0).sqrt()).abs() < 1e-15);
/// ```
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}
