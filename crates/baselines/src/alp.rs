//! ALP: counts of single keys over a universe that nobody lists, with pure privacy: right where single keys are looked
//! up.
//!
//! # The release
//! One table z of S bits. A key u of x records sets the bits at its first y levels, at the places h(u, 1) … h(u, y),
//! where y is x/γ rounded at random, up or down, so that its mean is x/γ; bits that two keys set are set once. Then
//! each bit of the table is flipped with probability p = 1/(α + 2), and the table is published with the key of h.
//! (Aumüller, Lebeda, Pagh 2021, Algorithm 1; the table that all levels share is from OpenDP's variant.)
//!
//! A key is looked up by walking up its levels: f(n) = Σ over levels 1 ..= n of +1 for a bit that is set and −1 for one
//! that is not. Up to y it rises, then it falls; the estimate is γ times the place of its **first** maximum (their
//! Algorithm 2 takes the mean of all: the first errs less on keys that do not occur, of which lists over large
//! universes mostly consist).
//!
//! # Privacy
//! A release is ε-private, the plan's [cost](AlpPlan::cost), for its neighbours and units of at most L rows. γ is the
//! least number of records from 1 on with
//!
//! ```text
//! 1 + α/γ ≤ e^ε₀,    ε₀ = ε/L for add-remove and ε/(2L) for substitute neighbours,
//! ```
//!
//! rounded up to units of 2⁻²⁰ records.
//!
//! *Proof.* A unit moves the histogram by at most L or 2L steps of one record each; so it is enough that one record
//! more at one key u changes the probability of no table by a factor of more than e^ε₀, either way. Fix h, and how the
//! others were rounded. Let g(y) be the probability of the table if u sets its first y levels. g(y + 1) and g(y) differ
//! by whether one bit is set before the flips, if nothing else sets it anyway, so one is at most (1 − p)/p = 1 + α
//! times the other. With x/γ = y + r the probability is P = (1 − r)·g(y) + r·g(y + 1), and with one record more P' is
//! the same at x/γ + 1/γ, where 1/γ ≤ 1.
//!
//! - *Within one level*, |P' − P| = |g(y + 1) − g(y)|/γ ≤ α·min(g(y), g(y + 1))/γ, and both P and P' are at least that
//!   minimum. So each is at most 1 + α/γ times the other.
//! - *Across one*, with a + b = 1/γ, P = a·g(y) + (1 − a)·g(y + 1) and P' = (1 − b)·g(y + 1) + b·g(y + 2). So P' ≤ (1 +
//!   bα)·g(y + 1) and P ≥ (1 − aα/(1 + α))·g(y + 1), and (1 + bα) ≤ (1 + α/γ)·(1 − aα/(1 + α)) just if a + b ≤ 1. The
//!   other way by symmetry. ∎
//!
//! Random rounding is what carries the first case: rounded to the nearest level, one record could move a whole one, a
//! factor of 1 + α. The paper's values are real: a change by any q ≤ 1 costs a factor of 1 + qα/γ, which is at most
//! e^(qε) for all of them from γ = α/ε on. Whole records allow γ = α/(e^ε − 1), which at ε = 1 is 1.7 times less error.
//! Levels beyond the stated largest count are not set, which is what rounding the lesser of the two counts would have
//! given. How good h is does not matter here: the proof is for every h.
//!
//! # Exact
//! 1/p is a power of two, 2^j: a word of flips is the AND of j words of the generator. Random rounding is ⌊(x + U)/γ⌋
//! in integers, with U uniform below γ by rejection. Only γ comes from a float, rounded up by more than its error.
//!
//! # Accuracy
//! Not unbiased: a key that does not occur has an estimate of at least 0. From some levels on the error hardly depends
//! on the count: its expected magnitude is about 3.5 records at ε = 1, and 5.5/ε for small ε. At a count of 0 it is
//! about 1, and 1.6/ε, **all of it upward**, so that over a list of m such keys it adds up to m.
//! [`error_of_key`](AlpPlan::error_of_key) computes bias and mean square; the [bound](AlpPlan::guarantee) is a theorem
//! if h is random:
//!
//! *Bound.* Let every bit beyond y be set with probability p' at most, collisions included. That the maximum is at
//! least s levels above y needs a sum of s or more steps, each +1 with probability p', that is not negative; that it is
//! s levels below a sum of as many, each +1 with probability 1 − p, that is not positive. By Chernoff's method a sum of
//! i steps is so with probability at most cⁱ, c = 2√(p'(1 − p')), hence
//!
//! ```text
//! P(|error| > γ·s) ≤ 2·c^s/(1 − c),    and all of k lists of m keys are within m·γ·s with probability 1 − km·2·c^s/(1 − c).
//! ```
//!
//! p' is taken at twice the expected share of set bits. That h is random is an assumption: places of a key are the
//! SplitMix64 stream (Steele, Lea, Flood 2014) that starts at SipHash-2-4 of its fingerprint; any 256 levels in a row
//! have different places by construction.
//!
//! # Cost
//! A release takes about j words of the generator for each 64 bits of the table, which has 32 to 64 bits for each level
//! that all records together reach (n/γ), and a few nanoseconds for each of those levels. A look-up takes as many steps
//! as the key has levels, and some 45 more. Time and the number of words drawn depend on the data; the flips are drawn
//! first.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | α     | 2^j − 2, from [`AlpPlan::flip_probability`] | – |
//! | α/ε   | γ, [`AlpPlan::step`] | records |
//! | m, β  | `levels`, `largest_count` | levels, records |
//! | s     | S, [`AlpPlan::bits`] | bits |
//!
//! # References
//! - M. Aumüller, C. J. Lebeda, R. Pagh, *Differentially private sparse vectors with low error, optimal space, and fast
//!   access*, CCS 2021.

use crate::BaselineError;
use crate::units::{KeyError, check_data, check_rows, in_records};
use rand::CryptoRng;
use siphasher::sip::SipHasher24;
use std::num::NonZeroU64;
use tamis_noise::{Beta, Budget, Neighbours, Queries, Scale, uniform_below};
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

/// Table, levels and flips, before any data is seen. See the [module](self).
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_baselines::AlpPlan;
/// use tamis_noise::{Beta, Budget, Epsilon, Neighbours, Queries};
/// use tamis_queries::{Fingerprint, Histogram};
/// let budget = Budget::pure(Epsilon::new(1.0)?);
/// let plan = AlpPlan::new(&budget, Neighbours::AddRemove, 1, 1_000_000, 1_000)?;
/// assert_eq!((plan.flip_probability(), plan.bits()), (0.125, 1 << 24));
/// assert!((plan.step() - 6.0 / 1.0f64.exp_m1()).abs() < 1e-5); // α/(e − 1)
/// assert!(plan.predicted_error(1, 500) < 6.0 && plan.predicted_error(10_000, 0) > 9_000.0); // it all adds up
///
/// let table = Histogram::builder().add(Fingerprint::raw(1), 400)?.build();
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let release = plan.release(&table, &mut rng)?;
/// let bound = plan.guarantee(1, Queries::new(2)?, Beta::new(1e-9)?);
/// assert!((release.estimate(Fingerprint::raw(1)) - 400.0).abs() <= bound);
/// assert!(release.estimate(Fingerprint::raw(2)) <= bound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AlpPlan {
    cost: Budget,
    neighbours: Neighbours,
    rows_per_unit: u32,
    /// j: flips have probability 2^−j.
    flip_exponent: u32,
    /// γ, in units of 2⁻²⁰ records, at least [`UNIT`].
    step: NonZeroU64,
    /// How many levels a key has at most.
    levels: u64,
    /// log₂ S.
    bits_exponent: u32,
    /// n, as stated.
    records: u64,
}

/// A table of flipped bits: all of it may be published. Made by [`AlpPlan::release`].
#[derive(Clone, Debug)]
pub struct Alp {
    plan: AlpPlan,
    seed: [u8; 16],
    table: Vec<u64>,
}

/// A record, in the units of γ.
const UNIT: u64 = SparseQuery::UNIT as u64;

/// Most records that can be stated: all that a histogram holds.
const MOST_RECORDS: u64 = Histogram::MAX_TOTAL as u64;

/// The least j: flips of ⅛. Of the powers of two it has the least error at ε up to 1, within a few percent.
const LEAST_FLIP_EXPONENT: u32 = 3;
/// The largest: flips are rare then, and the error is next to none.
const MOST_FLIP_EXPONENT: u32 = 16;

/// Bits of the table for each level that all records together reach, at least.
const BITS_PER_LEVEL: u64 = 32;
/// log₂ of the table's least size: the places of 256 levels in a row differ, and each has some to choose from.
const LEAST_BITS_EXPONENT: u32 = 12;
/// log₂ of its largest: 1 GiB.
const MOST_BITS_EXPONENT: u32 = 33;

/// How far below its maximum f may fall before the walk ends: it comes back with probability (p'/(1 − p'))³², below
/// 10⁻²¹ where p' is below 0.18, as it is if there are no more records than stated.
const GIVE_UP: i64 = 32;

impl AlpPlan {
    /// For tables of up to `records` records, of which a key has up to `largest_count`: both stated, public, and
    /// nothing that privacy rests on. With more records estimates are too large, and of a key with more than
    /// `largest_count` no more is found.
    ///
    /// δ is not spent.
    ///
    /// # Errors
    /// If L is not from 1 to 1 000 000, a size is not from 1 to 2⁴⁰ (that of a key: to `records`), γ is beyond 2⁴⁰
    /// records, or the table would have more than 2³³ bits.
    pub fn new(
        budget: &Budget,
        neighbours: Neighbours,
        rows_per_unit: u32,
        records: u64,
        largest_count: u64,
    ) -> Result<Self, BaselineError> {
        check_rows(rows_per_unit)?;
        check_size("number of records", records, MOST_RECORDS)?;
        check_size("number of records of a key", largest_count, records)?;
        let moved = neighbours.rows_moved() * u64::from(rows_per_unit);
        let (flip_exponent, step) = flips_and_step(budget.epsilon().to_f64_down() / moved as f64)?;
        // Cannot fail: a level is a record or more.
        let step = NonZeroU64::new(step).expect("a level");
        // No overflow: records are at most 2⁴⁰, and there is no more than a level for each.
        let reached = (records * UNIT).div_ceil(step.get());
        let bits_exponent = (BITS_PER_LEVEL * reached).next_power_of_two().ilog2().max(LEAST_BITS_EXPONENT);
        if bits_exponent > MOST_BITS_EXPONENT {
            return Err(BaselineError::Table { records, bits: format!("2^{bits_exponent}") });
        }
        Ok(Self {
            cost: Budget::pure(budget.epsilon().clone()),
            neighbours,
            rows_per_unit,
            flip_exponent,
            step,
            levels: (largest_count * UNIT).div_ceil(step.get()),
            bits_exponent,
            records,
        })
    }

    /// What a release spends, to be charged before it: pure, whatever δ is offered.
    pub fn cost(&self) -> &Budget {
        &self.cost
    }

    /// For which neighbours it is private.
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// L: how many rows a unit may have.
    pub fn rows_per_unit(&self) -> u32 {
        self.rows_per_unit
    }

    /// p: with which probability a bit is flipped, a power of ½.
    pub fn flip_probability(&self) -> f64 {
        0.5f64.powi(self.flip_exponent as i32)
    }

    /// γ: how many records make a level.
    pub fn step(&self) -> f64 {
        in_records(self.step.get() as f64)
    }

    /// S: how many bits the table has. An eighth of that is a release's size in bytes; making it takes twice as much
    /// memory.
    pub fn bits(&self) -> u64 {
        1 << self.bits_exponent
    }

    /// The share of bits that are set before the flips: expected, at most, if there are as many records as stated.
    fn load(&self) -> f64 {
        let reached = self.records as f64 / self.step();
        -(-reached / self.bits() as f64).exp_m1()
    }

    /// How far an estimate of a key of `count` records is off, over flips and rounding, if the table holds as many
    /// records as stated and places are random: exact, but for floats and what is beyond 128 levels.
    pub fn error_of_key(&self, count: u64) -> KeyError {
        let step = self.step();
        let level = (count as f64 / step).min(self.levels as f64);
        let (below, rest) = (level.floor(), level.fract());
        let flips = self.flip_probability();
        let collided = flips + (1.0 - 2.0 * flips) * self.load();
        let mut error = KeyError { bias: 0.0, mean_square: 0.0 };
        for (level, chance) in [(below, 1.0 - rest), (below + 1.0, rest)] {
            // A look-up ends at the last level that a key may have.
            let beyond = (self.levels as f64 - level).max(0.0);
            for (distance, probability) in first_maximum(flips, collided, level as usize, beyond as usize) {
                let off = (level + distance) * step - count as f64;
                error.bias += chance * probability * off;
                error.mean_square += chance * probability * off * off;
            }
        }
        error
    }

    /// The typical error of an answer to `keys` keys of `count` records each, bias and noise together: the root of its
    /// mean square, in records. Of keys with other counts [`error_of_key`](Self::error_of_key) is to be summed up.
    pub fn predicted_error(&self, keys: u64, count: u64) -> f64 {
        self.error_of_key(count).of_many(keys)
    }

    /// With probability 1 − β all of `queries` answers, each to at most `support` keys with weights of at most 1, are
    /// within so many records: the bound of the [module](self#accuracy), if the data is as stated and places are
    /// random.
    pub fn guarantee(&self, support: u64, queries: Queries, beta: Beta) -> f64 {
        let flips = self.flip_probability();
        let collided = flips + (1.0 - 2.0 * flips) * 2.0 * self.load();
        let base = 2.0 * (collided * (1.0 - collided)).sqrt();
        let keys = support.max(1) as f64;
        let allowed = beta.get() / queries.to_f64() / keys;
        let levels = ((2.0 / (allowed * (1.0 - base))).ln() / -base.ln() * (1.0 + 1e-12)).ceil();
        support as f64 * self.step() * levels
    }

    /// A release of the data. The key of its places is drawn before the data is read.
    ///
    /// # Errors
    /// If the data was [bounded](Histogram::rows_per_unit) to more rows a unit than the plan is for. That does not
    /// depend on the rows themselves.
    pub fn release<R: CryptoRng + ?Sized>(&self, data: &Histogram, rng: &mut R) -> Result<Alp, BaselineError> {
        let mut seed = [0; 16];
        rng.fill_bytes(&mut seed);
        self.release_at(seed, data, rng)
    }

    /// The same with places that were chosen before the data was read.
    fn release_at<R: CryptoRng + ?Sized>(
        &self,
        seed: [u8; 16],
        data: &Histogram,
        rng: &mut R,
    ) -> Result<Alp, BaselineError> {
        check_data(data, self.rows_per_unit)?;
        // Cannot lose anything, for a `usize` of 64 bits; on smaller machines the allocation would fail.
        let words = (self.bits() / 64) as usize;
        let mut table = flips(words, self.flip_exponent, rng);
        let mut set = vec![0; words];
        for &(key, count) in data.entries() {
            let level = self.random_level(count.unsigned_abs(), rng);
            let places = Places::of(&seed, key, self.bits_exponent);
            (1..=level).map(|level| places.at(level)).for_each(|place| set[place / 64] |= 1 << (place % 64));
        }
        table.iter_mut().zip(set).for_each(|(flips, set)| *flips ^= set);
        Ok(Alp { plan: self.clone(), seed, table })
    }

    /// y: how many levels a key of `count` records sets.
    fn random_level<R: CryptoRng + ?Sized>(&self, count: u64, rng: &mut R) -> u64 {
        // No overflow: a count is at most 2⁴⁰ and γ too, so both are at most 2⁶⁰ units.
        ((count * UNIT + uniform_below(self.step, || rng.next_u64())) / self.step).min(self.levels)
    }
}

fn check_size(name: &'static str, given: u64, most: u64) -> Result<(), BaselineError> {
    if (1..=most).contains(&given) { Ok(()) } else { Err(BaselineError::Size { name, given, most }) }
}

/// j and γ, in units, for ε₀: see the [module](self#privacy). Where e^ε₀ − 1 is large, flips are as rare as γ = 1
/// allows.
///
/// e^ε₀ − 1 and the quotient are each off by less than a relative 2⁻⁴⁸, and ε₀ by 2⁻⁵², which moves the first by
/// ε₀·2⁻⁵² < 2⁻⁴² relatively: 2⁻⁴⁰ is allowed for.
fn flips_and_step(epsilon: f64) -> Result<(u32, u64), BaselineError> {
    let gain = epsilon.exp_m1() * (1.0 - 2f64.powi(-40));
    let alpha = |exponent: u32| 2f64.powi(exponent as i32) - 2.0;
    let exponents = LEAST_FLIP_EXPONENT + 1..=MOST_FLIP_EXPONENT;
    let exponent = exponents.take_while(|&next| alpha(next) <= gain).last().unwrap_or(LEAST_FLIP_EXPONENT);
    let least = alpha(exponent) / gain * (1.0 + 2f64.powi(-40));
    if least <= 1.0 {
        return Ok((exponent, UNIT));
    }
    Scale::new(least)?; // at most 2⁴⁰
    Ok((exponent, (least * UNIT as f64).ceil() as u64))
}

/// Words whose bits are set with probability 2^−`exponent` each, independently.
fn flips<R: CryptoRng + ?Sized>(words: usize, exponent: u32, rng: &mut R) -> Vec<u64> {
    const BLOCK: usize = 256;
    let each = exponent as usize;
    let mut table = vec![0; words];
    let mut fair = vec![[0; 8]; BLOCK * each];
    for block in table.chunks_mut(BLOCK) {
        let fair = &mut fair[..block.len() * each];
        rng.fill_bytes(fair.as_flattened_mut());
        for (word, fair) in block.iter_mut().zip(fair.chunks(each)) {
            *word = fair.iter().fold(u64::MAX, |all, &bytes| all & u64::from_le_bytes(bytes));
        }
    }
    table
}

/// Where the bits of a key are.
struct Places {
    start: u64,
    shift: u32,
}

impl Places {
    /// How many levels in a row have different places.
    const CLASSES: u64 = 256;

    fn of(seed: &[u8; 16], key: Fingerprint, bits_exponent: u32) -> Self {
        let start = SipHasher24::new_with_key(seed).hash(&key.get().to_le_bytes());
        Self { start, shift: 64 - bits_exponent }
    }

    /// h(u, level): the high bits at random, the low eight by turns.
    fn at(&self, level: u64) -> usize {
        let random = split_mix(self.start.wrapping_add(level.wrapping_mul(0x9e37_79b9_7f4a_7c15))) >> self.shift;
        let class = self.start.wrapping_add(level) % Self::CLASSES;
        // Cannot lose anything: such a table was allocated.
        (random - random % Self::CLASSES + class) as usize
    }
}

/// The output function of SplitMix64.
fn split_mix(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// How many levels below and above y are looked at: the chance that f has its maximum further away is below 10⁻¹⁵.
const REACH: usize = 128;

/// The law of the first maximum's distance from y: f makes `levels` steps, each +1 with probability 1 − `flips`, and
/// then `beyond` steps that are +1 with probability `collided`.
///
/// A place is the first maximum if all steps that end there have positive sums and all that begin there have sums of at
/// most 0: two events of different steps, so their probabilities multiply.
fn first_maximum(flips: f64, collided: f64, levels: usize, beyond: usize) -> Vec<(f64, f64)> {
    let (levels, beyond) = (levels.min(REACH), beyond.min(REACH));
    let rises = 1.0 - flips;
    // Upside down: what never rises by more than a height never falls below 0 from there.
    let after_beyond = staying(1.0 - collided, |_| 1.0, beyond, 1 + levels);
    let after = staying(flips, |height| after_beyond[beyond][height], levels, 1);
    let before = staying(rises, |_| 1.0, levels, 1 + beyond);
    let before_beyond = staying(collided, |height| before[levels][height], beyond, 1);
    // Sums of so many steps that are positive: a first one up, and never below its height then.
    let positive = |up: f64, rest: &[Vec<f64>], steps: usize| if steps == 0 { 1.0 } else { up * rest[steps - 1][0] };
    let below = (0..=levels)
        .map(|distance| (-(distance as f64), positive(rises, &before, levels - distance) * after[distance][0]));
    let above = (1..=beyond).map(|distance| {
        (distance as f64, positive(collided, &before_beyond, distance) * after_beyond[beyond - distance][0])
    });
    below.chain(above).collect()
}

/// For 0 ..= `steps` steps of a walk that rises by 1 with probability `rises` and else falls by 1: by the height it
/// starts at, the mean of `end` of the height it ends at, counting 0 if it was below 0 on the way. Of at least
/// `heights` heights.
fn staying(rises: f64, end: impl Fn(usize) -> f64, steps: usize, heights: usize) -> Vec<Vec<f64>> {
    let mut values = vec![(0..steps + heights).map(end).collect::<Vec<f64>>()];
    for step in 0..steps {
        let last = &values[step];
        let fallen = std::iter::once(0.0).chain(last.iter().copied());
        let next = last[1..].iter().zip(fallen).map(|(risen, fallen)| rises * risen + (1.0 - rises) * fallen).collect();
        values.push(next);
    }
    values
}

impl Alp {
    /// Of how it was made.
    pub fn plan(&self) -> &AlpPlan {
        &self.plan
    }

    /// The key of the places.
    pub fn seed(&self) -> [u8; 16] {
        self.seed
    }

    /// The table, 64 bits a word, the lowest first.
    pub fn table(&self) -> &[u64] {
        &self.table
    }

    /// How many records a key has, about: at least 0, and [not unbiased](self#accuracy).
    ///
    /// Cost: a step for each level, and some 45 more, of five nanoseconds each.
    pub fn estimate(&self, key: Fingerprint) -> f64 {
        let places = Places::of(&self.seed, key, self.plan.bits_exponent);
        let (mut sum, mut largest, mut first) = (0, 0, 0);
        for level in 1..=self.plan.levels {
            let place = places.at(level);
            sum += if self.table[place / 64] >> (place % 64) & 1 == 1 { 1 } else { -1 };
            if sum > largest {
                (largest, first) = (sum, level);
            } else if sum <= largest - GIVE_UP {
                break;
            }
        }
        first as f64 * self.plan.step()
    }

    /// The answer to a query, in records: the sum of the estimates of its keys, with their weights. Their errors add
    /// up, see the [module](self#accuracy).
    pub fn answer(&self, query: &SparseQuery) -> f64 {
        query.entries().iter().map(|&(key, weight)| in_records(weight.into()) * self.estimate(key)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha12Rng;
    use rand::{Rng, SeedableRng};
    use tamis_noise::{Epsilon, Rational};
    use tamis_oracle::enclosure::{exponential, rational};
    use tamis_oracle::statistics::{ChiSquare, binomial_upper_quantile};

    fn plan(epsilon: &str, neighbours: Neighbours, rows: u32, records: u64, largest: u64) -> AlpPlan {
        let budget = Budget::pure(epsilon.parse::<Epsilon>().unwrap());
        AlpPlan::new(&budget, neighbours, rows, records, largest).unwrap()
    }

    fn table(counts: &[(u64, i64)]) -> Histogram {
        let mut table = Histogram::builder();
        for &(key, count) in counts {
            table.add(Fingerprint::raw(key), count).unwrap();
        }
        table.build()
    }

    #[test]
    fn the_step_is_the_least_that_is_private() {
        for epsilon in ["1e-6", "1/10", "1/2", "1", "2", "4", "7.3", "100"] {
            for (neighbours, rows) in
                [(Neighbours::AddRemove, 1), (Neighbours::Substitute, 1), (Neighbours::AddRemove, 7)]
            {
                let plan = plan(epsilon, neighbours, rows, 10, 10);
                let moved = neighbours.rows_moved() * u64::from(rows);
                let each = plan.cost().epsilon().as_rational() / Rational::from(moved);
                let alpha = Rational::from((1u64 << plan.flip_exponent) - 2);
                let factor = |step: Rational| Rational::ONE + &alpha / step;
                let step = Rational::from(plan.step.get()) / Rational::from(UNIT);
                let exponential = exponential(&each, 200);
                assert!(factor(step.clone()) <= exponential.lower, "{epsilon} {moved}");
                // One unit of 2⁻²⁰ less, and a relative 10⁻¹¹ against the rounding of floats, would not do.
                if plan.step.get() > UNIT {
                    let less = (step - Rational::ONE / Rational::from(UNIT)) * (Rational::ONE - rational(1e-11));
                    assert!(factor(less) > exponential.upper, "{epsilon} {moved}");
                }
            }
        }
    }

    /// How many levels a count sets, with the chance of each.
    type Rounding = fn(u64, i64) -> Vec<(usize, f64)>;

    fn at_random(step: u64, count: i64) -> Vec<(usize, f64)> {
        let units = count as u64 * UNIT;
        let up = (units % step) as f64 / step as f64;
        vec![((units / step) as usize, 1.0 - up), ((units / step) as usize + 1, up)]
    }

    fn to_the_nearest(step: u64, count: i64) -> Vec<(usize, f64)> {
        vec![(((count as u64 * UNIT + step / 2) / step) as usize, 1.0)]
    }

    /// The exact law of the bits at `cells` places, by the sum over all roundings of all keys: key i sets
    /// `places[i][..y]`.
    fn law(places: &[&[usize]], counts: &[i64], cells: usize, rounding: Rounding, step: u64, flip: f64) -> Vec<f64> {
        let mut patterns = vec![(0usize, 1.0)];
        for (places, &count) in places.iter().zip(counts) {
            let rounded = rounding(step, count);
            let set = |levels: usize| places[..levels].iter().fold(0, |bits, &place| bits | 1 << place);
            patterns = patterns
                .iter()
                .flat_map(|&(bits, chance)| {
                    let each = rounded.iter().filter(|(_, weight)| *weight > 0.0);
                    each.map(move |&(levels, weight)| (bits | set(levels), chance * weight)).collect::<Vec<_>>()
                })
                .collect();
        }
        let flipped = |different: u32| flip.powi(different as i32) * (1.0 - flip).powi(cells as i32 - different as i32);
        let of = |bits: usize| patterns.iter().map(|&(set, chance)| chance * flipped((set ^ bits).count_ones())).sum();
        (0..1 << cells).map(of).collect()
    }

    /// The worst privacy loss of two keys that share a bit, over all neighbours with up to `most` records each.
    fn worst_loss(neighbours: Neighbours, rows: i64, most: i64, rounding: Rounding, step: u64, flip: f64) -> f64 {
        // Enough levels for `most` records at γ ≥ 1, on eight places.
        let places: [&[usize]; 2] = [&[0, 1, 2, 3, 4, 0, 1, 2, 3, 4], &[5, 1, 6, 7, 0, 5, 6, 7, 1, 2]];
        let law = |counts: [i64; 2]| law(&places, &counts, 8, rounding, step, flip);
        let laws: Vec<_> = (0..=most).flat_map(|a| (0..=most).map(move |b| [a, b])).map(|c| (c, law(c))).collect();
        let is_neighbour = |one: [i64; 2], other: [i64; 2]| {
            let (a, b) = (one[0] - other[0], one[1] - other[1]);
            match neighbours {
                Neighbours::AddRemove => a * b >= 0 && a.abs() + b.abs() <= rows,
                Neighbours::Substitute => a.max(0) + b.max(0) <= rows && -(a.min(0) + b.min(0)) <= rows,
            }
        };
        let mut worst = 0.0f64;
        for (one, law) in &laws {
            for (_, other) in laws.iter().filter(|(other, _)| is_neighbour(*one, *other)) {
                worst = law.iter().zip(other).map(|(p, q)| (p / q).ln()).fold(worst, f64::max);
            }
        }
        worst
    }

    /// ε, neighbours, L. Steps of 1 to 57 records.
    const CASES: [(&str, Neighbours, u32); 7] = [
        ("1/2", Neighbours::AddRemove, 1),
        ("1", Neighbours::AddRemove, 1),
        ("3/2", Neighbours::AddRemove, 1),
        ("4", Neighbours::AddRemove, 1),
        ("2", Neighbours::AddRemove, 2),
        ("2", Neighbours::Substitute, 1),
        ("3", Neighbours::Substitute, 1),
    ];

    #[test]
    fn a_release_is_private_and_wrong_ones_are_not() {
        for (epsilon, neighbours, rows) in CASES {
            let plan = plan(epsilon, neighbours, rows, 9, 9);
            let allowed = plan.cost().epsilon().to_f64_down();
            let (step, flip) = (plan.step.get(), plan.flip_probability());
            let worst = |rounding, step, flip| worst_loss(neighbours, i64::from(rows), 9, rounding, step, flip);
            let loss = worst(at_random, step, flip);
            // The logarithm of a ratio of sums of positive terms is within 1e-12.
            assert!(loss <= allowed + 1e-10, "{epsilon} {neighbours} {rows}: {loss}");
            // Nothing is wasted on one record; over several it is where they cross no level, and by how rare flips can
            // be.
            assert!(loss > 0.55 * allowed, "{epsilon} {neighbours} {rows}: {loss}");
            if neighbours == Neighbours::AddRemove && rows == 1 && step > UNIT {
                assert!(loss > allowed - 1e-4, "{epsilon}: {loss}");
                // Flips of 1/(α + 3), levels of a tenth of a record less, and no rounding at random.
                assert!(worst(at_random, step, flip / (1.0 + flip)) > allowed + 1e-3);
                assert!(worst(at_random, step - UNIT / 10, flip) > allowed + 1e-3);
                assert!(worst(to_the_nearest, step, flip) > allowed + 1e-3);
            }
            if neighbours == Neighbours::Substitute {
                // The step of add-remove neighbours.
                let (exponent, step) = flips_and_step(allowed).unwrap();
                assert!(worst(at_random, step, 0.5f64.powi(exponent as i32)) > allowed + 1e-3);
            }
        }
    }

    /// False alarm 10⁻⁶ for each law; at these numbers a flip of 1/(α + 3), or no rounding at random, is seen all the
    /// same.
    #[test]
    fn releases_follow_the_law() {
        let (seed, counts) = ([3; 16], [5, 2]);
        let data = table(&[(10, counts[0]), (20, counts[1])]);
        let plan = plan("1", Neighbours::AddRemove, 1, 10, 10);
        let places = [10, 20].map(|key| Places::of(&seed, Fingerprint::raw(key), plan.bits_exponent));
        // Three levels of the one and one of the other, at four different places.
        let cells = [places[0].at(1), places[0].at(2), places[0].at(3), places[1].at(1)];
        assert!((0..4).all(|i| (0..i).all(|j| cells[i] != cells[j])));
        let mut observed = [0u64; 16];
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        for _ in 0..60_000 {
            let release = plan.release_at(seed, &data, &mut rng).unwrap();
            let bit = |&place: &usize| (release.table[place / 64] >> (place % 64) & 1) as usize;
            observed[cells.iter().enumerate().map(|(i, place)| bit(place) << i).sum::<usize>()] += 1;
        }
        let accepts = |rounding, flip| {
            let law = law(&[&[0, 1, 2], &[3]], &counts, 4, rounding, plan.step.get(), flip);
            ChiSquare::new(&observed, &law, 25.0).accepts(1e-6)
        };
        let flip = plan.flip_probability();
        assert!(accepts(at_random, flip));
        assert!(!accepts(at_random, flip / (1.0 + flip)) && !accepts(to_the_nearest, flip));
    }

    /// A release and its estimates, bit by bit as the paper has them, from the same generator.
    #[test]
    fn a_release_is_that_of_the_slow_twin() {
        let plan = plan("0.7", Neighbours::AddRemove, 1, 3_000, 400);
        let data = table(&[(1, 1), (2, 30), (3, 500), (4, 77), (5, 2_000)]);
        let release = plan.release(&data, &mut ChaCha12Rng::seed_from_u64(9)).unwrap();

        let mut rng = ChaCha12Rng::seed_from_u64(9);
        let mut seed = [0; 16];
        rng.fill_bytes(&mut seed);
        let mut bits = Vec::new();
        for _ in 0..plan.bits() / 64 {
            let words: Vec<u64> = (0..plan.flip_exponent).map(|_| rng.next_u64()).collect();
            bits.extend((0..64).map(|bit| words.iter().all(|word| word >> bit & 1 == 1)));
        }
        let place = |key: Fingerprint, level| Places::of(&seed, key, plan.bits_exponent).at(level);
        let mut set = vec![false; bits.len()];
        for &(key, count) in data.entries() {
            let uniform = uniform_below(plan.step, || rng.next_u64());
            for level in 1..=plan.levels {
                if level * plan.step.get() <= count as u64 * UNIT + uniform {
                    set[place(key, level)] = true;
                }
            }
        }
        bits.iter_mut().zip(set).for_each(|(bit, set)| *bit ^= set);
        assert_eq!((release.seed(), release.table().len() as u64 * 64), (seed, plan.bits()));
        assert!(bits.iter().enumerate().all(|(i, &bit)| bit == (release.table()[i / 64] >> (i % 64) & 1 == 1)));
        for key in (0..200).map(Fingerprint::raw) {
            let step = |level| if bits[place(key, level)] { 1i64 } else { -1 };
            let sums: Vec<i64> = (0..=plan.levels).map(|last| (1..=last).map(step).sum()).collect();
            let first = sums.iter().position(|sum| Some(sum) == sums.iter().max()).unwrap();
            assert_eq!(release.estimate(key), first as f64 * plan.step());
        }
        // What is beyond the stated largest count is not found.
        assert!(release.estimate(Fingerprint::raw(5)) < 440.0);
    }

    #[test]
    fn any_256_levels_in_a_row_have_different_places() {
        let places = Places::of(&[1; 16], Fingerprint::raw(77), LEAST_BITS_EXPONENT);
        for from in [1, 1_000, u64::MAX / 2] {
            let mut seen: Vec<_> = (from..from + 256).map(|level| places.at(level)).collect();
            assert!(seen.iter().all(|&place| place < 1 << LEAST_BITS_EXPONENT));
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 256);
        }
    }

    /// The law of the first maximum is the sum over all patterns of the bits that are looked at: within floats. That a
    /// look-up went on for ever is seen.
    #[test]
    fn the_first_maximum_is_that_of_all_patterns() {
        let patterns = |flips: f64, collided: f64, levels: usize, beyond: usize| {
            let mut law = vec![0.0; levels + beyond + 1];
            for bits in 0u32..1 << (levels + beyond) {
                let (mut sum, mut largest, mut first, mut probability) = (0, 0, 0, 1.0);
                for level in 1..=levels + beyond {
                    let is_set = bits >> (level - 1) & 1 == 1;
                    let chance = if level <= levels { 1.0 - flips } else { collided };
                    probability *= if is_set { chance } else { 1.0 - chance };
                    sum += if is_set { 1 } else { -1 };
                    if sum > largest {
                        (largest, first) = (sum, level);
                    }
                }
                law[first] += probability;
            }
            law
        };
        for (levels, beyond) in [(0, 0), (0, 1), (1, 0), (0, 7), (1, 4), (3, 2), (5, 5), (9, 1), (10, 0)] {
            let slow = patterns(0.125, 0.2, levels, beyond);
            let is_law = |law: &[(f64, f64)]| {
                let total: f64 = law.iter().map(|(_, probability)| probability).sum();
                (total - 1.0).abs() < 1e-12
                    && law.iter().all(|(distance, probability)| {
                        let place = (levels as f64 + distance) as usize;
                        (slow.get(place).unwrap_or(&0.0) - probability).abs() < 1e-12
                    })
            };
            assert!(is_law(&first_maximum(0.125, 0.2, levels, beyond)), "{levels} {beyond}");
            assert!(!is_law(&first_maximum(0.125, 0.2, levels, REACH)), "{levels} {beyond}");
        }
    }

    /// Keys of one count in one release err as `error_of_key` says: the mean within five of its standard errors and the
    /// mean square within six, false alarm below 10⁻⁶ each by the normal law (the square of an error has a heavier
    /// tail). That places of one count are those of another, or that estimates are unbiased, is seen.
    #[test]
    fn errors_are_those_that_were_predicted() {
        for (epsilon, largest) in [("1/4", 1_000), ("1", 1_000), ("1", 40), ("3", 1_000)] {
            let (keys, heavy) = (20_000, 40);
            let plan = plan(epsilon, Neighbours::AddRemove, 1, keys * (heavy + 1), largest);
            let counts: Vec<_> = (0..keys).flat_map(|key| [(key, heavy as i64), (keys + key, 1)]).collect();
            let release = plan.release(&table(&counts), &mut ChaCha12Rng::seed_from_u64(2)).unwrap();
            for (from, count) in [(0, heavy), (keys, 1), (2 * keys, 0)] {
                let errors: Vec<f64> =
                    (from..from + keys).map(|key| release.estimate(Fingerprint::raw(key)) - count as f64).collect();
                let mean_of = |power: i32| errors.iter().map(|error| error.powi(power)).sum::<f64>() / keys as f64;
                let fits = |KeyError { bias, mean_square }: KeyError| {
                    let deviation = |power: i32| ((mean_of(2 * power) - mean_of(power).powi(2)) / keys as f64).sqrt();
                    (mean_of(1) - bias).abs() <= 5.0 * deviation(1)
                        && (mean_of(2) - mean_square).abs() <= 6.0 * deviation(2)
                };
                let predicted = plan.error_of_key(count);
                assert!(fits(predicted), "{epsilon} {count}: {predicted:?} {} {}", mean_of(1), mean_of(2));
                assert!(!fits(KeyError { bias: 0.0, ..predicted }), "{epsilon} {count}");
                assert!(!fits(plan.error_of_key(if count == heavy { 0 } else { heavy })), "{epsilon} {count}");
                // O(1/ε) a key.
                let magnitude = errors.iter().map(|error| error.abs()).sum::<f64>() / keys as f64;
                assert!(magnitude < 6.0 / plan.cost().epsilon().to_f64_up(), "{epsilon} {count}: {magnitude}");
            }
        }
    }

    /// False alarm 10⁻⁶; a fifth of the bound fails.
    #[test]
    fn estimates_are_within_the_bound() {
        let (keys, count) = (50_000, 60);
        let plan = plan("1", Neighbours::AddRemove, 1, keys * count, 1_000);
        let counts: Vec<_> = (0..keys).map(|key| (key, count as i64)).collect();
        let release = plan.release(&table(&counts), &mut ChaCha12Rng::seed_from_u64(3)).unwrap();
        let beta = 0.01;
        let bound = plan.guarantee(1, Queries::new(1).unwrap(), Beta::new(beta).unwrap());
        let beyond = |bound: f64| {
            let error = |key| (release.estimate(Fingerprint::raw(key)) - count as f64).abs();
            (0..keys).filter(|&key| error(key) > bound).count() as u64
        };
        let allowed = binomial_upper_quantile(keys, beta, 1e-6);
        assert!(beyond(bound) <= allowed && beyond(bound / 5.0) > allowed, "{bound} {}", beyond(bound / 5.0));
    }
}
