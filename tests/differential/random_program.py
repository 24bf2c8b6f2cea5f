"""What random programs are made of: their lines, and tensors of any layout."""
SIZES = (1, 1, 2, 3, 5, 7, 8, 16)
LAYOUTS = ("plain", "plain", "transposed", "sliced", "expanded", "last", "view of view")


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.lines = []

    def add(self, line):
        self.lines.append(line)

    # Statements that may run out of memory, and what is done where they do.
    def attempt(self, body, handler):
        self.add("\n    ".join(["try:", *body]) + "\n" +
                 "\n    ".join(["except torch.OutOfMemoryError as error:", *handler]))

    # A tensor of this shape, by one of the layouts, under a name; the leaf has `0` behind it.
    def tensor(self, name, shape, options, layout):
        shape, dims = list(shape), len(shape)
        leaf = f"{name}0"

        def make(sizes):
            self.add(f"{leaf} = torch.randn({', '.join(map(str, sizes))}, {options})")

        if layout == "transposed" and dims > 1:
            a, b = self.rng.sample(range(dims), 2)
            shape[a], shape[b] = shape[b], shape[a]
            make(shape)
            self.add(f"{name} = {leaf}.transpose({a}, {b})")
        elif layout == "sliced":
            dim = self.rng.randrange(dims)
            size = shape[dim]
            shape[dim] = size + 2
            make(shape)
            self.add(f"{name} = {leaf}.narrow({dim}, 1, {size})")
        elif layout == "expanded":
            dim = self.rng.randrange(dims)
            wide, shape[dim] = list(shape), 1
            make(shape)
            self.add(f"{name} = {leaf}.expand({', '.join(map(str, wide))})")
        elif layout == "last" and dims > 2:
            make([shape[0], *shape[2:], shape[1]])
            order = [0, dims - 1, *range(1, dims - 1)]
            self.add(f"{name} = {leaf}.permute({', '.join(map(str, order))})")
        elif layout == "view of view" and dims > 1:
            shape[0], shape[1] = shape[1], shape[0]
            shape[-1] += 1
            make(shape)
            size = shape[-1] - 1
            self.add(f"{name} = {leaf}.narrow({dims - 1}, 1, {size}).transpose(0, 1)")
        else:
            self.add(f"{name} = torch.randn({', '.join(map(str, shape))}, {options})")
            return name
        return leaf

    # A gradient comes back in one of the layouts that gradients have.
    def backward(self, result):
        way = self.rng.choice(("sum", "ones", "transposed", "sliced", "scaled", "none"))
        if way == "sum":
            self.add(f"{result}.sum().backward()")
        elif way == "ones":
            self.add(f"g = torch.ones_like({result})")
            self.add(f"{result}.backward(g)")
        elif way == "transposed":
            self.add(f"z = {result}.transpose(0, -1).contiguous()")
            self.add("z.backward(torch.ones_like(z))")
        elif way == "sliced":
            self.add(f"z = torch.cat([{result}, {result}], dim=-1)")
            self.add("z.backward(torch.ones_like(z))")
        elif way == "scaled":
            self.add(f"z = {result} * 2.0")
            self.add("z.mean().backward()")


def shape_of(rng, dims):
    return [rng.choice(SIZES) for _ in range(dims)]


def options_of(rng, dtypes=("float32", "float32", "float32", "float16", "bfloat16", "float64")):
    dtype = rng.choice(dtypes)
    named = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    grad = ", requires_grad=True" if rng.random() < 0.85 else ""
    return f'device="cuda"{named}', grad
