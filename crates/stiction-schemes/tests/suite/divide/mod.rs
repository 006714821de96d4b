//! Steps of trees by divide and conquer.

mod absolute;
mod chains;
mod forms;
mod pendulum;
mod published;
mod refusals;
mod speed;
