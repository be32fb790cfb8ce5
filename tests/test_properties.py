"""A few random inputs for every tool and property, the same in every run; `make fuzz` tries many more."""

import pytest
from hypothesis import HealthCheck, given, settings
from properties import PROPERTIES, TOOLS, cases

#: inputs of each property of each tool: about a minute in all
N_INPUTS = 5


@pytest.mark.slow
@pytest.mark.parametrize("check", PROPERTIES, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", list(TOOLS))
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
