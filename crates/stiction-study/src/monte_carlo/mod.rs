//! Monte Carlo studies: any values of a scene as parameters, a predicate of success and metrics as expressions over the run.
//!
//! ```text
//! file, variants, metrics   the tables of a study file             parameter, distribution   where values come from
//! study                     cells, variants, how a trial is made   design, sobol             how trials are spread
//! run                       trials on all cores, in order          journal, table            what is on the disk, and how it is continued
//! tally                     counts; they do not grow               report                    what they say
//! problems                  what was not solved                    remote                    trials made on other machines
//! ```

mod design;
mod distribution;
mod error;
mod file;
mod journal;
mod metrics;
mod parameter;
mod problems;
mod remote;
mod report;
mod run;
mod sobol;
mod study;
mod table;
mod tally;
mod variants;

pub use design::Design;
pub use distribution::{chi_square_beyond, normal_cdf, normal_quantile};
pub use error::StudyError;
pub use parameter::{Draw, Ends, Parameter, STRATA, Value};
pub use problems::{KeptProblem, MOST_PROBLEMS};
pub use remote::{Collector, Packet, Parcel};
pub use report::{
    Comparison, GridAxis, GroupReport, Influence, Marginal, MetricReport, Report, Stratum, Symmetry, VariantReport,
};
pub use run::{Ending, Order, SweepOptions};
pub use study::{Budget, MonteCarlo, Place, Row, Trial, Variant};
pub use tally::FailureCount;

pub use crate::file::unpack_monte_carlo as unpack;

pub(crate) use file::{MakeError, MonteCarloTables, ParameterTable, Scalar, build, check_design, misread, parameter};
pub(crate) use variants::{VariantTable, text_of};
