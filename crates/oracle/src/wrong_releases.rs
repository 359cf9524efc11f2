//! Releases, selections and sessions that are wrong on purpose: what [`wrong`](crate::wrong) is for the sparse vector.
//!
//! Each is one that has been published, or a slip that an implementation of a right mechanism could make. Noise comes from
//! outside: `laplace(t)` is one draw of integer Laplace noise of scale t, `coin` one of a coin. One row more or less of a table
//! moves one count by 1; all claim to be ε-differentially private unless they say otherwise, and none is.
//!
//! ```
//! use tamis_oracle::wrong_releases::noise_only_where_rows_are;
//! // Whatever the noise, a count that stays 0 says that there is no row.
//! assert_eq!(noise_only_where_rows_are(&[0, 5], 1.0, &mut |_| -5), [0, 0]);
//! assert_eq!(noise_only_where_rows_are(&[0, 5], 1.0, &mut |_| 3), [0, 8]);
//! ```

use crate::continuous_laplace;
use rand::Rng;

/// Noise of scale ε where it is 1/ε (StatDP's NoisyHist2). Loses 1/ε.
pub fn scale_inverted(count: i64, epsilon: f64, laplace: &mut impl FnMut(f64) -> i64) -> i64 {
    count + laplace(epsilon)
}

/// Real-valued noise in floats: a sum has only such low bits as the larger of its parts leaves room for, so they tell which
/// count it was (Mironov 2012).
pub fn in_floats<R: Rng + ?Sized>(count: f64, epsilon: f64, rng: &mut R) -> f64 {
    count + continuous_laplace::sample(1.0 / epsilon, rng)
}

/// One draw, copied to all counts (`vec![draw(); n]`): their differences are exact.
pub fn one_draw_for_all(counts: &[i64], epsilon: f64, laplace: &mut impl FnMut(f64) -> i64) -> Vec<i64> {
    let noise = laplace(1.0 / epsilon);
    counts.iter().map(|count| count + noise).collect()
}

/// Noise only where there are rows: a 0 is exact.
pub fn noise_only_where_rows_are(counts: &[i64], epsilon: f64, laplace: &mut impl FnMut(f64) -> i64) -> Vec<i64> {
    counts.iter().map(|&count| if count == 0 { 0 } else { count + laplace(1.0 / epsilon) }).collect()
}

/// Refuses a table of another number of rows than was expected, where that number is private.
///
/// # Errors
/// Which is the mistake.
pub fn other_totals_refused(
    counts: &[i64],
    expected: i64,
    epsilon: f64,
    laplace: &mut impl FnMut(f64) -> i64,
) -> Result<Vec<i64>, &'static str> {
    let fits = counts.iter().sum::<i64>() == expected;
    let released = counts.iter().map(|count| count + laplace(1.0 / epsilon)).collect();
    if fits { Ok(released) } else { Err("another number of rows") }
}

/// A stability histogram with this threshold: position and noisy count of each key that has rows and reaches it. Right for the
/// least threshold that δ allows; wrong for one below, without any (`i64::MIN`), when which keys have rows is plain, and for that of
/// one row where a unit has more, whether the noise is for one or for all.
pub fn released_from(
    threshold: i64,
    counts: &[i64],
    epsilon: f64,
    laplace: &mut impl FnMut(f64) -> i64,
) -> Vec<(usize, i64)> {
    let noisy = |(key, &count): (usize, &i64)| (key, count + laplace(1.0 / epsilon));
    let present = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    present.map(noisy).filter(|(_, noisy)| *noisy >= threshold).collect()
}

/// Heavy keys with noisy counts, but chosen by the true ones.
pub fn heavy_by_true_count(
    threshold: i64,
    counts: &[i64],
    epsilon: f64,
    laplace: &mut impl FnMut(f64) -> i64,
) -> Vec<(usize, i64)> {
    let heavy = counts.iter().enumerate().filter(|(_, count)| **count >= threshold);
    heavy.map(|(key, count)| (key, count + laplace(1.0 / epsilon))).collect()
}

/// Report noisy max that releases the noisy answer with the index (StatDP's NoisyMax3): the largest of k answers moves as all of
/// them do.
pub fn noisy_max_with_value(answers: &[i64], epsilon: f64, laplace: &mut impl FnMut(f64) -> i64) -> (usize, i64) {
    let noisy: Vec<i64> = answers.iter().map(|answer| answer + laplace(2.0 / epsilon)).collect();
    let largest = noisy.iter().copied().max().unwrap_or(0);
    (noisy.iter().position(|&answer| answer == largest).unwrap_or(0), largest)
}

/// [`flips_in_a_fixed_order`](crate::wrong::flips_in_a_fixed_order), run: `coin(n)` shows heads with probability e^(−n/t).
pub fn flips_in_order(scores: &[i64], coin: &mut impl FnMut(u64) -> bool) -> usize {
    let largest = scores.iter().copied().max().unwrap_or(0);
    scores.iter().position(|score| coin(largest.abs_diff(*score))).unwrap_or(0)
}

/// ALP's bits at so many levels of one key, rounded to the nearest level instead of at random: one row moves a whole one.
/// `flip` is a coin of ALP's p.
pub fn alp_rounded_to_nearest(count: f64, step: f64, levels: usize, flip: &mut impl FnMut() -> bool) -> Vec<bool> {
    let level = (count / step).round() as usize;
    (0..levels).map(|place| (place < level) != flip()).collect()
}

/// ALP's bits, flipped only where they are not set: one that is not set has not been set.
pub fn alp_flipping_zeros_only(level: usize, levels: usize, flip: &mut impl FnMut() -> bool) -> Vec<bool> {
    (0..levels).map(|place| place < level || flip()).collect()
}

/// What is not noisy in [a round of MWEM](mwem_round).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exact {
    /// The list that the guess answers worst is selected without noise.
    Selection,
    /// The answer of the selected list is released without noise.
    Measurement,
}

/// A round of MWEM, half of ε each for selection and measurement, but one of them [without noise](Exact): the selected list and
/// its answer. The guess is the same for all lists.
pub fn mwem_round(
    truth: &[i64],
    guess: i64,
    epsilon: f64,
    exact: Exact,
    laplace: &mut impl FnMut(f64) -> i64,
) -> (usize, i64) {
    let mut noise = |part: Exact, scale: f64| if part == exact { 0 } else { laplace(scale) };
    let errors = truth.iter().map(|answer| (answer - guess).abs() + noise(Exact::Selection, 4.0 / epsilon));
    let errors: Vec<i64> = errors.collect();
    let worst = errors.iter().max();
    let selected = errors.iter().position(|error| Some(error) == worst).unwrap_or(0);
    let measured = truth.get(selected).map_or(0, |answer| answer + noise(Exact::Measurement, 2.0 / epsilon));
    (selected, measured)
}

/// A small database chosen without noise: of those offered, each by its answers, the one whose worst answer is nearest.
pub fn nearest_database(truth: &[i64], offered: &[Vec<i64>]) -> usize {
    let error = |answers: &Vec<i64>| answers.iter().zip(truth).map(|(answer, truth)| (answer - truth).abs()).max();
    (0..offered.len()).min_by_key(|&index| error(&offered[index])).unwrap_or(0)
}

/// A sketch with noise for one entry of a column, whatever how many a column has.
pub fn sketch_with_noise_for_one_entry(sketch: &[i64], epsilon: f64, laplace: &mut impl FnMut(f64) -> i64) -> Vec<i64> {
    sketch.iter().map(|sum| sum + laplace(1.0 / epsilon)).collect()
}

/// What is wrong with a [session].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// It stops after one correction more than its noise is for.
    OneLate,
    /// It does not count its corrections.
    Uncharged,
    /// Once it has stopped, guesses are said to be unchecked only where they are wrong.
    StillLooking,
}

/// The answer of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The guess holds.
    Guess,
    /// It does not: the data says so, with this gap to the noisy threshold.
    Data(i64),
    /// The guess, after the last correction.
    Unchecked,
}

/// A session whose guess is 0 throughout, with noise for one correction: each answer and its negative are compared with one noisy
/// threshold.
pub fn session(
    answers: &[i64],
    threshold: i64,
    epsilon: f64,
    slip: Slip,
    laplace: &mut impl FnMut(f64) -> i64,
) -> Vec<Answer> {
    let mut left = match slip {
        Slip::OneLate => 2,
        Slip::Uncharged => answers.len(),
        Slip::StillLooking => 1,
    };
    let noisy_threshold = threshold + laplace(2.0 / epsilon);
    let one = |&answer: &i64| {
        if left == 0 {
            let is_guess = slip == Slip::StillLooking && answer.abs() < threshold;
            return if is_guess { Answer::Guess } else { Answer::Unchecked };
        }
        let gaps = [answer, -answer].map(|error| error + laplace(4.0 / epsilon) - noisy_threshold);
        let Some(&gap) = gaps.iter().find(|gap| **gap >= 0) else { return Answer::Guess };
        left -= 1;
        Answer::Data(gap)
    };
    answers.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrong::flips_in_a_fixed_order;

    /// Noise that tells what was asked for: 1 of any scale.
    fn one(_: f64) -> i64 {
        1
    }

    #[test]
    fn noise_is_missing_where_it_is_said_to_be() {
        assert_eq!(noise_only_where_rows_are(&[0, 5], 1.0, &mut one), [0, 6]);
        assert_eq!(mwem_round(&[5, 6], 0, 1.0, Exact::Selection, &mut one), (1, 7));
        assert_eq!(mwem_round(&[5, 6], 0, 1.0, Exact::Measurement, &mut one), (1, 6));
        assert_eq!(nearest_database(&[3, 7], &[vec![10, 0], vec![5, 5], vec![0, 10]]), 1);
        assert_eq!(alp_rounded_to_nearest(2.0, 3.49, 2, &mut || false), [true, false]);
        assert_eq!(alp_flipping_zeros_only(1, 2, &mut || true), [true, true]);
    }

    #[test]
    fn one_draw_serves_all_counts() {
        let mut draws = 0;
        let mut laplace = |_| {
            draws += 1;
            draws
        };
        assert_eq!(one_draw_for_all(&[0, 5], 1.0, &mut laplace), [1, 6]);
        assert_eq!(scale_inverted(5, 0.25, &mut |scale| (scale * 4.0) as i64), 6);
    }

    #[test]
    fn keys_are_named_by_noisy_or_by_true_counts() {
        assert_eq!(released_from(3, &[0, 1, 2], 1.0, &mut one), [(2, 3)]);
        assert_eq!(released_from(i64::MIN, &[0, 1, 2], 1.0, &mut one), [(1, 2), (2, 3)]);
        // Three rows, with noise for each of them, reach what one does not.
        let tripled = |scale: f64| scale as i64;
        assert!(released_from(5, &[1, 0], 1.0 / 3.0, &mut { tripled }).is_empty());
        assert_eq!(released_from(5, &[3, 0], 1.0 / 3.0, &mut { tripled }), [(0, 6)]);
        assert_eq!(heavy_by_true_count(2, &[0, 1, 2], 1.0, &mut one), [(2, 3)]);
        assert_eq!(other_totals_refused(&[1, 2], 4, 1.0, &mut one), Err("another number of rows"));
    }

    /// The law, coin by coin, is the one in closed form.
    #[test]
    fn flips_in_order_follow_their_law() {
        let scores = [3, 5, 4];
        let law = flips_in_a_fixed_order(&scores, &"2".parse().unwrap());
        let coins = scores.map(|score: i64| (-(5 - score) as f64 / 2.0).exp());
        let mut reached = 1.0;
        for (coin, probability) in coins.into_iter().zip(law) {
            assert!((reached * coin - probability.lower).abs() < 1e-12);
            reached *= 1.0 - coin;
        }
        // The first two coins show tails only where they can.
        let mut coin = |below: u64| below == 0;
        assert_eq!(flips_in_order(&scores, &mut coin), 1);
    }

    #[test]
    fn sessions_slip_as_they_are_said_to() {
        let answers = [9, 9, 9, 0];
        let (corrected, guess) = (Answer::Data(4), Answer::Guess);
        let session = |slip| session(&answers, 5, 1.0, slip, &mut one);
        assert_eq!(session(Slip::OneLate), [corrected, corrected, Answer::Unchecked, Answer::Unchecked]);
        assert_eq!(session(Slip::Uncharged), [corrected, corrected, corrected, guess]);
        assert_eq!(session(Slip::StillLooking), [corrected, Answer::Unchecked, Answer::Unchecked, guess]);
    }
}
