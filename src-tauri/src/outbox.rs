//! The **outbox** of one subscription: what waits to be shown, in batches of at most one frame.
//!
//! The page acknowledges each batch, and only a few may be unacknowledged; a page that falls behind by more than
//! [`QUEUED`] notifications loses them all and gets one `resync` instead, after which it opens the session again from
//! the log. So a slow, frozen or hidden page costs a bounded amount of memory and never an order.

use api::wire::command::Notification;
use std::collections::VecDeque;

/// How many notifications may wait; more means the page can't keep up and reads the log again.
const QUEUED: usize = 256;
/// How many batches may be on their way unacknowledged: one being drawn, one ready.
const UNACKNOWLEDGED: u32 = 2;

/// Notifications on their way to one channel of the page.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: VecDeque<Notification>,
    on_the_way: u32,
    behind: bool,
}

impl Outbox {
    /// Puts one more behind the others. Once the page is behind, only its `resync` waits.
    pub(crate) fn put(&mut self, notification: Notification) {
        if self.behind {
            return;
        }
        if let Notification::Summary { summary } = &notification {
            // A newer line of the list stands for the older one that wasn't shown yet.
            self.waiting.retain(
                |old| !matches!(old, Notification::Summary { summary: line } if line.id == summary.id),
            );
        }
        if self.waiting.len() < QUEUED {
            self.waiting.push_back(notification);
            return;
        }
        if let Some(session) = session_of(&notification) {
            self.behind = true;
            self.waiting.clear();
            self.waiting.push_back(Notification::Resync { session });
        } else {
            // The lists hold one line a session and are refetched as a whole; the newest line is the one that matters.
            self.waiting.pop_front();
            self.waiting.push_back(notification);
        }
    }

    /// Could a batch be sent now?
    pub(crate) fn ready(&self) -> bool {
        !self.waiting.is_empty() && self.on_the_way < UNACKNOWLEDGED
    }

    /// The next batch, unless nothing waits or the page hasn't caught up.
    pub(crate) fn next_batch(&mut self) -> Option<Vec<Notification>> {
        if !self.ready() {
            return None;
        }
        self.on_the_way += 1;
        Some(self.waiting.drain(..).collect())
    }

    /// The page has drawn this many batches.
    pub(crate) fn acknowledge(&mut self, batches: u32) {
        self.on_the_way = self.on_the_way.saturating_sub(batches);
    }
}

fn session_of(notification: &Notification) -> Option<String> {
    match notification {
        Notification::Session { session, .. } | Notification::Resync { session } => Some(session.clone()),
        Notification::Summary { .. }
        | Notification::FolderDropped { .. }
        | Notification::DropRefused { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(seq: u64) -> Notification {
        Notification::Session { session: "ses_1".into(), seq, patches: vec![] }
    }

    fn sequence(batch: &[Notification]) -> Vec<u64> {
        batch
            .iter()
            .map(|n| if let Notification::Session { seq, .. } = n { *seq } else { u64::MAX })
            .collect()
    }

    #[test]
    fn batches_keep_the_order_and_wait_for_the_page() {
        let mut outbox = Outbox::default();
        assert_eq!(outbox.next_batch(), None);
        for seq in 0..3 {
            outbox.put(patch(seq));
        }
        assert_eq!(sequence(&outbox.next_batch().unwrap()), [0, 1, 2]);
        outbox.put(patch(3));
        assert_eq!(sequence(&outbox.next_batch().unwrap()), [3]);
        outbox.put(patch(4));
        assert_eq!(outbox.next_batch(), None, "two batches are on their way");
        outbox.acknowledge(1);
        assert_eq!(sequence(&outbox.next_batch().unwrap()), [4]);
    }

    #[test]
    fn a_page_that_never_answers_costs_a_bounded_queue_and_one_resync() {
        let mut outbox = Outbox::default();
        for seq in 0..100_000 {
            outbox.put(patch(seq));
            assert!(outbox.waiting.len() <= QUEUED);
        }
        assert_eq!(outbox.next_batch(), Some(vec![Notification::Resync { session: "ses_1".into() }]));
        outbox.put(patch(100_000));
        assert_eq!(outbox.next_batch(), None, "nothing follows a resync: the page opens the session again");
    }

    #[test]
    fn acknowledging_more_than_was_sent_opens_no_window() {
        let mut outbox = Outbox::default();
        outbox.acknowledge(u32::MAX);
        for seq in 0..3 {
            outbox.put(patch(seq));
            let sent = outbox.next_batch().is_some();
            assert_eq!(sent, seq < 2);
        }
    }
}
