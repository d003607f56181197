//! What deciding may look up on the bench: rules in force, other models, and what is spent.

use super::*;

#[derive(Default)]
pub(super) struct Known(pub(super) InForce, pub(super) Vec<ModelChoice>, pub(super) spending::Purse);

impl Knowledge for Known {
    fn model(&self, choice: &ModelChoice) -> Option<ModelSnapshot> {
        Some(ModelSnapshot {
            provider: choice.provider.clone(),
            dialect: "scripted".into(),
            model: choice.model.clone(),
            context_tokens: None,
            max_output_tokens: 100,
            parallel_calls: true,
            calls_as_text: false,
            abilities: match choice.model.as_str() {
                "thinking" => Abilities { efforts: vec![Effort::Low, Effort::High], ..Abilities::default() },
                _ => Abilities::default(),
            },
            effort: None,
            price: self.2.price(choice),
        })
    }

    fn instead(&self) -> Vec<ModelChoice> {
        self.1.clone()
    }

    fn spending(&self) -> Result<Spending, String> {
        self.2.spending.clone()
    }

    fn check(&self, name: &str, arguments: &str) -> CheckedCall {
        if name == "bad" {
            let (code, message) = ("tool/unknown".to_owned(), "no such tool".to_owned());
            return CheckedCall::Bad { error: ToolError { code, message, suggestion: None } };
        }
        let digest = Digest::of(arguments.as_bytes());
        CheckedCall::Good { version: 1, arguments: arguments.into(), digest, mended: false }
    }

    fn in_force(&self, _: &State) -> InForce {
        self.0.clone()
    }
}
