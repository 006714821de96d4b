//! Geometry at the end of the step, by a fixed point.

use nalgebra::{Matrix3, Vector3};
use stiction::{BodyBuilder, ContactMode, Dimension, LineariseAt, Model, ModelBuilder, Preset, Scheme, spatial};
use stiction_testkit::reference;

use crate::published::rod;
use crate::support::{friction, q, run};

fn at_the_end(preset: Preset) -> Scheme {
    let mut scheme = preset.scheme();
    scheme.linearise_at = LineariseAt::End;
    scheme
}

#[test]
fn the_falling_rod_keeps_its_contacts_closed_to_rounding() {
    let case = reference("c21");
    let start = [0.0, case.number("parameters.y"), case.number("parameters.angle_degrees").to_radians()];
    let velocity = [0.0, 0.0, case.number("parameters.angular_velocity")];
    for row in 0..2 {
        let get = |name: &str| case.number(&format!("scheme.{row}.{name}"));
        let h = get("h");
        for preset in [Preset::StewartTrinkle, Preset::Ncp] {
            let (mut first, mut slap, mut most_passes) = (None, None, 0);
            let end = run(rod(&case, start, velocity), at_the_end(preset), h, 1.0, |simulation, report| {
                most_passes = most_passes.max(report.passes);
                for contact in simulation.contacts().iter().filter(|c| c.mode != ContactMode::Open) {
                    assert!(contact.gap.abs() < 1e-12, "gap {} at {}", contact.gap, report.time);
                }
                assert!(report.penetration < 1e-12);
                let closed = simulation.contacts().iter().filter(|c| c.mode != ContactMode::Open).count();
                if closed >= 1 {
                    first.get_or_insert(report.time);
                }
                if closed == 2 {
                    slap.get_or_insert(report.time);
                }
            });
            let within = 1.5 * h;
            assert!((first.unwrap() - get("first_contact")).abs() < within);
            assert!((slap.unwrap() - get("slap_down")).abs() < within);
            for (time, name) in [(first, "impact"), (slap, "slap_down")] {
                let exact = case.number(&format!("derived.{name}.t"));
                assert!((time.unwrap() - exact).abs() < within, "{name} at {time:?} against {exact}");
            }
            let x = q(&end, "rod")[0];
            assert!((x - get("x_end")).abs() < 2e-6, "{preset:?}: x = {x} against {} at h = {h}", get("x_end"));
            assert!(most_passes <= 12, "{most_passes} passes at h = {h}, {preset:?}");
        }
    }
}

/// A ball slides without friction down a round hill.
fn ball_on_hill() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    let sphere = spatial::Shape::sphere(1.0).unwrap();
    builder.body(BodyBuilder::fixed("hill").shape(sphere.into())).unwrap();
    let ball = BodyBuilder::rigid("ball", 1.0, Matrix3::from_diagonal_element(0.4 * 0.01))
        .shape(spatial::Shape::sphere(0.1).unwrap().into())
        .position(0.0, 0.0, 1.1)
        .velocity(1.0, 0.0, 0.0);
    builder.body(ball).unwrap();
    builder.default_contact(friction(0.0)).unwrap();
    builder.build().unwrap()
}

/// A straight step along the tangent takes the ball off the hill by v²h²/2R. Energy determines where a frictionless ball really leaves:
/// cos θ = (2 + v₀²/(g R))/3.
#[test]
fn a_ball_stays_on_a_hill_until_its_time() {
    let (h, radius, g) = (0.005, 1.1, 9.81);
    let exact = ((2.0 + 1.0 / (g * radius)) / 3.0_f64).acos();
    // The largest gap before its time, and the angle at which it leaves.
    let slide = |scheme: Scheme| {
        let (mut gap, mut left_at) = (0.0_f64, None);
        run(ball_on_hill(), scheme, h, 0.7, |simulation, _| {
            let place = Vector3::from_column_slice(&q(simulation, "ball")[..3]);
            let angle = place.angle(&Vector3::z());
            if angle < exact - 0.1 {
                gap = gap.max((place.norm() - radius).abs());
            } else if simulation.contacts().iter().all(|contact| contact.normal_impulse == 0.0) {
                left_at.get_or_insert(angle);
            }
        });
        (gap, left_at.unwrap())
    };
    let (gap, left) = slide(at_the_end(Preset::Ncp));
    assert!(gap < 1e-12, "gap {gap}");
    assert!((left - exact).abs() < 0.05, "left at {left} instead of {exact}");
    let (gap, _) = slide(Preset::Ncp.scheme());
    assert!(gap > 1e-6, "geometry at the start of the step is off the hill: {gap}");
}
