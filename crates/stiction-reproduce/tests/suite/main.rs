//! Every case runs to its end, no row fails, and what is committed about them is current.

mod cases;
mod report;
