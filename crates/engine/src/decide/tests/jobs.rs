//! Jobs: what makes one, what lets it begin, what its end is followed by, and which work comes first.

use super::*;
use domain::ids::JobId;
use tools::Interaction;

fn background(notify: bool) -> Judgement {
    let interaction = Some(Interaction::Background { command: "x".into(), notify });
    Judgement { interaction, ..judgement(allow(), b"x", true) }
}

impl Bench {
    /// A step whose call is judged to go on in the background.
    fn leaves(&mut self, notify: bool) -> String {
        let calls = vec![Judged { call: self.call(0).id.clone(), result: Ok(background(notify)) }];
        self.take(Input::Judged { step: self.step_id(), calls })
    }

    /// A turn that made a job and ended.
    fn left(notify: bool) -> Self {
        let mut bench = Self::attempting();
        bench.answer(calls(&["tool"]), StopReason::ToolCalls);
        bench.leaves(notify);
        bench.advance();
        bench.prepare();
        bench.answer(words("It runs."), StopReason::Stop);
        bench.advance();
        assert!(bench.state.turn.is_none());
        bench
    }

    fn job(&self) -> JobId {
        self.state.jobs[0].id.clone()
    }

    fn begins(&mut self, judgement: Judgement) -> String {
        let judged = Box::new(Judged { call: self.state.jobs[0].call.id.clone(), result: Ok(judgement) });
        self.take(Input::JobJudged { job: self.job(), judged })
    }

    fn job_ends(&mut self, end: FinishedEnd) -> String {
        let (job, changed, kept, seen) = (self.job(), Changed::default(), BTreeMap::new(), BTreeMap::new());
        let finished = Finished { end, text: "out".into(), changed, kept, seen, secrets: Vec::new() };
        self.take(Input::JobFinished { job, finished, ms: 1 })
    }

    fn wants(&self) -> Vec<Op> {
        self.with(wanted)
    }
}

#[test]
fn r_job_01_the_call_that_makes_a_job_ends_at_once() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    assert_eq!(bench.leaves(false), "tool/decision tool/start job/created tool/result");
    assert!(bench.wants().contains(&Op::BeginJob(bench.job())), "beside the turn");
}

#[test]
fn a_job_begins_only_by_what_holds_now_and_once() {
    let mut bench = Bench::left(false);
    let other_mode = Judgement { mode: domain::call::Mode::Edit, ..judgement(allow(), b"x", true) };
    assert_eq!(bench.begins(other_mode), "", "it is judged again");
    let waits = Judgement { waits: true, ..judgement(allow(), b"x", false) };
    assert_eq!(bench.begins(waits), "", "another session holds the folder");
    bench.closing = true;
    assert_eq!(bench.begins(judgement(allow(), b"x", true)), "", "the app closes");
    bench.closing = false;
    assert_eq!(bench.wants(), [Op::BeginJob(bench.job())]);
    assert_eq!(bench.begins(judgement(allow(), b"x", true)), "job/started");
    assert_eq!(bench.wants(), [Op::RunJob(bench.job())]);
    assert_eq!(bench.begins(judgement(allow(), b"x", true)), "", "it has begun");
    for refused in [
        judgement(Verdict::Deny { rule: "r".into(), reason: "no".into() }, b"x", false),
        judgement(Verdict::Ask { rule: "r".into() }, b"other", false),
    ] {
        let mut bench = Bench::left(false);
        assert_eq!(bench.begins(refused), "job/ended inbox/posted");
        assert_eq!(bench.state.ended_jobs[0].end.name(), "failed");
    }
}

#[test]
fn r_job_08_one_that_is_stopped_before_it_began_ends_at_once() {
    let mut bench = Bench::left(false);
    let job = bench.job();
    assert_eq!(bench.tell(Command::StopJob(job.clone())), "job/cancel");
    assert_eq!(bench.wants(), []);
    assert_eq!(bench.advance(), "job/ended inbox/posted");
    assert_eq!(bench.refuses(Command::StopJob(job)), "job/ended");
}

#[test]
fn r_loop_24_a_job_that_ends_in_a_turn_is_read_before_the_turn_does() {
    let mut bench = Bench::left(false);
    bench.begins(judgement(allow(), b"x", true));
    bench.say("More.", Target::NextStep);
    bench.advance();
    bench.prepare();
    bench.job_ends(FinishedEnd::Ok(serde_json::json!({ "exit_code": 0 })));
    bench.answer(words("Done."), StopReason::Stop);
    assert_eq!(bench.advance(), "step/end step/start inbox/reserved", "the notice gets a step");
}

#[test]
fn r_job_05_its_end_wakes_a_resting_session_only_where_that_was_asked_for_and_nobody_wanted_quiet() {
    let ended = |mut bench: Bench| {
        bench.begins(judgement(allow(), b"x", true));
        bench.job_ends(FinishedEnd::Ok(serde_json::Value::Null));
        bench.advance()
    };
    assert_eq!(ended(Bench::left(false)), "");
    assert_eq!(ended(Bench::left(true)), "turn/start step/start inbox/reserved");
    let mut stopped = Bench::left(true);
    stopped.say("More.", Target::NextStep);
    stopped.advance();
    stopped.tell(Command::Stop(CancelBy::User));
    stopped.advance();
    assert_eq!(ended(stopped), "", "a person who stops the work wants quiet");
}

#[test]
fn r_inb_15_a_follow_up_comes_before_the_notice_of_a_job() {
    let mut bench = Bench::left(true);
    bench.begins(judgement(allow(), b"x", true));
    bench.slot = false;
    bench.job_ends(FinishedEnd::Ok(serde_json::Value::Null));
    bench.say("Later.", Target::NextTurn);
    bench.slot = true;
    let decision = bench.with(advance).expect("a turn");
    let Fact::TurnStart(start) = &decision.drafts[0].fact else { panic!("{decision:?}") };
    let said = bench.state.inbox.iter().find(|waiting| waiting.origin == Origin::User).expect("it waits");
    assert_eq!(start.source, Source::Message { message: said.message.clone() });
    let Fact::InboxReserved(reserved) = &decision.drafts[2].fact else { panic!("{decision:?}") };
    assert_eq!(reserved.messages.len(), 2, "the notice is read in the same step");
}

#[test]
fn r_rec_07_jobs_of_a_dead_process_end_as_interrupted_or_are_reconciled() {
    let mut bench = Bench::left(false);
    assert_eq!(bench.recover(), "", "one that hasn't begun waits on");
    bench.begins(judgement(allow(), b"x", true));
    assert_eq!(bench.recover(), "job/ended inbox/posted");
    assert_eq!(bench.recover(), "", "once");
    let mut uncaged = Bench::left(false);
    uncaged.begins(Judgement { uncaged: true, ..judgement(allow(), b"x", true) });
    assert_eq!(uncaged.recover(), "job/reconciling inbox/posted");
    assert_eq!(uncaged.wants(), [], "nothing runs it again");
    let job = uncaged.job();
    assert_eq!(uncaged.tell(Command::SettleJob(job)), "job/ended inbox/posted");
}

/// Whoever changed something beside it is named only where something changed, and what was in doubt before stays so.
#[test]
fn r_drl_02_a_job_that_was_cut_off_is_in_doubt_about_what_changed_and_about_nothing_else() {
    let made = domain::call::Effect {
        path: "a.txt".into(),
        before: None,
        after: Some(domain::call::Entry::Folder { mode: None }),
        lines: None,
        kept_in: None,
        parted: None,
    };
    let made = Changed { effects: vec![made], ..Changed::default() };
    for (changed, doubt) in [
        (Changed::default(), None),
        (made.clone(), Some(Doubt::Mixed)),
        (made.doubted(Doubt::Untold), Some(Doubt::Untold)),
    ] {
        let mut bench = Bench::left(false);
        bench.begins(judgement(allow(), b"x", true));
        let found = Found::from([(bench.state.jobs[0].call.id.clone(), Look::Differs(changed))]);
        bench.epoch += 1;
        let decision = bench.with(|state, env| recover(state, env, &found)).expect("an end");
        let Fact::JobEnded(end) = &decision.drafts[0].fact else { panic!("{decision:?}") };
        assert_eq!(end.changed.doubt, doubt);
    }
}

#[test]
fn r_job_04_one_whose_end_nobody_saw_is_reconciling() {
    let mut bench = Bench::left(false);
    bench.begins(judgement(allow(), b"x", true));
    let lost = FinishedEnd::Unknown(BTreeMap::from([("reason".to_owned(), "stop".to_owned())]));
    assert_eq!(bench.job_ends(lost), "job/reconciling inbox/posted");
    let (revision, job) = (Command::SettleJob(JobId::from_bits(77)), bench.job());
    assert_eq!(bench.refuses(revision), "job/ended");
    assert_eq!(bench.tell(Command::SettleJob(job)), "job/ended inbox/posted");
}
