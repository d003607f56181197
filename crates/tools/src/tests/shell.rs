//! Commands in the real cage: ends, output, what is left running, what a command can see.

use super::rig::Rig;
use crate::run::End;
use crate::tool::Output;
use crate::{Finished, Limits, clear, run};
use domain::call::Mode;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Far less than what would hold a call here runs for, and enough for a busy machine.
const FAR_LESS: Duration = Duration::from_secs(60);

fn command(rig: &Rig, command: &str) -> Finished {
    rig.call("run_command", json!({"command": command}))
}

#[track_caller]
fn check(given: &str, expect: &str) {
    let finished = command(&Rig::new(), given);
    assert_eq!(finished.text, expect);
}

#[test]
fn s01_a_silent_background_child_holds_nothing() {
    for given in ["sleep 300 & echo ok", "setsid sleep 300 & sleep 0.1; echo ok"] {
        let before = Instant::now();
        let finished = command(&Rig::new(), given);
        assert!(before.elapsed() < FAR_LESS, "{:?}", before.elapsed());
        assert!(
            finished.text.starts_with("ok\n[exit code 0]\n[left running and stopped: "),
            "{}",
            finished.text
        );
        // With its arguments, but for a program that is just being loaded: of that the kernel tells the name alone.
        assert!(finished.text.contains("sleep"), "{}", finished.text);
        assert_eq!(finished.value["value"]["leftovers"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn s02_a_printing_background_child_does_not_pin_the_call() {
    let rig = Rig::new();
    let before = Instant::now();
    let finished = command(&rig, "(while :; do echo t; sleep .1; done) & sleep 1; echo fg");
    assert!(before.elapsed() < FAR_LESS);
    assert!(finished.text.contains("\nfg\n"), "{}", finished.text);
    assert_eq!(
        command(&rig, "echo next").text,
        "next\n[exit code 0]",
        "later output leaks into no other call"
    );
}

/// What is asked about a command holds it twice; one that fits in no event was judged again and again, for ever.
#[test]
fn a_command_too_long_to_be_asked_about_is_refused() {
    let error = Rig::new().error("run_command", json!({"command": "a".repeat(101 << 10)}));
    assert_eq!(error.code, "command/too_long");
}

#[test]
fn s04_no_output_is_said() {
    check("true", "(no output)\n[exit code 0]");
    check("false", "(no output)\n[exit code 1]");
}

#[test]
fn s05_a_prompt_ends_at_once() {
    check("read -p 'pw: ' x; echo got", "got\n[exit code 0]");
    let finished = command(
        &Rig::new(),
        "ssh-keygen; ssh-keygen < /dev/tty; cat; python3 -c 'input()' 2>&1 | tail -n1; echo end",
    );
    assert!(finished.text.contains("end\n[exit code 0]"), "{}", finished.text);
}

#[test]
fn s06_every_one_of_fifty_commands_ends_and_leaks_no_handle() {
    let rig = Rig::new();
    let handles = || std::fs::read_dir("/proc/self/fd").map_or(0, |read| read.count());
    assert_eq!(command(&rig, "echo hi").text, "hi\n[exit code 0]");
    let before = handles();
    for _ in 0..50 {
        assert_eq!(command(&rig, "echo hi").text, "hi\n[exit code 0]");
    }
    assert!(handles() <= before + 2, "{before} handles, then {}", handles());
}

/// The most memory this process ever held, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().split(' ').next().and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) << 10
}

#[test]
fn s09_endless_output_is_kept_in_bounds() {
    let mut rig = Rig::new();
    rig.limits(|limits| limits.spool_bytes = 1 << 20);
    command(&rig, "true");
    let before = peak_memory();
    let lines = command(&rig, "yes | head -c 200000000");
    assert!(lines.text.starts_with("y\ny\n") && lines.text.len() < 31 << 10);
    let finished = command(&rig, "head -c 300000000 /dev/zero | tr '\\0' x");
    assert_eq!(finished.value["value"]["bytes"], 300_000_000);
    assert!(finished.text.len() < 31 << 10);
    let left_out = 300_000_000 - (30 << 10);
    assert!(
        finished.text.contains(&format!("[… {left_out} bytes left out …]")),
        "{}",
        &finished.text[15_300..15_500]
    );
    let kept = rig.ctx.blobs.get(&finished.blobs[0]).unwrap();
    assert!(kept.len() < (1 << 20) + 100, "{}", kept.len());
    assert!(peak_memory() - before < 32 << 20, "{} more bytes", peak_memory() - before);
}

#[test]
fn x07_a_command_that_never_stops_printing_is_ended() {
    let mut rig = Rig::new();
    rig.limits(|limits| (limits.output_bytes, limits.spool_bytes) = (50 << 20, 1 << 20));
    let finished = command(&rig, "yes");
    assert!(
        finished.text.starts_with("Error (command/too_much_output): ended after printing 52428800 bytes"),
        "{}",
        &finished.text[..200]
    );
    assert!(finished.text.contains("\ny\ny\n"), "what it printed is there");
}

#[test]
fn s11_many_tiny_chunks_are_shown_in_few() {
    let mut rig = Rig::new();
    let chunks = Arc::new(Mutex::new(Vec::<String>::new()));
    let take = Arc::clone(&chunks);
    rig.ctx.output = Output::To(Arc::new(move |text: &str| take.lock().unwrap().push(text.to_owned())));
    let before = Instant::now();
    let finished =
        command(&rig, "i=0; while [ $i -lt 200000 ]; do echo 'twenty bytes of text'; i=$((i+1)); done");
    assert_eq!(finished.value["value"]["bytes"], 200_000 * 21);
    let most = before.elapsed().as_millis() / 100 + 3;
    let chunks = chunks.lock().unwrap();
    assert!(!chunks.is_empty() && (chunks.len() as u128) <= most, "{} chunks", chunks.len());
    assert!(chunks.iter().all(|chunk| chunk.len() < 18 << 10));
    assert!(chunks.concat().ends_with("twenty bytes of text\n"));
}

#[test]
fn live_output_comes_before_the_end() {
    let mut rig = Rig::new();
    rig.secrets(&["hunter2hunter2"]);
    let cancel = rig.ctx.cancel.clone();
    let seen = Arc::new(Mutex::new(String::new()));
    let take = Arc::clone(&seen);
    rig.ctx.output = Output::To(Arc::new(move |text: &str| {
        let mut seen = take.lock().unwrap();
        seen.push_str(text);
        // The command would run for a minute: only live output can end it.
        if seen.contains("shown\n") {
            cancel.cancel();
        }
    }));
    let finished = command(&rig, "echo begun; sleep .05; echo and; sleep .05; echo shown; sleep 60");
    assert_eq!(finished.end, End::Cancelled);
    assert_eq!(*seen.lock().unwrap(), "begun\nand\nshown\n");
}

#[test]
fn s13_output_is_clean_text() {
    check(
        "printf '\\033[?25lWo\\rWork\\rWorking \\033[?25h\\r\\nnext\\r\\n'",
        "Working\nnext\n[exit code 0]",
    );
}

#[test]
fn x09_output_that_is_no_text_stays_json() {
    let rig = Rig::new();
    let finished = command(&rig, "printf 'a\\000b\\377\\355\\240\\200\\n'");
    assert_eq!(finished.text, "a\\x00b\\xFF\\xED\\xA0\\x80\n[exit code 0]");
    assert_eq!(rig.ctx.blobs.get(&finished.blobs[0]).unwrap(), b"a\0b\xff\xed\xa0\x80\n");
    assert_eq!(
        command(&rig, "printf 'a\\000b\\377\\355\\240\\200\\n'").blobs,
        finished.blobs,
        "the same again"
    );
}

#[test]
fn s14_no_pager_waits() {
    let rig = Rig::new();
    let git = |args: &[&str]| {
        let config = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let done = std::process::Command::new("git")
            .args(config)
            .args(args)
            .current_dir(rig.path("."))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "core.pager", "less"]);
    for n in 0..300 {
        git(&["commit", "-q", "--allow-empty", "-m", &format!("commit number {n}")]);
    }
    let config = rig.get(".git/config");
    let finished = command(&rig, "git -c safe.directory='*' log; git -c safe.directory='*' diff");
    let whole = String::from_utf8(rig.ctx.blobs.get(&finished.blobs[0]).unwrap()).unwrap();
    for n in 0..300 {
        assert!(whole.contains(&format!("commit number {n}\n")), "{n}");
    }
    assert!(finished.text.contains("commit number 299\n") && finished.text.ends_with("[exit code 0]"));
    assert_eq!(rig.get(".git/config"), config);
}

#[test]
fn s17_keys_are_masked_even_where_a_command_knows_them() {
    let mut rig = Rig::new();
    rig.secrets(&["CANARY2-CANARY2"]);
    let finished = command(&rig, "env | grep -ic key; echo CANARY2-CANARY2");
    assert_eq!(finished.text, "0\n[secret removed]\n[exit code 0]");
    let env = command(&rig, "env").text;
    assert!(!env.contains("CARGO_MANIFEST_DIR") && env.contains("GIT_PAGER=cat"), "{env}");
}

#[test]
fn nothing_is_kept_between_commands() {
    let rig = Rig::new();
    command(&rig, "export PAGER=evil; cd /tmp; alias ls=rm; f() { :; }");
    let finished = command(&rig, "echo $PAGER; pwd; type f");
    assert!(
        finished.text.starts_with(&format!("cat\n{}\n", rig.ctx.place.path().display())),
        "{}",
        finished.text
    );
    assert!(finished.text.ends_with("[exit code 1]"));
}

#[test]
fn both_outputs_come_in_order() {
    check("echo 1; echo 2 >&2; echo 3; exit 7", "1\n2\n3\n[exit code 7]");
    check("kill -9 $$", "(no output)\n[ended by signal 9]");
}

#[test]
fn a_command_that_a_signal_ended_has_a_code_that_is_no_success() {
    let rig = Rig::new();
    for (given, code) in [("kill -9 $$", 137), ("kill -SEGV $$", 139), ("exit 3", 3), ("true", 0)] {
        let value = command(&rig, given).value;
        assert_eq!(value["value"]["exit_code"], code, "{given}: {value}");
    }
}

#[test]
fn x10_a_stubborn_command_is_ended_by_its_time_limit() {
    let rig = Rig::new();
    let before = Instant::now();
    let stubborn = "trap '' TERM INT HUP; echo begun; exec >/dev/null 2>&1; (setsid sh -c 'trap \"\" TERM; while :; do date > beat; sleep .05; done' &) ; while :; do sleep 1; done";
    let finished = rig.call("run_command", json!({"command": stubborn, "timeout_ms": 700}));
    assert!(before.elapsed() < FAR_LESS, "{:?}", before.elapsed());
    insta::assert_snapshot!(finished.text, @"
    Error (call/timeout): stopped after 1 s, its time limit. What it did until then stays done.
    Do less in one call, or allow more time if the tool takes one.

    begun
    ");
    let beat = || std::fs::metadata(rig.path("beat")).unwrap().modified().unwrap();
    let stopped = beat();
    // Two more commands take longer than a beat.
    command(&rig, "sleep .2");
    assert_eq!(beat(), stopped, "nothing of it runs any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn s08_a_cancelled_command_is_stopped_with_its_children() {
    let rig = Rig::new();
    let call = rig.check(
        "run_command",
        &json!({"command": "(sleep 100 & sleep 100 &) ; echo begun > begun; wait; sleep 100"}),
    );
    let surveyed = call.survey(&rig.ctx).unwrap();
    let approval = crate::Approval::of(&call, &surveyed.facts, 10);
    let cleared = clear(&call, surveyed, &rig.policy(), Some(&approval), 0).unwrap();
    let ctx = rig.ctx.clone();
    let running = tokio::spawn(async move { run(cleared, &ctx).await });
    while !rig.path("begun").exists() {
        tokio::task::yield_now().await;
    }
    rig.ctx.cancel.cancel();
    let finished = running.await.unwrap();
    assert_eq!(finished.end, End::Cancelled);
    assert!(
        finished
            .text
            .starts_with("Error (call/cancelled): cancelled before it ended; nothing of it runs any more")
    );
}

#[test]
fn plan_only_holds_for_the_shell() {
    let mut rig = Rig::with(&[("f", b"old")]);
    rig.mode = Mode::Plan;
    let finished = command(
        &rig,
        "cat f; echo new > f; echo x > g; python3 -c \"open('f','w').write('x')\"; echo t > /tmp/t && echo tmp works",
    );
    assert!(finished.text.starts_with("old"), "{}", finished.text);
    assert_eq!((rig.get("f"), rig.names()), (b"old".to_vec(), vec!["f".to_owned()]));
}

#[test]
fn a_command_can_not_leave_the_folder() {
    let rig = Rig::new();
    std::fs::write(rig.outside.path().join("canary"), "CANARY").unwrap();
    let finished = command(&rig, "cat ../canary; echo x > ../canary; echo in > inside; ls -a ~");
    assert!(!finished.text.contains("CANARY"), "{}", finished.text);
    assert_eq!(std::fs::read(rig.outside.path().join("canary")).unwrap(), b"CANARY");
    assert_eq!(rig.get("inside"), b"in\n");
}

#[test]
fn timeouts_have_a_default_and_a_most() {
    let rig = Rig::new();
    let time = |args| {
        let call = rig.check("run_command", &args);
        call.tool.time_ms(&call, &Limits::default())
    };
    assert_eq!(time(json!({"command": "x"})), 120_000);
    assert_eq!(time(json!({"command": "x", "timeout_ms": 5})), 5);
    assert_eq!(time(json!({"command": "x", "timeout_ms": 9_999_999})), 600_000);
}

/// What nobody looked at sees no secret file, however it names it; what the person approved does.
#[test]
fn a43_a_command_that_nobody_looked_at_sees_no_secrets() {
    let mut rig =
        Rig::with(&[(".env", b"API=SECRETVALUE"), ("sub/deploy.pem", b"SECRETVALUE"), ("a", b"plain")]);
    for mode in [Mode::Auto, Mode::Plan] {
        rig.mode = mode;
        for given in [
            "cat .e*",
            "x=en; cat .${x}v",
            "cat sub/*.p*",
            "tar cf - . | strings",
            "cp .e* leak 2>&1; cat leak",
        ] {
            let finished = command(&rig, given);
            assert!(!finished.text.contains("SECRETVALUE"), "{mode:?} {given}: {}", finished.text);
        }
        let failed = command(&rig, "cat .e* && exit 3 || exit 3");
        assert!(failed.text.contains("2 files with secrets were out of sight"), "{}", failed.text);
        assert_eq!(command(&rig, "cat a*").text, "plain\n[exit code 0]");
    }
    rig.mode = Mode::Ask;
    assert!(command(&rig, "cat .e*").text.contains("SECRETVALUE"), "the person said yes to this one");
}

#[test]
fn a_free_command_can_not_change_what_decides_later() {
    let mut rig = Rig::with(&[
        (".git/hooks/pre-commit", b"old"),
        (".git/config", b"[core]\n"),
        ("AGENTS.md", b"old"),
        (".vscode/tasks.json", b"old"),
        ("deep/er/AGENTS.md", b"old"),
        ("deep/.git/hooks/pre-push", b"old"),
        (".git/modules/lib/x/HEAD", b"ref: refs/heads/main\n"),
        (".git/modules/lib/x/hooks/post-checkout", b"old"),
        (".git/worktrees/w/HEAD", b"ref: refs/heads/w\n"),
        (".git/worktrees/w/config.worktree", b"old"),
        (".git/worktrees/w/commondir", b"../..\n"),
    ]);
    // In a script: a command whose own text names one of them is asked about.
    let given = "for f in .git/hooks/pre-commit .git/hooks/new .git/config AGENTS.md .vscode/tasks.json; do echo new > $f; done; rm -f AGENTS.md; mv .vscode x; echo new > deep/er/AGENTS.md; echo new > deep/.git/hooks/pre-push; echo new > .git/modules/lib/x/hooks/post-checkout; echo new > .git/worktrees/w/config.worktree; echo new > .git/worktrees/w/commondir; echo ok > .git/modules/lib/x/index; echo ok > .git/index; echo ok > fine";
    rig.put("run.sh", given.as_bytes());
    rig.mode = Mode::Auto;
    command(&rig, "bash run.sh");
    for (path, content) in [
        (".git/hooks/pre-commit", "old"),
        (".git/config", "[core]\n"),
        ("AGENTS.md", "old"),
        (".vscode/tasks.json", "old"),
        ("deep/er/AGENTS.md", "old"),
        ("deep/.git/hooks/pre-push", "old"),
        (".git/modules/lib/x/hooks/post-checkout", "old"),
        (".git/worktrees/w/config.worktree", "old"),
        (".git/worktrees/w/commondir", "../..\n"),
        (".git/modules/lib/x/index", "ok\n"),
        (".git/index", "ok\n"),
        ("fine", "ok\n"),
    ] {
        assert_eq!(rig.get(path), content.as_bytes(), "{path}");
    }
    assert!(!rig.path(".git/hooks/new").exists());
    // A `.git` that is a file: the repository is elsewhere, and who points there chooses its hooks.
    let mut other = Rig::with(&[(".git", b"gitdir: ../main/.git/worktrees/x\n")]);
    other.mode = Mode::Auto;
    other.put("run.sh", b"echo gitdir: evil > .git; rm -f .git; mv .git x; ln -sf evil .git; echo ok > fine");
    command(&other, "bash run.sh");
    assert_eq!(other.get(".git"), b"gitdir: ../main/.git/worktrees/x\n");
    assert_eq!(other.get("fine"), b"ok\n");
    rig.mode = Mode::Ask;
    command(&rig, "echo new > AGENTS.md");
    assert_eq!(rig.get("AGENTS.md"), b"new\n", "what the person approved may");
}

#[cfg(target_os = "linux")]
#[test]
fn a_bit_that_the_cage_refuses_in_a_folder_that_hands_its_group_on_is_told_with_what_to_do() {
    use std::os::unix::fs::PermissionsExt as _;
    let rig = Rig::with(&[("shared/d/a.txt", b"a\n")]);
    if rig.ctx.launcher.cage() == crate::Cage::None {
        return;
    }
    let said = |given: &str| command(&rig, given).text;
    let plain = said("echo Operation not permitted; cp -a shared/d shared/e && echo copied");
    assert!(plain.contains("copied") && !plain.contains("cage"), "no folder hands its group on: {plain}");
    for folder in ["shared", "shared/d"] {
        std::fs::set_permissions(rig.path(folder), std::fs::Permissions::from_mode(0o2755)).unwrap();
    }
    let refused = said("cp -a shared/d shared/copy; chmod 2755 shared/d");
    insta::assert_snapshot!(refused, @r#"
    cp: preserving permissions for ‘shared/copy’: Operation not permitted
    chmod: changing permissions of 'shared/d': Operation not permitted
    [exit code 1]
    ["not permitted" can come from the cage: in it nothing gets a set-user-id or set-group-id bit; "shared" hands its group on (set-group-id), so cp, install, tar or chmod that pass this bit along fail there. Leave the bit out (mkdir and redirections work, and new folders get their group by themselves), or tell the person what to set]
    "#);
    // What is advised works.
    let way = said(
        "mkdir shared/new && echo x > shared/new/x && cat shared/d/a.txt > shared/new/a.txt && echo done",
    );
    assert!(way.starts_with("done\n[exit code 0]"), "{way}");
    let mode = std::fs::metadata(rig.path("shared/new")).unwrap().permissions().mode();
    assert_eq!(mode & 0o2000, 0o2000, "it has its group by itself");
}
