"""What statements of every form let go right behind a call: variables, elements and fields."""
CALLS = ("{a} * 1.5", "{a} + {b}", "1.0 - {a}", "-{a}", "torch.tanh({a})", "{a}.exp()", "F.relu({a})",
         "linear({a})", "act({a})", "F.dropout({a}, 0.5)", "({a} + 1.0) * {b}", "{a}.sort()[0]",
         "F.layer_norm({a}, (300,))", "{a}.clone()", "twice({a})", "{a}.chunk(2)[0].repeat(2, 1)")
TWICE = "def twice(h):\n    g = h * 2.0\n    h = torch.sigmoid(g)\n    return h + 1.0"


class Drops:
    """Statements of one scope, the module or a function, whose variables are v0, v1, …; `kept` is a list."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.variables = ["v0", "v1"]
        self.made = 2
        self.kept = 0

    def any(self):
        return self.rng.choice(self.variables)

    def call(self):
        return self.rng.choice(CALLS).format(a=self.any(), b=self.any())

    def target(self):
        if self.rng.random() < 0.5:
            return self.any()
        self.made += 1
        return f"v{self.made - 1}"

    def assign(self, *targets):
        targets = list(dict.fromkeys(targets))
        self.lines.append(f"{', '.join(targets)} = {', '.join(self.call() for _ in targets)}")
        self.variables += [name for name in targets if name not in self.variables]

    def move(self):
        value, name = self.any(), self.target()
        self.lines.append(f"{name} = {value}")
        self.variables += [name] if name not in self.variables else []

    def exchange(self):
        if len(self.variables) > 1:
            one, other = self.rng.sample(self.variables, 2)
            self.lines.append(f"{one}, {other} = {self.call()}, {one}")

    def drop(self):
        if len(self.variables) > 1:
            self.lines.append(f"del {self.variables.pop(self.rng.randrange(len(self.variables)))}")

    def drop_several(self):
        names = [self.variables.pop(self.rng.randrange(len(self.variables)))
                 for _ in range(min(3, len(self.variables) - 1))]
        self.lines += [f"del {', '.join(names)}"] if names else []

    def keep(self):
        self.lines.append(f"kept.append({self.call()})")
        self.kept += 1

    def replace_kept(self):
        self.lines.append(f"kept[{self.rng.randrange(self.kept)}] = {self.call()}" if self.kept
                          else f"kept = [{self.call()}, {self.any()}]")
        self.kept = self.kept or 2

    def empty_kept(self):
        self.lines.append("kept = []")
        self.kept = 0

    def store(self):
        self.lines.append(f'state["{self.rng.choice("abc")}"] = {self.call()}')

    def empty_state(self):
        self.lines.append("state = {}")

    def loop(self):
        name, other = self.any(), self.any()
        self.lines.append(f"for i in range({self.rng.randint(1, 3)}):\n    {name} = {self.call()}\n    {other} = {self.call()}")

    def function(self):
        """Of the program's own, and a call of it."""
        inner = Drops(self.rng)
        inner.lines.append("kept = []")
        for _ in range(self.rng.randint(2, 6)):
            self.rng.choice((inner.assign_one, inner.assign_one, inner.move, inner.drop, inner.exchange, inner.keep,
                             inner.replace_kept, inner.empty_kept))()
        name = f"step{len(self.lines)}"
        targets = list(dict.fromkeys(self.target() for _ in range(self.rng.randint(1, 2))))
        results = ", ".join(self.rng.choice((inner.any(), inner.call())) for _ in targets)
        body = "\n    ".join([*inner.lines, f"return {results}"])
        self.lines.append(f"def {name}(v0, v1):\n    {body}")
        self.lines.append(f"{', '.join(targets)} = {name}({self.any()}, {self.call()})")
        self.variables += [name for name in targets if name not in self.variables]

    def without_graph(self):
        self.lines.append(f"with torch.no_grad():\n    {self.any()} = {self.call()}\n    {self.any()} = {self.call()}")

    def set_field(self):
        self.lines.append(f"box.{self.rng.choice('abc')} = {self.call()}")

    def assign_one(self):
        self.assign(self.target())

    def back(self):
        self.lines += [f"s = ({self.any()} * {self.any()}).sum()", "if s.requires_grad:\n    s.backward()", "del s"]

    def step(self):
        form = self.rng.choice((self.move, self.exchange, self.drop, self.drop, self.drop, self.drop_several, self.keep,
                                self.replace_kept, self.empty_kept, self.store, self.empty_state, self.loop,
                                self.function, self.without_graph, self.set_field, *[self.assign_one] * 5,
                                lambda: self.assign(self.target(), self.target())))
        form()


def drops_program(rng):
    drops = Drops(rng)
    grad = rng.choice((", requires_grad=True", ""))
    drops.lines += ["linear = nn.Linear(300, 300).to(\"cuda\")", "act = nn.GELU()", TWICE,
                    f'v0 = torch.randn(48, 300, device="cuda"{grad})', 'v1 = torch.randn(48, 300, device="cuda")',
                    "kept = []", "state = {}", "class Box:\n    def __init__(self):\n        self.number = 1", "box = Box()"]
    for _ in range(rng.randint(4, 12)):
        drops.step()
    if rng.random() < 0.5:
        drops.back()
    return drops.lines
