//! From a file of a million e-mail addresses to a release: the whole of `tamis release` as a process, beside a process that
//! only reads the file.
//!
//! A process is timed by the CPU time of all its threads and measured by its peak memory, both as the operating system
//! accounts for a child that has ended. That account is of all children together, so a child of our own stands between, which
//! has but the one. See `benches/README.md`.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tamis_benches::median;

const ROWS: usize = 1_000_000;

/// What is said to `tamis release` besides the file.
const COMMON: &str =
    "--key email --unit row --epsilon 1 --neighbours add-remove --records 1000000 --quiet --force --yes";

/// Each with its goal: CPU seconds at most.
const RELEASES: [(&str, &str, Option<f64>); 4] = [
    ("default: T = 2^20, s = 1", "", Some(4.0)),
    ("T = 2^16, s = 8", "--width 65536 --nonzeros 8", None),
    ("T = 2^16, dense", "--width 65536 --signs dense", Some(10.0)),
    ("heavy keys apart", "--delta 1e-9 --heavy on", None),
];

/// What a process took.
#[derive(Clone, Copy)]
struct Usage {
    seconds: f64,
    bytes: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["read", file] => read(file),
        ["account", program, ref arguments @ ..] => account(program, arguments),
        _ => measure(if arguments.iter().any(|argument| argument == "--bench") { 11 } else { 1 }),
    }
}

/// Reads the fields of the file, and does nothing with them.
fn read(file: &str) {
    let mut reader = csv::Reader::from_path(file).expect("the file that was written");
    let (mut record, mut length) = (csv::ByteRecord::new(), 0);
    while reader.read_byte_record(&mut record).expect("a file that can be read") {
        length += record[0].len();
    }
    std::hint::black_box(length);
}

/// Runs a program to its end and prints what it took: CPU microseconds and peak kilobytes.
fn account(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).status().expect("a program");
    assert!(status.success(), "{program} {arguments:?}");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("a system that accounts");
    println!("{} {}", (usage.user_time() + usage.system_time()).num_microseconds(), usage.max_rss());
}

/// What a program takes.
fn usage(program: &Path, arguments: &[&str]) -> Usage {
    let ourselves = std::env::current_exe().expect("a path");
    let output = Command::new(ourselves).arg("account").arg(program).args(arguments).output().expect("ourselves");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("two numbers");
    let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    Usage { seconds: numbers[0] / 1e6, bytes: numbers[1] * 1024.0 }
}

fn measure(rounds: usize) {
    let (tamis, folder) = (program(), Path::new(env!("CARGO_TARGET_TMPDIR")));
    let (file, out) = (folder.join("customers.csv"), folder.join("customers.tamis"));
    write_table(&file);
    let (file, out) = (file.to_str().expect("text"), out.to_str().expect("text"));
    let ourselves = std::env::current_exe().expect("a path");
    let mut taken: Vec<Vec<Usage>> = vec![Vec::new(); 1 + RELEASES.len()];
    for _ in 0..rounds {
        taken[0].push(usage(&ourselves, &["read", file]));
        for ((_, more, _), taken) in RELEASES.iter().zip(&mut taken[1..]) {
            let words = COMMON.split(' ').chain(more.split_whitespace());
            let arguments: Vec<&str> = ["release", file, "--out", out].into_iter().chain(words).collect();
            taken.push(usage(&tamis, &arguments));
        }
    }
    print(file, &taken);
    fs::remove_file(out).expect("the release that was written");
}

fn print(file: &str, taken: &[Vec<Usage>]) {
    let size = fs::metadata(file).expect("the file that was written").len() as f64;
    println!("\nFrom a file to a release: {ROWS} e-mail addresses in CSV, {:.0} MB\n", size / 1e6);
    println!("| process | CPU seconds | times reading | peak memory over file | goal |");
    println!("| ------- | ----------: | ------------: | --------------------: | ---- |");
    let names = [("reading, by the csv crate", None)].into_iter().chain(RELEASES.map(|(name, _, goal)| (name, goal)));
    for ((name, goal), own) in names.zip(taken) {
        let seconds = median(own.iter().map(|usage| usage.seconds));
        let ratio = median(own.iter().zip(&taken[0]).map(|(usage, reading)| usage.seconds / reading.seconds));
        let memory = median(own.iter().map(|usage| usage.bytes / size));
        let verdict = goal.map_or(String::new(), |goal| {
            let reached = seconds <= goal && memory <= 3.0;
            format!("≤ {goal} s, memory ≤ 3: {}", if reached { "reached" } else { "NOT reached" })
        });
        println!("| {name} | {seconds:.3} | {ratio:.1} | {memory:.2} | {verdict} |");
    }
}

/// The command line, compiled as this bench is.
fn program() -> PathBuf {
    let built = Command::new(env!("CARGO")).args(["build", "--release", "--package", "tamis-cli"]).status();
    assert!(built.is_ok_and(|status| status.success()), "tamis must compile");
    // `…/release/deps/file_to_release-…` runs now.
    let ourselves = std::env::current_exe().expect("a path");
    let target = ourselves.ancestors().nth(3).expect("a folder for targets");
    target.join("release").join("tamis")
}

fn write_table(path: &Path) {
    let mut file = BufWriter::new(File::create(path).expect("a folder that can be written to"));
    writeln!(file, "email").expect("room");
    (1..=ROWS).for_each(|number| writeln!(file, "customer{number:07}@example.org").expect("room"));
    file.flush().expect("room");
}
