//! Sparse multiplicative weights: a distribution over a universe that nobody lists (BR11 section 3).
//!
//! # How it works
//! Instead of the universe it keeps N slots, each of weight 1 at first. A key gets a slot of its own for good when an
//! *update* touches it; before that it borrows any free one, so it weighs 1. With Z = Σ of all N weights,
//!
//! ```text
//! q(D) = (Σ_{u assigned} w_u q(u) + Σ_{u not assigned} q(u)) / Z,
//! ```
//!
//! and an update multiplies the weights of the query's keys by e^(s·q(u)). Nothing depends on the universe: an answer
//! costs O(min(m, assigned keys)), memory is O(m·c).
//!
//! # Why it is right
//! [`slots`]: N = m(c + 1) + S, where c caps the updates: m·c slots that updates can take, m more to borrow from, S ≥ 1
//! spare. Take this distribution p on the slots: each assigned key, at the end, has its share of the records, and what
//! is left of 1 (records of keys never assigned, and what a bound on the number of records exceeds it by) is spread
//! evenly over the S spare slots, which no update touches. Under p every update query has its true answer. Before an
//! update KL(p‖D) falls by at least 2α² (below), it begins at no more than [`divergence`] and never goes below 0.
//!
//! **Divergence.** KL(p‖uniform) ≤ ln(N·max p). With S = 1 that is ln N: the paper's. If no key has more than one S-th
//! of the records, then no slot has more than 1/S of p, and it is ln(N/S): far less where keys are rare. (Sharper than
//! the paper: p of the paper puts what is left on one slot.)
//!
//! **Fall.** A step s > 0 (s < 0 alike) changes KL(p‖D) by Λ(s) − s·q(p), Λ(s) = ln E_D e^(sq). *Fixed rate*: Λ(s) ≤
//! s·q(D) + s²/8 (Hoeffding), so it falls by sα − s²/8 at an error of α: by 2α² at s = 4α. *[`Step::Reach`]* makes the
//! answer v with Λ'(s) = v: it falls by at least s·v − Λ(s) = KL(D after‖D before) ≥ 2(v − q(D))² if v lies between
//! q(D) and the truth. Both are 2α², so [`mistakes`] is KL/(2α²). The paper's own step is α/2, its bound eight times
//! that.
//!
//! # Numbers
//! The logarithm of each weight is a whole number of 2⁻⁴⁰: steps add up exactly, in any number and order, and those
//! that cancel leave nothing. Beside it stands e^(logarithm − shift), the shift being common, and the compensated sum
//! of these. The sum is made anew when a bound on its error says so (10⁻¹¹ of it), or when it or a weight leaves
//! e^±300.
//!
//! | paper | here |
//! | ----- | ---- |
//! | X̂, N | [`SparseWeights::slots`] |
//! | m, c  | `support`, `updates` |
//! | η     | the number in [`Step::Raise`] |
//! | B(α)  | [`mistakes`] |
//!
//! # References
//! - **BR11** A. Blum, A. Roth, *Fast private data release algorithms for sparse queries*, 2011.
//! - **HR10** M. Hardt, G. Rothblum, *A multiplicative weights mechanism for privacy-preserving data analysis*, FOCS
//!   2010.
//! - **GRU12** A. Gupta, A. Roth, J. Ullman, *Iterative constructions and private data release*, TCC 2012.

use crate::hypothesis::check_size;
use crate::sum::Sum;
use crate::table::{self, Table};
use crate::tilt::{Member, tilt};
use crate::{Hypothesis, Query, Refused, Step};
use serde::{Deserialize, Serialize};
use tamis_noise::Hits;
use tamis_queries::{Conjunction, Fingerprint};

/// N = m(c + 1) + S.
///
/// ```
/// use tamis_interactive::sparse_weights::slots;
/// use tamis_noise::Hits;
/// assert_eq!(slots(10_000, Hits::new(999)?, 1), 10_000_001);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
///
/// No overflow for the sizes that [`SparseWeights::new`] takes: it is at most 2⁴⁵ then, and as a float exact.
pub fn slots(support: u64, updates: Hits, spare: u64) -> u64 {
    support * (u64::from(updates.get()) + 1) + spare
}

/// The most that KL(data‖uniform on N slots) can be, if no key has more than one S-th of the records: ln(N/S). See the
/// [module](self).
///
/// Exact to the last digits also where S is nearly N:
///
/// ```
/// use tamis_interactive::sparse_weights::divergence;
/// assert!((divergence(1e12 + 2.0, 1e12) / 2e-12 - (1.0 - 1e-12)).abs() < 1e-15);
/// ```
pub fn divergence(slots: f64, spare: f64) -> f64 {
    ((slots - spare) / spare).ln_1p()
}

/// B(α) = KL/(2α²), for the steps that [`Hypothesis::mistake_bound`] speaks of.
///
/// ```
/// use tamis_interactive::sparse_weights::{divergence, mistakes};
/// assert!((mistakes(divergence(1e7, 1.0), 0.1) - 805.9).abs() < 0.1);
/// ```
pub fn mistakes(divergence: f64, alpha: f64) -> f64 {
    divergence / (2.0 * alpha * alpha)
}

/// The hypothesis. See the [module](self).
///
/// ```
/// use tamis_interactive::{Hypothesis, Query, SparseWeights, Step};
/// use tamis_noise::Hits;
/// use tamis_queries::{Fingerprint, SparseQuery};
/// let list = |keys: std::ops::Range<u64>| Query::keys(SparseQuery::count(keys.map(Fingerprint::raw)));
/// let mut weights = SparseWeights::new(100, Hits::new(9)?, 1, None)?;
/// assert_eq!(weights.slots(), 1001);
/// assert!((weights.evaluate(&list(0..100))? - 100.0 / 1001.0).abs() < 1e-15); // as if all N keys were equally frequent
///
/// weights.update(&list(0..100), Step::Reach(0.5))?;
/// assert!((weights.evaluate(&list(0..50))? - 0.25).abs() < 1e-12);
/// assert!(weights.evaluate(&list(0..101)).is_err()); // wider than m
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparseWeights {
    support: u64,
    updates: Hits,
    made: u32,
    spare: u64,
    table: Table<Slot>,
    /// In units, as logarithms: what all weights are divided by.
    shift: i64,
    /// e^−shift: a free slot's.
    free_weight: f64,
    /// Z/e^shift.
    total: Sum,
    /// How many numbers went into `total`, and how large they were together.
    terms: f64,
    turnover: f64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// In units.
    logarithm: i64,
    /// e^(logarithm − shift).
    weight: f64,
}

const FREE: i64 = 0;
/// Units of a logarithm.
const UNITS: f64 = (1u64 << 40) as f64;
/// Logarithms saturate at ±2⁶¹ units, so that differences do not overflow. e^(2²¹) is more than anything that follows
/// could tell.
const LARGEST: i64 = 1 << 61;
/// Beyond e^±300 weights and their sum are rescaled.
const RANGE: f64 = 300.0;
/// What the sum may be off by, as a share of itself.
const DRIFT: f64 = 1e-11;

fn weight(logarithm: i64, shift: i64) -> f64 {
    // Exact up to the exponential, wherever that is not 0: the difference then has fewer than 53 bits.
    ((logarithm - shift) as f64 / UNITS).exp()
}

impl SparseWeights {
    /// Largest m: 2²⁴.
    pub const MAX_SUPPORT: u64 = Conjunction::MAX_SUPPORT as u64;
    /// Largest S: 2⁴⁰.
    pub const MAX_SPARE: u64 = 1 << 40;

    /// For queries of at most `support` keys and at most `updates` updates, with `spare` slots besides: 1, or the S
    /// such that no key has more than one S-th of the records. `width` is how many packed booleans a record has, if
    /// conjunctions are to be asked.
    ///
    /// # Errors
    /// If a size is out of range.
    pub fn new(support: u64, updates: Hits, spare: u64, width: Option<u32>) -> Result<Self, Refused> {
        check_size("the keys of a query", support, Self::MAX_SUPPORT)?;
        check_size("the number of spare slots", spare, Self::MAX_SPARE)?;
        let mut weights = Self {
            support,
            updates,
            made: 0,
            spare,
            table: Table::new(width)?,
            shift: FREE,
            free_weight: 1.0,
            total: Sum::default(),
            terms: 0.0,
            turnover: 0.0,
        };
        weights.rebuild();
        Ok(weights)
    }

    /// N. At most 2⁴⁵.
    pub fn slots(&self) -> u64 {
        slots(self.support, self.updates, self.spare)
    }

    /// How many keys have a slot of their own.
    pub fn assigned(&self) -> usize {
        self.table.len()
    }

    /// c.
    pub fn updates(&self) -> Hits {
        self.updates
    }

    /// KL(data‖uniform) at most, see [`divergence`].
    pub fn divergence(&self) -> f64 {
        divergence(self.slots() as f64, self.spare as f64)
    }

    /// Whether it was made for the same queries, updates and records.
    pub(crate) fn has_the_sizes_of(&self, other: &Self) -> bool {
        let sizes = |weights: &Self| (weights.support, weights.updates, weights.spare, weights.table.width());
        sizes(self) == sizes(other)
    }

    /// How many slots no update has touched: at least m + S.
    fn free(&self) -> f64 {
        (self.slots() - self.table.len() as u64) as f64
    }

    /// The step after which the query with these members is answered by `target`.
    fn step_to(&self, target: f64, members: &[(usize, f64)]) -> f64 {
        let mut of_query = Sum::default();
        let mut logarithms = Vec::with_capacity(members.len());
        for &(position, weight) in members {
            let slot = self.table.value(position);
            of_query.add(slot.weight);
            logarithms.push(Member { weight, logarithm: slot.logarithm as f64 / UNITS });
        }
        // Free slots are part of the rest, and the only part that rounding could lose.
        let rest = self.total.less(&of_query).get().max(0.0).ln() + self.shift as f64 / UNITS;
        tilt(&logarithms, rest.max(self.free().ln()), target)
    }

    /// Multiplies the weights of these keys by e^(s·q(u)).
    fn multiply(&mut self, members: &[(usize, f64)], step: f64) {
        let mut highest = FREE;
        for &(position, weight) in members {
            let slot = self.table.value_mut(position);
            // Saturates, at more than any logarithm may be.
            let units = (step * weight * UNITS).round() as i64;
            slot.logarithm = slot.logarithm.saturating_add(units).clamp(-LARGEST, LARGEST);
            highest = highest.max(slot.logarithm);
        }
        if (highest - self.shift) as f64 > RANGE * UNITS {
            return self.rebuild();
        }
        for &(position, _) in members {
            let slot = self.table.value_mut(position);
            let before = std::mem::replace(&mut slot.weight, weight(slot.logarithm, self.shift));
            let after = slot.weight;
            self.total.add(after);
            self.total.add(-before);
            self.terms += 2.0;
            self.turnover += before + after;
        }
        if !self.is_certain() {
            self.rebuild();
        }
    }

    /// Whether the sum is surely right, and in the range in which it stays so.
    fn is_certain(&self) -> bool {
        let total = self.total.get();
        // The error bound of `Sum`; its other term is a rounding of the result.
        let drift = (self.terms * f64::EPSILON).powi(2) * self.turnover;
        total >= (-RANGE).exp() && drift <= DRIFT * total
    }

    /// Chooses the shift such that the largest weight is 1, and adds all up anew.
    fn rebuild(&mut self) {
        let shift = self.table.values().map(|slot| slot.logarithm).fold(FREE, i64::max);
        for slot in self.table.values_mut() {
            slot.weight = weight(slot.logarithm, shift);
        }
        self.shift = shift;
        self.free_weight = weight(FREE, shift);
        let free = self.free() * self.free_weight;
        self.total = self.table.values().map(|slot| slot.weight).chain([free]).collect();
        self.terms = self.table.len() as f64 + 1.0;
        self.turnover = self.total.get();
    }
}

impl Hypothesis for SparseWeights {
    fn evaluate(&self, query: &Query) -> Result<f64, Refused> {
        self.table.check(query, self.support)?;
        let mut weights = Sum::default();
        // As if no key had a slot of its own, and then what those that have weigh more or less.
        weights.add(query.total() * self.free_weight);
        self.table.for_each_in(query, |share, slot| weights.add(share * (slot.weight - self.free_weight)));
        // Only rounding can lead out of 0 to 1.
        Ok((weights.get() / self.total.get()).clamp(0.0, 1.0))
    }

    fn update(&mut self, query: &Query, step: Step) -> Result<(), Refused> {
        self.table.check(query, self.support)?;
        let step = step.checked()?;
        if self.updates_left() == 0 {
            return Err(Refused::NoUpdatesLeft(self.updates.get()));
        }
        self.made += 1;
        let members = self.table.assign(query, Slot { logarithm: FREE, weight: self.free_weight });
        let rate = step.signed(|target| self.step_to(target, &members));
        self.multiply(&members, rate);
        Ok(())
    }

    fn updates_left(&self) -> u32 {
        self.updates.get() - self.made
    }

    fn mistake_bound(&self, alpha: f64) -> f64 {
        mistakes(self.divergence(), alpha)
    }
}

/// A hypothesis as it is stored: whole numbers alone, so that nothing is lost. It tells what the data was found to be,
/// and names the keys: as public as the answers, no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredWeights {
    support: u64,
    updates: Hits,
    made: u32,
    spare: u64,
    width: Option<u32>,
    /// Fingerprint, logarithm of the weight in units of 2⁻⁴⁰, and the packed booleans where they are known.
    slots: Vec<(u64, i64, Option<u128>)>,
}

impl StoredWeights {
    /// A hypothesis that was stored in pieces: whole, and then the [keys of each update](SparseWeights::store_keys_of), in
    /// order. Cost: linear in all of them.
    ///
    /// # Errors
    /// If there are none, or they are not of one hypothesis.
    pub fn latest(pieces: Vec<Self>) -> Result<Self, Refused> {
        let Some(last) = pieces.last() else { return Err(Refused::Damaged("nothing of it is there")) };
        let latest = Self { slots: Vec::new(), ..*last };
        let sizes = |stored: &Self| (stored.support, stored.updates, stored.spare, stored.width);
        if pieces.iter().any(|piece| sizes(piece) != sizes(&latest)) {
            return Err(Refused::Damaged("its pieces are of several hypotheses"));
        }
        Ok(Self { slots: table::latest(pieces.into_iter().flat_map(|piece| piece.slots)), ..latest })
    }
}

impl SparseWeights {
    /// What is to be stored. Cost: O(assigned keys).
    pub fn store(&self) -> StoredWeights {
        self.stored(self.table.entries())
    }

    /// The same of the keys of `query` alone: all that an update on it has changed, to be
    /// [put together](StoredWeights::latest) with what was stored before. Cost: O(m log m).
    pub fn store_keys_of(&self, query: &Query) -> StoredWeights {
        self.stored(self.table.entries_of(query))
    }

    fn stored(&self, entries: impl Iterator<Item = (Fingerprint, Option<u128>, Slot)>) -> StoredWeights {
        StoredWeights {
            support: self.support,
            updates: self.updates,
            made: self.made,
            spare: self.spare,
            width: self.table.width(),
            slots: entries.map(|(fingerprint, point, slot)| (fingerprint.get(), slot.logarithm, point)).collect(),
        }
    }

    /// The hypothesis that was stored.
    ///
    /// # Errors
    /// If none can have been stored so.
    pub fn restore(stored: &StoredWeights) -> Result<Self, Refused> {
        let StoredWeights { support, updates, made, spare, width, slots } = stored;
        let mut weights = Self::new(*support, *updates, *spare, *width)?;
        if *made > updates.get() {
            return Err(Refused::Damaged("more updates than it allows"));
        }
        if slots.len() as u64 > support * u64::from(*made) {
            return Err(Refused::Damaged("more keys than its updates can have touched"));
        }
        weights.made = *made;
        for &(fingerprint, logarithm, point) in slots {
            if !(-LARGEST..=LARGEST).contains(&logarithm) {
                return Err(Refused::Damaged("a weight that no update gives"));
            }
            weights.table.restore(Fingerprint::raw(fingerprint), point, Slot { logarithm, weight: 0.0 })?;
        }
        weights.rebuild();
        Ok(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_queries::SparseQuery;

    fn list(keys: impl IntoIterator<Item = u64>) -> Query {
        Query::keys(SparseQuery::count(keys.into_iter().map(Fingerprint::raw)))
    }

    /// Z as ln Z, by brute force from the exact logarithms.
    fn log_total(weights: &SparseWeights) -> f64 {
        let logarithm = |slot: Slot| slot.logarithm as f64 / UNITS;
        let largest = weights.table.values().map(logarithm).fold(0.0, f64::max);
        let assigned: f64 = weights.table.values().map(|slot| (logarithm(slot) - largest).exp()).sum();
        largest + (assigned + weights.free() * (-largest).exp()).ln()
    }

    fn assert_total(weights: &SparseWeights) {
        let kept = weights.total.get().ln() + weights.shift as f64 / UNITS;
        let error = (kept - log_total(weights)).abs();
        assert!(error <= 1e-9, "after {} updates: {error}", weights.made);
    }

    /// Not a random walk: rises far, falls far, and back, with every size of step.
    #[test]
    fn the_sum_of_weights_stays_right() {
        let mut weights = SparseWeights::new(4, Hits::new(100_000).unwrap(), 1, None).unwrap();
        let rates = [1e-9, 0.01, 0.3, 2.0, 40.0, 700.0];
        let mut state = 1u64;
        for update in 0..100_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let rate = rates[(state >> 33) as usize % rates.len()];
            let up = if update / 5_000 % 2 == 0 { state >> 60 != 0 } else { state >> 60 == 0 };
            let query = list([state >> 40 & 7, state >> 44 & 7, state >> 48 & 7]);
            weights.update(&query, if up { Step::Raise(rate) } else { Step::Lower(rate) }).unwrap();
            if update % 97 == 0 {
                assert_total(&weights);
            }
        }
        assert_total(&weights);
        assert!(weights.update(&list([1]), Step::Raise(1.0)).is_err());
    }

    #[test]
    fn steps_that_cancel_leave_nothing() {
        let mut weights = SparseWeights::new(2, Hits::new(1_000_000).unwrap(), 5, None).unwrap();
        let before = weights.evaluate(&list([1])).unwrap();
        for rate in [1e-7, 0.1, 650.0, 1e4] {
            for _ in 0..100 {
                weights.update(&list([1, 2]), Step::Raise(rate)).unwrap();
            }
            for _ in 0..100 {
                weights.update(&list([1, 2]), Step::Lower(rate)).unwrap();
            }
        }
        assert!((weights.evaluate(&list([1])).unwrap() - before).abs() <= 1e-15);
    }

    /// Whatever the step, answers stay shares and the state stays one.
    #[test]
    fn extreme_steps_are_survived() {
        let mut weights = SparseWeights::new(3, Hits::new(1_000).unwrap(), 1, None).unwrap();
        for rate in [f64::MAX, 1e300, 1e-300, f64::MIN_POSITIVE, 3e6] {
            for step in [Step::Raise(rate), Step::Lower(rate), Step::Reach(0.0), Step::Reach(1.0), Step::Reach(0.25)] {
                weights.update(&list([1, 2]), step).unwrap();
                let answer = weights.evaluate(&list([1, 3])).unwrap();
                assert!((0.0..=1.0).contains(&answer), "{step:?}: {answer}");
                assert_total(&weights);
            }
        }
        for step in
            [Step::Raise(0.0), Step::Raise(f64::NAN), Step::Lower(-1.0), Step::Reach(1.5), Step::Reach(f64::NAN)]
        {
            assert!(matches!(weights.update(&list([1]), step), Err(Refused::Step(_))), "{step:?}");
        }
    }
}
