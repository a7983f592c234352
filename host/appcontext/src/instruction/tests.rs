use kindsight_model::Hook;

use super::sealed::Sealed;
use super::*;

fn kept<I: Sealed>(text: &str) {
    let read = I::decode(text).unwrap();
    assert_eq!(read.encode().unwrap(), text);
}

#[test]
fn instructions_of_both_generations_are_written_back_as_they_were() {
    kept::<AppOrder>(r#"{"x":1.0,"apporder":["b","a"],"y":null}"#);
    kept::<AppOrder>(r#"{"apporder":null}"#);
    kept::<ResourceOrder>(r#"{"resorder":["a+Pod"],"z":[ ]}"#);
    kept::<AppsDependency>(r#"{"appdependency":{"b":"go","a":"wait"},"x":1}"#);
    kept::<AppsDependency>(r#"{"b":"go","a":{"x":1.0}}"#);
    kept::<AppsDependency>(r#"{"appdependency":"go"}"#);
    kept::<AppsDependency>("{}");
    kept::<AppDependency>(r#"[{"app":"a","opstatus":"Ready","wait":5,"x":[1]},{"app":"b"}]"#);
    kept::<ResourceDependency>(r#"{"resdependency":{"a+Pod":"go"}}"#);
    kept::<ResourceDependency>(
        r#"{"resdependency":{"pre-install":["a+Job"],"odd":["x"],"post-delete":null},"y":2.50}"#,
    );
}

#[test]
fn new_instructions_have_the_form_of_the_reference() {
    let go = AppsDependency::go(["b", "a"]).unwrap();
    assert_eq!(
        go.encode().unwrap(),
        r#"{"appdependency":{"a":"go","b":"go"}}"#
    );
    let order = AppOrder::new(["b", "a"]);
    assert_eq!(order.encode().unwrap(), r#"{"apporder":["b","a"]}"#);
    let waits = AppDependency {
        apps: vec![DependsOn::new("a", "Ready", 30)],
    };
    assert_eq!(
        waits.encode().unwrap(),
        r#"[{"app":"a","opstatus":"Ready","wait":30}]"#
    );
    let empty = ResourceDependency::go([""; 0]).unwrap();
    assert_eq!(empty.encode().unwrap(), r#"{"resdependency":{}}"#);
}

#[test]
fn hooks_are_those_of_the_later_generation() {
    let text =
        r#"{"resdependency":{"a+Pod":"go","pre-install":["b+Job","c+Job"],"odd":["d+Job"]}}"#;
    let dependency = ResourceDependency::decode(text).unwrap();
    assert_eq!(dependency.hook("a+Pod"), None);
    assert_eq!(dependency.hook("c+Job"), Some(Hook::PreInstall));
    assert_eq!(dependency.hook("d+Job"), None);
    assert_eq!(dependency.word("a+Pod").as_deref(), Some(GO));
}

#[test]
fn a_resource_is_taken_out_of_every_list() {
    let text = r#"{"x":1,"resdependency":{"a+Pod":"go","test":["a+Pod","b+Job"],"odd":["a+Pod"]}}"#;
    let mut dependency = ResourceDependency::decode(text).unwrap();
    assert!(dependency.remove("a+Pod").unwrap());
    assert!(!dependency.remove("a+Pod").unwrap());
    assert_eq!(
        dependency.encode().unwrap(),
        r#"{"x":1,"resdependency":{"test":["b+Job"],"odd":[]}}"#
    );
}

#[test]
fn an_app_is_taken_out_in_the_form_it_was_stored_in() {
    let mut bare = AppsDependency::decode(r#"{"b":"go","a":"go"}"#).unwrap();
    assert!(bare.remove("b"));
    assert_eq!(bare.encode().unwrap(), r#"{"a":"go"}"#);
    let mut order = AppOrder::decode(r#"{"x":1,"apporder":["b","a","b"]}"#).unwrap();
    assert!(order.remove("b") && !order.remove("b"));
    assert_eq!(order.encode().unwrap(), r#"{"x":1,"apporder":["a"]}"#);
}

#[test]
fn what_is_no_instruction_is_refused() {
    for text in ["", "[]", "1", r#"{"apporder":"a"}"#, r#"{"apporder":[1]}"#] {
        assert!(AppOrder::decode(text).is_err(), "{text}");
    }
    assert!(AppDependency::decode(r#"{"app":"a"}"#).is_err());
    assert!(ResourceDependency::decode(r#"{"resdependency":[]}"#).is_err());
}
