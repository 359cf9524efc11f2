//! `tamis man [COMMAND]`.

use crate::{Cli, failure::Failure};
use clap::CommandFactory;
use std::io;

/// Prints a manual page, of the program or of one command.
#[derive(clap::Args)]
#[command(after_long_help = "Example:\n  tamis man monitor | man -l -")]
pub struct Arguments {
    /// The command; without it, the program itself.
    command: Option<String>,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let mut program = Cli::command();
    // Gives every command its full name, `tamis monitor`, in the synopsis.
    program.build();
    let command = match &arguments.command {
        None => program,
        Some(name) => program.find_subcommand(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
            Failure::input(
                format_args!("there is no command {name:?}"),
                format_args!("the commands are: {}", names.join(", ")),
            )
        })?,
    };
    clap_mangen::Man::new(command).render(&mut io::stdout())?;
    Ok(())
}
