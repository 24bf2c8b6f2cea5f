"""Learning rates that a program sets where a branch says so (ohm_use_search.py)."""
import ast

from ohm_use_files import targets_of
from ohm_use_frames import running, value_in
from ohm_use_kinds import NUMBER, computes, worse


class Rates:
    """Of Search."""

    def of_rates(self, file, setting, rate):
        """Of learning rates that depend on a value: the next step makes them numbers that tell themselves. rate: what
        is set in this statement."""
        frame = running(file, setting, self.frame)
        optimizer = optimizer_of(file, rate, frame)
        self.uses.on_rates(optimizer)
        before = self.made, self.is_followed
        self.is_followed, found = False, None
        for node in file.items_of("lr", file.scope(setting)):
            other = optimizer_of(file, node, running(file, node, self.frame))
            is_of_other = None not in (optimizer, other) and not shares_groups(other, optimizer)
            if not is_of_other and not is_for_rate(file.parents, node):
                self.made = NUMBER
                found = worse(found, self._outwards(file, node, None))
        self.made, self.is_followed = before
        return found


def shares_groups(optimizer, other):
    return any(one is another for one in optimizer.param_groups for another in other.param_groups)


def sets_rates(statement):
    """Whether it only sets learning rates of an optimizer's groups: in a loop over them, or of one of them."""
    if isinstance(statement, ast.For):
        group = ast.unparse(statement.target)
        return are_groups(statement.iter) and all(sets_rate(one, lambda of: ast.unparse(of) == group)
                                                  for one in statement.body)
    return sets_rate(statement, lambda of: isinstance(of, ast.Subscript) and are_groups(of.value))


def is_for_rate(parents, node):
    """Whether an expression is part of what becomes a learning rate."""
    while isinstance(node, ast.expr):
        node = parents[node]
    return isinstance(node, (ast.Assign, ast.AugAssign)) and all(map(names_rate, targets_of(node)))


def is_rate(parents, target):
    """Whether it is the learning rate of one of an optimizer's groups."""
    if not names_rate(target):
        return False
    if isinstance(target.value, ast.Subscript):
        return are_groups(target.value.value)
    loop = parents[target]
    while loop is not None and not (isinstance(loop, ast.For) and are_groups(loop.iter)):
        loop = parents.get(loop)
    return loop is not None and ast.unparse(loop.target) == ast.unparse(target.value)


def optimizer_of(file, node, frame):
    """The one whose groups an expression or a statement has to do with; None: it is not known. frame: one that runs
    it."""
    groups = [part for part in ast.walk(node) if are_groups(part)]
    around = file.parents.get(node)
    while around is not None and not groups:
        groups = [loop.iter for loop in getattr(around, "generators", [around])
                  if are_groups(getattr(loop, "iter", None))]
        around = file.parents.get(around)
    owners = [value_in(frame, one.value) for one in groups] if frame is not None else []
    is_known = bool(owners) and all(owner is owners[0] for owner in owners) and (
        isinstance(getattr(owners[0], "__dict__", {}).get("param_groups"), list))
    return owners[0] if is_known else None


def names_rate(node):
    return isinstance(node, ast.Subscript) and getattr(node.slice, "value", "") == "lr"


def are_groups(node):
    return isinstance(node, ast.Attribute) and node.attr == "param_groups"


def sets_rate(statement, is_group):
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or computes(statement.value):
        return False
    return all(names_rate(target) and is_group(target.value) for target in targets_of(statement))
