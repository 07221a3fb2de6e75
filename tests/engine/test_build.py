"""How the engine is built: the network module twice on x86-64, if the compiler can; its parameters as C constants."""

import os
import platform
from pathlib import Path

import pytest
from setuptools import Distribution, Extension

from engine._build import BuildExt, constants, write_if_changed
from tests.scripts import script

MODULE = """
#include <Python.h>
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "network", 0, 0, 0, 0, 0, 0, 0};
PyMODINIT_FUNC PyInit_network(void) { return PyModule_Create(&def); }
"""
OLD_COMPILER = """#!/bin/sh
case "$*" in *-mavx2*) echo "unrecognized command-line option '-mavx2'" >&2; exit 1;; esac
exec cc "$@"
"""


def build(folder: Path) -> list[str]:
    """Build a module named engine.evaluation.network from C; return the names of the built modules."""
    source = folder / "network.c"
    source.write_text(MODULE)
    extension = Extension("engine.evaluation.network", [str(source)])
    command = BuildExt(Distribution({"name": "trial", "ext_modules": [extension]}))
    command.build_lib, command.build_temp = str(folder / "lib"), str(folder / "temp")
    command.ensure_finalized()
    command.run()
    assert len(command.get_outputs()) == len(command.extensions)
    return sorted(path.name.split(".")[0] for path in (folder / "lib" / "engine" / "evaluation").iterdir())


@pytest.mark.skipif(platform.machine() != "x86_64", reason="AVX2 is of x86-64")
def test_the_inference_is_built_with_and_without_avx2_in_a_folder_of_any_name(tmp_path: Path) -> None:
    folder = tmp_path / 'the "ä" folder'
    folder.mkdir()
    assert build(folder) == ["network", "network_avx2"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="AVX2 is of x86-64")
def test_a_compiler_that_does_not_know_avx2_does_not_fail_the_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", script(tmp_path / "old-cc", OLD_COMPILER))
    assert build(tmp_path) == ["network"]


def test_numbers_and_rows_of_them_become_constants_of_c() -> None:
    assert constants({"__name__": "params", "MARGIN": -75, "VALUE": (1, 20), "UNITS": [0]}).splitlines() == [
        "enum { MARGIN = -75 };",
        "static const int VALUE[] = { 1, 20 };",
        "static const int UNITS[] = { 0 };",
    ]


def test_header_is_only_written_when_a_number_changed(tmp_path: Path) -> None:
    header = tmp_path / "temp" / "params.h"
    write_if_changed(header, "old")
    os.utime(header, (1, 1))
    write_if_changed(header, "old")
    assert header.stat().st_mtime == 1
    write_if_changed(header, "new")
    assert header.read_text() == "new"
