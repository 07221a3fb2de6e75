"""Knows what a position is worth: hand-written terms with their weights and styles, or a network and its file.

Must not know: search, time, and how weights and networks are trained.
Offers `evaluate` (the static score by the terms or by a network), `endings` (known results and drawish scales),
`weights` (names and values of the terms), `style` (the named styles, and scaling groups of weights), `style_bonus`
(what a named style adds), `network` (inference), `net_file` (its file format), `eval_file` (the choice of the
evaluation), `processor` (vector instructions), and `variant_terms` with `variant_weights` and `variant_evaluation`
(the evaluations of variants).
"""

__all__ = [
    "endings",
    "eval_file",
    "evaluate",
    "net_file",
    "network",
    "processor",
    "style",
    "style_bonus",
    "variant_evaluation",
    "variant_terms",
    "variant_weights",
    "weights",
]
