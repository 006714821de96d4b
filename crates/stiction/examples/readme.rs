//! The Rust lines of the README: a box slides on a floor and comes to rest.

use nalgebra::Vector2;
use stiction::{BodyBuilder, ContactRule, Dimension, ModelBuilder, Preset, Simulation, planar};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0)?;
    builder.body(BodyBuilder::fixed("floor").shape(planar::Shape::half_plane(Vector2::y())?.into()))?;
    let shape = planar::Shape::rectangle([0.5, 0.25])?.into();
    let body = BodyBuilder::planar("box", 1.0, 0.1).position(0.0, 0.25, 0.0).velocity(1.0, 0.0, 0.0);
    builder.body(body.shape(shape))?;
    builder.default_contact(ContactRule { friction: 0.5, ..ContactRule::default() })?;
    let mut simulation = Simulation::new(builder.build()?, Preset::Ncp.scheme(), 0.001)?;
    while simulation.time() < 0.5 {
        let report = simulation.step()?;
        assert!(report.residual.value < 1e-9);
    }
    // The box slides v²/(2 μ g) less v h/2 and stands.
    assert!((simulation.state().q[0] - (1.0 / (2.0 * 0.5 * 9.81) - 0.0005)).abs() < 1e-5);
    assert!(simulation.state().v[0].abs() < 1e-15);
    Ok(())
}
