//! Checks of the sizes that a table declares.
//!
//! A Parquet file declares its number of rows, the decompressed size of its pages and the size of dictionaries. A decoder that trusts them
//! allocates as much memory. Here the declared sizes are compared with the length of the file:
//!
//! - Snappy makes at most 64 bytes out of 3, so a page grows at most [`GROWTH`] times.
//! - Most columns of a recording are real numbers, stored in full before compression. All its cells of 8 bytes are therefore at most
//!   [`CELLS`] times its length.
//! - Encodings that recordings do not use are rejected.
//!
//! Reading a table thus needs memory in proportion to the size of its file. This holds for recordings and for measurements of other programs.

use std::io::{Read, Seek, SeekFrom};

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

/// Largest ratio of the decompressed to the compressed size of a page.
const GROWTH: u64 = 24;

/// Largest ratio of the size of all cells, at 8 bytes each, to the length of the file.
const CELLS: u64 = 64;

/// Additional allowance for small files, bytes.
const SLACK: u64 = 1 << 20;

/// Longest header of a page, bytes; recordings have about thirty.
const LONGEST_HEADER: u64 = 4096;

/// Accepted encodings of pages: plain, dictionary (old and new), run lengths, differences, byte stream split.
const ENCODINGS: [i64; 6] = [0, 2, 3, 5, 8, 9];

/// Page types, and the header field with the details of each; other programs write data pages of version 2.
const DATA_PAGE: (i64, i64) = (0, 5);
const DICTIONARY_PAGE: (i64, i64) = (2, 7);
const DATA_PAGE_V2: (i64, i64) = (3, 8);

/// Compares the number of cells of a Parquet file with its length in bytes.
pub fn check_size(metadata: &ParquetMetaData, length: u64) -> Result<(), String> {
    let cells = metadata.row_groups().iter().try_fold(0_u64, |sum, group| {
        let rows = u64::try_from(group.num_rows()).ok()?;
        sum.checked_add(rows.checked_mul(group.num_columns() as u64)?)
    });
    let most = length.saturating_mul(CELLS).saturating_add(SLACK);
    match cells.and_then(|cells| cells.checked_mul(8)) {
        Some(bytes) if bytes <= most => Ok(()),
        _ => Err(format!("it declares more values than a file of {length} bytes can hold")),
    }
}

/// Checks the page headers of a column against the number of bytes. `rows` is the number of rows; each has at most one value of the
/// column.
pub fn check_pages(
    file: &mut (impl Read + Seek),
    chunk: &ColumnChunkMetaData,
    rows: i64,
    length: u64,
) -> Result<(), String> {
    let damaged = |what: &str| format!("a page {what}");
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let start = u64::try_from(start.min(chunk.data_page_offset())).map_err(|_| damaged("begins before the file"))?;
    let size = u64::try_from(chunk.compressed_size()).map_err(|_| damaged("has a negative size"))?;
    let end = start.checked_add(size).filter(|end| *end <= length).ok_or_else(|| damaged("reaches beyond the file"))?;
    let mut at = start;
    while at < end {
        let mut bytes = Vec::new();
        let readable = file
            .seek(SeekFrom::Start(at))
            .and_then(|_| file.by_ref().take(LONGEST_HEADER.min(end - at)).read_to_end(&mut bytes));
        readable.map_err(|error| error.to_string())?;
        let header = Header::read(&bytes).ok_or_else(|| damaged("has a damaged header"))?;
        header.check(rows)?;
        let next = at.checked_add(header.length).and_then(|at| at.checked_add(header.compressed));
        at = next.filter(|next| *next <= end).ok_or_else(|| damaged("reaches beyond its column"))?;
    }
    Ok(())
}

/// Fields of a page header that are checked.
#[derive(Default)]
struct Header {
    kind: i64,
    /// Field number of the details.
    details: i64,
    uncompressed: u64,
    compressed: u64,
    values: i64,
    encoding: i64,
    /// Length of the header, bytes.
    length: u64,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut input = Compact { bytes };
        let mut header = Self { kind: -1, ..Self::default() };
        let mut field = 0;
        while let Some(kind) = input.field(&mut field)? {
            match (field, kind) {
                (1, Compact::I32) => header.kind = input.integer()?,
                (2, Compact::I32) => header.uncompressed = u64::try_from(input.integer()?).ok()?,
                (3, Compact::I32) => header.compressed = u64::try_from(input.integer()?).ok()?,
                (5 | 7 | 8, Compact::STRUCT) => {
                    header.details = field;
                    header.read_inner(&mut input)?;
                }
                _ => input.skip(kind, 0)?,
            }
        }
        header.length = (bytes.len() - input.bytes.len()) as u64;
        Some(header)
    }

    /// Reads the details of a data or dictionary page. All begin with the number of values; the encoding is next, or after two other counts.
    fn read_inner(&mut self, input: &mut Compact<'_>) -> Option<()> {
        let of_encoding = if self.details == DATA_PAGE_V2.1 { 4 } else { 2 };
        let mut field = 0;
        while let Some(kind) = input.field(&mut field)? {
            match (field, kind) {
                (1, Compact::I32) => self.values = input.integer()?,
                (place, Compact::I32) if place == of_encoding => self.encoding = input.integer()?,
                _ => input.skip(kind, 0)?,
            }
        }
        Some(())
    }

    fn check(&self, rows: i64) -> Result<(), String> {
        let most_values = match (self.kind, self.details) {
            DATA_PAGE | DATA_PAGE_V2 => rows,
            // A text in a dictionary takes at least four bytes.
            DICTIONARY_PAGE => i64::try_from(self.uncompressed / 4).unwrap_or(i64::MAX),
            _ => return Err("it has a page type that recordings do not use".to_owned()),
        };
        if !ENCODINGS.contains(&self.encoding) {
            return Err("it has an encoding that recordings do not use".to_owned());
        }
        let small = self.uncompressed <= self.compressed.saturating_mul(GROWTH).saturating_add(64);
        if small && (0..=most_values).contains(&self.values) {
            Ok(())
        } else {
            Err("a page declares more values than its bytes can hold".to_owned())
        }
    }
}

/// Parser of Thrift's compact protocol, as far as needed to skip over a structure.
struct Compact<'b> {
    bytes: &'b [u8],
}

impl Compact<'_> {
    const I32: u8 = 5;
    const BINARY: u8 = 8;
    const LIST: u8 = 9;
    const SET: u8 = 10;
    const STRUCT: u8 = 12;

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a signed number in zigzag order: 0, -1, 1, -2, …
    fn integer(&mut self) -> Option<i64> {
        let n = self.unsigned()?;
        Some((n >> 1).cast_signed() ^ -(n & 1).cast_signed())
    }

    /// Type of the next field, whose number is stored in `number`; `Some(None)` at the end of the structure.
    #[allow(clippy::option_option, reason = "broken off, ended, another field")]
    fn field(&mut self, number: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *number = match byte >> 4 {
            0 => self.integer()?,
            step => number.checked_add(i64::from(step))?,
        };
        Some(Some(byte & 0x0f))
    }

    fn drop_bytes(&mut self, count: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn skip(&mut self, kind: u8, depth: u8) -> Option<()> {
        if depth > 16 {
            return None;
        }
        match kind {
            1 | 2 => Some(()),
            3 => self.drop_bytes(1),
            4..=6 => self.unsigned().map(drop),
            7 => self.drop_bytes(8),
            Self::BINARY => {
                let length = self.unsigned()?;
                self.drop_bytes(length)
            }
            Self::LIST | Self::SET => {
                let head = self.byte()?;
                let size = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
                // Boolean elements take a byte in a list, unlike in a field.
                let element = head & 0x0f;
                // Every element takes at least a byte, so a wrong size ends with the bytes.
                (0..size)
                    .try_for_each(|_| if element <= 2 { self.drop_bytes(1) } else { self.skip(element, depth + 1) })
            }
            Self::STRUCT => {
                let mut number = 0;
                while let Some(kind) = self.field(&mut number)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Header;

    /// Encodes a zigzag number in the compact protocol.
    fn number(n: i64) -> Vec<u8> {
        let mut rest = ((n << 1) ^ (n >> 63)).cast_unsigned();
        let mut bytes = Vec::new();
        while rest >= 0x80 {
            bytes.push((rest as u8 & 0x7f) | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        bytes
    }

    /// Encodes the header of a page; `inner` is the field number of its details.
    fn header(kind: i64, sizes: [i64; 2], inner: u8, values: i64, encoding: i64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for n in [kind, sizes[0], sizes[1]] {
            bytes.push(0x15);
            bytes.extend(number(n));
        }
        bytes.push(((inner - 3) << 4) | 0x0c);
        for n in [values, encoding] {
            bytes.push(0x15);
            bytes.extend(number(n));
        }
        bytes.extend([0, 0]);
        bytes
    }

    #[test]
    fn pages_that_would_burst_are_refused() {
        let check = |bytes: &[u8]| Header::read(bytes).expect("a header").check(100);
        let data = |sizes, values, encoding| check(&header(0, sizes, 5, values, encoding));
        assert_eq!(data([800, 400], 100, 9), Ok(()));
        assert!(data([i64::from(i32::MAX), 400], 100, 9).is_err(), "decompressed to two gigabytes");
        assert!(data([800, 400], 101, 9).is_err(), "more values than rows");
        assert!(data([800, 400], 100, 7).is_err(), "an encoding that recordings do not use");
        assert_eq!(check(&header(2, [400, 400], 7, 100, 0)), Ok(()));
        assert!(
            check(&header(2, [400, 400], 7, i64::from(i32::MAX), 0)).is_err(),
            "a dictionary of two thousand million"
        );
        assert!(check(&header(3, [400, 400], 5, 1, 0)).is_err(), "the details of a page of another kind");
        assert!(check(&header(1, [400, 400], 5, 1, 0)).is_err(), "a page of another kind");
        // Data page of version 2: values, nulls and rows precede the encoding.
        let v2 = |counts: [i64; 4]| {
            let mut bytes = header(3, [800, 400], 8, counts[0], counts[1]);
            bytes.truncate(bytes.len() - 2);
            for n in [counts[2], counts[3]] {
                bytes.push(0x15);
                bytes.extend(number(n));
            }
            bytes.extend([0, 0]);
            check(&bytes)
        };
        assert_eq!(v2([100, 0, 100, 8]), Ok(()));
        assert!(v2([101, 0, 100, 8]).is_err() && v2([100, 0, 100, 7]).is_err());
    }

    #[test]
    fn headers_know_their_length_and_broken_ones_are_none() {
        let mut bytes = header(0, [800, 400], 5, 100, 9);
        let length = bytes.len() as u64;
        bytes.extend([1, 2, 3]);
        assert_eq!(Header::read(&bytes).map(|header| header.length), Some(length));
        for end in 0..length as usize {
            assert!(Header::read(&bytes[..end]).is_none());
        }
        // A text that is declared longer than the header.
        assert!(Header::read(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0]).is_none());
    }
}
