//! Sites of a model.

use crate::{Model, Site, SiteId};

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
