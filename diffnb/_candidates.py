"""Which columns of a table could hold conditions, and which samples: the one place of these rules.

The text of this file also runs in kernels that lack diffnb, embedded in `lab/kernel/listing.py`. So it is limited to
Python 3.8 and its standard library, and uses the methods of the pandas objects it is given.
"""

import re
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
#: samples of which each holds every condition, so that conditions are compared within them
MIN_COMPLETE_SAMPLES = 3
#: parts of names of columns that hold samples, and of columns that never do, whatever their values look like
_SAMPLE_NAME = re.compile(
    r"donor|patient|subject|sample|individual|participant|person|volunteer|mouse|mice|animal|embryo|litter|twin|"
    r"replicate|specimen|biopsy|library|orig\.?ident|(^|_)(rep|ind|pid|sid|run|recording)(_|$)",
    re.IGNORECASE,
)
_OTHER_NAME = re.compile(r"type|cluster|leiden|louvain|label|annot|phase|lineage|subset|class|group", re.IGNORECASE)


def level_count(column: Any) -> "tuple[int, bool]":
    """Return the number of levels of a column, 0 for measurements, and whether all rows were read."""
    n_obs = len(column)
    exact = column.dtype.name == "category" or n_obs <= MAX_ROWS_COUNTED
    read = column if exact else column.iloc[:: -(-n_obs // MAX_ROWS_COUNTED)]
    try:
        levels = int(read.nunique())
    except TypeError:  # lists and the like cannot be counted, nor be conditions
        return 0, True
    return (0 if _measured(read, levels, n_obs) else levels), exact


def could_be_condition(levels: int, n_obs: int) -> bool:
    """Return whether a column with so many levels could hold conditions."""
    return 2 <= levels <= min(MAX_LEVELS, max(2, n_obs // MIN_OBS_PER_LEVEL))


def could_be_sample(levels: int, n_obs: int) -> bool:
    """Return whether a column with so many levels could name samples: several, of several observations each."""
    return 2 <= levels <= n_obs // 2


def is_called_sample(name: Any) -> bool:
    """Return whether a column is called what samples are called: donor, patient, sample and the like."""
    return isinstance(name, str) and bool(_SAMPLE_NAME.search(name)) and not _OTHER_NAME.search(name)


def likely_samples(table: Any, by: str, max_rows: int = MAX_ROWS_COUNTED) -> "list[tuple[str, bool]]":
    """List the columns that likely hold the samples of the conditions in `by`, the likeliest first.

    With each name comes whether a sample has one condition only. Samples that hold every condition must be called
    what samples are called: types of cells hold every condition, too. Columns of `table` must have different names.
    """
    read = table.iloc[:: max(1, -(-len(table) // max_rows))]
    found = []
    for name in read.columns:
        if name == by or not isinstance(name, str) or _OTHER_NAME.search(name):
            continue
        levels, _ = level_count(read[name])
        named = is_called_sample(name)
        if could_be_sample(levels, len(read)):
            nested = _sample_design(read[[by, name]].dropna(), by, name)
            if nested is not None and (named or nested):
                # comparing within samples comes before comparing different ones; a name before a mere pattern
                found.append((not named, nested, name))
    return [(name, nested) for _, nested, name in sorted(found, key=lambda row: row[:2])]


def _sample_design(pairs: Any, by: str, name: str) -> "bool | None":
    """Return whether samples have one condition each; `None` where they hold neither one nor all."""
    sizes = pairs.groupby([by, name], observed=True).size()
    n_conditions = pairs[by].nunique()
    held = sizes.groupby(level=1, observed=True).size()
    if (held == 1).all() and sizes.groupby(level=0, observed=True).size().min() >= 2:
        return True
    complete = sizes[sizes >= MIN_OBS_PER_LEVEL].groupby(level=1, observed=True).size() == n_conditions
    if n_conditions > 1 and complete.sum() >= max(MIN_COMPLETE_SAMPLES, len(held) / 2):
        return False
    return None


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
    """Return whether a column holds measurements, which no tool accepts as conditions."""
    return _measured(column, int(column.nunique()), len(column))


def has_fractions(column: Any) -> bool:
    """Return whether a column holds numbers with a fractional part."""
    if column.dtype.kind != "f":
        return False
    values = column.dropna()
    return bool((values != values.round()).any())


def _measured(column: Any, levels: int, n_obs: int) -> bool:
    # numbers that repeat are codes of conditions; numbers that hardly do are measurements, integers or not
    many = column.dtype.kind in "iuf" and levels > max(MAX_CODES, n_obs // MIN_OBS_PER_CODE)
    return bool(many or has_fractions(column))
