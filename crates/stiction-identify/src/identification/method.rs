//! The methods: here a new one is plugged in.

use super::{Identification, MethodReport};
use crate::{IdentifyError, Method};

impl Method {
    /// All methods that files may name.
    pub const ALL: [Self; 3] = [Self::Shooting, Self::Filter, Self::Mpec];

    /// Whether this build has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Shooting => true,
            Self::Filter | Self::Mpec => false,
        }
    }
}

impl Identification {
    /// What one method finds. Files that name a method which is not available are refused when they are read.
    pub(super) fn run_method(&self, method: Method) -> Result<MethodReport, IdentifyError> {
        match method {
            Method::Shooting => {
                let fit = self.fit().run()?;
                MethodReport::of_fit(self, method, fit)
            }
            Method::Filter | Method::Mpec => Err(IdentifyError::NotInBuild { method: method.word() }),
        }
    }
}
