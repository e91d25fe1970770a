//! How people write quantities: `"250 ms"`, `"16.2 Mbit/s"`, `"990 KiB"`.
//!
//! Decimal prefixes are powers of 1000, binary ones (`Ki`, `Mi`) of 1024.
//! A number without its unit is refused: that is where silent errors start.

use thiserror::Error;

use crate::{BitRate, Span};

/// The kinds of quantity a scenario may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A length of time.
    Time,
    /// A transmission rate.
    Rate,
    /// A number of bytes.
    Size,
}

impl Quantity {
    /// The units allowed for this kind, smallest first, with their factor
    /// (to nanoseconds, bit/s or bytes).
    pub fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Time => &[
                ("ns", 1),
                ("us", 1_000),
                ("ms", 1_000_000),
                ("s", 1_000_000_000),
                ("min", 60_000_000_000),
                ("h", 3_600_000_000_000),
            ],
            Self::Rate => &[
                ("bit/s", 1),
                ("kbit/s", 1_000),
                ("Mbit/s", 1_000_000),
                ("Gbit/s", 1_000_000_000),
            ],
            Self::Size => &[
                ("B", 1),
                ("kB", 1_000),
                ("KiB", 1_024),
                ("MB", 1_000_000),
                ("MiB", 1_048_576),
                ("GB", 1_000_000_000),
                ("GiB", 1_073_741_824),
            ],
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::Rate => "a rate",
            Self::Size => "a size",
        }
    }
}

/// Why a spelt quantity was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpellingError {
    /// The text does not begin with a number.
    #[error("{text:?} is not {}: expected a number and a unit ({allowed})", kind.noun())]
    NotANumber {
        /// What was asked for.
        kind: Quantity,
        /// What was found.
        text: String,
        /// The allowed units.
        allowed: String,
    },
    /// The number has no unit.
    #[error("{text:?} has no unit: expected one of {allowed}")]
    NoUnit {
        /// What was found.
        text: String,
        /// The allowed units.
        allowed: String,
    },
    /// The unit is not one of this kind.
    #[error("unknown unit {unit:?} in {text:?}: expected one of {allowed}")]
    UnknownUnit {
        /// The unit as written.
        unit: String,
        /// What was found.
        text: String,
        /// The allowed units.
        allowed: String,
    },
    /// The value does not fit 64 bits.
    #[error("{text:?} is too large")]
    TooLarge {
        /// What was found.
        text: String,
    },
}

fn allowed(kind: Quantity) -> String {
    let names: Vec<&str> = kind.units().iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

/// `number × factor` in exact decimal arithmetic, rounded to the nearest whole.
fn scale(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || fraction.len() > 18 {
        return None;
    }
    let value: u128 = digits.parse().ok()?;
    let divisor = 10_u128.pow(fraction.len() as u32);
    let scaled = value.checked_mul(u128::from(factor))?;
    u64::try_from((scaled + divisor / 2) / divisor).ok()
}

fn parse(kind: Quantity, text: &str) -> Result<u64, SpellingError> {
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..split], trimmed[split..].trim());
    let well_formed =
        number.chars().any(|c| c.is_ascii_digit()) && number.chars().filter(|&c| c == '.').count() <= 1;
    if !well_formed {
        return Err(SpellingError::NotANumber {
            kind,
            text: text.to_owned(),
            allowed: allowed(kind),
        });
    }
    if unit.is_empty() {
        return Err(SpellingError::NoUnit {
            text: text.to_owned(),
            allowed: allowed(kind),
        });
    }
    let unit = if unit == "µs" || unit == "μs" {
        "us"
    } else {
        unit
    };
    let Some((_, factor)) = kind.units().iter().find(|(name, _)| *name == unit) else {
        return Err(SpellingError::UnknownUnit {
            unit: unit.to_owned(),
            text: text.to_owned(),
            allowed: allowed(kind),
        });
    };
    scale(number, *factor).ok_or_else(|| SpellingError::TooLarge {
        text: text.to_owned(),
    })
}

/// A time as spelt, for example `"250 ms"`.
///
/// # Errors
/// When the text is not a number followed by a unit of time.
pub fn parse_span(text: &str) -> Result<Span, SpellingError> {
    parse(Quantity::Time, text).map(Span::from_ns)
}

/// A rate as spelt, for example `"16.2 Mbit/s"`.
///
/// # Errors
/// When the text is not a number followed by a unit of rate.
pub fn parse_rate(text: &str) -> Result<BitRate, SpellingError> {
    parse(Quantity::Rate, text).map(BitRate::from_bps)
}

/// A size as spelt, for example `"990 KiB"`, in bytes.
///
/// # Errors
/// When the text is not a number followed by a unit of size.
pub fn parse_bytes(text: &str) -> Result<u64, SpellingError> {
    parse(Quantity::Size, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        assert_eq!(parse_span("250 ms"), Ok(Span::from_ms(250)));
        assert_eq!(parse_span("0.000832s"), Ok(Span::from_us(832)));
        assert_eq!(parse_rate("16.2 Mbit/s"), Ok(BitRate::from_bps(16_200_000)));
        assert_eq!(parse_bytes("990 KiB"), Ok(1_013_760));
    }

    #[test]
    fn a_bare_number_is_refused() {
        let error = parse_span("250").unwrap_err().to_string();
        assert_eq!(
            error,
            "\"250\" has no unit: expected one of ns, us, ms, s, min, h"
        );
    }

    #[test]
    fn a_wrong_unit_is_named() {
        let error = parse_rate("10 Mbps").unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown unit \"Mbps\" in \"10 Mbps\": expected one of bit/s, kbit/s, Mbit/s, Gbit/s"
        );
    }

    #[test]
    fn nonsense_is_not_a_number() {
        assert!(parse_bytes("lots").is_err());
        assert!(parse_bytes("1.2.3 kB").is_err());
        assert!(parse_bytes("-3 kB").is_err());
        assert!(parse_bytes("99999999999999999999 GB").is_err());
    }
}
