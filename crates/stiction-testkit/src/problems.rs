//! Families of frictional contact problems, generated from geometry and independent of any solver.
//!
//! A [`Pile`] is a list of rigid bodies and of the rows between them; its [`problem`](Pile::problem) is one time step. The
//! free velocities are those of the bodies after gravity has acted for the step. Up is y; the plane is z = 0.

use crate::Random;
use libm::{cos, pow, sin};
use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{Bodies, FrictionProblem, Law, Operator};

/// A vector of space.
pub type Vec3 = [f64; 3];

/// Owner of a side of a row: a fixed surface (`None`), or the body of that number.
pub type Owner = Option<usize>;

/// Motion of the bodies before the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// All bodies are at rest under gravity.
    Rest,
    /// Every velocity component is uniform in ±`speed`, so that contacts stick, slip and open in one problem.
    Kick {
        /// Largest component, m/s (and rad/s).
        speed: f64,
        /// Seed of the random numbers.
        seed: u64,
    },
}

/// A rigid axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brick {
    /// Centre of mass, m.
    pub centre: Vec3,
    /// Half extents, m.
    pub half: Vec3,
    /// Mass, kg.
    pub mass: f64,
}

/// A block of rows between two owners: a positive velocity moves `b` along the normal away from `a`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The owner the normal points away from.
    pub a: Owner,
    /// The owner the normal points to.
    pub b: Owner,
    /// Contact point, m.
    pub point: Vec3,
    /// Unit normal from `a` to `b`.
    pub normal: Vec3,
    /// The law; its rows are (N, T₁, T₂), then the rotation about N for torsion and joints, about T₁ and T₂ for rolling.
    pub law: Law,
}

/// Bodies and the rows between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Pile {
    /// The bodies.
    pub bricks: Vec<Brick>,
    /// Contacts and joints.
    pub touches: Vec<Touch>,
    /// True if bodies move in the plane only (three unknowns each).
    pub planar: bool,
    /// Length of the step, s.
    pub step: f64,
    /// Gravity, m/s².
    pub gravity: Vec3,
}

impl Pile {
    fn new(planar: bool) -> Self {
        Self { bricks: Vec::new(), touches: Vec::new(), planar, step: 0.01, gravity: [0.0, -9.81, 0.0] }
    }

    /// A pile of bricks in space whose horizontal faces touch each other and the ground y = 0.
    fn of_bricks(bricks: Vec<Brick>, mu: f64) -> Self {
        let mut pile = Self { bricks, ..Self::new(false) };
        for b in 0..pile.bricks.len() {
            pile.touch_from_above(None, b, mu);
            for a in 0..pile.bricks.len() {
                pile.touch_from_above(Some(a), b, mu);
            }
        }
        pile
    }

    /// Adds contacts at the corners of the rectangle in which the bottom face of brick `b` touches the top face of `a`.
    fn touch_from_above(&mut self, a: Owner, b: usize, mu: f64) {
        let upper = self.bricks[b];
        let floor = Brick { centre: [0.0, -1.0, 0.0], half: [f64::INFINITY, 1.0, f64::INFINITY], mass: 0.0 };
        let lower = a.map_or(floor, |a| self.bricks[a]);
        let height = upper.centre[1] - upper.half[1];
        let touching = (lower.centre[1] + lower.half[1] - height).abs() < 1e-9;
        let side = |k: usize| {
            let low = (upper.centre[k] - upper.half[k]).max(lower.centre[k] - lower.half[k]);
            let high = (upper.centre[k] + upper.half[k]).min(lower.centre[k] + lower.half[k]);
            (high - low > 1e-9).then_some([low, high])
        };
        let (Some(xs), Some(zs), true) = (side(0), side(2), touching && a != Some(b)) else { return };
        for x in xs {
            for z in zs {
                let point = [x, height, z];
                let law = Law::Cone { rows: 3, mu };
                self.touches.push(Touch { a, b: Some(b), point, normal: [0.0, 1.0, 0.0], law });
            }
        }
    }

    /// Repeats every contact `times` times: the surfaces are the same, the distribution of impulses is arbitrary.
    pub fn repeated(mut self, times: usize) -> Self {
        self.touches = self.touches.iter().flat_map(|touch| std::iter::repeat_n(*touch, times)).collect();
        self
    }

    /// The step as a problem.
    ///
    /// # Panics
    /// Panics if the pile has numbers out of range.
    pub fn problem(&self, motion: Motion) -> FrictionProblem {
        let velocities = self.free_velocities(motion);
        let laws: Vec<Law> = self.touches.iter().map(|touch| touch.law).collect();
        let (mut jacobian, mut q) = (BlockMatrix::default(), Vec::new());
        jacobian.clear(laws.iter().map(Law::rows), self.bricks.iter().map(|_| self.columns().len()));
        for touch in &self.touches {
            let mut free = vec![0.0; touch.law.rows()];
            let mut owners = [(touch.a, -1.0), (touch.b, 1.0)];
            owners.sort_by_key(|(owner, _)| *owner);
            for (owner, sign) in owners {
                let Some(body) = owner else { continue };
                let block = self.rows(touch, body, sign);
                let v = &velocities[body];
                free.iter_mut().zip(block.chunks_exact(v.len())).for_each(|(u, row)| *u += dot(row, v));
                jacobian.push(body, &block);
            }
            jacobian.finish_row();
            q.extend(free);
        }
        let mass = self.bricks.iter().flat_map(|brick| self.mass(brick)).collect();
        let bodies = Bodies::new(jacobian, mass).unwrap_or_else(|error| panic!("bodies of a pile: {error}"));
        FrictionProblem::new(Operator::MatrixFree(bodies), laws, q).unwrap_or_else(|error| panic!("a pile: {error}"))
    }

    /// Components of a twist (velocity, angular velocity) that are unknowns.
    fn columns(&self) -> &'static [usize] {
        if self.planar { &[0, 1, 5] } else { &[0, 1, 2, 3, 4, 5] }
    }

    fn mass(&self, brick: &Brick) -> Vec<f64> {
        let [x, y, z] = brick.half.map(|half| half * half);
        let spin = |a: f64, b: f64| brick.mass * (a + b) / 3.0;
        let full = [brick.mass, brick.mass, brick.mass, spin(y, z), spin(x, z), spin(x, y)];
        let columns = self.columns();
        let mut block = vec![0.0; columns.len() * columns.len()];
        for (k, &column) in columns.iter().enumerate() {
            block[k * (columns.len() + 1)] = full[column];
        }
        block
    }

    /// The Jacobian of one touch on one of its bodies, row by row.
    fn rows(&self, touch: &Touch, body: usize, sign: f64) -> Vec<f64> {
        let [n, s, t] = frame(touch.normal, self.planar);
        let centre = self.bricks[body].centre;
        let arm = [0, 1, 2].map(|k| touch.point[k] - centre[k]);
        let push = |d: Vec3| [d, cross(arm, d)];
        let turn = |d: Vec3| [[0.0; 3], d];
        let wrenches = match touch.law {
            Law::Rolling { .. } => vec![push(n), push(s), push(t), turn(s), turn(t)],
            _ => vec![push(n), push(s), push(t), turn(n), turn(s), turn(t)],
        };
        let rows = wrenches.iter().take(touch.law.rows()).map(|wrench| wrench.as_flattened());
        rows.flat_map(|row| self.columns().iter().map(move |&column| sign * row[column])).collect()
    }

    fn free_velocities(&self, motion: Motion) -> Vec<Vec<f64>> {
        let mut random = Random::new(if let Motion::Kick { seed, .. } = motion { seed } else { 0 });
        let speed = if let Motion::Kick { speed, .. } = motion { speed } else { 0.0 };
        let mut one = || {
            let fall = |k: usize| self.gravity.get(k).map_or(0.0, |g| g * self.step);
            self.columns().iter().map(|&k| fall(k) + random.uniform(-speed, speed)).collect()
        };
        self.bricks.iter().map(|_| one()).collect()
    }
}

/// Masses that increase geometrically from 1 kg at the bottom to `ratio` at the top.
pub fn growing_masses(count: usize, ratio: f64) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|k| pow(ratio, k as f64 / last)).collect()
}

/// Unit boxes on top of each other, four contacts per face.
pub fn stack(masses: &[f64], mu: f64) -> Pile {
    let brick = |(k, &mass): (usize, &f64)| Brick { centre: [0.0, k as f64 + 0.5, 0.0], half: [0.5; 3], mass };
    Pile::of_bricks(masses.iter().enumerate().map(brick).collect(), mu)
}

/// A stack of equal boxes: `tower(250, mu)` has 1000 contacts.
pub fn tower(count: usize, mu: f64) -> Pile {
    stack(&vec![1.0; count], mu)
}

/// A wall of `courses` of bricks 2 × 1 × 1, `width` bricks wide, in running bond with half bricks at the ends.
pub fn wall(courses: usize, width: usize, mu: f64) -> Pile {
    let mut bricks = Vec::new();
    for course in 0..courses {
        let y = course as f64 + 0.5;
        let mut lay = |from: f64, to: f64| {
            let half = 0.5 * (to - from);
            bricks.push(Brick { centre: [from + half, y, 0.0], half: [half, 0.5, 0.5], mass: half });
        };
        let end = 2.0 * width as f64;
        let mut from = 0.0;
        while from < end {
            let length = if course % 2 == 1 && from == 0.0 { 1.0 } else { 2.0 };
            lay(from, (from + length).min(end));
            from += length;
        }
    }
    Pile::of_bricks(bricks, mu)
}

/// A pyramid of unit cubes on a square of `side` × `side`, each cube resting on four: `pyramid(6, mu)` has 1024 contacts.
pub fn pyramid(side: usize, mu: f64) -> Pile {
    let mut bricks = Vec::new();
    for layer in 0..side {
        let start = 0.5 * layer as f64;
        for i in 0..(side - layer).pow(2) {
            let (x, z) = ((i / (side - layer)) as f64 + start, (i % (side - layer)) as f64 + start);
            bricks.push(Brick { centre: [x, layer as f64 + 0.5, z], half: [0.5; 3], mass: 1.0 });
        }
    }
    Pile::of_bricks(bricks, mu)
}

/// A half-circular arch of `count` blocks in the plane, inner radius 1, outer 1.3, two contacts per joint.
pub fn arch(count: usize, mu: f64) -> Pile {
    let mut pile = Pile::new(true);
    let angle = |k: f64| std::f64::consts::PI * k / count as f64;
    for k in 0..count {
        let middle = angle(k as f64 + 0.5);
        let half = [0.15, 0.5 * 1.15 * angle(1.0), 0.5];
        pile.bricks.push(Brick { centre: [1.15 * cos(middle), 1.15 * sin(middle), 0.0], half, mass: 1.0 });
    }
    for joint in 0..=count {
        let (c, s) = (cos(angle(joint as f64)), sin(angle(joint as f64)));
        let (a, b) = (joint.checked_sub(1), (joint < count).then_some(joint));
        for radius in [1.0, 1.3] {
            let law = Law::Cone { rows: 2, mu };
            pile.touches.push(Touch { a, b, point: [radius * c, radius * s, 0.0], normal: [-s, c, 0.0], law });
        }
    }
    pile
}

/// A wedge between two fixed walls inclined by `half_angle` to the vertical, four contacts each.
///
/// With μ > `tan(half_angle)` it jams, and impulses are unbounded.
pub fn wedge(half_angle: f64, mu: f64) -> Pile {
    let (c, s) = (cos(half_angle), sin(half_angle));
    let mut pile = Pile::new(false);
    pile.bricks.push(Brick { centre: [0.0; 3], half: [0.5; 3], mass: 1.0 });
    for side in [-1.0, 1.0] {
        for y in [-0.5, 0.5] {
            for z in [-0.5, 0.5] {
                let point = [side * (0.5 + y * s / c), y, z];
                let law = Law::Cone { rows: 3, mu };
                pile.touches.push(Touch { a: None, b: Some(0), point, normal: [-side * c, s, 0.0], law });
            }
        }
    }
    pile
}

/// A chain of `links` rods on a table, connected by ball joints; both ends of each rod touch the table.
///
/// A motor of limited force acts on the first link along x.
pub fn chain(links: usize, mu: f64) -> Pile {
    let mut pile = Pile::new(false);
    for k in 0..links {
        pile.bricks.push(Brick { centre: [k as f64, 0.05, 0.0], half: [0.5, 0.05, 0.05], mass: 1.0 });
        if k > 0 {
            let point = [k as f64 - 0.5, 0.05, 0.0];
            let law = Law::Equality { rows: 3 };
            pile.touches.push(Touch { a: Some(k - 1), b: Some(k), point, normal: [1.0, 0.0, 0.0], law });
        }
        for end in [-0.5, 0.5] {
            let law = Law::Cone { rows: 3, mu };
            let point = [k as f64 + end, 0.0, 0.0];
            pile.touches.push(Touch { a: None, b: Some(k), point, normal: [0.0, 1.0, 0.0], law });
        }
    }
    let law = Law::Bounded { lower: -0.02, upper: 0.02 };
    pile.touches.push(Touch { a: None, b: Some(0), point: [-0.5, 0.05, 0.0], normal: [1.0, 0.0, 0.0], law });
    pile
}

/// Bodies of random mass with contacts of random position, direction, coefficient and law.
///
/// There are a few joints and motors, and contacts with fixed surfaces. Rest is always admissible, so solutions exist.
pub fn random(bodies: usize, touches: usize, seed: u64) -> Pile {
    let mut random = Random::new(seed);
    let mut pile = Pile::new(false);
    for _ in 0..bodies {
        let centre = [(); 3].map(|()| random.uniform(-1.0, 1.0));
        let half = [(); 3].map(|()| random.uniform(0.1, 0.5));
        pile.bricks.push(Brick { centre, half, mass: pow(10.0, random.uniform(-1.0, 1.0)) });
    }
    for _ in 0..if bodies == 0 { 0 } else { touches } {
        let b = random.below(bodies);
        let a = Some(random.below(bodies + 1)).filter(|a| *a < bodies && *a != b);
        let point = [0, 1, 2].map(|k| pile.bricks[b].centre[k] + random.uniform(-0.5, 0.5));
        let mu = random.uniform(0.0, 1.2);
        let law = match random.below(12) {
            0 => Law::Cone { rows: 2, mu },
            1 => Law::Cone { rows: 4, mu },
            2 => Law::Rolling { rows: 5, mu, mu_r: 0.2 * mu },
            3 => Law::Bounded { lower: -0.05, upper: 0.1 },
            4 => Law::Equality { rows: 1 },
            _ => Law::Cone { rows: 3, mu },
        };
        pile.touches.push(Touch { a, b: Some(b), point, normal: random.direction(), law });
    }
    pile
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cross([a, b, c]: Vec3, [x, y, z]: Vec3) -> Vec3 {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

/// Normal and two tangents, right-handed; in the plane the second tangent is z.
fn frame(n: Vec3, planar: bool) -> [Vec3; 3] {
    if planar {
        return [n, [-n[1], n[0], 0.0], [0.0, 0.0, 1.0]];
    }
    // The cross product with the axis of the smallest component of the normal keeps the division accurate.
    let least = (1..3).fold(0, |least, k| if n[k].abs() < n[least].abs() { k } else { least });
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    let s = cross(axis, n);
    let length = dot(&s, &s).sqrt();
    let s = s.map(|x| x / length);
    [n, s, cross(n, s)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_complementarity::{FrictionSolution, Problem};

    fn contacts(pile: &Pile) -> usize {
        pile.touches.len()
    }

    #[test]
    fn families_have_the_contacts_they_promise() {
        assert_eq!(contacts(&tower(250, 0.5)), 1000);
        assert_eq!(contacts(&pyramid(6, 0.5)), 1024);
        assert_eq!(contacts(&wall(10, 12, 0.5)), 912);
        assert_eq!(contacts(&arch(7, 0.5)), 16);
        assert_eq!(contacts(&wedge(0.3, 0.5)), 8);
        assert_eq!(contacts(&stack(&[1.0, 2.0], 0.5).repeated(3)), 24);
        assert_eq!(growing_masses(3, 100.0), [1.0, 10.0, 100.0]);
    }

    /// Statics: with m g h / 4 of all boxes above at each corner, the stack is at rest.
    #[test]
    fn a_stack_stands_on_the_weight_above() {
        let masses = [3.0, 1.0, 20.0];
        let pile = stack(&masses, 0.5);
        let mut r = Vec::new();
        for touch in &pile.touches {
            let above: f64 = touch.b.map_or(0.0, |b| masses[b..].iter().sum());
            r.extend([above * 9.81 * 0.01 / 4.0, 0.0, 0.0]);
        }
        let residual = pile.problem(Motion::Rest).residual(&FrictionSolution { r });
        assert!(residual.value < 1e-14, "{residual:?}");
    }

    #[test]
    fn kicks_come_from_the_seed() {
        let kick = |seed| random(3, 9, 1).problem(Motion::Kick { speed: 0.1, seed });
        assert_eq!(kick(1), kick(1));
        assert_ne!(kick(1), kick(2));
    }
}
