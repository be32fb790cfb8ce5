"""Dense, sparse and dask matrices behind one set of operations."""
