//! The catalog of interpreters at work: kept in the store, fed by the watched directory and by the
//! API, guarded by the breaker.
//!
//! ```text
//! folder ─┐
//! API  ───┴▶ Catalog ─▶ published set ─▶ (swapped) ─▶ road: what is shown is judged again
//!              ▲                              │
//!              └────────── breaker ◀── faults ┘
//! ```

mod answers;
mod components;
mod folder;
mod guard;
mod library;
mod shelf;
mod watch;

use std::path::Path;
use std::sync::Arc;

use kindsight_catalog::{Catalog, CatalogLimits, CatalogOptions};
use kindsight_interpreter::Limits;
use kindsight_store::Store;
use tokio::sync::Notify;

use crate::judge::now_ms;
use crate::live;

pub(crate) use guard::guard;
pub(crate) use library::Library;
pub(crate) use watch::watch;

/// The catalog, and who is told when it published another set.
pub(crate) struct Live {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) swapped: Arc<Notify>,
}

/// Opens the catalog that `store` keeps, with the built-in interpreters, and publishes it.
///
/// Compiled components are kept in `cache`.
///
/// # Errors
/// When the machine cannot run interpreters, or the store holds a catalog that cannot be read.
pub(crate) fn open(
    store: &Arc<dyn Store>,
    limits: Limits,
    catalog_limits: CatalogLimits,
    cache: Option<&Path>,
) -> anyhow::Result<Live> {
    let interpreters = Arc::new(live::room(limits, cache)?);
    let built_in = live::built_in(&interpreters)?;
    let swapped = Arc::new(Notify::new());
    let told = Arc::clone(&swapped);
    let catalog = Catalog::open(CatalogOptions {
        interpreters,
        shelf: Arc::new(shelf::StoreShelf::new(Arc::clone(store))),
        built_in,
        limits: catalog_limits,
        clock: Arc::new(now_ms),
        on_swap: Box::new(move || told.notify_one()),
    })?;
    Ok(Live {
        catalog: Arc::new(catalog),
        swapped,
    })
}
