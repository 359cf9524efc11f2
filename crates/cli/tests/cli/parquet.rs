//! Parquet columns.

use super::{HALF_A_MILLION, file, run, start, stderr, stdout, watch};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::sync::Arc;
use tempfile::{NamedTempFile, TempDir};

/// Three rows: n is 0, a million and `last`.
fn table(last: Option<i64>, suffix: &str) -> NamedTempFile {
    let schema = "message table {
        required binary day (UTF8);
        optional int64 n;
        required double x;
        required int32 date (DATE);
        required boolean open;
        required int64 nanoseconds (TIMESTAMP(NANOS,true));
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let rows = file(b"", suffix);
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(rows.reopen().unwrap(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    macro_rules! column {
        ($kind:ty, $values:expr, $present:expr) => {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<$kind>().write_batch($values, $present, None).unwrap();
            column.close().unwrap();
        };
    }
    column!(ByteArrayType, &["mo", "tu", "we"].map(ByteArray::from), None);
    let n: Vec<i64> = [0, 1_000_000].into_iter().chain(last).collect();
    column!(Int64Type, &n, Some(&[1, 1, i16::from(last.is_some())]));
    column!(DoubleType, &[0.0, 1e6, 999_999.5], None);
    column!(Int32Type, &[0, 1, 2], None);
    column!(BoolType, &[true, true, false], None);
    column!(Int64Type, &[0, 0, 0], None);
    group.close().unwrap();
    writer.close().unwrap();
    rows
}

#[test]
fn a_column_and_its_labels_are_read() {
    // By name or by its first bytes: the second file is called .csv.
    for suffix in [".parquet", ".csv"] {
        let rows = table(Some(1_000_000), suffix);
        for (label, printed) in [("day", ["tu", "we"]), ("date", ["1970-01-02", "1970-01-03"])] {
            let path = rows.path().to_str().unwrap();
            let output = watch(&["--column", "n", "--label", label, "--format", "csv", "--quiet", path]);
            assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
            let [first, second] = printed;
            assert_eq!(stdout(&output), format!("row,label,alert,value\n2,{first},1,\n3,{second},2,\n"));
        }
    }
}

/// Runs `tamis release` on columns of a table; the message of a refusal, without the plan before it and the path.
fn release(rows: &NamedTempFile, columns: &[&str]) -> (Option<i32>, String) {
    let (path, folder) = (rows.path().to_str().unwrap(), TempDir::new().unwrap());
    let out = folder.path().join("out.tamis");
    let common = "--unit=row --epsilon=1 --neighbours=add-remove --width=1024 --quiet";
    let fixed = ["release", path, "--out", out.to_str().unwrap()];
    let output = run(&[&fixed, columns, &common.split(' ').collect::<Vec<_>>()].concat());
    assert_eq!((stdout(&output).as_str(), out.exists()), ("", output.status.success()));
    (output.status.code(), stderr(&output).replace(path, "FILE"))
}

#[test]
fn keys_are_text_whole_numbers_and_dates() {
    let (whole, missing) = (table(Some(7), ".parquet"), table(None, ".parquet"));
    for key in ["day", "n", "date", "day,n,date"] {
        assert_eq!(release(&whole, &["--key", key]), (Some(0), String::new()), "{key}");
    }
    assert_eq!(release(&whole, &["--key", "day", "--count", "n"]), (Some(0), String::new()));
    // Null is the empty key.
    assert_eq!(release(&missing, &["--key", "n"]), (Some(0), String::new()));
    let mut page = String::new();
    for columns in [
        &["--key", "x"][..],
        &["--key", "open"],
        &["--key", "nanoseconds"],
        &["--key", "dya"],
        &["--key", "day", "--count", "date"],
        &["--key", "day", "--count", "x"],
    ] {
        let (code, message) = release(&whole, columns);
        assert_eq!(code, Some(2), "{columns:?}");
        page += &format!("{}\n{message}\n", columns.join(" "));
    }
    page += &release(&missing, &["--key", "day", "--count", "n"]).1;
    insta::assert_snapshot!(page);
}

#[test]
fn a_row_of_nobody_is_refused() {
    let missing = table(None, ".parquet");
    let out = missing.path().with_extension("tamis");
    let fixed = ["release", missing.path().to_str().unwrap(), "--out", out.to_str().unwrap()];
    let more = "--key=day --unit=n --max-rows=1 --epsilon=1 --neighbours=add-remove --width=1024 --quiet";
    let output = run(&[&fixed[..], &more.split(' ').collect::<Vec<_>>()].concat());
    assert_eq!((output.status.code(), out.exists()), (Some(2), false));
    assert!(stderr(&output).contains("row 3: the cell in column \"n\" is empty"), "{}", stderr(&output));
}

/// A file with a column of 32-bit integers of this type, `x`, and one of plain ones, `n`.
fn integers(kind: &str, values: &[i32]) -> NamedTempFile {
    let schema = Arc::new(
        parse_message_type(&format!("message table {{ required int32 x {kind}; required int32 n; }}")).unwrap(),
    );
    let rows = file(b"", ".parquet");
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(rows.reopen().unwrap(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        column.typed::<Int32Type>().write_batch(values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    rows
}

/// The labels of alerts are the text of cells: what a key or a unit is.
#[test]
fn integers_and_decimals_are_the_text_of_a_csv_file() {
    for (kind, values, texts) in [
        ("(DECIMAL(9,0))", &[123, -5, 0, 100][..], &["123", "-5", "0", "100"][..]),
        ("(DECIMAL(9,2))", &[123, -5, 0, 100], &["1.23", "-0.05", "0.00", "1.00"]),
        // Beyond what the type says, as some programs write it: none is another.
        ("(INTEGER(8,false))", &[1, 257, 513, -1], &["1", "257", "513", "-1"]),
        ("(INTEGER(8,true))", &[1, 257, -128, 128], &["1", "257", "-128", "128"]),
        ("(INTEGER(16,false))", &[1, 65_537, 65_535, 7], &["1", "65537", "65535", "7"]),
        ("(INTEGER(16,true))", &[1, 65_537, -1, 7], &["1", "65537", "-1", "7"]),
        ("(INTEGER(32,false))", &[1, -1, 2, 7], &["1", "4294967295", "2", "7"]),
    ] {
        let rows = integers(kind, values);
        let rows = rows.path().to_str().unwrap();
        // Every value is far above the threshold.
        let common = "--threshold=-1000000 --alerts=4 --epsilon=1 --sensitivity=1 --kind=values --grid=2";
        let more = "--neighbours=add-remove --queries=10 --column=n --label=x --format=csv --quiet";
        let output =
            run(&[&["monitor", rows], &format!("{common} {more}").split(' ').collect::<Vec<_>>()[..]].concat());
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{kind}");
        let labels: Vec<String> =
            stdout(&output).lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect();
        assert_eq!(labels, texts, "{kind}");
    }
}

/// Nobody would guess how a list has to write them.
#[test]
fn times_are_no_keys() {
    let (code, message) = release(&integers("(TIME(MILLIS,true))", &[0]), &["--key", "x"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("the column \"x\" does not hold text, whole numbers or dates"), "{message}");
}

/// The library would end the program.
#[test]
fn a_date_beyond_every_calendar_is_bad_input() {
    let rows = integers("(DATE)", &[0, 100_000_000]);
    let (code, message) = release(&rows, &["--key", "x"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("row 2: the cell in column \"x\" is beyond every calendar"), "{message}");
}

/// A file with one column of 32-bit floats, `x`.
fn floats(values: &[f32]) -> NamedTempFile {
    let schema = Arc::new(parse_message_type("message table { required float x; }").unwrap());
    let rows = file(b"", ".parquet");
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(rows.reopen().unwrap(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<FloatType>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    rows
}

/// Beyond 2^24 a 32-bit float no longer holds every whole number: a count there may have been rounded, and one unit may
/// have moved it by two.
#[test]
fn a_count_that_its_float_may_have_rounded_is_refused() {
    let largest = floats(&[16_777_216.0]);
    assert_eq!(watch(&["--column", "x", largest.path().to_str().unwrap()]).status.code(), Some(0));
    let beyond = floats(&[0.0, 16_777_218.0]);
    let output = watch(&["--column", "x", beyond.path().to_str().unwrap()]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    let message = "row 2: the cell in column \"x\" is beyond what its floating-point type counts to";
    assert!(stderr(&output).contains(message), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let rows = table(None, ".parquet");
    let path = rows.path().to_str().unwrap();
    let message = |arguments: &[&str]| {
        let output = watch(arguments);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
        stderr(&output).replace(path, "FILE")
    };
    let page = [
        message(&["--column", "n", path]),
        message(&["--column", "x", path]),
        message(&["--column", "m", path]),
        message(&["--column", "open", path]),
        message(&["--column", "nanoseconds", path]),
        message(&["--column", "x", "--label", "open", path]),
        message(&[path]),
        message(&["--column", "n", "--follow", path]),
    ];
    insta::assert_snapshot!(page.join("\n"));
}

#[test]
fn damaged_files_and_pipes_are_refused() {
    let rows = table(None, ".parquet");
    let mut bytes = std::fs::read(rows.path()).unwrap();
    let mut child = start(&[&HALF_A_MILLION[..], &["-", "--column", "n"]].concat());
    let _ = child.stdin.take().unwrap().write_all(&bytes);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot be read from standard input"), "{}", stderr(&output));

    bytes.truncate(bytes.len() / 2);
    for damaged in [&bytes[..], b"PAR1", b"", b"n\n1\n"] {
        let output = watch(&["--column", "n", file(damaged, ".parquet").path().to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("error: cannot read"), "{}", stderr(&output));
    }
}

/// The reader's library panics on some of these files.
#[test]
fn a_damaged_byte_is_bad_input_at_worst() {
    let bytes = std::fs::read(table(Some(0), ".parquet").path()).unwrap();
    let mut refused = 0;
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0xff;
        let damaged = file(&damaged, ".parquet");
        let output = watch(&["--column", "n", "--label", "day", "--quiet", damaged.path().to_str().unwrap()]);
        let code = output.status.code();
        assert!(code == Some(0) || code == Some(2), "byte {place}: {}", stderr(&output));
        assert_eq!(stderr(&output).is_empty(), code == Some(0), "byte {place}: {}", stderr(&output));
        refused += usize::from(code == Some(2));
    }
    assert!(refused > bytes.len() / 4, "only {refused} of {} were refused", bytes.len());
}
