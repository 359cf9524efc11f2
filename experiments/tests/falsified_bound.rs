//! A bound that is false makes `reproduce` exit with 1 and name it: experiment, claim and row. The true one does not.
//!
//! Started again by itself, this program is `reproduce`, with a real experiment to which one bound was added: that so many
//! standard deviations are exceeded by 5 % of the answers at most.

use std::process::{Command, ExitCode};

use tamis_experiments::projection_independence;
use tamis_harness::{Case, Experiment, Finding, Options, reproduce};

/// Tells the program which bound to add.
const DEVIATIONS: &str = "FALSIFIED_BOUND_DEVIATIONS";
/// Of the row that the bound speaks of.
const ROW: &str = "signs = dense, keys = random, r = 4";

fn main() -> ExitCode {
    if let Ok(deviations) = std::env::var(DEVIATIONS) {
        // Cannot fail: written below.
        return reproduce(vec![Box::new(with_bound(deviations.parse().expect("a number")))]);
    }
    let (code, errors) = run("1.96");
    assert_eq!((code, errors.as_str()), (Some(0), ""), "with the true bound nothing fails");
    let (code, errors) = run("1");
    assert_eq!(code, Some(1), "{errors}");
    let expected = [
        "error: projection_independence: a claim fails (",
        ", 1 fail)\n",
        &format!("  {ROW}: at most 5 % beyond: fails ("),
        " above 1: a rate of at least ",
    ];
    expected.into_iter().for_each(|part| assert!(errors.contains(part), "{part:?} is missing in {errors}"));
    assert_eq!(errors.lines().count(), 2, "nothing else fails: {errors}");
    println!("a false bound is named: {errors}");
    ExitCode::SUCCESS
}

fn with_bound(deviations: f64) -> Experiment<projection_independence::Case> {
    // Fewer than the quick size has: of its own claims some are not decided then, but none fails.
    projection_independence::experiment().trials(|_, _| 2_000).check("at most 5 % beyond", move |case, sample| {
        let row: Vec<String> =
            case.parameters().iter().map(|(name, value)| format!("{name} = {}", value.exact())).collect();
        (row.join(", ") == ROW).then(|| Finding::rarely_above(sample.values("deviations"), deviations, 0.05))
    })
}

/// The exit code of the program with this bound, and what it says on standard error.
fn run(deviations: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .env(DEVIATIONS, deviations)
        .args(["--quiet", "--out"])
        .arg(folder.path())
        .output()
        .expect("it starts");
    let report = Options { out: folder.path().into(), ..Options::default() }.folder().join("report.html");
    assert!(report.exists(), "the report is written, whatever the verdict");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}
