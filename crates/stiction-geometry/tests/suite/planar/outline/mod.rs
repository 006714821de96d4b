//! Non-convex polygons: the rule of chains against even-odd counting, and the kernel against all checks of the convex
//! one.

mod cases;
mod formula;
mod hostile;
mod pairs;
mod random_polygon;
mod round;
mod stacks;
