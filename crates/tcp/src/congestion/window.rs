//! The congestion window itself, in fixed point.

/// Congestion window and slow-start threshold.
///
/// cwnd counts bytes in units of 2^-16 byte, so that avoidance's growth of a
/// fraction of a segment per ACK adds up without floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    cwnd: u64,
    ssthresh: u64,
    smss: u32,
    /// Avoidance grows by whole segments.
    whole: bool,
    /// Bytes credited in avoidance that no segment of growth has been given for.
    counted: u64,
}

impl Window {
    /// Fraction bits of cwnd.
    pub const FRACTION_BITS: u32 = 16;
    /// The threshold that stands for none.
    pub const NO_SSTHRESH: u64 = u64::MAX;
    /// Neither loss nor growth takes cwnd above this many bytes.
    const LARGEST: u64 = 1 << 40;

    /// A window of `segments` segments of `smss` bytes without threshold.
    pub const fn new(smss: u32, segments: u32) -> Self {
        let smss = if smss == 0 { 1 } else { smss };
        let segments = if segments == 0 { 1 } else { segments };
        Self {
            cwnd: (smss as u64 * segments as u64) << Self::FRACTION_BITS,
            ssthresh: Self::NO_SSTHRESH,
            smss,
            whole: false,
            counted: 0,
        }
    }

    /// The same, but avoidance counts what is acknowledged and adds a segment for each
    /// window of it, as Linux does; otherwise each ACK adds its fraction.
    #[must_use]
    pub const fn of_whole_segments(self) -> Self {
        Self { whole: true, ..self }
    }

    /// Payload bytes of a full segment.
    pub const fn smss(&self) -> u32 {
        self.smss
    }

    /// cwnd in whole bytes.
    pub const fn bytes(&self) -> u64 {
        self.cwnd >> Self::FRACTION_BITS
    }

    /// cwnd in whole segments.
    pub const fn segments(&self) -> u64 {
        self.bytes() / self.smss as u64
    }

    /// cwnd in bytes with its fraction, for results.
    pub fn bytes_f64(&self) -> f64 {
        self.cwnd as f64 / f64::from(1_u32 << Self::FRACTION_BITS)
    }

    /// Slow-start threshold in bytes; [`Self::NO_SSTHRESH`] when there is none.
    pub const fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Whether growth is exponential.
    pub const fn in_slow_start(&self) -> bool {
        self.bytes() < self.ssthresh
    }

    /// Sets cwnd, at least one segment.
    pub fn set_bytes(&mut self, bytes: u64) {
        self.cwnd = bytes.clamp(u64::from(self.smss), Self::LARGEST) << Self::FRACTION_BITS;
    }

    /// Sets cwnd in fixed point, at least one segment.
    pub(crate) fn set_fixed(&mut self, cwnd: u64) {
        let low = u64::from(self.smss) << Self::FRACTION_BITS;
        self.cwnd = cwnd.clamp(low, Self::LARGEST << Self::FRACTION_BITS);
    }

    /// cwnd in fixed point.
    pub(crate) const fn fixed(&self) -> u64 {
        self.cwnd
    }

    /// Sets the threshold in bytes as it is. What has been counted for the next
    /// segment of growth is forgotten.
    pub fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes;
        self.counted = 0;
    }

    /// Changes the segment size while keeping the window's length in segments.
    pub fn rescale(&mut self, smss: u32) {
        let smss = smss.max(1);
        self.cwnd = self.cwnd / u64::from(self.smss) * u64::from(smss);
        if self.ssthresh != Self::NO_SSTHRESH {
            self.ssthresh = self.ssthresh / u64::from(self.smss) * u64::from(smss);
        }
        self.smss = smss;
    }

    /// Adds `bytes`.
    pub fn grow(&mut self, bytes: u64) {
        self.grow_fixed(bytes << Self::FRACTION_BITS);
    }

    /// Adds `amount` in fixed point.
    pub(crate) fn grow_fixed(&mut self, amount: u64) {
        self.cwnd = (self.cwnd.saturating_add(amount)).min(Self::LARGEST << Self::FRACTION_BITS);
    }

    /// Slow start by `credit` bytes.
    ///
    /// Returns the credit left once the threshold is reached. With
    /// `whole_segments` the threshold may be passed by less than a segment, as
    /// RFC 5681 and ns-2 do.
    pub fn slow_start(&mut self, credit: u64) -> u64 {
        let room = self.ssthresh.saturating_sub(self.bytes());
        if credit <= room || credit <= u64::from(self.smss) {
            self.grow(credit);
            0
        } else {
            let whole = room.next_multiple_of(u64::from(self.smss)).min(credit);
            self.grow(whole);
            credit - whole
        }
    }

    /// Congestion avoidance: `credit * smss / cwnd` bytes (RFC 5681 equation 3),
    /// one segment for each window acknowledged.
    #[inline]
    pub fn avoid(&mut self, credit: u64) {
        if credit == 0 {
            return;
        }
        if self.whole {
            self.count(credit, self.bytes());
            return;
        }
        // smss * credit * 2^32 / cwnd(2^16) = fixed point; both factors fit 2^16..2^20.
        let area = u64::from(self.smss).saturating_mul(credit);
        let growth = if area < 1 << 32 {
            ((area << 32) + (self.cwnd >> 1)) / self.cwnd
        } else {
            (u128::from(area) << 32)
                .checked_div(u128::from(self.cwnd))
                .unwrap_or(0) as u64
        };
        self.grow_fixed(growth);
    }

    /// One segment for `price` bytes acknowledged (Linux `tcp_cong_avoid_ai`). What was
    /// acknowledged while the price was higher counts, but buys no more than one.
    #[inline]
    pub(crate) fn count(&mut self, credit: u64, price: u64) {
        let smss = u64::from(self.smss);
        let price = price.max(1);
        if self.counted >= price {
            self.counted = 0;
            self.grow(smss);
        }
        self.counted += credit;
        if self.counted >= price {
            self.grow(self.counted / price * smss);
            self.counted %= price;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn avoidance_adds_one_over_cwnd_per_segment() {
        let mut window = Window::new(1000, 2);
        window.set_ssthresh(2000);
        window.avoid(1000);
        assert_eq!(window.bytes(), 2500);
        window.avoid(1000);
        assert_eq!(window.bytes(), 2900);
    }

    #[test]
    fn by_whole_segments_a_window_acknowledged_adds_one() {
        let mut window = Window::new(1000, 2).of_whole_segments();
        window.set_ssthresh(2000);
        window.avoid(1000);
        assert_eq!(window.bytes(), 2000);
        window.avoid(2000);
        assert_eq!(window.bytes(), 3000);
        // A third of the next window has been acknowledged.
        window.avoid(2000);
        assert_eq!(window.bytes(), 4000);
    }

    #[test]
    fn slow_start_hands_back_what_lies_beyond_the_threshold() {
        let mut window = Window::new(1000, 4);
        window.set_ssthresh(6000);
        assert_eq!(window.slow_start(5000), 3000);
        assert_eq!(window.bytes(), 6000);
    }

    #[test]
    fn cwnd_is_at_least_one_segment() {
        let mut window = Window::new(1448, 10);
        window.set_bytes(3);
        assert_eq!(window.bytes(), 1448);
    }
}
