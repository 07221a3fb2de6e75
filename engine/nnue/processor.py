# cython: language_level=3
"""What the processor can do beyond the least that its kind can. Knows nothing of chess."""

import cython

if not cython.compiled:

    def cpu_has_avx2() -> bool:
        """Plain Python makes no use of it."""
        return False


def has_avx2() -> bool:
    """Has it AVX2, sixteen additions of 16-bit numbers at once, and does the system let us use it?"""
    return cpu_has_avx2()
