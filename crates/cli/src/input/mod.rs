//! Readers of tables and lines: rows in order, with their place for error messages.
//!
//! One policy, chosen before reading: **a malformed row is never skipped**. It ends the run with exit code 2 and
//! a message that names the place and never the cell. Nothing is spent then: `monitor` reads a regular file through once to
//! check it before anything is answered, and `release` draws no noise before the last row.
//!
//! | input | answer |
//! | --- | --- |
//! | UTF-8 byte order mark | skipped at the start of the input, part of the text elsewhere |
//! | CR LF line ends | read as line ends |
//! | CR without LF, NUL, invalid UTF-8 | refused, naming the line |
//! | blank line | allowed at the end of the input, refused before a further line |
//! | line beyond 1 MiB (a line of queries: 256 MiB) | refused |
//! | row with more or fewer fields than the header | refused |
//! | quote not closed on its line (a line break inside a field too) | refused: one line is one row |
//! | column name twice in the header | refused if that name is asked for |
//! | empty input, or a header only | refused; an empty list is a list |
//!
//! | a number | answer |
//! | --- | --- |
//! | `0x10`, `1_000`, `1,000`, `1/2`, `NaN`, `inf`, other alphabets' digits | not a decimal number: refused |
//! | `1e400`, any value beyond ±2⁶⁰ grid units, a count of records beyond 2⁴⁰ | refused |
//! | blanks around a number | ignored |
//! | a floating-point number in Parquet | the exact binary fraction; a count beyond 2^24 (32 bits) or 2^53 (64) is an error |
//!
//! | a key, or what names a unit | answer |
//! | --- | --- |
//! | blanks, letter case, Unicode forms, look-alikes | kept as they are: other bytes are another key |
//! | an empty cell, null in Parquet | the empty key; as a unit refused, since its rows are not one unit's |
//! | whole numbers, decimals, dates in Parquet | the text that a CSV file would hold |
//! | floating-point numbers, times, booleans, lists in Parquet | refused |
//! | packed booleans | exactly as many hexadecimal digits as the width needs, else refused |

mod csv;
mod lines;
mod parquet;
mod table;

pub use csv::Fields;
pub use lines::{Lines, not_text};
pub use table::{Role, Table};

use crate::failure::Failure;
use crate::output::quoted;
use crate::progress::Progress;
use crate::state::is_state;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tamis::noise::{Rational, parse_rational};

/// One row as read: nothing is interpreted yet.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub place: Place,
    pub label: Option<String>,
    pub cell: String,
    /// Of a column of floating-point numbers: up to here it holds every whole number, beyond only some.
    pub whole_up_to: Option<u64>,
}

/// Where a row stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Of a text, counted from 1 with the header.
    Line(u64),
    /// Of a table without lines, counted from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Row(number) => write!(f, "row {number}"),
        }
    }
}

/// Which columns to read. Without a column the input is one number a line and has no header.
#[derive(Debug)]
pub struct Columns {
    pub value: Option<String>,
    pub label: Option<String>,
}

/// What to read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Stdin,
    File(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A source that was opened, by what it is.
enum Opened {
    /// A pipe or the like.
    Stream(Box<dyn BufRead>),
    /// A regular file of text.
    Plain(File),
    /// A regular file in the Parquet format.
    Parquet(File),
}

/// What is wanted where rows are.
const TABLE: &str = "a table as CSV or Parquet";

/// How much of a file is read at a time, in bytes.
const AHEAD: usize = 1 << 16;

pub type Rows = Box<dyn Iterator<Item = Result<Row, Failure>>>;

impl Source {
    /// What an argument names: a file, or standard input as `-`.
    pub fn of(path: &Path) -> Self {
        if path == Path::new("-") { Self::Stdin } else { Self::File(path.to_owned()) }
    }

    /// Where it is found without being opened.
    pub fn path(&self) -> &Path {
        match self {
            Self::Stdin => Path::new("/dev/stdin"),
            Self::File(path) => path,
        }
    }

    /// Whether the source can be read twice: once to check it, once to answer.
    pub fn is_regular_file(&self) -> bool {
        match self {
            Self::Stdin => false,
            Self::File(path) => path.is_file(),
        }
    }

    /// Starts reading. With `follow`, a file that ends is waited upon for more.
    pub fn open(&self, columns: &Columns, follow: bool) -> Result<Rows, Failure> {
        match self.begin(TABLE)? {
            Opened::Stream(text) => self.rows(text, columns),
            Opened::Plain(file) if follow => self.rows(Box::new(BufReader::new(Following { file, read: 0 })), columns),
            Opened::Plain(file) => self.rows(Box::new(BufReader::new(file)), columns),
            Opened::Parquet(file) => parquet::rows(file, self, columns, follow),
        }
    }

    /// Opens a table and finds its columns, before any row is read.
    pub fn table(&self, columns: &[(&str, Role)], progress: &Progress) -> Result<Table, Failure> {
        match self.begin(TABLE)? {
            Opened::Stream(text) => Table::of_text(Box::new(progress.counting(text)), self, columns),
            Opened::Plain(file) => {
                progress.expect(file.metadata().map_or(0, |metadata| metadata.len()));
                Table::of_text(Box::new(BufReader::with_capacity(AHEAD, progress.counting(file))), self, columns)
            }
            Opened::Parquet(file) => Table::of_parquet(file, self, columns),
        }
    }

    /// The lines of a text.
    pub fn lines(&self) -> Result<Lines, Failure> {
        let text: Box<dyn BufRead> = match self.begin("text, one key or query a line")? {
            Opened::Stream(text) => text,
            Opened::Plain(file) => Box::new(BufReader::with_capacity(AHEAD, file)),
            Opened::Parquet(_) => {
                return Err(Failure::input(
                    format_args!("{self} is a Parquet file, and lines of text are wanted"),
                    "export it as text",
                ));
            }
        };
        Ok(Lines::new(text, self.clone()))
    }

    /// Opens the source and finds out what it is, which should be `wanted`.
    fn begin(&self, wanted: &str) -> Result<Opened, Failure> {
        let unreadable = |source: &Self, error: &io::Error| {
            Failure::input(
                format_args!("cannot read {source}: {error}"),
                format_args!("give a file that can be read ({wanted}), or `-` for standard input"),
            )
        };
        match self {
            Self::Stdin => {
                let mut stdin = io::stdin().lock();
                let start = stdin.fill_buf().map_err(|error| unreadable(self, &error))?;
                if start.starts_with(parquet::MAGIC) {
                    return Err(Failure::input(
                        "a Parquet file cannot be read from standard input: its index is at the end",
                        "give the file by its path",
                    ));
                }
                Ok(Opened::Stream(Box::new(stdin)))
            }
            Self::File(path) => {
                let mut file = File::open(path).map_err(|error| unreadable(self, &error))?;
                if path.is_dir() {
                    return Err(unreadable(self, &io::ErrorKind::IsADirectory.into()));
                }
                if !path.is_file() {
                    return Ok(Opened::Stream(Box::new(BufReader::new(file))));
                }
                if is_state(path) {
                    return Err(Failure::input(
                        format_args!("{self} is not {wanted}: it is a state, or another SQLite file"),
                        "`tamis inspect` says what a state is, and `tamis session ask` asks that of a session",
                    ));
                }
                if has_parquet_name(path) || starts_as_parquet(&mut file).map_err(|error| unreadable(self, &error))? {
                    return Ok(Opened::Parquet(file));
                }
                Ok(Opened::Plain(file))
            }
        }
    }

    fn rows(&self, text: Box<dyn BufRead>, columns: &Columns) -> Result<Rows, Failure> {
        let lines = Lines::new(text, self.clone());
        Ok(match &columns.value {
            None => Box::new(lines::numbers(lines)),
            Some(value) => Box::new(csv::rows(lines, value, columns.label.as_deref())?),
        })
    }
}

fn has_parquet_name(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("parquet") || extension.eq_ignore_ascii_case("pq"))
}

fn starts_as_parquet(file: &mut File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.by_ref().take(parquet::MAGIC.len() as u64).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start == parquet::MAGIC)
}

/// A decimal number, exactly. A fraction is a parameter's privilege: in data, `3/8` is more likely a date.
pub fn decimal(text: &str) -> Option<Rational> {
    if text.contains('/') { None } else { parse_rational(text) }
}

fn unreadable(source: &Source, error: &io::Error) -> Failure {
    Failure::input(
        format_args!("cannot read {source}: {error}"),
        "give a file that can be read to its end, or `-` for standard input",
    )
}

/// Finds a column by its exact name, or says what may have been meant.
fn position(
    names: &[String],
    wanted: &str,
    source: &Source,
    suggestion: fn(&[String], &str) -> String,
) -> Result<usize, Failure> {
    let mut places = names.iter().enumerate().filter(|(_, name)| *name == wanted);
    match (places.next(), places.next()) {
        (Some((place, _)), None) => Ok(place),
        (Some(_), Some(_)) => Err(Failure::input(
            format_args!("the column {wanted:?} occurs more than once in {source}"),
            "rename one of them in the header",
        )),
        (None, _) => {
            Err(Failure::input(format_args!("there is no column {wanted:?} in {source}"), suggestion(names, wanted)))
        }
    }
}

/// At most this many names are listed: a table may have thousands.
const LISTED: usize = 30;

/// Of a text. No name is printed: the first row of a file without a header is data, and a person may be called much like a
/// column.
fn suggestion_by_place(names: &[String], wanted: &str) -> String {
    if let [only] = names
        && only.contains([';', '\t'])
    {
        return "its first line has no comma; only commas separate columns here, not semicolons or tabs".to_owned();
    }
    let Some(nearest) = nearest(names, wanted) else {
        return format!(
            "none of its {} columns has a name like that (a CSV file needs a first line with the names of its columns)",
            names.len()
        );
    };
    // Cannot fail: it is one of them.
    let place = 1 + names.iter().position(|name| name == nearest).expect("a name");
    let alike = if nearest.trim().to_lowercase() == wanted.trim().to_lowercase() {
        "that name, but for letter case or blanks"
    } else {
        "a name much like it"
    };
    format!("column {place} of {} has {alike}: look at the first line", names.len())
}

/// Of a Parquet file, whose names are no data.
fn suggestion_by_name(names: &[String], wanted: &str) -> String {
    let Some(nearest) = nearest(names, wanted) else {
        return format!("none of its {} columns has a name like that", names.len());
    };
    let listed = quoted(&names[..names.len().min(LISTED)]);
    let more = if names.len() > LISTED { format!(" and {} more", names.len() - LISTED) } else { String::new() };
    format!("did you mean {nearest:?}? the columns are {listed}{more}")
}

/// The name that is most like the wanted one, if one is.
pub fn nearest<'a>(names: &'a [String], wanted: &str) -> Option<&'a String> {
    let closeness = |name: &String| {
        let (name, wanted) = (name.to_lowercase(), wanted.to_lowercase());
        // The one for a name cut short or begun right, the other for a slip of the fingers in a short name.
        strsim::jaro_winkler(&name, &wanted).max(strsim::normalized_damerau_levenshtein(&name, &wanted) + 0.1)
    };
    names.iter().max_by(|a, b| closeness(a).total_cmp(&closeness(b))).filter(|name| closeness(name) > 0.7)
}

/// A file read as it grows: it never ends.
struct Following {
    file: File,
    read: u64,
}

/// How long to wait before looking for more.
const PATIENCE: Duration = Duration::from_millis(100);

impl Read for Following {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.file.read(buffer)?;
            if read > 0 {
                self.read += read as u64;
                return Ok(read);
            }
            if self.file.metadata()?.len() < self.read {
                return Err(io::Error::other("the file became shorter while it was followed"));
            }
            std::thread::sleep(PATIENCE);
        }
    }
}
