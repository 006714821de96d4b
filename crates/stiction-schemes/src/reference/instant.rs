//! Equations at one instant: accelerations and forces of joints and closed contacts.
//!
//! With J the rows of all joints and of the normals and tangents of all closed contacts,
//!
//! ```text
//! M v̇ = f + Jᵀ r,     d(J v)/dt = J v̇ + J̇ v = W r + b,     W = J M⁻¹ Jᵀ,   b = J M⁻¹ f + J̇ v          [REF-1]
//! ```

use nalgebra::{DMatrix, DVector};
use stiction_multibody::{BodyId, ContactId, Model, Wrench, applied_wrenches, apply_inverse_mass, mass_block};

use super::{
    geometry::{ContactFinder, Touch},
    motion::Motion,
};
use stiction_stepping::StepCause;

/// Rows of a joint or a contact among all rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) first: usize,
    pub(super) rows: usize,
}

/// The equations at one instant.
pub(super) struct Instant {
    /// Closed contacts, in the given order.
    pub(super) touches: Vec<Touch>,
    /// Rows of each of them.
    pub(super) contacts: Vec<Block>,
    /// Rows of all joints together.
    pub(super) joint_rows: usize,
    /// Φ of joints and ψ of normals; zero for tangents, which have no position.
    pub(super) value: DVector<f64>,
    /// J v with the prescribed part: the rates of the values, and slips.
    pub(super) rate: DVector<f64>,
    /// M⁻¹ f.
    pub(super) free: DVector<f64>,
    /// J.
    pub(super) jacobian: DMatrix<f64>,
    /// M⁻¹ Jᵀ.
    pub(super) response: DMatrix<f64>,
    /// W = J M⁻¹ Jᵀ.
    pub(super) delassus: DMatrix<f64>,
    /// b = J M⁻¹ f + J̇ v.
    pub(super) free_rate: DVector<f64>,
}

/// Reason why the equations could not be written.
#[derive(Debug)]
pub(super) enum InstantError {
    /// A closed contact is not found any more, because its features separated.
    Lost(ContactId),
    /// The independent coordinates of the substep are not valid so far from its start.
    OutOfChart,
    /// Cause that no smaller step removes.
    Cause(StepCause),
}

impl From<StepCause> for InstantError {
    fn from(cause: StepCause) -> Self {
        Self::Cause(cause)
    }
}

/// Terms that are evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Values, rates and W: enough for impulses and projections.
    Velocities,
    /// Forces and velocity products as well.
    Accelerations,
}

impl Instant {
    /// Writes the equations for the given closed contacts.
    pub(super) fn new(
        finder: &mut ContactFinder,
        motion: &Motion,
        time: f64,
        closed: &[ContactId],
        level: Level,
    ) -> Result<Self, InstantError> {
        let model = finder.model;
        let at = motion.configuration(model, time);
        let touches = closed_touches(finder, motion, time, closed)?
            .into_iter()
            .zip(closed)
            .map(|(touch, &id)| touch.ok_or(InstantError::Lost(id)))
            .collect::<Result<Vec<_>, _>>()?;
        let rows = all_rows(model, motion, time, &touches);
        let mut first = model.joint_rows();
        let contacts = touches.iter().map(|touch| {
            let block = Block { first, rows: 1 + touch.friction_rows };
            first += block.rows;
            block
        });
        let contacts: Vec<_> = contacts.collect();
        debug_assert_eq!(first, rows.len(), "joints and contacts fill the rows");
        let mut response = DMatrix::zeros(model.dof(), rows.len());
        let mut jacobian = DMatrix::zeros(rows.len(), model.dof());
        for (k, row) in rows.iter().enumerate() {
            for (id, wrench) in [(row.a.0, &row.a.1), (row.b.0, &row.b.1)] {
                let Some((mobility, range)) = model.unknowns(id) else { continue };
                let Some((_, mass, inertia)) = mass_block(model, &at, id.index()) else { continue };
                let answer = mobility.project(&apply_inverse_mass(mobility, mass, &inertia, wrench));
                for ((i, w), m) in range.zip(mobility.project(wrench)).zip(answer) {
                    jacobian[(k, i)] += w;
                    response[(i, k)] += m;
                }
            }
        }
        let delassus = &jacobian * &response;
        let mut free = DVector::zeros(model.dof());
        let mut free_rate = DVector::zeros(rows.len());
        if level == Level::Accelerations {
            free = free_acceleration(model, motion, time)?;
            free_rate = &jacobian * &free + velocity_products(finder, motion, time, &touches)?;
        }
        let rate = rates(model, motion, time, &touches);
        debug_assert_eq!(rate.len(), rows.len(), "every row has a rate");
        let value = DVector::from_iterator(rows.len(), rows.iter().map(|row| row.value));
        Ok(Self {
            touches,
            contacts,
            joint_rows: model.joint_rows(),
            value,
            rate: DVector::from_vec(rate),
            free,
            jacobian,
            response,
            delassus,
            free_rate,
        })
    }

    /// Friction components of a contact in a vector over all rows.
    pub(super) fn friction_of(&self, contact: usize, all: &DVector<f64>) -> [f64; 3] {
        debug_assert!(contact < self.contacts.len(), "contact {contact} is closed");
        let Some(block) = self.contacts.get(contact) else { return [0.0; 3] };
        std::array::from_fn(|k| if k + 1 < block.rows { all[block.first + 1 + k] } else { 0.0 })
    }

    /// Normal component of a contact in a vector over all rows.
    pub(super) fn normal_of(&self, contact: usize, all: &DVector<f64>) -> f64 {
        debug_assert!(contact < self.contacts.len(), "contact {contact} is closed");
        self.contacts.get(contact).map_or(0.0, |block| all[block.first])
    }
}

struct Row {
    value: f64,
    a: (BodyId, Wrench),
    b: (BodyId, Wrench),
}

fn all_rows(model: &Model, motion: &Motion, time: f64, touches: &[Touch]) -> Vec<Row> {
    let at = motion.configuration(model, time);
    let mut rows = Vec::new();
    for joint in model.joints() {
        let (a, b) = (joint.a.0, joint.b.0);
        rows.extend(joint.evaluate(&at).map(|row| Row { value: row.value, a: (a, row.a), b: (b, row.b) }));
    }
    for touch in touches {
        rows.extend(touch.rows().enumerate().map(|(k, (on_a, on_b))| Row {
            value: if k == 0 { touch.gap } else { 0.0 },
            a: (touch.a, on_a),
            b: (touch.b, on_b),
        }));
    }
    rows
}

/// M⁻¹ (λ_app + λ_vp).
fn free_acceleration(model: &Model, motion: &Motion, time: f64) -> Result<DVector<f64>, StepCause> {
    let at = motion.configuration(model, time);
    let mut applied = Vec::new();
    applied_wrenches(model, &at, time, &mut applied);
    let mut free = DVector::zeros(model.dof());
    for (index, slot) in model.layout().iter().enumerate() {
        let (Some((mobility, mass, inertia)), Some(wrench)) = (mass_block(model, &at, index), applied.get(index))
        else {
            continue;
        };
        let answer = mobility.project(&apply_inverse_mass(mobility, mass, &inertia, wrench));
        if answer.iter().any(|a| !a.is_finite()) {
            return Err(StepCause::non_finite("applied force", model.bodies().get(index).map(|b| b.name.as_str())));
        }
        slot.v.clone().zip(answer).for_each(|(i, a)| free[i] = a);
    }
    Ok(free)
}

/// J v with the prescribed part. The tangents are those of the instant, also if the bodies have moved on.
fn rates(model: &Model, motion: &Motion, time: f64, touches: &[Touch]) -> Vec<f64> {
    let mut rates = joint_rates(model, motion, time);
    for touch in touches {
        rates.push(touch.opening());
        rates.extend(touch.slip().into_iter().take(touch.friction_rows));
    }
    rates
}

fn joint_rates(model: &Model, motion: &Motion, time: f64) -> Vec<f64> {
    let at = motion.configuration(model, time);
    let power = |joint: &stiction_multibody::Joint| {
        let (a, b) = (at.twist(joint.a.0), at.twist(joint.b.0));
        joint.evaluate(&at).map(|row| row.a.power(&a) + row.b.power(&b)).collect::<Vec<_>>()
    };
    model.joints().iter().flat_map(power).collect()
}

/// Margin within which closed contacts are detected, as a fraction of the radius of the smallest shape. Their gaps are zero up to rounding
/// and the displacements of finite differences.
const CLOSED_MARGIN: f64 = 0.02;

/// Closed contacts at a configuration, each `None` if its features do not meet.
fn closed_touches(
    finder: &mut ContactFinder,
    motion: &Motion,
    time: f64,
    closed: &[ContactId],
) -> Result<Vec<Option<Touch>>, StepCause> {
    if closed.is_empty() {
        return Ok(Vec::new());
    }
    let at = motion.configuration(finder.model, time);
    let mut pairs: Vec<_> = closed.iter().map(|id| (id.shape_a.index(), id.shape_b.index())).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let found = finder.touches(&at, time, &pairs, CLOSED_MARGIN * smallest_radius(finder.model))?;
    let find =
        |id: &ContactId| found.binary_search_by_key(id, |touch| touch.id).ok().and_then(|k| found.get(k).copied());
    Ok(closed.iter().map(find).collect())
}

/// Step of finite differences, in units of the time in which the geometry changes. For five points the truncation of order (step)⁴ and the
/// rounding ε/step balance near here, at about 1e-13 of the rates.
const DIFFERENCE: f64 = 1e-3;

/// Largest step of finite differences of prescribed motions, which have a time scale of their own, s.
const PRESCRIBED_DIFFERENCE: f64 = 2e-5;

/// J̇ v and ∂²/∂t²: the rates at q ⊕ kδ v, t + kδ, k = ±1, ±2, differenced at constant v.   [REF-2]
fn velocity_products(
    finder: &mut ContactFinder,
    motion: &Motion,
    time: f64,
    touches: &[Touch],
) -> Result<DVector<f64>, StepCause> {
    let model = finder.model;
    let delta = difference_step(model, motion, time);
    let closed: Vec<_> = touches.iter().map(|touch| touch.id).collect();
    let mut samples = Vec::with_capacity(5);
    for k in [-2.0, -1.0, 0.0, 1.0, 2.0] {
        let (moved, then) = (motion.drifted(model, k * delta), time + k * delta);
        let mut rates: Vec<_> = joint_rates(model, &moved, then).into_iter().map(Some).collect();
        for (found, base) in closed_touches(finder, &moved, then, &closed)?.into_iter().zip(touches) {
            rates.push(found.map(|touch| touch.opening()));
            // The slip is taken along the tangents of the instant itself.
            let slip = found.map(|touch| Touch { tangents: base.tangents, ..touch }.slip());
            rates.extend((0..base.friction_rows).map(|row| slip.map(|slip| slip[row])));
        }
        debug_assert!(
            samples.first().is_none_or(|first: &Vec<_>| first.len() == rates.len()),
            "samples differ in length"
        );
        samples.push(rates);
    }
    let rows = samples.first().map_or(0, Vec::len);
    Ok(DVector::from_fn(rows, |row, _| {
        let sample = |k: usize| samples.get(k).and_then(|rates| rates.get(row).copied().flatten());
        derivative(&std::array::from_fn(sample)) / delta
    }))
}

/// First derivative from up to five equidistant samples around the middle, in units of their distance. It uses the formula of the highest
/// order that the available samples allow.   [REF-2]
fn derivative(samples: &[Option<f64>; 5]) -> f64 {
    match *samples {
        [Some(a), Some(b), _, Some(c), Some(d)] => (8.0 * (c - b) - (d - a)) / 12.0,
        [_, Some(b), _, Some(c), _] => 0.5 * (c - b),
        [_, _, Some(x), Some(c), Some(d)] => 2.0 * c - 1.5 * x - 0.5 * d,
        [Some(a), Some(b), Some(x), ..] => 1.5 * x - 2.0 * b + 0.5 * a,
        _ => 0.0,
    }
}

fn difference_step(model: &Model, motion: &Motion, time: f64) -> f64 {
    let at = motion.configuration(model, time);
    let smallest = smallest_radius(model);
    let mut fastest = 1.0_f64;
    for (id, _) in model.iter_bodies() {
        let twist = at.twist(id);
        fastest = fastest.max(twist.angular.norm() + twist.linear.norm() / smallest);
    }
    let step = DIFFERENCE / fastest;
    if model.kinematic_bodies().is_empty() { step } else { step.min(PRESCRIBED_DIFFERENCE) }
}

/// Radius of the smallest shape that has one, m: the length over which geometry changes.
fn smallest_radius(model: &Model) -> f64 {
    let radii = model.shapes().filter_map(|(_, _, shape)| shape.shape.radius_bound()).filter(|&radius| radius > 0.0);
    let smallest = radii.fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { smallest } else { 1.0 }
}
