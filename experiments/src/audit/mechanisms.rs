//! Every mechanism but the sparse vector, as it is, at ε = 1.
//!
//! | module | what |
//! | ------ | ---- |
//! | [`noise`] | Laplace, Gaussian, private selection, stability threshold, a monitor after its end |
//! | [`releases`] | histograms, ALP, noise for each query, MWEM, small databases, projections |
//! | [`sessions`] | sessions of every kind, each question hanging on the answers before it |
//! | [`registered`] | all that the planner knows, by way of its plans |
//!
//! Pairs are chosen so that the loss is near the claim: neighbours at a tie, at a threshold, where a key occurs once or not at
//! all. Exact losses are of what can be computed by hand or by `tamis_oracle::selection`.

pub mod noise;
pub mod registered;
pub mod releases;
pub mod sessions;

use std::fmt::Display;

use tamis::noise::{Budget, Delta, Epsilon};
use tamis::queries::{ContributionBound, Element, Fingerprint, FingerprintKey, Histogram, SparseQuery};
use tamis_harness::audit::{Claim, Number, Subject, Transcript};

use super::Audited;

/// δ where there is one: large, so that what it allows is seen in few runs, and hardly above the chance that one record reaches a
/// stability threshold (e⁻⁵/(1 + e⁻¹) = 0.00493).
pub const DELTA: f64 = 0.005;

/// All of them.
pub fn subjects() -> Vec<Audited> {
    let mut all = noise::subjects();
    all.extend(releases::subjects());
    all.extend(sessions::subjects());
    all.extend(registered::subjects());
    all
}

/// ε.
pub fn epsilon(value: f64) -> Epsilon {
    // Cannot fail, here and below: the parameters of these files are constants, and legal.
    Epsilon::new(value).expect("a legal epsilon")
}

/// (ε, δ).
pub fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::approximate(self::epsilon(epsilon), Delta::new(delta).expect("a legal delta"))
}

/// What a budget claims.
pub fn claim(budget: &Budget) -> Claim {
    // A zero that has no sign.
    Claim::approximate(budget.epsilon().to_f64_up(), budget.delta().to_f64_up())
}

/// Rows, so many of each key.
pub fn table(counts: &[(u64, i64)]) -> Histogram {
    let mut table = Histogram::builder();
    for &(key, count) in counts {
        table.add(Fingerprint::raw(key), count).expect("few rows");
    }
    table.build()
}

/// Rows of a person each, but for the last person, who has these; at most `rows_per_unit` are kept of each.
pub fn with_person(others: &[(u64, u32)], rows: &[u64], rows_per_unit: u32) -> Histogram {
    let mut kept = ContributionBound::new(rows_per_unit, FingerprintKey::new([7; 16])).expect("at least one row");
    let everybody = others.iter().flat_map(|&(key, people)| (0..people).map(move |_| key));
    for (person, key) in (1..).zip(everybody) {
        kept.add(&Element::number(person), Fingerprint::raw(key));
    }
    for &key in rows {
        kept.add(&Element::number(0), Fingerprint::raw(key));
    }
    kept.histogram().expect("few rows")
}

/// A list of keys.
pub fn list(keys: &[u64]) -> SparseQuery {
    SparseQuery::count(keys.iter().copied().map(Fingerprint::raw))
}

/// A value in records as the whole number of 2⁻²⁰ records that it is.
pub fn units(records: f64) -> i64 {
    (records * f64::from(SparseQuery::UNIT)) as i64
}

/// With the event that every number which moves is where it moves to, or beyond: place, value on the first input, on the second.
/// Of Laplace noise no event tells more; of many numbers at once it is one that nobody finds who does not know it.
pub fn all_moved(subject: Subject, moved: Vec<(usize, i64, i64)>) -> Subject {
    subject.event("every number has moved", move |seen| {
        moved.iter().all(|&(place, first, second)| match seen.numbers().get(place) {
            Some(Number::Integer(number)) => {
                if first < second {
                    *number >= second
                } else {
                    *number <= second
                }
            }
            _ => false,
        })
    })
}

/// What came out, if it was not refused; a refusal is seen too.
pub fn or_refused<T>(result: Result<T, impl Display>, seen: &mut Transcript) -> Option<T> {
    result.map_err(|refusal| refused(&refusal, seen)).ok()
}

/// A refusal, as a number that tells its message from others (FNV-1a): messages are long, and only equality matters.
pub fn refused(refusal: &impl Display, seen: &mut Transcript) {
    let message = refusal.to_string();
    let hash = message
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    seen.label(format_args!("refused-{hash:016x}"));
}
