//! `daybook serve`: a Daybook without a window, and a WebSocket on this machine's loopback for programs that want one.
//!
//! The words are those of the local door, line for line, and it is the local door that answers them, whoever hosts.
//! Invariants: nothing listens unless this was asked for, and nothing is hosted before it listens; no address is told where
//! the local door can't be opened; whoever comes has the token, names this very address, and comes from no page that wasn't
//! let in.

mod accept;
mod bridge;
mod gate;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::signals::Signals;
use crate::way::{Own, Way};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts as _, Request};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use gate::{Gate, Let, TokenFile};
use host::Seat;
use serde_json::json;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Programs at a time.
const CLIENTS: u32 = 32;
/// How long those inside may take to hear that it stops.
const FAREWELL: Duration = Duration::from_secs(1);

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
    seat: Arc<Seat>,
    gate: Arc<Gate>,
    places: Arc<Semaphore>,
    ending: CancellationToken,
}

pub(crate) async fn serve(data: PathBuf, serve: Serve) -> Result<Exit, Failure> {
    if let Some(origin) = serve.allow_origin.iter().find(|origin| !gate::is_origin(origin)) {
        return Err(Failure::usage(format!("{origin:?} is no origin; give scheme://host:port")));
    }
    let mut signals = Signals::new()?;
    // All that can be wrong with what was asked for, before anything is hosted.
    let listener = bind(serve.port).await?;
    let address = listener.local_addr().map_err(Failure::internal)?;
    let token = gate::token().map_err(Failure::internal)?;
    let kept = serve.token_file.as_deref().map(|file| keep(file, &token)).transpose()?;
    let own = Own { script: serve.script, attended: true, ..Own::default() };
    let way = Way::to_serve(&data, own).await?;
    let Way::Seat(seat) = &way else { return Err(Failure::internal("serving needs a seat")) };
    if let Some(closed) = seat.alone() {
        way.shut().await;
        return Err(shut_out(&closed));
    }
    tell(address, kept.is_none().then_some(&token));
    let gate = Arc::new(Gate::new(address.port(), token, serve.allow_origin));
    let (places, ending) = (Arc::new(Semaphore::new(CLIENTS as usize)), CancellationToken::new());
    let serving = Serving { data, seat: Arc::clone(seat), gate, places, ending };
    let answer = {
        let serving = serving.clone();
        move |request| come_in(serving.clone(), request)
    };
    tokio::select! {
        () = accept::accept(listener, answer) => {}
        _ = signals.next() => {}
    }
    serving.farewell().await;
    way.shut().await;
    Ok(Exit::Completed)
}

/// Nobody could be let in, so nothing is served: something of this machine is in the way.
fn shut_out(closed: &str) -> Failure {
    let message = format!("nobody could come in at the WebSocket: {closed}");
    let hint = "Whoever comes is carried to the local door, so that has to be mended first; `daybook exec` works without it.";
    api::error("serve/no_door", message, hint).into()
}

impl Serving {
    /// Those inside hear that it stops, before the program ends under them.
    async fn farewell(&self) {
        self.ending.cancel();
        // Whoever doesn't take even this has gone.
        let _ = tokio::time::timeout(FAREWELL, self.places.acquire_many(CLIENTS)).await;
    }
}

async fn bind(port: Option<u16>) -> Result<TcpListener, Failure> {
    let place = SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
    TcpListener::bind(place)
        .await
        .map_err(|taken| Failure::usage(format!("nothing can listen at {place}: {taken}")))
}

fn keep(file: &Path, token: &str) -> Result<TokenFile, Failure> {
    TokenFile::write(file, token)
        .map_err(|why| Failure::usage(format!("the token can't be written into {}: {why}", file.display())))
}

/// Where it is, and the token where it stands in no file: once.
fn tell(address: SocketAddr, token: Option<&String>) {
    let mut serving = json!({"address": format!("ws://{address}/"), "protocol": host::door::words::VERSION});
    if let Some(token) = token {
        serving["token"] = json!(token);
    }
    output::json(&json!({ "serving": serving }));
}

async fn come_in<B>(serving: Serving, request: Request<B>) -> Response {
    let (mut parts, _) = request.into_parts();
    if parts.uri != Uri::from_static("/") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let Let { page, spoken } = match serving.gate.admit(&parts.headers) {
        Ok(admitted) => admitted,
        Err(refused) => {
            tracing::warn!(%refused, "refused at the WebSocket");
            return (refused.status(), refused.to_string()).into_response();
        }
    };
    let Ok(place) = serving.places.clone().try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    // How much may wait for one that doesn't read is one message, however long: the next one waits for it, and not for ever.
    let mut upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade
            .max_message_size(host::door::words::REQUEST_BYTES - 1)
            .max_frame_size(host::door::words::REQUEST_BYTES - 1),
        Err(other) => return other.into_response(),
    };
    if spoken {
        upgrade.set_selected_protocol(HeaderValue::from_static(gate::PROTOCOL));
    }
    upgrade.on_upgrade(move |socket| async move {
        let Serving { data, seat, ending, .. } = serving;
        bridge::carry(socket, &data, &seat, page, &ending).await;
        drop(place);
    })
}
