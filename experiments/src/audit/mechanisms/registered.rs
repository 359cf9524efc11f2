//! What the planner knows, as it plans and carries it out: a new mechanism of its list is audited without a line here.
//!
//! Each is asked three questions, and has a twin for each: a key that one record has, or none; a record that takes another key; a
//! person with three records. What guesses, and asks the data only whether a guess holds, is asked where five hold once in four times,
//! the same lists at both ε: elsewhere it would say the same of both inputs. Some rows stay blind, and the table says so: a stability
//! threshold gives away no new key but with probability δ, at any ε; the paper's plan for sparse weights has a threshold beyond all records where their
//! number is public; and of a guarded release with ten corrections three lists show little.

use std::cmp::Ordering;
use std::ops::Range;

use rand::SeedableRng;
use tamis::noise::{Beta, Budget, Neighbours, Queries};
use tamis::plan::{About, Asking, Basis, Planned, QueryRelease, Question, Records, mechanisms};
use tamis::queries::{Fingerprint, Histogram, SparseQuery};
use tamis_harness::TrialRng;
use tamis_harness::audit::{Number, Subject, Transcript};

use super::{Audited, DELTA, budget, claim, list, or_refused, refused, with_person};
use crate::audit::TWIN;

/// A run of any of them, roughly.
const NANOSECONDS: u64 = 15_000;

/// All of them.
pub fn subjects() -> Vec<Audited> {
    let questions =
        mechanisms::ALL.iter().flat_map(|&mechanism| Neighbour::ALL.map(|neighbour| (mechanism, neighbour)));
    let thoroughly = |(mechanism, neighbour): (_, Neighbour)| {
        // Where one answer grows and another shrinks, what tells most is rarer.
        audited(mechanism, neighbour).thoroughly(if neighbour.is_substituted() { 2 } else { 1 })
    };
    questions.map(thoroughly).collect()
}

/// Any mechanism as the audit sees it: three lists, of which two name a key that one record has, or none. If it refuses the question, that
/// is what is seen. CONTRIBUTING has an example.
pub fn subject(mechanism: &'static dyn QueryRelease) -> Subject {
    let [right, _] = Scene::beside_twin(mechanism, Neighbour::Appears);
    played(right, mechanism, Neighbour::Appears)
}

/// With its twin, if both can be planned.
fn audited(mechanism: &dyn QueryRelease, neighbour: Neighbour) -> Audited {
    match Scene::beside_twin(mechanism, neighbour) {
        [Ok(right), Ok(twin)] => {
            assert_eq!(right.lists, twin.lists, "a twin answers the same lists");
            let [right, twin] = [right, twin].map(|scene| played(Ok(scene), mechanism, neighbour));
            Audited::beside_twin(right, twin, NANOSECONDS)
        }
        [right, _] => Audited::right(played(right, mechanism, neighbour), NANOSECONDS),
    }
}

/// The subject of a scene; or of a refusal, which is then all that is seen.
fn played(scene: Result<Scene, String>, mechanism: &dyn QueryRelease, neighbour: Neighbour) -> Subject {
    let (name, pair) = (format!("planned {}", mechanism.about().name), neighbour.in_words());
    match scene {
        Ok(scene) => scene.played(name, pair),
        Err(refusal) => {
            let claim = claim(&budget(1.0, DELTA));
            Subject::new(name, pair, claim, [(), ()], move |(), _, seen| refused(&refusal, seen))
        }
    }
}

/// By what the inputs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Neighbour {
    /// A record, of a key that no other has: what draws noise only where records are shows here.
    Appears,
    /// The key of a record.
    Exchanged,
    /// A person with three records.
    ThreeRows,
}

impl Neighbour {
    const ALL: [Self; 3] = [Self::Appears, Self::Exchanged, Self::ThreeRows];

    fn in_words(self) -> &'static str {
        match self {
            Self::Appears => "a key that one record has",
            Self::Exchanged => "one record takes another key",
            Self::ThreeRows => "a person with three records",
        }
    }

    fn is_substituted(self) -> bool {
        self == Self::Exchanged
    }

    /// What may be stated at a tie, to be tried in turn.
    ///
    /// Under add-remove the data may have more records than were stated, and of a few stated ones the threshold is low and the corrections
    /// are few. So they are if no key is stated to have more than one: privacy does not rest on that either. Of five records
    /// the paper's plan has a threshold that noise alone is above; dense weights over as many keys as there are records have one beyond all
    /// records, and over few keys have not.
    fn tied_sizes(self) -> [Sizes; 2] {
        let distinct = |records| Sizes { records, largest_count: 1, universe: records };
        if self.is_substituted() {
            [distinct(100), Sizes { records: 100, largest_count: 25, universe: 4 }]
        } else {
            [distinct(5), distinct(20)]
        }
    }

    /// What is asked of the planner, but for sizes, with four keys listed.
    fn question(self, budget: Budget) -> Question {
        Question {
            records: 8,
            support: 2,
            queries: Queries::new(3).expect("positive"),
            beta: Beta::new(0.05).expect("a probability"),
            budget,
            neighbours: if self.is_substituted() { Neighbours::Substitute } else { Neighbours::AddRemove },
            rows_per_unit: if self == Self::ThreeRows { 3 } else { 1 },
            largest_count: 8,
            key_multiplicity: 4.0,
            distinct_keys: None,
            universe: Some(4),
            asking: Asking::Adaptively,
            memory: 1 << 30,
        }
    }

    /// The same with no δ, for nine lists of three keys each, of data of these sizes.
    fn question_at_the_tie(self, sizes: Sizes, epsilon: f64) -> Question {
        let Sizes { records, largest_count, universe } = sizes;
        Question {
            records,
            support: 3,
            queries: Queries::new(9).expect("positive"),
            largest_count,
            key_multiplicity: 1.0,
            universe: Some(universe),
            ..self.question(budget(epsilon, 0.0))
        }
    }

    /// The two inputs: what one person has of keys 0 and 1, beside one record each of others, so many of each key.
    fn inputs(self, others: &[(u64, u32)]) -> [Histogram; 2] {
        match self {
            Self::Appears => [with_person(others, &[], 1), with_person(others, &[0], 1)],
            Self::Exchanged => [with_person(others, &[1], 1), with_person(others, &[0], 1)],
            Self::ThreeRows => [with_person(others, &[], 3), with_person(others, &[0, 0, 0], 3)],
        }
    }
}

/// What is stated of data at a tie.
#[derive(Clone, Copy)]
struct Sizes {
    records: u64,
    largest_count: u64,
    /// Keys, all of them listed.
    universe: u64,
}

/// A mechanism planned for a question, two inputs, and the lists to ask of either.
struct Scene {
    planned: Planned,
    inputs: [Histogram; 2],
    universe: Range<u64>,
    lists: Vec<SparseQuery>,
}

/// In [`Scene::at_the_tie`] these many lists name key 0, the others key 1, …
const GROWING: u64 = 5;
/// … all of them this key, …
const FREQUENT: u64 = 50;
/// … and each one key from here on that no record has: it makes a list another one.
const ABSENT: u64 = 100;
/// Where the universe begins that is listed there.
const LISTED: u64 = 150;
/// What is left of the records has this key, which no list names.
const OTHER: u64 = 60;

impl Scene {
    /// A mechanism that is planned for ε = 1, and its twin: both at the tie if both have one, else both small, of one δ. So they
    /// are asked the same and, but at the tie for how many records have the frequent key, of the same inputs.
    fn beside_twin(mechanism: &dyn QueryRelease, neighbour: Neighbour) -> [Result<Self, String>; 2] {
        let both = [1.0, TWIN];
        for sizes in neighbour.tied_sizes() {
            let tie = |epsilon| Self::at_the_tie(mechanism, neighbour, sizes, epsilon);
            if let [Some(right), Some(twin)] = both.map(tie) {
                return [Ok(right), Ok(twin)];
            }
        }
        let small = |delta| both.map(|epsilon| Self::small(mechanism, neighbour, budget(epsilon, delta)));
        match small(DELTA) {
            // One of Gaussian noise, say, and the other of Laplace noise. Without δ there is no choice.
            [Ok(right), Ok(twin)] if right.planned.cost.delta() != twin.planned.cost.delta() => small(0.0),
            scenes => scenes,
        }
    }

    /// Eight records, and such that everything can be had. One list is a key alone.
    fn small(mechanism: &dyn QueryRelease, neighbour: Neighbour, budget: Budget) -> Result<Self, String> {
        let planned = neighbour.question(budget).planned(mechanism).map_err(|refusal| refusal.reason)?;
        let (others, lists) = match neighbour {
            Neighbour::Appears => (vec![(2, 7)], [[0, 0], [2, 3], [0, 3]]),
            // Under substitution the number of records is public.
            Neighbour::Exchanged => (vec![(0, 4), (1, 3)], [[0, 0], [1, 1], [0, 2]]),
            Neighbour::ThreeRows => (vec![(0, 4)], [[0, 0], [2, 3], [0, 3]]),
        };
        let lists = lists.map(|keys| list(&keys)).to_vec();
        Ok(Self { planned, inputs: neighbour.inputs(&others), universe: 0..4, lists })
    }

    /// Nine lists, [`GROWING`] of which name the key that grows. A frequent key, which all name, has so many records that the guesses hold for
    /// them once in four times. None for what gives no guesses, or corrects none.
    ///
    /// The number is looked for by runs of the mechanism: the auditor's own come after it and know nothing of them.
    fn at_the_tie(mechanism: &dyn QueryRelease, neighbour: Neighbour, sizes: Sizes, epsilon: f64) -> Option<Self> {
        // A release that is watched over guesses from the data, and not at first from nothing.
        let About { is_adaptive, basis, .. } = mechanism.about();
        if !is_adaptive || basis != Basis::Theorem {
            return None;
        }
        let Sizes { records, universe, .. } = sizes;
        let planned = neighbour.question_at_the_tie(sizes, epsilon).planned(mechanism).ok()?;
        let lists = (0..9).map(|place| list(&[u64::from(place >= GROWING), FREQUENT, ABSENT + place])).collect();
        let others = |frequent: u32| {
            // One record is the person's.
            let rest = if neighbour.is_substituted() { records as u32 - 1 - frequent } else { 0 };
            [(FREQUENT, frequent), (OTHER, rest)]
        };
        // No list names a key that is listed: dense weights guess 0.
        let universe = LISTED..LISTED + universe;
        let mut scene = Self { planned, inputs: neighbour.inputs(&others(0)), universe, lists };
        let most = if neighbour.is_substituted() { records as u32 - 1 } else { 1 << 10 };
        let mut holds = |frequent: u32| {
            scene.inputs = neighbour.inputs(&others(frequent));
            scene.guesses_hold()
        };
        if !holds(0) || holds(most) {
            return None;
        }
        let (mut held, mut corrected) = (0, most);
        while corrected - held > 1 {
            let middle = u32::midpoint(held, corrected);
            if holds(middle) { held = middle } else { corrected = middle }
        }
        scene.inputs = neighbour.inputs(&others(corrected));
        Some(scene)
    }

    fn records(&self, side: usize) -> Records {
        Records::listed(self.inputs[side].clone(), self.universe.clone().map(Fingerprint::raw))
    }

    /// Whether the lists that name key 0 are all answered alike in at least a quarter of some runs. Noise that is drawn for each on a fine
    /// grid hardly ever is; were it coarse, the scene would be another one, which costs power and no truth.
    fn guesses_hold(&self) -> bool {
        const RUNS: u64 = 64;
        let records = self.records(0);
        let are_alike = |seed: &u64| {
            let answers = self.planned.answers(&records, &self.lists, &mut TrialRng::seed_from_u64(*seed));
            answers.is_ok_and(|answers| first_are_alike(&answers))
        };
        (0..RUNS).filter(are_alike).count() as u64 >= RUNS / 4
    }

    /// The subject.
    fn played(self, name: String, pair: &str) -> Subject {
        let data = [0, 1].map(|side| self.records(side));
        let Self { planned, inputs: [first, second], lists, .. } = self;
        let moved: Vec<[i64; 2]> =
            lists.iter().map(|list| [&first, &second].map(|table| list.evaluate(table))).collect();
        let together = moved.clone();
        Subject::new(name, pair, claim(&planned.cost), data, move |data, rng, seen| {
            let answers = or_refused(planned.answers(data, &lists, rng), seen);
            answers.into_iter().flatten().for_each(|answer| seen.real(answer));
        })
        // Of noise on each answer no event tells more, and nobody finds it who does not know it.
        .event("every answer has moved", move |seen| {
            let answers = answers(seen);
            answers.len() == moved.len() && answers.iter().zip(&moved).all(|(&answer, moved)| has_moved(answer, *moved))
        })
        // Of Gaussian noise their sum tells more, and more yet at its tail.
        .event("all together have moved twice as far", move |seen| {
            let answers = answers(seen);
            answers.len() == together.len() && moved_together(&answers, &together)
        })
        // Of a sparse vector this is: those that grow are below the threshold, and one that does not is above.
        .event("five guesses hold, a later one does not", |seen| {
            let answers = answers(seen);
            first_are_alike(&answers) && answers.iter().any(|answer| *answer != answers[0])
        })
    }
}

/// The answers of a run, in records.
fn answers(seen: &Transcript) -> Vec<f64> {
    let real = |number: &Number| match number {
        Number::Real(answer) => *answer,
        Number::Integer(_) => f64::NAN,
    };
    seen.numbers().iter().map(real).collect()
}

/// Units as records.
fn in_records(units: i64) -> f64 {
    units as f64 / f64::from(SparseQuery::UNIT)
}

/// Whether an answer is where its truth moves to, in units, or beyond; any is, if that does not move.
fn has_moved(answer: f64, [first, second]: [i64; 2]) -> bool {
    match first.cmp(&second) {
        Ordering::Less => answer >= in_records(second),
        Ordering::Equal => true,
        Ordering::Greater => answer <= in_records(second),
    }
}

/// Whether the answers went in the direction of their truths, and twice as far.
fn moved_together(answers: &[f64], moved: &[[i64; 2]]) -> bool {
    let along = answers.iter().zip(moved).map(|(answer, [first, second])| {
        let step = in_records(second - first);
        step * (answer - in_records(*first) - 2.0 * step)
    });
    along.sum::<f64>() >= 0.0
}

fn first_are_alike(answers: &[f64]) -> bool {
    answers.len() > GROWING as usize && answers[..GROWING as usize].iter().all(|answer| *answer == answers[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What makes no sense is refused, and its scene silently left out.
    #[test]
    fn every_question_makes_sense() {
        for neighbour in Neighbour::ALL {
            assert_eq!(neighbour.question(budget(1.0, DELTA)).check(), Ok(()));
            for sizes in neighbour.tied_sizes() {
                assert_eq!(neighbour.question_at_the_tie(sizes, 1.0).check(), Ok(()), "{neighbour:?}");
            }
        }
    }
}
