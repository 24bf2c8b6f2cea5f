"""Random programs with recurrent layers."""
from random_program import LAYOUTS, Program, options_of

RECURRENT = ("LSTM", "LSTM", "GRU", "RNN")


def recurrent_layer(rng, kind, options):
    """The text of a layer, with its sizes: of what goes in, of the states, layers in both directions."""
    size, hidden, layers = rng.choice((4, 16, 24)), rng.choice((8, 20, 32)), rng.choice((1, 1, 2, 3))
    ways = rng.choice((1, 1, 2))
    texts = [f"{size}, {hidden}", f"num_layers={layers}" if layers > 1 else "",
             "bidirectional=True" if ways == 2 else "", 'nonlinearity="relu"' if kind == "RNN" and
             rng.random() < 0.5 else "", "bias=False" if rng.random() < 0.2 else "",
             "batch_first=True" if rng.random() < 0.4 else "", options]
    return f"nn.{kind}({', '.join(text for text in texts if text)})", size, (layers * ways, hidden)


def recurrent_call(rng, kind, given, states, has_states):
    """A call of the layer; with states that were given, or those of the call before."""
    given_states = ""
    if states or has_states:
        way = rng.choice(("", "first", "last") if has_states else ("", "first"))
        if way == "first" and states:
            given_states = ", (h0, c0)" if kind == "LSTM" else ", h0"
        elif way == "last" and has_states:
            given_states = ", (h.detach(), c.detach())" if kind == "LSTM" else ", h.detach()"
    return f"y, {'(h, c)' if kind == 'LSTM' else 'h'} = m({given}{given_states})"


def recurrent_gradient(rng, kind, is_packed):
    parts = rng.choice((["y"], ["y", "h"], ["h"], ["y", "h", "c"]))
    if kind != "LSTM":
        parts = [part for part in parts if part != "c"]
    if is_packed:
        parts = ["z" if part == "y" else part for part in parts]
    sums = [rng.choice((f"{part}.sum()", f"({part} * {part}).sum()", f"{part}.mean()")) for part in parts]
    return f"l = {' + '.join(sums)}"


def recurrent_program(rng):
    """Recurrent layers of cuDNN's: calls with and without a graph, states, packed sequences."""
    program = Program(rng)
    program.add("torch.backends.cudnn.enabled = True")
    kind = rng.choice(RECURRENT)
    options, grad = options_of(rng, ("float32", "float32", "float16", "bfloat16", "float64"))
    dtype = options.removeprefix('device="cuda"').removeprefix(", ")
    is_moved = rng.random() < 0.5
    layer, size, (count, hidden) = recurrent_layer(rng, kind, dtype if is_moved else options)
    program.add(f"m = {layer}" + ('.to("cuda")' if is_moved else ""))
    batch, steps = rng.choice((1, 2, 3)), rng.choice((1, 4, 5))
    is_packed = rng.random() < 0.25
    shape = [batch, steps, size] if "batch_first" in layer else [steps, batch, size]
    program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    has_first = rng.random() < 0.4
    if has_first:
        for name in ("h0", "c0")[:2 if kind == "LSTM" else 1]:
            wants = rng.choice(("", ", requires_grad=True"))
            program.add(f"{name} = torch.randn({count}, {batch}, {hidden}, {options}{wants})")
    if rng.random() < 0.2:
        program.add("import copy")
        program.add("m = copy.deepcopy(m)")
    if rng.random() < 0.2:
        program.add(f"o = torch.optim.{rng.choice(('SGD(m.parameters(), lr=0.1)', 'Adam(m.parameters())'))}")
    if rng.random() < 0.1:
        again = 'm = m.to("cuda")'
        program.add(rng.choice(("m.requires_grad_(False)", again, again if dtype else "m = m.half().float()")))
    if is_packed:
        lengths = sorted((rng.randint(1, steps) for _ in range(batch)), reverse=rng.random() < 0.5)
        lengths[0 if lengths[0] >= lengths[-1] else -1] = steps
        sorts = "" if lengths == sorted(lengths, reverse=True) else ", enforce_sorted=False"
        first = ", batch_first=True" if "batch_first" in layer else ""
    has_states = False
    for _ in range(rng.randint(1, 3)):
        given = "x"
        if is_packed:
            program.add(f"p = nn.utils.rnn.pack_padded_sequence(x, {lengths}{first}{sorts})")
            given = "p"
        call = recurrent_call(rng, kind, given, has_first, has_states)
        way = rng.random()
        if way < 0.15:
            program.add(f"with torch.no_grad(): {call}")
            has_states = True
            continue
        if way < 0.25 and not dtype:
            half = rng.choice(("float16", "bfloat16"))
            call = recurrent_call(rng, kind, given, has_first, False)
            program.add(f'with torch.autocast("cuda", dtype=torch.{half}): {call}')
            has_states = False
        else:
            program.add(call)
            has_states = False
        if is_packed:
            # Padding looks up the lengths of sequences that were sorted, by values of the GPU.
            program.add("z = y.data * 2" if sorts else f"z, n = nn.utils.rnn.pad_packed_sequence(y{first})")
        else:
            program.add("layout(y)")
        if rng.random() < 0.7:
            program.add(recurrent_gradient(rng, kind, is_packed))
            if grad or "requires_grad_(False)" not in "".join(program.lines):
                keeps = rng.choice(("", "", "", "retain_graph=True"))
                program.add(f"l.backward({keeps})")
                if keeps:
                    program.add("l.backward()")
            if any(line.startswith("o =") for line in program.lines):
                program.add(rng.choice(("o.step()", "o.zero_grad()", "m.zero_grad(set_to_none=False)")))
    return program.lines
