//! How far a state has come, kept outside of it: a small file for each state in the user's state directory,
//! `$XDG_STATE_HOME/tamis/` or `~/.local/state/tamis/`, named by the state's random name.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;

/// The newest sequence number seen of one state.
pub struct Sequence {
    /// None: there is no such directory.
    path: Option<PathBuf>,
    /// Once it was written.
    file: Option<File>,
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

impl Sequence {
    pub fn of(id: u128) -> Self {
        Self { path: directory().map(|directory| directory.join(format!("{id:032x}"))), file: None }
    }

    /// Compares a state's own number with the newest that was seen.
    pub fn read(&self, own: u64) -> Seen {
        let Some(path) = &self.path else { return Seen::Never };
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(64).read_to_string(&mut text));
        match (read, text.trim_end().parse::<u64>()) {
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Seen::Never,
            // Made, and never written.
            (Ok(0), _) => Seen::Never,
            (Err(_), _) => Seen::Unreadable(path.clone(), "cannot be read"),
            (Ok(_), Err(_)) => Seen::Unreadable(path.clone(), "is damaged"),
            (Ok(_), Ok(seen)) if seen > own => Seen::Newer(seen),
            _ => Seen::Current,
        }
    }

    /// Keeps the number, on the disk before it comes back: always as many digits, so that a newer one overwrites an
    /// older one in place.
    pub fn write(&mut self, number: u64) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(self.open()?),
        };
        file.rewind()?;
        file.write_all(format!("{number:020}\n").as_bytes())?;
        file.sync_data()
    }

    /// Whether it could be written before.
    pub fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    fn open(&self) -> io::Result<File> {
        let path = self.path.as_ref().ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is set"))?;
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }
}

/// Where programs keep what must outlive a run, by the XDG base directory specification.
fn directory() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("tamis"))
}
