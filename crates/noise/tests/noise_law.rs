//! The samplers against their exact laws.
//!
//! Chi-square over 60 bins of nearly equal probability, at 10⁷ draws. False alarm 1e-6 a test; the draws are seeded, so a
//! test that passes keeps passing. Power: a scale 2 % off moves the statistic by about n·0.02²/2 = 2000 of
//! 59 ± 11, and is rejected here by the very same test.

use chacha20::ChaCha12Rng;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::num::NonZeroU64;
use tamis_noise::{DiscreteGaussian, DiscreteLaplace, Scale, Variance, uniform_below};
use tamis_oracle::statistics::{ChiSquare, IntegerBins};

const FALSE_ALARM: f64 = 1e-6;
const DRAWS: usize = 10_000_000;
const BINS: usize = 60;

fn count(bins: &IntegerBins, mut fill: impl FnMut(&mut [i64])) -> ChiSquare {
    let mut counts = vec![0; bins.probabilities().len()];
    let mut block = [0; 10_000];
    for _ in 0..DRAWS / block.len() {
        fill(&mut block);
        for (total, new) in counts.iter_mut().zip(bins.count(block)) {
            *total += new;
        }
    }
    ChiSquare::new(&counts, bins.probabilities(), 25.0)
}

fn laplace(scale_drawn: f64, scale_claimed: f64, seed: u64) -> ChiSquare {
    let law = tamis_oracle::discrete_laplace::DiscreteLaplace::new(scale_claimed);
    let bins = IntegerBins::new(|j| law.survival(j), BINS);
    let noise = DiscreteLaplace::new(Scale::new(scale_drawn).unwrap());
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    count(&bins, |block| noise.fill(block, &mut rng))
}

fn gaussian(sigma_drawn: f64, sigma_claimed: f64, seed: u64) -> ChiSquare {
    let law = tamis_oracle::discrete_gaussian::DiscreteGaussian::new(sigma_claimed);
    let bins = IntegerBins::new(|j| law.survival(j), BINS);
    let noise = DiscreteGaussian::new(Variance::new(sigma_drawn * sigma_drawn).unwrap());
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    count(&bins, |block| noise.fill(block, &mut rng))
}

#[test]
fn discrete_laplace_follows_its_law_at_every_scale() {
    for (seed, scale) in [0.3, 1.0, 10.0, 1000.0, 1e6, 1e9].into_iter().enumerate() {
        let test = laplace(scale, scale, seed as u64);
        assert!(test.accepts(FALSE_ALARM), "scale {scale}: {test:?}");
    }
}

#[test]
fn a_scale_two_percent_off_is_rejected() {
    for (seed, scale) in [0.3, 1.0, 10.0, 1000.0, 1e6, 1e9].into_iter().enumerate() {
        for wrong in [0.98, 1.02] {
            let test = laplace(scale * wrong, scale, seed as u64);
            assert!(!test.accepts(FALSE_ALARM), "scale {scale} × {wrong}: {test:?}");
        }
    }
}

#[test]
fn discrete_gaussian_follows_its_law() {
    for (seed, sigma) in [0.5, 1.0, 10.0, 1000.0].into_iter().enumerate() {
        let test = gaussian(sigma, sigma, seed as u64);
        assert!(test.accepts(FALSE_ALARM), "σ {sigma}: {test:?}");
    }
}

#[test]
fn a_sigma_two_percent_off_is_rejected() {
    for (seed, sigma) in [0.5, 1.0, 10.0, 1000.0].into_iter().enumerate() {
        let test = gaussian(sigma * 0.98, sigma, seed as u64);
        assert!(!test.accepts(FALSE_ALARM), "σ {sigma}: {test:?}");
    }
}

/// A batch takes the words of single draws, in their order, from every kind of generator that is in use here: a block
/// generator that is cryptographic, the standard one, and one that makes a word at a time.
#[test]
fn a_batch_is_the_single_draws_on_every_generator() {
    fn agrees<R: Rng + SeedableRng>() {
        let laplace = DiscreteLaplace::new(Scale::new(1e9).unwrap());
        let gaussian = DiscreteGaussian::new(Variance::new(100.0).unwrap());
        let (mut one, mut many) = (R::seed_from_u64(1), R::seed_from_u64(1));
        let (mut some, mut more) = ([0; 777], [0; 777]);
        laplace.fill(&mut some, &mut many);
        gaussian.fill(&mut more, &mut many);
        assert_eq!(some, std::array::from_fn(|_| laplace.sample(&mut one)));
        assert_eq!(more, std::array::from_fn(|_| gaussian.sample(&mut one)));
        assert_eq!(one.next_u64(), many.next_u64());
    }
    agrees::<ChaCha12Rng>();
    agrees::<StdRng>();
    agrees::<Xoshiro256PlusPlus>();
}

/// Chi-square, for a bound of which 2⁶⁴ leaves a remainder of a third; taken without rejection it is seen.
#[test]
fn uniform_numbers_are_uniform() {
    let mut rng = ChaCha12Rng::seed_from_u64(4);
    let bound = NonZeroU64::new(3 << 60).unwrap();
    let mut thirds = |draw: &mut dyn FnMut(&mut ChaCha12Rng) -> u64| {
        let mut counts = [0u64; 3];
        (0..30_000).for_each(|_| counts[(draw(&mut rng) % 3) as usize] += 1);
        ChiSquare::new(&counts, &[1.0 / 3.0; 3], 25.0).accepts(FALSE_ALARM)
    };
    assert!(thirds(&mut |rng| uniform_below(bound, || rng.next_u64())));
    assert!(!thirds(&mut |rng| ((u128::from(rng.next_u64()) * u128::from(bound.get())) >> 64) as u64));
}
