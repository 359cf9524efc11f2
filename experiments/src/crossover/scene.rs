//! What is asked of which data: all that the rows of one question share.

use crate::made::Made;
use crate::points::adults;
use crate::sessions::{BETA, BUDGET, any_rank, key, zipf};
use rand::{SeedableRng, seq::index};
use std::collections::BTreeSet;
use tamis::noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
use tamis::plan::{Asking, Comparison, Planned, QueryRelease, Question, Records, mechanisms};
use tamis::queries::{Conjunction, Element, Fingerprint, Histogram, SparseQuery};
use tamis_harness::{TrialError, TrialRng};

/// Keys of the Zipf table.
const ZIPF_KEYS: u64 = 1 << 12;
/// Booleans of people that a conjunction leaves free.
pub const FREE: u32 = 7;

/// Where records come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A record for each key, of a universe that nobody lists.
    Distinct,
    /// The same, of a universe of twice as many keys that is listed.
    Listed,
    /// Eight keys with as many records each, of ten that are listed.
    Few,
    /// 4 096 keys by Zipf's law.
    Zipf,
    /// People, each with 48 booleans: equal people have one key.
    Adult,
}

/// Which keys lists name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Any of those that have records, as far as there are so many.
    Any,
    /// The i-th most frequent with a probability of about 1/i.
    Frequent,
    /// All people for whom 41 of the 48 booleans are true: nearly all of these keys are of nobody.
    Conjunctions,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Self::Distinct => "distinct",
            Self::Listed => "distinct, listed",
            Self::Few => "few keys, listed",
            Self::Zipf => "Zipf",
            Self::Adult => "Adult",
        }
    }

    /// All there are.
    pub const ALL: [Self; 5] = [Self::Distinct, Self::Listed, Self::Few, Self::Zipf, Self::Adult];

    /// Whether a key may have hundreds of records.
    pub fn has_frequent(self) -> bool {
        matches!(self, Self::Few | Self::Zipf | Self::Adult)
    }

    /// Whether all keys have as many records.
    pub fn is_alike(self) -> bool {
        matches!(self, Self::Distinct | Self::Listed | Self::Few)
    }
}

impl Naming {
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any keys",
            Self::Frequent => "frequent keys",
            Self::Conjunctions => "conjunctions",
        }
    }
}

/// n, m, k and the data, with what the planner says.
#[derive(Debug)]
pub struct Scene {
    /// What is varied.
    pub over: &'static str,
    pub source: Source,
    pub naming: Naming,
    pub records: u64,
    pub support: u64,
    pub queries: u64,
    /// How many of the k are asked.
    pub asked: u64,
    data: Made<Records>,
    lists: Made<Lists>,
    /// In the order of [`mechanisms::ALL`].
    plans: Vec<Made<Planned>>,
    winner: Made<Option<&'static str>>,
}

/// What is asked, with the true answers in records.
#[derive(Debug)]
struct Lists {
    queries: Vec<SparseQuery>,
    truths: Vec<f64>,
}

impl Scene {
    pub fn new(
        over: &'static str,
        source: Source,
        naming: Naming,
        [records, support, queries]: [u64; 3],
        most_asked: u64,
    ) -> Self {
        let (data, lists, winner) = Default::default();
        let plans = mechanisms::ALL.iter().map(|_| Made::default()).collect();
        let asked = queries.min(most_asked);
        Self { over, source, naming, records, support, queries, asked, data, lists, plans, winner }
    }

    /// Whether fewer are asked than stated.
    pub fn is_sampled(&self) -> bool {
        self.asked < self.queries
    }

    fn key(number: u64) -> Fingerprint {
        key().fingerprint(&Element::number(number))
    }

    fn counted(&self) -> Result<Histogram, TrialError> {
        let counts = match self.source {
            Source::Adult => return adults().table(&key()),
            Source::Zipf => zipf(ZIPF_KEYS, self.records),
            Source::Few => vec![self.records / 8; 8],
            Source::Distinct | Source::Listed => vec![1; self.records as usize],
        };
        let mut table = Histogram::builder();
        for (number, count) in (0..).zip(counts) {
            table.add(Self::key(number), count.try_into()?)?;
        }
        Ok(table.build())
    }

    fn data(&self) -> Result<&Records, TrialError> {
        self.data.get(|| {
            let table = self.counted()?;
            Ok(match self.listed() {
                Some(listed) => Records::listed(table, (0..listed).map(Self::key)),
                None => Records::new(table),
            })
        })
    }

    /// How many keys there may be, where they are listed.
    pub fn listed(&self) -> Option<u64> {
        match self.source {
            Source::Listed => Some(2 * self.records),
            Source::Few => Some(10),
            _ => None,
        }
    }

    /// What somebody knows who knows how many records and keys there are, what the largest key has, and what a record's key has on the
    /// average.
    pub fn question(&self) -> Result<Question, TrialError> {
        let table = self.data()?.histogram();
        let largest = table.entries().iter().map(|entry| entry.1.unsigned_abs()).max();
        Ok(Question {
            records: self.records,
            support: self.support,
            queries: Queries::new(self.queries)?,
            beta: Beta::new(BETA)?,
            budget: Budget::approximate(Epsilon::new(BUDGET.0)?, Delta::new(BUDGET.1)?),
            neighbours: Neighbours::AddRemove,
            rows_per_unit: 1,
            largest_count: largest.unwrap_or(1),
            key_multiplicity: table.squared_norm() as f64 / self.records as f64,
            distinct_keys: Some(table.distinct() as u64),
            universe: self.listed(),
            asking: Asking::Beforehand,
            memory: 1 << 34,
        })
    }

    /// What the planner says of a mechanism.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn planned(&self, mechanism: &dyn QueryRelease) -> Result<&Planned, TrialError> {
        // Cannot fail: all of them are in it.
        let place = mechanisms::ALL.iter().position(|other| other.about() == mechanism.about()).expect("a mechanism");
        self.plans[place].get(|| Ok(self.question()?.planned(mechanism).map_err(|refusal| refusal.reason)?))
    }

    /// Whether the bound of a mechanism says something.
    pub fn is_applicable(&self, mechanism: &dyn QueryRelease) -> Result<bool, TrialError> {
        Ok(self.planned(mechanism)?.says_something(&self.question()?))
    }

    /// Which mechanism the planner names, of all there are.
    pub fn winner(&self) -> Result<Option<&'static str>, TrialError> {
        let winner = self.winner.get(|| {
            // What would make the others meaningful takes long to find out.
            let says_something = |mechanism: &&dyn QueryRelease| self.is_applicable(*mechanism).unwrap_or(false);
            let applicable: Vec<_> = mechanisms::ALL.iter().copied().filter(says_something).collect();
            let comparison = Comparison::of_these(&applicable, &self.question()?)?;
            Ok(comparison.winner().map(|row| row.mechanism.about().name))
        });
        winner.copied()
    }

    fn list(&self, rng: &mut TrialRng) -> Result<SparseQuery, TrialError> {
        match self.naming {
            Naming::Any => {
                let table = self.data()?.histogram();
                let named = index::sample(rng, table.distinct().max(self.support as usize), self.support as usize);
                let key =
                    |place: usize| table.entries().get(place).map_or_else(|| Self::key(place as u64), |entry| entry.0);
                Ok(SparseQuery::count(named.iter().map(key)))
            }
            Naming::Frequent => {
                let mut ranks = BTreeSet::new();
                while (ranks.len() as u64) < self.support {
                    ranks.insert(any_rank(ZIPF_KEYS.ilog2(), rng));
                }
                Ok(SparseQuery::count(ranks.into_iter().map(|rank| Self::key(rank - 1))))
            }
            Naming::Conjunctions => {
                let width = adults().width;
                let free = index::sample(rng, width as usize, FREE as usize);
                let ones = free.iter().fold((1u128 << width) - 1, |ones, column| ones & !(1 << column));
                Ok(Conjunction::new(width, ones, 0)?.query(&key())?)
            }
        }
    }

    /// All lists that are asked, the same in all trials: what is promised is promised for any.
    fn lists(&self) -> Result<&Lists, TrialError> {
        self.lists.get(|| {
            let mut rng = TrialRng::seed_from_u64(self.support);
            let queries = (0..self.asked).map(|_| self.list(&mut rng)).collect::<Result<Vec<_>, _>>()?;
            let table = self.data()?.histogram();
            let truth = |list: &SparseQuery| list.evaluate(table) as f64 / f64::from(SparseQuery::UNIT);
            Ok(Lists { truths: queries.iter().map(truth).collect(), queries })
        })
    }

    /// The median of the true answers, in records.
    pub fn typical_answer(&self) -> Result<f64, TrialError> {
        let mut truths = self.lists()?.truths.clone();
        truths.sort_by(f64::total_cmp);
        Ok(truths.get(truths.len() / 2).copied().unwrap_or(0.0))
    }

    /// The errors of a new release or session on all lists, in records.
    pub fn errors(&self, mechanism: &dyn QueryRelease, rng: &mut TrialRng) -> Result<Vec<f64>, TrialError> {
        let lists = self.lists()?;
        let answers = self.planned(mechanism)?.answers(self.data()?, &lists.queries, rng)?;
        Ok(lists.truths.iter().zip(answers).map(|(truth, answer)| answer - truth).collect())
    }
}
