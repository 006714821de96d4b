//! Law and rows of a contact in the problem with second-order cones.
//!
//! The rows are the normal, the tangents, torsional friction and rolling friction, in this order. The tangents are scaled by the semi-axes
//! of the friction ellipsoid, the row of torsion by its lever and those of rolling by its coefficient: in these units the friction limits
//! are balls.   [FRIC-3] [FRIC-5]

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::{Dimension, Wrench};

use crate::{Contact, ContactImpulse, SupportPointContact};

/// Largest number of rows of a contact: normal, two tangents, torsion and two of rolling friction.
pub(crate) const MAX_CONTACT_ROWS: usize = 6;

/// Law of a contact: one row without friction, a cone of 2 rows in the plane, and of 3 rows or 4 with torsion in space. Rolling friction adds
/// one row in the plane and two in space, which are scaled by its coefficient, so that their own coefficient is 1.   [FRIC-5]
pub(crate) fn contact_law(dimension: Dimension, contact: &Contact) -> Law {
    let mu = contact.mu;
    let rows = match (mu > 0.0, dimension) {
        (false, _) => return Law::Bounded { lower: 0.0, upper: f64::INFINITY },
        (true, Dimension::Planar) => 2,
        (true, _) if contact.torsion > 0.0 => 4,
        (true, _) => 3,
    };
    if contact.friction_options.rolling > 0.0 {
        let axes = if dimension == Dimension::Planar { 1 } else { 2 };
        return Law::Rolling { rows: rows + axes, mu, mu_r: 1.0 };
    }
    Law::Cone { rows, mu }
}

/// Kinds of the rows of a contact, after the normal one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRows<'a> {
    contact: &'a Contact,
    /// Number of all rows.
    count: usize,
    /// Number of tangents.
    tangents: usize,
    /// True if there is a row of torsional friction.
    torsion: bool,
}

impl<'a> ContactRows<'a> {
    /// Rows of a contact whose law has so many.
    pub(crate) fn new(contact: &'a Contact, count: usize) -> Self {
        let existing: usize = if contact.is_planar() { 1 } else { 2 };
        let tangents = existing.min(count.saturating_sub(1));
        let axes = if contact.friction_options.rolling > 0.0 { tangents } else { 0 };
        Self { contact, count, tangents, torsion: count > 1 + tangents + axes }
    }

    /// Axes of the rows of rolling friction, which are the last.
    fn rolling_axes(self) -> impl Iterator<Item = Vector3<f64>> {
        let rows = self.count - self.first_rolling().min(self.count);
        self.contact.rolling_axes().take(rows)
    }

    fn first_rolling(self) -> usize {
        1 + self.tangents + usize::from(self.torsion)
    }

    fn tangents(self) -> impl Iterator<Item = &'a Vector3<f64>> {
        self.contact.tangents.iter().take(self.tangents)
    }

    /// Wrenches of unit impulses on the two bodies, of which the first `count` are rows.
    pub(crate) fn wrenches(self) -> [(Wrench, Wrench); MAX_CONTACT_ROWS] {
        let mut rows = [Default::default(); MAX_CONTACT_ROWS];
        let mut next = 0;
        self.for_each_wrench(|wrenches| {
            rows[next] = wrenches;
            next += 1;
        });
        rows
    }

    /// Appends the wrenches of the rows.
    pub(crate) fn push_wrenches(self, rows: &mut Vec<(Wrench, Wrench)>) {
        self.for_each_wrench(|wrenches| rows.push(wrenches));
    }

    /// Calls a function with the wrenches of each row, in their order.
    #[inline]
    fn for_each_wrench(self, mut with: impl FnMut((Wrench, Wrench))) {
        let contact = self.contact;
        with(contact.row(&contact.normal));
        for t in self.tangents() {
            with(contact.row(t));
        }
        if self.torsion {
            let (a, b) = contact.spin_row();
            with((a.scaled(contact.torsion), b.scaled(contact.torsion)));
        }
        if contact.friction_options.rolling > 0.0 {
            for axis in self.rolling_axes() {
                with(Contact::rolling_row(&axis));
            }
        }
    }

    /// Appends the constant terms of the rows: a bias along the normal, and the velocities of prescribed motion.
    pub(crate) fn push_constants(self, bias: f64, constants: &mut Vec<f64>) {
        let contact = self.contact;
        constants.push(bias);
        constants.extend(self.tangents().map(|t| t.dot(&contact.surface_velocity)));
        constants.extend(self.torsion.then_some(contact.torsion * contact.surface_spin));
        if contact.friction_options.rolling > 0.0 {
            constants.extend(self.rolling_axes().map(|axis| axis.dot(&contact.surface_rotation)));
        }
    }

    /// Appends the impulses of the rows: p = r_t (e_t t) + r_o (e_o o), the tangents being perpendicular.
    pub(crate) fn push_impulses(self, impulse: &ContactImpulse, r: &mut Vec<f64>) {
        r.push(impulse.normal);
        r.extend(self.tangents().map(|t| t.dot(&impulse.friction) / t.norm_squared()));
        r.extend(self.torsion.then(|| impulse.spin / self.contact.torsion));
        if self.contact.friction_options.rolling > 0.0 {
            r.extend(self.rolling_axes().map(|axis| axis.dot(&impulse.rolling) / axis.norm_squared()));
        }
    }

    /// Adds a normal impulse and one of friction to the impulses `r` of the rows.
    pub(crate) fn add_force_impulse(self, normal: f64, friction: &Vector3<f64>, r: &mut [f64]) {
        debug_assert_eq!(r.len(), self.count, "every row has an impulse");
        let tangents = self.tangents().map(|t| t.dot(friction) / t.norm_squared());
        r.iter_mut().zip(std::iter::once(normal).chain(tangents)).for_each(|(r, impulse)| *r += impulse);
    }

    /// Impulse of the contact with the impulses `r` of its rows, in this unit.
    pub(crate) fn impulse(self, r: &[f64], unit: f64) -> ContactImpulse {
        debug_assert_eq!(r.len(), self.count, "every row has an impulse");
        let part = |k: usize| r.get(k).copied().unwrap_or(0.0) * unit;
        let [t, o] = &self.contact.tangents;
        ContactImpulse {
            normal: part(0),
            friction: if self.tangents > 1 { t * part(1) + o * part(2) } else { t * part(1) },
            spin: if self.torsion { part(1 + self.tangents) * self.contact.torsion } else { 0.0 },
            rolling: if self.contact.friction_options.rolling > 0.0 {
                (self.first_rolling()..)
                    .zip(self.rolling_axes())
                    .fold(Vector3::zeros(), |sum, (k, axis)| sum + axis * part(k))
            } else {
                Vector3::zeros()
            },
            sigma: 0.0,
        }
    }
}

/// Rows of a support point: normal, two tangents and spin, of which the law uses the first `count`.
///
/// The normal row is zero on the bodies: it acts on the auxiliary mass only.
pub(crate) fn support_rows(support_point: &SupportPointContact, count: usize) -> [(Wrench, Wrench); 4] {
    let [x, y] = SupportPointContact::tangents();
    let (a, b) = support_point.spin_row();
    let torsion = support_point.torsion;
    let spin = if count == 4 { (a.scaled(torsion), b.scaled(torsion)) } else { Default::default() };
    [Default::default(), support_point.row(&x), support_point.row(&y), spin]
}

/// Impulse of a support point with the impulses `r` of its rows, in this unit.
pub(crate) fn support_impulse(support_point: &SupportPointContact, r: &[f64], unit: f64) -> ContactImpulse {
    let [x, y] = SupportPointContact::tangents();
    let part = |k: usize| r.get(k).copied().unwrap_or(0.0) * unit;
    ContactImpulse {
        normal: part(0),
        friction: if r.len() > 2 { x * part(1) + y * part(2) } else { x * part(1) },
        spin: if r.len() > 3 { part(3) * support_point.torsion } else { 0.0 },
        ..ContactImpulse::default()
    }
}
