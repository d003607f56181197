//! What is allowed without asking: saying yes for more than one call, looking at it, taking it back.
//!
//! Invariant: only what the engine offered with a request can be allowed here, so a page can't word a permission of its
//! own; a permission taken back is gone before this is answered; rules that can't be read keep none from being taken back.

use crate::failure::{error, of_read};
use crate::room::{Done, Inside, Room, id};
use crate::rules;
use crate::wire::ApiError;
use crate::wire::command::Reply;
use crate::wire::permission::{AddedView, GrantView, Offer, Permissions};
use domain::call::Grant;
use domain::digest::Digest;
use domain::ids::{ApprovalId, GrantId};
use engine::Command as Order;
use std::collections::BTreeMap;

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
        Grant::Command { words, exact, files } => {
            Offer::Command { words, exact, files: files.into_keys().collect() }
        }
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
        let cage = self.inside.desk.app().await?.cage;
        let hosts = self.inside.engine().is_ok_and(|engine| engine.can_reach_hosts());
        let all = self.off_thread(move |inside| {
            let desk = &*inside.desk;
            let own = rules::own(desk)?;
            let own_unreadable = own.is_none();
            // Without the rules nobody can say what a mode does, but what was allowed can still be taken back.
            let rules = own.as_ref().map(|own| rules::by_mode(&cage, own)).unwrap_or_default();
            let own =
                own.unwrap_or_default().into_iter().rev().map(|one| rules::to_wire(one, desk)).collect();
            let Held { grants, grants_unreadable, added } = held(inside)?;
            Ok(Permissions { grants, grants_unreadable, added, own, own_unreadable, rules, cage, hosts })
        });
        Ok(Reply::Permissions(all.await?))
    }

    pub(crate) async fn reset_permissions(&self) -> Done {
        self.off_thread(|inside| inside.desk.reset_lasting()).await?;
        self.permissions().await
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
}

/// Everything that was allowed for more than one call, and other folders that sessions may look at, newest first.
struct Held {
    grants: Vec<GrantView>,
    grants_unreadable: bool,
    added: Vec<AddedView>,
}

fn held(inside: &Inside) -> Result<Held, ApiError> {
    let rows = inside.reader.sessions().map_err(|read| of_read(&read))?;
    let (mut grants, mut added) = (Vec::new(), Vec::new());
    let mut last_used: BTreeMap<GrantId, u64> = BTreeMap::new();
    for row in rows.iter().take(SESSIONS) {
        // A damaged session allows nothing and hides no other.
        let Ok(state) = inside.reader.state(&row.session) else { continue };
        for (id, at) in &state.lasting_used {
            let last = last_used.entry(id.clone()).or_default();
            *last = (*at).max(*last);
        }
        grants.extend(state.grants.iter().map(|(id, given)| GrantView {
            id: id.to_string(),
            what: offer(&given.what),
            folder: inside.desk.folder(&row.folder, &row.root),
            session: Some(row.session.to_string()),
            session_title: Some(row.title.clone()),
            given: given.at,
            used: given.used,
            used_known: true,
        }));
        added.extend(state.added.iter().map(|(id, one)| AddedView {
            added: crate::added::shown(&*inside.desk, id, one),
            session: row.session.to_string(),
            session_title: row.title.clone(),
            folder: inside.desk.folder(&row.folder, &row.root),
            given: one.at,
        }));
    }
    let kept = inside.desk.lasting()?;
    for lasting in kept.lasting {
        let used = last_used.get(&lasting.id).copied();
        grants.push(GrantView {
            used,
            used_known: used.is_some() || rows.len() <= SESSIONS,
            id: lasting.id.to_string(),
            what: offer(&lasting.what),
            folder: inside.desk.folder(&lasting.folder, &lasting.root.to_string_lossy()),
            session: None,
            session_title: None,
            given: lasting.given,
        });
    }
    grants.sort_by_key(|grant| std::cmp::Reverse(grant.given));
    added.sort_by_key(|one| std::cmp::Reverse(one.given));
    Ok(Held { grants, grants_unreadable: kept.unreadable, added })
}
