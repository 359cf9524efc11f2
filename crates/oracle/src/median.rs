//! The median mechanism's hypothesis (Roth and Roughgarden 2010), for universes of a handful of elements.
//!
//! It keeps every small database that fits what it has been told, and answers with the median of theirs. To be told
//! that the truth is higher (lower) strikes out all whose answer is not: at least half. So it is told at most log₂ of
//! how many there were, as long as some database near the truth stays: one whose every answer is off by less than the
//! error that was found.

/// All databases of a given size over elements 0 .. |X|, as far as they fit.
///
/// ```
/// use tamis_oracle::median::Median;
/// let mut median = Median::new(2, 10); // (0, 10), (1, 9), … (10, 0)
/// assert_eq!(median.databases(), 11);
/// assert_eq!(median.evaluate(&[1.0, 0.0]), 0.5);
/// median.update(&[1.0, 0.0], true);
/// assert_eq!(median.databases(), 5);
/// assert_eq!(median.evaluate(&[1.0, 0.0]), 0.8);
/// ```
#[derive(Clone, Debug)]
pub struct Median {
    databases: Vec<Vec<u32>>,
    records: u32,
}

impl Median {
    /// Every way to distribute `records` records over `universe` elements.
    ///
    /// # Panics
    /// If there is no element, or no record.
    pub fn new(universe: usize, records: u32) -> Self {
        assert!(universe > 0 && records > 0, "a net needs an element and a record");
        Self { databases: distributions(universe, records), records }
    }

    /// How many still fit.
    pub fn databases(&self) -> usize {
        self.databases.len()
    }

    /// How far the nearest of all databases can be from the truth, in any answer: at most |X|/(4·records) by rounding
    /// each share so that the sum stays.
    pub fn resolution(universe: usize, records: u32) -> f64 {
        universe as f64 / (4.0 * f64::from(records))
    }

    fn answer(&self, database: &[u32], query: &[f64]) -> f64 {
        let sum: f64 = database.iter().zip(query).map(|(&count, weight)| f64::from(count) * weight).sum();
        sum / f64::from(self.records)
    }

    /// The (upper) median of the answers, a share; 0 if no database is left.
    pub fn evaluate(&self, query: &[f64]) -> f64 {
        let mut answers: Vec<f64> = self.databases.iter().map(|database| self.answer(database, query)).collect();
        answers.sort_by(f64::total_cmp);
        answers.get(answers.len() / 2).copied().unwrap_or(0.0)
    }

    /// Learns that the truth is above its answer, or below it.
    pub fn update(&mut self, query: &[f64], is_above: bool) {
        let median = self.evaluate(query);
        let fits = |database: &Vec<u32>| {
            let answer = self.answer(database, query);
            if is_above { answer > median } else { answer < median }
        };
        let fitting: Vec<_> = self.databases.iter().filter(|database| fits(database)).cloned().collect();
        self.databases = fitting;
    }
}

fn distributions(universe: usize, records: u32) -> Vec<Vec<u32>> {
    if universe == 1 {
        return vec![vec![records]];
    }
    let mut all = Vec::new();
    for first in 0..=records {
        for mut rest in distributions(universe - 1, records - first) {
            rest.push(first);
            all.push(rest);
        }
    }
    all
}
