//! Zero-concentrated privacy for Gaussian noise: ρ adds up, and CKS20 Corollary 13 converts it.

use super::{CompositionError, LARGEST_EPSILON, LEAST_EPSILON, greatest_accepted, least_accepted, refuse_pure};
use crate::{Budget, Delta, Epsilon, ParameterError, Rational, Variance, exact};
use std::{fmt, num::NonZeroU128};

/// ρ of zero-concentrated differential privacy (Bun, Steinke 2016), exactly; from 1e-30 to 10⁶.
///
/// ```
/// use std::num::NonZero;
/// use tamis_noise::{Variance, composition::Rho};
/// let one = Rho::of_gaussian(NonZero::<u128>::MIN, &Variance::new(50.0)?)?;
/// assert_eq!(one, Rho::from_rational("1/100".parse().unwrap())?);
/// assert_eq!(one.plus(&one)?.to_string(), "0.02");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rho(Rational);

impl Rho {
    /// # Errors
    /// If the value is outside the range of the type.
    pub fn from_rational(rho: Rational) -> Result<Self, CompositionError> {
        let least = Rational::ONE / Rational::from(10u128.pow(30));
        if least <= rho && rho <= Rational::from(1_000_000) {
            Ok(Self(rho))
        } else {
            Err(CompositionError::Rho(exact::display(&rho)))
        }
    }

    /// Integer Gaussian noise of parameter `variance` on a vector of integers that one privacy unit moves by
    /// at most √`squared_norm`: ρ = ‖shift‖₂²/(2σ²) (CKS20 Theorem 4, added up over the coordinates).
    ///
    /// # Errors
    /// If the quotient is outside the range of the type.
    pub fn of_gaussian(squared_norm: NonZeroU128, variance: &Variance) -> Result<Self, CompositionError> {
        Self::from_rational(Rational::from(squared_norm.get()) / (Rational::from(2) * variance.as_rational()))
    }

    /// Composition: the ρ of adaptive mechanisms add up, exactly (Bun, Steinke 2016, Lemma 2.3).
    ///
    /// # Errors
    /// If the sum is outside the range of the type.
    pub fn plus(&self, other: &Self) -> Result<Self, CompositionError> {
        Self::from_rational(&self.0 + &other.0)
    }

    /// The exact value.
    pub fn as_rational(&self) -> &Rational {
        &self.0
    }
}

impl fmt::Display for Rho {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&exact::display(&self.0))
    }
}

/// δ at `epsilon` of any ρ-concentrated mechanism: an upper bound (CKS20 Corollary 13).
///
/// ```
/// use tamis_noise::{Epsilon, composition::{Rho, zcdp}};
/// let rho = Rho::from_rational("1/50".parse().unwrap())?;
/// assert!(zcdp::delta(&rho, &Epsilon::new(1.0)?) < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn delta(rho: &Rho, epsilon: &Epsilon) -> f64 {
    delta_at(exact::to_f64_up(&rho.0), epsilon.to_f64_down())
}

/// The total ε of any ρ-concentrated mechanism at `delta`: rounded up, by less than one part in 10¹¹ beyond the
/// bound of [`delta`].
///
/// # Errors
/// If δ is 0, at which no ρ has an ε; if the result is above the largest [`Epsilon`].
///
/// ```
/// use tamis_noise::{Delta, composition::{Rho, zcdp}};
/// let rho = Rho::from_rational("1/50".parse().unwrap())?;
/// let epsilon = zcdp::epsilon(&rho, &Delta::new(1e-6)?)?;
/// assert!(zcdp::delta(&rho, &epsilon) <= 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn epsilon(rho: &Rho, delta: &Delta) -> Result<Epsilon, CompositionError> {
    refuse_pure(delta, ROUTE)?;
    let (rho, allowed) = (exact::to_f64_up(&rho.0), delta.to_f64_down());
    let within = |epsilon: f64| delta_at(rho, epsilon) <= allowed;
    if !within(LARGEST_EPSILON) {
        return Err(ParameterError::Epsilon("more than 1000".to_owned()).into());
    }
    Ok(Epsilon::from_rational(least_accepted(LEAST_EPSILON, LARGEST_EPSILON, within))?)
}

/// The largest ρ within `budget`, rounded down by less than one part in 10¹¹ below the bound of [`delta`].
///
/// # Errors
/// If δ is 0, within which no ρ is.
///
/// ```
/// use tamis_noise::{Budget, Delta, Epsilon, composition::zcdp};
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let rho = zcdp::rho(&budget)?;
/// assert!(zcdp::delta(&rho, budget.epsilon()) <= 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rho(budget: &Budget) -> Result<Rho, CompositionError> {
    refuse_pure(budget.delta(), ROUTE)?;
    let (epsilon, allowed) = (budget.epsilon().to_f64_down(), budget.delta().to_f64_down());
    let within = |rho: f64| delta_at(rho, epsilon) <= allowed;
    Rho::from_rational(greatest_accepted(f64::MIN_POSITIVE, 1e6, within))
}

const ROUTE: &str = "Gaussian noise";

/// min over a > 0 of e^E(a), E(a) = a·((1+a)·ρ − ε) − a·ln(1 + 1/a) − ln(1 + a), which is CKS20 Corollary 13 with
/// α = 1 + a. Every a gives an upper bound, so that only the evaluation needs a bound of its error: E adds five
/// products of positive numbers, each right to 8·2⁻⁵³ of itself, to which as much again is added.
fn delta_at(rho: f64, epsilon: f64) -> f64 {
    let a = best_order_less_one(rho, epsilon);
    let (gain, loss) = (a * ((1.0 + a) * rho), a * epsilon);
    let (first, second) = (a * a.recip().ln_1p(), a.ln_1p());
    let error = 8.0 * f64::EPSILON * (gain + loss + first + second + 1.0);
    (gain - loss - first - second + error).exp().clamp(f64::MIN_POSITIVE, 1.0)
}

/// The zero of E'(a) = (1 + 2a)·ρ − ε − ln(1 + 1/a), which increases in a, nearly.
fn best_order_less_one(rho: f64, epsilon: f64) -> f64 {
    let rising = |a: f64| (1.0 + 2.0 * a) * rho - epsilon >= a.recip().ln_1p();
    // At a = ε/ρ + 1/√ρ the left side is above 2√ρ, and the right side is below 1/a, hence below √ρ.
    let mut enclosure = (1e-300, epsilon / rho + rho.sqrt().recip());
    while enclosure.1 > enclosure.0 * 1.000_000_1 {
        // The geometric mean, since the zero may be anywhere between 1e-300 and 1e30.
        let middle = enclosure.0.sqrt() * enclosure.1.sqrt();
        if rising(middle) {
            enclosure.1 = middle;
        } else {
            enclosure.0 = middle;
        }
    }
    enclosure.1
}
