//! Looking at a store without hosting it: no lock, no engine, no recovery.

use crate::desk::cage;
use crate::folders::shown;
use crate::settings;
use api::wire::ApiError;
use api::wire::copy::{Copied, Imported};
use api::wire::store::{AppInfo, Folder, Provider, ProviderDraft, Settings};
use api::{Asked, Desk, Kept, Room, Ruled, TourStart, error};
use domain::call::Grant;
use domain::ids::{FolderId, GrantId, SessionId};
use engine::show::About;
use futures_util::future::FutureExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{OpenError, Reader};

/// A room for looking only.
///
/// # Errors
/// When there is no store, or it can't be read.
pub fn read(data: &Path) -> Result<Room, OpenError> {
    Ok(Room::reading(Reader::open(data)?, Arc::new(ReadingDesk { data: data.to_owned() })))
}

/// A desk that has nothing but eyes.
struct ReadingDesk {
    data: PathBuf,
}

fn only_reading<'a, T: Send + 'a>() -> Asked<'a, T> {
    async { Err(refused()) }.boxed()
}

fn refused() -> ApiError {
    error("store/reading", "the store is only being read here", "Start Daybook.")
}

impl Desk for ReadingDesk {
    fn app(&self) -> Asked<'_, AppInfo> {
        async {
            let (strength, missing) = cage();
            Ok(AppInfo {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                platform: std::env::consts::OS.to_owned(),
                cage: strength.to_owned(),
                cage_missing: missing,
                keychain: "missing".to_owned(),
                store_problem: None,
            })
        }
        .boxed()
    }

    fn has_cage(&self) -> bool {
        cage().0 != "none"
    }

    fn folders(&self) -> Result<Vec<Folder>, ApiError> {
        Err(refused())
    }

    fn folder(&self, id: &FolderId, root: &str) -> Folder {
        shown(id, Path::new(root), &self.data)
    }

    fn open_folder(&self, _: &FolderId) -> Result<PathBuf, ApiError> {
        Err(refused())
    }

    fn choose_folder(&self) -> Asked<'_, Option<Folder>> {
        only_reading()
    }

    fn tour(&self, _: String) -> Asked<'_, TourStart> {
        only_reading()
    }

    fn show(&self, _: PathBuf) -> Asked<'_, ()> {
        only_reading()
    }

    fn save(&self, _: PathBuf, _: Vec<u8>) -> Asked<'_, ()> {
        only_reading()
    }

    fn export(&self, _: SessionId, _: PathBuf) -> Asked<'_, Copied> {
        only_reading()
    }

    fn import(&self, _: PathBuf) -> Asked<'_, Imported> {
        only_reading()
    }

    fn providers(&self) -> Asked<'_, Vec<Provider>> {
        only_reading()
    }

    fn set_key(&self, _: String, _: String) -> Asked<'_, ()> {
        only_reading()
    }

    fn forget_key(&self, _: String) -> Asked<'_, ()> {
        only_reading()
    }

    fn save_provider(&self, _: ProviderDraft) -> Asked<'_, ()> {
        only_reading()
    }

    fn remove_provider(&self, _: String) -> Asked<'_, ()> {
        only_reading()
    }

    fn set_certificate(&self, _: String, _: PathBuf) -> Asked<'_, ()> {
        only_reading()
    }

    fn remove_certificate(&self, _: String) -> Asked<'_, ()> {
        only_reading()
    }

    fn check_provider(&self, _: String) -> Asked<'_, ()> {
        only_reading()
    }

    fn lasting(&self) -> Result<Kept, ApiError> {
        Err(refused())
    }

    fn reset_lasting(&self) -> Result<(), ApiError> {
        Err(refused())
    }

    fn allow(&self, _: FolderId, _: Grant) -> Result<(), ApiError> {
        Err(refused())
    }

    fn revoke(&self, _: &GrantId) -> Result<bool, ApiError> {
        Err(refused())
    }

    fn rules(&self) -> Result<Vec<Ruled>, ApiError> {
        Err(refused())
    }

    fn set_rule(&self, _: About, _: Option<FolderId>, _: Option<bool>) -> Result<(), ApiError> {
        Err(refused())
    }

    fn reset_rules(&self) -> Result<(), ApiError> {
        Err(refused())
    }

    fn settings(&self) -> Result<Settings, ApiError> {
        Ok(settings::usual())
    }

    fn save_settings(&self, _: Settings) -> Result<(), ApiError> {
        Err(refused())
    }
}
