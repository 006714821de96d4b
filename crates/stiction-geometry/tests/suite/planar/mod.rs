//! Planar contacts: every pair against reference solutions, finite differences and degenerate poses.

mod degenerate;
mod gradient;
mod hostile;
mod manifold;
mod oracle;
mod outline;
mod shapes;
pub(crate) mod support;
