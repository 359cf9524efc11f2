//! Signs as one would write them without a thought for speed: what the kernels of `tamis-projection` are compared with.
//!
//! Every row has a polynomial of its own over GF(2⁶¹ − 1), whose lowest bit at a key is the sign.

/// 2⁶¹ − 1, a prime.
const MODULUS: u64 = (1 << 61) - 1;

/// A polynomial over GF(2⁶¹ − 1), the constant first.
#[derive(Clone)]
pub struct Polynomial(Vec<u64>);

impl Polynomial {
    /// Of any words, each taken modulo 2⁶¹ − 1.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(coefficients: impl IntoIterator<Item = u64>) -> Self {
        let coefficients: Vec<u64> = coefficients.into_iter().map(|word| word % MODULUS).collect();
        assert!(!coefficients.is_empty(), "a polynomial needs a coefficient");
        Self(coefficients)
    }

    /// At four keys, by Horner's rule; side by side, since one multiplication waits for the one before.
    #[inline]
    pub fn at(&self, keys: [u64; 4]) -> [u64; 4] {
        self.0.iter().rev().fold([0; 4], |values, &coefficient| {
            std::array::from_fn(|i| {
                // Two numbers below 2⁶¹, so the product is below 2¹²², and its two parts add up to less than 2⁶².
                let product = u128::from(values[i]) * u128::from(keys[i]) + u128::from(coefficient);
                let sum = (product as u64 & MODULUS) + (product >> 61) as u64;
                if sum >= MODULUS { sum - MODULUS } else { sum }
            })
        })
    }
}

/// ±1.
fn sign(value: u64) -> i64 {
    1 - 2 * (value & 1) as i64
}

/// Dense signs: adds Σ weight · sign of each key to the row of each polynomial.
pub fn add_dense(rows: &[Polynomial], keys: &[[u64; 4]], weights: &[[i64; 4]], counters: &mut [i64]) {
    for (row, counter) in rows.iter().zip(counters) {
        for (&keys, weights) in keys.iter().zip(weights) {
            *counter += row.at(keys).into_iter().zip(weights).map(|(value, weight)| weight * sign(value)).sum::<i64>();
        }
    }
}

/// Sparse signs: two polynomials for each block of rows, one for the position and one for the sign.
///
/// # Panics
/// If a block has no rows.
pub fn add_sparse(blocks: &[[Polynomial; 2]], keys: &[[u64; 4]], counters: &mut [i64]) {
    let rows = counters.len() / blocks.len();
    for &keys in keys {
        for ([position, signs], counters) in blocks.iter().zip(counters.chunks_mut(rows)) {
            for (position, value) in position.at(keys).into_iter().zip(signs.at(keys)) {
                counters[position as usize % rows] += sign(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_polynomial() {
        let polynomial = Polynomial::new([5, u64::MAX, 3]);
        let slow = |key: u64| {
            let (key, modulus) = (u128::from(key), u128::from(MODULUS));
            ((5 + u128::from(u64::MAX) % modulus * key % modulus + 3 * (key * key % modulus)) % modulus) as u64
        };
        let keys = [0, 1, 12_345_678_901, MODULUS - 1];
        assert_eq!(polynomial.at(keys), keys.map(slow));
    }
}
