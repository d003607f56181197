//! How far two requests begin with the same bytes.

use bytes::Bytes;

/// The bytes of a request without its end, and how many of them the next one begins with; the last piece of each is its end.
pub(crate) fn grown(before: &[Bytes], after: &[Bytes]) -> (u64, u64) {
    let open = &before[..before.len().saturating_sub(1)];
    (length(open), shared(open, after))
}

/// A body as it arrived, without marks for a cache, cut where its end begins.
pub(crate) fn arrived(body: &[u8]) -> Vec<Bytes> {
    let text = String::from_utf8_lossy(body).replace(MARK, "");
    let end = text.len().saturating_sub(b"]}".len());
    let bytes = Bytes::from(text.into_bytes());
    vec![bytes.slice(..end), bytes.slice(end..)]
}

/// Pairs of consecutive requests where the later one begins with all of the earlier one, and all pairs.
pub(crate) fn pairs(requests: &[Vec<Bytes>]) -> (usize, usize) {
    let grows = |pair: &&[Vec<Bytes>]| {
        let (before, lcp) = grown(&pair[0], &pair[1]);
        before == lcp
    };
    (requests.windows(2).filter(grows).count(), requests.len().saturating_sub(1))
}

/// The mark of the dialect that our own server speaks.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

pub(super) fn length(pieces: &[Bytes]) -> u64 {
    pieces.iter().map(|piece| piece.len() as u64).sum()
}

/// Bytes that both begin with, wherever their pieces are cut.
fn shared(before: &[Bytes], after: &[Bytes]) -> u64 {
    let (mut one, mut other) = (before.iter(), after.iter());
    let (mut left, mut right): (&[u8], &[u8]) = (&[], &[]);
    let mut same = 0;
    loop {
        if left.is_empty() {
            let Some(next) = one.next() else { return same };
            left = next;
        }
        if right.is_empty() {
            let Some(next) = other.next() else { return same };
            right = next;
        }
        let most = left.len().min(right.len());
        // The same piece of memory is the same without looking: between requests of an epoch most of it is.
        if left.as_ptr() != right.as_ptr() && left[..most] != right[..most] {
            let differ = left.iter().zip(right).position(|(a, b)| a != b).unwrap_or(most);
            return same + differ as u64;
        }
        same += most as u64;
        (left, right) = (&left[most..], &right[most..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_may_be_cut_anywhere() {
        let pieces = |text: &[&str]| -> Vec<Bytes> {
            text.iter().map(|piece| Bytes::copy_from_slice(piece.as_bytes())).collect()
        };
        for (before, after, expect) in [
            (vec![], vec!["a"], 0),
            (vec!["abc"], vec!["abc"], 3),
            (vec!["ab", "c"], vec!["a", "bcd"], 3),
            (vec!["abc"], vec!["abd"], 2),
            (vec!["a", "", "bc"], vec!["abcdef"], 3),
            (vec!["abcdef"], vec!["abc"], 3),
            (vec!["x"], vec!["y"], 0),
        ] {
            assert_eq!(shared(&pieces(&before), &pieces(&after)), expect, "{before:?} {after:?}");
        }
        let one = pieces(&["shared"]);
        let both = [one[0].clone(), Bytes::from_static(b"more")];
        assert_eq!(shared(&one, &both), 6);
    }
}
