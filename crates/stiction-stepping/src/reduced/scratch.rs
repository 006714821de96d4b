//! Memory of a step in reduced coordinates.

use stiction_multibody::{
    Twist, Wrench,
    articulated::{Kinematics, Scratch, Tree},
};

/// Configuration of the forest that the secondary kinematics hold; `Start` if they hold none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForestAt {
    Start,
    Linearisation,
    End,
}

impl ForestAt {
    /// Kinematics where the constraints are linearised: the secondary ones if they are at the linearisation, otherwise those at the
    /// start.
    pub(super) fn linear<'a>(self, at: &'a Kinematics, secondary: &'a Kinematics) -> &'a Kinematics {
        if self == Self::Linearisation { secondary } else { at }
    }
}

/// Secondary kinematics of the forest: at q ⊕ h v̂ during the step, at its end afterwards.
#[derive(Debug)]
pub(super) struct Secondary {
    pub(super) kinematics: Kinematics,
    pub(super) at: ForestAt,
    /// State at the end of the step, which the kinematics belong to: q and v of the forest, then of the bodies.
    pub(super) end: [Vec<f64>; 4],
}

/// Forces on the forest, except constraints.
#[derive(Debug)]
pub(crate) struct ForestForces {
    /// Joint-space forces.
    pub(crate) tau: Vec<f64>,
    /// Wrenches on the links.
    pub(crate) external: Vec<Wrench>,
    /// Acceleration v̇ of all of them.
    pub(super) acceleration: Vec<f64>,
}

/// Twists of the links where the constraints are linearised, for the velocity evaluated last.
#[derive(Debug)]
pub(super) struct LinkTwists {
    pub(super) of_links: Vec<Twist>,
    /// True if they are those of v_free.
    pub(super) are_free: bool,
}

/// Scratch memory for reactions.
#[derive(Debug)]
pub(crate) struct ReactionScratch {
    /// Mean forces on all links: applied forces and the impulses of the step.
    pub(crate) loads: Vec<Wrench>,
    pub(crate) acceleration: Vec<f64>,
    pub(crate) tau: Vec<f64>,
    pub(crate) sweeps: Scratch,
    pub(crate) impulses: Vec<f64>,
}

impl ReactionScratch {
    pub(crate) fn new(tree: &Tree) -> Self {
        let zeros = vec![0.0; tree.velocities()];
        Self {
            loads: Vec::new(),
            acceleration: zeros.clone(),
            tau: zeros,
            sweeps: Scratch::new(tree),
            impulses: Vec::new(),
        }
    }
}
