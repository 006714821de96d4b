//! Sizes of the active-set method, and the arrays that have them.

/// Largest number of contacts and bounded rows together: enough for a humanoid that lies on the ground with joints at their limits.
pub const MAX_CONTACTS: usize = 32;

/// Largest number of contacts if all have friction in space and nothing else is present: enough for a stack of four boxes. For higher stacks the
/// interior point is faster.
pub const MAX_SPATIAL_CONTACTS: usize = 16;

/// Largest number of rows of contacts and bounded rows together, without those of equalities: larger dense systems take longer than other methods.
pub(super) const MAX_ROWS: usize = 72;

/// Largest number of equality rows: two hinges in space have 10 rows, six hinges in the plane 12.
pub(super) const MAX_EQUALITY_ROWS: usize = 12;

/// Rows per SIMD chunk: few, because most systems are small.
pub(super) const LANES: usize = 4;

/// Column of W with one entry for each row of the contacts. Entries beyond them are unspecified.
pub(super) type Column = [f64; MAX_ROWS];

/// Vector of a contact: normal component, then two tangential ones.
pub(super) type Triple = [f64; 3];
