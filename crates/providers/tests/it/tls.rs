//! Trust and proxies, which come from the environment: each case runs in a process of its own.
//!
//! The certificates in `tests/tls` belong to authorities whose keys were thrown away; they are good for nothing else. `ca` signed
//! `server`; `office-ca` signed `server-expired` and `server-elsewhere`, which is for another name, all with `server.key`.
//! `expired-ca` signed nothing, and `server-authority` is an authority that signed itself. Those that hold do so until 2126; all were made with `openssl req -x509` and `openssl ca`.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use domain::model::ErrorClass;
use providers::SendError;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::net::send;
use crate::server::PATIENCE;

pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"choices\":[{\"message\":{\"content\":\"reached\"},\"finish_reason\":\"stop\"}]}";

pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

/// Names a test and where its other process should send; the other process runs the same test again.
pub(crate) fn asked() -> Option<String> {
    std::env::var("PROVIDERS_TEST_TARGET").ok()
}

/// Sends and prints what happened, in the other process.
fn report(target: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let told = match runtime.block_on(send("openai-chat", target)).0 {
        Ok(_) => "reached".to_owned(),
        Err(SendError::Failed(error)) => {
            assert_eq!(error.class, ErrorClass::Network);
            error.message
        }
        Err(SendError::Cancelled(_)) => panic!("nobody cancelled"),
    };
    println!("TOLD {told}");
}

/// Runs this test again with these variables and gives what its request met.
pub(crate) fn elsewhere(test: &str, target: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env("PROVIDERS_TEST_TARGET", target);
    for name in [
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
        "NO_PROXY",
        "no_proxy",
    ] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let told = text.lines().find_map(|line| line.split_once("TOLD ").map(|(_, told)| told.to_owned()));
    told.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// An https server with a certificate of the test authority, for as long as the process lives.
fn https_server() -> u16 {
    https_server_with("server.pem", OK, true)
}

/// One with this certificate and answer, which says that the answer is over, or just goes.
pub(crate) fn https_server_with(certificate: &str, answer: &'static [u8], says_so: bool) -> u16 {
    let certificates =
        CertificateDer::pem_file_iter(file(certificate)).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(session, stream);
            // A client that refuses the certificate makes these fail, as it should.
            if stream.read(&mut [0; 8192]).is_ok() {
                drop(stream.write_all(answer));
                if says_so {
                    stream.conn.send_close_notify();
                }
                drop(stream.flush());
            }
        }
    });
    port
}

/// A plain server that tells the first line of each request; stands in for a proxy.
fn plain_server() -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut buffer = [0; 8192];
            let n = stream.read(&mut buffer).unwrap_or(0);
            let line = String::from_utf8_lossy(&buffer[..n]).lines().next().unwrap_or_default().to_owned();
            drop(tell.send(line));
            drop(stream.write_all(OK));
        }
    });
    (port, told)
}

#[test]
fn p41_the_authority_of_ssl_cert_file_is_trusted() {
    if let Some(target) = asked() {
        return report(&target);
    }
    let target = format!("https://127.0.0.1:{}", https_server());
    let run = |variables: &[(&str, &str)]| {
        elsewhere("tls::p41_the_authority_of_ssl_cert_file_is_trusted", &target, variables)
    };
    assert_eq!(run(&[("SSL_CERT_FILE", file("ca.pem").to_str().unwrap())]), "reached");
    let missing = run(&[("SSL_CERT_FILE", "/nonexistent/ca.pem")]);
    assert!(
        missing.starts_with("SSL_CERT_FILE names /nonexistent/ca.pem, which can't be used: "),
        "{missing}"
    );
}

#[test]
fn a_plain_server_on_this_machine_needs_no_certificates() {
    if let Some(target) = asked() {
        return report(&target);
    }
    let (port, at_local) = plain_server();
    let nothing = [("SSL_CERT_FILE", "/nonexistent/ca.pem"), ("SSL_CERT_DIR", "/nonexistent")];
    let name = "tls::a_plain_server_on_this_machine_needs_no_certificates";
    assert_eq!(elsewhere(name, &format!("http://127.0.0.1:{port}"), &nothing), "reached");
    assert_eq!(at_local.recv_timeout(PATIENCE).unwrap(), "POST /v1/chat/completions HTTP/1.1");
}

#[cfg(target_os = "linux")]
#[test]
fn p40_the_systems_store_decides_and_a_refusal_says_why() {
    if let Some(target) = asked() {
        return report(&target);
    }
    let store = tempfile::tempdir().unwrap();
    let target = format!("https://127.0.0.1:{}", https_server());
    let run = || {
        let variables = [("SSL_CERT_DIR", store.path().to_str().unwrap())];
        elsewhere("tls::p40_the_systems_store_decides_and_a_refusal_says_why", &target, &variables)
    };
    // Another authority than the server's: its own certificate, which has signed nothing.
    std::fs::copy(file("server.pem"), store.path().join("11111111.0")).unwrap();
    let refused = run();
    assert!(refused.contains("isn't signed by an authority this computer trusts"), "{refused}");
    // What the system's own tool does with a company's authority: a file named by hash in the store's folder.
    std::fs::copy(file("ca.pem"), store.path().join("22222222.0")).unwrap();
    assert_eq!(run(), "reached");
}

#[test]
fn p41_the_systems_proxy_is_used_but_not_for_this_machine() {
    if let Some(target) = asked() {
        return report(&target);
    }
    let (proxy_port, at_proxy) = plain_server();
    let (local_port, at_local) = plain_server();
    let proxy = format!("http://127.0.0.1:{proxy_port}");
    let run = |target: &str, variables: &[(&str, &str)]| {
        elsewhere("tls::p41_the_systems_proxy_is_used_but_not_for_this_machine", target, variables)
    };
    assert_eq!(run("http://models.invalid/v1", &[("HTTP_PROXY", &proxy)]), "reached");
    assert_eq!(
        at_proxy.recv_timeout(PATIENCE).unwrap(),
        "POST http://models.invalid/v1/chat/completions HTTP/1.1"
    );
    assert_eq!(run(&format!("http://localhost:{local_port}"), &[("HTTP_PROXY", &proxy)]), "reached");
    assert_eq!(at_local.recv_timeout(PATIENCE).unwrap(), "POST /v1/chat/completions HTTP/1.1");
    let excepted = run("http://models.invalid/v1", &[("HTTP_PROXY", &proxy), ("NO_PROXY", "models.invalid")]);
    assert!(
        excepted.starts_with("couldn't connect to http://models.invalid/v1/chat/completions: "),
        "{excepted}"
    );
    assert!(at_proxy.try_recv().is_err(), "nothing more came to the proxy");
}
