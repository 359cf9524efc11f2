//! Records of packed booleans: the people of a file, or any others.

use std::sync::LazyLock;
use tamis::queries::{Columns, Element, FingerprintKey, Histogram};
use tamis_harness::TrialError;

/// One line for each person.
const ADULT: &str = include_str!("../../examples/adult_majority48.csv");
const ADULT_COLUMNS: &str = include_str!("../../examples/adult_majority48_columns.txt");

/// Records.
#[derive(Clone, Debug)]
pub struct Points {
    /// How many booleans a record has.
    pub width: u32,
    /// Those of each record, packed.
    pub points: Vec<u128>,
}

impl Points {
    /// The records counted, under the fingerprints of this key.
    ///
    /// # Errors
    /// If a record has a bit beyond the width.
    pub fn table(&self, key: &FingerprintKey) -> Result<Histogram, TrialError> {
        let mut table = Histogram::builder();
        for &point in &self.points {
            table.add(key.fingerprint(&Element::bits(point, self.width)?), 1)?;
        }
        Ok(table.build())
    }
}

/// 32 561 people by 48 booleans, each true of most: read once.
///
/// ```
/// let adults = tamis_experiments::points::adults();
/// assert_eq!((adults.width, adults.points.len()), (48, 32_561));
/// ```
pub fn adults() -> &'static Points {
    static ADULTS: LazyLock<Points> = LazyLock::new(|| {
        // Cannot fail: the files are part of this program.
        let columns = Columns::from_text(ADULT_COLUMNS).expect("names");
        let points = ADULT.lines().skip(1).map(|line| columns.parse_bits(line).expect("booleans")).collect();
        Points { width: columns.width(), points }
    });
    &ADULTS
}
