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

/// Σ weight · sign · value over keys and rows, a polynomial for each row.
pub fn product_by_rows(rows: &[Polynomial], keys: &[[u64; 4]], weights: &[[f64; 4]], values: &[f64]) -> f64 {
    let mut product = 0.0;
    for (row, value) in rows.iter().zip(values) {
        let mut sum = 0.0;
        for (&keys, weights) in keys.iter().zip(weights) {
            sum += row.at(keys).into_iter().zip(weights).map(|(word, weight)| sign(word) as f64 * weight).sum::<f64>();
        }
        product += sum * value;
    }
    product
}

/// Σ weight · sign · value over keys and rows, a polynomial for each 61 rows: every bit is a sign.
pub fn product_by_blocks(blocks: &[Polynomial], keys: &[[u64; 4]], weights: &[[f64; 4]], values: &[f64]) -> f64 {
    let mut product = 0.0;
    for (&keys, weights) in keys.iter().zip(weights) {
        let mut sums = [0.0; 4];
        for (block, values) in blocks.iter().zip(values.chunks(61)) {
            for (sum, word) in sums.iter_mut().zip(block.at(keys)) {
                *sum += (0..).zip(values).map(|(bit, value)| sign(word >> bit) as f64 * value).sum::<f64>();
            }
        }
        product += sums.iter().zip(weights).map(|(sum, weight)| sum * weight).sum::<f64>();
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_give_each_bit_to_a_row() {
        let blocks = [Polynomial::new([3, 5]), Polynomial::new([1, 1])];
        let keys = [[1, 2, 3, 4]];
        let values: Vec<f64> = (0..100).map(|row| f64::from(1 << (row % 30))).collect();
        let mut expected = 0.0;
        for (row, value) in values.iter().enumerate() {
            let words = blocks[row / 61].at(keys[0]);
            expected += words.map(|word| sign(word >> (row % 61)) as f64).iter().sum::<f64>() * value;
        }
        assert_eq!(product_by_blocks(&blocks, &keys, &[[1.0; 4]], &values), expected);
        let rows = [0, 1, 2].map(|constant| Polynomial::new([constant, 2]));
        // Twice a key is even: the signs are those of the constants.
        assert_eq!(product_by_rows(&rows, &keys, &[[1.0, 1.0, 1.0, 0.5]], &[1.0, 10.0, 100.0]), 3.5 * 91.0);
    }

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
