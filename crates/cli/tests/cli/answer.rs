//! `tamis answer` and `tamis inspect`, on releases made with a generator for tests: all that is printed is known.

use super::{example, file, run, start, stderr, stdout};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Output;
use tamis::noise::{Budget, Epsilon, Neighbours};
use tamis::projection::{ProjectionRelease, ReleaseFile, Unit};
use tamis::queries::{Columns, FingerprintKey, Histogram, KeyKind, Keys};
use tempfile::{NamedTempFile, TempDir};

/// A release of these rows, so wide and at so large an ε that answers are all but exact.
fn released(columns: &[&str], kind: KeyKind, rows: &[&[&str]], width: u64) -> NamedTempFile {
    let keys = Keys::new(columns.iter().copied(), kind, FingerprintKey::new([7; 16])).unwrap();
    let mut table = Histogram::builder();
    for row in rows {
        table.add(keys.fingerprint(row).unwrap(), 1).unwrap();
    }
    let budget = Budget::pure(Epsilon::new(30.0).unwrap());
    let plan = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).width(width).build().unwrap();
    let release = plan.release(&table.build(), &mut StdRng::seed_from_u64(1)).unwrap();
    let file = tempfile::Builder::new().suffix(".tamis").tempfile().unwrap();
    ReleaseFile { release, keys, unit: Unit::Row, records: None }.write(file.as_file()).unwrap();
    file
}

/// Six rows with four different names.
fn names() -> NamedTempFile {
    let rows: [&[&str]; 6] = [&["ann"], &["bob"], &["ann"], &["eve"], &["ann"], &["a,b"]];
    released(&["name"], KeyKind::Text, &rows, 4096)
}

/// Runs with a file for the option, whose path is printed as FILE.
fn ask(release: &NamedTempFile, option: &str, text: &[u8], more: &[&str]) -> (i32, String, String) {
    let asked = file(text, ".txt");
    let (release, path) = (release.path().to_str().unwrap(), asked.path().to_str().unwrap());
    let output = run(&[&["answer", release, option, path], more].concat());
    let stem = asked.path().file_stem().unwrap().to_str().unwrap();
    let clean = |text: String| text.replace(path, "FILE").replace(stem, "STEM").replace(release, "RELEASE");
    (output.status.code().unwrap(), clean(stdout(&output)), clean(stderr(&output)))
}

/// The values of JSON answers, rounded.
fn values(lines: &str) -> Vec<(String, f64)> {
    let value = |line: &str| {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        (answer["name"].as_str().unwrap().to_owned(), answer["value"].as_f64().unwrap())
    };
    lines.lines().map(value).collect()
}

const QUERIES: &str = r#"{"name": "ann", "keys": ["ann"]}
{"name": "twice", "keys": ["ann", "ann", "bob"]}
{"keys": ["nobody", "a,b", ""], "name": "nobody"}
{"name": "weights", "keys": ["ann", "bob", "eve"], "weights": [0.5, "1/4", 1e0]}
{"name": "none", "keys": []}
{"name": "escaped", "keys": ["\u0061nn"]}
"#;

#[test]
fn queries_are_answered_in_order() {
    let release = names();
    let (code, out, err) = ask(&release, "--queries", QUERIES.as_bytes(), &["--format", "json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = [("ann", 3.0), ("twice", 4.0), ("nobody", 1.0), ("weights", 2.75), ("none", 0.0), ("escaped", 3.0)];
    assert_eq!(values(&out), expected.map(|(name, value)| (name.to_owned(), value)));
    let first: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!(
        first.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["keys", "level", "lower", "name", "rule", "schema", "source", "standard_error", "upper", "value"]
    );
    assert_eq!((first["schema"].as_str(), first["source"].as_str()), (Some("tamis.answer/1"), Some("release")));
}

#[test]
fn answers_as_text_and_csv() {
    let release = names();
    let mut page = String::new();
    for format in ["text", "csv"] {
        let (code, out, err) = ask(&release, "--queries", QUERIES.as_bytes(), &["--format", format, "--level=0.9"]);
        assert_eq!(code, 0);
        writeln!(page, "{out}stderr:\n{err}").unwrap();
    }
    insta::assert_snapshot!(page);
}

#[test]
fn lists_are_lines() {
    let release = names();
    let value = |text: &[u8]| {
        let (code, out, err) = ask(&release, "--list", text, &["--format=json"]);
        assert_eq!(code, 0, "{err}");
        (values(&out)[0].1, err)
    };
    assert_eq!(value(b"ann\nbob\n"), (4.0, String::new()));
    assert_eq!(value(b"\xef\xbb\xbfann\r\nbob"), (4.0, String::new()));
    // With one column a comma is a comma, and a blank is a blank.
    let note = "note: FILE: blanks at the start or end of a line are taken for part of the key: 1 line\n";
    assert_eq!(value(b"a,b\n ann\n\"ann\"\n"), (1.0, note.to_owned()));
    assert_eq!(value(b""), (0.0, "note: FILE is empty: it lists no key, and the true answer is 0\n".to_owned()));
    assert_eq!(value(b"ann\nbob\nann\nann\n"), (4.0, "FILE: 2 keys listed before, counted once\n".to_owned()));
    let note = "note: line 1 of FILE is the name of the key: it is taken for a key, a list has no header\n";
    assert_eq!(value(b"name\nann\n"), (3.0, note.to_owned()));
    let (_, out, err) = ask(&release, "--list", b"ann\nann\n", &["--quiet"]);
    assert!(out.contains("STEM") && err.is_empty(), "{out}{err}");
}

#[test]
fn several_columns_are_fields() {
    let rows: [&[&str]; 3] = [&["ann", "x"], &["ann", "y,z"], &["", "x"]];
    let release = released(&["name", "place"], KeyKind::Text, &rows, 4096);
    let (code, out, err) = ask(&release, "--list", b"ann,\"y,z\"\n,x\nbob,x\n", &["--format=json"]);
    assert_eq!((code, values(&out)[0].1, err.as_str()), (0, 2.0, ""));
    let queries = br#"{"name": "q", "keys": [["ann", "x"], ["ann", "y,z"]]}"#;
    let (code, out, err) = ask(&release, "--queries", queries, &["--format=json"]);
    assert_eq!((code, values(&out)[0].1, err.as_str()), (0, 2.0, ""));
    let (code, _, err) = ask(&release, "--list", b"ann,x\nann\n", &[]);
    assert_eq!(code, 2);
    assert_eq!(
        err,
        "error: FILE, line 2: a key has 2 cells (\"name\", \"place\"), got 1\n\
         help: a key is \"name\", \"place\" here, with commas between them, as in a CSV file\n"
    );
}

#[test]
fn several_lists_are_several_answers() {
    let (release, folder) = (names(), TempDir::new().unwrap());
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (spring, autumn, other) =
        (path("spring.txt", "ann\n"), path("autumn.txt", "bob\neve\n"), path("2024/spring.csv", "bob\n"));
    let release = release.path().to_str().unwrap();
    let output = run(&["answer", release, "--list", &spring, "--list", &autumn, "--format", "json"]);
    assert_eq!(values(&stdout(&output)), [("spring".to_owned(), 3.0), ("autumn".to_owned(), 2.0)]);
    let output = run(&["answer", release, "--list", &spring, "--list", &other]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    assert!(stderr(&output).contains("would both be called \"spring\""), "{}", stderr(&output));
}

#[test]
fn standard_input_is_read() {
    let release = names();
    for (option, text) in [("--list", "ann\n"), ("--queries", "{\"name\": \"q\", \"keys\": [\"ann\"]}\n")] {
        let mut child = start(&["answer", release.path().to_str().unwrap(), option, "-", "--format=json"]);
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
        assert_eq!(values(&stdout(&output))[0].1, 3.0);
    }
}

fn booleans() -> NamedTempFile {
    let columns = Columns::new((0..30).map(|bit| format!("bit {bit}"))).unwrap();
    let rows: [&[&str]; 4] = [&["00000001"], &["00000003"], &["3fffffff"], &["3FFFFFFF"]];
    released(&["packed"], KeyKind::Bits(columns), &rows, 4096)
}

/// All but these literals true.
fn all_true_but(free: &[u32]) -> String {
    let literals: Vec<String> =
        (0..30).filter(|bit| !free.contains(bit)).map(|bit| format!("\"bit {bit}\": true")).collect();
    literals.join(", ")
}

#[test]
fn conjunctions_are_answered() {
    let release = booleans();
    let queries = format!(
        "{{\"name\": \"all\", \"conjunction\": {{{}}}}}\n{{\"name\": \"few\", \"conjunction\": {{{}, \"bit 0\": true}}}}\n",
        all_true_but(&[3, 4]),
        (2..30).map(|bit| format!("\"bit {bit}\": false")).collect::<Vec<_>>().join(", ")
    );
    let (code, out, err) = ask(&release, "--queries", queries.as_bytes(), &["--format=json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(values(&out), [("all".to_owned(), 2.0), ("few".to_owned(), 2.0)]);
}

#[test]
fn queries_that_make_no_sense() {
    let (text, bits) = (names(), booleans());
    let widest = Columns::new((0..128).map(|bit| format!("bit {bit}"))).unwrap();
    let widest = released(&["packed"], KeyKind::Bits(widest), &[&[&"0".repeat(32)]], 1024);
    let mut page = String::new();
    let twice = r#"{"name": "a", "keys": ["ann"]}
{"name": "a", "keys": ["bob"]}"#;
    for (release, query) in [
        (&text, ""),
        (&text, "ann"),
        (&text, "[]"),
        (&text, "{\"name\": \"a\"}"),
        (&text, "{\"keys\": [\"ann\"]}"),
        (&text, r#"{"name": "", "keys": ["ann"]}"#),
        (&text, r#"{"name": "a", "keys": ["ann"], "wieghts": [1]}"#),
        (&text, r#"{"name": "a", "keys": ["ann"], "keys": ["bob"]}"#),
        (&text, r#"{"name": "a", "keys": [7]}"#),
        (&text, r#"{"name": "a", "keys": [["ann", "bob"]]}"#),
        (&text, r#"{"name": "a", "keys": ["ann", "bob"], "weights": [1]}"#),
        (&text, r#"{"name": "a", "keys": ["ann", "bob"], "weights": [1, 1.5]}"#),
        (&text, r#"{"name": "a", "keys": ["ann", "bob"], "weights": [1, -1]}"#),
        (&text, r#"{"name": "a", "keys": ["ann"], "weights": ["NaN"]}"#),
        (&text, r#"{"name": "a", "keys": ["ann"], "weights": [1e400]}"#),
        (&text, r#"{"name": "a", "keys": ["ann", "ann"], "weights": [1, "0.5"]}"#),
        (&text, r#"{"name": "a", "weights": [1]}"#),
        (&text, r#"{"name": "a", "conjunction": {"bit 0": true}}"#),
        (&text, twice),
        (&text, "{\"name\": \"a\", \"keys\": [\"ann\"]}\n\n{\"name\": \"b\", \"keys\": [\"ann\"]}"),
        (&bits, r#"{"name": "a", "keys": ["1"]}"#),
        (&bits, r#"{"name": "a", "keys": ["00000001"], "conjunction": {"bit 0": true}}"#),
        (&bits, r#"{"name": "a", "conjunction": {"bit 0": 1}}"#),
        (&bits, r#"{"name": "a", "conjunction": {"bit 0": true, "bit 0": false}}"#),
        (&bits, r#"{"name": "a", "conjunction": {"bti 1": true}}"#),
        (&bits, r#"{"name": "a", "conjunction": {"employed": true}}"#),
        (&bits, r#"{"name": "a", "conjunction": {"bit 0": true}}"#),
        (&bits, r#"{"name": "a", "conjunction": {}}"#),
        (&widest, r#"{"name": "a", "conjunction": {}}"#),
    ] {
        let (code, _, err) = ask(release, "--queries", query.as_bytes(), &[]);
        assert!(!err.contains("panicked") && !err.contains("internal error"), "{query}: {err}");
        writeln!(page, "{query} -> {code}\n{err}").unwrap();
    }
    insta::assert_snapshot!(page);
}

/// What stands in the wrong place may be a key.
#[test]
fn no_key_of_a_query_is_repeated() {
    for query in [
        r#"{"name": "a", "topsecret": 1}"#,
        r#"{"name": "a", "keys": "topsecret"}"#,
        r#"{"name": "a", "keys": ["ann"], "weights": "topsecret, expected topsecret"}"#,
        r#"{"name": "a", "conjunction": {"bit 0": "topsecret"}}"#,
        r#"{"name": "a", "keys": [topsecret]}"#,
        r#"{"name": "a", "keys": ["topsecret"#,
    ] {
        let (code, _, err) = ask(&names(), "--queries", query.as_bytes(), &[]);
        assert_eq!(code, 2, "{query}");
        assert!(err.contains("line 1, column ") && !err.contains("topsecret"), "{query}: {err}");
    }
}

/// What another program left in a list is told, and left there.
#[test]
fn lists_in_an_unlikely_spelling_are_noted() {
    for (list, note) in [
        ("\"ann\"\n\"bob\"\n", "every line is in double quotes, which are taken for part of the key"),
        ("ann \nbob\n\tcai\n", "blanks at the start or end of a line are taken for part of the key: 2 lines"),
    ] {
        let (code, _, err) = ask(&names(), "--list", list.as_bytes(), &[]);
        assert_eq!(code, 0, "{err}");
        assert!(err.contains(note), "{err}");
    }
    let (_, _, err) = ask(&names(), "--list", b"\"ann\"\nbob\n", &[]);
    assert!(!err.contains("note: "), "{err}");
    let (code, _, err) = ask(&names(), "--list", b"ann\n\nbob\n", &[]);
    assert_eq!(code, 2);
    assert!(err.starts_with("error: ") && err.contains(", line 2 is blank, and data follow it"), "{err}");
}

/// Whoever asks is told what was dropped before: no interval can know it.
#[test]
fn that_rows_were_dropped_is_noted() {
    let folder = TempDir::new().unwrap();
    let (table, out) = (folder.path().join("table.csv"), folder.path().join("out.tamis"));
    fs::write(&table, "user,place\nann,a\nann,b\n").unwrap();
    let fixed = ["release", table.to_str().unwrap(), "--out", out.to_str().unwrap(), "--quiet"];
    let more = "--key=place --unit=user --max-rows=1 --epsilon=1 --neighbours=add-remove --width=1024";
    let output = run(&[&fixed[..], &more.split(' ').collect::<Vec<_>>()].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let ask = |more: &[&str]| {
        let list = ["answer", out.to_str().unwrap(), "--list", table.to_str().unwrap()];
        stderr(&run(&[&list, more].concat()))
    };
    assert!(
        ask(&[]).contains("at most 1 of the rows with the same \"user\": those beyond were dropped"),
        "{}",
        ask(&[])
    );
    assert_eq!(ask(&["--quiet"]), "");
}

/// Names in a release are whoever's who made it.
#[test]
fn names_in_a_release_command_no_terminal() {
    let release = released(&["\u{1b}[31mname", "\u{202e}place"], KeyKind::Text, &[&["ann", "a"]], 1024);
    let (_, _, err) = ask(&release, "--list", b"ann\n", &[]);
    assert!(err.contains(r#"("\u{1b}[31mname", "\u{202e}place")"#), "{err}");
    let inspected = stdout(&run(&["inspect", release.path().to_str().unwrap()]));
    assert!(inspected.contains("[31mname"), "{inspected}");
    for text in [err, inspected] {
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
}

/// Answers are free: those before the line that is wrong are printed.
#[test]
fn answers_before_a_mistake_are_printed() {
    let release = names();
    let queries = b"{\"name\": \"a\", \"keys\": [\"ann\"]}\nnonsense\n";
    let (code, out, err) = ask(&release, "--queries", queries, &["--format=json"]);
    assert_eq!((code, values(&out)), (2, vec![("a".to_owned(), 3.0)]));
    assert!(err.contains("line 2"), "{err}");
}

#[test]
fn arguments_that_make_no_sense() {
    let release = names();
    let path = release.path().to_str().unwrap();
    let mut page = String::new();
    let mut describe = |title: &str, output: &Output| {
        assert_eq!(stdout(output), "", "{title}");
        writeln!(page, "{title} -> {}\n{}", output.status.code().unwrap(), stderr(output).replace(path, "RELEASE"))
            .unwrap();
    };
    describe("nothing asked", &run(&["answer", path]));
    describe("both", &run(&["answer", path, "--list", "a", "--queries", "b"]));
    for level in ["0", "1", "95", "NaN", "high", "-1"] {
        describe(&format!("level {level}"), &run(&["answer", path, "--list", "nowhere/list.txt", "--level", level]));
    }
    describe("no list", &run(&["answer", path, "--list", "nowhere/list.txt"]));
    describe("no queries", &run(&["answer", path, "--queries", "nowhere/queries.jsonl"]));
    describe("the release as a list", &run(&["answer", path, "--list", path]));
    describe("no release", &run(&["answer", "nowhere/out.tamis", "--list", "-"]));
    describe("a folder", &run(&["answer", "/", "--list", "-"]));
    let table = example("nyc_aircraft_2013_daily.csv");
    let mut other = run(&["answer", table.to_str().unwrap(), "--list", "-"]);
    other.stderr = stderr(&other).replace(table.to_str().unwrap(), "TABLE").into_bytes();
    describe("a table", &other);
    insta::assert_snapshot!(page);
}

#[test]
fn a_damaged_release_is_refused() {
    let release = names();
    let whole = fs::read(release.path()).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for bytes in [&flipped[..], &whole[..whole.len() - 9], &[]] {
        let damaged = file(bytes, ".tamis");
        for command in [&["inspect"][..], &["answer", "--list", "-"]] {
            let output = run(&[command, &[damaged.path().to_str().unwrap()]].concat());
            assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
            assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
        }
    }
}

/// Whoever reads has gone: no message, and no failure.
#[test]
fn a_closed_pipe_is_the_end() {
    let release = names();
    let mut child = start(&["answer", release.path().to_str().unwrap(), "--queries", "-", "--format=csv"]);
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for line in 0..1000 {
        // It may end before it has read all.
        let _ = writeln!(stdin, "{{\"name\": \"{line}\", \"keys\": [\"ann\"]}}");
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn what_a_release_is() {
    let mut page = String::new();
    for release in [names(), booleans()] {
        let path = release.path().to_str().unwrap();
        let output = run(&["inspect", path]);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
        page += &stdout(&output).replace(path, "RELEASE");
        page += "\n";
    }
    insta::assert_snapshot!(page);
    let release = names();
    let path = release.path().to_str().unwrap();
    let json: serde_json::Value = serde_json::from_str(&stdout(&run(&["inspect", path, "--format=json"]))).unwrap();
    assert_eq!((json["schema"].as_str(), json["release"]["epsilon"].as_str()), (Some("tamis.inspect/1"), Some("30")));
    assert_eq!(json["standard_errors"].as_array().unwrap().len(), 4);
    assert!(stdout(&run(&["inspect", path, "--format=csv"])).starts_with("name,value\n"));
}
