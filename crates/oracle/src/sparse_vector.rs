//! The papers' figures, as printed: one line of code for each line of the figure, nothing clever.
//!
//! Dwork and Roth, *The Algorithmic Foundations of Differential Privacy* (2014; "DR14"), §3.6, and Lyu,
//! Su and Li (PVLDB 10(6), 2017; "LSL17"), Algorithm 1. Queries have sensitivity 1; for another, let
//! `laplace` multiply its scale. `laplace(b)` draws Lap(b): floats for the papers' own mechanism
//! ([`continuous_laplace`](crate::continuous_laplace)), integers for ours
//! ([`discrete_laplace`](crate::discrete_laplace)).
//!
//! | paper | here        | unit         |
//! | ----- | ----------- | ------------ |
//! | T     | `threshold` | as the answers |
//! | c     | `hits`      | count of ⊤   |
//! | σ     | `sigma`     | as the answers |
//! | ν     | `noise`     | as the answers |
//! | T̂     | `noisy_threshold` | as the answers |

use std::ops::Add;

use crate::mechanism::Answer;

/// DR14 Algorithm 1, AboveThreshold. ε-private by Theorem 3.23.
///
/// ```
/// use tamis_oracle::mechanism::Answer;
/// use tamis_oracle::sparse_vector::above_threshold;
/// let answers = above_threshold([0.0, 0.0, 200.0, 0.0], 100.0, 1.0, &mut |_| 0.0);
/// assert_eq!(answers, [Answer::Below, Answer::Below, Answer::Above]);
/// ```
pub fn above_threshold<N: Copy + PartialOrd + Add<Output = N>>(
    values: impl IntoIterator<Item = N>,
    threshold: N,
    epsilon: f64,
    laplace: &mut impl FnMut(f64) -> N,
) -> Vec<Answer<N>> {
    let mut answers = Vec::new();
    let noisy_threshold = threshold + laplace(2.0 / epsilon);
    for value in values {
        let noise = laplace(4.0 / epsilon);
        if value + noise >= noisy_threshold {
            answers.push(Answer::Above);
            break;
        }
        answers.push(Answer::Below);
    }
    answers
}

/// DR14 Algorithm 2, Sparse. (ε, δ)-private by Theorem 3.25; for δ > 0 under the conditions of
/// Corollary 3.21, which the figure does not check and neither does this.
///
/// ```
/// use tamis_oracle::mechanism::Answer;
/// use tamis_oracle::sparse_vector::sparse;
/// let answers = sparse([9, 0, 9, 9], 5, 2, 1.0, 0.0, &mut |_| 0);
/// assert_eq!(answers, [Answer::Above, Answer::Below, Answer::Above]);
/// ```
pub fn sparse<N: Copy + PartialOrd + Add<Output = N>>(
    values: impl IntoIterator<Item = N>,
    threshold: N,
    hits: u32,
    epsilon: f64,
    delta: f64,
    laplace: &mut impl FnMut(f64) -> N,
) -> Vec<Answer<N>> {
    let c = f64::from(hits);
    let sigma = if delta == 0.0 { 2.0 * c / epsilon } else { (32.0 * c * (1.0 / delta).ln()).sqrt() / epsilon };
    let mut answers = Vec::new();
    let mut noisy_threshold = threshold + laplace(sigma);
    let mut count = 0;
    for value in values {
        let noise = laplace(2.0 * sigma);
        if value + noise >= noisy_threshold {
            answers.push(Answer::Above);
            count += 1;
            noisy_threshold = threshold + laplace(sigma);
        } else {
            answers.push(Answer::Below);
        }
        if count >= hits {
            break;
        }
    }
    answers
}

/// DR14 Algorithm 3, NumericSparse. (ε, δ)-private by Theorem 3.27, with the same caveat as [`sparse`].
///
/// ```
/// use tamis_oracle::mechanism::Answer;
/// use tamis_oracle::sparse_vector::numeric_sparse;
/// let answers = numeric_sparse([9, 0, 7, 9], 5, 2, 1.0, 0.0, &mut |_| 0);
/// assert_eq!(answers, [Answer::Value(9), Answer::Below, Answer::Value(7)]);
/// ```
pub fn numeric_sparse<N: Copy + PartialOrd + Add<Output = N>>(
    values: impl IntoIterator<Item = N>,
    threshold: N,
    hits: u32,
    epsilon: f64,
    delta: f64,
    laplace: &mut impl FnMut(f64) -> N,
) -> Vec<Answer<N>> {
    let c = f64::from(hits);
    let root = 512.0_f64.sqrt();
    let (epsilon_1, epsilon_2) = if delta == 0.0 {
        (8.0 / 9.0 * epsilon, 2.0 / 9.0 * epsilon)
    } else {
        (root / (root + 1.0) * epsilon, 2.0 / (root + 1.0) * epsilon)
    };
    let sigma = |epsilon: f64| {
        if delta == 0.0 { 2.0 * c / epsilon } else { (32.0 * c * (2.0 / delta).ln()).sqrt() / epsilon }
    };
    let mut answers = Vec::new();
    let mut noisy_threshold = threshold + laplace(sigma(epsilon_1));
    let mut count = 0;
    for value in values {
        let noise = laplace(2.0 * sigma(epsilon_1));
        if value + noise >= noisy_threshold {
            answers.push(Answer::Value(value + laplace(sigma(epsilon_2))));
            count += 1;
            noisy_threshold = threshold + laplace(sigma(epsilon_1));
        } else {
            answers.push(Answer::Below);
        }
        if count >= hits {
            break;
        }
    }
    answers
}

/// LSL17 Algorithm 1 with Δ = 1: one threshold draw for the whole stream. (ε₁+ε₂)-private.
///
/// ```
/// use tamis_oracle::mechanism::Answer;
/// use tamis_oracle::sparse_vector::lyu_su_li;
/// let answers = lyu_su_li([9, 0, 9, 9], 5, 2, 0.5, 0.5, &mut |_| 0);
/// assert_eq!(answers, [Answer::Above, Answer::Below, Answer::Above]);
/// ```
pub fn lyu_su_li<N: Copy + PartialOrd + Add<Output = N>>(
    values: impl IntoIterator<Item = N>,
    threshold: N,
    hits: u32,
    epsilon_1: f64,
    epsilon_2: f64,
    laplace: &mut impl FnMut(f64) -> N,
) -> Vec<Answer<N>> {
    let c = f64::from(hits);
    let mut answers = Vec::new();
    let noisy_threshold = threshold + laplace(1.0 / epsilon_1);
    let mut count = 0;
    for value in values {
        let noise = laplace(2.0 * c / epsilon_2);
        if value + noise >= noisy_threshold {
            answers.push(Answer::Above);
            count += 1;
            if count >= hits {
                break;
            }
        } else {
            answers.push(Answer::Below);
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Mechanism;
    use crate::{continuous_laplace, discrete_laplace, enclosure};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    /// Integer noise from a seed, exact for the float scale asked for.
    fn integers(seed: u64) -> impl FnMut(f64) -> i64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        move |scale| discrete_laplace::sample(&enclosure::rational(scale), &mut rng)
    }

    #[test]
    fn the_figures_are_the_described_mechanisms() {
        // Draws come in the same order, so the same seed must give the same answers. The figures draw
        // one more threshold after the last hit, which nothing sees.
        let values = [1, -3, 4, 0, 2, 9, -1, 3, 0, 5];
        for seed in 0..200 {
            assert_eq!(
                above_threshold(values, 2, 1.5, &mut integers(seed)),
                Mechanism::above_threshold(1.5, 1).run(&values, 2, &mut integers(seed))
            );
            assert_eq!(
                sparse(values, 2, 3, 2.0, 0.0, &mut integers(seed)),
                Mechanism::sparse(2.0, 3, 1).run(&values, 2, &mut integers(seed))
            );
            assert_eq!(
                numeric_sparse(values, 2, 3, 4.5, 0.0, &mut integers(seed)),
                Mechanism::numeric_sparse(4.5, 3, 1).run(&values, 2, &mut integers(seed))
            );
            assert_eq!(
                lyu_su_li(values, 2, 3, 1.0, 1.0, &mut integers(seed)),
                Mechanism::lyu_su_li(1.0, 1.0, 3, 1).run(&values, 2, &mut integers(seed))
            );
        }
    }

    #[test]
    fn delta_sets_the_scales_of_the_figures() {
        let mut scales = Vec::new();
        sparse([0.0], 1.0, 10, 1.0, 1e-6, &mut |scale| {
            scales.push(scale);
            0.0
        });
        let sigma = (320.0 * 1e6_f64.ln()).sqrt();
        assert_eq!(scales, [sigma, 2.0 * sigma]);
        // In the numeric form the values take ε₂/2, because their scale has Sparse's factor 2: the
        // budget adds up to ε₁ + ε₂/2 = ε.
        let root = 512.0_f64.sqrt();
        scales.clear();
        numeric_sparse([2.0], 1.0, 10, 1.0, 1e-6, &mut |scale| {
            scales.push(scale);
            0.0
        });
        let sigma = |epsilon: f64| (320.0 * 2e6_f64.ln()).sqrt() / epsilon;
        let expected = [sigma(root / (root + 1.0)), 2.0 * sigma(root / (root + 1.0)), sigma(2.0 / (root + 1.0))];
        for (scale, expected) in scales.iter().zip(expected) {
            assert!((scale / expected - 1.0).abs() < 1e-15);
        }
        assert!((root / (root + 1.0) + 0.5 * 2.0 / (root + 1.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_worked_examples_of_the_text_come_out_as_printed() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
        let mut laplace = |scale| continuous_laplace::sample(scale, &mut rng);
        let above =
            |answers: &[Answer<f64>]| -> Vec<usize> { (0..answers.len()).filter(|&i| answers[i].is_above()).collect() };
        // In both, a query errs only if ν − ρ passes 25 times the scale of ν on one side: probability
        // (2/3)·e^−25 = 9.3e-12. So all 2000 runs of both are right except with probability 4e-5.
        let mut one = [0.0; 1000];
        one[700] = 200.0;
        let mut three = [0.0; 1000];
        for i in [100, 400, 800] {
            three[i] = 300.0;
        }
        for _ in 0..2000 {
            assert_eq!(above(&above_threshold(one, 100.0, 1.0, &mut laplace)), [700]);
            assert_eq!(above(&sparse(three, 150.0, 3, 2.0, 0.0, &mut laplace)), [100, 400, 800]);
        }
    }
}
