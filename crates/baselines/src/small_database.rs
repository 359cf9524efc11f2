//! The small database (net) mechanism, exactly private by enumeration: of all databases with few records, one that answers the workload
//! nearly as the data does.
//!
//! Blum, Ligett, Roth 2008 (BLR08); Dwork and Roth 2014 (DR14), section 4.1, Algorithm 4.
//!
//! # The release
//! Every database y of **at most** m records over a listed universe is scored by −max_q |q(x) − ñ·q(y)/m|, in whole units of 2⁻²⁰/m records,
//! and one is taken by the [`ExponentialMechanism`]. (DR14 has those of m records exactly. The missing ones stand for what is missing up to
//! ñ, so ñ ≥ n need only be an upper bound, and rows with unlisted keys are dropped.)
//!
//! # Privacy
//! A release is ε-private, for the plan's neighbours and units of at most L rows.
//!
//! *Proof.* A unit moves each q(x), and so each score, by at most L records, whether it is added, removed or replaced, since weights are from 0
//! to 1: that are L·m·2²⁰ units. Scores do not move together, so the mechanism takes the factor 2 ([`StreamKind::Values`]). What is scored, ñ and m are
//! public; scores are integers; the mechanism is exact. So the ε is exact.
//!
//! # Accuracy
//! [`guarantee`](SmallDatabasePlan::guarantee): some y answers all k queries within ñ·√(ln(2k)/2m). (Draw m records from x/ñ, with the rest
//! on an element that no query names. By Hoeffding's inequality one query errs by more than a with a probability below 2e^(−2ma²), so for any larger a
//! not all draws have an error above it; and there are finitely many y.) The mechanism takes a score as far below at most as its
//! [accuracy](ExponentialMechanism::accuracy) among C(|X| + m, m) candidates says. The sum of the two is the bound; DR14's is
//! [`dwork_roth`].
//!
//! # Cost
//! C(|X| + m, m) databases, at most [`MAX_DATABASES`](SmallDatabasePlan::MAX_DATABASES), each scored in O(m·k); 8 bytes for each. Time
//! depends on the data and the noise: do not let an analyst measure it.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | ‖y‖₁  | `size`: m | records |
//! | ‖x‖₁  | `records`: ñ | records |
//! | \|Q\| | `queries`: k | count |
//! | α     | `alpha` | share of ñ |

use crate::units::{Sum, check_data, check_rows, in_records, sum_of_known};
use crate::workload::{check_size, units};
use crate::{BaselineError, DenseWorkload};
use rand::CryptoRng;
use tamis_noise::{Beta, Budget, Epsilon, ExponentialMechanism, Neighbours, Queries, Sensitivity, StreamKind};
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

/// Size and noise, before any data is seen. See the [module](self).
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_baselines::{DenseWorkload, SmallDatabasePlan};
/// use tamis_noise::{Beta, Epsilon, Neighbours, Queries};
/// use tamis_queries::{Fingerprint, Histogram, SparseQuery};
/// let universe = (0..4).map(Fingerprint::raw);
/// let prefixes: Vec<_> = (1..=4).map(|end| SparseQuery::count((0..end).map(Fingerprint::raw))).collect();
/// let workload = DenseWorkload::new(universe, &prefixes)?;
///
/// let plan = SmallDatabasePlan::new(&Epsilon::new(1.0)?, Neighbours::AddRemove, 1, 10_000, 20)?;
/// let within = plan.guarantee(4, Queries::new(4)?, Beta::new(0.05)?)?;
/// assert!(within < 2_320.0);
/// let table = Histogram::builder().add(Fingerprint::raw(0), 5_000)?.add(Fingerprint::raw(2), 4_000)?.build();
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let released = plan.release(&workload, &table, &mut rng)?;
/// assert!((released.answer(&prefixes[1])? - 5_000.0).abs() <= within);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SmallDatabasePlan {
    cost: Budget,
    neighbours: Neighbours,
    rows_per_unit: u32,
    records: u64,
    size: u32,
    selection: ExponentialMechanism,
}

/// A small database that stands for the data: all of it may be published. Made by [`SmallDatabasePlan::release`].
#[derive(Clone, Debug)]
pub struct SmallDatabase {
    /// Sorted by fingerprint, every element of the universe.
    counts: Vec<(Fingerprint, i64)>,
    /// ñ/m.
    records_each: f64,
}

impl SmallDatabasePlan {
    /// Most databases that are enumerated: 2²².
    pub const MAX_DATABASES: u64 = 1 << 22;
    /// Most records that may be stated: 2⁴⁰.
    pub const MAX_RECORDS: u64 = 1 << 40;

    /// Databases of at most `size` records (m) for data of at most `records` (ñ; under substitution n, which is public). A table of more is
    /// released with the same privacy and without the guarantee.
    ///
    /// # Errors
    /// If L is not from 1 to 1 000 000, the size not at least 1, the records not from 1 to [`MAX_RECORDS`](Self::MAX_RECORDS) over m,
    /// or if L·m is above 2²⁰ or needs noise of a scale that the samplers do not serve.
    pub fn new(
        epsilon: &Epsilon,
        neighbours: Neighbours,
        rows_per_unit: u32,
        records: u64,
        size: u32,
    ) -> Result<Self, BaselineError> {
        check_rows(rows_per_unit)?;
        check_size("records of a small database", size.into(), 1 << 20)?;
        check_size("number of records at this size", records, Self::MAX_RECORDS / u64::from(size))?;
        let moved = u64::from(rows_per_unit) * u64::from(size) * u64::from(SparseQuery::UNIT);
        let selection = ExponentialMechanism::new(Sensitivity::new(moved)?, epsilon, neighbours, StreamKind::Values)?;
        Ok(Self { cost: Budget::pure(epsilon.clone()), neighbours, rows_per_unit, records, size, selection })
    }

    /// The plan with the least [`guarantee`](Self::guarantee) among those of 1, 2, 3, 4, 6, 8, 12, 16, … records, as far as they can be
    /// enumerated.
    ///
    /// # Errors
    /// As [`new`](Self::new), for a single record, and if there are more than [`MAX_DATABASES`](Self::MAX_DATABASES) of one record.
    ///
    /// ```
    /// use tamis_baselines::SmallDatabasePlan;
    /// use tamis_noise::{Beta, Epsilon, Neighbours, Queries};
    /// let (epsilon, queries, beta) = (Epsilon::new(1.0)?, Queries::new(4)?, Beta::new(0.05)?);
    /// let best = SmallDatabasePlan::with_least_guarantee(&epsilon, Neighbours::AddRemove, 1, 10_000, 4, queries, beta)?;
    /// assert_eq!(best.size(), 64);
    /// # Ok::<(), tamis_baselines::BaselineError>(())
    /// ```
    pub fn with_least_guarantee(
        epsilon: &Epsilon,
        neighbours: Neighbours,
        rows_per_unit: u32,
        records: u64,
        elements: u64,
        queries: Queries,
        beta: Beta,
    ) -> Result<Self, BaselineError> {
        let bounded = |size| {
            let plan = Self::new(epsilon, neighbours, rows_per_unit, records, size)?;
            plan.guarantee(elements, queries, beta).map(|bound| (plan, bound))
        };
        let (mut best, mut least) = bounded(1)?;
        // Larger ones are more than can be enumerated, or than there is noise for, once one is.
        for (plan, bound) in
            (1..20).flat_map(|power| [1 << power, 3 << (power - 1)]).map_while(|size| bounded(size).ok())
        {
            if bound < least {
                (best, least) = (plan, bound);
            }
        }
        Ok(best)
    }

    /// DR14's size for an error of α·n before noise: ⌈ln(k)/α²⌉, and at least 1.
    ///
    /// ```
    /// use tamis_baselines::SmallDatabasePlan;
    /// use tamis_noise::Queries;
    /// assert_eq!(SmallDatabasePlan::size_for(0.5, Queries::new(10)?), 10);
    /// # Ok::<(), tamis_noise::ParameterError>(())
    /// ```
    pub fn size_for(alpha: f64, queries: Queries) -> u32 {
        // Beyond the integers it becomes the largest, which no plan takes; for a NaN 1, with the guarantee of that.
        ((queries.to_f64().ln() / alpha.powi(2)).ceil() as u32).max(1)
    }

    /// What a release spends, to be charged before it: ε alone.
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

    /// ñ.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// m.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// How many databases there are over so many elements: C(|X| + m, m).
    ///
    /// # Errors
    /// If they are more than [`MAX_DATABASES`](Self::MAX_DATABASES).
    pub fn databases(&self, elements: u64) -> Result<Queries, BaselineError> {
        match databases(elements, self.size) {
            Some(count) => Ok(Queries::new(count)?),
            None => {
                let largest = (1..self.size).take_while(|&size| databases(elements, size).is_some()).last();
                let (size, most) = (self.size, Self::MAX_DATABASES);
                Err(BaselineError::TooManyDatabases { elements, size, most, largest: largest.unwrap_or(0) })
            }
        }
    }

    /// With probability 1 − β all `queries` answers over `elements` elements are within so many records: see the
    /// [module](self#accuracy). From ñ on it says nothing.
    ///
    /// # Errors
    /// If there are too many databases: then no release is made, either.
    pub fn guarantee(&self, elements: u64, queries: Queries, beta: Beta) -> Result<f64, BaselineError> {
        let (records, size) = (self.records as f64, f64::from(self.size));
        let selected = in_records(self.selection.accuracy(self.databases(elements)?, beta) as f64) / size;
        Ok(records * ((2.0 * queries.to_f64()).ln() / (2.0 * size)).sqrt() + selected)
    }

    /// A release of the data over this workload.
    ///
    /// # Errors
    /// If there are too many databases, or the data was [bounded](Histogram::rows_per_unit) to more rows a unit than the plan is for. Neither
    /// depends on the rows themselves.
    pub fn release<R: CryptoRng + ?Sized>(
        &self,
        workload: &DenseWorkload,
        data: &Histogram,
        rng: &mut R,
    ) -> Result<SmallDatabase, BaselineError> {
        check_data(data, self.rows_per_unit)?;
        self.databases(workload.universe().len() as u64)?;
        let scores = self.scores(workload, data);
        // Cannot be none: the empty database is among them.
        let selected = self.selection.select(&scores, rng).unwrap_or(0);
        let mut counts: Vec<_> = workload.universe().iter().map(|&key| (key, 0)).collect();
        for element in Multisets::new(workload.universe().len(), self.size as usize).nth(selected).unwrap_or_default() {
            // The one beyond the last is the element that no query names.
            if let Some(entry) = counts.get_mut(element) {
                entry.1 += 1;
            }
        }
        Ok(SmallDatabase { counts, records_each: self.records as f64 / f64::from(self.size) })
    }

    /// −max_q |m·q(x) − ñ·q(y)| of each database, in units of 2⁻²⁰/m records.
    fn scores(&self, workload: &DenseWorkload, data: &Histogram) -> Vec<i64> {
        let truth: Vec<i128> =
            workload.evaluate(data).into_iter().map(|answer| i128::from(answer) * i128::from(self.size)).collect();
        // Of each element, with all queries together.
        let vectors: Vec<Vec<i64>> =
            workload.weights().columns().into_iter().map(|column| column.iter().map(|&w| units(w)).collect()).collect();
        let mut answers = vec![0i64; truth.len()];
        let mut score = |database: Vec<usize>| {
            answers.fill(0);
            for vector in database.iter().filter_map(|&element| vectors.get(element)) {
                answers.iter_mut().zip(vector).for_each(|(answer, weight)| *answer += weight);
            }
            let error = |(truth, answer): (&i128, &i64)| (truth - i128::from(self.records) * i128::from(*answer)).abs();
            // Saturating, which moves no score by more; below 2⁶³ for every table of at most ñ records.
            truth.iter().zip(&answers).map(error).max().map_or(0, |worst| -i64::try_from(worst).unwrap_or(i64::MAX))
        };
        Multisets::new(vectors.len(), self.size as usize).map(&mut score).collect()
    }
}

/// C(elements + size, size), if it is at most [`SmallDatabasePlan::MAX_DATABASES`].
fn databases(elements: u64, size: u32) -> Option<u64> {
    let mut count = 1u128;
    for i in 1..=u128::from(size) {
        // Whole at every step: it is C(elements + i, i), and grows.
        count = count.checked_mul(u128::from(elements) + i)? / i;
        if count > u128::from(SmallDatabasePlan::MAX_DATABASES) {
            return None;
        }
    }
    u64::try_from(count).ok()
}

/// Every multiset of `size` numbers from 0 to `last`, ascending, in lexicographic order.
struct Multisets {
    last: usize,
    next: Option<Vec<usize>>,
}

impl Multisets {
    fn new(last: usize, size: usize) -> Self {
        Self { last, next: Some(vec![0; size]) }
    }
}

impl Iterator for Multisets {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let current = self.next.take()?;
        if let Some(place) = current.iter().rposition(|&number| number < self.last) {
            let mut following = current.clone();
            following[place..].fill(current[place] + 1);
            self.next = Some(following);
        }
        Some(current)
    }
}

impl SmallDatabase {
    /// Each element of the universe with how often the small database has it, sorted by fingerprint.
    pub fn counts(&self) -> &[(Fingerprint, i64)] {
        &self.counts
    }

    /// The answer of the small database, scaled to the data's size, in records. The guarantee is for the queries of the workload.
    ///
    /// # Errors
    /// If a key of the query is not in the universe.
    pub fn answer(&self, query: &SparseQuery) -> Result<f64, BaselineError> {
        let Sum { value, keys, .. } = sum_of_known(query, &self.counts);
        if keys < query.support() {
            return Err(BaselineError::Unlisted(query.support() - keys));
        }
        Ok(value * self.records_each)
    }
}

/// DR14, Proposition 4.4, in records: with probability 1 − β all answers of a database of ln(k)/α² records are within
/// α·n + 2(ln|X|·ln(k)/α² + ln(1/β))/ε, for one row a unit. For comparison: [`SmallDatabasePlan::guarantee`] is what holds here. (The book's
/// proof that a database within α exists needs k > 2.)
///
/// # Errors
/// If α is not above 0 and at most 1.
///
/// ```
/// use tamis_baselines::small_database::dwork_roth;
/// use tamis_noise::{Beta, Epsilon, Queries};
/// let printed = dwork_roth(0.5, 10_000, 4, Queries::new(10)?, &Epsilon::new(1.0)?, Beta::new(0.05)?)?;
/// assert!((printed - 5_031.5).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dwork_roth(
    alpha: f64,
    records: u64,
    elements: u64,
    queries: Queries,
    epsilon: &Epsilon,
    beta: Beta,
) -> Result<f64, BaselineError> {
    if !(0.0 < alpha && alpha <= 1.0) {
        return Err(BaselineError::Alpha(format!("{alpha:?}")));
    }
    let candidates = (elements as f64).ln() * queries.to_f64().ln() / alpha.powi(2);
    Ok(alpha * records as f64 + 2.0 * (candidates - beta.get().ln()) / epsilon.to_f64_down())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_multiset_is_listed_once() {
        for (elements, size) in [(0, 3), (1, 1), (2, 3), (4, 2), (3, 5)] {
            let listed: Vec<_> = Multisets::new(elements, size).collect();
            assert_eq!(listed.len() as u64, databases(elements as u64, size as u32).unwrap(), "{elements} {size}");
            assert!(listed.is_sorted_by(|a, b| a < b));
            assert!(
                listed.iter().all(|set| set.is_sorted() && set.len() == size && set.iter().all(|&e| e <= elements))
            );
        }
    }

    #[test]
    fn databases_are_counted_up_to_the_limit() {
        assert_eq!(databases(4, 8), Some(495));
        assert_eq!(databases((1 << 22) - 1, 1), Some(1 << 22));
        assert_eq!(databases(1 << 22, 1), None);
        assert_eq!(databases(u64::MAX, 1_000_000), None);
    }
}
