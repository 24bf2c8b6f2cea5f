"""Recurrent layers of one sequence, without a batch, with projections, and cells step by step."""
from random_program import options_of, Program

CUDNN = "torch.backends.cudnn.enabled = True"


def drawn(rng, name, sizes, options, wants_gradient):
    wants = ", requires_grad=True" if wants_gradient else ""
    return f"{name} = torch.randn({', '.join(map(str, sizes))}, {options}{wants})"


def layer_of(rng, kind, options, may_drop):
    """The text of a layer, and the sizes of its input, states and cells. cuDNN's dropout outlives a program."""
    size, hidden, layers = rng.choice((4, 16)), rng.choice((8, 20)), rng.choice((1, 1, 2))
    ways = rng.choice((1, 1, 2))
    projection = rng.choice((0, 3, 6)) if kind == "LSTM" else 0
    texts = [f"{size}, {hidden}", f"num_layers={layers}" if layers > 1 else "",
             "bidirectional=True" if ways == 2 else "", f"proj_size={projection}" if projection else "",
             "dropout=0.5" if may_drop and layers > 1 and rng.random() < 0.3 else "",
             "bias=False" if rng.random() < 0.2 else "",
             "batch_first=True" if rng.random() < 0.4 else "", options]
    text = f"nn.{kind}({', '.join(text for text in texts if text)})"
    return text, size, [layers * ways, projection or hidden], [layers * ways, hidden]


def sequence_program(rng):
    """Calls of a layer on a sequence with a batch or without, by cuDNN or step by step."""
    program = Program(rng)
    kind = rng.choice(("LSTM", "LSTM", "GRU", "RNN"))
    options, grad = options_of(rng, ("float32", "float32", "float16", "float64"))
    is_by_cudnn = rng.random() < 0.6
    if is_by_cudnn:
        program.add(CUDNN)
    layer, size, states, cells = layer_of(rng, kind, options, not is_by_cudnn)
    program.add(f"m = {layer}")
    batch, steps = rng.choice((0, 0, 0, 2)), rng.choice((1, 4))
    shape = [steps, size]
    if batch:
        shape.insert(0 if "batch_first" in layer else 1, batch)
        states.insert(1, batch)
        cells.insert(1, batch)
    program.tensor("x", shape, options + grad, rng.choice(("plain", "plain", "transposed", "sliced")))
    first = ""
    if rng.random() < 0.4:
        program.add(drawn(rng, "h0", states, options, rng.random() < 0.5))
        first = ", h0"
        if kind == "LSTM":
            program.add(drawn(rng, "c0", cells, options, rng.random() < 0.5))
            first = ", (h0, c0)"
    results = "y, (h, c)" if kind == "LSTM" else "y, h"
    for _ in range(rng.randint(1, 2)):
        call = f"{results} = m(x{rng.choice((first, ''))})"
        if rng.random() < 0.2:
            program.add("m.eval()" if rng.random() < 0.3 and not is_by_cudnn else "m.train()")
        if rng.random() < 0.2:
            program.add(f"with torch.no_grad(): {call}")
            continue
        program.add(call)
        program.add("layout(y)")
        program.add("layout(h)")
        parts = rng.choice((["y"], ["y", "h"], ["h"]))
        program.add("l = " + " + ".join(rng.choice((f"{part}.sum()", f"({part} * {part}).sum()"))
                                        for part in parts))
        program.add("l.backward()")
    return program.lines


def cell_program(rng):
    """Steps of a cell whose state goes from one to the next."""
    program = Program(rng)
    kind = rng.choice(("LSTMCell", "GRUCell", "RNNCell"))
    options, grad = options_of(rng, ("float32", "float16", "float64"))
    size, hidden = rng.choice((4, 16)), rng.choice((8, 20))
    bias = ", bias=False" if rng.random() < 0.2 else ""
    program.add(f"m = nn.{kind}({size}, {hidden}{bias}, {options})")
    batch = rng.choice(([], [], [3]))
    program.tensor("x", [*batch, size], options + grad, rng.choice(("plain", "sliced")))
    is_pair = kind == "LSTMCell"
    results = "h, c" if is_pair else "h"
    given = ""
    if rng.random() < 0.5:
        program.add(drawn(rng, "h", [*batch, hidden], options, rng.random() < 0.5))
        if is_pair:
            program.add(drawn(rng, "c", [*batch, hidden], options, rng.random() < 0.5))
        given = ", (h, c)" if is_pair else ", h"
    for _ in range(rng.randint(1, 3)):
        program.add(f"{results} = m(x{given})")
        given = ", (h, c)" if is_pair else ", h"
    program.add("layout(h)")
    program.add(rng.choice(("l = h.sum()", "l = (h * h).sum()")))
    program.add("l.backward()")
    return program.lines


def unbatched_program(rng):
    return cell_program(rng) if rng.random() < 0.3 else sequence_program(rng)
