//! The wire format: one JSON object a line. Each line has one member, which names its type.
//!
//! A reader ignores members that it does not know, and lines with unknown types. So hosts of two releases can follow each
//! other. An incompatible change has another [`FORMAT`].
//!
//! ```text
//! begin                                   every stream begins with a complete snapshot
//! connection*  (application placement* rows* history?)*  record*  stores?  gone*  end      one batch
//! ```
//!
//! A batch has no effect before its `end`. A host without changes sends an empty batch as a sign of life. Each `interpreter` line
//! defines the number of an interpreter for later lines.

mod application;
mod connection;
mod error;
mod history;
mod object;
mod record;
mod row;

use std::sync::Arc;

use kindsight_model::{Connectivity, Coverage, CoverageEntry, InterpretedBy};
use kindsight_status::{Report, Staleness};
use serde::{Deserialize, Serialize};

pub use application::{AppLine, ApplicationLine, GoneLine};
pub use connection::ConnectionLine;
pub use error::WireError;
pub use history::HistoryLine;
pub use record::RecordLine;
pub use row::{Row, RowOp};

pub(crate) use application::key_of;

pub use kindsight_api::replication::{FORMAT, MEDIA_TYPE};

/// Maximum size of a line, in bytes: rows for one chunk, with an object and a manifest of the maximum size.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One line. Exactly one member is set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Line {
    /// The first line of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin: Option<BeginLine>,
    /// An interpreter that later lines name by its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<InterpreterLine>,
    /// The connection to a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<ConnectionLine>,
    /// An application without its resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationLine>,
    /// One app in one cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementLine>,
    /// Further rows of the last placement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowsLine>,
    /// The change of the history of an application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<HistoryLine>,
    /// The record of a deployment intent group, a cluster or a logical cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordLine>,
    /// The outages of the stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stores: Option<StoresLine>,
    /// An application that does not exist any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<GoneLine>,
    /// The end of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<EndLine>,
}

/// The first line of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BeginLine {
    /// The version of the format.
    pub format: u32,
    /// Time between two signs of life, in milliseconds.
    pub heartbeat_ms: u64,
    /// True if the stream has the histories of its applications. Earlier releases sent none with `clusters=own`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub histories: bool,
}

/// The end of a batch. A host without changes sends an empty batch as a sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct EndLine {
    /// Generation of the read model of the upstream host when it wrote the line.
    pub generation: u64,
}

/// An interpreter, with its explanations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterLine {
    /// Its number in this stream.
    pub number: u32,
    /// Name, version and digest.
    pub by: InterpretedBy,
    /// The states that an object does not leave by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub final_states: Vec<Arc<str>>,
    /// The reasons with an explanation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ReasonLine>,
}

/// A reason of an interpreter with its explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ReasonLine {
    /// The word.
    pub name: Arc<str>,
    /// The explanation.
    pub summary: Arc<str>,
    /// A page with instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help_url: Option<Arc<str>>,
}

/// One app in one cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PlacementLine {
    /// The application, as text: the id of a context, or the name of a found application.
    pub of: Arc<str>,
    /// The app.
    pub app: Arc<str>,
    /// The cluster.
    pub cluster: Arc<str>,
    /// The fencing number of the owner of the cluster.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fence: u64,
    /// True if a report was received.
    pub received: bool,
    /// Staleness of the report; left out if it is current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<StaleLine>,
    /// Unreadable parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Arc<str>>,
    /// Faults that may affect every app of the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cluster_faults: Vec<Arc<str>>,
    /// Kinds that the cluster has not answered for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<Arc<str>>,
    /// The states for which the report may lack objects that exist, without their causes. Earlier releases send none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<CoverageEntry>,
    /// The outcome of the last attempt to reach the cluster.
    pub connectivity: Connectivity,
    /// The instance of ONAP's Kubernetes plugin whose label an object had before the upstream host started. Earlier
    /// releases send none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_instance: Option<Arc<str>>,
    /// The resources; left out if they are unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowsLine>,
}

/// Resources of the last placement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RowsLine {
    /// The resources, in order.
    pub ops: Vec<RowOp>,
    /// True if the next line has further resources.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// Start and reason of a staleness or an outage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StaleLine {
    /// Start, in Unix milliseconds.
    pub since_ms: i64,
    /// The reason, as text for users.
    pub reason: Arc<str>,
}

/// The outages of the stores; left out if they answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StoresLine {
    /// The store of `AppContext`s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<StaleLine>,
    /// The store of lifecycle states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<StaleLine>,
}

impl PlacementLine {
    /// The coverage of the report, as far as the report may lack objects.
    pub(crate) fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        coverage.extend(self.lacking.iter().cloned());
        coverage
    }

    /// The state of the report.
    pub(crate) fn report(&self) -> Report {
        if !self.received {
            return Report::NotYet;
        }
        let stale = self.stale.as_ref();
        Report::Received {
            stale: stale.map(|stale| Staleness {
                since_ms: stale.since_ms,
                reason: Arc::clone(&stale.reason),
            }),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
}
