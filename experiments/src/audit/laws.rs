//! Exact noise for mechanisms that are described by their scales.

use tamis::noise::{DiscreteLaplace, Scale};
use tamis_harness::TrialRng;

/// Laplace noise of any of some scales.
#[derive(Clone, Debug)]
pub struct Laws(Vec<(f64, DiscreteLaplace)>);

impl Laws {
    /// The laws of these scales.
    pub fn new(scales: &[f64]) -> Self {
        // Cannot fail: the scales of what is wrong on purpose are positive and of a moderate size.
        let law = |&scale: &f64| (scale, DiscreteLaplace::new(Scale::new(scale).expect("a moderate scale")));
        Self(scales.iter().map(law).collect())
    }

    /// What draws one of them.
    pub fn with<'a>(&'a self, rng: &'a mut TrialRng) -> impl FnMut(f64) -> i64 + 'a {
        move |scale| {
            // Cannot fail: a mechanism draws at scales that were made for it.
            let (_, law) = self.0.iter().find(|(of, _)| *of == scale).expect("a scale of the mechanism");
            law.sample(rng)
        }
    }
}
