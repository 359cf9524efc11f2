//! Exact laws of private selection: the probability of each candidate, given all scores.
//!
//! Each is the definition, added up. The exponential mechanism and permute-and-flip are rationals between enclosures of
//! e^(−gap/t); noisy max is a sum over the noise of the winner, with the errors of [`enumeration`](crate::enumeration).
//! Scores and scales are in grid units.

use crate::discrete_laplace::DiscreteLaplace;
use crate::enclosure::{Enclosure, exponential as power};
use crate::enumeration::{FLOAT_ERROR, Interval, Pair};
use dashu_ratio::RBig;
use std::collections::HashMap;

/// Bits of the enclosures: their floats are within two units of the truth.
const BITS: usize = 128;

fn largest(scores: &[i64]) -> i64 {
    *scores.iter().max().expect("at least one candidate")
}

/// e^((score − largest)/t) of each candidate.
fn coins(scores: &[i64], scale: &RBig) -> Vec<Enclosure> {
    assert!(*scale > RBig::ZERO, "a scale must be positive, got {scale}");
    let largest = largest(scores);
    scores.iter().map(|score| power(&(RBig::from(score - largest) / scale), BITS)).collect()
}

fn interval(lower: RBig, upper: RBig) -> Interval {
    let (lower, upper) = Enclosure { lower, upper }.to_f64();
    Interval { lower, upper }
}

/// The exponential mechanism: each candidate in proportion to e^(score/t).
///
/// # Panics
///
/// If there are no scores, or the scale is not positive.
///
/// ```
/// let law = tamis_oracle::selection::exponential(&[5, 5, 5], &"2".parse().unwrap());
/// assert!(law.iter().all(|p| p.lower <= 1.0 / 3.0 && 1.0 / 3.0 <= p.upper && p.upper - p.lower < 1e-15));
/// ```
pub fn exponential(scores: &[i64], scale: &RBig) -> Vec<Interval> {
    let weights = coins(scores, scale);
    let sum = |end: fn(&Enclosure) -> &RBig| weights.iter().map(end).fold(RBig::ZERO, |sum, weight| sum + weight);
    let (lower, upper) = (sum(|w| &w.lower), sum(|w| &w.upper));
    // w/(w + others), which grows with w and falls with the others.
    let share =
        |w: &Enclosure| interval(&w.lower / (&w.lower + &upper - &w.upper), &w.upper / (&w.upper + &lower - &w.lower));
    weights.iter().map(share).collect()
}

/// Permute-and-flip, as printed: over all orders of the candidates, the first whose coin e^((score − largest)/t) shows heads.
///
/// Cost: k! orders, fit for six candidates.
///
/// # Panics
///
/// If there are no scores, or the scale is not positive.
///
/// ```
/// // A score one scale below the largest: heads with e^−1, and then first in every other order.
/// let law = tamis_oracle::selection::permute_and_flip(&[7, 5], &"2".parse().unwrap());
/// let expected = (-1f64).exp() / 2.0;
/// assert!(law[1].lower <= expected * (1.0 + 1e-15) && expected * (1.0 - 1e-15) <= law[1].upper);
/// ```
pub fn permute_and_flip(scores: &[i64], scale: &RBig) -> Vec<Interval> {
    first_heads(scores, scale, |candidates| orders(candidates, candidates))
}

/// The first heads in one of these orders of the candidates, each as likely.
pub(crate) fn first_heads(scores: &[i64], scale: &RBig, orders: impl Fn(usize) -> Vec<Vec<usize>>) -> Vec<Interval> {
    let coins = coins(scores, scale);
    let orders = orders(scores.len());
    let mut law = vec![(RBig::ZERO, RBig::ZERO); scores.len()];
    for order in &orders {
        let (mut lower, mut upper) = (RBig::ONE, RBig::ONE);
        for &candidate in order {
            let coin = &coins[candidate];
            law[candidate].0 += &lower * &coin.lower;
            law[candidate].1 += &upper * &coin.upper;
            lower *= RBig::ONE - &coin.upper;
            upper *= RBig::ONE - &coin.lower;
        }
    }
    let count = RBig::from(orders.len());
    law.into_iter().map(|(lower, upper)| interval(lower / &count, upper / &count)).collect()
}

/// Every sequence of `length` different candidates, in lexicographic order.
pub fn orders(candidates: usize, length: usize) -> Vec<Vec<usize>> {
    (0..length).fold(vec![Vec::new()], |shorter, _| {
        let longer = |head: &Vec<usize>| {
            let others = (0..candidates).filter(|candidate| !head.contains(candidate));
            others.map(|last| [head.as_slice(), &[last]].concat()).collect::<Vec<_>>()
        };
        shorter.iter().flat_map(longer).collect()
    })
}

/// Report noisy max with discrete Laplace noise on each score, the first of equals winning.
///
/// # Panics
///
/// If there are no scores, or the scale is not positive.
///
/// ```
/// let law = tamis_oracle::selection::noisy_max(&[0, 0], &"1".parse().unwrap());
/// assert!(law[0].lower > law[1].upper); // ties go to the first
/// assert!((law[0].lower + law[1].lower - 1.0).abs() < 1e-9);
/// ```
pub fn noisy_max(scores: &[i64], scale: &RBig) -> Vec<Interval> {
    assert!(*scale > RBig::ZERO, "a scale must be positive, got {scale}");
    let scale = scale.to_f64().value();
    let law = DiscreteLaplace::new(scale);
    // As far as a tail below e^−60, with all scores in reach.
    let reach = (60.0 * scale).ceil() as i64 + (largest(scores) - scores.iter().min().expect("not empty"));
    let wins = |winner: usize| {
        let at = |noise: i64| {
            let others = scores.iter().enumerate().filter(|&(other, _)| other != winner);
            let below = others.map(|(other, score)| {
                // One that comes before wins a tie.
                let most = scores[winner] + noise - score - i64::from(other < winner);
                law.mass(i64::MIN, most)
            });
            law.probability(noise) * below.product::<f64>()
        };
        let sum: f64 = (-reach..=reach).map(at).sum();
        let tail = 2.0 * law.survival(reach + 1);
        Interval { lower: sum * (1.0 - FLOAT_ERROR), upper: (sum + tail) * (1.0 + FLOAT_ERROR) }
    };
    (0..scores.len()).map(wins).collect()
}

/// A selection made `selections` times, each among those that are left: the probability of every sequence, in the order of
/// [`orders`].
pub fn in_turn(law: impl Fn(&[i64]) -> Vec<Interval>, scores: &[i64], selections: usize) -> Vec<Interval> {
    let of_sequence = |sequence: Vec<usize>| {
        (0..selections).fold(Interval::ONE, |reached, turn| {
            let left: Vec<usize> =
                (0..scores.len()).filter(|candidate| !sequence[..turn].contains(candidate)).collect();
            let selected = left.iter().position(|&candidate| candidate == sequence[turn]).expect("not selected before");
            let scores: Vec<i64> = left.iter().map(|&candidate| scores[candidate]).collect();
            reached.times(law(&scores)[selected])
        })
    };
    orders(scores.len(), selections).into_iter().map(of_sequence).collect()
}

/// The largest loss of any output over these pairs, both ways round: ln of the ratio of its probabilities. Each list of scores
/// has its law computed once.
///
/// # Panics
///
/// If there are no pairs, or the law of two lists of a pair differs in length.
///
/// ```
/// use tamis_oracle::enumeration::{Movement, neighbouring_pairs};
/// use tamis_oracle::selection::{permute_and_flip, worst_loss};
/// // Sensitivity 1, ε = 1, so a scale of 2; and one of 1, which would do if all scores moved together.
/// let pairs = neighbouring_pairs(2, 0, 3, 1, Movement::Free);
/// let worst = |scale: &str| worst_loss(|scores| permute_and_flip(scores, &scale.parse().unwrap()), &pairs);
/// assert!(worst("2").upper < 1.0 + 1e-12);
/// assert!(worst("1").lower > 1.9);
/// ```
pub fn worst_loss(law: impl Fn(&[i64]) -> Vec<Interval>, pairs: &[Pair]) -> Interval {
    assert!(!pairs.is_empty(), "at least one pair is needed");
    let mut laws: HashMap<&[i64], Vec<Interval>> = HashMap::new();
    for scores in pairs.iter().flat_map(|pair| [&pair.first, &pair.second]) {
        laws.entry(scores).or_insert_with(|| law(scores));
    }
    let mut worst = Interval { lower: f64::NEG_INFINITY, upper: f64::NEG_INFINITY };
    for pair in pairs {
        let (first, second) = (&laws[&pair.first[..]], &laws[&pair.second[..]]);
        assert_eq!(first.len(), second.len(), "the laws of a pair have the same outputs");
        for (&p, &q) in first.iter().zip(second) {
            for loss in [p.log_ratio(q), q.log_ratio(p)] {
                worst = Interval { lower: worst.lower.max(loss.lower), upper: worst.upper.max(loss.upper) };
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coins::{bernoulli_exponential, uniform};
    use crate::statistics::ChiSquare;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    const FALSE_ALARM: f64 = 1e-6;
    /// Sees a candidate of probability ¼ off by 0.02; does not see 0.005.
    const RUNS: usize = 20_000;

    fn scale(text: &str) -> RBig {
        text.parse().expect("a rational literal")
    }

    /// The paper's figure, run: a random order, then coins in big integers.
    fn run_permute_and_flip(scores: &[i64], scale: &RBig, rng: &mut Xoshiro256PlusPlus) -> usize {
        let mut left: Vec<usize> = (0..scores.len()).collect();
        loop {
            let next = usize::try_from(uniform(&left.len().into(), rng)).expect("below the length");
            let candidate = left.swap_remove(next);
            let gap = RBig::from(largest(scores) - scores[candidate]) / scale;
            if bernoulli_exponential(&gap, rng) {
                return candidate;
            }
        }
    }

    #[test]
    fn runs_of_the_figure_follow_the_law() {
        let (scores, t) = ([2, 0, 3, 3], scale("7/3"));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut counts = [0; 4];
        (0..RUNS).for_each(|_| counts[run_permute_and_flip(&scores, &t, &mut rng)] += 1);
        let middle = |law: Vec<Interval>| law.iter().map(|p| p.lower).collect::<Vec<_>>();
        assert!(ChiSquare::new(&counts, &middle(permute_and_flip(&scores, &t)), 25.0).accepts(FALSE_ALARM));
        // The other laws are others.
        for other in
            [exponential(&scores, &t), noisy_max(&scores, &t), crate::wrong::flips_in_a_fixed_order(&scores, &t)]
        {
            assert!(!ChiSquare::new(&counts, &middle(other), 25.0).accepts(FALSE_ALARM));
        }
    }

    #[test]
    fn laws_are_complete() {
        for scores in [vec![4], vec![0, 9], vec![1, 1, 1], vec![-3, 8, 0, 7]] {
            for t in ["1/2", "1", "10/3"].map(scale) {
                let in_turn = in_turn(|scores| exponential(scores, &t), &scores, scores.len());
                let laws = [exponential(&scores, &t), permute_and_flip(&scores, &t), noisy_max(&scores, &t), in_turn];
                for law in laws {
                    let sum: f64 = law.iter().map(|p| p.lower).sum();
                    assert!((sum - 1.0).abs() < 1e-9, "{scores:?} {t}: {sum}");
                }
            }
        }
    }

    #[test]
    fn two_candidates_by_hand() {
        // Gap 2 at scale 2: e^−1/(1 + e^−1) and e^−1/2.
        let close =
            |p: Interval, expected: f64| (p.lower - expected).abs() < 1e-15 && (p.upper - expected).abs() < 1e-15;
        let e = (-1f64).exp();
        assert!(close(exponential(&[2, 0], &scale("2"))[1], e / (1.0 + e)));
        assert!(close(permute_and_flip(&[2, 0], &scale("2"))[1], e / 2.0));
        // Noisy max: the lower wins iff the difference of two draws is at least 3, for the first wins ties.
        let law = DiscreteLaplace::new(2.0);
        let sum: f64 = (-200..200).map(|z| law.probability(z) * law.survival(3 + z)).sum();
        assert!((noisy_max(&[2, 0], &scale("2"))[1].lower - sum).abs() < 1e-9);
    }

    #[test]
    fn a_fixed_order_is_caught() {
        let pair = Pair { first: vec![0, 1], second: vec![1, 1] };
        let loss = worst_loss(|scores| crate::wrong::flips_in_a_fixed_order(scores, &scale("2")), &[pair]);
        assert_eq!(loss.lower, f64::INFINITY);
    }
}
