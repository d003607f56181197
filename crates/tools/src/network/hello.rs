//! The name inside a tunnel: what a TLS client asks for with its first bytes.
//!
//! Many sites share one address, and the server goes by this name. A tunnel granted for one site must not carry a hello to
//! another. Invariant: a hello that can't be read, or names no host, is no hello to the granted one.

/// Longest hello that is read, records included.
pub(crate) const MAX_BYTES: usize = 64 << 10;

/// What the first bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum First {
    /// Not enough to say.
    Unfinished,
    /// Something that isn't TLS.
    Other,
    /// A hello with these names, lower case; usually one.
    Hello(Vec<String>),
    /// The beginning of TLS, but no hello we understand.
    Broken,
}

/// Reads the first bytes a client sent.
pub(crate) fn read(bytes: &[u8]) -> First {
    const HANDSHAKE: u8 = 22;
    match bytes.first() {
        None => return First::Unfinished,
        Some(&HANDSHAKE) => {}
        Some(_) => return First::Other,
    }
    let mut message = Vec::new();
    let mut rest = bytes;
    // One message may be spread over several records.
    while !rest.is_empty() && !is_whole(&message) {
        if rest[0] != HANDSHAKE || rest.get(1).is_some_and(|major| *major != 3) {
            return First::Broken;
        }
        let Some(length) = rest.get(3..5).map(|two| usize::from(u16::from_be_bytes([two[0], two[1]]))) else {
            return First::Unfinished;
        };
        let Some(body) = rest.get(5..5 + length) else { return First::Unfinished };
        if length == 0 {
            return First::Broken;
        }
        message.extend_from_slice(body);
        rest = &rest[5 + length..];
    }
    if !is_whole(&message) {
        return if message.first().is_none_or(|kind| *kind == CLIENT_HELLO) {
            First::Unfinished
        } else {
            First::Broken
        };
    }
    names(&message).map_or(First::Broken, First::Hello)
}

const CLIENT_HELLO: u8 = 1;

fn is_whole(message: &[u8]) -> bool {
    message.get(1..4).is_some_and(|three| {
        let length = u32::from_be_bytes([0, three[0], three[1], three[2]]) as usize;
        message.len() - 4 >= length
    })
}

fn names(message: &[u8]) -> Option<Vec<String>> {
    const VERSION_AND_RANDOM: usize = 2 + 32;
    const SERVER_NAME: u16 = 0;
    const HOST_NAME: u8 = 0;
    let mut rest = Reader(message);
    if rest.byte()? != CLIENT_HELLO {
        return None;
    }
    let length = u32::from_be_bytes([0, rest.byte()?, rest.byte()?, rest.byte()?]) as usize;
    let mut hello = Reader(rest.take(length)?);
    hello.take(VERSION_AND_RANDOM)?;
    let session = hello.byte()?.into();
    hello.take(session)?;
    let suites = hello.short()?.into();
    hello.take(suites)?;
    let compressions = hello.byte()?.into();
    hello.take(compressions)?;
    let mut found = Vec::new();
    if hello.0.is_empty() {
        return Some(found);
    }
    let length = hello.short()?.into();
    let mut extensions = Reader(hello.take(length)?);
    while !extensions.0.is_empty() {
        let (kind, length) = (extensions.short()?, extensions.short()?);
        let mut body = Reader(extensions.take(length.into())?);
        if kind != SERVER_NAME {
            continue;
        }
        let length = body.short()?.into();
        let mut list = Reader(body.take(length)?);
        while !list.0.is_empty() {
            let (kind, length) = (list.byte()?, list.short()?);
            let name = list.take(length.into())?;
            if kind != HOST_NAME {
                return None;
            }
            found.push(std::str::from_utf8(name).ok()?.to_ascii_lowercase());
        }
    }
    Some(found)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|one| one[0])
    }

    fn short(&mut self) -> Option<u16> {
        self.take(2).map(|two| u16::from_be_bytes([two[0], two[1]]))
    }
}

/// A hello for tests, in records of at most `record` bytes.
#[cfg(test)]
pub(crate) fn hello(names: &[&str], record: usize) -> Vec<u8> {
    let with_length = |bytes: &[u8]| {
        let mut out = u16::try_from(bytes.len()).unwrap().to_be_bytes().to_vec();
        out.extend_from_slice(bytes);
        out
    };
    let mut list = Vec::new();
    for name in names {
        list.push(0);
        list.extend(with_length(name.as_bytes()));
    }
    let mut extensions = vec![0, 43, 0, 3, 2, 3, 4];
    if !names.is_empty() {
        extensions.extend([0, 0]);
        extensions.extend(with_length(&with_length(&list)));
    }
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.push(0);
    body.extend([0, 2, 0x13, 1, 1, 0]);
    body.extend(with_length(&extensions));
    let mut message = vec![CLIENT_HELLO, 0];
    message.extend(with_length(&body));
    message.chunks(record).flat_map(|part| [vec![22, 3, 1], with_length(part)].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hello_says_its_names() {
        let check = |bytes: &[u8], expect: &[&str]| {
            let names = expect.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(read(bytes), First::Hello(names));
        };
        for record in [1, 7, 50, 10_000] {
            check(&hello(&["Example.COM"], record), &["example.com"]);
            check(&hello(&["a.example", "b.example"], record), &["a.example", "b.example"]);
            check(&hello(&[], record), &[]);
        }
        let mut followed = hello(&["example.com"], 10_000);
        followed.extend(b"\x14\x03\x03");
        check(&followed, &["example.com"]);
    }

    #[test]
    fn what_is_no_hello_is_told_apart() {
        let whole = hello(&["example.com"], 40);
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), First::Unfinished, "{end}");
        }
        assert_eq!(read(b"SSH-2.0-OpenSSH"), First::Other);
        assert_eq!(read(b"GET / HTTP/1.1"), First::Other);
        assert_eq!(read(&[22, 9, 1, 0, 1, 1]), First::Broken);
        assert_eq!(read(&[22, 3, 1, 0, 0]), First::Broken);
        assert_eq!(read(&[22, 3, 1, 0, 4, 1, 0, 0, 0]), First::Broken, "a hello with nothing in it");
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0_usize..200) {
            read(&bytes);
            let mut changed = hello(&["example.com"], 60);
            let at = at % changed.len();
            changed[at] ^= bytes.first().copied().unwrap_or(1);
            read(&changed);
        }
    }
}
