//! What a person is told of a certificate, read out of its DER: whose it is, until when it holds, whether it may sign.
//!
//! Nothing here decides trust, which is the TLS library's. Invariant: no bytes make it panic; what it can't read is `None`.

/// What is told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) subject: String,
    pub(super) until_ms: i64,
    pub(super) signs: bool,
}

const BOOLEAN: u8 = 0x01;
const OBJECT: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const LONG_TIME: u8 = 0x18;
const BMP_STRING: u8 = 0x1e;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;

/// `basicConstraints`.
const CONSTRAINTS: [u8; 3] = [0x55, 0x1d, 0x13];
/// Common name, unit, organisation: from the narrowest name to the widest.
const NAMES: [[u8; 3]; 3] = [[0x55, 0x04, 0x03], [0x55, 0x04, 0x0b], [0x55, 0x04, 0x0a]];
/// Longest name that is told.
const NAME: usize = 100;

/// Elements one after another.
struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x83 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }
}

impl<'a> Elements<'a> {
    fn tagged(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

/// Reads a certificate.
pub(super) fn read(der: &[u8]) -> Option<Facts> {
    let mut certificate = Elements(Elements(der).tagged(SEQUENCE)?);
    let mut signed = Elements(certificate.tagged(SEQUENCE)?);
    let (first, _) = signed.next()?;
    if first == VERSION {
        signed.next()?;
    }
    // What it is signed with, and who signed.
    signed.tagged(SEQUENCE)?;
    signed.tagged(SEQUENCE)?;
    let mut holds = Elements(signed.tagged(SEQUENCE)?);
    holds.next()?;
    let (kind, until) = holds.next()?;
    let subject = subject(signed.tagged(SEQUENCE)?);
    let extensions = signed.find(|(tag, _)| *tag == EXTENSIONS).map(|(_, content)| content);
    Some(Facts { subject, until_ms: moment(kind, until)?, signs: extensions.is_some_and(signs) })
}

/// May it sign others?
fn signs(extensions: &[u8]) -> bool {
    let constraints = || {
        let mut each = Elements(Elements(extensions).tagged(SEQUENCE)?);
        let extension = each.find(|(_, one)| Elements(one).tagged(OBJECT) == Some(&CONSTRAINTS))?.1;
        let (_, value) = Elements(extension).last()?;
        Elements(Elements(value).tagged(SEQUENCE)?).tagged(BOOLEAN).map(|said| said != [0])
    };
    constraints().unwrap_or(false)
}

/// Its names, the narrowest first.
fn subject(names: &[u8]) -> String {
    let all: Vec<(&[u8], String)> = Elements(names)
        .filter(|(tag, _)| *tag == SET)
        .flat_map(|(_, set)| Elements(set))
        .filter_map(|(_, pair)| {
            let mut pair = Elements(pair);
            Some((pair.tagged(OBJECT)?, text(pair.next()?)))
        })
        .collect();
    let of = |kind: &[u8; 3]| all.iter().find(|(found, _)| found == kind).map(|(_, name)| name.as_str());
    let mut told: Vec<&str> = NAMES.iter().filter_map(of).filter(|name| !name.is_empty()).collect();
    told.dedup();
    told.join(", ")
}

fn text((tag, bytes): (u8, &[u8])) -> String {
    let text = if tag == BMP_STRING {
        let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
        String::from_utf16_lossy(&units)
    } else {
        String::from_utf8_lossy(bytes).into_owned()
    };
    text.chars().filter(|c| !c.is_control()).take(NAME).collect::<String>().trim().to_owned()
}

/// Milliseconds since 1970 of `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn moment(kind: u8, text: &[u8]) -> Option<i64> {
    let digits = text.strip_suffix(b"Z")?;
    let numbers = |digits: &[u8]| -> Option<Vec<i64>> {
        let (pairs, rest) = digits.as_chunks::<2>();
        let fit = rest.is_empty() && digits.iter().all(u8::is_ascii_digit);
        fit.then(|| pairs.iter().map(|[ten, one]| i64::from((ten - b'0') * 10 + one - b'0')).collect())
    };
    let (year, rest) = match (kind, numbers(digits)?.as_slice()) {
        (UTC_TIME, [year, rest @ ..]) => (if *year < 50 { 2000 + year } else { 1900 + year }, rest.to_vec()),
        (LONG_TIME, [century, year, rest @ ..]) => (century * 100 + year, rest.to_vec()),
        _ => return None,
    };
    let [month, day, hour, minute, second] = rest.try_into().ok()?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some((((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
}

/// Days since 1970 of a day of our calendar. A year begins in March here, so that a leap day is its last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month < 3 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_are_read_in_both_ways_they_are_written() {
        for (kind, text, seconds) in [
            (UTC_TIME, "700101000000Z", 0),
            (UTC_TIME, "491231235959Z", 2_524_607_999),
            (UTC_TIME, "500101000000Z", -631_152_000),
            (LONG_TIME, "20240229120000Z", 1_709_208_000),
            (LONG_TIME, "21000301000000Z", 4_107_542_400),
        ] {
            assert_eq!(moment(kind, text.as_bytes()), Some(seconds * 1_000), "{text}");
        }
        for text in ["", "Z", "20241301000000Z", "2024022912000Z", "20240229120000", "2024022912000xZ"] {
            assert_eq!(moment(LONG_TIME, text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn names_of_any_alphabet_are_read_and_hold_nothing_hidden() {
        assert_eq!(text((BMP_STRING, &[0x4f, 0x60, 0x59, 0x7d])), "你好");
        assert_eq!(text((0x0c, "Büro\u{1b}[31m\n".as_bytes())), "Büro[31m");
        assert_eq!(text((0x13, &[0xff, b'a'])), "\u{fffd}a");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
            let _ = subject(&bytes);
            let _ = signs(&bytes);
        }

        #[test]
        fn no_change_of_a_certificate_makes_it_panic(at in 0..343_usize, byte in any::<u8>()) {
            use rustls::pki_types::pem::PemObject as _;
            let pem = include_bytes!("../../tests/tls/expired-ca.pem");
            let mut der = rustls::pki_types::CertificateDer::from_pem_slice(pem).unwrap().to_vec();
            let whole = read(&der);
            prop_assert!(whole.is_some());
            if let Some(place) = der.get_mut(at) {
                *place = byte;
            }
            let _ = read(&der);
        }
    }
}
