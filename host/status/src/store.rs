//! The stores of `AppContext`s and of lifecycle states while they are away.

use std::sync::Arc;

use kindsight_api::store::{StoreConnection, StoreState};

use crate::moment::moment;
use crate::read_model::{ChangedSubject, ReadModel, Snapshot};

/// A store that cannot be reached. What was last read from it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreAway {
    /// Time since when it is away, in Unix milliseconds.
    pub since_ms: i64,
    /// The reason, as text for people.
    pub reason: Arc<str>,
}

impl StoreAway {
    /// As answers tell it.
    pub(crate) fn shown(&self) -> StoreState<'_> {
        StoreState {
            state: StoreConnection::Away,
            since: moment(self.since_ms),
            reason: (&*self.reason).into(),
        }
    }
}

impl ReadModel {
    /// Publishes that the store of `AppContext`s is away, or with none that it is reached.
    pub fn publish_store(&self, away: Option<StoreAway>) {
        let away = away.map(Arc::new);
        let is_same = self.inspect(|snapshot| snapshot.store_away() == away.as_deref());
        if !is_same {
            self.change(ChangedSubject::Store, |snapshot| snapshot.store = away);
        }
    }

    /// Publishes that the store of lifecycle states is away, or with none that it is reached.
    pub fn publish_state_store(&self, away: Option<StoreAway>) {
        let away = away.map(Arc::new);
        let is_same = self.inspect(|snapshot| snapshot.state_store_away() == away.as_deref());
        if !is_same {
            self.change(ChangedSubject::StateStore, |snapshot| {
                snapshot.state_store = away;
            });
        }
    }
}

impl Snapshot {
    /// The store of lifecycle states that another orchestrator keeps beside its `AppContext`s, while it is away.
    pub fn state_store_away(&self) -> Option<&StoreAway> {
        self.state_store.as_deref()
    }

    /// The store of `AppContext`s, while it is away.
    pub fn store_away(&self) -> Option<&StoreAway> {
        self.store.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::DigName;
    use serde_json::{Value, json};

    use super::*;
    use crate::samples::{FIRST, context, id};
    use crate::{ActionView, ApplicationQuery, QueryError, RecordView, StatusQuery};

    fn model() -> (ReadModel, DigName) {
        let (model, name) = (
            ReadModel::default(),
            DigName::new("p", "ca", "v1", "d").unwrap(),
        );
        let record = RecordView {
            actions: vec![ActionView {
                state: kindsight_model::LifecycleState::Instantiated,
                instance: Some(id(FIRST)),
                time: "".into(),
                revision: 0,
            }],
            ..RecordView::default()
        };
        model.publish_context(&id(FIRST), Some(context(FIRST, "Instantiated", Vec::new())));
        model.publish_dig(&name, Some(record));
        (model, name)
    }

    /// The member of a status, of the list of applications and of that of clusters.
    fn told(model: &ReadModel, name: &DigName) -> [Value; 3] {
        let query = StatusQuery::default();
        let subject = model.dig(name, &query).unwrap();
        let status = serde_json::to_value(subject.answer(&query).unwrap()).unwrap();
        let applications = model.applications(&ApplicationQuery::default()).unwrap();
        let applications = serde_json::to_value(applications.answer()).unwrap();
        let clusters = serde_json::to_value(model.clusters().answer()).unwrap();
        [status, applications, clusters].map(|it| it["store"].clone())
    }

    #[test]
    fn what_the_states_are_a_source_of_says_that_they_are_away() {
        let (model, name) = model();
        let own = DigName::new("p", "ca", "v1", "own").unwrap();
        let record = RecordView {
            is_own: true,
            ..RecordView::default()
        };
        model.publish_dig(&own, Some(record));
        let query = StatusQuery::default();
        let listed = model.applications(&ApplicationQuery::default()).unwrap();
        let [before, ours] = [&name, &own].map(|name| model.dig(name, &query).unwrap());
        assert!(before.is_concerned_by(&ChangedSubject::StateStore));
        assert!(!ours.is_concerned_by(&ChangedSubject::StateStore));
        model.publish_state_store(Some(StoreAway {
            since_ms: 0,
            reason: "mongo-0:27017: connection refused".into(),
        }));
        let away = json!({"state": "away", "since": "1970-01-01T00:00:00Z", "reason": "mongo-0:27017: connection refused"});
        let told = [&name, &own].map(|name| {
            let subject = model.dig(name, &query).unwrap();
            let answer = serde_json::to_value(subject.answer(&query).unwrap()).unwrap();
            answer["state-store"].clone()
        });
        assert_eq!(told, [away.clone(), Value::Null]);
        let now = model.applications(&ApplicationQuery::default()).unwrap();
        let answer = serde_json::to_value(now.answer()).unwrap();
        assert_eq!(
            (&answer["state-store"], &answer["store"]),
            (&away, &Value::Null)
        );
        let change = serde_json::to_value(now.change_since(&listed).unwrap()).unwrap();
        assert_eq!(change, json!({"state-store": away}));
    }

    #[test]
    fn what_is_not_there_may_be_in_a_store_that_is_away() {
        let (model, _) = model();
        let unknown = DigName::new("p", "ca", "v1", "unread").unwrap();
        let detail = || {
            let error = model.dig(&unknown, &StatusQuery::default()).unwrap_err();
            let (QueryError::NotFound(problems) | QueryError::Invalid(problems)) = error;
            problems[0].detail.clone()
        };
        assert_eq!(detail(), "there is no `p/ca/v1/unread`");
        let away = StoreAway {
            since_ms: 0,
            reason: "connection refused".into(),
        };
        model.publish_state_store(Some(away.clone()));
        assert_eq!(
            detail(),
            "there is no `p/ca/v1/unread` in what was last read: the store of lifecycle states is away"
        );
        model.publish_store(Some(away));
        assert!(detail().ends_with("the store of AppContexts is away"));
    }

    #[test]
    fn every_answer_from_a_store_that_is_away_says_so_and_who_follows_one_is_told() {
        let (model, name) = model();
        assert_eq!(told(&model, &name), [Value::Null, Value::Null, Value::Null]);
        let query = StatusQuery::default();
        let before = model.dig(&name, &query).unwrap();
        let listed = model.applications(&ApplicationQuery::default()).unwrap();
        assert!(before.is_concerned_by(&ChangedSubject::Store));

        let away = StoreAway {
            since_ms: 0,
            reason: "etcd-0:2379: connection refused".into(),
        };
        model.publish_store(Some(away.clone()));
        let generation = model.inspect(Snapshot::generation);
        model.publish_store(Some(away));
        assert_eq!(model.inspect(Snapshot::generation), generation);
        let away = json!({"state": "away", "since": "1970-01-01T00:00:00Z", "reason": "etcd-0:2379: connection refused"});
        assert_eq!(told(&model, &name), [(); 3].map(|()| away.clone()));

        let after = model.dig(&name, &query).unwrap();
        let answers = [&before, &after].map(|it| it.answer(&query).unwrap());
        let [before, after] = answers.map(|it| match it {
            kindsight_api::status::StatusAnswer::Status(status) => status,
            other => panic!("{other:?}"),
        });
        let change = crate::change(&before, &after).unwrap();
        let change = serde_json::to_value(change).unwrap();
        assert_eq!(change["status"]["store"], away);
        let now = model.applications(&ApplicationQuery::default()).unwrap();
        let change = serde_json::to_value(now.change_since(&listed).unwrap()).unwrap();
        assert_eq!(change, json!({"store": away}));
        // An action that nobody recorded has no time, rather than one that is made up.
        assert_eq!(
            serde_json::to_value(&after.state).unwrap(),
            json!({"Actions": [{"State": "Instantiated", "ContextId": FIRST}]})
        );

        model.publish_store(None);
        assert_eq!(told(&model, &name), [Value::Null, Value::Null, Value::Null]);
    }
}
