//! One run of the sparse vector on a whole stream: by our machine, or by the figures of Dwork and Roth 2014 (DR14) as
//! printed, with continuous noise.

use rand::{CryptoRng, RngExt, SeedableRng};
use tamis::noise::sparse_vector::{Plan, Reported, SparseVector, Verdict};
use tamis_harness::TrialRng;
use tamis_oracle::continuous_laplace;
use tamis_oracle::mechanism::Answer;
use tamis_oracle::sparse_vector::{above_threshold, numeric_sparse, sparse};

/// The figures work on reals; here their answers, and what they release, are multiples of 1/16.
pub const FIGURE_UNITS: i64 = 16;

/// A sparse vector mechanism, ready to run.
#[derive(Clone, Debug)]
pub enum Run {
    /// DR14 Algorithm 1 (one hit, δ = 0), 2 or 3 (`values`), as printed: real noise, never for a release.
    Figure {
        /// c.
        hits: u32,
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
        /// Algorithm 3, which releases values.
        values: bool,
    },
    /// Our machine.
    Plan(Box<Plan>),
}

impl From<Plan> for Run {
    fn from(plan: Plan) -> Self {
        Run::Plan(Box::new(plan))
    }
}

impl Run {
    /// How many units of the stream make one count.
    pub fn units(&self) -> i64 {
        match self {
            Run::Figure { .. } => FIGURE_UNITS,
            Run::Plan(_) => 1,
        }
    }

    /// The answers to `values`, one by one, up to and with the one that ends the run. Everything is in
    /// [`units`](Self::units).
    ///
    /// Two runs from equal generators draw the same noise as long as their verdicts agree: a figure because each draw
    /// takes the same words, the machine because 64 random bits decide a query except with a probability below 1e-12.
    pub fn answers<R: CryptoRng>(&self, values: &[i64], threshold: i64, rng: &mut R) -> Vec<Verdict> {
        match self {
            Run::Plan(plan) => {
                let mut gate = SparseVector::new(Plan::clone(plan), threshold, rng);
                // An error is the end of the run.
                values.iter().map_while(|&value| gate.answer(value, rng).ok()).collect()
            }
            &Run::Figure { hits, epsilon, delta, values: releases } => {
                let real = |units: i64| units as f64 / FIGURE_UNITS as f64;
                let (stream, threshold) = (values.iter().map(|&value| real(value)), real(threshold));
                let laplace = &mut |scale| continuous_laplace::sample(scale, rng);
                let answers = if releases {
                    numeric_sparse(stream, threshold, hits, epsilon, delta, laplace)
                } else if hits == 1 && delta == 0.0 {
                    above_threshold(stream, threshold, epsilon, laplace)
                } else {
                    sparse(stream, threshold, hits, epsilon, delta, laplace)
                };
                answers.into_iter().map(verdict).collect()
            }
        }
    }

    /// Where the alarms of a run are: as [`answers`](Self::answers), by the fast path for slices.
    pub fn alarms<R: CryptoRng>(&self, values: &[i64], threshold: i64, rng: &mut R) -> Vec<usize> {
        match self {
            Run::Plan(plan) => {
                let mut gate = SparseVector::new(Plan::clone(plan), threshold, rng);
                // Cannot fail: a new run has at least one hit left.
                let answers = gate.answer_slice(values, rng).expect("the run has just begun");
                answers.hits.into_iter().map(|(index, _)| index).collect()
            }
            Run::Figure { .. } => {
                let answers = self.answers(values, threshold, rng);
                (0..answers.len()).filter(|&index| answers[index] != Verdict::Below).collect()
            }
        }
    }
}

fn verdict(answer: Answer<f64>) -> Verdict {
    match answer {
        Answer::Below => Verdict::Below,
        Answer::Value(value) => Verdict::Above(Reported::Value((value * FIGURE_UNITS as f64).round() as i64)),
        // The three figures give nothing else.
        _ => Verdict::Above(Reported::Nothing),
    }
}

/// A generator, drawn from `rng`, that can be started over: for runs on different streams with the same noise.
pub fn repeatable(rng: &mut TrialRng) -> impl Fn() -> TrialRng + use<> {
    let seed: [u8; 32] = rng.random();
    move || TrialRng::from_seed(seed)
}

/// The least `alpha` ≥ 0 at which `right` holds, if it holds from there on; found from `start`, in some ten steps where that
/// is of the right size. Infinite if there is none up to 2⁵⁰.
pub fn least(start: i64, right: impl Fn(i64) -> bool) -> f64 {
    let (mut wrong, mut known) = (-1, start.max(1));
    while !right(known) {
        (wrong, known) = (known, 2 * known);
        if known > 1 << 50 {
            return f64::INFINITY;
        }
    }
    while wrong < 0 && known > 0 {
        let lower = known / 2;
        if right(lower) { known = lower } else { wrong = lower }
    }
    while known - wrong > 1 {
        let middle = wrong.midpoint(known);
        if right(middle) { known = middle } else { wrong = middle }
    }
    known as f64
}

#[cfg(test)]
mod tests {
    use super::least;

    #[test]
    fn the_least_is_found_from_anywhere() {
        for wanted in [0, 1, 2, 3, 7, 64, 1000, 1023] {
            for start in [0, 1, 5, 100, 10_000] {
                assert_eq!(least(start, |alpha| alpha >= wanted), wanted as f64, "from {start}");
            }
        }
        assert_eq!(least(3, |_| false), f64::INFINITY);
    }
}
