//! What the planner must say.

use tamis::noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
use tamis::plan::{Asking, Basis, Comparison, Mechanism, Question, QuestionError, Row, Verdict, Wanted};

/// Nothing is known of the keys' counts.
fn question(records: u64, support: u64, queries: u64) -> Question {
    Question {
        records,
        support,
        queries: Queries::new(queries).unwrap(),
        beta: Beta::new(0.05).unwrap(),
        budget: Budget::approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap()),
        neighbours: Neighbours::AddRemove,
        rows_per_unit: 1,
        largest_count: records,
        key_multiplicity: 1.0,
        distinct_keys: None,
        universe: None,
        asking: Asking::Beforehand,
        memory: 1 << 36,
    }
}

fn distinct(records: u64, support: u64, queries: u64) -> Question {
    Question { largest_count: 1, ..question(records, support, queries) }
}

fn within(comparison: &Comparison, mechanism: Mechanism) -> f64 {
    comparison.row(mechanism).within.unwrap()
}

fn winner(question: &Question) -> Mechanism {
    Comparison::of(question).unwrap().winner().unwrap().mechanism
}

#[test]
fn the_bound_of_sparse_weights_is_beaten_at_ordinary_sizes() {
    for question in [question(1_000_000, 100, 1_000_000), distinct(1_000_000, 100, 1_000_000)] {
        let sparse = question.within(Mechanism::SparseWeights).unwrap();
        assert!(question.within(Mechanism::DenseProjection).unwrap() < sparse);
        assert!(question.within(Mechanism::Projection).unwrap() < sparse);
    }
    let question = question(1_000_000, 10_000, 1_000_000);
    let gaussian = question.within(Mechanism::GaussianPerQuery).unwrap();
    assert!((33_000.0..36_000.0).contains(&gaussian));
    assert!(gaussian < question.within(Mechanism::SparseWeights).unwrap());
}

#[test]
fn sparse_weights_have_the_least_lasting_bound_beyond_ten_n() {
    let adaptive = |support, queries| {
        Comparison::of(&Question { asking: Asking::Adaptively, ..question(1_000_000, support, queries) }).unwrap()
    };
    let lasting = |comparison: &Comparison| comparison.lasting().unwrap().mechanism;
    let large = adaptive(15_000_000, 20_000_000);
    for row in large.ranked() {
        println!("{:?} {:?} {:?} {:?}", row.mechanism, row.verdict, row.typical, row.within);
    }
    assert_eq!(lasting(&large), Mechanism::SparseWeights);
    assert!(within(&large, Mechanism::SparseWeights) < within(&large, Mechanism::DenseProjection));
    let ordinary = adaptive(10_000, 1_000_000);
    assert_eq!(lasting(&ordinary), Mechanism::GaussianPerQuery);
    // Where the others' bounds cross the one of sparse weights: about ten times the records, both.
    let crossing = ordinary.sparse_weights_from().unwrap();
    assert!((5_000_000..15_000_000).contains(&crossing.queries), "{crossing:?}");
    assert!((2_000_000..15_000_000).contains(&crossing.support), "{crossing:?}");
}

#[test]
fn the_papers_constants_are_vacuous_at_ten_thousand_records() {
    let comparison = Comparison::of(&question(10_000, 1_000, 100_000)).unwrap();
    let row = comparison.row(Mechanism::SparseWeightsPaper);
    assert_eq!(row.verdict, Verdict::Vacuous);
    assert!(row.reason.as_deref().unwrap().contains("no answer is beyond 10000"), "{row:?}");
    assert!(row.remedy.as_deref().unwrap().contains("records"), "{row:?}");
}

#[test]
fn heavy_keys_are_for_a_histogram_or_apart() {
    let names = Question { key_multiplicity: 800_000.0, ..question(350_000_000, 10, 1_000) };
    let comparison = Comparison::of(&names).unwrap();
    let best: Vec<Mechanism> = comparison.ranked().iter().take(2).map(|row| row.mechanism).collect();
    assert_eq!(best[0], Mechanism::StabilityHistogram);
    let typical = |mechanism| comparison.row(mechanism).typical.unwrap();
    assert!(10.0 * typical(Mechanism::HeavyKeysApart) < typical(Mechanism::Projection));
    // The universe being listed, no key needs to be frequent.
    let listed = Question { universe: Some(100_000), ..distinct(1_000_000, 10_000, 1_000_000) };
    assert_eq!(winner(&listed), Mechanism::LaplaceHistogram);
}

#[test]
fn few_lists_get_noise_each() {
    assert_eq!(winner(&distinct(1_000_000, 10_000, 100)), Mechanism::GaussianPerQuery);
    assert_eq!(winner(&distinct(1_000_000, 10_000, 1)), Mechanism::LaplacePerQuery);
    assert_eq!(winner(&distinct(1_000_000, 10_000, 100_000)), Mechanism::Projection);
}

#[test]
fn adaptive_queries_get_what_holds_for_them() {
    let question = Question { asking: Asking::Adaptively, ..distinct(1_000_000, 10_000, 10_000) };
    let comparison = Comparison::of(&question).unwrap();
    for row in comparison.ranked() {
        println!("{:?} {:?} {:?} {:?}", row.mechanism, row.verdict, row.typical, row.within);
    }
    let winner = comparison.winner().unwrap();
    assert_eq!((winner.mechanism, winner.basis), (Mechanism::GuardedRelease, Basis::UntilCorrected));
    assert!(comparison.runner_up().unwrap().mechanism.is_adaptive());
    let holds: Vec<bool> = comparison.ranked().iter().map(|row| comparison.holds(row)).collect();
    let applicable = comparison.ranked().iter().filter(|row| row.verdict == Verdict::Applicable).count();
    assert!(holds[..applicable].is_sorted_by(|one, next| one >= next), "those that hold come first");
}

#[test]
fn what_is_vacuous_says_what_would_do_and_it_does() {
    let question = distinct(1_000_000, 100, 1_000_000);
    let comparison = Comparison::of(&question).unwrap();
    let row = comparison.row(Mechanism::GaussianPerQuery);
    assert_eq!(row.verdict, Verdict::Vacuous);
    let wanted = Wanted::Records(question.largest_answer() * (1.0 - 1e-9));
    let epsilon = question.least_epsilon(Mechanism::GaussianPerQuery, wanted);
    assert_eq!(epsilon, None); // a million answers, each of up to 100
    assert_eq!(row.remedy.as_deref(), Some("for queries of 34700 keys"));
    let longer = Comparison::of(&distinct(1_000_000, 34_700, 1_000_000)).unwrap();
    assert_eq!(longer.row(Mechanism::GaussianPerQuery).verdict, Verdict::Applicable);
    let projection = Question { budget: Budget::pure(Epsilon::new(0.2).unwrap()), ..question };
    let row = Comparison::of(&projection).unwrap().row(Mechanism::Projection).clone();
    assert_eq!(row.verdict, Verdict::Vacuous);
    let epsilon = projection.least_epsilon(Mechanism::Projection, wanted).unwrap();
    assert!(row.remedy.unwrap().starts_with(&format!("at epsilon = {epsilon}, or for queries of ")));
    let with = |epsilon| {
        let budget = Budget::pure(Epsilon::new(epsilon).unwrap());
        Question { budget, ..projection.clone() }.within(Mechanism::Projection).unwrap()
    };
    assert!(with(epsilon) < projection.largest_answer() && with(epsilon * 0.95) >= projection.largest_answer());
}

/// Each answer of a search is kept, and a few percent further it is not.
#[test]
fn searches_end_at_the_edge() {
    let question = question(1_000_000, 10_000, 10_000);
    let kept = |question: &Question, mechanism, share: f64| {
        question.within(mechanism).unwrap() <= share * question.records as f64
    };
    let (gaussian, share) = (Mechanism::GaussianPerQuery, 0.002);
    let wanted = Wanted::Share(share);
    let records = question.least_records(gaussian, wanted).unwrap();
    let with_records = |records| Question { records, largest_count: records, ..question.clone() };
    assert!(kept(&with_records(records), gaussian, share));
    assert!(!kept(&with_records(records * 95 / 100), gaussian, share));
    let queries = question.largest_queries(gaussian, wanted).unwrap();
    let with_queries = |queries| Question { queries: Queries::new(queries).unwrap(), ..question.clone() };
    assert!(
        kept(&with_queries(queries), gaussian, share) && !kept(&with_queries(queries * 105 / 100), gaussian, share)
    );
    let projection = Mechanism::Projection;
    let support = question.largest_support(projection, wanted).unwrap();
    let with_support = |support| Question { support, ..question.clone() };
    assert!(kept(&with_support(support), projection, share));
    assert!(!kept(&with_support(support * 105 / 100), projection, share));
    assert_eq!(question.largest_support(projection, Wanted::Records(0.5)), None);
}

#[test]
fn what_cannot_be_had_says_why() {
    let pure = Question { budget: Budget::pure(Epsilon::new(1.0).unwrap()), ..distinct(1_000_000, 10_000, 1_000) };
    let comparison = Comparison::of(&pure).unwrap();
    let refused = |mechanism, reason: &str| {
        let row = comparison.row(mechanism);
        assert_eq!((row.verdict, row.within), (Verdict::NotApplicable, None));
        assert!(row.reason.as_deref().unwrap().contains(reason) && row.remedy.is_some(), "{row:?}");
    };
    refused(Mechanism::GaussianPerQuery, "delta");
    refused(Mechanism::StabilityHistogram, "delta");
    refused(Mechanism::LaplaceHistogram, "universe");
    let huge = Question { universe: Some(u64::MAX), ..pure.clone() };
    let row = Comparison::of(&huge).unwrap().row(Mechanism::DenseWeights).clone();
    assert!(row.reason.unwrap().contains("memory"));
    let every = |row: &&Row| row.reason.is_some() == (row.verdict != Verdict::Applicable);
    assert!(comparison.ranked().iter().all(every));
}

#[test]
fn questions_that_make_no_sense() {
    let sound = question(1_000, 100, 10);
    let error = |question: Question| Comparison::of(&question).unwrap_err();
    let size = |question: Question| matches!(error(question), QuestionError::Size { .. });
    assert!(size(Question { records: 0, ..sound.clone() }));
    assert!(size(Question { support: 0, ..sound.clone() }));
    assert!(size(Question { rows_per_unit: 0, ..sound.clone() }));
    assert!(size(Question { largest_count: 1_001, ..sound.clone() }));
    assert!(size(Question { universe: Some(0), ..sound.clone() }));
    for key_multiplicity in [0.5, 1_001.0, f64::NAN] {
        let error = error(Question { key_multiplicity, ..sound.clone() });
        assert!(matches!(error, QuestionError::KeyMultiplicity { .. }), "{error}");
    }
}

/// A release of little noise has conservative intervals, so at ε = 100 this one is vacuous again.
#[test]
fn a_remedy_may_lie_between() {
    let question = Question { budget: Budget::pure(Epsilon::new(1.0).unwrap()), ..distinct(1_000, 10, 1_000_000) };
    let at = |epsilon| {
        let budget = Budget::pure(Epsilon::new(epsilon).unwrap());
        Question { budget, ..question.clone() }.within(Mechanism::Projection).unwrap()
    };
    assert!(at(100.0) > 10.0);
    let row = Comparison::of(&question).unwrap().row(Mechanism::Projection).clone();
    let remedy = row.remedy.unwrap();
    let epsilon = remedy.strip_prefix("at epsilon = ").and_then(|rest| rest.split(',').next()).unwrap();
    assert!(at(epsilon.parse().unwrap()) < 10.0);
}

/// At the edges of every range: an answer or an error, never a panic.
#[test]
fn corners() {
    let smallest = Comparison::of(&question(1, 1, 1)).unwrap();
    assert!(smallest.winner().is_none() && smallest.ranked().len() == Mechanism::ALL.len());
    for records in [1, 1 << 40] {
        for support in [1, 1 << 40] {
            for queries in [1, 1 << 53] {
                for asking in [Asking::Beforehand, Asking::Adaptively] {
                    let neighbours = Neighbours::Substitute;
                    let question =
                        Question { asking, neighbours, universe: Some(2), ..question(records, support, queries) };
                    let comparison = Comparison::of(&question).unwrap();
                    assert_eq!(comparison.ranked().len(), Mechanism::ALL.len());
                }
            }
        }
    }
}
