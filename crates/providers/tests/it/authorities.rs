//! Authorities of a service's own: who trusts them, what a refusal says, and an encrypted answer that breaks off.
//!
//! The system's store comes from the environment, so each case runs in a process of its own, with a store in which stands
//! one authority that signed nothing here.

use domain::model::{CertificateProblem, ErrorClass};
use providers::{Authorities, Http, SendError};
use tokio_util::sync::CancellationToken;

use crate::net::{Kept, connection, http, send_over};
use crate::tls::{OK, asked, elsewhere, file, https_server_with};

/// Nobody is told more than this of what failed: its class, the certificate's problem, the words, what had arrived.
type Failed = (ErrorClass, Option<CertificateProblem>, String, String);

/// Sends to a service that trusts these files, or to one that trusts nobody else than the system does.
async fn send(http: &Http, target: &str, trusted: &[&str]) -> Result<String, Failed> {
    let pem: Vec<u8> = trusted.iter().flat_map(|name| std::fs::read(file(name)).unwrap()).collect();
    let mut connection = connection("openai-chat", target);
    if !pem.is_empty() {
        connection = connection.trusting(Authorities::read(&pem).unwrap());
    }
    let (result, kept): (_, Kept) = send_over(http, &connection, &CancellationToken::new()).await;
    match result {
        Ok(_) => Ok(kept.text()),
        Err(SendError::Failed(error)) => {
            Err((error.class, error.answered.certificate, error.message, error.partial_text))
        }
        Err(SendError::Cancelled(_)) => panic!("nobody cancelled"),
    }
}

/// Runs this in a process with that store, and fails where it failed there.
fn in_a_process_of_its_own<F: Future<Output = ()>>(test: &str, run: impl FnOnce(Http) -> F) {
    if asked().is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(http()));
        println!("TOLD all of it");
        return;
    }
    let store = tempfile::tempdir().unwrap();
    std::fs::copy(file("expired-ca.pem"), store.path().join("11111111.0")).unwrap();
    let variables = [("SSL_CERT_DIR", store.path().to_str().unwrap())];
    assert_eq!(elsewhere(&format!("authorities::{test}"), "itself", &variables), "all of it");
}

fn address(port: u16) -> String {
    format!("https://127.0.0.1:{port}")
}

#[test]
fn an_own_authority_is_trusted_for_its_service_and_for_no_other() {
    in_a_process_of_its_own(
        "an_own_authority_is_trusted_for_its_service_and_for_no_other",
        async |http: Http| {
            let target = address(https_server_with("server.pem", OK, true));
            let refused = |answer: Result<String, Failed>| {
                let (class, problem, words, _) = answer.unwrap_err();
                assert_eq!((class, problem), (ErrorClass::Network, Some(CertificateProblem::Untrusted)));
                assert!(
                    words.contains("isn't signed by an authority this computer trusts")
                        && words.contains("give its certificate in the settings"),
                    "{words}"
                );
            };
            refused(send(&http, &target, &[]).await);
            assert!(send(&http, &target, &["office-ca.pem", "ca.pem"]).await.is_ok());
            // The same address, the same transport, another service: the connection isn't reused, the trust isn't either.
            refused(send(&http, &target, &[]).await);
            refused(send(&http, &target, &["office-ca.pem"]).await);
        },
    );
}

#[test]
fn a_refused_certificate_says_what_is_wrong_with_it() {
    in_a_process_of_its_own("a_refused_certificate_says_what_is_wrong_with_it", async |http: Http| {
        for (certificate, problem, words) in [
            ("server-expired.pem", CertificateProblem::Expired, "the server's certificate has expired"),
            (
                "server-elsewhere.pem",
                CertificateProblem::Name,
                "the server's certificate is for another address",
            ),
            (
                "server-authority.pem",
                CertificateProblem::Authority,
                "the server shows an authority's certificate",
            ),
        ] {
            let target = address(https_server_with(certificate, OK, true));
            let trusted = ["office-ca.pem", "server-authority.pem"];
            let (class, found, said, _) = send(&http, &target, &trusted).await.unwrap_err();
            assert_eq!((class, found), (ErrorClass::Network, Some(problem)), "{said}");
            assert!(said.contains(words), "{said}");
        }
    });
}

/// An answer to its middle, and to its end.
const MIDDLE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n";
const CHUNK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n3c\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n\r\n";

#[test]
fn x13_an_encrypted_answer_that_breaks_off_is_cut() {
    in_a_process_of_its_own("x13_an_encrypted_answer_that_breaks_off_is_cut", async |http: Http| {
        for (answer, says_so) in [(MIDDLE, false), (MIDDLE, true), (CHUNK, false), (CHUNK, true)] {
            let target = address(https_server_with("server.pem", answer, says_so));
            let (class, problem, said, partial) = send(&http, &target, &["ca.pem"]).await.unwrap_err();
            assert_eq!((class, problem, partial.as_str()), (ErrorClass::Cut, None, "half"), "{said}");
        }
    });
}
