//! Every case runs to its end and no row fails.

mod cases;
