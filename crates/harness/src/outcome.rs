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
    /// The same in a few words.
    pub subject: &'static str,
    /// All columns and the rows of the finished cases.
    pub rows: Table,
    /// Which rows are worth showing where space is short.
    pub highlights: Vec<bool>,
    /// The checks across cases.
    pub overall: Vec<(&'static str, Finding)>,
    /// The column each value of which has a table of its own.
    pub split: Option<&'static str>,
    /// The plots.
    pub plots: Vec<Picture>,
    /// The checks across cases and the plots that need rows which the brief size leaves out.
    pub omitted: Vec<String>,
    /// How many cases there were to do.
    pub cases: usize,
    /// How many of them an earlier run had done.
    pub resumed: usize,
    /// How long it took to do the others.
    pub elapsed: Duration,
    /// How much was run.
    pub size: Size,
    /// The seed.
    pub seed: u64,
}

/// A plot as it was drawn.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The name of its file.
    pub file: String,
    /// What it shows.
    pub title: &'static str,
    /// The drawing.
    pub svg: String,
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

    /// The same as the tables that are printed: one, or one for each value of the column by which they are split, without
    /// the columns that are empty in it.
    pub fn tables(&self, highlights_only: bool) -> Vec<Table> {
        let whole = self.table(highlights_only);
        self.split.map_or_else(|| vec![whole.clone()], |column| whole.parts(column))
    }

    /// The [`tables`](Self::tables) in Markdown.
    pub(crate) fn markdown(&self, highlights_only: bool) -> String {
        self.tables(highlights_only).iter().map(Table::markdown).collect::<Vec<_>>().join("\n")
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

    /// How long it took, in seconds; with "after 3 of 8 cases" if only the others were done.
    pub(crate) fn seconds(&self) -> String {
        let seconds = format!("{:.1}", self.elapsed.as_secs_f64());
        match self.resumed {
            0 => seconds,
            resumed => format!("{seconds} after {resumed} of {} cases", self.cases),
        }
    }

    /// What runs it again.
    pub(crate) fn command(&self) -> String {
        format!("cargo run --release --bin {}{}", self.name, self.size.flag())
    }

    /// The sentences under the table: checks across cases, what the brief size leaves out, every check of a case that
    /// does not hold, and errors.
    pub fn findings(&self) -> Vec<String> {
        let overall = self.overall.iter().map(|(name, finding)| overall_line(name, finding));
        let omitted = self.omitted.join("; ");
        let omitted =
            (!omitted.is_empty()).then(|| format!("Not in the brief size, which has not all rows for it: {omitted}"));
        overall.chain(omitted).chain(self.doubts().into_iter().map(|(_, line)| line)).collect()
    }

    /// What fails, a line each: the claim and, where it is not across cases, the row.
    pub fn failures(&self) -> Vec<String> {
        let fails = |finding: &Finding| finding.verdict == Verdict::Fails;
        let overall = self.overall.iter().filter(|(_, finding)| fails(finding));
        let overall = overall.map(|(name, finding)| overall_line(name, finding));
        let rows = self.doubts().into_iter().filter(|(verdict, _)| *verdict == Verdict::Fails);
        overall.chain(rows.map(|(_, line)| line)).collect()
    }

    /// Every check of a case that does not hold, and errors.
    fn doubts(&self) -> Vec<(Verdict, String)> {
        let mut doubts = Vec::new();
        for row in &self.rows.rows {
            let cells = || self.rows.columns.iter().zip(row);
            let parameters = cells().filter(|(column, _)| column.role == Role::Parameter);
            let case = assignments(parameters.map(|(column, text)| (column.name.as_str(), text.clone())));
            let checks = cells().zip(cells().skip(1)).filter(|((column, _), _)| column.role == Role::Check);
            for ((column, text), (_, because)) in checks {
                // No verdict: the check does not speak of this case.
                let verdict = text.parse().unwrap_or(Verdict::Holds);
                if verdict != Verdict::Holds {
                    doubts.push((verdict, format!("{case}: {}: {text} ({because})", column.name)));
                }
            }
            let errors = cells().filter(|(column, text)| column.role == Role::Error && !text.is_empty());
            doubts.extend(errors.map(|(_, error)| (Verdict::Fails, format!("{case}: {error}"))));
        }
        doubts
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
        let plots: String = self.plots.iter().map(|plot| format!("\n![{}]({})\n", plot.title, plot.file)).collect();
        let (table, statement) = (self.markdown(false), self.statement());
        format!(
            "# {}\n\n{}\n\n{table}\n{findings}\n{statement}\n{plots}\nWritten by `{}`.\n",
            self.name,
            self.claim,
            self.command()
        )
    }
}

fn overall_line(name: &str, finding: &Finding) -> String {
    format!("{name}: {} ({})", finding.verdict, finding.because)
}

/// "k = 10, c = 1": a case in words.
pub(crate) fn assignments<'a>(parameters: impl Iterator<Item = (&'a str, String)>) -> String {
    parameters.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
