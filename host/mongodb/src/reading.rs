//! One read of all states.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::sync::PoisonError;
use std::time::Duration;

use kindsight_model::RecordSubject;
use mongodb::bson::{RawDocumentBuf, doc};
use mongodb::error::Error as DriverError;
use tokio::time::timeout;

use crate::connection::Connection;
use crate::document::{self, Read};
use crate::failure::Failure;
use crate::faults::FoundFaults;
use crate::layout::{DATABASES, Layout, STATE};
use crate::limits::{DOCUMENTS_MAX, PAGE_DOCUMENTS_MAX, STATES_BYTES_MAX};
use crate::states::States;

/// Reads states through one connection.
pub(crate) struct Reader {
    pub(crate) connection: Connection,
    deadline: Duration,
    /// The place of the states, once it is known.
    place: Option<StatesDatabase>,
}

/// The database with the states.
#[derive(Debug, Clone)]
pub(crate) struct StatesDatabase {
    pub(crate) database: String,
    layout: Layout,
}

/// The states, faults and counts of one read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) states: States,
    /// Subjects whose documents exist but cannot be read.
    pub(crate) unreadable: BTreeSet<RecordSubject>,
    pub(crate) faults: FoundFaults,
    documents: usize,
    bytes: usize,
}

impl Reader {
    pub(crate) fn new(connection: Connection, deadline: Duration) -> Self {
        Self {
            connection,
            deadline,
            place: None,
        }
    }

    /// The database of the last read.
    pub(crate) fn database(&self) -> Option<&str> {
        self.place.as_ref().map(|place| &*place.database)
    }

    /// Reads all states. If no document is found, the database and its collections must still
    /// exist: an empty server must not cause all known states to be dropped.
    pub(crate) async fn read(&mut self) -> Result<Reading, Failure> {
        let place = match self.place.take() {
            Some(place) => place,
            None => self.find().await?,
        };
        let mut reading = Reading::default();
        for collection in place.layout.collections() {
            self.read_collection(&place, collection, &mut reading)
                .await?;
        }
        if reading.documents == 0 {
            self.find().await?;
        } else {
            self.place = Some(place);
        }
        Ok(reading)
    }

    /// Finds the database and its layout.
    async fn find(&self) -> Result<StatesDatabase, Failure> {
        let named = self.connection.database.as_deref();
        let databases = named.map_or(DATABASES.to_vec(), |name| vec![name]);
        let mut denied = None;
        for name in &databases {
            let database = self.connection.client.database(name);
            let listing = database.list_collection_names();
            match self.answer(async { listing.await }).await {
                Ok(collections) => {
                    if let Some(layout) = Layout::of(&collections) {
                        let database = (*name).to_owned();
                        return Ok(StatesDatabase { database, layout });
                    }
                }
                Err(failure) if failure.is_denied => denied = Some(failure),
                Err(failure) => return Err(failure),
            }
        }
        Err(denied.unwrap_or_else(|| {
            Failure::new(match named {
                Some(name) => format!(
                    "the database {name} has neither a collection `resources` nor `orchestrator` or `cluster`"
                ),
                None => "there is no database `emco` or `mco` with states; write the name of the database into the URI".to_owned(),
            })
        }))
    }

    async fn read_collection(
        &self,
        place: &StatesDatabase,
        collection: &str,
        reading: &mut Reading,
    ) -> Result<(), Failure> {
        let database = self.connection.client.database(&place.database);
        let collection = database.collection::<RawDocumentBuf>(collection);
        let found = collection
            .find(doc! { STATE: { "$exists": true } })
            .projection(place.layout.projection())
            // This index always exists, and its order ensures that each document is read once, even
            // during changes.
            .sort(doc! { "_id": 1 })
            .batch_size(PAGE_DOCUMENTS_MAX);
        let mut cursor = self.answer(async { found.await }).await?;
        while self.answer(cursor.advance()).await? {
            if !reading.take(place.layout, cursor.current()) {
                break;
            }
        }
        Ok(())
    }

    /// Waits for an answer, at most until the deadline.
    async fn answer<T>(
        &self,
        call: impl Future<Output = Result<T, DriverError>>,
    ) -> Result<T, Failure> {
        match timeout(self.deadline, call).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                let heard = self.connection.last_failure.lock();
                let heard = heard.unwrap_or_else(PoisonError::into_inner).clone();
                Err(Failure::of(&error, heard))
            }
            Err(_) => Err(Failure::new(format!(
                "no answer within {:?}",
                self.deadline
            ))),
        }
    }
}

impl Reading {
    /// Adds one document. Returns false if a limit is reached.
    fn take(&mut self, layout: Layout, document: &mongodb::bson::RawDocument) -> bool {
        self.documents = self.documents.saturating_add(1);
        self.bytes = self.bytes.saturating_add(document.as_bytes().len());
        if self.documents > DOCUMENTS_MAX || self.bytes > STATES_BYTES_MAX {
            let reason = format!(
                "there are more than {DOCUMENTS_MAX} documents or {STATES_BYTES_MAX} bytes; the remaining documents were not read"
            );
            self.faults.add("all states".to_owned(), reason);
            return false;
        }
        match document::read(layout, document) {
            Read::Other => {}
            Read::Unreadable {
                subject,
                name,
                reason,
            } => {
                self.unreadable.extend(subject);
                self.faults.add(name, reason);
            }
            Read::State {
                subject,
                state,
                fault,
            } => {
                if let Some(fault) = fault {
                    self.faults.add(subject.to_string(), fault);
                }
                match self.states.entry(subject) {
                    Entry::Vacant(free) => drop(free.insert(state)),
                    Entry::Occupied(first) => {
                        let reason = "two documents contain its state; the first one is used";
                        self.faults.add(first.key().to_string(), reason.to_owned());
                    }
                }
            }
        }
        true
    }
}
