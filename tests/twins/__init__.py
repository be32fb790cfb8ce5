"""Slow, plain twins of the methods, written from the papers' equations and the authors' recipes."""
