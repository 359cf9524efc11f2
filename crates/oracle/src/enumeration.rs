//! The exact output law of a sparse-vector mechanism with discrete Laplace noise, and its worst
//! privacy loss, by arithmetic.
//!
//! Given the noisy threshold, the answers to different queries are independent, and each has a closed
//! form. So the probability of a whole output is a sum over the noisy threshold of a product over
//! queries; a redraw starts a new sum. Theorems 3.23, 3.25 and 3.27 of Dwork and Roth say that no output
//! is more than e^ε times likelier on one of two neighbouring streams than on the other. Here that is
//! computed for every output and every pair of small streams.
//!
//! **Adaptive streams** need nothing more: whatever rule chooses the queries from the answers so far, on
//! a given output it asks one given stream, and its probability is that of the fixed stream.
//!
//! **Errors.** The threshold noise is cut where its tail is below e^−60, and further out where the query
//! noise is much wider (long rows of ⊥ live there); the tail is added to the upper end, and so is 1e-300
//! for what underflows. Every term is a product of positive factors, each with a relative error below
//! 1e-13, so 500 answers stay below 5e-11, and sums of up to 1e5 terms add less than 1e-11: together below
//! [`FLOAT_ERROR`], which widens both ends once for each draw of the threshold. A loss is therefore known
//! to 4e-10 times the number of those draws, as long as its probabilities are far above the tail.

use std::collections::HashMap;

use crate::discrete_laplace::DiscreteLaplace;
use crate::mechanism::{Answer, Mechanism, Output, Redraw};

/// Relative error allowed for in a computed probability; derived in the module's documentation.
pub const FLOAT_ERROR: f64 = 1e-10;

/// The threshold noise is summed over this many of its scales on each side, e^−60 being 9e-27, …
const THRESHOLD_REACH: f64 = 60.0;
/// … and this many scales of the query noise: as far as 20 000 answers ⊥ in a row push the threshold up.
const QUERY_REACH: f64 = 10.0;
/// Above every sum of terms that were rounded to 0.
const UNDERFLOW: f64 = 1e-300;

/// Two numbers with the truth between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// At most the truth.
    pub lower: f64,
    /// At least the truth.
    pub upper: f64,
}

impl Interval {
    pub(crate) const ONE: Self = Self { lower: 1.0, upper: 1.0 };

    /// Product of two intervals of non-negative numbers.
    pub(crate) fn times(self, other: Self) -> Self {
        Self { lower: self.lower * other.lower, upper: self.upper * other.upper }
    }

    /// ln(self/other), of probabilities.
    pub(crate) fn log_ratio(self, other: Self) -> Self {
        let log_ratio = |p: f64, q: f64| match (p, q) {
            (0.0, _) => f64::NEG_INFINITY,
            (_, 0.0) => f64::INFINITY,
            (p, q) => p.ln() - q.ln(),
        };
        Self { lower: log_ratio(self.lower, other.upper), upper: log_ratio(self.upper, other.lower) }
    }
}

/// A range of integers, ends included; `i64::MIN` and `i64::MAX` stand for infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// First.
    pub low: i64,
    /// Last.
    pub high: i64,
}

impl Cell {
    /// All integers: the number was not released.
    pub const ALL: Self = Self { low: i64::MIN, high: i64::MAX };

    /// A single integer.
    pub fn exactly(value: i64) -> Self {
        Self { low: value, high: value }
    }

    /// Every integer up to this one.
    pub fn at_most(high: i64) -> Self {
        Self { low: i64::MIN, high }
    }

    /// Every integer from this one.
    pub fn at_least(low: i64) -> Self {
        Self { low, high: i64::MAX }
    }

    fn contains(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The integers `low..=high` one by one, and what lies beyond them on both sides.
    fn partition(low: i64, high: i64) -> Vec<Self> {
        let inside = (low..=high).map(Self::exactly);
        std::iter::once(Self::at_most(low - 1)).chain(inside).chain(std::iter::once(Self::at_least(high + 1))).collect()
    }
}

/// One answer as an event: a number released with a ⊤ is known to lie in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// ⊥.
    Below,
    /// ⊤, with the gap and the released value in these cells.
    Above {
        /// Of the gap f + ν − T̂, [`Cell::ALL`] unless it is released.
        gap: Cell,
        /// Of the value, fresh or compared, [`Cell::ALL`] unless it is released.
        value: Cell,
    },
}

impl Event {
    /// ⊤, whatever it carries.
    pub const ABOVE: Self = Self::Above { gap: Cell::ALL, value: Cell::ALL };

    /// ⊤ with its gap in this cell.
    pub fn gap(gap: Cell) -> Self {
        Self::Above { gap, value: Cell::ALL }
    }

    /// ⊤ with its released value in this cell.
    pub fn value(value: Cell) -> Self {
        Self::Above { gap: Cell::ALL, value }
    }

    /// ⊥ `below` times, then ⊤ `above` times.
    pub fn run(below: usize, above: usize) -> Vec<Self> {
        let mut events = vec![Self::Below; below];
        events.resize(below + above, Self::ABOVE);
        events
    }

    /// Whether this answer is in the event.
    pub fn holds(&self, answer: &Answer<i64>) -> bool {
        let (gap, value) = match *self {
            Self::Below => return *answer == Answer::Below,
            Self::Above { gap, value } => (gap, value),
        };
        match *answer {
            Answer::Below => false,
            Answer::Above => true,
            Answer::Gap(g) => gap.contains(g),
            Answer::Value(v) => value.contains(v),
            Answer::GapAndValue(g, v) => gap.contains(g) && value.contains(v),
        }
    }
}

/// Answers of the same queries on two neighbouring databases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// On the one.
    pub first: Vec<i64>,
    /// On the other.
    pub second: Vec<i64>,
}

/// How the answers of neighbouring databases may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// Each by at most the sensitivity, in either direction.
    Free,
    /// All in the same direction, each by at most the sensitivity: monotone streams.
    Together,
}

/// Every pair of streams of this length whose first has answers `lowest..=highest`.
///
/// `(range)^length · (moves)^length` pairs, with 2·sensitivity+1 moves if free and sensitivity+1 if
/// together (upwards; [`worst_loss`] takes both directions of each pair).
pub fn neighbouring_pairs(length: usize, lowest: i64, highest: i64, sensitivity: i64, movement: Movement) -> Vec<Pair> {
    let least_move = match movement {
        Movement::Free => -sensitivity,
        Movement::Together => 0,
    };
    let moves = tuples(length, least_move, sensitivity);
    tuples(length, lowest, highest)
        .iter()
        .flat_map(|first| {
            moves.iter().map(|step| Pair {
                first: first.clone(),
                second: first.iter().zip(step).map(|(value, step)| value + step).collect(),
            })
        })
        .collect()
}

fn tuples(length: usize, lowest: i64, highest: i64) -> Vec<Vec<i64>> {
    (0..length).fold(vec![Vec::new()], |shorter, _| {
        shorter.iter().flat_map(|head| (lowest..=highest).map(|last| [head.as_slice(), &[last]].concat())).collect()
    })
}

/// The universal pair U(m, c) for threshold 0: m answers 0 that all move up by the sensitivity, then c
/// answers 0 that all move down. On ⊥^m ⊤^c the loss of a right mechanism without redraw tends to ε
/// as m grows, and that of a wrong one passes it.
pub fn universal_pair(below: usize, above: usize, sensitivity: i64) -> Pair {
    Pair { first: vec![0; below + above], second: [vec![sensitivity; below], vec![-sensitivity; above]].concat() }
}

/// P(this output), the events being one an answer; the stream may be longer than what is needed to
/// stop the mechanism, but not shorter than the output.
///
/// Cost: 120·(threshold scale) + 20·(query scale) closed forms an answer.
///
/// # Panics
///
/// If there are more events than values, or the mechanism would stop before the last event.
///
/// ```
/// use tamis_oracle::enumeration::{Event, probability};
/// use tamis_oracle::mechanism::Mechanism;
/// // A query at the threshold is above it about half of the time: ties count as above.
/// let p = probability(&Mechanism::above_threshold(1.0, 1), &[7], 7, &[Event::ABOVE]);
/// assert!(0.5 < p.lower && p.lower <= p.upper && p.upper < 0.56);
/// ```
pub fn probability(mechanism: &Mechanism, values: &[i64], threshold: i64, output: &[Event]) -> Interval {
    assert!(output.len() <= values.len(), "an output cannot be longer than its stream");
    let mut state = State::start(mechanism, threshold);
    for (&value, event) in values.iter().zip(output) {
        assert!(!state.halted(), "the mechanism stops before the end of this output");
        state = state.answer(value, event);
    }
    state.probability()
}

/// ln of the ratio of this output's probabilities on the two streams of a pair.
///
/// # Panics
///
/// As [`probability`].
pub fn loss(mechanism: &Mechanism, pair: &Pair, threshold: i64, output: &[Event]) -> Interval {
    let first = probability(mechanism, &pair.first, threshold, output);
    let second = probability(mechanism, &pair.second, threshold, output);
    first.log_ratio(second)
}

/// Every output on streams of this length, as cells of events, in a fixed order.
///
/// Released numbers are split into single integers and what lies beyond them: gaps up to `largest_gap`,
/// values in `values`.
pub fn outputs(mechanism: &Mechanism, length: usize, largest_gap: i64, values: Cell) -> Vec<Vec<Event>> {
    let alphabet = alphabet(mechanism, largest_gap, values);
    let mut all = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(output) = open.pop() {
        let hits = output.iter().filter(|&&event| event != Event::Below).count();
        if output.len() == length || mechanism.hits.is_some_and(|limit| hits as u64 == limit.into()) {
            all.push(output);
        } else {
            open.extend(alphabet.iter().map(|&event| [output.as_slice(), &[event]].concat()));
        }
    }
    all
}

fn alphabet(mechanism: &Mechanism, largest_gap: i64, values: Cell) -> Vec<Event> {
    let gaps: Vec<Cell> =
        (0..=largest_gap).map(Cell::exactly).chain(std::iter::once(Cell::at_least(largest_gap + 1))).collect();
    let values = Cell::partition(values.low, values.high);
    let above: Vec<Event> = match mechanism.output {
        Output::Verdict => vec![Event::ABOVE],
        Output::Gap => gaps.into_iter().map(Event::gap).collect(),
        Output::FreshValue(_) | Output::ComparedValue => values.into_iter().map(Event::value).collect(),
        Output::GapAndComparedValue => {
            gaps.iter().flat_map(|&gap| values.iter().map(move |&value| Event::Above { gap, value })).collect()
        }
    };
    std::iter::once(Event::Below).chain(above).collect()
}

/// The largest loss found, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstLoss {
    /// The largest loss over all outputs and all pairs, both ways round.
    pub loss: Interval,
    /// The pair with the largest lower end, in the direction of the loss.
    pub pair: Pair,
    /// The output likelier on the pair's first stream.
    pub output: Vec<Event>,
}

/// The largest loss of the mechanism over all outputs and these pairs, both ways round.
///
/// `reach` says how finely released numbers are told apart: gaps singly up to `reach`, values singly from
/// `reach` below the least answer to `reach` above the greatest; beyond, they are lumped. For fresh values
/// this loses nothing, since beyond all answers the ratio of two discrete Laplace laws is constant. For
/// gaps and compared values it is a coarser output, whose loss is at most the true one: a proof that a
/// mechanism is wrong, and for a right one a check of every output up to `reach`.
///
/// Cost: one law for each different stream, at about the cost of one [`probability`] an output.
///
/// # Panics
///
/// If there are no pairs, or the streams of a pair differ in length.
///
/// ```
/// use tamis_oracle::enumeration::{universal_pair, worst_loss};
/// use tamis_oracle::mechanism::Mechanism;
/// let found = worst_loss(&Mechanism::above_threshold(1.0, 1), &[universal_pair(6, 1, 1)], 0, 0);
/// assert!(0.8 < found.loss.lower && found.loss.upper <= 1.0);
/// ```
pub fn worst_loss(mechanism: &Mechanism, pairs: &[Pair], threshold: i64, reach: i64) -> WorstLoss {
    let answers = || pairs.iter().flat_map(|pair| pair.first.iter().chain(&pair.second));
    let values = Cell {
        low: answers().min().expect("at least one pair with one query") - reach,
        high: answers().max().expect("as above") + reach,
    };
    let alphabet = alphabet(mechanism, reach, values);
    let mut laws: HashMap<&[i64], Vec<Interval>> = HashMap::new();
    for stream in pairs.iter().flat_map(|pair| [&pair.first, &pair.second]) {
        laws.entry(stream).or_insert_with(|| {
            let mut law = Vec::new();
            visit(State::start(mechanism, threshold), stream, &alphabet, &mut law);
            law
        });
    }
    let mut worst = Interval { lower: f64::NEG_INFINITY, upper: f64::NEG_INFINITY };
    let mut witness = (0, false, 0);
    for (index, pair) in pairs.iter().enumerate() {
        assert_eq!(pair.first.len(), pair.second.len(), "the streams of a pair are equally long");
        let (first, second) = (&laws[&pair.first[..]], &laws[&pair.second[..]]);
        for (output, (&p, &q)) in first.iter().zip(second).enumerate() {
            for (loss, swapped) in [(p.log_ratio(q), false), (q.log_ratio(p), true)] {
                worst.upper = worst.upper.max(loss.upper);
                if loss.lower > worst.lower {
                    worst.lower = loss.lower;
                    witness = (index, swapped, output);
                }
            }
        }
    }
    let (index, swapped, output) = witness;
    let pair = pairs[index].clone();
    let length = pair.first.len();
    let pair = if swapped { Pair { first: pair.second, second: pair.first } } else { pair };
    let output = outputs(mechanism, length, reach, values).swap_remove(output);
    WorstLoss { loss: worst, pair, output }
}

/// Probabilities of all outputs that continue this state, in the order of [`outputs`].
fn visit(state: State, rest: &[i64], alphabet: &[Event], law: &mut Vec<Interval>) {
    match rest.split_first() {
        Some((&value, rest)) if !state.halted() => {
            // `outputs` takes its continuations from the end of its stack.
            for event in alphabet.iter().rev() {
                visit(state.answer(value, event), rest, alphabet, law);
            }
        }
        _ => law.push(state.probability()),
    }
}

/// What is known after some answers: the joint weight of these answers and each value of T̂.
struct State<'a> {
    mechanism: &'a Mechanism,
    threshold: i64,
    /// Probability of the answers given under earlier draws of T̂.
    settled: Interval,
    /// P(T̂ = threshold + z and the answers under this draw), for z from −(length−1)/2 on.
    weights: Vec<f64>,
    /// Probability of all values of T̂ left out.
    tail: f64,
    hits: u32,
}

impl<'a> State<'a> {
    fn start(mechanism: &'a Mechanism, threshold: i64) -> Self {
        let (weights, tail) = threshold_law(mechanism, mechanism.threshold_scale);
        Self { mechanism, threshold, settled: Interval::ONE, weights, tail, hits: 0 }
    }

    fn halted(&self) -> bool {
        self.mechanism.hits == Some(self.hits)
    }

    /// Probability of the answers so far.
    fn probability(&self) -> Interval {
        let sum: f64 = self.weights.iter().sum();
        self.settled
            .times(Interval { lower: sum * (1.0 - FLOAT_ERROR), upper: (sum + self.tail) * (1.0 + FLOAT_ERROR) })
    }

    /// The state after one more answer.
    fn answer(&self, value: i64, event: &Event) -> Self {
        let query_noise = DiscreteLaplace::new(self.mechanism.query_scale);
        let fresh = fresh_probability(self.mechanism, value, event);
        let least = self.threshold - (self.weights.len() as i64 - 1) / 2;
        let weights = (least..)
            .zip(&self.weights)
            .map(|(noisy_threshold, weight)| {
                let range = noise_range(self.mechanism, noisy_threshold, value, event);
                weight * fresh * query_noise.mass(range.low, range.high)
            })
            .collect();
        let above = *event != Event::Below;
        let hits = self.hits + u32::from(above);
        let answered = Self { weights, hits, ..*self };
        match self.mechanism.redraw {
            Redraw::AfterHit(scale) if above && !answered.halted() => answered.redrawn(scale),
            Redraw::EveryQuery => answered.redrawn(self.mechanism.threshold_scale),
            _ => answered,
        }
    }

    fn redrawn(self, scale: f64) -> Self {
        let settled = self.probability();
        let (weights, tail) = threshold_law(self.mechanism, scale);
        Self { settled, weights, tail, ..self }
    }
}

/// P(ρ = z) for the z kept, and a bound on the probability of the others.
fn threshold_law(mechanism: &Mechanism, scale: f64) -> (Vec<f64>, f64) {
    let law = DiscreteLaplace::new(scale);
    let reach =
        if scale == 0.0 { 0 } else { (THRESHOLD_REACH * scale + QUERY_REACH * mechanism.query_scale).ceil() as i64 };
    let weights = (-reach..=reach).map(|z| law.probability(z)).collect();
    (weights, 2.0 * law.survival(reach + 1) + UNDERFLOW)
}

/// The noise values ν of the query that give this answer, given T̂: ⊤ iff ν ≥ T̂ − f.
fn noise_range(mechanism: &Mechanism, noisy_threshold: i64, value: i64, event: &Event) -> Cell {
    let margin = noisy_threshold - value;
    let (gap, released) = match *event {
        Event::Below => return Cell::at_most(margin - 1),
        Event::Above { gap, value } => (gap, value),
    };
    let from_gap = Cell { low: margin + gap.low.max(0), high: shifted(gap.high, margin) };
    match mechanism.output {
        // What is released is not what was compared.
        Output::FreshValue(_) => from_gap,
        _ => Cell {
            low: from_gap.low.max(shifted(released.low, -value)),
            high: from_gap.high.min(shifted(released.high, -value)),
        },
    }
}

/// P(the released value is in its cell | ⊤), 1 unless it has noise of its own.
fn fresh_probability(mechanism: &Mechanism, value: i64, event: &Event) -> f64 {
    match (mechanism.output, *event) {
        (Output::FreshValue(scale), Event::Above { value: cell, .. }) => {
            DiscreteLaplace::new(scale).mass(shifted(cell.low, -value), shifted(cell.high, -value))
        }
        _ => 1.0,
    }
}

/// `end + by`, infinities staying where they are.
fn shifted(end: i64, by: i64) -> i64 {
    if end == i64::MIN || end == i64::MAX { end } else { end.saturating_add(by) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::ChiSquare;
    use crate::wrong;
    use crate::{discrete_laplace, enclosure};
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    const FALSE_ALARM: f64 = 1e-6;
    /// With some twenty outputs, sees one of probability ¼ off by 0.07; does not see 0.03.
    const RUNS: usize = 4_000;

    /// Whether runs of one mechanism pass for the enumerated law of another.
    fn fits(run: &Mechanism, claimed: &Mechanism) -> bool {
        let (values, threshold) = ([0, 3, -1, 2], 1);
        let cells = Cell { low: -2, high: 6 };
        let outputs = outputs(claimed, values.len(), 4, cells);
        let probabilities: Vec<f64> =
            outputs.iter().map(|o| probability(claimed, &values, threshold, o).lower).collect();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut laplace = |scale: f64| discrete_laplace::sample(&enclosure::rational(scale), &mut rng);
        let mut counts = vec![0; outputs.len()];
        for _ in 0..RUNS {
            let answers = run.run(&values, threshold, &mut laplace);
            let agrees = |output: &Vec<Event>| {
                output.len() == answers.len() && output.iter().zip(&answers).all(|(e, a)| e.holds(a))
            };
            match outputs.iter().position(agrees) {
                Some(index) => counts[index] += 1,
                // An output the claimed mechanism cannot give.
                None => return false,
            }
        }
        ChiSquare::new(&counts, &probabilities, 10.0).accepts(FALSE_ALARM)
    }

    fn mechanisms() -> Vec<Mechanism> {
        let mut all = vec![
            Mechanism::above_threshold(2.0, 1),
            Mechanism::sparse(4.0, 2, 1),
            Mechanism::sparse(4.0, 2, 1).with_output(Output::Gap),
            Mechanism::numeric_sparse(4.5, 2, 1),
            Mechanism::lyu_su_li(1.0, 1.0, 2, 1),
            Mechanism::lyu_su_li_monotone(1.0, 1.0, 2, 1).with_output(Output::Gap),
        ];
        all.extend(wrong::catalogue(2).iter().map(|wrong| wrong.mechanism));
        all
    }

    #[test]
    fn runs_follow_the_enumerated_law() {
        for mechanism in mechanisms() {
            assert!(fits(&mechanism, &mechanism), "{mechanism:?}");
        }
    }

    #[test]
    fn runs_of_another_mechanism_do_not() {
        let right = Mechanism::sparse(4.0, 2, 1);
        for other in [
            Mechanism { threshold_scale: 2.0, ..right },
            Mechanism { query_scale: 1.0, ..right },
            Mechanism { redraw: Redraw::Never, ..right },
            Mechanism { redraw: Redraw::EveryQuery, ..right },
            Mechanism { hits: Some(3), ..right },
        ] {
            assert!(!fits(&other, &right), "{other:?}");
        }
        let numeric = Mechanism::numeric_sparse(4.5, 2, 1);
        assert!(!fits(&numeric.with_output(Output::FreshValue(1.0)), &numeric));
        assert!(!fits(&numeric.with_output(Output::ComparedValue), &numeric));
    }

    #[test]
    fn the_law_is_complete() {
        for mechanism in mechanisms() {
            let cells = Cell { low: -3, high: 3 };
            let sum = outputs(&mechanism, 3, 2, cells)
                .iter()
                .map(|output| probability(&mechanism, &[0, 1, -2], 0, output).lower)
                .sum::<f64>();
            assert!((sum - 1.0).abs() < 1e-9, "{mechanism:?}: {sum}");
        }
    }

    #[test]
    fn worst_loss_and_loss_are_one_computation() {
        let mechanism = Mechanism::numeric_sparse(1.0, 2, 1);
        let pair = universal_pair(2, 1, 1);
        let found = worst_loss(&mechanism, std::slice::from_ref(&pair), 0, 1);
        let largest = outputs(&mechanism, 3, 1, Cell { low: -2, high: 2 })
            .iter()
            .flat_map(|output| {
                let one = loss(&mechanism, &pair, 0, output);
                [one.lower, -one.upper]
            })
            .fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(found.loss.lower, largest);
    }

    #[test]
    fn both_directions_of_a_pair_are_tried() {
        // The loss of a ⊤ at 0 against 1 differs from that of a ⊥, so each direction has its own worst.
        let mechanism = Mechanism::above_threshold(1.0, 1);
        let pair = universal_pair(3, 1, 1);
        let swapped = Pair { first: pair.second.clone(), second: pair.first.clone() };
        let one = worst_loss(&mechanism, std::slice::from_ref(&pair), 0, 0);
        let other = worst_loss(&mechanism, &[swapped], 0, 0);
        assert_eq!(one, other);
        assert_eq!((one.pair, one.output), (pair, Event::run(3, 1)));
    }

    #[test]
    fn pairs_are_all_neighbours_and_all_there() {
        let free = neighbouring_pairs(2, -1, 1, 2, Movement::Free);
        assert_eq!(free.len(), 9 * 25);
        let together = neighbouring_pairs(2, -1, 1, 2, Movement::Together);
        assert_eq!(together.len(), 9 * 9);
        for pair in together {
            assert!(pair.first.iter().zip(&pair.second).all(|(a, b)| (0..=2).contains(&(b - a))));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Only distances to the threshold matter.
        #[test]
        fn a_common_shift_changes_nothing(
            values in proptest::collection::vec(-6_i64..6, 3),
            shift in -1_000_000_i64..1_000_000,
            scale in 0.3_f64..4.0,
        ) {
            let mechanism = Mechanism::restarted(scale, 2.0 * scale, 2, Output::Gap);
            let moved: Vec<i64> = values.iter().map(|value| value + shift).collect();
            for output in outputs(&mechanism, 3, 1, Cell::exactly(0)) {
                let here = probability(&mechanism, &values, 0, &output);
                let there = probability(&mechanism, &moved, shift, &output);
                prop_assert_eq!(here, there);
            }
        }

        /// A higher answer is never less likely to be above.
        #[test]
        fn answers_are_monotone_in_the_query(value in -20_i64..20, scale in 0.3_f64..4.0) {
            let mechanism = Mechanism::above_threshold(1.0 / scale, 1);
            let above = |value| probability(&mechanism, &[value], 0, &[Event::ABOVE]).lower;
            prop_assert!(above(value) < above(value + 1));
        }
    }
}
