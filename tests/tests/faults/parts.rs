//! Components of many core instances, memories and tables.

use kindsight_interpreter::{Limits, PARTS_MAX};

use crate::by_hand::Module;
use crate::{one_worker, start};

/// The outcome of loading a component with `count` additional parts.
fn loaded(parts_max: u16, field: &str, count: usize) -> String {
    let interpreters = start(Limits {
        parts_max,
        ..one_worker()
    });
    let module = Module {
        fields: field.repeat(count),
        ..Module::default()
    };
    match interpreters.load(&module.build()) {
        Ok(loaded) => format!("loaded as {}", loaded.by().name),
        Err(error) => error.with_step(),
    }
}

#[test]
fn as_many_parts_as_python_makes_are_taken_by_default() {
    let default = Limits::default().parts_max;
    for field in ["(memory 0)", "(table 1 funcref)"] {
        assert_eq!(loaded(default, field, 40), "loaded as by-hand", "{field}");
    }
}

#[test]
fn an_operator_sets_the_number_up_to_the_hosts_own() {
    let table = "(table 1 funcref)";
    let refused = loaded(8, table, 9);
    let expected = "tried: has more than 8 core instances, memories or tables";
    assert!(refused.starts_with(expected), "{refused}");
    // A core module has 100 tables at most.
    assert_eq!(loaded(PARTS_MAX, table, 90), "loaded as by-hand");
}
