//! The plane: every pair against oracles, finite differences and degenerate poses.

mod degenerate;
mod gradient;
mod hostile;
mod manifold;
mod oracle;
mod outline;
mod shapes;
pub(crate) mod support;
