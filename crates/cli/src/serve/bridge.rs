//! One program at the WebSocket, carried to the local door and back: a text message is a line.
//!
//! Invariants: what a page asks for names no path; a message is one request, no longer than the door takes; one that doesn't
//! read is waited for by nobody else, and not for ever.

use api::wire::command::Command;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::stream::SplitSink;
use futures_util::{SinkExt as _, StreamExt as _};
use host::Seat;
use host::door::words::{Numbered, Request, Said};
use host::door::{Ear, Mouth, Passage};
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long one message may take to be taken.
const PATIENCE: Duration = Duration::from_secs(60);
/// Close codes of the protocol: it goes away, it can't take this, it comes back.
const AWAY: u16 = 1001;
const UNFIT: u16 = 1003;
const AGAIN: u16 = 1012;

/// Carries one program until it or the host goes, or serving ends.
pub(super) async fn carry(
    socket: WebSocket,
    data: &Path,
    seat: &Seat,
    page: bool,
    ending: &CancellationToken,
) {
    let (mut out, mut incoming) = socket.split();
    let (mut ear, mut mouth) = match passage(data, seat).await {
        Some(passage) => passage.apart(),
        None => return end(&mut out, AGAIN, "nobody hosts just now").await,
    };
    let (answer, mut answers) = tokio::sync::mpsc::channel(1);
    let speaking = async {
        while let Some(Ok(message)) = incoming.next().await {
            let text = match message {
                Message::Text(text) => text,
                Message::Binary(_) => return (UNFIT, "a request is text"),
                Message::Close(_) => return (AWAY, ""),
                // Answered by the protocol itself.
                Message::Ping(_) | Message::Pong(_) => continue,
            };
            if let Some(refused) = page.then(|| refused(&text)).flatten() {
                if answer.send(refused).await.is_err() {
                    break;
                }
                continue;
            }
            if !say(&mut mouth, &text).await {
                return (UNFIT, "a request is one line");
            }
        }
        (AWAY, "")
    };
    let hearing = hear(&mut ear, &mut answers, &mut out);
    let (code, why) = tokio::select! {
        ended = speaking => ended,
        ended = hearing => ended,
        () = ending.cancelled() => (AWAY, "it stops serving"),
    };
    end(&mut out, code, why).await;
}

/// A way through the door. Where there is none, whoever hosted may have just gone: then our own seat sees to it that
/// somebody does.
async fn passage(data: &Path, seat: &Seat) -> Option<Passage> {
    if let Ok(Some(passage)) = Passage::open(data).await {
        return Some(passage);
    }
    seat.call(Command::Settings).await.ok()?;
    Passage::open(data).await.ok().flatten()
}

async fn say(mouth: &mut Mouth, text: &str) -> bool {
    mouth.say(text).await.is_ok()
}

async fn hear(
    ear: &mut Ear,
    answers: &mut tokio::sync::mpsc::Receiver<String>,
    out: &mut SplitSink<WebSocket, Message>,
) -> (u16, &'static str) {
    loop {
        let line = tokio::select! {
            line = ear.hear() => line,
            Some(refused) = answers.recv() => Some(refused),
        };
        let Some(line) = line else { return (AGAIN, "the host has gone") };
        match tokio::time::timeout(PATIENCE, out.send(Message::Text(line.into()))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return (AWAY, ""),
            Err(_) => return (AWAY, "what is sent isn't read"),
        }
    }
}

/// The answer to what a page may not ask for: to name a path.
fn refused(text: &str) -> Option<String> {
    let Numbered { id, request, .. } = serde_json::from_str(text).ok()?;
    // Word for word, so that a new one that names a path can't be forgotten here.
    match request {
        Request::OpenFolder { .. }
        | Request::AddFolder { .. }
        | Request::SaveCopy { .. }
        | Request::ImportSession { .. }
        | Request::SetCertificate { .. } => {}
        Request::Hello { .. }
        | Request::Call { .. }
        | Request::CopyName { .. }
        | Request::Subscribe { .. }
        | Request::Events { .. }
        | Request::Unsubscribe { .. } => return None,
    }
    let why = "a page can't name a path of this machine";
    let refused = api::error("door/page", why, "Do it in Daybook, or with the program `daybook`.");
    serde_json::to_string(&Said::answer(id, Err(refused))).ok()
}

async fn end(out: &mut SplitSink<WebSocket, Message>, code: u16, why: &str) {
    let last = Message::Close(Some(CloseFrame { code, reason: why.into() }));
    // One that doesn't take even this has gone.
    let _ = tokio::time::timeout(Duration::from_secs(1), out.send(last)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a67_a_page_names_no_path_and_asks_for_everything_else() {
        let asked = |method: &str, params: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#)
        };
        for (method, params) in [
            ("open_folder", r#"{"path":"/etc"}"#),
            ("add_folder", r#"{"session":"ses_1","path":"/etc"}"#),
            ("import_session", r#"{"path":"/etc"}"#),
            ("set_certificate", r#"{"provider":"openai","path":"/etc/ca.pem"}"#),
            ("save_copy", r#"{"session":"ses_1","of":{"kind":"session"},"path":"/etc"}"#),
        ] {
            let said = refused(&asked(method, params)).expect("an answer");
            assert!(said.contains("door/page") && said.contains(r#""id":7"#), "{said}");
        }
        // A name is read once and by one reader, so a second one hides nothing: the whole line is unfit for the door as well.
        let doubled =
            r#"{"jsonrpc":"2.0","id":7,"method":"hello","method":"open_folder","params":{"path":"/etc"}}"#;
        assert!(serde_json::from_str::<Numbered>(doubled).is_err() || refused(doubled).is_some());
        for (method, params) in
            [("hello", r#"{"version":1}"#), ("call", r#"{"command":{"name":"sessions"}}"#)]
        {
            assert_eq!(refused(&asked(method, params)), None);
        }
        assert_eq!(refused("rubbish"), None, "the door says so");
    }
}
