//! Frictional problems as files.
