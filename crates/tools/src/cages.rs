//! The launcher that is really used: the system's cage.
//!
//! Turns an order into a profile of the cage, and serves the network of one that has hosts. Invariant: the floor is what
//! the policy judged by ([`Cage`] as probed on this machine), and an uncaged start happens only when the order says so.

use crate::launch::{Ended, Exit, Hold, LaunchError, Launcher, Order, Reach, Running};
use crate::network::{Bounds, Direct, Proxy, Used, Way};
use crate::policy::Cage;
use sandbox::{CommandSpec, Floor, Mechanism, Network, Overrun, Profile, Strength, WriteAccess};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Starts commands in the best cage of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cages;

impl Launcher for Cages {
    fn cage(&self) -> Cage {
        match &sandbox::probe().strength {
            Strength::Full => Cage::Full,
            Strength::Partial(_) => Cage::Partial,
            Strength::None(_) => Cage::None,
        }
    }

    fn can_reach_hosts(&self) -> bool {
        sandbox::probe().chosen.is_some_and(Mechanism::can_proxy)
    }

    fn launch(&self, order: &Order) -> Result<Box<dyn Running>, LaunchError> {
        self.launch_by(order, Arc::new(Direct))
    }
}

impl Cages {
    /// As [`Launcher::launch`], with another way to the network: for trying a cage where there is none.
    ///
    /// # Errors
    /// As [`Launcher::launch`].
    pub fn launch_by(self, order: &Order, way: Arc<dyn Way>) -> Result<Box<dyn Running>, LaunchError> {
        let is_absent = |path: &&PathBuf| path.symlink_metadata().is_err();
        let absent = order.keep.iter().filter(is_absent).cloned().collect();
        let command = CommandSpec {
            program: order.program.clone(),
            args: order.args.iter().map(Into::into).collect(),
            env: order.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        };
        let caged = |write| {
            let profile = Profile {
                write,
                hide: order.hide.clone(),
                read_only: order.keep.iter().chain(&order.look).cloned().collect(),
                network: match order.reach {
                    Reach::Nothing => Network::None,
                    Reach::Hosts(_) => Network::Proxy,
                },
                ..Profile::for_folder(&order.folder)
            };
            sandbox::spawn(&profile, &command, Floor::Partial)
        };
        let started = match order.hold {
            Hold::Caged => caged(WriteAccess::Folder),
            Hold::ReadOnly => caged(WriteAccess::None),
            Hold::Uncaged => sandbox::spawn_uncaged(&order.folder, &command),
        };
        let mut caged = started.map_err(|error| LaunchError(in_words(&error)))?;
        let proxy = match (&order.reach, caged.proxy.take()) {
            (Reach::Hosts(hosts), Some(outlet)) => {
                let started = Proxy::start(outlet, hosts.clone(), way, Bounds::default());
                Some(started.map_err(|error| LaunchError(in_words(&error)))?)
            }
            (Reach::Hosts(_) | Reach::Nothing, _) => None,
        };
        Ok(Box::new(Held { caged, proxy, absent }))
    }
}

struct Held {
    caged: sandbox::Caged,
    proxy: Option<Proxy>,
    /// What was to be kept and wasn't there.
    absent: Vec<PathBuf>,
}

impl Running for Held {
    fn pipes(&mut self) -> (Option<File>, Option<File>) {
        (self.caged.stdout.take(), self.caged.stderr.take())
    }

    fn wait_timeout(&self, limit: Duration) -> Option<Ended> {
        self.caged.wait_timeout(limit).map(ended)
    }

    fn kill(&self) -> Option<Ended> {
        Some(ended(self.caged.kill()))
    }

    fn made(&self) -> Vec<PathBuf> {
        self.absent.iter().filter(|path| path.symlink_metadata().is_ok()).cloned().collect()
    }

    fn over(&self) -> Option<&'static str> {
        Some(match self.caged.try_wait()?.over? {
            Overrun::Memory => "memory",
            Overrun::Processes => "processes",
        })
    }

    fn used(&self) -> Vec<Used> {
        self.proxy.as_ref().map(Proxy::used).unwrap_or_default()
    }
}

fn ended(end: sandbox::End) -> Ended {
    const KILL: i32 = 9;
    let exit = match end.exit {
        // Not by us: the cage ended it for what it used.
        sandbox::Exit::Killed if end.over.is_some() => Exit::Signal(KILL),
        sandbox::Exit::Code(code) => Exit::Code(code),
        sandbox::Exit::Signal(signal) => Exit::Signal(signal),
        sandbox::Exit::Killed => Exit::Killed,
        sandbox::Exit::NotStarted(why) => Exit::NotStarted(why),
        sandbox::Exit::Lost => Exit::Lost,
    };
    Ended {
        exit,
        leftovers: end.leftovers.into_iter().map(|one| one.name).collect(),
        more_leftovers: end.more_leftovers,
    }
}

/// An error with what is behind it.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(&format!(": {inner}"));
        source = inner.source();
    }
    text
}
