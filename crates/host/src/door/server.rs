//! The host's side of the door: a socket, a look at whoever comes, and one task a guest.
//!
//! Invariant: what a guest listens to ends with it; a guest that doesn't read is waited for, and nobody waits with it.

use super::words::{Delivered, Numbered, REQUEST_BYTES, Request, Said, VERSION};
use super::{DoorError, peer};
use crate::data;
use crate::desk::HostDesk;
use crate::host::Host;
use api::wire::ApiError;
use api::{Room, error};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinHandle};

/// Connections at a time; a guest has one for what it asks and one for each thing it listens to.
const GUESTS: usize = 256;
/// Things one guest listens to.
const SUBSCRIPTIONS: usize = 64;
/// Calls of one guest that may be under way; what it asks beyond them is read when one was answered.
const CALLS: usize = 64;
/// How long a guest that is sent away may take for the last lines.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Lines that may wait for a guest.
const LINES: usize = 256;

/// An open door. Dropping it closes it, and sends its guests away.
pub struct Door {
    path: PathBuf,
    listening: JoinHandle<()>,
    guests: Arc<AtomicUsize>,
}

impl Door {
    pub(crate) fn open(host: &Host) -> Result<Self, DoorError> {
        let path = data::door_path(host.data());
        let failed = |source| DoorError::Io { path: path.clone(), source };
        let folder = path.parent().unwrap_or(Path::new("/"));
        let uid = safe_folder(folder)?;
        // We hold the store's lock, so whoever left this socket is gone.
        match std::fs::remove_file(&path) {
            Err(io) if io.kind() != std::io::ErrorKind::NotFound => return Err(failed(io)),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&path).map_err(failed)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let guests = Arc::new(AtomicUsize::new(0));
        let inside = Inside { room: host.room().clone(), desk: host.desk() };
        let listening = tokio::spawn(listen(listener, uid, inside, Arc::clone(&guests)));
        Ok(Self { path, listening, guests })
    }

    pub(crate) fn guests(&self) -> usize {
        self.guests.load(Ordering::Acquire)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.listening.abort();
        // What stays behind is taken away by the next host.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Makes the folder for its owner alone, and gives the owner; one that others can enter is refused.
fn safe_folder(folder: &Path) -> Result<u32, DoorError> {
    let failed = |source| DoorError::Io { path: folder.to_owned(), source };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let about = std::fs::symlink_metadata(folder).map_err(failed)?;
    let unsafe_because = |why| Err(DoorError::Folder { path: folder.to_owned(), why });
    if !about.is_dir() {
        return unsafe_because("is not a folder");
    }
    if about.mode() & 0o077 != 0 {
        return unsafe_because("can be entered by others");
    }
    let probe = folder.join(format!(".probe-{}", std::process::id()));
    std::fs::File::create(&probe).map_err(failed)?;
    let ours = std::fs::metadata(&probe).map(|probe| probe.uid());
    std::fs::remove_file(&probe).map_err(failed)?;
    match ours {
        Ok(uid) if uid == about.uid() => Ok(uid),
        Ok(_) => unsafe_because("belongs to another user"),
        Err(source) => Err(failed(source)),
    }
}

#[derive(Clone)]
struct Inside {
    room: Room,
    desk: Arc<HostDesk>,
}

async fn listen(listener: UnixListener, uid: u32, inside: Inside, guests: Arc<AtomicUsize>) {
    let mut tasks = tokio::task::JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(failed) => {
                    tracing::warn!(%failed, "somebody couldn't come in");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            Some(_) = tasks.join_next(), if !tasks.is_empty() => continue,
        };
        if let Err(outside) = peer::admit(&stream, uid) {
            tracing::warn!(%outside, "refused at the local door");
            continue;
        }
        if tasks.len() >= GUESTS {
            tracing::warn!("too many guests");
            continue;
        }
        let (inside, here) = (inside.clone(), Here::new(&guests));
        tasks.spawn(async move {
            let _here = here;
            guest(stream, inside).await;
        });
    }
}

/// A guest that is counted while it is here.
struct Here(Arc<AtomicUsize>);

impl Here {
    fn new(guests: &Arc<AtomicUsize>) -> Self {
        guests.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(guests))
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One guest, until it goes.
async fn guest(stream: UnixStream, inside: Inside) {
    let (read, mut write) = stream.into_split();
    let (lines, mut outgoing) = mpsc::channel::<String>(LINES);
    let writing = async move {
        while let Some(mut line) = outgoing.recv().await {
            line.push('\n');
            if write.write_all(line.as_bytes()).await.is_err() {
                break;
            }
        }
    };
    let reading = async move {
        let (calls, listening) = (Arc::new(Semaphore::new(CALLS)), HashMap::new());
        let mut visit = Visit { inside, lines, greeted: false, next: 0, listening, calls };
        let mut read = BufReader::new(read);
        while let Some(line) = request(&mut read).await {
            if !visit.take(&line).await {
                break;
            }
        }
    };
    let mut writing = std::pin::pin!(writing);
    tokio::select! {
        () = &mut writing => return,
        () = reading => {}
    }
    // What was already said still goes out, unless nobody takes it.
    let _ = tokio::time::timeout(LAST_WORDS, writing).await;
}

/// The next line; `None` at the end, or when it is too long to be a request.
async fn request(read: &mut BufReader<OwnedReadHalf>) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let most = u64::try_from(REQUEST_BYTES).unwrap_or(u64::MAX);
    let count = read.take(most).read_until(b'\n', &mut line).await.ok()?;
    (count > 0 && line.ends_with(b"\n")).then_some(line)
}

struct Visit {
    inside: Inside,
    lines: mpsc::Sender<String>,
    greeted: bool,
    next: u64,
    listening: HashMap<u64, AbortHandle>,
    calls: Arc<Semaphore>,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.listening.values().for_each(AbortHandle::abort);
    }
}

impl Visit {
    /// Does one request; false ends the visit.
    async fn take(&mut self, line: &[u8]) -> bool {
        let Ok(Numbered { id, request, .. }) = serde_json::from_slice::<Numbered>(line) else {
            let said =
                Said::answer(0, Err(error("door/request", "this isn't a request of the local door", "")));
            self.say(&said).await;
            return false;
        };
        if !self.greeted {
            let greeting = match request {
                Request::Hello { version: VERSION } => Ok(json!({
                    "version": VERSION, "app": env!("CARGO_PKG_VERSION"), "pid": std::process::id()
                })),
                Request::Hello { version } => Err(error(
                    "door/version",
                    format!("version {version} of the door's protocol isn't spoken here, {VERSION} is"),
                    "Use the daybook of the same version.",
                )),
                _ => Err(error("door/hello", "the first request is hello", "")),
            };
            self.greeted = greeting.is_ok();
            return self.say(&Said::answer(id, greeting)).await && self.greeted;
        }
        match request {
            Request::Hello { .. } => self.say(&Said::answer(id, Ok(json!({ "version": VERSION })))).await,
            Request::Call { command } => {
                self.apart(id, |room| async move { value(&room.call(command).await?) }).await
            }
            Request::CopyName { session, of } => {
                self.apart(id, |room| async move { value(&room.copy_name(&session, &of).await?) }).await
            }
            Request::SaveCopy { session, of, path } => {
                self.apart(id, |room| async move {
                    value(&room.save_copy(&session, &of, Path::new(&path)).await?)
                })
                .await
            }
            Request::ImportSession { path } => {
                self.apart(id, |room| async move { value(&room.import_session(Path::new(&path)).await?) })
                    .await
            }
            Request::SetCertificate { provider, path } => {
                self.apart(id, |room| async move {
                    value(&room.set_certificate(&provider, Path::new(&path)).await?)
                })
                .await
            }
            Request::OpenFolder { path } => {
                let desk = Arc::clone(&self.inside.desk);
                self.apart(id, |_| async move { value(&desk.open(path.into()).await?) }).await
            }
            Request::AddFolder { session, path } => {
                self.apart(
                    id,
                    |room| async move { value(&room.add_folder(&session, Path::new(&path)).await?) },
                )
                .await
            }
            Request::Subscribe { topic } => {
                let source = self.inside.room.subscribe(topic).await;
                let items =
                    |item| serde_json::to_string(&item).map_err(|bad| error("internal", bad.to_string(), ""));
                self.listen(id, source, "notify", items).await
            }
            Request::Events { session, from } => {
                let source = self.inside.room.events(&session, from);
                self.listen(id, source, "event", |item| item).await
            }
            Request::Unsubscribe { subscription } => {
                if let Some(task) = self.listening.remove(&subscription) {
                    task.abort();
                }
                self.say(&Said::answer(id, Ok(Value::Null))).await
            }
        }
    }

    /// Does it on its own, so that a long one doesn't hold up an answer to another.
    /// Where as many are under way as may be, the guest is read no further until one was answered.
    async fn apart<F>(&self, id: u64, work: impl FnOnce(Room) -> F) -> bool
    where
        F: Future<Output = Result<Value, ApiError>> + Send + 'static,
    {
        let Ok(one) = Arc::clone(&self.calls).acquire_owned().await else { return false };
        let (done, lines) = (work(self.inside.room.clone()), self.lines.clone());
        tokio::spawn(async move {
            let _one = one;
            send(&lines, &Said::answer(id, done.await)).await;
        });
        true
    }

    async fn listen<T: Send + 'static>(
        &mut self,
        id: u64,
        source: Result<mpsc::Receiver<T>, ApiError>,
        method: &'static str,
        line: impl Fn(T) -> Result<String, ApiError> + Send + 'static,
    ) -> bool {
        self.listening.retain(|_, task| !task.is_finished());
        let mut source = match source {
            Ok(_) if self.listening.len() >= SUBSCRIPTIONS => {
                let many = error("door/subscriptions", "this client listens to too much already", "");
                return self.say(&Said::answer(id, Err(many))).await;
            }
            Ok(source) => source,
            Err(refused) => return self.say(&Said::answer(id, Err(refused))).await,
        };
        self.next += 1;
        let subscription = self.next;
        if !self.say(&Said::answer(id, Ok(json!({ "subscription": subscription })))).await {
            return false;
        }
        let lines = self.lines.clone();
        let task = tokio::spawn(async move {
            while let Some(item) = source.recv().await {
                let item = line(item).and_then(|line| {
                    RawValue::from_string(line).map_err(|bad| error("internal", bad.to_string(), ""))
                });
                let (item, error) = match item {
                    Ok(item) => (Some(item), None),
                    Err(error) => (None, Some(error)),
                };
                if !send(&lines, &Said::deliver(method, Delivered { subscription, item, error })).await {
                    return;
                }
            }
            send(&lines, &Said::deliver("over", Delivered { subscription, item: None, error: None })).await;
        });
        self.listening.insert(subscription, task.abort_handle());
        true
    }

    async fn say(&self, said: &Said) -> bool {
        send(&self.lines, said).await
    }
}

async fn send(lines: &mpsc::Sender<String>, said: &Said) -> bool {
    match serde_json::to_string(said) {
        Ok(line) => lines.send(line).await.is_ok(),
        Err(_) => false,
    }
}

fn value(what: &impl serde::Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(what).map_err(|bad| error("internal", bad.to_string(), ""))
}
