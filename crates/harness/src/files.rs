//! What is written, and how: whole files or nothing.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use crate::table::Table;

/// Why an experiment could not be run or its results not be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// The definition of the experiment contradicts itself.
    #[error("experiment {experiment} cannot run: {problem}")]
    Definition {
        /// Its name.
        experiment: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// The threads could not be started.
    #[error("the threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The markers in a document do not pair up, or name no experiment.
    #[error("{document}, line {line}: {problem}")]
    Splice {
        /// The document.
        document: String,
        /// The line of the marker, from 1.
        line: usize,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

/// Writes a file beside its final place and moves it there, so that a reader finds the old content or the new
/// one and never a part.
pub(crate) fn write_whole(path: &Path, content: &str) -> Result<(), HarnessError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}", std::process::id()));
    let written = fs::create_dir_all(folder).and_then(|()| {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    written.map_err(|source| {
        let _ = fs::remove_file(&temporary); // the first error is the one to report
        HarnessError::File { path: path.to_owned(), source }
    })
}

/// The rows finished so far, in `progress.csv`: every column, and which build computed them.
pub(crate) struct Progress {
    path: PathBuf,
    build: String,
    table: Table,
    finished: Vec<Option<Row>>,
    saved: Instant,
}

/// The cells of a row, as text.
type Row = Vec<String>;

/// The fewest seconds between two savings: a sweep of thousands of short cases should not spend its time writing.
const SAVE_EVERY: Duration = Duration::from_secs(1);

impl Progress {
    /// Starts with nothing finished out of `cases`; `columns` is a table without rows.
    pub(crate) fn new(path: PathBuf, columns: Table, cases: usize) -> Self {
        Self { path, build: build_fingerprint(), table: columns, finished: vec![None; cases], saved: Instant::now() }
    }

    /// Takes over the rows that this program finished before, of the cases that `identities` describe: the
    /// first cells of a row, one a case. Returns how many.
    pub(crate) fn resume(&mut self, identities: &[Row]) -> Result<usize, HarnessError> {
        let length = identities.first().map_or(0, Vec::len);
        let rows = self.read()?.into_iter();
        let mut earlier: HashMap<Row, Row> = rows.map(|row| (row[..length].to_vec(), row)).collect();
        for (identity, slot) in identities.iter().zip(&mut self.finished) {
            *slot = earlier.remove(identity);
        }
        Ok(self.finished.iter().flatten().count())
    }

    /// The rows in the file: none that another build, or other columns, have written.
    fn read(&self) -> Result<Vec<Row>, HarnessError> {
        let text = match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|source| HarnessError::File { path: self.path.clone(), source })?,
        };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        if !reader.headers().is_ok_and(|headings| headings.iter().eq(self.headings())) {
            return Ok(Vec::new());
        }
        let rows = reader.records().flatten().filter(|record| record[0] == self.build);
        Ok(rows.map(|record| record.iter().skip(1).map(str::to_owned).collect()).collect())
    }

    fn headings(&self) -> Vec<&str> {
        let names = self.table.columns.iter().map(|column| column.name.as_str());
        std::iter::once("build").chain(names).collect()
    }

    pub(crate) fn is_finished(&self, case: usize) -> bool {
        self.finished[case].is_some()
    }

    /// Keeps the row of a case; writes the file if the last writing is a while ago.
    pub(crate) fn finish(&mut self, case: usize, row: Row) -> Result<(), HarnessError> {
        self.finished[case] = Some(row);
        if self.saved.elapsed() < SAVE_EVERY { Ok(()) } else { self.save() }
    }

    /// Writes the file.
    pub(crate) fn save(&mut self) -> Result<(), HarnessError> {
        self.saved = Instant::now();
        let build = std::slice::from_ref(&self.build);
        let rows = self.finished.iter().flatten().map(|row| [build, row].concat()).collect();
        write_whole(&self.path, &Table::plain(&self.headings(), rows).csv())
    }

    /// The table, with the rows that are finished.
    pub(crate) fn into_table(self) -> Table {
        Table { rows: self.finished.into_iter().flatten().collect(), ..self.table }
    }
}

/// Identifies the running program by its own bytes: rows that other code computed must not be mixed in,
/// committed or not.
fn build_fingerprint() -> String {
    static FINGERPRINT: OnceLock<String> = OnceLock::new();
    let compute = || match std::env::current_exe().and_then(fs::read) {
        Ok(bytes) => {
            let mut hasher = DefaultHasher::new();
            hasher.write(&bytes);
            format!("{:016x}", hasher.finish())
        }
        Err(_) => "unknown".to_owned(),
    };
    FINGERPRINT.get_or_init(compute).clone()
}

/// The source revision, "-dirty" if files of it differ (but for results), "unknown" outside a repository.
fn revision() -> String {
    let git = |arguments: &str| match Command::new("git").args(arguments.split(' ')).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        _ => None,
    };
    let commit = git("rev-parse HEAD");
    let changed = git("--no-optional-locks status --porcelain --untracked-files=no -- :(top) :(top,exclude)results");
    match (commit, changed) {
        (Some(commit), Some(changed)) if changed.is_empty() => commit,
        (Some(commit), Some(_)) => commit + "-dirty",
        _ => "unknown".to_owned(),
    }
}

/// The machine and the program: names and values, as they were when first asked for.
pub(crate) fn machine() -> &'static [(&'static str, String)] {
    static MACHINE: LazyLock<Vec<(&str, String)>> = LazyLock::new(find_machine);
    &MACHINE
}

fn find_machine() -> Vec<(&'static str, String)> {
    let unknown = || "unknown".to_owned();
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let threads = std::thread::available_parallelism().map(|count| count.to_string());
    let build = if cfg!(debug_assertions) { "with debug assertions" } else { "release" };
    vec![
        ("processor", processor.unwrap_or_else(unknown)),
        ("threads", threads.unwrap_or_else(|_| unknown())),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("build", build.to_owned()),
        ("revision", revision()),
    ]
}
