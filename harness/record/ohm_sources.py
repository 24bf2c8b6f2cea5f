"""What a line of a program does with a GPU's memory, as its source tells: it brings data there or
makes it there, or it computes. A line that may do both tells nothing, nor does one that cannot be
read."""
import ast
import builtins
import linecache
import os

from ohm_user_files import OWN_FOLDER, PACKAGES

# Methods of tensors and functions of torch that make data of sizes and numbers, or bring it.
MAKES_DATA = frozenset(
    "arange as_tensor cuda empty empty_like empty_strided eye from_numpy full full_like linspace "
    "logspace normal ones ones_like rand rand_like randint randint_like randn randn_like randperm "
    "tensor to zeros zeros_like".split())
# Those that allocate nothing on a GPU.
ALLOCATES_NOTHING = frozenset(
    "apply_ backward bernoulli_ copy_ cpu data_ptr detach detach_ device dim dtype element_size "
    "expand expand_as exponential_ fill_ get_device is_contiguous is_floating_point item "
    "manual_seed narrow nelement normal_ numel numpy permute pin_memory random_ record_stream "
    "register_hook requires_grad_ retain_grad select set_ share_memory_ size squeeze "
    "storage_offset stride swapaxes t tolist transpose unbind uniform_ unsqueeze view view_as "
    "zero_".split())
# `to` of one of these converts: x.to(torch.float16).
DTYPES = frozenset(
    "bfloat16 bool double float float16 float32 float64 half int int16 int32 int64 int8 long short "
    "uint8".split())

# Functions that tell more of a request than the line that made it does: a module is called or made,
# moved or loaded, a gradient computed, an optimizer steps; a copy is for what its original is for.
TELLING = frozenset("__deepcopy__ __init__ _apply _call_impl _wrapped_call_impl backward deepcopy "
                    "forward load_state_dict reset_parameters step".split())

# PyTorch's source by which operators are called from Python, as ohm_operators.py does.
CALLS_OPERATORS = os.path.join("torch", "_ops.py")
# The file that ohm_values.py gives to what stands in for a function of a library.
STANDS_IN = os.sep + "ohm_values.py"


def is_own(path):
    return path.startswith(OWN_FOLDER) or path.endswith(STANDS_IN)


def program_frames(frames, file_of):
    """A stack, the innermost frame first, as it is without the kernels of ohm_known.py and what
    stands in for functions of libraries."""
    kept = []
    for frame in frames:
        path = file_of(frame)
        if path.startswith(OWN_FOLDER):
            while kept and file_of(kept[-1]).endswith(CALLS_OPERATORS):
                kept.pop()
        elif not path.endswith(STANDS_IN):
            kept.append(frame)
    return kept


class Lines:
    """Of a program with this torch, whose names of functions and methods tell what computes."""

    def __init__(self, torch):
        self.torch = torch
        names = set()
        for home in (torch, torch.Tensor, torch.nn.functional, torch._C._nn):
            names.update(dir(home))
        self.computes = {n for n in names if not n.startswith("_") and n[0].islower()}
        self.computes -= MAKES_DATA | ALLOCATES_NOTHING
        self.files = {}  # name -> line -> the innermost statement's category

    def category_of(self, frames):
        """Of a request with this stack: "input", "activation", or None. The innermost line that
        tells anything tells it, up to the program's own."""
        if any(frame["name"] in TELLING for frame in frames):
            return None
        for frame in frames:
            filename = frame["filename"]
            if not filename.endswith(".py"):
                continue
            category = self._category_at(filename, frame["line"])
            if category or not is_of_library(filename, self.torch):
                return category
        return None

    def _category_at(self, filename, line):
        if filename not in self.files:
            self.files[filename] = self._read(filename)
        return self.files[filename].get(line)

    def _read(self, filename):
        try:
            tree = ast.parse("".join(linecache.getlines(filename)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        categories = {}
        for statement in ast.walk(tree):  # from the outside in
            if isinstance(statement, ast.stmt):
                category = self._category_of(own_parts(statement))
                for line in range(statement.lineno, statement.end_lineno + 1):
                    categories[line] = category
        return categories

    def _category_of(self, parts):
        makes = computes = False
        for part in parts:
            if isinstance(part, ast.Call):
                name = name_of_call(part)
                converts = name == "to" and any(is_dtype(a) for a in arguments_of(part))
                makes = makes or name in MAKES_DATA and not converts
                computes = computes or converts or name in self.computes
            elif isinstance(part, (ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.Compare)):
                computes = computes or not is_of_numbers(part)
        if makes == computes:
            return None
        return "input" if makes else "activation"


def own_parts(statement):
    """The expressions of a statement without those of statements inside of it; sizes of what is
    made are numbers, not tensors."""
    parts, rest = [], [statement]
    while rest:
        node = rest.pop()
        parts.append(node)
        if isinstance(node, ast.Call) and name_of_call(node) in MAKES_DATA - {"to", "cuda"}:
            rest.append(node.func)
            continue
        rest += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    return parts


def name_of_call(call):
    """Empty of Python's own functions, some of whose names torch has, too."""
    function = call.func
    if isinstance(function, ast.Name) and hasattr(builtins, function.id):
        return ""
    return getattr(function, "attr", None) or getattr(function, "id", None)


def arguments_of(call):
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def is_dtype(argument):
    return isinstance(argument, ast.Attribute) and argument.attr in DTYPES


def is_of_numbers(node):
    return all(isinstance(child, (ast.Constant, ast.operator, ast.unaryop, ast.cmpop))
               for child in ast.iter_child_nodes(node))


def is_of_library(path, torch):
    """PyTorch's own files, and others that were installed."""
    is_installed = any(os.sep + folder in path for folder in PACKAGES)
    return is_installed or path.startswith(os.path.dirname(torch.__file__) + os.sep)
