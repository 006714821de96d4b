//! What contacts are taken to do, guessed from impulses and velocities.   [SET-1]

use super::bounds::Held;
use super::contacts::{Contacts, MAX_CONTACTS, norm};

/// An impulse within this fraction of its cone's boundary slipped when it was found.
const ON_BOUNDARY: f64 = 1e-9;

/// What all contacts are taken to do, two bits for each.
pub(super) type Pattern = u64;
const _: () = assert!(2 * MAX_CONTACTS <= 64, "a pattern has room for all contacts");

/// What a contact is taken to do.   [SET-1]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Guess {
    /// r = 0, or at the lower bound.
    #[default]
    Open,
    /// r at the upper bound.
    Upper,
    /// u = 0.
    Stick,
    /// u_N = 0, u_T along the unit vector e, r_T = −μ r_N e.
    Slip([f64; 2]),
}

impl Contacts {
    /// What all contacts are taken to do, without the directions of slip.
    pub(super) fn pattern(&self) -> Pattern {
        let mode = |guess: &Guess| match guess {
            Guess::Open => 0,
            Guess::Upper => 1,
            Guess::Stick => 2,
            Guess::Slip(_) => 3,
        };
        self.guesses.iter().take(self.count()).fold(0, |pattern, guess| 4 * pattern + mode(guess))
    }

    /// Whether any contact is taken to slip.
    pub(super) fn slips(&self) -> bool {
        self.guesses.iter().take(self.count()).any(|guess| matches!(guess, Guess::Slip(_)))
    }

    /// Guesses from r − ρ u what every contact does, and brings impulses to where the guess has them. Says whether any guess
    /// differs from the one before.   [SET-1]
    pub(super) fn guess(&mut self) -> bool {
        self.guess_each(
            |contacts, i| if contacts.tangents[i] == 0 { contacts.guess_bound(i) } else { contacts.guess_contact(i) },
        )
    }

    /// The same by another guess of each contact, which says whether it differs from the one before, and whether the impulse moved.
    fn guess_each(&mut self, guess: impl Fn(&mut Self, usize) -> (bool, bool)) -> bool {
        let (mut changed, mut moved) = (false, false);
        for i in 0..self.count() {
            let change = guess(self, i);
            (changed, moved) = (changed | change.0, moved | change.1);
        }
        if moved {
            self.refresh();
        }
        changed
    }

    #[inline]
    fn guess_contact(&mut self, i: usize) -> (bool, bool) {
        let (r, u, mu, (step_n, step_t)) = (self.r[i], self.u[i], self.mu[i], self.steps[i]);
        let normal = r[0] - step_n * u[0];
        let tangent = [r[1] - step_t * u[1], r[2] - step_t * u[2]];
        let (before, length) = (self.guesses[i], norm(tangent));
        if normal <= 0.0 {
            (self.guesses[i], self.r[i]) = (Guess::Open, [0.0; 3]);
            return (before != Guess::Open, r != [0.0; 3]);
        }
        if length <= mu * normal {
            self.guesses[i] = Guess::Stick;
            return (before != Guess::Stick, false);
        }
        // An impulse on the boundary knows its direction; another one takes that of r_T − ρ u_T.
        let (own, limit) = (norm([r[1], r[2]]), mu * r[0]);
        let on_boundary = r[0] > 0.0 && (own - limit).abs() <= ON_BOUNDARY * limit;
        let (part, length) = if on_boundary && own > 0.0 { ([r[1], r[2]], own) } else { (tangent, length) };
        let e = [-part[0] / length, -part[1] / length];
        let load = if r[0] > 0.0 { r[0] } else { normal };
        (self.guesses[i], self.r[i]) = (Guess::Slip(e), [load, -mu * load * e[0], -mu * load * e[1]]);
        (!matches!(before, Guess::Slip(_)) || !on_boundary, !on_boundary)
    }

    /// Guesses from r − ρ u which bound holds a row, and brings its impulse there. Says whether the guess differs from the one before, and whether the
    /// impulse moved.   [SET-9]
    fn guess_bound(&mut self, i: usize) -> (bool, bool) {
        let (bounds, r) = (self.bounds[i], self.r[i][0]);
        let (guess, at) = match bounds.side(r - self.steps[i].0 * self.u[i][0]) {
            Held::Lower => (Guess::Open, bounds.lower),
            Held::Upper => (Guess::Upper, bounds.upper),
            Held::Between => (Guess::Stick, r),
        };
        let before = std::mem::replace(&mut self.guesses[i], guess);
        self.r[i][0] = at;
        (before != guess, at != r)
    }

    /// Whether a bound gives way that no impulse holds yet while contacts have theirs: limits of joints come without a first guess.   [SET-8]
    pub(super) fn has_unmet_bounds(&self) -> bool {
        let gives_way = |i: usize| {
            let (r, u) = (self.r[i][0], self.u[i][0]);
            self.tangents[i] == 0 && r == 0.0 && self.bounds[i].clip(r - u) != r
        };
        (0..self.count()).any(gives_way) && (0..self.count()).any(|i| self.tangents[i] > 0 && self.r[i][0] > 0.0)
    }

    /// Guesses that contacts do what their impulses tell of the step before, whatever their velocities are.   [SET-8]
    pub(super) fn recall(&mut self) {
        self.guess_each(|contacts, i| {
            if contacts.tangents[i] == 0 {
                return contacts.guess_bound(i);
            }
            let (r, limit) = (contacts.r[i], contacts.mu[i] * contacts.r[i][0]);
            let length = norm([r[1], r[2]]);
            contacts.guesses[i] = if r[0] <= 0.0 {
                Guess::Open
            } else if length < (1.0 - ON_BOUNDARY) * limit {
                Guess::Stick
            } else if length > 0.0 {
                Guess::Slip([-r[1] / length, -r[2] / length])
            } else {
                // Without friction the velocity alone has a direction.
                return contacts.guess_contact(i);
            };
            (true, false)
        });
    }

    /// Guesses which bounds hold, with all other impulses as they are; says whether any guess differs from the one before. Contacts count as open, whose
    /// impulses a step leaves alone.   [SET-8]
    pub(super) fn guess_bounds(&mut self) -> bool {
        self.guess_each(|contacts, i| {
            if contacts.tangents[i] == 0 {
                return contacts.guess_bound(i);
            }
            contacts.guesses[i] = Guess::Open;
            (false, false)
        })
    }
}
