//! A sum of floats that keeps what each addition rounds away.

/// Σ of floats, as a number and a correction (Neumaier 1974).
///
/// After n additions the error is at most u·|Σ| + (n·u)²·Σ|x|, u = 2⁻⁵³ (Ogita, Rump, Oishi 2005, Proposition 4.5, with
/// γ ≤ 1.01·n·u).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    sum: f64,
    correction: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        // Knuth's two-sum: the rounding error of the line above, exactly.
        let rounded = sum - self.sum;
        self.correction += (self.sum - (sum - rounded)) + (value - rounded);
        self.sum = sum;
    }

    pub(crate) fn get(&self) -> f64 {
        self.sum + self.correction
    }

    /// This sum less another.
    pub(crate) fn less(mut self, other: &Self) -> Self {
        self.add(-other.sum);
        self.add(-other.correction);
        self
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::default();
        for value in values {
            sum.add(value);
        }
        sum
    }
}
