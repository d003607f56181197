//! The desk of this machine: folders, keys, providers, settings, the tour.

use crate::folders::Folders;
use crate::keychain::KeychainError;
use crate::models::Ways;
use crate::services::Services;
use crate::vault::{KeyError, KeyState};
use crate::{keep, permissions, ports, rules, settings, show, tour};
use api::wire::ApiError;
use api::wire::copy::{Copied, Imported};
use api::wire::store::{AppInfo, Folder, Provider, ProviderDraft, Settings};
use api::{Asked, Desk, Kept, Lasting, Ruled, TourStart, error};
use domain::call::Grant;
use domain::event::ModelChoice;
use domain::ids::{FolderId, GrantId, Ids as _, SessionId};
use engine::show::About;
use futures_util::future::FutureExt as _;
use sandbox::Strength;
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::Clock as _;

/// The desk.
pub(crate) struct HostDesk {
    pub(crate) folders: Folders,
    pub(crate) ways: Arc<Ways>,
    pub(crate) services: Arc<Services>,
}

impl HostDesk {
    /// Makes a folder known, aside: one on a slow disk holds up nothing else.
    pub(crate) fn open(&self, path: PathBuf) -> Asked<'_, Folder> {
        let folders = self.folders.clone();
        self.blocking(move |_, _| folders.open(&path, &ports::SystemIds))
    }

    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Ways, &Services) -> Result<T, ApiError> + Send + 'static,
    ) -> Asked<'_, T> {
        let (ways, services) = (Arc::clone(&self.ways), Arc::clone(&self.services));
        async move {
            let done = tokio::task::spawn_blocking(move || work(&ways, &services)).await;
            done.unwrap_or_else(|gone| Err(error("internal", gone.to_string(), "")))
        }
        .boxed()
    }
}

impl Desk for HostDesk {
    fn app(&self) -> Asked<'_, AppInfo> {
        self.blocking(|ways, services| {
            let (strength, missing) = cage();
            Ok(AppInfo {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                platform: std::env::consts::OS.to_owned(),
                cage: strength.to_owned(),
                cage_missing: missing,
                keychain: keychain_word(ways, services).to_owned(),
                // A store with a problem isn't open, and then there is no desk either.
                store_problem: None,
            })
        })
    }

    fn has_cage(&self) -> bool {
        !matches!(sandbox::probe().strength, Strength::None(_))
    }

    fn folders(&self) -> Result<Vec<Folder>, ApiError> {
        self.folders.list()
    }

    fn folder(&self, id: &FolderId, root: &str) -> Folder {
        self.folders.shown(id, Path::new(root))
    }

    fn open_folder(&self, id: &FolderId) -> Result<PathBuf, ApiError> {
        let path = self.folders.path(id)?;
        // Newest first in the list: using it is news.
        self.folders.remember(&path, &ports::SystemIds)?;
        Ok(path)
    }

    fn choose_folder(&self) -> Asked<'_, Option<Folder>> {
        async {
            Err(error("dialog/none", "there is no window to choose a folder in", "Name the folder instead."))
        }
        .boxed()
    }

    fn tour(&self, language: String) -> Asked<'_, TourStart> {
        async move {
            let language = tour::LANGUAGES.into_iter().find(|one| *one == language).ok_or_else(|| {
                error("tour/language", format!("there is no tour in {language:?}"), "Ask for en or zh-CN.")
            })?;
            let name = format!("{:032x}", ports::SystemIds.next());
            let root = tour::lay_out(&self.folders.data, language, &name[20..]).map_err(|io| {
                error("tour/files", format!("the sample project can't be written: {io}"), "Look at the disk.")
            })?;
            let folder = self.folders.remember(&root, &ports::SystemIds)?;
            let model = ModelChoice { provider: tour::PROVIDER.to_owned(), model: language.to_owned() };
            Ok(TourStart { folder, root, model })
        }
        .boxed()
    }

    fn show(&self, path: PathBuf) -> Asked<'_, ()> {
        async move { show::show(&path).await }.boxed()
    }

    fn save(&self, to: PathBuf, bytes: Vec<u8>) -> Asked<'_, ()> {
        self.blocking(move |_, _| keep::save(&to, &bytes, &ports::SystemIds))
    }

    fn export(&self, session: SessionId, to: PathBuf) -> Asked<'_, Copied> {
        let data = self.folders.data.clone();
        self.blocking(move |_, _| keep::take_out(&data, &session, &to))
    }

    fn import(&self, from: PathBuf) -> Asked<'_, Imported> {
        let (store, data) = (self.folders.store.clone(), self.folders.data.clone());
        self.blocking(move |_, _| keep::take_in(&store, &data, &from))
    }

    fn providers(&self) -> Asked<'_, Vec<Provider>> {
        self.blocking(|_, services| Ok(services.list()))
    }

    fn set_key(&self, provider: String, key: String) -> Asked<'_, ()> {
        let key = SecretString::from(key);
        self.blocking(move |ways, services| {
            known(services, &provider)?;
            ways.vault.keep(&provider, key).map(|_: KeyState| ()).map_err(|failed| of_key(&failed))
        })
    }

    fn forget_key(&self, provider: String) -> Asked<'_, ()> {
        self.blocking(move |ways, _| ways.vault.forget(&provider).map_err(|failed| of_key(&failed)))
    }

    fn save_provider(&self, draft: ProviderDraft) -> Asked<'_, ()> {
        self.blocking(move |_, services| services.save(draft))
    }

    fn remove_provider(&self, provider: String) -> Asked<'_, ()> {
        self.blocking(move |_, services| services.remove(&provider))
    }

    fn set_certificate(&self, provider: String, from: PathBuf) -> Asked<'_, ()> {
        self.blocking(move |_, services| {
            known(services, &provider)?;
            services.set_certificate(&provider, &from)
        })
    }

    fn remove_certificate(&self, provider: String) -> Asked<'_, ()> {
        self.blocking(move |_, services| services.remove_certificate(&provider))
    }

    fn check_provider(&self, provider: String) -> Asked<'_, ()> {
        async move {
            known(&self.services, &provider)?;
            let key = self.ways.key(&provider).await.map_err(|failed| of_key(&KeyError::Keychain(failed)))?;
            let connection = self.services.connection(&provider, key.map(|(key, _)| key));
            let connection =
                connection.map_err(|bad| error("provider/unfit", bad.to_string(), "Correct its address."))?;
            let listed = self.ways.http.list_models(&connection).await;
            self.services.found(&provider, listed);
            Ok(())
        }
        .boxed()
    }

    fn lasting(&self) -> Result<Kept, ApiError> {
        let kept = permissions::all(&self.folders.store)?;
        let unreadable = kept.is_unreadable();
        let places = self.folders.places()?;
        let with_place = |one: permissions::Lasting| {
            let permissions::Lasting { id, folder, what, given } = one;
            // Of a folder that is gone or isn't mounted, too: it would hold again when it comes back.
            let root = places.get(&folder).cloned().unwrap_or_default();
            Lasting { id, folder, root, what, given }
        };
        Ok(Kept { lasting: kept.all.into_iter().map(with_place).collect(), unreadable })
    }

    fn allow(&self, folder: FolderId, what: Grant) -> Result<(), ApiError> {
        permissions::give(&self.folders.store, folder, what, ports::SystemClock.now_ms())
    }

    fn revoke(&self, grant: &GrantId) -> Result<bool, ApiError> {
        permissions::revoke(&self.folders.store, grant)
    }

    fn reset_lasting(&self) -> Result<(), ApiError> {
        permissions::reset(&self.folders.store)
    }

    fn rules(&self) -> Result<Vec<Ruled>, ApiError> {
        let kept = rules::all(&self.folders.store)?;
        let places = self.folders.places()?;
        let with_place = |one: rules::Kept| {
            let place = |folder: FolderId| {
                let root = places.get(&folder).cloned().unwrap_or_default();
                (folder, root)
            };
            Ruled { about: one.about, folder: one.folder.map(place), never: one.never, given: one.given }
        };
        Ok(kept.into_iter().map(with_place).collect())
    }

    fn set_rule(&self, about: About, folder: Option<FolderId>, never: Option<bool>) -> Result<(), ApiError> {
        if let Some(folder) = &folder
            && never.is_some()
        {
            self.folders.path(folder)?;
        }
        rules::set(&self.folders.store, about, folder, never, ports::SystemClock.now_ms())
    }

    fn reset_rules(&self) -> Result<(), ApiError> {
        rules::reset(&self.folders.store)
    }

    fn settings(&self) -> Result<Settings, ApiError> {
        settings::read(&self.folders.store)
    }

    fn save_settings(&self, new: Settings) -> Result<(), ApiError> {
        settings::save(&self.folders.store, &new)
    }
}

/// The cage's strength and what it lacks, in words of the wire.
pub(crate) fn cage() -> (&'static str, Vec<String>) {
    match &sandbox::probe().strength {
        Strength::Full => ("full", Vec::new()),
        Strength::Partial(missing) => {
            ("partial", missing.iter().map(|one| one.name().replace(' ', "_")).collect())
        }
        Strength::None(why) => ("none", vec![why.clone()]),
    }
}

/// `ready`, `locked` or `missing`.
pub(crate) fn keychain_word(ways: &Ways, services: &Services) -> &'static str {
    if ways.vault.keychain().is_err() {
        return "missing";
    }
    let locked = services.list().iter().any(|provider| provider.key == "locked");
    if locked { "locked" } else { "ready" }
}

fn known(services: &Services, provider: &str) -> Result<(), ApiError> {
    if services.knows(provider) {
        return Ok(());
    }
    Err(error(
        "provider/unknown",
        format!("there is no provider {provider:?}"),
        "Look at the list of providers.",
    ))
}

fn of_key(failed: &KeyError) -> ApiError {
    let (code, hint) = match failed {
        KeyError::Unfit(_) => ("key/unfit", "Copy the key again."),
        KeyError::Keychain(KeychainError::Locked(_)) => {
            ("keychain/locked", "Unlock the keychain, then try again.")
        }
        KeyError::Keychain(KeychainError::Missing(_)) => {
            ("keychain/missing", "Start the system's keychain, then Daybook again.")
        }
        KeyError::Keychain(KeychainError::Failed(_)) => ("keychain/failed", "Look at the system's keychain."),
        KeyError::Mark(_) => ("store/read_only", "Look at the disk and the data folder."),
    };
    error(code, failed.to_string(), hint)
}
