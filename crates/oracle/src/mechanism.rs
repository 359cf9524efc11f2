//! One description of a sparse-vector mechanism, right or wrong.
//!
//! Everything the catalogue of Lyu, Su and Li (*Understanding the Sparse Vector Technique for
//! Differential Privacy*, PVLDB 10(6), 2017; "LSL17" below) varies is a field here, so that a single
//! sampler ([`Mechanism::run`]) and a single enumerator ([`enumeration`](crate::enumeration)) serve every
//! variant. All scales and answers are in grid units; `unit` is the sensitivity of a query in them.

use std::ops::{Add, Sub};

/// A sparse-vector mechanism: draw T̂ = T + ρ; for each query draw ν; answer ⊤ if f + ν ≥ T̂, else ⊥.
///
/// ```
/// use tamis_oracle::mechanism::{Answer, Mechanism};
/// // With noise that is always 0 the mechanism is its own comparison.
/// let mechanism = Mechanism::above_threshold(1.0, 1);
/// let answers = mechanism.run(&[3, 9, 12, 40], 10, &mut |_scale| 0_i64);
/// assert_eq!(answers, [Answer::Below, Answer::Below, Answer::Above]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mechanism {
    /// Scale of ρ; 0 means no threshold noise.
    pub threshold_scale: f64,
    /// When ρ is drawn again.
    pub redraw: Redraw,
    /// Scale of ν; 0 means no query noise.
    pub query_scale: f64,
    /// Stops after this many ⊤; `None` never stops.
    pub hits: Option<u32>,
    /// What a ⊤ carries.
    pub output: Output,
}

/// When the threshold noise is drawn again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Redraw {
    /// One draw for the whole stream.
    Never,
    /// After each ⊤, at this scale.
    AfterHit(f64),
    /// For each query: no mechanism with a proof does this.
    EveryQuery,
}

/// What a ⊤ carries. Except for [`Output::FreshValue`], nothing costs further noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// Nothing but itself.
    Verdict,
    /// The gap f + ν − T̂: free (Ding, Wang, Zhang, Kifer, PVLDB 13(3), 2019).
    Gap,
    /// f plus noise of this scale, drawn for it alone.
    FreshValue(f64),
    /// The noisy value f + ν that was compared. Wrong: LSL17's Algorithm 3.
    ComparedValue,
    /// The gap and the compared value. Wrong: their difference is T̂.
    GapAndComparedValue,
}

/// One answer of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer<N> {
    /// ⊥.
    Below,
    /// ⊤.
    Above,
    /// ⊤ with the gap.
    Gap(N),
    /// ⊤ with a value, fresh or compared.
    Value(N),
    /// ⊤ with the gap, then the compared value.
    GapAndValue(N, N),
}

impl<N> Answer<N> {
    /// Whether this is a ⊤.
    pub fn is_above(&self) -> bool {
        !matches!(self, Self::Below)
    }
}

impl Mechanism {
    /// Redraws the threshold noise after each ⊤, at the same scale: each stretch up to a ⊤ is one run.
    pub fn restarted(threshold_scale: f64, query_scale: f64, hits: u32, output: Output) -> Self {
        Self { threshold_scale, redraw: Redraw::AfterHit(threshold_scale), query_scale, hits: Some(hits), output }
    }

    /// Keeps one threshold draw for the whole stream.
    pub fn no_redraw(threshold_scale: f64, query_scale: f64, hits: u32, output: Output) -> Self {
        Self { threshold_scale, redraw: Redraw::Never, query_scale, hits: Some(hits), output }
    }

    /// Dwork and Roth 2014 (DR14), Algorithm 1: ρ of scale 2/ε, ν of scale 4/ε, one ⊤.
    pub fn above_threshold(epsilon: f64, unit: i64) -> Self {
        let unit = unit as f64;
        Self::no_redraw(2.0 * unit / epsilon, 4.0 * unit / epsilon, 1, Output::Verdict)
    }

    /// DR14, Algorithm 2 at δ = 0: σ = 2c/ε, ρ of scale σ redrawn after each ⊤, ν of scale 2σ.
    pub fn sparse(epsilon: f64, hits: u32, unit: i64) -> Self {
        let sigma = 2.0 * f64::from(hits) * unit as f64 / epsilon;
        Self::restarted(sigma, 2.0 * sigma, hits, Output::Verdict)
    }

    /// DR14, Algorithm 3 at δ = 0: Sparse at 8ε/9, and values with fresh noise of scale σ(2ε/9).
    pub fn numeric_sparse(epsilon: f64, hits: u32, unit: i64) -> Self {
        let value_scale = 2.0 * f64::from(hits) * unit as f64 / (2.0 / 9.0 * epsilon);
        Self::sparse(8.0 / 9.0 * epsilon, hits, unit).with_output(Output::FreshValue(value_scale))
    }

    /// LSL17, Algorithm 1: ρ of scale 1/ε₁ once, ν of scale 2c/ε₂.
    pub fn lyu_su_li(epsilon_1: f64, epsilon_2: f64, hits: u32, unit: i64) -> Self {
        let unit = unit as f64;
        Self::no_redraw(unit / epsilon_1, 2.0 * f64::from(hits) * unit / epsilon_2, hits, Output::Verdict)
    }

    /// LSL17, Algorithm 1 for monotone streams: ν of scale c/ε₂ is enough.
    pub fn lyu_su_li_monotone(epsilon_1: f64, epsilon_2: f64, hits: u32, unit: i64) -> Self {
        let mechanism = Self::lyu_su_li(epsilon_1, epsilon_2, hits, unit);
        Self { query_scale: mechanism.query_scale / 2.0, ..mechanism }
    }

    /// The same mechanism with another output.
    pub fn with_output(self, output: Output) -> Self {
        Self { output, ..self }
    }

    /// Runs the mechanism on a stream, one answer a query until it stops.
    ///
    /// `laplace(scale)` draws the noise: integers for the mechanisms as we build them, floats for the
    /// papers'. It is called in the papers' order (ρ, then one ν a query, then a fresh value), and
    /// not at all where the scale is 0.
    pub fn run<N>(&self, values: &[N], threshold: N, laplace: &mut impl FnMut(f64) -> N) -> Vec<Answer<N>>
    where
        N: Copy + PartialOrd + Add<Output = N> + Sub<Output = N>,
    {
        let mut noisy = |value: N, scale: f64| {
            if scale == 0.0 { value } else { value + laplace(scale) }
        };
        let mut noisy_threshold = noisy(threshold, self.threshold_scale);
        let mut hits = 0;
        let mut answers = Vec::new();
        for &value in values {
            if self.hits == Some(hits) {
                break;
            }
            let compared = noisy(value, self.query_scale);
            if compared >= noisy_threshold {
                hits += 1;
                answers.push(match self.output {
                    Output::Verdict => Answer::Above,
                    Output::Gap => Answer::Gap(compared - noisy_threshold),
                    Output::FreshValue(scale) => Answer::Value(noisy(value, scale)),
                    Output::ComparedValue => Answer::Value(compared),
                    Output::GapAndComparedValue => Answer::GapAndValue(compared - noisy_threshold, compared),
                });
                if let Redraw::AfterHit(scale) = self.redraw {
                    noisy_threshold = noisy(threshold, scale);
                }
            } else {
                answers.push(Answer::Below);
            }
            if self.redraw == Redraw::EveryQuery {
                noisy_threshold = noisy(threshold, self.threshold_scale);
            }
        }
        answers
    }
}
