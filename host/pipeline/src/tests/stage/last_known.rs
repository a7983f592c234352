//! The file of the last-known state, and starts over it.

use std::sync::Arc;
use std::time::Duration;

use kindsight_store::RedbStore;

use super::{Stage, pipeline, watches};
use crate::Timeouts;
use crate::remembered::RememberedFile;
use crate::remembered::writer::Writer;

impl Stage {
    /// Opens the file of the last-known state.
    pub(in crate::tests) fn file(&self) -> RememberedFile {
        let file = self.folder.path().join("remembered.redb");
        RememberedFile::open(Arc::new(RedbStore::open(&file).unwrap())).unwrap()
    }

    /// Writes what is known.
    pub(in crate::tests) fn keep(&self, now_ms: i64) {
        Writer::new(
            self.file(),
            self.read_model.clone(),
            self.pipeline.needs().inventories,
        )
        .write(now_ms, true);
    }

    /// Starts again, over what was kept and with these clusters.
    pub(in crate::tests) fn start_again(
        &mut self,
        clusters: &[&str],
        gone_for: Duration,
        now_ms: i64,
    ) {
        self.start_over(&mut self.file(), clusters, gone_for, now_ms);
    }

    /// Starts again, over this last-known state and with these clusters.
    pub(in crate::tests) fn start_over(
        &mut self,
        file: &mut RememberedFile,
        clusters: &[&str],
        gone_for: Duration,
        now_ms: i64,
    ) {
        let pipeline = pipeline(&self.store, &self.interpreters);
        self.read_model = pipeline.read_model().clone();
        self.pipeline = pipeline;
        self.pipeline.set_timeouts(Timeouts {
            gone_for,
            ..Timeouts::default()
        });
        for cluster in clusters {
            let cluster = cluster.parse().unwrap();
            self.pipeline.expect_cluster(&cluster, now_ms);
        }
        self.pipeline.remember(file, now_ms);
        self.reader = self.pipeline.load(now_ms).unwrap();
        self.watches = watches(&self.reader);
    }
}
