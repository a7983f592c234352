//! A connection that the network loses without closing it.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::applications::three;
use crate::browser::Browser;
use crate::content::{CLUSTER, config_map, deployment, file_of, write_report};
use crate::stage::Stage;
use crate::visit;

/// The interval of the server's comments. Short, because [`SHORT_WAITS`] shortens the silence that the page allows.
const HEARTBEAT: Duration = Duration::from_millis(100);
/// Makes each wait of the page two seconds at most, counts the shortened waits, and notes the times of the pauses
/// between attempts.
const SHORT_WAITS: &str = "window.longWaits = 0; window.pauses = []; const wait = window.setTimeout; \
     window.setTimeout = (step, time, ...rest) => { \
         if ([1000, 2000, 4000, 8000, 10000].includes(time)) window.pauses.push(time); \
         if (time > 2000) { window.longWaits += 1; time = 2000; } \
         return wait(step, time, ...rest); \
     };";
/// Lets the next answer about applications fail in the page.
const VIEW_FAILS: &str = "const parse = JSON.parse; JSON.parse = (text, ...rest) => { \
         if (!String(text).includes('composite-app-name')) return parse(text, ...rest); \
         JSON.parse = parse; \
         throw new Error('the view fails'); \
     };";
/// The interval of polling.
const PERIOD: Duration = Duration::from_millis(10);
/// Number of the bytes that a slow connection forwards one by one, at the end of a body.
const SLOW_BYTES: usize = 20;
/// The time before each of these bytes. All of them take longer than the longest wait of the page.
const SLOW_BYTE: Duration = Duration::from_millis(150);

/// The network between a browser and a server: a proxy that can lose its connections. Its threads end with the process.
#[derive(Debug, Clone, Default)]
struct Network(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_cut: AtomicBool,
    /// Number of cuts. A cut loses the connections that exist.
    cuts: AtomicUsize,
    is_slow: AtomicBool,
}

impl Network {
    /// Starts the proxy of a server. Returns the address of the proxy.
    fn lead_to(&self, server: SocketAddr) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let network = self.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                while network.0.is_cut.load(Ordering::SeqCst) {
                    thread::sleep(PERIOD);
                }
                network.forward(&client, server);
            }
        });
        address
    }

    /// Loses all connections without closing them. New connections wait for [`Network::mend`].
    fn cut(&self) {
        self.0.is_cut.store(true, Ordering::SeqCst);
        self.0.cuts.fetch_add(1, Ordering::SeqCst);
    }

    fn mend(&self) {
        self.0.is_cut.store(false, Ordering::SeqCst);
    }

    /// Lets the end of each body take longer.
    fn slow_down(&self) {
        self.0.is_slow.store(true, Ordering::SeqCst);
    }

    fn forward(&self, client: &TcpStream, server: SocketAddr) {
        let cuts = self.0.cuts.load(Ordering::SeqCst);
        // The server may have ended.
        let Ok(server) = TcpStream::connect(server) else {
            return;
        };
        for (from, to) in [(client, &server), (&server, client)] {
            let [from, to] = [from, to].map(|it| it.try_clone().expect("a connection"));
            let network = self.clone();
            thread::spawn(move || network.pump(from, to, cuts));
        }
    }

    /// Forwards the bytes of one direction until its end. A lost connection remains open and forwards nothing.
    fn pump(&self, mut from: TcpStream, mut to: TcpStream, cuts: usize) {
        let mut bytes = vec![0; 16 * 1024];
        loop {
            let count = from.read(&mut bytes).unwrap_or_default();
            while self.0.cuts.load(Ordering::SeqCst) != cuts {
                thread::park();
            }
            if count == 0 || self.send(&bytes[..count], &mut to).is_err() {
                break;
            }
        }
        // The other side may have closed the connection.
        let _ = to.shutdown(Shutdown::Write);
    }
}

impl Network {
    /// Sends bytes. If the network is slow, the last bytes of a body are sent one by one.
    fn send(&self, bytes: &[u8], to: &mut TcpStream) -> io::Result<()> {
        if !self.0.is_slow.load(Ordering::SeqCst) {
            return to.write_all(bytes);
        }
        let head = bytes.windows(4).position(|it| it == b"\r\n\r\n");
        let body = head.map_or(0, |at| at + 4);
        let (quick, slow) = bytes.split_at(body.max(bytes.len().saturating_sub(SLOW_BYTES)));
        to.write_all(quick)?;
        for byte in slow.chunks(1) {
            thread::sleep(SLOW_BYTE);
            to.write_all(byte)?;
        }
        Ok(())
    }
}

/// Starts a server behind a network.
fn served(network: &Network) -> Stage {
    let stage = Stage::with(three, |settings, _| {
        settings.rest_limits.heartbeat = HEARTBEAT;
    });
    stage.through(|server| network.lead_to(server))
}

/// Opens a place of the page, whose waits are short.
fn open(browser: &Browser, place: &str) {
    let script = json!({"source": SHORT_WAITS});
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", &script);
    browser.open(place);
}

#[test]
fn a_stream_that_is_lost_without_an_end_is_noticed_and_replaced() {
    let network = Network::default();
    visit(
        || served(&network),
        |stage, browser| {
            open(browser, "#/applications");
            browser.wait_for_text("tbody", "the image does not exist");
            browser.wait_for_text("#connection", "live");
            // Each comment begins the wait for the next byte again.
            browser.wait("window.longWaits > 10");

            network.cut();
            browser.wait_for_text("#connection", "disconnected for");
            let lists = json!({
                "deploymentStatuses": [deployment("bank", None)],
                "configMapStatuses": [config_map("rates")],
            });
            write_report(&stage.report(CLUSTER, &file_of(2)), 2, &lists);
            network.mend();
            browser.wait_for_text("#connection", "live");
            browser.wait(
                "!document.querySelector('tbody').innerText.includes('the image does not exist')",
            );
        },
    );
}

#[test]
fn a_read_that_gets_no_answer_is_an_error_and_is_repeated() {
    let network = Network::default();
    visit(
        || served(&network),
        |_, browser| {
            open(browser, "#/clusters");
            browser.wait_for(".card");
            network.cut();
            browser.wait_for_text("main > .error", "The server cannot be reached");
            network.mend();
            browser.wait("document.querySelector('main > .error').textContent === ''");
        },
    );
}

#[test]
fn a_stream_that_is_lost_again_without_a_change_is_replaced_as_soon_as_the_first_time() {
    let network = Network::default();
    visit(
        || served(&network),
        |_, browser| {
            open(browser, "#/applications");
            for _ in 0..2 {
                browser.wait_for_text("#connection", "live");
                browser.run("window.longWaits = 0", &[]);
                // Comments arrive.
                browser.wait("window.longWaits > 10");
                browser.run("window.pauses = []", &[]);
                network.cut();
                browser.wait_for_text("#connection", "disconnected for");
                browser.wait("window.pauses.length > 0");
                assert_eq!(browser.run("return window.pauses[0]", &[]), 1000);
                network.mend();
            }
        },
    );
}

#[test]
fn a_change_that_a_view_cannot_take_is_followed_by_a_snapshot() {
    let network = Network::default();
    visit(
        || served(&network),
        |stage, browser| {
            open(browser, "#/applications");
            browser.wait_for_text("tbody", "the image does not exist");
            browser.wait_for_text("#connection", "live");
            browser.run(VIEW_FAILS, &[]);
            let lists = json!({
                "deploymentStatuses": [deployment("bank", None)],
                "configMapStatuses": [config_map("rates")],
            });
            write_report(&stage.report(CLUSTER, &file_of(2)), 2, &lists);
            browser.wait(
                "!document.querySelector('tbody').innerText.includes('the image does not exist')",
            );
            let reported = browser.log();
            let is_reported = reported
                .iter()
                .any(|it| it.message.contains("the view fails"));
            assert!(is_reported);
        },
    );
}

#[test]
fn a_slow_answer_is_read_to_its_end() {
    let network = Network::default();
    visit(
        || served(&network),
        |_, browser| {
            open(browser, "#/interpreters");
            browser.wait_for("tbody th a");
            network.slow_down();
            browser.run("location.hash = '#/clusters'", &[]);
            browser.wait_for(".card");
        },
    );
}
