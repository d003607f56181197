//! Money in words for a terminal.
//!
//! Invariant: what isn't known is said to be unknown, and a sum that is less than what was spent says so.

use api::wire::spend::{Spent, Sure};
use serde_json::Value;

/// Dollars, with as many digits as a small amount needs: `$0.84`, `$0.0042`.
pub(crate) fn dollars(micros: u64) -> String {
    let whole = micros / 1_000_000;
    let rest = micros % 1_000_000;
    match micros {
        0 => "$0.00".to_owned(),
        1..10_000 => format!("${whole}.{:04}", rest.div_ceil(100)),
        _ => {
            let cents = (micros + 5_000) / 10_000;
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    }
}

/// What a session cost.
pub(crate) fn spent(spent: &Spent) -> String {
    match (spent.micros, spent.sure) {
        (None, _) => "not known".to_owned(),
        (Some(micros), Sure::Exact) => dollars(micros),
        (Some(micros), Sure::About) => format!("about {}", dollars(micros)),
        (Some(micros), Sure::AtLeast) => format!("at least {}", dollars(micros)),
    }
}

/// The limit of money that a turn's end, as recorded, says it met; `None` for another end.
pub(crate) fn met(end: &Value) -> Option<String> {
    let money = end.get("money")?;
    let micros = |value: &Value| dollars(value.as_u64().unwrap_or_default());
    let so_far = format!("{} spent", micros(&money["spent"]["micros"]));
    let (about, of) = match end["limit"].as_str()? {
        "spend_session" => (so_far, "one session"),
        "spend_day" => (so_far, "one day"),
        _ => {
            let model = money["model"]["model"].as_str().unwrap_or_default().escape_debug();
            return Some(format!(
                "nobody knows what {model} costs, and there is a limit of money; go on without counting it in the window, \
                 or give its price in the settings"
            ));
        }
    };
    let next = money["next"].as_u64().map(|next| format!(", the next request costs about {}", dollars(next)));
    let limit = micros(&end["value"]);
    Some(format!(
        "{about}{}; the limit for {of} is {limit}. Go on in the window, or set another limit in the settings",
        next.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn amounts_are_rounded_for_people_and_small_ones_stay_visible() {
        for (micros, expect) in [
            (0, "$0.00"),
            (1, "$0.0001"),
            (4_200, "$0.0042"),
            (9_999, "$0.0100"),
            (10_000, "$0.01"),
            (839_999, "$0.84"),
            (3_000_000, "$3.00"),
            (1_234_567_890, "$1234.57"),
        ] {
            assert_eq!(dollars(micros), expect, "{micros}");
        }
    }

    #[test]
    fn a_sum_says_how_sure_it_is() {
        let of = |micros, sure| spent(&Spent { micros, sure, raised: 0 });
        assert_eq!(of(Some(840_000), Sure::Exact), "$0.84");
        assert_eq!(of(Some(840_000), Sure::About), "about $0.84");
        assert_eq!(of(Some(840_000), Sure::AtLeast), "at least $0.84");
        assert_eq!(of(None, Sure::AtLeast), "not known");
    }

    #[test]
    fn a_limit_that_was_met_says_what_was_spent() {
        let money = json!({"spent": {"micros": 2_900_000}, "next": 200_000, "portion": 3_000_000,
            "model": {"provider": "own", "model": "big"}});
        let end =
            |limit: &str| json!({"reason": "limit", "limit": limit, "value": 3_000_000, "money": money});
        let said = |limit| met(&end(limit)).unwrap_or_default();
        assert_eq!(
            said("spend_day"),
            "$2.90 spent, the next request costs about $0.20; the limit for one day is $3.00. Go on in the window, or set another limit in the settings"
        );
        assert_eq!(
            said("price"),
            "nobody knows what big costs, and there is a limit of money; go on without counting it in the window, or give its price in the settings"
        );
        assert_eq!(met(&json!({"reason": "limit", "limit": "steps", "value": 100})), None);
    }
}
