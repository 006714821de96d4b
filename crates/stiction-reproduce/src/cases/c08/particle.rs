//! A particle that falls on a reflex corner: every solution of its disjunctive step, by enumeration of the index sets.

use stiction::complementarity::{LcpEnumeration, eliminate_free};
use stiction::{
    BodyBuilder, CornerLogic, Dimension, Margin, Model, ModelBuilder, Preset, Simulation, StepProblem, planar,
};

use super::{polygon, with_corners};
use crate::world::larger;
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

/// Impulses at the slanted and at the level face.
type Impulses = [f64; 2];

/// One step at the corner.
struct Corner {
    /// Solutions of the file.
    known: Vec<Impulses>,
    /// Solutions by enumeration; degenerate index sets give one twice.
    found: Vec<Impulses>,
    /// Solution of the step.
    taken: Impulses,
}

pub(super) fn rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let corners = (0..case.length("derived.particle.solutions")?).map(|index| corner(case, index));
    let corners = corners.collect::<Result<Vec<_>, _>>()?;
    let near = case.number("tolerance.impulse.abs")?;
    let found = corners.iter().flat_map(|corner| corner.known.iter().filter(|p| nearest(**p, &corner.found) <= near));
    let known: usize = corners.iter().map(|corner| corner.known.len()).sum();
    let count = Row::new("particle at a corner: derived solutions that enumeration finds", "", found.count());
    account.add(count.reference(Expected::within(known, Tolerance::default())));
    let off = corners.iter().flat_map(|corner| corner.found.iter().map(|p| nearest(*p, &corner.known)));
    let taken = corners.iter().map(|corner| nearest(corner.taken, &corner.known));
    let quantities = [
        (
            "particle at a corner: largest distance of what enumeration finds from the derived solutions",
            off.fold(0.0, larger),
        ),
        ("particle at a corner: the same of the solution that the step takes", taken.fold(0.0, larger)),
    ];
    for (quantity, ours) in quantities {
        account.add(Row::new(quantity, "N s", ours).reference(case.at_most("tolerance.impulse.abs")?));
    }
    Ok(())
}

/// Distance to the nearest of some solutions.
fn nearest(p: Impulses, others: &[Impulses]) -> f64 {
    let distance = |other: &Impulses| larger((other[0] - p[0]).abs(), (other[1] - p[1]).abs());
    others.iter().map(distance).fold(f64::INFINITY, f64::min)
}

fn corner(case: &Reference, index: usize) -> Result<Corner, CaseError> {
    let path = |name: &str| format!("derived.particle.solutions.{index}.{name}");
    let h = case.number("derived.particle.step")?;
    let known = (0..case.length(&path("impulses"))?).map(|k| case.vector(&path(&format!("impulses.{k}"))));
    let mut scheme = with_corners(Preset::StewartTrinkle, CornerLogic::Disjunctive);
    scheme.margin = Margin::Fixed(case.number("derived.particle.margin")?);
    let mut simulation = Simulation::new(particle_at_corner(case.vector(&path("gaps"))?, h)?, scheme, h)?;
    let _ = simulation.step()?;
    let StepProblem::Mixed(problem) = simulation.problem() else {
        return Err(CaseError::Other("the step at a corner is not a linear problem".to_owned()));
    };
    let problem = eliminate_free(problem).map_err(|error| CaseError::Other(error.to_string()))?;
    let all = LcpEnumeration::new().all(&problem);
    let all = all.ok_or_else(|| CaseError::Other("the problem at a corner is too large to enumerate".to_owned()))?;
    // The order of the faces is that of their numbers.
    let slanted_first = simulation.contacts().first().is_some_and(|contact| contact.normal.x.abs() > 0.1);
    let in_order = |p: &[f64]| match p {
        [first, second, ..] if slanted_first => [*first, *second],
        [first, second, ..] => [*second, *first],
        _ => [f64::NAN; 2],
    };
    let taken: Vec<f64> = simulation.contacts().iter().map(|contact| contact.normal_impulse).collect();
    Ok(Corner {
        known: known.collect::<Result<_, _>>()?,
        found: all.solutions.iter().map(|solution| in_order(&solution.z)).collect(),
        taken: in_order(&taken),
    })
}

/// A particle that would have these gaps to the two faces of a corner at the end of a step without forces.
fn particle_at_corner(gaps: [f64; 2], h: f64) -> Result<Model, CaseError> {
    let [slanted, level] = gaps;
    let x = level - std::f64::consts::SQRT_2 * slanted;
    // It approaches from above, and from the side of the face to which its gap is larger.
    let v = [if slanted > level { 5.0 } else { 0.5 }, -6.0];
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let corner = [[-1.0, -1.0], [-0.5, -1.0], [0.0, -0.8], [0.5, -1.0], [1.0, -1.0], [1.0, 0.0], [0.0, 0.0]];
    builder.body(BodyBuilder::fixed("corner").shape(polygon(&corner)?))?;
    let particle = BodyBuilder::particle("p", 1.0)
        .position(x - h * v[0], level - h * v[1], 0.0)
        .velocity(v[0], v[1], 0.0)
        .shape(planar::Shape::point().into());
    builder.body(particle)?;
    Ok(builder.build()?)
}
