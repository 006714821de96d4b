//! The planar pendulum family of C-02 to C-07: rods on a pivot or on a block, over a floor, a belt, a pusher.

mod motion;

use std::sync::Arc;

use nalgebra::Vector3;
use stiction::multibody::ExpressionMotion;
use stiction::{BodyBuilder, BodyId, Damper, Dimension, Expression, JointKind, Model, ModelBuilder, Spring, planar};

use crate::world::{friction, ground};
use crate::{CaseError, Reference};

pub(crate) use motion::{largest_problem, motion_rows, with_marks};

/// A slender rod.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rod {
    pub(crate) mass: f64,
    pub(crate) length: f64,
    pub(crate) angle: f64,
}

/// A block on two corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) mass: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// A particle that moves towards the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pusher {
    pub(crate) gap: f64,
    pub(crate) speed: f64,
    pub(crate) friction: f64,
}

/// A particle on a spring and a damper at the end of the upper rod.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bob {
    pub(crate) mass: f64,
    pub(crate) below: f64,
    pub(crate) stiffness: f64,
    pub(crate) rest_length: f64,
    pub(crate) damping: f64,
}

/// A member of the family.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) gravity: f64,
    pub(crate) upper: Rod,
    pub(crate) lower: Option<Rod>,
    pub(crate) block: Option<Block>,
    pub(crate) floor_friction: f64,
    pub(crate) pusher: Option<Pusher>,
    pub(crate) belt: f64,
    pub(crate) bob: Option<Bob>,
}

impl Family {
    /// The pendulum of two rods of the file; the case adds everything else.
    pub(crate) fn read(case: &Reference) -> Result<Self, CaseError> {
        let number = |path: &str| case.parameter(path);
        let rod = |name: &str| -> Result<Rod, CaseError> {
            let field = |field: &str| number(&format!("{name}.{field}"));
            Ok(Rod { mass: field("mass")?, length: field("length")?, angle: field("angle")? })
        };
        Ok(Self {
            gravity: number("gravity")?,
            upper: rod("rod_a")?,
            lower: rod("rod_b").ok(),
            block: None,
            floor_friction: 0.0,
            pusher: None,
            belt: 0.0,
            bob: None,
        })
    }

    /// Adds the block of the file.
    pub(crate) fn on_block(mut self, case: &Reference) -> Result<Self, CaseError> {
        let field = |field: &str| case.parameter(&format!("block.{field}"));
        self.block = Some(Block { mass: field("mass")?, width: field("width")?, height: field("height")? });
        Ok(self)
    }

    /// Sets the friction of the floor.
    pub(crate) fn with_friction(mut self, mu: f64) -> Self {
        self.floor_friction = mu;
        self
    }

    /// The model. Heights count from the joint at the centre of the block, as in the reference values.
    pub(crate) fn model(&self) -> Result<Model, CaseError> {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, -self.gravity, 0.0)?;
        let base = match self.block {
            Some(block) => self.add_block(&mut builder, block)?,
            None => BodyId::WORLD,
        };
        let (upper, end) = add_rod(&mut builder, "a", self.upper, base, Vector3::zeros())?;
        if let Some(lower) = self.lower {
            add_rod(&mut builder, "b", lower, upper, end)?;
        }
        if let Some(bob) = self.bob {
            let particle = BodyBuilder::particle("particle", bob.mass).position(end.x, end.y - bob.below, 0.0);
            let b = (builder.body(particle)?, Vector3::zeros());
            let a = (upper, Vector3::new(self.upper.length / 2.0, 0.0, 0.0));
            let Bob { stiffness, rest_length, damping, .. } = bob;
            builder.spring(Spring { a, b, stiffness, rest_length, damping: 0.0 })?;
            builder.damper(Damper { a, b, damping })?;
        }
        Ok(builder.build()?)
    }

    fn add_block(&self, builder: &mut ModelBuilder, block: Block) -> Result<BodyId, CaseError> {
        let Block { mass, width, height } = block;
        let mut floor = BodyBuilder::fixed("floor").position(0.0, -height / 2.0, 0.0).shape(ground(Dimension::Planar)?);
        if self.belt != 0.0 {
            floor = floor.conveyor([self.belt, 0.0, 0.0].map(Expression::constant));
        }
        let floor = builder.body(floor)?;
        let inertia = mass * (width * width + height * height) / 12.0;
        let shape = planar::Shape::rectangle([width / 2.0, height / 2.0])?;
        let base = builder.body(BodyBuilder::planar("block", mass, inertia).shape(shape.into()))?;
        builder.contact(floor, base, friction(self.floor_friction))?;
        if let Some(Pusher { gap, speed, friction: mu }) = self.pusher {
            let x: Expression = format!("{} + {speed}*t", -width / 2.0 - gap).parse()?;
            let motion = ExpressionMotion::planar(x, Expression::constant(0.0), Expression::constant(0.0));
            let pusher = BodyBuilder::kinematic("pusher", Arc::new(motion)).shape(planar::Shape::point().into());
            let pusher = builder.body(pusher)?;
            builder.contact(pusher, base, friction(mu))?;
        }
        Ok(base)
    }
}

/// A slender rod pinned to `base` at `pivot`; returns it and its free end.
fn add_rod(
    builder: &mut ModelBuilder,
    name: &str,
    Rod { mass, length, angle }: Rod,
    base: BodyId,
    pivot: Vector3<f64>,
) -> Result<(BodyId, Vector3<f64>), CaseError> {
    let along = Vector3::new(libm::cos(angle), libm::sin(angle), 0.0);
    let centre = pivot + along * (length / 2.0);
    let rod =
        BodyBuilder::planar(name, mass, mass * length * length / 12.0).position(centre.x, centre.y, 0.0).angle(angle);
    let rod = builder.body(rod)?;
    builder.joint_at(format!("pin {name}"), JointKind::Revolute, (base, rod), pivot, Vector3::x())?;
    Ok((rod, pivot + along * length))
}
