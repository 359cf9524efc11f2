//! What an analyst sees of one run, in a form that can be counted.

use std::fmt::{Display, Write};

/// Ends every item: no item contains it, so that different transcripts never read the same.
const END: char = '\u{1f}';

/// A released number: an event may be a half-line of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(i64),
    /// A float. Its lowest bit is looked at, too: float noise betrays the input there (Mironov, CCS 2012).
    Real(f64),
}

impl Number {
    pub(super) fn value(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Real(value) => value,
        }
    }

    /// e where the number is odd · 2^e; `None` for integers, 0 and what is not finite.
    pub(super) fn lowest_bit(self) -> Option<f64> {
        let Number::Real(value) = self else { return None };
        if value == 0.0 || !value.is_finite() {
            return None;
        }
        let (fraction, exponent) = (value.to_bits() & ((1 << 52) - 1), (value.to_bits() >> 52 & 0x7ff) as i32);
        let (significand, exponent) = if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 52, exponent) };
        Some(f64::from(exponent - 1075 + significand.trailing_zeros() as i32))
    }

    fn bits(self) -> u64 {
        match self {
            Number::Integer(value) => value as u64,
            Number::Real(value) => value.to_bits(),
        }
    }
}

/// Everything that one run shows: answers, ⊤ and ⊥, chosen keys, that it halted, errors and refusals, in their order.
///
/// Its *shape* is the transcript without the values of the numbers.
///
/// ```
/// use tamis_harness::audit::Transcript;
/// let mut transcript = Transcript::default();
/// transcript.mark("⊥");
/// transcript.label(format_args!("key {}", 7));
/// transcript.integer(-3);
/// assert_eq!(transcript.to_string(), "⊥ key 7 -3");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    shape: String,
    numbers: Vec<Number>,
}

impl Transcript {
    /// Adds a word from a fixed vocabulary, such as ⊤.
    pub fn mark(&mut self, word: &str) {
        self.shape.push_str(word);
        self.shape.push(END);
    }

    /// Adds anything of which only equality matters: an index, a key, the text of an error.
    pub fn label(&mut self, label: impl Display) {
        // Cannot fail: writing to a string does not.
        write!(self.shape, "{label}{END}").expect("a string takes any text");
    }

    /// Adds an integer of which the order matters: a noisy count.
    pub fn integer(&mut self, value: i64) {
        self.mark("#");
        self.numbers.push(Number::Integer(value));
    }

    /// Adds a float, bit by bit.
    pub fn real(&mut self, value: f64) {
        self.mark("~");
        self.numbers.push(Number::Real(value));
    }

    /// The items in order, with `#` for an integer and `~` for a float.
    pub fn items(&self) -> impl Iterator<Item = &str> {
        self.shape.split_terminator(END)
    }

    /// The numbers in order.
    pub fn numbers(&self) -> &[Number] {
        &self.numbers
    }

    pub(super) fn clear(&mut self) {
        self.shape.clear();
        self.numbers.clear();
    }

    /// The shape as a key of a map.
    pub(super) fn shape(&self) -> &[u8] {
        self.shape.as_bytes()
    }

    /// The whole as a key of a map, into `key`: the length of the shape, the shape, the numbers.
    pub(super) fn write_whole(&self, key: &mut Vec<u8>) {
        key.clear();
        key.extend((self.shape.len() as u64).to_be_bytes());
        key.extend_from_slice(self.shape());
        key.extend(self.numbers.iter().flat_map(|number| number.bits().to_be_bytes()));
    }

    /// The transcript of a key that [`write_whole`](Self::write_whole) wrote.
    pub(super) fn read_whole(key: &[u8]) -> Self {
        let word = |bytes: &[u8]| bytes.iter().fold(0_u64, |word, &byte| word << 8 | u64::from(byte));
        let (length, rest) = key.split_at(8);
        let (shape, numbers) = rest.split_at(word(length) as usize);
        let mut whole = Self { shape: String::from_utf8_lossy(shape).into_owned(), numbers: Vec::new() };
        let kinds = whole.items().filter(|item| matches!(*item, "#" | "~"));
        let number = |(kind, bits): (&str, u64)| {
            if kind == "~" { Number::Real(f64::from_bits(bits)) } else { Number::Integer(bits as i64) }
        };
        whole.numbers = kinds.zip(numbers.chunks(8).map(word)).map(number).collect();
        whole
    }
}

impl Display for Transcript {
    /// The items, three and more equal ones in a row as "⊥×3".
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut numbers = self.numbers.iter();
        let mut item = |item: &str| match if matches!(item, "#" | "~") { numbers.next() } else { None } {
            Some(Number::Integer(value)) => value.to_string(),
            Some(Number::Real(value)) => format!("{value:?}"),
            None => item.to_owned(),
        };
        let items: Vec<String> = self.items().map(&mut item).collect();
        formatter.write_str(&in_words(items.iter().map(String::as_str)))
    }
}

/// Items as one text, three and more equal ones in a row as "⊥×3".
pub(super) fn in_words<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let items: Vec<&str> = items.collect();
    let runs = items.chunk_by(|one, next| one == next);
    let words: Vec<String> =
        runs.map(|run| if run.len() < 3 { run.join(" ") } else { format!("{}×{}", run[0], run.len()) }).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(" ") }
}

/// A shape in words.
pub(super) fn shape_in_words(shape: &[u8]) -> String {
    in_words(String::from_utf8_lossy(shape).split_terminator(END))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_is_that_of_the_binary_expansion() {
        for (value, exponent) in [(1.0, 0.0), (-6.0, 1.0), (0.75, -2.0), (f64::EPSILON, -52.0), (5e-324, -1074.0)] {
            assert_eq!(Number::Real(value).lowest_bit(), Some(exponent), "{value}");
        }
        let slow = |value: f64| (-200..=200).rev().find(|&e| (value / 2f64.powi(e)).fract() == 0.0);
        for value in [0.1, 3.3e-30, 1e30, 1.0 / 3.0] {
            assert_eq!(Number::Real(value).lowest_bit(), slow(value).map(f64::from), "{value}");
        }
        for none in [Number::Real(0.0), Number::Real(f64::NAN), Number::Integer(4)] {
            assert_eq!(none.lowest_bit(), None);
        }
    }

    #[test]
    fn different_transcripts_have_different_keys() {
        let written = |write: &dyn Fn(&mut Transcript)| {
            let (mut transcript, mut key) = (Transcript::default(), Vec::new());
            write(&mut transcript);
            transcript.write_whole(&mut key);
            key
        };
        let keys = [
            written(&|_| ()),
            written(&|t| t.mark("ab")),
            written(&|t| ["a", "b"].iter().for_each(|word| t.mark(word))),
            written(&|t| t.label("a b")),
            written(&|t| t.integer(1)),
            written(&|t| t.real(f64::from_bits(1))),
            written(&|t| [0, 1].iter().for_each(|&value| t.integer(value))),
        ];
        assert!((0..keys.len()).all(|i| (0..i).all(|j| keys[i] != keys[j])), "{keys:?}");
        for key in keys {
            let mut again = Vec::new();
            Transcript::read_whole(&key).write_whole(&mut again);
            assert_eq!(key, again);
        }
    }
}
