//! Budgets, and the ledger that charges before anything is answered.

use crate::exact;
use crate::parameters::{Delta, Epsilon};
use dashu_ratio::RBig as Rational;
use std::fmt;

/// A privacy guarantee (ε, δ), to be promised or to be spent.
///
/// ```
/// use tamis_noise::{Budget, Delta, Epsilon};
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
/// assert_eq!(budget.to_string(), "ε = 1, δ = 0.000000001");
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Budget {
    epsilon: Epsilon,
    delta: Delta,
}

impl Budget {
    /// Pure privacy: δ = 0.
    pub fn pure(epsilon: Epsilon) -> Self {
        Self::approximate(epsilon, Delta::ZERO)
    }

    /// Approximate privacy.
    pub fn approximate(epsilon: Epsilon, delta: Delta) -> Self {
        Self { epsilon, delta }
    }

    /// ε.
    pub fn epsilon(&self) -> &Epsilon {
        &self.epsilon
    }

    /// δ.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ε = {}, δ = {}", self.epsilon, self.delta)
    }
}

/// What is left of a total, in exact rationals, under basic composition: the ε of all charges add up, and so do
/// their δ (Dwork and Roth 2014, Theorem 3.16).
///
/// ```
/// use tamis_noise::{Budget, Epsilon, Ledger};
/// let mut ledger = Ledger::new(Budget::pure(Epsilon::new(1.0)?));
/// let eleventh = Budget::pure("1/11".parse()?);
/// for _ in 0..11 {
///     ledger.charge(&eleventh)?; // eleven elevenths fit exactly
/// }
/// let refusal = ledger.charge(&Budget::pure(Epsilon::new(1e-12)?)).unwrap_err();
/// assert_eq!(refusal.to_string(), "budget exhausted: requested ε = 0.000000000001, δ = 0; \
///     spent ε = 1, δ = 0; left ε = 0, δ = 0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ledger {
    total: Budget,
    spent_epsilon: Rational,
    spent_delta: Rational,
}

/// A charge that does not fit. The ledger is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// What was asked for.
    pub requested: Budget,
    /// ε and δ spent by earlier charges.
    pub spent: (Rational, Rational),
    /// ε and δ still left: the largest charge that would pass.
    pub left: (Rational, Rational),
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |(epsilon, delta): &(Rational, Rational)| {
            format!("ε = {}, δ = {}", exact::display(epsilon), exact::display(delta))
        };
        write!(
            f,
            "budget exhausted: requested {}; spent {}; left {}",
            self.requested,
            show(&self.spent),
            show(&self.left)
        )
    }
}

impl std::error::Error for Exhausted {}

impl Ledger {
    /// Nothing spent yet.
    pub fn new(total: Budget) -> Self {
        Self { total, spent_epsilon: Rational::ZERO, spent_delta: Rational::ZERO }
    }

    /// Takes `request` out of what is left. Call it before the mechanism runs.
    ///
    /// # Errors
    /// If the request does not fit; then nothing is spent.
    pub fn charge(&mut self, request: &Budget) -> Result<(), Box<Exhausted>> {
        let epsilon = &self.spent_epsilon + request.epsilon.as_rational();
        let delta = &self.spent_delta + request.delta.as_rational();
        if epsilon > *self.total.epsilon.as_rational() || delta > *self.total.delta.as_rational() {
            return Err(Box::new(Exhausted { requested: request.clone(), spent: self.spent(), left: self.left() }));
        }
        (self.spent_epsilon, self.spent_delta) = (epsilon, delta);
        Ok(())
    }

    /// ε and δ spent so far.
    pub fn spent(&self) -> (Rational, Rational) {
        (self.spent_epsilon.clone(), self.spent_delta.clone())
    }

    /// ε and δ still left.
    pub fn left(&self) -> (Rational, Rational) {
        (self.total.epsilon.as_rational() - &self.spent_epsilon, self.total.delta.as_rational() - &self.spent_delta)
    }
}
