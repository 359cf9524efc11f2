//! `tamis monitor --explain`.

use super::{run, stderr, stdout};

fn explain(more: &str) -> String {
    let fixed = "monitor --explain --epsilon 1 --neighbours add-remove";
    let arguments: Vec<&str> = fixed.split(' ').chain(more.split(' ')).collect();
    let output = run(&arguments);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    stdout(&output)
}

const AIRCRAFT: &str = "--kind counts --sensitivity 1 --threshold 265 --alerts 2 --queries 365";
const FLIGHTS: &str = "--kind counts --sensitivity 1 --threshold 100 --alerts 50 --queries 4282";

#[test]
fn a_stream_for_the_sparse_vector() {
    insta::assert_snapshot!(explain(&format!("{AIRCRAFT} --rows-per-unit 336")));
}

#[test]
fn a_stream_better_released_whole() {
    let text = explain(&format!("{FLIGHTS} --rows-per-unit 1"));
    assert!(text.contains("releasing the whole column is better"));
    assert!(text.contains("vacuous   yes"));
    insta::assert_snapshot!(text);
}

#[test]
fn values_on_a_grid_by_the_book_with_values() {
    let stream = "--kind values --grid 10 --sensitivity 0.1 --threshold 1.5 --alerts 5";
    insta::assert_snapshot!(explain(&format!("{stream} --delta 1e-6 --variant book --numeric")));
}

#[test]
fn no_file_is_touched() {
    assert_eq!(
        explain(&format!("{AIRCRAFT} --column n nowhere/missing.csv")),
        explain(&format!("{AIRCRAFT} --column n"))
    );
}

#[test]
fn json_holds_the_same_numbers() {
    let json: serde_json::Value =
        serde_json::from_str(&explain(&format!("{AIRCRAFT} --rows-per-unit 1 --error 20 --format json"))).unwrap();
    assert_eq!(json["schema"], "tamis.monitor.explain/1");
    assert_eq!(json["column"]["stated"]["better"], true);
    let (tight, book) = (&json["variants"][0]["error"], &json["variants"][1]["error"]);
    assert!(tight.as_f64().unwrap() < book.as_f64().unwrap());
    assert_eq!(json["wanted"][0]["error"], 20.0);
    // The ε named does it, and a hundredth less does not.
    let epsilon: f64 = json["wanted"][0]["epsilon"].as_str().unwrap().parse().unwrap();
    let error = |epsilon: f64| -> f64 {
        let arguments = format!("{AIRCRAFT} --format json --explain --neighbours add-remove --epsilon {epsilon:.2}");
        let output = run(&[&["monitor"], &arguments.split(' ').collect::<Vec<_>>()[..]].concat());
        let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        json["variants"][0]["error"].as_f64().unwrap()
    };
    assert!(error(epsilon) <= 20.0 && error(epsilon - 0.01) > 20.0);
}

#[test]
fn csv_has_a_row_a_variant() {
    let text = explain(&format!("{AIRCRAFT} --format csv"));
    let starts: Vec<&str> = text.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(starts, ["variant", "tight", "book"]);
}
