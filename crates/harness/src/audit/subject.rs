//! What is audited: a mechanism, what it claims, and two neighbouring inputs.

use std::fmt;

use super::Transcript;
use crate::TrialRng;

/// The claim of a mechanism: P(event on one input) ≤ e^ε P(event on the other) + δ, for every event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// ε.
    pub epsilon: f64,
    /// δ, 0 for pure privacy.
    pub delta: f64,
}

impl Claim {
    /// ε alone.
    pub fn pure(epsilon: f64) -> Self {
        Self { epsilon, delta: 0.0 }
    }

    /// ε and δ.
    pub fn approximate(epsilon: f64, delta: f64) -> Self {
        Self { epsilon, delta }
    }
}

type Run = Box<dyn Fn(usize, &mut TrialRng, &mut Transcript) + Send + Sync>;
type Holds = Box<dyn Fn(&Transcript) -> bool + Send + Sync>;

/// A mechanism as a black box, its claim, and a pair of neighbouring inputs to tell apart.
///
/// ```
/// use rand::RngExt;
/// use tamis_harness::audit::{Claim, Subject};
/// // One bit, told truly with probability ¾: the odds are 3, so it is private for ε = ln 3.
/// let subject = Subject::new("randomised response", "0 | 1", Claim::pure(3_f64.ln()), [false, true], |bit, rng, seen| {
///     let told = if rng.random_bool(0.75) { *bit } else { !*bit };
///     seen.mark(if told { "yes" } else { "no" });
/// })
/// .event("yes", |seen| seen.items().eq(["yes"]));
/// assert_eq!(subject.name(), "randomised response");
/// ```
pub struct Subject {
    name: String,
    pair: String,
    claim: Claim,
    run: Run,
    pub(super) events: Vec<(String, Holds)>,
}

impl Subject {
    /// A mechanism `run` that claims `claim` and is given one of two neighbouring `inputs`; `pair` says which they are.
    ///
    /// `run` writes all that an analyst would see into an empty transcript, and takes chance from the generator alone.
    pub fn new<I: Send + Sync + 'static>(
        name: impl Into<String>,
        pair: impl Into<String>,
        claim: Claim,
        inputs: [I; 2],
        run: impl Fn(&I, &mut TrialRng, &mut Transcript) + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            pair: pair.into(),
            claim,
            run: Box::new(move |side, rng, transcript| run(&inputs[side], rng, transcript)),
            events: Vec::new(),
        }
    }

    /// An event that is tried besides those the auditor finds.
    #[must_use]
    pub fn event(
        mut self,
        name: impl Into<String>,
        holds: impl Fn(&Transcript) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.events.push((name.into(), Box::new(holds)));
        self
    }

    /// The same, held to another claim.
    #[must_use]
    pub fn claiming(self, claim: Claim) -> Self {
        Self { claim, ..self }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which inputs it is given.
    pub fn pair(&self) -> &str {
        &self.pair
    }

    /// What it claims.
    pub fn claim(&self) -> Claim {
        self.claim
    }

    /// Runs it once on one of its inputs, 0 or 1.
    pub(super) fn run(&self, side: usize, rng: &mut TrialRng, transcript: &mut Transcript) {
        transcript.clear();
        (self.run)(side, rng, transcript);
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, pair, claim, .. } = self;
        formatter.debug_struct("Subject").field("name", name).field("pair", pair).field("claim", claim).finish()
    }
}
