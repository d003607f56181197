//! What may be asked of the next host again where nobody knows whether the last one did it.
//!
//! Invariant: whoever adds a command has to say it here.

use api::wire::command::Command;

/// Is it the same done twice as done once? Looking changes nothing, a message has an id that makes it one, and what is set
/// to a value is set to it. What makes something new, answers what is asked once, or is refused the second time isn't.
pub(super) fn is_once(command: &Command) -> bool {
    match command {
        Command::App
        | Command::Sessions
        | Command::Folders
        | Command::OpenSession { .. }
        | Command::Permissions
        | Command::WhatIf { .. }
        | Command::Changes { .. }
        | Command::Diff { .. }
        | Command::PreviewUndo { .. }
        | Command::ThreeWay { .. }
        | Command::ShowMade { .. }
        | Command::RecordOutline { .. }
        | Command::RecordLines { .. }
        | Command::RecordEvent { .. }
        | Command::Moment { .. }
        | Command::Saw { .. }
        | Command::SawBody { .. }
        | Command::Verify { .. }
        | Command::Verification { .. }
        | Command::StopVerify { .. }
        | Command::PreviewErase { .. }
        | Command::Storage
        | Command::Providers
        | Command::CheckProvider { .. }
        | Command::Settings => true,
        Command::Send { .. } | Command::GoOn { .. } | Command::Interrupt { .. } => true,
        Command::UseFolder { .. }
        | Command::UseFullHistory { .. }
        | Command::SetRule { .. }
        | Command::SetMode { .. }
        | Command::SetModel { .. }
        | Command::SetEffort { .. }
        | Command::Rename { .. }
        | Command::SetUndoLimit { .. }
        | Command::ThinNow
        | Command::SetKey { .. }
        | Command::ForgetKey { .. }
        | Command::RemoveCertificate { .. }
        | Command::SaveSettings { .. } => true,
        // Without an id it makes a new one.
        Command::SaveProvider { provider } => provider.id.is_some(),
        // A dialog that was open may have been answered.
        Command::ChooseFolder
        | Command::ChooseReadFolder { .. }
        | Command::RemoveFolder { .. }
        | Command::Summarise { .. }
        | Command::CreateSession { .. }
        | Command::StartTour { .. }
        | Command::RemoveMessage { .. }
        | Command::SendWaiting { .. }
        | Command::StopJob { .. }
        | Command::SettleJob { .. }
        | Command::Approve { .. }
        | Command::Refuse { .. }
        | Command::Answer { .. }
        | Command::Resolve { .. }
        | Command::Revoke { .. }
        | Command::ResetPermissions
        | Command::ResetRules
        | Command::Undo { .. }
        | Command::SaveCopy { .. }
        | Command::ImportSession
        | Command::ChooseCertificate { .. }
        | Command::Erase { .. }
        | Command::RemoveProvider { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::wire::store::ProviderDraft;

    #[test]
    fn a_person_is_not_asked_the_same_twice() {
        let session = "ses_1".to_owned();
        for dialog in [Command::ChooseFolder, Command::ChooseReadFolder { session }, Command::ImportSession] {
            assert!(!is_once(&dialog), "{dialog:?}");
        }
    }

    #[test]
    fn a_new_service_is_made_once_and_a_known_one_is_set() {
        let save = |id: Option<&str>| Command::SaveProvider {
            provider: ProviderDraft {
                id: id.map(str::to_owned),
                name: "ours".to_owned(),
                dialect: "openai-chat".to_owned(),
                base_url: "http://127.0.0.1:1".to_owned(),
                models: Vec::new(),
                context_tokens: None,
            },
        };
        assert!(!is_once(&save(None)));
        assert!(is_once(&save(Some("ours"))));
    }
}
