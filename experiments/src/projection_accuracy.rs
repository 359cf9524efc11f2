//! How far off answers from a projection release are, over everything that can be chosen, and what else one could use.
//!
//! # What is measured
//! A trial makes a fresh release (new seed, new noise) of a fixed table and asks it disjoint lists of keys. "Measured" is
//! the root of the mean squared error over lists and releases, "own" that of the answers' own standard errors, "predicted"
//! what the plan says beforehand; "worst" the 95 % quantile, over releases, of the largest error among the lists of one
//! (far below the first where a few releases alone are far off); "promised" what the row is held to, and "bound on" of which of
//! these; "× histogram" the error over that of a sum of m counts with noise of scale 1/ε each, which only a universe that can be
//! listed allows. All is in records.
//!
//! Answers of one release err together, but disjoint lists hardly: the covariance of two is q₁(x)·q₂(x)/T, at most one
//! part in a hundred of the variance here. So coverage counts them as independent; means are judged by releases.
//!
//! # Parts
//! | part | shows |
//! | ---- | ----- |
//! | `lists` | what a user gets: from a million keys, people by 48 booleans, names with and without heavy keys apart |
//! | `coverage` | nominal 95 % intervals, by the rule that the release chooses by itself |
//! | `normal rule` | a normal interval where that must not be used |
//! | `over m`, `over n`, `over T` | growth: √m; as a share of n 1/n at T = 2²⁰, where noise is most of the error, 1/√n at 2¹⁰, and none at 2¹³ under one heavy key; with T down to the noise |
//! | `keys` | neither the size of the universe nor the length of keys matters |
//! | `noise` | the same budget by other noise and other signs, the paper's among them |
//! | `theorem` | the largest of k errors against the guarantee |
//! | `per list` | instead, noise of its own for each of k lists |
//! | `frontier` | lists so long that the guarantee says nothing any more |
//! | `short lists` | the largest of k errors of few keys each against what the plan predicts for all |

mod sweep;
mod world;

use tamis::noise::{Beta, Queries};
use tamis::projection::bounds::deviations;
use tamis::projection::{Noise, NoiseKind, Plan, Rule, Signs};
use tamis_harness::{
    Cell, Experiment, FALSE_ALARM, Finding, MISSED, Plot, Sample, Table, TrialError, TrialRng, Verdict,
};
use tamis_oracle::statistics::{clopper_pearson_lower, clopper_pearson_upper};
use world::{Data, Lists, Totals, World};

use crate::claims::{flat, together};
use crate::made::Made;
use crate::means::{DEVIATIONS, mean_and_deviation};

/// Of all guarantees.
const BETA: f64 = 0.05;
/// Of all intervals.
const LEVEL: f64 = 0.95;
/// The part whose intervals are normal, whatever the release says.
const NORMAL_RULE: &str = "normal rule";

/// A row: a mechanism, a table, and lists.
#[derive(Debug)]
pub struct Case {
    part: &'static str,
    mechanism: Mechanism,
    /// Of the mechanism.
    name: String,
    data: Data,
    lists: Lists,
    totals: Totals,
    claim: Claim,
    trials: u64,
    highlight: bool,
    /// The same for all trials, where they do not need one of their own.
    world: Made<World>,
}

#[derive(Debug)]
enum Mechanism {
    Release(Box<Plan>),
    /// This noise on the count of each key.
    Histogram(Noise),
    /// This noise on the answer to each list.
    Each(Noise),
}

/// What a row must show.
#[derive(Clone, Copy, Debug, Default)]
struct Claim {
    /// The measured error is at most this.
    deviation: Option<f64>,
    /// The mean of the errors' absolute values is at most this.
    absolute: Option<f64>,
    /// Prediction and own standard errors are within 5 % of it.
    predicted: bool,
    /// Intervals cover at least and at most so often.
    coverage: Option<(f64, f64)>,
    /// The worst error of a release is at most this, but for β.
    worst: Option<f64>,
    /// The file has at most so many bytes.
    bytes: Option<f64>,
}

impl Claim {
    /// The most that an error may be, and the column of that error.
    fn bound(&self) -> Option<(f64, &'static str)> {
        let bounds = [(self.worst, "worst"), (self.deviation, "measured"), (self.absolute, "mean error")];
        bounds.into_iter().find_map(|(bound, of)| Some((bound?, of)))
    }
}

impl tamis_harness::Case for Case {
    fn parameters(&self) -> Vec<(&'static str, Cell)> {
        vec![
            ("part", self.part.into()),
            ("data", self.data.name().into()),
            ("mechanism", self.name.as_str().into()),
            ("T", self.plan().map(|plan| plan.shape().width()).into()),
            ("n", (self.totals.records as u64).into()),
            ("m", self.lists.support.into()),
            ("k", self.lists.number.into()),
        ]
    }
}

impl Mechanism {
    fn name(&self) -> String {
        let plan = match self {
            Self::Histogram(noise) => return format!("histogram, {}", kind(noise)),
            Self::Each(noise) => return format!("{} for each", kind(noise)),
            Self::Release(plan) => plan,
        };
        let signs = match plan.shape().signs() {
            Signs::Dense => "dense".to_owned(),
            Signs::Sparse { nonzeros } => format!("s = {nonzeros}"),
        };
        let heavy = if plan.heavy().is_some() { ", heavy keys apart" } else { "" };
        format!("{signs}, {}{heavy}", kind(plan.noise()))
    }
}

fn kind(noise: &Noise) -> &'static str {
    match noise.kind() {
        NoiseKind::Laplace => "Laplace",
        NoiseKind::Gaussian => "Gaussian",
    }
}

impl Case {
    fn plan(&self) -> Option<&Plan> {
        match &self.mechanism {
            Mechanism::Release(plan) => Some(plan),
            Mechanism::Histogram(_) | Mechanism::Each(_) => None,
        }
    }

    /// The standard error to expect, before any release: the mean of the true answers is all that it takes from the lists.
    /// None with heavy keys apart, where it depends on what they leave.
    fn predicted(&self, truth: f64) -> Option<f64> {
        let support = self.lists.support as f64;
        match &self.mechanism {
            Mechanism::Release(plan) if plan.heavy().is_some() => None,
            Mechanism::Release(plan) => Some(plan.predicted_standard_error(support, self.totals.squared_norm, truth)),
            Mechanism::Histogram(noise) => Some((support * noise.variance()).sqrt()),
            Mechanism::Each(noise) => Some(noise.variance().sqrt()),
        }
    }

    fn trial(&self, rng: &mut TrialRng) -> Result<[f64; 8], TrialError> {
        let plan = match &self.mechanism {
            Mechanism::Release(plan) => plan,
            Mechanism::Histogram(noise) => return Ok(self.without_answers(noise, self.lists.support, rng)),
            Mechanism::Each(noise) => return Ok(self.without_answers(noise, 1, rng)),
        };
        if self.data.is_fresh() {
            return self.measure(plan, &self.data.world(self.lists, rng)?, rng);
        }
        // It does not use the generator, so whichever trial comes first makes the same.
        let world = self.world.get(|| self.data.world(self.lists, rng))?;
        self.measure(plan, world, rng)
    }

    /// Errors are sums of so much noise.
    fn without_answers(&self, noise: &Noise, draws: u64, rng: &mut TrialRng) -> [f64; 8] {
        let mut drawn = vec![0; (draws * self.lists.number) as usize];
        match noise {
            Noise::Laplace(law) => law.fill(&mut drawn, rng),
            Noise::Gaussian(law) => law.fill(&mut drawn, rng),
        }
        let errors: Vec<f64> = drawn.chunks(draws as usize).map(|each| each.iter().sum::<i64>() as f64).collect();
        let [square, absolute, worst] = sizes(&errors);
        [square, absolute, worst, 0.0, 0.0, 0.0, 0.0, 0.0]
    }

    fn measure(&self, plan: &Plan, world: &World, rng: &mut TrialRng) -> Result<[f64; 8], TrialError> {
        let release = plan.release(&world.table, rng)?;
        let mut answers = release.answer_all(&world.lists);
        if self.part == NORMAL_RULE {
            answers.iter_mut().for_each(|answer| answer.rule = Rule::Normal);
        }
        let errors = world.errors(&answers);
        let mut covered = 0.0;
        for (answer, truth) in answers.iter().zip(&world.truths) {
            let interval = answer.interval(LEVEL)?;
            covered += f64::from(interval.lower <= *truth && *truth <= interval.upper);
        }
        let by = |rule: &str| answers.iter().filter(|answer| answer.rule.name() == rule).count() as f64;
        let mean = |sum: f64| sum / answers.len() as f64;
        let [square, absolute, worst] = sizes(&errors);
        Ok([
            square,
            absolute,
            worst,
            mean(answers.iter().map(|answer| answer.standard_error.powi(2)).sum()),
            covered,
            mean(by("normal")),
            mean(by("conservative")),
            mean(world.truths.iter().sum()),
        ])
    }

    fn claims(&self, sample: &Sample) -> Option<Finding> {
        let Claim { deviation, absolute, predicted: is_predicted, coverage: range, worst, bytes } = self.claim;
        let squares = sample.values("square");
        let wanted = predicted(self, sample).filter(|_| is_predicted);
        let own = own(self, sample).filter(|_| is_predicted);
        together([
            ("deviation", deviation.map(|most| Finding::at_most(measured(self, sample), most))),
            ("mean error", absolute.map(|most| Finding::at_most(sample.mean("absolute"), most))),
            ("predicted", wanted.map(|predicted| near(predicted, squares))),
            ("own", own.map(|own| near(own, squares))),
            ("coverage", range.map(|range| coverage(covered(sample), answers(self, sample), range))),
            ("worst", worst.map(|bound| Finding::rarely_above(sample.values("worst"), bound, BETA))),
            ("bytes", bytes.map(|most| Finding::at_most(self.bytes().unwrap_or(f64::NAN), most))),
        ])
    }

    /// Of the file, as predicted.
    fn bytes(&self) -> Option<f64> {
        self.plan().and_then(Plan::file_bytes)
    }
}

/// Mean square, mean magnitude, largest magnitude.
fn sizes(errors: &[f64]) -> [f64; 3] {
    let mean = |of: fn(&f64) -> f64| errors.iter().map(of).sum::<f64>() / errors.len() as f64;
    let worst = errors.iter().fold(0.0, |worst, error| error.abs().max(worst));
    [mean(|error| error.powi(2)), mean(|error| error.abs()), worst]
}

fn measured(_: &Case, sample: &Sample) -> f64 {
    sample.mean("square").sqrt()
}

fn predicted(case: &Case, sample: &Sample) -> Option<f64> {
    case.predicted(if sample.trials() > 0 { sample.mean("truth") } else { 0.0 })
}

fn own(case: &Case, sample: &Sample) -> Option<f64> {
    case.plan().map(|_| sample.mean("own square").sqrt())
}

fn worst(_: &Case, sample: &Sample) -> f64 {
    sample.quantile("worst", 1.0 - BETA)
}

/// How many answers there were.
fn answers(case: &Case, sample: &Sample) -> u64 {
    sample.trials() * case.lists.number
}

fn covered(sample: &Sample) -> u64 {
    sample.values("covered").iter().sum::<f64>() as u64
}

/// "normal", "conservative" or "few keys", and what share of the answers where rules differ.
fn rule(case: &Case, sample: &Sample) -> String {
    if case.plan().is_none() || sample.trials() == 0 {
        return String::new();
    }
    let (normal, conservative) = (sample.mean("normal"), sample.mean("conservative"));
    let shares = [("normal", normal), ("conservative", conservative), ("few keys", 1.0 - normal - conservative)];
    let (name, share) = shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    match share {
        1.0.. => name.to_owned(),
        share => format!("{name} {:.0} %", (100.0 * share).floor()),
    }
}

/// The claim that `value`² is within 5 % (in the root) of the mean of `squares`, one for each release.
///
/// It fails if it is further off by 4.9 standard deviations of that mean: a false alarm of 10⁻⁶. It is inconclusive if
/// 10 % off would pass with a probability above 1 %, that is if 2.3 standard deviations are more than 5 %.
fn near(value: f64, squares: &[f64]) -> Finding {
    const WITHIN: f64 = 0.05;
    let (mean, of_mean) = mean_and_deviation(squares);
    let ratio = value / mean.sqrt();
    // Of a root half as much, relatively.
    let deviation = of_mean / mean / 2.0;
    let off = (ratio - 1.0).abs();
    let verdict = match () {
        () if off.is_nan() || off > WITHIN + DEVIATIONS * deviation => Verdict::Fails,
        () if off <= WITHIN && 2.33 * deviation <= WITHIN => Verdict::Holds,
        () => Verdict::Inconclusive,
    };
    Finding { verdict, because: format!("{ratio:.3} ± {deviation:.3} times the measured one; claimed within 5 %") }
}

/// The claim that intervals cover at least `low` and at most `high` of the time.
///
/// Judged by exact binomial confidence limits: it fails if the rate is outside with confidence 1 − 10⁻⁶, and holds if it
/// is inside with confidence 0.99.
fn coverage(covered: u64, answers: u64, (low, high): (f64, f64)) -> Finding {
    if answers == 0 {
        return Finding { verdict: Verdict::Inconclusive, because: "nothing was asked".to_owned() };
    }
    let at_least = |confidence| clopper_pearson_lower(covered, answers, confidence);
    let at_most = |confidence| clopper_pearson_upper(covered, answers, confidence);
    let verdict = match () {
        () if at_least(1.0 - FALSE_ALARM) > high || at_most(1.0 - FALSE_ALARM) < low => Verdict::Fails,
        () if at_least(1.0 - MISSED) >= low && at_most(1.0 - MISSED) <= high => Verdict::Holds,
        () => Verdict::Inconclusive,
    };
    let because = format!(
        "{covered} of {answers}: a rate between {:.4} and {:.4}, each with confidence 0.99; claimed {low} to {high}",
        at_least(1.0 - MISSED),
        at_most(1.0 - MISSED)
    );
    Finding { verdict, because }
}

/// The experiment.
pub fn experiment() -> Experiment<Case> {
    let names = ["square", "absolute", "worst", "own square", "covered", "normal", "conservative", "truth"];
    let experiment = Experiment::new(
        "projection_accuracy",
        "From one release of a million distinct keys (ε = 1, no δ, 400 kB) a list of 10⁴ is counted with a standard error of at most \
         180, one of 10⁵ of 560. Errors are as predicted: ∝ √m, whatever the universe; 95 % intervals cover, the theorem [Blum, Roth 2011, section 4] holds. \
         In records: measured, the root of the mean square; worst, the 95 % quantile over releases of the largest of k errors, far below it where few \
         releases are far off; promised, a bound on the error named beside it.",
    )
    .subject("errors of releases over all that can be chosen, their intervals, the theorem, what else one could use")
    .sweep(sweep::sweep)
    .trials(|case, _| case.trials)
    .cost(sweep::cost)
    .trial(names, Case::trial)
    .column("measured", measured)
    .column("predicted", predicted)
    .column("own", own)
    .column("× histogram", |case, sample| measured(case, sample) / sweep::histogram_deviation(case.lists.support))
    .column("covered", |case, sample| {
        case.plan().map(|_| covered(sample) as f64 / answers(case, sample) as f64)
    })
    .column("rule", rule)
    .column("mean error", |_, sample| sample.mean("absolute"))
    .column("worst", worst)
    .column("promised", |case, _| case.claim.bound().map(|(bound, _)| bound))
    .column("bound on", |case, _| case.claim.bound().map(|(_, of)| of))
    .column("kB", |case, _| case.claim.bytes.and_then(|_| Some(case.bytes()? / 1e3)))
    .check("claims", Case::claims);
    plots(overall_checks(experiment))
}

fn overall_checks(experiment: Experiment<Case>) -> Experiment<Case> {
    let over_m = |start: &'static str| {
        move |table: &Table| {
            let rows = table.only("part", "over m").only("mechanism", start);
            Finding::slope_within(&rows.points("m", "measured"), 0.45, 0.55)
        }
    };
    let over_n = |width: u64, slope: f64| {
        move |table: &Table| {
            let errors = table.only("part", "over n").only("T", width).points("n", "measured");
            let shares: Vec<(f64, f64)> = errors.into_iter().map(|(n, error)| (n, error / n)).collect();
            Finding::slope_within(&shares, slope - 0.05, slope + 0.05)
        }
    };
    experiment
        .check_all("sparse signs: errors grow with m by a power from 0.45 to 0.55, as √m", over_m("s = 1, Laplace"))
        .check_all("dense signs: errors grow with m by a power from 0.45 to 0.55, as √m", over_m("dense, Gaussian"))
        .check_all("as a share of n errors fall as 1/n at T = 2²⁰, where noise is most of them", over_n(1 << 20, -1.0))
        .check_all("as a share of n errors fall as 1/√n at T = 2¹⁰, where collisions are most of them", over_n(1 << 10, -0.5))
        .check_all("as a share of n errors stay the same under one heavy key, at T = 2¹³", over_n(1 << 13, 0.0))
        .check_all("errors are the same for every size of the universe and length of keys, within 10 %", |table| {
            // Each is known to 2 % at least: 10 % are more than three standard deviations of a difference.
            flat(&table.only("part", "keys").numbers("measured"), 1.1)
        })
        .check_all("dense signs: the 95 % quantile of the largest of k errors is that of k normal ones, within 15 %", |table| {
            // The trials know a 95 % quantile to 4 % or better: 15 % are more than three standard deviations, 3 % of bias allowed.
            let rows = table.only("part", "theorem");
            let (predicted, worst) = (rows.points("k", "predicted"), rows.points("k", "worst"));
            let bells = predicted.iter().map(|&(lists, error)| bell_curves(lists as u64, error));
            let off = bells.zip(&worst).map(|(bell, worst)| (worst.1 / bell - 1.0).abs());
            let off = off.fold(0.0, f64::max);
            Finding::require(worst.len() >= 3 && off <= 0.15, format!("at most {off:.3} off; claimed within 0.15"))
        })
        .check_all("sparse signs, lists of ten keys: the 95 % quantile of the largest of k errors is 1.03 to 1.2 times that of k normal ones", |table| {
            // 400 trials know the 95 % quantile to 1.4 %, and it is 10 % more: a false alarm of 10⁻⁶.
            let row = table.only("part", "short lists").only("m", 10u64);
            let ratio = row.number("worst") / bell_curves(row.number("k") as u64, row.number("predicted"));
            Finding::require((1.03..1.2).contains(&ratio), format!("{ratio:.3} times"))
        })
        .check_all("the paper's composed Laplace noise makes errors 3 to 4 times those of Gaussian noise", |table| {
            let rows = table.only("part", "noise");
            let of = |name: &str| rows.only("mechanism", name).number("measured");
            let ratio = of(sweep::PAPERS_NOISE) / of("dense, Gaussian");
            Finding::require((3.0..4.0).contains(&ratio), format!("{ratio:.2} times"))
        })
        .check_all("Gaussian noise for each of k lists errs less than a release up to k between m/20 and m/5", |table| {
            let rows = table.only("part", "per list");
            let of = |name: &str| rows.only("mechanism", name).points("k", "predicted");
            let crossing = sweep::crossing(&of("s = 1, Laplace"), &of("Gaussian for each"));
            let m = rows.numbers("m").first().copied().unwrap_or(f64::NAN);
            let because = format!("a release wins from {crossing:.0} lists of {m} keys on");
            Finding::require((0.05..0.2).contains(&(crossing / m)), because)
        })
        .check_all("the longest lists of which a release guarantees something grow with n by a power from 1.9 to 2.1, as n²", |table| {
            Finding::slope_within(&table.only("part", "frontier").points("n", "m"), 1.9, 2.1)
        })
}

fn plots(experiment: Experiment<Case>) -> Experiment<Case> {
    let over = |stem, title, x, label, part| {
        Plot::new(stem, title, x, "standard deviation (records)").x_label(label).only("part", part).log_x().log_y()
    };
    let over_m =
        over("over_m", "Error of an answer, by keys of its list", "m", "m (keys of a list)", "over m").in_brief();
    let per_list = over(
        "per_list",
        "Error of an answer, by number of lists: one release against noise for each",
        "k",
        "k (lists)",
        "per list",
    )
    .in_brief();
    experiment
        .highlight(|case| case.highlight)
        .plot(over_m.line("predicted").points("measured").split_by("mechanism"))
        .plot(
            over("over_n", "Error of an answer, by records", "n", "n (records)", "over n")
                .line("predicted")
                .points("measured")
                .split_by("T"),
        )
        .plot(
            over("over_t", "Error of an answer, by rows of the release", "T", "T (rows of the release)", "over T")
                .line("predicted")
                .points("measured")
                .points("own"),
        )
        .plot(per_list.line("predicted").points("measured").split_by("mechanism"))
        .plot(
            Plot::new(
                "theorem",
                "Largest of k errors: the theorem, and measured",
                "k",
                "largest of k errors (records)",
            )
            .only("part", "theorem")
            .x_label("k (lists)")
            .log_x()
            .line("promised")
            .points("worst"),
        )
        .plot(
            Plot::new("frontier", "Lists so long that a release guarantees nothing", "n", "m (keys of a list)")
                .only("part", "frontier")
                .x_label("n (records)")
                .log_x()
                .log_y()
                .line("m")
                .split_by("k"),
        )
}

/// What the largest of k normal errors with this standard error is within, but for a probability β. By the union bound:
/// were they independent, their quantile would be less by half of a percent at most.
fn bell_curves(lists: u64, standard_error: f64) -> f64 {
    // Cannot fail: a number of lists, and a legal β.
    let queries = Queries::new(lists).expect("a legal k");
    deviations(queries, Beta::new(BETA).expect("a legal β")) * standard_error
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Binomial limits: what is right passes, what is off by little is not accepted, what is off by much is refused.
    #[test]
    fn coverage_is_told_apart() {
        let verdict = |covered| coverage(covered, 4_000, (0.93, 0.97)).verdict;
        assert_eq!(verdict(3_800), Verdict::Holds);
        assert_eq!([3_720, 3_880].map(verdict), [Verdict::Inconclusive; 2]);
        assert_eq!([3_600, 3_960].map(verdict), [Verdict::Fails; 2]);
        assert_eq!(coverage(0, 0, (0.0, 1.0)).verdict, Verdict::Inconclusive);
        assert_eq!(coverage(19, 20, (0.93, 0.97)).verdict, Verdict::Inconclusive);
        assert_eq!(coverage(4_000, 4_000, (0.95, 1.0)).verdict, Verdict::Holds);
    }

    #[test]
    fn nearness_is_judged_by_the_spread_of_what_is_measured() {
        let squares: Vec<f64> = (0..10_000).map(|i| f64::from(79 * i % 200) / 100.0).collect();
        let root = (squares.iter().sum::<f64>() / 1e4).sqrt();
        assert_eq!(near(1.04 * root, &squares).verdict, Verdict::Holds);
        assert_eq!(near(0.9 * root, &squares).verdict, Verdict::Fails);
        assert_eq!(near(root, &squares[..10]).verdict, Verdict::Inconclusive);
        assert_eq!(near(f64::NAN, &squares).verdict, Verdict::Fails);
    }
}
