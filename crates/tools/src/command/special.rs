//! Read-only programs whose words aren't options and operands: `find`, `sed`, tests, `echo`, `printf`, `cd`.
//!
//! Invariant: as in the table: whatever isn't listed makes the command unknown.

use super::harmless::inside;

/// Does the program only look? Nothing when it isn't one of these.
pub(super) fn looks(program: &str, args: &[String], added: &[String]) -> Option<bool> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    Some(match program {
        "find" => find(&args, added),
        "sed" => sed(&args, added),
        "test" => test(&args, added),
        "[" => args.split_last().is_some_and(|(last, rest)| *last == "]" && test(rest, added)),
        // Its first words can be options or text; neither does anything.
        "echo" => true,
        "printf" => printf(&args),
        "cd" => {
            matches!(args.as_slice(), [path] if !path.starts_with('-') && !path.is_empty() && inside(path, added))
        }
        // What is left of it when nothing is started: where a program is.
        "command" => {
            matches!(args.as_slice(), ["-v" | "-V", names @ ..] if names.iter().all(|name| !name.starts_with('-')))
        }
        _ => return None,
    })
}

/// Tests and printing alone, below paths in the folder or an added one.
fn find(args: &[&str], added: &[String]) -> bool {
    const ALONE: [&str; 26] = [
        "!",
        "-not",
        "(",
        ")",
        "-a",
        "-and",
        "-o",
        "-or",
        ",",
        "-print",
        "-print0",
        "-prune",
        "-empty",
        "-readable",
        "-writable",
        "-executable",
        "-nouser",
        "-nogroup",
        "-true",
        "-false",
        "-quit",
        "-ls",
        "-depth",
        "-mount",
        "-xdev",
        "-daystart",
    ];
    const VALUED: [&str; 27] = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-type",
        "-xtype",
        "-maxdepth",
        "-mindepth",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-links",
        "-printf",
        "-lname",
        "-regextype",
    ];
    let mut args = args.iter().copied().peekable();
    while args.next_if(|arg| matches!(*arg, "-H" | "-L" | "-P")).is_some() {}
    while let Some(path) = args.next_if(|arg| !arg.starts_with('-') && !matches!(*arg, "!" | "(" | ")" | ","))
    {
        if !inside(path, added) {
            return false;
        }
    }
    while let Some(arg) = args.next() {
        let known = ALONE.contains(&arg) || (VALUED.contains(&arg) && args.next().is_some());
        if !known {
            return false;
        }
    }
    true
}

/// `-n` and one printing script of addresses: `5p`, `1,20p`, `$p`, `/word/p`, `=`, or `5q` without `-n`.
fn sed(args: &[&str], added: &[String]) -> bool {
    let (quiet, rest) = match args {
        ["-n", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let rest = rest.strip_prefix(&["-e"]).unwrap_or(rest);
    let Some((script, paths)) = rest.split_first() else { return false };
    let known = match quiet {
        true => script.strip_suffix(['p', '=']).is_some_and(addresses),
        false => script
            .strip_suffix('q')
            .is_some_and(|at| !at.is_empty() && at.bytes().all(|b| b.is_ascii_digit())),
    };
    known && paths.iter().all(|path| !path.starts_with('-') && inside(path, added))
}

/// No address, one, or two: numbers, `$`, and words between slashes without any sign.
fn addresses(text: &str) -> bool {
    let address = |text: &str| {
        let number = !text.is_empty() && text.len() < 10 && text.bytes().all(|b| b.is_ascii_digit());
        let word = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let plain = |word: &str| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b" _-".contains(&b))
        };
        number || text == "$" || word.is_some_and(plain)
    };
    match text.split_once(',') {
        None => text.is_empty() || address(text),
        Some((from, to)) => address(from) && address(to),
    }
}

/// Files and strings compared. Not `-v`, `-R` and numbers: a name in them can hold an index that is evaluated.
fn test(args: &[&str], added: &[String]) -> bool {
    const FILE: [&str; 12] = ["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-p", "-S", "-O"];
    match args {
        [] => true,
        ["!", rest @ ..] if rest.len() < 4 => test(rest, added),
        [one] => !one.starts_with('-'),
        [sign, path] if FILE.contains(sign) => inside(path, added) && !path.starts_with('-'),
        ["-n" | "-z", text] => !text.starts_with('-'),
        [left, "=" | "==" | "!=", right] => {
            ![left, right].iter().any(|text| text.starts_with(['-', '(', '!']))
        }
        [left, "-nt" | "-ot" | "-ef", right] => {
            [left, right].iter().all(|path| inside(path, added) && !path.starts_with(['-', '(', '!']))
        }
        _ => false,
    }
}

/// A format and text. Not `-v`, nor `%n`: they set variables.
fn printf(args: &[&str]) -> bool {
    let Some(format) = args.first() else { return false };
    let mut directives = format.split('%').skip(1);
    let sets = directives.any(|rest| {
        rest.trim_start_matches(|ch: char| ch.is_ascii_digit() || "-+ #0'.*hljztL".contains(ch))
            .starts_with('n')
    });
    !format.starts_with('-') && !sets
}
