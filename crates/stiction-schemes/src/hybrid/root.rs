//! Assembled tree at its root: the response of contacts, terminal handles and bodies in contact to contact impulses. All are assembled from
//! rows that are propagated up the assembly tree.

use nalgebra::{Vector3, Vector6};
use stiction_complementarity::DenseMatrix;
use stiction_multibody::{
    LinkId, Twist, Wrench,
    articulated::{
        Kinematics, Tree,
        divide::{Divide, DivideRow, spatial},
    },
};

use super::{HybridError, PlaneContact, friction::FrictionPolygon};
use stiction_stepping::stages::first_tangent;

/// Extent of the root problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootExtent {
    /// The contacts only.
    Contacts,
    /// The contacts and the terminal handles.
    Handles,
    /// The contacts, the terminal handles and the bodies in contact.
    Bodies,
}

/// Numbers of the root problem of one step.   [DCA-11]
#[derive(Clone, Debug, Default)]
pub struct RootEquations {
    /// The friction polygon.
    pub(super) polygon: FrictionPolygon,
    /// Extent of the last assembly.
    pub(super) extent: Option<RootExtent>,
    /// W over the directions n, t, o of all contacts.
    pub(super) delassus: DenseMatrix,
    /// W with the root link fixed.
    pub(super) beyond: DenseMatrix,
    /// κ: velocities of the handles per impulse, 12 rows.
    pub(super) handles: DenseMatrix,
    /// χ: rates of the contact directions per velocity of the first handle.
    pub(super) transfer: Vec<Vector6<f64>>,
    /// Velocities of the handles without contacts.
    pub(super) handles_free: [Vector6<f64>; 2],
    /// The bodies in contact.
    pub(super) bodies: Vec<LinkId>,
    /// κ of the bodies, 6 rows each.
    pub(super) body_rows: DenseMatrix,
    pub(super) bodies_free: Vec<Vector6<f64>>,
    pub(super) contacts: Vec<RootContact>,
    /// Rows of the contacts, then of the handles, then of the bodies.
    rows: Vec<DivideRow>,
}

/// A contact of the root problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct RootContact {
    /// Contact point in the world, m.
    pub(super) point: Vector3<f64>,
    /// n, t, o.
    pub(super) frame: [Vector3<f64>; 3],
    /// Its body among the bodies in contact, and the arm from its origin.
    pub(super) body: usize,
    pub(super) arm: Vector3<f64>,
    /// Gap.
    pub(super) gap: f64,
    /// Velocity along the frame at the start of the step, and without contacts at its end.
    pub(super) before: [f64; 3],
    pub(super) free: [f64; 3],
    /// Constant of the normal velocity in the complementarity: f / h, or ε v of the approach.   [DCA-16]
    pub(super) normal_constant: f64,
    pub(super) rebound: bool,
    pub(super) friction: f64,
}

impl RootEquations {
    /// Empty equations for friction polygons with `directions` directions, an even number.
    pub fn new(directions: usize) -> Self {
        Self { polygon: FrictionPolygon::new(directions), ..Self::default() }
    }

    /// Assembles the numbers at the configuration of `divide`; `free` are the velocities without contacts.   [DCA-11]
    pub fn assemble(
        &mut self,
        (tree, at, divide): (&Tree, &Kinematics, &Divide),
        contacts: &[PlaneContact],
        (v, free): (&[f64], &[f64]),
        extent: RootExtent,
    ) -> Result<(), HybridError> {
        self.extent = None;
        self.place_contacts(tree, at, contacts, (v, free))?;
        let count = 3 * contacts.len();
        let (handles, bodies) = match extent {
            RootExtent::Contacts => (0, 0),
            RootExtent::Handles => (12, 0),
            RootExtent::Bodies => (12, 6 * self.bodies.len()),
        };
        let ends = terminal_links(tree, extent)?;
        self.rows.resize_with(count + handles + bodies, DivideRow::default);
        let (contact_rows, others) = self.rows.split_at_mut(count);
        for (contact, rows) in self.contacts.iter().zip(contact_rows.chunks_exact_mut(3)) {
            for (direction, row) in contact.frame.iter().zip(rows) {
                let wrench = Wrench { linear: *direction, angular: Vector3::zeros() };
                divide.half_response(at, self.bodies[contact.body], (&wrench, &contact.point), row);
            }
        }
        let links = ends.iter().flatten().chain(&self.bodies);
        for (&link, rows) in links.zip(others.chunks_exact_mut(6)) {
            let origin = at.pose(link).translation.vector;
            for (k, row) in rows.iter_mut().enumerate() {
                divide.half_response(at, link, (&spatial::wrench(&Vector6::ith(k, 1.0)), &origin), row);
            }
        }
        self.couple(divide, count, handles, bodies);
        for (out, &link) in self.handles_free.iter_mut().zip(ends.iter().flatten()) {
            *out = spatial::motion(&twist(tree, at, free, link));
        }
        self.bodies_free.clear();
        self.bodies_free.extend(self.bodies.iter().map(|&link| spatial::motion(&twist(tree, at, free, link))));
        self.extent = Some(extent);
        Ok(())
    }

    /// Number of contacts Ξ.
    pub fn contacts(&self) -> usize {
        self.contacts.len()
    }

    /// Number of bodies in contact.
    pub fn bodies(&self) -> usize {
        self.bodies.len()
    }

    /// The Delassus matrix over the directions n, t, o of all contacts.
    pub fn delassus(&self) -> &DenseMatrix {
        &self.delassus
    }

    /// Delassus matrix with the root link fixed: zero for contacts on the root link.   [DCA-12]
    pub fn beyond_root(&self) -> &DenseMatrix {
        &self.beyond
    }

    /// The impulses (n, t, o) of a contact in the complementary unknowns of a linear form.
    pub fn impulse(&self, contact: usize, complementary: &[f64]) -> [f64; 3] {
        self.polygon.impulse(contact, self.contacts.len(), complementary)
    }

    /// Sets the constant of the normal velocity of each contact: the gap over the step, or Newton's law after an impact with normal
    /// velocity `approach` in the previous step.   [DCA-16]
    pub fn set_step(&mut self, contacts: &[PlaneContact], approach: &[Option<f64>], h: f64) {
        debug_assert_eq!(self.contacts.len(), contacts.len(), "the contacts are those of the assembly");
        for (place, (contact, given)) in self.contacts.iter_mut().zip(contacts).enumerate() {
            let speed = approach.get(place).copied().flatten();
            contact.rebound = speed.is_some();
            contact.normal_constant = speed.map_or(contact.gap / h, |speed| given.restitution * speed);
        }
    }

    fn place_contacts(
        &mut self,
        tree: &Tree,
        at: &Kinematics,
        contacts: &[PlaneContact],
        (v, free): (&[f64], &[f64]),
    ) -> Result<(), HybridError> {
        self.contacts.clear();
        self.bodies.clear();
        for (place, contact) in contacts.iter().enumerate() {
            if contact.link.index() >= tree.links().len() {
                return Err(HybridError::Contact { contact: place, field: "link" });
            }
            let body = self.bodies.iter().position(|&link| link == contact.link).unwrap_or_else(|| {
                self.bodies.push(contact.link);
                self.bodies.len() - 1
            });
            let pose = at.pose(contact.link);
            let arm = pose.rotation * contact.point;
            let point = pose.translation.vector + arm;
            let t = first_tangent(&contact.normal, None);
            let frame = [contact.normal, t, contact.normal.cross(&t)];
            let along = |v: &[f64]| {
                let velocity = twist(tree, at, v, contact.link).at(&arm);
                frame.map(|direction| direction.dot(&velocity))
            };
            let gap = contact.normal.dot(&point) - contact.offset;
            let (before, free) = (along(v), along(free));
            let friction = contact.friction;
            self.contacts.push(RootContact {
                point,
                frame,
                body,
                arm,
                gap,
                before,
                free,
                normal_constant: 0.0,
                rebound: false,
                friction,
            });
        }
        Ok(())
    }

    fn couple(&mut self, divide: &Divide, count: usize, handles: usize, bodies: usize) {
        let Self { delassus, beyond, handles: kappa, body_rows, rows, transfer, .. } = self;
        debug_assert_eq!(rows.len(), count + handles + bodies, "the rows are those of contacts, handles and bodies");
        let (contact_rows, others) = rows.split_at(count);
        let (handle_rows, own_rows) = others.split_at(handles);
        let fill = |out: &mut DenseMatrix, rows: &[DivideRow]| {
            out.reset(rows.len(), count);
            for (i, a) in rows.iter().enumerate() {
                for (out, b) in out.row_mut(i).iter_mut().zip(contact_rows) {
                    *out = divide.coupling(a, b);
                }
            }
        };
        fill(delassus, contact_rows);
        fill(kappa, handle_rows);
        fill(body_rows, own_rows.get(..bodies).unwrap_or_default());
        transfer.clear();
        beyond.reset(0, 0);
        if handles > 0 {
            transfer.extend(contact_rows.iter().map(|row| spatial::force(&row.at_root())));
            beyond.reset(count, count);
            for (i, a) in contact_rows.iter().enumerate() {
                for (out, b) in beyond.row_mut(i).iter_mut().zip(contact_rows) {
                    *out = divide.coupling_beyond_root(a, b);
                }
            }
        }
    }
}

/// The links of the terminal handles: the root, and the last one.
fn terminal_links(tree: &Tree, extent: RootExtent) -> Result<[Option<LinkId>; 2], HybridError> {
    if extent == RootExtent::Contacts {
        return Ok([None; 2]);
    }
    let roots = tree.links().iter().filter(|link| link.parent().is_none()).count();
    if roots != 1 {
        return Err(HybridError::SeveralRoots { roots });
    }
    let mut links = tree.link_ids();
    let first = links.next();
    Ok([first, links.last().or(first)])
}

/// The twist of a link at velocities `v`, about its origin.
fn twist(tree: &Tree, at: &Kinematics, v: &[f64], link: LinkId) -> Twist {
    let origin = at.pose(link).translation.vector;
    let mut sum = Twist::default();
    for i in tree.path_to_root(link) {
        let arm = origin - at.poses()[i].translation.vector;
        for k in tree.links()[i].velocities() {
            let column = at.column(k);
            sum.linear += column.at(&arm) * v[k];
            sum.angular += column.angular * v[k];
        }
    }
    sum
}
