//! How strong a cage is, and how it is made.
//!
//! **Strength** is what the operating system really enforces, never what we hoped for: it comes from cages that
//! were built and tried on this machine. Invariant: a cage weaker than the demanded **floor** is an error; no
//! code path falls back silently.

use std::fmt;

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
}

impl Mechanism {
    /// Every mechanism, the preferred one first.
    pub const ALL: [Self; 3] = [Self::Bubblewrap, Self::Namespaces, Self::Landlock];

    /// A stable lower-case name for logs and `doctor`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
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
    /// Killing the supervisor itself (not the app), or forking faster than it can look, can leave processes behind.
    UnsupervisedEnd,
    /// The number of processes isn't limited.
    ProcessCount,
    /// Processes of the same user outside can be sent signals.
    Signals,
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
    /// A whole cage through `bwrap`.
    pub bubblewrap: Tried,
    /// A whole cage through our own user, process, mount, network, IPC and host-name namespaces.
    pub namespaces: Tried,
    /// A whole partial cage through Landlock, filter and supervisor; names the interface version.
    pub landlock: Tried,
    /// The system-call filter, as part of any of the above.
    pub seccomp: Tried,
    /// Landlock's interface version, if the kernel has it.
    pub landlock_abi: Option<u32>,
    /// The mechanism [`spawn`](crate::spawn) uses.
    pub chosen: Option<Mechanism>,
    /// What that mechanism enforces.
    pub strength: Strength,
}

impl Report {
    /// What was found for one mechanism.
    pub fn of(&self, mechanism: Mechanism) -> &Tried {
        match mechanism {
            Mechanism::Bubblewrap => &self.bubblewrap,
            Mechanism::Namespaces => &self.namespaces,
            Mechanism::Landlock => &self.landlock,
        }
    }
}
