//! Sequence of small contact problems: a rigid part with three support points on a vibrating plate. PLT-1, C-28.
//!
//! The plate moves by six sinusoids of acceleration, A sin(ω t + C), about a zero mean; the part sticks, slides and hops. Each
//! step is one problem of three contacts. The gap of each support point is part of its normal velocity, and the solution of a
//! step gives the state of the next. Up is z; lengths are in m.

use crate::problems::Vec3;
use libm::{cos, sin, sqrt};
use std::f64::consts::TAU;
use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    Accuracy, Bodies, FrictionLadder, FrictionProblem, FrictionSolution, Law, Operator, Solver, Status,
};

/// Acceleration of one degree of freedom of the plate: amplitude (m/s² or rad/s²) and phase (rad).
pub type Sinusoid = (f64, f64);

/// A plate motion: three translations, three rotations, one frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlateMotion {
    /// The name in tables.
    pub name: &'static str,
    /// Accelerations along x, y, z.
    pub along: [Sinusoid; 3],
    /// Accelerations about x, y, z.
    pub about: [Sinusoid; 3],
}

const REST: [Sinusoid; 3] = [(0.0, 0.0); 3];
const QUARTER: f64 = TAU / 4.0;

/// Plate motions: the part is carried, moved in a circle (C-16), moved outwards (C-16), and thrown up.
pub const MOTIONS: [PlateMotion; 4] = [
    PlateMotion { name: "carry", along: [(2.0, 0.0), (1.0, QUARTER), (3.0, 0.0)], about: REST },
    PlateMotion {
        name: "circle",
        along: [(0.0, 0.0), (0.0, 0.0), (8.0, 3.0 * QUARTER)],
        about: [(0.0, 0.0), (0.0, 0.0), (500.0, 0.0)],
    },
    PlateMotion {
        name: "centrifuge",
        along: [(10.0, QUARTER), (10.0, 2.0 * QUARTER), (0.0, 0.0)],
        about: [(100.0, QUARTER), (100.0, 2.0 * QUARTER), (0.0, 0.0)],
    },
    PlateMotion {
        name: "hop",
        along: [(5.0, 0.0), (3.0, QUARTER), (14.0, 0.0)],
        about: [(120.0, 0.3), (80.0, 1.1), (100.0, 2.0)],
    },
];

/// Plate frequency, rad/s: 33 Hz.
const OMEGA: f64 = 33.0 * TAU;
const MASS: f64 = 0.05;
/// Moments of inertia about x, y and z, kg m². The part is round and tilts by hundredths of a radian only, so they are constant.
const INERTIA: Vec3 = [8e-6, 8e-6, 1.2e-5];
const MU: f64 = 0.3;
const GRAVITY: f64 = 9.81;

/// Pose and velocity of the part.
struct Part {
    centre: Vec3,
    /// Vectors from the centre to the support points.
    support_points: [Vec3; 3],
    velocity: Vec3,
    spin: Vec3,
}

/// The plate at one instant.
struct Plate {
    /// Frame of the surface: normal first, then two tangents.
    frame: [Vec3; 3],
    centre: Vec3,
    velocity: Vec3,
    spin: Vec3,
}

impl PlateMotion {
    /// Position −A sin/ω² and velocity −A cos/ω; tilts are small enough for rotation vectors.
    fn at(&self, time: f64) -> Plate {
        let place = |(a, c): Sinusoid| -a * sin(OMEGA * time + c) / (OMEGA * OMEGA);
        let speed = |(a, c): Sinusoid| -a * cos(OMEGA * time + c) / OMEGA;
        let turn = self.about.map(place);
        let normal = unit([turn[1], -turn[0], 1.0]);
        let tangent = unit(cross([-turn[2], 1.0, turn[0]], normal));
        Plate {
            frame: [normal, tangent, cross(normal, tangent)],
            centre: self.along.map(place),
            velocity: self.along.map(speed),
            spin: self.about.map(speed),
        }
    }

    /// The problems of `steps` steps of length `h`. The part starts at rest, away from the centre of the plate.
    ///
    /// # Panics
    /// Panics if a step cannot be solved.
    pub fn problems(&self, h: f64, steps: usize) -> Vec<FrictionProblem> {
        let mut method = FrictionLadder::new(Accuracy::Exact);
        let (mut guess, mut solution) = (FrictionSolution::default(), FrictionSolution::default());
        let mut part = Part::standing_on(&self.at(0.0));
        let mut step = |k: usize| {
            part.velocity[2] -= h * GRAVITY;
            let problem = part.problem(&self.at((k + 1) as f64 * h), h);
            let ending = method.run(&problem, Some(&guess), &mut solution);
            assert_eq!(ending.status, Status::Solved, "{} step {k}: {:?}", self.name, method.records());
            std::mem::swap(&mut guess, &mut solution);
            part.advance(&problem, &guess.r, h);
            problem
        };
        (0..steps).map(&mut step).collect()
    }
}

impl Part {
    fn standing_on(plate: &Plate) -> Self {
        let support_points = [0.1, 0.45, 0.8].map(|part| [0.02 * cos(TAU * part), 0.018 * sin(TAU * part), -0.01]);
        let offset = [0.01, -0.005, 0.01];
        let centre = [0, 1, 2].map(|k| plate.centre[k] + offset[k]);
        Self { centre, support_points, velocity: plate.velocity, spin: [0.0; 3] }
    }

    fn problem(&self, plate: &Plate, h: f64) -> FrictionProblem {
        let (mut jacobian, mut q) = (BlockMatrix::default(), Vec::new());
        jacobian.clear([3; 3], [6]);
        for point in self.support_points {
            let from_plate = [0, 1, 2].map(|k| self.centre[k] + point[k] - plate.centre[k]);
            let (turning, carried) = (cross(self.spin, point), cross(plate.spin, from_plate));
            let relative = [0, 1, 2].map(|k| self.velocity[k] + turning[k] - plate.velocity[k] - carried[k]);
            let mut rows = [[0.0; 6]; 3];
            for (row, direction) in rows.iter_mut().zip(plate.frame) {
                row[..3].copy_from_slice(&direction);
                row[3..].copy_from_slice(&cross(point, direction));
                q.push(dot(direction, relative));
            }
            let normal = q.len() - 3;
            q[normal] += dot(plate.frame[0], from_plate) / h;
            jacobian.push(0, rows.as_flattened());
            jacobian.finish_row();
        }
        let [a, b, c] = INERTIA;
        let mut mass = vec![0.0; 36];
        mass.iter_mut().step_by(7).zip([MASS, MASS, MASS, a, b, c]).for_each(|(entry, m)| *entry = m);
        let bodies = Bodies::new(jacobian, mass).unwrap_or_else(|error| panic!("the part: {error}"));
        let laws = vec![Law::Cone { rows: 3, mu: MU }; 3];
        FrictionProblem::new(Operator::MatrixFree(bodies), laws, q).unwrap_or_else(|error| panic!("the part: {error}"))
    }

    /// v ← v + M⁻¹ H r, then the pose by that velocity; support points rotate with the part.
    fn advance(&mut self, problem: &FrictionProblem, r: &[f64], h: f64) {
        let Operator::MatrixFree(bodies) = problem.operator() else { return };
        for (block, r) in r.chunks_exact(3).enumerate() {
            for (_, rows) in bodies.jacobian().row(block) {
                for (row, r) in rows.chunks_exact(6).zip(r) {
                    for k in 0..3 {
                        self.velocity[k] += row[k] * r / MASS;
                        self.spin[k] += row[3 + k] * r / INERTIA[k];
                    }
                }
            }
        }
        for k in 0..3 {
            self.centre[k] += h * self.velocity[k];
        }
        for point in &mut self.support_points {
            *point = rotated(*point, self.spin.map(|w| h * w));
        }
    }
}

/// `x` rotated by the rotation vector `turn`: x cos + (k × x) sin + k (k·x)(1 − cos).
fn rotated(x: Vec3, turn: Vec3) -> Vec3 {
    let angle = sqrt(dot(turn, turn));
    if angle == 0.0 {
        return x;
    }
    let axis = turn.map(|t| t / angle);
    let (around, along) = (cross(axis, x), dot(axis, x) * (1.0 - cos(angle)));
    [0, 1, 2].map(|k| x[k] * cos(angle) + around[k] * sin(angle) + axis[k] * along)
}

fn unit(x: Vec3) -> Vec3 {
    let length = sqrt(dot(x, x));
    x.map(|x| x / length)
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
