//! What each mechanism's own plan says of a question. No bound is computed here.

use super::counts::Counts;
use super::{Effort, Question};
use tamis_baselines::{AlpPlan, BaselineError, PerQueryPlan, PerturbedHistogramPlan, StabilityHistogramPlan};
use tamis_interactive::{GuardedPlan, Learner, PlanError, Setting};
use tamis_noise::{Budget, Hits, ParameterError};
use tamis_projection::{Builder, HeavyKeys, NoiseKind, ProjectionError, ProjectionRelease, Signs};

/// Something that answers sparse queries privately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// [`PerQueryPlan::laplace`].
    LaplacePerQuery,
    /// [`PerQueryPlan::gaussian`].
    GaussianPerQuery,
    /// [`PerturbedHistogramPlan::laplace`].
    LaplaceHistogram,
    /// [`PerturbedHistogramPlan::gaussian`].
    GaussianHistogram,
    /// [`StabilityHistogramPlan`].
    StabilityHistogram,
    /// [`AlpPlan`].
    Alp,
    /// A [projection release](tamis_projection) as its builder chooses it, without heavy keys apart.
    Projection,
    /// The same with [heavy keys](tamis_projection::heavy) apart.
    HeavyKeysApart,
    /// The paper's: dense signs, 48-wise independent, and Gaussian noise, of which [a theorem](tamis_projection::bounds#the-theorem) is known.
    DenseProjection,
    /// A [guarded release](tamis_interactive::guarded), of ten corrections.
    GuardedRelease,
    /// [Sparse multiplicative weights](tamis_interactive::sparse_weights) with the least bound that is proven.
    SparseWeights,
    /// The same with the papers' constants.
    SparseWeightsPaper,
    /// The [sparse perceptron](tamis_interactive::perceptron) with the least bound that is proven.
    Perceptron,
    /// [Dense multiplicative weights](tamis_interactive::dense_weights) with the least bound that is proven.
    DenseWeights,
}

/// What [`Row::within`](super::Row::within) rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A theorem, for data as stated.
    Theorem,
    /// A theorem until the corrections are used up. Queries that do not depend on the release are predicted to use none.
    UntilCorrected,
    /// The rule of the release's intervals: exact variances, and the tail of a normal, a Laplace or any law.
    Prediction,
}

/// What a mechanism keeps to, in records.
pub(super) struct Promise {
    pub(super) typical: Option<f64>,
    pub(super) within: f64,
    pub(super) cost: Budget,
    pub(super) effort: Effort,
}

impl Promise {
    /// Whether the bound is below the largest answer.
    pub(super) fn says_something(&self, question: &Question) -> bool {
        self.within < question.largest_answer()
    }
}

/// Why a mechanism cannot be had, and when it could.
pub(super) struct Refusal {
    pub(super) reason: String,
    pub(super) remedy: String,
}

impl Refusal {
    fn new(reason: impl ToString, remedy: &str) -> Self {
        Self { reason: reason.to_string(), remedy: remedy.to_owned() }
    }

    fn of_plan(error: impl ToString) -> Self {
        Self::new(error, "sizes or a privacy for which there is noise")
    }
}

macro_rules! refusal_from {
    ($($error:ty),*) => {
        $(impl From<$error> for Refusal {
            fn from(error: $error) -> Self {
                Self::of_plan(error)
            }
        })*
    };
}
refusal_from!(BaselineError, PlanError, ProjectionError, ParameterError);

/// Corrections of a guarded release.
const CORRECTIONS: u64 = 10;

/// Independence of dense signs: more would make the theorem's bound better by a few percent at most.
const INDEPENDENCE: u32 = 48;

impl Mechanism {
    /// All there are.
    pub const ALL: [Self; 14] = [
        Self::LaplacePerQuery,
        Self::GaussianPerQuery,
        Self::LaplaceHistogram,
        Self::GaussianHistogram,
        Self::StabilityHistogram,
        Self::Alp,
        Self::Projection,
        Self::HeavyKeysApart,
        Self::DenseProjection,
        Self::GuardedRelease,
        Self::SparseWeights,
        Self::SparseWeightsPaper,
        Self::Perceptron,
        Self::DenseWeights,
    ];

    /// What it is called, for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::LaplacePerQuery => "laplace-per-query",
            Self::GaussianPerQuery => "gaussian-per-query",
            Self::LaplaceHistogram => "laplace-histogram",
            Self::GaussianHistogram => "gaussian-histogram",
            Self::StabilityHistogram => "stability-histogram",
            Self::Alp => "alp",
            Self::Projection => "projection",
            Self::HeavyKeysApart => "projection-heavy",
            Self::DenseProjection => "projection-dense",
            Self::GuardedRelease => "guarded-release",
            Self::SparseWeights => "sparse-mw",
            Self::SparseWeightsPaper => "sparse-mw-paper",
            Self::Perceptron => "sparse-perceptron",
            Self::DenseWeights => "dense-mw",
        }
    }

    /// What it is, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Self::LaplacePerQuery => "Laplace noise for each answer",
            Self::GaussianPerQuery => "Gaussian noise for each answer",
            Self::LaplaceHistogram => "noisy counts of all keys (Laplace)",
            Self::GaussianHistogram => "noisy counts of all keys (Gaussian)",
            Self::StabilityHistogram => "noisy counts of frequent keys",
            Self::Alp => "ALP, noisy bits for each key",
            Self::Projection => "projection release",
            Self::HeavyKeysApart => "projection, heavy keys apart",
            Self::DenseProjection => "projection, dense signs (the paper's)",
            Self::GuardedRelease => "guarded release",
            Self::SparseWeights => "sparse multiplicative weights",
            Self::SparseWeightsPaper => "sparse weights, the papers' constants",
            Self::Perceptron => "sparse perceptron",
            Self::DenseWeights => "dense multiplicative weights",
        }
    }

    /// What it is right for, and what its error grows with, in a sentence.
    pub fn strength(self) -> &'static str {
        match self {
            Self::LaplacePerQuery => {
                "right for a handful of queries: its error grows with their number, not with their length"
            }
            Self::GaussianPerQuery => {
                "right while queries are few: its error grows with the root of their number, not with their length"
            }
            Self::LaplaceHistogram | Self::GaussianHistogram => {
                "right where all keys can be listed: its error grows with the root of a list's length"
            }
            Self::StabilityHistogram => {
                "right where keys have many records each: rare keys count as nothing, the others have little noise"
            }
            Self::Alp => "right where single keys are looked up: its errors do not cancel in a long list",
            Self::Projection => {
                "right for many long lists of keys that are rare each: its error grows with the root of a list's length"
            }
            Self::HeavyKeysApart => "right where some keys are frequent and many are rare",
            Self::DenseProjection => "the projection whose bound is a theorem, at several times the error",
            Self::GuardedRelease => {
                "right for questions that depend on answers: a projection release that is corrected where it is wrong"
            }
            Self::SparseWeights | Self::SparseWeightsPaper => {
                "right for more questions, of more keys, than ten times the records: its bound hardly grows with either"
            }
            Self::Perceptron => "right for adaptive questions about keys that are rare each",
            Self::DenseWeights => {
                "right for any number of adaptive questions over a universe small enough to go through"
            }
        }
    }

    /// Where it is to be had: a command, or what to look for in this library.
    pub fn found_at(self) -> &'static str {
        match self {
            Self::LaplacePerQuery => "tamis::baselines::PerQueryPlan",
            Self::GaussianPerQuery => "tamis session create --mode gaussian",
            Self::LaplaceHistogram | Self::GaussianHistogram => "tamis::baselines::PerturbedHistogramPlan",
            Self::StabilityHistogram => "tamis::baselines::StabilityHistogramPlan",
            Self::Alp => "tamis::baselines::AlpPlan",
            Self::Projection => "tamis release --heavy off",
            Self::HeavyKeysApart => "tamis release --heavy on",
            Self::DenseProjection => "tamis release --signs dense --noise gaussian --independence 48 --heavy off",
            Self::GuardedRelease => "tamis session create --mode guarded",
            Self::SparseWeights => "tamis session create --mode sparse-mw",
            Self::SparseWeightsPaper => "tamis session create --mode paper",
            Self::Perceptron | Self::DenseWeights => "tamis::interactive::Plan::tight",
        }
    }

    /// Whether its bound is for queries that may depend on the answers before them.
    pub fn is_adaptive(self) -> bool {
        match self {
            Self::LaplacePerQuery | Self::GaussianPerQuery | Self::GuardedRelease => true,
            Self::SparseWeights | Self::SparseWeightsPaper | Self::Perceptron | Self::DenseWeights => true,
            Self::LaplaceHistogram | Self::GaussianHistogram | Self::StabilityHistogram | Self::Alp => false,
            Self::Projection | Self::HeavyKeysApart | Self::DenseProjection => false,
        }
    }

    /// What its bound rests on.
    pub fn basis(self) -> Basis {
        match self {
            Self::Projection | Self::HeavyKeysApart => Basis::Prediction,
            Self::GuardedRelease => Basis::UntilCorrected,
            _ => Basis::Theorem,
        }
    }

    /// What it keeps to.
    pub(super) fn promise(self, question: &Question) -> Result<Promise, Refusal> {
        self.has_what_it_needs(question)?;
        match self {
            Self::LaplacePerQuery | Self::GaussianPerQuery => self.per_query(question),
            Self::LaplaceHistogram | Self::GaussianHistogram => self.perturbed_histogram(question),
            Self::StabilityHistogram => stability_histogram(question),
            Self::Alp => alp(question),
            Self::Projection | Self::HeavyKeysApart | Self::DenseProjection => self.projection(question),
            Self::GuardedRelease => guarded_release(question),
            Self::SparseWeights | Self::SparseWeightsPaper | Self::Perceptron | Self::DenseWeights => {
                self.learner(question)
            }
        }
    }

    /// What can be seen without a plan.
    fn has_what_it_needs(self, question: &Question) -> Result<(), Refusal> {
        let needs_delta = matches!(
            self,
            Self::GaussianPerQuery
                | Self::GaussianHistogram
                | Self::StabilityHistogram
                | Self::HeavyKeysApart
                | Self::DenseProjection
        );
        if needs_delta && question.budget.delta().is_zero() {
            let remedy = "a delta far below one over the number of records";
            return Err(Refusal::new("it needs a delta, and none is stated", remedy));
        }
        if matches!(self, Self::LaplaceHistogram | Self::GaussianHistogram | Self::DenseWeights) {
            let Some(universe) = question.universe else {
                let remedy = "a list of all keys that there may be, made without a look at the data";
                return Err(Refusal::new("it needs all possible keys listed, and no universe is stated", remedy));
            };
            fits(Effort::dense_vector(universe as f64).bytes, question)?;
        }
        Ok(())
    }

    fn per_query(self, question: &Question) -> Result<Promise, Refusal> {
        let plan = if self == Self::LaplacePerQuery { PerQueryPlan::laplace } else { PerQueryPlan::gaussian };
        let plan = plan(&question.budget, question.neighbours, question.rows_per_unit, question.queries)?;
        Ok(Promise {
            typical: Some(plan.predicted_standard_error()),
            within: plan.guarantee(question.beta),
            cost: plan.cost().clone(),
            effort: Effort::table(question.support as f64, question.keys(), 0.0),
        })
    }

    fn perturbed_histogram(self, question: &Question) -> Result<Promise, Refusal> {
        let laplace = self == Self::LaplaceHistogram;
        let plan = if laplace { PerturbedHistogramPlan::laplace } else { PerturbedHistogramPlan::gaussian };
        let plan = plan(&question.budget, question.neighbours, question.rows_per_unit)?;
        let universe = question.universe.unwrap_or(0) as f64;
        Ok(Promise {
            typical: Some(plan.predicted_standard_error(question.support as f64)),
            within: plan.guarantee(question.support, question.queries, question.beta),
            cost: plan.cost().clone(),
            effort: Effort::table(question.support as f64, universe, universe),
        })
    }

    fn projection(self, question: &Question) -> Result<Promise, Refusal> {
        let builder = builder(question);
        let plan = match self {
            Self::DenseProjection => {
                builder.dense().noise(NoiseKind::Gaussian).heavy(HeavyKeys::Off).independence(INDEPENDENCE)
            }
            Self::HeavyKeysApart => builder.heavy(HeavyKeys::On),
            _ => builder.heavy(HeavyKeys::Off),
        }
        .build()?;
        // Cannot be missing: the records were stated.
        let norm = plan.stated_norm().unwrap_or(f64::INFINITY);
        let support = question.support as f64;
        let within = match self {
            Self::DenseProjection => {
                plan.guarantee(support, norm, question.queries, question.beta).ok_or_else(|| {
                    Refusal::new(
                        "its theorem needs more rows than its file may have",
                        "fewer queries, or a larger beta",
                    )
                })?
            }
            _ => plan.predicted_half_width(question.queries, question.beta),
        };
        let typical = Some(plan.predicted_standard_error(support, norm, 0.0));
        Ok(Promise { typical, within, cost: plan.cost(), effort: of_release(&plan, question) })
    }

    fn learner(self, question: &Question) -> Result<Promise, Refusal> {
        let learner = match self {
            Self::Perceptron => Learner::SparsePerceptron,
            // One more, which stands for the records that are not there.
            Self::DenseWeights => Learner::DenseWeights(question.universe.unwrap_or(0).saturating_add(1)),
            _ => Learner::SparseWeights,
        };
        let setting = setting(question);
        let plan = if self == Self::SparseWeightsPaper {
            tamis_interactive::Plan::paper(&setting, learner)?
        } else {
            tamis_interactive::Plan::tight(&setting, learner)?
        };
        let (support, keys) = (question.support as f64, question.keys());
        let updates = plan.updates().map_or(0.0, |updates| f64::from(updates.get()));
        let hypothesis = match learner {
            Learner::DenseWeights(universe) => Effort::dense_vector(universe as f64),
            _ => Effort::table(support, support * updates, 0.0),
        };
        let (within, cost) = (plan.guarantee_in_records(), plan.cost());
        Ok(Promise { typical: None, within, cost, effort: hypothesis.beside_data(support, keys) })
    }
}

/// Whether what must be held whole finds room.
fn fits(bytes: f64, question: &Question) -> Result<(), Refusal> {
    if bytes <= question.memory as f64 {
        return Ok(());
    }
    let reason = format!("it needs about {bytes:.0e} bytes of memory, and there are {:.0e}", question.memory as f64);
    Err(Refusal::new(reason, "more memory, or a smaller universe"))
}

fn stability_histogram(question: &Question) -> Result<Promise, Refusal> {
    let plan = StabilityHistogramPlan::new(&question.budget, question.neighbours, question.rows_per_unit)?;
    let released = question.keys().min(question.records as f64 / plan.threshold().threshold().max(1) as f64);
    Ok(Promise {
        typical: Some(
            Counts::of(question).typical_error_of_list(question.support as f64, |count| plan.error_of_key(count)),
        ),
        within: plan.guarantee(question.support, question.queries, question.beta),
        cost: plan.cost().clone(),
        effort: Effort::table(question.support as f64, released, question.keys()),
    })
}

fn alp(question: &Question) -> Result<Promise, Refusal> {
    let Question { budget, neighbours, rows_per_unit, records, largest_count, .. } = question;
    let plan = AlpPlan::new(budget, *neighbours, *rows_per_unit, *records, *largest_count)?;
    fits(plan.bits() as f64 / 8.0, question)?;
    let levels = |count: f64| count / plan.step();
    let (in_data, of_key) = (levels(*records as f64), levels(question.key_multiplicity));
    Ok(Promise {
        typical: Some(
            Counts::of(question).typical_error_of_list(question.support as f64, |count| plan.error_of_key(count)),
        ),
        within: plan.guarantee(question.support, question.queries, question.beta),
        cost: plan.cost().clone(),
        effort: Effort::bits(question.support as f64, plan.bits() as f64, in_data, of_key),
    })
}

fn guarded_release(question: &Question) -> Result<Promise, Refusal> {
    let plan = GuardedPlan::new(&setting(question), Hits::new(CORRECTIONS)?, question.key_multiplicity)?;
    let release = plan.release();
    let norm = release.stated_norm().unwrap_or(f64::INFINITY);
    let support = question.support as f64;
    Ok(Promise {
        typical: Some(release.predicted_standard_error(support, norm, 0.0)),
        within: plan.guard().guarantee_in_records(),
        cost: plan.cost()?,
        effort: of_release(release, question).beside_data(support, question.keys()),
    })
}

fn builder(question: &Question) -> Builder {
    ProjectionRelease::builder(question.budget.clone(), question.neighbours, question.rows_per_unit)
        .records(question.records)
        .key_multiplicity(question.key_multiplicity)
        .support(question.support)
        .queries(question.queries)
        .beta(question.beta)
}

fn of_release(plan: &tamis_projection::Plan, question: &Question) -> Effort {
    let (shape, support, keys) = (plan.shape(), question.support as f64, question.keys());
    let rows = f64::from(shape.width());
    match shape.signs() {
        Signs::Dense => Effort::dense_signs(support, keys, rows),
        Signs::Sparse { nonzeros } => Effort::sparse_signs(support, keys, f64::from(nonzeros), rows),
    }
}

fn setting(question: &Question) -> Setting {
    Setting {
        records: question.records,
        largest_count: question.largest_count,
        support: question.support,
        queries: question.queries,
        beta: question.beta,
        budget: question.budget.clone(),
        neighbours: question.neighbours,
        rows_per_unit: question.rows_per_unit,
    }
}
