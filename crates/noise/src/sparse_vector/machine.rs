//! The run itself: a state machine that ends after c hits.

use super::plan::{Plan, Report};
use crate::discrete_laplace::{DiscreteLaplace, Prefix};
use crate::enclosure::LazyUniform;
use crate::vectors::for_the_widest_vectors;
use rand::CryptoRng;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The answer to one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// ⊥: the noisy answer is below the noisy threshold. It costs nothing.
    Below,
    /// ⊤: it is not. One of the c hits is used up.
    Above(Reported),
}

/// What comes with a ⊤, as the plan's [`Report`] says. Grid units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// The verdict alone.
    Nothing,
    /// Noisy answer less noisy threshold, at least 0: threshold + gap estimates the answer.
    Gap(i64),
    /// The answer with fresh noise.
    Value(i64),
}

/// The run has had its c hits: every further call gets this same refusal, and no data is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the run has given all its {hits} answers above the threshold and is over; more need a new run and a new budget"
)]
pub struct Halted {
    /// c.
    pub hits: u32,
}

/// The answers to a slice of queries: all that are not among the hits are ⊥.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceAnswers {
    /// How many queries were answered: all, or up to and with the one that ended the run.
    pub answered: usize,
    /// Index and report of each ⊤, in order.
    pub hits: Vec<(usize, Reported)>,
}

/// A run of the sparse vector technique. See the [module](super) for privacy and proof; the code below is Algorithms
/// 1 to 3 of DR14 and Algorithm 1 of LSL17 with the noise of a query left implicit.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::sparse_vector::{Plan, Reported, SparseVector, Verdict};
/// use tamis_noise::{Epsilon, Neighbours, Sensitivity, StreamKind};
/// let plan = Plan::above_threshold(Epsilon::new(1.0)?, Sensitivity::ONE, Neighbours::AddRemove, StreamKind::Counts)?;
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let mut gate = SparseVector::new(plan, 100, &mut rng);
/// assert_eq!(gate.answer(0, &mut rng)?, Verdict::Below);
/// assert_eq!(gate.answer(200, &mut rng)?, Verdict::Above(Reported::Nothing));
/// assert!(gate.answer(0, &mut rng).is_err()); // one hit was all it had
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A run cannot be cloned: two runs under one noisy threshold would give 2c hits for the budget of c.
pub struct SparseVector {
    plan: Plan,
    threshold: i64,
    threshold_noise: DiscreteLaplace,
    query_noise: DiscreteLaplace,
    value_noise: Option<DiscreteLaplace>,
    /// The threshold's noise now in force. Secret.
    offset: i64,
    hits_left: u32,
}

/// All that a run needs to go on later. It holds the noisy threshold: as secret as the data.
///
/// **Only the latest snapshot may be continued, and once.** An older one, or the same one twice, gives hits that nobody paid
/// for. Nothing in the snapshot itself can tell: whoever stores it must.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    plan: Plan,
    threshold: i64,
    offset: i64,
    hits_left: u32,
}

/// Without the noisy threshold: what is debugged ends in logs.
impl fmt::Debug for SparseVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, threshold, hits_left, .. } = self;
        f.debug_struct("SparseVector")
            .field("plan", plan)
            .field("threshold", threshold)
            .field("hits_left", hits_left)
            .finish_non_exhaustive()
    }
}

/// Without the noisy threshold: what is debugged ends in logs.
impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, threshold, hits_left, .. } = self;
        f.debug_struct("Snapshot")
            .field("plan", plan)
            .field("threshold", threshold)
            .field("hits_left", hits_left)
            .finish_non_exhaustive()
    }
}

/// A stored run that cannot be. It does not say what the noisy threshold was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// More hits left than the plan allows.
    #[error("a stored run has {left} hits left of {hits}")]
    Hits {
        /// As stored.
        left: u32,
        /// c.
        hits: u32,
    },
    /// A threshold noise that no sampler gives.
    #[error("a stored run has a threshold noise beyond any that is drawn: it is damaged")]
    Offset,
}

/// Noise is below this.
const LARGEST_NOISE: u64 = 1 << 53;

/// Answers and thresholds beyond ±2^61 count as ±2^61, so that no margin overflows. Such a clamp moves no two answers
/// further apart and turns no direction, so sensitivity and monotony stay.
const LARGEST: i64 = 1 << 61;
/// Queries of a slice that are decided together.
const LANES: usize = 64;
/// From so many certain zeros on, queries count as far below the threshold.
const FAR_ZEROS: u32 = 4;

for_the_widest_vectors! {
    /// The largest of a non-empty slice, several at a time.
    fn largest(values: &[i64]) -> i64 {
        let mut largest = [i64::MIN; 8];
        let (blocks, rest) = values.as_chunks::<8>();
        for block in blocks {
            for (largest, &value) in largest.iter_mut().zip(block) {
                *largest = value.max(*largest);
            }
        }
        largest.iter().chain(rest).copied().fold(i64::MIN, i64::max)
    }
}

for_the_widest_vectors! {
    /// The most that each noisy answer can be, given the first sixteen bits of its uniform number.
    fn reaches(noise: &DiscreteLaplace, lanes: &[i64], bits: &[u16; LANES]) -> [i64; LANES] {
        let mut reaches = [i64::MIN; LANES];
        for ((&value, &bits), reach) in lanes.iter().zip(bits).zip(&mut reaches) {
            *reach = value.clamp(-LARGEST, LARGEST) + noise.most(bits);
        }
        reaches
    }
}

for_the_widest_vectors! {
    /// The lanes that may reach the noisy threshold.
    fn possible_hits(reaches: &[i64; LANES], noisy_threshold: i64) -> u64 {
        let mut candidates = 0;
        for (lane, &reach) in reaches.iter().enumerate() {
            candidates |= u64::from(reach >= noisy_threshold) << lane;
        }
        candidates
    }
}

impl SparseVector {
    /// Starts a run against a public `threshold`, in grid units. From here on the plan's whole budget is spent.
    ///
    /// `rng` must be cryptographic and, in a release, seeded by the operating system.
    pub fn new<R: CryptoRng + ?Sized>(plan: Plan, threshold: i64, rng: &mut R) -> Self {
        let mut run = Self::with_offset(plan, threshold, 0);
        run.offset = run.threshold_noise.sample(rng);
        run
    }

    fn with_offset(plan: Plan, threshold: i64, offset: i64) -> Self {
        Self {
            threshold,
            threshold_noise: DiscreteLaplace::new(plan.threshold_noise().clone()),
            query_noise: DiscreteLaplace::new(plan.query_noise().clone()),
            value_noise: plan.value_noise().cloned().map(DiscreteLaplace::new),
            offset,
            hits_left: plan.setting().hits.get(),
            plan,
        }
    }

    /// Answers one query whose true answer is `value`, in grid units.
    ///
    /// # Errors
    /// After c hits.
    pub fn answer<R: CryptoRng + ?Sized>(&mut self, value: i64, rng: &mut R) -> Result<Verdict, Halted> {
        self.answer_with(|| value, rng)
    }

    /// As [`answer`](Self::answer), against a threshold of the query's own. It must come from public things.
    ///
    /// # Errors
    /// After c hits.
    pub fn answer_against<R: CryptoRng + ?Sized>(
        &mut self,
        value: i64,
        threshold: i64,
        rng: &mut R,
    ) -> Result<Verdict, Halted> {
        self.check_running()?;
        Ok(self.decide(value, threshold, rng))
    }

    /// As [`answer`](Self::answer), asking the data only if the run is not over.
    ///
    /// # Errors
    /// After c hits; then `query` is not called.
    pub fn answer_with<R: CryptoRng + ?Sized>(
        &mut self,
        query: impl FnOnce() -> i64,
        rng: &mut R,
    ) -> Result<Verdict, Halted> {
        self.check_running()?;
        Ok(self.decide(query(), self.threshold, rng))
    }

    /// Answers a slice of queries in order, as so many calls of [`answer`](Self::answer) would: with the same law, though
    /// not from the same words of `rng`, and much faster when most are far below the threshold.
    ///
    /// # Errors
    /// If the run was over before the first of them.
    pub fn answer_slice<R: CryptoRng + ?Sized>(&mut self, values: &[i64], rng: &mut R) -> Result<SliceAnswers, Halted> {
        self.check_running()?;
        let mut answers = SliceAnswers { answered: 0, hits: Vec::new() };
        while answers.answered < values.len() && !self.is_halted() {
            let rest = &values[answers.answered..];
            let lanes = &rest[..rest.len().min(LANES)];
            let zeros = self.certain_zeros(self.margin(largest(lanes), self.threshold)) as u32;
            if zeros >= FAR_ZEROS {
                self.answer_far(lanes, zeros, &mut answers, rng);
            } else {
                self.answer_near(lanes, &mut answers, rng);
            }
        }
        Ok(answers)
    }

    fn check_running(&self) -> Result<(), Halted> {
        if self.is_halted() { Err(Halted { hits: self.plan.setting().hits.get() }) } else { Ok(()) }
    }

    /// j = T + ρ − f: the least ν that makes the query a ⊤.
    #[inline(always)]
    fn margin(&self, value: i64, threshold: i64) -> i64 {
        self.noisy_threshold(threshold) - value.clamp(-LARGEST, LARGEST)
    }

    /// T + ρ.
    #[inline(always)]
    fn noisy_threshold(&self, threshold: i64) -> i64 {
        threshold.clamp(-LARGEST, LARGEST) + self.offset
    }

    #[inline]
    fn decide<R: CryptoRng + ?Sized>(&mut self, value: i64, threshold: i64, rng: &mut R) -> Verdict {
        let margin = self.margin(value, threshold);
        match self.query_noise.at_least(margin, Prefix::NONE, &mut || rng.next_u64()) {
            None => Verdict::Below,
            Some(number) => Verdict::Above(self.report(value, margin, number, rng)),
        }
    }

    /// What a ⊤ does: it is counted first, then the threshold is redrawn, then something may be released.
    #[cold]
    fn report<R: CryptoRng + ?Sized>(&mut self, value: i64, margin: i64, number: LazyUniform, rng: &mut R) -> Reported {
        self.hits_left -= 1;
        if self.plan.redraws() {
            self.offset = self.threshold_noise.sample(rng);
        }
        match (self.plan.report(), &self.value_noise) {
            (Report::Gap, _) => {
                let noise = self.query_noise.value_of(number, &mut || rng.next_u64());
                Reported::Gap(noise.saturating_sub(margin))
            }
            // Saturation is a function of the noisy value: harmless.
            (Report::Value, Some(noise)) => Reported::Value(value.saturating_add(noise.sample(rng))),
            _ => Reported::Nothing,
        }
    }

    /// Answers at most 64 queries, up to and with the first ⊤, if no chance of a ⊤ is above 2^−`zeros`.
    ///
    /// Every lane has a uniform number of its own, whose bits are revealed as needed. Only a lane whose number begins with
    /// so many zeros can be a ⊤: lane i's bit in the AND of as many fair words. There is hardly ever such a lane; if there
    /// is, its number goes on from there. The numbers of the lanes behind a ⊤ are thrown away: under what is then the
    /// noisy threshold more zeros, or fewer, may be certain.
    fn answer_far<R: CryptoRng + ?Sized>(
        &mut self,
        lanes: &[i64],
        zeros: u32,
        answers: &mut SliceAnswers,
        rng: &mut R,
    ) {
        let start = answers.answered;
        answers.answered += lanes.len();
        let mut candidates = u64::MAX >> (LANES - lanes.len());
        for _ in 0..zeros {
            candidates &= rng.next_u64();
            if candidates == 0 {
                return;
            }
        }
        while candidates != 0 {
            let lane = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            if let Some(reported) = self.answer_lane(lanes[lane], Prefix::zeros(zeros), rng) {
                answers.hits.push((start + lane, reported));
                answers.answered = start + lane + 1;
                return;
            }
        }
    }

    /// Answers at most 64 queries of any answer: each lane's number begins with sixteen bits, which rule out most lanes
    /// by themselves.
    ///
    /// A lane is decided once, by its own number and the noisy threshold in force at its turn: after a ⊤ that moves the
    /// threshold, the bits of the lanes behind it, of which nothing is known to anybody, are looked at afresh.
    fn answer_near<R: CryptoRng + ?Sized>(&mut self, lanes: &[i64], answers: &mut SliceAnswers, rng: &mut R) {
        let start = answers.answered;
        answers.answered += lanes.len();
        let mut bytes = [[0; 2]; LANES];
        rng.fill_bytes(bytes[..lanes.len()].as_flattened_mut());
        let bits = bytes.map(u16::from_le_bytes);
        let reaches = reaches(&self.query_noise, lanes, &bits);
        let mut candidates = possible_hits(&reaches, self.noisy_threshold(self.threshold));
        while candidates != 0 {
            let lane = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let Some(reported) = self.answer_lane(lanes[lane], Prefix::sixteen(bits[lane]), rng) else { continue };
            answers.hits.push((start + lane, reported));
            if self.is_halted() {
                answers.answered = start + lane + 1;
                return;
            }
            if self.plan.redraws() {
                // Two shifts: the lane may be the 64th.
                candidates = possible_hits(&reaches, self.noisy_threshold(self.threshold)) & (u64::MAX << lane << 1);
            }
        }
    }

    /// What a query whose uniform number begins with `prefix` reports, if it is a ⊤.
    fn answer_lane<R: CryptoRng + ?Sized>(&mut self, value: i64, prefix: Prefix, rng: &mut R) -> Option<Reported> {
        let margin = self.margin(value, self.threshold);
        let number = self.query_noise.at_least(margin, prefix, &mut || rng.next_u64())?;
        Some(self.report(value, margin, number, rng))
    }

    /// A z ≤ 64 with P(ν ≥ `margin`) ≤ 2^−z for certain: the exponent is taken a little too small.
    #[inline(always)]
    fn certain_zeros(&self, margin: i64) -> f64 {
        let exponent = self.query_noise.tail_exponent(margin) * (std::f64::consts::LOG2_E * (1.0 - 1e-12));
        if margin >= 1 { exponent.min(64.0) } else { 0.0 }
    }

    /// How many ⊤ the run may still give.
    pub fn hits_left(&self) -> u32 {
        self.hits_left
    }

    /// Whether it has given all.
    pub fn is_halted(&self) -> bool {
        self.hits_left == 0
    }

    /// The public threshold.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// The plan it runs.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The state, to be stored before the answer that led to it is given out. No generator is in it.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { plan: self.plan.clone(), threshold: self.threshold, offset: self.offset, hits_left: self.hits_left }
    }

    /// The state as if the next query were a ⊤ that nobody was told of: one hit less, and the threshold drawn anew where a ⊤ does
    /// that.
    ///
    /// It is to be stored *before* a query is answered whose answer may be lost with the process: that it was lost may tell what
    /// it was, since a ⊤ makes more to be stored than a ⊥ does. When the answer is stored, the [snapshot](Self::snapshot) takes
    /// its place. No query may be answered between a ⊤ and the next state that is stored, nor between a state that is not
    /// charged and the next that is, nor ever after one that could not be stored.
    ///
    /// *Privacy*: let somebody see every verdict, those that are lost too, and choose which. If a ⊤ was lost, this state has
    /// just the law of the run after that ⊤: one hit less, and a threshold drawn anew, or the same. If only ⊥ were lost, it
    /// has the law of the run after one query more, of value +∞, which is a ⊤ whatever the data are and tells nothing.
    pub fn charged_snapshot<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> Snapshot {
        let Snapshot { plan, threshold, mut offset, hits_left } = self.snapshot();
        if plan.redraws() && hits_left > 0 {
            offset = self.threshold_noise.sample(rng);
        }
        Snapshot { plan, threshold, offset, hits_left: hits_left.saturating_sub(1) }
    }

    /// Goes on from the latest stored state, under the same noisy threshold. The plan passed its check when it was read.
    ///
    /// # Errors
    /// If it has more hits left than the plan allows, or a noise that is never drawn.
    pub fn restore(snapshot: Snapshot) -> Result<Self, SnapshotError> {
        let Snapshot { plan, threshold, offset, hits_left } = snapshot;
        let hits = plan.setting().hits.get();
        if hits_left > hits {
            return Err(SnapshotError::Hits { left: hits_left, hits });
        }
        if offset.unsigned_abs() >= LARGEST_NOISE {
            return Err(SnapshotError::Offset);
        }
        Ok(Self { hits_left, ..Self::with_offset(plan, threshold, offset) })
    }
}
