"""Figures on paper: aligned lines, and beside those that have to reach a bar, whether they do."""


class Figures:
    """Prints as it goes and remembers whether a bar was missed."""

    def __init__(self) -> None:
        self.all_met = True

    def section(self, title: str) -> None:
        print(f"\n{title}", flush=True)

    def line(self, name: str, figure: str, remark: str = "") -> None:
        print(f"  {name:<38} {figure:>18}   {remark}".rstrip(), flush=True)

    def bar(self, name: str, figure: str, wanted: str, met: bool) -> None:
        """A figure with the bar it has to reach, in words."""
        self.all_met &= met
        self.line(name, figure, f"{'PASS' if met else 'FAIL'} (bar: {wanted})")
