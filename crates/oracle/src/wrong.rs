//! Mechanisms that are wrong on purpose, each with the pair of streams and the output that gives it away.
//!
//! Four are published mistakes, collected by Lyu, Su and Li (PVLDB 10(6), 2017; "LSL17", numbered as
//! there); the others are slips that an implementation of a right mechanism could make. All claim to be
//! ε-differentially private for queries of sensitivity `unit` grid units, and none is.
//! An auditor that does not catch every one of [`catalogue`] is blind.

use crate::enumeration::{Cell, Event, Interval, Pair, universal_pair};
use crate::mechanism::{Mechanism, Output, Redraw};
use crate::selection;
use dashu_ratio::RBig;

/// LSL17's Algorithm 3 (Roth's lecture notes, 2011): releases the compared value f + ν itself. Seeing it
/// bounds T̂ from above for free, and every earlier ⊥ becomes informative. No ε′ holds for long streams.
pub fn compared_value_released(epsilon: f64, hits: u32, unit: i64) -> Mechanism {
    not_doubled(epsilon, hits, unit).with_output(Output::ComparedValue)
}

/// LSL17's Algorithm 4 (Lee, Clifton 2014): ρ of scale 4/ε, ν of scale 4/(3ε) whatever c.
/// Only (1+6c)ε/4-private.
pub fn lee_clifton(epsilon: f64, hits: u32, unit: i64) -> Mechanism {
    let unit = unit as f64;
    Mechanism::no_redraw(4.0 * unit / epsilon, 4.0 * unit / (3.0 * epsilon), hits, Output::Verdict)
}

/// LSL17's Algorithm 5 (Stoddard and others 2014): no query noise, never stops. No ε′ at all.
pub fn without_query_noise(epsilon: f64, unit: i64) -> Mechanism {
    Mechanism {
        threshold_scale: 2.0 * unit as f64 / epsilon,
        redraw: Redraw::Never,
        query_scale: 0.0,
        hits: None,
        output: Output::Verdict,
    }
}

/// LSL17's Algorithm 6 (Chen and others 2015): ν of scale 2/ε, never stops. No ε′ for long streams.
pub fn chen(epsilon: f64, unit: i64) -> Mechanism {
    Mechanism { query_scale: 2.0 * unit as f64 / epsilon, ..without_query_noise(epsilon, unit) }
}

/// ν of scale c/ε₂ instead of 2c/ε₂ where answers may move either way: loses up to 3ε/2.
pub fn not_doubled(epsilon: f64, hits: u32, unit: i64) -> Mechanism {
    Mechanism::lyu_su_li_monotone(epsilon / 2.0, epsilon / 2.0, hits, unit)
}

/// The monotone mechanism asked q − q̂ and q̂ − q: what raises the one lowers the other, so the stream is
/// not monotone and the factor 2 is missing, as in [`not_doubled`].
pub fn monotone_with_signed_pairs(epsilon: f64, hits: u32, unit: i64) -> Mechanism {
    not_doubled(epsilon, hits, unit)
}

/// AboveThreshold with its two scales exchanged.
pub fn scales_swapped(epsilon: f64, unit: i64) -> Mechanism {
    let right = Mechanism::above_threshold(epsilon, unit);
    Mechanism { threshold_scale: right.query_scale, query_scale: right.threshold_scale, ..right }
}

/// AboveThreshold against the exact threshold: loses ε/4 more with each ⊥.
pub fn without_threshold_noise(epsilon: f64, unit: i64) -> Mechanism {
    Mechanism { threshold_scale: 0.0, ..Mechanism::above_threshold(epsilon, unit) }
}

/// LSL17's Algorithm 1 with ν of scale 2/ε₂ whatever c.
pub fn query_noise_not_scaled_by_hits(epsilon: f64, hits: u32, unit: i64) -> Mechanism {
    Mechanism { hits: Some(hits), ..Mechanism::above_threshold(epsilon, unit) }
}

/// AboveThreshold that goes on after its ⊤.
pub fn never_stops(epsilon: f64, unit: i64) -> Mechanism {
    Mechanism { hits: None, ..Mechanism::above_threshold(epsilon, unit) }
}

/// AboveThreshold that stops after two ⊤.
pub fn stops_one_late(epsilon: f64, unit: i64) -> Mechanism {
    query_noise_not_scaled_by_hits(epsilon, 2, unit)
}

/// AboveThreshold that draws ρ anew for every query: ⊥ is no longer free.
pub fn threshold_redrawn_for_every_query(epsilon: f64, unit: i64) -> Mechanism {
    Mechanism { redraw: Redraw::EveryQuery, ..Mechanism::above_threshold(epsilon, unit) }
}

/// AboveThreshold that releases the gap, which alone is free, and the compared value with it: their
/// difference is T̂, and with T̂ known every ⊥ is paid for by nobody.
pub fn gap_and_value_released(epsilon: f64, unit: i64) -> Mechanism {
    Mechanism::above_threshold(epsilon, unit).with_output(Output::GapAndComparedValue)
}

/// LSL17's Algorithm 1 with ρ drawn again after each ⊤ at the scale that pays for a single draw: the
/// threshold's share ε/2 is spent c times.
pub fn redrawn_at_the_scale_of_one_draw(epsilon: f64, hits: u32, unit: i64) -> Mechanism {
    let right = Mechanism::lyu_su_li(epsilon / 2.0, epsilon / 2.0, hits, unit);
    Mechanism { redraw: Redraw::AfterHit(right.threshold_scale), ..right }
}

/// Permute-and-flip without the permutation: coins in the order of the candidates. A candidate before another with the largest
/// score is impossible to miss where it ties with it, and not where it does not: no ε′ at all. Probability of each candidate.
///
/// # Panics
///
/// As [`selection::permute_and_flip`].
pub fn flips_in_a_fixed_order(scores: &[i64], scale: &RBig) -> Vec<Interval> {
    selection::first_heads(scores, scale, |_| vec![(0..scores.len()).collect()])
}

/// A wrong mechanism caught: more than e^ε times likelier on one stream of the pair than on the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Counterexample {
    /// What is wrong.
    pub name: &'static str,
    /// The mechanism, claiming ε = 1.
    pub mechanism: Mechanism,
    /// Neighbouring streams, for queries of the sensitivity asked for.
    pub pair: Pair,
    /// The threshold.
    pub threshold: i64,
    /// An output that is likelier on the first stream.
    pub output: Vec<Event>,
    /// Its loss with real-valued noise, by numerical integration; infinite where the output is
    /// impossible on the second stream; `None` where no reference value exists.
    pub continuous_loss: Option<f64>,
}

/// Every wrong mechanism at ε = 1 with its counterexample, for queries of sensitivity `unit` grid units.
///
/// `unit` must be even: one counterexample has its threshold half a unit up.
/// The larger it is, the closer the discrete mechanism is to the papers' continuous one.
///
/// # Panics
///
/// If `unit` is odd or not positive.
///
/// ```
/// use tamis_oracle::{enumeration, wrong};
/// for caught in wrong::catalogue(4) {
///     let loss = enumeration::loss(&caught.mechanism, &caught.pair, caught.threshold, &caught.output);
///     assert!(loss.lower > 1.0, "{}", caught.name);
/// }
/// ```
pub fn catalogue(unit: i64) -> Vec<Counterexample> {
    assert!(unit > 0 && unit % 2 == 0, "the unit must be even and positive, got {unit}");
    let universal = |name, mechanism, below, above, continuous_loss| Counterexample {
        name,
        mechanism,
        pair: universal_pair(below, above, unit),
        threshold: 0,
        output: Event::run(below, above),
        continuous_loss,
    };
    // Threshold 0, m answers 0 then one 0: they move up together, and it moves down.
    let with_last = |name, mechanism, below, last: Event, continuous_loss| Counterexample {
        name,
        mechanism,
        pair: universal_pair(below, 1, unit),
        threshold: 0,
        output: [vec![Event::Below; below], vec![last]].concat(),
        continuous_loss,
    };
    vec![
        universal("ν without the factor 2, m=4", not_doubled(1.0, 1, unit), 4, 1, Some(1.422)),
        universal("ν without the factor 2, m=8", not_doubled(1.0, 1, unit), 8, 1, Some(1.496)),
        universal("scales swapped", scales_swapped(1.0, unit), 4, 1, Some(1.220)),
        universal("no threshold noise", without_threshold_noise(1.0, unit), 6, 1, Some(1.75)),
        universal("Lee–Clifton, c=1", lee_clifton(1.0, 1, unit), 4, 1, Some(1.728)),
        universal("Lee–Clifton, c=2", lee_clifton(1.0, 2, unit), 4, 2, Some(3.136)),
        universal("ν not multiplied by c, c=3", query_noise_not_scaled_by_hits(1.0, 3, unit), 4, 3, Some(1.521)),
        universal("ν not multiplied by c, c=2", query_noise_not_scaled_by_hits(1.0, 2, unit), 6, 2, Some(1.386)),
        universal("Chen and others, ⊥²⊤²", chen(1.0, unit), 2, 2, Some(1.704)),
        universal("Chen and others, ⊥³⊤³", chen(1.0, unit), 3, 3, Some(2.617)),
        universal("never stops", never_stops(1.0, unit), 4, 4, Some(1.778)),
        Counterexample {
            name: "stops one late",
            mechanism: stops_one_late(1.0, unit),
            pair: Pair {
                first: [[0; 4].as_slice(), &[unit; 2]].concat(),
                second: [[unit; 4].as_slice(), &[0; 2]].concat(),
            },
            threshold: 0,
            output: Event::run(4, 2),
            continuous_loss: Some(1.167),
        },
        Counterexample {
            name: "threshold redrawn for every query",
            mechanism: threshold_redrawn_for_every_query(1.0, unit),
            pair: Pair { first: vec![0; 32], second: vec![unit; 32] },
            threshold: 6 * unit,
            output: Event::run(32, 0),
            continuous_loss: Some(1.403),
        },
        Counterexample {
            name: "no query noise",
            mechanism: without_query_noise(1.0, unit),
            pair: Pair { first: vec![0, unit], second: vec![unit, 0] },
            threshold: unit / 2,
            output: Event::run(1, 1),
            continuous_loss: Some(f64::INFINITY),
        },
        with_last(
            "compared value released",
            compared_value_released(1.0, 1, unit),
            4,
            Event::value(Cell::at_most(3 * unit)),
            Some(1.815),
        ),
        Counterexample {
            name: "compared value released, last answer unmoved",
            mechanism: compared_value_released(1.0, 1, unit),
            pair: Pair { first: vec![0; 5], second: [[unit; 4].as_slice(), &[0]].concat() },
            threshold: 0,
            output: [vec![Event::Below; 4], vec![Event::value(Cell::at_most(0))]].concat(),
            continuous_loss: Some(2.0),
        },
        Counterexample {
            name: "monotone noise, q − q̂ asked six times and then q̂ − q",
            mechanism: monotone_with_signed_pairs(1.0, 1, unit),
            // q − q̂ rises from 0 to 1, so q̂ − q falls from 0 to −1.
            pair: universal_pair(6, 1, unit),
            threshold: 0,
            output: Event::run(6, 1),
            continuous_loss: None,
        },
        with_last(
            "gap and compared value released",
            gap_and_value_released(1.0, unit),
            6,
            // T̂ = value − gap ≤ 0.
            Event::Above { gap: Cell::at_least(4 * unit), value: Cell::at_most(4 * unit) },
            None,
        ),
        Counterexample {
            name: "threshold redrawn at the scale of one draw",
            mechanism: redrawn_at_the_scale_of_one_draw(1.0, 3, unit),
            pair: interleaved_pair(6, 3, unit),
            threshold: 0,
            output: (0..3).flat_map(|_| Event::run(6, 1)).collect(),
            continuous_loss: None,
        },
    ]
}

/// The universal pair U(m, 1), c times over: what a redraw after each ⊤ calls for.
pub fn interleaved_pair(below: usize, hits: usize, sensitivity: i64) -> Pair {
    let one = universal_pair(below, 1, sensitivity);
    Pair { first: one.first.repeat(hits), second: one.second.repeat(hits) }
}
