//! Erasing what a person pasted: afterwards it is in no byte of the data folder, and everything else still holds.

use crate::play::{Play, read, run, script, text, write};
use domain::erasure::MARK;
use domain::event::{CancelBy, EpochReason, ErasedWhy, Fact, Recorded, RestoreOf, RestoreScope, Target};
use engine::{Command, CommandFailure, Erase, Erased, Reach};
use std::path::Path;
use store::{BlobError, Gone, Point, Reader};
use tests::{Answers, DieAt, Rig};

/// Made up for these tests; nothing in the world is opened by it.
pub(crate) const CANARY: &str = "kanarie-\"7f3e\"-zingt";

/// The forms in which it may stand somewhere: as it is, and inside JSON once, twice and three times.
fn forms() -> Vec<String> {
    let mut forms = vec![CANARY.to_owned()];
    for _ in 0..3 {
        let json = serde_json::json!(forms.last()).to_string();
        forms.push(json[1..json.len() - 1].to_owned());
    }
    forms
}

/// Files below the folder that hold it in any form.
pub(crate) fn holding(folder: &Path) -> Vec<String> {
    let forms = forms();
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap_or_default();
            let holds = |form: &String| bytes.windows(form.len()).any(|window| window == form.as_bytes());
            if forms.iter().any(holds) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn quoted(words: &str) -> String {
    let json = serde_json::json!(words).to_string();
    json[1..json.len() - 1].to_owned()
}

/// A turn that has it in the person's words, in the answer, in a call and its result, in a file that was read and written.
pub(crate) async fn planted() -> Play {
    let says = quoted(&format!("I see {CANARY} there."));
    let rig = Rig::new(&script(&[
        &read("keys.txt"),
        &write("copy.txt", &format!("key = {CANARY}\n")),
        &run(&quoted(&format!("echo {CANARY}"))),
        &text(&says),
        &text("Something else."),
        &text("And again."),
    ]));
    std::fs::write(rig.folder().join("keys.txt"), format!("# mine\nkey = {CANARY}\n")).expect("writes");
    let play = Play::on(rig).await;
    play.through(&format!("Use {CANARY} for it.")).await;
    play.through("Something else.").await;
    play
}

pub(crate) fn seq_of(play: &Play, kind: &str) -> u64 {
    play.rig.log(&play.session).into_iter().find(|event| event.kind == kind).expect("it is there").seq
}

pub(crate) fn exact(chosen: u64) -> Erase {
    Erase { chosen, text: Some(CANARY.to_owned()), why: ErasedWhy::Secret, reach: Reach::Session }
}

async fn erased(play: &Play) -> Erased {
    let chosen = seq_of(play, "user/message");
    play.process.engine.erase(&play.session, exact(chosen)).await.expect("it is erased")
}

fn verdict(play: &Play) -> engine::verify::Verdict {
    let store = play.process.engine.store();
    engine::verify::verify(store, &play.session, store.epoch()).expect("readable")
}

/// The log is whole, and says what was erased instead of "damaged".
pub(crate) fn sound(play: &Play) {
    play.clean();
    let verdict = verdict(play);
    assert!(verdict.erased_events >= 8, "{verdict:?}");
    assert!(verdict.erased_requests >= 4, "{verdict:?}");
    play.process.engine.store().verify_chain(&play.session).expect("the chain holds");
}

#[tokio::test(start_paused = true)]
async fn erased_words_are_in_no_byte_of_the_data_folder() {
    let play = planted().await;
    assert!(!holding(play.rig.data()).is_empty(), "it was planted");
    let done = erased(&play).await;
    assert!(done.events >= 8 && done.blobs >= 4 && done.unfinished.is_none(), "{done:?}");
    assert_eq!(holding(play.rig.data()), Vec::<String>::new(), "while it runs");
    sound(&play);
    let Play { rig, process, session } = play;
    drop(process);
    assert_eq!(holding(rig.data()), Vec::<String>::new(), "after it was closed");
    let process = std::sync::Arc::new(rig.start(DieAt::never()));
    let play = Play { rig, process, session };
    sound(&play);
    // The folder is the person's: nothing in it was touched.
    assert!(play.rig.file("keys.txt").contains(CANARY) && play.rig.file("copy.txt").contains(CANARY));
}

#[tokio::test(start_paused = true)]
async fn what_the_model_reads_from_then_on_stands_in_the_log_with_a_mark() {
    let play = planted().await;
    let done = erased(&play).await;
    let row = play.process.engine.store().session(&play.session).expect("readable").expect("listed");
    assert_eq!(row.title, format!("Use {MARK} for it."));
    play.through("Go on.").await;
    let heard = play.heard();
    assert!(heard.contains(&format!("Use {MARK} for it.")), "{heard:#?}");
    let request = play.requests().last().expect("one was sent").to_string();
    assert!(forms().iter().all(|form| !request.contains(form)), "{request}");
    let opened = play.facts().into_iter().rev().find_map(|fact| match fact {
        Fact::RequestPrepared(prepared) => prepared.opened,
        _ => None,
    });
    assert_eq!(opened, Some(EpochReason::Erased));
    let record = play.facts().into_iter().find_map(|fact| match fact {
        Fact::RecordErased(record) => Some(record),
        _ => None,
    });
    let record = record.expect("it is on record");
    assert_eq!((record.events.len() as u64, record.why), (done.events, ErasedWhy::Secret));
    // Requests after it rebuild to the byte.
    let before = verdict(&play);
    play.through("And on.").await;
    let after = verdict(&play);
    assert_eq!(after.erased_requests, before.erased_requests);
    assert_eq!(after.encoded_again, before.encoded_again + 1);
}

/// An erasure takes nothing of an event but its payload, and only where the record says so.
#[tokio::test(start_paused = true)]
async fn r_log_02_an_erasure_changes_no_event_but_for_the_payloads_it_names() {
    let play = planted().await;
    let before = play.rig.log(&play.session);
    erased(&play).await;
    let after = play.rig.log(&play.session);
    let named: Vec<u64> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::RecordErased(record) => Some(record.events),
            _ => None,
        })
        .flatten()
        .map(|event| event.seq)
        .collect();
    assert_eq!(after.len(), before.len() + 1, "one event more");
    for (was, is) in before.iter().zip(&after) {
        assert_eq!(was.payload == is.payload, !named.contains(&was.seq), "{}", was.seq);
        assert_eq!(was.payload.digest(), is.payload.digest(), "{}", was.seq);
        assert_eq!(Recorded { payload: was.payload.clone(), ..is.clone() }, *was);
    }
}

#[tokio::test(start_paused = true)]
async fn a_whole_message_goes_with_the_name_that_was_made_of_it() {
    let play = Play::of(&script(&[&text("Fine."), &text("Fine.")])).await;
    let long = format!(
        "Here is what I never meant to paste, with {CANARY} in it and much more than fits into a name."
    );
    play.through(&long).await;
    let chosen = seq_of(&play, "user/message");
    let whole = Erase { chosen, text: None, why: ErasedWhy::Private, reach: Reach::Session };
    let found = play.process.engine.erasable(&play.session, &whole).expect("it can be");
    assert_eq!(found.says, long);
    let kinds: Vec<&str> = found.places.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds, ["inbox/posted", "session/renamed", "user/message", "assistant/delta"]);
    play.process.engine.erase(&play.session, whole).await.expect("it is erased");
    assert_eq!(holding(play.rig.data()), Vec::<String>::new());
    let title = play.state().session.expect("there").title;
    assert_eq!(title, format!("{MARK}…"));
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn erasing_is_refused_with_its_reason_and_changes_nothing() {
    let play = planted().await;
    let before = play.rig.log(&play.session);
    for (text, code) in [
        ("nowhere to be seen", "erase/nothing"),
        ("abc", "erase/short"),
        ("erased by", "erase/mark"),
        ("next_turn", "erase/nothing"),
        ("allow", "erase/needed"),
    ] {
        let erase =
            Erase { chosen: 1, text: Some(text.into()), why: ErasedWhy::Other, reach: Reach::Session };
        let refused = play.process.engine.erase(&play.session, erase).await;
        let Err(CommandFailure::Refused(error)) = refused else { panic!("{text}: {refused:?}") };
        assert_eq!(error.code, code, "{text}: {error}");
    }
    let unknown = play.process.engine.erase(&play.session, exact(9_999)).await;
    assert!(matches!(unknown, Err(CommandFailure::Refused(error)) if error.code == "erase/unknown"));
    assert_eq!(play.rig.log(&play.session), before);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_erased_while_a_turn_runs_or_waits() {
    let play = Play::of(&script(&[&write("a.txt", CANARY), &text("Done.")])).await;
    play.say(&format!("Use {CANARY}.")).await;
    play.until(crate::play::asks).await;
    let refused = play.process.engine.erase(&play.session, exact(1)).await;
    assert!(matches!(refused, Err(CommandFailure::Refused(error)) if error.code == "erase/busy"));
    play.rest(&Answers::default()).await;
    erased(&play).await;
    assert_eq!(holding(play.rig.data()), Vec::<String>::new());
}

/// A message that waits is erased like one that was read, and then waits with the mark.
#[tokio::test(start_paused = true)]
async fn words_that_wait_to_be_read_go_as_well() {
    let play = Play::of(&script(&[&write("a.txt", "x"), &text("Done."), &text("Fine.")])).await;
    play.say("Write it.").await;
    play.until(crate::play::asks).await;
    play.say_for(&format!("Then use {CANARY}."), Target::NextTurn).await;
    play.tell(Command::Stop(CancelBy::User)).await;
    play.until(|state| state.turn.is_none()).await;
    let waiting = |play: &Play| play.state().inbox.into_iter().map(|one| one.text).collect::<Vec<_>>();
    assert_eq!(waiting(&play), [format!("Then use {CANARY}.")]);
    let log = play.rig.log(&play.session);
    let chosen = log.iter().rev().find(|event| event.kind == "inbox/posted").expect("it waits").seq;
    let whole = Erase { chosen, text: None, why: ErasedWhy::Secret, reach: Reach::Session };
    play.process.engine.erase(&play.session, whole).await.expect("it is erased");
    assert_eq!(waiting(&play), [MARK]);
    assert_eq!(holding(play.rig.data()), Vec::<String>::new());
    play.clean();
}

/// What a call was asked to do can be chosen like what came of it.
#[tokio::test(start_paused = true)]
async fn words_that_stand_only_in_what_a_call_was_asked_go() {
    let play = Play::of(&script(&[&run(&quoted(&format!("echo {CANARY}"))), &text("Done.")])).await;
    play.through("Run it.").await;
    let says = play.facts().into_iter().find_map(|fact| match fact {
        Fact::ToolResult(result) => Some(result.text),
        _ => None,
    });
    assert!(!says.expect("it ran").contains("kanarie"), "its result doesn't say it");
    let chosen = seq_of(&play, "tool/call");
    let whole = Erase { chosen, text: None, why: ErasedWhy::Secret, reach: Reach::Session };
    let found = play.process.engine.erasable(&play.session, &whole).expect("it can be");
    assert_eq!(found.says, format!("echo {CANARY}"));
    play.process.engine.erase(&play.session, exact(chosen)).await.expect("it is erased");
    assert_eq!(holding(play.rig.data()), Vec::<String>::new());
    let left = play.process.engine.erasable(&play.session, &whole).expect("it can be").says;
    assert_eq!(left, format!("echo {MARK}"));
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn an_erasure_that_was_killed_is_finished_or_never_began() {
    for point in [Point::BeforeBegin, Point::BeforeCommit, Point::AfterCommit] {
        let play = planted().await;
        let chosen = seq_of(&play, "user/message");
        let Play { rig, process, session } = play;
        drop(process);
        let process = rig.start(DieAt::append(0, point));
        let died = process.engine.erase(&session, exact(chosen)).await;
        assert!(died.is_err(), "{point:?}");
        drop(process);
        let process = std::sync::Arc::new(rig.start(DieAt::never()));
        let play = Play { rig, process, session };
        match point {
            Point::AfterCommit => {
                assert_eq!(holding(play.rig.data()), Vec::<String>::new());
                sound(&play);
            }
            Point::BeforeBegin | Point::BeforeCommit => {
                play.clean();
                assert_eq!(verdict(&play).erased_events, 0);
                erased(&play).await;
                assert_eq!(holding(play.rig.data()), Vec::<String>::new());
            }
        }
    }
}

/// What was changed can be taken back but for contents that held the words; they say why.
#[tokio::test(start_paused = true)]
async fn undo_works_where_no_erased_content_is_wanted_and_says_so_where_one_is() {
    let rig = Rig::new(&script(&[&write("plain.txt", "new"), &write("keys.txt", "new"), &text("Done.")]));
    std::fs::write(rig.folder().join("plain.txt"), "old").expect("writes");
    std::fs::write(rig.folder().join("keys.txt"), CANARY).expect("writes");
    let play = Play::on(rig).await;
    play.through("Rewrite both.").await;
    play.through(&format!("It was {CANARY}.")).await;
    let erase = Erase {
        chosen: seq_of(&play, "user/message"),
        text: Some(CANARY.into()),
        why: ErasedWhy::Secret,
        reach: Reach::Session,
    };
    play.process.engine.erase(&play.session, erase).await.expect("it is erased");
    let kept = domain::digest::Digest::of(CANARY.as_bytes());
    let gone = Reader::open(play.rig.data()).expect("readable").blob(&kept);
    assert!(matches!(gone, Err(BlobError::Gone { why: Gone::Erased, .. })), "{gone:?}");
    let only = |path: &str| RestoreScope { of: RestoreOf::Session, paths: vec![path.to_owned()] };
    let refused = play.process.engine.restore(&play.session, only("keys.txt"), vec![]).await;
    let Err(CommandFailure::Refused(error)) = refused else { panic!("{refused:?}") };
    assert!(error.code == "content/erased", "{error:?}");
    assert_eq!((play.rig.file("keys.txt"), play.rig.file("plain.txt")), ("new".into(), "new".into()));
    play.process.engine.restore(&play.session, only("plain.txt"), vec![]).await.expect("it is taken back");
    play.until(|state| state.restoring.is_none()).await;
    assert_eq!(play.rig.file("plain.txt"), "old");
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn a_key_that_looks_like_a_digest_goes_also_where_it_stands_alone_or_cut_in_a_name() {
    let key = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let play = Play::of(&script(&[&text("Fine."), &text("Fine."), &text("Fine.")])).await;
    play.through(&format!("This is my key: {key} and now go.")).await;
    play.through(key).await;
    let chosen = seq_of(&play, "user/message");
    let marked = Erase { chosen, text: Some(key.to_owned()), why: ErasedWhy::Secret, reach: Reach::Session };
    play.process.engine.erase(&play.session, marked).await.expect("it is erased");
    let left: Vec<String> = play
        .rig
        .log(&play.session)
        .into_iter()
        .filter(|event| event.payload.text().is_some_and(|text| text.contains(&key[..20])))
        .map(|event| event.kind)
        .collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(play.state().session.expect("there").title, format!("This is my key: {MARK}…"));
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn another_session_that_held_the_same_words_goes_on() {
    let play = planted().await;
    let beside = play.beside().await;
    beside.through(&format!("I have {CANARY} as well.")).await;
    erased(&play).await;
    let opened = |play: &Play| {
        play.facts().into_iter().rev().find_map(|fact| match fact {
            Fact::RequestPrepared(prepared) => Some(prepared.opened),
            _ => None,
        })
    };
    let before = beside.requests().len();
    beside.through("Go on.").await;
    assert_eq!(beside.requests().len(), before + 1, "it was asked");
    assert_eq!(opened(&beside), Some(Some(EpochReason::Erased)), "its kept request isn't used any more");
    erased(&beside).await;
    let session = beside.session.clone();
    drop(beside);
    let play = play.restart().await;
    let other = Play { session, ..play };
    let before = other.requests().len();
    other.through("Go on.").await;
    assert_eq!(other.requests().len(), before + 1, "it was asked");
    assert_eq!(opened(&other), Some(Some(EpochReason::Erased)), "nor after a start");
}
