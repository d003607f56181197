//! The grammar's reading of the same text, to check ours against.
//!
//! The parser mends what it can't read, so its tree alone proves nothing: any error, any missing piece, any kind of node
//! that isn't listed here is a doubt. Invariant: a tree that agrees has the same words at the same bytes, in commands
//! that begin and hang together in the same way.

use super::bash::Written;
use super::reading::{Doubt, Joint, Span, Why};
use tree_sitter::{Node, Parser, TreeCursor};

/// Deepest tree that is walked.
const MAX_DEPTH: usize = 200;
/// Most doubts listed.
const MAX_DOUBTS: usize = 8;

/// What the grammar saw.
pub(super) struct Tree {
    words: Vec<Span>,
    heads: Vec<(usize, Joint)>,
}

impl Tree {
    /// Did we read the same?
    pub(super) fn agrees(&self, ours: &[Written]) -> bool {
        let words: Vec<Span> = ours.iter().flat_map(|one| one.places.iter().copied()).collect();
        let heads: Vec<(usize, Joint)> = ours.iter().map(|one| (one.head, one.simple.joint)).collect();
        words == self.words && heads == self.heads
    }
}

/// Parses a text.
pub(super) fn parse(text: &str) -> Result<Tree, Vec<Why>> {
    let failed = || vec![Why::all(Doubt::Syntax, text)];
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|_| failed())?;
    let tree = parser.parse(text, None).ok_or_else(failed)?;
    let doubts = doubts(&tree.root_node());
    if !doubts.is_empty() {
        return Err(doubts);
    }
    let mut seen = Tree { words: Vec::new(), heads: Vec::new() };
    collect(&tree.root_node(), Joint::First, 0, &mut seen).map_err(|why| vec![why])?;
    seen.words.sort();
    seen.heads.sort_by_key(|(start, _)| *start);
    Ok(seen)
}

/// Every node that isn't plain, without recursion: a hostile text nests deeply.
fn doubts(root: &Node<'_>) -> Vec<Why> {
    let mut cursor = root.walk();
    let mut out: Vec<Why> = Vec::new();
    loop {
        if let Some(doubt) = doubt(&cursor.node()) {
            let node = cursor.node();
            if !out.iter().any(|why| why.doubt == doubt) {
                out.push(Why::at(doubt, node.start_byte(), node.end_byte()));
            }
            if out.len() >= MAX_DOUBTS {
                return out;
            }
        }
        if !next(&mut cursor) {
            return out;
        }
    }
}

/// The next node in order.
fn next(cursor: &mut TreeCursor<'_>) -> bool {
    if cursor.goto_first_child() {
        return true;
    }
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

fn doubt(node: &Node<'_>) -> Option<Doubt> {
    if node.is_error() || node.is_missing() {
        return Some(Doubt::Syntax);
    }
    if !node.is_named() {
        return match node.kind() {
            "&" => Some(Doubt::Background),
            "|&" => Some(Doubt::Redirection),
            _ => None,
        };
    }
    match node.kind() {
        "program"
        | "list"
        | "pipeline"
        | "command"
        | "command_name"
        | "word"
        | "number"
        | "raw_string"
        | "string"
        | "string_content"
        | "concatenation"
        | "variable_name"
        | "redirected_statement"
        | "file_redirect"
        | "file_descriptor"
        | "comment"
        | "test_operator"
        | "unary_expression"
        | "binary_expression"
        | "variable_assignment" => None,
        "test_command" => node.child(0).is_none_or(|open| open.kind() != "[").then_some(Doubt::Compound),
        "command_substitution" | "process_substitution" => Some(Doubt::Substitution),
        "simple_expansion" | "expansion" | "arithmetic_expansion" | "special_variable_name" | "subscript" => {
            Some(Doubt::Expansion)
        }
        "ansi_c_string" | "translated_string" => Some(Doubt::Quote),
        "brace_expression" => Some(Doubt::Brace),
        "extglob_pattern" | "regex" => Some(Doubt::Glob),
        "heredoc_redirect" | "herestring_redirect" | "heredoc_body" | "heredoc_start" | "heredoc_end" => {
            Some(Doubt::HereDocument)
        }
        "declaration_command" | "unset_command" | "variable_assignments" => Some(Doubt::State),
        "negated_command" => Some(Doubt::History),
        _ => Some(Doubt::Compound),
    }
}

fn collect(node: &Node<'_>, joint: Joint, depth: usize, seen: &mut Tree) -> Result<(), Why> {
    if depth > MAX_DEPTH {
        return Err(Why::at(Doubt::TooLarge, node.start_byte(), node.end_byte()));
    }
    match node.kind() {
        "program" | "list" | "pipeline" | "redirected_statement" => {
            let mut joint = joint;
            let mut cursor = node.walk();
            for child in node.children(&mut cursor) {
                match child.kind() {
                    "|" => joint = Joint::Pipe,
                    "&&" => joint = Joint::And,
                    "||" => joint = Joint::Or,
                    "comment" => {}
                    _ if !child.is_named() => {}
                    _ => {
                        collect(&child, joint, depth + 1, seen)?;
                        joint = Joint::Then;
                    }
                }
            }
        }
        "command" => words_of(node, Some(joint), seen),
        "test_command" => {
            seen.heads.push((node.start_byte(), joint));
            leaves(node, depth, seen)?;
        }
        "file_redirect" => words_of(node, None, seen),
        _ => return Err(Why::at(Doubt::Compound, node.start_byte(), node.end_byte())),
    }
    Ok(())
}

/// The words right below a command or a redirection.
fn words_of(node: &Node<'_>, joint: Option<Joint>, seen: &mut Tree) {
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            // A number before a sign is part of the sign.
            "file_descriptor" => {}
            "file_redirect" => words_of(&child, None, seen),
            kind => {
                if kind == "command_name" {
                    seen.heads.extend(joint.map(|joint| (child.start_byte(), joint)));
                }
                if child.is_named() {
                    seen.words.push(span(&child));
                }
            }
        }
    }
}

/// All words of a test, its signs included.
fn leaves(node: &Node<'_>, depth: usize, seen: &mut Tree) -> Result<(), Why> {
    if depth > MAX_DEPTH {
        return Err(Why::at(Doubt::TooLarge, node.start_byte(), node.end_byte()));
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "unary_expression" | "binary_expression" => leaves(&child, depth + 1, seen)?,
            _ => seen.words.push(span(&child)),
        }
    }
    Ok(())
}

fn span(node: &Node<'_>) -> Span {
    Span { start: node.start_byte(), end: node.end_byte() }
}
