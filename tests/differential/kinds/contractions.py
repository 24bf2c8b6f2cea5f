"""Sums of products of two tensors and three: by letters, and by the names that products have."""
from random_program import LAYOUTS, Program, options_of

SIZES = (1, 1, 2, 3, 5, 8, 16)
LETTERS = "bcijk"
DTYPES = ("float32", "float32", "float16", "bfloat16", "float64")


def subset(rng, letters, most):
    return "".join(rng.sample(letters, rng.randint(1, min(most, len(letters)))))


def by_letters(program, options, grad):
    rng = program.rng
    size_of = {letter: rng.choice(SIZES) for letter in LETTERS}
    terms = [subset(rng, LETTERS, 4) for _ in range(rng.choice((2, 2, 2, 3)))]
    names = ["x", "w", "v"][:len(terms)]
    for name, term in zip(names, terms):
        sizes = [1 if rng.random() < 0.05 else size_of[letter] for letter in term]
        program.tensor(name, sizes, options + (grad if name == "x" or rng.random() < 0.5 else ""),
                       rng.choice(LAYOUTS))
    used = sorted(set("".join(terms)))
    result = "".join(rng.sample(used, rng.randint(0, min(4, len(used)))))
    program.add(f'y = torch.einsum("{",".join(terms)}->{result}", {", ".join(names)})')


# The shapes of x and w, by letters, and the call.
PRODUCTS = (("ij", "jk", "x @ w"), ("ij", "j", "x @ w"), ("j", "jk", "x @ w"), ("j", "j", "torch.dot(x, w)"),
            ("ij", "j", "torch.mv(x, w)"), ("i", "j", "torch.outer(x, w)"), ("bij", "bjk", "torch.bmm(x, w)"),
            ("bij", "jk", "x @ w"), ("bij", "j", "x @ w"), ("j", "bjk", "x @ w"), ("bcij", "bcjk", "x @ w"),
            ("bij", "ij", "torch.tensordot(x, w, dims=2)"), ("ij", "jk", "torch.tensordot(x, w, dims=1)"),
            ("ij", "kj", "F.linear(x, w)"), ("bij", "kj", "F.linear(x, w)"),
            ("ij", "ik", "torch.addmm(x @ x.t() @ w, x, x.t() @ w)"), ("bij", "bjk", "torch.baddbmm(x @ w, x, w)"))


def by_name(program, options, grad):
    rng = program.rng
    left, right, call = rng.choice(PRODUCTS)
    size_of = {letter: rng.choice(SIZES) for letter in LETTERS}
    for name, term in (("x", left), ("w", right)):
        program.tensor(name, [size_of[letter] for letter in term],
                       options + (grad if name == "x" or rng.random() < 0.5 else ""), rng.choice(LAYOUTS))
    program.add(f"y = {call}")


def contracted_program(rng):
    """Products of tensors that lie anyhow, with dimensions of size 1 among theirs, and their gradients."""
    program = Program(rng)
    options, grad = options_of(rng, DTYPES)
    rng.choice((by_letters, by_letters, by_name))(program, options, grad)
    program.add("layout(y)")
    if grad:
        program.backward("y")
    return program.lines
