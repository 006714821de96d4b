//! Hybrid step: assemble the tree, solve its contacts at the root, recover the velocities.

use nalgebra::Vector3;
use stiction_complementarity::{
    FrictionProblem, FrictionSolution, Lcp, LcpLadder, LcpSolution, MixedLcp, MixedLcpSolution, Residual, Status,
    Tolerance, solve,
};
use stiction_multibody::{
    Wrench,
    articulated::{Kinematics, Tree, divide::Divide},
};

use super::{HybridError, HybridForm, HybridOptions, PlaneContact, RootEquations, RootExtent};
use stiction_stepping::Ladder;

/// State of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridState {
    /// Time, s.
    pub time: f64,
    /// Coordinates of the tree.
    pub q: Vec<f64>,
    /// Velocities of the tree.
    pub v: Vec<f64>,
    /// Normal velocity before the impact of the last step, for each contact that had one.
    pub approach: Vec<Option<f64>>,
}

impl HybridState {
    /// A state at time 0 without history.
    pub fn new(q: Vec<f64>, v: Vec<f64>) -> Self {
        Self { time: 0.0, q, v, approach: Vec::new() }
    }
}

/// A contact in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactStep {
    /// Gap at the start of the step, m.
    pub gap: f64,
    /// n, t, o in the world.
    pub frame: [Vector3<f64>; 3],
    /// Impulses along the frame, N s.
    pub impulse: [f64; 3],
    /// Velocities along the frame at the start of the step, m/s.
    pub before: [f64; 3],
    /// Velocities along the frame at its end, m/s.
    pub after: [f64; 3],
    /// True if the step was the rebound after an impact.
    pub rebound: bool,
}

/// Report of a step.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "the report says how well the step was solved"]
pub struct HybridReport {
    /// Time at the end of the step, s.
    pub time: f64,
    /// Unknowns of the contact problem.
    pub size: usize,
    /// Status of the contact problem.
    pub status: Status,
    /// Residual of the contact problem (natural map).
    pub residual: Residual,
}

/// Steps a tree with contacts by divide and conquer, and keeps its memory from step to step.   [DCA-11] [DCA-16]
#[derive(Debug)]
pub struct HybridStepper {
    tree: Tree,
    contacts: Vec<PlaneContact>,
    options: HybridOptions,
    /// Solves mixed and frictional problems.
    pub ladder: Ladder,
    /// Forces at the velocities; empty for none.
    pub forces: Vec<f64>,
    at: Kinematics,
    divide: Divide,
    root: RootEquations,
    problems: Problems,
    free: Vec<f64>,
    change: Vec<f64>,
    wrenches: Vec<Wrench>,
    report: Vec<ContactStep>,
}

#[derive(Debug, Default)]
struct Problems {
    mixed: MixedLcp,
    mixed_solution: MixedLcpSolution,
    lcp: Lcp,
    lcp_ladder: LcpLadder,
    lcp_solution: LcpSolution,
    cone: FrictionProblem,
    cone_guess: FrictionSolution,
    cone_solution: FrictionSolution,
}

/// Outcome of a contact problem.
struct Solved {
    size: usize,
    status: Status,
    residual: Residual,
}

impl HybridStepper {
    /// A stepper for a tree with contacts.
    pub fn new(tree: Tree, contacts: Vec<PlaneContact>, options: HybridOptions) -> Result<Self, HybridError> {
        options.validate()?;
        for (place, contact) in contacts.iter().enumerate() {
            check(contact, &tree).map_err(|field| HybridError::Contact { contact: place, field })?;
        }
        Ok(Self {
            at: Kinematics::new(&tree),
            divide: Divide::new(&tree),
            root: RootEquations::new(options.directions),
            problems: Problems::default(),
            free: vec![0.0; tree.velocities()],
            change: vec![0.0; tree.velocities()],
            wrenches: vec![Wrench::default(); tree.links().len()],
            report: Vec::with_capacity(contacts.len()),
            forces: Vec::new(),
            ladder: Ladder::default(),
            tree,
            contacts,
            options,
        })
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The contacts of the last step.
    pub fn contacts(&self) -> &[ContactStep] {
        &self.report
    }

    /// The assembly of the last step.
    pub fn divide(&self) -> &Divide {
        &self.divide
    }

    /// Advances the state by `h`. On failure it returns the reason and leaves the state unchanged.   [DCA-11]
    pub fn step(&mut self, state: &mut HybridState, h: f64) -> Result<HybridReport, HybridError> {
        self.check_state(state, h)?;
        let Self { tree, at, divide, root, contacts, options, forces, free, .. } = self;
        at.update(tree, &state.q, &state.v);
        divide.update(tree, at, &[])?;
        divide.forward_dynamics(tree, at, (forces, &[]), free);
        for (free, v) in free.iter_mut().zip(&state.v) {
            *free = v + h * *free;
        }
        ensure_finite("v", free)?;
        let extent = match options.form {
            HybridForm::Terminal => RootExtent::Handles,
            HybridForm::Appended => RootExtent::Bodies,
            HybridForm::Reduced | HybridForm::Cone => RootExtent::Contacts,
        };
        root.assemble((tree, at, divide), contacts, (&state.v, free), extent)?;
        root.set_step(contacts, &state.approach, h);
        let solved = self.solve_contacts()?;
        self.respond();
        self.change.iter_mut().zip(&self.free).for_each(|(change, free)| *change += free);
        ensure_finite("v", &self.change)?;
        state.time += h;
        state.v.copy_from_slice(&self.change);
        self.tree.integrate(&mut state.q, &state.v, h);
        self.remember(state);
        Ok(HybridReport { time: state.time, size: solved.size, status: solved.status, residual: solved.residual })
    }

    fn check_state(&self, state: &HybridState, h: f64) -> Result<(), HybridError> {
        if !(h > 0.0 && h.is_finite()) {
            return Err(HybridError::Step(h));
        }
        let velocities = self.tree.velocities();
        // An empty list stands for zero forces.
        let forces = if self.forces.is_empty() { velocities } else { self.forces.len() };
        let sizes = [
            ("q", state.q.len(), self.tree.coordinates()),
            ("v", state.v.len(), velocities),
            ("forces", forces, velocities),
        ];
        if let Some((part, found, expected)) = sizes.into_iter().find(|(_, found, expected)| found != expected) {
            return Err(HybridError::Size { part, found, expected });
        }
        ensure_finite("forces", &self.forces)?;
        ensure_finite("q", &state.q)?;
        ensure_finite("v", &state.v)
    }

    /// Writes the problem of the chosen form, solves it and writes the impulses into the report of contacts.
    fn solve_contacts(&mut self) -> Result<Solved, HybridError> {
        let Self { root, problems, ladder, options, report, .. } = self;
        let solved = problems.solve(root, options, ladder)?;
        if solved.status != Status::Solved {
            return Err(HybridError::NotSolved { status: solved.status, residual: solved.residual.value });
        }
        report.clear();
        for (place, contact) in root.contacts.iter().enumerate() {
            let impulse = match options.form {
                HybridForm::Cone => std::array::from_fn(|i| problems.cone_solution.r[3 * place + i]),
                HybridForm::Reduced => root.impulse(place, &problems.lcp_solution.z),
                HybridForm::Terminal | HybridForm::Appended => {
                    root.impulse(place, &problems.mixed_solution.complementary)
                }
            };
            report.push(ContactStep {
                gap: contact.gap,
                frame: contact.frame,
                impulse,
                before: contact.before,
                after: contact.free,
                rebound: contact.rebound,
            });
        }
        Ok(solved)
    }

    /// Velocity changes of the impulses, by disassembly.   [DCA-5]
    fn respond(&mut self) {
        debug_assert_eq!(self.report.len(), self.root.contacts.len(), "every contact has an impulse");
        debug_assert_eq!(self.report.len(), self.contacts.len(), "every contact has an impulse");
        self.wrenches.fill(Wrench::default());
        for ((contact, root), given) in self.report.iter().zip(&self.root.contacts).zip(&self.contacts) {
            let [n, t, o] = contact.frame;
            let force = n * contact.impulse[0] + t * contact.impulse[1] + o * contact.impulse[2];
            debug_assert!(given.link.index() < self.wrenches.len(), "the link of a contact exists");
            if let Some(wrench) = self.wrenches.get_mut(given.link.index()) {
                wrench.add(&Wrench::of_force(force, &root.arm));
            }
        }
        self.divide.impulse_response(&self.tree, &self.at, (&[], &self.wrenches), &mut self.change);
        for row in 0..self.report.len() {
            for i in 0..3 {
                let entries = self.root.delassus.row(3 * row + i);
                let pushes = self.report.iter().flat_map(|contact| contact.impulse);
                let change: f64 = entries.iter().zip(pushes).map(|(w, p)| w * p).sum();
                self.report[row].after[i] += change;
            }
        }
    }

    /// Stores the speed of impacts for the rebound in the next step; a rebound is not an impact.   [DCA-16]
    fn remember(&self, state: &mut HybridState) {
        state.approach.clear();
        state.approach.extend(self.report.iter().zip(&self.contacts).map(|(contact, given)| {
            let hit = !contact.rebound && contact.impulse[0] > 0.0 && contact.before[0] < 0.0;
            (hit && given.restitution > 0.0).then_some(contact.before[0])
        }));
    }
}

impl Problems {
    fn solve(
        &mut self,
        root: &RootEquations,
        options: &HybridOptions,
        ladder: &mut Ladder,
    ) -> Result<Solved, HybridError> {
        match options.form {
            HybridForm::Terminal | HybridForm::Appended => {
                if options.form == HybridForm::Terminal {
                    root.terminal(&mut self.mixed)?;
                } else {
                    root.appended(&mut self.mixed)?;
                }
                self.mixed.ensure_shapes()?;
                self.mixed.ensure_finite()?;
                let solved = ladder.solve(&self.mixed, None, &mut self.mixed_solution);
                Ok(Solved { size: self.mixed.size(), status: solved.status, residual: solved.residual })
            }
            HybridForm::Reduced => {
                root.reduced(&mut self.lcp)?;
                let tolerance = Tolerance::default();
                let outcome = solve(&mut self.lcp_ladder, &self.lcp, None, &mut self.lcp_solution, &tolerance);
                Ok(Solved { size: self.lcp.q().len(), status: outcome.status, residual: outcome.residual })
            }
            HybridForm::Cone => {
                root.cone(&mut self.cone)?;
                self.cone_guess.r.clear();
                self.cone_guess.r.resize(3 * root.contacts(), 0.0);
                let solved = ladder.solve(&self.cone, Some(&self.cone_guess), &mut self.cone_solution);
                Ok(Solved { size: 3 * root.contacts(), status: solved.status, residual: solved.residual })
            }
        }
    }
}

fn ensure_finite(part: &'static str, values: &[f64]) -> Result<(), HybridError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(HybridError::NotFinite { part, index }),
        None => Ok(()),
    }
}

/// Checks a contact, and returns the name of the first field out of range.
fn check(contact: &PlaneContact, tree: &Tree) -> Result<(), &'static str> {
    let finite = |v: &Vector3<f64>| v.iter().all(|x| x.is_finite());
    let checks = [
        ("link", contact.link.index() < tree.links().len()),
        ("point", finite(&contact.point)),
        ("normal", (contact.normal.norm() - 1.0).abs() < 1e-9),
        ("offset", contact.offset.is_finite()),
        ("friction", contact.friction >= 0.0 && contact.friction.is_finite()),
        ("restitution", (0.0..=1.0).contains(&contact.restitution)),
    ];
    checks.into_iter().find(|(_, sound)| !sound).map_or(Ok(()), |(field, _)| Err(field))
}
