//! The constraint or body that a row of a problem belongs to.

use stiction_multibody::{BodyId, JointId, Model};

use crate::rates::RowOwner;

/// Constraint or body of the model that a row of the problem of a step belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Culprit {
    /// Momentum of a body.
    Body(BodyId),
    /// Contact between two bodies.
    Contact(BodyId, BodyId),
    /// Joint, by its index.
    Joint(usize),
    /// Coupling of this joint to another.
    Coupling(JointId),
    /// Other joint-space constraint of a joint, or spring or damper between bodies.
    JointSpace(RowOwner),
    /// Support point of a body, by its index.
    SupportPoint(BodyId, usize),
}

impl Culprit {
    /// Name for people.
    pub fn name(&self, model: &Model) -> String {
        let body = |id: BodyId| model.body(id).map_or("?", |body| body.name.as_str());
        let between = |kind: &str, ends: Option<(BodyId, BodyId)>| {
            let (a, b) = ends.map_or(("?", "?"), |(a, b)| (body(a), body(b)));
            format!("the {kind} between \"{a}\" and \"{b}\"")
        };
        let joint = |id: JointId| model.joint(id).map_or("?", |joint| joint.name.as_str());
        match *self {
            Self::Body(id) => format!("body \"{}\"", body(id)),
            Self::Contact(a, b) => between("contact", Some((a, b))),
            Self::Joint(index) => {
                format!("joint \"{}\"", model.joints().get(index).map_or("?", |joint| joint.name.as_str()))
            }
            Self::Coupling(follower) => {
                let coupling = model.couplings().iter().find(|coupling| coupling.follower.0 == follower);
                match coupling.and_then(|coupling| coupling.leader) {
                    Some(leader) => {
                        format!("the coupling of joint \"{}\" to \"{}\"", joint(follower), joint(leader.0))
                    }
                    None => Self::JointSpace(RowOwner::Joint(follower)).name(model),
                }
            }
            Self::JointSpace(RowOwner::Spring(index)) => {
                between("spring", model.springs().get(index).map(|spring| (spring.a.0, spring.b.0)))
            }
            Self::JointSpace(RowOwner::Damper(index)) => {
                between("damper", model.dampers().get(index).map(|damper| (damper.a.0, damper.b.0)))
            }
            Self::JointSpace(RowOwner::Joint(id)) => {
                format!("the joint-space constraint of joint \"{}\"", joint(id))
            }
            Self::SupportPoint(id, index) => format!("support point {index} of body \"{}\"", body(id)),
        }
    }
}
