//! Services that serve models: the presets, and those the person added.
//!
//! A **service** is a name, a dialect and an address; its key is the vault's. Added ones are kept in the settings; one with
//! a preset's name only changes the preset's address. Invariants: an address is checked before it is kept; what a check
//! found is of this run only; certificates are trusted at the host they were given for, and follow a service to no other.

use crate::certificates::Certificates;
use crate::ports::SystemClock;
use crate::settings::set;
use crate::vault::{KeyState, Vault};
use api::error;
use api::wire::ApiError;
use api::wire::store::{Effort, ModelChoice, Provider, ProviderCheck, ProviderDraft};
use providers::http::ListedModel;
use providers::{Connection, ConnectionError, Preset, Proxy, presets};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use store::{Clock as _, StoreHandle};

const NAME: &str = "providers";
/// Most added services.
const MOST: usize = 100;
/// Windows a model can be said to have, in tokens: less holds no head, more is a slip of the hand.
const WINDOWS: std::ops::RangeInclusive<u64> = 4_096..=100_000_000;

/// A service the person added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Own {
    id: String,
    name: String,
    dialect: String,
    base_url: String,
    models: Vec<String>,
    /// Input plus output tokens of its models, as the person said.
    #[serde(default)]
    context_tokens: Option<u64>,
}

/// What this run found out about a service.
#[derive(Debug, Clone, Default)]
struct Found {
    check: Option<ProviderCheck>,
    models: Vec<ListedModel>,
}

/// All services.
pub(crate) struct Services {
    store: StoreHandle,
    vault: Arc<Vault>,
    /// Addresses given for this run: provider to address.
    addresses: BTreeMap<String, String>,
    certificates: Certificates,
    own: RwLock<Vec<Own>>,
    found: Mutex<HashMap<String, Found>>,
}

impl Services {
    pub(crate) fn new(
        store: StoreHandle,
        vault: Arc<Vault>,
        addresses: BTreeMap<String, String>,
        certificates: Certificates,
    ) -> Result<Self, ApiError> {
        let text = store.setting(NAME).map_err(|read| api::of_read(&read))?;
        let own = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Ok(Self { store, vault, addresses, certificates, own: RwLock::new(own), found: Mutex::default() })
    }

    /// Models that may go on where the chosen one doesn't answer, in the person's order.
    pub(crate) fn instead(&self) -> Vec<domain::event::ModelChoice> {
        let settings = crate::settings::read(&self.store).unwrap_or_else(|error| {
            tracing::warn!(
                code = error.code,
                error = error.message,
                "no other model goes on: the settings can't be read"
            );
            crate::settings::usual()
        });
        let choice = |of: ModelChoice| domain::event::ModelChoice { provider: of.provider, model: of.model };
        settings.instead.into_iter().map(choice).collect()
    }

    /// What the person says that a model costs.
    pub(crate) fn price(&self, provider: &str, model: &str) -> Option<domain::money::Price> {
        crate::settings::price(&self.store, provider, model)
    }

    /// Does it answer only with a key?
    pub(crate) fn needs_key(&self, provider: &str) -> bool {
        let moved = self.addresses.contains_key(provider) || self.own(provider).is_some();
        !moved && Preset::of(provider).is_some_and(|preset| preset.needs_key)
    }

    /// The way to a service, with this key.
    pub(crate) fn connection(
        &self,
        provider: &str,
        key: Option<SecretString>,
    ) -> Result<Connection, ConnectionError> {
        let connection = match (self.addresses.get(provider), self.own(provider)) {
            (None, Some(own)) => Connection::new(&own.id, &own.dialect, &own.base_url, key, Proxy::System)?,
            (address, _) => presets::connect(provider, address.map(String::as_str), key, Proxy::System)?,
        };
        Ok(connection.trusting(self.certificates.of(provider)))
    }

    /// All of them for showing. May block on the keychain.
    pub(crate) fn list(&self) -> Vec<Provider> {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner).clone();
        let presets = presets().iter().map(|preset| {
            let moved = own.iter().find(|own| own.id == preset.name);
            let suggested = preset.models.iter().map(|model| model.name.to_owned()).collect();
            let base_url = moved.map_or(preset.base_url, |own| &own.base_url);
            self.provider(preset.name, preset.title, preset.dialect, base_url, suggested, false)
        });
        let added = own.iter().filter(|own| Preset::of(&own.id).is_none());
        let added = added.map(|own| {
            self.provider(&own.id, &own.name, &own.dialect, &own.base_url, own.models.clone(), true)
        });
        presets.chain(added).collect()
    }

    fn provider(
        &self,
        id: &str,
        name: &str,
        dialect: &str,
        base_url: &str,
        models: Vec<String>,
        custom: bool,
    ) -> Provider {
        let found =
            self.found.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned().unwrap_or_default();
        let listed: Vec<String> = found.models.into_iter().map(|model| model.name).collect();
        let models = if listed.is_empty() { models } else { listed };
        let key = match self.vault.state(id) {
            KeyState::Stored => "stored",
            KeyState::Locked => "locked",
            KeyState::SessionOnly => "session_only",
            KeyState::Missing if self.needs_key(id) => "missing",
            KeyState::Missing => "not_needed",
        };
        Provider {
            id: id.to_owned(),
            name: name.to_owned(),
            dialect: dialect.to_owned(),
            base_url: base_url.to_owned(),
            key: key.to_owned(),
            custom,
            efforts: self.efforts(id, &models),
            context_tokens: self.own(id).and_then(|own| own.context_tokens),
            models,
            certificates: self.certificates.shown(id, SystemClock.now_ms()),
            check: found.check,
        }
    }

    /// How much its models can be asked to think, for those that can.
    fn efforts(&self, id: &str, models: &[String]) -> BTreeMap<String, Vec<Effort>> {
        let Ok(connection) = self.connection(id, None) else { return BTreeMap::new() };
        let of = |model: &String| providers::capabilities(&connection, model, None).abilities.efforts;
        let known = models.iter().map(|model| (model.clone(), of(model)));
        let asked = known.filter(|(_, efforts)| !efforts.is_empty());
        asked.map(|(model, efforts)| (model, efforts.into_iter().map(Into::into).collect())).collect()
    }

    /// Adds or changes a service.
    pub(crate) fn save(&self, draft: ProviderDraft) -> Result<(), ApiError> {
        let mut own = self.own.read().unwrap_or_else(PoisonError::into_inner).clone();
        let id = match draft.id {
            Some(id) => named(&id)?,
            None => self.fresh(&draft.name, &own),
        };
        let name: String = draft.name.trim().chars().take(80).collect();
        if name.is_empty() {
            return Err(unfit("it has no name"));
        }
        if !providers::dialect::WIRES.contains(&draft.dialect.as_str()) {
            return Err(unfit("its dialect isn't one of those known"));
        }
        let new = Connection::new(&id, &draft.dialect, &draft.base_url, None, Proxy::System)
            .map_err(|bad| unfit(bad.to_string()))?;
        let models: Vec<String> = draft
            .models
            .iter()
            .map(|model| model.trim().to_owned())
            .filter(|model| !model.is_empty())
            .collect();
        if models.is_empty() {
            return Err(unfit("it has no model"));
        }
        if draft.context_tokens.is_some_and(|tokens| !WINDOWS.contains(&tokens)) {
            return Err(unfit("its models can't take so many tokens"));
        }
        let service = Own {
            id: id.clone(),
            name,
            dialect: draft.dialect,
            base_url: draft.base_url.trim().to_owned(),
            models,
            context_tokens: draft.context_tokens,
        };
        let before = own.iter().position(|own| own.id == id);
        let known = before.map(|at| own[at].base_url.clone());
        let preset = Preset::of(&id).map(|preset| preset.base_url.to_owned());
        match before {
            Some(at) => own[at] = service,
            None if own.len() >= MOST => return Err(unfit("there are too many already")),
            None => own.push(service),
        }
        if known.or(preset).is_none_or(|before| !at_same_host(&before, &new)) {
            self.certificates.remove(&id)?;
        }
        self.found.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.keep(own)
    }

    /// Removes an added service, its key and its certificates with it: a preset that was moved goes back to its address and
    /// keeps its key, and its certificates where the host stays the same.
    ///
    /// # Errors
    /// `key/left` when the service is gone and the keychain kept the key.
    pub(crate) fn remove(&self, id: &str) -> Result<(), ApiError> {
        let mut own = self.own.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(at) = own.iter().position(|own| own.id == id) else {
            return Err(error(
                "provider/unknown",
                format!("no added service is called {id}"),
                "Look at the list of providers.",
            ));
        };
        let gone = own.remove(at);
        if let Some(preset) = Preset::of(id) {
            let now = Connection::new(id, preset.dialect, preset.base_url, None, Proxy::System);
            if !now.is_ok_and(|now| at_same_host(&gone.base_url, &now)) {
                self.certificates.remove(id)?;
            }
            return self.keep(own);
        }
        self.keep(own)?;
        let untrusted = self.certificates.remove(id);
        self.vault.forget(id).map_err(|why| {
            let message = format!("{id} was removed, but its key is still in the keychain: {why}");
            error(
                "key/left",
                message,
                &format!("Delete the entry {id:?} of Daybook in the system's keychain."),
            )
        })?;
        untrusted
    }

    /// Trusts the certificates of a file for this service, instead of those that were.
    pub(crate) fn set_certificate(&self, id: &str, from: &Path) -> Result<(), ApiError> {
        self.certificates.set(&named(id)?, from, SystemClock.now_ms())?;
        self.check_again(id);
        Ok(())
    }

    /// Trusts a service's own certificates no longer.
    pub(crate) fn remove_certificate(&self, id: &str) -> Result<(), ApiError> {
        self.certificates.remove(&named(id)?)?;
        self.check_again(id);
        Ok(())
    }

    /// What a check found holds no more; the models it listed are still there.
    fn check_again(&self, id: &str) {
        if let Some(found) = self.found.lock().unwrap_or_else(PoisonError::into_inner).get_mut(id) {
            found.check = None;
        }
    }

    /// Is there a service of this name?
    pub(crate) fn knows(&self, id: &str) -> bool {
        Preset::of(id).is_some() || self.own(id).is_some() || self.addresses.contains_key(id)
    }

    /// A model's window in tokens, as the person said, else where its service told it in this run.
    pub(crate) fn window(&self, id: &str, model: &str) -> Option<u64> {
        if let Some(tokens) = self.own(id).and_then(|own| own.context_tokens) {
            return Some(tokens);
        }
        let all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(id)?.models.iter().find(|listed| listed.name == model)?.context_tokens
    }

    /// Keeps what a check found.
    pub(crate) fn found(&self, id: &str, result: Result<Vec<ListedModel>, domain::model::ModelError>) {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.entry(id.to_owned()).or_default();
        found.check = Some(match result {
            Ok(models) => {
                found.models = models;
                ProviderCheck { ok: true, facts: BTreeMap::new() }
            }
            Err(error) => ProviderCheck { ok: false, facts: api::failure_facts(&error) },
        });
    }

    /// An id from a name, unlike all others, and unlike one whose key a keychain kept: nobody gets another's key.
    fn fresh(&self, name: &str, own: &[Own]) -> String {
        let mut base: String =
            name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        base.truncate(40);
        let base = match base.trim_matches('-') {
            "" => "service".to_owned(),
            base => base.to_owned(),
        };
        let taken = |id: &str| {
            Preset::of(id).is_some()
                || own.iter().any(|own| own.id == id)
                || self.vault.is_marked(id)
                || !self.certificates.of(id).is_empty()
        };
        let numbered = (2..).map(|n| format!("{base}-{n}"));
        std::iter::once(base.clone()).chain(numbered).find(|id| !taken(id)).unwrap_or(base)
    }

    fn own(&self, id: &str) -> Option<Own> {
        self.own.read().unwrap_or_else(PoisonError::into_inner).iter().find(|own| own.id == id).cloned()
    }

    fn keep(&self, own: Vec<Own>) -> Result<(), ApiError> {
        let text = serde_json::to_string(&own).map_err(|bad| error("internal", bad.to_string(), ""))?;
        set(&self.store, NAME, text)?;
        *self.own.write().unwrap_or_else(PoisonError::into_inner) = own;
        Ok(())
    }
}

/// Is this address at the host that a connection goes to?
fn at_same_host(address: &str, connection: &Connection) -> bool {
    Connection::new(&connection.provider, &connection.dialect, address, None, Proxy::System)
        .is_ok_and(|other| other.base_url.host() == connection.base_url.host())
}

fn unfit(why: impl std::fmt::Display) -> ApiError {
    error("provider/unfit", format!("this service can't be kept: {why}"), "Correct it and save again.")
}

/// A name as it may stand in logs and in `DAYBOOK_KEY_…`.
fn named(id: &str) -> Result<String, ApiError> {
    let fits = !id.is_empty()
        && id.len() <= 64
        && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if fits {
        Ok(id.to_owned())
    } else {
        Err(unfit("its id may have lower-case letters, digits and hyphens only"))
    }
}
