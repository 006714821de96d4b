//! A half-space and a core: every vertex of the core is tested against the plane.

use nalgebra::{Point3, Vector3};

use super::placed::Core;
use super::sink::{Meeting, Sink};

/// Reports the contacts of the half-space below the plane through the origin (A) with every vertex of B.
pub(super) fn contacts(normal: &Vector3<f64>, b: &Core<'_>, sink: &mut Sink<'_>) {
    for (feature_b, vertex) in (0u32..).zip(b.vertices) {
        let height = normal.dot(&vertex.coords);
        let core_a: Point3<f64> = vertex - normal * height;
        sink.push(&Meeting {
            feature_a: 0,
            feature_b,
            core_a,
            core_b: *vertex,
            normal: *normal,
            normal_is_unique: true,
        });
    }
}
