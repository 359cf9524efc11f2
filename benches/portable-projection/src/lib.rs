//! The sign families and sketches of `tamis-projection` as a machine without carry-less products or AVX2 computes them: the
//! same source files, but for the one that chooses the instructions. For benches.

#[path = "../../../crates/projection/src/family.rs"]
#[allow(dead_code, reason = "answers are not part of this crate")]
mod family;
#[path = "../../../crates/projection/src/gf64.rs"]
mod gf64;
mod kernels;
#[path = "../../../crates/projection/src/sketch.rs"]
#[allow(dead_code, reason = "releases are not part of this crate")]
mod sketch;
#[path = "../../../crates/projection/src/tally.rs"]
mod tally;
#[path = "../../../crates/projection/src/words.rs"]
mod words;

pub use family::{Seed, Shape, SignFamily, Signs};
pub use sketch::Sketch;
pub use tamis_projection::ProjectionError;
