"""What PyTorch's names and Python's operators are in Lua, and which names of a program are there."""
import ast
import re

DTYPES = {"half": "float16", "float": "float32", "double": "float64", "long": "int64", "int": "int32"}
MODULES = {"torch": "ohm", "nn": "nn", "F": "F", "math": "math", "copy": "ohm.copy"}
LIBRARIES = {
    "torch.nn": "nn",
    "nn.functional": "F",
    "torch.nn.functional": "F",
    "torch.cuda": "ohm.cuda",
    "torch.utils.checkpoint": "ohm.utils.checkpoint",
    "torch.nn.attention": "nn.attention",
    "torch.nn.parallel": "nn.parallel",
}
RENAMED = {"torch._C._cuda_clearCublasWorkspaces": "ohm.cuda.clear_cublas_workspaces"}
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Pow: "^",
          ast.Mod: "%", ast.LShift: "<<"}
COMPARISONS = {ast.Gt: "gt", ast.GtE: "ge", ast.Lt: "lt", ast.LtE: "le", ast.Eq: "eq", ast.NotEq: "ne"}
INDEXED = re.compile(r"(.*):index\((\{.*?\})(, \{.*\})?\)")  # a part that indices of tensors choose
SEVERAL_RESULTS = ("chunk", "split", "unbind", "topk", "max", "min", "sort", "where", "tensor_split", "hsplit",
                   "vsplit", "dsplit", "cummax", "cummin", "kthvalue", "mode", "median", "var_mean",
                   "std_mean", "unique", "unique_consecutive", "nanmedian")  # of ops
TAKES_TENSORS_IN_A_ROW = ("ohm.block_diag", "ohm.cartesian_prod", "ohm.meshgrid")  # a list in Lua
# Modules of several results.
GIVES_A_LIST = re.compile(r"nn\.((LSTM|GRU|RNN|MultiheadAttention|LSTMCell)\(|MaxPool.*return_indices=True)")
KEYWORDS = {"end", "local", "then", "repeat", "until", "nil", "function", "do"}


class Unknown(Exception):
    """A form of Python that has no translation here."""


class Scope:
    """What one Python function, or the module, has assigned, in the order of its dictionary."""

    def __init__(self):
        self.assigned = []  # every name that ever was
        self.alive = []  # those that are there now, in the order in which they came
        self.outer = set()  # of the module, which the function assigns

    def assign(self, name):
        if name not in self.assigned:
            self.assigned.append(name)
        if name not in self.alive:
            self.alive.append(name)

    def delete(self, name):
        self.alive.remove(name)
