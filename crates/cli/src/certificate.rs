//! `daybook certificate`: whom a service's server is trusted by, beside those this computer trusts.

use crate::args::Certificate;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::way::{Own, Way};
use api::wire::command::{Command, Reply};
use api::wire::store::ProviderCertificate;
use std::path::Path;

pub(crate) async fn certificate(data: &Path, task: Certificate) -> Result<Exit, Failure> {
    let way = Way::to_work(data, Own::default()).await?;
    let done = asked(&way, &task).await;
    way.close().await;
    let shown = done?;
    for one in &shown {
        match task.json {
            true => output::json(&serde_json::to_value(one).map_err(Failure::internal)?),
            false => output::line(&line(one)),
        }
    }
    if shown.is_empty() {
        output::diagnose("it has no certificate of its own; those this computer trusts are trusted");
    }
    Ok(Exit::Completed)
}

async fn asked(way: &Way, task: &Certificate) -> Result<Vec<ProviderCertificate>, Failure> {
    let provider = &task.provider;
    let reply = match (&task.set, task.remove) {
        (Some(from), _) => way.set_certificate(provider, from).await?,
        (None, true) => way.call(Command::RemoveCertificate { provider: provider.clone() }).await?,
        (None, false) => way.call(Command::Providers).await?,
    };
    let Reply::Providers(all) = reply else { return Err(Failure::internal("the providers can't be read")) };
    let found = all.into_iter().find(|one| one.id == *provider);
    let found = found
        .ok_or_else(|| Failure::usage(format!("there is no provider {provider}; see `daybook doctor`")))?;
    Ok(found.certificates)
}

fn line(one: &ProviderCertificate) -> String {
    let ms = i64::try_from(one.until).unwrap_or(i64::MAX);
    let until = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX).strftime("%Y-%m-%d");
    let word = if one.expired { "expired on" } else { "until" };
    format!("{}, {word} {until}, sha256 {}", one.subject.escape_debug(), one.fingerprint)
}
