//! Which interpreters there are, and which of them judge: taken in, tried, swapped and gone back
//! from while the host serves.
//!
//! ```text
//! Delivery ─▶ load (received, validated, compiled, tried) ─▶ candidate ─▶ live ─▶ previous
//!                                                    │            ▲         │
//!                                                 refused         └── back ─┴─▶ bad
//! ```
//!
//! Every change is made on a copy of the [`Book`], put together as a set, kept on the [`Shelf`] and
//! only then published: a crash leaves the old or the new, and a refusal leaves what is live alone.
//! Slow work (compiling, trying) is done without the lock; a change takes it for milliseconds.
//!
//! Hosts that share a store share one catalog: each [follows](Catalog::follow) what the others change,
//! and none overwrites what it has not seen.

mod book;
mod boot;
mod commands;
mod commit;
mod receive;
mod settings;
mod shelf;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kindsight_model::{LoadStep, Source};

pub use book::{Event, Outcome, Page, Slot, Version};
pub use boot::OpenError;
pub use commands::Shadow;
pub use shelf::{Shelf, ShelfError};
pub use words::{Action, Delivery, Refusal, Report, Standing};

use crate::{Interpreter, Interpreters, SetMember};
use book::Book;

/// What an operator may set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogLimits {
    /// Versions of each name and source that can be gone back to.
    pub versions_kept_max: usize,
    /// Calls within the last minute below which the breaker does not judge an interpreter.
    pub breaker_calls_min: u64,
    /// Faults among a hundred calls of the last minute at which the breaker goes back; 0 turns it
    /// off.
    pub breaker_fault_percent: u64,
}

impl Default for CatalogLimits {
    fn default() -> Self {
        Self {
            versions_kept_max: 5,
            breaker_calls_min: 10,
            breaker_fault_percent: 50,
        }
    }
}

/// The time, in Unix milliseconds.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Who knows every interpreter and changes what is published. One for each process; shared by all
/// in it who load, ask and watch.
pub struct Catalog {
    interpreters: Arc<Interpreters>,
    shelf: Arc<dyn Shelf>,
    /// The interpreters of this binary.
    built_in: Vec<Arc<Interpreter>>,
    limits: CatalogLimits,
    clock: Clock,
    /// Called after every swap, with nothing locked.
    swapped: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
}

/// What the lock is for.
#[derive(Default)]
struct State {
    book: Book,
    /// Ready to judge, by digest: what is live, what waits, what can be gone back to at once.
    loaded: HashMap<String, Arc<Interpreter>>,
    /// The book as it lies on the shelf, as far as this process knows.
    stored: Option<Vec<u8>>,
    /// What a swap is compared with: everything that judges.
    live: Vec<Judge>,
}

/// Name, source, digest and settings of something that judges.
type Judge = (String, Source, String, Option<Arc<str>>);

impl Catalog {
    /// Every name with its page, sorted; copied, so nothing waits while it is read.
    pub fn pages(&self) -> Vec<(String, Page)> {
        let state = self.lock();
        let pages = state.book.pages.iter();
        pages
            .map(|(name, page)| (name.clone(), page.clone()))
            .collect()
    }

    /// The page of one name.
    pub fn page(&self, name: &str) -> Option<Page> {
        self.lock().book.pages.get(name).cloned()
    }

    /// The interpreter of that digest, where it is live, a candidate, or was live just before.
    pub fn loaded(&self, digest: &str) -> Option<Arc<Interpreter>> {
        self.lock().loaded.get(digest).cloned()
    }

    /// The interpreters it publishes to.
    pub fn interpreters(&self) -> &Arc<Interpreters> {
        &self.interpreters
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Changes are made on copies: what a panic left behind is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a component is not to be had from the shelf.
#[derive(Debug, thiserror::Error)]
enum Missing {
    /// The shelf does not answer: it may still lie there.
    #[error("{0}")]
    Away(#[from] ShelfError),
    /// It cannot be used any more.
    #[error("{0}")]
    Spoilt(String),
}

impl State {
    /// Everything that is to judge by a book.
    fn offers(&self, book: &Book) -> Result<Vec<SetMember>, Refusal> {
        let mut offers = Vec::new();
        for (name, page) in book.pages.iter().filter(|(_, page)| !page.is_disabled) {
            let Some((source, version)) = page.effective() else {
                continue;
            };
            let interpreter = self.loaded.get(&version.digest).ok_or_else(|| {
                Refusal::Failed(format!(
                    "component {} of `{name}` is not loaded",
                    version.digest
                ))
            })?;
            if let Some(wanted) = &page.settings {
                settings::check(interpreter, wanted).map_err(|why| {
                    Refusal::at(LoadStep::Published, format!("settings of `{name}`: {why}"))
                })?;
            }
            let settings = page.settings.as_ref();
            offers.push(SetMember {
                source,
                interpreter: Arc::clone(interpreter),
                settings: settings
                    .and_then(|it| serde_json::to_string(it).ok())
                    .map(Into::into),
            });
        }
        Ok(offers)
    }

    fn not_found(&self) -> Refusal {
        let known = self.book.pages.keys().cloned().collect();
        Refusal::NotFound { known }
    }
}

fn names(offers: &[SetMember]) -> Vec<Judge> {
    let offers = offers.iter();
    offers
        .map(|offer| {
            let by = offer.interpreter.by();
            let settings = offer.settings.clone();
            (
                by.name.to_string(),
                offer.source,
                by.digest.to_string(),
                settings,
            )
        })
        .collect()
}

/// The effective version, if it is the one of that digest.
fn live_of(page: &Page, digest: &str) -> Result<(Source, Version), Refusal> {
    let live = page.effective().filter(|(_, it)| it.digest == digest);
    let live = live.map(|(source, it)| (source, it.clone()));
    live.ok_or_else(|| Refusal::Conflict(format!("{digest} is not live any more")))
}

fn standing(page: &Page) -> Standing {
    match page.effective() {
        _ if page.is_disabled => Standing::Disabled,
        Some(_) => Standing::Live,
        None => Standing::None,
    }
}

fn in_place_of(live: Option<(Source, &Version)>) -> String {
    match live {
        Some((source, it)) => format!("in place of {} from {}", it.version, source),
        None => "where none was".to_owned(),
    }
}
