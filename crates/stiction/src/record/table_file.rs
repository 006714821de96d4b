//! Complete part of a table file.
//!
//! Tables grow by whole row groups, each followed by a footer over all groups so far. A file that ends with a footer is
//! read as it is. A truncated file ends in the middle of a group; then the last complete footer is located,
//! and the bytes after it are ignored.

use std::{
    fs::{self, File},
    io::{BufReader, Read, Seek, SeekFrom, Take},
    path::Path,
};

use parquet::{
    errors::{ParquetError, Result as ParquetResult},
    file::{
        metadata::ParquetMetaDataReader,
        reader::{ChunkReader, Length},
    },
};

use super::RecordingError;

/// Bytes at the start and the end of a Parquet file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Bytes after the footer: its length and [`MAGIC`].
const TAIL: u64 = 8;

/// Longest footer that is read, bytes: some hundred thousand columns.
const LONGEST_FOOTER: u64 = 128 << 20;

/// Largest number of candidates for the end of a footer that are tried.
const MOST_TRIES: usize = 64;

/// A file up to the end of a footer.
pub(super) struct TableFile {
    file: File,
    length: u64,
    /// True if bytes after the footer are ignored.
    is_cut: bool,
}

impl TableFile {
    /// Opens a file and finds its last footer.
    pub(super) fn open(path: &Path) -> Result<Self, RecordingError> {
        let unreadable = |source| RecordingError::Read { path: path.into(), source };
        let broken = |reason: &str| RecordingError::NotATable { path: path.into(), reason: reason.to_owned() };
        // Reading a pipe may block, and a device has no end.
        if !fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(broken("it is not a regular file"));
        }
        let mut file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        if ends_with_footer(&mut file, length).map_err(unreadable)? {
            return Ok(Self { file, length, is_cut: false });
        }
        match last_footer(&mut file, length).map_err(unreadable)? {
            Some(length) => Ok(Self { file, length, is_cut: true }),
            None => Err(broken("it has no complete footer")),
        }
    }

    /// True if the file was truncated.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Another handle to the same file; they share their position.
    pub(super) fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, ..*self })
    }
}

/// True if the bytes before `end` are a footer of plausible length.
fn ends_with_footer(file: &mut File, end: u64) -> std::io::Result<bool> {
    if end < TAIL + MAGIC.len() as u64 {
        return Ok(false);
    }
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(end - TAIL))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, magic @ ..] = tail;
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    Ok(&magic == MAGIC && footer <= LONGEST_FOOTER && footer + TAIL + MAGIC.len() as u64 <= end)
}

/// End of the last readable footer.
fn last_footer(file: &mut File, length: u64) -> std::io::Result<Option<u64>> {
    const WINDOW: u64 = 1 << 16;
    let mut tries = 0;
    let mut end = length;
    while end > 0 {
        // Windows overlap, so that no magic is split.
        let start = end.saturating_sub(WINDOW);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(end - start).read_to_end(&mut bytes)?;
        for (at, _) in bytes.windows(MAGIC.len()).enumerate().rev().filter(|(_, four)| four == MAGIC) {
            let candidate = start + (at + MAGIC.len()) as u64;
            if tries < MOST_TRIES && ends_with_footer(file, candidate)? {
                tries += 1;
                if footer_parses(file, candidate)? {
                    return Ok(Some(candidate));
                }
            }
        }
        end = if start == 0 { 0 } else { start + MAGIC.len() as u64 - 1 };
    }
    Ok(None)
}

fn footer_parses(file: &mut File, end: u64) -> std::io::Result<bool> {
    file.seek(SeekFrom::Start(end - TAIL))?;
    let mut size = [0; 4];
    file.read_exact(&mut size)?;
    let size = u64::from(u32::from_le_bytes(size));
    file.seek(SeekFrom::Start(end - TAIL - size))?;
    let mut footer = Vec::new();
    file.by_ref().take(size).read_to_end(&mut footer)?;
    let parsed = std::panic::catch_unwind(|| ParquetMetaDataReader::decode_metadata(&footer).is_ok());
    Ok(parsed.unwrap_or(false))
}

impl Read for TableFile {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for TableFile {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

impl Length for TableFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for TableFile {
    type T = BufReader<Take<File>>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file.take(self.length.saturating_sub(start))))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<bytes::Bytes> {
        let beyond = || ParquetError::EOF(format!("{length} bytes from {start} on reach beyond the table"));
        let end = start.checked_add(length as u64).filter(|end| *end <= self.length).ok_or_else(beyond)?;
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(end - start).read_to_end(&mut bytes)?;
        if bytes.len() == length { Ok(bytes.into()) } else { Err(beyond()) }
    }
}
