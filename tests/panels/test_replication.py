"""The DiSC panel prints which findings replicate."""

import numpy as np
import pytest

import diffnb as dn
from diffnb.panels._replication import replication_line

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def per_subject():
    adata = dn.datasets.nback_fmri(n_subjects=12)
    dn.tl.disc(adata, "condition", sample_key="subject", standardize="within", n_components=2)
    return adata


def test_it_is_printed_below_the_significance(per_subject):
    panel = dn.panels.disc(per_subject)
    assert "Replication in halves of 12 samples: 0-back, first vector" in panel.replication.value
    assert "replication = dn.get.disc_replication(adata)" in panel.code


def test_without_samples_nothing_is_printed(toy):
    panel = dn.panels.disc(toy)
    assert panel.replication.value == ""
    assert "disc_replication" not in panel.code


def test_names_are_escaped(per_subject):
    adata = per_subject.copy()
    adata.uns["disc"]["groups"] = np.array(["<b>", "2-back"], dtype=object)
    assert "&lt;b&gt;, first vector" in replication_line(adata, "disc")
