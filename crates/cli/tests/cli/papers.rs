//! What the pages name exists: files, tests, and whatever else the sources define.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Words before a name that is being defined; a field or a re-export has `pub` alone.
const DEFINING: [&str; 10] = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "macro_rules", "pub"];

/// Everything that a page may name.
#[derive(Default)]
struct Names {
    files: Vec<PathBuf>,
    defined: BTreeSet<String>,
}

impl Names {
    fn of_the_workspace() -> Self {
        let mut names = Self::default();
        names.walk(Path::new(ROOT));
        names
    }

    fn walk(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).expect("a folder of the workspace") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if name.starts_with('.') || name == "target" {
                continue;
            }
            if path.is_dir() {
                self.walk(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                self.read(&fs::read_to_string(&path).expect("a source"));
            }
            // Crates are named by their folders, modules and experiments by their files.
            self.defined.insert(path.file_stem().expect("a name").to_string_lossy().into_owned());
            self.files.push(path);
        }
    }

    /// Notes what a source defines: whatever follows a defining word, and the first word of a line, which may be a variant.
    fn read(&mut self, source: &str) {
        for line in source.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            let words: Vec<&str> = identifiers(line).collect();
            let after = words.windows(2).filter(|pair| DEFINING.contains(&pair[0])).map(|pair| pair[1]);
            let first = words.first().copied().filter(|word| word.starts_with(char::is_uppercase));
            self.defined.extend(after.chain(first).map(str::to_owned));
        }
    }

    /// What a page names in backticks and is nowhere. Commands, flags and formulas are no names.
    fn missing_from(&self, page: &str) -> Vec<String> {
        named(page).filter(|name| !self.has(name)).map(str::to_owned).collect()
    }

    fn has(&self, name: &str) -> bool {
        match is_file(name) {
            true => self.files.iter().any(|file| file.ends_with(name.trim_end_matches('/'))),
            false => identifiers(name).all(|word| self.defined.contains(word)),
        }
    }
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

fn is_file(name: &str) -> bool {
    name.contains('/') || [".rs", ".md", ".toml", ".csv"].iter().any(|ending| name.ends_with(ending))
}

/// What stands between backticks and is a file, an identifier or a path of identifiers.
fn named(page: &str) -> impl Iterator<Item = &str> {
    page.split('`').skip(1).step_by(2).filter(|name| {
        let is_path = name.split("::").all(|part| identifiers(part).eq([part]));
        is_path || (is_file(name) && !name.contains(' '))
    })
}

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).expect("a page")
}

#[test]
fn what_the_pages_name_exists() {
    let names = Names::of_the_workspace();
    for (name, least) in [("PAPERS.md", 150), ("LIMITS.md", 30)] {
        let page = page(name);
        assert_eq!(names.missing_from(&page), [""; 0], "{name}");
        assert!(named(&page).count() >= least, "{name}: {}", named(&page).count());
    }
}

#[test]
fn what_was_invented_is_missed() {
    let names = Names::of_the_workspace();
    let invented = ["every_theorem_holds_of_itself", "noise/src/magic.rs", "Plan::without_noise", "svt_perfection"];
    let page = format!("`Plan::tight`, `{}`, `--flag`, `noise/tests/stability.rs`", invented.join("`, `"));
    assert_eq!(names.missing_from(&page), invented);
}

/// No line of text is there twice, as after a careless merge; rows and headings of tables are not text.
#[test]
fn nothing_is_said_twice() {
    for name in ["PAPERS.md", "LIMITS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let page = page(name);
        let mut seen = BTreeSet::new();
        let twice = page.lines().filter(|line| line.len() > 60 && !seen.insert(*line));
        assert_eq!(twice.collect::<Vec<_>>(), [""; 0], "{name}");
    }
}
