"""Prints figures in aligned lines, with PASS or FAIL for those that have a limit."""


class Figures:
    """The figures of a benchmark, and whether all have kept to their limits."""

    def __init__(self) -> None:
        self.all_met = True

    def section(self, title: str) -> None:
        print(f"\n{title}", flush=True)

    def line(self, name: str, figure: str, remark: str = "") -> None:
        print(f"  {name:<38} {figure:>18}   {remark}".rstrip(), flush=True)

    def bar(self, name: str, figure: str, wanted: str, met: bool) -> None:
        """Print a figure with its limit in words."""
        self.all_met &= met
        self.line(name, figure, f"{'PASS' if met else 'FAIL'} (bar: {wanted})")
