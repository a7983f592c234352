//! The TLS handshake of a connection.

use std::io;

use kindsight_access::{TlsServer, TlsStream, VerifiedClient};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::stream::TcpMeter;
use super::{Activity, bare_answer};
use crate::limits::HEAD_BYTES_MAX;

/// A connection after its handshake, with the verified certificate of its client.
pub(crate) type Accepted = (TlsStream<TcpMeter>, Option<VerifiedClient>);

/// Performs the handshake in the time of one head. `None` if the handshake fails, with the reason in the log.
pub(crate) async fn handshake(
    tls: &TlsServer,
    tcp: TcpMeter,
    activity: &Activity,
) -> Option<Accepted> {
    let time = activity.head_time_max();
    let accepted = timeout(time, accept(tls, tcp)).await;
    let accepted = accepted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    if let Err(error) = &accepted {
        tracing::debug!(%error, "a TLS handshake failed");
    }
    accepted.ok()
}

async fn accept(tls: &TlsServer, tcp: TcpMeter) -> io::Result<Accepted> {
    match tcp.first_byte().await? {
        // A record of TLS begins with its type, which is no letter; a request of HTTP begins with its method.
        Some(b'A'..=b'Z') => {
            refuse_http(tcp).await?;
            let why = "the client speaks HTTP without TLS";
            Err(io::Error::new(io::ErrorKind::InvalidData, why))
        }
        _ => tls.accept(tcp).await,
    }
}

/// Answers a request without TLS with the reason.
async fn refuse_http(mut tcp: TcpMeter) -> io::Result<()> {
    // If bytes were not read, the close of the connection would discard the answer. A request has one packet.
    let mut head = vec![0; HEAD_BYTES_MAX];
    let _ = tcp.read(&mut head).await?;
    tcp.write_all(&bare_answer::without_tls()).await?;
    tcp.shutdown().await
}
