//! Lists of one Kind, page by page: all of it, or a part of it beside its watch.

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};

use super::connection::{ApiClient, ApiError};
use super::decode::{Decoder, Page};
use super::discovery::ApiKind;
use super::news::{News, WatchId, WatchNews};

/// Number of objects in one page of a list.
const PAGE_ITEMS: usize = 500;

/// The pages of one list.
pub(super) struct Pages<'w> {
    client: &'w ApiClient,
    decoder: &'w Decoder,
    /// The path and its query, without the page.
    target: String,
    /// The query of the next page; none after the last.
    next: Option<String>,
}

impl<'w> Pages<'w> {
    /// The list at this path, without the objects that a part of the query leaves out.
    pub(super) fn new(
        client: &'w ApiClient,
        decoder: &'w Decoder,
        path: &str,
        filter: &str,
    ) -> Self {
        Self {
            client,
            decoder,
            target: format!("{path}?limit={PAGE_ITEMS}{filter}"),
            next: Some(String::new()),
        }
    }

    /// The next page; none after the last.
    ///
    /// # Errors
    /// [`ApiError`]; [`ApiError::Gone`] where the server forgot the version that the list is of.
    pub(super) async fn next(&mut self) -> Result<Option<Page>, ApiError> {
        let Some(from) = self.next.take() else {
            return Ok(None);
        };
        let target = format!("{}{from}", self.target);
        let bytes = self.client.get(&target, self.decoder.accept_list()).await?;
        let page = self.decoder.page(&bytes).map_err(ApiError::Unreadable)?;
        let next = page.next.as_deref();
        self.next = next.map(|it| format!("&continue={}", url_encoded(it)));
        Ok(Some(page))
    }
}

/// A part of the objects of a Kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Those of a namespace.
    Namespace,
    /// Those of a namespace with these names; of none, cluster-scoped ones.
    Names(Vec<Arc<str>>),
}

/// The list of a part of a Kind, beside its watch.
pub(super) struct PartList {
    pub(super) watch: WatchId,
    pub(super) kind: Arc<ApiKind>,
    /// The namespace; empty for cluster-scoped objects.
    pub(super) namespace: Arc<str>,
    pub(super) part: Part,
    /// The part of the query that leaves out objects, as of its watch.
    pub(super) filter: Arc<str>,
    pub(super) client: ApiClient,
    pub(super) decoder: Decoder,
    pub(super) news: mpsc::Sender<WatchNews>,
    /// Limits the number of such lists at a time.
    pub(super) permits: Arc<Semaphore>,
}

impl PartList {
    /// Lists the part once, and tells what it has and how it ended.
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
        self.tell(News::PartEnds { namespace, result }).await;
    }

    async fn list(&self, name: Option<&str>) -> Result<(), ApiError> {
        let namespace = Some(&*self.namespace).filter(|it| !it.is_empty());
        let path = self.kind.path(namespace);
        let name = name.map(|it| format!("&fieldSelector=metadata.name%3D{}", url_encoded(it)));
        let filter = format!("{}{}", name.unwrap_or_default(), self.filter);
        let mut pages = Pages::new(&self.client, &self.decoder, &path, &filter);
        while let Some(page) = pages.next().await? {
            self.tell(News::PartListed(page.objects)).await;
        }
        Ok(())
    }

    /// Nobody is left to be told where the receiver is gone.
    async fn tell(&self, what: News) {
        let watch = self.watch;
        let _ = self.news.send(WatchNews { watch, what }).await;
    }
}

/// A value of a query, encoded.
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
