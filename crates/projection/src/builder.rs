//! What is stated of a release, and how what is not stated is chosen.
//!
//! # The default
//! Answers about a list of m keys err by √(m·(‖x‖²/T + σ²/s)) ([`bounds::standard_error`]), whatever m is. Per key of the list
//! noise is 2s/ε² with Laplace noise on sparse signs, 2T/ε² on dense ones, and σ₁² with Gaussian noise on either, some 30/ε²:
//! so s = 1 with Laplace noise is best, and needs no δ. On skewed data ‖x‖ is all of the error and signs of all kinds err
//! alike on the average; but with s = 1 mostly by little and rarely by much, with dense signs along a bell curve. What is not
//! given is chosen to make that error least within the size of the file, and of widths within 1 % of the least the smallest;
//! where an error is [wanted](Builder::wanted_error), to reach it with the smallest file, without heavy keys if that can be.
//! Whether heavy keys are released apart is decided by [intervals](Plan::predicted_half_width), which tell their heavy tails apart;
//! among signs they are not compared, since how heavy tails are is known too roughly. [`Plan::explanation`] says all this in words.

use crate::answer::LEAST_ROWS;
use crate::file::size::{self, Spread};
use crate::heavy::{self, HeavyKeys};
use crate::release::{
    Stated, error_of_all, gaussian_theorem, kind_in_words, predicted_rule, signs_in_words, squared_l2_sensitivity,
    standard_error,
};
use crate::{Noise, NoiseKind, Plan, ProjectionError, ProjectionRelease, Rule, Shape, Signs, bounds};
use std::cmp::Ordering;
use std::num::NonZeroU128;
use tamis_noise::composition::CompositionError;
use tamis_noise::gaussian_calibration::concentrated;
use tamis_noise::stability::{StabilityError, StabilityThreshold};
use tamis_noise::{Beta, Budget, DiscreteGaussian, Epsilon, Neighbours, Queries, Rational, Variance};

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

/// What the budget is spent on, and what is left for the sketch to err by.
struct Division {
    noise: NoiseKind,
    sketch: Budget,
    heavy: Option<StabilityThreshold>,
    /// ‖x‖² and Σx⁴, or the estimates for x − c̃: [`heavy::left`]; none if the number of records is not stated.
    left: Option<(f64, f64)>,
    /// σ² of Gaussian noise for a sensitivity of 1, by [`concentrated`]: it grows as the square, and is found by a search.
    unit_variance: Option<Result<Variance, CompositionError>>,
}

impl Division {
    fn new(noise: NoiseKind, sketch: Budget, heavy: Option<StabilityThreshold>, left: Option<(f64, f64)>) -> Self {
        let gaussian = noise == NoiseKind::Gaussian;
        let unit_variance = gaussian.then(|| concentrated(NonZeroU128::MIN, &sketch));
        Self { noise, sketch, heavy, left, unit_variance }
    }

    /// [`Noise::for_all`].
    fn noise_for(&self, shape: Shape, neighbours: Neighbours, rows_per_unit: u32) -> Result<Noise, ProjectionError> {
        let Some(unit) = self.unit_variance.clone() else {
            return Noise::for_all(self.noise, shape, &self.sketch, neighbours, rows_per_unit);
        };
        let moved = Rational::from(squared_l2_sensitivity(shape, neighbours, rows_per_unit));
        let variance = Variance::from_rational(unit?.as_rational() * moved)?;
        Ok(Noise::Gaussian(DiscreteGaussian::new(variance)))
    }

    /// ‖x‖² or the estimate of ‖x − c̃‖²; 0 if the number of records is not stated.
    fn norm(&self) -> f64 {
        self.left.map_or(0.0, |(norm, _)| norm)
    }
}

/// A shape and a division of the budget, and what they would give per key of a query.
struct Candidate<'a> {
    shape: Shape,
    division: &'a Division,
    noise: Noise,
    /// Variance of an answer over ‖q‖².
    variance: f64,
    /// Half of an interval for a list of the stated length.
    half_width: f64,
}

impl Candidate<'_> {
    /// Whether heavy keys are released apart.
    fn apart(&self) -> bool {
        self.division.heavy.is_some()
    }

    /// Of its file, without heavy keys.
    fn bytes(&self) -> f64 {
        let spread = Spread::of(self.shape, self.division.norm(), self.noise.variance(), self.noise.kind());
        size::predicted(self.shape, spread)
    }

    fn in_words(&self) -> String {
        let (signs, noise) = (signs_in_words(self.shape.signs()), kind_in_words(self.noise.kind()));
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
    pub(crate) const SUPPORT: f64 = 10_000.0;
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
    /// structured keys. Unless it is stated, 4; with dense signs, Gaussian noise and [queries](Self::queries) or
    /// [β](Self::beta) stated, what gives the least bound of the [theorem](bounds#the-theorem) within a percent.
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

    /// How large the [file](crate::file) may be, [about](Plan::file_bytes); heavy keys come on top, at most 16 bytes each.
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
        let noise = Noise::calibrated(*kind, chosen.shape, sketch, self.neighbours, self.rows_per_unit)?;
        let mut plan = Plan {
            cost: if heavy.is_some() { self.budget.clone() } else { sketch.clone() },
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
        let sizes = [
            ("records", self.records),
            ("support", self.support),
            ("key multiplicity", Some(self.key_multiplicity)),
            ("wanted error", self.wanted_error),
        ];
        check_ranges(self.rows_per_unit, self.independence, &sizes)?;
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
        let left = self.left(None);
        let whole = |&noise: &NoiseKind| {
            let sketch = match noise {
                NoiseKind::Laplace => Budget::pure(self.budget.epsilon().clone()),
                NoiseKind::Gaussian => self.budget.clone(),
            };
            Division::new(noise, sketch, None, left)
        };
        let mut divisions: Vec<Division> = kinds.iter().map(whole).collect();
        if let (HeavyKeys::Auto, false, Some((norm, _))) = (self.heavy, pure, left) {
            // Where the halves are too small for any noise, the whole may not be.
            let apart = kinds.into_iter().filter_map(|kind| self.with_heavy_keys(kind).ok());
            divisions.extend(apart.filter(|apart| apart.norm() < norm));
        }
        Ok(divisions)
    }

    fn with_heavy_keys(&self, noise: NoiseKind) -> Result<Division, ProjectionError> {
        if self.budget.delta().is_zero() {
            return Err(StabilityError::WithoutDelta.into());
        }
        let (share, sketch) = heavy::divided(&self.budget, noise)?;
        let threshold = StabilityThreshold::new(&share, self.neighbours, self.rows_per_unit)?;
        let left = self.left(Some(&threshold));
        Ok(Division::new(noise, sketch, Some(threshold), left))
    }

    /// What the sketch is to answer for, as far as it is stated.
    fn left(&self, threshold: Option<&StabilityThreshold>) -> Option<(f64, f64)> {
        self.records.map(|records| heavy::left(threshold, records, self.key_multiplicity))
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
        let noise = division.noise_for(shape, self.neighbours, self.rows_per_unit)?;
        let variance = standard_error(shape, &noise, 1.0, division.norm(), 0.0).powi(2);
        let rule = predicted_rule(shape, &noise, self.lists(), division.left.unwrap_or_default());
        let half_width = rule.half_width((self.lists() * variance).sqrt(), outside(self.confidence()));
        Ok(Candidate { shape, division, noise, variance, half_width })
    }

    /// m.
    fn lists(&self) -> f64 {
        self.support.unwrap_or(Self::SUPPORT)
    }

    /// The least error, or the smallest file that has the wanted one.
    fn choose<'a, 'b>(&self, candidates: &'b [Candidate<'a>]) -> Result<&'b Candidate<'a>, ProjectionError> {
        let Some(wanted) = self.wanted_error else {
            return Ok(self.narrowest(candidates));
        };
        let good = candidates.iter().filter(|candidate| self.error(candidate, self.lists()) <= wanted);
        let smaller = |a: &&Candidate, b: &&Candidate| a.bytes().total_cmp(&b.bytes());
        good.min_by(|a, b| a.apart().cmp(&b.apart()).then(smaller(a, b))).ok_or_else(|| {
            // Cannot fail: `candidates` gives an error rather than none.
            let least = candidates.iter().min_by(by_variance).expect("a candidate");
            ProjectionError::Unreachable {
                wanted: wanted.to_string(),
                least: format!("{:.1}", self.error(least, self.lists())),
                by: least.in_words(),
                remedy: self.remedy(least, wanted),
            }
        })
    }

    /// Of a list of so many keys: the standard error or, if queries or β were stated, what all are within.
    fn error(&self, candidate: &Candidate, support: f64) -> f64 {
        let Candidate { shape, noise, variance, .. } = candidate;
        let error = (support * variance).sqrt();
        let all = |confidence| error_of_all(*shape, noise, support, error, outside(Some(confidence)));
        self.confidence().map_or(error, all)
    }

    /// Of the least errors with heavy keys apart and without, the one with the narrower interval.
    fn narrowest<'a, 'b>(&self, candidates: &'b [Candidate<'a>]) -> &'b Candidate<'a> {
        let least = |apart| {
            let these = || candidates.iter().filter(move |candidate| candidate.apart() == apart);
            let least = these().min_by(by_variance)?.variance;
            let near = |candidate: &&Candidate| candidate.variance * Self::WORTHWHILE.powi(2) <= least;
            these().filter(near).min_by_key(|candidate| candidate.shape.width())
        };
        match (least(false), least(true)) {
            (Some(plain), Some(apart)) if apart.half_width < Self::WORTHWHILE * plain.half_width => apart,
            // Cannot fail: `candidates` gives an error rather than none.
            (plain, apart) => plain.or(apart).expect("a candidate"),
        }
    }

    /// What would bring the error down to what is wanted: another ε, or shorter lists.
    fn remedy(&self, least: &Candidate, wanted: f64) -> String {
        let (norm, support) = (least.division.norm(), self.lists());
        let multiplier = self.confidence().map_or(1.0, |(queries, beta)| bounds::deviations(queries, beta));
        // The variance per key with which a list of this many keys errs so, by the normal law: all that is left without noise.
        let enough = (wanted / multiplier).powi(2) / support;
        let signal = norm / f64::from(least.shape.width());
        let more = if signal < enough {
            // Noise falls as 1/ε, or faster.
            let factor = ((least.variance - signal) / (enough - signal)).sqrt().max(1.0);
            self.other_epsilon(wanted, self.budget.epsilon().to_f64_up() * factor)
        } else if self.width.is_none() && norm < enough * f64::from(1u32 << Self::WIDTHS.end()) {
            "other keys alone err by more, so it takes more rows: a larger file".to_owned()
        } else {
            "other keys alone err by more, whatever epsilon is".to_owned()
        };
        let keys = self.longest(least, wanted);
        if keys >= 1.0 { format!("{more}; so would lists of {keys} keys") } else { more }
    }

    /// An ε by which what is wanted is reached, from a guess on that knows of no tails.
    fn other_epsilon(&self, wanted: f64, guess: f64) -> String {
        let larger = |&epsilon: &f64| Some(two_digits_up(epsilon));
        let guesses: Vec<f64> = std::iter::successors(Some(two_digits_up(guess)), larger).take(10).collect();
        let reaching = guesses.iter().find(|&&epsilon| self.reaches(wanted, epsilon).unwrap_or(false));
        reaching.map_or_else(
            || format!("no epsilon up to {} would reach it", guesses[guesses.len() - 1]),
            |epsilon| format!("epsilon = {epsilon} would reach it"),
        )
    }

    /// Whether what is wanted is reached with this ε.
    fn reaches(&self, wanted: f64, epsilon: f64) -> Result<bool, ProjectionError> {
        let budget = Budget::approximate(Epsilon::new(epsilon)?, self.budget.delta().clone());
        let other = Self { budget, ..self.clone() };
        let divisions = other.divisions()?;
        let candidates = other.candidates(&divisions)?;
        Ok(candidates.iter().any(|candidate| other.error(candidate, other.lists()) <= wanted))
    }

    /// How many keys a list may have to err by what is wanted; 0 if one key is too many.
    fn longest(&self, least: &Candidate, wanted: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.lists());
        while high - low > 1.0 {
            let middle = f64::midpoint(low, high).floor();
            if self.error(least, middle) <= wanted { low = middle } else { high = middle }
        }
        low
    }

    /// The chosen shape; where the theorem is asked for, with the least independence that makes the most of it.
    fn independent_enough(&self, chosen: &Candidate, noise: &Noise) -> Shape {
        let (None, Signs::Dense, Noise::Gaussian(noise), Some((queries, beta))) =
            (self.independence, chosen.shape.signs(), noise, self.confidence())
        else {
            return chosen.shape;
        };
        let norm = chosen.division.norm();
        let bound = |shape| Some((shape, gaussian_theorem(1.0, norm, noise, shape, queries, beta)?));
        let shapes = Self::INDEPENDENCES.map(|keys| Shape::dense(u64::from(chosen.shape.width()), keys).ok());
        let bounds: Vec<(Shape, f64)> = shapes.into_iter().flatten().filter_map(bound).collect();
        let least = bounds.iter().map(|&(_, bound)| bound).fold(f64::INFINITY, f64::min);
        let near = bounds.into_iter().find(|&(_, bound)| bound * Self::WORTHWHILE <= least);
        near.map_or(chosen.shape, |(shape, _)| shape)
    }
}

/// That L, r and the stated sizes, by name, are what they may be.
pub(crate) fn check_ranges(
    rows_per_unit: u32,
    independence: Option<u32>,
    sizes: &[(&'static str, Option<f64>)],
) -> Result<(), ProjectionError> {
    if !(1..=1_000_000).contains(&rows_per_unit) {
        return Err(ProjectionError::RowsPerUnit(rows_per_unit));
    }
    if let Some(few) = independence.filter(|&independence| independence < Builder::INDEPENDENCE) {
        return Err(ProjectionError::IndependenceOfAnswers(few));
    }
    for &(name, size) in sizes {
        if let Some(value) = size.filter(|size| !(1.0..=1e15).contains(size)) {
            return Err(ProjectionError::Size { name, value: value.to_string() });
        }
    }
    Ok(())
}

fn by_variance(a: &&Candidate, b: &&Candidate) -> Ordering {
    a.variance.total_cmp(&b.variance)
}

/// The probability with which one interval may miss: β/k, or 5 %.
fn outside(confidence: Option<(Queries, Beta)>) -> f64 {
    confidence.map_or(Builder::BETA, |(queries, beta)| beta.get() / queries.to_f64())
}

/// In words: what was chosen, what it gives, what the next best would.
fn explain(plan: &Plan, chosen: &Candidate, candidates: &[Candidate]) -> String {
    let mut lines = vec![format!("{}.", plan.describe())];
    lines.extend(plan.heavy.as_ref().map(|threshold| explain_heavy(plan, threshold)));
    lines.extend(explain_errors(plan));
    lines.extend(explain_rule(plan));
    lines.extend(explain_confidence(plan));
    let best =
        |others: &dyn Fn(&Candidate) -> bool| candidates.iter().filter(|other| others(other)).min_by(by_variance);
    let kind = |candidate: &Candidate| (candidate.shape.signs(), candidate.division.noise);
    if let Some(second) = best(&|other| other.apart() == chosen.apart() && kind(other) != kind(chosen)) {
        let ratio = (second.variance / chosen.variance).sqrt();
        lines.push(format!("Next best: {}, error {ratio:.2} times as large.", second.in_words()));
    }
    if let Some(second) = best(&|other| other.apart() != chosen.apart()) {
        let with = if chosen.apart() { "Without" } else { "With" };
        let ratio = second.half_width / chosen.half_width;
        lines.push(format!("{with} heavy keys apart: {}, intervals {ratio:.2} times as wide.", second.in_words()));
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
        "Predicted standard error of a list of {support} key{}{}: {:.1} records; without noise it would be {:.1}, without \
         other keys {:.1}.",
        if support == 1.0 { "" } else { "s" },
        if plan.stated.key_multiplicity == Some(1.0) { ", if no two records share a key" } else { "" },
        plan.predicted_standard_error(support, norm, 0.0),
        (support * norm / f64::from(plan.shape.width())).sqrt(),
        plan.predicted_standard_error(support, 0.0, 0.0),
    );
    let apart = if plan.heavy.is_some() { ", and 8 to 16 bytes for each key released apart" } else { "" };
    let kilobytes = plan.file_bytes().map(|bytes| format!("Size of the file: about {:.0} kB{apart}.", bytes / 1e3));
    [errors].into_iter().chain(kilobytes).collect()
}

/// Which intervals answers will have, where that is not plain.
fn explain_rule(plan: &Plan) -> Option<String> {
    let (rule, shape) = (plan.predicted_rule(), plan.shape);
    let (records, multiplicity) = (plan.stated.records?, plan.stated.key_multiplicity?);
    let norm = records * multiplicity;
    let alike = format!("if all keys have about {multiplicity} records each");
    match rule {
        Rule::Conservative if (shape.width() as usize) < LEAST_ROWS => Some(format!(
            "Intervals are conservative, 4.47 standard errors at 95 %: too few rows ({}) to know more.",
            shape.width()
        )),
        Rule::Conservative => Some(format!(
            "Intervals are predicted to be conservative, 4.47 standard errors at 95 %: even {alike}, errors are rarely large, and \
             then by far."
        )),
        // What is left beside heavy keys is light, and keys of one record are all alike.
        _ if plan.heavy.is_some() || multiplicity == 1.0 => None,
        _ => {
            let of_few_keys = predicted_rule(shape, &plan.noise, plan.stated_support(), (norm, norm * norm));
            (of_few_keys == Rule::Conservative).then(|| {
                format!(
                    "Intervals are predicted to be normal, 1.96 standard errors at 95 %, {alike}; conservative, 4.47, if a few \
                     keys have most of the records."
                )
            })
        }
    }
}

fn explain_confidence(plan: &Plan) -> Vec<String> {
    let (Some((queries, beta)), Some(norm)) = (plan.stated.confidence, plan.stated_norm()) else { return Vec::new() };
    let (support, k, failure) = (plan.stated_support(), queries.get(), beta.get());
    let predicted = plan.predicted_half_width(queries, beta);
    let which = if k == 1 { "One such list".to_owned() } else { format!("All of {k} such lists") };
    let law = match plan.predicted_rule() {
        Rule::Normal => "the normal law",
        Rule::FewKeys(_) => "the law of their noise",
        Rule::Conservative => "Chebyshev's inequality",
    };
    let mut lines = vec![format!(
        "{which} within {predicted:.1} records but for a probability of {failure}, by {law}: a prediction, not a guarantee."
    )];
    let bound = plan.guarantee(support, norm, queries, beta);
    lines.extend(bound.map(|bound| {
        let data = if plan.heavy.is_some() { "what is left of the data" } else { "the data" };
        let records = plan.stated.records.unwrap_or(f64::INFINITY);
        let vacuous = if bounds::is_vacuous(bound, records) { "; vacuous, since the data has no more" } else { "" };
        format!(
            "Guaranteed by the theorem for queries fixed beforehand, where the squared counts of {data} add up to at most \
             {norm}: within {bound:.1} records{vacuous}."
        )
    }));
    lines
}

/// To two digits, and not below.
fn two_digits_up(value: f64) -> f64 {
    // 5 % more are at least the half of a last digit that rounding can take away. Cannot fail: what was printed is read.
    format!("{:.1e}", 1.05 * value).parse().expect("a number")
}
