//! How noise consumes a generator: one 64-bit word after the other, in order, whether singly or in batches.

use rand::Rng;

/// Words drawn at once by a batch.
pub(crate) const BLOCK: usize = 256;

/// Words as the generator writes them: little-endian bytes, read in place.
pub(crate) type WordBytes = [u8; 8];

/// Fills `words` exactly as `next_u64` would, word by word.
///
/// True of every generator whose `fill_bytes` gives the little-endian bytes of `next_u64`: the block generators
/// (ChaCha, and so `StdRng` and `rand::rng()`) and xoshiro among them. With one for which it is not, batches have the
/// same law as single draws but not the same values.
pub(crate) fn fill_words<R: Rng + ?Sized>(words: &mut [WordBytes], rng: &mut R) {
    rng.fill_bytes(words.as_flattened_mut());
}
