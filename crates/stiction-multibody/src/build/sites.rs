//! Sites.

use stiction_geometry::Pose;

use super::ModelBuilder;
use crate::{BodyId, Element, ModelError, Site, SiteId, check::Check};

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
