//! The run itself: a state machine that ends after c hits.

use super::plan::{Plan, Report};
use crate::discrete_laplace::{DiscreteLaplace, Prefix};
use crate::enclosure::LazyUniform;
use crate::vectors::for_the_widest_vectors;
use crate::words::fill_words;
use rand::CryptoRng;
use serde::{Deserialize, Serialize};

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
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    plan: Plan,
    threshold: i64,
    offset: i64,
    hits_left: u32,
}

/// A stored run that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stored run has {left} hits left of {hits}")]
pub struct SnapshotError {
    left: u32,
    hits: u32,
}

/// Answers and thresholds beyond ±2^61 count as ±2^61, so that no margin overflows. Such a clamp moves no two answers
/// further apart and turns no direction, so sensitivity and monotony stay.
const LARGEST: i64 = 1 << 61;
/// Queries of a slice that are decided together: far below the threshold, and near it.
const LANES: usize = 64;
const NEAR_LANES: usize = 16;

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
    /// The lanes whose first sixteen bits leave a ⊤ possible.
    fn possible_hits(run: &SparseVector, lanes: &[i64], bits: &[u16]) -> u64 {
        let mut candidates = 0;
        for (lane, (&value, &bits)) in lanes.iter().zip(bits).enumerate() {
            let zeros = run.certain_zeros(run.margin(value, run.threshold)).min(16.0) as u32;
            let possible = u32::from(bits) >> (16 - zeros) == 0;
            candidates |= u64::from(possible) << lane;
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
            let (lanes, hit) = if zeros >= 3 {
                (lanes, self.first_hit_far(lanes, zeros, rng))
            } else {
                let lanes = &lanes[..lanes.len().min(NEAR_LANES)];
                (lanes, self.first_hit_near(lanes, rng))
            };
            match hit {
                None => answers.answered += lanes.len(),
                // The coins of the lanes behind the hit are thrown away, unread: they are tossed again under what is
                // then the noisy threshold.
                Some((lane, number)) => {
                    answers.answered += lane + 1;
                    let margin = self.margin(lanes[lane], self.threshold);
                    let reported = self.report(lanes[lane], margin, number, rng);
                    answers.hits.push((answers.answered - 1, reported));
                }
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
        threshold.clamp(-LARGEST, LARGEST) + self.offset - value.clamp(-LARGEST, LARGEST)
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

    /// The first ⊤ among at most 64 queries, with its uniform number, if no chance of a ⊤ is above 2^−`zeros`.
    ///
    /// Every lane has a uniform number of its own, whose bits are revealed as needed. Only a lane whose number begins with
    /// so many zeros can be a ⊤: lane i's bit in the AND of as many fair words. There is hardly ever such a lane; if there
    /// is, its number goes on from there.
    fn first_hit_far<R: CryptoRng + ?Sized>(
        &self,
        lanes: &[i64],
        zeros: u32,
        rng: &mut R,
    ) -> Option<(usize, LazyUniform)> {
        let mut candidates = u64::MAX >> (LANES - lanes.len());
        for _ in 0..zeros {
            candidates &= rng.next_u64();
            if candidates == 0 {
                return None;
            }
        }
        self.first_of(candidates, lanes, |_| Prefix::zeros(zeros), rng)
    }

    /// The same for at most 16 queries of any answer: each lane's number begins with sixteen bits, which rule out most
    /// lanes by themselves.
    fn first_hit_near<R: CryptoRng + ?Sized>(&self, lanes: &[i64], rng: &mut R) -> Option<(usize, LazyUniform)> {
        let mut words = [0; NEAR_LANES / 4];
        fill_words(&mut words, rng);
        let bits = words.map(|word| [0, 16, 32, 48].map(|shift| (word >> shift) as u16));
        let bits = bits.as_flattened();
        let candidates = possible_hits(self, lanes, bits);
        self.first_of(candidates, lanes, |lane| Prefix::sixteen(bits[lane]), rng)
    }

    /// The first ⊤ among the candidates, in the order of their lanes.
    fn first_of<R: CryptoRng + ?Sized>(
        &self,
        mut candidates: u64,
        lanes: &[i64],
        prefix: impl Fn(usize) -> Prefix,
        rng: &mut R,
    ) -> Option<(usize, LazyUniform)> {
        while candidates != 0 {
            let lane = candidates.trailing_zeros() as usize;
            let margin = self.margin(lanes[lane], self.threshold);
            if let Some(number) = self.query_noise.at_least(margin, prefix(lane), &mut || rng.next_u64()) {
                return Some((lane, number));
            }
            candidates &= candidates - 1;
        }
        None
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

    /// Goes on from a stored state, under the same noisy threshold. The plan passed its check when it was read.
    ///
    /// # Errors
    /// If it has more hits left than the plan allows.
    pub fn restore(snapshot: Snapshot) -> Result<Self, SnapshotError> {
        let Snapshot { plan, threshold, offset, hits_left } = snapshot;
        let hits = plan.setting().hits.get();
        if hits_left > hits {
            return Err(SnapshotError { left: hits_left, hits });
        }
        Ok(Self { hits_left, ..Self::with_offset(plan, threshold, offset) })
    }
}
