//! The folder of a file that is made.

use std::fs::File;
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
