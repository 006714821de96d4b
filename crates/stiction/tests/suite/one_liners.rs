//! C-01: what has a closed form in one line, with every preset.

use stiction::{
    BodyBuilder, ContactMode, ContactRule, Dimension, FrictionSet, Model, Preset, Simulation, planar, spatial,
};
use stiction_testkit::reference;

use crate::support::{G, down, friction, on_floor, q, run, solid_ball, solid_rectangle, step, v};

/// One body over a floor, in the plane or in space.
fn over_floor(dimension: Dimension, body: BodyBuilder, rule: ContactRule) -> Model {
    on_floor(dimension, [body], down(dimension), rule)
}

/// The tolerance of C-01: so many times h times the speed or acceleration at hand.
fn allowed() -> f64 {
    reference("c01").number("tolerance.steps")
}

#[test]
fn a_dropped_particle_lands_in_time_and_rests_with_its_weight() {
    let (height, h) = (0.7_f64, 1e-3);
    let speed = (2.0 * G * height).sqrt();
    for preset in Preset::INERTIAL {
        for dimension in [Dimension::Planar, Dimension::Spatial] {
            let (up, point, place): (usize, stiction::Shape, _) = match dimension {
                Dimension::Planar => (1, planar::Shape::point().into(), [0.0, height, 0.0]),
                Dimension::Spatial => (2, spatial::Shape::point().into(), [0.0, 0.0, height]),
            };
            let body = BodyBuilder::particle("particle", 2.0).position(place[0], place[1], place[2]).shape(point);
            let (model, mut landed) = (over_floor(dimension, body, friction(0.3)), None);
            let end = run(model, preset.scheme(), h, 1.0, |simulation, report| {
                if let (None, Some(event)) = (landed, simulation.events().first()) {
                    landed = Some(event.time);
                }
                if preset.scheme().gamma == 1.0 && preset != Preset::MoreauJean {
                    assert!(report.penetration < 1e-14, "{preset:?}");
                }
            });
            let error = (landed.unwrap() - (2.0 * height / G).sqrt()).abs();
            assert!(error <= allowed() * h, "{preset:?} landed at {landed:?}");
            let (place, velocity) = (q(&end, "particle")[up], v(&end, "particle")[up]);
            assert!(place.abs() <= allowed() * h * speed && velocity.abs() < 1e-12, "{preset:?}: {place}, {velocity}");
            assert!((end.contacts()[0].normal_impulse / h - 2.0 * G).abs() < 1e-9, "{preset:?}");
        }
    }
}

#[test]
fn a_sliding_block_stops_after_the_textbook_distance() {
    let (v0, mu) = (2.0, 0.4);
    for preset in Preset::INERTIAL {
        for h in [1e-2, 1e-3] {
            let block = solid_rectangle("block", 1.0, [0.5; 2]).position(0.0, 0.5, 0.0).velocity(v0, 0.0, 0.0);
            let (model, mut stopped) = (over_floor(Dimension::Planar, block, friction(mu)), None);
            let end = run(model, preset.scheme(), h, 1.0, |simulation, report| {
                if v(simulation, "block")[0].abs() < 1e-13 {
                    stopped.get_or_insert(report.time);
                }
            });
            let error = (stopped.unwrap() - v0 / (mu * G)).abs();
            assert!(error <= allowed() * h, "{preset:?} stopped at {stopped:?}");
            let excess = q(&end, "block")[0] - v0 * v0 / (2.0 * mu * G);
            assert!(excess.abs() <= h * v0 / 2.0 + 1e-12, "{preset:?}: excess {excess} at h = {h}");
            assert_eq!(end.contacts()[0].mode, ContactMode::Stick);
        }
    }
}

#[test]
fn a_block_on_an_incline_sticks_up_to_the_friction_angle_and_slides_beyond_with_the_textbook_acceleration() {
    let (mu, h) = (0.3_f64, 1e-3);
    for preset in Preset::INERTIAL {
        for (angle, slides) in [(0.99 * mu.atan(), false), (1.01 * mu.atan(), true), (0.5, true)] {
            let block = solid_rectangle("block", 1.0, [0.5, 0.1]).position(0.0, 0.1, 0.0);
            let gravity = [G * angle.sin(), -G * angle.cos(), 0.0];
            let slope = on_floor(Dimension::Planar, [block], gravity, friction(mu));
            let end = run(slope, preset.scheme(), h, 1.0, |_, _| ());
            let exact = if slides { G * (angle.sin() - mu * angle.cos()) } else { 0.0 };
            let speed = v(&end, "block")[0];
            assert!((speed - exact).abs() < 1e-9, "{preset:?} at {angle}: {speed} against {exact}");
            let way = q(&end, "block")[0] - 0.5 * exact;
            assert!(way.abs() <= allowed() * h * exact + 1e-12, "{preset:?} at {angle}: off by {way}");
        }
    }
}

#[test]
fn a_thrown_sphere_rolls_after_the_textbook_time() {
    let case = reference("c01");
    let (v0, mu, radius, h) = (1.0, 0.2, 0.1, 1e-3);
    let time = case.number("derived.sphere_thrown_flat.rolling_time_times_mu_g_over_v0") * v0 / (mu * G);
    let speed = case.number("derived.sphere_thrown_flat.final_speed_over_v0") * v0;
    for preset in Preset::INERTIAL {
        let body = solid_ball("ball", 1.0, radius).position(0.0, 0.0, radius).velocity(v0, 0.0, 0.0);
        let (model, mut rolling) = (over_floor(Dimension::Spatial, body, friction(mu)), None);
        let end = run(model, preset.scheme(), h, 0.5, |simulation, report| {
            if simulation.contacts()[0].mode == ContactMode::Stick {
                rolling.get_or_insert(report.time);
            }
        });
        assert!((rolling.unwrap() - time).abs() <= allowed() * h, "{preset:?} rolls at {rolling:?}, exact {time}");
        let [vx, spin] = [v(&end, "ball")[0], v(&end, "ball")[4]];
        assert!((vx - speed).abs() < allowed() * h * mu * G, "{preset:?}: {vx}");
        assert!((spin * radius - vx).abs() < 1e-10, "{preset:?} rolls without slipping: {vx} {spin}");
    }
}

#[test]
fn a_sphere_spinning_about_the_normal_is_stopped_by_torsion() {
    let (mu, e_r, radius, spin, h) = (0.3, 0.05, 0.1, 20.0, 1e-3);
    let path = "derived.sphere_spinning_about_the_normal.deceleration_times_r_squared_over_mu_e_r_g";
    let rate = reference("c01").number(path) * mu * e_r * G / (radius * radius);
    let mut tried = 0;
    for preset in Preset::INERTIAL.into_iter().filter(|preset| preset.scheme().friction == FrictionSet::Quadratic) {
        tried += 1;
        let ball = solid_ball("ball", 1.0, radius).position(0.0, 0.0, radius).angular_velocity(0.0, 0.0, spin);
        let rule = ContactRule { torsion: e_r, ..friction(mu) };
        let mut stopped = None;
        run(over_floor(Dimension::Spatial, ball, rule), preset.scheme(), h, 0.7, |simulation, report| {
            let omega = v(simulation, "ball")[5];
            if omega.abs() < 1e-12 {
                stopped.get_or_insert(report.time);
            } else {
                assert!((omega - (spin - rate * report.time)).abs() < 1e-9, "{preset:?}: {omega}");
            }
        });
        assert!((stopped.unwrap() - spin / rate).abs() <= allowed() * h, "{preset:?} stopped at {stopped:?}");
    }
    assert_eq!(tried, 4, "polygons have no torsion and refuse it");
}

#[test]
fn an_oblique_hit_sticks_or_slides_as_coulomb_says() {
    let fraction = reference("c01").number("derived.oblique_hit_of_a_sphere.tangential_share_that_must_be_stopped");
    // Hits the floor at once, in a step so short that gravity is negligible.
    for preset in Preset::INERTIAL {
        for (v_t, v_n, mu) in [(1.0, 1.0, 0.3), (1.0, 1.0, 0.28), (3.0, 1.0, 0.3)] {
            let radius = 0.1;
            let body = solid_ball("ball", 1.0, radius).position(0.0, 0.0, radius).velocity(v_t, 0.0, -v_n);
            let model = over_floor(Dimension::Spatial, body, friction(mu));
            let mut simulation = Simulation::new(model, preset.scheme(), 1e-9).unwrap();
            let _ = step(&mut simulation);
            let exact = if fraction * v_t <= mu * v_n { (1.0 - fraction) * v_t } else { v_t - mu * v_n };
            let after = v(&simulation, "ball")[0];
            assert!((after - exact).abs() < 1e-7, "{preset:?}: {after} against {exact}");
        }
    }
}
