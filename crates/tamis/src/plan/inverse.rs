//! The other way round: for which size or privacy an error is kept. The plans are asked again, none of their bounds is inverted here.

use super::{Comparison, Planned, QueryRelease, Question};
use rayon::prelude::*;
use tamis_noise::{Budget, Epsilon, Queries};

/// An error that is good enough: what all k answers keep but for β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// In records.
    Records(f64),
    /// As a share of the records.
    Share(f64),
}

impl Wanted {
    /// In records.
    pub fn in_records(self, question: &Question) -> f64 {
        match self {
            Self::Records(error) => error,
            Self::Share(share) => share * question.records as f64,
        }
    }

    /// Whether any answer keeps it, be it made without the data: no [answer](Question::largest_answer) is beyond it.
    pub fn is_kept_by_anything(self, question: &Question) -> bool {
        self.in_records(question) >= question.largest_answer()
    }

    fn kept(self, planned: &Planned, question: &Question) -> bool {
        planned.within <= self.in_records(question)
    }
}

/// What keeps an error at the best: the least or the largest that is found over all mechanisms, and which of them it is.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'m, T> {
    /// The number, of three digits or the end of what is tried.
    pub value: T,
    /// Whose bound is the least there.
    pub mechanism: &'m dyn QueryRelease,
}

/// What it takes to keep an error, and what that allows: each with all else as stated, by the mechanism that is best at it.
#[derive(Clone, Copy, Debug)]
pub struct Keeping {
    /// See [`Question::least_records`].
    pub least_records: Option<Kept<'static, u64>>,
    /// See [`Question::least_epsilon`].
    pub least_epsilon: Option<Kept<'static, f64>>,
    /// See [`Question::largest_support`].
    pub largest_support: Option<Kept<'static, u64>>,
    /// See [`Question::largest_queries`].
    pub largest_queries: Option<Kept<'static, u64>>,
}

impl Comparison {
    /// Searches all mechanisms that are compared here and whose bound holds for queries that come as they do.
    pub fn keeping(&self, wanted: Wanted) -> Keeping {
        let question = self.question();
        let holding: Vec<_> = self.rows.iter().filter(|row| self.holds(row)).map(|row| row.mechanism).collect();
        Keeping {
            least_records: question.records_keeping(&holding, wanted),
            least_epsilon: question.epsilon_keeping(&holding, wanted),
            largest_support: question.support_keeping(&holding, wanted),
            largest_queries: question.queries_keeping(&holding, wanted),
        }
    }
}

/// All searches go through all numbers of three digits, as they are printed, up to the ends that are named; whole numbers below a thousand one by one.
///
/// What is given was itself planned and keeps the error, and its neighbour on the other side was planned by all mechanisms, none of which does. If
/// bounds go one way with what is searched, that is the least or the largest there is. Bounds do, but for some steps: a release is at its best where
/// a power of two fits, an eighth better than between two of them; its intervals are wide for lists so short that their errors are not normal, and where
/// other records, few to a row and many to a key, err more than the noise; and plans end where their theorems, their tables or the memory do. Across
/// such a step another number, further on, may do too. Where what is stated keeps the error already, the search goes on from there.
///
/// What is found keeps the error by a bound that says something: where the largest answer falls with what is searched, or grows less than the
/// error, there may be none.
impl Question {
    /// The least [number of records](Self::with_records) for which a mechanism keeps a wanted share of them; none if none up to
    /// [2⁴⁰](Self::MAX_RECORDS) is enough.
    pub fn least_records(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<u64> {
        Some(self.records_keeping(&[mechanism], wanted)?.value)
    }

    /// The least ε [that is tried](Self::epsilons_tried); none if none of them is enough.
    pub fn least_epsilon(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<f64> {
        Some(self.epsilon_keeping(&[mechanism], wanted)?.value)
    }

    /// The largest number of keys of a query, up to [2²⁴](Self::MAX_SUPPORT); none if one is too many.
    pub fn largest_support(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<u64> {
        Some(self.support_keeping(&[mechanism], wanted)?.value)
    }

    /// The largest number of queries, up to [2⁵²](Self::MAX_QUERIES); none if one is too many.
    pub fn largest_queries(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<u64> {
        Some(self.queries_keeping(&[mechanism], wanted)?.value)
    }

    /// The least and the largest ε that searches try: from 0.001, or if less is stated the next of three digits from that on, to 100, or 1000 if that
    /// much is stated.
    pub fn epsilons_tried(&self) -> (f64, f64) {
        let stated = self.budget.epsilon().to_f64_down();
        // Three digits of it, so that none is tried between it and the next.
        let least = if stated < 0.001 { epsilon_at(place_of(stated)) } else { 0.001 };
        (least, if stated < 100.0 { 100.0 } else { 1_000.0 })
    }

    /// The same with so many records. A largest count that says nothing (all records) goes on saying nothing; how many different keys
    /// so many records have is not known; and a universe that has no room for so many is none.
    #[must_use]
    pub fn with_records(&self, records: u64) -> Self {
        let largest_count = if self.largest_count == self.records { records } else { self.largest_count };
        let universe = self.universe.filter(|&universe| universe.saturating_mul(largest_count) >= records);
        Self { records, largest_count, distinct_keys: None, universe, ..self.clone() }
    }

    /// With more records than these the [universe is left out](Self::with_records), and what needs one is not to be had: none if it has room for any
    /// number of records, or is not stated.
    pub fn records_of_universe(&self) -> Option<u64> {
        // One key may have all records.
        let bounded = self.largest_count < self.records || self.largest_count == 1;
        self.universe
            .map(|universe| universe.saturating_mul(self.largest_count))
            .filter(|&records| bounded && records < Self::MAX_RECORDS)
    }

    /// [`Row::within`](super::Row::within) of one mechanism alone; none if it is not applicable, or the question makes no sense.
    pub fn within(&self, mechanism: &dyn QueryRelease) -> Option<f64> {
        Some(self.planned(mechanism).ok()?.within)
    }

    fn with_queries(&self, queries: u64) -> Option<Self> {
        Some(Self { queries: Queries::new(queries).ok()?, ..self.clone() })
    }

    fn records_keeping<'m>(&self, mechanisms: &[&'m dyn QueryRelease], wanted: Wanted) -> Option<Kept<'m, u64>> {
        let good = useful(wanted);
        let records = self.least_records_for(mechanisms, &good)?;
        self.with_records(records).best(mechanisms, &good, records)
    }

    fn epsilon_keeping<'m>(&self, mechanisms: &[&'m dyn QueryRelease], wanted: Wanted) -> Option<Kept<'m, f64>> {
        let good = useful(wanted);
        let epsilon = self.least_epsilon_for(mechanisms, self.epsilons_tried().0, &good)?;
        self.with_epsilon(epsilon)?.best(mechanisms, &good, epsilon)
    }

    fn support_keeping<'m>(&self, mechanisms: &[&'m dyn QueryRelease], wanted: Wanted) -> Option<Kept<'m, u64>> {
        let with = |support| Self { support, ..self.clone() };
        let kept = |planned: &Planned, question: &Self| wanted.kept(planned, question);
        let range = Whole { least: 1, most: Self::MAX_SUPPORT };
        // With fewer keys a bound that keeps the error may say nothing: whether it does is asked at the edge.
        let support = range.furthest(mechanisms, [range.least, self.support, range.most], |left, support| {
            with(support).good(left, kept)
        })?;
        with(support).best(mechanisms, useful(wanted), support)
    }

    fn queries_keeping<'m>(&self, mechanisms: &[&'m dyn QueryRelease], wanted: Wanted) -> Option<Kept<'m, u64>> {
        let good = useful(wanted);
        let range = Whole { least: 1, most: Self::MAX_QUERIES };
        let holding = |left: &[_], queries| {
            self.with_queries(queries).map_or_else(Vec::new, |question| question.good(left, &good))
        };
        // No bound falls with the number of queries.
        if holding(mechanisms, 1).is_empty() {
            return None;
        }
        let queries = range.furthest(mechanisms, [range.least, self.queries.get(), range.most], holding)?;
        self.with_queries(queries)?.best(mechanisms, &good, queries)
    }

    /// The one of them with the least bound, of those whose plan is good here.
    fn best<'m, T>(
        &self,
        mechanisms: &[&'m dyn QueryRelease],
        good: impl Fn(&Planned, &Self) -> bool,
        value: T,
    ) -> Option<Kept<'m, T>> {
        let planned = |&mechanism: &&'m dyn QueryRelease| {
            let planned = self.planned(mechanism).ok().filter(|planned| good(planned, self))?;
            Some((planned.within, mechanism))
        };
        let best = mechanisms.iter().filter_map(planned).min_by(|one, other| one.0.total_cmp(&other.0));
        best.map(|(_, mechanism)| Kept { value, mechanism })
    }

    /// Those of which the plan is good here.
    fn good<'m>(
        &self,
        mechanisms: &[&'m dyn QueryRelease],
        good: impl Fn(&Planned, &Self) -> bool + Sync,
    ) -> Vec<&'m dyn QueryRelease> {
        let is_good = |mechanism: &dyn QueryRelease| self.planned(mechanism).is_ok_and(|planned| good(&planned, self));
        mechanisms.par_iter().copied().filter(|&mechanism| is_good(mechanism)).collect()
    }

    /// Whether the bound of a mechanism says something.
    pub(super) fn is_told_by(&self, mechanism: &dyn QueryRelease) -> bool {
        self.planned(mechanism).is_ok_and(|planned| planned.says_something(self))
    }

    fn least_records_for(
        &self,
        mechanisms: &[&dyn QueryRelease],
        good: impl Fn(&Planned, &Self) -> bool + Sync,
    ) -> Option<u64> {
        let holding = |left: &[_], records| self.with_records(records).good(left, &good);
        let up_to = |most| Whole { least: 1, most }.furthest(mechanisms, [most, self.records, 1], holding);
        // What needs the universe ends with it, and may be good before others are.
        self.records_of_universe().and_then(up_to).or_else(|| up_to(Self::MAX_RECORDS))
    }

    /// The least number of keys of a query, in a range, for which something holds.
    pub(super) fn least_support(&self, range: Whole, holds: impl Fn(&Self) -> bool) -> Option<u64> {
        range.least(|support| holds(&Self { support, ..self.clone() }))
    }

    /// The least number of queries, of so many at least, for which something holds.
    pub(super) fn least_queries(&self, least: u64, holds: impl Fn(&Self) -> bool) -> Option<u64> {
        let range = Whole { least, most: Self::MAX_QUERIES };
        range.least(|queries| self.with_queries(queries).is_some_and(|question| holds(&question)))
    }

    /// The least ε of three digits, of so much at least.
    fn least_epsilon_for(
        &self,
        mechanisms: &[&dyn QueryRelease],
        least: f64,
        good: impl Fn(&Planned, &Self) -> bool + Sync,
    ) -> Option<f64> {
        let holding = |left: &[_], place| {
            self.with_epsilon(epsilon_at(place)).map_or_else(Vec::new, |question| question.good(left, &good))
        };
        let [stated, most] = [self.budget.epsilon().to_f64_down(), self.epsilons_tried().1].map(place_of);
        furthest(mechanisms, [most, stated, place_of(least)], holding).map(epsilon_at)
    }

    fn with_epsilon(&self, epsilon: f64) -> Option<Self> {
        let budget = Budget::approximate(Epsilon::new(epsilon).ok()?, self.budget.delta().clone());
        Some(Self { budget, ..self.clone() })
    }
}

/// Whether a bound keeps the error and says something.
fn useful(wanted: Wanted) -> impl Fn(&Planned, &Question) -> bool + Sync {
    move |planned, question| wanted.kept(planned, question) && planned.says_something(question)
}

/// Which ε, n or m would make a mechanism say something, in the memory that there is or, if none would, in more; none if
/// none is found.
pub(super) fn remedy(mechanism: &dyn QueryRelease, question: &Question) -> Option<String> {
    let in_more = || speaking(mechanism, &question.in_any_memory()).map(|found| format!("{found}, with more memory"));
    speaking(mechanism, question).or_else(in_more)
}

/// The same in the memory that there is.
pub(super) fn speaking(mechanism: &dyn QueryRelease, question: &Question) -> Option<String> {
    let speaks = |question: &Question| question.is_told_by(mechanism);
    // Of long queries the largest answer grows with the records, of short ones with their keys; no bound falls with either.
    let size = || {
        if question.largest_answer() < question.records as f64 {
            // From these on no answer is larger, and no bound becomes less.
            let most = question.records.div_ceil(question.largest_count).min(Question::MAX_SUPPORT);
            let support = question.least_support(Whole { least: 1, most }, speaks);
            return support.map(|support| format!("queries of {support} keys"));
        }
        let records = question.least_records_for(&[mechanism], Planned::says_something);
        records.map(|records| format!("{records} records"))
    };
    let epsilon = || {
        // What is given is not enough.
        let given = question.budget.epsilon().to_f64_down();
        let epsilon = question.least_epsilon_for(&[mechanism], given, Planned::says_something);
        epsilon.map(|epsilon| format!("epsilon = {epsilon}"))
    };
    match rayon::join(epsilon, size) {
        (Some(epsilon), Some(size)) => Some(format!("{epsilon}, or {size}")),
        (one, other) => one.or(other),
    }
}

/// Whole numbers from one to another: the two, and between them all of three digits, or below a thousand all.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Whole {
    /// The least that is taken.
    fn least(self, mut accept: impl FnMut(u64) -> bool) -> Option<u64> {
        let place = edge(Self::place(self.most), Self::place(self.least), |place| accept(self.number(place)));
        place.map(|place| self.number(place))
    }

    /// The [furthest] at which one of the mechanisms is good: from where it is easy, by way of what is stated, to where it is hard.
    fn furthest<'m>(
        self,
        mechanisms: &[&'m dyn QueryRelease],
        easy_stated_hard: [u64; 3],
        good: impl Fn(&[&'m dyn QueryRelease], u64) -> Vec<&'m dyn QueryRelease>,
    ) -> Option<u64> {
        let places = easy_stated_hard.map(Self::place);
        furthest(mechanisms, places, |left, place| good(left, self.number(place))).map(|place| self.number(place))
    }

    fn number(self, place: i32) -> u64 {
        let place = place as u64;
        let number = if place < 1_000 {
            place
        } else {
            (100 + (place - 1_000) % 900) * 10u64.pow((1 + (place - 1_000) / 900) as u32)
        };
        number.clamp(self.least, self.most)
    }

    /// Of the number, or of the next that is larger.
    fn place(number: u64) -> i32 {
        if number < 1_000 {
            return number as i32;
        }
        let zeros = number.ilog10() - 2;
        1_000 + 900 * (zeros as i32 - 1) + number.div_ceil(10u64.pow(zeros)) as i32 - 100
    }
}

/// The ε of three digits at a place, of which each decade has 900.
fn epsilon_at(place: i32) -> f64 {
    let (digits, power) = (100 + place.rem_euclid(900), place.div_euclid(900) - 2);
    // Cannot fail: what was printed is read.
    format!("{digits}e{power}").parse().expect("a number")
}

/// Of this ε, or of the next of three digits that is larger.
fn place_of(epsilon: f64) -> i32 {
    let power = epsilon.log10().floor();
    // The logarithm may be rounded across.
    let near = 900 * power as i32 + (100.0 * epsilon / 10f64.powf(power)) as i32 - 100;
    // Cannot be missing: it is within one of it.
    (near - 2..).find(|&place| epsilon_at(place) >= epsilon).unwrap_or(near)
}

/// At most sixteen places, from the far end on to before the near one.
fn from_afar(near: i32, far: i32) -> impl Iterator<Item = i32> {
    let (way, step) = ((near - far).signum(), step(near, far));
    (0..).map(move |count| far + way * step * count).take_while(move |place| (near - place) * way > 0)
}

/// From one of them to the next: at least a quarter of a decade.
fn step(near: i32, far: i32) -> i32 {
    ((near - far).abs() / 16).max(225)
}

/// A place that `accept` takes while it does not take the next one on the way from `sure` to `unsure`: if it takes all up to some place
/// and none beyond, the last of them. Where it does not take `sure`, it is looked for from `unsure` on, at sixteen places. None if it is found to take none.
fn edge(sure: i32, unsure: i32, mut accept: impl FnMut(i32) -> bool) -> Option<i32> {
    let way = (sure - unsure).signum();
    // One beyond the range stands for what is not taken.
    let (mut taken, mut refused) = (sure, unsure - way);
    if !accept(sure) {
        taken = from_afar(sure, unsure).find(|&place| accept(place))?;
        refused = if taken == unsure { refused } else { taken - way * step(sure, unsure) };
    }
    while (taken - refused).abs() > 1 {
        let middle = taken.midpoint(refused);
        if accept(middle) { taken = middle } else { refused = middle }
    }
    Some(taken)
}

/// The place that is furthest from where things are easy to where they are hard, by way of what is stated, at which one of the mechanisms
/// is good: the next one was asked of all of them, and so were others further on.
fn furthest<'m>(
    mechanisms: &[&'m dyn QueryRelease],
    [easy, stated, hard]: [i32; 3],
    good: impl Fn(&[&'m dyn QueryRelease], i32) -> Vec<&'m dyn QueryRelease>,
) -> Option<i32> {
    let way = (easy - hard).signum();
    let is_between = (easy - stated) * way >= 0 && (stated - hard) * way >= 0;
    let mut from = if is_between && !good(mechanisms, stated).is_empty() { stated } else { easy };
    loop {
        // Who was not good at the last place that any was good at is asked no more, and so seldom asked in vain …
        let mut left = mechanisms.to_vec();
        let place = edge(from, hard, |place| {
            let still = good(&left, place);
            let any = !still.is_empty();
            if any {
                left = still;
            }
            any
        })?;
        // … until the others are at their end. What is less for more noise or fewer records (of those one looks for the least) may also be good
        // further on.
        let next = (place != hard).then_some(place - way);
        let further = from_afar(place, hard).take_while(|_| way > 0);
        match further.chain(next).find(|&place| !good(mechanisms, place).is_empty()) {
            Some(place) => from = place,
            None => return Some(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is taken and what not.
    #[test]
    fn an_edge_is_where_what_is_taken_ends() {
        let tables: [fn(i32) -> bool; 6] = [
            |_| true,
            |_| false,
            |place| place >= 337,
            |place| place <= 337,
            |place| (400..1_200).contains(&place),
            |place| place % 450 < 300,
        ];
        for takes in tables {
            for (sure, unsure) in [(1_800i32, 0), (0, 1_800), (900, 900)] {
                let way = (sure - unsure).signum();
                let place = edge(sure, unsure, takes);
                let scanned = (0..8).map(|count| unsure + way * 225 * count);
                assert_eq!(place.is_some(), scanned.chain([sure]).any(takes), "{sure} {unsure}");
                let Some(place) = place else { continue };
                assert!(takes(place) && (place == unsure || !takes(place - way)), "{sure} {unsure} {place}");
            }
        }
    }

    /// Numbers are those that are printed, each once, in order, and the ends.
    #[test]
    fn grids_have_all_numbers_of_three_digits() {
        let range = Whole { least: 88, most: 16_777_216 };
        let numbers: Vec<u64> =
            (Whole::place(88)..=Whole::place(16_777_216)).map(|place| range.number(place)).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next));
        assert_eq!((numbers[0], numbers[numbers.len() - 2], numbers[numbers.len() - 1]), (88, 16_700_000, 16_777_216));
        for number in [89, 999, 1_000, 1_010, 9_990, 10_000, 38_900, 10_000_000] {
            assert!(numbers.contains(&number), "{number}");
        }
        assert!(!numbers.contains(&1_001));
        for (epsilon, next) in
            [(1.49, 1.49), (1e-12, 1e-12), (0.001, 0.001), (999.0, 999.0), (1e3, 1e3), (1.491, 1.5), (0.9991, 1.0)]
        {
            assert_eq!(epsilon_at(place_of(epsilon)), next);
            assert!(epsilon_at(place_of(epsilon) - 1) < epsilon);
        }
    }
}
