//! Pairs: two ways of doing the same, side by side in one run.
//!
//! A **round** does A, B and A again, in turning order; the ratio of B to A is corrected by that of A to itself (the
//! **A/A control**), which is 1 but for what the machine did meanwhile. Invariant: nothing is compared with a number from
//! another run.

use crate::meter::{Cost, cost};

/// Fewest rounds that count.
pub(crate) const ROUNDS: usize = 30;

/// What came of the rounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pairs {
    /// A in each round.
    pub(crate) a: Vec<Cost>,
    /// A once more.
    pub(crate) again: Vec<Cost>,
    /// B.
    pub(crate) b: Vec<Cost>,
}

/// Runs them. A round's costs are of one of `pieces` equal pieces of its work.
pub(crate) fn pairs<E>(
    rounds: usize,
    pieces: usize,
    mut a: impl FnMut() -> Result<(), E>,
    mut b: impl FnMut() -> Result<(), E>,
) -> Result<Pairs, E> {
    let mut pairs = Pairs::default();
    // What is slow only once isn't what is compared.
    a()?;
    b()?;
    for round in 0..rounds {
        let mut first = |into: &mut Vec<Cost>| {
            let (done, took) = cost(&mut a);
            into.push(took.per(pieces));
            done
        };
        let mut second = |into: &mut Vec<Cost>| {
            let (done, took) = cost(&mut b);
            into.push(took.per(pieces));
            done
        };
        if round % 2 == 0 {
            first(&mut pairs.a)?;
            second(&mut pairs.b)?;
            first(&mut pairs.again)?;
        } else {
            first(&mut pairs.again)?;
            second(&mut pairs.b)?;
            first(&mut pairs.a)?;
        }
    }
    Ok(pairs)
}

impl Pairs {
    /// The median of B/A over rounds, by what `of` looks at, corrected by A/A.
    pub(crate) fn ratio(&self, of: impl Fn(&Cost) -> f64 + Copy) -> f64 {
        let over = |them: &[Cost]| {
            let rounds = them.iter().zip(&self.a).map(|(one, a)| of(one) / of(a));
            median(rounds.collect())
        };
        over(&self.b) / over(&self.again)
    }

    /// The median of B less A, by what `of` looks at.
    pub(crate) fn more(&self, of: impl Fn(&Cost) -> f64 + Copy) -> f64 {
        // A round's two As stand on both sides of its B.
        let rounds = self.b.iter().zip(self.a.iter().zip(&self.again));
        median(rounds.map(|(b, (a, again))| of(b) - (of(a) + of(again)) / 2.0).collect())
    }

    /// The A/A control: how far the machine alone moves the number.
    pub(crate) fn control(&self, of: impl Fn(&Cost) -> f64 + Copy) -> f64 {
        median(self.again.iter().zip(&self.a).map(|(again, a)| of(again) / of(a)).collect())
    }

    /// The median of A, both of them, and of B.
    pub(crate) fn medians(&self, of: impl Fn(&Cost) -> f64 + Copy) -> (f64, f64) {
        let a = self.a.iter().chain(&self.again).map(of).collect();
        (median(a), median(self.b.iter().map(of).collect()))
    }
}

/// The middle one; what isn't a number isn't counted. Of nothing it isn't a number.
pub(crate) fn median(values: Vec<f64>) -> f64 {
    quantile(values, 0.5)
}

/// The value that this share of all values doesn't exceed, between two neighbours where it falls there.
pub(crate) fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (place.floor(), place.ceil());
    let (low, high) = (values[below as usize], values[above as usize]);
    low + (high - low) * (place - below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(cpu: &[f64]) -> Vec<Cost> {
        cpu.iter().map(|cpu_us| Cost { cpu_us: *cpu_us, ..Cost::default() }).collect()
    }

    #[test]
    fn medians_and_quantiles_are_what_they_say() {
        for (values, share, expect) in [
            (vec![3.0, 1.0, 2.0], 0.5, 2.0),
            (vec![4.0, 1.0, 2.0, 3.0], 0.5, 2.5),
            (vec![1.0, f64::NAN, 3.0], 0.5, 2.0),
            (vec![5.0], 0.95, 5.0),
            ((0..=100).map(f64::from).collect(), 0.95, 95.0),
            ((0..=100).map(f64::from).collect(), 1.0, 100.0),
        ] {
            assert_eq!(quantile(values.clone(), share), expect, "{values:?} {share}");
        }
        assert!(median(Vec::new()).is_nan());
    }

    /// A machine that gets slower as the run goes on, by the same for both, leaves the ratio as it is.
    #[test]
    fn what_the_machine_does_to_both_is_corrected() {
        let pairs = Pairs {
            a: costs(&[100.0, 120.0, 140.0]),
            again: costs(&[110.0, 132.0, 154.0]),
            b: costs(&[220.0, 264.0, 308.0]),
        };
        assert!((pairs.control(|cost| cost.cpu_us) - 1.1).abs() < 1e-9);
        assert!((pairs.ratio(|cost| cost.cpu_us) - 2.0).abs() < 1e-9);
        assert!((pairs.more(|cost| cost.cpu_us) - 138.0).abs() < 1e-9);
        let (a, b) = pairs.medians(|cost| cost.cpu_us);
        assert!((a - 126.0).abs() < 1e-9 && (b - 264.0).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn rounds_turn_their_order_and_each_side_is_warmed_up_once() {
        let order = std::cell::RefCell::new(String::new());
        let say = |letter| {
            order.borrow_mut().push(letter);
            Ok::<_, ()>(())
        };
        let pairs = pairs(2, 1, || say('a'), || say('b')).expect("both work");
        assert_eq!(*order.borrow(), "ab".to_owned() + "aba" + "aba");
        assert_eq!((pairs.a.len(), pairs.again.len(), pairs.b.len()), (2, 2, 2));
        let failed = super::pairs(2, 1, || Err("no"), || Ok(()));
        assert_eq!(failed, Err("no"));
    }
}
