//! Requests of older adapters: their bytes are kept, so they rebuild whatever today's adapter would write.

use domain::digest::Digest;
use domain::event::{
    Draft, EpochReason, InboxPosted, InboxReserved, Origin, RequestPrepared, Source, StepStart, Target,
    TurnStart, UserMessage,
};
use domain::ids::{MessageId, StepId, TurnId};
use domain::model::ModelSnapshot;
use store::Durability;
use tests::{DieAt, Rig};

const HEAD: &[u8] = br#"{"an":"old head","messages":["#;
const SEGMENT: &[u8] = br#"{"written":"the way it was done then"}"#;

/// Writes a request of this adapter version with the old bytes, and gives what verification finds and how many requests it
/// encoded again.
async fn verified(adapter: u32) -> (Vec<String>, u64) {
    let rig = Rig::new(r#"{"answers":[{"say":[{"text":"Hello."}]}]}"#);
    let process = rig.start(DieAt::never());
    let store = process.engine.store();
    let session = tests::rig::session();
    let (turn, step, message) = (TurnId::from_bits(1), StepId::from_bits(2), MessageId::from_bits(3));
    let keep = |bytes: &[u8]| store.put_blob(bytes).expect("a blob");
    let (head, segment) = (keep(HEAD), keep(SEGMENT));
    let model = ModelSnapshot {
        provider: "scripted".into(),
        dialect: "scripted".into(),
        model: "script".into(),
        context_tokens: None,
        max_output_tokens: 100,
        parallel_calls: true,
        calls_as_text: false,
        abilities: Default::default(),
        effort: None,
        price: None,
    };
    let body = [HEAD, SEGMENT, b"]}"].concat();
    let posted = InboxPosted {
        message: message.clone(),
        text: "Hi".into(),
        target: Target::NextStep,
        wakeup: true,
        origin: Origin::User,
        command: None,
    };
    let prepared = RequestPrepared {
        prefix_epoch: 1,
        opened: Some(EpochReason::First),
        revision: 1,
        dialect: "scripted".into(),
        adapter,
        head: Some(head),
        added: vec![segment],
        base: 0,
        markers: vec![0],
        body: Digest::of(&body),
        bytes: body.len() as u64,
        included: vec![message.clone()],
        tokens: 10,
    };
    let source = Source::Message { message: message.clone() };
    let drafts = vec![
        Draft::new(rig.created()),
        Draft::new(posted),
        Draft::of_turn(&turn, TurnStart { turn: turn.clone(), source }),
        Draft::of_step(&turn, &step, StepStart { step: step.clone(), n: 1, model }),
        Draft::of_step(&turn, &step, InboxReserved { messages: vec![message.clone()], step: step.clone() }),
        Draft::of_step(&turn, &step, UserMessage { message, text: "Hi".into() }),
        Draft::of_step(&turn, &step, prepared),
    ];
    store.append(&session, 0, drafts, Durability::Normal).expect("a lawful log");
    let verdict = engine::verify::verify(store, &session, store.epoch()).expect("readable");
    (verdict.findings.iter().map(|finding| finding.detail.clone()).collect(), verdict.encoded_again)
}

#[tokio::test(start_paused = true)]
async fn a_request_of_an_older_adapter_rebuilds_from_its_bytes() {
    assert_eq!(verified(0).await, (Vec::new(), 0));
}

#[tokio::test(start_paused = true)]
async fn bytes_that_todays_adapter_would_not_write_are_found() {
    let (findings, encoded) = verified(1).await;
    assert_eq!(encoded, 1);
    assert_eq!(findings, ["encoding the history again gives other bytes than were sent"]);
}
