//! Checked parameters. A value of one of these types is legal: nobody downstream checks it again.
//!
//! Values that decide privacy are exact rationals, so that eleven charges of 1/11 make one, and every
//! conversion to `f64` says in which direction it rounds.

use crate::exact;
use dashu_ratio::RBig as Rational;
use std::{fmt, str::FromStr};

/// A parameter that cannot be used, with the value as given and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// ε outside its range.
    #[error("epsilon must be a number from 1e-12 to 1000 (at most 77 digits), got {0}")]
    Epsilon(String),
    /// δ outside its range.
    #[error("delta must be 0 or a number from 1e-300 up to, not including, 1, got {0}")]
    Delta(String),
    /// A sensitivity of no unit, or of too many.
    #[error("sensitivity must be a whole number of grid units from 1 to 2^40, got {0}")]
    Sensitivity(String),
    /// c outside its range.
    #[error("the number of hits must be a whole number from 1 to 1000000, got {0}")]
    Hits(String),
    /// k outside its range.
    #[error("the number of queries must be a whole number from 1 to 2^53, got {0}")]
    Queries(String),
    /// β outside its range.
    #[error("the failure probability must be between 1e-300 and 1, ends excluded, got {0}")]
    Beta(String),
    /// A noise scale that the samplers do not serve.
    #[error("the noise scale must be from 1/1000 to 2^40 grid units, got {0}")]
    Scale(String),
    /// A variance that the sampler does not serve.
    #[error("the noise variance must be from 1e-6 to 2^80 squared grid units, got {0}")]
    Variance(String),
    /// Neither of the two neighbour relations.
    #[error("neighbours must be add-remove or substitute, got {0}")]
    Neighbours(String),
    /// Neither of the two kinds of stream.
    #[error("the kind of stream must be counts or values, got {0}")]
    StreamKind(String),
}

/// Whether numerator and denominator have at most `bits` bits. Without such a limit a derived parameter could be too long to
/// be read back.
fn is_short(value: &Rational, bits: usize) -> bool {
    use dashu_base::BitTest;
    value.numerator().bit_len() <= bits && value.denominator().bit_len() <= bits
}

fn power_of_ten(exponent: i32) -> Rational {
    let power = Rational::from(dashu_int::UBig::from(10u8).pow(exponent.unsigned_abs() as usize));
    if exponent < 0 { Rational::ONE / power } else { power }
}

/// Privacy loss ε, from 1e-12 to 1000: with sensitivity 1 that is every noise scale the samplers serve.
///
/// ```
/// use tamis_noise::Epsilon;
/// let tenth = Epsilon::new(0.1)?; // one tenth exactly, not the nearest binary fraction
/// assert_eq!(tenth, "1/10".parse()?);
/// assert!(Epsilon::new(f64::NAN).is_err());
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Epsilon(Rational);

/// Failure probability δ of approximate privacy: 0, or from 1e-300 up to (not including) 1.
///
/// ```
/// use tamis_noise::Delta;
/// assert!(Delta::ZERO.is_zero());
/// assert!(Delta::new(1.0).is_err());
/// assert_eq!(Delta::new(1e-9)?.to_string(), "0.000000001");
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delta(Rational);

/// Scale of integer Laplace noise in grid units, any rational from 1/1000 to 2⁴⁰.
///
/// ```
/// use tamis_noise::Scale;
/// assert!(Scale::new(0.0).is_err() && Scale::new(1e13).is_err());
/// assert_eq!(Scale::new(2.5)?.to_string(), "2.5");
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scale(Rational);

/// Parameter σ² of integer Gaussian noise in squared grid units, any rational from 10⁻⁶ to 2⁸⁰.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Variance(Rational);

/// What the four exact parameters share: three constructors, three ways out, text in both directions.
macro_rules! exact_parameter {
    ($name:ident, $legal:expr) => {
        impl $name {
            /// Takes the shortest decimal that names `value`: `0.1` means 1/10.
            ///
            /// # Errors
            /// If the value is NaN, infinite or outside the range of the type.
            pub fn new(value: f64) -> Result<Self, ParameterError> {
                exact::shortest_decimal(value)
                    .and_then(|exact| Self::legal(&exact).then_some(Self(exact)))
                    .ok_or_else(|| ParameterError::$name(format!("{value:?}")))
            }

            /// # Errors
            /// If the value is outside the range of the type.
            pub fn from_rational(value: Rational) -> Result<Self, ParameterError> {
                if Self::legal(&value) { Ok(Self(value)) } else { Err(ParameterError::$name(exact::display(&value))) }
            }

            fn legal(value: &Rational) -> bool {
                let legal: fn(&Rational) -> bool = $legal;
                legal(value)
            }

            /// The exact value.
            pub fn as_rational(&self) -> &Rational {
                &self.0
            }

            /// The largest `f64` that is not above the value.
            pub fn to_f64_down(&self) -> f64 {
                exact::to_f64_down(&self.0)
            }

            /// The smallest `f64` that is not below the value.
            pub fn to_f64_up(&self) -> f64 {
                exact::to_f64_up(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParameterError;

            fn from_str(text: &str) -> Result<Self, ParameterError> {
                exact::parse_rational(text)
                    .filter(Self::legal)
                    .map(Self)
                    .ok_or_else(|| ParameterError::$name(text.to_owned()))
            }
        }

        /// As text, so that a stored value is exact and passes the same check when it is read.
        impl TryFrom<String> for $name {
            type Error = ParameterError;

            fn try_from(text: String) -> Result<Self, ParameterError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }

        /// A short decimal where there is one, else a fraction.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&exact::display(&self.0))
            }
        }
    };
}

exact_parameter!(Epsilon, |v| power_of_ten(-12) <= *v && *v <= Rational::from(1000) && is_short(v, 256));
exact_parameter!(Delta, |v| {
    *v == Rational::ZERO || (power_of_ten(-300) <= *v && *v < Rational::ONE && is_short(v, 1500))
});
exact_parameter!(Scale, |v| power_of_ten(-3) <= *v && *v <= Rational::from(1u64 << 40) && is_short(v, 1500));
exact_parameter!(Variance, |v| power_of_ten(-6) <= *v && *v <= Rational::from(1u128 << 80) && is_short(v, 1500));

impl Delta {
    /// No failure at all: pure privacy.
    pub const ZERO: Self = Self(Rational::ZERO);

    /// Whether privacy is pure.
    pub fn is_zero(&self) -> bool {
        self.0 == Rational::ZERO
    }
}

impl Scale {
    /// Scale sensitivity / ε, which makes one answer ε-private.
    ///
    /// # Errors
    /// If the quotient is a scale that the samplers do not serve.
    ///
    /// ```
    /// use tamis_noise::{Epsilon, Scale, Sensitivity};
    /// let scale = Scale::of(Sensitivity::new(3)?, &Epsilon::new(0.5)?)?;
    /// assert_eq!(scale, Scale::new(6.0)?);
    /// # Ok::<(), tamis_noise::ParameterError>(())
    /// ```
    pub fn of(sensitivity: Sensitivity, epsilon: &Epsilon) -> Result<Self, ParameterError> {
        Self::from_rational(Rational::from(sensitivity.get()) / epsilon.as_rational())
    }

    /// This scale times a rational.
    ///
    /// # Errors
    /// If the product is a scale that the samplers do not serve.
    pub fn times(&self, factor: &Rational) -> Result<Self, ParameterError> {
        Self::from_rational(&self.0 * factor)
    }
}

/// How far one privacy unit can move one answer, in grid units, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Sensitivity(u64);

impl Sensitivity {
    /// The sensitivity of a count, under both neighbour relations.
    pub const ONE: Self = Self(1);

    /// # Errors
    /// For 0 (which would mean no noise at all) and beyond 2⁴⁰.
    pub fn new(units: u64) -> Result<Self, ParameterError> {
        if (1..=1 << 40).contains(&units) {
            Ok(Self(units))
        } else {
            Err(ParameterError::Sensitivity(units.to_string()))
        }
    }

    /// Grid units.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// As a number, so that a stored value passes the same check when it is read.
macro_rules! whole_parameter {
    ($name:ident) => {
        impl TryFrom<u64> for $name {
            type Error = ParameterError;

            fn try_from(value: u64) -> Result<Self, ParameterError> {
                Self::new(value)
            }
        }

        impl From<$name> for u64 {
            fn from(value: $name) -> Self {
                u64::from(value.0)
            }
        }
    };
}

whole_parameter!(Sensitivity);
whole_parameter!(Hits);
whole_parameter!(Queries);

/// c: how many answers above the threshold a run may give, 1 to 1 000 000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Hits(u32);

impl Hits {
    /// A single hit.
    pub const ONE: Self = Self(1);

    /// # Errors
    /// For 0 and beyond a million.
    pub fn new(hits: u64) -> Result<Self, ParameterError> {
        match u32::try_from(hits) {
            Ok(count @ 1..=1_000_000) => Ok(Self(count)),
            _ => Err(ParameterError::Hits(hits.to_string())),
        }
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// k: for how many queries a guarantee is stated, 1 to 2⁵³. It bounds error, never privacy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Queries(u64);

impl Queries {
    /// # Errors
    /// For 0 and beyond 2⁵³.
    pub fn new(queries: u64) -> Result<Self, ParameterError> {
        if (1..=1 << 53).contains(&queries) {
            Ok(Self(queries))
        } else {
            Err(ParameterError::Queries(queries.to_string()))
        }
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The number, exactly: it is at most 2⁵³.
    pub fn to_f64(self) -> f64 {
        self.0 as f64
    }
}

/// β: the probability with which an accuracy guarantee may fail, strictly between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Beta(f64);

/// As text, so that a stored value is exact and passes the same check when it is read.
impl TryFrom<String> for Beta {
    type Error = ParameterError;

    fn try_from(text: String) -> Result<Self, ParameterError> {
        text.parse().map_err(|_| ParameterError::Beta(text)).and_then(Self::new)
    }
}

impl From<Beta> for String {
    fn from(value: Beta) -> Self {
        format!("{:?}", value.0)
    }
}

impl Beta {
    /// # Errors
    /// For NaN and outside (1e-300, 1).
    pub fn new(probability: f64) -> Result<Self, ParameterError> {
        if 1e-300 < probability && probability < 1.0 {
            Ok(Self(probability))
        } else {
            Err(ParameterError::Beta(format!("{probability:?}")))
        }
    }

    /// The probability.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Which data sets must be hard to tell apart. There is no default: it decides privacy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One record (or unit) more or fewer.
    AddRemove,
    /// One record (or unit) replaced by another; the number of units is public, and that of records if each unit has exactly one.
    Substitute,
}

impl Neighbours {
    /// How many rows a changed row of a unit stands for: one that is added or removed is one; one that is replaced leaves one
    /// place and enters another.
    ///
    /// ```
    /// use tamis_noise::Neighbours;
    /// assert_eq!((Neighbours::AddRemove.rows_moved(), Neighbours::Substitute.rows_moved()), (1, 2));
    /// ```
    pub fn rows_moved(self) -> u64 {
        match self {
            Self::AddRemove => 1,
            Self::Substitute => 2,
        }
    }
}

impl FromStr for Neighbours {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        match text {
            "add-remove" => Ok(Self::AddRemove),
            "substitute" => Ok(Self::Substitute),
            _ => Err(ParameterError::Neighbours(text.to_owned())),
        }
    }
}

impl fmt::Display for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::AddRemove => "add-remove",
            Self::Substitute => "substitute",
        })
    }
}

/// What the answers of a stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamKind {
    /// Unsigned counts of records: a record more never lowers one.
    Counts,
    /// Anything else: a neighbour may move each answer either way.
    Values,
}

impl StreamKind {
    /// Whether for any two neighbours all answers move the same way (theory: a *monotone* stream), which
    /// halves the query noise. Unsigned counts under add-remove are; nothing is under substitution.
    ///
    /// ```
    /// use tamis_noise::{Neighbours, StreamKind};
    /// assert!(StreamKind::Counts.is_monotone(Neighbours::AddRemove));
    /// assert!(!StreamKind::Counts.is_monotone(Neighbours::Substitute));
    /// assert!(!StreamKind::Values.is_monotone(Neighbours::AddRemove));
    /// ```
    pub fn is_monotone(self, neighbours: Neighbours) -> bool {
        self == Self::Counts && neighbours == Neighbours::AddRemove
    }
}

impl FromStr for StreamKind {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        match text {
            "counts" => Ok(Self::Counts),
            "values" => Ok(Self::Values),
            _ => Err(ParameterError::StreamKind(text.to_owned())),
        }
    }
}

impl fmt::Display for StreamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Counts => "counts",
            Self::Values => "values",
        })
    }
}
