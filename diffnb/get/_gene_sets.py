"""Groups of features as named sets, for packages that test enrichment."""

from __future__ import annotations

from anndata import AnnData

from .._keys import BACKGROUND_GROUP, unique
from ._disc import disc
from ._docs import documented_reader


@documented_reader
def gene_sets(adata: AnnData, *, group: str | None = None, key: str = "disc") -> dict[str, list[str]]:
    """Read the groups of features as sets, without the background.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
    key

    Returns
    -------
    Name of each group and its features, those with the highest score first. Groups come in the order of
    their numbers, condition by condition; empty where no group was found. decoupler, gseapy and other packages
    for enrichment take them as they are; :func:`diffnb.get.gmt` gives the same as the text of a file.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> {name: len(features) for name, features in dn.get.gene_sets(adata, group="A").items()}
    {'A1': 25, 'A2': 25}
    """
    return {name: features for name, _, features in gene_sets_by_condition(adata, group, key)}


@documented_reader
def gmt(adata: AnnData, *, group: str | None = None, key: str = "disc") -> str:
    r"""Write out the groups of features in the GMT format, a line each: name, description, features.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
    key

    Returns
    -------
    The text of a `.gmt` file, its fields separated by tabs; the description names the condition. Nothing is
    written to disk: `Path("groups.gmt").write_text(dn.get.gmt(adata))` does it. Tabs and line breaks within
    names, which the format does not allow, become spaces.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> text = dn.get.gmt(adata, group="A")
    >>> [line.split("\t")[:2] for line in text.splitlines()]
    [['A1', 'DiSC, condition A'], ['A2', 'DiSC, condition A']]
    """
    text = ""
    for name, condition, features in gene_sets_by_condition(adata, group, key):
        fields = [name, f"DiSC, condition {condition}", *features]
        text += "\t".join(" ".join(field.split()) for field in fields) + "\n"
    return text


def gene_sets_by_condition(adata: AnnData, group: str | None, key: str) -> list[tuple[str, str, list[str]]]:
    """Return name, condition and features of every group."""
    table = disc(adata, group=group, key=key)
    found = []
    for condition, rows in table.groupby("group", sort=False):
        members = rows.sort_values("score", ascending=False, kind="stable").groupby("feature_group", observed=True)
        names = [n for n in rows["feature_group"].cat.categories if n != BACKGROUND_GROUP and n in members.groups]
        found += [(str(name), str(condition), [str(feature) for feature in members.groups[name]]) for name in names]
    # the eleventh group of "A" and the first of "A1" have one name
    numbered = unique([name for name, _, _ in found])
    return [(name, condition, features) for name, (_, condition, features) in zip(numbered, found, strict=True)]
