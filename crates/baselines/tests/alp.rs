//! ALP as a user sees it: order, answers, refusals. Its law is tested in its file.

use chacha20::ChaCha12Rng;
use proptest::prelude::*;
use rand::SeedableRng;
use tamis_baselines::{AlpPlan, BaselineError};
use tamis_noise::{Beta, Budget, Epsilon, Neighbours, Queries};
use tamis_queries::{ContributionBound, Element, Fingerprint, FingerprintKey, Histogram, SparseQuery};

fn plan(epsilon: f64, rows: u32, records: u64, largest: u64) -> Result<AlpPlan, BaselineError> {
    AlpPlan::new(&Budget::pure(Epsilon::new(epsilon).unwrap()), Neighbours::AddRemove, rows, records, largest)
}

fn table(rows: impl IntoIterator<Item = u64>) -> Histogram {
    let mut table = Histogram::builder();
    for key in rows {
        table.add(Fingerprint::raw(key), 1).unwrap();
    }
    table.build()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The same rows in any order give the same release from the same generator, and no data breaks the plan that it is
    /// not for.
    #[test]
    fn neither_order_nor_size_matters(mut rows in prop::collection::vec(0u64..50, 0..400), seed: u64) {
        let plan = plan(1.0, 1, 20, 10).unwrap();
        let release = |rows: &[u64]| {
            plan.release(&table(rows.iter().copied()), &mut ChaCha12Rng::seed_from_u64(seed)).unwrap()
        };
        let one = release(&rows);
        rows.sort_unstable();
        let other = release(&rows);
        prop_assert_eq!((one.table(), one.seed()), (other.table(), other.seed()));
        prop_assert!((0..60).all(|key| (0.0..14.0).contains(&one.estimate(Fingerprint::raw(key)))));
    }
}

#[test]
fn an_answer_is_the_weighted_sum_of_estimates() {
    let plan = plan(1.0, 1, 1_000, 500).unwrap();
    let release = plan.release(&table((0..1_000).map(|i| i % 5)), &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
    let quarter = tamis_noise::parse_rational("1/4").unwrap();
    let query = SparseQuery::weighted((0..8).map(|key| (Fingerprint::raw(key), quarter.clone()))).unwrap();
    let sum: f64 = (0..8).map(|key| release.estimate(Fingerprint::raw(key))).sum();
    assert_eq!(release.answer(&query), sum / 4.0);
    assert!(
        (release.answer(&query) - 250.0).abs() < plan.guarantee(8, Queries::new(1).unwrap(), Beta::new(1e-6).unwrap())
    );
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(plan(1.0, 0, 1, 1).unwrap_err(), BaselineError::RowsPerUnit(0));
    for (records, largest) in [(0, 1), (1 << 41, 1), (10, 0), (10, 11)] {
        assert!(matches!(plan(1.0, 1, records, largest), Err(BaselineError::Size { .. })), "{records} {largest}");
    }
    let error = plan(1000.0, 1, 1 << 40, 1).unwrap_err().to_string();
    assert_eq!(
        error,
        "1099511627776 records at this privacy need a table of 2^45 bits, at most 2^33 are served: take a smaller epsilon or state fewer"
    );
    assert!(matches!(plan(1e-12, 1_000_000, 10, 10).unwrap_err(), BaselineError::Parameter(_)));
    let mut bound = ContributionBound::new(3, FingerprintKey::new([1; 16])).unwrap();
    bound.add(&Element::number(1), Fingerprint::raw(1));
    let refused =
        plan(1.0, 2, 10, 10).unwrap().release(&bound.histogram().unwrap(), &mut ChaCha12Rng::seed_from_u64(1));
    assert_eq!(refused.unwrap_err(), BaselineError::RowsBeyondPlan { planned: 2, bounded: 3 });
}
