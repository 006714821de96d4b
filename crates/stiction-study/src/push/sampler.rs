//! Random paths that are likely to reach the part.
//!
//! 1. A heading: the direction from the part to its goal, turned by a uniform angle of at most `spread`. A goal that is nearer than its
//!    tolerance has no direction, and then any heading is as good.
//! 2. A point to aim at, uniform in the circle around the part.
//! 3. The needle comes along the line through that point from far away and starts where it is within `clearance` of the part. Lines
//!    that miss the part, and starts inside another body, are drawn again.
//! 4. The first push goes on along the line by a uniform length; every further segment has a heading and a length of its own.

use std::f64::consts::{PI, TAU};

use super::{Path, Push, PushError, error::within};
use crate::Stream;

/// Largest number of lines that are drawn for a trial before it fails.
const DRAWS: usize = 1000;

/// Largest number of moves of the needle towards the part before a line counts as a miss.
const ADVANCES: usize = 200;

/// Distribution of paths.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampler {
    /// Number of straight pushes.
    pub segments: u32,
    /// Shortest and longest push, m, without the clearance of the first.
    pub length: [f64; 2],
    /// Speed of the needle, m/s.
    pub speed: f64,
    /// Distance between the needle and the part at the start, m.
    pub clearance: f64,
    /// Largest angle between pushes and the direction to the goal, rad.
    pub spread: f64,
}

impl Sampler {
    /// Sampler of paths of `segments` segments, each between two lengths, at a speed. They start a hundredth of the size of the part away
    /// from it, and turn away from the direction to the goal by at most 60°.
    pub fn new(push: &Push, segments: u32, length: [f64; 2], speed: f64) -> Result<Self, PushError> {
        within("segments", f64::from(segments), (1.0, 8.0))?;
        let [least, most] = length;
        within("length", least, (1e-9, 1e6))?;
        within("length", most, (least, 1e6))?;
        within("speed", speed, (1e-9, 1e6))?;
        let clearance = 0.01 * push.part_radius();
        push.check_duration((f64::from(segments) * most + clearance) / speed)?;
        Ok(Self { segments, length, speed, clearance, spread: PI / 3.0 })
    }

    /// Another clearance, m.
    pub fn with_clearance(self, clearance: f64) -> Result<Self, PushError> {
        Ok(Self { clearance: within("clearance", clearance, (1e-9, 1e6))?, ..self })
    }

    /// Another spread, rad.
    pub fn with_spread(self, spread: f64) -> Result<Self, PushError> {
        Ok(Self { spread: within("spread", spread, (0.0, PI))?, ..self })
    }

    /// Draws a path; none if no line hits the part.
    pub fn sample(&self, push: &Push, stream: &mut Stream) -> Option<Path> {
        let (start, direction) = (0..DRAWS).find_map(|_| {
            let direction = self.direction(push, stream);
            Some((self.start(push, direction, stream)?, direction))
        })?;
        let mut points = vec![start];
        let (mut at, mut direction, mut run_up) = (start, direction, self.clearance);
        for segment in 0..self.segments {
            if segment > 0 {
                direction = self.direction(push, stream);
            }
            let [least, most] = self.length;
            at = along(at, direction, stream.between(least, most) + run_up);
            points.push(at);
            run_up = 0.0;
        }
        Path::new(points, self.speed).ok()
    }

    fn direction(&self, push: &Push, stream: &mut Stream) -> [f64; 2] {
        let (goal, [x, y, _]) = (push.goal(), push.start());
        let [dx, dy] = [goal.position[0] - x, goal.position[1] - y];
        let heading = if libm::hypot(dx, dy) > goal.position_tolerance {
            libm::atan2(dy, dx) + stream.between(-self.spread, self.spread)
        } else {
            stream.between(0.0, TAU)
        };
        [libm::cos(heading), libm::sin(heading)]
    }

    /// Start of the needle on a random line of this direction.
    fn start(&self, push: &Push, direction: [f64; 2], stream: &mut Stream) -> Option<[f64; 2]> {
        let radius = push.part_radius();
        // Uniform in a disc: the root makes equal areas equally likely.
        let (out, round) = (radius * stream.unit().sqrt(), stream.between(0.0, TAU));
        let [x, y, _] = push.start();
        let aim = [x + out * libm::cos(round), y + out * libm::sin(round)];
        let far = out + radius + push.needle_radius() + 2.0 * self.clearance;
        let start = approach(push, aim, direction, far, self.clearance)?;
        push.is_free(start, 0.5 * self.clearance).then_some(start)
    }
}

/// Moves the needle from the distance `far` before the aim along a line until it is within the clearance of the part. A step of the
/// distance itself never passes through it.
fn approach(push: &Push, aim: [f64; 2], direction: [f64; 2], far: f64, clearance: f64) -> Option<[f64; 2]> {
    let mut travelled = 0.0;
    for _ in 0..ADVANCES {
        let at = along(aim, direction, travelled - far);
        let gap = push.gap_to_part(at, 4.0 * far);
        if gap <= 1.01 * clearance {
            return Some(at);
        }
        travelled += gap - clearance;
        if travelled > 2.0 * far {
            return None;
        }
    }
    None
}

fn along([x, y]: [f64; 2], [dx, dy]: [f64; 2], by: f64) -> [f64; 2] {
    [x + dx * by, y + dy * by]
}
