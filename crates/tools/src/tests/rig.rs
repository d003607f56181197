//! A folder, blobs in memory and the way of a call in one line.
//!
//! [`Rig::call`] does what the engine does: check, survey, judge, approve where the policy asks, clear, run. Invariant:
//! nothing outside the temporary folder is used but the system's own programs.

use crate::clear::{Approval, Refusal, clear};
use crate::policy::{Cage, PolicyInput, judge};
use crate::redact::Needles;
use crate::rules::Layer;
use crate::tool::{Bin, Ctx, Output};
use crate::{
    BlobSink, Cages, Checked, Finished, Limits, Place, Registry, Surveyed, Visibility, Visible, run,
};
use domain::call::{Grant, Mode, ToolError, Verdict};
use domain::digest::Digest;
use domain::ids::GrantId;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub(crate) struct Memory(Mutex<BTreeMap<Digest, Vec<u8>>>);

impl BlobSink for Memory {
    fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(bytes);
        self.0.lock().unwrap().insert(digest, bytes.to_vec());
        Ok(digest)
    }

    fn put_stream(&self, from: &mut dyn Read) -> io::Result<Digest> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        self.put(&bytes)
    }

    fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        self.0.lock().unwrap().get(digest).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

pub(crate) struct Rig {
    /// Holds the project folder and what lies outside of it.
    pub(crate) outside: TempDir,
    pub(crate) ctx: Ctx,
    pub(crate) visible: Visible,
    pub(crate) mode: Mode,
    pub(crate) cage: Option<Cage>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) grants: Vec<(GrantId, Grant)>,
    pub(crate) read_secrets: Vec<String>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::on(tempfile::tempdir().unwrap())
    }

    /// A rig on a disk in memory, where there is one: for many saves, each of which syncs.
    pub(crate) fn in_memory() -> Self {
        Self::on(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn on(outside: TempDir) -> Self {
        let folder = outside.path().join("project");
        std::fs::create_dir(&folder).unwrap();
        let limits = Limits::default();
        let registry = Registry::builtin(&limits).unwrap();
        let ctx = Ctx {
            place: Arc::new(Place::open(&folder, Vec::new()).unwrap()),
            added: Arc::default(),
            blobs: Arc::new(Memory::default()),
            record: Arc::new(crate::record::NoRecord),
            launcher: Arc::new(Cages),
            bin: Bin::Blobs,
            private: outside.path().join("private"),
            seen: Arc::default(),
            secrets: Arc::default(),
            limits: Arc::new(limits),
            cancel: CancellationToken::new(),
            output: Output::None,
        };
        let visible = registry.visible(&Visibility::default());
        Self {
            outside,
            ctx,
            visible,
            mode: Mode::Edit,
            cage: None,
            layers: Vec::new(),
            grants: Vec::new(),
            read_secrets: Vec::new(),
        }
    }

    /// A rig whose folder holds these files.
    pub(crate) fn with(files: &[(&str, &[u8])]) -> Self {
        let rig = Self::new();
        for (path, bytes) in files {
            rig.put(path, bytes);
        }
        rig
    }

    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path(path)).unwrap()
    }

    pub(crate) fn path(&self, path: &str) -> std::path::PathBuf {
        self.outside.path().join("project").join(path)
    }

    /// Names in the folder, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let read = std::fs::read_dir(self.path(".")).unwrap();
        let mut names: Vec<_> = read.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn secrets(&mut self, values: &[&str]) {
        self.ctx.secrets = Arc::new(Needles::new(values));
    }

    pub(crate) fn limits(&mut self, change: impl FnOnce(&mut Limits)) {
        let mut limits = Limits::clone(&self.ctx.limits);
        change(&mut limits);
        self.ctx.limits = Arc::new(limits);
    }

    pub(crate) fn saw(&mut self, finished: &Finished) {
        let mut seen = BTreeMap::clone(&self.ctx.seen);
        seen.extend(finished.seen.clone());
        self.ctx.seen = Arc::new(seen);
    }

    pub(crate) fn policy(&self) -> PolicyInput<'_> {
        let cage = self.cage.unwrap_or_else(|| self.ctx.launcher.cage());
        PolicyInput {
            mode: self.mode,
            cage,
            layers: &self.layers,
            grants: &self.grants,
            read_secrets: &self.read_secrets,
        }
    }

    pub(crate) fn check(&self, name: &str, args: &Value) -> Checked {
        self.visible.check(name, &args.to_string()).unwrap()
    }

    pub(crate) fn survey(&self, name: &str, args: &Value) -> Result<Surveyed, ToolError> {
        self.check(name, args).survey(&self.ctx)
    }

    pub(crate) fn judge(&self, name: &str, args: &Value) -> Verdict {
        let call = self.check(name, args);
        judge(&call.survey(&self.ctx).unwrap().facts, &self.policy())
    }

    /// The whole way; where the policy asks, the person says yes.
    pub(crate) fn call(&self, name: &str, args: Value) -> Finished {
        self.try_call(name, args).unwrap()
    }

    /// The whole way; `Err` is the error the model reads when it ends before running.
    pub(crate) fn try_call(&self, name: &str, args: Value) -> Result<Finished, ToolError> {
        let call = self.visible.check(name, &args.to_string())?;
        let surveyed = call.survey(&self.ctx)?;
        let approval = Approval::of(&call, &surveyed.facts, 1_000);
        let cleared = clear(&call, surveyed, &self.policy(), Some(&approval), 0);
        let cleared = cleared.map_err(|refusal: Refusal| refusal.for_model())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        Ok(runtime.block_on(run(cleared, &self.ctx)))
    }

    /// The error of a call that ends before running.
    #[track_caller]
    pub(crate) fn error(&self, name: &str, args: Value) -> ToolError {
        match self.try_call(name, args.clone()) {
            Err(error) => error,
            Ok(Finished { end: crate::End::Failed(error), .. }) => error,
            Ok(finished) => panic!("{name} {args} ended well: {finished:?}"),
        }
    }
}
