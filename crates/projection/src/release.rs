//! The release: an integer sketch plus integer noise. The only place of this crate where noise is drawn.
//!
//! A [`Builder`] is told what is public; it makes a [`Plan`], which fixes signs and noise before any data is seen, states what
//! it promises and explains itself; [`Plan::release`] reads the data, once.
//!
//! # Privacy
//! A release consists of the plan, a seed drawn independently of the data, and Y = S + N: the [`Sketch`] S of the data under
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
//! **That a unit has at most L rows is for the caller to make true** ([`ContributionBound`](tamis_queries::ContributionBound)),
//! and so is counting: each release spends [`Plan::cost`] anew, to be [charged](tamis_noise::Ledger) before.
//!
//! # The default
//! Answers about a list of m keys err by √(m·(‖x‖²/T + σ²/s)) ([`bounds::standard_error`]), whatever m is. Per key of the list
//! noise is 2s/ε² with Laplace noise on sparse signs, 2T/ε² on dense ones, and σ₁² with Gaussian noise on either, some 30/ε²:
//! so s = 1 with Laplace noise is best, and needs no δ. On skewed data ‖x‖ is all of the error and signs of all kinds err
//! alike on the average; but with s = 1 mostly by little and rarely by much, with dense signs along a bell curve. What is not given is chosen to make that error least within the size of the file, and of widths within 1 % of the least the
//! smallest. [`Plan::explanation`] says so in words.
//!
//! # Limitations
//! Time depends on the data: do not let an analyst measure it. Queries may depend on earlier answers without harm to privacy;
//! error bars are for queries that do not depend on the seed.
//!
//! # References
//! - A. Blum, A. Roth, *Fast private data release algorithms for sparse queries*, 2011, section 4: the dense release.
//! - R. Pagh, M. Thorup, *Improved utility analysis of private CountSketch*, NeurIPS 2022: s = 1 with Gaussian noise.
//! - D. Kane, J. Nelson, *Sparser Johnson-Lindenstrauss transforms*, J. ACM 61(1), 2014: the sparse signs.

use crate::{ProjectionError, ProjectionRelease, Seed, Shape, SignFamily, Signs, Sketch, bounds};
use rand::CryptoRng;
use std::f64::consts::{E, PI};
use std::fmt::Write as _;
use std::num::{NonZeroU32, NonZeroU128};
use tamis_noise::gaussian_calibration::{add_remove, concentrated};
use tamis_noise::{Beta, Budget, DiscreteGaussian, DiscreteLaplace, Neighbours, Queries, Scale, Sensitivity, Variance};
use tamis_queries::Histogram;

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
    fn laplace(scale: Scale) -> Self {
        Self::Laplace(DiscreteLaplace::new(scale))
    }

    fn gaussian(variance: Variance) -> Self {
        Self::Gaussian(DiscreteGaussian::new(variance))
    }

    /// Which of the two.
    pub fn kind(&self) -> NoiseKind {
        match self {
            Self::Laplace(_) => NoiseKind::Laplace,
            Self::Gaussian(_) => NoiseKind::Gaussian,
        }
    }

    /// The true variance of the integer law.
    ///
    /// Laplace: 2q/(1 − q)², q = e^(−1/t). Gaussian: the parameter σ² from σ = 2 on, where they agree to 10⁻²⁰; below,
    /// by summation.
    pub fn variance(&self) -> f64 {
        match self {
            Self::Laplace(noise) => {
                let (q, p) = geometric(noise);
                2.0 * q / p.powi(2)
            }
            Self::Gaussian(noise) => gaussian_moments(noise).0,
        }
    }

    /// The fourth cumulant E N⁴ − 3(E N²)². Laplace: 2q(1 + 4q + q²)/(1 − q)⁴, that of a difference of two geometric numbers.
    pub fn fourth_cumulant(&self) -> f64 {
        match self {
            Self::Laplace(noise) => {
                let (q, p) = geometric(noise);
                2.0 * q * (1.0 + 4.0 * q + q * q) / p.powi(4)
            }
            Self::Gaussian(noise) => gaussian_moments(noise).1,
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

/// q = e^(−1/t) and 1 − q.
fn geometric(noise: &DiscreteLaplace) -> (f64, f64) {
    let rate = -1.0 / noise.scale().to_f64_up();
    (rate.exp(), -rate.exp_m1())
}

/// Variance and fourth cumulant of the integer law.
fn gaussian_moments(noise: &DiscreteGaussian) -> (f64, f64) {
    let parameter = noise.variance().to_f64_up();
    if parameter >= 4.0 {
        return (parameter, 0.0);
    }
    // 40 is twenty standard deviations.
    let moment = |power: i32| {
        (1..=40).map(f64::from).map(|z| 2.0 * z.powi(power) * (-z * z / (2.0 * parameter)).exp()).sum::<f64>()
    };
    let mass = 1.0 + moment(0);
    let variance = moment(2) / mass;
    (variance, moment(4) / mass - 3.0 * variance.powi(2))
}

/// What is stated of a release; what is not, is chosen. See the [module](self). Everything stated must be public.
#[derive(Clone, Debug)]
pub struct Builder {
    budget: Budget,
    neighbours: Neighbours,
    rows_per_unit: u32,
    signs: Option<Signs>,
    width: Option<u64>,
    independence: u32,
    noise: Option<NoiseKind>,
    records: Option<f64>,
    key_multiplicity: f64,
    support: Option<f64>,
    file_bytes: u64,
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
    /// As stated: ‖x‖² at most.
    pub(crate) stated_norm: Option<f64>,
    pub(crate) stated_support: Option<f64>,
    pub(crate) explanation: String,
}

impl ProjectionRelease {
    /// States privacy: a budget, who counts as a neighbour, and how many rows of the table one unit of privacy (a person) has
    /// at most. All else is chosen, unless it is stated too.
    pub fn builder(budget: Budget, neighbours: Neighbours, rows_per_unit: u32) -> Builder {
        Builder {
            budget,
            neighbours,
            rows_per_unit,
            signs: None,
            width: None,
            independence: Builder::INDEPENDENCE,
            noise: None,
            records: None,
            key_multiplicity: 1.0,
            support: None,
            file_bytes: Builder::FILE_BYTES,
        }
    }
}

/// How far one unit can move a sketch, in L1 norm: see the [module](self).
pub fn l1_sensitivity(shape: Shape, neighbours: Neighbours, rows_per_unit: u32) -> u64 {
    moved_by(neighbours) * u64::from(rows_per_unit) * u64::from(shape.nonzeros())
}

/// How far one unit can move a sketch, in squared L2 norm: see the [module](self).
pub fn squared_l2_sensitivity(shape: Shape, neighbours: Neighbours, rows_per_unit: u32) -> u128 {
    let rows = u128::from(moved_by(neighbours)) * u128::from(rows_per_unit);
    rows * rows * u128::from(shape.nonzeros())
}

/// How many columns a row of a unit stands for.
fn moved_by(neighbours: Neighbours) -> u64 {
    match neighbours {
        Neighbours::AddRemove => 1,
        Neighbours::Substitute => 2,
    }
}

/// A shape and a noise kind, and what they would give per key of a query.
#[derive(Clone, Copy)]
struct Candidate {
    shape: Shape,
    noise: NoiseKind,
    /// Variance of an answer over ‖q‖².
    variance: f64,
}

impl Builder {
    /// Independence of the columns unless it is stated: what exact standard errors need.
    pub const INDEPENDENCE: u32 = 4;
    /// Size of the file unless it is stated.
    pub const FILE_BYTES: u64 = 400_000;
    /// The widths considered, as powers of two.
    const WIDTHS: std::ops::RangeInclusive<u32> = 10..=22;
    /// A wider release must be better by so much to be worth its file.
    const WORTHWHILE: f64 = 0.99;

    /// The rows of the release.
    pub fn width(mut self, width: u64) -> Self {
        self.width = Some(width);
        self
    }

    /// Dense signs: the paper's.
    pub fn dense(mut self) -> Self {
        self.signs = Some(Signs::Dense);
        self
    }

    /// Sparse signs with so many entries a column.
    pub fn nonzeros(mut self, nonzeros: u32) -> Self {
        self.signs = Some(Signs::Sparse { nonzeros });
        self
    }

    /// How many columns at a time are to be independent: 4 or more, or the standard errors of answers would be wrong on
    /// structured keys.
    pub fn independence(mut self, independence: u32) -> Self {
        self.independence = independence;
        self
    }

    /// The noise.
    pub fn noise(mut self, kind: NoiseKind) -> Self {
        self.noise = Some(kind);
        self
    }

    /// About how many records the data has. Public: a guess, never a count of private data.
    pub fn records(mut self, records: u64) -> Self {
        self.records = Some(records as f64);
        self
    }

    /// How many records a key has, on the average over records: ‖x‖₂²/n. 1 unless stated: all keys distinct. Public.
    pub fn key_multiplicity(mut self, multiplicity: f64) -> Self {
        self.key_multiplicity = multiplicity;
        self
    }

    /// About how many keys a query has.
    pub fn support(mut self, support: u64) -> Self {
        self.support = Some(support as f64);
        self
    }

    /// How large the file may be, estimated by the entropy of its values.
    pub fn file_bytes(mut self, bytes: u64) -> Self {
        self.file_bytes = bytes;
        self
    }

    /// Decides.
    ///
    /// # Errors
    /// If something stated is impossible; if neither width nor records are stated; if nothing fits the file; if the noise
    /// cannot be had, as Gaussian noise without δ.
    pub fn build(self) -> Result<Plan, ProjectionError> {
        if !(1..=1_000_000).contains(&self.rows_per_unit) {
            return Err(ProjectionError::RowsPerUnit(self.rows_per_unit));
        }
        if self.independence < Self::INDEPENDENCE {
            return Err(ProjectionError::IndependenceOfAnswers(self.independence));
        }
        let sizes =
            [("records", self.records), ("support", self.support), ("key multiplicity", Some(self.key_multiplicity))];
        for (name, size) in sizes {
            if let Some(value) = size.filter(|size| !(1.0..=1e15).contains(size)) {
                return Err(ProjectionError::Size { name, value: value.to_string() });
            }
        }
        if self.width.is_none() && self.records.is_none() {
            return Err(ProjectionError::Unstated);
        }
        let candidates = self.candidates()?;
        // Cannot fail: `candidates` gives an error rather than none.
        let least = candidates.iter().map(|candidate| candidate.variance).fold(f64::INFINITY, f64::min);
        let near = |candidate: &&Candidate| candidate.variance * Self::WORTHWHILE.powi(2) <= least;
        let chosen =
            candidates.iter().filter(near).min_by_key(|candidate| candidate.shape.width()).expect("a candidate");
        let noise = self.noise_of(chosen.shape, chosen.noise)?;
        let cost = match chosen.noise {
            NoiseKind::Laplace => Budget::pure(self.budget.epsilon().clone()),
            NoiseKind::Gaussian => self.budget.clone(),
        };
        let mut plan = Plan {
            cost,
            neighbours: self.neighbours,
            rows_per_unit: self.rows_per_unit,
            shape: chosen.shape,
            noise,
            stated_norm: self.stated_norm(),
            stated_support: self.support,
            explanation: String::new(),
        };
        plan.explanation = self.explain(&plan, chosen, &candidates);
        Ok(plan)
    }

    fn stated_norm(&self) -> Option<f64> {
        self.records.map(|records| records * self.key_multiplicity)
    }

    /// All that may be chosen: at least one.
    fn candidates(&self) -> Result<Vec<Candidate>, ProjectionError> {
        let signs = match self.signs {
            Some(signs) => vec![signs],
            None => {
                [1, 2, 4, 8, 16].map(|nonzeros| Signs::Sparse { nonzeros }).into_iter().chain([Signs::Dense]).collect()
            }
        };
        let kinds = match self.noise {
            Some(kind) => vec![kind],
            None if self.budget.delta().is_zero() => vec![NoiseKind::Laplace],
            None => vec![NoiseKind::Laplace, NoiseKind::Gaussian],
        };
        let (mut candidates, mut refusal) = (Vec::new(), ProjectionError::FileTooSmall(self.file_bytes));
        for signs in signs {
            for shape in self.shapes(signs) {
                for &noise in &kinds {
                    match shape.clone().and_then(|shape| self.candidate(shape, noise)) {
                        Ok(candidate) if self.width.is_some() || self.fits(candidate)? => candidates.push(candidate),
                        Ok(_) => {}
                        Err(error) => refusal = error,
                    }
                }
            }
        }
        if candidates.is_empty() { Err(refusal) } else { Ok(candidates) }
    }

    fn shapes(&self, signs: Signs) -> Vec<Result<Shape, ProjectionError>> {
        let shape = |width| match signs {
            Signs::Dense => Shape::dense(width, self.independence),
            Signs::Sparse { nonzeros } => Shape::sparse(width, nonzeros, self.independence),
        };
        match (self.width, signs) {
            (Some(width), _) => vec![shape(width)],
            (None, Signs::Dense) => Self::WIDTHS.map(|log| shape(1 << log)).collect(),
            (None, Signs::Sparse { nonzeros }) => {
                // The largest multiples of s by powers of two up to the powers of two considered.
                let fitting = |log: u32| (1u64 << log).checked_div(u64::from(nonzeros)).map(|rows| rows.max(1).ilog2());
                let width = |log| fitting(log).map_or(0, |bits| u64::from(nonzeros) << bits);
                Self::WIDTHS.map(|log| shape(width(log))).collect()
            }
        }
    }

    fn candidate(&self, shape: Shape, kind: NoiseKind) -> Result<Candidate, ProjectionError> {
        // The quick calibration is enough to compare by.
        let noise = match kind {
            NoiseKind::Laplace => self.noise_of(shape, kind)?,
            NoiseKind::Gaussian => Noise::gaussian(concentrated(self.squared_l2(shape), &self.budget)?),
        };
        let (width, nonzeros) = (f64::from(shape.width()), f64::from(shape.nonzeros()));
        let norm = self.stated_norm().unwrap_or(0.0);
        let variance = bounds::standard_error(1.0, norm, 0.0, width, nonzeros, noise.variance()).powi(2);
        Ok(Candidate { shape, noise: kind, variance })
    }

    fn fits(&self, candidate: Candidate) -> Result<bool, ProjectionError> {
        let noise_variance = candidate.variance * f64::from(candidate.shape.nonzeros());
        Ok(file_bytes(candidate.shape, noise_variance) <= self.file_bytes as f64)
    }

    fn squared_l2(&self, shape: Shape) -> NonZeroU128 {
        // Cannot fail: a product of numbers from 1 on.
        NonZeroU128::new(squared_l2_sensitivity(shape, self.neighbours, self.rows_per_unit)).expect("positive")
    }

    fn noise_of(&self, shape: Shape, kind: NoiseKind) -> Result<Noise, ProjectionError> {
        match kind {
            NoiseKind::Laplace => {
                let sensitivity = Sensitivity::new(l1_sensitivity(shape, self.neighbours, self.rows_per_unit))?;
                Ok(Noise::laplace(Scale::of(sensitivity, self.budget.epsilon())?))
            }
            NoiseKind::Gaussian => {
                let mut variance = concentrated(self.squared_l2(shape), &self.budget)?;
                if self.neighbours == Neighbours::AddRemove && self.rows_per_unit == 1 {
                    // Cannot fail: a column has an entry.
                    let moved = NonZeroU32::new(shape.nonzeros()).expect("positive");
                    variance = variance.min(add_remove(moved, &self.budget)?);
                }
                Ok(Noise::gaussian(variance))
            }
        }
    }

    fn explain(&self, plan: &Plan, chosen: &Candidate, candidates: &[Candidate]) -> String {
        let mut text = format!("{}.\n", plan.describe());
        let mut line = |line: std::fmt::Arguments| writeln!(text, "{line}").expect("a string takes all");
        match (plan.stated_norm, plan.stated_support) {
            (None, _) => line(format_args!(
                "Noise alone gives a list of m keys a standard error of {:.3}·√m records; the number of records is not stated.",
                plan.predicted_standard_error(1.0, 0.0, 0.0)
            )),
            (Some(norm), support) => {
                let support = support.unwrap_or(10_000.0);
                line(format_args!(
                    "Predicted standard error of a list of {support} keys: {:.1} records; without noise it would be {:.1}, \
                     without other keys {:.1}.",
                    plan.predicted_standard_error(support, norm, 0.0),
                    (support * norm / f64::from(plan.shape.width())).sqrt(),
                    plan.predicted_standard_error(support, 0.0, 0.0),
                ));
                line(format_args!(
                    "Size of the file: about {:.2} MB.",
                    plan.file_bytes().expect("the records are stated") / 1e6
                ));
            }
        }
        let is_other = |other: &&Candidate| (other.shape.signs(), other.noise) != (chosen.shape.signs(), chosen.noise);
        let others = candidates.iter().filter(is_other);
        if let Some(second) = others.min_by(|a, b| a.variance.total_cmp(&b.variance)) {
            line(format_args!(
                "Next best: {} rows of {} with {} noise, error {:.2} times as large.",
                second.shape.width(),
                signs_in_words(second.shape.signs()),
                kind_in_words(second.noise),
                (second.variance / chosen.variance).sqrt()
            ));
        }
        text
    }
}

/// By the entropy of a bell curve of the variance of a value, in bits: what a good compressor reaches.
fn file_bytes(shape: Shape, variance: f64) -> f64 {
    // The values are whole numbers: a twelfth is the variance of what rounding adds.
    f64::from(shape.width()) * 0.5 * (2.0 * PI * E * (variance + 1.0 / 12.0)).log2() / 8.0
}

fn signs_in_words(signs: Signs) -> String {
    match signs {
        Signs::Dense => "dense signs".to_owned(),
        Signs::Sparse { nonzeros: 1 } => "sparse signs, 1 entry a key".to_owned(),
        Signs::Sparse { nonzeros } => format!("sparse signs, {nonzeros} entries a key"),
    }
}

fn kind_in_words(kind: NoiseKind) -> &'static str {
    match kind {
        NoiseKind::Laplace => "Laplace",
        NoiseKind::Gaussian => "Gaussian",
    }
}

impl Plan {
    /// What a release spends, to be charged before it: pure if the noise is Laplace, whatever δ was offered.
    pub fn cost(&self) -> Budget {
        self.cost.clone()
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
        format!(
            "Private with {cost}, under {neighbours} neighbours, for units of at most {rows} row{plural}: one moves the {} sums \
             by at most {moved}, and each has {noise}.",
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

    /// The standard error, in records, of a query whose squared weights add up to `squared_query_norm` (a plain list: its
    /// length) and whose answer is about `expected`, on data of which the squared counts add up to `squared_data_norm`:
    /// [`bounds::standard_error`].
    pub fn predicted_standard_error(&self, squared_query_norm: f64, squared_data_norm: f64, expected: f64) -> f64 {
        let (width, nonzeros) = (f64::from(self.shape.width()), f64::from(self.shape.nonzeros()));
        bounds::standard_error(squared_query_norm, squared_data_norm, expected, width, nonzeros, self.noise.variance())
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
    /// fractional weights n·2⁻²¹ to the bound.
    pub fn guarantee(
        &self,
        squared_query_norm: f64,
        squared_data_norm: f64,
        queries: Queries,
        beta: Beta,
    ) -> Option<f64> {
        let (Signs::Dense, Noise::Gaussian(noise)) = (self.shape.signs(), &self.noise) else { return None };
        let width = f64::from(self.shape.width());
        let multiplier = (noise.variance().to_f64_up() / width).sqrt();
        let independence = bounds::Independence::Keys(self.shape.independence());
        bounds::theorem(squared_query_norm, squared_data_norm, multiplier, width, independence, queries, beta)
    }

    /// How large a file will be, about; none if the number of records is not stated.
    pub fn file_bytes(&self) -> Option<f64> {
        let share = f64::from(self.shape.nonzeros()) / f64::from(self.shape.width());
        self.stated_norm.map(|norm| file_bytes(self.shape, norm * share + self.noise.variance()))
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
        let family = SignFamily::new(self.shape, Seed::draw(rng));
        self.release_sketch(Sketch::of(&family, data)?, rng)
    }

    /// A release of a sketch that was made in pieces. Its family must have a seed that was drawn independently of the data,
    /// as [`Seed::draw`] does.
    ///
    /// # Errors
    /// If the sketch has another shape than the plan, or more rows a unit than it is for (parts add up).
    pub fn release_sketch<R: CryptoRng + ?Sized>(
        &self,
        sketch: Sketch,
        rng: &mut R,
    ) -> Result<ProjectionRelease, ProjectionError> {
        if let Some(bounded) = sketch.rows_per_unit().filter(|&bounded| bounded > self.rows_per_unit) {
            return Err(ProjectionError::RowsBeyondPlan { planned: self.rows_per_unit, bounded });
        }
        let (family, mut values) = sketch.into_parts();
        if family.shape() != self.shape {
            let planned = self.shape.width() as usize;
            return Err(ProjectionError::OtherShape { planned, given: family.width() });
        }
        self.noise.add_to(&mut values, rng);
        Ok(ProjectionRelease::new(self.clone(), family, values))
    }
}
