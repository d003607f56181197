//! bash and the POSIX shell: tokens to commands, checked against the parser's tree.
//!
//! Invariant: what comes out as understood was read the same way twice, by our lexer and by the grammar, and holds simple
//! commands alone: no loop, group, function, background work, nor anything that changes the shell.

use super::lex::{Arrow, Break, Token, Word, lex};
use super::reading::{
    Assignment, Dialect, Doubt, Joint, Reading, Redirect, RedirectKind, Simple, Span, Why, unclear,
};
use super::{look, tree, unwrap};

/// Reads a text.
pub(super) fn read(text: &str, dialect: Dialect) -> Reading {
    match read_nested(text, dialect, 0) {
        Ok(commands) => Reading::Understood(commands),
        Err(why) => unclear(text, why),
    }
}

/// Reads a text that stands `depth` shells deep.
pub(super) fn read_nested(text: &str, dialect: Dialect, depth: usize) -> Result<Vec<Simple>, Vec<Why>> {
    let doubts = look::doubts(text);
    if !doubts.is_empty() {
        return Err(doubts);
    }
    let ours = lex(text).and_then(|tokens| commands(text, tokens, dialect));
    let theirs = tree::parse(text);
    let written = match (ours, theirs) {
        (Ok(written), Ok(tree)) => {
            if !tree.agrees(&written) {
                return Err(vec![Why::all(Doubt::Disagreement, text)]);
            }
            written
        }
        (Err(mine), Ok(_)) => return Err(vec![mine]),
        (Ok(_), Err(theirs)) => return Err(theirs),
        (Err(mine), Err(mut theirs)) => {
            theirs.retain(|why| why.doubt != mine.doubt && why.doubt != Doubt::Syntax);
            theirs.insert(0, mine);
            return Err(theirs);
        }
    };
    let mut out = Vec::new();
    for one in written {
        out.extend(unwrap::unwrap(one, dialect, depth).map_err(|why| vec![why])?);
    }
    Ok(out)
}

/// A command as it is written, with the places of its parts.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) simple: Simple,
    /// Its first word is a bare one: keywords count.
    pub(super) bare: bool,
    /// Places of words, assignments and targets, in order.
    pub(super) places: Vec<Span>,
    /// The program's place.
    pub(super) head: usize,
}

/// Most commands on one line: a pipe starts all of them at once, and nobody would read more.
const MAX_COMMANDS: usize = 64;

/// Words that begin something else than a simple command, when they are bare.
const KEYWORDS: [&str; 19] = [
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done",
    "in", "function", "coproc", "!", "{}", "]",
];

/// Built-in commands that change the shell, or run text.
const STATE: [&str; 34] = [
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "set",
    "shopt",
    "alias",
    "unalias",
    "eval",
    "source",
    ".",
    "trap",
    "hash",
    "enable",
    "umask",
    "ulimit",
    "read",
    "mapfile",
    "readarray",
    "let",
    "getopts",
    "bind",
    "complete",
    "compopt",
    "pushd",
    "popd",
    "return",
    "shift",
    "history",
    "fc",
    "exit",
    "wait",
];

fn commands(text: &str, tokens: Vec<Token>, dialect: Dialect) -> Result<Vec<Written>, Why> {
    let mut out: Vec<Written> = Vec::new();
    let mut joint = Joint::First;
    let mut tokens = tokens.into_iter().peekable();
    // Does something have to follow? After `&&`, `||` and `|`, even on the next line.
    let mut owed = None;
    while let Some(token) = tokens.peek() {
        match token {
            Token::Break(Break::Line, _) => {
                tokens.next();
            }
            Token::Break(_, span) => return Err(Why { doubt: Doubt::Syntax, span: *span }),
            Token::Word(_) | Token::Redirect(..) => {
                out.push(command(&mut tokens, joint, dialect)?);
                owed = None;
                match tokens.next() {
                    None | Some(Token::Break(Break::Semicolon | Break::Line, _)) => joint = Joint::Then,
                    Some(Token::Break(kind, span)) => {
                        owed = Some(span);
                        joint = match kind {
                            Break::And => Joint::And,
                            Break::Or => Joint::Or,
                            Break::Pipe => Joint::Pipe,
                            Break::Semicolon | Break::Line => Joint::Then,
                        };
                    }
                    Some(Token::Word(_) | Token::Redirect(..)) => return Err(Why::all(Doubt::Syntax, text)),
                }
            }
        }
    }
    match owed {
        Some(span) => Err(Why { doubt: Doubt::Syntax, span }),
        None if out.is_empty() => Err(Why::all(Doubt::Empty, text)),
        None if out.len() > MAX_COMMANDS => Err(Why::all(Doubt::TooLarge, text)),
        None => Ok(out),
    }
}

type Tokens = std::iter::Peekable<std::vec::IntoIter<Token>>;

/// One command, up to what separates it from the next.
fn command(tokens: &mut Tokens, joint: Joint, dialect: Dialect) -> Result<Written, Why> {
    let (mut words, mut assignments, mut redirects) = (Vec::<Word>::new(), Vec::new(), Vec::new());
    let mut places = Vec::new();
    while let Some(token) = tokens.next_if(|token| !matches!(token, Token::Break(..))) {
        match token {
            Token::Word(word) => {
                places.push(word.span);
                match word.equals {
                    Some(at) if words.is_empty() => assignments.push(assignment(&word, at)?),
                    Some(_) | None => words.push(word),
                }
            }
            Token::Redirect(arrow, span) => {
                let Some(Token::Word(target)) = tokens.next() else {
                    return Err(Why { doubt: Doubt::Syntax, span });
                };
                places.push(target.span);
                redirects.extend(redirect(arrow, &target, dialect)?);
            }
            Token::Break(..) => {}
        }
    }
    let span = Span {
        start: places.first().map_or(0, |span| span.start),
        end: places.last().map_or(0, |span| span.end),
    };
    let Some(first) = words.first() else {
        let doubt = if assignments.is_empty() { Doubt::Redirection } else { Doubt::State };
        return Err(Why { doubt, span });
    };
    check_head(first)?;
    let (bare, head) = (first.bare, first.span.start);
    let argv = words.into_iter().map(|word| word.text).collect();
    let simple = Simple { argv, assignments, redirects, via: Vec::new(), open: false, joint, dialect, span };
    Ok(Written { simple, bare, places, head })
}

fn check_head(first: &Word) -> Result<(), Why> {
    let doubt = match first.text.as_str() {
        "" => Doubt::Syntax,
        "!" => Doubt::History,
        word if first.bare && KEYWORDS.contains(&word) => Doubt::Compound,
        // Quoted or not: these are found by name when they run.
        word if STATE.contains(&word) => Doubt::State,
        // `x+=1`, `'a'=b`: nothing a program is called.
        word if word.contains('=') => Doubt::State,
        _ => return Ok(()),
    };
    Err(Why { doubt, span: first.span })
}

fn assignment(word: &Word, at: usize) -> Result<Assignment, Why> {
    let (name, value) = (word.text.get(..at), word.text.get(at + 1..));
    // A tilde after a colon would be a home here.
    if value.is_some_and(|value| value.contains('~')) {
        return Err(Why { doubt: Doubt::Tilde, span: word.span });
    }
    Ok(Assignment { name: name.unwrap_or_default().to_owned(), value: value.unwrap_or_default().to_owned() })
}

fn redirect(arrow: Arrow, target: &Word, dialect: Dialect) -> Result<Vec<Redirect>, Why> {
    let fail = |doubt| Err(Why { doubt, span: target.span });
    let text = target.text.clone();
    if text.starts_with("/dev/tcp") || text.starts_with("/dev/udp") {
        return fail(Doubt::NetworkDevice);
    }
    if text.is_empty() {
        return fail(Doubt::Redirection);
    }
    let to = |kind| Redirect { kind, target: text.clone() };
    let errors = Redirect { kind: RedirectKind::Duplicate, target: "1".to_owned() };
    Ok(match arrow {
        Arrow::Read => vec![to(RedirectKind::Read)],
        Arrow::Write => vec![to(RedirectKind::Write)],
        Arrow::Append => vec![to(RedirectKind::Append)],
        Arrow::Duplicate if target.bare && matches!(text.as_str(), "0" | "1" | "2" | "-") => {
            vec![to(RedirectKind::Duplicate)]
        }
        Arrow::Duplicate => return fail(Doubt::Redirection),
        // A POSIX shell takes the first sign for work in the background.
        Arrow::WriteBoth if dialect == Dialect::Sh => return fail(Doubt::Redirection),
        Arrow::WriteBoth => vec![to(RedirectKind::Write), errors],
    })
}
