//! `daybook serve`: a Daybook without a window, and a WebSocket on this machine's loopback for programs that want one.
//!
//! The words are those of the local door, line for line, and it is the local door that answers them, whoever hosts.
//! Invariants: nothing listens unless this was asked for; whoever comes has the token, names this very address, and comes
//! from no page that wasn't let in.

mod bridge;
mod gate;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::signals::Signals;
use crate::way::{Own, Way};
use axum::Router;
use axum::extract::ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use gate::{Gate, Let};
use serde_json::json;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Programs at a time.
const CLIENTS: usize = 32;
/// Bytes that may wait for one that doesn't read.
const UNREAD: usize = 1 << 20;

/// How it is served.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Serve {
    /// The port on the loopback; a free one when not given.
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Write the token into this new file, for its owner alone, instead of printing it.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Let in pages from this origin, such as http://localhost:5173; can be given several times. Without it no page comes in.
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// A scripted model's answers, for the provider `scripted`.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

#[derive(Clone)]
struct Serving {
    data: PathBuf,
    gate: Arc<Gate>,
    places: Arc<Semaphore>,
}

pub(crate) async fn serve(data: PathBuf, serve: Serve) -> Result<Exit, Failure> {
    if let Some(origin) = serve.allow_origin.iter().find(|origin| !gate::is_origin(origin)) {
        return Err(Failure::usage(format!("{origin:?} is no origin; give scheme://host:port")));
    }
    let mut signals = Signals::new()?;
    let own = Own { script: serve.script.clone(), attended: true, ..Own::default() };
    let way = Way::to_serve(&data, own).await?;
    let done = listen(&data, &serve, &mut signals).await;
    way.shut().await;
    done
}

async fn listen(data: &Path, serve: &Serve, signals: &mut Signals) -> Result<Exit, Failure> {
    let place = SocketAddr::from((Ipv4Addr::LOCALHOST, serve.port.unwrap_or(0)));
    let listener = TcpListener::bind(place)
        .await
        .map_err(|taken| Failure::usage(format!("nothing can listen at {place}: {taken}")))?;
    let address = listener.local_addr().map_err(Failure::internal)?;
    let token = gate::token().map_err(Failure::internal)?;
    tell(address, &token, serve.token_file.as_deref())?;
    let gate = Arc::new(Gate::new(address.port(), token, serve.allow_origin.clone()));
    let serving = Serving { data: data.to_owned(), gate, places: Arc::new(Semaphore::new(CLIENTS)) };
    let router = Router::new().fallback(come_in).with_state(serving);
    tokio::select! {
        ended = axum::serve(listener, router).into_future() => ended.map_err(Failure::internal)?,
        _ = signals.next() => {}
    }
    Ok(Exit::Completed)
}

/// Where it is, and the token: once.
fn tell(address: SocketAddr, token: &str, file: Option<&Path>) -> Result<(), Failure> {
    let (place, protocol) = (format!("ws://{address}/"), host::door::words::VERSION);
    match file {
        None => output::json(&json!({"serving": {"address": place, "protocol": protocol, "token": token}})),
        Some(file) => {
            gate::keep(file, token).map_err(|why| {
                Failure::usage(format!("the token can't be written into {}: {why}", file.display()))
            })?;
            output::json(&json!({"serving": {"address": place, "protocol": protocol}}));
        }
    }
    Ok(())
}

async fn come_in(
    State(serving): State<Serving>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    request: Request,
) -> Response {
    if *request.uri() != Uri::from_static("/") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let Let { page, spoken } = match serving.gate.admit(request.headers()) {
        Ok(admitted) => admitted,
        Err(refused) => {
            tracing::warn!(%refused, "refused at the WebSocket");
            return (refused.status(), refused.to_string()).into_response();
        }
    };
    let Ok(place) = serving.places.clone().try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let mut upgrade = match upgrade {
        Ok(upgrade) => upgrade
            .max_message_size(host::door::words::REQUEST_BYTES - 1)
            .max_frame_size(host::door::words::REQUEST_BYTES - 1)
            .max_write_buffer_size(UNREAD),
        Err(other) => return other.into_response(),
    };
    if spoken {
        upgrade.set_selected_protocol(HeaderValue::from_static(gate::PROTOCOL));
    }
    upgrade.on_upgrade(move |socket| async move {
        bridge::carry(socket, &serving.data, page).await;
        drop(place);
    })
}
