//! Conjunctions of booleans: wide ones are sparse queries.
//!
//! # How to use it
//! A record is up to 128 booleans, packed into an integer, the first in its lowest bit; [`Columns`] names them. A
//! [`Conjunction`] fixes some of them, each to true or to false, and leaves the others free. With k of d left free it
//! holds on exactly 2ᵏ points of a universe of 2ᵈ: on 256 of 281 474 976 710 656 if 8 of 48 are. So it is a sparse
//! query, and [`Conjunction::query`] lists its points.
//!
//! As text a record is hexadecimal, [`Columns::parse_bits`], and columns are a name a line, [`Columns::from_text`].
//!
//! | paper | here |
//! | ----- | ---- |
//! | d     | [`Conjunction::width`] |
//! | k     | [`Conjunction::free`] |
//! | m = 2ᵏ | [`Conjunction::support`] |
//! | monotone | no literal is fixed to false |
//!
//! # Limitations
//! Narrow conjunctions are not sparse: with more than 24 free literals [`Conjunction::query`] refuses.

use crate::element::mask;
use crate::{BitsError, Element, FingerprintKey, SparseQuery};

/// The names of packed booleans, the first for the lowest bit.
///
/// ```
/// use tamis_queries::Columns;
/// let columns = Columns::from_text("age >= 20\nage < 60\nmarried\nemployed\nschooled\n")?;
/// let record = columns.parse_bits("1b")?; // 1 1011: all but the third
/// assert_eq!(record, 0b1_1011);
/// assert!(columns.conjunction([("age >= 20", true), ("married", false)])?.holds(record));
/// # Ok::<(), tamis_queries::ConjunctionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    names: Vec<String>,
}

/// Some literals fixed, the others free.
///
/// ```
/// use tamis_queries::{Columns, FingerprintKey};
/// let columns = Columns::new(["adult", "employed", "married"])?;
/// let single_adults = columns.conjunction([("adult", true), ("married", false)])?;
/// assert!(single_adults.holds(0b011) && !single_adults.holds(0b111));
/// assert_eq!(single_adults.points().collect::<Vec<_>>(), [0b001, 0b011]); // "employed" is free
/// assert_eq!(single_adults.query(&FingerprintKey::new([7; 16]))?.support(), 2);
/// # Ok::<(), tamis_queries::ConjunctionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conjunction {
    width: u32,
    // Disjoint, and within the width.
    ones: u128,
    zeros: u128,
}

/// Columns or literals that make no conjunction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConjunctionError {
    /// A width outside 1 ..= 128, or a literal beyond it.
    #[error(transparent)]
    Bits(#[from] BitsError),
    /// A column without a name.
    #[error("column {0} (counted from 0) has no name")]
    Unnamed(usize),
    /// A blank line before a name. Counted from 1.
    #[error("line {0} of the columns is blank, and names follow it: a column must have a name")]
    BlankLine(usize),
    /// A name with a tab, a lone carriage return or another control character in it. The line, counted from 1.
    #[error("line {0} of the columns holds a control character: write one name a line, as plain text")]
    ControlCharacter(usize),
    /// Two columns with one name.
    #[error("two columns are called {0:?}")]
    SameName(String),
    /// A literal that no column has.
    #[error("no column is called {0:?}")]
    Unknown(String),
    /// A literal that is to be true and false.
    #[error("{0} is to be both true and false: no record can be")]
    Contradiction(String),
    /// More points than a query may list.
    #[error(
        "the conjunction holds on 2^{free} = {:.0} points, and at most 2^24 = 16777216 can be listed: \
         fix {} literals more",
        2f64.powi(*free as i32),
        free.saturating_sub(Conjunction::MAX_FREE)
    )]
    TooManyPoints {
        /// How many literals are free.
        free: u32,
    },
}

impl Columns {
    /// Columns with these names, the first for the lowest bit.
    ///
    /// # Errors
    /// If there are none or more than 128, or a name is empty or occurs twice.
    pub fn new<Name: Into<String>>(names: impl IntoIterator<Item = Name>) -> Result<Self, ConjunctionError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        mask(u32::try_from(names.len()).unwrap_or(u32::MAX))?;
        for (position, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(ConjunctionError::Unnamed(position));
            }
            if names[..position].contains(name) {
                return Err(ConjunctionError::SameName(name.clone()));
            }
        }
        Ok(Self { names })
    }

    /// Columns from text, one name a line, the first for the lowest bit.
    ///
    /// Lines end with LF or CR LF, the last perhaps with neither. A byte-order mark before the first is dropped, and so is
    /// white space around a name. Blank lines are allowed after the last name only: elsewhere one could be a column whose
    /// name is missing, and all that follow would be off by one. No line is a comment.
    ///
    /// ```
    /// use tamis_queries::{Columns, ConjunctionError};
    /// assert_eq!(Columns::from_text("adult\r\nmarried\r\n\r\n")?.names(), ["adult", "married"]);
    /// assert_eq!(Columns::from_text("adult\n\nmarried\n"), Err(ConjunctionError::BlankLine(2)));
    /// # Ok::<(), ConjunctionError>(())
    /// ```
    ///
    /// # Errors
    /// If a blank line is followed by a name, a name holds a control character, or [`new`](Self::new) refuses the names.
    pub fn from_text(text: &str) -> Result<Self, ConjunctionError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut names = Vec::new();
        for (line, name) in (1..).zip(text.trim_end().lines().map(str::trim)) {
            if name.is_empty() {
                return Err(ConjunctionError::BlankLine(line));
            }
            if name.contains(char::is_control) {
                return Err(ConjunctionError::ControlCharacter(line));
            }
            names.push(name);
        }
        Self::new(names)
    }

    /// A record from hexadecimal text, packed: exactly ⌈d/4⌉ digits, upper or lower case. The *last* digit holds the first
    /// four columns, as in the number that the text is: bit 0 is the first column.
    ///
    /// There is one way to write a record, but for the case: leading zeros are wanted, since a record that lost them could
    /// have lost others, and neither `0x` nor signs, spaces or separators are allowed.
    ///
    /// ```
    /// use tamis_queries::{BitsError, Columns};
    /// let columns = Columns::new(["a", "b", "c", "d", "e", "f"]).unwrap();
    /// assert_eq!(columns.parse_bits("21")?, 0b10_0001); // a and f
    /// assert_eq!(columns.parse_bits("2F")?, columns.parse_bits("2f")?);
    /// assert_eq!(columns.parse_bits("1"), Err(BitsError::Digits { width: 6 })); // that is 01
    /// assert_eq!(columns.parse_bits("41"), Err(BitsError::Beyond { width: 6 }));
    /// # Ok::<(), BitsError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is anything else, or a bit is set at or beyond d. The error does not repeat the text: it may be
    /// somebody's data.
    pub fn parse_bits(&self, text: &str) -> Result<u128, BitsError> {
        let width = self.width();
        let refusal = BitsError::Digits { width };
        // Lossless: at most 128 columns.
        if text.len() != width.div_ceil(4) as usize {
            return Err(refusal);
        }
        let mut bits = 0;
        for character in text.chars() {
            let Some(digit) = character.to_digit(16) else { return Err(refusal) };
            bits = bits << 4 | u128::from(digit);
        }
        if bits & !mask(width)? != 0 {
            return Err(BitsError::Beyond { width });
        }
        Ok(bits)
    }

    /// The names, the first for the lowest bit.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many there are: d.
    pub fn width(&self) -> u32 {
        self.names.len() as u32
    }

    /// All of these literals, each to be as its boolean says. The same one twice is merged.
    ///
    /// # Errors
    /// If a name is not that of a column, or one is to be both true and false.
    pub fn conjunction<'name>(
        &self,
        literals: impl IntoIterator<Item = (&'name str, bool)>,
    ) -> Result<Conjunction, ConjunctionError> {
        let (mut ones, mut zeros) = (0, 0);
        for (name, value) in literals {
            let Some(position) = self.names.iter().position(|known| known == name) else {
                return Err(ConjunctionError::Unknown(name.to_owned()));
            };
            let literal = 1 << position;
            if value {
                ones |= literal
            } else {
                zeros |= literal
            }
            if ones & zeros != 0 {
                return Err(ConjunctionError::Contradiction(format!("{name:?}")));
            }
        }
        Conjunction::new(self.width(), ones, zeros)
    }
}

impl Conjunction {
    /// Most points that [`query`](Self::query) lists: 2²⁴.
    pub const MAX_SUPPORT: usize = 1 << Self::MAX_FREE;
    const MAX_FREE: u32 = 24;

    /// On `width` packed booleans: those in `ones` are to be true, those in `zeros` false, the others are free.
    ///
    /// # Errors
    /// If `width` is not from 1 to 128, a literal lies beyond it, or one is to be both true and false.
    pub fn new(width: u32, ones: u128, zeros: u128) -> Result<Self, ConjunctionError> {
        if (ones | zeros) & !mask(width)? != 0 {
            return Err(BitsError::Beyond { width }.into());
        }
        if ones & zeros != 0 {
            return Err(ConjunctionError::Contradiction(format!("bit {}", (ones & zeros).trailing_zeros())));
        }
        Ok(Self { width, ones, zeros })
    }

    /// How many booleans a record has: d.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The booleans that are to be true, packed.
    pub fn ones(&self) -> u128 {
        self.ones
    }

    /// The booleans that are to be false, packed.
    pub fn zeros(&self) -> u128 {
        self.zeros
    }

    /// How many of them are free: k.
    pub fn free(&self) -> u32 {
        self.width - (self.ones | self.zeros).count_ones()
    }

    /// On how many points it holds: 2ᵏ, exactly (a power of two up to 2¹²⁸).
    pub fn support(&self) -> f64 {
        2f64.powi(self.free() as i32)
    }

    /// Whether it holds on the record `bits`.
    pub fn holds(&self, bits: u128) -> bool {
        bits & self.ones == self.ones && bits & self.zeros == 0
    }

    /// All points on which it holds, packed, in ascending order. Lazy: each is made when it is asked for.
    pub fn points(&self) -> impl Iterator<Item = u128> + use<> {
        let ones = self.ones;
        let free = (u128::MAX >> (128 - self.width)) & !(self.ones | self.zeros);
        // Subtracting `free` adds 1 to the free bits alone, carrying over the others; after the last subset comes 0.
        let subsets = std::iter::successors(Some(0), move |subset: &u128| {
            let next = subset.wrapping_sub(free) & free;
            (next != 0).then_some(next)
        });
        subsets.map(move |subset| ones | subset)
    }

    /// The same points as elements, [`Element::bits`] of the width.
    pub fn elements(&self) -> impl Iterator<Item = Element> + use<> {
        let width = self.width;
        self.points().map(move |point| Element::packed(point, width))
    }

    /// How many rows it holds on, as a query under `key`. Cost: 2ᵏ hashes, a sort, and 24·2ᵏ bytes of which
    /// 16·2ᵏ are kept.
    ///
    /// # Errors
    /// Beyond 2²⁴ points; nothing is allocated then.
    pub fn query(&self, key: &FingerprintKey) -> Result<SparseQuery, ConjunctionError> {
        if self.free() > Self::MAX_FREE {
            return Err(ConjunctionError::TooManyPoints { free: self.free() });
        }
        Ok(SparseQuery::count(self.elements().map(|element| key.fingerprint(&element))))
    }
}
