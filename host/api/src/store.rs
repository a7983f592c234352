//! The stores of `AppContext`s and lifecycle states, while they cannot be reached.

#![expect(
    single_use_lifetimes,
    reason = "utoipa derives implementations that name a lifetime once"
)]

use std::borrow::Cow;

use jiff::Timestamp;
use kindsight_model::words;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

words! {
    /// State of the connection to a store.
    StoreConnection {
        /// The store cannot be reached. Answers contain the data that was last read from it.
        Away = "away",
    }
}

/// The connection to a store, present while the store cannot be reached. The clusters' own reports
/// are still current.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct StoreState<'a> {
    /// State of the connection.
    pub state: StoreConnection,
    /// Start time of this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The reason.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "etcd-0:2379: connection refused")]
    pub reason: Cow<'a, str>,
}
