//! Contact modes of contacts with parts, updated from impulses and velocities.   [SET-1] [SET-10]

use super::super::bounds::ActiveBound;
use super::{Constraint, GeneralContacts};
use crate::friction::law::{MAX_PARTS, Part, norm};

/// Relative distance from the limit of a part within which an impulse counts as slipping.
const ON_BOUNDARY: f64 = 1e-9;

/// Largest number of rows of a part.
pub(super) const MAX_PART_ROWS: usize = 3;

/// Contact mode of one part of the friction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum PartMode {
    /// u_k = 0.
    #[default]
    Stick,
    /// u_k along the unit vector e, r_k = −μ_k r_N e.
    Slip([f64; MAX_PART_ROWS]),
}

impl PartMode {
    fn slips(&self) -> bool {
        matches!(self, Self::Slip(_))
    }
}

/// Contact mode of a contact or bounded row.   [SET-10]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Mode {
    /// Impulse held: a step does not change it. An open contact has it, with zero impulse, and a bounded row at its lower bound; all contacts
    /// while the bounded rows are solved alone [SET-8].
    #[default]
    Held,
    /// r at the upper bound.
    Upper,
    /// u_N = 0, and each part sticks or slips. All parts stick at a bounded row that is free, between its bounds.
    Closed([PartMode; MAX_PARTS]),
}

impl Mode {
    /// Number of codes: 2 for an impulse at the lower (or zero) or upper bound, and 2² for the combinations of stick and slip of two parts.
    pub(super) const CODES: u128 = 6;

    /// Mode as a number, without the directions of slip.
    pub(super) fn code(&self) -> u128 {
        match self {
            Self::Held => 0,
            Self::Upper => 1,
            Self::Closed(parts) => 2 + parts.iter().rev().fold(0, |code, part| 2 * code + u128::from(part.slips())),
        }
    }

    /// True if a part slips.
    pub(super) fn slips(&self) -> bool {
        matches!(self, Self::Closed(parts) if parts.iter().any(PartMode::slips))
    }

    /// Modes of the parts of a closed contact.
    pub(super) fn parts(&self) -> Option<&[PartMode; MAX_PARTS]> {
        match self {
            Self::Closed(parts) => Some(parts),
            _ => None,
        }
    }
}

/// Changes of one contact in an update. `mode` is also true of a part that slipped and slips if its impulse was not on the limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    mode: bool,
    impulse: bool,
}

/// Unit vector along `factor` · x, and the norm of x; zero if x is.
fn direction(x: &[f64], factor: f64) -> ([f64; MAX_PART_ROWS], f64) {
    let length = norm(x);
    let mut e = [0.0; MAX_PART_ROWS];
    if length > 0.0 {
        e.iter_mut().zip(x).for_each(|(e, x)| *e = factor * x / length);
    }
    (e, length)
}

impl GeneralContacts {
    /// Updates each contact. Returns true if any mode changed, or if the impulse of a slipping part was not on its limit.
    pub(super) fn update_each(&mut self, update: impl Fn(&mut Self, usize, &Constraint) -> Change) -> bool {
        let (mut changed, mut moved) = (false, false);
        for i in 0..self.constraints.len() {
            let Some(constraint) = self.constraints.get(i).copied() else { continue };
            let change = update(self, i, &constraint);
            (changed, moved) = (changed | change.mode, moved | change.impulse);
        }
        if moved {
            self.refresh();
        }
        changed
    }

    /// Updates the mode of a contact from r − ρ u, or the active bound of a row.   [SET-1] [SET-9]
    pub(super) fn update_mode(&mut self, i: usize, constraint: &Constraint) -> Change {
        if constraint.bounds.is_some() {
            return self.update_bound(i, constraint);
        }
        let (r_n, first) = (self.r[constraint.first], constraint.first);
        let normal = r_n - constraint.rho[0] * self.u[first];
        let before = self.modes[i];
        if normal <= 0.0 {
            self.modes[i] = Mode::Held;
            let impulse = self.r[constraint.range()].iter().any(|r| *r != 0.0);
            self.r[constraint.range()].fill(0.0);
            return Change { mode: before != Mode::Held, impulse };
        }
        let normal_impulse = if r_n > 0.0 { r_n } else { normal };
        let mut change = Change { mode: before.parts().is_none(), impulse: false };
        let mut modes = [PartMode::Stick; MAX_PARTS];
        for (k, part) in constraint.parts.iter().enumerate() {
            let slipped = before.parts().is_some_and(|parts| parts[k].slips());
            let mut z = [0.0; MAX_PART_ROWS];
            z.iter_mut()
                .zip(constraint.rows_of(part))
                .for_each(|(z, row)| *z = self.r[row] - constraint.rho[1 + k] * self.u[row]);
            if norm(&z) <= part.mu * normal {
                change.mode |= slipped;
                continue;
            }
            let (e, on_boundary) = self.slip_direction(constraint, part, &z);
            modes[k] = PartMode::Slip(e);
            self.r[first] = normal_impulse;
            constraint.rows_of(part).zip(e).for_each(|(row, e)| self.r[row] = -part.mu * normal_impulse * e);
            change.mode |= !slipped || !on_boundary;
            change.impulse |= !on_boundary;
        }
        self.modes[i] = Mode::Closed(modes);
        change
    }

    /// Slip direction of a part, and true if its impulse is on the limit.
    ///
    /// On the limit the direction is opposite to the impulse. Elsewhere, and where z = r − ρ u points away from the impulse, it is opposite to z.
    fn slip_direction(
        &self,
        constraint: &Constraint,
        part: &Part,
        z: &[f64; MAX_PART_ROWS],
    ) -> ([f64; MAX_PART_ROWS], bool) {
        let (r_n, friction) = (self.r[constraint.first], &self.r[constraint.rows_of(part)]);
        let ((along_r, size), limit) = (direction(friction, -1.0), part.mu * r_n);
        let forward = friction.iter().zip(z).map(|(r, z)| r * z).sum::<f64>() >= 0.0;
        let on_boundary = r_n > 0.0 && (size - limit).abs() <= ON_BOUNDARY * limit && forward;
        (if on_boundary && size > 0.0 { along_r } else { direction(z, -1.0).0 }, on_boundary)
    }

    /// Updates the active bound of a row from r − ρ u and sets its impulse.   [SET-9]
    fn update_bound(&mut self, i: usize, constraint: &Constraint) -> Change {
        let (Some(bounds), r) = (constraint.bounds, self.r[constraint.first]) else { return Change::default() };
        let (mode, impulse) = match bounds.active(r - constraint.rho[0] * self.u[constraint.first]) {
            ActiveBound::Lower => (Mode::Held, bounds.lower),
            ActiveBound::Upper => (Mode::Upper, bounds.upper),
            ActiveBound::Neither => (Mode::Closed([PartMode::Stick; MAX_PARTS]), r),
        };
        let before = std::mem::replace(&mut self.modes[i], mode);
        self.r[constraint.first] = impulse;
        Change { mode: before != mode, impulse: impulse != r }
    }

    /// Updates the mode of a bounded row. Contacts are marked as held only to exclude them from the system; their impulses are kept.   [SET-8]
    pub(super) fn update_bound_mode(&mut self, i: usize, constraint: &Constraint) -> Change {
        if constraint.bounds.is_some() {
            return self.update_bound(i, constraint);
        }
        self.modes[i] = Mode::Held;
        Change::default()
    }

    /// Sets the mode of a contact from its warm-started impulse alone, without the velocities.   [SET-8]
    pub(super) fn set_mode_from_impulse(&mut self, i: usize, constraint: &Constraint) -> Change {
        if constraint.bounds.is_some() {
            return self.update_bound(i, constraint);
        }
        let r_n = self.r[constraint.first];
        if r_n <= 0.0 {
            self.modes[i] = Mode::Held;
            return Change { mode: true, impulse: false };
        }
        let mut modes = [PartMode::Stick; MAX_PARTS];
        for (k, part) in constraint.parts.iter().enumerate() {
            let (e, size) = direction(&self.r[constraint.rows_of(part)], -1.0);
            if size < (1.0 - ON_BOUNDARY) * part.mu * r_n {
                continue;
            }
            if size == 0.0 {
                // Without friction only the velocity has a direction.
                return self.update_mode(i, constraint);
            }
            modes[k] = PartMode::Slip(e);
        }
        self.modes[i] = Mode::Closed(modes);
        Change { mode: true, impulse: false }
    }
}
