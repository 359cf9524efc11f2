//! Speed as a ratio: candidates that do the same work in turns, on the thread's own CPU time.
//!
//! The time of one candidate alone says more about the machine and its other users than about the code. So candidates are
//! interleaved: each runs once in every round, and what is reported is the median over the rounds of the *ratio* to the
//! first candidate within the same round. CPU time leaves out what other processes take; what they do to caches and clock
//! meets all candidates alike.

pub mod signs;

use cpu_time::ThreadTime;
use std::fmt;
use std::hint::black_box;
use std::time::Duration;

/// What one timing lasts at least: thousands of ticks of the clock, and less than a scheduler's slice.
const LEAST_TIMING: Duration = Duration::from_millis(2);

/// One way to do the work.
pub struct Candidate<'a> {
    name: String,
    items: usize,
    goal: Option<f64>,
    run: Box<dyn FnMut() + 'a>,
}

impl<'a> Candidate<'a> {
    /// `run` deals with `items` items (draws, queries) a call. What it gives counts as used.
    pub fn new<T>(name: impl Into<String>, items: usize, mut run: impl FnMut() -> T + 'a) -> Self {
        let run = Box::new(move || {
            black_box(run());
        });
        Self { name: name.into(), items, goal: None, run }
    }

    /// How many times as fast as the first candidate this one should be, if that is known.
    pub fn goal(self, ratio: impl Into<Option<f64>>) -> Self {
        Self { goal: ratio.into(), ..self }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Items a call.
    pub fn items(&self) -> usize {
        self.items
    }

    /// The CPU time of `calls` calls.
    pub fn time(&mut self, calls: u64) -> Duration {
        let start = ThreadTime::now();
        (0..calls).for_each(|_| (self.run)());
        start.elapsed()
    }
}

/// One candidate's figures.
#[derive(Clone, Debug)]
pub struct Row {
    /// What the candidate is called.
    pub name: String,
    /// Nanoseconds an item, median over the rounds.
    pub median: f64,
    /// Nanoseconds an item in the best round.
    pub least: f64,
    /// How many times as fast as the first candidate: median over the rounds.
    pub ratio: f64,
    /// What the ratio should be.
    pub goal: Option<f64>,
}

/// The figures of candidates that ran in turns; displayed as a table in Markdown.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was compared.
    pub title: String,
    /// In the order of the candidates.
    pub rows: Vec<Row>,
}

/// Runs the candidates in turns, `rounds` times (an odd number has a median of its own).
///
/// ```
/// use tamis_benches::{Candidate, compare};
/// let sum = |n: u64| move || (0..n).map(std::hint::black_box).sum::<u64>();
/// let comparison = compare("sums", 5, vec![Candidate::new("ten", 1, sum(10)), Candidate::new("a thousand", 1, sum(1000))]);
/// assert_eq!(comparison.rows[0].ratio, 1.0);
/// assert!(comparison.rows[1].ratio < 0.5); // slower than the first
/// ```
///
/// # Panics
/// If there are no rounds.
pub fn compare(title: impl Into<String>, rounds: usize, mut candidates: Vec<Candidate>) -> Comparison {
    assert!(rounds > 0, "a comparison needs a round");
    let calls: Vec<u64> = candidates.iter_mut().map(calls_of_a_timing).collect();
    let mut timings = vec![Vec::with_capacity(rounds); candidates.len()];
    for _ in 0..rounds {
        for ((candidate, &calls), timings) in candidates.iter_mut().zip(&calls).zip(&mut timings) {
            let items = calls as f64 * candidate.items as f64;
            timings.push(candidate.time(calls).as_nanos() as f64 / items);
        }
    }
    let row = |(candidate, own): (&Candidate, &Vec<f64>)| Row {
        name: candidate.name.clone(),
        median: median(own.iter().copied()),
        least: own.iter().copied().fold(f64::INFINITY, f64::min),
        ratio: median(timings[0].iter().zip(own).map(|(first, own)| first / own)),
        goal: candidate.goal,
    };
    Comparison { title: title.into(), rows: candidates.iter().zip(&timings).map(row).collect() }
}

/// Enough calls for [`LEAST_TIMING`]; finding out warms the caches too.
fn calls_of_a_timing(candidate: &mut Candidate) -> u64 {
    let mut calls = 1;
    while candidate.time(calls) < LEAST_TIMING {
        calls *= 2;
    }
    calls
}

/// The middle one, or the upper of the two in the middle.
///
/// # Panics
/// If there is none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        writeln!(f, "\n{}\n", self.title)?;
        writeln!(f, "| {:width$} | ns each | at best | times as fast | {:20} |", "candidate", "goal")?;
        writeln!(f, "| {:-<width$} | ------: | ------: | ------------: | {:-<20} |", "", "")?;
        for Row { name, median, least, ratio, goal } in &self.rows {
            write!(f, "| {name:width$} | {median:7.2} | {least:7.2} | {ratio:13.2} | ")?;
            let verdict = match goal {
                None => String::new(),
                Some(goal) if ratio >= goal => format!("≥ {goal}: reached"),
                Some(goal) => format!("≥ {goal}: NOT reached"),
            };
            writeln!(f, "{verdict:20} |")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_runs_in_every_round() {
        let order = std::cell::RefCell::new(Vec::new());
        let spin = |name| {
            let order = &order;
            Candidate::new(format!("{name}"), 1, move || {
                order.borrow_mut().push(name);
                (0..100_000_u64).map(black_box).sum::<u64>()
            })
        };
        compare("turns", 3, vec![spin('a'), spin('b')]);
        let mut turns = order.take();
        turns.dedup();
        // One stretch each to count the calls, then one each in every round.
        assert_eq!(turns.into_iter().collect::<String>(), "abababab");
    }

    #[test]
    fn a_ratio_is_taken_within_a_round_and_a_goal_against_it() {
        let work = |n: u64| move || (0..n).map(black_box).sum::<u64>();
        let candidates =
            vec![Candidate::new("long", 1, work(100_000)), Candidate::new("short", 1, work(10_000)).goal(2.0)];
        let comparison = compare("work", 5, candidates);
        // Ten times as fast; 4 and 25 leave room for a busy machine.
        assert!((4.0..25.0).contains(&comparison.rows[1].ratio), "{}", comparison.rows[1].ratio);
        assert!(comparison.to_string().contains("≥ 2: reached"));
        let missed =
            Comparison { rows: vec![Row { goal: Some(1000.0), ..comparison.rows[1].clone() }], title: String::new() };
        assert!(missed.to_string().contains("≥ 1000: NOT reached"));
    }

    #[test]
    fn the_median_is_not_moved_by_an_outlier() {
        assert_eq!(median([3.0, 1.0, 1e9]), 3.0);
    }
}
