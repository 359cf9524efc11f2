//! From the cells of a table to elements: which columns are the key, and what their text means.
//!
//! A release answers about keys only if whoever asks names them as the release did. [`Keys`] is what both must agree on. It
//! travels with the release.
//!
//! | kind | one column | several |
//! | ---- | ---------- | ------- |
//! | [`KeyKind::Text`] | the bytes of the cell | the tuple of those, in the order of the columns |
//! | [`KeyKind::Bits`] | packed booleans, as [`Columns::parse_bits`] reads them | – |
//!
//! Text is bytes as they are: no case, space or Unicode form is changed, and `7` and `07` are two keys.

use crate::{BitsError, Columns, Element, Fingerprint, FingerprintKey};
use std::collections::HashSet;

/// What the cells of a key mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Bytes.
    Text,
    /// Booleans, packed into the digits of a hexadecimal number.
    Bits(Columns),
}

/// Which columns of a table are its key, what they hold, and the public key of their fingerprints.
///
/// ```
/// use tamis_queries::{FingerprintKey, KeyKind, Keys};
/// let keys = Keys::new(["given", "family"], KeyKind::Text, FingerprintKey::new([7; 16]))?;
/// assert_ne!(keys.fingerprint(&["ab", "c"])?, keys.fingerprint(&["a", "bc"])?);
/// assert_eq!(keys.fingerprint(&["ab"]).unwrap_err().to_string(), r#"a key has 2 cells ("given", "family"), got 1"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    columns: Vec<String>,
    kind: KeyKind,
    fingerprint_key: FingerprintKey,
}

/// Columns or cells that make no key. No cell is repeated: it may be somebody's data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// No column.
    #[error("a key needs at least one column")]
    NoColumn,
    /// A column named twice.
    #[error("the key names the column {0:?} twice")]
    SameColumn(String),
    /// More columns than anybody has.
    #[error("a key has at most {most} columns, got {0}", most = Keys::MAX_COLUMNS)]
    TooManyColumns(usize),
    /// Packed booleans in several columns.
    #[error("packed booleans are one column, got {0}")]
    BitsInColumns(usize),
    /// Too few or too many cells.
    #[error("a key has {} ({}), got {given}", cells(.columns.len()), listed(.columns))]
    Cells {
        /// The columns.
        columns: Vec<String>,
        /// How many cells there were.
        given: usize,
    },
    /// A cell that holds no packed booleans of this width.
    #[error(transparent)]
    Bits(#[from] BitsError),
}

fn cells(number: usize) -> String {
    if number == 1 { "1 cell".to_owned() } else { format!("{number} cells") }
}

/// At most ten names, so that they command no terminal and fill none.
fn listed(columns: &[String]) -> String {
    let mut names: Vec<String> = columns.iter().take(10).map(|name| format!("{name:?}")).collect();
    if columns.len() > names.len() {
        names.push("…".to_owned());
    }
    names.join(", ")
}

impl Keys {
    /// The most columns of a key.
    pub const MAX_COLUMNS: usize = 1000;

    /// # Errors
    /// If there is no column or more than [`MAX_COLUMNS`](Self::MAX_COLUMNS), one is named twice, or packed booleans are to be
    /// in several.
    pub fn new<Name: Into<String>>(
        columns: impl IntoIterator<Item = Name>,
        kind: KeyKind,
        fingerprint_key: FingerprintKey,
    ) -> Result<Self, KeyError> {
        let columns: Vec<String> = columns.into_iter().map(Into::into).collect();
        if columns.is_empty() {
            return Err(KeyError::NoColumn);
        }
        if columns.len() > Self::MAX_COLUMNS {
            return Err(KeyError::TooManyColumns(columns.len()));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = columns.iter().find(|name| !seen.insert(*name)) {
            return Err(KeyError::SameColumn(twice.clone()));
        }
        if matches!(kind, KeyKind::Bits(_)) && columns.len() > 1 {
            return Err(KeyError::BitsInColumns(columns.len()));
        }
        Ok(Self { columns, kind, fingerprint_key })
    }

    /// The columns, in the order of a key's cells.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What they hold.
    pub fn kind(&self) -> &KeyKind {
        &self.kind
    }

    /// The public key of the fingerprints.
    pub fn fingerprint_key(&self) -> &FingerprintKey {
        &self.fingerprint_key
    }

    /// The element that these cells are, one for each column.
    ///
    /// # Errors
    /// If there are too few or too many, or packed booleans are not what they should be.
    pub fn element(&self, cells: &[&str]) -> Result<Element, KeyError> {
        match (&self.kind, cells) {
            _ if cells.len() != self.columns.len() => {
                Err(KeyError::Cells { columns: self.columns.clone(), given: cells.len() })
            }
            (KeyKind::Bits(names), [cell]) => Ok(Element::packed(names.parse_bits(cell)?, names.width())),
            (_, [cell]) => Ok(Element::bytes(cell.as_bytes())),
            (_, cells) => {
                let cells: Vec<Element> = cells.iter().map(|cell| Element::bytes(cell.as_bytes())).collect();
                Ok(Element::tuple(&cells))
            }
        }
    }

    /// Its fingerprint.
    ///
    /// # Errors
    /// As [`element`](Self::element).
    pub fn fingerprint(&self, cells: &[&str]) -> Result<Fingerprint, KeyError> {
        Ok(self.fingerprint_key.fingerprint(&self.element(cells)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(columns: &[&str], kind: KeyKind) -> Result<Keys, KeyError> {
        Keys::new(columns.iter().copied(), kind, FingerprintKey::new([1; 16]))
    }

    #[test]
    fn one_column_is_itself_and_several_are_a_tuple() {
        let one = keys(&["name"], KeyKind::Text).unwrap();
        assert_eq!(one.element(&[""]).unwrap(), Element::bytes(b""));
        let two = keys(&["name", "day"], KeyKind::Text).unwrap();
        assert_eq!(two.element(&["a", "b"]).unwrap(), Element::tuple(&[Element::bytes(b"a"), Element::bytes(b"b")]));
        assert_ne!(one.element(&["a"]).unwrap(), one.element(&["A"]).unwrap());
    }

    #[test]
    fn bits_are_read_by_column() {
        let names = || KeyKind::Bits(Columns::new(["a", "b", "c", "d", "e", "f"]).unwrap());
        let keys_of_bits = keys(&["packed"], names()).unwrap();
        assert_eq!(keys_of_bits.element(&["21"]).unwrap(), Element::bits(0b10_0001, 6).unwrap());
        assert_eq!(keys_of_bits.element(&["3F"]).unwrap(), keys_of_bits.element(&["3f"]).unwrap());
        assert_eq!(keys_of_bits.element(&["1"]), Err(KeyError::Bits(BitsError::Digits { width: 6 })));
        assert_eq!(keys(&["a", "b"], names()), Err(KeyError::BitsInColumns(2)));
    }

    #[test]
    fn impossible_keys_are_refused() {
        assert_eq!(keys(&[], KeyKind::Text), Err(KeyError::NoColumn));
        assert_eq!(keys(&["a", "b", "a"], KeyKind::Text), Err(KeyError::SameColumn("a".to_owned())));
        let error = keys(&["a"], KeyKind::Text).unwrap().element(&["secret", "secret"]).unwrap_err();
        assert_eq!(error.to_string(), "a key has 1 cell (\"a\"), got 2");
        let error = keys(&["\u{1b}[31m", "\u{202e}"], KeyKind::Text).unwrap().element(&[]).unwrap_err();
        assert_eq!(error.to_string(), r#"a key has 2 cells ("\u{1b}[31m", "\u{202e}"), got 0"#);
    }

    #[test]
    fn a_key_has_at_most_a_thousand_columns() {
        let names: Vec<String> = (0..1001).map(|i| i.to_string()).collect();
        let some = |number: usize| Keys::new(&names[..number], KeyKind::Text, FingerprintKey::new([1; 16]));
        assert_eq!(some(1001), Err(KeyError::TooManyColumns(1001)));
        let error = some(1000).unwrap().element(&[]).unwrap_err().to_string();
        assert!(error.ends_with("\"8\", \"9\", …), got 0"), "{error}");
    }
}
