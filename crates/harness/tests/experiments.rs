//! Whole experiments, end to end: the same bytes on any number of threads and after any interruption,
//! failures as rows, files that open.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rand::RngExt;
use tamis_harness::{Case, Cell, Experiment, Finding, HarnessError, Options, Plot, Runnable, Size, Verdict, run_all};

/// Sums of uniform numbers: floating-point sums, which would show a change of order.
#[derive(Clone)]
struct Sums {
    terms: u32,
    beta: f64,
}

impl Case for Sums {
    fn parameters(&self) -> Vec<(&'static str, Cell)> {
        vec![("terms", self.terms.into()), ("beta", self.beta.into())]
    }
}

/// Hoeffding 1963, Theorem 2, for terms in [0, 1].
fn hoeffding(case: &Sums) -> f64 {
    (f64::from(case.terms) * (1.0 / case.beta).ln() / 2.0).sqrt()
}

fn sums() -> Experiment<Sums> {
    sums_with(|_| ())
}

/// `before` is called at the start of every trial.
fn sums_with(before: impl Fn(&Sums) + Send + Sync + 'static) -> Experiment<Sums> {
    Experiment::new(
        "sums",
        "A sum exceeds its mean by at most √(n ln(1/β)/2) but for probability β [Hoeffding 1963, Theorem 2].",
    )
    .subject("Sums of uniform numbers")
    .sweep(|size| {
        let terms = size.pick(vec![1, 4, 16, 64], vec![1, 4, 16, 64, 256]);
        [0.05, 0.2]
            .into_iter()
            .flat_map(|beta| terms.clone().into_iter().map(move |terms| Sums { terms, beta }))
            .collect()
    })
    .trials(|case, size| size.pick(300, 3_000) + u64::from(case.terms))
    .cost(|case| u64::from(case.terms))
    .trial(["excess", "first"], move |case, rng| {
        before(case);
        let terms: Vec<f64> = (0..case.terms).map(|_| rng.random::<f64>()).collect();
        Ok([terms.iter().sum::<f64>() - f64::from(case.terms) / 2.0, terms[0]])
    })
    .column("bound", |case, _| hoeffding(case))
    .column("measured", |case, sample| sample.quantile("excess", 1.0 - case.beta))
    .column("ratio", |case, sample| {
        (case.terms > 1).then(|| hoeffding(case) / sample.quantile("excess", 1.0 - case.beta))
    })
    .check("below the bound", |case, sample| Finding::rarely_above(sample.values("excess"), hoeffding(case), case.beta))
    .check("a quarter of the bound is false", |case, sample| {
        (case.beta > 0.1 && case.terms > 1)
            .then(|| Finding::often_above(sample.values("excess"), hoeffding(case) / 4.0, case.beta / 4.0))
    })
    .check_all("grows as the square root", |rows| {
        Finding::slope_within(&rows.only("beta", 0.05).points("terms", "measured"), 0.4, 0.6)
    })
    .highlight(|case| case.terms >= 16)
    .plot(
        Plot::new("plot", "Excess of sums", "terms", "excess over the mean")
            .log_x()
            .log_y()
            .line("bound")
            .points("measured")
            .points("excess q50")
            .split_by("beta"),
    )
}

fn options(out: &Path) -> Options {
    Options { out: out.into(), quiet: true, ..Options::default() }
}

/// Every file under a folder that must be the same everywhere.
fn compared_files(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !(["manifest.json", "machine.txt", "report.html", "progress.csv"].contains(&name.as_str())
                || name.starts_with("timings"))
            {
                let content = fs::read_to_string(&path).expect("text");
                files.insert(path.strip_prefix(folder).expect("inside").display().to_string(), content);
            }
        }
    }
    files
}

/// Whether a text is well-formed as far as nesting goes: enough to open it.
fn is_balanced(markup: &str) -> bool {
    let mut open = Vec::new();
    for tag in markup.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or("")) {
        if tag.starts_with(['!', '?']) || tag.ends_with('/') || tag.starts_with("meta") {
            continue;
        }
        match tag.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) => return false,
            Some(_) => (),
            None => open.push(tag.split_whitespace().next().unwrap_or("")),
        }
    }
    open.is_empty()
}

#[test]
fn the_bytes_do_not_depend_on_the_threads() {
    let run = |threads: usize, seed: u64| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let outcome =
            sums().run(&Options { threads: NonZeroUsize::new(threads), seed, ..options(folder.path()) }).expect("runs");
        assert_eq!(outcome.verdict(), Verdict::Holds, "{:?}", outcome.findings());
        compared_files(folder.path())
    };
    let one = run(1, 7);
    assert_eq!(one.keys().collect::<Vec<_>>(), ["sums/plot.svg", "sums/rows.csv", "sums/table.md"]);
    assert_eq!(one["sums/rows.csv"].lines().count(), 9);
    assert_eq!(one, run(2, 7));
    assert_eq!(one, run(7, 7));
    assert_ne!(one["sums/rows.csv"], run(1, 8)["sums/rows.csv"], "another seed gives other rows");
    assert!(one["sums/table.md"].contains("not private") && one["sums/plot.svg"].contains("not private"));
    assert!(is_balanced(&one["sums/plot.svg"]) && one["sums/plot.svg"].starts_with("<svg"), "{}", one["sums/plot.svg"]);
    assert!(!is_balanced(&one["sums/plot.svg"].replacen("</text>", "", 1)), "the check sees a missing end");
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_bytes() {
    let (whole, broken) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    sums().run(&options(whole.path())).expect("runs");

    // Stopped in its sixth case: five rows are kept, and nothing else is written.
    let interrupt = Arc::new(AtomicBool::new(false));
    let (stop, trials) = (Arc::clone(&interrupt), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&trials);
    let stopping = sums_with(move |case| {
        counted.fetch_add(1, Ordering::Relaxed);
        if case.terms == 4 && case.beta == 0.2 {
            stop.store(true, Ordering::Relaxed);
        }
    });
    let single = Options { threads: NonZeroUsize::new(1), ..options(broken.path()) };
    let outcome = stopping.run(&Options { interrupt, ..single.clone() }).expect("stops in good order");
    assert!(outcome.is_interrupted() && outcome.verdict() >= Verdict::Inconclusive);
    assert_eq!(outcome.rows.rows.len(), 5);
    assert_eq!(compared_files(broken.path()).len(), 0);
    let trials_before = trials.load(Ordering::Relaxed);
    assert_eq!(trials_before, (4 * 300 + 85) + 301 + 1, "the sixth case stops after the trial in which it is told to");

    // Goes on: only what is missing is done, and the files are those of the uninterrupted run.
    let counted = Arc::clone(&trials);
    let counting = sums_with(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let resume = Options { resume: true, ..single };
    assert!(!counting.run(&resume).expect("runs").is_interrupted());
    assert_eq!(compared_files(broken.path()), compared_files(whole.path()));
    assert_eq!(
        trials.load(Ordering::Relaxed) - trials_before,
        3 * 300 + 84,
        "the five finished cases are not run again"
    );

    // Rows of another seed, another number of trials or another program are not taken.
    let before = trials.load(Ordering::Relaxed);
    counting.run(&Options { seed: 8, ..resume.clone() }).expect("runs");
    assert_eq!(trials.load(Ordering::Relaxed) - before, 8 * 300 + 170);
    let progress = broken.path().join("sums/progress.csv");
    let text = fs::read_to_string(&progress).expect("kept");
    let build = text.lines().nth(1).and_then(|line| line.split(',').next()).expect("a row").to_owned();
    fs::write(&progress, text.replace(&build, "another")).expect("writable");
    let before = trials.load(Ordering::Relaxed);
    counting.run(&Options { seed: 8, ..resume }).expect("runs");
    assert_eq!(trials.load(Ordering::Relaxed) - before, 8 * 300 + 170);
}

#[test]
fn failures_are_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = |trial: fn(u32, f64) -> Result<f64, String>| {
        Experiment::new("failing", "Some trials fail.")
            .sweep(|_| [1, 2].map(|terms| Sums { terms, beta: 0.1 }).to_vec())
            .trials(|_, _| 50)
            .trial(["value"], move |case, rng| Ok([trial(case.terms, rng.random())?]))
            .column("measured", |_, sample| sample.quantile("value", 0.5))
            .check("below one", |case, sample| Finding::rarely_above(sample.values("value"), 1.0, case.beta))
    };
    let run = |experiment: Experiment<Sums>| {
        let outcome = experiment.run(&options(folder.path())).expect("runs");
        let rows = outcome
            .rows
            .select(|column| ["failed", "measured", "verdict", "error"].contains(&column.name.as_str()), |_| true)
            .rows;
        (outcome, rows)
    };

    let (outcome, rows) = run(experiment(|_, value| Ok(value)));
    assert_eq!((outcome.verdict(), rows[0][0].as_str(), rows[0][3].as_str()), (Verdict::Holds, "0", ""));

    // An error in some trials of one case.
    let (outcome, rows) =
        run(experiment(
            |terms, value| {
                if terms == 2 && value > 0.9 { Err(format!("{value:.1} is too much")) } else { Ok(value) }
            },
        ));
    assert_eq!(outcome.verdict(), Verdict::Fails);
    assert_eq!(rows[0][2], "holds");
    assert_eq!(rows[1][2], "fails");
    assert!(
        rows[1][3].contains("of 50 trials failed, the first with stream ") && rows[1][3].contains("too much"),
        "{}",
        rows[1][3]
    );
    assert!(!rows[1][1].is_empty(), "the trials that did not fail are summarised");
    let table = fs::read_to_string(folder.path().join("failing/table.md")).expect("written");
    assert!(
        table.contains("- terms = 2, beta = 0.1: ") && table.contains("Verdict: fails (1 hold, 1 fail). "),
        "{table}"
    );

    // All of them fail; a NaN and a panic are failures too.
    for (trial, message) in [
        (
            (|_, _| Err("no".to_owned())) as fn(u32, f64) -> Result<f64, String>,
            "50 of 50 trials failed, the first with stream 0: no",
        ),
        (|_, _| Ok(f64::NAN), "50 of 50 trials failed, the first with stream 0: value is not a number"),
        (
            |_, _| panic!("an invariant broke"),
            "50 of 50 trials failed, the first with stream 0: panicked: an invariant broke",
        ),
    ] {
        let (outcome, rows) = run(experiment(trial));
        assert_eq!((outcome.verdict(), rows.len()), (Verdict::Fails, 2));
        assert_eq!((rows[0][0].as_str(), rows[0][1].as_str(), rows[0][3].as_str()), ("50", "", message));
    }

    // A column that asks for what was not measured.
    let (outcome, rows) = run(experiment(|_, value| Ok(value)).column("wrong", |_, sample| sample.mean("valeu")));
    assert_eq!(outcome.verdict(), Verdict::Fails);
    assert_eq!(rows[0][3], "column \"wrong\": panicked: no measurement is called \"valeu\": there are [\"value\"]");
}

#[test]
fn nothing_checked_is_not_a_claim_that_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = Experiment::new("unchecked", "Nothing.")
        .sweep(|_| vec![Sums { terms: 1, beta: 0.1 }])
        .check("of other cases", |case, _| (case.terms > 1).then(|| Finding::at_most(1.0, 2.0)));
    let outcome = experiment.run(&options(folder.path())).expect("runs");
    assert_eq!((outcome.verdict(), outcome.tally().as_str()), (Verdict::Inconclusive, "nothing checked"));
}

#[test]
fn a_definition_that_contradicts_itself_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = |experiment: Experiment<Sums>| match experiment.run(&options(folder.path())) {
        Err(HarnessError::Definition { problem, .. }) => problem,
        other => panic!("should not run: {other:?}"),
    };
    assert_eq!(problem(sums().sweep(|_| Vec::new())), "its sweep has no cases");
    assert_eq!(problem(sums().column("bound", |_, _| 1.0)), "two columns are called \"bound\"");
    assert_eq!(
        problem(sums().plot(Plot::new("other", "Other", "terms", "y").line("bond"))),
        "a plot uses the column \"bond\", which does not exist"
    );
    assert_eq!(
        problem(sums().table_for_each("part")),
        "its tables are split by the column \"part\", which does not exist"
    );
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

/// An experiment without chance, and with a clock.
fn timed(holds: bool) -> Experiment<Sums> {
    Experiment::new("timed", "Counting takes time, and 1 < 2 <& so on>.")
        .sweep(|_| [10, 1000].map(|terms| Sums { terms, beta: 0.5 }).to_vec())
        .trials(|_, _| 3)
        .trial(["seconds"], |case, _| {
            let start = std::time::Instant::now();
            std::hint::black_box((0..case.terms).map(f64::from).sum::<f64>());
            Ok([start.elapsed().as_secs_f64()])
        })
        .column("terms again", |case, _| case.terms)
        .column("median seconds", |_, sample| sample.quantile("seconds", 0.5))
        .check("counts", move |case, _| Finding::require(holds || case.terms < 100, "so it is said"))
        .timings(["seconds", "median seconds"])
        .plot(Plot::new("time", "Time", "terms", "seconds").points("median seconds"))
        .plot(Plot::new("count", "Count", "terms", "terms").line("terms again"))
}

/// The report of [`sums`] and [`timed`]: it opens without a network or a script, and has everything.
fn check_report(folder: &Path) {
    let report = fs::read_to_string(folder.join("report.html")).expect("written");
    assert!(is_balanced(&report));
    let addresses = report.matches("://").count() - report.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    assert_eq!(addresses, 0, "it opens without a network");
    let foreign = ["<script", "<link", "<img", "<iframe", "@import", "url(", " onload", "javascript:"];
    assert_eq!(foreign.into_iter().find(|wrong| report.contains(wrong)), None);
    assert_eq!(report.matches("<svg").count(), 3, "a drawing for each plot");
    let links = report.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    for link in links {
        let found = match link.strip_prefix('#') {
            Some(name) => report.contains(&format!("<section id=\"{name}\">")),
            None => folder.join(link).exists(),
        };
        assert!(found, "{link} leads nowhere");
    }
    let expected = [
        "every claim holds",
        "<td>Sums of uniform numbers</td>",
        "1 &lt; 2 &lt;&amp; so on&gt;",
        "<th>processor</th>",
        "<th>revision</th>",
        "<details><summary>All 8 rows</summary>",
        "grows as the square root: holds",
        "<code>cargo run --release --bin sums</code>",
        "<a href=\"timed/timings.csv\">",
    ];
    expected.into_iter().for_each(|part| assert!(report.contains(part), "{part:?} is missing"));
}

#[test]
fn the_brief_size_is_a_part_of_the_quick_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let quick = sums().run(&options(folder.path())).expect("runs");
    let brief = Options { size: Size::Brief, ..options(folder.path()) };
    let outcome = sums().run(&brief).expect("runs");
    let highlighted = quick.rows.select(|_| true, |row| quick.highlights[row]);
    assert_eq!((highlighted.rows.len(), &outcome.rows), (4, &highlighted), "the same rows, byte for byte");
    assert_eq!(outcome.verdict(), Verdict::Holds);
    // What needs the other rows is left out, and named.
    assert!(outcome.overall.is_empty() && outcome.plots.is_empty());
    assert_eq!(outcome.omitted, ["grows as the square root", "the plot plot.svg"]);
    assert!(outcome.findings()[0].ends_with(&outcome.omitted.join("; ")), "{:?}", outcome.findings());
    let table = fs::read_to_string(folder.path().join("brief/sums/table.md")).expect("written");
    assert!(table.contains("`cargo run --release --bin sums -- --size brief`"), "{table}");

    // A plot that belongs to it brings its rows, and with all rows the checks across them are made.
    let plot = |plot: Plot| plot.log_x().points("measured").in_brief();
    let one =
        sums().plot(plot(Plot::new("one", "One", "terms", "excess").only("beta", "0.05"))).run(&brief).expect("runs");
    assert_eq!((one.rows.rows.len(), one.plots.len(), one.overall.len()), (6, 1, 0));
    let all = sums().plot(plot(Plot::new("all", "All", "terms", "excess"))).run(&brief).expect("runs");
    assert_eq!((&all.rows, &all.overall, all.plots.len()), (&quick.rows, &quick.overall, 2));
    assert_eq!(all.omitted, [""; 0]);
}

#[test]
fn everything_together() {
    let (folder, again) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let readme = folder.path().join("document.md");
    fs::write(&readme, "# Tamis\n<!-- results:begin sums -->\nstale\n<!-- results:end sums -->\n<!-- results:begin index -->\n<!-- results:end index -->\n").expect("writable");
    let experiments: [Box<dyn Runnable>; 2] = [Box::new(sums()), Box::new(timed(true))];
    let outcomes =
        run_all(&experiments, &options(&folder.path().join("results")), std::slice::from_ref(&readme)).expect("runs");
    assert!(
        outcomes.iter().all(|outcome| outcome.verdict() == Verdict::Holds),
        "{:?}",
        outcomes.iter().map(|outcome| outcome.findings()).collect::<Vec<_>>()
    );

    let files = compared_files(&folder.path().join("results"));
    let expected = [
        "README.md",
        "sums/plot.svg",
        "sums/rows.csv",
        "sums/table.md",
        "timed/count.svg",
        "timed/rows.csv",
        "timed/table.md",
    ];
    assert_eq!(files.keys().collect::<Vec<_>>(), expected);
    for file in ["machine.txt", "report.html", "timed/manifest.json", "timed/timings.csv", "timed/timings-time.svg"] {
        assert!(folder.path().join("results").join(file).exists(), "{file}");
    }
    assert!(!files["timed/rows.csv"].contains("seconds"), "what a clock says stays out of what is compared");
    check_report(&folder.path().join("results"));

    // The document has the highlighted rows only, and a second run changes nothing anywhere.
    let spliced = fs::read_to_string(&readme).expect("kept");
    assert!(
        spliced.contains("|    64 | 0.05 |") && !spliced.contains("|     4 | 0.05 |") && !spliced.contains("stale"),
        "{spliced}"
    );
    run_all(&experiments, &options(&again.path().join("results")), std::slice::from_ref(&readme)).expect("runs");
    assert_eq!(fs::read_to_string(&readme).expect("kept"), spliced);
    assert_eq!(compared_files(&again.path().join("results")), files);

    // A claim that fails stops nothing, and is seen.
    let experiments: [Box<dyn Runnable>; 2] = [Box::new(timed(false)), Box::new(sums())];
    let outcomes = run_all(&experiments, &options(again.path()), &[]).expect("runs");
    assert_eq!(outcomes.iter().map(|outcome| outcome.verdict()).collect::<Vec<_>>(), [Verdict::Fails, Verdict::Holds]);
    assert_eq!(outcomes[0].findings(), ["terms = 1000, beta = 0.5: counts: fails (so it is said)"]);
    assert_eq!((outcomes[0].failures(), outcomes[1].failures()), (outcomes[0].findings(), Vec::new()));
}
