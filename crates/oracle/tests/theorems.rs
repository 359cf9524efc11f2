//! The privacy theorems of the sparse vector, by exact enumeration: every output of every pair of small
//! neighbouring streams, and the universal pair, where a right mechanism comes close to its ε.
//!
//! A loss is known to 4e-10 for each draw of the threshold (see `enumeration`'s module documentation),
//! and the upper end of that interval must not pass ε; only on long streams, where the loss comes closer
//! to ε than that, may it pass by [`ARITHMETIC`]. The bound alone would also hold for a mechanism that
//! answers nothing, so each theorem has its power beside it: a loss of at least 0.9·ε somewhere.

use tamis_oracle::enumeration::{
    Cell, Event, Interval, Movement, Pair, loss, neighbouring_pairs, universal_pair, worst_loss,
};
use tamis_oracle::mechanism::{Mechanism, Output};
use tamis_oracle::wrong::interleaved_pair;

/// Width of an enclosed loss with up to three draws of the threshold.
const ARITHMETIC: f64 = 2e-9;

/// Every output of every pair of streams of `length` queries within two units of the threshold.
fn is_private(mechanism: &Mechanism, epsilon: f64, length: usize, unit: i64, movement: Movement) {
    let pairs = neighbouring_pairs(length, -2, 2, unit, movement);
    // Fresh values need no reach: beyond all answers the ratio is constant.
    let reach = if mechanism.output == Output::Gap { 4 } else { 0 };
    let worst = worst_loss(mechanism, &pairs, 0, reach);
    assert!(worst.loss.upper <= epsilon, "{mechanism:?} loses {:?} at {:?} {:?}", worst.loss, worst.pair, worst.output);
}

/// One output of one long pair: at most ε, and at least nine tenths of it.
fn is_tight(mechanism: &Mechanism, epsilon: f64, pair: &Pair, output: &[Event]) {
    let Interval { lower, upper } = loss(mechanism, pair, 0, output);
    assert!(upper - lower <= ARITHMETIC, "{mechanism:?}: {lower} to {upper}");
    assert!(upper <= epsilon + ARITHMETIC, "{mechanism:?} loses {upper}");
    assert!(lower >= 0.9 * epsilon, "no power: {mechanism:?} loses only {lower}");
}

/// `hits` runs of ⊥^below and a ⊤.
fn runs(below: usize, hits: usize, last: Event) -> Vec<Event> {
    (0..hits).flat_map(|_| [vec![Event::Below; below], vec![last]].concat()).collect()
}

#[test]
fn theorem_3_23_above_threshold_is_private() {
    for epsilon in [0.5, 1.0, 3.0] {
        for unit in [1, 2] {
            let mechanism = Mechanism::above_threshold(epsilon, unit);
            is_private(&mechanism, epsilon, 3, unit, Movement::Free);
            is_tight(&mechanism, epsilon, &universal_pair(8, 1, unit), &Event::run(8, 1));
            // No matter how long the stream is.
            is_tight(&mechanism, epsilon, &universal_pair(300, 1, unit), &Event::run(300, 1));
        }
    }
}

#[test]
fn theorem_3_25_sparse_is_private() {
    for epsilon in [0.5, 1.0, 3.0] {
        for hits in [2, 3] {
            let mechanism = Mechanism::sparse(epsilon, hits, 1);
            is_private(&mechanism, epsilon, 3, 1, Movement::Free);
            let hits = hits as usize;
            is_tight(&mechanism, epsilon, &interleaved_pair(10, hits, 1), &runs(10, hits, Event::ABOVE));
        }
    }
}

#[test]
fn theorem_3_27_numeric_sparse_is_private() {
    for epsilon in [1.0, 3.0] {
        for hits in [1, 2] {
            let mechanism = Mechanism::numeric_sparse(epsilon, hits, 1);
            is_private(&mechanism, epsilon, 3, 1, Movement::Free);
            let hits = hits as usize;
            // The value falls with the query: one at or above the query's answer is likelier before.
            is_tight(
                &mechanism,
                epsilon,
                &interleaved_pair(10, hits, 1),
                &runs(10, hits, Event::value(Cell::at_least(0))),
            );
        }
    }
}

#[test]
fn the_value_noise_of_numeric_sparse_needs_the_factor_two() {
    // What the book's σ = 2c/ε₂ pays for with ε₂ = 2ε/9: at c/ε₂ the budget is overspent.
    let right = Mechanism::numeric_sparse(1.0, 1, 1);
    let Output::FreshValue(scale) = right.output else { panic!("the value has its own noise") };
    let halved = right.with_output(Output::FreshValue(scale / 2.0));
    let output = runs(10, 1, Event::value(Cell::at_least(0)));
    assert!(loss(&halved, &universal_pair(10, 1, 1), 0, &output).lower > 1.0);
}

#[test]
fn lyu_su_li_without_redraw_is_private() {
    for hits in [1_u32, 2, 3] {
        // Even, for the least variance (1 : (2c)^(2/3)), and lopsided the other way.
        for share in [0.5, 1.0 / (1.0 + (2.0 * f64::from(hits)).powf(2.0 / 3.0)), 0.9] {
            let mechanism = Mechanism::lyu_su_li(share, 1.0 - share, hits, 1);
            is_private(&mechanism, 1.0, 3, 1, Movement::Free);
            let hits = hits as usize;
            is_tight(&mechanism, 1.0, &universal_pair(400, hits, 1), &Event::run(400, hits));
        }
    }
}

/// For monotone streams: m answers that move up, and then c that stay.
fn monotone_pair(below: usize, above: usize) -> Pair {
    Pair { first: vec![0; below + above], second: [vec![1; below], vec![0; above]].concat() }
}

#[test]
fn lyu_su_li_for_monotone_streams_is_private() {
    for hits in [1_u32, 2, 3] {
        for share in [0.5, 1.0 / (1.0 + f64::from(hits).powf(2.0 / 3.0))] {
            let mechanism = Mechanism::lyu_su_li_monotone(share, 1.0 - share, hits, 1);
            is_private(&mechanism, 1.0, 4, 1, Movement::Together);
            let hits = hits as usize;
            is_tight(&mechanism, 1.0, &monotone_pair(40, hits), &Event::run(40, hits));
            // And it is for monotone streams only.
            let free = loss(&mechanism, &universal_pair(40, hits, 1), 0, &Event::run(40, hits));
            assert!(free.lower > 1.2, "{free:?}");
        }
    }
}

#[test]
fn one_restarted_run_is_private_at_any_split() {
    // The per-run loss ε₀ = ε₁ + ε₂ that composition bounds are applied to.
    for (epsilon_1, epsilon_2) in [(0.1, 0.4), (0.5, 0.5), (1.2, 0.3)] {
        let general = Mechanism::restarted(1.0 / epsilon_1, 2.0 / epsilon_2, 1, Output::Verdict);
        is_private(&general, epsilon_1 + epsilon_2, 3, 1, Movement::Free);
        is_tight(&general, epsilon_1 + epsilon_2, &universal_pair(60, 1, 1), &Event::run(60, 1));
        let monotone = Mechanism::restarted(1.0 / epsilon_1, 1.0 / epsilon_2, 1, Output::Verdict);
        is_private(&monotone, epsilon_1 + epsilon_2, 3, 1, Movement::Together);
        is_tight(&monotone, epsilon_1 + epsilon_2, &monotone_pair(60, 1), &Event::run(60, 1));
    }
}

#[test]
fn the_gap_is_free_with_redraw() {
    for hits in [1, 2] {
        let mechanism = Mechanism::sparse(1.0, hits, 1).with_output(Output::Gap);
        is_private(&mechanism, 1.0, 3, 1, Movement::Free);
        let hits = hits as usize;
        is_tight(&mechanism, 1.0, &interleaved_pair(12, hits, 1), &runs(12, hits, Event::gap(Cell::exactly(3))));
    }
}

#[test]
fn the_gap_is_free_without_redraw() {
    for hits in [1, 2] {
        let mechanism = Mechanism::lyu_su_li(0.5, 0.5, hits, 1).with_output(Output::Gap);
        is_private(&mechanism, 1.0, 3, 1, Movement::Free);
        let hits = hits as usize;
        let output = [vec![Event::Below; 20], vec![Event::gap(Cell::exactly(0)); hits]].concat();
        is_tight(&mechanism, 1.0, &universal_pair(20, hits, 1), &output);
    }
}

#[test]
fn the_gap_is_free_for_monotone_streams() {
    for hits in [1, 2] {
        let mechanism = Mechanism::lyu_su_li_monotone(0.5, 0.5, hits, 1).with_output(Output::Gap);
        is_private(&mechanism, 1.0, 3, 1, Movement::Together);
        let hits = hits as usize;
        let output = [vec![Event::Below; 20], vec![Event::gap(Cell::exactly(0)); hits]].concat();
        is_tight(&mechanism, 1.0, &monotone_pair(20, hits), &output);
    }
}

#[test]
fn sensitivity_is_in_grid_units() {
    // Scales for one unit do not serve queries of sensitivity two.
    let mechanism = Mechanism::above_threshold(1.0, 1);
    let found = loss(&mechanism, &universal_pair(8, 1, 2), 0, &Event::run(8, 1));
    assert!(found.lower > 1.5, "{found:?}");
}
