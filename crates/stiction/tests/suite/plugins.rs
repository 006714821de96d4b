//! Parts that a user brings: a detector, a solver, a stepper and a kind of body, none of which stiction knows.

use std::sync::Arc;

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use stiction::complementarity::{
    Delassus, Ending, FrictionProblem, FrictionSolution, Problem, Solver, Status, solve_local,
};
use stiction::geometry::{ContactPoint, Pose, Shape, broad_phase::Aabb};
use stiction::multibody::{MotionSample, Twist};
use stiction::stepping::{Detector, FeatureDetector, Start, Workspace};
use stiction::{
    BodyBuilder, Dimension, Ladder, Model, Motion, Preset, Rung, Simulation, StepCause, StepReport, Stepper,
    TimeStepper, spatial,
};

use crate::support::{G, friction, on_floor, q, step, steps, world};

fn boxes_on_a_plate(motion: Option<Arc<dyn Motion>>) -> Model {
    let floor = spatial::Shape::half_space(Vector3::z()).unwrap();
    let floor = match motion {
        Some(motion) => BodyBuilder::kinematic("floor", motion).shape(floor.into()),
        None => BodyBuilder::fixed("floor").shape(floor.into()),
    };
    let boxes = (0..3).map(|k| {
        BodyBuilder::rigid(format!("box {k}"), 1.0, Matrix3::from_diagonal_element(0.01))
            .position(0.02 * f64::from(k), 0.0, 0.1 + 0.21 * f64::from(k))
            .shape(spatial::Shape::cuboid([0.1; 3]).unwrap().into())
    });
    world(Dimension::Spatial, std::iter::once(floor).chain(boxes), [0.3, 0.0, -G], friction(0.5))
}

/// Looks at every pair of boxes.
#[derive(Default)]
struct EveryPair {
    narrow: FeatureDetector,
    asked: usize,
}

impl Detector for EveryPair {
    fn pairs(&mut self, boxes: &[Option<Aabb>], wanted: &dyn Fn(usize, usize) -> bool, out: &mut Vec<(usize, usize)>) {
        self.asked += 1;
        let all = (0..boxes.len()).flat_map(|i| (i + 1..boxes.len()).map(move |j| (i, j)));
        out.clear();
        out.extend(all.filter(|&(i, j)| wanted(i, j)));
    }

    fn contacts(
        &mut self,
        a: (&Shape, &Pose),
        b: (&Shape, &Pose),
        margin: f64,
        out: &mut Vec<ContactPoint>,
    ) -> Result<(), StepCause> {
        self.narrow.contacts(a, b, margin, out)
    }
}

#[test]
fn a_detector_of_ones_own_gives_the_same_bits() {
    let scheme = Preset::Ncp.scheme();
    let mut ours = Simulation::new(boxes_on_a_plate(None), scheme.clone(), 0.005).unwrap();
    let stepper = TimeStepper::default().with_detector(EveryPair::default());
    let mut theirs = Simulation::new(boxes_on_a_plate(None), scheme, 0.005).unwrap().with_stepper(stepper);
    steps(&mut ours, 100);
    steps(&mut theirs, 100);
    assert!(ours.state().bit_equal(theirs.state()));
}

/// Gauss-Seidel in ten lines.
struct TenLines;

impl Solver<FrictionProblem> for TenLines {
    fn run(
        &mut self,
        problem: &FrictionProblem,
        _: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        solution.r = vec![0.0; problem.rows()];
        let (mut u, mut state) = (Vec::new(), Vec::new());
        for sweep in 0..100_000 {
            for block in 0..problem.blocks() {
                let range = problem.range(block);
                let mut a = vec![0.0; range.len() * range.len()];
                problem.operator().diagonal(block, &mut a);
                problem.velocities(&solution.r, &mut u, &mut state);
                let r = &mut solution.r[range.clone()];
                let own = |row: usize| (0..r.len()).map(|k| a[row * r.len() + k] * r[k]).sum::<f64>();
                let free: Vec<f64> = range.clone().enumerate().map(|(row, k)| u[k] - own(row)).collect();
                let _ = solve_local(&problem.laws()[block], &a, &free, r);
            }
            if problem.residual(solution).value < 1e-11 {
                return Ending::new(Status::Solved, sweep);
            }
        }
        Ending::new(Status::BudgetExhausted, 100_000)
    }
}

#[test]
fn a_solver_of_ones_own_solves_the_steps() {
    let one_box = || {
        let block = BodyBuilder::rigid("box", 1.0, Matrix3::from_diagonal_element(0.01)).position(0.0, 0.0, 0.1);
        let block = block.shape(spatial::Shape::cuboid([0.1; 3]).unwrap().into());
        on_floor(Dimension::Spatial, [block], [6.0, 0.0, -G], friction(0.5))
    };
    let ladder = Ladder::for_cones(vec![Rung { name: "ten lines", solver: Box::new(TenLines) }]);
    let mut theirs = Simulation::new(one_box(), Preset::Ncp.scheme(), 0.01).unwrap().with_ladder(ladder);
    let mut ours = Simulation::new(one_box(), Preset::Ncp.scheme(), 0.01).unwrap();
    for _ in 0..20 {
        assert_eq!(step(&mut theirs).rung, "ten lines");
        let _ = step(&mut ours);
    }
    let difference = q(&ours, "box")[0] - q(&theirs, "box")[0];
    assert!(q(&ours, "box")[0] > 0.01 && difference.abs() < 1e-9, "{difference}");
}

/// Two half steps for one.
#[derive(Default)]
struct Twice(TimeStepper);

impl Stepper for Twice {
    fn step(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause> {
        let half = Start { h: 0.5 * start.h, ..*start };
        let _ = self.0.step(&half, ws)?;
        let middle = ws.result.next.clone();
        self.0.step(&Start { state: &middle, ..half }, ws)
    }
}

#[test]
fn a_stepper_of_ones_own_makes_the_steps() {
    let scheme = Preset::Ncp.scheme();
    let mut halves =
        Simulation::new(boxes_on_a_plate(None), scheme.clone(), 0.01).unwrap().with_stepper(Twice::default());
    let mut fine = Simulation::new(boxes_on_a_plate(None), scheme, 0.005).unwrap();
    steps(&mut halves, 20);
    steps(&mut fine, 40);
    assert!(halves.state().bit_equal(fine.state()));
}

/// A body that moves by a law of its own: it follows a circle.
#[derive(Debug)]
struct Circling;

impl Motion for Circling {
    fn at(&self, t: f64) -> MotionSample {
        let (sin, cos) = (2.0 * t).sin_cos();
        MotionSample {
            position: Vector3::new(0.1 * cos, 0.1 * sin, 0.0),
            orientation: UnitQuaternion::identity(),
            angle: 0.0,
            twist: Twist { linear: Vector3::new(-0.2 * sin, 0.2 * cos, 0.0), angular: Vector3::zeros() },
        }
    }
}

#[test]
fn a_kind_of_body_of_ones_own_carries_the_others() {
    let mut simulation =
        Simulation::new(boxes_on_a_plate(Some(Arc::new(Circling))), Preset::Ncp.scheme(), 0.005).unwrap();
    steps(&mut simulation, 200);
    let before = (q(&simulation, "box 0")[0], q(&simulation, "box 0")[1]);
    steps(&mut simulation, 100);
    let now = (q(&simulation, "box 0")[0], q(&simulation, "box 0")[1]);
    // It has come to stick and moves with the circle.
    let place = |t: f64| (0.1 * (2.0 * t).cos(), 0.1 * (2.0 * t).sin());
    let (from, to) = (place(1.0), place(1.5));
    assert!((now.0 - before.0 - (to.0 - from.0)).abs() < 1e-9 && (now.1 - before.1 - (to.1 - from.1)).abs() < 1e-9);
}
