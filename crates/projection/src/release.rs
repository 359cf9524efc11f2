//! The release: an integer sketch plus integer noise. The only place of this crate where noise is drawn.
//!
//! A [`Builder`] is told what is public; it makes a [`Plan`], which fixes signs and noise before any data is seen, states what
//! it promises and explains itself; [`Plan::release`] reads the data, once.
//!
//! # Privacy
//! A release consists of the plan, a seed drawn independently of the data (and so is the public key of the fingerprints), the
//! [heavy keys](crate::heavy) if there are to be any, and Y = S + N: the [`Sketch`] S of the data under
//! the signs of the seed, and independent noise on each of its T rows. It is (ε, δ)-private for the stated neighbours, where a
//! unit of privacy (a person) has at most L rows in the table. Everything computed from it costs nothing more.
//!
//! *Proof sketch.* Fix the seed: it has the same law for all data, so a bound for every seed is enough, and how good the signs
//! are does not matter. S is the sum over all records of columns with s entries ±1 (dense: s = T). Adding or removing a unit
//! moves it by the sum of at most L columns: by at most L·s in L1 norm and, by the triangle inequality, L·√s in L2 norm.
//! Replacing a unit moves it by at most L differences of two columns: twice as much. Hence
//!
//! | neighbours | L1 | L2² |
//! | ---------- | -- | --- |
//! | add-remove | L·s | L²·s |
//! | substitute | 2L·s | 4L²·s |
//!
//! - [`NoiseKind::Laplace`]: discrete Laplace noise of scale L1/ε on each row is ε-private: a product of factors
//!   e^(|shift|/scale) (Ghosh, Roughgarden, Sundararajan 2009). δ is not spent.
//! - [`NoiseKind::Gaussian`]: discrete Gaussian noise of the σ² that [`concentrated`] gives for L2² is
//!   (ε, δ)-private (Canonne, Kamath, Steinke 2020); for add-remove and L = 1, where s integers move by exactly 1 and the others
//!   by nothing, [`add_remove`] is, with less.
//!
//! Where [heavy keys](crate::heavy) are released apart, their noisy counts have a share of the budget of their own, and this
//! is about the sketch's share.
//!
//! **That a unit has at most L rows is for the caller to make true** ([`ContributionBound`](tamis_queries::ContributionBound)),
//! and so is counting: each release spends [`Plan::cost`] anew, to be [charged](tamis_noise::Ledger) before.
//!
//! # Limitations
//! The promise is for tables that can be counted, and whose neighbours can: of less than 2⁴⁰ records, every row with a key as it
//! should be. That another is refused depends on its rows: such an error is for the curator alone.
//!
//! Time depends on the data: do not let an analyst measure it. So does how many words are taken from the generator, where heavy
//! keys are released apart: one or more for each key that occurs. They come last and are independent of all others, so what is
//! released has the law that is stated. Queries may depend on earlier answers without harm to privacy; error bars are for
//! queries that do not depend on the seed.
//!
//! # References
//! - A. Blum, A. Roth, *Fast private data release algorithms for sparse queries*, 2011, section 4: the dense release.
//! - R. Pagh, M. Thorup, *Improved utility analysis of private CountSketch*, NeurIPS 2022: s = 1 with Gaussian noise.
//! - D. Kane, J. Nelson, *Sparser Johnson-Lindenstrauss transforms*, J. ACM 61(1), 2014: the sparse signs.

use crate::file::size::{self, Spread};
use crate::tails::Tails;
use crate::{Builder, ProjectionError, ProjectionRelease, Rule, Seed, Shape, SignFamily, Signs, Sketch, bounds, heavy};
use rand::CryptoRng;
use std::num::{NonZeroU32, NonZeroU128};
use tamis_noise::gaussian_calibration::{add_remove, concentrated};
use tamis_noise::stability::StabilityThreshold;
use tamis_noise::{
    Beta, Budget, DiscreteGaussian, DiscreteLaplace, Neighbours, Queries, Scale, Sensitivity, discrete_gaussian,
    discrete_laplace,
};
use tamis_queries::{Fingerprint, Histogram};

/// Which noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
    /// Discrete Laplace: pure privacy.
    Laplace,
    /// Discrete Gaussian: needs δ.
    Gaussian,
}

/// The noise on each row of a release.
#[derive(Clone, Debug)]
pub enum Noise {
    /// Of a scale.
    Laplace(DiscreteLaplace),
    /// Of a parameter σ².
    Gaussian(DiscreteGaussian),
}

impl Noise {
    /// What makes a sketch private with this budget: the [module](self)'s scale, or the least σ² that is proven.
    pub(crate) fn calibrated(
        kind: NoiseKind,
        shape: Shape,
        budget: &Budget,
        neighbours: Neighbours,
        rows_per_unit: u32,
    ) -> Result<Self, ProjectionError> {
        let noise = Self::for_all(kind, shape, budget, neighbours, rows_per_unit)?;
        let (Self::Gaussian(law), Neighbours::AddRemove, 1) = (&noise, neighbours, rows_per_unit) else {
            return Ok(noise);
        };
        // Cannot fail: a column has an entry.
        let moved = NonZeroU32::new(shape.nonzeros()).expect("positive");
        let variance = add_remove(moved, budget)?.min(law.variance().clone());
        Ok(Self::Gaussian(DiscreteGaussian::new(variance)))
    }

    /// The same by the sensitivities alone: quick, and of Gaussian noise a little more than is needed for add-remove and L = 1.
    pub(crate) fn for_all(
        kind: NoiseKind,
        shape: Shape,
        budget: &Budget,
        neighbours: Neighbours,
        rows_per_unit: u32,
    ) -> Result<Self, ProjectionError> {
        match kind {
            NoiseKind::Laplace => {
                let moved = Sensitivity::new(l1_sensitivity(shape, neighbours, rows_per_unit))?;
                Ok(Self::Laplace(DiscreteLaplace::new(Scale::of(moved, budget.epsilon())?)))
            }
            NoiseKind::Gaussian => {
                // Cannot fail: a product of numbers from 1 on.
                let moved =
                    NonZeroU128::new(squared_l2_sensitivity(shape, neighbours, rows_per_unit)).expect("positive");
                Ok(Self::Gaussian(DiscreteGaussian::new(concentrated(moved, budget)?)))
            }
        }
    }

    /// Which of the two.
    pub fn kind(&self) -> NoiseKind {
        match self {
            Self::Laplace(_) => NoiseKind::Laplace,
            Self::Gaussian(_) => NoiseKind::Gaussian,
        }
    }

    /// The true variance of the integer law.
    pub fn variance(&self) -> f64 {
        match self {
            Self::Laplace(noise) => discrete_laplace::second_moment(noise.scale()),
            Self::Gaussian(noise) => discrete_gaussian::second_moment(noise.variance()),
        }
    }

    /// The fourth cumulant E N⁴ − 3(E N²)².
    pub fn fourth_cumulant(&self) -> f64 {
        match self {
            Self::Laplace(noise) => discrete_laplace::fourth_cumulant(noise.scale()),
            Self::Gaussian(noise) => discrete_gaussian::fourth_cumulant(noise.variance()),
        }
    }

    fn add_to<R: CryptoRng + ?Sized>(&self, counters: &mut [i64], rng: &mut R) {
        let mut noise = vec![0; counters.len()];
        match self {
            Self::Laplace(law) => law.fill(&mut noise, rng),
            Self::Gaussian(law) => law.fill(&mut noise, rng),
        }
        // Cannot overflow: counters are within ±2⁵⁰, noise within ±2⁵³.
        counters.iter_mut().zip(noise).for_each(|(counter, noise)| *counter += noise);
    }
}

impl std::fmt::Display for Noise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Laplace(noise) => write!(f, "discrete Laplace noise of scale {}", noise.scale()),
            Self::Gaussian(noise) => {
                write!(f, "discrete Gaussian noise of σ = {:.6}", noise.variance().to_f64_up().sqrt())
            }
        }
    }
}

/// A release decided upon, but for the data: signs, noise and promises.
///
/// ```
/// use tamis_noise::{Budget, Delta, Epsilon, Neighbours};
/// use tamis_projection::{NoiseKind, ProjectionRelease};
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
/// let plan = ProjectionRelease::builder(budget.clone(), Neighbours::AddRemove, 1).records(1_000_000).support(10_000).build()?;
/// assert_eq!((plan.shape().nonzeros(), plan.shape().width()), (1, 1 << 20));
/// assert_eq!(plan.cost(), Budget::pure(Epsilon::new(1.0)?)); // no δ is needed
/// assert!(plan.file_bytes().unwrap() < 400_000.0);
/// assert!((165.0..172.0).contains(&plan.predicted_standard_error(1e4, 1e6, 4e3)));
///
/// // The paper's: dense signs, Gaussian noise.
/// let paper = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).dense().noise(NoiseKind::Gaussian);
/// let paper = paper.width(1 << 16).build()?;
/// assert!((640.0..690.0).contains(&paper.predicted_standard_error(1e4, 1e6, 4e3)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) cost: Budget,
    pub(crate) neighbours: Neighbours,
    pub(crate) rows_per_unit: u32,
    pub(crate) shape: Shape,
    pub(crate) noise: Noise,
    /// What the sketch alone spends.
    pub(crate) sketch_cost: Budget,
    pub(crate) heavy: Option<StabilityThreshold>,
    pub(crate) stated: Stated,
    pub(crate) explanation: String,
}

/// What was said of the data and of the queries to come. All of it public, and none of it anything that privacy rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stated {
    /// n.
    pub(crate) records: Option<f64>,
    /// ‖x‖²/n.
    pub(crate) key_multiplicity: Option<f64>,
    /// m.
    pub(crate) support: Option<f64>,
    /// k and β.
    pub(crate) confidence: Option<(Queries, Beta)>,
}

/// How far one unit can move a sketch, in L1 norm: see the [module](self).
pub fn l1_sensitivity(shape: Shape, neighbours: Neighbours, rows_per_unit: u32) -> u64 {
    neighbours.rows_moved() * u64::from(rows_per_unit) * u64::from(shape.nonzeros())
}

/// How far one unit can move a sketch, in squared L2 norm: see the [module](self).
pub fn squared_l2_sensitivity(shape: Shape, neighbours: Neighbours, rows_per_unit: u32) -> u128 {
    let rows = u128::from(neighbours.rows_moved()) * u128::from(rows_per_unit);
    rows * rows * u128::from(shape.nonzeros())
}

/// [`bounds::theorem`] for a dense shape.
pub(crate) fn gaussian_theorem(
    squared_query_norm: f64,
    squared_data_norm: f64,
    noise: &DiscreteGaussian,
    shape: Shape,
    queries: Queries,
    beta: Beta,
) -> Option<f64> {
    let width = f64::from(shape.width());
    let multiplier = (noise.variance().to_f64_up() / width).sqrt();
    let independence = bounds::Independence::Keys(shape.independence());
    bounds::theorem(squared_query_norm, squared_data_norm, multiplier, width, independence, queries, beta)
}

/// [`bounds::standard_error`] of a shape and a noise.
pub(crate) fn standard_error(
    shape: Shape,
    noise: &Noise,
    squared_query_norm: f64,
    squared_data_norm: f64,
    expected: f64,
) -> f64 {
    let (width, nonzeros) = (f64::from(shape.width()), f64::from(shape.nonzeros()));
    bounds::standard_error(squared_query_norm, squared_data_norm, expected, width, nonzeros, noise.variance())
}

/// The rule for a list of m keys, as [`crate::answer`] decides it, with expectations in place of what a release says: ‖x‖² and
/// Σx⁴ of what is [left](heavy::left) for the sketch.
pub(crate) fn predicted_rule(
    shape: Shape,
    noise: &Noise,
    support: f64,
    (squared_norm, fourth_powers): (f64, f64),
) -> Rule {
    let rows = shape.width() as usize;
    if shape.signs() == Signs::Dense {
        return Rule::dense(rows);
    }
    let (width, nonzeros) = (f64::from(shape.width()), f64::from(shape.nonzeros()));
    let error = standard_error(shape, noise, support, squared_norm, 0.0);
    let of_keys = support * fourth_powers / (nonzeros.powi(2) * width * error.powi(4));
    let (of_noise, tails) = predicted_tails(shape, noise, support, error);
    Rule::sparse(rows, of_keys, of_noise, tails)
}

/// What the noise of a list of m keys adds to the kurtosis and to the tails of an error.
fn predicted_tails(shape: Shape, noise: &Noise, support: f64, standard_error: f64) -> (f64, Tails) {
    let (width, nonzeros) = (f64::from(shape.width()), f64::from(shape.nonzeros()));
    let entries = support * nonzeros;
    // E Σ_j B_j⁴/s⁴ of so many signs in T rows; E Σ_j B_j²/s² is m/s.
    let fourths = (entries + 3.0 * entries.powi(2) / width) / nonzeros.powi(4);
    // As if all rows had the same weight.
    let weight = (fourths * nonzeros / support).sqrt();
    let of_noise = noise.fourth_cumulant() * fourths / standard_error.powi(4);
    (of_noise, Tails::new(standard_error, noise.variance(), fourths, weight, nonzeros.recip()))
}

/// What all of so many answers with this standard error are predicted to be within, but for a probability `outside` each, if what
/// the keys of the data add is normal.
pub(crate) fn error_of_all(shape: Shape, noise: &Noise, support: f64, standard_error: f64, outside: f64) -> f64 {
    let rule = match shape.signs() {
        Signs::Dense => Rule::Normal,
        Signs::Sparse { .. } => {
            let (of_noise, tails) = predicted_tails(shape, noise, support, standard_error);
            Rule::of_noise(of_noise, tails)
        }
    };
    rule.half_width(standard_error, outside)
}

pub(crate) fn signs_in_words(signs: Signs) -> String {
    match signs {
        Signs::Dense => "dense signs".to_owned(),
        Signs::Sparse { nonzeros: 1 } => "sparse signs, 1 entry a key".to_owned(),
        Signs::Sparse { nonzeros } => format!("sparse signs, {nonzeros} entries a key"),
    }
}

pub(crate) fn kind_in_words(kind: NoiseKind) -> &'static str {
    match kind {
        NoiseKind::Laplace => "Laplace",
        NoiseKind::Gaussian => "Gaussian",
    }
}

impl Plan {
    /// What a release spends, to be charged before it: pure if the noise is Laplace and no heavy keys are released apart,
    /// whatever δ was offered. With heavy keys the sum of what [they](StabilityThreshold::cost) and
    /// [the sketch](Self::sketch_cost) spend.
    pub fn cost(&self) -> Budget {
        self.cost.clone()
    }

    /// What the sketch alone spends.
    pub fn sketch_cost(&self) -> &Budget {
        &self.sketch_cost
    }

    /// Noise and threshold for the counts of [heavy keys](crate::heavy), if they are released apart.
    pub fn heavy(&self) -> Option<&StabilityThreshold> {
        self.heavy.as_ref()
    }

    /// For which neighbours it is private.
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// L: how many rows a unit may have.
    pub fn rows_per_unit(&self) -> u32 {
        self.rows_per_unit
    }

    /// Rows, signs and independence.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The noise on each row.
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// What is promised, in words.
    ///
    /// ```
    /// use tamis_noise::{Budget, Epsilon, Neighbours};
    /// use tamis_projection::ProjectionRelease;
    /// let budget = Budget::pure(Epsilon::new(0.5)?);
    /// let plan = ProjectionRelease::builder(budget, Neighbours::Substitute, 3).width(4096).build()?;
    /// assert_eq!(plan.privacy(), "Private with ε = 0.5, δ = 0, under substitute neighbours, for units of at most 3 rows: one \
    ///     moves the 4096 sums by at most 6 (L1), and each has discrete Laplace noise of scale 12.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn privacy(&self) -> String {
        let Self { cost, neighbours, rows_per_unit: rows, shape, noise, .. } = self;
        let moved = match noise {
            Noise::Laplace(_) => format!("{} (L1)", l1_sensitivity(*shape, *neighbours, *rows)),
            Noise::Gaussian(_) => format!("√{} (L2)", squared_l2_sensitivity(*shape, *neighbours, *rows)),
        };
        let plural = if *rows == 1 { "" } else { "s" };
        let heavy = self.heavy.as_ref().map_or(String::new(), |threshold| {
            format!(
                " Of that {} is for the counts of keys: each that occurs has discrete Laplace noise of scale {} and is \
                 released with its noisy count if that is {} or more.",
                threshold.cost(),
                threshold.scale(),
                threshold.threshold()
            )
        });
        format!(
            "Private with {cost}, under {neighbours} neighbours, for units of at most {rows} row{plural}: one moves the {} sums \
             by at most {moved}, and each has {noise}.{heavy}",
            shape.width()
        )
    }

    /// What was chosen, what it gives and what the next best would.
    pub fn explanation(&self) -> &str {
        &self.explanation
    }

    pub(crate) fn describe(&self) -> String {
        let Self { shape, noise, .. } = self;
        format!(
            "{} rows of {}, any {} keys independent; {noise} on each row",
            shape.width(),
            signs_in_words(shape.signs()),
            shape.independence()
        )
    }

    /// n as stated, to plan by.
    pub fn stated_records(&self) -> Option<f64> {
        self.stated.records
    }

    /// m as stated, or 10 000.
    pub fn stated_support(&self) -> f64 {
        self.stated.support.unwrap_or(Builder::SUPPORT)
    }

    /// ‖x‖² as stated: n times the multiplicity of keys. With heavy keys apart the [estimate](crate::heavy) from above of
    /// ‖x − c̃‖², by which answers then err. None if the number of records is not stated.
    pub fn stated_norm(&self) -> Option<f64> {
        self.left().map(|(norm, _)| norm)
    }

    /// ‖x‖² and Σx⁴ as stated, or of what is [left](heavy::left).
    fn left(&self) -> Option<(f64, f64)> {
        Some(heavy::left(self.heavy.as_ref(), self.stated.records?, self.stated.key_multiplicity?))
    }

    /// The standard error, in records, of a query whose squared weights add up to `squared_query_norm` (a plain list: its
    /// length) and whose answer is about `expected`, on data of which the squared counts add up to `squared_data_norm`:
    /// [`bounds::standard_error`].
    ///
    /// With heavy keys apart the last two are of what is left, x − c̃: see [`stated_norm`](Self::stated_norm), and
    /// [`ProjectionRelease::squared_norm`] of a release.
    pub fn predicted_standard_error(&self, squared_query_norm: f64, squared_data_norm: f64, expected: f64) -> f64 {
        standard_error(self.shape, &self.noise, squared_query_norm, squared_data_norm, expected)
    }

    /// What all of `queries` such answers are predicted to be within, but for a probability β, by the union bound: so many
    /// [standard errors](Self::predicted_standard_error) as [`bounds::deviations`] says, or as the noise of few keys needs by
    /// its [tails](crate::tails). What other keys add is taken for normal, so it is a prediction, and too small where
    /// [`predicted_rule`](Self::predicted_rule) is [`Rule::Conservative`]: there
    /// [`predicted_half_width`](Self::predicted_half_width) is to be asked. [`guarantee`](Self::guarantee) is the theorem.
    pub fn predicted_error_of_all(
        &self,
        squared_query_norm: f64,
        squared_data_norm: f64,
        expected: f64,
        queries: Queries,
        beta: Beta,
    ) -> f64 {
        let error = self.predicted_standard_error(squared_query_norm, squared_data_norm, expected);
        error_of_all(self.shape, &self.noise, squared_query_norm, error, beta.get() / queries.to_f64())
    }

    /// Of a list of the stated length on data as stated: the predicted standard error or, if queries or β were stated, what all
    /// are predicted to be within. None if the number of records is not stated.
    pub fn predicted_error(&self) -> Option<f64> {
        let (support, norm) = (self.stated_support(), self.stated_norm()?);
        Some(match self.stated.confidence {
            None => self.predicted_standard_error(support, norm, 0.0),
            Some((queries, beta)) => self.predicted_error_of_all(support, norm, 0.0, queries, beta),
        })
    }

    /// By which rule [intervals](crate::answer) for a list of the stated length are predicted to be made, on data as stated; if
    /// the number of records is not stated, by noise alone.
    ///
    /// Σx⁴, by which it is decided, is taken from what is stated as if all keys had as many records as a key has on the average
    /// over records: n·M³, the least that it can be. Where a few keys have most of the records it is more, up to (n·M)², and
    /// intervals may be [`Rule::Conservative`] though none was predicted to be.
    pub fn predicted_rule(&self) -> Rule {
        predicted_rule(self.shape, &self.noise, self.stated_support(), self.left().unwrap_or_default())
    }

    /// Half of the interval, in records, that a list of the stated length is predicted to get on data as stated, at the level
    /// 1 − β/k: what `queries` such lists keep together but for a probability β, by the union bound. From noise alone, if the
    /// number of records is not stated.
    ///
    /// ```
    /// use tamis_noise::{Beta, Budget, Epsilon, Neighbours, Queries};
    /// use tamis_projection::{ProjectionRelease, Rule};
    /// let plan = |multiplicity, support| {
    ///     let builder = ProjectionRelease::builder(Budget::pure(Epsilon::new(1.0)?), Neighbours::AddRemove, 1);
    ///     builder.records(30_000).key_multiplicity(multiplicity).support(support).build()
    /// };
    /// let (one, beta) = (Queries::new(1)?, Beta::new(0.05)?);
    /// let distinct = plan(1.0, 2_000)?;
    /// assert_eq!(distinct.predicted_rule(), Rule::Normal);
    /// assert!((115.0..125.0).contains(&distinct.predicted_half_width(one, beta))); // 1.96 standard errors
    /// let short = plan(1.0, 10)?;
    /// assert!(matches!(short.predicted_rule(), Rule::FewKeys(_)));
    /// assert!((8.5..9.5).contains(&short.predicted_half_width(one, beta))); // 2.1
    /// let skewed = plan(1_000.0, 256)?;
    /// assert_eq!(skewed.predicted_rule(), Rule::Conservative);
    /// assert!((520.0..580.0).contains(&skewed.predicted_half_width(one, beta))); // 4.47
    /// # Ok::<(), tamis_projection::ProjectionError>(())
    /// ```
    pub fn predicted_half_width(&self, queries: Queries, beta: Beta) -> f64 {
        let norm = self.stated_norm().unwrap_or(0.0);
        let error = self.predicted_standard_error(self.stated_support(), norm, 0.0);
        self.predicted_rule().half_width(error, beta.get() / queries.to_f64())
    }

    /// How many records a list of the stated length may hold, on data as stated: as many a key as a key has on the average over
    /// records, and at most all. None if the number of records is not stated.
    pub fn answer_range(&self) -> Option<f64> {
        let (records, multiplicity) = (self.stated.records?, self.stated.key_multiplicity?);
        Some(records.min(self.stated_support() * multiplicity))
    }

    /// Whether the [predicted error](Self::predicted_error) is below the [range of answers](Self::answer_range): else an answer
    /// says no more of a list than its length did. None if the number of records is not stated.
    ///
    /// ```
    /// use tamis_noise::{Budget, Epsilon, Neighbours};
    /// use tamis_projection::ProjectionRelease;
    /// let plan = |support| {
    ///     let budget = Budget::pure(Epsilon::new(0.1).unwrap());
    ///     let builder = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).records(1_000_000);
    ///     builder.support(support).build()
    /// };
    /// assert_eq!(plan(10_000)?.is_useful(), Some(true)); // ± 1 700 of up to 10 000
    /// assert_eq!(plan(100)?.is_useful(), Some(false)); // ± 170 of up to 100
    /// # Ok::<(), tamis_projection::ProjectionError>(())
    /// ```
    pub fn is_useful(&self) -> Option<bool> {
        Some(self.predicted_error()? < self.answer_range()?)
    }

    /// The [theorem](bounds#the-theorem): with probability 1 − β all of `queries` answers, each of squared norm at most
    /// `squared_query_norm`, are within so many records, if the queries depend on neither seed nor release. None where the
    /// theorem is not proven: unless signs are dense and noise is Gaussian, and for too few rows or too little independence.
    ///
    /// ```
    /// use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
    /// use tamis_projection::{NoiseKind, ProjectionRelease, bounds::is_vacuous};
    /// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
    /// let builder = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).dense().noise(NoiseKind::Gaussian);
    /// let plan = builder.width(1 << 16).independence(48).build()?;
    /// let bound = plan.guarantee(1e4, 1e6, Queries::new(1_000_000)?, Beta::new(0.05)?).unwrap();
    /// assert!((7_000.0..8_000.0).contains(&bound) && !is_vacuous(bound, 1e6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// For keys that were fingerprinted add [`collision_bound`](tamis_queries::FingerprintKey::collision_bound) to β, and for
    /// fractional weights n·2⁻²¹ to the bound. With heavy keys apart the norm is that of what is left, as for
    /// [`predicted_standard_error`](Self::predicted_standard_error).
    pub fn guarantee(
        &self,
        squared_query_norm: f64,
        squared_data_norm: f64,
        queries: Queries,
        beta: Beta,
    ) -> Option<f64> {
        let (Signs::Dense, Noise::Gaussian(noise)) = (self.shape.signs(), &self.noise) else { return None };
        gaussian_theorem(squared_query_norm, squared_data_norm, noise, self.shape, queries, beta)
    }

    /// How large a [file](crate::file) will be, about; none if the number of records is not stated. Heavy keys come on top, at most
    /// 16 bytes each.
    pub fn file_bytes(&self) -> Option<f64> {
        let (noise, kind) = (self.noise.variance(), self.noise.kind());
        self.stated_norm().map(|norm| size::predicted(self.shape, Spread::of(self.shape, norm, noise, kind)))
    }

    /// A release of the data. The seed is drawn before the data is read.
    ///
    /// # Errors
    /// If the data was [bounded](Histogram::rows_per_unit) to more rows a unit than the plan is for. That does not depend on the
    /// rows themselves. Data that was not bounded is taken at the caller's word.
    pub fn release<R: CryptoRng + ?Sized>(
        &self,
        data: &Histogram,
        rng: &mut R,
    ) -> Result<ProjectionRelease, ProjectionError> {
        self.release_with(&SignFamily::new(self.shape, Seed::draw(rng)), data, rng)
    }

    /// The same with signs that were drawn before the data was read. Their seed must be independent of it, as
    /// [`Seed::draw`] makes it.
    ///
    /// # Errors
    /// As [`release`](Self::release), and if the family has another shape than the plan.
    pub fn release_with<R: CryptoRng + ?Sized>(
        &self,
        family: &SignFamily,
        data: &Histogram,
        rng: &mut R,
    ) -> Result<ProjectionRelease, ProjectionError> {
        let (family, values) = self.noisy(Sketch::of(family, data)?, rng)?;
        // Last, so that no other noise stands at a place in the generator's words that depends on the data.
        let heavy = self.heavy.as_ref().map_or(Vec::new(), |threshold| heavy_counts(threshold, data, rng));
        let heavy = heavy::within_limits(self.shape, heavy);
        Ok(ProjectionRelease::new(self.clone(), family, values, heavy))
    }

    /// A release of a sketch that was made in pieces. Its family must have a seed that was drawn independently of the data,
    /// as [`Seed::draw`] does.
    ///
    /// # Errors
    /// If the sketch has another shape than the plan, or more rows a unit than it is for (parts add up); if the plan has
    /// [heavy keys](Self::heavy), since a sketch does not have the counts of keys.
    pub fn release_sketch<R: CryptoRng + ?Sized>(
        &self,
        sketch: Sketch,
        rng: &mut R,
    ) -> Result<ProjectionRelease, ProjectionError> {
        if self.heavy.is_some() {
            return Err(ProjectionError::HeavyFromSketch);
        }
        let (family, values) = self.noisy(sketch, rng)?;
        Ok(ProjectionRelease::new(self.clone(), family, values, Vec::new()))
    }

    /// Y.
    fn noisy<R: CryptoRng + ?Sized>(
        &self,
        sketch: Sketch,
        rng: &mut R,
    ) -> Result<(SignFamily, Vec<i64>), ProjectionError> {
        if !sketch.rows_per_unit().within(self.rows_per_unit) {
            let bounded = sketch.rows_per_unit().known();
            return Err(ProjectionError::RowsBeyondPlan { planned: self.rows_per_unit, bounded });
        }
        let (family, mut values) = sketch.into_parts();
        if family.shape() != self.shape {
            let planned = self.shape.width() as usize;
            return Err(ProjectionError::OtherShape { planned, given: family.width() });
        }
        self.noise.add_to(&mut values, rng);
        Ok((family, values))
    }
}

/// c̃. Noise is drawn in the order of fingerprints: the same data gives the same counts, whatever the order of its rows.
fn heavy_counts<R: CryptoRng + ?Sized>(
    threshold: &StabilityThreshold,
    data: &Histogram,
    rng: &mut R,
) -> Vec<(Fingerprint, i64)> {
    let mut heavy = Vec::new();
    // In pieces, so that memory stays small.
    for keys in data.entries().chunks(1 << 12) {
        let counts: Vec<i64> = keys.iter().map(|&(_, count)| count).collect();
        let released = threshold.release_all(&counts, rng);
        heavy.extend(keys.iter().zip(released).filter_map(|(&(key, _), noisy)| Some((key, noisy?))));
    }
    heavy
}
