//! Event streams cut everywhere: line ends, marks, comments, broken text, bounds.
//!
//! Each case is read in seven chunk sizes, and a law says that no cut changes the events.

use proptest::prelude::*;

use super::*;

fn feed(bytes: &[u8], cut: usize) -> Vec<Event> {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    for chunk in bytes.chunks(cut.max(1)) {
        parser.push(chunk, &mut out).unwrap();
    }
    out
}

#[track_caller]
fn check(given: &[u8], expect: &[(&str, &str)]) {
    for cut in [1, 2, 3, 7, 1024, 16384, given.len().max(1)] {
        let events = feed(given, cut);
        let got: Vec<(&str, &str)> = events.iter().map(|e| (e.name.as_str(), e.data.as_str())).collect();
        assert_eq!(got, expect, "chunks of {cut} of {:?}", String::from_utf8_lossy(given));
    }
}

#[test]
fn x11_same_events_for_every_line_end_field_and_chunking() {
    check(b"data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]);
    check(b"data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]);
    check(b"data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]);
    check(b"data: a\r\n\ndata: b\n\r\nevent: e\rdata: c\n\r", &[("", "a"), ("", "b"), ("e", "c")]);
    check(b"\xEF\xBB\xBFdata: a\n\n", &[("", "a")]);
    check(b"\xEF\xBB\xBF\n\xEF\xBB\xBFdata: a\n\n", &[]);
    check(b"retry: 10\nid: 7\nevent: x\ndata: 1\ndata:2\ndata\ndata:  3\n\n", &[("x", "1\n2\n\n 3")]);
    check(b"event: x\r\ndata: 1\r\ndata: 2\r\n\r\n", &[("x", "1\n2")]);
    check(b"event: x\rdata: 1\rdata: 2\r\r", &[("x", "1\n2")]);
    check(b"data: 1\r\n\r\n\r\ndata: 2\r\n\r\n", &[("", "1"), ("", "2")]);
    check(b"event: only\n\ndata: a\n\n", &[("", "a")]);
    check(b"data: a\n\ndata: without its blank line\n", &[("", "a")]);
    check(b"nonsense\ndata\n\n", &[("", "")]);
    check(b"", &[]);
}

#[test]
fn p08_characters_cut_anywhere_arrive_whole() {
    let text = "data: 那个🌍 \\u4f60\\u597d\n\n".as_bytes();
    check(text, &[("", "那个🌍 \\u4f60\\u597d")]);
    assert!(feed(text, 1).iter().all(|event| !event.lossy));
}

#[test]
fn p26_comments_are_no_events() {
    check(b": OPENROUTER PROCESSING\n\n:\n\ndata: a\n\n", &[("", "a")]);
    check(b": OPENROUTER PROCESSING\r\n\r\n:\r\n\r\ndata: a\r\n\r\n", &[("", "a")]);
}

#[test]
fn p27_data_after_a_ping_in_one_chunk() {
    check(b": ping\n\ndata:{\"x\":1}\n\n", &[("", "{\"x\":1}")]);
}

#[test]
fn one_bad_byte_spoils_its_event_only() {
    let events = feed(b"data: \xFFa\n\ndata: b\n\n", 1);
    assert_eq!((events[0].data.as_str(), events[0].lossy), ("\u{FFFD}a", true));
    assert_eq!((events[1].data.as_str(), events[1].lossy), ("b", false));
}

#[test]
fn x12_lines_and_events_are_bounded() {
    let limits = Limits { line_bytes: 16, event_bytes: 24 };
    let run = |bytes: &[u8], cut: usize| {
        let (mut parser, mut out) = (Parser::with_limits(limits), Vec::new());
        bytes.chunks(cut).try_for_each(|chunk| parser.push(chunk, &mut out))
    };
    for cut in [1, 5, 1000] {
        assert_eq!(run(&[b'x'; 17], cut), Err(SseError::LineTooLong(16)));
        assert_eq!(
            run(b"data: 0123456789\ndata: 0123456789\ndata: 0123\n", cut),
            Err(SseError::EventTooLong(24))
        );
        assert_eq!(run(b"data: 0123456789\ndata: 0123456789\n\n", cut), Ok(()));
    }
}

proptest! {
    #[test]
    fn x11_any_bytes_at_any_cuts_give_the_same_events(
        lines in prop::collection::vec(("(data|event|id|retry|:|x)?:? ?[a-z:你🌍 ]{0,6}", 0usize..4), 0..20),
        cuts in prop::collection::vec(1usize..9, 1..40),
    ) {
        let mut bytes = Vec::new();
        for (line, end) in &lines {
            bytes.extend_from_slice(line.as_bytes());
            bytes.extend_from_slice([&b"\n"[..], b"\r", b"\r\n", b"\n\n"][*end]);
        }
        let whole = feed(&bytes, usize::MAX);
        let (mut parser, mut out, mut rest, mut at) = (Parser::default(), Vec::new(), &bytes[..], 0);
        while !rest.is_empty() {
            let take = cuts[at % cuts.len()].min(rest.len());
            parser.push(&rest[..take], &mut out).unwrap();
            (rest, at) = (&rest[take..], at + 1);
        }
        prop_assert_eq!(out, whole);
    }
}
