"""Numerics: arrays and seeds in, frozen results out. Nothing here knows of AnnData, plots or widgets."""
