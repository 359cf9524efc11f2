//! `tamis session`: adaptive queries, answered from one file that forgets nothing.

mod ask;
mod create;
mod explain;
mod prompt;
mod report;
mod request;
mod show;
mod stored;

pub use show::describe;

use crate::failure::Failure;

const EXAMPLES: &str = "\
Example:
  tamis session create examples/adult_majority48.csv --key bits \\
      --bits examples/adult_majority48_columns.txt --unit row \\
      --max-support 256 --queries 10000 --epsilon 1 --delta 1e-9 \\
      --neighbours substitute --records 32561 --rows-per-key 1000 \\
      --state adult.session
  tamis session ask adult.session --queries examples/adult_conjunctions.jsonl
  tamis session show adult.session

A session answers queries as they come, each chosen with all earlier answers in mind. It pays for all of them at its \
beginning, and the state says what is left of what was bought.";

/// Answers queries as they come, each chosen after the answers before it, and keeps account in one file.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for an example.", arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Create(Box<create::Arguments>),
    Ask(ask::Arguments),
    Show(show::Arguments),
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Create(arguments) => create::run(*arguments),
        Command::Ask(arguments) => ask::run(arguments),
        Command::Show(arguments) => show::run(arguments),
    }
}
