//! Every mistake has an answer: what was wrong, what would be right, and the documented exit code. The messages are
//! interface, so they are kept as snapshots to be read in review.

use super::{HALF_A_MILLION, file, start, stderr, stdout, tamis, watch, watch_text};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Output, Stdio};

/// Arguments that are right, for one of them to be made wrong.
const RIGHT: [(&str, &str); 8] = [
    ("threshold", "265"),
    ("alerts", "2"),
    ("epsilon", "1"),
    ("delta", "0"),
    ("sensitivity", "1"),
    ("kind", "counts"),
    ("neighbours", "add-remove"),
    ("queries", "365"),
];

/// Runs `--explain`, which reads no data, with some arguments replaced or added; an empty value leaves one out.
fn with(changes: &[(&str, &str)]) -> Output {
    let mut arguments: Vec<(&str, &str)> = RIGHT.to_vec();
    for change in changes {
        arguments.retain(|(name, _)| *name != change.0);
        arguments.push(*change);
    }
    let flags =
        arguments.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("--{name}={value}"));
    tamis().arg("monitor").arg("--explain").args(flags).stdin(Stdio::null()).output().unwrap()
}

fn describe(page: &mut String, title: &str, output: &Output) {
    assert_eq!(stdout(output), "", "{title}");
    let message = stderr(output);
    assert!(!message.contains("panicked") && !message.contains("internal error"), "{title}: {message}");
    writeln!(page, "{title} -> {}\n{message}", output.status.code().unwrap()).unwrap();
}

#[test]
fn the_right_arguments_are_right() {
    let output = with(&[]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn parameters() {
    let mut page = String::new();
    let two_to_63 = (1u64 << 63).to_string();
    for (name, value) in [
        ("epsilon", "0"),
        ("epsilon", "-0"),
        ("epsilon", "-1"),
        ("epsilon", "NaN"),
        ("epsilon", "inf"),
        ("epsilon", "1e-320"),
        ("epsilon", "1e308"),
        ("epsilon", "1/0"),
        ("delta", "1"),
        ("delta", "-1e-9"),
        ("delta", "NaN"),
        ("alerts", "0"),
        ("alerts", "-1"),
        ("alerts", "2.5"),
        ("alerts", &two_to_63),
        ("sensitivity", "0"),
        ("sensitivity", "-1"),
        ("sensitivity", "0.5"),
        ("sensitivity", "inf"),
        ("sensitivity", "1e30"),
        ("threshold", "264.5"),
        ("threshold", "1e30"),
        ("threshold", "high"),
        ("queries", "0"),
        ("queries", &two_to_63),
        ("beta", "0"),
        ("beta", "1"),
        ("beta", "NaN"),
        ("grid", "10"),
        ("kind", "sums"),
        ("neighbours", "both"),
        ("rows-per-unit", "0"),
        ("error", "0"),
        ("seed", "1"),
    ] {
        describe(&mut page, &format!("--{name}={value}"), &with(&[(name, value)]));
    }
    for missing in ["threshold", "alerts", "epsilon", "sensitivity", "kind", "neighbours"] {
        describe(&mut page, &format!("no --{missing}"), &with(&[(missing, "")]));
    }
    describe(&mut page, "values without a grid", &with(&[("kind", "values")]));
    describe(&mut page, "a grid too fine", &with(&[("kind", "values"), ("grid", "31")]));
    describe(&mut page, "a label without a column", &with(&[("label", "date")]));
    insta::assert_snapshot!(page);
}

#[test]
fn what_has_no_sound_noise_is_refused_with_code_1() {
    let mut page = String::new();
    describe(&mut page, "noise beyond every scale", &with(&[("epsilon", "1e-12"), ("sensitivity", "1000")]));
    // DR14's Corollary 3.21 does not hold here: c·e₀·(exp(e₀) − 1) exceeds ε/2.
    let outside = [("variant", "book"), ("epsilon", "200"), ("delta", "1e-6"), ("alerts", "10000")];
    describe(&mut page, "the book's composition outside its range", &with(&outside));
    describe(&mut page, "the watched column as label", &with(&[("column", "n"), ("label", "n")]));
    assert_eq!(page.matches(" -> 1\n").count(), 3, "{page}");
    insta::assert_snapshot!(page);
}

/// Inputs that are refused, each as a file and on standard input.
const TEXTS: [(&str, &[u8]); 27] = [
    ("empty", b""),
    ("blank lines only", b"\n\n"),
    ("header only", b"day,n\n"),
    ("header without line end", b"day,n"),
    ("ragged: one field less", b"day,n\nmo,1\ntu\n"),
    ("ragged: one field more", b"day,n\nmo,1\ntu,2,3\n"),
    ("duplicate header", b"day,n,n\nmo,1,2\n"),
    ("quote not closed", b"day,n\n\"mo,1\ntu,2\n"),
    ("quote not closed in the last field of the last line", b"n,day\n1,\"mo"),
    ("line break inside quotes", b"day,n\n\"mo\nnday\",1\n"),
    ("CR only", b"day,n\rmo,1\rtu,2\r"),
    ("NUL", b"day,n\nmo,1\ntu,\x002\n"),
    ("invalid UTF-8", b"day,n\nmo,1\n\xff,2\n"),
    ("UTF-16", b"\xff\xfed\0a\0y\0,\0n\0\n\0"),
    ("compressed", b"\x1f\x8b\x08\0\0\0\0\0\x02\x03"),
    ("blank line between", b"day,n\nmo,1\n\ntu,2\n"),
    ("empty cell", b"day,n\nmo,\n"),
    ("not a number", b"day,n\nmo,topsecret\n"),
    ("0x10", b"day,n\nmo,0x10\n"),
    ("1_000", b"day,n\nmo,1_000\n"),
    ("1,000", b"day,n\nmo,\"1,000\"\n"),
    ("1e400", b"day,n\nmo,1e400\n"),
    ("1e19", b"day,n\nmo,1e19\n"),
    ("NaN", b"day,n\nmo,NaN\n"),
    ("a date", b"day,n\nmo,3/8\n"),
    ("a fraction of a count", b"day,n\nmo,2.5\n"),
    ("a negative count", b"day,n\nmo,-2\n"),
];

#[test]
fn files_and_streams() {
    let mut page = String::new();
    for (title, text) in TEXTS {
        let rows = file(text, ".csv");
        let path = rows.path().to_str().unwrap();
        let output = watch(&["--column", "n", path]);
        let mut described = String::new();
        describe(&mut described, title, &output);
        for cell in ["topsecret", "3/8", "2.5", "0x10"] {
            assert!(!described.lines().nth(1).unwrap().contains(cell), "a message echoes a cell: {described}");
        }
        page.push_str(&described.replace(path, "FILE"));

        let mut child = start(&[&HALF_A_MILLION[..], &["-", "--column", "n", "--quiet"]].concat());
        child.stdin.take().unwrap().write_all(text).unwrap();
        let piped = child.wait_with_output().unwrap();
        assert_eq!(piped.status.code(), output.status.code(), "{title}");
        assert_eq!(stderr(&piped).replace("standard input", path), stderr(&output), "{title}");
    }
    insta::assert_snapshot!(page);
}

#[test]
fn full_width_digits_are_not_digits() {
    let output = watch_text("n\n１２\n".as_bytes(), ".csv", &["--column", "n"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("line 2: the cell in column \"n\" is not a decimal number"));
}

#[test]
fn an_endless_line_is_refused() {
    let mut text = b"n\n".to_vec();
    text.resize(text.len() + (1 << 20), b'1');
    // Exactly 1 MiB is a line, if no number; one byte more is not.
    let output = watch_text(&text, ".csv", &["--column", "n"]);
    assert!(stderr(&output).contains("is not a decimal number"), "{}", stderr(&output));
    text.push(b'1');
    let output = watch_text(&text, ".csv", &["--column", "n"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("line 2 is longer than 1 MiB"), "{}", stderr(&output));
}

#[test]
fn harmless_oddities_are_read() {
    let rows = b"\xef\xbb\xbf\"n\",day\r\n 1e6 ,mo\r\n+0,\"a \"\"b\"\", c\"\r\n1000000.0,we\r\n\r\n";
    let output = watch_text(rows, ".csv", &["--column", "n", "--label", "day", "--format", "csv", "--quiet"]);
    assert_eq!((stderr(&output).as_str(), output.status.code()), ("", Some(0)));
    assert_eq!(stdout(&output), "row,label,alert,value\n1,mo,1,\n3,we,2,\n");
}

#[test]
fn columns_and_files_that_are_not_there() {
    let mut page = String::new();
    let rows = file(b"date,aircraft,late_60\n2013-01-01,649,48\n", ".csv");
    let path = rows.path().to_str().unwrap();
    for (title, flags) in [
        ("a slip", ["--column", "late60", "--label", "date"]),
        ("a label misspelt", ["--column", "late_60", "--label", "Dat"]),
        ("nothing near", ["--column", "temperature", "--label", "date"]),
    ] {
        let mut described = String::new();
        describe(&mut described, title, &watch(&[&flags[..], &[path]].concat()));
        page.push_str(&described.replace(path, "FILE"));
    }
    let headless = file(b"2013-01-01,649\n2013-01-02,711\n", ".csv");
    let path = headless.path().to_str().unwrap();
    let mut described = String::new();
    describe(&mut described, "no header", &watch(&["--column", "n", path]));
    page.push_str(&described.replace(path, "FILE"));
    describe(&mut page, "a CSV file without --column", &watch_text(b"day,n\nmo,1\n", ".csv", &[]));
    describe(&mut page, "no such file", &watch(&["nowhere/missing.csv"]));
    describe(&mut page, "a folder", &watch(&["/"]));
    insta::assert_snapshot!(page);
}
