"""Slow, plain reference of the methods, written from the papers' equations and the authors' recipes."""
