//! What became of a provider's cache for one request, and why where it wasn't used.

use crate::model::cache::{ANTHROPIC, Rules};
use domain::event::EpochReason;
use domain::model::Usage;

/// How much of what could be read must have been, to count as used.
const USED: f64 = 0.95;
/// The strictest rules of those we know: what they don't explain, none of them does.
pub(super) const RULES: Rules = ANTHROPIC;

/// What became of the provider's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The session's first request: there was nothing to read.
    First,
    /// It was used.
    Hit,
    /// Too long since the request before.
    Ttl,
    /// Too little to be kept.
    BelowMinimum,
    /// Too much was added since the last mark.
    LookBack,
    /// The prefix changed on purpose, with its reason on record.
    Epoch,
    /// The model before it didn't answer, and another one went on.
    OtherModel,
    /// None of these.
    Unexplained,
    /// The provider says nothing of a cache, or the attempt wasn't counted.
    NotReported,
    /// A request for a summary stands alone.
    Aside,
    /// The request can't be put together again, so nothing is said of it.
    NotRebuilt,
}

impl Class {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Hit => "hit",
            Self::Ttl => "ttl",
            Self::BelowMinimum => "below_minimum",
            Self::LookBack => "lookback>20",
            Self::Epoch => "epoch",
            Self::OtherModel => "retry_other_model",
            Self::Unexplained => "provider_unexplained",
            Self::NotReported => "not_reported",
            Self::Aside => "summary",
            Self::NotRebuilt => "not_rebuilt",
        }
    }
}

/// What a class is told from.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Look {
    pub(super) usage: Option<Usage>,
    /// Was there any request before it?
    pub(super) after_another: bool,
    pub(super) opened: Option<EpochReason>,
    /// Did the model before it not answer?
    pub(super) after_failure: bool,
    pub(super) share: f64,
    pub(super) gap_ms: Option<u64>,
    pub(super) blocks: usize,
}

pub(super) fn class(look: &Look) -> Class {
    let Some(usage) = look.usage else { return Class::NotReported };
    if !look.after_another {
        return Class::First;
    }
    match look.opened {
        Some(EpochReason::ModelSwitch) if look.after_failure => return Class::OtherModel,
        Some(_) => return Class::Epoch,
        None => {}
    }
    let could = (usage.input + usage.cache_read + usage.cache_write) as f64 * look.share;
    if could > 0.0 && usage.cache_read as f64 >= USED * could {
        return Class::Hit;
    }
    if (could as u64) < RULES.least_tokens {
        Class::BelowMinimum
    } else if look.gap_ms.is_some_and(|gap| gap > RULES.life_ms) {
        Class::Ttl
    } else if look.blocks > RULES.look_back {
        Class::LookBack
    } else {
        Class::Unexplained
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(read: u64, write: u64, input: u64) -> Option<Usage> {
        Some(Usage { input, output: 1, cache_read: read, cache_write: write })
    }

    #[test]
    fn every_miss_has_its_reason() {
        let usual = Look {
            usage: usage(0, 10_000, 0),
            after_another: true,
            share: 0.9,
            gap_ms: Some(1_000),
            blocks: 2,
            ..Look::default()
        };
        for (look, expect) in [
            (Look { usage: None, ..usual }, Class::NotReported),
            (Look { after_another: false, ..usual }, Class::First),
            (Look { usage: usage(9_000, 1_000, 0), ..usual }, Class::Hit),
            (Look { usage: usage(8_000, 2_000, 0), ..usual }, Class::Unexplained),
            (Look { gap_ms: Some(RULES.life_ms + 1), ..usual }, Class::Ttl),
            (Look { blocks: 21, ..usual }, Class::LookBack),
            (Look { usage: usage(0, 0, 900), ..usual }, Class::BelowMinimum),
            (Look { opened: Some(EpochReason::History), ..usual }, Class::Epoch),
            (Look { opened: Some(EpochReason::ModelSwitch), ..usual }, Class::Epoch),
            (
                Look { opened: Some(EpochReason::ModelSwitch), after_failure: true, ..usual },
                Class::OtherModel,
            ),
            (usual, Class::Unexplained),
        ] {
            assert_eq!(class(&look), expect, "{look:?}");
        }
    }
}
