"""Threads, progress, memory and random streams: how work is run."""
