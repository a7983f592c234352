//! The stores that `AppContext`s and lifecycle states are read from, while they cannot be reached.

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
        /// It cannot be reached: answers are what was last read from it.
        Away = "away",
    }
}

/// The connection to a store, told while it is away. What clusters report themselves is current all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct StoreState<'a> {
    /// State of the connection.
    pub state: StoreConnection,
    /// Time since when it is in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The reason.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "etcd-0:2379: connection refused")]
    pub reason: Cow<'a, str>,
}
