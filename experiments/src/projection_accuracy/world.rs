//! Tables and lists of keys to try releases on.

use rand::{RngExt, seq::index};
use tamis::projection::Answer;
use tamis::queries::{Conjunction, Element, Fingerprint, FingerprintKey, Histogram, SparseQuery};
use tamis_harness::{TrialError, TrialRng};

/// 32 561 people by 48 booleans, each true of most, packed in hexadecimal digits, the first in the lowest bit.
const ADULT: &str = include_str!("../../../examples/adult_majority48.csv");
const ADULT_COLUMNS: u32 = 48;

/// How often keys occur, and what they are.
#[derive(Clone, Debug)]
pub enum Data {
    /// So many keys, once each.
    Distinct { records: u64, keys: Keys },
    /// So many keys, the i-th most frequent one `largest`/i times, but at least once.
    Zipf { keys: u64, largest: u64 },
    /// One key, so many times.
    HeavyKey { records: u64 },
    /// The people of the file, asked by conjunctions that leave so many of the booleans free.
    Adult { free: u32 },
}

/// What the keys of [`Data::Distinct`] are.
#[derive(Clone, Copy, Debug)]
pub enum Keys {
    /// Numbers, evenly spread over a universe of 2ᵇ: a structured set, taken as it is.
    Bits(u32),
    /// Numbers written with so many digits, under a fresh key of fingerprints in each trial.
    Digits(usize),
}

/// Which lists a release is asked: so many at once, no key in two of them. For [`Data::Adult`] only how many.
#[derive(Clone, Copy, Debug)]
pub struct Lists {
    pub number: u64,
    /// m: how many keys each has.
    pub support: u64,
    /// How many of those are in the table, taken evenly from frequent and rare ones.
    pub matches: u64,
}

/// A table and lists to count in it.
#[derive(Debug)]
pub struct World {
    pub table: Histogram,
    pub lists: Vec<SparseQuery>,
    /// The exact answers, in records.
    pub truths: Vec<f64>,
}

impl Data {
    pub fn name(&self) -> String {
        match self {
            Self::Distinct { .. } => "distinct".to_owned(),
            Self::Zipf { .. } => "Zipf".to_owned(),
            Self::HeavyKey { .. } => "one heavy key".to_owned(),
            Self::Adult { free } => format!("Adult, {free} of {ADULT_COLUMNS} free"),
        }
    }

    /// What a key is, in words.
    pub fn keys(&self) -> String {
        match self {
            Self::Distinct { keys: Keys::Digits(length), .. } => format!("{length} bytes"),
            Self::Distinct { keys: Keys::Bits(bits), .. } => format!("{bits} bits"),
            Self::Zipf { .. } | Self::HeavyKey { .. } => "64 bits".to_owned(),
            Self::Adult { .. } => format!("{ADULT_COLUMNS} bits"),
        }
    }

    /// The counts of all keys, the largest first.
    fn counts(&self) -> Vec<u64> {
        match *self {
            Self::Distinct { records, .. } => vec![1; records as usize],
            Self::Zipf { keys, largest } => (1..=keys).map(|rank| (largest / rank).max(1)).collect(),
            Self::HeavyKey { records } => vec![records],
            Self::Adult { .. } => {
                let people = World::adults(&FingerprintKey::new([0; 16]));
                people.entries().iter().map(|&(_, count)| count.unsigned_abs()).collect()
            }
        }
    }

    /// n, and ‖x‖₂².
    pub fn size(&self) -> (f64, f64) {
        let counts = self.counts();
        (counts.iter().sum::<u64>() as f64, counts.iter().map(|&count| (count as f64).powi(2)).sum())
    }

    /// Whether every trial has keys, or lists, of its own.
    pub fn is_fresh(&self) -> bool {
        matches!(self, Self::Adult { .. } | Self::Distinct { keys: Keys::Digits(_), .. })
    }

    /// The table and its lists. The generator is used if it [is fresh](Self::is_fresh), and only then.
    pub fn world(&self, lists: Lists, rng: &mut TrialRng) -> Result<World, TrialError> {
        match *self {
            Self::Adult { free } => World::of_adults(free, lists.number, &FingerprintKey::new(rng.random()), rng),
            Self::Distinct { keys: Keys::Digits(length), .. } => {
                let key = FingerprintKey::new(rng.random());
                let name = |number: u64| key.fingerprint(&Element::bytes(format!("{number:0length$}").as_bytes()));
                World::of_numbers(&self.counts(), lists, name)
            }
            Self::Distinct { keys: Keys::Bits(bits), .. } => self.of_bits(bits, lists),
            Self::Zipf { .. } | Self::HeavyKey { .. } => self.of_bits(64, lists),
        }
    }

    fn of_bits(&self, bits: u32, lists: Lists) -> Result<World, TrialError> {
        let counts = self.counts();
        let used = counts.len() as u64 + lists.number * (lists.support - lists.matches);
        let Some(spread) = bits.checked_sub(used.next_power_of_two().ilog2()) else {
            return Err(format!("{used} keys do not fit a universe of 2^{bits}").into());
        };
        World::of_numbers(&counts, lists, |number| Fingerprint::raw(number << spread))
    }
}

impl World {
    fn new(table: Histogram, lists: Vec<SparseQuery>) -> Self {
        let truth = |list: &SparseQuery| list.evaluate(&table) as f64 / f64::from(SparseQuery::UNIT);
        let truths = lists.iter().map(truth).collect();
        Self { table, lists, truths }
    }

    /// Number i is the key of the i-th count; numbers beyond are not in the table.
    fn of_numbers(counts: &[u64], lists: Lists, name: impl Fn(u64) -> Fingerprint) -> Result<Self, TrialError> {
        let Lists { number, support, matches } = lists;
        let keys = counts.len() as u64;
        if number * matches > keys {
            return Err(format!("{number} lists with {matches} matches each are more than {keys} keys").into());
        }
        let mut table = Histogram::builder();
        for (key, &count) in (0..).zip(counts) {
            table.add(name(key), count.try_into()?)?;
        }
        let stride = keys.checked_div(matches).unwrap_or(0);
        let absent = support - matches;
        let list = |list: u64| {
            let inside = (0..matches).map(|place| place * stride + stride - 1 - list);
            let outside = (0..absent).map(|place| keys + list * absent + place);
            SparseQuery::count(inside.chain(outside).map(&name))
        };
        Ok(Self::new(table.build(), (0..number).map(list).collect()))
    }

    fn adults(key: &FingerprintKey) -> Histogram {
        let mut table = Histogram::builder();
        for line in ADULT.lines().skip(1) {
            // Cannot fail, here and below: the file is part of this program, 12 digits a line and few lines.
            let bits = u64::from_str_radix(line, 16).expect("hexadecimal digits");
            let person = Element::bits(bits.into(), ADULT_COLUMNS).expect("48 bits");
            table.add(key.fingerprint(&person), 1).expect("few people");
        }
        table.build()
    }

    /// Conjunctions of literals that are to be true, chosen at random.
    fn of_adults(free: u32, number: u64, key: &FingerprintKey, rng: &mut TrialRng) -> Result<Self, TrialError> {
        let mut conjunction = || -> Result<SparseQuery, TrialError> {
            let fixed = index::sample(rng, ADULT_COLUMNS as usize, (ADULT_COLUMNS - free) as usize);
            let ones = fixed.iter().fold(0, |ones, column| ones | 1 << column);
            Ok(Conjunction::new(ADULT_COLUMNS, ones, 0)?.query(key)?)
        };
        let lists = (0..number).map(|_| conjunction()).collect::<Result<_, _>>()?;
        Ok(Self::new(Self::adults(key), lists))
    }

    /// The errors of answers to the lists, in records.
    pub fn errors(&self, answers: &[Answer]) -> Vec<f64> {
        answers.iter().zip(&self.truths).map(|(answer, truth)| answer.value - truth).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn lists_are_what_is_said_of_them() {
        let lists = Lists { number: 4, support: 200, matches: 80 };
        let mut rng = TrialRng::seed_from_u64(1);
        let tables = [
            Data::Distinct { records: 512, keys: Keys::Bits(10) },
            Data::Distinct { records: 512, keys: Keys::Bits(64) },
            Data::Distinct { records: 512, keys: Keys::Digits(8) },
            Data::Zipf { keys: 400, largest: 100 },
        ];
        for data in tables {
            let world = data.world(lists, &mut rng).unwrap();
            let (records, norm) = data.size();
            assert_eq!((world.table.total() as f64, world.table.squared_norm() as f64), (records, norm));
            let all: Vec<_> = world.lists.iter().flat_map(|list| list.entries()).map(|entry| entry.0).collect();
            assert!(world.lists.iter().all(|list| list.support() == 200));
            assert_eq!(SparseQuery::count(all).support(), 800, "a key in two lists");
            let matches =
                |list: &SparseQuery| list.entries().iter().filter(|(key, _)| world.table.count(*key) > 0).count();
            assert!(world.lists.iter().all(|list| matches(list) == 80), "{data:?}");
        }
        let small = Data::Distinct { records: 512, keys: Keys::Bits(9) };
        assert!(small.world(lists, &mut rng).is_err());
    }

    #[test]
    fn adults_are_the_file() {
        let (records, norm) = Data::Adult { free: 8 }.size();
        assert_eq!((records, norm), (32_561.0, 41_981_817.0));
        let lists = Lists { number: 3, support: 256, matches: 0 };
        let world = Data::Adult { free: 8 }.world(lists, &mut TrialRng::seed_from_u64(1)).unwrap();
        // Everybody of whom all is true is in every conjunction.
        assert!(
            world.lists.iter().all(|list| list.support() == 256) && world.truths.iter().all(|&truth| truth >= 6_065.0)
        );
    }
}
