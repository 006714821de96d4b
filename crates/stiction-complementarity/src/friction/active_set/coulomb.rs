//! Contacts with Coulomb friction in space or in the plane, as triples of components, in the search over active sets.   [SET-6]

use super::contacts::{Contacts, SavedImpulses};
use super::embedding::Embedding;
use super::equalities::Equalities;
use super::modes::ActiveSetCode;
use super::search::ContactSet;
use super::system::System;

impl ContactSet for Contacts {
    type System = System;
    type Saved = SavedImpulses;
    type Code = ActiveSetCode;

    fn load_matrix(&mut self, from: (&Embedding, &Equalities), w: (&[f64], usize), symmetric: bool) {
        self.load_matrix(from, w, symmetric);
    }

    fn load(&mut self, from: (&Embedding, &Equalities), velocities: (&[f64], f64), guess: &[f64]) {
        self.load(from, velocities, guess);
    }

    fn scale(&self) -> f64 {
        self.scale()
    }

    fn residual(&self) -> f64 {
        self.residual()
    }

    fn save(&self, saved: &mut SavedImpulses) {
        self.save(saved);
    }

    fn restore(&mut self, saved: &SavedImpulses) {
        self.restore(saved);
    }

    fn write(&self, embedding: &Embedding, r: &mut [f64]) {
        embedding.write(self.impulses(), r);
    }

    fn active_set(&self) -> ActiveSetCode {
        self.active_set()
    }

    fn slips(&self) -> bool {
        self.slips()
    }

    fn update_modes(&mut self) -> bool {
        self.update_modes()
    }

    fn update_bound_modes(&mut self) -> bool {
        self.update_bound_modes()
    }

    fn has_violated_bounds(&self) -> bool {
        self.has_violated_bounds()
    }

    fn set_modes_from_impulses(&mut self) {
        self.set_modes_from_impulses();
    }

    fn set_compliance(&mut self, relative: f64) {
        self.set_compliance(relative);
    }

    fn iterate_gauss_seidel(&mut self) {
        self.iterate_gauss_seidel();
    }

    fn set_velocities(&mut self, embedding: &Embedding, problem: (&[f64], &[f64]), r: &[f64]) {
        self.set_velocities(embedding, problem, r);
    }

    fn step(&mut self, system: &mut System) -> bool {
        system.step(self)
    }

    fn refine(&mut self, system: &mut System) -> bool {
        system.refine(self)
    }

    fn clear_factors(system: &mut System) {
        system.clear_factors();
    }
}
