//! Staleness of what a query in EMCO's newer dialect selects: no member of its answers tells it.

use kindsight_api::status::{Listing, QueryType};

use super::EmcoQuery;
use crate::answer::{Selection, staleness};
use crate::read_model::Subject;
use crate::resource_view::Staleness;
use crate::store::StoreAway;

impl Subject {
    /// Since when and why what is selected may be out of date: a report of a cluster, or all that was read from
    /// a store that is away; none while it is current.
    pub fn emco_staleness(&self, query: &EmcoQuery) -> Option<Staleness> {
        let told = |store: &str, away: &StoreAway| Staleness {
            since_ms: away.since_ms,
            reason: format!("the store of {store} is away: {}", away.reason).into(),
        };
        let of_contexts = self.store.as_deref().map(|it| told("AppContexts", it));
        let of_states = self.state_store.as_deref();
        let of_states = of_states.map(|it| told("lifecycle states", it));
        let of_store = of_contexts.into_iter().chain(of_states).min();
        let kind = query.selection.kind.unwrap_or(self.default_kind());
        if kind == QueryType::Rsync || query.selection.listing == Some(Listing::Apps) {
            return of_store;
        }
        let Some(context) = self.context.as_deref() else {
            return of_store;
        };
        let selection = Selection {
            query: &query.selection,
            kind,
            desired: context.desired(),
        };
        let apps = context.apps.iter();
        let apps = apps.filter(|app| selection.selects_app(&app.name));
        let reports = apps.flat_map(|app| {
            let views = app.clusters.iter();
            let views = views.filter(|view| selection.selects_cluster(view.cluster()));
            views.filter_map(|view| Some((view.report().stale()?.since_ms, &*app.name, &**view)))
        });
        let first = reports.min_by_key(|(since_ms, ..)| *since_ms);
        let of_report = first.and_then(|(_, app, view)| staleness(app, view));
        of_report.into_iter().chain(of_store).min()
    }
}
