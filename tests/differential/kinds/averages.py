"""What programs do around an optimizer: groups that come later, averages of weights, vectors."""
from random_program import LAYOUTS, options_of, Program

UTILS = "torch.optim.swa_utils"
AVERAGES = ("", f", avg_fn={UTILS}.get_ema_avg_fn(0.9)", f", multi_avg_fn={UTILS}.get_ema_multi_avg_fn(0.9)",
            f", avg_fn={UTILS}.get_swa_avg_fn()", f", multi_avg_fn={UTILS}.get_swa_multi_avg_fn()")
SCHEDULERS = ("CyclicLR(opt, base_lr=0.01, max_lr=0.1, step_size_up=2, cycle_momentum=False)",
              "ChainedScheduler([torch.optim.lr_scheduler.StepLR(opt, 1)])")
LAYERS = ("nn.Linear(8, 8)", "nn.BatchNorm1d(8)", "nn.LayerNorm(8)", "nn.Dropout1d(0.5)", "nn.AlphaDropout(0.5)",
          "nn.SELU()")


def around(rng):
    """Statements between a backward pass and a step."""
    return rng.choice((
        ["t = nn.utils.get_total_norm(m.parameters())"],
        ["t = nn.utils.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)"],
        ["v = nn.utils.parameters_to_vector(m.parameters())"],
        ["v = nn.utils.parameters_to_vector(m.parameters()).detach() * 0.9",
         "nn.utils.vector_to_parameters(v, m.parameters())"],
        ['n = m.get_submodule("0")(x)'], []))


def averaging_program(rng):
    """A model that is trained, one whose weights are averages of its own, and groups added late."""
    program = Program(rng)
    layers = ", ".join(rng.choice(LAYERS) for _ in range(rng.randint(1, 2)))
    program.add(f'm = nn.Sequential(nn.Linear(8, 8), {layers}).to("cuda")')
    program.add('head = nn.Linear(8, 4, device="cuda")')
    buffers = ", use_buffers=True" if rng.random() < 0.2 else ""
    has_average = rng.random() < 0.7
    if has_average:
        program.add(f"a = {UTILS}.AveragedModel(m{rng.choice(AVERAGES)}{buffers})")
    optimizer = rng.choice(("SGD({}, lr=0.1, momentum=0.9)", "Adam({})", "AdamW({}, foreach=False)", "RMSprop({})"))
    program.add(f"opt = torch.optim.{optimizer.format('m.parameters()')}")
    if rng.random() < 0.6:
        program.add('opt.add_param_group({"params": head.parameters(), "lr": 0.01})')
    way = rng.random()
    if way < 0.3:
        program.add(f"s = torch.optim.lr_scheduler.{rng.choice(SCHEDULERS)}")
    elif way < 0.5:
        program.add(f"s = {UTILS}.SWALR(opt, swa_lr=0.05, anneal_epochs=2)")
    program.add('x = torch.randn(16, 8, device="cuda")')
    for _ in range(rng.randint(1, 3)):
        program.add("loss = head(m(x)).pow(2).mean()")
        program.add("loss.backward()")
        for line in around(rng):
            program.add(line)
        program.add("opt.step()")
        if way < 0.5:
            program.add("s.step()")
        if has_average and rng.random() < 0.8:
            program.add("a.update_parameters(m)")
        program.add(rng.choice(("opt.zero_grad()", "opt.zero_grad(set_to_none=False)")))
    if has_average and rng.random() < 0.4:
        program.add("with torch.no_grad(): y = a(x)")
    return program.lines


DROPS = ((3, "F.dropout1d(x, 0.5, True)"), (2, "F.dropout1d(x, 0.5, True)"),
         (2, "F.alpha_dropout(x, 0.5, True)"), (4, "F.alpha_dropout(x, 0.3, True)"), (3, "nn.Dropout1d(0.5)(x)"),
         (2, "nn.AlphaDropout(0.5)(x)"), (2, "F.multilabel_soft_margin_loss(x, w)"),
         (2, 'F.multilabel_soft_margin_loss(x, w, reduction="none")'),
         (2, 'F.multilabel_soft_margin_loss(x, w, weight=w[0], reduction="sum")'))


def dropped_program(rng):
    """Dropout of lines and of SELU's, a loss of several labels."""
    program = Program(rng)
    options, grad = options_of(rng, ("float32", "float32", "float16", "bfloat16", "float64"))
    dims, call = rng.choice(DROPS)
    shape = [rng.choice((1, 2, 5)), rng.choice((3, 8)), *(rng.choice((4, 7, 9)) for _ in range(dims - 2))]
    program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    program.tensor("w", shape, options, "plain")
    program.add(f"y = {call}")
    program.add("layout(y)")
    if grad:
        program.backward("y")
    return program.lines
