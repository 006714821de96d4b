//! C-31: three planar chains of two links on each other with four contacts, in generalised coordinates.

use nalgebra::{Matrix3, Point3, Vector3};
use stiction::complementarity::{
    Lcp, LcpLemke, LcpSolution, MixedLcp, MixedLcpLadder, MixedLcpSolution, Status, Tolerance as Accuracy, solve,
};
use stiction::multibody::LinkId;
use stiction::multibody::articulated::{Kinematics, LinkSpec, Tree, TreeBuilder, TreeJoint};
use stiction::schemes::{ArticulatedSystem, SystemContact, SystemContacts, SystemLink};
use stiction::{Pose, Twist};
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};

use crate::norms::{furthest, largest};
use crate::{Account, CaseError, Entry, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let scene = Scene::read(case)?;
    sizes(case, &scene, &mut account)?;
    matrices(case, &scene, &mut account)?;
    account.add(
        Row::new("rows of Nᵀ q̇ and Bᵀ q̇ less the relative velocities of the links, largest", "m/s", scene.rates_off())
            .reference(case.at_most("tolerance.rates")?),
    );
    let reduced = scene.reduced(1.0)?;
    solution(case, &scene, &reduced, &mut account)?;
    let mixed = scene.mixed()?;
    account.add(
        Row::new("forces of the mixed less those of the reduced form, largest", "N", reduced.furthest(&mixed))
            .reference(case.at_most("tolerance.forms")?),
    );
    let scaled = scene.reduced(case.parameter("step")?)?;
    account.add(
        Row::new("forces with E and μ times the step less those without, largest", "N", reduced.furthest(&scaled))
            .reference(case.at_most("tolerance.scaling.abs")?),
    );
    account.draw(
        "The three systems, and the contact forces on the upper one of each two",
        "Figure 1 b is the diagram of the system; the source shows no result as a figure",
        figure(&scene, &reduced),
    );
    Ok(account)
}

/// Two rods along x of their links; the first is free in the plane or hinged to the world.
struct Chain {
    tree: Tree,
    at: Kinematics,
    v: Vec<f64>,
    tau: Vec<f64>,
    lengths: [f64; 2],
}

impl Chain {
    fn read(case: &Reference, index: usize) -> Result<Self, CaseError> {
        let path = |name: &str| format!("parameters.systems.{index}.{name}");
        let (lengths, masses) = (case.vector::<2>(&path("lengths"))?, case.vector::<2>(&path("masses"))?);
        let (q, v) = (case.numbers(&path("q"))?, case.numbers(&path("v"))?);
        let revolute = TreeJoint::Revolute { axis: Vector3::z() };
        let base = if q.len() == 4 { TreeJoint::Planar } else { revolute };
        let gravity = Vector3::new(0.0, -case.parameter("gravity")?, 0.0);
        let mut builder = TreeBuilder::new(gravity).map_err(CaseError::other)?;
        let rod = |name: &str, joint: TreeJoint, mass: f64, length: f64| {
            let inertia = Matrix3::from_diagonal_element(mass * length * length / 12.0);
            LinkSpec::new(name, joint).with_mass(mass, Vector3::new(0.5 * length, 0.0, 0.0), inertia)
        };
        let first = builder.link(rod("first", base, masses[0], lengths[0])).map_err(CaseError::other)?;
        let second = rod("second", revolute, masses[1], lengths[1]).on(first, Pose::translation(lengths[0], 0.0, 0.0));
        builder.link(second).map_err(CaseError::other)?;
        let tree = builder.build();
        let mut at = Kinematics::new(&tree);
        at.update(&tree, &q, &v);
        Ok(Self { tree, at, v, tau: case.numbers(&path("tau"))?, lengths })
    }

    /// The link of this number, from 1.
    fn link(&self, number: f64) -> Result<LinkId, CaseError> {
        let mut links = self.tree.link_ids().zip(1_u32..);
        let found = links.find(|(_, k)| f64::from(*k) == number);
        Ok(found.ok_or_else(|| CaseError::Absent(format!("link {number}")))?.0)
    }

    fn system(&self) -> ArticulatedSystem<'_> {
        ArticulatedSystem { tree: &self.tree, at: &self.at, v: &self.v, tau: &self.tau }
    }
}

struct Scene {
    chains: Vec<Chain>,
    contacts: Vec<SystemContact>,
    problem: SystemContacts,
}

/// Number of contacts of the case, and of friction directions of each.
const CONTACTS: usize = 4;

/// Solution of a form of the problem.
struct Forces {
    normal: Vec<f64>,
    /// Forces along the tangents. Opposite directions of a sticking contact may both be positive; only their difference is determined.
    friction: Vec<f64>,
    slip_speed: Vec<f64>,
    velocity: Vec<f64>,
}

impl Forces {
    fn of(complementary: &[f64], velocity: Vec<f64>) -> Self {
        let part = |from: usize, count: usize| complementary.iter().copied().skip(from).take(count).collect::<Vec<_>>();
        let pairs = part(CONTACTS, 2 * CONTACTS);
        let friction = pairs.chunks(2).map(|pair| pair.first().unwrap_or(&0.0) - pair.get(1).unwrap_or(&0.0));
        Self {
            normal: part(0, CONTACTS),
            friction: friction.collect(),
            slip_speed: part(3 * CONTACTS, CONTACTS),
            velocity,
        }
    }

    /// Largest difference of a force.
    fn furthest(&self, other: &Self) -> f64 {
        largest([furthest(&self.normal, &other.normal), furthest(&self.friction, &other.friction)])
    }
}

impl Scene {
    fn read(case: &Reference) -> Result<Self, CaseError> {
        let chains = (0..3).map(|index| Chain::read(case, index)).collect::<Result<Vec<_>, _>>()?;
        let contacts = case.table("parameters.contacts")?;
        let contacts = contacts.iter().map(|row| contact(row, &chains)).collect::<Result<Vec<_>, _>>()?;
        let trees: Vec<&Tree> = chains.iter().map(|chain| &chain.tree).collect();
        let directions = case.count("parameters.directions")?;
        let mut problem = SystemContacts::new(&trees, directions).map_err(CaseError::other)?;
        let systems: Vec<_> = chains.iter().map(Chain::system).collect();
        problem.assemble(&systems, &contacts, case.parameter("step")?).map_err(CaseError::other)?;
        Ok(Self { chains, contacts, problem })
    }

    /// The problem in f_n, f_d and λ alone, E and μ scaled.
    fn reduced(&self, scale: f64) -> Result<Forces, CaseError> {
        let (mut lcp, mut solution) = (Lcp::default(), LcpSolution::default());
        self.problem.reduced(scale, &mut lcp).map_err(CaseError::other)?;
        let outcome = solve(&mut LcpLemke::default(), &lcp, None, &mut solution, &Accuracy::default());
        solved(outcome.status)?;
        let mut velocity = Vec::new();
        self.problem.velocity(solution.z.get(..3 * CONTACTS).unwrap_or_default(), &mut velocity);
        Ok(Forces::of(&solution.z, velocity))
    }

    /// The problem with the velocities among its unknowns.
    fn mixed(&self) -> Result<Forces, CaseError> {
        let (mut mixed, mut solution) = (MixedLcp::default(), MixedLcpSolution::default());
        self.problem.mixed(&mut mixed);
        let outcome = solve(&mut MixedLcpLadder::new(), &mixed, None, &mut solution, &Accuracy::default());
        solved(outcome.status)?;
        Ok(Forces::of(&solution.complementary, solution.free))
    }

    /// Largest difference of the rows of N and B times q̇ from relative velocities along n, t and −t, by the twists of the links.
    fn rates_off(&self) -> f64 {
        let v: Vec<f64> = self.chains.iter().flat_map(|chain| chain.v.iter().copied()).collect();
        let times = |column: &dyn Fn(usize) -> Option<f64>| {
            v.iter().enumerate().map(|(k, v)| column(k).unwrap_or(f64::NAN) * v).sum::<f64>()
        };
        let mut off = Vec::new();
        for (j, contact) in self.contacts.iter().enumerate() {
            let velocity = |side: SystemLink| {
                let at = self.chains.get(side.system).map(|chain| &chain.at);
                let twist = |at: &Kinematics| {
                    let twist: &Twist = at.twist(side.link);
                    twist.at(&(contact.point - at.pose(side.link).translation.vector))
                };
                at.map_or_else(Vector3::zeros, twist)
            };
            let relative = velocity(contact.first) - contact.second.map_or_else(Vector3::zeros, velocity);
            let rates = [
                (times(&|k| self.problem.normals().row(k).get(j).copied()), contact.normal),
                (times(&|k| self.problem.frictions().row(k).get(2 * j).copied()), contact.tangent),
                (times(&|k| self.problem.frictions().row(k).get(2 * j + 1).copied()), -contact.tangent),
            ];
            off.extend(rates.iter().map(|(rate, along)| (rate - along.dot(&relative)).abs()));
        }
        largest(off)
    }
}

fn solved(status: Status) -> Result<(), CaseError> {
    if status == Status::Solved { Ok(()) } else { Err(CaseError::Never(format!("a solution ({status})"))) }
}

fn contact(row: &Entry, chains: &[Chain]) -> Result<SystemContact, CaseError> {
    let of = |side: &str| {
        let number = row.number(&format!("{side}_system"))?;
        let found = (1_u32..).zip(chains).zip(0..).find(|((k, _), _)| f64::from(*k) == number);
        let ((_, chain), system) = found.ok_or_else(|| CaseError::Absent(format!("system {number}")))?;
        Ok::<_, CaseError>(SystemLink { system, link: chain.link(row.number(&format!("{side}_link"))?)? })
    };
    let normal = Vector3::new(row.number("normal_x")?, row.number("normal_y")?, 0.0).normalize();
    Ok(SystemContact {
        first: of("first")?,
        second: Some(of("second")?),
        point: Vector3::new(row.number("x")?, row.number("y")?, 0.0),
        normal,
        tangent: normal.cross(&Vector3::z()),
        friction: row.number("friction")?,
    })
}

fn sizes(case: &Reference, scene: &Scene, account: &mut Account) -> Result<(), CaseError> {
    let (mut lcp, mut mixed) = (Lcp::default(), MixedLcp::default());
    scene.problem.reduced(1.0, &mut lcp).map_err(CaseError::other)?;
    scene.problem.mixed(&mut mixed);
    let sizes = [
        ("velocities", scene.problem.velocities()),
        ("contacts", scene.problem.contacts()),
        ("reduced", lcp.size()),
        ("mixed", mixed.size()),
    ];
    for (name, ours) in sizes {
        let quantity = if name.ends_with('s') { name.to_owned() } else { format!("unknowns of the {name} form") };
        account.add(Row::new(quantity, "", ours).reference(case.exactly(&format!("sizes.{name}"))?));
    }
    Ok(())
}

/// The matrices beside those derived by hand.
fn matrices(case: &Reference, scene: &Scene, account: &mut Account) -> Result<(), CaseError> {
    let mut mixed = MixedLcp::default();
    scene.problem.mixed(&mut mixed);
    let m = scene.problem.velocities();
    let (mut mass, mut normals, mut frictions) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..m {
        let by_hand = |name: &str| case.numbers(&format!("derived.{name}.{k}"));
        let mut row = vec![0.0; m];
        mixed.equality.on_free.row(k).for_each(|(column, value)| {
            if let Some(entry) = row.get_mut(column) {
                *entry = value;
            }
        });
        mass.push(furthest(&row, &by_hand("mass")?));
        normals.push(furthest(scene.problem.normals().row(k), &by_hand("normals")?));
        frictions.push(furthest(scene.problem.frictions().row(k), &by_hand("frictions")?));
    }
    let momentum = furthest(scene.problem.momentum(), &case.numbers("derived.momentum")?);
    let tolerance: Tolerance = case.tolerance("tolerance.matrices")?;
    let found = [
        ("mass matrix M", mass),
        ("normals N", normals),
        ("friction directions B", frictions),
        ("momentum", vec![momentum]),
    ];
    for (name, off) in found {
        account.add(
            Row::new(format!("{name} less that written out by hand, largest entry"), "", largest(off))
                .reference(Expected::within(0.0, tolerance)),
        );
    }
    Ok(())
}

fn solution(case: &Reference, scene: &Scene, found: &Forces, account: &mut Account) -> Result<(), CaseError> {
    let tolerance = case.tolerance("tolerance.forces")?;
    let lists = [
        ("normal_forces", "normal force", "N", &found.normal),
        ("friction_forces", "friction force", "N", &found.friction),
        ("slip_speeds", "slip speed", "m/s", &found.slip_speed),
    ];
    for (name, quantity, unit, ours) in lists {
        for (k, (ours, expected)) in ours.iter().zip(case.numbers(&format!("derived.{name}"))?).enumerate() {
            let row = Row::new(format!("{quantity} of contact {}", k + 1), unit, *ours)
                .reference(Expected::within(expected, tolerance));
            account.add(if name == "normal_forces" && k == 0 { row.headline() } else { row });
        }
    }
    let off = furthest(&found.velocity, &case.numbers("derived.velocity")?);
    account.add(
        Row::new(
            format!("velocities after the step less the enumerated ones, largest of {}", scene.problem.velocities()),
            "",
            off,
        )
        .reference(Expected::within(0.0, tolerance)),
    );
    Ok(())
}

fn figure(scene: &Scene, forces: &Forces) -> Figure {
    let mut panel = Panel::new(Axis::new("x", "m"), Axis::new("y", "m")).equal_aspect();
    for (k, chain) in scene.chains.iter().enumerate() {
        let poses = chain.at.poses();
        let mut points: Vec<Point3<f64>> = poses.iter().map(|pose| pose * Point3::origin()).collect();
        points.extend(poses.last().map(|pose| pose * Point3::new(chain.lengths[1], 0.0, 0.0)));
        let (x, y) = points.iter().map(|point| (point.x, point.y)).unzip();
        panel = panel.with(Layer::line(x, y).named(format!("system {}", k + 1)).marker(Marker::Disc).width(2.0));
    }
    let strongest = largest(forces.normal.iter().copied());
    // The largest normal force is drawn half a metre long.
    let scale = 0.5 / strongest;
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for ((contact, normal), friction) in scene.contacts.iter().zip(&forces.normal).zip(&forces.friction) {
        let tip = contact.point + (contact.normal * *normal + contact.tangent * *friction) * scale;
        from.push([contact.point.x, contact.point.y]);
        to.push([tip.x, tip.y]);
    }
    panel =
        panel.with(Layer::arrows(from, to).named(format!("contact force, largest normal {strongest:.1} N")).colour(6));
    Figure::new("").with(panel)
}
