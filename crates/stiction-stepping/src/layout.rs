//! Where the unknowns and rows of the mixed problem stand: [v; p_b | p_n; p_f; σ; limits].

/// Offsets of the blocks; friction blocks have one entry per direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// n_ν velocities.
    pub velocities: usize,
    /// n_b joint impulses.
    pub joints: usize,
    /// n_c contacts.
    pub contacts: usize,
    /// Σ n_d friction impulses.
    pub friction: usize,
    /// Slip speeds σ, one for each contact with friction.
    pub cones: usize,
    /// Limits of joints within reach.
    pub limits: usize,
}

/// What a row of the mixed problem says.
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
    /// A friction cone, counted over the contacts with friction.
    Cone(usize),
    /// A limit of a joint, counted over those within reach.
    Limit(usize),
}

impl Layout {
    /// Free unknowns.
    pub fn free(&self) -> usize {
        self.velocities + self.joints
    }

    /// Complementary unknowns.
    pub fn complementary(&self) -> usize {
        self.contacts + self.friction + self.cones + self.limits
    }

    /// All unknowns: the size of the mixed problem, velocities included.
    pub fn size(&self) -> usize {
        self.free() + self.complementary()
    }

    /// Place of a friction impulse among the complementary unknowns.
    pub fn friction_at(&self, direction: usize) -> usize {
        self.contacts + direction
    }

    /// Place of a slip speed σ among the complementary unknowns.
    pub fn sigma_at(&self, cone: usize) -> usize {
        self.contacts + self.friction + cone
    }

    /// What row `row` of the whole problem says.
    pub fn meaning(&self, row: usize) -> RowMeaning {
        let bounds = [self.velocities, self.joints, self.contacts, self.friction, self.cones];
        let mut rest = row;
        for (block, &length) in bounds.iter().enumerate() {
            if rest < length {
                return match block {
                    0 => RowMeaning::Momentum(rest),
                    1 => RowMeaning::Joint(rest),
                    2 => RowMeaning::Normal(rest),
                    3 => RowMeaning::Friction(rest),
                    _ => RowMeaning::Cone(rest),
                };
            }
            rest -= length;
        }
        RowMeaning::Limit(rest)
    }
}
