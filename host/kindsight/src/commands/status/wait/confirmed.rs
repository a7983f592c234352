//! Confirms a success: a watch that hangs looks like a quiet watch, so the server reads the clusters once more.

use kindsight_api::status::Confirmation;

use super::heard::Begun;
use super::standing::{Standing, Wanted};
use super::standing_now;
use crate::cli::hint;
use crate::client::{self, Refused, Server};
use crate::commands::status::StatusQuery;

/// The standing after the server compared the status with the clusters. The status is requested again, because the
/// comparison may have found changes.
pub(super) fn confirmed(
    server: &Server,
    query: &StatusQuery,
    wanted: Wanted,
    begun: &mut Begun,
) -> Standing {
    let checked = is_confirmed(server, query).and_then(|why| {
        if let Some(why) = why {
            return Ok(Standing::Waiting(why));
        }
        let answer = query.request(None).ask(server)?;
        standing_now(server, &client::read(&answer)?, wanted, begun)
    });
    checked.unwrap_or_else(|error| Standing::Waiting(format!("{error:#}")))
}

/// The reason why the status is not confirmed; `None` if it is, or if the server is too old to know.
fn is_confirmed(server: &Server, query: &StatusQuery) -> anyhow::Result<Option<String>> {
    let answer = match query.confirmation().ask(server) {
        Ok(answer) => answer,
        Err(error) => {
            let refused = error.downcast_ref::<Refused>();
            if refused.is_none_or(|refused| refused.status != 404) {
                return Err(error);
            }
            hint(
                "warning: the server is an older release that does not compare its state with the clusters",
            );
            return Ok(None);
        }
    };
    let confirmation: Confirmation<'_> = client::read(&answer)?;
    let reason = confirmation.reason.as_deref().unwrap_or("no reason given");
    let why = format!("its state is not confirmed: {reason}");
    Ok((!confirmation.confirmed).then_some(why))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};

    use jiff::Timestamp;
    use jiff::fmt::rfc2822;
    use serde_json::{Value, json};

    use super::*;

    /// The standing by a server that answers the confirmation so.
    fn standing_by(status: u16, confirmation: &Value) -> Standing {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let server = Server::open(&server).unwrap();
        let confirmation = confirmation.clone();
        // Ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                serve(stream, status, &confirmation);
            }
        });
        let query = StatusQuery::about("-/shop/-/web").unwrap();
        let wanted = Wanted {
            goal: None,
            restarts_max: None,
        };
        confirmed(&server, &query, wanted, &mut Begun::now())
    }

    fn serve(mut stream: TcpStream, status: u16, confirmation: &Value) {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let target = lines.next().unwrap().unwrap();
        assert!(lines.any(|line| line.unwrap().is_empty()));
        let (status, body) = if target.contains("/status/confirmation?") {
            (status, confirmation.clone())
        } else if target.contains("/v2/clusters") {
            (200, json!({"clusters": []}))
        } else {
            let failed = json!({"name": "web", "state": {"Actions": []},
                "ready-phase": "failed", "ready-reason": "Pod x is Failed"});
            (200, failed)
        };
        let date = rfc2822::DateTimePrinter::new()
            .timestamp_to_rfc9110_string(&Timestamp::UNIX_EPOCH)
            .unwrap();
        let (body, length) = (body.to_string(), body.to_string().len());
        let head = format!(
            "HTTP/1.1 {status} OK\r\nconnection: close\r\ndate: {date}\r\ncontent-length: {length}\r\n\r\n"
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
    }

    #[test]
    fn a_state_that_is_not_confirmed_is_waited_for() {
        let reason = "cluster p+c: it is not connected";
        let standing = standing_by(200, &json!({"confirmed": false, "reason": reason}));
        let why = format!("its state is not confirmed: {reason}");
        assert_eq!(standing, Standing::Waiting(why));
        let busy = standing_by(503, &json!({"detail": "busy"}));
        let why = "the server answers 503: busy".to_owned();
        assert_eq!(busy, Standing::Waiting(why));
    }

    #[test]
    fn the_status_after_the_confirmation_counts_also_by_an_older_server() {
        let failed = Standing::Failed("Pod x is Failed".to_owned());
        assert_eq!(standing_by(200, &json!({"confirmed": true})), failed);
        assert_eq!(
            standing_by(404, &json!({"detail": "no such route"})),
            failed
        );
    }
}
