//! Paths of a needle: polylines at constant speed.

use nalgebra::Vector3;
use serde::Serialize;
use stiction::{
    Motion, Twist,
    multibody::{MotionSample, rotation},
};

use super::{PushError, error::within};

/// A polyline that is followed from its first point to its last at constant speed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    points: Vec<[f64; 2]>,
    speed: f64,
}

impl Path {
    /// The path through at least two points, neighbours apart, at a speed in m/s.
    pub fn new(points: Vec<[f64; 2]>, speed: f64) -> Result<Self, PushError> {
        within("speed", speed, (1e-9, 1e6))?;
        let far = points.iter().flatten().any(|x| !(-1e6..=1e6).contains(x));
        if far || points.len() < 2 || points.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(PushError::new("points", "must be at least two, finite, and neighbours apart"));
        }
        Ok(Self { points, speed })
    }

    /// The points, m.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// Speed, m/s.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Length, m.
    pub fn length(&self) -> f64 {
        self.points.windows(2).map(length_of).sum()
    }

    /// Time from the first point to the last, s.
    pub fn duration(&self) -> f64 {
        self.knots().last().map_or(0.0, |knot| knot.time)
    }

    /// The motion along the path of a body that keeps its angle; it rests at the last point.
    pub fn motion(&self, angle: f64) -> Polyline {
        Polyline { knots: self.knots(), angle }
    }

    /// x and y as expressions of t for scene files: the same bits as [`Self::motion`].
    pub fn expressions(&self) -> [String; 2] {
        let knots = self.knots();
        [0, 1].map(|k| {
            let Some((last, moving)) = knots.split_last() else { return "0".to_owned() };
            let ends = knots.iter().skip(1).map(|knot| knot.time);
            let pieces: Vec<_> = moving.iter().zip(ends).collect();
            pieces.iter().rev().fold(format!("{:?}", last.position[k]), |rest, (knot, end)| {
                let (p, v, begin) = (knot.position[k], knot.velocity[k], knot.time);
                format!("if(t < {end:?}, {p:?} + {v:?}*(t - {begin:?}), {rest})")
            })
        })
    }

    fn knots(&self) -> Vec<Knot> {
        let mut time = 0.0;
        let mut knots = Vec::with_capacity(self.points.len());
        for pair in self.points.windows(2) {
            let &[[x, y], [x_end, y_end]] = pair else { continue };
            let duration = length_of(pair) / self.speed;
            knots.push(Knot { time, position: [x, y], velocity: [(x_end - x) / duration, (y_end - y) / duration] });
            time += duration;
        }
        knots.extend(self.points.last().map(|&position| Knot { time, position, velocity: [0.0; 2] }));
        knots
    }
}

fn length_of(pair: &[[f64; 2]]) -> f64 {
    match pair {
        [[x, y], [x_end, y_end]] => libm::hypot(x_end - x, y_end - y),
        _ => 0.0,
    }
}

/// Position and velocity of a body from a time on.
#[derive(Clone, Copy, Debug)]
struct Knot {
    time: f64,
    position: [f64; 2],
    velocity: [f64; 2],
}

/// A motion in the plane that is linear in time between knots and ends at rest. At a knot its velocity is that after it.
#[derive(Clone, Debug)]
pub struct Polyline {
    knots: Vec<Knot>,
    angle: f64,
}

impl Motion for Polyline {
    fn at(&self, t: f64) -> MotionSample {
        let passed = self.knots.partition_point(|knot| knot.time <= t).saturating_sub(1);
        let rest = Knot { time: 0.0, position: [0.0; 2], velocity: [0.0; 2] };
        let Knot { time, position: [x, y], velocity: [vx, vy] } = self.knots.get(passed).copied().unwrap_or(rest);
        MotionSample {
            position: Vector3::new(x + vx * (t - time), y + vy * (t - time), 0.0),
            orientation: rotation::from_rotation_vector(&(Vector3::z() * self.angle)),
            angle: self.angle,
            twist: Twist { linear: Vector3::new(vx, vy, 0.0), angular: Vector3::zeros() },
        }
    }
}
