"""What every environment with a time limit checks of it."""


def check_time_limit(max_steps: int) -> None:
    if not 1 <= max_steps < 2**31:
        raise ValueError(f"env.max-steps must lie in 1..2^31-1, not {max_steps}")
