//! Noise for each answer: what there is to beat while lists are few.
//!
//! # The release
//! k queries, each a set of keys with weights of at most 1, are answered exactly, in whole units of 2⁻²⁰ records, and
//! each answer gets integer noise of its own. Nothing is said of any other query, and nothing is made of what the
//! queries have in common.
//!
//! # Privacy
//! All k answers together are private with the plan's [cost](PerQueryPlan::cost), for its neighbours and units of at
//! most L rows.
//!
//! *Proof.* A unit moves one answer by at most Δ = L·2²⁰ units: by at most 2²⁰ for each of its rows, all one way if it
//! is added or removed; if it is replaced, L rows go and L come, and those that go take at most Δ away and those that
//! come bring at most Δ.
//!
//! - [`laplace`](PerQueryPlan::laplace): noise of scale Δ/ε₀ makes one answer ε₀-private ([`DiscreteLaplace`]), and ε₀
//!   is what each of k adaptive ε₀-private mechanisms may cost within the budget: ε/k if δ = 0, else by optimal
//!   composition ([`optimal::epsilon_per_run`]); beyond the million runs that is served for, by concentrated privacy:
//!   an ε₀-private mechanism is ½ε₀²-concentrated (Bun, Steinke 2016, Proposition 1.4), so ε₀ = √(2ρ/k) with the ρ of
//!   [`zcdp::rho`].
//! - [`gaussian`](PerQueryPlan::gaussian): the k answers are a vector that moves by at most √k·Δ ([`concentrated`]).
//!
//! Both routes allow each query to be chosen after the answers before it. [`PerQueryPlan::release`] takes a whole list,
//! for which that does not matter; who asks one after another takes `Plan::gaussian` of the crate `tamis-interactive`,
//! which counts.
//!
//! # Accuracy
//! [`predicted_standard_error`](PerQueryPlan::predicted_standard_error) is exact; the [bound](PerQueryPlan::guarantee)
//! is, for Laplace noise, the least whole number of units that the law itself gives, about ln(k/β)/ε₀ records, and
//! √k·σ₁·√(2 ln(2k/β)) for Gaussian noise, where σ₁ is that of one answer. Neither depends on m or on the universe.
//! Weights with fractions are rounded to units beforehand, which adds at most 2⁻²¹ for each record.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | k     | `queries` | count |
//! | ε₀    | [`PerQueryPlan::laplace`] computes it | privacy loss |
//! | Δ     | L·2²⁰ | units of 2⁻²⁰ records |
//!
//! # References
//! - C. Dwork, F. McSherry, K. Nissim, A. Smith, *Calibrating noise to sensitivity in private data analysis*, TCC 2006.
//! - P. Kairouz, S. Oh, P. Viswanath, *The composition theorem for differential privacy*, ICML 2015.
//! - M. Bun, T. Steinke, *Concentrated differential privacy*, TCC 2016.

use crate::units::{Answer, check_data, check_rows, in_records};
use crate::{BaselineError, Noise};
use rand::CryptoRng;
use std::num::NonZeroU128;
use tamis_noise::composition::{CompositionError, optimal, zcdp};
use tamis_noise::gaussian_calibration::concentrated;
use tamis_noise::{
    Beta, Budget, DiscreteGaussian, DiscreteLaplace, Epsilon, Hits, Neighbours, Queries, Rational, Scale, Sensitivity,
};
use tamis_queries::{Histogram, SparseQuery};

/// k answers with noise of their own, before any data is seen. See the [module](self).
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_baselines::PerQueryPlan;
/// use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
/// use tamis_queries::{Fingerprint, Histogram, SparseQuery};
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
/// let plan = |k| PerQueryPlan::gaussian(&budget, Neighbours::AddRemove, 1, Queries::new(k)?);
/// assert!((plan(1_000_000)?.guarantee(Beta::new(0.05)?) / 1e6 - 0.034).abs() < 5e-4); // the one to beat at n = k = 10⁶
///
/// let table = Histogram::builder().add(Fingerprint::raw(1), 700)?.add(Fingerprint::raw(2), 300)?.build();
/// let lists = [SparseQuery::count([1, 2].map(Fingerprint::raw)), SparseQuery::count([Fingerprint::raw(2)])];
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let answers = plan(2)?.release(&lists, &table, &mut rng)?;
/// assert!((answers[0].value - 1_000.0).abs() < 50.0 && (answers[1].value - 300.0).abs() < 50.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PerQueryPlan {
    cost: Budget,
    neighbours: Neighbours,
    rows_per_unit: u32,
    queries: Queries,
    /// In units.
    noise: Noise,
}

impl PerQueryPlan {
    /// Laplace noise. If δ is 0, or does not help, it is not spent.
    ///
    /// # Errors
    /// If L is not from 1 to 1 000 000, or the noise is of a scale that the sampler does not serve: beyond 2²⁰ records,
    /// where ε₀ is below L/2²⁰.
    pub fn laplace(
        budget: &Budget,
        neighbours: Neighbours,
        rows_per_unit: u32,
        queries: Queries,
    ) -> Result<Self, BaselineError> {
        let sensitivity = sensitivity(rows_per_unit)?;
        let per_query = epsilon_per_query(budget, queries)?;
        let spends_delta = per_query.as_rational() * Rational::from(queries.get()) > *budget.epsilon().as_rational();
        Ok(Self {
            cost: if spends_delta { budget.clone() } else { Budget::pure(budget.epsilon().clone()) },
            neighbours,
            rows_per_unit,
            queries,
            noise: Noise::Laplace(DiscreteLaplace::new(Scale::of(sensitivity, &per_query)?)),
        })
    }

    /// Gaussian noise.
    ///
    /// # Errors
    /// If L is not from 1 to 1 000 000, δ is 0, or the noise is of a variance that the sampler does not serve.
    pub fn gaussian(
        budget: &Budget,
        neighbours: Neighbours,
        rows_per_unit: u32,
        queries: Queries,
    ) -> Result<Self, BaselineError> {
        let one = u128::from(sensitivity(rows_per_unit)?.get()).pow(2);
        // Beyond 2^128 the variance is out of range all the more.
        let squared_norm = NonZeroU128::new(one.saturating_mul(queries.get().into())).unwrap_or(NonZeroU128::MAX);
        let noise = Noise::Gaussian(DiscreteGaussian::new(concentrated(squared_norm, budget)?));
        Ok(Self { cost: budget.clone(), neighbours, rows_per_unit, queries, noise })
    }

    /// What a release spends, to be charged before it.
    pub fn cost(&self) -> &Budget {
        &self.cost
    }

    /// For which neighbours it is private.
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// L: how many rows a unit may have.
    pub fn rows_per_unit(&self) -> u32 {
        self.rows_per_unit
    }

    /// k: how many answers a release has at most.
    pub fn queries(&self) -> Queries {
        self.queries
    }

    /// The noise of each answer, in units of 2⁻²⁰ records.
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// The standard error of each answer, in records: the root of the true variance of the noise.
    pub fn predicted_standard_error(&self) -> f64 {
        in_records(self.noise.variance().sqrt())
    }

    /// With probability 1 − β all k answers are within so many records: see the [module](self#accuracy).
    pub fn guarantee(&self, beta: Beta) -> f64 {
        in_records(self.noise.reach(beta.get() / self.queries.to_f64()))
    }

    /// The answers, in order. The same query twice gets two answers, which count twice.
    ///
    /// # Errors
    /// If the queries are more than k, or the data was [bounded](Histogram::rows_per_unit) to more rows a unit than the
    /// plan is for. Neither depends on the rows themselves, and nothing is spent then.
    pub fn release<R: CryptoRng + ?Sized>(
        &self,
        queries: &[SparseQuery],
        data: &Histogram,
        rng: &mut R,
    ) -> Result<Vec<Answer>, BaselineError> {
        check_data(data, self.rows_per_unit)?;
        if queries.len() as u64 > self.queries.get() {
            return Err(BaselineError::TooManyQueries { planned: self.queries.get(), given: queries.len() });
        }
        let standard_error = self.predicted_standard_error();
        let mut answers: Vec<i64> = queries.iter().map(|query| query.evaluate(data)).collect();
        self.noise.add_to(&mut answers, rng);
        Ok(answers.into_iter().map(|units| Answer { value: in_records(units as f64), standard_error }).collect())
    }
}

/// Δ.
fn sensitivity(rows_per_unit: u32) -> Result<Sensitivity, BaselineError> {
    check_rows(rows_per_unit)?;
    Ok(Sensitivity::new(u64::from(rows_per_unit) * u64::from(SparseQuery::UNIT))?)
}

/// ε₀: see the [module](self#privacy).
fn epsilon_per_query(budget: &Budget, queries: Queries) -> Result<Epsilon, CompositionError> {
    if let Ok(runs) = Hits::new(queries.get()) {
        return Ok(optimal::epsilon_per_run(runs, budget)?);
    }
    let basic = Epsilon::from_rational(budget.epsilon().as_rational() / Rational::from(queries.get()));
    if budget.delta().is_zero() {
        return Ok(basic?);
    }
    let squared = Rational::from(2) * zcdp::rho(budget)?.as_rational() / Rational::from(queries.get());
    let concentrated = Epsilon::from_rational(root_down(&squared));
    match (basic, concentrated) {
        (Ok(basic), Ok(concentrated)) => Ok(basic.max(concentrated)),
        (one, other) => Ok(one.or(other)?),
    }
}

/// A rational of a float's digits whose square is at most `square`, which is below 2⁹⁹⁹ and above 2⁻⁹⁹⁹.
fn root_down(square: &Rational) -> Rational {
    // Roots of floats are off by at most a relative 2⁻⁵² here; 2⁻⁴⁰ is taken off.
    let root = square.to_f64().value().sqrt() * (1.0 - 2f64.powi(-40));
    // Cannot fail: a finite number.
    Rational::try_from(root).unwrap_or(Rational::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_optimal_composition_concentrated_privacy_goes_on() {
        let budget = Budget::approximate(Epsilon::new(1.0).unwrap(), "1e-9".parse().unwrap());
        let at = |k: u64| epsilon_per_query(&budget, Queries::new(k).unwrap()).unwrap().to_f64_up();
        let (last, next) = (at(1_000_000), at(1_000_001));
        // Optimal composition of Laplace mechanisms is no worse, and for so many hardly better.
        assert!(next <= last && next > 0.95 * last, "{last} {next}");
        assert!((at(4_000_004) / next - 0.5).abs() < 1e-6);
        let pure = Budget::pure(Epsilon::new(1.0).unwrap());
        assert_eq!(epsilon_per_query(&pure, Queries::new(3_000_000).unwrap()).unwrap(), "1/3000000".parse().unwrap());
        // Where δ hardly helps and ε is large, basic composition would be more.
        let large = Budget::approximate(Epsilon::new(1000.0).unwrap(), "1e-300".parse().unwrap());
        let per_query = epsilon_per_query(&large, Queries::new(1_000_001).unwrap()).unwrap();
        assert!(per_query.as_rational() * Rational::from(1_000_001) >= Rational::from(1000));
    }

    #[test]
    fn roots_are_rounded_down() {
        for text in ["2", "1/3", "1e-20", "12345.678"] {
            let square = tamis_noise::parse_rational(text).unwrap();
            let root = root_down(&square);
            assert!(&root * &root <= square, "{text}");
            assert!(&root * &root > square * tamis_noise::parse_rational("0.999999999").unwrap(), "{text}");
        }
    }
}
