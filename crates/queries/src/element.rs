//! Elements of a universe that nobody lists: what a key *is*, as bytes that no other key has.
//!
//! # The encoding
//! An [`Element`] is a number, a string of bytes, a tuple of elements or packed bits. Its encoding is fixed for ever,
//! since the fingerprints in released files rest on it; numbers are little-endian.
//!
//! | element | bytes |
//! | ------- | ----- |
//! | number  | `01`, the value in 8 bytes |
//! | bytes   | `02`, the length in 8 bytes, the bytes as they are |
//! | tuple   | `03`, how many in 8 bytes, the encodings of its elements |
//! | bits    | `04`, the width in 1 byte, the value in 16 bytes |
//!
//! # Injective
//! Different elements have different encodings, and none is the beginning of another. *Proof*: a reader knows from the
//! bytes read so far how many follow. The tag says which rule holds; numbers and bits have a fixed length; the length
//! of bytes stands before them; a tuple is as many encodings as it says, each of which ends by itself (induction over
//! the depth). So `("ab", "c")` is not `("a", "bc")`, the number 7 is not the text `7`, and a tuple of one is not its
//! element. The tests read encodings back.
//!
//! # Limitations
//! Bytes are bytes: no case, space or Unicode form is changed. Whoever wants `Ann@` and `ann@` to be one key says so
//! before the element is made, and does it for data and queries alike.

use std::fmt;

/// One key, held as its encoding. See the [module](self) for the bytes.
///
/// ```
/// use tamis_queries::Element;
/// let text = |text: &str| Element::bytes(text.as_bytes());
/// let pair = Element::tuple(&[text("ab"), text("c")]);
/// assert_ne!(pair, Element::tuple(&[text("a"), text("bc")]));
/// assert_ne!(Element::number(7), text("7"));
/// assert_eq!(text("c").encode(), [2, 1, 0, 0, 0, 0, 0, 0, 0, b'c']);
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Element {
    // Held encoded: then equality of elements is equality of encodings by construction, and a deeply nested tuple
    // costs no recursion to hash, compare or drop.
    encoding: Vec<u8>,
}

/// Without the bytes: they may be somebody's data.
impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Element").finish_non_exhaustive()
    }
}

/// Packed bits that are no element. The value is not repeated: it may be somebody's data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BitsError {
    /// A width outside 1 ..= 128.
    #[error("packed bits must be 1 to 128 wide, got a width of {0}")]
    Width(u32),
    /// A bit set beyond the width.
    #[error("packed bits of width {width} have a bit set at or above position {width}")]
    Beyond {
        /// The width.
        width: u32,
    },
    /// A text that does not write packed bits: see [`Columns::parse_bits`](crate::Columns::parse_bits).
    #[error(
        "packed bits of width {width} are written as exactly {} hexadecimal digits, with leading zeros and without 0x",
        width.div_ceil(4)
    )]
    Digits {
        /// The width.
        width: u32,
    },
}

impl Element {
    /// The number `value`.
    pub fn number(value: u64) -> Self {
        let mut encoding = Vec::with_capacity(9);
        encoding.push(1);
        encoding.extend(value.to_le_bytes());
        Self { encoding }
    }

    /// The string `bytes`, of any length.
    pub fn bytes(bytes: &[u8]) -> Self {
        let mut encoding = Vec::with_capacity(9 + bytes.len());
        encoding.push(2);
        encoding.extend((bytes.len() as u64).to_le_bytes());
        encoding.extend_from_slice(bytes);
        Self { encoding }
    }

    /// The tuple of `elements`, in this order. Tuples nest.
    pub fn tuple(elements: &[Self]) -> Self {
        let mut encoding = Vec::with_capacity(9 + elements.iter().map(|element| element.encoding.len()).sum::<usize>());
        encoding.push(3);
        encoding.extend((elements.len() as u64).to_le_bytes());
        for element in elements {
            encoding.extend_from_slice(&element.encoding);
        }
        Self { encoding }
    }

    /// `width` booleans, the first in the lowest bit of `value`.
    ///
    /// ```
    /// use tamis_queries::{BitsError, Element};
    /// assert_ne!(Element::bits(0b101, 3)?, Element::bits(0b101, 4)?);
    /// assert_eq!(Element::bits(0b101, 2), Err(BitsError::Beyond { width: 2 }));
    /// # Ok::<(), BitsError>(())
    /// ```
    ///
    /// # Errors
    /// If `width` is not from 1 to 128, or a bit beyond it is set.
    pub fn bits(value: u128, width: u32) -> Result<Self, BitsError> {
        if value & !mask(width)? != 0 {
            return Err(BitsError::Beyond { width });
        }
        Ok(Self::packed(value, width))
    }

    /// The same, of a value and width known to be right.
    pub(crate) fn packed(value: u128, width: u32) -> Self {
        let mut encoding = Vec::with_capacity(18);
        // Lossless: a width is at most 128.
        encoding.extend([4, width as u8]);
        encoding.extend(value.to_le_bytes());
        Self { encoding }
    }

    /// The encoding.
    pub fn encode(&self) -> Vec<u8> {
        self.encoding.clone()
    }

    /// The encoding, without a copy.
    pub(crate) fn encoding(&self) -> &[u8] {
        &self.encoding
    }
}

/// The `width` lowest bits.
pub(crate) fn mask(width: u32) -> Result<u128, BitsError> {
    match width {
        1..=128 => Ok(u128::MAX >> (128 - width)),
        _ => Err(BitsError::Width(width)),
    }
}
