//! The inner loops, for the instructions this machine has: the only place in this crate with `unsafe`.
//!
//! | level | instructions | products |
//! | ----- | ------------ | -------- |
//! | portable | any machine's | from integer products |
//! | carry-less | PCLMULQDQ, AVX2 | one at a time |
//! | wide | VPCLMULQDQ, AVX-512 | four at a time |
//!
//! All levels give the same bits. But for the wide products the source is the same for all, compiled once for each.

#![allow(unsafe_code)]

use crate::gf64;
use crate::tally::{self, Digits, Lines};
use crate::words::{self, Elements, Line};
use std::ops::Range;

/// Instructions that this machine is known to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instructions(Level);

/// Private: whoever has an `Instructions` of some level got it where the level was detected.
#[derive(Clone, Copy, Debug)]
enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    CarryLess,
    #[cfg(target_arch = "x86_64")]
    Wide,
}

impl Instructions {
    /// The best.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn of_this_machine() -> Self {
        use std::is_x86_feature_detected as has;
        if !(has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("pclmulqdq")) {
            return Self(Level::Portable);
        }
        let wide = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") && has!("vpclmulqdq");
        Self(if wide { Level::Wide } else { Level::CarryLess })
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn of_this_machine() -> Self {
        Self(Level::Portable)
    }

    /// All that can be run here, the portable ones first.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        let levels: &[Level] = match Self::of_this_machine().0 {
            Level::Portable => &[Level::Portable],
            #[cfg(target_arch = "x86_64")]
            Level::CarryLess => &[Level::Portable, Level::CarryLess],
            #[cfg(target_arch = "x86_64")]
            Level::Wide => &[Level::Portable, Level::CarryLess, Level::Wide],
        };
        levels.iter().copied().map(Self).collect()
    }
}

/// A method for each: its portable body, and what to run at the other levels.
macro_rules! at_each_level {
    ($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) { $portable:expr, $carry_less:expr, $wide:expr $(,)? }) => {
        impl Instructions {
            $(#[$attribute])*
            pub(crate) fn $name(self, $($argument: $type),*) {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,pclmulqdq")]
                fn carry_less($($argument: $type),*) {
                    $carry_less
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(
                    enable = "avx2,bmi1,bmi2,lzcnt,pclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,vpclmulqdq"
                )]
                fn wide($($argument: $type),*) {
                    $wide
                }
                match self.0 {
                    Level::Portable => $portable,
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: this level is only made where all features enabled for `carry_less` were detected.
                    Level::CarryLess => unsafe { carry_less($($argument),*) },
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: this level is only made where all features enabled for `wide` were detected.
                    Level::Wide => unsafe { wide($($argument),*) },
                }
            }
        }
    };
}

at_each_level! {
    /// The terms of keys, see [`words::powers`].
    fn powers(even: bool, keys: &[u64], halves: &mut [Line]) {
        words::powers(even, keys, halves, gf64::product),
        words::powers(even, keys, halves, |a, b| x86::product(a, b)),
        x86::powers(even, keys, halves),
    }
}

at_each_level! {
    /// Words, see [`words::words`].
    fn words(side: &Elements, eights: Range<usize>, others: &Elements, lines: &mut [Line]) {
        words::words(side, eights, others, lines, gf64::product),
        words::words(side, eights, others, lines, |a, b| x86::product(a, b)),
        x86::words(side, eights, others, lines),
    }
}

at_each_level! {
    /// See [`tally::add`].
    fn add(lines: &Lines, digits: &Digits, planes: &mut [Line]) {
        tally::add(lines, digits, planes, tally::full_add),
        tally::add(lines, digits, planes, tally::full_add),
        tally::add(lines, digits, planes, |a, b, c| x86::full_add(a, b, c)),
    }
}

at_each_level! {
    /// See [`tally::finish`].
    fn finish(planes: &[Line], total: i64, counters: &mut [i64]) {
        tally::finish(planes, total, counters),
        tally::finish(planes, total, counters),
        tally::finish(planes, total, counters),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Elements, Line, Range};
    use crate::words::KEYS_AT_ONCE;
    use std::arch::x86_64::*;

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(super) fn product(a: u64, b: u64) -> u128 {
        let product = _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(a as i64), _mm_cvtsi64_si128(b as i64));
        let (low, high) = (_mm_cvtsi128_si64(product) as u64, _mm_extract_epi64::<1>(product) as u64);
        u128::from(high) << 64 | u128::from(low)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(line: &Line) -> __m512i {
        // SAFETY: a `Line` is 64 bytes, aligned to 64.
        unsafe { _mm512_load_si512((&raw const *line).cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(line: &mut Line, value: __m512i) {
        // SAFETY: a `Line` is 64 bytes, aligned to 64.
        unsafe { _mm512_store_si512((&raw mut *line).cast(), value) }
    }

    /// One term of one element, four times.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn broadcast(line: &Line, lane: usize) -> __m512i {
        let term = &line.0.as_chunks::<2>().0[lane];
        // SAFETY: two words are 16 bytes; this load needs no alignment.
        _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128((&raw const *term).cast()) })
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn full_add(a: Line, b: Line, c: Line) -> (Line, Line) {
        let (a, b, c) = (load(&a), load(&b), load(&c));
        let (mut sum, mut carry) = (Line::ZERO, Line::ZERO);
        store(&mut sum, xor3(a, b, c));
        store(&mut carry, _mm512_ternarylogic_epi64::<0xe8>(a, b, c));
        (sum, carry)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        _mm512_ternarylogic_epi64::<0x96>(a, b, c)
    }

    /// In each lane the product of its two words.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn product_of_halves(a: __m512i) -> __m512i {
        _mm512_clmulepi64_epi128::<0x10>(a, a)
    }

    /// In each lane the high word times z⁶⁴ = z⁴ + z³ + z + 1.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn fold(a: __m512i) -> __m512i {
        _mm512_clmulepi64_epi128::<0x01>(a, _mm512_set1_epi64(0b11011))
    }

    /// In each lane the remainder, in the low word; the high one is left over.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn reduce(a: __m512i) -> __m512i {
        let folded = fold(a);
        xor3(a, folded, fold(folded))
    }

    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn multiply(a: __m512i, b: __m512i) -> __m512i {
        reduce(_mm512_clmulepi64_epi128::<0x00>(a, b))
    }

    /// The remainders of two times four polynomials: those of `even` and `odd` in turns.
    ///
    /// Folding once leaves at most four bits beyond the word, of which a table has the rest.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
    fn reduce_both(even: __m512i, odd: __m512i) -> __m512i {
        /// v·(z⁴ + z³ + z + 1) for v of four bits; a shuffle of bytes needs it in each lane.
        const TABLE: Line = {
            let mut bytes = [0; 16];
            let mut v = 0;
            while v < 16 {
                bytes[v as usize] = v ^ (v << 1) ^ (v << 3) ^ (v << 4);
                v += 1;
            }
            let table = u128::from_le_bytes(bytes);
            let (low, high) = (table as u64, (table >> 64) as u64);
            Line([low, high, low, high, low, high, low, high])
        };
        let (folded_even, folded_odd) = (fold(even), fold(odd));
        let low = _mm512_unpacklo_epi64(_mm512_xor_si512(even, folded_even), _mm512_xor_si512(odd, folded_odd));
        let over = _mm512_unpackhi_epi64(folded_even, folded_odd);
        _mm512_xor_si512(low, _mm512_shuffle_epi8(load(&TABLE), over))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,vpclmulqdq")]
    pub(super) fn powers(even: bool, keys: &[u64], halves: &mut [Line]) {
        const HALVES: usize = KEYS_AT_ONCE / 4;
        let terms = halves.len() / HALVES;
        let mut eights = [Line::ZERO; KEYS_AT_ONCE / 8];
        for (eight, keys) in eights.iter_mut().zip(keys.chunks(8)) {
            eight.0[..keys.len()].copy_from_slice(keys);
        }
        // The even ones or the odd ones of eight keys, each in the low word of a lane.
        let keys: [__m512i; HALVES] = std::array::from_fn(|half| {
            let eight = load(&eights[half / 2]);
            if half % 2 == 0 { eight } else { _mm512_unpackhi_epi64(eight, eight) }
        });
        let squares = keys.map(|key| multiply(key, key));
        let (mut odd_powers, mut even_powers, mut excess) = (keys, squares, [_mm512_setzero_si512(); HALVES]);
        for term in 1..terms {
            let last = even && term == terms - 1;
            for half in 0..HALVES {
                let power = if last {
                    _mm512_maskz_mov_epi64(LOW, odd_powers[half])
                } else {
                    _mm512_unpacklo_epi64(even_powers[half], odd_powers[half])
                };
                store(&mut halves[half * terms + term], power);
                excess[half] = _mm512_xor_si512(excess[half], product_of_halves(power));
                if term + 1 < terms {
                    odd_powers[half] = multiply(odd_powers[half], squares[half]);
                    even_powers[half] = multiply(even_powers[half], squares[half]);
                }
            }
        }
        for (half, &excess) in excess.iter().enumerate() {
            store(&mut halves[half * terms], _mm512_maskz_mov_epi64(LOW, reduce(excess)));
        }
    }

    /// The low word of each lane.
    const LOW: __mmask8 = 0b0101_0101;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,vpclmulqdq")]
    pub(super) fn words(side: &Elements, eights: Range<usize>, others: &Elements, lines: &mut [Line]) {
        const FEW: usize = 4;
        for (eight, lines) in eights.zip(lines.chunks_exact_mut(others.number())) {
            let halves = [side.half(2 * eight), side.half(2 * eight + 1)];
            let (few, rest) = lines.as_chunks_mut::<FEW>();
            for (i, lines) in few.iter_mut().enumerate() {
                words_of::<FEW>(halves, others, FEW * i, lines);
            }
            let first = FEW * few.len();
            for (i, line) in rest.iter_mut().enumerate() {
                words_of::<1>(halves, others, first + i, std::array::from_mut(line));
            }
        }
    }

    /// The words of `N` others from `first` on: together, so that the terms of the halves are loaded once for all.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,vpclmulqdq")]
    fn words_of<const N: usize>(halves: [&[Line]; 2], others: &Elements, first: usize, words: &mut [Line; N]) {
        let places: [(&[Line], usize); N] = std::array::from_fn(|i| {
            let (half, lane) = Elements::place(first + i);
            (others.half(half), lane)
        });
        let both = |term: usize, half: usize, (other, lane): (&[Line], usize)| {
            _mm512_xor_si512(load(&halves[half][term]), broadcast(&other[term], lane))
        };
        // Additions compete with products for the same units, so two products are added at once.
        let mut sums = [[_mm512_setzero_si512(); 2]; N];
        for (sums, place) in sums.iter_mut().zip(places) {
            for (half, sum) in sums.iter_mut().enumerate() {
                let unmultiplied = load(&halves[half][0]);
                *sum = xor3(unmultiplied, broadcast(&place.0[0], place.1), product_of_halves(both(1, half, place)));
            }
        }
        let terms = halves[0].len();
        for term in (2..terms).step_by(2) {
            for (sums, place) in sums.iter_mut().zip(places) {
                for (half, sum) in sums.iter_mut().enumerate() {
                    let first = product_of_halves(both(term, half, place));
                    *sum = if term + 1 < terms {
                        xor3(*sum, first, product_of_halves(both(term + 1, half, place)))
                    } else {
                        _mm512_xor_si512(*sum, first)
                    };
                }
            }
        }
        for (word, [even, odd]) in words.iter_mut().zip(sums) {
            store(word, reduce_both(even, odd));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::tests::slow_word;
    use crate::tally::{NO_LINES, TILE};
    use chacha20::ChaCha8Rng;
    use rand::{Rng, SeedableRng};

    fn generator() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(1)
    }

    #[test]
    fn words_are_those_of_the_definition() {
        let mut rng = generator();
        for r in [2, 3, 4, 5, 6, 7, 8, 9, 17, 48, 256] {
            let corners = [0, 1, 2, 1 << 63, u64::MAX];
            let keys: Vec<u64> = (0..21).map(|i| corners.get(i).copied().unwrap_or_else(|| rng.next_u64())).collect();
            let coefficients: Vec<Vec<u64>> = (0..11)
                .map(|i| (0..r).map(|_| corners.get(i).copied().unwrap_or_else(|| rng.next_u64())).collect())
                .collect();
            let mut stream = coefficients.iter().flatten().copied();
            let polynomials = Elements::of_polynomials(r, coefficients.len(), || stream.next().unwrap());
            let expected = |key: usize, polynomial: usize| {
                let (key, polynomial) = (keys.get(key), coefficients.get(polynomial));
                key.zip(polynomial).map(|(&key, polynomial)| slow_word(polynomial, key))
            };
            for instructions in Instructions::all() {
                let elements = Elements::of_keys(instructions, r, &keys);
                for eights in [0..1, 1..2, 0..2] {
                    let mut lines = vec![Line::ZERO; keys.len() * eights.len()];
                    instructions.words(&polynomials, eights.clone(), &elements, &mut lines);
                    for (eight, lines) in eights.zip(lines.chunks(keys.len())) {
                        for (key, line) in lines.iter().enumerate() {
                            for (i, &word) in line.0.iter().enumerate() {
                                let expected = expected(key, 8 * eight + i).unwrap_or(word);
                                assert_eq!(word, expected, "{instructions:?}, r = {r}, key {key}, {i} of {eight}");
                            }
                        }
                    }
                }
                let mut lines = [Line::ZERO; 11];
                instructions.words(&elements, 1..2, &polynomials, &mut lines);
                for (polynomial, line) in lines.iter().enumerate() {
                    let expected: Vec<u64> = (8..16).map(|key| expected(key, polynomial).unwrap()).collect();
                    assert_eq!(line.0[..], expected, "{instructions:?}, r = {r}, polynomial {polynomial}");
                }
            }
        }
    }

    #[test]
    fn tallies_are_sums() {
        let mut rng = generator();
        let mut lines = NO_LINES;
        lines[..TILE].iter_mut().for_each(|line| *line = Line(std::array::from_fn(|_| rng.next_u64())));
        lines[7] = Line([u64::MAX; 8]);
        for number in [0, 1, 15, 16, 17, TILE - 1, TILE] {
            for shift in [0, 1, 9, 63, 64 - 40, 64 - 54] {
                let weights: Vec<i64> = (0..number)
                    .map(|_| if shift == 0 { 1 } else { (rng.next_u64() >> shift) as i64 & (i64::MAX >> 9) })
                    .collect();
                let total: i64 = weights.iter().sum();
                let planes = (64 - total.leading_zeros()) as usize;
                let expected: Vec<i64> = (0..512)
                    .map(|row| {
                        let signed = |(line, &weight): (&Line, &i64)| {
                            if line.0[row / 64] >> (row % 64) & 1 == 1 { -weight } else { weight }
                        };
                        5 + 3 * lines.iter().zip(&weights).map(signed).sum::<i64>()
                    })
                    .collect();
                for instructions in Instructions::all() {
                    // Thrice, to see sums carried on.
                    let mut counts = vec![Line::ZERO; planes + 2];
                    (0..3).for_each(|_| instructions.add(&lines, &Digits::of(&weights), &mut counts));
                    for rows in [64, 448, 512] {
                        let mut counters = vec![5; rows];
                        instructions.finish(&counts, 3 * total, &mut counters);
                        assert_eq!(counters, expected[..rows], "{instructions:?}, {number} keys, {shift}");
                    }
                }
            }
        }
    }
}
