//! The auditor: a lower bound on the privacy loss of any mechanism, from runs of it on two neighbouring inputs.
//!
//! A smoke alarm, never the proof. It does not know what it audits; it can accuse a mechanism, with stated confidence, and
//! it cannot acquit one: **passing is not a proof; an event that is not in some 70 of n runs is invisible** at the confidence of a whole
//! table of audits ([`Auditor::least_visible`] has the number).
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
//!    other. There are about n runs on each input, and just how many is a Poisson variable. So k₁ and k₂ are independent
//!    Poisson variables of means n p₁ and n p₂, and k₁ out of k₁ + k₂ is binomial with success probability
//!    θ = p₁/(p₁ + p₂). The limit θ_L of Clopper and Pearson (1934) for θ, which is exact, makes ln(θ_L/(1 − θ_L)) a *lower
//!    bound* on the loss ln(p₁/p₂). For δ > 0 it is ln((p₁L − δ)/p₂U), from their limits for p₁ and p₂ apart. The mechanism
//!    is **caught** if the lower bound exceeds its ε.
//!
//! All lower bounds of an audit hold together but for `alpha`, by Bonferroni over the events kept and the looks: a sample
//! grows threefold between looks, so that what is caught is caught early. Nothing is concluded from the sample that
//! selected.
//!
//! Whoever audits many subjects divides alpha among them.

mod bounds;
mod event;
mod selection;
mod subject;
mod transcript;

use rand::{RngExt, SeedableRng};

pub use subject::{Claim, Subject};
pub use transcript::{Number, Transcript};

use crate::TrialRng;
use bounds::{Arrivals, lower_bound, upper_bound};
use event::{Counter, Event, Grid};
use selection::{Found, Purpose, Selected, select};

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
        let seed = rng.random();
        let half = ((self.runs / SELECTING).min(MOST_SELECTING) / 2).max(1);
        let purpose = Purpose {
            claim: subject.claim(),
            half,
            confirming: self.runs,
            // Chernoff's bound of the normal tail.
            deviations: (2.0 * (10.0 / self.alpha).ln()).sqrt(),
        };
        let selected = select(subject, &purpose, [generators(seed, 0), generators(seed, 1)]);
        let early = (1..=EARLY_LOOKS).rev().map(|look| (self.runs / GROWTH.pow(look), EARLY_SHARE));
        let last = (self.runs, 1.0 - f64::from(EARLY_LOOKS) * EARLY_SHARE);
        let looks: Vec<(u64, f64)> = early.filter(|&(runs, _)| runs > 0).chain([last]).collect();
        Report { selecting: 2 * half, ..self.confirm(subject, &selected, generators(seed, 2), &looks) }
    }

    /// Counts the subject's own events in all runs, each taken to be likelier on the first input: what is known of them, without
    /// selecting anything.
    pub fn measure(&self, subject: &Subject, rng: &mut TrialRng) -> Report {
        let own = |index| Found { event: Event::Own(index), likelier: 0 };
        let selected = Selected { found: (0..subject.events.len()).map(own).collect(), grid: Grid::default() };
        self.confirm(subject, &selected, generators(rng.random(), 2), &[(self.runs, 1.0)])
    }

    /// Counts what was selected in fresh runs, up to each of these numbers of them with this share of alpha.
    fn confirm(
        &self,
        subject: &Subject,
        Selected { found, grid }: &Selected,
        fresh: [TrialRng; 2],
        looks: &[(u64, f64)],
    ) -> Report {
        let mut report =
            Report { claim: subject.claim(), runs: 0, selecting: 0, alpha: self.alpha, confirmed: Vec::new() };
        let events: Vec<Event> = found.iter().map(|found| found.event.clone()).collect();
        let mut counter = Counter::new(subject, &events, grid);
        let mut fresh = fresh.map(Arrivals::new);
        let mut transcript = Transcript::default();
        for &(runs, share) in looks {
            for (side, arrivals) in fresh.iter_mut().enumerate() {
                while arrivals.next_before(runs as f64) {
                    subject.run(side, &mut arrivals.rng, &mut transcript);
                    counter.add(side, &transcript);
                }
            }
            let made = [0, 1].map(|side| fresh[side].count);
            let alpha = self.alpha * share / found.len().max(1) as f64;
            let confirm = |(Found { event, likelier }, counts): (&Found, &[u64; 2])| {
                let [counts, made] = [*counts, made].map(|of| [of[*likelier], of[1 - likelier]]);
                let bound = lower_bound(subject.claim(), counts, made, alpha);
                let most = upper_bound(subject.claim(), counts, made, alpha);
                Confirmed { event: event.describe(subject, grid), likelier: *likelier, counts, bound, most }
            };
            report.runs = runs;
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

/// The generators of a sample, one for each side.
fn generators(seed: [u8; 32], sample: u64) -> [TrialRng; 2] {
    [0, 1].map(|side| {
        let mut generator = TrialRng::from_seed(seed);
        generator.set_stream(2 * sample + side);
        generator
    })
}
