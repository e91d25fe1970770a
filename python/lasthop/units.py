"""Numbers for people."""

from __future__ import annotations

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def scale_for(value: float, unit: str) -> tuple[float, str]:
    """Divisor and spelling of the unit that suits a value.

    >>> scale_for(25_016_000, "bit/s")
    (1000000.0, 'Mbit/s')
    >>> scale_for(0.034, "s")
    (0.001, 'ms')
    """
    size = abs(value)
    if unit == "s":
        if size == 0.0 or size >= 1.0:
            return 1.0, "s"
        return (1e-3, "ms") if size >= 1e-3 else (1e-6, "µs")
    if unit:
        for factor, prefix in _PREFIXES:
            if size >= factor:
                return factor, prefix + unit
    return 1.0, unit


def digits(value: float, figures: int = 4) -> str:
    """A number with so many figures, in full and without trailing noise.

    >>> digits(25.0160), digits(1234567.0), digits(0.0123456), digits(3.0)
    ('25.02', '1234567', '0.01235', '3')
    """
    if value == 0:
        return "0"
    if float(value).is_integer():
        return f"{value:.0f}"
    if abs(value) >= 10**figures:
        return f"{value:.0f}"
    text = f"{value:.{figures}g}"
    return f"{float(text):f}".rstrip("0").rstrip(".") if "e" in text else text


def with_interval(mean: float | None, half_width: float | None, divisor: float = 1.0) -> str:
    """A mean with half its interval, or a dash when there is none.

    >>> with_interval(25.0e6, 0.2e6, 1e6)
    '25 ± 0.2'
    >>> with_interval(None, None)
    '–'
    """
    if mean is None:
        return "–"
    text = digits(mean / divisor)
    return text if not half_width else f"{text} ± {digits(half_width / divisor, 2)}"
