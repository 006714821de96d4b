//! Unit tests of the stages of a step; those of private functions are beside them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by panicking")]

pub(crate) mod support;

mod advance;
mod constraints;
mod contact_rows;
mod detection;
mod detectors;
mod energy;
mod impacts;
mod joint_space;
mod kinematics;
mod ladder;
mod layers;
mod measures;
mod order;
mod quasistatic;
mod rates;
mod reduced;
mod rows;
mod scheme;
mod springs;
mod stabilise;
mod step;
mod substeps;
mod support_points;
mod tangents;
