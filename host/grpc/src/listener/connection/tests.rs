use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{pause, timeout};

use super::*;

/// A client, and its connection.
async fn opened(slots: &Arc<Semaphore>) -> (TcpStream, Connection) {
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(tcp.local_addr().unwrap()).await.unwrap();
    let (stream, peer) = tcp.accept().await.unwrap();
    let slot = Arc::clone(slots).acquire_owned().await.unwrap();
    let connection = Connection::open(stream, peer, None, slot).await.unwrap();
    (client, connection)
}

#[tokio::test]
async fn a_connection_ends_without_the_preface_and_remains_with_it() {
    let slots = Arc::new(Semaphore::new(2));
    let (mut client, mut connection) = opened(&slots).await;
    let (mut other_client, mut other) = opened(&slots).await;
    let (first, rest) = PREFACE.split_at(PREFACE.len() - 1);
    let mut bytes = [0; 64];
    client.write_all(first).await.unwrap();
    other_client.write_all(first).await.unwrap();
    connection
        .read_exact(&mut bytes[..first.len()])
        .await
        .unwrap();
    other.read_exact(&mut bytes[..first.len()]).await.unwrap();
    other_client.write_all(rest).await.unwrap();
    other.read_exact(&mut bytes[..rest.len()]).await.unwrap();
    // From now on, time passes as soon as every task waits.
    pause();
    let max = Duration::from_secs(HANDSHAKE_SECONDS_MAX * 2);
    let read = timeout(max, connection.read(&mut bytes)).await.unwrap();
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::TimedOut);
    drop(connection);
    assert_eq!(slots.available_permits(), 1);
    // A client may be silent after the preface.
    assert!(timeout(max, other.read(&mut bytes)).await.is_err());
}
