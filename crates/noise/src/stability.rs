//! Noisy counts of the keys that occur often, over a universe that nobody lists: the stability histogram.
//!
//! Korolova, Kenthapadi, Mishra, Ntoulas 2009; Bun, Nissim, Stemmer 2016. Both add noise to the counts of the keys that occur
//! and release those above a threshold; here the noise is integer, and a unit may have more than one row.
//!
//! # The release
//! A key with a count x ≥ 1 gets Z, discrete Laplace noise of scale t = Δ/ε, of its own; x + Z is released with the key if
//! **x + Z ≥ τ**, else nothing is said of the key. A key that does not occur is never released. Δ is L for add-remove and 2L
//! for substitute neighbours, where L is how many rows a unit has at most: the L1 sensitivity of a histogram. τ is the least
//! integer with
//!
//! ```text
//! L·P(Z ≥ τ − 1) ≤ δ    and    P(Z ≥ τ − L) ≤ min(δ, 1 − q),    q = e^(−1/t).
//! ```
//!
//! # Privacy
//! All of it together is (ε, δ)-private. *Proof.* Let x and x' be neighbours. Write A for the keys that occur in both tables, B
//! for those in x alone, C for those in x' alone. At a key of B all x(u) = j_u ≥ 1 records are of the unit that left, and at
//! a key of C of the one that came: Σ_B j_u ≤ L and Σ_C j_u ≤ L. Let p(j) = P(Z ≥ τ − j), the chance that j records are
//! released. Let S be a set of outputs, and S' those of them without a key of B.
//!
//! - *What a key of B may give away* has probability P(x gives S) − P(x gives S') ≤ Σ_B p(j_u). By the second condition
//!   τ − j ≥ 1 for j ≤ L (P(Z ≥ 0) = 1/(1 + q) > 1 − q), so p(j) = q^(τ − j)/(1 + q) = p(1)·e^((j − 1)/t). Then p(j)/j first
//!   falls and then rises with j: on 1 ..= L it is at most max(p(1), p(L)/L). So Σ_B p(j_u) ≤ Σ_B j_u·max(p(1), p(L)/L)
//!   ≤ max(L·p(1), p(L)) ≤ δ. The worst units put all their rows on one key, or each on its own.
//! - *Everything else* is likelier under x than under x' by a factor of at most e^ε. An output of S' has probability
//!   ∏_A P(output at u | x(u))·∏_B (1 − p(j_u)) under x and ∏_A P(output at u | x'(u))·∏_C (1 − p(j_u)) under x' (keys of C
//!   never come from x). A factor of A changes by at most e^(|x(u) − x'(u)|/t), since what is released is a function of x(u) + Z. Those of B
//!   are at most 1. One of C is at least q^(j_u), since p(j) ≤ p(L) ≤ 1 − q ≤ 1 − q^j. Altogether e^(D/t) at most, where
//!   D = Σ_A |x(u) − x'(u)| + Σ_C j_u ≤ ‖x − x'‖₁ ≤ Δ.
//!
//! So P(x gives S) ≤ e^ε·P(x' gives S') + δ ≤ e^ε·P(x' gives S) + δ. Nothing in this asks which of the two has the unit more.
//!
//! The inequality at τ is not strict, and the noise has atoms: the chance that a single record comes out is P(Z ≥ τ − 1), not
//! P(Z > τ − 1). With the threshold one lower δ would be up to e^(1/t) times as large; the tests show that it is.
//!
//! # What may be published
//! The keys that were released with their noisy counts, each key once, in an order that depends on the keys alone. **Not** the answers
//! `None`, nor how many there are: they tell which keys occur.
//!
//! # Exact
//! ε, δ and t are rationals, and the conditions are compared in integers with certain bounds on the exponentials, so the threshold never
//! understates δ. (A τ that satisfies them by a relative 2⁻¹⁰⁰ may be taken for one that does not: then τ is one larger.)
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | τ     | `threshold` | records |
//! | t     | `scale` | records |
//! | L     | `rows_per_unit` | records |

use crate::discrete_laplace::margin;
use crate::enclosure::{Probability, exponential};
use crate::{Beta, Budget, DiscreteLaplace, Neighbours, ParameterError, Queries, Scale, Sensitivity};
use dashu_base::{BitTest, UnsignedAbs};
use dashu_int::UBig;
use dashu_ratio::RBig;
use rand::CryptoRng;

/// Noise and threshold for the counts of keys, and the privacy that they give together. See the [module](self).
///
/// **Nothing is counted here.** The budget pays for each key of one table once; a second release costs it again, and is for the
/// caller to [charge](crate::Ledger). That a unit has at most L rows is for the caller to make true.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{Budget, Delta, Epsilon, Neighbours, stability::StabilityThreshold};
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
/// let heavy = StabilityThreshold::new(&budget, Neighbours::AddRemove, 1)?;
/// assert_eq!(heavy.threshold(), 22); // P(Z ≥ 21) = 5.5e-10
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// assert!(heavy.release(1_000, &mut rng).unwrap().abs_diff(1_000) < 30);
/// assert_eq!(heavy.release(1, &mut rng), None); // but for one time in 10⁹
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StabilityThreshold {
    cost: Budget,
    neighbours: Neighbours,
    rows_per_unit: u32,
    noise: DiscreteLaplace,
    threshold: i64,
}

/// What no threshold can be had for, or a threshold that does not give the privacy it is said to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StabilityError {
    /// δ = 0: then no key that one table has and its neighbour has not may ever be named.
    #[error("to release the keys that occur often needs a delta above 0, got 0")]
    WithoutDelta,
    /// L = 0.
    #[error("the rows of a unit must be at least 1, got 0")]
    NoRows,
    /// Recorded noise of another scale.
    #[error("the scale of the noise on counts must be {expected} for this privacy, got {recorded}")]
    OtherScale {
        /// Δ/ε.
        expected: String,
        /// As recorded.
        recorded: String,
    },
    /// A recorded threshold with which δ would be larger.
    #[error("the threshold for counts must be at least {least} for this privacy, got {recorded}")]
    TooLow {
        /// τ.
        least: i64,
        /// As recorded.
        recorded: i64,
    },
    /// A scale that the sampler does not serve.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl StabilityThreshold {
    /// The least threshold for this privacy.
    ///
    /// # Errors
    /// If δ or `rows_per_unit` is 0, or Δ/ε is a scale that the sampler does not serve.
    pub fn new(budget: &Budget, neighbours: Neighbours, rows_per_unit: u32) -> Result<Self, StabilityError> {
        if budget.delta().is_zero() {
            return Err(StabilityError::WithoutDelta);
        }
        if rows_per_unit == 0 {
            return Err(StabilityError::NoRows);
        }
        let sensitivity = Sensitivity::new(neighbours.rows_moved() * u64::from(rows_per_unit))?;
        let scale = Scale::of(sensitivity, budget.epsilon())?;
        let threshold = least_threshold(budget, rows_per_unit, &scale);
        Ok(Self { cost: budget.clone(), neighbours, rows_per_unit, noise: DiscreteLaplace::new(scale), threshold })
    }

    /// One that was recorded: its parts are checked against what they are said to promise.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if the scale is not Δ/ε or the threshold is too low. A higher one is as private.
    ///
    /// ```
    /// use tamis_noise::{Budget, Delta, Epsilon, Neighbours};
    /// use tamis_noise::stability::{StabilityError, StabilityThreshold};
    /// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
    /// let restore = |threshold| {
    ///     StabilityThreshold::restore(&budget, Neighbours::AddRemove, 1, &"1".parse().unwrap(), threshold)
    /// };
    /// assert_eq!(restore(22)?.threshold(), 22);
    /// assert_eq!(restore(21).unwrap_err(), StabilityError::TooLow { least: 22, recorded: 21 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(
        budget: &Budget,
        neighbours: Neighbours,
        rows_per_unit: u32,
        scale: &Scale,
        threshold: i64,
    ) -> Result<Self, StabilityError> {
        let least = Self::new(budget, neighbours, rows_per_unit)?;
        if scale != least.scale() {
            let (expected, recorded) = (least.scale().to_string(), scale.to_string());
            return Err(StabilityError::OtherScale { expected, recorded });
        }
        if threshold < least.threshold {
            return Err(StabilityError::TooLow { least: least.threshold, recorded: threshold });
        }
        Ok(Self { threshold, ..least })
    }

    /// The noisy count of a key with `count` records, or nothing: nothing always if `count` is not positive. One draw each time.
    ///
    /// Beyond the range of `i64` it saturates, which is a function of the noisy count and harmless. Of several keys publish
    /// [no `None`](self#what-may-be-published), and not the order of the calls.
    pub fn release<R: CryptoRng + ?Sized>(&self, count: i64, rng: &mut R) -> Option<i64> {
        self.above(count, self.noise.sample(rng))
    }

    /// Each count with noise of its own: the very values that as many calls of [`release`](Self::release) give.
    /// [Not for publication](self#what-may-be-published) as it is: its length and its `None`s are data.
    pub fn release_all<R: CryptoRng + ?Sized>(&self, counts: &[i64], rng: &mut R) -> Vec<Option<i64>> {
        let mut noise = vec![0; counts.len()];
        self.noise.fill(&mut noise, rng);
        counts.iter().zip(noise).map(|(&count, noise)| self.above(count, noise)).collect()
    }

    fn above(&self, count: i64, noise: i64) -> Option<i64> {
        let noisy = count.saturating_add(noise);
        (count >= 1 && noisy >= self.threshold).then_some(noisy)
    }

    /// τ: the least noisy count that is released. At least L + 1.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// t, the scale of the noise.
    pub fn scale(&self) -> &Scale {
        self.noise.scale()
    }

    /// What a release of all keys of a table spends.
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

    /// α in records: with probability 1 − β the noise of each of `keys` keys is at most α ([`margin`] of β/k). Then each key
    /// with τ + α records or more is released, and within α of its count.
    ///
    /// ```
    /// use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries, stability::StabilityThreshold};
    /// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
    /// let heavy = StabilityThreshold::new(&budget, Neighbours::AddRemove, 1)?;
    /// assert_eq!(heavy.accuracy(Queries::new(1_000)?, Beta::new(0.05)?), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn accuracy(&self, keys: Queries, beta: Beta) -> u64 {
        margin(self.scale(), beta.get() / keys.to_f64())
    }
}

/// By a guess and halving: both conditions are monotone in τ.
fn least_threshold(budget: &Budget, rows_per_unit: u32, scale: &Scale) -> i64 {
    let (delta, rate) = (budget.delta().as_rational(), RBig::ONE / scale.as_rational());
    // δ has about so many bits: 160 more tell it from L times a probability, for every L.
    let precision = 160 + (RBig::ONE / delta).ceil().bit_len();
    let allowed: UBig = (delta * RBig::from(UBig::ONE << precision)).floor().unsigned_abs();
    let gap = (UBig::ONE << precision) - exponential(&rate, precision).high;
    let allowed_together = gap.min(allowed.clone());
    let at_least = |least: i64| Probability::Tail { at_least: least, rate: &rate }.enclose(precision).high;
    // Whether a threshold above L certainly satisfies the conditions of the module.
    let is_private = |threshold: i64| {
        at_least(threshold - 1) * UBig::from(rows_per_unit) <= allowed
            && at_least(threshold - i64::from(rows_per_unit)) <= allowed_together
    };
    // Where floats guess it, and from there in growing steps to where it is. It ends: at a scale of up to 2⁴⁰ the noise exceeds 2⁵⁰ with a
    // probability below any δ.
    let least = i64::from(rows_per_unit);
    let guess = guessed_threshold(budget, rows_per_unit, scale).clamp(least + 1, 1 << 50);
    let (mut low, mut high, mut step) = (guess - 1, guess, 1);
    while !is_private(high) {
        (low, high, step) = (high, high + step, 2 * step);
    }
    while low > least && is_private(low) {
        (low, high, step) = ((low - step).max(least), low, 2 * step);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_private(middle) { high = middle } else { low = middle }
    }
    high
}

/// About the threshold from which noise of at least τ − 1 has a probability of δ/L, and of τ − L one of what is left for all.
fn guessed_threshold(budget: &Budget, rows_per_unit: u32, scale: &Scale) -> i64 {
    let (delta, scale, rows) = (budget.delta().to_f64_down(), scale.to_f64_up(), f64::from(rows_per_unit));
    let together = delta.min(-(-scale.recip()).exp_m1());
    // P(Z ≥ z) = e^(−z/t)/(1 + e^(−1/t)).
    let reach = |probability: f64| -scale * (probability * (1.0 + (-scale.recip()).exp())).ln();
    let guess = (reach(delta / rows) + 1.0).max(reach(together) + rows);
    // Where floats have no such δ, nothing is guessed. A cast saturates, and what it gives is tested exactly.
    if guess.is_finite() { guess.ceil() as i64 } else { 0 }
}
