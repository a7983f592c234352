//! Children with faults, simulated with a shell.

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

/// The result, as the author of the component sees it.
fn outcome(script: &str) -> String {
    match shell(script).compile(COMPONENT) {
        Ok(code) => format!("{} bytes of code", code.len()),
        Err(error) => error.with_step(),
    }
}

/// A command that prints exactly these bytes.
fn prints(bytes: &[u8]) -> String {
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
fn code_is_passed_on_unchanged() {
    let code: Vec<u8> = (0..=255).collect();
    let script = prints(&answer(Ok(code.clone())));
    assert_eq!(shell(&script).compile(COMPONENT).expect("code"), code);
    let script = format!("cat > /dev/null; {script}");
    assert_eq!(shell(&script).compile(COMPONENT).expect("code"), code);
}

#[test]
fn a_refusal_is_the_one_of_the_child() {
    for refusal in [
        LoadError::NotAComponent("damaged".to_owned()),
        LoadError::ForeignImport("wasi:io/streams@0.2.0".to_owned()),
        LoadError::Wasi("wasi:cli/exit".to_owned(), "WASI".to_owned()),
        LoadError::WasmBindgen("__wbindgen_placeholder__::now".to_owned()),
        LoadError::NoContractTypes,
        LoadError::NotAnInterpreter,
        LoadError::OtherMajor("2.0.0".to_owned()),
        LoadError::Compile("too hard".to_owned()),
    ] {
        let text = refusal.with_step();
        assert_eq!(outcome(&prints(&answer(Err(refusal)))), text);
    }
}

#[test]
fn a_long_refusal_is_cut() {
    let long = LoadError::Compile("\u{1}ä".repeat(100_000));
    let text = outcome(&prints(&answer(Err(long))));
    assert!(text.starts_with("compiled: \u{1}ä"));
    assert!(text.len() < 5000, "{} bytes", text.len());
}

#[test]
fn names_in_a_refusal_do_not_reach_the_terminal_as_they_are() {
    let engine = Engine::new().expect("an engine");
    let twice = r#"(export "\1b[31mred" (func 0)) (export "\1b[31mred" (func 0))"#;
    let text = format!("(component (core module (func) {twice}))");
    let component = wat::parse_str(text).expect("bytes");
    let outcome = Compiler::InProcess
        .compile(&engine, &component)
        .expect_err("refused")
        .with_step();
    assert!(outcome.starts_with("validated: not a WebAssembly component: duplicate export name"));
    assert!(outcome.contains("` [31mred`"), "{outcome}");
}

#[test]
fn an_invalid_answer_is_refused() {
    let whole = answer(Ok(vec![7; 100]));
    let mut endless = whole.clone();
    endless[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut odd = whole.clone();
    odd[8] = 3;
    let mut longer = whole.clone();
    longer.extend_from_slice(b"and more");
    for script in [
        "echo running 0 tests".to_owned(),
        "cat /dev/zero".to_owned(),
        "exit 0".to_owned(),
        "exec 1>&- 2>&-".to_owned(),
        prints(&whole[..whole.len() - 1]),
        prints(&whole[..20]),
        prints(&longer),
        format!("{}; cat /dev/zero", prints(&whole)),
        prints(&endless),
        prints(&odd),
    ] {
        let start = Instant::now();
        assert_eq!(
            outcome(&script),
            "compiled: this host could not compile it: the compile process sent an invalid answer",
            "{script}"
        );
        assert!(start.elapsed() < Duration::from_secs(10), "{script}");
    }
}

#[test]
fn a_child_that_fails_reports_its_first_line_of_standard_error() {
    assert_eq!(
        outcome("echo no threads >&2; echo at all >&2; exit 3"),
        "compiled: this host could not compile it: the compile process failed (exit status: 3): no threads"
    );
    assert_eq!(
        outcome("exit 3"),
        "compiled: this host could not compile it: the compile process failed (exit status: 3): "
    );
    // A correct answer does not compensate for the exit code.
    let script = format!("{}; exit 3", prints(&answer(Ok(vec![7; 100]))));
    assert!(outcome(&script).contains("compile process failed"));
}

#[test]
fn a_child_that_writes_errors_without_end_is_stopped() {
    let late = ChildCompiler {
        wall_time_max: Duration::from_millis(200),
        ..shell("cat /dev/zero >&2")
    };
    let error = late.compile(COMPONENT).expect_err("no answer").with_step();
    assert!(error.ends_with("took more than 0.2 s of wall-clock time"));
}

#[test]
fn a_signal_that_ends_a_child_decides_the_error() {
    assert_eq!(
        outcome("kill -XCPU $$"),
        "compiled: took more than 7 s of processor time"
    );
    assert_eq!(
        outcome("echo memory allocation of 2000 bytes failed >&2; kill -ABRT $$"),
        "compiled: asked for more than 1000 bytes of memory"
    );
    for signal in ["SEGV", "ABRT", "ILL"] {
        let outcome = outcome(&format!("kill -{signal} $$"));
        assert!(
            outcome.starts_with("compiled: the compiler crashed on it (signal: "),
            "{outcome}"
        );
    }
    assert_eq!(
        outcome("kill -KILL $$"),
        "compiled: this host could not compile it: the compile process was killed; the machine may be out of memory"
    );
}

/// Returns whether a process is running; a zombie is not.
fn runs(pid: &str) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

#[test]
fn a_child_that_never_ends_is_killed_with_its_own_children() {
    let answer = prints(&answer(Ok(vec![7; 100])));
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

/// Checks a child that starts another process and then runs `goes_on`.
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
        "compiled: this host could not compile it: the compile process took more than 1 s of wall-clock time"
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
        error.starts_with(
            "compiled: this host could not compile it: failed to start the compile process: "
        ),
        "{error}"
    );
}

#[test]
fn the_environment_is_not_passed_on() {
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let outcome = outcome("echo \"it is ${CARGO_MANIFEST_DIR-not there}\" >&2; exit 1");
    assert!(outcome.ends_with("it is not there"), "{outcome}");
}

#[test]
fn a_child_answers_as_compiling_in_this_process_does() {
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
            // The code is for this engine, but its bytes may differ.
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
