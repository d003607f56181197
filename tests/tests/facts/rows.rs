//! The approvals: what is asked for, and what it touches by hand and eye.
//!
//! Every row is one call in a folder of its own that [`furnish`] fills. `touches` is written from what the call *is*; the
//! card's facts and the tracer's sight must both come to it. Invariant: a row asks, whatever else changes.

use serde_json::{Value, json};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// One approval.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    /// What it touches, relative to the project.
    pub(super) touches: &'static [&'static str],
    /// What it connects to.
    pub(super) reaches: &'static [&'static str],
    /// What the folder holds besides.
    pub(super) also: fn(&Path) -> io::Result<()>,
    /// Does it run what starts programs that no card can name: a script, make, an interpreter?
    pub(super) starts_more: bool,
    /// Do deleted things go to a trash?
    pub(super) has_trash: bool,
    /// Is [`LENT`], beside the project, added to look at?
    pub(super) lends: bool,
}

/// The folder that a row may have added, relative to the row's home.
pub(super) const LENT: &str = "lent";

/// Is it that folder, or in it?
pub(super) fn is_lent(path: &str) -> bool {
    path == LENT || path.strip_prefix(LENT).is_some_and(|rest| rest.starts_with('/'))
}

/// What every row's world holds: `home/project`, and beside it what nobody may touch.
pub(super) fn furnish(home: &Path) -> io::Result<()> {
    let project = home.join("project");
    for folder in ["src", "docs/deep", "empty", "tools", ".git/hooks", ".vscode"] {
        std::fs::create_dir_all(project.join(folder))?;
    }
    let files = [
        ("src/a.txt", "a\n"),
        ("src/b.txt", "b\n"),
        ("docs/guide.md", "# Guide\n"),
        ("docs/deep/note.md", "deep\n"),
        ("an odd $name.txt", "odd\n"),
        ("笔记.md", "一\n"),
        ("--help", "a file that looks like an option\n"),
        (".env", "KEY=1\n"),
        (".git/config", "[core]\n"),
        (".vscode/settings.json", "{}\n"),
        ("package.json", "{\"scripts\":{\"build\":\"echo built > out.js\"}}\n"),
        ("Makefile", "all:\n\tcat src/a.txt src/b.txt > all.txt\n\t@touch made.stamp\n"),
        ("tools/build.sh", "#!/bin/sh\nmkdir -p dist && cp src/a.txt dist/ && rm -f notes.txt\n"),
    ];
    for (name, content) in files {
        std::fs::write(project.join(name), content)?;
    }
    std::fs::set_permissions(project.join("tools/build.sh"), std::fs::Permissions::from_mode(0o755))?;
    symlink("src/a.txt", project.join("link.txt"))?;
    symlink("docs/deep", project.join("linked"))?;
    symlink("../outside", project.join("way-out"))?;
    std::fs::create_dir(home.join("outside"))?;
    std::fs::write(home.join("outside/precious.txt"), "precious\n")
}

fn row(name: &'static str, tool: &'static str, arguments: Value, touches: &'static [&'static str]) -> Row {
    Row {
        name,
        tool,
        arguments,
        touches,
        reaches: &[],
        also: |_| Ok(()),
        starts_more: false,
        has_trash: false,
        lends: false,
    }
}

fn write(name: &'static str, path: &str, touches: &'static [&'static str]) -> Row {
    row(name, "write_file", json!({"path": path, "content": "new content\n"}), touches)
}

fn edit(name: &'static str, path: &str, edit: (&str, &str), touches: &'static [&'static str]) -> Row {
    row(name, "edit_file", json!({"path": path, "old_text": edit.0, "new_text": edit.1}), touches)
}

fn delete(name: &'static str, path: &str, touches: &'static [&'static str]) -> Row {
    row(name, "delete_path", json!({"path": path}), touches)
}

fn run(name: &'static str, command: &str, touches: &'static [&'static str]) -> Row {
    row(name, "run_command", json!({"command": command}), touches)
}

impl Row {
    fn and(self, also: fn(&Path) -> io::Result<()>) -> Self {
        Self { also, ..self }
    }

    fn starting_more(self) -> Self {
        Self { starts_more: true, ..self }
    }

    fn lending(self) -> Self {
        Self { lends: true, ..self }.and(|home| {
            std::fs::create_dir(home.join(LENT))?;
            std::fs::write(home.join(LENT).join("page.txt"), "page\n")
        })
    }

    fn online(self, sites: &[&str], reaches: &'static [&'static str]) -> Self {
        let mut arguments = self.arguments;
        arguments["sites"] = json!(sites);
        Self { arguments, reaches, ..self }
    }
}

/// All of them.
pub(super) fn all() -> Vec<Row> {
    let mut rows = files();
    rows.extend(commands());
    rows.extend(dressed());
    rows.extend(online());
    rows
}

/// Two names of one file: a second one in the project, a third outside.
fn named_twice(home: &Path) -> io::Result<()> {
    std::fs::hard_link(home.join("project/src/a.txt"), home.join("project/src/same.txt"))
}

fn named_outside(home: &Path) -> io::Result<()> {
    std::fs::hard_link(home.join("project/src/a.txt"), home.join("outside/same.txt"))
}

/// The number of the test's process, so that a command can try to reach it, by a signal that does no harm.
fn own_number(home: &Path) -> io::Result<()> {
    std::fs::write(home.join("project/test.pid"), std::process::id().to_string())
}

fn ignoring(home: &Path) -> io::Result<()> {
    std::fs::create_dir(home.join("project/build"))?;
    std::fs::write(home.join("project/.gitignore"), "build/\n")
}

fn with_settings(home: &Path) -> io::Result<()> {
    std::fs::create_dir(home.join("project/docs/.vscode"))?;
    std::fs::write(home.join("project/docs/.vscode/tasks.json"), "{}")
}

fn no_settings(home: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(home.join("project/.vscode"))
}

fn files() -> Vec<Row> {
    vec![
        write("a new file", "made.txt", &["made.txt"]),
        write("a replaced file", "src/a.txt", &["src/a.txt"]),
        write("a new file in new folders", "new/er/made.txt", &["new", "new/er", "new/er/made.txt"]),
        write("a new file by a linked folder", "linked/made.md", &["docs/deep/made.md"]),
        write("a replaced file by a link", "link.txt", &["src/a.txt"]),
        write("a name with blanks and a dollar", "an odd $name.txt", &["an odd $name.txt"]),
        write("a name in Chinese", "笔记.md", &["笔记.md"]),
        write("a roundabout path", "./src/../src/b.txt", &["src/b.txt"]),
        write("a hook", ".git/hooks/pre-commit", &[".git/hooks/pre-commit"]),
        write("settings in a new protected folder", ".vscode/tasks.json", &[".vscode", ".vscode/tasks.json"])
            .and(no_settings),
        write("a file with two names", "src/a.txt", &["src/a.txt", "src/same.txt"]).and(named_twice),
        write("a file with a name outside", "src/a.txt", &["src/a.txt"]).and(named_outside),
        edit("an edit", "notes.txt", ("two", "TWO"), &["notes.txt"]),
        edit("an edit by a link", "link.txt", ("a", "A"), &["src/a.txt"]),
        edit("an edit of what agents obey", "AGENTS.md", ("English", "French"), &["AGENTS.md"]),
        edit("an edit of a file with two names", "src/same.txt", ("a", "A"), &["src/a.txt", "src/same.txt"])
            .and(named_twice),
        row(
            "several edits of one file",
            "edit_file",
            json!({"path": "notes.txt", "edits": [
                {"old_text": "one", "new_text": "1"}, {"old_text": "three", "new_text": "3"}]}),
            &["notes.txt"],
        ),
        delete("a deleted file", "notes.txt", &["notes.txt"]),
        delete("a deleted file that agents obey", "AGENTS.md", &["AGENTS.md"]),
        delete("a deleted link", "link.txt", &["link.txt"]),
        delete("a deleted empty folder", "empty", &["empty"]),
        delete("a deleted folder", "docs", &["docs", "docs/deep", "docs/deep/note.md", "docs/guide.md"]),
        delete(
            "a deleted folder with settings in it",
            "docs",
            &[
                "docs",
                "docs/.vscode",
                "docs/.vscode/tasks.json",
                "docs/deep",
                "docs/deep/note.md",
                "docs/guide.md",
            ],
        )
        .and(with_settings),
        delete("a deleted file by a linked folder", "linked/note.md", &["docs/deep/note.md"]),
        Row { has_trash: true, ..delete("a file into the trash", "notes.txt", &["notes.txt"]) },
        Row {
            has_trash: true,
            ..delete(
                "a folder into the trash",
                "docs",
                &["docs", "docs/deep", "docs/deep/note.md", "docs/guide.md"],
            )
        },
        row("a secret file is read", "read_file", json!({"path": ".env"}), &[]),
        row("a secret file is read by a link", "read_file", json!({"path": "looks-plain"}), &[])
            .and(|home| symlink(".env", home.join("project/looks-plain"))),
    ]
}

fn commands() -> Vec<Row> {
    vec![
        run("a command writes one file", "echo hello > out.txt", &["out.txt"]),
        run("a command adds to a file", "echo four >> notes.txt", &["notes.txt"]),
        run("a command adds to a file with a name outside", "echo b >> src/a.txt", &["src/a.txt"])
            .and(named_outside),
        run("a command adds to a file with two names", "echo b >> src/a.txt", &["src/a.txt", "src/same.txt"])
            .and(named_twice),
        run("a command writes several files", "touch x1 x2; mkdir -p d/e", &["x1", "x2", "d", "d/e"]),
        run(
            "a command writes many files",
            "for n in 1 2 3; do echo $n > many-$n.txt; done",
            &["many-1.txt", "many-2.txt", "many-3.txt"],
        ),
        run("a command deletes files", "rm notes.txt linked/note.md", &["notes.txt", "docs/deep/note.md"]),
        run(
            "a command deletes a folder",
            "rm -rf docs",
            &["docs", "docs/deep", "docs/deep/note.md", "docs/guide.md"],
        ),
        run("a command renames", "mv notes.txt moved.txt", &["notes.txt", "moved.txt"]),
        run("a command makes a link", "ln -s notes.txt pointer", &["pointer"]),
        run("a command sets permissions", "chmod 600 src/a.txt", &["src/a.txt"]),
        run("a command edits in place", "sed -i s/two/TWO/ notes.txt", &["notes.txt"]),
        run(
            "a command writes what editors obey",
            "echo '{}' > .vscode/settings.json",
            &[".vscode/settings.json"],
        ),
        run(
            "a command looks outside",
            "cat ../outside/precious.txt way-out/precious.txt > stolen.txt",
            &["stolen.txt"],
        ),
        run(
            "a command reads in an added folder and would write there",
            "cat ../lent/page.txt > copied.txt; echo x > ../lent/page.txt; touch ../lent/new; touch end",
            &["copied.txt", "end"],
        )
        .lending(),
        run("a command only reads", "cat *.txt | wc -c", &[]),
        run("a command reads a secret", "cat .env", &[]),
        run("a script of the project", "./tools/build.sh", &["dist", "dist/a.txt", "notes.txt"])
            .starting_more(),
        run("make", "make -s", &["all.txt", "made.stamp"]).starting_more(),
        run(
            "an archive is made and unpacked",
            "tar cf src.tar src && mkdir un && tar xf src.tar -C un",
            &["src.tar", "un", "un/src", "un/src/a.txt", "un/src/b.txt"],
        ),
        run("a command copies a folder", "cp -r src copy", &["copy", "copy/a.txt", "copy/b.txt"]),
        run("a command empties a file", "truncate -s 0 notes.txt", &["notes.txt"]),
        run(
            "a command writes where nothing is kept",
            "echo x > build/out.o; echo y > kept.txt",
            &["build/out.o", "kept.txt"],
        )
        .and(ignoring),
        run("an interpreter", "python3 -c 'open(\"by-python\", \"w\").write(\"x\")'", &["by-python"]),
        run("a command that fails half way", "touch begun && false && touch ended", &["begun"]),
        run(
            "a command that would go outside",
            "echo x > ../outside/precious.txt; echo x > way-out/new; touch ~/home /tmp/own /etc/daybook-facts /usr/daybook-facts; echo x > in.txt",
            &["in.txt"],
        ),
        run("a command that would go online", "echo x > /dev/tcp/93.184.216.34/80; touch after", &["after"]),
        run("a command for other programs", "kill -s CONT $(cat test.pid); touch tried", &["tried"])
            .and(own_number),
    ]
}

/// Commands in other clothes.
fn dressed() -> Vec<Row> {
    vec![
        run("through env", "env A=1 touch by-env", &["by-env"]),
        run("through nice and timeout", "nice -n 5 timeout 20 touch by-nice", &["by-nice"]),
        run("a shell in a shell", "sh -c 'bash -c \"echo x > deep.txt\"'", &["deep.txt"]),
        run("a subshell", "(cd docs && echo x > sub.md); echo y > top.md", &["docs/sub.md", "top.md"]),
        run("pipes into a file", "sort notes.txt | tee sorted.txt > copy.txt", &["sorted.txt", "copy.txt"]),
        run("a here-document", "cat > here.txt <<'END'\none\n$HOME\nEND\n", &["here.txt"]),
        run(
            "quoted odd names",
            "echo x > 'a \"b\" $c.txt'; touch -- --help \"an odd \\$name.txt\" 新",
            &["a \"b\" $c.txt", "--help", "an odd $name.txt", "新"],
        ),
        run("an escaped newline and a tab", "printf 'a\\tb\\n' > $'tab\\there'", &["tab\there"]),
        run("xargs", "printf 'src/a.txt\\0src/b.txt\\0' | xargs -0 rm", &["src/a.txt", "src/b.txt"]),
        run("find deletes", "find docs -name '*.md' -delete", &["docs/deep/note.md", "docs/guide.md"]),
        run("in the background", "touch later & wait", &["later"]),
    ]
}

fn online() -> Vec<Row> {
    const GET: &str = "get() { exec 3<>/dev/tcp/127.0.0.1/3128; \
        printf 'GET http://%s/ HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' \"$1\" \"$1\" >&3; cat <&3; }; ";
    let get = |then: &str| format!("{GET}{then}");
    vec![
        run("a site", &get("get one.example.com > page.txt"), &["page.txt"])
            .online(&["one.example.com:80"], &["one.example.com:80"]),
        run("two sites", &get("get one.example.com > 1; get two.example.com > 2"), &["1", "2"]).online(
            &["two.example.com:80", "one.example.com:80"],
            &["one.example.com:80", "two.example.com:80"],
        ),
        run(
            "a site, and another one that wasn't named",
            &get("get two.example.com > no.txt; get one.example.com > yes.txt"),
            &["no.txt", "yes.txt"],
        )
        .online(&["one.example.com:80"], &["one.example.com:80"]),
    ]
}
