//! The keys that updates have touched, each with what a hypothesis holds of it.

use crate::hypothesis::{check_size, check_support};
use crate::query::Key;
use crate::{Query, Refused};
use rustc_hash::FxHashMap;
use tamis_queries::Fingerprint;

/// Keys with a value each, in the order in which they came.
///
/// The hash map is a fast one that trusts its keys: fingerprints under a key that no analyst knows are scattered
/// already. It is told the [`folded`] ones, since keys that are plain numbers may come as well.
///
/// A fingerprint hides the packed booleans behind it. So where records are packed booleans the table keeps the point
/// beside the fingerprint, as far as the queries have named it; a conjunction over more points than the table has keys
/// is then decided key by key instead of being listed.
#[derive(Clone, Debug)]
pub(crate) struct Table<V> {
    width: Option<u32>,
    // By folded fingerprint.
    positions: FxHashMap<u64, usize>,
    entries: Vec<(Fingerprint, V)>,
    // As long as `entries` if there is a width, else empty.
    points: Vec<Option<u128>>,
    unnamed: usize,
}

impl<V: Copy> Table<V> {
    /// Nothing touched yet; `width` is how many packed booleans a record has, if it has: from 1 to 128.
    pub(crate) fn new(width: Option<u32>) -> Result<Self, Refused> {
        if let Some(width) = width {
            check_size("the number of packed booleans", width.into(), 128)?;
        }
        Ok(Self { width, positions: FxHashMap::default(), entries: Vec::new(), points: Vec::new(), unnamed: 0 })
    }

    pub(crate) fn width(&self) -> Option<u32> {
        self.width
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Refuses what the table cannot look up.
    pub(crate) fn check(&self, query: &Query, most: u64) -> Result<(), Refused> {
        check_support(query, most)?;
        match query.width() {
            Some(width) if self.width != Some(width) => Err(Refused::Width { width, expected: self.width }),
            _ => Ok(()),
        }
    }

    /// Each key that is in the table and in `query`: its weight there, its value here. Cost: O(min(m, keys)), a list
    /// counting log m for a key.
    pub(crate) fn for_each_in(&self, query: &Query, mut visit: impl FnMut(f64, V)) {
        if !self.is_smaller_than(query) {
            return query.for_each(|key| {
                if let Some(&position) = self.positions.get(&folded(key.fingerprint)) {
                    visit(key.weight, self.entries[position].1);
                }
            });
        }
        for (position, &(fingerprint, value)) in self.entries.iter().enumerate() {
            let weight = query.weight(fingerprint, || self.point(position));
            if weight > 0.0 {
                visit(weight, value);
            }
        }
    }

    /// Whether it is less work to look the table's keys up in the query than the reverse, and possible.
    fn is_smaller_than(&self, query: &Query) -> bool {
        let keys = self.entries.len() as f64;
        if query.as_conjunction().is_some() {
            self.unnamed == 0 && keys < query.support()
        } else {
            keys * (1.0 + query.support().log2()) < query.support()
        }
    }

    fn point(&self, position: usize) -> Option<u128> {
        self.points.get(position).copied().flatten()
    }

    /// Gives each key of `query` that has no place one, with the value `initial`. Places and weights of all its keys.
    pub(crate) fn assign(&mut self, query: &Query, initial: V) -> Vec<(usize, f64)> {
        let mut places = Vec::with_capacity(query.support() as usize);
        query.for_each(|key| places.push((self.place(key, initial), key.weight)));
        places
    }

    fn place(&mut self, key: Key, initial: V) -> usize {
        let next = self.entries.len();
        let position = *self.positions.entry(folded(key.fingerprint)).or_insert(next);
        if position == next {
            self.entries.push((key.fingerprint, initial));
            if self.width.is_some() {
                self.points.push(key.point);
                self.unnamed += usize::from(key.point.is_none());
            }
        } else if let (Some(point @ None), Some(_)) = (self.points.get_mut(position), key.point) {
            *point = key.point;
            self.unnamed -= 1;
        }
        position
    }

    /// Takes back a stored key.
    pub(crate) fn restore(&mut self, fingerprint: Fingerprint, point: Option<u128>, value: V) -> Result<(), Refused> {
        let fits = |point| self.width.is_some_and(|width| point <= u128::MAX >> (128 - width));
        if !point.is_none_or(fits) {
            return Err(Refused::Damaged("a key with more packed booleans than there are"));
        }
        let before = self.len();
        self.place(Key { fingerprint, weight: 1.0, point }, value);
        if self.len() == before {
            return Err(Refused::Damaged("one key twice"));
        }
        Ok(())
    }

    /// The value at a place.
    pub(crate) fn value(&self, position: usize) -> V {
        self.entries[position].1
    }

    /// The value at a place, to be changed.
    pub(crate) fn value_mut(&mut self, position: usize) -> &mut V {
        &mut self.entries[position].1
    }

    /// All values, in the order in which their keys came.
    pub(crate) fn values(&self) -> impl Iterator<Item = V> {
        self.entries.iter().map(|entry| entry.1)
    }

    /// All values, to be changed.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|entry| &mut entry.1)
    }

    /// Those of the keys of `query`, in the order in which they came.
    pub(crate) fn entries_of(&self, query: &Query) -> impl Iterator<Item = (Fingerprint, Option<u128>, V)> {
        let mut places = Vec::with_capacity(query.support() as usize);
        query.for_each(|key| places.extend(self.positions.get(&folded(key.fingerprint)).copied()));
        places.sort_unstable();
        places.into_iter().map(|position| (self.entries[position].0, self.point(position), self.entries[position].1))
    }

    /// Keys, points as far as they are known, and values.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Fingerprint, Option<u128>, V)> {
        self.entries
            .iter()
            .enumerate()
            .map(|(position, &(fingerprint, value))| (fingerprint, self.point(position), value))
    }
}

/// A number for each fingerprint, no two the same, whose low half depends on all bits. The hash map multiplies by an odd
/// number and goes by high bits of the product: numbers that differed in the highest bits alone would all meet there.
fn folded(fingerprint: Fingerprint) -> u64 {
    let value = fingerprint.get();
    value ^ (value >> 32)
}

/// What was stored of keys by and by: of each key what was stored last, in the order in which the keys came.
pub(crate) fn latest<V: Copy>(stored: impl IntoIterator<Item = (u64, V, Option<u128>)>) -> Vec<(u64, V, Option<u128>)> {
    let mut positions = FxHashMap::default();
    let mut entries: Vec<(u64, V, Option<u128>)> = Vec::new();
    for entry in stored {
        let next = entries.len();
        match *positions.entry(folded(Fingerprint::raw(entry.0))).or_insert(next) {
            position if position == next => entries.push(entry),
            position => entries[position] = entry,
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxBuildHasher;
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    /// Among 1024 keys, how many places of 2048 the hash map begins its search at.
    fn beginnings(keys: impl Iterator<Item = u64>) -> usize {
        keys.map(|key| FxBuildHasher.hash_one(key) & 2047).collect::<HashSet<_>>().len()
    }

    #[test]
    fn keys_that_are_plain_numbers_do_not_meet_in_one_place() {
        for shift in 0..=54 {
            let keys = || (0..1024u64).map(|number| number << shift);
            let folded = beginnings(keys().map(|key| folded(Fingerprint::raw(key))));
            // Scattered at random they would begin at 806 places; four of 1024 keys to a place are no harm, since a look is at
            // sixteen places at once.
            assert!(folded >= 256, "multiples of 2^{shift}: {folded} places");
        }
        // What folding is for.
        assert!(beginnings((0..1024).map(|number| number << 54)) <= 2);
    }

    #[test]
    fn folding_twice_gives_the_key() {
        for key in [0, 1, 1 << 31, 1 << 32, 0x0123_4567_89ab_cdef, 1 << 63, u64::MAX] {
            assert_eq!(folded(Fingerprint::raw(folded(Fingerprint::raw(key)))), key);
        }
    }
}
