//! Lists and events, given to the index and to the model.

use std::collections::VecDeque;

use kindsight_cluster_index::Needed as _;

use super::{Source, Watch};
use crate::tests::sessions::server::{Change, NAMES, NAMESPACES, Name, Stored, decode, unnamed};

impl Source {
    /// Begins to list a Kind, with an item without identity or without one. A list that is read is dropped.
    pub(in crate::tests::sessions) fn init(&mut self, at: usize, has_unnamed: bool) {
        let Self {
            server,
            configuration,
            watches,
            index,
            expected,
            ..
        } = self;
        let watch = &mut watches[at];
        if !server.answers(watch.kind) {
            return;
        }
        let of_kind = server.objects.iter().filter(|((kind, name), stored)| {
            *kind == watch.kind && watch.has(*name) && configuration.sends(kind, stored.spec)
        });
        watch.pass = Some(
            of_kind
                .map(|((_, name), stored)| (*name, *stored))
                .collect(),
        );
        watch.events.clear();
        watch.is_asked = false;
        index.init(watch.scope);
        expected.init(watch.scope);
        if has_unnamed {
            let rules = configuration.rules();
            index.init_apply(watch.scope, unnamed(watch.kind, &rules));
            expected.unnamed(watch.scope);
        }
    }

    /// Takes some objects of the list that is read.
    pub(in crate::tests::sessions) fn init_apply(&mut self, at: usize, count: usize) {
        for _ in 0..count {
            let watch = &mut self.watches[at];
            let Some((name, stored)) = watch.pass.as_mut().and_then(VecDeque::pop_front) else {
                return;
            };
            let claim = self.configuration.claim(stored.spec);
            let (scope, decoded) = decoded(self.configuration, watch, name, &stored);
            self.index.init_apply(scope, decoded);
            self.expected.init_apply(scope, name, stored, claim);
        }
    }

    /// Ends the list that is read.
    pub(in crate::tests::sessions) fn init_done(&mut self, at: usize) {
        self.init_apply(at, usize::MAX);
        let watch = &mut self.watches[at];
        if watch.pass.take().is_none() {
            return;
        }
        watch.is_listed = true;
        watch.is_skipped = false;
        let (scope, kind) = (watch.scope, watch.kind);
        let removal = self.removal(kind);
        self.index.init_done(scope, removal);
        self.expected.init_done(scope, removal);
        if self.index.is_used(scope) {
            self.watches[at].is_whole = true;
        }
    }

    /// Takes some events of a watch that follows its Kind.
    pub(in crate::tests::sessions) fn follow(&mut self, at: usize, count: usize) {
        for _ in 0..count {
            let Some(change) = self.next_event(at) else {
                return;
            };
            let watch = &self.watches[at];
            match change {
                Change::Applied(name, stored) => {
                    let claim = self.configuration.claim(stored.spec);
                    let (scope, decoded) = decoded(self.configuration, watch, name, &stored);
                    self.index.apply(scope, decoded);
                    self.expected.apply(scope, name, stored, claim);
                }
                Change::Deleted(name, stored) => {
                    let (scope, decoded) = decoded(self.configuration, watch, name, &stored);
                    let removal = self.removal(watch.kind);
                    self.index.delete(scope, &decoded, removal);
                    self.expected.delete(scope, name, removal);
                }
            }
        }
    }

    /// The next event of a watch cannot be decoded.
    pub(in crate::tests::sessions) fn skip(&mut self, at: usize) {
        if self.next_event(at).is_some() {
            self.watches[at].is_skipped = true;
        }
    }

    fn next_event(&mut self, at: usize) -> Option<Change> {
        let watch = &mut self.watches[at];
        let is_following = watch.is_listed && watch.pass.is_none() && !watch.is_asked;
        if !is_following || !self.server.answers(watch.kind) {
            return None;
        }
        watch.events.pop_front()
    }

    /// Lists the objects that are needed whole, which may be newer than the events of their watch.
    pub(in crate::tests::sessions) fn list_parts(&mut self) {
        self.index.take_wanted();
        for at in 0..self.watches.len() {
            let watch = &mut self.watches[at];
            let (scope, kind) = (watch.scope, watch.kind);
            let is_idle = watch.is_listed && watch.pass.is_none() && !watch.is_asked;
            if !is_idle || !self.server.answers(kind) {
                continue;
            }
            for namespace in NAMESPACES {
                let needed = self.index.needed(scope).names(namespace);
                self.watches[at].is_whole |= !needed.is_empty();
                for name in NAMES
                    .into_iter()
                    .filter(|name| needed.contains(&(*name).into()))
                {
                    self.complete(at, (namespace, name));
                }
            }
        }
    }

    fn complete(&mut self, at: usize, name: Name) {
        let watch = &self.watches[at];
        let stored = self.server.objects.get(&(watch.kind, name)).copied();
        let sends = |stored: &Stored| self.configuration.sends(watch.kind, stored.spec);
        if let Some(stored) = stored.filter(sends) {
            let claim = self.configuration.claim(stored.spec);
            let (scope, decoded) = decoded(self.configuration, watch, name, &stored);
            self.index.complete(scope, decoded);
            self.expected.complete(scope, name, stored, claim);
        }
    }

    /// Returns whether objects are needed whole that can be listed.
    pub(super) fn are_parts_needed(&self, watch: &Watch) -> bool {
        let needed = self.index.needed(watch.scope);
        let mut namespaces = NAMESPACES.into_iter();
        namespaces.any(|namespace| !needed.names(namespace).is_empty())
    }
}

fn decoded(
    configuration: super::Configuration,
    watch: &Watch,
    name: Name,
    stored: &Stored,
) -> (
    kindsight_cluster_index::ScopeId,
    kindsight_cluster_index::Decoded,
) {
    let rules = configuration.rules();
    let decoded = decode(watch.kind, name, stored, &rules, watch.is_whole);
    (watch.scope, decoded)
}
