//! The book's accuracy theorems as functions, its two definitions as predicates, and the questions a user asks of a bound:
//! what would make it small enough, and whether it says anything at all.
//!
//! The theorems are for sensitivity 1 and the continuous Laplace law; α is real. What a plan promises, in grid units
//! and for its integer noise, is [`Plan::accuracy`].

use super::machine::{Reported, Verdict};
use super::plan::{Plan, PlanError};
use crate::parameters::{Beta, Delta, Epsilon, Hits, Queries};

/// ln k + ln(`factor`·c/β), which all three theorems share.
fn logarithms(queries: Queries, factor: f64, hits: Hits, beta: Beta) -> f64 {
    queries.to_f64().ln() + (factor * f64::from(hits.get()) / beta.get()).ln()
}

/// ln(`factor`/δ), at the end of rounding that makes it larger.
fn log_inverse(factor: f64, delta: &Delta) -> f64 {
    (factor / delta.to_f64_down()).ln()
}

/// DR14 Theorem 3.24: AboveThreshold is (α, β)-accurate for α = 8(ln k + ln(2/β))/ε if only the last query may be near or
/// above the threshold.
///
/// ```
/// use tamis_noise::{Beta, Epsilon, Queries, sparse_vector::accuracy::theorem_3_24};
/// let alpha = theorem_3_24(Queries::new(1000)?, &Epsilon::new(1.0)?, Beta::new(0.05)?);
/// assert!((alpha - 84.77).abs() < 0.01);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn theorem_3_24(queries: Queries, epsilon: &Epsilon, beta: Beta) -> f64 {
    theorem_3_26(queries, Hits::ONE, epsilon, &Delta::ZERO, beta)
}

/// DR14 Theorem 3.26: Sparse is (α, β)-accurate, if at most c answers are T − α or more, for
/// α = 8c(ln k + ln(2c/β))/ε if δ = 0, else (ln k + ln(2c/β))·√(512 c ln(1/δ))/ε.
///
/// ```
/// use tamis_noise::{Beta, Delta, Epsilon, Hits, Queries, sparse_vector::accuracy::theorem_3_26};
/// let (k, c, beta) = (Queries::new(1000)?, Hits::new(3)?, Beta::new(0.05)?);
/// let alpha = theorem_3_26(k, c, &Epsilon::new(2.0)?, &Delta::ZERO, beta);
/// assert!((alpha - 140.34).abs() < 0.01);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn theorem_3_26(queries: Queries, hits: Hits, epsilon: &Epsilon, delta: &Delta, beta: Beta) -> f64 {
    let c = f64::from(hits.get());
    let noise = if delta.is_zero() { 8.0 * c } else { (512.0 * c * log_inverse(1.0, delta)).sqrt() };
    noise * logarithms(queries, 2.0, hits, beta) / epsilon.to_f64_down()
}

/// (√512 + 1)·√(c ln(2/δ))/ε, the noise of Theorem 3.28 for δ > 0.
fn numeric_noise(hits: Hits, epsilon: &Epsilon, delta: &Delta) -> f64 {
    (512f64.sqrt() + 1.0) * (f64::from(hits.get()) * log_inverse(2.0, delta)).sqrt() / epsilon.to_f64_down()
}

/// DR14 Theorem 3.28 **as printed**: NumericSparse is numerically (α, β)-accurate for α = 9c(ln k + ln(4c/β))/ε if δ = 0, else
/// (√512 + 1)(ln k + ln(4c/β))·√(c ln(2/δ))/ε.
///
/// For δ > 0 that is false when k is small: the released values alone need √8·ln(2c/β) in the place of the logarithms.
/// Use [`theorem_3_28`]; this one is for showing the difference.
pub fn theorem_3_28_as_printed(queries: Queries, hits: Hits, epsilon: &Epsilon, delta: &Delta, beta: Beta) -> f64 {
    let logarithms = logarithms(queries, 4.0, hits, beta);
    if delta.is_zero() {
        9.0 * f64::from(hits.get()) * logarithms / epsilon.to_f64_down()
    } else {
        numeric_noise(hits, epsilon, delta) * logarithms
    }
}

/// DR14 Theorem 3.28, corrected: for δ > 0, α = (√512 + 1)·√(c ln(2/δ))/ε · max(ln k + ln(4c/β), √8·ln(2c/β)).
///
/// Proof: the first entry is Theorem 3.26 at (ε₁, δ/2, β/2). A released value has Laplace noise of scale
/// √(32 c ln(2/δ))/ε₂ with ε₂ = 2ε/(√512 + 1), that is √8·(√512 + 1)·√(c ln(2/δ))/ε, and exceeds ln(2c/β) times it
/// with probability β/(2c); there are c of them. For δ = 0 the same reckoning gives 9c·ln(2c/β)/ε, which the first entry
/// covers.
///
/// ```
/// use tamis_noise::sparse_vector::accuracy::{theorem_3_28, theorem_3_28_as_printed};
/// use tamis_noise::{Beta, Delta, Epsilon, Hits, Queries};
/// let (epsilon, delta, beta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?, Beta::new(0.05)?);
/// let (one, many) = (Queries::new(1)?, Queries::new(1_000_000)?);
/// let ratio = |k| {
///     theorem_3_28(k, Hits::ONE, &epsilon, &delta, beta) / theorem_3_28_as_printed(k, Hits::ONE, &epsilon, &delta, beta)
/// };
/// assert!(ratio(one) > 2.3 && ratio(many) == 1.0);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn theorem_3_28(queries: Queries, hits: Hits, epsilon: &Epsilon, delta: &Delta, beta: Beta) -> f64 {
    let printed = theorem_3_28_as_printed(queries, hits, epsilon, delta, beta);
    if delta.is_zero() {
        return printed;
    }
    let values = 8f64.sqrt() * (2.0 * f64::from(hits.get()) / beta.get()).ln();
    printed.max(numeric_noise(hits, epsilon, delta) * values)
}

/// DR14 Definition 3.9 for one run: it did not end before the last query, every ⊤ has an answer of at least T − α and
/// every ⊥ one of at most T + α. `values` are the true answers of all k queries, `verdicts` what was said.
///
/// ```
/// use tamis_noise::sparse_vector::{Reported::Nothing, Verdict::{Above, Below}, accuracy::is_accurate};
/// let said = [Below, Above(Nothing)];
/// assert!(is_accurate(&said, &[0, 95], 100, 10.0));
/// assert!(!is_accurate(&said, &[0, 89], 100, 10.0)); // a ⊤ too low
/// assert!(!is_accurate(&said[1..], &[95, 0], 100, 10.0)); // ended too early
/// ```
pub fn is_accurate(verdicts: &[Verdict], values: &[i64], threshold: i64, alpha: f64) -> bool {
    let right = |(verdict, &value): (&Verdict, &i64)| {
        let excess = (i128::from(value) - i128::from(threshold)) as f64;
        match verdict {
            Verdict::Above(_) => excess >= -alpha,
            Verdict::Below => excess <= alpha,
        }
    };
    verdicts.len() == values.len() && verdicts.iter().zip(values).all(right)
}

/// DR14 Definition 3.10 for one run: it did not end before the last query, every number it gave is within α of the true
/// answer and every ⊥ has one of at most T + α. A gap stands for the number T + gap; a ⊤ without a number is inaccurate.
///
/// ```
/// use tamis_noise::sparse_vector::{Reported::{Gap, Value}, Verdict::{Above, Below}, accuracy::is_numerically_accurate};
/// assert!(is_numerically_accurate(&[Below, Above(Value(99))], &[0, 95], 100, 10.0));
/// assert!(!is_numerically_accurate(&[Below, Above(Gap(6))], &[0, 95], 100, 10.0)); // 106 is 11 away from 95
/// ```
pub fn is_numerically_accurate(verdicts: &[Verdict], values: &[i64], threshold: i64, alpha: f64) -> bool {
    let distance = |a: i128, value: i64| (a - i128::from(value)) as f64;
    let right = |(verdict, &value): (&Verdict, &i64)| match *verdict {
        Verdict::Below => distance(i128::from(threshold), value) >= -alpha,
        Verdict::Above(Reported::Value(released)) => distance(i128::from(released), value).abs() <= alpha,
        Verdict::Above(Reported::Gap(gap)) => distance(i128::from(threshold) + i128::from(gap), value).abs() <= alpha,
        Verdict::Above(Reported::Nothing) => false,
    };
    verdicts.len() == values.len() && verdicts.iter().zip(values).all(right)
}

/// What an accuracy α says about answers that lie between `lowest` and `highest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Some possible answers surely stay ⊥ and some surely give ⊤.
    Meaningful,
    /// T − α is not above the lowest answer: any answer at all may give a ⊤.
    NothingSurelyBelow,
    /// T + α is above the highest answer: no answer surely gives a ⊤.
    NothingSurelyAbove,
    /// Both: the guarantee is vacuous.
    Vacuous,
}

/// Whether "T ± `alpha`" means anything for answers from `lowest` to `highest` (grid units; `None`: no upper end is known).
///
/// ```
/// use tamis_noise::sparse_vector::accuracy::{Meaning, meaning};
/// assert_eq!(meaning(41, 265, 0, None), Meaning::Meaningful);
/// assert_eq!(meaning(300, 265, 0, None), Meaning::NothingSurelyBelow);
/// assert_eq!(meaning(300, 265, 0, Some(400)), Meaning::Vacuous);
/// ```
pub fn meaning(alpha: u64, threshold: i64, lowest: i64, highest: Option<i64>) -> Meaning {
    let (alpha, threshold) = (i128::from(alpha), i128::from(threshold));
    let below = threshold - alpha > i128::from(lowest);
    let above = highest.is_none_or(|highest| threshold + alpha <= i128::from(highest));
    match (below, above) {
        (true, true) => Meaning::Meaningful,
        (false, true) => Meaning::NothingSurelyBelow,
        (true, false) => Meaning::NothingSurelyAbove,
        (false, false) => Meaning::Vacuous,
    }
}

/// The least ε, to three digits, with which `plan` promises `alpha` or better; `None` if none up to 1000 does.
///
/// `plan` makes the plan for a given ε, and may fail where there is none. Cost: at most some 200 plans.
///
/// ```
/// use tamis_noise::sparse_vector::{Plan, accuracy::least_epsilon};
/// use tamis_noise::{Beta, Neighbours, Queries, Sensitivity, StreamKind};
/// let (queries, beta) = (Queries::new(1000)?, Beta::new(0.05)?);
/// let plan = |epsilon| Plan::above_threshold(epsilon, Sensitivity::ONE, Neighbours::AddRemove, StreamKind::Counts);
/// let epsilon = least_epsilon(50, queries, beta, plan).expect("some ε will do");
/// assert!(plan(epsilon)?.accuracy(queries, beta) <= 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn least_epsilon(
    alpha: u64,
    queries: Queries,
    beta: Beta,
    plan: impl Fn(Epsilon) -> Result<Plan, PlanError>,
) -> Option<Epsilon> {
    let reaches = |index: u64| {
        plan(three_digits(index)?).ok().filter(|plan| plan.accuracy(queries, beta) <= alpha).map(|_| index)
    };
    // Upward in coarse steps, since the book's plans end where their theorem does; then by halving within a step.
    let mut high = (0..=15 * 9).find_map(|step| reaches(100 * step))?;
    let mut low = high.saturating_sub(99);
    while low < high {
        let middle = (low + high) / 2;
        if reaches(middle).is_some() { high = middle } else { low = middle + 1 }
    }
    three_digits(high)
}

/// The numbers with three digits as ε: 0 is 1.00e-12, one more is the next such number, 13500 is 1000.
fn three_digits(index: u64) -> Option<Epsilon> {
    let decade = i64::try_from(index / 900).ok()? - 14;
    format!("{}e{decade}", 100 + index % 900).parse().ok()
}

/// The most hits with which `plan` promises `alpha` or better; `None` if not even one hit does.
///
/// ```
/// use tamis_noise::sparse_vector::{Plan, Setting, accuracy::most_hits};
/// use tamis_noise::{Beta, Budget, Epsilon, Neighbours, Queries, Sensitivity, StreamKind};
/// let (queries, beta) = (Queries::new(365)?, Beta::new(0.05)?);
/// let budget = Budget::pure(Epsilon::new(1.0)?);
/// let (neighbours, kind) = (Neighbours::AddRemove, StreamKind::Counts);
/// let hits = most_hits(100, queries, beta, |hits| {
///     let setting = Setting { hits, budget: budget.clone(), sensitivity: Sensitivity::ONE, neighbours, kind };
///     Plan::tight(&setting, queries, beta)
/// });
/// assert_eq!(hits.map(|hits| hits.get()), Some(6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn most_hits(
    alpha: u64,
    queries: Queries,
    beta: Beta,
    plan: impl Fn(Hits) -> Result<Plan, PlanError>,
) -> Option<Hits> {
    let reaches = |hits: Hits| plan(hits).is_ok_and(|plan| plan.accuracy(queries, beta) <= alpha);
    let (mut low, mut high) = (0, 1_000_000u64);
    while low < high {
        let middle = (low + high).div_ceil(2);
        // Cannot fail: 1 ≤ middle ≤ 1 000 000.
        if Hits::new(middle).is_ok_and(reaches) { low = middle } else { high = middle - 1 }
    }
    Hits::new(low).ok()
}
