//! Comma-separated values with a heading.

/// Cells that stand for a missing measurement.
const MISSING: [&str; 7] = ["", "nan", "na", "n/a", "null", "none", "-"];

/// Separators of cells; the one that occurs most often in the heading is used.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// Table as text: cells are converted to numbers on demand.
#[derive(Debug)]
pub(super) struct CsvTable {
    pub(super) names: Vec<String>,
    /// Line of the file and cells of each row.
    rows: Vec<(usize, Vec<String>)>,
}

impl CsvTable {
    /// Reads a text. Empty lines and those that begin with # are skipped.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = (1..).zip(text.lines().map(str::trim_end));
        let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let (_, heading) = lines.next().ok_or("it is empty: the first line must name the columns")?;
        let count = |separator: &char| heading.matches(*separator).count();
        let separator = SEPARATORS.into_iter().rev().max_by_key(count).unwrap_or(',');
        let names: Vec<String> = cells(heading, separator);
        let mut rows = Vec::new();
        for (number, line) in lines {
            let cells = cells(line, separator);
            if cells.len() != names.len() {
                let (found, wanted) = (cells.len(), names.len());
                return Err(format!("line {number} has {found} cells, but the heading names {wanted} columns"));
            }
            rows.push((number, cells));
        }
        Ok(Self { names, rows })
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Place of a row, for messages.
    pub(super) fn place(&self, row: usize) -> String {
        self.rows.get(row).map_or_else(|| format!("row {}", row + 1), |(line, _)| format!("line {line}"))
    }

    /// Column as numbers; a missing measurement is NaN.
    pub(super) fn numbers(&self, column: usize) -> Result<Vec<f64>, String> {
        let number = |(line, cells): &(usize, Vec<String>)| {
            let cell = cells.get(column).map_or("", String::as_str);
            if MISSING.iter().any(|missing| cell.eq_ignore_ascii_case(missing)) {
                return Ok(f64::NAN);
            }
            match cell.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number),
                Ok(_) => {
                    Err(format!("line {line} holds `{cell}`: measured numbers are finite, and gaps are NaN or empty"))
                }
                Err(_) if cell.replacen(',', ".", 1).parse::<f64>().is_ok() => {
                    Err(format!("line {line} holds `{cell}`: decimals stand behind a point, not a comma"))
                }
                Err(_) => {
                    let shown: String = cell.chars().take(40).flat_map(char::escape_debug).collect();
                    Err(format!("line {line} holds `{shown}`, which is no number; gaps are NaN or empty"))
                }
            }
        };
        self.rows.iter().map(number).collect()
    }
}

/// Cells of a line, separated; a cell that contains separators is quoted.
fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            c if c == separator && !quoted => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            c => cell.push(c),
        }
    }
    cells.push(cell.trim().to_owned());
    cells
}

#[cfg(test)]
mod tests {
    use super::CsvTable;

    #[test]
    fn tables_are_read_whatever_separates_their_cells() {
        for (separator, heading) in [(",", "# made up\n"), (";", "\u{feff}"), ("\t", "\n\n")] {
            let text = format!("{heading}t, \"a, \"\"b\"\"\",c\n0,1,x\n\n1,NaN,y\n2,,z\n");
            let text = if separator == "," { text } else { text.replace("a, ", "a ").replace(',', separator) };
            let table = CsvTable::parse(&text).unwrap();
            assert_eq!(table.names.len(), 3, "{table:?}");
            let second = table.numbers(1).unwrap();
            assert!(second[0] == 1.0 && second[1].is_nan() && second[2].is_nan(), "{second:?}");
            assert!(table.numbers(2).unwrap_err().contains("`x`"));
        }
        assert_eq!(CsvTable::parse("t,x\n0,1\n").unwrap().names, ["t", "x"]);
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_line() {
        for (text, part) in [("", "empty"), ("t,x\n0,1\n1\n", "line 3 has 1 cells"), ("t,x\n0,1,2\n", "line 2 has 3")] {
            assert!(CsvTable::parse(text).unwrap_err().contains(part));
        }
        let table = CsvTable::parse("t;x\n0;1,5\n1;inf\n").unwrap();
        assert!(table.numbers(1).unwrap_err().contains("not a comma"));
        assert!(CsvTable::parse("t,x\n0,inf\n").unwrap().numbers(1).unwrap_err().contains("finite"));
    }
}
