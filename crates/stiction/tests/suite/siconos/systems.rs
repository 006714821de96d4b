//! The systems of the collection, from their parameters.

use stiction::schemes::{ConstraintLaw, System};

use super::Run;

/// M v̇ = F − K q with contacts whose gaps are linear in q: a constant and the normal row times q.
pub struct Linear {
    pub mass: Vec<f64>,
    pub stiffness: Vec<f64>,
    pub load: Vec<f64>,
    pub contacts: Vec<LinearContact>,
}

pub struct LinearContact {
    pub gap: f64,
    pub law: ConstraintLaw,
    /// Normal and tangential rows.
    pub rows: Vec<f64>,
}

impl System for Linear {
    fn size(&self) -> usize {
        self.load.len()
    }

    fn mass(&self, _q: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.mass);
    }

    fn force(&self, _t: f64, q: &[f64], _v: &[f64], out: &mut [f64]) {
        for ((out, load), row) in out.iter_mut().zip(&self.load).zip(self.stiffness.chunks_exact(q.len())) {
            *out = load - dot(row, q);
        }
    }

    fn stiffness(&self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.stiffness);
    }

    fn constraints(&self) -> usize {
        self.contacts.len()
    }

    fn law(&self, constraint: usize) -> ConstraintLaw {
        self.contacts[constraint].law
    }

    fn gap(&self, constraint: usize, _t: f64, q: &[f64]) -> f64 {
        let contact = &self.contacts[constraint];
        contact.gap + dot(&contact.rows[..q.len()], q)
    }

    fn rows(&self, constraint: usize, _t: f64, _q: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.contacts[constraint].rows);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn planar(run: &Run, restitution: f64) -> ConstraintLaw {
    assert_eq!(run.number("eT"), 0.0);
    ConstraintLaw::planar(run.number("mu"), restitution)
}

/// A ball above a floor.
pub fn ball(run: &Run, radius: f64) -> Linear {
    let mass = run.number("mass");
    let law = ConstraintLaw::frictionless(run.number("eN"));
    Linear {
        mass: vec![mass],
        stiffness: vec![0.0],
        load: vec![-mass * run.number("g")],
        contacts: vec![LinearContact { gap: -radius, law, rows: vec![1.0] }],
    }
}

/// A disc on a plane; its first coordinate is the height.
pub fn disc(run: &Run) -> Linear {
    let (mass, radius) = (run.number("mass"), run.number("R"));
    let mut matrix = vec![0.0; 9];
    (matrix[0], matrix[4], matrix[8]) = (mass, mass, run.number("inertia"));
    let rows: Vec<Vec<f64>> = serde_json::from_value(run.parameters["H"].clone()).unwrap();
    Linear {
        mass: matrix,
        stiffness: vec![0.0; 9],
        load: vec![-mass * run.number("g"), 0.0, 0.0],
        contacts: vec![LinearContact { gap: -radius, law: planar(run, run.number("eN")), rows: rows.concat() }],
    }
}

/// The woodpecker toy of Glocker, Leine and Pfeiffer: height y, angle of the sleeve, angle of the bird on a spring.
pub fn woodpecker(run: &Run) -> Linear {
    let n = |key| run.number(key);
    let (m_m, m_s, l_m, l_g, g) = (n("m_M"), n("m_S"), n("l_M"), n("l_G"), n("g"));
    let (r_o, r_m, h_m, l_s, h_s, c) = (n("r_O"), n("r_M"), n("h_M"), n("l_S"), n("h_S"), n("c_phi"));
    let laws: Vec<ConstraintLaw> = run.numbers("eN").into_iter().map(|e| planar(run, e)).collect();
    Linear {
        mass: vec![
            m_s + m_m,
            m_s * l_m,
            m_s * l_g, //
            m_s * l_m,
            n("J_M") + m_s * l_m * l_m,
            m_s * l_m * l_g, //
            m_s * l_g,
            m_s * l_m * l_g,
            n("J_S") + m_s * l_g * l_g,
        ],
        stiffness: vec![0.0, 0.0, 0.0, 0.0, c, -c, 0.0, -c, c],
        load: [m_s + m_m, m_s * l_m, m_s * l_g].map(|m| -g * m).to_vec(),
        contacts: vec![
            // The beak against the pole, and the sleeve with its lower and upper edge.
            LinearContact { gap: l_m + l_g - l_s - r_o, law: laws[0], rows: vec![0.0, 0.0, -h_s, 1.0, l_m, l_g - l_s] },
            LinearContact { gap: r_m - r_o, law: laws[1], rows: vec![0.0, h_m, 0.0, 1.0, r_m, 0.0] },
            LinearContact { gap: r_m - r_o, law: laws[2], rows: vec![0.0, -h_m, 0.0, 1.0, r_m, 0.0] },
        ],
    }
}

/// A thin rod whose end may hit a floor; its gap is not linear.
pub struct Stick {
    mass: f64,
    inertia: f64,
    half: f64,
    gravity: f64,
    law: ConstraintLaw,
}

impl Stick {
    pub fn read(run: &Run) -> Self {
        Self {
            mass: run.number("mass"),
            inertia: run.number("inertia"),
            half: 0.5 * run.number("l"),
            gravity: run.number("g"),
            law: planar(run, run.number("eN")),
        }
    }

    /// Normal and tangential velocity of the end.
    pub fn velocities(&self, q: &[f64], v: &[f64]) -> [f64; 2] {
        let mut rows = [0.0; 6];
        self.rows(0, 0.0, q, &mut rows);
        [dot(&rows[..3], v), dot(&rows[3..], v)]
    }
}

impl System for Stick {
    fn size(&self) -> usize {
        3
    }

    fn mass(&self, _q: &[f64], out: &mut [f64]) {
        (out[0], out[4], out[8]) = (self.mass, self.mass, self.inertia);
    }

    fn force(&self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) {
        out[1] = -self.mass * self.gravity;
    }

    fn constraints(&self) -> usize {
        1
    }

    fn law(&self, _: usize) -> ConstraintLaw {
        self.law
    }

    fn gap(&self, _: usize, _t: f64, q: &[f64]) -> f64 {
        q[1] - self.half * q[2].cos()
    }

    fn rows(&self, _: usize, _t: f64, q: &[f64], out: &mut [f64]) {
        let (sin, cos) = q[2].sin_cos();
        out.copy_from_slice(&[0.0, 1.0, self.half * sin, -1.0, 0.0, -self.half * cos]);
    }
}
