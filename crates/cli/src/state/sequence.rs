//! How far a state has come, kept outside of it: a small file for each state in the user's state directory,
//! `$XDG_STATE_HOME/tamis/` or `~/.local/state/tamis/`, named by the state's random name.
//!
//! All copies of a state have one number. A process holds a lock on it for as long as it has the state open (`flock` on
//! Unix, which the system gives back when a process dies), so that of a state and its copies one at a time is in use:
//! whoever opens the next sees what the one before has written.

use crate::folder;
use std::env;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The newest sequence number seen of one state.
pub struct Sequence {
    /// None: there is no such directory.
    path: Option<PathBuf>,
    /// Once it was opened for writing. Written in place and never renamed, so that a lock on it keeps out every copy.
    file: Option<File>,
}

/// Why a number is not this process's alone.
pub enum NotHeld {
    /// Another process has the state open, or a copy of it.
    InUse,
    /// It cannot be opened for writing, or not be locked.
    Unusable(io::Error),
}

/// What is known of a state.
#[derive(Debug)]
pub enum Seen {
    /// It is at least as new as any that was seen.
    Current,
    /// A newer one was seen.
    Newer(u64),
    /// Nothing is known of it.
    Never,
    /// What was known cannot be read.
    Unreadable(PathBuf, &'static str),
}

/// How long to wait before looking for the lock again.
const PAUSE: Duration = Duration::from_millis(5);

impl Sequence {
    pub fn of(id: u128) -> Self {
        Self { path: directory().map(|directory| directory.join(format!("{id:032x}"))), file: None }
    }

    /// Takes the number for this process alone, until it ends or this is dropped. What can be opened and not be locked
    /// is used all the same.
    pub fn hold(&mut self, patience: Duration) -> Result<(), NotHeld> {
        let file = self.open().map_err(NotHeld::Unusable)?;
        let begun = Instant::now();
        let locked = loop {
            match file.try_lock() {
                Ok(()) => break Ok(()),
                Err(TryLockError::WouldBlock) if begun.elapsed() < patience => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(NotHeld::InUse),
                Err(TryLockError::Error(error)) => break Err(NotHeld::Unusable(error)),
            }
        };
        self.file = Some(file);
        locked
    }

    /// Compares a state's own number with the newest that was seen.
    pub fn seen(&self, own: u64) -> Seen {
        let Some(path) = &self.path else { return Seen::Never };
        let text = match &self.file {
            Some(file) => text(file),
            None => File::open(path).and_then(|file| text(&file)),
        };
        match text {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Seen::Never,
            Err(_) => Seen::Unreadable(path.clone(), "cannot be read"),
            // Made, and never written.
            Ok(text) if text.is_empty() => Seen::Never,
            Ok(text) => match text.trim_end().parse::<u64>() {
                Err(_) => Seen::Unreadable(path.clone(), "is damaged"),
                Ok(seen) if seen > own => Seen::Newer(seen),
                Ok(_) => Seen::Current,
            },
        }
    }

    /// Keeps the number, on the disk before it comes back: always as many digits, so that a newer one overwrites an
    /// older one in place.
    ///
    /// # Errors
    /// If it was never opened, or the disk fails.
    pub fn write(&self, number: u64) -> io::Result<()> {
        let mut file = self.file.as_ref().ok_or_else(|| io::Error::other("it is not open"))?;
        file.rewind()?;
        file.write_all(line(number).as_bytes())?;
        file.sync_data()
    }

    /// Whether it can be written.
    pub fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Whether the number that is kept is still the one that was written last: nobody has changed it, taken the file
    /// away or put another in its place.
    pub fn is_still(&self, own: u64) -> bool {
        match (&self.path, &self.file) {
            (Some(path), Some(file)) => {
                folder::is_file_at(file, path) && text(file).is_ok_and(|text| text == line(own))
            }
            _ => true,
        }
    }

    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn open(&self) -> io::Result<File> {
        let path = self.path.as_ref().ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is set"))?;
        let directory = folder::of(path);
        folder::make(directory)?;
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        if file.metadata()?.len() == 0 {
            // Before anything is written: a number that is there has a name that is durable.
            folder::sync(directory);
        }
        Ok(file)
    }
}

/// What a number is written as.
fn line(number: u64) -> String {
    format!("{number:020}\n")
}

/// Through the file that is held, where there is one: to close another on it gives its lock back on some systems.
fn text(mut file: &File) -> io::Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.take(64).read_to_string(&mut text)?;
    Ok(text)
}

/// Where programs keep what must outlive a run, by the XDG base directory specification.
fn directory() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("tamis"))
}
