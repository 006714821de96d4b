//! Energy and momentum of rigid bodies against sums over the point masses they are made of.

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{BodyBuilder, BodyId, Dimension, ModelBuilder, Spring, energy, momentum};
use stiction_testkit::Random;

use crate::support::{close, close_vector, configuration, orientation, planar_vector, vector, wxyz};

/// Point masses about their common centre, in body axes.
struct Cluster {
    points: Vec<(f64, Vector3<f64>)>,
}

impl Cluster {
    fn new(random: &mut Random, planar: bool) -> Self {
        let mut points: Vec<_> = (0..6)
            .map(|_| {
                let place = if planar { planar_vector(random, 1.0) } else { vector(random, 1.0) };
                (random.uniform(0.1, 2.0), place)
            })
            .collect();
        let mass: f64 = points.iter().map(|(m, _)| m).sum();
        let centre: Vector3<f64> = points.iter().map(|(m, r)| r * *m).sum::<Vector3<f64>>() / mass;
        for (_, arm) in &mut points {
            *arm -= centre;
        }
        Self { points }
    }

    fn mass(&self) -> f64 {
        self.points.iter().map(|(m, _)| m).sum()
    }

    fn inertia(&self) -> Matrix3<f64> {
        let one = Matrix3::identity();
        self.points.iter().map(|(m, r)| (one * r.norm_squared() - r * r.transpose()) * *m).sum()
    }
}

/// DYN-6, DYN-7.
#[test]
fn energy_and_momentum_are_those_of_the_point_masses() {
    let mut random = Random::new(71);
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        let planar = dimension == Dimension::Planar;
        for _ in 0..50 {
            let random_vector =
                |random: &mut Random| if planar { planar_vector(random, 2.0) } else { vector(random, 2.0) };
            let mut builder = ModelBuilder::new(dimension);
            let g = random_vector(&mut random);
            builder.gravity(g.x, g.y, g.z).unwrap();
            let (mut kinetic, mut potential) = (0.0, 0.0);
            let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
            for name in ["a", "b", "c"] {
                let cluster = Cluster::new(&mut random, planar);
                let (p, v) = (random_vector(&mut random), random_vector(&mut random));
                let (angle, e) = (random.uniform(-3.0, 3.0), orientation(&mut random));
                let (builder_of_body, r, w) = if planar {
                    let w = Vector3::z() * random.uniform(-3.0, 3.0);
                    let (s, c) = libm::sincos(angle);
                    let r = Matrix3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0);
                    (BodyBuilder::planar(name, cluster.mass(), cluster.inertia().m33).angle(angle), r, w)
                } else {
                    let rigid = BodyBuilder::rigid(name, cluster.mass(), cluster.inertia()).quaternion(wxyz(&e));
                    (rigid, *e.to_rotation_matrix().matrix(), vector(&mut random, 3.0))
                };
                let placed = builder_of_body.position(p.x, p.y, p.z).velocity(v.x, v.y, v.z);
                builder.body(placed.angular_velocity(w.x, w.y, w.z)).unwrap();
                for (m, arm) in &cluster.points {
                    let (place, velocity) = (p + r * arm, v + w.cross(&(r * arm)));
                    kinetic += 0.5 * m * velocity.norm_squared();
                    potential -= m * g.dot(&place);
                    linear += velocity * *m;
                    angular += place.cross(&(velocity * *m));
                }
            }
            let particle = BodyBuilder::particle("p", 0.3).position(1.0, -2.0, 0.0).velocity(0.5, 0.25, 0.0);
            builder.body(particle).unwrap();
            kinetic += 0.5 * 0.3 * (0.25 + 0.0625);
            potential -= 0.3 * (g.x - 2.0 * g.y);
            linear += Vector3::new(0.15, 0.075, 0.0);
            angular += Vector3::new(1.0, -2.0, 0.0).cross(&Vector3::new(0.15, 0.075, 0.0));

            let model = builder.build().unwrap();
            let state = model.initial_state();
            let at = configuration(&model, &state.q, &state.v, 0.0);
            let (found, momentum) = (energy(&model, &at, &[]), momentum(&model, &at));
            close(found.kinetic, kinetic, 1e-13);
            close(found.potential, potential, 1e-13);
            assert_eq!(found.total(), found.kinetic + found.potential);
            close_vector(&momentum.linear, &linear, 1e-13);
            close_vector(&momentum.angular, &angular, 1e-13);
        }
    }
}

/// DYN-6: springs store ½ k (L − L₀)², in tension or compression.
#[test]
fn springs_store_energy() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let p = builder.body(BodyBuilder::particle("p", 1.0).position(3.0, 4.0, 0.0)).unwrap();
    for rest_length in [4.0, 7.0] {
        let (a, b) = ((BodyId::WORLD, Vector3::zeros()), (p, Vector3::zeros()));
        builder.spring(Spring { a, b, stiffness: 10.0, rest_length, damping: 9.0 }).unwrap();
    }
    let model = builder.build().unwrap();
    let state = model.initial_state();
    let at = configuration(&model, &state.q, &state.v, 0.0);
    assert_eq!(energy(&model, &at, &[]).potential, 0.5 * 10.0 * (1.0 + 4.0));
}
