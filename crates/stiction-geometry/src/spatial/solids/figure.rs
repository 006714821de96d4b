//! Figures of solids for pictures.

use std::f64::consts::{PI, TAU};

use nalgebra::{Point3, Vector3};

use crate::implicit::Convex;

/// Circles of latitude and meridians of the grid on a smooth solid.
const LEVELS: u32 = 7;
const MERIDIANS: u32 = 12;

/// A figure of a solid, in the coordinates of the solid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Figure {
    /// The origin.
    Point,
    /// A ball about the origin.
    Ball {
        /// Radius.
        radius: f64,
    },
    /// All points within a distance of a segment on the x axis.
    Capsule {
        /// Half the length of the segment.
        half_length: f64,
        /// The distance.
        radius: f64,
    },
    /// Everything below the plane through the origin.
    HalfSpace {
        /// Outward normal.
        normal: Vector3<f64>,
    },
    /// Points of the surface and lines between them.
    Wireframe {
        /// Points.
        vertices: Vec<Point3<f64>>,
        /// Lines as pairs of numbers of points.
        edges: Vec<[u32; 2]>,
    },
}

impl Figure {
    /// Returns a grid on a smooth solid: the points where rays from the inside leave it; `None` for an unbounded solid.
    pub(super) fn grid(solid: &Convex) -> Option<Self> {
        let rays = (0..LEVELS).flat_map(|level| (0..MERIDIANS).map(move |k| (level, k)));
        let vertices = rays.map(|(level, k)| {
            let (up, out) = libm::sincos(PI * (f64::from(level + 1) / f64::from(LEVELS + 1) - 0.5));
            let [cosine, sine] = on_circle(k, MERIDIANS);
            solid.leaving(&Vector3::new(out * cosine, out * sine, up))
        });
        let number = |level: u32, k: u32| level * MERIDIANS + k % MERIDIANS;
        let around =
            (0..LEVELS).flat_map(|level| (0..MERIDIANS).map(move |k| [number(level, k), number(level, k + 1)]));
        let along = (1..LEVELS).flat_map(|level| (0..MERIDIANS).map(move |k| [number(level - 1, k), number(level, k)]));
        Some(Self::Wireframe { vertices: vertices.collect::<Option<_>>()?, edges: around.chain(along).collect() })
    }
}

/// Returns point number `k` of `count` on the unit circle.
pub(super) fn on_circle(k: u32, count: u32) -> [f64; 2] {
    let (sine, cosine) = libm::sincos(TAU * f64::from(k) / f64::from(count));
    [cosine, sine]
}
