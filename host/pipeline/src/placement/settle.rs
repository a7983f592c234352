//! Objects of a report after they were judged.

use std::sync::Arc;

use kindsight_model::Object;

/// Lets go of what the objects were read to: nobody asks for it as often as once a report, and it takes as
/// much memory as their text.
pub(super) fn settle(objects: &mut Arc<[Object]>) {
    // A worker may still hold the batch it has answered.
    if let Some(objects) = Arc::get_mut(objects) {
        objects.iter_mut().for_each(Object::settle);
        return;
    }
    let settled = objects.iter().cloned().map(|mut object| {
        object.settle();
        object
    });
    *objects = settled.collect();
}
