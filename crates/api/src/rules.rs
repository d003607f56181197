//! The person's own rules: setting them, what they make of each mode, and trying out what would happen.
//!
//! Invariant: a rule has no word for *allow*, so nothing here widens anything; what a mode does is asked of the policy and
//! not written down twice.

use crate::desk::{Desk, RULES_UNREADABLE, Ruled};
use crate::failure::{error, internal, of_command};
use crate::room::{Done, Inside, Room, id};
use crate::view::words;
use crate::wire::ApiError;
use crate::wire::command::{Mode, Reply};
use crate::wire::permission::{ModeRule, OwnRule, RuleAbout, RuleWord, Tried, WhatIf};
use domain::call::{Act, Verdict};
use domain::ids::FolderId;
use engine::show::{About, Cage, Layer, PERSON, PolicyInput, Rule, by_itself};
use engine::{Try, Would};
use std::sync::Arc;

/// Longest words of a rule, in bytes.
const LONGEST: usize = 400;

impl Room {
    pub(crate) async fn set_rule(
        &self,
        about: &RuleAbout,
        folder: Option<String>,
        word: Option<RuleWord>,
    ) -> Done {
        let about = of_wire(about)?;
        let folder: Option<FolderId> = folder.map(|folder| id(&folder)).transpose()?;
        let never = word.map(|word| word == RuleWord::Never);
        self.off_thread(move |inside| inside.desk.set_rule(about, folder, never)).await?;
        self.permissions().await
    }

    pub(crate) async fn reset_rules(&self) -> Done {
        self.off_thread(|inside| inside.desk.reset_rules()).await?;
        self.permissions().await
    }

    pub(crate) async fn what_if(&self, session: &str, what: Tried) -> Done {
        let session = self.known(session)?;
        let what = match what {
            Tried::Run { command } => Try::Run(command),
            Tried::Read { path } => Try::Read(path),
            Tried::Change { path } => Try::Change(path),
            Tried::Delete { path } => Try::Delete(path),
        };
        let engine = Arc::clone(self.inside.engine()?);
        let answer = self
            .off_thread(move |inside| {
                let would = engine.would(&session, &what).map_err(|failure| of_command(&failure))?;
                let would = would.map_err(|bad| ApiError {
                    code: bad.code,
                    message: bad.message,
                    hint: bad.suggestion,
                })?;
                let state = engine.state(&session).map_err(internal)?;
                let folder = state.session.as_ref().map(|session| session.folder.clone());
                Ok(answer(inside, would, folder.as_ref()))
            })
            .await?;
        Ok(Reply::WhatIf(answer))
    }
}

fn answer(inside: &Inside, would: Would, folder: Option<&FolderId>) -> WhatIf {
    let Would { verdict, facts, kept_out } = would;
    let (verdict, rule) = worded(&verdict);
    let list = |name: &str| -> Vec<String> {
        facts.words.get(name).map_or("", String::as_str).lines().map(str::to_owned).collect()
    };
    WhatIf {
        own: winner(&*inside.desk, &rule, folder),
        verdict: verdict.to_owned(),
        rule,
        read_only: engine::show::only_looks(&facts),
        doubts: list("doubts"),
        programs: list("programs"),
        kept_out: if facts.act == Act::Run { kept_out } else { Vec::new() },
        reach: facts.reach,
        touches: facts.can_touch,
    }
}

/// The person's rule that a verdict names; where two are called so, the stricter and then the nearer one.
fn winner(desk: &dyn Desk, rule: &str, folder: Option<&FolderId>) -> Option<OwnRule> {
    let name = rule.strip_prefix(PERSON)?.strip_prefix('/')?;
    let holds = |one: &Ruled| {
        let here = one.folder.as_ref().is_none_or(|(own, _)| Some(own) == folder);
        here && one.about.name() == name
    };
    let found =
        desk.rules().ok()?.into_iter().filter(holds).max_by_key(|one| (one.never, one.folder.is_some()));
    found.map(|one| to_wire(one, desk))
}

/// All of them, oldest first; nothing where what is kept can't be understood, and then every call asks.
pub(crate) fn own(desk: &dyn Desk) -> Result<Option<Vec<Ruled>>, ApiError> {
    match desk.rules() {
        Err(failed) if failed.code == RULES_UNREADABLE => Ok(None),
        kept => kept.map(Some),
    }
}

pub(crate) fn to_wire(rule: Ruled, desk: &dyn Desk) -> OwnRule {
    let about = match rule.about {
        About::Read => RuleAbout::Read,
        About::Change => RuleAbout::Change,
        About::Delete => RuleAbout::Delete,
        About::Run => RuleAbout::Run,
        About::Online => RuleAbout::Online,
        About::Publish => RuleAbout::Publish,
        About::Secrets => RuleAbout::Secrets,
        About::Command { words } => RuleAbout::Command { words: words.join(" ") },
        About::Path { under } => RuleAbout::Path { under },
    };
    let folder = rule.folder.map(|(id, root)| desk.folder(&id, &root.to_string_lossy()));
    let word = if rule.never { RuleWord::Never } else { RuleWord::Ask };
    OwnRule { about, folder, word, given: rule.given }
}

/// Reads what a client says a rule is about.
fn of_wire(about: &RuleAbout) -> Result<About, ApiError> {
    let unfit = |text: &str, hint| {
        let shown: String = text.chars().take(80).collect();
        error("rule/unfit", format!("{shown:?} can't be a rule's"), hint)
    };
    let read = match about {
        RuleAbout::Read => About::Read,
        RuleAbout::Change => About::Change,
        RuleAbout::Delete => About::Delete,
        RuleAbout::Run => About::Run,
        RuleAbout::Online => About::Online,
        RuleAbout::Publish => About::Publish,
        RuleAbout::Secrets => About::Secrets,
        RuleAbout::Command { words } => Some(words)
            .filter(|words| words.len() <= LONGEST)
            .and_then(|words| About::command(words))
            .ok_or_else(|| unfit(words, "Name a command, e.g. \"git push\"."))?,
        RuleAbout::Path { under } => Some(under)
            .filter(|under| under.len() <= LONGEST)
            .and_then(|under| About::path(under))
            .ok_or_else(|| unfit(under, "Name a file or folder inside the folder, e.g. \"accounts\"."))?,
    };
    Ok(read)
}

pub(crate) fn worded(verdict: &Verdict) -> (&'static str, String) {
    match verdict {
        Verdict::Allow { rule } => ("allow", rule.clone()),
        Verdict::Ask { rule } => ("ask", rule.clone()),
        Verdict::Deny { rule, .. } => ("deny", rule.clone()),
    }
}

/// What each mode does by itself, under the rules that hold in every folder.
pub(crate) fn by_mode(cage: &str, own: &[Ruled]) -> Vec<ModeRule> {
    let cage = match cage {
        "full" => Cage::Full,
        "partial" => Cage::Partial,
        _ => Cage::None,
    };
    let of_a_kind = |one: &&Ruled| !matches!(one.about, About::Command { .. } | About::Path { .. });
    let everywhere = own.iter().filter(|one| one.folder.is_none()).filter(of_a_kind);
    let rules = everywhere.map(|one| Rule::of(one.about.clone(), one.never)).collect();
    let layers = [Layer::of_person(rules)];
    let acts = [
        ("read", Act::Read, "a.txt", ""),
        ("write", Act::Write, "a.txt", ""),
        ("delete", Act::Delete, "a.txt", ""),
        ("run", Act::Run, ".", "work"),
        ("network", Act::Run, ".", "work"),
        ("publish", Act::Run, ".", "git push"),
        ("secret", Act::Read, ".env", ""),
        ("protected", Act::Write, "AGENTS.md", ""),
    ];
    let mut rules = Vec::new();
    for mode in [Mode::Ask, Mode::Edit, Mode::Plan, Mode::Auto] {
        for (name, act, path, command) in acts {
            let input = PolicyInput {
                mode: words::to_mode(mode),
                cage,
                layers: &layers,
                grants: &[],
                read_secrets: &[],
            };
            let (verdict, rule) = worded(&by_itself(act, path, command, name == "network", &input));
            rules.push(ModeRule { mode, act: name.to_owned(), verdict: verdict.to_owned(), rule });
        }
    }
    rules
}
