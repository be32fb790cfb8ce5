"""Module preservation, written plainly from the definitions of NetRep (Ritchie et al. 2016, Table 1)."""

from __future__ import annotations

import numpy as np


def summary_profile(x):
    """First left singular vector of the standardised features, pointing where most features do."""
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    u, s, _ = np.linalg.svd(z, full_matrices=False)
    profile = u[:, 0]
    contributions = np.array([np.corrcoef(z[:, j], profile)[0, 1] for j in range(z.shape[1])])
    sign = -1 if contributions.sum() < 0 else 1
    return sign * contributions, s[0] ** 2 / np.sum(s**2)


def statistics(reference, query, members, places):
    """The seven statistics of NetRep with |r| as network, and the contrast of weights within and outside."""
    r = np.corrcoef(reference[:, members].T)
    q_all = np.corrcoef(query.T)
    q = q_all[np.ix_(places, places)]
    pairs = [(i, j) for i in range(len(members)) for j in range(i)]
    r_pairs, q_pairs = np.array([r[i, j] for i, j in pairs]), np.array([q[i, j] for i, j in pairs])
    r_degree = np.array([sum(abs(r[i, j]) for j in range(len(r)) if j != i) for i in range(len(r))])
    q_degree = np.array([sum(abs(q[i, j]) for j in range(len(q)) if j != i) for i in range(len(q))])
    r_contribution, _ = summary_profile(reference[:, members])
    q_contribution, coherence = summary_profile(query[:, places])
    if q_contribution @ r_contribution < 0:
        q_contribution = -q_contribution
    outside = [j for j in range(query.shape[1]) if j not in set(places)]
    return {
        "avg_weight": np.mean(np.abs(q_pairs)),
        "coherence": coherence,
        "avg_cor": np.mean(np.sign(r_pairs) * q_pairs),
        "avg_contribution": np.mean(np.sign(r_contribution) * q_contribution),
        "cor_cor": np.corrcoef(r_pairs, q_pairs)[0, 1],
        "cor_degree": np.corrcoef(r_degree, q_degree)[0, 1],
        "cor_contribution": np.corrcoef(r_contribution, q_contribution)[0, 1],
        "separability": np.mean(np.abs(q_pairs)) - np.mean(np.abs(q_all[np.ix_(places, outside)])),
    }
