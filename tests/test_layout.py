"""The layout of the package: who may import whom, how long a module may be, where its tests are."""

import pytest
from import_graph import ROOT, Edge, cycles, forbidden_edges, module_name, read_import_graph

MAX_LINES_PER_MODULE = 400
#: test files of core that belong to no single module
ACROSS_MODULES = {"tests/core/test_array_types.py"}


@pytest.fixture(scope="module")
def graph():
    return read_import_graph()


class TestPackage:
    def test_no_import_breaks_a_rule(self, graph):
        assert [f"{edge}: {rule}" for edge, rule in forbidden_edges(graph).items()] == []

    def test_no_modules_import_each_other(self, graph):
        assert cycles(graph) == []

    def test_every_import_within_the_package_leads_to_a_module(self, graph):
        assert [str(edge) for edge in graph.internal if edge.target not in graph.files] == []

    def test_no_module_is_too_long(self, graph):
        lengths = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in graph.files.items()}
        assert {module: n for module, n in lengths.items() if n > MAX_LINES_PER_MODULE} == {}


class TestMirror:
    """`tests/` has the folders of the package, and a test file for each module of core."""

    def test_every_folder_of_the_package_has_tests(self, graph):
        folders = {path.parent.relative_to(ROOT / "diffnb") for path in graph.files.values()}
        assert {str(folder) for folder in folders if not (ROOT / "tests" / folder).is_dir()} == set()

    def test_every_module_of_core_has_a_test_file_of_its_name(self, graph):
        expected = {module: mirrored(path) for module, path in graph.files.items() if is_mirrored(module, path)}
        missing = {module for module, path in expected.items() if not path.exists()}
        assert sorted(missing) == [], "write tests/core/<package>/test_<module>.py"

    def test_every_test_file_of_core_has_a_module_of_its_name(self, graph):
        expected = {mirrored(path) for module, path in graph.files.items() if is_mirrored(module, path)}
        present = set((ROOT / "tests" / "core").rglob("test_*.py"))
        assert {path.relative_to(ROOT).as_posix() for path in present - expected} <= ACROSS_MODULES


def is_mirrored(module, path):
    return module.startswith("diffnb.core.") and path.name != "__init__.py" and module != "diffnb.core.typing"


def mirrored(path):
    relative = path.relative_to(ROOT / "diffnb")
    return ROOT / "tests" / relative.parent / f"test_{relative.name}"


class TestReader:
    """The rules are only as good as what reads the imports: a package that breaks them is caught."""

    @pytest.fixture
    def package(self, tmp_path):
        def write(sources):
            for name, source in sources.items():
                path = tmp_path / "diffnb" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(source)
            for folder in (tmp_path / "diffnb").rglob("*/"):
                (folder / "__init__.py").touch()
            return read_import_graph(tmp_path)

        return write

    def test_relative_and_absolute_imports_are_resolved(self, package):
        graph = package(
            {
                "core/arrays/ops.py": "x = 1",
                "core/disc/fit.py": "from ..arrays.ops import x\nfrom ..arrays import ops\nimport numpy.linalg",
                "tl/_disc.py": "from ..core import disc",
            }
        )
        assert graph.edges == {
            Edge("diffnb.core.disc.fit", "diffnb.core.arrays.ops"),
            Edge("diffnb.core.disc.fit", "numpy.linalg"),
            Edge("diffnb.tl._disc", "diffnb.core.disc"),
        }
        assert forbidden_edges(graph) == {}

    @pytest.mark.parametrize(
        ("name", "source"),
        [
            ("core/runtime/threads.py", "from ..arrays import ops"),
            ("core/arrays/ops.py", "from ..spectral.eigen import v"),
            ("core/stats/resampling.py", "from ..arrays.ops import gram"),
            ("core/spectral/eigen.py", "from ..stats.resampling import draw"),
            ("core/spectral/eigen.py", "from ..disc import fit"),
            ("core/sparda/fit.py", "from ..disc import nested"),
            ("core/sparda/fit.py", "from diffnb.core.disc.fit import nested"),
            ("core/sparda/fit.py", "from ... import _validate"),
            ("core/sparda/fit.py", "def plot():\n    import matplotlib.pyplot"),
            ("core/dufs/fit.py", "from anndata import AnnData"),
            ("tl/_disc.py", "from ..core.disc.fit import fit"),
            ("get/_disc.py", "from ..core.disc import fit"),
            ("panels/_disc.py", "from ..core.disc.fit import fit"),
            ("get/_scores.py", "from ..tl import disc"),
            ("pl/_scores.py", "from .. import tl"),
            ("sklearn/_disc.py", "from ..tl import disc"),
            ("sklearn/_disc.py", "from anndata import AnnData"),
            ("sklearn/_disc.py", "from .._anndata import read"),
            ("tl/_disc.py", "from ..sklearn import SPARDA"),
        ],
    )
    def test_an_import_that_breaks_a_rule_is_found(self, package, name, source):
        present = ("arrays/ops", "spectral/eigen", "stats/resampling", "disc/fit")
        above = ("tl/_disc.py", "_validate.py", "_anndata/read.py", "sklearn/_sparda.py")
        sources = {f"core/{module}.py": "" for module in present} | dict.fromkeys(above, "")
        (edge,) = forbidden_edges(package(sources | {name: source}))
        assert edge.source == "diffnb." + name.removesuffix(".py").replace("/", ".")

    def test_modules_that_import_each_other_are_found(self, package):
        graph = package(
            {
                "core/disc/a.py": "from . import b",
                "core/disc/b.py": "def f():\n    from .c import g",
                "core/disc/c.py": "from .a import x",
            }
        )
        assert cycles(graph) == [["diffnb.core.disc.a", "diffnb.core.disc.b", "diffnb.core.disc.c"]]

    def test_a_package_has_the_name_of_its_folder(self):
        assert module_name(ROOT / "diffnb" / "core" / "disc" / "__init__.py") == "diffnb.core.disc"
