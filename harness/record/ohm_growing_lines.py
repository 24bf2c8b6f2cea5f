"""The line of a function that makes a variable hold more: that appends to it, stores into it, or adds
to it. What has none is made in the line that assigns it last."""
import dis

GROWS = frozenset("add append appendleft extend insert put setdefault update".split())
MOST_INSTRUCTIONS = 20_000


def growing_line(code, name):
    """Of a variable, or of an attribute of one ("self.losses"); 0: it is not known."""
    if code is None or code.co_code is None or len(code.co_code) > 2 * MOST_INSTRUCTIONS:
        return 0
    wanted = name.split("[")[0].rsplit(".", 1)[-1]
    try:
        return find(list(instructions_of(code)), wanted)
    except (ValueError, IndexError):
        return 0


def instructions_of(code):
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        starts = instruction.starts_line
        # Since 3.13 it is a boolean beside the number.
        number = getattr(instruction, "line_number", None) if starts is True else starts
        line = number or line
        yield line, instruction


def find(instructions, wanted):
    assigned = grown = 0
    for index, (line, instruction) in enumerate(instructions):
        if instruction.argval != wanted:
            continue
        following = [one for _, one in instructions[index + 1:index + 3]]
        if instruction.opname.startswith("STORE_"):
            assigned = line
            if is_sum(instructions, index):
                grown = line
        elif any(one.argval in GROWS and one.opname.startswith("LOAD_") for one in following):
            grown = line
        elif stores_item(instructions, index, line):
            grown = line
    return grown or assigned


def is_sum(instructions, index):
    """total += loss, h = f(h): the line that stores it reads it."""
    line, store = instructions[index]
    return any(one.argval == store.argval and one.opname.startswith("LOAD_")
               for at, one in instructions[max(0, index - 40):index] if at == line)


def stores_item(instructions, index, line):
    """cache[key] = value."""
    following = instructions[index + 1:index + 8]
    return any(one.opname == "STORE_SUBSCR" and at == line for at, one in following)
