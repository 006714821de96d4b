//! C-31: three planar chains of two links on each other, in generalised coordinates.

#![allow(clippy::cast_sign_loss, reason = "numbers of systems and links are positive")]

use nalgebra::{Matrix3, Vector3};
use stiction_complementarity::{
    Lcp, LcpLemke, LcpSolution, MixedLcp, MixedLcpLadder, MixedLcpSolution, Status, Tolerance, solve,
};
use stiction_multibody::{
    LinkId, Pose, Twist,
    articulated::{Kinematics, LinkSpec, Tree, TreeBuilder, TreeJoint},
};
use stiction_schemes::{ArticulatedSystem, SystemContact, SystemContacts, SystemLink, SystemsError};
use stiction_testkit::{Reference, reference};

struct Chain {
    tree: Tree,
    at: Kinematics,
    v: Vec<f64>,
    tau: Vec<f64>,
}

/// Two rods along x of their links; the first floats in the plane or is hinged to the world.
fn chain(case: &Reference, index: usize, floating: bool) -> Chain {
    let numbers = |name: &str| case.numbers(&format!("parameters.systems.{index}.{name}"));
    let at_origin = |numbers: Vec<f64>| match (floating, &numbers[..]) {
        (true, [_, _]) => [&[0.0; 2], &numbers[..]].concat(),
        _ => numbers,
    };
    let (lengths, masses) = (numbers("lengths"), numbers("masses"));
    let (q, v, tau) = (at_origin(numbers("q")), at_origin(numbers("v")), at_origin(numbers("tau")));
    let revolute = TreeJoint::Revolute { axis: Vector3::z() };
    let joints = [if q.len() == 4 { TreeJoint::Planar } else { revolute }, revolute];
    let mut builder = TreeBuilder::new(Vector3::new(0.0, -case.number("parameters.gravity"), 0.0)).unwrap();
    let rod = |k: usize| {
        let inertia = Matrix3::from_diagonal_element(masses[k] * lengths[k] * lengths[k] / 12.0);
        LinkSpec::new(format!("link {k}"), joints[k]).with_mass(
            masses[k],
            Vector3::new(0.5 * lengths[k], 0.0, 0.0),
            inertia,
        )
    };
    let first = builder.link(rod(0)).unwrap();
    builder.link(rod(1).on(first, Pose::translation(lengths[0], 0.0, 0.0))).unwrap();
    let tree = builder.build();
    let mut at = Kinematics::new(&tree);
    at.update(&tree, &q, &v);
    Chain { tree, at, v, tau }
}

fn link(chain: &Chain, number: f64) -> LinkId {
    chain.tree.link_ids().nth(number as usize - 1).unwrap()
}

struct Scene {
    case: Reference,
    chains: Vec<Chain>,
    contacts: Vec<SystemContact>,
    problem: SystemContacts,
}

impl Scene {
    /// As given, or with the hinged chain floating too.
    fn new(floating: bool) -> Self {
        let case = reference("c31");
        let chains: Vec<Chain> = (0..3).map(|index| chain(&case, index, floating)).collect();
        let contact = |row: &std::collections::BTreeMap<String, f64>| {
            let of = |side: &str| {
                let system = row[&format!("{side}_system")] as usize - 1;
                SystemLink { system, link: link(&chains[system], row[&format!("{side}_link")]) }
            };
            let normal = Vector3::new(row["normal_x"], row["normal_y"], 0.0).normalize();
            SystemContact {
                first: of("first"),
                second: Some(of("second")),
                point: Vector3::new(row["x"], row["y"], 0.0),
                normal,
                tangent: normal.cross(&Vector3::z()),
                friction: row["friction"],
            }
        };
        let contacts: Vec<_> = case.table("parameters.contacts").iter().map(contact).collect();
        let trees: Vec<&Tree> = chains.iter().map(|chain| &chain.tree).collect();
        let problem = SystemContacts::new(&trees, case.number("parameters.directions") as usize).unwrap();
        let mut scene = Self { case, chains, contacts, problem };
        let systems: Vec<_> = scene.chains.iter().map(Chain::system).collect();
        scene.problem.assemble(&systems, &scene.contacts, scene.case.number("parameters.step")).unwrap();
        scene
    }

    /// f_n, f_d, λ of the reduced problem.
    fn reduced(&self, scale: f64) -> Vec<f64> {
        let (mut lcp, mut solution) = (Lcp::default(), LcpSolution::default());
        self.problem.reduced(scale, &mut lcp).unwrap();
        let outcome = solve(&mut LcpLemke::default(), &lcp, None, &mut solution, &Tolerance::default());
        assert_eq!(outcome.status, Status::Solved);
        solution.z
    }

    /// Friction along the tangent of each contact.
    fn frictions(z: &[f64]) -> Vec<f64> {
        z[4..12].chunks(2).map(|pair| pair[0] - pair[1]).collect()
    }
}

impl Chain {
    fn system(&self) -> ArticulatedSystem<'_> {
        ArticulatedSystem { tree: &self.tree, at: &self.at, v: &self.v, tau: &self.tau }
    }
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "{what}, entry {k}: {found} instead of {expected}");
    }
}

#[test]
fn c31_matrices_are_those_derived_by_hand() {
    let scene = Scene::new(false);
    let (case, problem) = (&scene.case, &scene.problem);
    let close = case.number("tolerance.matrices.abs");
    let (m, p) = (problem.velocities(), problem.contacts());
    assert_eq!((m as f64, p as f64), (case.number("sizes.velocities"), case.number("sizes.contacts")));
    assert_eq!((problem.normals().rows(), problem.normals().cols()), (m, p));
    assert_eq!((problem.frictions().rows(), problem.frictions().cols()), (m, 2 * p));
    for k in 0..m {
        assert_near(problem.normals().row(k), &case.numbers(&format!("derived.normals.{k}")), close, "N");
        assert_near(problem.frictions().row(k), &case.numbers(&format!("derived.frictions.{k}")), close, "B");
    }
    assert_near(problem.momentum(), &case.numbers("derived.momentum"), close, "τ*");
    let mut mixed = MixedLcp::default();
    problem.mixed(&mut mixed);
    for k in 0..m {
        let mut row = vec![0.0; m];
        mixed.equality.on_free.row(k).for_each(|(column, value)| row[column] = value);
        assert_near(&row, &case.numbers(&format!("derived.mass.{k}")), close, "M");
    }
}

/// S4(8): the systems that a contact moves, with + on the first of them if all turn the same way.
#[test]
fn c31_sign_pattern() {
    let mut scene = Scene::new(false);
    let pattern = [[1, 1, 0, 0], [0, -1, 1, 1], [-1, 0, -1, -1]];
    let ranges = [0..4, 4..8, 8..10];
    let of_pairs: Vec<_> = (0..10).map(|k| scene.problem.normals().row(k).to_vec()).collect();
    for j in 0..4 {
        // With the world as the other side, the column of a system is that of its own J.
        for (system, range) in ranges.iter().enumerate() {
            let contact = scene.contacts[j];
            let mut alone = contact;
            alone.second = None;
            if contact.second.unwrap().system == system {
                alone.first = contact.second.unwrap();
            }
            let systems: Vec<_> = scene.chains.iter().map(Chain::system).collect();
            scene.problem.assemble(&systems, &[alone], 0.01).unwrap();
            let sign = f64::from(pattern[system][j]);
            let mut largest: f64 = 0.0;
            for k in range.clone() {
                let own = scene.problem.normals().row(k)[0];
                let expected = if sign == 0.0 { 0.0 } else { sign * own };
                assert_eq!(of_pairs[k][j], expected, "velocity {k}, contact {j}");
                largest = largest.max(of_pairs[k][j].abs());
            }
            assert_eq!(largest > 0.0, sign != 0.0, "system {system}, contact {j}");
        }
    }
}

/// Nᵀ q̇ and Bᵀ q̇ are the relative velocities along n and t, from the twists of the links.
#[test]
fn c31_rows_are_relative_velocities() {
    let scene = Scene::new(false);
    let v: Vec<f64> = scene.chains.iter().flat_map(|chain| chain.v.clone()).collect();
    for (j, contact) in scene.contacts.iter().enumerate() {
        let velocity = |side: SystemLink| {
            let at = &scene.chains[side.system].at;
            let twist: &Twist = at.twist(side.link);
            twist.at(&(contact.point - at.pose(side.link).translation.vector))
        };
        let relative = velocity(contact.first) - velocity(contact.second.unwrap());
        let along = |row: &dyn Fn(usize) -> f64| (0..v.len()).map(|k| row(k) * v[k]).sum::<f64>();
        let found = [
            along(&|k| scene.problem.normals().row(k)[j]),
            along(&|k| scene.problem.frictions().row(k)[2 * j]),
            along(&|k| scene.problem.frictions().row(k)[2 * j + 1]),
        ];
        let expected = [contact.normal, contact.tangent, -contact.tangent].map(|d| d.dot(&relative));
        assert_near(&found, &expected, 1e-14, "rates");
    }
}

/// Action and reaction: no force of a contact changes the momentum or the angular momentum of all systems together.
#[test]
fn c31_contact_forces_have_no_net_wrench() {
    // With all three floating, the generalised forces of a base are the wrench on its whole system: x, y, and the moment about its first end.
    let scene = Scene::new(true);
    for column in 0..12 {
        let entry = |k: usize| {
            if column < 4 {
                scene.problem.normals().row(k)[column]
            } else {
                scene.problem.frictions().row(k)[column - 4]
            }
        };
        let (mut force, mut moment, mut largest) = (Vector3::zeros(), 0.0, 0.0_f64);
        for (system, chain) in scene.chains.iter().enumerate() {
            let origin = chain.at.poses()[0].translation.vector;
            let own = Vector3::new(entry(4 * system), entry(4 * system + 1), 0.0);
            force += own;
            moment += entry(4 * system + 2) + origin.cross(&own).z;
            largest = largest.max(own.norm());
        }
        assert!(force.norm() < 1e-14 && moment.abs() < 1e-14, "column {column}: {force} {moment}");
        assert!((largest - 1.0).abs() < 1e-14, "column {column}");
    }
}

#[test]
fn c31_reduced_and_mixed_form_agree_with_the_enumeration() {
    let scene = Scene::new(false);
    let case = &scene.case;
    let close = case.number("tolerance.forces.abs");
    let z = scene.reduced(1.0);
    assert_eq!(z.len() as f64, case.number("sizes.reduced"));
    assert_near(&z[..4], &case.numbers("derived.normal_forces"), close, "f_n");
    assert_near(&Scene::frictions(&z), &case.numbers("derived.friction_forces"), close, "friction");
    assert_near(&z[12..], &case.numbers("derived.slip_speeds"), close, "λ");
    let mut velocity = Vec::new();
    scene.problem.velocity(&z[..12], &mut velocity);
    assert_near(&velocity, &case.numbers("derived.velocity"), close, "q̇");

    let (mut mixed, mut solution) = (MixedLcp::default(), MixedLcpSolution::default());
    scene.problem.mixed(&mut mixed);
    assert_eq!(mixed.size() as f64, case.number("sizes.mixed"));
    let outcome = solve(&mut MixedLcpLadder::new(), &mixed, None, &mut solution, &Tolerance::default());
    assert_eq!(outcome.status, Status::Solved);
    assert_near(&solution.free, &velocity, 1e-12, "q̇ of the mixed form");
    assert_near(&solution.complementary[..4], &z[..4], 1e-10, "f_n of the mixed form");
    assert_near(&Scene::frictions(&solution.complementary), &Scene::frictions(&z), 1e-10, "friction of the mixed form");
    assert_near(&solution.complementary[12..], &z[12..], 1e-12, "λ of the mixed form");
}

/// Section 5: E and μ times the step leave the forces unchanged and divide λ by it.
#[test]
fn c31_scaling_leaves_the_forces() {
    let scene = Scene::new(false);
    let h = scene.case.number("parameters.step");
    let (plain, scaled) = (scene.reduced(1.0), scene.reduced(h));
    let close = scene.case.number("tolerance.scaling.abs");
    assert_near(&scaled[..4], &plain[..4], close, "f_n");
    assert_near(&scaled[4..12], &plain[4..12], close, "f_d");
    let divided: Vec<f64> = plain[12..].iter().map(|lambda| lambda / h).collect();
    assert_near(&scaled[12..], &divided, close / h, "λ");
}

#[test]
fn c31_refusals() {
    let mut scene = Scene::new(false);
    let trees: Vec<&Tree> = scene.chains.iter().map(|chain| &chain.tree).collect();
    assert_eq!(SystemContacts::new(&trees, 3).err(), Some(SystemsError::Directions(3)));
    let systems: Vec<_> = scene.chains.iter().map(Chain::system).collect();
    let mut refused = |systems: &[ArticulatedSystem], contacts: &[SystemContact], h: f64| {
        scene.problem.assemble(systems, contacts, h).unwrap_err()
    };
    let good = scene.contacts[0];
    assert_eq!(refused(&systems, &[], 0.0), SystemsError::Step(0.0));
    assert_eq!(refused(&systems[..2], &[], 0.1), SystemsError::Systems { found: 2, expected: 3 });
    let short = [systems[0], systems[1], ArticulatedSystem { v: &[], ..systems[2] }];
    assert_eq!(refused(&short, &[], 0.1), SystemsError::Size { system: 2 });
    let bad = [
        (SystemContact { first: SystemLink { system: 3, ..good.first }, ..good }, "first"),
        (SystemContact { normal: good.normal * 2.0, ..good }, "normal"),
        (SystemContact { tangent: good.normal, ..good }, "tangent"),
        (SystemContact { friction: -0.1, ..good }, "friction"),
        (SystemContact { point: Vector3::repeat(f64::NAN), ..good }, "point"),
    ];
    for (contact, field) in bad {
        assert_eq!(refused(&systems, &[good, contact], 0.1), SystemsError::Contact { contact: 1, field });
    }
}
