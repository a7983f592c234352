//! The source of a cluster: sessions and their watches over one index, as `kindsight-clusters` runs them.

mod passes;
mod report;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use kindsight_cluster_index::{
    ApiKind, ApplicationRule, ClusterIndex, Labels, MembershipRules, ScopeId,
};
use kindsight_model::{Coverage, Gvk, Identity, Object, Removal, Scope, parse_selector};

use super::expected::Expected;
use super::server::{Change, GROUP, KINDS, NAMESPACES, Name, Server, Spec, Stored};

/// The configuration of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Configuration {
    /// True if only namespace `web` is watched.
    pub(super) is_one_namespace: bool,
    /// True if only objects with a label belong to applications.
    pub(super) is_selected: bool,
}

impl Configuration {
    pub(super) fn rules(self) -> MembershipRules {
        MembershipRules {
            found: [ApplicationRule::PartOf].into(),
            selector: self
                .is_selected
                .then(|| parse_selector("team=web").unwrap()),
            ..MembershipRules::default()
        }
    }

    /// The application that an object names by these rules.
    pub(super) fn claim(self, spec: Spec) -> Option<&'static str> {
        let is_selected = spec.is_selected || !self.is_selected;
        spec.application.filter(|_| is_selected)
    }

    /// Returns whether the server sends an object: it has the label, or may be a child of an object with it.
    pub(super) fn sends(self, kind: &str, spec: Spec) -> bool {
        spec.is_selected || !self.is_cut(kind)
    }

    fn is_cut(self, kind: &str) -> bool {
        self.is_selected && kind != KINDS[1]
    }
}

/// The watch of a Kind in a scope.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a model, with one flag for each fact"
)]
pub(super) struct Watch {
    pub(super) scope: ScopeId,
    pub(super) kind: &'static str,
    namespace: Option<&'static str>,
    /// True while whole objects are requested.
    is_whole: bool,
    /// True from the end of the first list of the session.
    is_listed: bool,
    /// The rest of the list that is read.
    pass: Option<VecDeque<(Name, Stored)>>,
    /// Events that were not delivered; none before the list.
    events: VecDeque<Change>,
    /// True if an event was dropped since the last list.
    is_skipped: bool,
    /// True if the objects must be listed again.
    is_asked: bool,
}

impl Watch {
    fn has(&self, (namespace, _): Name) -> bool {
        self.namespace.is_none_or(|only| only == namespace)
    }

    fn extent(&self) -> Scope<'static> {
        self.namespace.map_or(Scope::Cluster, Scope::Namespace)
    }
}

/// The members of an application in the last report, with the object if it could be decoded.
pub(super) type Reported = BTreeMap<Identity, Option<Object>>;

/// A source with the state that outlives sessions.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a model, with one flag for each fact"
)]
pub(super) struct Source {
    pub(super) server: Server,
    pub(super) configuration: Configuration,
    pub(super) index: ClusterIndex,
    pub(super) expected: Expected,
    pub(super) watches: Vec<Watch>,
    /// The sum of all deltas, by application.
    pub(super) reported: BTreeMap<Arc<str>, Reported>,
    /// The objects that were deleted since the last report, by application.
    pub(super) gone: BTreeSet<(&'static str, Identity)>,
    /// The coverage that was sent.
    pub(super) sent: Option<Coverage>,
    /// The coverage of the session.
    coverage: Coverage,
    /// True once a session listed every Kind.
    is_listed: bool,
    /// True once the session has had a minute to list every Kind.
    pub(super) is_late: bool,
    /// True once this session listed every Kind.
    pub(super) is_synced: bool,
    /// True while the pipeline waits for `Synced`.
    pub(super) is_stale: bool,
}

impl Source {
    pub(super) fn new(server: Server, configuration: Configuration) -> Self {
        let mut source = Self {
            server,
            configuration,
            index: ClusterIndex::default(),
            expected: Expected::default(),
            watches: Vec::new(),
            reported: BTreeMap::new(),
            gone: BTreeSet::new(),
            sent: None,
            coverage: Coverage::nothing(),
            is_listed: false,
            is_late: false,
            is_synced: false,
            is_stale: true,
        };
        source.begin_session(configuration);
        source
    }

    /// Begins a session: every Kind is listed again.
    pub(super) fn begin_session(&mut self, configuration: Configuration) {
        self.configuration = configuration;
        self.index.begin_session();
        self.coverage = Coverage::nothing();
        self.is_late = false;
        self.is_synced = false;
        self.is_stale = true;
        self.watches.clear();
        for kind in KINDS {
            let namespace = configuration.is_one_namespace.then_some(NAMESPACES[1]);
            let api_kind = ApiKind {
                gvk: Gvk::new(GROUP, "v1", kind),
                plural: kind.to_lowercase(),
                is_namespaced: true,
            };
            let shared = namespace.map(Arc::from);
            let scope = self
                .index
                .watch(&Arc::new(api_kind), shared.as_ref(), &Labels::None);
            self.expected.watch(scope, kind);
            self.watches.push(Watch {
                scope,
                kind,
                namespace,
                is_whole: false,
                is_listed: false,
                pass: None,
                events: VecDeque::new(),
                is_skipped: false,
                is_asked: false,
            });
        }
    }

    /// Changes an object of the server, which sends an event to its watch.
    pub(super) fn set(&mut self, kind: &'static str, name: Name, spec: Option<Spec>) {
        let [before, after] = self.server.set(kind, name, spec);
        let configuration = self.configuration;
        let is_sent = |stored: &Stored| configuration.sends(kind, stored.spec);
        let change = match (before.filter(is_sent), after.filter(is_sent)) {
            (_, Some(after)) => Change::Applied(name, after),
            (Some(before), None) => Change::Deleted(name, before),
            (None, None) => return,
        };
        for watch in &mut self.watches {
            if watch.kind == kind && watch.has(name) {
                watch.events.push_back(change);
            }
        }
    }

    /// The server removes a Kind.
    pub(super) fn remove(&mut self, kind: &'static str) {
        self.server.remove(kind);
        for watch in self.watches.iter_mut().filter(|watch| watch.kind == kind) {
            watch.events.clear();
            watch.pass = None;
        }
    }

    /// Ten minutes passed since the server removed its Kinds.
    pub(super) fn remove_kinds(&mut self) {
        for watch in &self.watches {
            let is_empty = self
                .server
                .objects
                .keys()
                .all(|(kind, _)| *kind != watch.kind);
            let is_unserved =
                self.server.states[watch.kind] == kindsight_model::KindState::Unserved;
            if is_unserved && is_empty {
                self.index.remove_kind(watch.scope);
                self.expected.remove_kind(watch.scope);
            }
        }
    }

    /// The server returned to an earlier state: its objects are listed again.
    pub(super) fn restore(&mut self) {
        self.server.restore();
        for watch in &mut self.watches {
            watch.events.clear();
            watch.pass = None;
            watch.is_asked = true;
        }
    }

    /// The reason why an object is removed that the server does not send any more.
    fn removal(&self, kind: &str) -> Removal {
        if self.configuration.is_cut(kind) {
            Removal::LeftApplication
        } else {
            Removal::Deleted
        }
    }
}
