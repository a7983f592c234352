//! A MongoDB.

mod documents;
mod programs;

use std::net::TcpStream;
use std::path::Path;

use tempfile::TempDir;

use crate::authority::{Authority, write};
use crate::etcd::{READY_MAX, new_folder};
use crate::ports::free_port;
use crate::process::Process;

pub use documents::MongoDocuments;
pub use mongodb::bson;
pub use programs::MongoPrograms;

/// A running MongoDB. It is stopped when it is dropped.
#[derive(Debug)]
pub struct MongoServer {
    process: Process,
    port: u16,
    access: Access,
    /// Removed after the process has ended.
    folder: TempDir,
}

/// The clients that a server accepts.
#[derive(Debug, Default)]
struct Access {
    /// The authority of its certificate, or `None` without TLS.
    authority: Option<Authority>,
    /// The only user, in the database `admin`, and its password, or `None` without authentication.
    user: Option<(&'static str, &'static str)>,
}

impl MongoServer {
    /// Starts a server without authentication.
    ///
    /// # Panics
    /// If it does not listen, with the end of its log.
    pub fn start(programs: &MongoPrograms) -> Self {
        Self::launch(programs, Access::default())
    }

    /// Starts a server that accepts only TLS, with a certificate of its own authority.
    ///
    /// # Panics
    /// If it does not listen, with the end of its log.
    pub fn start_with_tls(programs: &MongoPrograms) -> Self {
        let authority = Some(Authority::new("MongoDB tests"));
        Self::launch(
            programs,
            Access {
                authority,
                user: None,
            },
        )
    }

    /// Starts a server that accepts only this user, in the database `admin`.
    ///
    /// # Panics
    /// If it does not listen, with the end of its log.
    pub fn start_with_user(
        programs: &MongoPrograms,
        name: &'static str,
        password: &'static str,
    ) -> Self {
        let access = Access {
            authority: None,
            user: Some((name, password)),
        };
        let server = Self::launch(programs, access);
        if let MongoPrograms::Mongod(_) = programs {
            // The first user can be created without authentication.
            MongoDocuments::connect(&server.url()).create_user(name, password);
        }
        server
    }

    fn launch(programs: &MongoPrograms, access: Access) -> Self {
        let folder = new_folder("mongodb");
        let port = free_port();
        if let Some(authority) = &access.authority {
            write_certificates(authority, folder.path());
        }
        let (program, arguments) = match programs {
            MongoPrograms::Mongod(mongod) => {
                let arguments = mongod_arguments(port, &access, folder.path());
                (mongod, arguments)
            }
            MongoPrograms::Java { java, libraries } => {
                let arguments = java_arguments(port, &access, folder.path(), libraries);
                (java, arguments)
            }
        };
        let mut server = Self {
            process: Process::start("mongodb", program, arguments, folder.path()),
            port,
            access,
            folder,
        };
        server.wait_until_it_listens();
        server
    }

    /// The address for clients, `mongodb://127.0.0.1:PORT`, without database and options.
    pub fn url(&self) -> String {
        format!("mongodb://127.0.0.1:{}", self.port)
    }

    /// A client that writes and reads documents. Not available with TLS.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn documents(&self) -> MongoDocuments {
        let address = format!("127.0.0.1:{}", self.port);
        MongoDocuments::connect(&match self.access.user {
            Some((name, password)) => {
                format!("mongodb://{name}:{password}@{address}/?authSource=admin")
            }
            None => format!("mongodb://{address}"),
        })
    }

    /// The file with the certificate of its authority.
    ///
    /// # Panics
    /// If it does not use TLS.
    pub fn ca(&self) -> std::path::PathBuf {
        assert!(self.access.authority.is_some(), "the server uses TLS");
        self.folder.path().join("ca.crt")
    }

    /// Stops the server. An in-memory server loses its documents.
    pub fn stop(&mut self) {
        self.process.stop();
    }

    /// Starts the server with the same port, and waits until it listens.
    pub fn start_again(&mut self) {
        self.process.start_again();
        self.wait_until_it_listens();
    }

    /// Freezes the server: connections stay open but get no answers.
    pub fn pause(&mut self) {
        self.process.pause();
    }

    /// Continues the frozen server.
    pub fn resume(&mut self) {
        self.process.resume();
    }

    fn wait_until_it_listens(&mut self) {
        let port = self.port;
        let listens = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        self.process.wait_until("it listens", READY_MAX, listens);
    }
}

fn write_certificates(authority: &Authority, folder: &Path) {
    let server = authority.server(None);
    write(folder, "ca.crt", authority.certificate());
    server.write(folder, "server");
    // The configuration file of mongod.
    write(
        folder,
        "server.pem",
        &format!("{}{}", server.certificate, server.key),
    );
}

fn mongod_arguments(port: u16, access: &Access, folder: &Path) -> Vec<String> {
    let data = folder.join("data");
    std::fs::create_dir_all(&data).expect("a folder for its data");
    let mut arguments = vec![
        format!("--dbpath={}", data.display()),
        format!("--port={port}"),
        "--bind_ip=127.0.0.1".to_owned(),
        "--nounixsocket".to_owned(),
    ];
    if access.user.is_some() {
        arguments.push("--auth".to_owned());
    }
    if access.authority.is_some() {
        arguments.push("--tlsMode=requireTLS".to_owned());
        let file = folder.join("server.pem");
        arguments.push(format!("--tlsCertificateKeyFile={}", file.display()));
    }
    arguments
}

fn java_arguments(port: u16, access: &Access, folder: &Path, libraries: &Path) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("mongodb/Server.java");
    let mut arguments = vec![
        "-cp".to_owned(),
        format!("{}/*", libraries.display()),
        source.display().to_string(),
        port.to_string(),
    ];
    if access.authority.is_some() {
        for (option, file) in [("certificate", "server.crt"), ("key", "server.key")] {
            arguments.push(format!("--{option}={}", folder.join(file).display()));
        }
    }
    if let Some((name, password)) = access.user {
        arguments.push(format!("--user={name}"));
        arguments.push(format!("--password={password}"));
    }
    arguments
}
