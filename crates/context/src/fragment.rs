//! Fragments: the parts the system text is made of, ordered by an explicit number.
//!
//! Bands ([`band`]): identity −100, rules −50, deployment 0, tool guidance 100 and above; gaps are there to be used. A fragment is
//! registered for as long as its [`Registration`] lives, so no text is left over from a session that ended. One
//! fragment may take over: then the text is exactly its own. Invariant: order depends on priority and name, never on
//! the order of registration.

use domain::digest::Digest;
use domain::event::Trust;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Where fragments of each kind begin. What lies between two is free for what belongs there.
pub mod band {
    /// Who Daybook is, and how it works.
    pub const IDENTITY: i32 = -100;
    /// What holds always, and in which words.
    pub const RULES: i32 = -50;
    /// What a deployment adds.
    pub const DEPLOYMENT: i32 = 0;
    /// How a tool is used; given while it is visible.
    pub const TOOLS: i32 = 100;
}

/// One contribution to the system text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// Unique name: `identity`, `rules/safety`, …
    pub name: String,
    /// Smaller comes first.
    pub priority: i32,
    /// Who wrote it.
    pub trust: Trust,
    /// Only given while this tool is visible.
    pub needs_tool: Option<String>,
    /// Be the whole text?
    pub takes_over: bool,
    /// The text.
    pub text: String,
}

impl Fragment {
    /// A host's fragment for every request.
    #[must_use]
    pub fn new(name: &str, priority: i32, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            priority,
            trust: Trust::Host,
            needs_tool: None,
            takes_over: false,
            text: text.to_owned(),
        }
    }

    /// The digest of its text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    /// Its estimated tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        crate::estimate::tokens(&self.text)
    }
}

type Shelf = Arc<Mutex<BTreeMap<(i32, String), Fragment>>>;

/// The registered fragments. Cheap to clone; clones share.
#[derive(Debug, Clone, Default)]
pub struct Fragments {
    shelf: Shelf,
}

/// Keeps a fragment registered; dropping it removes the fragment.
#[derive(Debug)]
#[must_use]
pub struct Registration {
    shelf: Shelf,
    key: (i32, String),
}

impl Fragments {
    /// Registers a fragment; one of the same name and priority is replaced.
    pub fn register(&self, fragment: Fragment) -> Registration {
        let key = (fragment.priority, fragment.name.clone());
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), fragment);
        Registration { shelf: Arc::clone(&self.shelf), key }
    }

    /// The fragments for a request with these tools, in order.
    #[must_use]
    pub fn chosen(&self, tools: &[&str]) -> Vec<Fragment> {
        let shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(whole) = shelf.values().find(|fragment| fragment.takes_over) {
            return vec![whole.clone()];
        }
        let visible =
            |fragment: &&Fragment| fragment.needs_tool.as_deref().is_none_or(|tool| tools.contains(&tool));
        shelf.values().filter(visible).cloned().collect()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(fragments: &Fragments, tools: &[&str]) -> Vec<String> {
        fragments.chosen(tools).into_iter().map(|fragment| fragment.name).collect()
    }

    #[test]
    fn order_is_by_number_not_by_registration() {
        let fragments = Fragments::default();
        let _kept: Vec<_> = [("late", 100), ("first", -100), ("b", 0), ("a", 0)]
            .map(|(name, priority)| fragments.register(Fragment::new(name, priority, "x")))
            .into();
        assert_eq!(names(&fragments, &[]), ["first", "a", "b", "late"]);
    }

    #[test]
    fn a_fragment_goes_with_its_registration() {
        let fragments = Fragments::default();
        let kept = fragments.register(Fragment::new("mine", 0, "x"));
        assert_eq!(names(&fragments, &[]), ["mine"]);
        drop(kept);
        assert!(names(&fragments, &[]).is_empty());
    }

    #[test]
    fn one_fragment_can_take_over() {
        let fragments = Fragments::default();
        let _rest = fragments.register(Fragment::new("rest", -100, "x"));
        let _whole =
            fragments.register(Fragment { takes_over: true, ..Fragment::new("whole", 0, "exactly this") });
        assert_eq!(names(&fragments, &[]), ["whole"]);
    }

    #[test]
    fn guidance_follows_the_visible_tools() {
        let fragments = Fragments::default();
        let guidance =
            Fragment { needs_tool: Some("run_command".into()), ..Fragment::new("shell", 100, "x") };
        let _kept = fragments.register(guidance);
        assert!(names(&fragments, &["read_file"]).is_empty());
        assert_eq!(names(&fragments, &["read_file", "run_command"]), ["shell"]);
    }
}
