//! Joint rows against differences of Φ, and their number and rank against the degrees of freedom of mechanics.

use std::sync::Arc;

use nalgebra::{DMatrix, UnitQuaternion, Vector3};
use stiction_multibody::{
    BodyBuilder, BodyId, Dimension, Expression, ExpressionMotion, Joint, JointKind, Model, ModelBuilder, Pose,
    joint::Row, rotation,
};
use stiction_testkit::Random;

use crate::support::{
    close, configuration, direction, inertia, moved, orientation, planar_vector, slope, unit, vector, velocities, wxyz,
};

/// Every joint kind of a dimension with the degrees of freedom between its two bodies.
fn kinds(dimension: Dimension) -> impl Iterator<Item = (JointKind, usize)> {
    JointKind::all(dimension).map(move |kind| (kind, kind.joint_dof(dimension).unwrap()))
}

/// A body at a random pose.
pub(crate) fn body(random: &mut Random, dimension: Dimension, name: &str) -> BodyBuilder {
    match dimension {
        Dimension::Planar => {
            let p = planar_vector(random, 1.0);
            BodyBuilder::planar(name, 1.5, 0.3).position(p.x, p.y, 0.0).angle(random.uniform(-3.0, 3.0))
        }
        Dimension::Spatial => {
            let p = vector(random, 1.0);
            let e = wxyz(&orientation(random));
            BodyBuilder::rigid(name, 1.5, inertia(random)).position(p.x, p.y, p.z).quaternion(e)
        }
    }
}

/// A kinematic body that translates and rotates.
fn driven(random: &mut Random, dimension: Dimension) -> BodyBuilder {
    let text = |s: &str| Expression::parse(s).unwrap();
    let [x, y] = [text("0.3*sin(2*t) + 0.1"), text("0.5*t - 0.2*t^2")];
    let angle = text("1.3*t + 0.4*cos(3*t)");
    let motion = match dimension {
        Dimension::Planar => ExpressionMotion::planar(x, y, angle),
        Dimension::Spatial => ExpressionMotion {
            position: [x, y, text("exp(-t)")],
            axis: direction(random),
            angle,
            base: orientation(random),
        },
    };
    BodyBuilder::kinematic("driver", Arc::new(motion))
}

/// Joins two bodies so that Φ = 0 at the initial configuration.
fn join(
    random: &mut Random,
    builder: &mut ModelBuilder,
    dimension: Dimension,
    kind: JointKind,
    bodies: (BodyId, BodyId),
) {
    let planar = dimension == Dimension::Planar;
    if let JointKind::Distance(_) = kind {
        let mut frame = || {
            let p = if planar { planar_vector(random, 0.5) } else { vector(random, 0.5) };
            Pose::translation(p.x, p.y, p.z)
        };
        let (a, b) = (frame(), frame());
        builder.joint(kind.name(), kind, (bodies.0, a), (bodies.1, b)).unwrap();
        return;
    }
    let anchor = if planar { planar_vector(random, 1.0) } else { vector(random, 1.0) };
    let axis = if planar { planar_vector(random, 1.0) } else { direction(random) };
    builder.joint_at(kind.name(), kind, bodies, anchor, axis).unwrap();
}

/// Kinds of the first body of a joint.
#[derive(Clone, Copy, Debug)]
enum Partner {
    World,
    Obstacle,
    Driver,
    Body,
}

fn jointed(random: &mut Random, dimension: Dimension, kind: JointKind, partner: Partner) -> Model {
    let mut builder = ModelBuilder::new(dimension);
    let a = match partner {
        Partner::World => BodyId::WORLD,
        Partner::Obstacle => builder.body(BodyBuilder::fixed("obstacle").position(0.4, -0.3, 0.0)).unwrap(),
        Partner::Driver => builder.body(driven(random, dimension)).unwrap(),
        Partner::Body => builder.body(body(random, dimension, "a")).unwrap(),
    };
    let b = builder.body(body(random, dimension, "b")).unwrap();
    join(random, &mut builder, dimension, kind, (a, b));
    builder.build().unwrap()
}

fn cases(mut test: impl FnMut(&mut Random, Dimension, JointKind, usize, Partner)) {
    let mut random = Random::new(41);
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        for (kind, joint_dof) in kinds(dimension) {
            for partner in [Partner::World, Partner::Obstacle, Partner::Driver, Partner::Body] {
                for _ in 0..5 {
                    test(&mut random, dimension, kind, joint_dof, partner);
                }
            }
        }
    }
}

fn values(model: &Model, q: &[f64], t: f64) -> Vec<f64> {
    let at = configuration(model, q, &vec![0.0; model.dof()], t);
    model.joints()[0].evaluate(&at).map(|row| row.value).collect()
}

/// Entries of a row in the velocities of the model.
fn entries(model: &Model, joint: &Joint, row: &Row) -> Vec<f64> {
    let mut entries = vec![0.0; model.dof()];
    for (id, wrench) in [(joint.a.0, &row.a), (joint.b.0, &row.b)] {
        let Some((mobility, range)) = model.unknowns(id) else { continue };
        range.zip(mobility.project(wrench)).for_each(|(place, value)| entries[place] += value);
    }
    entries
}

/// JNT-1: W_bᵀ is ∂Φ/∂q along every velocity, on and off the constraint.
#[test]
fn rows_are_the_derivative_of_the_constraint() {
    cases(|random, dimension, kind, _, partner| {
        let model = jointed(random, dimension, kind, partner);
        let start = model.initial_state().q;
        let off = velocities(random, &model, 0.4);
        for q in [start.clone(), moved(&model, &start, &off, 1.0)] {
            let t = 0.3;
            let at = configuration(&model, &q, &vec![0.0; model.dof()], t);
            let joint = &model.joints()[0];
            for (number, row) in joint.evaluate(&at).enumerate() {
                let entries = entries(&model, joint, &row);
                for (k, entry) in entries.iter().enumerate() {
                    let expected = slope(&model, &q, &unit(&model, k), |q| values(&model, q, t)[number]);
                    assert!((entry - expected).abs() < 1e-8, "{kind:?} row {number}, {k}: {entry} is not {expected}");
                }
            }
        }
    });
}

/// JNT-4: for a joint to a prescribed body the power of the row on its twist is ∂Φ/∂t.
#[test]
fn rows_give_the_time_derivative_of_a_rheonomic_joint() {
    cases(|random, dimension, kind, _, partner| {
        if !matches!(partner, Partner::Driver) {
            return;
        }
        let model = jointed(random, dimension, kind, partner);
        let q = moved(&model, &model.initial_state().q, &velocities(random, &model, 0.4), 1.0);
        let (t, step) = (random.uniform(0.1, 2.0), 1e-5);
        let at = configuration(&model, &q, &vec![0.0; model.dof()], t);
        let joint = &model.joints()[0];
        let (before, after) = (values(&model, &q, t - step), values(&model, &q, t + step));
        for (number, row) in joint.evaluate(&at).enumerate() {
            let expected = (after[number] - before[number]) / (2.0 * step);
            let rate = row.a.power(&at.twist(joint.a.0));
            assert!((rate - expected).abs() < 1e-8, "{kind:?} row {number}: {rate} is not {expected}");
        }
    });
}

/// JNT-3: the number of rows is that of mechanics, and the rows are independent.
#[test]
fn rows_are_independent_and_leave_the_right_freedom() {
    cases(|random, dimension, kind, joint_dof, partner| {
        let model = jointed(random, dimension, kind, partner);
        let all = if dimension == Dimension::Planar { 3 } else { 6 };
        assert_eq!(kind.joint_dof(dimension), Some(joint_dof));
        assert_eq!(model.joint_rows(), all - joint_dof);
        assert_eq!(model.joints()[0].rows(), all - joint_dof);
        let q = model.initial_state().q;
        if !matches!(kind, JointKind::Distance(_)) {
            for value in values(&model, &q, 0.0) {
                close(value, 0.0, 1e-14);
            }
        }
        let at = configuration(&model, &q, &vec![0.0; model.dof()], 0.0);
        let joint = &model.joints()[0];
        let rows: Vec<f64> = joint.evaluate(&at).flat_map(|row| entries(&model, joint, &row)).collect();
        let jacobian = DMatrix::from_row_slice(joint.rows(), model.dof(), &rows);
        assert_eq!(jacobian.rank(1e-6), all - joint_dof, "{kind:?} {partner:?}");
    });
}

/// JNT-3: the degrees of freedom of mechanics.
#[test]
fn degrees_of_freedom_of_the_usual_kinds() {
    use JointKind::{Cylindrical, Distance, Planar, Prismatic, Revolute, Spherical, Universal, Weld};
    for (kind, plane, space) in [
        (Revolute, Some(1), 1),
        (Prismatic, Some(1), 1),
        (Weld, Some(0), 0),
        (Distance(0.7), Some(2), 5),
        (Spherical, None, 3),
        (Universal, None, 2),
        (Cylindrical, None, 2),
        (Planar, None, 3),
    ] {
        assert_eq!((kind.joint_dof(Dimension::Planar), kind.joint_dof(Dimension::Spatial)), (plane, Some(space)));
    }
}

/// Every kind has coordinates for all of its DOFs, except for the ball with one angle and the distance without coordinates.
#[test]
fn rows_and_coordinates_are_complete() {
    for (dimension, all) in [(Dimension::Planar, 3), (Dimension::Spatial, 6)] {
        for kind in JointKind::all(dimension) {
            let dofs = match kind {
                JointKind::Spherical => 3,
                JointKind::Distance(_) => all - 1,
                _ => kind.dof_is_length(dimension).count(),
            };
            assert_eq!(kind.constraints(dimension).unwrap().len() + dofs, all, "{kind:?}");
        }
    }
}

#[test]
fn names_are_unique() {
    for kind in JointKind::ALL {
        assert_eq!(JointKind::named(kind.name()), Some(*kind));
        assert!(kind.joint_dof(Dimension::Planar).or(kind.joint_dof(Dimension::Spatial)).is_some(), "{kind:?}");
    }
    assert_eq!(JointKind::named("hinge"), None);
}

#[test]
fn joints_of_space_do_not_exist_in_the_plane() {
    for kind in [JointKind::Spherical, JointKind::Universal, JointKind::Cylindrical, JointKind::Planar] {
        assert_eq!(kind.joint_dof(Dimension::Planar), None);
    }
}

/// A particle is joined by points: its row is the derivative of Φ too.
#[test]
fn particles_join_at_their_centre() {
    let mut random = Random::new(42);
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        let point_joint = if dimension == Dimension::Planar { JointKind::Revolute } else { JointKind::Spherical };
        for kind in [point_joint, JointKind::Distance(0.4)] {
            let mut builder = ModelBuilder::new(dimension);
            let a = builder.body(body(&mut random, dimension, "a")).unwrap();
            let particle = builder.body(BodyBuilder::particle("p", 0.2).position(0.3, 0.1, 0.0)).unwrap();
            builder.joint("j", kind, (a, Pose::translation(0.2, -0.4, 0.0)), (particle, Pose::identity())).unwrap();
            let model = builder.build().unwrap();
            let q = model.initial_state().q;
            let at = configuration(&model, &q, &vec![0.0; model.dof()], 0.0);
            for (number, row) in model.joints()[0].evaluate(&at).enumerate() {
                for (k, entry) in entries(&model, &model.joints()[0], &row).into_iter().enumerate() {
                    close(entry, slope(&model, &q, &unit(&model, k), |q| values(&model, q, 0.0)[number]), 1e-8);
                }
            }
        }
    }
}

/// JNT-5: three impulses of a ball joint are a force at its anchor, after the rows of another joint.
#[test]
fn joint_wrench_is_the_force_at_the_anchor() {
    let mut random = Random::new(43);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let a = builder.body(body(&mut random, Dimension::Spatial, "a")).unwrap();
    let b = builder.body(body(&mut random, Dimension::Spatial, "b")).unwrap();
    let (anchor, h) = (vector(&mut random, 1.0), 0.01);
    builder.joint_at("weld", JointKind::Weld, (BodyId::WORLD, a), Vector3::zeros(), Vector3::x()).unwrap();
    let ball = builder.joint_at("ball", JointKind::Spherical, (a, b), anchor, Vector3::x()).unwrap();
    let model = builder.build().unwrap();
    let state = model.initial_state();
    let at = configuration(&model, &state.q, &state.v, 0.0);
    let joint = model.joint(ball).unwrap();
    assert_eq!(joint.first_row(), 6);
    assert!((joint.anchor(&at) - anchor).norm() < 1e-14);
    let impulses: Vec<f64> = (0..9).map(|_| random.uniform(-1.0, 1.0)).collect();
    let wrench = joint.wrench(&at, &impulses, h);
    let force = Vector3::new(impulses[6], impulses[7], impulses[8]) / h;
    let arm = anchor - at.pose(b).translation.vector;
    assert!((wrench.linear - force).norm() < 1e-12);
    assert!((wrench.angular - arm.cross(&force)).norm() < 1e-11);
}

/// The plane is the plane z = 0 of space: a planar revolute is a spatial one about z.
#[test]
fn planar_revolute_is_the_spatial_one_about_z() {
    let (anchor, angle) = (Vector3::new(0.3, -0.2, 0.0), 0.7);
    let mut flat = ModelBuilder::new(Dimension::Planar);
    let rod = flat.body(BodyBuilder::planar("rod", 1.0, 0.1).position(1.0, 0.5, 0.0).angle(angle)).unwrap();
    flat.joint_at("pin", JointKind::Revolute, (BodyId::WORLD, rod), anchor, Vector3::z()).unwrap();
    let flat = flat.build().unwrap();
    let mut full = ModelBuilder::new(Dimension::Spatial);
    let e: UnitQuaternion<f64> = rotation::from_rotation_vector(&Vector3::new(0.0, 0.0, angle));
    let block = BodyBuilder::rigid("rod", 1.0, nalgebra::Matrix3::identity()).position(1.0, 0.5, 0.0);
    let rod = full.body(block.quaternion(wxyz(&e))).unwrap();
    full.joint_at("pin", JointKind::Revolute, (BodyId::WORLD, rod), anchor, Vector3::z()).unwrap();
    let full = full.build().unwrap();
    let rows = |model: &Model| -> Vec<Vec<f64>> {
        let state = model.initial_state();
        let at = configuration(model, &state.q, &state.v, 0.0);
        model.joints()[0].evaluate(&at).map(|row| entries(model, &model.joints()[0], &row)).collect()
    };
    for (flat, full) in rows(&flat).iter().zip(rows(&full)).take(2) {
        for (x, y) in flat.iter().zip([full[0], full[1], full[5]]) {
            close(*x, y, 1e-15);
        }
    }
}
