//! The four commands of the page: `call`, `subscribe`, `ack`, `unsubscribe`.
//!
//! Each checks that the one window asked, reads its arguments into the typed wire words of `api`, and passes them on.
//! Invariant: an argument is data for the room behind the door; nothing here opens, runs or fetches what it names.

use crate::app::Shell;
use crate::language::Language;
use crate::{tray, window};
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use serde_json::Value;
use tauri::ipc::Channel;
use tauri::{Manager, State, WebviewWindow};

/// Does one command and answers with its reply.
#[tauri::command]
pub(crate) async fn call(
    window: WebviewWindow,
    shell: State<'_, Shell>,
    command: Value,
) -> Result<Reply, ApiError> {
    only_main(&window)?;
    let room = shell.room().await?;
    match read::<Command>(command)? {
        Command::ChooseFolder => match window::choose_folder(&window).await {
            Some(path) => room.open_folder(path).await.map(|folder| Reply::Folder(Some(folder))),
            None => Ok(Reply::Folder(None)),
        },
        Command::ChooseReadFolder { session } => match window::choose_folder(&window).await {
            Some(path) => room.add_folder(&session, &path).await.map(|()| Reply::Done),
            None => Ok(Reply::Done),
        },
        Command::SaveCopy { session, of } => {
            // Before anybody is asked where to.
            let name = room.copy_name(&session, &of).await?;
            match window::choose_place(&window, name).await {
                Some(path) => {
                    room.save_copy(&session, &of, &path).await.map(|saved| Reply::Copied(Some(saved)))
                }
                None => Ok(Reply::Copied(None)),
            }
        }
        Command::ImportSession => match window::choose_folder(&window).await {
            Some(path) => room.import_session(&path).await.map(|taken| Reply::Imported(Some(taken))),
            None => Ok(Reply::Imported(None)),
        },
        Command::ChooseCertificate { provider } => match window::choose_file(&window).await {
            Some(path) => room.set_certificate(&provider, &path).await,
            None => room.call(Command::Providers).await,
        },
        command => {
            let reply = room.call(command).await?;
            if let Reply::Settings(settings) = &reply {
                tray::speak(window.app_handle(), Language::of_setting(&settings.language));
            }
            Ok(reply)
        }
    }
}

/// Begins a subscription; its notifications arrive in batches on `channel`. Answers with its number.
#[tauri::command]
pub(crate) async fn subscribe(
    window: WebviewWindow,
    shell: State<'_, Shell>,
    topic: Value,
    channel: Channel<Vec<Notification>>,
) -> Result<u64, ApiError> {
    only_main(&window)?;
    let topic = read::<Topic>(topic)?;
    let lists = topic == Topic::Store;
    let source = shell.room().await?.subscribe(topic).await?;
    Ok(shell.subscriptions.begin(source, lists, move |batch| channel.send(batch).is_ok()))
}

/// The page has drawn `batches` more batches of a subscription.
#[tauri::command]
pub(crate) fn ack(
    window: WebviewWindow,
    shell: State<'_, Shell>,
    subscription: u64,
    batches: u32,
) -> Result<(), ApiError> {
    only_main(&window)?;
    shell.subscriptions.acknowledge(subscription, batches);
    Ok(())
}

/// Ends a subscription. Ending one twice is no error.
#[tauri::command]
pub(crate) fn unsubscribe(
    window: WebviewWindow,
    shell: State<'_, Shell>,
    subscription: u64,
) -> Result<(), ApiError> {
    only_main(&window)?;
    shell.subscriptions.end(subscription);
    Ok(())
}

fn only_main(window: &WebviewWindow) -> Result<(), ApiError> {
    if window.label() == window::LABEL {
        return Ok(());
    }
    Err(ApiError {
        code: "window/not_allowed".into(),
        message: format!("the window {:?} may not send commands", window.label()),
        hint: None,
    })
}

/// Reads an argument. What was sent stays out of the message: it may hold a key.
fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ApiError> {
    let name = ["name", "kind"].iter().find_map(|key| value.get(key)?.as_str()).unwrap_or("without a name");
    let name: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || "_ ".contains(*c)).take(40).collect();
    serde_json::from_value(value).map_err(|_| ApiError {
        code: "command/invalid".into(),
        message: format!(
            "cannot read the arguments of {name:?}: they don't have the shape this version expects"
        ),
        hint: Some(
            "Restart Daybook; if it happens again, the page and the app are of different versions.".into(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn arguments_are_read_into_typed_words() {
        assert_eq!(read::<Command>(json!({"name": "app"})).unwrap(), Command::App);
        assert_eq!(read::<Topic>(json!({"kind": "store"})).unwrap(), Topic::Store);
        assert_eq!(
            read::<Topic>(json!({"kind": "session", "session": "ses_1", "from": 7})).unwrap(),
            Topic::Session { session: "ses_1".into(), from: 7 }
        );
    }

    #[test]
    fn a_refused_argument_is_not_repeated_in_the_error() {
        let sent = json!({"name": "set_key", "args": {"provider": 5, "key": "sk-canary"}});
        let error = read::<Command>(sent).unwrap_err();
        assert_eq!(error.code, "command/invalid");
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,20}".prop_map(Value::from),
        ];
        let names = prop_oneof![
            Just("name".to_owned()),
            Just("args".to_owned()),
            Just("__proto__".to_owned()),
            Just("session".to_owned()),
            ".{0,8}",
        ];
        leaf.prop_recursive(4, 64, 8, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((names.clone(), inner), 0..8)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a67_rubbish_from_the_page_is_an_error_and_never_a_panic(value in any_json()) {
            if let Err(error) = read::<Command>(value) {
                prop_assert_eq!(error.code, "command/invalid");
            }
        }
    }
}
