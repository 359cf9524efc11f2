//! How far off answers are: predicted before any data is seen, and guaranteed for many queries at once.
//!
//! In all of it ‖q‖₂² is the sum of a query's squared weights (the length of a plain list), ‖x‖₂² the sum of the squared
//! counts of the data (n if all n records are distinct, at most n times the largest count), errors are in records.
//!
//! # The theorem
//! For dense signs, Gaussian noise, and k queries that were fixed before seed and release were seen: with probability 1 − β
//! all of them satisfy
//!
//! ```text
//! |q̂ − q(x)| ≤ ς‖q‖₂‖x‖₂ + σ₁‖q‖₂·√((1 + ς)·2 ln(4k/β))    if T ≥ 4 ln(10k/β)/(ς²(1 − 2ς/3)),  0 < ς < 1,
//! ```
//!
//! which is [`theorem`] and [`least_width`] (Blum, Roth 2011, section 4, with the constants of this proof).
//!
//! *Proof.* Let A be the signs over √T and u = q/‖q‖, v = x/‖x‖. By Achlioptas 2003 each of ‖A(u + v)‖² and ‖A(u − v)‖² is on
//! each side within a factor 1 ± ς but for a probability e^(−(T/4)(ς² − 2ς³/3)), and their difference is 4⟨Au, Av⟩:
//! four events, after which the first term holds. A fifth gives ‖Aq‖² ≤ (1 + ς)‖q‖². By the condition on T each has
//! probability at most β/(10k): β/2 for all. Given the signs the noise of an answer is ⟨Aq, N/√T⟩, sub-Gaussian with parameter
//! at most σ₁‖q‖√(1 + ς), σ = σ₁√T (Canonne, Kamath, Steinke 2020, Corollary 17): above the second term with probability
//! at most 2·β/(4k), β/2 for all.
//!
//! So far the signs are [fully independent](Independence::Full). Ours are r-wise independent. A moment of even order
//! p ≤ r/2 of the errors of those events is a polynomial in the signs of at most r keys, so it is the same (Clarkson, Woodruff 2009), and
//! by Markov's inequality the theorem holds with M_p ≤ (β/4k)·ςᵖ in place of the condition on T: two events, the inner
//! product and the norm, where M_p = ∫ p·sᵖ⁻¹·min(1, tail(s)) ds bounds both moments and
//! tail(s) = 2e^(−(T/2)(s − ln(1 + s))) + 2e^(−(T/2)(s²/2 − s³/3))·\[s < 1\] is that of the four events above.
//! It is a guarantee's price, not practice's: standard errors are exact from r = 4 on.
//!
//! Sparse signs keep the variance, but not these tails: the theorem is not for them.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | T     | `width` | rows |
//! | ς     | `distortion` | share |
//! | σ₁    | `multiplier` | records: the noise's σ over √T |
//! | k, β  | `queries`, `beta` | count, probability |

use statrs::function::erf::erfc_inv;
use std::f64::consts::SQRT_2;
use tamis_noise::{Beta, Queries};

/// How independent the signs are that a guarantee is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Independence {
    /// Of all keys: an ideal.
    Full,
    /// Of any so many keys: r, as in [`Shape::independence`](crate::Shape::independence).
    Keys(u32),
}

/// The least T for which [`theorem`] holds with this ς, before rounding to a multiple of 64. Infinite if none is, so for ς
/// outside (0, 1), and for r < 4.
///
/// ```
/// use tamis_noise::{Beta, Queries};
/// use tamis_projection::bounds::{Independence, least_distortion, least_width};
/// let (queries, beta) = (Queries::new(1_000_000)?, Beta::new(0.05)?);
/// let width = least_width(0.1, Independence::Full, queries, beta);
/// assert!((8190.0..8200.0).contains(&width)); // 4·ln(2·10⁸)/(0.01·0.9333)
/// assert!((least_distortion(width, Independence::Full, queries, beta).unwrap() - 0.1).abs() < 1e-9);
/// assert!((1.0..1.5).contains(&(least_width(0.1, Independence::Keys(48), queries, beta) / width)));
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn least_width(distortion: f64, independence: Independence, queries: Queries, beta: Beta) -> f64 {
    if !(0.0 < distortion && distortion < 1.0) {
        return f64::INFINITY;
    }
    if independence == Independence::Full {
        let logarithm = (10.0 * queries.to_f64() / beta.get()).ln();
        return 4.0 * logarithm / (distortion.powi(2) * (1.0 - 2.0 * distortion / 3.0));
    }
    let enough =
        |width: f64| least_distortion(width, independence, queries, beta).is_some_and(|least| least <= distortion);
    let (mut low, mut high) = (1.0, 2.0);
    while !enough(high) {
        if high > 1e18 {
            return f64::INFINITY;
        }
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}

/// The least ς for which T is enough; none if even ς = 1 needs more rows.
pub fn least_distortion(width: f64, independence: Independence, queries: Queries, beta: Beta) -> Option<f64> {
    if width.is_nan() || width < 1.0 {
        return None;
    }
    // Fewer rows than there are only make the answer larger; beyond, the moments cancel in floats.
    let width = width.min(1e18);
    let Independence::Keys(keys) = independence else {
        return least_distortion_in_full(width, queries, beta);
    };
    let allowed = (beta.get() / 4.0 / queries.to_f64()).ln();
    let of_order = |order: u32| ((log_moment(order, width) - allowed) / f64::from(order)).exp();
    let least = (2..=(keys / 2).min(HIGHEST_ORDER)).step_by(2).map(of_order).fold(f64::INFINITY, f64::min);
    (least < 1.0).then_some(least)
}

fn least_distortion_in_full(width: f64, queries: Queries, beta: Beta) -> Option<f64> {
    // ς²(1 − 2ς/3) grows on (0, 1), so the rows needed fall.
    let enough = |distortion| least_width(distortion, Independence::Full, queries, beta) <= width;
    let (mut low, mut high) = (0.0, 1.0 - f64::EPSILON);
    if !enough(high) {
        return None;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Moments beyond are of no use for any k and β of note: the best order is about 2 ln(4k/β).
const HIGHEST_ORDER: u32 = 128;

/// ln M_p, from above, or infinite where it is beyond all floats: on a cell [a, b] the integral is at most tail(a)·(bᵖ − aᵖ), since the tail falls.
fn log_moment(order: u32, width: f64) -> f64 {
    const RATIO: f64 = 1.002;
    let tail = |s: f64| {
        let upper = 2.0 * (-width / 2.0 * (s - s.ln_1p())).exp();
        let lower = if s < 1.0 { 2.0 * (-width / 2.0 * (s * s / 2.0 - s.powi(3) / 3.0)).exp() } else { 0.0 };
        (upper + lower).min(1.0)
    };
    // s in units of 1/√T, so that no power of it is too small.
    let power = |v: f64| v.powi(order as i32);
    let mut low = 0.5;
    let mut sum = power(low);
    loop {
        let high = RATIO * low;
        if !power(high).is_finite() {
            return f64::INFINITY;
        }
        let tail = tail(low / width.sqrt());
        let cell = tail * (power(high) - power(low));
        sum += cell;
        // What is left out falls from here as a geometric series.
        if tail < 1.0 && cell < 1e-18 * sum {
            return sum.ln() + 1e-9 - f64::from(order) / 2.0 * width.ln();
        }
        low = high;
    }
}

/// The bound of the [theorem](self), in records, at the least ς that T allows; none if T is too small for any.
///
/// ```
/// use tamis_noise::{Beta, Queries};
/// use tamis_projection::bounds::{Independence, is_vacuous, theorem};
/// // Lists of 10⁴ over 10⁶ distinct records, ε = 1, δ = 10⁻⁹ (σ₁ = 5.50), a million of them.
/// let (queries, beta) = (Queries::new(1_000_000)?, Beta::new(0.05)?);
/// let bound = |width| theorem(1e4, 1e6, 5.5, width, Independence::Full, queries, beta);
/// let wide = bound(f64::from(1 << 20)).unwrap();
/// assert!((4_100.0..4_400.0).contains(&wide));
/// assert!(!is_vacuous(wide, 1e6) && is_vacuous(wide, 4_000.0));
/// assert_eq!(bound(64.0), None);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn theorem(
    squared_query_norm: f64,
    squared_data_norm: f64,
    multiplier: f64,
    width: f64,
    independence: Independence,
    queries: Queries,
    beta: Beta,
) -> Option<f64> {
    let distortion = least_distortion(width, independence, queries, beta)?;
    let tail = ((1.0 + distortion) * 2.0 * (4.0 * queries.to_f64() / beta.get()).ln()).sqrt();
    Some(squared_query_norm.sqrt() * (distortion * squared_data_norm.sqrt() + multiplier * tail))
}

/// Whether a bound says nothing: any answer from 0 to the number of records would be within it.
pub fn is_vacuous(bound: f64, records: f64) -> bool {
    // So that NaN is vacuous.
    bound >= records || bound.is_nan() || records.is_nan()
}

/// How many standard errors k normal answers are all within but for a probability β, by the union bound: z with
/// P(|N| > z) = β/k for a standard normal N.
///
/// ```
/// use tamis_noise::{Beta, Queries};
/// use tamis_projection::bounds::deviations;
/// let of = |queries| deviations(Queries::new(queries).unwrap(), Beta::new(0.05).unwrap());
/// assert!((of(1) - 1.960).abs() < 1e-3 && (of(1_000_000) - 5.451).abs() < 1e-3);
/// ```
pub fn deviations(queries: Queries, beta: Beta) -> f64 {
    normal_quantile(beta.get() / queries.to_f64())
}

/// z with P(|N| > z) = `outside` for a standard normal N.
pub(crate) fn normal_quantile(outside: f64) -> f64 {
    SQRT_2 * erfc_inv(outside)
}

/// The standard error of an answer, exactly, over seed and noise, if the columns are at least 4-wise independent:
///
/// ```text
/// √( (‖x‖₂²‖q‖₂² + q(x)² − 2Σq²x²)/T + σ²‖q‖₂²/s )
/// ```
///
/// without the term −2Σq²x², which is not known beforehand. For dense signs s is T.
///
/// ```
/// use tamis_projection::bounds::standard_error;
/// // 4 000 of a list of 10⁴ among 10⁶ distinct records; one entry a column in 2²⁰ rows, Laplace noise of scale 1.
/// let error = standard_error(1e4, 1e6, 4e3, f64::from(1 << 20), 1.0, 1.84);
/// assert!((165.0..172.0).contains(&error));
/// ```
pub fn standard_error(
    squared_query_norm: f64,
    squared_data_norm: f64,
    expected: f64,
    width: f64,
    nonzeros: f64,
    noise_variance: f64,
) -> f64 {
    let signal = (squared_data_norm * squared_query_norm + expected * expected) / width;
    (signal + noise_variance * squared_query_norm / nonzeros).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every legal independence is answered at every width, however small or large.
    #[test]
    fn every_independence_is_answered() {
        let (queries, beta) = (Queries::new(1_000_000).unwrap(), Beta::new(0.05).unwrap());
        for keys in [2, 4, 64, 200, 256] {
            for width in [1.0, 2.0, 64.0, 1e6, 1e40, 1e300, f64::INFINITY] {
                let least = least_distortion(width, Independence::Keys(keys), queries, beta);
                assert!(least.is_none_or(|least| 0.0 < least && least < 1.0), "{keys} {width}: {least:?}");
            }
            assert!(least_width(0.1, Independence::Keys(keys), queries, beta) > 1_000.0);
        }
    }

    #[test]
    fn the_least_distortion_is_the_least() {
        let (queries, beta) = (Queries::new(1000).unwrap(), Beta::new(0.01).unwrap());
        for independence in [Independence::Full, Independence::Keys(40)] {
            for width in [1e3, 1e5] {
                let distortion = least_distortion(width, independence, queries, beta).unwrap();
                assert!(least_width(distortion * (1.0 + 1e-9), independence, queries, beta) <= width);
                assert!(least_width(distortion * (1.0 - 1e-9), independence, queries, beta) > width);
            }
            assert_eq!(least_distortion(100.0, independence, queries, beta), None);
            assert_eq!(least_distortion(f64::NAN, independence, queries, beta), None);
        }
        assert_eq!(least_width(0.1, Independence::Keys(3), queries, beta), f64::INFINITY);
        assert!(is_vacuous(f64::NAN, 1e6) && is_vacuous(1e6, 1e6));
    }

    /// What limited independence costs at k = 10⁶, β = 0.05.
    #[test]
    fn limited_independence_costs_rows() {
        let (queries, beta) = (Queries::new(1_000_000).unwrap(), Beta::new(0.05).unwrap());
        let full = least_width(0.1, Independence::Full, queries, beta);
        for (keys, times) in [(12, 60.0), (17, 14.5), (32, 2.2), (48, 1.38), (68, 1.18)] {
            let ratio = least_width(0.1, Independence::Keys(keys), queries, beta) / full;
            assert!((ratio / times - 1.0).abs() < 0.1, "r = {keys}: {ratio}");
        }
    }

    /// M_p is what it says, for a T at which the integral is known otherwise: the tails of ever more rows tend to
    /// 4e^(−Ts²/4), whose moment ∫ p·sᵖ⁻¹·min(1, tail) has a closed form for p = 2: (4/T)(1 + ln 4).
    #[test]
    fn the_second_moment_is_the_known_one() {
        let width = 1e12;
        let expected = (4.0 / width * (1.0 + 4f64.ln())).ln();
        assert!((log_moment(2, width) - expected).abs() < 5e-3, "{} {expected}", log_moment(2, width));
        assert!(log_moment(2, width) >= expected);
    }
}
