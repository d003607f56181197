//! Authorities of a service's own: certificates that sign its server's, and that this computer's store doesn't hold.
//!
//! An *authority* is a certificate that may sign others. Invariants: nothing but certificates is taken out of a file, and
//! a file with a private key is refused whole; what isn't an authority is refused, since trust in it would mean nothing.

mod der;

use std::sync::Arc;

use domain::digest::Digest;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// Most bytes of a file: a few certificates, not a store.
pub const FILE_BYTES: usize = 256 << 10;
/// Most authorities of a service.
const MOST: usize = 16;

/// One authority.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Authority {
    der: CertificateDer<'static>,
    /// Whose it is: its names from the narrowest to the widest.
    pub subject: String,
    /// SHA-256 of the certificate, as browsers and `openssl` show it.
    pub fingerprint: Digest,
    /// The last moment it holds, in milliseconds since 1970.
    pub until_ms: u64,
}

/// The authorities of one service; none for most.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Authorities(Arc<[Authority]>);

/// Why a file gives no authorities.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthorityError {
    /// Too large.
    #[error("the file is larger than a few certificates")]
    TooLarge,
    /// A key belongs to whoever runs the server, and in no other file.
    #[error(
        "there is a private key in the file, which must stay with the server; give the certificate alone"
    )]
    PrivateKey,
    /// No PEM, or none with certificates.
    #[error("there is no certificate in the file; it has to be PEM text with -----BEGIN CERTIFICATE-----")]
    NotPem,
    /// A certificate that can't be read.
    #[error("certificate {0} in the file can't be read")]
    Unreadable(usize),
    /// More than a service has.
    #[error("there are more than {MOST} certificates in the file")]
    TooMany,
    /// A server's certificate, most of the time.
    #[error(
        "the certificate of {0} isn't an authority's: it signs no others; give the one that signed the server's"
    )]
    NotAuthority(String),
    /// It was an authority once.
    #[error("the certificate of {0} has expired")]
    Expired(String),
}

impl Authorities {
    /// Reads the authorities of a PEM file, whether they still hold or not.
    ///
    /// # Errors
    /// When it holds none, or anything that mustn't be kept.
    pub fn read(pem: &[u8]) -> Result<Self, AuthorityError> {
        if pem.len() > FILE_BYTES {
            return Err(AuthorityError::TooLarge);
        }
        // Encrypted ones and those of formats nobody here knows, too.
        if memchr::memmem::find(pem, b"PRIVATE KEY-----").is_some() {
            return Err(AuthorityError::PrivateKey);
        }
        let mut all: Vec<Authority> = Vec::new();
        for (at, der) in CertificateDer::pem_slice_iter(pem).enumerate() {
            let authority = der.ok().and_then(read_one).ok_or(AuthorityError::Unreadable(at + 1))?;
            let (authority, signs) = authority;
            if !signs {
                return Err(AuthorityError::NotAuthority(authority.subject));
            }
            if !all.iter().any(|other| other.fingerprint == authority.fingerprint) {
                all.push(authority);
            }
        }
        match all.len() {
            0 => Err(AuthorityError::NotPem),
            1..=MOST => Ok(Self(all.into())),
            _ => Err(AuthorityError::TooMany),
        }
    }

    /// The same, where all of them hold at this moment.
    ///
    /// # Errors
    /// When one has expired.
    pub fn still_good(self, now_ms: u64) -> Result<Self, AuthorityError> {
        match self.0.iter().find(|authority| authority.until_ms < now_ms) {
            Some(old) => Err(AuthorityError::Expired(old.subject.clone())),
            None => Ok(self),
        }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Authority] {
        &self.0
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their certificates and nothing else, as PEM.
    #[must_use]
    pub fn to_pem(&self) -> String {
        use base64::Engine as _;
        let mut pem = String::new();
        for authority in self.all() {
            let text = base64::engine::general_purpose::STANDARD.encode(&authority.der);
            pem.push_str("-----BEGIN CERTIFICATE-----\n");
            for line in text.as_bytes().chunks(64) {
                pem.push_str(&String::from_utf8_lossy(line));
                pem.push('\n');
            }
            pem.push_str("-----END CERTIFICATE-----\n");
        }
        pem
    }
}

impl Authority {
    /// The certificate's bytes.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }
}

/// The certificate, and whether it may sign others; `None` where it isn't one that TLS can use.
fn read_one(der: CertificateDer<'static>) -> Option<(Authority, bool)> {
    let facts = der::read(&der)?;
    RootCertStore::empty().add(der.clone()).ok()?;
    let fingerprint = Digest::of(&der);
    let subject = if facts.subject.is_empty() { fingerprint.to_string() } else { facts.subject };
    Some((
        Authority { der, subject, fingerprint, until_ms: u64::try_from(facts.until_ms).unwrap_or(0) },
        facts.signs,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CA: &[u8] = include_bytes!("../tests/tls/office-ca.pem");
    const OTHER: &[u8] = include_bytes!("../tests/tls/ca.pem");
    const EXPIRED: &[u8] = include_bytes!("../tests/tls/expired-ca.pem");
    const SERVER: &[u8] = include_bytes!("../tests/tls/server.pem");
    const KEY: &[u8] = include_bytes!("../tests/tls/server.key");

    #[test]
    fn a_file_of_authorities_is_read_and_only_its_certificates_come_out() {
        let all = Authorities::read(&[b"Office\n", CA, b"\nnotes\n", OTHER, CA].concat()).unwrap();
        let told: Vec<_> =
            all.all().iter().map(|one| (one.subject.as_str(), one.until_ms / 86_400_000)).collect();
        assert_eq!(told, [("Office authority, Example Ltd", 57_287), ("Test authority", 57_286)]);
        let pem = all.to_pem();
        assert_eq!(pem.as_bytes(), [CA, OTHER].concat(), "as openssl writes them");
        assert_eq!(Authorities::read(pem.as_bytes()), Ok(all));
    }

    #[test]
    fn what_cannot_be_trusted_says_why() {
        let encrypted = b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let torn = b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        let table: [(Vec<u8>, AuthorityError); 9] = [
            (b"\x30\x82\x01\x00".to_vec(), AuthorityError::NotPem),
            (Vec::new(), AuthorityError::NotPem),
            (
                b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n".to_vec(),
                AuthorityError::NotPem,
            ),
            ([CA, KEY].concat(), AuthorityError::PrivateKey),
            ([encrypted, CA].concat(), AuthorityError::PrivateKey),
            ([CA, torn].concat(), AuthorityError::Unreadable(2)),
            (SERVER.to_vec(), AuthorityError::NotAuthority("localhost".into())),
            (CA.repeat(1 + FILE_BYTES / CA.len()), AuthorityError::TooLarge),
            (CA[..CA.len() - 30].to_vec(), AuthorityError::Unreadable(1)),
        ];
        for (given, why) in table {
            assert_eq!(Authorities::read(&given), Err(why));
        }
    }

    #[test]
    fn one_that_has_expired_is_read_and_refused_where_it_is_to_hold() {
        let old = Authorities::read(EXPIRED).unwrap();
        // 2020-01-02 00:00:00.
        assert_eq!(old.all()[0].until_ms, 1_577_923_200_000);
        assert!(old.clone().still_good(1_577_923_200_000).is_ok());
        let why = old.still_good(1_577_923_200_001);
        assert_eq!(why, Err(AuthorityError::Expired("Expired authority".into())));
    }
}
