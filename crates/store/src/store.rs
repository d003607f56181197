//! A store, opened: the owner, and the handles everybody else writes and reads through.
//!
//! All writes run on one thread, in the order they were asked for; a simulation runs the same code inline. Invariants:
//! one process has a store open for writing; dropping the [`Store`] ends the writer after the last write, whoever still
//! holds a handle; an append from inside an announcement is an error, not a deadlock.

use crate::announce::{Announcement, Announcer, Keep, Subscription};
use crate::append::{Append, Durability};
use crate::blobs::{BlobError, Collected, Staged};
use crate::count::Counts;
use crate::error::{AppendError, OpenError, ReadError};
use crate::folded::Kept;
use crate::folder::DataFolder;
use crate::import::Import;
use crate::ports::{Clock, Faults, NoFaults};
use crate::reader::Reader;
use crate::removal::{Removal, Removed};
use crate::reply::{Pending, Promise, promise};
use crate::schema;
use crate::settings::Edit;
use crate::writer::Writer;
use domain::digest::Digest;
use domain::event::{Draft, Recorded};
use domain::ids::SessionId;
use std::cell::Cell;
use std::ops::Deref;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Writes that may wait in line; further callers wait to get into it.
const LINE: usize = 256;

/// Rows of attached content removed in one transaction: appends wait that long at most.
const COLLECTED_AT_ONCE: usize = 256;

/// Where writes run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// On a thread of their own.
    Thread,
    /// On the caller's thread: for simulations that run everything on one.
    Inline,
}

/// How a store is opened.
#[derive(Clone)]
pub struct Options {
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where writes run.
    pub writes: Writes,
    /// Injected faults.
    pub faults: Arc<dyn Faults>,
}

impl Options {
    /// What the product uses: a writing thread and no faults.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, writes: Writes::Thread, faults: Arc::new(NoFaults) }
    }

    /// Everything on the caller's thread.
    #[must_use]
    pub fn inline(clock: Arc<dyn Clock>) -> Self {
        Self { writes: Writes::Inline, ..Self::new(clock) }
    }

    /// With injected faults.
    #[must_use]
    pub fn with_faults(self, faults: Arc<dyn Faults>) -> Self {
        Self { faults, ..self }
    }
}

/// A store that this process has open for writing. Dropping it closes it.
pub struct Store {
    handle: StoreHandle,
    thread: Option<JoinHandle<()>>,
}

/// Writes and reads a store; cheap to clone. It outlives the [`Store`] for reading only.
#[derive(Clone)]
pub struct StoreHandle {
    reader: Reader,
    way: Way,
    announcer: Arc<Announcer>,
    epoch: u64,
}

#[derive(Clone)]
enum Way {
    Thread(SyncSender<Request>),
    Inline(Arc<Mutex<Option<Writer>>>),
}

/// What the writer is asked to do.
enum Request {
    Append(Vec<Append>, Durability, Promise<Result<Vec<Recorded>, AppendError>>),
    Collect(Vec<Digest>, Promise<Result<Collected, AppendError>>),
    Remove(Removal, Promise<Result<Removed, AppendError>>),
    Import(Box<Import>, Promise<Result<(), AppendError>>),
    Edit(Edit, Promise<Result<(), AppendError>>),
    Rebuild(Promise<Result<(), ReadError>>),
    KeepReserve(Promise<bool>),
    Stop,
}

thread_local! {
    /// Is this thread inside a writer? Then a listener is being told.
    static WRITING: Cell<bool> = const { Cell::new(false) };
}

impl Store {
    /// Opens the store in this data folder, making it where there is none, updating it where it is older.
    ///
    /// # Errors
    /// When the folder can't be used, another process has it open, or what is there can't be read; see [`OpenError`].
    pub fn open(folder: &Path, options: Options) -> Result<Self, OpenError> {
        let folder = DataFolder::to_write(folder)?;
        let lock = folder.lock()?;
        schema::prepare(&folder, schema::MIGRATIONS)?;
        let kept = Arc::new(Kept::default());
        let announcer = Arc::new(Announcer::default());
        let reader = Reader::new(folder.clone(), Arc::clone(&kept));
        let writer = Writer::open(
            folder.clone(),
            lock,
            kept,
            Arc::clone(reader.blobs()),
            Arc::clone(&announcer),
            options.clock,
            options.faults,
        )?;
        let epoch = writer.epoch();
        let (way, thread) = match options.writes {
            Writes::Inline => (Way::Inline(Arc::new(Mutex::new(Some(writer)))), None),
            Writes::Thread => {
                let (line, requests) = sync_channel(LINE);
                let thread = std::thread::Builder::new()
                    .name("store".to_owned())
                    .spawn(move || work(writer, &requests))
                    .map_err(crate::folder::io_at(folder.path()))?;
                (Way::Thread(line), Some(thread))
            }
        };
        Ok(Self { handle: StoreHandle { reader, way, announcer, epoch }, thread })
    }

    /// A handle to give away.
    #[must_use]
    pub fn handle(&self) -> StoreHandle {
        self.handle.clone()
    }
}

impl Deref for Store {
    type Target = StoreHandle;

    fn deref(&self) -> &StoreHandle {
        &self.handle
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        match &self.handle.way {
            Way::Inline(writer) => drop(writer.lock().unwrap_or_else(PoisonError::into_inner).take()),
            Way::Thread(line) => drop(line.send(Request::Stop)),
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's thread had ended in a panic");
        }
    }
}

impl Deref for StoreHandle {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl StoreHandle {
    /// Appends events to one session, all or none, and returns them as recorded. Blocks until they are committed.
    ///
    /// `expected_seq` is the sequence number the first of them gets: how many events the session has, 0 for a new one.
    ///
    /// # Errors
    /// See [`AppendError`]; unless it says otherwise, nothing was changed.
    pub fn append(
        &self,
        session: &SessionId,
        expected_seq: u64,
        drafts: Vec<Draft>,
        durability: Durability,
    ) -> Result<Vec<Recorded>, AppendError> {
        self.append_many(vec![Append { session: session.clone(), expected_seq, drafts }], durability)
    }

    /// Appends to several sessions in one transaction. The recorded events come back in the order they were given.
    ///
    /// # Errors
    /// As for [`StoreHandle::append`].
    pub fn append_many(
        &self,
        batch: Vec<Append>,
        durability: Durability,
    ) -> Result<Vec<Recorded>, AppendError> {
        let (promise, pending) = promise();
        self.send(Request::Append(batch, durability, promise))?;
        pending.wait().unwrap_or(Err(AppendError::Closed))
    }

    /// The same for tasks: queued before this returns, so that the order of calls is the order of commits; the future
    /// may be dropped without taking the append back.
    pub fn append_later(
        &self,
        batch: Vec<Append>,
        durability: Durability,
    ) -> impl Future<Output = Result<Vec<Recorded>, AppendError>> + Send + use<> {
        let (promise, pending): (_, Pending<Result<_, _>>) = promise();
        let sent = self.send(Request::Append(batch, durability, promise));
        async move {
            sent?;
            pending.await.unwrap_or(Err(AppendError::Closed))
        }
    }

    /// How often this process made something durable.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.reader.blobs().counter().counts()
    }

    /// Keeps bytes as a blob, once, and gives their name. It is durable before this returns.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        self.reader.put_blob(bytes)
    }

    /// Keeps what the reader gives as a blob, without holding it in memory. It is durable before this returns.
    ///
    /// # Errors
    /// When reading or writing fails; nothing is kept then.
    pub fn put_blob_stream(&self, from: &mut dyn std::io::Read) -> Result<Digest, BlobError> {
        self.reader.blobs().put_stream(from)
    }

    /// Attaches bytes to the next append, of whatever session: readable in this process at once, durable no later than the
    /// events that are appended from now on, gone with the process when nothing is. Larger content, and what finds too much
    /// waiting, is kept as by [`StoreHandle::put_blob`]. For content that only an event will name: what must be durable
    /// before something is done in the world is put.
    ///
    /// # Errors
    /// When it is kept as a file and that can't be written.
    pub fn attach_blob(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        self.reader.blobs().attach(bytes)
    }

    /// The same for what the reader gives; more than [`ATTACHED_BYTES`](crate::ATTACHED_BYTES) isn't held in memory.
    ///
    /// # Errors
    /// When reading fails, or it is kept as a file and that can't be written; nothing is kept then.
    pub fn attach_blob_stream(&self, from: &mut dyn std::io::Read) -> Result<Digest, BlobError> {
        self.reader.blobs().attach_stream(from)
    }

    /// Takes what the reader gives. It is a blob, whole and durable, once [`StoreHandle::settle_blobs`] has returned: one
    /// sync for many.
    ///
    /// # Errors
    /// When reading or writing fails; nothing is kept then.
    pub fn stage_blob(&self, from: &mut dyn std::io::Read) -> Result<Staged, BlobError> {
        self.reader.blobs().stage(from)
    }

    /// Makes everything staged so far durable and readable.
    ///
    /// # Errors
    /// When syncing or naming fails; what isn't settled stays staged.
    pub fn settle_blobs(&self) -> Result<(), BlobError> {
        self.reader.blobs().settle()
    }

    /// Removes the blobs that `keep` doesn't name and that were written before `before`, the start of the grace period.
    /// What this process has put or attached stays, whatever `keep` says. `keep` has to name all that the log and the last revision
    /// of each folder refer to.
    ///
    /// # Errors
    /// When a file or a row can't be looked at or removed; what is gone by then is gone.
    pub fn collect_blobs(
        &self,
        keep: &dyn Fn(&Digest) -> bool,
        before: std::time::SystemTime,
    ) -> Result<Collected, BlobError> {
        let mut collected = self.reader.blobs().collect(keep, before)?;
        let since = before.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let mut names = self.reader.attached_before(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))?;
        names.retain(|name| !keep(name));
        for some in names.chunks(COLLECTED_AT_ONCE) {
            let more =
                self.collect_rows(some).map_err(|error| BlobError::Store { why: error.to_string() })?;
            collected.blobs += more.blobs;
            collected.bytes += more.bytes;
        }
        Ok(collected)
    }

    /// Takes payloads and blobs out, with the events that record it in the same transaction. Blocks until old bytes are gone,
    /// which for erased words writes the whole database anew.
    ///
    /// # Errors
    /// As for [`StoreHandle::append`].
    pub fn remove(&self, removal: Removal) -> Result<Removed, AppendError> {
        let (promise, pending) = promise();
        self.send(Request::Remove(removal, promise))?;
        pending.wait().unwrap_or(Err(AppendError::Closed))
    }

    /// Takes in a whole session that another store recorded, to be looked at. Blocks until it is durable.
    ///
    /// # Errors
    /// When it is here already, isn't whole, or can't be saved; nothing was taken then.
    pub fn import(&self, import: Import) -> Result<(), AppendError> {
        let (promise, pending) = promise();
        self.send(Request::Import(Box::new(import), promise))?;
        pending.wait().unwrap_or(Err(AppendError::Closed))
    }

    /// Changes a folder or a setting.
    ///
    /// # Errors
    /// When it can't be saved.
    pub fn edit(&self, edit: Edit) -> Result<(), AppendError> {
        let (promise, pending) = promise();
        self.send(Request::Edit(edit, promise))?;
        pending.wait().unwrap_or(Err(AppendError::Closed))
    }

    /// Drops the lists and posts them again from the log.
    ///
    /// # Errors
    /// When the database refuses, or the store is closed.
    pub fn rebuild(&self) -> Result<(), ReadError> {
        let closed =
            || ReadError::Sql { doing: "rebuilding the lists", why: AppendError::Closed.to_string() };
        let (promise, pending) = promise();
        self.send(Request::Rebuild(promise)).map_err(|_| closed())?;
        pending.wait().unwrap_or_else(|| Err(closed()))
    }

    /// Puts the disk reserve back after the disk was full; false when there is still no room.
    #[must_use]
    pub fn keep_reserve(&self) -> bool {
        let (promise, pending) = promise();
        self.send(Request::KeepReserve(promise)).is_ok() && pending.wait().unwrap_or(false)
    }

    /// Announcements from now on, through a bounded queue.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        self.announcer.subscribe()
    }

    /// Calls `listener` after each commit, on the writer's thread: it must return soon and can't append.
    pub fn listen(&self, listener: impl Fn(&Announcement) -> Keep + Send + Sync + 'static) {
        self.announcer.listen(Arc::new(listener));
    }

    /// This process's number among all that ever opened the store for writing; its events carry it.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    fn collect_rows(&self, names: &[Digest]) -> Result<Collected, AppendError> {
        let (promise, pending) = promise();
        self.send(Request::Collect(names.to_vec(), promise))?;
        pending.wait().unwrap_or(Err(AppendError::Closed))
    }

    fn send(&self, request: Request) -> Result<(), AppendError> {
        if WRITING.get() {
            return Err(AppendError::Reentrant);
        }
        match &self.way {
            Way::Thread(line) => line.send(request).map_err(|_| AppendError::Closed),
            Way::Inline(writer) => {
                let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                let writer = writer.as_mut().ok_or(AppendError::Closed)?;
                serve(writer, request);
                Ok(())
            }
        }
    }
}

/// The writer's thread: takes requests in order until it is told to stop or nobody is left to ask.
fn work(mut writer: Writer, requests: &Receiver<Request>) {
    while let Ok(request) = requests.recv() {
        if matches!(request, Request::Stop) {
            break;
        }
        serve(&mut writer, request);
    }
}

fn serve(writer: &mut Writer, request: Request) {
    /// Ends the mark also when a listener panics.
    struct Mark;
    impl Drop for Mark {
        fn drop(&mut self) {
            WRITING.set(false);
        }
    }
    WRITING.set(true);
    let _mark = Mark;
    writer.mend();
    match request {
        Request::Append(batch, durability, promise) => promise.keep(writer.append(batch, durability)),
        Request::Collect(names, promise) => promise.keep(writer.collect(&names)),
        Request::Import(import, promise) => promise.keep(writer.import(*import)),
        Request::Remove(removal, promise) => promise.keep(writer.remove(removal)),
        Request::Edit(edit, promise) => promise.keep(edit.apply(writer)),
        Request::Rebuild(promise) => {
            let rebuilt = writer.rebuild();
            if rebuilt.is_err() {
                writer.lose();
            }
            promise.keep(rebuilt);
        }
        Request::KeepReserve(promise) => promise.keep(writer.keep_reserve()),
        Request::Stop => {}
    }
    writer.tidy();
}
