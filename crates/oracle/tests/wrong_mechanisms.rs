//! Every mechanism that is wrong on purpose loses more than it claims, by arithmetic; and the enumerator
//! reproduces the losses known from numerical integration of the continuous mechanisms.

use tamis_oracle::enumeration::{
    Event, Interval, Movement, Pair, loss, neighbouring_pairs, probability, universal_pair, worst_loss,
};
use tamis_oracle::mechanism::{Mechanism, Redraw};
use tamis_oracle::wrong::{self, Counterexample, catalogue, interleaved_pair};

/// Grid units that a query of sensitivity 1 spans here: few, so that it is the integer mechanism
/// that is judged.
const UNIT: i64 = 2;

/// The loss on the counterexample is above ε = 1, and the streams of the pair are neighbours.
fn is_caught(mechanism: Mechanism) {
    let found: Vec<Counterexample> = catalogue(UNIT).into_iter().filter(|wrong| wrong.mechanism == mechanism).collect();
    assert!(!found.is_empty(), "{mechanism:?} is not in the catalogue");
    for wrong in found {
        for (first, second) in wrong.pair.first.iter().zip(&wrong.pair.second) {
            assert!((first - second).abs() <= UNIT, "{}: not neighbours", wrong.name);
        }
        let loss = loss(&wrong.mechanism, &wrong.pair, wrong.threshold, &wrong.output);
        assert!(loss.lower > 1.0, "{}: {loss:?}", wrong.name);
    }
}

#[test]
fn lyu_su_li_3_compared_value_released_is_caught() {
    is_caught(wrong::compared_value_released(1.0, 1, UNIT));
}

#[test]
fn lyu_su_li_4_lee_clifton_is_caught() {
    is_caught(wrong::lee_clifton(1.0, 1, UNIT));
    is_caught(wrong::lee_clifton(1.0, 2, UNIT));
}

#[test]
fn lyu_su_li_5_without_query_noise_is_caught() {
    is_caught(wrong::without_query_noise(1.0, UNIT));
}

#[test]
fn lyu_su_li_6_chen_is_caught() {
    is_caught(wrong::chen(1.0, UNIT));
}

#[test]
fn query_noise_not_doubled_is_caught() {
    is_caught(wrong::not_doubled(1.0, 1, UNIT));
}

#[test]
fn monotone_noise_on_signed_pairs_is_caught() {
    is_caught(wrong::monotone_with_signed_pairs(1.0, 1, UNIT));
}

#[test]
fn scales_swapped_is_caught() {
    is_caught(wrong::scales_swapped(1.0, UNIT));
}

#[test]
fn no_threshold_noise_is_caught() {
    is_caught(wrong::without_threshold_noise(1.0, UNIT));
}

#[test]
fn query_noise_not_scaled_by_hits_is_caught() {
    is_caught(wrong::query_noise_not_scaled_by_hits(1.0, 2, UNIT));
    is_caught(wrong::query_noise_not_scaled_by_hits(1.0, 3, UNIT));
}

#[test]
fn never_stopping_is_caught() {
    is_caught(wrong::never_stops(1.0, UNIT));
}

#[test]
fn stopping_one_late_is_caught() {
    is_caught(wrong::stops_one_late(1.0, UNIT));
}

#[test]
fn a_threshold_redrawn_for_every_query_is_caught() {
    is_caught(wrong::threshold_redrawn_for_every_query(1.0, UNIT));
}

#[test]
fn gap_and_compared_value_together_are_caught() {
    is_caught(wrong::gap_and_value_released(1.0, UNIT));
}

#[test]
fn a_redraw_at_the_scale_of_one_draw_is_caught() {
    is_caught(wrong::redrawn_at_the_scale_of_one_draw(1.0, 3, UNIT));
}

#[test]
fn the_table_of_continuous_losses_is_reproduced() {
    // A hundred grid units to one: what is left of the grid is below 0.002, and the table is rounded to
    // 0.0005.
    for wrong in catalogue(100) {
        let found = loss(&wrong.mechanism, &wrong.pair, wrong.threshold, &wrong.output);
        match wrong.continuous_loss {
            Some(f64::INFINITY) => {
                // Impossible on the second stream but for the tail that was cut.
                assert!(found.lower > 50.0 && found.upper == f64::INFINITY, "{}", wrong.name);
            }
            Some(known) => {
                assert!((found.lower - known).abs() < 0.0025, "{}: {found:?} {known}", wrong.name);
            }
            None => {}
        }
    }
    // The right mechanisms of the same table: loss, and probability on the first stream.
    let right = Mechanism::above_threshold(1.0, 100);
    for (below, known, likely) in [(4, 0.849, 0.0354), (6, 0.949, 0.0155), (8, 0.984, 0.0080), (10, 0.995, 0.0047)] {
        let (pair, output) = (universal_pair(below, 1, 100), Event::run(below, 1));
        let found = loss(&right, &pair, 0, &output);
        assert!((found.lower - known).abs() < 0.0025, "{below}: {found:?}");
        let p = probability(&right, &pair.first, 0, &output);
        assert!((p.lower - likely).abs() < 1e-4, "{below}: {p:?}");
    }
    let book = Mechanism::sparse(1.0, 2, 100);
    assert_eq!(book.redraw, Redraw::AfterHit(book.threshold_scale));
    let output = [Event::run(8, 1), Event::run(8, 1)].concat();
    let found = loss(&book, &interleaved_pair(8, 2, 100), 0, &output);
    assert!((found.lower - 0.979).abs() < 0.0025, "{found:?}");
}

#[test]
fn the_grid_vanishes_as_it_is_refined() {
    // The distance to the continuous loss falls with the unit: the enumerator has no other error.
    let error = |unit| {
        let pair = universal_pair(4, 1, unit);
        let found = loss(&wrong::not_doubled(1.0, 1, unit), &pair, 0, &Event::run(4, 1));
        (found.lower - 1.422).abs()
    };
    assert!(error(20) < error(4) && error(4) < error(2) && error(2) < error(1));
}

#[test]
fn the_search_finds_the_worst_output_by_itself() {
    // All outputs of the universal pair: the search must do at least as well as the known output.
    let wrong = wrong::not_doubled(1.0, 1, 1);
    let pair = universal_pair(4, 1, 1);
    let known = loss(&wrong, &pair, 0, &Event::run(4, 1));
    let found = worst_loss(&wrong, std::slice::from_ref(&pair), 0, 0);
    assert!(found.loss.lower >= known.lower);
    let repeated = loss(&wrong, &found.pair, 0, &found.output);
    assert_eq!(repeated, Interval { lower: found.loss.lower, ..repeated });
    // And it catches a wrong mechanism among all small pairs, without being told where to look.
    let pairs = neighbouring_pairs(3, -2, 2, 1, Movement::Free);
    for wrong in [wrong::lee_clifton(1.0, 1, 1), wrong::chen(1.0, 1), wrong::without_query_noise(1.0, 1)] {
        assert!(worst_loss(&wrong, &pairs, 0, 0).loss.lower > 1.0, "{wrong:?}");
    }
}

#[test]
fn identical_streams_lose_nothing() {
    let pair = Pair { first: vec![1, -2, 0], second: vec![1, -2, 0] };
    for wrong in catalogue(UNIT) {
        let found = worst_loss(&wrong.mechanism, std::slice::from_ref(&pair), 0, 1);
        assert!(found.loss.lower <= 0.0, "{}: {found:?}", wrong.name);
    }
}
