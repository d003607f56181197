//! What is allowed without asking: saying yes for more than one call, looking at it, taking it back, trying it out.
//!
//! Invariant: only what the engine offered with a request can be allowed here, so a page can't word a permission of its
//! own; a permission taken back is gone before this is answered.

use crate::failure::{error, internal, of_command, of_read};
use crate::room::{Done, Room, id};
use crate::view::words;
use crate::wire::ApiError;
use crate::wire::command::{Mode, Reply};
use crate::wire::permission::{AddedView, GrantView, ModeRule, Offer, Permissions, WhatIf};
use domain::call::{Act, Grant, Verdict};
use domain::digest::Digest;
use domain::ids::{ApprovalId, GrantId};
use engine::Command as Order;
use engine::show::{PolicyInput, by_itself};

/// Sessions whose permissions are shown, newest first.
const SESSIONS: usize = 100;

/// A yes to one call, and perhaps to more.
pub(crate) struct Yes {
    pub(crate) approval: ApprovalId,
    pub(crate) digest: Digest,
    pub(crate) offer: Option<u32>,
    pub(crate) lasting: bool,
}

/// A grant in wire words.
pub(crate) fn offer(grant: &Grant) -> Offer {
    match grant.clone() {
        Grant::Write { under } => Offer::Write { under },
        Grant::Delete { under } => Offer::Delete { under },
        Grant::Command { words, exact } => Offer::Command { words, exact },
        Grant::Commands => Offer::Commands,
        Grant::Site { site } => Offer::Site { site },
    }
}

impl Room {
    pub(crate) async fn approve(&self, session: &str, yes: Yes) -> Done {
        let Yes { approval, digest, offer, lasting } = yes;
        if !lasting {
            return self.order(session, Order::Grant { approval, digest, offer }).await;
        }
        // What is kept for good is what stands with the open request, read before the yes closes it.
        let known = self.known(session)?;
        let state = self.inside.engine()?.state(&known).map_err(|read| of_read(&read))?;
        let offers = state.approval(&approval).map(|(_, open)| open.offers.clone()).unwrap_or_default();
        let at = offer.and_then(|at| usize::try_from(at).ok());
        let what = at.and_then(|at| offers.get(at)).cloned();
        let (Some(what), Some(session_now)) = (what, state.session.clone()) else {
            return Err(error(
                "approval/offer",
                "that wasn't offered with this request",
                "Look at it again.",
            ));
        };
        self.order(session, Order::Grant { approval, digest, offer: None }).await?;
        self.inside.desk.allow(session_now.folder, what)?;
        Ok(Reply::Done)
    }

    pub(crate) async fn permissions(&self) -> Done {
        let app = self.inside.desk.app().await?;
        let (grants, added) = self
            .off_thread(move |inside| {
                let (mut grants, mut added) = (Vec::new(), Vec::new());
                for lasting in inside.desk.lasting()? {
                    let root = lasting.root.to_string_lossy().into_owned();
                    grants.push(GrantView {
                        id: lasting.id.to_string(),
                        what: offer(&lasting.what),
                        folder: inside.desk.folder(&lasting.folder, &root),
                        session: None,
                        session_title: None,
                        given: lasting.given,
                        used: None,
                    });
                }
                let rows = inside.reader.sessions().map_err(|read| of_read(&read))?;
                for row in rows.iter().take(SESSIONS) {
                    // A damaged session allows nothing and hides no other.
                    let Ok(state) = inside.reader.state(&row.session) else { continue };
                    for (id, given) in &state.grants {
                        grants.push(GrantView {
                            id: id.to_string(),
                            what: offer(&given.what),
                            folder: inside.desk.folder(&row.folder, &row.root),
                            session: Some(row.session.to_string()),
                            session_title: Some(row.title.clone()),
                            given: given.at,
                            used: given.used,
                        });
                    }
                    for (id, one) in &state.added {
                        added.push(AddedView {
                            added: crate::added::shown(&*inside.desk, id, one),
                            session: row.session.to_string(),
                            session_title: row.title.clone(),
                            folder: inside.desk.folder(&row.folder, &row.root),
                            given: one.at,
                        });
                    }
                }
                grants.sort_by_key(|grant| std::cmp::Reverse(grant.given));
                added.sort_by_key(|one| std::cmp::Reverse(one.given));
                Ok((grants, added))
            })
            .await?;
        let hosts = self.inside.engine().is_ok_and(|engine| engine.can_reach_hosts());
        Ok(Reply::Permissions(Permissions { grants, added, rules: rules(&app.cage), cage: app.cage, hosts }))
    }

    pub(crate) async fn revoke(&self, session: Option<String>, grant: &str) -> Done {
        let grant: GrantId = id(grant)?;
        match session {
            Some(session) => drop(self.order(&session, Order::Revoke(grant)).await?),
            None if self.inside.desk.revoke(&grant)? => {}
            None => {
                return Err(error(
                    "grant/unknown",
                    "this permission was revoked already",
                    "Look at the list again.",
                ));
            }
        }
        self.permissions().await
    }

    pub(crate) async fn what_if(&self, session: &str, command: String) -> Done {
        let session = self.known(session)?;
        let engine = std::sync::Arc::clone(self.inside.engine()?);
        let would = tokio::task::spawn_blocking(move || engine.would(&session, &command)).await;
        let would = would.map_err(internal)?.map_err(|failure| of_command(&failure))?;
        let would =
            would.map_err(|bad| ApiError { code: bad.code, message: bad.message, hint: bad.suggestion })?;
        let (verdict, rule) = verdict(&would.verdict);
        let list = |name: &str| -> Vec<String> {
            would
                .facts
                .words
                .get(name)
                .map(|list| list.lines().map(str::to_owned).collect())
                .unwrap_or_default()
        };
        Ok(Reply::WhatIf(WhatIf {
            verdict: verdict.to_owned(),
            rule,
            read_only: engine::show::only_looks(&would.facts),
            doubts: list("doubts"),
            programs: list("programs"),
        }))
    }
}

fn verdict(verdict: &Verdict) -> (&'static str, String) {
    match verdict {
        Verdict::Allow { rule } => ("allow", rule.clone()),
        Verdict::Ask { rule } => ("ask", rule.clone()),
        Verdict::Deny { rule, .. } => ("deny", rule.clone()),
    }
}

/// What each mode does by itself, asked of the policy and not written down twice.
fn rules(cage: &str) -> Vec<ModeRule> {
    let cage = match cage {
        "full" => engine::show::Cage::Full,
        "partial" => engine::show::Cage::Partial,
        _ => engine::show::Cage::None,
    };
    let acts = [
        ("read", Act::Read, "a.txt", false),
        ("write", Act::Write, "a.txt", false),
        ("delete", Act::Delete, "a.txt", false),
        ("run", Act::Run, ".", false),
        ("network", Act::Run, ".", true),
        ("secret", Act::Read, ".env", false),
        ("protected", Act::Write, "AGENTS.md", false),
    ];
    let modes = [Mode::Ask, Mode::Edit, Mode::Plan, Mode::Auto];
    let mut rules = Vec::new();
    for mode in modes {
        for (name, act, path, network) in acts {
            let input =
                PolicyInput { mode: words::to_mode(mode), cage, layers: &[], grants: &[], read_secrets: &[] };
            let (verdict, _) = verdict(&by_itself(act, path, network, &input));
            rules.push(ModeRule { mode, act: name.to_owned(), verdict: verdict.to_owned() });
        }
    }
    rules
}
