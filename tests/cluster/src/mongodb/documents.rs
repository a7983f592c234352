//! Documents in a MongoDB, which tests write and read.

use std::collections::BTreeMap;

use mongodb::bson::{Bson, Document, doc};
use mongodb::{Client, Collection};
use tokio::runtime::{Builder, Runtime};

/// A blocking client of a MongoDB.
#[derive(Debug)]
pub struct MongoDocuments {
    runtime: Runtime,
    client: Client,
}

impl MongoDocuments {
    /// # Panics
    /// If the address is not valid.
    pub(super) fn connect(url: &str) -> Self {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let client = runtime.block_on(Client::with_uri_str(url));
        Self {
            runtime,
            client: client.expect("an address"),
        }
    }

    /// Creates a user in the database `admin` with all permissions.
    pub(super) fn create_user(&self, name: &str, password: &str) {
        let command = doc! { "createUser": name, "pwd": password, "roles": ["root"] };
        let admin = self.client.database("admin");
        let creating = async { admin.run_command(command).await };
        self.runtime.block_on(creating).expect("a user");
    }

    fn collection(&self, path: &str) -> Collection<Document> {
        let (database, collection) = path.split_once('.').expect("database.collection");
        self.client.database(database).collection(collection)
    }

    /// Inserts documents into `database.collection`.
    ///
    /// # Panics
    /// If the server rejects them.
    pub fn insert(&self, path: &str, documents: &[Document]) {
        let collection = self.collection(path);
        let inserting = async { collection.insert_many(documents).await };
        self.runtime.block_on(inserting).expect("inserted");
    }

    /// Sets a field of the only document that matches a filter. Like an orchestrator, it replaces
    /// the complete value.
    ///
    /// # Panics
    /// If no document matches, or the server rejects the update.
    pub fn set(&self, path: &str, filter: Document, field: &str, value: impl Into<Bson>) {
        let update = doc! { "$set": { field: value.into() } };
        let collection = self.collection(path);
        let updating = async { collection.update_one(filter, update).await };
        let updated = self.runtime.block_on(updating).expect("updated");
        assert_eq!(updated.matched_count, 1, "one document");
    }

    /// Deletes the documents that match a filter.
    ///
    /// # Panics
    /// If the server rejects the request.
    pub fn delete(&self, path: &str, filter: Document) {
        let collection = self.collection(path);
        let deleting = async { collection.delete_many(filter).await };
        self.runtime.block_on(deleting).expect("deleted");
    }

    /// All documents of all databases, by `database.collection`.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn dump(&self) -> BTreeMap<String, Vec<Document>> {
        let dumping = self.try_dump();
        self.runtime.block_on(dumping).expect("a dump")
    }

    async fn try_dump(&self) -> mongodb::error::Result<BTreeMap<String, Vec<Document>>> {
        let mut dump = BTreeMap::new();
        for name in self.client.list_database_names().await? {
            let database = self.client.database(&name);
            for collection in database.list_collection_names().await? {
                let documents = database.collection::<Document>(&collection);
                let mut cursor = documents.find(doc! {}).await?;
                let found: &mut Vec<Document> =
                    dump.entry(format!("{name}.{collection}")).or_default();
                while cursor.advance().await? {
                    found.push(cursor.deserialize_current()?);
                }
            }
        }
        Ok(dump)
    }
}
