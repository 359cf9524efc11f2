//! A natural logarithm with a written error bound, the same bits on every machine.
//!
//! The standard library's `ln` promises no precision, and a filter is only as good as its bound. This one uses
//! additions, multiplications and one division, each rounded to nearest as IEEE 754 demands, and no fused step, so
//! compilers may vectorise it and change nothing.

/// What [`negative_logarithm`] may be off by, relative to 1 + result.
pub(crate) const LOGARITHM_ERROR: f64 = 1.0 / (1u64 << 50) as f64; // 2^-50

const LN_2: f64 = std::f64::consts::LN_2;
/// Bits of √½, where the mantissa's range [√½, √2) starts.
const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE_BITS: u64 = 1023 << 52;
/// 2^52: adding it to a small integer leaves the integer in the low bits.
const TWO_52: f64 = 4_503_599_627_370_496.0;

/// −ln x for a normal x in (0, 1], within 2^−50 · (1 + result).
///
/// x = 2^k·m with m in [√½, √2); f = m − 1 (exact); s = f/(2 + f), |s| ≤ 0.1716; ln m = 2 artanh s = s·(2 + R) with
/// R = 2s²/3 + 2s⁴/5 + … up to s¹⁶. With u = 2^−53 the rounding unit:
/// s is right within 2.01u relatively (one addition, one division); R ≤ 0.0201 within 30u relatively (sums and
/// products of positive terms, at most 25 roundings on any path), so 2 + R within 1.4u and s·(2 + R) within
/// 4.5u of at most 0.3466: below 1.6u. The truncated series is short by less than 2s¹⁹/19/(1 − s²) < 2.9u. k·ln 2 is
/// within 1.5u relatively (the constant and one product) of at most E + 0.35, the last sum within u of the result.
/// In all (1.6 + 2.9 + 0.6 + 2.5·E)·u < 5.1u·(1 + E), against the 8u·(1 + E) promised.
#[inline(always)]
pub(crate) fn negative_logarithm(x: f64) -> f64 {
    let shifted = x.to_bits() + ONE_BITS - SQRT_HALF_BITS;
    let biased = shifted >> 52; // k + 1023
    let k = f64::from_bits(TWO_52.to_bits() | biased) - (TWO_52 + 1023.0);
    let f = f64::from_bits(x.to_bits() + ONE_BITS - (biased << 52)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    // Estrin's scheme: half the latency of Horner's.
    let z2 = z * z;
    let low = (2.0 / 3.0 + z * (2.0 / 5.0)) + z2 * (2.0 / 7.0 + z * (2.0 / 9.0));
    let high = (2.0 / 11.0 + z * (2.0 / 13.0)) + z2 * (2.0 / 15.0 + z * (2.0 / 17.0));
    let r = z * (low + (z2 * z2) * high);
    -(s * (2.0 + r)) - k * LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enclosure::exponential;
    use crate::exact::from_f64;
    use dashu_int::UBig;
    use dashu_ratio::RBig;
    use proptest::prelude::*;

    /// Whether −ln x lies within `tolerance` of `claimed`, by certain bounds: e^−(claimed+tolerance) ≤ x ≤ e^−(…).
    fn within(x: f64, claimed: f64, tolerance: f64) -> bool {
        const PRECISION: usize = 192;
        let x = from_f64(x).unwrap() * RBig::from(UBig::ONE << PRECISION);
        let (claimed, tolerance) = (from_f64(claimed).unwrap(), from_f64(tolerance).unwrap());
        let least = exponential(&(&claimed + &tolerance), PRECISION).high;
        let most = &claimed - &tolerance;
        let most = if most < RBig::ZERO { UBig::ONE << PRECISION } else { exponential(&most, PRECISION).low };
        RBig::from(least) <= x && x <= RBig::from(most)
    }

    fn bound_holds(x: f64) -> bool {
        let claimed = negative_logarithm(x);
        within(x, claimed, LOGARITHM_ERROR * (1.0 + claimed))
    }

    #[test]
    fn the_corners_are_within_the_bound() {
        let sqrt_half = f64::from_bits(SQRT_HALF_BITS);
        for x in [1.0, 1f64.next_down(), 0.5, sqrt_half, sqrt_half.next_down(), 2f64.powi(-53), 2f64.powi(-60), 0.75] {
            assert!(bound_holds(x), "{x:e}");
        }
    }

    #[test]
    fn a_logarithm_off_by_twice_the_bound_is_noticed() {
        let x = 0.3;
        let claimed = negative_logarithm(x);
        assert!(!within(x, claimed + 2.0 * LOGARITHM_ERROR * (1.0 + claimed), LOGARITHM_ERROR * (1.0 + claimed)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_bound_holds(bits in 1u64..1 << 53, shift in 0i32..20) {
            let x = bits as f64 * 2f64.powi(-53 - shift);
            prop_assert!(bound_holds(x), "{x:e}");
        }
    }
}
