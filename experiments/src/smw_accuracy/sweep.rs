//! The rows.

use super::mistakes::{Game, Learner};
use super::workload::Workload;
use super::{Case, Kind, Play};
use crate::made::Made;
use crate::sessions::{Engine, Stated};
use tamis_harness::Size;

/// Quick and full: enough to tell a rate of 0.05 from one of 0.15 even if one trial fails.
const TRIALS: (u64, u64) = (45, 100);
/// Enough for that if none does.
const FEWER: u64 = 30;
/// So many times more where the bound is sharp, and some sessions do fail.
const GAUSSIAN: u64 = 3;
/// ‖x‖₂² of the people over their number.
const ADULT_MULTIPLICITY: f64 = 41_981_817.0 / 32_561.0;

const GUARDED: Engine = Engine::Guarded { updates: 10 };

pub fn sweep(size: Size) -> Vec<Case> {
    [promises(size), axes(size), adults(size), attacks(size), games(size)].into_iter().flatten().collect()
}

fn session(part: &'static str, engine: Engine, workload: Workload, stated: Stated, trials: u64) -> Case {
    let play = Play { engine, workload, stated, prepared: Made::default(), world: Made::default() };
    Case { part, kind: Kind::Session(Box::new(play)), trials, highlight: false }
}

/// What is promised for a million lists of ten thousand keys.
fn promises(size: Size) -> Vec<Case> {
    let records: &[u64] =
        size.pick(&[10_000, 100_000, 1_000_000, 10_000_000], &[10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]);
    let engines = [
        (Engine::Paper, false),
        (Engine::Tight, false),
        (Engine::Tight, true),
        (Engine::Perceptron, true),
        (Engine::Gaussian, false),
        (GUARDED, true),
    ];
    let mut cases = Vec::new();
    for (engine, distinct) in engines {
        for &records in records {
            let largest_count = if distinct { 1 } else { records };
            let stated =
                Stated { records, largest_count, multiplicity: 1.0, support: 10_000.min(records), queries: 1_000_000 };
            let case = session("promise", engine, Workload::Promise, stated, 0);
            cases.push(Case { highlight: records == 1_000_000, ..case });
        }
    }
    cases
}

/// Every mode, over n, m and k.
fn axes(size: Size) -> Vec<Case> {
    let base = (1_000_000, 128, 200);
    let over_n = size.pick(vec![100_000, 10_000_000], vec![10_000, 100_000, 10_000_000, 100_000_000]);
    let over_m = size.pick(vec![16, 256], vec![16, 64, 512, 1_024]);
    let over_k = size.pick(vec![50, 800], vec![50, 1_600, 6_400, 25_600]);
    let points = [("n, m, k", vec![base])]
        .into_iter()
        .chain([
            ("over n", over_n.into_iter().map(|n| (n, base.1, base.2)).collect()),
            ("over m", over_m.into_iter().map(|m| (base.0, m, base.2)).collect()),
            ("over k", over_k.into_iter().map(|k| (base.0, base.1, k)).collect::<Vec<_>>()),
        ])
        .flat_map(|(part, points)| points.into_iter().map(move |point| (part, point)));
    let mut cases = Vec::new();
    for (part, (records, support, queries)) in points {
        let budgeted = Engine::Budgeted { updates: 10, threshold: records / 100 };
        for engine in [Engine::Paper, Engine::Tight, budgeted, Engine::Gaussian, GUARDED] {
            // Of Zipf's law over 2¹² keys: Σ 1/i² over (Σ 1/i)².
            let multiplicity = 0.0208 * records as f64;
            let stated = Stated { records, largest_count: records, multiplicity, support, queries };
            let times = if engine == Engine::Gaussian { GAUSSIAN } else { 1 };
            cases.push(session(part, engine, Workload::Zipf, stated, times * size.pick(TRIALS.0, TRIALS.1)));
        }
    }
    cases
}

/// Real people, few queries and many.
fn adults(size: Size) -> Vec<Case> {
    let mut cases = Vec::new();
    for queries in size.pick(vec![100, 1_000, 10_000], vec![100, 1_000, 10_000, 100_000]) {
        let budgeted = Engine::Budgeted { updates: 40, threshold: 500 };
        let trials = |engine| match (queries, engine) {
            (1_000.., _) => 2,
            (_, Engine::Gaussian) => GAUSSIAN * TRIALS.0,
            _ => FEWER,
        };
        for engine in [Engine::Gaussian, GUARDED, budgeted] {
            if engine == budgeted && size == Size::Quick && queries > 100 {
                continue;
            }
            let stated = Stated {
                records: 32_561,
                largest_count: 32_561,
                multiplicity: ADULT_MULTIPLICITY,
                support: 256,
                queries,
            };
            let case = session("people", engine, Workload::Adult, stated, trials(engine));
            cases.push(Case { highlight: engine != budgeted && queries != 1_000, ..case });
        }
    }
    cases
}

/// The same attack on a release alone and on one that is guarded.
fn attacks(size: Size) -> Vec<Case> {
    let stated =
        Stated { records: 20_000, largest_count: 1, multiplicity: 1.0, support: 4_000, queries: 2 * 4_000 + 16 };
    let engines = [Engine::Release, Engine::Guarded { updates: 1 }, GUARDED];
    let case = |engine| session("attack", engine, Workload::Attack, stated, size.pick(FEWER, TRIALS.1));
    engines.into_iter().map(|engine| Case { highlight: true, ..case(engine) }).collect()
}

/// Mistakes where the perceptron's bound is the smaller one, and where it is not.
fn games(size: Size) -> Vec<Case> {
    let points: &[(u64, u64, f64)] = size.pick(
        &[(1, 16, 0.1), (400, 16, 0.02), (4_000, 128, 0.005)],
        &[(1, 4, 0.1), (1, 16, 0.1), (8, 16, 0.05), (400, 16, 0.02), (400, 64, 0.02), (4_000, 128, 0.005)],
    );
    let mut cases = Vec::new();
    for &(keys, support, alpha) in points {
        for learner in [Learner::Weights, Learner::Perceptron] {
            let kind = Kind::Game(Game { learner, keys, support, alpha });
            cases.push(Case { part: "mistakes", kind, trials: size.pick(2, 10), highlight: false });
        }
    }
    cases
}
