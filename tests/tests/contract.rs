//! The contract in `wit/`: every item is documented, and changes of shape show in a snapshot.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect_file;
use wit_parser::{Docs, Function, Interface, Resolve, Type, TypeDef, TypeDefKind, TypeOwner};

fn contract() -> Resolve {
    let mut resolve = Resolve::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    resolve.push_path(folder).expect("the contract");
    resolve
}

fn name_of(interface: &Interface) -> &str {
    interface.name.as_deref().expect("a name")
}

/// The types that an interface itself defines, with their names. Types of other interfaces are omitted.
fn own_types<'r>(resolve: &'r Resolve, interface: &'r Interface) -> Vec<(&'r str, &'r TypeDef)> {
    let types = interface.types.iter();
    let types = types.map(|(name, id)| (name.as_str(), &resolve.types[*id]));
    types
        .filter(|(_, defined)| !matches!(defined.kind, TypeDefKind::Type(_)))
        .collect()
}

/// Members of a type that are documented one by one.
fn members(kind: &TypeDefKind) -> Vec<(&str, &Docs)> {
    match kind {
        TypeDefKind::Record(record) => record
            .fields
            .iter()
            .map(|member| (member.name.as_str(), &member.docs))
            .collect(),
        TypeDefKind::Variant(variant) => variant
            .cases
            .iter()
            .map(|member| (member.name.as_str(), &member.docs))
            .collect(),
        TypeDefKind::Enum(enumeration) => enumeration
            .cases
            .iter()
            .map(|member| (member.name.as_str(), &member.docs))
            .collect(),
        TypeDefKind::Flags(flags) => flags
            .flags
            .iter()
            .map(|member| (member.name.as_str(), &member.docs))
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_sdk_carries_the_same_contract() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect(path);
    assert!(
        read("wit/interpreter.wit") == read("sdk/rust/wit/interpreter.wit"),
        "the contract has changed: cp wit/interpreter.wit sdk/rust/wit/"
    );
}

#[test]
fn every_item_is_documented() {
    let resolve = contract();
    let mut undocumented = Vec::new();
    let mut need = |name: String, docs: &Docs| {
        let text = docs.contents.as_deref().unwrap_or_default();
        if text.trim().is_empty() {
            undocumented.push(name);
        }
    };
    for (_, package) in &resolve.packages {
        need(package.name.to_string(), &package.docs);
    }
    for (_, world) in &resolve.worlds {
        need(world.name.clone(), &world.docs);
    }
    for (_, interface) in &resolve.interfaces {
        let name = name_of(interface);
        need(name.to_owned(), &interface.docs);
        for (function, defined) in &interface.functions {
            need(format!("{name}.{function}"), &defined.docs);
        }
        for (ty, defined) in own_types(&resolve, interface) {
            need(format!("{name}.{ty}"), &defined.docs);
            for (member, docs) in members(&defined.kind) {
                need(format!("{name}.{ty}.{member}"), docs);
            }
        }
    }
    assert!(
        undocumented.is_empty(),
        "without a doc comment: {undocumented:#?}"
    );
}

/// Shapes are frozen for the major version. If this test fails for `1.x`, all existing components would stop working:
/// add an interface instead.
#[test]
fn the_shapes_are_those_of_the_snapshot() {
    let resolve = contract();
    let mut text = String::new();
    for (_, package) in &resolve.packages {
        writeln!(text, "package {}", package.name).expect("text");
    }
    for (_, interface) in &resolve.interfaces {
        writeln!(text, "\ninterface {}", name_of(interface)).expect("text");
        for (name, defined) in own_types(&resolve, interface) {
            write_type(&mut text, &resolve, name, defined);
        }
        for function in interface.functions.values() {
            writeln!(text, "  {}", function_shape(&resolve, function)).expect("text");
        }
    }
    for (_, world) in &resolve.worlds {
        writeln!(text, "\nworld {}", world.name).expect("text");
        for (direction, items) in [("import", &world.imports), ("export", &world.exports)] {
            for key in items.keys() {
                writeln!(text, "  {direction} {}", resolve.name_world_key(key)).expect("text");
            }
        }
    }
    expect_file!["snapshots/contract.txt"].assert_eq(&text);
}

fn write_type(text: &mut String, resolve: &Resolve, name: &str, defined: &TypeDef) {
    writeln!(text, "  {} {name}", defined.kind.as_str()).expect("text");
    let lines: Vec<String> = match &defined.kind {
        TypeDefKind::Record(record) => record
            .fields
            .iter()
            .map(|field| format!("{}: {}", field.name, shape(resolve, &field.ty)))
            .collect(),
        TypeDefKind::Variant(variant) => variant
            .cases
            .iter()
            .map(|case| match &case.ty {
                Some(ty) => format!("{}({})", case.name, shape(resolve, ty)),
                None => case.name.clone(),
            })
            .collect(),
        kind => members(kind)
            .into_iter()
            .map(|(name, _)| name.to_owned())
            .collect(),
    };
    for line in lines {
        writeln!(text, "    {line}").expect("text");
    }
}

fn function_shape(resolve: &Resolve, function: &Function) -> String {
    let parameters: Vec<String> = function
        .params
        .iter()
        .map(|member| format!("{}: {}", member.name, shape(resolve, &member.ty)))
        .collect();
    let result = function.result.as_ref();
    let result = result.map_or_else(String::new, |ty| format!(" -> {}", shape(resolve, ty)));
    format!("{}: func({}){result}", function.name, parameters.join(", "))
}

fn shape(resolve: &Resolve, ty: &Type) -> String {
    let Type::Id(id) = ty else {
        return format!("{ty:?}").to_lowercase();
    };
    let defined = &resolve.types[*id];
    let optional = |ty: &Option<Type>| ty.as_ref().map_or("_".to_owned(), |ty| shape(resolve, ty));
    match &defined.kind {
        TypeDefKind::Type(of) => shape(resolve, of),
        TypeDefKind::List(of) => format!("list<{}>", shape(resolve, of)),
        TypeDefKind::Option(of) => format!("option<{}>", shape(resolve, of)),
        TypeDefKind::Result(of) => format!("result<{}, {}>", optional(&of.ok), optional(&of.err)),
        _ => {
            let TypeOwner::Interface(owner) = defined.owner else {
                panic!("{:?} belongs to no interface", defined.name);
            };
            let name = defined.name.as_deref().expect("a name");
            format!("{}.{name}", name_of(&resolve.interfaces[owner]))
        }
    }
}
