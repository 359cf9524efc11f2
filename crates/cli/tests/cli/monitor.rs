//! Runs of `tamis monitor`.
//!
//! No seed can be given, so these runs have such margins that what they show is certain but for a false alarm of at most
//! [`FALSE_ALARM`] a run: [`certain_margin`] says how far a value must be from the threshold.

use super::{HALF_A_MILLION, example, file, run, start, stderr, stdout, tamis, watch, watch_text};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use tamis::noise::sparse_vector::{Plan, Setting};
use tamis::noise::{Beta, Budget, Epsilon, Hits, Neighbours, Queries, Sensitivity, StreamKind};
use tempfile::TempDir;

const FALSE_ALARM: f64 = 1e-9;

/// What the tight plan promises but for [`FALSE_ALARM`].
fn certain_margin(epsilon: f64, hits: u64, queries: u64) -> u64 {
    let setting = Setting {
        hits: Hits::new(hits).unwrap(),
        budget: Budget::pure(Epsilon::new(epsilon).unwrap()),
        sensitivity: Sensitivity::ONE,
        neighbours: Neighbours::AddRemove,
        kind: StreamKind::Counts,
    };
    // The program plans for its own defaults; the promise is then read at a smaller failure probability.
    let plan = Plan::tight(&setting, Queries::new(1000).unwrap(), Beta::new(0.05).unwrap()).unwrap();
    plan.accuracy(Queries::new(queries).unwrap(), Beta::new(FALSE_ALARM).unwrap())
}

#[test]
fn the_two_days_of_the_example_are_found() {
    // 265 lies 22 from the nearest day.
    assert!(certain_margin(30.0, 2, 365) < 22);
    let arguments = [
        "monitor",
        "--column",
        "late_60",
        "--label",
        "date",
        "--threshold",
        "265",
        "--alerts",
        "2",
        "--epsilon",
        "30",
        "--sensitivity",
        "1",
        "--kind",
        "counts",
        "--neighbours",
        "add-remove",
    ];
    let output = tamis().args(arguments).arg(example("nyc_aircraft_2013_daily.csv")).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(format!("{}---\n{}", stdout(&output), stderr(&output)));
}

#[test]
fn a_run_stops_after_its_alerts_in_every_format_and_variant() {
    assert!(certain_margin(1.0, 2, 10) < 500_000);
    let rows = b"day,n\nmo,0\ntu,1000000\nwe,0\nth,1000000\nfr,1000000\n";
    for variant in ["book", "tight"] {
        let flags = ["--column", "n", "--label", "day", "--quiet", "--variant", variant];
        let text = watch_text(rows, ".csv", &flags);
        assert_eq!(text.status.code(), Some(0));
        let lines: Vec<String> = stdout(&text).lines().map(str::to_owned).collect();
        assert!(lines[0].starts_with("tu  alert 1 of 2: n reached 500000 (give or take "), "{lines:?}");
        assert!(lines[1].starts_with("th  alert 2 of 2: "), "{lines:?}");
        assert_eq!((lines.len(), stderr(&text).as_str()), (2, ""));

        let csv = watch_text(rows, ".csv", &[&flags[..], &["--format", "csv"]].concat());
        assert_eq!(stdout(&csv), "row,label,alert,value\n2,tu,1,\n4,th,2,\n");

        let json = stdout(&watch_text(rows, ".csv", &[&flags[..], &["--format", "json"]].concat()));
        let events: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(events.iter().all(|event| event["schema"] == "tamis.monitor/1"));
        let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["plan", "alert", "alert", "end"]);
        assert_eq!((&events[0]["epsilon"], &events[0]["neighbours"]), (&"1".into(), &"add-remove".into()));
        assert_eq!((&events[1]["row"], &events[1]["label"]), (&2.into(), &"tu".into()));
        assert_eq!((&events[3]["answered"], &events[3]["halted"]), (&4.into(), &true.into()));
    }
}

#[test]
fn numeric_prints_a_value_near_the_truth() {
    let rows = b"0\n1000000\n0\n1000000\n";
    for variant in ["book", "tight"] {
        let output = watch_text(rows, ".txt", &["--numeric", "--variant", variant, "--format", "csv", "--quiet"]);
        let text = stdout(&output);
        let values: Vec<f64> =
            text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
        assert_eq!(values.len(), 2);
        // Noise of scale at most 18 passes 1000 with probability e^-55. A value that equals the truth twice has no noise.
        assert!(values.iter().all(|value| (value - 1e6).abs() < 1000.0), "{values:?}");
    }
    let tight = stderr(&watch_text(rows, ".txt", &["--numeric"]));
    assert!(tight.contains("tend to be too high"), "{tight}");
    let book = stderr(&watch_text(rows, ".txt", &["--numeric", "--variant", "book"]));
    assert!(!book.contains("tend to be too high"), "{book}");
}

#[test]
fn released_values_carry_noise() {
    // 200 runs of two values: without noise all are the truth; with a scale above 1 that has probability below 2^-400.
    let rows = file(b"1000000\n1000000\n", ".txt");
    let exact = (0..200).all(|_| {
        let path = rows.path().to_str().unwrap();
        stdout(&watch(&["--numeric", "--format", "csv", "--quiet", path])).ends_with("1,,1,1000000\n2,,2,1000000\n")
    });
    assert!(!exact);
}

#[test]
fn an_end_of_data_before_the_alerts_are_used_is_said() {
    let output = watch_text(b"0\n1000000\n0\n", ".txt", &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("stopped after 3 values: 1 of 2 alerts used"), "{}", stderr(&output));
    assert!(stderr(&output).contains("spent: ε = 1, δ = 0 for the whole run\n"), "{}", stderr(&output));
}

#[test]
fn more_values_than_planned_are_answered_and_noted() {
    let output = watch_text(&b"0\n".repeat(1001), ".txt", &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("accuracy was stated for 1000 values"), "{}", stderr(&output));
}

#[test]
fn an_alert_is_printed_while_the_stream_is_still_open() {
    let mut child = start(&[&HALF_A_MILLION[..], &["-", "--column", "n", "--quiet"]].concat());
    let mut stdin = child.stdin.take().unwrap();
    let mut alerts = BufReader::new(child.stdout.take().unwrap()).lines();
    stdin.write_all(b"n\n0\n1000000\n").unwrap();
    assert!(alerts.next().unwrap().unwrap().starts_with("row 2  alert 1 of 2"));
    stdin.write_all(b"1000000\n").unwrap();
    assert!(alerts.next().unwrap().unwrap().starts_with("row 3  alert 2 of 2"));
    // The program ends by itself: standard input is still open.
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

#[test]
fn a_followed_file_is_read_as_it_grows() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("growing.csv");
    fs::write(&path, "day,n\nmo,0\ntu,1000").unwrap();
    let more = ["--follow", "--column", "n", "--label", "day", "--quiet", path.to_str().unwrap()];
    let mut child = start(&[&HALF_A_MILLION[..], &more].concat());
    let mut alerts = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    // Half a line was there: it counts once it is whole.
    file.write_all(b"000\n").unwrap();
    assert!(alerts.next().unwrap().unwrap().starts_with("tu  alert 1 of 2"));
    file.write_all(b"we,0\nth,1000000\n").unwrap();
    assert!(alerts.next().unwrap().unwrap().starts_with("th  alert 2 of 2"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_followed_file_that_shrinks_ends_the_run() {
    let rows = file(b"1000000\n0\n", ".txt");
    let mut child = start(&[&HALF_A_MILLION[..], &["--follow", rows.path().to_str().unwrap()]].concat());
    // Once the first alert is out, the file has been read.
    let mut alerts = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(alerts.next().unwrap().unwrap().starts_with("row 1  alert 1 of 2"));
    rows.as_file().set_len(2).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the file became shorter while it was followed"), "{}", stderr(&output));
}

#[test]
fn a_malformed_row_of_a_file_spends_nothing_and_of_a_stream_ends_it() {
    let rows = b"n\n1000000\n0\nsecret\n1000000\n";
    let output = watch_text(rows, ".csv", &["--column", "n"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    assert!(!stderr(&output).contains("spent"), "{}", stderr(&output));

    let mut child = start(&[&HALF_A_MILLION[..], &["-", "--column", "n", "--format", "json"]].concat());
    child.stdin.take().unwrap().write_all(rows).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let (events, notes) = (stdout(&output), stderr(&output));
    assert!(events.contains("\"alert\"") && !events.contains("\"end\""), "{events}");
    assert!(notes.contains("spent: ε = 1") && notes.contains("error: line 4"), "{notes}");
    assert!(!notes.contains("secret"), "{notes}");
}

#[test]
fn a_reader_who_leaves_is_no_error() {
    let mut child = start(&[&HALF_A_MILLION[..], &["-", "--quiet"]].concat());
    drop(child.stdout.take());
    // The program may be gone before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(b"1000000\n1000000\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn labels_cannot_command_a_terminal() {
    let output = watch_text(b"l,n\n\x1b[2J,1000000\n", ".csv", &["--column", "n", "--label", "l", "--quiet"]);
    assert!(stdout(&output).starts_with("\u{fffd}[2J  alert 1"), "{}", stdout(&output));
}

/// The rule floor(x·2^b + ½), seen from outside: the sensitivity is one unit of a coarse grid, ε is the largest there is,
/// so that the noise is 0 but for a probability of about e^-250 a draw, and only the rounding is left.
#[test]
fn values_are_rounded_to_the_grid() {
    for (value, alerts) in [("0.25", true), ("0.2499999999", false), ("-0.25", false), ("3e-1", true)] {
        let rows = file(format!("{value}\n").as_bytes(), ".txt");
        let output = run(&[
            "monitor",
            "--threshold",
            "0.5",
            "--alerts",
            "1",
            "--epsilon",
            "1000",
            "--sensitivity",
            "0.3",
            "--kind",
            "values",
            "--grid",
            "1",
            "--neighbours",
            "add-remove",
            "--quiet",
            rows.path().to_str().unwrap(),
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(!stdout(&output).is_empty(), alerts, "{value}");
    }
}
