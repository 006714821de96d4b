//! Polygons with notches: the rule of chains against even-odd counting, and the kernel against everything the convex one has
//! to stand.

mod cases;
mod formula;
mod hostile;
mod pairs;
mod random_polygon;
mod round;
mod stacks;
