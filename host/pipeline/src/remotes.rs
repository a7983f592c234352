//! The state that other hosts send, and its join with the state of this host.

mod recorder;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_model::ClusterName;
use kindsight_status::{
    AppView, ApplicationKey, ClusterView, ConnectionState, ConnectionView, ContextView, Report,
    Staleness, StoreAway,
};

pub(crate) use recorder::PreviousPlacement;

/// The reason for a placement of an earlier owner.
const TAKEN_OVER: &str = "another host has taken the cluster over and is listing it";

/// The state of all followed hosts. Empty for a host that follows no other host; then each join costs nothing.
#[derive(Debug, Default)]
pub(crate) struct Remotes {
    hosts: BTreeMap<Arc<str>, RemoteHost>,
    /// The connections of this host.
    own: BTreeMap<ClusterName, ConnectionView>,
}

/// The received state of one host.
#[derive(Debug, Default)]
pub(crate) struct RemoteHost {
    pub(crate) views: HashMap<ApplicationKey, Arc<ContextView>>,
    pub(crate) connections: BTreeMap<ClusterName, ConnectionView>,
    /// The outage of its store of `AppContext`s.
    pub(crate) store: Option<StoreAway>,
    /// Start and reason of its silence; `None` while it answers.
    pub(crate) away: Option<Staleness>,
    /// True if it records the transitions in its clusters, and sends them.
    pub(crate) has_histories: bool,
}

/// The right of a host to report on a cluster: the later lease wins, and this host wins against a host without a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    has_connection: bool,
    fence: u64,
    is_own: bool,
}

/// The fencing numbers of the owners of a cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Owners {
    /// The last owner.
    latest: u64,
    /// Start of the state of its connection, in Unix milliseconds.
    since_ms: i64,
    /// The last owner that has listed the cluster completely. Data of earlier owners is not shown any more.
    listed: u64,
}

impl Remotes {
    /// The state of a host; empty before its first batch.
    pub(crate) fn host(&mut self, name: &Arc<str>) -> &mut RemoteHost {
        self.hosts.entry(Arc::clone(name)).or_default()
    }

    /// Ends to follow a host. Returns its last state.
    pub(crate) fn remove_host(&mut self, name: &str) -> Option<RemoteHost> {
        self.hosts.remove(name)
    }

    /// Returns whether one host alone shows an application.
    pub(crate) fn is_shown_by_one(&self, key: &ApplicationKey) -> bool {
        self.showing(key).count() == 1
    }

    /// Notes a connection of this host; `None` for a cluster that it does not watch.
    pub(crate) fn set_own(&mut self, cluster: &ClusterName, connection: Option<ConnectionView>) {
        match connection {
            Some(connection) => self.own.insert(cluster.clone(), connection),
            None => self.own.remove(cluster),
        };
    }

    /// The connection to a cluster, from its owner.
    pub(crate) fn connection(&self, cluster: &ClusterName) -> Option<ConnectionView> {
        let own = self.own.get(cluster);
        let own = own.map(|view| (view.owner.fence, true, view.clone()));
        let remote = self.hosts.values().filter_map(|host| {
            let view = host.connections.get(cluster)?;
            Some((view.owner.fence, false, host.shown_connection(view)))
        });
        let all = own.into_iter().chain(remote);
        let owner = all.max_by_key(|(fence, is_own, _)| (*fence, *is_own));
        owner.map(|(_, _, view)| view)
    }

    /// The view of an application with the placements of all hosts. `own` is the view of this host. Apps that did not change
    /// since the last joined view, `shown`, are the same values.
    pub(crate) fn joined(
        &self,
        key: &ApplicationKey,
        own: Option<ContextView>,
        shown: Option<&ContextView>,
    ) -> Option<ContextView> {
        let mut remotes = self.showing(key).peekable();
        if remotes.peek().is_none() {
            return own;
        }
        let mut apps = Apps::of(self);
        if let Some(own) = &own {
            apps.add(own, |cluster| self.own_rank(cluster), ClusterViewOf::Own);
        }
        let mut base = own;
        for (host, view) in remotes {
            apps.add(
                view,
                |cluster| host.rank(cluster),
                ClusterViewOf::Remote(host),
            );
            if base.is_none() {
                base = Some((**view).clone());
            }
        }
        let mut joined = base?;
        joined.apps = apps.in_order(matches!(key, ApplicationKey::Found(_)), shown);
        Some(joined)
    }

    /// The applications that other hosts show in a cluster.
    pub(crate) fn keys_in(&self, cluster: &ClusterName) -> BTreeSet<ApplicationKey> {
        let is_in = |view: &ContextView| {
            let mut placements = view.clusters();
            placements.any(|placement| placement.cluster() == cluster)
        };
        let views = self.hosts.values().flat_map(|host| &host.views);
        let views = views.filter(|(_, view)| is_in(view));
        views.map(|(key, _)| key.clone()).collect()
    }

    /// Returns whether another host has listed a cluster completely under a later lease than this host's last one.
    pub(crate) fn is_superseded(&self, cluster: &ClusterName) -> bool {
        self.own_rank(cluster).fence < self.owners(cluster).listed
    }

    /// The owners of a cluster, by its connections.
    pub(crate) fn owners(&self, cluster: &ClusterName) -> Owners {
        let hosts = self.hosts.values();
        let remote = hosts.filter_map(|host| {
            let view = host.connections.get(cluster)?;
            Some((view, host.away.is_none()))
        });
        let own = self.own.get(cluster).map(|view| (view, true));
        let mut owners = Owners::default();
        for (view, is_heard) in remote.chain(own) {
            if view.owner.fence > owners.latest {
                owners.latest = view.owner.fence;
                owners.since_ms = view.since_ms;
            }
            if is_heard && view.state == ConnectionState::Connected {
                owners.listed = owners.listed.max(view.owner.fence);
            }
        }
        owners
    }

    /// The hosts that show an application, with their views.
    fn showing(
        &self,
        key: &ApplicationKey,
    ) -> impl Iterator<Item = (&RemoteHost, &Arc<ContextView>)> {
        let hosts = self.hosts.values();
        hosts.filter_map(|host| Some((host, host.views.get(key)?)))
    }

    fn own_rank(&self, cluster: &ClusterName) -> Rank {
        let connection = self.own.get(cluster);
        Rank {
            has_connection: connection.is_some(),
            fence: connection.map_or(0, |view| view.owner.fence),
            is_own: true,
        }
    }
}

impl RemoteHost {
    fn rank(&self, cluster: &ClusterName) -> Rank {
        let connection = self.connections.get(cluster);
        Rank {
            has_connection: connection.is_some(),
            fence: connection.map_or(0, |view| view.owner.fence),
            is_own: false,
        }
    }

    /// The outage of the store of `AppContext`s. A host that does not answer cannot tell changes of contexts either.
    pub(crate) fn shown_store(&self) -> Option<StoreAway> {
        let away = self.away.as_ref().map(|away| StoreAway {
            since_ms: away.since_ms,
            reason: Arc::clone(&away.reason),
        });
        let since_ms = self.store.as_ref().map(|store| store.since_ms);
        let away = away.map(|away| StoreAway {
            since_ms: since_ms.map_or(away.since_ms, |since_ms| since_ms.min(away.since_ms)),
            ..away
        });
        away.or_else(|| self.store.clone())
    }

    /// A placement as it is shown: stale while the host does not answer. The reason precedes a staleness that the host
    /// sent, because it says why nothing newer arrives; the start is the earlier of both.
    fn shown(&self, placement: &Arc<ClusterView>) -> Arc<ClusterView> {
        let Some(away) = &self.away else {
            return Arc::clone(placement);
        };
        if *placement.report() == Report::NotYet {
            return Arc::clone(placement);
        }
        let known = placement.report().stale();
        let since_ms = known.map_or(away.since_ms, |known| known.since_ms.min(away.since_ms));
        let stale = Some(Staleness {
            since_ms,
            reason: Arc::clone(&away.reason),
        });
        let faults = placement.faults().to_vec();
        Arc::new(placement.with_report(Report::Received { stale }, faults))
    }

    /// A connection as it is shown: stale while the host does not answer.
    fn shown_connection(&self, connection: &ConnectionView) -> ConnectionView {
        let Some(away) = &self.away else {
            return connection.clone();
        };
        let is_stale = connection.state == ConnectionState::Stale;
        let known = is_stale.then_some(connection.since_ms);
        ConnectionView {
            state: ConnectionState::Stale,
            since_ms: known.map_or(away.since_ms, |known| known.min(away.since_ms)),
            reason: Some(Arc::clone(&away.reason)),
            ..connection.clone()
        }
    }
}

/// A placement of an earlier owner, while the last owner has not listed the cluster: stale.
fn taken_over(placement: Arc<ClusterView>, since_ms: i64) -> Arc<ClusterView> {
    match placement.report() {
        Report::Received { stale: None } => {
            let stale = Some(Staleness {
                since_ms,
                reason: TAKEN_OVER.into(),
            });
            let faults = placement.faults().to_vec();
            Arc::new(placement.with_report(Report::Received { stale }, faults))
        }
        _ => placement,
    }
}

/// The origin of a placement.
#[derive(Clone, Copy)]
enum ClusterViewOf<'h> {
    Own,
    Remote(&'h RemoteHost),
}

/// The placements of an application from several hosts.
struct Apps<'r> {
    remotes: &'r Remotes,
    apps: Vec<JoinedApp>,
}

/// An app with the placements of several hosts.
struct JoinedApp {
    name: Arc<str>,
    placements: Vec<Ranked>,
    /// The position of each cluster in `placements`.
    positions: HashMap<ClusterName, usize>,
}

/// A placement with its precedence.
type Ranked = (Precedence, Arc<ClusterView>);

/// The precedence of a placement: until the last owner has listed the cluster, the reports of an earlier owner are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Precedence {
    is_received: bool,
    rank: Rank,
}

impl<'r> Apps<'r> {
    fn of(remotes: &'r Remotes) -> Self {
        Self {
            remotes,
            apps: Vec::new(),
        }
    }

    /// Adds the placements of a view. Of two placements of an app in a cluster, the one with the higher precedence
    /// remains.
    fn add(
        &mut self,
        view: &ContextView,
        rank: impl Fn(&ClusterName) -> Rank,
        of: ClusterViewOf<'_>,
    ) {
        let remotes = self.remotes;
        // Most apps of an application are in the same clusters.
        let mut owners_of: HashMap<&ClusterName, (Rank, Owners)> = HashMap::new();
        for app in &view.apps {
            let Some(joined) = self.app(app.name()) else {
                continue;
            };
            for placement in app.clusters() {
                let cluster = placement.cluster();
                let known = owners_of.entry(cluster);
                let (rank, owners) =
                    *known.or_insert_with(|| (rank(cluster), remotes.owners(cluster)));
                if rank.fence < owners.listed {
                    continue;
                }
                let shown = match of {
                    ClusterViewOf::Own => Arc::clone(placement),
                    ClusterViewOf::Remote(host) => host.shown(placement),
                };
                let shown = if rank.fence < owners.latest {
                    taken_over(shown, owners.since_ms)
                } else {
                    shown
                };
                joined.add(rank, shown);
            }
        }
    }

    /// The app of this name, added if it is new; never `None`.
    fn app(&mut self, name: &Arc<str>) -> Option<&mut JoinedApp> {
        let at = self.apps.iter().position(|app| app.name == *name);
        let at = at.unwrap_or_else(|| {
            self.apps.push(JoinedApp::new(name));
            self.apps.len() - 1
        });
        self.apps.get_mut(at)
    }

    /// The apps in the order of answers: of a found application, by name and cluster; of a context, in its own order.
    fn in_order(self, is_found: bool, shown: Option<&ContextView>) -> Vec<Arc<AppView>> {
        let mut apps = self.apps;
        if is_found {
            apps.retain(|app| !app.placements.is_empty());
            apps.sort_by(|a, b| a.name.cmp(&b.name));
            for app in &mut apps {
                let clusters = &mut app.placements;
                clusters.sort_by(|(_, a), (_, b)| a.cluster().cmp(b.cluster()));
            }
        }
        let apps = apps.into_iter().enumerate();
        apps.map(|(at, app)| {
            let before = shown.and_then(|shown| shown.app(&app.name, at));
            let clusters = app.placements.into_iter().map(|(_, view)| view);
            AppView::renewed(before, &app.name, clusters.collect())
        })
        .collect()
    }
}

impl JoinedApp {
    fn new(name: &Arc<str>) -> Self {
        Self {
            name: Arc::clone(name),
            placements: Vec::new(),
            positions: HashMap::new(),
        }
    }

    fn add(&mut self, rank: Rank, shown: Arc<ClusterView>) {
        let rank = Precedence {
            is_received: *shown.report() != Report::NotYet,
            rank,
        };
        let known = self.positions.get(shown.cluster());
        match known.and_then(|at| self.placements.get_mut(*at)) {
            Some(known) if known.0 < rank => *known = (rank, shown),
            Some(_) => {}
            None => {
                let cluster = shown.cluster().clone();
                self.positions.insert(cluster, self.placements.len());
                self.placements.push((rank, shown));
            }
        }
    }
}

#[cfg(test)]
mod tests;
