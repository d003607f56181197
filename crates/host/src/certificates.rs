//! Certificates of services' own, kept in the data folder: a file for each service that has some.
//!
//! Invariants: what is kept is certificates and nothing else, readable by the owner alone; a file is taken whole or the one
//! before stays; a service that is removed leaves none behind for the next one of its name.

use crate::keep;
use api::error;
use api::wire::ApiError;
use api::wire::store::ProviderCertificate;
use domain::ids::Ids as _;
use providers::{Authorities, AuthorityError};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Their folder inside the data folder.
const FOLDER: &str = "certificates";
const ENDING: &str = "pem";

/// All of them.
#[derive(Debug)]
pub(crate) struct Certificates {
    folder: PathBuf,
    of: RwLock<HashMap<String, Authorities>>,
}

impl Certificates {
    /// Reads what is kept. One that can't be read is passed over: nobody is trusted by it.
    pub(crate) fn open(data: &Path) -> Self {
        let folder = data.join(FOLDER);
        let mut of = HashMap::new();
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let id = path.file_stem().and_then(|stem| stem.to_str());
            let (Some(id), true) = (id, path.extension().is_some_and(|ending| ending == ENDING)) else {
                continue;
            };
            match read(&path) {
                Ok(authorities) => drop(of.insert(id.to_owned(), authorities)),
                Err(why) => tracing::warn!(code = why.code, "a kept certificate can't be read"),
            }
        }
        Self { folder, of: RwLock::new(of) }
    }

    /// Those of a service.
    pub(crate) fn of(&self, service: &str) -> Authorities {
        self.of.read().unwrap_or_else(PoisonError::into_inner).get(service).cloned().unwrap_or_default()
    }

    /// The same for showing.
    pub(crate) fn shown(&self, service: &str, now_ms: u64) -> Vec<ProviderCertificate> {
        let authorities = self.of(service);
        let shown = authorities.all().iter().map(|authority| ProviderCertificate {
            subject: authority.subject.clone(),
            fingerprint: authority.fingerprint.to_string(),
            until: authority.until_ms,
            expired: authority.until_ms < now_ms,
        });
        shown.collect()
    }

    /// Takes those of a file for a service.
    pub(crate) fn set(&self, service: &str, from: &Path, now_ms: u64) -> Result<(), ApiError> {
        let authorities = read(from)?.still_good(now_ms).map_err(|why| unfit(&why))?;
        self.write(service, &authorities.to_pem()).map_err(|io| unkept(&io))?;
        let mut all = self.of.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(service.to_owned(), authorities);
        Ok(())
    }

    /// Trusts those of a service no longer. Having none is no error.
    pub(crate) fn remove(&self, service: &str) -> Result<(), ApiError> {
        match fs::remove_file(self.file(service)) {
            Err(io) if io.kind() != ErrorKind::NotFound => return Err(unkept(&io)),
            _ => {}
        }
        self.of.write().unwrap_or_else(PoisonError::into_inner).remove(service);
        Ok(())
    }

    fn file(&self, service: &str) -> PathBuf {
        self.folder.join(format!("{service}.{ENDING}"))
    }

    /// Beside it first, then over it.
    fn write(&self, service: &str, pem: &str) -> std::io::Result<()> {
        store::create_folder(&self.folder).map_err(std::io::Error::other)?;
        let part = self.folder.join(format!("{:08x}.part", crate::SystemIds.next() as u32));
        let write = || {
            let mut how = OpenOptions::new();
            how.write(true).create_new(true);
            keep::private(&mut how);
            let mut file = how.open(&part)?;
            file.write_all(pem.as_bytes())?;
            file.sync_all()?;
            fs::rename(&part, self.file(service))
        };
        write().inspect_err(|_| drop(fs::remove_file(&part)))
    }
}

/// Reads a file of certificates, no further than one can be long.
fn read(path: &Path) -> Result<Authorities, ApiError> {
    let mut bytes = Vec::new();
    let mut reading = || {
        // A pipe would be waited for.
        if !fs::metadata(path)?.is_file() {
            return Err(std::io::Error::new(ErrorKind::InvalidInput, "it isn't a file"));
        }
        let most = providers::certificates::FILE_BYTES as u64 + 1;
        File::open(path)?.take(most).read_to_end(&mut bytes)
    };
    reading().map_err(|io| {
        error(
            "certificate/file",
            format!("the file can't be read: {io}"),
            "Look at the file and its permissions.",
        )
    })?;
    Authorities::read(&bytes).map_err(|why| unfit(&why))
}

fn unfit(why: &AuthorityError) -> ApiError {
    let code = match why {
        AuthorityError::TooLarge | AuthorityError::TooMany => "certificate/too_many",
        AuthorityError::PrivateKey => "certificate/private_key",
        AuthorityError::NotPem => "certificate/not_pem",
        AuthorityError::Unreadable(_) => "certificate/unreadable",
        AuthorityError::NotAuthority(_) => "certificate/not_authority",
        AuthorityError::Expired(_) => "certificate/expired",
    };
    error(code, why.to_string(), "Nothing was taken from the file.")
}

fn unkept(io: &std::io::Error) -> ApiError {
    error(
        "certificate/failed",
        format!("the certificate can't be kept or removed: {io}"),
        "Look at the data folder.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../providers/tests/tls").join(name)
    }

    #[test]
    fn certificates_are_kept_for_the_owner_alone_and_read_again() {
        let data = tempfile::tempdir().unwrap();
        let kept = Certificates::open(data.path());
        kept.set("ours", &file("ca.pem"), 0).unwrap();
        kept.set("ours", &file("office-ca.pem"), 0).unwrap();
        let again = Certificates::open(data.path());
        assert_eq!((again.of("ours"), again.of("theirs").is_empty()), (kept.of("ours"), true));
        let [shown] = &again.shown("ours", u64::MAX)[..] else { panic!("the one that replaced the first") };
        assert_eq!((shown.subject.as_str(), shown.expired), ("Office authority, Example Ltd", true));
        let folder = data.path().join(FOLDER);
        let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert_eq!(names, ["ours.pem"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&folder), mode(&folder.join("ours.pem"))), (0o700, 0o600));
        }
        again.remove("ours").unwrap();
        again.remove("ours").unwrap();
        assert!(again.of("ours").is_empty() && Certificates::open(data.path()).of("ours").is_empty());
    }

    #[test]
    fn a_key_is_refused_and_never_copied() {
        let data = tempfile::tempdir().unwrap();
        let kept = Certificates::open(data.path());
        kept.set("ours", &file("ca.pem"), 0).unwrap();
        let both = data.path().join("both.pem");
        let bytes = [fs::read(file("ca.pem")).unwrap(), fs::read(file("server.key")).unwrap()].concat();
        fs::write(&both, bytes).unwrap();
        for (from, code) in [
            (both, "certificate/private_key"),
            (file("server.key"), "certificate/private_key"),
            (file("server.pem"), "certificate/not_authority"),
            (file("expired-ca.pem"), "certificate/expired"),
            (file("nowhere.pem"), "certificate/file"),
            (data.path().to_owned(), "certificate/file"),
            (Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"), "certificate/not_pem"),
        ] {
            // 2026-01-01.
            assert_eq!(kept.set("ours", &from, 1_767_225_600_000).unwrap_err().code, code, "{from:?}");
        }
        let left = fs::read(data.path().join(FOLDER).join("ours.pem")).unwrap();
        assert_eq!(left, fs::read(file("ca.pem")).unwrap(), "what was there is there still");
    }

    #[test]
    fn a_torn_file_trusts_nobody() {
        let data = tempfile::tempdir().unwrap();
        fs::create_dir(data.path().join(FOLDER)).unwrap();
        fs::write(data.path().join(FOLDER).join("ours.pem"), "-----BEGIN CERT").unwrap();
        assert!(Certificates::open(data.path()).of("ours").is_empty());
    }
}
