//! Files that survive a crash: what a session or a watch must not forget, in one SQLite file.
//!
//! # What is in it
//! One table, `part`: each part has a name, a position, a content and a checksum over all three. What the parts mean is
//! for `session` and `monitor` to say. A part of its own holds what kind of state this is, a random name and a sequence
//! number that each commit raises by one.
//!
//! **It is as secret as the data.** It holds the noisy threshold and what is answered from. Its mode is 0600, and so is
//! that of the journal that stands beside it while a run goes on.
//!
//! # Durable
//! [`StateFile::commit`] comes back when everything is on the disk, and only then may an answer be printed. A rollback
//! journal (`journal_mode = DELETE`) and `synchronous = EXTRA` see to it: after a commit all of the state is in the one
//! file, so that a copy of it is whole (a write-ahead log would keep the latest answers in a second file, and a copy
//! without it would be an older state), and the end of the journal, on which a commit hangs, is synchronised too.
//! Killed at any point, the next run finds the state before or after a commit: what was not committed was not shown. (A
//! state that is being made has another name, `.tamis-….partial`; if one is left behind it was never used. It holds
//! data: remove it.)
//!
//! # One writer
//! From opening to closing a run holds SQLite's exclusive lock, which the system gives back when a process dies. A
//! second process says so and waits up to ten seconds for it, then ends with an error: short runs can be started at will, and none
//! hangs. Keep states on a local disk: locks of network file systems cannot be trusted. A copy is another file, of which
//! SQLite's lock knows nothing: so a run holds a lock on the [sequence number](sequence) too, which copies share.
//!
//! # Damage
//! A file is refused if SQLite's own check finds a fault, if its version is newer than this program, or if a part does
//! not have its checksum. Each commit also names the parts it wrote, so that a file that lost its journal in the middle
//! of one (moved after a crash, without the file beside it) is not taken for whole. That tells accidents, not forgery.
//!
//! # An older copy
//! put back would spend a budget twice. So the [sequence number](sequence) is kept in the user's state directory as
//! well, and a file that is behind it is refused. It is looked at when a state is opened and again before each commit,
//! under its lock, and never becomes smaller. Whoever puts back both cannot be detected.

mod sequence;

use crate::failure::Failure;
use crate::folder;
use crate::input::Source;
use crate::output::note;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use sequence::{NotHeld, Seen, Sequence};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::fmt::{self, Display};
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Whose state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Session,
    Monitor,
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "tamis session",
            Self::Monitor => "tamis monitor",
        })
    }
}

/// Something to keep.
pub struct Part {
    name: &'static str,
    position: u64,
    content: Vec<u8>,
}

impl Part {
    pub fn bytes(name: &'static str, position: u64, content: Vec<u8>) -> Self {
        Self { name, position, content }
    }

    /// As JSON. No part holds a float that is not a number.
    pub fn json(name: &'static str, position: u64, content: &impl Serialize) -> Result<Self, Failure> {
        let content = serde_json::to_vec(content).map_err(|error| {
            Failure::machine(format_args!("the state cannot be written down: {error}"), "nothing was spent by this")
        })?;
        Ok(Self::bytes(name, position, content))
    }
}

/// What every state says of itself.
#[derive(Serialize, Deserialize)]
struct Identity {
    kind: Kind,
    id: u128,
    sequence: u64,
    /// The parts of the latest commit, with their checksums.
    latest: Vec<(String, u64, u128)>,
}

impl Identity {
    /// After one more commit.
    fn next(&self, parts: &[Part]) -> Self {
        let named = |part: &Part| {
            (part.name.to_owned(), part.position, checksum(self.id, part.name, part.position, &part.content))
        };
        Self { sequence: self.sequence + 1, latest: parts.iter().map(named).collect(), ..*self }
    }
}

/// A state that is open, and nobody else's meanwhile.
pub struct StateFile {
    path: PathBuf,
    identity: Identity,
    // Given back before the connection: who waits for the one need not wait for the other.
    sequence: Sequence,
    connection: Connection,
}

/// `Tami`, in the header of the file.
const APPLICATION: i32 = 0x5461_6d69;
/// Version of the table and of all parts in it.
const VERSION: i32 = 1;
const SCHEMA: &str = "CREATE TABLE part(name TEXT NOT NULL, position INTEGER NOT NULL, content BLOB NOT NULL, \
                      checksum BLOB NOT NULL, PRIMARY KEY(name, position)) STRICT";
/// How every SQLite file begins.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// How long another process is waited for, and how long in silence: most runs are short.
const PATIENCE: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_millis(200);

/// How a release begins.
const RELEASE: &[u8] = b"PAR1";

/// Whether a file is a state, as far as its first bytes tell.
pub fn is_state(path: &Path) -> bool {
    header(path).is_ok_and(|header| header.starts_with(MAGIC))
}

fn header(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut header = Vec::new();
    if path.is_file() {
        File::open(path)?.take(20).read_to_end(&mut header)?;
    }
    Ok(header)
}

/// Finds out, before any data is read, whether a state can be made there.
pub fn check_place(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    if path.file_name().is_none() || path == Path::new("-") || path.is_dir() {
        return Err(Failure::input(
            format_args!("--state: {shown} is not the name of a file"),
            "for example --state adult.session",
        ));
    }
    // What stands there may be a link to nowhere.
    if path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    // SQLite would take it for the new one's.
    let journal = journal_of(path);
    if journal.symlink_metadata().is_ok_and(|metadata| metadata.len() > 0) {
        return Err(Failure::input(
            format_args!("--state: {} is left of a state that was called {shown}", journal.display()),
            "it holds a part of that state's data, as secret as all of it: put the state back beside it, or remove it too",
        ));
    }
    // Taken away again at once: only to know that one can be made.
    temporary(path).map(drop).map_err(|error| {
        Failure::input(
            format_args!("--state: cannot write to the folder of {shown}: {}", error.kind()),
            "give a folder that exists",
        )
    })
}

/// Refuses to read the state itself as the input that an argument names. Besides that it is none: who opens and closes a
/// file on Unix gives back all locks that the process has on it, and SQLite would go on without.
pub fn check_input(state: &Path, argument: &str, input: &Source) -> Result<(), Failure> {
    if !folder::is_same_file(state, input.path()) {
        return Ok(());
    }
    Err(Failure::input(
        format_args!("{argument}: {input} is the state {} itself", state.display()),
        "give what is to be read from it, or `-` for standard input",
    ))
}

/// Where SQLite keeps what a commit has not finished.
fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    name.into()
}

fn exists(path: &Path) -> Failure {
    Failure::input(
        format_args!("--state: {} exists", path.display()),
        "give another name; `tamis session show` says what it is. A second session on the same data has a budget of its own, \
         and the two add up",
    )
}

/// A new file beside the path, for its owner alone.
fn temporary(path: &Path) -> std::io::Result<tempfile::TempPath> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tamis-").suffix(".partial");
    Ok(builder.tempfile_in(folder::of(path))?.into_temp_path())
}

/// Makes a state, whole or not at all.
pub fn create(path: &Path, kind: Kind, id: u128, parts: &[Part]) -> Result<(), Failure> {
    let failed = |error: &dyn Display| {
        Failure::machine(
            format_args!("cannot write {}: {error}", path.display()),
            "nothing was answered and nothing is spent; look for a full disk, and run it again",
        )
    };
    let temporary = temporary(path).map_err(|error| failed(&error))?;
    let identity = Identity { kind, id, sequence: 0, latest: Vec::new() }.next(parts);
    fill(&temporary, &identity, parts).map_err(|error| failed(&error))?;
    let durable = File::open(&temporary).and_then(|file| file.sync_all());
    durable.map_err(|error| failed(&error))?;
    // Its number first: once it has its name, another process may use it. If it cannot be kept, whoever opens it is told.
    let mut sequence = Sequence::of(id);
    let _ = sequence.hold(PATIENCE);
    let _ = sequence.write(1);
    temporary.persist_noclobber(path).map_err(|refused| match refused.error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(path),
        _ => failed(&refused.error),
    })?;
    // So that the name is durable too.
    folder::sync(folder::of(path));
    Ok(())
}

fn fill(path: &Path, identity: &Identity, parts: &[Part]) -> rusqlite::Result<()> {
    let mut connection = connect(path)?;
    // Before it has its name the file is nobody's: what a crash leaves is thrown away.
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL; PRAGMA application_id = {APPLICATION}; \
         PRAGMA user_version = {VERSION};"
    ))?;
    let transaction = connection.transaction()?;
    transaction.execute(SCHEMA, [])?;
    put_all(&transaction, identity, parts)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

/// The parts of a commit, and what it makes of the identity.
fn put_all(connection: &Connection, identity: &Identity, parts: &[Part]) -> rusqlite::Result<()> {
    for (part, (_, _, checksum)) in parts.iter().zip(&identity.latest) {
        put(connection, part.name, part.position, &part.content, *checksum)?;
    }
    // Cannot fail: plain fields.
    let content = serde_json::to_vec(identity).expect("plain fields");
    put(connection, IDENTITY, 0, &content, checksum(0, IDENTITY, 0, &content))
}

fn put(connection: &Connection, name: &str, position: u64, content: &[u8], checksum: u128) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO part(name, position, content, checksum) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, params![name, position as i64, content, &checksum.to_le_bytes()[..]])?;
    Ok(())
}

const IDENTITY: &str = "identity";

/// Of a part in its place and its file.
fn checksum(id: u128, name: &str, position: u64, content: &[u8]) -> u128 {
    let mut hasher = SipHasher24::new_with_key(b"Tamis: the state");
    hasher.write(&id.to_le_bytes());
    hasher.write(&(name.len() as u64).to_le_bytes());
    hasher.write(name.as_bytes());
    hasher.write(&position.to_le_bytes());
    hasher.write(content);
    hasher.finish128().as_u128()
}

impl StateFile {
    /// Opens the newest state there is, for this process alone.
    ///
    /// Says on standard error if another process is waited for, unless `quiet`. Prints a warning if it cannot be told whether
    /// it is the newest: to whoever runs the program, however quiet, since it is about privacy.
    pub fn open(path: &Path, quiet: bool) -> Result<Self, Failure> {
        check_file(path)?;
        let connection = lock(path, quiet).map_err(|error| unreadable(path, &error))?;
        let identity = check_contents(&connection).map_err(|fault| match fault {
            Fault::Sqlite(error) => unreadable(path, &error),
            Fault::Damaged(fault) => damaged(path, fault),
            Fault::Version(version) => Failure::input(
                format_args!("{} has version {version}, and this program knows version {VERSION}", path.display()),
                "use a newer version of tamis",
            ),
        })?;
        let sequence = watch(path, &identity, quiet)?;
        Ok(Self { path: path.to_owned(), identity, sequence, connection })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn kind(&self) -> Kind {
        self.identity.kind
    }

    /// How many commits made it.
    pub fn commits(&self) -> u64 {
        self.identity.sequence
    }

    /// Refuses the state of another command.
    pub fn expect(&self, kind: Kind) -> Result<(), Failure> {
        let own = self.kind();
        if own == kind {
            return Ok(());
        }
        Err(Failure::input(
            format_args!("{} is a state of `{own}`, and `{kind}` cannot use it", self.path.display()),
            format_args!("use `{own}`"),
        ))
    }

    /// The content of a part.
    fn bytes(&self, name: &str, position: u64) -> Result<Vec<u8>, Failure> {
        let sql = "SELECT position, content, checksum FROM part WHERE name = ?1 AND position = ?2";
        let found = self.connection.query_row(sql, params![name, position as i64], stored).optional();
        let part = found.map_err(|error| unreadable(&self.path, &error))?;
        self.checked(name, part.ok_or_else(|| self.damaged("a part is missing"))?)
    }

    /// The contents of all parts of a name, by position: from 0 on, and none missing between.
    pub fn all(&self, name: &str) -> Result<Vec<Vec<u8>>, Failure> {
        let failed = |error: rusqlite::Error| unreadable(&self.path, &error);
        let sql = "SELECT position, content, checksum FROM part WHERE name = ?1 ORDER BY position";
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let parts = statement.query_map([name], stored).map_err(failed)?;
        let mut contents = Vec::new();
        for part in parts {
            let part = part.map_err(failed)?;
            if part.position != contents.len() as u64 {
                return Err(self.damaged("a part is missing"));
            }
            contents.push(self.checked(name, part)?);
        }
        Ok(contents)
    }

    /// The same of parts that were written as JSON.
    pub fn all_json<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, Failure> {
        let read = |content: Vec<u8>| {
            serde_json::from_slice(&content).map_err(|_| self.damaged("a part is not what it should be"))
        };
        self.all(name)?.into_iter().map(read).collect()
    }

    fn checked(&self, name: &str, part: Stored) -> Result<Vec<u8>, Failure> {
        if part.checksum != checksum(self.identity.id, name, part.position, &part.content).to_le_bytes() {
            return Err(self.damaged("a part does not have its checksum"));
        }
        Ok(part.content)
    }

    /// The content of a part that was written as JSON.
    pub fn json<T: DeserializeOwned>(&self, name: &str, position: u64) -> Result<T, Failure> {
        serde_json::from_slice(&self.bytes(name, position)?)
            .map_err(|_| self.damaged("a part is not what it should be"))
    }

    /// Says that what is in it cannot be.
    pub fn damaged(&self, fault: impl Display) -> Failure {
        damaged(&self.path, fault)
    }

    /// Keeps all of it or nothing, and comes back when it is on the disk.
    pub fn commit(&mut self, parts: &[Part]) -> Result<(), Failure> {
        if !self.sequence.is_still(self.identity.sequence) {
            return Err(self.overtaken());
        }
        let next = self.identity.next(parts);
        let committed =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|transaction| {
                put_all(&transaction, &next, parts)?;
                transaction.commit()
            });
        committed.map_err(|error| not_kept(&self.path, &error))?;
        self.identity = next;
        // That it cannot be kept was said when the state was opened.
        if !self.sequence.is_kept() {
            return Ok(());
        }
        // After the state and before the answer: it is never ahead of the state, and never behind an answer.
        self.sequence.write(self.identity.sequence).map_err(|error| not_kept(&self.path, &error))
    }

    /// Somebody has changed the number, though it is locked.
    fn overtaken(&self) -> Failure {
        let number = self.sequence.path().unwrap_or(&self.path).display();
        Failure::refused(
            format_args!(
                "{number}, which says how far this state has come, was changed or removed while {} was in use",
                self.path.display()
            ),
            "nothing of this was kept or shown: put that file back, and use the newest copy of the state alone",
        )
    }
}

/// Takes a state's sequence number for this process alone, and refuses the state if it is behind.
fn watch(path: &Path, identity: &Identity, quiet: bool) -> Result<Sequence, Failure> {
    let mut sequence = Sequence::of(identity.id);
    let mut held = sequence.hold(SILENCE);
    if let Err(NotHeld::InUse) = held {
        wait(&format!("a copy of {}", path.display()), quiet);
        held = sequence.hold(PATIENCE);
    }
    if let Err(NotHeld::InUse) = held {
        return Err(Failure::input(
            format_args!(
                "another process uses a copy of the state {}, and has done so for {} seconds",
                path.display(),
                PATIENCE.as_secs()
            ),
            "a state and its copies have one budget, and one process at a time answers from it: wait for the other, or end it",
        ));
    }
    let seen = sequence.seen(identity.sequence);
    match seen {
        Seen::Current | Seen::Never => {}
        Seen::Newer(newer) => return Err(older(path, identity.sequence, newer)),
        Seen::Unreadable(file, fault) => {
            return Err(Failure::refused(
                format_args!("{}, which says how far this state has come, {fault}", file.display()),
                "remove that file only if you are sure that no newer copy of the state was ever used",
            ));
        }
    }
    match (held, seen) {
        (Err(NotHeld::Unusable(error)), _) => warn_of_copies(
            path,
            &format!(
                "the user's state directory cannot be used ({error}; set XDG_STATE_HOME to a folder that can be written)"
            ),
        ),
        (_, Seen::Never) => warn_of_copies(path, "this user has not used this state on this machine before"),
        _ => {}
    }
    if sequence.is_kept() {
        sequence.write(identity.sequence).map_err(|error| not_kept(path, &error))?;
    }
    Ok(sequence)
}

fn not_kept(path: &Path, error: &dyn Display) -> Failure {
    Failure::machine(
        format_args!("cannot keep the state in {}: {error}", path.display()),
        "all that was shown is kept; what could not be kept was not shown, and counts as used; look for a full disk, and go on",
    )
}

/// A part as it is read.
struct Stored {
    position: u64,
    content: Vec<u8>,
    checksum: Vec<u8>,
}

fn stored(row: &rusqlite::Row) -> rusqlite::Result<Stored> {
    // A negative position becomes one that no part has, and then no checksum holds.
    Ok(Stored { position: row.get::<_, i64>(0)? as u64, content: row.get(1)?, checksum: row.get(2)? })
}

/// Refuses what cannot be a state before SQLite sees it.
fn check_file(path: &Path) -> Result<(), Failure> {
    const HELP: &str = "give a file that `tamis session create` or `tamis monitor --state` made";
    let shown = path.display();
    let cannot = |error: std::io::Error| Failure::input(format_args!("cannot read {shown}: {error}"), HELP);
    let metadata = fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err(Failure::input(format_args!("cannot read {shown}: it is not a file"), HELP));
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&metadata) > 1 {
        return Err(Failure::input(
            format_args!("{shown} has a second name: after a crash under the other its journal would not be found"),
            "remove the hard link",
        ));
    }
    let header = header(path).map_err(cannot)?;
    if !header.starts_with(MAGIC) {
        let fault = Failure::input(format_args!("{shown} is not a state"), HELP);
        return Err(if header.starts_with(RELEASE) { fault.advising("`tamis answer` asks a release") } else { fault });
    }
    // Versions of writing and reading: 2 would be a write-ahead log.
    if header.get(18..20) != Some(&[1, 1]) {
        return Err(damaged(path, "its header is not what this program writes"));
    }
    Ok(())
}

/// Opens the file of that very name. SQLite would take a name that begins with `file:` for a URI, whose parameters turn
/// its locks off, and `:memory:` for no file at all; behind a folder a name is a name.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(Path::new(".").join(path), flags)
}

/// Opens a file and keeps everybody else out until the connection is closed.
fn lock(path: &Path, quiet: bool) -> rusqlite::Result<Connection> {
    let connection = connect(path)?;
    // The lock is waited for in normal mode, in which nothing is held meanwhile, and then never given back: two that
    // wait while each holds a part of it would wait for ever.
    let lock = || {
        connection.execute_batch(
            "BEGIN EXCLUSIVE; PRAGMA locking_mode = EXCLUSIVE; COMMIT; PRAGMA synchronous = EXTRA; PRAGMA journal_size_limit = 0; \
             PRAGMA fullfsync = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
        )
    };
    connection.busy_timeout(SILENCE)?;
    let mut locked = lock();
    if locked.as_ref().is_err_and(is_busy) {
        wait(&path.display().to_string(), quiet);
        connection.busy_timeout(PATIENCE)?;
        locked = lock();
    }
    connection.busy_timeout(PATIENCE)?;
    locked.map(|()| connection)
}

fn wait(what: &str, quiet: bool) {
    note(quiet, &format!("waiting for another process that uses {what}, up to {} seconds …", PATIENCE.as_secs()));
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Why contents are refused.
enum Fault {
    Sqlite(rusqlite::Error),
    Damaged(&'static str),
    Version(i32),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Everything that can be told without knowing what the parts mean.
fn check_contents(connection: &Connection) -> Result<Identity, Fault> {
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0));
    if pragma("application_id")? != APPLICATION {
        return Err(Fault::Damaged("it is no state of this program"));
    }
    match pragma("user_version")? {
        VERSION => {}
        version if version > VERSION => return Err(Fault::Version(version)),
        _ => return Err(Fault::Damaged("its version is none that ever was")),
    }
    let fine: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if fine != "ok" {
        return Err(Fault::Damaged("SQLite finds it malformed"));
    }
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let schema: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    if schema != [SCHEMA] {
        return Err(Fault::Damaged("its table is not what this program makes"));
    }
    let sql = "SELECT position, content, checksum FROM part WHERE name = ?1 AND position = 0";
    let Some(part) = connection.query_row(sql, [IDENTITY], stored).optional()? else {
        return Err(Fault::Damaged("a part is missing"));
    };
    if part.checksum != checksum(0, IDENTITY, 0, &part.content).to_le_bytes() {
        return Err(Fault::Damaged("a part does not have its checksum"));
    }
    let identity: Identity =
        serde_json::from_slice(&part.content).map_err(|_| Fault::Damaged("a part is not what it should be"))?;
    let sql = "SELECT checksum FROM part WHERE name = ?1 AND position = ?2";
    for (name, position, sum) in &identity.latest {
        let found = connection.query_row(sql, params![name, *position as i64], |row| row.get::<_, Vec<u8>>(0));
        if found.optional()?.is_none_or(|found| found != sum.to_le_bytes()) {
            return Err(Fault::Damaged(
                "it was copied or moved without the journal beside it, in the middle of a commit",
            ));
        }
    }
    Ok(identity)
}

fn damaged(path: &Path, fault: impl Display) -> Failure {
    Failure::input(
        format_args!("the state {} is damaged: {fault}", path.display()),
        "put back its newest copy; if there is none, its budget is spent, and more answers need a new one",
    )
}

fn unreadable(path: &Path, error: &rusqlite::Error) -> Failure {
    let shown = path.display();
    match error.sqlite_error_code() {
        _ if is_busy(error) => Failure::input(
            format_args!("another process uses the state {shown}, and has done so for {} seconds", PATIENCE.as_secs()),
            "one process at a time answers from a state: wait for the other, or end it",
        ),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(path, "SQLite finds it malformed"),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Failure::input(
            format_args!("the state {shown} cannot be written"),
            "every answer is kept in it before it is given: make file and folder writable for yourself",
        ),
        _ => damaged(path, error),
    }
}

fn older(path: &Path, has: u64, newer: u64) -> Failure {
    Failure::refused(
        format_args!(
            "{} is an older copy: it has come to its commit {has}, and commit {newer} of it was seen on this machine",
            path.display()
        ),
        "put back the newest copy: answers that this one does not know of were paid for, and it would spend their budget again",
    )
}

/// However quiet: it is about privacy.
fn warn_of_copies(path: &Path, why: &str) {
    note(
        false,
        &format!(
            "warning: {why}, so it cannot be told whether {} is the newest copy; an older one would spend its budget again",
            path.display()
        ),
    );
}
