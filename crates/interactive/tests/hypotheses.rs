//! Hypotheses against each other, step by step, and against their mistake bounds.

use proptest::prelude::*;
use tamis_interactive::{
    DenseWeights, Hypothesis, Query, Refused, SparsePerceptron, SparseWeights, Step, StoredPerceptron, StoredWeights,
    SupportWeights,
};
use tamis_noise::Hits;
use tamis_oracle::median::Median;
use tamis_queries::{Conjunction, Element, Fingerprint, FingerprintKey, Rational, SparseQuery};

const UNIVERSE: u64 = 40;
const SUPPORT: u64 = 8;
const UPDATES: u64 = 12;

/// Steps are multiples of 2^-40 in the sparse form; a dozen of them, on shares that move by at most a quarter of a
/// step.
const ROUNDING: f64 = 1e-10;

fn hits(updates: u64) -> Hits {
    Hits::new(updates).unwrap()
}

fn count(keys: &[u64]) -> Query {
    Query::keys(SparseQuery::count(keys.iter().copied().map(Fingerprint::raw)))
}

fn weighted(pairs: &[(u64, u8)]) -> Query {
    let pairs =
        pairs.iter().map(|&(key, weight)| (Fingerprint::raw(key), Rational::from_parts(weight.into(), 8u8.into())));
    Query::keys(SparseQuery::weighted(pairs.collect::<std::collections::BTreeMap<_, _>>()).unwrap())
}

fn query() -> impl Strategy<Value = Query> {
    let keys = || proptest::collection::vec(0..UNIVERSE, 0..=SUPPORT as usize);
    let pairs = proptest::collection::vec((0..UNIVERSE, 0u8..=8), 0..=SUPPORT as usize);
    prop_oneof![keys().prop_map(|keys| count(&keys)), pairs.prop_map(|pairs| weighted(&pairs))]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0.01f64..2.0).prop_map(Step::Raise),
        (0.01f64..2.0).prop_map(Step::Lower),
        (0.02f64..0.98).prop_map(Step::Reach),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The lazily mapped universe answers as the one that is listed and padded to N, in both forms.
    #[test]
    fn sparse_weights_are_dense_weights(
        steps in proptest::collection::vec((query(), step()), 0..UPDATES as usize),
        asked in proptest::collection::vec(query(), 8),
    ) {
        let mut sparse = SparseWeights::new(SUPPORT, hits(UPDATES), 3, None).unwrap();
        let padding = sparse.slots() - UNIVERSE;
        let universe = || (0..UNIVERSE).map(Fingerprint::raw);
        let mut dense = DenseWeights::new(universe(), padding).unwrap();
        let mut support = SupportWeights::new(universe().chain((1_000..1_000 + padding).map(Fingerprint::raw))).unwrap();
        for (query, step) in &steps {
            // A target that no weight of the query reaches is a matter of its own.
            let step = match *step {
                Step::Reach(target) => Step::Reach(target * reach(query)),
                step => step,
            };
            for hypothesis in [&mut sparse as &mut dyn Hypothesis, &mut dense, &mut support] {
                hypothesis.update(query, step).unwrap();
            }
            for query in &asked {
                let answer = sparse.evaluate(query).unwrap();
                prop_assert!((answer - dense.evaluate(query).unwrap()).abs() <= ROUNDING);
                prop_assert!((answer - support.evaluate(query).unwrap()).abs() <= ROUNDING);
            }
        }
    }

    /// What is stored goes on as what was not.
    #[test]
    fn a_stored_hypothesis_goes_on(steps in proptest::collection::vec((query(), step()), 0..6), asked in query()) {
        let mut weights = SparseWeights::new(SUPPORT, hits(UPDATES), 1, None).unwrap();
        for (query, step) in &steps {
            weights.update(query, *step).unwrap();
        }
        let text = serde_json::to_string(&weights.store()).unwrap();
        let mut restored = SparseWeights::restore(&serde_json::from_str(&text).unwrap()).unwrap();
        prop_assert_eq!(restored.store(), weights.store());
        for hypothesis in [&mut weights, &mut restored] {
            hypothesis.update(&asked, Step::Raise(0.5)).unwrap();
        }
        let (answer, again) = (weights.evaluate(&asked).unwrap(), restored.evaluate(&asked).unwrap());
        prop_assert!((answer - again).abs() <= 1e-14);
    }

    /// Stored update by update, a hypothesis is what it is stored whole.
    #[test]
    fn pieces_are_the_whole(steps in proptest::collection::vec((query(), step()), 0..8)) {
        let mut weights = SparseWeights::new(SUPPORT, hits(UPDATES), 1, None).unwrap();
        let mut perceptron = SparsePerceptron::new(SUPPORT, 1, None).unwrap();
        let (mut of_weights, mut of_perceptron) = (vec![weights.store()], vec![perceptron.store()]);
        for (query, step) in &steps {
            weights.update(query, *step).unwrap();
            perceptron.update(query, *step).unwrap();
            of_weights.push(weights.store_keys_of(query));
            of_perceptron.push(perceptron.store_keys_of(query));
        }
        prop_assert_eq!(StoredWeights::latest(of_weights.clone()).unwrap(), weights.store());
        prop_assert_eq!(StoredPerceptron::latest(of_perceptron).unwrap(), perceptron.store());
        of_weights.push(SparseWeights::new(SUPPORT, hits(UPDATES), 2, None).unwrap().store());
        prop_assert!(StoredWeights::latest(of_weights).is_err() && StoredWeights::latest(Vec::new()).is_err());
    }

    /// A conjunction is answered alike whether it is listed or looked up key by key.
    #[test]
    fn conjunctions_are_their_lists(fixed in proptest::collection::vec((any::<u8>(), any::<u8>()), 1..6), asked in any::<(u8, u8)>()) {
        let key = FingerprintKey::new([3; 16]);
        let conjunction = |(ones, zeros): (u8, u8)| Conjunction::new(8, ones.into(), (zeros & !ones).into()).unwrap();
        let listed = |c: &Conjunction| Query::keys(c.query(&key).unwrap());
        let mut by_points = SparseWeights::new(256, hits(6), 1, Some(8)).unwrap();
        let mut by_lists = by_points.clone();
        for &fixed in &fixed {
            let c = conjunction(fixed);
            by_points.update(&Query::conjunction(c, key), Step::Raise(0.7)).unwrap();
            by_lists.update(&listed(&c), Step::Raise(0.7)).unwrap();
        }
        let c = conjunction(asked);
        let answer = by_lists.evaluate(&listed(&c)).unwrap();
        for weights in [&by_points, &by_lists] {
            prop_assert!((weights.evaluate(&Query::conjunction(c, key)).unwrap() - answer).abs() <= 1e-14);
        }
    }
}

/// The largest weight of a query, a little reduced; 1 if it is a count.
fn reach(query: &Query) -> f64 {
    if query.support() == 0.0 { 1.0 } else { (query.squared_norm() / query.support()).sqrt().min(0.99) * 0.5 }
}

/// Data whose heaviest keys are many, few, or one; a share of it on keys that no query names.
fn data(distinct: u64, outside: f64) -> Vec<f64> {
    let total = (1..=distinct).map(|rank| 1.0 / rank as f64).sum::<f64>();
    (1..=distinct).map(|rank| (1.0 - outside) / rank as f64 / total).collect()
}

/// Always asks the worst of many queries, and never tells more than the hypothesis must bear: that the answer is
/// `alpha` off. How often it could.
fn adversary(hypothesis: &mut dyn Hypothesis, data: &[f64], support: usize, alpha: f64, exact: bool) -> u32 {
    let mut state = 7u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut updates = 0;
    let mut quiet = 0;
    while quiet < 200 {
        let size = 1 + random(support);
        let keys: Vec<u64> = (0..size).map(|_| random(2 * data.len()) as u64).collect();
        let query = count(&keys);
        let distinct: std::collections::BTreeSet<_> = keys.into_iter().collect();
        let truth: f64 = distinct.iter().filter_map(|&key| data.get(key as usize)).sum();
        let answer = hypothesis.evaluate(&query).unwrap();
        if (truth - answer).abs() < alpha {
            quiet += 1;
            continue;
        }
        quiet = 0;
        // Exactly right, or the least that the bound asks for.
        let target = if exact { truth } else { answer + alpha * (truth - answer).signum() };
        hypothesis.update(&query, Step::Reach(target)).unwrap();
        updates += 1;
    }
    updates
}

#[test]
fn no_adversary_exceeds_the_mistake_bound() {
    for (distinct, spare) in [(1, 1), (30, 1), (300, 1), (300, 6)] {
        for outside in [0.0, 0.5] {
            let data = data(distinct, outside);
            // The spare slots are a promise about the largest share; the one that is left over is spread.
            assert!(data[0] <= 1.0 / spare as f64);
            for (alpha, exact) in [(0.05, false), (0.05, true), (0.02, false)] {
                // c and the bound depend on each other: the least fixed point.
                let mut updates = 1;
                let weights = loop {
                    let weights = SparseWeights::new(20, hits(updates), spare, None).unwrap();
                    if weights.mistake_bound(alpha) < updates as f64 + 1.0 {
                        break weights;
                    }
                    updates += 1;
                };
                let made = adversary(&mut weights.clone(), &data, 20, alpha, exact);
                assert!(f64::from(made) <= weights.mistake_bound(alpha), "{distinct} {spare} {alpha}: {made}");
                if alpha == 0.05 && distinct > 1 {
                    assert!(made > 0);
                }
            }
        }
    }
}

#[test]
fn the_perceptron_keeps_its_bound_and_beats_weights_where_it_says() {
    let flat = vec![1.0 / 400.0; 400];
    let alpha = 0.02;
    let mut perceptron = SparsePerceptron::new(20, 400, None).unwrap();
    let bound = perceptron.mistake_bound(alpha);
    let made = adversary(&mut perceptron, &flat, 20, alpha, false);
    assert!(made > 0 && f64::from(made) <= bound, "{made} {bound}");
    let weights = SparseWeights::new(20, hits(10_000), 1, None).unwrap();
    assert!(bound < weights.mistake_bound(alpha));
}

/// A whole net of databases stands behind them: log₂ of their number is its bound, and on a universe of four every one
/// of the others learns the same answers.
#[test]
fn the_median_keeps_its_bound() {
    let (universe, records) = (4, 24);
    let truth = [0.43, 0.31, 0.09, 0.17];
    let alpha = Median::resolution(universe, records) * 1.01;
    let mut median = Median::new(universe, records);
    let bound = (median.databases() as f64).log2();
    let mut weights = SparseWeights::new(4, hits(1_000), 1, None).unwrap();
    let mut updates = 0;
    for round in 0..20u32 {
        for subset in 1..16u32 {
            let query: Vec<f64> = (0..4).map(|key| f64::from(subset >> ((key + round) % 4) & 1)).collect();
            let keys: Vec<u64> = (0..4).filter(|&key| query[key as usize] > 0.0).collect();
            let value: f64 = truth.iter().zip(&query).map(|(share, weight)| share * weight).sum();
            let error = value - median.evaluate(&query);
            if error.abs() >= alpha {
                median.update(&query, error > 0.0);
                updates += 1;
            }
            let answer = weights.evaluate(&count(&keys)).unwrap();
            if (value - answer).abs() >= alpha {
                weights.update(&count(&keys), Step::Reach(value)).unwrap();
            }
        }
    }
    assert!(updates > 0 && f64::from(updates) <= bound, "{updates} {bound}");
    for (key, share) in truth.into_iter().enumerate() {
        let query: Vec<f64> = (0..4).map(|other| f64::from(u8::from(other == key))).collect();
        assert!((median.evaluate(&query) - share).abs() < alpha);
        assert!((weights.evaluate(&count(&[key as u64])).unwrap() - share).abs() < alpha);
    }
}

#[test]
fn what_is_too_wide_is_refused_with_the_number() {
    let mut weights = SparseWeights::new(3, hits(2), 1, Some(48)).unwrap();
    let wide = count(&[1, 2, 3, 4]);
    let refusal = weights.evaluate(&wide).unwrap_err();
    assert_eq!(refusal.to_string(), "a query may have at most 3 keys here, got 4");
    assert_eq!(weights.update(&wide, Step::Raise(1.0)), Err(refusal));

    let key = FingerprintKey::new([1; 16]);
    let all = Query::conjunction(Conjunction::new(128, 0, 0).unwrap(), key);
    let refusal = weights.evaluate(&all).unwrap_err().to_string();
    assert_eq!(refusal, "a query may have at most 3 keys here, got 340282366920938463463374607431768211456");
    let other = Query::conjunction(Conjunction::new(2, 1, 2).unwrap(), key);
    assert_eq!(weights.evaluate(&other), Err(Refused::Width { width: 2, expected: Some(48) }));

    for _ in 0..2 {
        weights.update(&count(&[1]), Step::Reach(0.5)).unwrap();
    }
    assert_eq!(weights.update(&count(&[2]), Step::Reach(0.5)), Err(Refused::NoUpdatesLeft(2)));
    for (support, spare) in [(0, 1), (1 << 25, 1), (1, 0), (1, u64::MAX)] {
        assert!(matches!(SparseWeights::new(support, hits(1), spare, None), Err(Refused::Size { .. })));
    }
}

/// A key list over packed booleans hides their points; a conjunction that meets it later is still right.
#[test]
fn lists_and_conjunctions_mix() {
    let key = FingerprintKey::new([9; 16]);
    let point = |bits: u128| key.fingerprint(&Element::bits(bits, 20).unwrap());
    let mut weights = SparseWeights::new(1 << 10, hits(5), 1, Some(20)).unwrap();
    let list = Query::keys(SparseQuery::count([point(0b11), point(0b10)]));
    weights.update(&list, Step::Reach(0.6)).unwrap();
    // Ten literals free: 1024 points, more than are assigned; both keys of the list are among them.
    let wide = Conjunction::new(20, 0b10, 0xff << 11 | 1 << 10).unwrap();
    assert_eq!(wide.support(), 1024.0);
    let before = weights.evaluate(&Query::conjunction(wide, key)).unwrap();
    assert!(before > 0.6);
    // Now the points are named, and it need not be listed.
    weights.update(&Query::conjunction(wide, key), Step::Reach(0.9)).unwrap();
    let none = Conjunction::new(20, 1 << 19, 0x3ff).unwrap();
    assert!(weights.evaluate(&Query::conjunction(none, key)).unwrap() < 0.1);
    assert!((weights.evaluate(&Query::conjunction(wide, key)).unwrap() - 0.9).abs() < 1e-11);
}

#[test]
fn damaged_states_are_refused() {
    let mut weights = SparseWeights::new(2, hits(2), 1, Some(4)).unwrap();
    weights.update(&count(&[1, 2]), Step::Raise(1.0)).unwrap();
    let text = serde_json::to_string(&weights.store()).unwrap();
    let restore = |text: &str| serde_json::from_str(text).map(|stored| SparseWeights::restore(&stored));
    assert!(restore(&text).unwrap().is_ok());
    for (from, to) in [
        ("\"made\":1", "\"made\":3"),
        ("\"made\":1", "\"made\":0"),
        ("[2,", "[1,"),
        ("[1,1099511627776,null]", "[1,9223372036854775807,null]"),
        ("[1,1099511627776,null]", "[1,1099511627776,16]"),
        ("\"spare\":1", "\"spare\":0"),
        ("\"width\":4", "\"width\":129"),
    ] {
        let damaged = text.replace(from, to);
        assert_ne!(damaged, text, "{from} is not in {text}");
        assert!(restore(&damaged).unwrap().is_err(), "{damaged}");
    }
    for (from, to) in [("\"updates\":2", "\"updates\":0"), ("1099511627776", "null"), ("[1,", "[-1,")] {
        let damaged = text.replace(from, to);
        assert!(restore(&damaged).is_err(), "{damaged}");
    }
}
