//! What a release will be, promise and be worth: from public numbers alone.

use super::request::{Assumed, Request};
use crate::failure::Failure;
use crate::output::{Format, percentage, plural, record_line, weak_for, write};
use serde::Serialize;
use std::fmt;
use std::path::Path;
use tamis::projection::{NoiseKind, Plan, Signs, Unit as ReleasedUnit};

/// Version of the JSON object.
const SCHEMA: &str = "tamis.release/1";

/// Everything that is said, for every format.
#[derive(Clone, Serialize)]
pub struct Explanation {
    schema: &'static str,
    /// The file, once it is there.
    written: Option<String>,
    epsilon: String,
    delta: String,
    neighbours: String,
    /// As the file says it: row, record or column.
    unit: &'static str,
    unit_column: Option<String>,
    rows_per_unit: u32,
    publish_records: bool,
    signs: &'static str,
    width: u32,
    nonzeros: u32,
    independence: u32,
    noise: &'static str,
    /// Of one row, in records.
    noise_standard_deviation: f64,
    /// The least noisy count of a key that is released apart.
    heavy_threshold: Option<i64>,
    /// m.
    support: u64,
    /// Of a list of m keys, in records, as the plan predicts it; of noise alone, if the number of records was not stated.
    standard_error: f64,
    /// What the error is predicted to be within, with which probability, by the rule of intervals that is predicted.
    error: f64,
    rule: &'static str,
    level: f64,
    /// How many answers are to keep it at once.
    answers: u64,
    /// The most that such a list may hold.
    answer_range: Option<f64>,
    useful: Option<bool>,
    file_bytes: Option<u64>,
    /// What was planned by though it was not said.
    assumed: Option<String>,
    privacy: String,
    warning: Option<String>,
    /// For text.
    #[serde(skip)]
    why: String,
    #[serde(skip)]
    protected: String,
    #[serde(skip)]
    condition: &'static str,
    #[serde(skip)]
    delta_unspent: bool,
}

impl Explanation {
    pub fn of(request: &Request) -> Self {
        let plan = &request.plan;
        let (shape, support, cost) = (plan.shape(), plan.stated_support(), plan.cost());
        let standard_error = plan.predicted_standard_error(support, plan.stated_norm().unwrap_or(0.0), 0.0);
        let (answers, beta) = request.confidence;
        let unit = request.records.released_unit();
        let privacy = format!("{} {}", plan.privacy(), unit.in_words(plan.rows_per_unit()));
        let (unit, unit_column) = match unit {
            ReleasedUnit::Row => ("row", None),
            ReleasedUnit::Record => ("record", None),
            ReleasedUnit::Column(name) => ("column", Some(name)),
        };
        Self {
            schema: SCHEMA,
            written: None,
            epsilon: cost.epsilon().to_string(),
            delta: cost.delta().to_string(),
            neighbours: plan.neighbours().to_string(),
            unit,
            unit_column,
            rows_per_unit: plan.rows_per_unit(),
            publish_records: request.publish_records,
            signs: match shape.signs() {
                Signs::Dense => "dense",
                Signs::Sparse { .. } => "sparse",
            },
            width: shape.width(),
            nonzeros: shape.nonzeros(),
            independence: shape.independence(),
            noise: match plan.noise().kind() {
                NoiseKind::Laplace => "laplace",
                NoiseKind::Gaussian => "gaussian",
            },
            noise_standard_deviation: plan.noise().variance().sqrt(),
            heavy_threshold: plan.heavy().map(|threshold| threshold.threshold()),
            // No more than 10^15, and whole.
            support: support as u64,
            standard_error,
            error: plan.predicted_half_width(answers, beta),
            rule: plan.predicted_rule().name(),
            level: 1.0 - beta.get(),
            answers: answers.get(),
            answer_range: plan.answer_range(),
            useful: plan.is_useful(),
            file_bytes: plan.file_bytes().map(|bytes| bytes.round() as u64),
            assumed: assumed(request.assumed),
            privacy,
            warning: warning(plan),
            why: plan.explanation().trim_end().to_owned(),
            protected: request.records.protected(plan.neighbours(), plan.rows_per_unit()),
            condition: if request.assumed.multiplicity { ", if no two records share a key" } else { "" },
            delta_unspent: request.delta_unspent,
        }
    }

    /// The same, once the file is there.
    pub fn written(self, path: &Path) -> Self {
        Self { written: Some(path.display().to_string()), ..self }
    }

    /// If the release protects less than it seems to.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// To standard output.
    pub fn print(&self, format: Format) -> Result<(), Failure> {
        match format {
            Format::Text => write(self.to_string().as_bytes())?,
            Format::Json => crate::output::line(self)?,
            Format::Csv => record_line(self)?,
        }
        Ok(())
    }
}

fn assumed(Assumed { multiplicity, support }: Assumed) -> Option<String> {
    const KEYS: &str = "one record a key";
    const LISTS: &str = "lists of 10000 keys";
    match (multiplicity, support) {
        (true, true) => Some(format!("{KEYS} (--rows-per-key) and {LISTS} (--support): neither was given")),
        (true, false) => Some(format!("{KEYS}: --rows-per-key was not given")),
        (false, true) => Some(format!("{LISTS}: --support was not given")),
        (false, false) => None,
    }
}

/// What is to be said of a budget that protects nobody, and of a number that was copied from the data.
fn warning(plan: &Plan) -> Option<String> {
    let exact = plan.stated_records().filter(|records| has_more_than_three_digits(*records as u64)).map(|records| {
        format!("--records {records} is published with the file, and looks exact: round it, unless it is public")
    });
    let warnings: Vec<String> = weak_for(&plan.cost(), plan.stated_records()).into_iter().chain(exact).collect();
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

/// Zeros at the end not counted.
fn has_more_than_three_digits(mut number: u64) -> bool {
    while number > 0 && number.is_multiple_of(10) {
        number /= 10;
    }
    number >= 1000
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (list, error, level) = (plural(self.support, "key"), self.error, percentage(self.level));
        let rule = match self.rule {
            "normal" => "",
            "few-keys" => " (few-keys: the noise of so few keys has longer tails than a bell curve)",
            _ if self.width < 256 => " (conservative: the rows are few)",
            _ => " (conservative: keys of the data are heavy)",
        };
        let together = match self.answers {
            1 => String::new(),
            answers => format!(" for all of {answers} answers at once"),
        };
        writeln!(
            f,
            "answers   a list of {list} is off by up to ± {error:.0}, with probability {level}{together}{}{rule}",
            self.condition
        )?;
        if self.answer_range.is_none() {
            writeln!(f, "          (that is noise alone: other keys add to it, and --records was not given)")?;
        }
        if self.useful == Some(false) {
            let range = plural(self.answer_range.unwrap_or_default().round() as u64, "record");
            writeln!(f, "          that is worth nothing: such a list holds at most {range}")?;
        }
        if let Some(assumed) = &self.assumed {
            writeln!(f, "assumed   {assumed}")?;
        }
        for (at, line) in self.why.lines().enumerate() {
            writeln!(f, "{}{line}", if at == 0 { "plan      " } else { "          " })?;
        }
        writeln!(f, "privacy   {}", self.privacy)?;
        if self.delta_unspent {
            writeln!(f, "          δ was not needed: none is spent")?;
        }
        writeln!(f, "protected {}", self.protected)?;
        if self.publish_records {
            writeln!(f, "public    the exact number of records, which will be in the file (--publish-records)")?;
        }
        if let Some(warning) = &self.warning {
            writeln!(f, "warning   {warning}")?;
        }
        Ok(())
    }
}
