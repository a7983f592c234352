//! The meta of a context: the names of its group, application and environment.

use kindsight_model::{ContextId, DigName, RecordSubject};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::members::Members;

/// The text that the reference writes for a field that it did not find.
const NO_VALUE: &str = "<nil>";

/// The deployment intent group and environment of a context, stored under the field names of the
/// reference.
///
/// No field is part of a key, so the fields are not checked. A field that is absent, `null` or `<nil>` is
/// empty. If a meta is read and written back, these fields and all unknown fields keep their stored
/// form.
#[derive(Debug, Clone, Default)]
pub struct ContextMeta {
    /// The project.
    pub project: String,
    /// The composite application.
    pub composite_app: String,
    /// The version of the composite application.
    pub version: String,
    /// The release name that its templates were rendered with.
    pub release: String,
    /// The deployment intent group.
    pub dig: String,
    /// The namespace that its resources go to.
    pub namespace: String,
    /// The level of its logical cloud; `0` is the cluster itself.
    pub level: String,
    /// The ids of contexts that were instantiated for this one.
    pub child_context_ids: Vec<String>,
    /// The logical cloud that it instantiates or is deployed to; empty where a writer knows none.
    pub logical_cloud: String,
    /// The namespace of that logical cloud.
    pub logical_cloud_namespace: String,
    /// The level of that logical cloud.
    pub logical_cloud_level: String,
    /// The meta as it was stored, with the fields that are not known here; empty in a new one.
    pub stored: Members,
}

const PROJECT: &str = "Project";
const COMPOSITE_APP: &str = "CompositeApp";
const VERSION: &str = "Version";
const RELEASE: &str = "Release";
const DIG: &str = "DeploymentIntentGroup";
const NAMESPACE: &str = "Namespace";
const LEVEL: &str = "Level";
const CHILDREN: &str = "ChildContextIDs";
const LOGICAL_CLOUD: &str = "LogicalCloud";
const LOGICAL_CLOUD_NAMESPACE: &str = "LogicalCloudNamespace";
const LOGICAL_CLOUD_LEVEL: &str = "LogicalCloudLevel";

/// The fields that a new meta has also where they are empty.
const ALWAYS: [&str; 7] = [
    PROJECT,
    COMPOSITE_APP,
    VERSION,
    RELEASE,
    DIG,
    NAMESPACE,
    LEVEL,
];

impl ContextMeta {
    /// Makes the meta of a deployment intent group: namespace `default`, level `0`, no release
    /// name.
    pub fn of_dig(name: &DigName) -> Self {
        Self {
            project: name.project.to_string(),
            composite_app: name.composite_app.to_string(),
            version: name.version.to_string(),
            dig: name.dig.to_string(),
            namespace: "default".to_owned(),
            level: "0".to_owned(),
            ..Self::default()
        }
    }

    /// Makes the meta of a subject. The meta of a cluster or a logical cloud names nothing.
    pub fn of(subject: &RecordSubject) -> Self {
        match subject {
            RecordSubject::Group(name) => Self::of_dig(name),
            RecordSubject::Cluster(_) | RecordSubject::LogicalCloud(_) => Self::default(),
        }
    }

    /// The unknown fields, in their stored order.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, &str)> {
        let known =
            |name: &&str| *name == CHILDREN || self.texts().iter().any(|text| text.0 == *name);
        let names = self.stored.names().filter(move |name| !known(name));
        names.filter_map(|name| Some((name, self.stored.json(name)?)))
    }

    fn texts(&self) -> [(&'static str, &str); 10] {
        [
            (PROJECT, &self.project),
            (COMPOSITE_APP, &self.composite_app),
            (VERSION, &self.version),
            (RELEASE, &self.release),
            (DIG, &self.dig),
            (NAMESPACE, &self.namespace),
            (LEVEL, &self.level),
            (LOGICAL_CLOUD, &self.logical_cloud),
            (LOGICAL_CLOUD_NAMESPACE, &self.logical_cloud_namespace),
            (LOGICAL_CLOUD_LEVEL, &self.logical_cloud_level),
        ]
    }

    /// The ids of contexts that were instantiated for this one; what is no id is passed over.
    pub fn children(&self) -> Vec<ContextId> {
        let ids = self.child_context_ids.iter();
        ids.filter_map(|id| id.parse().ok()).collect()
    }

    fn stored_children(stored: &Members) -> Result<Vec<String>, String> {
        if is_no_value(stored, CHILDREN) {
            return Ok(Vec::new());
        }
        Ok(stored.get(CHILDREN)?.unwrap_or_default())
    }

    /// The members to store: the stored members, with the changed fields.
    fn members(&self) -> crate::Result<Members> {
        let mut members = self.stored.clone();
        let is_new = members.is_empty();
        for (name, text) in self.texts() {
            let is_stored = text_of(&members, name).is_ok_and(|stored| stored == text);
            if !is_stored || (is_new && ALWAYS.contains(&name)) {
                members.set(name, text)?;
            }
            if name == LEVEL {
                self.set_children(&mut members, is_new)?;
            }
        }
        Ok(members)
    }

    /// Sets the list of children; an empty one is `null`, as Go writes it.
    fn set_children(&self, members: &mut Members, is_new: bool) -> crate::Result<()> {
        let list = &self.child_context_ids;
        if is_new || Self::stored_children(members).as_ref() != Ok(list) {
            members.set(CHILDREN, &(!list.is_empty()).then_some(list))?;
        }
        Ok(())
    }
}

/// A text. Empty if the field is absent.
fn text_of(stored: &Members, name: &str) -> Result<String, String> {
    if is_no_value(stored, name) {
        return Ok(String::new());
    }
    Ok(stored.get(name)?.unwrap_or_default())
}

fn is_no_value(stored: &Members, name: &str) -> bool {
    let text = stored.get::<String>(name);
    matches!(text, Ok(Some(text)) if text == NO_VALUE)
}

impl PartialEq for ContextMeta {
    /// Compares what is said, not how it was stored.
    fn eq(&self, other: &Self) -> bool {
        self.texts() == other.texts()
            && self.child_context_ids == other.child_context_ids
            && self.unknown().eq(other.unknown())
    }
}

impl Eq for ContextMeta {}

impl Serialize for ContextMeta {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let members = self.members().map_err(serde::ser::Error::custom)?;
        members.serialize(to)
    }
}

impl<'de> Deserialize<'de> for ContextMeta {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let stored = Members::deserialize(from)?;
        let text = |name| text_of(&stored, name).map_err(de::Error::custom);
        Ok(Self {
            project: text(PROJECT)?,
            composite_app: text(COMPOSITE_APP)?,
            version: text(VERSION)?,
            release: text(RELEASE)?,
            dig: text(DIG)?,
            namespace: text(NAMESPACE)?,
            level: text(LEVEL)?,
            child_context_ids: Self::stored_children(&stored).map_err(de::Error::custom)?,
            logical_cloud: text(LOGICAL_CLOUD)?,
            logical_cloud_namespace: text(LOGICAL_CLOUD_NAMESPACE)?,
            logical_cloud_level: text(LOGICAL_CLOUD_LEVEL)?,
            stored,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::go_json;

    fn read(json: &str) -> ContextMeta {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_was_stored_is_written_back_as_it_was() {
        for json in [
            r#"{"Project":"p","CompositeApp":"a","Version":"v1","Release":"r","DeploymentIntentGroup":"d"}"#,
            r#"{"Version":"v1","Namespace":"<nil>","Level":null,"ChildContextIDs":"<nil>","LogicalCloud":"lc","services":[{"a":1.0}]}"#,
        ] {
            assert_eq!(go_json::encode(&read(json)).unwrap(), json);
        }
    }

    #[test]
    fn no_value_is_read_as_absent() {
        let meta =
            read(r#"{"Project":"p","Namespace":"<nil>","Level":null,"ChildContextIDs":null}"#);
        let project = ContextMeta {
            project: "p".to_owned(),
            ..ContextMeta::default()
        };
        assert_eq!(meta, project);
    }

    #[test]
    fn a_changed_field_leaves_the_others_as_they_were() {
        let mut meta =
            read(r#"{"Project":"p","Level":"<nil>","LogicalCloud":"lc","x":{"y":[1e3]}}"#);
        assert_eq!(
            meta.unknown().collect::<Vec<_>>(),
            [("x", r#"{"y":[1e3]}"#)]
        );
        meta.project = "q".to_owned();
        meta.child_context_ids = vec!["8".to_owned()];
        assert_eq!(
            go_json::encode(&meta).unwrap(),
            r#"{"Project":"q","Level":"<nil>","LogicalCloud":"lc","x":{"y":[1e3]},"ChildContextIDs":["8"]}"#
        );
    }

    #[test]
    fn a_field_that_is_no_text_is_refused() {
        assert!(serde_json::from_str::<ContextMeta>(r#"{"Project":1}"#).is_err());
        assert!(serde_json::from_str::<ContextMeta>("[]").is_err());
    }
}
