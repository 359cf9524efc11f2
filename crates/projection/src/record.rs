//! A plan in plain parts, to be kept beside its release, and the way back.

use crate::release::{l1_sensitivity, squared_l2_sensitivity};
use crate::{Noise, Plan, ProjectionError, Shape};
use std::num::{NonZeroU32, NonZeroU128};
use tamis_noise::gaussian_calibration::{add_remove_delta, concentrated};
use tamis_noise::{Budget, Neighbours, Scale, Sensitivity, Variance};

/// What a [`Plan`] is, but for the words that explain how it was chosen.
#[derive(Clone, Debug)]
pub struct PlanRecord {
    /// What the release spends.
    pub cost: Budget,
    /// For which neighbours it is private.
    pub neighbours: Neighbours,
    /// L: how many rows of the table a unit has at most.
    pub rows_per_unit: u32,
    /// Rows, signs and independence.
    pub shape: Shape,
    /// On each row.
    pub noise: Noise,
    /// ‖x‖² as it was stated.
    pub stated_squared_norm: Option<f64>,
    /// How many keys a query was stated to have.
    pub stated_support: Option<f64>,
}

impl Plan {
    /// Its parts.
    pub fn record(&self) -> PlanRecord {
        PlanRecord {
            cost: self.cost.clone(),
            neighbours: self.neighbours,
            rows_per_unit: self.rows_per_unit,
            shape: self.shape,
            noise: self.noise.clone(),
            stated_squared_norm: self.stated_norm,
            stated_support: self.stated_support,
        }
    }

    /// A plan from its parts. Its [explanation](Plan::explanation) says what it is, no longer what else there was.
    ///
    /// # Errors
    /// If a part is out of its range, or the noise does not give the privacy that is recorded.
    ///
    /// ```
    /// use tamis_noise::{Budget, Epsilon, Neighbours};
    /// use tamis_projection::{Plan, ProjectionRelease};
    /// let budget = Budget::pure(Epsilon::new(1.0)?);
    /// let plan = ProjectionRelease::builder(budget, Neighbours::AddRemove, 2).width(4096).build()?;
    /// let mut record = plan.record();
    /// assert_eq!(Plan::restore(record.clone())?.privacy(), plan.privacy());
    /// record.rows_per_unit = 3;
    /// let error = Plan::restore(record).unwrap_err();
    /// assert_eq!(error.to_string(), "discrete Laplace noise of scale 2 does not give ε = 1, δ = 0: \
    ///     for that the scale must be at least 3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(record: PlanRecord) -> Result<Self, ProjectionError> {
        let PlanRecord { cost, neighbours, rows_per_unit, shape, noise, stated_squared_norm, stated_support } = record;
        check_rows_per_unit(rows_per_unit)?;
        if shape.independence() < crate::Builder::INDEPENDENCE {
            return Err(ProjectionError::IndependenceOfAnswers(shape.independence()));
        }
        let stated = [("squared norm", stated_squared_norm, 1e30), ("support", stated_support, 1e15)];
        for (name, value, most) in stated {
            if let Some(value) = value.filter(|value| !(1.0..=most).contains(value)) {
                return Err(ProjectionError::Size { name, value: value.to_string() });
            }
        }
        let mut plan = Self {
            cost,
            neighbours,
            rows_per_unit,
            shape,
            noise,
            stated_norm: stated_squared_norm,
            stated_support,
            explanation: String::new(),
        };
        plan.check_claim()?;
        plan.explanation = format!("{}.\n", plan.describe());
        Ok(plan)
    }

    /// That the noise gives what the plan promises.
    fn check_claim(&self) -> Result<(), ProjectionError> {
        let (parameter, least) = match &self.noise {
            Noise::Laplace(noise) => {
                let least = self.least_scale()?;
                if *noise.scale() >= least {
                    return Ok(());
                }
                ("scale", least.to_string())
            }
            Noise::Gaussian(noise) => {
                let least = self.proven_variance()?;
                if noise.variance().to_f64_up() * (1.0 + OTHER_MACHINE) >= least.to_f64_down()
                    || self.is_enough(noise.variance())
                {
                    return Ok(());
                }
                ("variance", format!("{:.6}", least.to_f64_up()))
            }
        };
        Err(ProjectionError::Claim { noise: self.noise.to_string(), cost: self.cost.to_string(), parameter, least })
    }

    fn least_scale(&self) -> Result<Scale, ProjectionError> {
        let moved = Sensitivity::new(l1_sensitivity(self.shape, self.neighbours, self.rows_per_unit))?;
        Ok(Scale::of(moved, self.cost.epsilon())?)
    }

    /// What is enough for all neighbours.
    fn proven_variance(&self) -> Result<Variance, ProjectionError> {
        let moved = squared_l2_sensitivity(self.shape, self.neighbours, self.rows_per_unit);
        // Cannot fail: a product of numbers from 1 on.
        Ok(concentrated(NonZeroU128::new(moved).expect("positive"), &self.cost)?)
    }

    /// Less may do where a unit moves s integers by exactly 1.
    fn is_enough(&self, variance: &Variance) -> bool {
        // Cannot fail: a column has an entry.
        let moved = NonZeroU32::new(self.shape.nonzeros()).expect("positive");
        self.neighbours == Neighbours::AddRemove
            && self.rows_per_unit == 1
            && add_remove_delta(moved, variance, self.cost.epsilon())
                <= self.cost.delta().to_f64_down() * (1.0 + OTHER_MACHINE)
    }
}

/// The calibrations compute in floats, and another machine may round an exponential otherwise, in its last place: that moves
/// where their searches end by less than this share.
const OTHER_MACHINE: f64 = 1e-9;

/// L is from 1 to a million.
fn check_rows_per_unit(rows: u32) -> Result<(), ProjectionError> {
    if (1..=1_000_000).contains(&rows) { Ok(()) } else { Err(ProjectionError::RowsPerUnit(rows)) }
}
