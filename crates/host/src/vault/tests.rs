//! Keys in every state a keychain can be in.

use super::*;
use crate::certificates::Certificates;
use crate::services::Services;
use api::wire::store::ProviderDraft;
use store::{Options, Store};

/// A keychain in memory that can be locked or taken away.
#[derive(Default)]
struct Toy {
    kept: Mutex<HashMap<String, String>>,
    state: Mutex<Option<KeychainError>>,
}

impl Toy {
    fn be(&self, state: Option<KeychainError>) {
        *self.state.lock().unwrap() = state;
    }
}

impl Keychain for Toy {
    fn status(&self) -> Result<(), KeychainError> {
        match &*self.state.lock().unwrap() {
            Some(KeychainError::Missing(why)) => Err(KeychainError::Missing(why.clone())),
            _ => Ok(()),
        }
    }

    // A locked one says "no entry", as the real one does.
    fn get(&self, name: &str) -> Result<Option<SecretString>, KeychainError> {
        match &*self.state.lock().unwrap() {
            None => Ok(self.kept.lock().unwrap().get(name).cloned().map(SecretString::from)),
            Some(KeychainError::Locked(_)) => Ok(None),
            Some(error) => Err(error.clone()),
        }
    }

    fn set(&self, name: &str, secret: &SecretString) -> Result<(), KeychainError> {
        match &*self.state.lock().unwrap() {
            None => {
                self.kept.lock().unwrap().insert(name.to_owned(), secret.expose_secret().to_owned());
                Ok(())
            }
            Some(error) => Err(error.clone()),
        }
    }

    fn delete(&self, name: &str) -> Result<(), KeychainError> {
        match &*self.state.lock().unwrap() {
            None => {
                self.kept.lock().unwrap().remove(name);
                Ok(())
            }
            Some(error) => Err(error.clone()),
        }
    }
}

struct Rig {
    _folder: tempfile::TempDir,
    store: Store,
    toy: Arc<Toy>,
}

fn rig() -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Options::new(Arc::new(crate::SystemClock))).unwrap();
    Rig { _folder: folder, store, toy: Arc::default() }
}

impl Rig {
    /// A vault as a fresh process has it.
    fn vault(&self) -> Vault {
        Vault::new(Arc::<Toy>::clone(&self.toy), self.store.handle(), HashMap::new())
    }
}

fn key(text: &str) -> SecretString {
    SecretString::from(text.to_owned())
}

fn word(vault: &Vault, provider: &str) -> Option<(String, Source)> {
    vault.key(provider).unwrap().map(|(key, source)| (key.expose_secret().to_owned(), source))
}

#[test]
fn a_key_goes_to_the_keychain_and_comes_back_in_the_next_process() {
    let rig = rig();
    assert_eq!(rig.vault().state("deepseek"), KeyState::Missing);
    assert_eq!(rig.vault().keep("deepseek", key(" sk-one\n")), Ok(KeyState::Stored));
    assert_eq!(word(&rig.vault(), "deepseek"), Some(("sk-one".to_owned(), Source::Keychain)));
    let vault = rig.vault();
    vault.forget("deepseek").unwrap();
    assert_eq!((vault.state("deepseek"), word(&vault, "deepseek")), (KeyState::Missing, None));
}

#[test]
fn no_entry_in_a_locked_keychain_is_not_taken_as_absence() {
    let rig = rig();
    rig.vault().keep("glm", key("sk-two-two")).unwrap();
    rig.toy.be(Some(KeychainError::Locked("locked".to_owned())));
    let vault = rig.vault();
    assert!(matches!(vault.key("glm"), Err(KeychainError::Locked(_))));
    assert_eq!(vault.state("glm"), KeyState::Locked);
    // Nothing was stored for this one, so nothing is locked away.
    assert_eq!((vault.state("kimi"), word(&vault, "kimi")), (KeyState::Missing, None));
    assert!(vault.keep("kimi", key("sk-three")).is_err(), "a locked keychain is not gone around");
    rig.toy.be(None);
    assert_eq!(vault.state("glm"), KeyState::Stored);
}

#[test]
fn without_a_keychain_a_key_is_for_this_run_only() {
    let rig = rig();
    rig.toy.be(Some(KeychainError::Missing("no bus".to_owned())));
    let vault = rig.vault();
    assert_eq!(vault.keep("qwen", key("sk-four-four")), Ok(KeyState::SessionOnly));
    assert_eq!(word(&vault, "qwen"), Some(("sk-four-four".to_owned(), Source::Session)));
    assert_eq!(vault.state("qwen"), KeyState::SessionOnly);
    assert_eq!(rig.vault().state("qwen"), KeyState::Missing);
}

#[test]
fn the_environment_comes_first() {
    let rig = rig();
    rig.vault().keep("openai-chat", key("sk-kept-one")).unwrap();
    let environment = HashMap::from([("DAYBOOK_KEY_OPENAI_CHAT".to_owned(), key("sk-given"))]);
    let vault = Vault::new(Arc::<Toy>::clone(&rig.toy), rig.store.handle(), environment);
    assert_eq!(word(&vault, "openai-chat"), Some(("sk-given".to_owned(), Source::Environment)));
}

#[test]
fn every_key_seen_is_a_needle_also_after_it_was_forgotten() {
    let rig = rig();
    let vault = rig.vault();
    vault.keep("glm", key("sk-canary-1")).unwrap();
    vault.keep("kimi", key("sk-canary-2")).unwrap();
    vault.forget("glm").unwrap();
    vault.keep("kimi", key("sk-canary-3")).unwrap();
    let clean = vault.needles().redact("a sk-canary-1 b sk-canary-2 c sk-canary-3 d");
    assert!(!clean.contains("canary"), "{clean}");
}

#[test]
fn what_can_not_be_a_key_is_refused() {
    let vault_of = rig();
    let vault = vault_of.vault();
    for bad in ["", "  ", "two\nlines", "schlüssel"] {
        assert!(matches!(vault.keep("glm", key(bad)), Err(KeyError::Unfit(_))), "{bad:?}");
    }
}

fn draft(name: &str) -> ProviderDraft {
    ProviderDraft {
        id: None,
        name: name.to_owned(),
        dialect: "openai-chat".to_owned(),
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        models: vec!["m".to_owned()],
        context_tokens: None,
    }
}

fn services(rig: &Rig, vault: &Arc<Vault>) -> Services {
    let certificates = Certificates::open(rig.store.folder());
    Services::new(rig.store.handle(), Arc::clone(vault), Default::default(), certificates).unwrap()
}

#[test]
fn a_service_that_is_removed_takes_its_key_along() {
    let rig = rig();
    let vault = Arc::new(rig.vault());
    let services = services(&rig, &vault);
    services.save(draft("My box")).unwrap();
    vault.keep("my-box", key("sk-mine")).unwrap();
    services.remove("my-box").unwrap();
    assert!(rig.toy.kept.lock().unwrap().is_empty(), "nothing of it is left in the keychain");
    assert_eq!(word(&vault, "my-box"), None);
    // A name that is used again gets nothing of the one before.
    services.save(draft("My box")).unwrap();
    assert_eq!((services.knows("my-box"), word(&vault, "my-box")), (true, None));
}

#[test]
fn a_key_that_the_keychain_keeps_is_said_and_nobody_inherits_it() {
    let rig = rig();
    let vault = Arc::new(rig.vault());
    let services = services(&rig, &vault);
    services.save(draft("My box")).unwrap();
    vault.keep("my-box", key("sk-mine")).unwrap();
    rig.toy.be(Some(KeychainError::Locked("locked".to_owned())));
    let left = services.remove("my-box").unwrap_err();
    assert_eq!((left.code.as_str(), services.knows("my-box")), ("key/left", false));
    assert!(left.hint.unwrap().contains("\"my-box\""), "it says which entry is left");
    rig.toy.be(None);
    services.save(draft("My box")).unwrap();
    assert!(
        services.knows("my-box-2") && !services.knows("my-box"),
        "the name of the kept key is not given again"
    );
    assert_eq!(word(&vault, "my-box-2"), None);
}
