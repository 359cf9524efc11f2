//! What the planner must say.

use tamis::noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
use tamis::plan::mechanisms::{self, DenseProjection, GaussianPerQuery, LaplacePerQuery, Projection, SparseWeights};
use tamis::plan::{Asking, Basis, Comparison, Crossing, QueryRelease, Question, QuestionError, Row, Verdict, Wanted};

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
    // From there on, in both directions, no other adaptive theorem has a lesser bound; with half as many queries one has.
    let least = |queries: u64, support| lasting(&adaptive(support, queries)) == "sparse-mw";
    for (queries, support) in [(1, 1), (1, 100), (100, 1), (100, 100)] {
        let support = (crossing.support * support).min(Question::MAX_SUPPORT);
        assert!(least(crossing.queries * queries, support), "{crossing:?}");
    }
    assert!(!least(crossing.queries / 2, Question::MAX_SUPPORT), "{crossing:?}");
    assert!(crossing.support >= 10_000, "not below what was asked: {crossing:?}");
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
    assert_eq!(row.remedy.as_deref(), Some("queries of 34200 keys"));
    let longer = Comparison::of(&distinct(1_000_000, 34_200, 1_000_000)).unwrap();
    assert_eq!(longer.row("gaussian-per-query").unwrap().verdict, Verdict::Applicable);
    let projection = Question { budget: Budget::pure(Epsilon::new(0.2).unwrap()), ..question };
    let row = Comparison::of(&projection).unwrap().row("projection").unwrap().clone();
    assert_eq!(row.verdict, Verdict::Vacuous);
    let epsilon = projection.least_epsilon(&Projection, wanted).unwrap();
    assert!(row.remedy.unwrap().starts_with(&format!("epsilon = {epsilon}, or queries of ")));
    let with = |epsilon| {
        let budget = Budget::pure(Epsilon::new(epsilon).unwrap());
        Question { budget, ..projection.clone() }.within(&Projection).unwrap()
    };
    assert!(with(epsilon) < projection.largest_answer() && with(epsilon - 0.01) >= projection.largest_answer());
}

/// The next larger number of three digits, or above.
fn after(number: u64) -> u64 {
    let unit = 10u64.pow(number.ilog10().saturating_sub(2));
    (number / unit + 1) * unit
}

/// The next smaller one.
fn before(number: u64) -> u64 {
    number - 10u64.pow((number - 1).ilog10().saturating_sub(2))
}

/// Each answer of a search is kept, and the next number of three digits is not.
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
    assert!(!kept(&with_records(before(records)), gaussian, share));
    let queries = question.largest_queries(gaussian, wanted).unwrap();
    let with_queries = |queries| Question { queries: Queries::new(queries).unwrap(), ..question.clone() };
    assert!(kept(&with_queries(queries), gaussian, share) && !kept(&with_queries(after(queries)), gaussian, share));
    let projection = &Projection;
    let support = question.largest_support(projection, wanted).unwrap();
    let with_support = |support| Question { support, ..question.clone() };
    assert!(kept(&with_support(support), projection, share));
    assert!(!kept(&with_support(after(support)), projection, share));
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
    let (_, epsilon) = remedy.split_once("useful with epsilon = ").unwrap();
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
    assert!(size(Question { support: Question::MAX_SUPPORT + 1, ..sound.clone() }));
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

fn pure(epsilon: f64) -> Budget {
    Budget::pure(Epsilon::new(epsilon).unwrap())
}

/// A universe that has no room for more records does not keep what needs none from being searched with more.
#[test]
fn a_universe_ends_no_search_of_those_that_need_none() {
    let asked = Question { asking: Asking::Adaptively, budget: pure(0.1), ..distinct(1_000_000, 1_000_000, 100) };
    let listed = Question { universe: Some(1_000_000), ..asked.clone() };
    let wanted = Wanted::Share(0.0001);
    let least = |question: &Question| Comparison::of(question).unwrap().keeping(wanted).least_records.unwrap();
    let (free, with_universe) = (least(&asked), least(&listed));
    assert_eq!((free.value, free.mechanism.about().name), (with_universe.value, with_universe.mechanism.about().name));
    assert!((70_000_000..80_000_000).contains(&free.value), "{free:?}");
    assert_eq!((asked.records_of_universe(), listed.records_of_universe()), (None, Some(1_000_000)));
    assert_eq!(listed.with_records(1_000_000).universe, Some(1_000_000));
    assert_eq!(listed.with_records(1_000_001).universe, None);
    // What needs the universe is found as far as it goes: two keys may have so many records.
    let listed = Question { universe: Some(1_000), largest_count: 20_000, ..asked };
    let records = listed.least_records(&mechanisms::LaplaceHistogram, Wanted::Share(0.02)).unwrap();
    assert!(listed.with_records(records).within(&mechanisms::LaplaceHistogram).unwrap() <= 0.02 * records as f64);
    // A remedy, too: the largest answer is of all records, and no records of the universe are enough.
    let tiny = Question {
        budget: pure(1e-4),
        universe: Some(1_000),
        largest_count: 1_000,
        ..question(1_000_000, 1_000_000, 100)
    };
    let remedy = Comparison::of(&tiny).unwrap().row("laplace-per-query").unwrap().remedy.clone().unwrap();
    assert!(remedy.contains(" records"), "{remedy}");
}

/// The mechanism that is best at what is searched need not be the best as asked: noise for each answer keeps 20 answers where a projection release keeps
/// none.
#[test]
fn a_search_goes_through_all_mechanisms() {
    let question = distinct(1_000_000, 10_000, 1_000_000);
    let wanted = Wanted::Records(100.0);
    let comparison = Comparison::of(&question).unwrap();
    let keeping = comparison.keeping(wanted);
    let queries = keeping.largest_queries.unwrap();
    assert!(queries.value >= 20 && queries.mechanism.about().name == "gaussian-per-query", "{queries:?}");
    // One after the other, the slow way.
    let each = |search: fn(&Question, &dyn QueryRelease, Wanted) -> Option<u64>| {
        mechanisms::ALL.iter().filter_map(|&mechanism| search(&question, mechanism, wanted)).collect::<Vec<_>>()
    };
    assert_eq!(each(Question::largest_queries).into_iter().max(), Some(queries.value));
    assert_eq!(each(Question::largest_support).into_iter().max(), keeping.largest_support.map(|kept| kept.value));
    assert_eq!(each(Question::least_records).into_iter().min(), keeping.least_records.map(|kept| kept.value));
    let epsilons = mechanisms::ALL.iter().filter_map(|&mechanism| question.least_epsilon(mechanism, wanted));
    assert_eq!(epsilons.min_by(f64::total_cmp), keeping.least_epsilon.map(|kept| kept.value));
    // Nor does what does not hold for adaptive queries count for them.
    let adaptive = Comparison::of(&Question { asking: Asking::Adaptively, ..question }).unwrap().keeping(wanted);
    assert!(adaptive.largest_queries.unwrap().mechanism.about().is_adaptive);
}

/// A bound that steps is no reason to contradict the table: what keeps the error as stated is where a search begins; and where a mechanism ends
/// that went furthest so far, all others are asked again.
#[test]
fn searches_go_on_past_steps() {
    let pair = |question: &Question, wanted: Wanted| {
        let comparison = Comparison::of(question).unwrap();
        let within = comparison.winner().unwrap().within.unwrap();
        assert!(within <= wanted.in_records(question), "{within}");
        let keeping = comparison.keeping(wanted);
        (keeping.least_records.unwrap().value, keeping.least_epsilon.unwrap().value)
    };
    let heavy = Question { key_multiplicity: 50.0, memory: 16_000_000_000, ..question(1_000_000, 10_000, 100) };
    let (records, epsilon) = pair(&heavy, Wanted::Share(0.001));
    assert!(records < 1_000_000 && epsilon < 1.0, "{records} {epsilon}");
    let few = Question { budget: pure(5.0), memory: 16_000_000_000, ..distinct(1_000, 10, 300) };
    let (records, epsilon) = pair(&few, Wanted::Records(3.5));
    assert!(records <= 1_000 && epsilon <= 5.0, "{records} {epsilon}");
    // With more noise the intervals of a release are normal again, and narrower.
    let steep = Question { budget: pure(1.0), key_multiplicity: 1_000.0, ..question(1_000_000, 256, 10_000) };
    let (_, epsilon) = pair(&steep, Wanted::Share(0.02));
    let kept = |epsilon| {
        let question = Question { budget: pure(epsilon), ..steep.clone() };
        mechanisms::ALL.iter().any(|&mechanism| question.within(mechanism).is_some_and(|within| within <= 20_000.0))
    };
    assert!(epsilon <= 0.02 && kept(epsilon) && !kept(epsilon - 0.0001), "{epsilon}");
}

/// As far as what is stated, and not only to what is usual.
#[test]
fn searches_try_what_is_stated() {
    let tried = |epsilon| Question { budget: pure(epsilon), ..question(1_000_000, 1_000, 1) }.epsilons_tried();
    assert_eq!([tried(1e-5), tried(1.0), tried(700.0)], [(1e-5, 100.0), (0.001, 100.0), (0.001, 1_000.0)]);
    let strong = Question { budget: pure(1e-5), ..question(100_000_000, 1_000, 1) };
    let found = strong.least_epsilon(&LaplacePerQuery, Wanted::Records(1e7)).unwrap();
    assert!(found < 1e-3, "{found}");
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
    assert_eq!(crossing, None);
    assert!(!speaks(1_000_000, 10_000_000));
    let crossing = Comparison::of(&Question { records: 1_000_000, ..question.clone() }).unwrap().sparse_weights_from();
    let Crossing { queries, support } = crossing.unwrap();
    let there = Question {
        records: 1_000_000,
        queries: Queries::new(queries).unwrap(),
        support,
        memory: u64::MAX,
        ..question.clone()
    };
    assert!(there.within(&SparseWeights).unwrap() < there.largest_answer());
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
    let epsilon = remedy.strip_prefix("epsilon = ").and_then(|rest| rest.split(',').next()).unwrap();
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
            // Of so many records that the next size of its database cannot be enumerated.
            "small-database" => 1.5,
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
                (Some(one), Some(next)) => next <= one * step * (1.0 + 1e-9),
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
        for support in [1, Question::MAX_SUPPORT] {
            for queries in [1, Question::MAX_QUERIES] {
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
