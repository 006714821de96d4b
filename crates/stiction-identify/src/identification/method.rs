//! Methods of identification: a new one is added here.

use super::{Identification, MethodReport};
use crate::{
    IdentifyError, Method,
    filter::{Filter, FilterOptions},
};

impl Method {
    /// All methods that files may name.
    pub const ALL: [Self; 3] = [Self::Shooting, Self::Filter, Self::Mpec];

    /// True if this build has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Shooting | Self::Filter => true,
            Self::Mpec => cfg!(any(feature = "ipopt", feature = "ripopt")),
        }
    }
}

impl Identification {
    /// Runs one method. Files that name a method which is not available are refused when they are read.
    pub(super) fn run_method(&self, method: Method) -> Result<MethodReport, IdentifyError> {
        match method {
            Method::Shooting => MethodReport::of_fit(self, method, self.fit().run()?),
            Method::Filter => {
                let followed = self.recordings.iter().map(|recording| {
                    let options = FilterOptions { huber: self.options.huber, ..FilterOptions::default() };
                    Filter { target: &self.target, recording, options }.run()
                });
                MethodReport::of_filters(self, &followed.collect::<Result<Vec<_>, _>>()?)
            }
            #[cfg(any(feature = "ipopt", feature = "ripopt"))]
            Method::Mpec => self.run_program(),
            #[cfg(not(any(feature = "ipopt", feature = "ripopt")))]
            Method::Mpec => Err(IdentifyError::NotInBuild { method: method.word() }),
        }
    }

    #[cfg(any(feature = "ipopt", feature = "ripopt"))]
    fn run_program(&self) -> Result<MethodReport, IdentifyError> {
        use crate::mpec::{Member, MpecOptions, fit, program::Engine};

        let engine = if cfg!(feature = "ipopt") { Engine::Ipopt } else { Engine::Ripopt };
        let members: Vec<Member> =
            self.recordings.iter().map(|recording| Member::whole(&self.target, recording)).collect();
        let mut report = fit(&members, &MpecOptions::new(engine))?;
        // Its history is one number, the objective at the end; the iterations are those of the solver.
        report.fit.history.resize(report.iterations as usize + 1, f64::NAN);
        MethodReport::of_fit(self, Method::Mpec, report.fit)
    }
}
