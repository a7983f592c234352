//! Reports, as differences from the previous reports.

use std::sync::Arc;

use kindsight_model::{DeploymentId, DigName, NameError, Origin, Subject};
use serde::{Deserialize, Serialize};

/// A report on one subject. It takes its items from the lines before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ReportLine {
    /// The subject.
    pub subject: WireSubject,
    /// The source of the report.
    pub origin: WireOrigin,
    /// True if there is no previous report: absent members are empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// The objects: parts of the previous list, and new objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<Vec<Part>>,
    /// The related objects, likewise. Their items follow the items of the objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Vec<Part>>,
    /// Positions of the objects that are hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Vec<usize>>,
    /// Number of `claims` items, which replace the previous claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<usize>,
    /// Number of `rejected` items, which replace the previous rejected items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<usize>,
    /// Number of `removed` items. Without this member, there are no such items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// Slot of the coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<usize>,
    /// Slot of the coverage of related objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related_coverage: Option<usize>,
    /// Reasons why the report of a monitor was not used instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<Arc<str>>>,
    /// Number of `text` items, which replace the previous status that a monitor wrote. With 0, there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_texts: Option<usize>,
}

/// A part of a list of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// Objects of the previous list: the position of the first, and their number.
    Kept(usize, usize),
    /// This number of new objects.
    New(usize),
}

/// The subject of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", untagged)]
pub enum WireSubject {
    /// An app that no `AppContext` records.
    Application {
        /// The full name of the application.
        application: String,
        /// The app.
        app: Arc<str>,
    },
    /// An app that an `AppContext` sends to the cluster.
    Deployment {
        /// The value of the label `emco/deployment-id`.
        deployment: String,
    },
}

/// The source of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireOrigin {
    /// The objects of an app of an `AppContext`.
    Direct,
    /// The objects of an app that no `AppContext` records.
    Found,
    /// A monitor in the cluster.
    Monitor,
}

/// The missing resources of one application. They replace the previous ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MissingOfLine {
    /// The full name of the application.
    pub application: String,
    /// Number of `missing` items.
    #[serde(default)]
    pub count: usize,
}

impl From<&Subject> for WireSubject {
    fn from(subject: &Subject) -> Self {
        match subject {
            Subject::Application { application, app } => Self::Application {
                application: application.to_string(),
                app: Arc::clone(app),
            },
            Subject::Deployment(deployment) => Self::Deployment {
                deployment: deployment.to_string(),
            },
        }
    }
}

impl WireSubject {
    /// The subject.
    ///
    /// # Errors
    /// A name is not valid.
    pub fn subject(&self) -> Result<Subject, NameError> {
        Ok(match self {
            Self::Application { application, app } => Subject::Application {
                application: application.parse::<DigName>()?,
                app: Arc::clone(app),
            },
            Self::Deployment { deployment } => {
                Subject::Deployment(deployment.parse::<DeploymentId>()?)
            }
        })
    }
}

impl WireOrigin {
    /// The origin on the wire; `None` for reports that no cluster sends.
    pub fn of(origin: Origin) -> Option<Self> {
        match origin {
            Origin::Direct => Some(Self::Direct),
            Origin::Found => Some(Self::Found),
            Origin::Monitor => Some(Self::Monitor),
            Origin::Stored | Origin::LastKnown => None,
        }
    }

    /// The origin, if a report on this subject can have it.
    pub fn origin(self, subject: &Subject) -> Option<Origin> {
        match (self, subject) {
            (Self::Found, Subject::Application { .. }) => Some(Origin::Found),
            (Self::Direct, Subject::Deployment(_)) => Some(Origin::Direct),
            (Self::Monitor, Subject::Deployment(_)) => Some(Origin::Monitor),
            _ => None,
        }
    }
}
