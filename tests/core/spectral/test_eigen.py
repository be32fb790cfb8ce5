import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.spectral import eigen as spectrum
from diffnb.core.spectral.walk import Walk, random_walk


@pytest.fixture
def walk(rng):
    w = rng.uniform(size=(60, 60))
    return random_walk(w + w.T)


def dense(walk):
    return np.diag(1 / walk.root) @ walk.symmetric @ np.diag(walk.root)


@pytest.mark.parametrize("direct", [0, 500])
def test_eigenvectors_belong_to_the_walk(monkeypatch, walk, direct):
    monkeypatch.setattr(spectrum, "MAX_DIRECT_NODES", direct)
    values, vectors = spectrum.walk_eigenvectors(walk, 6)
    np.testing.assert_allclose(dense(walk) @ vectors, vectors * values, atol=1e-10)
    np.testing.assert_allclose(values[0], 1.0)
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(vectors[:, 0], vectors[0, 0])


@pytest.mark.parametrize("direct", [0, 500])
def test_singular_pairs_are_those_of_the_full_matrix(monkeypatch, walk, rng, direct):
    monkeypatch.setattr(spectrum, "MAX_DIRECT_NODES", direct)
    u = rng.normal(size=(60, 5))
    q = np.eye(60) - u @ np.linalg.pinv(u)
    _, sigma, vt = np.linalg.svd(dense(walk) @ q)
    ours, vectors = spectrum.right_singular_pairs(walk, spectrum.complement([u]), 4)
    np.testing.assert_allclose(ours, sigma[:4], atol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(vectors * vt[:4].T, axis=0)), 1.0, atol=1e-8)


def test_the_largest_entry_of_every_vector_is_positive(walk):
    vectors = spectrum.walk_eigenvectors(walk, 5)[1]
    largest = np.abs(vectors).argmax(axis=0)
    assert (vectors[largest, range(5)] > 0).all()


def test_projection_survives_spans_that_repeat(rng):
    u = rng.normal(size=(30, 3))
    project = spectrum.complement([u, u @ rng.normal(size=(3, 3)), np.ones((30, 1)), np.ones((30, 1))])
    v = project(rng.normal(size=30))
    np.testing.assert_allclose(u.T @ v, 0, atol=1e-12)
    np.testing.assert_allclose(v.sum(), 0, atol=1e-12)
    np.testing.assert_allclose(project(v), v, atol=1e-12)


def test_the_same_seed_gives_the_same_bits(monkeypatch, walk):
    monkeypatch.setattr(spectrum, "MAX_DIRECT_NODES", 0)
    first, second = (spectrum.walk_eigenvectors(walk, 5, seed=3)[1] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_graph_in_pieces_keeps_all_its_constant_vectors(monkeypatch, rng):
    """Equal eigenvalues are where Lanczos methods slip: four pieces have the eigenvalue 1 four times."""
    monkeypatch.setattr(spectrum, "MAX_DIRECT_NODES", 0)
    blocks = [np.abs(rng.normal(size=(40, 40))) for _ in range(4)]
    weights = sp.csr_array(sp.block_diag([b + b.T for b in blocks]))
    walk = random_walk(weights)
    assert isinstance(walk, Walk)
    values, vectors = spectrum.walk_eigenvectors(walk, 5)
    np.testing.assert_allclose(values[:4], 1.0, atol=1e-10)
    assert values[4] < 0.9
    pieces = np.kron(np.eye(4), np.ones((40, 1)))
    kept = vectors[:, :4] @ np.linalg.lstsq(vectors[:, :4], pieces, rcond=None)[0]
    np.testing.assert_allclose(kept, pieces, atol=1e-8)


def pieces(rng, sizes):
    """Weights of a graph that falls into pieces, as a nearest-neighbour graph may."""
    blocks = []
    for size in sizes:
        w = rng.uniform(size=(size, size))
        blocks.append(w + w.T)
    return sp.block_diag(blocks, format="csr")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [3, 5, 9])
def test_every_piece_of_a_graph_has_its_eigenvalue_one(monkeypatch, rng, seed, count):
    walk = random_walk(pieces(rng, [30, 40, 20, 25, 50]))
    dense_values = np.linalg.eigvalsh(walk.symmetric.toarray())[::-1][:count]
    monkeypatch.setattr(spectrum, "MAX_DIRECT_NODES", 0)
    values, vectors = spectrum.walk_eigenvectors(walk, count, seed=seed)
    np.testing.assert_allclose(values, dense_values, atol=1e-10)
    np.testing.assert_allclose(walk.step(vectors), vectors * values, atol=1e-9)
    np.testing.assert_allclose(vectors[:, 0], vectors[0, 0])
    assert np.linalg.matrix_rank(vectors) == count
