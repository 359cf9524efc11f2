//! The program as its user meets it.

mod answer;
mod bad_input;
mod explain;
mod monitor;
mod papers;
mod parquet;
mod plan;
mod program;
mod readme;
mod release;
mod session;
mod state;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::NamedTempFile;

/// Far from every value used with it: 0 and a million.
const HALF_A_MILLION: [&str; 14] = [
    "monitor",
    "--threshold",
    "500000",
    "--alerts",
    "2",
    "--epsilon",
    "1",
    "--sensitivity",
    "1",
    "--kind",
    "counts",
    "--neighbours",
    "add-remove",
    "--queries=1000",
];

fn tamis() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tamis"))
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn run(arguments: &[&str]) -> Output {
    tamis().args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs with `HALF_A_MILLION` and more.
fn watch(more: &[&str]) -> Output {
    run(&[&HALF_A_MILLION, more].concat())
}

fn watch_text(text: &[u8], suffix: &str, more: &[&str]) -> Output {
    let file = file(text, suffix);
    watch(&[more, &[file.path().to_str().unwrap()]].concat())
}

fn file(text: &[u8], suffix: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    file.write_all(text).unwrap();
    file
}

fn start(arguments: &[&str]) -> Child {
    tamis().args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
