//! What c adaptive mechanisms cost together, and what each may cost if the total is given.
//!
//! [`optimal`] is the rule: at every ε it is at least as good as the others. [`papers`] has the routes that the
//! source texts use, for their literal constants and as cross-checks, and refuses outside their range. [`zcdp`]
//! is for Gaussian noise.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | c, k  | `runs`: mechanisms composed | count |
//! | ε₀    | `epsilon_per_run` | privacy loss |
//! | ε, δ  | `epsilon`, `delta`: of all runs together | privacy loss, probability |
//! | ρ     | [`zcdp::Rho`] | zCDP |
//!
//! # Rounding
//!
//! Every result is rounded toward more noise: a δ and a total ε up, an ε or ρ that may be spent down. A δ that is
//! compared with a budget carries the upper bound of its floating error, and what an inversion returns is the very
//! number at which that comparison was made; no monotonicity is relied upon. The bounds take `exp`, `expm1`, `ln`
//! and `ln_1p` to be right to two units in the last place, which the platforms' libraries document or better.
//!
//! # References
//!
//! - **KOV15** P. Kairouz, S. Oh, P. Viswanath, *The composition theorem for differential privacy*, ICML 2015.
//! - **DRV10** C. Dwork, G. Rothblum, S. Vadhan, *Boosting and differential privacy*, FOCS 2010.
//! - **DR14** C. Dwork, A. Roth, *The algorithmic foundations of differential privacy*, 2014.
//! - **CKS20** C. Canonne, G. Kamath, T. Steinke, *The discrete Gaussian for differential privacy*, NeurIPS 2020.

mod bisection;
pub mod optimal;
pub mod papers;
pub mod zcdp;

use crate::{Budget, Delta, Hits, ParameterError};
pub(crate) use bisection::{greatest_accepted, greatest_within, least_accepted, least_within};
pub use zcdp::Rho;

/// A composition or calibration that cannot be had, with the values as given and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompositionError {
    /// The route has no answer at δ = 0.
    #[error("{route} needs a delta above 0; for delta 0 use basic composition and Laplace noise")]
    PureBudget {
        /// The theorem.
        route: &'static str,
    },
    /// DR14 Corollary 3.21 with a δ so large that its noise fades away.
    #[error("DR14 corollary 3.21 is used for delta up to 1/2, got {delta}; use optimal composition")]
    DeltaTooLarge {
        /// The δ asked for.
        delta: Delta,
    },
    /// DR14 Corollary 3.21 with an ε for which its conclusion does not follow, and can be false.
    #[error(
        "DR14 corollary 3.21 does not hold for {runs} runs at {budget}: it needs c·ε₀·(exp(ε₀) − 1) ≤ ε/2, \
         here epsilon up to {largest}; use optimal composition"
    )]
    EpsilonTooLarge {
        /// How many runs.
        runs: u32,
        /// The budget asked for.
        budget: Box<Budget>,
        /// The largest ε that is served at this number of runs and this δ, in short.
        largest: String,
    },
    /// ρ outside its range.
    #[error("rho must be a number from 1e-30 to 1e6, got {0}")]
    Rho(String),
    /// A result that the type for it does not hold.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// `runs` as a number, exactly.
fn count(runs: Hits) -> f64 {
    f64::from(runs.get())
}

/// The range of [`Epsilon`](crate::Epsilon).
const LEAST_EPSILON: f64 = 1e-12;
const LARGEST_EPSILON: f64 = 1000.0;

fn refuse_pure(delta: &Delta, route: &'static str) -> Result<(), CompositionError> {
    if delta.is_zero() {
        return Err(CompositionError::PureBudget { route });
    }
    Ok(())
}
