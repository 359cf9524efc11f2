//! What a state survives: being killed, being used by many, being copied, being damaged.
//!
//! Noise comes from the operating system and cannot be seeded; what is random in these tests themselves (when a process is killed,
//! which bit is flipped) comes from the seed in [`generator`], so that a failure can be sought again, though not at the very same
//! instruction.

use super::session::{Place, code, lines, query};
use super::{stderr, stdout};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

fn generator() -> StdRng {
    StdRng::seed_from_u64(19)
}

/// What a process printed before it was killed: whole lines, and one that may have been cut.
struct Killed {
    printed: String,
    complaint: String,
}

/// Gives a process all its input and kills it: in about half of the cases, which the seed decides, some time after it has printed
/// so many lines, else some time after it started.
fn kill(command: &mut Command, input: &[u8], lines: u32, rng: &mut StdRng) -> Killed {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child: Child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It fits into the pipe, and the process may already have ended.
    let _ = stdin.write_all(input);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    if rng.random() {
        for _ in 0..lines {
            output.read_line(&mut printed).unwrap();
        }
    }
    std::thread::sleep(Duration::from_micros(rng.random_range(0..25_000)));
    child.kill().unwrap();
    drop(stdin);
    output.read_to_string(&mut printed).unwrap();
    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    child.wait().unwrap();
    Killed { printed, complaint }
}

/// Whole lines only.
fn whole(printed: &str) -> &str {
    printed.rfind('\n').map_or("", |end| &printed[..=end])
}

/// Kills runs of one session; each run asks for new answers, and among them again for one that was printed.
fn kill_sessions(place: &Place, kills: u32, total: u64) {
    let mut rng = generator();
    let mut printed: HashMap<String, f64> = HashMap::new();
    let (mut latest, mut next, mut spent, mut answers) = (None, 0, 0, 0);
    for _ in 0..kills {
        let mut asked: Vec<String> = (next..next + 40).map(|key: u32| key.to_string()).collect();
        next += 40;
        asked.extend(latest.clone());
        asked[1..].rotate_right(1);
        let input: String = asked.iter().map(|key| query(key, &[&format!("other{key}"), "ann"])).collect();
        let mut command = place.tamis();
        let killed =
            kill(command.args(["session", "ask", "s", "--format", "json", "--quiet"]), input.as_bytes(), 1, &mut rng);
        // Whatever was done to it, the state is readable.
        assert_eq!(killed.complaint, "");
        for answer in lines(whole(&killed.printed)) {
            let (key, value) = (answer["name"].as_str().unwrap().to_owned(), answer["value"].as_f64().unwrap());
            if let Some(first) = printed.get(&key) {
                // No answer is lost, and none is drawn twice.
                assert_eq!((answer["source"].as_str(), value), (Some("transcript"), *first), "{key}");
            } else {
                assert_ne!(answer["source"], "transcript");
                printed.insert(key.clone(), value);
                spent += u64::from(answer["source"] == "data");
                latest = Some(key);
            }
            // What was printed was paid for.
            assert!(total - answer["updates_left"].as_u64().unwrap() >= spent);
            answers += 1;
        }
    }
    // The kills hit processes that were at work: each that was waited for gave a new answer, and there are 42 or more of them.
    assert!(answers >= kills / 3, "{answers} answers in {kills} runs");
    // Of those some were guesses of the sparse vector: about half, so fewer than 5 of 42 have a probability below 10⁻⁷.
    assert!(spent >= u64::from(kills / 20), "{spent} of {total}");
}

/// As many kills for each of three kinds, 300 in all.
#[test]
fn killed_at_any_point_a_gaussian_session_answers_no_more_than_was_paid_for() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 4000 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    kill_sessions(&place, 100, 4000);
}

#[test]
fn killed_at_any_point_a_sparse_vector_answers_no_more_than_was_paid_for() {
    let place = Place::new();
    let more = "--queries 4000 --epsilon 100 --mode sparse-mw --updates 3000 --threshold 1 --yes --state s";
    assert_eq!(code(&place.create(more)), 0);
    kill_sessions(&place, 100, 3000);
}

/// The bound on the records is stated far too low, so that release and noise are off by more than the threshold most of the time,
/// and corrections are kept as well as guesses.
#[test]
fn killed_at_any_point_a_guarded_session_answers_no_more_than_was_paid_for() {
    let place = Place::new();
    let created = place.run(
        "session create table.csv --key name --unit row --neighbours add-remove --records 1 --max-support 10 --queries 4000 \
         --epsilon 20 --rows-per-key 1 --updates 3000 --yes --state s",
    );
    assert_eq!(code(&created), 0, "{}", stderr(&created));
    kill_sessions(&place, 100, 3000);
}

/// A correction takes more room than a guess. Where there is none left, that tells which it was; so it is paid for.
#[test]
fn a_correction_that_cannot_be_kept_is_paid_for() {
    let place = Place::new();
    let create = |mode: &str| {
        place.run(&format!(
            "session create table.csv --key name --unit row --neighbours substitute --records 1000 --max-support 2000 \
             --queries 10 --epsilon 1000 --yes {mode}"
        ))
    };
    let many: Vec<String> = (0..2_000).map(|key| format!("nobody{key}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    fs::write(place.path("wrong.jsonl"), query("wrong", &many)).unwrap();
    fs::write(place.path("right.jsonl"), query("right", &["nobody"])).unwrap();
    assert_eq!(code(&create("--mode sparse-mw --updates 2 --threshold 100 --state s")), 0);
    let blocks = fs::metadata(place.path("s")).unwrap().len() / 512 + 60;
    let ask = |queries: &str| {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" session ask s --queries {queries} --quiet");
        let mut shell = Command::new("sh");
        shell.env("XDG_STATE_HOME", place.path("home")).current_dir(place.path("")).args(["-c", &script]);
        shell.arg(env!("CARGO_BIN_EXE_tamis")).stdin(Stdio::null()).output().unwrap()
    };
    let left = || {
        let shown: serde_json::Value =
            serde_json::from_str(&stdout(&place.run("session show s --format json"))).unwrap();
        shown["facts"]["left"].as_str().unwrap().to_owned()
    };
    assert_eq!((code(&ask("right.jsonl")), left().as_str()), (0, "2 of 2 corrections"));
    for lost in 1..=2 {
        let failed = ask("wrong.jsonl");
        assert_eq!((code(&failed), stdout(&failed).as_str()), (3, ""), "{}", stderr(&failed));
        assert!(left().starts_with(&format!("{} of 2 corrections ({lost} lost", 2 - lost)), "{}", left());
    }
    // Nothing is left that could fail: the guess is not compared with the data.
    assert_eq!(code(&ask("wrong.jsonl")), 1);
}

/// A watch that is interrupted loses no alert; one that is killed may have seen one.
#[test]
fn a_watch_is_charged_until_it_ends() {
    let place = Place::new();
    let left = || {
        let shown: serde_json::Value = serde_json::from_str(&stdout(&place.run("inspect w --format json"))).unwrap();
        shown["facts"]["alerts left"].as_str().unwrap().to_owned()
    };
    let mut rows = String::new();
    let mut watch_one = |signal: &str| {
        rows += "0\n1000000\n";
        fs::write(place.path("rows"), &rows).unwrap();
        let mut command = place.tamis();
        let words = format!("{WATCH} --alerts 5 --follow rows");
        let mut child = command.args(words.split_whitespace()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        // The header, and the alert: then it is at work, and waits.
        assert!(output.next().is_some() && output.next().is_some());
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        child.wait().unwrap().code()
    };
    assert_eq!((watch_one("-INT"), left().as_str()), (Some(130), "4 of 5"));
    assert_eq!((watch_one("-TERM"), left().as_str()), (Some(130), "3 of 5"));
    assert_eq!(watch_one("-KILL"), None);
    assert!(left().starts_with("1 of 5 (1 lost"), "{}", left());
}

/// Once a watch is interrupted no row is answered any more, also if the state could not be kept; and then the alert is paid for.
#[test]
fn an_interrupted_watch_answers_no_more() {
    let place = Place::new();
    let mut printed = 0;
    for is_kept in [true, false] {
        let mut command = place.tamis();
        let words = format!("{WATCH} --alerts 20 -");
        let piped = command.args(words.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"1000000\n").unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(output.next().is_some() && output.next().is_some());
        if !is_kept {
            fs::remove_dir_all(place.path("home")).unwrap();
        }
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        // Whoever ends it may be faster than this.
        let _ = stdin.write_all(b"1000000\n1000000\n1000000\n");
        let ended = child.wait().unwrap().code();
        // A row may have come before the signal: it was kept, or refused.
        assert!(ended == Some(130) || !is_kept && ended == Some(1), "{ended:?}");
        let shown = stdout(&place.run("inspect w --format json"));
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        printed += 1 + output.count();
        assert_eq!(shown["alerts"].as_array().unwrap().len(), printed, "{shown}");
        let left = shown["facts"]["alerts left"].as_str().unwrap();
        assert_eq!(left.contains("1 lost"), !is_kept, "{left}");
    }
}

/// What a killed run left of a state that was removed is not taken for a part of another.
#[test]
fn a_journal_without_its_state_is_in_the_way() {
    let place = Place::new();
    fs::write(place.path("s-journal"), "left").unwrap();
    let refused = place.create("--queries 40 --epsilon 1000 --delta 1e-6 --mode gaussian --state s");
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("s-journal is left of a state"), "{}", stderr(&refused));
    assert!(!place.path("s").exists());
}

/// 64 processes want one answer each, and there are 40.
#[test]
fn many_processes_do_not_overspend() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 40 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    let ask = |key: u32| {
        let mut command = place.tamis();
        command.args(["session", "ask", "s", "--format", "json", "--quiet"]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(query("q", &[&key.to_string()]).as_bytes()).unwrap();
        child
    };
    let children: Vec<Child> = (0..64).map(ask).collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let answered = outputs.iter().filter(|output| code(output) == 0 && stdout(output).lines().count() == 1).count();
    // On a machine that is busy beyond measure some may have waited in vain.
    let busy = outputs.iter().filter(|output| stderr(output).contains("another process uses the state")).count();
    let refused = outputs.iter().filter(|output| code(output) == 1 && stdout(output).is_empty()).count();
    assert_eq!(answered + busy + refused, 64);
    assert!(answered <= 40 && answered + busy >= 40, "{answered} answered, {busy} gave up");
    let shown: serde_json::Value = serde_json::from_str(&stdout(&place.run("session show s --format json"))).unwrap();
    assert_eq!(shown["facts"]["left"], format!("{} of 40 answers", 40 - answered));
}

/// Who comes second waits, and is told why if it takes too long: this one gives up after ten seconds, so it is not waited for
/// here; that it does wait is.
#[test]
fn a_second_process_waits_for_the_first() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 40 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    let mut command = place.tamis();
    command.args(["session", "ask", "s", "--format", "json", "--quiet"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut first = command.spawn().unwrap();
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(query("q", &["ann"]).as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(first.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut second = place.tamis();
    second.args(["session", "show", "s"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut second = second.spawn().unwrap();
    let mut said = String::new();
    // It says so while it waits: the first is still there.
    BufReader::new(second.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "waiting for another process that uses s, up to 10 seconds …\n");
    assert!(second.try_wait().unwrap().is_none());
    drop(stdin);
    assert!(first.wait().unwrap().success());
    assert_eq!(code(&second.wait_with_output().unwrap()), 0);
}

#[test]
fn an_older_copy_is_refused() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 40 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    fs::copy(place.path("s"), place.path("older")).unwrap();
    let asked = query("ann", &["ann"]);
    let value = |output: &std::process::Output| lines(&stdout(output))[0]["source"].as_str().unwrap().to_owned();
    assert_eq!(value(&place.ask("s", &asked, "")), "data");
    fs::rename(place.path("s"), place.path("newest")).unwrap();
    fs::rename(place.path("older"), place.path("s")).unwrap();
    for command in ["session ask s --queries queries.jsonl", "session show s", "inspect s"] {
        let refused = place.run(command);
        assert_eq!((code(&refused), stdout(&refused).as_str()), (1, ""));
        assert!(
            stderr(&refused).contains("s is an older copy: it has come to its commit 1, and commit 3"),
            "{}",
            stderr(&refused)
        );
    }
    // The newest is as good under another name.
    assert_eq!(value(&place.ask("newest", &asked, "")), "transcript");

    // On another machine nobody can know, and that is said. (And so this is the twin that must fail: there the older copy draws
    // the answer again, which the tests above would see.)
    let elsewhere = place
        .elsewhere("elsewhere")
        .args(["session", "ask", "s", "--queries", "queries.jsonl", "--format=json", "--quiet"])
        .output()
        .unwrap();
    assert_eq!((code(&elsewhere), value(&elsewhere).as_str()), (0, "data"));
    let warned = "warning: this user has not used this state on this machine before, so it cannot be told whether s is the newest";
    assert!(stderr(&elsewhere).contains(warned), "{}", stderr(&elsewhere));
    // Once it was seen, it is known.
    let again = place.elsewhere("elsewhere").args(["session", "show", "s"]).output().unwrap();
    assert_eq!((code(&again), stderr(&again).as_str()), (0, ""));

    // The same where there is no directory for it; and in the monitor, which makes a state and opens it, it is said once.
    for words in [
        "session ask s --queries queries.jsonl --quiet".to_owned(),
        format!("{WATCH} --alerts 1 n.txt"),
        format!("{WATCH} --alerts 1 n.txt"),
    ] {
        fs::write(place.path("n.txt"), "0\n").unwrap();
        let mut homeless = place.tamis();
        let homeless = homeless.env_remove("XDG_STATE_HOME").env_remove("HOME").args(words.split_whitespace()).output();
        let homeless = homeless.unwrap();
        assert_eq!(code(&homeless), 0, "{}", stderr(&homeless));
        let warned = "warning: the user's state directory cannot be used (neither XDG_STATE_HOME nor HOME is set";
        assert!(
            stderr(&homeless).starts_with(warned) && stderr(&homeless).lines().count() == 1,
            "{}",
            stderr(&homeless)
        );
    }

    // A number that cannot be read is not taken for none.
    for entry in fs::read_dir(place.path("home/tamis")).unwrap() {
        fs::write(entry.unwrap().path(), "none").unwrap();
    }
    let refused = place.run("session show newest");
    assert_eq!(code(&refused), 1);
    assert!(stderr(&refused).contains("is damaged"), "{}", stderr(&refused));
    // Nor is one that cannot be read at all: here its path leads through a file.
    let homeless = place.elsewhere("table.csv").args(["session", "show", "newest"]).output().unwrap();
    assert_eq!(code(&homeless), 1, "{}", stderr(&homeless));
}

/// A run that has a state open: of one that this user has not used before, so that it says so when it has it.
struct Open {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Open {
    fn new(place: &Place, state: &str) -> Self {
        let mut command = place.elsewhere("new");
        command.args(["session", "ask", state, "--format", "json"]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        assert!(said.contains("is the newest copy"), "{said}");
        Self { stdin: child.stdin.take().unwrap(), stdout: BufReader::new(child.stdout.take().unwrap()), child, stderr }
    }

    /// The line that answers.
    fn ask(&mut self, query: &str) -> String {
        self.stdin.write_all(query.as_bytes()).unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// Its exit code and what more it said.
    fn end(mut self) -> (i32, String) {
        drop(self.stdin);
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code().unwrap(), said)
    }
}

/// A copy that was opened before the original is used keeps it waiting, and then makes it the older one.
#[test]
fn two_copies_are_not_used_at_once() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 3 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    fs::copy(place.path("s"), place.path("copy")).unwrap();
    let queries = (0..3).map(|key| query(&key.to_string(), &[&format!("other{key}")])).collect::<String>();
    fs::write(place.path("queries.jsonl"), queries).unwrap();
    let mut copy = Open::new(&place, "copy");
    let mut original = place.elsewhere("new");
    original.args(["session", "ask", "s", "--queries", "queries.jsonl", "--format", "json"]);
    let mut original = original.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(original.try_wait().unwrap().is_none());
    // The twin: the original answered three times, and then the copy once.
    assert_eq!(lines(&copy.ask(&query("ann", &["ann"])))[0]["updates_left"], 2);
    assert_eq!(copy.end().0, 0);
    let original = original.wait_with_output().unwrap();
    assert_eq!((code(&original), stdout(&original).as_str()), (1, ""));
    assert!(stderr(&original).contains("s is an older copy: it has come to its commit 1, and commit 3"));
}

/// The lock on the number is one that whoever asks for it keeps to. What is done past it is seen before the next answer.
#[test]
fn a_number_that_is_not_ones_own_ends_a_run() {
    let place = Place::new();
    let forgeries: [fn(&Path); 3] = [
        |number| fs::write(number, "00000000000000000005\n").unwrap(),
        |number| fs::remove_file(number).unwrap(),
        |number| {
            let same = fs::read(number).unwrap();
            fs::remove_file(number).unwrap();
            fs::write(number, same).unwrap();
        },
    ];
    for forge in forgeries {
        let _ = fs::remove_file(place.path("s"));
        let _ = fs::remove_dir_all(place.path("new"));
        assert_eq!(code(&place.create("--queries 40 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
        let mut run = Open::new(&place, "s");
        assert_eq!(lines(&run.ask(&query("ann", &["ann"]))).len(), 1);
        let number = fs::read_dir(place.path("new/tamis")).unwrap().next().unwrap().unwrap().path();
        let state = fs::read(place.path("s")).unwrap();
        forge(&number);
        let forged = fs::read(&number).ok();
        assert_eq!(run.ask(&query("bob", &["bob"])), "");
        let (code, said) = run.end();
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("was changed or removed while s was in use"), "{said}");
        // Nothing was kept, least of all a smaller number.
        assert!(fs::read(place.path("s")).unwrap() == state && fs::read(&number).ok() == forged);
    }
}

/// What SQLite would take for a URI, without locks, or for no file is a name like any other.
#[test]
fn a_name_is_a_name() {
    let place = Place::new();
    fs::create_dir(place.path("file:folder")).unwrap();
    for name in ["file:s?nolock=1", "file:folder/s?vfs=unix-none", ":memory:"] {
        let created = place.create(&format!("--queries 3 --epsilon 1000 --delta 1e-6 --mode gaussian --state {name}"));
        assert_eq!(code(&created), 0, "{}", stderr(&created));
        assert!(place.path(name).is_file() && !place.path("s").exists() && !place.path("file:folder/s").exists());
        let asked = place.ask(name, &query("ann", &["ann"]), "");
        assert_eq!(lines(&stdout(&asked))[0]["source"], "data", "{}", stderr(&asked));
        // Two processes wait for each other: by the lock on the state alone, since their numbers are kept apart.
        let mut first = Open::new(&place, name);
        let second = place
            .elsewhere("another")
            .args(["session", "show", name])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        std::thread::sleep(Duration::from_millis(100));
        let mut second = second.unwrap();
        assert!(second.try_wait().unwrap().is_none(), "{name}");
        assert_eq!(lines(&first.ask(&query("bob", &["bob"])))[0]["updates_left"], 1);
        assert_eq!(first.end().0, 0);
        assert!(second.wait().unwrap().success());
        fs::remove_dir_all(place.path("new")).unwrap();
    }
}

/// Read as an input and closed, it would lose the lock that the process has on it.
#[test]
#[cfg(unix)]
fn a_state_is_no_input_of_its_own() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 4 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    fs::write(place.path("n.txt"), "0\n").unwrap();
    assert_eq!(code(&place.run(&format!("{WATCH} --alerts 1 n.txt"))), 0);
    std::os::unix::fs::symlink("s", place.path("link")).unwrap();
    fs::write(place.path("list.txt"), "ann\n").unwrap();
    for (words, stdin, argument) in [
        ("session ask s --list list.txt --list s", None, "--list"),
        ("session ask link --list s", None, "--list"),
        ("session ask s --list -", Some("s"), "--list"),
        ("session ask s --queries ./link", None, "--queries"),
        ("session ask s --queries /dev/stdin", Some("s"), "--queries"),
        ("session ask link", Some("s"), "--queries"),
        (&format!("{WATCH} --alerts 1 w"), None, "FILE"),
        (&format!("{WATCH} --alerts 1 /dev/stdin"), Some("w"), "FILE"),
    ] {
        let mut command = place.tamis();
        command.args(words.split_whitespace());
        if let Some(stdin) = stdin {
            command.stdin(fs::File::open(place.path(stdin)).unwrap());
        }
        let output = command.output().unwrap();
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{words}");
        let complaint = stderr(&output);
        assert!(complaint.starts_with(&format!("error: {argument}: ")) && complaint.contains(" itself"), "{complaint}");
    }
    // The twin: any other file is read, and if it is a state, that is said.
    let other = place.run("session ask s --list list.txt --list w --quiet");
    let told = "w is not text, one key or query a line: it is a state, or another SQLite file";
    assert!(code(&other) == 2 && stderr(&other).contains(told), "{}", stderr(&other));
}

/// Every flipped bit is refused, or makes no difference.
#[test]
fn a_damaged_state_is_refused() {
    let place = Place::new();
    let mut rng = generator();
    let more = ["--mode gaussian --delta 1e-6 --state gaussian", "--rows-per-key 250 --state guarded"];
    for (more, flips) in more.into_iter().zip([100, 60]) {
        let state = more.rsplit(' ').next().unwrap();
        assert_eq!(code(&place.create(&format!("--queries 40 --epsilon 1000 {more}"))), 0);
        assert_eq!(code(&place.ask(state, &(query("ann", &["ann"]) + &query("bob", &["bob"])), "")), 0);
        let shown = stdout(&place.run(&format!("session show {state} --format json")));
        let whole = fs::read(place.path(state)).unwrap();
        let mut refused = 0;
        for flip in 0..flips {
            // The header of the file and of its first page, then anywhere.
            let at = if flip < 24 { 4 * flip + 1 } else { rng.random_range(0..whole.len()) };
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << rng.random_range(0..8u32);
            fs::write(place.path("damaged"), damaged).unwrap();
            let output = place.run("session show damaged --format json");
            if code(&output) == 2 {
                assert!(stdout(&output).is_empty() && stderr(&output).starts_with("error: "), "{at}");
                refused += 1;
            } else {
                assert_eq!((code(&output), stdout(&output)), (0, shown.clone()), "byte {at}");
            }
        }
        assert!(refused > flips / 4, "{refused} of {flips}");
        let mut newer = whole.clone();
        newer[60..64].copy_from_slice(&2u32.to_be_bytes());
        let mut log = whole.clone();
        log[18..20].copy_from_slice(&[2, 2]);
        for (bytes, word) in [
            (&newer[..], "use a newer version"),
            (&log, "is damaged"),
            (&whole[..whole.len() / 2], "is damaged"),
            (&whole[..16], "is damaged"),
            (&[], "is not a state"),
        ] {
            fs::write(place.path("damaged"), bytes).unwrap();
            let output = place.run("session show damaged");
            assert_eq!(code(&output), 2);
            assert!(stderr(&output).contains(word), "{}", stderr(&output));
        }
        // Nothing of this has touched what is whole.
        assert_eq!(stdout(&place.run(&format!("session show {state} --format json"))), shown);
    }
}

/// Pages of the state after a commit over those before it, up to any page: what a crash leaves of a file whose journal is lost.
/// It is refused, or it is one of the two.
#[test]
fn half_a_commit_is_refused() {
    const PAGE: usize = 4096;
    let place = Place::new();
    let more = "--queries 40 --epsilon 1000 --mode sparse-mw --updates 5 --threshold 100 --state s";
    assert_eq!(code(&place.create(more)), 0);
    assert_eq!(code(&place.ask("s", &query("bob", &["bob"]), "")), 0);
    let before = fs::read(place.path("s")).unwrap();
    assert_eq!(code(&place.ask("s", &query("ann", &["ann"]), "")), 0);
    let after = fs::read(place.path("s")).unwrap();
    let shown = stdout(&place.run("session show s --format json"));
    let (mut refused, pages) = (0, after.len() / PAGE);
    for first in [&after, &before] {
        let second = if first == &after { &before } else { &after };
        for page in 1..pages {
            let cut = (PAGE * page).min(first.len());
            let torn = [&first[..cut], second.get(cut..).unwrap_or_default()].concat();
            let is_whole = torn == before || torn == after;
            fs::write(place.path("torn"), torn).unwrap();
            let output = place.run("session show torn --format json");
            match code(&output) {
                2 => refused += 1,
                1 => assert!(stderr(&output).contains("is an older copy"), "{}", stderr(&output)),
                _ => assert!(is_whole || stdout(&output) == shown, "page {page}"),
            }
        }
    }
    assert!(refused >= 2, "{refused} of {pages} pages");
}

#[test]
#[cfg(unix)]
fn a_state_with_two_names_is_refused() {
    let place = Place::new();
    assert_eq!(code(&place.create("--queries 4 --epsilon 1000 --delta 1e-6 --mode gaussian --state s")), 0);
    fs::hard_link(place.path("s"), place.path("t")).unwrap();
    let output = place.run("session show t");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("has a second name"), "{}", stderr(&output));
}

const WATCH: &str = "monitor --threshold 500000 --epsilon 1 --sensitivity 1 --kind counts --neighbours add-remove --state w --format csv \
                     --quiet";

/// Alerts with the row each is for, from rows of 0 and a million.
fn alerts(printed: &str) -> Vec<(u64, u64)> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[0].parse().unwrap(), fields[2].parse().unwrap())
    };
    whole(printed).lines().filter(|line| !line.starts_with("row")).map(row).collect()
}

/// However often it is killed, it alerts as often as was paid for, and numbers its alerts and rows on.
#[test]
fn a_watch_that_is_killed_goes_on() {
    let place = Place::new();
    let mut rng = generator();
    let input = "0\n0\n1000000\n".repeat(20);
    let (mut latest, mut printed) = ((0, 0), 0);
    for _ in 0..40 {
        let mut command = place.tamis();
        let words = format!("{WATCH} --alerts 120 -");
        let killed = kill(command.args(words.split_whitespace()), input.as_bytes(), 2, &mut rng);
        let used = killed.complaint.contains("all 120 alerts of w are used");
        assert!(killed.complaint.is_empty() || used, "{}", killed.complaint);
        for alert in alerts(&killed.printed) {
            assert!(alert.0 > latest.0 && alert.1 > latest.1, "{alert:?} after {latest:?}");
            latest = alert;
            printed += 1;
        }
    }
    // Who was waited for has alerted.
    assert!((10..=120).contains(&printed) && latest.1 <= 120, "{printed}, {latest:?}");
    let shown: serde_json::Value = serde_json::from_str(&stdout(&place.run("inspect w --format json"))).unwrap();
    let kept = shown["alerts"].as_array().unwrap();
    assert!(kept.len() >= printed && kept.iter().any(|alert| alert["row"] == latest.0), "{shown}");
}

/// Of a file the rows that were answered are passed over.
#[test]
fn a_watched_file_is_gone_on_with() {
    let place = Place::new();
    let watch = |rows: &str, alerts: u32, more: &str| {
        fs::write(place.path("n.txt"), rows).unwrap();
        place.run(&format!("{WATCH} --alerts {alerts} n.txt {more}"))
    };
    let first = watch("0\n1000000\n0\n", 2, "");
    assert_eq!((code(&first), alerts(&stdout(&first))), (0, vec![(2, 1)]), "{}", stderr(&first));
    // It was closed: nothing of it lies about.
    assert!(!place.path("w-journal").exists());
    // The same rows again are no news.
    let same = watch("0\n1000000\n0\n", 2, "");
    assert_eq!((code(&same), alerts(&stdout(&same))), (0, vec![]));
    for (alerts, more, without, named) in [
        (3, "", "", "--alerts"),
        (2, "--numeric", "", "--numeric"),
        (2, "--epsilon 2", "--epsilon 1", "--epsilon"),
        (2, "--threshold 5", "--threshold 500000", "--threshold"),
        (2, "--queries 7", "", "--queries or --beta"),
        (2, "--beta 0.01", "", "--queries or --beta"),
        (2, "--variant book", "", "--variant"),
        (2, "--neighbours substitute", "--neighbours add-remove", "--neighbours"),
        (2, "--sensitivity 2 --label l --column c", "--sensitivity 1", "--column, --label, --sensitivity"),
        // The same numbers in units of another grid.
        (2, "--kind values --grid 3", "--kind counts", "--kind, --grid"),
    ] {
        let words = WATCH.replace(without, "");
        let other = place.run(&format!("{words} --alerts {alerts} n.txt {more}"));
        assert_eq!(code(&other), 2, "{more}: {}", stderr(&other));
        assert!(stderr(&other).contains(&format!("begun with another {named}\n")), "{more}: {}", stderr(&other));
    }
    let fewer = watch("0\n", 2, "");
    assert_eq!(code(&fewer), 2);
    assert!(stderr(&fewer).contains("fewer rows than the 3"), "{}", stderr(&fewer));
    let more = watch("0\n1000000\n0\n0\n1000000\n1000000\n", 2, "");
    assert_eq!((code(&more), alerts(&stdout(&more))), (0, vec![(5, 2)]), "{}", stderr(&more));
    let used = watch("0\n1000000\n0\n0\n1000000\n1000000\n", 2, "");
    assert_eq!((code(&used), alerts(&stdout(&used))), (1, vec![]));
    assert!(stderr(&used).contains("all 2 alerts of w are used"), "{}", stderr(&used));
    // Neither command takes the other's state.
    let session = place.run("session show w");
    assert_eq!(code(&session), 2);
    assert!(stderr(&session).contains("is a state of `tamis monitor`"), "{}", stderr(&session));
    let text = stdout(&place.run("inspect w"));
    assert!(text.contains("alerts left  0 of 2") && text.contains("\n  row 2\n  row 5\n"), "{text}");
}
