//! The guarded release: a projection release answers, and the sparse vector watches over it.
//!
//! # What it is
//! The guess is the answer of a [projection release](tamis_projection), made once with a share of the budget, plus a
//! [perceptron](crate::perceptron) that begins at zero. The rest of the budget pays for a sparse vector of few
//! corrections, which asks the data whether a guess is off by more than T. If it is, the answer comes from the data,
//! and the perceptron takes the correction along the query.
//!
//! # Two promises
//! - **Unconditional.** Every answered query is within T + α_svt of the truth until c corrections are made, but for a
//!   probability β, however the queries are chosen: also by somebody who has worked out the release's collisions from
//!   its answers. That is [`Plan::guarantee`]. How many corrections an adversary can force is not bounded.
//! - **Predicted.** Queries that do not depend on the release are off by no more than e by themselves
//!   ([`predicted_error_of_all`](tamis_projection::Plan::predicted_error_of_all), by the normal law and that of the noise), and
//!   T is e + α_svt: so they use up no correction at all. Where a few keys have most of the records errors are not normal
//!   ([`predicted_rule`](tamis_projection::Plan::predicted_rule)): a query that shares its row with one of them can be off
//!   by all of its records, and then it is corrected. That is what the guard is for, and why T is not made so large as to
//!   let it pass.
//!
//! # Privacy
//! The release and the sparse vector have a share of the budget each: [`GuardedPlan::cost`] is their sum. With Laplace
//! noise on sparse signs and one threshold for all corrections both are pure.
//!
//! # The shares
//! [`GuardedPlan::new`] tries every 32nd of ε for the release and takes what makes the guarantee least.

use crate::hypothesis::check_size;
use crate::plan::{PlanError, records};
use crate::{Hypothesis, Learner, Plan, Query, Refused, Setting, SparsePerceptron, Step};
use tamis_noise::{Budget, Delta, Epsilon, Hits, ParameterError, Rational};
use tamis_projection::ProjectionRelease;

/// A release, and a session that guards it, before either has begun.
///
/// ```
/// use tamis_interactive::{GuardedPlan, Setting};
/// use tamis_noise::{Beta, Budget, Epsilon, Hits, Neighbours, Queries};
/// let setting = Setting {
///     records: 1_000_000,
///     largest_count: 1,
///     support: 10_000,
///     queries: Queries::new(1_000_000)?,
///     beta: Beta::new(0.05)?,
///     budget: Budget::pure(Epsilon::new(1.0)?),
///     neighbours: Neighbours::AddRemove,
///     rows_per_unit: 1,
/// };
/// let plan = GuardedPlan::new(&setting, Hits::new(10)?, 1.0)?;
/// assert!(plan.guard().guarantee() < 0.005);
/// assert_eq!(plan.cost()?, setting.budget); // pure
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GuardedPlan {
    release: tamis_projection::Plan,
    guard: Plan,
}

impl GuardedPlan {
    /// Divides the budget so that the guarantee is least. `key_multiplicity` is how many records a key has on the
    /// average over records, ‖x‖₂²/n: 1 if all keys are distinct. Public, and only for prediction.
    ///
    /// Cost: at most some sixty plans of a release.
    ///
    /// # Errors
    /// If a size is out of range, or no division gives noise that can be drawn.
    pub fn new(setting: &Setting, updates: Hits, key_multiplicity: f64) -> Result<Self, PlanError> {
        let delta = setting.budget.delta();
        let half = Delta::from_rational(delta.as_rational() / Rational::from(2));
        // All of δ for the guard, or half of it each.
        let deltas = if delta.is_zero() {
            vec![(Delta::ZERO, Delta::ZERO)]
        } else {
            half.into_iter().map(|half| (half.clone(), half)).chain([(Delta::ZERO, delta.clone())]).collect()
        };
        let (mut best, mut refusal) = (None, None);
        for (share, (of_release, of_guard)) in
            (1..SHARES).flat_map(|share| deltas.iter().map(move |pair| (share, pair)))
        {
            let part = |share: u32, delta: &Delta| {
                let epsilon =
                    setting.budget.epsilon().as_rational() * Rational::from_parts(share.into(), SHARES.into());
                Ok::<_, PlanError>(Budget::approximate(Epsilon::from_rational(epsilon)?, delta.clone()))
            };
            let budgets = part(share, of_release).and_then(|release| Ok((release, part(SHARES - share, of_guard)?)));
            match budgets.and_then(|budgets| Self::divided(setting, updates, key_multiplicity, budgets, best.as_ref()))
            {
                Ok(plan) => best = plan.or(best),
                Err(error) => refusal = Some(error),
            }
        }
        // Cannot fail: there are 31 shares, and at least one pair of δ for each.
        best.ok_or_else(|| refusal.expect("a division"))
    }

    /// The plan with these budgets for the release and for the guard, if its guarantee is less than that of the best so far.
    fn divided(
        setting: &Setting,
        updates: Hits,
        key_multiplicity: f64,
        (of_release, of_guard): (Budget, Budget),
        best: Option<&Self>,
    ) -> Result<Option<Self>, PlanError> {
        let guard = Setting { budget: of_guard, ..setting.clone() };
        let errs = |plan: &Self| plan.guard.errors().checked;
        let most = best.map_or(u64::MAX, errs);
        // Where the guard alone errs as much, the release need not be planned.
        if Plan::least_over_noise(&guard, updates)? >= most {
            return Ok(None);
        }
        let release = ProjectionRelease::builder(of_release, setting.neighbours, setting.rows_per_unit)
            .records(setting.records)
            .key_multiplicity(key_multiplicity)
            .support(setting.support)
            .queries(setting.queries)
            .beta(setting.beta)
            .build()?;
        let plan = Self::with_release(&guard, updates, release)?;
        Ok((errs(&plan) < most).then_some(plan))
    }

    /// Guards a release of the user's. The budget of `guard` is for the guarding alone, and what the release costs
    /// comes on top.
    ///
    /// # Errors
    /// If the release is for other neighbours or other rows a unit than the guard, a size is out of range, or the noise
    /// cannot be drawn.
    pub fn with_release(guard: &Setting, updates: Hits, release: tamis_projection::Plan) -> Result<Self, PlanError> {
        let (of_release, of_guard) =
            ((release.neighbours(), release.rows_per_unit()), (guard.neighbours, guard.rows_per_unit));
        if of_release != of_guard {
            return Err(PlanError::OtherUnits { of_release, of_guard });
        }
        // Nothing is predicted if nothing was stated: then the guard is at its worst, and says so.
        let norm = release.stated_norm().unwrap_or(f64::INFINITY);
        let expected = release.answer_range().unwrap_or(0.0);
        let error = release.predicted_error_of_all(guard.support as f64, norm, expected, guard.queries, guard.beta);
        // Saturates, and NaN is 0: a threshold is at least 1, and at most all records.
        let threshold = |noise| ((error + records(noise)).ceil() as u64).clamp(1, guard.records);
        Ok(Self { guard: Plan::budgeted_over_noise(guard, Learner::GuardedRelease, updates, threshold)?, release })
    }

    /// How the projection is released.
    pub fn release(&self) -> &tamis_projection::Plan {
        &self.release
    }

    /// How it is guarded: its guarantee is the session's, its budget only the guard's.
    pub fn guard(&self) -> &Plan {
        &self.guard
    }

    /// What both cost together, to be charged before the session begins.
    ///
    /// # Errors
    /// If the sum is beyond what a budget holds: only with a release of the user's.
    pub fn cost(&self) -> Result<Budget, ParameterError> {
        let (release, guard) = (self.release.cost(), self.guard.cost());
        let epsilon = Epsilon::from_rational(release.epsilon().as_rational() + guard.epsilon().as_rational())?;
        let delta = Delta::from_rational(release.delta().as_rational() + guard.delta().as_rational())?;
        Ok(Budget::approximate(epsilon, delta))
    }
}

/// ε is divided in such parts.
const SHARES: u32 = 32;

/// The hypothesis: a release, and what was learned beside it.
#[derive(Clone, Debug)]
pub struct GuardedRelease {
    release: ProjectionRelease,
    records: u64,
    residual: SparsePerceptron,
}

impl GuardedRelease {
    /// A release that nothing was learned beside. `records` are all records, or the stated bound; `support` and `width`
    /// as for [`SparsePerceptron::new`].
    ///
    /// # Errors
    /// If a size is out of range.
    pub fn new(release: ProjectionRelease, records: u64, support: u64, width: Option<u32>) -> Result<Self, Refused> {
        Self::with_residual(release, records, SparsePerceptron::new(support, 1, width)?)
    }

    /// A release with what was learned, to go on with.
    ///
    /// # Errors
    /// If there are no records, or more than 2⁴⁰.
    pub fn with_residual(
        release: ProjectionRelease,
        records: u64,
        residual: SparsePerceptron,
    ) -> Result<Self, Refused> {
        check_size("the number of records", records, Setting::MAX_RECORDS)?;
        Ok(Self { release, records, residual })
    }

    /// What is guarded.
    pub fn release(&self) -> &ProjectionRelease {
        &self.release
    }

    /// What was learned beside it.
    pub fn residual(&self) -> &SparsePerceptron {
        &self.residual
    }

    /// The standard error of its answer in records, for a query that was not chosen by looking at the release: see
    /// [`standard_error`](tamis_projection::Answer::standard_error). What was learned beside it is taken for exact.
    ///
    /// # Errors
    /// If the query is wider than it was made for.
    pub fn standard_error(&self, query: &Query) -> Result<f64, Refused> {
        self.residual.check(query)?;
        Ok(self.release.answer(query.list()).standard_error)
    }

    /// The answer as a share, not clamped.
    fn share(&self, query: &Query) -> f64 {
        self.release.answer(query.list()).value / self.records as f64 + self.residual.product(query)
    }
}

impl Hypothesis for GuardedRelease {
    fn evaluate(&self, query: &Query) -> Result<f64, Refused> {
        self.residual.check(query)?;
        Ok(self.share(query).clamp(0.0, 1.0))
    }

    /// [`Step::Raise`] takes by how much the answer is to move.
    fn update(&mut self, query: &Query, step: Step) -> Result<(), Refused> {
        self.residual.check(query)?;
        let distance = step.checked()?.signed(|target| target - self.share(query));
        self.residual.move_by(query, distance);
        Ok(())
    }

    fn updates_left(&self) -> u32 {
        u32::MAX
    }

    /// None is known.
    fn mistake_bound(&self, _alpha: f64) -> f64 {
        f64::INFINITY
    }
}
