//! What the planner plans answers, within what it said.

use rand::{SeedableRng, rngs::StdRng};
use std::collections::HashSet;
use tamis::noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
use tamis::plan::{Asking, Question, Records, mechanisms};
use tamis::queries::{Fingerprint, Histogram, SparseQuery};

/// As many as rows of the table below add up to.
const RECORDS: u64 = 36_000;

fn question() -> Question {
    Question {
        records: RECORDS,
        support: 4,
        queries: Queries::new(5).unwrap(),
        beta: Beta::new(1e-6).unwrap(),
        budget: Budget::approximate(Epsilon::new(20.0).unwrap(), Delta::new(1e-6).unwrap()),
        neighbours: Neighbours::AddRemove,
        rows_per_unit: 1,
        largest_count: 8_000,
        key_multiplicity: 6_000.0,
        universe: Some(10),
        asking: Asking::Beforehand,
        memory: 1 << 30,
    }
}

/// Keys 1 to 8, with 1 000 records to 8 000; 0 and 9 have none.
fn records() -> Records {
    let mut table = Histogram::builder();
    for key in 1..=8 {
        table.add(Fingerprint::raw(key), 1_000 * key as i64).unwrap();
    }
    Records::listed(table.build(), (0..10).map(Fingerprint::raw))
}

fn lists() -> Vec<SparseQuery> {
    let list = |keys: &[u64]| SparseQuery::count(keys.iter().map(|&key| Fingerprint::raw(key)));
    [&[0, 9][..], &[1], &[2, 3, 9], &[5, 6, 7, 8], &[1, 3, 5, 7]].map(list).to_vec()
}

/// Each mechanism is further off with a probability of at most 10⁻⁶, if its bound is a theorem; the seed is fixed.
#[test]
fn every_mechanism_answers_within_its_bound() {
    let (question, records, lists) = (question(), records(), lists());
    let truths = [0.0, 1_000.0, 5_000.0, 26_000.0, 16_000.0];
    let mut rng = StdRng::seed_from_u64(1);
    for mechanism in mechanisms::ALL {
        let planned = mechanism.plan(&question).unwrap();
        let answers = planned.answers(&records, &lists, &mut rng).unwrap();
        assert_eq!(answers.len(), lists.len(), "{mechanism:?}");
        let error = answers.iter().zip(truths).map(|(answer, truth)| (answer - truth).abs()).fold(0.0, f64::max);
        assert!(error <= planned.within, "{mechanism:?}: off by {error}, said {}", planned.within);
    }
}

/// The same seed gives the same answers: nothing is drawn but by the generator that is given.
#[test]
fn answers_are_drawn_by_the_generator() {
    let (question, records, lists) = (question(), records(), lists());
    for mechanism in mechanisms::ALL {
        let planned = mechanism.plan(&question).unwrap();
        let answers = |seed| planned.answers(&records, &lists, &mut StdRng::seed_from_u64(seed)).unwrap();
        assert_eq!(answers(1), answers(1), "{mechanism:?}");
    }
}

/// Those that go through a list of all keys have none to answer from.
#[test]
fn a_universe_that_was_stated_must_be_listed() {
    let (question, lists) = (question(), lists());
    let unlisted = Records::new(records().histogram().clone());
    let mut rng = StdRng::seed_from_u64(1);
    for mechanism in mechanisms::ALL {
        let planned = mechanism.plan(&question).unwrap();
        let needs_list = mechanism.plan(&Question { universe: None, ..question.clone() }).is_err();
        assert_eq!(planned.answers(&unlisted, &lists, &mut rng).is_err(), needs_list, "{mechanism:?}");
    }
}

#[test]
fn no_two_have_the_same_name() {
    let names: HashSet<&str> = mechanisms::ALL.iter().map(|mechanism| mechanism.about().name).collect();
    let titles: HashSet<&str> = mechanisms::ALL.iter().map(|mechanism| mechanism.about().title).collect();
    assert_eq!((names.len(), titles.len()), (mechanisms::ALL.len(), mechanisms::ALL.len()));
}
