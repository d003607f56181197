//! The table of programs that read and print, with the options that keep them so.
//!
//! What stands here may run without asking in a read-only cage. Invariant: no listed option writes a file, starts a
//! program, opens a connection, waits for ever, or takes a path that [`super::harmless`] doesn't check.

use super::options::Options;

/// What a program's operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// There are none.
    None,
    /// Paths.
    Paths,
    /// One path at most: a second one would be written.
    OnePath,
    /// A pattern, then paths.
    PatternThenPaths,
    /// Text that is printed or cut up, or names that are looked up.
    Text,
    /// A format that begins with `+`; anything else would set the clock.
    DateFormat,
}

/// One program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) options: Options,
    pub(super) operands: Operands,
}

/// Every program in the table.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|entry| entry.name)
}

/// The program's entry.
pub(super) fn entry(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.name == name)
}

const fn row(
    name: &'static str,
    operands: Operands,
    flags: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
) -> Entry {
    Entry { name, options: Options { flags, valued, long }, operands }
}

use Operands::{DateFormat, None as Nothing, OnePath, Paths, PatternThenPaths, Text};

const SUMS: &[&str] = &["--binary", "--text", "--tag", "--zero"];

const TABLE: &[Entry] = &[
    row(
        "ls",
        Paths,
        "1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ",
        "I",
        &[
            "--all",
            "--almost-all",
            "--color=?",
            "--directory",
            "--group-directories-first",
            "--human-readable",
            "--recursive",
            "--reverse",
            "--size",
            "--sort=",
            "--time=",
            "--time-style=",
            "--full-time",
            "--classify",
            "--inode",
            "--si",
            "--ignore=",
            "--hide=",
        ],
    ),
    row(
        "cat",
        Paths,
        "AbeEnstTuv",
        "",
        &["--number", "--number-nonblank", "--show-all", "--show-ends", "--show-tabs", "--squeeze-blank"],
    ),
    row("tac", Paths, "", "", &[]),
    row("nl", Paths, "p", "bfhilnsvw", &["--body-numbering="]),
    row("rev", Paths, "", "", &[]),
    row("head", Paths, "0123456789qvz", "nc", &["--lines=", "--bytes=", "--quiet", "--verbose"]),
    row("tail", Paths, "0123456789qvz", "nc", &["--lines=", "--bytes=", "--quiet", "--verbose"]),
    row(
        "wc",
        Paths,
        "clLmw",
        "",
        &["--bytes", "--chars", "--lines", "--words", "--max-line-length", "--total="],
    ),
    row(
        "grep",
        PatternThenPaths,
        "0123456789abcEFGHhiIlLnoPqrRsTvVwxyZz",
        "ABCm",
        &[
            "--extended-regexp",
            "--fixed-strings",
            "--basic-regexp",
            "--perl-regexp",
            "--ignore-case",
            "--invert-match",
            "--word-regexp",
            "--line-regexp",
            "--count",
            "--color=?",
            "--colour=?",
            "--files-with-matches",
            "--files-without-match",
            "--max-count=",
            "--only-matching",
            "--quiet",
            "--silent",
            "--no-messages",
            "--line-number",
            "--with-filename",
            "--no-filename",
            "--after-context=",
            "--before-context=",
            "--context=",
            "--text",
            "--include=",
            "--exclude=",
            "--exclude-dir=",
            "--recursive",
        ],
    ),
    row(
        "rg",
        PatternThenPaths,
        "abcFHhiIlLnNoPqsSuUvwx0",
        "ABCmgtTMj",
        &[
            "--files-with-matches",
            "--files-without-match",
            "--fixed-strings",
            "--ignore-case",
            "--smart-case",
            "--case-sensitive",
            "--invert-match",
            "--word-regexp",
            "--line-regexp",
            "--count",
            "--count-matches",
            "--color=",
            "--colors=",
            "--only-matching",
            "--quiet",
            "--line-number",
            "--no-line-number",
            "--with-filename",
            "--no-filename",
            "--no-heading",
            "--heading",
            "--hidden",
            "--no-ignore",
            "--max-count=",
            "--max-depth=",
            "--glob=",
            "--iglob=",
            "--type=",
            "--type-not=",
            "--sort=",
            "--stats",
            "--column",
            "--multiline",
            "--text",
            "--trim",
            "--after-context=",
            "--before-context=",
            "--context=",
            "--no-messages",
        ],
    ),
    row("file", Paths, "bhiLNrs0", "F", &["--brief", "--mime", "--mime-type", "--mime-encoding"]),
    row("stat", Paths, "Ltx", "c", &["--format=", "--printf=", "--dereference", "--terse"]),
    row(
        "du",
        Paths,
        "0abcDhHklLmPsSx",
        "dBt",
        &[
            "--all",
            "--apparent-size",
            "--bytes",
            "--total",
            "--human-readable",
            "--max-depth=",
            "--summarize",
            "--si",
            "--exclude=",
        ],
    ),
    row("df", Paths, "ahHiklPT", "B", &["--human-readable", "--inodes", "--print-type", "--total"]),
    row("pwd", Nothing, "LP", "", &["--logical", "--physical"]),
    row("true", Text, "", "", &[]),
    row("false", Text, "", "", &[]),
    row(
        "sort",
        Paths,
        "bcCdfghiMmnRrsuVz",
        "kt",
        &[
            "--check=?",
            "--dictionary-order",
            "--ignore-case",
            "--field-separator=",
            "--general-numeric-sort",
            "--human-numeric-sort",
            "--key=",
            "--month-sort",
            "--numeric-sort",
            "--reverse",
            "--stable",
            "--unique",
            "--version-sort",
            "--zero-terminated",
        ],
    ),
    row(
        "uniq",
        OnePath,
        "cdDiuz",
        "fsw",
        &["--count", "--repeated", "--unique", "--ignore-case", "--skip-fields=", "--skip-chars="],
    ),
    row(
        "cut",
        Paths,
        "nsz",
        "bcdf",
        &[
            "--bytes=",
            "--characters=",
            "--delimiter=",
            "--fields=",
            "--only-delimited",
            "--complement",
            "--output-delimiter=",
        ],
    ),
    row("tr", Text, "cCdst", "", &["--complement", "--delete", "--squeeze-repeats", "--truncate-set1"]),
    row(
        "diff",
        Paths,
        "abBcdeEiNnpqrstTuwyZ0123456789",
        "CIUWx",
        &[
            "--brief",
            "--unified=?",
            "--context=?",
            "--recursive",
            "--ignore-case",
            "--ignore-all-space",
            "--ignore-space-change",
            "--ignore-blank-lines",
            "--side-by-side",
            "--color=?",
            "--exclude=",
            "--new-file",
            "--report-identical-files",
            "--width=",
            "--text",
            "--minimal",
        ],
    ),
    row("cmp", Paths, "bls", "in", &["--print-bytes", "--verbose", "--silent", "--quiet"]),
    row("comm", Paths, "123z", "", &["--total", "--output-delimiter=", "--nocheck-order"]),
    row("paste", Paths, "sz", "d", &["--serial", "--delimiters="]),
    row("fold", Paths, "bs", "w", &["--width=", "--spaces", "--bytes"]),
    row(
        "od",
        Paths,
        "abcdfilosxv",
        "AjNt",
        &["--address-radix=", "--format=", "--read-bytes=", "--skip-bytes="],
    ),
    row(
        "date",
        DateFormat,
        "uR",
        "d",
        &["--date=", "--utc", "--universal", "--rfc-3339=", "--iso-8601=?", "--rfc-email"],
    ),
    row("basename", Text, "az", "s", &["--multiple", "--suffix=", "--zero"]),
    row("dirname", Text, "z", "", &["--zero"]),
    row(
        "realpath",
        Paths,
        "eLmPqsz",
        "",
        &["--canonicalize-existing", "--canonicalize-missing", "--quiet", "--no-symlinks"],
    ),
    row(
        "readlink",
        Paths,
        "efmnqsvz",
        "",
        &["--canonicalize", "--canonicalize-existing", "--canonicalize-missing", "--no-newline"],
    ),
    row("sha1sum", Paths, "btz", "", SUMS),
    row("sha224sum", Paths, "btz", "", SUMS),
    row("sha256sum", Paths, "btz", "", SUMS),
    row("sha384sum", Paths, "btz", "", SUMS),
    row("sha512sum", Paths, "btz", "", SUMS),
    row("b2sum", Paths, "btz", "l", SUMS),
    row("md5sum", Paths, "btz", "", SUMS),
    row("cksum", Paths, "", "", &[]),
    row("sum", Paths, "rs", "", &[]),
    row("seq", Text, "w", "fs", &["--equal-width", "--format=", "--separator="]),
    row("which", Text, "as", "", &[]),
    row("uname", Nothing, "amnoprsv", "", &["--all", "--kernel-name", "--machine"]),
    row("arch", Nothing, "", "", &[]),
    row("nproc", Nothing, "", "", &["--all"]),
    row("whoami", Nothing, "", "", &[]),
    row("id", Text, "Ggnruz", "", &["--user", "--group", "--groups", "--name"]),
];
