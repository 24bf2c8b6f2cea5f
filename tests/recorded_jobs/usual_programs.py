"""The models and loops that usual_jobs.py and usual_training_jobs.py put into their jobs."""
from jobs import HEAD

# A transformer that generates, too.
LANGUAGE = HEAD + '''

class Attention(nn.Module):
    def __init__(self, width=256, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, cache=None):
        n, t, c = x.shape
        q, k, v = (y.view(n, t, self.heads, -1).transpose(1, 2)
                   for y in self.qkv(x).chunk(3, dim=-1))
        if cache is not None:
            if cache:
                k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
            cache["k"], cache["v"] = k, v
        scores = (q @ k.transpose(-2, -1) / 8).softmax(-1)
        return self.out((scores @ v).transpose(1, 2).reshape(n, t, c))


class Block(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, words=2048, width=256, layers=4):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.head = nn.Linear(width, words)

    def forward(self, tokens, caches=None):
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return self.head(x)


def batch(n=16, length=128):
    return torch.randint(0, 2048, (n, length), device="cuda")


def loss_of(model, tokens):
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


'''

IMAGES = HEAD + '''

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64),
                                  nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(64, 100)

    def features(self, images):
        return self.body(self.stem(images)).mean((2, 3))

    def forward(self, images):
        return self.head(self.features(images))


def batch(n=64):
    return torch.randn(n, 3, 32, 32, device="cuda"), torch.randint(0, 100, (n,), device="cuda")


'''

FUNCTIONAL = '''

norms = [nn.LayerNorm(512).cuda() for _ in range(12)]
layers = [nn.Linear(512, 512).cuda() for _ in range(12)]


def run(x):
    for norm, layer in zip(norms, layers):
        y = layer(norm(x))
        x = x + F.gelu(y)
    return x


'''

TRAINED = '''
    tokens = batch()
    loss = loss_of(model, tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''
FITTED = '''
    images, labels = batch()
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''


def language(before, loop, after="", steps=8):
    return f"{LANGUAGE}{before.strip()}\nfor step in range({steps}):{loop}\n{after}"


def images(before, loop, after="", steps=8):
    return f"{IMAGES}{before.strip()}\nfor step in range({steps}):{loop}\n{after}"


GPT_SGD = '''
model = GPT().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
'''
GPT_ADAMW = '''
model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters())
'''
NET_SGD = '''
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
'''
