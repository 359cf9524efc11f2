//! Every experiment in one go: folders, index, report, machine, and the tables in documents.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::command::{Options, exit_code, list, print};
use crate::files::{HarnessError, machine, write_whole};
use crate::finding::Verdict;
use crate::outcome::Outcome;
use crate::run::Runnable;
use crate::splice::splice;
use crate::table::{Table, escape};

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
    write_whole(&folder.join("report.html"), &report(&outcomes))?;
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
        "\n## All experiments\n\n{}\nReport: {}\n",
        index(&outcomes).markdown(),
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
    Some(format!("{}\n{}\n", outcome.table(true).markdown(), outcome.statement()))
}

fn index(outcomes: &[Outcome]) -> Table {
    let row = |outcome: &Outcome| {
        vec![outcome.name.to_owned(), outcome.claim.to_owned(), outcome.tally(), outcome.verdict().to_string()]
    };
    Table::plain(&["experiment", "claim", "cases and checks", "verdict"], outcomes.iter().map(row).collect())
}

fn index_page(outcomes: &[Outcome], options: &Options) -> String {
    let command = format!("cargo run --release --bin reproduce{}", options.size().pick("", " -- --full"));
    let links: String = outcomes.iter().map(|outcome| format!("- [{0}]({0}/table.md)\n", outcome.name)).collect();
    let size = options.size().pick(
        "These are the results of the quick size, kept in the repository and regenerated with every change. `--full` runs the full size, into `results/full`, which is not kept.",
        "These are the results of the full size. They are not kept in the repository.",
    );
    format!(
        "# Results\n\nWritten by `{command}`; nothing here is written by hand. Seeded with {}: repeatable, and not private.\n\n{size}\n\n{}\n{links}\n\
         `report.html` shows everything on one page, without a network. In each folder `rows.csv` has a row for every case: parameters, seed, first stream, \
         quantiles, checks with their reasons, and what went wrong if anything did; `table.md` is for reading; `*.svg` are the plots.\n\
         The same seed gives the same bytes on any number of threads. What belongs to one machine or one run is kept apart and is not compared: \
         `machine.txt`, `manifest.json` (with the source revision), `timings*`, and `progress.csv`, from which `--resume` goes on.\n",
        options.seed,
        index(outcomes).markdown(),
    )
}

fn machine_page(outcomes: &[Outcome]) -> String {
    let facts = machine().into_iter().map(|(name, value)| format!("{name}: {value}\n"));
    let seconds =
        outcomes.iter().map(|outcome| format!("{}: {:.1} seconds\n", outcome.name, outcome.elapsed.as_secs_f64()));
    facts.chain(seconds).collect()
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
table{border-collapse:collapse;font-size:.875rem;margin:1rem 0}th,td{padding:.3rem .7rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}\
.number{text-align:right;font-variant-numeric:tabular-nums}.holds{color:#006b4f}.inconclusive{color:#8a5a00}.fails{color:#b00020;font-weight:bold}\
.wide{overflow-x:auto}svg{max-width:100%;height:auto}";

/// One page with every table and plot in it.
fn report(outcomes: &[Outcome]) -> String {
    let worst = outcomes.iter().map(Outcome::verdict).max().unwrap_or(Verdict::Holds);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Tamis: results</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Results: <span class=\"{worst}\">{worst}</span></h1>\n{}",
        index(outcomes).html()
    );
    for outcome in outcomes {
        page += &format!("<h2 id=\"{0}\">{0}</h2>\n<p>{1}</p>\n", outcome.name, escape(outcome.claim));
        page += &format!("<p class=\"{}\">{}</p>\n", outcome.verdict(), escape(&outcome.statement()));
        // A plot of timings belongs to one machine, and this page is the same on all.
        outcome.plots.iter().filter(|(file, _)| !file.starts_with("timings-")).for_each(|(_, svg)| page += svg);
        page += &outcome.table(false).html();
        let findings: String = outcome.findings().iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
        if !findings.is_empty() {
            page += &format!("<ul>\n{findings}</ul>\n");
        }
    }
    page + "</body>\n</html>\n"
}
