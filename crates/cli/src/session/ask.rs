//! `tamis session ask`: answers from a state, each kept before it is given.

use super::prompt::{self, Typed};
use super::report::{Answered, Report};
use super::stored::{Description, Engine, Kept, Table};
use crate::failure::Failure;
use crate::input::Source;
use crate::output::{Format, note};
use crate::questions::{self, Question, Questions};
use crate::state::{self, Kind as StateKind, Part, StateFile};
use rand::rngs::ThreadRng;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use tamis::interactive::{Refusal, Source as From};
use tamis::queries::Keys;

const EXAMPLES: &str = "\
Examples:
  Conjunctions, one JSON object a line:
    tamis session ask adult.session \\
        --queries examples/adult_conjunctions.jsonl
  A list of keys, and another:
    tamis session ask customers.session --list spring.txt --list autumn.txt \\
        --format csv
  A program that asks one query after another, each after the answer before it:
    my-analysis | tamis session ask adult.session --format json
  By hand, at a prompt:
    tamis session ask adult.session

Queries are as in `tamis answer`, of at most the session's --max-support keys. Of a stream each answer is given as soon as it \
is known. The same query, asked again, gets the same answer at no cost: its source is `transcript`, and it needs no flag.

At the prompt a line is a query: keys with commas between them, a conjunction as {\"literal\": true}, or an object as in a file. \
Where a key has several columns a line is one key, its cells with commas between them, and several keys are an object. `help` and \
`?` say how, `quit`, `exit` and an empty line end; a key of that name is asked for in an object.

± is the bound of an answer: all of them hold at once, with the probability that was planned, however queries are chosen, up to \
--queries of them. What they rest on is in the line above the table: under add-remove, that there are no more records than \
--records says. `typical` is a standard error: of the release, if it answered, for a query that was not chosen by looking at \
answers; of the noise, if the answer is from the data. Such an answer was given because it was far from the guess: where the guess \
was nearer to the truth than the threshold, it is further off than that.

Sources: hypothesis, a guess that the data did not contradict; data, the data itself with noise, which uses up a correction; \
transcript, an earlier answer. A guess that was not compared with the data, because no corrections are left, is marked \
unchecked. If nothing is promised of such guesses, the run ends with exit code 1 before the first new one, unless --unchecked is \
given. Then either take guesses: those of a release are as good as ever for queries that were not chosen by looking at answers. Or \
create a new session, whose budget adds to that of this one.

An answer is paid for before it is drawn, and on the disk before it is printed. Killed at any point, the next run goes on \
behind what was printed: no answer that was given is lost or drawn twice. What was drawn and not kept is lost, since it may show \
what it was: at most one correction, or in gaussian mode up to 32 answers, as many as are kept and printed together of files \
and lists. One process at a time uses a state or a copy of it; another waits up to ten seconds for it.

--format json writes one object a line: schema, name, keys, value, bound, lower, upper, level, standard_error, source, checked \
(whether the data were asked), updates_left. bound, lower and upper are null where nothing is promised: of guesses that were \
not checked, and of answers beyond --queries, checked or not. standard_error is null where weights answered. csv has the same \
as columns.

Exit codes: 0 done, also if the reader of the output has gone; 1 no more can be had, or the state is an older copy; 2 usage or \
bad input, a damaged state, or one that another process uses for more than ten seconds; 3 internal error, or a disk that \
failed. Answers before the one that failed are given and kept.";

/// Answers queries from a state, and keeps account there.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for examples.")]
pub struct Arguments {
    /// A state that `tamis session create` wrote.
    #[arg(value_name = "STATE")]
    state: PathBuf,
    /// A list of keys, one a line, or `-` for standard input. May be given several times: each list is a query.
    #[arg(long, value_name = "FILE|-")]
    list: Vec<PathBuf>,
    /// Queries as JSON lines. Standard input if nothing is given, or `-`.
    #[arg(long, value_name = "FILE|-", conflicts_with = "list")]
    queries: Option<PathBuf>,
    /// Go on with guesses of which nothing is promised when no corrections are left.
    #[arg(long)]
    unchecked: bool,
    /// Format of standard output: text for people, JSON lines, or CSV.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print nothing but answers, errors and warnings about privacy.
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let source = Source::of(arguments.queries.as_deref().unwrap_or("-".as_ref()));
    check_inputs(&arguments, &source)?;
    let file = StateFile::open(&arguments.state, arguments.quiet)?;
    file.expect(StateKind::Session)?;
    let description = Description::read(&file)?;
    let keys = description.keys(&file)?;
    let data = Table::of_parts(&file, &description, &keys)?.into_data(&keys)?;
    let transcript = Kept::all(&file)?.into_iter().map(|kept| kept.entry).collect();
    let engine = Engine::resume(&file, &description, transcript, &data)?;
    let report = Report::new(engine.plan().setting(), arguments.format);
    let Arguments { unchecked, quiet, .. } = arguments;
    let waiting = Waiting::default();
    let asker = Asker { engine, file, report, keys: &keys, unchecked, quiet, is_charged: false, waiting };
    if !arguments.list.is_empty() {
        return asker.all(questions::of_lists(&arguments.list, &keys, quiet)?, BATCH);
    }
    if source == Source::Stdin && io::stdin().is_terminal() {
        return asker.prompt();
    }
    let batch = if source.is_regular_file() { BATCH } else { 1 };
    asker.all(questions::of_file(&source, &keys)?, batch)
}

/// Refuses the state as an input of its own.
fn check_inputs(arguments: &Arguments, queries: &Source) -> Result<(), Failure> {
    if arguments.list.is_empty() {
        return state::check_input(&arguments.state, "--queries", queries);
    }
    arguments.list.iter().try_for_each(|list| state::check_input(&arguments.state, "--list", &Source::of(list)))
}

/// Where answers cannot be printed.
const KEPT: &str = "answers that were not shown are kept, and the same queries, asked again, get them at no cost";

/// Answers that are kept together, where nobody waits for them one by one.
const BATCH: usize = 32;

/// Asks, keeps and prints.
struct Asker<'data> {
    engine: Engine<'data>,
    file: StateFile,
    report: Report,
    keys: &'data Keys,
    unchecked: bool,
    quiet: bool,
    /// Whether the state says that what is drawn now is used up.
    is_charged: bool,
    waiting: Waiting,
}

/// Answers that are neither kept nor printed yet.
#[derive(Default)]
struct Waiting {
    answered: Vec<Answered>,
    parts: Vec<Part>,
    is_corrected: bool,
}

impl Asker<'_> {
    /// Answers queries in order, up to so many at a time. Those before the first that fails are given.
    fn all(mut self, mut questions: Questions, batch: usize) -> Result<(), Failure> {
        let mut rng = rand::rng();
        loop {
            let block: Vec<_> = questions.by_ref().take(batch).collect();
            if block.is_empty() {
                break;
            }
            let mut left = block.len() as u64;
            for question in block {
                let asked = question.and_then(|question| self.ask(question, left, &mut rng));
                left -= 1;
                if asked.is_err() || left == 0 || self.waiting.is_corrected {
                    self.give()?;
                }
                if asked.is_err() {
                    self.account();
                    return asked;
                }
            }
        }
        if !self.report.has_begun() {
            return Err(Failure::input("there are no queries", "give at least one, a JSON object on a line"));
        }
        self.account();
        Ok(())
    }

    /// Draws the answer to a query, the first of so many that may be drawn before they are kept. They are paid for before: if
    /// one could not be kept, that might tell what it was.
    fn ask(&mut self, question: Question, left: u64, rng: &mut ThreadRng) -> Result<(), Failure> {
        let place = question.place().to_owned();
        let (name, query) = question.adaptive(self.keys);
        let is_known = self.engine.recall(&query).is_some();
        if self.engine.is_blind() && !self.unchecked && !is_known {
            return Err(Failure::refused(
                "no corrections are left: what comes now is the guess, not compared with the data",
                "take guesses with --unchecked; whatever is to be compared with the data needs a new session and its budget",
            ));
        }
        if !self.is_charged && !is_known && self.engine.left() > 0 {
            self.file.commit(&[self.engine.charged_head(left, rng)?])?;
            self.is_charged = true;
        }
        let answer = self.engine.answer(&query, rng).map_err(|refusal| refused(&place, &refusal))?;
        if !answer.is_repeated {
            self.waiting.parts.push(self.engine.last(&name)?);
            if answer.source == From::Data && self.engine.corrections() > 0 {
                self.waiting.parts.push(self.engine.learned(&query)?);
                // One was charged: another would not be.
                self.waiting.is_corrected = true;
            }
        }
        let standard_error =
            self.engine.standard_error(&query, &answer).map_err(|error| refused(&place, &error.into()))?;
        self.waiting.answered.push(Answered { name, keys: query.support(), answer, standard_error });
        Ok(())
    }

    /// Keeps what waits, and then prints it.
    fn give(&mut self) -> Result<(), Failure> {
        let Waiting { answered, mut parts, .. } = std::mem::take(&mut self.waiting);
        if self.is_charged || !parts.is_empty() {
            parts.push(self.engine.head()?);
            self.file.commit(&parts)?;
            self.is_charged = false;
        }
        self.report.answers(&answered).map_err(|failure| {
            if matches!(failure, Failure::ReaderGone) {
                note(self.quiet, &format!("standard output was closed: {KEPT}"));
            }
            failure.having_spent(KEPT)
        })
    }

    /// Says what is left.
    fn account(&self) {
        let (stated, asked) = (self.engine.plan().setting().queries.get(), self.engine.transcript().len() as u64);
        let left = self.engine.left_of_all();
        let queries = if asked == 1 { "query" } else { "queries" };
        note(self.quiet, &format!("asked {asked} different {queries} in all; {left} left"));
        if asked + self.engine.forgotten() > stated {
            note(self.quiet, &format!("the guarantee was for {stated}: the answers beyond have no bound"));
        }
    }

    /// Asks somebody at a terminal. A mistake is said and forgiven.
    fn prompt(mut self) -> Result<(), Failure> {
        let mut rng = rand::rng();
        note(self.quiet, &prompt::invitation(self.keys));
        for number in 1.. {
            let _ = write!(io::stderr(), "? ");
            let mut bytes = Vec::new();
            let read = io::stdin().lock().read_until(b'\n', &mut bytes);
            let asked = match Typed::of(&bytes, number) {
                Ok(Typed::End) => break,
                Ok(Typed::Help) => {
                    note(false, &prompt::help(self.keys));
                    continue;
                }
                Ok(Typed::Query(text)) => Question::typed(text, number, self.keys),
                Err(failure) => Err(failure),
            };
            if read.is_err() {
                break;
            }
            let asked = asked.and_then(|question| self.ask(question, 1, &mut rng));
            self.give()?;
            match asked {
                Err(Failure::Input(complaint)) => note(false, &complaint.to_string()),
                asked => asked?,
            }
        }
        self.account();
        Ok(())
    }
}

fn refused(place: &str, refusal: &Refusal) -> Failure {
    match refusal {
        Refusal::Query(error) => Failure::input(
            format_args!("{place}: {error}"),
            "ask for fewer keys, or leave fewer literals free; --max-support was stated when the session was created",
        ),
        refusal => Failure::refused(refusal, "`tamis session show` says what was bought"),
    }
}
