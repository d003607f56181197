//! How strong a cage is, and how it is made.
//!
//! **Strength** is what the operating system really enforces, never what we hoped for: it comes from cages that
//! were built and tried on this machine. Invariant: a cage weaker than the demanded **floor** is an error; no
//! code path falls back silently.

use std::fmt;
use std::sync::LazyLock;

/// A way to build a cage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(target_os = "linux", derive(serde::Serialize, serde::Deserialize))]
pub enum Mechanism {
    /// `bwrap` builds the root and the namespaces; we are its first process.
    Bubblewrap,
    /// Our own namespaces and root, without any outside program.
    Namespaces,
    /// No namespaces: file rules, a system-call filter and a supervisor. Always partial.
    Landlock,
    /// macOS: a profile for the system's `sandbox-exec`, and a process group. Always partial.
    Seatbelt,
    /// Windows: an app container without capabilities in a job object. Always partial.
    AppContainer,
}

impl Mechanism {
    /// Every mechanism of this system, the preferred one first.
    #[cfg(target_os = "macos")]
    pub const ALL: [Self; 1] = [Self::Seatbelt];
    /// Every mechanism of this system, the preferred one first.
    #[cfg(windows)]
    pub const ALL: [Self; 1] = [Self::AppContainer];
    /// Every mechanism of this system, the preferred one first.
    #[cfg(not(any(target_os = "macos", windows)))]
    pub const ALL: [Self; 3] = [Self::Bubblewrap, Self::Namespaces, Self::Landlock];

    /// Whether it can leave a proxy as the only way to the network ([`Network::Proxy`](crate::Network::Proxy)). Landlock
    /// knows ports but no addresses; a Windows container reaches no port of its own machine.
    pub fn can_proxy(self) -> bool {
        match self {
            Self::Bubblewrap | Self::Namespaces | Self::Seatbelt => true,
            Self::Landlock | Self::AppContainer => false,
        }
    }

    /// A stable lower-case name for logs and `doctor`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::Seatbelt => "seatbelt",
            Self::AppContainer => "app container",
        }
    }
}

/// What a cage enforces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strength {
    /// Files, processes and network are cut off, and nothing outlives us.
    Full,
    /// Files and network are cut off; what is listed isn't.
    Partial(Vec<Missing>),
    /// There is no cage on this machine; the text says why.
    None(String),
}

/// One thing a partial cage doesn't enforce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Whether a file outside exists, its size and times can be asked for (not its content).
    FileNames,
    /// A part of a writable folder that was listed as read-only can be changed: rules only add up.
    ReadOnlyParts,
    /// Mode, owner and times of a file that may only be read can be changed by its owner (in a cage that can write).
    Attributes,
    /// Killing the supervisor itself (on macOS that is the app), or forking faster than it can look, can leave processes
    /// behind.
    UnsupervisedEnd,
    /// The number of processes isn't limited.
    ProcessCount,
    /// Processes of the same user outside can be sent signals.
    Signals,
    /// Memory isn't limited.
    Memory,
    /// The size of a file isn't limited.
    FileSize,
}

impl Missing {
    /// A stable lower-case name for logs and `doctor`.
    pub fn name(self) -> &'static str {
        match self {
            Self::FileNames => "file names",
            Self::ReadOnlyParts => "read-only parts",
            Self::Attributes => "attributes",
            Self::UnsupervisedEnd => "end with the supervisor",
            Self::ProcessCount => "process count",
            Self::Signals => "signals",
            Self::Memory => "memory",
            Self::FileSize => "file size",
        }
    }
}

/// The least strength a caller accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floor {
    /// Only [`Strength::Full`].
    Full,
    /// Also [`Strength::Partial`].
    Partial,
}

/// One primitive or mechanism that was tried on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    /// It did what it should; the text adds a fact, e.g. a version.
    Works(String),
    /// It doesn't; the text says what failed.
    Fails(String),
}

impl Tried {
    /// Whether it worked.
    pub fn works(&self) -> bool {
        matches!(self, Self::Works(_))
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Works(fact) => write!(f, "works ({fact})"),
            Self::Fails(why) => write!(f, "doesn't work ({why})"),
        }
    }
}

/// What was found on this machine. Each mechanism was tried by running a command in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Every mechanism of this system and how it went, in the order of [`Mechanism::ALL`].
    pub tried: Vec<(Mechanism, Tried)>,
    /// Landlock's interface version, if the kernel has it.
    pub landlock_abi: Option<u32>,
    /// The mechanism [`spawn`](crate::spawn) uses.
    pub chosen: Option<Mechanism>,
    /// What that mechanism enforces.
    pub strength: Strength,
}

impl Report {
    /// A report on what was tried; the first that works is chosen. `strength` says what a mechanism enforces.
    pub(crate) fn of_trials(
        tried: Vec<(Mechanism, Tried)>,
        landlock_abi: Option<u32>,
        strength: impl Fn(Mechanism) -> Strength,
    ) -> Self {
        let chosen = tried.iter().find(|(_, tried)| tried.works()).map(|(mechanism, _)| *mechanism);
        let told = |(mechanism, tried): &(Mechanism, Tried)| format!("{}: {tried}", mechanism.name());
        let strength = chosen
            .map_or_else(|| Strength::None(tried.iter().map(told).collect::<Vec<_>>().join("; ")), strength);
        Self { tried, landlock_abi, chosen, strength }
    }

    /// What was found for one mechanism.
    pub fn of(&self, mechanism: Mechanism) -> &Tried {
        static ELSEWHERE: LazyLock<Tried> = LazyLock::new(|| Tried::Fails("not on this system".into()));
        self.tried.iter().find(|(one, _)| *one == mechanism).map_or(&ELSEWHERE, |(_, tried)| tried)
    }
}
