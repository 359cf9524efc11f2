//! Neither error nor time of sparse weights knows how large the universe is; what does.
//!
//! # What is measured
//! A budgeted session (50 corrections) over 1 024 keys by Zipf's law, wherever in their universe they are: numbers of b
//! bits, evenly spread, or strings of bytes, with keyed fingerprints as always. A list has 1 000 of them. 60 lists
//! teach, 40 more (10 of a full vector) are measured: their mean error as a share of the records, and the time of the thread for one (medians
//! of blocks, by turns with a session over the smallest universe), which is in `timings.csv`, since it differs from run
//! to run. "Worst" (the 95 % quantile over sessions) is over all answers that came with a bound, those that taught among them:
//! once corrections have run out there is no bound any more, and the mean can be far above it. "Elements" is for how many the hypothesis needs memory.
//!
//! | hypothesis | what it is |
//! | ---------- | ---------- |
//! | sparse | slots that keys get when they need them (Blum, Roth 2011) |
//! | full vector | a probability for every element, all of them touched by each query, as written (Hardt, Rothblum 2010) |
//! | support only | the same numbers in memory, of which a query touches its own |
//! | sub-universe | the same over 1 024 elements drawn beforehand (Hardt, Rothblum 2010, for data that is spread): of 2¹⁶ or fewer some of those drawn have records, and it learns to put its weight on them; of 2⁶⁴ none has, it learns nothing, and corrections run out |
//!
//! "Sparse, not hashed": the keys as numbers of 64 bits that differ in the highest ten alone, where a fingerprint should be.
//! Errors are the same, and so is the time: the table of sparse weights scatters its keys itself.

use crate::claims::{flat, rarely_above};
use crate::sessions::{Ask, BETA, Question, Stated, Tally, UNCHECKED, WORST, World, after_the_last, asking, key, zipf};
use cpu_time::ThreadTime;
use rand::{RngExt, seq::index};
use std::collections::BTreeSet;
use tamis::interactive::{
    Answer, Data, DenseWeights, Hypothesis, Learner, Plan, Session, SparseWeights, SupportWeights,
    dense_weights::MAX_UNIVERSE,
};
use tamis::noise::Hits;
use tamis::queries::{Element, Fingerprint};
use tamis_harness::{Cell, Experiment, Finding, Plot, Size, Table, TrialError, TrialRng};

/// Keys that have records, as many as the smallest universe has.
const KEYS: u64 = 1 << 10;
const SUPPORT: u64 = 1_000;
const RECORDS: u64 = 1_000_000;
/// c: fewer than lists that teach, so that what never learns runs out of them.
const UPDATES: u64 = 50;
/// T.
const THRESHOLD: u64 = 20_000;
/// Lists that teach.
const LESSONS: u64 = 60;
/// Lists that are measured.
const LISTS: usize = 40;
/// Lists are timed in blocks of so many, the two sessions by turns.
const BLOCK: usize = 10;

/// The column of the mean error.
const MEAN: &str = "mean after 60 lessons (share)";

/// What holds the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Sparse,
    Full,
    Support,
    Sample,
}

/// What keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Universe {
    Bits(u32),
    Bytes(usize),
    NotHashed,
}

fn fingerprint(element: &Element) -> Fingerprint {
    key().fingerprint(element)
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    held: Held,
    universe: Universe,
    trials: u64,
    /// How many lists are measured.
    lists: usize,
    /// Whether time is judged.
    judged: bool,
}

impl tamis_harness::Case for Case {
    fn parameters(&self) -> Vec<(&'static str, Cell)> {
        let hypothesis = match self.held {
            Held::Sparse if self.universe == Universe::NotHashed => "sparse, not hashed",
            Held::Sparse => "sparse",
            Held::Full => "full vector",
            Held::Support => "support only",
            Held::Sample => "sub-universe",
        };
        let keys = match self.universe {
            Universe::Bits(bits) => format!("{bits} bits"),
            Universe::Bytes(length) => format!("{length} bytes"),
            Universe::NotHashed => "64 bits".to_owned(),
        };
        vec![("hypothesis", hypothesis.into()), ("keys", keys.into()), ("log₂ |X|", self.universe.logarithm().into())]
    }
}

impl Universe {
    /// log₂|X|.
    fn logarithm(self) -> u64 {
        match self {
            Self::Bits(bits) => bits.into(),
            Self::Bytes(length) => 8 * length as u64,
            Self::NotHashed => 64,
        }
    }

    /// The key of a number below [`KEYS`].
    fn key(self, number: u64) -> Fingerprint {
        match self {
            Self::Bits(bits) => fingerprint(&Element::number(number << (bits - KEYS.ilog2()))),
            Self::NotHashed => Fingerprint::raw(number << (64 - KEYS.ilog2())),
            Self::Bytes(length) => {
                let name = format!("{number:0length$}");
                fingerprint(&Element::bytes(name.as_bytes()))
            }
        }
    }

    /// All of it, if it can be listed.
    fn all(self) -> Result<impl Iterator<Item = Fingerprint>, TrialError> {
        match self {
            Self::Bits(bits @ 0..=30) => Ok((0..1 << bits).map(|number| fingerprint(&Element::number(number)))),
            _ => Err(format!("{self:?} cannot be listed").into()),
        }
    }

    /// As many elements as there are keys, at random.
    fn sample(self, rng: &mut TrialRng) -> Vec<Fingerprint> {
        let bits = self.logarithm().min(64);
        let mut chosen = BTreeSet::new();
        while (chosen.len() as u64) < KEYS {
            chosen.insert(rng.random_range(0..=u64::MAX >> (64 - bits)));
        }
        chosen.into_iter().map(|number| fingerprint(&Element::number(number))).collect()
    }
}

fn begin<'a>(
    hypothesis: impl Hypothesis + 'a,
    plan: &Plan,
    data: &'a Data,
    rng: &mut TrialRng,
) -> Result<Ask<'a>, TrialError> {
    Ok(asking(Session::with_hypothesis(plan.clone(), hypothesis, data, rng)?))
}

fn plan(queries: u64) -> Result<Plan, TrialError> {
    let stated = Stated { records: RECORDS, largest_count: RECORDS, multiplicity: 1.0, support: SUPPORT, queries };
    Ok(Plan::budgeted(&stated.setting()?, Learner::SparseWeights, Hits::new(UPDATES)?, THRESHOLD)?)
}

/// Lists of all keys but a few.
fn lists(number: usize, universe: Universe, rng: &mut TrialRng) -> Vec<Question> {
    let mut list = || {
        let chosen = index::sample(rng, KEYS as usize, SUPPORT as usize);
        Question::keys(chosen.iter().map(|number| universe.key(number as u64)))
    };
    (0..number).map(|_| list()).collect()
}

/// A table, and lists to ask of it.
struct Course {
    world: World,
    lessons: Vec<Question>,
    exercises: Vec<Question>,
}

impl Course {
    fn new(universe: Universe, number: usize, rng: &mut TrialRng) -> Result<Self, TrialError> {
        Ok(Self {
            world: World::of_keys((0..).map(|number| universe.key(number)).zip(zipf(KEYS, RECORDS)))?,
            lessons: lists(LESSONS as usize, universe, rng),
            exercises: lists(number, universe, rng),
        })
    }
}

impl Case {
    fn session<'a>(&self, plan: &Plan, data: &'a Data, rng: &mut TrialRng) -> Result<Ask<'a>, TrialError> {
        match self.held {
            Held::Sparse => begin(SparseWeights::new(SUPPORT, Hits::new(UPDATES)?, 1, None)?, plan, data, rng),
            Held::Full => begin(DenseWeights::new(self.universe.all()?, 0)?, plan, data, rng),
            Held::Support => begin(SupportWeights::new(self.universe.all()?)?, plan, data, rng),
            Held::Sample => begin(SupportWeights::new(self.universe.sample(rng))?, plan, data, rng),
        }
    }

    /// For how many elements memory is needed.
    fn elements(&self) -> f64 {
        match self.held {
            // Those that have been in a list.
            Held::Sparse | Held::Sample => KEYS as f64,
            Held::Full | Held::Support => 2.0f64.powi(self.universe.logarithm() as i32),
        }
    }

    fn fits(&self) -> bool {
        self.elements() <= MAX_UNIVERSE as f64
    }

    fn trial(&self, rng: &mut TrialRng) -> Result<[f64; 8], TrialError> {
        let smallest = Self { held: Held::Sparse, universe: Universe::Bits(KEYS.ilog2()), ..*self };
        let plan = plan(LESSONS + self.lists as u64)?;
        let ours = Course::new(self.universe, self.lists, rng)?;
        let theirs = Course::new(smallest.universe, self.lists, rng)?;
        let mut ask = self.session(&plan, &ours.world.data, rng)?;
        let mut ask_theirs = smallest.session(&plan, &theirs.world.data, rng)?;

        let (mut all, mut exercises) = (Tally::default(), Tally::default());
        for lesson in &ours.lessons {
            all.add(&ask(lesson, rng)?, lesson.truth(&ours.world.table));
        }
        timed(&mut ask_theirs, &theirs.lessons, rng)?;
        let (mut times, mut bases) = (Vec::new(), Vec::new());
        for (block, block_of_theirs) in ours.exercises.chunks(BLOCK).zip(theirs.exercises.chunks(BLOCK)) {
            let (time, answers) = timed(&mut ask, block, rng)?;
            for (question, answer) in block.iter().zip(&answers) {
                let truth = question.truth(&ours.world.table);
                all.add(answer, truth);
                exercises.add(answer, truth);
            }
            times.push(time);
            bases.push(timed(&mut ask_theirs, block_of_theirs, rng)?.0);
        }
        let (time, base, records) = (median(times), median(bases), RECORDS as f64);
        Ok([
            all.worst / records,
            exercises.mean() / records,
            all.after / records,
            all.unchecked as f64,
            all.broken as f64,
            all.updates as f64,
            time * 1e6,
            time / base,
        ])
    }
}

/// The seconds for a question, and the answers.
fn timed(ask: &mut Ask<'_>, questions: &[Question], rng: &mut TrialRng) -> Result<(f64, Vec<Answer>), TrialError> {
    let clock = ThreadTime::now();
    let answers = questions.iter().map(|question| ask(question, rng)).collect::<Result<Vec<_>, _>>()?;
    Ok((clock.elapsed().as_secs_f64() / questions.len() as f64, answers))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn sweep(size: Size) -> Vec<Case> {
    let case = |held, universe, trials| {
        let lists = if held == Held::Full { BLOCK } else { LISTS };
        Case { held, universe, trials, lists, judged: size == Size::Full }
    };
    let sparse = [10, 16, 24, 32, 48, 64].map(Universe::Bits).into_iter().chain([16, 64].map(Universe::Bytes));
    let full = size.pick(vec![10, 12], vec![10, 12, 14, 16, 18]);
    let support = size.pick(vec![10, 14, 18], vec![10, 14, 18, 22, 26]);
    let too_large = || [32, 64].map(Universe::Bits).into_iter();
    let bits = |bits: Vec<u32>| bits.into_iter().map(Universe::Bits);

    let mut cases: Vec<Case> = sparse.map(|universe| case(Held::Sparse, universe, size.pick(30, 100))).collect();
    cases.push(case(Held::Sparse, Universe::NotHashed, size.pick(5, 30)));
    for (held, fitting) in [(Held::Full, full), (Held::Support, support)] {
        cases.extend(bits(fitting).map(|universe| case(held, universe, 2)));
        cases.extend(too_large().map(|universe| case(held, universe, 0)));
    }
    cases.extend(bits(vec![10, 11, 12, 16, 64]).map(|universe| case(Held::Sample, universe, size.pick(5, 30))));
    cases
}

fn errors(table: &Table, hypothesis: &str) -> Vec<f64> {
    table.only("hypothesis", hypothesis).numbers(MEAN)
}

/// The experiment.
pub fn experiment() -> Experiment<Case> {
    Experiment::new(
        "smw_universe",
        "At ε = 1, δ = 10⁻⁹ error and time of sparse multiplicative weights do not depend on the universe [Blum, Roth 2011, section 3]: flat from 2¹⁰ \
         elements to 2⁶⁴ and to strings. Dense weights [HR10] grow with it until they do not fit; a sub-universe drawn beforehand [HR10] fails once no record \
         is in it: all corrections are spent on the lists that teach, and what is answered then has no bound.",
    )
    .subject("neither time nor error of a session depends on the size of the universe: and what does")
    .sweep(sweep)
    .trials(|case, _| case.trials)
    .cost(|case| if case.held == Held::Full { 1 << case.universe.logarithm().min(20) } else { 1 << 10 })
    .trial(["worst", "mean", "after", "unchecked", "broken", "updates", "microseconds", "ratio"], Case::trial)
    .column("elements", |case, _| case.elements())
    .column("fits", |case, _| if case.fits() { "yes" } else { "no" })
    .column(WORST, |_, sample| sample.quantile("worst", 1.0 - BETA))
    .column(MEAN, |_, sample| sample.mean("mean"))
    .column("corrections", |_, sample| sample.mean("updates"))
    .column(UNCHECKED, |_, sample| after_the_last(sample))
    .column("µs a query", |_, sample| sample.quantile("microseconds", 0.5))
    .column("× sparse at 2¹⁰", |_, sample| sample.quantile("ratio", 0.5))
    .check("within bounds", |case, sample| {
        (case.held == Held::Sparse && case.universe != Universe::NotHashed).then(|| rarely_above(sample, "broken", 0.0, BETA))
    })
    .check("time is flat", |case, sample| {
        let ratio = sample.quantile("ratio", 0.5);
        let flat = (1.0 / 1.2..=1.2).contains(&ratio);
        (case.held == Held::Sparse && case.universe != Universe::NotHashed && case.judged).then(|| Finding::require(flat, format!("{ratio:.3} times that at 2¹⁰")))
    })
    .check_all("error is flat: that of sparse weights is the same from 2¹⁰ elements to 2⁶⁴ and to strings, within 25 %", |table| {
        // The same law in every row, and a mean over 30 sessions or more is known to some 5 %.
        flat(&errors(table, "sparse"), 1.25)
    })
    .check_all("a sub-universe of 64 bits, which holds no record, errs by ten times as much as sparse weights or more", |table| {
        let [sample, sparse] = ["sub-universe", "sparse"].map(|hypothesis| errors(table, hypothesis));
        let worst = sparse.into_iter().fold(f64::NAN, f64::max);
        Finding::at_least(sample.last().copied().unwrap_or(f64::NAN) / worst, 10.0)
    })
    .timings(["microseconds", "ratio", "µs a query", "× sparse at 2¹⁰", "time is flat"])
    .highlight(|case| {
        matches!(case.universe, Universe::Bits(10 | 64) | Universe::Bytes(64)) && case.held != Held::Support
    })
    .plot(
        Plot::new("error", "Error of a session, by size of the universe", "log₂ |X|", "mean error (share of the records)")
            .x_label("log₂ |X| (bits of a key)")
            .split_by("hypothesis")
            .log_x()
            .log_y()
            .points(MEAN)
            .in_brief(),
    )
    .plot(
        Plot::new("time", "Time of a query, by size of the universe", "log₂ |X|", "time of a query (µs)")
            .x_label("log₂ |X| (bits of a key)")
            .split_by("hypothesis")
            .log_x()
            .log_y()
            .points("µs a query"),
    )
}
