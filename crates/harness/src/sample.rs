//! What the trials of one case measured.

/// The measurements of one case, in the order of its trials. Trials that failed are not in it.
///
/// A measurement that is not among those declared by [`Experiment::trial`](crate::Experiment::trial) is a
/// mistake in the experiment: asking for it panics, and the harness makes the panic the row's error.
#[derive(Clone, Debug)]
pub struct Sample {
    names: Vec<&'static str>,
    columns: Vec<Vec<f64>>,
    trials: u64,
}

impl Sample {
    pub(crate) fn new(names: &[&'static str], trials: &[Vec<f64>]) -> Self {
        let columns = (0..names.len()).map(|column| trials.iter().map(|trial| trial[column]).collect()).collect();
        Self { names: names.to_vec(), columns, trials: trials.len() as u64 }
    }

    /// How many trials finished without an error.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Every value of one measurement; trial i of one measurement belongs to trial i of another.
    ///
    /// # Panics
    /// If the experiment declares no measurement of this name.
    pub fn values(&self, measurement: &str) -> &[f64] {
        match self.names.iter().position(|name| *name == measurement) {
            Some(column) => &self.columns[column],
            None => panic!("no measurement is called {measurement:?}: there are {:?}", self.names),
        }
    }

    /// The arithmetic mean, summed in the order of the trials; NaN without trials.
    ///
    /// # Panics
    /// As [`values`](Self::values).
    pub fn mean(&self, measurement: &str) -> f64 {
        let values = self.values(measurement);
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// The smallest measured value that at least the share `level` of the trials does not exceed; NaN without
    /// trials. O(n log n).
    ///
    /// # Panics
    /// As [`values`](Self::values).
    pub fn quantile(&self, measurement: &str, level: f64) -> f64 {
        quantile(self.values(measurement), level)
    }

    /// How many trials measured more than `bound`.
    ///
    /// # Panics
    /// As [`values`](Self::values).
    pub fn count_above(&self, measurement: &str, bound: f64) -> u64 {
        self.values(measurement).iter().filter(|value| **value > bound).count() as u64
    }
}

fn quantile(values: &[f64], level: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // 0.95 · 200 may come out a hair above 190, which would take the next value.
    let rank = (level * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).wrapping_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_are_order_statistics() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(quantile(&values, 0.95), 190.0);
        assert_eq!(quantile(&values, 1.0 - 0.05), 190.0);
        assert_eq!(quantile(&values, 0.951), 191.0);
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 1.0), 200.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
