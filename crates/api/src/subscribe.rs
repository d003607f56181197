//! Subscriptions: one session from a sequence number on, the lists, or raw events as lines.
//!
//! Each has its own task and its own fold. The announcements are joined first and the log is read second, so nothing
//! falls in between; what arrives twice is known by its number. Invariants: no loss, no doubles, one notification a
//! frame; a client that falls behind is told to open again and holds nobody up.

use crate::failure::of_read;
use crate::needs;
use crate::room::{Inside, Room};
use crate::view::{Fold, joined};
use crate::wire::ApiError;
use crate::wire::command::{Notification, Topic};
use crate::wire::need::Need;
use crate::wire::store::SessionSummary;
use crate::wire::view::Patch;
use domain::event::{Fact, Recorded};
use domain::ids::SessionId;
use engine::Live;
use engine::show::{Notice, Subscription};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};
use tokio::time::{Instant, sleep_until};

/// Notifications that may wait for a client.
const QUEUE: usize = 256;
/// Patches that may wait for a client whose queue is full.
const PENDING: usize = 4_096;
/// One frame of a 60 Hz screen.
const FRAME: Duration = Duration::from_millis(16);
/// Events read at once.
const PAGE: usize = 256;

impl Room {
    /// Listens to a topic from now on, or from the sequence number it names. Must be called inside a tokio runtime; the
    /// subscription ends with its receiver.
    ///
    /// # Errors
    /// When there is no such session, or it can't be read.
    pub async fn subscribe(&self, topic: Topic) -> Result<mpsc::Receiver<Notification>, ApiError> {
        let (to, receiver) = mpsc::channel(QUEUE);
        let inside = Arc::clone(&self.inside);
        match topic {
            Topic::Store => {
                let notices = inside.engine()?.store().subscribe();
                tokio::spawn(store(inside, notices, to));
            }
            Topic::Session { session, from } => {
                let session = self.known(&session)?;
                let notices = inside.engine()?.store().subscribe();
                let live = inside.engine()?.live();
                let began = {
                    let (inside, session) = (Arc::clone(&inside), session.clone());
                    tokio::task::spawn_blocking(move || {
                        let mut fold = inside.fold_to(&session, from)?;
                        fold.look(&*inside, &mut Vec::new());
                        Ok::<_, ApiError>(fold)
                    })
                    .await
                };
                let fold = began.map_err(crate::failure::internal)??;
                let pending = fold.moving();
                let now = Instant::now();
                let watch = Watch { inside, fold, pending, due: Some(now), next: now, to };
                tokio::spawn(watch.run(notices, live));
            }
        }
        Ok(receiver)
    }

    /// Events of a session as lines, from this sequence number on, and as they come. Waits for a slow reader.
    ///
    /// # Errors
    /// When there is no such session.
    pub fn events(
        &self,
        session: &str,
        from: u64,
    ) -> Result<mpsc::Receiver<Result<String, ApiError>>, ApiError> {
        let session = self.known(session)?;
        let (to, receiver) = mpsc::channel(QUEUE);
        let inside = Arc::clone(&self.inside);
        let notices = inside.engine()?.store().subscribe();
        tokio::spawn(raw(inside, session, from, notices, to));
        Ok(receiver)
    }

    /// The events there are, as lines, at most `limit`; for reading page by page.
    ///
    /// # Errors
    /// When there is no such session, or it can't be read.
    pub fn page(&self, session: &str, from: u64, limit: usize) -> Result<Vec<String>, ApiError> {
        let session = self.known(session)?;
        let events = self.inside.reader.events(&session, from, limit).map_err(|read| of_read(&read))?;
        Ok(events.iter().map(crate::event_line).collect())
    }
}

struct Watch {
    inside: Arc<Inside>,
    fold: Fold,
    pending: Vec<Patch>,
    /// When what is pending goes out.
    due: Option<Instant>,
    /// One frame after the last notification: what comes later than that needn't wait.
    next: Instant,
    to: mpsc::Sender<Notification>,
}

/// The subscription is over.
struct Over;

impl Watch {
    async fn run(mut self, mut notices: Subscription, mut live: broadcast::Receiver<Live>) {
        if self.fold.view().read_only.is_some() {
            // Nothing is ever added to it.
            return self.to.closed().await;
        }
        if self.catch_up().and_then(|()| self.hold()).is_err() {
            return self.resync().await;
        }
        loop {
            let due = self.due;
            let result = tokio::select! {
                biased;
                () = self.to.closed() => return,
                () = async { sleep_until(due.unwrap_or_else(Instant::now)).await }, if due.is_some() => self.flush(),
                notice = notices.next() => self.notice(notice),
                piece = live.recv() => self.live(piece),
            };
            if result.is_err() {
                return self.resync().await;
            }
        }
    }

    fn notice(&mut self, notice: Notice) -> Result<(), Over> {
        match notice {
            Notice::Committed(announced) if announced.session == *self.fold.id() => {
                for recorded in announced.events.iter() {
                    if recorded.seq > self.fold.next_seq() {
                        self.catch_up()?;
                    }
                    self.take(recorded)?;
                }
                Ok(())
            }
            Notice::Committed(_) => Ok(()),
            Notice::Resync => self.catch_up(),
        }
    }

    fn live(&mut self, piece: Result<Live, broadcast::error::RecvError>) -> Result<(), Over> {
        match piece {
            Ok(piece) => {
                let patches = self.fold.live(&piece);
                self.add(patches);
                Ok(())
            }
            // The log brings what was missed, but for what work waits for.
            Err(broadcast::error::RecvError::Lagged(_)) => self.hold(),
            Err(broadcast::error::RecvError::Closed) => Err(Over),
        }
    }

    /// What work waits for stands in no log.
    fn hold(&mut self) -> Result<(), Over> {
        let session = self.fold.id().clone();
        let hold = self.inside.engine().map_err(|_| Over)?.hold(&session);
        let patches = self.fold.live(&Live::Waiting { session, hold });
        self.add(patches);
        Ok(())
    }

    /// Reads what the log has and this fold hasn't.
    fn catch_up(&mut self) -> Result<(), Over> {
        loop {
            let page =
                self.inside.reader.events(self.fold.id(), self.fold.next_seq(), PAGE).map_err(|_| Over)?;
            if page.is_empty() {
                return Ok(());
            }
            page.iter().try_for_each(|recorded| self.take(recorded))?;
        }
    }

    fn take(&mut self, recorded: &Recorded) -> Result<(), Over> {
        if recorded.seq != self.fold.next_seq() {
            return if recorded.seq < self.fold.next_seq() { Ok(()) } else { Err(Over) };
        }
        let event = recorded.clone().decode().map_err(|_| Over)?;
        // What was shown may hold the words that are gone: the client opens the session again.
        if matches!(event.fact, Some(Fact::RecordErased(_))) {
            return Err(Over);
        }
        let patches = self.fold.event(&event, &*self.inside);
        // The number alone is news too: the client resumes after it.
        self.soon();
        self.add(patches);
        Ok(())
    }

    fn add(&mut self, patches: Vec<Patch>) {
        if !patches.is_empty() {
            self.soon();
            self.pending.extend(patches);
        }
    }

    /// What is pending goes out when the frame of the last notification is over.
    fn soon(&mut self) {
        self.due.get_or_insert_with(|| self.next.max(Instant::now()));
    }

    fn flush(&mut self) -> Result<(), Over> {
        let Ok(room) = self.to.try_reserve() else {
            // The client is slow: what waits grows until it catches up, or is too much.
            self.pending = joined(std::mem::take(&mut self.pending));
            self.due = Some(Instant::now() + FRAME);
            return if self.pending.len() > PENDING { Err(Over) } else { Ok(()) };
        };
        let session = self.fold.id().to_string();
        let patches = joined(std::mem::take(&mut self.pending));
        room.send(Notification::Session { session, seq: self.fold.next_seq().saturating_sub(1), patches });
        self.due = None;
        self.next = Instant::now() + FRAME;
        Ok(())
    }

    /// Tells the client to open again, as soon as it takes anything.
    async fn resync(self) {
        let session = self.fold.id().to_string();
        // A client that is gone needs nothing.
        drop(self.to.send(Notification::Resync { session }).await);
    }
}

/// Lines of the session list, each at most once a frame. Lines replace each other, so a slow client never falls behind.
async fn store(inside: Arc<Inside>, mut notices: Subscription, to: mpsc::Sender<Notification>) {
    let mut changed: BTreeSet<SessionId> = BTreeSet::new();
    let mut told: HashMap<SessionId, SessionSummary> = HashMap::new();
    let mut waits = Waits { inside: Arc::clone(&inside), told: HashMap::new() };
    let mut due: Option<Instant> = None;
    for row in inside.reader.sessions().unwrap_or_default().iter().filter(|row| row.waiting > 0) {
        if !waits.tell(&row.session, &to).await {
            return;
        }
    }
    loop {
        tokio::select! {
            biased;
            () = to.closed() => return,
            () = async { sleep_until(due.unwrap_or_else(Instant::now)).await }, if due.is_some() => {
                due = None;
                for session in std::mem::take(&mut changed) {
                    let Ok(Some(row)) = inside.reader.session(&session) else { continue };
                    let summary = inside.summary(&row);
                    let known = told.insert(session.clone(), summary.clone()).as_ref() == Some(&summary);
                    if !known && to.send(Notification::Summary { summary }).await.is_err() {
                        return;
                    }
                    let waited = row.waiting > 0 || waits.told.contains_key(&session);
                    if waited && !waits.tell(&session, &to).await {
                        return;
                    }
                }
            }
            notice = notices.next() => {
                match notice {
                    // Pieces of an answer and of output change no line.
                    Notice::Committed(announced) if announced.events.iter().all(|event| event.ignorable) => continue,
                    Notice::Committed(announced) => drop(changed.insert(announced.session)),
                    Notice::Resync => match inside.reader.sessions() {
                        Ok(rows) => changed.extend(rows.into_iter().map(|row| row.session)),
                        Err(error) => tracing::warn!(%error, "the list of sessions can't be read"),
                    },
                }
                due.get_or_insert_with(|| Instant::now() + FRAME);
            }
        }
    }
}

/// What of each session was told to wait for the person.
struct Waits {
    inside: Arc<Inside>,
    told: HashMap<SessionId, Vec<Need>>,
}

impl Waits {
    /// Tells it where it is news; false when nobody listens any more.
    async fn tell(&mut self, session: &SessionId, to: &mpsc::Sender<Notification>) -> bool {
        let told = self.told.remove(session).unwrap_or_default();
        let needs = needs::of(&self.inside, session, &told);
        let news = needs != told;
        if !needs.is_empty() {
            self.told.insert(session.clone(), needs.clone());
        }
        let session = session.to_string();
        !news || to.send(Notification::Needs { session, needs }).await.is_ok()
    }
}

/// The log itself, page by page, then as it grows.
async fn raw(
    inside: Arc<Inside>,
    session: SessionId,
    from: u64,
    mut notices: Subscription,
    to: mpsc::Sender<Result<String, ApiError>>,
) {
    let mut next = from;
    loop {
        let page = match inside.reader.events(&session, next, PAGE) {
            Ok(page) => page,
            Err(read) => {
                drop(to.send(Err(of_read(&read))).await);
                return;
            }
        };
        for event in &page {
            next = event.seq + 1;
            if to.send(Ok(crate::event_line(event))).await.is_err() {
                return;
            }
        }
        if page.is_empty() {
            loop {
                let notice = tokio::select! {
                    () = to.closed() => return,
                    notice = notices.next() => notice,
                };
                match notice {
                    Notice::Committed(announced) if announced.session != session => {}
                    Notice::Committed(_) | Notice::Resync => break,
                }
            }
        }
    }
}
