"""The workflow that others can switch on: it is read, and what it names is there. No system of GitHub's is at hand."""

import os
import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "test.yml"

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")


@pytest.fixture(scope="module")
def workflow() -> Any:
    if not WORKFLOW.exists():
        pytest.skip("a source distribution has no workflow")
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))


def _commands(workflow: Any) -> str:
    return "\n".join(step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"])


def test_workflow_can_be_dispatched(workflow: Any) -> None:
    assert {"workflow_dispatch", "push", "pull_request"} == set(workflow[True])  # YAML takes `on` for true


def test_workflow_runs_each_system_with_each_python(workflow: Any) -> None:
    jobs = workflow["jobs"]
    pythons = ["3.11", "3.12", "3.13", "3.14"]
    assert jobs["test"]["strategy"]["matrix"] == {"system": ["ubuntu-latest", "windows-latest"], "python": pythons}
    assert jobs["macos"]["strategy"]["matrix"] == {"python": pythons}
    assert jobs["macos"]["runs-on"] == "macos-latest"


def test_workflow_commands_name_existing_files(workflow: Any) -> None:
    commands = _commands(workflow)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    extras = re.findall(r"'\.\[([\w,]+)\]'", commands)
    assert extras
    assert {extra for some in extras for extra in some.split(",")} <= set(known)
    scripts = re.findall(r"\bscripts/\w+", commands)
    assert scripts
    assert all((ROOT / script).is_file() for script in scripts)
    assert all(name in (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8") for name in workflow["env"])


def test_workflow_actions_are_pinned(workflow: Any) -> None:
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", name) for name in used), used


def test_windows_suite_names_existing_tests() -> None:
    script = ROOT / "scripts" / "windows"
    if not script.exists():
        pytest.skip("a source distribution has no scripts")
    if os.name == "nt":
        pytest.skip("the script runs where Wine does")
    suite = runpy.run_path(str(script), run_name="read")
    for name in (*suite["SUITE"], *suite["TOO_SLOW"]):
        file, _, test = name.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8") if test else (ROOT / file).is_file(), name
