//! From a changed page to what is published.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{Digest, LoadStep, Source};

use super::words::{Action, Refusal, Report, Standing};
use super::{
    Book, Catalog, Event, Judge, Missing, Outcome, Page, ShelfError, State, Version, book, names,
    standing,
};
use crate::{Interpreter, LoadError, Published, SetMember};

/// Components that one change drops: etcd takes 128 operations at a time.
const DROPPED_MAX: usize = 64;

/// What a book makes judge.
pub(super) struct Next {
    live: Vec<Judge>,
    /// None where that is what judges already.
    set: Option<Arc<Published>>,
}

impl Catalog {
    /// One change of one page: made on a copy, tried as a set, kept, published.
    pub(super) fn change(
        &self,
        name: &str,
        action: Action,
        by: Option<Source>,
        change: impl FnOnce(&mut Page) -> Result<(Option<Version>, String), Refusal>,
    ) -> Result<Report, Refusal> {
        self.follow()?;
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
    ///
    /// # Errors
    /// Among others [`Refusal::Conflict`], where another host that shares the shelf was faster.
    pub(super) fn commit(&self, state: &mut State, mut book: Book) -> Result<(), Refusal> {
        for slot in book
            .pages
            .values_mut()
            .flat_map(|page| page.slots.values_mut())
        {
            slot.prune(self.limits.versions_kept_max);
        }
        self.load_what_is_live(state, &book)?;
        let next = self.put_together(state, &book)?;
        let bytes =
            serde_json::to_vec(&book).map_err(|error| Refusal::Failed(error.to_string()))?;
        let dropped = self.not_needed(&book);
        let is_kept = self
            .shelf
            .exchange_book(state.stored.as_deref(), &bytes, &dropped)
            .map_err(|error| Refusal::Failed(format!("the change was not kept: {error}")))?;
        if !is_kept {
            let what = "another host changed the interpreters at the same moment: try again";
            return Err(Refusal::Conflict(what.to_owned()));
        }
        state.stored = Some(bytes);
        self.put_in_force(state, book, next);
        Ok(())
    }

    /// What a book makes judge, as a set that is not live yet. Everything in it is loaded.
    pub(super) fn put_together(&self, state: &State, book: &Book) -> Result<Next, Refusal> {
        let offers = state.offers(book)?;
        let live = names(&offers);
        let set = if live == state.live {
            None
        } else {
            Some(self.prepare(offers)?)
        };
        Ok(Next { live, set })
    }

    /// From here on this book holds in this process. In memory stays what judges, waits, or was live
    /// just before.
    pub(super) fn put_in_force(&self, state: &mut State, book: Book, next: Next) {
        if let Some(set) = next.set {
            self.interpreters.install(set);
        }
        let slots = book.pages.values().flat_map(|page| page.slots.values());
        let near: BTreeSet<&String> = slots
            .flat_map(|slot| {
                [Outcome::Live, Outcome::Candidate, Outcome::Previous].map(|it| slot.with(it))
            })
            .flatten()
            .map(|version| &version.digest)
            .collect();
        state.loaded.retain(|digest, _| near.contains(digest));
        state.book = book;
        state.live = next.live;
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
        let digest = digest
            .parse::<Digest>()
            .map_err(|_| spoilt("no digest".to_owned()))?;
        let bytes = self.shelf.component(&digest)?;
        let bytes = bytes.ok_or_else(|| spoilt(format!("{} holds it no more", source)))?;
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

    pub(super) fn prepare(&self, offers: Vec<SetMember>) -> Result<Arc<Published>, Refusal> {
        let set = self.interpreters.prepare(offers);
        set.map_err(|error| Refusal::at(LoadStep::Published, error.to_string()))
    }

    /// What the shelf holds of which a book does not speak, or not as of something that can be gone
    /// back to. Not all at once: a store limits what one change may do.
    fn not_needed(&self, book: &Book) -> Vec<Digest> {
        let slots = book.pages.values().flat_map(|page| page.slots.values());
        let known: BTreeSet<&String> = slots
            .flat_map(|slot| &slot.versions)
            .filter(|version| version.outcome != Outcome::Refused)
            .map(|version| &version.digest)
            .collect();
        // Where the shelf does not say, the next change asks again.
        let kept = self.shelf.components().unwrap_or_default();
        let dropped = kept.iter().filter(|digest| !known.contains(digest));
        let dropped = dropped.filter_map(|digest| digest.parse::<Digest>().ok());
        dropped.take(DROPPED_MAX).collect()
    }
}
