//! The planar pendulum family of C-02 to C-07.

use std::sync::Arc;

use nalgebra::Vector3;
use stiction::multibody::ExpressionMotion;
use stiction::{BodyBuilder, BodyId, Damper, Dimension, Expression, JointKind, Model, ModelBuilder, Spring, planar};
use stiction_testkit::Reference;

use crate::support::{constant, floor, friction};

/// The parameters of a member of the family, read from its reference file.
#[derive(Clone, Debug)]
pub struct Family {
    pub gravity: f64,
    /// Mass, length and angle of the upper rod.
    pub rod_a: (f64, f64, f64),
    /// The same of the lower one.
    pub rod_b: Option<(f64, f64, f64)>,
    /// Mass, width and height.
    pub block: Option<(f64, f64, f64)>,
    pub floor_friction: f64,
    /// Gap, speed and friction.
    pub pusher: Option<(f64, f64, f64)>,
    pub belt: f64,
    /// Particle mass, start below P, stiffness, rest length, damping.
    pub spring: Option<[f64; 5]>,
}

impl Family {
    pub fn read(case: &Reference, names: &[&str]) -> Self {
        let rod = |name: &str| {
            let number = |field: &str| case.number(&format!("parameters.{name}.{field}"));
            (number("mass"), number("length"), number("angle"))
        };
        let has = |name: &str| names.contains(&name);
        let number = |path: &str| case.number(&format!("parameters.{path}"));
        Self {
            gravity: number("gravity"),
            rod_a: rod("rod_a"),
            rod_b: has("rod_b").then(|| rod("rod_b")),
            block: has("block").then(|| (number("block.mass"), number("block.width"), number("block.height"))),
            floor_friction: if has("friction_floor") { number("friction_floor") } else { 0.0 },
            pusher: has("pusher").then(|| (number("pusher.gap"), number("pusher.speed"), number("friction_pusher"))),
            belt: if has("belt_speed") { number("belt_speed") } else { 0.0 },
            spring: has("spring").then(|| {
                [
                    number("particle.mass"),
                    number("particle.start_below_p"),
                    number("spring.stiffness"),
                    number("spring.rest_length"),
                    number("spring.damping"),
                ]
            }),
        }
    }

    pub fn model(&self) -> Model {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, -self.gravity, 0.0).unwrap();
        let pivot = Vector3::zeros();
        let mut base = BodyId::WORLD;
        if let Some((mass, width, height)) = self.block {
            // Heights count from the joint at the centre of the block, as in the reference values.
            let mut floor_body = BodyBuilder::fixed("floor").position(0.0, -height / 2.0, 0.0).shape(floor());
            if self.belt != 0.0 {
                floor_body = floor_body.conveyor(constant(self.belt, 0.0, 0.0));
            }
            let floor = builder.body(floor_body).unwrap();
            let inertia = mass * (width * width + height * height) / 12.0;
            let block = BodyBuilder::planar("block", mass, inertia)
                .shape(planar::Shape::rectangle([width / 2.0, height / 2.0]).unwrap().into());
            base = builder.body(block).unwrap();
            builder.contact(floor, base, friction(self.floor_friction)).unwrap();
            if let Some((gap, speed, mu)) = self.pusher {
                let x: Expression = format!("{} + {speed}*t", -width / 2.0 - gap).parse().unwrap();
                let motion = ExpressionMotion::planar(x, Expression::constant(0.0), Expression::constant(0.0));
                let pusher = BodyBuilder::kinematic("pusher", Arc::new(motion)).shape(planar::Shape::point().into());
                let pusher = builder.body(pusher).unwrap();
                builder.contact(pusher, base, friction(mu)).unwrap();
            }
        }
        let (a, end) = Self::rod(&mut builder, "a", self.rod_a, base, pivot);
        if let Some(rod_b) = self.rod_b {
            Self::rod(&mut builder, "b", rod_b, a, end);
        }
        if let Some([mass, below, stiffness, rest_length, damping]) = self.spring {
            let particle = BodyBuilder::particle("particle", mass).position(end.x, end.y - below, 0.0);
            let particle = builder.body(particle).unwrap();
            let tip = (a, Vector3::new(self.rod_a.1 / 2.0, 0.0, 0.0));
            let ends = (tip, (particle, Vector3::zeros()));
            builder.spring(Spring { a: ends.0, b: ends.1, stiffness, rest_length, damping: 0.0 }).unwrap();
            builder.damper(Damper { a: ends.0, b: ends.1, damping }).unwrap();
        }
        builder.build().unwrap()
    }

    /// A slender rod pinned to `base` at `pivot`; returns it and its free end.
    fn rod(
        builder: &mut ModelBuilder,
        name: &str,
        (mass, length, angle): (f64, f64, f64),
        base: BodyId,
        pivot: Vector3<f64>,
    ) -> (BodyId, Vector3<f64>) {
        let along = Vector3::new(angle.cos(), angle.sin(), 0.0);
        let centre = pivot + along * (length / 2.0);
        let rod = BodyBuilder::planar(name, mass, mass * length * length / 12.0)
            .position(centre.x, centre.y, 0.0)
            .angle(angle);
        let rod = builder.body(rod).unwrap();
        builder.joint_at(format!("pin {name}"), JointKind::Revolute, (base, rod), pivot, Vector3::x()).unwrap();
        (rod, pivot + along * length)
    }
}
