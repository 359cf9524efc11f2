//! Releases of a table: the baselines, and projections.

use tamis::baselines::{
    AlpPlan, DenseWorkload, MwemPlan, PerQueryPlan, PerturbedHistogramPlan, SmallDatabasePlan, StabilityHistogramPlan,
};
use tamis::noise::stability::StabilityThreshold;
use tamis::noise::{Neighbours, Queries};
use tamis::projection::{Builder, HeavyKeys, NoiseKind, ProjectionRelease, Seed, Shape, SignFamily, Sketch};
use tamis::queries::{Fingerprint, Histogram};
use tamis_harness::audit::{Subject, Transcript};

use super::{Audited, DELTA, all_moved, budget, claim, list, or_refused, table, units, with_person};

/// All of them.
pub fn subjects() -> Vec<Audited> {
    let mut all = histograms();
    all.extend([
        per_query("Laplace for each query", PerQueryPlan::laplace, 0.0),
        per_query("Gaussian for each query", PerQueryPlan::gaussian, DELTA),
        alp("a key that one has once", [&[], &[(1, 1)]]),
        alp("a record across a level", [&[(1, 3)], &[(1, 4)]]),
        mwem("one record less", Neighbours::AddRemove, 1, [&[(0, 5), (1, 6)], &[(0, 4), (1, 6)]]),
        mwem("one record takes another key", Neighbours::Substitute, 1, [&[(0, 5), (1, 6)], &[(0, 4), (1, 7)]])
            .exact(|| 1.0),
        mwem("one record takes another key", Neighbours::Substitute, 2, [&[(0, 5), (1, 6)], &[(0, 4), (1, 7)]]),
        small_database("no records → one", Neighbours::AddRemove, [&[], &[(1, 1)]]),
        small_database("one record takes another key", Neighbours::Substitute, [&[(1, 11)], &[(0, 1), (1, 10)]]),
    ]);
    all.extend(projections());
    all
}

fn histograms() -> Vec<Audited> {
    let (pure, approximate) = (budget(1.0, 0.0), budget(1.0, DELTA));
    let laplace =
        |neighbours, rows| PerturbedHistogramPlan::laplace(&pure, neighbours, rows).expect("a scale for few rows");
    let gaussian = PerturbedHistogramPlan::gaussian(&approximate, Neighbours::AddRemove, 1).expect("a small σ");
    let others = [(1, 4), (2, 5)];
    let without = with_person(&others, &[], 3);
    vec![
        perturbed(
            "perturbed histogram",
            "one record takes another key",
            laplace(Neighbours::Substitute, 1),
            [table(&[(1, 1)]), table(&[(2, 1)])],
        )
        .exact(|| 1.0),
        perturbed(
            "perturbed histogram, L = 3",
            "a person with five rows, of which three are kept",
            laplace(Neighbours::AddRemove, 3),
            [without.clone(), with_person(&others, &[1, 1, 1, 1, 1], 3)],
        )
        .exact(|| 1.0),
        perturbed(
            "perturbed histogram",
            "a record with a key that is not listed",
            laplace(Neighbours::AddRemove, 1),
            [table(&[(1, 1)]), table(&[(1, 1), (9, 1)])],
        )
        .exact(|| 0.0),
        perturbed("perturbed histogram, Gaussian", "no record → one", gaussian, [table(&[]), table(&[(1, 1)])]),
        stable("no record → one", 1, [table(&[]), table(&[(1, 1)])]),
        stable(
            "a person with three rows of two keys, one of them new",
            3,
            [without, with_person(&others, &[2, 3, 3], 3)],
        ),
        stable(
            "the same rows in another order",
            1,
            [table(&[(1, 9), (2, 8)]), table(&[(2, 3), (1, 4), (2, 5), (1, 5)])],
        )
        .exact(|| 0.0),
    ]
}

/// Keys 1 and 2 are listed.
fn perturbed(name: &str, pair: &str, plan: PerturbedHistogramPlan, data: [Histogram; 2]) -> Audited {
    let subject = Subject::new(name, pair, claim(plan.cost()), data, move |data, rng, seen| {
        if let Some(released) = or_refused(plan.release([1, 2].map(Fingerprint::raw), data, rng), seen) {
            released.counts().iter().for_each(|&(_, count)| seen.integer(count));
        }
    });
    Audited::right(subject, 500)
}

fn stable(pair: &str, rows_per_unit: u32, data: [Histogram; 2]) -> Audited {
    let subject = |epsilon| {
        let (budget, data) = (budget(epsilon, DELTA), data.clone());
        let plan = StabilityHistogramPlan::new(&budget, Neighbours::AddRemove, rows_per_unit);
        let plan = plan.expect("a scale for few rows");
        let name = format!("stability histogram, L = {rows_per_unit}");
        Subject::new(name, pair, claim(plan.cost()), data, move |data, rng, seen| {
            if let Some(released) = or_refused(plan.release(data, rng), seen) {
                write_counts(released.counts(), seen);
            }
        })
    };
    // What makes no difference makes none at any ε.
    let [first, second] = &data;
    if first == second { Audited::right(subject(1.0), 500) } else { Audited::with_twin(subject, 500) }
}

/// Keys and their noisy counts.
fn write_counts(counts: &[(Fingerprint, i64)], seen: &mut Transcript) {
    for (key, count) in counts {
        seen.label(key.get());
        seen.integer(*count);
    }
}

type MakePerQuery =
    fn(&tamis::noise::Budget, Neighbours, u32, Queries) -> Result<PerQueryPlan, tamis::baselines::BaselineError>;

/// Three lists, and a record that is on all; a fourth is refused. Of Gaussian noise the sum tells most.
fn per_query(name: &str, make: MakePerQuery, delta: f64) -> Audited {
    let queries = Queries::new(3).expect("positive");
    let plan = make(&budget(1.0, delta), Neighbours::AddRemove, 1, queries).expect("noise for three answers");
    let (three, four) = ([[1, 2], [1, 3], [1, 4]].map(|keys| list(&keys)), [[1, 5]; 4].map(|keys| list(&keys)));
    let data = [table(&[(1, 3)]), table(&[(1, 4)])];
    let pair = "a record that all lists name";
    let is_gaussian = delta > 0.0;
    let subject = Subject::new(name, pair, claim(plan.cost()), data, move |data, rng, seen| {
        for lists in [&four[..], &three] {
            let Some(answers) = or_refused(plan.release(lists, data, rng), seen) else { continue };
            let answers = answers.into_iter().map(|answer| units(answer.value));
            if is_gaussian { seen.integer(answers.sum()) } else { answers.for_each(|answer| seen.integer(answer)) }
        }
    });
    if is_gaussian {
        return Audited::right(subject, 1_000);
    }
    let moved = (0..3).map(|place| (place, units(3.0), units(4.0))).collect();
    Audited::right(all_moved(subject, moved), 1_000).exact(|| 1.0)
}

/// A table of at most some ten levels: what is seen are the estimates of the key that differs and of one that does not occur.
fn alp(pair: &str, counts: [&[(u64, i64)]; 2]) -> Audited {
    let plan = AlpPlan::new(&budget(1.0, 0.0), Neighbours::AddRemove, 1, 30, 30).expect("a small table");
    let data = counts.map(table);
    let subject = Subject::new("ALP", pair, claim(plan.cost()), data, move |data, rng, seen| {
        if let Some(released) = or_refused(plan.release(data, rng), seen) {
            for key in [1, 2] {
                seen.label(released.estimate(Fingerprint::raw(key)));
            }
        }
    });
    Audited::right(subject, 1_000)
}

/// Two lists of one key each.
fn workload() -> DenseWorkload {
    let lists = [[0], [1]].map(|keys| list(&keys));
    DenseWorkload::new([0, 1].map(Fingerprint::raw), &lists).expect("a small universe")
}

fn mwem(pair: &str, neighbours: Neighbours, rounds: u32, counts: [&[(u64, i64)]; 2]) -> Audited {
    let plan = MwemPlan::new(&budget(1.0, 0.0), neighbours, 1, 3, rounds).expect("noise for few rounds");
    let (workload, data) = (workload(), counts.map(table));
    let name = format!("MWEM, {rounds} round{}", if rounds == 1 { "" } else { "s" });
    let subject = Subject::new(name, pair, claim(plan.cost()), data, move |data, rng, seen| {
        if let Some(released) = or_refused(plan.release(&workload, data, rng), seen) {
            for round in released.rounds() {
                seen.label(round.query);
                seen.integer(round.units);
            }
        }
    });
    Audited::right(subject, 700)
}

/// Of at most two records, for data of 11.
fn small_database(pair: &str, neighbours: Neighbours, counts: [&[(u64, i64)]; 2]) -> Audited {
    let plan = SmallDatabasePlan::new(budget(1.0, 0.0).epsilon(), neighbours, 1, 11, 2).expect("a small scale");
    let (workload, data) = (workload(), counts.map(table));
    let subject = Subject::new("small database", pair, claim(plan.cost()), data, move |data, rng, seen| {
        if let Some(released) = or_refused(plan.release(&workload, data, rng), seen) {
            released.counts().iter().for_each(|&(_, count)| seen.label(count));
        }
    });
    Audited::right(subject, 700)
}

/// Any seed does: what is proven is proven for each.
const SEED: Seed = Seed([7; 32]);

fn projections() -> Vec<Audited> {
    let sparse = |neighbours, rows, delta| {
        let builder = ProjectionRelease::builder(budget(1.0, delta), neighbours, rows).records(10);
        builder.nonzeros(2).width(4).heavy(HeavyKeys::Off)
    };
    let laplace = |neighbours, rows| sparse(neighbours, rows, 0.0).noise(NoiseKind::Laplace);
    let family = SignFamily::new(Shape::sparse(4, 2, 4).expect("a small shape"), SEED);
    // The key whose column is the opposite of that of key 0: of a pair of keys none is further apart.
    let column = family.column(Fingerprint::raw(0));
    let opposite = (1..).find(|&key| {
        let other = family.column(Fingerprint::raw(key));
        column.iter().zip(&other).all(|(one, other)| (one.0, -one.1) == *other)
    });
    // Cannot fail: one key in sixteen is.
    let opposite = opposite.expect("a key");
    let heavy = |noise| sparse(Neighbours::AddRemove, 1, DELTA).noise(noise).heavy(HeavyKeys::On);
    let at_threshold = |noise| {
        let plan = heavy(noise).build().expect("a small release");
        let threshold = plan.heavy().map_or(1, StabilityThreshold::threshold);
        let data = [threshold - 1, threshold].map(|count| table(&[(0, count)]));
        projection("a key at the threshold", heavy(noise), data)
    };
    let dense = ProjectionRelease::builder(budget(1.0, DELTA), Neighbours::AddRemove, 1).records(10);
    let dense = dense.dense().width(64).noise(NoiseKind::Gaussian).heavy(HeavyKeys::Off);
    let others = [(1, 2)];
    vec![
        projection("no record → one", laplace(Neighbours::AddRemove, 1), [table(&[]), table(&[(0, 1)])]).exact(|| 1.0),
        projection(
            "keys of opposite columns",
            laplace(Neighbours::Substitute, 1),
            [table(&[(0, 1)]), table(&[(opposite, 1)])],
        )
        .exact(|| 1.0),
        projection(
            "a person with three rows, of which two are kept",
            laplace(Neighbours::AddRemove, 2),
            [with_person(&others, &[], 2), with_person(&others, &[0, 0, 0], 2)],
        )
        .exact(|| 1.0),
        projection(
            "no record → one",
            sparse(Neighbours::AddRemove, 1, DELTA).noise(NoiseKind::Gaussian),
            [table(&[]), table(&[(0, 1)])],
        ),
        projection("no record → one", dense, [table(&[]), table(&[(0, 1)])]),
        projection("no record → one", heavy(NoiseKind::Laplace), [table(&[]), table(&[(0, 1)])]),
        at_threshold(NoiseKind::Laplace),
        at_threshold(NoiseKind::Gaussian),
    ]
}

/// All rows less those of the first table; of Gaussian noise, the one sum of them that tells most. Then the heavy keys.
fn projection(pair: &str, builder: Builder, data: [Histogram; 2]) -> Audited {
    let plan = builder.build().expect("a small release");
    let family = SignFamily::new(plan.shape(), SEED);
    let is_laplace = plan.noise().kind() == NoiseKind::Laplace;
    let (signs, rows) = (plan.shape().nonzeros(), plan.rows_per_unit());
    let apart = if plan.heavy().is_some() { ", heavy keys apart" } else { "" };
    let name = format!("projection, {signs} signs a key, {:?}, L = {rows}{apart}", plan.noise().kind());
    let [first, second] = [0, 1].map(|side| Sketch::of(&family, &data[side]).expect("few rows").counters().to_vec());
    let shift: Vec<i64> = second.iter().zip(&first).map(|(second, first)| second - first).collect();
    let mut moved: Vec<_> = shift.iter().enumerate().map(|(row, &shift)| (row, 0, shift)).collect();
    moved.retain(|(_, _, shift)| *shift != 0);
    if !is_laplace {
        moved = vec![(0, 0, shift.iter().map(|shift| shift * shift).sum())];
    }
    if plan.heavy().is_some() && data.iter().all(|table| table.count(Fingerprint::raw(0)) > 0) {
        // That it is named at all: counts below the threshold are not.
        moved.push((if is_laplace { family.width() } else { 1 }, 0, 1));
    }
    let subject = Subject::new(name, pair, claim(&plan.cost()), data, move |data, rng, seen| {
        let Some(released) = or_refused(plan.release_with(&family, data, rng), seen) else { return };
        let sums = released.values().iter().zip(&first).map(|(value, first)| value - first);
        if is_laplace {
            sums.for_each(|sum| seen.integer(sum));
        } else {
            seen.integer(sums.zip(&shift).map(|(sum, shift)| sum * shift).sum());
        }
        write_counts(released.heavy(), seen);
    });
    Audited::right(all_moved(subject, moved), 5_000)
}
