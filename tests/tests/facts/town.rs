//! Two sites of an internet that is one machine: names lead to public addresses, and those to listeners of the test.

use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use tokio::net::TcpStream;
use tools::Cages;
use tools::launch::{LaunchError, Launcher, Order, Running};
use tools::network::{HostName, Way};

/// The hosts there are; both are served at port 80.
const HOSTS: [&str; 2] = ["one.example.com", "two.example.com"];

/// The internet of one test.
pub(super) struct Town {
    ports: [u16; 2],
}

impl Town {
    /// Opens the listeners; each answers every request with a word and ends with the test's process.
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let mut ports = [0; 2];
        for port in &mut ports {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            *port = listener.local_addr()?.port();
            std::thread::spawn(move || {
                for mut stream in listener.incoming().flatten() {
                    let mut head = [0; 1024];
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhere\n";
                    // A client that breaks off is no business of the test's.
                    let _ = stream.read(&mut head).and_then(|_| stream.write_all(answer));
                }
            });
        }
        Ok(Arc::new(Self { ports }))
    }

    /// The site that each local port stands for.
    pub(super) fn sites(&self) -> BTreeMap<String, String> {
        let site = |(port, host): (&u16, &str)| (port.to_string(), format!("{host}:80"));
        self.ports.iter().zip(HOSTS).map(site).collect()
    }
}

impl Way for Town {
    fn resolve<'a>(&'a self, host: &'a HostName) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let at = HOSTS.iter().position(|name| *name == host.as_str());
        let last = at.and_then(|at| u8::try_from(at).ok());
        let found = last.map(|last| vec![IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34 + last))]);
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }

    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        let last = match to.ip() {
            IpAddr::V4(address) => address.octets()[3],
            IpAddr::V6(_) => 0,
        };
        let port = last.checked_sub(34).and_then(|at| self.ports.get(usize::from(at)).copied());
        Box::pin(async move {
            let port = port.ok_or(io::ErrorKind::ConnectionRefused)?;
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await
        })
    }
}

/// The real cage with this internet.
pub(super) struct Towards(pub(super) Arc<Town>);

impl Launcher for Towards {
    fn cage(&self) -> tools::Cage {
        Cages.cage()
    }

    fn can_reach_hosts(&self) -> bool {
        Cages.can_reach_hosts()
    }

    fn launch(&self, order: &Order) -> Result<Box<dyn Running>, LaunchError> {
        Cages.launch_by(order, Arc::clone(&self.0) as _)
    }
}
