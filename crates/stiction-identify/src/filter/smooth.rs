//! Kernel smoothing of resampled particles: each copy moves by a fraction of the scatter of its stratum.
//!
//! A mixture of normal distributions about the particles would be wider than the particles are. So particles first move towards their mean.
//! Mean and covariance are preserved, including the correlation of states and parameters.   [FILT-7]

use nalgebra::{DMatrix, DVector};
use stiction::{Model, gradient::displacement, multibody::OrientationUpdate};
use stiction_study::Stream;

use super::{
    particle::{Particle, normal},
    reparameterise::Coordinate,
};

/// Largest variance that is rounding, as a fraction of the largest variance, all in units of their own scatter.
const FLAT: f64 = 1e-12;

/// Covariance of the particles of one stratum, and the width of the kernel.
pub(super) struct Kernel {
    /// Origin of differences.
    middle: Particle,
    mean: DVector<f64>,
    /// C = R Rᵀ: displacements, velocities, coordinates of the parameters.
    root: DMatrix<f64>,
    /// b, the width of the kernels as a fraction of C.
    width: f64,
}

impl Kernel {
    /// Kernel of some particles with their weights; none if they are all equal.
    pub(super) fn new(model: &Model, cloud: &[Particle], members: &[(usize, f64)]) -> Option<Self> {
        let members = || members.iter().filter_map(|(of, weight)| Some((cloud.get(*of)?, *weight)));
        let total: f64 = members().map(|(_, weight)| weight).sum();
        let (middle, _) = members().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let all: Vec<(DVector<f64>, f64)> =
            members().map(|(particle, weight)| (between(model, middle, particle), weight / total)).collect();
        let size = all.first()?.0.len();
        let mut mean = DVector::zeros(size);
        for (x, weight) in &all {
            mean.axpy(*weight, x, 1.0);
        }
        let mut covariance = DMatrix::zeros(size, size);
        for (x, weight) in &all {
            let off = x - &mean;
            covariance.ger(*weight, &off, &off, 1.0);
        }
        let scales = covariance.diagonal().map(f64::sqrt);
        let inverse = scales.map(|scale| if scale > 0.0 { 1.0 / scale } else { 0.0 });
        let correlations = DMatrix::from_fn(size, size, |i, j| covariance[(i, j)] * inverse[i] * inverse[j]);
        let eigen = correlations.symmetric_eigen();
        let most = eigen.eigenvalues.max();
        let kept: Vec<usize> = (0..size).filter(|k| eigen.eigenvalues[*k] > FLAT * most).collect();
        if most.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        let root = DMatrix::from_fn(size, kept.len(), |i, k| {
            scales[i] * eigen.eigenvectors[(i, kept[k])] * eigen.eigenvalues[kept[k]].sqrt()
        });
        let count = 1.0 / all.iter().map(|(_, weight)| weight * weight).sum::<f64>();
        Some(Self { middle: middle.clone(), mean, root, width: width(kept.len(), count) })
    }

    /// x ← x + (√(1 − b²) − 1)(x − m) + b R ξ.   [FILT-7]
    pub(super) fn moved(
        &self,
        (model, coordinates): (&Model, &[Coordinate]),
        particle: &Particle,
        stream: &mut Stream,
    ) -> Particle {
        let n = model.dof();
        let off = between(model, &self.middle, particle) - &self.mean;
        let random = DVector::from_fn(self.root.ncols(), |_, _| normal(stream));
        let shift = off * ((1.0 - self.width * self.width).sqrt() - 1.0) + &self.root * random * self.width;
        let (places, rest) = shift.as_slice().split_at(n.min(shift.len()));
        let (rates, walked) = rest.split_at(n.min(rest.len()));
        let mut moved = particle.clone();
        let state = &mut moved.start.state;
        model.integrate(&particle.start.state.q, places, 1.0, OrientationUpdate::Exponential, &mut state.q);
        state.v.iter_mut().zip(rates).for_each(|(v, by)| *v += by);
        for ((u, by), coordinate) in moved.coordinates.iter_mut().zip(walked).zip(coordinates) {
            *u = coordinate.moved(*u, *by);
        }
        moved
    }
}

/// b = (4/((d + 2) N))^(1/(d + 4)) in d dimensions, the best for a normal distribution known by N draws of it.   [FILT-7]
fn width(dimensions: usize, count: f64) -> f64 {
    let d = dimensions as f64;
    libm::pow(4.0 / ((d + 2.0) * count), 1.0 / (d + 4.0)).min(1.0)
}

/// Displacement, change of velocity, change of coordinates from one particle to another.
fn between(model: &Model, from: &Particle, to: &Particle) -> DVector<f64> {
    let [a, b] = [&from.start.state, &to.start.state];
    let places = displacement(model, &a.q, &b.q);
    let rates = b.v.iter().zip(&a.v).map(|(to, from)| to - from);
    let walked = to.coordinates.iter().zip(&from.coordinates).map(|(to, from)| to - from);
    DVector::from_vec(places.into_iter().chain(rates).chain(walked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Parameter, Start,
        filter::{Drift, Keep},
    };

    const SCENE: &str = "
        [simulation]
        duration = 1.0
        step = 0.1
        gravity = [0.0, 0.0]
        [[body]]
        name = 'ball'
        mass = 1.0
        inertia = 1.0
        position = [0.0, 0.0]
    ";

    /// Particles whose parameter is correlated with their speed, and whose second velocity is constant.
    fn cloud(model: &Model) -> Vec<Particle> {
        let of = |k: u64| {
            let mut stream = Stream::new(5, k);
            let (a, b) = (normal(&mut stream), normal(&mut stream));
            let mut state = model.initial_state();
            state.q[0] = 3.0 + 0.1 * b;
            (state.v[0], state.v[1]) = (2.0 + a, 7.0);
            let start = Start { state, free: vec![0, 1, 2] };
            Particle { start, coordinates: vec![-0.5 * a + 0.2 * b], loss: 0.0, modes: String::new(), failure: None }
        };
        (0..400).map(of).collect()
    }

    /// Means and covariance.
    fn moments(cloud: &[Particle]) -> (DVector<f64>, DMatrix<f64>) {
        let of = |p: &Particle| DVector::from_vec(vec![p.start.state.q[0], p.start.state.v[0], p.coordinates[0]]);
        let weight = 1.0 / cloud.len() as f64;
        let mean = cloud.iter().map(|p| of(p) * weight).sum::<DVector<f64>>();
        let off = |p: &Particle| of(p) - &mean;
        let covariance = cloud.iter().map(|p| off(p) * off(p).transpose() * weight).sum::<DMatrix<f64>>();
        (mean, covariance)
    }

    #[test]
    fn copies_move_apart_and_mean_and_covariance_stay() {
        let model = stiction::scene::parse(SCENE, "ball.toml").unwrap().model;
        let cloud = cloud(&model);
        let members: Vec<(usize, f64)> = (0..cloud.len()).map(|of| (of, 1.0 / cloud.len() as f64)).collect();
        let kernel = Kernel::new(&model, &cloud, &members).unwrap();
        assert!((kernel.root.ncols(), (kernel.width - 0.35).abs() < 0.1) == (2, true), "{}", kernel.width);
        let parameter = Parameter::new("p", "p", 0.0, [f64::NEG_INFINITY, f64::INFINITY]);
        let coordinate = Coordinate::new(&parameter, Drift { walk: 0.0, spread: None }, Keep::Clamped);
        let mut stream = Stream::new(1, 1);
        let moved: Vec<Particle> = (0..20)
            .flat_map(|_| cloud.iter())
            .map(|particle| kernel.moved((&model, &[coordinate]), particle, &mut stream))
            .collect();
        let ((mean, covariance), (mean_after, after)) = (moments(&cloud), moments(&moved));
        // 8000 draws: a percent of the deviation, and about two of the variances.
        let scales = covariance.diagonal().map(f64::sqrt);
        for i in 0..3 {
            assert!((mean[i] - mean_after[i]).abs() < 0.03 * scales[i], "{mean} {mean_after}");
            for j in 0..3 {
                let off = (covariance[(i, j)] - after[(i, j)]).abs() / (scales[i] * scales[j]);
                assert!(off < 0.06, "{covariance} {after}");
            }
        }
        let apart = moved.iter().zip(&cloud).filter(|(a, b)| a.coordinates != b.coordinates).count();
        assert_eq!(apart, cloud.len());
        assert!(moved.iter().all(|p| p.start.state.v[1] == 7.0), "what does not scatter does not move");
    }

    #[test]
    fn what_does_not_scatter_has_no_kernel() {
        let model = stiction::scene::parse(SCENE, "ball.toml").unwrap().model;
        let alone = [cloud(&model).swap_remove(0)];
        assert!(Kernel::new(&model, &alone, &[(0, 0.3)]).is_none());
    }
}
