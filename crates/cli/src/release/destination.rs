//! Where a release is written: whole, or not at all.

use crate::failure::Failure;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tamis::projection::ReleaseFile;
use tempfile::NamedTempFile;

/// A place that a file can be written to.
pub struct Destination {
    path: PathBuf,
    folder: PathBuf,
    force: bool,
}

impl Destination {
    /// Finds out before any data is read.
    pub fn check(path: &Path, force: bool) -> Result<Self, Failure> {
        let shown = path.display();
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        if path == Path::new("-") || path.file_name().is_none() || path.is_dir() {
            return Err(Failure::input(
                format_args!("--out: {shown} is not the name of a file"),
                "for example --out customers.tamis",
            ));
        }
        // What stands there may be a link to nowhere.
        if !force && path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        let destination = Self { path: path.to_owned(), folder, force };
        // Taken away again at once: only to know that one can be made.
        destination.temporary().map_err(|error| {
            let (folder, kind) = (destination.folder.display(), error.kind());
            Failure::input(
                format_args!("--out: cannot write to the folder {folder}: {kind}"),
                "give a folder that exists",
            )
        })?;
        Ok(destination)
    }

    /// Writes to a temporary file beside it, makes that durable and gives it its name. Gives the number of bytes.
    pub fn write(&self, release: &ReleaseFile) -> Result<u64, Failure> {
        let failed = |error: io::Error| {
            let path = self.path.display();
            Failure::machine(
                format_args!("cannot write {path}: {error}"),
                "nothing was released and nothing is spent; look for a full disk, and run it again",
            )
        };
        let mut temporary = self.temporary().map_err(failed)?;
        let mut writer = BufWriter::new(temporary.as_file_mut());
        release.write(&mut writer).map_err(|error| failed(io::Error::other(error)))?;
        writer.flush().map_err(failed)?;
        drop(writer);
        temporary.as_file().sync_all().map_err(failed)?;
        let bytes = temporary.as_file().metadata().map_err(failed)?.len();
        let named = if self.force { temporary.persist(&self.path) } else { temporary.persist_noclobber(&self.path) };
        named.map_err(|refused| match refused.error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.path),
            _ => failed(refused.error),
        })?;
        // So that the name is durable too. Where folders cannot be opened, it is for the system to see to that.
        if let Ok(folder) = File::open(&self.folder) {
            let _ = folder.sync_all();
        }
        Ok(bytes)
    }

    fn temporary(&self) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tamis-").suffix(".partial");
        // A release is for others to read, as far as the user's mask allows.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(&self.folder)
    }
}

fn exists(path: &Path) -> Failure {
    Failure::input(
        format_args!("--out: {} exists", path.display()),
        "give another name, or replace it with --force; a second release of the same data spends its budget again",
    )
}
