//! From arguments to a plan. Nothing here reads data.

use super::create::{Arguments, Kind};
use crate::arguments::{beta, budget, hits, neighbours, number, queries, whole};
use crate::failure::Failure;
use crate::records::Records;
use tamis::interactive::{GuardedPlan, Learner, Plan, PlanError, Setting};
use tamis::noise::composition::CompositionError;
use tamis::noise::{Budget, Hits, Neighbours, ParameterError};

/// What was asked for, checked, and the plan for it.
#[derive(Debug)]
pub struct Request {
    pub records: Records,
    pub setting: Setting,
    pub kind: Kind,
    pub planned: Planned,
    /// What all of it costs.
    pub cost: Budget,
    updates: Option<Hits>,
    threshold: Option<u64>,
    /// How many records share a key; 1 if that was not stated.
    multiplicity: Option<f64>,
}

/// A plan of either engine.
#[derive(Debug)]
pub enum Planned {
    Plain(Box<Plan>),
    Guarded(Box<GuardedPlan>),
}

impl Planned {
    /// What the guarantee is of.
    pub fn plan(&self) -> &Plan {
        match self {
            Self::Plain(plan) => plan,
            Self::Guarded(plan) => plan.guard(),
        }
    }

    /// What all of it costs.
    fn cost(&self) -> Result<Budget, ParameterError> {
        match self {
            Self::Plain(plan) => Ok(plan.cost()),
            Self::Guarded(plan) => plan.cost(),
        }
    }
}

/// Corrections of a guarded session, if no number is given.
const GUARDED_UPDATES: u64 = 10;

impl Request {
    pub fn check(arguments: &Arguments) -> Result<Self, Failure> {
        let (key, count) = (arguments.key.as_deref(), arguments.count.as_deref());
        let records = Records::check(key, arguments.bits.as_deref(), count, &arguments.unit)?;
        let rows_per_unit = records.rows_per_unit(arguments.max_rows.as_deref())?;
        let setting = setting(arguments, rows_per_unit)?;
        if setting.neighbours == Neighbours::Substitute && !records.released_unit().is_one_record(rows_per_unit) {
            return Err(Failure::refused(
                "--neighbours substitute: the number of records would be public, and it tells how many a unit has",
                "give --neighbours add-remove, with an upper bound as --records; or --unit row, one record a unit",
            ));
        }
        let (updates, threshold) = corrections(arguments)?;
        let stated = |text: &String| number("rows-per-key", text, "for example --rows-per-key 2.5");
        let multiplicity = arguments.rows_per_key.as_ref().map(stated).transpose()?.map(|stated| stated.to_f64_fast());
        let kind = arguments.mode;
        let planned = plan(kind, &setting, updates, threshold, multiplicity).map_err(|error| refusal(&error))?;
        let cost = planned.cost().map_err(|error| Failure::refused(error, "give a smaller --epsilon"))?;
        Ok(Self { records, setting, kind, planned, cost, updates, threshold, multiplicity })
    }

    /// The plans of the other modes, as far as there are any, for comparison.
    pub fn others(&self) -> Vec<(Kind, Planned)> {
        let others = [Kind::Guarded, Kind::Gaussian, Kind::SparseMw, Kind::Paper];
        let planned = |kind| {
            let (updates, threshold) = (self.updates, self.threshold);
            Some((kind, plan(kind, &self.setting, updates, threshold, self.multiplicity).ok()?))
        };
        others.into_iter().filter(|kind| *kind != self.kind).filter_map(planned).collect()
    }

    /// Whether the mode `kind` is planned for one record a key because nothing was said of it.
    pub fn assumes_one_record_a_key(&self, kind: Kind) -> bool {
        kind == Kind::Guarded && self.multiplicity.is_none()
    }
}

fn setting(arguments: &Arguments, rows_per_unit: u32) -> Result<Setting, Failure> {
    let budget = budget(&arguments.epsilon, &arguments.delta)?;
    let neighbours = neighbours(&arguments.neighbours)?;
    const RECORDS: &str =
        "under substitution their exact number, which is public then; else an upper bound that is public";
    let records = whole("records", &arguments.records, RECORDS)?;
    Ok(Setting {
        records,
        largest_count: match &arguments.largest_count {
            Some(text) => whole("largest-count", text, "for example --largest-count 1 if no two records have one key")?,
            None => records,
        },
        support: whole("max-support", &arguments.max_support, "for example --max-support 10000")?,
        queries: queries(&arguments.queries, "for example --queries 10000")?,
        beta: beta(&arguments.beta)?,
        budget,
        neighbours,
        rows_per_unit,
    })
}

/// c and T, where they may be chosen.
fn corrections(arguments: &Arguments) -> Result<(Option<Hits>, Option<u64>), Failure> {
    let updates = arguments
        .updates
        .as_deref()
        .map(|text| hits("updates", "corrections", text, "for example --updates 10"))
        .transpose()?;
    let records = |text: &String| whole("threshold", text, "for example --threshold 500, in records");
    let threshold = arguments.threshold.as_ref().map(records).transpose()?;
    match (arguments.mode, updates, threshold) {
        (Kind::SparseMw, None, None) | (Kind::SparseMw, Some(_), Some(_)) | (Kind::Guarded, _, None) => {}
        (Kind::SparseMw, ..) => {
            return Err(Failure::input(
                "--updates and --threshold go together with --mode sparse-mw",
                "give both, or neither: then both are chosen so that every answer is within the least bound",
            ));
        }
        (Kind::Guarded, ..) => {
            return Err(Failure::input(
                "--threshold: a guarded session takes the release's predicted error for it",
                "leave it out, or give --mode sparse-mw",
            ));
        }
        (_, None, None) => {}
        _ => {
            return Err(Failure::input(
                "--updates and --threshold are for --mode guarded and sparse-mw",
                "leave them out, or choose another mode",
            ));
        }
    }
    Ok((updates, threshold))
}

fn plan(
    kind: Kind,
    setting: &Setting,
    updates: Option<Hits>,
    threshold: Option<u64>,
    multiplicity: Option<f64>,
) -> Result<Planned, PlanError> {
    let plan = match (kind, updates, threshold) {
        (Kind::Guarded, ..) => {
            let updates = updates.map_or_else(|| Hits::new(GUARDED_UPDATES), Ok)?;
            return Ok(Planned::Guarded(Box::new(GuardedPlan::new(setting, updates, multiplicity.unwrap_or(1.0))?)));
        }
        (Kind::Gaussian, ..) => Plan::gaussian(setting)?,
        (Kind::SparseMw, Some(updates), Some(threshold)) => {
            Plan::budgeted(setting, Learner::SparseWeights, updates, threshold)?
        }
        (Kind::SparseMw, ..) => Plan::tight(setting, Learner::SparseWeights)?,
        (Kind::Paper, ..) => Plan::paper(setting, Learner::SparseWeights)?,
    };
    Ok(Planned::Plain(Box::new(plan)))
}

/// A plan that cannot be had.
fn refusal(error: &PlanError) -> Failure {
    match error {
        PlanError::Gaussian(CompositionError::PureBudget { .. }) => Failure::refused(
            "--mode gaussian: Gaussian noise needs a delta above 0",
            "give --delta, for example 1e-9, or take another mode",
        ),
        PlanError::Size(_) => Failure::input(error, "`tamis session create --help` says what each argument may be"),
        _ => Failure::refused(error, "change --epsilon, --delta, --updates, --max-rows or --mode"),
    }
}
