//! Staleness of answers in EMCO's newer dialect. The answers themselves have no member for it.

use kindsight_api::status::{Listing, QueryType};

use super::EmcoQuery;
use crate::answer::{Selection, staleness};
use crate::resource_view::Staleness;
use crate::store::StoreAway;
use crate::subject::Subject;

impl Subject {
    /// The earliest staleness of everything that the query selects: of a cluster's report, or of a store that
    /// cannot be reached. `None` if all of it is current.
    pub fn emco_staleness(&self, query: &EmcoQuery) -> Option<Staleness> {
        let of_away = |store: &str, away: &StoreAway| Staleness {
            since_ms: away.since_ms,
            reason: format!("the store of {store} is away: {}", away.reason).into(),
        };
        let of_contexts = self
            .store
            .as_deref()
            .map(|away| of_away("AppContexts", away));
        let of_states = self.state_store.as_deref();
        let of_states = of_states.map(|away| of_away("lifecycle states", away));
        let of_store = of_contexts.into_iter().chain(of_states).min();
        let kind = query.selection.kind.unwrap_or(self.default_kind());
        if kind == QueryType::Rsync || query.selection.listing == Some(Listing::Apps) {
            return of_store;
        }
        let Some(context) = self.context.as_deref() else {
            return of_store;
        };
        let selection = Selection::of(&query.selection, kind, context);
        let selected = context.placements();
        let selected = selected.filter(|(app, view)| selection.selects(app, view.cluster()));
        let reports =
            selected.filter_map(|(app, view)| Some((view.report().stale()?.since_ms, app, view)));
        let first = reports.min_by_key(|(since_ms, ..)| *since_ms);
        let of_report = first.and_then(|(_, app, view)| staleness(app, view));
        of_report.into_iter().chain(of_store).min()
    }
}
