//! What a run came to, and its page.

use std::time::Duration;

use crate::experiment::Size;
use crate::finding::{Finding, Verdict};
use crate::table::{Role, Table};

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The experiment.
    pub name: &'static str,
    /// What it was to show.
    pub claim: &'static str,
    /// All columns and the rows of the finished cases.
    pub rows: Table,
    /// Which rows are worth showing where space is short.
    pub highlights: Vec<bool>,
    /// The checks across cases.
    pub overall: Vec<(&'static str, Finding)>,
    /// The plots: file name and SVG.
    pub plots: Vec<(String, String)>,
    /// How many cases there were to do.
    pub cases: usize,
    /// How long it took.
    pub elapsed: Duration,
    /// Quick or full.
    pub size: Size,
    /// The seed.
    pub seed: u64,
}

impl Outcome {
    /// Whether the run was stopped before its last case.
    pub fn is_interrupted(&self) -> bool {
        self.rows.rows.len() < self.cases
    }

    /// The worst verdict of rows and checks. Where nothing was checked, or not everything, no better than
    /// inconclusive.
    pub fn verdict(&self) -> Verdict {
        let worst = self.verdicts().into_iter().max().unwrap_or(Verdict::Inconclusive);
        if self.is_interrupted() { worst.max(Verdict::Inconclusive) } else { worst }
    }

    /// How many rows and checks across rows hold, are inconclusive and fail: "23 hold, 1 fail".
    pub fn tally(&self) -> String {
        let verdicts = self.verdicts();
        let count = |wanted: Verdict, word: &str| match verdicts.iter().filter(|verdict| **verdict == wanted).count() {
            0 => None,
            count => Some(format!("{count} {word}")),
        };
        let counts = [(Verdict::Holds, "hold"), (Verdict::Inconclusive, "inconclusive"), (Verdict::Fails, "fail")];
        let words: Vec<String> = counts.into_iter().filter_map(|(verdict, word)| count(verdict, word)).collect();
        if words.is_empty() { "nothing checked".to_owned() } else { words.join(", ") }
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let position = self.rows.position("verdict");
        let rows = self.rows.rows.iter().filter_map(|row| row[position?].parse().ok());
        rows.chain(self.overall.iter().map(|(_, finding)| finding.verdict)).collect()
    }

    /// The columns a reader wants: parameters, what the experiment shows, the verdict; each check where there
    /// are several. Errors are among the findings.
    pub fn table(&self, highlights_only: bool) -> Table {
        let several = self.rows.columns.iter().filter(|column| column.role == Role::Check).count() > 1;
        let keep = |role: Role| match role {
            Role::Parameter | Role::Shown | Role::Verdict => true,
            Role::Check => several,
            Role::Record | Role::Summary | Role::Because | Role::Error | Role::Timing => false,
        };
        self.rows.select(|column| keep(column.role), |row| !highlights_only || self.highlights[row])
    }

    /// Everything that is the same on every machine: what `rows.csv` holds.
    pub fn records(&self) -> Table {
        self.rows.select(|column| column.role != Role::Timing, |_| true)
    }

    /// Parameters and readings of the clock, if the experiment has any.
    pub fn timings(&self) -> Option<Table> {
        let timed = self.rows.columns.iter().any(|column| column.role == Role::Timing);
        timed.then(|| self.rows.select(|column| matches!(column.role, Role::Parameter | Role::Timing), |_| true))
    }

    /// The sentences under the table: checks across cases, every check of a case that does not hold, and errors.
    pub fn findings(&self) -> Vec<String> {
        let overall =
            self.overall.iter().map(|(name, finding)| format!("{name}: {} ({})", finding.verdict, finding.because));
        let mut lines: Vec<String> = overall.collect();
        for row in &self.rows.rows {
            let cells = || self.rows.columns.iter().zip(row);
            let parameters = cells().filter(|(column, _)| column.role == Role::Parameter);
            let case = assignments(parameters.map(|(column, text)| (column.name.as_str(), text.clone())));
            for ((column, text), (_, because)) in cells().zip(cells().skip(1)) {
                if column.role == Role::Check && !matches!(text.as_str(), "" | "holds") {
                    lines.push(format!("{case}: {}: {text} ({because})", column.name));
                }
            }
            let errors = cells().filter(|(column, text)| column.role == Role::Error && !text.is_empty());
            lines.extend(errors.map(|(_, error)| format!("{case}: {error}")));
        }
        lines
    }

    /// "Verdict: holds (24 hold). …", with what every piece of output says about its origin.
    pub fn statement(&self) -> String {
        format!(
            "Verdict: {} ({}). Size {}, seed {}; seeded: not private.",
            self.verdict(),
            self.tally(),
            self.size,
            self.seed
        )
    }

    /// What `table.md` holds.
    pub(crate) fn page(&self) -> String {
        let findings: String = self.findings().iter().map(|line| format!("- {line}\n")).collect();
        let plots: String =
            self.plots.iter().map(|(file, _)| format!("\n![{}]({file})\n", file.trim_end_matches(".svg"))).collect();
        let command = format!("cargo run --release --bin {}{}", self.name, self.size.pick("", " -- --full"));
        let (table, statement) = (self.table(false).markdown(), self.statement());
        format!(
            "# {}\n\n{}\n\n{table}\n{findings}\n{statement}\n{plots}\nWritten by `{command}`.\n",
            self.name, self.claim
        )
    }
}

/// "k = 10, c = 1": a case in words.
pub(crate) fn assignments<'a>(parameters: impl Iterator<Item = (&'a str, String)>) -> String {
    parameters.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
