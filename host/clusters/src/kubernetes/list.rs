//! Lists of one Kind in pages: all objects, or a part beside its watch.

use std::sync::Arc;

use kindsight_cluster_index::ApiKind;
use tokio::sync::{Semaphore, mpsc};

use super::connection::{ApiClient, ApiError, Connections};
use super::decode::{Decoder, Page};
use super::discovery::path_of;
use super::news::{News, WatchId, WatchNews};

/// Number of objects in one page of a list.
pub(super) const PAGE_ITEMS: usize = 500;
/// Divisor of the number of objects after a page that is too large or too late.
pub(super) const SMALLER: usize = 10;

/// The pages of one list.
pub(super) struct Pages<'w> {
    client: &'w ApiClient,
    decoder: &'w Decoder,
    path: String,
    /// The part of the query that leaves out objects.
    filter: String,
    /// Number of objects in a page.
    items: usize,
    /// The query of the next page; none after the last.
    next: Option<String>,
}

impl<'w> Pages<'w> {
    /// The list at this path, with a part of the query that leaves out objects.
    pub(super) fn new(
        client: &'w ApiClient,
        decoder: &'w Decoder,
        (path, filter): (&str, &str),
        items: usize,
    ) -> Self {
        Self {
            client,
            decoder,
            path: path.to_owned(),
            filter: filter.to_owned(),
            items,
            next: Some(String::new()),
        }
    }

    /// The same list from a continue token.
    pub(super) fn from(mut self, token: Option<&str>) -> Self {
        self.next = Some(token.map_or_else(String::new, continued));
        self
    }

    /// The next page; none after the last. A page that is too large or too late is requested again with a tenth of
    /// its objects.
    ///
    /// # Errors
    /// [`ApiError`]; [`ApiError::Gone`] if the server no longer has the version of the list.
    pub(super) async fn next(&mut self) -> Result<Option<Page>, ApiError> {
        let Some(from) = self.next.take() else {
            return Ok(None);
        };
        let bytes = loop {
            let Self {
                path,
                filter,
                items,
                ..
            } = self;
            let target = format!("{path}?limit={items}{filter}{from}");
            match self.client.get(&target, self.decoder.accept_list()).await {
                Err(ApiError::TooLarge(why)) if self.items > 1 => {
                    tracing::debug!(
                        path = self.path,
                        items = self.items,
                        why,
                        "smaller page requested"
                    );
                    self.items = (self.items / SMALLER).max(1);
                }
                answer => break answer?,
            }
        };
        let page = self.decoder.page(&bytes).map_err(ApiError::Unreadable)?;
        self.next = page.next.as_deref().map(continued);
        Ok(Some(page))
    }
}

/// The part of a query that continues a list.
fn continued(token: &str) -> String {
    format!("&continue={}", url_encoded(token))
}

/// A part of the objects of a Kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// The objects of a namespace.
    Namespace,
    /// The objects of a namespace with these names. The empty namespace has the cluster-scoped objects.
    Names(Vec<Arc<str>>),
}

/// The list of a part of a Kind, beside its watch.
pub(super) struct PartList {
    pub(super) watch: WatchId,
    pub(super) kind: Arc<ApiKind>,
    /// The namespace; empty for cluster-scoped objects.
    pub(super) namespace: Arc<str>,
    pub(super) part: Part,
    /// The part of the watch's query that leaves out objects.
    pub(super) filter: Arc<str>,
    pub(super) connections: Connections,
    pub(super) decoder: Decoder,
    pub(super) news: mpsc::Sender<WatchNews>,
    /// Limits the number of such lists at a time.
    pub(super) permits: Arc<Semaphore>,
}

impl PartList {
    /// Lists the part once, and sends its objects and the result.
    pub(super) async fn run(self) {
        let Ok(_permit) = self.permits.acquire().await else {
            return;
        };
        let result = match &self.part {
            Part::Namespace => self.list(None).await,
            Part::Names(names) => {
                let mut result = Ok(());
                for name in names {
                    result = self.list(Some(name)).await;
                    if result.is_err() {
                        break;
                    }
                }
                result
            }
        };
        let namespace = Arc::clone(&self.namespace);
        self.send(News::PartEnds { namespace, result }).await;
    }

    async fn list(&self, name: Option<&str>) -> Result<(), ApiError> {
        let namespace = Some(&*self.namespace).filter(|namespace| !namespace.is_empty());
        let path = path_of(&self.kind, namespace);
        let name = name.map(named).unwrap_or_default();
        let filter = format!("{name}{}", self.filter);
        let client = self.connections.client().await?;
        let mut pages = Pages::new(&client, &self.decoder, (&path, &filter), PAGE_ITEMS);
        while let Some(page) = pages.next().await? {
            self.send(News::PartListed(page.objects)).await;
        }
        Ok(())
    }

    /// A missing receiver is no error: the session has ended.
    async fn send(&self, what: News) {
        let watch = self.watch;
        let _ = self.news.send(WatchNews { watch, what }).await;
    }
}

/// The part of a query that selects objects by name.
pub(super) fn named(name: &str) -> String {
    format!("&fieldSelector=metadata.name%3D{}", url_encoded(name))
}

/// A percent-encoded value of a query.
pub(super) fn url_encoded(value: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let encoded = value.bytes().map(|byte| {
        if is_plain(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    encoded.collect()
}
