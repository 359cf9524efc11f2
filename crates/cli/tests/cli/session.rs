//! Runs of `tamis session`.
//!
//! No seed can be given, so these runs have such budgets that what they show is certain but for a false alarm of at most 10⁻⁹ a
//! run: ε is 1000 or more, so that noise is far below the margins asserted.

use super::{example, file, stderr, stdout, tamis};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder with a table, states in it, and a state directory of its own.
pub struct Place(TempDir);

impl Place {
    /// 1000 rows: ann has 400, bob 300, and 300 others one each.
    pub fn new() -> Self {
        let place = Self(TempDir::new().unwrap());
        let rows = (0..1000).map(|row| match row {
            0..400 => "ann\n".to_owned(),
            400..700 => "bob\n".to_owned(),
            _ => format!("other{row}\n"),
        });
        fs::write(place.path("table.csv"), format!("name\n{}", rows.collect::<String>())).unwrap();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program, told to keep its sequence numbers in this folder.
    pub fn tamis(&self) -> Command {
        self.elsewhere("home")
    }

    /// The same with other sequence numbers, as on another machine.
    pub fn elsewhere(&self, home: &str) -> Command {
        let mut command = tamis();
        command.env("XDG_STATE_HOME", self.path(home)).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &str) -> Output {
        self.tamis().args(words.split_whitespace()).output().unwrap()
    }

    pub fn create(&self, more: &str) -> Output {
        self.run(&format!(
            "session create table.csv --key name --unit row --neighbours substitute --records 1000 --max-support 10 {more}"
        ))
    }

    pub fn ask(&self, state: &str, queries: &str, more: &str) -> Output {
        fs::write(self.path("queries.jsonl"), queries).unwrap();
        self.run(&format!("session ask {state} --queries queries.jsonl --format json {more}"))
    }
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub fn lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn query(name: &str, keys: &[&str]) -> String {
    format!("{{\"name\": {name:?}, \"keys\": {keys:?}}}\n")
}

fn answers(output: &Output) -> Vec<(f64, String, u64)> {
    let answer = |line: serde_json::Value| {
        let source = line["source"].as_str().unwrap().to_owned();
        (line["value"].as_f64().unwrap(), source, line["updates_left"].as_u64().unwrap())
    };
    lines(&stdout(output)).into_iter().map(answer).collect()
}

#[test]
fn a_guarded_session_from_end_to_end() {
    let place = Place::new();
    let more = "--queries 100 --epsilon 1000 --rows-per-key 250 --state s";
    let created = place.create(more);
    assert_eq!((code(&created), stdout(&created).as_str()), (0, ""), "{}", stderr(&created));
    for word in ["answers   within ± ", "spent     ε = ", "private   1000 rows read", "next      tamis session ask s"]
    {
        assert!(stderr(&created).contains(word), "{}", stderr(&created));
    }
    // What is there is not replaced.
    let again = place.create(more);
    assert_eq!(code(&again), 2);
    assert!(stderr(&again).contains("--state: s exists"), "{}", stderr(&again));

    let queries = query("ann", &["ann"]) + &query("both", &["ann", "bob", "nobody"]) + &query("again", &["ann"]);
    let asked = place.ask("s", &queries, "");
    assert_eq!(code(&asked), 0, "{}", stderr(&asked));
    let first = lines(&stdout(&asked));
    for (line, truth) in first.iter().zip([400.0, 700.0, 400.0]) {
        let (value, bound) = (line["value"].as_f64().unwrap(), line["bound"].as_f64().unwrap());
        assert!((value - truth).abs() <= bound && bound < 300.0, "{line}");
        assert!(line["lower"].as_f64().unwrap() <= truth && truth <= line["upper"].as_f64().unwrap(), "{line}");
        assert_eq!((&line["schema"], &line["level"]), (&"tamis.session.answer/1".into(), &0.95.into()));
    }
    assert_eq!((&first[2]["source"], &first[2]["name"]), (&"transcript".into(), &"again".into()));
    // A later run has the same answers.
    let later = lines(&stdout(&place.ask("s", &queries, "")));
    assert!(later.iter().all(|line| line["source"] == "transcript"), "{later:?}");
    assert!(later.iter().zip(&first).all(|(later, first)| later["value"] == first["value"]));

    let shown = place.run("session show s --format json");
    let shown: serde_json::Value = serde_json::from_str(&stdout(&shown)).unwrap();
    assert_eq!(shown["facts"]["mode"], "guarded");
    assert_eq!(shown["facts"]["asked"], "2 different queries; the bound is for 100");
    assert_eq!(shown["latest"][1]["name"], "both");
    let inspected = place.run("inspect s");
    assert_eq!(stdout(&inspected), stdout(&place.run("session show s")));
    assert!(stdout(&inspected).contains("left           "), "{}", stdout(&inspected));
}

/// What a correction taught, the next run knows.
/// Predictions are by the normal law, and say so where a few keys have most of the records.
#[test]
fn predictions_name_what_they_leave_out() {
    let place = Place::new();
    for (rows, said) in [(1, false), (250, true)] {
        let explained = place.create(&format!("--queries 40 --epsilon 10 --rows-per-key {rows} --explain"));
        assert_eq!(code(&explained), 0);
        assert_eq!(stdout(&explained).contains("collide with a frequent key"), said, "{}", stdout(&explained));
    }
}

#[test]
fn a_correction_is_remembered() {
    let place = Place::new();
    let more = "--queries 10 --epsilon 1000 --mode sparse-mw --updates 5 --threshold 100 --state s";
    assert_eq!(code(&place.create(more)), 0);
    for (keys, truth, source, left) in [
        (&["ann"][..], 400.0, "data", 4),
        (&["ann", "nobody"], 400.0, "hypothesis", 4),
        (&["bob"], 300.0, "data", 3),
        (&["bob", "nobody"], 300.0, "hypothesis", 3),
    ] {
        let asked = answers(&place.ask("s", &query("q", keys), ""));
        let (value, from, after) = &asked[0];
        assert_eq!((from.as_str(), *after), (source, left), "{keys:?}");
        assert!((value - truth).abs() < 100.0, "{keys:?}: {value}");
    }
}

#[test]
#[cfg(unix)]
fn a_state_is_for_its_owner_alone() {
    use std::os::unix::fs::MetadataExt;
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 5 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    assert_eq!(code(&place.ask("s", &query("ann", &["ann"]), "")), 0);
    assert_eq!(fs::metadata(place.path("s")).unwrap().mode() & 0o777, 0o600);
    // Nothing else is left beside it, and no sequence number is for others.
    let names = fs::read_dir(place.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.filter(|name| name != "home" && name != "table.csv" && name != "queries.jsonl").count(), 1);
    for entry in fs::read_dir(place.path("home/tamis")).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    }
}

/// As many answers as were bought, and then no more: also over several runs.
#[test]
fn a_gaussian_session_ends() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 3 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    let names = ["ann", "bob", "other701", "other702", "other703"];
    let queries: Vec<String> = names.iter().map(|name| query(name, &[name])).collect();
    let first = place.ask("s", &queries[0], "");
    assert_eq!(code(&first), 0);
    let rest = place.ask("s", &queries.concat(), "");
    assert_eq!(code(&rest), 1);
    assert!(stderr(&rest).contains("has given all its 3 answers"), "{}", stderr(&rest));
    let rest = answers(&rest);
    let expected = [("transcript", 2), ("data", 1), ("data", 0)];
    assert!(rest.iter().map(|(_, source, left)| (source.as_str(), *left)).eq(expected), "{rest:?}");
    assert!((rest[1].0 - 300.0).abs() < 50.0);
    // What was answered is answered for ever, and nothing else.
    assert_eq!(code(&place.ask("s", &queries[..3].concat(), "")), 0);
    let more = place.ask("s", &queries[4], "");
    assert_eq!((code(&more), stdout(&more).as_str()), (1, ""));
}

/// Where corrections are used up, guesses are given only to who asks for them.
#[test]
fn guesses_without_corrections_are_asked_for() {
    let place = Place::new();
    // The first guess is m/N, so both are wrong by hundreds: one correction is used, the second is missing.
    let more = "--queries 10 --epsilon 1000 --mode sparse-mw --updates 1 --threshold 100 --state s";
    assert_eq!(code(&place.create(more)), 0);
    let queries = query("ann", &["ann"]) + &query("bob", &["bob"]);
    let refused = place.ask("s", &queries, "");
    assert_eq!(code(&refused), 1);
    assert!(stderr(&refused).contains("no corrections are left"), "{}", stderr(&refused));
    let given = answers(&refused);
    assert_eq!((given.len(), given[0].1.as_str(), given[0].2), (1, "data", 0));
    assert!((given[0].0 - 400.0).abs() < 50.0);
    // What was refused was not kept: asked again it is refused again.
    assert_eq!(code(&place.ask("s", &queries, "")), 1);
    let shown = stdout(&place.run("session show s"));
    assert!(shown.contains("asked          1 different queries"), "{shown}");
    let unchecked = place.ask("s", &(queries + &query("c", &["other701", "other702"])), "--unchecked");
    assert_eq!(code(&unchecked), 0);
    let last = lines(&stdout(&unchecked)).pop().unwrap();
    assert_eq!((&last["source"], &last["checked"], &last["bound"]), (&"hypothesis".into(), &false.into(), &().into()));
    // A guess that was given is an answer like others: it needs no flag to be given again.
    let again = place.ask("s", &query("bob", &["bob"]), "");
    let line = &lines(&stdout(&again))[0];
    assert_eq!((code(&again), &line["source"], &line["checked"]), (0, &"transcript".into(), &false.into()));
}

/// Where the records are private, that there are more of them than was stated is told to the curator on standard error, and
/// nothing else depends on it.
#[test]
fn more_records_than_stated_are_the_curators_secret() {
    let place = Place::new();
    let create = |records: u32, state: &str| {
        place.run(&format!(
            "session create table.csv --key name --unit row --neighbours add-remove --records {records} --max-support 10 \
             --queries 9 --epsilon 1000 --state {state} --quiet"
        ))
    };
    for (records, state, is_told) in [(999, "s", true), (1000, "t", false)] {
        let created = create(records, state);
        assert_eq!((code(&created), stdout(&created).as_str()), (0, ""), "{}", stderr(&created));
        let shown = place.run(&format!("session show {state}"));
        let asked = place.ask(state, &query("x", &["other701"]), "");
        assert_eq!((code(&shown), code(&asked)), (0, 0));
        for (output, is_told) in [(&created, is_told), (&shown, is_told), (&asked, false)] {
            let told = stderr(output).contains("warning: there are more records than --records says");
            assert_eq!(told, is_told, "{}", stderr(output));
        }
        // The same but for the number that was stated.
        let bound = format!("while corrections are left, if there are at most {records} records\n");
        assert!(stdout(&shown).contains(&bound), "{}", stdout(&shown));
        assert!(!stdout(&shown).contains("more records"), "{}", stdout(&shown));
    }
}

/// What the plan takes for granted, what it does not spend and what another mode needs.
#[test]
fn plans_say_what_was_not_said() {
    let place = Place::new();
    let explain = |more: &str| stdout(&place.create(&format!("--queries 40 --epsilon 1 --explain {more}")));
    for (more, word, is_said) in [
        ("", "assumed   one record a key", true),
        ("--rows-per-key 1", "assumed", false),
        ("--mode sparse-mw", "assumed   one record a key", true),
        ("", "(--mode gaussian needs --delta, for example 1e-9)", true),
        ("--delta 1e-9", "(--mode gaussian would be within", true),
        ("--delta 1e-9", "needs --delta", false),
        ("--delta 1e-9 --updates 1", "δ was not needed: none is spent", true),
        ("--updates 1", "δ was not needed", false),
        ("--delta 1e-9 --mode gaussian", "δ was not needed", false),
        ("--updates 1", "up to 1 correction comes from the data", true),
        ("", "up to 10 corrections come from the data", true),
        ("--largest-count 3", "no key has more than 3", true),
    ] {
        assert_eq!(explain(more).contains(word), is_said, "{more}: {}", explain(more));
    }
    let none = place.create("--queries 40 --epsilon 1 --updates 0 --explain");
    assert!(stderr(&none).starts_with("error: --updates: the number of corrections must be"), "{}", stderr(&none));
}

/// Answers from the data have the standard error of their noise, also where nothing else is promised of them.
#[test]
fn noise_is_told_of_answers_from_the_data() {
    let place = Place::new();
    let more = "--queries 1 --epsilon 1000 --mode sparse-mw --updates 5 --threshold 100 --state s";
    assert_eq!(code(&place.create(more)), 0);
    let asked = place.ask("s", &(query("ann", &["ann"]) + &query("bob", &["bob"])), "");
    for (line, is_bounded) in lines(&stdout(&asked)).iter().zip([true, false]) {
        let error = line["standard_error"].as_f64().unwrap();
        assert!(0.0 < error && error < 1.0, "{line}");
        assert_eq!((&line["source"], &line["checked"]), (&"data".into(), &true.into()));
        assert_eq!(line["bound"].is_number(), is_bounded, "{line}");
    }
    assert!(stderr(&asked).contains("the guarantee was for 1"), "{}", stderr(&asked));
}

/// All answers, in every format; text says how many there are.
#[test]
fn all_answers_are_listed() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 20 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    let queries: String = (1..=12).map(|key| query(&format!("q{key}"), &[&format!("other{}", 700 + key)])).collect();
    assert_eq!(code(&place.ask("s", &queries, "")), 0);
    let show = |more: &str| stdout(&place.run(&format!("session show s {more}")));
    assert!(
        show("").contains("\nlatest answers, 10 of 12: `tamis session show --all` lists them\n  q3: "),
        "{}",
        show("")
    );
    assert!(show("--all").contains("\nanswers\n  q1: "), "{}", show("--all"));
    let json = |more: &str| lines(&show(&format!("--format json {more}"))).remove(0);
    assert_eq!((json("")["latest"].as_array().unwrap().len(), &json("")["asked"]), (10, &12.into()));
    assert_eq!(json("--all")["latest"].as_array().unwrap().len(), 12);
    let csv = show("--all --format csv");
    assert_eq!((csv.lines().count(), csv.lines().next()), (13, Some("name,value,bound,source")));
    assert!(csv.lines().nth(12).unwrap().starts_with("q12,"), "{csv}");
    assert!(show("--format csv").starts_with("name,value\nmode,gaussian\n"), "{}", show("--format csv"));
}

/// Who stops reading is told where the rest is; a full disk costs nothing that was not spent.
#[test]
#[cfg(target_os = "linux")]
fn answers_that_cannot_be_printed_are_kept() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 900 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    fs::write(place.path("queries.jsonl"), query("ann", &["ann"])).unwrap();
    let ask = |to: Stdio| {
        let mut command = place.tamis();
        command.args(["session", "ask", "s", "--queries", "queries.jsonl"]).stdout(to).stderr(Stdio::piped());
        command.output().unwrap()
    };
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let gone = ask(writer.into());
    assert_eq!(code(&gone), 0);
    let kept = "answers that were not shown are kept, and the same queries, asked again, get them at no cost\n";
    assert_eq!(stderr(&gone), format!("standard output was closed: {kept}"));
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    let failed = ask(full());
    assert_eq!(code(&failed), 3);
    assert!(stderr(&failed).ends_with(&format!("help: {kept}")), "{}", stderr(&failed));
    assert!(stdout(&place.run("session show s")).contains("left           899 of 900"));
    let show = place.tamis().args(["session", "show", "s"]).stdout(full()).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(code(&show), 3);
    assert!(stderr(&show).ends_with("printing spends nothing\n"), "{}", stderr(&show));
}

/// Each command says which one a file is for.
#[test]
fn files_of_other_commands_are_named() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 5 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    let released = place.run(
        "release table.csv --key name --unit row --epsilon 1 --neighbours add-remove --records 1000 --width 64 --out r --yes",
    );
    assert_eq!(code(&released), 0, "{}", stderr(&released));
    fs::write(place.path("list"), "ann\n").unwrap();
    for (words, told) in [
        ("answer s --list list", "`tamis session ask` asks the state of a session"),
        ("session ask r --list list", "`tamis answer` asks a release"),
        ("inspect table.csv", "give a file that `tamis release` wrote, or a state of"),
        ("release s --key name --unit row --epsilon 1 --neighbours add-remove --width 64 --out t", "s is not a table"),
        (
            "session create s --key name --unit row --epsilon 1 --neighbours add-remove --records 9 --max-support 1 \
             --queries 1 --state t",
            "s is not a table",
        ),
    ] {
        let output = place.run(words);
        assert_eq!(code(&output), 2, "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(told), "{words}: {}", stderr(&output));
    }
}

#[test]
fn adult_is_answered() {
    let place = Place::new();
    let (table, columns) = (example("adult_majority48.csv"), example("adult_majority48_columns.txt"));
    let queries = example("adult_conjunctions.jsonl");
    for mode in ["guarded --rows-per-key 1000", "gaussian"] {
        let created = place.run(&format!(
            "session create {} --key bits --bits {} --unit row --neighbours substitute --records 32561 --max-support 256 \
             --queries 1000 --epsilon 100 --delta 1e-9 --mode {mode} --state {}",
            table.display(),
            columns.display(),
            &mode[..3]
        ));
        assert_eq!(code(&created), 0, "{}", stderr(&created));
        let asked = place.run(&format!("session ask {} --queries {} --format json", &mode[..3], queries.display()));
        assert_eq!(code(&asked), 0, "{}", stderr(&asked));
        let first = &lines(&stdout(&asked))[0];
        // The truth is 8028, and bounds are small at this ε.
        assert!((first["value"].as_f64().unwrap() - 8028.0).abs() < 300.0, "{first}");
        assert_eq!(first["keys"], 256);
    }
}

/// Units are bounded as in a release, counted rows are the rows they count.
#[test]
fn units_and_counts() {
    let place = Place::new();
    fs::write(place.path("visits.csv"), "who,place,n\n".to_owned() + &"a,x,1\n".repeat(90) + &"b,y,2\n".repeat(5))
        .unwrap();
    let common = "session create visits.csv --neighbours add-remove --records 200 --max-support 2 --queries 2 --epsilon 1000 \
                  --delta 1e-6 --mode gaussian --key place";
    for (more, truth) in
        [("--unit who --max-rows 3 --state a", [3.0, 3.0]), ("--unit row --count n --state b", [90.0, 10.0])]
    {
        let created = place.run(&format!("{common} {more}"));
        assert_eq!(code(&created), 0, "{}", stderr(&created));
        let state = &more[more.len() - 1..];
        let asked = answers(&place.ask(state, &(query("x", &["x"]) + &query("y", &["y"])), ""));
        assert!(asked.iter().zip(truth).all(|((value, ..), truth)| (value - truth).abs() < 1.0), "{asked:?}");
    }
    assert!(
        stderr(&place.run(&format!("{common} --unit who --max-rows 3 --state c"))).contains("dropped by --max-rows")
    );
}

#[test]
fn what_is_worth_nothing_is_refused_before_the_data_is_read() {
    let place = Place::new();
    let vacuous = "session create table.csv --key name --unit row --neighbours substitute --records 999 --max-support 10 \
                   --queries 1000 --epsilon 0.01 --state s";
    let refused = place.run(vacuous);
    assert_eq!(code(&refused), 1);
    assert!(stderr(&refused).contains("the guarantee is vacuous"), "{}", stderr(&refused));
    let insisted = place.run(&format!("{vacuous} --yes"));
    assert_eq!(code(&insisted), 2);
    assert!(stderr(&insisted).contains("the plan says 999, there are 1000"), "{}", stderr(&insisted));
    assert!(!place.path("s").exists());
    // Without data it is a plan.
    let explained = place.run(
        "session create --explain --unit row --neighbours substitute --records 1000 --max-support 10 --queries 1000 \
         --epsilon 0.01 --format json",
    );
    let plan: serde_json::Value = serde_json::from_str(&stdout(&explained)).unwrap();
    assert_eq!((&plan["vacuous"], &plan["mode"], &plan["updates"]), (&true.into(), &"guarded".into(), &10.into()));
}

/// Each is refused, with the right code and word, and nothing is written.
#[test]
fn requests_that_make_no_sense() {
    let place = Place::new();
    for (more, expected, word) in [
        ("--queries 5 --epsilon 0 --state s", 2, "--epsilon"),
        ("--queries 0 --epsilon 1000 --state s", 2, "--queries"),
        ("--queries 5 --epsilon 1000 --mode gaussian --state s", 1, "give --delta, for example 1e-9"),
        ("--queries 5 --epsilon 1000 --mode paper --updates 3 --state s", 2, "--updates and --threshold"),
        ("--queries 5 --epsilon 1000 --mode sparse-mw --updates 3 --state s", 2, "go together"),
        ("--queries 5 --epsilon 1000 --threshold 3 --state s", 2, "--threshold"),
        ("--queries 5 --epsilon 1000 --state nowhere/s", 2, "--state"),
        ("--queries 5 --epsilon 1000 --state -", 2, "--state"),
        ("--queries 5 --epsilon 1000 --rows-per-key x --state s", 2, "--rows-per-key"),
        ("--queries 5 --epsilon 1000 --beta 1 --state s", 2, "--beta"),
        ("--queries 5 --epsilon 1000 --max-rows 2 --state s", 1, "tells how many a unit has"),
    ] {
        let output = place.create(more);
        assert_eq!(code(&output), expected, "{more}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{more}: {}", stderr(&output));
    }
    let wrong = place.run(
        "session create table.csv --key name --unit row --neighbours substitute --records 1001 --max-support 10 --queries 5 \
         --epsilon 1000 --state s",
    );
    assert_eq!(code(&wrong), 2);
    assert!(stderr(&wrong).contains("the plan says 1001, there are 1000"), "{}", stderr(&wrong));
    assert!(!place.path("s").exists());

    assert_eq!(code(&place.create("--queries 5 --epsilon 1000 --state s")), 0);
    let keys: Vec<String> = (0..11).map(|key| key.to_string()).collect();
    let wide = query("wide", &keys.iter().map(String::as_str).collect::<Vec<_>>());
    let output = place.ask("s", &(query("ann", &["ann"]) + &wide), "");
    assert_eq!((code(&output), stdout(&output).lines().count()), (2, 1));
    assert!(stderr(&output).contains("line 2: a query may have at most 10 keys here, got 11"), "{}", stderr(&output));
    for (queries, word) in [("", "there are no queries"), ("nonsense\n", "line 1"), ("{\"name\": \"a\"}\n", "line 1")] {
        let output = place.ask("s", queries, "");
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
    let conjunction = place.ask("s", "{\"name\": \"a\", \"conjunction\": {\"b\": true}}\n", "");
    assert!(stderr(&conjunction).contains("keys are text here"), "{}", stderr(&conjunction));
}

#[test]
fn files_that_are_no_states() {
    let place = Place::new();
    let release = file(b"PAR1", ".tamis");
    for path in [place.path("table.csv"), release.path().to_owned(), place.path("nowhere"), Path::new("/").to_owned()] {
        for command in ["session ask", "session show"] {
            let output = place.run(&format!("{command} {}", path.display()));
            assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
            assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
        }
    }
}

/// A list is a query under the name of its file.
#[test]
fn lists_are_asked() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 5 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    fs::write(place.path("spring.txt"), "ann\nbob\nann\n").unwrap();
    fs::write(place.path("autumn.txt"), "bob\n").unwrap();
    let output = place.run("session ask s --list spring.txt --list autumn.txt --format csv --quiet");
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    let text = stdout(&output);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((rows[0][0], rows[1][0], rows[1][1], rows[2][0]), ("name", "spring", "2", "autumn"));
    assert!((rows[1][2].parse::<f64>().unwrap() - 700.0).abs() < 5.0, "{text}");
    let text = stdout(&place.run("session ask s --list autumn.txt"));
    assert!(text.contains("transcript (3 left)"), "{text}");
    // The table says what its columns are; of standard input the name is a word.
    assert!(text.starts_with("±        all of them hold at once with probability 95 %;"), "{text}");
    assert!(text.contains("\ntypical  standard error: "), "{text}");
    let mut command = place.tamis();
    command.args(["session", "ask", "s", "--list", "-", "--format", "csv"]);
    let output = command.stdin(fs::File::open(place.path("autumn.txt")).unwrap()).output().unwrap();
    assert!(stdout(&output).contains("\nstdin,1,"), "{}", stdout(&output));
}
