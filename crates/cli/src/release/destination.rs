//! Where a release is written: whole, or not at all.

use crate::failure::Failure;
use crate::folder;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tamis::projection::{FileError, ReleaseFile};
use tempfile::NamedTempFile;

/// A place that a file can be written to.
pub struct Destination {
    path: PathBuf,
    folder: PathBuf,
    /// Of the file that is replaced, or else of any new one.
    permissions: Permissions,
    force: bool,
}

impl Destination {
    /// Finds out before any data is read. `inputs` are not to be overwritten.
    pub fn check(path: &Path, force: bool, inputs: &[&Path]) -> Result<Self, Failure> {
        let shown = path.display();
        let folder = folder::of(path).to_owned();
        if path == Path::new("-") || path.file_name().is_none() || path.is_dir() {
            return Err(Failure::input(
                format_args!("--out: {shown} is not the name of a file"),
                "for example --out customers.tamis",
            ));
        }
        if inputs.iter().any(|input| folder::is_same_file(input, path)) {
            return Err(Failure::input(
                format_args!("--out: {shown} is a file that this release is made from"),
                "give another name: what is private stays where it is",
            ));
        }
        // What stands there may be a link to nowhere.
        let present = path.symlink_metadata().ok();
        if let Some(present) = &present {
            if !force {
                return Err(exists(path));
            }
            if !present.is_file() {
                return Err(Failure::input(
                    format_args!("--out: {shown} is a link, a pipe or a device"),
                    "give the name of an ordinary file: only those are replaced by --force",
                ));
            }
            if !is_release(path) {
                return Err(Failure::input(
                    format_args!("--out: {shown} is no release, and --force replaces releases only"),
                    "give another name, or remove the file yourself",
                ));
            }
        }
        if !folder.is_dir() {
            return Err(Failure::input(
                format_args!("--out: there is no folder {folder:?}"),
                "make it before, or give a folder that exists",
            ));
        }
        // Empty, and taken away again at once: to know that one can be made, and how readable it is.
        let probe = probe(&folder).map_err(|error| {
            let (folder, kind) = (folder.display(), error.kind());
            Failure::input(
                format_args!("--out: cannot write to the folder {folder}: {kind}"),
                "give a folder that can be written to",
            )
        })?;
        let permissions = present.map_or(probe, |present| present.permissions());
        let destination = Self { path: path.to_owned(), folder, permissions, force };
        destination.left_over().map_or(Ok(destination), |left| Err(interrupted(&left)))
    }

    /// What an earlier run for this file left behind when it was killed.
    fn left_over(&self) -> Option<PathBuf> {
        let beginning = self.beginning();
        let is_left = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&beginning) && name.ends_with(ENDING)
        };
        fs::read_dir(&self.folder).ok()?.flatten().map(|entry| entry.path()).find(is_left)
    }

    /// Of the names of temporary files.
    fn beginning(&self) -> String {
        format!(".{}-", self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Writes to a temporary file beside it, makes that durable and gives it its name. Gives the number of bytes.
    pub fn write(&self, release: &ReleaseFile) -> Result<u64, Failure> {
        let mut place = PathBuf::new();
        self.filled(release, &mut place).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.path),
            // What failed may be what would take it away.
            _ if place.exists() => interrupted(&place),
            _ => Failure::machine(
                format_args!("cannot write {}: {error}", self.path.display()),
                "nothing was released and nothing is spent; look for a full disk, and run it again",
            ),
        })
    }

    /// Only its owner can read the file before it has its name. `place` is where it is until then.
    fn filled(&self, release: &ReleaseFile, place: &mut PathBuf) -> io::Result<u64> {
        let mut temporary = self.temporary()?;
        temporary.path().clone_into(place);
        let mut writer = BufWriter::new(temporary.as_file_mut());
        release.write(&mut writer).map_err(io::Error::other)?;
        writer.flush()?;
        drop(writer);
        temporary.as_file().sync_all()?;
        let bytes = temporary.as_file().metadata()?.len();
        let named = if self.force { temporary.persist(&self.path) } else { temporary.persist_noclobber(&self.path) };
        let file = named.map_err(|refused| refused.error)?;
        // It is released. That others can read it, and that the name is durable, is as well as the system can do.
        let _ = file.set_permissions(self.permissions.clone());
        folder::sync(&self.folder);
        Ok(bytes)
    }

    /// Not for others to read.
    fn temporary(&self) -> io::Result<NamedTempFile> {
        tempfile::Builder::new().prefix(&self.beginning()).suffix(ENDING).tempfile_in(&self.folder)
    }
}

/// What the names of temporary files end with.
const ENDING: &str = ".partial";

/// How readable a new file is: a release is for others to read, as far as the user's mask allows.
fn probe(folder: &Path) -> io::Result<Permissions> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tamis-").suffix(".probe");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    Ok(builder.tempfile_in(folder)?.as_file().metadata()?.permissions())
}

fn exists(path: &Path) -> Failure {
    let help = if is_release(path) {
        "give another name, or replace it with --force; a second release of the same data spends its budget again"
    } else {
        "give another name"
    };
    Failure::input(format_args!("--out: {} exists", path.display()), help)
}

/// Of whatever version, and damaged or not.
fn is_release(path: &Path) -> bool {
    use FileError::{CutShort, Foreign, Io, NotParquet};
    let read = File::open(path).map_err(Io).and_then(ReleaseFile::read);
    path.is_file() && !matches!(read, Err(Io(_) | NotParquet | CutShort | Foreign))
}

fn interrupted(path: &Path) -> Failure {
    Failure::refused(
        format_args!("{} was left by a run that was interrupted: it may be a whole release", path.display()),
        "delete it if nobody has seen it; else its budget is spent, and a second release spends it again",
    )
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_not_finished_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination::check(&folder.path().join("out.tamis"), false, &[]).unwrap();
        let temporary = destination.temporary().unwrap();
        assert_eq!(temporary.as_file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(destination.left_over().as_deref(), Some(temporary.path()));
    }
}
