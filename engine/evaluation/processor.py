# cython: language_level=3
"""Detection of the processor's vector instructions."""

import cython

if not cython.compiled:

    def cpu_has_avx2() -> bool:
        """Return False: plain Python uses no vector instructions."""
        return False


def has_avx2() -> bool:
    """Return whether the processor and the operating system support AVX2."""
    return cpu_has_avx2()
