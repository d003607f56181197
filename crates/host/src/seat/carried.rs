//! What a guest listens to, carried over from one host to the next.
//!
//! Invariants: no event is passed on twice and none is left out; a view is never continued across hosts, it is opened again.

use super::At;
use super::tries::Tries;
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use std::collections::BTreeSet;
use tokio::sync::mpsc;

/// Events: the numbers are dense, so what came says what comes next. Where there is no way in, whoever listens is told why,
/// and it ends; a host that is just going is waited for.
pub(super) async fn events(
    mut tries: Tries,
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
            tries.came_to_something();
            if to.send(line).await.is_err() || last {
                return;
            }
        }
        if tries.rest(&at, to.closed()).await.is_none() {
            return;
        }
        let again = match tries.once(&at).await {
            Some(Ok(new)) => {
                at = new;
                at.events(&session, next).await
            }
            Some(Err(failed)) => Err(failed),
            None => return,
        };
        source = match again {
            Ok(again) => again,
            // This host is going, too.
            Err(failed) if failed.code == "app/closing" => {
                tries.came_to_nothing();
                mpsc::channel(1).1
            }
            Err(failed) => {
                // Whoever listened may have gone as well.
                drop(to.send(Err(failed)).await);
                return;
            }
        };
    }
}

/// A session is told to be opened again; the lists go on with every line there is, however long it takes.
pub(super) async fn topic(
    mut tries: Tries,
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
            tries.came_to_something();
            if to.send(told).await.is_err() || over {
                return;
            }
        }
        if to.is_closed() {
            return;
        }
        if let Topic::Session { session, .. } = &topic {
            // Whether there is a way in is asked by whoever opens it.
            drop(tries.once(&at).await);
            // Whoever listened may have gone as well.
            drop(to.send(Notification::Resync { session: session.clone() }).await);
            return;
        }
        let Some(new) = tries.until_in(&at, to.closed()).await else { return };
        at = new;
        source = match lists(&at, &waits, &to).await {
            Ok(again) => {
                tries.came_to_something();
                waits.clear();
                again
            }
            Err(failed) => {
                tracing::warn!(message = failed.message, "the lists can't be listened to just now");
                tries.came_to_nothing();
                mpsc::channel(1).1
            }
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

/// The next delivery; nothing when the source ends, or nobody listens.
async fn next_of<T>(source: &mut mpsc::Receiver<T>, to: &mpsc::Sender<T>) -> Option<T> {
    tokio::select! {
        () = to.closed() => None,
        next = source.recv() => next,
    }
}
