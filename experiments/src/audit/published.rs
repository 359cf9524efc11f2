//! What other auditors have published, found again: mechanisms that claim ε = 0.1 as DP-Sniper (Bichsel, Steffen, Bogunovic,
//! Vechev, IEEE S&P 2021) attacks them, with the real-valued noise that they have there.
//!
//! DP-Sniper estimates the largest loss of an event, randomised if need be, that has at least probability 0.01 on both
//! inputs. That loss is known here by arithmetic, and so is the event: it is counted.
//!
//! Only what is described well enough to be the same is here: the input patterns are those of StatDP (Ding, Wang, Wang,
//! Zhang, Kifer, CCS 2018), and of them the one with the largest loss.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use rand::RngExt;
use tamis_harness::TrialRng;
use tamis_harness::audit::{Claim, Number, Subject};
use tamis_oracle::continuous_laplace;
use tamis_oracle::enumeration::{Cell, Event, Pair, outputs, probability};
use tamis_oracle::mechanism::Mechanism;
use tamis_oracle::wrong;

use super::sparse_vector::in_words;
use super::{Audited, Published};

/// What all of them claim.
const EPSILON: f64 = 0.1;
/// The least probability of an event, on the input where it is less likely.
const FLOOR: f64 = 0.01;
/// The name of the event that is counted.
pub const EVENT: &str = "most telling of probability 0.01";
/// Grid units of a query in the arithmetic: one threshold is ½.
const UNIT: i64 = 2;

/// All of them: estimate and lower bound of DP-Sniper with logistic regression.
pub fn subjects() -> Vec<Audited> {
    // The likelier input of a pair is the first.
    let (ones, halves) = ([1; 10], [0, 0, 0, 0, 0, 2, 2, 2, 2, 2]);
    let crossed = [[0, 0, 0, 0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]];
    let figure_1 = |unit| Mechanism::lyu_su_li(EPSILON / 2.0, EPSILON / 2.0, 1, unit);
    vec![
        laplace(Published { estimate: 0.0991, lower: 0.0968 }),
        noisy_histogram_2(Published { estimate: 4.603, lower: 4.602 }),
        noisy_max_3(Published { estimate: 0.2500, lower: 0.2478 }),
        noisy_max_4(Published { estimate: 0.3485, lower: 0.3463 }),
        sparse_vector("SVT1", figure_1, crossed, 0.5, Published { estimate: 0.0881, lower: 0.0858 }),
        sparse_vector(
            "SVT2",
            |unit| Mechanism::sparse(EPSILON, 1, unit),
            crossed,
            1.0,
            Published { estimate: 0.0882, lower: 0.0859 },
        ),
        sparse_vector(
            "SVT4",
            |unit| wrong::lee_clifton(EPSILON, 1, unit),
            crossed,
            1.0,
            Published { estimate: 0.1709, lower: 0.1687 },
        ),
        sparse_vector(
            "SVT5",
            |unit| wrong::without_query_noise(EPSILON, unit),
            [halves, ones],
            1.0,
            Published { estimate: 1.763, lower: 1.761 },
        ),
        sparse_vector(
            "SVT6",
            |unit| wrong::chen(EPSILON, unit),
            [ones, halves],
            1.0,
            Published { estimate: 0.2742, lower: 0.2720 },
        ),
    ]
}

/// A mechanism with one released real number, on two inputs; the event is that `holds` of it.
fn number<I: Send + Sync + 'static>(
    name: &str,
    pair: &str,
    inputs: [I; 2],
    draw: impl Fn(&I, &mut TrialRng) -> f64 + Send + Sync + 'static,
    holds: impl Fn(f64) -> bool + Send + Sync + 'static,
) -> Subject {
    Subject::new(name, pair, Claim::pure(EPSILON), inputs, move |input, rng, seen| seen.real(draw(input, rng)))
        .event(EVENT, move |seen| matches!(seen.numbers(), [Number::Real(value)] if holds(*value)))
}

/// One count, 1 or 0, with noise of scale 1/ε: any half-line above both has the loss ε.
fn laplace(published: Published) -> Audited {
    let draw = |count: &f64, rng: &mut TrialRng| count + continuous_laplace::sample(1.0 / EPSILON, rng);
    Audited::published(number("Laplace", "1 → 0", [1.0, 0.0], draw, |value| value >= 1.0), published, || EPSILON)
}

/// The same with noise of scale ε, StatDP's NoisyHist2: at the floor the loss is far below the true one, 10.
fn noisy_histogram_2(published: Published) -> Audited {
    let draw = |count: &f64, rng: &mut TrialRng| count + continuous_laplace::sample(EPSILON, rng);
    // P(Lap(ε) ≥ x) = e^(−x/ε)/2 on count 0.
    let least = -EPSILON * (2.0 * FLOOR).ln();
    let loss = move || (1.0 - 0.5 * ((least - 1.0) / EPSILON).exp()).ln() - FLOOR.ln();
    Audited::published(number("NoisyHist2", "1 → 0", [1.0, 0.0], draw, move |value| value >= least), published, loss)
}

/// The largest of five counts with noise of scale 2/ε, released as a number: StatDP's NoisyMax3.
fn noisy_max_3(published: Published) -> Audited {
    largest_of_five(
        "NoisyMax3",
        published,
        |rng| continuous_laplace::sample(2.0 / EPSILON, rng),
        |x| continuous_laplace::distribution(2.0 / EPSILON, x),
    )
}

/// The same with exponential noise: NoisyMax4.
fn noisy_max_4(published: Published) -> Audited {
    largest_of_five(
        "NoisyMax4",
        published,
        |rng| continuous_laplace::sample(2.0 / EPSILON, rng).abs(),
        |x| -(-x.max(0.0) * EPSILON / 2.0).exp_m1(),
    )
}

/// Five counts, all 0 or all 1. The largest is at most t with probability F(t)⁵ or F(t − 1)⁵; t is where the latter is the
/// floor.
fn largest_of_five(
    name: &str,
    published: Published,
    noise: fn(&mut TrialRng) -> f64,
    distribution: fn(f64) -> f64,
) -> Audited {
    let draw =
        move |count: &f64, rng: &mut TrialRng| (0..5).map(|_| count + noise(rng)).fold(f64::NEG_INFINITY, f64::max);
    let (mut low, mut high) = (-1000.0, 1000.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if distribution(middle - 1.0).powi(5) < FLOOR { low = middle } else { high = middle }
    }
    let loss = move || 5.0 * (distribution(low) / distribution(low - 1.0)).ln();
    Audited::published(number(name, "0×5 → 1×5", [0.0, 1.0], draw, move |value| value <= low), published, loss)
}

/// A sparse vector on ten queries.
struct SparseVector {
    /// By the units of a query.
    mechanism: fn(i64) -> Mechanism,
    pair: [[i64; 10]; 2],
    threshold: f64,
    /// Takes seconds of arithmetic, once.
    telling: OnceLock<Telling>,
}

/// An event: some verdicts, and in a share of the cases others.
struct Telling {
    always: HashSet<Vec<bool>>,
    sometimes: Vec<bool>,
    share: f64,
    loss: f64,
}

impl SparseVector {
    fn telling(&self) -> &Telling {
        self.telling.get_or_init(|| self.most_telling())
    }

    /// Neyman and Pearson: the outputs of the largest ratio, as many as the floor takes, the last in part.
    fn most_telling(&self) -> Telling {
        let mechanism = (self.mechanism)(UNIT);
        let likely = |values: &[i64; 10], output: &[Event]| {
            let threshold = (self.threshold * UNIT as f64) as i64;
            probability(&mechanism, &values.map(|value| value * UNIT), threshold, output).lower
        };
        let [first, second] = &self.pair;
        let with_both = |output: &Vec<Event>| {
            let verdicts: Vec<bool> = output.iter().map(|&event| event != Event::Below).collect();
            (verdicts, likely(first, output), likely(second, output))
        };
        let mut all: Vec<_> = outputs(&mechanism, first.len(), 0, Cell::exactly(0)).iter().map(with_both).collect();
        all.sort_by(|(_, p, q), (_, other, others)| (other / others).total_cmp(&(p / q)));
        let mut telling = Telling { always: HashSet::new(), sometimes: Vec::new(), share: 0.0, loss: 0.0 };
        let (mut p, mut q) = (0.0, 0.0);
        for (verdicts, likelier, other) in all {
            if q + other >= FLOOR {
                telling.share = (FLOOR - q) / other;
                telling.loss = ((p + telling.share * likelier) / FLOOR).ln();
                telling.sometimes = verdicts;
                break;
            }
            (p, q) = (p + likelier, q + other);
            telling.always.insert(verdicts);
        }
        telling
    }
}

fn sparse_vector(
    name: &str,
    mechanism: fn(i64) -> Mechanism,
    pair: [[i64; 10]; 2],
    threshold: f64,
    published: Published,
) -> Audited {
    let it = Arc::new(SparseVector { mechanism, pair, threshold, telling: OnceLock::new() });
    let (tossing, judging, knowing) = (Arc::clone(&it), Arc::clone(&it), it);
    let real = mechanism(1);
    let inputs = pair.map(|values| values.map(|value| value as f64));
    let pair_name =
        format!("{}, T = {threshold}", in_words(&Pair { first: pair[0].to_vec(), second: pair[1].to_vec() }, 1));
    let subject = Subject::new(name, pair_name, Claim::pure(EPSILON), inputs, move |values: &[f64; 10], rng, seen| {
        let answers = real.run(values, threshold, &mut |scale| continuous_laplace::sample(scale, rng));
        answers.iter().for_each(|answer| seen.mark(if answer.is_above() { "⊤" } else { "⊥" }));
        // The coin that makes the event random.
        seen.mark(if rng.random_bool(tossing.telling().share) { "heads" } else { "tails" });
    })
    .event(EVENT, move |seen| {
        let Telling { always, sometimes, .. } = judging.telling();
        let verdicts: Vec<bool> =
            seen.items().filter(|item| matches!(*item, "⊥" | "⊤")).map(|item| item == "⊤").collect();
        always.contains(&verdicts) || (verdicts == *sometimes && seen.items().any(|item| item == "heads"))
    });
    Audited::published(subject, published, move || knowing.telling().loss)
}
