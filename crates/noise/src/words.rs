//! How noise consumes a generator: one 64-bit word after the other, in order, whether singly or in batches.

use rand::Rng;

/// Words drawn at once by a batch.
pub(crate) const BLOCK: usize = 256;

/// Fills `words` exactly as `next_u64` would, word by word.
///
/// True of every generator whose `fill_bytes` gives the little-endian bytes of `next_u64`: the block generators
/// (ChaCha, and so `StdRng` and `rand::rng()`) and xoshiro among them. With one for which it is not, batches have the
/// same law as single draws but not the same values.
pub(crate) fn fill_words<R: Rng + ?Sized>(words: &mut [u64], rng: &mut R) {
    let mut bytes = [0u8; 8 * BLOCK];
    let bytes = &mut bytes[..8 * words.len()];
    rng.fill_bytes(bytes);
    for (word, chunk) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*chunk);
    }
}
