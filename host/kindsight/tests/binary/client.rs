//! The connection of commands to a server: TLS, tokens and named servers.

mod server;
mod tls;
mod tokens;
