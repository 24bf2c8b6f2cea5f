"""What an expression makes of a value in it, and what a statement does: by its syntax (ohm_uses.py)."""
import ast

from ohm_use_files import name_of
from ohm_use_names import (
    ASKS_NO_VALUE, COUNTS_IN_ARRAY, DERIVES, KEEPS, KEEPS_MASK, KEEPS_SET, MAKES_ARRAY, MAKES_MASK, MAKES_TEXT,
    OF_CHOSEN, REDUCES, TAKES_APART, TELLS)

# What the expression on the way is, where its length or what it selects depends on the values: an array, a
# mask of its elements, a set or another collection of unknown length, lists of unknown lengths, lists of those, what
# an index has chosen, a list of such things, a number that a branch has chosen; or text. None: a number, or nothing
# that is known.
ARRAY, MASK, SET, LISTS, NESTED, TEXT = "array", "mask", "set", "lists", "nested", "text"
CHOSEN, ALL_CHOSEN, NUMBER = "chosen", "all chosen", "number"
WITHIN = {LISTS: SET, NESTED: LISTS}  # of what holds collections, what they are
HOLDER = {SET: LISTS, LISTS: NESTED, NESTED: NESTED}  # of a collection, what holds it
# What depends on a value, from what matters most.
SHAPE, BRANCH, VALUE = "shape", "branch", "value"
RANK = {SHAPE: 3, BRANCH: 2, VALUE: 1, None: 0}
GOES_ON = object()  # nothing is decided yet: what is around the node tells
DISPLAYS = (ast.Dict, ast.List, ast.Tuple)
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
# Of several lists, what gives one, or all of them together.
ONE_OF_LISTS = frozenset("max min next sum chain from_iterable reduce get pop popleft setdefault".split())
CONSUMES = frozenset("join sum any all".split())
REPEATED = (ast.List, ast.Tuple, ast.ListComp)
PLAIN = (DERIVES | MAKES_TEXT | ASKS_NO_VALUE | OF_CHOSEN | TELLS) - frozenset("to clone copy deepcopy".split())


def worse(first, second):
    return first if RANK[first] >= RANK[second] else second


def made_of(node):
    """What a node makes of a value that it reads."""
    return TEXT if isinstance(node, ast.Call) and name_of(node) in MAKES_TEXT else made_by(node, None)


def made_by(node, made):
    """What a node makes of a part that is `made`."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return SET
    if isinstance(node, ast.Compare):
        return None if made is TEXT else MASK
    if made is TEXT:
        return TEXT
    if isinstance(node, ast.Call):
        return made_by_call(name_of(node), made)
    if isinstance(node, ast.BinOp):
        is_kept = made in (ARRAY, SET) or made is MASK and isinstance(node.op, BITWISE)
        return made if is_kept else None
    if isinstance(node, ast.Subscript):
        if made in WITHIN:
            return WITHIN[made]
        if made in (CHOSEN, ALL_CHOSEN):
            return CHOSEN
        has_slice = any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))
        return made if has_slice else None
    return made


def made_by_call(name, made):
    if name in MAKES_ARRAY:
        return MASK if made is MASK else ARRAY
    if name in ("set", "frozenset", "Counter"):
        return SET
    if made in WITHIN and name in ONE_OF_LISTS:
        return WITHIN[made]
    if name in MAKES_MASK:
        return MASK if made in (ARRAY, MASK) else None
    if made is SET:
        return None if name in REDUCES else SET
    keeps = {LISTS: KEEPS_SET, NESTED: KEEPS_SET, ALL_CHOSEN: KEEPS_SET, MASK: KEEPS_MASK}.get(made, KEEPS)
    return made if name in keeps else None


def counts_in_array(call):
    """Whether a call of an array gives as much as its values choose."""
    name = name_of(call)
    has_length = name == "bincount" and any(keyword.arg == "minlength" for keyword in call.keywords)
    return name in COUNTS_IN_ARRAY and not has_length and (name != "where" or len(call.args) == 1)


def is_indexed(call, parents):
    """Whether a call may give several arrays, which something tells apart by an index."""
    around = parents.get(call)
    is_unpacked = isinstance(getattr(around, "targets", [None])[0], ast.Tuple)
    is_passed = isinstance(around, (ast.Call, ast.Starred, ast.FormattedValue))
    return len(call.args) + len(call.keywords) > 1 and not is_unpacked and not is_passed


def is_text(node):
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str))


def chooses_text(node):
    """As 'good' if loss < 1 else 'bad' does."""
    return is_text(node.body) and is_text(node.orelse)


def gives_text(node):
    """Whether an expression makes a text of others."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        return gives_text(node.left) or isinstance(node.op, ast.Add) and gives_text(node.right)
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Call) and name_of(node.value) in TAKES_APART
    return is_text(node) or isinstance(node, ast.Call) and name_of(node) == "join"


def is_tested(node, parents):
    """Whether a branch is all that an expression decides."""
    while isinstance(parents.get(node), (ast.BoolOp, ast.UnaryOp)):
        node = parents[node]
    return getattr(parents.get(node), "test", None) is node and isinstance(parents[node], (ast.If, ast.Assert))


def computes(node, others=frozenset()):
    """Whether an expression or a statement calls what may make more than a number or a text. others: names of calls
    that do not."""
    if isinstance(node, ast.AugAssign):
        return False
    calls = (inner for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(name_of(call) not in PLAIN and name_of(call) not in others for call in calls)


def consumer_of(comprehension, parents):
    """The call that makes a number or a text of a comprehension, which keeps and computes nothing else; or None."""
    call, element = parents.get(comprehension), getattr(comprehension, "elt", None)
    is_consumed = isinstance(call, ast.Call) and name_of(call) in CONSUMES and comprehension in call.args
    return call if is_consumed and element is not None and not computes(element) else None


def kept_by(comprehension, loop):
    """What one with at most one condition keeps; empty: it has more, or computes."""
    parts = [getattr(comprehension, name, None) for name in ("elt", "key", "value")]
    parts = [part for one in parts if one for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
    is_simple = comprehension.generators == [loop] and len(loop.ifs) <= 1
    return parts if is_simple and not any(map(computes, parts)) else []


def is_compared_with_itself(node):
    """As x != x, which asks for a NaN."""
    is_of_variable = isinstance(node, ast.Compare) and isinstance(node.left, (ast.Name, ast.Attribute))
    return is_of_variable and len(node.ops) == 1 and ast.dump(node.left) == ast.dump(node.comparators[0])


def is_called(parents, node):
    parent = parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def unpacked_to(statement, listing, node):
    """The target that an assignment gives this element of its value; None: there is none."""
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is listing else []
    target = targets[0] if len(targets) == 1 else None
    is_alike = isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(listing.elts)
    has_star = is_alike and any(isinstance(one, ast.Starred) for one in target.elts + listing.elts)
    return target.elts[listing.elts.index(node)] if is_alike and not has_star else None


def item_of_display(display, node):
    """The constant key, or the index, of a collection that a dict or a tuple has; None: it is not known."""
    if isinstance(display, ast.Dict):
        key = display.keys[display.values.index(node)] if node in display.values else None
        return getattr(key, "value", None) if isinstance(key, ast.Constant) else None
    elements = display.elts if isinstance(display, ast.Tuple) else ()  # lists may be changed
    has_star = any(isinstance(one, ast.Starred) for one in elements)
    return elements.index(node) if node in elements and not has_star else None


def item_of_index(index):
    """A constant one, or None."""
    is_constant = isinstance(index, ast.Constant) and isinstance(index.value, (int, str))
    return index.value if is_constant else None


def unknown_part(loop, made, place=None):
    """Of what a loop assigns to: keys and places are known, where only values are unknown; of what zip() puts
    together, its argument at this place (part_of)."""
    iterated, target = loop.iter, loop.target
    name = name_of(iterated) if isinstance(iterated, ast.Call) else ""
    is_pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
    if name in ("items", "enumerate") and is_pair and made is not SET:
        iterated, target = next(iter(iterated.args), iterated), target.elts[1]
    is_zip = isinstance(iterated, ast.Call) and name_of(iterated) == "zip"
    return part_of(target, place) if is_zip else target


def part_of(target, place):
    """Of several variables, the one at a place; place: (index, number) or None."""
    is_apart = place is not None and isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == place[1]
    has_star = is_apart and any(isinstance(one, ast.Starred) for one in target.elts)
    return target.elts[place[0]] if is_apart and not has_star else target
