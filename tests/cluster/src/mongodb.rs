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

/// A running MongoDB, ended when it is dropped.
#[derive(Debug)]
pub struct MongoServer {
    process: Process,
    port: u16,
    access: Access,
    /// Removed after the process ended.
    folder: TempDir,
}

/// Those that one lets in.
#[derive(Debug, Default)]
struct Access {
    /// The authority of its certificate; none where it speaks no TLS.
    authority: Option<Authority>,
    /// The one user, of the database `admin`, and its password; none where everybody is let in.
    user: Option<(&'static str, &'static str)>,
}

impl MongoServer {
    /// Starts one that lets everybody in.
    ///
    /// # Panics
    /// When it does not listen, with the end of its log.
    pub fn start(programs: &MongoPrograms) -> Self {
        Self::launch(programs, Access::default())
    }

    /// Starts one that speaks TLS alone, with a certificate of an authority of its own.
    ///
    /// # Panics
    /// When it does not listen, with the end of its log.
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

    /// Starts one that lets this user of the database `admin` in alone.
    ///
    /// # Panics
    /// When it does not listen, with the end of its log.
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
            // The first user of all may be made without one.
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

    /// Address for clients, `mongodb://127.0.0.1:PORT`, without a database and options.
    pub fn url(&self) -> String {
        format!("mongodb://127.0.0.1:{}", self.port)
    }

    /// A client that lays documents and shows them. One with TLS has none.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn documents(&self) -> MongoDocuments {
        let address = format!("127.0.0.1:{}", self.port);
        MongoDocuments::connect(&match self.access.user {
            Some((name, password)) => {
                format!("mongodb://{name}:{password}@{address}/?authSource=admin")
            }
            None => format!("mongodb://{address}"),
        })
    }

    /// A file with the certificate of its authority.
    ///
    /// # Panics
    /// When it speaks no TLS.
    pub fn ca(&self) -> std::path::PathBuf {
        assert!(self.access.authority.is_some(), "it speaks no TLS");
        self.folder.path().join("ca.crt")
    }

    /// Ends it. One in memory loses its documents.
    pub fn stop(&mut self) {
        self.process.stop();
    }

    /// Starts it on the same port, and waits until it listens.
    pub fn start_again(&mut self) {
        self.process.start_again();
        self.wait_until_it_listens();
    }

    /// Freezes it: connections stay open and nobody answers.
    pub fn pause(&mut self) {
        self.process.pause();
    }

    /// Lets it go on.
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
    // What mongod reads.
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
