//! Handles of the parts of a model.

use serde::{Deserialize, Serialize};

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Position in the model's list.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            #[inline]
            pub(crate) fn from_index(index: usize) -> Self {
                debug_assert!(u32::try_from(index).is_ok(), "a handle holds 32 bits, but the index is {index}");
                Self(index as u32)
            }
        }
    };
}

handle!(
    /// A body of a model. [`BodyId::WORLD`] is the inertial frame of every model.
    BodyId
);
handle!(
    /// A link of a tree in reduced coordinates.
    LinkId
);
handle!(
    /// A joint of a model.
    JointId
);
handle!(
    /// A collision shape of a model. The shapes of all bodies share one numbering.
    ShapeId
);
handle!(
    /// A site of a model: a named frame on a body.
    SiteId
);

impl BodyId {
    /// The inertial frame: a fixed body named `world` that every model has.
    pub const WORLD: Self = Self(0);
}
