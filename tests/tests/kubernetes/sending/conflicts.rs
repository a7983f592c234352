//! Fields that other managers own.

use serde_json::json;

use super::{NAMESPACE, Stage, config_map, path_of_map, refused};

#[test]
fn a_conflict_names_the_other_manager_and_force_takes_its_fields_over() {
    let Some(stage) = Stage::without_controllers() else {
        return;
    };
    stage.cluster.apply(&json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "front", "namespace": NAMESPACE}, "data": {"colour": "red"},
    }));
    let map = config_map("front", "blue");
    stage.vet(&map).unwrap();
    for why in [
        refused(stage.apply(&map)),
        refused(stage.preview(&map).map(drop)),
    ] {
        let expected =
            "the manager `tests` owns the fields .data.colour; `--force` takes them over";
        assert_eq!(why, expected);
    }
    let forced = config_map("front", "blue").forced();
    stage.apply(&forced).unwrap();
    let object = stage.get(&path_of_map("front")).unwrap();
    assert_eq!(object["data"]["colour"], "blue");
    stage.apply(&map).unwrap();
}
