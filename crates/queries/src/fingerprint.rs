//! 64-bit names of elements, under a public key.
//!
//! # What it is
//! [`FingerprintKey::fingerprint`] is SipHash-2-4 of the [encoding](crate::element), with a 128-bit key and a 64-bit
//! result: a named algorithm that gives the same bits on every machine and in every version. From there on an element
//! *is* its fingerprint, so a universe of long texts costs no more than one of numbers.
//!
//! The key is drawn once for each release, before the data is read, and published with it: whoever asks must be able to
//! name keys as the release did. It is no secret of a release, and its only task is to be independent of the data.
//!
//! # Two keys with one fingerprint
//! count as one key. That never weakens privacy, since a record still moves one count by one, but makes queries that
//! name either of them wrong. [`FingerprintKey::collision_bound`] says how likely it is among N keys: N²/2⁶⁵, under the
//! usual assumption (not a theorem) that SipHash with a random key is indistinguishable from a random function.
//!
//! # Limitations
//! Once the key is public, 2³² work finds two keys that collide. So whoever *writes* rows after that can spoil the
//! answers about rows of their own; use a fresh key for each release.
//!
//! # References
//! - J.-P. Aumasson, D. J. Bernstein, *SipHash: a fast short-input PRF*, INDOCRYPT 2012.

use crate::Element;
use siphasher::sip::SipHasher24;

/// An element as 64 bits, under some [`FingerprintKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Takes `value` as it is, without a key: for experiments whose keys are 64-bit numbers already, structured ones
    /// included.
    pub fn raw(value: u64) -> Self {
        Self(value)
    }

    /// The 64 bits.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// The public key of the fingerprints of one release.
///
/// ```
/// use tamis_queries::{Element, FingerprintKey};
/// let key = FingerprintKey::new(std::array::from_fn(|i| i as u8)); // 00 01 … 0f, for show
/// let ann = Element::bytes(b"ann@example.org");
/// assert_eq!(key.fingerprint(&ann).get(), 0xc4f1_4415_e40e_8acb);
/// assert_ne!(FingerprintKey::new([0; 16]).fingerprint(&ann), key.fingerprint(&ann));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FingerprintKey([u8; 16]);

impl FingerprintKey {
    /// The key with these bytes. Draw them from the operating system, before any data is read.
    pub fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes, to be published with the release.
    pub fn bytes(&self) -> [u8; 16] {
        self.0
    }

    /// The fingerprint of `element`. Cost: tens of nanoseconds, then less than one a byte.
    pub fn fingerprint(&self, element: &Element) -> Fingerprint {
        Fingerprint(SipHasher24::new_with_key(&self.0).hash(element.encoding()))
    }

    /// An upper bound on the probability, over the key, that any two of `elements` different elements collide:
    /// N(N−1)/2 pairs of 2⁻⁶⁴ each, at most 1. N counts the keys of the data *and* of all queries. Add it to β, the
    /// failure probability of an accuracy bound.
    ///
    /// ```
    /// use tamis_queries::FingerprintKey;
    /// let million = FingerprintKey::collision_bound(1_000_000);
    /// assert!(2.7e-8 < million && million < 2.8e-8);
    /// assert_eq!(FingerprintKey::collision_bound(1), 0.0);
    /// assert_eq!(FingerprintKey::collision_bound(u64::MAX), 1.0);
    /// ```
    pub fn collision_bound(elements: u64) -> f64 {
        let pairs = u128::from(elements) * u128::from(elements.saturating_sub(1)) / 2;
        // The next number up makes good what rounding to an f64 can have taken away; dividing by 2^64 is exact.
        ((pairs as f64).next_up() / 2f64.powi(64)).min(1.0)
    }
}
