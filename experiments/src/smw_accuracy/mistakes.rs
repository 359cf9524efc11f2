//! How often a hypothesis can be wrong, without any noise: an adversary against it.

use crate::sessions::any_rank;
use rand::RngExt;
use std::collections::BTreeSet;
use tamis::interactive::{Hypothesis, Query, SparsePerceptron, SparseWeights, Step, perceptron, sparse_weights};
use tamis::noise::Hits;
use tamis::queries::{Fingerprint, SparseQuery};
use tamis_harness::{TrialError, TrialRng};

/// What learns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Learner {
    Weights,
    Perceptron,
}

/// So many keys with one record each, lists of so many, and what an error is.
#[derive(Clone, Copy, Debug)]
pub struct Game {
    pub learner: Learner,
    pub keys: u64,
    pub support: u64,
    pub alpha: f64,
}

/// The worst of so many lists is asked …
const CHOICE: usize = 8;
/// … until none of so many choices is wrong.
const PATIENCE: u32 = 50;
/// Keys that have no record.
const ABSENT: u64 = 1 << 13;

impl Game {
    /// c: the most updates of sparse weights whose slots are enough for them. Every key has one of the records.
    fn updates_of_weights(&self) -> Hits {
        let mut updates = Hits::ONE;
        loop {
            let slots = sparse_weights::slots(self.support, updates, self.keys) as f64;
            let bound = sparse_weights::mistakes(sparse_weights::divergence(slots, self.keys as f64), self.alpha);
            match Hits::new(bound as u64) {
                Ok(next) if next > updates => updates = next,
                _ => return updates,
            }
        }
    }

    /// B.
    pub fn bound(&self) -> f64 {
        match self.learner {
            Learner::Weights => f64::from(self.updates_of_weights().get()),
            Learner::Perceptron => perceptron::mistakes(self.support as f64, self.keys as f64, self.alpha),
        }
    }

    /// How often the adversary finds it wrong by α. He never tells more than he must: that it is.
    pub fn play(&self, rng: &mut TrialRng) -> Result<u64, TrialError> {
        match self.learner {
            Learner::Weights => {
                self.against(SparseWeights::new(self.support, self.updates_of_weights(), self.keys, None)?, rng)
            }
            Learner::Perceptron => self.against(SparsePerceptron::new(self.support, self.keys, None)?, rng),
        }
    }

    fn against(&self, mut hypothesis: impl Hypothesis, rng: &mut TrialRng) -> Result<u64, TrialError> {
        let (mut updates, mut quiet) = (0, 0);
        while quiet < PATIENCE {
            let mut worst = (0.0, self.list(rng));
            for _ in 0..CHOICE {
                let list = self.list(rng);
                let error = self.truth(&list) - hypothesis.evaluate(&list.1)?;
                if f64::abs(error) > f64::abs(worst.0) {
                    worst = (error, list);
                }
            }
            let (error, (_, query)) = worst;
            if error.abs() < self.alpha {
                quiet += 1;
                continue;
            }
            quiet = 0;
            let target = hypothesis.evaluate(&query)? + self.alpha.copysign(error);
            hypothesis.update(&query, Step::Reach(target.clamp(0.0, 1.0)))?;
            updates += 1;
        }
        Ok(updates)
    }

    /// Of keys that have records and of keys that have none, in proportions that vary: all of the one, or of the other,
    /// among them. With the query, how many have.
    fn list(&self, rng: &mut TrialRng) -> (u64, Query) {
        let mut keys = BTreeSet::new();
        let present = any_rank(self.support.ilog2() + 2, rng).min(self.support);
        for place in 0..self.support {
            keys.insert(if place < present {
                rng.random_range(0..self.keys)
            } else {
                self.keys + rng.random_range(0..ABSENT)
            });
        }
        let matches = keys.range(..self.keys).count() as u64;
        (matches, Query::keys(SparseQuery::count(keys.into_iter().map(Fingerprint::raw))))
    }

    fn truth(&self, list: &(u64, Query)) -> f64 {
        list.0 as f64 / self.keys as f64
    }
}
