"""Reading and writing by subscripts: numbers, slices, new dimensions, ids and masks, in any mixture."""
from random_program import LAYOUTS, Program, options_of, shape_of

SLICES = (":", ":", "1:", ":-1", "::2", ":1", "-1:", "0:1")
# Ids of one shape or of shapes that broadcast; all of them choose line 0.
IDS = ((3,), (3,), (1,), (4, 1), (2, 3))


def zeros(program, kind, shape, dtype):
    """The name of an index of this kind and shape, made where it is first wanted."""
    name = kind + "x".join(map(str, shape))
    line = f'{name} = torch.zeros({tuple(shape)}, dtype=torch.{dtype}, device="cuda")'
    if line not in program.lines:
        program.add(line)
    return name


def basic(program, size):
    """A part of one dimension, by a number or a slice that is not empty where the size allows it."""
    rng = program.rng
    return rng.choice(("0", "-1")) if rng.random() < 0.3 else rng.choice(SLICES if size > 1 else (":", "0:1"))


def subscript(program, shape, kinds):
    """Parts for some of the dimensions, of these kinds; the others follow whole."""
    rng, parts, dim = program.rng, [], 0
    taken = rng.randint(1, len(shape))
    wide = rng.choice(IDS)
    while dim < taken:
        kind = rng.choice(kinds)
        if kind == "ids":
            parts.append(zeros(program, "i", wide if rng.random() < 0.7 else (1,) * len(wide), "long"))
        elif kind == "mask" and not any(part.startswith("keep") for part in parts):
            dims = rng.choice((1, 1, 2)) if dim + 2 <= len(shape) else 1
            parts.append(zeros(program, "keep", shape[dim:dim + dims], "bool"))
            dim += dims - 1
        elif kind == "new" and parts.count("None") < 2:
            parts.append("None")
            continue
        else:
            parts.append(basic(program, shape[dim]))
        dim += 1
    if rng.random() < 0.15 and taken < len(shape) and "None" not in parts:
        parts.insert(rng.randint(0, len(parts)), "...")
    # How many dimensions a mask has is not said by its name: it comes last.
    places = [number for number, part in enumerate(parts) if part.startswith("keep")]
    if places:
        parts = [part for part in parts[:places[0] + 1] if part != "..."]
    # A mask chooses nothing where nothing is computed: ids beside it would not broadcast with that.
    if any(part.startswith("keep") for part in parts):
        parts = [part if not part.startswith("i") else ":" for part in parts]
    return ", ".join(parts)


MIXTURES = (("basic", "new"), ("ids",), ("ids", "basic"), ("ids", "basic", "new"), ("mask", "basic"), ("mask",))


def written(program, index, options):
    """A statement that writes to a part of y."""
    rng = program.rng
    value = rng.choice(("0.0", "1", "y[{0}] * 2.0", "y[{0}].detach()", "z", "torch.ones_like(y[{0}])", "one"))
    if value == "z":
        program.add(f"z = y[{index}].detach().clone()")
    if value == "one":
        program.add(f"one = torch.ones((), {options})")
    program.add(f"y[{index}] = {value.format(index)}")


def indexed_program(rng):
    """Parts of a tensor that lies anyhow, read and written, with gradients."""
    program = Program(rng)
    options, grad = options_of(rng)
    shape = shape_of(rng, rng.randint(1, 4))
    program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    index = subscript(program, shape, rng.choice(MIXTURES))
    if rng.random() < 0.5:
        program.add(f"y = x[{index}]")
    else:
        program.add(f"y = {rng.choice(('x * 1.0', 'x.clone()', 'torch.relu(x)'))}")
        written(program, index, options)
        if rng.random() < 0.4:
            written(program, subscript(program, shape, rng.choice(MIXTURES)), options)
    program.add("layout(y)")
    if grad:
        program.backward("y")
    return program.lines
