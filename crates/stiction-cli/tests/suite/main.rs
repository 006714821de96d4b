//! The program from the command line: output and files.

// Tests start the program, write files and wait; what goes wrong in them should panic.
#![allow(clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

mod compare;
mod design;
mod errors;
mod export;
mod extremes;
mod faults;
mod identify;
mod interrupt;
mod plot;
mod program;
mod reproduce;
mod robots;
mod runs;
mod sweep;
mod sweep_kill;
mod sweep_pages;
mod tools;
mod verification;
mod view;
