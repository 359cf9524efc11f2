//! The sign families of the projection release, read off their definition, one bit and one row at a time.
//!
//! A matrix has a column for each 64-bit key. The bits of a key's words p_0(x), p_1(x), … say where its column has
//! entries, and with which sign; the p_k are polynomials over GF(2⁶⁴) = GF(2)\[z\]/(z⁶⁴ + z⁴ + z³ + z + 1) whose
//! coefficients are the key stream of ChaCha20, in its original form: a 64-bit counter from 0, and a stream number as
//! 64-bit nonce (Bernstein 2008). The rounds are RFC 8439's, section 2; its 32-bit counter and 96-bit nonce are the same
//! four words of state, so its test vectors are vectors here.
//!
//! Nothing is stored but the coefficients and nothing is shared between keys: a column costs r products of 64 steps for
//! every polynomial, a sketch that for every key.
//!
//! [`Slip`] lists the ways to get a family wrong that a comparison must notice.
//!
//! | definition | here |
//! | ---------- | ---- |
//! | T | `width` |
//! | s | `nonzeros` |
//! | r | `independence` |

use dashu_ratio::RBig;

/// Which entries of a column are not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// All of them: row 64k + j is −1 if bit j of p_k(x) is set, else +1.
    Dense,
    /// One in each of so many blocks of rows.
    Sparse {
        /// s.
        nonzeros: usize,
    },
}

/// A family that is not the one defined: what an implementation may get wrong without looking wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// The sign is the highest bit of the position, and not a bit of its own. Sparse signs, blocks of 2 rows or more.
    SignSharesABit,
    /// Every block reads its word from the lowest bit on, so blocks of one word have the same entries. Sparse signs, 2
    /// blocks or more.
    BlocksShareBits,
    /// p(0) = c_0: without the products of pairs. r ≥ 3.
    ConstantWithoutPairs,
    /// The pairs are c_2·c_3, c_4·c_5, …: later by one. r ≥ 3.
    PairsFromTwo,
    /// c_0 of all polynomials first, then c_1 of all. 2 polynomials or more.
    CoefficientsInterleaved,
    /// The words of the key stream are read with their first byte highest.
    BigEndianWords,
    /// Sparse signs from the stream of dense ones.
    OneStreamForBoth,
    /// Modulo z⁶⁴ + z⁴ + z³ + 1, which gives no field: it is divisible by z + 1. r ≥ 3, or keys other than 0 and 1.
    OtherModulus,
}

impl Slip {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::SignSharesABit,
        Self::BlocksShareBits,
        Self::ConstantWithoutPairs,
        Self::PairsFromTwo,
        Self::CoefficientsInterleaved,
        Self::BigEndianWords,
        Self::OneStreamForBoth,
        Self::OtherModulus,
    ];
}

/// A matrix of signs.
///
/// ```
/// use tamis_oracle::sign_family::{SignFamily, Signs};
/// let family = SignFamily::new(Signs::Sparse { nonzeros: 2 }, 128, 4, [7; 32]);
/// let column = family.column(42);
/// let blocks = [&column[..64], &column[64..]];
/// assert!(blocks.iter().all(|rows| rows.iter().map(|entry| entry.abs()).sum::<i64>() == 1)); // one entry in each
/// assert_eq!(family.sketch(&[(42, 3)]), column.iter().map(|entry| 3 * entry).collect::<Vec<_>>());
/// ```
#[derive(Clone, Debug)]
pub struct SignFamily {
    signs: Signs,
    width: usize,
    slip: Option<Slip>,
    /// Of one polynomial after the other, c_0 first.
    coefficients: Vec<Vec<u64>>,
}

impl SignFamily {
    /// The family of `width` rows and this `independence`, from a seed.
    ///
    /// # Panics
    /// If there are no coefficients, rows or blocks, if a dense width is no positive multiple of 64, or if the rows are not
    /// `nonzeros` times a power of two.
    pub fn new(signs: Signs, width: usize, independence: usize, seed: [u8; 32]) -> Self {
        Self::build(signs, width, independence, seed, None)
    }

    /// The same but for one slip.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn wrong(signs: Signs, width: usize, independence: usize, seed: [u8; 32], slip: Slip) -> Self {
        Self::build(signs, width, independence, seed, Some(slip))
    }

    fn build(signs: Signs, width: usize, independence: usize, seed: [u8; 32], slip: Option<Slip>) -> Self {
        assert!(independence > 0 && width > 0, "a family has coefficients and rows");
        let fits = match signs {
            Signs::Dense => width.is_multiple_of(64),
            Signs::Sparse { nonzeros: 0 } => false,
            Signs::Sparse { nonzeros } => width.is_multiple_of(nonzeros) && (width / nonzeros).is_power_of_two(),
        };
        assert!(fits, "{signs:?} signs do not have {width} rows");
        let mut family = Self { signs, width, slip, coefficients: Vec::new() };
        let polynomials = family.polynomials();
        let coefficient = |polynomial: usize, power: usize| {
            let index = match slip {
                Some(Slip::CoefficientsInterleaved) => power * polynomials + polynomial,
                _ => polynomial * independence + power,
            };
            let word = key_stream_word(&seed, family.stream(), index);
            if slip == Some(Slip::BigEndianWords) { word.swap_bytes() } else { word }
        };
        family.coefficients = (0..polynomials)
            .map(|polynomial| (0..independence).map(|power| coefficient(polynomial, power)).collect())
            .collect();
        family
    }

    fn polynomials(&self) -> usize {
        match self.signs {
            Signs::Dense => self.width / 64,
            Signs::Sparse { nonzeros } => nonzeros.div_ceil(self.blocks_a_word()),
        }
    }

    fn stream(&self) -> u64 {
        match (self.signs, self.slip) {
            (Signs::Dense, _) | (_, Some(Slip::OneStreamForBoth)) => 0x0101,
            (Signs::Sparse { .. }, _) => 0x0102,
        }
    }

    /// T/s = 2ᵇ, for sparse signs.
    fn rows_a_block(&self) -> usize {
        match self.signs {
            Signs::Dense => unreachable!("dense signs have no blocks"),
            Signs::Sparse { nonzeros } => self.width / nonzeros,
        }
    }

    /// How many bits of a word a block takes: b for the position, one for the sign.
    fn bits_a_block(&self) -> usize {
        self.rows_a_block().ilog2() as usize + 1
    }

    fn blocks_a_word(&self) -> usize {
        64 / self.bits_a_block()
    }

    fn multiply(&self, a: u64, b: u64) -> u64 {
        multiply_modulo(a, b, if self.slip == Some(Slip::OtherModulus) { 0b11001 } else { 0b11011 })
    }

    /// p_k(x) = c_0 + Σ_{i≥0} c_{2i+1}·c_{2i+2} + Σ_{j≥1} c_j·xʲ, pairs beyond r left out.
    fn word(&self, k: usize, key: u64) -> u64 {
        let c = &self.coefficients[k];
        let mut sum = c[0];
        let first = match self.slip {
            Some(Slip::ConstantWithoutPairs) => c.len(),
            Some(Slip::PairsFromTwo) => 2,
            _ => 1,
        };
        for odd in (first..c.len()).step_by(2) {
            if odd + 1 < c.len() {
                sum ^= self.multiply(c[odd], c[odd + 1]);
            }
        }
        let mut power = 1;
        for &coefficient in &c[1..] {
            power = self.multiply(power, key);
            sum ^= self.multiply(coefficient, power);
        }
        sum
    }

    /// All entries of a column, −1, 0 or 1, one for each row.
    pub fn column(&self, key: u64) -> Vec<i64> {
        let mut column = vec![0; self.width];
        for (row, sign) in self.nonzero_entries(key) {
            column[row] = sign;
        }
        column
    }

    /// The rows of a column that are not 0, with their signs, by row.
    pub fn nonzero_entries(&self, key: u64) -> Vec<(usize, i64)> {
        match self.signs {
            Signs::Dense => {
                let words: Vec<u64> = (0..self.width / 64).map(|k| self.word(k, key)).collect();
                (0..self.width).map(|row| (row, sign(words[row / 64], row % 64))).collect()
            }
            Signs::Sparse { nonzeros } => (0..nonzeros)
                .map(|block| {
                    let (position, sign) = self.entry(block, key);
                    (block * self.rows_a_block() + position, sign)
                })
                .collect(),
        }
    }

    /// Where in a block the entry is, and its sign.
    fn entry(&self, block: usize, key: u64) -> (usize, i64) {
        let bits = self.bits_a_block();
        let word = self.word(block / self.blocks_a_word(), key);
        let first = match self.slip {
            Some(Slip::BlocksShareBits) => 0,
            _ => bits * (block % self.blocks_a_word()),
        };
        let mut position = 0;
        for bit in 0..bits - 1 {
            if word >> (first + bit) & 1 == 1 {
                position += 1 << bit;
            }
        }
        let highest = match self.slip {
            Some(Slip::SignSharesABit) if bits > 1 => first + bits - 2,
            _ => first + bits - 1,
        };
        (position, sign(word, highest))
    }

    /// Σ over the entries of weight · column, row by row.
    ///
    /// # Panics
    /// If a sum is beyond 63 bits.
    pub fn sketch(&self, entries: &[(u64, i64)]) -> Vec<i64> {
        let mut sums = vec![0_i128; self.width];
        for &(key, weight) in entries {
            for (sum, entry) in sums.iter_mut().zip(self.column(key)) {
                *sum += i128::from(weight) * i128::from(entry);
            }
        }
        sums.into_iter().map(|sum| i64::try_from(sum).expect("sums of at most 63 bits")).collect()
    }

    /// q̂ = (1/s)·Σ_u q(u)·Σ_j Y_j·(entry j of the column of u), exactly; dense: s = T.
    ///
    /// # Panics
    /// If there are not as many values Y as rows.
    pub fn estimate(&self, values: &[i64], query: &[(u64, RBig)]) -> RBig {
        assert_eq!(values.len(), self.width, "a value for each row");
        let nonzeros = match self.signs {
            Signs::Dense => self.width,
            Signs::Sparse { nonzeros } => nonzeros,
        };
        let mut sum = RBig::ZERO;
        for (key, weight) in query {
            let product: i128 =
                values.iter().zip(self.column(*key)).map(|(&value, entry)| i128::from(value) * i128::from(entry)).sum();
            sum += weight * RBig::from(product);
        }
        sum / RBig::from(nonzeros)
    }
}

/// −1 if this bit is set, else +1.
fn sign(word: u64, bit: usize) -> i64 {
    if word >> bit & 1 == 1 { -1 } else { 1 }
}

/// The product in GF(2⁶⁴) = GF(2)\[z\]/(z⁶⁴ + z⁴ + z³ + z + 1); bit i of a word is the coefficient of zⁱ.
///
/// ```
/// use tamis_oracle::sign_family::multiply;
/// assert_eq!(multiply(0b111, 0b11), 0b1001); // (z² + z + 1)(z + 1) = z³ + 1
/// assert_eq!(multiply(1 << 63, 0b10), 0b11011); // z⁶⁴ = z⁴ + z³ + z + 1
/// ```
pub fn multiply(a: u64, b: u64) -> u64 {
    multiply_modulo(a, b, 0b11011)
}

/// Modulo z⁶⁴ + `low`: the product as on paper, then a long division.
fn multiply_modulo(a: u64, b: u64, low: u64) -> u64 {
    let mut product = 0_u128;
    for i in 0..64 {
        if b >> i & 1 == 1 {
            product ^= u128::from(a) << i;
        }
    }
    let modulus = 1_u128 << 64 | u128::from(low);
    for degree in (64..128).rev() {
        if product >> degree & 1 == 1 {
            product ^= modulus << (degree - 64);
        }
    }
    u64::try_from(product).expect("a remainder of degree below 64")
}

/// The 64-bit word at `index` of the key stream: eight of its bytes, the first the lowest.
fn key_stream_word(key: &[u8; 32], nonce: u64, index: usize) -> u64 {
    let block = chacha20_block(key, (index / 8) as u64, nonce);
    let (low, high) = (block[index % 8 * 2], block[index % 8 * 2 + 1]);
    u64::from(high) << 32 | u64::from(low)
}

/// A block of the key stream of ChaCha20: 16 words, each to be written with its lowest byte first.
fn chacha20_block(key: &[u8; 32], counter: u64, nonce: u64) -> [u32; 16] {
    let mut start = [0; 16];
    start[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]); // "expand 32-byte k"
    for i in 0..8 {
        start[4 + i] = u32::from_le_bytes([key[4 * i], key[4 * i + 1], key[4 * i + 2], key[4 * i + 3]]);
    }
    (start[12], start[13]) = (counter as u32, (counter >> 32) as u32);
    (start[14], start[15]) = (nonce as u32, (nonce >> 32) as u32);
    let mut state = start;
    for _ in 0..10 {
        quarter_round(&mut state, 0, 4, 8, 12);
        quarter_round(&mut state, 1, 5, 9, 13);
        quarter_round(&mut state, 2, 6, 10, 14);
        quarter_round(&mut state, 3, 7, 11, 15);
        quarter_round(&mut state, 0, 5, 10, 15);
        quarter_round(&mut state, 1, 6, 11, 12);
        quarter_round(&mut state, 2, 7, 8, 13);
        quarter_round(&mut state, 3, 4, 9, 14);
    }
    for (word, start) in state.iter_mut().zip(start) {
        *word = word.wrapping_add(start);
    }
    state
}

fn quarter_round(state: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    for (rotated_d, rotated_b) in [(16, 12), (8, 7)] {
        state[a] = state[a].wrapping_add(state[b]);
        state[d] = (state[d] ^ state[a]).rotate_left(rotated_d);
        state[c] = state[c].wrapping_add(state[d]);
        state[b] = (state[b] ^ state[c]).rotate_left(rotated_b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 8439, 2.1.1.
    #[test]
    fn a_quarter_round_is_the_rfcs() {
        let mut state = [0; 16];
        state[..4].copy_from_slice(&[0x1111_1111, 0x0102_0304, 0x9b8d_6f43, 0x0123_4567]);
        quarter_round(&mut state, 0, 1, 2, 3);
        assert_eq!(state[..4], [0xea2a_92f4, 0xcb1c_f8ce, 0x4581_472e, 0x5881_c4bb]);
    }

    /// RFC 8439, 2.3.2: its counter 1 and its nonce 00 00 00 09 00 00 00 4a 00 00 00 00 in the same words of state.
    #[test]
    fn a_block_is_the_rfcs() {
        let key = std::array::from_fn(|i| i as u8);
        let expected = [
            [0xe4e7_f110, 0x1559_3bd1, 0x1fdd_0f50, 0xc471_20a3],
            [0xc7f4_d1c7, 0x0368_c033, 0x9aaa_2204, 0x4e6c_d4c3],
            [0x4664_82d2, 0x09aa_9f07, 0x05d7_c214, 0xa202_8bd9],
            [0xd19c_12b5, 0xb94e_16de, 0xe883_d0cb, 0x4e3c_50a2],
        ];
        assert_eq!(chacha20_block(&key, 0x0900_0000_0000_0001, 0x4a00_0000), expected.as_flattened());
    }

    /// RFC 8439, A.1, test vector 1: the key stream begins 76 b8 e0 ad a0 f1 3d 90 40 5d 6a e5 53 86 bd 28.
    #[test]
    fn the_key_stream_is_read_with_the_first_byte_lowest() {
        assert_eq!(key_stream_word(&[0; 32], 0, 0), 0x903d_f1a0_ade0_b876);
        assert_eq!(key_stream_word(&[0; 32], 0, 1), 0x28bd_8653_e56a_5d40);
    }

    fn words() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0_u64..4, (0_u32..64).prop_map(|bit| 1 << bit), Just(u64::MAX)]
    }

    proptest! {
        #[test]
        fn words_are_a_field(a in words(), b in words(), c in words()) {
            prop_assert_eq!(multiply(a, b), multiply(b, a));
            prop_assert_eq!(multiply(a, multiply(b, c)), multiply(multiply(a, b), c));
            prop_assert_eq!(multiply(a, b ^ c), multiply(a, b) ^ multiply(a, c));
            prop_assert_eq!(multiply(a, 1), a);
            // a^(2⁶⁴ − 2): what is not 0 has an inverse.
            let (mut inverse, mut square) = (1, a);
            for _ in 1..64 {
                square = multiply(square, square);
                inverse = multiply(inverse, square);
            }
            prop_assert_eq!(multiply(a, inverse), u64::from(a != 0));
        }
    }

    /// Over a subspace of keys the words of r = 2 add up to 0, and those of r = 4 do not.
    #[test]
    fn words_are_those_of_a_polynomial_of_degree_below_r() {
        for (independence, dependent) in [(2, true), (3, true), (4, false)] {
            let family = SignFamily::new(Signs::Dense, 64, independence, [1; 32]);
            let sum = [5, 9, 70, 5 ^ 9 ^ 70].into_iter().fold(0, |sum, key| sum ^ family.word(0, key));
            assert_eq!(sum == 0, dependent, "r = {independence}");
        }
    }

    #[test]
    fn an_estimate_of_one_key_from_its_own_column_is_its_count() {
        for (signs, width) in [(Signs::Dense, 128), (Signs::Sparse { nonzeros: 3 }, 192)] {
            let family = SignFamily::new(signs, width, 4, [2; 32]);
            let half = RBig::from_parts(1.into(), 2_u8.into());
            assert_eq!(
                family.estimate(&family.sketch(&[(9, 5)]), &[(9, half)]),
                RBig::from_parts(5.into(), 2_u8.into())
            );
        }
    }
}
