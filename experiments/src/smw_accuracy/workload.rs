//! Who asks what.

use crate::points::adults;
use crate::sessions::{Question, World, any_rank, zipf};
use rand::{RngExt, seq::index};
use tamis::interactive::{Answer, Source};
use tamis::queries::{Conjunction, Fingerprint};
use tamis_harness::{TrialError, TrialRng};

/// Data, and an analyst who chooses each query after the answers before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Workload {
    /// Keys by Zipf's law; lists of them, frequent and rare and absent. Half of the keys of a list that had to be
    /// corrected are asked again: the analyst goes where the data speaks.
    Zipf,
    /// The people of [`adults`]; conjunctions of 40 of their booleans. The analyst climbs: each is the best so far with one
    /// literal exchanged, from a new start after every [`CLIMB`] queries.
    Adult,
    /// Records that are all distinct. Single keys first; then all those together that the answers overestimate, of keys
    /// that nobody has, or that they miss, of keys that somebody has.
    Attack,
    /// Nobody asks: only what is promised, for keys that any number of records have or each at most one.
    Promise,
}

/// How long the analyst climbs.
const CLIMB: u64 = 100;
/// Of the booleans of people.
const FREE: usize = 8;
/// Keys of the Zipf table, and twice as many that may be asked for.
const ZIPF_KEYS: u64 = 1 << 12;

/// How an analyst asks.
type Asked<'a> = dyn FnMut(&Question, &mut TrialRng) -> Result<Answer, TrialError> + 'a;

impl Workload {
    pub fn name(self) -> &'static str {
        match self {
            Self::Zipf => "Zipf",
            Self::Adult => "Adult, 8 of 48 free",
            Self::Attack => "distinct, attacked",
            Self::Promise => "",
        }
    }

    pub fn world(self, records: u64) -> Result<World, TrialError> {
        let counts = match self {
            Self::Adult => return World::of_points(adults()),
            Self::Zipf => zipf(ZIPF_KEYS, records),
            Self::Attack | Self::Promise => vec![1; records as usize],
        };
        World::of_keys((1..).map(Fingerprint::raw).zip(counts))
    }

    /// Asks `queries` questions about lists of at most `support` keys.
    pub fn run(
        self,
        world: &World,
        queries: u64,
        support: u64,
        ask: &mut Asked<'_>,
        rng: &mut TrialRng,
    ) -> Result<(), TrialError> {
        match self {
            Self::Zipf => go_where_the_data_speaks(queries, support, ask, rng),
            Self::Adult => climb(queries, ask, rng),
            Self::Attack => attack(world, queries, support, ask, rng),
            Self::Promise => Ok(()),
        }
    }
}

fn go_where_the_data_speaks(
    queries: u64,
    support: u64,
    ask: &mut Asked<'_>,
    rng: &mut TrialRng,
) -> Result<(), TrialError> {
    let mut kept: Vec<u64> = Vec::new();
    for _ in 0..queries {
        let mut is_taken = vec![false; 2 * ZIPF_KEYS as usize];
        let mut ranks = kept;
        ranks.iter().for_each(|&rank| is_taken[rank as usize] = true);
        while (ranks.len() as u64) < support {
            let rank = any_rank(ZIPF_KEYS.ilog2() + 1, rng);
            if !std::mem::replace(&mut is_taken[rank as usize], true) {
                ranks.push(rank);
            }
        }
        let answer = ask(&Question::keys(ranks.iter().copied().map(Fingerprint::raw)), rng)?;
        kept = if answer.source == Source::Data { ranks.into_iter().step_by(2).collect() } else { Vec::new() };
    }
    Ok(())
}

fn climb(queries: u64, ask: &mut Asked<'_>, rng: &mut TrialRng) -> Result<(), TrialError> {
    let width = adults().width;
    let mut columns: Vec<usize> = Vec::new();
    let mut height = f64::NEG_INFINITY;
    for number in 0..queries {
        // The first eight are free.
        let (fixed, freed) = if number % CLIMB == 0 {
            columns = index::sample(rng, width as usize, width as usize).into_vec();
            height = f64::NEG_INFINITY;
            (0, 0)
        } else {
            (rng.random_range(FREE..columns.len()), rng.random_range(0..FREE))
        };
        columns.swap(fixed, freed);
        let ones = columns[FREE..].iter().fold(0, |ones, column| ones | 1 << column);
        let question = Question::conjunction(Conjunction::new(width, ones, 0)?)?;
        let answer = ask(&question, rng)?.value;
        if answer >= height {
            height = answer;
        } else {
            columns.swap(fixed, freed);
        }
    }
    Ok(())
}

/// A key with what its answer was off by, as the analyst knows who has it.
struct Known {
    key: u64,
    error: f64,
}

/// The last queries of an attack are lists.
const ROUNDS: u64 = 16;

fn attack(
    world: &World,
    queries: u64,
    support: u64,
    ask: &mut Asked<'_>,
    rng: &mut TrialRng,
) -> Result<(), TrialError> {
    let records = world.table.total() as u64;
    let singles = ((queries - ROUNDS) / 2).min(support);
    let mut known = [Vec::new(), Vec::new()];
    for (side, first, truth) in [(0, records + 1, 0.0), (1, 1, 1.0)] {
        for key in first..first + singles {
            let answer = ask(&Question::keys([Fingerprint::raw(key)]), rng)?;
            known[side].push(Known { key, error: answer.value - truth });
        }
    }
    for round in 0..ROUNDS {
        // Nobody has them, and they are overestimated; somebody has them, and they are missed.
        let side = (round % 2) as usize;
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let chosen: Vec<&mut Known> = known[side].iter_mut().filter(|known| sign * known.error > 0.0).collect();
        let truth = if side == 0 { 0.0 } else { chosen.len() as f64 };
        let question = Question::keys(chosen.iter().map(|known| Fingerprint::raw(known.key)));
        let answer = ask(&question, rng)?;
        if answer.source == Source::Data {
            // The guess is now right for their sum; whoever has followed knows where it is still wrong.
            let guess: f64 = chosen.iter().map(|known| known.error).sum::<f64>() + truth;
            let shift = (answer.value - guess) / chosen.len().max(1) as f64;
            for known in chosen {
                known.error += shift;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Every question is within what was stated, and there are as many as that.
    #[test]
    fn analysts_keep_to_what_they_stated() {
        for (workload, records, support) in
            [(Workload::Zipf, 100_000, 64), (Workload::Adult, 32_561, 256), (Workload::Attack, 2_000, 142)]
        {
            let world = workload.world(records).unwrap();
            assert_eq!((world.table.total(), world.data.total()), (records as i64, records as i64));
            let (mut asked, mut wide) = (0, 0);
            let mut ask = |question: &Question, rng: &mut TrialRng| {
                asked += 1;
                wide = wide.max(question.list.support());
                let value = question.truth(&world.table) + f64::from(rng.random_range(-1..=1));
                Ok(Answer { value, source: Source::Data, bound: None, is_repeated: false, left: 1 })
            };
            workload.run(&world, 300, support, &mut ask, &mut TrialRng::seed_from_u64(1)).unwrap();
            assert_eq!(asked, 300, "{workload:?}");
            assert!(wide as u64 <= support && wide as u64 > support / 10, "{workload:?}: {wide}");
        }
    }
}
