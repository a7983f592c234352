use expect_test::expect;
use serde_json::json;

use super::*;

/// A schema with this number of parts. Each part refers twice to the next one.
fn bomb(parts: usize) -> Value {
    let last = (format!("d{parts}"), json!({"type": "string"}));
    let each = (0..parts).map(|number| {
        let next = format!("#/$defs/d{}", number + 1);
        let twice = json!({"allOf": [{"$ref": next}, {"$ref": next}]});
        (format!("d{number}"), twice)
    });
    let parts: Map<String, Value> = each.chain([last]).collect();
    json!({"$ref": "#/$defs/d0", "$defs": parts})
}

#[test]
fn a_schema_for_human_users_costs_few_steps() {
    let schema = json!({
        "$id": "https://example.com/settings.json",
        "type": "object",
        "required": ["level"],
        "properties": {
            "level": {"type": "integer", "maximum": 9},
            "color": {"$ref": "#/$defs/color~1name"},
            "$ref": {"enum": [{"$ref": "no reference"}]},
            "tags": {"items": {"pattern": "^[a-z]+$"}, "uniqueItems": true}
        },
        "$defs": {"color/name": {"enum": ["red", "green"]}},
        "additionalProperties": false
    });
    let cost = cost(&schema).expect("a usual schema");
    assert!((80..150).contains(&cost.steps), "{cost:?}");
    assert!(cost.asks_for_unique);
}

#[test]
fn a_schema_over_the_budget_is_refused_with_the_limit() {
    let deep = (0..100).fold(json!({}), |inner, _| json!({"not": inner}));
    let many: Vec<Value> = (0..11_000).map(|_| json!(true)).collect();
    let mut refusals = String::new();
    for schema in [
        bomb(40),
        bomb(27),
        bomb(14),
        deep,
        json!({"anyOf": many}),
        json!({"enum": many}),
        json!({"pattern": "x".repeat(600)}),
    ] {
        refusals.push_str(&cost(&schema).expect_err("over the budget"));
        refusals.push('\n');
    }
    expect![[r#"
        with every `$ref` followed, it is nested deeper than 64, which is the limit
        with every `$ref` followed, it is nested deeper than 64, which is the limit
        with every `$ref` followed, it has more than 10000 steps, which is the limit
        with every `$ref` followed, it is nested deeper than 64, which is the limit
        with every `$ref` followed, it has more than 10000 steps, which is the limit
        with every `$ref` followed, it has more than 10000 steps, which is the limit
        a pattern of 600 bytes is over the limit of 512 bytes
    "#]]
    .assert_eq(&refusals);
    cost(&bomb(6)).expect("some hundred steps");
}

#[test]
fn a_schema_that_reaches_out_or_refers_to_itself_is_refused() {
    let mut refusals = String::new();
    for schema in [
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"items": {"$ref": "#/$defs/none"}}),
        json!({"items": {"$ref": 1}}),
        json!({"items": {"$id": "x", "$ref": "#"}}),
        json!({"items": {"$dynamicRef": "#x"}}),
        json!({"unevaluatedProperties": false}),
    ] {
        refusals.push_str(&cost(&schema).expect_err("refused"));
        refusals.push('\n');
    }
    expect![[r##"
        `"#"` refers to itself, which is not supported in a settings-schema
        `"#/$defs/b"` refers to itself, which is not supported in a settings-schema
        `$ref` "file:///etc/passwd" does not have the form `#/…`: other references are not followed
        `$ref` "#/$defs/none" has no target in the schema
        `$ref` 1 does not have the form `#/…`: other references are not followed
        `$id` is not supported in a settings-schema
        `$dynamicRef` is not supported in a settings-schema
        `unevaluatedProperties` is not supported in a settings-schema
    "##]]
    .assert_eq(&refusals);
}

#[test]
fn the_built_in_schemas_are_within_the_budget() {
    for schema in [json!({"type": "object"}), json!({})] {
        cost(&schema).expect("small");
    }
}
