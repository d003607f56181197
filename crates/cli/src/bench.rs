//! `bench` and `cache-audit`: what Daybook costs, and how well its requests can be cached.

use crate::args::Bench;
use crate::exit::{Exit, Failure};
use crate::output;
use ::bench::audit::{AuditError, Line, audit, goals};
use serde_json::json;
use std::path::Path;

/// Measures in temporary folders, row by row; the exit code tells of gates alone.
pub(crate) async fn bench(task: Bench) -> Result<Exit, Failure> {
    let known: Vec<&str> = ::bench::names().collect();
    if let Some(unknown) = task.only.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::usage(format!("there is no goal {unknown}; there are {}", known.join(", "))));
    }
    if !cfg!(target_os = "linux") {
        output::diagnose("what only Linux tells of a process is left out here");
    }
    let program = std::env::current_exe().map_err(Failure::internal)?;
    let options = ::bench::Options { only: task.only, quick: task.quick, long: task.long, program };
    let (json, runtime) = (task.json, tokio::runtime::Handle::current());
    let measuring = tokio::task::spawn_blocking(move || {
        if !json {
            output::line(::bench::HEADER);
        }
        ::bench::run(&options, runtime, &mut |row| match json {
            true => output::json(&row.json()),
            false => output::line(&row.line()),
        })
    });
    let rows = measuring.await.map_err(Failure::internal)?;
    Ok(if rows.iter().any(::bench::Row::fails) { Exit::Failed } else { Exit::Completed })
}

/// Audits what a store recorded; a request that can't be put together again is store trouble.
pub(crate) fn cache_audit(data: &Path, session: Option<&str>, json: bool) -> Result<Exit, Failure> {
    if session.is_none() && !data.join("store.db").exists() {
        output::line("nothing was recorded yet");
        return Ok(Exit::Completed);
    }
    let lines = audit(data, session).map_err(|why| Failure {
        exit: match why {
            AuditError::Id(_) | AuditError::Unknown(_) => Exit::Usage,
            AuditError::Open(_) | AuditError::Read(_) | AuditError::Decode(_) => Exit::Store,
        },
        message: why.to_string(),
        hint: None,
    })?;
    let goals = goals(&lines);
    if json {
        lines.iter().for_each(|line| output::json(&line.json()));
        let of = |share: f64| share.is_finite().then_some((share * 1e6).round() / 1e6);
        output::json(&json!({"goals": {
            "attempts": goals.attempts, "exact": goals.exact, "pairs": goals.pairs, "grown": goals.grown,
            "share": of(goals.share), "ideal": of(goals.ideal), "epochs": goals.epochs,
            "realised": of(goals.realised), "unexplained": goals.unexplained,
            "retries": goals.retries, "same": goals.same,
        }}));
    } else {
        table(&lines);
        let share =
            |share: f64| if share.is_finite() { format!("{:.1} %", share * 100.0) } else { "–".into() };
        output::line(&format!(
            "{} of {} requests begin with all of the one before; {} shared, {} read from the provider's cache",
            goals.grown,
            goals.pairs,
            share(goals.share),
            share(goals.realised)
        ));
    }
    Ok(if goals.exact == goals.attempts && goals.only_grow() { Exit::Completed } else { Exit::Store })
}

fn table(lines: &[Line]) {
    let mut session = "";
    for line in lines {
        if session != line.session {
            session = &line.session;
            output::line(session);
            output::line(
                "    i     bytes       LCP   share epoch   gap s blocks    read   write uncached  class",
            );
        }
        let epoch = line.epoch.map_or("–".to_owned(), |epoch| epoch.to_string());
        let gap = line.gap_ms.map_or("–".to_owned(), |ms| format!("{:.1}", ms as f64 / 1e3));
        let usage = |of: fn(&::bench::audit::Usage) -> u64| {
            line.usage.as_ref().map_or("–".to_owned(), |usage| of(usage).to_string())
        };
        let (read, write, input) = (usage(|u| u.cache_read), usage(|u| u.cache_write), usage(|u| u.input));
        let mut word = line.class.word().to_owned();
        if line.retry {
            word += ", the same once more";
        }
        if let Some(why) = line.opened {
            word += &format!(", opened by {why:?}");
        }
        output::line(&format!(
            "{:>5} {:>9} {:>9} {:>6.1}% {epoch:>5} {gap:>7} {:>6} {read:>7} {write:>7} {input:>8}  {word}",
            line.i,
            line.bytes,
            line.lcp,
            line.share() * 100.0,
            line.blocks
        ));
    }
}
