//! What the program says and returns when it cannot go on.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why a command ended early. Messages never hold a cell of the data: an operator may paste them anywhere.
#[derive(Debug)]
pub enum Failure {
    /// The mechanism has no sound noise for what was asked.
    Refused(Complaint),
    /// The arguments or the data are not usable.
    Input(Complaint),
    /// The machine failed us: a file could not be written.
    Machine(Complaint),
    /// The machine failed us: standard output could not be written. What is to be done depends on what was spent by then.
    Output { error: io::Error, help: &'static str },
    /// Whoever read our output has gone, as in `tamis … | head -1`. Nobody is left to tell.
    ReaderGone,
}

/// What was wrong, and what would be right.
#[derive(Debug, PartialEq, Eq)]
pub struct Complaint {
    message: String,
    help: String,
}

impl Complaint {
    fn new(message: impl fmt::Display, help: impl fmt::Display) -> Self {
        Self { message: message.to_string(), help: help.to_string() }
    }
}

/// As it is printed.
impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\nhelp: {}", self.message, self.help)
    }
}

impl Failure {
    pub fn refused(message: impl fmt::Display, help: impl fmt::Display) -> Self {
        Self::Refused(Complaint::new(message, help))
    }

    pub fn input(message: impl fmt::Display, help: impl fmt::Display) -> Self {
        Self::Input(Complaint::new(message, help))
    }

    pub fn machine(message: impl fmt::Display, help: impl fmt::Display) -> Self {
        Self::Machine(Complaint::new(message, help))
    }

    /// The same, with more advice.
    pub fn advising(mut self, more: &str) -> Self {
        if let Self::Refused(complaint) | Self::Input(complaint) | Self::Machine(complaint) = &mut self {
            complaint.help = format!("{}; {more}", complaint.help);
        }
        self
    }

    /// The same, where the message alone does not say which of several inputs it is about.
    pub fn about(mut self, source: impl fmt::Display) -> Self {
        if let Self::Refused(complaint) | Self::Input(complaint) | Self::Machine(complaint) = &mut self {
            complaint.message.insert_str(0, &format!("{source}, "));
        }
        self
    }

    /// The same of output that could not be written after a budget was spent.
    pub fn having_spent(self, help: &'static str) -> Self {
        match self {
            Self::Output { error, .. } => Self::Output { error, help },
            failure => failure,
        }
    }

    /// What was wrong, without the advice.
    pub fn message(&self) -> String {
        match self {
            Self::Refused(complaint) | Self::Input(complaint) | Self::Machine(complaint) => complaint.message.clone(),
            Self::Output { error, .. } => format!("cannot write to standard output: {error}"),
            Self::ReaderGone => String::new(),
        }
    }

    /// Prints the failure on standard error, unless nobody is to be told, and gives the exit code.
    pub fn report(&self) -> ExitCode {
        let (help, code) = match self {
            Self::Refused(complaint) => (complaint.help.as_str(), 1),
            Self::Input(complaint) => (complaint.help.as_str(), 2),
            Self::Machine(complaint) => (complaint.help.as_str(), 3),
            Self::Output { help, .. } => (*help, 3),
            Self::ReaderGone => return ExitCode::SUCCESS,
        };
        // If standard error is closed as well, the exit code has to do.
        let _ = writeln!(io::stderr(), "error: {}\nhelp: {help}", self.message());
        ExitCode::from(code)
    }
}

/// For writing to standard output only: errors of reading are made where the file's name is known.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Output { error, help: "look for a full disk, and run it again: printing spends nothing" },
        }
    }
}
