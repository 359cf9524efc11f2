//! MWEM and the small database mechanism: their output laws are those of slow twins, lose no more than ε between neighbours, and
//! their bounds hold.
//!
//! The twins below know nothing of the crate's code: counts are lists of integers, queries are 0/1 vectors, and the laws of selection
//! are those of `tamis_oracle::selection`. False alarms are 1e-6 for each statistical test, all are seeded, and each has a twin that must fail.

use chacha20::ChaCha12Rng;
use ndarray::{Array2, array};
use rand::SeedableRng;
use tamis_baselines::{BaselineError, DenseWorkload, MwemPlan, SmallDatabasePlan, mwem, small_database};
use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, ParameterError, Queries, Rational};
use tamis_oracle::enumeration::{Interval, Pair};
use tamis_oracle::selection::{exponential, permute_and_flip, worst_loss};
use tamis_oracle::statistics::{ChiSquare, IntegerBins};
use tamis_queries::{ContributionBound, Fingerprint, FingerprintKey, Histogram, SparseQuery};

const FALSE_ALARM: f64 = 1e-6;
/// What enclosures of equal probabilities may make of a loss of ε.
const ROUNDING: f64 = 1e-12;
const UNIT: i64 = 1 << 20;
const BOTH: [Neighbours; 2] = [Neighbours::AddRemove, Neighbours::Substitute];

fn budget(epsilon: &str) -> Budget {
    Budget::pure(epsilon.parse().unwrap())
}

fn beta() -> Beta {
    Beta::new(0.05).unwrap()
}

fn queries(count: usize) -> Queries {
    Queries::new(count as u64).unwrap()
}

fn histogram(counts: &[i64]) -> Histogram {
    let mut table = Histogram::builder();
    for (element, &count) in counts.iter().enumerate() {
        table.add(Fingerprint::raw(element as u64), count).unwrap();
    }
    table.build()
}

fn workload(vectors: &[Vec<i64>]) -> DenseWorkload {
    let weights = Array2::from_shape_fn((vectors.len(), vectors[0].len()), |(query, u)| vectors[query][u] as u32);
    DenseWorkload::vectors((weights * UNIT as u32).view()).unwrap()
}

fn dot(query: &[i64], counts: &[i64]) -> i64 {
    query.iter().zip(counts).map(|(q, x)| q * x).sum()
}

/// All tables of two elements with up to `most` of each, and those of them that are their neighbours.
fn neighbouring_tables(most: i64, neighbours: Neighbours) -> Vec<[Vec<i64>; 2]> {
    let moves: &[[i64; 2]] = match neighbours {
        Neighbours::AddRemove => &[[1, 0], [0, 1]],
        Neighbours::Substitute => &[[1, -1], [1, 0], [0, 1]],
    };
    let tables = (0..=most).flat_map(|a| (0..=most).map(move |b| [a, b]));
    let pairs = tables.flat_map(|x| moves.iter().map(move |step| [x.to_vec(), vec![x[0] + step[0], x[1] + step[1]]]));
    pairs.filter(|[_, other]| other.iter().all(|&count| count >= 0)).collect()
}

// ---- The small database mechanism.

/// −max |m·q(x) − ñ·q(y)| of every y with at most m records over two elements, with y, in units of 2⁻²⁰/m.
fn small_databases(vectors: &[Vec<i64>], table: &[i64], records: i64, size: i64) -> Vec<([i64; 2], i64)> {
    let all = (0..=size).flat_map(|a| (0..=size - a).map(move |b| [a, b]));
    let score =
        |y: [i64; 2]| vectors.iter().map(|q| (size * dot(q, table) - records * dot(q, &y)).abs()).max().unwrap();
    all.map(|y| (y, -UNIT * score(y))).collect()
}

fn first_only_and_all() -> Vec<Vec<i64>> {
    vec![vec![1, 0], vec![1, 1]]
}

#[test]
fn the_small_database_has_the_law_of_its_definition() {
    const RUNS: usize = 50_000;
    let (vectors, table) = (first_only_and_all(), [3, 1]);
    let plan = SmallDatabasePlan::new(&"1/2".parse().unwrap(), Neighbours::AddRemove, 1, 5, 2).unwrap();
    let (dense, data) = (workload(&vectors), histogram(&table));
    let twins = small_databases(&vectors, &table, 5, 2);
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let mut counts = vec![0; twins.len()];
    for _ in 0..RUNS {
        let released = plan.release(&dense, &data, &mut rng).unwrap();
        let y: Vec<i64> = released.counts().iter().map(|entry| entry.1).collect();
        counts[twins.iter().position(|twin| twin.0[..] == y).unwrap()] += 1;
    }
    let scores: Vec<i64> = twins.iter().map(|twin| twin.1).collect();
    // 2Δ/ε with Δ = 2 records' halves in units.
    let fits = |t: i64| {
        let law: Vec<f64> = exponential(&scores, &Rational::from(t * UNIT)).iter().map(|p| p.lower).collect();
        ChiSquare::new(&counts, &law, 25.0).accepts(FALSE_ALARM)
    };
    assert!(fits(8));
    assert!(!fits(7) && !fits(4));
}

/// Every pair of small neighbours, every output: the exact law, for both neighbours and a unit of up to two rows.
#[test]
fn the_small_database_loses_at_most_epsilon() {
    for (records, size, neighbours) in [(3, 2, BOTH[0]), (3, 2, BOTH[1]), (4, 3, BOTH[0])] {
        let vectors = [vec![1, 0], vec![0, 1]];
        let scores =
            |table: &[i64]| small_databases(&vectors, table, records, size).iter().map(|twin| twin.1).collect();
        let pairs: Vec<Pair> = neighbouring_tables(3, neighbours)
            .iter()
            .map(|[x, other]| Pair { first: scores(x), second: scores(other) })
            .collect();
        let worst = |t: i64| worst_loss(|scores| exponential(scores, &Rational::from(t * UNIT)), &pairs);
        // ε = 1: the scale is 2Δ = 2m units of the score.
        let loss = worst(2 * size);
        assert!(loss.upper <= 1.0 + ROUNDING && loss.lower > 0.5, "{records} {size}: {loss:?}");
        // The twins: the factor 2 left out, and the m that scores are multiplied with.
        assert!(worst(size).lower > 1.0, "{records} {size}: {:?}", worst(size));
        assert!(worst(2).lower > 1.0, "{records} {size}");
    }
}

/// With a failure probability of at most 0.05, 13 or more of 40 runs fail with a probability below 1e-7.
const RUNS: u64 = 40;
const TOLERATED: u64 = 12;

fn failures(bound: f64, worst_error: impl Fn(&mut ChaCha12Rng) -> f64) -> u64 {
    (0..RUNS).map(|seed| u64::from(worst_error(&mut ChaCha12Rng::seed_from_u64(seed)) > bound)).sum()
}

fn intervals(elements: usize) -> Vec<Vec<i64>> {
    let all = (0..elements).flat_map(|low| (low..elements).map(move |high| low..=high));
    all.map(|range| (0..elements).map(|u| i64::from(range.contains(&u))).collect()).collect()
}

#[test]
fn the_small_databases_bound_holds() {
    let vectors = intervals(4);
    let (dense, table) = (workload(&vectors), [3_900, 0, 0, 80]);
    let worst_error = |epsilon: &Epsilon, rng: &mut ChaCha12Rng| {
        let plan = SmallDatabasePlan::new(epsilon, Neighbours::Substitute, 1, 4_000, 8).unwrap();
        let released = plan.release(&dense, &histogram(&table), rng).unwrap();
        let y: Vec<i64> = released.counts().iter().map(|entry| entry.1).collect();
        vectors.iter().map(|q| (dot(q, &table) as f64 - dot(q, &y) as f64 * 500.0).abs()).fold(0.0, f64::max)
    };
    let epsilon: Epsilon = "1".parse().unwrap();
    let plan = SmallDatabasePlan::new(&epsilon, Neighbours::Substitute, 1, 4_000, 8).unwrap();
    let bound = plan.guarantee(4, queries(vectors.len()), beta()).unwrap();
    assert!(bound < 1_800.0, "{bound}");
    assert!(failures(bound, |rng| worst_error(&epsilon, rng)) <= TOLERATED);
    // The twin: a database that is hardly looked for.
    let blind: Epsilon = "1/10000".parse().unwrap();
    assert!(failures(bound, |rng| worst_error(&blind, rng)) > TOLERATED);

    // The book's, at its size and the same n, is above ours.
    let alpha = 0.6;
    let size = SmallDatabasePlan::size_for(alpha, queries(10));
    let ours = SmallDatabasePlan::new(&epsilon, Neighbours::Substitute, 1, 4_000, size).unwrap();
    let ours = ours.guarantee(4, queries(10), beta()).unwrap();
    let printed = small_database::dwork_roth(alpha, 4_000, 4, queries(10), &epsilon, beta()).unwrap();
    assert!(ours < printed, "{ours} {printed}");
}

// ---- MWEM.

/// ñ·p after these rounds, from the definition: weights that are multiplied, and one element more.
fn guess(vectors: &[Vec<i64>], records: f64, rounds: &[(usize, i64)]) -> Vec<f64> {
    let elements = vectors[0].len();
    let mut weights = vec![1.0; elements + 1];
    let normalised = |weights: &[f64]| -> Vec<f64> {
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| records * weight / total).collect()
    };
    for &(query, units) in rounds {
        let counts = normalised(&weights);
        let answer: f64 = vectors[query].iter().zip(&counts).map(|(&q, count)| q as f64 * count).sum();
        let measured = (units as f64 / UNIT as f64).clamp(0.0, records);
        for (weight, &q) in weights.iter_mut().zip(&vectors[query]) {
            *weight *= (4.0 * (measured - answer) / records * q as f64).exp();
        }
    }
    normalised(&weights)[..elements].to_vec()
}

/// |q(x) − ñ·q(p)| of each query in units, after these rounds.
fn scores(vectors: &[Vec<i64>], table: &[i64], records: i64, rounds: &[(usize, i64)]) -> Vec<i64> {
    let counts = guess(vectors, records as f64, rounds);
    let answer = |q: &Vec<i64>| -> f64 { q.iter().zip(&counts).map(|(&q, count)| q as f64 * count).sum() };
    vectors.iter().map(|q| (UNIT * dot(q, table) - (answer(q) * UNIT as f64).round() as i64).abs()).collect()
}

#[test]
fn mwem_learns_what_its_definition_learns() {
    let vectors = intervals(5);
    let (dense, table) = (workload(&vectors), [40, 300, 0, 25, 7]);
    let plan = MwemPlan::new(&budget("2"), Neighbours::AddRemove, 1, 500, 12).unwrap();
    let released = plan.release(&dense, &histogram(&table), &mut ChaCha12Rng::seed_from_u64(8)).unwrap();
    let rounds: Vec<(usize, i64)> = released.rounds().iter().map(|round| (round.query, round.units)).collect();
    assert_eq!(rounds.len(), 12);
    let guesses: Vec<Vec<f64>> = (0..=12).map(|round| guess(&vectors, 500.0, &rounds[..round])).collect();
    for element in 0..5 {
        let average = guesses[..12].iter().map(|guess| guess[element]).sum::<f64>() / 12.0;
        assert!((released.average()[element] - average).abs() < 1e-9 * 500.0);
        assert!((released.last()[element] - guesses[12][element]).abs() < 1e-9 * 500.0);
    }
    let all = SparseQuery::count((0..5).map(Fingerprint::raw));
    assert!((released.answer(&all).unwrap() - released.average().sum()).abs() < 1e-9);
    assert!(released.answer(&all).unwrap() < 500.0);
}

/// Two rounds: the query of each has the law of permute-and-flip on the twin's scores, the noise of each the discrete Laplace law.
#[test]
fn mwem_selects_and_measures_by_the_laws() {
    const RUNS: usize = 30_000;
    let vectors = [vec![1, 0, 0], vec![0, 1, 0], vec![0, 1, 1], vec![1, 0, 1]];
    let (dense, table) = (workload(&vectors), [9, 2, 4]);
    let plan = MwemPlan::new(&budget("4"), Neighbours::Substitute, 1, 15, 1).unwrap();
    assert_eq!(*plan.epsilon_per_step(), "2".parse().unwrap());
    let data = histogram(&table);
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let (mut counts, mut noise) = (vec![0; vectors.len()], Vec::new());
    for _ in 0..RUNS {
        let round = plan.release(&dense, &data, &mut rng).unwrap().rounds()[0];
        counts[round.query] += 1;
        noise.push(round.units - UNIT * dot(&vectors[round.query], &table));
    }
    let scores = scores(&vectors, &table, 15, &[]);
    // Selection at 2Δ/ε₀ = 1 record, measurement at Δ/ε₀ = half of one.
    let selects = |t: i64| {
        let law: Vec<f64> = permute_and_flip(&scores, &Rational::from(t)).iter().map(|p| p.lower).collect();
        ChiSquare::new(&counts, &law, 25.0).accepts(FALSE_ALARM)
    };
    let measures = |t: i64| {
        let law = tamis_oracle::discrete_laplace::DiscreteLaplace::new(t as f64);
        IntegerBins::new(|j| law.survival(j), 40).test(noise.iter().copied()).accepts(FALSE_ALARM)
    };
    assert!(selects(UNIT) && measures(UNIT / 2));
    assert!(!selects(UNIT / 2) && !measures(UNIT / 2 * 9 / 10));
}

/// The exact law of two rounds on every pair of small neighbours: whatever was selected and measured, the four losses add up to ε at most.
#[test]
fn mwem_loses_at_most_epsilon() {
    let vectors = [vec![1, 0], vec![0, 1], vec![1, 1]];
    for neighbours in BOTH {
        // ε = 1, ε₀ = 1/4: selection at 8 records, measurement at 4.
        let worst = |selection: i64, measurement: f64| {
            let mut worst = 0f64;
            for [x, other] in neighbouring_tables(2, neighbours) {
                let law = |table: &[i64], rounds: &[(usize, i64)]| {
                    permute_and_flip(&scores(&vectors, table, 4, rounds), &Rational::from(selection * UNIT))
                };
                let losses = |rounds: &[(usize, i64)]| -> Vec<f64> {
                    let pairs = law(&x, rounds).into_iter().zip(law(&other, rounds));
                    let of_query = |((p, p_other), q): ((Interval, Interval), &Vec<i64>)| {
                        // Of the measurement, in the worst of all values.
                        let moved = (dot(q, &x) - dot(q, &other)).abs() as f64 / measurement;
                        (p.upper / p_other.lower).ln().max((p_other.upper / p.lower).ln()) + moved
                    };
                    pairs.zip(&vectors).map(of_query).collect()
                };
                for (query, first) in losses(&[]).into_iter().enumerate() {
                    for units in [-UNIT, 0, UNIT / 2, UNIT, 3 * UNIT, 9 * UNIT] {
                        let second = losses(&[(query, units)]).into_iter().fold(0.0, f64::max);
                        worst = worst.max(first + second);
                    }
                }
            }
            worst
        };
        let loss = worst(8, 4.0);
        assert!(loss <= 1.0 + ROUNDING && loss > 0.7, "{neighbours}: {loss}");
        // The twins: the factor 2 left out of the selection, and ε₀ = 1/2 for the measurements.
        assert!(worst(4, 4.0) > 1.0, "{neighbours}: {}", worst(4, 4.0));
        assert!(worst(8, 2.0) > 1.0, "{neighbours}: {}", worst(8, 2.0));
    }
}

#[test]
fn mwems_bound_holds() {
    let vectors = intervals(16);
    let (k, n) = (queries(vectors.len()), 1_000_000);
    let mut table = [0; 16];
    (table[2], table[3], table[11]) = (600_000, 300_000, 90_000);
    let (dense, data) = (workload(&vectors), histogram(&table));
    let plan = MwemPlan::with_least_guarantee(&budget("1"), Neighbours::AddRemove, 1, n, 16, k, beta()).unwrap();
    let bound = plan.guarantee(16, k, beta());
    assert!(bound < 100_000.0, "{bound}");
    let worst = |counts: &ndarray::Array1<f64>| {
        let answer = |q: &Vec<i64>| q.iter().zip(counts).map(|(&q, count)| q as f64 * count).sum::<f64>();
        vectors.iter().map(|q| (dot(q, &table) as f64 - answer(q)).abs()).fold(0.0, f64::max)
    };
    let failed = failures(bound, |rng| worst(plan.release(&dense, &data, rng).unwrap().average()));
    assert!(failed <= TOLERATED, "{failed}");
    // The twin: nothing learnt.
    let unlearnt = ndarray::Array1::from(guess(&vectors, n as f64, &[]));
    assert!(failures(bound, |_| worst(&unlearnt)) > TOLERATED);
}

#[test]
fn mwems_bound_is_below_the_papers_and_composition_helps() {
    let (k, epsilon): (_, Epsilon) = (queries(4_000), "1".parse().unwrap());
    for (n, rounds, elements) in [(1_000_000, 100, 16), (100_000, 10, 1_024), (10_000_000, 1_000, 256)] {
        let plan = MwemPlan::new(&budget("1"), Neighbours::Substitute, 1, n, rounds).unwrap();
        // At the paper's failure probability, 2T/k.
        let bound = plan.guarantee(elements, k, Beta::new(2.0 * f64::from(rounds) / 4_000.0).unwrap());
        let printed = mwem::hardt_ligett_mcsherry(n, rounds, elements, k, &epsilon);
        assert!(bound < printed, "{n} {rounds} {elements}: {bound} {printed}");
    }
    let delta = Budget::approximate(epsilon, Delta::new(1e-9).unwrap());
    let best = |budget: &Budget| {
        let plan = MwemPlan::with_least_guarantee(budget, Neighbours::Substitute, 1, 1_000_000, 1_024, k, beta());
        plan.unwrap().guarantee(1_024, k, beta())
    };
    assert!(best(&delta) < 0.8 * best(&budget("1")));
}

/// No plan of a few rounds more or fewer, and none of those tried, is better.
#[test]
fn the_rounds_are_those_of_the_least_guarantee() {
    let k = queries(500);
    for n in [1_000, 100_000, 10_000_000] {
        let best = MwemPlan::with_least_guarantee(&budget("1"), Neighbours::AddRemove, 1, n, 64, k, beta()).unwrap();
        let least = best.guarantee(64, k, beta());
        for rounds in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1_024, 2_048] {
            let other = MwemPlan::new(&budget("1"), Neighbours::AddRemove, 1, n, rounds).unwrap();
            assert!(other.guarantee(64, k, beta()) >= least, "{n} {rounds}");
        }
    }
}

// ---- What is refused, and what is dropped.

#[test]
fn what_cannot_be_is_refused() {
    let key = Fingerprint::raw;
    let unlisted = DenseWorkload::new([1, 2].map(key), &[SparseQuery::count([1, 3, 4].map(key))]);
    assert_eq!(unlisted.unwrap_err(), BaselineError::Unlisted(2));
    let heavy = DenseWorkload::vectors(array![[1, 2], [3, (1 << 20) + 1]].view());
    assert_eq!(heavy.unwrap_err(), BaselineError::Weight { query: 1, element: 1, given: (1 << 20) + 1 });
    let size = |result: Result<DenseWorkload, _>| match result.unwrap_err() {
        BaselineError::Size { given, .. } => given,
        other => panic!("{other}"),
    };
    assert_eq!(size(DenseWorkload::new([], &[SparseQuery::count([])])), 0);
    assert_eq!(size(DenseWorkload::new([key(1)], &[])), 0);
    assert_eq!(size(DenseWorkload::new((0..1 << 13).map(key), &vec![SparseQuery::count([]); 1 << 12])), 1 << 25);

    let mwem = |records, rounds, rows| MwemPlan::new(&budget("1"), Neighbours::AddRemove, rows, records, rounds);
    assert!(matches!(mwem(0, 1, 1).unwrap_err(), BaselineError::Size { given: 0, .. }));
    assert!(matches!(mwem(1, 0, 1).unwrap_err(), BaselineError::Size { given: 0, .. }));
    assert!(matches!(mwem(1, 100_001, 1).unwrap_err(), BaselineError::Size { .. }));
    assert_eq!(mwem(1, 1, 0).unwrap_err(), BaselineError::RowsPerUnit(0));
    assert!(matches!(mwem(1, 100_000, 1_000).unwrap_err(), BaselineError::Parameter(ParameterError::Scale(_))));

    let small = |records, size| SmallDatabasePlan::new(&"1".parse().unwrap(), Neighbours::AddRemove, 1, records, size);
    assert!(matches!(small(10, 0).unwrap_err(), BaselineError::Size { given: 0, .. }));
    assert!(matches!(small(1 << 40, 2).unwrap_err(), BaselineError::Size { .. }));
    let many = small(10, 8).unwrap().guarantee(1_000, queries(3), beta()).unwrap_err();
    assert_eq!(many, BaselineError::TooManyDatabases { elements: 1_000, size: 8, most: 1 << 22, largest: 2 });
    assert_eq!(
        many.to_string(),
        "there are more than 4194304 databases of at most 8 records over 1000 elements: take at most 2 records, or fewer elements"
    );
    assert!(small_database::dwork_roth(f64::NAN, 10, 4, queries(3), &"1".parse().unwrap(), beta()).is_err());
}

/// A table bounded to more rows a unit than planned is refused by both; rows with other keys are dropped by both.
#[test]
fn the_data_is_what_was_promised() {
    let vectors = first_only_and_all();
    let (dense, mut rng) = (workload(&vectors), ChaCha12Rng::seed_from_u64(1));
    let two_rows = ContributionBound::new(2, FingerprintKey::new([7; 16])).unwrap().histogram().unwrap();
    let refused = BaselineError::RowsBeyondPlan { planned: 1, bounded: 2 };
    let mut other = Histogram::builder();
    other.add(Fingerprint::raw(0), 900).unwrap().add(Fingerprint::raw(77), 50_000).unwrap();
    let other = other.build();
    let plan = SmallDatabasePlan::new(&"1".parse().unwrap(), Neighbours::AddRemove, 1, 1_000, 10).unwrap();
    assert_eq!(plan.release(&dense, &two_rows, &mut rng).unwrap_err(), refused);
    let released = plan.release(&dense, &other, &mut rng).unwrap();
    assert_eq!(released.counts(), [(Fingerprint::raw(0), 9), (Fingerprint::raw(1), 0)]);
    let plan = MwemPlan::new(&budget("100"), Neighbours::AddRemove, 1, 1_000, 1).unwrap();
    assert_eq!(plan.release(&dense, &two_rows, &mut rng).unwrap_err(), refused);
    let units = plan.release(&dense, &other, &mut rng).unwrap().rounds()[0].units;
    assert!((units - 900 * UNIT).abs() < UNIT);
}
