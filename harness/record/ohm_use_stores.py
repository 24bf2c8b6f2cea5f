"""Files and buffers that a program writes values to and reads again: by the expressions of their paths
(ohm_use_search.py)."""
import ast

from ohm_use_effects import LOGS
from ohm_use_files import name_of, name_of_target, parameters_of

# Calls that give what is written to: a file of a path, a writer of a file, or a path of text.
OPENS = frozenset("open memmap open_memmap writer DictWriter Path".split())
BUFFERS = frozenset("StringIO BytesIO".split())
WRITES = frozenset("""write writelines writerow writerows write_text write_bytes dump save savez savez_compressed
    savetxt tofile save_file to_csv to_json to_pickle to_parquet to_feather to_hdf to_excel print""".split())
READS = frozenset("""open load loadtxt genfromtxt fromfile load_file read_text read_bytes read_csv read_json
    read_pickle read_parquet read_feather read_hdf read_excel memmap""".split())
WRITING = frozenset("write writelines seek truncate flush close tell fileno name".split())
PRINTS_OR_LOGS = LOGS | {"print"}

NO_PATHS = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Dict)


def readers(file, call):
    """Calls of the file that read what a call writes, and buffers that it writes to."""
    written = {key for part in parts_of(call) for key in keys_of(file, part)}
    for name in READS:
        for other in file.calls(name):
            read = {key for part in parts_of(other) for key in keys_of(file, part)}
            if other is not call and not is_writing(other) and not written.isdisjoint(read):
                yield other


def queries(file):
    """Calls that give rows of a database."""
    for name in ("fetchone", "fetchall", "fetchmany"):
        yield from file.calls(name)
    for call in file.calls("execute"):
        if isinstance(file.parents.get(call), (ast.For, ast.comprehension)):
            yield call


def buffers_of(file, call, frame):
    """Names of buffers that a call writes to, prints to or logs to. frame: one that runs."""
    name, takers = name_of(call), []
    if name == "print" and not any(keyword.arg == "file" for keyword in call.keywords):
        takers = [taker for taker in file.calls("redirect_stdout") if is_captured(file, taker, call, frame)]
    elif name in LOGS:
        takers = file.calls("StreamHandler")
    written = getattr(call.func, "value", None)  # of csv.writer(buffer).writerow(row)
    for taking in (call, *takers, *([written] if is_opening(written) else ())):
        yield from (part for part in parts_of(taking) if is_buffer(file, part))


def is_captured(file, taker, call, frame):
    """Whether a `with` sends what a call prints to a buffer: it is around the call, or runs."""
    statement = file.parents.get(file.parents.get(taker))
    if not isinstance(statement, ast.With):
        return False
    if file.scope(call) is file.scope(taker):
        return any(node is call for node in ast.walk(statement))
    while frame is not None and not file.runs_in(frame, statement):
        frame = frame.f_back
    return frame is not None


def is_buffer(file, node):
    return isinstance(node, (ast.Name, ast.Attribute)) and any(
        isinstance(value, ast.Call) and name_of(value) in BUFFERS for value in values_of(file, node))


def mapped_files(file, target):
    """Calls that map the files whose memory a Name is."""
    return [value for value in values_of(file, target)
            if isinstance(value, ast.Call) and name_of(value) in ("memmap", "open_memmap")]


def parts_of(call):
    """What may name a file: arguments, and what the method is of."""
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)
    if isinstance(call.func, ast.Attribute):
        yield call.func.value


def keys_of(file, node, depth=6):
    """Of a path or what stands for one: equal ones name one file."""
    if isinstance(node, ast.Call) and name_of(node) in OPENS and depth:
        for part in node.args[:1] or parts_of(node):
            yield from keys_of(file, part, depth - 1)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        values = [value for value in values_of(file, node) if not isinstance(value, NO_PATHS)]
        if not any(map(is_opening, values)):
            yield ast.dump(node)
        for value in [*values, *arguments_for(file, node)] if depth else ():
            yield from keys_of(file, value, depth - 1)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield ast.dump(node)
    elif isinstance(node, (ast.JoinedStr, ast.Call, ast.BinOp)):
        yield ast.dump(node)


def values_of(file, node):
    """What a variable is assigned where a node uses it; of `with`, within its statements."""
    around, inner = set(), node
    while inner is not None:
        around.add(inner)
        inner = file.parents.get(inner)
    for value in file.assigned.get(name_of_target(node), ()):
        item = file.parents.get(value)
        if not isinstance(item, ast.withitem) or file.parents[item] in around:
            yield value


def arguments_for(file, node):
    """What calls pass where a node is a parameter of its function."""
    function = file.scope(node)
    if isinstance(node, ast.Name) and function is not file.tree and node.id in parameters_of(function):
        yield from file.passed(function, node.id)


def is_written(file, method):
    """Whether the text of text.encode() goes into a file."""
    node = file.parents[method]
    while isinstance(file.parents.get(node), ast.BinOp):
        node = file.parents[node]
    call = file.parents.get(node)
    return method.attr == "encode" and isinstance(call, ast.Call) and name_of(call) == "write"


def is_only_written(file, call):
    """Of a method of a file that is a variable: whether nothing reads it or is passed it."""
    owner = getattr(call.func, "value", None)
    if not isinstance(owner, ast.Name):
        return False
    uses = file.names(file.home(file.scope(owner), owner.id), owner.id)
    return all(getattr(file.parents[one], "attr", "") in WRITING for one in uses)


def is_opening(value):
    return isinstance(value, ast.Call) and name_of(value) in OPENS


def is_writing(call):
    """Of one that opens a file."""
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] + call.args[1:]
    return any(isinstance(mode, ast.Constant) and str(mode.value).startswith(("w", "a", "x")) for mode in modes)
