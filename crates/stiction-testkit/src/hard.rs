//! Families of frictional problems on which Gauss-Seidel stalls, one problem per seed.

use crate::Random;
use crate::problems::{Motion, growing_masses, stack, tower, wall};
use crate::rocks::{Rocks, rock_pile};
use stiction_complementarity::FrictionProblem;

/// A coefficient of friction between 0.1 and 1.2 and random velocities between 1 mm/s and 1 m/s.
pub fn drawn(seed: u64) -> (f64, Motion) {
    let mut random = Random::new(seed);
    let (mu, speed) = (random.uniform(0.1, 1.2), libm::pow(10.0, random.uniform(-3.0, 0.0)));
    (mu, Motion::Kick { speed, seed })
}

/// A kicked stack of ten boxes, the top one `ratio` times as heavy as the bottom one.
pub fn kicked_stack(ratio: f64, seed: u64) -> FrictionProblem {
    let (mu, motion) = drawn(seed);
    stack(&growing_masses(10, ratio), mu).problem(motion)
}

/// A kicked tower of equal boxes, each contact `times` times.
///
/// W of a tower has rank 6 and 12 rows per box; with doubled contacts the rank is a quarter of the rows.
pub fn kicked_tower(boxes: usize, times: usize, seed: u64) -> FrictionProblem {
    let (mu, motion) = drawn(seed);
    tower(boxes, mu).repeated(times).problem(motion)
}

/// A kicked wall of bricks.
pub fn kicked_wall(courses: usize, width: usize, seed: u64) -> FrictionProblem {
    let (mu, motion) = drawn(seed);
    wall(courses, width, mu).problem(motion)
}

/// A kick of 0.05 m/s.
pub fn kick(seed: u64) -> Motion {
    Motion::Kick { speed: 0.05, seed }
}

/// 27 rocks without a bin: the pile collapses, and almost all contacts slide.
pub fn collapsing(seed: u64) -> FrictionProblem {
    rock_pile(&Rocks { side: 3, layers: 3, walled: false, seed, ..Rocks::default() }).problem(Motion::Rest)
}
