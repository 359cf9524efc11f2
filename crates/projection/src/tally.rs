//! How often each of 512 rows has a bit set in lines chosen of many: carry-save, bit-sliced.
//!
//! A number for each row is held as *planes*: bit i of all 512 numbers in plane i. Sixteen lines are added to it by a tree of
//! full adders (Harley and Seal's), two operations each on all rows at once.

use crate::words::Line;

/// Keys of one tally: the most eights that leave, of the 256 lines a byte can choose from, one for no key.
pub(crate) const TILE: usize = 248;

/// The lines of a tile, one a key from the first on. The last is all 0, for no key; the others without a key may be anything.
pub(crate) type Lines = [Line; 256];

/// Of no keys.
pub(crate) const NO_LINES: Lines = [Line::ZERO; 256];

const NO_KEY: u8 = u8::MAX;

/// Planes the tally of a tile has.
const PLANES: usize = 8;

/// Sum and carry of each bit of three lines.
#[inline(always)]
pub(crate) fn full_add(a: Line, b: Line, c: Line) -> (Line, Line) {
    let bits = |bit: fn(u64, u64, u64) -> u64| Line(std::array::from_fn(|i| bit(a.0[i], b.0[i], c.0[i])));
    (bits(|a, b, c| a ^ b ^ c), bits(|a, b, c| (a & b) | (c & (a | b))))
}

/// The weights of at most [`TILE`] keys by their binary digits.
pub(crate) struct Digits(Vec<Digit>);

struct Digit {
    place: usize,
    /// Which keys have it, and [`NO_KEY`] up to a multiple of 16.
    keys: Vec<u8>,
}

impl Digits {
    /// Of weights that are not negative.
    pub(crate) fn of(weights: &[i64]) -> Self {
        let any = weights.iter().fold(0, |any, weight| any | weight);
        let digit = |place: usize| {
            let (mut keys, mut number) = (vec![NO_KEY; weights.len() + 16], 0);
            // No branch: it would be mispredicted half the time.
            for (key, weight) in (0..).zip(weights) {
                keys[number] = key;
                number += (weight >> place & 1) as usize;
            }
            keys[number] = NO_KEY;
            keys.truncate(number.next_multiple_of(16));
            Digit { place, keys }
        };
        Self((0..63).filter(|place| any >> place & 1 == 1).map(digit).collect())
    }
}

/// Adds to each row's number the weights of the keys in whose line its bit is set. It is told how to add, by
/// [`full_add`] or the same in fewer instructions.
#[inline(always)]
pub(crate) fn add(
    lines: &Lines,
    digits: &Digits,
    planes: &mut [Line],
    full_add: impl Fn(Line, Line, Line) -> (Line, Line) + Copy,
) {
    for Digit { place, keys } in &digits.0 {
        let tally = count(lines, keys, full_add);
        let mut carry = Line::ZERO;
        for (i, plane) in planes[*place..].iter_mut().enumerate() {
            (*plane, carry) = full_add(*plane, tally.get(i).copied().unwrap_or(Line::ZERO), carry);
        }
    }
}

#[inline(always)]
fn count(lines: &Lines, keys: &[u8], full_add: impl Fn(Line, Line, Line) -> (Line, Line) + Copy) -> [Line; PLANES] {
    let [mut ones, mut twos, mut fours, mut eights] = [Line::ZERO; 4];
    let mut sixteens = [Line::ZERO; PLANES - 4];
    for keys in keys.as_chunks::<16>().0 {
        let line = |i: usize| lines[usize::from(keys[i])];
        let mut carries = [Line::ZERO; 8];
        for (i, carry) in carries.iter_mut().enumerate() {
            (ones, *carry) = full_add(ones, line(2 * i), line(2 * i + 1));
        }
        let mut fourfold = [Line::ZERO; 4];
        for (i, carry) in fourfold.iter_mut().enumerate() {
            (twos, *carry) = full_add(twos, carries[2 * i], carries[2 * i + 1]);
        }
        let mut eightfold = [Line::ZERO; 2];
        for (i, carry) in eightfold.iter_mut().enumerate() {
            (fours, *carry) = full_add(fours, fourfold[2 * i], fourfold[2 * i + 1]);
        }
        let mut carry;
        (eights, carry) = full_add(eights, eightfold[0], eightfold[1]);
        for plane in &mut sixteens {
            (*plane, carry) = full_add(*plane, carry, Line::ZERO);
        }
    }
    let [a, b, c, d] = sixteens;
    [ones, twos, fours, eights, a, b, c, d]
}

/// Of each row: adds `total` − 2·(its number).
#[inline(always)]
pub(crate) fn finish(planes: &[Line], total: i64, counters: &mut [i64]) {
    let mut square = [Line::ZERO; 64];
    square[..planes.len()].copy_from_slice(planes);
    transpose(&mut square);
    for (block, counters) in counters.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        for (counter, line) in counters.iter_mut().zip(&square) {
            // Lossless: a number is at most the total, which is below 2⁶².
            *counter += total - 2 * line.0[block] as i64;
        }
    }
}

/// Transposes eight squares of bits: bit j of line i becomes bit i of line j (Warren, *Hacker's Delight*, 7-3).
#[inline(always)]
fn transpose(square: &mut [Line; 64]) {
    let (mut half, mut mask) = (32, u64::from(u32::MAX));
    while half != 0 {
        let mut i = 0;
        while i < 64 {
            for lane in 0..8 {
                let swapped = ((square[i].0[lane] >> half) ^ square[i + half].0[lane]) & mask;
                square[i].0[lane] ^= swapped << half;
                square[i + half].0[lane] ^= swapped;
            }
            i = (i + half + 1) & !half;
        }
        half /= 2;
        mask ^= mask << half;
    }
}
