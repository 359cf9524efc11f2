//! `tamis plan`.

use super::{run, stderr, stdout};
use std::fmt::Write;
use std::fs;

const EMAILS: [&str; 7] = [
    "plan",
    "--records=1e6",
    "--max-support=1e4",
    "--queries=1e6",
    "--epsilon=1",
    "--delta=1e-9",
    "--neighbours=add-remove",
];

const CONJUNCTIONS: [&str; 9] = [
    "plan",
    "--records=32561",
    "--max-support=256",
    "--queries=10000",
    "--epsilon=1",
    "--neighbours=substitute",
    "--rows-per-key=1000",
    "--adaptive",
    "--error=0.05",
];

#[test]
fn two_plans() {
    for (name, question) in [("many_lists", &EMAILS[..]), ("adaptive_conjunctions", &CONJUNCTIONS[..])] {
        let output = run(question);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{name}");
        insta::assert_snapshot!(name, stdout(&output));
    }
}

#[test]
fn plans_for_machines() {
    let json = run(&[&EMAILS[..], &["--format=json", "--error=700"]].concat());
    let plan: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!(plan["schema"], "tamis.plan/1");
    assert_eq!((&plan["winner"], &plan["runner_up"]), (&"projection".into(), &"projection-heavy".into()));
    assert_eq!((&plan["largest_answer"], &plan["lasting"]), (&10_000.0.into(), &().into()));
    let rows = plan["mechanisms"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["mechanism"] == name).unwrap();
    assert!((165.0..172.0).contains(&row("projection")["typical"].as_f64().unwrap()));
    assert_eq!((&row("projection")["delta"], &row("projection")["verdict"]), (&"0".into(), &"applicable".into()));
    assert_eq!(
        (&row("gaussian-per-query")["verdict"], &row("dense-mw")["verdict"]),
        (&"vacuous".into(), &"not-applicable".into())
    );
    // An error in records does not fall with their number.
    let searches = plan["searches"].as_array().unwrap();
    let named = |name: &str| searches.iter().find(|search| search["search"] == name);
    assert!(searches.len() == 3 && named("least_records").is_none());
    let [epsilon, support] = ["least_epsilon", "largest_support"].map(|name| named(name).unwrap());
    assert_eq!((&epsilon["mechanism"], &epsilon["is_end"]), (&"projection".into(), &false.into()));
    assert!(epsilon["value"].as_f64().unwrap() > 1.0 && support["value"].as_f64().unwrap() < 10_000.0);

    // How many different keys there are moves typical errors, and no bound.
    let figures = |more: &[&str]| {
        let skewed = ["--format=json", "--rows-per-key=5000"];
        let output = run(&[&EMAILS[..], &skewed, more].concat());
        let plan: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let rows = plan["mechanisms"].as_array().unwrap().clone();
        let row = rows.into_iter().find(|row| row["mechanism"] == "stability-histogram").unwrap();
        (row["typical"].as_f64().unwrap(), row["within"].as_f64().unwrap())
    };
    let (alike, skewed) = (figures(&[]), figures(&["--distinct-keys=1e5"]));
    assert!(skewed.0 > 10.0 * alike.0 && skewed.1 == alike.1, "{alike:?} {skewed:?}");

    let output = run(&[&EMAILS[..], &["--format=csv", "--error=700"]].concat());
    assert_eq!(stderr(&output), "note: CSV has no room for what --error searches: see --format json or text\n");
    let csv = stdout(&output);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.headers().unwrap().iter().take(3).collect::<Vec<_>>(), ["mechanism", "verdict", "holds"]);
    assert_eq!(reader.records().filter(Result::is_ok).count(), rows.len());
}

#[test]
fn a_picture_has_every_curve() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.svg");
    let plot = format!("--plot={}", file.display());
    let output = run(&[&EMAILS[..], &["--quiet", "--universe=1e6", &plot]].concat());
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let svg = fs::read_to_string(&file).unwrap();
    for label in ["Gaussian noise for each answer", "sparse perceptron", "guarded release", "largest answer", "records"]
    {
        assert!(svg.contains(label), "{label:?} is missing");
    }
    let headings =
        ["proven", "proven while corrections last", "predicted, not proven"].map(|kind| format!(">\n{kind}\n<"));
    assert!(headings.iter().all(|heading| svg.contains(heading)), "{svg}");
    let again = [&EMAILS[..], &["--quiet", "--adaptive", &plot]].concat();
    let output = run(&again);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    assert!(
        stderr(&output).contains("exists\nhelp: give another name, or replace it with --force"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), svg);
    let output = run(&[&again[..], &["--force"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let svg = fs::read_to_string(&file).unwrap();
    for label in [
        "1000000 adaptive queries of up to 10000 keys, ε = 1, δ = 0.000000001, add-remove",
        "asked: 1000000",
        "go on above",
        "not for questions that depend on answers",
        ">\n10⁵\n<",
    ] {
        assert!(svg.contains(label), "{label:?} is missing: {svg}");
    }
    for (path, fault) in [
        ("/nowhere/plan.svg", "there is no folder /nowhere"),
        ("plan.png", "pictures are SVG, and plan.png does not end in .svg"),
        ("-", "pictures are SVG, and - does not end in .svg"),
    ] {
        let output = run(&[&EMAILS[..], &[&format!("--plot={path}")]].concat());
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{path}");
        assert!(stderr(&output).starts_with(&format!("error: --plot: {fault}\n")), "{}", stderr(&output));
    }
}

/// What finds no room is not drawn, and nothing is written.
#[test]
fn no_picture_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.svg");
    let output = run(&[&EMAILS[..], &["--memory=1000", &format!("--plot={}", file.display())]].concat());
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    assert!(stderr(&output).starts_with("error: --plot: there is nothing to draw: nothing fits in 1 kB of memory\n"));
    assert!(!file.exists());
}

/// What one of these questions is answered by, and what its answers may say of it.
#[test]
fn remarks() {
    let mut page = String::new();
    for (name, more) in [
        ("a mechanism of the library", &["--max-support=10000", "--queries=1"][..]),
        ("any answer does", &["--max-support=1", "--queries=1000000", "--error=5"]),
        ("one command", &["--max-support=1e4", "--queries=1e4", "--universe=2e6"]),
        ("nothing is near enough", &["--max-support=100", "--queries=1000000", "--epsilon=1/5", "--error=20"]),
        ("little memory", &["--max-support=1e7", "--queries=1e8", "--largest-count=1e6", "--adaptive", "--memory=1e9"]),
        ("no memory", &["--max-support=100", "--queries=10", "--memory=1000"]),
        ("noise is best at few", &["--max-support=10000", "--queries=1e6", "--error=100"]),
        ("ends of searches", &["--max-support=100", "--queries=1", "--epsilon=700", "--error=0.00009"]),
        (
            "a universe that is full",
            &["--max-support=1e6", "--queries=100", "--epsilon=0.1", "--universe=1e6", "--adaptive", "--error=0.0001"],
        ),
        ("rows beyond the records", &["--records=100", "--max-support=100", "--queries=1", "--unit-rows=1000"]),
    ] {
        let is_given = |argument: &&str| {
            let name = argument.split('=').next().unwrap();
            name != "plan" && more.iter().any(|more| more.starts_with(name))
        };
        let others = EMAILS.into_iter().filter(|argument| !is_given(argument));
        let output = run(&others.chain(more.iter().copied()).collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        // Without the tables.
        let plan = stdout(&output);
        let is_said = |part: &&str| !part.starts_with(' ') && !part.starts_with("vacuous: ");
        let said: Vec<&str> = plan.split("\n\n").filter(is_said).collect();
        writeln!(page, "--- {name}\n{}{}\n", stderr(&output), said.join("\n\n").trim_end()).unwrap();
    }
    insta::assert_snapshot!(page);
}

#[test]
fn what_makes_no_sense_and_what_protects_nobody() {
    let mut page = String::new();
    for more in [
        "--records=0",
        "--records=1e30",
        "--max-support=0.5",
        "--max-support=16777217",
        "--neighbours=both",
        "--queries=-1",
        "--queries=9007199254740992",
        "--epsilon=0",
        "--delta=1",
        "--unit-rows=0",
        "--rows-per-key=0.5",
        "--largest-count=1e7",
        "--distinct-keys=5",
        "--distinct-keys=1e7",
        "--universe=0",
        "--universe=1000",
        "--memory=0",
        "--memory=1e20",
        "--error=0",
        "--beta=5%",
    ] {
        // The last of equal arguments would be refused as a repetition.
        let name = more.split('=').next().unwrap();
        let others = EMAILS.into_iter().filter(|argument| !argument.starts_with(name));
        let output = run(&others.chain([more]).collect::<Vec<_>>());
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{more}");
        writeln!(page, "--- {more}\n{}", stderr(&output)).unwrap();
    }
    let delta: Vec<&str> = EMAILS.into_iter().filter(|argument| !argument.starts_with("--delta")).collect();
    let weak = run(&[&delta[..], &["--delta=1e-5"]].concat());
    assert_eq!(weak.status.code(), Some(0));
    writeln!(page, "--- --delta=1e-5\n{}", stderr(&weak)).unwrap();
    insta::assert_snapshot!(page);
}
