//! The system's keychain: Secret Service, macOS Keychain, Windows Credential Manager.
//!
//! Calls block and may ask the person, so they run off the async threads. Invariant: "no entry" is never taken as proof
//! that there is none (a locked keychain says the same), and a missing keychain is a state, not a crash.

use secrecy::{ExposeSecret as _, SecretString};

/// Whom the entries belong to.
const SERVICE: &str = "Daybook";

/// What a keychain said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeychainError {
    /// There is none on this machine, or none is running.
    #[error("there is no keychain here: {0}")]
    Missing(String),
    /// It is locked, or doesn't let us in.
    #[error("the keychain is locked: {0}")]
    Locked(String),
    /// Something else.
    #[error("the keychain failed: {0}")]
    Failed(String),
}

/// Keeps secrets by name. Every call may block.
pub trait Keychain: Send + Sync {
    /// Is there one?
    ///
    /// # Errors
    /// When there is none, or it can't be reached.
    fn status(&self) -> Result<(), KeychainError>;

    /// The secret of this name; `None` when nothing was found, which proves nothing.
    ///
    /// # Errors
    /// When it can't be asked.
    fn get(&self, name: &str) -> Result<Option<SecretString>, KeychainError>;

    /// Keeps a secret.
    ///
    /// # Errors
    /// When it can't be kept.
    fn set(&self, name: &str, secret: &SecretString) -> Result<(), KeychainError>;

    /// Removes a secret; one that isn't there is no error.
    ///
    /// # Errors
    /// When it can't be removed.
    fn delete(&self, name: &str) -> Result<(), KeychainError>;
}

/// The system's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemKeychain;

impl Keychain for SystemKeychain {
    fn status(&self) -> Result<(), KeychainError> {
        aside(|| {
            let status = keyring::Entry::store_status().as_ref().copied();
            status.map_err(|error| KeychainError::Missing(error.to_string()))
        })
    }

    fn get(&self, name: &str) -> Result<Option<SecretString>, KeychainError> {
        aside(|| match entry(name)?.get_password() {
            Ok(secret) => Ok(Some(SecretString::from(secret))),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(failure(&error)),
        })
    }

    fn set(&self, name: &str, secret: &SecretString) -> Result<(), KeychainError> {
        aside(|| entry(name)?.set_password(secret.expose_secret()).map_err(|error| failure(&error)))
    }

    fn delete(&self, name: &str) -> Result<(), KeychainError> {
        aside(|| match entry(name)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(failure(&error)),
        })
    }
}

/// None: for whoever must not touch the person's.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKeychain;

impl Keychain for NoKeychain {
    fn status(&self) -> Result<(), KeychainError> {
        Err(KeychainError::Missing("none is to be used".to_owned()))
    }

    fn get(&self, _: &str) -> Result<Option<SecretString>, KeychainError> {
        self.status().map(|()| None)
    }

    fn set(&self, _: &str, _: &SecretString) -> Result<(), KeychainError> {
        self.status()
    }

    fn delete(&self, _: &str) -> Result<(), KeychainError> {
        self.status()
    }
}

/// Asks on a thread of its own: the library waits on a runtime of its own, which it can't on a thread that drives ours.
fn aside<T: Send>(ask: impl FnOnce() -> Result<T, KeychainError> + Send) -> Result<T, KeychainError> {
    let broken = || KeychainError::Failed("asking it broke off".to_owned());
    std::thread::scope(|scope| {
        let asked = std::thread::Builder::new().name("keychain".into()).spawn_scoped(scope, ask);
        asked
            .map_err(|error| KeychainError::Failed(error.to_string()))?
            .join()
            .unwrap_or_else(|_| Err(broken()))
    })
}

fn entry(name: &str) -> Result<keyring::Entry, KeychainError> {
    keyring::Entry::new(SERVICE, name).map_err(|error| failure(&error))
}

/// What was found stays out of the words: some errors carry it.
fn failure(error: &keyring::Error) -> KeychainError {
    match error {
        keyring::Error::NoDefaultStore => KeychainError::Missing("none could be reached".to_owned()),
        keyring::Error::NoStorageAccess(why) => KeychainError::Locked(why.to_string()),
        keyring::Error::PlatformFailure(why) => KeychainError::Failed(why.to_string()),
        keyring::Error::BadEncoding(_) | keyring::Error::BadDataFormat(..) => {
            KeychainError::Failed("the entry doesn't hold a key as text".to_owned())
        }
        keyring::Error::Ambiguous(_) => {
            KeychainError::Failed("there is more than one entry of this name".to_owned())
        }
        other => KeychainError::Failed(other.to_string()),
    }
}
