//! Forms of the root problem: sizes, and the same impulses from each.

use nalgebra::Vector3;
use stiction_complementarity::{
    DenseMatrix, FrictionLadder, FrictionProblem, FrictionSolution, Lcp, LcpLadder, LcpLemke, LcpSolution, MixedLcp,
    MixedLcpSchur, MixedLcpSolution, Tolerance, solve,
};
use stiction_multibody::{
    LinkId, Wrench,
    articulated::{ArticulatedFactors, coupling, half_response, wrench_row},
};
use stiction_schemes::{
    HybridError, HybridForm, HybridOptions, HybridState, HybridStepper, PlaneContact, RootEquations, RootExtent,
};
use stiction_testkit::{Random, count_allocations};

use super::chains::{Posed, chain, posed};

const H: f64 = 0.01;

fn root(scene: &mut Posed, contacts: &[PlaneContact], directions: usize, extent: RootExtent) -> RootEquations {
    let free = scene.free(H);
    let mut root = RootEquations::new(directions);
    root.assemble((&scene.tree, &scene.at, &scene.divide), contacts, (&scene.v, &free), extent).unwrap();
    root.set_step(contacts, &[], H);
    root
}

fn impulses(root: &RootEquations, z: &[f64]) -> Vec<f64> {
    (0..root.contacts()).flat_map(|contact| root.impulse(contact, z)).collect()
}

fn by_mixed(root: &RootEquations, write: fn(&RootEquations, &mut MixedLcp) -> Result<(), HybridError>) -> Vec<f64> {
    let (mut problem, mut solution) = (MixedLcp::default(), MixedLcpSolution::default());
    write(root, &mut problem).unwrap();
    problem.ensure_shapes().unwrap();
    let mut solver = MixedLcpSchur::new(LcpLemke::new());
    let outcome = solve(&mut solver, &problem, None, &mut solution, &Tolerance::default());
    assert!(outcome.status.is_solved() && outcome.residual.value < 1e-11, "{:?}", outcome.residual);
    impulses(root, &solution.complementary)
}

fn by_lcp(root: &RootEquations, problem: &Lcp) -> Vec<f64> {
    let mut solution = LcpSolution::default();
    let outcome = solve(&mut LcpLadder::default(), problem, None, &mut solution, &Tolerance::default());
    assert!(outcome.status.is_solved() && outcome.residual.value < 1e-11, "{:?}", outcome.residual);
    impulses(root, &solution.z)
}

/// Linear problem in generalised coordinates, W = J M⁻¹ Jᵀ and J v by articulated bodies. It shares only the order of unknowns with the
/// code under test.
fn by_articulated_bodies(scene: &mut Posed, contacts: &[PlaneContact], directions: usize) -> Lcp {
    let free = scene.free(H);
    let Posed { tree, at, .. } = scene;
    let mut factors = ArticulatedFactors::new(tree);
    factors.update(tree, at).unwrap();
    // λ_N of all contacts, then the directions of each.
    let mut pushes: Vec<(usize, Vector3<f64>)> =
        contacts.iter().enumerate().map(|(c, contact)| (c, contact.normal)).collect();
    for (c, contact) in contacts.iter().enumerate() {
        let flat = if contact.normal.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
        let t = (flat - contact.normal * contact.normal.dot(&flat)).normalize();
        let o = contact.normal.cross(&t);
        pushes.extend((0..directions).map(|k| {
            let angle = std::f64::consts::TAU * k as f64 / directions as f64;
            (c, t * libm::cos(angle) + o * libm::sin(angle))
        }));
    }
    let rows: Vec<_> = pushes
        .iter()
        .map(|(c, direction)| {
            let link = contacts[*c].link;
            let point = (at.pose(link) * nalgebra::Point3::from(contacts[*c].point)).coords;
            let wrench = Wrench { linear: *direction, angular: Vector3::zeros() };
            let (mut row, mut half) = (vec![0.0; tree.depth(link)], vec![0.0; tree.depth(link)]);
            wrench_row(tree, at, link, (&wrench, &point), &mut row);
            half_response(tree, at, &factors, link, (&wrench, &point), &mut half);
            let head = tree.links()[link.index()].last_velocity();
            let rate: f64 = tree.ancestors(head).zip(&row).map(|(k, entry)| entry * free[k]).sum();
            (link, half, rate, contacts[*c].normal.dot(&point) - contacts[*c].offset)
        })
        .collect();
    let (count, all) = (rows.len(), rows.len() + contacts.len());
    let (mut m, mut q) = (DenseMatrix::zeros(all, all), vec![0.0; all]);
    for (i, (link, half, rate, gap)) in rows.iter().enumerate() {
        for (j, (other, other_half, ..)) in rows.iter().enumerate() {
            m[(i, j)] = coupling(tree, &factors, (*link, half), (*other, other_half));
        }
        q[i] = *rate;
        let slip = count + pushes[i].0;
        if i < contacts.len() {
            q[i] += gap / H;
            m[(slip, i)] = contacts[i].friction;
        } else {
            m[(i, slip)] = 1.0;
            m[(slip, i)] = -1.0;
        }
    }
    Lcp::new(m, q).unwrap()
}

/// On random chains with one to three contacts, both mixed problems, the linear one and the one in generalised coordinates
/// have the same impulses.
#[test]
fn all_forms_give_the_same_impulses() {
    let mut random = Random::new(7401);
    let (mut pushed, mut worst) = (0, 0.0_f64);
    for round in 0..60 {
        let count = 1 + random.below(12);
        let tree = chain(&mut random, count);
        let mut scene = posed(&mut random, tree);
        let ids: Vec<LinkId> = scene.tree.link_ids().collect();
        let contacts: Vec<PlaneContact> = (0..=round % 3)
            .map(|_| {
                let link = ids[random.below(ids.len())];
                scene.contact(&mut random, link, 0.3)
            })
            .collect();
        let root = root(&mut scene, &contacts, 8, RootExtent::Bodies);
        let mut lcp = Lcp::default();
        root.reduced(&mut lcp).unwrap();
        let expected = by_lcp(&root, &by_articulated_bodies(&mut scene, &contacts, 8));
        let scale = expected.iter().fold(1.0_f64, |size, p| size.max(p.abs()));
        for found in
            [by_lcp(&root, &lcp), by_mixed(&root, RootEquations::terminal), by_mixed(&root, RootEquations::appended)]
        {
            for (a, b) in found.iter().zip(&expected) {
                worst = worst.max((a - b).abs() / scale);
            }
        }
        pushed += usize::from(expected.iter().any(|&p| p > 0.01));
    }
    assert!(worst < 1e-10, "{worst:e}");
    assert!(pushed > 30, "{pushed} of 60 push");
}

/// The polygon tends to the cone: with 64 directions impulses are those of the second-order cone to the angle between directions.
#[test]
fn polygons_tend_to_the_cone() {
    let mut random = Random::new(7402);
    for _ in 0..20 {
        let tree = chain(&mut random, 4);
        let mut scene = posed(&mut random, tree);
        let link = scene.tree.link_ids().next().unwrap();
        let contact = [scene.contact(&mut random, link, 0.3)];
        let root = root(&mut scene, &contact, 64, RootExtent::Contacts);
        let (mut lcp, mut cone, mut solution) =
            (Lcp::default(), FrictionProblem::default(), FrictionSolution::default());
        root.reduced(&mut lcp).unwrap();
        root.cone(&mut cone).unwrap();
        let polygon = by_lcp(&root, &lcp);
        let mut ladder = FrictionLadder::with_tolerance(1e-10).unwrap();
        let outcome = solve(&mut ladder, &cone, None, &mut solution, &Tolerance::default());
        assert!(outcome.status.is_solved());
        for (a, b) in polygon.iter().zip(&solution.r) {
            assert!((a - b).abs() <= 0.05 * solution.r[0], "{polygon:?} {:?}", solution.r);
        }
    }
}

/// Unknowns with one contact of eight directions, for chains of 2 to 1000 links: 22 with the terminal handles, 28 with the body in contact
/// appended, 10 without either. No matrix that is factorised is larger than a joint.
#[test]
fn problems_do_not_grow_with_the_chain() {
    let mut random = Random::new(7403);
    for count in [2, 10, 100, 1000] {
        let tree = chain(&mut random, count);
        let mut scene = posed(&mut random, tree);
        let link = scene.tree.link_ids().nth(count / 2).unwrap();
        let contacts = [scene.contact(&mut random, link, 0.2)];
        let root = root(&mut scene, &contacts, 8, RootExtent::Bodies);
        let (mut mixed, mut lcp) = (MixedLcp::default(), Lcp::default());
        root.terminal(&mut mixed).unwrap();
        assert_eq!((mixed.free_size(), mixed.size()), (12, 22));
        root.appended(&mut mixed).unwrap();
        assert_eq!((mixed.free_size(), mixed.size()), (18, 28));
        root.reduced(&mut lcp).unwrap();
        assert_eq!(lcp.q().len(), 10);
        let tally = scene.divide.tally();
        assert_eq!((tally.largest, tally.joints), (6, count));
    }
}

/// With Ξ contacts on B bodies: 12 + 6 B + Ξ (2 + η).
#[test]
fn sizes_count_bodies_once() {
    let mut random = Random::new(7404);
    let tree = chain(&mut random, 5);
    let mut scene = posed(&mut random, tree);
    let ids: Vec<LinkId> = scene.tree.link_ids().collect();
    let contacts = [ids[1], ids[1], ids[4]].map(|link| scene.contact(&mut random, link, 0.2));
    let root = root(&mut scene, &contacts, 16, RootExtent::Bodies);
    let mut mixed = MixedLcp::default();
    root.terminal(&mut mixed).unwrap();
    assert_eq!(mixed.size(), 12 + 3 * 18);
    root.appended(&mut mixed).unwrap();
    assert_eq!(mixed.size(), 12 + 6 * 2 + 3 * 18);
}

/// A form whose numbers were not assembled cannot be written.
#[test]
fn forms_ask_for_the_numbers_they_need() {
    let mut random = Random::new(7407);
    let tree = chain(&mut random, 3);
    let mut scene = posed(&mut random, tree);
    let link = scene.tree.link_ids().nth(1).unwrap();
    let contacts = [scene.contact(&mut random, link, 0.2)];
    let mut mixed = MixedLcp::default();
    let contacts_only = root(&mut scene, &contacts, 8, RootExtent::Contacts);
    assert_eq!(contacts_only.terminal(&mut mixed), Err(HybridError::Extent { needed: "Handles" }));
    assert_eq!(contacts_only.appended(&mut mixed), Err(HybridError::Extent { needed: "Bodies" }));
    let with_handles = root(&mut scene, &contacts, 8, RootExtent::Handles);
    assert_eq!(with_handles.appended(&mut mixed), Err(HybridError::Extent { needed: "Bodies" }));
}

/// The velocity of a contact is a function of the terminal velocity alone if the contact is on the terminal body, as published; elsewhere
/// its own impulses enter.
#[test]
fn slip_by_terminal_velocities_alone() {
    let mut random = Random::new(7405);
    let tree = chain(&mut random, 6);
    let mut scene = posed(&mut random, tree);
    let ids: Vec<LinkId> = scene.tree.link_ids().collect();
    for (place, &link) in ids.iter().enumerate() {
        let contacts = [scene.contact(&mut random, link, 0.2)];
        let root = root(&mut scene, &contacts, 8, RootExtent::Handles);
        let largest = root.beyond_root().as_slice().iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        assert_eq!(largest == 0.0, place == 0, "link {place}: {largest}");
    }
}

/// Steps do not allocate after the first.
#[test]
fn steps_do_not_allocate() {
    let mut random = Random::new(7406);
    for form in [HybridForm::Terminal, HybridForm::Appended, HybridForm::Reduced, HybridForm::Cone] {
        let tree = chain(&mut random, 6);
        let scene = posed(&mut random, tree);
        let ids: Vec<LinkId> = scene.tree.link_ids().collect();
        let contacts = [ids[0], ids[3]].map(|link| scene.contact(&mut random, link, 0.2)).to_vec();
        let mut stepper =
            HybridStepper::new(scene.tree.clone(), contacts, HybridOptions { form, directions: 8 }).unwrap();
        let mut state = HybridState::new(scene.q.clone(), scene.v.clone());
        for _ in 0..20 {
            let _ = stepper.step(&mut state, 1e-3).unwrap();
        }
        let asked = count_allocations(|| {
            for _ in 0..20 {
                let _ = stepper.step(&mut state, 1e-3).unwrap();
            }
        });
        assert_eq!(asked.count, 0, "{form:?}");
    }
}
