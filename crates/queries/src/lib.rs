//! Grids: how real values become exact integers. No randomness and no privacy here.

mod grid;

pub use grid::{Grid, GridError};
