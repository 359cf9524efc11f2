//! Every mechanism of the planner at work: what it errs by, beside what the planner said, and who wins where.
//!
//! # What is measured
//! At (ε, δ) = (1, 10⁻⁹), β = 0.05, add-remove neighbours, for lists that are fixed beforehand. The lists of m keys are drawn once
//! (of keys that have records, as far as there are so many); a trial makes a new release or session and asks them all. "Typical" is the root of the
//! mean square of an answer's error, predicted by the planner and measured over all answers of all trials; "within" what
//! the planner says that all k answers keep but for β, "largest" the 1 − β quantile over trials of the largest error. All in
//! records.
//!
//! Where "asked" is below k, so many of k are asked. Then "largest" is of those, and less than that of all. Answers of
//! a plan for k are alike, so "typical" is that of all; but those of sessions that learn or are corrected need not be, and such
//! sessions are left out there. The dense projection, whose time for a key is a thousand times that of a sparse one, is left out
//! where it would have to go through many keys.
//!
//! # Parts
//! | part | shows |
//! | ---- | ----- |
//! | `cells` | a row for each mechanism and each (n, m, k, data). "distinct": a record for each key; "listed": all possible keys are known, twice as many; "Zipf": 4 096 keys; "Adult": wide conjunctions of 32 561 people |
//! | `map` | a row for each (n, m, k, data): the planner's winner, and the winner of new trials, of those mechanisms whose bound says something. What may be off by as much as an answer can be is no winner, though it err little: where lists hold few of the records, nobody beats the answer 0 |
//!
//! # Checks
//! Typical errors are judged where the planner knows enough for a prediction: not those of a stability histogram, of ALP, and of a
//! release with heavy keys apart on keys of very different counts, since these errors depend on all counts and the planner is told their
//! average (it takes them to be alike). Nor those of a projection without heavy keys apart: there nearly all of the mean square comes
//! from the few lists that share a row with a most frequent key, and no number of trials that can be had here measures it.
//! An error that is not sure to be off by more than a quarter (4.9 standard deviations of the mean square) is no failure, but
//! inconclusive.

mod engine;
mod scene;

use crate::claims::rarely_above;
use crate::means::{DEVIATIONS, mean_and_deviation};
use crate::sessions::BETA;
use scene::{Scene, Source};
use std::sync::Arc;
use tamis::plan::{Mechanism, Verdict};
use tamis_harness::{Cell, Experiment, Finding, Plot, Sample, Size, Table, TrialError, TrialRng, significant};

/// A row.
#[derive(Debug)]
pub struct Case {
    kind: Kind,
    scene: Arc<Scene>,
    trials: u64,
}

#[derive(Debug)]
enum Kind {
    Cell(Mechanism),
    /// Of these.
    Map(Vec<Mechanism>),
}

impl tamis_harness::Case for Case {
    fn parameters(&self) -> Vec<(&'static str, Cell)> {
        let (part, mechanism) = match &self.kind {
            Kind::Cell(mechanism) => ("cells", mechanism.name().into()),
            Kind::Map(_) => ("map", Cell::Missing),
        };
        let scene = &self.scene;
        vec![
            ("part", part.into()),
            ("over", scene.over.into()),
            ("data", scene.source.name().into()),
            ("n", scene.records.into()),
            ("m", scene.support.into()),
            ("k", scene.queries.into()),
            ("asked", scene.asked.into()),
            ("mechanism", mechanism),
        ]
    }
}

/// Answers of which the map takes the mean, at least.
const MAPPED: usize = 60;
/// And releases.
const RELEASES: usize = 4;
/// Which mechanism differs by so much from the next is told apart.
const APART: f64 = 2.0;
/// How far a typical error may be off.
const QUARTER: f64 = 0.25;

impl Case {
    fn mechanism(&self) -> Option<Mechanism> {
        match self.kind {
            Kind::Cell(mechanism) => Some(mechanism),
            Kind::Map(_) => None,
        }
    }

    fn typical(&self) -> Option<f64> {
        self.scene.planned(self.mechanism()?).typical
    }

    fn within(&self) -> Option<f64> {
        self.scene.planned(self.mechanism()?).within
    }

    fn trial(&self, rng: &mut TrialRng) -> Result<[f64; 6], TrialError> {
        match &self.kind {
            Kind::Cell(mechanism) => {
                let errors = self.scene.errors(*mechanism, rng)?;
                let worst = errors.iter().fold(0.0, |worst: f64, error| worst.max(error.abs()));
                Ok([mean_square(&errors), worst, 0.0, 0.0, 0.0, 0.0])
            }
            Kind::Map(mechanisms) => self.contest(mechanisms, rng),
        }
    }

    /// The place of the winner, its error, the next one's and that of the planner's winner; 0 where there is none.
    fn contest(&self, mechanisms: &[Mechanism], rng: &mut TrialRng) -> Result<[f64; 6], TrialError> {
        let comparison = self.scene.comparison()?;
        let mut measured = Vec::new();
        for &mechanism in mechanisms {
            if comparison.row(mechanism).verdict != Verdict::Applicable {
                continue;
            }
            let mut errors = Vec::new();
            for release in 0.. {
                if release >= RELEASES && errors.len() >= MAPPED {
                    break;
                }
                errors.extend(self.scene.errors(mechanism, rng)?);
            }
            measured.push((mean_square(&errors).sqrt(), mechanism));
        }
        measured.sort_by(|one, other| one.0.total_cmp(&other.0));
        let planned = comparison.winner().map(|row| row.mechanism);
        // A winner that is not measured is none.
        let of_planned = planned.map(|planned| {
            measured.iter().find(|(_, mechanism)| *mechanism == planned).map_or(f64::INFINITY, |one| one.0)
        });
        let place =
            |mechanism| Mechanism::ALL.iter().position(|&other| other == mechanism).map_or(0, |place| place + 1);
        let winner = measured.first().map_or(0, |best| place(best.1));
        let error = |number: usize| measured.get(number).map_or(0.0, |one| one.0);
        Ok([0.0, 0.0, winner as f64, error(0), error(1), of_planned.unwrap_or(0.0)])
    }

    fn winner(&self, sample: &Sample) -> Option<&'static str> {
        let place = *sample.values("winner").first()?;
        Mechanism::ALL.get((place as usize).checked_sub(1)?).map(|mechanism| mechanism.name())
    }

    fn planned_winner(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Cell(_) => None,
            // Cannot fail: the sweep states what is legal.
            Kind::Map(_) => self.scene.comparison().expect("legal").winner().map(|row| row.mechanism.name()),
        }
    }

    /// Whether the planner knows what its typical error depends on.
    fn is_predicted(&self) -> bool {
        let alike = matches!(self.scene.source, Source::Distinct | Source::Listed);
        let of_counts =
            [Mechanism::StabilityHistogram, Mechanism::Alp, Mechanism::Projection, Mechanism::HeavyKeysApart];
        self.mechanism().is_some_and(|mechanism| alike || !of_counts.contains(&mechanism))
    }

    fn typical_is_right(&self, sample: &Sample) -> Option<Finding> {
        if !self.is_predicted() {
            return None;
        }
        Some(near(self.typical()?, sample.values("square")))
    }
}

fn mean_square(errors: &[f64]) -> f64 {
    errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64
}

/// Whether the root of the mean of these squares is within a quarter of what was predicted.
fn near(predicted: f64, squares: &[f64]) -> Finding {
    let (mean, deviation) = mean_and_deviation(squares);
    let ratio = |square: f64| square.max(0.0).sqrt() / predicted;
    let (low, high) = (ratio(mean - DEVIATIONS * deviation), ratio(mean + DEVIATIONS * deviation));
    let allowed = 1.0 - QUARTER..=1.0 + QUARTER;
    let verdict = if allowed.contains(&ratio(mean)) {
        tamis_harness::Verdict::Holds
    } else if low <= *allowed.end() && high >= *allowed.start() {
        tamis_harness::Verdict::Inconclusive
    } else {
        tamis_harness::Verdict::Fails
    };
    let because =
        format!("{} of the prediction, surely {} to {}", significant(ratio(mean)), significant(low), significant(high));
    Finding { verdict, because }
}

/// Which mechanisms are measured in a scene.
fn mechanisms(scene: &Scene, most_dense: u64) -> Vec<Mechanism> {
    let is_there = |mechanism: &Mechanism| match mechanism {
        Mechanism::LaplaceHistogram | Mechanism::GaussianHistogram => scene.source == Source::Listed,
        Mechanism::DenseWeights => scene.source == Source::Listed && !scene.is_sampled(),
        Mechanism::SparseWeights
        | Mechanism::SparseWeightsPaper
        | Mechanism::Perceptron
        | Mechanism::GuardedRelease => !scene.is_sampled(),
        Mechanism::DenseProjection => scene.records + scene.asked * scene.support <= most_dense,
        _ => true,
    };
    Mechanism::ALL.into_iter().filter(is_there).collect()
}

/// Trials: many where a bound is sharp. Fewer than 29 would say nothing of a probability of 0.05.
fn trials(mechanism: Mechanism, size: Size) -> u64 {
    match mechanism {
        Mechanism::LaplacePerQuery
        | Mechanism::GaussianPerQuery
        | Mechanism::LaplaceHistogram
        | Mechanism::GaussianHistogram
        | Mechanism::StabilityHistogram => size.pick(200, 1_000),
        Mechanism::Projection | Mechanism::HeavyKeysApart => size.pick(200, 1_000),
        Mechanism::Alp => size.pick(40, 200),
        _ => size.pick(30, 100),
    }
}

/// Those whose cells are measured, each over one size alone.
fn scenes(size: Size) -> Vec<Scene> {
    let of = |over, source, sizes| Scene::new(over, source, sizes, asked(size));
    let distinct = |over, sizes| of(over, Source::Distinct, sizes);
    let records = size.pick(vec![1_000, 10_000, 100_000], vec![1_000, 10_000, 100_000, 1_000_000]);
    let mut scenes: Vec<Scene> = records.into_iter().map(|n| distinct("n", [n, 100, 100])).collect();
    let (n, m) = size.pick((10_000, 1_000), (100_000, 1_000));
    scenes.extend([1, 10, 30, 100, 100_000].map(|k| distinct("k", [n, m, k])));
    let supports = size.pick(vec![10, 1_000, 10_000], vec![10, 100, 1_000, 10_000, 100_000]);
    let n = size.pick(20_000, 200_000);
    scenes.extend(supports.into_iter().map(|m| distinct("m", [n, m, 30])));
    let listed = size.pick(vec![10, 100_000], vec![10, 100, 100_000]);
    scenes.extend(listed.into_iter().map(|k| of("k", Source::Listed, [2_000, 100, k])));
    let n = size.pick(100_000, 1_000_000);
    for source in [Source::Zipf, Source::ZipfByRecords] {
        let zipf = size.pick(vec![(16, 10), (256, 100_000)], vec![(16, 10), (16, 300), (256, 300), (256, 100_000)]);
        scenes.extend(zipf.into_iter().map(|(m, k)| of("k", source, [n, m, k])));
    }
    let people = size.pick(vec![10, 100_000], vec![10, 300, 100_000]);
    scenes.extend(people.into_iter().map(|k| Scene::of_adults(k, asked(size))));
    scenes
}

/// Those of which only the winner is wanted.
fn mapped(size: Size) -> Vec<Scene> {
    let of = |source, sizes| Scene::new("all", source, sizes, asked(size));
    let n = size.pick(50_000, 1_000_000);
    let grid = |supports: &'static [u64], queries: &'static [u64]| {
        supports.iter().flat_map(|&m| queries.iter().map(move |&k| [n, m, k]))
    };
    let mut scenes: Vec<Scene> =
        grid(&[300, 3_000], &[1, 3, 1_000, 1_000_000]).map(|sizes| of(Source::Distinct, sizes)).collect();
    for source in [Source::Zipf, Source::ZipfByRecords] {
        scenes.extend(grid(&[32, 512], &[1, 1_000]).map(|sizes| of(source, sizes)));
    }
    scenes.extend([[2_000, 20, 1], [2_000, 500, 1_000]].map(|sizes| of(Source::Listed, sizes)));
    scenes.extend([1, 1_000].map(|k| Scene::of_adults(k, asked(size))));
    scenes
}

/// Of more queries, so many are asked.
fn asked(size: Size) -> u64 {
    size.pick(100, 1_000)
}

fn sweep(size: Size) -> Vec<Case> {
    let scenes: Vec<Arc<Scene>> = scenes(size).into_iter().map(Arc::new).collect();
    let mapped = mapped(size).into_iter().map(Arc::new);
    let most_dense = size.pick(20_000, 500_000);
    let cells = scenes.iter().flat_map(|scene| {
        let case = |mechanism| {
            let trials = trials(mechanism, size);
            Case { kind: Kind::Cell(mechanism), scene: Arc::clone(scene), trials }
        };
        mechanisms(scene, most_dense).into_iter().map(case)
    });
    let map = |scene: Arc<Scene>| Case { kind: Kind::Map(mechanisms(&scene, most_dense)), scene, trials: 1 };
    cells.chain(scenes.iter().cloned().chain(mapped).map(map)).collect()
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Applicable => "applicable",
        Verdict::Vacuous => "vacuous",
        Verdict::NotApplicable => "not applicable",
    }
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
        "Before anything is spent the planner says what each mechanism errs by: typically within a quarter, at most as promised. Where one \
         is twice as good as the next, it names it.",
    )
    .sweep(sweep)
    .trials(|case, _| case.trials)
    .cost(|case| case.scene.records + case.scene.asked * case.scene.support)
    .trial(["square", "worst", "winner", "best", "next", "planned"], Case::trial)
    .column("verdict of the planner", |case, _| case.mechanism().map(|one| verdict(case.scene.planned(one).verdict)))
    .column("typical, predicted", |case, _| case.typical())
    .column("typical", |case, sample| case.mechanism().map(|_| sample.mean("square").sqrt()))
    .column("within", |case, _| case.within())
    .column("largest", |case, sample| case.mechanism().map(|_| sample.quantile("worst", 1.0 - BETA)))
    .column("planner's winner", |case, _| case.planned_winner())
    .column("winner", Case::winner)
    .column("next / best", |_, sample| quotient(sample, "next", "best"))
    .column("planned / best", |_, sample| quotient(sample, "planned", "best"))
    .check("within what was promised", |case, sample| {
        case.within().map(|within| rarely_above(sample, "worst", within, BETA))
    })
    .check("typical error within a quarter", Case::typical_is_right)
    .check_all("keys alike: where one mechanism is twice as good as the next, the planner names it in 95 % of cells", |table| {
        map_is_right(table, &[Source::Distinct, Source::Listed])
    })
    .check_all("skewed keys: the same", |table| map_is_right(table, &[Source::Zipf, Source::ZipfByRecords, Source::Adult]))
    .highlight(|case| matches!(case.kind, Kind::Map(_)));
    plots(experiment)
}

fn map_is_right(table: &Table, sources: &[Source]) -> Finding {
    let map = table.only("part", "map");
    let quotients =
        sources.iter().flat_map(|source| map.only("data", source.name()).points("next / best", "planned / best"));
    let clear: Vec<bool> = quotients.filter(|(next, _)| *next > APART).map(|(_, planned)| planned == 1.0).collect();
    let right = clear.iter().filter(|&&is_right| is_right).count();
    let holds = !clear.is_empty() && right as f64 >= 0.95 * clear.len() as f64;
    Finding::require(holds, format!("{right} of {} cells", clear.len()))
}

fn plots(experiment: Experiment<Case>) -> Experiment<Case> {
    ["n", "k", "m"].into_iter().fold(experiment, |experiment, over| {
        experiment.plot(
            Plot::new(over, over, "typical error (records)")
                .only("part", "cells")
                .only("over", over)
                .only("data", "distinct")
                .split_by("mechanism")
                .log_x()
                .log_y()
                .line("typical, predicted")
                .points("typical"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_harness::Verdict as Judged;

    #[test]
    fn a_typical_error_is_near_or_not() {
        let squares =
            |square: f64| (0..100).map(|number| square * (0.9 + 0.2 * f64::from(number % 2))).collect::<Vec<_>>();
        let judged = |square: f64| near(10.0, &squares(square)).verdict;
        assert_eq!([judged(100.0), judged(150.0), judged(60.0)], [Judged::Holds; 3]);
        assert_eq!([judged(200.0), judged(40.0)], [Judged::Fails; 2]);
        // Two of ten are far off: nobody knows.
        let few = [100.0, 100.0, 100.0, 900.0, 100.0, 100.0, 900.0, 100.0, 100.0, 100.0];
        assert_eq!(near(10.0, &few).verdict, Judged::Inconclusive);
    }

    /// Each mechanism of the planner is measured somewhere, with the plan that the planner asked.
    #[test]
    fn every_mechanism_is_measured() {
        let cases = sweep(Size::Quick);
        for mechanism in Mechanism::ALL {
            assert!(cases.iter().any(|case| case.mechanism() == Some(mechanism)), "{mechanism:?}");
        }
    }
}
