#!/usr/bin/env python3
"""Writes the twins in Lua that are generated, one file per family of programs.

    write_twins.py FOLDER

The build of the tests runs it. The programs are tests/golden/pytorch/programs.jsonl, found.txt, and
the folders models and sharded; twins written by hand are in tests/golden/pytorch/programs.
"""
import pathlib
import sys

sys.dont_write_bytecode = True

import keep
import models
import sharded
from translate_programs import twins_of_programs


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    families = twins_of_programs(keep.GOLDEN / "programs.jsonl", keep.GOLDEN / "programs/by_hand.lua")
    families["found"] = keep.twins(keep.read_programs(keep.HERE / "found.txt"))
    families["model"] = models.twins(models.read_models([]))
    families["sharded"] = sharded.twins(sharded.read_programs([]))
    for family, twins in families.items():
        (folder / f"{family}.lua").write_text("-- Written by tests/differential/write_twins.py.\n\n"
                                              + "\n".join(twins))


if __name__ == "__main__":
    main()
