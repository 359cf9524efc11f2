//! What the planner must say.

use tamis::noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
use tamis::plan::mechanisms::{self, DenseProjection, GaussianPerQuery, LaplacePerQuery, Projection, SparseWeights};
use tamis::plan::{Asking, Basis, Comparison, QueryRelease, Question, QuestionError, Row, Verdict, Wanted};

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

fn within(comparison: &Comparison, mechanism: &str) -> f64 {
    comparison.row(mechanism).unwrap().within.unwrap()
}

fn name(row: &Row) -> &'static str {
    row.mechanism.about().name
}

fn winner(question: &Question) -> &'static str {
    name(Comparison::of(question).unwrap().winner().unwrap())
}

#[test]
fn the_bound_of_sparse_weights_is_beaten_at_ordinary_sizes() {
    for question in [question(1_000_000, 100, 1_000_000), distinct(1_000_000, 100, 1_000_000)] {
        let sparse = question.within(&SparseWeights).unwrap();
        assert!(question.within(&DenseProjection).unwrap() < sparse);
        assert!(question.within(&Projection).unwrap() < sparse);
    }
    let question = question(1_000_000, 10_000, 1_000_000);
    let gaussian = question.within(&GaussianPerQuery).unwrap();
    assert!((33_000.0..36_000.0).contains(&gaussian));
    assert!(gaussian < question.within(&SparseWeights).unwrap());
}

#[test]
fn sparse_weights_have_the_least_lasting_bound_beyond_ten_n() {
    let adaptive = |support, queries| {
        let (asking, memory) = (Asking::Adaptively, 1 << 44);
        Comparison::of(&Question { asking, memory, ..question(1_000_000, support, queries) }).unwrap()
    };
    let lasting = |comparison: &Comparison| name(comparison.lasting().unwrap());
    let large = adaptive(15_000_000, 20_000_000);
    for row in large.ranked() {
        println!("{:?} {:?} {:?} {:?}", row.mechanism, row.verdict, row.typical, row.within);
    }
    assert_eq!(lasting(&large), "sparse-mw");
    assert!(within(&large, "sparse-mw") < within(&large, "projection-dense"));
    let ordinary = adaptive(10_000, 1_000_000);
    assert_eq!(lasting(&ordinary), "gaussian-per-query");
    // Where the others' bounds cross the one of sparse weights: about ten times the records, both.
    let crossing = ordinary.sparse_weights_from().unwrap();
    assert!((5_000_000..15_000_000).contains(&crossing.queries), "{crossing:?}");
    assert!((2_000_000..15_000_000).contains(&crossing.support), "{crossing:?}");
    // How much memory there is decides what is to be had, not what bounds are.
    let little = Question { memory: 1 << 20, ..ordinary.question().clone() };
    assert_eq!(Comparison::of(&little).unwrap().sparse_weights_from(), Some(crossing));
}

#[test]
fn the_papers_constants_are_vacuous_at_ten_thousand_records() {
    let comparison = Comparison::of(&question(10_000, 1_000, 100_000)).unwrap();
    let row = comparison.row("sparse-mw-paper").unwrap();
    assert_eq!(row.verdict, Verdict::Vacuous);
    assert!(row.reason.as_deref().unwrap().contains("no answer is beyond 10000"), "{row:?}");
    assert!(row.remedy.as_deref().unwrap().contains("records"), "{row:?}");
}

#[test]
fn heavy_keys_are_for_a_histogram_or_apart() {
    let names = Question { key_multiplicity: 800_000.0, ..question(350_000_000, 10, 1_000) };
    let comparison = Comparison::of(&names).unwrap();
    assert_eq!(name(comparison.winner().unwrap()), "stability-histogram");
    let typical = |mechanism| comparison.row(mechanism).unwrap().typical.unwrap();
    assert!(10.0 * typical("projection-heavy") < typical("projection"));
    // The universe being listed, no key needs to be frequent.
    let listed = Question { universe: Some(2_000_000), ..distinct(1_000_000, 10_000, 1_000_000) };
    assert_eq!(winner(&listed), "laplace-histogram");
}

#[test]
fn few_lists_get_noise_each() {
    assert_eq!(winner(&distinct(1_000_000, 10_000, 100)), "gaussian-per-query");
    assert_eq!(winner(&distinct(1_000_000, 10_000, 1)), "laplace-per-query");
    assert_eq!(winner(&distinct(1_000_000, 10_000, 100_000)), "projection");
}

#[test]
fn adaptive_queries_get_what_holds_for_them() {
    let question = Question { asking: Asking::Adaptively, ..distinct(1_000_000, 10_000, 10_000) };
    let comparison = Comparison::of(&question).unwrap();
    for row in comparison.ranked() {
        println!("{:?} {:?} {:?} {:?}", row.mechanism, row.verdict, row.typical, row.within);
    }
    let winner = comparison.winner().unwrap();
    assert_eq!((name(winner), winner.mechanism.about().basis), ("guarded-release", Basis::UntilCorrected));
    assert!(comparison.runner_up().unwrap().mechanism.about().is_adaptive);
    let holds: Vec<bool> = comparison.ranked().iter().map(|row| comparison.holds(row)).collect();
    let applicable = comparison.ranked().iter().filter(|row| row.verdict == Verdict::Applicable).count();
    assert!(holds[..applicable].is_sorted_by(|one, next| one >= next), "those that hold come first");
}

#[test]
fn what_is_vacuous_says_what_would_do_and_it_does() {
    let question = distinct(1_000_000, 100, 1_000_000);
    let comparison = Comparison::of(&question).unwrap();
    let row = comparison.row("gaussian-per-query").unwrap();
    assert_eq!(row.verdict, Verdict::Vacuous);
    let wanted = Wanted::Records(question.largest_answer() * (1.0 - 1e-9));
    let epsilon = question.least_epsilon(&GaussianPerQuery, wanted);
    assert_eq!(epsilon, None); // a million answers, each of up to 100
    assert_eq!(row.remedy.as_deref(), Some("for queries of 34700 keys"));
    let longer = Comparison::of(&distinct(1_000_000, 34_700, 1_000_000)).unwrap();
    assert_eq!(longer.row("gaussian-per-query").unwrap().verdict, Verdict::Applicable);
    let projection = Question { budget: Budget::pure(Epsilon::new(0.2).unwrap()), ..question };
    let row = Comparison::of(&projection).unwrap().row("projection").unwrap().clone();
    assert_eq!(row.verdict, Verdict::Vacuous);
    let epsilon = projection.least_epsilon(&Projection, wanted).unwrap();
    assert!(row.remedy.unwrap().starts_with(&format!("at epsilon = {epsilon}, or for queries of ")));
    let with = |epsilon| {
        let budget = Budget::pure(Epsilon::new(epsilon).unwrap());
        Question { budget, ..projection.clone() }.within(&Projection).unwrap()
    };
    assert!(with(epsilon) < projection.largest_answer() && with(epsilon * 0.95) >= projection.largest_answer());
}

/// Each answer of a search is kept, and a few percent further it is not.
#[test]
fn searches_end_at_the_edge() {
    let question = question(1_000_000, 10_000, 10_000);
    let kept = |question: &Question, mechanism: &dyn QueryRelease, share: f64| {
        question.within(mechanism).unwrap() <= share * question.records as f64
    };
    let (gaussian, share) = (&GaussianPerQuery, 0.002);
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
    let projection = &Projection;
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
        let row = comparison.row(mechanism).unwrap();
        assert_eq!((row.verdict, row.within), (Verdict::NotApplicable, None));
        assert!(row.reason.as_deref().unwrap().contains(reason) && row.remedy.is_some(), "{row:?}");
    };
    refused("gaussian-per-query", "delta");
    refused("stability-histogram", "delta");
    refused("laplace-histogram", "universe");
    let huge = Question { universe: Some(u64::MAX), ..pure.clone() };
    let row = Comparison::of(&huge).unwrap().row("dense-mw").unwrap().clone();
    assert!(row.reason.unwrap().contains("memory"));
    // What weights may have to learn.
    let adaptive = Question {
        asking: Asking::Adaptively,
        key_multiplicity: 1_000_000.0,
        ..question(1_000_000, 10_000_000, 100_000_000)
    };
    for (memory, winner) in [(1 << 44, "sparse-mw"), (1 << 30, "guarded-release")] {
        let comparison = Comparison::of(&Question { memory, ..adaptive.clone() }).unwrap();
        assert_eq!(comparison.winner().map(name), Some(winner));
        let row = comparison.row("sparse-mw").unwrap();
        assert_eq!(row.effort.is_some(), memory == 1 << 44);
        assert_eq!(Question { memory, ..adaptive.clone() }.within(&SparseWeights), row.within);
    }
    // No noise is so large. What would do is said, and it does.
    let tiny = Question { budget: Budget::pure(Epsilon::new(1e-12).unwrap()), ..distinct(1_000, 1_000, 1_000) };
    let row = Comparison::of(&tiny).unwrap().row("laplace-per-query").unwrap().clone();
    assert_eq!(row.verdict, Verdict::NotApplicable);
    let remedy = row.remedy.unwrap();
    let (_, epsilon) = remedy.split_once("it says something at epsilon = ").unwrap();
    let epsilon = epsilon.split(',').next().and_then(|epsilon| epsilon.parse().ok()).unwrap();
    let enough = Question { budget: Budget::pure(Epsilon::new(epsilon).unwrap()), ..tiny };
    assert!(enough.within(&LaplacePerQuery).unwrap() < 1_000.0);
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
    assert!(size(Question { memory: 0, ..sound.clone() }));
    // Lists of all keys that are too short for the records, or for their keys; and two that are not.
    let listed = |largest_count, distinct_keys: Option<u64>, universe| {
        let multiplicity = if distinct_keys.is_some() { 2.0 } else { 1.0 };
        Question {
            largest_count,
            key_multiplicity: multiplicity,
            distinct_keys,
            universe: Some(universe),
            ..sound.clone()
        }
    };
    for (question, least) in
        [(listed(1, None, 999), 1_000), (listed(3, None, 333), 334), (listed(3, Some(600), 599), 600)]
    {
        let given = question.universe.unwrap();
        assert_eq!(error(question.clone()), QuestionError::Universe { given, least });
        assert_eq!(Question { universe: Some(least), ..question }.check(), Ok(()));
    }
    let single = Question { records: 1, largest_count: 2, ..sound.clone() };
    assert_eq!(error(single).to_string(), "the number of records of the largest key must be 1, got 2");
    for key_multiplicity in [0.5, 1_001.0, f64::NAN] {
        let error = error(Question { key_multiplicity, ..sound.clone() });
        assert!(matches!(error, QuestionError::KeyMultiplicity { .. }), "{error}");
    }
}

/// An error that no answer is beyond is kept by nothing in particular, and no bound is vacuous that a search gives.
#[test]
fn searches_find_what_says_something() {
    let short = distinct(1_000_000, 1, 1_000_000);
    assert!(Wanted::Records(1.0).is_kept_by_anything(&short) && !Wanted::Records(0.5).is_kept_by_anything(&short));
    assert!(Wanted::Share(1e-6).is_kept_by_anything(&short) && !Wanted::Share(1e-7).is_kept_by_anything(&short));
    let wanted = Wanted::Records(5.0);
    assert_eq!(short.least_epsilon(&Projection, wanted), None);
    // Of lists of up to five keys all are within five records, whatever is answered.
    let question = distinct(1_000_000, 1_000, 1);
    assert!(Question { support: 5, ..question.clone() }.within(&LaplacePerQuery).unwrap() < 5.0);
    let found = question.largest_support(&LaplacePerQuery, wanted).unwrap();
    assert!(Question { support: found, ..question }.largest_answer() > 5.0);
    let many = distinct(1_000_000, 1_000, 1_000_000);
    let kept = |support| Question { support, ..many.clone() }.within(&Projection).unwrap() <= 30.0;
    assert!(kept(1) && !kept(1_000) && many.largest_support(&Projection, Wanted::Records(30.0)).is_none());
}

/// A guess without data is no typical error beside a bound that says nothing.
#[test]
fn what_has_learned_nothing_does_not_look_good() {
    let typical = |question: &Question| {
        let row = Comparison::of(question).unwrap().row("sparse-mw").unwrap().clone();
        (row.verdict, row.typical)
    };
    assert_eq!(typical(&distinct(1_000_000, 1, 1_000_000)), (Verdict::Vacuous, None));
    let (verdict, typical) = typical(&question(1_000_000, 1_000, 1_000_000));
    assert!(verdict == Verdict::Applicable && typical.is_some());
}

/// A crossing is of bounds that say something.
#[test]
fn sparse_weights_are_named_where_their_bound_says_something() {
    let question = Question { asking: Asking::Adaptively, ..question(1_000, 10, 1_000) };
    let speaks = |queries, support| {
        let question =
            Question { queries: Queries::new(queries).unwrap(), support, memory: u64::MAX, ..question.clone() };
        question.within(&SparseWeights).unwrap() < question.largest_answer()
    };
    let crossing = Comparison::of(&question).unwrap().sparse_weights_from();
    assert!(crossing.is_none_or(|crossing| speaks(crossing.queries, crossing.support)), "{crossing:?}");
    assert!(!speaks(1_000_000, 10_000_000));
}

/// A release of little noise has conservative intervals, so at ε = 100 this one is vacuous again.
#[test]
fn a_remedy_may_lie_between() {
    let question = Question { budget: Budget::pure(Epsilon::new(1.0).unwrap()), ..distinct(1_000, 10, 1_000_000) };
    let at = |epsilon| {
        let budget = Budget::pure(Epsilon::new(epsilon).unwrap());
        Question { budget, ..question.clone() }.within(&Projection).unwrap()
    };
    assert!(at(100.0) > 10.0);
    let row = Comparison::of(&question).unwrap().row("projection").unwrap().clone();
    let remedy = row.remedy.unwrap();
    let epsilon = remedy.strip_prefix("at epsilon = ").and_then(|rest| rest.split(',').next()).unwrap();
    assert!(at(epsilon.parse().unwrap()) < 10.0);
}

/// What searches rest on: a bound grows with m and k, falls with ε, and falls with n as a share of it; within the steps, and up to the ends, that the
/// docs of the searches name.
#[test]
fn bounds_go_one_way_but_for_known_steps() {
    let question = Question {
        largest_count: 1_000,
        key_multiplicity: 10.0,
        universe: Some(1_000),
        memory: u64::MAX,
        ..question(1_000_000, 1_000, 10_000)
    };
    let with_epsilon = |epsilon: f64| {
        let budget = Budget::approximate(Epsilon::new(epsilon).unwrap(), question.budget.delta().clone());
        Question { budget, ..question.clone() }
    };
    let with_support = |support: f64| Question { support: support as u64, ..question.clone() };
    let with_queries = |queries: f64| Question { queries: Queries::new(queries as u64).unwrap(), ..question.clone() };
    // So many records find room in the universe whatever their number.
    let crowded = Question { largest_count: question.records, ..question.clone() };
    let with_records = |records: f64| crowded.with_records(records as u64);
    let powers = |least: f64, most: f64| (0..8).map(move |i| least * (most / least).powf(f64::from(i) / 7.0));
    for &mechanism in mechanisms::ALL {
        // Of an eighth: where a power of two does not fit.
        let step = match mechanism.about().name {
            "projection" | "projection-heavy" | "guarded-release" => 1.13,
            _ => 1.0,
        };
        let falls = |bounds: Vec<Option<f64>>, what: &str| {
            let ends = matches!(
                (mechanism.about().name, what),
                ("alp" | "sparse-mw-paper" | "small-database", "records") | ("sparse-mw-paper", "epsilon")
            );
            let falls = |pair: &[Option<f64>]| match (pair[0], pair[1]) {
                // What cannot be had is beyond any error.
                (None, _) => true,
                (Some(_), None) => ends,
                (Some(one), Some(next)) => ends || next <= one * step * (1.0 + 1e-9),
            };
            assert!(bounds.windows(2).all(falls), "{mechanism:?} with {what}: {bounds:?}");
        };
        let within = |question: Question| question.within(mechanism);
        let share = |question: Question| Some(question.within(mechanism)? / question.records as f64);
        falls(powers(1e-3, 100.0).map(|epsilon| within(with_epsilon(epsilon))).collect(), "epsilon");
        falls(powers(1e3, 1e12).map(|records| share(with_records(records))).collect(), "records");
        falls(powers(1e7, 30.0).map(|support| within(with_support(support))).collect(), "support");
        falls(powers(1e12, 1.0).map(|queries| within(with_queries(queries))).collect(), "queries");
    }
}

/// At the edges of every range: an answer or an error, never a panic.
#[test]
fn corners() {
    let smallest = Comparison::of(&question(1, 1, 1)).unwrap();
    assert!(smallest.winner().is_none() && smallest.ranked().len() == mechanisms::ALL.len());
    for records in [1, 1 << 40] {
        for support in [1, 1 << 40] {
            for queries in [1, 1 << 53] {
                // Rows do not depend on how queries come, ranks do.
                let asking = if queries == 1 { Asking::Beforehand } else { Asking::Adaptively };
                let neighbours = Neighbours::Substitute;
                let question =
                    Question { asking, neighbours, universe: Some(2), ..question(records, support, queries) };
                let comparison = Comparison::of(&question).unwrap();
                assert_eq!(comparison.ranked().len(), mechanisms::ALL.len());
            }
        }
    }
}
