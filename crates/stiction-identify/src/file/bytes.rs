//! The bytes of a recording.

use std::path::Path;

use stiction::scene::read_regular;

/// Size of the largest recording that is read, bytes.
const LARGEST: u64 = 256 << 20;

/// Bytes of a file, or the reason why it cannot be read: the reader of [`crate::load`] for recordings in files.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = read_regular(path, LARGEST).map_err(|error| format!("cannot be read: {error}"))?;
    bytes.ok_or_else(|| format!("is larger than {LARGEST} bytes, the limit for recordings"))
}
