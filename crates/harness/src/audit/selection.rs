//! Which events are worth confirming: found on one half of a sample, judged on the other.

use std::collections::HashMap;

use super::event::{Event, Feature, Grid, Key, MOST_BINS, View, bin};
use super::subject::{Claim, Subject};
use super::transcript::{Number, Transcript};
use crate::TrialRng;

/// What the events that are selected will be used for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purpose {
    pub(super) claim: Claim,
    /// Runs a side in each half of the sample.
    pub(super) half: u64,
    /// Runs a side that will confirm.
    pub(super) confirming: u64,
    /// Standard errors between an estimate and its confidence limit then.
    pub(super) deviations: f64,
}

/// Standard errors by which an event is held to be less telling than the sample says: without them the luckiest of
/// thousands of rare events would always seem the best.
const CAUTION: f64 = 2.0;

impl Purpose {
    /// What to expect of an event with these counts in half the sample, and on which side it is likelier. −∞ if on neither.
    fn expectation(&self, wanted: Wanted, counts: [u64; 2]) -> (f64, usize) {
        let likelier = usize::from(counts[0] < counts[1]);
        if counts[0] == counts[1] {
            return (f64::NEG_INFINITY, likelier);
        }
        let (half, confirming) = (self.half as f64, self.confirming as f64);
        let cautious = |count: u64, sign: f64| {
            let count = count as f64 + 0.5;
            ((count + sign * CAUTION * count.sqrt()) / half).clamp(0.0, 1.0)
        };
        let limit = |rate: f64, sign: f64| rate + sign * self.deviations * (rate / confirming).sqrt();
        let first = limit(cautious(counts[likelier], -1.0), -1.0) - self.claim.delta;
        let second = limit(cautious(counts[1 - likelier], 1.0), 1.0);
        let expected = match wanted {
            Wanted::Bound => (first.max(0.0) / second).ln(),
            Wanted::Excess => first - self.claim.epsilon.exp() * second,
        };
        (expected, likelier)
    }

    /// Without δ both are largest for the same verdicts; with it a rare event may exceed δ that no ratio shows.
    fn wanted(&self) -> &'static [Wanted] {
        if self.claim.delta > 0.0 { &[Wanted::Bound, Wanted::Excess] } else { &[Wanted::Bound] }
    }
}

/// What makes an event telling.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// The lower bound on the loss, ln((p₁ − δ)/p₂).
    Bound,
    /// By how much p₁ − e^ε p₂ exceeds δ.
    Excess,
}

/// An event that was selected.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) event: Event,
    /// On which side it is likelier.
    pub(super) likelier: usize,
}

/// What was selected, and the bins that it speaks of.
#[derive(Clone, Debug)]
pub(super) struct Selected {
    pub(super) found: Vec<Found>,
    pub(super) grid: Grid,
}

/// The most telling event of each kind, from `purpose.half` runs a side that find events and as many that judge them.
/// `generators` are for these four samples: by half, then by side.
pub(super) fn select(subject: &Subject, purpose: &Purpose, mut generators: [[TrialRng; 2]; 2]) -> Selected {
    let mut tally = Tally { own: vec![[0; 2]; subject.events.len()], ..Tally::default() };
    let mut transcript = Transcript::default();
    let [finding, judging] = &mut generators;
    for (side, rng) in finding.iter_mut().enumerate() {
        for _ in 0..purpose.half {
            subject.run(side, rng, &mut transcript);
            tally.add_first(side, &transcript);
        }
    }
    tally.make_bins();
    for (side, rng) in judging.iter_mut().enumerate() {
        for _ in 0..purpose.half {
            subject.run(side, rng, &mut transcript);
            tally.add_second(side, &transcript);
            for (count, (_, holds)) in tally.own.iter_mut().zip(&subject.events) {
                count[side] += u64::from(holds(&transcript));
            }
        }
    }
    tally.best(purpose)
}

/// How often a key was seen: by half of the sample, then by side.
type Counts = [[u64; 2]; 2];

/// A feature of a shape's numbers whose half-lines are candidates.
struct Line {
    place: usize,
    feature: Feature,
    edges: Vec<f64>,
    /// Of the second half, by bin, then by side.
    counts: Vec<[u64; 2]>,
}

/// The sample, counted.
#[derive(Default)]
struct Tally {
    views: [HashMap<Key, Counts>; View::ALL.len()],
    /// Of the first half: the numbers of each shape, for each side, run by run.
    numbers: HashMap<Key, [Vec<Vec<Number>>; 2]>,
    grid: Grid,
    lines: HashMap<Key, Vec<Line>>,
    own: Vec<[u64; 2]>,
    key: Vec<u8>,
}

/// The value of a key, made if it is not there: without a copy of the key if it is.
fn entry<'a, T: Default>(map: &'a mut HashMap<Key, T>, key: &[u8]) -> &'a mut T {
    if !map.contains_key(key) {
        map.insert(key.into(), T::default());
    }
    // Cannot fail: it was there or has been put there.
    map.get_mut(key).expect("the key is in the map")
}

impl Tally {
    fn count(&mut self, view: View, key: &[u8], half: usize, side: usize) {
        entry(&mut self.views[view as usize], key)[half][side] += 1;
    }

    fn add_first(&mut self, side: usize, transcript: &Transcript) {
        self.count_whole_and_shape(0, side, transcript);
        if !transcript.numbers().is_empty() {
            entry(&mut self.numbers, transcript.shape())[side].push(transcript.numbers().to_vec());
        }
    }

    fn count_whole_and_shape(&mut self, half: usize, side: usize, transcript: &Transcript) {
        let mut key = std::mem::take(&mut self.key);
        transcript.write_whole(&mut key);
        self.count(View::Whole, &key, half, side);
        self.count(View::Shape, transcript.shape(), half, side);
        self.key = key;
    }

    /// Bins for the numbers, and the first half's counts in them.
    fn make_bins(&mut self) {
        for (shape, rows) in std::mem::take(&mut self.numbers) {
            let numbers = rows.iter().flatten().next().map_or(0, Vec::len);
            let (bins, binned) = Grid::bins(numbers);
            let feature = |place: usize, feature: Feature| {
                rows.iter().flatten().filter_map(move |row| feature.of(row, place)).collect::<Vec<f64>>()
            };
            let edges = (0..binned).map(|place| quantiles(feature(place, Feature::Value), bins)).collect();
            let lines = (0..numbers).flat_map(|place| {
                [Feature::Value, Feature::LowestBit].map(|kind| Line::new(place, kind, feature(place, kind)))
            });
            self.lines.insert(shape.clone(), lines.collect());
            self.grid.shapes.insert(shape.clone(), edges);
            for (side, row) in rows.iter().enumerate().flat_map(|(side, rows)| rows.iter().map(move |row| (side, row)))
            {
                let mut key = std::mem::take(&mut self.key);
                self.grid.write_cell(&shape, row, &mut key);
                self.count(View::Cell, &key, 0, side);
                self.key = key;
            }
        }
    }

    fn add_second(&mut self, side: usize, transcript: &Transcript) {
        self.count_whole_and_shape(1, side, transcript);
        let mut key = std::mem::take(&mut self.key);
        if self.grid.write_cell(transcript.shape(), transcript.numbers(), &mut key) {
            self.count(View::Cell, &key, 1, side);
        }
        self.key = key;
        for line in self.lines.get_mut(transcript.shape()).into_iter().flatten() {
            if let Some(value) = line.feature.of(transcript.numbers(), line.place) {
                line.counts[bin(&line.edges, value)][side] += 1;
            }
        }
    }

    /// The best single key and the best unions of each view, the best half-line, the best of the subject's own events.
    fn best(self, purpose: &Purpose) -> Selected {
        // Without numbers, the shapes are the wholes again.
        let is_new = |view| view != View::Shape || !self.lines.is_empty();
        let rankings: Vec<(View, Ranking)> = View::ALL
            .into_iter()
            .zip(self.views)
            .filter(|(view, _)| is_new(*view))
            .map(|(view, counts)| (view, ranking(counts)))
            .collect();
        let mut found: Vec<Found> = Vec::new();
        for &wanted in purpose.wanted() {
            let expect = |counts| purpose.expectation(wanted, counts);
            let of_views = rankings.iter().flat_map(|(view, ranking)| best_of_view(*view, ranking, expect));
            let own = largest(self.own.iter().map(|&counts| expect(counts)).enumerate());
            let own = own.map(|(index, likelier)| Found { event: Event::Own(index), likelier });
            for one in of_views.chain(best_half_line(&self.lines, expect)).chain(own) {
                if !found.contains(&one) {
                    found.push(one);
                }
            }
        }
        Selected { found, grid: self.grid }
    }
}

/// Of which of the candidates most is to be expected, and its likelier side; none if all are as likely on both.
fn largest<T>(candidates: impl Iterator<Item = (T, (f64, usize))>) -> Option<(T, usize)> {
    let mut best = None;
    let mut most = f64::NEG_INFINITY;
    for (candidate, (expected, likelier)) in candidates {
        if expected > most {
            (best, most) = (Some((candidate, likelier)), expected);
        }
    }
    best
}

/// Keys by their ratio in the first half of the sample, the largest first.
type Ranking = Vec<(Key, Counts)>;

fn ranking(counts: HashMap<Key, Counts>) -> Ranking {
    let ratio = |[first, second]: [u64; 2]| (first as f64 + 0.5) / (second as f64 + 0.5);
    let mut ranking: Ranking = counts.into_iter().filter(|(_, counts)| counts[0] != [0, 0]).collect();
    // Keys decide between equal ratios, so that the order of a map never shows.
    ranking.sort_by(|(key, counts), (other, others)| {
        ratio(others[0]).total_cmp(&ratio(counts[0])).then_with(|| key.cmp(other))
    });
    ranking
}

/// Neyman and Pearson: of all unions as likely on one side, the one that begins with the keys of the largest ratio is the
/// least likely on the other. The first half ranks them, the second judges: by what `expect` says of counts.
fn best_of_view(view: View, ranking: &Ranking, expect: impl Fn([u64; 2]) -> (f64, usize)) -> Vec<Found> {
    let single = largest(ranking.iter().map(|(key, counts)| (key, expect(counts[1]))));
    let unions = |keys: &mut dyn Iterator<Item = &(Key, Counts)>| {
        let mut sum = [0, 0];
        let prefixes = keys.map(|(_, counts)| {
            sum = [0, 1].map(|side| sum[side] + counts[1][side]);
            expect(sum)
        });
        // A union of one is a single key, one of all is nothing.
        largest(prefixes.enumerate().skip(1)).map(|(last, likelier)| (last + 1, likelier))
    };
    let (from_the_first, from_the_last) = (unions(&mut ranking.iter()), unions(&mut ranking.iter().rev()));
    let union_of = |keys: Vec<&Key>, likelier| {
        let keys = keys.into_iter().cloned().collect();
        Found { event: Event::Union { view, keys }, likelier }
    };
    let keys = || ranking.iter().map(|(key, _)| key);
    let first = from_the_first.map(|(length, likelier)| union_of(keys().take(length).collect(), likelier));
    let last = from_the_last.map(|(length, likelier)| union_of(keys().rev().take(length).collect(), likelier));
    single.map(|(key, likelier)| union_of(vec![key], likelier)).into_iter().chain(first).chain(last).collect()
}

fn best_half_line(lines: &HashMap<Key, Vec<Line>>, expect: impl Fn([u64; 2]) -> (f64, usize)) -> Option<Found> {
    let mut shapes: Vec<&Key> = lines.keys().collect();
    shapes.sort();
    let candidates = shapes.into_iter().flat_map(|shape| lines[shape].iter().map(move |line| (shape, line)));
    let half_lines = candidates
        .flat_map(|(shape, line)| line.half_lines().map(move |(low, high, counts)| ((shape, line, low, high), counts)));
    let half_lines = half_lines.map(|(half_line, counts)| (half_line, expect(counts)));
    let ((shape, line, low, high), likelier) = largest(half_lines)?;
    let event = Event::HalfLine { shape: shape.clone(), place: line.place, feature: line.feature, low, high };
    Some(Found { event, likelier })
}

impl Line {
    fn new(place: usize, feature: Feature, values: Vec<f64>) -> Self {
        let edges = quantiles(values, MOST_BINS);
        Self { place, feature, counts: vec![[0; 2]; edges.len() + 1], edges }
    }

    /// Below and above each edge: the ends, and the second half's counts.
    fn half_lines(&self) -> impl Iterator<Item = (f64, f64, [u64; 2])> {
        let sum = |counts: &[[u64; 2]]| counts.iter().fold([0, 0], |sum, add| [sum[0] + add[0], sum[1] + add[1]]);
        self.edges.iter().enumerate().flat_map(move |(bin, &edge)| {
            let (below, above) = self.counts.split_at(bin + 1);
            [(f64::NEG_INFINITY, edge, sum(below)), (edge, f64::INFINITY, sum(above))]
        })
    }
}

/// Different values that cut the sorted ones into about so many equal parts.
fn quantiles(mut values: Vec<f64>, parts: usize) -> Vec<f64> {
    values.retain(|value| !value.is_nan());
    values.sort_by(f64::total_cmp);
    let mut edges: Vec<f64> = (1..parts).filter_map(|part| values.get(part * values.len() / parts).copied()).collect();
    edges.dedup();
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::event::Counter;
    use rand::{RngExt, SeedableRng};

    /// ⊤ or ⊥, then up to two numbers, one of them with a lowest bit.
    fn subject() -> Subject {
        Subject::new("mixed", "0 → 2", Claim::pure(0.1), [0, 2], |&moved, rng, seen| {
            seen.mark(if rng.random_bool(0.3) { "⊤" } else { "⊥" });
            for place in 0..rng.random_range(0..3) {
                let noisy: i64 = moved + rng.random_range(-3..=3);
                if place == 0 { seen.integer(noisy) } else { seen.real(noisy as f64 / 4.0) }
            }
        })
        .event("⊤", |seen| seen.items().next() == Some("⊤"))
    }

    fn found() -> Selected {
        let purpose = Purpose { claim: Claim::pure(0.1), half: 3_000, confirming: 60_000, deviations: 5.0 };
        let generators = [[1, 2], [3, 4]].map(|half| half.map(TrialRng::seed_from_u64));
        select(&subject(), &purpose, generators)
    }

    /// Whether a transcript is in an event: from the definition, without a map.
    fn is_in(event: &Event, grid: &Grid, seen: &Transcript) -> bool {
        let shape: Vec<&str> = seen.items().collect();
        let slow_bin = |edges: &[f64], value: f64| edges.iter().filter(|&&edge| value > edge).count();
        match event {
            Event::Union { view: View::Whole, keys } => keys.iter().any(|key| Transcript::read_whole(key) == *seen),
            Event::Union { view: View::Shape, keys } => {
                keys.iter().any(|key| **key == *(shape.join("\u{1f}") + "\u{1f}").as_bytes())
            }
            Event::Union { view: View::Cell, keys } => keys.iter().any(|key| {
                let Some((shape, edges)) = grid.shapes.iter().find(|(shape, _)| ***shape == *seen.shape()) else {
                    return false;
                };
                let bins =
                    edges.iter().zip(seen.numbers()).map(|(edges, number)| slow_bin(edges, number.value()) as u8);
                key.iter().copied().eq(shape.iter().copied().chain(bins))
            }),
            Event::HalfLine { shape, place, feature, low, high } => {
                let value = feature.of(seen.numbers(), *place);
                **shape == *seen.shape() && value.is_some_and(|value| *low < value && value <= *high)
            }
            Event::Own(_) => seen.items().next() == Some("⊤"),
        }
    }

    #[test]
    fn every_kind_of_event_is_found_and_counted_as_it_is_defined() {
        let Selected { found, grid } = found();
        let (events, subject): (Vec<Event>, Subject) =
            (found.into_iter().map(|found| found.event).collect(), subject());
        let kinds = [
            events.iter().filter(|event| matches!(event, Event::Union { view: View::Whole, .. })).count(),
            events.iter().filter(|event| matches!(event, Event::Union { view: View::Shape, .. })).count(),
            events.iter().filter(|event| matches!(event, Event::Union { view: View::Cell, .. })).count(),
            events.iter().filter(|event| matches!(event, Event::HalfLine { .. })).count(),
            events.iter().filter(|event| matches!(event, Event::Own(_))).count(),
        ];
        assert!(kinds.iter().all(|&kind| kind > 0), "{kinds:?}");
        let mut counter = Counter::new(&subject, &events, &grid);
        let mut slow = vec![[0; 2]; events.len()];
        let (mut rng, mut seen) = (TrialRng::seed_from_u64(5), Transcript::default());
        for side in [0, 1].into_iter().cycle().take(2_000) {
            subject.run(side, &mut rng, &mut seen);
            counter.add(side, &seen);
            slow.iter_mut()
                .zip(&events)
                .for_each(|(count, event)| count[side] += u64::from(is_in(event, &grid, &seen)));
        }
        assert_eq!(counter.counts, slow);
    }

    #[test]
    fn every_event_has_a_name() {
        let Selected { found, grid } = found();
        for Found { event, .. } in found {
            let name = event.describe(&subject(), &grid);
            assert!(!name.is_empty() && !name.contains('\u{1f}'), "{name:?}");
        }
    }

    #[test]
    fn quantiles_cut_into_equal_parts() {
        let values: Vec<f64> = (0..100).rev().map(f64::from).collect();
        assert_eq!(quantiles(values, 4), [25.0, 50.0, 75.0]);
        assert_eq!(quantiles(vec![1.0; 50], 4), [1.0]);
        assert!(quantiles(vec![f64::NAN], 4).is_empty() && quantiles(Vec::new(), 64).is_empty());
    }
}
