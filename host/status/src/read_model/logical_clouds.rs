//! Logical clouds: their records, and the subjects of queries about them.

use std::sync::Arc;

use kindsight_model::LogicalCloudName;

use super::subject::{NEAR_MAX, UnknownInstance};
use super::{ChangedSubject, Name, ReadModel, Snapshot, Subject};
use crate::problem::QueryError;
use crate::query::StatusQuery;
use crate::record::RecordView;

impl Snapshot {
    /// The first logical clouds of the same project.
    fn logical_clouds_near(&self, name: &LogicalCloudName) -> Vec<LogicalCloudName> {
        let first = LogicalCloudName {
            name: "".into(),
            ..name.clone()
        };
        let near = self.logical_clouds.range(first..).map(|(name, _)| name);
        let near = near.take_while(|it| it.project == name.project);
        near.take(NEAR_MAX).cloned().collect()
    }
}

impl ReadModel {
    /// Publishes the record of a logical cloud, or removes it if `record` is none.
    pub fn publish_logical_cloud(&self, name: &LogicalCloudName, record: Option<RecordView>) {
        let record = record.map(Arc::new);
        let subject = ChangedSubject::LogicalCloud(name.clone());
        self.change(subject, |snapshot| match record {
            Some(record) => snapshot.logical_clouds.insert(name.clone(), record),
            None => snapshot.logical_clouds.remove(name),
        });
    }

    /// Looks up the subject of a query about a logical cloud.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a logical cloud, or an instance of it, that does not exist.
    pub fn logical_cloud(
        &self,
        name: &LogicalCloudName,
        query: &StatusQuery,
    ) -> Result<Subject, QueryError> {
        let found = {
            let snapshot = self.read();
            let record = snapshot.logical_clouds.get(name);
            record
                .map(|record| snapshot.subject(Name::LogicalCloud(name.clone()), record, query))
                .ok_or_else(|| snapshot.unknown(snapshot.logical_clouds_near(name)))
        };
        match found {
            Ok(found) => found.map_err(UnknownInstance::error),
            Err(unknown) => Err(unknown.error("logical-cloud", name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::samples::{FIRST, SECOND, app, context, id, record};
    use crate::view::ContextView;

    fn cloud(name: &str) -> LogicalCloudName {
        LogicalCloudName::new("testvfw", name).unwrap()
    }

    fn model() -> ReadModel {
        let model = ReadModel::default();
        let actions = [
            ("Created", "", "2022-10-01T10:00:00Z"),
            ("Instantiated", FIRST, "2022-10-01T10:01:00Z"),
        ];
        for (name, actions) in [("lc1", &actions[..]), ("lc2", &actions[..1])] {
            model.publish_logical_cloud(&cloud(name), Some(record(None, actions)));
        }
        let view = ContextView {
            meta: None,
            ..context(
                FIRST,
                "Instantiated",
                vec![app("logical-cloud", Vec::new())],
            )
        };
        model.publish_context(&id(FIRST), Some(view));
        model
    }

    fn ask(model: &ReadModel, name: &str, pairs: &[(&str, &str)]) -> Result<Value, QueryError> {
        let query = StatusQuery::parse(pairs.iter().copied()).unwrap();
        let subject = model.logical_cloud(&cloud(name), &query)?;
        Ok(serde_json::to_value(subject.answer(&query)?).unwrap())
    }

    #[test]
    fn a_logical_cloud_is_answered_by_its_project_and_name() {
        let model = model();
        let answer = ask(&model, "lc1", &[]).unwrap();
        let told = [
            "project",
            "logical-cloud",
            "name",
            "status",
            "composite-app-name",
        ];
        assert_eq!(
            told.map(|it| answer[it].clone()),
            [
                json!("testvfw"),
                json!("lc1"),
                json!("lc1"),
                json!("Instantiated"),
                Value::Null
            ]
        );
        assert_eq!(answer["state"]["Actions"][1]["ContextId"], FIRST);
        let created = ask(&model, "lc2", &[]).unwrap();
        assert_eq!(created["message"], "it was never instantiated");
        assert_eq!(
            ask(&model, "lc1", &[("instance", "")]).unwrap(),
            json!({"project": "testvfw", "logical-cloud": "lc1", "name": "lc1", "instances": [FIRST]})
        );
    }

    #[test]
    fn one_that_does_not_exist_is_refused_with_those_of_its_project() {
        let model = model();
        let other = LogicalCloudName::new("other", "lc").unwrap();
        model.publish_logical_cloud(&other, Some(record(None, &[])));
        let QueryError::NotFound(problems) = ask(&model, "lc3", &[]).unwrap_err() else {
            panic!("its name is valid");
        };
        assert_eq!(problems[0].expected, "one of `testvfw/lc1`, `testvfw/lc2`");
        let error = ask(&model, "lc1", &[("instance", SECOND)]).unwrap_err();
        assert!(matches!(error, QueryError::NotFound(it) if it[0].parameter == "instance"));
        model.publish_logical_cloud(&cloud("lc1"), None);
        assert!(ask(&model, "lc1", &[]).is_err());
    }

    #[test]
    fn who_follows_one_is_told_of_its_record_and_its_context_alone() {
        let model = model();
        let query = StatusQuery::default();
        let subject = model.logical_cloud(&cloud("lc1"), &query).unwrap();
        let of = |name: &str| ChangedSubject::LogicalCloud(cloud(name));
        assert!(subject.is_concerned_by(&of("lc1")));
        assert!(!subject.is_concerned_by(&of("lc2")));
        assert!(subject.is_concerned_by(&ChangedSubject::Context(id(FIRST))));
        assert!(!subject.is_concerned_by(&ChangedSubject::Context(id(SECOND))));
    }
}
