//! Direct transcription of recorded motions.

mod derivatives;
mod particle;
mod sliding_block;
mod thrown;
mod windows;
