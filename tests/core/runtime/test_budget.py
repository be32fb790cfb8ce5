import pytest

from diffnb.core.runtime import budget


def test_items_fit_their_share_and_there_is_always_one(set_memory):
    set_memory(1600)
    assert budget.count(10) == 10
    assert budget.count(10, "kept") == 40
    assert budget.count(10**9) == 1
    assert budget.count(0) == 100


def test_an_array_fits_up_to_its_share(set_memory):
    set_memory(1600)
    assert budget.fits(1600)
    assert not budget.fits(1601)
    assert budget.fits(400, "kept")
    assert not budget.fits(401, "kept")


def test_a_limit_ends_with_its_block_even_after_an_error():
    before = budget.memory()
    with budget.limited(2**20):
        assert budget.memory() == 2**20
    with pytest.raises(ZeroDivisionError), budget.limited(2**20):
        _ = 1 / 0
    assert budget.memory() == before


def test_too_little_memory_is_refused():
    with pytest.raises(ValueError, match="memory=3 is below 1024 bytes"):
        budget.set_memory(3)


def test_the_memory_of_the_machine_is_the_smallest_limit(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    limit.write_text("12345678\n")
    monkeypatch.setattr(budget, "_LIMIT_FILES", (limit, tmp_path / "absent"))
    assert budget.machine_bytes.__wrapped__() == 12345678
    limit.write_text("max\n")
    assert budget.machine_bytes.__wrapped__() == budget._physical_bytes()


def test_a_system_that_does_not_tell_its_memory_limits_nothing(monkeypatch):
    monkeypatch.delattr("os.sysconf")
    monkeypatch.setattr(budget, "_LIMIT_FILES", ())
    assert budget.machine_bytes.__wrapped__() is None
