//! How far off answers from a projection release are, over everything that can be chosen, and what else one could use.
//!
//! # What is measured
//! A trial makes a fresh release (new seed, new noise) of a fixed table and asks it disjoint lists of keys. "Measured" is
//! the root of the mean squared error over lists and releases, "own" that of the answers' own standard errors, "predicted"
//! what the plan says beforehand; "worst" the 95 % quantile, over releases, of the largest error among the lists of one.
//!
//! Answers of one release err together, but disjoint lists hardly: the covariance of two is q₁(x)·q₂(x)/T, at most one
//! part in a hundred of the variance here. So coverage counts them as independent; means are judged by releases.
//!
//! # Parts
//! | part | shows |
//! | ---- | ----- |
//! | `lists` | what a user gets from a million keys, and people by 48 booleans |
//! | `coverage` | nominal 95 % intervals, by the rule the release chooses; and a normal one where it must not be used |
//! | `over m`, `over n`, `over T` | growth: √m; 1/n, 1/√n and not at all as a share of n; with T down to the noise |
//! | `keys` | neither the size of the universe nor the length of keys matters |
//! | `noise` | the same budget by other noise and other signs, the paper's among them |
//! | `theorem` | the largest of k errors against the guarantee |
//! | `per list` | one answer with noise of its own for each of k lists, instead |
//! | `frontier` | lists so long that the guarantee says nothing any more |

mod sweep;
mod world;

use std::sync::OnceLock;
use tamis::projection::{Answer, NoiseKind, Plan, Rule, Signs};
use tamis_harness::{
    Cell, Experiment, FALSE_ALARM, Finding, MISSED, Plot, Sample, Table, TrialError, TrialRng, Verdict,
};
use tamis_oracle::statistics::{clopper_pearson_lower, clopper_pearson_upper};
use world::{Data, Lists, World};

/// Of all guarantees.
const BETA: f64 = 0.05;
/// Of all intervals.
const LEVEL: f64 = 0.95;

/// A row: a plan, a table, and lists.
#[derive(Debug)]
pub struct Case {
    part: &'static str,
    plan: Plan,
    noise: &'static str,
    data: Data,
    lists: Lists,
    /// n and ‖x‖₂².
    size: (f64, f64),
    claim: Claim,
    trials: u64,
    highlight: bool,
    /// The same for all trials, where they do not need one of their own.
    world: OnceLock<Result<World, String>>,
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
    /// Intervals are made by the normal rule, whatever the release says.
    normal: bool,
    /// The worst error of a release is at most this, but for β.
    worst: Option<f64>,
}

impl tamis_harness::Case for Case {
    fn parameters(&self) -> Vec<(&'static str, Cell)> {
        let signs = match self.plan.shape().signs() {
            Signs::Dense => "dense".to_owned(),
            Signs::Sparse { nonzeros } => format!("s = {nonzeros}"),
        };
        vec![
            ("part", self.part.into()),
            ("data", self.data.name().into()),
            ("keys", self.data.keys().into()),
            ("signs", signs.into()),
            ("noise", self.noise.into()),
            ("T", self.plan.shape().width().into()),
            ("n", (self.size.0 as u64).into()),
            ("m", self.lists.support.into()),
            ("k", self.lists.number.into()),
            ("intervals", if self.claim.normal { "normal" } else { "by rule" }.into()),
        ]
    }
}

impl Case {
    /// Before any release; the mean of the true answers is all that it takes from the lists.
    fn predicted(&self, truth: f64) -> f64 {
        self.plan.predicted_standard_error(self.lists.support as f64, self.size.1, truth)
    }

    fn trial(&self, rng: &mut TrialRng) -> Result<[f64; 8], TrialError> {
        if self.data.is_fresh() {
            return self.measure(&self.data.world(self.lists, rng)?, rng);
        }
        // It does not use the generator, so whichever trial comes first makes the same.
        let world = || self.data.world(self.lists, rng).map_err(|error| error.to_string());
        let world = self.world.get_or_init(world).as_ref().map_err(Clone::clone)?;
        self.measure(world, rng)
    }

    fn measure(&self, world: &World, rng: &mut TrialRng) -> Result<[f64; 8], TrialError> {
        let release = self.plan.release(&world.table, rng)?;
        let mut answers = release.answer_all(&world.lists);
        if self.claim.normal {
            answers.iter_mut().for_each(|answer| answer.rule = Rule::Normal);
        }
        let errors = world.errors(&answers);
        let mut covered = 0.0;
        for (answer, truth) in answers.iter().zip(&world.truths) {
            let interval = answer.interval(LEVEL)?;
            covered += f64::from(interval.lower <= *truth && *truth <= interval.upper);
        }
        let by = |rule: Rule| answers.iter().filter(|answer| answer.rule == rule).count() as f64;
        let mean = |sum: f64| sum / answers.len() as f64;
        Ok([
            mean(errors.iter().map(|error| error.powi(2)).sum()),
            mean(errors.iter().map(|error| error.abs()).sum()),
            errors.iter().fold(0.0, |worst, error| error.abs().max(worst)),
            mean(answers.iter().map(|answer| answer.standard_error.powi(2)).sum()),
            covered,
            mean(by(Rule::Normal)),
            mean(by(Rule::Conservative)),
            mean(world.truths.iter().sum()),
        ])
    }

    /// What noise of scale 1/ε on each count would give: a list's error, if the universe could be listed.
    fn histogram(&self) -> f64 {
        sweep::histogram_deviation(self.lists.support)
    }
}

fn measured(_: &Case, sample: &Sample) -> f64 {
    sample.mean("square").sqrt()
}

fn predicted(case: &Case, sample: &Sample) -> f64 {
    case.predicted(if sample.trials() > 0 { sample.mean("truth") } else { 0.0 })
}

fn own(_: &Case, sample: &Sample) -> f64 {
    sample.mean("own square").sqrt()
}

fn worst(_: &Case, sample: &Sample) -> f64 {
    sample.quantile("worst", 1.0 - BETA)
}

/// How many answers there were.
fn answers(case: &Case, sample: &Sample) -> u64 {
    sample.trials() * case.lists.number
}

fn covered(_: &Case, sample: &Sample) -> u64 {
    sample.values("covered").iter().sum::<f64>() as u64
}

/// "normal", "conservative" or "few keys", and what share of the answers where rules differ.
fn rule(_: &Case, sample: &Sample) -> String {
    let (normal, conservative) = (sample.mean("normal"), sample.mean("conservative"));
    let shares = [("normal", normal), ("conservative", conservative), ("few keys", 1.0 - normal - conservative)];
    let (name, share) = shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    match share {
        share if share.is_nan() => String::new(),
        1.0.. => name.to_owned(),
        share => format!("{name} {:.0} %", 100.0 * share),
    }
}

/// The claim that `value`² is within 5 % (in the root) of the mean of `squares`, one for each release.
///
/// It fails if it is further off by 4.9 standard deviations of that mean: a false alarm of 10⁻⁶. It is inconclusive if
/// 10 % off would pass with a probability above 1 %, that is if 2.3 standard deviations are more than 5 %.
fn near(value: f64, squares: &[f64]) -> Finding {
    const WITHIN: f64 = 0.05;
    let count = squares.len() as f64;
    let mean = squares.iter().sum::<f64>() / count;
    let variance = squares.iter().map(|square| (square - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let ratio = value / mean.sqrt();
    // Of a root half as much, relatively.
    let deviation = (variance / count).sqrt() / mean / 2.0;
    let off = (ratio - 1.0).abs();
    let verdict = match () {
        () if off.is_nan() || off > WITHIN + 4.9 * deviation => Verdict::Fails,
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
        "From one release of a million distinct keys (ε = 1, no δ, 400 kB) a list of 10⁴ is counted to ± 180, one of 10⁵ to ± 560. \
         Errors are as predicted: ∝ √m, whatever the universe; 95 % intervals cover, the theorem [Blum, Roth 2011, section 4] holds.",
    )
    .sweep(sweep::sweep)
    .trials(|case, _| case.trials)
    .cost(sweep::cost)
    .trial(names, Case::trial)
    .column("measured", measured)
    .column("predicted", predicted)
    .column("own", own)
    .column("share of n", |case, sample| measured(case, sample) / case.size.0)
    .column("× histogram", |case, sample| measured(case, sample) / case.histogram())
    .column("covered", |case, sample| covered(case, sample) as f64 / answers(case, sample) as f64)
    .column("rule", rule)
    .column("mean error", |_, sample| sample.mean("absolute"))
    .column("worst", worst)
    .column("promised", |case, _| case.claim.worst.or(case.claim.deviation).or(case.claim.absolute))
    .column("kB", |case, _| (case.part == "lists").then(|| sweep::kilobytes(&case.plan)))
    .column("Gaussian per list", |case, _| sweep::per_list(case, NoiseKind::Gaussian))
    .column("Laplace per list", |case, _| sweep::per_list(case, NoiseKind::Laplace));
    plots(overall_checks(checks(experiment)))
}

fn checks(experiment: Experiment<Case>) -> Experiment<Case> {
    experiment
        .check("small enough", |case, sample| {
            let deviation = case.claim.deviation.map(|most| Finding::at_most(measured(case, sample), most));
            deviation.or(case.claim.absolute.map(|most| Finding::at_most(sample.mean("absolute"), most)))
        })
        .check("as predicted", |case, sample| {
            case.claim.predicted.then(|| near(predicted(case, sample), sample.values("square")))
        })
        .check("as its error bar", |case, sample| {
            case.claim.predicted.then(|| near(own(case, sample), sample.values("square")))
        })
        .check("coverage", |case, sample| {
            case.claim.coverage.map(|range| coverage(covered(case, sample), answers(case, sample), range))
        })
        .check("guarantee", |case, sample| {
            case.claim.worst.map(|bound| Finding::rarely_above(sample.values("worst"), bound, BETA))
        })
        .check("file", |case, _| (case.part == "lists").then(|| Finding::at_most(sweep::kilobytes(&case.plan), 400.0)))
}

fn overall_checks(experiment: Experiment<Case>) -> Experiment<Case> {
    let slope = |part: &'static str, data: &'static str, x: &'static str, y: &'static str, low: f64, high: f64| {
        move |table: &Table| {
            let rows = table.only("part", part).only("data", data);
            Finding::slope_within(&rows.points(x, y), low, high)
        }
    };
    experiment
        .check_all("sparse: √m", |table| {
            let rows = table.only("part", "over m").only("signs", "s = 1");
            Finding::slope_within(&rows.points("m", "measured"), 0.45, 0.55)
        })
        .check_all("dense: √m", |table| {
            let rows = table.only("part", "over m").only("signs", "dense");
            Finding::slope_within(&rows.points("m", "measured"), 0.45, 0.55)
        })
        .check_all("1/n while noise is most", slope("over n", "distinct", "n", "share of n", -1.05, -0.95))
        .check_all("1/√n for few rows", slope("over n, few rows", "distinct", "n", "share of n", -0.55, -0.45))
        .check_all("no gain for one heavy key", slope("over n", "one heavy key", "n", "share of n", -0.05, 0.05))
        .check_all("neither universe nor length of keys matters", |table| {
            // Each is known to 2 % at least: 10 % are more than three standard deviations of a difference.
            let errors = table.only("part", "keys").points("n", "measured").into_iter().map(|point| point.1);
            let (least, most) =
                errors.fold((f64::INFINITY, 0.0), |(least, most), error| (error.min(least), error.max(most)));
            Finding::at_most(most / least, 1.1)
        })
        .check_all("the largest of k errors is that of k bell curves", |table| {
            // 200 releases know a 95 % quantile to 5 % or so.
            let points = table.only("part", "theorem").points("bell curves", "worst");
            let off = points.iter().map(|(bell, worst)| (worst / bell - 1.0).abs()).fold(0.0, f64::max);
            Finding::require(points.len() >= 3 && off <= 0.15, format!("at most {off:.3} off; claimed within 0.15"))
        })
        .check_all("the paper's composed Laplace noise costs 3 to 4 times Gaussian", |table| {
            let rows = table.only("part", "noise").only("signs", "dense");
            let of = |noise: &str| rows.only("noise", noise).points("n", "measured").first().map_or(f64::NAN, |p| p.1);
            let ratio = of("Laplace, DR14 3.21") / of("Gaussian");
            Finding::require((3.0..4.0).contains(&ratio), format!("{ratio:.2} times"))
        })
        .check_all("of one noisy answer a list there may be about m/10", |table| {
            let rows = table.only("part", "per list");
            let crossing = sweep::crossing(&rows.points("k", "predicted"), &rows.points("k", "Gaussian per list"));
            let m = rows.points("k", "m").first().map_or(f64::NAN, |point| point.1);
            let because = format!("the release wins from {crossing:.0} lists of {m} keys on");
            Finding::require((0.05..0.2).contains(&(crossing / m)), because)
        })
        .check_all("the frontier is at m ∝ n²", |table| {
            Finding::slope_within(&table.only("part", "frontier").points("n", "m"), 1.9, 2.1)
        })
}

fn plots(experiment: Experiment<Case>) -> Experiment<Case> {
    experiment
        .column("bell curves", |case, sample| (case.part == "theorem").then(|| bell_curves(case, sample)))
        .column("histogram", |case, _| (case.part == "over m").then(|| case.histogram()))
        .highlight(|case| case.highlight)
        .plot(
            Plot::new("over_m", "m", "standard deviation (records)")
                .only("part", "over m")
                .log_x()
                .log_y()
                .line("predicted")
                .line("histogram")
                .points("measured")
                .split_by("signs"),
        )
        .plot(
            Plot::new("over_t", "T", "standard deviation (records)")
                .only("part", "over T")
                .log_x()
                .log_y()
                .line("predicted")
                .points("measured")
                .points("own"),
        )
        .plot(
            Plot::new("theorem", "k", "largest of k errors (records)")
                .only("part", "theorem")
                .log_x()
                .line("promised")
                .line("bell curves")
                .points("worst"),
        )
        .plot(
            Plot::new("per_list", "k", "standard deviation (records)")
                .only("part", "per list")
                .log_x()
                .log_y()
                .line("predicted")
                .line("Gaussian per list")
                .line("Laplace per list"),
        )
        .plot(
            Plot::new("frontier", "n", "keys of a list (m)")
                .only("part", "frontier")
                .log_x()
                .log_y()
                .line("m")
                .split_by("k"),
        )
}

/// The 1 − β quantile of the largest of k errors, were they independent and normal with the predicted standard error.
fn bell_curves(case: &Case, sample: &Sample) -> f64 {
    let answer = Answer { value: 0.0, standard_error: predicted(case, sample), rule: Rule::Normal };
    let each = (1.0 - BETA).powf(1.0 / case.lists.number as f64);
    // Cannot fail: between 0 and 1.
    answer.interval(each).map_or(f64::NAN, |interval| interval.upper)
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
        let squares: Vec<f64> = (0..10_000).map(|i| f64::from(i % 200) / 100.0).collect();
        let root = (squares.iter().sum::<f64>() / 1e4).sqrt();
        assert_eq!(near(1.04 * root, &squares).verdict, Verdict::Holds);
        assert_eq!(near(0.9 * root, &squares).verdict, Verdict::Fails);
        assert_eq!(near(root, &squares[..10]).verdict, Verdict::Inconclusive);
        assert_eq!(near(f64::NAN, &squares).verdict, Verdict::Fails);
    }
}
