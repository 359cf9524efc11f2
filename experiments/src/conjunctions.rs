//! All monotone conjunctions that leave k of d booleans free: how many records they need, how they do on both engines,
//! and what one costs.
//!
//! # Parts
//! | part | shows |
//! | ---- | ----- |
//! | `records` | the least n for which sparse weights, with our constants, guarantee an error of a tenth of the records for all C(d, k) of them, each of m = 2ᵏ points; and n over k^1.5·ln d/(εα²), which must be flat in d and not grow with k. It falls with k: n is shown to grow no faster than the theorem says, not as fast |
//! | `whole class` | every one of them asked of one table: the mean error of all answers, and the worst of those that came with a bound against what is promised (a budgeted session has none any more once its corrections are spent, so that its mean is above that); of a release alone (the whole ε, no δ) that is only predicted, by the rule of its intervals: a key that shares its row with the most frequent point brings all of that point's records in, so for skewed points the rule is Chebyshev's, and vague. Of a small class Gaussian noise for each has the least promise; it grows with √C(d, k), and for the 735 471 of the full size it is five times that of a guarded release |
//! | `time` | the time of the thread for one, in `timings.csv`: it grows with 2ᵏ, since after the first corrections as many points have a weight |

use crate::claims::{flat, rarely_above};
use crate::made::Made;
use crate::points::Points;
use crate::sessions::{
    BETA, BUDGET, Engine, MEAN, PROMISED, Prepared, Question, Stated, Tally, UNCHECKED, WORST, World, after_the_last,
};
use cpu_time::ThreadTime;
use rand::{RngExt, SeedableRng, seq::index};
use tamis::interactive::{Learner, Plan};
use tamis::queries::Conjunction;
use tamis_harness::{Cell, Experiment, Finding, Plot, Sample, Size, TrialError, TrialRng};

/// Of the part `records`.
const ALPHA: f64 = 0.1;
/// Where time is measured.
const TIMED_WIDTH: u32 = 24;
/// Conjunctions that are timed, after those that teach.
const TIMED: usize = 50;
const LESSONS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Records,
    Class { engine: Engine, records: u64 },
    Time,
}

/// A row.
#[derive(Debug)]
pub struct Case {
    part: Part,
    width: u32,
    free: u32,
    trials: u64,
    needed: Made<u64>,
    class: Made<Class>,
}

/// A table, which columns are free in all that is asked of it, and the engine's plan.
#[derive(Debug)]
struct Class {
    world: World,
    free: Vec<u64>,
    prepared: Prepared,
}

/// Booleans of a third of the columns are true of 3/4 of the records, of a third of 7/8, of the last of 31/32.
fn records_of(width: u32, records: u64) -> Points {
    let mut rng = TrialRng::seed_from_u64(width.into());
    let low = (1u64 << (width / 3)) - 1;
    let middle = (1u64 << (2 * width / 3)) - 1;
    let mut point = || {
        let mut any_of = |number: u32| (0..number).fold(0u64, |bits, _| bits | rng.random::<u64>());
        let (often, more, most) = (any_of(2), any_of(1), any_of(2));
        let bits = often | more & !low | most & !middle;
        u128::from(bits & ((1 << width) - 1))
    };
    Points { width, points: (0..records).map(|_| point()).collect() }
}

impl tamis_harness::Case for Case {
    fn parameters(&self) -> Vec<(&'static str, Cell)> {
        let (part, engine, records) = match self.part {
            Part::Records => ("records", Engine::Tight.name(), Cell::Missing),
            Part::Class { engine, records } => ("whole class", engine.name(), records.into()),
            Part::Time => ("time", "budgeted", TIMED_RECORDS.into()),
        };
        vec![
            ("part", part.into()),
            ("engine", engine.into()),
            ("d", self.width.into()),
            ("k", self.free.into()),
            ("m", (1u64 << self.free).into()),
            ("conjunctions", (self.number() as u64).into()),
            ("n", records),
        ]
    }
}

const TIMED_RECORDS: u64 = 100_000;

/// C(d, k).
fn binomial(width: u32, free: u32) -> f64 {
    (0..free).map(f64::from).fold(1.0, |product, place| (product * (f64::from(width) - place) / (place + 1.0)).round())
}

impl Case {
    fn new(part: Part, width: u32, free: u32, trials: u64) -> Self {
        Self { part, width, free, trials, needed: Made::default(), class: Made::default() }
    }

    fn number(&self) -> f64 {
        binomial(self.width, self.free)
    }

    fn stated(&self, records: u64, multiplicity: f64) -> Stated {
        let (support, queries) = (1 << self.free, self.number() as u64);
        Stated { records, largest_count: records, multiplicity, support, queries }
    }

    /// The least n for which α is guaranteed, to a hundredth.
    fn needed(&self) -> Option<u64> {
        if self.part != Part::Records {
            return None;
        }
        // Cannot fail: the sweep states what is legal.
        Some(*self.needed.get(|| self.solve()).expect("legal plans"))
    }

    fn solve(&self) -> Result<u64, TrialError> {
        let mut records = 1e6;
        for _ in 0..8 {
            let alpha = Plan::tight(&self.stated(records as u64, 1.0).setting()?, Learner::SparseWeights)?.guarantee();
            // The error falls with n by a power of a little less than 1/2.
            let ratio = (alpha / ALPHA).powf(2.2);
            records *= ratio;
            if (ratio - 1.0).abs() < 0.005 {
                break;
            }
        }
        Ok(records.ceil() as u64)
    }

    /// n over k^1.5·ln d/(εα²).
    fn per_theorem(&self) -> Option<f64> {
        let theorem = f64::from(self.free).powf(1.5) * f64::from(self.width).ln() / (BUDGET.0 * ALPHA * ALPHA);
        Some(self.needed()? as f64 / theorem)
    }

    fn class(&self) -> Result<&Class, TrialError> {
        self.class.get(|| self.make_class())
    }

    fn make_class(&self) -> Result<Class, TrialError> {
        let (engine, records) = match self.part {
            Part::Class { engine, records } => (engine, records),
            _ => (Engine::Budgeted { updates: LESSONS as u64, threshold: 1_000 }, TIMED_RECORDS),
        };
        let world = World::of_points(&records_of(self.width, records))?;
        let multiplicity = (world.table.squared_norm() as f64 / records as f64).ceil();
        let prepared = Prepared::new(engine, &self.stated(records, multiplicity))?;
        let free = if matches!(self.part, Part::Class { .. }) { self.all() } else { Vec::new() };
        Ok(Class { world, free, prepared })
    }

    /// All true but the columns of this mask, which are free.
    fn question(&self, free: u64) -> Result<Question, TrialError> {
        let ones = ((1 << self.width) - 1) & !u128::from(free);
        Question::conjunction(Conjunction::new(self.width, ones, 0)?)
    }

    /// Which columns are free, in all of the class.
    fn all(&self) -> Vec<u64> {
        (0..1 << self.width).filter(|mask: &u64| mask.count_ones() == self.free).collect()
    }

    fn trial(&self, rng: &mut TrialRng) -> Result<[f64; 7], TrialError> {
        let class = self.class()?;
        let mut ask = class.prepared.begin(&class.world, rng)?;
        let mut tally = Tally::default();
        if let Part::Class { records, .. } = self.part {
            for place in index::sample(rng, class.free.len(), class.free.len()) {
                let question = self.question(class.free[place])?;
                tally.add(&ask(&question, rng)?, question.truth(&class.world.table));
            }
            let (records, worst) = (records as f64, tally.worst);
            return Ok([
                worst / records,
                tally.mean() / records,
                tally.after / records,
                tally.broken as f64,
                tally.updates as f64,
                tally.unchecked as f64,
                0.0,
            ]);
        }
        let mut any = || {
            let free = index::sample(rng, self.width as usize, self.free as usize);
            self.question(free.iter().fold(0, |mask, column| mask | 1 << column))
        };
        let lessons = (0..LESSONS).map(|_| any()).collect::<Result<Vec<_>, _>>()?;
        let questions = (0..TIMED).map(|_| any()).collect::<Result<Vec<_>, _>>()?;
        for lesson in &lessons {
            ask(lesson, rng)?;
        }
        let clock = ThreadTime::now();
        for question in &questions {
            ask(question, rng)?;
        }
        Ok([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, clock.elapsed().as_secs_f64() * 1e6 / TIMED as f64])
    }

    fn promised(&self) -> Option<f64> {
        let Part::Class { records, .. } = self.part else { return None };
        // Cannot fail: the sweep states what is legal.
        Some(self.class().expect("a legal plan").prepared.guarantee() / records as f64)
    }
}

fn sweep(size: Size) -> Vec<Case> {
    let classes: &[(u32, u32)] = size.pick(
        &[(24, 2), (24, 4), (24, 8), (24, 12), (48, 8), (128, 8), (64, 16)],
        &[
            (24, 2),
            (24, 4),
            (24, 8),
            (24, 12),
            (48, 2),
            (48, 4),
            (48, 8),
            (48, 12),
            (128, 2),
            (128, 4),
            (128, 8),
            (64, 16),
        ],
    );
    let mut cases: Vec<Case> = classes.iter().map(|&(width, free)| Case::new(Part::Records, width, free, 0)).collect();
    let whole =
        size.pick(vec![(12, 4, 200_000, 30)], vec![(12, 4, 200_000, 100), (16, 6, 500_000, 30), (24, 8, 1_000_000, 1)]);
    for (width, free, records, trials) in whole {
        let engines = [
            Engine::Tight,
            Engine::Budgeted { updates: 20, threshold: records / 200 },
            Engine::Guarded { updates: 10 },
            Engine::Release,
            Engine::Gaussian,
        ];
        cases.extend(engines.map(|engine| Case::new(Part::Class { engine, records }, width, free, trials)));
    }
    let timed = size.pick(vec![2, 8, 12], vec![2, 4, 6, 8, 10, 12, 14, 16]);
    cases.extend(timed.into_iter().map(|free| Case::new(Part::Time, TIMED_WIDTH, free, size.pick(1, 5))));
    cases
}

fn of_class(value: impl Fn(&Sample) -> f64) -> impl Fn(&Case, &Sample) -> Option<f64> {
    move |case, sample| matches!(case.part, Part::Class { .. }).then(|| value(sample))
}

/// The experiment.
pub fn experiment() -> Experiment<Case> {
    Experiment::new(
        "conjunctions",
        "Õ(k^1.5·log d/(εα²)) records are enough for all monotone conjunctions with k of d booleans free [Blum, Roth 2011]. The time \
         of one grows with 2ᵏ. Both engines answer a whole class, here at ε = 1, δ = 10⁻⁹. Errors are shares of the n records: the worst (95 % quantile over sessions) of \
         answers that come with a bound; the mean of all; the worst of those after the last correction, which have no bound.",
    )
    .subject("all conjunctions of a class: records they need, time they take, errors of both engines")
    .sweep(sweep)
    .trials(|case, _| case.trials)
    .cost(|case| match case.part {
        Part::Class { .. } => case.number() as u64 * (20 + (1 << case.free)),
        _ => 100 << case.free,
    })
    .trial(["worst", "mean", "after", "broken", "updates", "unchecked", "microseconds"], Case::trial)
    .column("records needed", |case, _| case.needed().map(|needed| needed as f64))
    .column("over the theorem's", |case, _| case.per_theorem())
    .column(PROMISED, |case, _| case.promised())
    .column(WORST, of_class(|sample| sample.quantile("worst", 1.0 - BETA)))
    .column(MEAN, of_class(|sample| sample.mean("mean")))
    .column("updates", |case, sample| {
        let corrected = matches!(case.part, Part::Class { engine, .. } if !matches!(engine, Engine::Gaussian | Engine::Release));
        corrected.then(|| sample.quantile("updates", 1.0))
    })
    .column(UNCHECKED, |_, sample| after_the_last(sample))
    .column("µs a query", |case, sample| (case.part == Part::Time).then(|| sample.quantile("microseconds", 0.5)))
    .table_for_each("part")
    .check("within the promise", |case, sample| {
        case.promised().map(|promised| rarely_above(sample, "worst", promised, BETA))
    })
    .check_all("records needed grow with d as ln d, within 10 %", |table| {
        flat(&table.only("k", 8u64).numbers("over the theorem's"), 1.1)
    })
    .check_all("records needed grow with k by no more than k^1.5", |table| {
        // For each d by itself; a hundredth is how well a row is known.
        let is_falling = |width: &str| {
            let points = table.only("d", width).points("k", "over the theorem's");
            points.windows(2).all(|pair| pair[1].1 <= 1.02 * pair[0].1)
        };
        let points = table.only("d", 24u32).points("k", "over the theorem's");
        let ends = [points.first(), points.last()].map(|point| point.map_or(f64::NAN, |point| point.1));
        let because = format!("d = 24: {} times the theorem's for the least k, {} for the largest: an upper bound", ends[0], ends[1]);
        Finding::require(points.len() >= 3 && table.values("d").into_iter().all(is_falling), because)
    })
    .timings(["microseconds", "µs a query"])
    .plot(
        Plot::new("records", "Records that all conjunctions of k of d columns need", "k", "n for an error of a tenth (records)")
            .x_label("k (free columns)")
            .only("part", "records")
            .split_by("d")
            .log_y()
            .points("records needed"),
    )
    .plot(
        Plot::new("time", "Time of a conjunction, by its points", "m", "time of a conjunction (µs)")
            .x_label("m (points of a conjunction)")
            .only("part", "time")
            .log_x()
            .log_y()
            .points("µs a query"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_all_of_its_conjunctions() {
        let case = Case::new(Part::Time, 10, 3, 1);
        let all = case.all();
        assert_eq!((all.len(), case.number()), (120, 120.0));
        assert!(all.iter().all(|&free| case.question(free).unwrap().list.support() == 8));
        assert_eq!(binomial(24, 8), 735_471.0);
    }
}
