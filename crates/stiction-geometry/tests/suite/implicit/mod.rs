//! Smooth convex shapes by functions: derivatives, closest points, their certificate and their sensitivity.

mod closest_points;
mod derivatives;
mod detector;
mod mass;
mod random_pairs;
mod sensitivity;
mod solids;
mod support;
