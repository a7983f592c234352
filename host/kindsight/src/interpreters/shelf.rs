//! The catalog's shelf over the store.

use std::sync::Arc;

use super::components::Components;
use kindsight_catalog::{Shelf, ShelfError};
use kindsight_model::Digest;
use kindsight_store::Store;

/// Keeps the catalog where the `AppContext` is kept.
pub(crate) struct StoreShelf(Components);

impl StoreShelf {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self(Components::new(store))
    }
}

fn told<T>(outcome: anyhow::Result<T>) -> Result<T, ShelfError> {
    // With its causes: the catalog hands on text.
    outcome.map_err(|error| ShelfError(format!("{error:#}")))
}

impl Shelf for StoreShelf {
    fn book(&self) -> Result<Option<Vec<u8>>, ShelfError> {
        told(self.0.book())
    }

    fn exchange_book(
        &self,
        before: Option<&[u8]>,
        book: &[u8],
        dropped: &[Digest],
    ) -> Result<bool, ShelfError> {
        let dropped: Vec<&str> = dropped.iter().map(Digest::as_str).collect();
        told(self.0.exchange_book(before, book, &dropped))
    }

    fn components(&self) -> Result<Vec<Digest>, ShelfError> {
        let digests = told(self.0.digests())?;
        Ok(digests.iter().filter_map(|it| it.parse().ok()).collect())
    }

    fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ShelfError> {
        told(self.0.read(digest.as_str()))
    }

    fn keep(&self, digest: &Digest, component: &[u8]) -> Result<(), ShelfError> {
        told(self.0.keep(digest.as_str(), component))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kindsight_catalog::{
        Activation, Catalog, CatalogLimits, CatalogOptions, IncomingComponent,
    };
    use kindsight_interpreter::{Interpreters, Limits};
    use kindsight_model::Source;
    use kindsight_store::RedbStore;

    use super::*;

    fn host(store: &Arc<dyn Store>) -> Catalog {
        let limits = Limits {
            workers: 1,
            ..Limits::default()
        };
        let interpreters = Interpreters::start(limits, None).unwrap();
        Catalog::open(CatalogOptions {
            interpreters: Arc::new(interpreters),
            shelf: Arc::new(StoreShelf::new(Arc::clone(store))),
            built_in: Vec::new(),
            limits: CatalogLimits::default(),
            clock: Arc::new(|| 0),
            on_swap: Box::new(|| {}),
        })
        .unwrap()
    }

    fn live(host: &Catalog) -> Vec<String> {
        let set = host.interpreters().published();
        let live = set.interpreters();
        live.map(|(_, it)| it.by().version.to_string()).collect()
    }

    #[test]
    fn hosts_that_share_a_store_share_what_they_are_sent() {
        let folder = tempfile::tempdir().unwrap();
        let store = RedbStore::open(&folder.path().join("store.redb")).unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let (first, second) = (host(&store), host(&store));
        for (from, to, version) in [(&first, &second, "1.0.0"), (&second, &first, "2.0.0")] {
            let description = format!(
                r#"{{"name": "a", "version": "{version}", "kinds": [["a", "*", "Thing"]]}}"#
            );
            let report = from.admit(&IncomingComponent {
                source: Source::Upload,
                name: "a".parse().unwrap(),
                file: None,
                gone: BTreeSet::new(),
                expected: None,
                is_candidate: false,
                bytes: kindsight_tests::hostile(&description),
            });
            assert_eq!(report.unwrap().activation, Activation::Live);
            assert!(to.follow().unwrap());
            assert_eq!(live(to), [version]);
        }
        assert_eq!(live(&host(&store)), ["2.0.0"], "one that starts later");
    }
}
