//! What a guest listens to, carried over from one host to the next.
//!
//! Invariants: no event is passed on twice and none is left out; a view is never continued across hosts, it is opened again.

use super::{At, Seat};
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use std::collections::BTreeSet;
use std::sync::Weak;
use tokio::sync::mpsc;

/// Events: the numbers are dense, so what came says what comes next.
pub(super) async fn events(
    seat: Weak<Seat>,
    mut at: At,
    session: String,
    from: u64,
    mut source: mpsc::Receiver<Result<String, ApiError>>,
    to: mpsc::Sender<Result<String, ApiError>>,
) {
    let mut next = from;
    loop {
        while let Some(line) = next_of(&mut source, &to).await {
            let last = line.is_err();
            next += 1;
            if to.send(line).await.is_err() || last {
                return;
            }
        }
        let moved = match seat.upgrade() {
            Some(seat) if !to.is_closed() => seat.again(&at).await,
            Some(_) | None => return,
        };
        let again = match moved {
            Ok(new) => {
                at = new;
                at.events(&session, next).await
            }
            Err(failed) => Err(failed),
        };
        match again {
            Ok(again) => source = again,
            // This host is going, too.
            Err(failed) if is_closing(&failed) && at.is_gone() => {}
            Err(failed) => {
                if !is_closing(&failed) {
                    // Whoever listened may have gone as well.
                    drop(to.send(Err(failed)).await);
                }
                return;
            }
        }
    }
}

/// A session is told to be opened again; the lists go on with every line there is.
pub(super) async fn topic(
    seat: Weak<Seat>,
    mut at: At,
    topic: Topic,
    mut source: mpsc::Receiver<Notification>,
    to: mpsc::Sender<Notification>,
) {
    let mut waits = BTreeSet::new();
    loop {
        while let Some(told) = next_of(&mut source, &to).await {
            let over = matches!(told, Notification::Resync { .. });
            if let Notification::Needs { session, needs } = &told {
                if needs.is_empty() {
                    waits.remove(session)
                } else {
                    waits.insert(session.clone())
                };
            }
            if to.send(told).await.is_err() || over {
                return;
            }
        }
        let moved = match seat.upgrade() {
            Some(seat) if !to.is_closed() => seat.again(&at).await,
            Some(_) | None => return,
        };
        match (&topic, moved) {
            (Topic::Session { session, .. }, _) => {
                // Whoever listened may have gone as well.
                drop(to.send(Notification::Resync { session: session.clone() }).await);
                return;
            }
            (Topic::Store, Ok(new)) => at = new,
            (Topic::Store, Err(_)) => return,
        }
        source = match lists(&at, &waits, &to).await {
            Ok(again) => {
                waits.clear();
                again
            }
            // This host is going, too.
            Err(failed) if is_closing(&failed) && at.is_gone() => mpsc::channel(1).1,
            Err(_) => return,
        };
    }
}

/// Listens to the lists again, and tells all that may have changed in between.
async fn lists(
    at: &At,
    waited: &BTreeSet<String>,
    to: &mpsc::Sender<Notification>,
) -> Result<mpsc::Receiver<Notification>, ApiError> {
    let source = at.subscribe(Topic::Store).await?;
    let lines = match at.call(Command::Sessions).await? {
        Reply::Sessions(lines) => lines,
        _ => Vec::new(),
    };
    let nothing =
        waited.iter().map(|session| Notification::Needs { session: session.clone(), needs: Vec::new() });
    let lines = lines.into_iter().map(|summary| Notification::Summary { summary });
    for told in nothing.chain(lines) {
        // One that has gone is noticed by whoever asks next.
        drop(to.send(told).await);
    }
    Ok(source)
}

fn is_closing(failed: &ApiError) -> bool {
    failed.code == "app/closing"
}

/// The next delivery; nothing when the source ends, or nobody listens.
async fn next_of<T>(source: &mut mpsc::Receiver<T>, to: &mpsc::Sender<T>) -> Option<T> {
    tokio::select! {
        () = to.closed() => None,
        next = source.recv() => next,
    }
}
