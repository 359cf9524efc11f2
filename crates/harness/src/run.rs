//! Running an experiment: trials in parallel, rows in order, files at the end.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use chacha20::ChaCha12Rng;
use rand::SeedableRng;
use rayon::prelude::*;

use crate::cell::significant;
use crate::command::Options;
use crate::experiment::{Case, Experiment, Size, TrialRng};
use crate::files::{HarnessError, Progress, machine, write_whole};
use crate::finding::{Finding, Verdict};
use crate::outcome::{Outcome, assignments};
use crate::pace::Pace;
use crate::sample::Sample;
use crate::table::{Column, Role, Table};

/// What else identifies a row, and how many of its trials failed.
const RECORD: [&str; 4] = ["seed", "first stream", "trials", "failed"];

/// The summaries of a measurement, in `rows.csv`.
const SUMMARIES: [&str; 7] = ["mean", "q50", "q90", "q95", "q99", "least", "most"];

/// An experiment whatever its cases are: what [`reproduce`](crate::reproduce) takes many of.
pub trait Runnable {
    /// The name of its folder and its binary.
    fn name(&self) -> &'static str;
    /// What it shows, with the citation.
    fn claim(&self) -> &'static str;
    /// The cases of a size, and how many trials each gets.
    fn work(&self, size: Size) -> Vec<(String, u64)>;
    /// Runs it and writes its folder.
    ///
    /// # Errors
    /// If the definition contradicts itself, or a file cannot be written. A claim that fails is not an error:
    /// see [`Outcome::verdict`].
    fn run(&self, options: &Options) -> Result<Outcome, HarnessError>;
}

/// The generator of one trial: key = seed and name of the experiment, stream = number of the trial in the whole sweep.
/// Nothing else enters, so no thread can matter, and one trial can be repeated alone. Bytes of the name beyond the 24th
/// are not used.
pub fn trial_generator(seed: u64, name: &str, trial: u64) -> TrialRng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..].iter_mut().zip(name.bytes()).for_each(|(key, byte)| *key = byte);
    let mut rng = ChaCha12Rng::from_seed(key);
    rng.set_stream(trial);
    rng
}

/// One case with its place in the experiment.
struct Work<C> {
    case: C,
    trials: u64,
    first_stream: u64,
    highlight: bool,
}

impl<C: Case> Work<C> {
    /// "k = 10, c = 1".
    fn describe(&self) -> String {
        assignments(self.case.parameters().iter().map(|(name, value)| (*name, value.exact())))
    }
}

impl<C: Case> Runnable for Experiment<C> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn claim(&self) -> &'static str {
        self.claim
    }

    fn work(&self, size: Size) -> Vec<(String, u64)> {
        let (work, _) = self.numbered_work(size);
        work.iter().map(|unit| (unit.describe(), unit.trials)).collect()
    }

    fn run(&self, options: &Options) -> Result<Outcome, HarnessError> {
        // Which revision this is, before anything is written.
        machine();
        let started = Instant::now();
        let (work, left_out) = self.numbered_work(options.size);
        let folder = options.folder().join(self.name);
        let mut progress = Progress::new(folder.join("progress.csv"), self.columns(&work)?, work.len());
        let mut resumed = 0;
        if options.resume {
            let identities: Vec<Vec<String>> = work.iter().map(|unit| identity(unit, options.seed)).collect();
            resumed = progress.resume(&identities)?;
            options.say(&format!("{}: this program had finished {resumed} of {} cases", self.name, work.len()));
        }

        let left = work.iter().enumerate().filter(|(number, _)| !progress.is_finished(*number));
        let units = left.map(|(_, unit)| unit.trials * (self.cost)(&unit.case)).sum();
        let pace = Pace::new(self.name, units, options.quiet);
        let progress = Mutex::new(progress);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads.map_or(0, Into::into)).build()?;
        pool.install(|| {
            work.par_iter().enumerate().with_max_len(1).try_for_each(|(number, unit)| {
                // Cannot fail, here and below: nothing panics while it holds the lock.
                if progress.lock().expect("no holder panics").is_finished(number) {
                    return Ok(());
                }
                match self.run_case(unit, options, &pace) {
                    Some(row) => progress.lock().expect("no holder panics").finish(number, row),
                    None => Ok(()),
                }
            })
        })?;
        pace.end();
        let mut progress = progress.into_inner().expect("no holder panics");
        progress.save()?;

        let mut outcome = Outcome {
            name: self.name,
            claim: self.claim,
            rows: progress.into_table(),
            subject: self.subject,
            highlights: work.iter().map(|unit| unit.highlight).collect(),
            overall: Vec::new(),
            split: self.split,
            plots: Vec::new(),
            omitted: Vec::new(),
            cases: work.len(),
            resumed,
            elapsed: started.elapsed(),
            size: options.size,
            seed: options.seed,
        };
        if !outcome.is_interrupted() {
            self.conclude(&mut outcome, &left_out);
            self.write(&outcome, options)?;
        }
        Ok(outcome)
    }
}

impl<C: Case> Experiment<C> {
    /// What there is to do, and what this size leaves out. Streams are numbered over both, so that a row of the brief
    /// size is that of the quick one.
    fn numbered_work(&self, size: Size) -> (Vec<Work<C>>, Vec<Work<C>>) {
        let mut first_stream = 0;
        let number = |case| {
            let trials = (self.trials)(&case, size.sweep());
            let unit = Work { highlight: (self.highlight)(&case), case, trials, first_stream };
            first_stream += trials;
            unit
        };
        let all = (self.sweep)(size.sweep()).into_iter().map(number);
        all.partition(|unit| size != Size::Brief || self.is_brief(unit))
    }

    /// Whether the brief size has it.
    fn is_brief(&self, unit: &Work<C>) -> bool {
        let mut plots = self.plots.iter().filter(|plot| plot.is_in_brief());
        unit.highlight || unit.trials == 0 || plots.any(|plot| plot.may_show(&unit.case.parameters()))
    }

    /// The columns of the rows; also the check that the definition makes sense, made before hours are spent
    /// on it.
    fn columns(&self, work: &[Work<C>]) -> Result<Table, HarnessError> {
        let wrong = |problem: String| HarnessError::Definition { experiment: self.name.to_owned(), problem };
        let names = |unit: &Work<C>| unit.case.parameters().iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let first = names(work.first().ok_or_else(|| wrong("its sweep has no cases".to_owned()))?);
        if let Some(other) = work.iter().map(names).find(|other| *other != first) {
            return Err(wrong(format!(
                "one case has the parameters {first:?}, another {other:?}: all must have the same"
            )));
        }
        let mut columns = Vec::new();
        let mut add = |name: &str, role: Role, source: &str| {
            let role = if self.timings.contains(&source) { Role::Timing } else { role };
            columns.push(Column { name: name.to_owned(), role });
        };
        first.iter().for_each(|name| add(name, Role::Parameter, ""));
        RECORD.iter().for_each(|name| add(name, Role::Record, ""));
        for name in &self.measurements {
            SUMMARIES.iter().for_each(|summary| add(&format!("{name} {summary}"), Role::Summary, name));
        }
        self.columns.iter().for_each(|(name, _)| add(name, Role::Shown, name));
        for (name, _) in &self.checks {
            add(name, Role::Check, name);
            add(&format!("{name}: because"), Role::Because, name);
        }
        add("verdict", Role::Verdict, "");
        add("error", Role::Error, "");
        let table = Table { columns, rows: Vec::new() };
        let mut seen = HashSet::new();
        if let Some(twice) = table.columns.iter().find(|column| !seen.insert(&column.name)) {
            return Err(wrong(format!("two columns are called {:?}", twice.name)));
        }
        let used = self.plots.iter().flat_map(|plot| plot.columns());
        if let Some(missing) = self.split.filter(|name| table.position(name).is_none()) {
            return Err(wrong(format!("its tables are split by the column {missing:?}, which does not exist")));
        }
        match used.into_iter().find(|name| table.position(name).is_none()) {
            Some(missing) => Err(wrong(format!("a plot uses the column {missing:?}, which does not exist"))),
            None => Ok(table),
        }
    }

    /// The row of a case; nothing if the run was stopped meanwhile.
    fn run_case(&self, unit: &Work<C>, options: &Options, pace: &Pace) -> Option<Vec<String>> {
        let cost = (self.cost)(&unit.case);
        let trial = |number: u64| {
            if options.interrupt.load(Ordering::Relaxed) {
                return None;
            }
            let mut rng = trial_generator(options.seed, self.name, unit.first_stream + number);
            let observed = caught(|| (self.trial)(&unit.case, &mut rng).map_err(|error| error.to_string()))
                .and_then(|result| result);
            pace.advance(cost);
            Some(observed.and_then(|values| match values.iter().position(|value| value.is_nan()) {
                Some(place) => Err(format!("{} is not a number", self.measurements[place])),
                None => Ok(values),
            }))
        };
        // Collected in the order of the trials, so that sums do not depend on the threads.
        let results: Vec<Result<Vec<f64>, String>> =
            (0..unit.trials).into_par_iter().map(trial).collect::<Option<_>>()?;
        if options.interrupt.load(Ordering::Relaxed) {
            return None;
        }
        Some(self.row(unit, results, options.seed))
    }

    fn row(&self, unit: &Work<C>, results: Vec<Result<Vec<f64>, String>>, seed: u64) -> Vec<String> {
        let first_failure =
            results.iter().enumerate().find_map(|(trial, result)| Some((trial as u64, result.as_ref().err()?.clone())));
        let observed: Vec<Vec<f64>> = results.into_iter().flatten().collect();
        let sample = Sample::new(&self.measurements, &observed);
        let failed = unit.trials - sample.trials();
        let mut errors = Vec::new();
        if let Some((trial, error)) = first_failure {
            errors.push(format!(
                "{failed} of {} trials failed, the first with stream {}: {error}",
                unit.trials,
                unit.first_stream + trial
            ));
        }

        let mut row = identity(unit, seed);
        row.push(failed.to_string());
        for name in &self.measurements {
            let quantiles = [0.5, 0.9, 0.95, 0.99, 0.0, 1.0].map(|level| sample.quantile(name, level));
            row.extend(std::iter::once(sample.mean(name)).chain(quantiles).map(significant));
        }
        for (name, column) in &self.columns {
            row.push(caught(|| column(&unit.case, &sample).measured()).unwrap_or_else(|error| {
                errors.push(format!("column {name:?}: {error}"));
                String::new()
            }));
        }
        let mut verdict = None;
        for (name, check) in &self.checks {
            let finding = caught(|| check(&unit.case, &sample)).unwrap_or_else(|error| {
                errors.push(format!("check {name:?}: {error}"));
                None
            });
            // `None` is less than any verdict: a row without a check that applies has none.
            verdict = verdict.max(finding.as_ref().map(|finding| finding.verdict));
            let (found, because) =
                finding.map_or_else(Default::default, |finding| (finding.verdict.to_string(), finding.because));
            row.extend([found, because]);
        }
        verdict = if errors.is_empty() { verdict } else { Some(Verdict::Fails) };
        row.push(verdict.map_or_else(String::new, |verdict| verdict.to_string()));
        row.push(errors.join("; "));
        row
    }

    /// Checks across cases, and plots, as far as their rows are there.
    fn conclude(&self, outcome: &mut Outcome, left_out: &[Work<C>]) {
        for (name, check) in &self.overall_checks {
            // Which rows a check reads is not known.
            if !left_out.is_empty() {
                outcome.omitted.push((*name).to_owned());
                continue;
            }
            let mut finding = caught(|| check(&outcome.rows)).unwrap_or_else(|error| Finding::require(false, error));
            if self.timings.contains(name) {
                finding.because = "by the clock, see timings.csv".to_owned();
            }
            outcome.overall.push((name, finding));
        }
        for plot in &self.plots {
            if left_out.iter().any(|unit| plot.may_show(&unit.case.parameters())) {
                outcome.omitted.push(format!("the plot {}", plot.file(&outcome.rows)));
                continue;
            }
            outcome.plots.push(plot.draw(self.name, &outcome.rows));
        }
    }

    fn write(&self, outcome: &Outcome, options: &Options) -> Result<(), HarnessError> {
        let folder = options.folder().join(self.name);
        write_whole(&folder.join("rows.csv"), &outcome.records().csv())?;
        write_whole(&folder.join("table.md"), &outcome.page())?;
        for plot in &outcome.plots {
            write_whole(&folder.join(&plot.file), &plot.svg)?;
        }
        for (file, content) in &self.files {
            write_whole(&folder.join(file), &content(outcome.size, &outcome.rows))?;
        }
        if let Some(timings) = outcome.timings() {
            write_whole(&folder.join("timings.csv"), &timings.csv())?;
        }
        let facts: serde_json::Map<String, serde_json::Value> =
            machine().iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
        let manifest = serde_json::json!({
            "experiment": self.name,
            "size": outcome.size.to_string(),
            "seed": outcome.seed,
            "private": false,
            "seconds": significant(outcome.elapsed.as_secs_f64()),
            "cases done before": outcome.resumed,
            "threads": options.threads.map(usize::from),
            "machine": facts,
        });
        write_whole(&folder.join("manifest.json"), &format!("{manifest:#}\n"))
    }
}

/// The parameters, seed, first stream and number of trials of a case, as its row begins.
fn identity<C: Case>(unit: &Work<C>, seed: u64) -> Vec<String> {
    let parameters = unit.case.parameters().into_iter().map(|(_, value)| value.exact());
    parameters.chain([seed, unit.first_stream, unit.trials].map(|number| number.to_string())).collect()
}

/// Makes a panic an error: a failure is a row, not a gap.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // Unwind safety: what `work` borrows mutably (the trial's generator) is dropped unread after a panic.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message =
            panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        format!("panicked: {}", message.unwrap_or("without a message"))
    })
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::trial_generator;

    #[test]
    fn streams_differ_in_seed_name_and_trial_and_in_nothing_else() {
        let first = |seed, name, trial| trial_generator(seed, name, trial).next_u64();
        assert_eq!(first(1, "coin", 2), first(1, "coin", 2));
        let others = [
            first(1, "coin", 2),
            first(2, "coin", 2),
            first(1, "coins", 2),
            first(1, "coin", 3),
            first(1, "coin", 2 + (1 << 32)),
        ];
        assert!((0..5).all(|i| (0..i).all(|j| others[i] != others[j])), "{others:?}");
    }
}
