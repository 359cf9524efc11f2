//! Projection releases, as their builder chooses them.

use super::{Effort, Planned, QueryRelease, Question, Refusal};
use crate::plan::{About, Basis};
use tamis_projection::{Builder, HeavyKeys, NoiseKind, Plan, ProjectionRelease, Signs};

/// A [projection release](tamis_projection) as its builder chooses it, without heavy keys apart.
#[derive(Clone, Copy, Debug)]
pub struct Projection;

/// The same with [heavy keys](tamis_projection::heavy) apart.
#[derive(Clone, Copy, Debug)]
pub struct HeavyKeysApart;

/// The paper's: dense signs, 48-wise independent, and Gaussian noise, of which [a theorem](tamis_projection::bounds#the-theorem) is known.
#[derive(Clone, Copy, Debug)]
pub struct DenseProjection;

/// Independence of dense signs: more would make the theorem's bound better by a few percent at most.
const INDEPENDENCE: u32 = 48;

impl QueryRelease for Projection {
    fn about(&self) -> About {
        About {
            name: "projection",
            title: "projection release",
            strength: "right for many long lists of keys that are rare each: its error grows with the root of a list's length",
            found_at: "tamis release --heavy off",
            is_adaptive: false,
            basis: Basis::Prediction,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        let plan = question.projection().heavy(HeavyKeys::Off).build()?;
        let within = plan.predicted_half_width(question.queries, question.beta);
        Ok(planned(plan, within, question))
    }
}

impl QueryRelease for HeavyKeysApart {
    fn about(&self) -> About {
        About {
            name: "projection-heavy",
            title: "projection, heavy keys apart",
            strength: "right where some keys are frequent and many are rare",
            found_at: "tamis release --heavy on",
            is_adaptive: false,
            basis: Basis::Prediction,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        question.needs_delta()?;
        let plan = question.projection().heavy(HeavyKeys::On).build()?;
        let within = plan.predicted_half_width(question.queries, question.beta);
        Ok(planned(plan, within, question))
    }
}

impl QueryRelease for DenseProjection {
    fn about(&self) -> About {
        About {
            name: "projection-dense",
            title: "projection, dense signs (the paper's)",
            strength: "the projection whose bound is a theorem, at several times the error",
            found_at: "tamis release --signs dense --noise gaussian --independence 48 --heavy off",
            is_adaptive: false,
            basis: Basis::Theorem,
        }
    }

    fn plan(&self, question: &Question) -> Result<Planned, Refusal> {
        question.needs_delta()?;
        let builder = question.projection().dense().noise(NoiseKind::Gaussian).heavy(HeavyKeys::Off);
        let plan = builder.independence(INDEPENDENCE).build()?;
        let within = plan.guarantee(question.support as f64, norm(&plan), question.queries, question.beta);
        let needs =
            || Refusal::new("its theorem needs more rows than its file may have", "fewer queries, or a larger beta");
        Ok(planned(plan, within.ok_or_else(needs)?, question))
    }
}

impl Question {
    /// The builder of a release, told all that it asks for.
    fn projection(&self) -> Builder {
        ProjectionRelease::builder(self.budget.clone(), self.neighbours, self.rows_per_unit)
            .records(self.records)
            .key_multiplicity(self.key_multiplicity)
            .support(self.support)
            .queries(self.queries)
            .beta(self.beta)
    }
}

fn planned(plan: Plan, within: f64, question: &Question) -> Planned {
    Planned {
        typical: Some(predicted(&plan, question)),
        within,
        cost: plan.cost(),
        effort: effort(&plan, question),
        release: Box::new(move |records, queries, rng| {
            let release = plan.release(records.histogram(), rng)?;
            Ok(queries.iter().map(|query| release.answer(query).value).collect())
        }),
    }
}

fn norm(plan: &Plan) -> f64 {
    // Cannot be missing: the records were stated.
    plan.stated_norm().unwrap_or(f64::INFINITY)
}

/// The standard error of a list of m keys.
pub(super) fn predicted(plan: &Plan, question: &Question) -> f64 {
    plan.predicted_standard_error(question.support as f64, norm(plan), 0.0)
}

pub(super) fn effort(plan: &Plan, question: &Question) -> Effort {
    let (shape, support, keys) = (plan.shape(), question.support as f64, question.keys());
    let rows = f64::from(shape.width());
    match shape.signs() {
        Signs::Dense => Effort::dense_signs(support, keys, rows),
        Signs::Sparse { nonzeros } => Effort::sparse_signs(support, keys, f64::from(nonzeros), rows),
    }
}
