//! Which models a connection offers, for the settings, and which local servers are running.
//!
//! Invariant: listing never blocks for long and never fails a session: it is asked by a person, and its errors are
//! classified like those of an answer.

use std::time::Duration;

use domain::model::{ErrorClass, ModelError, ModelSnapshot};
use futures_util::future::join_all;
use serde_json::Value;
use tokio::time::timeout;

use super::{Http, bounded_body, client};
use crate::capabilities::capabilities;
use crate::classify;
use crate::dialect::wire_of;
use crate::fold::protocol;
use crate::presets::{Preset, presets};
use crate::{Connection, Proxy};

/// A provider may list thousands of models; more than 8 MB is no list.
const LIST_BYTES: usize = 8 << 20;
const LIST_TIME: Duration = Duration::from_secs(20);
/// A server on this machine answers at once or isn't there.
const LOCAL_TIME: Duration = Duration::from_secs(2);

/// One model of a provider's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// The name to send.
    pub name: String,
    /// The name to show, where the provider has one.
    pub title: Option<String>,
    /// Its window in tokens, where the provider says so.
    pub context_tokens: Option<u64>,
}

impl Http {
    /// The models a connection offers, in the provider's order.
    ///
    /// # Errors
    /// As [`Http::send`]; also `Protocol` when the answer is no list of models.
    pub async fn list_models(&self, connection: &Connection) -> Result<Vec<ListedModel>, ModelError> {
        let listed = timeout(LIST_TIME, self.ask_for_models(connection)).await;
        let result = listed.unwrap_or_else(|_elapsed| {
            Err(ModelError::new(
                ErrorClass::Timeout,
                format!("no list of models within {} s", LIST_TIME.as_secs()),
            ))
        });
        result.map_err(|error| classify::scrub(error, connection.key.as_ref()))
    }

    /// The local servers that answer at their default address, with their models.
    pub async fn discover_local(&self) -> Vec<(&'static Preset, Vec<ListedModel>)> {
        let local = presets().iter().filter(|preset| preset.local);
        let places =
            local.filter_map(|preset| Some((preset, preset.connect(None, None, Proxy::Direct).ok()?)));
        self.answering(places.collect()).await
    }

    /// Those of these places that answer at once with a list of models.
    pub async fn answering<T>(&self, places: Vec<(T, Connection)>) -> Vec<(T, Vec<ListedModel>)> {
        let asked = places.into_iter().map(async |(place, connection)| {
            let listed = timeout(LOCAL_TIME, self.ask_for_models(&connection)).await.ok()?;
            Some((place, listed.ok()?))
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    async fn ask_for_models(&self, connection: &Connection) -> Result<Vec<ListedModel>, ModelError> {
        let snapshot: ModelSnapshot = capabilities(connection, "", None);
        let wire = wire_of(&snapshot).map_err(|e| ModelError::new(ErrorClass::BadRequest, e.to_string()))?;
        let url = connection.models_url();
        let asking = self
            .clients
            .of(connection)?
            .get(url.clone())
            .headers(client::headers(connection, &*wire)?)
            .send();
        let response = asking.await.map_err(|error| client::failure(&error, &url))?;
        if !response.status().is_success() {
            return Err(self.refusal(response, &url).await);
        }
        let status = response.status().as_u16();
        let body = bounded_body(response, LIST_BYTES, &self.timers).await;
        if body.trim_ascii_start().starts_with(b"<") {
            return Err(classify::web_page(status, &url, &body));
        }
        read_list(&body)
    }
}

/// `{"data": [{"id": …}]}`, or a bare list of the same.
fn read_list(body: &[u8]) -> Result<Vec<ListedModel>, ModelError> {
    let json: Value = serde_json::from_slice(body)
        .map_err(|error| protocol(format!("the list of models isn't JSON: {error}")))?;
    let list = json["data"].as_array().or_else(|| json.as_array());
    let list = list.ok_or_else(|| protocol("the provider's answer holds no list of models"))?;
    Ok(list.iter().filter_map(read_model).collect())
}

fn read_model(model: &Value) -> Option<ListedModel> {
    let text = |field: &str| model[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let windows = [
        &model["meta"]["n_ctx"],
        &model["context_length"],
        &model["max_model_len"],
        &model["max_context_length"],
        &model["max_input_tokens"],
    ];
    Some(ListedModel {
        name: text("id")?,
        title: text("display_name").or_else(|| text("name")),
        context_tokens: windows.into_iter().find_map(Value::as_u64).filter(|tokens| *tokens > 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_several_providers_are_read() {
        let names = |body: &str| -> Vec<(String, Option<u64>)> {
            read_list(body.as_bytes()).unwrap().into_iter().map(|m| (m.name, m.context_tokens)).collect()
        };
        let recorded = include_str!("../../tests/transcripts/llama-server/models.response");
        let body = recorded.split_once("\r\n\r\n").unwrap().1;
        assert_eq!(names(body), [("qwen-coder-1.5b".to_owned(), Some(4096))]);
        assert_eq!(
            names(r#"{"data":[{"id":"a","context_length":8},{"id":"b","display_name":"B"},{"no":1}]}"#),
            [("a".to_owned(), Some(8)), ("b".to_owned(), None)]
        );
        assert_eq!(names("[]"), []);
        assert_eq!(read_list(b"{}").unwrap_err().class, ErrorClass::Protocol);
        assert_eq!(read_list(b"<html>").unwrap_err().class, ErrorClass::Protocol);
    }
}
