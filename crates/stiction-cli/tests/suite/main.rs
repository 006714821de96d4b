//! The program as a user meets it: built, started, its output and files looked at.

mod errors;
mod interrupt;
mod program;
mod runs;
mod tools;
