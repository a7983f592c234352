//! The whole of an application in a list: counts and roll-up of all its resources.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kindsight_api::status::{QueryType, Readiness};

use super::selection::{Count, Selection, named, staleness};
use crate::query::StatusQuery;
use crate::tally::Place;
use crate::view::ContextView;

/// All resources of an application together.
pub(crate) struct Whole<'a> {
    pub(crate) readiness: Readiness<'a>,
    /// Number of resources by state.
    pub(crate) states: BTreeMap<Cow<'a, str>, u32>,
    /// The resource that gave the state; none where nothing is wrong.
    pub(crate) worst: Option<Place<'a>>,
    /// Time since when the state holds, in Unix milliseconds.
    pub(crate) since_ms: Option<i64>,
}

/// Rolls everything up. `query` selects nothing.
pub(crate) fn whole<'a>(context: &'a ContextView, query: &StatusQuery) -> Whole<'a> {
    let selection = Selection {
        query,
        kind: QueryType::Cluster,
        desired: context.desired(),
    };
    let mut count = Count::default();
    for app in &context.apps {
        for view in &app.clusters {
            let mut of_view = view.tally(&app.name, QueryType::Cluster);
            of_view.stale = staleness(&app.name, view);
            count.merge(of_view);
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
