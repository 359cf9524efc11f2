//! Files by their names: the folder of one that is made, and whether two are one.

#[cfg(unix)]
use std::fs::Metadata;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Where a path is.
pub fn of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Makes the names in it durable. Where folders cannot be opened, it is for the system to see to that.
pub fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Makes a folder, and those that lead to it, and their names durable.
pub fn make(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(folder)?;
    missing.into_iter().for_each(|folder| sync(of(folder)));
    Ok(())
}

/// Whether two paths lead to one file.
#[cfg(unix)]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).ok().map(|metadata| identity(&metadata));
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

#[cfg(not(unix))]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path);
    real(one).is_ok_and(|one| real(other).is_ok_and(|other| one == other))
}

/// Whether a path leads to the file that was opened.
#[cfg(unix)]
pub fn is_file_at(file: &File, path: &Path) -> bool {
    file.metadata().is_ok_and(|file| fs::metadata(path).is_ok_and(|there| identity(&file) == identity(&there)))
}

/// Whether a path leads to a file: here files have no identity that could be asked for.
#[cfg(not(unix))]
pub fn is_file_at(_: &File, path: &Path) -> bool {
    path.is_file()
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}
