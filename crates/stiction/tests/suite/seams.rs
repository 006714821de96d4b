//! Seams in space: bodies cross neighbouring shapes as if they were one, and stop at what is real.

use std::f64::consts::FRAC_PI_2;

use nalgebra::{Matrix3, Point3, Rotation3, UnitQuaternion, Vector3};
use stiction::{
    BodyBuilder, CornerLogic, Dimension, Filter, Model, ModelBuilder, Pose, Preset, Scheme, Simulation, spatial,
};

use crate::support::{G, friction, q, solid_box, v, world};

/// Depth of the floors.
const DEPTH: f64 = 0.2;
/// Deviation from the motion on one plane at the same step.
const SAME: f64 = 1e-6;

/// Floors of several shapes with one flat top.
#[derive(Clone, Copy, Debug)]
enum Floor {
    /// One box.
    Plane,
    /// Two flush boxes of one body.
    Two,
    /// Two flush fixed bodies.
    TwoBodies,
    /// 20 × 20 tiles of this width, of one body.
    Tiles(f64),
    /// 20 × 20 tiles, each a fixed body.
    TileBodies,
    /// Triangular prisms on an irregular grid.
    Prisms,
    /// Boxes of different sizes whose seams end inside the sides of others.
    Junctions,
}

/// Bodies that move over the floor.
#[derive(Clone, Copy, Debug)]
enum Slider {
    Block,
    Hull,
    Sphere,
    Capsule,
    Disc,
}

fn piece(from: [f64; 2], to: [f64; 2], top: f64) -> (spatial::Shape, Vector3<f64>) {
    let (from, to) = (Vector3::new(from[0], from[1], top - DEPTH), Vector3::new(to[0], to[1], top));
    (spatial::Shape::cuboid((0.5 * (to - from)).into()).unwrap(), 0.5 * (from + to))
}

fn pose(at: &Vector3<f64>) -> Pose {
    Pose::from_parts((*at).into(), Rotation3::identity())
}

/// Corners of cells of an irregular grid, whose outline is straight.
fn grid_point(i: usize, j: usize) -> [f64; 2] {
    let (i_real, j_real) = (i as f64, j as f64);
    let inside = (1..20).contains(&i) && (1..20).contains(&j);
    let shift = if inside { 0.06 } else { 0.0 };
    [
        -2.03 + 0.2 * i_real + shift * (7.0 * i_real + 3.0 * j_real).sin(),
        -2.03 + 0.2 * j_real + shift * (5.0 * i_real + 11.0 * j_real).cos(),
    ]
}

impl Floor {
    fn pieces(self) -> Vec<(spatial::Shape, Vector3<f64>)> {
        let tiles = |width: f64| {
            let corner = |k: usize| width * (k as f64 - 10.15);
            let cell = |k: usize| (corner(k % 20), corner(k / 20));
            (0..400).map(cell).map(|(x, y)| piece([x, y], [x + width, y + width], 0.0)).collect()
        };
        match self {
            Self::Plane => vec![piece([-6.0, -6.0], [6.0, 6.0], 0.0)],
            Self::Two | Self::TwoBodies => {
                vec![piece([-6.0, -6.0], [0.0, 6.0], 0.0), piece([0.0, -6.0], [6.0, 6.0], 0.0)]
            }
            Self::Tiles(width) => tiles(width),
            Self::TileBodies => tiles(0.2),
            Self::Prisms => {
                let cells = (0..20).flat_map(|i| (0..20).map(move |j| (i, j)));
                let triangles = cells
                    .flat_map(|(i, j)| [[(i, j), (i + 1, j), (i + 1, j + 1)], [(i, j), (i + 1, j + 1), (i, j + 1)]]);
                let prism = |corners: [(usize, usize); 3]| {
                    let levels = corners.into_iter().flat_map(|(i, j)| {
                        let [x, y] = grid_point(i, j);
                        [Point3::new(x, y, 0.0), Point3::new(x, y, -DEPTH)]
                    });
                    spatial::Shape::convex_hull(&levels.collect::<Vec<_>>()).unwrap()
                };
                triangles.map(|corners| (prism(corners), Vector3::zeros())).collect()
            }
            Self::Junctions => {
                let strip = |k: usize| {
                    let (from, to) = (0.07 * k as f64 - 0.7, 0.07 * k as f64 - 0.63);
                    piece([from, -3.0], [to, 0.013 * k as f64 - 0.1], 0.0)
                };
                let rest = |k: usize| {
                    let (from, to) = (0.07 * k as f64 - 0.7, 0.07 * k as f64 - 0.63);
                    piece([from, 0.013 * k as f64 - 0.1], [to, 3.0], 0.0)
                };
                let sides = [piece([-4.0, -3.0], [-0.7, 3.0], 0.0), piece([0.7, -3.0], [4.0, 3.0], 0.0)];
                (0..20).flat_map(|k| [strip(k), rest(k)]).chain(sides).collect()
            }
        }
    }

    fn bodies(self) -> Vec<BodyBuilder> {
        let pieces = self.pieces();
        if matches!(self, Self::TwoBodies | Self::TileBodies) {
            let fixed = |(k, (shape, at)): (usize, (spatial::Shape, Vector3<f64>))| {
                BodyBuilder::fixed(format!("tile {k}")).shape(shape.into()).position(at.x, at.y, at.z)
            };
            return pieces.into_iter().enumerate().map(fixed).collect();
        }
        let floor = BodyBuilder::fixed("floor");
        vec![pieces.into_iter().fold(floor, |floor, (shape, at)| floor.shape_at(shape.into(), pose(&at)))]
    }
}

impl Slider {
    /// The body at 0.6 m before the origin in a direction, at 1.5 m/s; round ones roll if there is friction.
    fn body(self, direction: f64, mu: f64) -> BodyBuilder {
        let (shape, height, turns) = match self {
            Self::Block => (spatial::Shape::cuboid([0.15, 0.15, 0.1]).unwrap(), 0.1, false),
            Self::Hull => {
                let level = |radius: f64, z: f64| {
                    (0..7).map(move |k| {
                        let angle = 0.9 * f64::from(k) + 0.1;
                        Point3::new(radius * angle.cos(), 0.9 * radius * angle.sin(), z)
                    })
                };
                let points: Vec<_> = level(0.15, -0.08).chain(level(0.1, 0.07)).collect();
                (spatial::Shape::convex_hull(&points).unwrap(), 0.08, false)
            }
            Self::Sphere => (spatial::Shape::sphere(0.05).unwrap(), 0.05, true),
            Self::Capsule => (spatial::Shape::capsule(0.1, 0.05).unwrap(), 0.05, true),
            Self::Disc => (spatial::Shape::cylinder(0.02, 0.08).unwrap(), 0.08, true),
        };
        let velocity = Vector3::new(direction.cos(), direction.sin(), 0.0) * 1.5;
        let start = -0.4 * velocity;
        let spin = if turns && mu > 0.0 { Vector3::z().cross(&velocity) / height } else { Vector3::zeros() };
        // Capsules and discs go across their axes.
        let yaw = if turns { direction + FRAC_PI_2 } else { 0.0 };
        let at = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
        BodyBuilder::rigid("slider", 1.0, Matrix3::from_diagonal(&Vector3::new(2e-3, 4e-3, 4e-3)))
            .shape(shape.into())
            .position(start.x, start.y, height)
            .quaternion([at.w, at.i, at.j, at.k])
            .velocity(velocity.x, velocity.y, 0.0)
            .angular_velocity(spin.x, spin.y, spin.z)
    }
}

fn simulation(bodies: Vec<BodyBuilder>, mu: f64, h: f64) -> Simulation {
    let model = world(Dimension::Spatial, bodies, [0.0, 0.0, -G], friction(mu));
    Simulation::new(model, Preset::default().scheme(), h).unwrap()
}

/// Crosses a floor for 0.8 s and compares every step with one plane.
fn cross(floor: Floor, slider: Slider, degrees: f64, mu: f64, h: f64) {
    let direction = degrees.to_radians();
    let run = |floor: Floor| {
        let bodies = floor.bodies().into_iter().chain([slider.body(direction, mu)]).collect();
        simulation(bodies, mu, h)
    };
    let (mut plane, mut pieces) = (run(Floor::Plane), run(floor));
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let case = format!("{floor:?} {slider:?} {degrees}° μ = {mu} h = {h}");
    for _ in 0..(0.8 / h) as usize {
        let (one, report) = (plane.step().unwrap(), pieces.step().unwrap());
        let (of_plane, of_pieces) = (plane.state(), pieces.state());
        let (moved, fast) = (apart(&of_plane.q, &of_pieces.q), apart(&of_plane.v, &of_pieces.v));
        assert!(moved < SAME && fast < SAME, "{case}: {moved:e} m, {fast:e} m/s at t = {}", report.time);
        // A point on a seam is on two shapes.
        let contacts = one.contacts..=2 * one.contacts;
        assert!(contacts.contains(&report.contacts), "{case}: {} contacts at t = {}", report.contacts, report.time);
    }
}

#[test]
fn bodies_cross_the_seams_of_a_floor_as_one_plane() {
    for (floor, slider, degrees, mu, h) in [
        (Floor::Two, Slider::Block, 0.0, 0.1, 0.005),
        (Floor::Two, Slider::Block, 37.0, 0.0, 0.01),
        (Floor::TwoBodies, Slider::Block, 20.0, 0.1, 0.01),
        (Floor::TwoBodies, Slider::Sphere, 0.0, 0.3, 0.01),
        (Floor::Tiles(0.2), Slider::Block, 45.0, 0.1, 0.01),
        (Floor::Tiles(0.1), Slider::Block, 5.0, 0.0, 0.01),
        (Floor::Tiles(0.2), Slider::Sphere, 110.0, 0.0, 0.01),
        (Floor::TileBodies, Slider::Capsule, 200.0, 0.3, 0.01),
        (Floor::Tiles(0.2), Slider::Disc, 70.0, 0.3, 0.01),
        (Floor::Two, Slider::Hull, 10.0, 0.1, 0.01),
        (Floor::Junctions, Slider::Block, 0.0, 0.1, 0.01),
        (Floor::Junctions, Slider::Sphere, 0.0, 0.0, 0.01),
    ] {
        cross(floor, slider, degrees, mu, h);
    }
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn bodies_cross_every_floor_of_pieces_in_all_directions() {
    let floors = [Floor::Two, Floor::TwoBodies, Floor::Tiles(0.2), Floor::Tiles(0.1), Floor::Prisms, Floor::Junctions];
    for floor in floors {
        for slider in [Slider::Block, Slider::Hull, Slider::Sphere, Slider::Capsule, Slider::Disc] {
            for step in 0..36 {
                for mu in [0.0, 0.2] {
                    // Every direction at one step size, every step size in a third of the directions.
                    let h = [0.01, 0.005, 0.001][step % 3];
                    cross(floor, slider, 10.0 * step as f64 + 0.3, mu, h);
                }
            }
        }
    }
}

/// A frictionless block of 30 cm that reaches the second of two boxes with its front after 20 steps.
fn block_at_step(rise: f64, corners: CornerLogic) -> (Simulation, usize) {
    let pieces = [piece([-6.0, -6.0], [0.0, 6.0], 0.0), piece([0.0, -6.0], [6.0, 6.0], rise)];
    let floor = BodyBuilder::fixed("floor");
    let floor = pieces.iter().fold(floor, |floor, (shape, at)| floor.shape_at(shape.clone().into(), pose(at)));
    let block = solid_box("block", 1.0, [0.15, 0.15, 0.1]).position(-0.3, 0.0, 0.1).velocity(1.5, 0.0, 0.0);
    let model = world(Dimension::Spatial, [floor, block], [0.0, 0.0, -G], friction(0.0));
    let scheme = Scheme { corners, ..Preset::default().scheme() };
    (Simulation::new(model, scheme, 0.005).unwrap(), 20)
}

#[test]
fn a_block_tips_at_a_step_of_a_millimetre() {
    let (mut simulation, steps) = block_at_step(1e-3, CornerLogic::Exact);
    for _ in 0..=steps {
        let _ = simulation.step().unwrap();
    }
    // The floor pushes at the front edge and the step at its upper edge, 1 mm above: momentum about the point where these forces meet is
    // I ω = m v c − m g a h, as gravity acts in that step too.
    let (a, c, h) = (0.15, 0.1 - 1e-3, 0.005);
    let inertia = (a * a + 0.01) / 3.0 + a * a + c * c;
    let turn = (1.5 * c - G * a * h) / inertia;
    let after = v(&simulation, "block");
    assert!((after[4] - turn).abs() < 1e-6 && (after[0] - turn * c).abs() < 1e-6, "{after:?} instead of {turn} rad/s");
    let place = q(&simulation, "block")[0];
    assert!((place + 0.15 - h * turn * c).abs() < 1e-6, "{place}");
}

#[test]
fn a_block_slides_off_a_step_down_and_over_none() {
    for fall in [0.0, 1e-3] {
        let (mut simulation, _) = block_at_step(-fall, CornerLogic::Exact);
        for _ in 0..160 {
            let _ = simulation.step().unwrap();
        }
        let (place, speed) = (q(&simulation, "block"), v(&simulation, "block"));
        assert!((place[2] - 0.1 + fall).abs() < 1e-6, "{place:?}");
        // Sliding off, it gains at most its potential energy.
        assert!(speed[0] > 1.5 - 1e-9 && 0.5 * (speed[0] * speed[0] - 2.25) < G * fall + 1e-9, "{speed:?}");
    }
}

#[test]
fn seams_stop_bodies_only_with_conjunctive_corners() {
    let (mut simulation, steps) = block_at_step(0.0, CornerLogic::Conjunctive);
    for _ in 0..2 * steps {
        let _ = simulation.step().unwrap();
    }
    assert!(v(&simulation, "block")[0] < 1.0, "{:?}", v(&simulation, "block"));
}

#[test]
fn disjunctive_corners_are_refused_in_space() {
    let model = world(Dimension::Spatial, [solid_box("block", 1.0, [0.1; 3])], [0.0; 3], friction(0.0));
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.corners = CornerLogic::Disjunctive;
    let refused = Simulation::new(model, scheme, 0.01).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("corners") && refused.contains("exact"), "{refused}");
}

/// A block slides to a wall that stands on a seam of the floor, and stays upright at its foot.
#[test]
fn a_wall_on_a_seam_stops_a_block_at_its_foot() {
    let floor = Floor::Two
        .pieces()
        .into_iter()
        .fold(BodyBuilder::fixed("floor"), |floor, (shape, at)| floor.shape_at(shape.into(), pose(&at)));
    let wall = spatial::Shape::cuboid([0.1, 1.0, 0.5]).unwrap();
    let wall = BodyBuilder::fixed("wall").shape(wall.into()).position(0.1, 0.0, 0.5);
    let block = solid_box("block", 1.0, [0.15, 0.15, 0.1]).position(-0.3, 0.0, 0.1).velocity(1.5, 0.0, 0.0);
    let mut simulation = simulation(vec![floor, wall, block], 0.0, 0.005);
    for _ in 0..60 {
        let _ = simulation.step().unwrap();
    }
    let (place, speed) = (q(&simulation, "block"), v(&simulation, "block"));
    assert!((place[0] + 0.15).abs() < 1e-9, "{place:?}");
    assert!(speed.iter().all(|x| x.abs() < 1e-9), "{speed:?}");
}

/// Two flush boxes, of which the first is not among the shapes that the block may touch: it hides nothing.
#[test]
fn a_neighbour_that_does_not_collide_hides_nothing() {
    let run = |hidden: Filter| {
        let mut floor = BodyBuilder::fixed("floor");
        for (k, (shape, at)) in Floor::Two.pieces().into_iter().enumerate() {
            floor = floor.shape_among(shape.into(), pose(&at), if k == 0 { hidden } else { Filter::default() });
        }
        let mut builder = ModelBuilder::new(Dimension::Spatial);
        builder.body(floor).unwrap();
        let block = solid_box("block", 1.0, [0.15, 0.15, 0.05]).position(-0.3, 0.0, -0.1).velocity(1.5, 0.0, 0.0);
        builder.body(block).unwrap();
        let model: Model = builder.build().unwrap();
        let mut simulation = Simulation::new(model, Preset::default().scheme(), 0.005).unwrap();
        for _ in 0..40 {
            let _ = simulation.step().unwrap();
        }
        v(&simulation, "block")[0]
    };
    assert!(run(Filter { groups: 2, meets: 2 }).abs() < 1e-9, "the side of the second box stops the block");
}

/// A moving body of several flush boxes slides as one box, and lands on an edge between its parts as one.
#[test]
fn the_seams_of_a_moving_body_are_silent_too() {
    let run = |parts: usize| {
        let whole = solid_box("block", 1.0, [0.15, 0.15, 0.1]);
        let mut block = BodyBuilder::rigid("block", 1.0, whole_inertia());
        let width = 0.3 / parts as f64;
        for k in 0..parts {
            let shape = spatial::Shape::cuboid([0.5 * width, 0.15, 0.1]).unwrap();
            block = block.shape_at(shape.into(), pose(&(Vector3::x() * (width * (k as f64 + 0.5) - 0.15))));
        }
        let block = if parts == 1 { whole } else { block };
        let block = block.position(-0.4, 0.03, 0.13).velocity(1.0, 0.1, 0.0);
        let bodies = Floor::Two.bodies().into_iter().chain([block]).collect();
        let mut simulation = simulation(bodies, 0.2, 0.01);
        for _ in 0..60 {
            let _ = simulation.step().unwrap();
        }
        (q(&simulation, "block").to_vec(), v(&simulation, "block").to_vec())
    };
    let (place, speed) = run(1);
    let (place_of_parts, speed_of_parts) = run(3);
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let (moved, fast) = (apart(&place, &place_of_parts), apart(&speed, &speed_of_parts));
    assert!(moved < SAME && fast < SAME, "{moved:e} {fast:e}");
    assert!(place[0] > -0.2, "{place:?}");
}

/// Inertia of a solid box of 1 kg, 0.3 m × 0.3 m × 0.2 m.
fn whole_inertia() -> Matrix3<f64> {
    let [a, b, c] = [0.15_f64, 0.15, 0.1].map(|half| half * half / 3.0);
    Matrix3::from_diagonal(&Vector3::new(b + c, a + c, a + b))
}

/// A ball that rolls slowly into a hole of 20 cm between two boxes over a deeper floor stays there.
#[test]
fn a_ball_falls_into_a_hole_and_stays() {
    let pieces = [
        piece([-2.0, -2.0], [0.0, 2.0], 0.0),
        piece([0.2, -2.0], [2.0, 2.0], 0.0),
        piece([-2.0, -2.0], [2.0, 2.0], -DEPTH),
    ];
    let floor = BodyBuilder::fixed("floor");
    let floor = pieces.iter().fold(floor, |floor, (shape, at)| floor.shape_at(shape.clone().into(), pose(at)));
    let ball = crate::support::solid_ball("ball", 1.0, 0.05).position(-0.1, 0.0, 0.05).velocity(0.4, 0.0, 0.0);
    let mut simulation = simulation(vec![floor, ball], 0.0, 0.005);
    for _ in 0..400 {
        let report = simulation.step().unwrap();
        assert!(report.penetration < 1e-3, "{} at t = {}", report.penetration, report.time);
    }
    let place = q(&simulation, "ball");
    assert!((place[2] - 0.05 + DEPTH).abs() < 1e-6 && (0.05 - 1e-6..0.15 + 1e-6).contains(&place[0]), "{place:?}");
}
