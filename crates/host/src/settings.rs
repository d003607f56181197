//! Settings of the app, as one text in the store.
//!
//! Invariant: words outside their closed sets are refused when saved and replaced by the usual ones when read.

use api::error;
use api::wire::ApiError;
use api::wire::command::Mode;
use api::wire::store::Settings;
use store::{Edit, StoreHandle};

const NAME: &str = "settings";

/// What holds until something is set.
#[must_use]
pub fn usual() -> Settings {
    Settings {
        language: "system".to_owned(),
        theme: "system".to_owned(),
        text_size: "normal".to_owned(),
        mode: Mode::Ask,
        model: None,
        instead: Vec::new(),
        close: "hide".to_owned(),
    }
}

pub(crate) fn read(store: &StoreHandle) -> Result<Settings, ApiError> {
    let text = store.setting(NAME).map_err(|read| api::of_read(&read))?;
    let kept = text.and_then(|text| serde_json::from_str(&text).ok());
    Ok(kept.filter(|settings| unknown(settings).is_none()).unwrap_or_else(usual))
}

pub(crate) fn save(store: &StoreHandle, settings: &Settings) -> Result<(), ApiError> {
    if let Some((name, word)) = unknown(settings) {
        return Err(error(
            "settings/unknown",
            format!("`{word}` is no choice for {name}"),
            "Choose one of those offered.",
        ));
    }
    let value = serde_json::to_string(settings).map_err(|bad| error("internal", bad.to_string(), ""))?;
    set(store, NAME, value)
}

pub(crate) fn set(store: &StoreHandle, name: &str, value: String) -> Result<(), ApiError> {
    store.edit(Edit::Set { name: name.to_owned(), value }).map_err(|failed| unsaved(&failed))
}

pub(crate) fn unsaved(failed: &store::AppendError) -> ApiError {
    error(
        "store/read_only",
        format!("it couldn't be saved: {failed}"),
        "Look at the disk and the data folder.",
    )
}

/// The first word outside its set.
fn unknown(settings: &Settings) -> Option<(&'static str, String)> {
    let sets: [(&'static str, &String, &[&str]); 4] = [
        ("language", &settings.language, &["system", "en", "zh-CN"]),
        ("theme", &settings.theme, &["system", "light", "dark"]),
        ("text_size", &settings.text_size, &["small", "normal", "large"]),
        ("close", &settings.close, &["hide", "quit"]),
    ];
    let bad = sets.into_iter().find(|(_, word, set)| !set.contains(&word.as_str()));
    bad.map(|(name, word, _)| (name, word.chars().take(40).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_outside_their_set_are_named() {
        assert_eq!(unknown(&usual()), None);
        let odd = Settings { theme: "<script>".to_owned(), ..usual() };
        assert_eq!(unknown(&odd), Some(("theme", "<script>".to_owned())));
    }
}
