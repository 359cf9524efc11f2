//! The rows, part by part, and figures of other mechanisms.

use super::world::{Data, Keys, Lists};
use super::{BETA, Case, Claim, LEVEL, Mechanism, NORMAL_RULE};
use crate::made::Made;
use std::num::NonZeroU128;
use tamis::noise::composition::{optimal, papers};
use tamis::noise::gaussian_calibration::concentrated;
use tamis::noise::{
    Beta, Budget, Delta, DiscreteGaussian, DiscreteLaplace, Epsilon, Hits, Neighbours, Queries, Rational, Scale,
    Sensitivity,
};
use tamis::projection::bounds::{Independence, theorem};
use tamis::projection::{Builder, HeavyKeys, Noise, NoiseKind, Plan, ProjectionRelease, Signs};
use tamis_harness::Size;

const DELTA: f64 = 1e-9;
const SPARSE: Signs = Signs::Sparse { nonzeros: 1 };
const SPARSE_8: Signs = Signs::Sparse { nonzeros: 8 };
/// Dense signs with the noise of the paper's section 4.
pub const PAPERS_NOISE: &str = "dense, Laplace by DR14 3.21";
/// What nominal 95 % intervals must cover.
const NOMINAL: Option<(f64, f64)> = Some((0.93, 0.97));

pub fn sweep(size: Size) -> Vec<Case> {
    let parts = [lists, covering, over_m, over_n, over_t, keys, noise, guarantees, per_lists, frontier, short_lists];
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
    of(part, release(plan), data, lists, trials, claim)
}

fn of(part: &'static str, mechanism: Mechanism, data: Data, lists: Lists, trials: u64, claim: Claim) -> Case {
    let (name, totals) = (mechanism.name(), data.totals());
    Case { part, mechanism, name, data, lists, totals, claim, trials, highlight: false, world: Made::default() }
}

fn highlighted(case: Case) -> Case {
    Case { highlight: true, ..case }
}

const PREDICTED: Claim =
    Claim { predicted: true, deviation: None, absolute: None, coverage: None, worst: None, bytes: None };

fn release(plan: Plan) -> Mechanism {
    Mechanism::Release(Box::new(plan))
}

/// What a user gets.
fn lists(size: Size) -> Fallible<Vec<Case>> {
    let mut rows = million(size)?;
    rows.extend(adults(size)?);
    rows.extend(names(size)?);
    Ok(rows.into_iter().map(highlighted).collect())
}

fn million(size: Size) -> Fallible<Vec<Case>> {
    let data = distinct(1_000_000);
    let default = || -> Fallible<Plan> { Ok(builder(budget(0.0)?).records(1_000_000).build()?) };
    let claim = |deviation| Claim { deviation, coverage: NOMINAL, bytes: Some(400_000.0), ..PREDICTED };
    let mut rows = vec![
        case("lists", default()?, data, lists_of(100, 1_000), size.pick(50, 400), claim(None)),
        case("lists", default()?, data, lists_of(50, 10_000), size.pick(50, 400), claim(Some(180.0))),
        case("lists", default()?, data, lists_of(25, 100_000), size.pick(55, 400), claim(Some(560.0))),
    ];
    if size == Size::Full {
        let dense = builder(budget(DELTA)?).records(1_000_000).dense().noise(NoiseKind::Gaussian).width(1 << 16);
        rows.push(case("lists", dense.build()?, data, lists_of(50, 10_000), 50, claim(None)));
    }
    Ok(rows)
}

/// Some points are heavy. By default most errors are those of the noise and few are much larger; with heavy keys apart they
/// are all alike, for half of ε.
fn adults(size: Size) -> Fallible<Vec<Case>> {
    let conjunctions = Lists { number: 200, support: 256, matches: 0 };
    let row = |plan: Plan, absolute| {
        let claim = Claim { absolute, bytes: Some(400_000.0), ..Claim::default() };
        case("lists", plan, Data::Adult { free: 8 }, conjunctions, size.pick(200, 2_000), claim)
    };
    let default = builder(budget(0.0)?).records(32_561).build()?;
    let apart = builder(budget(DELTA)?).records(32_561).key_multiplicity(1_300.0).heavy(HeavyKeys::On).build()?;
    Ok(vec![row(default, Some(30.0)), row(apart, None)])
}

/// A list of 18 names to one part in a thousand, and what one sketch alone would give.
fn names(size: Size) -> Fallible<Vec<Case>> {
    let common = Lists { number: 1, support: 18, matches: 18 };
    let row = |delta, heavy, worst| -> Fallible<Case> {
        let stated = builder(budget(delta)?).records(348_000_000).key_multiplicity(860_000.0).heavy(heavy);
        let claim = Claim { worst, bytes: worst.map(|_| 400_000.0), ..Claim::default() };
        Ok(case("lists", stated.build()?, Data::Names, common, size.pick(100, 1_000), claim))
    };
    Ok(vec![row(DELTA, HeavyKeys::On, Some(49_492.0))?, row(0.0, HeavyKeys::Off, None)?])
}

/// One list a release, so that every answer is independent of the others.
fn covering(size: Size) -> Fallible<Vec<Case>> {
    let zipf = Data::Zipf { keys: 1_000, largest: 500 };
    let heavy = Data::HeavyKey { records: 100_000 };
    // Without the heavy key, which would be counted without an error.
    let others = Lists { number: 1, support: 16, matches: 0 };
    let list = lists_of(1, 200);
    let at_least = |share: f64| Some((share, 1.0));
    let row = |plan: Plan, data: Data, lists: Lists, coverage| {
        case("coverage", plan, data, lists, size.pick(4_000, 20_000), Claim { coverage, ..Claim::default() })
    };
    let apart = |nonzeros, width| -> Fallible<Plan> {
        let builder = builder(budget(DELTA)?).nonzeros(nonzeros).noise(NoiseKind::Laplace);
        Ok(builder.heavy(HeavyKeys::On).width(width).build()?)
    };
    let forced = row(laplace(SPARSE_8, 4_096)?, heavy, others, Some((0.75, 0.85)));
    Ok(vec![
        row(laplace(SPARSE, 4_096)?, distinct(500), list, NOMINAL),
        row(laplace(SPARSE_8, 8_192)?, distinct(500), list, NOMINAL),
        row(laplace(Signs::Dense, 1_024)?, distinct(500), list, NOMINAL),
        row(gaussian(Signs::Dense, 1_024)?, distinct(500), list, NOMINAL),
        row(laplace(SPARSE, 4_096)?, distinct(500), Lists { number: 1, support: 1, matches: 1 }, at_least(LEVEL)),
        // The rule is cautious before the error is no bell any more.
        highlighted(row(laplace(SPARSE, 4_096)?, zipf, list, at_least(0.93))),
        highlighted(row(laplace(SPARSE_8, 8_192)?, zipf, lists_of(1, 400), NOMINAL)),
        highlighted(row(gaussian(Signs::Dense, 1_024)?, zipf, list, NOMINAL)),
        highlighted(row(apart(1, 4_096)?, zipf, list, NOMINAL)),
        highlighted(row(laplace(SPARSE, 4_096)?, heavy, others, at_least(LEVEL))),
        highlighted(row(laplace(SPARSE_8, 4_096)?, heavy, others, at_least(LEVEL))),
        row(gaussian(Signs::Dense, 1_024)?, heavy, others, NOMINAL),
        row(apart(1, 4_096)?, heavy, others, at_least(0.93)),
        highlighted(Case { part: NORMAL_RULE, ..forced }),
    ])
}

fn over_m(size: Size) -> Fallible<Vec<Case>> {
    let mut rows = Vec::new();
    for support in [10, 30, 100, 300, 1_000, 3_000] {
        let (lists, trials) = (lists_of(5, support), size.pick(800, 8_000));
        rows.push(case("over m", laplace(SPARSE, 1 << 14)?, distinct(6_000), lists, trials, PREDICTED));
    }
    for support in [10, 30, 100, 300] {
        let plan = gaussian(Signs::Dense, 1 << 10)?;
        rows.push(case("over m", plan, distinct(600), lists_of(5, support), size.pick(300, 3_000), PREDICTED));
    }
    for support in [10, 100, 1_000] {
        let histogram = Mechanism::Histogram(laplace_noise(&Epsilon::new(1.0)?)?);
        rows.push(of("over m", histogram, distinct(6_000), lists_of(5, support), size.pick(300, 3_000), PREDICTED));
    }
    Ok(rows)
}

fn over_n(size: Size) -> Fallible<Vec<Case>> {
    let mut rows = Vec::new();
    // T is at least 2‖x‖²/σ², where σ² is the noise on a key: noise is most of the error.
    for records in [1_000, 10_000, 100_000] {
        let plan = laplace(SPARSE, 1 << 20)?;
        rows.push(case("over n", plan, distinct(records), lists_of(50, 50), size.pick(40, 400), PREDICTED));
    }
    for records in [30_000, 100_000, 300_000] {
        let plan = laplace(SPARSE, 1 << 10)?;
        rows.push(case("over n", plan, distinct(records), lists_of(50, 100), size.pick(40, 400), PREDICTED));
    }
    for records in [10_000, 100_000, 1_000_000] {
        let (plan, lists) = (laplace(SPARSE_8, 1 << 13)?, Lists { number: 50, support: 100, matches: 0 });
        rows.push(case("over n", plan, Data::HeavyKey { records }, lists, size.pick(100, 1_000), PREDICTED));
    }
    Ok(rows)
}

fn over_t(size: Size) -> Fallible<Vec<Case>> {
    let row = |log: u32| -> Fallible<Case> {
        let plan = laplace(SPARSE, 1 << log)?;
        Ok(case("over T", plan, distinct(100_000), lists_of(50, 500), size.pick(40, 400), PREDICTED))
    };
    (10..=20).step_by(2).map(row).collect()
}

fn keys(size: Size) -> Fallible<Vec<Case>> {
    let kinds = [10, 16, 32, 64].map(Keys::Bits).into_iter().chain([8, 32, 256].map(Keys::Digits));
    let row = |keys| -> Fallible<Case> {
        let data = Data::Distinct { records: 512, keys };
        Ok(case("keys", laplace(SPARSE, 1 << 12)?, data, lists_of(4, 200), size.pick(500, 5_000), PREDICTED))
    };
    kinds.map(row).collect()
}

/// The same budget in other ways; δ where there is Gaussian or composed noise.
fn noise(size: Size) -> Fallible<Vec<Case>> {
    let width = 1 << 12;
    let runs = Hits::new(width)?;
    let composed = |per_run: Epsilon| -> Fallible<Mechanism> {
        // T rows of noise of scale 1/ε₀ each: that of a pure release with T·ε₀.
        let total = Epsilon::from_rational(per_run.as_rational() * Rational::from(width))?;
        Ok(release(builder(Budget::pure(total)).dense().width(width).build()?))
    };
    let row = |mechanism| {
        highlighted(of("noise", mechanism, distinct(1_000), lists_of(10, 200), size.pick(200, 2_000), PREDICTED))
    };
    let paper = row(composed(papers::corollary_3_21(runs, &budget(DELTA)?)?)?);
    let best = row(composed(optimal::epsilon_per_run(runs, &budget(DELTA)?)?)?);
    Ok(vec![
        row(release(laplace(Signs::Dense, width)?)),
        Case { name: PAPERS_NOISE.to_owned(), ..paper },
        Case { name: "dense, Laplace by KOV15".to_owned(), ..best },
        row(release(gaussian(Signs::Dense, width)?)),
        row(release(gaussian(SPARSE, width)?)),
        row(release(laplace(SPARSE_8, 8 * width)?)),
        row(release(laplace(SPARSE, width)?)),
        row(Mechanism::Histogram(laplace_noise(&Epsilon::new(1.0)?)?)),
    ])
}

fn guarantees(size: Size) -> Fallible<Vec<Case>> {
    let row = |number: u64| -> Fallible<Case> {
        let plan = plan(Signs::Dense, NoiseKind::Gaussian, 1 << 9, 48)?;
        let (lists, data) = (Lists { number, support: 10, matches: 1 }, distinct(1_000));
        let worst = plan.guarantee(10.0, data.totals().squared_norm, Queries::new(number)?, Beta::new(BETA)?);
        // A quantile of few errors is known worse than one of the largest of many.
        let trials = (4_000 / number).clamp(120, 1_000) * size.pick(1, 8);
        let row = case("theorem", plan, data, lists, trials, Claim { worst, ..Claim::default() });
        Ok(Case { highlight: number == 1_000, ..row })
    };
    [1, 10, 100, 1_000].into_iter().map(row).collect()
}

/// The standard deviation of each of k counts with noise of its own, all within the budget; and the release's for any k.
fn per_lists(size: Size) -> Fallible<Vec<Case>> {
    let data = distinct(1_000_000);
    let mut rows = Vec::new();
    for number in (0..=6).map(|log| 10u64.pow(log)) {
        let lists = lists_of(number, 10_000);
        let plan = builder(budget(0.0)?).records(1_000_000).build()?;
        rows.push(case("per list", plan, data, lists, 0, Claim::default()));
        let moved = NonZeroU128::new(number.into()).ok_or("no list")?;
        let gaussian = Noise::Gaussian(DiscreteGaussian::new(concentrated(moved, &budget(DELTA)?)?));
        let each = laplace_noise(&optimal::epsilon_per_run(Hits::new(number)?, &budget(DELTA)?)?)?;
        let trials = (size.pick(4_000, 40_000) / number).max(if number <= 1_000 { 50 } else { 5 });
        for noise in [gaussian, each] {
            let claim = if number <= 1_000 { PREDICTED } else { Claim::default() };
            rows.push(of("per list", Mechanism::Each(noise), data, lists, trials, claim));
        }
    }
    Ok(rows)
}

/// For a count that moves by 1.
fn laplace_noise(epsilon: &Epsilon) -> Fallible<Noise> {
    Ok(Noise::Laplace(DiscreteLaplace::new(Scale::of(Sensitivity::ONE, epsilon)?)))
}

/// Lists so long that the theorem, with full independence and 4n rows, allows an error of n. Tried where that is quick.
fn frontier(size: Size) -> Fallible<Vec<Case>> {
    let row = |number: u64, records: u64, trials: u64| -> Fallible<Case> {
        let plan = gaussian(Signs::Dense, (4 * records).next_power_of_two())?;
        let Noise::Gaussian(noise) = plan.noise() else { return Err("Gaussian noise was asked for".into()) };
        let width = f64::from(plan.shape().width());
        let multiplier = (noise.variance().to_f64_up() / width).sqrt();
        let (queries, beta, n) = (Queries::new(number)?, Beta::new(BETA)?, records as f64);
        let bound = |support: f64| theorem(support, n, multiplier, width, Independence::Full, queries, beta);
        let support = (n / bound(1.0).ok_or("too few rows")?).powi(2).floor();
        let lists = Lists { number, support: support as u64, matches: 0 };
        let claim = Claim { worst: bound(support).filter(|_| trials > 0), ..Claim::default() };
        Ok(case("frontier", plan, distinct(records), lists, trials, claim))
    };
    let tried = [200, 500, 1_000].map(|records| row(20, records, size.pick(50, 500)));
    let computed = [10_000, 100_000, 1_000_000, 10_000_000];
    let few = computed.map(|records| row(20, records, 0));
    let many = [1_000].into_iter().chain(computed).map(|records| row(1_000_000, records, 0));
    tried.into_iter().chain(few).chain(many).collect()
}

/// Their noise is no bell curve where it matters, far out. Lists of keys that no record has.
fn short_lists(size: Size) -> Fallible<Vec<Case>> {
    let row = |(number, support): (u64, u64)| -> Fallible<Case> {
        let (records, queries) = (1_000, Queries::new(number)?);
        let plan = builder(budget(0.0)?).nonzeros(1).width(1 << 14).records(records).support(support).build()?;
        let worst = Some(plan.predicted_half_width(queries, Beta::new(BETA)?));
        let (data, lists) = (distinct(records), Lists { number, support, matches: 0 });
        let row = case("short lists", plan, data, lists, size.pick(400, 4_000), Claim { worst, ..PREDICTED });
        Ok(Case { highlight: support == 10, ..row })
    };
    [(1_000, 1), (1_000, 10), (100, 100), (20, 1_000)].into_iter().map(row).collect()
}

/// Columns of the matrix that a trial computes, in words, or draws of noise: roughly.
pub fn cost(case: &Case) -> u64 {
    let asked = case.lists.number * case.lists.support;
    let Mechanism::Release(plan) = &case.mechanism else { return asked };
    let words = match plan.shape().signs() {
        Signs::Dense => u64::from(plan.shape().width() / 64),
        Signs::Sparse { .. } => 1,
    };
    (case.totals.records as u64 + asked) * words + u64::from(plan.shape().width())
}

/// The standard deviation of a list's count, were there noise of scale 1/ε = 1 on the count of each key.
pub fn histogram_deviation(support: u64) -> f64 {
    // Cannot fail: a legal scale.
    let each =
        Epsilon::new(1.0).map_err(Into::into).and_then(|epsilon| laplace_noise(&epsilon)).expect("a legal scale");
    (support as f64 * each.variance()).sqrt()
}

/// Where the second of two series, over the same x, first meets the first: on straight lines between logarithms.
pub fn crossing(level: &[(f64, f64)], rising: &[(f64, f64)]) -> f64 {
    let gaps: Vec<(f64, f64)> = level.iter().zip(rising).map(|(a, b)| (a.0.ln(), (b.1 / a.1).ln())).collect();
    let meets = gaps.windows(2).find(|pair| pair[0].1 < 0.0 && pair[1].1 >= 0.0);
    meets.map_or(f64::NAN, |pair| (pair[0].0 - pair[0].1 * (pair[1].0 - pair[0].0) / (pair[1].1 - pair[0].1)).exp())
}
