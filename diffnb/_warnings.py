"""Kinds of warnings that users may want to filter."""


class StaleResultsWarning(UserWarning):
    """Results are older than the data: what they were computed from has changed since.

    Filter it where this is intended, as with any warning:

    >>> import warnings
    >>> import diffnb as dn
    >>> warnings.simplefilter("ignore", dn.StaleResultsWarning)
    """
