//! Account of the kinetic energy over a run: what explains it, and what does not.   [ENERGY-6] [ENERGY-7]

use stiction_multibody::{BodyId, Configuration, Model, mass_block};
use stiction_stepping::{Coordinates, Scheme, StepCause, StepEnergy, VelocityTerms};

/// Unexplained gain from which a run has a warning, as a fraction of the largest kinetic energy so far and the absolute work.
///
/// The bound of promise 11 in RELIABILITY.md. At a tenth, steps that turn a body by half a radian warn; at ten times, a run may gain as much
/// as a bad spring would.
pub const WARNING_FRACTION: f64 = 0.01;

/// Growth of the kinetic energy at which a run stops, as a multiple of the energy at the start and the absolute work of the run.
///
/// Explicit velocity terms at 50 rad/s pass it within a few steps of 0.01 s; bounded errors of the scheme stay below 2. At a tenth, a light body
/// that a heavy one hits could come near; at ten times, positions are lost before the run stops.
pub const STOPPING_GROWTH: f64 = 1e3;

/// Share of the kinetic energy that must be unexplained for a run to stop.
const STOPPING_SHARE: f64 = 0.5;

/// Account of the kinetic energy of a run, J, over the steps whose account is known.   [ENERGY-6]
///
/// It begins with the simulation, and again with a state set from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EnergyAccount {
    /// Steps whose account is known. Quasistatic and event-driven steps have none.
    pub steps: u64,
    /// Kinetic energy at the start.
    pub initial: f64,
    /// Largest kinetic energy so far.
    pub largest: f64,
    /// Sum of the absolute works of forces, springs, motors, layers, restitution and prescribed motion.
    pub work: f64,
    /// Energy that the removal of overlaps and joint errors added.
    pub removal: f64,
    /// Largest rise of the unexplained energy above its lowest earlier value, or largest sum of the drift of joints if that is more.
    pub gain: f64,
    /// Energy that rounding may be taken for in all steps; a gain up to it is none.   [ENERGY-9]
    pub rounding: f64,
    /// Step with the largest unexplained gain, and the body that gained most in it.
    pub largest_step: Option<(u64, Option<BodyId>)>,
    unexplained: f64,
    lowest: f64,
    drift: f64,
    largest_gain: f64,
}

impl EnergyAccount {
    /// Unexplained gain as a fraction of the largest kinetic energy so far and the absolute work.   [ENERGY-6]
    pub fn fraction(&self) -> f64 {
        if self.gain > self.rounding { self.gain / (self.largest + self.work) } else { 0.0 }
    }

    /// True if the unexplained gain is a warning.
    pub fn is_warning(&self) -> bool {
        self.fraction() >= WARNING_FRACTION
    }

    /// Account with another step.
    pub(crate) fn with_step(mut self, step: u64, energy: &StepEnergy) -> Self {
        if !energy.is_known {
            return self;
        }
        if self.steps == 0 {
            (self.initial, self.largest) = (energy.before, energy.before);
        }
        self.steps += 1;
        self.largest = self.largest.max(energy.after);
        self.work += energy.work;
        self.removal += energy.removal;
        self.rounding += energy.rounding;
        self.unexplained += energy.unexplained;
        self.lowest = self.lowest.min(self.unexplained);
        self.drift += energy.drift;
        self.gain = self.gain.max(self.unexplained - self.lowest).max(self.drift);
        if energy.unexplained.max(energy.drift) > self.largest_gain {
            self.largest_gain = energy.unexplained.max(energy.drift);
            self.largest_step = Some((step, energy.most.map(|(body, _)| body)));
        }
        self
    }

    /// Refuses a step that ends with a thousand times the explained energy.   [ENERGY-7]
    pub(crate) fn check(
        &self,
        energy: &StepEnergy,
        (model, end): (&Model, &Configuration),
        scheme: &Scheme,
    ) -> Result<(), StepCause> {
        let explained = self.initial + self.work + self.removal;
        // Comparisons with numbers that are not finite are false, and so is the limit of a kinetic energy that overflows.
        let is_within = energy.after <= STOPPING_GROWTH * explained || self.gain <= self.rounding;
        let is_explained = self.gain < STOPPING_SHARE * energy.after && energy.after.is_finite();
        if !energy.is_known || is_within || is_explained {
            return Ok(());
        }
        Err(StepCause::EnergyGrew {
            body: most_energetic(model, end),
            kinetic: energy.after,
            explained,
            hint: hint(scheme),
        })
    }
}

/// Advice for a run whose energy grows.
fn hint(scheme: &Scheme) -> &'static str {
    if scheme.velocity_terms == VelocityTerms::Explicit {
        "leave out `velocity_terms = \"explicit\"`, which gains energy, or take steps in which no body turns by more than 0.1 rad"
    } else if scheme.coordinates != Coordinates::Maximal {
        "take smaller steps, allow more `halve_steps`, or use `coordinates = \"maximal\"`"
    } else {
        "take smaller steps, or another preset"
    }
}

/// Name of the body with the largest kinetic energy.
fn most_energetic(model: &Model, at: &Configuration) -> String {
    let kinetic = |index: usize, id: BodyId| {
        let (_, mass, inertia) = mass_block(model, at, index)?;
        let twist = at.twist(id);
        Some(0.5 * (mass * twist.linear.norm_squared() + twist.angular.dot(&(inertia * twist.angular))))
    };
    let bodies = model.iter_bodies().enumerate().filter_map(|(index, (id, body))| Some((kinetic(index, id)?, body)));
    let most = bodies.max_by(|(a, _), (b, _)| a.total_cmp(b));
    most.map_or_else(String::new, |(_, body)| body.name.clone())
}

#[cfg(test)]
mod tests {
    use stiction_geometry::Dimension;
    use stiction_multibody::ModelBuilder;

    use super::*;

    /// A step from rest that ends with an energy nothing explains.
    fn step(unexplained: f64, rounding: f64) -> StepEnergy {
        let mut energy = StepEnergy::default();
        energy.is_known = true;
        (energy.after, energy.unexplained, energy.rounding) = (unexplained, unexplained, rounding);
        energy
    }

    #[test]
    fn a_gain_within_rounding_neither_warns_nor_stops() {
        let model = ModelBuilder::new(Dimension::Planar).build().unwrap();
        for (rounding, is_gain) in [(1e-36, false), (0.0, true), (1e-39, true)] {
            let energy = step(1e-38, rounding);
            let account = EnergyAccount::default().with_step(1, &energy);
            assert_eq!(account.is_warning(), is_gain, "{account:?}");
            let checked = account.check(&energy, (&model, &Configuration::default()), &Scheme::default());
            assert_eq!(checked.is_err(), is_gain, "{checked:?}");
        }
    }
}
