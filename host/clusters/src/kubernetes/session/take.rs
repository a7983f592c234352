//! The news of watches, taken into the index of the cluster.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use kindsight_cluster_index::Needed as _;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{Beside, NEWS_MAX, Session, SessionEnd};
use crate::kubernetes::connection::{ApiError, ResponseClass};
use crate::kubernetes::decode::{Decoder, Detail};
use crate::kubernetes::discovery::is_of_kinds;
use crate::kubernetes::known::Known;
use crate::kubernetes::list::PartList;
use crate::kubernetes::news::{News, WatchNews};
use crate::kubernetes::watches::WatchState;

/// Time from an added or removed definition of a Kind until discovery: servers update discovery late.
const DISCOVER_AFTER: Duration = Duration::from_secs(1);

/// Runs the watches and the lists of parts until a watch or a list has news.
///
/// They run in the task of the session. If the session waited for the channel, each of their news would wake this
/// task while it runs. The executor would then run the task once more, and wake another thread to help.
pub(super) async fn next_news(
    running: &mut FuturesUnordered<Beside>,
    news_rx: &mut mpsc::Receiver<WatchNews>,
) -> WatchNews {
    poll_fn(|cx| {
        loop {
            let ended = running.poll_next_unpin(cx);
            if let Ok(news) = news_rx.try_recv() {
                return Poll::Ready(news);
            }
            if !matches!(ended, Poll::Ready(Some(()))) {
                return Poll::Pending;
            }
        }
    })
    .await
}

impl Session {
    /// Takes the news of a watch, and the news that wait behind it.
    pub(super) fn take_waiting(
        &mut self,
        first: WatchNews,
        known: &mut Known,
    ) -> Result<(), SessionEnd> {
        self.take(first, known)?;
        for _ in 1..NEWS_MAX {
            let Ok(news) = self.news_rx.try_recv() else {
                break;
            };
            self.take(news, known)?;
        }
        Ok(())
    }

    /// Takes the news of a watch.
    pub(super) fn take(&mut self, news: WatchNews, known: &mut Known) -> Result<(), SessionEnd> {
        let WatchNews { watch, what } = news;
        let Some(state) = self.watches.get_mut(watch) else {
            // The watch has ended.
            return Ok(());
        };
        if is_of_kinds(&state.kind)
            // The list may contain Kinds that are newer than the last discovery.
            && matches!(what, News::Applied(_) | News::Deleted(_) | News::ListEnds)
        {
            self.discovery.ask_by(Instant::now() + DISCOVER_AFTER);
        }
        if let Some(refused) = what.unauthorized() {
            // An extension server may serve any other group, and may refuse credentials that the API server
            // accepts.
            if state.kind.gvk.group.is_empty() {
                return Err(SessionEnd::Failed(refused.of_cluster()));
            }
            self.probe.ask_soon();
        }
        self.is_coverage_due |= what.may_change_coverage();
        known.watch_failures += u64::from(what.is_failure());
        let scope = state.scope;
        let removal = state.removal();
        match what {
            News::Waiting(why) => state.wait(why),
            News::ListBegins(list) => {
                state.begin(list);
                known.index.init(scope);
            }
            News::Listed(objects) => {
                for object in objects {
                    known.init_apply(scope, object);
                }
            }
            News::ListEnds => end_list(state, known),
            News::PartListed(objects) => {
                for object in objects {
                    known.complete(scope, object);
                }
            }
            News::PartEnds { namespace, result } => {
                let is_needed = !known.index.needed(scope).names(&namespace).is_empty();
                state.part_ended(&namespace, result, is_needed);
            }
            News::Applied(object) => known.apply(scope, *object),
            News::Deleted(object) => known.delete(scope, &object, removal),
            News::Following => state.follow(),
            News::Undecodable(why) => {
                tracing::warn!(cluster = %self.cluster.name, kind = %state.kind.gvk, why, "event not decoded; its Kind is listed again in a minute");
                state.skip_event(&why);
            }
            News::Refused(error) => {
                self.note_failure(&error);
                if let Some(state) = self.watches.get_mut(watch) {
                    state.refuse(error);
                }
            }
            News::Failed(error) => {
                self.note_failure(&error);
                let why = error.to_string();
                if let Some(state) = self.watches.get_mut(watch)
                    && state.fail(error)
                {
                    tracing::debug!(cluster = %self.cluster.name, kind = %state.kind.gvk, why, "watch failed");
                }
            }
        }
        self.ask_for_states(known);
        Ok(())
    }

    /// Requests discovery if a Kind may be removed with its definition, and a probe if a connection is lost.
    fn note_failure(&mut self, error: &ApiError) {
        if error.response() == ResponseClass::Unserved {
            self.discovery.ask_by(Instant::now() + DISCOVER_AFTER);
        }
        if matches!(error, ApiError::Unreachable(_)) {
            self.probe.ask_soon();
        }
    }

    /// Requests the reports of monitors that are needed and were not read.
    pub(super) fn ask_for_states(&mut self, known: &mut Known) {
        for wanted in known.deployments.take_wanted() {
            if let Some(state) = self.watches.of_scope(wanted) {
                state.ask_for_all();
            }
        }
    }

    /// Begins to list the objects whose bodies are needed and were not read.
    pub(super) fn list_parts(&mut self, known: &mut Known) {
        for (scope, namespace) in known.index.take_wanted() {
            if let Some(state) = self.watches.of_scope(scope) {
                state.need(namespace);
            }
        }
        let now = Instant::now();
        if self.watches.next_part_at().is_none_or(|at| at > now) {
            return;
        }
        let rules = self.cluster.options.rules();
        for (watch, state) in self.watches.iter_mut() {
            let needed = known.index.needed(state.scope);
            for (namespace, part) in state.parts_to_list(&needed, now) {
                let list = PartList {
                    watch,
                    kind: Arc::clone(&state.kind),
                    namespace,
                    part,
                    filter: state.filter(),
                    connections: self.connections.clone(),
                    decoder: Decoder::new(&state.kind, &rules, Detail::Whole, state.labels()),
                    news: self.news_tx.clone(),
                    permits: Arc::clone(&self.permits),
                };
                self.running.push(Box::pin(list.run()));
            }
        }
    }
}

/// Ends the list of a watch.
fn end_list(watch: &mut WatchState, known: &mut Known) {
    watch.end();
    if !known.init_done(watch.scope, watch.removal()) {
        watch.skip_item();
    }
    if known.index.is_used(watch.scope) {
        watch.follow_whole();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};

    use tokio::sync::oneshot;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_news_of_a_watch_do_not_wake_the_task_that_runs_it() {
        let (news_tx, mut news_rx) = mpsc::channel(NEWS_MAX);
        let (event_tx, event_rx) = oneshot::channel();
        let mut running = FuturesUnordered::<Beside>::new();
        running.push(Box::pin(async move {
            event_rx.await.unwrap();
            let what = News::Following;
            let sent = news_tx.send(WatchNews { watch: 0, what }).await;
            assert!(sent.is_ok());
        }));
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        let mut next = pin!(next_news(&mut running, &mut news_rx));
        assert!(next.as_mut().poll(&mut cx).is_pending());
        event_tx.send(()).unwrap();
        let by_the_event = woken.0.load(Ordering::Relaxed);
        assert!(next.poll(&mut cx).is_ready());
        assert_eq!(woken.0.load(Ordering::Relaxed), by_the_event);
    }
}
