//! Answers from a release alone: no private data is seen here.
//!
//! # Estimate
//! With B = Σ_u q(u)·(column of u), q̂ = (1/s)·Σ_j Y_j·B_j, unbiased over seed and noise: the columns of different keys are
//! uncorrelated, and each has s entries ±1 (dense: s = T). The sum is of integers and exact.
//!
//! Of a release with [heavy keys](crate::heavy) their noisy counts c̃ are known: Y stands below for Y less the sketch of c̃, x for
//! x − c̃, and q(c̃) is added to the estimate in the end.
//!
//! # Standard error
//! - **Dense**: the sample standard deviation of the T terms Y_j·B_j, over √T. Unbiased for the variance, since terms of
//!   different rows are uncorrelated (4-wise independence), and it contains everything, also that a query's own keys err less.
//! - **Sparse**: √(σ²‖B‖²/s² + (F‖q‖² + q̂²)/T) with F = max(0, (‖Y‖² − Tσ²)/s), an estimate of ‖x‖². The first term is the
//!   noise's variance given the seed, the second bounds that of the other keys. A little too large where the query's own keys
//!   are heavy.
//!
//! # Intervals
//! Value ± z standard errors. Which z, is decided by the error's excess kurtosis κ (0 for a bell curve): the sum of what the
//! data's keys add to it, which is estimated from the release, and of what the noise adds, which is known.
//!
//! - [`Rule::Normal`], the normal quantile: for dense signs, and for sparse ones if keys add at most ½ and the noise at most
//!   0.003.
//! - [`Rule::FewKeys`]: the noise is that of some hundreds of keys or less, and of long tails: the quantile of a normal law and
//!   this noise together, by their [tails](crate::tails).
//! - [`Rule::Conservative`]: Chebyshev's (1 − level)^(−1/2), 4.47 at 95 %, right for any law of this variance. It is for sparse
//!   signs under heavy keys, which add more than ½: one key of X records errs by nothing if no key of the query shares a row
//!   with it, else by X/s.
//!
//! κ = (Σq⁴·Σx⁴/(s²T) + κ₄·ΣB⁴/s⁴)/se⁴: a key u of the query meets a key v of the data in each of s blocks with
//! probability s/T and then errs by ±q(u)x(v)/s; κ₄ is the fourth cumulant of the noise. Σx⁴ is not known, but Σ_j Y_j⁴ is in
//! expectation s·Σx⁴ + 3(‖Y‖²)²/T + Tκ₄ but for a share s/T; it is taken three of its own standard errors too
//! large. For one key Σx⁴ is F², and the first term of κ at most T/(s²m) for a list of m.

use crate::bounds::normal_quantile;
use crate::family::Rows;
use crate::tails::Tails;
use crate::{Plan, ProjectionError, Seed, SignFamily, Signs, heavy};
use rayon::prelude::*;
use tamis_queries::{Fingerprint, SparseQuery};

/// Excess kurtosis up to which a law is near to a bell curve: it moves the coverage at 95 % or 99 % by about half a percent. What
/// the keys of the data add is taken for normal up to it.
const BELL: f64 = 0.5;

/// That of the noise, whose law is known, up to which it is taken for normal. It moves the quantile z by κ(z² − 3)/24 of itself:
/// 0.3 % for one in twenty millions.
const MOST_OF_NOISE: f64 = 0.003;

/// A release: everything in it may be published. Made by [`Plan::release`].
#[derive(Clone, Debug)]
pub struct ProjectionRelease {
    plan: Plan,
    family: SignFamily,
    values: Vec<i64>,
    /// c̃, sorted by fingerprint, each once.
    heavy: Vec<(Fingerprint, i64)>,
    /// Y less the sketch of c̃, where there are heavy keys.
    residual: Option<Vec<i64>>,
    /// F.
    squared_norm: f64,
    /// Σx⁴, from above.
    fourth_powers: f64,
}

/// What a release says of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The estimate, in records. Unbiased, so it may be below 0.
    pub value: f64,
    /// Its standard error, in records.
    pub standard_error: f64,
    /// By which rule its intervals are made.
    pub rule: Rule,
}

/// How many standard errors make an interval. See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The quantile of the normal law.
    Normal,
    /// That of the noise of few keys beside a normal part.
    FewKeys(Tails),
    /// Chebyshev's.
    Conservative,
}

/// An interval of confidence, in records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Answer {
    /// An interval that holds the true answer with probability about `level`, over seed and noise; at least that if the rule
    /// is [`Rule::Conservative`] and the standard error right. Answers of one release err together: this is for each alone.
    ///
    /// # Errors
    /// If the level is not strictly between 0 and 1.
    ///
    /// ```
    /// use tamis_projection::{Answer, Rule};
    /// let answer = Answer { value: 4_010.0, standard_error: 100.0, rule: Rule::Normal };
    /// let interval = answer.interval(0.95)?;
    /// assert!((interval.upper - 4_206.0).abs() < 0.1 && (interval.lower - 3_814.0).abs() < 0.1);
    /// let wide = Answer { rule: Rule::Conservative, ..answer }.interval(0.95)?;
    /// assert!((wide.upper - 4_457.2).abs() < 0.1);
    /// # Ok::<(), tamis_projection::ProjectionError>(())
    /// ```
    pub fn interval(&self, level: f64) -> Result<Interval, ProjectionError> {
        if !(0.0 < level && level < 1.0) {
            return Err(ProjectionError::Level(format!("{level:?}")));
        }
        let half = self.rule.half_width(self.standard_error, 1.0 - level);
        Ok(Interval { lower: self.value - half, upper: self.value + half })
    }
}

impl Rule {
    /// In a word: `normal` for a bell curve and what is near to one (noise that adds at most ½ to the kurtosis), `few-keys` for
    /// noise that is none, `conservative`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::FewKeys(tails) if tails.kurtosis() > BELL => "few-keys",
            Self::Normal | Self::FewKeys(_) => "normal",
            Self::Conservative => "conservative",
        }
    }

    /// For sparse signs in so many rows, by what the data's keys and the noise add to the kurtosis.
    pub(crate) fn sparse(rows: usize, of_keys: f64, of_noise: f64, tails: Tails) -> Self {
        if rows < LEAST_ROWS || of_keys > BELL { Self::Conservative } else { Self::of_noise(of_noise, tails) }
    }

    /// The same where what the keys of the data add is normal.
    pub(crate) fn of_noise(of_noise: f64, tails: Tails) -> Self {
        if of_noise > MOST_OF_NOISE { Self::FewKeys(tails) } else { Self::Normal }
    }

    /// For dense signs in so many rows.
    pub(crate) fn dense(rows: usize) -> Self {
        if rows < LEAST_ROWS { Self::Conservative } else { Self::Normal }
    }

    /// Half of an interval that misses the true answer with this probability.
    pub(crate) fn half_width(self, standard_error: f64, outside: f64) -> f64 {
        let deviations = match self {
            Self::Normal => normal_quantile(outside),
            Self::FewKeys(tails) => tails.deviations(outside),
            Self::Conservative => outside.sqrt().recip(),
        };
        deviations * standard_error
    }
}

/// With fewer rows neither the sample variance nor the estimate of the kurtosis is to be relied upon.
pub(crate) const LEAST_ROWS: usize = 256;

/// Largest magnitude of a value, by far.
const MAX_VALUE: u64 = 1 << 54;

/// That there is a value for each row.
fn check_length(family: &SignFamily, values: &[i64]) -> Result<(), ProjectionError> {
    if values.len() == family.width() {
        return Ok(());
    }
    Err(ProjectionError::OtherShape { planned: family.width(), given: values.len() })
}

/// That each value is one that a release may hold.
fn check_range(values: &[i64]) -> Result<(), ProjectionError> {
    values
        .iter()
        .find(|value| value.unsigned_abs() > MAX_VALUE)
        .map_or(Ok(()), |&value| Err(ProjectionError::Value(value)))
}

impl ProjectionRelease {
    /// A release as it was published: a plan, the seed, the noisy values and the noisy counts of the heavy keys, none if the plan
    /// does not release them apart. It adds no noise.
    ///
    /// That all this was made by this plan is then the word of whoever published it.
    ///
    /// # Errors
    /// If there are not as many values as the plan has rows, or one is beyond ±2⁵⁴; if heavy keys are not sorted by fingerprint,
    /// each once, or one has a count below the plan's threshold, or all together more than 2⁵⁴.
    pub fn restore(
        plan: Plan,
        seed: Seed,
        values: Vec<i64>,
        heavy: Vec<(Fingerprint, i64)>,
    ) -> Result<Self, ProjectionError> {
        let family = SignFamily::new(plan.shape(), seed);
        check_length(&family, &values)?;
        check_range(&values)?;
        heavy::check(&plan, &heavy)?;
        Ok(Self::new(plan, family, values, heavy))
    }

    /// The same from Y less the sketch of c̃, as a [file](crate::file) holds it, which need not be computed then.
    ///
    /// # Errors
    /// As [`restore`](Self::restore), with those of the heavy keys first.
    pub(crate) fn restore_residual(
        plan: Plan,
        seed: Seed,
        residual: Vec<i64>,
        heavy: Vec<(Fingerprint, i64)>,
    ) -> Result<Self, ProjectionError> {
        // Before the sum, so that it cannot overflow; below, a sum that would is out of range, too.
        heavy::check(&plan, &heavy)?;
        let family = SignFamily::new(plan.shape(), seed);
        check_length(&family, &residual)?;
        let (values, residual) = if heavy.is_empty() {
            (residual, None)
        } else {
            let mut values = family.sum(&heavy);
            values.iter_mut().zip(&residual).for_each(|(value, left)| *value = value.saturating_add(*left));
            (values, Some(residual))
        };
        check_range(&values)?;
        Ok(Self::with_residual(plan, family, values, heavy, residual))
    }

    pub(crate) fn new(plan: Plan, family: SignFamily, values: Vec<i64>, heavy: Vec<(Fingerprint, i64)>) -> Self {
        let residual = (!heavy.is_empty()).then(|| {
            let mut residual = family.sum(&heavy);
            // Cannot overflow: neither is beyond ±2⁵⁴.
            residual.iter_mut().zip(&values).for_each(|(sum, value)| *sum = value - *sum);
            residual
        });
        Self::with_residual(plan, family, values, heavy, residual)
    }

    fn with_residual(
        plan: Plan,
        family: SignFamily,
        values: Vec<i64>,
        heavy: Vec<(Fingerprint, i64)>,
        residual: Option<Vec<i64>>,
    ) -> Self {
        let left = residual.as_deref().unwrap_or(&values);
        let (width, nonzeros) = (left.len() as f64, f64::from(family.shape().nonzeros()));
        let power_sum = |power: i32| left.iter().map(|&value| (value as f64).powi(power)).sum::<f64>();
        let (squares, fourths, eighths) = (power_sum(2), power_sum(4), power_sum(8));
        let noise = plan.noise();
        let excess = fourths - 3.0 * squares * squares / width - width * noise.fourth_cumulant();
        let uncertainty = (eighths - fourths * fourths / width).max(0.0).sqrt();
        Self {
            squared_norm: ((squares - width * noise.variance()) / nonzeros).max(0.0),
            fourth_powers: ((excess + 3.0 * uncertainty) / nonzeros).max(0.0),
            plan,
            family,
            values,
            heavy,
            residual,
        }
    }

    /// What it was made by, and promises.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The public matrix.
    pub fn family(&self) -> &SignFamily {
        &self.family
    }

    /// Y, one noisy integer a row.
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// c̃: the keys that were released apart with their noisy counts, sorted by fingerprint.
    pub fn heavy(&self) -> &[(Fingerprint, i64)] {
        &self.heavy
    }

    /// What the sketch answers from.
    pub(crate) fn residual(&self) -> &[i64] {
        self.residual.as_deref().unwrap_or(&self.values)
    }

    /// F: an estimate of ‖x‖₂², the sum of the squared counts of all keys; with heavy keys, of ‖x − c̃‖₂².
    pub fn squared_norm(&self) -> f64 {
        self.squared_norm
    }

    /// An answer, in records. It costs no privacy, and is the same on any number of threads.
    ///
    /// Cost: a column for each key of the query; with dense signs, or for many keys, a pass over the T rows besides.
    pub fn answer(&self, query: &SparseQuery) -> Answer {
        let rows = self.family.rows(query.entries());
        let unit = f64::from(SparseQuery::UNIT);
        let nonzeros = f64::from(self.family.shape().nonzeros());
        let left = self.residual();
        // At most 2⁵⁵·s·Σ weights: no overflow below 2²⁶ keys even at s = 2²⁶, where that would take months.
        let mut product = 0i128;
        rows.for_each(|row, weight| product += i128::from(left[row]) * i128::from(weight));
        let of_sketch = product as f64 / nonzeros / unit;
        let (standard_error, rule) = match self.family.shape().signs() {
            Signs::Dense => (self.dense_error(&rows, of_sketch), Rule::dense(left.len())),
            Signs::Sparse { .. } => self.sparse_error(query, &rows, of_sketch),
        };
        Answer { value: of_sketch + heavy::evaluate(&self.heavy, query) as f64 / unit, standard_error, rule }
    }

    /// Many answers, on all threads.
    pub fn answer_all(&self, queries: &[SparseQuery]) -> Vec<Answer> {
        queries.par_iter().map(|query| self.answer(query)).collect()
    }

    fn dense_error(&self, rows: &Rows, value: f64) -> f64 {
        let left = self.residual();
        let width = left.len() as f64;
        let mut squares = [0.0; 8];
        rows.for_each(|row, weight| {
            let term = left[row] as f64 * (weight as f64 / f64::from(SparseQuery::UNIT));
            // Eight sums at a time, since one addition has to wait for the one before.
            squares[row % 8] += (term - value).powi(2);
        });
        let squares: f64 = squares.iter().sum();
        (squares / (width - 1.0) / width).sqrt()
    }

    fn sparse_error(&self, query: &SparseQuery, rows: &Rows, value: f64) -> (f64, Rule) {
        let unit = f64::from(SparseQuery::UNIT);
        let (width, nonzeros) = (self.values.len() as f64, f64::from(self.family.shape().nonzeros()));
        let noise = self.plan.noise();
        let (mut squares, mut fourths, mut largest) = (0.0, 0.0, 0f64);
        rows.for_each(|_, weight| {
            let square = (weight as f64 / unit / nonzeros).powi(2);
            squares += square;
            fourths += square * square;
            largest = largest.max(square);
        });
        let variance = noise.variance() * squares + (self.squared_norm * query.squared_norm() + value * value) / width;
        let own_fourths: f64 = query.entries().iter().map(|&(_, weight)| (f64::from(weight) / unit).powi(4)).sum();
        // Of an empty query the variance is 0, and so are both cumulants: any rule will do.
        let share = |cumulant: f64| if cumulant > 0.0 { cumulant / variance.powi(2) } else { 0.0 };
        let of_keys = share(own_fourths * self.fourth_powers / (nonzeros.powi(2) * width));
        let of_noise = share(noise.fourth_cumulant() * fourths);
        let standard_error = variance.sqrt();
        let tails = Tails::new(standard_error, noise.variance(), fourths, largest.sqrt(), nonzeros.recip());
        (standard_error, Rule::sparse(self.values.len(), of_keys, of_noise, tails))
    }
}
