//! The unknowns of a polygonal contact as combinations of its three directions n, t, o.

/// Directions of a friction polygon over (t, o), each with its exact opposite.
#[derive(Clone, Debug, Default)]
pub(super) struct FrictionPolygon {
    directions: Vec<[f64; 2]>,
}

/// Direction of an unknown impulse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Push {
    pub(super) contact: usize,
    /// Its parts along n, t, o.
    pub(super) parts: [f64; 3],
}

impl FrictionPolygon {
    pub(super) fn new(directions: usize) -> Self {
        let half: Vec<[f64; 2]> = (0..directions / 2)
            .map(|k| {
                let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / directions as f64);
                [cos, sin]
            })
            .collect();
        let opposite = half.iter().map(|[t, o]| [-t, -o]);
        Self { directions: half.iter().copied().chain(opposite).collect() }
    }

    /// η.
    pub(super) fn len(&self) -> usize {
        self.directions.len()
    }

    /// Unknown impulses of all contacts: λ_N of each contact, then λ_F contact by contact. The slips S follow them.
    pub(super) fn pushes(&self, contacts: usize) -> impl Iterator<Item = Push> + Clone + '_ {
        let normals = (0..contacts).map(|contact| Push { contact, parts: [1.0, 0.0, 0.0] });
        let frictions = (0..contacts)
            .flat_map(|contact| self.directions.iter().map(move |&[t, o]| Push { contact, parts: [0.0, t, o] }));
        normals.chain(frictions)
    }

    /// The impulses (n, t, o) of a contact in a solution.
    pub(super) fn impulse(&self, contact: usize, contacts: usize, z: &[f64]) -> [f64; 3] {
        let own = self.pushes(contacts).zip(z).filter(|(push, _)| push.contact == contact);
        own.fold([0.0; 3], |sum, (push, z)| std::array::from_fn(|i| sum[i] + push.parts[i] * z))
    }
}

impl Push {
    /// Product of this direction with a row of a matrix over all directions of all contacts.
    pub(super) fn along(&self, row: &[f64]) -> f64 {
        let own = row.iter().skip(3 * self.contact);
        own.zip(&self.parts).map(|(entry, part)| entry * part).sum()
    }
}
