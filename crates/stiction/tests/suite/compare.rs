//! Comparisons of schemes: the norms, the published table, orders, refusals and failures.

use stiction::{
    LineariseAt, Margin, Preset, Simulation,
    compare::{Between, Errors, Trajectory},
};
use stiction_testkit::{Reference, assert_close, reference};

use crate::published::balls;

fn track(case: &Reference, h: f64, at: LineariseAt) -> Trajectory {
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.linearise_at = at;
    scheme.margin = Margin::Fixed(case.number("parameters.margin"));
    scheme.directions = case.number("parameters.directions") as u32;
    let mut simulation = Simulation::new(balls(case), scheme, h).unwrap();
    let mut trajectory = Trajectory::starting_at(simulation.state(), Between::Held);
    for _ in 0..(case.number("parameters.duration") / h).round() as usize {
        let _ = simulation.step().unwrap();
        trajectory.push(simulation.state());
    }
    trajectory
}

#[test]
fn c22_both_columns() {
    let case = reference("c22");
    let model = balls(&case);
    for at in [LineariseAt::Predicted, LineariseAt::End] {
        let fine = track(&case, 0.00125, at);
        for published in case.table("published.table") {
            let run = track(&case, published["h"], at);
            let errors = Errors::between(&model, &run, &fine, 1.0);
            println!("{at:?} h {} {errors:?} {}", published["h"], run.variation(1.0));
        }
    }
}
