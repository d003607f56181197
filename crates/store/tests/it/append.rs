//! Appending: order, laws, limits, and who is told.

use crate::rig::*;
use store::{AppendError, Durability};

#[test]
fn what_is_appended_reads_back() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let ses = session(1);
    let written = store
        .append(&ses, 0, vec![created(), renamed("Garden"), posted(7, "water it")], Durability::Barrier)
        .expect("appends");
    assert_eq!(store.events(&ses, 0, 10).expect("reads"), written);
    assert_eq!(store.events(&ses, 1, 1).expect("reads"), written[1..2]);
    assert_eq!(store.next_seq(&ses), Ok(3));
    let error = store.append(&ses, 2, vec![renamed("Other")], Durability::Normal).unwrap_err();
    assert_eq!(error, AppendError::Conflict { session: ses.clone(), expected: 2, actual: 3 });
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.epoch(), 2);
    assert_eq!(store.events(&ses, 0, 10).expect("reads"), written);
    assert_eq!(store.state(&ses).expect("folds").inbox.len(), 1);
    assert_eq!(store.verify_projections(), Ok(None));
}
