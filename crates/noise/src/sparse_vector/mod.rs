//! The sparse vector technique: a long adaptive stream of queries of which only the answers above a threshold cost
//! privacy.
//!
//! # How to use it
//! A [`Plan`] fixes the noise before any data is seen, states its privacy and foretells its accuracy. A
//! [`SparseVector`] runs it: it is given one exact integer at a time (or a slice) and says [`Verdict::Below`] or
//! [`Verdict::Above`]. After c hits it refuses everything.
//!
//! | plan | figure | noise of the threshold, of a query | a ⊤ carries |
//! | ---- | ------ | ---------------------------------- | ----------- |
//! | [`Plan::above_threshold`] | DR14 Algorithm 1 | 2Δ/ε, 4Δ/ε | nothing |
//! | [`Plan::sparse`] | DR14 Algorithm 2 | σ, 2σ with σ = 2Δ/ε₀; redrawn after a ⊤ | nothing |
//! | [`Plan::numeric_sparse`] | DR14 Algorithm 3 | the same, on 8/9 (δ > 0: 0.958) of the budget | the value, with fresh noise |
//! | [`Plan::restarted`] | Algorithm 2, sharper | Δ/ε₁, 2Δ/ε₂ with ε₁ + ε₂ = ε₀ optimal; redrawn | nothing, or the gap |
//! | [`Plan::no_redraw`] | LSL17 Algorithm 1 | Δ/ε₁ once, 2cΔ/ε₂ with ε₁ + ε₂ = ε | nothing, or the gap |
//! | [`Plan::tight`] | the better of the last two | | |
//!
//! On a monotone stream (unsigned counts under add-remove, see [`StreamKind`](crate::StreamKind)) the factor 2 of the query noise of
//! the last three falls away.
//!
//! # Privacy
//! Each plan is (ε, δ)-private for the neighbours it names and any adaptive stream whose answers have the stated
//! sensitivity Δ. The verdicts, the thresholds of single queries (as long as they come from public things) and what a ⊤
//! carries may be published; the noisy threshold may not.
//!
//! *Proof sketch* (DR14 Theorem 3.23, due to Vadhan; LSL17; Ding et al. 2019). Take one run with threshold noise ρ of
//! scale t₁ and query noise ν of scale t₂, and neighbours D, D'. Fix the noise of all queries answered ⊥. Moving ρ by
//! Δ toward answering ⊥ makes each ⊥ on D a ⊥ on D', because no answer moves by more than Δ; it costs e^(Δ/t₁). A
//! query answered ⊤ stays ⊤, *with the same gap* to the noisy threshold, if its ν moves by Δ plus the difference of its
//! two answers: by at most 2Δ in general; by at most Δ on a monotone stream, where either all answers grow, and the
//! difference is taken off, or all shrink, and ρ need not move. It costs e^(2Δ/t₂) or e^(Δ/t₂) for each of the ⊤ of
//! the run. So a run with one ⊤ is Δ/t₁ + 2Δ/t₂ =: ε₀-private and c of them compose; a run with c of them and one ρ is
//! Δ/t₁ + 2cΔ/t₂-private. Both shifts are by whole grid units, so the discrete Laplace law serves as the continuous one.
//! This is `Plan::check`, in exact rationals; every plan passes it when it is made and when it is read back. The value of
//! Algorithm 3 is a Laplace mechanism beside it, with noise of its own (never that of the comparison).
//!
//! # Exact and lazy
//! The noise of a query is never drawn. "f + ν ≥ T + ρ" is a coin of probability P(ν ≥ j), j = T + ρ − f, and is decided
//! by comparing a uniform number with it, of which only as many bits are drawn as it takes: a ⊥ tells
//! nothing but that the number was not below. A gap is read off the *same* number, which is ν's own. See
//! [`DiscreteLaplace`](crate::DiscreteLaplace) for why a float never decides.
//!
//! # Limitations
//! The time of an answer depends on the private margin; do not let an analyst measure it. The state in memory holds the
//! noisy threshold: it is as secret as the data.
//!
//! # References
//! - **DR14** C. Dwork, A. Roth, *The Algorithmic Foundations of Differential Privacy*, 2014, section 3.6.
//! - **LSL17** M. Lyu, D. Su, N. Li, *Understanding the Sparse Vector Technique for Differential Privacy*, PVLDB 10(6), 2017.
//! - Z. Ding, Y. Wang, D. Zhang, D. Kifer, *Free Gap Information from the Differentially Private Sparse Vector and Noisy
//!   Max Mechanisms*, PVLDB 13(3), 2019.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | T     | `threshold` | grid units |
//! | c     | [`Hits`](crate::Hits) | count |
//! | k     | [`Queries`](crate::Queries) | count |
//! | α     | `alpha` | grid units |
//! | β     | [`Beta`](crate::Beta) | probability |
//! | Δ     | [`Sensitivity`](crate::Sensitivity) | grid units |
//! | ⊥, ⊤  | [`Verdict`] | |

pub mod accuracy;
mod machine;
mod plan;

pub use machine::{Halted, Reported, SliceAnswers, Snapshot, SnapshotError, SparseVector, Verdict};
pub use plan::{Overspent, Plan, PlanError, Report, Setting, Variant};
