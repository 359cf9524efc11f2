//! The step after which a hypothesis of weights answers what it should.

/// Targets nearer to 0 or 1 than this are taken for this far off: no finite step would reach them.
const EDGE: f64 = 1.0 / (1u64 << 40) as f64;
/// Beyond such a step a target counts as out of reach.
const FARTHEST: f64 = 4096.0;

/// One key of the query: q(u), not 0, and the logarithm of its weight.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    pub(crate) weight: f64,
    pub(crate) logarithm: f64,
}

/// The s for which multiplying each weight w_u by e^(s·q(u)) makes Σ w_u q(u)/Σ w_u equal to `target`. `rest` is the
/// logarithm of the sum of all other weights, a finite number.
///
/// For weights of 0 and 1 it is v(1 − u)/(u(1 − v)) in logarithms, u being the present answer and v the target; else
/// the root is found by halving (the answer grows with s) to below 10⁻¹² of itself. A target that no step reaches
/// (above the largest weight of the query) gives the step 4(v − u).
pub(crate) fn tilt(members: &[Member], rest: f64, target: f64) -> f64 {
    if members.is_empty() {
        return 0.0;
    }
    let target = target.clamp(EDGE, 1.0 - EDGE);
    if members.iter().all(|member| member.weight == 1.0) {
        return (target / (1.0 - target)).ln() + rest - log_sum(members.iter().map(|member| member.logarithm));
    }
    let present = answer(members, rest, 0.0);
    let direction = if target > present { 1.0 } else { -1.0 };
    let is_beyond = |step: f64| (answer(members, rest, step) - target) * direction >= 0.0;
    let (mut near, mut far) = (0.0, direction);
    while !is_beyond(far) {
        if far.abs() >= FARTHEST {
            return 4.0 * (target - present);
        }
        (near, far) = (far, 2.0 * far);
    }
    for _ in 0..52 {
        let middle = f64::midpoint(near, far);
        if is_beyond(middle) { far = middle } else { near = middle }
    }
    near
}

/// The answer after the step s.
fn answer(members: &[Member], rest: f64, step: f64) -> f64 {
    let tilted = |member: &Member| member.logarithm + step * member.weight;
    let largest = members.iter().map(tilted).fold(rest, f64::max);
    let (mut of_query, mut of_all) = (0.0, (rest - largest).exp());
    for member in members {
        let weight = (tilted(member) - largest).exp();
        of_query += weight * member.weight;
        of_all += weight;
    }
    of_query / of_all
}

/// ln Σ e^x of at least one x.
fn log_sum(logarithms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = logarithms.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + logarithms.map(|logarithm| (logarithm - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(pairs: &[(f64, f64)]) -> Vec<Member> {
        pairs.iter().map(|&(weight, logarithm)| Member { weight, logarithm }).collect()
    }

    #[test]
    fn the_step_reaches_its_target() {
        for pairs in [&[(1.0, 0.0), (1.0, -3.0)][..], &[(1.0, 0.5), (0.25, 2.0), (0.75, -9.0)], &[(1.0, 900.0)]] {
            for rest in [-800.0, 0.0, 5.0, 700.0] {
                for target in [1e-6, 0.1, 0.5, 0.9] {
                    let members = members(pairs);
                    let step = tilt(&members, rest, target);
                    let reached = answer(&members, rest, step);
                    assert!((reached - target).abs() <= 1e-11, "{pairs:?} {rest} {target}: {reached}");
                }
            }
        }
    }

    #[test]
    fn what_is_out_of_reach_gets_a_finite_step() {
        let half = members(&[(0.5, 0.0)]);
        assert!((tilt(&half, 0.0, 0.75) - 4.0 * 0.5).abs() < 1e-12);
        for target in [0.0, 1.0] {
            let step = tilt(&members(&[(1.0, 0.0)]), 0.0, target);
            assert!((27.0..29.0).contains(&step.abs()), "{step}");
        }
        assert_eq!(tilt(&[], 0.0, 0.5), 0.0);
    }
}
