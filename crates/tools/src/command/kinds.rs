//! What is known of programs by name: which run others, which interpret text, which fetch, delete or publish.
//!
//! Invariant: these lists only take away. A program that is on none of them isn't free for that: only the table of
//! read-only programs and a person's rule make a command free.

/// The name a program is known by: without a folder, a Windows ending or a version (`/usr/bin/python3.12` is `python`).
pub(super) fn known_as(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    let name = [".exe", ".cmd", ".bat", ".com", ".ps1"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    let stem = name.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '.' || ch == '-');
    if is_interpreter(stem) { stem.to_owned() } else { name.to_owned() }
}

const SHELLS: [&str; 17] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "ash",
    "csh",
    "tcsh",
    "yash",
    "busybox",
    "toybox",
    "pwsh",
    "powershell",
    "cmd",
    "nu",
];

const INTERPRETERS: [&str; 31] = [
    "python",
    "pypy",
    "perl",
    "ruby",
    "irb",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "expect",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "osascript",
    "rscript",
    "julia",
    "guile",
    "ghci",
    "runghc",
    "scala",
    "groovy",
    "java",
    "jshell",
    "gdb",
    "sqlite",
    "tsx",
];

const FETCHERS: [&str; 28] = [
    "curl", "wget", "ssh", "scp", "sftp", "rsync", "ftp", "tftp", "nc", "ncat", "netcat", "socat", "telnet",
    "aria2c", "http", "https", "xh", "lynx", "w3m", "links", "dig", "nslookup", "host", "ping", "openssl",
    "rclone", "aws", "gcloud",
];

const WRAPPERS: [&str; 33] = [
    "env",
    "timeout",
    "nice",
    "nohup",
    "xargs",
    "time",
    "command",
    "builtin",
    "exec",
    "stdbuf",
    "setsid",
    "sudo",
    "doas",
    "su",
    "runuser",
    "pkexec",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "flock",
    "watch",
    "script",
    "strace",
    "ltrace",
    "parallel",
    "ionice",
    "taskset",
    "chrt",
    "systemd-run",
    "ld.so",
    "entr",
];

const RUNNERS: [&str; 14] = [
    "npx", "bunx", "uvx", "pipx", "docker", "podman", "kubectl", "make", "just", "task", "ansible", "tmux",
    "screen", "at",
];

const DELETERS: [&str; 12] = [
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "srm",
    "trash",
    "del",
    "erase",
    "rd",
    "remove-item",
    "ri",
    "clear-content",
];

/// Programs that can publish something.
pub(super) const PUBLISHERS: [&str; 23] = [
    "git", "npm", "pnpm", "yarn", "cargo", "uv", "poetry", "flit", "hatch", "docker", "podman", "helm",
    "dotnet", "nuget", "gem", "twine", "gh", "glab", "hub", "mail", "mailx", "mutt", "sendmail",
];

/// Does it run the text or files given to it?
pub(super) fn is_interpreter(name: &str) -> bool {
    SHELLS.contains(&name) || INTERPRETERS.contains(&name)
}

/// Would a rule for this program be a rule for anything? Then it is granted word for word only.
pub(super) fn is_exact_only(name: &str) -> bool {
    is_interpreter(name) || FETCHERS.contains(&name) || WRAPPERS.contains(&name) || RUNNERS.contains(&name)
}

/// Does it talk to other computers?
fn is_fetcher(name: &str) -> bool {
    FETCHERS.contains(&name)
}

/// Does it start another program? What of them remains in a reading wasn't looked through.
pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.contains(&name)
}

/// Is it a shell whose `-c` text we read?
pub(super) fn is_posix_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash")
}

/// Does this call delete or throw away something?
pub(super) fn deletes(argv: &[String]) -> bool {
    let Some((program, args)) = argv.split_first() else { return false };
    let has = |wanted: &[&str]| args.iter().any(|arg| wanted.contains(&arg.as_str()));
    match known_as(program).as_str() {
        "find" => has(&["-delete"]),
        "rsync" => args.iter().any(|arg| arg.starts_with("--del")),
        "git" => match super::git::subcommand(args).0 {
            Some("clean" | "rm" | "restore" | "gc" | "prune") => true,
            Some("reset") => has(&["--hard", "--merge", "--keep"]),
            Some("checkout") => has(&["--", ".", "-f", "--force"]),
            Some("stash") => has(&["drop", "clear"]),
            Some("branch" | "tag") => has(&["-d", "-D", "--delete"]),
            Some("worktree" | "remote" | "submodule") => has(&["remove", "rm", "prune", "deinit"]),
            _ => false,
        },
        name => DELETERS.contains(&name),
    }
}

/// Does this call publish something?
pub(super) fn publishes(argv: &[String]) -> bool {
    let Some((program, args)) = argv.split_first() else { return false };
    let word = |wanted: &str| args.iter().any(|arg| arg == wanted);
    match known_as(program).as_str() {
        "git" => matches!(super::git::subcommand(args).0, Some("push" | "send-email" | "send-pack")),
        "npm" | "pnpm" | "yarn" | "cargo" | "uv" | "poetry" | "flit" | "hatch" => word("publish"),
        "docker" | "podman" | "helm" | "dotnet" | "nuget" | "gem" => word("push"),
        "twine" => word("upload"),
        "mail" | "mailx" | "mutt" | "sendmail" => true,
        "gh" | "glab" | "hub" => {
            word("create")
                || word("pull-request")
                || word("close")
                || word("review")
                || word("release")
                || word("merge")
                || word("comment")
                || word("edit")
                || word("upload")
                || word("api")
        }
        _ => false,
    }
}

/// Programs that put what they read where every other program can take it.
const CLIPBOARDS: [&str; 10] = [
    "xclip",
    "xsel",
    "wl-copy",
    "pbcopy",
    "clip",
    "set-clipboard",
    "scb",
    "copyq",
    "gpaste-client",
    "termux-clipboard-set",
];

/// Does this call hand something on by itself: publish it, ask a registry for a name, fill the clipboard?
pub(super) fn leaves(argv: &[String]) -> bool {
    let Some((program, args)) = argv.split_first() else { return false };
    let first = args.iter().find(|arg| !arg.starts_with('-')).map_or("", String::as_str);
    let looks_up = match known_as(program).as_str() {
        "npm" | "pnpm" | "yarn" | "bun" => {
            matches!(first, "view" | "v" | "info" | "show" | "search" | "s" | "find")
        }
        "pip" | "pip3" => matches!(first, "download" | "index" | "search"),
        "cargo" => matches!(first, "search" | "info"),
        "gem" => matches!(first, "search" | "list" | "fetch"),
        "gh" | "glab" => first == "search",
        "apt" | "apt-cache" | "brew" => matches!(first, "search" | "show" | "info"),
        name => CLIPBOARDS.contains(&name),
    };
    looks_up || publishes(argv)
}

/// Does this call put words or contents where they are handed on later: a commit, a tag, a note?
pub(super) fn tells(argv: &[String]) -> bool {
    let Some((program, args)) = argv.split_first() else { return false };
    let name = known_as(program);
    let git = name == "git" && !super::git::looks(args);
    git || is_fetcher(&name) || leaves(argv)
}
