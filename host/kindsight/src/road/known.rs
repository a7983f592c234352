//! One `AppContext`, as the road keeps it. It is shown by one published set as a whole.

use std::sync::Arc;

use kindsight_appcontext::{AppSnapshot, ContextMeta, ContextSnapshot};
use kindsight_interpreter::{Interpreters, Published, Siblings};
use kindsight_model::{ClusterName, ContextId, ContextStatus, DigName, Object, Verdict};
use kindsight_status::{AppView, ContextView};

use crate::road::affected::Affected;
use crate::road::again::Slice;
use crate::road::place::Place;

/// Who judges: the workers, by a set of the road's choice.
#[derive(Clone, Copy)]
pub(crate) struct By<'r> {
    /// The workers.
    pub(crate) interpreters: &'r Interpreters,
    /// The set.
    pub(crate) set: &'r Arc<Published>,
}

impl By<'_> {
    /// Judges a whole report.
    pub(crate) fn judge(self, objects: &Arc<[Object]>, now_ms: i64) -> Vec<Verdict> {
        let siblings = Arc::new(Siblings::of(Arc::clone(objects)));
        self.judge_among(objects, &siblings, now_ms)
    }

    /// Judges some objects of a report.
    pub(crate) fn judge_among(
        self,
        objects: &Arc<[Object]>,
        siblings: &Arc<Siblings>,
        now_ms: i64,
    ) -> Vec<Verdict> {
        self.interpreters
            .judge_among(self.set, objects, siblings, now_ms)
    }
}

/// One `AppContext`, as the road keeps it.
pub(crate) struct Known {
    meta: Option<DigName>,
    status: Option<ContextStatus>,
    faults: Vec<Arc<str>>,
    apps: Vec<(Arc<str>, Vec<Place>)>,
    /// The set that everything in it is shown by.
    shown_by: Arc<Published>,
    /// Which report of all that were taken in was its last; 0 while there was none.
    pub(crate) last_report: u64,
}

/// What the reports on one app in one cluster hold, for who wants to judge it without showing it.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// `context/app/provider+cluster`.
    pub(crate) place: String,
    /// What was reported together, in the report's order.
    pub(crate) objects: Arc<[Object]>,
}

/// How far a context has come on its way to another set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// More is to be judged.
    Unfinished,
    /// It is shown by the new set, and nothing looks different.
    SameView,
    /// It is shown by the new set, and has to be shown anew.
    NewView,
}

impl Known {
    /// From what the store holds, judged and ready to be shown.
    pub(crate) fn new(snapshot: ContextSnapshot, by: By<'_>, now_ms: i64) -> Self {
        let meta = snapshot.meta.as_ref();
        let namespace: Arc<str> = meta.map_or("", |meta| &meta.namespace).into();
        let name = |meta: &ContextMeta| {
            DigName::new(&meta.project, &meta.composite_app, &meta.version, &meta.dig).ok()
        };
        let unreadable = snapshot.unreadable.iter();
        let faults = unreadable.map(|it| format!("{}: {}", it.key, it.why).into());
        let app = |app: AppSnapshot| {
            let name: Arc<str> = app.name.as_str().into();
            let places = app.clusters.into_iter().map(|cluster| {
                let mut place = Place::new(cluster, &namespace, &snapshot.id, &name);
                place.judge(by, now_ms);
                place
            });
            (Arc::clone(&name), places.collect())
        };
        Self {
            meta: meta.and_then(name),
            status: snapshot.status,
            faults: faults.collect(),
            apps: snapshot.apps.into_iter().map(app).collect(),
            shown_by: Arc::clone(by.set),
            last_report: 0,
        }
    }

    /// The set that everything in it is shown by.
    pub(crate) fn shown_by(&self) -> &Published {
        &self.shown_by
    }

    /// Changes the place of an app in a cluster, where there is one. Answers whether it says that
    /// it did.
    pub(crate) fn change(
        &mut self,
        app: &str,
        cluster: &ClusterName,
        interpreters: &Interpreters,
        change: impl FnOnce(&mut Place, By<'_>) -> bool,
    ) -> bool {
        let set = &self.shown_by;
        let apps = self.apps.iter_mut().filter(|(name, _)| **name == *app);
        let mut places = apps.flat_map(|(_, places)| places);
        let place = places.find(|place| place.cluster() == cluster);
        place.is_some_and(|place| change(place, By { interpreters, set }))
    }

    /// Changes every place in a cluster. Answers whether any of them says that it did.
    pub(crate) fn change_all(
        &mut self,
        cluster: &ClusterName,
        change: impl Fn(&mut Place) -> bool,
    ) -> bool {
        let places = self.places().filter(|place| place.cluster() == cluster);
        // Every place is changed, so this counts instead of stopping at the first.
        places.map(change).filter(|&did| did).count() > 0
    }

    /// Judges again, by the set it is shown by, what wants that by now. Answers whether anything did.
    pub(crate) fn look_again(&mut self, interpreters: &Interpreters, now_ms: i64) -> bool {
        let set = &self.shown_by;
        let places = self.apps.iter_mut().flat_map(|(_, places)| places);
        let is_due = |place: &&mut Place| place.look_again_at_ms().is_some_and(|at| at <= now_ms);
        let due = places.filter(is_due);
        due.map(|place| place.judge(By { interpreters, set }, now_ms))
            .count()
            > 0
    }

    /// When the next of its verdicts wants to be looked at again.
    pub(crate) fn look_again_at_ms(&self) -> Option<i64> {
        let places = self.apps.iter().flat_map(|(_, places)| places);
        places.filter_map(Place::look_again_at_ms).min()
    }

    /// Goes on towards the set of `goal`, as far as the slice allows. What is shown stays as it is
    /// until everything that is affected was judged; then all of it changes at once.
    pub(crate) fn go_on(
        &mut self,
        goal: By<'_>,
        affected: &mut Affected,
        slice: &mut Slice,
        now_ms: i64,
    ) -> Way {
        let mut kinds = affected.between(&self.shown_by, goal.set);
        let mut places = self.apps.iter_mut().flat_map(|(_, places)| places);
        if !places.all(|place| place.judge_again(goal, &mut kinds, slice, now_ms)) {
            return Way::Unfinished;
        }
        self.shown_by = Arc::clone(goal.set);
        let changed = self.places().map(|place| place.adopt(now_ms));
        match changed.filter(|&did| did).count() {
            0 => Way::SameView,
            _ => Way::NewView,
        }
    }

    /// Drops what was judged for a set it is not shown by.
    pub(crate) fn turn_back(&mut self) {
        for place in self.places() {
            place.forget_again();
        }
    }

    /// What its clusters reported.
    pub(crate) fn held(&self, id: &ContextId) -> impl Iterator<Item = Held> {
        let places = self.apps.iter();
        let places = places.flat_map(|(app, places)| places.iter().map(move |it| (app, it)));
        places.filter_map(move |(app, place)| {
            Some(Held {
                place: format!("{}/{app}/{}", id.as_str(), place.cluster()),
                objects: Arc::clone(place.reported()?),
            })
        })
    }

    fn places(&mut self) -> impl Iterator<Item = &mut Place> {
        self.apps.iter_mut().flat_map(|(_, places)| places)
    }

    /// What queries are answered from.
    pub(crate) fn view(&self, id: &ContextId) -> ContextView {
        let apps = self.apps.iter().map(|(name, places)| AppView {
            name: Arc::clone(name),
            clusters: places.iter().filter_map(Place::view).collect(),
        });
        ContextView {
            id: id.clone(),
            meta: self.meta.clone(),
            status: self.status.clone(),
            apps: apps.collect(),
            faults: self.faults.clone(),
        }
    }
}
