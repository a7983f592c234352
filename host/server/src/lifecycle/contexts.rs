//! Work on contexts of another orchestrator, which calls this server as its rsync.

use kindsight_appcontext::{
    AskedWork, ContextMeta, ContextSnapshot, Error as StoreError, NETWORK_INTENTS,
};
use kindsight_grpc::{ContextWork, WorkError, WorkSubject};
use kindsight_lifecycle::{CREATED, Error};
use kindsight_model::{ContextId, ContextStatus, DigName, RecordSubject};
use kindsight_store::chain;

use super::ServedGroups;

impl ServedGroups {
    /// Reads a context of another orchestrator.
    fn foreign(&self, id: &ContextId) -> Result<ContextSnapshot, WorkError> {
        let snapshot = self.contexts.read(id).map_err(|error| of_store(&error))?;
        let snapshot = snapshot.ok_or_else(|| WorkError::NotFound(id.clone()))?;
        for subject in subjects(&snapshot) {
            let record = self.records.get(&subject);
            if record.map_err(|error| of_store(&error))?.is_some() {
                let why = format!(
                    "the record of the {subject} was created through the REST API of kindsight; use that API"
                );
                return Err(WorkError::Refused(why));
            }
        }
        Ok(snapshot)
    }

    /// Refuses a context with a cluster that nothing can be sent to.
    fn check_clusters(&self, snapshot: &ContextSnapshot) -> Result<(), WorkError> {
        let clusters = snapshot.apps.iter().flat_map(|app| &app.clusters);
        for cluster in clusters {
            let checked = self.sender.check(&cluster.cluster);
            checked.map_err(|error| WorkError::Refused(error.to_string()))?;
        }
        Ok(())
    }

    /// Records the work, and has the worker begin.
    fn ask(&self, id: &ContextId, work: AskedWork) -> Result<(), WorkError> {
        let job = self.groups.ask(id, work).map_err(|error| match error {
            Error::NoContext(id) => WorkError::NotFound(id),
            Error::Store(error) => of_store(&error),
            error => WorkError::Refused(chain(&error)),
        })?;
        self.pending.add(job);
        Ok(())
    }
}

/// The group of a context; none if its meta names no group.
fn group(meta: &ContextMeta) -> Option<DigName> {
    DigName::new(&meta.project, &meta.composite_app, &meta.version, &meta.dig).ok()
}

/// The group of a context, or the clusters that its network intents are for.
fn subjects(snapshot: &ContextSnapshot) -> Vec<RecordSubject> {
    if let Some(name) = snapshot.meta.as_ref().and_then(group) {
        return vec![RecordSubject::Group(name)];
    }
    let apps = snapshot.apps.iter();
    let intents = apps.filter(|app| app.name == NETWORK_INTENTS);
    let clusters = intents.flat_map(|app| &app.clusters);
    clusters
        .map(|record| RecordSubject::from(&record.cluster))
        .collect()
}

fn of_store(error: &StoreError) -> WorkError {
    if error.is_unavailable() {
        WorkError::Unavailable(chain(error))
    } else {
        WorkError::Refused(chain(error))
    }
}

/// The reason why a context in this state cannot be installed; none if it can.
fn not_installable(id: &ContextId, status: Option<&ContextStatus>) -> Option<String> {
    let status = status?;
    let is_installable = matches!(
        status,
        ContextStatus::Instantiating
            | ContextStatus::Instantiated
            | ContextStatus::InstantiateFailed
    ) || status.as_str() == CREATED;
    (!is_installable)
        .then(|| format!("the AppContext {id} is {status}; only a new AppContext can be installed"))
}

impl ContextWork for ServedGroups {
    fn subject(&self, id: &ContextId) -> Result<WorkSubject, WorkError> {
        let context = match self.contexts.load(id) {
            Err(StoreError::NotFound { .. }) => return Err(WorkError::NotFound(id.clone())),
            loaded => loaded.map_err(|error| of_store(&error))?,
        };
        let meta = match context.meta().get() {
            Err(error @ StoreError::Store(_)) => return Err(of_store(&error)),
            // A meta that cannot be read names no group.
            read => read.ok().flatten(),
        };
        let name = meta.as_ref().and_then(group);
        Ok(name.map_or(WorkSubject::Other, WorkSubject::Group))
    }

    fn install(&self, id: &ContextId) -> Result<(), WorkError> {
        let snapshot = self.foreign(id)?;
        if let Some(why) = not_installable(id, snapshot.status.as_ref()) {
            return Err(WorkError::Refused(why));
        }
        if self.records.asked(id).map_err(|error| of_store(&error))? == Some(AskedWork::Terminate) {
            let why = format!("the termination of the AppContext {id} is not complete");
            return Err(WorkError::Refused(why));
        }
        self.check_clusters(&snapshot)?;
        self.ask(id, AskedWork::Instantiate)
    }

    fn uninstall(&self, id: &ContextId) -> Result<(), WorkError> {
        self.foreign(id)?;
        self.ask(id, AskedWork::Terminate)
    }

    fn read(&self, id: &ContextId) -> Result<(), WorkError> {
        let snapshot = self.foreign(id)?;
        if self
            .records
            .asked(id)
            .map_err(|error| of_store(&error))?
            .is_some()
        {
            let why = format!("other work on the AppContext {id} is not complete");
            return Err(WorkError::Refused(why));
        }
        self.check_clusters(&snapshot)?;
        self.ask(id, AskedWork::Read)
    }
}
