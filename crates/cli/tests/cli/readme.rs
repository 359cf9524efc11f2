//! What the README shows is what the program prints.

use super::{stderr, stdout};
use std::process::{Command, Output};

const README: &str = include_str!("../../../../README.md");

/// The shell command of the README that contains `words`, run from the root of the workspace.
fn run(words: &str) -> Output {
    let line =
        README.lines().find(|line| line.contains("monitor ") && line.contains(words)).expect("the README has it");
    let (_, arguments) = line.split_once("monitor ").expect("a monitor command");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let output = Command::new(env!("CARGO_BIN_EXE_tamis"))
        .arg("monitor")
        .args(arguments.split_whitespace())
        .current_dir(root)
        .output();
    output.expect("it starts")
}

/// The lines of the first text block after `words`.
fn block(words: &str) -> Vec<&'static str> {
    let after = README.split_once(words).expect("the README has it").1;
    let block = after.split_once("```text\n").expect("a block").1.split_once("```").expect("its end").0;
    block.lines().filter(|line| !line.is_empty()).collect()
}

fn shows(output: &Output, shown: &[&str]) {
    let printed = stdout(output) + &stderr(output);
    for line in shown {
        assert!(printed.lines().any(|printed| printed == *line), "not printed: {line}\nbut:\n{printed}");
    }
}

/// The alerts themselves are noisy: of them only the error is compared. The rest is the same in every run whose alerts
/// come where they nearly always do, and so are left out the two lines that say where.
#[test]
fn the_real_stream() {
    let words = "examples/nyc_aircraft_2013_daily.csv --column";
    let output = run(words);
    assert_eq!(output.status.code(), Some(0));
    let notes: Vec<&str> =
        block("so that the alerts can be piped on").into_iter().filter(|line| !line.contains("stopped")).collect();
    assert_eq!(notes.len(), 5);
    shows(&output, &notes);
    let plan = run("nyc_aircraft_2013_daily.csv --column");
    let above = stderr(&plan);
    let (_, above) = above.split_once("every value above ").expect("the guarantee");
    let error: i64 =
        above.split_whitespace().next().and_then(|value| value.parse::<i64>().ok()).expect("a number") - 265;
    for line in block(words) {
        assert!(line.ends_with(&format!("reached 265 (give or take {error})")), "{line}");
    }
}

#[test]
fn the_plan_for_it_and_the_counter_example() {
    for words in ["--queries 365 --rows-per-unit 336", "--queries 4282 --rows-per-unit 1"] {
        shows(&run(words), &block(words));
    }
}
