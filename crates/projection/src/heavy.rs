//! Heavy keys apart: the keys that occur often, with their noisy counts, beside a sketch that then errs by the rest alone.
//!
//! A sketch errs by ‖x‖₂/√T per key of a list, and of skewed data a few keys are nearly all of ‖x‖₂. So they are released by a
//! [`StabilityThreshold`], at the cost of half of ε and of a δ, and are taken out of the sketch afterwards.
//!
//! # The release
//! The budget is divided: ε/2 for the counts of heavy keys and ε/2 for the sketch; all of δ for the counts where the sketch has
//! Laplace noise, half of it each where it has Gaussian noise. Y is the noisy sketch **of the whole table** x, as without heavy
//! keys; c̃ are the noisy counts of those keys that reached the threshold, in the order of their fingerprints. Both are public.
//!
//! *Privacy.* Each is private with its share, for the same neighbours and L, and their noise is independent: the sum of the
//! shares pays for both (basic composition; Dwork and Roth 2014, Theorem 3.16). All else is computed from them.
//!
//! # Answers
//! q̂ = (estimate of q from Y − S(c̃)) + q(c̃), where S(c̃) is the sketch of c̃ under the public signs.
//!
//! *Unbiased, with the same error bars.* c̃ depends on the data and on its own noise, not on the seed, nor on the noise of Y. So
//! given c̃ the seed has its law still, and Y − S(c̃) = S(x − c̃) + N, since sketches are linear: it is the noisy sketch of the
//! vector x − c̃, as good as any other vector. Whatever holds of a sketch of x, holds of it with **x − c̃ in place of x**: its
//! estimate of q(x − c̃) is unbiased, its [standard error](crate::answer) is that formula with F, the sum of fourth powers and q̂
//! taken from Y − S(c̃), and so is the [theorem](crate::bounds). Adding q(c̃), a known number, moves neither. All this is true
//! given any c̃, so it is true.
//!
//! What is left, ‖x − c̃‖², are the light keys as they are and of each heavy one the square of its noise.
//!
//! There are at most 2³¹/s heavy keys (dense signs: 2³⁷/T), so that whoever reads a release sums up S(c̃) in seconds. No table
//! comes near that where signs are few; if one did, the keys beyond would be left to the sketch, which holds all of them.
//!
//! # When
//! [`HeavyKeys::Auto`] compares predicted half-widths of [intervals](crate::answer), from what is stated and never from the data:
//! without heavy keys apart they are often conservative ones. With n records of which a key has
//! M on the average over records (‖x‖² = n·M), it takes for ‖x − c̃‖² the estimate
//!
//! ```text
//! min(n·M, n·max(τ, t)) + (n/τ)·2t².
//! ```
//!
//! The first term bounds the light keys' share in expectation: a key of x records stays with probability P(Z < τ − x), and
//! x·P(Z < τ − x) ≤ max(τ, t). (It is clear for x ≤ τ. For x = τ + d it is (τ + d)·q^(d + 1)/(1 + q), and τ + d ≤
//! max(τ, t)·e^(d/t).) The second is for at most n/τ keys with τ records or more. It is an estimate **from above**, and often from
//! far above: a table of a hundred thousand keys leaves what a hundred thousand keys can, whatever n is. Answers carry the
//! standard error of what is really left. Where the estimate is not below n·M, as where M is at most max(τ, t), no key is heavy if
//! all are alike, and none is released apart: so all-distinct data (M = 1) never has heavy keys. Who knows that few keys have most of the records may say [`HeavyKeys::On`].
//!
//! ```
//! use rand::{SeedableRng, rngs::StdRng};
//! use tamis_noise::{Budget, Delta, Epsilon, Neighbours};
//! use tamis_projection::ProjectionRelease;
//! use tamis_queries::{Fingerprint, Histogram, SparseQuery};
//! let mut table = Histogram::builder();
//! for key in 1..=1_000 {
//!     table.add(Fingerprint::raw(key), 1_000_000 / key as i64)?; // Zipf's law: ‖x‖² is some 10¹², of 7.5 million records
//! }
//! let table = table.build();
//! let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
//! let plan = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).records(7_500_000).key_multiplicity(200_000.0);
//! let plan = plan.support(20).build()?;
//! assert!(plan.heavy().is_some()); // chosen, because it pays
//!
//! let release = plan.release(&table, &mut StdRng::seed_from_u64(1))?; // takes its generator from the operating system
//! assert_eq!(release.heavy().len(), 1_000); // all of them have more than the 42 records it takes
//! let answer = release.answer(&SparseQuery::count((1..=20).map(Fingerprint::raw)));
//! assert!(answer.standard_error < 15.0 && (answer.value - 3_597_734.0).abs() < 75.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Deliberately absent
//! For keys of a query that are heavy, c̃ alone would do, with less noise than the sketch has. But a key that only just reached
//! the threshold reached it by its noise, so answers would no longer be unbiased.
//!
//! # References
//! Ours, of known parts: the stability histogram ([`tamis_noise::stability`]) and the linearity of sketches.

use crate::{NoiseKind, Plan, ProjectionError, Shape, Signs};
use tamis_noise::stability::StabilityThreshold;
use tamis_noise::{Budget, Delta, Epsilon, ParameterError, Rational};
use tamis_queries::{Fingerprint, SparseQuery};

/// Whether heavy keys are released apart. See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeavyKeys {
    /// Never.
    Off,
    /// If δ is not 0 and intervals are predicted to be narrower so.
    Auto,
    /// Always; refused if δ is 0.
    On,
}

/// Most that all noisy counts of a release are together: beyond all data, and so small that no integer overflows.
const MAX_TOTAL: i64 = 1 << 54;

/// Most signs of all heavy keys together; of dense ones 64 count as one, since they come by the word.
const MOST_SIGNS: u32 = 1 << 31;

/// How many heavy keys there are at most: see the [module](self).
fn most(shape: Shape) -> usize {
    let signs = match shape.signs() {
        Signs::Dense => shape.width() / 64,
        Signs::Sparse { nonzeros } => nonzeros,
    };
    (MOST_SIGNS / signs) as usize
}

/// The shares of the counts of heavy keys and of the sketch: half of ε each, of δ all or half.
pub(crate) fn divided(budget: &Budget, noise: NoiseKind) -> Result<(Budget, Budget), ParameterError> {
    let half = |value: &Rational| value / Rational::from(2);
    let epsilon = Epsilon::from_rational(half(budget.epsilon().as_rational()))?;
    match noise {
        NoiseKind::Laplace => Ok((Budget::approximate(epsilon.clone(), budget.delta().clone()), Budget::pure(epsilon))),
        NoiseKind::Gaussian => {
            let share = Budget::approximate(epsilon, Delta::from_rational(half(budget.delta().as_rational()))?);
            Ok((share.clone(), share))
        }
    }
}

/// What the sketch is to answer for, ‖x‖² and Σx⁴: of n records in keys of M records each, which for this ‖x‖² = n·M is the
/// least Σx⁴, by Jensen's inequality.
///
/// With heavy keys apart, of x − c̃: the [module](self)'s estimate from above, and by the same Σ(x − c̃)⁴, of light keys all
/// alike and the noise of the heavy ones (E Z⁴ = 24t⁴).
pub(crate) fn left(threshold: Option<&StabilityThreshold>, records: f64, multiplicity: f64) -> (f64, f64) {
    let Some(threshold) = threshold else { return (records * multiplicity, records * multiplicity.powi(3)) };
    let (tau, scale) = (threshold.threshold() as f64, threshold.scale().to_f64_up());
    // What a light key may have, and how many keys may be heavy.
    let (light, heavy) = (tau.max(scale), records / tau);
    let norm = (records * multiplicity).min(records * light) + heavy * 2.0 * scale.powi(2);
    let fourth_powers = records * multiplicity.min(light).powi(3) + heavy * 24.0 * scale.powi(4);
    (norm, fourth_powers)
}

/// The first of these, as far as they are not too many and their counts are at most [`MAX_TOTAL`] together. What is left out is
/// left to the sketch.
pub(crate) fn within_limits(shape: Shape, mut counts: Vec<(Fingerprint, i64)>) -> Vec<(Fingerprint, i64)> {
    counts.truncate(most(shape));
    let mut left = MAX_TOTAL;
    let fitting = counts.iter().take_while(|(_, count)| {
        left = left.saturating_sub(*count);
        left >= 0
    });
    counts.truncate(fitting.count());
    counts
}

/// Whether these may be the heavy keys of a release by this plan.
pub(crate) fn check(plan: &Plan, counts: &[(Fingerprint, i64)]) -> Result<(), ProjectionError> {
    let Some(threshold) = plan.heavy().map(StabilityThreshold::threshold) else {
        return if counts.is_empty() { Ok(()) } else { Err(ProjectionError::HeavyUnplanned(counts.len())) };
    };
    if counts.len() > most(plan.shape()) {
        return Err(ProjectionError::TooManyHeavy { most: most(plan.shape()), given: counts.len() });
    }
    if !counts.is_sorted_by(|one, next| one.0 < next.0) {
        return Err(ProjectionError::HeavyOrder);
    }
    if let Some(&(_, count)) = counts.iter().find(|(_, count)| *count < threshold) {
        return Err(ProjectionError::HeavyCount { threshold, count });
    }
    let total = counts.iter().try_fold(0i64, |total, (_, count)| total.checked_add(*count));
    if total.is_none_or(|total| total > MAX_TOTAL) {
        return Err(ProjectionError::HeavyTotal);
    }
    Ok(())
}

/// q(c̃), in units of 2⁻²⁰. Cost: O(m·log(number of heavy keys)).
pub(crate) fn evaluate(counts: &[(Fingerprint, i64)], query: &SparseQuery) -> i128 {
    let of_key = |&(key, weight): &(Fingerprint, u32)| {
        let at = counts.binary_search_by_key(&key, |entry| entry.0).ok()?;
        Some(i128::from(counts[at].1) * i128::from(weight))
    };
    query.entries().iter().filter_map(of_key).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProjectionRelease;
    use tamis_noise::Neighbours;

    #[test]
    fn the_shares_add_up_to_the_budget() {
        let budget = Budget::approximate("1/11".parse().unwrap(), "1e-9".parse().unwrap());
        for noise in [NoiseKind::Laplace, NoiseKind::Gaussian] {
            let (heavy, sketch) = divided(&budget, noise).unwrap();
            assert_eq!(heavy.epsilon().as_rational() + sketch.epsilon().as_rational(), *budget.epsilon().as_rational());
            assert_eq!(heavy.delta().as_rational() + sketch.delta().as_rational(), *budget.delta().as_rational());
            assert_eq!(sketch.delta().is_zero(), noise == NoiseKind::Laplace);
        }
    }

    #[test]
    fn counts_beyond_all_data_are_left_to_the_sketch() {
        let counts = |counts: &[i64]| (0..).map(Fingerprint::raw).zip(counts.iter().copied()).collect::<Vec<_>>();
        let most = counts(&[MAX_TOTAL - 5, 5]);
        let within_limits = |counts| within_limits(Shape::sparse(64, 1, 4).unwrap(), counts);
        assert_eq!(within_limits(most.clone()), most);
        assert_eq!(within_limits(counts(&[MAX_TOTAL - 5, 6, 1])), counts(&[MAX_TOTAL - 5]));
        assert_eq!(within_limits(counts(&[i64::MAX])), []);
        assert_eq!(within_limits(counts(&[i64::MAX, i64::MAX])), []);
    }

    /// What is released is what is accepted, and summing it up takes seconds.
    #[test]
    fn heavy_keys_with_too_many_signs_are_left_to_the_sketch() {
        let entries = |number: u64| (0..number).map(|key| (Fingerprint::raw(key), 1 << 20)).collect::<Vec<_>>();
        let budget = Budget::approximate("1".parse().unwrap(), "1e-9".parse().unwrap());
        let builder = || ProjectionRelease::builder(budget.clone(), Neighbours::AddRemove, 1).heavy(HeavyKeys::On);
        for (builder, most) in
            [(builder().nonzeros(1 << 20).width(1 << 20), 1 << 11), (builder().dense().width(1 << 26), 1 << 11)]
        {
            let plan = builder.build().unwrap();
            let kept = within_limits(plan.shape(), entries(most + 1));
            assert_eq!(kept, entries(most));
            assert_eq!(check(&plan, &kept), Ok(()));
            let error = check(&plan, &entries(most + 1)).unwrap_err().to_string();
            assert_eq!(error, "with so many signs a key a release holds at most 2048 heavy keys, got 2049");
        }
        assert_eq!(most(Shape::sparse(1 << 20, 16, 4).unwrap()), 1 << 27);
        assert_eq!(most(Shape::dense(64, 4).unwrap()), 1 << 31);
    }
}
