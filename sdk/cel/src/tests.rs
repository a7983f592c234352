use kindsight_contract::{Node, TextWriter, Tree, write_object};

use super::*;

/// The top-level fields of an object as variables.
struct Fields<'a>(Node<'a>);

impl<'a> Variables<'a> for Fields<'a> {
    fn variable(&self, name: &str) -> Result<Option<Value<'a>>, EvaluationError> {
        Ok(Value::of_member(self.0.get(name)))
    }
}

/// The value of an expression as `%s` formats it, or its error.
fn value(expression: &str, object: &str) -> Result<String, String> {
    let program = Program::compile(expression).map_err(|error| error.to_string())?;
    let tree = Tree::read(object).expect("JSON");
    let document = tree.document(object);
    let (fields, budget) = (Fields(document.root()), Budget::default());
    let value = program.evaluate(&fields, &budget);
    let value = value.and_then(|value| functions::shown(&value, &budget));
    value.map_err(|error| error.to_string())
}

#[test]
fn expressions_have_the_values_of_the_language() {
    let object =
        r#"{"a": {"b": 1, "n": null, "f": 1.0}, "l": [{"t": "x"}, {"t": "y"}], "s": "äbc"}"#;
    let table = [
        ("1 + 2 * 3 - 4 / 2", "5"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1 == 1.0 && 1u == 1 && a.b == a.f", "true"),
        ("1 < 1.5 && 2u > 1.5", "true"),
        ("1/0 > 0 || true", "true"),
        ("true || 1/0 > 0", "true"),
        ("[1, 0].exists(x, 1 / x > 0)", "true"),
        ("[0, 1].exists(x, 1 / x > 0)", "true"),
        ("[0, 1].all(x, 1 / x > 5)", "false"),
        ("l.filter(i, i.t == 'y').map(i, i.t)", "[y]"),
        ("l.exists_one(i, i.t == 'x')", "true"),
        ("l.map(i, i.t == 'x', i.t)", "[x]"),
        ("a.?b.orValue(7)", "1"),
        ("a.?c.orValue(7)", "7"),
        ("a.?c.?d.hasValue()", "false"),
        ("a.?n.orValue([]).size()", "0"),
        ("a.?n.?d.hasValue()", "false"),
        ("a[?'c'].or(optional.of(3)).value()", "3"),
        ("has(a.n) && !has(a.c)", "true"),
        ("a.n == null", "true"),
        ("[?a.?c, ?a.?b, 2]", "[1, 2]"),
        ("{'x': 1, ?'y': a.?c}", "{x: 1}"),
        ("l[0].t + l[1]['t']", "xy"),
        ("'b' in a && !('c' in a) && 2 in [1, 2]", "true"),
        ("size(s) == 3 && s.size() == 3", "true"),
        ("s.charAt(0) + s.substring(1, 2)", "äb"),
        ("s.indexOf('c')", "2"),
        ("'a,b,c'.split(',', 2)", "[a, b,c]"),
        ("['a', 'b'].join('-').upperAscii()", "A-B"),
        (
            "'%s is %d, %.1f, %x'.format(['x', 3, 2.25, 255])",
            "x is 3, 2.2, ff",
        ),
        ("strings.quote('a\\n')", "\"a\\n\""),
        (
            "sets.contains([1, 2], [2.0]) && sets.intersects([1], [1, 2])",
            "true",
        ),
        (
            "base64.encode(b'abc') + string(base64.decode('YWI'))",
            "YWJjab",
        ),
        ("timestamp('2024-02-29T12:00:00Z').getDayOfYear()", "59"),
        (
            "timestamp('2024-02-29T12:00:00Z') + duration('1h30m')",
            "2024-02-29T13:30:00Z",
        ),
        ("timestamp('2024-01-01T00:00:00Z').getHours('+02:00')", "2"),
        (
            "string(duration('90m')) + string(1.5) + string(1e7)",
            "5400s1.51e+07",
        ),
        ("type(1) == int && type(a) == map", "true"),
        ("'abc'.matches('^a.c$') && matches('abc', 'b')", "true"),
        ("a.b == 1 ? 'yes' : 'no'", "yes"),
        ("a.?b.optMap(x, x + 1).orValue(0)", "2"),
        ("r'\\d' + \"\"\"a\"b\"\"\" // comment", "\\da\"b"),
        ("[1, 2, 3].last().value() + [4].first().value()", "7"),
        ("!(!true) && !!true && --1 == 1", "true"),
    ];
    for (expression, expected) in table {
        assert_eq!(
            value(expression, object).as_deref(),
            Ok(expected),
            "{expression}"
        );
    }
}

#[test]
fn a_scalar_has_no_optional_members() {
    let object = r#"{"n": null, "s": "x", "i": 1}"#;
    for expression in [
        "n.?a.hasValue()",
        "n[?'a'].hasValue()",
        "s[?'a'].hasValue()",
        "i[?0].hasValue()",
        "optional.of(s)['a'].hasValue()",
    ] {
        assert_eq!(
            value(expression, object).as_deref(),
            Ok("false"),
            "{expression}"
        );
    }
}

#[test]
fn errors_name_the_problem() {
    let table = [
        ("x", "no such variable: x"),
        ("a.c", "no such key: c"),
        ("has(x.a)", "no such variable: x"),
        ("1 + 'a'", "`+` is not defined for int, string"),
        ("a > 1", "`>` is not defined for map, int"),
        ("9223372036854775807 + 1", "int overflow"),
        ("1 % 0", "division by zero"),
        ("[1][1]", "index out of range: 1"),
        ("optional.none().value()", "the optional has no value"),
        ("1 && true", "expected true or false, the value is a int"),
        (
            "'a'.matches('(')",
            "`(` is not a valid pattern, or is too large",
        ),
        ("a b", "column 3: expected the end, found `b`"),
        ("a.b.c(", "column 7: expected an expression, found the end"),
        ("nope(1)", "column 1: unknown function `nope`"),
        (
            "'abc'.size(1)",
            "column 7: `size` does not take this number of arguments",
        ),
        (
            "has(a)",
            "column 1: `has` takes one field, such as `has(status.phase)`",
        ),
        (
            "[1].all(1, true)",
            "column 9: expected the name of a variable, found a literal",
        ),
        ("'a", "column 1: the closing ' is missing"),
        ("1 + package", "column 5: `package` is a reserved word"),
        (
            "99999999999999999999",
            "column 1: `99999999999999999999` is not a number, or is too large",
        ),
        ("a ~ b", "column 3: unexpected character `~`"),
    ];
    for (expression, expected) in table {
        let error = value(expression, r#"{"a": {}}"#).expect_err(expression);
        assert_eq!(error, expected, "{expression}");
    }
}

#[test]
fn nesting_and_length_are_limited() {
    let nested = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
    assert!(Program::compile(&nested(DEPTH_MAX - 1)).is_ok());
    assert!(matches!(
        Program::compile(&nested(DEPTH_MAX)),
        Err(CompileError::TooDeep(_))
    ));
    for (repeated, end) in [
        ("[", ""),
        ("1 + ", "1"),
        ("a.b", ""),
        ("{1: ", ""),
        ("!(", ""),
        ("a ? b : ", "c"),
    ] {
        let deep = repeated.repeat(1000) + end;
        assert!(Program::compile(&deep).is_err(), "{repeated}");
    }
    let chain = "true && ".repeat(1000) + "true";
    assert!(
        Program::compile(&chain).is_ok(),
        "a chain of && is one level"
    );
    let long = "1".repeat(EXPRESSION_BYTES_MAX + 1);
    assert_eq!(
        Program::compile(&long).err(),
        Some(CompileError::TooLong(long.len()))
    );
}

#[test]
fn a_budget_ends_every_evaluation() {
    let spent = Err(EvaluationError::BudgetSpent.to_string());
    let range = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
    let mut nested = "true".to_owned();
    for level in 0..12 {
        nested = format!("{range}.all(x{level}, {nested})");
    }
    assert_eq!(value(&nested, "{}"), spent);
    // The operators that absorb errors do not absorb this one.
    assert_eq!(value(&format!("{nested} || true"), "{}"), spent);
    let long = format!("{{\"s\": \"{}\"}}", "a".repeat(1_000_000));
    assert_eq!(
        value("[s, s, s, s].map(x, x + x + x + x).size() > 0", &long),
        spent
    );
    assert_eq!(value("s.matches('(a*)*(a*)*(a*)*b')", &long), spent);
    assert_eq!(value("s.split('').size()", &long), spent);
}

#[test]
fn an_expression_reads_only_its_pointers() {
    let table: [(&str, &[&str]); 13] = [
        ("status.phase == 'Running'", &["/status/phase"]),
        (
            "has(status.a) && status.?b.?c.orValue(0) > 1",
            &["/status/a", "/status/b/c"],
        ),
        ("has(status.health.status)", &["/status/health"]),
        ("status.a.?b.c.orValue(0) == 1", &["/status/a"]),
        ("status.?a.b[?'c'].hasValue()", &["/status/a/b/c"]),
        (
            "status.a[?'b'].hasValue() && has(status.c.?d.e)",
            &["/status/a", "/status/c"],
        ),
        ("status['a/b'] == 1", &["/status/a~1b"]),
        ("status.list.exists(c, c.type == 'x')", &["/status/list"]),
        ("status.map[spec.key] == 1", &["/spec/key", "/status/map"]),
        ("status == {} || status.a == 1", &["/status"]),
        ("[spec.a].all(x, x == spec.b)", &["/spec/a", "/spec/b"]),
        ("status.a.size() + status.ab", &["/status/a", "/status/ab"]),
        (
            "(has(status.x) ? status.x : status.y).z",
            &["/status/x", "/status/y"],
        ),
    ];
    for (expression, expected) in table {
        let mut pointers = Vec::new();
        Program::compile(expression)
            .expect(expression)
            .pointers(&mut pointers);
        without_parts(&mut pointers);
        assert_eq!(pointers, expected, "{expression}");
    }
}

/// An object with only the values that an expression reads.
fn reduced(expression: &str, object: &str) -> String {
    let mut pointers = Vec::new();
    let program = Program::compile(expression).expect(expression);
    program.pointers(&mut pointers);
    let tree = Tree::read(object).expect("JSON");
    let (document, fields) = (
        tree.document(object),
        kindsight_contract::Fields::new(&pointers),
    );
    let mut writer = TextWriter::default();
    write_object(&mut writer, None, document.root(), &fields, None);
    writer.text().to_owned()
}

#[test]
fn a_reduced_object_gives_the_same_value() {
    let object = r#"{"status": {"nil": null, "text": "x", "map": {"a": 1, "nil": null}, "list": [{"a": null}]}}"#;
    for expression in [
        "status.nil.?a.hasValue()",
        "status.text.?a.hasValue()",
        "status.nil[?'a'].hasValue()",
        "status.text[?'a'].?b.hasValue()",
        "status.map.nil.?a.b.hasValue()",
        "status.map.?nil.?a.hasValue()",
        "status.?nil.a.orValue('none')",
        "status.map.?a.orValue(0)",
        "has(status.nil.a) || has(status.text.a)",
        "has(status.map.nil.?a.b)",
        "status.list[0].a.?b.hasValue()",
    ] {
        let complete = value(expression, object);
        assert!(complete.is_ok(), "{expression}: {complete:?}");
        let reduced = reduced(expression, object);
        assert_eq!(value(expression, &reduced), complete, "{expression}");
    }
}

/// The parts that an expression reads of the items of the lists in `related`, as `name pointer`.
fn item_parts(expression: &str) -> Vec<String> {
    let mut parts = ItemParts::new();
    let shapes = |name: &str| match name {
        "related" => Shape::Lists,
        "bad" => Shape::List("pods".to_owned()),
        _ => Shape::Other,
    };
    let program = Program::compile(expression).expect(expression);
    program.read_item_parts(&shapes, &mut parts);
    let parts = parts.into_iter();
    parts.map(|(list, part)| format!("{list} {part}")).collect()
}

#[test]
fn an_expression_reads_only_parts_of_items() {
    let table: [(&str, &[&str]); 18] = [
        ("size(related.pods) > 0 && has(related.pods)", &[]),
        (
            "related.pods.exists(p, p.status.?phase.orValue('') == spec.phase)",
            &["pods /status/phase"],
        ),
        (
            "related.pods.filter(p, has(p.status.a.b)).map(p, p.metadata.name).join(', ')",
            &["pods /metadata/name", "pods /status/a"],
        ),
        (
            "related.pods[0].metadata.labels['a/b'] == 'x'",
            &["pods /metadata/labels/a~1b"],
        ),
        (
            "related.pods[?0].?spec.orValue({}).?a.orValue(1) == 1",
            &["pods /spec/a"],
        ),
        (
            "related.pods.exists(p, p.status.list.exists(c, c.a == 1))",
            &["pods /status/list"],
        ),
        (
            "related.pods.exists(p, (p.status.a + p.status.b).exists(c, c.d))",
            &["pods /status/a", "pods /status/b"],
        ),
        ("bad.exists(p, p.spec.x)", &["pods /spec/x"]),
        (
            "(related.pods + related.sets).exists(p, p.spec.x)",
            &["pods ", "sets "],
        ),
        (
            "(spec.on ? related.pods : bad).filter(p, p.a)[0].c",
            &["pods /a", "pods /c"],
        ),
        ("related.pods == []", &["pods "]),
        ("related.pods.map(p, p)[0].spec", &["pods "]),
        (
            "related.pods.first().optMap(p, p.spec.?x).hasValue()",
            &["pods /spec/x"],
        ),
        ("related.pods.exists(p, p.spec[spec.key])", &["pods /spec"]),
        (
            "related.pods.exists(p, p.status.a.?b.hasValue())",
            &["pods /status/a"],
        ),
        (
            "related.pods.exists(p, p.status.?a[?'b'].?c.hasValue())",
            &["pods /status/a/b/c"],
        ),
        (
            "related.pods.first().status.a.?b.hasValue()",
            &["pods /status/a/b"],
        ),
        (
            "related.pods.exists(p, p.?status.?a.optMap(x, x.?b).hasValue())",
            &["pods /status/a"],
        ),
    ];
    for (expression, expected) in table {
        assert_eq!(item_parts(expression), expected, "{expression}");
    }
}

#[test]
fn a_template_inserts_values() {
    let object = r#"{"a": "x", "n": 2}"#;
    let tree = Tree::read(object).expect("JSON");
    let document = tree.document(object);
    let (fields, budget) = (Fields(document.root()), Budget::default());
    let text = |template: &str| {
        let template = Template::compile(template).expect("a template");
        template.evaluate(&fields, &budget).expect("a text")
    };
    assert_eq!(
        text("${a} has ${n} of ${{'k': '}'}}, $${a}"),
        "x has 2 of {k: }}, ${a}"
    );
    assert_eq!(text("plain"), "plain");
    let error = |template: &str| {
        Template::compile(template)
            .expect_err("an error")
            .to_string()
    };
    assert_eq!(
        error("ab ${1 +}"),
        "column 9: expected an expression, found the end"
    );
    assert_eq!(error("ab ${1"), "column 4: the closing `}` is missing");
}
