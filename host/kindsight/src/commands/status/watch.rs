//! `kindsight status --watch`: shows an application while it changes.

mod lines;
mod screen;

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kindsight_server::now_ms;

use super::StatusQuery;
use super::followed::{Followed, News};
use crate::client::{self, Server};

/// Longest pause between two checks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// Time after which ages are drawn again.
const REDRAW_MS: i64 = 1000;

/// Runs the command until Ctrl-C; returns the exit code of the process.
///
/// # Errors
/// The server refuses, or the output is closed.
pub(super) fn run(server: &Server, query: &StatusQuery) -> anyhow::Result<ExitCode> {
    let is_over = interrupted()?;
    let mut followed = Followed::begin(server, query.clone());
    let scope = query.scope();
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let mut out = stdout.lock();
    let mut notice = Some("waiting for the server".to_owned());
    let mut drawn_ms = 0;
    while !is_over.load(Ordering::Relaxed) {
        let news = followed.next(LOOK)?;
        if !is_terminal {
            let shown = lines::Shown {
                kind: query.kind(),
                scope: scope.as_deref(),
            };
            lines::print(&mut out, &news, &followed, shown, now_ms())?;
            continue;
        }
        let is_news = !matches!(news, News::Unchanged);
        match news {
            News::Snapshot | News::Change(_) => notice = None,
            News::Lost(why) => notice = Some(format!("connecting again, since {why}")),
            News::Missing(why) => notice = Some(why),
            News::Unchanged => {}
        }
        let now_ms = now_ms();
        if is_news || now_ms - drawn_ms >= REDRAW_MS {
            drawn_ms = now_ms;
            let status = followed.status().map(client::read).transpose()?;
            let shown = screen::Shown {
                status: status.as_ref(),
                kind: query.kind(),
                scope: scope.as_deref(),
                notice: notice.as_deref(),
            };
            screen::draw(&mut out, &shown, now_ms)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// True once Ctrl-C was pressed.
fn interrupted() -> io::Result<Arc<AtomicBool>> {
    let is_over = Arc::new(AtomicBool::new(false));
    let pressed = Arc::clone(&is_over);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::spawn(move || {
        // If the signal cannot be received, Ctrl-C ends the process as it does by default.
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            pressed.store(true, Ordering::Relaxed);
        }
    });
    Ok(is_over)
}
