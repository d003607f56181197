//! The reminder of the plan: where it stands, given when several steps went by without a word about it.
//!
//! It follows the history like the other notes of ours, and holds the model's own items. Invariant: a plan that is done, or
//! that was replaced lately, is never told of.

use domain::call::{Plan, PlanStatus};
use domain::event::{ContextNote, Trust};
use domain::state::State;

/// The note's topic; the fold keeps the step it was given in.
const TOPIC: &str = "plan";

/// Steps after which it is told again: longer than one item usually takes.
pub const QUIET_STEPS: u32 = 8;

/// The note for the next request, where one is due.
pub(crate) fn note(state: &State) -> Option<ContextNote> {
    let plan = state.plan.as_ref()?;
    let open = plan.items.iter().any(|item| item.status != PlanStatus::Completed);
    let due = state.turn.as_ref().is_some_and(|turn| turn.steps_without_plan() > QUIET_STEPS);
    (open && due).then(|| ContextNote { topic: TOPIC.into(), trust: Trust::Host, text: text(plan) })
}

/// The note as the model reads it.
fn text(plan: &Plan) -> String {
    let mut lines = vec!["<plan>".to_owned(), format!("{QUIET_STEPS} steps went by since your plan was:")];
    for item in &plan.items {
        let stands = match item.status {
            PlanStatus::Completed => "done",
            PlanStatus::InProgress => "in progress",
            PlanStatus::Pending => "open",
        };
        // The closing mark inside an item would end the label early.
        lines.push(format!("- {stands}: {}", item.text.replace("</", "<\\/")));
    }
    lines.push(
        "If it stands otherwise now, send it whole with update_plan. Nothing new is asked of you.".to_owned(),
    );
    lines.push("</plan>".to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::call::PlanItem;

    #[test]
    fn r_pln_06_the_reminder_says_where_each_item_stands() {
        let item = |text: &str, status| PlanItem { text: text.into(), status };
        let items = vec![
            item("Look around", PlanStatus::Completed),
            item("Change </plan> the menu", PlanStatus::InProgress),
            item("Check it", PlanStatus::Pending),
        ];
        insta::assert_snapshot!(text(&Plan { version: 3, items }), @r"
        <plan>
        8 steps went by since your plan was:
        - done: Look around
        - in progress: Change <\/plan> the menu
        - open: Check it
        If it stands otherwise now, send it whole with update_plan. Nothing new is asked of you.
        </plan>
        ");
    }
}
