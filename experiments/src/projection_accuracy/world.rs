//! Tables and lists of keys to try releases on.

use crate::points::adults;
use rand::{RngExt, seq::index};
use tamis::projection::Answer;
use tamis::queries::{Conjunction, Element, Fingerprint, FingerprintKey, Histogram, SparseQuery};
use tamis_harness::{TrialError, TrialRng};

/// 97 310 names and how many persons bear them.
const NAMES: &str = include_str!("../../../examples/us_baby_names_1880_2017.csv");
/// 18 common ones.
const COMMON_NAMES: &str = include_str!("../../../examples/names.txt");

/// How often keys occur, and what they are.
#[derive(Clone, Copy, Debug)]
pub enum Data {
    /// So many keys, once each.
    Distinct { records: u64, keys: Keys },
    /// So many keys, the i-th most frequent one `largest`/i times, but at least once.
    Zipf { keys: u64, largest: u64 },
    /// One key, so many times.
    HeavyKey { records: u64 },
    /// The people of [`adults`], asked by conjunctions that leave so many of the booleans free.
    Adult { free: u32 },
    /// The persons of the file, asked for common names: a list.
    Names,
}

/// What the keys of [`Data::Distinct`] are.
#[derive(Clone, Copy, Debug)]
pub enum Keys {
    /// Numbers, evenly spread over a universe of 2ᵇ: a structured set, taken as it is.
    Bits(u32),
    /// Numbers written with so many digits, under a fresh key of fingerprints in each trial.
    Digits(usize),
}

/// How large a table is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// n.
    pub records: f64,
    /// ‖x‖₂².
    pub squared_norm: f64,
}

/// Which lists a release is asked: so many at once, no key in two of them. For [`Data::Adult`] and [`Data::Names`] a
/// description of what they are.
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
    pub fn name(self) -> String {
        match self {
            Self::Distinct { keys: Keys::Bits(64), .. } => "distinct".to_owned(),
            Self::Distinct { keys: Keys::Bits(bits), .. } => format!("distinct, of {bits} bits"),
            Self::Distinct { keys: Keys::Digits(length), .. } => format!("distinct, of {length} bytes"),
            Self::Zipf { .. } => "Zipf".to_owned(),
            Self::HeavyKey { .. } => "one heavy key".to_owned(),
            Self::Adult { free } => format!("Adult, {free} of 48 free"),
            Self::Names => "names".to_owned(),
        }
    }

    /// The counts of all keys; where keys are numbers, the largest first.
    fn counts(self) -> Vec<u64> {
        let of = |table: Histogram| table.entries().iter().map(|&(_, count)| count.unsigned_abs()).collect();
        let key = FingerprintKey::new([0; 16]);
        match self {
            Self::Distinct { records, .. } => vec![1; records as usize],
            Self::Zipf { keys, largest } => (1..=keys).map(|rank| (largest / rank).max(1)).collect(),
            Self::HeavyKey { records } => vec![records],
            Self::Adult { .. } => of(World::adults(&key)),
            Self::Names => of(World::names(&key)),
        }
    }

    /// How large the table is.
    pub fn totals(self) -> Totals {
        let counts = self.counts();
        Totals {
            records: counts.iter().sum::<u64>() as f64,
            squared_norm: counts.iter().map(|&count| (count as f64).powi(2)).sum(),
        }
    }

    /// Whether every trial has keys, or lists, of its own.
    pub fn is_fresh(self) -> bool {
        matches!(self, Self::Adult { .. } | Self::Names | Self::Distinct { keys: Keys::Digits(_), .. })
    }

    /// The table and its lists. The generator is used if it [is fresh](Self::is_fresh), and only then.
    pub fn world(self, lists: Lists, rng: &mut TrialRng) -> Result<World, TrialError> {
        match self {
            Self::Adult { free } => World::of_adults(free, lists.number, &FingerprintKey::new(rng.random()), rng),
            Self::Names => {
                let key = FingerprintKey::new(rng.random());
                let common = COMMON_NAMES.lines().map(|name| key.fingerprint(&Element::bytes(name.as_bytes())));
                Ok(World::new(World::names(&key), vec![SparseQuery::count(common)]))
            }
            Self::Distinct { keys: Keys::Digits(length), .. } => {
                let key = FingerprintKey::new(rng.random());
                let name = |number: u64| key.fingerprint(&Element::bytes(format!("{number:0length$}").as_bytes()));
                World::of_numbers(&self.counts(), lists, name)
            }
            Self::Distinct { keys: Keys::Bits(bits), .. } => self.of_bits(bits, lists),
            Self::Zipf { .. } | Self::HeavyKey { .. } => self.of_bits(64, lists),
        }
    }

    fn of_bits(self, bits: u32, lists: Lists) -> Result<World, TrialError> {
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
        // Cannot fail, here and below: the files are part of this program.
        adults().table(key).expect("48 bits")
    }

    fn names(key: &FingerprintKey) -> Histogram {
        let mut table = Histogram::builder();
        for line in NAMES.lines().skip(1) {
            let (name, count) = line.split_once(',').expect("two cells");
            let count = count.parse().expect("a whole number");
            table.add(key.fingerprint(&Element::bytes(name.as_bytes())), count).expect("few people");
        }
        table.build()
    }

    /// Conjunctions of literals that are to be true, chosen at random.
    fn of_adults(free: u32, number: u64, key: &FingerprintKey, rng: &mut TrialRng) -> Result<Self, TrialError> {
        let width = adults().width;
        let mut conjunction = || -> Result<SparseQuery, TrialError> {
            let fixed = index::sample(rng, width as usize, (width - free) as usize);
            let ones = fixed.iter().fold(0, |ones, column| ones | 1 << column);
            Ok(Conjunction::new(width, ones, 0)?.query(key)?)
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
            let [records, squared_norm] = [world.table.total() as f64, world.table.squared_norm() as f64];
            assert_eq!(data.totals(), Totals { records, squared_norm });
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
    fn adults_and_names_are_the_files() {
        let totals = Data::Adult { free: 8 }.totals();
        assert_eq!(totals, Totals { records: 32_561.0, squared_norm: 41_981_817.0 });
        let lists = Lists { number: 3, support: 256, matches: 0 };
        let world = Data::Adult { free: 8 }.world(lists, &mut TrialRng::seed_from_u64(1)).unwrap();
        let names = Data::Names.world(lists, &mut TrialRng::seed_from_u64(1)).unwrap();
        assert_eq!((names.table.total(), names.table.distinct()), (348_120_517, 97_310));
        assert_eq!(names.truths, [49_491_968.0]);
        // Everybody of whom all is true is in every conjunction.
        assert!(
            world.lists.iter().all(|list| list.support() == 256) && world.truths.iter().all(|&truth| truth >= 6_065.0)
        );
    }
}
