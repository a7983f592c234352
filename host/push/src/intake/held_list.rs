//! The objects of a report, by the positions of the agent.

use kindsight_api::push::PushRefusal;
use kindsight_model::{Object, ObjectList, Rejected};

use super::size::{Size, bytes_of_object, bytes_of_rejected};
use super::staged::{Staged, StagedObject};
use crate::wire::Part;

/// The objects of a report. Objects that cannot be read keep their positions, because later reports name positions.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldList {
    /// The objects that could be read.
    pub(super) objects: ObjectList,
    /// The others with their positions, in order.
    unreadable: Vec<(usize, Rejected)>,
    bytes: usize,
}

impl HeldList {
    /// Number and bytes of the objects.
    pub(super) fn size(&self) -> Size {
        Size {
            objects: self.len(),
            bytes: self.bytes,
        }
    }

    /// The position in [`Self::objects`] of the object at a position of the agent; none if it cannot be read.
    pub(super) fn position(&self, at: usize) -> Option<usize> {
        if at >= self.len() {
            return None;
        }
        self.find_unreadable(at).err().map(|before| at - before)
    }

    /// The objects that cannot be read.
    pub(super) fn unreadable(&self) -> impl Iterator<Item = &Rejected> {
        self.unreadable.iter().map(|(_, rejected)| rejected)
    }

    /// The index in [`Self::unreadable`] of the object at a position of the agent; an error with the number of
    /// unreadable objects before the position if the object can be read.
    fn find_unreadable(&self, at: usize) -> Result<usize, usize> {
        self.unreadable
            .binary_search_by_key(&at, |(position, _)| *position)
    }

    /// The list that consists of these parts. New objects are taken from the staged ones.
    ///
    /// # Errors
    /// A part names objects that do not exist.
    pub(super) fn with_parts(
        &self,
        parts: &[Part],
        staged: &mut Staged,
    ) -> Result<Self, PushRefusal> {
        let count = parts.iter().try_fold(0_usize, |count, part| match part {
            Part::Kept(start, kept) => {
                let end = start.checked_add(*kept)?;
                (end <= self.len()).then(|| count.checked_add(*kept))?
            }
            Part::New(new) => count.checked_add(*new),
        });
        let invalid = || {
            let why = format!("a report keeps objects of a list of {}", self.len());
            PushRefusal::Invalid(why)
        };
        let count = count.ok_or_else(invalid)?;
        // A part can name an object twice, so the number of kept objects is not bounded by the lines.
        Size {
            objects: count,
            bytes: 0,
        }
        .check()?;
        let changed = self.changed_in_place(parts);
        let mut new = Vec::new();
        for part in parts {
            if let Part::New(count) = part {
                new.push(Staged::first(&mut staged.objects, *count, "objects")?);
            }
        }
        let are_readable = new.iter().flatten().all(Result::is_ok);
        match changed {
            Some(changed) if are_readable && self.unreadable.is_empty() => {
                let objects = new.into_iter().flatten().flatten();
                Ok(self.with_versions(changed.into_iter().zip(objects).collect()))
            }
            _ => Ok(self.rebuilt(parts, new)),
        }
    }

    /// The positions of the new objects, if all other objects keep their positions.
    fn changed_in_place(&self, parts: &[Part]) -> Option<Vec<usize>> {
        let mut changed = Vec::new();
        let mut position = 0;
        for part in parts {
            match part {
                Part::Kept(start, count) if *start == position => position += count,
                Part::Kept(..) => return None,
                Part::New(count) => {
                    let end = position.checked_add(*count)?;
                    if end > self.len() {
                        return None;
                    }
                    changed.extend(position..end);
                    position = end;
                }
            }
        }
        (position == self.len()).then_some(changed)
    }

    /// The list with other objects at some positions. It shares all other leaves.
    fn with_versions(&self, versions: Vec<(usize, Object)>) -> Self {
        let mut bytes = self.bytes;
        for (at, object) in &versions {
            let before = self.objects.get(*at).map_or(0, bytes_of_object);
            bytes = bytes.saturating_sub(before) + bytes_of_object(object);
        }
        Self {
            objects: self.objects.with(versions),
            unreadable: Vec::new(),
            bytes,
        }
    }

    fn rebuilt(&self, parts: &[Part], new: Vec<Vec<StagedObject>>) -> Self {
        let mut new = new.into_iter();
        let mut built = Built::default();
        for part in parts {
            match part {
                Part::Kept(start, count) => {
                    for at in *start..start.saturating_add(*count) {
                        built.add(self.entry(at));
                    }
                }
                Part::New(_) => {
                    for object in new.next().unwrap_or_default() {
                        built.add(Some(object));
                    }
                }
            }
        }
        Self {
            objects: built.objects.into(),
            unreadable: built.unreadable,
            bytes: built.bytes,
        }
    }

    fn entry(&self, at: usize) -> Option<StagedObject> {
        match self.find_unreadable(at) {
            Ok(found) => {
                let (_, rejected) = self.unreadable.get(found)?;
                Some(Err(Box::new(rejected.clone())))
            }
            Err(before) => self.objects.get(at - before).cloned().map(Ok),
        }
    }

    fn len(&self) -> usize {
        self.objects.len() + self.unreadable.len()
    }
}

/// A list that is built object by object.
#[derive(Default)]
struct Built {
    objects: Vec<Object>,
    unreadable: Vec<(usize, Rejected)>,
    bytes: usize,
}

impl Built {
    fn add(&mut self, object: Option<StagedObject>) {
        let position = self.objects.len() + self.unreadable.len();
        match object {
            Some(Ok(object)) => {
                self.bytes += bytes_of_object(&object);
                self.objects.push(object);
            }
            Some(Err(rejected)) => {
                self.bytes += bytes_of_rejected(&rejected);
                self.unreadable.push((position, *rejected));
            }
            None => {}
        }
    }
}
