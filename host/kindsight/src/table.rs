//! Tables with aligned columns.

use std::io::{self, Write};

/// Rows that are buffered to measure the columns; later ones keep the widths.
const ROWS_MEASURED: usize = 500;
/// Largest width of a column but the last, in characters.
const WIDTH_MAX: usize = 48;

/// Replaces what could write anywhere on a terminal, or make a line read differently, in untrusted
/// text.
pub(crate) fn clean(text: &str) -> String {
    kindsight_model::clean(text, usize::MAX).into_owned()
}

/// As [`clean`], for text of several lines.
pub(crate) fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// A table that is printed while rows are added: the first rows set the widths.
pub(crate) struct Table<W> {
    to: W,
    head: Vec<String>,
    buffered: Vec<Line>,
    widths: Option<Vec<usize>>,
}

enum Line {
    Row(Vec<String>),
    Note(String),
}

impl<W: Write> Table<W> {
    /// A table with these column heads.
    pub(crate) fn new(to: W, head: &[&str]) -> Self {
        Self {
            to,
            head: head.iter().map(|&name| name.to_owned()).collect(),
            buffered: Vec::new(),
            widths: None,
        }
    }

    /// Adds a row; each cell is cleaned, see [`clean`].
    pub(crate) fn row(&mut self, cells: &[&str]) -> io::Result<()> {
        let cells = cells.iter().map(|cell| match *cell {
            "" => "-".to_owned(),
            cell => clean(cell),
        });
        self.line(Line::Row(cells.collect()))
    }

    /// Adds a line about the row before it. It has no columns, and column widths ignore it.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        self.line(Line::Note(clean(text)))
    }

    fn line(&mut self, line: Line) -> io::Result<()> {
        if let Some(widths) = &self.widths {
            return line.print(&mut self.to, widths);
        }
        self.buffered.push(line);
        if self.buffered.len() < ROWS_MEASURED {
            return Ok(());
        }
        self.flush()
    }

    /// Prints the buffered rows.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.widths.is_none() && !self.buffered.is_empty() {
            let widths = self.measure();
            print(&mut self.to, &self.head, &widths)?;
            for line in self.buffered.drain(..) {
                line.print(&mut self.to, &widths)?;
            }
            self.widths = Some(widths);
        }
        self.to.flush()
    }

    fn measure(&self) -> Vec<usize> {
        let rows = self.buffered.iter().filter_map(|line| match line {
            Line::Row(cells) => Some(cells),
            Line::Note(_) => None,
        });
        let rows = std::iter::once(&self.head).chain(rows);
        let mut widths = vec![0; self.head.len()];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count()).min(WIDTH_MAX);
            }
        }
        widths
    }
}

impl Line {
    fn print(&self, to: &mut impl Write, widths: &[usize]) -> io::Result<()> {
        match self {
            Self::Row(cells) => print(to, cells, widths),
            Self::Note(text) => writeln!(to, "{text}"),
        }
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
        table
            .row(&["wider", "x", "first\u{1b}[31m\u{202e}"])
            .unwrap();
        table.note("  a note is longer than\tany column").unwrap();
        table.row(&["a", "", "second"]).unwrap();
        table.flush().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "A      LONG  M\nwider  x     first [31m\u{fffd}\n  a note is longer than any column\na      -     second\n"
        );
    }
}
