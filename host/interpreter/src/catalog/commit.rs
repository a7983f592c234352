//! From a changed page to what is published.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::words::{Action, Refusal, Report, Standing};
use super::{
    Book, Catalog, Event, Missing, Outcome, Page, ShelfError, State, Version, book, names,
    standing, word,
};
use crate::{Digest, Interpreter, LoadError, Offer, Published, Source};

impl Catalog {
    /// One change of one page: made on a copy, tried as a set, kept, published.
    pub(super) fn change(
        &self,
        name: &str,
        action: Action,
        by: Option<Source>,
        change: impl FnOnce(&mut Page) -> Result<(Option<Version>, String), Refusal>,
    ) -> Result<Report, Refusal> {
        let mut state = self.lock();
        let mut book = state.book.clone();
        let page = book.pages.get_mut(name).ok_or_else(|| state.not_found())?;
        let before = page.clone();
        let (version, detail) = change(page)?;
        let mut report = Report {
            name: name.to_owned(),
            action,
            digest: version.as_ref().map(|it| it.digest.clone()),
            version: version.as_ref().map(|it| it.version.clone()),
            standing: standing(page),
            detail,
        };
        if *page == before {
            report.standing = Standing::Unchanged;
            return Ok(report);
        }
        page.note(self.event(&report, by));
        self.commit(&mut state, book)?;
        drop(state);
        (self.swapped)();
        Ok(report)
    }

    pub(super) fn event(&self, report: &Report, by: Option<Source>) -> Event {
        tracing::info!(
            interpreter.name = report.name,
            action = ?report.action,
            digest = report.digest.as_deref().unwrap_or_default(),
            version = report.version.as_deref().unwrap_or_default(),
            "{}",
            report.detail
        );
        Event {
            time_ms: (self.clock)(),
            action: report.action,
            by,
            digest: report.digest.clone().unwrap_or_default(),
            version: report.version.clone().unwrap_or_default(),
            outcome: book::cut(&report.detail),
        }
    }

    /// Makes a changed book the one that holds: as a set, on the shelf, in memory, in this order.
    pub(super) fn commit(&self, state: &mut State, mut book: Book) -> Result<(), Refusal> {
        for slot in book
            .pages
            .values_mut()
            .flat_map(|page| page.slots.values_mut())
        {
            slot.prune(self.limits.versions_kept_max);
        }
        self.load_what_is_live(state, &book)?;
        let offers = state.offers(&book)?;
        let live = names(&offers);
        let set = if live == state.live {
            None
        } else {
            Some(self.prepare(offers)?)
        };
        let bytes =
            serde_json::to_vec(&book).map_err(|error| Refusal::Failed(error.to_string()))?;
        self.shelf
            .write_book(&bytes)
            .map_err(|error| Refusal::Failed(format!("the change was not kept: {error}")))?;
        if let Some(set) = set {
            self.interpreters.install(set);
        }
        state.book = book;
        state.live = live;
        self.forget_what_nobody_needs(state);
        Ok(())
    }

    /// What was live long ago is not in memory any more.
    fn load_what_is_live(&self, state: &mut State, book: &Book) -> Result<(), Refusal> {
        for page in book.pages.values() {
            let Some((source, version)) = page.effective() else {
                continue;
            };
            if !state.loaded.contains_key(&version.digest) {
                let interpreter = self
                    .off_shelf(source, &version.digest)
                    .map_err(|missing| Refusal::Failed(missing.to_string()))?;
                state.loaded.insert(version.digest.clone(), interpreter);
            }
        }
        Ok(())
    }

    pub(super) fn off_shelf(
        &self,
        source: Source,
        digest: &str,
    ) -> Result<Arc<Interpreter>, Missing> {
        let spoilt = |what: String| Missing::Spoilt(format!("component {digest}: {what}"));
        let digest = Digest::parse(digest).ok_or_else(|| spoilt("no digest".to_owned()))?;
        let bytes = self.shelf.component(&digest)?;
        let bytes = bytes.ok_or_else(|| spoilt(format!("{} holds it no more", word(source))))?;
        if Digest::of(&bytes) != digest {
            return Err(spoilt(
                "what is stored is not what its digest says".to_owned(),
            ));
        }
        self.interpreters.load(&bytes).map_err(|error| match error {
            // Not the component's fault: it stays, and is tried again at the next start.
            LoadError::Host(_) => Missing::Away(ShelfError(error.to_string())),
            error => spoilt(error.to_string()),
        })
    }

    pub(super) fn prepare(&self, offers: Vec<Offer>) -> Result<Arc<Published>, Refusal> {
        let set = self.interpreters.prepare(offers);
        set.map_err(|error| Refusal::at("published", error.to_string()))
    }

    /// In memory stays what judges, waits, or was live just before; on the shelf, every version that
    /// can be gone back to.
    fn forget_what_nobody_needs(&self, state: &mut State) {
        let slots = || {
            state
                .book
                .pages
                .values()
                .flat_map(|page| page.slots.values())
        };
        let near: BTreeSet<&String> = slots()
            .flat_map(|slot| {
                [Outcome::Live, Outcome::Candidate, Outcome::Previous].map(|it| slot.with(it))
            })
            .flatten()
            .map(|version| &version.digest)
            .collect();
        let known: BTreeSet<&String> = slots()
            .flat_map(|slot| &slot.versions)
            .filter(|version| version.outcome != Outcome::Refused)
            .map(|version| &version.digest)
            .collect();
        for digest in self.shelf.components().unwrap_or_default() {
            if !known.contains(&digest)
                && let Some(digest) = Digest::parse(&digest)
                && let Err(error) = self.shelf.drop_component(&digest)
            {
                tracing::warn!(%digest, %error, "component not dropped; the next change tries again");
            }
        }
        state.loaded.retain(|digest, _| near.contains(digest));
    }
}
