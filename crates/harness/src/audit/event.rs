//! Events: what they are, and counting the runs in which they occur.

use std::collections::{HashMap, HashSet};

use super::subject::Subject;
use super::transcript::{Number, Transcript, shape_in_words};
use crate::cell::significant;

/// A key of a map of counts.
pub(super) type Key = Box<[u8]>;

/// Under which key a transcript is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum View {
    /// All of it.
    Whole,
    /// Its shape.
    Shape,
    /// Its shape, and the quantile bin of each number.
    Cell,
}

impl View {
    pub(super) const ALL: [Self; 3] = [View::Whole, View::Shape, View::Cell];

    fn noun(self) -> &'static str {
        match self {
            View::Whole => "outcomes",
            View::Shape => "shapes",
            View::Cell => "cells",
        }
    }
}

/// What is read off a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    Value,
    /// The exponent of its lowest bit, where it is a float.
    LowestBit,
}

impl Feature {
    /// Of one of a transcript's numbers.
    pub(super) fn of(self, numbers: &[Number], place: usize) -> Option<f64> {
        let number = numbers.get(place)?;
        match self {
            Feature::Value => Some(number.value()),
            Feature::LowestBit => number.lowest_bit(),
        }
    }
}

/// Joint bins have at most so many cells a shape.
const MOST_CELLS: f64 = 4096.0;
/// Bins of one number, at most.
pub(super) const MOST_BINS: usize = 64;

/// How the numbers of each shape are binned: increasing edges for each number; bin i is what is above edge i − 1 and at
/// most edge i.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    pub(super) shapes: HashMap<Key, Vec<Vec<f64>>>,
}

impl Grid {
    /// How many bins each of so many numbers gets, and how many of the numbers are binned.
    pub(super) fn bins(numbers: usize) -> (usize, usize) {
        let binned = numbers.min(MOST_CELLS.log2() as usize);
        // A hair more, so that the root of a power is not rounded below it.
        let bins = MOST_CELLS.powf(1.0 / binned.max(1) as f64) + 1e-9;
        ((bins as usize).min(MOST_BINS), binned)
    }

    /// The key of the cell of a shape and its numbers, into `key`; false if it has none or is not known.
    pub(super) fn write_cell(&self, shape: &[u8], numbers: &[Number], key: &mut Vec<u8>) -> bool {
        let Some(edges) = self.shapes.get(shape) else { return false };
        key.clear();
        key.extend_from_slice(shape);
        let bins = edges.iter().zip(numbers);
        key.extend(bins.map(|(edges, number)| bin(edges, number.value()) as u8));
        true
    }

    /// A cell in words.
    fn describe(&self, cell: &[u8]) -> String {
        // Cannot fail: every cell's key begins with a shape of the grid and ends with one byte a binned number.
        let (shape, edges) = (0..=cell.len())
            .find_map(|end| {
                self.shapes.get_key_value(&cell[..end]).filter(|(_, edges)| end + edges.len() == cell.len())
            })
            .expect("the shape of a cell is in the grid");
        let ranges: Vec<String> = edges
            .iter()
            .zip(&cell[shape.len()..])
            .enumerate()
            .map(|(place, (edges, &bin))| {
                let bin = usize::from(bin);
                let low = bin.checked_sub(1).map_or(f64::NEG_INFINITY, |before| edges[before]);
                range_in_words(place, Feature::Value, low, edges.get(bin).copied().unwrap_or(f64::INFINITY))
            })
            .collect();
        format!("{}: {}", shape_in_words(shape), ranges.join(", "))
    }
}

/// The bin of a value.
pub(super) fn bin(edges: &[f64], value: f64) -> usize {
    edges.partition_point(|&edge| edge < value)
}

fn range_in_words(place: usize, feature: Feature, low: f64, high: f64) -> String {
    let what = match feature {
        Feature::Value => format!("number {}", place + 1),
        Feature::LowestBit => format!("lowest bit of number {}", place + 1),
    };
    match (low == f64::NEG_INFINITY, high == f64::INFINITY) {
        (true, true) => format!("any {what}"),
        (true, false) => format!("{what} ≤ {}", significant(high)),
        (false, true) => format!("{what} > {}", significant(low)),
        (false, false) => format!("{} < {what} ≤ {}", significant(low), significant(high)),
    }
}

/// A set of transcripts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// Those with one of these keys.
    Union { view: View, keys: HashSet<Key> },
    /// Those of a shape with a number in a half-line: above `low`, at most `high`.
    HalfLine { shape: Key, place: usize, feature: Feature, low: f64, high: f64 },
    /// An event of the subject's own.
    Own(usize),
}

/// For each key the events that it belongs to.
type Members<'a> = HashMap<&'a [u8], Vec<usize>>;

/// Events and how to count them: fixed before any run that they count.
pub(super) struct Counter<'a> {
    subject: &'a Subject,
    events: &'a [Event],
    grid: &'a Grid,
    unions: Vec<(View, Members<'a>)>,
    key: Vec<u8>,
    /// For each event how often it occurred on each side.
    pub(super) counts: Vec<[u64; 2]>,
}

impl<'a> Counter<'a> {
    pub(super) fn new(subject: &'a Subject, events: &'a [Event], grid: &'a Grid) -> Self {
        let mut unions = Vec::new();
        for view in View::ALL {
            let mut members = Members::new();
            for (index, event) in events.iter().enumerate() {
                if let Event::Union { view: of, keys } = event
                    && *of == view
                {
                    keys.iter().for_each(|key| members.entry(key).or_default().push(index));
                }
            }
            if !members.is_empty() {
                unions.push((view, members));
            }
        }
        Self { subject, events, grid, unions, key: Vec::new(), counts: vec![[0; 2]; events.len()] }
    }

    /// Counts one run.
    pub(super) fn add(&mut self, side: usize, transcript: &Transcript) {
        let Self { events, grid, unions, key, counts, subject } = self;
        for (view, members) in unions {
            let known = match view {
                View::Whole => {
                    transcript.write_whole(key);
                    members.get(key.as_slice())
                }
                View::Shape => members.get(transcript.shape()),
                View::Cell if grid.write_cell(transcript.shape(), transcript.numbers(), key) => {
                    members.get(key.as_slice())
                }
                View::Cell => None,
            };
            known.into_iter().flatten().for_each(|&event| counts[event][side] += 1);
        }
        for (event, count) in events.iter().zip(counts) {
            let holds = match event {
                Event::Union { .. } => continue,
                Event::HalfLine { shape, place, feature, low, high } => {
                    let inside = |value: f64| *low < value && value <= *high;
                    **shape == *transcript.shape() && feature.of(transcript.numbers(), *place).is_some_and(inside)
                }
                Event::Own(index) => (subject.events[*index].1)(transcript),
            };
            count[side] += u64::from(holds);
        }
    }
}

impl Event {
    /// In words.
    pub(super) fn describe(&self, subject: &Subject, grid: &Grid) -> String {
        match self {
            Event::Union { view, keys } if keys.len() > 2 => format!("{} {}", keys.len(), view.noun()),
            Event::Union { view, keys } => {
                let mut words: Vec<String> = keys
                    .iter()
                    .map(|key| match view {
                        View::Whole => Transcript::read_whole(key).to_string(),
                        View::Shape => shape_in_words(key),
                        View::Cell => grid.describe(key),
                    })
                    .collect();
                words.sort();
                words.join(" or ")
            }
            Event::HalfLine { shape, place, feature, low, high } => {
                format!("{}: {}", shape_in_words(shape), range_in_words(*place, *feature, *low, *high))
            }
            Event::Own(index) => subject.events[*index].0.clone(),
        }
    }
}
