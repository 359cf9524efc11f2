//! Every experiment in one go: folders, index, report, machine, and the tables in documents.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::command::{Options, exit_code, list, print};
use crate::experiment::Size;
use crate::files::{HarnessError, machine, write_whole};
use crate::finding::Verdict;
use crate::outcome::Outcome;
use crate::report::report;
use crate::run::Runnable;
use crate::splice::splice;
use crate::table::Table;

/// Runs every experiment and writes the results: tables, plots, a report
#[derive(Parser)]
#[command(name = "reproduce")]
struct Everything {
    #[command(flatten)]
    options: Options,
    /// Puts the fresh tables between the markers `<!-- results:begin NAME -->` and `<!-- results:end NAME
    /// -->` of a document (NAME: an experiment, or `index`)
    #[arg(long, value_name = "FILE")]
    splice: Vec<PathBuf>,
}

/// The whole of the binary `reproduce`: runs all experiments, prints their tables, and writes, beside each
/// experiment's own folder, `README.md` (an index), `report.html` (which needs no network) and `machine.txt`.
/// With `--splice README.md` the tables in that document are replaced by the fresh ones. Exit codes as for
/// [`Experiment::main`](crate::Experiment::main).
pub fn reproduce(experiments: Vec<Box<dyn Runnable>>) -> ExitCode {
    let Everything { options, splice: documents } = Everything::parse();
    if options.list {
        experiments.iter().for_each(|experiment| options.print(&list(experiment.as_ref(), &options)));
        return ExitCode::SUCCESS;
    }
    options.listen();
    exit_code(run_all(&experiments, &options, &documents), &options).into()
}

/// What [`reproduce`] does, without a command line: runs all, and stops at the first that is interrupted. A
/// failing claim stops nothing.
///
/// # Errors
/// If an experiment cannot run, a file cannot be written, or a document's markers are wrong.
pub fn run_all(
    experiments: &[Box<dyn Runnable>],
    options: &Options,
    documents: &[PathBuf],
) -> Result<Vec<Outcome>, HarnessError> {
    let mut outcomes = Vec::new();
    for experiment in experiments {
        let outcome = experiment.run(options)?;
        print(&outcome, options);
        outcomes.push(outcome);
        if outcomes.last().is_some_and(Outcome::is_interrupted) {
            return Ok(outcomes);
        }
    }
    let folder = options.folder();
    write_whole(&folder.join("README.md"), &index_page(&outcomes, options))?;
    write_whole(&folder.join("report.html"), &report(&outcomes, options))?;
    write_whole(&folder.join("machine.txt"), &machine_page(&outcomes))?;
    for document in documents {
        let read =
            fs::read_to_string(document).map_err(|source| HarnessError::File { path: document.clone(), source })?;
        let fresh = splice(&document.display().to_string(), &read, |name| excerpt(name, &outcomes))?;
        if fresh != read {
            write_whole(document, &fresh)?;
        }
    }
    options.print(&format!(
        "\n## All experiments\n\n{}\n{}Report: {}\n",
        index(&outcomes).markdown(),
        summary(&outcomes),
        folder.join("report.html").display()
    ));
    Ok(outcomes)
}

/// What a document shows of an experiment: the highlighted rows and the verdict.
fn excerpt(name: &str, outcomes: &[Outcome]) -> Option<String> {
    if name == "index" {
        return Some(index(outcomes).markdown());
    }
    let outcome = outcomes.iter().find(|outcome| outcome.name == name)?;
    Some(format!("{}\n{}\n", outcome.markdown(true), outcome.statement()))
}

fn index(outcomes: &[Outcome]) -> Table {
    let row = |outcome: &Outcome| {
        vec![outcome.name.to_owned(), outcome.subject.to_owned(), outcome.tally(), outcome.verdict().to_string()]
    };
    Table::plain(&["experiment", "about", "rows and checks", "verdict"], outcomes.iter().map(row).collect())
}

/// "All claims hold." or which do, which do not and which are not decided, by name.
fn summary(outcomes: &[Outcome]) -> String {
    let of = |verdict: Verdict| {
        let names = outcomes.iter().filter(|outcome| outcome.verdict() == verdict).map(|outcome| outcome.name);
        names.collect::<Vec<_>>().join(", ")
    };
    let verdicts =
        [("Claims hold", Verdict::Holds), ("Not decided", Verdict::Inconclusive), ("A claim fails", Verdict::Fails)];
    let said = verdicts.into_iter().map(|(said, verdict)| (said, of(verdict))).filter(|(_, names)| !names.is_empty());
    said.map(|(said, names)| format!("{said}: {names}.\n")).collect()
}

fn index_page(outcomes: &[Outcome], options: &Options) -> String {
    let links: String = outcomes.iter().map(|outcome| format!("- [{0}]({0}/table.md)\n", outcome.name)).collect();
    let size = match options.size {
        Size::Brief => "These are the results of the brief size, a part of the quick one.",
        Size::Quick => {
            "These are the results of the quick size, regenerated with every change. `full` has those of the full size, of one run on one machine; `--size full` writes them."
        }
        Size::Full => "These are the results of the full size, of one run on one machine.",
    };
    format!(
        "# Results\n\nWritten by `cargo run --release --bin reproduce{}`; nothing here is written by hand. Seeded with {}: repeatable, and not private.\n\n{size}\n\n{}\n{links}\n\
         In each folder `rows.csv` has a row for every case: parameters, seed, first stream, quantiles, checks with their reasons, and what went wrong if anything did; \
         `table.md` is for reading; `*.svg` are the plots. The same seed gives the same bytes of these on any number of threads.\n\
         What belongs to one machine or one run differs, and is not kept of the quick size: `report.html` (everything on one page, without a network), `machine.txt`, \
         `manifest.json` (with the source revision) and `timings*`. From `progress.csv`, which is never kept, `--resume` goes on.\n",
        options.size.flag(),
        options.seed,
        index(outcomes).markdown(),
    )
}

fn machine_page(outcomes: &[Outcome]) -> String {
    let facts = machine().iter().map(|(name, value)| format!("{name}: {value}\n"));
    let seconds = outcomes.iter().map(|outcome| format!("{}: {} seconds\n", outcome.name, outcome.seconds()));
    facts.chain(seconds).collect()
}
