//! Placements, from the rows of one or more lines.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kindsight_model::{ClusterName, Texts};
use kindsight_status::{ApplicationKey, ClusterView, Report, ResourceView};

use super::{Image, Numbered};
use crate::wire::{PlacementLine, RowOp, RowsLine, WireError, key_of};

/// A placement whose rows are being received.
#[derive(Debug)]
pub(super) struct OpenPlacement {
    key: ApplicationKey,
    line: PlacementLine,
    before: Option<Arc<ClusterView>>,
    rows: Rows,
}

/// The resources received so far.
#[derive(Debug, Default)]
struct Rows {
    received: Vec<Received>,
}

/// One resource.
#[derive(Debug)]
enum Received {
    /// The resource at this position of the previous resources.
    Kept(usize),
    /// A sent resource, with the position of its previous version.
    Sent(Option<usize>, Box<ResourceView>),
}

impl Image {
    pub(super) fn open_placement(&mut self, mut line: PlacementLine) -> Result<(), WireError> {
        let key = key_of(&line.of)?;
        let held = self.applications.get(&key);
        let held = held.ok_or(WireError::Unknown("an application"))?;
        let place = (Arc::clone(&line.app), Arc::clone(&line.cluster));
        let before = held.placements.get(&place).cloned();
        let Some(rows) = line.rows.take() else {
            let before = before.ok_or(WireError::Unknown("the resources of a placement"))?;
            return self.hold(&key, &line, &before);
        };
        let open = OpenPlacement {
            key,
            line,
            before,
            rows: Rows::default(),
        };
        self.continue_placement(open, rows)
    }

    pub(super) fn continue_placement(
        &mut self,
        mut open: OpenPlacement,
        rows: RowsLine,
    ) -> Result<(), WireError> {
        for op in rows.ops {
            open.rows.add(
                op,
                open.before.as_deref(),
                &self.interpreters,
                &mut self.texts,
            )?;
        }
        if rows.more {
            self.open = Some(open);
            return Ok(());
        }
        let cluster = open.line.cluster.parse::<ClusterName>();
        let cluster = cluster.map_err(|_| WireError::name("the cluster", &open.line.cluster))?;
        let view = open.rows.view(cluster, open.before.as_deref())?;
        self.hold(&open.key, &open.line, &view)
    }

    /// Keeps a placement with the marks of its line. A placement of an earlier owner of the cluster is ignored.
    fn hold(
        &mut self,
        key: &ApplicationKey,
        line: &PlacementLine,
        view: &ClusterView,
    ) -> Result<(), WireError> {
        let owner = self.connections.get(view.cluster());
        if owner.is_some_and(|fence| line.fence < *fence) {
            return Ok(());
        }
        let view = view
            .with_report(line.report(), line.faults.clone())
            .with_cluster_faults(line.cluster_faults.as_slice().into())
            .with_unanswered(line.unanswered.as_slice().into())
            .with_coverage(line.coverage())
            .with_connectivity(line.connectivity)
            .with_last_instance(line.last_instance.clone());
        let held = self.applications.get_mut(key);
        let held = held.ok_or(WireError::Unknown("an application"))?;
        let place = (Arc::clone(&line.app), Arc::clone(&line.cluster));
        held.placements.insert(place, Arc::new(view));
        Ok(())
    }
}

impl Rows {
    fn add(
        &mut self,
        op: RowOp,
        before: Option<&ClusterView>,
        interpreters: &Numbered,
        texts: &mut Texts,
    ) -> Result<(), WireError> {
        let known = before.map_or(0, |view| view.resources().len());
        match op {
            RowOp::Keep(first, count) => {
                let end = first.checked_add(count).filter(|end| *end <= known);
                let end = end.ok_or(WireError::Unknown("the previous version of a resource"))?;
                self.received.extend((first..end).map(Received::Kept));
            }
            RowOp::Row(row) => {
                let like = row.like;
                let by = row.by.map(|number| {
                    let by = interpreters.get(&number).cloned();
                    by.ok_or(WireError::Unknown("an interpreter"))
                });
                let previous = before
                    .zip(like)
                    .and_then(|(view, like)| view.resources().get(like));
                let resource = row.read(previous, by.transpose()?, texts)?;
                self.received.push(Received::Sent(like, Box::new(resource)));
            }
        }
        Ok(())
    }

    /// The placement. If no resource was added, removed or moved, it shares all unchanged parts with the previous one.
    fn view(
        self,
        cluster: ClusterName,
        before: Option<&ClusterView>,
    ) -> Result<ClusterView, WireError> {
        let Some(before) = before else {
            let resources = self.received.into_iter().filter_map(Received::sent);
            return Ok(view_of(cluster, resources.collect()));
        };
        if self.is_in_place(before.resources().len())
            && let Some(view) = before.with_resources(self.in_place())
        {
            return Ok(view);
        }
        Ok(view_of(cluster, self.rebuilt(before)?))
    }

    /// Returns whether each resource has the position of its previous version.
    fn is_in_place(&self, len: usize) -> bool {
        let is_at = |(at, received): (usize, &Received)| match received {
            Received::Kept(position) => *position == at,
            Received::Sent(like, _) => *like == Some(at),
        };
        self.received.len() == len && self.received.iter().enumerate().all(is_at)
    }

    /// The sent resources by position.
    fn in_place(&self) -> BTreeMap<usize, ResourceView> {
        let received = self.received.iter().enumerate();
        let sent = received.filter_map(|(at, received)| match received {
            Received::Kept(_) => None,
            Received::Sent(_, resource) => {
                let mut resource = (**resource).clone();
                let count = self.received.len();
                let owner = resource.owner;
                resource.owner = owner.filter(|owner| *owner < count && *owner != at);
                Some((at, resource))
            }
        });
        sent.collect()
    }

    /// All resources. Kept resources name their owners by the new positions.
    fn rebuilt(self, before: &ClusterView) -> Result<Vec<ResourceView>, WireError> {
        let received = self.received.iter().enumerate();
        let positions = received.filter_map(|(at, received)| match received {
            Received::Kept(position) | Received::Sent(Some(position), _) => Some((*position, at)),
            Received::Sent(None, _) => None,
        });
        let now: HashMap<usize, usize> = positions.collect();
        let resource = |received| match received {
            Received::Sent(_, resource) => Ok(*resource),
            Received::Kept(position) => {
                let kept = before.resources().get(position);
                let kept = kept.ok_or(WireError::Unknown("the previous version of a resource"))?;
                let owner = kept.owner.and_then(|owner| now.get(&owner).copied());
                Ok(ResourceView {
                    owner,
                    ..kept.clone()
                })
            }
        };
        self.received.into_iter().map(resource).collect()
    }
}

/// A view without marks. An owner that is no other resource of the view is ignored.
fn view_of(cluster: ClusterName, mut resources: Vec<ResourceView>) -> ClusterView {
    let count = resources.len();
    for (at, resource) in resources.iter_mut().enumerate() {
        let owner = resource.owner;
        resource.owner = owner.filter(|owner| *owner < count && *owner != at);
    }
    ClusterView::replicated(cluster, Report::NotYet, resources, Vec::new())
}

impl Received {
    fn sent(self) -> Option<ResourceView> {
        match self {
            Self::Sent(_, resource) => Some(*resource),
            Self::Kept(_) => None,
        }
    }
}
