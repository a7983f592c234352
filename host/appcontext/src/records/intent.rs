//! Intents of deployment intent groups and clusters: the apps, their clusters and their manifests.
//!
//! An intent has a key of its own, because lists of records must not read all manifests.

use std::collections::BTreeMap;

use kindsight_model::{ClusterName, RecordSubject};
use kindsight_store::Batch;
use serde::{Deserialize, Serialize};

use super::{Record, Records, VersionedValue, encode};
use crate::{Result, keys};

/// The version of intents that this release writes.
pub const INTENT_VERSION: u64 = 1;

/// The app of the network intents of a cluster.
pub const NETWORK_INTENTS: &str = "network-intents";

/// The content of a deployment intent group, or the network intents of a cluster: then one app. Not `Debug`, because manifests can be Secrets.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Intent {
    /// The apps, in the order of their instantiation.
    pub apps: Vec<IntentApp>,
    /// The names of the intents that controllers receive, by the names of the controllers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub controllers: BTreeMap<String, String>,
    /// True if the content of an instantiated group was replaced and not approved since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unapproved: bool,
    /// True if the resources of a revision overwrite the fields of other managers. Only in the content of a revision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// A random word that changes with the content and the profile. Empty in a content of an earlier release.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag: String,
}

/// The condition of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntentCondition {
    /// Every resource was applied.
    Applied,
    /// Every resource is ready, according to its interpreter.
    Ready,
}

/// An app that another app waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentDependency {
    /// The app.
    pub app: String,
    /// The condition.
    pub condition: IntentCondition,
    /// The time to wait after the condition is met, in seconds.
    pub wait_seconds: u32,
}

/// A resource that waits for another resource of the same app in the same cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceDependsOn {
    /// The resource that waits, as `<name>+<Kind>`.
    pub resource: String,
    /// The other resource, as `<name>+<Kind>`.
    pub on: String,
    /// The condition.
    pub condition: IntentCondition,
    /// The time to wait after the condition is met, in seconds.
    pub wait_seconds: u32,
}

/// An app of a deployment intent group.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentApp {
    /// The name.
    pub name: String,
    /// The clusters that it is sent to.
    #[serde(with = "clusters")]
    pub clusters: Vec<ClusterName>,
    /// Groups of clusters. The app is sent to one cluster of each group.
    #[serde(default, with = "groups", skip_serializing_if = "Vec::is_empty")]
    pub any_of: Vec<Vec<ClusterName>>,
    /// The manifests, as YAML with one object each, in the order of their application.
    pub manifests: Vec<String>,
    /// The apps that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<IntentDependency>,
    /// The resources that wait for other resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_dependencies: Vec<ResourceDependsOn>,
}

mod groups {
    use kindsight_model::ClusterName;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        groups: &[Vec<ClusterName>],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let names = |group: &Vec<ClusterName>| group.iter().map(ToString::to_string).collect();
        to.collect_seq(groups.iter().map(names).collect::<Vec<Vec<String>>>())
    }

    pub(super) fn deserialize<'d, D>(from: D) -> Result<Vec<Vec<ClusterName>>, D::Error>
    where
        D: Deserializer<'d>,
    {
        let groups = Vec::<Vec<String>>::deserialize(from)?;
        let parsed = |group: &Vec<String>| group.iter().map(|name| name.parse()).collect();
        let groups = groups.iter().map(parsed);
        groups.collect::<Result<_, _>>().map_err(D::Error::custom)
    }
}

mod clusters {
    use kindsight_model::ClusterName;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        clusters: &[ClusterName],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(clusters.iter().map(ToString::to_string))
    }

    pub(super) fn deserialize<'d, D>(from: D) -> Result<Vec<ClusterName>, D::Error>
    where
        D: Deserializer<'d>,
    {
        let names = Vec::<String>::deserialize(from)?;
        let names = names.iter().map(|name| name.parse());
        names.collect::<Result<_, _>>().map_err(D::Error::custom)
    }
}

impl VersionedValue for Intent {
    const VERSION: u64 = INTENT_VERSION;
}

impl Records {
    /// Reads the intent of a subject; none if the subject does not exist, or was recorded without an intent.
    ///
    /// # Errors
    /// As [`Records::get`].
    pub fn intent(&self, subject: impl Into<RecordSubject>) -> Result<Option<Intent>> {
        self.read(&keys::intent(&subject.into()))
    }

    /// Creates the record of a subject and its intent, both or neither.
    ///
    /// # Errors
    /// [`Conflict`](kindsight_store::Error::Conflict) when there is a record or an intent already,
    /// [`TooLarge`](kindsight_store::Error::TooLarge) for an intent over the limit of the store.
    pub fn create_with_intent(
        &self,
        subject: impl Into<RecordSubject>,
        record: &Record,
        intent: &Intent,
    ) -> Result<()> {
        let subject = subject.into();
        let (record_key, intent_key) = (keys::record(&subject), keys::intent(&subject));
        let batch = Batch::new().absent(&record_key).absent(&intent_key);
        let batch = batch.put(record_key, encode(record)?);
        self.store.apply(&batch.put(intent_key, encode(intent)?))?;
        Ok(())
    }

    /// Replaces the record and the intent of a subject, if the record is still as `seen`.
    ///
    /// # Errors
    /// [`Conflict`](kindsight_store::Error::Conflict) when the record is not as `seen` any more: read again, decide
    /// again. [`TooLarge`](kindsight_store::Error::TooLarge) as for [`Records::create_with_intent`].
    pub fn replace_with_intent(
        &self,
        subject: impl Into<RecordSubject>,
        seen: &Record,
        next: &Record,
        intent: &Intent,
    ) -> Result<()> {
        let subject = subject.into();
        let key = keys::record(&subject);
        let stored = self.stored_as_seen(&key, seen)?;
        let batch = Batch::new().equals(&key, stored);
        let batch = batch.put(key, encode(next)?);
        self.store
            .apply(&batch.put(keys::intent(&subject), encode(intent)?))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;
    use kindsight_model::DigName;
    use kindsight_store::{Error as StoreError, RedbStore, Store};

    use super::*;
    use crate::Error;

    fn name() -> DigName {
        DigName::new("p", "shop", "v1", "prod").unwrap()
    }

    fn intent(manifest: &str) -> Intent {
        Intent {
            apps: vec![IntentApp {
                name: "front".to_owned(),
                clusters: vec!["lab+a".parse().unwrap(), "lab+b".parse().unwrap()],
                manifests: vec![manifest.to_owned()],
                any_of: Vec::new(),
                depends_on: Vec::new(),
                resource_dependencies: Vec::new(),
            }],
            controllers: BTreeMap::new(),
            unapproved: false,
            force: false,
            tag: String::new(),
        }
    }

    #[test]
    fn an_intent_is_stored_with_its_version_beside_the_record() {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
        let records = Records::new(Arc::clone(&store));
        let record = Record::default();
        let written = intent("kind: ConfigMap\n");
        records
            .create_with_intent(&name(), &record, &written)
            .unwrap();
        let stored = store.get("/kindsight/intents/p/shop/v1/prod/").unwrap();
        let stored = String::from_utf8(stored.unwrap()).unwrap();
        expect![[r#"{"version":1,"apps":[{"name":"front","clusters":["lab+a","lab+b"],"manifests":["kind: ConfigMap\n"]}]}"#]]
        .assert_eq(&stored);
        assert!(records.intent(&name()).unwrap() == Some(written));
        records.delete(&name(), &record).unwrap();
        assert!(records.intent(&name()).unwrap().is_none());
        assert!(records.get(&name()).unwrap().is_none());
    }

    #[test]
    fn an_intent_is_replaced_only_with_the_record_that_was_seen() {
        let records = Records::new(Arc::new(RedbStore::in_memory().unwrap()));
        let (first, second) = (intent("a: 1"), intent("a: 2"));
        let record = Record::default();
        records
            .create_with_intent(&name(), &record, &first)
            .unwrap();
        let is_conflict = |done: Result<()>| {
            assert!(matches!(
                done,
                Err(Error::Store(StoreError::Conflict { .. }))
            ));
        };
        is_conflict(records.create_with_intent(&name(), &record, &second));
        let other = Record {
            profile: Some("other".to_owned()),
            ..Record::default()
        };
        is_conflict(records.replace_with_intent(&name(), &other, &other, &second));
        assert!(records.intent(&name()).unwrap() == Some(first));
        records
            .replace_with_intent(&name(), &record, &other, &second)
            .unwrap();
        assert!(records.intent(&name()).unwrap() == Some(second));
        assert_eq!(records.get(&name()).unwrap(), Some(other));
    }

    #[test]
    fn an_intent_of_a_newer_release_is_not_used() {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
        let newer = Batch::new().put(
            keys::intent(&RecordSubject::from(&name())),
            r#"{"version":2,"apps":[]}"#,
        );
        store.apply(&newer).unwrap();
        let error = Records::new(store).intent(&name()).err().unwrap();
        assert!(matches!(error, Error::UnknownVersion { found: 2, .. }));
    }
}
