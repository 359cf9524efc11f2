//! What a release will be, promise and be worth: from public numbers alone.

use super::request::Request;
use crate::failure::Failure;
use crate::output::{Format, percentage, record_line, weak, write};
use serde::Serialize;
use std::fmt;
use std::path::Path;
use tamis::projection::bounds::deviations;
use tamis::projection::{NoiseKind, Signs};

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
    unit: String,
    rows_per_unit: u32,
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
    support: f64,
    /// Of a list of m keys, in records, as the plan predicts it; of noise alone, if the number of records was not stated.
    standard_error: f64,
    /// What the error is predicted to be within, with which probability.
    error: f64,
    level: f64,
    /// How many answers are to keep it at once.
    answers: u64,
    /// The most that such a list may hold.
    answer_range: Option<f64>,
    useful: Option<bool>,
    file_bytes: Option<f64>,
    privacy: String,
    warning: Option<String>,
    /// For text.
    #[serde(skip)]
    why: String,
    #[serde(skip)]
    protected: String,
}

impl Explanation {
    pub fn of(request: &Request) -> Self {
        let plan = &request.plan;
        let (shape, support, cost) = (plan.shape(), plan.stated_support(), plan.cost());
        let standard_error = plan.predicted_standard_error(support, plan.stated_norm().unwrap_or(0.0), 0.0);
        let (answers, beta) = request.confidence;
        Self {
            schema: SCHEMA,
            written: None,
            epsilon: cost.epsilon().to_string(),
            delta: cost.delta().to_string(),
            neighbours: plan.neighbours().to_string(),
            unit: request.records.unit.name().to_owned(),
            rows_per_unit: plan.rows_per_unit(),
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
            support,
            standard_error,
            error: deviations(answers, beta) * standard_error,
            level: 1.0 - beta.get(),
            answers: answers.get(),
            answer_range: plan.answer_range(),
            useful: plan.is_useful(),
            file_bytes: plan.file_bytes(),
            privacy: plan.privacy(),
            warning: weak(&cost),
            why: plan.explanation().trim_end().to_owned(),
            protected: request.records.protected(plan.neighbours(), plan.rows_per_unit()),
        }
    }

    /// The same, once the file is there.
    pub fn written(self, path: &Path) -> Self {
        Self { written: Some(path.display().to_string()), ..self }
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

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (error, level) = (self.error, percentage(self.level));
        let together = match self.answers {
            1 => String::new(),
            answers => format!(" for all of {answers} answers at once"),
        };
        writeln!(
            f,
            "answers   a list of {} keys is off by up to ± {error:.0}, with probability {level}{together}",
            self.support
        )?;
        if self.answer_range.is_none() {
            writeln!(f, "          (that is noise alone: other keys add to it, and --records was not given)")?;
        }
        if self.useful == Some(false) {
            let range = self.answer_range.unwrap_or_default();
            writeln!(f, "          that is worth nothing: such a list holds at most {range:.0} records")?;
        }
        for (at, line) in self.why.lines().enumerate() {
            writeln!(f, "{}{line}", if at == 0 { "plan      " } else { "          " })?;
        }
        writeln!(f, "privacy   {}", self.privacy)?;
        writeln!(f, "protected {}", self.protected)?;
        if let Some(warning) = &self.warning {
            writeln!(f, "warning   {warning}")?;
        }
        Ok(())
    }
}
