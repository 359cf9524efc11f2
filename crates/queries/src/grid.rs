//! Rounding of real values to a stated grid, exactly.

use crate::Rational;
use dashu_int::UBig;

/// Multiples of 2⁻ᵇ, the only real values that the mechanisms see: as integers, in units of the grid.
///
/// A value x becomes floor(x·2ᵇ + ½) by exact arithmetic. This rounding is monotone and commutes with shifts by
/// whole units, so values that differ by at most Δ differ by at most ⌈Δ·2ᵇ⌉ units. (Rounding half to even would
/// need one unit more; rounding a float sum would prove nothing.)
///
/// ```
/// use tamis_queries::{Grid, Rational};
/// let quarter = Grid::new(2)?;
/// let third = Rational::from_parts(1.into(), 3u8.into());
/// assert_eq!(quarter.round(&third)?, 1); // 1/3 lies nearest to 1/4
/// assert_eq!(quarter.value(1), 0.25);
/// assert_eq!(quarter.sensitivity(&third)?, 2); // ⌈4/3⌉ units
/// # Ok::<(), tamis_queries::GridError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    bits: u32,
}

/// A value that the grid cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// More bits than the grid offers.
    #[error("the grid must have 0 to 30 bits after the point, got {0}")]
    Bits(u32),
    /// Beyond ±2⁶⁰ units.
    #[error("a value is beyond ±2^60 units of the grid 2^-{bits}")]
    Overflow {
        /// The grid's bits after the point.
        bits: u32,
    },
    /// A sensitivity that is not positive.
    #[error("a sensitivity must be positive, got {0}")]
    Sensitivity(String),
}

impl Grid {
    /// Largest magnitude of an answer, in units: room for any noise to be added without overflow.
    pub const MAX_UNITS: i64 = 1 << 60;

    /// Whole numbers.
    pub const WHOLE: Self = Self { bits: 0 };

    /// Multiples of 2^-`bits`.
    ///
    /// # Errors
    /// Beyond 30 bits.
    pub fn new(bits: u32) -> Result<Self, GridError> {
        if bits <= 30 { Ok(Self { bits }) } else { Err(GridError::Bits(bits)) }
    }

    /// Bits after the point.
    pub fn bits(self) -> u32 {
        self.bits
    }

    fn units_per_one(self) -> Rational {
        // Lossless: at most 30 bits.
        Rational::from(UBig::ONE << self.bits as usize)
    }

    /// floor(`value`·2ᵇ + ½).
    ///
    /// # Errors
    /// If the result is beyond ±2⁶⁰.
    pub fn round(self, value: &Rational) -> Result<i64, GridError> {
        let half = Rational::from_parts(1.into(), 2u8.into());
        let units = (value * self.units_per_one() + half).floor();
        i64::try_from(units)
            .ok()
            .filter(|units| units.unsigned_abs() <= Self::MAX_UNITS.unsigned_abs())
            .ok_or(GridError::Overflow { bits: self.bits })
    }

    /// Whether `value` lies on the grid, so that rounding changes nothing.
    pub fn holds(self, value: &Rational) -> bool {
        (value * self.units_per_one()).is_int()
    }

    /// ⌈`sensitivity`·2ᵇ⌉ units.
    ///
    /// # Errors
    /// If it is not positive, or beyond 2⁶⁰ units.
    pub fn sensitivity(self, sensitivity: &Rational) -> Result<u64, GridError> {
        if *sensitivity <= Rational::ZERO {
            return Err(GridError::Sensitivity(sensitivity.to_string()));
        }
        u64::try_from((sensitivity * self.units_per_one()).ceil())
            .ok()
            .filter(|units| *units <= Self::MAX_UNITS.unsigned_abs())
            .ok_or(GridError::Overflow { bits: self.bits })
    }

    /// The real value of `units`, to the nearest `f64`. Post-processing only.
    pub fn value(self, units: i64) -> f64 {
        units as f64 / f64::from(1u32 << self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(numerator: i64, denominator: u64) -> Rational {
        Rational::from_parts(numerator.into(), denominator.into())
    }

    #[test]
    fn halves_round_up_on_both_sides_of_zero() {
        assert_eq!(Grid::WHOLE.round(&ratio(1, 2)), Ok(1));
        assert_eq!(Grid::WHOLE.round(&ratio(-1, 2)), Ok(0));
        assert_eq!(Grid::WHOLE.round(&ratio(3, 2)), Ok(2));
        assert_eq!(Grid::WHOLE.round(&ratio(-3, 2)), Ok(-1));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(Grid::new(31), Err(GridError::Bits(31)));
        assert!(Grid::new(30).unwrap().round(&Rational::from(1u64 << 31)).is_err());
        assert_eq!(Grid::WHOLE.round(&Rational::from(1u64 << 60)), Ok(1 << 60));
        assert!(Grid::WHOLE.sensitivity(&Rational::ZERO).is_err());
    }

    proptest! {
        /// The claim of the type: values within Δ round to integers within ⌈Δ·2ᵇ⌉.
        #[test]
        fn rounding_keeps_sensitivity(a in -1_000_000i64..1_000_000, shift in 0i64..5_000, d in 1u64..997, bits in 0u32..=30) {
            let grid = Grid::new(bits).unwrap();
            let delta = ratio(shift.max(1), d);
            let (low, high) = (grid.round(&ratio(a, d)).unwrap(), grid.round(&ratio(a + shift, d)).unwrap());
            let bound = grid.sensitivity(&delta).unwrap();
            prop_assert!(low <= high && (high - low).unsigned_abs() <= bound);
        }
    }
}
