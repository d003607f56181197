//! The room a request has: what the model's window leaves once an answer and the next results are reckoned in.
//!
//! Everything here is in tokens as we estimate them; where a service counted one of our requests, its window is brought to the
//! same measure. Invariant: nothing is guessed of a window nobody told: without a told size or a refusal there is no bound.

use domain::model::ModelSnapshot;
use domain::state::{State, Step, Window};

/// Most tokens kept free for the results that come next.
const OBSERVATIONS: u64 = 8_000;

/// Most estimated tokens that the open step's request may hold; `None` when nothing is known of the window.
#[must_use]
pub fn room(state: &State, step: &Step) -> Option<u64> {
    let smaller = step.refused.map(|refused| refused.tokens * 7 / 10);
    [in_general(state, &step.model), smaller].into_iter().flatten().min()
}

/// The same for any request to this model.
#[must_use]
pub fn in_general(state: &State, model: &ModelSnapshot) -> Option<u64> {
    let by_refusal = taught(state, model).map(|taught| taught.refused * 9 / 10);
    [in_window(state, model), by_refusal].into_iter().flatten().min()
}

/// The same by the size of the window alone, where it is known: what an earlier refusal suggests is left out.
#[must_use]
pub fn in_window(state: &State, model: &ModelSnapshot) -> Option<u64> {
    let is = |provider: &str, name: &str| provider == model.provider && name == model.model;
    let measured = state.history.measured.as_ref().filter(|one| is(&one.provider, &one.model));
    let told = taught(state, model).and_then(|taught| taught.told);
    let window = [model.context_tokens, told].into_iter().flatten().min();
    window.map(|window| {
        let left = window - reserve(window, model.max_output_tokens) - observations(window);
        match measured {
            // An estimate can be off by half or double, not by more.
            Some(one) => (left * one.estimated / one.counted.max(1)).clamp(left / 2, left * 2),
            None => left,
        }
    })
}

fn taught<'a>(state: &'a State, model: &ModelSnapshot) -> Option<&'a Window> {
    let window = state.history.window.as_ref();
    window.filter(|window| window.provider == model.provider && window.model == model.model)
}

/// Tokens kept free for the answer: what is asked for, and no more than a quarter of a small window.
fn reserve(window: u64, max_output: u64) -> u64 {
    max_output.min(window / 4)
}

/// Tokens kept free for the results of the calls that the answer makes.
fn observations(window: u64) -> u64 {
    (window / 16).min(OBSERVATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::state::Measured;

    fn model(context_tokens: Option<u64>) -> ModelSnapshot {
        ModelSnapshot {
            provider: "p".into(),
            dialect: "scripted".into(),
            model: "m".into(),
            context_tokens,
            max_output_tokens: 4_096,
            parallel_calls: true,
            calls_as_text: false,
            abilities: Default::default(),
            effort: None,
            price: None,
        }
    }

    /// The answer and the next results have their place in the window beside the request.
    #[test]
    fn r_cmp_02_the_window_less_the_answer_and_the_next_results() {
        let state = State::default();
        assert_eq!(in_general(&state, &model(Some(100_000))), Some(100_000 - 4_096 - 6_250));
        assert_eq!(in_general(&state, &model(Some(1_000_000))), Some(1_000_000 - 4_096 - 8_000));
        assert_eq!(in_general(&state, &model(Some(8_000))), Some(8_000 - 2_000 - 500));
        assert_eq!(in_general(&state, &model(None)), None, "nothing is guessed");
    }

    #[test]
    fn what_a_service_counted_and_refused_counts() {
        let mut state = State::default();
        let measured = |estimated, counted| {
            Some(Measured { provider: "p".into(), model: "m".into(), estimated, counted })
        };
        let plain = in_general(&state, &model(Some(100_000))).expect("known");
        state.history.measured = measured(1_000, 2_000);
        assert_eq!(in_general(&state, &model(Some(100_000))), Some(plain / 2));
        state.history.measured = measured(1_000, 9_000);
        assert_eq!(in_general(&state, &model(Some(100_000))), Some(plain / 2), "no further than half");
        state.history.measured = None;
        let window = |told| Some(Window { provider: "p".into(), model: "m".into(), told, refused: 50_000 });
        state.history.window = window(None);
        assert_eq!(in_general(&state, &model(None)), Some(45_000));
        state.history.window = window(Some(32_000));
        assert_eq!(in_general(&state, &model(None)), Some(32_000 - 4_096 - 2_000));
        state.history.window = Some(Window { model: "other".into(), ..state.history.window.expect("set") });
        assert_eq!(
            in_general(&state, &model(None)),
            None,
            "another model's refusal says nothing of this one"
        );
    }
}
