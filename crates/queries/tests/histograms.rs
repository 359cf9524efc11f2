//! Histograms and contribution bounds: exact, checked, and blind to the order of the rows.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tamis_queries::{
    ContributionBound, Element, Fingerprint, FingerprintKey, Histogram, HistogramBuilder, HistogramError, NoRows,
    RowsPerUnit,
};

fn histogram(rows: &[(u64, i64)]) -> Histogram {
    let mut builder = Histogram::builder();
    for &(fingerprint, count) in rows {
        builder.add(Fingerprint::raw(fingerprint), count).unwrap();
    }
    builder.build()
}

/// The same by the slow and obvious way.
fn counted(rows: &[(u64, i64)]) -> BTreeMap<Fingerprint, i64> {
    let mut counts = BTreeMap::new();
    for &(fingerprint, count) in rows {
        *counts.entry(Fingerprint::raw(fingerprint)).or_insert(0) += count;
    }
    counts.retain(|_, count| *count > 0);
    counts
}

fn agrees(histogram: &Histogram, counts: &BTreeMap<Fingerprint, i64>) -> bool {
    histogram.entries().iter().copied().eq(counts.iter().map(|(&fingerprint, &count)| (fingerprint, count)))
        && histogram.total() == counts.values().sum::<i64>()
        && histogram.distinct() == counts.len()
        && histogram.squared_norm() == counts.values().map(|&count| (count as u128).pow(2)).sum::<u128>()
        && counts.iter().all(|(&fingerprint, &count)| histogram.count(fingerprint) == count)
}

fn shuffled<T: Clone + std::fmt::Debug>(
    rows: impl Strategy<Value = Vec<T>>,
) -> impl Strategy<Value = (Vec<T>, Vec<T>)> {
    rows.prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle()))
}

fn rows() -> impl Strategy<Value = Vec<(u64, i64)>> {
    let fingerprint = prop_oneof![0u64..20, any::<u64>()];
    prop::collection::vec((fingerprint, prop_oneof![0i64..4, 0i64..1 << 33]), 0..60)
}

/// Small, near the limit, far beyond it and negative.
fn any_count() -> impl Strategy<Value = i64> {
    let limit = Histogram::MAX_TOTAL;
    prop_oneof![0i64..5, Just(limit / 2), limit - 3..=limit + 1, Just(i64::MAX), -3i64..0, Just(i64::MIN)]
}

proptest! {
    #[test]
    fn order_does_not_matter((rows, shuffled) in shuffled(rows())) {
        let ordered = histogram(&rows);
        prop_assert!(agrees(&ordered, &counted(&rows)));
        prop_assert_eq!(ordered, histogram(&shuffled));
    }

    #[test]
    fn merging_is_counting_all_rows(first in rows(), second in rows()) {
        let together = histogram(&[&first[..], &second].concat());
        let (first, second) = (histogram(&first), histogram(&second));
        prop_assert_eq!(first.merge(&second), Ok(together.clone()));
        prop_assert_eq!(second.merge(&first), Ok(together));
    }

    /// Removing what was added, in any order, leads back; removing more changes nothing.
    #[test]
    fn removing_undoes_adding(first in rows(), second in rows().prop_shuffle()) {
        let before = histogram(&first);
        let mut after = histogram(&[&first[..], &second].concat());
        for &(fingerprint, count) in &second {
            after.remove(Fingerprint::raw(fingerprint), count).unwrap();
        }
        prop_assert_eq!(&after, &before);
        for (fingerprint, count) in before.entries() {
            prop_assert_eq!(after.remove(*fingerprint, count + 1), Err(HistogramError::NotThere));
            prop_assert_eq!(after.remove(*fingerprint, i64::MAX), Err(HistogramError::NotThere));
        }
        prop_assert_eq!(after, before);
    }

    /// Accepted exactly while the sum, in wider integers, is within the limit; a refusal leaves no trace.
    #[test]
    fn the_total_is_checked(counts in prop::collection::vec(any_count(), 0..12)) {
        let (mut builder, mut accepted, mut total) = (HistogramBuilder::default(), Vec::new(), 0i128);
        for (fingerprint, count) in (0..).zip(counts) {
            let outcome = builder.add(Fingerprint::raw(fingerprint % 3), count).map(|_| ());
            if count < 0 {
                prop_assert_eq!(outcome, Err(HistogramError::Negative));
            } else if total + i128::from(count) > i128::from(Histogram::MAX_TOTAL) {
                prop_assert_eq!(outcome, Err(HistogramError::Overflow));
            } else {
                prop_assert_eq!(outcome, Ok(()));
                total += i128::from(count);
                accepted.push((fingerprint % 3, count));
            }
        }
        prop_assert!(agrees(&builder.build(), &counted(&accepted)));
        prop_assert!(builder.build().entries().is_empty()); // empty afterwards
    }
}

#[test]
fn merging_too_much_is_refused() {
    let full = histogram(&[(1, Histogram::MAX_TOTAL)]);
    assert_eq!(full.merge(&histogram(&[(2, 1)])), Err(HistogramError::Overflow));
    assert_eq!(full.merge(&Histogram::default()), Ok(full.clone()));
    assert_eq!(full.squared_norm(), 1 << 80);
    assert_eq!(full.clone().remove(Fingerprint::raw(1), -1), Err(HistogramError::Negative));
    assert_eq!(full.clone().remove(Fingerprint::raw(3), 0), Ok(()));
}

/// Of a unit with five rows, two were kept: taking all five away would take others' rows.
#[test]
fn nothing_is_removed_after_a_bound() {
    let mut kept = bounded(2, &[(1, 1), (1, 2), (1, 3), (1, 4), (1, 5)]).histogram().unwrap();
    for row in 1..=5 {
        assert_eq!(kept.remove(Fingerprint::raw(row), 1), Err(HistogramError::Bounded));
    }
}

/// Enough rows to be settled several times on the way, few and many distinct keys.
#[test]
fn many_rows_are_settled_on_the_way() {
    for keys in [10, 150_000] {
        // A full cycle through the keys, scattered: 7919 is prime to both numbers.
        let rows: Vec<(u64, i64)> = (0..400_000u64).map(|i| (i * 7919 % keys, 1 + (i % 2) as i64)).collect();
        assert!(agrees(&histogram(&rows), &counted(&rows)), "{keys} keys");
    }
}

const KEY: [u8; 16] = [7; 16];

fn bounded(limit: u32, rows: &[(u64, u64)]) -> ContributionBound {
    let mut bound = ContributionBound::new(limit, FingerprintKey::new(KEY)).unwrap();
    for &(unit, row) in rows {
        bound.add(&Element::number(unit), Fingerprint::raw(row));
    }
    bound
}

/// The rows kept, by sorting all rows of each unit.
fn chosen(limit: usize, rows: &[(u64, u64)]) -> BTreeMap<Fingerprint, i64> {
    let rank = |unit, row| FingerprintKey::new(KEY).fingerprint(&Element::tuple(&[unit, row].map(Element::number)));
    let units: BTreeSet<u64> = rows.iter().map(|row| row.0).collect();
    let mut kept = Vec::new();
    for unit in units {
        let mut own: Vec<u64> = rows.iter().filter(|row| row.0 == unit).map(|row| row.1).collect();
        own.sort_by_key(|&row| rank(unit, row));
        kept.extend(own.into_iter().take(limit).map(|row| (row, 1)));
    }
    counted(&kept)
}

fn unit_rows() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0u64..6, 0u64..12), 0..60)
}

proptest! {
    #[test]
    fn the_choice_is_blind_to_order(
        (rows, shuffled) in shuffled(unit_rows()),
        limit in 1u32..9,
    ) {
        let bound = bounded(limit, &rows);
        let dropped = bound.dropped();
        let kept = bound.histogram().unwrap();
        prop_assert!(agrees(&kept, &chosen(limit as usize, &rows)));
        prop_assert_eq!(kept.total() as u64 + dropped, rows.len() as u64);
        prop_assert_eq!(kept, bounded(limit, &shuffled).histogram().unwrap());
    }

    /// The privacy claim: without one unit, every count is as high or lower, by L rows at most in all.
    #[test]
    fn a_unit_moves_at_most_so_many_rows(rows in unit_rows(), limit in 1u32..9, unit in 0u64..6) {
        let others: Vec<_> = rows.iter().copied().filter(|row| row.0 != unit).collect();
        let [with, without] = [&rows, &others].map(|rows| bounded(limit, rows).histogram().unwrap());
        let own = rows.len() - others.len();
        prop_assert!(without.entries().iter().all(|&(row, count)| count <= with.count(row)));
        prop_assert_eq!(with.total() - without.total(), own.min(limit as usize) as i64);
    }
}

#[test]
fn a_bound_of_nothing_is_refused() {
    assert_eq!(ContributionBound::new(0, FingerprintKey::new(KEY)).err(), Some(NoRows));
    assert_eq!(bounded(3, &[]).rows_per_unit(), 3);
}

/// Chance of finding a fair rule unfair, were the key drawn at random; it is fixed, so the verdict is as well.
const FALSE_ALARM: f64 = 6e-7;
/// Where the two-sided normal tail is [`FALSE_ALARM`].
const DEVIATIONS: f64 = 5.0;
/// Enough to see, 98 times in 100, that a key wins in 52.5 % of the units instead of half.
const UNITS: u64 = 20_000;

/// Two rows a unit, one kept: does the first win in about half of the units?
fn is_fair(wins: i64) -> bool {
    (wins as f64 - UNITS as f64 / 2.0).abs() <= DEVIATIONS * (UNITS as f64 / 4.0).sqrt()
}

#[test]
fn no_key_wins_in_all_units() {
    let rows: Vec<(u64, u64)> = (0..UNITS).flat_map(|unit| [(unit, 1), (unit, 2)]).collect();
    let kept = bounded(1, &rows).histogram().unwrap();
    assert_eq!(kept.total(), UNITS as i64);
    let wins = kept.count(Fingerprint::raw(1));
    assert!(is_fair(wins), "{wins} of {UNITS} (false alarm {FALSE_ALARM})");
}

/// The twin: ranks that leave the unit out let one key win always.
#[test]
fn ranks_without_the_unit_are_found_unfair() {
    let rank = |row| FingerprintKey::new(KEY).fingerprint(&Element::number(row));
    let wins = (0..UNITS).filter(|_| rank(1) < rank(2)).count();
    assert!(!is_fair(wins as i64));
}

#[test]
fn debug_output_does_not_tell_the_data() {
    let mut bound = ContributionBound::new(2, FingerprintKey::new(KEY)).unwrap();
    bound.add(&Element::bytes(b"ann@example.org"), Fingerprint::raw(987_654_321));
    let mut builder = Histogram::builder();
    builder.add(Fingerprint::raw(987_654_321), 123_456_789).unwrap();
    let element = Element::bytes(b"ann@example.org");
    let texts =
        [format!("{element:?}"), format!("{bound:?}"), format!("{builder:?}"), format!("{:?}", builder.build())];
    for text in texts {
        assert!(!text.contains("987654321") && !text.contains("123456789") && !text.contains("97, 110"), "{text}");
    }
}

/// Of a unit that has rows in two parts, both bounds count; what is merged with rows without a bound, or with none, keeps its own.
#[test]
fn bounds_of_parts_add_up() {
    let part = || bounded(2, &[(1, 1), (1, 2), (1, 3)]).histogram().unwrap();
    let rows = |histogram: Histogram| (histogram.rows_per_unit().bound(), histogram.rows_per_unit().known());
    assert_eq!(rows(part()), (Some(2), 2));
    assert_eq!(rows(part().merge(&part()).unwrap()), (Some(4), 4));
    let folded = [part(), part()].iter().try_fold(Histogram::default(), |sum, part| sum.merge(part)).unwrap();
    assert_eq!(rows(folded), (Some(4), 4));
    assert_eq!(rows(part().merge(&Histogram::builder().build()).unwrap()), (None, 2));
    let most = RowsPerUnit::bounded(u32::MAX);
    assert!(!most.and(most).within(u32::MAX - 1));
}
