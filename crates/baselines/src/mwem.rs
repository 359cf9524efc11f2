//! Multiplicative weights with the exponential mechanism (MWEM), over a small universe: a fixed workload is learnt by asking, again and
//! again, for the query that the guess answers worst.
//!
//! Hardt, Ligett, McSherry 2012 (HLM12), with a sharper selection, step and composition.
//!
//! # The release
//! The guess p¹ is uniform over the |X| elements of the universe **and one more**, which no query names: it stands for what is missing up to ñ
//! records, so ñ ≥ n need only be an upper bound, and rows with unlisted keys are dropped. For t = 1 … T:
//!
//! 1. **select** a query with [`PermuteAndFlip`], its score being |q(x) − ñ·q(pᵗ)|, rounded to whole units of 2⁻²⁰ records;
//! 2. **measure** it: v = q(x) + discrete Laplace noise ([`LaplaceMechanism`]);
//! 3. **step**: pᵗ⁺¹(u) ∝ pᵗ(u)·e^(4·r·q(u)), with r = (v − ñ·q(pᵗ))/ñ and v first brought into 0 ..= ñ.
//!
//! The answers are those of the average of p¹ … pᵀ, times ñ.
//!
//! # Privacy
//! A release is private with the plan's [cost](MwemPlan::cost), for its neighbours and units of at most L rows.
//!
//! *Proof.* A unit moves q(x) by at most L, whether it is added, removed or replaced, since weights are from 0 to 1; it moves the score by no
//! more, since the guess hangs on what was published before. Scores do not move together, so the selection takes the factor 2
//! ([`StreamKind::Values`]). Each of the 2T steps that see the data is ε₀-private whatever was published before, with the ε₀ of
//! [`optimal::epsilon_per_run`] for 2T mechanisms: ε/2T without δ, as in the paper. The rest is post-processing, floats included.
//!
//! # Accuracy
//! [`guarantee`](MwemPlan::guarantee): let p be x/ñ with the rest on the element that no query names, N = |X| + 1, dₜ = q(pᵗ) − q(p) for
//! the query of round t, and νₜ the noise of its measurement over ñ (bringing v into range only lessens it). By Hoeffding's lemma
//!
//! ```text
//! KL(p‖pᵗ) − KL(p‖pᵗ⁺¹) = s·q(p) − ln E e^(s·q) ≥ −s·dₜ − s²/8 = 2(dₜ² − νₜ²)     with s = 4r = 4(νₜ − dₜ),
//! ```
//!
//! and KL(p‖p¹) ≤ ln N, so the mean of dₜ² is at most ln N/2T plus that of νₜ². But for β/2 no noise is above the margin a_ν of β/2T; but for
//! β/2 no selected query errs by a_s less than the worst one, a_s the accuracy of the selection at β/2T and a unit of rounding. The worst error of
//! an average is at most the average of the worst, so except with probability β all answers are within
//!
//! ```text
//! ñ·√(ln N/2T + (a_ν/ñ)²) + a_s     records.
//! ```
//!
//! HLM12's step is an eighth of this one, and its Theorem 2.2 is [`hardt_ligett_mcsherry`].
//!
//! # Cost
//! O(T·k·|X|), and k coins a round. Time depends on the data and the noise: do not let an analyst measure it.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | n     | `records`: ñ | records |
//! | T     | `rounds` | count |
//! | \|D\| | `elements` | count |
//! | \|Q\| | `queries` | count |

use crate::units::{check_data, check_rows, in_records};
use crate::workload::check_size;
use crate::{BaselineError, DenseWorkload};
use ndarray::Array1;
use rand::CryptoRng;
use tamis_noise::composition::optimal;
use tamis_noise::discrete_laplace::margin;
use tamis_noise::{
    Beta, Budget, Epsilon, Hits, LaplaceMechanism, Neighbours, PermuteAndFlip, Queries, Sensitivity, StreamKind,
};
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

/// Rounds and noise, before any data is seen. See the [module](self).
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_baselines::{DenseWorkload, MwemPlan};
/// use tamis_noise::{Beta, Budget, Epsilon, Neighbours, Queries};
/// use tamis_queries::{Fingerprint, Histogram, SparseQuery};
/// let universe = (0..16).map(Fingerprint::raw);
/// let prefixes: Vec<_> = (1..=16).map(|end| SparseQuery::count((0..end).map(Fingerprint::raw))).collect();
/// let workload = DenseWorkload::new(universe, &prefixes)?;
///
/// let (queries, beta) = (Queries::new(16)?, Beta::new(0.05)?);
/// let budget = Budget::pure(Epsilon::new(1.0)?);
/// let plan = MwemPlan::with_least_guarantee(&budget, Neighbours::AddRemove, 1, 1_000_000, 16, queries, beta)?;
/// assert!(plan.guarantee(16, queries, beta) < 80_000.0);
///
/// let table = Histogram::builder().add(Fingerprint::raw(3), 700_000)?.add(Fingerprint::raw(9), 200_000)?.build();
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let released = plan.release(&workload, &table, &mut rng)?;
/// assert!((released.answer(&prefixes[4])? - 700_000.0).abs() < 80_000.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MwemPlan {
    cost: Budget,
    neighbours: Neighbours,
    rows_per_unit: u32,
    records: u64,
    rounds: u32,
    per_step: Epsilon,
    selection: PermuteAndFlip,
    measurement: LaplaceMechanism,
}

/// What was asked of the data in a round, and what it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Position of the selected query in the workload.
    pub query: usize,
    /// Its noisy answer, in units of 2⁻²⁰ records.
    pub units: i64,
}

/// The guesses, and all that was asked for them: all of it may be published. Made by [`MwemPlan::release`].
#[derive(Clone, Debug)]
pub struct Mwem {
    /// Sorted.
    universe: Vec<Fingerprint>,
    average: Array1<f64>,
    last: Array1<f64>,
    rounds: Vec<Round>,
}

/// What the guesses' floats may be off by, as a share of ñ: sums of at most 2²⁴ terms, each within 2⁻⁵³.
const FLOATS: f64 = 1e-8;
/// A failure probability below this is taken for it, so that its share for a round is still one.
const LEAST_BETA: f64 = 1e-290;

impl MwemPlan {
    /// Most rounds.
    pub const MAX_ROUNDS: u64 = 100_000;
    /// Most records that may be stated: 2⁴⁰.
    pub const MAX_RECORDS: u64 = 1 << 40;

    /// T rounds for at most `records` records (ñ; under substitution n, which is public). A table of more is released with the same privacy
    /// and without the guarantee.
    ///
    /// # Errors
    /// If L is not from 1 to 1 000 000, the rounds not from 1 to [`MAX_ROUNDS`](Self::MAX_ROUNDS) or the records not from 1 to
    /// [`MAX_RECORDS`](Self::MAX_RECORDS), or if noise is needed of a scale that the samplers do not serve.
    pub fn new(
        budget: &Budget,
        neighbours: Neighbours,
        rows_per_unit: u32,
        records: u64,
        rounds: u32,
    ) -> Result<Self, BaselineError> {
        check_rows(rows_per_unit)?;
        check_size("number of records", records, Self::MAX_RECORDS)?;
        check_size("number of rounds", rounds.into(), Self::MAX_ROUNDS)?;
        let sensitivity = Sensitivity::new(u64::from(rows_per_unit) * u64::from(SparseQuery::UNIT))?;
        let per_step = optimal::epsilon_per_run(Hits::new(2 * u64::from(rounds))?, budget)?;
        Ok(Self {
            cost: budget.clone(),
            neighbours,
            rows_per_unit,
            records,
            rounds,
            selection: PermuteAndFlip::new(sensitivity, &per_step, neighbours, StreamKind::Values)?,
            measurement: LaplaceMechanism::new(sensitivity, &per_step)?,
            per_step,
        })
    }

    /// The plan with the least [`guarantee`](Self::guarantee) among those of 2, 3, 4, 6, 8, 12, 16, … rounds. (Of a single
    /// round the average is what was guessed before the data was asked.)
    ///
    /// # Errors
    /// As [`new`](Self::new), for two rounds.
    pub fn with_least_guarantee(
        budget: &Budget,
        neighbours: Neighbours,
        rows_per_unit: u32,
        records: u64,
        elements: u64,
        queries: Queries,
        beta: Beta,
    ) -> Result<Self, BaselineError> {
        let new = |rounds| Self::new(budget, neighbours, rows_per_unit, records, rounds);
        let mut best = new(2)?;
        let mut least = best.guarantee(elements, queries, beta);
        for rounds in (1..).flat_map(|power| [3 << (power - 1), 4 << (power - 1)]) {
            // More rounds need more noise: where no sampler serves it the search ends. So it does at twice the least: since what is
            // learnt only lessens the bound, noise alone is then above the least, and grows.
            let Ok(plan) = new(rounds) else { break };
            let bound = plan.guarantee(elements, queries, beta);
            if bound < least {
                (best, least) = (plan, bound);
            } else if bound > 2.0 * least {
                break;
            }
        }
        Ok(best)
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

    /// ñ.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// T.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// ε₀: what each selection spends, and each measurement.
    pub fn epsilon_per_step(&self) -> &Epsilon {
        &self.per_step
    }

    /// With probability 1 − β all `queries` answers over `elements` elements are within so many records: see the
    /// [module](self#accuracy). From ñ on it says nothing. A β below 1e-290 is taken for that.
    pub fn guarantee(&self, elements: u64, queries: Queries, beta: Beta) -> f64 {
        let (records, rounds) = (self.records as f64, f64::from(self.rounds));
        // Half for the selections, half for the measurements, and of each an equal share for every round.
        let each = beta.get().max(LEAST_BETA) / (2.0 * rounds);
        // Cannot fail: at most half of a β, and far above the least there is.
        let each = Beta::new(each).expect("a probability");
        let selected = in_records(self.selection.accuracy(queries, each) as f64 + 1.0) + FLOATS * records;
        let noise = in_records(margin(self.measurement.scale(), each.get()) as f64);
        records * (((elements as f64 + 1.0).ln() / (2.0 * rounds)) + (noise / records).powi(2)).sqrt() + selected
    }

    /// A release of the data over this workload.
    ///
    /// # Errors
    /// If the data was [bounded](Histogram::rows_per_unit) to more rows a unit than the plan is for. That does not depend on the
    /// rows themselves.
    pub fn release<R: CryptoRng + ?Sized>(
        &self,
        workload: &DenseWorkload,
        data: &Histogram,
        rng: &mut R,
    ) -> Result<Mwem, BaselineError> {
        check_data(data, self.rows_per_unit)?;
        let truth = workload.evaluate(data);
        let mut guess = Guess::uniform(workload, self.records as f64);
        let mut average = Array1::zeros(workload.universe().len());
        let mut rounds = Vec::new();
        for _ in 0..self.rounds {
            let counts = guess.counts();
            average += &counts;
            let answers = workload.product(counts.view());
            let scores: Vec<i64> = truth.iter().zip(&answers).map(|(truth, &guess)| score(*truth, guess)).collect();
            // Cannot be none: a workload has a query.
            let Some(query) = self.selection.select(&scores, rng) else { break };
            let units = self.measurement.release(truth[query], rng);
            rounds.push(Round { query, units });
            guess.step(query, answers[query], in_records(units as f64));
        }
        average /= f64::from(self.rounds);
        Ok(Mwem { universe: workload.universe().to_vec(), average, last: guess.counts(), rounds })
    }
}

/// |q(x) − the guess|, the guess rounded to whole units: saturating, which moves no score by more.
fn score(truth: i64, guess: f64) -> i64 {
    let guess = (guess * f64::from(SparseQuery::UNIT)).round() as i64;
    i64::try_from(truth.abs_diff(guess)).unwrap_or(i64::MAX)
}

/// pᵗ, by the logarithms of its weights: no number of steps takes them out of the floats.
struct Guess<'a> {
    workload: &'a DenseWorkload,
    records: f64,
    /// That of the element which no query names is 0 for ever.
    logarithms: Array1<f64>,
}

impl<'a> Guess<'a> {
    fn uniform(workload: &'a DenseWorkload, records: f64) -> Self {
        Self { workload, records, logarithms: Array1::zeros(workload.universe().len()) }
    }

    /// ñ·pᵗ of each element that is listed.
    fn counts(&self) -> Array1<f64> {
        let largest = self.logarithms.fold(0.0, |largest: f64, &logarithm| largest.max(logarithm));
        let weights = self.logarithms.mapv(|logarithm| (logarithm - largest).exp());
        let total = weights.sum() + (-largest).exp();
        weights * (self.records / total)
    }

    fn step(&mut self, query: usize, guess: f64, measured: f64) {
        let rate = 4.0 * (measured.clamp(0.0, self.records) - guess) / self.records;
        self.logarithms.scaled_add(rate, &self.workload.weights().row(query));
    }
}

impl Mwem {
    /// How many records the average guess gives each element, in the order of the universe. This is what the guarantee is about.
    pub fn average(&self) -> &Array1<f64> {
        &self.average
    }

    /// The same of the guess after the last round: often nearer, without a guarantee.
    pub fn last(&self) -> &Array1<f64> {
        &self.last
    }

    /// What was asked.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The average guess's answer, in records. The guarantee is for the queries of the workload.
    ///
    /// # Errors
    /// If a key of the query is not in the universe.
    pub fn answer(&self, query: &SparseQuery) -> Result<f64, BaselineError> {
        let places = query.entries().iter().map(|(key, weight)| (self.universe.binary_search(key), f64::from(*weight)));
        let unlisted = places.clone().filter(|(place, _)| place.is_err()).count();
        if unlisted > 0 {
            return Err(BaselineError::Unlisted(unlisted));
        }
        let terms = places.filter_map(|(place, weight)| Some(weight * self.average[place.ok()?]));
        Ok(in_records(terms.sum()))
    }
}

/// HLM12, Theorem 2.2, in records: but for a probability of 2T/k all answers of MWEM, as printed, are within
/// 2n√(ln|X|/T) + 10·T·ln(k)/ε, for δ = 0 and one row a unit. For comparison: [`MwemPlan::guarantee`] is what holds here.
///
/// ```
/// use tamis_baselines::mwem::hardt_ligett_mcsherry;
/// use tamis_noise::{Epsilon, Queries};
/// let printed = hardt_ligett_mcsherry(1_000_000, 100, 16, Queries::new(4_000)?, &Epsilon::new(1.0)?);
/// assert!((printed - 341_316.0).abs() < 1.0);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn hardt_ligett_mcsherry(records: u64, rounds: u32, elements: u64, queries: Queries, epsilon: &Epsilon) -> f64 {
    let rounds = f64::from(rounds);
    let learning = 2.0 * records as f64 * ((elements as f64).ln() / rounds).sqrt();
    learning + 10.0 * rounds * queries.to_f64().ln() / epsilon.to_f64_down()
}
