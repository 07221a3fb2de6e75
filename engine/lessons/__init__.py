"""Knows the searches and evaluation terms of the articles in their plain form, for comparison, teaching and styles.

Must not know: the engine's own search, except through the facade, its `time_manager` and `search_stack.Variations`.
Offers `methods` (the searches side by side), `styles` (styles by name or coefficient), `copying` (perft by copying)
and `notation` (evaluations as the articles write them, the end of a game, variations).
"""

__all__ = ["copying", "methods", "notation", "styles"]
