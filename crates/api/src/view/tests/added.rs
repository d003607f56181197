//! Added folders in the view: listed, marked when gone, and said once something was said in the session.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// A shelf whose added folders are there, or not.
#[derive(Default)]
struct Disk(AtomicBool);

impl Shelf for Disk {
    fn blob(&self, _: &Digest) -> Option<Vec<u8>> {
        None
    }

    fn folder(&self, id: &FolderId, root: &str) -> Folder {
        Blobs::default().folder(id, root)
    }

    fn added(&self, id: &FolderId, added: &Added) -> AddedFolder {
        let state = if self.0.load(Ordering::Relaxed) { "gone" } else { "here" };
        AddedFolder { state: state.into(), ..Blobs::default().added(id, added) }
    }
}

fn added(n: u128, name: &str) -> Fact {
    let identity = FolderIdentity { device: 1, inode: 2 };
    let (folder, path) = (FolderId::from_bits(n), format!("/home/ada/{name}"));
    FolderAdded { folder, path, name: name.into(), identity }.into()
}

fn removed(n: u128) -> Fact {
    FolderRemoved { folder: FolderId::from_bits(n) }.into()
}

fn gone(n: u128) -> Fact {
    let error = ToolError { code: "folder/gone".into(), message: "gone".into(), suggestion: None };
    ToolResult { outcome: ToolOutcome::Error { error }, ..ok(n) }.into()
}

fn ok(n: u128) -> ToolResult {
    ToolResult {
        call: CallId::from_bits(n),
        outcome: ToolOutcome::Ok { value: serde_json::Value::Null },
        text: String::new(),
        changed: Changed::default(),
        kept: BTreeMap::new(),
        seen: BTreeMap::new(),
        ms: 1,
    }
}

/// Names and states of the added folders, and the notices.
fn shown(view: &SessionView) -> (Vec<(String, String)>, Vec<String>) {
    let added = view.added.iter().map(|one| (one.name.clone(), one.state.clone())).collect();
    let notices = view.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Notice { code, facts, .. } => {
            Some(format!("{code} {}", facts.get("name").cloned().unwrap_or_default()))
        }
        _ => None,
    });
    (added, notices.collect())
}

#[test]
fn added_folders_are_listed_by_name_and_a_change_is_said_once_work_began() {
    let mut facts: Vec<Fact> = begin().drain(..1).collect();
    facts.extend([added(2, "Zebra"), added(1, "Invoices")]);
    facts.extend(begin().drain(1..));
    facts.extend([added(3, "Late"), removed(2)]);
    let (disk, mut fold) = (Disk::default(), Fold::new(&session()));
    let mut view = fold.view().clone();
    for event in events(facts) {
        let patches = fold.event(&event, &disk);
        view = apply(view, &patches);
    }
    assert_eq!(view.added, fold.view().added, "patches alone carry a client there");
    let here = |name: &str| (name.to_owned(), "here".to_owned());
    let (listed, said) = shown(fold.view());
    assert_eq!(listed, [here("Invoices"), here("Late")]);
    assert_eq!(
        said,
        ["folder/added Late", "folder/removed Zebra"],
        "before the first turn it is plain to see"
    );
}

#[test]
fn one_that_is_gone_is_marked_when_a_call_misses_it_and_unmarked_when_a_turn_finds_it() {
    let (disk, mut fold) = (Disk::default(), Fold::new(&session()));
    let mut facts = begin();
    facts.insert(1, added(1, "Stick"));
    let end = TurnEnd { end: End::Completed };
    let again = TurnStart {
        turn: TurnId::from_bits(2),
        source: Source::Message { message: MessageId::from_bits(2) },
    };
    facts.extend([call(1, "read_file", "{}"), gone(1), end.into(), again.into()]);
    let all = events(facts);
    let (before, after) = all.split_at(all.len() - 3);
    before.iter().for_each(|event| drop(fold.event(event, &disk)));
    disk.0.store(true, Ordering::Relaxed);
    assert_eq!(shown(fold.view()).0, [("Stick".into(), "here".into())], "nobody looked yet");
    drop(fold.event(&after[0], &disk));
    assert_eq!(shown(fold.view()).0, [("Stick".into(), "gone".into())]);
    drop(fold.event(&after[1], &disk));
    disk.0.store(false, Ordering::Relaxed);
    let patches = fold.event(&after[2], &disk);
    assert!(patches.iter().any(|patch| matches!(patch, Patch::Added { .. })), "{patches:?}");
    assert_eq!(shown(fold.view()).0, [("Stick".into(), "here".into())]);
}
