//! PowerShell: plain pipelines of programs and cmdlets with literal words, and nothing else of the language.
//!
//! As for bash, a lexer of ours and the grammar must agree on every word. Invariant: no variable, block, array, member,
//! operator or call sign is understood, and only listed cmdlets with fully written parameters look.

use super::harmless::inside;
use super::look;
use super::reading::{Dialect, Doubt, Joint, Reading, Simple, Span, Why, unclear};
use crate::path::rest_below;
use tree_sitter::{Node, Parser};

/// Reads a text.
pub(super) fn read(text: &str) -> Reading {
    let doubts = look::doubts(text);
    if !doubts.is_empty() {
        return unclear(text, doubts);
    }
    match lex(text).and_then(|(commands, words)| agree(text, &words).map(|()| commands)) {
        Ok(commands) if commands.is_empty() => unclear(text, vec![Why::all(Doubt::Empty, text)]),
        Ok(commands) => Reading::Understood(commands),
        Err(why) => unclear(text, vec![why]),
    }
}

/// Names that run text, start programs, or change the shell.
const STATE: [&str; 22] = [
    "iex",
    "invoke-expression",
    "icm",
    "invoke-command",
    "start-process",
    "saps",
    "start",
    "add-type",
    "new-object",
    "set-alias",
    "sal",
    "new-alias",
    "nal",
    "import-module",
    "ipmo",
    "set-variable",
    "sv",
    "exit",
    "invoke-item",
    "ii",
    "set-item",
    "foreach",
];

type Lexed = (Vec<Simple>, Vec<Span>);

fn lex(text: &str) -> Result<Lexed, Why> {
    let mut out: Lexed = (Vec::new(), Vec::new());
    let mut argv: Vec<String> = Vec::new();
    let (mut joint, mut start, mut at) = (Joint::First, 0, 0);
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let ch = rest.chars().next();
        match ch {
            Some(' ' | '\t') => at += 1,
            None | Some('\n' | ';' | '|') => {
                let span = Span { start, end: at };
                let piped = joint == Joint::Pipe || ch == Some('|');
                match argv.is_empty() {
                    true if piped => return Err(Why { doubt: Doubt::Syntax, span }),
                    true => {}
                    false => out.0.push(simple(std::mem::take(&mut argv), joint, span)?),
                }
                let Some(ch) = ch else { return Ok(out) };
                if ch == '|' && rest.starts_with("||") {
                    return Err(Why::at(Doubt::Syntax, at, at + 2));
                }
                joint = match (ch, out.0.is_empty()) {
                    ('|', _) => Joint::Pipe,
                    (_, true) => Joint::First,
                    (_, false) => Joint::Then,
                };
                at += 1;
                start = at;
            }
            Some(_) => {
                let (word, len) =
                    word(rest).map_err(|doubt| Why::at(doubt, at, at + ch.map_or(1, char::len_utf8)))?;
                if argv.is_empty() {
                    start = at;
                }
                out.1.push(Span { start: at, end: at + len });
                argv.push(word);
                at += len;
            }
        }
    }
}

/// A word and how many bytes it takes.
fn word(rest: &str) -> Result<(String, usize), Doubt> {
    let quote = rest.chars().next().filter(|ch| matches!(ch, '\'' | '"'));
    if let Some(quote) = quote {
        let inner = rest.get(1..).unwrap_or_default();
        let end = inner.find(quote).ok_or(Doubt::Quote)?;
        let (word, after) = (inner.get(..end).unwrap_or_default(), inner.get(end + 1..).unwrap_or_default());
        // A doubled quote, a value inside, and quotes that older versions pass on wrongly.
        let odd = word.contains(['"', '`', '$', '\'', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}'])
            || word.is_empty();
        if odd || word.ends_with('\\') || !after.chars().next().is_none_or(|ch| " \t\n;|".contains(ch)) {
            return Err(Doubt::Quote);
        }
        return Ok((word.to_owned(), end + 2));
    }
    let end = rest.find([' ', '\t', '\n', ';', '|']).unwrap_or(rest.len());
    let word = rest.get(..end).unwrap_or_default();
    for ch in word.chars() {
        match ch {
            '$' => return Err(Doubt::Expansion),
            '(' | ')' | '{' | '}' | '@' | '`' | ',' | '%' => return Err(Doubt::Compound),
            '&' => return Err(Doubt::Background),
            '<' | '>' => return Err(Doubt::Redirection),
            '*' | '?' | '[' | ']' => return Err(Doubt::Glob),
            '~' => return Err(Doubt::Tilde),
            '\'' | '"' => return Err(Doubt::Quote),
            ch if ch.is_ascii_alphanumeric() || "_./\\:-=+".contains(ch) => {}
            // Dashes and quotes of other kinds count as their plain ones here.
            _ => return Err(Doubt::Hidden),
        }
    }
    if word == "--%" || word == "--" { Err(Doubt::Compound) } else { Ok((word.to_owned(), end)) }
}

fn simple(argv: Vec<String>, joint: Joint, span: Span) -> Result<Simple, Why> {
    let program = argv.first().map_or("", String::as_str);
    let plain = program.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && program.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.' || b == b'_');
    if !plain {
        return Err(Why { doubt: Doubt::Compound, span });
    }
    if STATE.contains(&program.to_ascii_lowercase().as_str()) {
        return Err(Why { doubt: Doubt::State, span });
    }
    Ok(Simple {
        argv,
        assignments: Vec::new(),
        redirects: Vec::new(),
        via: Vec::new(),
        open: false,
        joint,
        dialect: Dialect::PowerShell,
        span,
    })
}

/// Does the grammar see the same words, in plain commands alone?
fn agree(text: &str, ours: &[Span]) -> Result<(), Why> {
    let fail = |doubt| Err(Why::all(doubt, text));
    let mut parser = Parser::new();
    if parser.set_language(&tree_sitter_powershell::LANGUAGE.into()).is_err() {
        return fail(Doubt::Syntax);
    }
    let Some(tree) = parser.parse(text, None) else { return fail(Doubt::Syntax) };
    let mut theirs = Vec::new();
    let mut cursor = tree.root_node().walk();
    let mut down = true;
    loop {
        let node = cursor.node();
        if down {
            if let Some(doubt) = doubt(&node) {
                return Err(Why::at(doubt, node.start_byte(), node.end_byte()));
            }
            let word = matches!(
                node.kind(),
                "command_name" | "generic_token" | "command_parameter" | "array_literal_expression"
            );
            if word {
                theirs.push(Span { start: node.start_byte(), end: node.end_byte() });
            }
            down = !word;
        }
        if down && cursor.goto_first_child() {
            continue;
        }
        if cursor.goto_next_sibling() {
            down = true;
        } else if cursor.goto_parent() {
            down = false;
        } else {
            break;
        }
    }
    if theirs == ours { Ok(()) } else { fail(Doubt::Disagreement) }
}

fn doubt(node: &Node<'_>) -> Option<Doubt> {
    if node.is_error() || node.is_missing() {
        return Some(Doubt::Syntax);
    }
    let plain = !node.is_named()
        || matches!(
            node.kind(),
            "program"
                | "statement_list"
                | "pipeline"
                | "pipeline_chain"
                | "command"
                | "command_name"
                | "command_elements"
                | "command_argument_sep"
                | "command_parameter"
                | "generic_token"
                | "array_literal_expression"
                | "empty_statement"
        );
    (!plain).then_some(Doubt::Compound)
}

/// A cmdlet that looks: its switches, and its parameters with text and with paths.
struct Cmdlet {
    name: &'static str,
    switches: &'static [&'static str],
    texts: &'static [&'static str],
    paths: &'static [&'static str],
    /// Words without a parameter: the first `usize` are text, the others paths.
    leading: usize,
}

const fn cmdlet(
    name: &'static str,
    switches: &'static [&'static str],
    texts: &'static [&'static str],
    paths: &'static [&'static str],
    leading: usize,
) -> Cmdlet {
    Cmdlet { name, switches, texts, paths, leading }
}

/// Every word may be text.
const ALL: usize = usize::MAX;

const CMDLETS: [Cmdlet; 10] = [
    cmdlet(
        "get-childitem",
        &["-recurse", "-force", "-file", "-directory", "-name"],
        &["-depth"],
        &["-path", "-literalpath"],
        0,
    ),
    cmdlet("get-content", &["-raw"], &["-totalcount", "-tail", "-encoding"], &["-path", "-literalpath"], 0),
    cmdlet("get-item", &["-force"], &[], &["-path", "-literalpath"], 0),
    cmdlet("get-location", &[], &[], &[], 0),
    cmdlet("get-filehash", &[], &["-algorithm"], &["-path", "-literalpath"], 0),
    cmdlet("test-path", &[], &["-pathtype"], &["-path", "-literalpath"], 0),
    cmdlet(
        "select-string",
        &["-casesensitive", "-simplematch", "-list", "-quiet"],
        &["-pattern", "-context"],
        &["-path", "-literalpath"],
        1,
    ),
    cmdlet("select-object", &["-unique"], &["-first", "-last", "-skip"], &[], ALL),
    cmdlet("measure-object", &["-line", "-word", "-character"], &[], &[], ALL),
    cmdlet("write-output", &[], &[], &[], ALL),
];

/// Does the cmdlet only look?
pub(super) fn looks(program: &str, args: &[String], added: &[String]) -> bool {
    let name = program.to_ascii_lowercase();
    let Some(cmdlet) = CMDLETS.iter().find(|cmdlet| cmdlet.name == name) else { return false };
    // Drives, providers, streams and servers are written with a colon or two slashes.
    let own = |word: &str| {
        let word = word.replace('\\', "/");
        !word.contains(':') && !word.starts_with('/') && inside(&word, &[])
    };
    let path = |word: &str| own(word) || added.iter().any(|base| rest_below(base, word).is_some_and(own));
    let mut words = 0;
    let mut pattern_named = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let lower = arg.to_ascii_lowercase();
        let known = match lower.as_str() {
            one if cmdlet.switches.contains(&one) => true,
            one if cmdlet.texts.contains(&one) => {
                pattern_named |= one == "-pattern";
                args.next().is_some()
            }
            one if cmdlet.paths.contains(&one) => args.next().is_some_and(|word| path(word)),
            one if one.starts_with('-') => false,
            _ => {
                words += 1;
                let leading = if pattern_named { 0 } else { cmdlet.leading };
                words <= leading || path(arg)
            }
        };
        if !known {
            return false;
        }
    }
    true
}
