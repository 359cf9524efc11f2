//! The auditor: a lower bound on the privacy loss of any mechanism, from runs of it on two neighbouring inputs.
//!
//! A smoke alarm, never the proof. It does not know what it audits; it can accuse a mechanism, with stated confidence, and
//! it cannot acquit one: **passing is not a proof; events with probability below about 20/n are invisible** in n runs.
//!
//! ```
//! use rand::{RngExt, SeedableRng};
//! use tamis_harness::TrialRng;
//! use tamis_harness::audit::{Auditor, Claim, Subject};
//! // A bit told truly with probability ¾: the odds are 3, so it is private for ε = ln 3 = 1.0986.
//! let response = |claim: f64| Subject::new("randomised response", "0 | 1", Claim::pure(claim), [false, true], |bit, rng, seen| {
//!     let told = if rng.random_bool(0.75) { *bit } else { !*bit };
//!     seen.mark(if told { "yes" } else { "no" });
//! });
//! let auditor = Auditor::new(1e-6, 10_000);
//! let mut rng = TrialRng::seed_from_u64(1);
//! assert!(!auditor.audit(&response(1.1), &mut rng).is_caught());
//! let report = auditor.audit(&response(0.9), &mut rng);
//! assert!(report.is_caught());
//! assert!(report.best().unwrap().bound > 0.9);
//! ```
//!
//! # How it works
//!
//! 1. **Select.** On one sample it looks for events that tell the inputs apart: single outcomes; unions of those whose
//!    ratio is largest (Neyman, Pearson 1933); half-lines of released numbers, and of the place of their lowest bit; joint
//!    quantile bins; and events that the [`Subject`] names. Half of the sample finds and ranks, the other half judges, and
//!    the most telling event of each kind is kept, on whichever input it is likelier.
//! 2. **Confirm.** On a fresh sample it counts these events: k₁ runs on the input where they should be likelier, k₂ on the
//!    other. There are about n runs on each input, and just how many is a Poisson variable. So k₁ and k₂ are independent Poisson
//!    variables of means n p₁ and n p₂, and k₁ out of k₁ + k₂ is binomial with success probability
//!    θ = p₁/(p₁ + p₂). The limit θ_L of Clopper and Pearson (1934) for θ, which is exact, makes ln(θ_L/(1 − θ_L)) a *lower bound* on
//!    the loss ln(p₁/p₂). For δ > 0 it is ln((p₁L − δ)/p₂U), from their limits for p₁ and p₂ apart. The mechanism is
//!    **caught** if the lower bound exceeds its ε.
//!
//! All lower bounds of an audit hold together but for `alpha`, by Bonferroni over the events kept and the looks: a sample grows threefold between looks, so that what is caught is caught early. Nothing is concluded from the
//! sample that selected.
//!
//! Whoever audits many subjects divides alpha among them.

mod event;
mod selection;
mod subject;
mod transcript;

use rand::{RngExt, SeedableRng};
use tamis_oracle::statistics::{clopper_pearson_lower, clopper_pearson_upper};

pub use subject::{Claim, Subject};
pub use transcript::{Number, Transcript};

use crate::TrialRng;
use event::{Counter, Event};
use selection::{Purpose, select};

/// One run selects for so many that confirm, …
const SELECTING: u64 = 10;
/// … and no more than this: they are held in memory.
const MOST_SELECTING: u64 = 200_000;
/// A sample grows by this factor between two looks, …
const GROWTH: u64 = 3;
/// … and there are so many before the last, …
const EARLY_LOOKS: u32 = 3;
/// … each with this share of alpha; the last has what is left.
const EARLY_SHARE: f64 = 0.05;

/// A control of claim ε whose bound is below this share of ε shows that the auditor is blind.
pub const SIGHT: f64 = 0.75;

/// How certain and how thorough an audit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auditor {
    alpha: f64,
    runs: u64,
}

/// What an audit found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What was claimed.
    pub claim: Claim,
    /// Runs on each input that confirmed: the mean of their number.
    pub runs: u64,
    /// Runs on each input that selected.
    pub selecting: u64,
    /// The probability that any of the lower bounds is wrong; that any of the upper ones is, is another such.
    pub alpha: f64,
    /// What was confirmed, the largest lower bound first.
    pub confirmed: Vec<Confirmed>,
}

/// An event, counted in the sample that confirms.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmed {
    /// In words.
    pub event: String,
    /// The input on which it was expected to be likelier, 0 or 1.
    pub likelier: usize,
    /// How many runs on that input were in it, and how many on the other.
    pub counts: [u64; 2],
    /// The lower bound on the loss at the claim's δ: a mechanism with a smaller ε does not exist. 0 if nothing is shown.
    pub bound: f64,
    /// An upper bound on the loss of this event (no other), at the claim's δ.
    pub most: f64,
}

impl Confirmed {
    /// ln(k₁/k₂): what this event's loss seems to be, without δ.
    pub fn estimate(&self) -> f64 {
        let [likelier, other] = self.counts.map(|count| count as f64);
        (likelier / other).ln()
    }
}

impl Report {
    /// The event with the largest lower bound; none if no event told the inputs apart when selecting.
    pub fn best(&self) -> Option<&Confirmed> {
        self.confirmed.first()
    }

    /// The largest lower bound on the loss; 0 if nothing is shown.
    pub fn bound(&self) -> f64 {
        self.best().map_or(0.0, |best| best.bound)
    }

    /// Whether the claim is refuted.
    pub fn is_caught(&self) -> bool {
        self.bound() > self.claim.epsilon
    }

    /// Whether the auditor is blind, this being its report on a correct mechanism with a pair and an event whose loss is
    /// nearly ε: the bound is below [`SIGHT`] · ε. What passes such an auditor has not been audited.
    pub fn shows_blindness(&self) -> bool {
        self.bound() < SIGHT * self.claim.epsilon
    }
}

impl Auditor {
    /// Audits that accuse a correct mechanism with probability at most `alpha`, confirming in about `runs` runs on each
    /// input or fewer, after a tenth as many that select, but no more than 200 000.
    ///
    /// # Panics
    /// If `alpha` is not between 1e-9 and ½ (the exact limits are not computed beyond), or `runs` is 0.
    pub fn new(alpha: f64, runs: u64) -> Self {
        assert!((1e-9..=0.5).contains(&alpha), "alpha is at least 1e-9 and at most 1/2, got {alpha}");
        assert!(runs > 0, "an audit needs runs, got {runs}");
        Self { alpha, runs }
    }

    /// Audits a subject, and stops as soon as it is caught. The generator decides everything: the same again gives the
    /// same report.
    ///
    /// Cost: 2.2 `runs` runs and a microsecond each for counting; the runs that select are held in memory, 20 to 200
    /// bytes a run.
    pub fn audit(&self, subject: &Subject, rng: &mut TrialRng) -> Report {
        let early = (1..=EARLY_LOOKS).rev().map(|look| (self.runs / GROWTH.pow(look), EARLY_SHARE));
        let last = (self.runs, 1.0 - f64::from(EARLY_LOOKS) * EARLY_SHARE);
        self.look(subject, rng, early.filter(|&(runs, _)| runs > 0).chain([last]))
    }

    /// As [`audit`](Self::audit), but with all runs and sharper bounds: nothing is concluded before the last run.
    pub fn measure(&self, subject: &Subject, rng: &mut TrialRng) -> Report {
        self.look(subject, rng, [(self.runs, 1.0)].into_iter())
    }

    /// Selects, then confirms with so many runs and such a share of alpha at each look.
    fn look(&self, subject: &Subject, rng: &mut TrialRng, looks: impl Iterator<Item = (u64, f64)>) -> Report {
        let seed: [u8; 32] = rng.random();
        let generators = |sample: u64| {
            [0, 1].map(|side| {
                let mut generator = TrialRng::from_seed(seed);
                generator.set_stream(2 * sample + side);
                generator
            })
        };
        let half = ((self.runs / SELECTING).min(MOST_SELECTING) / 2).max(1);
        let purpose = Purpose {
            claim: subject.claim(),
            half,
            confirming: self.runs,
            // Chernoff's bound of the normal tail.
            deviations: (2.0 * (10.0 / self.alpha).ln()).sqrt(),
        };
        let (found, grid) = select(subject, &purpose, [generators(0), generators(1)]);
        let events: Vec<Event> = found.iter().map(|found| found.event.clone()).collect();
        let mut counter = Counter::new(subject, &events, &grid);
        let mut fresh = generators(2).map(|rng| Arrivals { rng, time: 0.0 });
        // How many runs there were on each side.
        let mut made = [0, 0];
        let mut transcript = Transcript::default();
        let mut report =
            Report { claim: subject.claim(), runs: 0, selecting: 2 * half, alpha: self.alpha, confirmed: Vec::new() };
        for (runs, share) in looks {
            for (side, arrivals) in fresh.iter_mut().enumerate() {
                while arrivals.next_before(runs as f64) {
                    made[side] += 1;
                    subject.run(side, &mut arrivals.rng, &mut transcript);
                    counter.add(side, &transcript);
                }
            }
            report.runs = runs;
            let alpha_of_bound = self.alpha * share / found.len().max(1) as f64;
            let confirm = |(found, counts): (&selection::Found, &[u64; 2])| {
                let likelier = found.likelier;
                let [counts, made] = [*counts, made].map(|of| [of[likelier], of[1 - likelier]]);
                let bound = lower_bound(subject.claim(), counts, made, alpha_of_bound);
                let most = upper_bound(subject.claim(), counts, made, alpha_of_bound);
                Confirmed { event: found.event.describe(subject, &grid), likelier, counts, bound, most }
            };
            report.confirmed = found.iter().zip(&counter.counts).map(confirm).collect();
            report.confirmed.sort_by(|one, next| next.bound.total_cmp(&one.bound));
            if report.is_caught() {
                break;
            }
        }
        report
    }

    /// The least probability of an event that this auditor can hold against a claim, if the event is impossible on the other
    /// input. Rarer ones are invisible to it, whatever they give away.
    ///
    /// ```
    /// use tamis_harness::audit::{Auditor, Claim};
    /// let least = Auditor::new(1e-6, 1_000_000).least_visible(Claim::pure(1.0));
    /// assert!(2e-5 < least && least < 2e-4);
    /// ```
    pub fn least_visible(&self, claim: Claim) -> f64 {
        let share = 1.0 - f64::from(EARLY_LOOKS) * EARLY_SHARE;
        let alpha = self.alpha * share;
        let runs = [self.runs; 2];
        let is_caught = |count| lower_bound(claim, [count, 0], runs, alpha) > claim.epsilon;
        let (mut invisible, mut visible) = (0, self.runs);
        while visible - invisible > 1 {
            let middle = u64::midpoint(invisible, visible);
            if is_caught(middle) { visible = middle } else { invisible = middle }
        }
        visible as f64 / self.runs as f64
    }
}

/// Runs at the times of a Poisson process of rate 1: up to any time there is a Poisson number of them.
struct Arrivals {
    rng: TrialRng,
    time: f64,
}

impl Arrivals {
    /// Whether the next run is before `end`. If not, it is looked at again the next time: the process has no memory.
    fn next_before(&mut self, end: f64) -> bool {
        // In (0, 1]; the interval is exponential.
        let uniform = 1.0 - self.rng.random::<f64>();
        self.time = (self.time - uniform.ln()).min(end);
        self.time < end
    }
}

/// A lower bound on the loss of an event beyond δ, wrong with probability at most `alpha`, 0 if nothing is shown: from its counts on the
/// likelier input and the other, and the runs there were on each.
fn lower_bound(claim: Claim, counts: [u64; 2], runs: [u64; 2], alpha: f64) -> f64 {
    let [likelier, other] = counts;
    if claim.delta > 0.0 {
        let level = 1.0 - alpha / 2.0;
        let least = clopper_pearson_lower(likelier, runs[0], level) - claim.delta;
        return (least.max(0.0) / clopper_pearson_upper(other, runs[1], level)).ln().max(0.0);
    }
    if likelier == 0 {
        return 0.0;
    }
    let share = clopper_pearson_lower(likelier, likelier + other, 1.0 - alpha);
    (share / (1.0 - share)).ln().max(0.0)
}

/// An upper bound on the same, as [`lower_bound`].
fn upper_bound(claim: Claim, counts: [u64; 2], runs: [u64; 2], alpha: f64) -> f64 {
    let [likelier, other] = counts;
    if claim.delta > 0.0 {
        let level = 1.0 - alpha / 2.0;
        let most = clopper_pearson_upper(likelier, runs[0], level) - claim.delta;
        return (most.max(0.0) / clopper_pearson_lower(other, runs[1], level)).ln().max(0.0);
    }
    if other == 0 {
        return f64::INFINITY;
    }
    let share = clopper_pearson_upper(likelier, likelier + other, 1.0 - alpha);
    (share / (1.0 - share)).ln().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_oracle::statistics::ChiSquare;

    /// P(Poisson(mean) = k), k up to where nothing is left: slow and obvious.
    fn poisson(mean: f64) -> Vec<f64> {
        let terms = (mean + 20.0 * mean.sqrt() + 20.0) as usize;
        (0..terms)
            .scan((-mean).exp(), |term, k| {
                let now = *term;
                *term *= mean / (k + 1) as f64;
                Some(now)
            })
            .collect()
    }

    /// The probability that a bound is wrong, by summation over all counts.
    fn is_wrong(means: [f64; 2], wrong: impl Fn([u64; 2]) -> bool) -> f64 {
        let [first, second] = means.map(poisson);
        let all =
            first.iter().enumerate().flat_map(|(k, p)| second.iter().enumerate().map(move |(l, q)| ([k, l], p * q)));
        all.filter(|(counts, _)| wrong(counts.map(|count| count as u64))).map(|(_, p)| p).sum()
    }

    #[test]
    fn bounds_are_wrong_no_more_often_than_alpha() {
        let claim = Claim::pure(1.0);
        for (means, alpha) in [([30.0, 10.0], 0.01), ([12.0, 12.0], 0.05), ([60.0, 8.0], 0.001)] {
            let loss = f64::ln(means[0] / means[1]);
            let below = is_wrong(means, |counts| lower_bound(claim, counts, [0, 0], alpha) > loss.max(0.0));
            assert!((alpha / 5.0..=alpha).contains(&below), "{means:?} at {alpha}: {below}");
            let above = is_wrong(means, |counts| upper_bound(claim, counts, [0, 0], alpha) < loss);
            assert!(above <= alpha, "{means:?} at {alpha}: {above}");
        }
        // With δ from a hundred runs each: a loss of ln((0.4 − 0.1)/0.1). Counts that are nearly Poisson have larger
        // variance than binomial ones, and are a harder test.
        let claim = Claim::approximate(1.0, 0.1);
        let below = is_wrong([40.0, 10.0], |counts| {
            counts[0] <= 100 && counts[1] <= 100 && lower_bound(claim, counts, [100, 100], 0.01) > 3_f64.ln()
        });
        assert!(below <= 0.01, "{below}");
    }

    #[test]
    fn nothing_seen_shows_nothing() {
        for claim in [Claim::pure(1.0), Claim::approximate(1.0, 0.1)] {
            assert_eq!(lower_bound(claim, [0, 0], [0, 0], 0.01), 0.0);
            assert_eq!(lower_bound(claim, [0, 9], [10, 10], 0.01), 0.0);
            assert!(lower_bound(claim, [1_000, 0], [1_000, 1_000], 0.01) > 4.0);
            assert_eq!(upper_bound(claim, [10, 0], [10, 10], 0.01), f64::INFINITY);
        }
    }

    /// Arrivals in windows of mean 12, looked at twice on the way: Poisson. False alarm 1e-6; the same test rejects windows with a
    /// fixed number of runs but for one coin.
    #[test]
    fn the_number_of_runs_is_poisson() {
        let law: Vec<f64> = poisson(12.0).into_iter().take(40).collect();
        let mut arrivals = Arrivals { rng: TrialRng::seed_from_u64(1), time: 0.0 };
        let mut counts = vec![0; law.len()];
        for window in 0..5_000 {
            let start = 12.0 * f64::from(window);
            let mut up_to = |end: f64| std::iter::from_fn(|| arrivals.next_before(start + end).then_some(())).count();
            counts[up_to(1.0) + up_to(5.0) + up_to(12.0)] += 1;
        }
        assert!(ChiSquare::new(&counts, &law, 10.0).accepts(1e-6), "{counts:?}");
        let mut fixed = vec![0; law.len()];
        (fixed[11], fixed[12]) = (2_500, 2_500);
        assert!(!ChiSquare::new(&fixed, &law, 10.0).accepts(1e-6));
    }
}
