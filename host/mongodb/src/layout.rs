//! The places of states in the databases of two generations of orchestrators.

use kindsight_model::{ClusterName, DigName, LogicalCloudName, NameError, RecordSubject};
use mongodb::bson::{Document, doc};

/// The field with the state of a document.
pub(crate) const STATE: &str = "stateInfo";

/// The databases that are searched if the URI names none, the newer generation first.
pub(crate) const DATABASES: [&str; 2] = ["emco", "mco"];

/// A generation of orchestrators, which determines the place of the states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// ONAP of 2020: one collection for each service, keys in lower case.
    Onap,
    /// EMCO 22: one collection, keys in camel case.
    V22,
}

/// A kind of document with a state.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its keys, in the order of the parts of the subject's name.
    pub(crate) keys: &'static [&'static str],
    /// The paths at which the name of the composite profile may be. The first one with a name
    /// counts.
    ///
    /// The driver of the orchestrators writes the name of the field in their code in lower case,
    /// `profile`. A document that was imported from the JSON of EMCO 22 has the name in its API,
    /// `compositeProfile`.
    pub(crate) profiles: &'static [&'static [&'static str]],
    name: fn(&[&str]) -> Result<RecordSubject, NameError>,
}

impl Kind {
    /// The subject with these name parts.
    pub(crate) fn subject(&self, parts: &[&str]) -> Result<RecordSubject, NameError> {
        if let Some(part) = parts.iter().find(|part| !kindsight_model::is_name(part)) {
            return Err(NameError::NotAName((*part).to_owned()));
        }
        (self.name)(parts)
    }
}

const ONAP: [Kind; 2] = [
    Kind {
        keys: &[
            "project",
            "compositeapp",
            "compositeappversion",
            "deploymentintentgroup",
        ],
        profiles: &[&["deploymentintentgroupmetadata", "spec", "profile"]],
        name: group,
    },
    Kind {
        keys: &["provider", "cluster"],
        profiles: &[],
        name: cluster,
    },
];

const V22: [Kind; 3] = [
    Kind {
        keys: &[
            "project",
            "compositeApp",
            "compositeAppVersion",
            "deploymentIntentGroup",
        ],
        profiles: &[
            &["data", "spec", "profile"],
            &["data", "spec", "compositeProfile"],
        ],
        name: group,
    },
    Kind {
        keys: &["clusterProvider", "cluster"],
        profiles: &[],
        name: cluster,
    },
    Kind {
        keys: &["project", "logicalCloud"],
        profiles: &[],
        name: logical_cloud,
    },
];

impl Layout {
    /// The layout of a database with these collections.
    pub(crate) fn of(collections: &[String]) -> Option<Self> {
        let has = |layout: &Self| {
            let mut of_it = layout.collections().iter();
            of_it.any(|name| collections.iter().any(|collection| collection == name))
        };
        [Self::V22, Self::Onap].into_iter().find(has)
    }

    /// The collections that contain states.
    pub(crate) fn collections(self) -> &'static [&'static str] {
        match self {
            Self::Onap => &["orchestrator", "cluster"],
            Self::V22 => &["resources"],
        }
    }

    pub(crate) fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Onap => &ONAP,
            Self::V22 => &V22,
        }
    }

    /// The field that lists the names of a document's keys. The list is different for each kind of
    /// document.
    pub(crate) fn names_field(self) -> &'static str {
        match self {
            Self::Onap => "key",
            Self::V22 => "keyId",
        }
    }

    /// The projection of documents: only the keys, the state and the composite profile are
    /// requested.
    pub(crate) fn projection(self) -> Document {
        let mut projection = doc! { STATE: 1, self.names_field(): 1 };
        for key in self.kinds().iter().flat_map(|kind| kind.keys) {
            projection.insert(*key, 1);
        }
        for path in self.kinds().iter().flat_map(|kind| kind.profiles) {
            projection.insert(path.join("."), 1);
        }
        projection
    }
}

fn group(parts: &[&str]) -> Result<RecordSubject, NameError> {
    let [project, app, version, dig] = parts else {
        return Err(NameError::NotAName(parts.join("/")));
    };
    DigName::new(project, app, version, dig).map(RecordSubject::Group)
}

fn cluster(parts: &[&str]) -> Result<RecordSubject, NameError> {
    let [provider, name] = parts else {
        return Err(NameError::NotAName(parts.join("+")));
    };
    ClusterName::new(provider, name).map(RecordSubject::Cluster)
}

fn logical_cloud(parts: &[&str]) -> Result<RecordSubject, NameError> {
    let [project, name] = parts else {
        return Err(NameError::NotAName(parts.join("/")));
    };
    LogicalCloudName::new(project, name).map(RecordSubject::LogicalCloud)
}
