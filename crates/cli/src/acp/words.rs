//! What is said to an editor, in words of ours: one file turns them into the protocol's.
//!
//! Invariant: facts come from the view, never from the model's own words about them; every text that a person reads before
//! they say yes is the one the digest stands for.

use api::wire::permission::Offer;
use api::wire::store::{DiffLine, FileDiff, Hunk};
use api::wire::view::{ApprovalView, CallState, CallView, Halt, PlanItem, QuestionView};

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Update {
    /// The person's words, when a session is told from its beginning.
    Said(String),
    /// More of an answer.
    Answer { key: String, text: String },
    /// More of what the model thinks.
    Thought { key: String, text: String },
    /// A call, new or changed.
    Call { call: Call, new: bool },
    /// The plan.
    Plan(Vec<PlanItem>),
    /// What may be done without asking.
    Mode(&'static str),
}

/// A call as an editor shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) kind: Kind,
    pub(crate) state: CallState,
    /// The file it is about, relative to the folder.
    pub(crate) path: Option<String>,
    pub(crate) output: String,
    pub(crate) diffs: Vec<Diff>,
}

/// Kinds of calls that editors have a picture for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Search,
    Edit,
    Delete,
    Run,
    Fetch,
    Think,
    Other,
}

/// One run of changed lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diff {
    pub(crate) path: String,
    /// What stood there; `None` where the file is new.
    pub(crate) old: Option<String>,
    pub(crate) new: String,
}

/// A request for a yes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    pub(crate) call: Call,
    /// What is asked about, exactly, and what the engine knows of it.
    pub(crate) text: String,
    pub(crate) choices: Vec<Choice>,
}

/// A way to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Yes {
    Once,
    Session,
    Folder,
    No,
}

/// A way to answer, with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) yes: Yes,
    pub(crate) name: String,
}

/// How a prompt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Ended,
    Length,
    Limit,
    Refused,
    Cancelled,
}

impl Call {
    pub(crate) fn of(call: &CallView, diffs: Vec<Diff>) -> Self {
        let fact = |name: &str| call.facts.get(name).cloned();
        let halted = call.halt.as_ref().map(halted);
        Self {
            id: call.id.clone(),
            title: title(&call.tool, fact("path"), fact("command"), fact("pattern")),
            kind: kind(&call.tool),
            state: call.state,
            path: fact("path").map(|path| path.trim_start_matches("./").to_owned()),
            output: halted.unwrap_or_else(|| call.output.clone()),
            diffs,
        }
    }
}

fn kind(tool: &str) -> Kind {
    match tool {
        "list_files" | "read_file" | "read_document" => Kind::Read,
        "search_files" | "search_history" => Kind::Search,
        "write_file" | "edit_file" => Kind::Edit,
        "delete_path" => Kind::Delete,
        "run_command" | "job" => Kind::Run,
        "fetch_page" | "web_search" => Kind::Fetch,
        "update_plan" => Kind::Think,
        _ => Kind::Other,
    }
}

fn title(tool: &str, path: Option<String>, command: Option<String>, pattern: Option<String>) -> String {
    let place = path.clone().unwrap_or_else(|| ".".to_owned());
    match tool {
        "list_files" => format!("List {place}"),
        "read_file" => format!("Read {place}"),
        "search_files" => format!("Search {place} for {}", pattern.unwrap_or_default()),
        "write_file" => format!("Write {place}"),
        "edit_file" => format!("Edit {place}"),
        "delete_path" => format!("Delete {place}"),
        "run_command" => format!("Run {}", command.unwrap_or_default()),
        "ask_user" => "Ask you".to_owned(),
        "update_plan" => "Update the plan".to_owned(),
        other => path.map_or_else(|| other.to_owned(), |path| format!("{other} {path}")),
    }
}

fn halted(halt: &Halt) -> String {
    match halt {
        Halt::Mode { mode } => format!("Not done: the mode {} doesn't do this.", mode_word(*mode)),
        Halt::Rule { rule } => format!("Not done: a rule says no ({rule})."),
        Halt::Refused { why: Some(why) } => format!("Not allowed: {why}"),
        Halt::Refused { why: None } => "Not allowed.".to_owned(),
        Halt::Nobody => "Not done: nobody was there to ask.".to_owned(),
        Halt::Expired => "Not done: nobody answered in time.".to_owned(),
        Halt::Stopped { .. } => "Stopped.".to_owned(),
    }
}

/// The word of a mode, as it goes over the wire.
pub(crate) fn mode_word(mode: api::wire::command::Mode) -> &'static str {
    use api::wire::command::Mode;
    match mode {
        Mode::Ask => "ask",
        Mode::Edit => "edit",
        Mode::Plan => "plan",
        Mode::Auto => "auto",
    }
}

/// The runs of changed lines of a file. Writing replaces as well: only what wasn't there has nothing to lose.
pub(crate) fn diffs(diff: &FileDiff) -> Vec<Diff> {
    let of = |hunk: &Hunk| {
        let side = |left_out: &str| {
            let kept = hunk.lines.iter().filter(|line| line.kind != left_out);
            kept.map(text).collect::<String>()
        };
        Diff { path: diff.path.clone(), old: (!diff.created).then(|| side("added")), new: side("removed") }
    };
    diff.hunks.iter().map(of).collect()
}

fn text(line: &DiffLine) -> String {
    let mut text: String = line.spans.iter().map(|span| span.text.as_str()).collect();
    text.push('\n');
    text
}

impl Ask {
    pub(crate) fn of(approval: &ApprovalView) -> Self {
        let fact = |name: &str| approval.facts.get(name).cloned();
        let diffs = approval.diff.as_ref().map(diffs).unwrap_or_default();
        let call = Call {
            id: approval.call.clone(),
            title: title(&approval.tool, fact("path"), fact("command"), fact("pattern")),
            kind: kind(&approval.tool),
            state: CallState::Waiting,
            path: fact("path"),
            output: String::new(),
            diffs,
        };
        Self { call, text: told(approval), choices: choices(approval) }
    }
}

/// Exactly what a yes is a yes to, and what the engine knows of it: all that the card says.
fn told(approval: &ApprovalView) -> String {
    let mut lines = Vec::new();
    let in_lines = approval.diff.as_ref().is_some_and(|diff| !diff.hunks.is_empty());
    match approval.unshown {
        true => lines
            .push("This can't be shown whole here. Allow it in Daybook's window, or not at all.".to_owned()),
        // Where no line differs, or none can be shown, the text says what would be done.
        false if !in_lines => lines.push(approval.exact.clone()),
        false => {}
    }
    reaches(approval, &mut lines);
    if approval.undo != "yes" {
        lines.push("It can't be taken back, or not all of it.".to_owned());
    }
    if let Some(paths) = named(approval, "not_covered") {
        lines.push(match approval.facts.get("not_covered_count") {
            _ if paths == "." => "Nothing in the folder is covered by undo.".to_owned(),
            Some(count) => format!("Not covered by undo ({count}): {paths}"),
            None => format!("Not covered by undo: {paths}"),
        });
    }
    for what in ["secrets", "protected"] {
        if let Some(paths) = named(approval, what) {
            lines.push(format!("Look twice ({what}): {paths}"));
        }
    }
    lines.extend(approval.warnings.iter().map(|code| warned(code)));
    if approval.suspicious && approval.warnings.is_empty() {
        lines.push("Look twice: the text holds characters that hide or look like others.".to_owned());
    }
    lines.join("\n")
}

/// Paths of a fact, in one line.
fn named(approval: &ApprovalView, fact: &str) -> Option<String> {
    let paths = approval.facts.get(fact).filter(|paths| !paths.is_empty())?;
    Some(paths.replace('\n', ", "))
}

/// What it can look at, change and reach, and what keeps it from more.
fn reaches(approval: &ApprovalView, lines: &mut Vec<String>) {
    // Folders that have to be made first are touched as well.
    let touched: Vec<String> = approval.can_touch.iter().cloned().chain(named(approval, "folders")).collect();
    if !touched.is_empty() {
        let verb = if approval.act == "read" { "It reads" } else { "It can change" };
        lines.push(format!("{verb}: {}", touched.join(", ")));
    }
    if !approval.added.is_empty() {
        lines.push(format!("It can look at: {}", approval.added.join(", ")));
    }
    if !approval.reach.is_empty() {
        let sites = approval.reach.join(", ");
        lines.push(format!("It can reach: {sites}. What is sent can't be taken back."));
    }
    if let Some(sites) =
        named(approval, "hosts").filter(|_| approval.act == "run" && approval.reach.is_empty())
    {
        lines.push(format!("It wants {sites} and has no way there."));
    }
    if approval.act == "run" && approval.cannot_touch.is_empty() {
        lines.push("Nothing is enforced: no cage holds it on this machine.".to_owned());
    }
    if let Some(paths) = named(approval, "named_elsewhere") {
        let more = approval.facts.get("names_unseen").map_or("", String::as_str);
        lines.push(format!("These have more names elsewhere ({more} that weren't looked for): {paths}"));
    }
    if approval.facts.contains_key("background") {
        lines.push("It goes on while other work is done.".to_owned());
    }
    if let Some(rule) = approval.facts.get("rule").filter(|rule| !rule.starts_with("mode/")) {
        lines.push(format!("Asked because of the rule {rule}."));
    }
}

fn warned(code: &str) -> String {
    let what = match code {
        "control" => "it holds control characters, shown as ⟨codes⟩",
        "direction" => "it holds characters that turn the direction of writing, shown as ⟨codes⟩",
        "invisible" => "it holds invisible characters, shown as ⟨codes⟩",
        "space" => "it holds characters that look like spaces, shown as ⟨codes⟩",
        "look_alike" => "it holds letters that look like others, shown as ⟨codes⟩",
        "marker" => "it holds the marks ⟨ ⟩ that are used here for codes",
        "gap" => "it holds long gaps; read it to its end",
        "long" => "it is long; read it to its end",
        other => return format!("Look twice: {other}."),
    };
    format!("Look twice: {what}.")
}

/// Once, more where the policy offers it and it isn't everything of a kind, and no. What can't be shown whole can't be
/// allowed by who only sees this.
fn choices(approval: &ApprovalView) -> Vec<Choice> {
    let choice = |yes, name: &str| Choice { yes, name: name.to_owned() };
    let mut all = Vec::new();
    if !approval.unshown {
        all.push(choice(Yes::Once, "Allow once"));
        if let Some(what) = approval.offers.first().filter(|offer| !is_wide(offer)).map(offered) {
            all.push(choice(Yes::Session, &format!("Allow in this session: {what}")));
            all.push(choice(Yes::Folder, &format!("Always allow in this folder: {what}")));
        }
    }
    all.push(choice(Yes::No, "Don't allow"));
    all
}

/// Everything of a kind is allowed where it is asked about once more, which is not here.
fn is_wide(offer: &Offer) -> bool {
    match offer {
        Offer::Commands => true,
        Offer::Write { under } | Offer::Delete { under } => under == ".",
        Offer::Command { .. } | Offer::Site { .. } => false,
    }
}

fn offered(offer: &Offer) -> String {
    match offer {
        Offer::Write { under } => format!("writing below {under}"),
        Offer::Delete { under } => format!("deleting below {under}"),
        Offer::Command { words, exact: true, .. } => format!("exactly `{}`", words.join(" ")),
        Offer::Command { words, exact: false, .. } => {
            format!("commands that begin with `{}`", words.join(" "))
        }
        Offer::Commands => "all commands without internet".to_owned(),
        Offer::Site { site } => format!("commands that reach {site}"),
    }
}

/// A question of the model, as words.
pub(crate) fn question(question: &QuestionView) -> String {
    let options = question.options.iter().map(|option| format!("\n- {option}")).collect::<String>();
    format!("{}{options}", question.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::wire::view::ApprovalState;

    fn approval(offers: Vec<Offer>, unshown: bool) -> ApprovalView {
        ApprovalView {
            id: "apr_1".to_owned(),
            call: "cal_1".to_owned(),
            tool: "run_command".to_owned(),
            digest: "d".to_owned(),
            act: "run".to_owned(),
            facts: [("command".to_owned(), "make test".to_owned())].into(),
            can_touch: vec![".".to_owned()],
            cannot_touch: vec!["network".to_owned()],
            risk: 2,
            undo: "partly".to_owned(),
            exact: "make test".to_owned(),
            unshown,
            diff: None,
            suspicious: true,
            warnings: Vec::new(),
            offers,
            added: Vec::new(),
            reach: Vec::new(),
            state: ApprovalState::Open,
            model_says: Some("trust me".to_owned()),
        }
    }

    #[track_caller]
    fn check(offers: Vec<Offer>, unshown: bool, expect: &[Yes]) {
        let ask = Ask::of(&approval(offers, unshown));
        assert_eq!(ask.choices.iter().map(|choice| choice.yes).collect::<Vec<_>>(), expect);
        assert!(!ask.text.contains("trust me"), "the model's words are no fact: {}", ask.text);
    }

    #[test]
    fn always_is_there_only_where_the_policy_offers_it_and_never_for_everything_of_a_kind() {
        let command = || Offer::Command { words: vec!["make".to_owned()], exact: false, files: Vec::new() };
        check(vec![], false, &[Yes::Once, Yes::No]);
        check(vec![command(), Offer::Commands], false, &[Yes::Once, Yes::Session, Yes::Folder, Yes::No]);
        check(vec![Offer::Commands], false, &[Yes::Once, Yes::No]);
        check(vec![Offer::Write { under: ".".to_owned() }], false, &[Yes::Once, Yes::No]);
        check(vec![command()], true, &[Yes::No]);
    }

    fn line(kind: &str, text: &str) -> DiffLine {
        let spans = vec![api::wire::store::DiffSpan { text: text.to_owned(), changed: false }];
        DiffLine { kind: kind.to_owned(), spans }
    }

    fn writing(new: bool, hunks: Vec<Hunk>) -> ApprovalView {
        let facts = [("path", "a.txt")];
        let no_hunks = hunks.is_empty().then(|| "too_large".to_owned());
        ApprovalView {
            tool: "write_file".to_owned(),
            act: "write".to_owned(),
            facts: facts.map(|(name, fact)| (name.to_owned(), fact.to_owned())).into(),
            diff: Some(FileDiff { path: "a.txt".to_owned(), created: new, no_hunks, hunks }),
            exact: "the whole text".to_owned(),
            ..approval(Vec::new(), false)
        }
    }

    #[test]
    fn what_an_overwrite_removes_is_shown() {
        let hunk = || Hunk {
            old_start: 1,
            new_start: 1,
            lines: vec![line("removed", "precious"), line("added", "nothing")],
            part: None,
            undone: false,
        };
        let diff = |old: Option<&str>| Diff {
            path: "a.txt".to_owned(),
            old: old.map(str::to_owned),
            new: "nothing\n".to_owned(),
        };
        let ask = Ask::of(&writing(false, vec![hunk()]));
        assert_eq!(ask.call.diffs, [diff(Some("precious\n"))]);
        assert!(!ask.text.contains("the whole text"), "the lines say it");
        assert_eq!(Ask::of(&writing(true, vec![hunk()])).call.diffs, [diff(None)]);
    }

    #[test]
    fn what_has_no_lines_to_show_is_told_as_it_is() {
        let ask = Ask::of(&writing(false, Vec::new()));
        assert_eq!(ask.text.lines().next(), Some("the whole text"));
    }

    #[test]
    fn what_the_card_says_is_told() {
        let facts = [
            ("not_covered", "big.iso\nold.iso"),
            ("not_covered_count", "9"),
            ("named_elsewhere", "a\nb"),
            ("names_unseen", "2"),
            ("folders", "new"),
            ("rule", "user/ask-all"),
        ];
        let facts = facts.map(|(name, fact)| (name.to_owned(), fact.to_owned())).into();
        let added = vec!["/other".to_owned()];
        let warnings = vec!["look_alike".to_owned(), "long".to_owned()];
        let ask = Ask::of(&ApprovalView { facts, added, warnings, ..approval(Vec::new(), false) });
        let lines: Vec<&str> = ask.text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "It can change: ., new",
                "It can look at: /other",
                "These have more names elsewhere (2 that weren't looked for): a, b",
                "Asked because of the rule user/ask-all.",
                "It can't be taken back, or not all of it.",
                "Not covered by undo (9): big.iso, old.iso",
                "Look twice: it holds letters that look like others, shown as ⟨codes⟩.",
                "Look twice: it is long; read it to its end.",
            ]
        );
    }

    #[test]
    fn what_is_asked_is_told_exactly_with_what_the_engine_knows() {
        let ask = Ask::of(&approval(Vec::new(), false));
        assert_eq!((ask.call.title.as_str(), ask.call.kind), ("Run make test", Kind::Run));
        let lines: Vec<&str> = ask.text.lines().collect();
        assert_eq!(
            lines,
            [
                "make test",
                "It can change: .",
                "It can't be taken back, or not all of it.",
                "Look twice: the text holds characters that hide or look like others.",
            ]
        );
    }
}
