//! All steps of recorded motions as one program.

mod derivatives;
mod particle;
mod sliding_block;
mod thrown;
mod windows;
