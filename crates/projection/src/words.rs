//! The words of many keys under many polynomials.
//!
//! With the powers of a key x and the coefficients c of a polynomial in pairs, its word is
//!
//! p(x) = Σ_{t≥1} (x²ᵗ + c_{2t−1})·(x²ᵗ⁻¹ + c_{2t}) + c_0 + Σ_{t≥1} x⁴ᵗ⁻¹
//!
//! (Winograd 1968), for even r with one term more, (x^(r−1) + 0)·(0 + c_{r−1}). Keys and polynomials play the same part: each
//! is a list of *terms*, two field elements each. Term 0 holds what is added unmultiplied, the others hold factors; two lists
//! are added term by term, the factors of each sum multiplied, and the products added up, which takes one reduction in all.
//!
//! # Layout
//! A cache line holds one term of four elements. Eight elements stand side by side in two halves, the even ones and the
//! odd ones: so the widest instructions multiply four pairs at once, and reducing two halves leaves the eight words in order.

use crate::gf64::reduce;
use crate::kernels::Instructions;

/// 512 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [u64; 8]);

impl Line {
    pub(crate) const ZERO: Self = Self([0; 8]);
}

/// Two eights: the powers of one wait for each other longer than it takes to compute them.
pub(crate) const KEYS_AT_ONCE: usize = 16;

/// Keys or polynomials, as terms.
pub(crate) struct Elements {
    number: usize,
    /// 1 + ⌊r/2⌋.
    terms: usize,
    /// `terms` for each half of an eight, and eights in pairs. Unused places are 0.
    lines: Vec<Line>,
}

impl Elements {
    /// Bytes a key takes.
    pub(crate) fn bytes(independence: u32) -> usize {
        16 * (1 + independence as usize / 2)
    }

    fn zeros(independence: u32, number: usize) -> Self {
        let terms = 1 + independence as usize / 2;
        Self { number, terms, lines: vec![Line::ZERO; number.div_ceil(KEYS_AT_ONCE) * (KEYS_AT_ONCE / 4) * terms] }
    }

    /// Polynomials whose coefficients c_0 … c_{r−1} come one after the other.
    pub(crate) fn of_polynomials(independence: u32, number: usize, mut coefficient: impl FnMut() -> u64) -> Self {
        let mut polynomials = Self::zeros(independence, number);
        for polynomial in 0..number {
            *polynomials.term_mut(polynomial, 0) = [coefficient(), 0];
            for term in 1..polynomials.terms {
                let last = 2 * term == independence as usize;
                *polynomials.term_mut(polynomial, term) =
                    if last { [0, coefficient()] } else { [coefficient(), coefficient()] };
            }
        }
        polynomials
    }

    /// Cost: about 3r/2 products a key.
    pub(crate) fn of_keys(instructions: Instructions, independence: u32, keys: &[u64]) -> Self {
        let mut elements = Self::zeros(independence, keys.len());
        let halves = elements.lines.chunks_exact_mut(KEYS_AT_ONCE / 4 * elements.terms);
        for (keys, halves) in keys.chunks(KEYS_AT_ONCE).zip(halves) {
            instructions.powers(independence.is_multiple_of(2), keys, halves);
        }
        elements
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn eights(&self) -> usize {
        self.number.div_ceil(8)
    }

    /// The terms of half an eight.
    pub(crate) fn half(&self, half: usize) -> &[Line] {
        &self.lines[half * self.terms..][..self.terms]
    }

    /// The half an element is in, and its place there.
    pub(crate) fn place(element: usize) -> (usize, usize) {
        (element / 8 * 2 + element % 2, element % 8 / 2)
    }

    fn term_mut(&mut self, element: usize, term: usize) -> &mut [u64; 2] {
        let (half, lane) = Self::place(element);
        &mut self.lines[half * self.terms + term].0.as_chunks_mut().0[lane]
    }

    fn terms(&self, element: usize) -> impl Iterator<Item = [u64; 2]> {
        let (half, lane) = Self::place(element);
        self.half(half).iter().map(move |line| line.0.as_chunks().0[lane])
    }
}

/// The terms of at most [`KEYS_AT_ONCE`] keys, as [`Elements`] lays them out; r is `even` or not.
#[inline(always)]
pub(crate) fn powers(even: bool, keys: &[u64], halves: &mut [Line], product: impl Fn(u64, u64) -> u128) {
    let terms = halves.len() / (KEYS_AT_ONCE / 4);
    for (i, &key) in keys.iter().enumerate() {
        let (half, lane) = Elements::place(i);
        let lines = &mut halves[half * terms..][..terms];
        let square = reduce(product(key, key));
        let (mut odd_power, mut excess) = (key, 0);
        for (term, line) in lines.iter_mut().enumerate().skip(1) {
            if term > 1 {
                odd_power = reduce(product(odd_power, square));
            }
            let mut power = [0, odd_power];
            if even && term == terms - 1 {
                power.swap(0, 1);
            } else {
                power[0] = if term == 1 { square } else { reduce(product(odd_power, key)) };
                excess ^= product(power[0], power[1]);
            }
            line.0.as_chunks_mut().0[lane] = power;
        }
        lines[0].0.as_chunks_mut().0[lane] = [reduce(excess), 0];
    }
}

/// For each eight of `eights` of `side` and each of the `others`: the eight words.
#[inline(always)]
pub(crate) fn words(
    side: &Elements,
    eights: std::ops::Range<usize>,
    others: &Elements,
    words: &mut [Line],
    product: impl Fn(u64, u64) -> u128,
) {
    for (eight, words) in eights.zip(words.chunks_exact_mut(others.number)) {
        for (other, line) in words.iter_mut().enumerate() {
            *line = Line(std::array::from_fn(|i| {
                let mut pairs = side.terms(8 * eight + i).zip(others.terms(other));
                let unmultiplied = pairs.next().map_or(0, |([a, _], [b, _])| a ^ b);
                let sum = pairs.fold(0, |sum, ([a, b], [c, d])| sum ^ product(a ^ c, b ^ d));
                unmultiplied ^ reduce(sum)
            }));
        }
    }
}
