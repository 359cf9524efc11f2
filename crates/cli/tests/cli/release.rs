//! `tamis release` as its user meets it. What its bytes are is tested beside its code, with a generator for tests.

use super::{example, file, run, start, stderr, stdout, tamis};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

/// Arguments that are right, for one of them to be made wrong.
const RIGHT: [(&str, &str); 7] = [
    ("key", "email"),
    ("unit", "row"),
    ("epsilon", "1"),
    ("delta", "0"),
    ("neighbours", "add-remove"),
    ("records", "1e6"),
    ("support", "10000"),
];

fn flags(changes: &[(&str, &str)]) -> Vec<String> {
    let mut arguments: Vec<(&str, &str)> = RIGHT.to_vec();
    for change in changes {
        arguments.retain(|(name, _)| *name != change.0);
        arguments.push(*change);
    }
    // An empty value leaves the argument out.
    arguments.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("--{name}={value}")).collect()
}

/// Runs `--explain`, which reads no data, with some arguments replaced or added.
fn explain(changes: &[(&str, &str)]) -> Output {
    tamis().args(["release", "--explain"]).args(flags(changes)).stdin(Stdio::null()).output().unwrap()
}

/// A folder with a table in it.
struct Place {
    folder: TempDir,
    table: PathBuf,
}

impl Place {
    fn new(text: &[u8]) -> Self {
        let folder = TempDir::new().unwrap();
        let table = folder.path().join("table.csv");
        fs::write(&table, text).unwrap();
        Self { folder, table }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out.tamis")
    }

    /// Releases the table, by default as 1024 rows.
    fn release(&self, changes: &[(&str, &str)], more: &[&str]) -> Output {
        let out = format!("--out={}", self.out().display());
        let mut command = tamis();
        command
            .arg("release")
            .arg(&self.table)
            .arg(out)
            .args(flags(&[&[("width", "1024")], changes].concat()))
            .args(more);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Without its own path.
    fn clean(&self, text: &str) -> String {
        text.replace(self.folder.path().to_str().unwrap(), "FOLDER")
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn refused(&self, page: &mut String, title: &str, output: &Output) {
        let message = self.clean(&stderr(output));
        assert_eq!(stdout(output), "", "{title}");
        assert!(!message.contains("panicked") && !message.contains("internal error"), "{title}: {message}");
        assert_eq!(self.names(), ["table.csv"], "{title}: {message}");
        // The plan stands before most of them.
        let error = &message[message.find("error: ").unwrap_or_else(|| panic!("{title}: {message}"))..];
        writeln!(page, "{title} -> {}\n{error}", output.status.code().unwrap()).unwrap();
    }
}

fn emails(number: usize) -> Vec<u8> {
    let mut text = "email\n".to_owned();
    (0..number).for_each(|i| writeln!(text, "customer{i}@example.org").unwrap());
    text.into_bytes()
}

/// The newcomer's path: a table, a release, a list, an answer. The list holds 500 of the table's 2000 keys. Ten standard errors
/// are further than a normal error gets in 10²³ runs; its tails here are a little longer, and a false alarm is still less
/// likely than 10⁻⁹.
#[test]
fn from_a_table_to_an_answer() {
    let place = Place::new(&emails(2000));
    let output = place.release(&[("records", "2000"), ("support", "1000"), ("width", "4096")], &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""), "{}", stderr(&output));
    let list = place.folder.path().join("audience.txt");
    let keys: Vec<String> = (1500..2500).map(|i| format!("customer{i}@example.org")).collect();
    fs::write(&list, keys.join("\n")).unwrap();
    let output = run(&["answer", place.out().to_str().unwrap(), "--list", list.to_str().unwrap(), "--format", "json"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let answer: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((answer["name"].as_str(), answer["keys"].as_u64()), (Some("audience"), Some(1000)));
    let number = |field: &str| answer[field].as_f64().unwrap();
    let error = number("standard_error");
    // √(1000·(2000/4096 + 1.84)), a little more for what is in the list: 48.5. It is estimated from 4096 noisy sums, whose squares
    // have a relative standard deviation of at most √5, so that it has one of 1.7 %: these are six and more of them.
    assert!((43.0..54.0).contains(&error), "{error}");
    assert!((number("value") - 500.0).abs() < 10.0 * error, "{answer}");
    assert!(number("lower") < number("value") && number("value") < number("upper"));
}

#[test]
fn what_is_said_to_the_curator() {
    let place = Place::new(b"user,place\nann,a\nann,b\nann,c\nbob,a\n");
    let units = [("key", "place"), ("unit", "user"), ("max-rows", "2"), ("records", "1000"), ("support", "1000")];
    let output = place.release(&units, &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""), "{}", stderr(&output));
    // The size depends on the noise.
    let bytes = fs::metadata(place.out()).unwrap().len().to_string();
    insta::assert_snapshot!(place.clean(&stderr(&output)).replace(&bytes, "BYTES"));
    assert_eq!(place.names(), ["out.tamis", "table.csv"]);

    let output = place.release(&units, &["--force", "--quiet"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn plans() {
    let mut page = String::new();
    for (title, changes) in [
        ("the default", &[][..]),
        ("a file of 4 kB", &[("file-bytes", "4000")]),
        ("many answers at once", &[("queries", "1000000"), ("beta", "0.01")]),
        ("the paper's", &[("signs", "dense"), ("noise", "gaussian"), ("delta", "1e-9"), ("width", "65536")]),
        ("an error wanted", &[("error", "300")]),
        ("heavy keys", &[("delta", "1e-9"), ("rows-per-key", "1000"), ("count", "n"), ("records", "350000000")]),
        ("heavy keys without delta", &[("rows-per-key", "1000"), ("records", "30000"), ("support", "256")]),
        ("two records a key", &[("rows-per-key", "2"), ("support", "")]),
        ("lists of one key", &[("support", "1"), ("delta", "1e-9")]),
        ("persons", &[("unit", "person"), ("max-rows", "3"), ("neighbours", "substitute")]),
        ("no records", &[("records", ""), ("width", "65536")]),
        ("nothing worth", &[("support", "100"), ("epsilon", "0.1")]),
        ("no privacy to speak of", &[("epsilon", "100")]),
        ("a delta for many records", &[("delta", "0.0009"), ("heavy", "on")]),
        ("a number that looks exact", &[("records", "1000300")]),
    ] {
        let output = explain(changes);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{title}");
        writeln!(page, "--- {title}\n{}", stdout(&output)).unwrap();
    }
    insta::assert_snapshot!(page);
}

#[test]
fn plans_for_machines() {
    let json = explain(&[("format", "json")]);
    let plan: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!(plan["schema"], "tamis.release/1");
    assert_eq!((&plan["epsilon"], &plan["delta"], &plan["written"]), (&"1".into(), &"0".into(), &().into()));
    assert_eq!((&plan["width"], &plan["nonzeros"]), (&(1 << 20).into(), &1.into()));
    let error = plan["standard_error"].as_f64().unwrap();
    assert!((160.0..175.0).contains(&error), "{error}");
    assert!((plan["error"].as_f64().unwrap() / error - 1.96).abs() < 1e-3);
    assert_eq!((&plan["rule"], &plan["support"]), (&"normal".into(), &10_000.into()));
    assert!(plan["file_bytes"].is_u64() && plan["assumed"].is_string(), "{plan}");

    let csv = stdout(&explain(&[("format", "csv")]));
    let rows: Vec<Vec<String>> = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(csv.as_bytes())
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect();
    assert_eq!(rows.len(), 2);
    let names: Vec<&String> = plan.as_object().unwrap().keys().collect();
    assert!(names.iter().all(|name| rows[0].contains(name)) && rows[0].len() == names.len());

    let place = Place::new(&emails(10));
    let output = place.release(&[("support", "1000000")], &["--quiet", "--format=json"]);
    let written: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(written["written"].as_str(), place.out().to_str());
}

#[test]
fn parameters() {
    let mut page = String::new();
    let two_to_63 = (1u64 << 63).to_string();
    let nobody = Place::new(b"");
    let mut describe = |title: &str, output: &Output| nobody.refused(&mut page, title, output);
    for (name, value) in [
        ("key", ","),
        ("key", " "),
        ("key", "a,a"),
        ("key", "\"a"),
        ("epsilon", "0"),
        ("epsilon", "-1"),
        ("epsilon", "NaN"),
        ("epsilon", "1e-320"),
        ("epsilon", "5%"),
        ("delta", "1"),
        ("delta", "1%"),
        ("neighbours", "both"),
        ("records", "0"),
        ("records", "1.5"),
        ("records", "-1"),
        ("records", &two_to_63),
        ("rows-per-key", "0"),
        ("rows-per-key", "0.5"),
        ("rows-per-key", "NaN"),
        ("support", "0"),
        ("queries", "0"),
        ("beta", "0"),
        ("queries", "queries.jsonl"),
        ("beta", "1"),
        ("beta", "5%"),
        ("error", "-1"),
        ("error", "NaN"),
        ("error", "0.001"),
        ("error", "10"),
        ("file-bytes", "0"),
        ("max-rows", "0"),
        ("max-rows", "1000001"),
        ("max-rows", &two_to_63),
        ("signs", "full"),
        ("width", "0"),
        ("width", "1000"),
        ("width", &two_to_63),
        ("nonzeros", "0"),
        ("nonzeros", &two_to_63),
        ("independence", "2"),
        ("independence", "257"),
        ("noise", "gaussian"),
        ("heavy", "on"),
        ("bits", "nowhere/columns.txt"),
        ("level", "0.9"),
        ("seed", "1"),
    ] {
        describe(&format!("--{name}={value}"), &explain(&[(name, value)]));
    }
    for missing in ["unit", "epsilon", "neighbours", "records"] {
        describe(&format!("no --{missing}"), &explain(&[(missing, "")]));
    }
    describe("a unit without a bound", &explain(&[("unit", "person")]));
    describe("a unit that may be row", &explain(&[("unit", "Rows")]));
    describe("counts beside persons", &explain(&[("unit", "person"), ("max-rows", "1"), ("count", "n")]));
    describe("counts of the key", &explain(&[("count", "email")]));
    describe("nonzeros of dense signs", &explain(&[("signs", "dense"), ("nonzeros", "2")]));
    describe("noise beyond every scale", &explain(&[("epsilon", "1e-12"), ("max-rows", "1000000")]));
    let columns = file(b"a\n\nb\n", ".txt");
    let path = columns.path().to_str().unwrap();
    let mut blank = explain(&[("bits", path)]);
    blank.stderr = stderr(&blank).replace(path, "COLUMNS").into_bytes();
    describe("a column without a name", &blank);
    insta::assert_snapshot!(page.replace(nobody.folder.path().to_str().unwrap(), "FOLDER"));
}

/// A file that is not there, or a column, is refused before a plan is printed.
#[test]
fn what_cannot_be_read_is_refused_at_once() {
    let place = Place::new(b"email\nann\n");
    let unlike = place.release(&[("key", "user")], &[]);
    let row = place.release(&[("unit", "Row"), ("max-rows", "1")], &[]);
    fs::remove_file(&place.table).unwrap();
    let missing = place.release(&[], &[]);
    for (output, message) in
        [(unlike, "there is no column \"user\""), (row, "there is no column \"Row\""), (missing, "cannot read")]
    {
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.starts_with("error: ") && text.contains(message), "{text}");
        assert_eq!(text.contains("did you mean --unit row"), message.contains("Row"), "{text}");
    }
}

#[test]
fn bits_are_one_column() {
    let columns = file(b"a\nb\n", ".txt");
    let output = explain(&[("bits", columns.path().to_str().unwrap()), ("key", "x,y")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("packed booleans are one column, got 2"), "{}", stderr(&output));
}

/// Tables that are refused, for the key `k` and the count `n`: nothing is written and no cell is quoted.
const TABLES: [(&str, &[u8]); 34] = [
    ("empty", b""),
    ("blank lines only", b"\n\n"),
    ("header only", b"k,n\n"),
    ("ragged: one field less", b"k,n\nmo,1\ntu\n"),
    ("ragged: one field more", b"k,n\nmo,1\ntu,2,3\n"),
    ("duplicate header", b"k,n,n\nmo,1,2\n"),
    ("quote not closed", b"k,n\n\"mo,1\ntu,2\n"),
    ("line break inside quotes", b"k,n\n\"mo\nnday\",1\n"),
    ("text after a quote", b"k,n\n\"topsec\"ret,1\n"),
    ("CR only", b"k,n\rmo,1\rtu,2\r"),
    ("NUL", b"k,n\nmo,1\ntu,\x002\n"),
    ("invalid UTF-8", b"k,n\nmo,1\n\xff,2\n"),
    ("UTF-16", b"\xff\xfek\0,\0n\0\n\0"),
    ("compressed", b"\x1f\x8b\x08\0\0\0\0\0\x02\x03"),
    ("blank line between", b"k,n\nmo,1\n\ntu,2\n"),
    ("semicolons", b"k;n\nmo;1\n"),
    ("no header", b"topsecret,1\nmo,1\n"),
    ("empty count", b"k,n\nmo,\n"),
    ("not a number", b"k,n\nmo,topsecret\n"),
    ("0x10", b"k,n\nmo,0x10\n"),
    ("1_000", b"k,n\nmo,1_000\n"),
    ("1,000", b"k,n\nmo,\"1,000\"\n"),
    ("NaN", b"k,n\nmo,NaN\n"),
    ("inf", b"k,n\nmo,inf\n"),
    ("a date", b"k,n\nmo,3/8\n"),
    ("a fraction", b"k,n\nmo,2.5\n"),
    ("negative", b"k,n\nmo,-2\n"),
    ("1e400", b"k,n\nmo,1e400\n"),
    ("1e19", b"k,n\nmo,1e19\n"),
    ("beyond 2^40", b"k,n\nmo,1099511627777\n"),
    ("ten thousand digits", TEN_THOUSAND_DIGITS),
    ("other digits", "k,n\nmo,１２\n".as_bytes()),
    ("no such column", b"key,n\nmo,1\n"),
    ("a column called row", b"k,n,row\nmo,1,2\n"),
];

const TEN_THOUSAND_DIGITS: &[u8] = &{
    let mut text = [b'7'; 10_008];
    (text[0], text[1], text[2], text[3]) = (b'k', b',', b'n', b'\n');
    (text[4], text[5], text[6], text[10_007]) = (b'm', b'o', b',', b'\n');
    text
};

#[test]
fn malformed_tables() {
    let mut page = String::new();
    for (title, text) in TABLES {
        let place = Place::new(text);
        let counted = [("key", "k"), ("count", "n"), ("support", "1000000")];
        let output = place.release(&counted, &[]);
        let mut described = String::new();
        place.refused(&mut described, title, &output);
        for cell in ["topsecret", "3/8", "2.5", "0x10", "777"] {
            assert!(!described.lines().nth(1).unwrap().contains(cell), "a message echoes a cell: {described}");
        }
        page.push_str(&described);

        // The same on standard input.
        let out = format!("--out={}", place.out().display());
        let flags = flags(&counted);
        let words: Vec<&str> = ["release", "-", &out, "--width=1024", "--quiet"]
            .into_iter()
            .chain(flags.iter().map(String::as_str))
            .collect();
        let mut child = start(&words);
        // It may end before it has read all.
        let _ = child.stdin.take().unwrap().write_all(text);
        let piped = child.wait_with_output().unwrap();
        assert_eq!(piped.status.code(), output.status.code(), "{title}");
        let table = place.clean(place.table.to_str().unwrap());
        let piped = stderr(&piped).replace("standard input", &table);
        assert!(described.ends_with(&format!("{piped}\n")), "{title}: {piped}\nbut: {described}");
    }
    insta::assert_snapshot!(page);
}

#[test]
fn malformed_keys_and_units() {
    let mut page = String::new();
    let columns = file(b"a\nb\nc\nd\ne\n", ".txt");
    let bits = [("key", "k"), ("bits", columns.path().to_str().unwrap()), ("support", "1000000")];
    for cell in ["", "1", "001", "0x1f", "+1", "topsecret", "20", "\u{ff11}\u{ff11}"] {
        let place = Place::new(format!("k,x\n1f,1\n{cell},1\n").as_bytes());
        let mut described = String::new();
        place.refused(&mut described, "packed booleans", &place.release(&bits, &[]));
        assert!(described.contains("line 3: the cell in column \"k\": packed bits of width 5"), "{described}");
        assert!(!described.contains("topsecret") && !described.contains("0x1f"), "{described}");
        page = described;
    }
    let place = Place::new(b"k,user\na,ann\nb,\n");
    let units = [("key", "k"), ("unit", "user"), ("max-rows", "1"), ("support", "1000000")];
    place.refused(&mut page, "a row without a unit", &place.release(&units, &[]));
    // It has no header: its first row is somebody.
    let place = Place::new(b"Emily,Brown,1961-03-01,HIV positive\n");
    place.refused(&mut page, "a row for a header", &place.release(&[("support", "1000000")], &[]));
    assert!(!page.contains("Emily") && !page.contains("Brown"), "{page}");
    let place = Place::new(b"first_name,mail\na,b\n");
    place.refused(&mut page, "a slip", &place.release(&[("key", "first_nmae"), ("support", "1000000")], &[]));
    place.refused(
        &mut page,
        "a slip in the unit",
        &place.release(&[("key", "mail"), ("unit", "firstname"), ("max-rows", "1"), ("support", "1000000")], &[]),
    );
    insta::assert_snapshot!(page);
}

/// What is odd, but has one meaning.
#[test]
fn harmless_oddities_are_read() {
    for text in [
        &b"\xef\xbb\xbfemail\r\nann\r\n\"bo\"\"b\"\r\n\r\n"[..],
        b"email,x\n,1\n  ,2\n",
        b"email\nann",
        b"email\n\xe2\x80\xae\xf0\x9f\x98\x80\n",
    ] {
        let output = Place::new(text).release(&[("support", "1000000")], &["--quiet"]);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{text:?}");
    }
    // A name with a comma, in quotes; and a key of a megabyte.
    let mut text = b"\"a,b\",c\n".to_vec();
    text.resize(1 << 20, b'x');
    text.extend(b",1\n");
    let output = Place::new(&text).release(&[("key", "\"a,b\",c"), ("support", "1000000")], &["--quiet"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn what_is_worth_nothing_is_refused_before_it_is_spent() {
    let place = Place::new(&emails(10));
    let worthless = [("support", "2"), ("records", "1000")];
    let mut page = String::new();
    place.refused(&mut page, "a list of two keys", &place.release(&worthless, &[]));
    assert!(page.contains("-> 1"), "{page}");
    insta::assert_snapshot!(page);
    assert_eq!(place.release(&worthless, &["--yes"]).status.code(), Some(0));
}

#[test]
fn where_it_cannot_be_written_nothing_is_read() {
    let place = Place::new(b"not a table at all: it is not read");
    let long = [("support", "1000000")];
    let mut page = String::new();
    let folder = place.folder.path().to_str().unwrap();
    let nowhere = format!("--out={folder}/nowhere/out.tamis");
    let itself = format!("--out={folder}");
    let above = format!("--out={folder}/..");
    let in_a_file = format!("--out={folder}/table.csv/out.tamis");
    for out in ["--out=-", "--out=", &nowhere, &itself, &above, &in_a_file] {
        let mut command = tamis();
        command.arg("release").arg(&place.table).args([out, "--width=1024"]).args(flags(&long));
        let output = command.stdin(Stdio::null()).output().unwrap();
        place.refused(&mut page, &place.clean(out), &output);
        assert_eq!(output.status.code(), Some(2), "{out}");
    }
    fs::write(place.out(), b"an older release").unwrap();
    let output = place.release(&long, &[]);
    assert_eq!((output.status.code(), place.names().len()), (Some(2), 2));
    page += &place.clean(&stderr(&output));
    assert_eq!(fs::read(place.out()).unwrap(), b"an older release");
    insta::assert_snapshot!(page);
}

#[test]
fn another_file_is_replaced_only_by_force() {
    let place = Place::new(&emails(10));
    let long = [("support", "1000000")];
    fs::write(place.out(), b"my notes").unwrap();
    let output = place.release(&long, &["--force"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is no release, and --force replaces releases only"), "{}", stderr(&output));
    assert!(!stderr(&place.release(&long, &[])).contains("--force"));
    assert_eq!(fs::read(place.out()).unwrap(), b"my notes");
    fs::remove_file(place.out()).unwrap();
    assert_eq!(place.release(&long, &[]).status.code(), Some(0));
    // Without --force it is not, and that there is --force is said.
    assert!(stderr(&place.release(&long, &[])).contains("replace it with --force"));
    let first = fs::read(place.out()).unwrap();
    assert_eq!(place.release(&long, &["--force"]).status.code(), Some(0));
    assert_ne!(fs::read(place.out()).unwrap(), first, "the same noise twice");
    assert_eq!(place.names(), ["out.tamis", "table.csv"]);
}

/// What is private is not replaced, however forced; nor is what is no file.
#[cfg(unix)]
#[test]
fn neither_inputs_nor_devices_are_replaced() {
    let place = Place::new(&emails(10));
    let columns = place.folder.path().join("columns.txt");
    fs::write(&columns, "a\nb\n").unwrap();
    std::os::unix::fs::symlink("table.csv", place.folder.path().join("link.csv")).unwrap();
    let fifo = place.folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let names = place.names();
    let release = |input: &str, out: &Path, more: &[(&str, &str)]| {
        let mut command = tamis();
        command.arg("release").arg(input).arg(format!("--out={}", out.display())).args(["--force", "--width=1024"]);
        command.args(flags(&[&[("support", "1000000")], more].concat()));
        let output = command.stdin(fs::File::open(&place.table).unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let (table, dotted) = (place.table.to_str().unwrap(), place.folder.path().join(".").join("table.csv"));
    let bits = [("bits", columns.to_str().unwrap())];
    for refused in [
        release(table, &place.table, &[]),
        release(table, &dotted, &[]),
        release("-", &place.table, &[]),
        release(table, &columns, &bits),
        release(place.folder.path().join("link.csv").to_str().unwrap(), &place.table, &[]),
    ] {
        assert!(refused.contains("is a file that this release is made from"), "{refused}");
    }
    for out in [&fifo, Path::new("/dev/null")] {
        assert!(release(table, out, &[]).contains("is a link, a pipe or a device"));
    }
    assert_eq!(fs::read(&place.table).unwrap(), emails(10));
    assert_eq!(place.names(), names);
}

/// A run that was killed may have left a whole release.
#[test]
fn what_an_interrupted_run_left_is_named() {
    let place = Place::new(&emails(10));
    let long = [("support", "1000000")];
    let left = place.folder.path().join(".out.tamis-a1b2c3.partial");
    fs::write(&left, b"PAR1").unwrap();
    for more in [&[][..], &["--force"]] {
        let output = place.release(&long, more);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(left.to_str().unwrap()) && message.contains("may be a whole release"), "{message}");
        assert!(!place.out().exists());
    }
    fs::remove_file(&left).unwrap();
    fs::write(place.folder.path().join(".other.tamis-a1b2c3.partial"), b"PAR1").unwrap();
    assert_eq!(place.release(&long, &[]).status.code(), Some(0));
}

/// What is protected is told to whoever has the file, too.
#[test]
fn a_release_says_what_a_unit_is() {
    let place = Place::new(b"email,n\nann,5000\nbob,1\n");
    for (more, unit, sentence) in [
        (&[][..], "row", "A unit is a row of the table."),
        (&[("count", "n")], "record", "A unit is one of the records that the table counts, not a row of the table"),
        (&[("unit", "n"), ("max-rows", "1")], "column", "A unit is all rows with the same \"n\"; those beyond"),
    ] {
        let output = place.release(&[&[("support", "1000000")], more].concat(), &["--force"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains(sentence), "{}", stderr(&output));
        let path = place.out();
        let inspected = stdout(&run(&["inspect", path.to_str().unwrap()]));
        assert!(inspected.contains(sentence), "{inspected}");
        let json: serde_json::Value =
            serde_json::from_str(&stdout(&run(&["inspect", path.to_str().unwrap(), "--format=json"]))).unwrap();
        assert_eq!(json["release"]["unit"], unit);
        assert!(json["release"]["privacy"].as_str().unwrap().contains(sentence), "{json}");
    }
}

/// However quiet; and whoever has the file may know.
#[test]
fn weak_privacy_is_said_in_any_case() {
    let place = Place::new(&emails(10));
    for (epsilon, warning) in [
        ("10", "an epsilon of 10 hides next to nothing"),
        ("1", "a delta of 0.0009 allows 900.0 of 1000000 records to be given away"),
    ] {
        let output = place.release(
            &[("epsilon", epsilon), ("delta", "0.0009"), ("heavy", "on"), ("support", "1000000")],
            &["--quiet", "--force"],
        );
        assert_eq!(output.status.code(), Some(0));
        assert!(stderr(&output).starts_with("warning: "), "{}", stderr(&output));
        assert!(stderr(&output).contains(warning), "{}", stderr(&output));
        for format in ["text", "json", "csv"] {
            let inspected = stdout(&run(&["inspect", place.out().to_str().unwrap(), "--format", format]));
            assert!(inspected.contains(warning), "{inspected}");
        }
    }
    let output = place.release(&[("support", "1000000"), ("records", "12345")], &["--quiet", "--force"]);
    assert!(stderr(&output).contains("--records 12345 is published with the file"), "{}", stderr(&output));
}

/// Others may read a release, as far as the user's mask lets them read any new file.
#[cfg(unix)]
#[test]
fn a_release_is_as_readable_as_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new(&emails(10));
    assert_eq!(place.release(&[("support", "1000000")], &[]).status.code(), Some(0));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&place.out()), mode(&place.table));
    // One that is replaced stays as it was.
    fs::set_permissions(place.out(), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(place.release(&[("support", "1000000")], &["--force"]).status.code(), Some(0));
    assert_eq!(mode(&place.out()) & 0o777, 0o640);
}

/// A disk that is full, as far as that can be had: a limit on the size of files.
#[cfg(unix)]
#[test]
fn a_disk_that_fails_leaves_nothing_behind() {
    let place = Place::new(&emails(10));
    let words = flags(&[("support", "1000000")]).join(" ");
    let command = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} release {} --out={} --width=65536 {words}",
        env!("CARGO_BIN_EXE_tamis"),
        place.table.display(),
        place.out().display()
    );
    let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    let mut page = String::new();
    place.refused(&mut page, "a file too large", &output);
    assert!(page.contains("-> 3") && page.contains("nothing is spent"), "{page}");
}

#[test]
fn the_examples_that_are_shipped_can_be_released() {
    for (table, more) in [
        (
            "us_baby_names_1880_2017.csv",
            "--key=name --count=count --records=350000000 --rows-per-key=800000 --delta=1e-10",
        ),
        ("adult_majority48.csv", "--key=bits --records=30000 --rows-per-key=1200 --support=256 --bits=COLUMNS --yes"),
    ] {
        let folder = TempDir::new().unwrap();
        let columns = example("adult_majority48_columns.txt");
        let output = tamis()
            .arg("release")
            .arg(example(table))
            .args(more.replace("COLUMNS", columns.to_str().unwrap()).split(' '))
            .args(["--unit=row", "--epsilon=1", "--neighbours=add-remove", "--quiet", "--file-bytes=50000"])
            .arg("--out")
            .arg(folder.path().join("out.tamis"))
            .output()
            .unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{table}");
    }
}
