//! Releases, selections and sessions that are wrong on purpose: what [`wrong`](crate::wrong) is for the sparse vector.
//!
//! Each is one that has been published, or a slip that an implementation of a right mechanism could make. Noise comes from
//! outside: `laplace(t)` is one draw of integer Laplace noise of scale t, `coin` one of a coin. One row more or less of a table
//! moves one count by 1; all claim to be ε-differentially private unless they say otherwise, and none is.

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
/// least threshold that δ allows; wrong for one below, and without any (`i64::MIN`), when which keys have rows is plain.
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
