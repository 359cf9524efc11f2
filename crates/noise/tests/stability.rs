//! The stability threshold is private with its (ε, δ), and no lower one is: by the exact law of all outputs.

use chacha20::ChaCha12Rng;
use rand::SeedableRng;
use tamis_noise::stability::{StabilityError, StabilityThreshold};
use tamis_noise::{Budget, Delta, DiscreteLaplace, Epsilon, Neighbours, ParameterError, Scale};
use tamis_oracle::discrete_laplace::{DiscreteLaplace as Law, survival_enclosure};

fn budget(epsilon: &str, delta: &str) -> Budget {
    Budget::approximate(epsilon.parse().unwrap(), delta.parse().unwrap())
}

/// Counts of three keys.
type Table = [i64; 3];

/// The chances of what is said of one key: nothing, each value from τ to `last`, and more than `last`.
///
/// Beyond both counts of two neighbours all values have one likelihood ratio, so they may be taken together: the divergence
/// below is exact, but for floats.
fn law_of_a_key(noise: Law, threshold: i64, count: i64, last: i64) -> Vec<f64> {
    let values = 1 + (last - threshold + 1).max(0) as usize;
    if count == 0 {
        return [1.0].into_iter().chain(vec![0.0; values]).collect();
    }
    let below = noise.mass(i64::MIN, threshold - 1 - count);
    let each = (threshold..=last).map(|value| noise.probability(value - count));
    let beyond = noise.survival(last.max(threshold - 1) + 1 - count);
    [below].into_iter().chain(each).chain([beyond]).collect()
}

/// The least δ with which the one output law is (ε, δ)-close to the other: Σ max(0, P − e^ε·P') over all outputs.
fn divergence(noise: Law, threshold: i64, epsilon: f64, [table, other]: [Table; 2]) -> f64 {
    let last = *table.iter().chain(&other).max().unwrap();
    let law = |table: Table| {
        let of_key = |key: usize| law_of_a_key(noise, threshold, table[key], last);
        let product = |left: &[f64], right: &[f64]| -> Vec<f64> {
            left.iter().flat_map(|l| right.iter().map(move |r| l * r)).collect()
        };
        product(&product(&of_key(0), &of_key(1)), &of_key(2))
    };
    law(table).iter().zip(law(other)).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
}

/// All ways in which a unit has at most `rows` rows at three keys.
fn units(rows: u32) -> Vec<Table> {
    let rows = i64::from(rows);
    let all = (0..=rows).flat_map(|a| (0..=rows).flat_map(move |b| (0..=rows).map(move |c| [a, b, c])));
    all.filter(|unit| unit.iter().sum::<i64>() <= rows).collect()
}

/// Every ordered pair of small neighbours: others' rows at no key, at one, or so many that they are released or nearly.
fn neighbouring_tables(neighbours: Neighbours, rows: u32, threshold: i64) -> Vec<[Table; 2]> {
    let levels = [0, 1, threshold - 1, threshold + 2];
    let others = levels.into_iter().flat_map(|a| levels.map(|b| [a, b, 0])).chain([[1, threshold, 3]]);
    let with = |table: Table, unit: Table| std::array::from_fn(|key| table[key] + unit[key]);
    let mut pairs = Vec::new();
    for table in others {
        for unit in units(rows) {
            match neighbours {
                Neighbours::AddRemove => pairs.extend([[with(table, unit), table], [table, with(table, unit)]]),
                Neighbours::Substitute => {
                    pairs.extend(units(rows).into_iter().map(|other| [with(table, unit), with(table, other)]));
                }
            }
        }
    }
    pairs
}

fn worst(threshold: &StabilityThreshold, value: i64, rows: u32) -> f64 {
    let noise = Law::new(threshold.scale().to_f64_up());
    let epsilon = threshold.cost().epsilon().to_f64_down();
    let pairs = neighbouring_tables(threshold.neighbours(), rows, threshold.threshold());
    pairs.into_iter().map(|pair| divergence(noise, value, epsilon, pair)).fold(0.0, f64::max)
}

/// ε, δ and L of small and of large privacy; at the last δ is more than 1 − q.
const CASES: [(&str, &str, u32); 7] = [
    ("1", "1/1000", 1),
    ("1/2", "1/50", 1),
    ("2", "1e-9", 1),
    ("1", "1/100", 2),
    ("4", "1/1000", 2),
    ("3", "1e-6", 3),
    ("1/10", "1/3", 1),
];

#[test]
fn the_release_is_private_and_no_lower_threshold_is() {
    for neighbours in [Neighbours::AddRemove, Neighbours::Substitute] {
        for (epsilon, delta, rows) in CASES {
            let threshold = StabilityThreshold::new(&budget(epsilon, delta), neighbours, rows).unwrap();
            let allowed = threshold.cost().delta().to_f64_up();
            let [least, lower] = [0, 1].map(|less| worst(&threshold, threshold.threshold() - less, rows));
            // Probabilities are sums of positive terms, each within a relative 1e-13.
            assert!(least <= allowed * (1.0 + 1e-9), "{neighbours} {epsilon} {delta} {rows}: {least}");
            // Where δ is more than 1 − q, that holds τ up and no twin is so bad.
            if delta == "1/3" {
                continue;
            }
            // The twin: a strict tail with a threshold that is not strict.
            assert!(lower > allowed, "{neighbours} {epsilon} {delta} {rows}: {lower}");
            // Another: half of the noise, under one unit more at a key that is released.
            if neighbours == Neighbours::AddRemove {
                let noise = Law::new(threshold.scale().to_f64_up() / 2.0);
                let (tau, epsilon) = (threshold.threshold(), threshold.cost().epsilon().to_f64_up());
                let pair = [[tau + 2 + i64::from(rows), 0, 0], [tau + 2, 0, 0]];
                assert!(divergence(noise, tau, epsilon, pair) > allowed, "{epsilon} {delta} {rows}");
            }
        }
    }
}

/// The threshold is the least that the conditions allow, by the oracle's own enclosures; for δ as small as there is, too.
#[test]
fn the_threshold_is_the_least() {
    let more =
        [("1", "1e-300", 1), ("1e-6", "1e-9", 1), ("1000", "1e-9", 1), ("1/3", "1e-12", 1_000_000), ("0.7", "1/7", 40)];
    for neighbours in [Neighbours::AddRemove, Neighbours::Substitute] {
        for (epsilon, delta, rows) in CASES.into_iter().chain(more) {
            let threshold = StabilityThreshold::new(&budget(epsilon, delta), neighbours, rows).unwrap();
            let (t, delta) = (threshold.scale().as_rational(), threshold.cost().delta().as_rational());
            let moved = u64::from(rows) * if neighbours == Neighbours::AddRemove { 1 } else { 2 };
            assert_eq!(*t, tamis_noise::Rational::from(moved) / threshold.cost().epsilon().as_rational());
            let holds = |threshold: i64| {
                let tail = |from: i64| survival_enclosure(t, from, 1200);
                let q = tamis_oracle::enclosure::exponential(&(-tamis_noise::Rational::ONE / t), 1200);
                let whole = tail(threshold - i64::from(rows));
                let one = tail(threshold - 1).upper * tamis_noise::Rational::from(rows);
                one <= *delta && whole.upper <= *delta && whole.upper <= tamis_noise::Rational::ONE - q.upper
            };
            assert!(
                holds(threshold.threshold()) && !holds(threshold.threshold() - 1),
                "{neighbours} {epsilon} {delta} {rows}"
            );
            assert!(threshold.threshold() > i64::from(rows));
        }
    }
}

/// What is released is the count and the sampler's own draw, from τ on; of a key that does not occur, nothing.
#[test]
fn a_release_is_the_noisy_count_or_nothing() {
    let threshold = StabilityThreshold::new(&budget("1/4", "1/20"), Neighbours::AddRemove, 1).unwrap();
    let noise = DiscreteLaplace::new(threshold.scale().clone());
    let counts: Vec<i64> = (0..4_000).map(|i| i % 25 - 2).chain([i64::MAX, i64::MIN]).collect();
    let [mut one, mut many, mut draws] = [(); 3].map(|()| ChaCha12Rng::seed_from_u64(5));
    let released = threshold.release_all(&counts, &mut many);
    for (&count, released) in counts.iter().zip(&released) {
        assert_eq!(threshold.release(count, &mut one), *released);
        let noisy = count.saturating_add(noise.sample(&mut draws));
        assert_eq!(*released, (count >= 1 && noisy >= threshold.threshold()).then_some(noisy));
    }
    assert!(counts.iter().zip(&released).all(|(&count, released)| count >= 1 || released.is_none()));
    assert!(released.contains(&Some(threshold.threshold())), "the least value that is released was released");
}

#[test]
fn what_cannot_be_is_refused() {
    let new = |budget: &Budget, rows| StabilityThreshold::new(budget, Neighbours::AddRemove, rows).map(|_| ());
    assert_eq!(new(&Budget::pure(Epsilon::new(1.0).unwrap()), 1), Err(StabilityError::WithoutDelta));
    assert_eq!(new(&budget("1", "1e-9"), 0), Err(StabilityError::NoRows));
    assert!(matches!(new(&budget("1e-12", "1e-9"), 2), Err(StabilityError::Parameter(ParameterError::Scale(_)))));

    let restore = |scale: f64, threshold| {
        let budget = Budget::approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap());
        StabilityThreshold::restore(&budget, Neighbours::Substitute, 2, &Scale::new(scale).unwrap(), threshold)
    };
    let made = StabilityThreshold::new(&budget("1", "1e-9"), Neighbours::Substitute, 2).unwrap();
    assert_eq!(restore(4.0, made.threshold()).unwrap().threshold(), made.threshold());
    assert_eq!(restore(4.0, i64::MAX).unwrap().threshold(), i64::MAX);
    assert_eq!(restore(4.0, 0).unwrap_err(), StabilityError::TooLow { least: made.threshold(), recorded: 0 });
    let other = StabilityError::OtherScale { expected: "4".to_owned(), recorded: "3.5".to_owned() };
    assert_eq!(restore(3.5, made.threshold()).unwrap_err(), other);
}
