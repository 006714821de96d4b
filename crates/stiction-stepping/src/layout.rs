//! Order of the unknowns and rows of the mixed problem: [v; p_b | p_n; p_f; σ; limits].

/// Sizes of the blocks of the mixed problem; friction blocks have one entry per direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Number of velocities n_ν.
    pub velocities: usize,
    /// Number of joint impulses n_b, joint-space equations included.
    pub joints: usize,
    /// Number of contacts n_c.
    pub contacts: usize,
    /// Number of friction impulses Σ n_d.
    pub friction: usize,
    /// Number of friction bounds. A friction bound is a set of friction directions with one slip speed σ and one friction-bound row. A polygon
    /// has one, a box in space two, a doubly bounded joint-space row (motor, dry friction) one.
    pub friction_bounds: usize,
    /// Number of joint limits within reach.
    pub limits: usize,
}

/// Meaning of a row of the mixed problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowMeaning {
    /// Momentum balance of a velocity.
    Momentum(usize),
    /// A joint row.
    Joint(usize),
    /// Non-penetration of a contact.
    Normal(usize),
    /// A friction direction, counted over all contacts.
    Friction(usize),
    /// A friction-bound row μ p_n − Σ p_f ≥ 0, counted over all friction bounds.
    FrictionBound(usize),
    /// A limit of a joint, counted over those within reach.
    Limit(usize),
}

impl Layout {
    /// Number of free unknowns.
    pub fn free(&self) -> usize {
        self.velocities + self.joints
    }

    /// Number of complementary unknowns.
    pub fn complementary(&self) -> usize {
        self.contacts + self.friction + self.friction_bounds + self.limits
    }

    /// Number of all unknowns, velocities included: the size of the mixed problem.
    pub fn size(&self) -> usize {
        self.free() + self.complementary()
    }

    /// Index of a friction impulse among the complementary unknowns.
    pub fn friction_at(&self, direction: usize) -> usize {
        debug_assert!(direction <= self.friction, "a friction impulse belongs to a direction");
        self.contacts + direction
    }

    /// Index of the slip speed σ of a friction bound among the complementary unknowns.
    pub fn sigma_at(&self, bound: usize) -> usize {
        debug_assert!(bound <= self.friction_bounds, "a slip speed belongs to a friction bound");
        self.contacts + self.friction + bound
    }

    /// Meaning of row `row` of the whole problem.
    pub fn meaning(&self, row: usize) -> RowMeaning {
        let bounds = [self.velocities, self.joints, self.contacts, self.friction, self.friction_bounds];
        let mut rest = row;
        for (block, &length) in bounds.iter().enumerate() {
            if rest < length {
                return match block {
                    0 => RowMeaning::Momentum(rest),
                    1 => RowMeaning::Joint(rest),
                    2 => RowMeaning::Normal(rest),
                    3 => RowMeaning::Friction(rest),
                    _ => RowMeaning::FrictionBound(rest),
                };
            }
            rest -= length;
        }
        RowMeaning::Limit(rest)
    }
}
