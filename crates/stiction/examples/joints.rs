//! Computed-torque control of a two-link arm: the inverse dynamics of the joint coordinates make its tip draw a line.
//!
//! Run with `cargo run --release --example joints`.

use std::error::Error;

use nalgebra::{Matrix2, Vector2, Vector3};
use stiction::{
    BodyBuilder, BodyId, Coordinates, Dimension, Expression, JointKind, ModelBuilder, Motor, Pose, Preset, Simulation,
};

fn arm() -> Result<Simulation, Box<dyn Error>> {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0)?;
    let upper = builder.body(BodyBuilder::planar("upper", 2.0, 0.2).position(0.0, -0.5, 0.0))?;
    let lower = builder.body(BodyBuilder::planar("lower", 1.5, 0.1).position(0.0, -1.5, 0.0))?;
    let (kind, z) = (JointKind::Revolute, Vector3::z());
    let shoulder = builder.joint_at("shoulder", kind, (BodyId::WORLD, upper), Vector3::zeros(), z)?;
    let elbow = builder.joint_at("elbow", kind, (upper, lower), Vector3::new(0.0, -1.0, 0.0), z)?;
    for (name, joint) in [("m1", shoulder), ("m2", elbow)] {
        builder.motor(Motor::torque(name, (joint, 0), Expression::constant(0.0)))?;
    }
    builder.site("tip", lower, Pose::translation(0.0, -0.5, 0.0))?;
    let mut scheme = Preset::Ncp.scheme();
    scheme.coordinates = Coordinates::Reduced;
    Ok(Simulation::new(builder.build()?, scheme, 0.001)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut simulation = arm()?;
    let tip = simulation.model().find_site("tip").ok_or("no tip")?;
    let joints = ["shoulder", "elbow"].map(|name| simulation.model().find_joint(name));
    let [Some(shoulder), Some(elbow)] = joints else { return Err("no joints".into()) };
    simulation.set_joint_coordinates(Some(&[0.4, 1.2]), Some(&[0.0, 0.0]))?;

    let start = simulation.site_pose(tip).ok_or("no tip")?.translation.vector.xy();
    let goal = start + Vector2::new(0.1, 0.3);
    while simulation.time() < 1.0 {
        // A smooth way from start to goal in one second, and the acceleration of the tip that follows it.
        let t = simulation.time();
        let (s, ds, dds) = (t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t), 6.0 - 12.0 * t);
        let (pose, twist) = (simulation.site_pose(tip), simulation.site_twist(tip));
        let (place, velocity) =
            pose.zip(twist).map(|(p, v)| (p.translation.vector.xy(), v.linear.xy())).ok_or("no tip")?;
        let way = goal - start;
        let wanted = way * dds + (way * ds - velocity) * 40.0 + (start + way * s - place) * 400.0;
        let jacobian: Matrix2<f64> = simulation.site_jacobian(tip).ok_or("no tip")?.fixed_view::<2, 2>(0, 0).into();
        let acceleration = jacobian.try_inverse().ok_or("a stretched arm cannot move its tip outwards")? * wanted;
        let torque = simulation.inverse_dynamics(acceleration.as_slice())?;
        simulation.set_joint_effort(shoulder, &torque[..1])?;
        simulation.set_joint_effort(elbow, &torque[1..])?;
        let _ = simulation.step()?;
    }
    let end = simulation.site_pose(tip).ok_or("no tip")?.translation.vector.xy();
    println!("the tip is {:.2e} m from its goal", (end - goal).norm());
    assert!((end - goal).norm() < 5e-3);
    Ok(())
}
