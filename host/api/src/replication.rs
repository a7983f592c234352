//! The stream of the complete state for other hosts: its parameters. The crate `kindsight-replication` defines the lines.
//!
//! A reader ignores members, parameters and lines that it does not know, so that hosts of two releases can follow each
//! other. An incompatible change has another [`FORMAT`].

use kindsight_model::words;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// The version of the format. Two versions cannot read each other.
pub const FORMAT: u32 = 1;

/// The media type of a stream.
pub const MEDIA_TYPE: &str = "application/vnd.kindsight.replication+jsonl";

/// Parameters of a request for the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "kebab-case")]
pub struct ReplicationParameters {
    /// Version of the format that the follower reads.
    #[param(example = 1)]
    pub format: u32,
    /// The clusters whose state is sent.
    #[serde(default)]
    pub clusters: ReplicatedClusters,
}

words! {
    /// The clusters whose state is sent.
    #[derive(Default)]
    ReplicatedClusters {
        /// All clusters, with the records of all applications. For a host without clusters of its own.
        #[default]
        All = "all",
        /// The clusters that the host itself watches, without records. For a host that shares the store of the records.
        Own = "own",
    }
}
