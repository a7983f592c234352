//! The connection of commands to a server: TLS, tokens, named servers and logins.

mod login;
mod server;
mod tls;
mod tokens;
