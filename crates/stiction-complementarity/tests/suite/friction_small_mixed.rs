//! Small mixed problems by active sets: planar, spatial and frictionless contacts, support points, joints, light and unequal masses.

use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    Bodies, Delassus, FrictionActiveSet, FrictionActiveSetOptions, FrictionInteriorPoint, FrictionLadder,
    FrictionNewton, FrictionNewtonOptions, FrictionProblem, FrictionRung, FrictionSolution, Law, MAX_CONTACTS,
    MAX_SPATIAL_CONTACTS, Operator, Problem, Solver, Status, Tolerance, solve,
};
use stiction_testkit::{Random, count_allocations};

const FRICTIONLESS: Law = Law::Bounded { lower: 0.0, upper: f64::INFINITY };

/// One block: its law, the bodies it acts on, and the Jacobian for each.
#[derive(Clone)]
struct Row {
    law: Law,
    on: Vec<(usize, Vec<f64>)>,
    bias: Vec<f64>,
}

/// Bodies in the plane, one column each, and the normals of support points, one column each.
#[derive(Clone)]
struct Scene {
    masses: Vec<f64>,
    feet: Vec<f64>,
    rows: Vec<Row>,
    free: Vec<f64>,
}

impl Scene {
    fn problem(&self) -> FrictionProblem {
        let mut jacobian = BlockMatrix::default();
        let columns = self.masses.iter().map(|_| 3).chain(self.feet.iter().map(|_| 1));
        jacobian.clear(self.rows.iter().map(|row| row.law.rows()), columns);
        let mut q: Vec<f64> = Vec::new();
        for row in &self.rows {
            row.on.iter().for_each(|(column, block)| jacobian.push(*column, block));
            jacobian.finish_row();
            q.extend(&row.bias);
        }
        jacobian.mul_add_into(&self.free, &mut q);
        let mut mass = Vec::new();
        self.masses.iter().for_each(|m| mass.extend([*m, 0.0, 0.0, 0.0, *m, 0.0, 0.0, 0.0, 0.1 * m]));
        mass.extend(&self.feet);
        let operator = Operator::MatrixFree(Bodies::new(jacobian, mass).unwrap());
        FrictionProblem::new(operator, self.rows.iter().map(|row| row.law).collect(), q).unwrap()
    }
}

/// Parameters of random scenes.
#[derive(Clone, Copy)]
struct Family {
    /// Laws of contacts.
    laws: &'static [Law],
    joints: bool,
    feet: bool,
    /// Decades of the unit of mass below one, and decades of the loads of support points above one: light bodies in two units.
    ///
    /// In the first, impulses are small compared with velocities and contribute little to the residual; in the second, both contribute.
    light: (f64, f64),
}

const EVERYTHING: Family = Family {
    laws: &[
        FRICTIONLESS,
        Law::Cone { rows: 2, mu: 0.3 },
        Law::Cone { rows: 2, mu: 1.0 },
        Law::Cone { rows: 2, mu: 0.0 },
        Law::Cone { rows: 3, mu: 0.5 },
    ],
    joints: true,
    feet: true,
    light: (8.0, 0.0),
};

/// Normal loads of friction are given, so the velocities minimise a convex function and are unique.
const UNIQUE: Family =
    Family { laws: &[FRICTIONLESS, Law::Cone { rows: 2, mu: 0.0 }], joints: true, feet: true, light: (0.0, 4.0) };

/// Motors, dry friction and limits between bounds of both signs, beside contacts.
const BOUNDED: Family = Family {
    laws: &[
        Law::Bounded { lower: -0.3, upper: 0.5 },
        Law::Bounded { lower: -0.02, upper: 0.02 },
        Law::Bounded { lower: f64::NEG_INFINITY, upper: 0.2 },
        Law::Bounded { lower: 0.0, upper: 0.0 },
        // A given impulse: a tenth of the momentum of the lightest body.
        Law::Bounded { lower: 1e-5, upper: 1e-5 },
        FRICTIONLESS,
        Law::Cone { rows: 2, mu: 0.5 },
        Law::Cone { rows: 3, mu: 0.5 },
    ],
    joints: true,
    feet: true,
    light: (0.0, 0.0),
};

/// The same without contacts that have friction: velocities are unique.
const BOUNDED_UNIQUE: Family = Family { laws: BOUNDED.laws.split_at(6).0, light: (0.0, 2.0), ..BOUNDED };

/// The row of the velocity along `direction` of the point `at` of a body, seen from its centre.
fn along(direction: [f64; 2], at: [f64; 2]) -> [f64; 3] {
    [direction[0], direction[1], at[0] * direction[1] - at[1] * direction[0]]
}

/// A contact or a joint between two bodies, or a body and the ground, at a random position: normal, tangent, then any other direction.
fn random_row(numbers: &mut Random, bodies: usize, (body, law): (usize, Law)) -> Row {
    let angle = numbers.uniform(0.0, std::f64::consts::TAU);
    let normal = [libm::cos(angle), libm::sin(angle)];
    let directions = [normal, [-normal[1], normal[0]], [numbers.normal(), numbers.normal()]];
    let block = |numbers: &mut Random, sign: f64| -> Vec<f64> {
        let at = [0.5 * numbers.normal(), 0.5 * numbers.normal()];
        let rows = directions.iter().take(law.rows()).flat_map(|d| along(*d, at));
        rows.map(|x| sign * x).collect()
    };
    let mut on = vec![(body, block(numbers, 1.0))];
    let other = numbers.below(bodies + 1);
    if other != body && other < bodies {
        on.push((other, block(numbers, -1.0)));
    }
    Row { law, on, bias: vec![0.0; law.rows()] }
}

/// Three support points of a body on a table that translates and rotates.
fn random_feet(numbers: &mut Random, (body, load): (usize, f64), scene: &mut Scene) {
    let (slide, turn) = ([numbers.normal(), numbers.normal()], numbers.normal());
    for _ in 0..3 {
        let at = [0.3 * numbers.normal(), 0.3 * numbers.normal()];
        let tangents = [along([1.0, 0.0], at), along([0.0, 1.0], at)];
        let own = scene.masses.len() + scene.feet.len();
        let block = [[0.0; 3], tangents[0], tangents[1]].concat();
        let bias = vec![0.0, slide[0] - turn * at[1], slide[1] + turn * at[0]];
        let law = Law::Cone { rows: 3, mu: numbers.uniform(0.1, 0.8) };
        scene.rows.push(Row { law, on: vec![(body, block), (own, vec![1.0, 0.0, 0.0])], bias });
        scene.feet.push(scene.masses[body]);
        scene.free.push(-load * numbers.uniform(0.0, 2.0));
    }
}

fn random_scene(numbers: &mut Random, family: Family) -> Scene {
    let bodies = 1 + numbers.below(3);
    let unit = libm::pow(10.0, -numbers.uniform(0.0, family.light.0));
    let mut scene = Scene {
        masses: (0..bodies).map(|_| unit * libm::pow(10.0, -numbers.uniform(0.0, 4.0))).collect(),
        feet: Vec::new(),
        rows: Vec::new(),
        free: (0..3 * bodies).map(|_| numbers.normal()).collect(),
    };
    // At most two joint rows for each body, so that none is redundant.
    for body in 0..if family.joints { bodies } else { 0 } {
        let law = Law::Equality { rows: 1 + numbers.below(2) };
        scene.rows.push(random_row(numbers, bodies, (body, law)));
    }
    for _ in 0..=bodies {
        let law = family.laws[numbers.below(family.laws.len())];
        let body = numbers.below(bodies);
        scene.rows.push(random_row(numbers, bodies, (body, law)));
    }
    if family.feet {
        let body = numbers.below(bodies);
        let load = libm::pow(10.0, numbers.uniform(0.0, family.light.1));
        random_feet(numbers, (body, load), &mut scene);
    }
    let order = numbers.below(scene.rows.len());
    scene.rows.rotate_left(order);
    scene
}

fn strict() -> FrictionActiveSet {
    let options = FrictionActiveSetOptions { tolerance: 1e-12, ..FrictionActiveSetOptions::default() };
    FrictionActiveSet::with_options(options).unwrap()
}

/// u of all rows and the velocities of the bodies.
fn velocities(problem: &FrictionProblem, r: &[f64]) -> Vec<f64> {
    let (mut u, mut state) = (Vec::new(), Vec::new());
    problem.velocities(r, &mut u, &mut state);
    u
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn random_mixed_problems_are_solved_to_rounding() {
    solved_to_rounding(EVERYTHING);
}

#[test]
fn rows_between_bounds_are_solved_to_rounding() {
    solved_to_rounding(BOUNDED);
}

fn solved_to_rounding(family: Family) {
    let mut numbers = Random::new(61);
    let (mut solved, mut systems, count) = (0, 0, 3000);
    for _ in 0..count {
        let problem = random_scene(&mut numbers, family).problem();
        assert!(FrictionActiveSet::applies(&problem));
        let mut solution = FrictionSolution::default();
        let ending = strict().run(&problem, None, &mut solution);
        let residual = problem.residual(&solution).value;
        if ending.status == Status::Solved && residual <= 1e-12 {
            (solved, systems) = (solved + 1, systems + ending.iterations);
        }
        // The ladder solves the problems that the method does not solve.
        let mut ladder = FrictionLadder::with_tolerance(1e-10).unwrap().with_stick_recovery();
        assert_eq!(ladder.run(&problem, None, &mut solution).status, Status::Solved);
        assert!(problem.residual(&solution).value <= 1e-10);
    }
    println!("{solved} of {count}, {systems} systems");
    assert!(solved * 100 >= count * 97, "{solved} of {count}");
    assert!(systems <= 10 * solved, "{systems} systems for {solved}");
}

#[test]
fn velocities_agree_with_another_method_where_they_are_unique() {
    let mut numbers = Random::new(62);
    let (mut compared, mut most) = (0, 0.0_f64);
    for round in 0..1000 {
        let family = if round % 2 == 0 { UNIQUE } else { BOUNDED_UNIQUE };
        let problem = random_scene(&mut numbers, family).problem();
        let (mut ours, mut inside, mut other) = <(FrictionSolution, FrictionSolution, FrictionSolution)>::default();
        let solved = strict().run(&problem, None, &mut ours).status == Status::Solved;
        let _ = FrictionInteriorPoint::new().run(&problem, None, &mut inside);
        let options = FrictionNewtonOptions { tolerance: 1e-14, ..FrictionNewtonOptions::default() };
        let _ = FrictionNewton::with_options(options).unwrap().run(&problem, Some(&inside), &mut other);
        if solved && problem.residual(&other).value <= 1e-12 {
            let apart = distance(&velocities(&problem, &ours.r), &velocities(&problem, &other.r));
            most = most.max(apart / problem.scale());
            compared += 1;
        }
    }
    println!("{compared} compared, {most:e} apart");
    assert!(compared >= 500 && most <= 1e-6, "{compared}, {most:e} apart");
}

/// A motor that is too weak acts with its limit, one that is strong enough stops its row, and the coupled row moves accordingly.
#[test]
fn a_weak_motor_is_at_its_bound() {
    for (limit, direction) in [(0.25, 1.0), (0.25, -1.0), (2.0, 1.0)] {
        let law = Law::Bounded { lower: -limit, upper: limit };
        let rows = vec![Row { law, on: vec![(0, vec![1.0, 0.0, 0.0])], bias: vec![0.0] }];
        let scene = Scene { masses: vec![0.5], feet: Vec::new(), rows, free: vec![-direction, 0.0, 0.0] };
        let (problem, mut solution) = (scene.problem(), FrictionSolution::default());
        assert_eq!(strict().run(&problem, None, &mut solution).status, Status::Solved);
        // v + r/m = 0 requires the motor impulse r = m v = 0.5.
        let expected = direction * f64::min(limit, 0.5);
        assert!((solution.r[0] - expected).abs() <= 1e-15, "{} for {expected}", solution.r[0]);
    }
}

/// Without friction and with joints the solution is that of a quadratic program: here one contact that presses a jaw against its guide.
#[test]
fn a_guided_jaw_without_friction() {
    // The guide constrains y and the rotation; the contact is at 45° and acts on x and y.
    let root = 0.5_f64.sqrt();
    let rows = vec![
        Row { law: FRICTIONLESS, on: vec![(0, vec![root, root, 0.3])], bias: vec![0.0] },
        Row { law: Law::Equality { rows: 2 }, on: vec![(0, vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0])], bias: vec![0.0, 0.0] },
    ];
    for mass in [1.0, 1e-8] {
        let scene = Scene { masses: vec![mass], feet: Vec::new(), rows: rows.clone(), free: vec![-1.0, 0.5, 0.25] };
        let problem = scene.problem();
        let mut solution = FrictionSolution::default();
        assert_eq!(strict().run(&problem, None, &mut solution).status, Status::Solved);
        // x stops: r_N root = m; the guide carries the remaining load of y and of the rotation.
        let normal = mass / root;
        let expected = [normal, -0.5 * mass - root * normal, -0.025 * mass - 0.3 * normal];
        assert!(distance(&solution.r, &expected) <= 1e-15 * mass * 4.0, "{:?} {expected:?}", solution.r);
    }
}

#[test]
fn redundant_joints_are_left_to_the_ladder() {
    let mut numbers = Random::new(63);
    for _ in 0..50 {
        let mut scene = random_scene(&mut numbers, Family { feet: false, ..EVERYTHING });
        let joint = scene.rows.iter().find(|row| matches!(row.law, Law::Equality { .. })).cloned().unwrap();
        scene.rows.push(joint);
        let problem = scene.problem();
        assert!(FrictionActiveSet::applies(&problem));
        let mut solution = FrictionSolution::default();
        assert_eq!(strict().run(&problem, None, &mut solution).status, Status::Breakdown);
        let mut ladder = FrictionLadder::default();
        assert_eq!(ladder.run(&problem, None, &mut solution).status, Status::Solved);
        assert!(problem.residual(&solution).value <= 1e-8);
        assert!(ladder.records().len() > 1 && ladder.records()[0].rung == FrictionRung::ActiveSet);
    }
}

#[test]
fn the_order_of_blocks_does_not_matter() {
    let (mut numbers, mut compared) = (Random::new(64), 0);
    for _ in 0..200 {
        let scene = random_scene(&mut numbers, UNIQUE);
        let motion = |scene: &Scene| {
            let (problem, mut solution) = (scene.problem(), FrictionSolution::default());
            let solved = strict().run(&problem, None, &mut solution).status == Status::Solved;
            let (Operator::MatrixFree(bodies), mut v) = (problem.operator(), Vec::new()) else { panic!("bodies") };
            bodies.begin(&solution.r, &mut v);
            solved.then_some((v, problem.scale()))
        };
        let mut turned = scene.clone();
        turned.rows.reverse();
        if let (Some((before, scale)), Some((after, _))) = (motion(&scene), motion(&turned)) {
            let apart = distance(&before, &after);
            assert!(apart <= 1e-8 * scale, "{apart:e} of {scale:e}");
            compared += 1;
        }
    }
    assert!(compared >= 150, "{compared}");
}

/// Other free velocities and the same W, alternating with other problems: cached data of W change no bit.
#[test]
fn what_is_kept_between_solves_changes_nothing() {
    let mut numbers = Random::new(615);
    let mut kept = strict();
    let mut unsolved = 0;
    for case in 0..400 {
        let mut problem = random_scene(&mut numbers, EVERYTHING).problem();
        for round in 0..3 {
            let (mut ours, mut fresh) = <(FrictionSolution, FrictionSolution)>::default();
            let ending = kept.run(&problem, None, &mut ours);
            assert_eq!(ending, strict().run(&problem, None, &mut fresh), "{case} {round}");
            assert_eq!(ours, fresh, "{case} {round}");
            unsolved += u32::from(ending.status != Status::Solved);
            problem.refill_velocities(|_, q| q.iter_mut().for_each(|q| *q += 0.1 * numbers.normal())).unwrap();
        }
    }
    // These problems use all stages of the method.
    assert!(unsolved > 10, "{unsolved}");
}

/// Unsupported problems are rejected: torsion, rolling friction, too many contacts, too many joint rows.
#[test]
fn what_does_not_fit_is_refused() {
    let numbers = |count: usize| (0..count).map(|k| libm::sin(1.7 * k as f64 + 0.3)).collect::<Vec<f64>>();
    let applies = |laws: &[Law]| {
        let rows = laws.iter().map(|law| Row {
            law: *law,
            on: vec![(0, numbers(3 * law.rows()))],
            bias: vec![0.0; law.rows()],
        });
        let scene = Scene { masses: vec![1.0], feet: Vec::new(), rows: rows.collect(), free: vec![0.0, -1.0, 0.0] };
        FrictionActiveSet::applies(&scene.problem())
    };
    let planar = Law::Cone { rows: 2, mu: 0.5 };
    assert!(applies(&[planar; MAX_CONTACTS]) && !applies(&[planar; MAX_CONTACTS + 1]));
    let spatial = Law::Cone { rows: 3, mu: 0.5 };
    assert!(applies(&[spatial; MAX_SPATIAL_CONTACTS]) && !applies(&[spatial; MAX_SPATIAL_CONTACTS + 1]));
    assert!(applies(&[planar, FRICTIONLESS, Law::Equality { rows: 12 }]));
    assert!(!applies(&[planar, Law::Equality { rows: 7 }, Law::Equality { rows: 6 }]));
    assert!(applies(&[planar, Law::Cone { rows: 4, mu: 0.5 }]));
    assert!(applies(&[planar, Law::Bounded { lower: -1.0, upper: 1.0 }]));
    for rows in 3..=6 {
        assert!(applies(&[planar, Law::Rolling { rows, mu: 0.5, mu_r: 0.1 }]));
    }
    assert!(applies(&[Law::Rolling { rows: 6, mu: 0.5, mu_r: 0.1 }; 12]));
    assert!(!applies(&[Law::Rolling { rows: 6, mu: 0.5, mu_r: 0.1 }; 13]));
}

#[test]
fn nothing_is_allocated_once_warm() {
    let mut numbers = Random::new(65);
    let scene = random_scene(&mut numbers, EVERYTHING);
    let problems: Vec<FrictionProblem> = (0..20)
        .map(|k| {
            let mut scene = scene.clone();
            scene.free.iter_mut().for_each(|v| *v *= 1.0 + 1e-3 * f64::from(k));
            scene.problem()
        })
        .collect();
    let mut ladder = FrictionLadder::with_tolerance(1e-10).unwrap().with_stick_recovery();
    let mut solution = FrictionSolution::default();
    let mut all = |problem: &FrictionProblem| {
        let outcome = solve(&mut ladder, problem, None, &mut solution, &Tolerance::default());
        assert_eq!(outcome.status, Status::Solved);
        assert_eq!(ladder.rung(), Some("active-set"));
    };
    all(&problems[0]);
    let allocations = count_allocations(|| problems.iter().for_each(&mut all));
    assert_eq!(allocations.count, 0);
}
