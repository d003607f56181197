//! Connections at the WebSocket's address, before it is known who comes.
//!
//! Invariants: there are never more than a few, so nobody on this machine uses up our files; one that doesn't say in time what
//! it wants is let go, and each asks once.

use axum::extract::Request;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections at a time that weren't let in yet.
const CONNECTIONS: usize = 64;
/// How long one may take to say what it wants.
const WORDS: Duration = Duration::from_secs(5);
/// After a connection that couldn't be taken.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes connections, for ever, and has what they ask for answered.
pub(super) async fn accept<F>(
    listener: TcpListener,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
) where
    F: Future<Output = Response> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(failed) => {
                tracing::warn!(%failed, "somebody couldn't come to the WebSocket");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let answer = answer.clone();
        tokio::spawn(async move {
            one(stream, answer).await;
            drop(place);
        });
    }
}

/// One connection, until it is let in or has gone.
async fn one<F>(stream: TcpStream, answer: impl Fn(Request<Incoming>) -> F + Send + 'static)
where
    F: Future<Output = Response> + Send + 'static,
{
    let service = service_fn(move |request| {
        let answered = answer(request);
        async move {
            let mut response = answered.await;
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(WORDS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(failed) = served {
        tracing::debug!(%failed, "somebody at the WebSocket went");
    }
}
