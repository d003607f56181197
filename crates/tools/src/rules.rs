//! Rules that narrow: what a person, or whoever stands between built in and mode, wants asked or never done.
//!
//! A **rule** says *ask* or *never* about a kind of act, commands of a kind, or a path; there is no *allow*. Invariant:
//! a *never* denies what it is known to fit and asks where that can't be told, so no mode, permission or yes lifts it,
//! and words dressed around a command don't either.

use crate::added::AddedPlace;
use crate::command::{
    Denial, Pattern, Reading, denied_by, mentions, mentions_publishing, named, read, summary,
};
use crate::path::{RelPath, is_inside};
use crate::place::Place;
use crate::policy::{Cage, only_looks, secrets};
use crate::revision::{Elsewhere, elsewhere};
use crate::shell::dialect;
use domain::call::{Act, Facts};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::HashMap;

/// Rules of one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Where they come from: `user`, `project`, `session`, `subagent`, …; stands in the verdict's rule.
    pub origin: String,
    /// The rules, in no order: the strictest that fits counts.
    pub rules: Vec<Rule>,
}

/// One rule. What isn't named fits everything; all that is named must fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name in the log.
    pub name: String,
    /// Only this.
    pub about: Option<About>,
    /// What then.
    pub word: Word,
}

/// A rule's word. There is no `allow`: a rule can't widen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The person decides.
    Ask,
    /// No, for this reason.
    Deny(String),
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum About {
    /// Reading in the folder.
    Read,
    /// Creating and changing files.
    Change,
    /// Deleting.
    Delete,
    /// Running commands.
    Run,
    /// Going online.
    Online,
    /// Sending, publishing, uploading.
    Publish,
    /// Reading files that hold secrets.
    Secrets,
    /// Commands of this kind, however they are dressed.
    Command {
        /// The program and the words after it.
        words: Vec<String>,
    },
    /// Everything at this path of the folder and below.
    Path {
        /// The path.
        under: String,
    },
}

impl About {
    /// Commands of a kind, from the words of a person: `git push`. Nothing where there are none.
    #[must_use]
    pub fn command(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self::Command { words })
    }

    /// A path of the folder, tidied; nothing for one that leads out of it or is all of it.
    #[must_use]
    pub fn path(text: &str) -> Option<Self> {
        let path = RelPath::parse(text.trim()).ok().filter(|path| !path.is_root())?;
        Some(Self::Path { under: path.to_string() })
    }

    /// Its name in the record: `change`, `command:git push`, `path:accounts`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Read => "read".to_owned(),
            Self::Change => "change".to_owned(),
            Self::Delete => "delete".to_owned(),
            Self::Run => "run".to_owned(),
            Self::Online => "online".to_owned(),
            Self::Publish => "publish".to_owned(),
            Self::Secrets => "secrets".to_owned(),
            Self::Command { words } => format!("command:{}", words.join(" ")),
            Self::Path { under } => format!("path:{under}"),
        }
    }

    /// What the model reads where it is never to happen.
    fn never(&self) -> String {
        let what = match self {
            Self::Read => "files are never read".to_owned(),
            Self::Change => {
                "files are never created or changed, nor by commands; one that only looks runs".to_owned()
            }
            Self::Delete => "nothing is ever deleted".to_owned(),
            Self::Run => "commands are never run".to_owned(),
            Self::Online => "nothing goes online".to_owned(),
            Self::Publish => "nothing is ever sent, published or uploaded".to_owned(),
            Self::Secrets => "files that hold secrets are never read".to_owned(),
            Self::Command { words } => format!("`{}` is never run, in no other form either", words.join(" ")),
            Self::Path { under } => format!("{} is never touched", crate::path::shown(under)),
        };
        format!("the person set the rule that {what}")
    }
}

/// Where the person's own rules come from, in the record.
pub const PERSON: &str = "user";

impl Layer {
    /// The person's own rules.
    #[must_use]
    pub fn of_person(rules: Vec<Rule>) -> Self {
        Self { origin: PERSON.to_owned(), rules }
    }
}

impl Rule {
    /// A person's rule.
    #[must_use]
    pub fn of(about: About, never: bool) -> Self {
        let word = if never { Word::Deny(about.never()) } else { Word::Ask };
        Self { name: about.name(), about: Some(about), word }
    }

    /// Asks about everything: for when rules can't be read.
    #[must_use]
    pub fn ask_all(name: &str) -> Self {
        Self { name: name.to_owned(), about: None, word: Word::Ask }
    }

    pub(crate) fn grade(&self, seen: &Seen<'_>) -> Grade {
        // Asking the person and planning touch nothing.
        let touches = Grade::of(seen.facts.act != Act::Talk);
        touches.min(self.about.as_ref().map_or(Grade::Yes, |about| seen.grade(about)))
    }
}

/// Paths of the folder that rules are about: kept from commands that don't name them, and from walks that begin above.
#[must_use]
pub fn kept_out(layers: &[Layer]) -> Vec<String> {
    let rules = layers.iter().flat_map(|layer| &layer.rules);
    let paths = rules.filter_map(|rule| match &rule.about {
        Some(About::Path { under }) => Some(under.clone()),
        _ => None,
    });
    paths.collect()
}

/// Is a rule about all reading? Then a refusal quotes nothing of a file.
#[must_use]
pub fn hushes(layers: &[Layer]) -> bool {
    layers.iter().flat_map(|layer| &layer.rules).any(|rule| matches!(rule.about, None | Some(About::Read)))
}

/// The same rules with every path as it stands in the folder: through links, in any case of its letters, and by each other
/// name of its files. Where not all of those could be looked for, here and in the added folders, everything is asked about.
#[must_use]
pub fn as_found(layers: &[Layer], place: &Place, added: &[AddedPlace]) -> Vec<Layer> {
    let mut listed = HashMap::new();
    let mut layers = with_more(layers, |rule, under| {
        let named = |under| Rule { about: Some(About::Path { under }), ..rule.clone() };
        place.spellings(under, &mut listed).into_iter().map(named).collect()
    });
    let added: Vec<&Place> = added.iter().filter_map(AddedPlace::place).collect();
    let elsewhere = elsewhere(place, &kept_out(&layers), &added);
    if !elsewhere.is_empty() {
        layers = with_more(&layers, |rule, under| {
            elsewhere.get(under).map(|found| by_other_names(rule, under, found)).unwrap_or_default()
        });
    }
    layers
}

/// The layers with more rules for those that are about a path.
fn with_more(layers: &[Layer], mut more: impl FnMut(&Rule, &str) -> Vec<Rule>) -> Vec<Layer> {
    let mut layers = layers.to_vec();
    for layer in &mut layers {
        let more: Vec<Rule> = layer
            .rules
            .iter()
            .flat_map(|rule| match &rule.about {
                Some(About::Path { under }) => more(rule, under),
                _ => Vec::new(),
            })
            .collect();
        layer.rules.extend(more);
    }
    layers
}

/// A rule about a path once more, for the other names of the files there.
fn by_other_names(rule: &Rule, under: &str, found: &Elsewhere) -> Vec<Rule> {
    if found.more {
        return vec![Rule::ask_all(&format!("names:{under}"))];
    }
    let named = |name: &String| Rule {
        name: rule.name.clone(),
        about: Some(About::Path { under: name.clone() }),
        word: match &rule.word {
            Word::Ask => Word::Ask,
            Word::Deny(reason) => {
                let name = crate::path::shown(name);
                Word::Deny(format!("{reason}, and {name} is another name of a file there"))
            }
        },
    };
    found.names.iter().map(named).collect()
}

/// Does a rule fit?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    No,
    /// It can't be told: the person decides.
    Perhaps,
    Yes,
}

impl Grade {
    fn of(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

/// A call as rules look at it; its command is read once.
pub(crate) struct Seen<'a> {
    facts: &'a Facts,
    cage: Cage,
    reading: OnceCell<Reading>,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(facts: &'a Facts, cage: Cage) -> Self {
        Self { facts, cage, reading: OnceCell::new() }
    }

    fn reading(&self) -> &Reading {
        self.reading.get_or_init(|| read(&self.facts.exact, dialect()))
    }

    fn grade(&self, about: &About) -> Grade {
        match self.facts.act {
            Act::Talk => Grade::No,
            Act::Run => self.command(about),
            Act::Read | Act::Write | Act::Edit | Act::Delete => self.file(about),
        }
    }

    fn file(&self, about: &About) -> Grade {
        let act = self.facts.act;
        Grade::of(match about {
            About::Read => act == Act::Read,
            About::Change => matches!(act, Act::Write | Act::Edit),
            About::Delete => act == Act::Delete,
            About::Secrets => !secrets(self.facts).is_empty(),
            // A walk that begins above it leaves it out.
            About::Path { under } if act == Act::Read => self.touches(|path| is_inside(path, under)),
            About::Path { under } => self.touches(|path| is_inside(path, under) || is_inside(under, path)),
            About::Run | About::Online | About::Publish | About::Command { .. } => false,
        })
    }

    fn touches(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.facts.can_touch.iter().any(|path| fits(path))
    }

    /// A command may read, change and delete all that its cage lets it, whatever its words say.
    fn command(&self, about: &About) -> Grade {
        let looks = only_looks(self.facts);
        match about {
            About::Run => Grade::Yes,
            About::Read if looks => Grade::Yes,
            About::Read => Grade::Perhaps,
            About::Change => Grade::of(!looks),
            About::Delete if summary(self.reading(), &self.facts.added).deletes => Grade::Yes,
            About::Delete if looks => Grade::No,
            About::Delete => Grade::Perhaps,
            About::Online if self.facts.reach.is_empty() && self.cage != Cage::None => Grade::No,
            About::Online if self.facts.reach.is_empty() => Grade::Perhaps,
            About::Online => Grade::Yes,
            About::Publish if summary(self.reading(), &self.facts.added).publishes => Grade::Yes,
            About::Publish if mentions_publishing(self.reading()) => Grade::Perhaps,
            // What goes online could send.
            About::Publish if !self.facts.reach.is_empty() => Grade::Perhaps,
            About::Publish => Grade::No,
            About::Secrets if !secrets(self.facts).is_empty() => Grade::Yes,
            // They are hidden from it.
            About::Secrets if looks => Grade::No,
            About::Secrets => Grade::Perhaps,
            About::Command { words } => match denied_by(self.reading(), &[Pattern::Kind(words.clone())]) {
                Denial::None => Grade::No,
                Denial::Perhaps(_) => Grade::Perhaps,
                Denial::Denied(_) => Grade::Yes,
            },
            About::Path { under } => match is_hidden(self.reading(), under) {
                // A whole cage hides it.
                Hidden::Yes if self.cage == Cage::Full => Grade::No,
                Hidden::Yes | Hidden::Perhaps => Grade::Perhaps,
                Hidden::Named => Grade::Yes,
            },
        }
    }
}

/// Whether a path that a rule is about is kept out of a command's sight.
enum Hidden {
    /// It is.
    Yes,
    /// It isn't, for git would take it for deleted, and remembers what stood there: the person is asked.
    Perhaps,
    /// It isn't, for the command names it.
    Named,
}

fn is_hidden(reading: &Reading, under: &str) -> Hidden {
    if named(reading, under) {
        Hidden::Named
    } else if mentions(reading, "git") {
        Hidden::Perhaps
    } else {
        Hidden::Yes
    }
}

/// Those of the paths that a whole cage hides from a command.
pub(crate) fn hidden_from<'a>(command: &str, kept: impl Iterator<Item = &'a RelPath>) -> Vec<&'a RelPath> {
    let reading = read(command, dialect());
    kept.filter(|path| matches!(is_hidden(&reading, path.as_str()), Hidden::Yes)).collect()
}
