//! What a session will promise and be worth: from public numbers alone.

use super::create::Kind;
use super::request::{Planned, Request};
use crate::failure::Failure;
use crate::output::{Format, line, percentage, record_line, weak_for, write};
use serde::Serialize;
use std::fmt;
use std::path::Path;
use tamis::interactive::{Plan, Setting};
use tamis::noise::Neighbours;
use tamis::projection::Rule;

/// Version of the JSON object.
const SCHEMA: &str = "tamis.session/1";

/// Everything that is said, for every format.
#[derive(Serialize)]
pub struct Explanation {
    schema: &'static str,
    /// The file, once it is there.
    written: Option<String>,
    mode: &'static str,
    epsilon: String,
    delta: String,
    neighbours: String,
    unit: String,
    rows_per_unit: u32,
    records: u64,
    /// m.
    max_support: u64,
    /// k.
    queries: u64,
    level: f64,
    /// c.
    updates: Option<u32>,
    /// T, in records.
    threshold: Option<f64>,
    /// N: how many slots the universe is mapped to.
    slots: Option<u64>,
    /// How far any answer is off at most, in records, and as a share of them.
    bound: f64,
    guarantee: f64,
    vacuous: bool,
    /// Whether it goes on when no corrections are left.
    survives_exhaustion: bool,
    /// Of the release of a guarded session, for queries not chosen by looking at it, in records.
    predicted_error: Option<f64>,
    /// Whether that is only for queries whose rows no frequent key shares.
    #[serde(skip)]
    few_keys: bool,
    /// What was taken for granted, since nothing was said of it.
    assumed: Option<&'static str>,
    warning: Option<String>,
    /// What the bound rests on.
    #[serde(skip)]
    condition: String,
    /// Whether a δ was offered that is not spent.
    #[serde(skip)]
    delta_unspent: bool,
    /// Whether the modes are compared, and one of them needs a δ that there is not.
    #[serde(skip)]
    gaussian_needs_delta: bool,
    /// Until when the bound holds.
    #[serde(skip)]
    lasts: &'static str,
    #[serde(skip)]
    protected: String,
    /// Bounds of the other modes, in records.
    #[serde(skip)]
    others: Vec<(Kind, f64, bool)>,
}

impl Explanation {
    pub fn of(request: &Request, compared: bool) -> Self {
        let (setting, plan, cost) = (&request.setting, request.planned.plan(), &request.cost);
        let others = if compared { request.others() } else { Vec::new() };
        let other = |(kind, planned): &(Kind, Planned)| {
            (*kind, planned.plan().guarantee_in_records(), planned.plan().is_vacuous())
        };
        let (is_pure, kind) = (setting.budget.delta().is_zero(), request.kind);
        let is_planned = |other: Kind| kind == other || others.iter().any(|(planned, _)| *planned == other);
        let is_assumed = is_planned(Kind::Guarded) && request.assumes_one_record_a_key(Kind::Guarded);
        let release = match &request.planned {
            Planned::Plain(_) => None,
            Planned::Guarded(plan) => Some(plan.release()),
        };
        Self {
            schema: SCHEMA,
            written: None,
            mode: request.kind.name(),
            epsilon: cost.epsilon().to_string(),
            delta: cost.delta().to_string(),
            neighbours: setting.neighbours.to_string(),
            unit: request.records.unit.name().to_owned(),
            rows_per_unit: setting.rows_per_unit,
            records: setting.records,
            max_support: setting.support,
            queries: setting.queries.get(),
            level: 1.0 - setting.beta.get(),
            updates: plan.updates().map(|updates| updates.get()),
            threshold: plan.updates().map(|_| plan.threshold()),
            slots: plan.slots(),
            bound: plan.guarantee_in_records(),
            guarantee: plan.guarantee(),
            vacuous: plan.is_vacuous(),
            survives_exhaustion: plan.survives_exhaustion(),
            predicted_error: release.and_then(tamis::projection::Plan::predicted_error),
            few_keys: release.is_some_and(|release| release.predicted_rule() == Rule::Conservative),
            assumed: is_assumed.then_some("one record a key, on the average: --rows-per-key was not given"),
            condition: condition(setting),
            delta_unspent: !is_pure && cost.delta().is_zero(),
            gaussian_needs_delta: compared && is_pure && kind != Kind::Gaussian,
            warning: weak_for(cost, Some(setting.records as f64)),
            lasts: lasts(plan, 0),
            protected: request.records.protected(setting.neighbours, setting.rows_per_unit),
            others: others.iter().map(other).collect(),
        }
    }

    /// If the session protects less than it seems to.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The same, once the file is there.
    pub fn written(self, path: &Path) -> Self {
        Self { written: Some(path.display().to_string()), ..self }
    }

    /// To standard output.
    pub fn print(&self, format: Format) -> Result<(), Failure> {
        match format {
            Format::Text => write(self.to_string().as_bytes())?,
            Format::Json => line(self)?,
            Format::Csv => record_line(self)?,
        }
        Ok(())
    }

    /// How answers come about, in a sentence or two.
    fn how(&self) -> String {
        let (updates, threshold) = (u64::from(self.updates.unwrap_or(0)), self.threshold.unwrap_or(0.0));
        let come = if updates == 1 { "1 correction comes".to_owned() } else { format!("{updates} corrections come") };
        match self.slots {
            _ if self.updates.is_none() => format!("{}: noise for each of {} answers", self.mode, self.queries),
            None => format!(
                "{}: a release answers, and up to {come} from the data, where it is off by more than {threshold:.0}",
                self.mode
            ),
            Some(slots) => format!(
                "{}: weights on {slots} slots answer, and up to {come} from the data, where they are off by more \
                 than {threshold:.0}",
                self.mode
            ),
        }
    }
}

/// What bounds rest on beside the plan: numbers that were stated, and that nobody checks.
pub fn condition(setting: &Setting) -> String {
    let Setting { records, largest_count, neighbours, .. } = setting;
    let mut stated = Vec::new();
    if *neighbours == Neighbours::AddRemove {
        stated.push(format!("there are at most {records} records"));
    }
    if largest_count < records {
        stated.push(format!("no key has more than {largest_count}"));
    }
    if stated.is_empty() { String::new() } else { format!(", if {}", stated.join(" and ")) }
}

/// Until when a guarantee holds, if so many corrections were lost.
pub fn lasts(plan: &Plan, lost: u64) -> &'static str {
    let is_for_all = plan.updates().is_none() || plan.survives_exhaustion() && lost == 0;
    if is_for_all { "" } else { ", while corrections are left" }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bound, level, records) = (self.bound, percentage(self.level), self.records);
        let queries = match self.queries {
            1 => "1 query".to_owned(),
            queries => format!("{queries} queries at once"),
        };
        let share = 100.0 * self.guarantee;
        writeln!(
            f,
            "answers   within ± {bound:.0} of the truth ({share:.1} % of {records} records), with probability {level} for \
             {queries},"
        )?;
        writeln!(f, "          however they are chosen{}{}", self.lasts, self.condition)?;
        if self.vacuous {
            writeln!(f, "          that is vacuous: no answer is beyond {records}, so the guarantee says nothing")?;
        }
        if let Some(error) = self.predicted_error {
            let but = if self.few_keys {
                ", but for a few that collide with a frequent key: they use up corrections"
            } else {
                ""
            };
            writeln!(
                f,
                "          queries not chosen by looking at the answers are predicted to be within ± {error:.0}{but}"
            )?;
        }
        if let Some(assumed) = self.assumed {
            writeln!(f, "assumed   {assumed}")?;
        }
        writeln!(f, "plan      {}", self.how())?;
        for (kind, bound, vacuous) in &self.others {
            let vacuous = if *vacuous { ": vacuous" } else { "" };
            writeln!(f, "          (--mode {} would be within ± {bound:.0}{vacuous})", kind.name())?;
        }
        if self.gaussian_needs_delta {
            writeln!(f, "          (--mode gaussian needs --delta, for example 1e-9)")?;
        }
        let (epsilon, delta, neighbours) = (&self.epsilon, &self.delta, &self.neighbours);
        writeln!(f, "privacy   ε = {epsilon}, δ = {delta} for the whole session, under {neighbours} neighbours")?;
        if self.delta_unspent {
            writeln!(f, "          δ was not needed: none is spent")?;
        }
        writeln!(f, "protected {}", self.protected)?;
        if let Some(warning) = &self.warning {
            writeln!(f, "warning   {warning}")?;
        }
        Ok(())
    }
}
