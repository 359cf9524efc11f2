//! The rows, part by part, and figures of other mechanisms.

use super::world::{Data, Keys, Lists};
use super::{BETA, Case, Claim, LEVEL};
use std::num::NonZeroU128;
use std::sync::OnceLock;
use tamis::noise::composition::{optimal, papers};
use tamis::noise::gaussian_calibration::concentrated;
use tamis::noise::{Beta, Budget, Delta, Epsilon, Hits, LaplaceMechanism, Neighbours, Queries, Sensitivity};
use tamis::projection::bounds::{Independence, theorem};
use tamis::projection::{Builder, Noise, NoiseKind, Plan, ProjectionRelease, Signs};
use tamis_harness::Size;

const DELTA: f64 = 1e-9;
const SPARSE: Signs = Signs::Sparse { nonzeros: 1 };
const SPARSE_8: Signs = Signs::Sparse { nonzeros: 8 };
/// What nominal 95 % intervals must cover.
const NOMINAL: Option<(f64, f64)> = Some((0.93, 0.97));

pub fn sweep(size: Size) -> Vec<Case> {
    let parts = [lists, covering, over_m, over_n, over_t, keys, noise, guarantees, per_lists, frontier];
    // Cannot fail: all of these are legal.
    parts.into_iter().flat_map(|part| part(size).expect("legal parameters")).collect()
}

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// ε = 1, and this δ.
fn budget(delta: f64) -> Fallible<Budget> {
    Ok(Budget::approximate(Epsilon::new(1.0)?, Delta::new(delta)?))
}

fn builder(budget: Budget) -> Builder {
    ProjectionRelease::builder(budget, Neighbours::AddRemove, 1)
}

fn plan(signs: Signs, noise: NoiseKind, width: u64, independence: u32) -> Fallible<Plan> {
    let builder = builder(budget(if noise == NoiseKind::Gaussian { DELTA } else { 0.0 })?);
    let builder = match signs {
        Signs::Dense => builder.dense(),
        Signs::Sparse { nonzeros } => builder.nonzeros(nonzeros),
    };
    Ok(builder.noise(noise).width(width).independence(independence).build()?)
}

fn laplace(signs: Signs, width: u64) -> Fallible<Plan> {
    plan(signs, NoiseKind::Laplace, width, Builder::INDEPENDENCE)
}

fn gaussian(signs: Signs, width: u64) -> Fallible<Plan> {
    plan(signs, NoiseKind::Gaussian, width, Builder::INDEPENDENCE)
}

fn distinct(records: u64) -> Data {
    Data::Distinct { records, keys: Keys::Bits(64) }
}

/// With two fifths of the keys in the table.
fn lists_of(number: u64, support: u64) -> Lists {
    Lists { number, support, matches: support * 2 / 5 }
}

fn case(part: &'static str, plan: Plan, data: Data, lists: Lists, trials: u64, claim: Claim) -> Case {
    let noise = match plan.noise().kind() {
        NoiseKind::Laplace => "Laplace",
        NoiseKind::Gaussian => "Gaussian",
    };
    let size = data.size();
    Case { part, plan, noise, data, lists, size, claim, trials, highlight: false, world: OnceLock::new() }
}

/// What a user gets, by default.
fn lists(size: Size) -> Fallible<Vec<Case>> {
    let default = || builder(budget(0.0)?).records(1_000_000).build().map_err(Into::into);
    let claim = |deviation| Claim { deviation, predicted: true, coverage: NOMINAL, ..Claim::default() };
    let row = |plan: Fallible<Plan>, lists, trials, deviation| -> Fallible<Case> {
        Ok(Case { highlight: true, ..case("lists", plan?, distinct(1_000_000), lists, trials, claim(deviation)) })
    };
    let mut rows = vec![
        row(default(), lists_of(100, 1_000), size.pick(50, 400), None)?,
        row(default(), lists_of(100, 10_000), size.pick(50, 400), Some(180.0))?,
        row(default(), lists_of(25, 100_000), size.pick(80, 400), Some(560.0))?,
    ];
    if size == Size::Full {
        let dense =
            builder(budget(DELTA)?).records(1_000_000).dense().noise(NoiseKind::Gaussian).width(1 << 16).build();
        rows.push(row(dense.map_err(Into::into), lists_of(100, 10_000), 50, None)?);
    }
    let adults = builder(budget(0.0)?).records(32_561).build()?;
    let conjunctions = Lists { number: 200, support: 256, matches: 0 };
    let claim = Claim { absolute: Some(30.0), ..Claim::default() };
    let adults = case("lists", adults, Data::Adult { free: 8 }, conjunctions, size.pick(50, 500), claim);
    rows.push(Case { highlight: true, ..adults });
    Ok(rows)
}

/// One list a release, so that every answer is independent of the others.
fn covering(size: Size) -> Fallible<Vec<Case>> {
    let zipf = || Data::Zipf { keys: 2_000, largest: 500 };
    let heavy = || Data::HeavyKey { records: 100_000 };
    // Without the heavy key, which would be counted without an error.
    let others = Lists { number: 1, support: 16, matches: 0 };
    let list = lists_of(1, 200);
    let at_least = |share: f64| Some((share, 1.0));
    let trials = size.pick(4_000, 20_000);
    let row = |plan: Plan, data: Data, lists: Lists, coverage| Case {
        highlight: true,
        ..case("coverage", plan, data, lists, trials, Claim { coverage, ..Claim::default() })
    };
    let mut plain = row(laplace(SPARSE_8, 4_096)?, heavy(), others, Some((0.75, 0.85)));
    plain.claim.normal = true;
    Ok(vec![
        row(laplace(SPARSE, 4_096)?, distinct(1_000), list, NOMINAL),
        row(laplace(SPARSE_8, 8_192)?, distinct(1_000), list, NOMINAL),
        row(laplace(Signs::Dense, 1_024)?, distinct(1_000), list, NOMINAL),
        row(gaussian(Signs::Dense, 1_024)?, distinct(1_000), list, NOMINAL),
        row(laplace(SPARSE, 4_096)?, distinct(1_000), Lists { number: 1, support: 1, matches: 1 }, at_least(LEVEL)),
        row(laplace(SPARSE, 4_096)?, zipf(), list, at_least(0.93)),
        row(laplace(SPARSE_8, 8_192)?, zipf(), lists_of(1, 400), NOMINAL),
        row(gaussian(Signs::Dense, 1_024)?, zipf(), list, NOMINAL),
        row(laplace(SPARSE, 4_096)?, heavy(), others, at_least(LEVEL)),
        row(laplace(SPARSE_8, 4_096)?, heavy(), others, at_least(LEVEL)),
        row(gaussian(Signs::Dense, 1_024)?, heavy(), others, NOMINAL),
        plain,
    ])
}

fn over_m(size: Size) -> Fallible<Vec<Case>> {
    let mut rows = Vec::new();
    for support in [10, 30, 100, 300, 1_000, 3_000] {
        let trials = |pairs: u64, number| size.pick(pairs, 10 * pairs) / number;
        let number = 2_500 / support.min(500);
        let plan = laplace(SPARSE, 1 << 14)?;
        let claim = Claim { predicted: true, ..Claim::default() };
        rows.push(case("over m", plan, distinct(6_000), lists_of(number.min(5), support), trials(4_000, 5), claim));
    }
    for support in [10, 30, 100, 300] {
        let lists = lists_of(5, support);
        rows.push(case(
            "over m",
            gaussian(Signs::Dense, 1 << 10)?,
            distinct(1_000),
            lists,
            size.pick(200, 2_000),
            Claim::default(),
        ));
    }
    Ok(rows)
}

fn over_n(size: Size) -> Fallible<Vec<Case>> {
    let trials = size.pick(20, 200);
    let claim = || Claim { predicted: true, ..Claim::default() };
    let mut rows = Vec::new();
    // T is at least 2‖x‖²/σ² of the noise on a key: noise is most of the error.
    for records in [1_000, 10_000, 100_000] {
        rows.push(case("over n", laplace(SPARSE, 1 << 20)?, distinct(records), lists_of(50, 50), trials, claim()));
    }
    for records in [30_000, 100_000, 300_000] {
        let plan = laplace(SPARSE, 1 << 10)?;
        rows.push(case("over n, few rows", plan, distinct(records), lists_of(50, 100), 2 * trials, claim()));
    }
    for records in [10_000, 100_000, 1_000_000] {
        let lists = Lists { number: 50, support: 100, matches: 0 };
        let plan = laplace(SPARSE_8, 1 << 13)?;
        rows.push(case("over n", plan, Data::HeavyKey { records }, lists, 5 * trials, claim()));
    }
    Ok(rows)
}

fn over_t(size: Size) -> Fallible<Vec<Case>> {
    let row = |log: u32| -> Fallible<Case> {
        let claim = Claim { predicted: true, ..Claim::default() };
        Ok(case("over T", laplace(SPARSE, 1 << log)?, distinct(100_000), lists_of(50, 500), size.pick(30, 300), claim))
    };
    (10..=20).step_by(2).map(row).collect()
}

fn keys(size: Size) -> Fallible<Vec<Case>> {
    let kinds = [10, 16, 32, 64].map(Keys::Bits).into_iter().chain([8, 32, 256].map(Keys::Digits));
    let row = |keys| -> Fallible<Case> {
        let data = Data::Distinct { records: 512, keys };
        let claim = Claim { predicted: true, ..Claim::default() };
        Ok(case("keys", laplace(SPARSE, 1 << 12)?, data, lists_of(4, 200), size.pick(500, 5_000), claim))
    };
    kinds.map(row).collect()
}

/// The same budget in other ways; δ as for Gaussian noise where the noise is composed.
fn noise(size: Size) -> Fallible<Vec<Case>> {
    let width = 1 << 12;
    let runs = Hits::new(width)?;
    let composed = |per_run: Epsilon| -> Fallible<Plan> {
        // T rows of noise of scale 1/ε₀ each: that of a pure release with T·ε₀.
        let total = Epsilon::from_rational(per_run.as_rational() * tamis::noise::Rational::from(width))?;
        Ok(builder(Budget::pure(total)).dense().width(width).build()?)
    };
    let plans = [
        ("Laplace", laplace(Signs::Dense, width)?),
        ("Laplace, DR14 3.21", composed(papers::corollary_3_21(runs, &budget(DELTA)?)?)?),
        ("Laplace, KOV15", composed(optimal::epsilon_per_run(runs, &budget(DELTA)?)?)?),
        ("Gaussian", gaussian(Signs::Dense, width)?),
        ("Gaussian", gaussian(SPARSE, width)?),
        ("Laplace", laplace(SPARSE_8, 8 * width)?),
        ("Laplace", laplace(SPARSE, width)?),
    ];
    let row = |(noise, plan)| {
        let claim = Claim { predicted: true, ..Claim::default() };
        let row = case("noise", plan, distinct(2_000), lists_of(10, 300), size.pick(100, 1_000), claim);
        Case { noise, highlight: true, ..row }
    };
    Ok(plans.into_iter().map(row).collect())
}

fn guarantees(size: Size) -> Fallible<Vec<Case>> {
    let row = |number: u64| -> Fallible<Case> {
        let plan = plan(Signs::Dense, NoiseKind::Gaussian, 1 << 9, 48)?;
        let lists = Lists { number, support: 20, matches: 2 };
        let data = distinct(2_000);
        let bound = plan.guarantee(20.0, data.size().1, Queries::new(number)?, Beta::new(BETA)?);
        let claim = Claim { worst: bound, ..Claim::default() };
        Ok(Case { highlight: number == 1_000, ..case("theorem", plan, data, lists, size.pick(200, 1_000), claim) })
    };
    [1, 10, 100, 1_000].into_iter().map(row).collect()
}

fn per_lists(_: Size) -> Fallible<Vec<Case>> {
    let row = |log: u32| -> Fallible<Case> {
        let plan = builder(budget(0.0)?).records(1_000_000).build()?;
        let lists = lists_of(10u64.pow(log), 10_000);
        Ok(case("per list", plan, distinct(1_000_000), lists, 0, Claim::default()))
    };
    (0..=6).map(row).collect()
}

/// Lists so long that the theorem, with full independence and 4n rows, allows an error of n. Tried where that is quick.
fn frontier(size: Size) -> Fallible<Vec<Case>> {
    let row = |number: u64, records: u64, trials: u64| -> Fallible<Case> {
        let plan = gaussian(Signs::Dense, (4 * records).next_power_of_two())?;
        let Noise::Gaussian(noise) = plan.noise() else { return Err("Gaussian noise was asked for".into()) };
        let width = f64::from(plan.shape().width());
        let multiplier = (noise.variance().to_f64_up() / width).sqrt();
        let (queries, beta) = (Queries::new(number)?, Beta::new(BETA)?);
        let n = records as f64;
        let bound = |support: f64| theorem(support, n, multiplier, width, Independence::Full, queries, beta);
        let of_one = bound(1.0).ok_or("too few rows")?;
        let support = (n / of_one).powi(2).floor();
        let lists = Lists { number, support: support as u64, matches: 0 };
        let claim = Claim { worst: if trials > 0 { bound(support) } else { None }, ..Claim::default() };
        Ok(case("frontier", plan, distinct(records), lists, trials, claim))
    };
    let tried = [200, 500, 1_000].map(|records| row(20, records, size.pick(50, 500)));
    let computed = [10_000, 100_000, 1_000_000, 10_000_000];
    let few = computed.map(|records| row(20, records, 0));
    let many = [1_000].into_iter().chain(computed).map(|records| row(1_000_000, records, 0));
    tried.into_iter().chain(few).chain(many).collect()
}

/// Columns of the matrix that a trial computes, in words: roughly.
pub fn cost(case: &Case) -> u64 {
    let words = match case.plan.shape().signs() {
        Signs::Dense => u64::from(case.plan.shape().width() / 64),
        Signs::Sparse { .. } => 1,
    };
    let keys = case.size.0 as u64 + case.lists.number * case.lists.support;
    keys * words + u64::from(case.plan.shape().width())
}

/// The standard deviation of a list's count, were there noise of scale 1/ε = 1 on the count of each key.
pub fn histogram_deviation(support: u64) -> f64 {
    // Cannot fail: a legal plan. One entry a key has that noise.
    let each = laplace(SPARSE, 64).expect("legal parameters").noise().variance();
    (support as f64 * each).sqrt()
}

/// What the file is predicted to take.
pub fn kilobytes(plan: &Plan) -> f64 {
    plan.file_bytes().map_or(f64::NAN, |bytes| bytes / 1e3)
}

/// The standard deviation of each of k counts with noise of its own, all within ε = 1 and δ = 10⁻⁹.
pub fn per_list(case: &Case, noise: NoiseKind) -> Option<f64> {
    if case.part != "per list" {
        return None;
    }
    let number = case.lists.number;
    // Cannot fail: legal parameters.
    let budget = budget(DELTA).expect("a legal budget");
    match noise {
        NoiseKind::Gaussian => {
            let variance = concentrated(NonZeroU128::new(number.into())?, &budget).expect("a legal variance");
            Some(variance.to_f64_up().sqrt())
        }
        NoiseKind::Laplace => {
            let each = optimal::epsilon_per_run(Hits::new(number).ok()?, &budget).expect("a legal ε");
            let mechanism = LaplaceMechanism::new(Sensitivity::ONE, &each).expect("a legal scale");
            Some(std::f64::consts::SQRT_2 * mechanism.scale().to_f64_up())
        }
    }
}

/// Where the second of two series, over the same x, first meets the first: on straight lines between logarithms.
pub fn crossing(level: &[(f64, f64)], rising: &[(f64, f64)]) -> f64 {
    let gaps: Vec<(f64, f64)> = level.iter().zip(rising).map(|(a, b)| (a.0.ln(), (b.1 / a.1).ln())).collect();
    let meets = gaps.windows(2).find(|pair| pair[0].1 < 0.0 && pair[1].1 >= 0.0);
    meets.map_or(f64::NAN, |pair| (pair[0].0 - pair[0].1 * (pair[1].0 - pair[0].0) / (pair[1].1 - pair[0].1)).exp())
}
