//! The one-sample Kolmogorov–Smirnov test, for real and for integer draws.

/// The largest distance between an empirical distribution function and the claimed one.
///
/// The threshold is that of the Dvoretzky–Kiefer–Wolfowitz inequality with Massart's constant (1990):
/// P(distance > d) ≤ 2·e^(−2nd²), for every n and every law, so the false alarm is a bound and not an
/// approximation; for laws with atoms it is generous.
///
/// Power: a law whose distribution function is somewhere off by more than twice
/// [`critical_distance`](Self::critical_distance) is rejected with probability at least
/// 1 − false alarm. At 100 000 draws and 1e-6 the threshold is 0.0085 and the distance of a Laplace
/// scale 10 % off is 0.018: rejected; 3 % off (0.0055) is not seen.
///
/// ```
/// use tamis_oracle::statistics::KolmogorovSmirnov;
/// let even: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
/// let test = KolmogorovSmirnov::of_reals(even, |x| x.clamp(0.0, 1.0));
/// assert!((test.distance - 0.0005).abs() < 1e-12);
/// assert!(test.accepts(1e-6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KolmogorovSmirnov {
    /// sup |F_n − F|.
    pub distance: f64,
    /// Draws.
    pub draws: usize,
}

impl KolmogorovSmirnov {
    /// Real draws against a continuous distribution function.
    ///
    /// # Panics
    ///
    /// If there are no draws or one is NaN.
    pub fn of_reals(mut draws: Vec<f64>, distribution: impl Fn(f64) -> f64) -> Self {
        assert!(!draws.is_empty(), "no draws");
        assert!(draws.iter().all(|x| !x.is_nan()), "a draw is NaN");
        draws.sort_unstable_by(f64::total_cmp);
        let n = draws.len() as f64;
        let distance = draws
            .iter()
            .enumerate()
            .map(|(i, &x)| {
                let f = distribution(x);
                (f - i as f64 / n).max((i + 1) as f64 / n - f)
            })
            .fold(0.0, f64::max);
        Self { distance, draws: draws.len() }
    }

    /// Integer draws against P(Z ≤ j). Ties are expected: the two functions are compared at each
    /// drawn integer and at the one below it, the only places where their distance can be largest.
    ///
    /// # Panics
    ///
    /// If there are no draws.
    pub fn of_integers(mut draws: Vec<i64>, distribution: impl Fn(i64) -> f64) -> Self {
        assert!(!draws.is_empty(), "no draws");
        draws.sort_unstable();
        let n = draws.len() as f64;
        let mut distance = 0.0_f64;
        let mut below = 0;
        for ties in draws.chunk_by(|a, b| a == b) {
            let at = below + ties.len();
            if let Some(before) = ties[0].checked_sub(1) {
                distance = distance.max((distribution(before) - below as f64 / n).abs());
            }
            distance = distance.max((distribution(ties[0]) - at as f64 / n).abs());
            below = at;
        }
        Self { distance, draws: draws.len() }
    }

    /// √(ln(2/false_alarm) / (2·draws)): a right law exceeds it with at most that probability.
    ///
    /// # Panics
    ///
    /// If `draws` is 0 or `false_alarm` not strictly between 0 and 1.
    pub fn critical_distance(draws: usize, false_alarm: f64) -> f64 {
        assert!(draws > 0, "no draws");
        assert!(
            0.0 < false_alarm && false_alarm < 1.0,
            "a false alarm must be strictly between 0 and 1, got {false_alarm}"
        );
        ((2.0 / false_alarm).ln() / (2.0 * draws as f64)).sqrt()
    }

    /// Whether the law stands at this false alarm.
    pub fn accepts(&self, false_alarm: f64) -> bool {
        self.distance <= Self::critical_distance(self.draws, false_alarm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    const FALSE_ALARM: f64 = 1e-6;
    const DRAWS: usize = 100_000;

    fn exponential(scale: f64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        (0..DRAWS).map(|_| -scale * (1.0 - rng.random::<f64>()).ln()).collect()
    }

    #[test]
    fn the_right_law_is_accepted() {
        assert!(KolmogorovSmirnov::of_reals(exponential(1.0), |x| -(-x).exp_m1()).accepts(FALSE_ALARM));
    }

    #[test]
    fn a_scale_ten_percent_off_is_rejected() {
        assert!(!KolmogorovSmirnov::of_reals(exponential(0.9), |x| -(-x).exp_m1()).accepts(FALSE_ALARM));
    }

    /// P(⌊exponential⌋ ≤ j).
    fn geometric(j: i64) -> f64 {
        if j < 0 { 0.0 } else { -(-(j as f64 + 1.0)).exp_m1() }
    }

    #[test]
    fn integers_with_ties_are_accepted() {
        let draws = exponential(1.0).into_iter().map(|x| x.floor() as i64).collect();
        let test = KolmogorovSmirnov::of_integers(draws, geometric);
        assert!(test.accepts(FALSE_ALARM), "{test:?}");
    }

    #[test]
    fn integers_of_a_scale_ten_percent_off_are_rejected() {
        let draws = exponential(0.9).into_iter().map(|x| x.floor() as i64).collect();
        assert!(!KolmogorovSmirnov::of_integers(draws, geometric).accepts(FALSE_ALARM));
    }

    #[test]
    fn a_gap_between_draws_is_seen_from_below() {
        // All draws at 2 while half the law lies at 0: the distance shows at 1, where nothing was drawn.
        let law = |j: i64| [0.5, 0.6, 1.0][j.clamp(0, 2) as usize];
        let test = KolmogorovSmirnov::of_integers(vec![2; 10], law);
        assert!((test.distance - 0.6).abs() < 1e-15);
    }

    #[test]
    #[should_panic(expected = "a draw is NaN")]
    fn a_nan_is_refused() {
        KolmogorovSmirnov::of_reals(vec![0.0, f64::NAN], |x| x);
    }
}
