//! The field GF(2⁶⁴) = GF(2)\[z\]/(z⁶⁴ + z⁴ + z³ + z + 1): bit i of a word is the coefficient of zⁱ, addition is XOR.

/// Every fourth bit.
const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
const EVERY_FOURTH_OF_A_PRODUCT: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;

/// The product of two polynomials over GF(2), not reduced: degree at most 126.
///
/// Integer products of words of which only every fourth bit may be set: a place of such a product is a sum of at most
/// 15 bits, so it does not reach the next place, and its lowest bit is the sum over GF(2). (Sixteen bits would; so the
/// top four bits of `b` are multiplied one by one.) Takes the same time for all operands.
pub(crate) fn product(a: u64, b: u64) -> u128 {
    let low = b & (u64::MAX >> 4);
    let x: [u64; 4] = std::array::from_fn(|lane| a & (EVERY_FOURTH << lane));
    let y: [u64; 4] = std::array::from_fn(|lane| low & (EVERY_FOURTH << lane));
    let mut sum = 0;
    for lane in 0..4 {
        let places = (0..4).fold(0, |places, i| places ^ (u128::from(x[i]) * u128::from(y[(lane + 4 - i) % 4])));
        sum |= places & (EVERY_FOURTH_OF_A_PRODUCT << lane);
    }
    for bit in 60..64 {
        sum ^= (u128::from(a) << bit) & u128::from(b >> bit & 1).wrapping_neg();
    }
    sum
}

/// The remainder of a polynomial of degree at most 126 modulo z⁶⁴ + z⁴ + z³ + z + 1.
pub(crate) fn reduce(polynomial: u128) -> u64 {
    let (low, high) = (polynomial as u64, (polynomial >> 64) as u64);
    // What high·(z⁴ + z³ + z + 1) has from z⁶⁴ on: at most four bits, which fold once more.
    let over = (high >> 63) ^ (high >> 61) ^ (high >> 60);
    low ^ fold(high) ^ fold(over)
}

/// The low word of `word`·(z⁴ + z³ + z + 1).
fn fold(word: u64) -> u64 {
    word ^ (word << 1) ^ (word << 3) ^ (word << 4)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn multiply(a: u64, b: u64) -> u64 {
        reduce(product(a, b))
    }

    /// Bit by bit, as one multiplies on paper.
    pub(crate) fn slow_multiply(mut a: u64, mut b: u64) -> u64 {
        let mut sum = 0;
        while b != 0 {
            if b & 1 == 1 {
                sum ^= a;
            }
            let carry = a >> 63 == 1;
            a <<= 1;
            if carry {
                a ^= 0b11011;
            }
            b >>= 1;
        }
        sum
    }

    fn slow_product(a: u64, b: u64) -> u128 {
        (0..64).filter(|i| b >> i & 1 == 1).fold(0, |sum, i| sum ^ (u128::from(a) << i))
    }

    #[test]
    fn corners() {
        let corners = [0, 1, 2, u64::MAX, 1 << 63, u64::MAX >> 4, 0xf << 60, EVERY_FOURTH, !EVERY_FOURTH];
        for a in corners {
            for b in corners {
                assert_eq!(product(a, b), slow_product(a, b), "{a:#x} {b:#x}");
                assert_eq!(multiply(a, b), slow_multiply(a, b), "{a:#x} {b:#x}");
            }
        }
        assert_eq!(multiply(1 << 63, 2), 0b11011); // z⁶⁴ = z⁴ + z³ + z + 1
    }

    /// The modulus is irreducible, or this would not be a field: z^(2⁶⁴) = z, and no subfield of GF(2³²) holds z.
    #[test]
    fn the_modulus_is_irreducible() {
        let mut power = 2;
        for squarings in 1..=64 {
            power = multiply(power, power);
            // 64 has the one prime factor 2, so coprimality of z^(2³²) − z with the modulus is all that is left to see:
            // it has an inverse, x^(2⁶⁴ − 2).
            if squarings == 32 {
                let difference = power ^ 2;
                let (mut inverse, mut square) = (1, difference);
                for _ in 1..64 {
                    square = multiply(square, square);
                    inverse = multiply(inverse, square);
                }
                assert_eq!(multiply(inverse, difference), 1);
            }
        }
        assert_eq!(power, 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn products_are_those_on_paper(a: u64, b: u64) {
            prop_assert_eq!(product(a, b), slow_product(a, b));
            prop_assert_eq!(multiply(a, b), slow_multiply(a, b));
        }

        #[test]
        fn any_polynomial_is_reduced(polynomial in 0u128..1 << 127) {
            // p = low + high·z⁶⁴, and z⁶⁴ is the word 0b11011.
            let (low, high) = (polynomial as u64, (polynomial >> 64) as u64);
            prop_assert_eq!(reduce(polynomial), low ^ slow_multiply(high, 0b11011));
        }
    }
}
