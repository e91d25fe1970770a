//! From signal-to-noise ratio to bit error rate.
