//! Tables with aligned columns.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;

/// Rows that are buffered to measure the columns; later ones keep the widths.
const ROWS_MEASURED: usize = 500;
/// Largest width of a column but the last, in characters.
const WIDTH_MAX: usize = 48;

/// The first character of an escape code.
const ESCAPE: char = '\u{1b}';

/// Replaces what could write anywhere on a terminal, or make a line read differently, in untrusted
/// text.
pub(crate) fn clean(text: &str) -> String {
    kindsight_model::clean(text, usize::MAX).into_owned()
}

/// As [`clean`], for text of several lines.
pub(crate) fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// The text of a cell, with its style.
pub(crate) struct Cell<'a> {
    text: Cow<'a, str>,
    style: Style,
}

impl<'a> Cell<'a> {
    /// A cell with this style.
    pub(crate) fn styled(text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
        }
    }

    /// A cell without a style.
    pub(crate) fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        Self::styled(text, Style::new())
    }

    /// The printed cell: cleaned, see [`clean`], and not empty.
    fn printed(&self) -> Cell<'static> {
        match &*self.text {
            "" => Cell::plain("-"),
            text => Cell::styled(clean(text), self.style),
        }
    }
}

/// A table that is printed while rows are added: the first rows set the widths.
pub(crate) struct Table<W> {
    to: W,
    head: Vec<Cell<'static>>,
    buffered: Vec<Line>,
    widths: Option<Vec<usize>>,
}

enum Line {
    Row(Vec<Cell<'static>>),
    Note(String),
}

impl<W: Write> Table<W> {
    /// A table with these column heads.
    pub(crate) fn new(to: W, head: &[&str]) -> Self {
        Self {
            to,
            head: head
                .iter()
                .map(|&name| Cell::plain(name.to_owned()))
                .collect(),
            buffered: Vec::new(),
            widths: None,
        }
    }

    /// Adds a row without styles; each cell is cleaned, see [`clean`].
    pub(crate) fn row(&mut self, cells: &[&str]) -> io::Result<()> {
        let cells: Vec<Cell<'_>> = cells.iter().map(|&text| Cell::plain(text)).collect();
        self.cells(&cells)
    }

    /// Adds a row; each cell is cleaned, see [`clean`].
    pub(crate) fn cells(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.line(Line::Row(cells.iter().map(Cell::printed).collect()))
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
                *width = (*width).max(cell.text.chars().count()).min(WIDTH_MAX);
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

fn print(to: &mut impl Write, row: &[Cell<'_>], widths: &[usize]) -> io::Result<()> {
    let last = row.len().saturating_sub(1);
    for (position, (cell, width)) in row.iter().zip(widths).enumerate() {
        let Cell { text, style } = cell;
        write!(to, "{style}{text}{style:#}")?;
        if position < last {
            let padding = width.saturating_sub(text.chars().count());
            write!(to, "{:padding$}  ", "")?;
        }
    }
    writeln!(to)
}

/// A line cut to this number of characters. The escape codes of [`Style`] do not count, and a style ends with the line.
pub(crate) fn cut(line: &str, width: usize) -> String {
    let (mut shown, mut count, mut is_code, mut has_code) = (String::new(), 0, false, false);
    for char in line.chars() {
        if char == ESCAPE {
            (is_code, has_code) = (true, true);
        }
        if is_code {
            shown.push(char);
            is_code = char != 'm';
        } else if count < width {
            shown.push(char);
            count += 1;
        } else {
            break;
        }
    }
    if has_code {
        shown.push_str(&anstyle::Reset.render().to_string());
    }
    shown
}

/// Printed text without the escape codes of styles.
#[cfg(test)]
pub(crate) fn without_styles(text: &[u8]) -> String {
    anstream::adapter::strip_str(str::from_utf8(text).unwrap_or_default()).to_string()
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

    #[test]
    fn a_style_changes_no_width() {
        let style = anstyle::AnsiColor::Red.on_default();
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, &["STATE", "M"]);
        let row = |state| [Cell::styled(state, style), Cell::plain("x")];
        table.cells(&row("Failed")).unwrap();
        table.cells(&row("")).unwrap();
        table.flush().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "STATE   M\n\u{1b}[31mFailed\u{1b}[0m  x\n-       x\n");
    }

    #[test]
    fn a_line_is_cut_without_its_escape_codes() {
        let line = "ab\u{1b}[31mcde\u{1b}[0m f";
        assert_eq!(cut(line, 4), "ab\u{1b}[31mcd\u{1b}[0m");
        assert_eq!(cut(line, 9), "ab\u{1b}[31mcde\u{1b}[0m f\u{1b}[0m");
        assert_eq!(cut("abc", 2), "ab");
    }
}
