//! The contact problem of several articulated systems in generalised coordinates, as Tan, Siu and Liu write it \[Tan2015\]: forces
//! over a step, velocities of all systems stacked, one sign for each of the two systems of a contact.
//!
//! It is meant for inspection: the matrices are dense and public. [`TimeStepper`](stiction_stepping::TimeStepper) makes steps of whole models, in any
//! coordinates. The equations are in `docs/theory/generalised.md`.

mod error;
mod problem;

use nalgebra::Vector3;
use stiction_complementarity::DenseMatrix;
use stiction_multibody::{
    LinkId, Wrench,
    articulated::{BranchMatrix, Kinematics, LtlFactor, Scratch, Tree, add_wrench, inverse_dynamics, mass_matrix},
};

pub use error::SystemsError;

/// An articulated system at the start of a step.
#[derive(Clone, Copy, Debug)]
pub struct ArticulatedSystem<'a> {
    /// Its tree.
    pub tree: &'a Tree,
    /// Poses and velocities of its links, updated with (q, v).
    pub at: &'a Kinematics,
    /// Its velocities.
    pub v: &'a [f64],
    /// Forces at its velocities; empty for none.
    pub tau: &'a [f64],
}

/// A link of one of several systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemLink {
    /// Number of the system.
    pub system: usize,
    /// Its link.
    pub link: LinkId,
}

/// A contact between two systems, or of one with the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemContact {
    /// Link that the normal points to; the force on it is +f.
    pub first: SystemLink,
    /// Link that the normal comes from, with the force −f; none for the world.
    pub second: Option<SystemLink>,
    /// Contact point in the world, m.
    pub point: Vector3<f64>,
    /// Unit normal.
    pub normal: Vector3<f64>,
    /// The first friction direction, a unit vector across the normal.
    pub tangent: Vector3<f64>,
    /// Coulomb's coefficient μ.
    pub friction: f64,
}

/// M, τ*, N and B of several systems and their contacts, and the two problems made of them.   [GEN-1] [GEN-2]
#[derive(Clone, Debug)]
pub struct SystemContacts {
    systems: Vec<System>,
    /// d, and h.
    directions: usize,
    step: f64,
    /// N and B, m rows.
    normals: DenseMatrix,
    frictions: DenseMatrix,
    /// M⁻¹ of the columns of N, then of B, one in each row.
    responses: DenseMatrix,
    /// τ*, and M⁻¹ τ*.
    momentum: Vec<f64>,
    free: Vec<f64>,
    mu: Vec<f64>,
    column: Vec<f64>,
}

/// Memory for one system.
#[derive(Clone, Debug)]
struct System {
    first: usize,
    mass: BranchMatrix,
    factor: LtlFactor,
    scratch: Scratch,
    links: usize,
}

impl System {
    fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.mass.size()
    }
}

impl SystemContacts {
    /// Allocates memory for these systems, with friction polygons of `directions` corners: 2 in the plane, an even number of 4 or more in
    /// space.
    pub fn new(trees: &[&Tree], directions: usize) -> Result<Self, SystemsError> {
        if directions < 2 || !directions.is_multiple_of(2) {
            return Err(SystemsError::Directions(directions));
        }
        let mut first = 0;
        let room = |tree: &&Tree| {
            let start = first;
            first += tree.velocities();
            System {
                first: start,
                mass: BranchMatrix::zeros(tree),
                factor: LtlFactor::new(tree),
                scratch: Scratch::new(tree),
                links: tree.links().len(),
            }
        };
        let systems = trees.iter().map(room).collect();
        Ok(Self {
            systems,
            directions,
            step: 0.0,
            normals: DenseMatrix::zeros(0, 0),
            frictions: DenseMatrix::zeros(0, 0),
            responses: DenseMatrix::zeros(0, 0),
            momentum: vec![0.0; first],
            free: vec![0.0; first],
            mu: Vec::new(),
            column: vec![0.0; first],
        })
    }

    /// Number m of velocities of all systems.
    pub fn velocities(&self) -> usize {
        self.momentum.len()
    }

    /// Number p of contacts.
    pub fn contacts(&self) -> usize {
        self.mu.len()
    }

    /// N, m × p.   [GEN-2]
    pub fn normals(&self) -> &DenseMatrix {
        &self.normals
    }

    /// B, m × p d.   [GEN-2]
    pub fn frictions(&self) -> &DenseMatrix {
        &self.frictions
    }

    /// τ* = M q̇ − h (C − τ).   [GEN-1]
    pub fn momentum(&self) -> &[f64] {
        &self.momentum
    }

    /// Assembles M, τ*, N and B for a step of `h` seconds; the systems are those of [`SystemContacts::new`], in their order.
    pub fn assemble(
        &mut self,
        systems: &[ArticulatedSystem],
        contacts: &[SystemContact],
        h: f64,
    ) -> Result<(), SystemsError> {
        if !(h > 0.0 && h.is_finite()) {
            return Err(SystemsError::Step(h));
        }
        self.step = h;
        self.check_systems(systems)?;
        for (place, contact) in contacts.iter().enumerate() {
            self.check(contact).map_err(|field| SystemsError::Contact { contact: place, field })?;
        }
        for (place, system) in systems.iter().enumerate() {
            self.write_momentum(place, system, h)?;
        }
        self.write_contacts(systems, contacts);
        Ok(())
    }

    fn check_systems(&self, systems: &[ArticulatedSystem]) -> Result<(), SystemsError> {
        if systems.len() != self.systems.len() {
            return Err(SystemsError::Systems { found: systems.len(), expected: self.systems.len() });
        }
        for (index, (given, own)) in systems.iter().zip(&self.systems).enumerate() {
            let size = own.mass.size();
            let fits = given.tree.velocities() == size && given.tree.links().len() == own.links;
            let known = given.v.len() == size && (given.tau.is_empty() || given.tau.len() == size);
            if !(fits && known && given.at.poses().len() == own.links) {
                return Err(SystemsError::Size { system: index });
            }
        }
        Ok(())
    }

    /// Checks a contact, and returns the name of the first field out of range.
    fn check(&self, contact: &SystemContact) -> Result<(), &'static str> {
        let exists = |at: &SystemLink| self.systems.get(at.system).is_some_and(|own| at.link.index() < own.links);
        let unit = |v: &Vector3<f64>| (v.norm() - 1.0).abs() < 1e-9;
        let checks = [
            ("first", exists(&contact.first)),
            ("second", contact.second.as_ref().is_none_or(exists)),
            ("point", contact.point.iter().all(|x| x.is_finite())),
            ("normal", unit(&contact.normal)),
            ("tangent", unit(&contact.tangent) && contact.tangent.dot(&contact.normal).abs() < 1e-9),
            ("friction", contact.friction >= 0.0 && contact.friction.is_finite()),
        ];
        checks.into_iter().find(|(_, sound)| !sound).map_or(Ok(()), |(field, _)| Err(field))
    }

    /// M of one system with its factor, τ* and M⁻¹ τ*.   [GEN-1]
    fn write_momentum(&mut self, place: usize, given: &ArticulatedSystem, h: f64) -> Result<(), SystemsError> {
        debug_assert!(place < self.systems.len(), "system {place} was checked");
        let Some(own) = self.systems.get_mut(place) else { return Ok(()) };
        let range = own.range();
        let ArticulatedSystem { tree, at, v, tau } = *given;
        mass_matrix(tree, at, &mut own.scratch, &mut own.mass);
        own.factor.factorise(&own.mass).map_err(|cause| SystemsError::Singular { system: place, cause })?;
        let (Some(momentum), Some(bias)) = (self.momentum.get_mut(range.clone()), self.column.get_mut(range.clone()))
        else {
            return Ok(());
        };
        let free = self.free.get_mut(range).unwrap_or_default();
        free.fill(0.0);
        inverse_dynamics(tree, at, free, &[], &mut own.scratch, bias);
        own.mass.multiply(v, momentum);
        for (k, (momentum, bias)) in momentum.iter_mut().zip(bias).enumerate() {
            *momentum -= h * (*bias - tau.get(k).copied().unwrap_or(0.0));
        }
        free.copy_from_slice(momentum);
        own.factor.solve(free);
        Ok(())
    }

    /// N, B and their responses: + on the first system of each contact, − on the second.   [GEN-2]
    fn write_contacts(&mut self, systems: &[ArticulatedSystem], contacts: &[SystemContact]) {
        let (m, p, d) = (self.velocities(), contacts.len(), self.directions);
        self.normals.reset(m, p);
        self.frictions.reset(m, p * d);
        self.responses.reset(p + p * d, m);
        self.mu.clear();
        self.mu.extend(contacts.iter().map(|contact| contact.friction));
        for (j, contact) in contacts.iter().enumerate() {
            self.push(systems, contact, &contact.normal);
            for (k, value) in self.column.iter().enumerate() {
                self.normals.row_mut(k)[j] = *value;
            }
            self.respond(j);
            for i in 0..d {
                self.push(systems, contact, &direction(contact, i, d));
                for (k, value) in self.column.iter().enumerate() {
                    self.frictions.row_mut(k)[j * d + i] = *value;
                }
                self.respond(p + j * d + i);
            }
        }
    }

    /// ±Jᵀ of a unit force along a direction, over all systems.
    fn push(&mut self, systems: &[ArticulatedSystem], contact: &SystemContact, along: &Vector3<f64>) {
        self.column.fill(0.0);
        for (at, sign) in [(Some(contact.first), 1.0), (contact.second, -1.0)] {
            let Some(at) = at else { continue };
            debug_assert!(
                at.system < self.systems.len() && at.system < systems.len(),
                "system {} was checked",
                at.system
            );
            let (Some(own), Some(given)) = (self.systems.get(at.system), systems.get(at.system)) else { continue };
            let wrench = Wrench { linear: along * sign, angular: Vector3::zeros() };
            let column = self.column.get_mut(own.range()).unwrap_or_default();
            add_wrench(given.tree, given.at, at.link, (&wrench, &contact.point), column);
        }
    }

    /// Writes M⁻¹ of the column as a row of responses.
    fn respond(&mut self, row: usize) {
        let out = self.responses.row_mut(row);
        out.copy_from_slice(&self.column);
        for own in &self.systems {
            own.factor.solve(&mut out[own.range()]);
        }
    }
}

/// Corner i of a friction polygon of d corners; each has its exact opposite.
fn direction(contact: &SystemContact, i: usize, d: usize) -> Vector3<f64> {
    let half = d / 2;
    let (sin, cos) = libm::sincos(std::f64::consts::TAU * (i % half) as f64 / d as f64);
    let direction = contact.tangent * cos + contact.normal.cross(&contact.tangent) * sin;
    if i < half { direction } else { -direction }
}
