"""Numbers as people write them. It imports nothing: the command needs it before anything else."""

__all__ = ["told_number"]


def told_number(value: float) -> str:
    """12,345 or 0.123 or 1.2e+12."""
    return f"{value:,.0f}" if 999.5 <= abs(value) < 1e9 else f"{value:.3g}"
