"""Which columns of a table could hold conditions, and which samples: the one place of these rules.

The text of this file also runs in kernels that lack diffnb, embedded in `lab/kernel/listing.py`. So it is limited to
Python 3.8 and its standard library, and uses the methods of the pandas objects it is given.
"""

from typing import Any

#: observations that a condition needs; with fewer on average, a column names things rather than conditions
MIN_OBS_PER_LEVEL = 3
#: levels beyond which a column names things rather than conditions
MAX_LEVELS = 50
#: rows of which the levels are counted; of more, every k-th is read
MAX_ROWS_COUNTED = 200_000
#: different numbers that are taken for codes of conditions in any table; in a large one, observations that each needs
MAX_CODES = 20
MIN_OBS_PER_CODE = 10


def level_count(column: Any) -> "tuple[int, bool]":
    """Count the different values of a column, and say whether all rows were read; 0 where they are measurements."""
    n_obs = len(column)
    exact = column.dtype.name == "category" or n_obs <= MAX_ROWS_COUNTED
    read = column if exact else column.iloc[:: -(-n_obs // MAX_ROWS_COUNTED)]
    try:
        levels = int(read.nunique())
    except TypeError:  # lists and the like cannot be counted, nor be conditions
        return 0, True
    return (0 if _measured(read, levels, n_obs) else levels), exact


def could_be_condition(levels: int, n_obs: int) -> bool:
    """Tell whether a column with so many levels could hold conditions."""
    return 2 <= levels <= min(MAX_LEVELS, max(2, n_obs // MIN_OBS_PER_LEVEL))


def could_be_sample(levels: int, n_obs: int) -> bool:
    """Tell whether a column with so many levels could name samples: several, of several observations each."""
    return 2 <= levels <= n_obs // 2


def condition_columns(table: Any) -> "list[tuple[str, int, bool]]":
    """List the columns that could hold conditions, those with few levels first: name, levels, whether exact."""
    n_obs = len(table)
    found = []
    for place in range(table.shape[1]):
        # by place: two columns may have one name
        column = table.iloc[:, place]
        levels, exact = level_count(column)
        if could_be_condition(levels, n_obs):
            found.append((str(column.name), levels, exact))
    return sorted(found, key=lambda described: described[1])


def is_measured(column: Any) -> bool:
    """Tell whether a column holds measurements, which no tool takes for conditions."""
    return _measured(column, int(column.nunique()), len(column))


def has_fractions(column: Any) -> bool:
    """Tell whether a column holds decimal numbers that are not integers."""
    if column.dtype.kind != "f":
        return False
    values = column.dropna()
    return bool((values != values.round()).any())


def _measured(column: Any, levels: int, n_obs: int) -> bool:
    # numbers that repeat are codes of conditions; numbers that hardly do are measurements, integers or not
    many = column.dtype.kind in "iuf" and levels > max(MAX_CODES, n_obs // MIN_OBS_PER_CODE)
    return bool(many or has_fractions(column))
