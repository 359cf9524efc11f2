//! What was answered: the same question gets the same answer, at no cost.

use crate::Query;
use crate::data::UNIT;
use crate::mechanism::Source;
use crate::plan::records;
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::collections::HashMap;
use std::hash::Hasher;

/// One answer, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Of the query.
    pub(crate) digest: u128,
    /// In units of 2⁻²⁰ records.
    pub(crate) units: i64,
    pub(crate) source: Source,
    /// In units.
    pub(crate) bound: Option<u64>,
}

impl Entry {
    /// The answer, in records.
    pub fn value(&self) -> f64 {
        self.units as f64 / UNIT as f64
    }

    /// Where it was from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Its bound, in records: see [`Answer::bound`](crate::Answer::bound).
    pub fn bound(&self) -> Option<f64> {
        self.bound.map(records)
    }
}

/// All answers, in order, and found by the query.
///
/// Queries are told apart by 128 bits of SipHash-2-4 under a key that nobody outside knows: two different ones of k are
/// taken for the same with a probability of about k²/2¹²⁹, and nobody can seek them.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    key: [u8; 16],
    entries: Vec<Entry>,
    positions: HashMap<u128, usize>,
}

impl Transcript {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self { key, entries: Vec::new(), positions: HashMap::new() }
    }

    pub(crate) fn key(&self) -> [u8; 16] {
        self.key
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn find(&self, digest: u128) -> Option<Entry> {
        self.positions.get(&digest).map(|&position| self.entries[position])
    }

    /// Whether it was not there.
    pub(crate) fn push(&mut self, entry: Entry) -> bool {
        let is_new = self.positions.insert(entry.digest, self.entries.len()).is_none();
        self.entries.push(entry);
        is_new
    }

    /// Equal for equal lists, and for equal conjunctions. Cost: O(m) for a list.
    pub(crate) fn digest(&self, query: &Query) -> u128 {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        if let Some(list) = query.as_keys() {
            // Rounded ones have other bounds.
            hasher.write(&[0, list.is_rounded().into()]);
            for &(fingerprint, units) in list.entries() {
                hasher.write(&fingerprint.get().to_le_bytes());
                hasher.write(&units.to_le_bytes());
            }
        }
        if let Some(conjunction) = query.as_conjunction() {
            hasher.write(&[1]);
            hasher.write(&conjunction.width().to_le_bytes());
            hasher.write(&conjunction.ones().to_le_bytes());
            hasher.write(&conjunction.zeros().to_le_bytes());
        }
        hasher.finish128().as_u128()
    }
}
