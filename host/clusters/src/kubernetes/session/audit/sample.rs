//! The requests of one sample of the audit.

use std::sync::Arc;

use kindsight_cluster_index::{
    ApiKind, ConsistentList, Difference, Labels, ListedPage, MembershipRules, ObjectName, ScopeId,
};
use tokio::time::Instant;

use super::Step;
use crate::kubernetes::connection::{ApiClient, ApiError, Connections};
use crate::kubernetes::decode::{Decoder, Detail, Item, Page};
use crate::kubernetes::discovery::path_of;
use crate::kubernetes::list::{PAGE_ITEMS, Pages, named};

/// Maximum number of objects in one sample: one page of metadata.
pub(super) const SAMPLE_OBJECTS_MAX: usize = PAGE_ITEMS;
/// Maximum number of objects of one sample that are read once more.
const CONFIRMED_MAX: usize = 8;
/// Maximum length of a continue token that is kept, in bytes.
const TOKEN_BYTES_MAX: usize = 4096;

/// The place at which a page of a Kind begins.
#[derive(Debug, Clone)]
pub(super) struct Position {
    /// The continue token.
    token: String,
    /// The last object before the page.
    after: ObjectName,
    /// The part of the query that leaves out objects. The token belongs to it.
    pub(super) filter: Arc<str>,
}

/// A page to read.
#[derive(Debug, Clone)]
pub(super) struct SampleRequest {
    pub(super) kind: Arc<ApiKind>,
    /// The only watched namespace; none for all.
    pub(super) namespace: Option<Arc<str>>,
    pub(super) scope: ScopeId,
    /// The part of the query that leaves out objects, as of the watch.
    pub(super) filter: Arc<str>,
    pub(super) rules: MembershipRules,
    /// None for the first page.
    pub(super) position: Option<Position>,
}

/// A page that was read.
pub(in crate::kubernetes::session) struct Sample {
    pub(super) request: SampleRequest,
    pub(super) page: ListedPage,
    /// The time at which the page was read.
    pub(super) began: Instant,
    /// The position of the next page; none after the last page.
    next: Option<Position>,
}

/// The differences of a sample that a second read confirmed.
pub(in crate::kubernetes::session) struct Confirmation {
    pub(super) drifts: Vec<Difference>,
}

impl Sample {
    /// Number of objects in the page.
    pub(super) fn objects(&self) -> u64 {
        self.page.count() as u64
    }

    /// Takes the position of the next page, with the Kind in its scope.
    pub(super) fn take_next(&mut self) -> Option<(ScopeId, Position)> {
        self.next.take().map(|next| (self.page.scope(), next))
    }

    /// Reads the objects that differ once more. An object that is still in the state of the page is a drift: the index
    /// lacked this state between both reads.
    pub(super) async fn confirm(
        self,
        differences: Vec<Difference>,
        connections: Connections,
    ) -> Step {
        let mut drifts = Vec::new();
        for difference in differences.into_iter().take(CONFIRMED_MAX) {
            match self
                .request
                .read_again(&difference.object, &connections)
                .await
            {
                Ok(list) if difference.is_confirmed_by(&list) => drifts.push(difference),
                Ok(_) => {}
                Err(error) => return Step::Failed(error),
            }
        }
        Step::Confirmed(self, Confirmation { drifts })
    }
}

impl SampleRequest {
    /// Reads the page. If the token is too old, the server sends a token for the same position at the current version.
    pub(super) async fn read(mut self, connections: Connections) -> Step {
        let page = match self.read_page(&connections).await {
            Err(ApiError::Gone {
                next: Some(token), ..
            }) if self.position.is_some() => {
                if let Some(position) = &mut self.position {
                    position.token = token;
                }
                self.read_page(&connections).await
            }
            page => page,
        };
        match page {
            Ok(page) => Step::Compare(self.sample(page)),
            Err(error) => Step::Failed(error),
        }
    }

    fn sample(self, read: Page) -> Sample {
        let after = self.position.as_ref();
        let mut page = ListedPage::new(self.scope, after.map(|position| position.after.clone()));
        for item in read.objects {
            if let Item::Object(object) = item {
                page.add(object);
            }
        }
        let version = read.resource_version.parse().unwrap_or_default();
        page.end(version, read.next.is_some());
        let token = read.next.filter(|token| token.len() <= TOKEN_BYTES_MAX);
        let next = token.zip(page.last().cloned());
        let next = next.map(|(token, after)| Position {
            token,
            after,
            filter: Arc::clone(&self.filter),
        });
        Sample {
            request: self,
            page,
            began: Instant::now(),
            next,
        }
    }

    /// Reads the page, without a version in the request of the first page: the server reads its store.
    async fn read_page(&self, connections: &Connections) -> Result<Page, ApiError> {
        let client = connections.client().await?;
        let path = path_of(&self.kind, self.namespace.as_deref());
        let position = self.position.as_ref();
        let token = position.map(|position| position.token.as_str());
        self.page(&client, (&path, &self.filter), token).await
    }

    /// Reads one object, as a list with at most this object.
    async fn read_again(
        &self,
        (namespace, name): &ObjectName,
        connections: &Connections,
    ) -> Result<ConsistentList, ApiError> {
        let client = connections.client().await?;
        let namespace = Some(&**namespace).filter(|namespace| !namespace.is_empty());
        let path = path_of(&self.kind, namespace);
        let filter = format!("{}{}", named(name), self.filter);
        let page = self.page(&client, (&path, &filter), None).await?;
        let mut list = ConsistentList::new(self.scope, None);
        for item in page.objects {
            if let Item::Object(object) = item {
                list.add(object);
            }
        }
        Ok(list)
    }

    async fn page(
        &self,
        client: &ApiClient,
        place: (&str, &str),
        token: Option<&str>,
    ) -> Result<Page, ApiError> {
        let decoder = Decoder::new(&self.kind, &self.rules, Detail::Metadata, Labels::None);
        let pages = Pages::new(client, &decoder, place, SAMPLE_OBJECTS_MAX);
        let page = pages.from(token).next().await?;
        page.ok_or_else(|| ApiError::Unreadable("the list has no page".to_owned()))
    }
}
