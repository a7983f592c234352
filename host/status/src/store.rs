//! Outages of the stores of `AppContext`s and of lifecycle states.

use std::sync::Arc;

use kindsight_api::store::{StoreConnection, StoreState};

use crate::moment::moment;

/// A store that cannot be reached. Answers show the data that was last read from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreAway {
    /// Start of the outage, in Unix milliseconds.
    pub since_ms: i64,
    /// The reason, as text for users.
    pub reason: Arc<str>,
}

impl StoreAway {
    /// The wire type for answers.
    pub(crate) fn shown(&self) -> StoreState<'_> {
        StoreState {
            state: StoreConnection::Away,
            since: moment(self.since_ms),
            reason: (&*self.reason).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::{DigName, SubjectSet};
    use serde_json::{Value, json};

    use super::*;
    use crate::samples::{FIRST, context, id};
    use crate::{
        ActionView, ApplicationQuery, ChangedSubject, Histories, QueryError, RecordView, Snapshot,
        StatusQuery,
    };

    fn model() -> (Snapshot, DigName) {
        let mut model = Snapshot::default();
        let name = DigName::new("p", "ca", "v1", "d").unwrap();
        let record = RecordView {
            actions: vec![ActionView {
                state: kindsight_model::LifecycleState::Instantiated,
                instance: Some(id(FIRST)),
                time: "".into(),
                revision: 0,
            }],
            ..RecordView::default()
        };
        model.set_context(&id(FIRST), Some(context(FIRST, "Instantiated", Vec::new())));
        model.set_group(&name, Some(record));
        (model, name)
    }

    /// The member `store` of a status, of the list of applications and of the list of clusters.
    fn store_members(model: &Snapshot, name: &DigName) -> [Value; 3] {
        let query = StatusQuery::default();
        let subject = model
            .visible_to(&SubjectSet::Everything)
            .dig(name, &query)
            .unwrap();
        let status = serde_json::to_value(subject.answer(&query).unwrap()).unwrap();
        let applications = model
            .visible_to(&SubjectSet::Everything)
            .applications(&ApplicationQuery::default(), &Histories::default())
            .checked()
            .unwrap();
        let applications = serde_json::to_value(applications.answer()).unwrap();
        let clusters = serde_json::to_value(
            model
                .visible_to(&SubjectSet::Everything)
                .clusters()
                .answer(),
        )
        .unwrap();
        [status, applications, clusters].map(|answer| answer["store"].clone())
    }

    #[test]
    fn answers_from_lifecycle_states_show_their_outage() {
        let (mut model, name) = model();
        let own = DigName::new("p", "ca", "v1", "own").unwrap();
        let record = RecordView {
            is_own: true,
            ..RecordView::default()
        };
        model.set_group(&own, Some(record));
        let query = StatusQuery::default();
        let listed = model
            .visible_to(&SubjectSet::Everything)
            .applications(&ApplicationQuery::default(), &Histories::default())
            .checked()
            .unwrap();
        let [before, ours] = [&name, &own].map(|name| {
            model
                .visible_to(&SubjectSet::Everything)
                .dig(name, &query)
                .unwrap()
        });
        assert!(before.is_concerned_by(&ChangedSubject::StateStore));
        assert!(!ours.is_concerned_by(&ChangedSubject::StateStore));
        model.set_state_store(Some(StoreAway {
            since_ms: 0,
            reason: "mongo-0:27017: connection refused".into(),
        }));
        let away = json!({"state": "away", "since": "1970-01-01T00:00:00Z", "reason": "mongo-0:27017: connection refused"});
        let state_stores = [&name, &own].map(|name| {
            let subject = model
                .visible_to(&SubjectSet::Everything)
                .dig(name, &query)
                .unwrap();
            let answer = serde_json::to_value(subject.answer(&query).unwrap()).unwrap();
            answer["state-store"].clone()
        });
        assert_eq!(state_stores, [away.clone(), Value::Null]);
        let now = model
            .visible_to(&SubjectSet::Everything)
            .applications(&ApplicationQuery::default(), &Histories::default())
            .checked()
            .unwrap();
        let answer = serde_json::to_value(now.answer()).unwrap();
        assert_eq!(
            (&answer["state-store"], &answer["store"]),
            (&away, &Value::Null)
        );
        let change = serde_json::to_value(now.change_since(&listed).unwrap()).unwrap();
        assert_eq!(change, json!({"state-store": away}));
    }

    #[test]
    fn the_error_for_an_unknown_name_mentions_a_store_that_is_away() {
        let (mut model, _) = model();
        let unknown = DigName::new("p", "ca", "v1", "unread").unwrap();
        let detail = |model: &Snapshot| {
            let missing = model
                .visible_to(&SubjectSet::Everything)
                .dig(&unknown, &StatusQuery::default())
                .unwrap_err();
            let (QueryError::NotFound(problems) | QueryError::Invalid(problems)) = missing.into();
            problems[0].detail.clone()
        };
        assert_eq!(detail(&model), "there is no `p/ca/v1/unread`");
        let away = StoreAway {
            since_ms: 0,
            reason: "connection refused".into(),
        };
        model.set_state_store(Some(away.clone()));
        assert_eq!(
            detail(&model),
            "there is no `p/ca/v1/unread` in the last data read: the store of lifecycle states is away"
        );
        model.set_store(Some(away));
        assert!(detail(&model).ends_with("the store of AppContexts is away"));
    }

    #[test]
    fn answers_and_streams_show_the_outage_of_the_store() {
        let (mut model, name) = model();
        assert_eq!(
            store_members(&model, &name),
            [Value::Null, Value::Null, Value::Null]
        );
        let query = StatusQuery::default();
        let before = model
            .visible_to(&SubjectSet::Everything)
            .dig(&name, &query)
            .unwrap();
        let listed = model
            .visible_to(&SubjectSet::Everything)
            .applications(&ApplicationQuery::default(), &Histories::default())
            .checked()
            .unwrap();
        assert!(before.is_concerned_by(&ChangedSubject::Store));

        let away = StoreAway {
            since_ms: 0,
            reason: "etcd-0:2379: connection refused".into(),
        };
        model.set_store(Some(away.clone()));
        let generation = model.generation();
        model.set_store(Some(away));
        assert_eq!(model.generation(), generation);
        let away = json!({"state": "away", "since": "1970-01-01T00:00:00Z", "reason": "etcd-0:2379: connection refused"});
        assert_eq!(store_members(&model, &name), [(); 3].map(|()| away.clone()));

        let after = model
            .visible_to(&SubjectSet::Everything)
            .dig(&name, &query)
            .unwrap();
        let answers = [&before, &after].map(|subject| subject.answer(&query).unwrap());
        let [before, after] = answers.map(|answer| match answer {
            kindsight_api::status::StatusAnswer::Status(status) => status,
            other => panic!("{other:?}"),
        });
        let change = crate::change(&before, &after).unwrap();
        let change = serde_json::to_value(change).unwrap();
        assert_eq!(change["status"]["store"], away);
        let now = model
            .visible_to(&SubjectSet::Everything)
            .applications(&ApplicationQuery::default(), &Histories::default())
            .checked()
            .unwrap();
        let change = serde_json::to_value(now.change_since(&listed).unwrap()).unwrap();
        assert_eq!(change, json!({"store": away}));
        // An action without a recorded time is shown without a time.
        assert_eq!(
            serde_json::to_value(&after.state).unwrap(),
            json!({"Actions": [{"State": "Instantiated", "ContextId": FIRST}]})
        );

        model.set_store(None);
        assert_eq!(
            store_members(&model, &name),
            [Value::Null, Value::Null, Value::Null]
        );
    }
}
