//! How long a file will be, before there is one.

use crate::{NoiseKind, Shape};
use std::f64::consts::{E, TAU};

/// Of the values of a sketch.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    /// Variance of what the keys leave in a row: ‖x‖²·s/T.
    keys: f64,
    /// Variance of the noise.
    noise: f64,
    kind: NoiseKind,
}

impl Spread {
    /// From ‖x‖² and the variance of the noise.
    pub(crate) fn of(shape: Shape, squared_norm: f64, noise: f64, kind: NoiseKind) -> Self {
        let share = f64::from(shape.nonzeros()) / f64::from(shape.width());
        Self { keys: squared_norm * share, noise, kind }
    }
}

/// What is said of the values, about: names of key columns and of bits come on top.
const TEXT: f64 = 1_200.0;
/// What [bytes](super::dictionary) take, as a share of entropy, and what other encodings take more, in bits: as measured, the
/// second within a half.
const BYTES: f64 = 1.01;
const OTHERS: f64 = 1.3;

/// Bytes of a file, without heavy keys. It is right within 5 % where all keys are alike, the values have two bits at least and
/// there are clearly more or clearly fewer than 256 different ones. Of skewed data, where few rows have most of the
/// variance, files are smaller.
pub(crate) fn predicted(shape: Shape, spread: Spread) -> f64 {
    let rows = f64::from(shape.width());
    // Of a bell curve; the values are whole numbers, and a twelfth is the variance of what rounding adds.
    let entropy = 0.5 * (TAU * E * (spread.keys + spread.noise + 1.0 / 12.0)).log2();
    let bits = if different(rows, spread) <= 256.0 { BYTES * entropy } else { entropy + OTHERS };
    TEXT + rows * bits / 8.0
}

/// About how many different values there are: those that one of the rows is expected to have.
fn different(rows: f64, spread: Spread) -> f64 {
    let deviation = (spread.keys + spread.noise).sqrt();
    let bell = deviation * (2.0 * (rows / (TAU.sqrt() * deviation)).max(1.0).ln()).sqrt();
    let tail = match spread.kind {
        NoiseKind::Gaussian => 0.0,
        NoiseKind::Laplace => {
            // Far out Laplace noise decides; what the keys add to it makes it likelier by a constant factor.
            let scale = (spread.noise / 2.0).sqrt();
            scale * ((rows / (2.0 * scale)).max(1.0).ln() + (spread.keys / spread.noise).min(1.0))
        }
    };
    1.0 + 2.0 * bell.max(tail)
}
