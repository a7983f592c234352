//! The totals of an application in a list: counts and roll-up of all its resources.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kindsight_api::status::{QueryType, Readiness};

use super::selection::{Count, Selection, named, with_freshness};
use crate::query::StatusQuery;
use crate::tally::ResourcePlace;
use crate::view::ContextView;

/// The totals of an application.
pub(crate) struct Whole<'a> {
    pub(crate) readiness: Readiness<'a>,
    /// Number of resources by state.
    pub(crate) states: BTreeMap<Cow<'a, str>, u32>,
    /// The worst resource, which determines the state; `None` if every resource is well.
    pub(crate) worst: Option<ResourcePlace<'a>>,
    /// Start of the state, in Unix milliseconds.
    pub(crate) since_ms: Option<i64>,
}

/// Rolls up all resources. `query` has no filters.
pub(crate) fn whole<'a>(context: &'a ContextView, query: &StatusQuery) -> Whole<'a> {
    let selection = Selection::of(query, QueryType::Cluster, context);
    let mut count = Count::default();
    for app in &context.apps {
        for view in app.clusters() {
            let of_view = view.tally(app.name(), QueryType::Cluster);
            count.merge(&with_freshness(of_view, app.name(), view));
        }
    }
    let deciding = count.deciding();
    let worst = deciding.rollup.result(selection.desired).worst;
    let of_worst = worst.and_then(|place| place.resource()?.since_ms);
    Whole {
        readiness: selection.readiness(&count),
        worst,
        since_ms: of_worst.or(deciding.since_ms),
        states: named(count.states),
    }
}
