//! Losses in bursts.

use lasthop_units::Stream;

/// Two states, a loss probability in each; moves once per packet, then judges it.
#[derive(Clone, Debug)]
pub(crate) struct GilbertElliott {
    /// Probability to leave the good and the bad state.
    leave: [f64; 2],
    /// Loss probability in the good and the bad state.
    loss: [f64; 2],
    bad: bool,
    stream: Stream,
}

impl GilbertElliott {
    pub(crate) fn new(leave: [f64; 2], loss: [f64; 2], seed: u64, purpose: &str) -> Self {
        Self {
            leave,
            loss,
            bad: false,
            stream: Stream::new(seed, purpose),
        }
    }

    pub(crate) fn judge(&mut self) -> bool {
        self.bad ^= self.stream.chance(self.leave[usize::from(self.bad)]);
        self.stream.chance(self.loss[usize::from(self.bad)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_and_length_of_bursts_follow_the_chain() {
        // Stationary share of the bad state: 0.01 / (0.01 + 0.25) = 3.85 %;
        // a burst lasts 1 / 0.25 = 4 packets on average.
        let mut model = GilbertElliott::new([0.01, 0.25], [0.0, 1.0], 1, "loss");
        let fates: Vec<bool> = (0..400_000).map(|_| model.judge()).collect();
        let lost = fates.iter().filter(|&&lost| lost).count() as f64;
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((lost / 400_000.0 - 0.0385).abs() < 0.003, "{lost}");
        assert!((lost / bursts - 4.0).abs() < 0.2, "{}", lost / bursts);
    }

    #[test]
    fn it_starts_good() {
        let mut model = GilbertElliott::new([0.0, 0.0], [0.0, 1.0], 1, "loss");
        assert!((0..1_000).all(|_| !model.judge()));
    }
}
