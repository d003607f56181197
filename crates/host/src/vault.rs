//! The vault: a provider's key, from the environment, from this run, or from the keychain, in this order.
//!
//! A mark in the settings remembers that a key was put into the keychain, because a locked one says "no entry".
//! Invariants: a key is in memory and in the keychain and nowhere else; every key the process has seen is among the
//! needles that are taken out of events, results and messages.

use crate::keychain::{Keychain, KeychainError};
use secrecy::{ExposeSecret as _, SecretString};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::{Edit, StoreHandle};
use tools::redact::Needles;

/// Longest key that is taken.
const KEY_BYTES: usize = 16 * 1024;

/// Where a key came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `DAYBOOK_KEY_…`.
    Environment,
    /// Typed in this run, where no keychain works.
    Session,
    /// The keychain.
    Keychain,
}

impl Source {
    /// As the record names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Session => "session",
            Self::Keychain => "keychain",
        }
    }
}

/// In which state a provider's key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// There is none that we know of.
    Missing,
    /// It can be used.
    Stored,
    /// It was stored, and the keychain doesn't give it now.
    Locked,
    /// It is known for this run only.
    SessionOnly,
}

/// Why a key can't be kept or had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text can't be a key.
    #[error("this can't be a key: {0}")]
    Unfit(&'static str),
    /// The keychain.
    #[error(transparent)]
    Keychain(#[from] KeychainError),
    /// The mark couldn't be written.
    #[error("that a key is stored couldn't be remembered: {0}")]
    Mark(String),
}

/// The vault.
pub struct Vault {
    keychain: Arc<dyn Keychain>,
    store: StoreHandle,
    environment: HashMap<String, SecretString>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    session: HashMap<String, SecretString>,
    stored: HashMap<String, SecretString>,
    /// Every key seen, also those forgotten since: they may stand in what is still on its way.
    seen: Vec<SecretString>,
    needles: Arc<Needles>,
}

impl Vault {
    /// A vault; `environment` maps variable names to keys.
    #[must_use]
    pub fn new(
        keychain: Arc<dyn Keychain>,
        store: StoreHandle,
        environment: HashMap<String, SecretString>,
    ) -> Self {
        let vault = Self { keychain, store, environment, known: Mutex::default() };
        vault.sharpen(&mut vault.lock());
        vault
    }

    /// Values that may stand nowhere.
    #[must_use]
    pub fn needles(&self) -> Arc<Needles> {
        Arc::clone(&self.lock().needles)
    }

    /// The keychain's state now. Blocks.
    ///
    /// # Errors
    /// When there is none.
    pub fn keychain(&self) -> Result<(), KeychainError> {
        self.keychain.status()
    }

    /// A provider's key. May block.
    ///
    /// # Errors
    /// `Locked` when one was stored and the keychain doesn't give it.
    pub fn key(&self, provider: &str) -> Result<Option<(SecretString, Source)>, KeychainError> {
        if let Some(key) = self.environment.get(&providers::presets::key_variable(provider)) {
            return Ok(Some((key.clone(), Source::Environment)));
        }
        let known = {
            let known = self.lock();
            let session = known.session.get(provider).map(|key| (key.clone(), Source::Session));
            session.or_else(|| known.stored.get(provider).map(|key| (key.clone(), Source::Keychain)))
        };
        if known.is_some() {
            return Ok(known);
        }
        match self.keychain.get(provider) {
            Ok(Some(key)) => {
                let mut known = self.lock();
                known.stored.insert(provider.to_owned(), key.clone());
                self.sharpen(&mut known);
                Ok(Some((key, Source::Keychain)))
            }
            Ok(None) if self.is_marked(provider) => Err(KeychainError::Locked(format!(
                "the key of {provider} was stored in it and isn't given out now"
            ))),
            Ok(None) => Ok(None),
            Err(error) if self.is_marked(provider) => Err(error),
            // Nothing was ever stored; that the keychain doesn't work is no news for this provider.
            Err(_) => Ok(None),
        }
    }

    /// In which state it is, without waking a keychain that has nothing to give. May block.
    #[must_use]
    pub fn state(&self, provider: &str) -> KeyState {
        if self.lock().session.contains_key(provider) {
            return KeyState::SessionOnly;
        }
        if self.environment.contains_key(&providers::presets::key_variable(provider)) {
            return KeyState::Stored;
        }
        if !self.is_marked(provider) && !self.lock().stored.contains_key(provider) {
            return KeyState::Missing;
        }
        match self.key(provider) {
            Ok(Some(_)) => KeyState::Stored,
            Ok(None) | Err(_) => KeyState::Locked,
        }
    }

    /// Keeps a key: in the keychain, or for this run only where there is none. May block.
    ///
    /// # Errors
    /// When the text can't be a key, or the keychain is locked.
    pub fn keep(&self, provider: &str, key: SecretString) -> Result<KeyState, KeyError> {
        let key = fit(&key)?;
        let state = match self.keychain.set(provider, &key) {
            Ok(()) => {
                self.mark(provider, true)?;
                KeyState::Stored
            }
            Err(KeychainError::Missing(_)) => KeyState::SessionOnly,
            Err(error) => return Err(error.into()),
        };
        let mut known = self.lock();
        known.session.remove(provider);
        known.stored.remove(provider);
        let place = if state == KeyState::Stored { &mut known.stored } else { &mut known.session };
        place.insert(provider.to_owned(), key);
        self.sharpen(&mut known);
        Ok(state)
    }

    /// Forgets a key, here and in the keychain. May block.
    ///
    /// # Errors
    /// When the keychain doesn't let it go; here it is forgotten all the same.
    pub fn forget(&self, provider: &str) -> Result<(), KeyError> {
        let mut known = self.lock();
        known.session.remove(provider);
        known.stored.remove(provider);
        drop(known);
        if self.is_marked(provider) {
            self.keychain.delete(provider)?;
            self.mark(provider, false)?;
        }
        Ok(())
    }

    /// Was a key of it put into the keychain, and not taken out again?
    pub(crate) fn is_marked(&self, provider: &str) -> bool {
        self.store.setting(&mark_name(provider)).ok().flatten().is_some()
    }

    fn mark(&self, provider: &str, stored: bool) -> Result<(), KeyError> {
        let name = mark_name(provider);
        let edit =
            if stored { Edit::Set { name, value: "keychain".to_owned() } } else { Edit::Unset { name } };
        self.store.edit(edit).map_err(|error| KeyError::Mark(error.to_string()))
    }

    /// Adds what is known now to the needles; what was once known stays.
    fn sharpen(&self, known: &mut Known) {
        let now = self.environment.values().chain(known.session.values()).chain(known.stored.values());
        for key in now.cloned().collect::<Vec<_>>() {
            if !known.seen.iter().any(|seen| seen.expose_secret() == key.expose_secret()) {
                known.seen.push(key);
            }
        }
        known.needles = Arc::new(Needles::new(known.seen.iter().map(|key| key.expose_secret())));
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mark_name(provider: &str) -> String {
    format!("key/{provider}")
}

fn fit(key: &SecretString) -> Result<SecretString, KeyError> {
    let text = key.expose_secret().trim();
    if text.is_empty() {
        return Err(KeyError::Unfit("it is empty"));
    }
    if text.len() > KEY_BYTES {
        return Err(KeyError::Unfit("it is too long"));
    }
    if text.chars().any(|ch| ch.is_control() || !ch.is_ascii()) {
        return Err(KeyError::Unfit("it holds characters that no key has"));
    }
    Ok(SecretString::from(text.to_owned()))
}

/// The keys in the environment: `DAYBOOK_KEY_…`, blank ones left out.
#[must_use]
pub fn environment() -> HashMap<String, SecretString> {
    let ours = std::env::vars().filter(|(name, _)| name.starts_with("DAYBOOK_KEY_"));
    let given = ours.filter(|(_, key)| !key.trim().is_empty());
    given.map(|(name, key)| (name, SecretString::from(key.trim().to_owned()))).collect()
}

#[cfg(test)]
mod tests;
