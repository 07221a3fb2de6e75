"""What the articles this engine grew from describe, in their plain form: searches, evaluation terms, demonstrations.

For comparing, for teaching and for playing with a style of one's own; the engine's hot rooms know nothing of it.

Knows what the articles describe, in their plain form. Must not know: search at full strength.
"""

__all__ = ["cce_notation", "copying", "methods", "styles"]
