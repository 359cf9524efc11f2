//! Plans that were read back: does their noise give what they promise?

use crate::builder::check_ranges;
use crate::{Noise, Plan, ProjectionError};
use std::num::NonZeroU32;
use tamis_noise::gaussian_calibration::add_remove_delta;
use tamis_noise::{Ledger, Neighbours, Variance};

/// The calibrations compute in floats, and another machine may round an exponential otherwise, in its last place: that moves
/// where their searches end by less than this share.
const OTHER_MACHINE: f64 = 1e-9;

impl Plan {
    /// This plan, with an explanation that says what it is; what else there was to choose is not known any more.
    ///
    /// Heavy keys need no check: a [`StabilityThreshold`](tamis_noise::stability::StabilityThreshold) has none but its own privacy.
    ///
    /// # Errors
    /// If what is stated is out of its range, or more privacy is promised than the noise gives.
    pub(crate) fn checked(mut self) -> Result<Self, ProjectionError> {
        let stated = &self.stated;
        let sizes =
            [("records", stated.records), ("key multiplicity", stated.key_multiplicity), ("support", stated.support)];
        check_ranges(self.rows_per_unit, Some(self.shape.independence()), &sizes)?;
        self.check_sum()?;
        self.check_noise()?;
        self.explanation = format!("{}.\n", self.describe());
        Ok(self)
    }

    /// That the parts cost no more than the whole.
    fn check_sum(&self) -> Result<(), ProjectionError> {
        let mut ledger = Ledger::new(self.cost.clone());
        ledger.charge(&self.sketch_cost).map_err(ProjectionError::Overspent)?;
        if let Some(heavy) = &self.heavy {
            ledger.charge(heavy.cost()).map_err(ProjectionError::Overspent)?;
        }
        Ok(())
    }

    /// That the sketch's noise is enough for what the sketch spends.
    fn check_noise(&self) -> Result<(), ProjectionError> {
        let (kind, spent) = (self.noise.kind(), &self.sketch_cost);
        let least = Noise::for_all(kind, self.shape, spent, self.neighbours, self.rows_per_unit)?;
        let is_enough = match (&self.noise, &least) {
            (Noise::Laplace(noise), Noise::Laplace(least)) => noise.scale() >= least.scale(),
            (Noise::Gaussian(noise), Noise::Gaussian(least)) => {
                let (recorded, least) = (noise.variance(), least.variance());
                recorded.to_f64_up() * (1.0 + OTHER_MACHINE) >= least.to_f64_down()
                    || self.is_enough_for_one_row(recorded)
            }
            _ => false,
        };
        if is_enough {
            return Ok(());
        }
        let (noise, cost) = (self.noise.to_string(), spent.to_string());
        Err(ProjectionError::Claim { noise, cost, least: least.to_string() })
    }

    /// Less may do where a unit moves s integers by exactly 1.
    fn is_enough_for_one_row(&self, variance: &Variance) -> bool {
        // Cannot fail: a column has an entry.
        let moved = NonZeroU32::new(self.shape.nonzeros()).expect("positive");
        self.neighbours == Neighbours::AddRemove
            && self.rows_per_unit == 1
            && add_remove_delta(moved, variance, self.sketch_cost.epsilon())
                <= self.sketch_cost.delta().to_f64_down() * (1.0 + OTHER_MACHINE)
    }
}
