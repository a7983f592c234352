//! A MongoDB with documents in the layout of an orchestrator, and a follower.

use std::collections::BTreeMap;
use std::time::Duration;

use kindsight_cluster::bson::{Bson, DateTime, Document, doc};
use kindsight_cluster::{MongoPrograms, MongoServer};
use kindsight_model::{RecordSubject, StateInfo, StatesNews};
use kindsight_mongodb::{MongodbOptions, StatesSource};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, Receiver};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The time limit for every expected event.
const PATIENCE: Duration = Duration::from_mins(1);

/// The time of every action.
pub(crate) const TIME: &str = "2022-09-20T08:00:00Z";

/// A collection of the newer generation.
pub(crate) const RESOURCES: &str = "emco.resources";

/// A MongoDB. Returns `None` without the programs, and the test ends.
pub(crate) fn mongodb() -> Option<MongoServer> {
    Some(MongoServer::start(&MongoPrograms::or_skip()?))
}

/// Options with a short polling interval.
pub(crate) fn options(uri: &str) -> MongodbOptions {
    MongodbOptions {
        uri: uri.to_owned(),
        user: None,
        password: None,
        ca: None,
        every: Duration::from_millis(50),
        deadline: Duration::from_secs(5),
    }
}

/// An action with its state, its context and its revision.
pub(crate) fn action(state: &str, context: &str, revision: i64) -> Bson {
    let time = DateTime::from_millis(1_663_660_800_000);
    Bson::Document(
        doc! {"state": state, "contextid": context, "timestamp": time, "revision": revision},
    )
}

/// A state as orchestrators write it.
pub(crate) fn state(status_context: &str, actions: &[Bson]) -> Document {
    doc! {"statuscontextid": status_context, "actions": actions}
}

/// A group of the newer generation, with additional fields in its document.
pub(crate) fn group(dig: &str, state: impl Into<Bson>) -> Document {
    let mut document = name(dig);
    document.extend(doc! {
        "keyId": "{compositeApp,compositeAppVersion,deploymentIntentGroup,project}",
        "references": [],
        "data": {"metadata": {"name": dig}, "spec": {"profile": "cp", "version": "r1"}},
        "stateInfo": state.into(),
    });
    document
}

/// The keys of a group of the newer generation.
pub(crate) fn name(dig: &str) -> Document {
    doc! {"project": "p", "compositeApp": "ca", "compositeAppVersion": "v1", "deploymentIntentGroup": dig}
}

/// A follower that receives the news.
pub(crate) struct Follower {
    runtime: Runtime,
    news: Receiver<StatesNews>,
    shutdown: CancellationToken,
}

impl Follower {
    pub(crate) fn begin(options: &MongodbOptions) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let (sender, news) = mpsc::channel(16);
        let shutdown = CancellationToken::new();
        let source = runtime.block_on(StatesSource::new(options, || 7));
        let source = source.expect("options that can be used");
        runtime.spawn(source.follow(sender, shutdown.clone()));
        Self {
            runtime,
            news,
            shutdown,
        }
    }

    /// The next item of the news.
    pub(crate) fn next(&mut self) -> StatesNews {
        let news = self
            .runtime
            .block_on(async { timeout(PATIENCE, self.news.recv()).await });
        news.expect("news in time").expect("a sender")
    }

    /// The next item of the news, which must contain all states: one line for each.
    pub(crate) fn all(&mut self) -> Vec<String> {
        match self.next() {
            StatesNews::All(states) => lines(&states),
            other => panic!("{other:?}"),
        }
    }

    /// The next item of the news, which must be one changed state: its line, or its subject with a
    /// note that it is gone.
    pub(crate) fn changed(&mut self) -> String {
        match self.next() {
            StatesNews::Changed(subject, Some(state)) => line(&subject, &state),
            StatesNews::Changed(subject, None) => format!("{subject} is gone"),
            other => panic!("{other:?}"),
        }
    }

    /// The next item of the news, which must report an unavailable MongoDB: the reason.
    pub(crate) fn away(&mut self) -> String {
        match self.next() {
            StatesNews::Away { since_ms, reason } => {
                assert_eq!(since_ms, 7);
                reason.to_string()
            }
            other => panic!("{other:?}"),
        }
    }

    /// Stops the follower, and waits until it has stopped.
    pub(crate) fn end(mut self) {
        self.shutdown.cancel();
        let rest = self
            .runtime
            .block_on(async { timeout(PATIENCE, self.news.recv()).await });
        assert_eq!(rest.expect("an end in time"), None);
    }
}

fn lines(states: &BTreeMap<RecordSubject, StateInfo>) -> Vec<String> {
    states
        .iter()
        .map(|(subject, state)| line(subject, state))
        .collect()
}

fn line(subject: &RecordSubject, state: &StateInfo) -> String {
    let actions = state.actions.iter().map(|action| {
        assert_eq!(&*action.time, TIME);
        let instance = action.instance.as_ref().map_or("-", |id| id.as_str());
        format!(" {}/{instance}/{}", action.state, action.revision)
    });
    let context = state.status_context.as_ref();
    let context = context.map_or("-", |id| id.as_str());
    let profile = state.profile.iter().map(|name| format!(" of {name}"));
    let rest: String = profile.chain(actions).collect();
    format!("{subject}: {context}{rest}")
}
