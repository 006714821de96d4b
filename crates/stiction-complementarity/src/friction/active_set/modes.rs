//! Contact modes, updated from impulses and velocities.   [SET-1]

use super::bounds::ActiveBound;
use super::contacts::{Contacts, Mode, norm};
use super::sizes::MAX_CONTACTS;

/// Relative distance from the boundary of the friction cone within which an impulse counts as slipping.
const ON_BOUNDARY: f64 = 1e-9;

/// Active set as a number: the modes of all contacts and bounded rows, held ones included, without slip directions; two bits each.
pub(super) type ActiveSetCode = u64;
const _: () = assert!(2 * MAX_CONTACTS <= 64, "an active set of all contacts fits into 64 bits");

impl Contacts {
    /// Present active set, without the directions of slip.
    pub(super) fn active_set(&self) -> ActiveSetCode {
        let code = |mode: &Mode| match mode {
            Mode::Held => 0,
            Mode::Upper => 1,
            Mode::Stick => 2,
            Mode::Slip(_) => 3,
        };
        self.modes.iter().take(self.count()).fold(0, |active_set, mode| 4 * active_set + code(mode))
    }

    /// True if the mode of any contact is slip.
    pub(super) fn slips(&self) -> bool {
        self.modes.iter().take(self.count()).any(|mode| matches!(mode, Mode::Slip(_)))
    }

    /// Updates all modes from r − ρ u and projects the impulses onto their modes.   [SET-1]
    ///
    /// Returns true if any mode changed, or if the impulse of a slipping contact was not on the boundary of its cone.
    pub(super) fn update_modes(&mut self) -> bool {
        self.update_each(
            |contacts, i| {
                if contacts.tangents[i] == 0 { contacts.update_bound(i) } else { contacts.update_contact(i) }
            },
        )
    }

    /// Updates each contact by `update`, which returns (active set changed, impulse changed). Returns true if the first is true of any contact.
    fn update_each(&mut self, update: impl Fn(&mut Self, usize) -> (bool, bool)) -> bool {
        let (mut changed, mut moved) = (false, false);
        for i in 0..self.count() {
            let change = update(self, i);
            (changed, moved) = (changed | change.0, moved | change.1);
        }
        if moved {
            self.refresh();
        }
        changed
    }

    /// Updates the mode of a contact from r − ρ u; returns (active set changed, impulse changed).   [SET-1]
    ///
    /// The first is also true of a contact that slipped and slips if its impulse was not on the boundary of the cone.
    #[inline]
    fn update_contact(&mut self, i: usize) -> (bool, bool) {
        let (r, u, mu, (rho_n, rho_t)) = (self.r[i], self.u[i], self.mu[i], self.rho[i]);
        let normal = r[0] - rho_n * u[0];
        let tangent = [r[1] - rho_t * u[1], r[2] - rho_t * u[2]];
        let (before, length) = (self.modes[i], norm(tangent));
        if normal <= 0.0 {
            (self.modes[i], self.r[i]) = (Mode::Held, [0.0; 3]);
            return (before != Mode::Held, r != [0.0; 3]);
        }
        if length <= mu * normal {
            self.modes[i] = Mode::Stick;
            return (before != Mode::Stick, false);
        }
        // On the boundary of the cone the slip direction is opposite to the friction impulse, elsewhere opposite to r_T − ρ u_T.
        let (friction, limit) = (norm([r[1], r[2]]), mu * r[0]);
        let on_boundary = r[0] > 0.0 && (friction - limit).abs() <= ON_BOUNDARY * limit;
        let (part, length) = if on_boundary && friction > 0.0 { ([r[1], r[2]], friction) } else { (tangent, length) };
        let e = [-part[0] / length, -part[1] / length];
        let r_n = if r[0] > 0.0 { r[0] } else { normal };
        (self.modes[i], self.r[i]) = (Mode::Slip(e), [r_n, -mu * r_n * e[0], -mu * r_n * e[1]]);
        (!matches!(before, Mode::Slip(_)) || !on_boundary, !on_boundary)
    }

    /// Updates the active bound of a row from r − ρ u and sets its impulse; returns (mode changed, impulse changed).   [SET-9]
    fn update_bound(&mut self, i: usize) -> (bool, bool) {
        let (bounds, r) = (self.bounds[i], self.r[i][0]);
        let (mode, impulse) = match bounds.active(r - self.rho[i].0 * self.u[i][0]) {
            ActiveBound::Lower => (Mode::Held, bounds.lower),
            ActiveBound::Upper => (Mode::Upper, bounds.upper),
            ActiveBound::Neither => (Mode::Stick, r),
        };
        let before = std::mem::replace(&mut self.modes[i], mode);
        self.r[i][0] = impulse;
        (before != mode, impulse != r)
    }

    /// True if a bounded row without impulse is violated while contacts have impulses. Joint limits have no warm start.   [SET-8]
    pub(super) fn has_violated_bounds(&self) -> bool {
        let violated = |i: usize| {
            let (r, u) = (self.r[i][0], self.u[i][0]);
            self.tangents[i] == 0 && r == 0.0 && self.bounds[i].clip(r - u) != r
        };
        (0..self.count()).any(violated) && (0..self.count()).any(|i| self.tangents[i] > 0 && self.r[i][0] > 0.0)
    }

    /// Sets the modes of the contacts from their warm-started impulses alone, without the velocities.   [SET-8]
    pub(super) fn set_modes_from_impulses(&mut self) {
        self.update_each(|contacts, i| {
            if contacts.tangents[i] == 0 {
                return contacts.update_bound(i);
            }
            let (r, limit) = (contacts.r[i], contacts.mu[i] * contacts.r[i][0]);
            let length = norm([r[1], r[2]]);
            contacts.modes[i] = if r[0] <= 0.0 {
                Mode::Held
            } else if length < (1.0 - ON_BOUNDARY) * limit {
                Mode::Stick
            } else if length > 0.0 {
                Mode::Slip([-r[1] / length, -r[2] / length])
            } else {
                // Without friction only the velocity has a direction.
                return contacts.update_contact(i);
            };
            (true, false)
        });
    }

    /// Updates the modes of the bounded rows; returns true if any changed.   [SET-8]
    ///
    /// Contacts are marked as held only to exclude them from the system; their impulses are kept.
    pub(super) fn update_bound_modes(&mut self) -> bool {
        self.update_each(|contacts, i| {
            if contacts.tangents[i] == 0 {
                return contacts.update_bound(i);
            }
            contacts.modes[i] = Mode::Held;
            (false, false)
        })
    }
}
