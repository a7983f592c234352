//! Observes an application until the end of the wait.

use std::time::Duration;

use kindsight_api::status::Status;
use kindsight_model::ContextStatus;

use super::super::StatusQuery;
use super::super::followed::{Followed, News};
use super::confirmed::confirmed;
use super::heard::{Begun, Clusters, clusters, not_heard};
use super::standing::{Standing, Wanted};
use super::standing_now;
use crate::cli::Goal;
use crate::client::{self, Refused, Request, Server};

/// Path below the server's address that answers 200 once every cluster was read.
const READY: &str = "/readyz";

/// The followed application.
pub(super) struct Observer {
    server: Server,
    query: StatusQuery,
    wanted: Wanted,
    begun: Begun,
    followed: Followed,
    /// The reason why there is no current status.
    absence: Absence,
    /// Facts from the last status; none before the first status.
    last: Option<Last>,
}

/// Facts from the last status of the application.
struct Last {
    clusters: Clusters,
    /// Kinds that the clusters have not answered for, as text for users.
    unanswered: Vec<String>,
    /// True if the server removes the application only after its last resource: it was found in the clusters, so it has
    /// no lifecycle actions, or its orchestrator terminated it.
    outlives_resources: bool,
}

impl Last {
    fn of(status: &Status<'_>) -> Self {
        let unanswered = status.readiness.unanswered.iter();
        let is_found = status.state.actions.is_empty();
        Self {
            clusters: clusters(status),
            unanswered: unanswered.map(ToString::to_string).collect(),
            outlives_resources: is_found || status.status == Some(ContextStatus::Terminated),
        }
    }
}

/// The reason why there is no current status.
enum Absence {
    /// The server cannot be reached, or has not answered yet.
    Lost(String),
    /// The server does not know the application, or does not know it any more.
    Missing(String),
}

impl Observer {
    /// Begins to follow the application of the query.
    pub(super) fn begin(server: &Server, query: StatusQuery, wanted: Wanted, begun: Begun) -> Self {
        Self {
            followed: Followed::begin(server, query.clone()),
            server: server.to_owned(),
            query,
            wanted,
            begun,
            absence: Absence::Lost("the server did not answer yet".to_owned()),
            last: None,
        }
    }

    /// Waits for news, at most for `wait_max`, and returns the standing afterwards.
    ///
    /// # Errors
    /// The server refuses for a permanent reason, a credential is invalid, or the server sends data that cannot be parsed
    /// or that has no date.
    pub(super) fn next(&mut self, wait_max: Duration) -> anyhow::Result<Standing> {
        match self.followed.next(wait_max)? {
            News::Lost(why) => self.absence = Absence::Lost(why),
            News::Missing(why) => self.absence = Absence::Missing(why),
            News::Snapshot | News::Change(_) | News::Unchanged => {}
        }
        let Some(status) = current(&self.followed) else {
            return self.without_status().or_else(repeated);
        };
        let status: Status<'_> = client::read(status)?;
        self.last = Some(Last::of(&status));
        standing_now(&self.server, &status, self.wanted, &mut self.begun).or_else(repeated)
    }

    /// The standing after a comparison with the clusters.
    pub(super) fn confirmed(&mut self) -> Standing {
        if current(&self.followed).is_none() {
            // There is no status that could be compared.
            return Standing::Reached;
        }
        confirmed(&self.server, &self.query, self.wanted, &mut self.begun)
    }

    /// Kinds that the clusters have not answered for, as text for users.
    pub(super) fn unanswered(&self) -> &[String] {
        self.last.as_ref().map_or(&[], |last| &last.unanswered)
    }

    /// The standing of an application without a status.
    fn without_status(&mut self) -> anyhow::Result<Standing> {
        let why = match &self.absence {
            Absence::Lost(why) => return Ok(Standing::Waiting(why.clone())),
            Absence::Missing(why) => why,
        };
        let last = self.last.as_ref().filter(|last| last.outlives_resources);
        let Some(last) = last.filter(|_| self.wanted.goal == Some(Goal::Terminated)) else {
            return Ok(Standing::Waiting(why.clone()));
        };
        let waiting = match not_ready(&self.server)? {
            Some(why) => Some(why),
            None => not_heard(&self.server, &last.clusters, &mut self.begun)?,
        };
        Ok(waiting.map_or(Standing::Reached, Standing::Waiting))
    }
}

/// The standing after a failed request that is repeated with the next news, as while the server restarts.
///
/// # Errors
/// The next request would fail too: the server refuses for a permanent reason, a credential is invalid, or the server
/// sent data that cannot be parsed or that has no date.
fn repeated(error: anyhow::Error) -> anyhow::Result<Standing> {
    if client::is_temporary(&error) {
        return Ok(Standing::Waiting(format!("{error:#}")));
    }
    Err(error)
}

/// The status as it is now, as JSON; none while it is not known.
fn current(followed: &Followed) -> Option<&str> {
    followed.status().filter(|_| followed.is_current())
}

/// The reason why the server has not read every cluster yet, as after a restart; none if it has.
fn not_ready(server: &Server) -> anyhow::Result<Option<String>> {
    match Request::get(READY.to_owned()).ask(server) {
        Ok(_) => Ok(None),
        Err(error) if error.is::<Refused>() => Ok(Some(format!("{error:#}"))),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;

    use jiff::Timestamp;
    use jiff::fmt::rfc2822;
    use serde_json::{Value, json};

    use super::*;

    /// Starts a server that ends the stream after the first status with a problem of this code. Then the application does
    /// not exist. Returns its address.
    fn removing(status: &Value, problem: u16, ready: u16) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let mut events = Some(format!(
            "event: snapshot\ndata: {status}\nid: 1\n\nevent: problem\ndata: {{\"status\": {problem}, \"detail\": \"removed\"}}\n\n"
        ));
        // Ends with the test.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let target = target(&stream);
                let (code, body) = if target.contains("/status/watch") {
                    let removed = (404, json!({"detail": "removed"}).to_string());
                    events.take().map_or(removed, |events| (200, events))
                } else if target.contains("/readyz") {
                    (ready, json!({"detail": "not read: k+a"}).to_string())
                } else {
                    let cluster = json!({"cluster-provider": "k", "cluster": "a", "connection": "connected",
                        "since": "2099-01-22T10:00:00Z"});
                    (200, json!({"clusters": [cluster]}).to_string())
                };
                write(&mut stream, code, &body);
            }
        });
        Server::open(&server).unwrap()
    }

    fn target(stream: &TcpStream) -> String {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let target = lines.next().unwrap().unwrap();
        assert!(lines.any(|line| line.unwrap().is_empty()));
        target
    }

    fn write(stream: &mut TcpStream, code: u16, body: &str) {
        let date = rfc2822::DateTimePrinter::new()
            .timestamp_to_rfc9110_string(&Timestamp::UNIX_EPOCH)
            .unwrap();
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {code} OK\r\nconnection: close\r\ndate: {date}\r\ncontent-length: {length}\r\n\r\n"
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
    }

    /// The standing after the removal of an application: with this status of its AppContext, or without an AppContext.
    fn standing_after_removal(goal: Option<Goal>, context: Option<&str>, ready: u16) -> Standing {
        standing_after(404, goal, context, ready)
    }

    /// The standing after a problem with this code has ended the stream.
    fn standing_after(
        problem: u16,
        goal: Option<Goal>,
        context: Option<&str>,
        ready: u16,
    ) -> Standing {
        let action = json!({"State": "Instantiated", "ContextId": "7"});
        let actions: Vec<&Value> = context.iter().map(|_| &action).collect();
        let resource = json!({"GVK": {"Group": "", "Version": "v1", "Kind": "Pod"}, "name": "x",
            "cluster-status": "Terminating", "phase": "terminating"});
        let cluster = json!({"cluster-provider": "k", "cluster": "a", "resources": [resource]});
        let status = json!({"name": "web", "state": {"Actions": actions}, "status": context,
            "ready-phase": "terminating", "apps": [{"name": "front", "clusters": [cluster]}]});
        let query = StatusQuery::about("-/shop/-/web").unwrap();
        let wanted = Wanted {
            goal,
            restarts_max: None,
        };
        let server = removing(&status, problem, ready);
        let mut observer = Observer::begin(&server, query, wanted, Begun::now());
        let begun = Instant::now();
        loop {
            let standing = observer.next(Duration::from_millis(50)).unwrap();
            assert!(begun.elapsed() < Duration::from_secs(30), "{standing:?}");
            if observer.last.is_some() && current(&observer.followed).is_none() {
                return standing;
            }
        }
    }

    #[test]
    fn an_application_that_the_server_removes_is_terminated() {
        let terminated = Some(Goal::Terminated);
        let removed = |goal, context| standing_after_removal(goal, context, 200);
        assert_eq!(removed(terminated, None), Standing::Reached);
        assert_eq!(removed(terminated, Some("Terminated")), Standing::Reached);
        let waiting = Standing::Waiting("removed".to_owned());
        assert_eq!(removed(terminated, Some("Instantiated")), waiting);
        assert_eq!(removed(Some(Goal::Ready), None), waiting);
        assert_eq!(removed(None, None), waiting);
    }

    #[test]
    fn a_fault_of_the_server_is_no_removal() {
        let standing = standing_after(503, Some(Goal::Terminated), None, 200);
        assert_eq!(standing, Standing::Waiting("removed".to_owned()));
    }

    #[test]
    fn a_failed_request_is_repeated_unless_the_next_one_would_fail_too() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let server = Server::open(&server).unwrap();
        let answer = r#"{"clusters": []}"#;
        // As behind a proxy that removes the date.
        let dateless = std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                target(&stream);
                let length = answer.len();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
                );
                stream
                    .write_all(format!("{head}{answer}").as_bytes())
                    .unwrap();
            });
            not_heard(&server, &Clusters::new(), &mut Begun::now()).unwrap_err()
        });
        let ended = repeated(dateless).unwrap_err().to_string();
        assert!(ended.contains("no `Date`"), "{ended}");
        // The server is away.
        drop(listener);
        let lost = Request::get(READY.to_owned()).ask(&server).unwrap_err();
        assert!(matches!(repeated(lost), Ok(Standing::Waiting(_))));
        let unreadable = client::read::<Status<'_>>("{").unwrap_err();
        assert!(repeated(unreadable).is_err());
    }

    #[test]
    fn a_server_that_has_not_read_its_clusters_proves_no_removal() {
        let standing = standing_after_removal(Some(Goal::Terminated), None, 503);
        let why = "the server answers 503: not read: k+a".to_owned();
        assert_eq!(standing, Standing::Waiting(why));
    }
}
