//! `tamis completions SHELL`.

use crate::{Cli, failure::Failure};
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};

/// Prints a completion script for a shell.
#[derive(clap::Args)]
#[command(after_long_help = "Example:\n  tamis completions bash > /etc/bash_completion.d/tamis")]
pub struct Arguments {
    /// The shell to complete for.
    shell: Shell,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    // Into memory first: the generator panics when its writer fails, and a closed pipe is no reason to.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "tamis", &mut script);
    io::stdout().write_all(&script)?;
    Ok(())
}
