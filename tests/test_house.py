"""Rules of the house that no linter knows."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("core", "ledger", "credentials", "hooks", "templates", "agents", "addons", "memory", "cli")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

# Modules without a test of their own, each with its reason.
NO_TWIN = {
    "cli/ghost_cli/__main__.py": "two lines",
    "addons/ghost_addons/connection.py": "fields without behaviour",
    "addons/ghost_addons/services.py": "fields without behaviour",
    "memory/ghost_memory/dialect.py": "words of SQL, told where they are asked: test_passive.py and tests/postgres",
    "memory/ghost_memory/fulltext_sqlite.py": "told through its one door in test_fulltext.py",
    "memory/ghost_memory/fulltext_postgres.py": "needs a server: tests/postgres/test_memory.py",
    "memory/ghost_memory/reader_postgres.py": "needs a server: tests/postgres/test_commands.py",
    "memory/ghost_memory/pgvector.py": "needs a server: tests/postgres/test_pgvector.py",
    "memory/ghost_memory/pgvector_column.py": "needs a server: tests/postgres/test_pgvector.py",
    **{
        f"memory/ghost_memory/server/catalogue/{name}.py": "a table, told whole in catalogue/test_tools.py"
        for name in ("memories", "shared", "tasks", "decisions", "projects")
    },
    **{
        f"cli/ghost_cli/demo/{name}.py": "a chapter of one story, told whole in test_command.py"
        for name in ("stage", "opening", "working", "seen", "closing")
    },
}
# Tests that belong to no single module, and further parts of a module's tests.
NO_MODULE = {"tests/ledger/test_formats.py", "tests/hooks/test_policy_gates.py"}

SKIPPED = {".git", ".venv", "__pycache__", "node_modules", "dist", "build", "out", ".hypothesis"}


def house_files() -> Iterator[Path]:
    for folder, below, names in ROOT.walk():
        kept = set(below) - SKIPPED
        below[:] = sorted(name for name in kept if not name.endswith(("_cache", ".egg-info")))
        own = sorted(set(names) - SKIPPED)  # a worktree has a file `.git`
        yield from (path for name in own if (path := folder / name).is_file())


def texts() -> Iterator[tuple[str, str]]:
    for path in house_files():
        try:
            yield str(path.relative_to(ROOT)), path.read_text("utf-8")
        except UnicodeDecodeError:
            continue


def modules(room: str) -> Iterator[Path]:
    package = ROOT / room / f"ghost_{room}"
    for path in sorted(package.rglob("*.py")):
        if path.name != "__init__.py" and "migrations" not in path.parts:
            yield path


def twins(room: str, module: Path) -> set[Path]:
    """Return where the test of a module may lie: beside its folder, or its folder in the name."""
    folder, name = module.parent.relative_to(ROOT / room / f"ghost_{room}"), module.name
    tests = ROOT / "tests" / room
    joined = "_".join((*folder.parts, name))
    return {tests / folder / f"test_{name}", tests / f"test_{joined}"}


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_has_a_test_of_its_own(room: str) -> None:
    lonely = [
        str(module.relative_to(ROOT))
        for module in modules(room)
        if not any(twin.exists() for twin in twins(room, module))
    ]
    assert [name for name in lonely if name not in NO_TWIN] == []


@pytest.mark.parametrize("room", ROOMS)
def test_every_test_of_a_room_belongs_to_a_module(room: str) -> None:
    expected = {twin for module in modules(room) for twin in twins(room, module)}
    found = set((ROOT / "tests" / room).rglob("test_*.py"))
    strays = {str(path.relative_to(ROOT)) for path in found - expected}
    assert strays - NO_MODULE == set()


def test_the_map_of_memory_names_every_file_once() -> None:
    lines = (ROOT / "memory" / "README.md").read_text("utf-8").splitlines()
    named = re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in lines if "|" in line))
    files_ = (ROOT / "memory" / "ghost_memory").glob("*.py")
    assert sorted(named) == sorted(path.stem for path in files_ if path.stem != "__init__")


def test_all_lists_of_packages_are_the_same() -> None:
    tool = PROJECT["tool"]
    packages = [f"ghost_{room}" for room in ROOMS]
    assert tool["hatch"]["build"]["targets"]["wheel"]["packages"] == [
        f"{room}/ghost_{room}" for room in ROOMS
    ]
    assert tool["ruff"]["src"] == [*ROOMS, "tests"]
    assert tool["ruff"]["lint"]["isort"]["known-first-party"] == [*packages, "support"]
    assert tool["mypy"]["packages"] == packages
    assert tool["coverage"]["run"]["source_pkgs"] == packages
    assert tool["importlinter"]["root_packages"] == packages
    assert {path.parent.name for path in ROOT.glob("*/ghost_*/__init__.py")} == set(packages)


@pytest.mark.parametrize("room", ROOMS)
def test_every_package_says_that_it_is_typed(room: str) -> None:
    assert (ROOT / room / f"ghost_{room}" / "py.typed").exists()


def loaded_by(program: str) -> set[str]:
    script = f"import sys, json\n{program}\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True, timeout=60
    )
    return {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}


def test_the_overview_loads_nothing_heavy() -> None:
    heavy = {"mitmproxy", "sqlalchemy", "sqlmodel", "mcp", "jinja2", "pydantic", "typer", "rich"}
    assert heavy & loaded_by("from ghost_cli.main import main; main(['--help'])") == set()


def test_a_small_command_loads_neither_engine_nor_database() -> None:
    heavy = {"mitmproxy", "sqlalchemy", "sqlmodel", "mcp", "jinja2"}
    assert heavy & loaded_by("from ghost_cli.main import main; main(['version'])") == set()


def test_the_annotated_file_at_the_root_is_the_one_we_ship() -> None:
    shipped = (files("ghost_core") / "ghost.toml").read_bytes()
    assert (ROOT / "ghost.toml").read_bytes() == shipped


HERE = str(Path(__file__).relative_to(ROOT))
INDEX = re.compile(r"pypi\.(?:org|python)|pythonhosted\.org|--(?:extra-)?index-url[ =]")
FOREIGN = re.compile(r"/(?<![\w.~$}-]/)(?:work|root|Users|opt/pypi)/")  # the slash first is quick


def test_no_file_names_a_package_index() -> None:
    assert [name for name, text in texts() if INDEX.search(text) and name != HERE] == []


def test_no_file_holds_a_path_of_somebodys_machine() -> None:
    assert [name for name, text in texts() if FOREIGN.search(text) and name != HERE] == []


def test_every_locked_package_has_hashes_and_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    entries = re.split(r"(?m)^(?=\S)", lock.replace("\\\n", ""))
    assert all("--hash=sha256:" in entry for entry in entries if entry.strip())
    assert "://" not in lock
    assert " @ " not in lock


def test_every_dependency_is_locked() -> None:
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    names = [re.split(r"[\[<>=;! ]", each, maxsplit=1)[0] for each in wanted]
    normal = [re.sub(r"[-_.]+", "-", name).lower() for name in names]
    assert [name for name in normal if not re.search(rf"(?m)^{re.escape(name)}==", lock)] == []


def test_dependencies_have_floors_only() -> None:
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    specifiers = [each.partition(";")[0] for each in wanted]
    above = [each for each in specifiers if re.search(r"[<~]|==", each)]
    assert above == ["mcp>=2.3,<3"]  # the protocol changes with the next one


def run_setup(tmp_path: Path, *, programs: str) -> subprocess.CompletedProcess[str]:
    """Run the set-up of an empty checkout in which only the named programs exist."""
    bin_, house = tmp_path / "bin", tmp_path / "house"
    bin_.mkdir(exist_ok=True)
    (house / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup.sh", house / "scripts")
    for name in programs.split():
        (bin_ / name).symlink_to(str(shutil.which(name)))
    return set_up(bin_, house)


def set_up(bin_: Path, house: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(bin_ / "sh"), "scripts/setup.sh"],
        cwd=house,
        env={"PATH": str(bin_)},
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
    )


def test_set_up_says_plainly_that_no_python_fits(tmp_path: Path) -> None:
    done = run_setup(tmp_path, programs="sh dirname cat cksum")
    assert done.returncode == 1
    assert "no Python >= 3.12 was found" in done.stderr
    assert "make PYTHON=/path/to/python" in done.stderr


# Stands where uv would: it makes the folder that it is asked for, and installs nothing.
UV = """#!/bin/sh
if [ "$1" = venv ]; then mkdir -p .venv/bin && ln -s "$5" .venv/bin/python; fi
"""


def test_set_up_tells_each_step_the_first_time_only(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.12").symlink_to(sys.executable)
    uv = tmp_path / "bin" / "uv"
    uv.write_text(UV, "utf-8")
    uv.chmod(0o755)
    for name in ("requirements.lock", "pyproject.toml", "core/ghost_core/version.py"):
        (tmp_path / "house" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "house" / name).touch()
    first = run_setup(tmp_path, programs="sh dirname cat cksum mkdir ln")
    assert (first.returncode, first.stdout) == (0, ""), first.stderr
    told = [line.removeprefix("setup: ").split()[0] for line in first.stderr.splitlines()]
    assert told == ["using", "1/3", "2/3", "3/3", "done"]
    again = set_up(tmp_path / "bin", tmp_path / "house")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def full_coverage() -> ModuleType:
    path = ROOT / "scripts" / "full_coverage.py"
    spec = importlib.util.spec_from_file_location("full_coverage", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_that_needs_full_coverage_exists() -> None:
    assert [name for name in full_coverage().FULL if not (ROOT / name).exists()] == []


def test_a_gap_in_a_file_that_needs_full_coverage_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script, report = full_coverage(), tmp_path / "report.json"
    names = [f"{name}x.py" if name.endswith("/") else name for name in script.FULL]
    files_ = {name: {"summary": {"percent_covered": 100.0}} for name in names[1:]}
    monkeypatch.setattr(sys, "argv", ["full_coverage.py", str(report)])
    report.write_text(json.dumps({"files": files_}), "utf-8")
    assert script.main() == 1
    assert capsys.readouterr().out == f"{names[0]}: not in the report\n"
    files_[names[0]] = {"summary": {"percent_covered": 99.5}}
    report.write_text(json.dumps({"files": files_}), "utf-8")
    assert script.main() == 1
    assert capsys.readouterr().out == f"{names[0]}: 99.5 %, expected 100 %\n"
    files_[names[0]] = {"summary": {"percent_covered": 100}}
    report.write_text(json.dumps({"files": files_}), "utf-8")
    assert script.main() == 0
