//! Resources that wait for other resources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kindsight_appcontext::{Deployed, Place, ResourceName};
use kindsight_model::{ClusterName, ContextId, RsyncStatus};

use super::{Part, Placement, Plan, Run, Step};
use crate::Result;
use crate::work::Job;

/// The status of a dependency that must be ready, in the words of the key layout.
const READY: &str = "Ready";

/// The progress of one call.
#[derive(Default)]
pub(super) struct Progress {
    apps: Mutex<BTreeMap<String, AppProgress>>,
    resources: Mutex<BTreeMap<Place, Deployed>>,
    has_advanced: AtomicBool,
    has_waited: AtomicBool,
    away: Mutex<BTreeSet<ClusterName>>,
}

#[derive(Default, Clone, Copy)]
struct AppProgress {
    /// The number of resources that are not Applied.
    open: usize,
    has_failed: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    /// Notes the stored statuses.
    pub(super) fn begin(&self, plan: &Plan) {
        let (mut apps, mut resources) = (locked(&self.apps), locked(&self.resources));
        for placement in &plan.placements {
            let app = placement.target.deployment.app.to_string();
            let app = apps.entry(app).or_default();
            for step in &placement.steps {
                let status = step.status().unwrap_or(RsyncStatus::Pending);
                app.open += usize::from(status != RsyncStatus::Applied);
                app.has_failed |= status == RsyncStatus::Failed;
                let deployed = step.known.as_ref().unwrap_or(&step.deployed);
                let deployed = Deployed {
                    status,
                    ..deployed.clone()
                };
                resources.insert(step.place.clone(), deployed);
            }
        }
    }

    /// Notes a resource that was applied.
    pub(super) fn applied(&self, step: &Step, deployed: Deployed) {
        self.has_advanced.store(true, Ordering::Relaxed);
        locked(&self.resources).insert(step.place.clone(), deployed);
        if let Some(app) = locked(&self.apps).get_mut(&step.place.app) {
            app.open = app.open.saturating_sub(1);
        }
    }

    /// Notes a resource that was refused.
    pub(super) fn failed(&self, step: &Step) {
        self.has_advanced.store(true, Ordering::Relaxed);
        if let Some(deployed) = locked(&self.resources).get_mut(&step.place) {
            deployed.status = RsyncStatus::Failed;
        }
        if let Some(app) = locked(&self.apps).get_mut(&step.place.app) {
            app.has_failed = true;
        }
    }

    /// Notes a cluster that did not answer.
    pub(super) fn unreachable(&self, cluster: &ClusterName) {
        locked(&self.away).insert(cluster.clone());
    }

    /// The clusters that did not answer.
    pub(super) fn away(&self) -> BTreeSet<ClusterName> {
        locked(&self.away).clone()
    }

    /// Returns whether another round at once can send more: a resource waited, and another one was applied or refused.
    pub(super) fn may_continue(&self) -> bool {
        self.has_waited.load(Ordering::Relaxed) && self.has_advanced.load(Ordering::Relaxed)
    }

    fn app(&self, name: &str) -> Option<AppProgress> {
        locked(&self.apps).get(name).copied()
    }

    fn resource(&self, place: &Place) -> Option<Deployed> {
        locked(&self.resources).get(place).cloned()
    }

    fn resources_of(&self, app: &str) -> BTreeMap<Place, Deployed> {
        let resources = locked(&self.resources);
        let of_app = resources.iter().filter(|(place, _)| place.app == app);
        of_app
            .map(|(place, deployed)| (place.clone(), deployed.clone()))
            .collect()
    }
}

/// A job, the context that it works on, and a dependency.
type TimerKey = (Job, ContextId, String);

/// The times at which the conditions of dependencies were met. In memory: after a restart, the wait begins again. One entry
/// for each met dependency with a wait.
#[derive(Clone, Default)]
pub(super) struct Timers(Arc<Mutex<BTreeMap<TimerKey, Duration>>>);

impl Timers {
    /// The time since a condition is met.
    fn since_met(&self, key: TimerKey, now: Duration) -> Duration {
        let mut times = locked(&self.0);
        let met = times.entry(key).or_insert(now);
        now.saturating_sub(*met)
    }

    pub(super) fn retain(&self, is_kept: impl Fn(&Job, &ContextId) -> bool) {
        locked(&self.0).retain(|(job, id, _), _| is_kept(job, id));
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        locked(&self.0).len()
    }
}

/// The state of a dependency.
enum Wait {
    Met,
    /// Not met, with the reason.
    Open(String),
    /// It can never be met, with the reason.
    Never(String),
}

impl Run<'_> {
    /// The result of a placement whose app waits for another app; `None` if the app can be sent.
    pub(super) fn app_waits(&self, placement: &Placement) -> Result<Option<Part>> {
        let first = placement.steps.iter();
        let mut first = first.filter(|step| step.status() != Some(RsyncStatus::Applied));
        let Some(first) = first.next() else {
            return Ok(None);
        };
        for on in &placement.depends_on {
            let key = format!("{} > {}", placement.target.deployment.app, on.app);
            let wait = match self.progress.app(&on.app) {
                None => Wait::Met,
                Some(app) if app.has_failed => Wait::Never(format!(
                    "it waits for the app {}, and a resource of this app failed",
                    on.app
                )),
                Some(app) if app.open > 0 => {
                    Wait::Open(format!("it waits until the app {} is applied", on.app))
                }
                Some(_)
                    if on.status == READY
                        && !self.are_ready(&self.progress.resources_of(&on.app)) =>
                {
                    Wait::Open(format!("it waits until the app {} is ready", on.app))
                }
                Some(_) => self.held(key, on.wait_seconds),
            };
            if let Some(part) = self.store_wait(first, wait)? {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    /// The result of a resource that waits for another resource; `None` if the resource can be sent.
    pub(super) fn resource_waits(
        &self,
        placement: &Placement,
        step: &Step,
    ) -> Result<Option<Part>> {
        for wait in &step.waits {
            let Ok(on) = wait.on.parse::<ResourceName>() else {
                continue;
            };
            let mut place = step.place.clone();
            place.resource = on;
            let name = format!("{} {}", place.resource.kind(), place.resource.name());
            let app = &placement.target.deployment.app;
            let key = format!("{app} {} {} > {name}", place.cluster, step.place.resource);
            let Some(on) = self.progress.resource(&place) else {
                continue;
            };
            let wait = match on.status {
                RsyncStatus::Failed => Wait::Never(format!("it waits for {name}, which failed")),
                RsyncStatus::Applied if wait.status != READY => self.held(key, wait.wait_seconds),
                RsyncStatus::Applied if self.is_ready(&place, &on) => {
                    self.held(key, wait.wait_seconds)
                }
                RsyncStatus::Applied => Wait::Open(format!("it waits until {name} is ready")),
                _ => Wait::Open(format!("it waits until {name} is applied")),
            };
            if let Some(part) = self.store_wait(step, wait)? {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    fn is_ready(&self, place: &Place, deployed: &Deployed) -> bool {
        self.are_ready(&BTreeMap::from([(place.clone(), deployed.clone())]))
    }

    fn are_ready(&self, resources: &BTreeMap<Place, Deployed>) -> bool {
        self.of.readiness.are_ready(&self.work.context, resources)
    }

    /// A condition that is met, until its time to wait is over.
    fn held(&self, dependency: String, wait_seconds: i64) -> Wait {
        let wait = Duration::from_secs(wait_seconds.try_into().unwrap_or_default());
        if wait.is_zero() {
            return Wait::Met;
        }
        let now = self.of.readiness.now();
        let key = (self.job.clone(), self.work.context.clone(), dependency);
        let since = self.of.timers.since_met(key, now);
        if since >= wait {
            return Wait::Met;
        }
        Wait::Open(format!("it waits for {} seconds", wait.as_secs()))
    }

    /// Stores the reason of a resource that waits.
    fn store_wait(&self, step: &Step, wait: Wait) -> Result<Option<Part>> {
        let (why, part) = match wait {
            Wait::Met => return Ok(None),
            Wait::Open(why) => {
                self.progress.has_waited.store(true, Ordering::Relaxed);
                (why, Part::Waiting)
            }
            Wait::Never(why) => (why, Part::Failed),
        };
        let mut deployed = step.deployed.clone();
        deployed.why = Some(why);
        self.store_one(step, deployed)?;
        Ok(Some(part))
    }
}
