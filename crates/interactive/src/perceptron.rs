//! The sparse perceptron: a vector that starts at zero and is corrected along the queries it got wrong.
//!
//! # How often it is wrong
//! Let x be the data as shares of the records, and x^t the vector. A step adds s·q/‖q‖² to it, so ‖x − x^t‖₂² falls by
//! (2s·q(x − x^t) − s²)/‖q‖². With s = ±α toward the truth at an error of at least α, and with [`Step::Reach`] (s = v −
//! q(x^t), v between the answer and the truth and at least α from the answer), that is at least α²/‖q‖² ≥ α²/m. It
//! begins at ‖x‖₂² and never goes below 0: so there are at most [`mistakes`] = m·‖x‖₂²/α² of them (in the manner of
//! Novikoff 1962; DR14 Theorem 5.11 has the same potential). Answers are clamped to 0 to 1, where the truth is: that
//! makes no error larger.
//!
//! ‖x‖₂² is private. A public bound stands for it: 1/S if no key has more than one S-th of the records (S = 1 always
//! holds). Values are whole numbers of 2⁻⁶⁰, so that they can be stored without loss.
//!
//! It beats [multiplicative weights](crate::sparse_weights) where 2m/S < ln(N/S).

use crate::hypothesis::check_size;
use crate::sum::Sum;
use crate::table::{self, Table};
use crate::{Hypothesis, Query, Refused, SparseWeights, Step};
use serde::{Deserialize, Serialize};
use tamis_queries::Fingerprint;

/// B(α) = m·‖x‖₂²/α², with 1/S for ‖x‖₂².
///
/// ```
/// // Lists of 100 keys over a million distinct records.
/// assert!((tamis_interactive::perceptron::mistakes(100.0, 1e6, 0.001) - 100.0).abs() < 1e-9);
/// ```
pub fn mistakes(support: f64, spare: f64, alpha: f64) -> f64 {
    support / spare / (alpha * alpha)
}

/// The hypothesis. See the [module](self).
///
/// ```
/// use tamis_interactive::{Hypothesis, Query, SparsePerceptron, Step};
/// use tamis_queries::{Fingerprint, SparseQuery};
/// let list = |keys: std::ops::Range<u64>| Query::keys(SparseQuery::count(keys.map(Fingerprint::raw)));
/// let mut perceptron = SparsePerceptron::new(100, 1_000, None)?;
/// assert_eq!(perceptron.evaluate(&list(0..10))?, 0.0);
/// perceptron.update(&list(0..10), Step::Reach(0.3))?;
/// assert!((perceptron.evaluate(&list(5..15))? - 0.15).abs() < 1e-15);
/// # Ok::<(), tamis_interactive::Refused>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparsePerceptron {
    support: u64,
    spare: u64,
    /// In units.
    table: Table<i128>,
}

/// One, in units.
const UNITS: f64 = (1u64 << 60) as f64;
/// Values saturate at ±2¹²⁰ units: no answer of a share needs 2⁶⁰.
const LARGEST: i128 = 1 << 120;

impl SparsePerceptron {
    /// For queries of at most `support` keys, on data no key of which has more than one `spare`-th of the records.
    /// `width` is how many packed booleans a record has, if conjunctions are to be asked.
    ///
    /// # Errors
    /// If a size is out of range.
    pub fn new(support: u64, spare: u64, width: Option<u32>) -> Result<Self, Refused> {
        check_size("the keys of a query", support, SparseWeights::MAX_SUPPORT)?;
        check_size("the share that no key exceeds, one in", spare, SparseWeights::MAX_SPARE)?;
        Ok(Self { support, spare, table: Table::new(width)? })
    }

    /// Refuses a query that is wider than it was made for.
    pub(crate) fn check(&self, query: &Query) -> Result<(), Refused> {
        self.table.check(query, self.support)
    }

    /// q(x^t), not clamped.
    pub(crate) fn product(&self, query: &Query) -> f64 {
        let mut product = Sum::default();
        self.table.for_each_in(query, |weight, value| product.add(weight * nearest(value)));
        product.get() / UNITS
    }

    /// Moves q(x^t) by so much, along q.
    pub(crate) fn move_by(&mut self, query: &Query, distance: f64) {
        // Without keys there is nothing to move.
        let factor = distance / query.squared_norm().max(f64::MIN_POSITIVE) * UNITS;
        for (position, weight) in self.table.assign(query, 0) {
            let value = self.table.value_mut(position);
            // Saturates, at more than any value may be.
            let step = (factor * weight).round() as i128;
            *value = value.saturating_add(step).clamp(-LARGEST, LARGEST);
        }
    }
}

/// The float nearest to a whole number. Shares fit in 64 bits, for which it is quicker.
fn nearest(value: i128) -> f64 {
    match i64::try_from(value) {
        Ok(value) => value as f64,
        Err(_) => nearest_to_large(value),
    }
}

// Apart, or the compiler would do it for every value, and the processor wait for each.
#[cold]
#[inline(never)]
fn nearest_to_large(value: i128) -> f64 {
    value as f64
}

impl Hypothesis for SparsePerceptron {
    fn evaluate(&self, query: &Query) -> Result<f64, Refused> {
        self.check(query)?;
        Ok(self.product(query).clamp(0.0, 1.0))
    }

    /// [`Step::Raise`] takes α, not a rate: it is by how much the answer moves.
    fn update(&mut self, query: &Query, step: Step) -> Result<(), Refused> {
        self.check(query)?;
        let distance = step.checked()?.signed(|target| target - self.product(query));
        self.move_by(query, distance);
        Ok(())
    }

    fn updates_left(&self) -> u32 {
        u32::MAX
    }

    fn mistake_bound(&self, alpha: f64) -> f64 {
        mistakes(self.support as f64, self.spare as f64, alpha)
    }
}

/// A perceptron as it is stored: whole numbers alone. It names the keys that updates touched: as public as the answers,
/// no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPerceptron {
    support: u64,
    spare: u64,
    width: Option<u32>,
    /// Fingerprint, value in units of 2⁻⁶⁰, and the packed booleans where they are known.
    values: Vec<(u64, i128, Option<u128>)>,
}

impl StoredPerceptron {
    /// A perceptron that was stored in pieces: whole, and then the [keys of each update](SparsePerceptron::store_keys_of), in
    /// order. Cost: linear in all of them.
    ///
    /// # Errors
    /// If there are none, or they are not of one perceptron.
    pub fn latest(pieces: Vec<Self>) -> Result<Self, Refused> {
        let Some(last) = pieces.last() else { return Err(Refused::Damaged("nothing of it is there")) };
        let latest = Self { values: Vec::new(), ..*last };
        let sizes = |stored: &Self| (stored.support, stored.spare, stored.width);
        if pieces.iter().any(|piece| sizes(piece) != sizes(&latest)) {
            return Err(Refused::Damaged("its pieces are of several hypotheses"));
        }
        Ok(Self { values: table::latest(pieces.into_iter().flat_map(|piece| piece.values)), ..latest })
    }
}

impl SparsePerceptron {
    /// What is to be stored. Cost: O(keys that updates touched).
    pub fn store(&self) -> StoredPerceptron {
        self.stored(self.table.entries())
    }

    /// The same of the keys of `query` alone: all that an update on it has changed, to be
    /// [put together](StoredPerceptron::latest) with what was stored before. Cost: O(m log m).
    pub fn store_keys_of(&self, query: &Query) -> StoredPerceptron {
        self.stored(self.table.entries_of(query))
    }

    fn stored(&self, entries: impl Iterator<Item = (Fingerprint, Option<u128>, i128)>) -> StoredPerceptron {
        StoredPerceptron {
            support: self.support,
            spare: self.spare,
            width: self.table.width(),
            values: entries.map(|(fingerprint, point, value)| (fingerprint.get(), value, point)).collect(),
        }
    }

    /// The perceptron that was stored.
    ///
    /// # Errors
    /// If none can have been stored so.
    pub fn restore(stored: &StoredPerceptron) -> Result<Self, Refused> {
        let StoredPerceptron { support, spare, width, values } = stored;
        let mut perceptron = Self::new(*support, *spare, *width)?;
        for &(fingerprint, value, point) in values {
            if !(-LARGEST..=LARGEST).contains(&value) {
                return Err(Refused::Damaged("a value that no update gives"));
            }
            perceptron.table.restore(Fingerprint::raw(fingerprint), point, value)?;
        }
        Ok(perceptron)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_nearest_float_is_that_of_the_language(value: i128, shift in 0u32..128) {
            let value = value >> shift;
            prop_assert_eq!(nearest(value).to_bits(), (value as f64).to_bits());
        }
    }

    #[test]
    fn so_it_is_where_64_bits_end() {
        for end in [i128::from(i64::MIN), i128::from(i64::MAX)] {
            for value in end - 2..=end + 2 {
                assert_eq!(nearest(value).to_bits(), (value as f64).to_bits());
            }
        }
    }
}
