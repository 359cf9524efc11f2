//! `tamis man [COMMAND...]`.

use crate::{Cli, failure::Failure};
use clap::CommandFactory;
use std::io;

/// Prints a manual page, of the program or of one command.
#[derive(clap::Args)]
#[command(after_long_help = "Example:\n  tamis man monitor | man -l -")]
pub struct Arguments {
    /// The command, such as `monitor` or `session create`; without it, the program itself.
    command: Vec<String>,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let mut program = Cli::command();
    // Gives every command its full name, `tamis monitor`, in the synopsis.
    program.build();
    let mut command = &program;
    for name in &arguments.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            Failure::input(
                format_args!("there is no command {name:?}"),
                format_args!("the commands are: {}", names.join(", ")),
            )
        })?;
    }
    clap_mangen::Man::new(command.clone()).render(&mut io::stdout())?;
    Ok(())
}
