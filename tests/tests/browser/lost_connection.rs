//! A connection that the network loses without closing it.

use std::io::{Read as _, Write as _};
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
/// Makes each wait of the page two seconds at most, and counts the shortened waits.
const SHORT_WAITS: &str = "window.longWaits = 0; const wait = window.setTimeout; \
     window.setTimeout = (step, time, ...rest) => { \
         if (time > 2000) { window.longWaits += 1; time = 2000; } \
         return wait(step, time, ...rest); \
     }; \
     const timeout = AbortSignal.timeout.bind(AbortSignal); \
     AbortSignal.timeout = (time) => timeout(Math.min(time, 2000));";
/// The interval of polling.
const PERIOD: Duration = Duration::from_millis(10);

/// The network between a browser and a server: a proxy that can lose its connections. Its threads end with the process.
#[derive(Debug, Clone, Default)]
struct Network(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_cut: AtomicBool,
    /// Number of cuts. A cut loses the connections that exist.
    cuts: AtomicUsize,
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
            if count == 0 || to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        // The other side may have closed the connection.
        let _ = to.shutdown(Shutdown::Write);
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
