//! Sites: named frames on bodies.

use stiction_geometry::Pose;

use crate::{BodyId, Configuration, Element, Model, ModelBuilder, ModelError, SiteId, Twist, check::Check};

/// A named frame on a body. It has no mass and no shape, and changes no motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Unique name.
    pub name: String,
    /// Body that carries it; the world for a fixed frame.
    pub body: BodyId,
    /// Pose in the frame of the body.
    pub pose: Pose,
}

impl Site {
    /// Pose in the world.
    pub fn world_pose(&self, at: &Configuration) -> Pose {
        at.pose(self.body) * self.pose
    }

    /// Velocity of its origin and angular velocity, world axes.
    pub fn twist(&self, at: &Configuration) -> Twist {
        let Twist { linear, angular } = at.twist(self.body);
        let arm = at.pose(self.body).rotation * self.pose.translation.vector;
        Twist { linear: linear + angular.cross(&arm), angular }
    }
}

impl Model {
    /// All sites.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The site with this id, unless it belongs to another model.
    pub fn site(&self, id: SiteId) -> Option<&Site> {
        self.sites.get(id.index())
    }

    /// The site called `name`.
    pub fn find_site(&self, name: &str) -> Option<SiteId> {
        self.sites.iter().position(|site| site.name == name).map(SiteId::from_index)
    }
}

impl ModelBuilder {
    /// Adds a site at a pose in the frame of a body.
    pub fn site(&mut self, name: impl Into<String>, body: BodyId, pose: Pose) -> Result<SiteId, ModelError> {
        let name = name.into();
        let check = Check::new(Element::Site(name.clone()));
        if name.is_empty() || self.model.find_site(&name).is_some() {
            return Err(check.error("name", "must be unique and not empty"));
        }
        self.known_body(&check, body)?;
        check.frame(("position", "orientation"), &pose, self.model.dimension)?;
        self.model.sites.push(Site { name, body, pose });
        Ok(SiteId::from_index(self.model.sites.len() - 1))
    }
}
