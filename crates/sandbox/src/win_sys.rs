//! The Windows calls behind the cage, each wrapped so that callers are safe.
//!
//! Handles and identities are owned and freed with their owner. Invariant: every pointer handed to the system lives
//! through the call, and sizes are those of the very thing pointed to.
#![expect(unsafe_code, reason = "system calls without a safe wrapper; each block says why it holds")]

use std::ffi::c_void;
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::null_mut;

use windows::Win32::Foundation::{
    HANDLE, HANDLE_FLAG_INHERIT, HLOCAL, LocalFree, SetHandleInformation, WAIT_OBJECT_0,
};
use windows::Win32::Security::Authorization::{
    EXPLICIT_ACCESS_W, GRANT_ACCESS, GetExplicitEntriesFromAclW, GetNamedSecurityInfoW, NO_MULTIPLE_TRUSTEE,
    SE_FILE_OBJECT, SetEntriesInAclW, SetNamedSecurityInfoW, TRUSTEE_IS_GROUP, TRUSTEE_IS_SID, TRUSTEE_W,
};
use windows::Win32::Security::Isolation::{
    CreateAppContainerProfile, DeriveAppContainerSidFromAppContainerName,
};
use windows::Win32::Security::{
    ACL, DACL_SECURITY_INFORMATION, EqualSid, FreeSid, PSECURITY_DESCRIPTOR, PSID, SECURITY_CAPABILITIES,
    SUB_CONTAINERS_AND_OBJECTS_INHERIT,
};
use windows::Win32::System::JobObjects::{
    CreateJobObjectW, JOB_OBJECT_LIMIT, JOB_OBJECT_UILIMIT, JOBOBJECT_BASIC_ACCOUNTING_INFORMATION,
    JOBOBJECT_BASIC_UI_RESTRICTIONS, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicAccountingInformation, JobObjectBasicUIRestrictions, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_UNICODE_ENVIRONMENT, CreateProcessW, DeleteProcThreadAttributeList,
    EXTENDED_STARTUPINFO_PRESENT, GetExitCodeProcess, INFINITE, InitializeProcThreadAttributeList,
    LPPROC_THREAD_ATTRIBUTE_LIST, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST,
    PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES, PROCESS_INFORMATION, STARTF_USESTDHANDLES, STARTUPINFOEXW,
    STARTUPINFOW, UpdateProcThreadAttribute, WaitForSingleObject,
};
use windows::core::{HSTRING, PCWSTR, PWSTR};

use crate::container::Job;

/// A container's identity.
#[derive(Debug)]
pub(crate) struct Identity(PSID);

impl Identity {
    /// The identity of the container of this name, which is made if it isn't there.
    pub(crate) fn of(moniker: &str) -> io::Result<Self> {
        let name = HSTRING::from(moniker);
        let words = HSTRING::from("Daybook: commands in a cage");
        // SAFETY: the strings live through both calls; the result is freed by `drop`.
        let made = unsafe { CreateAppContainerProfile(&name, &words, &words, None) };
        // SAFETY: as above.
        let sid = made.or_else(|_| unsafe { DeriveAppContainerSidFromAppContainerName(&name) })?;
        Ok(Self(sid))
    }

    /// Lets the container use a file, or a folder and all below it. Done once: the right stays.
    pub(crate) fn grant(&self, path: &Path, mask: u32) -> io::Result<()> {
        let name = HSTRING::from(path.as_os_str());
        let mut now: *mut ACL = null_mut();
        let mut descriptor = PSECURITY_DESCRIPTOR::default();
        // SAFETY: every pointer is to a local that lives through the call.
        let found = unsafe {
            let what = DACL_SECURITY_INFORMATION;
            GetNamedSecurityInfoW(
                &name,
                SE_FILE_OBJECT,
                what,
                None,
                None,
                Some(&raw mut now),
                None,
                &raw mut descriptor,
            )
        };
        found.ok()?;
        let _descriptor = Local(descriptor.0);
        if self.has(now, mask)? {
            return Ok(());
        }
        let entry = EXPLICIT_ACCESS_W {
            grfAccessPermissions: mask,
            grfAccessMode: GRANT_ACCESS,
            grfInheritance: SUB_CONTAINERS_AND_OBJECTS_INHERIT,
            Trustee: TRUSTEE_W {
                pMultipleTrustee: null_mut(),
                MultipleTrusteeOperation: NO_MULTIPLE_TRUSTEE,
                TrusteeForm: TRUSTEE_IS_SID,
                TrusteeType: TRUSTEE_IS_GROUP,
                // With this form the field holds an identity, not a text.
                ptstrName: PWSTR(self.0.0.cast()),
            },
        };
        let mut new: *mut ACL = null_mut();
        // SAFETY: the old list lives in the descriptor above, the identity in `self`.
        unsafe { SetEntriesInAclW(Some(&[entry]), Some(now), &raw mut new) }.ok()?;
        let _new = Local(new.cast());
        // SAFETY: the new list was just made and is freed after the call.
        let set = unsafe {
            SetNamedSecurityInfoW(
                &name,
                SE_FILE_OBJECT,
                DACL_SECURITY_INFORMATION,
                None,
                None,
                Some(new),
                None,
            )
        };
        Ok(set.ok()?)
    }

    fn has(&self, list: *const ACL, mask: u32) -> io::Result<bool> {
        let (mut count, mut entries) = (0, null_mut());
        // SAFETY: the list lives in the caller's descriptor; the results are locals.
        unsafe { GetExplicitEntriesFromAclW(list, &raw mut count, &raw mut entries) }.ok()?;
        let _entries = Local(entries.cast());
        if entries.is_null() {
            return Ok(false);
        }
        // SAFETY: the system says how many there are; they are freed after the last use.
        let entries = unsafe { std::slice::from_raw_parts(entries, count as usize) };
        let ours = |entry: &&EXPLICIT_ACCESS_W| {
            entry.Trustee.TrusteeForm == TRUSTEE_IS_SID
                // SAFETY: with this form the field holds an identity; ours is valid.
                && unsafe { EqualSid(PSID(entry.Trustee.ptstrName.0.cast()), self.0) }.is_ok()
        };
        Ok(entries.iter().filter(ours).any(|entry| entry.grfAccessPermissions & mask == mask))
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        // SAFETY: given out by the system to be freed once, here.
        unsafe { FreeSid(self.0) };
    }
}

/// Memory the system gave us.
struct Local(*mut c_void);

impl Drop for Local {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: allocated by the system for us, freed once, here.
            unsafe { LocalFree(Some(HLOCAL(self.0))) };
        }
    }
}

/// A job object. Its processes end with its last handle.
#[derive(Debug)]
pub(crate) struct JobObject(OwnedHandle);

impl JobObject {
    pub(crate) fn new(job: &Job) -> io::Result<Self> {
        // SAFETY: no pointers; the handle is owned by the result.
        let handle = unsafe { OwnedHandle::from_raw_handle(CreateJobObjectW(None, PCWSTR::null())?.0) };
        let made = Self(handle);
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT(job.flags);
        limits.BasicLimitInformation.ActiveProcessLimit = job.processes;
        limits.BasicLimitInformation.PerProcessUserTimeLimit = job.process_time;
        limits.ProcessMemoryLimit = usize::try_from(job.process_memory_bytes).unwrap_or(usize::MAX);
        limits.JobMemoryLimit = usize::try_from(job.total_memory_bytes).unwrap_or(usize::MAX);
        let window = JOBOBJECT_BASIC_UI_RESTRICTIONS { UIRestrictionsClass: JOB_OBJECT_UILIMIT(job.window) };
        // SAFETY: each structure belongs to its class, lives through the call and is given with its size.
        unsafe {
            SetInformationJobObject(
                made.handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of_u32::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
            )?;
            SetInformationJobObject(
                made.handle(),
                JobObjectBasicUIRestrictions,
                (&raw const window).cast(),
                size_of_u32::<JOBOBJECT_BASIC_UI_RESTRICTIONS>(),
            )?;
        }
        Ok(made)
    }

    /// Ends every process of it. Fails only when there is none.
    pub(crate) fn end(&self, code: u32) {
        // SAFETY: the handle is ours.
        let _ = unsafe { TerminateJobObject(self.handle(), code) };
    }

    /// How many of its processes live.
    pub(crate) fn alive(&self) -> usize {
        let mut found = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the structure belongs to the class, lives through the call and is given with its size.
        let asked = unsafe {
            QueryInformationJobObject(
                Some(self.handle()),
                JobObjectBasicAccountingInformation,
                (&raw mut found).cast(),
                size_of_u32::<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION>(),
                None,
            )
        };
        asked.map_or(0, |()| found.ActiveProcesses as usize)
    }

    fn handle(&self) -> HANDLE {
        HANDLE(self.0.as_raw_handle())
    }
}

/// What to start, and where.
pub(crate) struct Launch<'a> {
    pub(crate) program: &'a Path,
    pub(crate) command_line: Vec<u16>,
    pub(crate) environment: Vec<u16>,
    pub(crate) workdir: &'a Path,
    /// Input, output, errors: all that is inherited.
    pub(crate) handles: [OwnedHandle; 3],
    pub(crate) identity: Option<&'a Identity>,
    pub(crate) job: &'a JobObject,
}

impl Launch<'_> {
    /// Starts it inside its job and container from its first instruction.
    pub(crate) fn start(&mut self) -> io::Result<Process> {
        let handles = self.handles.each_ref().map(|one| HANDLE(one.as_raw_handle()));
        for handle in handles {
            // SAFETY: the handle is ours.
            unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT.0, HANDLE_FLAG_INHERIT)? };
        }
        let jobs = [self.job.handle()];
        let capabilities = self.identity.map(|identity| SECURITY_CAPABILITIES {
            AppContainerSid: identity.0,
            ..SECURITY_CAPABILITIES::default()
        });
        let mut attributes = Attributes::new(2 + u32::from(capabilities.is_some()))?;
        attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handles)?;
        attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, &jobs)?;
        if let Some(capabilities) = &capabilities {
            attributes.set(PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES, capabilities)?;
        }
        let info = STARTUPINFOEXW {
            StartupInfo: STARTUPINFOW {
                cb: size_of_u32::<STARTUPINFOEXW>(),
                dwFlags: STARTF_USESTDHANDLES,
                hStdInput: handles[0],
                hStdOutput: handles[1],
                hStdError: handles[2],
                ..STARTUPINFOW::default()
            },
            lpAttributeList: attributes.list(),
        };
        let program = HSTRING::from(self.program.as_os_str());
        let workdir = HSTRING::from(self.workdir.as_os_str());
        let mut made = PROCESS_INFORMATION::default();
        // SAFETY: every pointer is to something above that lives through the call; the command line may be written to.
        unsafe {
            CreateProcessW(
                &program,
                Some(PWSTR(self.command_line.as_mut_ptr())),
                None,
                None,
                true,
                EXTENDED_STARTUPINFO_PRESENT | CREATE_UNICODE_ENVIRONMENT | CREATE_NO_WINDOW,
                Some(self.environment.as_ptr().cast()),
                &workdir,
                &raw const info.StartupInfo,
                &raw mut made,
            )?;
        }
        // SAFETY: both handles are given to us by the call above.
        let (process, _thread) = unsafe {
            (OwnedHandle::from_raw_handle(made.hProcess.0), OwnedHandle::from_raw_handle(made.hThread.0))
        };
        Ok(Process { handle: process, id: made.dwProcessId })
    }
}

/// A started process.
#[derive(Debug)]
pub(crate) struct Process {
    handle: OwnedHandle,
    id: u32,
}

impl Process {
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Blocks until it has ended; its exit code.
    pub(crate) fn wait(&self) -> io::Result<u32> {
        let handle = HANDLE(self.handle.as_raw_handle());
        // SAFETY: the handle is ours.
        if unsafe { WaitForSingleObject(handle, INFINITE) } != WAIT_OBJECT_0 {
            return Err(io::Error::last_os_error());
        }
        let mut code = 0;
        // SAFETY: the code is a local that lives through the call.
        unsafe { GetExitCodeProcess(handle, &raw mut code)? };
        Ok(code)
    }
}

/// A list of attributes for a process to be. What is set must live until it is started.
struct Attributes<'a> {
    /// Of words, for the alignment the system's structure needs.
    space: Vec<usize>,
    kept: std::marker::PhantomData<&'a ()>,
}

impl<'a> Attributes<'a> {
    fn new(count: u32) -> io::Result<Self> {
        let mut bytes = 0;
        // SAFETY: without a list the call only says how much room one needs, and fails.
        let _ = unsafe { InitializeProcThreadAttributeList(None, count, None, &raw mut bytes) };
        let mut made =
            Self { space: vec![0; bytes.div_ceil(size_of::<usize>())], kept: std::marker::PhantomData };
        // SAFETY: the room is as large as was asked for.
        unsafe { InitializeProcThreadAttributeList(Some(made.list()), count, None, &raw mut bytes)? };
        Ok(made)
    }

    fn list(&mut self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        LPPROC_THREAD_ATTRIBUTE_LIST(self.space.as_mut_ptr().cast())
    }

    fn set<T>(&mut self, attribute: u32, value: &'a T) -> io::Result<()> {
        let list = self.list();
        // SAFETY: the value outlives the list and is given with its size.
        unsafe {
            let value: *const T = value;
            UpdateProcThreadAttribute(
                list,
                0,
                attribute as usize,
                Some(value.cast()),
                size_of::<T>(),
                None,
                None,
            )?;
        }
        Ok(())
    }
}

impl Drop for Attributes<'_> {
    fn drop(&mut self) {
        let list = self.list();
        // SAFETY: initialised by `new`, freed once, here.
        unsafe { DeleteProcThreadAttributeList(list) };
    }
}

fn size_of_u32<T>() -> u32 {
    // The system's structures are far smaller than that.
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}
