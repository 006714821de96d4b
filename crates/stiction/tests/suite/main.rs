//! Whole simulations against published and independently derived numbers.

#![allow(missing_docs, unreachable_pub, reason = "a test binary has no users")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test speaks by panicking")]
#![allow(clippy::disallowed_methods, reason = "closed forms may use the standard library")]
#![allow(clippy::cast_sign_loss, reason = "counts computed from times are positive")]

mod analytic;
mod combinations;
mod compare;
mod coordinates;
mod corners;
mod directions;
mod drives;
mod drives_in_space;
mod ellipse;
mod energy;
mod energy_account;
mod existence;
mod family;
mod fast_bodies;
mod fence;
mod fixed_point;
mod gradients;
mod grasp;
mod hand;
mod hardship;
mod impacts;
mod implicit;
mod inputs;
mod interrupts;
mod jams;
mod joint_dynamics;
mod layer_laws;
mod layer_steps;
mod layers;
mod loops;
mod meshes;
mod needle;
mod one_liners;
mod orders;
mod overlaps;
mod pendulum;
mod piles;
mod plate;
mod plugins;
mod projected_contacts;
mod promises;
mod published;
mod quartet;
mod reduced_steps;
mod reference_stepper;
mod refusals;
mod robots;
mod rolling;
mod rolling_friction;
mod rotors;
mod seams;
mod siconos;
mod smooth_shapes;
mod stabilisation;
mod stabilised_reference;
mod starts;
mod step_lengths;
mod support;
mod support_friction;
mod support_schemes;
mod teeth;
mod theta;
mod two_spheres;
mod uniqueness;
mod velocity_terms;

#[global_allocator]
static ALLOCATOR: stiction_testkit::CountingAllocator = stiction_testkit::CountingAllocator;
