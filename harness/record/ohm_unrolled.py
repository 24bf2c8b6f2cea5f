"""Loops whose graphs are meant to last until a backward pass behind the loop: backpropagation through
time, and inner loops of meta-learning. What they make more in each pass is no leak (ohm_growing_lines)."""
import ast

from ohm_use_files import name_of

BACKWARDS = frozenset("backward manual_backward grad".split())
COLLECTS = frozenset("append extend insert add".split())


def is_unrolled(loop, part, what):
    """Of a variable that holds more in each pass of the loop, in a function or a module."""
    if makes_graphs_of_gradients(loop) and getattr(what, "name", "") in hands_on(loop):
        return True
    return begins_with_a_state(loop, part) and is_differentiated_behind(loop, part, what)


def makes_graphs_of_gradients(loop):
    """torch.autograd.grad(loss, weights, create_graph=True), of the weights of the pass before."""
    calls = [one for one in ast.walk(loop) if isinstance(one, ast.Call)]
    return any(is_true(one, "create_graph") for one in calls)


def is_true(call, name):
    return any(one.arg == name and isinstance(one.value, ast.Constant) and one.value.value is True
               for one in call.keywords)


def begins_with_a_state(loop, part):
    """output, state = model(x, state), where the state begins anew before each run of the loop."""
    outer = enclosing_loop(loop, part) or part
    begun = {name for node in assignments_in(outer) if not is_within(node, loop) and node.lineno < loop.lineno
             for name in names_assigned(node)}
    return any(name in begun for name in hands_on(loop))


def hands_on(loop):
    """Names that a pass makes of themselves by a call, or of each of their items; x = x.cuda() of what
    the loop goes through is none."""
    passed = names_in(loop.target) if isinstance(loop, (ast.For, ast.AsyncFor)) else ()
    for node in assignments_in(loop):
        read = {name for one in ast.walk(node.value) if isinstance(one, (ast.Call, ast.DictComp, ast.ListComp))
                for name in names_in(one)}
        yield from (name for name in names_assigned(node) if name in read and name not in passed)


def is_differentiated_behind(loop, part, what):
    """loss = torch.stack(losses).mean(); loss.backward()"""
    found = set()

    def is_made_of_it(node):
        return any(what.is_in(one) or isinstance(one, ast.Name) and one.id in found for one in ast.walk(node))

    before = -1
    while len(found) != before:
        before = len(found)
        for node in ast.walk(part):
            found |= {name for name in names_from(node, is_made_of_it)}
    calls = [one for one in ast.walk(part) if isinstance(one, ast.Call) and name_of(one) in BACKWARDS]
    return any(one.lineno > loop.end_lineno and is_made_of_it(one) for one in calls)


def names_from(node, is_made_of_it):
    """That the node gives something made of it."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        return names_assigned(node) if node.value is not None and is_made_of_it(node.value) else ()
    if isinstance(node, ast.For):
        return names_in(node.target) if is_made_of_it(node.iter) else ()
    if isinstance(node, ast.Call) and name_of(node) in COLLECTS and any(map(is_made_of_it, node.args)):
        return names_in(node.func)
    return ()


def assignments_in(node):
    kinds = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)
    return [one for one in ast.walk(node) if isinstance(one, kinds) and one.value is not None]


def names_assigned(node):
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {one.id for target in targets for one in ast.walk(target)
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def names_in(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def is_within(node, outer):
    return outer.lineno <= node.lineno <= outer.end_lineno


def enclosing_loop(loop, part):
    loops = [one for one in ast.walk(part) if isinstance(one, (ast.For, ast.AsyncFor, ast.While))
             and one is not loop and is_within(loop, one)]
    return max(loops, key=lambda one: one.lineno, default=None)
