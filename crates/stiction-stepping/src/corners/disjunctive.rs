//! Choice between the faces of a corner as part of the problem, by further complementary variables and a big-M constant.
//!
//! For a chain of faces with gaps ψ_i at the end of the step, in a unit of length that makes them small, and γ = 4,
//!
//! ```text
//! 0 ≤ c_i ⊥ c_i + ψ_i − 1 ≥ 0          c_i = max(0, 1 − ψ_i)
//! 0 ≤ d   ⊥ Σ g_i − 1 ≥ 0,    0 ≤ g_i ⊥ c_i + d − γ ≥ 0          d − γ + 1 = min(1, max ψ_i)
//! 0 ≤ h_i ⊥ h_i + ψ_i ≥ 0              h_i = max(0, −ψ_i)
//! 0 ≤ p   ⊥ d − γ + 1 ≥ 0              one of the faces separates
//! 0 ≤ p_in ⊥ h_i + d − γ + 1 ≥ 0       a face pushes only where it touches and none separates              [CORNER-4]
//! ```
//!
//! and the usual friction rows of every face, with p_in. Lemke's method ends on rays here. The problem is solved by branching: with one
//! face chosen for every chain it is an ordinary one. Its solution, completed by the identities on the right, is checked in the whole
//! problem.

use stiction_complementarity::{MixedLcpSolution, Problem, Residual};

use super::{choose, rebuild};
use crate::alternatives::Disjunction;
use crate::{Dynamics, Start, StepCause, Workspace, formulation, rows};

/// Big-M constant γ of [CORNER-4]: more than 1 + max |ψ|, as gaps are at most 1/2.
const BIG_M: f64 = 4.0;

/// Bound on the combinations of faces tried.
const MAX_BRANCHES: usize = 256;

/// Replaces the problem by the disjunctive one over all candidates, and completes the solution; returns its residual.
pub(crate) fn complete(start: &Start, ws: &mut Workspace) -> Result<Residual, StepCause> {
    let chosen = std::mem::take(&mut ws.constraints.contacts);
    ws.constraints.contacts.clone_from(&ws.alternatives.candidates);
    rows::write(start, ws);
    let impulses = ws.mixed.solution.clone();
    let (layout, balanced) = (ws.mixed.layout, ws.solution.balanced_step_size);
    ws.proximal_mass_fraction = (start.scheme.dynamics == Dynamics::Quasistatic).then_some(0.0);
    let assembled = formulation::assemble_rows(start, ws);
    ws.proximal_mass_fraction = None;
    assembled?;
    let mut made = std::mem::take(&mut ws.alternatives.disjunction);
    made.solution.free.clone_from(&impulses.free);
    made.solution.complementary.clear();
    made.solution.complementary.resize(ws.mixed.layout.complementary(), 0.0);
    copy_chosen(&chosen, layout, &impulses, ws, &mut made.solution);
    made.write(start, ws);
    std::mem::swap(&mut ws.mixed.problem, &mut made.problem);
    std::mem::swap(&mut ws.mixed.solution, &mut made.solution);
    ws.alternatives.disjunction = made;
    formulation::extract(start, ws);
    ws.solution.balanced_step_size = balanced;
    Ok(ws.mixed.problem.residual(&ws.mixed.solution))
}

/// Copies the impulses and slip speeds of the chosen contacts to their indices among all candidates; other impulses are zero.
fn copy_chosen(
    chosen: &[crate::Contact],
    layout: crate::Layout,
    from: &MixedLcpSolution,
    ws: &Workspace,
    to: &mut MixedLcpSolution,
) {
    let mut copy = |there: usize, here: usize| {
        debug_assert!(there < to.complementary.len() && here < from.complementary.len(), "unknowns of both problems");
        if let (Some(place), Some(value)) = (to.complementary.get_mut(there), from.complementary.get(here)) {
            *place = *value;
        }
    };
    for (index, contact) in ws.constraints.contacts.iter().enumerate() {
        let Ok(place) = chosen.binary_search_by_key(&contact.id, |contact| contact.id) else { continue };
        let Some(old) = chosen.get(place) else { continue };
        debug_assert_eq!(contact.directions.len(), old.directions.len(), "a contact has the same directions in both");
        debug_assert_eq!(
            contact.friction_bounds.len(),
            old.friction_bounds.len(),
            "a contact has the same friction bounds in both"
        );
        copy(index, place);
        contact.directions.clone().zip(old.directions.clone()).for_each(|(new, old)| {
            copy(ws.mixed.layout.friction_at(new), layout.friction_at(old));
        });
        contact.friction_bounds.clone().zip(old.friction_bounds.clone()).for_each(|(new, old)| {
            copy(ws.mixed.layout.sigma_at(new), layout.sigma_at(old));
        });
    }
    // Support points follow the contacts in both problems.
    let tail = |layout: &crate::Layout, contacts: &[crate::Contact]| {
        (
            contacts.last().map_or(0, |c| c.directions.end),
            contacts.last().map_or(0, |c| c.friction_bounds.end),
            layout.friction,
            layout.friction_bounds,
        )
    };
    let (new, old) = (tail(&ws.mixed.layout, &ws.constraints.contacts), tail(&layout, chosen));
    debug_assert_eq!(new.2 - new.0, old.2 - old.0, "support points have the same directions in both problems");
    debug_assert_eq!(new.3 - new.1, old.3 - old.1, "support points have the same friction bounds in both problems");
    for (new, old) in (new.0..new.2).zip(old.0..old.2) {
        copy(ws.mixed.layout.friction_at(new), layout.friction_at(old));
    }
    for (new, old) in (new.1..new.3).zip(old.1..old.3) {
        copy(ws.mixed.layout.sigma_at(new), layout.sigma_at(old));
    }
}

impl Disjunction {
    /// Writes the problem of [CORNER-4] from that of all candidates in `ws.mixed.problem`, and its solution from the impulses in `self.solution`.
    fn write(&mut self, start: &Start, ws: &Workspace) {
        let first = ws.mixed.layout.complementary();
        self.chains.clear();
        let mut next = first;
        for chain in &ws.alternatives.chains {
            self.chains.push((next, unit(start, ws, chain)));
            next += 3 * (chain.end - chain.first) + 2;
        }
        self.complete_slip_speeds(ws);
        self.gaps(start, ws);
        self.equalities(ws, next);
        self.pairs(start, ws, next);
        self.complete_solution(ws);
        debug_assert_eq!(self.problem.complementarity.constant.len(), next, "every complementary row has a constant");
        debug_assert_eq!(self.solution.complementary.len(), next, "the solution has all complementary unknowns");
    }

    /// Value of a row at the solution without slip speeds: from velocities, or from impulses if there are no velocities.
    fn rate(&self, ws: &Workspace, row: usize) -> f64 {
        let (rows, layout) = (&ws.mixed.problem.complementarity, &ws.mixed.layout);
        let speeds = layout.sigma_at(0)..layout.sigma_at(layout.friction_bounds);
        let at = |values: &[f64], k: usize| values.get(k).copied().unwrap_or(0.0);
        let by_free: f64 = rows.on_free.row(row).map(|(k, w)| w * at(&self.solution.free, k)).sum();
        let others = rows.on_complementary.row(row).filter(|(k, _)| !speeds.contains(k));
        let by_others: f64 = others.map(|(k, w)| w * at(&self.solution.complementary, k)).sum();
        by_free + by_others + at(&rows.constant, row)
    }

    /// Sets σ of the contacts without impulse to their slip speed.
    fn complete_slip_speeds(&mut self, ws: &Workspace) {
        for contact in &ws.constraints.contacts {
            for bound in contact.friction_bounds.clone() {
                let slips =
                    contact.directions_of(bound).map(|direction| self.rate(ws, ws.mixed.layout.friction_at(direction)));
                let least = slips.fold(0.0, f64::min);
                if let Some(sigma) = self.solution.complementary.get_mut(ws.mixed.layout.sigma_at(bound))
                    && *sigma < -least
                {
                    *sigma = -least;
                }
            }
        }
    }

    /// Computes the gaps ψ_i of all members of all chains, in the unit of their chain.
    fn gaps(&mut self, start: &Start, ws: &Workspace) {
        self.gaps.clear();
        for (chain, &(_, unit)) in ws.alternatives.chains.iter().zip(&self.chains) {
            for &member in ws.alternatives.members.get(chain.first..chain.end).unwrap_or_default() {
                self.gaps.push(start.h * self.rate(ws, member) / unit);
            }
        }
    }

    /// Copies the equations: momentum balance and joints are unchanged.
    fn equalities(&mut self, ws: &Workspace, size: usize) {
        let (from, to) = (&ws.mixed.problem.equality, &mut self.problem.equality);
        to.on_free.clone_from(&from.on_free);
        to.constant.clone_from(&from.constant);
        let rows = from.on_complementary.rows();
        to.on_complementary.clear(rows, size);
        for row in 0..rows {
            from.on_complementary.row(row).for_each(|(column, value)| to.on_complementary.push(column, value));
            to.on_complementary.finish_row();
        }
    }

    fn pairs(&mut self, start: &Start, ws: &Workspace, size: usize) {
        let (from, to) = (&ws.mixed.problem.complementarity, &mut self.problem.complementarity);
        to.on_free.clear(size, from.on_free.cols());
        to.on_complementary.clear(size, size);
        to.constant.clear();
        let place_of = |contact: usize| {
            ws.alternatives.chains.iter().zip(&self.chains).find_map(|(chain, &(first, _))| {
                let members = ws.alternatives.members.get(chain.first..chain.end)?;
                let place = members.iter().position(|&member| member == contact)?;
                Some(Variables { first, faces: members.len(), place })
            })
        };
        for row in 0..ws.mixed.layout.complementary() {
            if let Some(variables) = place_of(row).filter(|_| row < ws.mixed.layout.contacts) {
                // 0 ≤ p_in ⊥ h_i + d − γ + 1.
                to.on_complementary.push(variables.d(), 1.0);
                to.on_complementary.push(variables.h(), 1.0);
                to.constant.push(1.0 - BIG_M);
            } else {
                from.on_free.row(row).for_each(|(column, value)| to.on_free.push(column, value));
                from.on_complementary.row(row).for_each(|(column, value)| to.on_complementary.push(column, value));
                to.constant.push(from.constant.get(row).copied().unwrap_or(0.0));
            }
            to.on_free.finish_row();
            to.on_complementary.finish_row();
        }
        for (chain, &(first, unit)) in ws.alternatives.chains.iter().zip(&self.chains) {
            let members = ws.alternatives.members.get(chain.first..chain.end).unwrap_or_default();
            let scale = start.h / unit;
            chain_rows(first, members, (from, scale), to);
        }
    }

    /// Completes the solution by the identities of [CORNER-4].
    fn complete_solution(&mut self, ws: &Workspace) {
        let z = &mut self.solution.complementary;
        let mut gaps = self.gaps.iter().copied();
        for chain in &ws.alternatives.chains {
            let faces = chain.end - chain.first;
            let psi: Vec<f64> = gaps.by_ref().take(faces).collect();
            let highest = psi.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let best = psi.iter().position(|gap| *gap == highest).unwrap_or(0);
            z.extend(psi.iter().map(|gap| (1.0 - gap).max(0.0)));
            z.push(BIG_M - 1.0 + highest.min(1.0));
            z.extend((0..faces).map(|face| if face == best { 1.0 } else { 0.0 }));
            z.extend(psi.iter().map(|gap| (-gap).max(0.0)));
            z.push(0.0);
        }
    }
}

/// Indices of the variables of a chain: c_1 … c_m, d, g_1 … g_m, h_1 … h_m, p.
struct Variables {
    first: usize,
    faces: usize,
    place: usize,
}

impl Variables {
    fn c(&self) -> usize {
        self.first + self.place
    }

    fn d(&self) -> usize {
        self.first + self.faces
    }

    fn g(&self) -> usize {
        self.first + self.faces + 1 + self.place
    }

    fn h(&self) -> usize {
        self.first + 2 * self.faces + 1 + self.place
    }
}

/// Appends the rows of c, d, g, h and p of a chain; gaps are the normal rows `from` times `scale`.
fn chain_rows(
    first: usize,
    members: &[usize],
    (from, scale): (&stiction_complementarity::RowBlock, f64),
    to: &mut stiction_complementarity::RowBlock,
) {
    let faces = members.len();
    let variables = |place: usize| Variables { first, faces, place };
    let finish = |to: &mut stiction_complementarity::RowBlock, constant: f64| {
        to.on_free.finish_row();
        to.on_complementary.finish_row();
        to.constant.push(constant);
    };
    let gap = |to: &mut stiction_complementarity::RowBlock, member: usize| {
        from.on_free.row(member).for_each(|(column, value)| to.on_free.push(column, scale * value));
        from.on_complementary.row(member).for_each(|(column, value)| to.on_complementary.push(column, scale * value));
        scale * from.constant.get(member).copied().unwrap_or(0.0)
    };
    for (place, &member) in members.iter().enumerate() {
        let constant = gap(to, member);
        to.on_complementary.push(variables(place).c(), 1.0);
        finish(to, constant - 1.0);
    }
    (0..faces).for_each(|place| to.on_complementary.push(variables(place).g(), 1.0));
    finish(to, -1.0);
    for place in 0..faces {
        to.on_complementary.push(variables(place).c(), 1.0);
        to.on_complementary.push(variables(place).d(), 1.0);
        finish(to, -BIG_M);
    }
    for (place, &member) in members.iter().enumerate() {
        let constant = gap(to, member);
        to.on_complementary.push(variables(place).h(), 1.0);
        finish(to, constant);
    }
    to.on_complementary.push(variables(0).d(), 1.0);
    finish(to, 1.0 - BIG_M);
}

/// Unit of length of a chain: twice the largest gap that it can have at the end of the step, m.
fn unit(start: &Start, ws: &Workspace, chain: &super::Chain) -> f64 {
    let members = ws.alternatives.members.get(chain.first..chain.end).unwrap_or_default();
    let reach = |id: stiction_multibody::BodyId| ws.detection.reach.get(id.index()).copied().unwrap_or(0.0);
    let most = members.iter().filter_map(|&member| ws.alternatives.candidates.get(member)).map(|contact| {
        let moved = (contact.gap_end - contact.gap_start).abs();
        contact.gap_start.abs() + moved + reach(contact.a) + reach(contact.b)
    });
    2.0 * most.fold(start.scheme.touch_threshold.max(f64::MIN_POSITIVE), f64::max)
}

/// Chooses the next combination of faces, in counting order; false if all were tried.
pub(crate) fn next_branch(ws: &mut Workspace, branch: &mut usize) -> bool {
    *branch += 1;
    let mut rest = *branch - 1;
    for index in 0..ws.alternatives.chains.len() {
        let faces = ws.alternatives.chains.get(index).map_or(1, |chain| chain.end - chain.first);
        choose(ws, index, rest % faces);
        rest /= faces;
    }
    let more = rest == 0 && *branch <= MAX_BRANCHES;
    if more {
        rebuild(ws);
    }
    more
}
