//! `tamis`: private answers from the command line.
//!
//! One file a command. Data goes to standard output and everything else to standard error. Exit codes: 0 done,
//! 1 refused on privacy grounds, 2 usage or bad input, 3 internal error. This is the only crate that takes its
//! generator from the operating system, and no command takes a seed.

mod answer;
mod arguments;
mod completions;
mod failure;
mod folder;
mod input;
mod inspect;
mod man;
mod monitor;
mod output;
mod plan;
mod progress;
mod questions;
mod records;
mod release;
mod session;
mod state;

use clap::{Parser, Subcommand};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Differentially private answers to sparse queries.
#[derive(Parser)]
#[command(
    name = "tamis",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    color = clap::ColorChoice::Never,
    after_help = "Exit codes: 0 done, 1 refused on privacy grounds, 2 usage or bad input, 3 internal error.\n\n\
                  Example:\n  tamis monitor --help"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Plan(Box<plan::Arguments>),
    Release(Box<release::Arguments>),
    Answer(answer::Arguments),
    Inspect(inspect::Arguments),
    Monitor(Box<monitor::Arguments>),
    Session(session::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

/// Where the last panic was. Its message is never printed: it may quote data.
static PANICKED_AT: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        *PANICKED_AT.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        let place = PANICKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
        // If standard error is closed as well, the exit code has to do.
        let _ = writeln!(
            io::stderr(),
            "error: internal error{place}\nhelp: this is a fault of tamis, please report it; take the whole budget as spent"
        );
        ExitCode::from(3)
    })
}

fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version go to standard output with code 0, mistakes to standard error with code 2.
            let _ = usage.print();
            return ExitCode::from(if usage.exit_code() == 0 { 0 } else { 2 });
        }
    };
    let outcome = match cli.command {
        Command::Plan(arguments) => plan::run(*arguments),
        Command::Release(arguments) => release::run(*arguments),
        Command::Answer(arguments) => answer::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Monitor(arguments) => monitor::run(*arguments),
        Command::Session(arguments) => session::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
    };
    outcome.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}
