"""Threads, progress and memory: how work is run."""
