//! The verdicts of statistical tests.
//!
//! Every function here takes or documents its *false alarm*: the largest probability of accusing a
//! correct sampler. Nothing is asymptotic where an exact statement exists: Clopper–Pearson bounds come
//! from the binomial tail itself, the Kolmogorov–Smirnov threshold from the
//! Dvoretzky–Kiefer–Wolfowitz inequality with Massart's constant, which holds at every sample size
//! and for discrete laws too. Only the chi-square p-value is asymptotic, which is why
//! [`ChiSquare`] merges bins until each expects at least a stated count.

mod binomial;
mod chi_square;
mod kolmogorov_smirnov;

pub use binomial::{binomial_tail, binomial_upper_quantile, clopper_pearson_lower, clopper_pearson_upper};
pub use chi_square::{ChiSquare, IntegerBins};
pub use kolmogorov_smirnov::KolmogorovSmirnov;
