//! What is asked of which data: all that the rows of one question share.

use super::engine::Engine;
use crate::made::Made;
use crate::points::adults;
use crate::sessions::{BETA, BUDGET, Question, Stated, World, any_rank, key, zipf};
use rand::{SeedableRng, seq::index};
use std::collections::BTreeSet;
use tamis::noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
use tamis::plan::{Asking, Comparison, Mechanism, Row};
use tamis::queries::{Conjunction, Element, Fingerprint, SparseQuery};
use tamis_harness::{TrialError, TrialRng};

/// Keys of the Zipf table.
const ZIPF_KEYS: u64 = 1 << 12;
/// Booleans of people that a conjunction leaves free.
const FREE: u32 = 8;

/// Where records come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A record for each key, of a universe that nobody lists.
    Distinct,
    /// The same, of a universe of twice as many keys that is listed.
    Listed,
    /// 4 096 keys by Zipf's law; lists of any of them.
    Zipf,
    /// The same; lists of keys as they come in records.
    ZipfByRecords,
    /// People; conjunctions of 40 of their 48 booleans.
    Adult,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Self::Distinct => "distinct",
            Self::Listed => "distinct, listed",
            Self::Zipf => "Zipf",
            Self::ZipfByRecords => "Zipf, by records",
            Self::Adult => "Adult, 8 of 48 free",
        }
    }
}

/// n, m, k and the data, with the planner's answer.
#[derive(Debug)]
pub struct Scene {
    /// What is varied.
    pub over: &'static str,
    pub source: Source,
    pub records: u64,
    pub support: u64,
    pub queries: u64,
    /// How many of the k are asked.
    pub asked: u64,
    world: Made<World>,
    comparison: Made<Comparison>,
    lists: Made<Lists>,
    engines: [Made<Engine>; Mechanism::ALL.len()],
}

impl Scene {
    pub fn new(over: &'static str, source: Source, [records, support, queries]: [u64; 3], asked: u64) -> Self {
        let (world, comparison, lists, engines) = Default::default();
        Self { over, source, records, support, queries, asked: queries.min(asked), world, comparison, lists, engines }
    }

    /// Of people: as many as there are.
    pub fn of_adults(queries: u64, asked: u64) -> Self {
        Self::new("k", Source::Adult, [adults().points.len() as u64, 1 << FREE, queries], asked)
    }

    /// Whether fewer are asked than stated.
    pub fn is_sampled(&self) -> bool {
        self.asked < self.queries
    }

    fn key(number: u64) -> Fingerprint {
        key().fingerprint(&Element::number(number))
    }

    /// How many records each key has, but of people.
    fn counts(&self) -> Vec<u64> {
        match self.source {
            Source::Zipf | Source::ZipfByRecords => zipf(ZIPF_KEYS, self.records),
            Source::Distinct | Source::Listed | Source::Adult => vec![1; self.records as usize],
        }
    }

    pub fn world(&self) -> Result<&World, TrialError> {
        self.world.get(|| match self.source {
            Source::Adult => World::of_points(adults()),
            _ => World::of_keys((0..).map(Self::key).zip(self.counts())),
        })
    }

    /// All keys that there may be, where they are listed; none elsewhere.
    pub fn universe(&self) -> impl Iterator<Item = Fingerprint> {
        (0..self.listed().unwrap_or(0)).map(Self::key)
    }

    fn listed(&self) -> Option<u64> {
        (self.source == Source::Listed).then_some(2 * self.records)
    }

    /// What somebody knows who knows the law of the keys; of people, how many records a key has on the average, and no
    /// more.
    pub fn stated(&self) -> Result<Stated, TrialError> {
        let multiplicity = self.world()?.table.squared_norm() as f64 / self.records as f64;
        let largest_count = match self.source {
            Source::Adult => self.records,
            _ => self.counts().into_iter().max().unwrap_or(1),
        };
        let Self { records, support, queries, .. } = *self;
        Ok(Stated { records, largest_count, multiplicity, support, queries })
    }

    /// The same, as the planner is asked.
    pub fn question(&self) -> Result<tamis::plan::Question, TrialError> {
        let Stated { records, largest_count, multiplicity, support, queries } = self.stated()?;
        Ok(tamis::plan::Question {
            records,
            support,
            queries: Queries::new(queries)?,
            beta: Beta::new(BETA)?,
            budget: Budget::approximate(Epsilon::new(BUDGET.0)?, Delta::new(BUDGET.1)?),
            neighbours: Neighbours::AddRemove,
            rows_per_unit: 1,
            largest_count,
            key_multiplicity: multiplicity,
            distinct_keys: Some(self.world()?.table.distinct() as u64),
            universe: self.listed(),
            asking: Asking::Beforehand,
            memory: 1 << 34,
        })
    }

    pub fn comparison(&self) -> Result<&Comparison, TrialError> {
        self.comparison.get(|| Ok(Comparison::of(&self.question()?)?))
    }

    /// What the planner says of a mechanism.
    pub fn planned(&self, mechanism: Mechanism) -> &Row {
        // Cannot fail: the sweep states what is legal.
        self.comparison().expect("a legal question").row(mechanism)
    }

    fn engine(&self, mechanism: Mechanism) -> Result<&Engine, TrialError> {
        // Cannot fail: all of them are in it.
        let place = Mechanism::ALL.iter().position(|&other| other == mechanism).expect("a mechanism");
        self.engines[place].get(|| Engine::new(mechanism, self))
    }

    /// A list: of keys that have records, as far as there are so many.
    fn list(&self, rng: &mut TrialRng) -> Result<Question, TrialError> {
        if self.source == Source::Adult {
            let width = adults().width;
            let free = index::sample(rng, width as usize, FREE as usize);
            let ones = free.iter().fold((1u128 << width) - 1, |ones, column| ones & !(1 << column));
            return Question::conjunction(Conjunction::new(width, ones, 0)?);
        }
        if self.source == Source::ZipfByRecords {
            let mut ranks = BTreeSet::new();
            while (ranks.len() as u64) < self.support {
                // The i-th most frequent key, with a probability of about 1/i.
                ranks.insert(any_rank(ZIPF_KEYS.ilog2(), rng));
            }
            return Ok(Question::keys(ranks.into_iter().map(|rank| Self::key(rank - 1))));
        }
        let (support, keys) = (self.support as usize, self.world()?.table.distinct());
        let chosen = index::sample(rng, keys.max(support), support);
        Ok(Question::keys(chosen.iter().map(|number| Self::key(number as u64))))
    }

    /// All lists that are asked, the same in all trials: what is promised is promised for any.
    fn lists(&self) -> Result<&Lists, TrialError> {
        self.lists.get(|| {
            let mut rng = TrialRng::seed_from_u64(self.support);
            let questions = (0..self.asked).map(|_| self.list(&mut rng)).collect::<Result<Vec<_>, _>>()?;
            let table = &self.world()?.table;
            Ok(Lists {
                truths: questions.iter().map(|question| question.truth(table)).collect(),
                lists: questions.iter().map(|question| question.list.clone()).collect(),
                questions,
            })
        })
    }

    /// The errors of a new release or session on all lists, in records.
    pub fn errors(&self, mechanism: Mechanism, rng: &mut TrialRng) -> Result<Vec<f64>, TrialError> {
        let lists = self.lists()?;
        let answers = self.engine(mechanism)?.answers(self, lists, rng)?;
        Ok(lists.truths.iter().zip(answers).map(|(truth, answer)| answer - truth).collect())
    }
}

/// What is asked, as sessions and as releases take it, with the true answers in records.
#[derive(Debug)]
pub struct Lists {
    pub questions: Vec<Question>,
    pub lists: Vec<SparseQuery>,
    truths: Vec<f64>,
}
