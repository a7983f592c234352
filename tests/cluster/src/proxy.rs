//! Faults between clients and a server: connections that are cut, and a server that cannot be
//! reached.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::cluster::Cluster;

/// A proxy in front of an API server or an etcd. It forwards bytes, and cuts connections on
/// request. It stops when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    way: Arc<Way>,
}

/// The connections to the server.
#[derive(Debug)]
struct Way {
    server: String,
    is_open: AtomicBool,
    /// Whether the bytes from the server are discarded.
    is_mute: AtomicBool,
    has_ended: AtomicBool,
    /// Both ends of each connection.
    connections: Mutex<Vec<[TcpStream; 2]>>,
}

impl Proxy {
    /// Starts a proxy in front of an API server, on a free port of loopback.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn start(cluster: &Cluster) -> Self {
        Self::before(cluster.url())
    }

    /// Starts a proxy in front of a server, given as `scheme://host:port`, on a free port of
    /// loopback.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn before(server: &str) -> Self {
        let server = server.split_once("://").map_or(server, |(_, host)| host);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let way = Arc::new(Way {
            server: server.to_owned(),
            is_open: AtomicBool::new(true),
            is_mute: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let accepting = Arc::clone(&way);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if accepting.has_ended.load(Ordering::Relaxed) {
                    break;
                }
                accepting.accept(client);
            }
        });
        Self { address, way }
    }

    /// The address for clients of an API server, for which the server's certificate is valid.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The address for clients: `host:port`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Cuts all connections. New connections are accepted.
    pub fn cut(&self) {
        let connections = self.way.connections.lock();
        let mut connections = connections.unwrap_or_else(PoisonError::into_inner);
        for end in connections.drain(..).flatten() {
            // It may be closed already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Cuts all connections, and immediately cuts every new one.
    pub fn close(&self) {
        self.way.is_open.store(false, Ordering::Relaxed);
        self.cut();
    }

    /// Discards the server's bytes from now on, and still forwards the clients' bytes: clients get
    /// no answers.
    pub fn mute(&self) {
        self.way.is_mute.store(true, Ordering::Relaxed);
    }

    /// Cuts all present connections, and accepts new ones that get answers.
    pub fn open(&self) {
        if self.way.is_mute.load(Ordering::Relaxed) {
            self.close();
            self.way.is_mute.store(false, Ordering::Relaxed);
        }
        self.way.is_open.store(true, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.way.has_ended.store(true, Ordering::Relaxed);
        self.close();
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

impl Way {
    fn accept(self: &Arc<Self>, client: TcpStream) {
        if !self.is_open.load(Ordering::Relaxed) {
            return;
        }
        let Ok(server) = TcpStream::connect(&self.server) else {
            return;
        };
        let Ok(copies) = client
            .try_clone()
            .and_then(|client| Ok([client, server.try_clone()?]))
        else {
            return;
        };
        let connections = self.connections.lock();
        connections
            .unwrap_or_else(PoisonError::into_inner)
            .push(copies);
        let both = (client.try_clone(), server.try_clone());
        if let (Ok(to_client), Ok(to_server)) = both {
            let way = Arc::clone(self);
            thread::spawn(move || pass_on(client, to_server, || false));
            thread::spawn(move || {
                pass_on(server, to_client, || way.is_mute.load(Ordering::Relaxed));
            });
        }
    }
}

/// Forwards bytes until either end closes, then closes both. Discards bytes while `is_lost` returns
/// true.
fn pass_on(mut from: TcpStream, mut to: TcpStream, is_lost: impl Fn() -> bool) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if !is_lost() && to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    for end in [from, to] {
        let _ = end.shutdown(Shutdown::Both);
    }
}
