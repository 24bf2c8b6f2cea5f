#!/usr/bin/env python3
"""What the wheels of PyTorch, and of CuPy, import from NVIDIA's libraries, and rows for the table of
the stand-in (allocator_shim/interpose/entry_points.def).

    cuda_entry_points.py imports SITE_PACKAGES > tests/golden/cuda_imports/torch-2.6.0.txt
    cuda_entry_points.py imports SITE_PACKAGES --package cupy > tests/golden/cuda_imports/cupy-12.3.0.txt
    cuda_entry_points.py rows IMPORTS... [--headers DIR]   # what the table lacks, as rows to add

`imports` reads the libraries of an installed wheel with nm. `rows` proposes what each missing entry
point should do; with the headers of a toolkit it knows the arguments: which one is the new handle,
and which ones are sizes that have to be written. Whoever adds a row decides.
"""
import argparse
import glob
import os
import pathlib
import re
import subprocess
import sys

TABLE = pathlib.Path(__file__).resolve().parents[2] / "allocator_shim/interpose/entry_points.def"

# Beginnings of names, the longer of two first; cuda before cu, which is the driver's.
LIBRARIES = [("cudnn", "cudnn"), ("cublasLt", "cublasLt"), ("cublas", "cublas"),
             ("cusparseLt", "cusparseLt"), ("cusparse", "cusparse"), ("cusolver", "cusolver"),
             ("cufft", "cufft"), ("curand", "curand"), ("pnccl", "nccl"), ("nccl", "nccl"),
             ("nvrtc", "nvrtc"), ("nvJitLink", "nvJitLink"), ("cuFile", "cufile"),
             ("nvshmem", "nvshmem_host"), ("nvtx", "nvToolsExt"), ("cupti", "cupti"),
             ("nvml", "nvml"), ("__cuda", "cudart"), ("cuda", "cudart"), ("cu", "cuda")]
HEADERS = ["cuda_runtime_api.h", "cuda.h", "cublas_api.h", "cublasLt.h", "cudnn_*_v9.h",
           "cusparse.h", "cusolver_common.h", "cusolverDn.h", "cusolverSp.h", "cufft.h",
           "cufftXt.h", "curand.h", "nccl.h", "nvrtc.h", "cupti_*.h"]

# Where a package keeps its libraries, and the line that tells its version.
PACKAGES = {"torch": (["torch/lib/*.so*", "torch/*.so"], "torch/version.py"),
            "cupy": (["cupy/**/*.so", "cupy_backends/**/*.so"], "cupy/_version.py")}
# What each library calls "not supported".
NOT_SUPPORTED = {"cublas": 15, "cudart": 801, "cuda": 801, "cufft": 16, "curand": 999,
                 "cusolver": 9, "cusparse": 10}
WORKSPACES = {"cufft", "cusolver", "cusparse"}
# It writes what only a computation, or the object itself, could tell; or it takes memory.
ANSWERS = re.compile(r"Get(?!ri)|nnz|zeroPivot|Array|Texture|Surface|Pool|3D|Xt(Set|Mem)|eigvsi|lsv")
SIZE = re.compile(r"^(int|size_t|int64_t) ?\* ?\w*(lwork|buffer_?size|work_?size|size_?in_?bytes|"
                  r"workspace_?size|workspace_?in_?bytes)\w*$", re.IGNORECASE)

INFO = re.compile(r"^int ?\* ?(dev_?info|d_info|info)$", re.IGNORECASE)


def library_of(name):
    """Which library exports the name, or None. The third letter of cu... tells: names of others
    (cub::, currentThread) are mangled or go on in lower case."""
    for prefix, library in LIBRARIES:
        if name.startswith(prefix):
            rest = name[len(prefix):]
            return library if prefix.startswith("nvshmem") or not rest[:1].islower() else None
    return None


def symbols_of(path):
    """The undefined and the defined symbols of a library: (name, version)."""
    undefined, defined = set(), set()
    text = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        fields = line.split()
        name, _, version = fields[-1].partition("@")
        if len(fields) == 2:
            undefined.add((name, version.lstrip("@")))
        else:
            defined.add(name)
    return undefined, defined


def in_table(version):
    """Whether the table has the library that a symbol's version names (libcudnn.so.9), where it
    names one."""
    return not re.match(r"lib\w+\.so\.\d+$", version) or f" {version})" in TABLE.read_text()


def print_imports(site, package):
    wanted, own = set(), set()
    patterns, version_file = PACKAGES[package]
    for path in sorted(p for pattern in patterns
                       for p in glob.glob(f"{site}/{pattern}", recursive=True)):
        undefined, defined = symbols_of(path)
        wanted |= undefined
        own |= defined
    text = (pathlib.Path(site) / version_file).read_text()
    version = re.search(r"__version__ = '([^']+)'", text).group(1)
    majors = {int(m.group(1)) for _, v in wanted if (m := re.match(r"libcudart\.so\.(\d+)$", v))}
    rows = {(library_of(name), name) for name, v in wanted
            if name not in own and library_of(name) and in_table(v)}
    print(f"# {package} {version}, CUDA {max(majors)}: written by "
          "tests/comparisons/cuda_entry_points.py")
    for library, name in sorted(rows):
        print(library, name)


def read_imports(path):
    """(library, name) -> the version of CUDA."""
    lines = pathlib.Path(path).read_text().splitlines()
    major = re.search(r"CUDA (\d+)", lines[0]).group(1)
    return {tuple(line.split()): major for line in lines[1:]}


def prototypes(folder):
    """name -> its parameters, as the headers write them."""
    found = {}
    for pattern in HEADERS:
        for path in glob.glob(os.path.join(folder, pattern)):
            text = pathlib.Path(path).read_text(errors="ignore")
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
            for name, parameters in re.findall(r"\b(\w+)\s*\(([^(){};]*)\)\s*;", text):
                parts = [re.sub(r"\s+", " ", p).strip() for p in parameters.split(",")]
                found.setdefault(name, [] if parts in ([""], ["void"]) else parts)
    return found


def proposal(library, name, parameters):
    """What a stub of this entry point does. Arguments count from 1, without floating ones: those
    travel in registers of their own."""
    refused = f"Unsupported<{NOT_SUPPORTED[library]}>" if library in NOT_SUPPORTED else "Succeeds"
    if parameters is None:  # headers of today do not have it
        return refused
    words = [p for p in parameters if not re.match(r"(const )?(float|double) ?\w*$", p)]
    places = {"int": "IntAt", "size_t": "SizeAt", "int64_t": "LongAt"}
    sizes = [f"{places[m.group(1)]}<{i}>" for i, p in enumerate(words, 1) if (m := SIZE.match(p))]
    info = [i for i, p in enumerate(words, 1) if INFO.match(p)]
    if info and not sizes:
        return f"Solves<IntAt<{info[-1]}>>"
    if name.endswith(("ErrorName", "ErrorString", "StatusString", "ResultString")):
        return "SaysNothing"
    if sizes:
        return (f"TakesNothing<{library}_workspace, {', '.join(sizes)}>" if library in WORKSPACES
                else f"NeedsNothing<{', '.join(sizes)}>")
    if ANSWERS.search(name):
        return refused
    if "Create" in name and words and "*" in words[0]:
        return "Creates<1>"
    if "Destroy" in name and len(words) == 1:
        return "Destroys"
    return "Succeeds"


def support_of(behaviour):
    """The support level of a class of behaviour, as the table names it."""
    levels = {"Unsupported": "rejected", "Absent": "rejected", "TakesNothing": "no_workspace", "Solves": "not_solved",
              "NeedsNothing": "zero", "SaysNothing": "no_error_text"}
    return levels.get(behaviour.split("<")[0], "supported")


def print_rows(imports, headers):
    known = set(re.findall(r"^OHM_\w+\(\w+, (\w+)", TABLE.read_text(), re.MULTILINE))
    parameters = prototypes(headers) if headers else {}
    wanted = {}
    for path in imports:
        for row, major in read_imports(path).items():
            wanted.setdefault(row, set()).add(major)
    for (library, name), majors in sorted(wanted.items()):
        if name in known:
            continue
        what = proposal(library, name, parameters.get(name))
        support = support_of(what)
        print(f"OHM_STUB({library}, {name}, {' '.join(sorted(majors))}, {support}, {what})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("imports")
    command.add_argument("site")
    command.add_argument("--package", choices=PACKAGES, default="torch")
    command = commands.add_parser("rows")
    command.add_argument("imports", nargs="+")
    command.add_argument("--headers")
    arguments = parser.parse_args()
    if arguments.command == "imports":
        print_imports(arguments.site, arguments.package)
    else:
        print_rows(arguments.imports, arguments.headers)


if __name__ == "__main__":
    sys.exit(main())
