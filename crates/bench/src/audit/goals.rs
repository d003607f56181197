//! The cache goals over audited lines: does the prefix only grow, how much of it is shared, how much of that was read.

use super::Line;
use super::class::{Class, RULES};

/// What the goals C1 to C5 are told from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Goals {
    /// Attempts.
    pub attempts: usize,
    /// Requests whose bytes have the recorded digest.
    pub exact: usize,
    /// C1: pairs of consecutive requests of one epoch.
    pub pairs: usize,
    /// C1: of these, those where the later one begins with all of the earlier one.
    pub grown: usize,
    /// C2: shared tokens of all input tokens, first requests of epochs left out. Not a number without pairs.
    pub share: f64,
    /// C2: the best that this trace allows.
    pub ideal: f64,
    /// C3: epochs that opened after a session's first.
    pub epochs: usize,
    /// C3: requests that opened none.
    pub steps: usize,
    /// C4: what was read of all input, where the provider counted and not too much time had passed.
    pub realised: f64,
    /// C4: misses that nothing explains.
    pub unexplained: usize,
    /// C5: repeats.
    pub retries: usize,
    /// C5: of these, those with the very bytes that failed.
    pub same: usize,
}

/// Reckons the goals over lines of one or of many sessions.
#[must_use]
pub fn goals(lines: &[Line]) -> Goals {
    let mut goals = Goals { attempts: lines.len(), ..Goals::default() };
    let (mut shared, mut could, mut input) = (0.0, 0.0, 0.0);
    let (mut read, mut counted) = (0, 0);
    for line in lines {
        goals.exact += usize::from(line.exact);
        goals.unexplained += usize::from(line.class == Class::Unexplained);
        if line.epoch.is_none() {
            continue;
        }
        if line.retry {
            goals.retries += 1;
            goals.same += usize::from(line.exact);
            continue;
        }
        match line.grows() {
            None => goals.epochs += usize::from(line.i > 1 && line.opened.is_some()),
            Some(grows) => {
                goals.pairs += 1;
                goals.steps += 1;
                goals.grown += usize::from(grows);
                let tokens = line.tokens as f64;
                shared += tokens * line.share();
                could += tokens * line.before.unwrap_or(0) as f64 / line.bytes.max(1) as f64;
                input += tokens;
                let in_time = line.gap_ms.is_some_and(|gap| gap <= RULES.life_ms);
                if let Some(usage) = line.usage.filter(|_| in_time) {
                    read += usage.cache_read;
                    counted += usage.cache_read + usage.cache_write + usage.input;
                }
            }
        }
    }
    let of = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { f64::NAN };
    (goals.share, goals.ideal) = (of(shared, input), of(could, input));
    goals.realised = of(read as f64, counted as f64);
    goals
}

impl Goals {
    /// C1: does every request begin with all of the one before it in its epoch?
    #[must_use]
    pub fn only_grow(&self) -> bool {
        self.grown == self.pairs
    }
}
