//! Children that misbehave, played by a shell.

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::protocol::Request;
use super::*;

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

fn shell(script: &str) -> ChildCompiler {
    ChildCompiler {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        memory_bytes_max: 1000,
        cpu_time_max: Duration::from_secs(7),
        wall_time_max: Duration::from_secs(20),
    }
}

/// What the author of the component is told.
fn told(script: &str) -> String {
    match shell(script).compile(COMPONENT) {
        Ok(code) => format!("{} bytes of code", code.len()),
        Err(error) => error.with_step(),
    }
}

/// A command that says exactly this.
fn says(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let octal = bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "\\{byte:03o}").expect("text");
        text
    });
    format!("printf '{octal}'")
}

fn answer(compiled: Result<Vec<u8>, LoadError>) -> Vec<u8> {
    let mut bytes = Vec::new();
    protocol::answer(&mut bytes, compiled).expect("an answer");
    bytes
}

#[test]
fn code_is_taken_over_as_it_is() {
    let code: Vec<u8> = (0..=255).collect();
    let script = says(&answer(Ok(code.clone())));
    assert_eq!(shell(&script).compile(COMPONENT).expect("code"), code);
    let script = format!("cat > /dev/null; {script}");
    assert_eq!(shell(&script).compile(COMPONENT).expect("code"), code);
}

#[test]
fn a_refusal_is_the_one_of_the_child() {
    for refusal in [
        LoadError::NotAComponent("damaged".to_owned()),
        LoadError::ForeignImport("wasi:io/streams@0.2.0".to_owned()),
        LoadError::NotAnInterpreter,
        LoadError::OtherMajor("2.0.0".to_owned()),
        LoadError::Compile("too hard".to_owned()),
    ] {
        let text = refusal.with_step();
        assert_eq!(told(&says(&answer(Err(refusal)))), text);
    }
}

#[test]
fn a_long_refusal_is_cut() {
    let long = LoadError::Compile("\u{1}ä".repeat(100_000));
    let text = told(&says(&answer(Err(long))));
    assert!(text.starts_with("compiled: \u{1}ä"));
    assert!(text.len() < 5000, "{} bytes", text.len());
}

#[test]
fn names_in_a_refusal_do_not_reach_the_terminal_as_they_are() {
    let engine = Engine::new().expect("an engine");
    let twice = r#"(export "\1b[31mred" (func 0)) (export "\1b[31mred" (func 0))"#;
    let text = format!("(component (core module (func) {twice}))");
    let component = wat::parse_str(text).expect("bytes");
    let told = Compiler::InProcess
        .compile(&engine, &component)
        .expect_err("refused")
        .with_step();
    assert!(told.starts_with("validated: not a WebAssembly component: duplicate export name"));
    assert!(told.contains("` [31mred`"), "{told}");
}

#[test]
fn something_else_than_an_answer_is_refused() {
    let whole = answer(Ok(vec![7; 100]));
    let mut endless = whole.clone();
    endless[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut odd = whole.clone();
    odd[8] = 3;
    let mut said = whole.clone();
    said.extend_from_slice(b"and more");
    for script in [
        "echo running 0 tests".to_owned(),
        "cat /dev/zero".to_owned(),
        "exit 0".to_owned(),
        "exec 1>&- 2>&-".to_owned(),
        says(&whole[..whole.len() - 1]),
        says(&whole[..20]),
        says(&said),
        format!("{}; cat /dev/zero", says(&whole)),
        says(&endless),
        says(&odd),
    ] {
        let start = Instant::now();
        assert_eq!(
            told(&script),
            "compiled: this host could not do it: the compiler answered with something else than code",
            "{script}"
        );
        assert!(start.elapsed() < Duration::from_secs(10), "{script}");
    }
}

#[test]
fn a_child_that_gives_up_says_why() {
    assert_eq!(
        told("echo no room >&2; echo at all >&2; exit 3"),
        "compiled: this host could not do it: the compiler gave up (exit status: 3): no room"
    );
    assert_eq!(
        told("exit 3"),
        "compiled: this host could not do it: the compiler gave up (exit status: 3): "
    );
    // An answer does not make up for it.
    let script = format!("{}; exit 3", says(&answer(Ok(vec![7; 100]))));
    assert!(told(&script).contains("gave up"));
}

#[test]
fn a_child_that_complains_without_end_is_stopped() {
    let late = ChildCompiler {
        wall_time_max: Duration::from_millis(200),
        ..shell("cat /dev/zero >&2")
    };
    let error = late.compile(COMPONENT).expect_err("no answer").with_step();
    assert!(error.ends_with("took more than 0.2 s on the clock"));
}

#[test]
fn a_child_that_a_signal_ends_is_told_by_the_signal() {
    assert_eq!(
        told("kill -XCPU $$"),
        "compiled: took more than 7 s of processor time"
    );
    assert_eq!(
        told("echo memory allocation of 2000 bytes failed >&2; kill -ABRT $$"),
        "compiled: asked for more than 1000 bytes of memory"
    );
    for signal in ["SEGV", "ABRT", "ILL"] {
        let told = told(&format!("kill -{signal} $$"));
        assert!(
            told.starts_with("compiled: the compiler broke on it (signal: "),
            "{told}"
        );
    }
    assert_eq!(
        told("kill -KILL $$"),
        "compiled: this host could not do it: the compiler was killed"
    );
}

/// Whether a process runs: one that ended may wait for its parent to ask.
fn runs(pid: &str) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

#[test]
fn a_child_that_never_ends_is_killed_with_what_it_started() {
    let answer = says(&answer(Ok(vec![7; 100])));
    std::thread::scope(|scope| {
        for goes_on in [
            "wait",
            "cat > /dev/null; wait",
            "exec 0<&- 1>&- 2>&-; wait",
            &answer,
        ] {
            scope.spawn(move || check_killed(goes_on));
        }
    });
}

/// A child that leaves another behind, and goes on like this.
fn check_killed(goes_on: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let script = format!("sleep 1000 & echo $$ $! > {}; {goes_on}", file.display());
    let child = ChildCompiler {
        wall_time_max: Duration::from_secs(1),
        ..shell(&script)
    };
    let start = Instant::now();
    let component = vec![0; 1 << 20];
    let error = child.compile(&component).expect_err("too late").with_step();
    assert_eq!(
        error,
        "compiled: this host could not do it: the compiler took more than 1 s on the clock"
    );
    let pids = fs::read_to_string(&file).expect("written");
    while pids.split_whitespace().any(runs) {
        assert!(start.elapsed() < Duration::from_secs(20), "{goes_on}");
        std::thread::yield_now();
    }
    let mut pids = pids.split_whitespace();
    let child = Path::new("/proc").join(pids.next().expect("a number"));
    assert!(!child.exists(), "reaped: {goes_on}");
}

#[test]
fn a_child_that_cannot_be_started_is_the_fault_of_the_host() {
    let none = ChildCompiler {
        program: "/there/is/none".into(),
        ..shell("")
    };
    let error = none.compile(COMPONENT).expect_err("none").with_step();
    assert!(
        error.starts_with("compiled: this host could not do it: start the compiler: "),
        "{error}"
    );
}

#[test]
fn the_environment_is_not_passed_on() {
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let told = told("echo \"it is ${CARGO_MANIFEST_DIR-not there}\" >&2; exit 1");
    assert!(told.ends_with("it is not there"), "{told}");
}

#[test]
fn the_child_answers_what_this_process_would() {
    let engine = Engine::new().expect("an engine");
    let good = kindsight_plugins::BUILT_IN
        .first()
        .expect("a component")
        .wasm;
    let foreign = wat::parse_str(r#"(component (import "read" (func)))"#).expect("a component");
    for component in [good, &foreign, b"(component)", COMPONENT] {
        let request = Request {
            memory_bytes_max: 0,
            cpu_seconds_max: 0,
            host: 0,
            component_bytes: component.len() as u64,
        };
        let mut output = Vec::new();
        child::serve(request, &mut { component }, &mut output).expect("an answer");
        let there = protocol::read_answer(output).expect("an answer");
        let here = Compiler::InProcess.compile(&engine, component);
        match (here, there) {
            // Code for this very engine; it need not be the same byte by byte.
            (Ok(_), Ok(there)) => assert!(crate::aot::deserialize(&engine, &there).is_some()),
            (here, there) => assert_eq!(
                here.expect_err("refused").with_step(),
                there.expect_err("refused").with_step()
            ),
        }
    }
}

#[test]
fn a_request_is_read_as_it_was_written() {
    let request = Request {
        memory_bytes_max: 1 << 40,
        cpu_seconds_max: 30,
        host: 4242,
        component_bytes: 3,
    };
    let mut bytes = request.to_bytes();
    bytes.extend_from_slice(b"abc");
    let mut input = bytes.as_slice();
    assert_eq!(Request::read(&mut input).expect("a request"), request);
    assert_eq!(request.component(&mut { input }).expect("whole"), b"abc");
    assert!(request.component(&mut &input[1..]).is_err(), "cut short");
    assert!(request.component(&mut &b"abcd"[..]).is_err(), "and more");
    assert!(Request::read(&mut &b"hello, compiler"[..]).is_err());
}
