//! The program `daybook`: the room from a terminal or a script.
//!
//! It comes in through the door of the Daybook that runs, or hosts the engine itself for as long as its work takes.
//! Invariant: standard output holds what was asked for and nothing else; the exit code says how it ended.

mod acp;
mod archive;
mod args;
mod bench;
mod certificate;
mod cut_off;
mod erase;
mod exec;
mod exit;
mod follow;
mod health;
mod looking;
mod money;
mod output;
mod people;
mod serve;
mod signals;
mod undo;
mod way;

use args::{Args, Task};
use clap::Parser as _;
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let filter = tracing_subscriber::EnvFilter::try_from_env("DAYBOOK_LOG");
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(failed) => {
            output::diagnose(&format!("cannot start: {failed}"));
            return Exit::Internal.into();
        }
    };
    let exit = runtime.block_on(run(args)).unwrap_or_else(|failure| {
        output::diagnose(&failure.message);
        if let Some(hint) = &failure.hint {
            output::diagnose(hint);
        }
        failure.exit
    });
    // A thread that still reads a keychain holds nobody up.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    exit.into()
}

async fn run(args: Args) -> Result<Exit, exit::Failure> {
    let data = host::data_folder(args.data_dir.as_deref()).map_err(exit::Failure::usage)?;
    match args.task {
        Task::Exec(task) => exec::exec(data, task).await,
        Task::Resume { session, json } => exec::resume(data, session, json).await,
        Task::Steer { session, text } => people::steer(data, session, text).await,
        Task::Interrupt { session } => people::interrupt(data, session).await,
        Task::Approve { id, digest } => people::approve(data, id, digest).await,
        Task::Deny { id, why } => people::deny(data, id, why).await,
        Task::Answer { id, text } => people::answer(data, id, text).await,
        Task::Sessions { json } => looking::sessions(&data, json).await,
        Task::Show { session, json } => looking::show(&data, session, json).await,
        Task::Log { session, json, from } => looking::log(&data, &session, json, from).await,
        Task::Approvals { json } => looking::approvals(&data, json).await,
        Task::Changes { session, json } => looking::changes(&data, session, json).await,
        Task::Undo { session, turn, call, redo, force } => {
            undo::undo(data, undo::Undo { session, turn, call, redo, force }).await
        }
        Task::UseFolder { session } => undo::use_folder(data, session).await,
        Task::Erase { session, seq, text_from_stdin, everywhere } => {
            erase::erase(data, erase::Erase { session, seq, text_from_stdin, everywhere }).await
        }
        Task::Export { session, folder } => archive::export(&data, &session, &folder),
        Task::Trace { session, content, out } => archive::trace(&data, &session, content, out.as_deref()),
        Task::Import { folder } => archive::import(&data, &folder),
        Task::Certificate(task) => certificate::certificate(&data, task).await,
        Task::Verify { session } => health::verify(&data, session.as_deref()),
        Task::CacheAudit { session, json } => bench::cache_audit(&data, session.as_deref(), json),
        Task::Bench(task) => bench::bench(task).await,
        Task::Acp(acp) => acp::acp(data, acp).await,
        Task::Serve(serve) => serve::serve(data, serve).await,
        Task::Doctor { json } => health::doctor(&data, json),
    }
}
