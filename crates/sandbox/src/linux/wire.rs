//! What the app and its launcher say to each other, over the socket that is the launcher's standard input.
//!
//! The app sends one **plan** (length, then JSON) and perhaps one stop byte; closing means stop as well. The
//! launcher's side answers with lines of JSON. Invariant: the launcher learns everything from the plan; it
//! inherits no environment and no other descriptor.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, send, sendmsg,
};
use serde::{Deserialize, Serialize};

use super::layout::Place;
use crate::caged::Overrun;
use crate::strength::Mechanism;

/// The byte that asks for the end of the cage.
pub(crate) const STOP: u8 = b'K';
/// A plan is a few kilobytes, and its largest part (arguments, environment) is bounded by the kernel.
const MAX_PLAN_BYTES: u32 = 16 << 20;
/// Longest line of an answer: 32 leftovers of 120 characters, escaped, fit easily.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Everything the launcher needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// `None`: supervised, but without a cage.
    pub(crate) mechanism: Option<Mechanism>,
    /// Path of `bwrap`, for that mechanism.
    pub(crate) bwrap: Option<OsString>,
    /// What the new root holds, parents first.
    pub(crate) places: Vec<Place>,
    /// What the file rules allow to read and execute.
    pub(crate) readable: Vec<OsString>,
    /// What the file rules allow to change.
    pub(crate) writable: Vec<OsString>,
    /// The private folders; `None`: the launcher makes them below `scratch` and removes them at the end.
    pub(crate) private: Option<Private>,
    pub(crate) scratch: OsString,
    pub(crate) workdir: OsString,
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) limits: Option<PlanLimits>,
    /// Whether an outlet is opened inside and handed to the app.
    pub(crate) outlet: bool,
}

/// The folders behind `HOME` and `TMPDIR`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Private {
    pub(crate) home: OsString,
    pub(crate) tmp: OsString,
}

/// The profile's limits as they travel.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct PlanLimits {
    pub(crate) cpu_s: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) total_memory_bytes: u64,
    pub(crate) processes: u64,
    pub(crate) file_size_bytes: u64,
}

/// What the launcher's side tells the app.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Said {
    /// The outlet listens; its descriptor comes with these bytes.
    Listening,
    /// The cage stands and the command is about to be executed in it.
    Ready,
    /// Building failed; nothing ran.
    Failed { step: String, why: String },
    /// The program couldn't be executed.
    NotStarted { why: String },
    /// The shell has ended and so has everything else.
    Ended { exit: Ended, leftovers: Vec<String>, more: usize },
    /// The cage used more than it may and was ended.
    Over { overrun: Overrun },
}

/// How the shell ended, on the wire.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Ended {
    Code(i32),
    Signal(i32),
    Killed,
}

impl Plan {
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let body = serde_json::to_vec(self)?;
        let length = u32::try_from(body.len()).ok().filter(|length| *length <= MAX_PLAN_BYTES);
        let Some(length) = length else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is too long"));
        };
        let mut bytes = length.to_be_bytes().to_vec();
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length);
        if length > MAX_PLAN_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the plan is too long"));
        }
        let mut body = Vec::new();
        from.take(u64::from(length)).read_to_end(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

/// The launcher side's end of the socket.
#[derive(Debug)]
pub(crate) struct Line(OwnedFd);

impl Line {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self(socket)
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// Tells the app. An app that is gone can't be told, and everything ends anyway.
    pub(crate) fn say(&self, said: &Said) {
        let Ok(mut line) = serde_json::to_vec(said) else { return };
        line.push(b'\n');
        let mut rest: &[u8] = &line;
        while !rest.is_empty() {
            match send(self.0.as_fd(), rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Tells the app that the outlet listens, and hands it over.
    pub(crate) fn hand_over(&self, listener: BorrowedFd<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Said::Listening)?;
        line.push(b'\n');
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let handed = [listener];
        if !control.push(SendAncillaryMessage::ScmRights(&handed)) {
            return Err(io::Error::other("no room for a descriptor"));
        }
        let sent = sendmsg(&self.0, &[IoSlice::new(&line)], &mut control, SendFlags::NOSIGNAL)?;
        if sent == line.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}

/// The app's end, for reading: also takes the one descriptor that may come.
#[derive(Debug)]
pub(crate) struct Ear {
    socket: UnixStream,
    received: Option<OwnedFd>,
}

impl Ear {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self { socket, received: None }
    }

    /// The descriptor that came last.
    pub(crate) fn take(&mut self) -> Option<OwnedFd> {
        self.received.take()
    }
}

impl Read for Ear {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(buffer)];
        let got = recvmsg(&self.socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.received = descriptors.last().or(self.received.take());
            }
        }
        Ok(got.bytes)
    }
}

/// Reads one answer; `None` when the launcher's side is gone.
pub(crate) fn hear(from: &mut impl io::BufRead) -> io::Result<Option<Said>> {
    let mut line = Vec::new();
    io::BufRead::read_until(&mut from.by_ref().take(MAX_LINE_BYTES), b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}

/// Writes the whole plan.
pub(crate) fn tell(to: &mut impl Write, plan: &Plan) -> io::Result<()> {
    to.write_all(&plan.encode()?)
}
