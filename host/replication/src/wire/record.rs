//! Records of lifecycle actions.

use std::sync::Arc;

use kindsight_model::{ContextId, LifecycleState, LogicalCloudName, RecordSubject};
use kindsight_status::{ActionView, RecordView};
use serde::{Deserialize, Serialize};

use super::error::WireError;

/// The record of a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RecordLine {
    kind: SubjectKind,
    /// The full name of the subject.
    name: String,
    /// The record; left out for a subject that does not exist any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<WireRecord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SubjectKind {
    Group,
    Cluster,
    LogicalCloud,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct WireRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status_context: Option<String>,
    actions: Vec<WireAction>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    own: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct WireAction {
    state: LifecycleState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    time: Arc<str>,
    revision: i64,
}

impl RecordLine {
    /// The form on the wire of a record; `None` for a subject that does not exist any more.
    pub(crate) fn of(subject: &RecordSubject, record: Option<&RecordView>) -> Self {
        let (kind, name) = match subject {
            RecordSubject::Group(name) => (SubjectKind::Group, name.to_string()),
            RecordSubject::Cluster(name) => (SubjectKind::Cluster, name.to_string()),
            RecordSubject::LogicalCloud(name) => (SubjectKind::LogicalCloud, name.to_string()),
        };
        Self {
            kind,
            name,
            record: record.map(WireRecord::of),
        }
    }

    /// The subject and its record.
    pub(crate) fn read(self) -> Result<(RecordSubject, Option<RecordView>), WireError> {
        let subject = match self.kind {
            SubjectKind::Group => self.name.parse().ok().map(RecordSubject::Group),
            SubjectKind::Cluster => self.name.parse().ok().map(RecordSubject::Cluster),
            SubjectKind::LogicalCloud => {
                let parts = self.name.split_once('/');
                let name =
                    parts.and_then(|(project, name)| LogicalCloudName::new(project, name).ok());
                name.map(RecordSubject::LogicalCloud)
            }
        };
        let subject = subject.ok_or_else(|| WireError::name("the subject", &self.name))?;
        Ok((subject, self.record.map(WireRecord::read).transpose()?))
    }
}

impl WireRecord {
    fn of(record: &RecordView) -> Self {
        let actions = record.actions.iter().map(|action| WireAction {
            state: action.state,
            instance: action.instance.as_ref().map(ContextId::to_string),
            time: Arc::clone(&action.time),
            revision: action.revision,
        });
        Self {
            profile: record.profile.clone(),
            status_context: record.status_context.as_ref().map(ContextId::to_string),
            actions: actions.collect(),
            own: record.is_own,
        }
    }

    fn read(self) -> Result<RecordView, WireError> {
        let id = |text: String| {
            let id = text.parse::<ContextId>();
            id.map_err(|_| WireError::name("the context", &text))
        };
        let actions = self.actions.into_iter().map(|action| {
            Ok::<_, WireError>(ActionView {
                state: action.state,
                instance: action.instance.map(id).transpose()?,
                time: action.time,
                revision: action.revision,
            })
        });
        Ok(RecordView {
            profile: self.profile,
            status_context: self.status_context.map(id).transpose()?,
            actions: actions.collect::<Result<_, _>>()?,
            is_own: self.own,
        })
    }
}
