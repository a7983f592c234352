//! The one way through the house: what clusters report becomes verdicts becomes what queries see.
//!
//! ```text
//! ClusterEvent ─▶ appcontext (kept) ─▶ interpreters (judged) ─▶ status::project ─▶ Board
//! ```
//!
//! One thread at a time walks it, so a place is never judged twice at once; the workers of the
//! interpreter room share the judging itself. Queries never wait for it: they read the board.

mod place;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use kindsight_appcontext::{AppContexts, ContextSnapshot, Recorded, Records, Store};
use kindsight_clusters::ClusterEvent;
use kindsight_interpreter::Interpreters;
use kindsight_model::{Bundle, ClusterName, ContextId, DeploymentId, DigName};
use kindsight_status::{ActionView, AppView, Board, ContextView, RecordView};
use serde::Serialize;

use crate::road::place::Place;

/// Everything the road needs to keep between two events.
pub(crate) struct Road {
    contexts: AppContexts,
    records: Records,
    interpreters: Arc<Interpreters>,
    board: Arc<Board>,
    known: HashMap<ContextId, Known>,
}

/// One `AppContext`, as the road keeps it.
struct Known {
    meta: Option<DigName>,
    status: Arc<str>,
    faults: Vec<Arc<str>>,
    apps: Vec<(Arc<str>, Vec<Place>)>,
}

impl Road {
    /// A road that knows nothing yet.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        interpreters: Arc<Interpreters>,
        board: Arc<Board>,
    ) -> Self {
        Self {
            contexts: AppContexts::new(Arc::clone(&store)),
            records: Records::new(store),
            interpreters,
            board,
            known: HashMap::new(),
        }
    }

    /// Shows everything the store holds: after it, queries are answered with what was last known.
    pub(crate) fn load(&mut self, now_ms: i64) -> anyhow::Result<()> {
        self.show_records()?;
        for id in self.contexts.list().context("list the AppContexts")? {
            let snapshot = self
                .contexts
                .read(&id)
                .with_context(|| format!("read AppContext {id}"))?;
            if let Some(snapshot) = snapshot {
                self.known
                    .insert(id.clone(), Known::new(snapshot, &self.interpreters, now_ms));
                self.show(&id);
            }
        }
        Ok(())
    }

    fn show_records(&self) -> anyhow::Result<()> {
        let digs = self
            .records
            .digs()
            .context("read the records of deployment intent groups")?;
        let clusters = self
            .records
            .clusters()
            .context("read the records of clusters")?;
        for unreadable in digs.unreadable.iter().chain(&clusters.unreadable) {
            tracing::warn!(
                key = unreadable.key,
                why = unreadable.why,
                "record not readable"
            );
        }
        let digs = digs.records.into_iter().map(|(name, record)| {
            let profile = record.profile.map(Into::into);
            (name, record_view(profile, &record.actions))
        });
        let clusters = clusters
            .records
            .into_iter()
            .map(|(name, record)| (name, record_view(None, &record.actions)));
        let (digs, clusters) = (digs.collect(), clusters.collect());
        self.board.publish(|shown| {
            shown.digs = digs;
            shown.clusters = clusters;
        });
        Ok(())
    }

    /// Takes in one event. What cannot be used is said and costs nothing else.
    pub(crate) fn take(&mut self, event: ClusterEvent, now_ms: i64) {
        match event {
            ClusterEvent::Bundle { cluster, bundle } => self.bundle(&cluster, bundle, now_ms),
            ClusterEvent::Gone {
                cluster,
                deployment,
            } => {
                tracing::info!(%cluster, %deployment, "cluster no longer reports on this app");
                self.change(&deployment, &cluster, |place, _| place.gone(now_ms));
            }
            ClusterEvent::Unreadable {
                cluster,
                file,
                error,
            } => {
                tracing::warn!(%cluster, file = %file.display(), error, "report not readable");
                self.unreadable(&cluster, &file, &error, now_ms);
            }
            ClusterEvent::Stale { cluster, reason } => {
                tracing::warn!(%cluster, reason, "cluster cannot be reached");
                self.change_all(&cluster, |place| place.unreachable(now_ms));
            }
            ClusterEvent::Synced { cluster } => {
                self.change_all(&cluster, |place| place.synced(now_ms));
            }
        }
    }

    /// Keeps a bundle, and judges it where it says something new.
    fn bundle(&mut self, cluster: &ClusterName, bundle: Bundle, now_ms: i64) {
        let DeploymentId { context, app } = &bundle.deployment;
        match self
            .contexts
            .record_bundle(context, app, cluster, &bundle.status_json)
        {
            Ok(Recorded::Written | Recorded::Unchanged) => {}
            Ok(Recorded::NotThere) => {
                tracing::warn!(%cluster, deployment = %bundle.deployment, "report on an app that no AppContext sends to this cluster");
                return;
            }
            Err(error) => {
                // Not kept, and shown all the same: what is true now matters more than what a
                // restart would remember, and the next report tries again.
                tracing::error!(%cluster, deployment = %bundle.deployment, %error, "report not kept");
            }
        }
        let deployment = bundle.deployment.clone();
        self.change(&deployment, cluster, |place, interpreters| {
            place.report(bundle, interpreters, now_ms);
            true
        });
    }

    /// Says of an unreadable report in the place it is about, as far as its file name tells.
    fn unreadable(&mut self, cluster: &ClusterName, file: &Path, error: &str, now_ms: i64) {
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        let Some(deployment) = stem.and_then(|stem| stem.parse::<DeploymentId>().ok()) else {
            return;
        };
        self.change(&deployment, cluster, |place, _| place.fault(error, now_ms));
    }

    /// Judges again what asked for it. Answers when that will be next.
    pub(crate) fn look_again(&mut self, now_ms: i64) -> Option<i64> {
        let mut changed = Vec::new();
        let mut next: Option<i64> = None;
        for (id, known) in &mut self.known {
            for place in known.places() {
                if place.look_again_at_ms().is_some_and(|at| at <= now_ms) {
                    place.judge(&self.interpreters, now_ms);
                    changed.push(id.clone());
                }
                next = next.into_iter().chain(place.look_again_at_ms()).min();
            }
        }
        changed.dedup();
        for id in &changed {
            self.show(id);
        }
        next
    }

    /// Changes one place, and shows it where `change` says that it did.
    fn change(
        &mut self,
        deployment: &DeploymentId,
        cluster: &ClusterName,
        change: impl FnOnce(&mut Place, &Interpreters) -> bool,
    ) {
        let Some(known) = self.known.get_mut(&deployment.context) else {
            return;
        };
        let mut apps = known.apps.iter_mut();
        let app = apps.find(|(name, _)| *name == deployment.app);
        let mut places = app.into_iter().flat_map(|(_, places)| places);
        if let Some(place) = places.find(|place| place.cluster() == cluster)
            && change(place, &self.interpreters)
        {
            self.show(&deployment.context);
        }
    }

    fn change_all(&mut self, cluster: &ClusterName, change: impl Fn(&mut Place) -> bool) {
        let mut changed = Vec::new();
        for (id, known) in &mut self.known {
            let places = known.places().filter(|place| place.cluster() == cluster);
            // Every place is changed, so this counts instead of stopping at the first.
            if places.map(&change).filter(|&did| did).count() > 0 {
                changed.push(id.clone());
            }
        }
        for id in &changed {
            self.show(id);
        }
    }

    fn show(&self, id: &ContextId) {
        let Some(known) = self.known.get(id) else {
            return;
        };
        let view = Arc::new(known.view(id));
        // The old view is dropped after queries may go on.
        drop(
            self.board
                .publish(|shown| shown.contexts.insert(id.clone(), view)),
        );
    }
}

impl Known {
    fn new(snapshot: ContextSnapshot, interpreters: &Interpreters, now_ms: i64) -> Self {
        let meta = snapshot.meta.as_ref();
        let namespace: Arc<str> = meta.map_or("", |meta| &meta.namespace).into();
        let name = |meta: &kindsight_appcontext::ContextMeta| {
            DigName::new(&meta.project, &meta.composite_app, &meta.version, &meta.dig).ok()
        };
        let unreadable = snapshot.unreadable.iter();
        let faults = unreadable.map(|it| format!("{}: {}", it.key, it.why).into());
        let status: Arc<str> = snapshot.status.as_deref().unwrap_or_default().into();
        let app = |app: kindsight_appcontext::AppSnapshot| {
            let name: Arc<str> = app.name.as_str().into();
            let places = app.clusters.into_iter().map(|cluster| {
                let mut place = Place::new(cluster, &namespace, &snapshot.id, &name);
                place.judge(interpreters, now_ms);
                place
            });
            (Arc::clone(&name), places.collect())
        };
        Self {
            meta: meta.and_then(name),
            status,
            faults: faults.collect(),
            apps: snapshot.apps.into_iter().map(app).collect(),
        }
    }

    fn places(&mut self) -> impl Iterator<Item = &mut Place> {
        self.apps.iter_mut().flat_map(|(_, places)| places)
    }

    fn view(&self, id: &ContextId) -> ContextView {
        let apps = self.apps.iter().map(|(name, places)| AppView {
            name: Arc::clone(name),
            clusters: places.iter().filter_map(Place::view).collect(),
        });
        ContextView {
            id: id.clone(),
            meta: self.meta.clone(),
            status: Arc::clone(&self.status),
            apps: apps.collect(),
            faults: self.faults.clone(),
        }
    }
}

fn record_view(
    profile: Option<Arc<str>>,
    actions: &[kindsight_appcontext::Action],
) -> Arc<RecordView> {
    let actions = actions.iter().map(|action| ActionView {
        state: word(&action.state),
        instance: action.instance.clone(),
        time: action.time.as_str().into(),
    });
    Arc::new(RecordView {
        profile,
        actions: actions.collect(),
    })
}

/// The word a unit variant is written as.
fn word(value: &impl Serialize) -> Arc<str> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word.into(),
        _ => "".into(),
    }
}
