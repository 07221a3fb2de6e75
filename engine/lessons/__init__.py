"""What the articles this engine grew from describe, in their plain form: searches, evaluation terms, demonstrations.

For comparing, for teaching and for playing with a style of one's own; the engine's hot rooms know nothing of it.
"""
