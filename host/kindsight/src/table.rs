//! Columns for people.

use std::io::{self, Write};

/// Rows that are held back to measure the columns; later ones keep the widths.
pub(crate) const ROWS_MEASURED: usize = 500;
/// The widest column but the last, in characters.
const WIDTH_MAX: usize = 48;

/// A table that prints itself as it grows: the first rows set the widths.
pub(crate) struct Table<W> {
    to: W,
    head: Vec<String>,
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
}

impl<W: Write> Table<W> {
    /// A table with these column heads.
    pub(crate) fn new(to: W, head: &[&str]) -> Self {
        Self {
            to,
            head: head.iter().map(|&name| name.to_owned()).collect(),
            waiting: Vec::new(),
            widths: None,
        }
    }

    /// Adds a row. Control characters are replaced: they could write anywhere on a terminal.
    pub(crate) fn row(&mut self, cells: &[&str]) -> io::Result<()> {
        let cells = cells.iter().map(|cell| match *cell {
            "" => "-".to_owned(),
            cell => cell.replace(char::is_control, " "),
        });
        let cells: Vec<String> = cells.collect();
        if let Some(widths) = &self.widths {
            return print(&mut self.to, &cells, widths);
        }
        self.waiting.push(cells);
        if self.waiting.len() < ROWS_MEASURED {
            return Ok(());
        }
        self.flush()
    }

    /// Prints what was held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.widths.is_none() && !self.waiting.is_empty() {
            let widths = self.measure();
            print(&mut self.to, &self.head, &widths)?;
            for row in self.waiting.drain(..) {
                print(&mut self.to, &row, &widths)?;
            }
            self.widths = Some(widths);
        }
        self.to.flush()
    }

    fn measure(&self) -> Vec<usize> {
        let rows = std::iter::once(&self.head).chain(&self.waiting);
        let mut widths = vec![0; self.head.len()];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count()).min(WIDTH_MAX);
            }
        }
        widths
    }
}

fn print(to: &mut impl Write, row: &[String], widths: &[usize]) -> io::Result<()> {
    let last = row.len().saturating_sub(1);
    for (position, (cell, width)) in row.iter().zip(widths).enumerate() {
        if position == last {
            write!(to, "{cell}")?;
        } else {
            write!(to, "{cell:<width$}  ")?;
        }
    }
    writeln!(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, &["A", "LONG", "M"]);
        table.row(&["wider", "x", "first\u{1b}[31m"]).unwrap();
        table.row(&["a", "", "second"]).unwrap();
        table.flush().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "A      LONG  M\nwider  x     first [31m\na      -     second\n"
        );
    }
}
