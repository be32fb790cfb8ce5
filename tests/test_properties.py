"""A few random inputs for every tool and property, the same in every run; `make fuzz` tries many more."""

import pytest
from hypothesis import HealthCheck, given, settings
from properties import TOOLS, cases, checks

#: inputs of each property of each tool: about a minute in all
N_INPUTS = 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "check"), [pytest.param(n, c, id=f"{n}-{c.__name__}") for n in TOOLS for c in checks(TOOLS[n])]
)
def test_every_tool_has_the_property(name, check):
    @settings(
        max_examples=N_INPUTS,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def holds(case):
        check(TOOLS[name], case)

    holds()
