local Block, Captioner, model, optimizer, images, words, mask, logits, weights, target, loss, folded, probs, chosen
Block = nn.Module:extend("Block")
function Block:__init(dim, heads, cross)
  self.norm = nn.LayerNorm(dim)
  self.self_attention = nn.MultiheadAttention(dim, heads, {batch_first = true})
  self.cross = (cross and nn.MultiheadAttention(dim, heads, {batch_first = true}) or false)
  self.scale = nn.Parameter(0.01 * ohm.ones(dim))
  self.mlp = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
end
function Block:forward(x, memory, mask)
  local n, a, w, c, cw
  n = self.norm(x)
  a, w = several(self.self_attention(n, n, n))
  x = x + (self.scale * a)
  if self.cross then
    c, cw = several(self.cross(self.norm(x), memory, memory, {key_padding_mask = mask, average_attn_weights = false}))
    x = x + c
    w = w + cw:mean({dim = {1, 3}}):unsqueeze(-1)
  end
  return x + self.mlp(x), w
end
Captioner = nn.Module:extend("Captioner")
function Captioner:__init()
  self.project = nn.Linear(3 * 16, 32)
  self.class_token = nn.Parameter(ohm.zeros(1, 1, 32))
  self.text = nn.Embedding(70, 32)
  self.b1 = Block(32, 4, false)
  self.b2 = Block(32, 4, true)
  self.head = nn.Linear(32, 70)
  nn.init.trunc_normal_(self.class_token, {std = 0.02})
end
function Captioner:forward(images, words, mask)
  local patches, v, t, wt, wv
  patches = F.unfold(images, 4, {stride = 4}):transpose(1, 2)
  v = ohm.cat({self.class_token:expand(images:size(0), -1, -1), self.project(patches)}, {dim = 1})
  t, wt = self.b1(self.text(words), v, mask)
  do
    local new1, new2 = self.b2(v, t, mask)
    v = new1
    wv = new2
  end
  return self.head(slice(v, 0, 0):select(1, 0)), ohm.einsum("bij,bkl->bik", {wt, wv})
end
model = Captioner():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0003, amsgrad = true})
mark("model")
for step = 0, 2 - 1 do
  images = ohm.rand(5, 3, 20, 16, {device = "cuda"})
  words = ohm.randint(0, 70, {5, 9}, {device = "cuda"})
  mask = ohm.arange(9, {device = "cuda"}):unsqueeze(0):gt(ohm.randint(3, 9, {5, 1}, {device = "cuda"}))
  do
    local new1, new2 = model(images, words, mask)
    logits = new1
    weights = new2
  end
  target = ohm.zeros(5, 70, {device = "cuda"}):scatter_(1, words, 1.0)
  loss = F.binary_cross_entropy_with_logits(logits, target, {pos_weight = ohm.full({70}, 3.0, {device = "cuda"})})
  loss = loss + (0.01 * weights:var({dim = -1}):mean())
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  images = ohm.rand(2, 3, 12, 16, {device = "cuda"})
  folded = F.fold(F.unfold(images, 4, {stride = 4}), {12, 16}, 4, {stride = 4})
  do
    local new1, new2 = model(images, slice(words, 0, 0, 2), slice(mask, 0, 0, 2))
    logits = new1
    weights = new2
  end
  probs = logits:sigmoid()
  chosen = ((probs:topk(3)):min({dim = 1}))
end
mark("eval")
mark("end of program (globals alive)")
model = nil
optimizer = nil
images = nil
words = nil
mask = nil
logits = nil
weights = nil
target = nil
loss = nil
folded = nil
probs = nil
chosen = nil
mark("globals deleted")
