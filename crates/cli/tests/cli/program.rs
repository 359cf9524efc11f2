//! What is not of one command.

use super::{run, stderr, stdout, tamis};
use std::collections::BTreeSet;

#[test]
fn without_arguments_it_prints_help_and_code_2() {
    let output = run(&[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    assert!(stderr(&output).contains("Usage: tamis <COMMAND>"), "{}", stderr(&output));
}

#[test]
fn version_and_help_are_data() {
    let output = run(&["--version"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    assert_eq!(stdout(&output), format!("tamis {}\n", env!("CARGO_PKG_VERSION")));
    for command in [
        "",
        "plan",
        "release",
        "answer",
        "inspect",
        "monitor",
        "session",
        "session create",
        "session ask",
        "session show",
        "completions",
        "man",
    ] {
        let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let output = run(&words);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("Example"), "{}", stdout(&output));
    }
}

/// In a terminal of 80 columns too no line of an example is broken: all of them can be pasted.
#[test]
fn examples_can_be_pasted() {
    for command in
        ["release", "answer", "inspect", "monitor", "session", "session create", "session ask", "session show"]
    {
        let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = |columns: &str| stdout(&tamis().args(&words).env("COLUMNS", columns).output().unwrap());
        let (narrow, wide) = (help("80"), help("1000"));
        let lines: BTreeSet<&str> = narrow.lines().collect();
        let pasted: Vec<&str> =
            wide.lines().filter(|line| line.starts_with("  ") && line.trim_start().starts_with("tamis ")).collect();
        assert!(!pasted.is_empty(), "{wide}");
        for line in wide.lines().filter(|line| line.ends_with('\\')).chain(pasted) {
            assert!(lines.contains(line), "{command}: {line}\n{narrow}");
        }
    }
}

#[test]
fn unknown_commands_are_usage_errors() {
    assert_eq!(run(&["watch"]).status.code(), Some(2));
    let output = run(&["man", "watch"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "error: there is no command \"watch\"\nhelp: the commands are: plan, release, answer, inspect, monitor, session, completions, man, help\n"
    );
}

#[test]
fn completions_and_manual_pages_know_the_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&run(&["completions", shell]));
        assert!(
            ["sensitivity", "max-rows", "queries", "inspect", "largest-count"].iter().all(|word| script.contains(word)),
            "{shell}"
        );
    }
    assert!(stdout(&run(&["man"])).contains(".TH tamis 1"));
    let page = stdout(&run(&["man", "monitor"]));
    assert!(page.contains(".TH tamis-monitor 1") && page.contains("sensitivity"), "{page}");
    let page = stdout(&run(&["man", "session", "create"]));
    assert!(page.contains(".TH tamis-session-create 1") && page.contains("max\\-support"), "{page}");
}

#[test]
fn no_command_takes_a_seed() {
    for command in [
        &["--help"][..],
        &["monitor", "--help"],
        &["release", "--help"],
        &["answer", "--help"],
        &["session", "create", "--help"],
        &["session", "ask", "--help"],
    ] {
        assert!(!stdout(&run(command)).contains("--seed"));
    }
}
