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
//! Where [heavy keys](crate::heavy) are released apart, their noisy counts have a share of the budget of their own, and this
//! is about the sketch's share.
//!
//! **That a unit has at most L rows is for the caller to make true** ([`ContributionBound`](tamis_queries::ContributionBound)),
//! and so is counting: each release spends [`Plan::cost`] anew, to be [charged](tamis_noise::Ledger) before.
//!
//! # The default
//! Answers about a list of m keys err by √(m·(‖x‖²/T + σ²/s)) ([`bounds::standard_error`]), whatever m is. Per key of the list
//! noise is 2s/ε² with Laplace noise on sparse signs, 2T/ε² on dense ones, and σ₁² with Gaussian noise on either, some 30/ε²:
//! so s = 1 with Laplace noise is best, and needs no δ. On skewed data ‖x‖ is all of the error and signs of all kinds err
//! alike on the average; but with s = 1 mostly by little and rarely by much, with dense signs along a bell curve. What is not
//! given is chosen to make that error least within the size of the file, and of widths within 1 % of the least the smallest;
//! where an error is [wanted](Builder::wanted_error), to reach it with the smallest file. [`Plan::explanation`] says so in words.
//!
//! # Limitations
//! Time depends on the data: do not let an analyst measure it. With heavy keys so does the number of words that are taken from
//! the generator: one for the noise of each key that occurs. They are independent, and taken after all others, so what is
//! released has the law that is stated; but do not publish what the same generator gives next to someone who has its seed. Queries may depend on earlier answers without harm to privacy;
//! error bars are for queries that do not depend on the seed.
//!
//! # References
//! - A. Blum, A. Roth, *Fast private data release algorithms for sparse queries*, 2011, section 4: the dense release.
//! - R. Pagh, M. Thorup, *Improved utility analysis of private CountSketch*, NeurIPS 2022: s = 1 with Gaussian noise.
//! - D. Kane, J. Nelson, *Sparser Johnson-Lindenstrauss transforms*, J. ACM 61(1), 2014: the sparse signs.

use crate::heavy::{self, HeavyKeys};
use crate::{ProjectionError, ProjectionRelease, Seed, Shape, SignFamily, Signs, Sketch, bounds};
use rand::CryptoRng;
use std::f64::consts::{E, PI};
use std::num::{NonZeroU32, NonZeroU128};
use tamis_noise::gaussian_calibration::{add_remove, concentrated};
use tamis_noise::stability::{StabilityError, StabilityThreshold};
use tamis_noise::{Beta, Budget, DiscreteGaussian, DiscreteLaplace, Neighbours, Queries, Scale, Sensitivity, Variance};
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
    independence: Option<u32>,
    noise: Option<NoiseKind>,
    heavy: HeavyKeys,
    records: Option<f64>,
    key_multiplicity: f64,
    support: Option<f64>,
    queries: Option<Queries>,
    beta: Option<Beta>,
    wanted_error: Option<f64>,
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
            independence: None,
            noise: None,
            heavy: HeavyKeys::Auto,
            records: None,
            key_multiplicity: 1.0,
            support: None,
            queries: None,
            beta: None,
            wanted_error: None,
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

/// What the budget is spent on, and what is left for the sketch to err by.
struct Division {
    noise: NoiseKind,
    sketch: Budget,
    heavy: Option<StabilityThreshold>,
    /// ‖x‖², or the estimate of ‖x − c̃‖²; none if the number of records is not stated.
    norm: Option<f64>,
}

/// A shape and a division of the budget, and what they would give per key of a query.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    shape: Shape,
    division: &'a Division,
    /// Variance of an answer over ‖q‖².
    variance: f64,
}

impl Candidate<'_> {
    /// Of its file, without heavy keys.
    fn bytes(&self) -> f64 {
        file_bytes(self.shape, self.variance * f64::from(self.shape.nonzeros()))
    }

    fn in_words(&self) -> String {
        let (signs, noise) = (signs_in_words(self.shape.signs()), kind_in_words(self.division.noise));
        format!("{} rows of {signs} with {noise} noise", self.shape.width())
    }
}

impl Builder {
    /// Independence of the columns unless it is stated, or a theorem is asked for: what exact standard errors need.
    pub const INDEPENDENCE: u32 = 4;
    /// Size of the file unless it is stated.
    pub const FILE_BYTES: u64 = 400_000;
    /// The widths considered, as powers of two.
    const WIDTHS: std::ops::RangeInclusive<u32> = 10..=22;
    /// A wider release must be better by so much to be worth its file.
    const WORTHWHILE: f64 = 0.99;
    /// The independences considered where the theorem is asked for.
    const INDEPENDENCES: [u32; 5] = [4, 12, 24, 48, 68];
    /// Keys of a query unless they are stated.
    const SUPPORT: f64 = 10_000.0;
    /// β unless it is stated: it bounds error, never privacy.
    const BETA: f64 = 0.05;

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
    /// structured keys. Unless it is stated, 4; with dense signs, Gaussian noise and [queries](Self::queries) stated, what gives
    /// the least bound of the [theorem](bounds#the-theorem) within a percent.
    pub fn independence(mut self, independence: u32) -> Self {
        self.independence = Some(independence);
        self
    }

    /// The noise.
    pub fn noise(mut self, kind: NoiseKind) -> Self {
        self.noise = Some(kind);
        self
    }

    /// Whether heavy keys are released apart: [`HeavyKeys::Auto`] unless stated. It needs the number of records, and
    /// a [multiplicity](Self::key_multiplicity) for it to pay.
    pub fn heavy(mut self, heavy: HeavyKeys) -> Self {
        self.heavy = heavy;
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

    /// k: how many queries are to be answered, so that the plan says within what all of them are.
    pub fn queries(mut self, queries: Queries) -> Self {
        self.queries = Some(queries);
        self
    }

    /// β: with what probability one of them may be further off. 0.05 unless stated.
    pub fn beta(mut self, beta: Beta) -> Self {
        self.beta = Some(beta);
        self
    }

    /// The error that is good enough, in records, for a query of the stated [support](Self::support): a standard error or, if
    /// queries or β are stated, what all of them keep but for β. The smallest file of which it is predicted is chosen.
    pub fn wanted_error(mut self, error: f64) -> Self {
        self.wanted_error = Some(error);
        self
    }

    /// How large the file may be, estimated by the entropy of its values; heavy keys come on top, at most 16 bytes each.
    pub fn file_bytes(mut self, bytes: u64) -> Self {
        self.file_bytes = bytes;
        self
    }

    /// Decides.
    ///
    /// # Errors
    /// If something stated is impossible; if neither width nor records are stated; if nothing fits the file, or nothing that
    /// fits has the wanted error; if the noise cannot be had, as Gaussian noise or heavy keys without δ.
    pub fn build(self) -> Result<Plan, ProjectionError> {
        self.check()?;
        let divisions = self.divisions()?;
        let candidates = self.candidates(&divisions)?;
        let chosen = self.choose(&candidates)?;
        let Division { noise: kind, sketch, heavy, .. } = chosen.division;
        let noise = self.noise_of(chosen.shape, *kind, sketch)?;
        let pure = Budget::pure(self.budget.epsilon().clone());
        let mut plan = Plan {
            cost: if *kind == NoiseKind::Laplace && heavy.is_none() { pure } else { self.budget.clone() },
            neighbours: self.neighbours,
            rows_per_unit: self.rows_per_unit,
            shape: self.independent_enough(chosen, &noise),
            noise,
            sketch_cost: sketch.clone(),
            heavy: heavy.clone(),
            stated: Stated {
                records: self.records,
                key_multiplicity: Some(self.key_multiplicity),
                support: self.support,
                confidence: self.confidence(),
            },
            explanation: String::new(),
        };
        plan.explanation = explain(&plan, chosen, &candidates);
        Ok(plan)
    }

    fn check(&self) -> Result<(), ProjectionError> {
        if !(1..=1_000_000).contains(&self.rows_per_unit) {
            return Err(ProjectionError::RowsPerUnit(self.rows_per_unit));
        }
        if let Some(few) = self.independence.filter(|&independence| independence < Self::INDEPENDENCE) {
            return Err(ProjectionError::IndependenceOfAnswers(few));
        }
        let sizes = [
            ("records", self.records),
            ("support", self.support),
            ("key multiplicity", Some(self.key_multiplicity)),
            ("wanted error", self.wanted_error),
        ];
        for (name, size) in sizes {
            if let Some(value) = size.filter(|size| !(1.0..=1e15).contains(size)) {
                return Err(ProjectionError::Size { name, value: value.to_string() });
            }
        }
        if self.records.is_none() && (self.width.is_none() || self.wanted_error.is_some()) {
            return Err(ProjectionError::Unstated);
        }
        Ok(())
    }

    fn confidence(&self) -> Option<(Queries, Beta)> {
        // Cannot fail: both are in range.
        let one = || Queries::new(1).expect("1 is a number of queries");
        let usual = || Beta::new(Self::BETA).expect("a probability");
        let stated = self.queries.is_some() || self.beta.is_some();
        stated.then(|| (self.queries.unwrap_or_else(one), self.beta.unwrap_or_else(usual)))
    }

    /// How the budget may be divided: at least one way. Those without heavy keys come first, and so are preferred among equals.
    fn divisions(&self) -> Result<Vec<Division>, ProjectionError> {
        let pure = self.budget.delta().is_zero();
        let kinds = match self.noise {
            Some(kind) => vec![kind],
            None if pure => vec![NoiseKind::Laplace],
            None => vec![NoiseKind::Laplace, NoiseKind::Gaussian],
        };
        if self.heavy == HeavyKeys::On {
            return kinds.into_iter().map(|kind| self.with_heavy_keys(kind)).collect();
        }
        let norm = self.records.map(|records| records * self.key_multiplicity);
        let whole = |&noise: &NoiseKind| Division { noise, sketch: self.budget.clone(), heavy: None, norm };
        let mut divisions: Vec<Division> = kinds.iter().map(whole).collect();
        if self.heavy == HeavyKeys::Auto && !pure && norm.is_some() {
            // Where the halves are too small for any noise, the whole may not be.
            divisions.extend(kinds.into_iter().filter_map(|kind| self.with_heavy_keys(kind).ok()));
        }
        Ok(divisions)
    }

    fn with_heavy_keys(&self, noise: NoiseKind) -> Result<Division, ProjectionError> {
        if self.budget.delta().is_zero() {
            return Err(StabilityError::WithoutDelta.into());
        }
        let (share, sketch) = heavy::divided(&self.budget, noise == NoiseKind::Gaussian)?;
        let threshold = StabilityThreshold::new(&share, self.neighbours, self.rows_per_unit)?;
        let left = |records| heavy::residual_norm(&threshold, records, records * self.key_multiplicity);
        Ok(Division { noise, sketch, norm: self.records.map(left), heavy: Some(threshold) })
    }

    /// All that may be chosen: at least one.
    fn candidates<'a>(&self, divisions: &'a [Division]) -> Result<Vec<Candidate<'a>>, ProjectionError> {
        let signs = match self.signs {
            Some(signs) => vec![signs],
            None => {
                [1, 2, 4, 8, 16].map(|nonzeros| Signs::Sparse { nonzeros }).into_iter().chain([Signs::Dense]).collect()
            }
        };
        let fits = |candidate: &Candidate| self.width.is_some() || candidate.bytes() <= self.file_bytes as f64;
        let (mut candidates, mut refusal) = (Vec::new(), ProjectionError::FileTooSmall(self.file_bytes));
        for shape in signs.into_iter().flat_map(|signs| self.shapes(signs)) {
            for division in divisions {
                match shape.clone().and_then(|shape| self.candidate(shape, division)) {
                    Ok(candidate) if fits(&candidate) => candidates.push(candidate),
                    Ok(_) => {}
                    Err(error) => refusal = error,
                }
            }
        }
        if candidates.is_empty() { Err(refusal) } else { Ok(candidates) }
    }

    fn shapes(&self, signs: Signs) -> Vec<Result<Shape, ProjectionError>> {
        let independence = self.independence.unwrap_or(Self::INDEPENDENCE);
        let shape = |width| match signs {
            Signs::Dense => Shape::dense(width, independence),
            Signs::Sparse { nonzeros } => Shape::sparse(width, nonzeros, independence),
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

    fn candidate<'a>(&self, shape: Shape, division: &'a Division) -> Result<Candidate<'a>, ProjectionError> {
        // The quick calibration is enough to compare by.
        let noise = match division.noise {
            NoiseKind::Laplace => self.noise_of(shape, division.noise, &division.sketch)?,
            NoiseKind::Gaussian => Noise::gaussian(concentrated(self.squared_l2(shape), &division.sketch)?),
        };
        let (width, nonzeros) = (f64::from(shape.width()), f64::from(shape.nonzeros()));
        let norm = division.norm.unwrap_or(0.0);
        let variance = bounds::standard_error(1.0, norm, 0.0, width, nonzeros, noise.variance()).powi(2);
        Ok(Candidate { shape, division, variance })
    }

    /// The least error, or the smallest file that has the wanted one.
    fn choose<'a, 'b>(&self, candidates: &'b [Candidate<'a>]) -> Result<&'b Candidate<'a>, ProjectionError> {
        let by_variance = |a: &&Candidate, b: &&Candidate| a.variance.total_cmp(&b.variance);
        // Cannot fail: `candidates` gives an error rather than none.
        let least = candidates.iter().min_by(by_variance).expect("a candidate");
        let Some(wanted) = self.wanted_error else {
            let near = |candidate: &&Candidate| candidate.variance * Self::WORTHWHILE.powi(2) <= least.variance;
            let order = |candidate: &&Candidate| (candidate.shape.width(), candidate.division.heavy.is_some());
            // Cannot fail: the least is among those near it.
            return Ok(candidates.iter().filter(near).min_by_key(order).expect("the least"));
        };
        // The variance per key with which a list of this many keys errs so.
        let support = self.support.unwrap_or(Self::SUPPORT);
        let multiplier = self.confidence().map_or(1.0, |(queries, beta)| bounds::deviations(queries, beta));
        let enough = (wanted / multiplier).powi(2) / support;
        let good = candidates.iter().filter(|candidate| candidate.variance <= enough);
        good.min_by(|a, b| a.bytes().total_cmp(&b.bytes())).ok_or_else(|| ProjectionError::Unreachable {
            wanted: wanted.to_string(),
            least: format!("{:.1}", multiplier * (support * least.variance).sqrt()),
            by: least.in_words(),
            remedy: self.remedy(least, enough, support),
        })
    }

    /// What would bring the variance per key down to `enough`, or the length of lists.
    fn remedy(&self, least: &Candidate, enough: f64, support: f64) -> String {
        let signal = least.division.norm.unwrap_or(0.0) / f64::from(least.shape.width());
        let more = if signal < enough {
            // Noise falls as 1/ε, or faster.
            let factor = ((least.variance - signal) / (enough - signal)).sqrt();
            format!("epsilon = {} would reach it", two_digits_up(self.budget.epsilon().to_f64_up() * factor))
        } else {
            "other keys alone err by more, so it takes more rows: a larger file".to_owned()
        };
        let keys = (support * enough / least.variance).floor();
        if keys >= 1.0 { format!("{more}; so would lists of {keys} keys") } else { more }
    }

    /// The chosen shape; where the theorem is asked for, with the least independence that makes the most of it.
    fn independent_enough(&self, chosen: &Candidate, noise: &Noise) -> Shape {
        let (None, Signs::Dense, Noise::Gaussian(noise), Some((queries, beta))) =
            (self.independence, chosen.shape.signs(), noise, self.confidence())
        else {
            return chosen.shape;
        };
        let norm = chosen.division.norm.unwrap_or(0.0);
        let bound = |keys| Some((keys, gaussian_theorem(1.0, norm, noise, keys?, queries, beta)?));
        let shapes = Self::INDEPENDENCES.map(|r| Shape::dense(u64::from(chosen.shape.width()), r).ok());
        let bounds: Vec<(Option<Shape>, f64)> = shapes.into_iter().filter_map(bound).collect();
        let least = bounds.iter().map(|&(_, bound)| bound).fold(f64::INFINITY, f64::min);
        let near = bounds.into_iter().find(|&(_, bound)| bound * Self::WORTHWHILE <= least);
        near.and_then(|(shape, _)| shape).unwrap_or(chosen.shape)
    }

    fn squared_l2(&self, shape: Shape) -> NonZeroU128 {
        // Cannot fail: a product of numbers from 1 on.
        NonZeroU128::new(squared_l2_sensitivity(shape, self.neighbours, self.rows_per_unit)).expect("positive")
    }

    fn noise_of(&self, shape: Shape, kind: NoiseKind, budget: &Budget) -> Result<Noise, ProjectionError> {
        match kind {
            NoiseKind::Laplace => {
                let sensitivity = Sensitivity::new(l1_sensitivity(shape, self.neighbours, self.rows_per_unit))?;
                Ok(Noise::laplace(Scale::of(sensitivity, budget.epsilon())?))
            }
            NoiseKind::Gaussian => {
                let mut variance = concentrated(self.squared_l2(shape), budget)?;
                if self.neighbours == Neighbours::AddRemove && self.rows_per_unit == 1 {
                    // Cannot fail: a column has an entry.
                    let moved = NonZeroU32::new(shape.nonzeros()).expect("positive");
                    variance = variance.min(add_remove(moved, budget)?);
                }
                Ok(Noise::gaussian(variance))
            }
        }
    }
}

/// [`bounds::theorem`] for a dense shape.
fn gaussian_theorem(
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

/// In words: what was chosen, what it gives, what the next best would.
fn explain(plan: &Plan, chosen: &Candidate, candidates: &[Candidate]) -> String {
    let mut lines = vec![format!("{}.", plan.describe())];
    lines.extend(plan.heavy.as_ref().map(|threshold| explain_heavy(plan, threshold)));
    lines.extend(explain_errors(plan));
    lines.extend(explain_confidence(plan));
    let best = |others: &dyn Fn(&Candidate) -> bool| {
        let least = candidates.iter().filter(|other| others(other)).min_by(|a, b| a.variance.total_cmp(&b.variance))?;
        Some((least.in_words(), (least.variance / chosen.variance).sqrt()))
    };
    let apart = |candidate: &Candidate| candidate.division.heavy.is_some();
    let kind = |candidate: &Candidate| (candidate.shape.signs(), candidate.division.noise);
    if let Some((second, ratio)) = best(&|other| apart(other) == apart(chosen) && kind(other) != kind(chosen)) {
        lines.push(format!("Next best: {second}, error {ratio:.2} times as large."));
    }
    if let Some((second, ratio)) = best(&|other| apart(other) != apart(chosen)) {
        let with = if apart(chosen) { "Without" } else { "With" };
        lines.push(format!("{with} heavy keys apart: {second}, error {ratio:.2} times as large."));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn explain_heavy(plan: &Plan, threshold: &StabilityThreshold) -> String {
    format!(
        "Keys whose noisy count (discrete Laplace noise of scale {}) is {} or more are released apart, with {}; the sketch, \
         with {}, answers for what is left. Errors below are estimates from above, what is left being unknown beforehand; \
         each answer carries its own.",
        threshold.scale(),
        threshold.threshold(),
        threshold.cost(),
        plan.sketch_cost
    )
}

fn explain_errors(plan: &Plan) -> Vec<String> {
    let Some(norm) = plan.stated_norm() else {
        let error = plan.predicted_standard_error(1.0, 0.0, 0.0);
        return vec![format!(
            "Noise alone gives a list of m keys a standard error of {error:.3}·√m records; the number of records is not stated."
        )];
    };
    let support = plan.stated_support();
    let errors = format!(
        "Predicted standard error of a list of {support} keys: {:.1} records; without noise it would be {:.1}, without other \
         keys {:.1}.",
        plan.predicted_standard_error(support, norm, 0.0),
        (support * norm / f64::from(plan.shape.width())).sqrt(),
        plan.predicted_standard_error(support, 0.0, 0.0),
    );
    let megabytes = plan.file_bytes().map(|bytes| format!("Size of the file: about {:.2} MB.", bytes / 1e6));
    [errors].into_iter().chain(megabytes).collect()
}

fn explain_confidence(plan: &Plan) -> Vec<String> {
    let (Some((queries, beta)), Some(norm)) = (plan.stated.confidence, plan.stated_norm()) else { return Vec::new() };
    let (support, k, sure) = (plan.stated_support(), queries.get(), 1.0 - beta.get());
    let predicted = plan.predicted_error_of_all(support, norm, 0.0, queries, beta);
    let mut lines = vec![format!(
        "With probability {sure} all of {k} such lists within {predicted:.1} records, by the normal law: a prediction, not a \
         guarantee."
    )];
    let bound = plan.guarantee(support, norm, queries, beta);
    lines.extend(bound.map(|bound| {
        let records = plan.stated.records.unwrap_or(f64::INFINITY);
        let vacuous = if bounds::is_vacuous(bound, records) { "; vacuous, since the data has no more" } else { "" };
        format!("Guaranteed by the theorem for queries fixed beforehand: within {bound:.1} records{vacuous}.")
    }));
    lines
}

/// To two digits, and not below.
fn two_digits_up(value: f64) -> f64 {
    // 5 % more are at least the half of a last digit that rounding can take away. Cannot fail: what was printed is read.
    format!("{:.1e}", 1.05 * value).parse().expect("a number")
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

    /// m as stated, or 10 000.
    pub fn stated_support(&self) -> f64 {
        self.stated.support.unwrap_or(Builder::SUPPORT)
    }

    /// ‖x‖² as stated: n times the multiplicity of keys. With heavy keys apart the [estimate](crate::heavy) from above of
    /// ‖x − c̃‖², by which answers then err. None if the number of records is not stated.
    pub fn stated_norm(&self) -> Option<f64> {
        let (records, multiplicity) = (self.stated.records?, self.stated.key_multiplicity?);
        let norm = records * multiplicity;
        Some(self.heavy.as_ref().map_or(norm, |threshold| heavy::residual_norm(threshold, records, norm)))
    }

    /// The standard error, in records, of a query whose squared weights add up to `squared_query_norm` (a plain list: its
    /// length) and whose answer is about `expected`, on data of which the squared counts add up to `squared_data_norm`:
    /// [`bounds::standard_error`].
    ///
    /// With heavy keys apart the last two are of what is left, x − c̃: see [`stated_norm`](Self::stated_norm), and
    /// [`ProjectionRelease::squared_norm`] of a release.
    pub fn predicted_standard_error(&self, squared_query_norm: f64, squared_data_norm: f64, expected: f64) -> f64 {
        let (width, nonzeros) = (f64::from(self.shape.width()), f64::from(self.shape.nonzeros()));
        bounds::standard_error(squared_query_norm, squared_data_norm, expected, width, nonzeros, self.noise.variance())
    }

    /// What all of `queries` such answers are predicted to be within, but for a probability β: so many
    /// [standard errors](Self::predicted_standard_error) as [`bounds::deviations`] says. By the normal law, so a prediction:
    /// [`guarantee`](Self::guarantee) is the theorem.
    pub fn predicted_error_of_all(
        &self,
        squared_query_norm: f64,
        squared_data_norm: f64,
        expected: f64,
        queries: Queries,
        beta: Beta,
    ) -> f64 {
        let error = self.predicted_standard_error(squared_query_norm, squared_data_norm, expected);
        bounds::deviations(queries, beta) * error
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

    /// How large a file will be, about; none if the number of records is not stated. Heavy keys come on top, at most 16 bytes
    /// each.
    pub fn file_bytes(&self) -> Option<f64> {
        let share = f64::from(self.shape.nonzeros()) / f64::from(self.shape.width());
        self.stated_norm().map(|norm| file_bytes(self.shape, norm * share + self.noise.variance()))
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
        let (family, values) = self.noisy(Sketch::of(&family, data)?, rng)?;
        // Last, so that no other noise stands at a place in the generator's words that depends on the data.
        let heavy = self.heavy.as_ref().map_or(Vec::new(), |threshold| heavy_counts(threshold, data, rng));
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
        if let Some(bounded) = sketch.rows_per_unit().filter(|&bounded| bounded > self.rows_per_unit) {
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
    heavy::within_total(heavy)
}
