//! Mass and inertia of dynamic bodies, given or computed from their shapes.
//!
//! All shapes of a body have the same density; overlapping volumes count twice. The origin of a dynamic body is its
//! centre of mass. Shapes with another common centre are refused unless the inertia is given.

use nalgebra::Matrix3;
use stiction_geometry::{
    Shape,
    mass::{MassProperties, composite_mass_properties},
    planar, spatial,
};
use stiction_multibody::{Filter, Pose, limits};

use super::reader::{At, Reader};
use crate::{error::Fault, file::BodyTable, numbers::plain};

/// A collision shape and its pose on its body.
pub(super) struct ShapeAt {
    pub(super) shape: Shape,
    pub(super) local: Pose,
    pub(super) filter: Filter,
}

/// Largest distance of the shapes' centre of mass from the origin, relative to the size of the body.
const CENTRED: f64 = 1e-9;

pub(super) fn mass_and_inertia(
    reader: &Reader,
    at: &At,
    table: &BodyTable,
    given: Option<Matrix3<f64>>,
    shapes: &[ShapeAt],
) -> Result<(f64, Matrix3<f64>), Fault> {
    let name = &table.name;
    if table.density.is_some() && table.mass.is_some() {
        return Err(at
            .key("density")
            .fault(format!("body \"{name}\" has a `mass` as well"))
            .hint("keep one of the two"));
    }
    if let (Some(mass), Some(inertia)) = (table.mass, given) {
        return Ok((mass, inertia));
    }
    let density = match (table.density, table.mass) {
        (Some(density), _) => in_domain(&at.key("density"), density)?,
        (None, Some(_)) => 1.0,
        (None, None) => {
            let message = format!("body \"{name}\" is dynamic and needs a `mass`");
            return Err(at.fault(message).hint("or a `density`; or `kind = \"fixed\"` if it never moves"));
        }
    };
    let computed = of_shapes(at, name, density, shapes)?;
    let mass = match table.mass {
        Some(mass) => in_domain(&at.key("mass"), mass)?,
        None => computed.mass,
    };
    if let Some(inertia) = given {
        return Ok((mass, inertia));
    }
    ensure_centred(reader, at, name, &computed, shapes)?;
    Ok((mass, computed.inertia * (mass / computed.mass)))
}

/// Checks a mass before the inertia is computed from it. The model would report a wrong mass as a wrong inertia.
fn in_domain(at: &At, value: f64) -> Result<f64, Fault> {
    let (least, most) = limits::MASS;
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let [least, most, value] = [least, most, value].map(plain);
    Err(at.fault(format!("{} must lie between {least} and {most}, but is {value}", at.what())))
}

fn of_shapes(at: &At, name: &str, density: f64, shapes: &[ShapeAt]) -> Result<MassProperties, Fault> {
    let solid = shapes.iter().filter(|part| !is_point(&part.shape)).map(|part| (&part.shape, &part.local));
    if solid.clone().next().is_none() {
        let message = format!("body \"{name}\" has no solid shape to compute its inertia from");
        return Err(at.fault(message).hint("give `inertia`, or `particle = true` for a point mass"));
    }
    composite_mass_properties(solid, density)
        .map_err(|error| at.key("shape").fault(format!("body \"{name}\": {error}")).hint("give `mass` and `inertia`"))
}

fn is_point(shape: &Shape) -> bool {
    matches!(shape, Shape::Planar(planar::Shape::Point) | Shape::Spatial(spatial::Shape::Point))
}

fn ensure_centred(
    reader: &Reader,
    at: &At,
    name: &str,
    computed: &MassProperties,
    shapes: &[ShapeAt],
) -> Result<(), Fault> {
    let reach = |part: &ShapeAt| {
        let own = match &part.shape {
            Shape::Planar(shape) => shape.radius_bound(),
            Shape::Spatial(shape) => shape.radius_bound(),
        };
        own.unwrap_or(0.0) + part.local.translation.vector.norm()
    };
    let size = shapes.iter().map(reach).fold(0.0, f64::max);
    let c = computed.centre.coords;
    if c.norm() <= CENTRED * size {
        return Ok(());
    }
    let (centre, back) = if reader.planar() {
        (format!("[{}, {}]", c.x, c.y), format!("[{}, {}]", -c.x, -c.y))
    } else {
        (format!("[{}, {}, {}]", c.x, c.y, c.z), format!("[{}, {}, {}]", -c.x, -c.y, -c.z))
    };
    let message =
        format!("the shapes of body \"{name}\" have their centre of mass at {centre}, not at the body's origin");
    Err(at.key("shape").fault(message).hint(format!("move every shape by {back}, or give `inertia`")))
}
