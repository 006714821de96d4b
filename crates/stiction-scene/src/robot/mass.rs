//! Masses of shapes, their sum, and the check of inertia matrices.

use nalgebra::{Isometry3, Matrix3, Point3, SymmetricEigen, Vector3};
use std::f64::consts::PI;

use super::description::{Form, Inertial};

/// Largest relative violation of the triangle inequality of principal moments that is attributed to the digits of a
/// file.
const SLACK: f64 = 1e-6;
/// Largest one that is attributed to rounded numbers, and repaired with a note.
const ROUNDED: f64 = 0.05;
/// Smallest second moment after a repair, relative to the largest.
const LEAST: f64 = 1e-6;

/// Returns the volume of a solid; `None` if it has none or if it is not known here.
pub(super) fn volume(form: &Form) -> Option<f64> {
    match *form {
        Form::Box(half) => Some(8.0 * half.x * half.y * half.z),
        Form::Sphere(r) => Some(4.0 / 3.0 * PI * r * r * r),
        Form::Capsule(r, half) => Some(PI * r * r * (2.0 * half + 4.0 / 3.0 * r)),
        Form::Cylinder(r, half) => Some(2.0 * PI * r * r * half),
        Form::Ellipsoid(axes) => Some(4.0 / 3.0 * PI * axes.x * axes.y * axes.z),
        Form::Plane | Form::Mesh(..) => None,
    }
}

/// Returns the principal moments of a solid of mass 1 about its own axes.
fn unit_moments(form: &Form) -> Option<Vector3<f64>> {
    let of_squares = |s: Vector3<f64>, factor: f64| Vector3::new(s.y + s.z, s.x + s.z, s.x + s.y) * factor;
    match *form {
        Form::Box(half) => Some(of_squares(half.component_mul(&half), 1.0 / 3.0)),
        Form::Sphere(r) => Some(Vector3::repeat(0.4 * r * r)),
        Form::Ellipsoid(axes) => Some(of_squares(axes.component_mul(&axes), 0.2)),
        Form::Cylinder(r, half) => {
            let across = r * r / 4.0 + half * half / 3.0;
            Some(Vector3::new(across, across, 0.5 * r * r))
        }
        Form::Capsule(r, half) => {
            // A cylinder and two half spheres; a half sphere has its centre of mass at 3r/8.
            let ends = 4.0 * r / (4.0 * r + 6.0 * half);
            let middle = 1.0 - ends;
            let across =
                middle * (r * r / 4.0 + half * half / 3.0) + ends * (0.4 * r * r + half * half + 0.75 * half * r);
            Some(Vector3::new(across, across, middle * 0.5 * r * r + ends * 0.4 * r * r))
        }
        Form::Plane | Form::Mesh(..) => None,
    }
}

/// Returns the mass properties of a solid of the given mass at a pose.
pub(super) fn of_shape(form: &Form, mass: f64, pose: &Isometry3<f64>) -> Option<Inertial> {
    let r = pose.rotation.to_rotation_matrix();
    let moments = Matrix3::from_diagonal(&(unit_moments(form)? * mass));
    Some(Inertial {
        mass,
        centre: pose.translation.vector.into(),
        inertia: r.matrix() * moments * r.matrix().transpose(),
    })
}

/// Returns the mass properties of all parts as one body, by the parallel axis theorem; `None` if there is no mass.
pub(super) fn sum(parts: &[Inertial]) -> Option<Inertial> {
    let mass: f64 = parts.iter().map(|part| part.mass).sum();
    let moment: Vector3<f64> = parts.iter().map(|part| part.centre.coords * part.mass).sum();
    if mass <= 0.0 {
        return None;
    }
    let centre = Point3::from(moment / mass);
    let inertia = parts.iter().map(|part| {
        let d = part.centre - centre;
        part.inertia + (Matrix3::identity() * d.norm_squared() - d * d.transpose()) * part.mass
    });
    Some(Inertial { mass, centre, inertia: inertia.sum() })
}

/// Describes why no body can have this inertia about its centre of mass, or has a moment of at most `limit`; `None` if a body can.
///
/// Principal moments I₁ ≤ I₂ ≤ I₃ are sums of two of the second moments ∫x², ∫y², ∫z², which are not negative. Hence
/// I₁ > 0 and I₃ ≤ I₁ + I₂.
pub(super) fn violation(inertia: &Matrix3<f64>, limit: f64) -> Option<String> {
    let Some(mut moments) = principal(inertia).map(|eigen| eigen.eigenvalues) else {
        return Some("has no principal moments".to_owned());
    };
    moments.as_mut_slice().sort_by(f64::total_cmp);
    let [least, middle, most] = moments.into();
    if least <= limit {
        return Some(format!(
            "has the principal moments {least:.6e}, {middle:.6e}, {most:.6e}, which must be positive"
        ));
    }
    (most > (least + middle) * (1.0 + SLACK)).then(|| {
        format!(
            "has the principal moments {least:.6e}, {middle:.6e}, {most:.6e}: no body has one greater than the sum of the others"
        )
    })
}

/// True for the limits of possible inertias, those of points and of rods without thickness, up to the given rounding.
pub(super) fn is_limit(inertia: &Matrix3<f64>, rounding: f64) -> bool {
    let Some(moments) = principal(inertia).map(|eigen| eigen.eigenvalues) else { return false };
    let most = moments.max();
    moments.min() >= -(SLACK * most).max(rounding) && 2.0 * most <= moments.sum() + (SLACK * most).max(rounding)
}

/// True if an inertia violates the inequality so little that rounded numbers of a file explain it.
pub(super) fn is_rounded(inertia: &Matrix3<f64>) -> bool {
    let Some(moments) = principal(inertia).map(|eigen| eigen.eigenvalues) else { return false };
    let most = moments.max();
    moments.min() > 0.0 && most <= (moments.sum() - most) * (1.0 + ROUNDED)
}

/// Returns the inertia with negative and tiny second moments ½ tr I − Iₖ replaced by tiny ones; the principal axes
/// stay.
pub(super) fn repaired(inertia: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let eigen = principal(inertia)?;
    let second = eigen.eigenvalues.map(|moment| 0.5 * eigen.eigenvalues.sum() - moment);
    let most = second.max();
    if most <= 0.0 {
        return None;
    }
    let second = second.map(|s| s.max(LEAST * most));
    let moments = second.map(|s| second.sum() - s);
    Some(eigen.eigenvectors * Matrix3::from_diagonal(&moments) * eigen.eigenvectors.transpose())
}

fn principal(inertia: &Matrix3<f64>) -> Option<SymmetricEigen<f64, nalgebra::Const<3>>> {
    let finite = inertia.iter().all(|entry| entry.is_finite());
    finite.then(|| SymmetricEigen::try_new(*inertia, f64::EPSILON, 200)).flatten()
}
