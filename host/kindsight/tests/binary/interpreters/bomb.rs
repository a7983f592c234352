//! A component that exceeds every limit of the compiler: it fails in a child process, and the host is not affected.

use std::fs;
use std::thread;
use std::time::Instant;

use super::stage::{CRANE, Stage, crane, judged, wait_for, wait_until};
use crate::process::try_put;

/// The export without which a component is refused before it is compiled.
const CONTRACT: &str = "kindsight:interpreter/description@1.0.0";
/// Branches of one branch table.
const TARGETS: usize = 7000;
/// Branch tables; together they stay below the largest valid function.
const TABLES: usize = 1000;

#[test]
fn a_component_that_cannot_be_compiled_is_refused_while_the_host_answers() {
    let stage = Stage::new(2);
    let server = stage.serve();
    assert_eq!(server.put(CRANE, crane()).0, 200);
    wait_for(&server, crane());
    let bomb = bomb();
    let mut answers = 0;
    let (status, problem) = thread::scope(|scope| {
        let loading = scope.spawn(|| server.put("/v2/interpreters/bomb", &bomb));
        while !loading.is_finished() {
            assert_eq!(judged(&server).state, "Draining");
            answers += 1;
        }
        loading.join().unwrap()
    });
    assert_eq!(status, 422, "{problem}");
    assert_eq!(problem["step"], "compiled", "{problem}");
    let why = problem["detail"].as_str().unwrap();
    assert!(
        why.contains("bytes of memory") || why.contains("s of processor time"),
        "{why}"
    );
    assert!(answers > 10, "{answers} answers meanwhile");
    wait_until("no child", || children(server.pid()).is_empty());
    let list = server.get("/v2/interpreters").1;
    assert_eq!(list["refused"][0]["name"], "bomb", "{list}");
    assert!(server.stop());
}

#[test]
fn a_stop_does_not_wait_for_a_compilation() {
    let stage = Stage::new(2);
    let server = stage.serve();
    let (url, bomb) = (server.url.clone(), bomb());
    let loading = thread::spawn(move || try_put(&url, "/v2/interpreters/bomb", &bomb));
    wait_until("a child", || !children(server.pid()).is_empty());
    let begun = Instant::now();
    assert!(server.stop());
    assert!(begun.elapsed().as_secs() < 8, "{:?}", begun.elapsed());
    drop(loading.join());
}

/// Child processes that have not been reaped.
fn children(of: u32) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap();
    let stats = processes.filter_map(|entry| {
        // The process may have ended meanwhile.
        fs::read_to_string(entry.unwrap().path().join("stat")).ok()
    });
    let parent = of.to_string();
    let is_child = |stat: &String| {
        // The name, which can have any characters, is followed by state and parent.
        let (_, rest) = stat.rsplit_once(')').unwrap_or_default();
        rest.split_whitespace().nth(1) == Some(&parent)
    };
    stats.filter(is_child).collect()
}

/// A valid component with one function of branch tables. Every branch is an edge in the compiler's
/// graph: some hundred bytes of memory for one byte of Wasm.
fn bomb() -> Vec<u8> {
    let mut table = vec![0x02, 0x40, 0x02, 0x40, 0x20, 0x00, 0x0e];
    table.extend(number(TARGETS));
    table.extend((0..TARGETS).map(|target| u8::from(target % 2 == 1)));
    // The default, and the ends of both blocks.
    table.extend([0x00, 0x0b, 0x0b]);
    let mut body = vec![0x00];
    body.extend(table.repeat(TABLES));
    body.push(0x0b);
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    module.extend(section(1, &[0x01, 0x60, 0x01, 0x7f, 0x00]));
    module.extend(section(3, &[0x01, 0x00]));
    module.extend(section(10, &[vec![0x01], sized(&body)].concat()));
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    component.extend(section(1, &module));
    // An empty instance, exported as the contract.
    component.extend(section(5, &[0x01, 0x01, 0x00]));
    let name = sized(CONTRACT.as_bytes());
    component.extend(section(
        11,
        &[vec![0x01, 0x00], name, vec![0x05, 0x00, 0x00]].concat(),
    ));
    component
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [vec![id], sized(content)].concat()
}

fn sized(content: &[u8]) -> Vec<u8> {
    let mut bytes = number(content.len());
    bytes.extend(content);
    bytes
}

/// LEB128.
fn number(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
