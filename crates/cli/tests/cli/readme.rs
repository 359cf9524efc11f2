//! What the README shows is what the program prints.

use super::{stderr, stdout, tamis};
use std::process::Output;

const README: &str = include_str!("../../../../README.md");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The shell command of the README that contains `words`, run from the root of the workspace.
fn run(words: &str) -> Output {
    let line =
        README.lines().find(|line| line.contains("monitor ") && line.contains(words)).expect("the README has it");
    let (_, arguments) = line.split_once("monitor ").expect("a monitor command");
    tamis().arg("monitor").args(arguments.split_whitespace()).current_dir(ROOT).output().expect("it starts")
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

/// Answers are noisy: of them only the names, the lengths and the rules are compared. The errors differ by a record or two from one
/// run to the next.
#[test]
fn a_release_of_adult_and_answers() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("adult.tamis");
    let run = |command: &str| {
        let line = README.lines().find(|line| line.contains(&format!("-- {command} "))).expect("the README has it");
        let arguments = line.split_once("-- ").expect("a command").1.replace("adult.tamis", out.to_str().unwrap());
        let output = tamis().args(arguments.split_whitespace()).current_dir(ROOT).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    run("release");
    let answers = run("answer");
    let cells = |line: &str| -> Vec<String> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    let printed: Vec<_> = answers.lines().map(cells).collect();
    for line in block("examples/adult_conjunctions.jsonl").into_iter().map(cells).skip(1) {
        let [name, keys, _, error, _, _, rule] = &line[..] else { panic!("{line:?}") };
        let same = printed.iter().find(|printed| printed.first() == Some(name)).expect("a query of the file");
        assert_eq!((&same[1], &same[6]), (keys, rule));
        let error: f64 = error.parse().unwrap();
        assert!((same[3].parse::<f64>().unwrap() - error).abs() <= 0.05 * error, "{same:?}");
    }
}

/// Of each row of the table of plans the best mechanism and its two figures.
#[test]
fn which_engine() {
    let command = README.lines().find(|line| line.starts_with("tamis plan ")).expect("the README has it");
    let (common, _) = command.split_once("--max-support").expect("sizes");
    let rows: Vec<&str> = README.lines().filter(|line| line.starts_with("| `--max-support ")).collect();
    assert_eq!(rows.len(), 7);
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [sizes, best, typical, within] = cells[..] else { panic!("{row}") };
        let output = tamis().args(common.split_whitespace().skip(1)).args(sizes.split_whitespace()).output().unwrap();
        let printed = stdout(&output);
        let (head, _) = printed.split_once("\nasked ").expect("a plan");
        assert!(head.starts_with(&format!("best      {best}")), "{row}\n{head}");
        for (words, figure) in [("typically off by ", typical), (" within ", within)] {
            assert_eq!(head.contains(&format!("{words}{figure} records")), !figure.is_empty(), "{row}\n{head}");
        }
    }
}
