//! The auditor: it accuses nothing that is right more often than it says, catches what is wrong, sees what it should see and
//! says when it does not, and finds the same again.
//!
//! Everything is seeded. Where a test is statistical, its false-alarm rate is beside it.

use rand::{RngExt, SeedableRng};
use tamis_harness::TrialRng;
use tamis_harness::audit::{Auditor, Claim, Subject, Transcript};
use tamis_oracle::continuous_laplace::sample as laplace;
use tamis_oracle::enumeration::{Pair, universal_pair};
use tamis_oracle::mechanism::Mechanism;
use tamis_oracle::statistics::binomial_tail;

fn generator(seed: u64) -> TrialRng {
    TrialRng::seed_from_u64(seed)
}

/// A bit told truly with probability ¾: the loss is ln 3, and no event has a larger one.
fn response(claim: f64) -> Subject {
    Subject::new("randomised response", "no, yes", Claim::pure(claim), [false, true], |bit, rng, seen| {
        let told = if rng.random_bool(0.75) { *bit } else { !*bit };
        seen.mark(if told { "yes" } else { "no" });
    })
}

/// Discrete Laplace noise of scale 1, as the difference of two geometric variables.
fn discrete_laplace(rng: &mut TrialRng) -> i64 {
    let mut geometric = || laplace(1.0, rng).abs().floor() as i64;
    geometric() - geometric()
}

/// A count with noise of scale 1: every half-line beyond both has the loss 1.
fn count(claim: f64) -> Subject {
    Subject::new("noisy count", "0, 1", Claim::pure(claim), [0, 1], |count, rng, seen| {
        seen.integer(count + discrete_laplace(rng));
    })
}

fn sparse_vector(name: &str, mechanism: Mechanism, pair: Pair) -> Subject {
    let real = |values: Vec<i64>| values.into_iter().map(|value| value as f64).collect::<Vec<f64>>();
    let inputs = [real(pair.first), real(pair.second)];
    Subject::new(name, "universal", Claim::pure(1.0), inputs, move |values, rng, seen| {
        for answer in mechanism.run(values, 0.0, &mut |scale| laplace(scale, rng)) {
            seen.mark(if answer.is_above() { "⊤" } else { "⊥" });
        }
    })
}

/// AboveThreshold on U(m, 1).
fn control(below: usize) -> Subject {
    sparse_vector("AboveThreshold", Mechanism::above_threshold(1.0, 1), universal_pair(below, 1, 1))
}

/// How many of so many audits accuse, each with its own seed.
fn alarms(auditor: Auditor, subject: &Subject, audits: u64) -> u64 {
    (0..audits).filter(|&seed| auditor.audit(subject, &mut generator(seed)).is_caught()).count() as u64
}

/// At α = 0.01 a thousand audits of right mechanisms, two of them with a loss that is all they claim, give at most 24 alarms: more
/// come with probability below 1e-4. The same audits of claims that are false by a fifth give far more.
#[test]
fn right_mechanisms_are_accused_no_more_often_than_alpha() {
    let auditor = Auditor::new(0.01, 2_000);
    assert!(binomial_tail(1_000, 0.01, 25) < 1e-4);
    let right = [(response(3_f64.ln()), 500), (count(1.0), 250), (control(4), 250)];
    let counts = right.map(|(subject, audits)| alarms(auditor, &subject, audits));
    let total: u64 = counts.iter().sum();
    assert!(total <= 24, "{counts:?}");
    let wrong = alarms(auditor, &response(0.8 * 3_f64.ln()), 100) + alarms(auditor, &count(0.8), 100);
    assert!(wrong > 100, "{wrong} of 200");
}

/// α is spent, not saved: where nothing but one event is confirmed, alarms come at a rate that is not far below it.
#[test]
fn alpha_is_what_it_is_said_to_be() {
    let found = alarms(Auditor::new(0.2, 500), &response(3_f64.ln()), 1_000);
    // Fewer than 60 or more than 260 alarms of a rate between 0.1 and 0.2: below 1e-5.
    assert!((60..=260).contains(&found), "{found} of 1000 at alpha 0.2");
}

#[test]
fn the_published_mistakes_are_caught() {
    use tamis_oracle::wrong;
    let auditor = Auditor::new(1e-6, 300_000);
    let universal = |below, above| universal_pair(below, above, 1);
    for subject in [
        sparse_vector("ν not doubled", wrong::not_doubled(1.0, 1, 1), universal(4, 1)),
        sparse_vector("Lee–Clifton", wrong::lee_clifton(1.0, 1, 1), universal(4, 1)),
        sparse_vector("Chen and others", wrong::chen(1.0, 1), universal(2, 2)),
    ] {
        let report = auditor.audit(&subject, &mut generator(1));
        assert!(report.is_caught(), "{subject:?}: {report:?}");
        assert!(report.runs < 300_000, "{subject:?} was caught late: {report:?}");
    }
}

#[test]
fn blindness_is_declared() {
    let sees = Auditor::new(1e-6, 500_000).audit(&control(8), &mut generator(2));
    assert!(!sees.shows_blindness() && !sees.is_caught(), "{sees:?}");
    // Too few runs for an event of probability 0.008.
    let blind = Auditor::new(1e-6, 5_000).audit(&control(8), &mut generator(2));
    assert!(blind.shows_blindness() && !blind.is_caught(), "{blind:?}");
}

#[test]
fn the_same_generator_gives_the_same_report() {
    let auditor = Auditor::new(1e-3, 20_000);
    for subject in [count(1.0), control(4), response(0.5)] {
        let reports = [7, 7, 8].map(|seed| auditor.audit(&subject, &mut generator(seed)));
        assert_eq!(reports[0], reports[1]);
        assert_ne!(reports[0], reports[2]);
        assert_eq!(auditor.measure(&subject, &mut generator(7)).runs, 20_000);
    }
}

/// Noise drawn in floats has its low bits where the input puts them (Mironov, CCS 2012): 0 + noise is anywhere, 1 + noise never below 2⁻⁵³.
#[test]
fn float_noise_is_caught_by_its_lowest_bit() {
    let auditor = Auditor::new(1e-6, 5_000);
    let float = |count: &f64, rng: &mut TrialRng, seen: &mut Transcript| {
        // The textbook's: −ln of a uniform number, and a fair sign.
        let noise = -(1.0 - rng.random::<f64>()).ln();
        seen.real(if rng.random() { count + noise } else { count - noise });
    };
    let subject = Subject::new("Laplace in floats", "0, 1", Claim::pure(1.0), [0.0, 1.0], float);
    let report = auditor.audit(&subject, &mut generator(3));
    assert!(report.is_caught(), "{report:?}");
    assert!(report.best().is_some_and(|best| best.event.contains("lowest bit")), "{report:?}");
}

/// A record that moves from one cell to another moves two counts: each alone loses 1, both together 2.
#[test]
fn what_only_two_numbers_together_give_away_is_found() {
    let subject = Subject::new("two counts", "moved", Claim::pure(1.2), [[0, 1], [1, 0]], |counts, rng, seen| {
        counts.iter().for_each(|&count| seen.integer(count + discrete_laplace(rng)));
    });
    let report = Auditor::new(1e-6, 20_000).audit(&subject, &mut generator(4));
    assert!(report.is_caught(), "{report:?}");
    let best = report.best().unwrap();
    assert!(best.event.contains("cells") || best.event.contains("number 2"), "{report:?}");
}

/// With probability δ the input is told: right as claimed, caught with half of the δ.
#[test]
fn delta_is_accounted_for() {
    let telling = |delta: f64| {
        Subject::new("tells at times", "0, 1", Claim::approximate(0.5, delta), [0, 1], |bit, rng, seen| {
            if rng.random_bool(0.01) { seen.label(bit) } else { seen.mark("nothing") }
        })
    };
    let auditor = Auditor::new(1e-6, 50_000);
    assert!(!auditor.audit(&telling(0.01), &mut generator(5)).is_caught());
    assert!(auditor.audit(&telling(0.005), &mut generator(5)).is_caught());
}

#[test]
fn an_event_of_the_subjects_own_is_tried() {
    // Each outcome alone is too rare to be seen twice, and nothing orders them: only arithmetic tells odd from even.
    let subject = |named: bool| {
        let subject = Subject::new("odd or even", "odd, even", Claim::pure(0.5), [1_u64, 0], |parity, rng, seen| {
            let told = if rng.random_bool(0.75) { *parity } else { 1 - *parity };
            seen.label(2 * (rng.random::<u64>() >> 2) + told);
        });
        let is_odd = |seen: &Transcript| seen.items().any(|item| item.ends_with(['1', '3', '5', '7', '9']));
        if named { subject.event("odd", is_odd) } else { subject }
    };
    let auditor = Auditor::new(1e-6, 5_000);
    assert!(!auditor.audit(&subject(false), &mut generator(6)).is_caught());
    let report = auditor.audit(&subject(true), &mut generator(6));
    assert!(report.is_caught() && report.best().is_some_and(|best| best.event == "odd"), "{report:?}");
}

/// A mechanism that says nothing, one that says the same thing, one that says too much: no panic, and no accusation.
#[test]
fn odd_transcripts_are_borne() {
    let says = |write: fn(&mut Transcript, &mut TrialRng)| {
        Subject::new("odd", "equal", Claim::pure(0.1), [(), ()], move |(), rng, seen| write(seen, rng))
    };
    let subjects = [
        says(|_, _| ()),
        says(|seen, _| seen.mark("")),
        says(|seen, _| seen.mark("#")),
        says(|seen, rng| seen.real(if rng.random() { f64::NAN } else { f64::INFINITY })),
        says(|seen, rng| (0..rng.random_range(0..40)).for_each(|_| seen.integer(rng.random()))),
        says(|seen, _| (0..300).for_each(|place| seen.label(place))),
    ];
    for (place, subject) in subjects.iter().enumerate() {
        let report = Auditor::new(1e-6, 500).audit(subject, &mut generator(9));
        assert!(!report.is_caught(), "{place}: {report:?}");
        assert!(!Auditor::new(1e-6, 1).audit(subject, &mut generator(9)).is_caught());
    }
}
