//! What a run prints: alerts on standard output as they happen, everything else on standard error.

use super::Request;
use super::kept::Run;
use crate::output::{Format, line, note, percentage, plural, printable, row, weak, write};
use serde::Serialize;
use std::io;
use tamis::noise::sparse_vector::accuracy::{Meaning, meaning};
use tamis::noise::sparse_vector::{Plan, Report as Carries};
use tamis::noise::{Neighbours, StreamKind};

/// Version of the JSON lines. A reader must refuse a number that it does not know.
pub const SCHEMA: &str = "tamis.monitor/1";

/// One alert.
#[derive(Debug)]
pub struct Alert {
    pub label: Option<String>,
    /// The noisy value in grid units.
    pub value: Option<i64>,
}

/// Prints one run.
pub struct Report<'a> {
    request: &'a Request,
    plan: &'a Plan,
    format: Format,
    quiet: bool,
    alerts: u32,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Plan {
        schema: &'a str,
        threshold: f64,
        alerts: u32,
        epsilon: String,
        delta: String,
        sensitivity: f64,
        neighbours: String,
        kind: String,
        mechanism: String,
        grid_bits: u32,
        queries: u64,
        beta: f64,
        error: f64,
        vacuous: Option<String>,
        warning: Option<String>,
    },
    Alert {
        schema: &'a str,
        row: u64,
        label: Option<&'a str>,
        alert: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
    },
    End {
        schema: &'a str,
        answered: u64,
        alerts: u32,
        halted: bool,
        epsilon: String,
        delta: String,
    },
}

impl<'a> Report<'a> {
    pub fn new(request: &'a Request, plan: &'a Plan, format: Format, quiet: bool) -> Self {
        Self { request, plan, format, quiet, alerts: 0 }
    }

    /// Goes on counting where a run stopped.
    pub fn resume(&mut self, run: &Run) {
        self.alerts = self.request.setting.hits.get() - run.gate.hits_left();
        if run.answered > 0 {
            let (values, alerts) = (plural(run.answered, "value"), plural(self.alerts.into(), "alert"));
            self.note(&format!("going on after {values} and {alerts}"));
        }
    }

    /// Says what is about to run.
    pub fn begin(&self) -> io::Result<()> {
        let Request { setting, grid, queries, beta, .. } = self.request;
        match self.format {
            Format::Text => {}
            Format::Json => line(&Event::Plan {
                schema: SCHEMA,
                threshold: grid.value(self.request.threshold),
                alerts: setting.hits.get(),
                epsilon: self.plan.setting().budget.epsilon().to_string(),
                delta: self.plan.setting().budget.delta().to_string(),
                sensitivity: length(self.request, setting.sensitivity.get()),
                neighbours: setting.neighbours.to_string(),
                kind: setting.kind.to_string(),
                mechanism: self.plan.variant().to_string(),
                grid_bits: grid.bits(),
                queries: queries.get(),
                beta: beta.get(),
                error: self.error(),
                vacuous: vacuity(self.request, self.plan),
                warning: weak(&self.plan.setting().budget),
            })?,
            Format::Csv => row(&["row", "label", "alert", "value"])?,
        }
        self.note(&format!(
            "watching {} for up to {} of {} or more, at {}",
            self.request.subject(),
            plural(u64::from(setting.hits.get()), "value"),
            grid.value(self.request.threshold),
            self.plan.setting().budget
        ));
        if let Some(warning) = weak(&self.plan.setting().budget) {
            // However quiet: it is about privacy.
            note(false, &format!("warning: {warning}"));
        }
        self.note(&guarantee(self.request, self.plan));
        if let Some(warning) = vacuity(self.request, self.plan) {
            self.note(&format!("warning: this accuracy is vacuous: {warning}"));
        }
        if self.plan.report() == Carries::Gap {
            self.note("the values printed tend to be too high: an alert is where the noise was high");
        }
        Ok(())
    }

    /// Prints an alert at once: of the row that was answered last.
    pub fn alert(&mut self, alert: &Alert, answered: u64) -> io::Result<()> {
        self.alerts += 1;
        let value = alert.value.map(|value| self.request.grid.value(value));
        match self.format {
            Format::Text => {
                let place = alert.label.as_deref().map_or_else(|| format!("row {answered}"), printable);
                let (subject, hits) = (self.request.subject(), self.request.setting.hits.get());
                let what = match value {
                    None => format!("reached {}", self.request.grid.value(self.request.threshold)),
                    Some(value) => format!("is about {value}"),
                };
                let text = format!(
                    "{place}  alert {} of {hits}: {subject} {what} (give or take {})\n",
                    self.alerts,
                    self.error()
                );
                write(text.as_bytes())
            }
            Format::Json => line(&Event::Alert {
                schema: SCHEMA,
                row: answered,
                label: alert.label.as_deref(),
                alert: self.alerts,
                value,
            }),
            Format::Csv => row(&[
                &answered.to_string(),
                alert.label.as_deref().unwrap_or_default(),
                &self.alerts.to_string(),
                &value.map_or_else(String::new, |value| value.to_string()),
            ]),
        }
    }

    /// Closes the output of a run that came to its end. JSON lines without an end are of a run that failed.
    pub fn end(&self, answered: u64) -> io::Result<()> {
        if self.format != Format::Json {
            return Ok(());
        }
        let setting = self.plan.setting();
        line(&Event::End {
            schema: SCHEMA,
            answered,
            alerts: self.alerts,
            halted: self.alerts == setting.hits.get(),
            epsilon: setting.budget.epsilon().to_string(),
            delta: setting.budget.delta().to_string(),
        })
    }

    /// Says where the run stopped, however it did, and what it cost.
    pub fn account(&self, answered: u64) {
        let hits = self.request.setting.hits.get();
        let values = plural(answered, "value");
        self.note(&if self.alerts == hits {
            format!("stopped reading after {values}: all alerts are used")
        } else {
            format!("stopped after {values}: {} of {} used", self.alerts, plural(u64::from(hits), "alert"))
        });
        let stated = self.request.queries.get();
        if answered > stated {
            self.note(&format!(
                "accuracy was stated for {}; privacy holds for all, but give a larger --queries next time",
                plural(stated, "value")
            ));
        }
        self.note(&format!("spent: {}", privacy(self.request, self.plan).join("\n       ")));
    }

    fn error(&self) -> f64 {
        length(self.request, alpha(self.request, self.plan))
    }

    fn note(&self, text: &str) {
        note(self.quiet, text);
    }
}

/// α of a plan in grid units, for the stated number of queries.
pub fn alpha(request: &Request, plan: &Plan) -> u64 {
    plan.accuracy(request.queries, request.beta)
}

/// A length in grid units as the user writes it.
pub fn length(request: &Request, units: u64) -> f64 {
    request.grid.value(i64::try_from(units).unwrap_or(i64::MAX))
}

/// The accuracy of a plan as a sentence.
pub fn guarantee(request: &Request, plan: &Plan) -> String {
    let Request { grid, threshold, .. } = request;
    let alpha = i64::try_from(alpha(request, plan)).unwrap_or(i64::MAX);
    format!(
        "with probability at least {} over {}, while alerts are left: every value above {} alerts, and no value below {} does",
        percentage(1.0 - request.beta.get()),
        plural(request.queries.get(), "answer"),
        grid.value(threshold.saturating_add(alpha)),
        grid.value(threshold.saturating_sub(alpha)),
    )
}

/// Says so if the accuracy of a plan promises nothing about a count of 0.
pub fn vacuity(request: &Request, plan: &Plan) -> Option<String> {
    let alpha = alpha(request, plan);
    let vacuous =
        request.setting.kind == StreamKind::Counts && meaning(alpha, request.threshold, 0, None) != Meaning::Meaningful;
    vacuous.then(|| {
        format!(
            "the error {alpha} is not below the threshold {}, so that even a count of 0 may alert",
            request.threshold
        )
    })
}

/// The promise of privacy: what, against whom, and how.
pub fn privacy(request: &Request, plan: &Plan) -> [String; 3] {
    // The plan's own setting: where a δ was offered, the best plan may be one that needs none.
    let setting = plan.setting();
    let unused = if setting.budget == request.setting.budget { "" } else { " (the delta is not needed)" };
    let unit = match setting.neighbours {
        Neighbours::AddRemove => "one unit added or removed",
        Neighbours::Substitute => "one unit replaced",
    };
    let sensitivity = length(request, setting.sensitivity.get());
    [
        format!("{} for the whole run{unused}", setting.budget),
        format!("neighbours: {}, {unit}, which changes each value by at most {sensitivity}", setting.neighbours),
        format!("mechanism: {}", plan.variant()),
    ]
}
