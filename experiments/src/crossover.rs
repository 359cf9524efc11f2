//! Every mechanism of the planner at work: what it errs by, beside what the planner said, and who wins where.
//!
//! # What is measured
//! At (ε, δ) = (1, 10⁻⁹), β = 0.05, add-remove neighbours, for lists that are fixed beforehand. The lists of m keys are drawn once; a trial
//! makes a new release or session and asks them all. "Typical" is the root of the mean square of an answer's error, predicted by the
//! planner and measured over all answers of all trials; "all within" what the planner says that all k answers keep but for β, "largest" the
//! 1 − β quantile over trials of the largest error: of finitely many, so that where the planner is exact (Laplace noise) it is as often a
//! little above as below. The check counts how many trials are above, and fails if that is more than β with confidence 1 − 10⁻⁶. All in records. The planner is told n, ‖x‖², how many different keys there are, and
//! the largest count.
//!
//! Where "asked" is below k, so many of k are asked. Then "largest" is of those, and less than that of all. Answers of a plan for k are
//! alike, so "typical" is that of all; but those of sessions that learn or are corrected need not be, and such sessions are left out
//! there. The dense projection, whose time for a key is a thousand times that of a sparse one, is left out where it would have to go
//! through many keys.
//!
//! # Parts
//! | part | shows |
//! | ---- | ----- |
//! | `cells` | a row for each mechanism and each (n, m, k, data, lists). "distinct": a record for each key; "listed": all possible keys are known, twice as many; "few keys": eight of equal counts, of ten; "Zipf": 4 096 keys; "Adult": 32 561 people, by 48 booleans |
//! | `map` | a row for each (n, m, k, data, lists): the planner's winner, and that of new trials. Both win by what all answers are within: the planner's by its bounds, the other by the quantile "largest", of the mechanisms whose bound says something. What may be off by as much as an answer can be is no winner, though it err little: where lists hold few of the records, nobody beats the answer 0 |
//!
//! "any keys": lists name keys of the data, each as likely as any other, as the planner's typical errors have it. "frequent keys": the i-th
//! most frequent with a probability of about 1/i. "conjunctions": 41 of 48 booleans are true, which nearly all of the 128 keys have no
//! record of.
//!
//! # Checks
//! Bounds and winners are judged in every row. So are typical errors where the planner has one, but for what it is not told or what cannot
//! be measured here; that is shown all the same:
//!
//! - Of lists of other than any keys, what a stability histogram and ALP err by depends on which keys these are.
//! - Where keys are frequent, nearly all of the mean square of a projection without heavy keys apart, and of a session that guards one,
//!   comes from the few lists that share a row with such a key: too few for trials to see as many as there are.
//! - Where some keys are more frequent than others, nearly all of what is wrong before anything is learned comes from the few lists that name
//!   such a key.
//! - A session answers 0 where its guess is less, which makes errors less than predicted where answers are not much larger than these. A
//!   guarded release is judged by one side alone there: no more than a quarter above.
//!
//! An error that is not sure to be off by more than a quarter (4.9 standard deviations of the mean square) is no failure, but
//! inconclusive.

mod scene;

use crate::claims::rarely_above;
use crate::means::{DEVIATIONS, mean_and_deviation};
use crate::sessions::BETA;
use scene::{FREE, Naming, Scene, Source};
use std::sync::Arc;
use tamis::plan::{Planned, QueryRelease, mechanisms};
use tamis_harness::{Cell, Experiment, Finding, Plot, Sample, Size, Table, TrialError, TrialRng, Verdict, significant};

/// A row.
#[derive(Debug)]
pub struct Case {
    kind: Kind,
    scene: Arc<Scene>,
    trials: u64,
}

#[derive(Debug)]
enum Kind {
    Cell(&'static dyn QueryRelease),
    /// Of these.
    Map(Vec<&'static dyn QueryRelease>),
}

impl tamis_harness::Case for Case {
    fn parameters(&self) -> Vec<(&'static str, Cell)> {
        let name = self.mechanism().map(|mechanism| mechanism.about().name);
        let scene = &self.scene;
        vec![
            ("part", if name.is_some() { "cells" } else { "map" }.into()),
            ("over", scene.over.into()),
            ("data", scene.source.name().into()),
            ("lists", scene.naming.name().into()),
            ("n", scene.records.into()),
            ("m", scene.support.into()),
            ("k", scene.queries.into()),
            ("asked", scene.asked.into()),
            ("kind", name.map(|name| if SESSIONS.contains(&name) { "session" } else { "release" }).into()),
            ("mechanism", name.into()),
        ]
    }
}

/// What answers one query after the other, and may learn from them.
const SESSIONS: [&str; 5] = ["guarded-release", "sparse-mw", "sparse-mw-paper", "sparse-perceptron", "dense-mw"];
/// What learns, so that its answers depend on what else is asked: and such a session may be corrected.
const LEARNING: [&str; 7] =
    ["guarded-release", "sparse-mw", "sparse-mw-paper", "sparse-perceptron", "dense-mw", "mwem", "small-database"];
/// What needs all possible keys.
const OF_LISTED: [&str; 5] = ["laplace-histogram", "gaussian-histogram", "dense-mw", "mwem", "small-database"];
/// The checks of the map.
const NAMED_ALIKE: &str =
    "keys alike: where one mechanism is twice as good as the next, the planner names it in 95 % of cells";
const NAMED_SKEWED: &str =
    "skewed keys: where one mechanism is twice as good as the next, the planner names it in 95 % of cells";
/// Columns.
const PREDICTED: &str = "typical error, predicted";
const TYPICAL: &str = "typical error, measured";
const WITHIN: &str = "all within, promised";
const LARGEST: &str = "largest error, 95 % quantile";
/// Which mechanism differs by so much from the next is told apart.
const APART: f64 = 2.0;
/// How far a typical error may be off.
const QUARTER: f64 = 0.25;

impl Case {
    fn mechanism(&self) -> Option<&'static dyn QueryRelease> {
        match self.kind {
            Kind::Cell(mechanism) => Some(mechanism),
            Kind::Map(_) => None,
        }
    }

    fn planned(&self) -> Option<&Planned> {
        self.scene.planned(self.mechanism()?).ok()
    }

    fn verdict(&self) -> Option<&'static str> {
        let says_something = self.scene.is_applicable(self.mechanism()?).ok()?;
        Some(if says_something { "applicable" } else { "vacuous" })
    }

    fn trial(&self, rng: &mut TrialRng) -> Result<[f64; 6], TrialError> {
        match &self.kind {
            Kind::Cell(mechanism) => {
                let errors = self.scene.errors(*mechanism, rng)?;
                Ok([mean_square(&errors), largest(&errors), 0.0, 0.0, 0.0, 0.0])
            }
            Kind::Map(mechanisms) => self.contest(mechanisms, rng),
        }
    }

    /// The place of the winner, its error, the next one's and that of the planner's winner; 0 where there is none.
    fn contest(&self, mechanisms: &[&'static dyn QueryRelease], rng: &mut TrialRng) -> Result<[f64; 6], TrialError> {
        let mut measured = Vec::new();
        for &mechanism in mechanisms {
            if !self.scene.is_applicable(mechanism)? {
                continue;
            }
            let errors = (0..self.releases(mechanism)).map(|_| Ok(largest(&self.scene.errors(mechanism, rng)?)));
            let mut errors = errors.collect::<Result<Vec<f64>, TrialError>>()?;
            errors.sort_by(f64::total_cmp);
            measured.push((errors[errors.len() - 1 - errors.len() / 20], mechanism.about().name));
        }
        measured.sort_by(|one, other| one.0.total_cmp(&other.0));
        // A winner that is not measured is none.
        let of_planned = self.scene.winner()?.map(|planned| {
            measured.iter().find(|(_, mechanism)| *mechanism == planned).map_or(f64::INFINITY, |one| one.0)
        });
        let place = |name| names().position(|other| other == name).map_or(0, |place| place + 1);
        let winner = measured.first().map_or(0, |best| place(best.1));
        let error = |number: usize| measured.get(number).map_or(0.0, |one| one.0);
        Ok([0.0, 0.0, winner as f64, error(0), error(1), of_planned.unwrap_or(0.0)])
    }

    /// By how many releases the map is drawn: multiples of 20, of which the 1 − β quantile is one.
    fn releases(&self, mechanism: &dyn QueryRelease) -> usize {
        let is_rarely_far_off = mechanism.about().name == "projection" && self.scene.source.has_frequent();
        if is_rarely_far_off { 40 } else { 20 }
    }

    fn winner(&self, sample: &Sample) -> Option<&'static str> {
        let place = *sample.values("winner").first()?;
        names().nth((place as usize).checked_sub(1)?)
    }

    fn typical_is_right(&self, sample: &Sample) -> Option<Finding> {
        let name = self.mechanism()?.about().name;
        let is_of_lists = ["stability-histogram", "alp"].contains(&name);
        let is_rarely_far_off = self.scene.source.has_frequent() && ["projection", "guarded-release"].contains(&name);
        let is_of_answers = !self.scene.source.is_alike() && LEARNING.contains(&name);
        if is_of_lists && self.scene.naming != Naming::Any || is_rarely_far_off || is_of_answers {
            return None;
        }
        let typical = self.planned()?.typical?;
        // A session answers 0 where its guess is less.
        if name == "guarded-release" && typical > 0.5 * self.scene.typical_answer().ok()? {
            return Some(Finding::at_most(sample.mean("square").sqrt(), (1.0 + QUARTER) * typical));
        }
        Some(near(typical, sample.values("square")))
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    mechanisms::ALL.iter().map(|mechanism| mechanism.about().name)
}

fn mean_square(errors: &[f64]) -> f64 {
    errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64
}

fn largest(errors: &[f64]) -> f64 {
    errors.iter().fold(0.0, |largest: f64, error| largest.max(error.abs()))
}

/// Whether the root of the mean of these squares is within a quarter of what was predicted.
fn near(predicted: f64, squares: &[f64]) -> Finding {
    let (mean, deviation) = mean_and_deviation(squares);
    let ratio = |square: f64| square.max(0.0).sqrt() / predicted;
    let (low, high) = (ratio(mean - DEVIATIONS * deviation), ratio(mean + DEVIATIONS * deviation));
    let allowed = 1.0 - QUARTER..=1.0 + QUARTER;
    let verdict = if allowed.contains(&ratio(mean)) {
        Verdict::Holds
    } else if low <= *allowed.end() && high >= *allowed.start() {
        Verdict::Inconclusive
    } else {
        Verdict::Fails
    };
    let because =
        format!("{} of the prediction, surely {} to {}", significant(ratio(mean)), significant(low), significant(high));
    Finding { verdict, because }
}

/// Which mechanisms are measured in a scene. `most_dense`: keys that dense signs go through.
fn measured(scene: &Scene, most_dense: u64) -> Vec<&'static dyn QueryRelease> {
    let is_there = |mechanism: &&dyn QueryRelease| {
        let name = mechanism.about().name;
        (scene.listed().is_some() || !OF_LISTED.contains(&name))
            && (scene.source == Source::Few || name != "small-database")
            && (!scene.is_sampled() || !LEARNING.contains(&name))
            && (name != "projection-dense" || scene.records + scene.asked * scene.support <= most_dense)
    };
    mechanisms::ALL.iter().copied().filter(is_there).collect()
}

/// Trials: many where a bound is sharp. Fewer than 29 would say nothing of a probability of 0.05.
fn trials(mechanism: &dyn QueryRelease, scene: &Scene, size: Size) -> u64 {
    let name = mechanism.about().name;
    if LEARNING.contains(&name) || name == "projection-dense" {
        return size.pick(30, 40);
    }
    match name {
        "projection" | "projection-heavy" if scene.is_sampled() => size.pick(40, 200),
        "projection" if scene.source.has_frequent() => size.pick(60, 200),
        "alp" if scene.source != Source::Few => size.pick(40, 200),
        "alp" => size.pick(1_000, 5_000),
        "projection" | "projection-heavy" => size.pick(200, 400),
        _ => size.pick(200, 1_000),
    }
}

/// Those whose cells are measured, each over one size alone.
fn scenes(size: Size) -> Vec<Scene> {
    let most_asked = size.pick(100, 1_000);
    let of = |over, source, naming, sizes| Scene::new(over, source, naming, sizes, most_asked);
    let distinct = |over, sizes| of(over, Source::Distinct, Naming::Any, sizes);
    let records = size.pick(vec![1_000, 4_000, 16_000], vec![1_000, 10_000, 100_000, 500_000]);
    let mut scenes: Vec<Scene> = records.into_iter().map(|n| distinct("n", [n, 100, 100])).collect();
    let (n, m) = size.pick((10_000, 300), (100_000, 1_000));
    scenes.extend([1, 10, 100, 100_000].map(|k| distinct("k", [n, m, k])));
    let supports = size.pick(vec![10, 100, 1_000], vec![10, 100, 1_000, 10_000, 100_000]);
    let n = size.pick(10_000, 200_000);
    scenes.extend(supports.into_iter().map(|m| distinct("m", [n, m, 30])));
    scenes.extend([10, 100_000].map(|k| of("k", Source::Listed, Naming::Any, [2_000, 100, k])));
    scenes.push(of("k", Source::Few, Naming::Any, [8_000, 4, 5]));
    let n = size.pick(50_000, 200_000);
    scenes.extend([(16, 10), (128, 100_000)].map(|(m, k)| of("k", Source::Zipf, Naming::Any, [n, m, k])));
    scenes.push(of("k", Source::Zipf, Naming::Frequent, [n, 128, 100_000]));
    scenes.extend([10, 100_000].map(|k| of("k", Source::Adult, Naming::Any, [PEOPLE, 1 << FREE, k])));
    scenes.push(of("k", Source::Adult, Naming::Conjunctions, [PEOPLE, 1 << FREE, 100_000]));
    scenes
}

/// As many as there are.
const PEOPLE: u64 = 32_561;

/// Those of which only the winner is wanted. All k are asked.
fn mapped(size: Size) -> Vec<Scene> {
    let queries = size.pick(vec![1, 30, 300], vec![1, 10, 30, 100, 300, 1_000]);
    let grid = |source, naming, n, supports: [u64; 2]| {
        let sizes = supports.into_iter().flat_map(|m| queries.iter().map(move |&k| [n, m, k]));
        sizes.map(|sizes| Scene::new("all", source, naming, sizes, u64::MAX)).collect::<Vec<_>>()
    };
    let (distinct, zipf) = size.pick((20_000, 50_000), (200_000, 200_000));
    let mut scenes = grid(Source::Distinct, Naming::Any, distinct, [100, 1_000]);
    scenes.extend(grid(Source::Listed, Naming::Any, 2_000, [20, 500]));
    scenes.extend(grid(Source::Zipf, Naming::Any, zipf, [16, 128]));
    scenes.extend(grid(Source::Zipf, Naming::Frequent, zipf, [16, 128]));
    scenes.extend(grid(Source::Adult, Naming::Any, PEOPLE, [16, 128]));
    scenes.extend(
        queries
            .iter()
            .map(|&k| Scene::new("all", Source::Adult, Naming::Conjunctions, [PEOPLE, 1 << FREE, k], u64::MAX)),
    );
    scenes
}

fn sweep(size: Size) -> Vec<Case> {
    let scenes: Vec<Arc<Scene>> = scenes(size).into_iter().map(Arc::new).collect();
    let most_dense = size.pick(20_000, 110_000);
    let cells = scenes.iter().flat_map(|scene| {
        let case = |mechanism| {
            let trials = trials(mechanism, scene, size);
            Case { kind: Kind::Cell(mechanism), scene: Arc::clone(scene), trials }
        };
        measured(scene, most_dense).into_iter().map(case)
    });
    let map = mapped(size).into_iter().map(|scene| {
        let kind = Kind::Map(measured(&scene, 0));
        Case { kind, scene: Arc::new(scene), trials: 1 }
    });
    cells.chain(map).collect()
}

/// Of a map's row: the quotient of two of its errors, where there are both.
fn quotient(sample: &Sample, above: &str, below: &str) -> Option<f64> {
    let of = |name| sample.values(name).first().copied().filter(|&error| error > 0.0);
    Some(of(above)? / of(below)?)
}

/// The experiment.
pub fn experiment() -> Experiment<Case> {
    let experiment = Experiment::new(
        "crossover",
        "Before anything is spent, here of ε = 1, δ = 10⁻⁹, the planner says what each mechanism errs by: typically (root mean square), within a quarter; and what all k \
         answers are within but for β = 0.05. Where one mechanism is twice as good as the next, it names it. Errors are in records. A row is \
         held to how many of its trials have an error beyond the promise; the 95 % quantile of their largest errors is known by chance only, and where \
         a promise is sharp it is as often a little above it as below. Vacuous: the promise is no less than what an answer can be. Next / best, planned / best: the \
         largest error of the second best, and of what the planner names, over that of the best.",
    )
    .subject("which mechanism errs least, and whether the planner knows it beforehand")
    .sweep(sweep)
    .trials(|case, _| case.trials)
    .cost(|case| case.scene.records + case.scene.asked * case.scene.support)
    .trial(["square", "worst", "winner", "best", "next", "planned"], Case::trial)
    .column("planner says", |case, _| case.verdict())
    .column(PREDICTED, |case, _| case.planned()?.typical)
    .column(TYPICAL, |case, sample| case.mechanism().map(|_| sample.mean("square").sqrt()))
    .column(WITHIN, |case, _| Some(case.planned()?.within))
    .column(LARGEST, |case, sample| case.mechanism().map(|_| sample.quantile("worst", 1.0 - BETA)))
    .column("planner's winner", |case, _| if case.mechanism().is_none() { case.scene.winner().ok()? } else { None })
    .column("winner", Case::winner)
    .column("next / best", |_, sample| quotient(sample, "next", "best"))
    .column("planned / best", |_, sample| quotient(sample, "planned", "best"))
    .check("within what was promised", |case, sample| {
        Some(rarely_above(sample, "worst", case.planned()?.within, BETA))
    })
    .check("typical error within a quarter of the predicted", Case::typical_is_right)
    .check_all(NAMED_ALIKE, |table| {
        map_is_right(table, |source| source.is_alike())
    })
    .check_all(NAMED_SKEWED, |table| map_is_right(table, |source| !source.is_alike()))
    .check_all("what the planner names errs by at most twice as much as the best, in 95 % of cells", |table| {
        let planned = table.only("part", "map").numbers("planned / best");
        let right = planned.iter().filter(|&&planned| planned <= APART).count();
        Finding::require(right as f64 >= 0.95 * planned.len() as f64, format!("{right} of {} cells", planned.len()))
    })
    .table_for_each("part")
    .highlight(|case| match case.kind {
        Kind::Map(_) => true,
        // One scene, of which the brief size judges every mechanism.
        Kind::Cell(_) => case.scene.over == "k" && case.scene.source == Source::Distinct && case.scene.queries == 10,
    });
    plots(experiment)
}

fn map_is_right(table: &Table, is_meant: impl Fn(Source) -> bool) -> Finding {
    let map = table.only("part", "map");
    let quotients = Source::ALL
        .into_iter()
        .filter(|&source| is_meant(source))
        .flat_map(|source| map.only("data", source.name()).points("next / best", "planned / best"));
    let clear: Vec<bool> = quotients.filter(|(next, _)| *next > APART).map(|(_, planned)| planned == 1.0).collect();
    let right = clear.iter().filter(|&&is_right| is_right).count();
    let holds = !clear.is_empty() && right as f64 >= 0.95 * clear.len() as f64;
    Finding::require(holds, format!("{right} of {} cells", clear.len()))
}

/// Over each size of distinct keys: typical errors of what releases once, and bounds of all.
fn plots(experiment: Experiment<Case>) -> Experiment<Case> {
    let of = |stem, title, over, y_label, kind| {
        let x_label = match over {
            "n" => "n (records)",
            "m" => "m (keys of a list)",
            _ => "k (lists)",
        };
        Plot::new(stem, title, over, y_label)
            .x_label(x_label)
            .only("part", "cells")
            .only("over", over)
            .only("data", "distinct")
            .only("kind", kind)
            .split_by("mechanism")
            .log_x()
            .log_y()
    };
    let typical =
        |stem, title| of(stem, title, stem, "typical error (records)", "release").line(PREDICTED).points(TYPICAL);
    let bounds = |stem, title, over, kind| {
        of(stem, title, over, "error of all answers (records)", kind).line(WITHIN).points(LARGEST)
    };
    experiment
        .plot(typical("n", "Typical error of each release: planned, and measured, by records"))
        .plot(typical("k", "Typical error of each release: planned, and measured, by number of lists"))
        .plot(typical("m", "Typical error of each release: planned, and measured, by keys of a list"))
        .plot(bounds("k-bounds", "What all answers of a release keep: planned, and measured", "k", "release"))
        .plot(bounds(
            "n-bounds-of-sessions",
            "What all answers of a session keep: planned, and measured, by records",
            "n",
            "session",
        ))
        .plot(bounds(
            "m-bounds-of-sessions",
            "What all answers of a session keep: planned, and measured, by keys of a list",
            "m",
            "session",
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typical_error_is_near_or_not() {
        let squares =
            |square: f64| (0..100).map(|number| square * (0.9 + 0.2 * f64::from(number % 2))).collect::<Vec<_>>();
        let judged = |square: f64| near(10.0, &squares(square)).verdict;
        assert_eq!([judged(100.0), judged(150.0), judged(60.0)], [Verdict::Holds; 3]);
        assert_eq!([judged(200.0), judged(40.0)], [Verdict::Fails; 2]);
        // Two of ten are far off: nobody knows.
        let few = [100.0, 100.0, 100.0, 900.0, 100.0, 100.0, 900.0, 100.0, 100.0, 100.0];
        assert_eq!(near(10.0, &few).verdict, Verdict::Inconclusive);
    }

    /// Each mechanism of the planner is measured somewhere.
    #[test]
    fn every_mechanism_is_measured() {
        let cases = sweep(Size::Quick);
        for name in names() {
            let is_of = |case: &Case| case.mechanism().is_some_and(|mechanism| mechanism.about().name == name);
            assert!(cases.iter().any(is_of), "{name}");
        }
    }
}
