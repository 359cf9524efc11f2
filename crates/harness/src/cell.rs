//! One cell of a row, and how numbers are printed.
//!
//! Results are regenerated and compared byte for byte on other machines, so a measured number is printed to
//! four significant digits: the last bits of a logarithm may differ between platforms, the fourth digit
//! practically never does. Parameters and counts are printed exactly.

/// A value of a row: a parameter of a case, or something computed from its trials.
///
/// ```
/// use tamis_harness::Cell;
/// assert_eq!(Cell::from(1234.5678).measured(), "1235");
/// assert_eq!(Cell::from(1e-9).exact(), "1e-9");
/// assert_eq!(Cell::from(123_456_789_u64).measured(), "123456789");
/// assert_eq!(Cell::from(None::<f64>).measured(), "");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing to say here; also what a NaN becomes.
    Missing,
    /// Words, or an integer (printed exactly).
    Text(String),
    /// A floating-point number.
    Number(f64),
}

impl Cell {
    /// The text of a computed value: four significant digits.
    pub fn measured(&self) -> String {
        match self {
            Cell::Number(number) => significant(*number),
            other => other.exact(),
        }
    }

    /// The text of a parameter: the shortest decimal that reads back as the same number.
    pub fn exact(&self) -> String {
        match self {
            Cell::Missing => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Number(number) if number.is_nan() => String::new(),
            Cell::Number(number) if *number == 0.0 => "0".to_owned(),
            Cell::Number(number) if (1e-4..1e15).contains(&number.abs()) || number.is_infinite() => number.to_string(),
            Cell::Number(number) => format!("{number:e}"),
        }
    }
}

/// `number` to four significant digits, without trailing zeros; in scientific form below 0.001 and from a
/// million on. NaN gives an empty text.
///
/// ```
/// use tamis_harness::significant;
/// assert_eq!(significant(0.123_456), "0.1235");
/// assert_eq!(significant(12_345.6), "12350");
/// assert_eq!(significant(2e-7), "2e-7");
/// assert_eq!(significant(f64::INFINITY), "inf");
/// ```
pub fn significant(number: f64) -> String {
    if number.is_nan() {
        return String::new();
    }
    let scientific = format!("{number:.3e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific; // an infinity has no exponent
    };
    // Cannot fail: both come from formatting a finite number.
    let exponent: i32 = exponent.parse().expect("formatted by `{:e}`");
    let rounded: f64 = scientific.parse().expect("formatted by `{:e}`");
    if rounded == 0.0 {
        return "0".to_owned();
    }
    let decimals = usize::try_from(3 - exponent).unwrap_or(0);
    match exponent {
        -3..=5 => without_trailing_zeros(&format!("{rounded:.decimals$}")).to_owned(),
        _ => format!("{}e{exponent}", without_trailing_zeros(mantissa)),
    }
}

fn without_trailing_zeros(decimal: &str) -> &str {
    match decimal.contains('.') {
        true => decimal.trim_end_matches('0').trim_end_matches('.'),
        false => decimal,
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Cell::Number(number)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Missing, Into::into)
    }
}

macro_rules! printed_exactly {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Cell {
            fn from(value: $kind) -> Self {
                Cell::Text(value.to_string())
            }
        }
    )*};
}
printed_exactly!(u32, u64, usize, i32, i64, bool, &str, String);

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn numbers_keep_four_significant_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (9.9996, "10"),
            (99_999.6, "100000"),
            (999_999.0, "1e6"),
            (0.001, "0.001"),
            (0.000_999_96, "0.001"),
            (0.000_12, "1.2e-4"),
            (1e300, "1e300"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, ""),
        ];
        for (number, text) in cases {
            assert_eq!(significant(number), text, "{number:?}");
        }
    }
}
