//! One write of a report: the requests, in an order that no reader mistakes for a mixture.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock};

use kindsight_clusters::{ApiAnswer, ApiRequest, ApiServer, ApiVerb, ObjectError, StateMetadata};
use kindsight_model::{
    BundlePart, BundleWrite, Digest, EncodedBundle, StoredBundle, status_digest,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::parts::{OwnPart, StoredParts};
use crate::state_name::StateName;
use crate::target::MONITOR;

/// Name under which the monitor owns fields.
pub(crate) const FIELD_MANAGER: &str = "kindsight-monitor";

/// Hashes statuses to recognize an unchanged report. Each process has its own seed, because clusters choose the statuses.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The content of a ResourceBundleState, as far as its writer needs it.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// Its version.
    pub(crate) version: Arc<str>,
    /// The fingerprint of the status that was written; none if the status has another content.
    pub(crate) fingerprint: Option<u64>,
    /// The digest of the stored status; none if it is not known.
    pub(crate) digest: Option<Digest>,
    /// Time of the last change of its status by this monitor, as the API server writes it; empty if it is not known.
    pub(crate) status_time: String,
    /// The further objects of its report by their names; empty if they are not known.
    pub(crate) parts: BTreeMap<String, OwnPart>,
}

/// A write of a report into one ResourceBundleState.
pub(crate) struct WriteJob {
    pub(crate) state: StateName,
    pub(crate) uid: Arc<str>,
    pub(crate) bundle: EncodedBundle,
    pub(crate) known: Option<Known>,
    /// The annotations of the monitor before the write.
    pub(crate) present: BTreeMap<String, String>,
    /// The monitor that claims the object after the write.
    pub(crate) claimed_by: String,
    /// The objects that continue the previous report.
    pub(crate) parts: StoredParts,
}

/// The result of a write.
pub(crate) struct Done {
    pub(crate) state: StateName,
    pub(crate) uid: Arc<str>,
    pub(crate) result: Result<Known, WriteError>,
    pub(crate) annotations: BTreeMap<String, String>,
    /// The further objects that the write made.
    pub(crate) parts: Vec<StateMetadata>,
    /// The versions that the write made.
    pub(crate) versions: Vec<Arc<str>>,
    /// Number of bytes that were sent.
    pub(crate) bytes: usize,
}

/// The reason why a report was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WriteError {
    /// Another client changed the object since its last version.
    #[error("another client changed the object at the same time")]
    Conflict,
    /// The object does not exist any more.
    #[error("the object does not exist any more")]
    Missing,
    /// The API server refuses the write.
    #[error("the API server refuses it: {0}")]
    Refused(String),
    /// The API server cannot be reached, or asks for another attempt.
    #[error("{0}")]
    Unreachable(String),
}

impl From<ObjectError> for WriteError {
    fn from(error: ObjectError) -> Self {
        match error {
            ObjectError::Refused(why) => Self::Refused(why),
            ObjectError::Unreachable(why) => Self::Unreachable(why),
        }
    }
}

impl WriteError {
    /// The error for an answer that is no success.
    pub(crate) fn of(answer: &ApiAnswer) -> Self {
        let ApiAnswer { code, message, .. } = answer;
        let text = format!("it answers {code}: {message}");
        match code {
            404 => Self::Missing,
            409 => Self::Conflict,
            408 | 429 | 500.. => Self::Unreachable(text),
            _ => Self::Refused(text),
        }
    }
}

impl WriteJob {
    /// Runs the write. Each request names the version that it replaces.
    pub(crate) async fn run(self, server: Arc<ApiServer>) -> Done {
        let mut progress = Progress {
            server,
            present: self.present.clone(),
            parts: BTreeMap::new(),
            versions: Vec::new(),
            bytes: 0,
        };
        let result = self.write(&mut progress).await;
        let parts = progress.parts.into_values();
        Done {
            state: self.state,
            uid: self.uid,
            result,
            annotations: progress.present,
            parts: parts.map(|(_, state)| state).collect(),
            versions: progress.versions,
            bytes: progress.bytes,
        }
    }

    async fn write(&self, progress: &mut Progress) -> Result<Known, WriteError> {
        let mut known = match &self.known {
            Some(known) => known.clone(),
            None => self.read(progress).await?,
        };
        if progress.present.get(MONITOR) != Some(&self.claimed_by) {
            let claim = [(MONITOR.to_owned(), self.claimed_by.clone())];
            self.annotate(claim.into(), &mut known, progress).await?;
        }
        let stored = StoredBundle {
            annotations: progress.present.clone(),
            is_status_current: known.fingerprint == Some(self.fingerprint()),
            status: known.digest.clone(),
            parts: self.parts.intact.keys().cloned().collect(),
            damaged: self.parts.damaged.clone(),
        };
        for write in self.bundle.writes(&stored) {
            match write {
                BundleWrite::Part(part) => self.write_part(part, progress).await?,
                BundleWrite::Annotations(annotations) => {
                    self.annotate(annotations, &mut known, progress).await?;
                }
                BundleWrite::Status(status) => {
                    known = self.write_status(status, &known, progress).await?;
                }
                BundleWrite::AnnotationsOfStatus => {
                    let annotations = self.bundle.annotations(known.digest.as_ref());
                    self.annotate(annotations, &mut known, progress).await?;
                }
                BundleWrite::Delete(name) => self.delete_part(&name, progress).await?,
            }
        }
        known.parts = self.own_parts(progress);
        Ok(known)
    }

    /// The further objects of the report after the write.
    fn own_parts(&self, progress: &Progress) -> BTreeMap<String, OwnPart> {
        let names = self.bundle.further.iter().map(|part| &part.name);
        let own = names.filter_map(|name| {
            let own = match progress.parts.get(name) {
                Some((created, state)) => OwnPart {
                    version: Arc::clone(&state.version),
                    created: Some(Arc::clone(created)),
                },
                None => OwnPart {
                    version: Arc::clone(self.parts.intact.get(name)?),
                    created: None,
                },
            };
            Some((name.clone(), own))
        });
        own.collect()
    }

    fn fingerprint(&self) -> u64 {
        HASHER.hash_one(&self.bundle.first.status)
    }

    /// Reads the object, and compares its status with the report.
    async fn read(&self, progress: &mut Progress) -> Result<Known, WriteError> {
        let answer = progress
            .request(ApiVerb::Get, &self.state.path(), "", false)
            .await?;
        let metadata = read_metadata(&answer)?;
        if metadata.uid != self.uid {
            return Err(WriteError::Missing);
        }
        let status = status_of(&answer);
        let is_same = status.is_some_and(|status| is_equal(status, &self.bundle.first.status));
        progress.present.clone_from(&metadata.annotations);
        Ok(Known {
            fingerprint: is_same.then(|| self.fingerprint()),
            digest: status.map(status_digest),
            status_time: status_time(&metadata),
            version: metadata.version,
            parts: BTreeMap::new(),
        })
    }

    /// Merges annotations into the annotations of the object.
    async fn annotate(
        &self,
        annotations: BTreeMap<String, String>,
        known: &mut Known,
        progress: &mut Progress,
    ) -> Result<(), WriteError> {
        let body = json!({"metadata": {
            "uid": &*self.uid, "resourceVersion": &*known.version, "annotations": annotations,
        }});
        let path = with_manager(&self.state.path());
        let written = progress
            .change(ApiVerb::Merge, &path, &body.to_string())
            .await?;
        known.version = written.version;
        progress.present.extend(annotations);
        Ok(())
    }

    /// Replaces the status of the object.
    async fn write_status(
        &self,
        status: &str,
        known: &Known,
        progress: &mut Progress,
    ) -> Result<Known, WriteError> {
        let path = with_manager(&format!("{}/status", self.state.path()));
        let body = self.status_body(&self.state.name, &known.version, status);
        // Only the annotations of a report in several objects need the digest of the stored status.
        let is_metadata_enough = self.bundle.further.is_empty();
        let answer = progress
            .request(ApiVerb::Replace, &path, &body, is_metadata_enough)
            .await?;
        let written = progress.note(&answer)?;
        Ok(Known {
            fingerprint: Some(self.fingerprint()),
            digest: status_of(&answer).map(status_digest),
            status_time: status_time(&written),
            version: written.version,
            parts: BTreeMap::new(),
        })
    }

    /// Creates an object that continues the report, with the first object as its owner, and writes its status.
    async fn write_part(
        &self,
        part: &BundlePart,
        progress: &mut Progress,
    ) -> Result<(), WriteError> {
        let name = self.part_name(&part.name);
        let mut body = part.manifest(&name.namespace);
        let owners = json!([{
            "apiVersion": "k8splugin.io/v1alpha1", "kind": "ResourceBundleState",
            "name": &*self.state.name, "uid": &*self.uid,
        }]);
        if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("ownerReferences".to_owned(), owners);
        }
        let path = format!("{}&force=true", with_manager(&name.path()));
        let made = progress
            .change(ApiVerb::Apply, &path, &body.to_string())
            .await?;
        let body = self.status_body(&name.name, &made.version, &part.status);
        let path = with_manager(&format!("{}/status", name.path()));
        let written = progress.change(ApiVerb::Replace, &path, &body).await?;
        let made = (made.version, written);
        progress.parts.insert(part.name.clone(), made);
        Ok(())
    }

    /// Deletes an object that continued the previous report.
    async fn delete_part(&self, name: &str, progress: &mut Progress) -> Result<(), WriteError> {
        let path = self.part_name(name).path();
        match progress.request(ApiVerb::Delete, &path, "", true).await {
            Ok(_) | Err(WriteError::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn part_name(&self, name: &str) -> StateName {
        StateName {
            namespace: Arc::clone(&self.state.namespace),
            name: name.into(),
        }
    }

    /// The body of a request that replaces a status. The API server ignores everything except the status and the
    /// version.
    fn status_body(&self, name: &str, version: &str, status: &str) -> String {
        let metadata = json!({"name": name, "namespace": &*self.state.namespace,
            "resourceVersion": version});
        format!(
            r#"{{"apiVersion":"k8splugin.io/v1alpha1","kind":"ResourceBundleState","metadata":{metadata},"status":{status}}}"#
        )
    }
}

/// The requests of a write so far.
struct Progress {
    server: Arc<ApiServer>,
    /// The annotations of the monitor at present.
    present: BTreeMap<String, String>,
    /// The written further objects by their names, each with its version before its status was written.
    parts: BTreeMap<String, (Arc<str>, StateMetadata)>,
    versions: Vec<Arc<str>>,
    bytes: usize,
}

impl Progress {
    /// Sends a change, and returns the metadata of the changed object.
    async fn change(
        &mut self,
        verb: ApiVerb,
        path: &str,
        body: &str,
    ) -> Result<StateMetadata, WriteError> {
        let answer = self.request(verb, path, body, true).await?;
        self.note(&answer)
    }

    /// The metadata in the answer to a change, whose version is then known as an own version.
    fn note(&mut self, answer: &[u8]) -> Result<StateMetadata, WriteError> {
        let metadata = read_metadata(answer)?;
        self.versions.push(Arc::clone(&metadata.version));
        Ok(metadata)
    }

    /// The body of a successful answer.
    async fn request(
        &mut self,
        verb: ApiVerb,
        path: &str,
        body: &str,
        is_metadata_enough: bool,
    ) -> Result<Vec<u8>, WriteError> {
        self.bytes = self.bytes.saturating_add(body.len());
        let request = ApiRequest {
            verb,
            path,
            is_metadata_enough,
            body,
        };
        let answer = self.server.send(&request).await?;
        if answer.is_success() {
            Ok(answer.body)
        } else {
            Err(WriteError::of(&answer))
        }
    }
}

fn read_metadata(answer: &[u8]) -> Result<StateMetadata, WriteError> {
    let unreadable = || WriteError::Unreachable("its answer cannot be read".to_owned());
    StateMetadata::read(answer).ok_or_else(unreadable)
}

fn with_manager(path: &str) -> String {
    format!("{path}?fieldManager={FIELD_MANAGER}")
}

/// The time of the last change of a status by this monitor; empty if there is none.
fn status_time(metadata: &StateMetadata) -> String {
    let managers = metadata.status_managers.iter();
    let own = managers.filter(|manager| manager.name == FIELD_MANAGER);
    own.map(|manager| manager.time.clone())
        .max()
        .unwrap_or_default()
}

/// The text of the status in an object; none if there is no status.
fn status_of(object: &[u8]) -> Option<&str> {
    #[derive(Deserialize)]
    struct WithStatus<'j> {
        #[serde(borrow)]
        status: Option<&'j RawValue>,
    }
    let object: WithStatus<'_> = serde_json::from_slice(object).ok()?;
    object.status.map(RawValue::get)
}

/// Returns whether two texts are the same JSON.
fn is_equal(left: &str, right: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    value(left).is_some_and(|left| Some(left) == value(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_compared_by_its_content() {
        let object = br#"{"metadata":{},"status":{"b":[1],"a":{"x":"y"}}}"#;
        let status = status_of(object).unwrap();
        assert!(is_equal(status, r#"{"a": {"x": "y"}, "b": [1]}"#));
        assert!(!is_equal(status, r#"{"a": {"x": "y"}, "b": []}"#));
        assert!(status_of(b"{}").is_none() && status_of(br#"{"status":null}"#).is_none());
    }

    #[test]
    fn an_answer_is_repeated_refused_or_a_conflict() {
        let answer = |code| {
            WriteError::of(&ApiAnswer {
                code,
                body: Vec::new(),
                message: "why".to_owned(),
            })
        };
        assert_eq!(answer(409), WriteError::Conflict);
        assert_eq!(answer(404), WriteError::Missing);
        assert!(matches!(answer(503), WriteError::Unreachable(_)));
        assert!(matches!(answer(422), WriteError::Refused(why) if why.contains("why")));
    }
}
