//! How much noise the composition theorems cost: those of Dwork and Roth 2014 (DR14) against the optimal one of Kairouz,
//! Oh and Viswanath 2015 (KOV15), and Gaussian noise.

use std::num::{NonZeroU32, NonZeroU128};

use tamis::noise::composition::{CompositionError, optimal, papers};
use tamis::noise::{Budget, Delta, Epsilon, Hits, Variance, gaussian_calibration};
use tamis_harness::{Cell, Experiment, Finding, Plot, Size};
use tamis_oracle::composition::continuous_gaussian_sigma;

/// A row: c mechanisms within (ε, δ).
#[derive(Clone, Debug)]
pub struct Case {
    runs: Hits,
    epsilon: f64,
    delta: f64,
    budget: Budget,
}

impl tamis_harness::Case for Case {
    fn parameters(&self) -> Vec<(&'static str, Cell)> {
        vec![("c", self.runs.get().into()), ("ε", self.epsilon.into()), ("δ", self.delta.into())]
    }
}

impl Case {
    fn new(runs: u64, epsilon: f64, delta: f64) -> Self {
        // Cannot fail: the sweep's numbers are legal.
        let budget =
            Budget::approximate(Epsilon::new(epsilon).expect("a legal ε"), Delta::new(delta).expect("a legal δ"));
        Self { runs: Hits::new(runs).expect("a legal c"), epsilon, delta, budget }
    }

    fn basic(&self) -> Epsilon {
        papers::basic(self.runs, self.budget.epsilon()).expect("in the range of ε")
    }

    fn advanced(&self) -> Epsilon {
        papers::advanced_per_run(self.runs, &self.budget).expect("in the range of ε, with δ > 0")
    }

    fn optimal(&self) -> Epsilon {
        optimal::epsilon_per_run(self.runs, &self.budget).expect("in the range of ε")
    }

    fn corollary(&self) -> Result<Epsilon, CompositionError> {
        papers::corollary_3_21(self.runs, &self.budget)
    }

    /// σ for c counts together, for any neighbours.
    fn concentrated(&self) -> f64 {
        let variance = gaussian_calibration::concentrated(NonZeroU128::from(self.coordinates()), &self.budget);
        variance.expect("in the range of variances").to_f64_up().sqrt()
    }

    /// σ for c counts together, under add-remove.
    fn sharp(&self) -> f64 {
        let variance = gaussian_calibration::add_remove(self.coordinates(), &self.budget);
        variance.expect("in the range of variances").to_f64_up().sqrt()
    }

    fn coordinates(&self) -> NonZeroU32 {
        NonZeroU32::new(self.runs.get()).expect("c is at least 1")
    }
}

/// The true δ of c mechanisms at the ε₀ that Corollary 3.21 prints, at a total of ε.
fn true_delta(case: &Case) -> f64 {
    // Cannot fail: below ε, and well above the least.
    let per_run = papers::corollary_3_21_as_printed(case.runs, &case.budget).expect("a legal ε");
    optimal::delta(case.runs, &per_run, case.budget.epsilon())
}

/// Standard deviation of integer Laplace noise of scale 1/ε₀ on each of c counts, at the optimal ε₀.
fn laplace_deviation(case: &Case) -> f64 {
    let step = (-case.optimal().to_f64_down()).exp();
    (2.0 * step).sqrt() / (1.0 - step)
}

/// The check of what one count needs.
const SIGMAS: &str = "Gaussian σ for one count at ε = 1 is 4.531 (δ = 10⁻⁶) and 5.779 (δ = 10⁻⁹), and where a record moves it by \
                      exactly 1, 4.23 and 5.50";

/// The experiment.
pub fn experiment() -> Experiment<Case> {
    let share = |part: &Epsilon, case: &Case| case.optimal().to_f64_down() / part.to_f64_down();
    Experiment::new(
        "composition",
        "No composition theorem of DR14 (basic 3.16, advanced 3.20, Corollary 3.21) allows c mechanisms more than the optimal one \
         (KOV15): ×, their noise as a multiple of its. Beyond its condition 3.21 is false. Laplace sd, Gaussian σ: standard deviation of integer noise \
         on each of c counts; ±1 each: where a record moves each count by exactly 1.",
    )
    .subject("what composition theorems cost in noise")
    .sweep(sweep)
    .column("optimal ε₀", |case, _| case.optimal().to_f64_down())
    .column("basic ×", move |case, _| share(&case.basic(), case))
    .column("3.20 ×", move |case, _| share(&case.advanced(), case))
    .column("3.21 ×", move |case, _| match case.corollary() {
        Ok(per_run) => Cell::from(share(&per_run, case)),
        Err(_) => "refused".into(),
    })
    .column("true δ of 3.21", |case, _| true_delta(case))
    .column("Laplace sd", |case, _| laplace_deviation(case))
    .column("Gaussian σ", |case, _| case.concentrated())
    .column("σ, ±1 each", |case, _| case.sharp())
    .check("no more than optimal", |case, _| {
        let optimal = case.optimal();
        let corollary = case.corollary().ok();
        let routes = [Some(case.basic()), Some(case.advanced()), corollary.clone()];
        let most = routes.into_iter().flatten().max().unwrap_or_else(|| optimal.clone());
        let delta_holds = corollary.is_none() || true_delta(case) <= case.delta;
        let because = format!("at most {} a run against {}", significant(&most), significant(&optimal));
        Finding::require(most <= optimal && delta_holds && case.sharp() <= case.concentrated(), because)
    })
    .check_all("beyond its condition Corollary 3.21 is false, and refused", |_| {
        let case = Case::new(10_000, 200.0, 1e-6);
        let (refused, delta) = (case.corollary().is_err(), true_delta(&case));
        let because = format!("c = 10^4, ε = 200, δ = 1e-6: its true δ is {delta:.3}");
        Finding::require(refused && (delta - 0.139).abs() < 5e-4, because)
    })
    .check_all(SIGMAS, |_| {
        let stated = [(1e-6, 4.531, 4.23), (1e-9, 5.779, 5.50)];
        let sigmas = stated.map(|(delta, ..)| Case::new(1, 1.0, delta)).map(|case| (case.concentrated(), case.sharp()));
        let near = |((any, sharp), (_, wanted, wanted_sharp)): ((f64, f64), (f64, f64, f64))| {
            (any - wanted).abs() < 5e-4 && (sharp - wanted_sharp).abs() < 5e-3
        };
        let [(any, sharp), (any_small, sharp_small)] = sigmas;
        let because = format!(
            "ε = 1, δ = 1e-6: {any:.3}, or {sharp:.2} where a unit moves it by exactly 1; δ = 1e-9: {any_small:.3} and {sharp_small:.2}"
        );
        Finding::require(sigmas.into_iter().zip(stated).all(near), because)
    })
    .check_all("σ by the formula for continuous Gaussian noise is too small for integer noise", |_| {
        let (one, budget) = (NonZeroU32::MIN, Case::new(1, 1.0, 1e-6).budget);
        let sigma = continuous_gaussian_sigma(1.0, 1e-6);
        // Cannot fail: a legal variance.
        let variance = Variance::new(sigma.powi(2)).expect("a legal variance");
        let delta = gaussian_calibration::add_remove_delta(one, &variance, budget.epsilon());
        let because = format!("σ = {sigma:.6} has δ = {delta:.3e} at ε = 1, not 1e-6");
        Finding::require((delta - 1.020e-6).abs() < 5e-10, because)
    })
    .highlight(|case| case.epsilon != 0.1 && matches!(case.runs.get(), 1 | 10 | 1_000 | 1_000_000) || case.epsilon == 200.0)
    .plot(over_c("noise", "Noise of c mechanisms by composition theorem", "noise (× that of optimal composition)").line("basic ×").line("3.20 ×").line("3.21 ×"))
    .plot(over_c("deviation", "Noise of c counts: Laplace and Gaussian, optimally composed", "standard deviation (counts)").line("Laplace sd").line("Gaussian σ").line("σ, ±1 each"))
}

fn over_c(stem: &'static str, title: &'static str, y_label: &'static str) -> Plot {
    Plot::new(stem, title, "c", y_label).x_label("c (mechanisms)").only("ε", "1").only("δ", "1e-6").log_x().log_y()
}

fn sweep(size: Size) -> Vec<Case> {
    let runs: &[u64] = size
        .pick(&[1, 10, 100, 1_000, 10_000, 1_000_000], &[1, 2, 5, 10, 30, 100, 300, 1_000, 10_000, 100_000, 1_000_000]);
    let budgets: &[(f64, f64)] = size.pick(
        &[(1.0, 1e-6), (1.0, 1e-9), (0.1, 1e-6)],
        &[(1.0, 1e-6), (1.0, 1e-9), (1.0, 1e-12), (0.1, 1e-6), (4.0, 1e-6)],
    );
    let grid =
        budgets.iter().flat_map(|&(epsilon, delta)| runs.iter().map(move |&runs| Case::new(runs, epsilon, delta)));
    // Wide budgets, where the corollary's condition fails.
    grid.chain([Case::new(10, 8.0, 1e-6), Case::new(10_000, 200.0, 1e-6)]).collect()
}

fn significant(epsilon: &Epsilon) -> String {
    tamis_harness::significant(epsilon.to_f64_down())
}
