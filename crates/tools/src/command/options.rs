//! Options of the programs in our table, read as the programs read them, and nothing guessed.
//!
//! Invariant: an option that isn't listed, an abbreviation of a listed one, or a missing value makes the whole command
//! unknown; operands come out only when every option is understood.

/// The options of one program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// Short ones without a value; digits for `-5`.
    pub(super) flags: &'static str,
    /// Short ones with a value, attached or in the next word.
    pub(super) valued: &'static str,
    /// Long ones: `--x`, `--x=` with a value, `--x=?` with or without one.
    pub(super) long: &'static [&'static str],
}

/// The words that aren't options, or nothing when there is an option that isn't listed.
pub(super) fn operands<'a>(options: &Options, args: &'a [String]) -> Option<Vec<&'a str>> {
    let mut out = Vec::new();
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        if arg == "--" {
            out.extend(args);
            return Some(out);
        }
        if let Some(long) = arg.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let listed = |ending: &str| {
                options.long.iter().any(|one| one.strip_prefix("--") == Some(&format!("{name}{ending}")))
            };
            match value {
                Some(value) if listed("=") || listed("=?") => is_no_way_out(value)?,
                None if listed("") || listed("=?") => {}
                None if listed("=") => is_no_way_out(args.next()?)?,
                _ => return None,
            }
        } else if arg.len() > 1 && arg.starts_with('-') {
            match short(options, arg.get(1..)?)? {
                Value::None => {}
                Value::Here(value) => is_no_way_out(value)?,
                Value::Next => is_no_way_out(args.next()?)?,
            }
        } else {
            out.push(arg);
        }
    }
    Some(out)
}

/// Where the value of a cluster's last option is.
enum Value<'a> {
    None,
    Here(&'a str),
    Next,
}

/// A cluster of short options.
fn short<'a>(options: &Options, cluster: &'a str) -> Option<Value<'a>> {
    for (at, ch) in cluster.char_indices() {
        if options.valued.contains(ch) {
            let rest = cluster.get(at + ch.len_utf8()..).filter(|rest| !rest.is_empty());
            return Some(rest.map_or(Value::Next, Value::Here));
        }
        if !options.flags.contains(ch) {
            return None;
        }
    }
    Some(Value::None)
}

/// No listed value is a path. Another version of the program may take the word for an operand, though, so that what would
/// lead out of the folder is refused; a single slash is a separator.
fn is_no_way_out(value: &str) -> Option<()> {
    let out = (value.starts_with('/') && value.len() > 1)
        || value.starts_with('~')
        || value.split('/').any(|part| part == "..");
    (!out).then_some(())
}
