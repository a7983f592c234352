//! A table that is updated in place, on a terminal.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use kindsight_api::status::{QueryType, Status};
use rustix::termios::tcgetwinsize;

use super::super::answer::{resources, totals};
use super::super::states;
use crate::age::age;
use crate::table::{Cell, Table, clean, cut};

/// Size of a terminal whose size is unknown, in lines and characters.
const SIZE: (usize, usize) = (24, 80);

/// Moves to the first character of the first line.
const HOME: &str = "\x1b[H";
/// Clears the rest of the line.
const CLEAR_LINE: &str = "\x1b[K";
/// Clears everything below.
const CLEAR_BELOW: &str = "\x1b[J";

/// Contents of the screen.
pub(super) struct Shown<'s> {
    pub(super) status: Option<&'s Status<'s>>,
    /// The type of the status.
    pub(super) kind: QueryType,
    /// The selected part of the application; none for all of it.
    pub(super) scope: Option<&'s str>,
    /// A line above the status.
    pub(super) notice: Option<&'s str>,
}

/// Draws the contents over the previous ones.
pub(super) fn draw(to: &mut impl Write, shown: &Shown<'_>, now_ms: i64) -> io::Result<()> {
    let size = tcgetwinsize(io::stdout()).ok();
    let size = size.map(|size| (usize::from(size.ws_row), usize::from(size.ws_col)));
    let size = size.filter(|&(lines, width)| lines > 0 && width > 0);
    let mut text = text(shown, now_ms)?;
    if AutoStream::choice(&io::stdout()) == ColorChoice::Never {
        text = strip_str(&text).to_string();
    }
    to.write_all(frame(&text, size.unwrap_or(SIZE)).as_bytes())?;
    to.flush()
}

/// The notice, the totals and the table.
fn text(shown: &Shown<'_>, now_ms: i64) -> io::Result<String> {
    let mut text = Vec::new();
    if let Some(notice) = shown.notice {
        writeln!(text, "{}", clean(notice))?;
    }
    if let Some(status) = shown.status {
        totals(&mut text, status, shown.scope)?;
        writeln!(text)?;
        let mut head = vec!["APP", "CLUSTER", "KIND", "NAME"];
        head.extend(states::heads(shown.kind));
        head.extend(["SINCE", "REASON", "MESSAGE"]);
        let mut table = Table::new(&mut text, &head);
        for (app, cluster, resource) in resources(status) {
            let names = [
                &app.name,
                &cluster.cluster,
                &*resource.gvk.kind,
                &resource.name,
            ];
            let mut cells: Vec<Cell<'_>> = names.map(Cell::plain).into();
            cells.extend(states::cells(shown.kind, cluster, resource));
            cells.push(Cell::plain(age(resource.since, now_ms)));
            cells.extend([&*resource.reason, &*resource.message].map(Cell::plain));
            table.cells(&cells)?;
        }
        table.flush()?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The text cut to the size of a terminal in lines and characters, with the control sequences that draw it in place.
fn frame(text: &str, (lines_max, width): (usize, usize)) -> String {
    let lines: Vec<&str> = text.lines().collect();
    // The last line of the terminal stays empty: a line break there would scroll.
    let room = lines_max.saturating_sub(1);
    let shown = if lines.len() > room {
        room.saturating_sub(1)
    } else {
        lines.len()
    };
    let mut frame = String::from(HOME);
    for line in lines.iter().take(shown) {
        frame.extend([&*cut(line, width), CLEAR_LINE, "\r\n"]);
    }
    if shown < lines.len() {
        // Writing to a String does not fail.
        let _ = write!(
            frame,
            "and {} more lines{CLEAR_LINE}\r\n",
            lines.len() - shown
        );
    }
    frame.push_str(CLEAR_BELOW);
    frame
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn both_statuses_have_a_column_if_the_query_requests_both() {
        let status = json!({
            "name": "dig", "state": {"Actions": []},
            "apps": [{"name": "sink", "clusters": [{
                "cluster-provider": "k", "cluster": "a",
                "resources": [{
                    "GVK": {"Group": "", "Version": "v1", "Kind": "Service"}, "name": "sink",
                    "rsync-status": "Applied", "cluster-status": "Pending",
                }],
            }]}],
        })
        .to_string();
        let status = serde_json::from_str(&status).unwrap();
        let shown = |kind| {
            let shown = Shown {
                status: Some(&status),
                kind,
                scope: None,
                notice: None,
            };
            strip_str(&text(&shown, 0).unwrap()).to_string()
        };
        let table = [QueryType::All, QueryType::Rsync, QueryType::Cluster].map(shown);
        expect![[r#"

            dig

            APP   CLUSTER  KIND     NAME  SENT     REPORTED  SINCE  REASON  MESSAGE
            sink  a        Service  sink  Applied  Pending   -      -       -

            dig

            APP   CLUSTER  KIND     NAME  STATE    SINCE  REASON  MESSAGE
            sink  a        Service  sink  Applied  -      -       -

            dig

            APP   CLUSTER  KIND     NAME  STATE    SINCE  REASON  MESSAGE
            sink  a        Service  sink  Pending  -      -       -
        "#]]
        .assert_eq(&table.concat());
    }

    #[test]
    fn a_frame_is_no_larger_than_the_terminal() {
        let whole = frame("one\ntwo\n", (24, 80));
        assert_eq!(whole, "\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\n\x1b[J");
        let cut = frame("first line\n2\n3\n4\n", (4, 5));
        assert_eq!(
            cut,
            "\x1b[Hfirst\x1b[K\r\n2\x1b[K\r\nand 2 more lines\x1b[K\r\n\x1b[J"
        );
    }
}
