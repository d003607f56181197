//! Commands made up from a grammar of what goes wrong: quotes, signs, wrappers, options in disguise, and damage.
//!
//! A seed gives the same commands everywhere. Most are nearly harmless, because only those that are allowed prove something.

/// A small generator of numbers; the same seed gives the same numbers.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % end
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Programs with words that fit them.
const USUAL: &[(&str, &[&str])] = &[
    ("ls", &["-la", "-l", "-1", "src", "f", "--all", "sub/g", "-I", "x y"]),
    ("cat", &["f", "src/a.rs", "-n", "--", "-", "a b"]),
    ("head", &["-3", "-n", "5", "f", "--lines=2", "-n2"]),
    ("tail", &["-3", "-n", "5", "f", "-c", "9"]),
    ("wc", &["-l", "f", "-lw"]),
    ("grep", &["-n", "fn main", "f", "-r", "src", "--include=*.rs", "-e", "$x", "a|b", "-A3", "^x$"]),
    ("rg", &["-n", "todo", "src", "-g", "*.rs"]),
    ("find", &[".", "src", "-name", "*.rs", "-type", "f", "!", "(", ")", "-o", "-maxdepth", "2", "-print"]),
    ("sed", &["-n", "1,3p", "f", "$p", "5q", "/main/p", "-e", "s/a/b/"]),
    ("sort", &["-r", "f", "-k2,2n", "-u", "-t", ","]),
    ("uniq", &["-c", "f"]),
    ("cut", &["-d", ":", "-f1", "f", "-f", "2"]),
    ("tr", &["a-z", "A-Z", "-d", "\n"]),
    ("diff", &["-u", "f", "g", "-r", "src"]),
    ("test", &["-f", "f", "=", "a", "b", "-n", "!"]),
    ("[", &["-f", "f", "]", "a", "=", "b", "!", "-d", "src"]),
    ("echo", &["hi", "-n", "it's", "a b", "$x", "`id`", "*", "~", "{a,b}", "!", "#", "é", "笔记"]),
    ("printf", &["%s", "%d\n", "x", "100%%", "a\\nb"]),
    ("pwd", &[]),
    ("command", &["-v", "ls", "git", "-V"]),
    ("tree", &["-L", "2", "-a", "src"]),
    ("true", &[]),
    ("cd", &["src", "sub", "."]),
    ("date", &["+%s", "-u", "--utc"]),
    ("stat", &["f", "-c", "%s"]),
    ("basename", &["src/a.rs", ".rs"]),
    ("sha256sum", &["f"]),
    (
        "git",
        &[
            "status",
            "--short",
            "diff",
            "--stat",
            "log",
            "--oneline",
            "-5",
            "HEAD~1",
            "main..HEAD",
            "--",
            "f",
            "branch",
            "show",
            "HEAD:f",
            "--no-pager",
        ],
    ),
    ("cargo", &["test", "-p", "tools", "--", "--nocapture"]),
    ("npm", &["run", "build", "test"]),
];

/// Programs and words that must not come through.
const NASTY: &[&str] = &[
    "rm",
    "rm -rf",
    "id",
    "sh -c",
    "bash -c",
    "eval",
    "exec",
    "python3 -c",
    "xargs",
    "curl",
    "sudo",
    "tee",
    "export",
    "source",
    ". ./x",
    "coproc",
    "!",
    "{",
    "(",
    "if true; then",
    "function",
    "[[",
    "time -p",
    "env -i",
    "alias",
    "trap",
    "builtin",
    "find . -exec",
    "sed -i",
    "git -c",
    "git push",
    "sort -o",
    "awk",
    "dd",
    "touch",
    "cp",
    "mv",
    "/bin/rm",
    "./ls",
    "command -p",
    "timeout",
    "set",
];

const NASTY_WORDS: &[&str] = &[
    "$(id)",
    "`id`",
    "<(id)",
    ">(id)",
    "${x:-$(id)}",
    "$((a[$(id)]))",
    "$x",
    "$'\\x72'",
    "$\"x\"",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "{1..3}",
    "~",
    "~root",
    "a=~/x",
    "../x",
    "/etc/passwd",
    "-exec",
    "id",
    "\\;",
    "+",
    "-delete",
    "--output=x",
    "-o",
    "-i",
    "-rf",
    "--",
    "x;id",
    "#x",
    "a#b",
    "!x",
    "\\",
    "\"",
    "'",
    "$",
    "a\\\nb",
    "<<EOF",
    "<<<x",
    ">f",
    ">>f",
    "<f",
    "2>&1",
    ">&f",
    "&>f",
    ">|f",
    "3>f",
    "|&",
    ";;",
    "-v",
    "a[$(id)]",
    "--ext-diff",
    "-c",
    "--textconv",
    "-f/etc/passwd",
    "%n",
    "w f",
    "1e id",
    "=",
    "a=b",
    "+=",
    "\u{a0}",
    "\u{200b}",
    "\r",
    "\u{1b}",
    "\u{430}",
    "&",
    "\\\n",
    "''",
    "\"\"",
    "{}",
    "[",
    "]",
    "^a^b",
    "@{1}",
    "HEAD@{1}",
    "%COMSPEC%",
];

const WRAPPERS: &[&str] = &[
    "timeout 5 ",
    "nice ",
    "nice -n 3 ",
    "env ",
    "env A=1 ",
    "command ",
    "exec ",
    "time ",
    "stdbuf -oL ",
    "nohup ",
    "xargs ",
    "A=1 ",
    "timeout -s KILL 5 nice ",
    "timeout -k 1 5 ",
    "\\command ",
    "t''ime ",
    "LD_PRELOAD=x ",
    "env -u A ",
];

const JOINTS: &[&str] = &[
    " | ", "|", " && ", "&&", "; ", ";", "\n", " || ", " & ", " |& ", "\n\n", " #x\n", ";;", "&", " &&\n",
    " |\n",
];

const DAMAGE: &[&str] = &[
    "$", "`", "\\", "'", "\"", "*", "?", "[", "]", "{", "}", "(", ")", "<", ">", "|", "&", ";", "\n", " ",
    "\t", "#", "!", "~", "=", "%", "^", "\r", "\u{b}", "\u{a0}", "é", ",", "-", "/", "..", "$(", "\\\n",
    "''", "2>", "0",
];

/// One command.
pub(super) fn command(dice: &mut Dice) -> String {
    let mut text = simple(dice, 0);
    while dice.one_in(3) {
        let joint = if dice.one_in(4) { dice.below(JOINTS.len()) } else { dice.below(7) };
        text.push_str(JOINTS[joint]);
        text.push_str(&simple(dice, 0));
    }
    if !dice.one_in(3) {
        for _ in 0..=dice.below(3) {
            damage(dice, &mut text);
        }
    }
    text
}

fn simple(dice: &mut Dice, depth: usize) -> String {
    let mut out = String::new();
    if dice.one_in(6) {
        out.push_str(dice.pick(WRAPPERS));
    }
    if dice.one_in(8) {
        out.push_str(dice.pick(NASTY));
    } else if depth < 2 && dice.one_in(20) {
        let shell = dice.pick(&["bash -c ", "sh -c ", "bash -ec ", "bash -lc ", "env bash -c "]);
        let inner = if dice.one_in(2) { simple(dice, depth + 1) } else { command(dice) };
        let quoted = match dice.below(3) {
            0 => format!("'{}'", inner.replace('\'', "'\\''")),
            1 => format!("\"{}\"", inner.replace('\\', "\\\\").replace('"', "\\\"")),
            _ => dressed(dice, &inner),
        };
        return format!("{out}{shell}{quoted}");
    } else {
        let (program, words) = USUAL[dice.below(USUAL.len())];
        if dice.one_in(12) {
            out.push_str(&dressed(dice, program));
        } else {
            out.push_str(program);
        }
        for _ in 0..dice.below(4) {
            out.push_str(if dice.one_in(10) { dice.pick(&["  ", "\t", "\\\n"]) } else { " " });
            match dice.below(12) {
                0 => out.push_str(dice.pick(NASTY_WORDS)),
                1 => {
                    let word = dice.pick(NASTY_WORDS);
                    out.push_str(&dressed(dice, word));
                }
                _ if words.is_empty() => out.push('f'),
                _ => {
                    let word = dice.pick(words);
                    out.push_str(&dressed(dice, word));
                }
            }
        }
        if program == "[" && !dice.one_in(4) {
            out.push_str(" ]");
        }
    }
    if dice.one_in(8) {
        out.push_str(dice.pick(&[
            " 2>&1",
            " >/dev/null",
            " 2>/dev/null",
            " </dev/null",
            " &>/dev/null",
            ">f2",
            " >&2",
            " 2>'/dev/null'",
        ]));
    }
    out
}

/// A word so written that it stays the word, in one of many ways.
fn dressed(dice: &mut Dice, word: &str) -> String {
    let plain = |ch: char| ch.is_alphanumeric() || "-_./:,+=%@^".contains(ch);
    match dice.below(6) {
        0 | 1 if !word.is_empty() && word.chars().all(plain) => word.to_owned(),
        0..=2 => format!("'{}'", word.replace('\'', "'\\''")),
        3 => {
            let mut out = String::from("\"");
            for ch in word.chars() {
                if matches!(ch, '"' | '\\' | '$' | '`') {
                    out.push('\\');
                }
                out.push(ch);
            }
            out + "\""
        }
        4 => word.chars().map(|ch| if ch == '\n' { "'\n'".to_owned() } else { format!("\\{ch}") }).collect(),
        _ => word
            .chars()
            .map(|ch| match dice.below(4) {
                0 if ch != '\'' => format!("'{ch}'"),
                1 if ch != '\n' => format!("\\{ch}"),
                2 if !matches!(ch, '"' | '\\' | '$' | '`') => format!("\"{ch}\""),
                _ if plain(ch) => ch.to_string(),
                _ if ch == '\'' => "\\'".to_owned(),
                _ => format!("'{ch}'"),
            })
            .collect(),
    }
}

/// One small change somewhere.
fn damage(dice: &mut Dice, text: &mut String) {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let at = places[dice.below(places.len())];
    match dice.below(4) {
        0 if at < text.len() => {
            text.remove(at);
        }
        1 => {
            let to = places[dice.below(places.len())];
            let piece = text[at.min(to)..at.max(to)].to_owned();
            text.insert_str(to, &piece);
        }
        _ => text.insert_str(at, dice.pick(DAMAGE)),
    }
}
