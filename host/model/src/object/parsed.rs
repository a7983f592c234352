//! Parsed JSON of objects, kept within a budget of the process.
//!
//! Interpreters read the same objects again and again: a Deployment is evaluated with its Pods. A parsed tree takes
//! about as much memory as its text, so the trees of all objects share one budget. If the budget is exceeded, the
//! oldest trees are dropped; their objects keep the text and are parsed again when they are read.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kindsight_contract::Tree;

/// Memory for parsed trees unless [`set_tree_budget`] is called, in bytes.
pub const PARSED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Queue entries of dropped objects that are kept before they are removed.
const DEAD_ENTRIES_MAX: usize = 4096;

static CACHE: Cache = Cache {
    budget: AtomicUsize::new(PARSED_BYTES_MAX),
    bytes: AtomicUsize::new(0),
    queue: Mutex::new(VecDeque::new()),
};

/// Sets the memory for the parsed trees of this process, in bytes. With 0, each reader parses the text. Called once
/// at the start.
pub fn set_tree_budget(bytes: usize) {
    CACHE.budget.store(bytes, Ordering::Relaxed);
    CACHE.evict(&mut CACHE.lock());
}

/// The memory for parsed trees, in bytes.
pub fn tree_budget() -> usize {
    CACHE.budget.load(Ordering::Relaxed)
}

/// Memory of the parsed trees that are kept now, in bytes.
pub fn tree_bytes() -> usize {
    CACHE.bytes.load(Ordering::Relaxed)
}

/// The trees that are kept, oldest first.
struct Cache {
    budget: AtomicUsize,
    bytes: AtomicUsize,
    queue: Mutex<VecDeque<Weak<Slot>>>,
}

/// Size of the JSON texts of all objects in memory, in bytes.
static TEXT_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Memory of the JSON texts of the objects of this process, in bytes. Clones of an object share its text.
pub fn text_bytes() -> usize {
    TEXT_BYTES.load(Ordering::Relaxed)
}

/// The place of the tree of one object, with the size of the object's text.
#[derive(Debug)]
struct Slot {
    tree: Mutex<Option<Arc<Tree>>>,
    text_bytes: usize,
}

/// The parsed JSON of one object. Clones of the object share it.
#[derive(Debug, Clone)]
pub(super) struct Parsed(Arc<Slot>);

impl Parsed {
    /// The tree of an object that was just read from a text of this size.
    pub(super) fn of(tree: Tree, text_bytes: usize) -> Self {
        TEXT_BYTES.fetch_add(text_bytes, Ordering::Relaxed);
        let parsed = Self(Arc::new(Slot {
            tree: Mutex::default(),
            text_bytes,
        }));
        parsed.keep(&Arc::new(tree));
        parsed
    }

    /// The tree; reads the text if the tree was dropped.
    pub(super) fn tree(&self, json: &str) -> Arc<Tree> {
        if let Some(tree) = lock(&self.0).as_ref() {
            return Arc::clone(tree);
        }
        let tree = Tree::read(json).map_or_else(|_| Arc::default(), Arc::new);
        self.keep(&tree);
        tree
    }

    fn keep(&self, tree: &Arc<Tree>) {
        if CACHE.budget.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut queue = CACHE.lock();
        let before = lock(&self.0).replace(Arc::clone(tree));
        CACHE.bytes.fetch_add(tree.bytes(), Ordering::Relaxed);
        match before {
            // Another reader parsed the text at the same time.
            Some(before) => {
                CACHE.bytes.fetch_sub(before.bytes(), Ordering::Relaxed);
            }
            None => queue.push_back(Arc::downgrade(&self.0)),
        }
        CACHE.evict(&mut queue);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        take(self);
        TEXT_BYTES.fetch_sub(self.text_bytes, Ordering::Relaxed);
    }
}

impl Cache {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Weak<Slot>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the oldest trees until the others are within the budget.
    fn evict(&self, queue: &mut VecDeque<Weak<Slot>>) {
        let budget = self.budget.load(Ordering::Relaxed);
        while self.bytes.load(Ordering::Relaxed) > budget {
            let Some(oldest) = queue.pop_front() else {
                break;
            };
            if let Some(slot) = oldest.upgrade() {
                take(&slot);
            }
        }
        if queue.len() > DEAD_ENTRIES_MAX && queue.len() == queue.capacity() {
            queue.retain(|slot| slot.strong_count() > 0);
        }
    }
}

fn lock(slot: &Slot) -> MutexGuard<'_, Option<Arc<Tree>>> {
    slot.tree.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drops the tree of a slot.
fn take(slot: &Slot) {
    if let Some(tree) = lock(slot).take() {
        CACHE.bytes.fetch_sub(tree.bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The budget is one for the process, so one test uses it.
    #[test]
    fn the_oldest_trees_are_dropped_and_read_again() {
        let json = format!(r#"{{"kind": "Pod", "text": [{}1]}}"#, "1,".repeat(1000));
        let read = || Parsed::of(Tree::read(&json).unwrap(), json.len());
        let size = Tree::read(&json).unwrap().bytes();
        let is_kept = |parsed: &Parsed| lock(&parsed.0).is_some();
        set_tree_budget(3 * size);
        let all: Vec<Parsed> = (0..5).map(|_| read()).collect();
        assert!(tree_bytes() <= 3 * size);
        assert!(text_bytes() >= 5 * json.len());
        assert!(!is_kept(&all[0]) && is_kept(&all[4]));
        let first = all[0].tree(&json);
        assert!(is_kept(&all[0]) && !is_kept(&all[2]));
        assert_eq!(first.document(&json).root().get("kind").text(), Some("Pod"));
        let clones = all.clone();
        drop(all);
        assert!(tree_bytes() > 0);
        drop(clones);
        set_tree_budget(0);
        assert_eq!(tree_bytes(), 0);
        let parsed = read();
        assert!(
            !is_kept(&parsed)
                && !is_kept(&{
                    parsed.tree(&json);
                    parsed
                })
        );
        set_tree_budget(PARSED_BYTES_MAX);
    }
}
