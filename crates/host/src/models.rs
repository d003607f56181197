//! Models and the way to them: the engine's port over HTTP and over scripts.
//!
//! Scripted models (`scripted` with a script of the person, `tour`) go the same way as real ones, but for the wire.
//! Invariant: a key is looked up when a request goes out, and never before.

use crate::keychain::KeychainError;
use crate::services::Services;
use crate::tour;
use crate::vault::Vault;
use domain::event::ModelChoice;
use domain::model::{ErrorClass, ModelError, ModelSnapshot};
use engine::{ModelRequest, Models, Problem};
use futures_util::future::{BoxFuture, FutureExt as _};
use providers::{
    Connection, ConnectionError, Http, Player, Proxy, Request, SendError, SendResult, Sink, presets, scripted,
};
use secrecy::SecretString;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The name a script goes by.
pub const SCRIPTED: &str = "scripted";

pub(crate) struct Ways {
    pub(crate) services: Arc<Services>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) http: Http,
    /// Players by provider and model; the model is empty where any name will do.
    pub(crate) players: HashMap<(String, String), Player>,
}

impl Ways {
    fn player(&self, provider: &str, model: &str) -> Option<&Player> {
        let exact = self.players.get(&(provider.to_owned(), model.to_owned()));
        exact.or_else(|| self.players.get(&(provider.to_owned(), String::new())))
    }

    /// The key that goes to this provider, looked up off the async threads.
    pub(crate) async fn key(
        &self,
        provider: &str,
    ) -> Result<Option<(SecretString, crate::Source)>, KeychainError> {
        let (vault, provider) = (Arc::clone(&self.vault), provider.to_owned());
        let looked = tokio::task::spawn_blocking(move || vault.key(&provider)).await;
        looked.unwrap_or_else(|gone| Err(KeychainError::Failed(gone.to_string())))
    }
}

impl Models for Ways {
    fn snapshot(&self, choice: &ModelChoice) -> Option<ModelSnapshot> {
        if self.player(&choice.provider, &choice.model).is_some() {
            let connection = nowhere(&choice.provider).ok()?;
            return Some(providers::capabilities(&connection, &choice.model, None));
        }
        let connection = self.services.connection(&choice.provider, None).ok()?;
        let window = self.services.window(&choice.provider, &choice.model);
        let mut snapshot = providers::capabilities(&connection, &choice.model, window);
        snapshot.price = self.services.price(&choice.provider, &choice.model).or(snapshot.price);
        Some(snapshot)
    }

    fn instead(&self) -> Vec<ModelChoice> {
        self.services.instead()
    }

    fn ready<'a>(
        &'a self,
        model: &'a ModelSnapshot,
    ) -> BoxFuture<'a, Result<Option<(String, String)>, Problem>> {
        async move {
            if self.player(&model.provider, &model.model).is_some() {
                return Ok(None);
            }
            match self.key(&model.provider).await {
                Ok(Some((_, source))) => Ok(Some((model.provider.clone(), source.name().to_owned()))),
                Ok(None) if self.services.needs_key(&model.provider) => Err(problem(
                    "key/missing",
                    format!(
                        "there is no key for {}; store one in the settings, or set {}",
                        model.provider,
                        presets::key_variable(&model.provider)
                    ),
                )),
                Ok(None) => Ok(None),
                Err(error) => Err(problem(
                    "keychain/locked",
                    format!("the key for {} can't be had: {error}", model.provider),
                )),
            }
        }
        .boxed()
    }

    fn send<'a>(
        &'a self,
        request: ModelRequest<'a>,
        sink: &'a mut dyn Sink,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, SendResult> {
        async move {
            let ModelRequest { model, body, conversation } = request;
            if let Some(player) = self.player(&model.provider, &model.model) {
                let connection = nowhere(&model.provider).map_err(unusable)?;
                return player
                    .send(Request { connection: &connection, model, body, conversation }, sink, cancel)
                    .await;
            }
            let key = self
                .key(&model.provider)
                .await
                .map_err(|error| failed(ErrorClass::Auth, error.to_string()))?;
            let connection = self.services.connection(&model.provider, key.map(|(key, _)| key));
            let connection = connection.map_err(unusable)?;
            self.http.send(Request { connection: &connection, model, body, conversation }, sink, cancel).await
        }
        .boxed()
    }
}

/// The players there are: the tour's, and the person's own script.
pub(crate) fn players(
    script: Option<providers::Script>,
) -> Result<HashMap<(String, String), Player>, providers::ScriptError> {
    let mut players = HashMap::new();
    for language in tour::LANGUAGES {
        players
            .insert((tour::PROVIDER.to_owned(), language.to_owned()), Player::new(tour::script(language)?));
    }
    if let Some(script) = script {
        players.insert((SCRIPTED.to_owned(), String::new()), Player::new(script));
    }
    Ok(players)
}

/// Scripts don't look at their connection; this one leads nowhere.
fn nowhere(provider: &str) -> Result<Connection, ConnectionError> {
    Connection::new(provider, scripted::NAME, "http://127.0.0.1", None, Proxy::Direct)
}

fn unusable(error: ConnectionError) -> SendError {
    failed(ErrorClass::BadRequest, error.to_string())
}

fn failed(class: ErrorClass, message: String) -> SendError {
    SendError::Failed(ModelError::new(class, message))
}

fn problem(code: &str, message: String) -> Problem {
    Problem { code: code.to_owned(), message }
}
