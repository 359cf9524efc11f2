//! Sparse vectors that are wrong on purpose.

use super::Audited;

/// All of them.
pub fn subjects() -> Vec<Audited> {
    Vec::new()
}
