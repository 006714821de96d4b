//! `[[body.shape]]`.

use nalgebra::{Point2, Point3, Vector3};
use stiction_geometry::{Shape, ShapeError, implicit::ConvexPart, planar, spatial};
use stiction_multibody::{Filter, Pose, limits};

use super::{
    inertia::ShapeAt,
    reader::{At, Reader},
};
use crate::{
    error::Fault,
    file::{GroupNumber, Made, PolygonTable, ShapeTable, Vector},
    numbers::plain,
};

pub(super) fn shapes(reader: &Reader, at: &At, tables: &[ShapeTable]) -> Result<Vec<ShapeAt>, Fault> {
    let place = |(index, table)| {
        let at = at.index(index);
        Ok(ShapeAt { shape: shape(reader, &at, table)?, local: local(reader, &at, table)?, filter: filter(table) })
    };
    tables.iter().enumerate().map(place).collect()
}

/// Returns the collision filter of a shape.
fn filter(table: &ShapeTable) -> Filter {
    let bits = |numbers: &[GroupNumber]| numbers.iter().fold(0, |bits, GroupNumber(number)| bits | 1 << (number % 32));
    let usual = Filter::default();
    Filter {
        groups: table.groups.as_deref().map_or(usual.groups, bits),
        meets: table.meets.as_deref().map_or(usual.meets, bits),
    }
}

fn shape(reader: &Reader, at: &At, table: &ShapeTable) -> Result<Shape, Fault> {
    let given: Vec<_> = ShapeTable::KINDS.iter().copied().filter(|kind| at.key(kind).exists()).collect();
    let kind = match given.as_slice() {
        [kind] => *kind,
        [] => {
            let kinds = ShapeTable::KINDS.join(", ");
            return Err(at.fault("this shape table names no shape").hint(format!("give one of {kinds}")));
        }
        [_, second, ..] => {
            let fault = at.key(second).fault(format!("one shape cannot be {} at once", given.join(" and ")));
            return Err(fault.hint("write a [[body.shape]] for each"));
        }
    };
    let at = at.key(kind);
    let missing = || at.fault(format!("{} has no table", with_article(kind)));
    let made = if reader.planar() {
        match table.in_plane().ok_or_else(missing)? {
            Made::Sizes(made) => made,
            Made::Vectors => planar(reader, &at, table)?,
            Made::Nowhere(instead) => return Err(reader.only_in(&at, &with_article(kind), instead)),
        }
        .map(Shape::Planar)
    } else {
        match table.in_space().ok_or_else(missing)? {
            Made::Sizes(made) => made,
            Made::Vectors => spatial(reader, &at, table)?,
            Made::Nowhere(instead) => return Err(reader.only_in(&at, &with_article(kind), instead)),
        }
        .map(Shape::Spatial)
    };
    made.map_err(|error| at.shape_error(&error))
}

/// Reads a planar shape that has vectors or other shapes.
fn planar(reader: &Reader, at: &At, table: &ShapeTable) -> Result<Result<planar::Shape, ShapeError>, Fault> {
    Ok(if let Some(polygon) = &table.polygon {
        planar::Shape::polygon(&corners(reader, at, polygon)?)
    } else if let Some(hull) = &table.hull {
        planar::Shape::convex_hull(&planar_points(reader, &at.key("vertices"), &hull.vertices)?)
    } else if let Some(half_space) = &table.halfspace {
        planar::Shape::half_plane(reader.vector(&at.key("normal"), &half_space.normal)?.xy())
    } else if let Some(implicit) = &table.implicit {
        planar::Shape::intersection(parts(reader, &at.key("intersection"), &implicit.intersection)?)
    } else {
        let half = half_extents(reader, at, table)?;
        planar::Shape::rectangle([half.x, half.y])
    })
}

/// Reads a spatial shape that has vectors or other shapes.
fn spatial(reader: &Reader, at: &At, table: &ShapeTable) -> Result<Result<spatial::Shape, ShapeError>, Fault> {
    Ok(if let Some(hull) = table.polyhedron.as_ref().or(table.hull.as_ref()) {
        let points = hull.vertices.iter().enumerate();
        let points = points.map(|(k, v)| Ok(Point3::from(reader.vector(&at.key("vertices").index(k), v)?)));
        spatial::Shape::convex_hull(&points.collect::<Result<Vec<_>, Fault>>()?)
    } else if let Some(half_space) = &table.halfspace {
        spatial::Shape::half_space(reader.vector(&at.key("normal"), &half_space.normal)?)
    } else if let Some(implicit) = &table.implicit {
        spatial::Shape::intersection(parts(reader, &at.key("intersection"), &implicit.intersection)?)
    } else {
        spatial::Shape::cuboid(half_extents(reader, at, table)?.into())
    })
}

/// Returns the kind with its article: "a disc", "an ellipse".
fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['e', 'i']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// Returns the convex parts of an intersection, each at its pose.
fn parts(reader: &Reader, at: &At, tables: &[ShapeTable]) -> Result<Vec<ConvexPart>, Fault> {
    let part = |(index, table): (usize, &ShapeTable)| {
        let at = at.index(index);
        if let Some(foreign) = ["groups", "meets"].into_iter().find(|key| at.key(key).exists()) {
            return Err(at.key(foreign).fault(format!("`{foreign}` is for the whole shape, not for a part of it")));
        }
        let (shape, local) = (shape(reader, &at, table)?, local(reader, &at, table)?);
        ConvexPart::shape(&shape, &local)
            .ok_or_else(|| at.fault("a polygon with notches is not convex").hint("cut it into convex parts"))
    };
    tables.iter().enumerate().map(part).collect()
}

impl At<'_> {
    fn shape_error(&self, error: &ShapeError) -> Fault {
        let owner = self.owner().unwrap_or_default();
        self.fault(format!("{owner}: {error}"))
    }
}

fn half_extents(reader: &Reader, at: &At, table: &ShapeTable) -> Result<Vector3<f64>, Fault> {
    let sizes = table.cuboid.as_ref().map(|sizes| (&sizes.half_extents, &sizes.size));
    match sizes {
        Some((Some(half), None)) => reader.vector(&at.key("half_extents"), half),
        Some((None, Some(size))) => Ok(reader.vector(&at.key("size"), size)? * 0.5),
        _ => Err(at.fault("a box has either `half_extents` or `size`")),
    }
}

fn corners(reader: &Reader, at: &At, polygon: &PolygonTable) -> Result<Vec<Point2<f64>>, Fault> {
    match (&polygon.vertices, &polygon.regular) {
        (Some(vertices), None) => planar_points(reader, &at.key("vertices"), vertices),
        (None, Some(regular)) => {
            // Checked here because the polygon would report a radius of zero or NaN as a bad outline.
            let at = at.key("regular").key("radius");
            if !(regular.radius.is_normal() && (0.0..=limits::LENGTH).contains(&regular.radius)) {
                let message = format!(
                    "{} must be positive and at most {}, but is {}",
                    at.what(),
                    plain(limits::LENGTH),
                    plain(regular.radius)
                );
                return Err(at.fault(message));
            }
            let corner = |k: u32| {
                let (sin, cos) = libm::sincos(std::f64::consts::TAU * f64::from(k) / f64::from(regular.sides));
                Point2::new(regular.radius * cos, regular.radius * sin)
            };
            Ok((0..regular.sides).map(corner).collect())
        }
        _ => Err(at.fault("a polygon has either `vertices` or `regular`")),
    }
}

fn planar_points(reader: &Reader, at: &At, vertices: &[Vector]) -> Result<Vec<Point2<f64>>, Fault> {
    vertices.iter().enumerate().map(|(k, v)| Ok(Point2::from(reader.vector(&at.index(k), v)?.xy()))).collect()
}

/// Returns the pose of the shape on its body.
fn local(reader: &Reader, at: &At, table: &ShapeTable) -> Result<Pose, Fault> {
    reader.local_pose(at, table.position.as_ref(), (table.angle.as_ref(), table.orientation.as_ref()))
}
