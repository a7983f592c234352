//! The subjects of events.

use std::fmt;
use std::sync::Arc;

use kindsight_api::notify::TransitionSubject;
use kindsight_model::{ClusterName, DigName, SubjectSet};
use kindsight_status::ResourceId;
use serde::{Deserialize, Serialize};

/// The subject of an event: its identity, without versions. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Subject {
    /// An application.
    Application(#[serde(with = "text")] DigName),
    /// A resource of an application.
    Resource(Arc<ResourceSubject>),
    /// The connection to a cluster.
    Connection(#[serde(with = "text")] ClusterName),
}

/// A resource of an application, in one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ResourceSubject {
    #[serde(with = "text")]
    pub(crate) application: DigName,
    pub(crate) app: Arc<str>,
    #[serde(with = "text")]
    pub(crate) cluster: ClusterName,
    pub(crate) group: Arc<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl Subject {
    /// The subject of a transition of a resource of an application.
    pub(crate) fn resource(application: &DigName, id: &ResourceId) -> Self {
        Self::Resource(Arc::new(ResourceSubject {
            application: application.clone(),
            app: Arc::clone(&id.app),
            cluster: id.cluster.clone(),
            group: Arc::clone(&id.gvk.group),
            kind: Arc::clone(&id.gvk.kind),
            namespace: Arc::clone(&id.namespace),
            name: Arc::clone(&id.name),
        }))
    }

    /// Returns whether a reader who may see these subjects may see it.
    pub(crate) fn is_in(&self, visible: &SubjectSet) -> bool {
        match self {
            Self::Application(name) => visible.has_application(name),
            Self::Resource(resource) => visible.has_application(&resource.application),
            Self::Connection(cluster) => visible.has_cluster(cluster),
        }
    }

    pub(crate) fn kind(&self) -> TransitionSubject {
        match self {
            Self::Application(_) => TransitionSubject::Application,
            Self::Resource(_) => TransitionSubject::Resource,
            Self::Connection(_) => TransitionSubject::Connection,
        }
    }
}

/// A path that names the subject, for the attribute `subject` of `CloudEvents`. An empty group or namespace is `-`.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Application(name) => write!(f, "applications/{name}"),
            Self::Resource(resource) => {
                let ResourceSubject {
                    application,
                    app,
                    cluster,
                    group,
                    kind,
                    namespace,
                    name,
                } = &**resource;
                let [group, namespace] = [group, namespace].map(|part| match &**part {
                    "" => DigName::NONE,
                    part => part,
                });
                write!(
                    f,
                    "applications/{application}/resources/{app}/{cluster}/{group}/{kind}/{namespace}/{name}"
                )
            }
            Self::Connection(name) => write!(f, "clusters/{name}"),
        }
    }
}

/// Names as one text in JSON.
mod text {
    use std::borrow::Cow;
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(name: &impl Display, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(name)
    }

    pub(super) fn deserialize<'de, D, T>(from: D) -> Result<T, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr<Err: Display>,
    {
        let text = Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::SubjectPattern;

    use super::*;

    #[test]
    fn a_subject_belongs_to_its_application_or_its_cluster() {
        let application: DigName = "retail/shop/v1/prod".parse().unwrap();
        let resource = ResourceSubject {
            application: application.clone(),
            app: "web".into(),
            cluster: "p+edge".parse().unwrap(),
            group: "apps".into(),
            kind: "Deployment".into(),
            namespace: "default".into(),
            name: "web".into(),
        };
        let subjects = [
            Subject::Application(application),
            Subject::Resource(Arc::new(resource)),
            Subject::Connection("p+edge".parse().unwrap()),
        ];
        let seen_by = |patterns| {
            let visible = SubjectSet::matching(patterns);
            subjects.each_ref().map(|subject| subject.is_in(&visible))
        };
        let applications = |text: &str| SubjectPattern::Application(text.parse().unwrap());
        let clusters = |text: &str| SubjectPattern::Cluster(text.parse().unwrap());
        assert_eq!(seen_by(vec![]), [false; 3]);
        assert_eq!(
            seen_by(vec![applications("retail/*/*/*")]),
            [true, true, false]
        );
        assert_eq!(seen_by(vec![applications("web/*/*/*")]), [false; 3]);
        assert_eq!(seen_by(vec![clusters("p+*")]), [false, false, true]);
    }
}
