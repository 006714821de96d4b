//! Piles of rocks: irregular bodies in contact at one to three points per pair, under gravity.
//!
//! Force chains branch and join, contacts of one pair are redundant, and masses differ by orders of magnitude. Gauss-Seidel
//! iterations transfer such a load by one rock at a time and stall.

use crate::Random;
use crate::problems::{Brick, Pile, Touch, Vec3};
use libm::pow;
use stiction_complementarity::Law;

/// Parameters of a pile of rocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rocks {
    /// Rocks along each side of a square layer.
    pub side: usize,
    /// Layers.
    pub layers: usize,
    /// Decades over which the masses are spread, evenly in the logarithm.
    pub decades: f64,
    /// Factor on the masses of the topmost layer.
    pub load: f64,
    /// Coefficients of friction are uniform between these.
    pub mu: (f64, f64),
    /// True if the rocks lie in a bin with four vertical walls in contact with the outermost rocks.
    pub walled: bool,
    /// Seed of positions, masses, coefficients, points and normals.
    pub seed: u64,
}

impl Default for Rocks {
    fn default() -> Self {
        Self { side: 4, layers: 5, decades: 1.0, load: 1.0, mu: (0.3, 0.9), walled: true, seed: 1 }
    }
}

/// Largest distance of the centres of two rocks in contact; neighbours of the undisturbed packing have distance 1.
const REACH: f64 = 1.2;

/// Largest displacement of a centre along each axis.
const JITTER: f64 = 0.12;

/// A pile of rocks on the ground y = 0, each layer in the hollows of the one below.
///
/// Rest is admissible, so solutions exist; rocks may stick, slide or roll off.
pub fn rock_pile(rocks: &Rocks) -> Pile {
    let mut random = Random::new(rocks.seed);
    let mut pile =
        Pile { bricks: Vec::new(), touches: Vec::new(), planar: false, step: 0.01, gravity: [0.0, -9.81, 0.0] };
    for layer in 0..rocks.layers {
        for k in 0..rocks.side * rocks.side {
            let hollow = 0.5 * (layer % 2) as f64;
            // Layers of a square packing in hollows are 1/√2 apart.
            let place = [
                (k / rocks.side) as f64 + hollow,
                0.5 + layer as f64 * 0.5_f64.sqrt(),
                (k % rocks.side) as f64 + hollow,
            ];
            let centre = place.map(|x| x + random.uniform(-JITTER, JITTER));
            let half = [(); 3].map(|()| random.uniform(0.3, 0.5));
            let load = if layer + 1 == rocks.layers { rocks.load } else { 1.0 };
            let mass = load * pow(10.0, random.uniform(0.0, rocks.decades));
            pile.bricks.push(Brick { centre, half, mass });
        }
    }
    for b in 0..pile.bricks.len() {
        if b < rocks.side * rocks.side {
            let centre = pile.bricks[b].centre;
            let law = Law::Cone { rows: 3, mu: random.uniform(rocks.mu.0, rocks.mu.1) };
            for point in facet([centre[0], 0.0, centre[2]], [0.0, 1.0, 0.0], 3, &mut random) {
                pile.touches.push(Touch { a: None, b: Some(b), point, normal: [0.0, 1.0, 0.0], law });
            }
        }
        if rocks.walled {
            lean_on_walls(&mut pile, b, rocks, &mut random);
        }
        for a in 0..b {
            touch(&mut pile, a, b, rocks.mu, &mut random);
        }
    }
    pile
}

/// Adds one to three points with each wall next to the rock `b`.
fn lean_on_walls(pile: &mut Pile, b: usize, rocks: &Rocks, random: &mut Random) {
    let (layer, k) = (b / (rocks.side * rocks.side), b % (rocks.side * rocks.side));
    let centre = pile.bricks[b].centre;
    for (axis, place) in [(0, k / rocks.side), (2, k % rocks.side)] {
        // Odd layers are shifted towards the far walls and do not reach the near ones.
        let side = if place + 1 == rocks.side && layer % 2 == 1 {
            -1.0
        } else if place == 0 && layer % 2 == 0 {
            1.0
        } else {
            continue;
        };
        let (mut normal, mut point) = ([0.0; 3], centre);
        normal[axis] = side;
        point[axis] -= 0.5 * side;
        let law = Law::Cone { rows: 3, mu: random.uniform(rocks.mu.0, rocks.mu.1) };
        let count = 1 + random.below(3);
        for point in facet(point, normal, count, random) {
            pile.touches.push(Touch { a: None, b: Some(b), point, normal, law });
        }
    }
}

/// Adds one to three points between two rocks, if they are close, with a normal tilted from the line of centres.
fn touch(pile: &mut Pile, a: usize, b: usize, mu: (f64, f64), random: &mut Random) {
    let (from, to) = (pile.bricks[a].centre, pile.bricks[b].centre);
    let line: Vec3 = [0, 1, 2].map(|k| to[k] - from[k]);
    let distance = length(line);
    if distance > REACH {
        return;
    }
    let tilt = random.direction();
    let normal = unit([0, 1, 2].map(|k| line[k] / distance + 0.2 * tilt[k]));
    let middle = [0, 1, 2].map(|k| 0.5 * (from[k] + to[k]));
    let law = Law::Cone { rows: 3, mu: random.uniform(mu.0, mu.1) };
    let count = 1 + random.below(3);
    for point in facet(middle, normal, count, random) {
        pile.touches.push(Touch { a: Some(a), b: Some(b), point, normal, law });
    }
}

/// Points around `middle` in the plane with this normal.
fn facet(middle: Vec3, normal: Vec3, count: usize, random: &mut Random) -> Vec<Vec3> {
    let mut one = || {
        let d = random.direction().map(|x| 0.25 * x);
        let out: f64 = d.iter().zip(normal).map(|(d, n)| d * n).sum();
        [0, 1, 2].map(|k| middle[k] + d[k] - out * normal[k])
    };
    (0..count).map(|_| one()).collect()
}

fn length(v: Vec3) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn unit(v: Vec3) -> Vec3 {
    let size = length(v);
    v.map(|x| x / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rock_is_held_from_below_and_the_seed_decides() {
        for seed in 1..6 {
            let rocks = Rocks { seed, ..Rocks::default() };
            let pile = rock_pile(&rocks);
            assert_eq!(pile, rock_pile(&rocks));
            assert!(pile.touches.len() > 200, "{} contacts", pile.touches.len());
            for (b, brick) in pile.bricks.iter().enumerate() {
                let held = pile.touches.iter().any(|touch| {
                    let other = if touch.b == Some(b) { touch.a } else { touch.b };
                    let below = other.is_none_or(|other| pile.bricks[other].centre[1] < brick.centre[1]);
                    (touch.a == Some(b) || touch.b == Some(b)) && below
                });
                assert!(held, "rock {b} of seed {seed} floats");
            }
        }
    }
}
