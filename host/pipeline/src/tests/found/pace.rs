//! A large app that keeps changing is written to the file of the last-known state less often than a small one.

use kindsight_model::Object;

use super::reports::{deployment, has, object, stage, synced};
use crate::remembered::writer::Writer;
use crate::tests::stage::Stage;

/// Objects of a large app. Its value has about 250 KiB, so a change waits for about 4 s.
const OBJECTS: usize = 1000;

/// Many objects. One of them is ready or not.
fn objects(is_ready: bool) -> Vec<Object> {
    let others = (1..OBJECTS).map(|number| deployment(&format!("front-{number}")));
    let first = object("Deployment", "front-0", None, is_ready);
    std::iter::once(first).chain(others).collect()
}

fn large() -> Stage {
    let mut stage = stage();
    stage.pipeline.expect_cluster(&"p+a".parse().unwrap(), 0);
    stage.tell(has("p+a", "front", objects(true)), 1000);
    stage.pipeline.handle(synced("p+a"), 1000);
    stage
}

/// Writes the changes as a pass of the writer does, and then ends without a last pass. Returns the state after a start
/// at another time, and since when the application is stale.
fn after_a_crash(changed_ms: i64, passes_ms: &[i64]) -> (String, String) {
    let mut stage = large();
    let ((), mut changes) = stage.read_model.subscribe(|_| ());
    let mut writer = Writer::new(
        stage.file(),
        stage.read_model.clone(),
        stage.pipeline.needs().inventories,
    );
    writer.write(2000, false);
    stage.tell(has("p+a", "front", objects(false)), changed_ms);
    for now_ms in passes_ms {
        writer.note(&mut changes);
        writer.write(*now_ms, false);
    }
    drop(writer);
    stage.start(&["p+a"], 100_000);
    (stage.ready(), stage.whole_stale().unwrap().0)
}

#[test]
fn a_change_waits_and_the_cluster_is_current_until_then() {
    let at = |seconds| format!("1970-01-01T00:00:{seconds}Z");
    // The application is stale since the last time at which the file was right.
    assert_eq!(after_a_crash(3000, &[4000]), ("Ready".into(), at("02")));
    let again = after_a_crash(62_000, &[63_900]);
    assert_eq!(again, ("Pending".into(), "1970-01-01T00:01:03.9Z".into()));
    // It was written at last.
    let written = after_a_crash(3000, &[4000, 10_000]);
    assert_eq!(written, ("Pending".into(), at("10")));
}

#[test]
fn the_last_pass_writes_what_waits() {
    let mut stage = large();
    let ((), mut changes) = stage.read_model.subscribe(|_| ());
    let mut writer = Writer::new(
        stage.file(),
        stage.read_model.clone(),
        stage.pipeline.needs().inventories,
    );
    writer.write(2000, false);
    stage.tell(has("p+a", "front", objects(false)), 3000);
    writer.note(&mut changes);
    writer.write(4000, false);
    writer.write(4100, true);
    drop(writer);
    stage.start(&["p+a"], 5000);
    assert_eq!(stage.ready(), "Pending");
}
