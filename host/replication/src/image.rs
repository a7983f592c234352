//! The half of the follower: the state that the upstream host sent.

mod placement;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use kindsight_model::{ClusterName, Declared, DeclaredReason, InterpretedBy, RecordSubject, Texts};
use kindsight_status::{
    AppView, ApplicationHistory, ApplicationKey, ClusterView, ContextView, HistoryChange, StoreAway,
};

use crate::batch::{ApplicationChange, Batch, StoresChange};
use crate::wire::{
    AppLine, ApplicationLine, BeginLine, ConnectionLine, FORMAT, HistoryLine, InterpreterLine,
    Line, RecordLine, StaleLine, StoresLine, WireError, key_of,
};
use placement::OpenPlacement;

/// The interpreters of a stream by their numbers.
type Numbered = HashMap<u32, Arc<InterpretedBy>>;

/// The received state of one upstream host. Each stream begins with a complete snapshot: subjects that the snapshot lacks are
/// removed at its end.
#[derive(Debug, Default)]
pub struct Image {
    applications: HashMap<ApplicationKey, Held>,
    /// The clusters with the fencing numbers of their owners; 0 before the stream names the owner.
    connections: BTreeMap<ClusterName, u64>,
    records: HashSet<RecordSubject>,
    /// True once the upstream host has sent the outages of its stores.
    has_stores: bool,
    interpreters: Numbered,
    /// The texts that the resources share.
    texts: Texts,
    /// True if this stream has the histories of its applications.
    has_histories: bool,
    /// The placement whose rows are being received.
    open: Option<OpenPlacement>,
    /// Everything that the snapshot has not named yet; `None` after the snapshot.
    unseen: Option<Unseen>,
    batch: Batch,
    /// The applications that changed in this batch, with the change of the history of each.
    changed: HashMap<ApplicationKey, HistoryChange>,
}

/// An application.
#[derive(Debug, Default)]
struct Held {
    line: ApplicationLine,
    placements: HashMap<(Arc<str>, Arc<str>), Arc<ClusterView>>,
    /// The apps of the last view.
    apps: Vec<Arc<AppView>>,
}

/// Everything that was known before a snapshot.
#[derive(Debug)]
struct Unseen {
    applications: HashSet<ApplicationKey>,
    connections: HashSet<ClusterName>,
    records: HashSet<RecordSubject>,
}

impl Image {
    /// Returns whether a complete snapshot was applied since the begin of the stream.
    pub fn is_synced(&self) -> bool {
        self.unseen.is_none()
    }

    /// Applies one line. Returns the changes at the end of a batch.
    ///
    /// # Errors
    /// [`WireError`]: the caller ends the stream, and begins another one with [`Self::restart`].
    pub fn take(&mut self, line: &[u8]) -> Result<Option<Batch>, WireError> {
        let line: Line = serde_json::from_slice(line)?;
        if let Some(begin) = &line.begin {
            check_format(begin)?;
            self.has_histories = begin.histories;
        }
        if let Some(interpreter) = line.interpreter {
            self.interpreters
                .insert(interpreter.number, interpreter_of(interpreter));
        }
        if let Some(connection) = line.connection {
            self.take_connection(connection)?;
        }
        if let Some(application) = line.application {
            self.take_application(application)?;
        }
        if let Some(placement) = line.placement {
            self.open_placement(placement)?;
        }
        if let Some(rows) = line.rows {
            let open = self.open.take();
            let open = open.ok_or(WireError::Unknown("a placement"))?;
            self.continue_placement(open, rows)?;
        }
        if let Some(history) = line.history {
            self.take_history(history)?;
        }
        if let Some(record) = line.record {
            self.take_record(record)?;
        }
        if let Some(stores) = line.stores {
            self.take_stores(stores);
        }
        if let Some(gone) = line.gone {
            self.remove(key_of(&gone.of)?);
        }
        if line.end.is_some() {
            return self.end().map(Some);
        }
        Ok(None)
    }

    /// Begins another stream: its snapshot replaces the state, and an unfinished batch is discarded.
    pub fn restart(&mut self) {
        self.interpreters.clear();
        self.has_histories = false;
        self.open = None;
        // The snapshot has everything except what an unfinished batch removed.
        let unfinished = std::mem::take(&mut self.batch);
        let connections = unfinished.connections.into_iter();
        let records = unfinished.records.into_iter();
        self.batch = Batch {
            connections: connections.filter(|(_, it)| it.is_none()).collect(),
            records: records.filter(|(_, it)| it.is_none()).collect(),
            // A snapshot names the stores only during an outage.
            stores: self.has_stores.then(StoresChange::default),
            gone: unfinished.gone,
            ..Batch::default()
        };
        self.changed.clear();
        self.unseen = Some(Unseen {
            applications: self.applications.keys().cloned().collect(),
            connections: self.connections.keys().cloned().collect(),
            records: self.records.clone(),
        });
        // The next stream names the owners again. The clusters remain until a snapshot lacks them: a stream can end before
        // the end of its snapshot.
        for fence in self.connections.values_mut() {
            *fence = 0;
        }
    }

    fn take_connection(&mut self, line: ConnectionLine) -> Result<(), WireError> {
        let (cluster, connection) = line.read()?;
        if let Some(unseen) = &mut self.unseen {
            unseen.connections.remove(&cluster);
        }
        match &connection {
            Some(connection) => {
                let fence = connection.owner.fence;
                self.connections.insert(cluster.clone(), fence);
            }
            None => {
                self.connections.remove(&cluster);
            }
        }
        self.batch.connections.push((cluster, connection));
        Ok(())
    }

    fn take_application(&mut self, line: ApplicationLine) -> Result<(), WireError> {
        let key = key_of(&line.of)?;
        // Checks the names before the line is kept.
        line.head(&key)?;
        if let Some(unseen) = &mut self.unseen {
            unseen.applications.remove(&key);
        }
        // An application without a history line in a snapshot has no history.
        let history = if self.unseen.is_some() {
            HistoryChange::Replace {
                history: ApplicationHistory::default(),
                application: None,
            }
        } else {
            HistoryChange::default()
        };
        self.changed.entry(key.clone()).or_insert(history);
        self.applications.entry(key).or_default().set_line(line);
        Ok(())
    }

    fn take_history(&mut self, line: HistoryLine) -> Result<(), WireError> {
        let key = key_of(&line.of)?;
        if !self.applications.contains_key(&key) {
            return Err(WireError::Unknown("an application"));
        }
        let change = line.read(|number| self.interpreters.get(&number).cloned())?;
        self.changed.insert(key, change);
        Ok(())
    }

    fn take_record(&mut self, line: RecordLine) -> Result<(), WireError> {
        let (subject, record) = line.read()?;
        if let Some(unseen) = &mut self.unseen {
            unseen.records.remove(&subject);
        }
        if record.is_some() {
            self.records.insert(subject.clone());
        } else {
            self.records.remove(&subject);
        }
        self.batch.records.push((subject, record));
        Ok(())
    }

    fn take_stores(&mut self, line: StoresLine) {
        let away = |line: StaleLine| StoreAway {
            since_ms: line.since_ms,
            reason: line.reason,
        };
        self.has_stores = true;
        self.batch.stores = Some(StoresChange {
            contexts: line.contexts.map(away),
            states: line.states.map(away),
        });
    }

    fn remove(&mut self, key: ApplicationKey) {
        self.changed.remove(&key);
        if self.applications.remove(&key).is_some() {
            self.batch.gone.push(key);
        }
    }

    /// Ends a batch: what a snapshot lacks is removed, and the changed applications are assembled.
    fn end(&mut self) -> Result<Batch, WireError> {
        if self.open.is_some() {
            return Err(WireError::Unknown("the rest of a placement"));
        }
        if let Some(unseen) = self.unseen.take() {
            self.sweep(unseen);
        }
        let mut batch = std::mem::take(&mut self.batch);
        batch.has_histories = self.has_histories;
        batch
            .gone
            .retain(|key| !self.applications.contains_key(key));
        for (key, history) in std::mem::take(&mut self.changed) {
            if let Some(held) = self.applications.get_mut(&key) {
                let view = held.view(&key)?;
                batch
                    .applications
                    .push(ApplicationChange { key, view, history });
            }
        }
        Ok(batch)
    }

    fn sweep(&mut self, unseen: Unseen) {
        for key in unseen.applications {
            self.remove(key);
        }
        for cluster in unseen.connections {
            self.connections.remove(&cluster);
            self.batch.connections.push((cluster, None));
        }
        for subject in unseen.records {
            self.records.remove(&subject);
            self.batch.records.push((subject, None));
        }
    }
}

impl Held {
    /// Takes the line of the application. Placements that it does not name are gone. Most lines are equal to the last one.
    fn set_line(&mut self, line: ApplicationLine) {
        if self.line == line {
            return;
        }
        let apps = line.apps.iter();
        let named: HashSet<(&Arc<str>, &Arc<str>)> = apps
            .flat_map(|app| app.clusters.iter().map(|cluster| (&app.name, cluster)))
            .collect();
        self.placements
            .retain(|(app, cluster), _| named.contains(&(app, cluster)));
        self.line = line;
    }

    /// The view of the application. Apps that did not change since the last view are the same values.
    fn view(&mut self, key: &ApplicationKey) -> Result<ContextView, WireError> {
        let mut view = self.line.head(key)?;
        let app = |(at, app): (usize, &AppLine)| {
            let placement = |cluster: &Arc<str>| {
                let place = (Arc::clone(&app.name), Arc::clone(cluster));
                self.placements.get(&place).cloned()
            };
            let clusters = app.clusters.iter().filter_map(placement);
            AppView::renewed(self.apps.get(at), &app.name, clusters.collect())
        };
        view.apps = self.line.apps.iter().enumerate().map(app).collect();
        self.apps.clone_from(&view.apps);
        Ok(view)
    }
}

fn check_format(begin: &BeginLine) -> Result<(), WireError> {
    if begin.format == FORMAT {
        Ok(())
    } else {
        Err(WireError::Format(begin.format))
    }
}

fn interpreter_of(line: InterpreterLine) -> Arc<InterpretedBy> {
    let reasons = line.reasons.into_iter().map(|reason| DeclaredReason {
        name: reason.name,
        summary: reason.summary,
        help_url: reason.help_url,
    });
    Arc::new(InterpretedBy {
        declared: Arc::new(Declared {
            final_states: line.final_states,
            reasons: reasons.collect(),
        }),
        ..line.by
    })
}
