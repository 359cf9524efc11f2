//! Time and memory, to an order of magnitude.

/// What a mechanism takes beside reading the records: see [`plan`](super#effort) for what this rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Seconds before the first answer.
    pub once: f64,
    /// Seconds for an answer.
    pub each: f64,
    /// Bytes that answers are given from.
    pub bytes: f64,
}

const NANOSECOND: f64 = 1e-9;
/// A key in a table that no cache holds.
const LOOK_UP: f64 = 100.0;
/// An entry of a key's sparse signs.
const SPARSE_SIGN: f64 = 50.0;
/// 64 dense signs of a key.
const DENSE_SIGNS: f64 = 4.0;
/// A draw of noise.
const DRAW: f64 = 10.0;
/// An element of a dense vector.
const ELEMENT: f64 = 15.0;
/// A word of the generator, or a step of a walk through bits.
const STEP: f64 = 1.0;
/// A key and its number.
const ENTRY: f64 = 16.0;

impl Effort {
    fn new(once: f64, each: f64, bytes: f64) -> Self {
        Self { once: once * NANOSECOND, each: each * NANOSECOND, bytes }
    }

    /// Of lists of `support` keys, each answered from a table of so many keys, with noise on each of so many when it is made.
    pub(super) fn table(support: f64, keys: f64, noisy: f64) -> Self {
        Self::new(noisy * DRAW, support * LOOK_UP, keys * ENTRY)
    }

    /// From sparse signs with so many entries a key.
    pub(super) fn sparse_signs(support: f64, keys: f64, nonzeros: f64, rows: f64) -> Self {
        let key = nonzeros * SPARSE_SIGN;
        Self::new(keys * key + rows * DRAW, support * key, rows * 8.0)
    }

    /// From dense signs.
    pub(super) fn dense_signs(support: f64, keys: f64, rows: f64) -> Self {
        let key = rows / 64.0 * DENSE_SIGNS;
        Self::new(keys * key + rows * DRAW, support * key, rows * 8.0)
    }

    /// From ALP's bits, with so many levels in the data and in a key.
    pub(super) fn bits(support: f64, bits: f64, levels: f64, levels_of_key: f64) -> Self {
        Self::new((bits / 16.0 + levels * 10.0) * STEP, support * (LOOK_UP + (80.0 + levels_of_key) * STEP), bits / 8.0)
    }

    /// From weights on so many elements, all of them gone through.
    pub(super) fn dense_vector(elements: f64) -> Self {
        Self::new(elements * STEP, elements * ELEMENT, elements * ENTRY)
    }

    /// From counts on so many elements, made in so many steps.
    pub(super) fn searched(steps: f64, support: f64, elements: f64) -> Self {
        Self::new(steps * STEP, support * LOOK_UP, elements * ENTRY)
    }

    /// The data is looked at besides, for its answers of `support` keys.
    pub(super) fn beside_data(self, support: f64, keys: f64) -> Self {
        let data = Self::table(support, keys, 0.0);
        Self { once: self.once, each: self.each + data.each, bytes: self.bytes + data.bytes }
    }
}
