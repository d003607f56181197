//! `exec` and `resume`: one turn to its end, and going on with what was cut off.

use crate::args::Exec;
use crate::cut_off;
use crate::exit::{Exit, Failure, of_end};
use crate::follow::Follow;
use crate::output;
use crate::way::{Own, Way};
use api::wire::command::{Command, Intent, Mode, Reply};
use api::wire::store::{Effort, ModelChoice, Provider, ProviderDraft};
use api::wire::view::{Activity, ApprovalState, Entry, EntryBody};
use host::DIALECTS;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) async fn exec(data: PathBuf, mut task: Exec) -> Result<Exit, Failure> {
    if task.script.is_some() && task.provider.is_none() {
        task.provider = Some(host::SCRIPTED.to_owned());
    }
    check(&task)?;
    let way = Way::to_work(&data, own(&task)).await?;
    let begun = match begin(&way, &task).await {
        Ok(begun) => begun,
        Err(failure) => {
            way.close().await;
            return Err(failure);
        }
    };
    let done = run(&way, &task, &begun).await;
    cut_off::close(&way, &begun.session, begun.from).await;
    done
}

/// The session that works on the task.
struct Begun {
    session: String,
    /// The number of its next event.
    from: u64,
    /// Does its open turn ask for a yes or an answer?
    asks: bool,
}

fn check(task: &Exec) -> Result<(), Failure> {
    let provider = task.provider.as_deref();
    if provider == Some(host::SCRIPTED) && task.script.is_none() && task.session.is_none() {
        return Err(Failure::usage("the provider `scripted` needs --script FILE"));
    }
    if provider.is_some_and(|name| DIALECTS.contains(&name))
        && task.base_url.is_none()
        && task.session.is_none()
    {
        return Err(Failure::usage("a dialect needs --base-url URL"));
    }
    if task.base_url.is_some() && provider.is_none() {
        return Err(Failure::usage("--base-url needs --provider NAME"));
    }
    if let Some(folder) = task.folder.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!("there is no folder {}", folder.display())));
    }
    if let Some(folder) = task.also_read.iter().find(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!("there is no folder {}", folder.display())));
    }
    if task.task.trim().is_empty() {
        return Err(Failure::usage("say what is to be done"));
    }
    Ok(())
}

fn own(task: &Exec) -> Own {
    let preset = task.provider.as_deref().filter(|name| !DIALECTS.contains(name));
    let addresses = preset.zip(task.base_url.as_ref()).map(|(name, url)| (name.to_owned(), url.clone()));
    Own {
        script: task.script.clone(),
        addresses: addresses.into_iter().collect(),
        attended: task.wait_approvals,
    }
}

async fn begin(way: &Way, task: &Exec) -> Result<Begun, Failure> {
    let model = model(way, task).await?;
    match &task.session {
        Some(session) => continued(way, session, task, model).await,
        None => Ok(Begun { session: created(way, task, model).await?, from: 0, asks: false }),
    }
}

async fn run(way: &Way, task: &Exec, begun: &Begun) -> Result<Exit, Failure> {
    let Begun { session, from, asks } = begun;
    for folder in &task.also_read {
        way.add_folder(session, folder).await?;
    }
    if task.json {
        output::json(&json!({ "session_id": session }));
    }
    let events = way.events(session, *from).await?;
    let words = Command::Send {
        session: session.clone(),
        text: task.task.clone(),
        intent: Intent::Steer,
        command: fresh_command(),
    };
    let Reply::Sent { message, .. } = way.call(words).await? else {
        return Err(Failure::internal("the message wasn't recorded"));
    };
    let mut follow = Follow::new(way, session, task.json);
    follow.message = Some(message);
    follow.wait = task.wait_approvals;
    if *asks && way.is_host() && !task.wait_approvals {
        // The open turn waits for an answer that nobody here gives; the message is read after it.
        follow.finish("waiting");
        return Ok(of_end("waiting"));
    }
    follow.run(events).await
}

async fn continued(
    way: &Way,
    session: &str,
    task: &Exec,
    model: Option<ModelChoice>,
) -> Result<Begun, Failure> {
    let session = session.to_owned();
    let view = Follow::new(way, &session, false).view().await?;
    if let Some(mode) = task.mode.map(Mode::from).filter(|mode| *mode != view.mode) {
        way.call(Command::SetMode { session: session.clone(), mode }).await?;
    }
    set_effort(way, &session, task).await?;
    if let Some(model) = model.filter(|model| Some(model) != view.model.as_ref()) {
        way.call(Command::SetModel { session: session.clone(), model }).await?;
    }
    let open = |entry: &Entry| match &entry.body {
        EntryBody::Approval { approval } => approval.state == ApprovalState::Open,
        EntryBody::Question { question } => question.answer.is_none(),
        _ => false,
    };
    let asks = matches!(view.activity, Activity::NeedsYou { .. }) && view.entries.iter().any(open);
    Ok(Begun { session, from: view.seq + 1, asks })
}

async fn created(way: &Way, task: &Exec, model: Option<ModelChoice>) -> Result<String, Failure> {
    let folder = way.open_folder(task.folder.as_deref().unwrap_or(Path::new("."))).await?;
    let mode = task.mode.map_or(Mode::Ask, Mode::from);
    let wide = task.wide_folder;
    let created = way.call(Command::CreateSession { folder: folder.id, mode, model, wide }).await;
    let goes_on = "Choose a folder for just this work, or give --wide-folder.";
    let asked = |why: Failure| match folder.wide {
        Some(_) if !wide => Failure { hint: Some(goes_on.to_owned()), ..why },
        _ => why,
    };
    match created.map_err(asked)? {
        Reply::Created { session } => {
            set_effort(way, &session, task).await?;
            Ok(session)
        }
        other => Err(Failure::internal(format!("expected a session, got {other:?}"))),
    }
}

async fn set_effort(way: &Way, session: &str, task: &Exec) -> Result<(), Failure> {
    let Some(effort) = task.effort.map(Effort::from) else { return Ok(()) };
    way.call(Command::SetEffort { session: session.to_owned(), effort: Some(effort) }).await.map(drop)
}

/// The model that was asked for; `None` leaves it to the session or the settings.
async fn model(way: &Way, task: &Exec) -> Result<Option<ModelChoice>, Failure> {
    let provider = match (&task.provider, &task.model) {
        (Some(provider), _) => provider.clone(),
        (None, model) => return default_model(way, task, model.clone()).await,
    };
    if provider == host::SCRIPTED {
        let model = task.model.clone().unwrap_or_else(|| "script".to_owned());
        return Ok(Some(ModelChoice { provider, model }));
    }
    if let Some(base_url) = task.base_url.clone().filter(|_| DIALECTS.contains(&provider.as_str())) {
        save_dialect(way, &provider, base_url, task.model.clone()).await?;
    }
    let model = match task.model.clone() {
        Some(model) => model,
        None => first_model(way, &provider).await?,
    };
    Ok(Some(ModelChoice { provider, model }))
}

async fn default_model(
    way: &Way,
    task: &Exec,
    model: Option<String>,
) -> Result<Option<ModelChoice>, Failure> {
    let Reply::Settings(settings) = way.call(Command::Settings).await? else {
        return Err(Failure::internal("the settings can't be read"));
    };
    match (settings.model, model, &task.session) {
        (Some(usual), Some(model), _) => Ok(Some(ModelChoice { model, ..usual })),
        (None, Some(_), _) => Err(Failure::usage("--model needs --provider NAME")),
        (Some(usual), None, None) => Ok(Some(usual)),
        (_, None, Some(_)) => Ok(None),
        (None, None, None) => Err(Failure::usage("no model is chosen; give --provider NAME and --model M")),
    }
}

/// A dialect with an address is a service of that name from now on, so that its sessions can be resumed.
async fn save_dialect(
    way: &Way,
    dialect: &str,
    base_url: String,
    model: Option<String>,
) -> Result<(), Failure> {
    let models = vec![model.unwrap_or_else(|| "default".to_owned())];
    let (id, name, dialect) = (Some(dialect.to_owned()), dialect.to_owned(), dialect.to_owned());
    way.call(Command::SaveProvider {
        provider: ProviderDraft { id, name, dialect, base_url, models, context_tokens: None },
    })
    .await
    .map(drop)
}

/// The first model the provider offers when it is asked; else the first one suggested for it.
async fn first_model(way: &Way, provider: &str) -> Result<String, Failure> {
    let Reply::Providers(known) = way.call(Command::Providers).await? else {
        return Err(Failure::internal("the providers can't be read"));
    };
    let named = |all: &[Provider]| all.iter().find(|one| one.id == provider).cloned();
    let Some(known) = named(&known) else {
        return Err(Failure::usage(format!("there is no provider {provider}; see `daybook doctor`")));
    };
    if let Some(suggested) = known.models.first().filter(|_| !known.custom) {
        return Ok(suggested.clone());
    }
    let asked = way.call(Command::CheckProvider { provider: provider.to_owned() }).await?;
    let Reply::Providers(asked) = asked else { return Err(Failure::internal("the providers can't be read")) };
    let offered = named(&asked).filter(|one| one.check.as_ref().is_some_and(|check| check.ok));
    offered
        .and_then(|one| one.models.into_iter().next())
        .ok_or_else(|| Failure::usage(format!("{provider} doesn't say which models it has; give --model M")))
}

/// An id for one command, so that a repeat is one message.
pub(crate) fn fresh_command() -> String {
    use host::Ids as _;
    format!("cmd_{:032x}", host::SystemIds.next())
}

pub(crate) async fn resume(data: PathBuf, session: String, json: bool) -> Result<Exit, Failure> {
    // What recovery appends is part of what is shown, so the place is looked up before anything is opened.
    let from = match Way::to_look(&data).await? {
        Some(way) => Follow::new(&way, &session, false).view().await?.seq + 1,
        None => return Err(Failure::usage(format!("there is no session {session}"))),
    };
    let way = Way::to_work(&data, Own::default()).await?;
    let done = resumed(&way, &session, from, json).await;
    cut_off::close(&way, &session, from).await;
    done
}

async fn resumed(way: &Way, session: &str, from: u64, json: bool) -> Result<Exit, Failure> {
    if json {
        output::json(&json!({ "session_id": session }));
    }
    rest(way, session, from, json).await
}

/// Follows a session until it rests; one that rests already is done at once.
pub(crate) async fn rest(way: &Way, session: &str, from: u64, json: bool) -> Result<Exit, Failure> {
    let events = way.events(session, from).await?;
    let follow = Follow::new(way, session, json);
    let view = follow.view().await?;
    match view.activity {
        Activity::Idle => follow.rested(events, from, view.seq, "nothing_to_do").await,
        Activity::NeedsYou { .. } if follow.waits().await? => {
            follow.rested(events, from, view.seq, "waiting").await
        }
        Activity::Working { .. }
        | Activity::Summarising { .. }
        | Activity::Held { .. }
        | Activity::Retrying { .. }
        | Activity::NeedsYou { .. }
        | Activity::Stopping => follow.run(events).await,
    }
}
