//! A service's own certificate, set on the command line: it is asked under it, and no other service is.

use crate::rig::{Done, Rig};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Those of the providers' tests.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../providers/tests/tls").join(name)
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"choices\":[{\"message\":{\"content\":\"reached\"},\"finish_reason\":\"stop\"}]}";

/// An https server that answers every request, for as long as the process lives.
fn https_server() -> String {
    let certificates = vec![CertificateDer::from_pem_file(file("server.pem")).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(file("server.key")).expect("a key");
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .expect("a server");
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").expect("a port"));
    let address = format!("https://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = rustls::ServerConnection::new(Arc::clone(&config)).expect("a session");
            let mut stream = rustls::StreamOwned::new(session, stream);
            // A client that refuses the certificate makes these fail, as it should.
            if stream.read(&mut [0; 64 * 1024]).is_ok() {
                drop(stream.write_all(OK));
                stream.conn.send_close_notify();
                drop(stream.flush());
            }
        }
    });
    address
}

/// The program, on a computer that trusts one authority, which signed nothing here.
fn run(rig: &Rig, args: &[&str]) -> Done {
    let store = rig.root.path().join("trusted");
    std::fs::create_dir_all(&store).expect("a folder");
    std::fs::copy(file("expired-ca.pem"), store.join("11111111.0")).expect("a copy");
    let mut command = rig.command(args);
    command.env("SSL_CERT_DIR", store).env_remove("SSL_CERT_FILE");
    Done::of(command.output().expect("it runs"))
}

fn ask(rig: &Rig, dialect: &str, address: &str) -> Done {
    let of = ["--provider", dialect, "--base-url", address, "--model", "m", "--json", "hi"];
    run(rig, &[&["exec", "--folder", "project"][..], &of].concat())
}

/// What the turn failed of.
fn problem(done: &Done) -> Value {
    done.events("turn/end").last().map_or(Value::Null, |ended| ended["end"]["certificate"].clone())
}

#[test]
fn a_service_is_asked_under_its_own_certificate_and_no_other_service_is() {
    let rig = Rig::new(json!([]));
    let address = https_server();
    let refused = ask(&rig, "openai-chat", &address);
    assert_eq!((refused.code, problem(&refused)), (4, json!("untrusted")), "{}", refused.out);
    assert!(refused.out.contains("isn't signed by an authority this computer trusts"), "{}", refused.out);

    let (ca, key) = (file("ca.pem"), file("server.key"));
    let with_key = run(&rig, &["certificate", "openai-chat", "--set", key.to_str().expect("a path")]);
    assert!(with_key.code == 2 || with_key.code == 1, "{}", with_key.code);
    assert!(with_key.err.contains("there is a private key in the file"), "{}", with_key.err);
    let unknown = run(&rig, &["certificate", "nobody", "--set", ca.to_str().expect("a path")]);
    assert!(unknown.code != 0 && unknown.err.contains("nobody"), "{}", unknown.err);

    let set = run(&rig, &["certificate", "openai-chat", "--set", ca.to_str().expect("a path")]);
    assert_eq!(set.code, 0, "{}", set.err);
    assert!(set.out.starts_with("Test authority, until 2126-11-05, sha256 "), "{}", set.out);
    let reached = ask(&rig, "openai-chat", &address);
    assert_eq!(reached.code, 0, "{}", reached.out);
    // The same server by another service's name, whose dialect doesn't matter: it isn't spoken to at all.
    let other = ask(&rig, "anthropic-messages", &address);
    assert_eq!((other.code, problem(&other)), (4, json!("untrusted")), "{}", other.out);

    let shown = run(&rig, &["certificate", "openai-chat", "--json"]);
    assert_eq!(shown.json()[0]["subject"], "Test authority");
    let removed = run(&rig, &["certificate", "openai-chat", "--remove"]);
    assert_eq!((removed.code, removed.out.as_str()), (0, ""), "{}", removed.err);
    assert_eq!(problem(&ask(&rig, "openai-chat", &address)), json!("untrusted"));
}
