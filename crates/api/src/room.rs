//! The room: one place where every client's commands are done, whichever door they came through.
//!
//! The dispatcher's arms are one call each. Invariants: a command is recorded before it is answered; ids are checked
//! before anything is looked up; nothing that reads the disk for long holds an async thread.

use crate::desk::Desk;
use crate::erase::Erasing;
use crate::failure::{error, internal, of_command, of_id, of_read};
use crate::permissions::Yes;
use crate::shortcuts::Shortcuts;
use crate::view::words::{to_choice, to_mode, to_past, to_resolution, to_target};
use crate::view::{Fold, Shelf};
use crate::wire::ApiError;
use crate::wire::command::{Command, Mode, Reply};
use crate::wire::store::{AddedFolder, Folder, ModelChoice, Wide};
use crate::wire::undo::UndoOf;
use crate::wire::view::SessionView;
use crate::{changes, lists, made, undo};
use domain::digest::Digest;
use domain::event::{RestoreOf, RestoreScope, SessionCreated};
use domain::ids::{FolderId, SessionId};
use domain::state::Added;
use engine::show::{Reader, SessionRow};
use engine::{Command as Order, Engine, IMPORTED, Recorded};
use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// Folds kept from an opening to the subscription that usually follows.
const KEPT_FOLDS: usize = 8;
/// Events read at once.
const PAGE: usize = 500;

/// The room. Cheap to clone.
#[derive(Clone)]
pub struct Room {
    pub(crate) inside: Arc<Inside>,
}

pub(crate) struct Inside {
    pub(crate) reader: Reader,
    engine: Option<Arc<Engine>>,
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) opened: Shortcuts<Fold>,
    damaged: Mutex<HashSet<SessionId>>,
    pub(crate) record: crate::record::Kept,
}

pub(crate) type Done = Result<Reply, ApiError>;

impl Room {
    /// A room over an engine and a desk.
    #[must_use]
    pub fn new(engine: Arc<Engine>, desk: Arc<dyn Desk>) -> Self {
        let reader = Reader::clone(engine.store());
        Self::over(reader, Some(engine), desk)
    }

    /// A room where nothing can be done and everything can be looked at: no engine runs, nothing is recovered.
    #[must_use]
    pub fn reading(reader: Reader, desk: Arc<dyn Desk>) -> Self {
        Self::over(reader, None, desk)
    }

    fn over(reader: Reader, engine: Option<Arc<Engine>>, desk: Arc<dyn Desk>) -> Self {
        let opened = Shortcuts::new(KEPT_FOLDS);
        let (damaged, record) = Default::default();
        Self { inside: Arc::new(Inside { reader, engine, desk, opened, damaged, record }) }
    }

    /// Does one command.
    ///
    /// # Errors
    /// With a stable code, a message and often a hint; nothing was recorded then.
    pub async fn call(&self, command: Command) -> Done {
        let desk = &self.inside.desk;
        match command {
            Command::App => desk.app().await.map(Reply::App),
            Command::Sessions => self.sessions(),
            Command::Folders => desk.folders().map(Reply::Folders),
            Command::ChooseFolder => desk.choose_folder().await.map(Reply::Folder),
            Command::ChooseReadFolder { session } => self.choose_read_folder(&session).await,
            Command::RemoveFolder { session, folder } => {
                self.order(&session, Order::RemoveFolder(id(&folder)?)).await
            }
            Command::UseFolder { session } => self.use_folder(&session).await,
            Command::Summarise { session } => self.order(&session, Order::Summarise).await,
            Command::UseFullHistory { session } => self.order(&session, Order::UseFullHistory).await,
            Command::CreateSession { folder, mode, model, wide } => {
                self.create(&folder, mode, model, wide).await
            }
            Command::StartTour { language } => self.tour(language).await,
            Command::OpenSession { session } => self.open(&session).await,
            Command::Send { session, text, intent, command } => {
                self.send(
                    &session,
                    Order::Say { text, target: to_target(intent), command: Some(id(&command)?) },
                )
                .await
            }
            Command::GoOn { session, past, text, command } => {
                let (past, command) = (to_past(past), Some(id(&command)?));
                self.send(&session, Order::GoOn { past, text, command }).await
            }
            Command::RemoveMessage { session, message } => {
                self.order(&session, Order::TakeBack(id(&message)?)).await
            }
            Command::SendWaiting { session, message } => {
                self.send(&session, Order::SendNow(id(&message)?)).await
            }
            Command::Interrupt { session } => {
                self.order(&session, Order::Stop(domain::event::CancelBy::User)).await
            }
            Command::StopJob { session, job } => self.order(&session, Order::StopJob(id(&job)?)).await,
            Command::SettleJob { session, job } => self.order(&session, Order::SettleJob(id(&job)?)).await,
            Command::Approve { session, approval, digest, offer, lasting } => {
                let yes = Yes { approval: id(&approval)?, digest: digest_of(&digest)?, offer, lasting };
                self.approve(&session, yes).await
            }
            Command::Permissions => self.permissions().await,
            Command::Revoke { grant, session } => self.revoke(session, &grant).await,
            Command::ResetPermissions => self.reset_permissions().await,
            Command::SetRule { about, folder, word } => self.set_rule(&about, folder, word).await,
            Command::ResetRules => self.reset_rules().await,
            Command::WhatIf { session, what } => self.what_if(&session, what).await,
            Command::Refuse { session, approval, why } => {
                self.order(&session, Order::Refuse { approval: id(&approval)?, why }).await
            }
            Command::Answer { session, question, text } => {
                self.order(&session, Order::Answer { question: id(&question)?, text }).await
            }
            Command::Resolve { session, call, resolution } => {
                self.order(
                    &session,
                    Order::Resolve { call: id(&call)?, resolution: to_resolution(resolution) },
                )
                .await
            }
            Command::SetMode { session, mode } => self.set_mode(&session, mode).await,
            Command::SetModel { session, model } => {
                self.order(&session, Order::SetModel(to_choice(model))).await
            }
            Command::SetEffort { session, effort } => {
                self.order(&session, Order::SetEffort(effort.map(Into::into))).await
            }
            Command::Rename { session, title } => self.order(&session, Order::Rename(title)).await,
            Command::Changes { session } => self.changes(&session).await,
            Command::Diff { session, path, turn, call } => self.diff(&session, path, turn, call).await,
            Command::PreviewUndo { session, of, paths } => self.preview_undo(&session, of, paths).await,
            Command::ThreeWay { session, of, path } => self.three_way(&session, of, path).await,
            Command::Undo { session, of, paths, overwrite, seen } => {
                self.undo(&session, undo::scope(of, paths)?, overwrite, seen).await
            }
            Command::ShowMade { session, made } => self.show_made(&session, made).await,
            Command::SaveCopy { .. } | Command::ImportSession => Self::no_dialog(),
            Command::ChooseCertificate { .. } => Self::no_file_dialog(),
            Command::RecordOutline { session, from } => self.record_outline(&session, from).await,
            Command::RecordLines { session, from, count } => self.record_lines(&session, from, count).await,
            Command::RecordEvent { session, seq } => self.record_event(&session, seq).await,
            Command::Moment { session, seq } => self.moment(&session, seq).await,
            Command::Saw { session, seq } => self.saw(&session, seq).await,
            Command::SawBody { session, seq, from } => self.saw_body(&session, seq, from).await,
            Command::Verify { session } => self.verify(&session),
            Command::Verification { session } => self.verification(&session),
            Command::StopVerify { session } => self.stop_verify(&session),
            Command::PreviewErase { session, place, text } => self.preview_erase(&session, place, text).await,
            Command::Erase { session, place, text, why, everywhere, revoke } => {
                self.erase(&session, place, Erasing { text, why, everywhere, revoke }).await
            }
            Command::Storage => self.storage().await,
            Command::SetUndoLimit { gigabytes } => self.set_undo_limit(gigabytes).await,
            Command::ThinNow => self.thin_now().await,
            Command::Providers => self.providers().await,
            Command::SetKey { provider, key } => self.after(desk.set_key(provider, key).await).await,
            Command::ForgetKey { provider } => self.after(desk.forget_key(provider).await).await,
            Command::SaveProvider { provider } => self.after(desk.save_provider(provider).await).await,
            Command::RemoveProvider { provider } => self.after(desk.remove_provider(provider).await).await,
            Command::RemoveCertificate { provider } => {
                self.after(desk.remove_certificate(provider).await).await
            }
            Command::CheckProvider { provider } => self.after(desk.check_provider(provider).await).await,
            Command::Settings => desk.settings().map(Reply::Settings),
            Command::SaveSettings { settings } => {
                desk.save_settings(settings)?;
                desk.settings().map(Reply::Settings)
            }
        }
    }

    fn sessions(&self) -> Done {
        let rows = self.inside.reader.sessions().map_err(|read| of_read(&read))?;
        Ok(Reply::Sessions(rows.iter().map(|row| self.inside.summary(row)).collect()))
    }

    async fn create(&self, folder: &str, mode: Mode, model: Option<ModelChoice>, wide: bool) -> Done {
        self.inside.fits_cage(mode)?;
        let folder: FolderId = id(folder)?;
        let root = self.inside.desk.open_folder(&folder)?;
        let model = match model {
            Some(model) => Some(model),
            None => self.inside.desk.settings()?.model,
        };
        let Some(root) = root.to_str().map(str::to_owned) else {
            return Err(error(
                "folder/name",
                "the folder's path isn't Unicode text",
                "Rename the folder or move it.",
            ));
        };
        let shown = self.inside.desk.folder(&folder, &root);
        if let Some(why) = shown.wide.filter(|_| !wide) {
            return Err(too_wide(&shown.place, why));
        }
        let created = SessionCreated {
            folder,
            root,
            mode: to_mode(mode),
            model: model.map(to_choice),
            tour: false,
            identity: None,
        };
        self.begin(created).await
    }

    async fn tour(&self, language: String) -> Done {
        let start = self.inside.desk.tour(language).await?;
        let root = start.root.to_string_lossy().into_owned();
        let (mode, model) = (domain::call::Mode::Ask, Some(start.model));
        self.begin(SessionCreated { folder: start.folder, root, mode, model, tour: true, identity: None })
            .await
    }

    async fn begin(&self, created: SessionCreated) -> Done {
        let session = self.inside.engine()?.create(created).await.map_err(|failure| of_command(&failure))?;
        Ok(Reply::Created { session: session.to_string() })
    }

    async fn send(&self, session: &str, order: Order) -> Done {
        let recorded = self.record(session, order).await?;
        match recorded.reply.message {
            Some(message) => Ok(Reply::Sent { message: message.to_string(), seq: recorded.seq }),
            None => Err(internal("a message was recorded without an id")),
        }
    }

    pub(crate) async fn order(&self, session: &str, order: Order) -> Done {
        self.record(session, order).await.map(|_| Reply::Done)
    }

    async fn record(&self, session: &str, order: Order) -> Result<Recorded, ApiError> {
        let session = self.known(session)?;
        self.inside.engine()?.command(&session, order).await.map_err(|failure| of_command(&failure))
    }

    async fn set_mode(&self, session: &str, mode: Mode) -> Done {
        self.inside.fits_cage(mode)?;
        self.order(session, Order::SetMode(to_mode(mode))).await
    }

    async fn open(&self, session: &str) -> Done {
        let session = self.known(session)?;
        let view = self.off_thread(move |inside| inside.open(&session)).await?;
        Ok(Reply::Session(Box::new(view)))
    }

    async fn changes(&self, session: &str) -> Done {
        let session = self.known(session)?;
        let files = self.off_thread(move |inside| changes::changes(&inside.reader, &session)).await?;
        Ok(Reply::Changes(files))
    }

    async fn diff(&self, session: &str, path: String, turn: Option<String>, call: Option<String>) -> Done {
        let session = self.known(session)?;
        let of = match (turn, call) {
            (_, Some(call)) => RestoreOf::Call { call: id(&call)? },
            (Some(turn), None) => RestoreOf::Turn { turn: id(&turn)? },
            (None, None) => RestoreOf::Session,
        };
        let diff = self.off_thread(move |inside| changes::diff(&inside.reader, &session, &path, of)).await?;
        Ok(Reply::Diff(diff))
    }

    async fn preview_undo(&self, session: &str, of: UndoOf, paths: Vec<String>) -> Done {
        let (session, scope) = (self.known(session)?, undo::scope(of, paths)?);
        let preview = self
            .off_thread(move |inside| undo::preview(inside.engine()?, &inside.reader, &session, &scope))
            .await?;
        Ok(Reply::UndoPreview(preview))
    }

    async fn three_way(&self, session: &str, of: UndoOf, path: String) -> Done {
        let (session, scope) = (self.known(session)?, undo::scope(of, vec![path])?);
        let sides = self.off_thread(move |inside| undo::three_way(&inside.reader, &session, &scope)).await?;
        Ok(Reply::ThreeWay(sides))
    }

    async fn undo(
        &self,
        session: &str,
        scope: RestoreScope,
        overwrite: Vec<String>,
        seen: BTreeMap<String, String>,
    ) -> Done {
        let named = seen.into_iter().map(|(path, seen)| Ok((path, digest_of(&seen)?)));
        let seen = named.collect::<Result<_, ApiError>>()?;
        let session = self.known(session)?;
        let restored = self.inside.engine()?.restore_seen(&session, scope, overwrite, &seen).await;
        restored.map(|_| Reply::Done).map_err(|failure| of_command(&failure))
    }

    async fn show_made(&self, session: &str, id: String) -> Done {
        let session = self.known(session)?;
        let path = self.off_thread(move |inside| made::find(&inside.reader, &session, &id)).await?;
        self.inside.desk.show(path).await.map(|()| Reply::Done)
    }

    async fn providers(&self) -> Done {
        self.inside.desk.providers().await.map(Reply::Providers)
    }

    pub(crate) async fn after(&self, done: Result<(), ApiError>) -> Done {
        done?;
        self.providers().await
    }

    pub(crate) async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inside) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let inside = Arc::clone(&self.inside);
        tokio::task::spawn_blocking(move || work(&inside)).await.map_err(internal)?
    }

    pub(crate) fn known(&self, session: &str) -> Result<SessionId, ApiError> {
        let session: SessionId = id(session)?;
        let next = self.inside.reader.next_seq(&session).map_err(|read| of_read(&read))?;
        if next == 0 { Err(unknown_session(&session)) } else { Ok(session) }
    }
}

impl Inside {
    pub(crate) fn engine(&self) -> Result<&Arc<Engine>, ApiError> {
        self.engine
            .as_ref()
            .ok_or_else(|| error("store/reading", "the store is only being read here", "Start Daybook."))
    }

    pub(crate) fn summary(&self, row: &SessionRow) -> crate::wire::store::SessionSummary {
        let damaged = lock(&self.damaged).contains(&row.session);
        lists::summary(row, damaged, self.engine.is_some(), &*self.desk)
    }

    fn open(&self, session: &SessionId) -> Result<SessionView, ApiError> {
        let read = self.opened.age();
        let mut fold = self.fold_to(session, u64::MAX)?;
        // A disk may have come or gone since it was folded.
        fold.look(self, &mut Vec::new());
        let mut view = fold.view().clone();
        if self.engine.is_none() {
            lists::unhosted(&mut view);
        }
        self.opened.keep(session, fold, read);
        Ok(view)
    }

    /// The fold of the events before this sequence number; of all there are where there are fewer.
    pub(crate) fn fold_to(&self, session: &SessionId, to: u64) -> Result<Fold, ApiError> {
        // What was opened before is carried on instead of being read again.
        let kept = self.opened.take(session);
        let imported = self.reader.is_imported(session).map_err(|read| of_read(&read))?;
        // An imported session is only read, and whole; of one that is damaged less may be left.
        let whole = |why: Option<&str>| why.is_none_or(|why| imported && why == IMPORTED);
        let usable = |kept: &Fold| kept.next_seq() <= to && whole(kept.view().read_only.as_deref());
        let mut fold = kept.filter(usable).unwrap_or_else(|| Fold::new(session));
        while fold.next_seq() < to {
            let limit = PAGE.min(usize::try_from(to - fold.next_seq()).unwrap_or(PAGE));
            let page = match self.reader.events(session, fold.next_seq(), limit) {
                Ok(page) => page,
                Err(read) => return self.salvaged(session, &read),
            };
            if page.is_empty() {
                break;
            }
            for recorded in page {
                match recorded.decode() {
                    Ok(event) => drop(fold.event(&event, &Replayed(self))),
                    Err(unknown) => {
                        fold.read_only(unknown.to_string());
                        return Ok(fold);
                    }
                }
            }
        }
        if imported {
            fold.read_only(IMPORTED.to_owned());
        }
        Ok(fold)
    }

    /// A damaged session, as far as it can be read, and only to be read.
    fn salvaged(&self, session: &SessionId, why: &engine::show::ReadError) -> Result<Fold, ApiError> {
        lock(&self.damaged).insert(session.clone());
        let found = self.reader.salvage(session).map_err(|read| of_read(&read))?;
        let mut fold = Fold::new(session);
        for event in found.events.into_iter().filter_map(|recorded| recorded.decode().ok()) {
            fold.event(&event, &Replayed(self));
        }
        fold.read_only(why.to_string());
        Ok(fold)
    }

    /// Auto needs a cage; without one everything is asked, and the mode would promise what isn't so.
    fn fits_cage(&self, mode: Mode) -> Result<(), ApiError> {
        if mode == Mode::Auto && !self.desk.has_cage() {
            let message = "Auto runs commands in a cage, and this machine has none";
            return Err(error("mode/no_cage", message, "Choose Ask first or Edit freely."));
        }
        Ok(())
    }
}

/// What a past event is folded with: nothing is looked for on the disk; who opens the view looks once, at its end.
struct Replayed<'a>(&'a Inside);

impl Shelf for Replayed<'_> {
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.0.blob(digest)
    }

    fn folder(&self, id: &FolderId, root: &str) -> Folder {
        self.0.folder(id, root)
    }

    fn added(&self, id: &FolderId, added: &Added) -> AddedFolder {
        crate::added::unlooked(&*self.0.desk, id, added)
    }
}

impl Shelf for Inside {
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.reader.blob(digest).ok()
    }

    fn folder(&self, id: &FolderId, root: &str) -> Folder {
        self.desk.folder(id, root)
    }

    fn added(&self, id: &FolderId, added: &Added) -> AddedFolder {
        crate::added::shown(&*self.desk, id, added)
    }
}

pub(crate) fn unknown_session(session: &SessionId) -> ApiError {
    error("session/unknown", format!("there is no session {session}"), "Look at the list of sessions.")
}

pub(crate) fn id<T: FromStr<Err = domain::ids::BadId>>(text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|bad| of_id(&bad))
}

pub(crate) fn digest_of(text: &str) -> Result<Digest, ApiError> {
    text.parse().map_err(|bad: domain::digest::BadDigest| {
        error("command/invalid", bad.to_string(), "Give the digest that was shown with the request.")
    })
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nobody said yet that a session may begin in a folder that holds so much.
fn too_wide(place: &str, why: Wide) -> ApiError {
    let what = match why {
        Wide::Home => "is the whole home folder",
        Wide::AboveHome => "holds the whole home folder",
        Wide::Disk => "is a whole disk",
        Wide::OwnData => "holds Daybook's own data",
    };
    let message =
        format!("{place} {what}: everything in it could be read and changed, and undo may not cover it");
    error("folder/wide", message, "Choose a folder for just this work.")
}
