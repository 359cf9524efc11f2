//! `tamis monitor --explain`: what a run would cost and be worth. Reads no data at all.

use super::report::{alpha, guarantee, length, privacy, vacuity};
use super::{Request, Variant};
use crate::failure::Failure;
use crate::output::{Format, csv, line, percentage, plural, weak, write};
use serde::Serialize;
use std::fmt::{self, Display};
use tamis::noise::discrete_laplace::margin;
use tamis::noise::sparse_vector::accuracy::{least_epsilon, theorem_3_26, theorem_3_28};
use tamis::noise::sparse_vector::{Plan, Setting};
use tamis::noise::{Budget, Rational, Scale};

/// Version of the JSON object.
const SCHEMA: &str = "tamis.monitor.explain/1";

/// Everything that is said, for every format.
#[derive(Serialize)]
struct Explanation {
    schema: &'static str,
    mechanism: String,
    /// Why this mechanism.
    why: String,
    /// For text: the other fields say it too.
    #[serde(skip)]
    promise: [String; 3],
    /// If the budget protects nobody.
    warning: Option<String>,
    epsilon: String,
    delta: String,
    sensitivity: f64,
    neighbours: String,
    kind: String,
    monotone: bool,
    threshold: f64,
    alerts: u32,
    queries: u64,
    beta: f64,
    grid_bits: u32,
    variants: Vec<Row>,
    /// Unless the book has no such plan.
    theorem: Option<Theorem>,
    guarantee: String,
    vacuous: Option<String>,
    wanted: Vec<Wanted>,
    column: Column,
}

/// One variant.
#[derive(Serialize)]
struct Row {
    variant: &'static str,
    used: bool,
    mechanism: Option<String>,
    threshold_noise: Option<f64>,
    query_noise: Option<f64>,
    value_noise: Option<f64>,
    /// α: the guarantee is threshold ± error.
    error: Option<f64>,
    vacuous: bool,
    /// Why there is no such plan.
    refusal: Option<String>,
}

/// What Dwork and Roth's own theorem says of the book's noise; our figure for it is sharper.
#[derive(Serialize)]
struct Theorem {
    number: &'static str,
    error: f64,
}

/// The least ε, to three digits, at which the error is at most the one named.
#[derive(Serialize)]
struct Wanted {
    error: f64,
    epsilon: Option<String>,
}

/// Releasing every value with Laplace noise instead.
#[derive(Serialize)]
struct Column {
    /// The most rows that a unit may touch for the whole column to be at least as accurate; 0 if none.
    better_up_to_rows_per_unit: u64,
    stated: Option<StatedColumn>,
}

#[derive(Serialize)]
struct StatedColumn {
    rows_per_unit: u64,
    scale: f64,
    error: f64,
    better: bool,
}

/// Prints the explanation on standard output.
pub fn print(request: &Request, plan: &Plan, format: Format) -> Result<(), Failure> {
    let explanation = explain(request, plan);
    match format {
        Format::Text => write(explanation.to_string().as_bytes())?,
        Format::Json => line(&explanation)?,
        Format::Csv => write(&csv(|writer| explanation.variants.iter().try_for_each(|row| writer.serialize(row)))?)?,
    }
    Ok(())
}

fn explain(request: &Request, plan: &Plan) -> Explanation {
    let setting = &request.setting;
    Explanation {
        schema: SCHEMA,
        promise: privacy(request, plan),
        warning: weak(&plan.setting().budget),
        why: why(request),
        mechanism: plan.variant().to_string(),
        sensitivity: length(request, setting.sensitivity.get()),
        epsilon: plan.setting().budget.epsilon().to_string(),
        delta: plan.setting().budget.delta().to_string(),
        neighbours: setting.neighbours.to_string(),
        kind: setting.kind.to_string(),
        monotone: setting.is_monotone(),
        threshold: request.grid.value(request.threshold),
        alerts: setting.hits.get(),
        queries: request.queries.get(),
        beta: request.beta.get(),
        grid_bits: request.grid.bits(),
        variants: vec![row(request, Variant::Tight), row(request, Variant::Book)],
        theorem: theorem(request),
        guarantee: guarantee(request, plan),
        vacuous: vacuity(request, plan),
        wanted: wanted(request, plan),
        column: column(request, alpha(request, plan)),
    }
}

/// The theorems are for sensitivity 1: one unit of theirs is one sensitivity of ours.
fn theorem(request: &Request) -> Option<Theorem> {
    request.plan(Variant::Book).ok()?;
    let Request { setting, queries, beta, .. } = request;
    let (epsilon, delta) = (setting.budget.epsilon(), setting.budget.delta());
    let (number, alpha) = if request.numeric {
        ("3.28, corrected", theorem_3_28(*queries, setting.hits, epsilon, delta, *beta))
    } else {
        ("3.26", theorem_3_26(*queries, setting.hits, epsilon, delta, *beta))
    };
    Some(Theorem { number, error: alpha * length(request, setting.sensitivity.get()) })
}

/// What the variant in use was preferred to.
fn why(request: &Request) -> String {
    let Request { setting, queries, beta, .. } = request;
    if request.variant == Variant::Book {
        return "the book's constants, as asked for".to_owned();
    }
    let pure = Setting { budget: Budget::pure(setting.budget.epsilon().clone()), ..setting.clone() };
    let candidates = [Plan::no_redraw(&pure, *queries, *beta), Plan::restarted(setting, *queries, *beta)];
    let described: Vec<String> = candidates
        .iter()
        .flatten()
        .map(|plan| format!("{} (± {})", plan.variant(), length(request, alpha(request, plan))))
        .collect();
    format!("the best for these numbers of: {}", described.join("; "))
}

fn row(request: &Request, variant: Variant) -> Row {
    let plan = request.plan(variant);
    let known = plan.as_ref().ok();
    Row {
        variant: match variant {
            Variant::Book => "book",
            Variant::Tight => "tight",
        },
        used: variant == request.variant,
        mechanism: known.map(|plan| plan.variant().to_string()),
        threshold_noise: known.map(|plan| real(request, plan.threshold_noise())),
        query_noise: known.map(|plan| real(request, plan.query_noise())),
        value_noise: known.and_then(|plan| plan.value_noise().map(|scale| real(request, scale))),
        error: known.map(|plan| length(request, alpha(request, plan))),
        vacuous: known.is_some_and(|plan| vacuity(request, plan).is_some()),
        refusal: plan.as_ref().err().map(Failure::message),
    }
}

/// A noise scale in the user's units.
fn real(request: &Request, scale: &Scale) -> f64 {
    scale.to_f64_up() / f64::from(1u32 << request.grid.bits())
}

/// The error asked for; without one, half of the present error and, if that is vacuous, the largest that is not.
fn wanted(request: &Request, plan: &Plan) -> Vec<Wanted> {
    let mut errors = match request.error {
        Some(error) => vec![error],
        None => vec![alpha(request, plan) / 2],
    };
    if request.error.is_none() && vacuity(request, plan).is_some() {
        errors.push(u64::try_from(request.threshold).unwrap_or(0).saturating_sub(1));
    }
    errors.retain(|error| *error > 0);
    errors
        .iter()
        .map(|error| Wanted { error: length(request, *error), epsilon: epsilon_for(request, *error) })
        .collect()
}

/// The least ε with which `tight` has at most this error, everything else unchanged. (The book's theorem for δ > 0 ends at
/// some ε, so that for its constants a larger ε is not always better.)
fn epsilon_for(request: &Request, error: u64) -> Option<String> {
    let delta = request.setting.budget.delta();
    let epsilon = least_epsilon(error, request.queries, request.beta, |epsilon| {
        let budget = Budget::approximate(epsilon, delta.clone());
        request.plan_within(&Setting { budget, ..request.setting.clone() }, Variant::Tight)
    });
    epsilon.map(|epsilon| epsilon.to_string())
}

fn column(request: &Request, alpha: u64) -> Column {
    let better = |rows| column_error(request, rows).1 <= alpha;
    let (mut low, mut high) = (0, request.queries.get());
    while low < high {
        let middle = high - (high - low) / 2;
        if better(middle) { low = middle } else { high = middle - 1 }
    }
    Column {
        better_up_to_rows_per_unit: low,
        stated: request.rows_per_unit.map(|rows| {
            let (scale, error) = column_error(request, rows);
            StatedColumn {
                rows_per_unit: rows,
                scale: scale / f64::from(1u32 << request.grid.bits()),
                error: length(request, error),
                better: error <= alpha,
            }
        }),
    }
}

/// Scale, and largest error but for probability β, of Laplace noise on all of the planned values, in grid units.
///
/// A unit that touches R rows moves the column by at most R·S in L1 norm; one that is replaced leaves R rows and enters R.
fn column_error(request: &Request, rows_per_unit: u64) -> (f64, u64) {
    let touched = rows_per_unit.saturating_mul(request.setting.neighbours.rows_moved());
    let rows = Rational::from(touched.min(request.queries.get()));
    let scale =
        rows * Rational::from(request.setting.sensitivity.get()) / request.setting.budget.epsilon().as_rational();
    let share = request.beta.get() / request.queries.to_f64();
    // A scale that no sampler serves is an error that nothing is worse than.
    let error = Scale::from_rational(scale.clone()).map_or(u64::MAX, |scale| margin(&scale, share));
    (scale.to_f64_fast(), error)
}

impl Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (alerts, answers) = (plural(u64::from(self.alerts), "alert"), plural(self.queries, "answer"));
        writeln!(f, "plan      up to {alerts} at {} or more, over {answers}", self.threshold)?;
        writeln!(f, "privacy   {}", self.promise.join("\n          "))?;
        if let Some(warning) = &self.warning {
            writeln!(f, "warning   {warning}")?;
        }
        writeln!(f, "why       {}", self.why)?;
        writeln!(
            f,
            "stream    {}: {}",
            self.kind,
            if self.monotone {
                "one unit more moves all of them the same way, which halves the noise of `tight`"
            } else {
                "one unit may move some of them up and others down"
            }
        )?;
        if self.grid_bits > 0 {
            writeln!(f, "grid      values are rounded to multiples of 2^-{}", self.grid_bits)?;
        }
        writeln!(f)?;
        let level = percentage(1.0 - self.beta);
        writeln!(
            f,
            "          {:>15}  {:>11}  {:>11}  T ± α at {level}",
            "threshold noise", "query noise", "value noise"
        )?;
        for row in &self.variants {
            self.write_row(f, row)?;
        }
        if let Some(Theorem { number, error }) = &self.theorem {
            writeln!(f, "(the book's own bound for its noise, Theorem {number}: ± {})", short(*error))?;
        }
        writeln!(f)?;
        writeln!(f, "meaning   {}", self.guarantee)?;
        match &self.vacuous {
            Some(reason) => writeln!(f, "vacuous   yes: {reason}")?,
            None if self.kind == "counts" => {
                writeln!(f, "vacuous   no: with the same probability a count of 0 does not alert")?
            }
            None => {
                writeln!(f, "vacuous   compare the error with the range of your values, which this plan does not know")?
            }
        }
        for wanted in &self.wanted {
            match &wanted.epsilon {
                Some(epsilon) => writeln!(f, "wanted    ± {} needs ε = {epsilon} with `tight`", wanted.error)?,
                None => writeln!(f, "wanted    ± {} is out of reach for every ε up to 1000", wanted.error)?,
            }
        }
        self.write_column(f)
    }
}

impl Explanation {
    fn write_row(&self, f: &mut fmt::Formatter<'_>, row: &Row) -> fmt::Result {
        let scale = |scale: Option<f64>| scale.map_or_else(|| "-".to_owned(), short);
        let use_mark = if row.used { "  <- used" } else { "" };
        match row.error {
            Some(error) => writeln!(
                f,
                "{:<8}  {:>15}  {:>11}  {:>11}  {} ± {error}{}{use_mark}",
                row.variant,
                scale(row.threshold_noise),
                scale(row.query_noise),
                scale(row.value_noise),
                self.threshold,
                if row.vacuous { " (vacuous)" } else { "" }
            ),
            None => writeln!(f, "{:<8}  not available: {}", row.variant, row.refusal.as_deref().unwrap_or_default()),
        }
    }

    fn write_column(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.column.stated {
            Some(column) => {
                writeln!(
                    f,
                    "column    if one unit touches at most {}, Laplace noise of scale {} releases all {} to ± {} at {}:",
                    plural(column.rows_per_unit, "row"),
                    short(column.scale),
                    plural(self.queries, "value"),
                    column.error,
                    percentage(1.0 - self.beta)
                )?;
                let verdict = if column.better {
                    "releasing the whole column is better, and it gives every value, not alerts alone"
                } else {
                    "watching is better"
                };
                writeln!(f, "          {verdict}")
            }
            None => writeln!(
                f,
                "column    releasing all values with Laplace noise is better if one unit touches at most {} (--rows-per-unit)",
                plural(self.column.better_up_to_rows_per_unit, "row")
            ),
        }
    }
}

/// Four digits are enough for a noise scale.
fn short(value: f64) -> String {
    let digits = 3 - value.abs().log10().floor().clamp(-9.0, 3.0) as i32;
    format!("{:.*}", usize::try_from(digits).unwrap_or(0), value)
}
