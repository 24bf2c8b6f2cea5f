-- Written by tests/differential/models.py from tests/differential/models: do not edit.

--== model_alibi_gqa
local RMSNorm, Attention, Block, LM, model, optimizer, ids, labels, loss
RMSNorm = nn.Module:extend("RMSNorm")
function RMSNorm:__init(width, eps)
  if eps == nil then eps = 1e-06 end
  self.weight = nn.Parameter(ohm.ones(width))
  self.eps = eps
end
function RMSNorm:forward(x)
  local dtype
  dtype = x.dtype
  x = x:float()
  x = x * ohm.rsqrt(x:pow(2):mean(-1, {keepdim = true}) + self.eps)
  return (self.weight * x):to(dtype)
end
Attention = nn.Module:extend("Attention")
function Attention:__init(width, heads, kv_heads, window)
  local slopes
  self.heads = heads
  self.kv_heads = kv_heads
  self.window = window
  self.size = width // heads
  self.q = nn.Linear(width, width, {bias = false})
  self.kv = nn.Linear(width, (2 * kv_heads) * self.size, {bias = false})
  self.o = nn.Linear(width, width, {bias = false})
  slopes = ohm.tensor(collect(heads, function(i) return math.pow(2.0, ((-8) * (i + 1)) / heads) end))
  self:register_buffer("slopes", slopes, {persistent = false})
end
function Attention:bias(t, device)
  local position, distance, allowed, bias
  position = ohm.arange(t, {device = device})
  distance = slice(position:unsqueeze(0), 1, 0) - slice(position, 0, 0):unsqueeze(1)
  allowed = (distance:le(0)) & (distance:gt(-self.window))
  bias = slice(self.slopes, 0, 0):unsqueeze(1):unsqueeze(2) * distance:unsqueeze(0)
  return bias:masked_fill(~allowed, -math.huge)
end
function Attention:forward(x)
  local b, t, w, q, k, v, bias, y
  b, t, w = table.unpack(x.shape)
  q = self.q(x):view(b, t, self.heads, self.size):transpose(1, 2)
  k, v = self.kv(x):view(b, t, 2, self.kv_heads, self.size):permute(2, 0, 3, 1, 4):unbind(0)
  k = k:repeat_interleave(self.heads // self.kv_heads, {dim = 1})
  v = v:repeat_interleave(self.heads // self.kv_heads, {dim = 1})
  bias = self:bias(t, x.device):to(q.dtype)
  y = F.scaled_dot_product_attention(q, k, v, {attn_mask = bias:unsqueeze(0), dropout_p = 0.0})
  return self.o(y:transpose(1, 2):reshape(b, t, w))
end
Block = nn.Module:extend("Block")
function Block:__init(width)
  self.n1 = RMSNorm(width)
  self.n2 = RMSNorm(width)
  self.attention = Attention(width, 8, 2, 16)
  self.gate_up = nn.Linear(width, 4 * width, {bias = false})
  self.down = nn.Linear(2 * width, width, {bias = false})
end
function Block:forward(x)
  local gate, up
  x = x + self.attention(self.n1(x))
  gate, up = self.gate_up(self.n2(x)):chunk(2, {dim = -1})
  return x + self.down(F.silu(gate) * up)
end
LM = nn.Module:extend("LM")
function LM:__init(vocabulary, width)
  if width == nil then width = 128 end
  if vocabulary == nil then vocabulary = 300 end
  self.embedding = nn.Embedding(vocabulary, width)
  self.blocks = nn.ModuleList(collect(2, function(_) return Block(width) end))
  self.norm = RMSNorm(width)
  self.head = nn.Linear(width, vocabulary, {bias = false})
  self.head.weight = self.embedding.weight
end
function LM:forward(ids, labels)
  local x, block, logits
  x = self.embedding(ids)
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    x = block(x)
  end
  logits = self.head(self.norm(x)):float()
  if labels == nil then
    return logits
  end
  return F.cross_entropy(slice(slice(logits, 0, 0), 1, 0, -1):reshape(-1, logits:size(-1)), slice(slice(labels, 0, 0), 1, 1):reshape(-1), {ignore_index = -100})
end
model = LM():cuda():bfloat16()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001, fused = true})
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, 300, {4, 64}, {device = "cuda"})
  labels = ids:clone()
  slice(slice(labels, 0, 0), 1, 0, 8):fill_(-100)
  loss = model(ids, labels)
  loss:backward()
  optimizer:step()
  optimizer:zero_grad()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
ids = nil
labels = nil
loss = nil
mark("globals deleted")

--== model_amp_accumulate
local Net, model, decay, no_decay, optimizer, scaler, scheduler, criterion, accumulate, running, x, y, out, loss, norm, average
ohm.backends.cudnn.enabled = true
Net = nn.Module:extend("Net")
function Net:__init()
  self.stem = nn.Sequential(nn.Conv2d(3, 32, 3, {padding = 1, bias = false}), nn.BatchNorm2d(32), nn.ReLU({inplace = true}))
  self.down = nn.Conv2d(32, 64, 3, {stride = 2, padding = 1})
  self.norm = nn.GroupNorm(8, 64)
  self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, 10))
end
function Net:forward(x)
  x = self.stem(x)
  x = F.gelu(self.norm(self.down(x)))
  return self.head(x)
end
model = Net():cuda()
decay = filter_named(model:named_parameters(), function(n, p) return p.ndim > 1 end)
no_decay = filter_named(model:named_parameters(), function(n, p) return p.ndim <= 1 end)
optimizer = ohm.optim.AdamW({{params = decay, weight_decay = 0.05}, {params = no_decay, weight_decay = 0.0}}, {lr = 0.001})
scaler = ohm.amp.GradScaler("cuda", {init_scale = 1024.0})
scheduler = ohm.optim.lr_scheduler.OneCycleLR(optimizer, {max_lr = 0.01, total_steps = 10})
criterion = nn.CrossEntropyLoss({label_smoothing = 0.1})
accumulate = 2
running = ohm.zeros({}, {device = "cuda"})
mark("model")
for step = 0, 6 - 1 do
  x = ohm.randn(8, 3, 24, 24, {device = "cuda"})
  y = ohm.randint(0, 10, {8}, {device = "cuda"})
  do
    local mode1 <close> = ohm.autocast({device_type = "cuda", dtype = ohm.float16})
    out = model(x)
    loss = criterion(out, y) / accumulate
  end
  scaler:scale(loss):backward()
  running = iadd(running, loss:detach())
  if ((step + 1) % accumulate) == 0 then
    scaler:unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model:parameters(), 1.0)
    scaler:step(optimizer)
    scaler:update()
    optimizer:zero_grad({set_to_none = true})
    scheduler:step()
  end
  mark("step " .. step)
end
average = running:item() / 6
mark("done")
mark("end of program (globals alive)")
model = nil
decay = nil
no_decay = nil
optimizer = nil
scaler = nil
scheduler = nil
criterion = nil
running = nil
x = nil
y = nil
out = nil
loss = nil
norm = nil
average = nil
mark("globals deleted")

--== model_anchor_heads
local Head, Detector, giou_loss, focal, model, optimizer, images, cls, box, losses, count, where, target, wanted, cls_loss, box_loss, loss, grads, largest, scores, labels, top, kept
Head = nn.Module:extend("Head")
function Head:__init(channels, classes)
  self.tower = nn.Sequential(nn.Conv2d(channels, 32, 3, {padding = 1}), nn.GroupNorm(4, 32), nn.ReLU())
  self.cls = nn.Conv2d(32, classes, 3, {padding = 1})
  self.box = nn.Conv2d(32, 4, 3, {padding = 1})
  self.scale = nn.Parameter(ohm.ones(1))
end
function Head:forward(x)
  local t
  t = self.tower(x)
  return self.cls(t), F.relu(self.box(t) * self.scale)
end
Detector = nn.Module:extend("Detector")
function Detector:__init(classes)
  self.c1 = nn.Conv2d(3, 24, 3, {stride = 4, padding = 1})
  self.c2 = nn.Conv2d(24, 36, 3, {stride = 2, padding = 1})
  self.c3 = nn.Conv2d(36, 48, 3, {stride = 2, padding = 1})
  self.heads = nn.ModuleList(map(function(c) return Head(c, classes) end, {24, 36, 48}))
end
function Detector:forward(x)
  local features, conv, cls, box, f, head, c, b
  features = {}
  for _, item1 in ipairs({self.c1, self.c2, self.c3}) do
    conv = item1
    x = F.relu(conv(x))
    features[#features + 1] = x
  end
  cls, box = {}, {}
  do
    local list2_2 = self.heads:children()
    for number2, item2 in ipairs(features) do
      f = item2
      head = list2_2[number2]
      do
        local new1, new2 = head(f)
        c = new1
        b = new2
      end
      cls[#cls + 1] = c:permute(0, 2, 3, 1):flatten(1, 2)
      box[#box + 1] = b:permute(0, 2, 3, 1):flatten(1, 2)
    end
  end
  return ohm.cat(cls, {dim = 1}), ohm.cat(box, {dim = 1})
end
function giou_loss(p, t)
  local area_p, area_t, lt, rb, inter, union, hull, iou
  area_p = (slice(p, 0, 0):select(1, 0) + slice(p, 0, 0):select(1, 2)) * (slice(p, 0, 0):select(1, 1) + slice(p, 0, 0):select(1, 3))
  area_t = (slice(t, 0, 0):select(1, 0) + slice(t, 0, 0):select(1, 2)) * (slice(t, 0, 0):select(1, 1) + slice(t, 0, 0):select(1, 3))
  lt = ohm.min(slice(slice(p, 0, 0), 1, 0, 2), slice(slice(t, 0, 0), 1, 0, 2))
  rb = ohm.min(slice(slice(p, 0, 0), 1, 2), slice(slice(t, 0, 0), 1, 2))
  inter = (lt + rb):prod({dim = 1})
  union = (area_p + area_t) - inter
  hull = (ohm.max(slice(slice(p, 0, 0), 1, 0, 2), slice(slice(t, 0, 0), 1, 0, 2)) + ohm.max(slice(slice(p, 0, 0), 1, 2), slice(slice(t, 0, 0), 1, 2))):prod({dim = 1})
  iou = inter / union:clamp({min = 1e-06})
  return 1 - (iou - ((hull - union) / hull:clamp({min = 1e-06})))
end
function focal(logits, target, alpha, gamma)
  local p, ce, p_t
  if gamma == nil then gamma = 2.0 end
  if alpha == nil then alpha = 0.25 end
  p = ohm.sigmoid(logits)
  ce = F.binary_cross_entropy_with_logits(logits, target, {reduction = "none"})
  p_t = (p * target) + ((1 - p) * (1 - target))
  return ((alpha * ((1 - p_t) ^ gamma)) * ce):sum()
end
model = Detector(6):cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0001, weight_decay = 0.05})
mark("model")
for step = 0, 2 - 1 do
  images = ohm.rand(2, 3, 61, 77, {device = "cuda"})
  do
    local new1, new2 = model(images)
    cls = new1
    box = new2
  end
  losses = {}
  for i = 0, 2 - 1 do
    count = (5 + (3 * i)) + step
    where = slice(ohm.randperm(cls:size(1), {device = "cuda"}), 0, 0, count)
    target = ohm.zeros_like(cls:select(0, i))
    target:index_put_({where, ohm.randint(0, 6, {count}, {device = "cuda"})}, ohm.tensor(1.0))
    wanted = ohm.rand(count, 4, {device = "cuda"}) * 9
    cls_loss = focal(cls:select(0, i), target) / count
    box_loss = giou_loss(box:select(0, i):index({where}), wanted):sum() / count
    losses[#losses + 1] = cls_loss + (2.0 * box_loss)
  end
  loss = ohm.stack(losses):mean()
  mark("losses " .. step)
  optimizer:zero_grad()
  loss:backward()
  grads = map(function(p) return p.grad end, filter(model:parameters(), function(p) return p.grad ~= nil end))
  largest = ohm.stack(map(function(g) return g:abs():max() end, grads)):max():item()
  optimizer:step()
  grads = nil
  losses = nil
  mark("step " .. step)
end
model:eval()
do
  local mode5 <close> = ohm.no_grad()
  do
    local new1, new2 = model(ohm.rand(1, 3, 64, 64, {device = "cuda"}))
    cls = new1
    box = new2
  end
  scores, labels = cls:select(0, 0):sigmoid():max({dim = 1})
  top = second(scores:topk(20))
  kept = box:select(0, 0):index({top}):cpu()
end
mark("detected")
mark("end of program (globals alive)")
model = nil
optimizer = nil
images = nil
cls = nil
box = nil
count = nil
where = nil
target = nil
wanted = nil
cls_loss = nil
box_loss = nil
loss = nil
largest = nil
scores = nil
labels = nil
top = nil
kept = nil
mark("globals deleted")

--== model_bag_ranker
local Ranker, listnet, approx_ndcg, model, optimizer, sizes, total, tokens, offsets, slots, relevance, scores, loss, edges, bins, counts, confidence, ece, s, i, hits
Ranker = nn.Module:extend("Ranker")
function Ranker:__init()
  self.bag = nn.EmbeddingBag(900, 30, {mode = "mean"})
  self.position = nn.Embedding(12, 30)
  self.cross = nn.ModuleList(collect(3, function(i) return nn.Linear(60, 60) end))
  self.deep = nn.Sequential(nn.Linear(60, 80), nn.PReLU(), nn.Dropout(0.1), nn.Linear(80, 20), nn.PReLU(20))
  self.out = nn.Linear(80, 1)
end
function Ranker:forward(tokens, offsets, slots)
  local q, x0, x, layer
  q = self.bag(tokens, offsets)
  x0 = ohm.cat({q, self.position(slots)}, {dim = 1})
  x = x0
  for _, item1 in ipairs(self.cross:children()) do
    layer = item1
    x = (x0 * layer(x)) + x
  end
  return self.out(ohm.cat({x, self.deep(x0)}, {dim = 1})):squeeze(1)
end
function listnet(scores, relevance, sizes)
  local losses, s, r
  losses = {}
  do
    local list2_2 = {relevance:split(sizes)}
    for number2, item2 in ipairs({scores:split(sizes)}) do
      s = item2
      r = list2_2[number2]
      losses[#losses + 1] = -(r:softmax(0) * s:log_softmax(0)):sum()
    end
  end
  return ohm.stack(losses):mean()
end
function approx_ndcg(scores, relevance)
  local order, gains, discounts, ideal, difference, rank, dcg
  order = relevance:argsort({dim = -1, descending = true})
  gains = (2.0 ^ relevance:gather(-1, order)) - 1
  discounts = 1 / ohm.log2(ohm.arange(relevance:size(-1), {device = "cuda"}):float() + 2)
  ideal = (gains * discounts):sum(-1):clamp({min = 1e-06})
  difference = scores:unsqueeze(-1) - scores:unsqueeze(-2)
  rank = (1 + ohm.sigmoid((-difference) / 0.1):sum(-1)) - 0.5
  dcg = (((2.0 ^ relevance) - 1) / ohm.log2(rank + 1)):sum(-1)
  return 1 - (dcg / ideal):mean()
end
model = Ranker():cuda()
optimizer = ohm.optim.Adagrad(model:parameters(), {lr = 0.05, lr_decay = 0.001})
mark("model")
for step = 0, 3 - 1 do
  sizes = {7, 12, 4 + step}
  total = 23 + step
  tokens = ohm.randint(0, 900, {total * 5}, {device = "cuda"})
  offsets = ohm.arange(0, total * 5, 5, {device = "cuda"})
  slots = ohm.randint(0, 12, {total}, {device = "cuda"})
  relevance = ohm.randint(0, 5, {total}, {device = "cuda"}):float()
  scores = model(tokens, offsets, slots)
  loss = listnet(scores, relevance, sizes) + approx_ndcg(slice(scores, 0, 0, 12):view(3, 4), slice(relevance, 0, 0, 12):view(3, 4))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
model:eval()
do
  local mode4 <close> = ohm.no_grad()
  scores = ohm.sigmoid(model(tokens, offsets, slots))
  edges = ohm.linspace(0, 1, 6, {device = "cuda"})
  bins = ohm.bucketize(scores, edges)
  counts = ohm.zeros(8, {device = "cuda"}):scatter_add_(0, bins, ohm.ones_like(scores))
  confidence = ohm.zeros(8, {device = "cuda"}):scatter_add_(0, bins, scores)
  ece = ((confidence - (counts * 0.5)):abs() / counts:clamp({min = 1})):sum():item()
  s, i = ohm.sort(scores, {descending = true})
  hits = (relevance:index({i}):gt(2)):float():cumsum(0) / ohm.arange(1, total + 1, {device = "cuda"})
end
mark("calibrated")
mark("end of program (globals alive)")
model = nil
optimizer = nil
sizes = nil
total = nil
tokens = nil
offsets = nil
slots = nil
relevance = nil
scores = nil
loss = nil
edges = nil
bins = nil
counts = nil
confidence = nil
ece = nil
s = nil
i = nil
hits = nil
mark("globals deleted")

--== model_bahdanau
local GRUEncoder, BahdanauDecoder, enc, dec, teacher_enc, params, opt, crit, src, trg, memory, h, tm, th, outputs, token, logits, loss, t_p, s_p, decoded, result
GRUEncoder = nn.Module:extend("GRUEncoder")
function GRUEncoder:__init(vocab, emb, hidden)
  self.embed = nn.Embedding(vocab, emb)
  self.gru = nn.GRU(emb, hidden, {bidirectional = true})
  self.fc = nn.Linear(2 * hidden, hidden)
end
function GRUEncoder:forward(src)
  local out, h
  out, h = several(self.gru(self.embed(src)))
  h = ohm.tanh(self.fc(ohm.cat({h:select(0, -2), h:select(0, -1)}, {dim = 1})))
  return out, h
end
BahdanauDecoder = nn.Module:extend("BahdanauDecoder")
function BahdanauDecoder:__init(vocab, emb, hidden)
  self.embed = nn.Embedding(vocab, emb)
  self.attn = nn.Linear(3 * hidden, hidden)
  self.v = nn.Linear(hidden, 1, {bias = false})
  self.cell = nn.GRUCell((2 * hidden) + emb, hidden)
  self.out = nn.Linear((3 * hidden) + emb, vocab)
end
function BahdanauDecoder:forward(token, h, enc)
  local e, T, rep, a, w
  e = self.embed(token)
  T = enc:size(0)
  rep = repeated(h:unsqueeze(1), 1, T, 1)
  enc = enc:permute(1, 0, 2)
  a = F.softmax(self.v(ohm.tanh(self.attn(ohm.cat({rep, enc}, {dim = 2})))):squeeze(2), {dim = 1})
  w = ohm.bmm(a:unsqueeze(1), enc):squeeze(1)
  h = self.cell(ohm.cat({e, w}, {dim = 1}), h)
  return self.out(ohm.cat({h, w, e}, {dim = 1})), h
end
enc = GRUEncoder(60, 16, 24):cuda()
dec = BahdanauDecoder(60, 16, 24):cuda()
teacher_enc = ohm.copy.deepcopy(enc)
params = joined(enc:parameters(), dec:parameters())
opt = ohm.optim.Adam(params, {lr = 0.001})
crit = nn.CrossEntropyLoss({ignore_index = 0})
mark("model")
for step = 0, 2 - 1 do
  src = ohm.randint(1, 60, {8, 4}, {device = "cuda"})
  trg = ohm.randint(1, 60, {7, 4}, {device = "cuda"})
  memory, h = enc(src)
  do
    local mode1 <close> = ohm.no_grad()
    tm, th = teacher_enc(src)
  end
  outputs = ohm.zeros(7, 4, 60, {device = "cuda"})
  token = trg:select(0, 0)
  for t = 1, 7 - 1 do
    logits, h = dec(token, h, memory)
    outputs:select(0, t):copy_(logits)
    if (t % 2) == 0 then
      token = trg:select(0, t)
    else
      token = logits:argmax(1)
    end
  end
  loss = crit(slice(outputs, 0, 1):view(-1, 60), slice(trg, 0, 1):view(-1)) + (10.0 * F.mse_loss(memory, tm))
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(params, 1)
  opt:step()
  do
    local mode2 <close> = ohm.no_grad()
    do
      local list3_2 = enc:parameters()
      for number3, item3 in ipairs(teacher_enc:parameters()) do
        t_p = item3
        s_p = list3_2[number3]
        t_p:mul_(0.99):add_(s_p, {alpha = 0.01})
      end
    end
  end
  mark("step " .. step)
end
do
  local mode4 <close> = ohm.no_grad()
  memory, h = enc(src)
  token = ohm.full({4}, 1, {dtype = ohm.int64, device = "cuda"})
  decoded = {}
  for t = 0, 5 - 1 do
    logits, h = dec(token, h, memory)
    token = second(logits:topk(1)):squeeze(1)
    decoded[#decoded + 1] = token
  end
  result = ohm.stack(decoded)
end
mark("decoded")
mark("end of program (globals alive)")
enc = nil
dec = nil
teacher_enc = nil
params = nil
opt = nil
crit = nil
src = nil
trg = nil
memory = nil
h = nil
tm = nil
th = nil
outputs = nil
token = nil
logits = nil
loss = nil
t_p = nil
s_p = nil
decoded = nil
result = nil
mark("globals deleted")

--== model_bert
local hidden, heads, vocab, length, Embeddings, SelfAttention, Layer, Bert, model, plain, other, opt, warmup, accumulation, ids, kinds, attention, labels, following, prediction, relation, lm, loss
hidden, heads, vocab, length = 64, 4, 300, 24
Embeddings = nn.Module:extend("Embeddings")
function Embeddings:__init()
  self.word = nn.Embedding(vocab, hidden, {padding_idx = 0})
  self.position = nn.Embedding(64, hidden)
  self.kind = nn.Embedding(2, hidden)
  self.norm = nn.LayerNorm(hidden, {eps = 1e-12})
  self.dropout = nn.Dropout(0.1)
end
function Embeddings:forward(ids, kinds)
  local positions, x
  positions = ohm.arange(ids:size(1), {dtype = ohm.int64, device = ids.device}):unsqueeze(0)
  x = (self.word(ids) + self.kind(kinds)) + self.position(positions)
  return self.dropout(self.norm(x))
end
SelfAttention = nn.Module:extend("SelfAttention")
function SelfAttention:__init()
  self.query = nn.Linear(hidden, hidden)
  self.key = nn.Linear(hidden, hidden)
  self.value = nn.Linear(hidden, hidden)
  self.dropout = nn.Dropout(0.1)
end
function SelfAttention:split(x)
  return x:view(x:size(0), x:size(1), heads, hidden // heads):permute(0, 2, 1, 3)
end
function SelfAttention:forward(x, mask)
  local q, k, v, scores, probs, context
  q = self:split(self.query(x))
  k = self:split(self.key(x))
  v = self:split(self.value(x))
  scores = ohm.matmul(q, k:transpose(-1, -2))
  scores = scores / math.sqrt(hidden // heads)
  scores = scores + mask
  probs = nn.Softmax({dim = -1})(scores)
  probs = self.dropout(probs)
  context = ohm.matmul(probs, v)
  return context:permute(0, 2, 1, 3):contiguous():view(x:size(0), x:size(1), hidden)
end
Layer = nn.Module:extend("Layer")
function Layer:__init()
  self.attention = SelfAttention()
  self.output = nn.Linear(hidden, hidden)
  self.norm1 = nn.LayerNorm(hidden, {eps = 1e-12})
  self.up = nn.Linear(hidden, 4 * hidden)
  self.down = nn.Linear(4 * hidden, hidden)
  self.norm2 = nn.LayerNorm(hidden, {eps = 1e-12})
  self.dropout = nn.Dropout(0.1)
end
function Layer:forward(x, mask)
  local h
  h = self.dropout(self.output(self.attention(x, mask)))
  x = self.norm1(h + x)
  h = self.dropout(self.down(F.gelu(self.up(x))))
  return self.norm2(h + x)
end
Bert = nn.Module:extend("Bert")
function Bert:__init()
  self.embeddings = Embeddings()
  self.layers = nn.ModuleList(collect(2, function(_) return Layer() end))
  self.pooler = nn.Linear(hidden, hidden)
  self.transform = nn.Linear(hidden, hidden)
  self.norm = nn.LayerNorm(hidden)
  self.bias = nn.Parameter(ohm.zeros(vocab))
  self.seq = nn.Linear(hidden, 2)
end
function Bert:forward(ids, kinds, attention)
  local mask, x, layer, pooled, h, logits
  mask = attention:unsqueeze(1):unsqueeze(2):to({dtype = ohm.float32})
  mask = (1.0 - mask) * (-10000.0)
  x = self.embeddings(ids, kinds)
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    x = layer(x, mask)
  end
  pooled = ohm.tanh(self.pooler(slice(x, 0, 0):select(1, 0)))
  h = self.norm(F.gelu(self.transform(x)))
  logits = F.linear(h, self.embeddings.word.weight, self.bias)
  return logits, self.seq(pooled)
end
model = Bert():cuda()
plain = filter_named(model:named_parameters(), function(n, p) return not any({"bias", "norm"}, function(k) return n:find(k, 1, true) end) end)
other = filter_named(model:named_parameters(), function(n, p) return any({"bias", "norm"}, function(k) return n:find(k, 1, true) end) end)
opt = ohm.optim.AdamW({{params = plain, weight_decay = 0.01}, {params = other, weight_decay = 0.0}}, {lr = 5e-05})
warmup = ohm.optim.lr_scheduler.LambdaLR(opt, function(step) return math.min(1.0, (step + 1) / 10) end)
accumulation = 2
mark("model")
for step = 0, 4 - 1 do
  ids = ohm.randint(1, vocab, {4, length}, {device = "cuda"})
  kinds = ohm.zeros_like(ids)
  attention = ohm.ones(4, length, {dtype = ohm.int64, device = "cuda"})
  slice(slice(attention, 0, 0), 1, -4):fill_(0)
  labels = ohm.where(ohm.rand(4, length, {device = "cuda"}):lt(0.15), ids, ohm.full_like(ids, -100))
  following = ohm.randint(0, 2, {4}, {device = "cuda"})
  prediction, relation = model(ids, kinds, attention)
  lm = F.cross_entropy(prediction:view(-1, vocab), labels:view(-1), {ignore_index = -100})
  loss = (lm + F.cross_entropy(relation, following)) / accumulation
  loss:backward()
  mark("backward " .. step)
  if ((step + 1) % accumulation) == 0 then
    nn.utils.clip_grad_norm_(model:parameters(), 1.0)
    opt:step()
    warmup:step()
    opt:zero_grad()
    mark("step " .. step)
  end
end
mark("end of program (globals alive)")
model = nil
plain = nil
other = nil
opt = nil
warmup = nil
ids = nil
kinds = nil
attention = nil
labels = nil
following = nil
prediction = nil
relation = nil
lm = nil
loss = nil
mark("globals deleted")

--== model_best_weights
local SqueezeExcite, MBConv, Net, model, p, optimizer, scheduler, best, x, y, loss, total, out
ohm.backends.cudnn.enabled = true
SqueezeExcite = nn.Module:extend("SqueezeExcite")
function SqueezeExcite:__init(channels, reduced)
  self.reduce = nn.Conv2d(channels, reduced, 1)
  self.expand = nn.Conv2d(reduced, channels, 1)
end
function SqueezeExcite:forward(x)
  local s
  s = F.adaptive_avg_pool2d(x, 1)
  s = self.expand(F.silu(self.reduce(s)))
  return ohm.sigmoid(s) * x
end
MBConv = nn.Module:extend("MBConv")
function MBConv:__init(cin, cout, expand, k, stride)
  local mid
  mid = cin * expand
  self.use_residual = (cin == cout and stride == 1)
  self.expand = nn.Sequential(nn.Conv2d(cin, mid, 1, {bias = false}), nn.BatchNorm2d(mid, {eps = 0.001, momentum = 0.01}), nn.SiLU({inplace = true}))
  self.depthwise = nn.Sequential(nn.Conv2d(mid, mid, k, {stride = stride, padding = k // 2, groups = mid, bias = false}), nn.BatchNorm2d(mid, {eps = 0.001, momentum = 0.01}), nn.SiLU({inplace = true}))
  self.se = SqueezeExcite(mid, math.max(1, cin // 4))
  self.project = nn.Sequential(nn.Conv2d(mid, cout, 1, {bias = false}), nn.BatchNorm2d(cout, {eps = 0.001, momentum = 0.01}))
end
function MBConv:forward(x)
  local h, keep
  h = self.project(self.se(self.depthwise(self.expand(x))))
  if self.use_residual then
    if self.training then
      keep = ohm.rand(x:size(0), 1, 1, 1, {device = x.device}):add_(0.8):floor_()
      h = (h / 0.8) * keep
    end
    h = h + x
  end
  return h
end
Net = nn.Module:extend("Net")
function Net:__init()
  self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, {stride = 2, padding = 1, bias = false}), nn.BatchNorm2d(16), nn.SiLU({inplace = true}))
  self.blocks = nn.Sequential(MBConv(16, 16, 2, 3, 1), MBConv(16, 24, 4, 5, 2), MBConv(24, 24, 4, 3, 1))
  self.head = nn.Sequential(nn.Conv2d(24, 64, 1, {bias = false}), nn.BatchNorm2d(64), nn.SiLU({inplace = true}), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, 7))
end
function Net:forward(x)
  return self.head(self.blocks(self.stem(x)))
end
model = Net():cuda()
for _, item1 in ipairs(model.stem:parameters()) do
  p = item1
  p:requires_grad_(false)
end
optimizer = ohm.optim.RMSprop(model:parameters(), {lr = 0.001, momentum = 0.9, weight_decay = 1e-05})
scheduler = ohm.optim.lr_scheduler.StepLR(optimizer, {step_size = 1, gamma = 0.97})
best = ohm.copy.deepcopy(model:state_dict())
mark("model")
for epoch = 0, 3 - 1 do
  model:train()
  for i = 0, 2 - 1 do
    x = ohm.randn(6, 3, 32, 32, {device = "cuda"})
    y = ohm.randint(0, 7, {6}, {device = "cuda"})
    loss = F.cross_entropy(model(x), y)
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
  end
  scheduler:step()
  mark("trained " .. epoch)
  model:eval()
  total = 0.0
  do
    local mode2 <close> = ohm.no_grad()
    for i = 0, 2 - 1 do
      x = ohm.randn(6, 3, 32, 32, {device = "cuda"})
      y = ohm.randint(0, 7, {6}, {device = "cuda"})
      total = total + F.cross_entropy(model(x), y, {reduction = "sum"}):item()
    end
  end
  mark("evaluated " .. epoch)
  if epoch < 2 then
    best = ohm.copy.deepcopy(model:state_dict())
    mark("best " .. epoch)
  end
end
model:load_state_dict(best)
mark("restored")
for _, item3 in ipairs(model.stem:parameters()) do
  p = item3
  p:requires_grad_(true)
end
out = model(x)
loss = F.cross_entropy(out, y)
optimizer:zero_grad()
loss:backward()
optimizer:step()
mark("unfrozen")
mark("end of program (globals alive)")
model = nil
p = nil
optimizer = nil
scheduler = nil
best = nil
x = nil
y = nil
loss = nil
out = nil
mark("globals deleted")

--== model_btcvae
local VAE, log_density, total_correlation, model, discriminator, optimizer, optimizer_d, x, out, mu, logvar, z, reconstruction, mi, tc, kl, d, factor, loss, z2, permuted, d_loss
VAE = nn.Module:extend("VAE")
function VAE:__init(z)
  if z == nil then z = 6 end
  self.encoder = nn.Sequential(nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 64, 64), nn.ReLU(), nn.Linear(64, 2 * z))
  self.decoder = nn.Sequential(nn.Linear(z, 64), nn.ReLU(), nn.Linear(64, 16 * 64), nn.ReLU(), nn.Unflatten(1, {16, 8, 8}), nn.ConvTranspose2d(16, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1))
  self:apply(VAE.weight_init)
end
function VAE.weight_init(m)
  if is_a(m, "Linear") or is_a(m, "Conv2d") or is_a(m, "ConvTranspose2d") then
    nn.init.xavier_normal_(m.weight)
    nn.init.zeros_(m.bias)
  end
end
function VAE:forward(x)
  local mu, logvar, std, z
  mu, logvar = self.encoder(x):chunk(2, {dim = 1})
  std = ohm.exp(0.5 * logvar)
  z = mu + (std * ohm.randn_like(std))
  return self.decoder(z), mu, logvar, z
end
function log_density(z, mu, logvar)
  local c
  c = math.log(2 * math.pi)
  return (-0.5) * ((c + logvar) + (((z - mu) ^ 2) * ohm.exp(-logvar)))
end
function total_correlation(z, mu, logvar, data)
  local b, matrix, weight, log_weight, log_qz, log_product, log_q, log_p
  if data == nil then data = 1000 end
  b = z:size(0)
  matrix = log_density(z:unsqueeze(1), mu:unsqueeze(0), logvar:unsqueeze(0))
  weight = ohm.full({b, b}, 1 / (b - 1), {device = z.device})
  slice(weight:view(-1), 0, 0, nil, b + 1):fill_(1 / data)
  slice(weight:view(-1), 0, 1, nil, b + 1):fill_(1 / data)
  log_weight = weight:log()
  log_qz = ohm.logsumexp(log_weight + matrix:sum(2), {dim = 1})
  log_product = ohm.logsumexp(log_weight:unsqueeze(2) + matrix, {dim = 1}):sum(1)
  log_q = log_density(z, mu, logvar):sum(1)
  log_p = log_density(z, ohm.zeros_like(z), ohm.zeros_like(z)):sum(1)
  return (log_q - log_qz):mean(), (log_qz - log_product):mean(), (log_product - log_p):mean()
end
model = VAE():cuda()
discriminator = nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(0.2, true), nn.Linear(32, 2)):cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.0005})
optimizer_d = ohm.optim.Adam(discriminator:parameters(), {lr = 0.0001, betas = {0.5, 0.9}})
mark("models")
for step = 0, 2 - 1 do
  x = ohm.rand(16, 1, 32, 32, {device = "cuda"})
  do
    local new1, new2, new3, new4 = model(x)
    out = new1
    mu = new2
    logvar = new3
    z = new4
  end
  reconstruction = F.binary_cross_entropy_with_logits(out, x, {reduction = "sum"}):div(16)
  do
    local new1, new2, new3 = total_correlation(z, mu, logvar)
    mi = new1
    tc = new2
    kl = new3
  end
  d = discriminator(z)
  factor = (slice(slice(d, 0, 0), 1, 0, 1) - slice(slice(d, 0, 0), 1, 1)):mean()
  loss = (((reconstruction + mi) + (6 * tc)) + kl) + factor
  optimizer:zero_grad()
  loss:backward({retain_graph = true})
  do
    local mode1 <close> = ohm.no_grad()
    do local a, b, c, d = model(ohm.rand(16, 1, 32, 32, {device = "cuda"})); c = nil; sweep(); b = nil; sweep(); a = nil; sweep(); z2 = d; sweep() end
    permuted = ohm.stack(collect(6, function(i) return z2:select(1, i):index({ohm.randperm(16, {device = "cuda"})}) end), 1)
  end
  d_loss = 0.5 * (F.cross_entropy(discriminator(z:detach()), ohm.zeros(16, {dtype = ohm.int64, device = "cuda"})) + F.cross_entropy(discriminator(permuted), ohm.ones(16, {dtype = ohm.int64, device = "cuda"})))
  optimizer_d:zero_grad()
  d_loss:backward()
  optimizer:step()
  optimizer_d:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
discriminator = nil
optimizer = nil
optimizer_d = nil
x = nil
out = nil
mu = nil
logvar = nil
z = nil
reconstruction = nil
mi = nil
tc = nil
kl = nil
d = nil
factor = nil
loss = nil
z2 = nil
permuted = nil
d_loss = nil
mark("globals deleted")

--== model_byol_swa
local MLP, BYOL, regression_loss, averaged, model, swa, optimizer, scheduler, x, x1, gray, x2, z1, z2, t1, t2, loss, module, features, bank
MLP = nn.Module:extend("MLP")
function MLP:__init(dim, hidden, out)
  self.net = nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU({inplace = true}), nn.Linear(hidden, out))
end
function MLP:forward(x)
  return self.net(x)
end
BYOL = nn.Module:extend("BYOL")
function BYOL:__init()
  local p
  self.encoder = nn.Sequential(nn.Conv2d(3, 24, 3, {stride = 2}), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
  self.projector = MLP(96, 128, 32)
  self.predictor = MLP(32, 128, 32)
  self.target_encoder = ohm.copy.deepcopy(self.encoder)
  self.target_projector = ohm.copy.deepcopy(self.projector)
  for _, item1 in ipairs(self.target_encoder:parameters()) do
    p = item1
    p.requires_grad = false
  end
  for _, item2 in ipairs(self.target_projector:parameters()) do
    p = item2
    p.requires_grad = false
  end
end
function BYOL:update_target(tau)
  local o, t
  do
    local list3_2 = self.target_encoder:parameters()
    for number3, item3 in ipairs(self.encoder:parameters()) do
      o = item3
      t = list3_2[number3]
      t.data = (tau * t.data) + ((1 - tau) * o.data)
    end
  end
  do
    local list4_2 = self.target_projector:parameters()
    for number4, item4 in ipairs(self.projector:parameters()) do
      o = item4
      t = list4_2[number4]
      t.data = (tau * t.data) + ((1 - tau) * o.data)
    end
  end
end
function BYOL:forward(x1, x2)
  local z1, z2, t1, t2
  z1 = self.predictor(self.projector(self.encoder(x1)))
  z2 = self.predictor(self.projector(self.encoder(x2)))
  do
    local mode5 <close> = ohm.no_grad()
    t1 = self.target_projector(self.target_encoder(x1))
    t2 = self.target_projector(self.target_encoder(x2))
  end
  return z1, z2, t1:detach(), t2:detach()
end
function regression_loss(x, y)
  x = F.normalize(x, {dim = -1, p = 2})
  y = F.normalize(y, {dim = -1, p = 2})
  return 2 - (2 * (x * y):sum({dim = -1}))
end
function averaged(average, model, count)
  local pa, p, p_model
  do
    local list6_2 = model:parameters()
    for number6, item6 in ipairs(average:parameters()) do
      pa = item6
      p = list6_2[number6]
      p_model = p:detach()
      if count == 0 then
        pa:detach():copy_(p_model)
      else
        pa:detach():add_((p_model - pa:detach()) / (count + 1))
      end
    end
  end
end
model = BYOL():cuda()
swa = ohm.copy.deepcopy(model)
optimizer = ohm.optim.SGD(filter(model:parameters(), function(p) return p.requires_grad end), {lr = 0.1, momentum = 0.9, weight_decay = 1.5e-06})
scheduler = ohm.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, {T_0 = 2})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.rand(16, 3, 17, 17, {device = "cuda"})
  x1 = ohm.flip(x, {dims = {3}}):mul(1.2):clamp_(0, 1)
  gray = (((0.3 * slice(x, 0, 0):select(1, 0)) + (0.59 * slice(x, 0, 0):select(1, 1))) + (0.11 * slice(x, 0, 0):select(1, 2))):unsqueeze(1)
  x2 = gray:expand(-1, 3, -1, -1)
  do
    local new1, new2, new3, new4 = model(x1, x2)
    z1 = new1
    z2 = new2
    t1 = new3
    t2 = new4
  end
  loss = (regression_loss(z1, t2) + regression_loss(z2, t1)):mean()
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  scheduler:step()
  model:update_target(0.99)
  averaged(swa, model, step)
  mark("step " .. step)
end
for _, item7 in ipairs(swa:modules()) do
  module = item7
  if is_a(module, "BatchNorm2d") then
    module.running_mean:zero_()
    module.running_var:fill_(1)
  end
end
do
  local mode8 <close> = ohm.no_grad()
  for i = 0, 2 - 1 do
    swa.encoder(ohm.rand(8, 3, 17, 17, {device = "cuda"}))
  end
end
features = {}
swa:eval()
do
  local mode9 <close> = ohm.inference_mode()
  for i = 0, 3 - 1 do
    features[#features + 1] = swa.encoder(ohm.rand(8, 3, 17, 17, {device = "cuda"})):cpu()
  end
  bank = ohm.cat(features)
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
swa = nil
optimizer = nil
scheduler = nil
x = nil
x1 = nil
gray = nil
x2 = nil
z1 = nil
z2 = nil
t1 = nil
t2 = nil
loss = nil
module = nil
features = nil
bank = nil
mark("globals deleted")

--== model_capsule
local squash, PrimaryCaps, DigitCaps, CapsNet, model, optimizer, scheduler, x, labels, y, lengths, rec, left, right, margin, rec_loss, loss
function squash(x, dim)
  local sq, scale
  if dim == nil then dim = -1 end
  sq = (x ^ 2):sum({dim = dim, keepdim = true})
  scale = sq / (1 + sq)
  return (scale * x) / ohm.sqrt(sq + 1e-08)
end
PrimaryCaps = nn.Module:extend("PrimaryCaps")
function PrimaryCaps:__init()
  self.capsules = nn.ModuleList(collect(4, function(_) return nn.Conv2d(32, 8, 5, {stride = 2}) end))
end
function PrimaryCaps:forward(x)
  local u
  u = map(function(capsule) return capsule(x):view(x:size(0), -1, 1) end, self.capsules:children())
  u = ohm.cat(u, {dim = -1})
  return squash(u)
end
DigitCaps = nn.Module:extend("DigitCaps")
function DigitCaps:__init(n_in, d_in, n_out, d_out)
  if d_out == nil then d_out = 8 end
  if n_out == nil then n_out = 10 end
  self.n_out = n_out
  self.W = nn.Parameter(0.01 * ohm.randn(1, n_out, n_in, d_out, d_in))
end
function DigitCaps:forward(x)
  local b, u_hat, temp, logits, c, s, v, agreement
  b = x:size(0)
  x = x:unsqueeze(1):unsqueeze(4)
  u_hat = ohm.matmul(self.W, x):squeeze(-1)
  temp = u_hat:detach()
  logits = ohm.zeros(b, self.n_out, u_hat:size(2), 1, {device = "cuda"})
  for it = 0, 2 - 1 do
    c = F.softmax(logits, {dim = 1})
    s = (c * temp):sum({dim = 2})
    v = squash(s)
    agreement = ohm.matmul(temp, v:unsqueeze(-1))
    logits = iadd(logits, agreement)
  end
  c = F.softmax(logits, {dim = 1})
  s = (c * u_hat):sum({dim = 2})
  return squash(s)
end
CapsNet = nn.Module:extend("CapsNet")
function CapsNet:__init()
  self.conv = nn.Conv2d(1, 32, 5)
  self.primary = PrimaryCaps()
  self.digits = DigitCaps((8 * 6) * 6, 4)
  self.decoder = nn.Sequential(nn.Linear(80, 128), nn.ReLU({inplace = true}), nn.Linear(128, 400), nn.Sigmoid())
end
function CapsNet:forward(x, y)
  local h, v, lengths, masked, rec
  h = F.relu(self.conv(x), {inplace = true})
  v = self.digits(self.primary(h))
  lengths = ohm.norm(v, {dim = 2})
  masked = v * y:unsqueeze(-1)
  rec = self.decoder(masked:view(x:size(0), -1))
  return lengths, rec
end
model = CapsNet():cuda()
optimizer = ohm.optim.Adam(model:parameters())
scheduler = ohm.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
mark("model")
for step = 0, 3 - 1 do
  x = ohm.rand(6, 1, 20, 20, {device = "cuda"})
  labels = ohm.randint(0, 10, {6}, {device = "cuda"})
  y = ohm.eye(10, {device = "cuda"}):index_select({dim = 0, index = labels})
  lengths, rec = model(x, y)
  left = F.relu(0.9 - lengths, {inplace = true}) ^ 2
  right = F.relu(lengths - 0.1, {inplace = true}) ^ 2
  margin = ((y * left) + ((0.5 * (1.0 - y)) * right)):sum({dim = 1}):mean()
  rec_loss = F.mse_loss(rec, x:view(6, -1), {reduction = "sum"}) / 6
  loss = margin + (0.0005 * rec_loss)
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
x = nil
labels = nil
y = nil
lengths = nil
rec = nil
left = nil
right = nil
margin = nil
rec_loss = nil
loss = nil
mark("globals deleted")

--== model_cat_cache_llm
local RMSNorm, Layer, embed, first, second, norm, ids, k1, v1, k2, v2, x, logits, kept, index, sorted_probs, order, cut, pick
RMSNorm = nn.Module:extend("RMSNorm")
function RMSNorm:__init(d)
  self.weight = nn.Parameter(ohm.ones(d))
end
function RMSNorm:forward(x)
  local h
  h = x:float()
  h = h * ohm.rsqrt(h:pow(2):mean(-1, {keepdim = true}) + 1e-06)
  return self.weight * h:to(x.dtype)
end
Layer = nn.Module:extend("Layer")
function Layer:__init(d, heads, groups)
  self.heads = heads
  self.groups = groups
  self.size = d // heads
  self.n1 = RMSNorm(d)
  self.q = nn.Linear(d, d, {bias = false})
  self.k = nn.Linear(d, groups * self.size, {bias = false})
  self.v = nn.Linear(d, groups * self.size, {bias = false})
  self.o = nn.Linear(d, d, {bias = false})
  self.n2 = RMSNorm(d)
  self.gate = nn.Linear(d, 3 * d, {bias = false})
  self.up = nn.Linear(d, 3 * d, {bias = false})
  self.down = nn.Linear(3 * d, d, {bias = false})
end
function Layer:forward(x, pk, pv)
  local b, t, d, h, q, k, v, kk, vv, y
  b, t, d = table.unpack(x.shape)
  h = self.n1(x)
  q = self.q(h):view(b, t, self.heads, self.size):transpose(1, 2)
  k = self.k(h):view(b, t, self.groups, self.size):transpose(1, 2)
  v = self.v(h):view(b, t, self.groups, self.size):transpose(1, 2)
  if pk ~= nil then
    k = ohm.cat({pk, k}, {dim = 2})
    v = ohm.cat({pv, v}, {dim = 2})
  end
  kk = k:repeat_interleave(self.heads // self.groups, {dim = 1})
  vv = v:repeat_interleave(self.heads // self.groups, {dim = 1})
  y = F.scaled_dot_product_attention(q, kk, vv, {is_causal = pk == nil})
  x = x + self.o(y:transpose(1, 2):reshape(b, t, d))
  h = self.n2(x)
  return x + self.down(F.silu(self.gate(h)) * self.up(h)), k, v
end
embed = nn.Embedding(400, 128):cuda():half()
first = Layer(128, 8, 2):cuda():half()
second = Layer(128, 8, 2):cuda():half()
norm = RMSNorm(128):cuda():half()
mark("model")
do
  local mode1 <close> = ohm.no_grad()
  ids = ohm.randint(0, 400, {3, 17}, {device = "cuda"})
  k1, v1, k2, v2 = nil, nil, nil, nil
  for step = 0, 5 - 1 do
    x = embed(ids)
    x, k1, v1 = first(x, k1, v1)
    x, k2, v2 = second(x, k2, v2)
    logits = F.linear(norm(slice(slice(x, 0, 0), 1, -1)), embed.weight):float()
    logits = slice(logits, 0, 0):select(1, -1)
    kept, index = logits:topk(40, {dim = -1})
    sorted_probs, order = ohm.sort(F.softmax(kept / 0.7, {dim = -1}), {descending = true})
    cut = ohm.cumsum(sorted_probs, {dim = -1}):gt(0.9)
    sorted_probs = sorted_probs:masked_fill(cut, 0.0)
    pick = ohm.multinomial(sorted_probs, 1)
    ids = index:gather(1, order:gather(1, pick))
    mark("token " .. step)
  end
  ohm.cuda.empty_cache()
end
mark("done")
mark("end of program (globals alive)")
embed = nil
first = nil
second = nil
norm = nil
ids = nil
k1 = nil
v1 = nil
k2 = nil
v2 = nil
x = nil
logits = nil
kept = nil
index = nil
sorted_probs = nil
order = nil
cut = nil
pick = nil
mark("globals deleted")

--== model_char_rnn
local vocab, hidden, layers, batch, bptt, CharRNN, model, optimizer, scheduler, data, h, c, total, start, x, y, logits, loss, text, token, probs
vocab, hidden, layers, batch, bptt = 60, 96, 2, 16, 12
CharRNN = nn.Module:extend("CharRNN")
function CharRNN:__init()
  self.embedding = nn.Embedding(vocab, hidden)
  self.rnn = nn.LSTM(hidden, hidden, layers, {dropout = 0.3})
  self.dropout = nn.Dropout(0.3)
  self.head = nn.Linear(hidden, vocab)
end
function CharRNN:forward(x, state)
  local emb, out, logits
  emb = self.dropout(self.embedding(x))
  do
    local new1, new2 = self:run(emb, state)
    out = new1
    state = new2
  end
  logits = self.head(self.dropout(out))
  return logits, state
end
function CharRNN:run(emb, state)
  local results = self.rnn(emb, state)
  return results[1], {results[2], results[3]}
end
function CharRNN:init_hidden(batch_size)
  local h, c
  h = ohm.zeros(layers, batch_size, hidden, {device = "cuda"})
  c = ohm.zeros(layers, batch_size, hidden, {device = "cuda"})
  return h, c
end
model = CharRNN():cuda()
optimizer = ohm.optim.RMSprop(model:parameters(), {lr = 0.002, alpha = 0.95})
scheduler = ohm.optim.lr_scheduler.ExponentialLR(optimizer, {gamma = 0.97})
data = ohm.randint(0, vocab, {(bptt * 4) + 1, batch}, {device = "cuda"})
mark("model")
model:train()
h, c = model:init_hidden(batch)
total = 0.0
for step = 0, 4 - 1 do
  start = step * bptt
  x = slice(data, 0, start, start + bptt)
  y = slice(data, 0, start + 1, (start + bptt) + 1)
  h = h:detach()
  c = c:detach()
  optimizer:zero_grad()
  do
    local new1, state = model(x, {h, c})
    logits = new1
    h = state[1]
    c = state[2]
  end
  loss = F.cross_entropy(logits:view(-1, vocab), y:reshape(-1))
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 0.5)
  optimizer:step()
  total = total + loss:item()
  mark("step " .. step)
end
scheduler:step()
model:eval()
text = {}
do
  local mode1 <close> = ohm.no_grad()
  do
    local new1, new2 = model:init_hidden(1)
    h = new1
    c = new2
  end
  token = ohm.zeros(1, 1, {dtype = ohm.int64, device = "cuda"})
  for i = 0, 8 - 1 do
    do
      local new1, state = model(token, {h, c})
      logits = new1
      h = state[1]
      c = state[2]
    end
    probs = F.softmax(logits:select(0, -1) / 0.8, {dim = -1})
    token = ohm.multinomial(probs, 1)
    text[#text + 1] = token:item()
  end
end
mark("sampled")
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
data = nil
h = nil
c = nil
start = nil
x = nil
y = nil
logits = nil
loss = nil
text = nil
token = nil
probs = nil
mark("globals deleted")

--== model_checkpointed_bf16
local FeedForward, Block, Model, model, optimizer, schedule, tokens, x, y, logits, loss, peak, ppl
FeedForward = nn.Module:extend("FeedForward")
function FeedForward:__init(dim, hidden)
  self.w1 = nn.Linear(dim, hidden, {bias = false})
  self.w2 = nn.Linear(hidden, dim, {bias = false})
  self.w3 = nn.Linear(dim, hidden, {bias = false})
end
function FeedForward:forward(x)
  return self.w2(F.silu(self.w1(x)) * self.w3(x))
end
Block = nn.Module:extend("Block")
function Block:__init(dim, heads)
  self.heads = heads
  self.norm1 = nn.LayerNorm(dim)
  self.qkv = nn.Linear(dim, 3 * dim, {bias = false})
  self.proj = nn.Linear(dim, dim, {bias = false})
  self.norm2 = nn.LayerNorm(dim)
  self.ff = FeedForward(dim, 3 * dim)
end
function Block:forward(x)
  local b, t, d, qkv, q, k, v, y
  b, t, d = table.unpack(x.shape)
  qkv = self.qkv(self.norm1(x)):view(b, t, 3, self.heads, d // self.heads):permute(2, 0, 3, 1, 4)
  q, k, v = qkv:unbind(0)
  y = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
  x = x + self.proj(y:transpose(1, 2):reshape(b, t, d))
  return x + self.ff(self.norm2(x))
end
Model = nn.Module:extend("Model")
function Model:__init(vocab, dim, layers)
  self.emb = nn.Embedding(vocab, dim)
  self.blocks = nn.ModuleList(collect(layers, function(_) return Block(dim, 4) end))
  self.norm = nn.LayerNorm(dim)
  self.head = nn.Linear(dim, vocab, {bias = false})
end
function Model:forward(x, use_reentrant)
  local h, block
  h = self.emb(x)
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = use_reentrant})
  end
  return self.head(self.norm(h))
end
model = Model(200, 64, 3):cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0003, betas = {0.9, 0.95}, fused = true})
schedule = ohm.optim.lr_scheduler.LambdaLR(optimizer, function(step) return math.min(1.0, (step + 1) / 2) end)
mark("model")
for step = 0, 3 - 1 do
  tokens = ohm.randint(0, 200, {4, 33}, {device = "cuda"})
  do
    local new1, new2 = slice(slice(tokens, 0, 0), 1, 0, -1), slice(slice(tokens, 0, 0), 1, 1)
    x = new1
    y = new2
  end
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    logits = model(x, step == 1)
    loss = F.cross_entropy(logits:reshape(-1, 200), y:reshape(-1))
  end
  mark("forward " .. step)
  optimizer:zero_grad({set_to_none = true})
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  optimizer:step()
  schedule:step()
  mark("step " .. step)
end
peak = ohm.cuda.max_memory_allocated()
ohm.cuda.reset_peak_memory_stats()
model:eval()
do
  local mode3 <close> = ohm.inference_mode()
  do
    local mode4 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    logits = model(x, false)
    ppl = F.cross_entropy(logits:float():reshape(-1, 200), y:reshape(-1)):exp():item()
  end
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
optimizer = nil
schedule = nil
tokens = nil
x = nil
y = nil
logits = nil
loss = nil
peak = nil
ppl = nil
mark("globals deleted")

--== model_chunked_attention
local Longformer, LSHAttention, ReversibleBlock, ff, net, optimizer, ids, loss
Longformer = nn.Module:extend("Longformer")
function Longformer:__init(dim, heads, window)
  self.heads = heads
  self.window = window
  self.query = nn.Linear(dim, dim)
  self.key = nn.Linear(dim, dim)
  self.value = nn.Linear(dim, dim)
end
function Longformer:blocks_of(x)
  local b, t, h, w, size, stride
  b, t, h = table.unpack(x.shape)
  w = self.window
  x = x:view(b, t // (w * 2), w * 2, h)
  size = x:size()
  size[2] = (size[2] * 2) - 1
  stride = x:stride()
  stride[2] = stride[2] // 2
  return x:as_strided(size, stride)
end
function Longformer:forward(x)
  local b, t, d, w, h, q, k, v, cq, ck, scores, n, band, attn, start, p, padded, s0, s1, s2, cv, total, nc, wl, hd, out
  b, t, d = table.unpack(x.shape)
  w, h = self.window, self.heads
  q = self.query(x) / math.sqrt(d // h)
  q = q:view(b, t, h, d // h):transpose(1, 2):reshape(b * h, t, d // h)
  k = self.key(x):view(b, t, h, d // h):transpose(1, 2):reshape(b * h, t, d // h)
  v = self.value(x):view(b, t, h, d // h):transpose(1, 2):reshape(b * h, t, d // h)
  cq, ck = self:blocks_of(q), self:blocks_of(k)
  scores = ohm.einsum("bcxd,bcyd->bcxy", {cq, ck})
  scores = F.pad(scores, {0, 0, 0, 1})
  scores = scores:view(scores:size(0), scores:size(1), scores:size(3), scores:size(2))
  n = (t // w) - 1
  band = scores:new_empty(b * h, n + 1, w, (w * 2) + 1)
  slice(slice(slice(slice(band, 0, 0), 1, 0, -1), 2, 0), 3, w):copy_(slice(slice(slice(slice(scores, 0, 0), 1, 0), 2, 0, w), 3, 0, w + 1))
  slice(slice(slice(band, 0, 0):select(1, -1), 1, 0), 2, w):copy_(slice(slice(slice(scores, 0, 0):select(1, -1), 1, w), 2, 0, w + 1))
  slice(slice(slice(slice(band, 0, 0), 1, 1), 2, 0), 3, 0, w):copy_(slice(slice(slice(slice(scores, 0, 0), 1, 0), 2, -(w + 1), -1), 3, w + 1))
  slice(slice(slice(band, 0, 0):select(1, 0), 1, 1, w), 2, 1, w):copy_(slice(slice(slice(scores, 0, 0):select(1, 0), 1, 0, w - 1), 2, 1 - w))
  attn = band:view(b, h, t, (2 * w) + 1):transpose(2, 1)
  start = ohm.ones(w, w + 1, {device = x.device}):tril():flip({dims = {0}})
  start = slice(slice(start:unsqueeze(0), 1, 0):unsqueeze(2), 3, 0):expand(b, w, h, w + 1)
  slice(slice(slice(slice(attn, 0, 0), 1, 0, w), 2, 0), 3, 0, w + 1):masked_fill_(start:eq(1), -1000000000.0)
  attn = F.softmax(attn, {dim = -1, dtype = ohm.float32}):type_as(attn)
  attn = F.dropout(attn, {p = 0.1, training = self.training})
  p = attn:transpose(1, 2):reshape(b * h, t // w, w, (2 * w) + 1)
  padded = F.pad(v, {0, 0, w, w}, {value = -1})
  s0, s1, s2 = several(padded:stride())
  cv = padded:as_strided({size = {b * h, n + 1, 3 * w, d // h}, stride = {s0, w * s1, s1, s2}})
  total, nc, wl, hd = table.unpack(p.shape)
  p = slice(slice(slice(slice(slice(slice(slice(F.pad(p, {0, w + 1}):view(total, nc, -1), 0, 0), 1, 0), 2, 0, -w):view(total, nc, w, hd + w), 0, 0), 1, 0), 2, 0), 3, 0, -1)
  out = ohm.einsum("bcwd,bcdh->bcwh", {p, cv})
  return out:view(b, h, t, d // h):transpose(1, 2):reshape(b, t, d)
end
LSHAttention = nn.Module:extend("LSHAttention")
function LSHAttention:__init(dim, heads, buckets, chunk)
  self.heads = heads
  self.buckets = buckets
  self.chunk = chunk
  self.qk = nn.Linear(dim, dim, {bias = false})
  self.v = nn.Linear(dim, dim, {bias = false})
  self.out = nn.Linear(dim, dim)
end
function LSHAttention:forward(x)
  local b, t, d, h, qk, v, rot, rotated, bucket, key, _, order, undo, sqk, sv, c, bq, bk, bv, dots, lse, probs, so, o
  b, t, d = table.unpack(x.shape)
  h = self.heads
  qk = self.qk(x):view(b, t, h, -1):transpose(1, 2):reshape(b * h, t, -1)
  v = self.v(x):view(b, t, h, -1):transpose(1, 2):reshape(b * h, t, -1)
  do
    local mode1 <close> = ohm.no_grad()
    rot = ohm.randn(d // h, self.buckets // 2, {device = x.device})
    rotated = ohm.matmul(qk:detach(), rot)
    bucket = ohm.cat({rotated, -rotated}, {dim = -1}):argmax({dim = -1})
    key = (bucket * t) + ohm.arange(t, {device = x.device})
    _, order = key:sort({dim = -1})
    _, undo = order:sort({dim = -1})
  end
  sqk = qk:gather(1, order:unsqueeze(-1):expand_as(qk))
  sv = v:gather(1, order:unsqueeze(-1):expand_as(v))
  c = self.chunk
  bq = sqk:view(b * h, t // c, c, -1)
  bk = F.normalize(bq, {p = 2, dim = -1})
  bv = sv:view(b * h, t // c, c, -1)
  bk = ohm.cat({bk, ohm.roll(bk, 1, {dims = 1})}, {dim = 2})
  bv = ohm.cat({bv, ohm.roll(bv, 1, {dims = 1})}, {dim = 2})
  dots = ohm.einsum("bnid,bnjd->bnij", {bq, bk}) * ((d // h) ^ (-0.5))
  lse = ohm.logsumexp(dots, {dim = -1, keepdim = true})
  probs = ohm.exp(dots - lse)
  so = ohm.einsum("bnij,bnjd->bnid", {probs, bv}):reshape(b * h, t, -1)
  o = so:gather(1, undo:unsqueeze(-1):expand_as(so))
  return self.out(o:view(b, h, t, -1):transpose(1, 2):reshape(b, t, d))
end
ReversibleBlock = nn.Module:extend("ReversibleBlock")
function ReversibleBlock:__init(f, g)
  self.f = f
  self.g = g
end
function ReversibleBlock:forward(x)
  local x1, x2, y1, y2
  x1, x2 = ohm.chunk(x, 2, {dim = 2})
  y1 = x1 + self.f(x2)
  y2 = x2 + self.g(y1)
  return ohm.cat({y1, y2}, {dim = 2})
end
ff = nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))
net = nn.Sequential(nn.Embedding(50, 64), ReversibleBlock(Longformer(32, 4, 4), ff), ReversibleBlock(LSHAttention(32, 2, 4, 8), nn.Linear(32, 32)), nn.LayerNorm(64), nn.Linear(64, 50)):cuda()
optimizer = ohm.optim.Adam(net:parameters(), {lr = 0.001})
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, 50, {2, 32}, {device = "cuda"})
  loss = F.cross_entropy(net(ids):flatten(0, 1), ids:roll(-1, {dims = 1}):flatten())
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
ff = nil
net = nil
optimizer = nil
ids = nil
loss = nil
mark("globals deleted")

--== model_clip
local TextEncoder, ImageEncoder, CLIP, model, opt, images, ids, per_image, per_text, truth, loss
TextEncoder = nn.Module:extend("TextEncoder")
function TextEncoder:__init(vocab, width, length)
  local layer
  if length == nil then length = 12 end
  if width == nil then width = 32 end
  if vocab == nil then vocab = 100 end
  self.token = nn.Embedding(vocab, width)
  self.pos = nn.Parameter(ohm.empty(length, width):normal_({std = 0.01}))
  layer = nn.TransformerEncoderLayer(width, 4, {dim_feedforward = 64, dropout = 0.0, activation = "gelu", batch_first = true, norm_first = true})
  self.transformer = nn.TransformerEncoder(layer, 2, {enable_nested_tensor = false})
  self.ln = nn.LayerNorm(width)
  self:register_buffer("mask", ohm.full({length, length}, -math.huge):triu(1))
end
function TextEncoder:forward(ids)
  local x
  x = self.token(ids) + self.pos
  x = self.transformer(x, {mask = self.mask})
  x = self.ln(x)
  return x:index({ohm.arange(x:size(0), {device = x.device}), ids:argmax({dim = -1})})
end
ImageEncoder = nn.Module:extend("ImageEncoder")
function ImageEncoder:__init(width)
  if width == nil then width = 32 end
  self.stem = nn.Sequential(nn.Conv2d(3, 16, 4, {stride = 4}), nn.GELU(), nn.Conv2d(16, width, 2, {stride = 2}), nn.GELU())
  self.norm = nn.LayerNorm(width)
end
function ImageEncoder:forward(x)
  x = self.stem(x)
  x = x:mean({dim = {-2, -1}})
  return self.norm(x)
end
CLIP = nn.Module:extend("CLIP")
function CLIP:__init()
  self.visual = ImageEncoder()
  self.text = TextEncoder()
  self.image_proj = nn.Linear(32, 24, {bias = false})
  self.text_proj = nn.Parameter(ohm.randn(32, 24) * 0.1)
  self.logit_scale = nn.Parameter(ohm.ones({}) * math.log(1 / 0.07))
end
function CLIP:forward(images, ids)
  local i, t, scale, per_image
  i = self.image_proj(self.visual(images))
  t = ohm.matmul(self.text(ids), self.text_proj)
  i = i / i:norm({dim = 1, keepdim = true})
  t = t / t:norm({dim = 1, keepdim = true})
  scale = self.logit_scale:exp()
  per_image = ohm.matmul(scale * i, t:t())
  return per_image, per_image:t()
end
model = CLIP():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.0005, betas = {0.9, 0.98}, eps = 1e-06, weight_decay = 0.2})
mark("model")
for step = 0, 2 - 1 do
  images = ohm.randn(8, 3, 32, 32, {device = "cuda"})
  ids = ohm.randint(0, 100, {8, 12}, {device = "cuda"})
  per_image, per_text = model(images, ids)
  truth = ohm.arange(8, {device = "cuda"})
  loss = (F.cross_entropy(per_image, truth) + F.cross_entropy(per_text, truth)) / 2
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  do
    local mode1 <close> = ohm.no_grad()
    model.logit_scale:clamp_(0, math.log(100))
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
images = nil
ids = nil
per_image = nil
per_text = nil
truth = nil
loss = nil
mark("globals deleted")

--== model_conformer
local FeedForward, ConvModule, RelAttention, Block, Conformer, model, optimizer, scheduler, ctc, x, mask, targets, logp, loss
FeedForward = nn.Module:extend("FeedForward")
function FeedForward:__init(d, p)
  self.net = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.SiLU(), nn.Dropout(p), nn.Linear(4 * d, d), nn.Dropout(p))
end
function FeedForward:forward(x)
  return self.net(x)
end
ConvModule = nn.Module:extend("ConvModule")
function ConvModule:__init(d, kernel, p)
  self.norm = nn.LayerNorm(d)
  self.pw1 = nn.Conv1d(d, 2 * d, 1)
  self.dw = nn.Conv1d(d, d, kernel, {padding = (kernel - 1) // 2, groups = d})
  self.bn = nn.BatchNorm1d(d)
  self.pw2 = nn.Conv1d(d, d, 1)
  self.dropout = nn.Dropout(p)
end
function ConvModule:forward(x)
  x = self.norm(x):transpose(1, 2)
  x = F.glu(self.pw1(x), {dim = 1})
  x = F.silu(self.bn(self.dw(x)))
  return self.dropout(self.pw2(x)):transpose(1, 2)
end
RelAttention = nn.Module:extend("RelAttention")
function RelAttention:__init(d, heads, p)
  self.h = heads
  self.dh = d // heads
  self.q = nn.Linear(d, d)
  self.k = nn.Linear(d, d)
  self.v = nn.Linear(d, d)
  self.pos = nn.Linear(d, d, {bias = false})
  self.out = nn.Linear(d, d)
  self.u = nn.Parameter(ohm.empty(heads, d // heads))
  self.w = nn.Parameter(ohm.empty(heads, d // heads))
  nn.init.xavier_uniform_(self.u)
  nn.init.xavier_uniform_(self.w)
  self.dropout = nn.Dropout(p)
  self.norm = nn.LayerNorm(d)
end
function RelAttention:shift(x)
  local b, h, t, p, zeros
  b, h, t, p = table.unpack(x.shape)
  zeros = x:new_zeros(b, h, t, 1)
  x = ohm.cat({zeros, x}, {dim = -1}):view(b, h, p + 1, t)
  return slice(slice(slice(x, 0, 0), 1, 0), 2, 1):view(b, h, t, p)
end
function RelAttention:forward(x, pe, mask)
  local B, T, D, q, k, v, p, content, position, score, attn, context
  x = self.norm(x)
  B, T, D = table.unpack(x.shape)
  q = self.q(x):view(B, T, self.h, self.dh)
  k = self.k(x):view(B, T, self.h, self.dh):permute(0, 2, 1, 3)
  v = self.v(x):view(B, T, self.h, self.dh):permute(0, 2, 1, 3)
  p = self.pos(pe):view(B, -1, self.h, self.dh)
  content = ohm.matmul((q + self.u):transpose(1, 2), k:transpose(2, 3))
  position = ohm.matmul((q + self.w):transpose(1, 2), p:permute(0, 2, 3, 1))
  score = (content + self:shift(position)) / math.sqrt(D)
  score:masked_fill_(mask:unsqueeze(1), -1000000000.0)
  attn = self.dropout(F.softmax(score, -1))
  context = ohm.matmul(attn, v):transpose(1, 2)
  return self.out(context:contiguous():view(B, -1, D))
end
Block = nn.Module:extend("Block")
function Block:__init(d, heads, p)
  self.ff1 = FeedForward(d, p)
  self.attn = RelAttention(d, heads, p)
  self.conv = ConvModule(d, 7, p)
  self.ff2 = FeedForward(d, p)
  self.norm = nn.LayerNorm(d)
end
function Block:forward(x, pe, mask)
  x = x + (0.5 * self.ff1(x))
  x = x + self.attn(x, pe, mask)
  x = x + self.conv(x)
  x = x + (0.5 * self.ff2(x))
  return self.norm(x)
end
Conformer = nn.Module:extend("Conformer")
function Conformer:__init(d, vocab)
  local pe, position, div
  if vocab == nil then vocab = 20 end
  if d == nil then d = 48 end
  self.sub = nn.Sequential(nn.Conv2d(1, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 16, 3, 2), nn.ReLU())
  self.proj = nn.Linear(16 * 9, d)
  pe = ohm.zeros(100, d)
  position = ohm.arange(0, 100, {dtype = ohm.float32}):unsqueeze(1)
  div = ohm.exp(ohm.arange(0, d, 2):float() * (-(math.log(10000.0) / d)))
  slice(slice(pe, 0, 0), 1, 0, nil, 2):copy_(ohm.sin(position * div))
  slice(slice(pe, 0, 0), 1, 1, nil, 2):copy_(ohm.cos(position * div))
  self:register_buffer("pe", pe:unsqueeze(0))
  self.blocks = nn.ModuleList(collect(2, function(_) return Block(d, 4, 0.1) end))
  self.fc = nn.Linear(d, vocab)
end
function Conformer:forward(x, mask)
  local b, c, t, f, pe, block
  x = self.sub(x:unsqueeze(1))
  b, c, t, f = table.unpack(x.shape)
  x = self.proj(x:permute(0, 2, 1, 3):contiguous():view(b, t, c * f))
  pe = repeated(slice(slice(self.pe, 0, 0), 1, 0, t), b, 1, 1)
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    x = block(x, pe, mask)
  end
  return F.log_softmax(self.fc(x), {dim = -1})
end
model = Conformer():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.0001, betas = {0.9, 0.98}, eps = 1e-09})
scheduler = ohm.optim.lr_scheduler.LambdaLR(optimizer, function(step) return math.min((step + 1) ^ (-0.5), (step + 1) * (100 ^ (-1.5))) end)
ctc = nn.CTCLoss({blank = 0, zero_infinity = true})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(3, 60, 39, {device = "cuda"})
  mask = ohm.zeros(3, 14, 14, {dtype = ohm.bool, device = "cuda"})
  slice(slice(mask:select(0, 1), 0, 0), 1, 10):fill_(true)
  targets = ohm.randint(1, 20, {3, 5}, {device = "cuda"})
  logp = model(x, mask)
  loss = ctc(logp:transpose(0, 1), targets, ohm.tensor({14, 10, 14}), ohm.tensor({5, 4, 3}))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
ctc = nil
x = nil
mask = nil
targets = nil
logp = nil
loss = nil
mark("globals deleted")

--== model_convnext
local LayerNorm2d, DropPath, Block, ConvNeXt, model, ema, optimizer, x, y, perm, onehot, target, out, loss, correct
ohm.backends.cudnn.enabled = true
LayerNorm2d = nn.Module:extend("LayerNorm2d")
function LayerNorm2d:__init(dim)
  self.weight = nn.Parameter(ohm.ones(dim))
  self.bias = nn.Parameter(ohm.zeros(dim))
end
function LayerNorm2d:forward(x)
  local u, s
  u = x:mean(1, {keepdim = true})
  s = (x - u):pow(2):mean(1, {keepdim = true})
  x = (x - u) / ohm.sqrt(s + 1e-06)
  return (slice(self.weight, 0, 0):unsqueeze(1):unsqueeze(2) * x) + slice(self.bias, 0, 0):unsqueeze(1):unsqueeze(2)
end
DropPath = nn.Module:extend("DropPath")
function DropPath:__init(p)
  self.p = p
end
function DropPath:forward(x)
  local keep, mask
  if (self.p == 0.0 or not self.training) then
    return x
  end
  keep = 1 - self.p
  mask = x:new_empty(x:size(0), 1, 1, 1):bernoulli_(keep)
  mask:div_(keep)
  return x * mask
end
Block = nn.Module:extend("Block")
function Block:__init(dim, drop)
  self.dwconv = nn.Conv2d(dim, dim, 7, {padding = 3, groups = dim})
  self.norm = nn.LayerNorm(dim, {eps = 1e-06})
  self.pwconv1 = nn.Linear(dim, 4 * dim)
  self.act = nn.GELU()
  self.pwconv2 = nn.Linear(4 * dim, dim)
  self.gamma = nn.Parameter(1e-06 * ohm.ones(dim))
  self.drop_path = DropPath(drop)
end
function Block:forward(x)
  local shortcut
  shortcut = x
  x = self.dwconv(x)
  x = x:permute(0, 2, 3, 1)
  x = self.norm(x)
  x = self.pwconv2(self.act(self.pwconv1(x)))
  x = self.gamma * x
  x = x:permute(0, 3, 1, 2)
  return shortcut + self.drop_path(x)
end
ConvNeXt = nn.Module:extend("ConvNeXt")
function ConvNeXt:__init()
  self.stem = nn.Sequential(nn.Conv2d(3, 32, 4, {stride = 4}), LayerNorm2d(32))
  self.stage1 = nn.Sequential(Block(32, 0.0), Block(32, 0.1))
  self.down = nn.Sequential(LayerNorm2d(32), nn.Conv2d(32, 64, 2, {stride = 2}))
  self.stage2 = nn.Sequential(Block(64, 0.1), Block(64, 0.2))
  self.norm = nn.LayerNorm(64, {eps = 1e-06})
  self.head = nn.Linear(64, 20)
end
function ConvNeXt:forward(x)
  x = self.stage1(self.stem(x))
  x = self.stage2(self.down(x))
  x = self.norm(x:mean({-2, -1}))
  return self.head(x)
end
model = ConvNeXt():cuda()
ema = {}
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.004, weight_decay = 0.05})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(8, 3, 32, 32, {device = "cuda"})
  y = ohm.randint(0, 20, {8}, {device = "cuda"})
  perm = ohm.randperm(8, {device = "cuda"})
  onehot = F.one_hot(y, 20):float()
  if (step % 2) == 0 then
    x = (0.7 * x) + (0.3 * x:index({perm}))
    target = (0.7 * onehot) + (0.3 * onehot:index({perm}))
  else
    slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 4, 20), 3, 8, 24):copy_(slice(slice(slice(x, 1, 0), 2, 4, 20), 3, 8, 24):index({perm}))
    target = (onehot * 0.75) + (onehot:index({perm}) * 0.25)
  end
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    out = model(x)
    loss = ohm.sum((-target) * F.log_softmax(out, {dim = -1}), {dim = -1}):mean()
  end
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
model:eval()
correct = 0
do
  local mode2 <close> = ohm.inference_mode()
  for i = 0, 2 - 1 do
    x = ohm.randn(8, 3, 32, 32, {device = "cuda"})
    y = ohm.randint(0, 20, {8}, {device = "cuda"})
    out = model(x)
    correct = correct + (out:argmax(1):eq(y)):sum():item()
  end
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
ema = nil
optimizer = nil
x = nil
y = nil
perm = nil
onehot = nil
target = nil
out = nil
loss = nil
mark("globals deleted")

--== model_crf_beam
local vocab, tags, dim, batch, length, CRF, model, optimizer, x, y, lengths, mask, emit, loss, path, acc, cell, head, beam, h, tokens, scores, offset, logp, total, idx, origin, token, rows
vocab, tags, dim, batch, length = 90, 7, 40, 5, 8
CRF = nn.Module:extend("CRF")
function CRF:__init()
  self.emb = nn.Embedding(vocab, dim)
  self.conv = nn.Conv1d(dim, dim, 3, {padding = 1})
  self.fc = nn.Linear(dim, tags)
  self.transitions = nn.Parameter(ohm.randn(tags, tags))
  self.start = nn.Parameter(ohm.zeros(tags))
  self.stop = nn.Parameter(ohm.zeros(tags))
end
function CRF:emissions(x)
  local h
  h = self.emb(x):transpose(1, 2)
  h = F.relu(self.conv(h)):transpose(1, 2)
  return self.fc(h)
end
function CRF:log_partition(emit, mask)
  local alpha, scores, new
  alpha = self.start + slice(emit, 0, 0):select(1, 0)
  for t = 1, emit:size(1) - 1 do
    scores = (alpha:unsqueeze(2) + self.transitions) + slice(emit, 0, 0):select(1, t):unsqueeze(1)
    new = ohm.logsumexp(scores, {dim = 1})
    alpha = ohm.where(slice(mask, 0, 0):select(1, t):unsqueeze(1), new, alpha)
  end
  return ohm.logsumexp(alpha + self.stop, {dim = 1})
end
function CRF:score(emit, y, mask)
  local total, m, step, last
  total = self.start:index({slice(y, 0, 0):select(1, 0)}) + slice(emit, 0, 0):select(1, 0):gather(1, slice(slice(y, 0, 0), 1, 0, 1)):squeeze(1)
  m = mask:float()
  for t = 1, emit:size(1) - 1 do
    step = self.transitions:index({slice(y, 0, 0):select(1, t - 1), slice(y, 0, 0):select(1, t)}) + slice(emit, 0, 0):select(1, t):gather(1, slice(y, 0, 0):select(1, t):unsqueeze(1)):squeeze(1)
    total = total + (step * slice(m, 0, 0):select(1, t))
  end
  last = mask:long():sum(1) - 1
  return total + self.stop:index({y:gather(1, last:unsqueeze(1)):squeeze(1)})
end
function CRF:decode(emit)
  local score, history, best, idx, tag, path
  score = self.start + slice(emit, 0, 0):select(1, 0)
  history = {}
  for t = 1, emit:size(1) - 1 do
    do
      local new1, new2 = (score:unsqueeze(2) + self.transitions):max({dim = 1})
      best = new1
      idx = new2
    end
    score = best + slice(emit, 0, 0):select(1, t)
    history[#history + 1] = idx
  end
  score = score + self.stop
  tag = score:argmax({dim = 1, keepdim = true})
  path = {tag}
  for t = #history - 1, 0, -1 do
    tag = history[t + 1]:gather(1, tag)
    path[#path + 1] = tag
  end
  return ohm.cat(path, {dim = 1}):flip(1)
end
model = CRF():cuda()
optimizer = ohm.optim.Adagrad(model:parameters(), {lr = 0.05})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randint(0, vocab, {batch, length}, {device = "cuda"})
  y = ohm.randint(0, tags, {batch, length}, {device = "cuda"})
  lengths = ohm.randint(3, length + 1, {batch}, {device = "cuda"})
  mask = ohm.arange(length, {device = "cuda"}):unsqueeze(0):lt(lengths:unsqueeze(1))
  emit = model:emissions(x)
  loss = (model:log_partition(emit, mask) - model:score(emit, y, mask)):mean()
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
do
  local mode1 <close> = ohm.no_grad()
  path = model:decode(model:emissions(x))
  acc = (path:eq(y)):float():mean():item()
end
mark("decoded")
cell = nn.GRUCell(dim, dim):cuda()
head = nn.Linear(dim, vocab):cuda()
beam = 3
do
  local mode2 <close> = ohm.no_grad()
  h = ohm.randn(batch * beam, dim, {device = "cuda"})
  tokens = ohm.zeros(batch * beam, 1, {dtype = ohm.int64, device = "cuda"})
  scores = ohm.zeros(batch, beam, {device = "cuda"})
  slice(slice(scores, 0, 0), 1, 1):fill_(-1000000000.0)
  offset = (ohm.arange(batch, {device = "cuda"}) * beam):unsqueeze(1)
  for t = 0, 4 - 1 do
    h = cell(model.emb(slice(tokens, 0, 0):select(1, -1)), h)
    logp = F.log_softmax(head(h), {dim = -1}):view(batch, beam, vocab)
    total = (scores:unsqueeze(2) + logp):view(batch, -1)
    do
      local new1, new2 = total:topk(beam, {dim = 1})
      scores = new1
      idx = new2
    end
    origin = ohm.div(idx, vocab, {rounding_mode = "floor"})
    token = idx % vocab
    rows = (origin + offset):view(-1)
    tokens = ohm.cat({tokens:index({rows}), token:view(-1, 1)}, {dim = 1})
    h = h:index_select(0, rows)
    mark("beam " .. t)
  end
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
lengths = nil
mask = nil
emit = nil
loss = nil
path = nil
acc = nil
cell = nil
head = nil
h = nil
tokens = nil
scores = nil
offset = nil
logp = nil
total = nil
idx = nil
origin = nil
token = nil
rows = nil
mark("globals deleted")

--== model_ctc_speech
local SpeechModel, model, opt, criterion, x, targets, logp, loss
SpeechModel = nn.Module:extend("SpeechModel")
function SpeechModel:__init(features, hidden, classes)
  if classes == nil then classes = 12 end
  if hidden == nil then hidden = 24 end
  if features == nil then features = 20 end
  self.conv = nn.Sequential(nn.Conv1d(features, hidden, 5, {stride = 2, padding = 2}), nn.BatchNorm1d(hidden), nn.Hardtanh(0, 20))
  self.rnn = nn.GRU(hidden, hidden, {bidirectional = true, batch_first = true})
  self.fc = nn.Linear(2 * hidden, classes)
end
function SpeechModel:forward(x)
  local out, _
  x = self.conv(x):transpose(1, 2)
  out, _ = several(self.rnn(x))
  return F.log_softmax(self.fc(out), {dim = -1})
end
model = SpeechModel():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
criterion = nn.CTCLoss({blank = 0, zero_infinity = true})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(4, 20, 24, {device = "cuda"})
  targets = ohm.randint(1, 12, {4, 4}, {device = "cuda"})
  logp = model(x):transpose(0, 1)
  loss = criterion(logp, targets, ohm.full({4}, 12, {dtype = ohm.int64}), ohm.full({4}, 4, {dtype = ohm.int64}))
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 400)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
criterion = nil
x = nil
targets = nil
logp = nil
loss = nil
mark("globals deleted")

--== model_cutmix_depth
local DropPath, MBConv, model, decay, others, optimizer, warmup, cosine, scheduler, x, y, perm, top, left, size, lam, target, out, loss, crops, probs, top5
ohm.backends.cudnn.enabled = true
DropPath = nn.Module:extend("DropPath")
function DropPath:__init(p)
  self.p = p
end
function DropPath:forward(x)
  local keep, mask
  if (not self.training or self.p == 0.0) then
    return x
  end
  keep = 1 - self.p
  mask = ohm.rand(x:size(0), 1, 1, 1, {device = x.device}):lt(keep):to(x.dtype)
  return x:div(keep) * mask
end
MBConv = nn.Module:extend("MBConv")
function MBConv:__init(cin, cout, expand, stride, p)
  local mid
  mid = cin * expand
  self.body = nn.Sequential(nn.Conv2d(cin, mid, 1, {bias = false}), nn.BatchNorm2d(mid), nn.Hardswish({inplace = true}), nn.Conv2d(mid, mid, 3, {stride = stride, padding = 1, groups = mid, bias = false}), nn.BatchNorm2d(mid), nn.Hardswish({inplace = true}), nn.Conv2d(mid, cout, 1, {bias = false}), nn.BatchNorm2d(cout))
  self.path = DropPath(p)
  self.residual = (stride == 1 and cin == cout)
end
function MBConv:forward(x)
  local y
  y = self.body(x)
  if self.residual then
    y = self.path(y) + x
  end
  return y
end
model = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), MBConv(16, 16, 2, 1, 0.1), MBConv(16, 24, 3, 2, 0.0), MBConv(24, 24, 3, 1, 0.2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(24, 10)):cuda():to({memory_format = ohm.channels_last})
decay = filter(model:parameters(), function(p) return p.ndim > 1 end)
others = filter(model:parameters(), function(p) return p.ndim <= 1 end)
optimizer = ohm.optim.RMSprop({{params = decay, weight_decay = 1e-05}, {params = others}}, {lr = 0.01, alpha = 0.9, eps = 0.001, momentum = 0.9})
warmup = ohm.optim.lr_scheduler.LinearLR(optimizer, 0.1, {total_iters = 2})
cosine = ohm.optim.lr_scheduler.CosineAnnealingLR(optimizer, {T_max = 4})
scheduler = ohm.optim.lr_scheduler.SequentialLR(optimizer, {warmup, cosine}, {milestones = {2}})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.rand(11, 3, 37, 37, {device = "cuda"}):contiguous({memory_format = ohm.channels_last})
  y = ohm.randint(0, 10, {11}, {device = "cuda"})
  perm = ohm.randperm(11, {device = "cuda"})
  top, left, size = 4 + step, 7, 12
  slice(slice(slice(slice(x, 0, 0), 1, 0), 2, top, top + size), 3, left, left + size):copy_(slice(slice(slice(x, 1, 0), 2, top, top + size), 3, left, left + size):index({perm}))
  lam = 1 - ((size * size) / (37 * 37))
  target = F.one_hot(y, 10):float()
  target = (lam * target) + ((1 - lam) * target:index({perm}))
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    out = model(x)
    loss = -(target * F.log_softmax(out, {dim = 1})):sum({dim = 1}):mean()
  end
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  scheduler:step()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  crops = ohm.rand(3, 5, 3, 32, 32, {device = "cuda"})
  probs = model(crops:flatten(0, 1)):softmax(-1):view(3, 5, 10):mean(1)
  top5 = second(probs:topk(5)):eq(ohm.zeros(3, 1, {dtype = ohm.int64, device = "cuda"})):any({dim = 1}):float():mean()
end
mark("eval")
mark("end of program (globals alive)")
model = nil
decay = nil
others = nil
optimizer = nil
warmup = nil
cosine = nil
scheduler = nil
x = nil
y = nil
perm = nil
top = nil
lam = nil
target = nil
out = nil
loss = nil
crops = nil
probs = nil
top5 = nil
mark("globals deleted")

--== model_cyclegan
local ResBlock, Generator, Discriminator, init_weights, g_ab, g_ba, d_a, d_b, opt_g, opt_d, pool_a, pool_b, query, real_a, real_b, p, fake_b, rec_a, fake_a, rec_b, idt_a, idt_b, pred_a, pred_b, gan_loss, cycle_loss, idt_loss, loss_g, old_a, real_pred, fake_pred, loss_d_a, old_b, loss_d_b
ResBlock = nn.Module:extend("ResBlock")
function ResBlock:__init(channels)
  self.block = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(channels, channels, 3), nn.InstanceNorm2d(channels), nn.ReLU({inplace = true}), nn.ReflectionPad2d(1), nn.Conv2d(channels, channels, 3), nn.InstanceNorm2d(channels))
end
function ResBlock:forward(x)
  return x + self.block(x)
end
Generator = nn.Module:extend("Generator")
function Generator:__init(ngf)
  if ngf == nil then ngf = 16 end
  self.model = nn.Sequential(nn.ReflectionPad2d(3), nn.Conv2d(3, ngf, 7), nn.InstanceNorm2d(ngf), nn.ReLU({inplace = true}), nn.Conv2d(ngf, ngf * 2, 3, {stride = 2, padding = 1}), nn.InstanceNorm2d(ngf * 2), nn.ReLU({inplace = true}), ResBlock(ngf * 2), ResBlock(ngf * 2), nn.ConvTranspose2d(ngf * 2, ngf, 3, {stride = 2, padding = 1, output_padding = 1}), nn.InstanceNorm2d(ngf), nn.ReLU({inplace = true}), nn.ReflectionPad2d(3), nn.Conv2d(ngf, 3, 7), nn.Tanh())
end
function Generator:forward(x)
  return self.model(x)
end
Discriminator = nn.Module:extend("Discriminator")
function Discriminator:__init(ndf)
  if ndf == nil then ndf = 16 end
  self.model = nn.Sequential(nn.Conv2d(3, ndf, 4, {stride = 2, padding = 1}), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf, ndf * 2, 4, {stride = 2, padding = 1}), nn.InstanceNorm2d(ndf * 2), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf * 2, 1, 4, {padding = 1}))
end
function Discriminator:forward(x)
  return self.model(x)
end
function init_weights(m)
  if is_a(m, "Conv2d") then
    nn.init.normal_(m.weight, 0.0, 0.02)
    nn.init.constant_(m.bias, 0.0)
  end
end
g_ab = Generator():cuda()
g_ba = Generator():cuda()
d_a = Discriminator():cuda()
d_b = Discriminator():cuda()
g_ab:apply(init_weights)
g_ba:apply(init_weights)
opt_g = ohm.optim.Adam(joined(g_ab:parameters(), g_ba:parameters()), {lr = 0.0002, betas = {0.5, 0.999}})
opt_d = ohm.optim.Adam(joined(d_a:parameters(), d_b:parameters()), {lr = 0.0002, betas = {0.5, 0.999}})
pool_a = {}
pool_b = {}
mark("models")
function query(pool, images, step)
  local out, image, tmp
  out = {}
  for i = 0, images:size(0) - 1 do
    image = images:select(0, i):unsqueeze(0)
    if #pool < 3 then
      pool[#pool + 1] = image
      out[#out + 1] = image
    elseif (i + step) % 2 == 0 then
      tmp = pool[2]:clone()
      pool[2] = image
      out[#out + 1] = tmp
    else
      out[#out + 1] = image
    end
  end
  local result = ohm.cat(out, 0)
  clear(out)
  return result
end
for step = 0, 3 - 1 do
  real_a = ohm.randn(2, 3, 32, 32, {device = "cuda"})
  real_b = ohm.randn(2, 3, 32, 32, {device = "cuda"})
  for _, item1 in ipairs(joined(d_a:parameters(), d_b:parameters())) do
    p = item1
    p.requires_grad = false
  end
  opt_g:zero_grad()
  fake_b = g_ab(real_a)
  rec_a = g_ba(fake_b)
  fake_a = g_ba(real_b)
  rec_b = g_ab(fake_a)
  idt_a = g_ba(real_a)
  idt_b = g_ab(real_b)
  pred_a = d_a(fake_a)
  pred_b = d_b(fake_b)
  gan_loss = F.mse_loss(pred_a, ohm.ones_like(pred_a)) + F.mse_loss(pred_b, ohm.ones_like(pred_b))
  cycle_loss = F.l1_loss(rec_a, real_a) + F.l1_loss(rec_b, real_b)
  idt_loss = F.l1_loss(idt_a, real_a) + F.l1_loss(idt_b, real_b)
  loss_g = (gan_loss + (10.0 * cycle_loss)) + (5.0 * idt_loss)
  mark("forward " .. step)
  loss_g:backward()
  opt_g:step()
  mark("generators " .. step)
  for _, item2 in ipairs(joined(d_a:parameters(), d_b:parameters())) do
    p = item2
    p.requires_grad = true
  end
  opt_d:zero_grad()
  old_a = query(pool_a, fake_a:detach(), step)
  real_pred = d_a(real_a)
  fake_pred = d_a(old_a)
  loss_d_a = 0.5 * (F.mse_loss(real_pred, ohm.ones_like(real_pred)) + F.mse_loss(fake_pred, ohm.zeros_like(fake_pred)))
  loss_d_a:backward()
  old_b = query(pool_b, fake_b:detach(), step)
  real_pred = d_b(real_b)
  fake_pred = d_b(old_b)
  loss_d_b = 0.5 * (F.mse_loss(real_pred, ohm.ones_like(real_pred)) + F.mse_loss(fake_pred, ohm.zeros_like(fake_pred)))
  loss_d_b:backward()
  opt_d:step()
  mark("discriminators " .. step)
end
mark("end of program (globals alive)")
g_ab = nil
g_ba = nil
d_a = nil
d_b = nil
opt_g = nil
opt_d = nil
pool_a = nil
pool_b = nil
real_a = nil
real_b = nil
p = nil
fake_b = nil
rec_a = nil
fake_a = nil
rec_b = nil
idt_a = nil
idt_b = nil
pred_a = nil
pred_b = nil
gan_loss = nil
cycle_loss = nil
idt_loss = nil
loss_g = nil
old_a = nil
real_pred = nil
fake_pred = nil
loss_d_a = nil
old_b = nil
loss_d_b = nil
mark("globals deleted")

--== model_dcgan
local Generator, Discriminator, weights_init, netG, netD, criterion, optimizerD, optimizerG, fixed_noise, real, label, output, errD_real, noise, fake, errD_fake, errD, errG
Generator = nn.Module:extend("Generator")
function Generator:__init(nz, ngf)
  if ngf == nil then ngf = 16 end
  if nz == nil then nz = 32 end
  self.main = nn.Sequential(nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0, {bias = false}), nn.BatchNorm2d(ngf * 4), nn.ReLU(true), nn.ConvTranspose2d(ngf * 4, ngf * 2, 4, 2, 1, {bias = false}), nn.BatchNorm2d(ngf * 2), nn.ReLU(true), nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, {bias = false}), nn.BatchNorm2d(ngf), nn.ReLU(true), nn.ConvTranspose2d(ngf, 3, 4, 2, 1, {bias = false}), nn.Tanh())
end
function Generator:forward(z)
  return self.main(z)
end
Discriminator = nn.Module:extend("Discriminator")
function Discriminator:__init(ndf)
  if ndf == nil then ndf = 16 end
  self.main = nn.Sequential(nn.Conv2d(3, ndf, 4, 2, 1, {bias = false}), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf, ndf * 2, 4, 2, 1, {bias = false}), nn.BatchNorm2d(ndf * 2), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf * 2, ndf * 4, 4, 2, 1, {bias = false}), nn.BatchNorm2d(ndf * 4), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf * 4, 1, 4, 1, 0, {bias = false}), nn.Sigmoid())
end
function Discriminator:forward(x)
  return self.main(x):view(-1, 1):squeeze(1)
end
function weights_init(m)
  if is_a(m, "Conv2d") or is_a(m, "ConvTranspose2d") then
    nn.init.normal_(m.weight, 0.0, 0.02)
  elseif is_a(m, "BatchNorm2d") then
    nn.init.normal_(m.weight, 1.0, 0.02)
    nn.init.zeros_(m.bias)
  end
end
netG = Generator():cuda()
netG:apply(weights_init)
netD = Discriminator():cuda()
netD:apply(weights_init)
criterion = nn.BCELoss()
optimizerD = ohm.optim.Adam(netD:parameters(), {lr = 0.0002, betas = {0.5, 0.999}})
optimizerG = ohm.optim.Adam(netG:parameters(), {lr = 0.0002, betas = {0.5, 0.999}})
fixed_noise = ohm.randn(4, 32, 1, 1, {device = "cuda"})
mark("models")
for step = 0, 2 - 1 do
  netD:zero_grad()
  real = ohm.randn(8, 3, 32, 32):cuda()
  label = ohm.full({8}, 1.0, {device = "cuda"})
  output = netD(real)
  errD_real = criterion(output, label)
  errD_real:backward()
  noise = ohm.randn(8, 32, 1, 1, {device = "cuda"})
  fake = netG(noise)
  label:fill_(0.0)
  output = netD(fake:detach())
  errD_fake = criterion(output, label)
  errD_fake:backward()
  errD = errD_real + errD_fake
  optimizerD:step()
  mark("discriminator " .. step)
  netG:zero_grad()
  label:fill_(1.0)
  output = netD(fake)
  errG = criterion(output, label)
  errG:backward()
  optimizerG:step()
  mark("generator " .. step)
end
netG:eval()
do
  local mode1 <close> = ohm.no_grad()
  fake = netG(fixed_noise):detach():cpu()
end
mark("sample")
mark("end of program (globals alive)")
netG = nil
netD = nil
criterion = nil
optimizerD = nil
optimizerG = nil
fixed_noise = nil
real = nil
label = nil
output = nil
errD_real = nil
noise = nil
fake = nil
errD_fake = nil
errD = nil
errG = nil
mark("globals deleted")

--== model_ddpm
local timestep_embedding, ResBlock, AttentionBlock, Denoiser, T, betas, alphas, alpha_bar, sqrt_ab, sqrt_omab, model, ema, opt, x0, t, noise, xt, loss, e, p, x, eps
function timestep_embedding(t, dim)
  local half, freqs, args
  half = dim // 2
  freqs = ohm.exp(((-math.log(10000)) * ohm.arange(half, {dtype = ohm.float32, device = t.device})) / half)
  args = slice(t, 0, 0):unsqueeze(1):float() * slice(freqs:unsqueeze(0), 1, 0)
  return ohm.cat({ohm.cos(args), ohm.sin(args)}, {dim = -1})
end
ResBlock = nn.Module:extend("ResBlock")
function ResBlock:__init(inputs, outputs, emb)
  self.norm1 = nn.GroupNorm(8, inputs)
  self.conv1 = nn.Conv2d(inputs, outputs, 3, {padding = 1})
  self.emb = nn.Linear(emb, outputs)
  self.norm2 = nn.GroupNorm(8, outputs)
  self.drop = nn.Dropout(0.1)
  self.conv2 = nn.Conv2d(outputs, outputs, 3, {padding = 1})
  self.skip = (inputs ~= outputs and nn.Conv2d(inputs, outputs, 1) or nn.Identity())
end
function ResBlock:forward(x, emb)
  local h
  h = self.conv1(F.silu(self.norm1(x)))
  h = h + slice(slice(self.emb(F.silu(emb)), 0, 0), 1, 0):unsqueeze(2):unsqueeze(3)
  h = self.conv2(self.drop(F.silu(self.norm2(h))))
  return h + self.skip(x)
end
AttentionBlock = nn.Module:extend("AttentionBlock")
function AttentionBlock:__init(channels)
  self.norm = nn.GroupNorm(8, channels)
  self.qkv = nn.Conv1d(channels, 3 * channels, 1)
  self.proj = nn.Conv1d(channels, channels, 1)
end
function AttentionBlock:forward(x)
  local B, C, H, W, h, q, k, v, w
  B, C, H, W = table.unpack(x.shape)
  h = self.norm(x):view(B, C, H * W)
  q, k, v = self.qkv(h):chunk(3, {dim = 1})
  w = ohm.einsum("bct,bcs->bts", {q * (C ^ (-0.25)), k * (C ^ (-0.25))}):softmax({dim = -1})
  h = ohm.einsum("bts,bcs->bct", {w, v})
  return x + self.proj(h):view(B, C, H, W)
end
Denoiser = nn.Module:extend("Denoiser")
function Denoiser:__init(ch)
  if ch == nil then ch = 16 end
  self.ch = ch
  self.time = nn.Sequential(nn.Linear(ch, 4 * ch), nn.SiLU(), nn.Linear(4 * ch, 4 * ch))
  self.conv_in = nn.Conv2d(3, ch, 3, {padding = 1})
  self.res1 = ResBlock(ch, ch, 4 * ch)
  self.down = nn.Conv2d(ch, ch, 3, {stride = 2, padding = 1})
  self.res2 = ResBlock(ch, 2 * ch, 4 * ch)
  self.attn = AttentionBlock(2 * ch)
  self.res3 = ResBlock(2 * ch, 2 * ch, 4 * ch)
  self.up = nn.Conv2d(2 * ch, 2 * ch, 3, {padding = 1})
  self.res4 = ResBlock(3 * ch, ch, 4 * ch)
  self.norm = nn.GroupNorm(8, ch)
  self.conv_out = nn.Conv2d(ch, 3, 3, {padding = 1})
end
function Denoiser:forward(x, t)
  local emb, h, skip
  emb = self.time(timestep_embedding(t, self.ch))
  h = self.conv_in(x)
  skip = self.res1(h, emb)
  h = self.res2(self.down(skip), emb)
  h = self.attn(h)
  h = self.res3(h, emb)
  h = self.up(F.interpolate(h, {scale_factor = 2, mode = "nearest"}))
  h = self.res4(ohm.cat({h, skip}, {dim = 1}), emb)
  return self.conv_out(F.silu(self.norm(h)))
end
T = 100
betas = ohm.linspace(0.0001, 0.02, T, {device = "cuda"})
alphas = 1.0 - betas
alpha_bar = ohm.cumprod(alphas, {dim = 0})
sqrt_ab = alpha_bar:sqrt()
sqrt_omab = (1.0 - alpha_bar):sqrt()
model = Denoiser():cuda()
ema = Denoiser():cuda()
ema:load_state_dict(model:state_dict())
ema:requires_grad_(false)
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.0002})
mark("models")
for step = 0, 2 - 1 do
  x0 = ohm.randn(4, 3, 16, 16, {device = "cuda"})
  t = ohm.randint(0, T, {4}, {device = "cuda"})
  noise = ohm.randn_like(x0)
  xt = (sqrt_ab:index({t}):view(-1, 1, 1, 1) * x0) + (sqrt_omab:index({t}):view(-1, 1, 1, 1) * noise)
  loss = F.mse_loss(model(xt, t), noise)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  do
    local mode1 <close> = ohm.no_grad()
    do
      local list2_2 = model:parameters()
      for number2, item2 in ipairs(ema:parameters()) do
        e = item2
        p = list2_2[number2]
        e:lerp_(p, 0.001)
      end
    end
  end
  mark("step " .. step)
end
do
  local mode3 <close> = ohm.no_grad()
  x = ohm.randn(2, 3, 16, 16, {device = "cuda"})
  for i = 2 - 1, 0, -1 do
    t = ohm.full({2}, i, {dtype = ohm.int64, device = "cuda"})
    eps = ema(x, t)
    x = (x - ((betas:select(0, i) / sqrt_omab:select(0, i)) * eps)) / alphas:select(0, i):sqrt()
    if i > 0 then
      x = x + (betas:select(0, i):sqrt() * ohm.randn_like(x))
    end
  end
  x = x:clamp(-1, 1)
end
mark("sampled")
mark("end of program (globals alive)")
betas = nil
alphas = nil
alpha_bar = nil
sqrt_ab = nil
sqrt_omab = nil
model = nil
ema = nil
opt = nil
x0 = nil
t = nil
noise = nil
xt = nil
loss = nil
e = nil
p = nil
x = nil
eps = nil
mark("globals deleted")

--== model_deepsets_siamese
local PMA, Encoder, ArcFace, encoder, head, optimizer, a, b, lengths, same, ea, eb, distance, contrastive, arc, matrix, hardest, triplet, loss
PMA = nn.Module:extend("PMA")
function PMA:__init(width, seeds)
  self.seeds = nn.Parameter(ohm.empty(1, seeds, width))
  nn.init.xavier_uniform_(self.seeds)
  self.attention = nn.MultiheadAttention(width, 4, {batch_first = true})
  self.norm = nn.LayerNorm(width)
end
function PMA:forward(x, mask)
  local s
  s = self.seeds:expand(x:size(0), -1, -1)
  return self.norm(s + self.attention(s, x, x, {key_padding_mask = mask, need_weights = false}))
end
Encoder = nn.Module:extend("Encoder")
function Encoder:__init(width)
  if width == nil then width = 32 end
  self.phi = nn.Sequential(nn.Linear(5, width), nn.PReLU(), nn.Linear(width, width))
  self.pool = PMA(width, 2)
  self.rho = nn.Sequential(nn.Flatten(), nn.Linear(2 * width, width), nn.BatchNorm1d(width, {affine = false}))
end
function Encoder:forward(x, lengths)
  local mask
  mask = ohm.arange(x:size(1), {device = x.device}):expand(lengths:size(0), -1):ge(lengths:unsqueeze(1))
  return F.normalize(self.rho(self.pool(self.phi(x), mask)), {dim = -1})
end
ArcFace = nn.Module:extend("ArcFace")
function ArcFace:__init(width, classes, s, m)
  if m == nil then m = 0.3 end
  if s == nil then s = 16.0 end
  if classes == nil then classes = 20 end
  if width == nil then width = 32 end
  self.weight = nn.Parameter(ohm.empty(classes, width))
  nn.init.xavier_uniform_(self.weight)
  self.s = s
  self.m = m
end
function ArcFace:forward(x, y)
  local cosine, theta, hot
  cosine = F.linear(F.normalize(x), F.normalize(self.weight)):clamp((-1) + 1e-07, 1 - 1e-07)
  theta = ohm.acos(cosine)
  hot = ohm.zeros_like(cosine)
  hot:scatter_(1, y:view(-1, 1):long(), 1)
  return self.s * ohm.where(hot:bool(), ohm.cos(theta + self.m), cosine)
end
encoder, head = Encoder():cuda(), ArcFace():cuda()
optimizer = ohm.optim.AdamW({{params = encoder:parameters()}, {params = head:parameters(), weight_decay = 0.0}}, {lr = 0.001, amsgrad = true})
mark("models")
for step = 0, 2 - 1 do
  do
    local new1, new2 = ohm.randn(12, 9, 5, {device = "cuda"}), ohm.randn(12, 9, 5, {device = "cuda"})
    a = new1
    b = new2
  end
  lengths = ohm.randint(1, 10, {12}, {device = "cuda"})
  same = ohm.randint(0, 2, {12}, {device = "cuda"}):float()
  do
    local new1, new2 = encoder(a, lengths), encoder(b, lengths)
    ea = new1
    eb = new2
  end
  distance = F.pairwise_distance(ea, eb)
  contrastive = ((same * distance:pow(2)) + ((1 - same) * F.relu(1.0 - distance):pow(2))):mean()
  arc = F.cross_entropy(head(ea, ohm.randint(0, 20, {12}, {device = "cuda"})), ohm.randint(0, 20, {12}, {device = "cuda"}))
  matrix = ohm.cdist(ea, eb)
  hardest = (matrix:masked_fill(ohm.eye(12, {dtype = ohm.bool, device = "cuda"}), math.huge):min({dim = 1}))
  triplet = ohm.clamp((matrix:diagonal() - hardest) + 0.2, {min = 0.0}):mean()
  loss = (contrastive + arc) + triplet
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
encoder = nil
head = nil
optimizer = nil
a = nil
b = nil
lengths = nil
same = nil
ea = nil
eb = nil
distance = nil
contrastive = nil
arc = nil
matrix = nil
hardest = nil
triplet = nil
loss = nil
mark("globals deleted")

--== model_densenet
local DenseLayer, DenseBlock, DenseNet, model, opt, x, y, loss, out
DenseLayer = nn.Module:extend("DenseLayer")
function DenseLayer:__init(inputs, growth, bn_size)
  if bn_size == nil then bn_size = 4 end
  self.norm1 = nn.BatchNorm2d(inputs)
  self.conv1 = nn.Conv2d(inputs, bn_size * growth, 1, {bias = false})
  self.norm2 = nn.BatchNorm2d(bn_size * growth)
  self.conv2 = nn.Conv2d(bn_size * growth, growth, 3, {padding = 1, bias = false})
end
function DenseLayer:bottleneck(x)
  return self.conv1(F.relu(self.norm1(x)))
end
function DenseLayer:forward(features)
  local x, h
  x = ohm.cat(features, 1)
  if self.training then
    h = ohm.utils.checkpoint.checkpoint(function(...) return self:bottleneck(...) end, x, {use_reentrant = false})
  else
    h = self:bottleneck(x)
  end
  h = self.conv2(F.relu(self.norm2(h)))
  return F.dropout(h, {p = 0.2, training = self.training})
end
DenseBlock = nn.Module:extend("DenseBlock")
function DenseBlock:__init(count, inputs, growth)
  self.layers = nn.ModuleList(collect(count, function(i) return DenseLayer(inputs + (i * growth), growth) end))
end
function DenseBlock:forward(x)
  local features, layer
  features = {x}
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    features[#features + 1] = layer(features)
  end
  return ohm.cat(features, 1)
end
DenseNet = nn.Module:extend("DenseNet")
function DenseNet:__init()
  self.conv0 = nn.Conv2d(3, 16, 3, {padding = 1, bias = false})
  self.block1 = DenseBlock(3, 16, 8)
  self.transition = nn.Sequential(nn.BatchNorm2d(40), nn.ReLU(), nn.Conv2d(40, 20, 1, {bias = false}), nn.AvgPool2d(2, 2))
  self.block2 = DenseBlock(2, 20, 8)
  self.norm5 = nn.BatchNorm2d(36)
  self.classifier = nn.Linear(36, 10)
end
function DenseNet:forward(x)
  x = self.block1(self.conv0(x))
  x = self.block2(self.transition(x))
  x = F.relu(self.norm5(x), {inplace = true})
  x = F.adaptive_avg_pool2d(x, {1, 1}):flatten(1)
  return self.classifier(x)
end
model = DenseNet():cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(4, 3, 24, 24, {device = "cuda"})
  y = ohm.randint(0, 10, {4}, {device = "cuda"})
  opt:zero_grad()
  loss = F.cross_entropy(model(x), y)
  mark("forward " .. step)
  loss:backward()
  opt:step()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.inference_mode()
  out = model(x):softmax({dim = 1})
end
mark("eval")
mark("end of program (globals alive)")
model = nil
opt = nil
x = nil
y = nil
loss = nil
out = nil
mark("globals deleted")

--== model_detr
-- x[i] = value, of a tensor or a list
local function put(x, i, value)
  if not ohm.is_tensor(x) then
    x[type(i) ~= "number" and i or i < 0 and #x + 1 + i or i + 1] = value
  elseif ohm.is_tensor(i) then
    x:index_put_({i}, ohm.is_tensor(value) and value or ohm.tensor(value))
  elseif ohm.is_tensor(value) then
    x:select(0, i):copy_(value)
  else
    x:select(0, i):fill_(value)
  end
end

-- list[a:b]
local function part(x, first, last)
  if ohm.is_tensor(x) then return slice(x, 0, first or 0, last) end
  local size, kept = #x, {}
  first, last = first or 0, last or size
  if first < 0 then first = first + size end
  if last < 0 then last = last + size end
  for i = first + 1, math.min(last, size) do kept[#kept + 1] = x[i] end
  return kept
end

-- list * count
local function times(x, count)
  if type(x) ~= "table" then return x * count end
  local kept = {}
  for i = 1, count do
    for _, one in ipairs(x) do kept[#kept + 1] = one end
  end
  return kept
end

-- a < b and others, of tensors or numbers
local function compare(how, a, b)
  if ohm.is_tensor(a) then return a[how](a, b) end
  if ohm.is_tensor(b) then return b[({lt = "gt", gt = "lt", le = "ge", ge = "le", eq = "eq", ne = "ne"})[how]](b, a) end
  if how == "eq" then return a == b elseif how == "ne" then return a ~= b end
  if how == "lt" then return a < b elseif how == "le" then return a <= b end
  if how == "gt" then return a > b else return a >= b end
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

local MLP, DETR, box_cxcywh_to_xyxy, giou_pairs, model, weight, optimizer, x, logits, boxes, labels, gt, prob, cost_class, cost_bbox, cost, batch_idx, src_idx, target_classes, loss_ce, src_boxes, loss_bbox, loss_giou, losses
MLP = nn.Module:extend("MLP")
function MLP:__init(input_dim, hidden_dim, output_dim, num_layers)
  local h
  self.num_layers = num_layers
  h = times({hidden_dim}, num_layers - 1)
  self.layers = nn.ModuleList((function() local r = {} local l0 = items(joined({input_dim}, h)) local l1 = items(joined(h, {output_dim})) for i_ = 1, #l0 do local n = l0[i_] local k = l1[i_] r[#r + 1] = nn.Linear(n, k) end return r end)())
end
function MLP:forward(x)
  local layer
  do
    local list2_0 = items(self.layers:children())
    for number2 = 1, #list2_0 do
      local i = number2 - 1
      layer = list2_0[number2]
      x = (compare("lt", i, self.num_layers - 1) and F.relu(layer(x)) or layer(x))
    end
  end
  return x
end
DETR = nn.Module:extend("DETR")
function DETR:__init(classes, hidden, queries)
  if queries == nil then queries = 10 end
  if hidden == nil then hidden = 64 end
  if classes == nil then classes = 7 end
  self.backbone = nn.Sequential(nn.Conv2d(3, 16, 7, 4, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 48, 3, 2, 1), nn.BatchNorm2d(48), nn.ReLU())
  self.input_proj = nn.Conv2d(48, hidden, 1)
  self.transformer = nn.Transformer(hidden, 4, 2, 2, {dim_feedforward = 128, dropout = 0.1})
  self.class_embed = nn.Linear(hidden, classes + 1)
  self.bbox_embed = MLP(hidden, hidden, 4, 3)
  self.query_pos = nn.Parameter(ohm.rand(queries, hidden))
  self.row_embed = nn.Parameter(ohm.rand(50, hidden // 2))
  self.col_embed = nn.Parameter(ohm.rand(50, hidden // 2))
end
function DETR:forward(x)
  local h, B, C, H, W, pos, src
  h = self.input_proj(self.backbone(x))
  B, C, H, W = table.unpack(h.shape)
  pos = ohm.cat({repeated(part(self.col_embed, nil, W):unsqueeze(0), H, 1, 1), repeated(part(self.row_embed, nil, H):unsqueeze(1), 1, W, 1)}, {dim = -1}):flatten(0, 1):unsqueeze(1)
  src = pos + (0.1 * h:flatten(2):permute(2, 0, 1))
  h = self.transformer(src, repeated(self.query_pos:unsqueeze(1), 1, B, 1)):transpose(0, 1)
  return self.class_embed(h), self.bbox_embed(h):sigmoid()
end
function box_cxcywh_to_xyxy(x)
  local cx, cy, w, h, b
  cx, cy, w, h = x:unbind(-1)
  b = {cx - (0.5 * w), cy - (0.5 * h), cx + (0.5 * w), cy + (0.5 * h)}
  return ohm.stack(b, {dim = -1})
end
function giou_pairs(a, b)
  local area_a, area_b, wh, inter, union, whc, hull
  area_a = (slice(a, 0, 0):select(1, 2) - slice(a, 0, 0):select(1, 0)) * (slice(a, 0, 0):select(1, 3) - slice(a, 0, 0):select(1, 1))
  area_b = (slice(b, 0, 0):select(1, 2) - slice(b, 0, 0):select(1, 0)) * (slice(b, 0, 0):select(1, 3) - slice(b, 0, 0):select(1, 1))
  wh = (ohm.min(slice(slice(a, 0, 0), 1, 2), slice(slice(b, 0, 0), 1, 2)) - ohm.max(slice(slice(a, 0, 0), 1, 0, 2), slice(slice(b, 0, 0), 1, 0, 2))):clamp({min = 0})
  inter = slice(wh, 0, 0):select(1, 0) * slice(wh, 0, 0):select(1, 1)
  union = (area_a + area_b) - inter
  whc = (ohm.max(slice(slice(a, 0, 0), 1, 2), slice(slice(b, 0, 0), 1, 2)) - ohm.min(slice(slice(a, 0, 0), 1, 0, 2), slice(slice(b, 0, 0), 1, 0, 2))):clamp({min = 0})
  hull = slice(whc, 0, 0):select(1, 0) * slice(whc, 0, 0):select(1, 1)
  return (inter / union) - ((hull - union) / hull)
end
model = DETR():cuda()
weight = ohm.ones(8, {device = "cuda"})
put(weight, -1, 0.1)
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0001, weight_decay = 0.0001})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(2, 3, 64, 64, {device = "cuda"})
  do
    local new1, new2 = model(x)
    logits = new1
    boxes = new2
  end
  labels = ohm.randint(0, 7, {6}, {device = "cuda"})
  gt = ohm.rand(6, 4, {device = "cuda"})
  do
    local mode3 <close> = ohm.no_grad()
    prob = logits:flatten(0, 1):softmax(-1)
    cost_class = -slice(prob, 0, 0):index({labels}, {1})
    cost_bbox = ohm.cdist(boxes:flatten(0, 1), gt, {p = 1})
    cost = ((5 * cost_bbox) + cost_class):view(2, 10, -1):cpu()
  end
  mark("cost " .. step)
  batch_idx = ohm.tensor({0, 0, 0, 1, 1, 1}, {device = "cuda"})
  src_idx = ohm.tensor({0, 3, 5, 1, 2, 9}, {device = "cuda"})
  target_classes = ohm.full({2, 10}, 7, {dtype = ohm.int64, device = "cuda"})
  target_classes:index_put_({batch_idx, src_idx}, labels)
  loss_ce = F.cross_entropy(logits:transpose(1, 2), target_classes, weight)
  src_boxes = boxes:index({batch_idx, src_idx})
  loss_bbox = F.l1_loss(src_boxes, gt, {reduction = "none"}):sum() / 6
  loss_giou = (1 - giou_pairs(box_cxcywh_to_xyxy(src_boxes), box_cxcywh_to_xyxy(gt))):sum() / 6
  losses = (loss_ce + (5 * loss_bbox)) + (2 * loss_giou)
  optimizer:zero_grad()
  losses:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 0.1)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
weight = nil
optimizer = nil
x = nil
logits = nil
boxes = nil
labels = nil
gt = nil
prob = nil
cost_class = nil
cost_bbox = nil
cost = nil
batch_idx = nil
src_idx = nil
target_classes = nil
loss_ce = nil
src_boxes = nil
loss_bbox = nil
loss_giou = nil
losses = nil
mark("globals deleted")


--== model_dgcnn
local knn, get_graph_feature, DGCNN, cal_loss, model, opt, data, label, logits, loss, preds
function knn(x, k)
  local inner, xx, pairwise_distance, idx
  inner = (-2) * ohm.matmul(x:transpose(2, 1), x)
  xx = ohm.sum(x ^ 2, {dim = 1, keepdim = true})
  pairwise_distance = ((-xx) - inner) - xx:transpose(2, 1)
  idx = second(pairwise_distance:topk({k = k, dim = -1}))
  return idx
end
function get_graph_feature(x, k)
  local batch_size, num_points, idx, idx_base, _, num_dims, feature
  batch_size = x:size(0)
  num_points = x:size(2)
  x = x:view(batch_size, -1, num_points)
  idx = knn(x, k)
  idx_base = ohm.arange(0, batch_size, {device = x.device}):view(-1, 1, 1) * num_points
  idx = idx + idx_base
  idx = idx:view(-1)
  do
    local new1, new2, new3 = table.unpack(x.shape)
    _, new1 = new1, nil
    sweep()
    num_dims, new2 = new2, nil
    sweep()
    _, new3 = new3, nil
    sweep()
  end
  x = x:transpose(2, 1):contiguous()
  feature = slice(x:view(batch_size * num_points, -1), 1, 0):index({idx})
  feature = feature:view(batch_size, num_points, k, num_dims)
  x = repeated(x:view(batch_size, num_points, 1, num_dims), 1, 1, k, 1)
  feature = ohm.cat({feature - x, x}, {dim = 3}):permute(0, 3, 1, 2):contiguous()
  return feature
end
DGCNN = nn.Module:extend("DGCNN")
function DGCNN:__init(k, classes)
  self.k = k
  self.conv1 = nn.Sequential(nn.Conv2d(6, 16, 1, {bias = false}), nn.BatchNorm2d(16), nn.LeakyReLU({negative_slope = 0.2}))
  self.conv2 = nn.Sequential(nn.Conv2d(32, 24, 1, {bias = false}), nn.BatchNorm2d(24), nn.LeakyReLU({negative_slope = 0.2}))
  self.conv5 = nn.Sequential(nn.Conv1d(40, 64, 1, {bias = false}), nn.BatchNorm1d(64), nn.LeakyReLU({negative_slope = 0.2}))
  self.linear1 = nn.Linear(128, 32, {bias = false})
  self.bn6 = nn.BatchNorm1d(32)
  self.dp1 = nn.Dropout({p = 0.5})
  self.linear2 = nn.Linear(32, classes)
end
function DGCNN:forward(x)
  local batch_size, x1, x2
  batch_size = x:size(0)
  x = get_graph_feature(x, self.k)
  x = self.conv1(x)
  x1 = (x:max({dim = -1, keepdim = false}))
  x = get_graph_feature(x1, self.k)
  x = self.conv2(x)
  x2 = (x:max({dim = -1, keepdim = false}))
  x = ohm.cat({x1, x2}, {dim = 1})
  x = self.conv5(x)
  x1 = F.adaptive_max_pool1d(x, 1):view(batch_size, -1)
  x2 = F.adaptive_avg_pool1d(x, 1):view(batch_size, -1)
  x = ohm.cat({x1, x2}, 1)
  x = F.leaky_relu(self.bn6(self.linear1(x)), {negative_slope = 0.2})
  x = self.dp1(x)
  return self.linear2(x)
end
function cal_loss(pred, gold)
  local eps, n_class, one_hot, log_prb
  gold = gold:contiguous():view(-1)
  eps = 0.2
  n_class = pred:size(1)
  one_hot = ohm.zeros_like(pred):scatter(1, gold:view(-1, 1), 1)
  one_hot = (one_hot * (1 - eps)) + (((1 - one_hot) * eps) / (n_class - 1))
  log_prb = F.log_softmax(pred, {dim = 1})
  return -(one_hot * log_prb):sum({dim = 1}):mean()
end
model = DGCNN(5, 10):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9, weight_decay = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  data = ohm.randn(4, 30, 3, {device = "cuda"}):permute(0, 2, 1)
  label = ohm.randint(0, 10, {4, 1}, {device = "cuda"}):squeeze()
  opt:zero_grad()
  logits = model(data)
  loss = cal_loss(logits, label)
  loss:backward()
  opt:step()
  preds = second(logits:max({dim = 1}))
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  preds = second(model(data):max({dim = 1})):detach():cpu()
end
mark("test")
mark("end of program (globals alive)")
model = nil
opt = nil
data = nil
label = nil
logits = nil
loss = nil
preds = nil
mark("globals deleted")

--== model_distillation
local convnet, teacher, student, opt, T, soft, hard, inputs, labels, teacher_logits, student_logits, targets, prob, kd, loss, correct, total, _, predicted
function convnet(width)
  return nn.Sequential(nn.Conv2d(3, width, 3, {padding = 1}), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(width, 2 * width, 3, {padding = 1}), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(((2 * width) * 8) * 8, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
end
teacher = convnet(16):cuda()
student = convnet(4):cuda()
teacher:eval()
student:train()
opt = ohm.optim.Adam(student:parameters(), {lr = 0.001})
T, soft, hard = 2.0, 0.25, 0.75
mark("models")
for step = 0, 3 - 1 do
  inputs = ohm.randn(8, 3, 32, 32):to("cuda")
  labels = ohm.randint(0, 10, {8}):to("cuda")
  opt:zero_grad()
  do
    local mode1 <close> = ohm.no_grad()
    teacher_logits = teacher(inputs)
  end
  student_logits = student(inputs)
  targets = F.softmax(teacher_logits / T, {dim = -1})
  prob = F.log_softmax(student_logits / T, {dim = -1})
  kd = F.kl_div(prob, targets, {reduction = "batchmean"}) * (T ^ 2)
  loss = (soft * kd) + (hard * F.cross_entropy(student_logits, labels))
  mark("forward " .. step)
  loss:backward()
  opt:step()
  mark("step " .. step)
end
student:eval()
correct, total = 0, 0
do
  local mode2 <close> = ohm.no_grad()
  inputs = ohm.randn(8, 3, 32, 32, {device = "cuda"})
  labels = ohm.randint(0, 10, {8}, {device = "cuda"})
  _, predicted = ohm.max(student(inputs).data, 1)
  total = total + labels:size(0)
  correct = correct + (predicted:eq(labels)):sum():item()
end
mark("eval")
mark("end of program (globals alive)")
teacher = nil
student = nil
opt = nil
inputs = nil
labels = nil
teacher_logits = nil
student_logits = nil
targets = nil
prob = nil
kd = nil
loss = nil
_ = nil
predicted = nil
mark("globals deleted")

--== model_dlrm
local DLRM, model, opt, loss_fn, dense, sparse, label, out, loss
DLRM = nn.Module:extend("DLRM")
function DLRM:__init(dim, sizes)
  if sizes == nil then sizes = {100, 200, 50} end
  if dim == nil then dim = 16 end
  self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, dim), nn.ReLU())
  self.tables = nn.ModuleList(map(function(n) return nn.EmbeddingBag(n, dim, {mode = "sum"}) end, sizes))
  self.top = nn.Sequential(nn.Linear(dim + 6, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
end
function DLRM:interact(x, ly)
  local batch, d, T, Z, li, lj, flat
  batch, d = table.unpack(x.shape)
  T = ohm.cat(joined({x}, ly), {dim = 1}):view(batch, -1, d)
  Z = ohm.bmm(T, ohm.transpose(T, 1, 2))
  li = ohm.tensor({1, 2, 2, 3, 3, 3}, {device = x.device})
  lj = ohm.tensor({0, 0, 1, 0, 1, 2}, {device = x.device})
  flat = slice(Z, 0, 0):index({li, lj}, {1, 2})
  return ohm.cat({x, flat}, {dim = 1})
end
function DLRM:forward(dense, sparse)
  local x, ly, table
  x = self.bottom(dense)
  ly = {}
  for number1, item1 in ipairs(self.tables:children()) do
    local i = number1 - 1
    table = item1
    ly[#ly + 1] = table(sparse[i + 1])
  end
  return self.top(self:interact(x, ly)):squeeze(1)
end
model = DLRM():cuda()
opt = ohm.optim.Adagrad(model:parameters(), {lr = 0.01})
loss_fn = nn.BCELoss({reduction = "mean"})
mark("model")
for step = 0, 2 - 1 do
  dense = ohm.rand(16, 13, {device = "cuda"})
  sparse = map(function(n) return ohm.randint(0, n, {16, 3}, {device = "cuda"}) end, {100, 200, 50})
  label = ohm.randint(0, 2, {16}, {device = "cuda"}):float()
  out = model(dense, sparse)
  loss = loss_fn(out, label)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
dense = nil
sparse = nil
label = nil
out = nil
loss = nil
mark("globals deleted")

--== model_dpo
local Tiny, log_probabilities, policy, reference, optimizer, chosen, rejected, mask, both, reference_logs, policy_logs, policy_chosen, policy_rejected, reference_chosen, reference_rejected, logits, loss, rewards, accuracy
Tiny = nn.Module:extend("Tiny")
function Tiny:__init(vocabulary, width)
  local layer
  if width == nil then width = 64 end
  if vocabulary == nil then vocabulary = 200 end
  self.embed = nn.Embedding(vocabulary, width)
  self.position = nn.Embedding(64, width)
  layer = nn.TransformerEncoderLayer(width, 4, 128, {dropout = 0.0, batch_first = true, norm_first = true})
  self.body = nn.TransformerEncoder(layer, 2, {enable_nested_tensor = false})
  self.head = nn.Linear(width, vocabulary, {bias = false})
end
function Tiny:forward(ids)
  local t, x, mask
  t = ids:size(1)
  x = self.embed(ids) + self.position(ohm.arange(t, {device = ids.device}))
  mask = nn.Transformer.generate_square_subsequent_mask(t, {device = ids.device})
  return self.head(self.body(x, {mask = mask, is_causal = true}))
end
function log_probabilities(model, ids, mask)
  local logits, labels, chosen
  logits = slice(slice(model(ids), 0, 0), 1, 0, -1)
  labels = slice(slice(ids, 0, 0), 1, 1)
  chosen = ohm.gather(logits:log_softmax(-1), 2, labels:unsqueeze(2)):squeeze(2)
  return (chosen * slice(slice(mask, 0, 0), 1, 1)):sum(-1)
end
policy = Tiny():cuda()
reference = ohm.copy.deepcopy(policy):eval():requires_grad_(false)
optimizer = ohm.optim.RMSprop(policy:parameters(), {lr = 5e-05})
mark("models")
for step = 0, 2 - 1 do
  chosen = ohm.randint(0, 200, {4, 32}, {device = "cuda"})
  rejected = ohm.randint(0, 200, {4, 32}, {device = "cuda"})
  mask = ohm.ones(8, 32, {device = "cuda"})
  slice(slice(mask, 0, 0), 1, 0, 10):fill_(0)
  both = ohm.cat({chosen, rejected}, {dim = 0})
  do
    local mode1 <close> = ohm.no_grad()
    reference_logs = log_probabilities(reference, both, mask)
  end
  policy_logs = log_probabilities(policy, both, mask)
  policy_chosen, policy_rejected = policy_logs:split(4)
  reference_chosen, reference_rejected = reference_logs:split(4)
  logits = (policy_chosen - policy_rejected) - (reference_chosen - reference_rejected)
  loss = -F.logsigmoid(0.1 * logits):mean()
  rewards = 0.1 * (policy_chosen - reference_chosen):detach()
  accuracy = (rewards:gt(0)):float():mean()
  optimizer:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(policy:parameters(), 10.0)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
policy = nil
reference = nil
optimizer = nil
chosen = nil
rejected = nil
mask = nil
both = nil
reference_logs = nil
policy_logs = nil
policy_chosen = nil
policy_rejected = nil
reference_chosen = nil
reference_rejected = nil
logits = nil
loss = nil
rewards = nil
accuracy = nil
mark("globals deleted")

--== model_dqn
local QNetwork, policy, target, opt, frames, actions, rewards, dones, gamma, action, index, state, following, a, r, d, q, best, next_q, expected, loss, p, tp
QNetwork = nn.Module:extend("QNetwork")
function QNetwork:__init(actions)
  if actions == nil then actions = 6 end
  self.conv1 = nn.Conv2d(4, 16, 8, {stride = 4})
  self.conv2 = nn.Conv2d(16, 32, 4, {stride = 2})
  self.fc1 = nn.Linear((32 * 4) * 4, 128)
  self.fc2 = nn.Linear(128, actions)
end
function QNetwork:forward(x)
  x = F.relu(self.conv1(x / 255.0))
  x = F.relu(self.conv2(x))
  x = x:view(x:size(0), -1)
  return self.fc2(F.relu(self.fc1(x)))
end
policy = QNetwork():cuda()
target = QNetwork():cuda()
target:load_state_dict(policy:state_dict())
target:eval()
opt = ohm.optim.RMSprop(policy:parameters(), {lr = 0.00025, alpha = 0.95, eps = 0.01})
frames = ohm.randint(0, 256, {32, 4, 44, 44}, {dtype = ohm.uint8, device = "cuda"})
actions = ohm.randint(0, 6, {32}, {device = "cuda"})
rewards = ohm.randn(32, {device = "cuda"})
dones = ohm.zeros(32, {device = "cuda"})
gamma = 0.99
mark("replay")
for step = 0, 3 - 1 do
  do
    local mode1 <close> = ohm.no_grad()
    action = second(policy(slice(frames, 0, 0, 1):float()):max(1)):item()
  end
  index = ohm.randint(0, 31, {8}, {device = "cuda"})
  state = frames:index({index}):float()
  following = frames:index({index + 1}):float()
  a, r, d = actions:index({index}), rewards:index({index}), dones:index({index})
  q = policy(state):gather(1, a:unsqueeze(1)):squeeze(1)
  do
    local mode2 <close> = ohm.no_grad()
    best = policy(following):argmax({dim = 1, keepdim = true})
    next_q = target(following):gather(1, best):squeeze(1)
    expected = r + ((gamma * (1 - d)) * next_q)
  end
  loss = F.smooth_l1_loss(q, expected)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  for _, item3 in ipairs(policy:parameters()) do
    p = item3
    p.grad.data:clamp_(-1, 1)
  end
  opt:step()
  mark("step " .. step)
  do
    local mode4 <close> = ohm.no_grad()
    do
      local list5_2 = policy:parameters()
      for number5, item5 in ipairs(target:parameters()) do
        tp = item5
        p = list5_2[number5]
        tp:mul_(0.995):add_(p, {alpha = 0.005})
      end
    end
  end
  mark("soft update " .. step)
end
target:load_state_dict(policy:state_dict())
mark("hard update")
mark("end of program (globals alive)")
policy = nil
target = nil
opt = nil
frames = nil
actions = nil
rewards = nil
dones = nil
action = nil
index = nil
state = nil
following = nil
a = nil
r = nil
d = nil
q = nil
best = nil
next_q = nil
expected = nil
loss = nil
p = nil
tp = nil
mark("globals deleted")

--== model_efficientnet
local drop_connect, SwishFunction, MBConv, EfficientNet, model, ema, optimizer, x, y, lam, order, mixed, out, loss, e, p
function drop_connect(x, p, training)
  local keep, noise
  if not training then
    return x
  end
  keep = 1 - p
  noise = keep + ohm.rand({x:size(0), 1, 1, 1}, {dtype = x.dtype, device = x.device})
  return (x / keep) * ohm.floor(noise)
end
SwishFunction = ohm.autograd.Function {
  forward = function(ctx, i)
    local result = i * ohm.sigmoid(i)
    ctx:save_for_backward(i)
    return result
  end,
  backward = function(ctx, grad_output)
    local i, s
    i = ctx.saved_tensors[1]
    s = ohm.sigmoid(i)
    return grad_output * (s * (1 + (i * (1 - s))))
  end,
}
MBConv = nn.Module:extend("MBConv")
function MBConv:__init(inputs, outputs, stride, expand, kernel)
  local mid
  mid = inputs * expand
  self.expand = (expand > 1 and nn.Conv2d(inputs, mid, 1, {bias = false}) or false)
  self.bn0 = nn.BatchNorm2d(mid, {momentum = 0.01, eps = 0.001})
  self.depth = nn.Conv2d(mid, mid, kernel, stride, kernel // 2, {groups = mid, bias = false})
  self.bn1 = nn.BatchNorm2d(mid, {momentum = 0.01, eps = 0.001})
  self.reduce = nn.Conv2d(mid, math.max(1, inputs // 4), 1)
  self.restore = nn.Conv2d(math.max(1, inputs // 4), mid, 1)
  self.project = nn.Conv2d(mid, outputs, 1, {bias = false})
  self.bn2 = nn.BatchNorm2d(outputs, {momentum = 0.01, eps = 0.001})
  self.same = (stride == 1 and inputs == outputs)
end
function MBConv:forward(inputs)
  local x, s
  x = inputs
  if self.expand then
    x = SwishFunction.apply(self.bn0(self.expand(x)))
  end
  x = SwishFunction.apply(self.bn1(self.depth(x)))
  s = F.adaptive_avg_pool2d(x, 1)
  s = self.restore(SwishFunction.apply(self.reduce(s)))
  x = ohm.sigmoid(s) * x
  x = self.bn2(self.project(x))
  if self.same then
    x = drop_connect(x, 0.2, self.training) + inputs
  end
  return x
end
EfficientNet = nn.Module:extend("EfficientNet")
function EfficientNet:__init()
  self.stem = nn.Conv2d(3, 16, 3, 2, 1, {bias = false})
  self.bn = nn.BatchNorm2d(16)
  self.blocks = nn.ModuleList({MBConv(16, 16, 1, 1, 3), MBConv(16, 24, 2, 4, 3), MBConv(24, 24, 1, 4, 5), MBConv(24, 40, 2, 4, 5)})
  self.head = nn.Conv2d(40, 80, 1, {bias = false})
  self.fc = nn.Linear(80, 10)
end
function EfficientNet:forward(x)
  local b
  x = F.silu(self.bn(self.stem(x)))
  for _, item1 in ipairs(self.blocks:children()) do
    b = item1
    x = b(x)
  end
  x = F.silu(self.head(x)):mean({2, 3})
  return self.fc(F.dropout(x, 0.2, self.training))
end
model = EfficientNet():cuda():to({memory_format = ohm.channels_last})
ema = map(function(p) return p:clone():detach() end, model:parameters())
optimizer = ohm.optim.RMSprop(model:parameters(), {lr = 0.01, alpha = 0.9, momentum = 0.9, eps = 0.001, weight_decay = 1e-05})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(8, 3, 48, 48, {device = "cuda"}):contiguous({memory_format = ohm.channels_last})
  y = ohm.randint(0, 10, {8}, {device = "cuda"})
  lam = 0.3
  order = ohm.randperm(8, {device = "cuda"})
  mixed = (lam * x) + ((1 - lam) * x:index({order}))
  out = model(mixed)
  loss = (lam * F.cross_entropy(out, y, {label_smoothing = 0.1})) + ((1 - lam) * F.cross_entropy(out, y:index({order}), {label_smoothing = 0.1}))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  do
    local mode2 <close> = ohm.no_grad()
    do
      local list3_2 = model:parameters()
      for number3, item3 in ipairs(ema) do
        e = item3
        p = list3_2[number3]
        e:mul_(0.99):add_(p, {alpha = 0.01})
      end
    end
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
ema = nil
optimizer = nil
x = nil
y = nil
order = nil
mixed = nil
out = nil
loss = nil
e = nil
p = nil
mark("globals deleted")

--== model_ewc
local model, optimizer, fisher, anchors, x, y, loss, penalty, name, p, frozen, diagonals, out, label
model = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 6)):cuda()
optimizer = ohm.optim.Adagrad(model:parameters(), {lr = 0.01})
mark("model")
fisher = {}
anchors = {}
for task = 0, 2 - 1 do
  for step = 0, 2 - 1 do
    x = ohm.randn(12, 20, {device = "cuda"})
    y = ohm.randint(0, 6, {12}, {device = "cuda"})
    loss = F.cross_entropy(model(x), y)
    if task > 0 then
      penalty = 0
      for item_name, item in model:named_parameters() do
        name, p = item_name, item
        penalty = penalty + (fisher[name] * (p - anchors[name]):pow(2)):sum()
      end
      loss = loss + (100.0 * penalty)
    end
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
    mark("task " .. task .. " step " .. step)
  end
  frozen = ohm.copy.deepcopy(model)
  frozen:eval()
  diagonals = {}
  for item_name, item in frozen:named_parameters() do
    name, p = item_name, item
    diagonals[name] = ohm.zeros_like(p)
  end
  for i = 0, 3 - 1 do
    frozen:zero_grad()
    out = F.log_softmax(frozen(x:select(0, i):view(1, -1)), {dim = 1})
    label = second(out:max(1))
    F.nll_loss(out, label):backward()
    for item_name, item in frozen:named_parameters() do
      name, p = item_name, item
      diagonals[name]:add_((p.grad.data ^ 2) / 3)
    end
  end
  for item_name, item in frozen:named_parameters() do
    name, p = item_name, item
    fisher[name] = diagonals[name]
    anchors[name] = p:detach():clone()
  end
  mark("fisher " .. task)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
fisher = nil
anchors = nil
x = nil
y = nil
loss = nil
p = nil
frozen = nil
diagonals = nil
out = nil
label = nil
penalty = nil
mark("globals deleted")

--== model_expandable_train
local Net, model, optimizer, length, ids, loss, x
ohm.cuda.memory._set_allocator_settings("expandable_segments:True")
Net = nn.Module:extend("Net")
function Net:__init()
  self.embed = nn.Embedding(2000, 256)
  self.rnn = nn.LSTM(256, 256, {batch_first = true})
  self.out = nn.Linear(256, 2000)
end
function Net:forward(ids)
  local h, n, c
  h, n, c = several(self.rnn(self.embed(ids)))
  return self.out(h)
end
ohm.backends.cudnn.enabled = true
model = Net():cuda()
optimizer = ohm.optim.Adam(model:parameters())
mark("model")
for step = 0, 4 - 1 do
  length = 20 + (15 * step)
  ids = ohm.randint(0, 2000, {16, length}, {device = "cuda"})
  loss = F.cross_entropy(model(ids):flatten(0, 1), ids:flatten())
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  if step == 2 then
    ohm.cuda.empty_cache()
  end
  mark("step " .. step)
end
loss = nil
ids = nil
ohm.cuda.empty_cache()
mark("emptied")
ohm.cuda.memory._set_allocator_settings("expandable_segments:False")
x = ohm.randn(3000, 3000, {device = "cuda"})
mark("plain")
mark("end of program (globals alive)")
model = nil
optimizer = nil
length = nil
x = nil
mark("globals deleted")

--== model_fake_quant
local RoundSTE, QuantLinear, prune, l1, l2, l3, layers, weights, scales, optimizer, x, y, h, loss, s, layer, sparsity
RoundSTE = ohm.autograd.Function {
  forward = function(ctx, x, scale, low, high)
    local scaled = x / scale
    ctx:save_for_backward(scaled, scale)
    ctx.low, ctx.high = low, high
    return scaled:round():clamp(low, high) * scale
  end,
  backward = function(ctx, grad)
    local scaled, scale = table.unpack(ctx.saved_tensors)
    local inside = scaled:ge(ctx.low) & scaled:le(ctx.high)
    local grad_x = grad * inside
    local grad_scale = (grad * ohm.where(inside, scaled:round() - scaled, scaled:clamp(ctx.low, ctx.high))):sum():view_as(scale)
    return grad_x, grad_scale, nil, nil
  end,
}
QuantLinear = nn.Module:extend("QuantLinear")
function QuantLinear:__init(inputs, outputs, bits)
  if bits == nil then bits = 4 end
  self.weight = nn.Parameter(ohm.empty(outputs, inputs))
  self.bias = nn.Parameter(ohm.zeros(outputs))
  nn.init.kaiming_uniform_(self.weight, {a = 2.0})
  self.w_scale = nn.Parameter(ohm.tensor({0.05}))
  self.a_scale = nn.Parameter(ohm.tensor({0.1}))
  self:register_buffer("mask", ohm.ones(outputs, inputs))
  self.high = ((1 << (bits - 1))) - 1
end
function QuantLinear:forward(x)
  local w, a
  w = RoundSTE.apply(self.weight * self.mask, self.w_scale, -self.high, self.high)
  a = RoundSTE.apply(x, self.a_scale, 0, 2 * self.high)
  return F.linear(a, w, self.bias)
end
function prune(layer, amount)
  local flat, k, threshold
  do
    local mode1 <close> = ohm.no_grad()
    flat = layer.weight:abs():flatten()
    k = math.floor(flat:numel() * amount)
    threshold = (flat:kthvalue(k))
    layer.mask:copy_((layer.weight:abs():gt(threshold)):float())
  end
end
l1 = QuantLinear(41, 150):cuda()
l2 = QuantLinear(150, 77):cuda()
l3 = QuantLinear(77, 5, 8):cuda()
layers = {l1, l2, l3}
weights = joined(map(function(l) return l.weight end, layers), map(function(l) return l.bias end, layers))
scales = joined(map(function(l) return l.w_scale end, layers), map(function(l) return l.a_scale end, layers))
optimizer = ohm.optim.SGD({{params = weights, weight_decay = 0.0001}, {params = scales, lr = 0.001}}, {lr = 0.05, momentum = 0.9})
mark("model")
for step = 0, 4 - 1 do
  if step == 2 then
    prune(l1, 0.5)
    prune(l2, 0.3)
    mark("pruned")
  end
  x = ohm.rand(29, 41, {device = "cuda"})
  y = ohm.randint(0, 5, {29}, {device = "cuda"})
  h = F.relu(l1(x))
  h = F.relu(l2(h))
  loss = F.cross_entropy(l3(h), y)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  do
    local mode2 <close> = ohm.no_grad()
    for _, item3 in ipairs(scales) do
      s = item3
      s:clamp_({min = 1e-05})
    end
    for _, item4 in ipairs(layers) do
      layer = item4
      layer.weight:mul_(layer.mask)
    end
  end
  mark("step " .. step)
end
sparsity = 1 - ohm.stack(map(function(l) return l.mask:mean() end, layers)):mean():item()
mark("done")
mark("end of program (globals alive)")
l1 = nil
l2 = nil
l3 = nil
layers = nil
weights = nil
scales = nil
optimizer = nil
x = nil
y = nil
h = nil
loss = nil
s = nil
layer = nil
sparsity = nil
mark("globals deleted")

--== model_fused_backward
local Inception, GoogLeNet, model, optimizers, p, criterion, x, y, out, aux, loss, _, probs, conf, pred
Inception = nn.Module:extend("Inception")
function Inception:__init(cin, c1, c3, c5, cp)
  self.b1 = nn.Conv2d(cin, c1, 1)
  self.b3 = nn.Sequential(nn.Conv2d(cin, c3, 1), nn.ReLU({inplace = true}), nn.Conv2d(c3, c3, {1, 3}, {padding = {0, 1}}), nn.Conv2d(c3, c3, {3, 1}, {padding = {1, 0}}))
  self.b5 = nn.Sequential(nn.Conv2d(cin, c5, 1), nn.ReLU({inplace = true}), nn.Conv2d(c5, c5, 5, {padding = 2}))
  self.bp = nn.Sequential(nn.MaxPool2d(3, {stride = 1, padding = 1}), nn.Conv2d(cin, cp, 1))
end
function Inception:forward(x)
  return F.relu(ohm.cat({self.b1(x), self.b3(x), self.b5(x), self.bp(x)}, 1), {inplace = true})
end
GoogLeNet = nn.Module:extend("GoogLeNet")
function GoogLeNet:__init()
  self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU({inplace = true}), nn.LocalResponseNorm(5), nn.MaxPool2d(2, {ceil_mode = true}))
  self.inc1 = Inception(16, 8, 8, 4, 4)
  self.inc2 = Inception(24, 8, 12, 4, 8)
  self.aux = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 32), nn.ReLU(), nn.Dropout(0.7), nn.Linear(32, 6))
  self.fc = nn.Linear(32, 6)
end
function GoogLeNet:forward(x)
  local aux
  x = self.inc1(self.stem(x))
  aux = (self.training and self.aux(x) or nil)
  x = self.inc2(x)
  x = ohm.flatten(F.adaptive_avg_pool2d(x, {1, 1}), 1)
  x = F.dropout(x, 0.4, self.training)
  return self.fc(x), aux
end
model = GoogLeNet():cuda()
optimizers = {}
for i, parameter in ipairs(model:parameters()) do
  optimizers[i] = ohm.optim.SGD({parameter}, {lr = 0.01, momentum = 0.9, foreach = false})
end
for number, item1 in ipairs(model:parameters()) do
  p = item1
  p:register_post_accumulate_grad_hook(function()
    optimizers[number]:step()
    optimizers[number]:zero_grad()
  end)
end
criterion = nn.CrossEntropyLoss()
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(6, 3, 17, 17, {device = "cuda"})
  y = ohm.randint(0, 6, {6}, {device = "cuda"})
  do
    local new1, new2 = model(x)
    out = new1
    aux = new2
  end
  loss = criterion(out, y) + (0.3 * criterion(aux, y))
  mark("forward " .. step)
  loss:backward()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  do
    local new1, new2 = model(x)
    out = new1
    _ = new2
  end
  probs = ohm.softmax(out, {dim = 1})
  conf, pred = probs:max({dim = 1})
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
for i = 1, #optimizers do optimizers[i] = nil; sweep() end
p = nil
criterion = nil
x = nil
y = nil
out = nil
aux = nil
loss = nil
_ = nil
probs = nil
conf = nil
pred = nil
mark("globals deleted")

--== model_gat
local GATLayer, GAT, nodes, edges, model, optimizer, x, edge_index, loops, labels, order, train_idx, val_idx, out, loss, logits, pred, acc
GATLayer = nn.Module:extend("GATLayer")
function GATLayer:__init(dim_in, dim_out, heads, concat)
  if concat == nil then concat = true end
  self.heads = heads
  self.dim = dim_out
  self.concat = concat
  self.lin = nn.Linear(dim_in, heads * dim_out, {bias = false})
  self.att_src = nn.Parameter(ohm.empty(1, heads, dim_out))
  self.att_dst = nn.Parameter(ohm.empty(1, heads, dim_out))
  nn.init.xavier_uniform_(self.att_src)
  nn.init.xavier_uniform_(self.att_dst)
end
function GATLayer:forward(x, edge_index)
  local n, h, a_src, a_dst, src, dst, e, index, e_max, denom, alpha, out
  n = x:size(0)
  h = self.lin(x):view(n, self.heads, self.dim)
  a_src = (h * self.att_src):sum(-1)
  a_dst = (h * self.att_dst):sum(-1)
  src, dst = edge_index:unbind(0)
  e = F.leaky_relu(a_src:index({src}) + a_dst:index({dst}), 0.2)
  index = dst:unsqueeze(-1):expand_as(e)
  e_max = ohm.zeros(n, self.heads, {device = "cuda"}):scatter_reduce(0, index, e, {reduce = "amax", include_self = false})
  e = (e - e_max:index({dst})):exp()
  denom = ohm.zeros(n, self.heads, {device = "cuda"}):scatter_add_(0, index, e)
  alpha = e / (denom:index({dst}) + 1e-16)
  alpha = F.dropout(alpha, 0.4, self.training)
  out = ohm.zeros_like(h)
  out:index_add_(0, dst, h:index({src}) * alpha:unsqueeze(-1))
  if self.concat then
    return out:view(n, self.heads * self.dim)
  end
  return out:mean({dim = 1})
end
GAT = nn.Module:extend("GAT")
function GAT:__init()
  self.conv1 = GATLayer(96, 16, 4)
  self.conv2 = GATLayer(64, 7, 2, false)
  self.skip = nn.Linear(64, 7)
end
function GAT:forward(x, edge_index)
  x = F.dropout(x, 0.5, self.training)
  x = F.elu(self.conv1(x, edge_index))
  x = F.dropout(x, 0.5, self.training)
  return self.conv2(x, edge_index) + self.skip(x)
end
nodes, edges = 150, 800
model = GAT():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.005, weight_decay = 0.0005})
x = ohm.randn(nodes, 96, {device = "cuda"})
edge_index = ohm.randint(0, nodes, {2, edges}, {device = "cuda"})
loops = repeated(ohm.arange(nodes, {device = "cuda"}):unsqueeze(0), 2, 1)
edge_index = ohm.cat({edge_index, loops}, {dim = 1})
labels = ohm.randint(0, 7, {nodes}, {device = "cuda"})
order = ohm.randperm(nodes, {device = "cuda"})
train_idx = slice(order, 0, 0, 100)
val_idx = slice(order, 0, 100)
mark("graph")
for epoch = 0, 3 - 1 do
  model:train()
  optimizer:zero_grad()
  out = model(x, edge_index)
  loss = F.cross_entropy(out:index({train_idx}), labels:index({train_idx}))
  loss:backward()
  optimizer:step()
  mark("trained " .. epoch)
  model:eval()
  do
    local mode1 <close> = ohm.no_grad()
    logits = model(x, edge_index)
    pred = logits:index({val_idx}):argmax({dim = -1})
    acc = (pred:eq(labels:index({val_idx}))):float():mean():item()
  end
  mark("evaluated " .. epoch)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
edge_index = nil
loops = nil
labels = nil
order = nil
train_idx = nil
val_idx = nil
out = nil
loss = nil
logits = nil
pred = nil
acc = nil
mark("globals deleted")

--== model_gnn
local GraphConv, GraphAttention, GNN, model, opt, x, edges, y, train, out, loss, pred, acc
GraphConv = nn.Module:extend("GraphConv")
function GraphConv:__init(inputs, outputs)
  self.lin = nn.Linear(inputs, outputs, {bias = false})
  self.bias = nn.Parameter(ohm.zeros(outputs))
end
function GraphConv:forward(x, edges, nodes)
  local row, col, deg, dis, norm, messages, out
  row, col = edges:select(0, 0), edges:select(0, 1)
  deg = ohm.zeros(nodes, {device = x.device}):scatter_add_(0, col, ohm.ones(col:size(0), {device = x.device}))
  dis = deg:pow(-0.5)
  dis = dis:masked_fill(dis:eq(math.huge), 0)
  norm = dis:index({row}) * dis:index({col})
  x = self.lin(x)
  messages = x:index_select(0, row) * norm:view(-1, 1)
  out = ohm.zeros(nodes, x:size(1), {device = x.device})
  out:index_add_(0, col, messages)
  return out + self.bias
end
GraphAttention = nn.Module:extend("GraphAttention")
function GraphAttention:__init(inputs, outputs, heads)
  self.heads = heads
  self.outputs = outputs
  self.lin = nn.Linear(inputs, heads * outputs)
  self.att_src = nn.Parameter(ohm.randn(1, heads, outputs))
  self.att_dst = nn.Parameter(ohm.randn(1, heads, outputs))
end
function GraphAttention:forward(x, edges, nodes)
  local row, col, h, a_src, a_dst, alpha, total, out
  row, col = edges:select(0, 0), edges:select(0, 1)
  h = self.lin(x):view(-1, self.heads, self.outputs)
  a_src = (h * self.att_src):sum({dim = -1})
  a_dst = (h * self.att_dst):sum({dim = -1})
  alpha = F.leaky_relu(a_src:index({row}) + a_dst:index({col}), 0.2)
  alpha = (alpha - alpha:max()):exp()
  total = ohm.zeros(nodes, self.heads, {device = x.device}):index_add(0, col, alpha)
  alpha = alpha / (total:index({col}) + 1e-16)
  out = ohm.zeros(nodes, self.heads, self.outputs, {device = x.device})
  out = out:index_add(0, col, h:index({row}) * alpha:unsqueeze(-1))
  return out:flatten(1)
end
GNN = nn.Module:extend("GNN")
function GNN:__init()
  self.conv1 = GraphConv(32, 64)
  self.conv2 = GraphAttention(64, 16, 4)
  self.out = nn.Linear(64, 7)
end
function GNN:forward(x, edges)
  local nodes
  nodes = x:size(0)
  x = F.relu(self.conv1(x, edges, nodes))
  x = F.dropout(x, {p = 0.5, training = self.training})
  x = F.elu(self.conv2(x, edges, nodes))
  return F.log_softmax(self.out(x), {dim = 1})
end
model = GNN():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.01, weight_decay = 0.0005})
x = ohm.randn(200, 32, {device = "cuda"})
edges = ohm.randint(0, 200, {2, 800}, {device = "cuda"})
y = ohm.randint(0, 7, {200}, {device = "cuda"})
train = ohm.arange(140, {device = "cuda"})
mark("graph")
for step = 0, 3 - 1 do
  model:train()
  opt:zero_grad()
  out = model(x, edges)
  loss = F.nll_loss(out:index({train}), y:index({train}))
  mark("forward " .. step)
  loss:backward()
  opt:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  pred = model(x, edges):argmax({dim = 1})
  acc = (slice(pred, 0, 140):eq(slice(y, 0, 140))):sum():item() / 60
end
mark("eval")
mark("end of program (globals alive)")
model = nil
opt = nil
x = nil
edges = nil
y = nil
train = nil
out = nil
loss = nil
pred = nil
acc = nil
mark("globals deleted")

--== model_gpt
local vocab, context, width, heads, Attention, Block, GPT, model, decay, rest, opt, data, x, y, logits, loss, tokens, caches, values, _, scores, token
vocab, context, width, heads = 256, 32, 64, 4
Attention = nn.Module:extend("Attention")
function Attention:__init()
  self.c_attn = nn.Linear(width, 3 * width)
  self.c_proj = nn.Linear(width, width)
end
function Attention:forward(x, cache)
  local B, T, C, q, k, v, y
  B, T, C = table.unpack(x.shape)
  q, k, v = self.c_attn(x):split(width, {dim = 2})
  q = q:view(B, T, heads, C // heads):transpose(1, 2)
  k = k:view(B, T, heads, C // heads):transpose(1, 2)
  v = v:view(B, T, heads, C // heads):transpose(1, 2)
  if cache ~= nil then
    k = ohm.cat({cache[1], k}, {dim = 2})
    v = ohm.cat({cache[2], v}, {dim = 2})
  end
  y = F.scaled_dot_product_attention(q, k, v, {dropout_p = 0.0, is_causal = cache == nil})
  y = y:transpose(1, 2):contiguous():view(B, T, C)
  return self.c_proj(y), {k, v}
end
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln_1 = nn.LayerNorm(width, {bias = false})
  self.attn = Attention()
  self.ln_2 = nn.LayerNorm(width, {bias = false})
  self.c_fc = nn.Linear(width, 4 * width)
  self.c_proj = nn.Linear(4 * width, width)
end
function Block:forward(x, cache)
  local h
  h, cache = self.attn(self.ln_1(x), cache)
  x = x + h
  x = x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x)), {approximate = "tanh"}))
  return x, cache
end
GPT = nn.Module:extend("GPT")
function GPT:__init()
  local name, p
  self.wte = nn.Embedding(vocab, width)
  self.wpe = nn.Embedding(context, width)
  self.h = nn.ModuleList(collect(2, function(_) return Block() end))
  self.ln_f = nn.LayerNorm(width, {bias = false})
  self.lm_head = nn.Linear(width, vocab, {bias = false})
  self.wte.weight = self.lm_head.weight
  for item_name, item in self:named_parameters() do
    name, p = item_name, item
    if (name:sub(-13) == "c_proj.weight") then
      nn.init.normal_(p, {mean = 0.0, std = 0.01})
    end
  end
end
function GPT:forward(idx, targets)
  local pos, x, block, _, logits
  pos = ohm.arange(0, idx:size(1), {dtype = ohm.int64, device = idx.device})
  x = self.wte(idx) + self.wpe(pos)
  for _, item1 in ipairs(self.h:children()) do
    block = item1
    x, _ = block(x)
  end
  logits = self.lm_head(self.ln_f(x))
  return logits, F.cross_entropy(logits:view(-1, vocab), targets:view(-1), {ignore_index = -1})
end
function GPT:step(idx, start, caches)
  local pos, x, new, block, cache
  pos = ohm.arange(start, start + idx:size(1), {device = idx.device})
  x = self.wte(idx) + self.wpe(pos)
  new = {}
  for number2, item2 in ipairs(self.h:children()) do
    local i = number2 - 1
    block = item2
    x, cache = block(x, caches[i + 1])
    new[#new + 1] = cache
  end
  return self.lm_head(self.ln_f(slice(slice(x, 0, 0), 1, -1))), new
end
model = GPT():cuda()
decay = filter(model:parameters(), function(p) return p:dim() >= 2 end)
rest = filter(model:parameters(), function(p) return p:dim() < 2 end)
opt = ohm.optim.AdamW({{params = decay, weight_decay = 0.1}, {params = rest, weight_decay = 0.0}}, {lr = 0.0006, betas = {0.9, 0.95}, fused = true})
mark("model")
for step = 0, 2 - 1 do
  data = ohm.randint(0, vocab, {4, context + 1}, {device = "cuda"})
  x, y = slice(slice(data, 0, 0), 1, 0, -1), slice(slice(data, 0, 0), 1, 1):contiguous()
  do
    local mode3 <close> = ohm.amp.autocast("cuda", {dtype = ohm.bfloat16})
    logits, loss = model(x, y)
  end
  mark("forward " .. step)
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  opt:zero_grad({set_to_none = true})
  mark("step " .. step)
end
model:eval()
do
  local mode4 <close> = ohm.no_grad()
  tokens = ohm.zeros(1, 4, {dtype = ohm.int64, device = "cuda"})
  caches = {nil, nil}
  logits, caches = model:step(tokens, 0, caches)
  for i = 0, 3 - 1 do
    values, _ = ohm.topk(slice(slice(logits, 0, 0):select(1, -1), 1, 0) / 0.8, 20)
    scores = slice(slice(logits, 0, 0):select(1, -1), 1, 0):masked_fill(slice(slice(logits, 0, 0):select(1, -1), 1, 0):lt(slice(slice(values, 0, 0), 1, -1)), -math.huge)
    token = ohm.multinomial(F.softmax(scores, {dim = -1}), {num_samples = 1})
    tokens = ohm.cat({tokens, token}, {dim = 1})
    logits, caches = model:step(token, 4 + i, caches)
    mark("token " .. i)
  end
end
mark("end of program (globals alive)")
model = nil
decay = nil
rest = nil
opt = nil
data = nil
x = nil
y = nil
logits = nil
loss = nil
tokens = nil
caches = nil
values = nil
_ = nil
scores = nil
token = nil
mark("globals deleted")

--== model_graph_layers
local SAGEConv, GINConv, RGCNConv, EdgeAttention, Net, model, optimizer, x, edge_index, edge_type, batch, y, out, loss
SAGEConv = nn.Module:extend("SAGEConv")
function SAGEConv:__init(i, o)
  self.lin_l = nn.Linear(i, o)
  self.lin_r = nn.Linear(i, o, {bias = false})
end
function SAGEConv:forward(x, edge_index)
  local src, dst, out
  src, dst = edge_index:unbind(0)
  out = ohm.zeros(x:size(0), x:size(1), {device = x.device})
  out = out:scatter_reduce(0, dst:unsqueeze(-1):expand(-1, x:size(1)), x:index({src}), {reduce = "mean", include_self = false})
  out = self.lin_l(out) + self.lin_r(x)
  return F.normalize(out, {p = 2.0, dim = -1})
end
GINConv = nn.Module:extend("GINConv")
function GINConv:__init(i, o)
  self.eps = nn.Parameter(ohm.zeros(1))
  self.nn = nn.Sequential(nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU(), nn.Linear(o, o), nn.ReLU())
end
function GINConv:forward(x, edge_index)
  local src, dst, agg
  src, dst = edge_index:unbind(0)
  agg = ohm.zeros_like(x):index_add_(0, dst, x:index_select(0, src))
  return self.nn(((1 + self.eps) * x) + agg)
end
RGCNConv = nn.Module:extend("RGCNConv")
function RGCNConv:__init(i, o, relations, bases)
  self.weight = nn.Parameter(ohm.empty(bases, i, o))
  self.comp = nn.Parameter(ohm.empty(relations, bases))
  self.root = nn.Parameter(ohm.empty(i, o))
  self.bias = nn.Parameter(ohm.zeros(o))
  nn.init.xavier_uniform_(self.weight)
  nn.init.xavier_uniform_(self.comp)
  nn.init.xavier_uniform_(self.root)
end
function RGCNConv:forward(x, edge_index, edge_type)
  local src, dst, weight, msg, count, out
  src, dst = edge_index:unbind(0)
  weight = (ohm.matmul(self.comp, self.weight:view(self.weight:size(0), -1))):view(-1, x:size(1), self.root:size(1))
  msg = ohm.bmm(x:index({src}):unsqueeze(1), weight:index({edge_type})):squeeze(1)
  count = ohm.zeros(x:size(0), {device = x.device}):scatter_add_(0, dst, ohm.ones(dst:size(0), {device = x.device})):clamp_({min = 1})
  out = ohm.zeros(x:size(0), msg:size(1), {device = x.device})
  out:index_add_(0, dst, msg / count:index({dst}):unsqueeze(-1))
  return (out + (ohm.matmul(x, self.root))) + self.bias
end
EdgeAttention = nn.Module:extend("EdgeAttention")
function EdgeAttention:__init(d, heads)
  self.h = heads
  self.d = d // heads
  self.lin = nn.Linear(d, d, {bias = false})
  self.att_src = nn.Parameter(ohm.randn(1, heads, d // heads) * 0.1)
  self.att_dst = nn.Parameter(ohm.randn(1, heads, d // heads) * 0.1)
end
function EdgeAttention:forward(x, edge_index)
  local src, dst, n, h, a_src, a_dst, alpha, index, top, total, out
  src, dst = edge_index:unbind(0)
  n = x:size(0)
  h = self.lin(x):view(-1, self.h, self.d)
  a_src = (h * self.att_src):sum(-1)
  a_dst = (h * self.att_dst):sum(-1)
  alpha = F.leaky_relu(a_src:index({src}) + a_dst:index({dst}), 0.2)
  index = dst:view(-1, 1):expand_as(alpha)
  top = ohm.full({n, self.h}, -math.huge, {device = x.device}):scatter_reduce(0, index, alpha:detach(), {reduce = "amax"})
  alpha = (alpha - top:index({dst})):exp()
  total = ohm.zeros(n, self.h, {device = x.device}):scatter_add(0, index, alpha)
  alpha = F.dropout(alpha / (total:index({dst}) + 1e-16), {p = 0.6, training = self.training})
  out = ohm.zeros(n, self.h, self.d, {device = x.device})
  out = out:index_add(0, dst, h:index({src}) * alpha:unsqueeze(-1))
  return out:reshape(n, -1)
end
Net = nn.Module:extend("Net")
function Net:__init()
  self.sage = SAGEConv(16, 32)
  self.gin = GINConv(32, 32)
  self.rgcn = RGCNConv(32, 32, 3, 2)
  self.gat = EdgeAttention(32, 4)
  self.phi = nn.Sequential(nn.Linear(32, 32), nn.ELU({inplace = true}), nn.Linear(32, 32))
  self.rho = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
end
function Net:forward(x, edge_index, edge_type, batch, graphs)
  local mean, top
  x = F.relu(self.sage(x, edge_index))
  x = self.gin(x, edge_index)
  x = F.relu(self.rgcn(x, edge_index, edge_type))
  x = F.elu(self.gat(x, edge_index))
  x = self.phi(x)
  mean = ohm.zeros(graphs, 32, {device = x.device}):index_reduce(0, batch, x, "mean", {include_self = false})
  top = ohm.zeros(graphs, 32, {device = x.device}):scatter_reduce(0, slice(batch, 0, 0):unsqueeze(1):expand(-1, 32), x, "amax", {include_self = false})
  return self.rho(ohm.cat({mean, top}, {dim = 1}))
end
model = Net():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.01, weight_decay = 0.0005})
mark("model")
for epoch = 0, 3 - 1 do
  x = ohm.randn(50, 16, {device = "cuda"})
  edge_index = ohm.randint(0, 50, {2, 170}, {device = "cuda"})
  edge_type = ohm.randint(0, 3, {170}, {device = "cuda"})
  batch = ohm.arange(50, {device = "cuda"}) // 10
  y = ohm.randint(0, 4, {5}, {device = "cuda"})
  model:train()
  optimizer:zero_grad()
  out = model(x, edge_index, edge_type, batch, 5)
  loss = F.nll_loss(F.log_softmax(out, {dim = 1}), y)
  loss:backward()
  optimizer:step()
  mark("epoch " .. epoch)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
edge_index = nil
edge_type = nil
batch = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== model_graph_pools
local model, pool, side, warm, x1, x2, g1, y1, g2, y2, best
model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)):cuda():eval()
pool = ohm.cuda.graph_pool_handle()
mark("model")
side = ohm.cuda.Stream()
side:wait_stream(ohm.cuda.current_stream())
do
  local mode1 <close> = ohm.cuda.stream(side)
  do
    local mode2 <close> = ohm.no_grad()
    warm = model(ohm.zeros(64, 128, {device = "cuda"}))
  end
end
ohm.cuda.current_stream():wait_stream(side)
warm = nil
mark("warm")
x1 = ohm.zeros(64, 128, {device = "cuda"})
x2 = ohm.zeros(16, 128, {device = "cuda"})
g1 = ohm.cuda.CUDAGraph()
do
  local mode3 <close> = ohm.no_grad()
  do
    local mode4 <close> = ohm.cuda.graph(g1, {pool = pool})
    y1 = F.softmax(model(x1), {dim = 1})
  end
end
mark("first")
g2 = ohm.cuda.CUDAGraph()
do
  local mode5 <close> = ohm.no_grad()
  do
    local mode6 <close> = ohm.cuda.graph(g2, {pool = pool})
    y2 = F.softmax(model(x2), {dim = 1})
  end
end
mark("second")
for i = 0, 3 - 1 do
  x1:copy_(ohm.randn(64, 128, {device = "cuda"}))
  g1:replay()
  x2:copy_(ohm.randn(16, 128, {device = "cuda"}))
  g2:replay()
  best = ohm.cat({y1, y2}):argmax({dim = 1})
  mark("replayed " .. i)
end
y1 = nil
g1 = nil
ohm.cuda.empty_cache()
mark("first gone")
y2 = nil
g2 = nil
ohm.cuda.empty_cache()
mark("second gone")
mark("end of program (globals alive)")
model = nil
pool = nil
side = nil
x1 = nil
x2 = nil
best = nil
mark("globals deleted")

--== model_graphed_batches
local Decoder, model, graphs, inputs, outputs, pool, graph, best, sampled
Decoder = nn.Module:extend("Decoder")
function Decoder:__init(width)
  self.embed = nn.Embedding(1000, width)
  self.qkv = nn.Linear(width, 3 * width)
  self.out = nn.Linear(width, width)
  self.head = nn.Linear(width, 1000, {bias = false})
end
function Decoder:forward(ids)
  local h, q, k, v, scores
  h = self.embed(ids)
  q, k, v = self.qkv(h):chunk(3, -1)
  scores = q:matmul(k:transpose(1, 2)) / 8
  h = h + self.out(scores:softmax(-1):matmul(v))
  return self.head(h)
end

model = Decoder(128):to("cuda"):eval()
mark("model")
graphs, inputs, outputs = {}, {}, {}
ohm.no_grad(function()
  local warm
  for _, batch in ipairs({8, 4, 1}) do
    inputs[batch] = ohm.zeros(batch, 64, {dtype = ohm.int64, device = "cuda"})
    warm = model(inputs[batch])
    ohm.cuda.synchronize()
    warm = nil
    graph = ohm.cuda.CUDAGraph()
    ohm.cuda.graph(graph, {pool = pool}, function()
      outputs[batch] = model(inputs[batch])
    end)
    if pool == nil then pool = graph:pool() end
    graphs[batch] = graph
    mark("graph of " .. batch)
  end
  for _, batch in ipairs({1, 4, 8}) do
    inputs[batch]:copy_(ohm.randint(0, 1000, {batch, 64}, {device = "cuda"}))
    graphs[batch]:replay()
    best = outputs[batch]:argmax(-1)
    mark("run of " .. batch)
  end
  sampled = ohm.multinomial(outputs[1]:select(0, 0):softmax(-1), 1)
end)
mark("sampled")
graphs = {}
graph = nil
mark("graphs gone")
ohm.cuda.empty_cache()
mark("emptied with outputs")
outputs = {}
ohm.cuda.empty_cache()
mark("emptied")
mark("end of program (globals alive)")
model = nil
graphs = nil
inputs[8] = nil
inputs[4] = nil
inputs[1] = nil
outputs = nil
best = nil
sampled = nil
mark("globals deleted")

--== model_graphed_training
local model, optimizer, x, y, side, graph, loss, static_loss, accuracy
model = nn.Sequential(
  nn.Linear(64, 256), nn.LayerNorm(256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 10)
):to("cuda")
optimizer = ohm.optim.Adam(model:parameters(), {lr = 1e-3, capturable = true})
x = ohm.randn(128, 64, {device = "cuda"})
y = ohm.randint(0, 10, {128}, {device = "cuda"})
mark("model")

side = ohm.cuda.Stream()
side:wait_stream(ohm.cuda.current_stream())
ohm.cuda.stream(side, function()
  for _ = 1, 3 do
    optimizer:zero_grad({set_to_none = true})
    loss = F.cross_entropy(model(x), y)
    loss:backward()
    optimizer:step()
  end
end)
ohm.cuda.current_stream():wait_stream(side)
loss = nil
mark("warm")

graph = ohm.cuda.CUDAGraph()
optimizer:zero_grad({set_to_none = true})
ohm.cuda.graph(graph, function()
  static_loss = F.cross_entropy(model(x), y)
  static_loss:backward()
  optimizer:step()
end)
mark("captured")

for step = 0, 2 do
  local batch = ohm.randn(128, 64)
  x:copy_(batch)
  y:copy_(ohm.randint(0, 10, {128}))
  graph:replay()
  mark("step " .. step)
end

ohm.no_grad(function()
  accuracy = model(x):argmax(1):eq(y):float():mean()
end)
mark("evaluated")
static_loss = nil
graph:reset()
mark("reset")
optimizer:zero_grad({set_to_none = true})
ohm.cuda.empty_cache()
mark("emptied")
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
side = nil
graph = nil
accuracy = nil
mark("globals deleted")

--== model_gru_actor
local envs, obs_dim, actions, hidden, horizon, ActorCritic, net, opt, hx, cx, obs, log_probs, values, rewards, entropies, masks, logits, value, log_p, probs, action, mask, _, last, policy_loss, value_loss, gae, R, advantage, delta
envs, obs_dim, actions, hidden, horizon = 8, 12, 4, 64, 6
ActorCritic = nn.Module:extend("ActorCritic")
function ActorCritic:__init()
  local name, p
  self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
  self.rnn = nn.LSTMCell(hidden, hidden)
  self.pi = nn.Linear(hidden, actions)
  self.v = nn.Linear(hidden, 1)
  for item_name, item in self.rnn:named_parameters() do
    name, p = item_name, item
    if name:find("weight", 1, true) then
      nn.init.orthogonal_(p)
    else
      nn.init.constant_(p, 0.0)
    end
  end
end
function ActorCritic:forward(x, hx, cx)
  do
    local new1, new2 = several(self.rnn(self.body(x), {hx, cx}))
    hx = new1; sweep()
    cx = new2; sweep()
  end
  return self.pi(hx), self.v(hx):squeeze(-1), hx, cx
end
net = ActorCritic():cuda()
opt = ohm.optim.RMSprop(net:parameters(), {lr = 0.0007, eps = 1e-05, alpha = 0.99})
hx = ohm.zeros(envs, hidden, {device = "cuda"})
cx = ohm.zeros(envs, hidden, {device = "cuda"})
obs = ohm.randn(envs, obs_dim, {device = "cuda"})
mark("model")
for update = 0, 3 - 1 do
  do
    local old1 = log_probs
    log_probs = {}
    clear(old1)
  end
  do
    local old2 = values
    values = {}
    clear(old2)
  end
  do
    local old3 = rewards
    rewards = {}
    clear(old3)
  end
  do
    local old4 = entropies
    entropies = {}
    clear(old4)
  end
  do
    local old5 = masks
    masks = {}
    clear(old5)
  end
  hx = hx:detach()
  cx = cx:detach()
  for t = 0, horizon - 1 do
    do
      local new1, new2, new3, new4 = net(obs, hx, cx)
      logits = new1; sweep()
      value = new2; sweep()
      hx = new3; sweep()
      cx = new4; sweep()
    end
    log_p = F.log_softmax(logits, {dim = -1})
    probs = log_p:exp()
    action = ohm.multinomial(probs, 1):detach()
    log_probs[#log_probs + 1] = log_p:gather(1, action):squeeze(1)
    entropies[#entropies + 1] = -(log_p * probs):sum(1)
    values[#values + 1] = value
    obs = ohm.randn(envs, obs_dim, {device = "cuda"})
    rewards[#rewards + 1] = ohm.randn(envs, {device = "cuda"})
    mask = (ohm.rand(envs, {device = "cuda"}):gt(0.1)):float()
    masks[#masks + 1] = mask
    hx = hx * mask:unsqueeze(1)
    cx = cx * mask:unsqueeze(1)
  end
  mark("rollout " .. update)
  do
    local mode6 <close> = ohm.no_grad()
    do
      local new1, new2, new3, new4 = net(obs, hx, cx)
      _ = new1; sweep()
      last = new2; sweep()
      _, new1 = new3, nil; sweep()
      _, new3 = new4, nil; sweep()
    end
  end
  values[#values + 1] = last
  policy_loss = 0; sweep()
  value_loss = 0; sweep()
  gae = ohm.zeros(envs, {device = "cuda"})
  R = last
  for t = horizon - 1, 0, -1 do
    R = rewards[t + 1] + ((0.99 * R) * masks[t + 1])
    advantage = R - values[t + 1]
    value_loss = value_loss + (0.5 * advantage:pow(2):mean())
    delta = (rewards[t + 1] + ((0.99 * values[t + 1 + 1]:detach()) * masks[t + 1])) - values[t + 1]:detach()
    gae = (((gae * 0.99) * 0.95) * masks[t + 1]) + delta
    policy_loss = (policy_loss - (log_probs[t + 1] * gae):mean()) - (0.01 * entropies[t + 1]:mean())
  end
  opt:zero_grad()
  ;(policy_loss + (0.5 * value_loss)):backward()
  nn.utils.clip_grad_norm_(net:parameters(), 0.5)
  opt:step()
  mark("update " .. update)
end
mark("end of program (globals alive)")
net = nil; sweep()
opt = nil; sweep()
hx = nil; sweep()
cx = nil; sweep()
obs = nil; sweep()
log_probs = clear(log_probs)
values = clear(values)
rewards = clear(rewards)
entropies = clear(entropies)
masks = clear(masks)
logits = nil; sweep()
value = nil; sweep()
log_p = nil; sweep()
probs = nil; sweep()
action = nil; sweep()
mask = nil; sweep()
_ = nil; sweep()
last = nil; sweep()
policy_loss = nil; sweep()
value_loss = nil; sweep()
gae = nil; sweep()
R = nil; sweep()
advantage = nil; sweep()
delta = nil; sweep()
mark("globals deleted")

--== model_halved_batch
local Wide, train_step, model, optimizer, batch, steps, failed, loss
ohm.cuda.set_per_process_memory_fraction(0.003)
Wide = nn.Module:extend("Wide")
function Wide:__init()
  self.fc1 = nn.Linear(512, 2048)
  self.fc2 = nn.Linear(2048, 2048)
  self.fc3 = nn.Linear(2048, 16)
  self.norm = nn.LayerNorm(2048)
end
function Wide:forward(x)
  local h
  h = F.gelu(self.fc1(x))
  h = self.norm(h + F.gelu(self.fc2(h)))
  return self.fc3(h)
end
function train_step(model, optimizer, batch)
  local x, y, loss
  x = ohm.randn(batch, 512, {device = "cuda"})
  y = ohm.randint(0, 16, {batch}, {device = "cuda"})
  optimizer:zero_grad({set_to_none = true})
  loss = F.cross_entropy(model(x), y)
  loss:backward()
  optimizer:step()
  return loss:detach()
end
model = Wide():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
mark("model")
loss = train_step(model, optimizer, 16)
mark("warm")
batch = 4096
steps = 0
failed = 0
while steps < 3 do
  local is_done, problem = pcall(function()
    loss = train_step(model, optimizer, batch)
  end)
  if is_done then
    steps = steps + 1
    mark("step " .. steps .. " of " .. batch)
  else
    assert(tostring(problem):find("out of memory"), tostring(problem))
    problem = nil
    failed = failed + 1
    optimizer:zero_grad({set_to_none = true})
    batch = batch // 2
    mark("failed " .. failed)
    ohm.gc.collect()
    ohm.cuda.empty_cache()
    mark("emptied " .. failed)
  end
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss = nil
mark("globals deleted")

--== model_hessian_attention
local Block, model, head, params, x, y, loss, grads, dot, g, hv
Block = nn.Module:extend("Block")
function Block:__init()
  self.norm = nn.LayerNorm(32)
  self.qkv = nn.Linear(32, 96)
  self.out = nn.Linear(32, 32)
end
function Block:forward(x)
  local b, t, c, q, k, v, att, y
  b, t, c = table.unpack(x.shape)
  q, k, v = self.qkv(self.norm(x)):split(32, {dim = 2})
  q = q:view(b, t, 4, 8):transpose(1, 2)
  k = k:view(b, t, 4, 8):transpose(1, 2)
  v = v:view(b, t, 4, 8):transpose(1, 2)
  att = F.softmax((ohm.matmul(q, k:transpose(2, 3))) * 0.35, {dim = 3})
  y = (ohm.matmul(att, v)):transpose(1, 2):reshape(b, t, c)
  return x + self.out(y)
end
model = Block():cuda()
head = nn.Linear(32, 10):cuda()
mark("model")
params = map(function(p) return p end, model:parameters())
for step = 0, 1 - 1 do
  x = ohm.randn(4, 6, 32, {device = "cuda"})
  y = ohm.randint(0, 10, {24}, {device = "cuda"})
  loss = F.cross_entropy(head(model(x)):view(24, 10), y)
  grads = ohm.autograd.grad(loss, params, {create_graph = true})
  dot = 0.0
  for _, item1 in ipairs(grads) do
    g = item1
    dot = dot + (g * ohm.ones_like(g)):sum()
  end
  hv = ohm.autograd.grad(dot, params)
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
head = nil
params = nil
x = nil
y = nil
loss = nil
grads = nil
dot = nil
g = nil
hv = nil
mark("globals deleted")

--== model_hessian_cnn
local net, params, x, y, loss, grads, norm, g
net = nn.Sequential(nn.Conv2d(3, 8, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, {stride = 2}), nn.SiLU(), nn.AdaptiveAvgPool2d({2, 2}), nn.Flatten(), nn.Linear(64, 5)):cuda()
mark("model")
params = map(function(p) return p end, net:parameters())
for step = 0, 1 - 1 do
  x = ohm.randn(4, 3, 12, 12, {device = "cuda"})
  y = ohm.randint(0, 5, {4}, {device = "cuda"})
  loss = F.cross_entropy(net(x), y, {label_smoothing = 0.1})
  grads = ohm.autograd.grad(loss, params, {create_graph = true})
  norm = 0.0
  for _, item1 in ipairs(grads) do
    g = item1
    norm = norm + g:pow(2):sum()
  end
  ;(loss + (0.1 * norm)):backward()
  net:zero_grad()
  mark("step " .. step)
end
mark("end of program (globals alive)")
net = nil
params = nil
x = nil
y = nil
loss = nil
grads = nil
norm = nil
g = nil
mark("globals deleted")

--== model_hessian_mlp
local net, params, x, y, loss, grads, dot, g
net = nn.Sequential(nn.Linear(12, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 16), nn.LayerNorm(16), nn.Linear(16, 4)):cuda()
mark("model")
params = map(function(p) return p end, net:parameters())
for step = 0, 1 - 1 do
  x = ohm.randn(6, 12, {device = "cuda"})
  y = ohm.randint(0, 4, {6}, {device = "cuda"})
  loss = F.cross_entropy(net(x), y)
  grads = ohm.autograd.grad(loss, params, {create_graph = true})
  dot = 0.0
  for _, item1 in ipairs(grads) do
    g = item1
    dot = dot + (g * g):sum()
  end
  dot:backward()
  mark("step " .. step)
end
mark("end of program (globals alive)")
net = nil
params = nil
x = nil
y = nil
loss = nil
grads = nil
dot = nil
g = nil
mark("globals deleted")

--== model_hooks
local Swish, ClippedGradient, Net, model, optimizer, norms, handle, leaf_handle, x, y, logits, hidden, loss, size
Swish = ohm.autograd.Function {
  forward = function(ctx, x)
    local gate = ohm.sigmoid(x)
    ctx:save_for_backward(x, gate)
    return x * gate
  end,
  backward = function(ctx, grad)
    local x, gate = table.unpack(ctx.saved_tensors)
    local slope = x * gate * (1 - gate)
    return grad * (gate + slope)
  end,
}
ClippedGradient = ohm.autograd.Function {
  forward = function(ctx, x, limit)
    ctx.limit = limit
    return x
  end,
  backward = function(ctx, grad)
    return grad:clamp(-ctx.limit, ctx.limit), nil
  end,
}
Net = nn.Module:extend("Net")
function Net:__init()
  self.fc1 = nn.Linear(32, 256)
  self.fc2 = nn.Linear(256, 256)
  self.fc3 = nn.Linear(256, 8)
end
function Net:forward(x)
  local h
  h = Swish.apply(self.fc1(x))
  h = Swish.apply(self.fc2(h))
  h = ClippedGradient.apply(h, 0.5)
  h:retain_grad()
  return self.fc3(h), h
end
model = Net():to("cuda")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.05, momentum = 0.9})
norms = {}
handle = model.fc2:register_full_backward_hook(function(_, _, grad_output)
  norms[#norms + 1] = grad_output[1]:norm()
end)
leaf_handle = model.fc1.weight:register_hook(function(grad) return grad * 0.5 end)
mark("model")
for step = 0, 2 do
  x = ohm.randn(64, 32, {device = "cuda"})
  y = ohm.randint(0, 8, {64}, {device = "cuda"})
  do
    local new1, new2 = model(x)
    logits = new1
    hidden = new2
  end
  logits:register_hook(function(grad) return grad * 2 end)
  mark("forward " .. step)
  loss = F.cross_entropy(logits, y)
  optimizer:zero_grad()
  loss:backward()
  mark("backward " .. step)
  size = hidden.grad:norm()
  optimizer:step()
  mark("step " .. step)
end
handle:remove()
leaf_handle:remove()
do
  local new1, new2 = model(x)
  logits = new1
  hidden = new2
end
loss = F.cross_entropy(logits, y)
loss:backward()
mark("without hooks")
mark("end of program (globals alive)")
model = nil
optimizer = nil
norms = nil
handle = nil
leaf_handle = nil
x = nil
y = nil
logits = nil
hidden = nil
loss = nil
size = nil
mark("globals deleted")

--== model_hvp_spectrum
local model, params, x, y, hvp, normalized, sum_of, loss, grads, eigenvalues, vectors, v, u, overlap, Hv, value, trace, penalty, total
model = nn.Sequential(nn.Linear(23, 47), nn.Softplus(), nn.Linear(47, 31), nn.Tanh(), nn.Linear(31, 4)):cuda()
params = model:parameters()
x = ohm.randn(26, 23, {device = "cuda"})
y = ohm.randint(0, 4, {26}, {device = "cuda"})
mark("model")
function hvp(grads, params, v)
  local dot, g, u
  dot = 0
  do
    local list1_2 = v
    for number1, item1 in ipairs(grads) do
      g = item1
      u = list1_2[number1]
      dot = dot + (g * u):sum()
    end
  end
  return ohm.autograd.grad(dot, params, {retain_graph = true})
end
function normalized(v)
  local norm
  norm = ohm.sqrt(sum_of(map(function(u) return (u * u):sum() end, v))) + 1e-06
  return map(function(u) return u / norm end, v)
end
function sum_of(items)
  local total, item
  total = items[1]
  for i = 2, #items do
    item = items[i]
    total = total + item
  end
  return total
end
loss = F.cross_entropy(model(x), y)
grads = ohm.autograd.grad(loss, params, {create_graph = true})
mark("gradient")
eigenvalues = {}
vectors = {}
for k = 0, 2 - 1 do
  v = normalized(map(function(p) return ohm.randn_like(p) end, params))
  for i = 0, 3 - 1 do
    for _, item3 in ipairs(vectors) do
      u = item3
      overlap = sum_of(map(function(a, b) return (a * b):sum() end, v, u))
      v = map(function(a, b) return a - (overlap * b) end, v, u)
    end
    Hv = hvp(grads, params, v)
    value = sum_of(map(function(a, b) return (a * b):sum() end, Hv, v)):item()
    v = normalized(Hv)
    mark("vector " .. k .. " turn " .. i)
  end
  eigenvalues[#eigenvalues + 1] = value
  vectors[#vectors + 1] = v
end
trace = 0.0
for i = 0, 2 - 1 do
  do
    local old6 = v
    v = map(function(p) return (ohm.randint(0, 2, p.shape, {device = "cuda"}):float() * 2) - 1 end, params)
    if i > 0 then clear(old6) end
  end
  Hv = hvp(grads, params, v)
  trace = trace + sum_of(map(function(a, b) return (a * b):sum() end, Hv, v)):item()
end
mark("trace")
grads = nil
loss = nil
mark("graph gone")
penalty = ohm.autograd.grad(F.cross_entropy(model(x), y), params, {create_graph = true})
total = sum_of(map(function(p) return p:pow(2):sum() end, penalty))
total:backward()
mark("penalty")
mark("end of program (globals alive)")
model = nil
params = nil
x = nil
y = nil
eigenvalues = nil
vectors[2] = clear(vectors[2])
vectors = nil
v = nil
Hv = nil
u = nil
overlap = nil
penalty = nil
total = nil
mark("globals deleted")

--== model_hypernet
local HyperNet, Main, hyper, main, optimizer, plateau, total, task, x, y, w, b, gamma, beta, out, loss, reg, frozen
HyperNet = nn.Module:extend("HyperNet")
function HyperNet:__init(tasks, z, hidden, cin, cout, k)
  if k == nil then k = 3 end
  if cout == nil then cout = 12 end
  if cin == nil then cin = 8 end
  if hidden == nil then hidden = 48 end
  if z == nil then z = 16 end
  if tasks == nil then tasks = 5 end
  self.shape = {cout, cin, k, k}
  self.embed = nn.Embedding(tasks, z)
  self.trunk = nn.Sequential(nn.Linear(z, hidden), nn.LeakyReLU(0.1), nn.Linear(hidden, hidden), nn.LeakyReLU(0.1))
  self.to_conv = nn.Linear(hidden, ((cout * cin) * k) * k)
  self.to_bias = nn.Linear(hidden, cout)
  self.to_film = nn.Linear(hidden, 2 * cout)
end
function HyperNet:forward(task)
  local h, w, b, gamma, beta
  h = self.trunk(self.embed(task))
  w = self.to_conv(h):view(12, 8, 3, 3)
  b = self.to_bias(h):squeeze(0)
  gamma, beta = self.to_film(h):chunk(2, {dim = -1})
  return w, b, gamma, beta
end
Main = nn.Module:extend("Main")
function Main:__init()
  self.stem = nn.Conv2d(3, 8, 3, {padding = 1})
  self.norm = nn.BatchNorm2d(12, {affine = false})
  self.head = nn.Linear(12, 6)
end
function Main:forward(x, w, b, gamma, beta)
  x = F.relu(self.stem(x))
  x = F.conv2d(x, w, b, {stride = 2, padding = 1})
  x = self.norm(x)
  x = ((1 + gamma:unsqueeze(-1):unsqueeze(-1)) * x) + beta:unsqueeze(-1):unsqueeze(-1)
  x = F.relu(x)
  x = F.adaptive_max_pool2d(x, 1):flatten(1)
  return self.head(x)
end
hyper = HyperNet():cuda()
main = Main():cuda()
optimizer = ohm.optim.NAdam({{params = hyper:parameters()}, {params = main:parameters(), lr = 0.0001}}, {lr = 0.001})
plateau = ohm.optim.lr_scheduler.ReduceLROnPlateau(optimizer, {patience = 0})
mark("models")
for epoch = 0, 2 - 1 do
  total = 0.0
  for t = 0, 3 - 1 do
    task = ohm.tensor({t}, {device = "cuda"})
    x = ohm.randn(10, 3, 14, 14, {device = "cuda"})
    y = ohm.randint(0, 6, {10}, {device = "cuda"})
    do
      local new1, new2, new3, new4 = hyper(task)
      w = new1
      b = new2
      gamma = new3
      beta = new4
    end
    out = main(x, w, b, gamma, beta)
    loss = F.cross_entropy(out, y)
    reg = w:pow(2):sum():sqrt() * 0.001
    optimizer:zero_grad()
    ;(loss + reg):backward()
    optimizer:step()
    total = total + loss:item()
    mark("epoch " .. epoch .. " task " .. t)
  end
  plateau:step(total)
end
frozen = {}
do
  local mode1 <close> = ohm.no_grad()
  for t = 0, 3 - 1 do
    do
      local new1, new2, new3, new4 = hyper(ohm.tensor({t}, {device = "cuda"}))
      w = new1
      b = new2
      gamma = new3
      beta = new4
    end
    frozen[#frozen + 1] = {w:clone(), b:clone()}
  end
end
mark("frozen")
mark("end of program (globals alive)")
hyper = nil
main = nil
optimizer = nil
plateau = nil
task = nil
x = nil
y = nil
w = nil
b = nil
gamma = nil
beta = nil
out = nil
loss = nil
reg = nil
for i = #frozen, 1, -1 do frozen[i] = clear(frozen[i]) end
mark("globals deleted")

--== model_informer
local ProbAttention, Distill, Informer, model, optimizer, x, out, loss
ProbAttention = nn.Module:extend("ProbAttention")
function ProbAttention:__init(width, heads, factor)
  if factor == nil then factor = 2 end
  self.q = nn.Linear(width, width)
  self.k = nn.Linear(width, width)
  self.v = nn.Linear(width, width)
  self.o = nn.Linear(width, width)
  self.heads = heads
  self.factor = factor
end
function ProbAttention:forward(x)
  local b, t, w, q, k, v, u, sample, expanded, sampled, scores, measure, top, rows, heads, chosen, attention, context
  b, t, w = table.unpack(x.shape)
  q = self.q(x):view(b, t, self.heads, -1):transpose(2, 1)
  k = self.k(x):view(b, t, self.heads, -1):transpose(2, 1)
  v = self.v(x):view(b, t, self.heads, -1):transpose(2, 1)
  u = math.min(self.factor * math.ceil(math.log(t)), t)
  sample = ohm.randint(t, {t, u}, {device = x.device})
  expanded = k:unsqueeze(-3):expand(b, self.heads, t, t, k:size(-1))
  sampled = slice(slice(slice(expanded, 0, 0), 1, 0), 4, 0):index({ohm.arange(t, {device = x.device}):unsqueeze(1), sample}, {2, 3})
  scores = ohm.matmul(q:unsqueeze(-2), sampled:transpose(-2, -1)):squeeze(-2)
  measure = (scores:max(-1)) - (scores:sum(-1) / t)
  top = second(measure:topk(u, {sorted = false}))
  rows = slice(ohm.arange(b, {device = x.device}), 0, 0):unsqueeze(1):unsqueeze(2)
  heads = slice(ohm.arange(self.heads, {device = x.device}):unsqueeze(0), 1, 0):unsqueeze(2)
  chosen = slice(q, 3, 0):index({rows, heads, top})
  attention = ohm.softmax(ohm.matmul(chosen, k:transpose(-2, -1)) / math.sqrt(q:size(-1)), {dim = -1})
  context = v:mean({dim = -2}):unsqueeze(-2):expand(b, self.heads, t, v:size(-1)):clone()
  set_at(slice(context, 3, 0), {rows, heads, top}, ohm.matmul(attention, v):type_as(context))
  return self.o(context:transpose(2, 1):contiguous():view(b, t, w))
end
Distill = nn.Module:extend("Distill")
function Distill:__init(width)
  self.conv = nn.Conv1d(width, width, 3, {padding = 1, padding_mode = "circular"})
  self.norm = nn.BatchNorm1d(width)
  self.pool = nn.MaxPool1d(3, {stride = 2, padding = 1})
end
function Distill:forward(x)
  return self.pool(F.elu(self.norm(self.conv(x:permute(0, 2, 1))))):transpose(1, 2)
end
Informer = nn.Module:extend("Informer")
function Informer:__init(width)
  local pe, position, div
  if width == nil then width = 32 end
  self.embed = nn.Conv1d(7, width, 3, {padding = 1, padding_mode = "circular", bias = false})
  nn.init.kaiming_normal_(self.embed.weight, {mode = "fan_in", nonlinearity = "leaky_relu"})
  pe = ohm.zeros(64, width)
  position = ohm.arange(0, 64):float():unsqueeze(1)
  div = (ohm.arange(0, width, 2):float() * (-(math.log(10000.0) / width))):exp()
  slice(slice(pe, 0, 0), 1, 0, nil, 2):copy_(ohm.sin(position * div))
  slice(slice(pe, 0, 0), 1, 1, nil, 2):copy_(ohm.cos(position * div))
  self:register_buffer("pe", pe:unsqueeze(0))
  self.attention = nn.ModuleList(collect(2, function(_) return ProbAttention(width, 4) end))
  self.c1 = nn.ModuleList(collect(2, function(_) return nn.Conv1d(width, 64, 1) end))
  self.c2 = nn.ModuleList(collect(2, function(_) return nn.Conv1d(64, width, 1) end))
  self.n1 = nn.ModuleList(collect(2, function(_) return nn.LayerNorm(width) end))
  self.n2 = nn.ModuleList(collect(2, function(_) return nn.LayerNorm(width) end))
  self.distill = Distill(width)
  self.head = nn.Linear(width, 7)
  self.dropout = nn.Dropout(0.05)
end
function Informer:forward(x)
  local y
  x = self.embed(x:permute(0, 2, 1)):transpose(1, 2) + slice(slice(self.pe, 0, 0), 1, 0, x:size(1))
  for i = 0, 2 - 1 do
    x = x + self.dropout(self.attention[i + 1](x))
    x = self.n1[i + 1](x)
    y = x
    y = self.dropout(F.gelu(self.c1[i + 1](y:transpose(-1, 1))))
    y = self.dropout(self.c2[i + 1](y):transpose(-1, 1))
    x = self.n2[i + 1](x + y)
    if i == 0 then
      x = self.distill(x)
    end
  end
  return self.head(x)
end
model = Informer():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(4, 24, 7, {device = "cuda"})
  out = model(x)
  loss = F.mse_loss(out, ohm.randn_like(out)) + F.l1_loss(out, ohm.zeros_like(out))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
out = nil
loss = nil
mark("globals deleted")

--== model_kv_cache
local vocab, dim, heads, layers, context, RotaryEmbedding, rotate_half, Attention, Block, Model, model, generate, prompt, out, text
vocab, dim, heads, layers, context = 256, 64, 4, 2, 32
RotaryEmbedding = nn.Module:extend("RotaryEmbedding")
function RotaryEmbedding:__init(dim)
  local inv_freq
  inv_freq = 1.0 / (10000 ^ (ohm.arange(0, dim, 2):float() / dim))
  self:register_buffer("inv_freq", inv_freq, {persistent = false})
end
function RotaryEmbedding:forward(positions)
  local freqs, emb
  freqs = ohm.outer(positions:float(), self.inv_freq)
  emb = ohm.cat({freqs, freqs}, {dim = -1})
  return emb:cos(), emb:sin()
end
function rotate_half(x)
  local x1, x2
  x1, x2 = x:chunk(2, {dim = -1})
  return ohm.cat({-x2, x1}, {dim = -1})
end
Attention = nn.Module:extend("Attention")
function Attention:__init()
  self.qkv = nn.Linear(dim, 3 * dim, {bias = false})
  self.proj = nn.Linear(dim, dim, {bias = false})
  self.rope = RotaryEmbedding(dim // heads)
end
function Attention:forward(x, past, start)
  local b, t, _, q, k, v, positions, cos, sin, y
  b, t, _ = table.unpack(x.shape)
  q, k, v = self.qkv(x):split(dim, {dim = 2})
  q = q:view(b, t, heads, dim // heads):transpose(1, 2)
  k = k:view(b, t, heads, dim // heads):transpose(1, 2)
  v = v:view(b, t, heads, dim // heads):transpose(1, 2)
  positions = ohm.arange(start, start + t, {device = x.device})
  cos, sin = self.rope(positions)
  q = (q * cos) + (rotate_half(q) * sin)
  k = (k * cos) + (rotate_half(k) * sin)
  q = q:to(v.dtype)
  k = k:to(v.dtype)
  if past ~= nil then
    k = ohm.cat({past[1], k}, {dim = 2})
    v = ohm.cat({past[2], v}, {dim = 2})
  end
  y = F.scaled_dot_product_attention(q, k, v, {is_causal = past == nil})
  y = y:transpose(1, 2):contiguous():view(b, t, dim)
  return self.proj(y), {k, v}
end
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln1 = nn.LayerNorm(dim)
  self.attn = Attention()
  self.ln2 = nn.LayerNorm(dim)
  self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU({approximate = "tanh"}), nn.Linear(4 * dim, dim))
end
function Block:forward(x, past, start)
  local a, present
  a, present = self.attn(self.ln1(x), past, start)
  x = x + a
  x = x + self.mlp(self.ln2(x))
  return x, present
end
Model = nn.Module:extend("Model")
function Model:__init()
  self.wte = nn.Embedding(vocab, dim)
  self.blocks = nn.ModuleList(collect(layers, function(_) return Block() end))
  self.ln = nn.LayerNorm(dim)
  self.head = nn.Linear(dim, vocab, {bias = false})
  self.head.weight = self.wte.weight
end
function Model:forward(idx, caches, start)
  local x, presents, block, present
  x = self.wte(idx)
  presents = {}
  for number1, item1 in ipairs(self.blocks:children()) do
    local i = number1 - 1
    block = item1
    do
      local new1, new2 = block(x, caches[i + 1], start)
      x = new1
      present = new2
    end
    presents[#presents + 1] = present
  end
  return self.head(self.ln(x)), presents
end
model = Model():half():cuda():eval()
mark("model")
function generate(prompt, new_tokens, temperature, top_k)
  local caches, tokens, idx, start, logits, v, _, probs, sorted_probs, sorted_idx, cumulative, remove, choice
  if top_k == nil then top_k = 20 end
  if temperature == nil then temperature = 0.9 end
  caches = {}
  tokens = prompt
  idx = prompt
  start = 0
  for step = 0, new_tokens - 1 do
    do
      local new1, new2 = model(idx, caches, start)
      logits = new1
      local old = caches
      caches = new2
      for i = #old, 1, -1 do old[i] = clear(old[i]) end
    end
    start = start + idx:size(1)
    logits = slice(slice(logits, 0, 0):select(1, -1), 1, 0):float() / temperature
    do
      local new1, new2 = ohm.topk(logits, top_k)
      v = new1
      _ = new2
    end
    logits:masked_fill_(logits:lt(v:index({ohm.tensor({-1})}, {1})), -math.huge)
    probs = F.softmax(logits, {dim = -1})
    do
      local new1, new2 = ohm.sort(probs, {descending = true})
      sorted_probs = new1
      sorted_idx = new2
    end
    cumulative = ohm.cumsum(sorted_probs, {dim = -1})
    remove = (cumulative - sorted_probs):gt(0.95)
    sorted_probs = sorted_probs:masked_fill(remove, 0.0)
    sorted_probs = sorted_probs / sorted_probs:sum({dim = -1, keepdim = true})
    choice = ohm.multinomial(sorted_probs, {num_samples = 1})
    idx = ohm.gather(sorted_idx, -1, choice)
    tokens = ohm.cat({tokens, idx}, {dim = 1})
    mark("token " .. step)
  end
  return tokens
end
prompt = ohm.randint(0, vocab, {2, 9}, {device = "cuda"})
do
  local mode <close> = ohm.no_grad()
  out = generate(prompt, 6)
end
text = out:tolist()
mark("generated")
mark("end of program (globals alive)")
model = nil
prompt = nil
out = nil
text = nil
mark("globals deleted")

--== model_kv_index_copy
local Attention, Block, Model, model, ids, positions, logits, tokens, probs, nxt, text
Attention = nn.Module:extend("Attention")
function Attention:__init(d, heads, length)
  self.heads = heads
  self.qkv = nn.Linear(d, 3 * d, {bias = false})
  self.out = nn.Linear(d, d, {bias = false})
  self:register_buffer("keys", ohm.zeros(2, heads, length, d // heads), {persistent = false})
  self:register_buffer("values", ohm.zeros(2, heads, length, d // heads), {persistent = false})
end
function Attention:forward(x, positions, mask)
  local b, t, d, q, k, v, y
  b, t, d = table.unpack(x.shape)
  q, k, v = self.qkv(x):chunk(3, {dim = -1})
  q = q:view(b, t, self.heads, d // self.heads):transpose(1, 2)
  k = k:view(b, t, self.heads, d // self.heads):transpose(1, 2)
  v = v:view(b, t, self.heads, d // self.heads):transpose(1, 2)
  self.keys:index_copy_(2, positions, k)
  self.values:index_copy_(2, positions, v)
  y = F.scaled_dot_product_attention(q, self.keys, self.values, {attn_mask = mask})
  return self.out(y:transpose(1, 2):reshape(b, t, d))
end
Block = nn.Module:extend("Block")
function Block:__init(d, heads, length)
  self.n1 = nn.LayerNorm(d)
  self.attn = Attention(d, heads, length)
  self.n2 = nn.LayerNorm(d)
  self.up = nn.Linear(d, 4 * d)
  self.down = nn.Linear(4 * d, d)
end
function Block:forward(x, positions, mask)
  x = x + self.attn(self.n1(x), positions, mask)
  return x + self.down(F.silu(self.up(self.n2(x))))
end
Model = nn.Module:extend("Model")
function Model:__init()
  self.embed = nn.Embedding(256, 64)
  self.pos = nn.Embedding(48, 64)
  self.blocks = nn.ModuleList(collect(2, function(_) return Block(64, 4, 48) end))
  self.norm = nn.LayerNorm(64)
  self.head = nn.Linear(64, 256, {bias = false})
  self:register_buffer("causal", ohm.tril(ohm.ones(48, 48, {dtype = ohm.bool})))
end
function Model:forward(ids, positions)
  local x, mask, block
  x = self.embed(ids) + self.pos(positions)
  mask = self.causal:unsqueeze(0):unsqueeze(1):index({positions}, {2})
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    x = block(x, positions, mask)
  end
  return self.head(self.norm(slice(x, 0, 0):select(1, -1)))
end
model = Model():to("cuda", ohm.float16):eval()
mark("model")
do
  local mode2 <close> = ohm.no_grad()
  ids = ohm.randint(0, 256, {2, 10}, {device = "cuda"})
  positions = ohm.arange(10, {device = "cuda"})
  logits = model(ids, positions)
  mark("prefill")
  tokens = {ids}
  for step = 0, 5 - 1 do
    probs = F.softmax(logits:float() / 0.8, {dim = -1})
    nxt = ohm.multinomial(probs, 1)
    tokens[#tokens + 1] = nxt
    positions = ohm.tensor({10 + step}, {device = "cuda"})
    logits = model(nxt, positions)
    mark("token " .. step)
  end
  text = ohm.cat(tokens, {dim = 1}):cpu()
end
mark("done")
mark("end of program (globals alive)")
model = nil
ids = nil
positions = nil
logits = nil
tokens = nil
probs = nil
nxt = nil
text = nil
mark("globals deleted")

--== model_lion_lamb
local Mixer, model, params, momenta, averages, squares, ema, lion, lamb, x, y, loss, p, total, coef, e, backup, out, b
Mixer = nn.Module:extend("Mixer")
function Mixer:__init(tokens, dim, depth)
  if depth == nil then depth = 2 end
  self.embed = nn.Conv2d(3, dim, 4, {stride = 4})
  self.norm1 = nn.ModuleList(collect(depth, function(_) return nn.LayerNorm(dim) end))
  self.norm2 = nn.ModuleList(collect(depth, function(_) return nn.LayerNorm(dim) end))
  self.token = nn.ModuleList(collect(depth, function(_) return nn.Sequential(nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens)) end))
  self.channel = nn.ModuleList(collect(depth, function(_) return nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim)) end))
  self.head = nn.Linear(dim, 10)
end
function Mixer:forward(x)
  local n1, t, n2, c
  x = self.embed(x):flatten(2):transpose(1, 2)
  do
    local list1_2 = self.token:children()
    do
      local list1_3 = self.norm2:children()
      do
        local list1_4 = self.channel:children()
        for number1, item1 in ipairs(self.norm1:children()) do
          n1 = item1
          t = list1_2[number1]
          n2 = list1_3[number1]
          c = list1_4[number1]
          x = x + t(n1(x):transpose(1, 2)):transpose(1, 2)
          x = x + c(n2(x))
        end
      end
    end
  end
  return self.head(x:mean(1))
end
model = Mixer(16, 48):cuda()
params = filter(model:parameters(), function(p) return p.requires_grad end)
momenta = map(function(p) return ohm.zeros_like(p) end, params)
averages = map(function(p) return ohm.zeros_like(p) end, params)
squares = map(function(p) return ohm.zeros_like(p) end, params)
ema = map(function(p) return p:detach():clone() end, params)
mark("model")
function lion(lr, wd)
  local p, m, update
  do
    local mode2 <close> = ohm.no_grad()
    do
      local list3_2 = momenta
      for number3, item3 in ipairs(params) do
        p = item3
        m = list3_2[number3]
        p:mul_(1 - (lr * wd))
        update = ((m * 0.9) + (p.grad * 0.1)):sign_()
        p:add_(update, {alpha = -lr})
        m:mul_(0.99):add_(p.grad, {alpha = 0.01})
      end
    end
  end
end
function lamb(lr, step)
  local p, m, v, g, r, w_norm, r_norm, ratio
  do
    local mode4 <close> = ohm.no_grad()
    do
      local list5_2 = averages
      do
        local list5_3 = squares
        for number5, item5 in ipairs(params) do
          p = item5
          m = list5_2[number5]
          v = list5_3[number5]
          g = p.grad
          m:mul_(0.9):add_(g, {alpha = 0.1})
          v:mul_(0.999):addcmul_(g, g, {value = 0.001})
          r = (m / (1 - (0.9 ^ step))) / ((v / (1 - (0.999 ^ step))):sqrt() + 1e-06)
          r:add_(p, {alpha = 0.01})
          w_norm = p:norm(2)
          r_norm = r:norm(2)
          ratio = ohm.where(w_norm:gt(0), ohm.where(r_norm:gt(0), w_norm / r_norm, ohm.ones_like(w_norm)), ohm.ones_like(w_norm))
          p:sub_((r * ratio) * lr)
        end
      end
    end
  end
end
for step = 0, 4 - 1 do
  x = ohm.randn(12, 3, 16, 16, {device = "cuda"})
  y = ohm.randint(0, 10, {12}, {device = "cuda"})
  loss = F.cross_entropy(model(x), y, {label_smoothing = 0.1})
  for _, item6 in ipairs(params) do
    p = item6
    p.grad = nil
  end
  loss:backward()
  total = ohm.norm(ohm.stack(map(function(p) return ohm.norm(p.grad:detach(), 2) end, params)), 2)
  coef = ohm.clamp(1.0 / (total + 1e-06), {max = 1.0})
  for _, item7 in ipairs(params) do
    p = item7
    p.grad:detach():mul_(coef)
  end
  if (step % 2) == 0 then
    lion(0.0001, 0.1)
  else
    lamb(0.001, step)
  end
  do
    local mode8 <close> = ohm.no_grad()
    do
      local list9_2 = params
      for number9, item9 in ipairs(ema) do
        e = item9
        p = list9_2[number9]
        e:lerp_(p, 0.1)
      end
    end
  end
  mark("step " .. step)
end
backup = map(function(p) return p:detach():clone() end, params)
do
  local mode10 <close> = ohm.no_grad()
  do
    local list11_2 = ema
    for number11, item11 in ipairs(params) do
      p = item11
      e = list11_2[number11]
      p:copy_(e)
    end
  end
  out = model(x)
  do
    local list12_2 = backup
    for number12, item12 in ipairs(params) do
      p = item12
      b = list12_2[number12]
      p:copy_(b)
    end
  end
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
params = nil
momenta = nil
averages = nil
squares = nil
ema = nil
x = nil
y = nil
loss = nil
p = nil
total = nil
coef = nil
e = nil
backup = nil
out = nil
b = nil
mark("globals deleted")

--== model_llama
local dim, heads, kv_heads, head_dim, vocab, RMSNorm, rotate_half, rope, repeat_kv, Attention, Layer, Llama, model, opt, ids, logits, loss, norm
dim, heads, kv_heads, head_dim, vocab = 64, 4, 2, 16, 200
RMSNorm = nn.Module:extend("RMSNorm")
function RMSNorm:__init(size, eps)
  if eps == nil then eps = 1e-05 end
  self.eps = eps
  self.weight = nn.Parameter(ohm.ones(size))
end
function RMSNorm:forward(x)
  local h
  h = x:float()
  h = h * ohm.rsqrt(h:pow(2):mean(-1, {keepdim = true}) + self.eps)
  return h:type_as(x) * self.weight
end
function rotate_half(x)
  local x1, x2
  x1 = slice(x, -1, 0, x:size(-1) // 2)
  x2 = slice(x, -1, x:size(-1) // 2)
  return ohm.cat({-x2, x1}, {dim = -1})
end
function rope(q, k, cos, sin)
  cos = cos:unsqueeze(1)
  sin = sin:unsqueeze(1)
  return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)
end
function repeat_kv(x, n)
  local B, H, T, D
  B, H, T, D = table.unpack(x.shape)
  return slice(slice(slice(slice(x, 0, 0), 1, 0):unsqueeze(2), 3, 0), 4, 0):expand(B, H, n, T, D):reshape(B, H * n, T, D)
end
Attention = nn.Module:extend("Attention")
function Attention:__init()
  self.wq = nn.Linear(dim, heads * head_dim, {bias = false})
  self.wk = nn.Linear(dim, kv_heads * head_dim, {bias = false})
  self.wv = nn.Linear(dim, kv_heads * head_dim, {bias = false})
  self.wo = nn.Linear(heads * head_dim, dim, {bias = false})
end
function Attention:forward(x, cos, sin)
  local B, T, _, q, k, v, y
  B, T, _ = table.unpack(x.shape)
  q = self.wq(x):view(B, T, heads, head_dim):transpose(1, 2)
  k = self.wk(x):view(B, T, kv_heads, head_dim):transpose(1, 2)
  v = self.wv(x):view(B, T, kv_heads, head_dim):transpose(1, 2)
  q, k = rope(q, k, cos, sin)
  k = repeat_kv(k, heads // kv_heads)
  v = repeat_kv(v, heads // kv_heads)
  y = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
  return self.wo(y:transpose(1, 2):reshape(B, T, -1))
end
Layer = nn.Module:extend("Layer")
function Layer:__init()
  self.attention_norm = RMSNorm(dim)
  self.attention = Attention()
  self.ffn_norm = RMSNorm(dim)
  self.gate = nn.Linear(dim, 160, {bias = false})
  self.up = nn.Linear(dim, 160, {bias = false})
  self.down = nn.Linear(160, dim, {bias = false})
end
function Layer:forward(x, cos, sin)
  local h
  x = x + self.attention(self.attention_norm(x), cos, sin)
  h = self.ffn_norm(x)
  return x + self.down(F.silu(self.gate(h)) * self.up(h))
end
Llama = nn.Module:extend("Llama")
function Llama:__init()
  local inv
  self.embed = nn.Embedding(vocab, dim)
  self.layers = nn.ModuleList(collect(3, function(_) return Layer() end))
  self.norm = RMSNorm(dim)
  self.head = nn.Linear(dim, vocab, {bias = false})
  inv = 1.0 / (10000.0 ^ (ohm.arange(0, head_dim, 2):float() / head_dim))
  self:register_buffer("inv_freq", inv, {persistent = false})
end
function Llama:forward(ids)
  local B, T, x, positions, freqs, emb, cos, sin, layer
  B, T = table.unpack(ids.shape)
  x = self.embed(ids)
  positions = slice(ohm.arange(T, {device = ids.device}):unsqueeze(0), 1, 0)
  freqs = slice(slice(positions, 0, 0), 1, 0):unsqueeze(2):float() * slice(self.inv_freq:unsqueeze(0):unsqueeze(1), 2, 0)
  emb = ohm.cat({freqs, freqs}, {dim = -1})
  cos, sin = emb:cos():to(x.dtype), emb:sin():to(x.dtype)
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    x = ohm.utils.checkpoint.checkpoint(layer, x, cos, sin, {use_reentrant = false})
  end
  return self.head(self.norm(x))
end
model = Llama():to("cuda", ohm.bfloat16)
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.0003, betas = {0.9, 0.95}, weight_decay = 0.1})
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, vocab, {2, 33}, {device = "cuda"})
  logits = model(slice(slice(ids, 0, 0), 1, 0, -1)):float()
  loss = F.cross_entropy(logits:reshape(-1, vocab), slice(slice(ids, 0, 0), 1, 1):reshape(-1))
  mark("forward " .. step)
  loss:backward()
  norm = nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  opt:zero_grad()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
ids = nil
logits = nil
loss = nil
norm = nil
mark("globals deleted")

--== model_lookahead_fed
-- x[i], of a tensor or a list
local function at(x, i)
  if not ohm.is_tensor(x) then
    if type(i) ~= "number" then return x[i] end
      return x[i < 0 and #x + 1 + i or i + 1]
  end
  if ohm.is_tensor(i) then return x:index({i}) end
  return x:select(0, i)
end

-- list[a:b]
local function part(x, first, last)
  if ohm.is_tensor(x) then return slice(x, 0, first or 0, last) end
  local size, kept = #x, {}
  first, last = first or 0, last or size
  if first < 0 then first = first + size end
  if last < 0 then last = last + size end
  for i = first + 1, math.min(last, size) do kept[#kept + 1] = x[i] end
  return kept
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

-- The names of a state_dict in Python's order.
local function keys_of()
  local names = {}
  for _, layer in ipairs({"conv1", "conv2", "fc1", "fc2"}) do
    names[#names + 1] = layer .. ".weight"
    names[#names + 1] = layer .. ".bias"
  end
  return names
end

local CNN, train, globals_, states, state, loss, average, key, other, correct, x, y, out, predicted
CNN = nn.Module:extend("CNN")
function CNN:__init()
  self.conv1 = nn.Conv2d(1, 8, 5)
  self.conv2 = nn.Conv2d(8, 16, 5)
  self.drop = nn.Dropout2d()
  self.fc1 = nn.Linear(256, 40)
  self.fc2 = nn.Linear(40, 10)
end
function CNN:forward(x)
  x = F.relu(F.max_pool2d(self.conv1(x), 2))
  x = F.relu(F.max_pool2d(self.drop(self.conv2(x)), 2))
  x = x:view(-1, (x:size(1) * x:size(2)) * x:size(3))
  x = F.dropout(F.relu(self.fc1(x)), {training = self.training})
  return self.fc2(x)
end
function train(model, rounds)
  local optimizer, total, x, y, loss, proximal, p, q
  model:train()
  optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.5})
  total = 0.0
  for _ = 0, rounds - 1 do
    x = ohm.randn(10, 1, 28, 28, {device = "cuda"})
    y = ohm.randint(0, 10, {10}, {device = "cuda"})
    model:zero_grad()
    loss = F.cross_entropy(model(x), y)
    proximal = 0.0
    do
      local list1_0 = items(model:parameters())
      local list1_1 = items(globals_:parameters())
      for number1 = 1, math.min(#list1_0, #list1_1) do
        p = list1_0[number1]
        q = list1_1[number1]
        proximal = iadd(proximal, (p - q:detach()):norm(2) ^ 2)
      end
    end
    ;(loss + (0.005 * proximal)):backward()
    optimizer:step()
    total = total + loss:item()
  end
  return model:state_dict(), total / rounds
end
globals_ = CNN():cuda()
mark("model")
for communication = 0, 2 - 1 do
  states = {}
  for client = 0, 2 - 1 do
    do
      local new1, new2 = train(ohm.copy.deepcopy(globals_), 2)
      state = new1
      loss = new2
    end
    states[#states + 1] = ohm.copy.deepcopy(state)
  end
  average = ohm.copy.deepcopy(at(states, 0))
  do
    local list3_0 = keys_of()
    for number3 = 1, #list3_0 do
      key = list3_0[number3]
      do
        local list4_0 = items(part(states, 1, nil))
        for number4 = 1, #list4_0 do
          other = list4_0[number4]
          average[key]:add_(other[key])
        end
      end
      average[key] = ohm.div(average[key], #states)
    end
  end
  globals_:load_state_dict(average)
  mark("round " .. communication)
end
globals_:eval()
correct = 0
do
  local mode5 <close> = ohm.no_grad()
  for _ = 0, 2 - 1 do
    x = ohm.randn(20, 1, 28, 28, {device = "cuda"})
    y = ohm.randint(0, 10, {20}, {device = "cuda"})
    out = globals_(x)
    predicted = second(out.data:max(1, {keepdim = true}))
    correct = iadd(correct, predicted:eq(y.data:view_as(predicted)):long():cpu():sum())
  end
end
mark("test")
mark("end of program (globals alive)")
globals_ = nil
states = nil
state = nil
loss = nil
average = nil
key = nil
other = nil
correct = nil
x = nil
y = nil
out = nil
predicted = nil
mark("globals deleted")

--== model_lora
local LoRALinear, Block, Model, model, p, block, trainable, opt, ids, logits, loss
LoRALinear = nn.Module:extend("LoRALinear")
function LoRALinear:__init(base, r, alpha, dropout)
  if dropout == nil then dropout = 0.05 end
  if alpha == nil then alpha = 8 end
  if r == nil then r = 4 end
  self.base = base
  self.scaling = alpha / r
  self.dropout = nn.Dropout(dropout)
  self.A = nn.Parameter(ohm.empty(r, base.in_features))
  self.B = nn.Parameter(ohm.zeros(base.out_features, r))
  nn.init.kaiming_uniform_(self.A, {a = 5 ^ 0.5})
end
function LoRALinear:forward(x)
  local result
  result = self.base(x)
  return result + ((ohm.matmul(ohm.matmul(self.dropout(x), self.A:t()), self.B:t())) * self.scaling)
end
Block = nn.Module:extend("Block")
function Block:__init(dim, heads)
  self.heads = heads
  self.norm1 = nn.LayerNorm(dim)
  self.q = nn.Linear(dim, dim)
  self.k = nn.Linear(dim, dim)
  self.v = nn.Linear(dim, dim)
  self.o = nn.Linear(dim, dim)
  self.norm2 = nn.LayerNorm(dim)
  self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
end
function Block:forward(x)
  local B, T, C, h, q, k, v
  B, T, C = table.unpack(x.shape)
  h = self.norm1(x)
  q = self.q(h):view(B, T, self.heads, -1):transpose(1, 2)
  k = self.k(h):view(B, T, self.heads, -1):transpose(1, 2)
  v = self.v(h):view(B, T, self.heads, -1):transpose(1, 2)
  h = F.scaled_dot_product_attention(q, k, v):transpose(1, 2):reshape(B, T, C)
  x = x + self.o(h)
  return x + self.mlp(self.norm2(x))
end
Model = nn.Module:extend("Model")
function Model:__init()
  self.emb = nn.Embedding(100, 48)
  self.blocks = nn.ModuleList(collect(2, function(_) return Block(48, 4) end))
  self.norm = nn.LayerNorm(48)
  self.head = nn.Linear(48, 100, {bias = false})
end
function Model:forward(ids)
  local x, block
  x = self.emb(ids)
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    x = block(x)
  end
  return self.head(self.norm(x))
end
model = Model()
for _, item2 in ipairs(model:parameters()) do
  p = item2
  p.requires_grad = false
end
for _, item3 in ipairs(model.blocks:children()) do
  block = item3
  block.q = LoRALinear(block.q)
  block.v = LoRALinear(block.v)
end
model:cuda()
trainable = filter(model:parameters(), function(p) return p.requires_grad end)
opt = ohm.optim.AdamW(trainable, {lr = 0.0002})
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, 100, {4, 16}, {device = "cuda"})
  do
    local mode4 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    logits = model(ids)
    loss = F.cross_entropy(slice(slice(logits, 0, 0), 1, 0, -1):reshape(-1, 100), slice(slice(ids, 0, 0), 1, 1):reshape(-1))
  end
  mark("forward " .. step)
  loss:backward()
  nn.utils.clip_grad_norm_(trainable, 0.3)
  opt:step()
  opt:zero_grad()
  mark("step " .. step)
end
do
  local mode5 <close> = ohm.no_grad()
  for _, item6 in ipairs(model.blocks:children()) do
    block = item6
    block.q.base.weight:add_((ohm.matmul(block.q.B, block.q.A)) * block.q.scaling)
    block.v.base.weight:add_((ohm.matmul(block.v.B, block.v.A)) * block.v.scaling)
  end
end
mark("merged")
mark("end of program (globals alive)")
model = nil
p = nil
block = nil
trainable = nil
opt = nil
ids = nil
logits = nil
loss = nil
mark("globals deleted")

--== model_lr_range
local batch, lr_find, model, optimizer, x, y, best, group, scheduler, loss
local function argmin(list)
  local best = 1
  for i = 2, #list do
    if list[i] < list[best] then best = i end
  end
  return best
end
function batch(n)
  return ohm.randn(n, 1, 12, 12, {device = "cuda"}), ohm.randint(0, 3, {n}, {device = "cuda"})
end
function lr_find(model, optimizer, low, high, steps)
  local weights, state, factor, lr, rates, losses, average, group, x, y, loss
  weights = ohm.copy.deepcopy(model:state_dict())
  state = ohm.copy.deepcopy(optimizer:state_dict())
  factor = (high / low) ^ (1 / (steps - 1))
  lr = low
  rates, losses = {}, {}
  average = 0.0
  for i = 0, steps - 1 do
    for _, item1 in ipairs(optimizer.param_groups) do
      group = item1
      group.lr = lr
    end
    do
      local new1, new2 = batch(10)
      x = new1
      y = new2
    end
    optimizer:zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss:backward()
    optimizer:step()
    average = (0.9 * average) + (0.1 * loss:item())
    losses[#losses + 1] = average
    rates[#rates + 1] = lr
    lr = lr * factor
  end
  model:load_state_dict(weights)
  optimizer:load_state_dict(state)
  weights = nil
  state = nil
  return rates[argmin(losses)]
end
model = nn.Sequential(nn.Conv2d(1, 14, 3), nn.BatchNorm2d(14), nn.ELU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(14 * 25, 3)):cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
x, y = batch(10)
F.cross_entropy(model(x), y):backward()
optimizer:step()
mark("warm")
best = lr_find(model, optimizer, 1e-05, 0.1, 4)
mark("found")
for _, item2 in ipairs(optimizer.param_groups) do
  group = item2
  group.lr = best
end
scheduler = ohm.optim.lr_scheduler.OneCycleLR(optimizer, {max_lr = best, total_steps = 8})
for step = 0, 3 - 1 do
  do
    local new1, new2 = batch(21)
    x = new1
    y = new2
  end
  loss = F.cross_entropy(model(x), y)
  optimizer:zero_grad({set_to_none = true})
  loss:backward()
  optimizer:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
best = nil
group = nil
scheduler = nil
loss = nil
mark("globals deleted")

--== model_lstm_lm
local vocab, hidden, layers, batch, bptt, LanguageModel, model, opt, corpus, h, c, total, data, targets, output, loss, token
vocab, hidden, layers, batch, bptt = 500, 64, 2, 8, 12
LanguageModel = nn.Module:extend("LanguageModel")
function LanguageModel:__init()
  self.drop = nn.Dropout(0.2)
  self.encoder = nn.Embedding(vocab, hidden)
  self.rnn = nn.LSTM(hidden, hidden, layers, {dropout = 0.2})
  self.decoder = nn.Linear(hidden, vocab)
  self.decoder.weight = self.encoder.weight
end
function LanguageModel:forward(x, h, c)
  local emb, out
  emb = self.drop(self.encoder(x))
  out, h, c = several(self.rnn(emb, {h, c}))
  out = self.drop(out)
  return self.decoder(out:view(-1, hidden)), h, c
end
model = LanguageModel():cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 20.0})
corpus = ohm.randint(0, vocab, {(4 * bptt) + 1, batch}, {device = "cuda"})
h = ohm.zeros(layers, batch, hidden, {device = "cuda"})
c = ohm.zeros(layers, batch, hidden, {device = "cuda"})
mark("corpus")
total = 0.0
for step = 0, 3 - 1 do
  data = slice(corpus, 0, step * bptt, (step + 1) * bptt)
  targets = slice(corpus, 0, (step * bptt) + 1, ((step + 1) * bptt) + 1):reshape(-1)
  model:zero_grad()
  h = h:detach()
  c = c:detach()
  output, h, c = model(data, h, c)
  loss = F.cross_entropy(output, targets)
  mark("forward " .. step)
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 0.25)
  opt:step()
  total = total + loss:item()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  token = ohm.randint(0, vocab, {1, 1}, {device = "cuda"})
  h = ohm.zeros(layers, 1, hidden, {device = "cuda"})
  c = ohm.zeros(layers, 1, hidden, {device = "cuda"})
  for i = 0, 4 - 1 do
    output, h, c = model(token, h, c)
    token = output:argmax({dim = -1, keepdim = true})
  end
end
mark("generated")
mark("end of program (globals alive)")
model = nil
opt = nil
corpus = nil
h = nil
c = nil
data = nil
targets = nil
output = nil
loss = nil
token = nil
mark("globals deleted")

--== model_mae
local MAE, model, opt, images, loss
MAE = nn.Module:extend("MAE")
function MAE:__init(patches, patch_dim, dim, decoder_dim)
  if decoder_dim == nil then decoder_dim = 32 end
  if dim == nil then dim = 48 end
  if patch_dim == nil then patch_dim = 48 end
  if patches == nil then patches = 16 end
  self.embed = nn.Linear(patch_dim, dim)
  self.pos = nn.Parameter(ohm.zeros(1, patches, dim), {requires_grad = false})
  self.encoder = nn.TransformerEncoderLayer(dim, 4, 96, {dropout = 0.0, batch_first = true, norm_first = true})
  self.to_decoder = nn.Linear(dim, decoder_dim)
  self.mask_token = nn.Parameter(ohm.zeros(1, 1, decoder_dim))
  self.decoder_pos = nn.Parameter(ohm.zeros(1, patches, decoder_dim), {requires_grad = false})
  self.decoder = nn.TransformerEncoderLayer(decoder_dim, 4, 64, {dropout = 0.0, batch_first = true, norm_first = true})
  self.pred = nn.Linear(decoder_dim, patch_dim)
  nn.init.trunc_normal_(self.mask_token, {std = 0.02})
end
function MAE:patchify(images)
  local N, x
  N = images:size(0)
  x = images:reshape(N, 3, 4, 4, 4, 4)
  x = ohm.einsum("nchpwq->nhwpqc", {x})
  return x:reshape(N, 16, 48)
end
function MAE:forward(images, ratio)
  local target, x, N, L, D, keep, noise, shuffle, restore, kept, mask, tokens, loss
  if ratio == nil then ratio = 0.75 end
  target = self:patchify(images)
  x = self.embed(target) + self.pos
  N, L, D = table.unpack(x.shape)
  keep = math.floor(L * (1 - ratio))
  noise = ohm.rand(N, L, {device = x.device})
  shuffle = ohm.argsort(noise, {dim = 1})
  restore = ohm.argsort(shuffle, {dim = 1})
  kept = slice(slice(shuffle, 0, 0), 1, 0, keep)
  x = ohm.gather(x, {dim = 1, index = repeated(kept:unsqueeze(-1), 1, 1, D)})
  mask = ohm.ones({N, L}, {device = x.device})
  slice(slice(mask, 0, 0), 1, 0, keep):fill_(0)
  mask = ohm.gather(mask, {dim = 1, index = restore})
  x = self.to_decoder(self.encoder(x))
  tokens = repeated(self.mask_token, N, L - keep, 1)
  x = ohm.cat({x, tokens}, {dim = 1})
  x = ohm.gather(x, {dim = 1, index = repeated(restore:unsqueeze(-1), 1, 1, x:size(2))})
  x = self.pred(self.decoder(x + self.decoder_pos))
  loss = (x - target) ^ 2
  loss = loss:mean({dim = -1})
  return (loss * mask):sum() / mask:sum()
end
model = MAE():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.00015, betas = {0.9, 0.95}, weight_decay = 0.05})
mark("model")
for step = 0, 2 - 1 do
  images = ohm.randn(8, 3, 16, 16, {device = "cuda"})
  loss = model(images)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
images = nil
loss = nil
mark("globals deleted")

--== model_mamba_retnet
local Mamba, Retention, RMSNorm, Layer, Net, model, optimizer, ids, logits, loss
Mamba = nn.Module:extend("Mamba")
function Mamba:__init(d, state, conv)
  local A
  self.inner = 2 * d
  self.state = state
  self.rank = math.ceil(d / 16)
  self.in_proj = nn.Linear(d, 2 * self.inner, {bias = false})
  self.conv1d = nn.Conv1d(self.inner, self.inner, conv, {groups = self.inner, padding = conv - 1})
  self.x_proj = nn.Linear(self.inner, self.rank + (2 * state), {bias = false})
  self.dt_proj = nn.Linear(self.rank, self.inner)
  A = repeated(ohm.arange(1, state + 1, {dtype = ohm.float32}), self.inner, 1)
  self.A_log = nn.Parameter(ohm.log(A))
  self.D = nn.Parameter(ohm.ones(self.inner))
  self.out_proj = nn.Linear(self.inner, d, {bias = false})
end
function Mamba:forward(x)
  local b, l, d, res, y
  b, l, d = table.unpack(x.shape)
  x, res = self.in_proj(x):split({self.inner, self.inner}, {dim = -1})
  x = x:transpose(1, 2)
  x = slice(slice(slice(self.conv1d(x), 0, 0), 1, 0), 2, 0, l)
  x = F.silu(x:transpose(1, 2))
  y = self:ssm(x)
  return self.out_proj(y * F.silu(res))
end
function Mamba:ssm(x)
  local A, delta, B, C, deltaA, deltaB_u, h, ys, y
  A = -ohm.exp(self.A_log:float())
  delta, B, C = self.x_proj(x):split({self.rank, self.state, self.state}, {dim = -1})
  delta = F.softplus(self.dt_proj(delta))
  deltaA = ohm.exp(ohm.einsum("bld,dn->bldn", {delta, A}))
  deltaB_u = ohm.einsum("bld,bln,bld->bldn", {delta, B, x})
  h = ohm.zeros(x:size(0), self.inner, self.state, {device = x.device})
  ys = {}
  for i = 0, x:size(1) - 1 do
    h = (slice(deltaA, 0, 0):select(1, i) * h) + slice(deltaB_u, 0, 0):select(1, i)
    ys[#ys + 1] = ohm.einsum("bdn,bn->bd", {h, slice(slice(C, 0, 0):select(1, i), 1, 0)})
  end
  y = ohm.stack(ys, {dim = 1})
  return y + (x * self.D)
end
Retention = nn.Module:extend("Retention")
function Retention:__init(d, heads)
  self.heads = heads
  self.q = nn.Linear(d, d, {bias = false})
  self.k = nn.Linear(d, d, {bias = false})
  self.v = nn.Linear(d, d, {bias = false})
  self.g = nn.Linear(d, d, {bias = false})
  self.o = nn.Linear(d, d, {bias = false})
  self.norm = nn.GroupNorm(heads, d)
  self:register_buffer("gamma", 1 - ohm.exp(ohm.linspace(math.log(1 / 32), math.log(1 / 512), heads)))
end
function Retention:forward(x)
  local b, t, d, q, k, v, n, m, D, qk, out
  b, t, d = table.unpack(x.shape)
  q = self.q(x):view(b, t, self.heads, -1):transpose(1, 2)
  k = self.k(x):view(b, t, self.heads, -1):transpose(1, 2) / math.sqrt(d // self.heads)
  v = self.v(x):view(b, t, self.heads, -1):transpose(1, 2)
  n = ohm.arange(t, {device = x.device}):unsqueeze(1)
  m = ohm.arange(t, {device = x.device}):unsqueeze(0)
  D = ohm.where(n:ge(m), self.gamma:view(-1, 1, 1) ^ (n - m):clamp({min = 0}), 0.0)
  D = D / D:sum({dim = -1, keepdim = true}):sqrt()
  qk = (ohm.matmul(q, k:transpose(-1, -2))) * D
  qk = qk / qk:detach():abs():sum({dim = -1, keepdim = true}):clamp({min = 1})
  out = (ohm.matmul(qk, v)):transpose(1, 2):reshape(b * t, d)
  out = self.norm(out):view(b, t, d)
  return self.o(F.silu(self.g(x)) * out)
end
RMSNorm = nn.Module:extend("RMSNorm")
function RMSNorm:__init(d, eps)
  if eps == nil then eps = 1e-05 end
  self.eps = eps
  self.weight = nn.Parameter(ohm.ones(d))
end
function RMSNorm:forward(x)
  return (x * ohm.rsqrt(x:pow(2):mean(-1, {keepdim = true}) + self.eps)) * self.weight
end
Layer = nn.Module:extend("Layer")
function Layer:__init(d, mixer)
  self.norm = RMSNorm(d)
  self.mixer = mixer
end
function Layer:forward(x)
  return self.mixer(self.norm(x)) + x
end
Net = nn.Module:extend("Net")
function Net:__init(vocab, d)
  self.embedding = nn.Embedding(vocab, d)
  self.layers = nn.ModuleList({Layer(d, Mamba(d, 8, 4)), Layer(d, Retention(d, 4)), Layer(d, Mamba(d, 8, 4))})
  self.norm_f = RMSNorm(d)
  self.lm_head = nn.Linear(d, vocab, {bias = false})
  self.lm_head.weight = self.embedding.weight
end
function Net:forward(ids)
  local x, layer
  x = self.embedding(ids)
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    x = layer(x)
  end
  return self.lm_head(self.norm_f(x))
end
model = Net(70, 32):cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001, betas = {0.9, 0.95}})
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, 70, {2, 11}, {device = "cuda"})
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16, enabled = step == 1})
    logits = model(slice(slice(ids, 0, 0), 1, 0, -1))
    loss = F.cross_entropy(logits:reshape(-1, 70):float(), slice(slice(ids, 0, 0), 1, 1):reshape(-1))
  end
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
ids = nil
logits = nil
loss = nil
mark("globals deleted")

--== model_maml
local Net, model, meta, meta_loss, amplitude, support, query, weights, loss, grads
Net = nn.Module:extend("Net")
function Net:__init()
  self.w1 = nn.Parameter(ohm.randn(40, 1) * 0.1)
  self.b1 = nn.Parameter(ohm.zeros(40))
  self.w2 = nn.Parameter(ohm.randn(40, 40) * 0.1)
  self.b2 = nn.Parameter(ohm.zeros(40))
  self.w3 = nn.Parameter(ohm.randn(1, 40) * 0.1)
  self.b3 = nn.Parameter(ohm.zeros(1))
end
function Net:forward(x, params)
  x = F.relu(F.linear(x, params[1], params[2]))
  x = F.relu(F.linear(x, params[3], params[4]))
  return F.linear(x, params[5], params[6])
end
model = Net():cuda()
meta = ohm.optim.Adam(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 2 - 1 do
  meta:zero_grad()
  meta_loss = 0.0
  for task = 0, 2 - 1 do
    amplitude = (ohm.rand(1, {device = "cuda"}) * 4.9) + 0.1
    support = (ohm.rand(10, 1, {device = "cuda"}) * 10) - 5
    query = (ohm.rand(10, 1, {device = "cuda"}) * 10) - 5
    weights = map(function(p) return p end, model:parameters())
    for inner = 0, 2 - 1 do
      loss = F.mse_loss(model(support, weights), amplitude * ohm.sin(support))
      grads = ohm.autograd.grad(loss, weights, {create_graph = true})
      weights = map(function(w, g) return w - (0.01 * g) end, weights, grads)
    end
    meta_loss = meta_loss + F.mse_loss(model(query, weights), amplitude * ohm.sin(query))
  end
  mark("inner " .. step)
  meta_loss = meta_loss / 2
  meta_loss:backward()
  meta:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
meta = nil
meta_loss = nil
amplitude = nil
support = nil
query = nil
weights = nil
loss = nil
grads = nil
mark("globals deleted")

--== model_maml_conv
local Net, model, meta, meta_loss, xs, ys, weights, loss, grads
Net = nn.Module:extend("Net")
function Net:__init()
  self.w1 = nn.Parameter(ohm.randn(8, 3, 3, 3) * 0.1)
  self.b1 = nn.Parameter(ohm.zeros(8))
  self.w2 = nn.Parameter(ohm.randn(16, 8, 3, 3) * 0.1)
  self.b2 = nn.Parameter(ohm.zeros(16))
  self.w3 = nn.Parameter(ohm.randn(5, 256) * 0.1)
  self.b3 = nn.Parameter(ohm.zeros(5))
end
function Net:forward(x, params)
  x = F.relu(F.conv2d(x, params[1], params[2], {padding = 1}))
  x = F.avg_pool2d(x, 2)
  x = F.relu(F.conv2d(x, params[3], params[4], {padding = 1}))
  x = F.avg_pool2d(x, 2)
  return F.linear(x:flatten(1), params[5], params[6])
end
model = Net():cuda()
meta = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 2 - 1 do
  meta:zero_grad()
  meta_loss = 0.0
  for task = 0, 2 - 1 do
    xs = ohm.randn(5, 3, 16, 16, {device = "cuda"})
    ys = ohm.arange(5, {device = "cuda"})
    weights = map(function(p) return p end, model:parameters())
    loss = F.cross_entropy(model(xs, weights), ys)
    grads = ohm.autograd.grad(loss, weights, {create_graph = true})
    weights = map(function(w, g) return w - (0.01 * g) end, weights, grads)
    meta_loss = meta_loss + F.cross_entropy(model(xs, weights), ys)
  end
  meta_loss:backward()
  meta:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
meta = nil
meta_loss = nil
xs = nil
ys = nil
weights = nil
loss = nil
grads = nil
mark("globals deleted")

--== model_mdn
local MDN, mdn_loss, model, opt, scheduler, x, y, pi, sigma, mu, loss, k, sample
MDN = nn.Module:extend("MDN")
function MDN:__init(inputs, outputs, mixtures, hidden)
  if hidden == nil then hidden = 32 end
  self.outputs = outputs
  self.mixtures = mixtures
  self.hidden = nn.Sequential(nn.Linear(inputs, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.Softplus())
  self.pi = nn.Linear(hidden, mixtures)
  self.sigma = nn.Linear(hidden, outputs * mixtures)
  self.mu = nn.Linear(hidden, outputs * mixtures)
end
function MDN:forward(x)
  local h, pi, sigma, mu
  h = self.hidden(x)
  pi = F.softmax(self.pi(h), {dim = 1})
  sigma = ohm.exp(self.sigma(h)):view(-1, self.mixtures, self.outputs)
  mu = self.mu(h):view(-1, self.mixtures, self.outputs)
  return pi, sigma, mu
end
function mdn_loss(pi, sigma, mu, target)
  local log_prob
  target = target:unsqueeze(1):expand_as(sigma)
  log_prob = (((-0.5) * (((target - mu) / sigma) ^ 2)) - ohm.log(sigma)) - (0.5 * math.log(2 * math.pi))
  log_prob = log_prob:sum(2)
  return -ohm.logsumexp(ohm.log(pi + 1e-08) + log_prob, {dim = 1}):mean()
end
model = MDN(2, 3, 5):cuda()
opt = ohm.optim.NAdam(model:parameters(), {lr = 0.001})
scheduler = ohm.optim.lr_scheduler.ExponentialLR(opt, {gamma = 0.95})
x = ohm.randn(64, 2, {device = "cuda"})
y = ohm.randn(64, 3, {device = "cuda"})
mark("data")
for step = 0, 3 - 1 do
  opt:zero_grad()
  pi, sigma, mu = model(x)
  loss = mdn_loss(pi, sigma, mu, y)
  mark("forward " .. step)
  loss:backward()
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
do
  local mode1 <close> = ohm.no_grad()
  pi, sigma, mu = model(x)
  k = ohm.multinomial(pi, 1):view(-1, 1, 1):expand(-1, 1, 3)
  sample = mu:gather(1, k):squeeze(1) + (sigma:gather(1, k):squeeze(1) * ohm.randn(64, 3, {device = "cuda"}))
end
mark("sampled")
mark("end of program (globals alive)")
model = nil
opt = nil
scheduler = nil
x = nil
y = nil
pi = nil
sigma = nil
mu = nil
loss = nil
k = nil
sample = nil
mark("globals deleted")

--== model_memory_pool
local model, x, pool, y, cache, scratch, large, again, small
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)):to("cuda")
x = ohm.randn(64, 256, {device = "cuda"})
mark("model")

pool = ohm.cuda.MemPool()
ohm.cuda.use_mem_pool(pool, function()
  y = model(x)
  cache = ohm.zeros(8, 64, 1024, {device = "cuda"})
  scratch = ohm.empty(3 << 20, {device = "cuda"})
  scratch = nil
  mark("in the pool")
end)
large = ohm.empty(3 << 20, {device = "cuda"})
mark("outside")
large = nil
ohm.cuda.empty_cache()
mark("emptied")
y:sum():backward()
mark("backward")
y = nil
ohm.cuda.use_mem_pool(pool, function()
  again = ohm.empty(2 << 20, {device = "cuda"})
  small = ohm.ones(100, {device = "cuda"})
end)
mark("again")
cache, again = nil, nil
ohm.cuda.empty_cache()
mark("cached in the pool")
pool = nil
mark("pool gone")
small = nil
ohm.cuda.empty_cache()
mark("nothing left")
mark("end of program (globals alive)")
model = nil
x = nil
mark("globals deleted")

--== model_memory_report
local seen, report, model, optimizer, x, out, loss, reserved, big, small, y
seen = {}
function report(label)
  local stats, allocated, text, free, total
  stats = ohm.cuda.memory_stats()
  allocated = ohm.cuda.memory_allocated()
  seen[#seen + 1] = {stats["allocated_bytes.all.peak"], stats["num_alloc_retries"], allocated}
  text = ohm.cuda.memory_summary({abbreviated = true})
  free, total = ohm.cuda.mem_get_info()
  mark(label)
end
model = nn.Sequential(nn.Linear(333, 1111), nn.GELU(), nn.Linear(1111, 777), nn.LayerNorm(777), nn.Linear(777, 3)):cuda()
optimizer = ohm.optim.Adam(model:parameters())
report("model")
for step = 0, 2 - 1 do
  ohm.cuda.reset_peak_memory_stats()
  x = ohm.randn(301, 333, {device = "cuda"})
  out = model(x)
  report("forward " .. step)
  loss = out:square():mean()
  loss:backward()
  report("backward " .. step)
  optimizer:step()
  optimizer:zero_grad({set_to_none = step == 0})
  report("step " .. step)
end
out = nil
loss = nil
ohm.cuda.empty_cache()
report("emptied")
reserved = ohm.cuda.memory_reserved() - ohm.cuda.memory_allocated()
big = ohm.empty(5, 1000, 1000, {device = "cuda"})
small = collect(7, function(i) return ohm.empty((100 * i) + 1, {device = "cuda"}) end)
report("filled")
big = nil
for i = 5, 3, -1 do table.remove(small, i); sweep() end
ohm.cuda.empty_cache()
report("holes")
x = slice(x, 0, 0, 100)
ohm.cuda.empty_cache()
report("slice keeps all")
x = x:clone()
ohm.cuda.synchronize()
ohm.cuda.empty_cache()
report("clone")
model:cpu()
optimizer.state = {}
ohm.cuda.empty_cache()
report("model on the host")
model:half():cuda()
y = model(x:half())
report("half")
mark("end of program (globals alive)")
seen = nil
model = nil
optimizer = nil
x = nil
reserved = nil
small = nil
y = nil
mark("globals deleted")

--== model_mobilenet
local SqueezeExcite, InvertedResidual, model, decay, no_decay, name, p, opt, scaler, x, y, loss
SqueezeExcite = nn.Module:extend("SqueezeExcite")
function SqueezeExcite:__init(channels)
  self.fc1 = nn.Conv2d(channels, channels // 4, 1)
  self.fc2 = nn.Conv2d(channels // 4, channels, 1)
end
function SqueezeExcite:forward(x)
  local s
  s = x:mean({2, 3}, {keepdim = true})
  s = F.relu(self.fc1(s))
  s = F.hardsigmoid(self.fc2(s))
  return x * s
end
InvertedResidual = nn.Module:extend("InvertedResidual")
function InvertedResidual:__init(inputs, outputs, stride, expand)
  local hidden
  hidden = inputs * expand
  self.use_res = (stride == 1 and inputs == outputs)
  self.expand = nn.Sequential(nn.Conv2d(inputs, hidden, 1, {bias = false}), nn.BatchNorm2d(hidden), nn.ReLU6({inplace = true}))
  self.depthwise = nn.Sequential(nn.Conv2d(hidden, hidden, 3, {stride = stride, padding = 1, groups = hidden, bias = false}), nn.BatchNorm2d(hidden), nn.Hardswish())
  self.se = SqueezeExcite(hidden)
  self.project = nn.Sequential(nn.Conv2d(hidden, outputs, 1, {bias = false}), nn.BatchNorm2d(outputs))
end
function InvertedResidual:forward(x)
  local h
  h = self.project(self.se(self.depthwise(self.expand(x))))
  if self.use_res then
    return x + h
  end
  return h
end
model = nn.Sequential(nn.Conv2d(3, 16, 3, {stride = 2, padding = 1, bias = false}), nn.BatchNorm2d(16), nn.ReLU6({inplace = true}), InvertedResidual(16, 16, 1, 2), InvertedResidual(16, 24, 2, 4), InvertedResidual(24, 24, 1, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(24, 10)):cuda()
decay, no_decay = {}, {}
for item_name, item in model:named_parameters() do
  name, p = item_name, item
  if (p.ndim == 1 or (name:sub(-4) == "bias")) then
    no_decay[#no_decay + 1] = p
  else
    decay[#decay + 1] = p
  end
end
opt = ohm.optim.SGD({{params = no_decay, weight_decay = 0.0}, {params = decay, weight_decay = 4e-05}}, {lr = 0.05, momentum = 0.9})
scaler = ohm.cuda.amp.GradScaler()
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(4, 3, 48, 48, {device = "cuda"})
  y = ohm.randint(0, 10, {4}, {device = "cuda"})
  do
    local mode1 <close> = ohm.cuda.amp.autocast()
    loss = F.cross_entropy(model(x), y)
  end
  mark("forward " .. step)
  opt:zero_grad()
  scaler:scale(loss):backward()
  scaler:step(opt)
  scaler:update()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
decay = nil
no_decay = nil
p = nil
opt = nil
scaler = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== model_moco
local Encoder, MoCo, model, optimizer, criterion, images, view1, view2, output, target, loss, _, pred, correct, top1
Encoder = nn.Module:extend("Encoder")
function Encoder:__init(dim)
  if dim == nil then dim = 64 end
  self.conv1 = nn.Conv2d(3, 32, 3, {stride = 2, padding = 1})
  self.bn1 = nn.BatchNorm2d(32)
  self.conv2 = nn.Conv2d(32, 64, 3, {stride = 2, padding = 1})
  self.bn2 = nn.BatchNorm2d(64)
  self.fc = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, dim))
end
function Encoder:forward(x)
  x = F.relu(self.bn1(self.conv1(x)))
  x = F.relu(self.bn2(self.conv2(x)))
  x = x:mean({dim = {2, 3}})
  return self.fc(x)
end
MoCo = nn.Module:extend("MoCo")
function MoCo:__init(dim, K, m, T)
  local pq, pk
  if T == nil then T = 0.07 end
  if m == nil then m = 0.999 end
  if K == nil then K = 256 end
  if dim == nil then dim = 64 end
  self.K = K
  self.m = m
  self.T = T
  self.encoder_q = Encoder(dim)
  self.encoder_k = Encoder(dim)
  do
    local list1_2 = self.encoder_k:parameters()
    for number1, item1 in ipairs(self.encoder_q:parameters()) do
      pq = item1
      pk = list1_2[number1]
      pk.data:copy_(pq.data)
      pk.requires_grad = false
    end
  end
  self:register_buffer("queue", F.normalize(ohm.randn(dim, K), {dim = 0}))
  self:register_buffer("queue_ptr", ohm.zeros(1, {dtype = ohm.int64}))
end
function MoCo:momentum_update()
  local pq, pk
  do
    local mode2 <close> = ohm.no_grad()
    do
      local list3_2 = self.encoder_k:parameters()
      for number3, item3 in ipairs(self.encoder_q:parameters()) do
        pq = item3
        pk = list3_2[number3]
        pk.data = (pk.data * self.m) + (pq.data * (1.0 - self.m))
      end
    end
  end
end
function MoCo:enqueue(keys, ptr)
  local n
  do
    local mode4 <close> = ohm.no_grad()
    n = keys:size(0)
    slice(slice(self.queue, 0, 0), 1, ptr, ptr + n):copy_(keys:t())
    self.queue_ptr:select(0, 0):fill_((ptr + n) % self.K)
  end
end
function MoCo:forward(im_q, im_k, ptr)
  local q, idx, back, k, l_pos, l_neg, logits, labels
  q = self.encoder_q(im_q)
  q = F.normalize(q, {dim = 1})
  do
    local mode5 <close> = ohm.no_grad()
    self:momentum_update()
    idx = ohm.randperm(im_k:size(0), {device = "cuda"})
    back = ohm.argsort(idx)
    k = self.encoder_k(im_k:index({idx}))
    k = F.normalize(k, {dim = 1})
    k = k:index({back})
  end
  l_pos = ohm.einsum("nc,nc->n", {q, k}):unsqueeze(-1)
  l_neg = ohm.einsum("nc,ck->nk", {q, self.queue:clone():detach()})
  logits = ohm.cat({l_pos, l_neg}, {dim = 1})
  logits:div_(self.T)
  labels = ohm.zeros(logits:size(0), {dtype = ohm.int64}):cuda()
  self:enqueue(k, ptr)
  return logits, labels
end
model = MoCo():cuda()
optimizer = ohm.optim.SGD(model.encoder_q:parameters(), {lr = 0.03, momentum = 0.9, weight_decay = 0.0001})
criterion = nn.CrossEntropyLoss():cuda()
mark("model")
for step = 0, 3 - 1 do
  images = ohm.randn(32, 3, 16, 16)
  view1 = images:cuda({non_blocking = true})
  view2 = ohm.flip(view1, {3}) + (0.1 * ohm.randn_like(view1))
  do
    local new1, new2 = model(view1, view2, step * 32)
    output = new1
    target = new2
  end
  loss = criterion(output, target)
  mark("forward " .. step)
  do
    local new1, new2 = output:topk(5, 1)
    _ = new1
    pred = new2
  end
  correct = pred:t():eq(target:view(1, -1):expand_as(pred:t()))
  top1 = slice(correct, 0, 0, 1):reshape(-1):float():sum(0, {keepdim = true}):mul_(100.0 / 32):item()
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
criterion = nil
images = nil
view1 = nil
view2 = nil
output = nil
target = nil
loss = nil
_ = nil
pred = nil
correct = nil
top1 = nil
mark("globals deleted")

--== model_moco_queue
local MoCo, model, optimizer, place, x, loss, k
MoCo = nn.Module:extend("MoCo")
function MoCo:__init(dim, size)
  local p
  self.q = nn.Sequential(nn.Linear(200, 400), nn.BatchNorm1d(400), nn.ReLU(), nn.Linear(400, dim))
  self.k = ohm.copy.deepcopy(self.q)
  for _, item1 in ipairs(self.k:parameters()) do
    p = item1
    p.requires_grad = false
  end
  self:register_buffer("queue", F.normalize(ohm.randn(dim, size), {dim = 0}))
  self:register_buffer("place", ohm.zeros(1, {dtype = ohm.int64}))
end
function MoCo:forward(a, b)
  local q, p, t, order, back, k, pos, neg, logits, labels
  q = F.normalize(self.q(a), {dim = 1})
  do
    local mode2 <close> = ohm.no_grad()
    do
      local list3_2 = self.k:parameters()
      for number3, item3 in ipairs(self.q:parameters()) do
        p = item3
        t = list3_2[number3]
        t.data = (t.data * 0.99) + (p.data * 0.01)
      end
    end
    order = ohm.randperm(b:size(0), {device = "cuda"})
    back = ohm.argsort(order)
    k = F.normalize(self.k(b:index({order})), {dim = 1}):index({back})
  end
  pos = ohm.einsum("nc,nc->n", {q, k}):unsqueeze(-1)
  neg = ohm.einsum("nc,ck->nk", {q, self.queue:clone():detach()})
  logits = ohm.cat({pos, neg}, {dim = 1}) / 0.07
  labels = ohm.zeros(logits:size(0), {dtype = ohm.int64, device = "cuda"})
  return F.cross_entropy(logits, labels), k
end
model = MoCo(64, 512):cuda()
optimizer = ohm.optim.SGD(filter(model:parameters(), function(p) return p.requires_grad end), {lr = 0.03, momentum = 0.9, weight_decay = 0.0001})
place = 0
mark("model")
for step = 0, 4 - 1 do
  x = ohm.randn(32, 200, {device = "cuda"})
  loss, k = model(x + (0.1 * ohm.randn_like(x)), x + (0.1 * ohm.randn_like(x)))
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  do
    local mode4 <close> = ohm.no_grad()
    slice(slice(model.queue, 0, 0), 1, place, place + 32):copy_(k:t())
    place = (place + 32) % 512
    model.place:fill_(place)
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
place = nil
x = nil
loss = nil
k = nil
mark("globals deleted")

--== model_moe
local Expert, SparseMoE, Model, model, opt, ids, labels, logits, aux, loss
Expert = nn.Module:extend("Expert")
function Expert:__init(dim, hidden)
  self.w1 = nn.Linear(dim, hidden, {bias = false})
  self.w2 = nn.Linear(hidden, dim, {bias = false})
  self.w3 = nn.Linear(dim, hidden, {bias = false})
end
function Expert:forward(x)
  return self.w2(F.silu(self.w1(x)) * self.w3(x))
end
SparseMoE = nn.Module:extend("SparseMoE")
function SparseMoE:__init(dim, experts, k)
  self.count = experts
  self.k = k
  self.gate = nn.Linear(dim, experts, {bias = false})
  self.experts = nn.ModuleList(collect(experts, function(_) return Expert(dim, 2 * dim) end))
end
function SparseMoE:forward(x)
  local B, T, C, flat, logits, probs, weights, chosen, mask, density, aux, out, per_expert, order, tokens, flat_weights, expert, mine, ids, h
  B, T, C = table.unpack(x.shape)
  flat = x:view(-1, C)
  logits = self.gate(flat)
  probs = F.softmax(logits, {dim = 1, dtype = ohm.float32})
  weights, chosen = ohm.topk(probs, self.k, {dim = -1})
  weights = weights / weights:sum({dim = -1, keepdim = true})
  mask = F.one_hot(chosen, {num_classes = self.count})
  density = mask:float():sum({dim = 1}):mean({dim = 0})
  aux = self.count * (density * probs:mean({dim = 0})):sum()
  out = ohm.zeros_like(flat)
  per_expert = (flat:size(0) * self.k) // self.count
  order = chosen:view(-1):argsort({stable = true})
  tokens = order // self.k
  flat_weights = weights:view(-1)
  for number1, item1 in ipairs(self.experts:children()) do
    local i = number1 - 1
    expert = item1
    mine = slice(order, 0, i * per_expert, (i + 1) * per_expert)
    ids = slice(tokens, 0, i * per_expert, (i + 1) * per_expert)
    h = expert(flat:index_select(0, ids)) * flat_weights:index({mine}):unsqueeze(1)
    out:index_add_(0, ids, h:to(out.dtype))
  end
  return out:view(B, T, C), aux
end
Model = nn.Module:extend("Model")
function Model:__init()
  self.emb = nn.Embedding(100, 32)
  self.norm = nn.LayerNorm(32)
  self.moe = SparseMoE(32, 4, 2)
  self.head = nn.Linear(32, 100)
end
function Model:forward(ids)
  local x, h, aux
  x = self.emb(ids)
  h, aux = self.moe(self.norm(x))
  return self.head(x + h), aux
end
model = Model():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001, eps = 1e-06})
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, 100, {4, 16}, {device = "cuda"})
  labels = ohm.randint(0, 100, {4, 16}, {device = "cuda"})
  logits, aux = model(ids)
  loss = F.cross_entropy(logits:view(-1, 100), labels:view(-1)) + (0.01 * aux)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
ids = nil
labels = nil
logits = nil
aux = nil
loss = nil
mark("globals deleted")

--== model_moe_capacity
local Expert, MoE, Net, model, optimizer, x, y, out, balance, loss
Expert = nn.Module:extend("Expert")
function Expert:__init(d)
  self.w1 = nn.Linear(d, 2 * d)
  self.w2 = nn.Linear(2 * d, d)
end
function Expert:forward(x)
  return self.w2(F.gelu(self.w1(x)))
end
MoE = nn.Module:extend("MoE")
function MoE:__init(d, experts, capacity)
  self.capacity = capacity
  self.router = nn.Linear(d, experts, {bias = false})
  self.experts = nn.ModuleList(collect(experts, function(_) return Expert(d) end))
end
function MoE:forward(x)
  local probs, gate, where, out, expert, rows, y, balance
  probs = F.softmax(self.router(x):float(), {dim = -1})
  gate, where = probs:t():topk(self.capacity, {dim = 1})
  out = ohm.zeros_like(x)
  for number1, item1 in ipairs(self.experts:children()) do
    local i = number1 - 1
    expert = item1
    rows = where:select(0, i)
    y = expert(x:index_select(0, rows)) * gate:select(0, i):unsqueeze(-1):to(x.dtype)
    out = out:index_add(0, rows, y)
  end
  balance = (probs:mean({dim = 0}) ^ 2):sum() * 4
  return out, balance
end
Net = nn.Module:extend("Net")
function Net:__init()
  self.inp = nn.Linear(30, 64)
  self.moe1 = MoE(64, 4, 12)
  self.moe2 = MoE(64, 4, 12)
  self.out = nn.Linear(64, 9)
end
function Net:forward(x)
  local a, b1, b2
  x = self.inp(x)
  a, b1 = self.moe1(x)
  x = x + a
  a, b2 = self.moe2(x)
  x = x + a
  return self.out(x), b1 + b2
end
model = Net():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(40, 30, {device = "cuda"})
  y = ohm.randint(0, 9, {40}, {device = "cuda"})
  out, balance = model(x)
  loss = F.cross_entropy(out, y) + (0.01 * balance)
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
out = nil
balance = nil
loss = nil
mark("globals deleted")

--== model_multi_loss_retain
local final, shared, heads, weights, optimizer, balance, x, y, h, losses, head, stacked, total, last, norms, g, goal, gap
final = nn.Linear(256, 128)
shared = nn.Sequential(nn.Linear(64, 256), nn.Mish(), final, nn.Mish()):cuda()
heads = nn.ModuleList(collect(3, function(_) return nn.Linear(128, 1) end)):cuda()
weights = ohm.ones(3, {device = "cuda", requires_grad = true})
optimizer = ohm.optim.Adam(shared:parameters(), {lr = 0.001})
optimizer:add_param_group({params = heads:parameters(), lr = 0.01})
balance = ohm.optim.SGD({weights}, {lr = 0.025})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(100, 64, {device = "cuda"})
  y = ohm.randn(100, 3, {device = "cuda"})
  h = shared(x)
  losses = {}
  for number1, item1 in ipairs(heads:children()) do
    local i = number1 - 1
    head = item1
    losses[#losses + 1] = F.mse_loss(head(h):squeeze(1), slice(y, 0, 0):select(1, i))
  end
  stacked = ohm.stack(losses)
  total = (weights * stacked):sum()
  optimizer:zero_grad()
  balance:zero_grad()
  total:backward({retain_graph = true})
  mark("backward " .. step)
  last = final.weight
  norms = {}
  for i = 0, 3 - 1 do
    g = ohm.autograd.grad(weights:select(0, i) * losses[i + 1], last, {retain_graph = true, create_graph = true})
    norms[#norms + 1] = g:norm()
  end
  norms = ohm.stack(norms)
  goal = norms:detach():mean() * ((stacked:detach() / stacked:detach():mean()) ^ 0.12)
  gap = (norms - goal):abs():sum()
  weights.grad = (ohm.autograd.grad(gap, weights))
  optimizer:step()
  balance:step()
  do
    local mode2 <close> = ohm.no_grad()
    weights:mul_(3 / weights:sum())
  end
  losses = nil
  norms = nil
  h = nil
  total = nil
  stacked = nil
  gap = nil
  mark("step " .. step)
end
mark("end of program (globals alive)")
final = nil
shared = nil
heads = nil
weights = nil
optimizer = nil
balance = nil
x = nil
y = nil
head = nil
last = nil
g = nil
goal = nil
mark("globals deleted")

--== model_nerf
local n_rays, n_coarse, n_fine, chunk, Embedder, NeRF, run_network, raw2outputs, sample_pdf, render, coarse, fine, optimizer, images, rays_o, rays_d, target, rgb, rgb0, depth, loss, psnr, rgbs, _
n_rays, n_coarse, n_fine, chunk = 48, 16, 16, 1024
Embedder = nn.Module:extend("Embedder")
function Embedder:__init(n_freqs)
  self:register_buffer("freqs", 2.0 ^ ohm.linspace(0.0, n_freqs - 1, n_freqs))
end
function Embedder:forward(x)
  local scaled
  scaled = slice(x:unsqueeze(-2), -1, 0) * slice(self.freqs, 0, 0):unsqueeze(1)
  scaled = scaled:reshape(x:size(0), -1)
  return ohm.cat({x, ohm.sin(scaled), ohm.cos(scaled)}, {dim = -1})
end
NeRF = nn.Module:extend("NeRF")
function NeRF:__init(width)
  if width == nil then width = 128 end
  self.embed_x = Embedder(10)
  self.embed_d = Embedder(4)
  self.first = nn.Sequential(nn.Linear(63, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
  self.second = nn.Sequential(nn.Linear(width + 63, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
  self.sigma = nn.Linear(width, 1)
  self.feature = nn.Linear(width, width)
  self.color = nn.Sequential(nn.Linear(width + 27, width // 2), nn.ReLU(), nn.Linear(width // 2, 3))
end
function NeRF:forward(x, d)
  local ex, h, sigma, rgb
  ex = self.embed_x(x)
  h = self.first(ex)
  h = self.second(ohm.cat({h, ex}, -1))
  sigma = self.sigma(h)
  rgb = self.color(ohm.cat({self.feature(h), self.embed_d(d)}, -1))
  return ohm.cat({rgb, sigma}, -1)
end
function run_network(model, pts, dirs)
  local flat, d, flat_d, outs, out
  flat = ohm.reshape(pts, {-1, 3})
  d = slice(dirs, 0, 0):unsqueeze(1):expand(pts.shape)
  flat_d = ohm.reshape(d, {-1, 3})
  outs = {}
  for i = 0, flat:size(0) - 1, chunk do
    outs[#outs + 1] = model(slice(flat, 0, i, i + chunk), slice(flat_d, 0, i, i + chunk))
  end
  out = ohm.cat(outs, 0)
  return ohm.reshape(out, {pts:size(0), pts:size(1), 4})
end
function raw2outputs(raw, z, dirs)
  local dists, far, rgb, noise, alpha, ones, trans, weights, rgb_map, depth, acc
  dists = slice(z, -1, 1) - slice(z, -1, 0, -1)
  far = ohm.full_like(slice(dists, -1, 0, 1), 10000000000.0)
  dists = ohm.cat({dists, far}, -1)
  dists = dists * ohm.norm(slice(dirs:unsqueeze(-2), -1, 0), {dim = -1})
  rgb = ohm.sigmoid(slice(raw, -1, 0, 3))
  noise = ohm.randn(raw:select(-1, 3).shape, {device = "cuda"}) * 0.1
  alpha = 1.0 - ohm.exp((-F.relu(raw:select(-1, 3) + noise)) * dists)
  ones = ohm.ones({alpha:size(0), 1}, {device = "cuda"})
  trans = slice(slice(ohm.cumprod(ohm.cat({ones, (1.0 - alpha) + 1e-10}, -1), -1), 0, 0), 1, 0, -1)
  weights = alpha * trans
  rgb_map = ohm.sum(weights:unsqueeze(-1) * rgb, -2)
  depth = ohm.sum(weights * z, -1)
  acc = ohm.sum(weights, -1)
  rgb_map = rgb_map + (1.0 - acc:unsqueeze(-1))
  return rgb_map, weights, depth
end
function sample_pdf(bins, weights, n)
  local pdf, cdf, u, inds, below, above, inds_g, cdf_g, bins_g, denom, t
  weights = weights + 1e-05
  pdf = weights / ohm.sum(weights, -1, {keepdim = true})
  cdf = ohm.cumsum(pdf, -1)
  cdf = ohm.cat({ohm.zeros_like(slice(cdf, -1, 0, 1)), cdf}, -1)
  u = ohm.rand(cdf:size(0), n, {device = "cuda"})
  inds = ohm.searchsorted(cdf, u, {right = true})
  below = ohm.clamp(inds - 1, {min = 0})
  above = ohm.clamp(inds, {max = cdf:size(-1) - 1})
  inds_g = ohm.stack({below, above}, -1)
  cdf_g = ohm.gather(cdf:unsqueeze(1):expand(cdf:size(0), n, cdf:size(1)), 2, inds_g)
  bins_g = ohm.gather(bins:unsqueeze(1):expand(bins:size(0), n, bins:size(1)), 2, inds_g)
  denom = cdf_g:select(-1, 1) - cdf_g:select(-1, 0)
  denom = ohm.where(denom:lt(1e-05), ohm.ones_like(denom), denom)
  t = (u - cdf_g:select(-1, 0)) / denom
  return bins_g:select(-1, 0) + (t * (bins_g:select(-1, 1) - bins_g:select(-1, 0)))
end
function render(coarse, fine, rays_o, rays_d)
  local viewdirs, t_vals, z, mids, upper, lower, pts, raw, rgb0, weights, depth0, mid, z_fine, _, rgb, depth
  viewdirs = rays_d / ohm.norm(rays_d, {dim = -1, keepdim = true})
  t_vals = ohm.linspace(0.0, 1.0, n_coarse, {device = "cuda"})
  z = (2.0 * (1.0 - t_vals)) + (6.0 * t_vals)
  z = z:expand({rays_o:size(0), n_coarse})
  mids = 0.5 * (slice(z, -1, 1) + slice(z, -1, 0, -1))
  upper = ohm.cat({mids, slice(z, -1, -1)}, -1)
  lower = ohm.cat({slice(z, -1, 0, 1), mids}, -1)
  z = lower + ((upper - lower) * ohm.rand(z.shape, {device = "cuda"}))
  pts = slice(rays_o:unsqueeze(-2), -1, 0) + (slice(rays_d:unsqueeze(-2), -1, 0) * slice(z, -1, 0):unsqueeze(-1))
  raw = run_network(coarse, pts, viewdirs)
  rgb0, weights, depth0 = raw2outputs(raw, z, rays_d)
  mid = 0.5 * (slice(z, -1, 1) + slice(z, -1, 0, -1))
  z_fine = sample_pdf(mid, slice(weights, -1, 1, -1), n_fine):detach()
  z, _ = ohm.sort(ohm.cat({z, z_fine}, -1), -1)
  pts = slice(rays_o:unsqueeze(-2), -1, 0) + (slice(rays_d:unsqueeze(-2), -1, 0) * slice(z, -1, 0):unsqueeze(-1))
  raw = run_network(fine, pts, viewdirs)
  rgb, weights, depth = raw2outputs(raw, z, rays_d)
  return rgb, rgb0, depth
end
coarse = NeRF():cuda()
fine = NeRF():cuda()
optimizer = ohm.optim.Adam(joined(coarse:parameters(), fine:parameters()), {lr = 0.0005})
images = ohm.rand(4, 16, 16, 3, {device = "cuda"})
mark("models")
for step = 0, 3 - 1 do
  rays_o = ohm.randn(n_rays, 3, {device = "cuda"})
  rays_d = ohm.randn(n_rays, 3, {device = "cuda"})
  target = slice(images:select(0, step):reshape(-1, 3), 0, 0, n_rays)
  rgb, rgb0, depth = render(coarse, fine, rays_o, rays_d)
  mark("rendered " .. step)
  loss = ohm.mean((rgb - target) ^ 2)
  psnr = ((-10.0) * ohm.log(loss:detach())) / 2.302585
  loss = loss + ohm.mean((rgb0 - target) ^ 2)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
do
  local mode1 <close> = ohm.no_grad()
  rgbs = {}
  for i = 0, 3 - 1 do
    do
      local new1, new2, new3 = render(coarse, fine, rays_o, rays_d)
      rgb, new1 = new1, nil
      sweep()
      _, new2 = new2, nil
      sweep()
      _, new3 = new3, nil
      sweep()
    end
    rgbs[#rgbs + 1] = rgb:cpu()
  end
end
mark("test views")
mark("end of program (globals alive)")
coarse = nil
fine = nil
optimizer = nil
images = nil
rays_o = nil
rays_d = nil
target = nil
rgb = nil
rgb0 = nil
depth = nil
loss = nil
psnr = nil
rgbs = nil
_ = nil
mark("globals deleted")

--== model_nested_checkpoints
local MLP, Layer, Stack, model, optimizer, mask, ids, logits, loss
MLP = nn.Module:extend("MLP")
function MLP:__init(dim)
  self.fc1 = nn.Linear(dim, 4 * dim)
  self.fc2 = nn.Linear(4 * dim, dim)
  self.drop = nn.Dropout(0.2)
end
function MLP:forward(x)
  return self.drop(self.fc2(F.gelu(self.fc1(x))))
end
Layer = nn.Module:extend("Layer")
function Layer:__init(dim, heads)
  self.n1 = nn.LayerNorm(dim)
  self.n2 = nn.LayerNorm(dim)
  self.attention = nn.MultiheadAttention(dim, heads, {dropout = 0.1, batch_first = true})
  self.mlp = MLP(dim)
end
function Layer:attend(x, mask)
  local h, out, _
  h = self.n1(x)
  out, _ = self.attention(h, h, h, {attn_mask = mask, need_weights = false})
  return x + out
end
function Layer:feed(x)
  return x + ohm.utils.checkpoint.checkpoint(self.mlp, self.n2(x), {use_reentrant = false})
end
function Layer:forward(x, mask)
  x = self:attend(x, mask)
  return self:feed(x)
end
Stack = nn.Module:extend("Stack")
function Stack:__init()
  self.embed = nn.Embedding(190, 44)
  self.layers = nn.ModuleList(collect(3, function(i) return Layer(44, 4) end))
  self.tail = nn.Sequential(nn.Linear(44, 88), nn.Tanh(), nn.Dropout(0.3), nn.Linear(88, 190))
end
function Stack:forward(ids, mask)
  local x, layer
  x = self.embed(ids)
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    x = ohm.utils.checkpoint.checkpoint(layer, x, mask, {use_reentrant = false})
  end
  return ohm.utils.checkpoint.checkpoint(self.tail, x, {use_reentrant = true, preserve_rng_state = false})
end
model = Stack():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
mask = ohm.full({15, 15}, -math.huge, {device = "cuda"}):triu(1)
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, 190, {5, 16}, {device = "cuda"})
  logits = model(slice(slice(ids, 0, 0), 1, 0, -1), mask)
  loss = F.cross_entropy(logits:flatten(0, 1), slice(slice(ids, 0, 0), 1, 1):flatten())
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
end
do
  local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  logits = model(slice(slice(ids, 0, 0), 1, 0, -1), mask)
  loss = logits:float():logsumexp(-1):mean()
end
loss:backward()
mark("autocast")
model:eval()
do
  local mode3 <close> = ohm.no_grad()
  logits = model(slice(slice(ids, 0, 0), 1, 0, -1), mask)
end
mark("eval")
mark("end of program (globals alive)")
model = nil
optimizer = nil
mask = nil
ids = nil
logits = nil
loss = nil
mark("globals deleted")

--== model_nested_ckpt_amp
local Mlp, Block, Model, model, optimizer, ids, logits, loss
Mlp = nn.Module:extend("Mlp")
function Mlp:__init(d)
  self.up = nn.Linear(d, 4 * d)
  self.drop = nn.Dropout(0.1)
  self.down = nn.Linear(4 * d, d)
end
function Mlp:forward(x)
  return self.down(self.drop(F.gelu(self.up(x))))
end
Block = nn.Module:extend("Block")
function Block:__init(d)
  self.n1 = nn.LayerNorm(d)
  self.qkv = nn.Linear(d, 3 * d)
  self.proj = nn.Linear(d, d)
  self.n2 = nn.LayerNorm(d)
  self.mlp = Mlp(d)
end
function Block:attend(x)
  local b, t, d, q, k, v, y
  b, t, d = table.unpack(x.shape)
  q, k, v = self.qkv(x):chunk(3, {dim = -1})
  q = q:view(b, t, 4, d // 4):transpose(1, 2)
  k = k:view(b, t, 4, d // 4):transpose(1, 2)
  v = v:view(b, t, 4, d // 4):transpose(1, 2)
  y = F.scaled_dot_product_attention(q, k, v, {dropout_p = 0.1, is_causal = true})
  return self.proj(y:transpose(1, 2):reshape(b, t, d))
end
function Block:forward(x)
  x = x + ohm.utils.checkpoint.checkpoint(function(...) return self:attend(...) end, self.n1(x), {use_reentrant = false})
  return x + ohm.utils.checkpoint.checkpoint(self.mlp, self.n2(x), {use_reentrant = false})
end
Model = nn.Module:extend("Model")
function Model:__init()
  self.embed = nn.Embedding(500, 96)
  self.blocks = nn.ModuleList(collect(3, function(_) return Block(96) end))
  self.norm = nn.LayerNorm(96)
  self.head = nn.Linear(96, 500)
end
function Model:forward(ids)
  local x, block
  x = self.embed(ids)
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    x = ohm.utils.checkpoint.checkpoint(block, x, {use_reentrant = false})
  end
  return self.head(self.norm(x))
end
model = Model():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0003})
mark("model")
for step = 0, 3 - 1 do
  ids = ohm.randint(0, 500, {6, 40}, {device = "cuda"})
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    logits = model(ids)
    loss = F.cross_entropy(logits:flatten(0, 1), ids:flatten())
  end
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
ids = nil
logits = nil
loss = nil
mark("globals deleted")

--== model_nested_encoder values=true
-- with values: they say how long each sequence is
local vocab, dim, classes, Classifier, model, optimizer, x, pad, y, loss, logits, narrow, z
vocab, dim, classes = 90, 32, 4
Classifier = nn.Module:extend("Classifier")
function Classifier:__init()
  local layer
  self.emb = nn.Embedding(vocab, dim, {padding_idx = 0})
  layer = nn.TransformerEncoderLayer(dim, 4, 64, {activation = "gelu", batch_first = true})
  self.encoder = nn.TransformerEncoder(layer, 2, {norm = nn.LayerNorm(dim)})
  self.fc = nn.Linear(dim, classes)
end
function Classifier:forward(x, pad)
  local h
  h = self.encoder(self.emb(x), {src_key_padding_mask = pad})
  return self.fc(h:select(1, 0))
end
model = Classifier():cuda()
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.1})
x = ohm.randint(1, vocab, {3, 12}, {device = "cuda"})
pad = ohm.arange(12, {device = "cuda"}):unsqueeze(0):ge(ohm.tensor({12, 5, 9}, {device = "cuda"}):unsqueeze(1))
sweep()
y = ohm.randint(0, classes, {3}, {device = "cuda"})
loss = F.cross_entropy(model(x, pad), y)
sweep()
optimizer:zero_grad()
loss:backward()
optimizer:step()
mark("trained")
model:eval()
do
  local mode <close> = ohm.no_grad()
  logits = model(x, pad)
end
mark("evaluated")
model:half()
do
  local mode <close> = ohm.no_grad()
  logits = model(x, pad)
end
mark("evaluated in half precision")
narrow = nn.TransformerEncoder(nn.TransformerEncoderLayer(20, 2, 24, {batch_first = true}), 1)
narrow = narrow:cuda():eval()
z = ohm.randn(3, 12, 20, {device = "cuda"})
do
  local mode <close> = ohm.inference_mode()
  z = narrow(z, {src_key_padding_mask = pad})
end
mark("evaluated step by step")
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
pad = nil
y = nil
loss = nil
logits = nil
narrow = nil
z = nil
mark("globals deleted")

--== model_neural_ode
local ODEFunc, rk4_step, odeint, func, optimizer, t, truth, y0, pred, loss, final, error, worst
ODEFunc = nn.Module:extend("ODEFunc")
function ODEFunc:__init(dim)
  self.net = nn.Sequential(nn.Linear(dim + 1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, dim))
end
function ODEFunc:forward(t, y)
  local tt
  tt = ohm.ones_like(slice(slice(y, 0, 0), 1, 0, 1)) * t
  return self.net(ohm.cat({y, tt}, {dim = 1}))
end
function rk4_step(func, t, dt, y)
  local k1, k2, k3, k4
  k1 = func(t, y)
  k2 = func(t + (dt / 2), y + ((dt * k1) / 2))
  k3 = func(t + (dt / 2), y + ((dt * k2) / 2))
  k4 = func(t + dt, y + (dt * k3))
  return y + ((dt * (((k1 + (2 * k2)) + (2 * k3)) + k4)) / 6)
end
function odeint(func, y0, times)
  local ys, y, dt
  ys = {y0}
  y = y0
  for i = 0, times:size(0) - 2 do
    dt = times:select(0, i + 1) - times:select(0, i)
    y = rk4_step(func, times:select(0, i), dt, y)
    ys[#ys + 1] = y
  end
  return ohm.stack(ys)
end
func = ODEFunc(4):cuda()
optimizer = ohm.optim.RMSprop(func:parameters(), {lr = 0.001})
t = ohm.linspace(0.0, 1.0, 6):cuda()
truth = ohm.randn(6, 32, 4, {device = "cuda"})
mark("model")
for step = 0, 3 - 1 do
  y0 = truth:select(0, 0):clone()
  pred = odeint(func, y0, t)
  loss = ohm.mean(ohm.abs(pred - truth))
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
do
  local mode1 <close> = ohm.no_grad()
  pred = odeint(func, y0, t)
  final = pred:select(0, -1):clone()
  error = (pred - truth):abs():mean({dim = {1, 2}})
  worst = error:max():item()
end
mark("evaluated")
mark("end of program (globals alive)")
func = nil
optimizer = nil
t = nil
truth = nil
y0 = nil
pred = nil
loss = nil
final = nil
error = nil
worst = nil
mark("globals deleted")

--== model_ntm
-- what a module gives, several values or a list
local function spread(first, ...)
  if type(first) == "table" and select("#", ...) == 0 then return table.unpack(first) end
  return first, ...
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

local NTM, model, optimizer, x, y, loss
NTM = nn.Module:extend("NTM")
function NTM:__init(inputs, hidden, slots, width)
  if width == nil then width = 16 end
  if slots == nil then slots = 32 end
  if hidden == nil then hidden = 64 end
  if inputs == nil then inputs = 8 end
  self.cell = nn.LSTMCell(inputs + width, hidden)
  self.key = nn.Linear(hidden, width)
  self.beta = nn.Linear(hidden, 1)
  self.gate = nn.Linear(hidden, 1)
  self.shift = nn.Linear(hidden, 3)
  self.gamma = nn.Linear(hidden, 1)
  self.erase = nn.Linear(hidden, width)
  self.add = nn.Linear(hidden, width)
  self.out = nn.Linear(hidden + width, inputs)
  self.slots = slots
  self.width = width
  self.hidden = hidden
end
function NTM:address(memory, h, before)
  local key, similarity, weights, g, s, padded, moved, sharp
  key = ohm.tanh(self.key(h)):unsqueeze(1)
  similarity = F.cosine_similarity(memory + 1e-16, key + 1e-16, {dim = -1})
  weights = F.softmax(F.softplus(self.beta(h)) * similarity, {dim = 1})
  g = ohm.sigmoid(self.gate(h))
  weights = (g * weights) + ((1 - g) * before)
  s = F.softmax(self.shift(h), {dim = 1})
  padded = ohm.cat({slice(slice(weights, 0, 0), 1, -1), weights, slice(slice(weights, 0, 0), 1, 0, 1)}, {dim = 1})
  moved = ((slice(slice(padded, 0, 0), 1, 0, -2) * slice(slice(s, 0, 0), 1, 0, 1)) + (slice(slice(padded, 0, 0), 1, 1, -1) * slice(slice(s, 0, 0), 1, 1, 2))) + (slice(slice(padded, 0, 0), 1, 2) * slice(slice(s, 0, 0), 1, 2, 3))
  sharp = moved ^ (1 + F.softplus(self.gamma(h)))
  return sharp / (sharp:sum(1, {keepdim = true}) + 1e-16)
end
function NTM:forward(xs)
  local batch, h, c, memory, weights, read, outs, x, e, a
  batch = xs:size(1)
  h = ohm.zeros(batch, self.hidden, {device = xs.device})
  c = ohm.zeros_like(h)
  memory = ohm.full({batch, self.slots, self.width}, 1e-06, {device = xs.device})
  weights = F.one_hot(ohm.zeros(batch, {dtype = ohm.int64, device = xs.device}), self.slots):float()
  read = ohm.zeros(batch, self.width, {device = xs.device})
  outs = {}
  do
    local list1_0 = items(xs)
    for number1 = 1, #list1_0 do
      x = list1_0[number1]
      do
        local new1, new2 = spread(self.cell(ohm.cat({x, read}, 1), {h, c}))
        h = new1
        c = new2
      end
      weights = self:address(memory, h, weights)
      e = ohm.sigmoid(self.erase(h))
      a = ohm.tanh(self.add(h))
      memory = (memory * (1 - ohm.bmm(weights:unsqueeze(2), e:unsqueeze(1)))) + ohm.einsum("bn,bm->bnm", {weights, a})
      read = ohm.bmm(weights:unsqueeze(1), memory):squeeze(1)
      outs[#outs + 1] = ohm.sigmoid(self.out(ohm.cat({h, read}, 1)))
    end
  end
  return ohm.stack(outs)
end
model = NTM():cuda()
optimizer = ohm.optim.RMSprop(model:parameters(), {lr = 0.0001, alpha = 0.95, momentum = 0.9})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.bernoulli(ohm.full({6, 16, 8}, 0.5, {device = "cuda"}))
  y = model(x)
  loss = F.binary_cross_entropy(y, x:flip(0))
  optimizer:zero_grad()
  loss:backward()
  nn.utils.clip_grad_value_(model:parameters(), 10)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== model_nucleus_sampling
local CachedAttention, Decoder, model, prompt, logits, tokens, position, values, order, probs, outside, choice, token, text
CachedAttention = nn.Module:extend("CachedAttention")
function CachedAttention:__init(dim, heads, kv_heads, length, batch)
  self.heads = heads
  self.kv_heads = kv_heads
  self.head_dim = dim // heads
  self.q = nn.Linear(dim, dim, {bias = false})
  self.k = nn.Linear(dim, kv_heads * self.head_dim, {bias = false})
  self.v = nn.Linear(dim, kv_heads * self.head_dim, {bias = false})
  self.o = nn.Linear(dim, dim, {bias = false})
  self:register_buffer("cache_k", ohm.zeros(batch, kv_heads, length, self.head_dim))
  self:register_buffer("cache_v", ohm.zeros(batch, kv_heads, length, self.head_dim))
end
function CachedAttention:forward(x, start)
  local b, t, d, q, k, v, n, keys, values, scores, causal, y
  b, t, d = table.unpack(x.shape)
  q = self.q(x):view(b, t, self.heads, self.head_dim):transpose(1, 2)
  k = self.k(x):view(b, t, self.kv_heads, self.head_dim):transpose(1, 2)
  v = self.v(x):view(b, t, self.kv_heads, self.head_dim):transpose(1, 2)
  slice(slice(slice(self.cache_k, 0, 0), 1, 0), 2, start, start + t):copy_(k)
  slice(slice(slice(self.cache_v, 0, 0), 1, 0), 2, start, start + t):copy_(v)
  n = self.heads // self.kv_heads
  keys = slice(slice(slice(self.cache_k, 0, 0), 1, 0), 2, 0, start + t):repeat_interleave(n, {dim = 1})
  values = slice(slice(slice(self.cache_v, 0, 0), 1, 0), 2, 0, start + t):repeat_interleave(n, {dim = 1})
  scores = (ohm.matmul(q, keys:transpose(-2, -1))) / (self.head_dim ^ 0.5)
  if t > 1 then
    causal = ohm.full({t, t}, -math.huge, {device = "cuda", dtype = scores.dtype}):triu(1)
    scores = scores + causal
  end
  y = ohm.matmul(scores:softmax({dim = -1}), values)
  return self.o(y:transpose(1, 2):reshape(b, t, d))
end
Decoder = nn.Module:extend("Decoder")
function Decoder:__init()
  self.embed = nn.Embedding(150, 56)
  self.attention = CachedAttention(56, 8, 2, 40, 6)
  self.mlp = nn.Sequential(nn.Linear(56, 100), nn.SiLU(), nn.Linear(100, 56))
  self.out = nn.Linear(56, 150)
end
function Decoder:forward(ids, start)
  local x
  x = self.embed(ids)
  x = x + self.attention(x, start)
  return slice(self.out(x + self.mlp(x)), 0, 0):select(1, -1)
end
model = Decoder():cuda():half():eval()
prompt = ohm.randint(0, 150, {6, 11}, {device = "cuda"})
mark("model")
do
  local mode1 <close> = ohm.inference_mode()
  logits = model(prompt, 0)
  tokens = prompt
  position = 11
  for step = 0, 6 - 1 do
    logits = logits:float() / 0.8
    values, order = logits:sort({dim = -1, descending = true})
    probs = values:softmax({dim = -1})
    outside = (probs:cumsum({dim = -1}) - probs):gt(0.9)
    probs = probs:masked_fill(outside, 0.0)
    probs = probs / probs:sum({dim = -1, keepdim = true})
    choice = ohm.multinomial(probs, 1)
    token = order:gather(-1, choice)
    tokens = ohm.cat({tokens, token}, {dim = 1})
    logits = model(token, position)
    position = position + 1
    mark("token " .. step)
  end
end
text = tokens:tolist()
mark("decoded")
mark("end of program (globals alive)")
model = nil
prompt = nil
logits = nil
tokens = nil
values = nil
order = nil
probs = nil
outside = nil
choice = nil
token = nil
text = nil
mark("globals deleted")

--== model_offload_hooks
local Block, Net, model, optimizer, x, y, loss
Block = nn.Module:extend("Block")
function Block:__init(d)
  self.norm = nn.LayerNorm(d)
  self.fc1 = nn.Linear(d, 3 * d)
  self.fc2 = nn.Linear(3 * d, d)
end
function Block:forward(x)
  return x + self.fc2(F.gelu(self.fc1(self.norm(x))))
end
Net = nn.Module:extend("Net")
function Net:__init()
  self.inp = nn.Linear(60, 200)
  self.b1 = Block(200)
  self.b2 = Block(200)
  self.out = nn.Linear(200, 14)
end
function Net:forward(x)
  x = self.inp(x)
  do
    local mode1 <close> = ohm.autograd.graph.save_on_cpu({pin_memory = true})
    x = self.b1(x)
  end
  do
    local mode2 <close> = ohm.autograd.graph.save_on_cpu()
    x = self.b2(x)
  end
  return self.out(x)
end
model = Net():cuda()
optimizer = ohm.optim.NAdam(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(90, 60, {device = "cuda"})
  y = ohm.randint(0, 14, {90}, {device = "cuda"})
  loss = F.cross_entropy(model(x), y)
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== model_oom_batch_finder
local Net, model, optimizer, size, found, x, y, loss
ohm.cuda.set_per_process_memory_fraction(0.01)
Net = nn.Module:extend("Net")
function Net:__init()
  self.c1 = nn.Conv2d(3, 64, 3, {padding = 1})
  self.n1 = nn.BatchNorm2d(64)
  self.c2 = nn.Conv2d(64, 64, 3, {padding = 1})
  self.n2 = nn.BatchNorm2d(64)
  self.fc = nn.Linear(64, 10)
end
function Net:forward(x)
  x = F.relu(self.n1(self.c1(x)))
  x = F.relu(self.n2(self.c2(x)))
  return self.fc(x:mean({dim = {2, 3}}))
end
model = Net():cuda()
optimizer = ohm.optim.Adam(model:parameters())
size = 256
found = false
mark("model")
while not found do
  local is_done, problem = pcall(function()
    x = ohm.randn(size, 3, 64, 64, {device = "cuda"})
    y = ohm.randint(0, 10, {size}, {device = "cuda"})
    loss = F.cross_entropy(model(x), y)
    loss:backward()
    optimizer:step()
    optimizer:zero_grad()
  end)
  found = is_done
  if not is_done then
    assert(tostring(problem):find("out of memory"), tostring(problem))
    problem = nil; sweep()
    x = nil; sweep()
    y = nil; sweep()
    loss = nil; sweep()
    ohm.gc.collect()
    ohm.cuda.empty_cache()
    size = size // 2
  end
  mark("size " .. size)
end
for step = 0, 1 do
  x = ohm.randn(size, 3, 64, 64, {device = "cuda"})
  y = ohm.randint(0, 10, {size}, {device = "cuda"})
  loss = F.cross_entropy(model(x), y)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
optimizer = nil; sweep()
x = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_oom_frames
local inner, middle, outer, z, oom
function inner(n)
  local a = ohm.randn(1000, {device = "cuda"})
  local b = ohm.randn(2000, {device = "cuda"})
  local c = ohm.empty(n, {device = "cuda"})
  return a, b, c
end
function middle(n)
  local f, g = ohm.randn(4000, {device = "cuda"})
  local ok, a, b, c = pcall(inner, n)
  if ok then return a, b, c end
  mark("inner caught")
  f = nil
  g = ohm.randn(100, {device = "cuda"})
  a = nil
  mark("behind")
  ohm.cuda.empty_cache()
  return inner(n // 2)
end
function outer(n)
  local d = ohm.randn(3000, {device = "cuda"})
  local e = {middle(n)}
  return d
end
mark("start")
oom = false
do
local ok, r = pcall(function() z = outer(1 << 45) end)
if not ok then
  mark("caught")
  oom = true
  r = nil
end
end
mark("after")
if oom then
  ohm.cuda.empty_cache()
  mark("retry")
  z = outer(100)
end
mark("end")
mark("end of program (globals alive)")
z = nil
mark("globals deleted")

--== model_oom_modules
local net, x, z, n, step, Net
ohm.cuda.set_per_process_memory_fraction(0.002)
Net = nn.Module:extend("Net")
function Net:__init()
  self.seq = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4000))
end
function Net:forward(x)
  local h
  h = x * 2
  return self.seq(h) + 1
end
function step(net, x)
  local a, out
  a = ohm.randn(100, {device = "cuda"})
  out = net(x)
  return out
end
net = Net():cuda()
mark("start")
n = 6000
x = ohm.randn(n, 256, {device = "cuda"})
do
  local ok, e = pcall(function() z = step(net, x); sweep() end)
  if not ok then
    mark("caught")
    e = nil
  end
end
mark("behind")
mark("end of program (globals alive)")
net = nil
x = nil
mark("globals deleted")

--== model_oom_retry
local net, opt, n, done, x, y, step, Net
ohm.cuda.set_per_process_memory_fraction(0.002)
Net = nn.Module:extend("Net")
function Net:__init()
  self.a = nn.Linear(256, 1024)
  self.b = nn.Linear(1024, 1024)
  self.c = nn.Linear(1024, 10)
end
function Net:forward(x)
  local h, r, k, outs
  h = F.relu(self.a(x))
  r = h
  for i = 1, 3 do
    k = self.b(h)
    h = F.gelu(k) + r
  end
  outs = {h, h * 2, h + 1}
  return self.c(outs[1] + outs[2] + outs[3])
end
function step(net, opt, x, y)
  local out, loss
  opt:zero_grad()
  out = net(x)
  loss = F.cross_entropy(out, y)
  loss:backward()
  opt:step()
  return loss:item()
end
net = Net():cuda()
opt = ohm.optim.Adam(net:parameters())
mark("start")
n = 8192
done = false
while not done do
  x = ohm.randn(n, 256, {device = "cuda"})
  y = ohm.randint(0, 10, {n}, {device = "cuda"})
  local ok, e = pcall(function() step(net, opt, x, y); sweep() end)
  if ok then
    done = true
  else
    mark("caught")
    opt:zero_grad()
    x = nil
    y = nil
    ohm.cuda.empty_cache()
    n = n // 2
    mark("in except")
    e = nil
  end
  mark("behind")
end
mark("end")
mark("end of program (globals alive)")
net = nil
opt = nil
x = nil
y = nil
mark("globals deleted")

--== model_oom_text
local model, kept, text, x, out
ohm.cuda.set_per_process_memory_fraction(0.02)
model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 10)):cuda()
mark("model")
for step = 0, 11 do
  local is_done, problem = pcall(function()
    x = ohm.randn(20000 * (step + 1), 1000, {device = "cuda"})
    out = model(x)
    out:sum():backward()
  end)
  if not is_done then
    text = tostring(problem)
    problem = nil
    mark(text)
    x = nil
    out = nil
    model:zero_grad({set_to_none = true})
    ohm.cuda.empty_cache()
    ohm.cuda.reset_peak_memory_stats()
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
x = nil
out = nil
mark("globals deleted")

--== model_overwrites
local p, a, b, c, fields, several, twice, kept, copies, made, nest
p = ohm.ones(64, {device = "cuda"})
a = ohm.ones(64, {device = "cuda"})
b = ohm.ones(128, {device = "cuda"})
c = ohm.ones(256, {device = "cuda"})
fields = {x = ohm.ones(512, {device = "cuda"}), y = ohm.ones(1024, {device = "cuda"})}
several = {ohm.ones(64, {device = "cuda"}), ohm.ones(64, {device = "cuda"}), ohm.ones(64, {device = "cuda"})}
mark("made")
c = nil
a = nil
p = p + 1
mark("one after the other")
fields.y = p
fields.x = p * 2
b = ohm.ones(64, {device = "cuda"})
mark("fields")
p, b = nil, nil
several = nil
b = ohm.ones(64, {device = "cuda"})
mark("a list")
function twice(x)
  local y = x + 1
  local z = y * 2
  return z
end
a = ohm.ones(8, {device = "cuda"})
c = ohm.ones(8, {device = "cuda"})
c = twice(c)
a = nil
b = twice(c)
mark("of functions")
fields.x, fields.y = twice(c), twice(c)
a, b = b, a
mark("two fields")
fields = {z = ohm.ones(64, {device = "cuda"}), v = ohm.ones(64, {device = "cuda"}), w = ohm.ones(64, {device = "cuda"})}
fields = nil
c = ohm.ones(8, {device = "cuda"})
mark("a dictionary")
kept = {}
copies = {}
for task = 0, 1 do
  made = {}
  for _, name in ipairs({"a", "b", "c"}) do
    made[name] = ohm.zeros_like(c)
  end
  for _, name in ipairs({"a", "b", "c"}) do
    kept[name] = made[name]
    copies[name] = c:detach():clone()
  end
  mark("task " .. task)
end
function nest()
  local inner = ohm.ones(64, {device = "cuda"})
  local function step()
    local outer = inner
    inner = ohm.ones(64, {device = "cuda"})
    outer = nil
    inner = ohm.ones(64, {device = "cuda"})
  end
  step()
  mark("a variable of the function outside")
end
nest()
mark("outside")
mark("end of program (globals alive)")
a = nil
b = nil
c = nil
kept.a = nil
kept.b = nil
kept.c = nil
copies.a = nil
copies.b = nil
copies.c = nil
made.a = nil
made.b = nil
made.c = nil
mark("globals deleted")

--== model_packed_kinds
local embedding, gru, back, rnn, lstm, modules, optimizer, x, packed, h0, out, h, out2, h2, padded, lengths
local again, out3, h3, wide, pieces, c0, out4, h4, c4, loss
local utils = nn.utils.rnn
embedding = nn.Linear(24, 32):cuda()
gru = nn.GRU(32, 40, {num_layers = 2}):cuda()
back = nn.GRU(40, 24, {bidirectional = true, bias = false}):cuda()
rnn = nn.RNN(48, 20, {nonlinearity = "relu", bidirectional = true, batch_first = true}):cuda()
lstm = nn.LSTM(40, 16):cuda()
modules = nn.ModuleList({embedding, gru, back, rnn, lstm})
optimizer = ohm.optim.SGD(modules:parameters(), {lr = 0.1, momentum = 0.9})
mark("modules")
for step = 0, 1 do
  x = ohm.randn(10, 5, 24, {device = "cuda", requires_grad = true})
  packed = utils.pack_padded_sequence(x, {10, 8, 8, 5, 1})
  packed = utils.PackedSequence(ohm.tanh(embedding(packed.data)), packed)
  h0 = ohm.zeros(2, 5, 40, {device = "cuda"})
  do
    local results = gru(packed, h0)
    out = results[1]
    h = results[2]
  end
  mark("gru " .. step)
  do
    local results = back(out)
    out2 = results[1]
    h2 = results[2]
  end
  do
    local new1, new2 = utils.pad_packed_sequence(out2, {batch_first = true, padding_value = -1.0, total_length = 12})
    padded = new1
    lengths = new2
  end
  mark("padded " .. step)
  again = utils.pack_padded_sequence(padded, {3, 12, 6, 6, 9}, {batch_first = true, enforce_sorted = false})
  do
    local results = rnn(again)
    out3 = results[1]
    h3 = results[2]
  end
  wide = utils.pad_packed_sequence(out3)
  mark("rnn " .. step)
  do
    local old = pieces
    pieces = map(function(n) return ohm.randn(n, 40, {device = "cuda"}) end, {4, 7, 2})
    clear(old)
  end
  c0 = ohm.randn(1, 3, 16, {device = "cuda"})
  do
    local results = lstm(utils.pack_sequence(pieces, {enforce_sorted = false}), {ohm.zeros_like(c0), c0})
    out4 = results[1]
    h4 = results[2]
    c4 = results[3]
  end
  loss = wide:pow(2):mean() + h:sum() + h2:mean() + h3:pow(2):sum() + out4.data:abs():mean() + h4:sum() + c4:mean()
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
do
  local mode <close> = ohm.no_grad()
  packed = utils.pack_padded_sequence(x, {10, 8, 8, 5, 1})
  packed = utils.PackedSequence(embedding(packed.data), packed)
  do
    local results = gru(packed)
    out = results[1]
    h = results[2]
  end
  mark("gru evaluated")
  do
    local results = back(out)
    out2 = results[1]
    h2 = results[2]
  end
  mark("back evaluated")
  do
    local results = lstm(utils.pack_sequence(pieces, {enforce_sorted = false}))
    out4 = results[1]
    h4 = results[2]
    c4 = results[3]
  end
  mark("lstm evaluated")
end
mark("end of program (globals alive)")
embedding = nil
gru = nil
back = nil
rnn = nil
lstm = nil
modules = nil
optimizer = nil
x = nil
packed = nil
h0 = nil
out = nil
h = nil
out2 = nil
h2 = nil
padded = nil
lengths = nil
again = nil
out3 = nil
h3 = nil
wide = nil
pieces = nil
c0 = nil
out4 = nil
h4 = nil
c4 = nil
loss = nil
mark("globals deleted")

--== model_packed_tagger
local Tagger, model, optimizer, batches, lengths, sequences, targets, x, y, z, logits, cls, loss, pred
local vocab, tags, dim, hidden = 120, 9, 48, 56
local rnn = nn.utils.rnn
Tagger = nn.Module:extend("Tagger")
function Tagger:__init()
  self.embedding = nn.Embedding(vocab, dim, {padding_idx = 0})
  self.dropout = nn.Dropout(0.2)
  self.lstm = nn.LSTM(dim, hidden, {num_layers = 2, batch_first = true, bidirectional = true, dropout = 0.2})
  self.fc = nn.Linear(2 * hidden, tags)
  self.cls = nn.Linear(2 * hidden, 2)
end
function Tagger:forward(x, lengths)
  local emb, packed, out, h, c, out_lengths, last
  emb = self.dropout(self.embedding(x))
  packed = rnn.pack_padded_sequence(emb, lengths, {batch_first = true, enforce_sorted = false})
  out, h, c = several(self.lstm(packed))
  do
    local new1, new2 = rnn.pad_packed_sequence(out, {batch_first = true})
    out = new1
    out_lengths = new2
  end
  last = ohm.cat({h:select(0, -2), h:select(0, -1)}, {dim = 1})
  return self.fc(self.dropout(out)), self.cls(last)
end
model = Tagger():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 1e-3})
batches = {{9, 4, 12, 7}, {6, 6, 3, 11}, {5, 8, 8, 2}}
mark("model")
for step = 0, 2 do
  lengths = batches[step + 1]
  sequences = map(function(n) return ohm.randint(1, vocab, {n}) end, lengths)
  targets = map(function(n) return ohm.randint(0, tags, {n}) end, lengths)
  x = rnn.pad_sequence(sequences, {batch_first = true}):cuda()
  y = rnn.pad_sequence(targets, {batch_first = true, padding_value = -100}):cuda()
  z = ohm.randint(0, 2, {4}, {device = "cuda"})
  do
    local new1, new2 = model(x, lengths)
    logits = new1
    cls = new2
  end
  mark("forward " .. step)
  loss = F.cross_entropy(logits:view(-1, tags), y:view(-1), {ignore_index = -100}) + F.cross_entropy(cls, z)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
model:eval()
do
  local mode <close> = ohm.no_grad()
  do
    local new1, new2 = model(x, lengths)
    logits = new1
    cls = new2
  end
  pred = logits:argmax(-1)
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
z = nil
logits = nil
cls = nil
loss = nil
pred = nil
mark("globals deleted")

--== model_padded_encoder
local vocab, dim, classes, Classifier, model, optimizer, lengths, x, pad, y, logits, weights, loss, probs, entropy
vocab, dim, classes = 150, 64, 3
Classifier = nn.Module:extend("Classifier")
function Classifier:__init()
  local layer
  self.emb = nn.Embedding(vocab, dim, {padding_idx = 0})
  self.pos = nn.Parameter(ohm.zeros(1, 32, dim))
  layer = nn.TransformerEncoderLayer(dim, 4, 128, {dropout = 0.1, activation = "gelu", batch_first = true})
  self.encoder = nn.TransformerEncoder(layer, 2, {enable_nested_tensor = false})
  self.pool = nn.MultiheadAttention(dim, 4, {batch_first = true})
  self.query = nn.Parameter(ohm.randn(1, 1, dim))
  self.fc = nn.Linear(dim, classes)
end
function Classifier:forward(x, pad)
  local h, q, pooled, weights
  h = self.emb(x) + slice(slice(self.pos, 0, 0), 1, 0, x:size(1))
  h = self.encoder(h, {src_key_padding_mask = pad})
  q = self.query:expand(x:size(0), -1, -1)
  pooled, weights = several(self.pool(q, h, h, {key_padding_mask = pad}))
  return self.fc(pooled:squeeze(1)), weights
end
model = Classifier():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
lengths = ohm.tensor({12, 9, 7, 10}, {device = "cuda"})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randint(1, vocab, {4, 12}, {device = "cuda"})
  pad = ohm.arange(12, {device = "cuda"}):unsqueeze(0):slice(1):ge(slice(lengths, 0, 0):unsqueeze(1))
  x = x:masked_fill(pad, 0)
  y = ohm.randint(0, classes, {4}, {device = "cuda"})
  do
    local new1, new2 = model(x, pad)
    logits = new1
    weights = new2
  end
  mark("forward " .. step)
  loss = F.cross_entropy(logits, y)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
model:eval()
do
  local new1, new2 = model(x, pad)
  logits = new1
  weights = new2
end
probs = logits:detach():softmax(-1)
entropy = -(weights * (weights + 1e-09):log()):sum(-1):mean()
mark("evaluated")
mark("end of program (globals alive)")
model = nil
optimizer = nil
lengths = nil
x = nil
pad = nil
y = nil
logits = nil
weights = nil
loss = nil
probs = nil
entropy = nil
mark("globals deleted")

--== model_patch_attention
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

--== model_penalized_gan
local Generator, Critic, G, D, ema, g_opt, d_opt, real, y, z, fake, real_score, d_loss, grad, p, g_loss, e, samples, grid
Generator = nn.Module:extend("Generator")
function Generator:__init(z, classes)
  self.embed = nn.Embedding(classes, 24)
  self.fc = nn.Linear(z + 24, (48 * 4) * 4)
  self.c1 = nn.Conv2d(48, 32, 3, {padding = 1})
  self.c2 = nn.Conv2d(32, 3, 3, {padding = 1})
end
function Generator:forward(z, y)
  local x
  x = self.fc(ohm.cat({z, self.embed(y)}, {dim = 1})):view(-1, 48, 4, 4)
  x = F.leaky_relu(self.c1(F.interpolate(x, {scale_factor = 2, mode = "nearest"})), 0.2)
  return ohm.tanh(self.c2(F.interpolate(x, {scale_factor = 2, mode = "bilinear", align_corners = false})))
end
Critic = nn.Module:extend("Critic")
function Critic:__init(classes)
  self.c1 = nn.Conv2d(3, 32, 4, {stride = 2, padding = 1})
  self.c2 = nn.Conv2d(32, 64, 4, {stride = 2, padding = 1})
  self.out = nn.Linear(64, 1)
  self.embed = nn.Embedding(classes, 64)
end
function Critic:forward(x, y)
  local h
  h = F.leaky_relu(self.c2(F.leaky_relu(self.c1(x), 0.2)), 0.2):sum({dim = {2, 3}})
  return self.out(h):squeeze(1) + (self.embed(y) * h):sum(1)
end
G, D = Generator(30, 6):cuda(), Critic(6):cuda()
ema = ohm.copy.deepcopy(G):requires_grad_(false)
g_opt = ohm.optim.Adam(G:parameters(), {lr = 0.0002, betas = {0.0, 0.99}})
d_opt = ohm.optim.Adam(D:parameters(), {lr = 0.0002, betas = {0.0, 0.99}})
mark("models")
for step = 0, 3 - 1 do
  real = (ohm.rand(7, 3, 16, 16, {device = "cuda"}) * 2) - 1
  y = ohm.randint(0, 6, {7}, {device = "cuda"})
  z = ohm.randn(7, 30, {device = "cuda"})
  do
    local mode1 <close> = ohm.no_grad()
    fake = G(z, y)
  end
  real:requires_grad_((step % 2) == 0)
  real_score = D(real, y)
  d_loss = F.relu(1 - real_score):mean() + F.relu(1 + D(fake, y)):mean()
  if (step % 2) == 0 then
    grad = ohm.autograd.grad(real_score:sum(), real, {create_graph = true})
    d_loss = d_loss + (5.0 * grad:pow(2):sum({dim = {1, 2, 3}}):mean())
  end
  d_opt:zero_grad()
  d_loss:backward()
  d_opt:step()
  mark("critic " .. step)
  for _, item2 in ipairs(D:parameters()) do
    p = item2
    p.requires_grad = false
  end
  g_loss = -D(G(z, y), y):mean()
  g_opt:zero_grad()
  g_loss:backward()
  g_opt:step()
  for _, item3 in ipairs(D:parameters()) do
    p = item3
    p.requires_grad = true
  end
  do
    local mode4 <close> = ohm.no_grad()
    do
      local list5_2 = G:parameters()
      for number5, item5 in ipairs(ema:parameters()) do
        e = item5
        p = list5_2[number5]
        e:lerp_(p, 0.01)
      end
    end
  end
  mark("generator " .. step)
end
samples = ema(ohm.randn(5, 30, {device = "cuda"}), ohm.arange(5, {device = "cuda"}))
grid = samples:add(1):div(2):clamp(0, 1):mul(255):round():to(ohm.uint8):cpu()
mark("samples")
mark("end of program (globals alive)")
G = nil
D = nil
ema = nil
g_opt = nil
d_opt = nil
real = nil
y = nil
z = nil
fake = nil
real_score = nil
d_loss = nil
grad = nil
p = nil
g_loss = nil
e = nil
samples = nil
grid = nil
mark("globals deleted")

--== model_pinn
local net, opt, x, t, u, u_t, u_x, u_xx, residual, loss
net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)):cuda()
opt = ohm.optim.Adam(net:parameters(), {lr = 0.001})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.rand(64, 1, {device = "cuda", requires_grad = true})
  t = ohm.rand(64, 1, {device = "cuda", requires_grad = true})
  u = net(ohm.cat({x, t}, {dim = 1}))
  u_t = (ohm.autograd.grad(u:sum(), t, {create_graph = true}))
  u_x = (ohm.autograd.grad(u:sum(), x, {create_graph = true}))
  u_xx = (ohm.autograd.grad(u_x:sum(), x, {create_graph = true}))
  residual = (u_t + (u * u_x)) - (0.01 * u_xx)
  loss = (residual ^ 2):mean()
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
net = nil
opt = nil
x = nil
t = nil
u = nil
u_t = nil
u_x = nil
u_xx = nil
residual = nil
loss = nil
mark("globals deleted")

--== model_pointer_net
local PointerNet, length, model, optimizer, baseline, points, logs, tour, cost, loss, _
PointerNet = nn.Module:extend("PointerNet")
function PointerNet:__init(width)
  if width == nil then width = 64 end
  self.embed = nn.Linear(2, width)
  self.encoder = nn.LSTM(width, width, {batch_first = true})
  self.decoder = nn.LSTMCell(width, width)
  self.w1 = nn.Linear(width, width, {bias = false})
  self.w2 = nn.Linear(width, width, {bias = false})
  self.v = nn.Linear(width, 1, {bias = false})
  self.start = nn.Parameter(ohm.rand(width))
end
function PointerNet:forward(points, greedy)
  local batch, n, _, e, enc, h, c, keys, mask, x, logs, tour, scores, log_p, choice
  if greedy == nil then greedy = false end
  batch, n, _ = table.unpack(points.shape)
  e = self.embed(points)
  enc, h, c = several(self.encoder(e))
  h, c = h:select(0, 0), c:select(0, 0)
  keys = self.w1(enc)
  mask = ohm.zeros(batch, n, {dtype = ohm.bool, device = points.device})
  x = self.start:unsqueeze(0):expand(batch, -1)
  logs, tour = {}, {}
  for _ = 0, n - 1 do
    h, c = several(self.decoder(x, {h, c}))
    scores = self.v(ohm.tanh(keys + self.w2(h):unsqueeze(1))):squeeze(-1)
    scores = scores:masked_fill(mask, -math.huge)
    log_p = F.log_softmax(scores, {dim = 1})
    if greedy then
      choice = log_p:argmax(1)
    else
      choice = ohm.multinomial(log_p:exp(), 1):squeeze(1)
    end
    logs[#logs + 1] = log_p:gather(1, choice:unsqueeze(1)):squeeze(1)
    tour[#tour + 1] = choice
    mask = mask:scatter(1, choice:unsqueeze(1), true)
    x = e:index({ohm.arange(batch, {device = points.device}), choice})
  end
  return ohm.stack(logs, 1), ohm.stack(tour, 1)
end
function length(points, tour)
  local ordered
  ordered = points:gather(1, tour:unsqueeze(2):expand(-1, -1, 2))
  return (ordered - ordered:roll(-1, {dims = 1})):norm({dim = 2}):sum(1)
end
model = PointerNet():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
baseline = nil
mark("model")
for step = 0, 2 - 1 do
  points = ohm.rand(32, 8, 2, {device = "cuda"})
  logs, tour = model(points)
  do
    local mode1 <close> = ohm.no_grad()
    cost = length(points, tour)
  end
  baseline = (baseline == nil and cost:mean() or (0.9 * baseline) + (0.1 * cost:mean()))
  loss = ((cost - baseline) * logs:sum(1)):mean()
  optimizer:zero_grad({set_to_none = true})
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 2.0)
  optimizer:step()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  _, tour = model(ohm.rand(16, 8, 2, {device = "cuda"}), {greedy = true})
end
mark("greedy")
mark("end of program (globals alive)")
model = nil
optimizer = nil
baseline = nil
points = nil
logs = nil
tour = nil
cost = nil
loss = nil
_ = nil
mark("globals deleted")

--== model_pointnet
local TNet, PointNet, regularizer, model, opt, points, target, pred, feat, loss, choice, correct
TNet = nn.Module:extend("TNet")
function TNet:__init(k)
  self.k = k
  self.conv1 = nn.Conv1d(k, 32, 1)
  self.conv2 = nn.Conv1d(32, 64, 1)
  self.fc1 = nn.Linear(64, 32)
  self.fc2 = nn.Linear(32, k * k)
  self.bn1 = nn.BatchNorm1d(32)
  self.bn2 = nn.BatchNorm1d(64)
  self.bn3 = nn.BatchNorm1d(32)
end
function TNet:forward(x)
  local batch, identity
  batch = x:size(0)
  x = F.relu(self.bn1(self.conv1(x)))
  x = F.relu(self.bn2(self.conv2(x)))
  x = (ohm.max(x, 2, {keepdim = true}))
  x = x:view(-1, 64)
  x = self.fc2(F.relu(self.bn3(self.fc1(x))))
  identity = repeated(ohm.eye(self.k, {device = x.device}):view(1, self.k * self.k), batch, 1)
  x = x + identity
  return x:view(-1, self.k, self.k)
end
PointNet = nn.Module:extend("PointNet")
function PointNet:__init(classes)
  if classes == nil then classes = 8 end
  self.stn = TNet(3)
  self.fstn = TNet(32)
  self.conv1 = nn.Conv1d(3, 32, 1)
  self.conv2 = nn.Conv1d(32, 64, 1)
  self.bn1 = nn.BatchNorm1d(32)
  self.bn2 = nn.BatchNorm1d(64)
  self.fc1 = nn.Linear(64, 32)
  self.bn3 = nn.BatchNorm1d(32)
  self.dropout = nn.Dropout({p = 0.3})
  self.fc2 = nn.Linear(32, classes)
end
function PointNet:forward(x)
  local trans, feat
  trans = self.stn(x)
  x = ohm.bmm(x:transpose(2, 1), trans):transpose(2, 1)
  x = F.relu(self.bn1(self.conv1(x)))
  feat = self.fstn(x)
  x = ohm.bmm(x:transpose(2, 1), feat):transpose(2, 1)
  x = self.bn2(self.conv2(x))
  x = (ohm.max(x, 2, {keepdim = true})):view(-1, 64)
  x = F.relu(self.bn3(self.dropout(self.fc1(x))))
  return F.log_softmax(self.fc2(x), {dim = 1}), feat
end
function regularizer(trans)
  local d, eye
  d = trans:size(1)
  eye = slice(slice(ohm.eye(d, {device = trans.device}):unsqueeze(0), 1, 0), 2, 0)
  return ohm.mean(ohm.norm(ohm.bmm(trans, trans:transpose(2, 1)) - eye, {dim = {1, 2}}))
end
model = PointNet():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001, weight_decay = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  points = ohm.randn(6, 100, 3, {device = "cuda"}):transpose(2, 1)
  target = ohm.randint(0, 8, {6}, {device = "cuda"})
  opt:zero_grad()
  pred, feat = model(points)
  loss = F.nll_loss(pred, target) + (regularizer(feat) * 0.001)
  mark("forward " .. step)
  loss:backward()
  opt:step()
  choice = second(pred:max(1))
  correct = choice:eq(target):sum():item()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
points = nil
target = nil
pred = nil
feat = nil
loss = nil
choice = nil
correct = nil
mark("globals deleted")

--== model_ppo
local ActorCritic, steps, envs, model, opt, obs, actions, logprobs, rewards, dones, values, state, done, logp, value, action, _, following, advantages, last, nonterminal, nextvalue, delta, returns, b_obs, b_actions, b_logprobs, b_adv, b_returns, permutation, mb, new, entropy, ratio, adv, pg1, pg2, pg_loss, v_loss, loss
ActorCritic = nn.Module:extend("ActorCritic")
function ActorCritic:__init(observations, actions, hidden)
  local m
  if hidden == nil then hidden = 64 end
  if actions == nil then actions = 4 end
  if observations == nil then observations = 8 end
  self.body = nn.Sequential(nn.Linear(observations, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
  self.actor = nn.Linear(hidden, actions)
  self.critic = nn.Linear(hidden, 1)
  for _, item1 in ipairs(self:modules()) do
    m = item1
    if is_a(m, "Linear") then
      nn.init.orthogonal_(m.weight, {gain = 1.41})
      nn.init.constant_(m.bias, 0.0)
    end
  end
end
function ActorCritic:forward(x)
  local h
  h = self.body(x)
  return F.log_softmax(self.actor(h), {dim = -1}), self.critic(h):squeeze(-1)
end
steps, envs = 8, 4
model = ActorCritic():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.00025, eps = 1e-05})
obs = ohm.zeros(steps, envs, 8, {device = "cuda"})
actions = ohm.zeros(steps, envs, {dtype = ohm.int64, device = "cuda"})
logprobs = ohm.zeros(steps, envs, {device = "cuda"})
rewards = ohm.zeros(steps, envs, {device = "cuda"})
dones = ohm.zeros(steps, envs, {device = "cuda"})
values = ohm.zeros(steps, envs, {device = "cuda"})
mark("storage")
for update = 0, 2 - 1 do
  state = ohm.randn(envs, 8, {device = "cuda"})
  done = ohm.zeros(envs, {device = "cuda"})
  for t = 0, steps - 1 do
    obs:select(0, t):copy_(state)
    dones:select(0, t):copy_(done)
    do
      local mode2 <close> = ohm.no_grad()
      logp, value = model(state)
      action = ohm.multinomial(logp:exp(), 1):squeeze(-1)
      values:select(0, t):copy_(value)
    end
    actions:select(0, t):copy_(action)
    logprobs:select(0, t):copy_(logp:gather(-1, action:unsqueeze(-1)):squeeze(-1))
    state = ohm.randn(envs, 8):cuda()
    rewards:select(0, t):copy_(ohm.randn(envs):cuda())
  end
  mark("rollout " .. update)
  do
    local mode3 <close> = ohm.no_grad()
    _, following = model(state)
    advantages = ohm.zeros_like(rewards)
    last = 0
    for t = steps - 1, 0, -1 do
      if t == (steps - 1) then
        nonterminal = 1.0 - done
        nextvalue = following
      else
        nonterminal = 1.0 - dones:select(0, t + 1)
        nextvalue = values:select(0, t + 1)
      end
      delta = (rewards:select(0, t) + ((0.99 * nextvalue) * nonterminal)) - values:select(0, t)
      last = delta + (((0.99 * 0.95) * nonterminal) * last)
      advantages:select(0, t):copy_(last)
    end
    returns = advantages + values
  end
  mark("advantages " .. update)
  b_obs = obs:reshape(-1, 8)
  b_actions = actions:reshape(-1)
  b_logprobs = logprobs:reshape(-1)
  b_adv = advantages:reshape(-1)
  b_returns = returns:reshape(-1)
  permutation = ohm.randperm(steps * envs, {device = "cuda"})
  for start = 0, (steps * envs) - 1, 16 do
    mb = slice(permutation, 0, start, start + 16)
    logp, value = model(b_obs:index({mb}))
    new = logp:gather(1, b_actions:index({mb}):unsqueeze(1)):squeeze(1)
    entropy = -(logp:exp() * logp):sum(-1):mean()
    ratio = (new - b_logprobs:index({mb})):exp()
    adv = b_adv:index({mb})
    adv = (adv - adv:mean()) / (adv:std() + 1e-08)
    pg1 = (-adv) * ratio
    pg2 = (-adv) * ohm.clamp(ratio, 0.8, 1.2)
    pg_loss = ohm.max(pg1, pg2):mean()
    v_loss = 0.5 * ((value - b_returns:index({mb})) ^ 2):mean()
    loss = (pg_loss - (0.01 * entropy)) + (0.5 * v_loss)
    opt:zero_grad()
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 0.5)
    opt:step()
  end
  mark("update " .. update)
end
mark("end of program (globals alive)")
model = nil
opt = nil
obs = nil
actions = nil
logprobs = nil
rewards = nil
dones = nil
values = nil
state = nil
done = nil
logp = nil
value = nil
action = nil
_ = nil
following = nil
advantages = nil
last = nil
nonterminal = nil
nextvalue = nil
delta = nil
returns = nil
b_obs = nil
b_actions = nil
b_logprobs = nil
b_adv = nil
b_returns = nil
permutation = nil
mb = nil
new = nil
entropy = nil
ratio = nil
adv = nil
pg1 = nil
pg2 = nil
pg_loss = nil
v_loss = nil
loss = nil
mark("globals deleted")

--== model_prefetch
local Clips, Prefetcher, model, optimizer, loader, prefetcher, x, y, i, out, loss
ohm.backends.cudnn.enabled = true
Clips = ohm.utils.data.Dataset:extend()
function Clips:__init(count) self.count = count end
function Clips:__len() return self.count end
function Clips:__getitem(i) return ohm.randn(3, 20, 20), i % 5 end
Prefetcher = {}
Prefetcher.__index = Prefetcher
local function new_prefetcher(batches)
  local self = setmetatable({}, Prefetcher)
  self.batches = {}
  for xs, ys in batches do self.batches[#self.batches + 1] = {xs, ys} end
  self.stream = ohm.cuda.Stream()
  self.mean = ohm.tensor({0.4, 0.5, 0.6}):cuda():view(1, 3, 1, 1)
  self.std = ohm.tensor({0.2, 0.2, 0.3}):cuda():view(1, 3, 1, 1)
  self:preload()
  return self
end
function Prefetcher:preload()
  local batch = table.remove(self.batches, 1)
  if not batch then
    self.next_input = nil
    self.next_target = nil
    return
  end
  self.next_input = batch[1]
  self.next_target = batch[2]
  do
    local mode1 <close> = ohm.cuda.stream(self.stream)
    self.next_input = self.next_input:cuda({non_blocking = true})
    self.next_target = self.next_target:cuda({non_blocking = true})
    self.next_input = self.next_input:sub_(self.mean):div_(self.std)
  end
end
function Prefetcher:next()
  local x, y
  ohm.cuda.current_stream():wait_stream(self.stream)
  x = self.next_input
  y = self.next_target
  if x ~= nil then
    x:record_stream(ohm.cuda.current_stream())
  end
  if y ~= nil then
    y:record_stream(ohm.cuda.current_stream())
  end
  self:preload()
  return x, y
end
model = nn.Sequential(nn.Conv2d(3, 24, 3), nn.BatchNorm2d(24), nn.ReLU({inplace = true}), nn.MaxPool2d(2), nn.Conv2d(24, 32, 3), nn.ReLU({inplace = true}), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 5)):cuda()
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.05, momentum = 0.9, nesterov = true})
loader = ohm.utils.data.DataLoader(Clips(14), {batch_size = 4, shuffle = true, pin_memory = false, drop_last = false})
mark("model")
for epoch = 0, 2 - 1 do
  prefetcher = new_prefetcher(loader)
  do
    local new1, new2 = prefetcher:next()
    x = new1
    y = new2
  end
  i = 0
  while x ~= nil do
    i = i + 1
    out = model(x)
    loss = F.cross_entropy(out, y)
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
    mark("epoch " .. epoch .. " step " .. i)
    do
      local new1, new2 = prefetcher:next()
      x = new1
      y = new2
    end
  end
end
ohm.cuda.synchronize()
mark("trained")
mark("end of program (globals alive)")
model = nil
optimizer = nil
loader = nil
prefetcher = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== model_protonet_reptile
local ways, shots, queries, block, encoder, optimizer, support, query, labels, z, z_support, z_query, prototypes, dists, loss, acc, head, before, fast, inner, x, y, p, q
ways, shots, queries = 5, 3, 4
function block(cin, cout)
  return nn.Sequential(nn.Conv2d(cin, cout, 3, {padding = 1}), nn.BatchNorm2d(cout, {track_running_stats = false}), nn.ReLU(), nn.MaxPool2d(2))
end
encoder = nn.Sequential(block(1, 24), block(24, 24), block(24, 32), nn.Flatten()):cuda()
optimizer = ohm.optim.Adam(encoder:parameters(), {lr = 0.001})
mark("encoder")
for episode = 0, 2 - 1 do
  support = ohm.randn(ways * shots, 1, 20, 20, {device = "cuda"})
  query = ohm.randn(ways * queries, 1, 20, 20, {device = "cuda"})
  labels = ohm.arange(ways, {device = "cuda"}):repeat_interleave(queries)
  z = encoder(ohm.cat({support, query}, 0))
  do
    local new1, new2 = z:split({ways * shots, ways * queries})
    z_support = new1
    z_query = new2
  end
  prototypes = z_support:view(ways, shots, -1):mean(1)
  dists = ohm.pow(z_query:unsqueeze(1) - prototypes:unsqueeze(0), 2):sum(2)
  loss = F.nll_loss(F.log_softmax(-dists, {dim = 1}), labels)
  acc = ((-dists):argmax(1):eq(labels)):float():mean():item()
  mark("forward " .. episode)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. episode)
end
head = nn.Sequential(encoder, nn.Linear(128, ways)):cuda()
mark("head")
for task = 0, 2 - 1 do
  do
    local clones = {}
    for name, parameter in head:named_parameters() do
      clones[name] = parameter:detach():clone()
    end
    before = clones
  end
  fast = ohm.copy.deepcopy(head)
  inner = ohm.optim.SGD(fast:parameters(), {lr = 0.02})
  for k = 0, 2 - 1 do
    x = ohm.randn(10, 1, 20, 20, {device = "cuda"})
    y = ohm.randint(0, ways, {10}, {device = "cuda"})
    loss = F.cross_entropy(fast(x), y)
    inner:zero_grad()
    loss:backward()
    inner:step()
  end
  mark("adapted " .. task)
  do
    local mode1 <close> = ohm.no_grad()
    do
      local list2_2 = fast:parameters()
      for number2, item2 in ipairs(head:parameters()) do
        p = item2
        q = list2_2[number2]
        p:add_(q - p, {alpha = 0.1})
      end
    end
  end
  mark("outer " .. task)
end
fast = nil
inner = nil
before = nil
mark("dropped")
mark("end of program (globals alive)")
encoder = nil
optimizer = nil
support = nil
query = nil
labels = nil
z = nil
z_support = nil
z_query = nil
prototypes = nil
dists = nil
loss = nil
acc = nil
head = nil
x = nil
y = nil
p = nil
q = nil
mark("globals deleted")

--== model_raft_corr
-- x[i], of a tensor or a list
local function at(x, i)
  if not ohm.is_tensor(x) then
    if type(i) ~= "number" then return x[i] end
      return x[i < 0 and #x + 1 + i or i + 1]
  end
  if ohm.is_tensor(i) then return x:index({i}) end
  return x:select(0, i)
end

-- a < b and others, of tensors or numbers
local function compare(how, a, b)
  if ohm.is_tensor(a) then return a[how](a, b) end
  if ohm.is_tensor(b) then return b[({lt = "gt", gt = "lt", le = "ge", ge = "le", eq = "eq", ne = "ne"})[how]](b, a) end
  if how == "eq" then return a == b elseif how == "ne" then return a ~= b end
  if how == "lt" then return a < b elseif how == "le" then return a <= b end
  if how == "gt" then return a > b else return a >= b end
end

local Encoder, ConvGRU, coords_grid, lookup, RAFT, model, optimizer, scheduler, image1, image2, flow_gt, valid, predictions, flow_loss, mag, i_weight, i_loss
Encoder = nn.Module:extend("Encoder")
function Encoder:__init(out)
  self.conv1 = nn.Conv2d(3, 16, 7, {stride = 2, padding = 3})
  self.norm1 = nn.InstanceNorm2d(16)
  self.conv2 = nn.Conv2d(16, 32, 3, {stride = 2, padding = 1})
  self.norm2 = nn.InstanceNorm2d(32)
  self.conv3 = nn.Conv2d(32, out, 1)
end
function Encoder:forward(x)
  x = F.relu(self.norm1(self.conv1(x)))
  x = F.relu(self.norm2(self.conv2(x)))
  return self.conv3(x)
end
ConvGRU = nn.Module:extend("ConvGRU")
function ConvGRU:__init(hidden, inp)
  self.convz = nn.Conv2d(hidden + inp, hidden, 3, {padding = 1})
  self.convr = nn.Conv2d(hidden + inp, hidden, 3, {padding = 1})
  self.convq = nn.Conv2d(hidden + inp, hidden, 3, {padding = 1})
end
function ConvGRU:forward(h, x)
  local hx, z, r, q
  hx = ohm.cat({h, x}, {dim = 1})
  z = ohm.sigmoid(self.convz(hx))
  r = ohm.sigmoid(self.convr(hx))
  q = ohm.tanh(self.convq(ohm.cat({r * h, x}, {dim = 1})))
  h = ((1 - z) * h) + (z * q)
  return h
end
function coords_grid(batch, ht, wd, device)
  local coords
  coords = {ohm.meshgrid({ohm.arange(ht, {device = device}), ohm.arange(wd, {device = device})}, {indexing = "ij"})}
  coords = ohm.stack({at(coords, 1), at(coords, 0)}, {dim = 0}):float()
  return repeated(coords:unsqueeze(0), batch, 1, 1, 1)
end
function lookup(pyramid, coords, radius)
  local batch, h1, w1, _, out, corr, dx, dy, gy, gx, delta, centroid, where, H, W, xgrid, ygrid
  coords = coords:permute(0, 2, 3, 1)
  batch, h1, w1, _ = table.unpack(coords.shape)
  out = {}
  for i = 0, (ohm.is_tensor(pyramid) and pyramid:size(0) or #pyramid) - 1 do
    corr = at(pyramid, i)
    dx = ohm.linspace(-radius, radius, (2 * radius) + 1, {device = coords.device})
    dy = ohm.linspace(-radius, radius, (2 * radius) + 1, {device = coords.device})
    do
      local new1, new2 = ohm.meshgrid({dy, dx}, {indexing = "ij"})
      gy = new1
      gx = new2
    end
    delta = ohm.stack({gy, gx}, {dim = -1})
    centroid = coords:reshape((batch * h1) * w1, 1, 1, 2) / ((1 << i))
    where = centroid + delta:view(1, (2 * radius) + 1, (2 * radius) + 1, 2)
    H, W = corr:size(2), corr:size(3)
    do
      local new1, new2 = where:split({1, 1}, {dim = -1})
      xgrid = new1
      ygrid = new2
    end
    xgrid = ((2 * xgrid) / (W - 1)) - 1
    ygrid = ((2 * ygrid) / (H - 1)) - 1
    corr = F.grid_sample(corr, ohm.cat({xgrid, ygrid}, {dim = -1}), {align_corners = true})
    out[#out + 1] = corr:view(batch, h1, w1, -1)
  end
  return ohm.cat(out, {dim = -1}):permute(0, 3, 1, 2):contiguous():float()
end
RAFT = nn.Module:extend("RAFT")
function RAFT:__init(radius, levels)
  if levels == nil then levels = 2 end
  if radius == nil then radius = 2 end
  self.radius = radius
  self.levels = levels
  self.fnet = Encoder(32)
  self.cnet = Encoder(48)
  self.motion = nn.Conv2d((levels * (((2 * radius) + 1) ^ 2)) + 2, 24, 3, {padding = 1})
  self.gru = ConvGRU(24, 48)
  self.flow_head = nn.Conv2d(24, 2, 3, {padding = 1})
end
function RAFT:forward(image1, image2, iters)
  local fmap1, fmap2, b, c, h, w, corr, pyramid, net, inp, coords0, coords1, predictions, sampled, flow, m
  fmap1 = self.fnet(image1)
  fmap2 = self.fnet(image2)
  b, c, h, w = table.unpack(fmap1.shape)
  corr = ohm.matmul(fmap1:view(b, c, h * w):transpose(1, 2), fmap2:view(b, c, h * w))
  corr = corr:view((b * h) * w, 1, h, w) / ohm.sqrt(ohm.tensor(c):float())
  pyramid = {corr}
  for i = 0, (self.levels - 1) - 1 do
    corr = F.avg_pool2d(corr, 2, {stride = 2})
    pyramid[#pyramid + 1] = corr
  end
  net, inp = ohm.split(self.cnet(image1), {24, 24}, {dim = 1})
  net = ohm.tanh(net)
  inp = ohm.relu(inp)
  coords0 = coords_grid(b, h, w, image1.device)
  coords1 = coords_grid(b, h, w, image1.device)
  predictions = {}
  for itr = 0, iters - 1 do
    coords1 = coords1:detach()
    sampled = lookup(pyramid, coords1, self.radius)
    flow = coords1 - coords0
    m = F.relu(self.motion(ohm.cat({sampled, flow}, {dim = 1})))
    net = self.gru(net, ohm.cat({inp, m}, {dim = 1}))
    coords1 = coords1 + self.flow_head(net)
    predictions[#predictions + 1] = 4 * F.interpolate(coords1 - coords0, {scale_factor = 4, mode = "bilinear", align_corners = true})
  end
  return predictions
end
model = RAFT():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0004, weight_decay = 1e-05, eps = 1e-08})
scheduler = ohm.optim.lr_scheduler.OneCycleLR(optimizer, 0.0004, 110, {pct_start = 0.05, cycle_momentum = false, anneal_strategy = "linear"})
mark("model")
for step = 0, 2 - 1 do
  image1 = ohm.randn(2, 3, 64, 64, {device = "cuda"})
  image2 = ohm.randn(2, 3, 64, 64, {device = "cuda"})
  flow_gt = ohm.randn(2, 2, 64, 64, {device = "cuda"})
  valid = ohm.ones(2, 64, 64, {device = "cuda"})
  optimizer:zero_grad()
  predictions = model(image1, image2, 3)
  flow_loss = 0.0
  mag = ohm.sum(flow_gt ^ 2, {dim = 1}):sqrt()
  valid = (compare("ge", valid, 0.5)) & (compare("lt", mag, 400))
  for i = 0, 3 - 1 do
    i_weight = 0.8 ^ ((3 - i) - 1)
    i_loss = (at(predictions, i) - flow_gt):abs()
    flow_loss = iadd(flow_loss, i_weight * (slice(valid, 0, 0):unsqueeze(1) * i_loss):mean())
  end
  flow_loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  optimizer:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
image1 = nil
image2 = nil
flow_gt = nil
valid = nil
predictions = nil
flow_loss = nil
mag = nil
i_weight = nil
i_loss = nil
mark("globals deleted")


--== model_rainbow
local NoisyLinear, DQN, atoms, actions, Vmin, Vmax, batch, support, delta_z, online, target, param, optimizer, states, next_states, acts, returns, nonterminals, weights, rows, log_ps, log_ps_a, pns, dns, argmax_indices_ns, pns_a, Tz, b, l, u, m, offset, loss, priorities
NoisyLinear = nn.Module:extend("NoisyLinear")
function NoisyLinear:__init(i, o, std_init)
  local mu_range
  if std_init == nil then std_init = 0.5 end
  self.i = i
  self.o = o
  self.std_init = std_init
  self.weight_mu = nn.Parameter(ohm.empty(o, i))
  self.weight_sigma = nn.Parameter(ohm.empty(o, i))
  self:register_buffer("weight_epsilon", ohm.empty(o, i))
  self.bias_mu = nn.Parameter(ohm.empty(o))
  self.bias_sigma = nn.Parameter(ohm.empty(o))
  self:register_buffer("bias_epsilon", ohm.empty(o))
  mu_range = 1 / math.sqrt(i)
  self.weight_mu.data:uniform_(-mu_range, mu_range)
  self.weight_sigma.data:fill_(std_init / math.sqrt(i))
  self.bias_mu.data:uniform_(-mu_range, mu_range)
  self.bias_sigma.data:fill_(std_init / math.sqrt(o))
  self:reset_noise()
end
function NoisyLinear:scale_noise(size)
  local x
  x = ohm.randn(size, {device = self.weight_mu.device})
  return x:sign():mul_(x:abs():sqrt_())
end
function NoisyLinear:reset_noise()
  local epsilon_in, epsilon_out
  epsilon_in = self:scale_noise(self.i)
  epsilon_out = self:scale_noise(self.o)
  self.weight_epsilon:copy_(epsilon_out:outer(epsilon_in))
  self.bias_epsilon:copy_(epsilon_out)
end
function NoisyLinear:forward(x)
  if self.training then
    return F.linear(x, self.weight_mu + (self.weight_sigma * self.weight_epsilon), self.bias_mu + (self.bias_sigma * self.bias_epsilon))
  end
  return F.linear(x, self.weight_mu, self.bias_mu)
end
DQN = nn.Module:extend("DQN")
function DQN:__init(actions, atoms)
  self.actions = actions
  self.atoms = atoms
  self.convs = nn.Sequential(nn.Conv2d(4, 16, 5, {stride = 3}), nn.ReLU(), nn.Conv2d(16, 32, 3, {stride = 2}), nn.ReLU())
  self.fc_h_v = NoisyLinear((32 * 6) * 6, 32)
  self.fc_h_a = NoisyLinear((32 * 6) * 6, 32)
  self.fc_z_v = NoisyLinear(32, atoms)
  self.fc_z_a = NoisyLinear(32, actions * atoms)
end
function DQN:forward(x, log)
  local v, a, q
  if log == nil then log = false end
  x = self.convs(x):view(-1, (32 * 6) * 6)
  v = self.fc_z_v(F.relu(self.fc_h_v(x)))
  a = self.fc_z_a(F.relu(self.fc_h_a(x)))
  v, a = v:view(-1, 1, self.atoms), a:view(-1, self.actions, self.atoms)
  q = (v + a) - a:mean(1, {keepdim = true})
  if log then
    q = F.log_softmax(q, {dim = 2})
  else
    q = F.softmax(q, {dim = 2})
  end
  return q
end
function DQN:noise()
  self.fc_h_v:reset_noise()
  self.fc_h_a:reset_noise()
  self.fc_z_v:reset_noise()
  self.fc_z_a:reset_noise()
end
atoms, actions, Vmin, Vmax, batch = 21, 4, -10, 10, 8
support = ohm.linspace(Vmin, Vmax, atoms):to({device = "cuda"})
delta_z = (Vmax - Vmin) / (atoms - 1)
online = DQN(actions, atoms):cuda()
target = DQN(actions, atoms):cuda()
target:load_state_dict(online:state_dict())
for _, item1 in ipairs(target:parameters()) do
  param = item1
  param.requires_grad = false
end
optimizer = ohm.optim.Adam(online:parameters(), {lr = 6e-05, eps = 0.00015})
mark("model")
for step = 0, 3 - 1 do
  states = ohm.randint(0, 256, {batch, 4, 45, 45}, {dtype = ohm.uint8, device = "cuda"}):to({dtype = ohm.float32}):div_(255)
  next_states = ohm.randint(0, 256, {batch, 4, 45, 45}, {dtype = ohm.uint8, device = "cuda"}):to({dtype = ohm.float32}):div_(255)
  acts = ohm.randint(0, actions, {batch}, {device = "cuda"})
  returns = ohm.randn(batch, {device = "cuda"})
  nonterminals = ohm.ones(batch, 1, {device = "cuda"})
  weights = ohm.rand(batch, {device = "cuda"})
  rows = ohm.arange(batch, {device = "cuda"})
  log_ps = online(states, {log = true})
  log_ps_a = log_ps:index({rows, acts})
  do
    local mode2 <close> = ohm.no_grad()
    pns = online(next_states)
    dns = support:expand_as(pns) * pns
    argmax_indices_ns = dns:sum(2):argmax(1)
    target:noise()
    pns = target(next_states)
    pns_a = pns:index({rows, argmax_indices_ns})
    Tz = returns:unsqueeze(1) + ((nonterminals * 0.97) * support:unsqueeze(0))
    Tz = Tz:clamp({min = Vmin, max = Vmax})
    b = (Tz - Vmin) / delta_z
    l, u = b:floor():to(ohm.int64), b:ceil():to(ohm.int64)
    l = ohm.where((u:gt(0)) & (l:eq(u)), l - 1, l):clamp({min = 0})
    m = states:new_zeros(batch, atoms)
    offset = ohm.linspace(0, (batch - 1) * atoms, batch):unsqueeze(1):expand(batch, atoms):to(acts)
    m:view(-1):index_add_(0, (l + offset):view(-1), (pns_a * (u:float() - b)):view(-1))
    m:view(-1):index_add_(0, (u + offset):view(-1), (pns_a * (b - l:float())):view(-1))
  end
  loss = -ohm.sum(m * log_ps_a, 1)
  online:zero_grad()
  ;(weights * loss):mean():backward()
  nn.utils.clip_grad_norm_(online:parameters(), 10.0)
  optimizer:step()
  priorities = loss:detach():cpu()
  online:noise()
  mark("learn " .. step)
end
mark("end of program (globals alive)")
Vmin = nil
support = nil
delta_z = nil
online = nil
target = nil
param = nil
optimizer = nil
states = nil
next_states = nil
acts = nil
returns = nil
nonterminals = nil
weights = nil
rows = nil
log_ps = nil
log_ps_a = nil
pns = nil
dns = nil
argmax_indices_ns = nil
pns_a = nil
Tz = nil
b = nil
l = nil
u = nil
m = nil
offset = nil
loss = nil
priorities = nil
mark("globals deleted")

--== model_realnvp
local ActNorm, Coupling, Flow, flow, optimizer, x, loss, samples
ActNorm = nn.Module:extend("ActNorm")
function ActNorm:__init(dim)
  self.log_scale = nn.Parameter(ohm.zeros(dim))
  self.shift = nn.Parameter(ohm.zeros(dim))
  self:register_buffer("initialized", ohm.tensor(0, {dtype = ohm.uint8}))
end
function ActNorm:initialize(x)
  local mean, std
  do
    local mode1 <close> = ohm.no_grad()
    mean = x:mean(0)
    std = x:std(0)
    self.shift.data:copy_(-mean)
    self.log_scale.data:copy_(ohm.log(1 / (std + 1e-06)))
    self.initialized:fill_(1)
  end
end
function ActNorm:forward(x)
  local z
  z = (x + self.shift) * ohm.exp(self.log_scale)
  return z, self.log_scale:sum():expand(x:size(0))
end
function ActNorm:inverse(z)
  return (z * ohm.exp(-self.log_scale)) - self.shift
end
Coupling = nn.Module:extend("Coupling")
function Coupling:__init(dim, hidden, parity)
  local mask
  mask = ohm.arange(dim) % 2
  if parity == 1 then
    mask = 1 - mask
  end
  self:register_buffer("mask", mask:float())
  self.s = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim), nn.Tanh())
  self.t = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim))
end
function Coupling:forward(x)
  local kept, s, t, y
  kept = x * self.mask
  s = self.s(kept) * (1 - self.mask)
  t = self.t(kept) * (1 - self.mask)
  y = kept + ((1 - self.mask) * ((x * ohm.exp(s)) + t))
  return y, s:sum({dim = 1})
end
function Coupling:inverse(y)
  local kept, s, t
  kept = y * self.mask
  s = self.s(kept) * (1 - self.mask)
  t = self.t(kept) * (1 - self.mask)
  return kept + ((1 - self.mask) * ((y - t) * ohm.exp(-s)))
end
Flow = nn.Module:extend("Flow")
function Flow:__init(dim, hidden)
  self.norm1 = ActNorm(dim)
  self.coupling1 = Coupling(dim, hidden, 0)
  self.norm2 = ActNorm(dim)
  self.coupling2 = Coupling(dim, hidden, 1)
  self:register_buffer("loc", ohm.zeros(dim))
end
function Flow:forward(x)
  local logdet, ld
  logdet = ohm.zeros(x:size(0), {device = "cuda"})
  x, ld = self.norm1(x)
  logdet = iadd(logdet, ld)
  x, ld = self.coupling1(x)
  logdet = iadd(logdet, ld)
  x, ld = self.norm2(x)
  logdet = iadd(logdet, ld)
  x, ld = self.coupling2(x)
  logdet = iadd(logdet, ld)
  return x, logdet
end
function Flow:log_prob(x)
  local z, logdet, base
  z, logdet = self:forward(x)
  base = (-0.5) * (((z - self.loc) ^ 2) + math.log(2 * math.pi))
  return base:sum(-1) + logdet
end
function Flow:sample(n)
  local z, x
  z = ohm.randn(n, self.loc:size(0), {device = "cuda"})
  x = self.coupling2:inverse(z)
  x = self.norm2:inverse(x)
  x = self.coupling1:inverse(x)
  return self.norm1:inverse(x)
end
flow = Flow(16, 128):to("cuda")
optimizer = ohm.optim.Adam(flow:parameters(), {lr = 0.001, weight_decay = 1e-05})
mark("model")
x = ohm.randn(64, 16, {device = "cuda"})
flow.norm1:initialize(x)
mark("initialized")
for step = 0, 3 - 1 do
  x = ohm.rand(64, 16, {device = "cuda"})
  x = ((x * 255) + ohm.rand_like(x)) / 256
  x = ohm.log(x) - ohm.log1p(-x)
  loss = -flow:log_prob(x):mean()
  mark("forward " .. step)
  optimizer:zero_grad({set_to_none = true})
  loss:backward()
  nn.utils.clip_grad_value_(flow:parameters(), 1.0)
  optimizer:step()
  mark("step " .. step)
end
flow:eval()
do
  local mode2 <close> = ohm.no_grad()
  samples = flow:sample(100):sigmoid():cpu()
end
mark("samples")
mark("end of program (globals alive)")
flow = nil
optimizer = nil
x = nil
loss = nil
samples = nil
mark("globals deleted")

--== model_resnet
local BasicBlock, ResNet, model, criterion, opt, scheduler, running, images, target, output, loss, correct, _, predicted
BasicBlock = nn.Module:extend("BasicBlock")
function BasicBlock:__init(inputs, planes, stride)
  if stride == nil then stride = 1 end
  self.conv1 = nn.Conv2d(inputs, planes, 3, {stride = stride, padding = 1, bias = false})
  self.bn1 = nn.BatchNorm2d(planes)
  self.relu = nn.ReLU({inplace = true})
  self.conv2 = nn.Conv2d(planes, planes, 3, {padding = 1, bias = false})
  self.bn2 = nn.BatchNorm2d(planes)
  self.downsample = false
  if (stride ~= 1 or inputs ~= planes) then
    self.downsample = nn.Sequential(nn.Conv2d(inputs, planes, 1, {stride = stride, bias = false}), nn.BatchNorm2d(planes))
  end
end
function BasicBlock:forward(x)
  local identity, out
  identity = x
  out = self.conv1(x)
  out = self.bn1(out)
  out = self.relu(out)
  out = self.conv2(out)
  out = self.bn2(out)
  if self.downsample then
    identity = self.downsample(x)
  end
  out = iadd(out, identity)
  return self.relu(out)
end
ResNet = nn.Module:extend("ResNet")
function ResNet:__init(classes)
  if classes == nil then classes = 10 end
  self.conv1 = nn.Conv2d(3, 16, 7, {stride = 2, padding = 3, bias = false})
  self.bn1 = nn.BatchNorm2d(16)
  self.maxpool = nn.MaxPool2d(3, {stride = 2, padding = 1})
  self.layer1 = nn.Sequential(BasicBlock(16, 16), BasicBlock(16, 16))
  self.layer2 = nn.Sequential(BasicBlock(16, 32, 2), BasicBlock(32, 32))
  self.avgpool = nn.AdaptiveAvgPool2d({1, 1})
  self.fc = nn.Linear(32, classes)
end
function ResNet:forward(x)
  x = F.relu(self.bn1(self.conv1(x)), {inplace = true})
  x = self.maxpool(x)
  x = self.layer2(self.layer1(x))
  x = ohm.flatten(self.avgpool(x), 1)
  return self.fc(x)
end
model = ResNet():to("cuda")
criterion = nn.CrossEntropyLoss()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9, weight_decay = 0.0001, nesterov = true})
scheduler = ohm.optim.lr_scheduler.MultiStepLR(opt, {milestones = {1, 2}, gamma = 0.1})
running = 0.0
mark("model")
for step = 0, 3 - 1 do
  images = ohm.randn(4, 3, 64, 64):to("cuda")
  target = ohm.randint(0, 10, {4}):to("cuda")
  output = model(images)
  loss = criterion(output, target)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  scheduler:step()
  running = running + loss:item() * images:size(0)
  mark("step " .. step)
end
model:eval()
correct = 0
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 2 - 1 do
    images = ohm.randn(4, 3, 64, 64, {device = "cuda"})
    target = ohm.randint(0, 10, {4}, {device = "cuda"})
    _, predicted = ohm.max(model(images), 1)
    correct = correct + (predicted:eq(target)):sum():item()
  end
end
mark("eval")
mark("end of program (globals alive)")
model = nil
criterion = nil
opt = nil
scheduler = nil
images = nil
target = nil
output = nil
loss = nil
_ = nil
predicted = nil
mark("globals deleted")

--== model_resnet_channels_last
local BasicBlock, ResNet, model, criterion, opt, scheduler, running, images, target, output, loss, correct, _, predicted
BasicBlock = nn.Module:extend("BasicBlock")
function BasicBlock:__init(inputs, planes, stride)
  if stride == nil then stride = 1 end
  self.conv1 = nn.Conv2d(inputs, planes, 3, {stride = stride, padding = 1, bias = false})
  self.bn1 = nn.BatchNorm2d(planes)
  self.relu = nn.ReLU({inplace = true})
  self.conv2 = nn.Conv2d(planes, planes, 3, {padding = 1, bias = false})
  self.bn2 = nn.BatchNorm2d(planes)
  self.downsample = false
  if (stride ~= 1 or inputs ~= planes) then
    self.downsample = nn.Sequential(nn.Conv2d(inputs, planes, 1, {stride = stride, bias = false}), nn.BatchNorm2d(planes))
  end
end
function BasicBlock:forward(x)
  local identity, out
  identity = x
  out = self.conv1(x)
  out = self.bn1(out)
  out = self.relu(out)
  out = self.conv2(out)
  out = self.bn2(out)
  if self.downsample then
    identity = self.downsample(x)
  end
  out = iadd(out, identity)
  return self.relu(out)
end
ResNet = nn.Module:extend("ResNet")
function ResNet:__init(classes)
  if classes == nil then classes = 10 end
  self.conv1 = nn.Conv2d(3, 16, 7, {stride = 2, padding = 3, bias = false})
  self.bn1 = nn.BatchNorm2d(16)
  self.maxpool = nn.MaxPool2d(3, {stride = 2, padding = 1})
  self.layer1 = nn.Sequential(BasicBlock(16, 16), BasicBlock(16, 16))
  self.layer2 = nn.Sequential(BasicBlock(16, 32, 2), BasicBlock(32, 32))
  self.avgpool = nn.AdaptiveAvgPool2d({1, 1})
  self.fc = nn.Linear(32, classes)
end
function ResNet:forward(x)
  x = F.relu(self.bn1(self.conv1(x)), {inplace = true})
  x = self.maxpool(x)
  x = self.layer2(self.layer1(x))
  x = ohm.flatten(self.avgpool(x), 1)
  return self.fc(x)
end
model = ResNet():to("cuda", {memory_format = ohm.channels_last})
criterion = nn.CrossEntropyLoss()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9, weight_decay = 0.0001, nesterov = true})
scheduler = ohm.optim.lr_scheduler.MultiStepLR(opt, {milestones = {1, 2}, gamma = 0.1})
running = 0.0
mark("model")
for step = 0, 3 - 1 do
  images = ohm.randn(4, 3, 64, 64):to("cuda", {memory_format = ohm.channels_last})
  target = ohm.randint(0, 10, {4}):to("cuda")
  output = model(images)
  loss = criterion(output, target)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  scheduler:step()
  running = running + loss:item() * images:size(0)
  mark("step " .. step)
end
model:eval()
correct = 0
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 2 - 1 do
    images = ohm.randn(4, 3, 64, 64, {device = "cuda"})
    target = ohm.randint(0, 10, {4}, {device = "cuda"})
    _, predicted = ohm.max(model(images), 1)
    correct = correct + (predicted:eq(target)):sum():item()
  end
end
mark("eval")
mark("end of program (globals alive)")
model = nil
criterion = nil
opt = nil
scheduler = nil
images = nil
target = nil
output = nil
loss = nil
_ = nil
predicted = nil
mark("globals deleted")

--== model_resume
local new_model, train, model, optimizer, whole, state, rows, weight
function new_model()
  return nn.Sequential(
    nn.Linear(32, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 600, {bias = false})
  ):to("cuda")
end
function train(net, updates)
  local x = ohm.randn(64, 32, {device = "cuda"})
  local y = ohm.randint(0, 600, {64}, {device = "cuda"})
  updates:zero_grad()
  F.cross_entropy(net(x), y):backward()
  updates:step()
end
model = new_model()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 1 do
  train(model, optimizer)
  mark("step " .. step)
end
whole = ohm.randn(40, 300, {device = "cuda"})
ohm.save({
  model = model:state_dict(),
  optimizer = optimizer:state_dict(),
  step = 2,
  rows = whole:narrow(0, 3, 2),
  same_rows = whole:narrow(0, 4, 36),
}, "file")
mark("saved")
model, optimizer, whole = nil, nil, nil
mark("gone")
ohm.gc.collect()
mark("collected")
state = ohm.load("file")
mark("loaded")
model = new_model()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
model:load_state_dict(state.model)
mark("model taken")
optimizer:load_state_dict(state.optimizer)
mark("optimizer taken")
rows = state.rows * 2
state = nil
mark("state gone")
train(model, optimizer)
mark("step 2")
state = ohm.load("file", {map_location = "cpu"})
mark("loaded on the host")
model:load_state_dict(state.model)
optimizer:load_state_dict(state.optimizer)
mark("taken from the host")
state = nil
train(model, optimizer)
mark("step 3")
ohm.save(nn.Parameter(ohm.ones(700, {device = "cuda"})), "weight")
weight = ohm.load("weight", {map_location = "cuda:0"})
weight:sum():backward()
mark("parameter")
mark("end of program (globals alive)")
model = nil
optimizer = nil
rows = nil
weight = nil
mark("globals deleted")

--== model_retinanet
local anchors, classes, Backbone, FPN, Head, RetinaNet, focal_loss, giou_loss, model, optimizer, x, cls, box, total, labels, gt, onehot, positive, num, cls_loss, reg, reg_loss, iou, loss, scores, top, idx, which, label, boxes
ohm.backends.cudnn.enabled = true
anchors, classes = 3, 8
Backbone = nn.Module:extend("Backbone")
function Backbone:__init()
  self.c2 = nn.Sequential(nn.Conv2d(3, 16, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(16), nn.ReLU({inplace = true}))
  self.c3 = nn.Sequential(nn.Conv2d(16, 32, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(32), nn.ReLU({inplace = true}))
  self.c4 = nn.Sequential(nn.Conv2d(32, 64, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(64), nn.ReLU({inplace = true}))
end
function Backbone:forward(x)
  local c2, c3, c4
  c2 = self.c2(x)
  c3 = self.c3(c2)
  c4 = self.c4(c3)
  return c2, c3, c4
end
FPN = nn.Module:extend("FPN")
function FPN:__init(dim)
  if dim == nil then dim = 32 end
  self.lat2 = nn.Conv2d(16, dim, 1)
  self.lat3 = nn.Conv2d(32, dim, 1)
  self.lat4 = nn.Conv2d(64, dim, 1)
  self.out2 = nn.Conv2d(dim, dim, 3, {padding = 1})
  self.out3 = nn.Conv2d(dim, dim, 3, {padding = 1})
  self.out4 = nn.Conv2d(dim, dim, 3, {padding = 1})
  self.p6 = nn.Conv2d(dim, dim, 3, {stride = 2, padding = 1})
end
function FPN:forward(c2, c3, c4)
  local p4, p3, p2, p5
  p4 = self.lat4(c4)
  p3 = self.lat3(c3) + F.interpolate(p4, {size = {c3:size(-2), c3:size(-1)}, mode = "nearest"})
  p2 = self.lat2(c2) + F.interpolate(p3, {size = {c2:size(-2), c2:size(-1)}, mode = "nearest"})
  p2 = self.out2(p2)
  p3 = self.out3(p3)
  p4 = self.out4(p4)
  p5 = self.p6(F.relu(p4))
  return {p2, p3, p4, p5}
end
Head = nn.Module:extend("Head")
function Head:__init(dim, out)
  self.tower = nn.Sequential(nn.Conv2d(dim, dim, 3, {padding = 1}), nn.GroupNorm(8, dim), nn.ReLU(), nn.Conv2d(dim, dim, 3, {padding = 1}), nn.GroupNorm(8, dim), nn.ReLU())
  self.pred = nn.Conv2d(dim, anchors * out, 3, {padding = 1})
  self.out = out
end
function Head:forward(features)
  local outs, f, y, n, _, h, w
  outs = {}
  for _, item1 in ipairs(features) do
    f = item1
    y = self.pred(self.tower(f))
    n, _, h, w = table.unpack(y.shape)
    y = y:view(n, -1, self.out, h, w)
    y = y:permute(0, 3, 4, 1, 2)
    y = y:reshape(n, -1, self.out)
    outs[#outs + 1] = y
  end
  return ohm.cat(outs, {dim = 1})
end
RetinaNet = nn.Module:extend("RetinaNet")
function RetinaNet:__init()
  self.backbone = Backbone()
  self.fpn = FPN()
  self.cls = Head(32, classes)
  self.box = Head(32, 4)
end
function RetinaNet:forward(x)
  local c2, c3, c4, features, cls, box
  c2, c3, c4 = self.backbone(x)
  features = self.fpn(c2, c3, c4)
  cls = self.cls(features)
  box = self.box(features)
  return cls, box
end
function focal_loss(logits, targets, alpha, gamma)
  local p, ce, p_t, loss, alpha_t
  if gamma == nil then gamma = 2.0 end
  if alpha == nil then alpha = 0.25 end
  p = ohm.sigmoid(logits)
  ce = F.binary_cross_entropy_with_logits(logits, targets, {reduction = "none"})
  p_t = (p * targets) + ((1 - p) * (1 - targets))
  loss = ce * ((1 - p_t) ^ gamma)
  alpha_t = (alpha * targets) + ((1 - alpha) * (1 - targets))
  return (alpha_t * loss):sum()
end
function giou_loss(pred, target)
  local x1, y1, x2, y2, inter, area_p, area_t, union, iou, lt, rb, wh, area_c
  x1 = ohm.max(pred:select(-1, 0), target:select(-1, 0))
  y1 = ohm.max(pred:select(-1, 1), target:select(-1, 1))
  x2 = ohm.min(pred:select(-1, 2), target:select(-1, 2))
  y2 = ohm.min(pred:select(-1, 3), target:select(-1, 3))
  inter = (x2 - x1):clamp({min = 0}) * (y2 - y1):clamp({min = 0})
  area_p = (pred:select(-1, 2) - pred:select(-1, 0)) * (pred:select(-1, 3) - pred:select(-1, 1))
  area_t = (target:select(-1, 2) - target:select(-1, 0)) * (target:select(-1, 3) - target:select(-1, 1))
  union = (area_p + area_t) - inter
  iou = inter / (union + 1e-07)
  lt = ohm.min(slice(pred, -1, 0, 2), slice(target, -1, 0, 2))
  rb = ohm.max(slice(pred, -1, 2), slice(target, -1, 2))
  wh = (rb - lt):clamp({min = 0})
  area_c = wh:select(-1, 0) * wh:select(-1, 1)
  return (1 - iou) + ((area_c - union) / (area_c + 1e-07))
end
model = RetinaNet():cuda()
nn.init.constant_(model.cls.pred.bias, -math.log(99))
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.9, weight_decay = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(2, 3, 40, 40, {device = "cuda"})
  do
    local new1, new2 = model(x)
    cls = new1
    box = new2
  end
  mark("forward " .. step)
  total = cls:size(1)
  labels = ohm.randint(0, classes + 1, {2, total}, {device = "cuda"})
  gt = ohm.rand(2, total, 4, {device = "cuda"})
  onehot = slice(F.one_hot(labels, classes + 1), -1, 0, classes):float()
  positive = (labels:lt(classes)):float()
  num = positive:sum():clamp({min = 1.0})
  cls_loss = focal_loss(cls, onehot) / num
  reg = F.smooth_l1_loss(box, gt, {reduction = "none", beta = 0.11}):sum(-1)
  reg_loss = (reg * positive):sum() / num
  iou = (giou_loss(box:float(), gt) * positive):sum() / num
  loss = (cls_loss + reg_loss) + iou
  optimizer:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), {max_norm = 10.0, norm_type = 2})
  optimizer:step()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  do
    local new1, new2 = model(x)
    cls = new1
    box = new2
  end
  scores = cls:sigmoid():flatten(1)
  top, idx = scores:topk(20, {dim = 1})
  which = idx // classes
  label = idx % classes
  boxes = ohm.gather(box, 1, which:unsqueeze(-1):expand(-1, -1, 4))
  boxes = boxes:clamp_(0, 40)
end
mark("detected")
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
cls = nil
box = nil
total = nil
labels = nil
gt = nil
onehot = nil
positive = nil
num = nil
cls_loss = nil
reg = nil
reg_loss = nil
iou = nil
loss = nil
scores = nil
top = nil
idx = nil
which = nil
label = nil
boxes = nil
mark("globals deleted")

--== model_rnnt
-- x[i], of a tensor or a list
local function at(x, i)
  if not ohm.is_tensor(x) then
    if type(i) ~= "number" then return x[i] end
      return x[i < 0 and #x + 1 + i or i + 1]
  end
  if ohm.is_tensor(i) then return x:index({i}) end
  return x:select(0, i)
end

-- what a module gives, several values or a list
local function spread(first, ...)
  if type(first) == "table" and select("#", ...) == 0 then return table.unpack(first) end
  return first, ...
end

local RNNT, transducer_loss, model, optimizer, scheduler, x, y, loss
RNNT = nn.Module:extend("RNNT")
function RNNT:__init(features, hidden, vocabulary)
  if vocabulary == nil then vocabulary = 15 end
  if hidden == nil then hidden = 48 end
  if features == nil then features = 20 end
  self.encoder = nn.LSTM(features, hidden, {num_layers = 2, bidirectional = true, batch_first = true})
  self.project = nn.Linear(2 * hidden, hidden)
  self.embed = nn.Embedding(vocabulary, hidden, {padding_idx = 0})
  self.predictor = nn.GRU(hidden, hidden, {batch_first = true})
  self.joint = nn.Linear(hidden, vocabulary)
end
function RNNT:forward(x, y)
  local e, _, d
  do local results1 = self.encoder(x)
    local old = _
    e = results1[1]
    _ = {results1[2], results1[3]}
    if type(old) == 'table' then clear(old) end end
  e = self.project(e)
  do
    local new1, new2 = spread(self.predictor(self.embed(F.pad(y, {1, 0}))))
    d = new1
    local old = _
    _ = new2
    clear(old)
  end
  return self.joint(ohm.tanh(e:unsqueeze(2) + d:unsqueeze(1)))
end
function transducer_loss(logits, y)
  local logs, b, t, u, _, blank, labels, emit, alpha, rows, first, before, cells
  logs = F.log_softmax(logits, {dim = -1})
  b, t, u, _ = table.unpack(logs.shape)
  blank = logs:select(-1, 0)
  labels = slice(slice(y, 0, 0):unsqueeze(1), 2, 0):unsqueeze(3):expand(-1, t, -1, -1)
  emit = slice(slice(slice(logs, 0, 0), 1, 0), 2, 0, -1):gather(3, labels):squeeze(3)
  alpha = ohm.full({b, u}, -math.huge, {device = logs.device})
  rows = {}
  first = ohm.cat({ohm.zeros(b, 1, {device = logs.device}), slice(emit, 0, 0):select(1, 0):cumsum(1)}, {dim = 1})
  rows[#rows + 1] = first
  for i = 1, t - 1 do
    before = at(rows, -1) + slice(blank, 0, 0):select(1, i - 1)
    cells = {slice(before, 0, 0):select(1, 0)}
    for j = 1, u - 1 do
      cells[#cells + 1] = ohm.logaddexp(slice(before, 0, 0):select(1, j), at(cells, -1) + slice(emit, 0, 0):select(1, i):select(1, j - 1))
    end
    rows[#rows + 1] = ohm.stack(cells, 1)
  end
  return -(slice(at(rows, -1), 0, 0):select(1, -1) + slice(blank, 0, 0):select(1, -1):select(1, -1)):mean()
end
model = RNNT():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
scheduler = ohm.optim.lr_scheduler.OneCycleLR(optimizer, {max_lr = 0.01, total_steps = 10})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(3, 7, 20, {device = "cuda"})
  y = ohm.randint(1, 15, {3, 4}, {device = "cuda"})
  loss = transducer_loss(model(x, y), y)
  loss:backward()
  optimizer:step()
  scheduler:step()
  optimizer:zero_grad({set_to_none = false})
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== model_roi_mask
local roi_align, MaskRCNN, dice_loss, model, m, optimizer, image, corner, boxes, label, target, gt, logits, deltas, masks, rows, chosen, ce, reg, ml, losses, loss
function roi_align(feature, boxes, size)
  local n, _, c, h, w, steps, x, y, gx, gy, grid
  n = boxes:size(0)
  _, c, h, w = table.unpack(feature.shape)
  steps = (ohm.arange(size, {device = feature.device}):float() + 0.5) / size
  x = slice(slice(boxes, 0, 0), 1, 0, 1) + ((slice(slice(boxes, 0, 0), 1, 2, 3) - slice(slice(boxes, 0, 0), 1, 0, 1)) * steps)
  y = slice(slice(boxes, 0, 0), 1, 1, 2) + ((slice(slice(boxes, 0, 0), 1, 3, 4) - slice(slice(boxes, 0, 0), 1, 1, 2)) * steps)
  gx = slice(slice((((x / w) * 2) - 1), 0, 0):unsqueeze(1), 2, 0):expand(n, size, size)
  gy = slice(slice((((y / h) * 2) - 1), 0, 0), 1, 0):unsqueeze(2):expand(n, size, size)
  grid = ohm.stack({gx, gy}, {dim = -1})
  return F.grid_sample(feature:expand(n, -1, -1, -1), grid, {align_corners = false})
end
MaskRCNN = nn.Module:extend("MaskRCNN")
function MaskRCNN:__init(c, classes)
  if classes == nil then classes = 5 end
  if c == nil then c = 16 end
  self.backbone = nn.Sequential(nn.Conv2d(3, c, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(c), nn.ReLU({inplace = true}), nn.Conv2d(c, c, 3, {stride = 2, padding = 1}), nn.ReLU({inplace = true}))
  self.box = nn.Sequential(nn.Flatten(), nn.Linear(c * 16, 32), nn.ReLU(), nn.Linear(32, classes + (4 * classes)))
  self.mask = nn.Sequential(nn.Conv2d(c, c, 3, {padding = 1}), nn.ReLU({inplace = true}), nn.ConvTranspose2d(c, c, 2, {stride = 2}), nn.ReLU({inplace = true}), nn.Conv2d(c, classes, 1))
  self.classes = classes
end
function MaskRCNN:forward(image, boxes)
  local f, out, logits, deltas, masks
  f = self.backbone(image)
  out = self.box(roi_align(f, boxes, 4))
  logits, deltas = out:split({self.classes, 4 * self.classes}, {dim = 1})
  masks = self.mask(roi_align(f, boxes, 7))
  return logits, deltas:view(-1, self.classes, 4), masks
end
function dice_loss(logits, target)
  local p, t
  p = ohm.sigmoid(logits):flatten(1)
  t = target:flatten(1)
  return (1 - (((2 * (p * t):sum(-1)) + 1) / ((p:sum(-1) + t:sum(-1)) + 1))):mean()
end
model = MaskRCNN():cuda()
for _, item1 in ipairs(model:modules()) do
  m = item1
  if is_a(m, "Conv2d") then
    nn.init.kaiming_normal_(m.weight, {mode = "fan_out", nonlinearity = "relu"})
    nn.init.constant_(m.bias, 0)
  end
end
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.02, momentum = 0.9, weight_decay = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  image = ohm.rand(1, 3, 48, 48, {device = "cuda"})
  corner = ohm.rand(9, 2, {device = "cuda"}) * 6
  boxes = ohm.cat({corner, (corner + 3) + (ohm.rand(9, 2, {device = "cuda"}) * 3)}, {dim = 1})
  label = ohm.randint(0, 5, {9}, {device = "cuda"})
  target = ohm.randn(9, 4, {device = "cuda"})
  gt = (ohm.rand(9, 14, 14, {device = "cuda"}):gt(0.5)):float()
  do
    local new1, new2, new3 = model(image, boxes)
    logits = new1
    deltas = new2
    masks = new3
  end
  rows = ohm.arange(9, {device = "cuda"})
  chosen = masks:index({rows, label})
  ce = F.cross_entropy(logits, label)
  reg = F.smooth_l1_loss(deltas:index({rows, label}), target, {beta = 1.0 / 9, reduction = "sum"}) / label:numel()
  ml = F.binary_cross_entropy_with_logits(chosen, gt) + dice_loss(chosen, gt)
  losses = {ce = ce, reg = reg, mask = ml}
  loss = 0 + losses.ce + losses.reg + losses.mask
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
m = nil
optimizer = nil
image = nil
corner = nil
boxes = nil
label = nil
target = nil
gt = nil
logits = nil
deltas = nil
masks = nil
rows = nil
chosen = nil
ce = nil
reg = nil
ml = nil
losses = nil
loss = nil
mark("globals deleted")

--== model_rwkv
local TimeMix, ChannelMix, Block, RWKV, model, optimizer, data, logits, loss
TimeMix = nn.Module:extend("TimeMix")
function TimeMix:__init(d)
  self.time_decay = nn.Parameter(ohm.ones(d))
  self.time_first = nn.Parameter(ohm.ones(d) * 0.5)
  self.mix_k = nn.Parameter(ohm.ones(1, 1, d))
  self.mix_v = nn.Parameter(ohm.ones(1, 1, d))
  self.mix_r = nn.Parameter(ohm.ones(1, 1, d))
  self.time_shift = nn.ZeroPad2d({0, 0, 1, -1})
  self.key = nn.Linear(d, d, {bias = false})
  self.value = nn.Linear(d, d, {bias = false})
  self.receptance = nn.Linear(d, d, {bias = false})
  self.output = nn.Linear(d, d, {bias = false})
end
function TimeMix:forward(x)
  local B, T, C, xx, k, v, r, w, aa, bb, pp, out, kk, vv, ww, p, e1, e2
  B, T, C = table.unpack(x.shape)
  xx = self.time_shift(x)
  k = self.key((x * self.mix_k) + (xx * (1 - self.mix_k)))
  v = self.value((x * self.mix_v) + (xx * (1 - self.mix_v)))
  r = ohm.sigmoid(self.receptance((x * self.mix_r) + (xx * (1 - self.mix_r))))
  w = -ohm.exp(self.time_decay)
  aa = ohm.zeros(B, C, {device = x.device})
  bb = ohm.zeros(B, C, {device = x.device})
  pp = ohm.full({B, C}, -1e+38, {device = x.device})
  out = {}
  for t = 0, T - 1 do
    kk = slice(k, 0, 0):select(1, t)
    vv = slice(v, 0, 0):select(1, t)
    ww = self.time_first + kk
    p = ohm.maximum(pp, ww)
    e1 = ohm.exp(pp - p)
    e2 = ohm.exp(ww - p)
    out[#out + 1] = (((e1 * aa) + (e2 * vv)) / ((e1 * bb) + e2)):unsqueeze(1)
    ww = pp + w
    p = ohm.maximum(ww, kk)
    e1 = ohm.exp(ww - p)
    e2 = ohm.exp(kk - p)
    aa = (e1 * aa) + (e2 * vv)
    bb = (e1 * bb) + e2
    pp = p
  end
  return self.output(r * ohm.cat(out, {dim = 1}))
end
ChannelMix = nn.Module:extend("ChannelMix")
function ChannelMix:__init(d)
  self.time_shift = nn.ZeroPad2d({0, 0, 1, -1})
  self.mix_k = nn.Parameter(ohm.ones(1, 1, d))
  self.key = nn.Linear(d, 4 * d, {bias = false})
  self.receptance = nn.Linear(d, d, {bias = false})
  self.value = nn.Linear(4 * d, d, {bias = false})
end
function ChannelMix:forward(x)
  local xx, xk, k
  xx = self.time_shift(x)
  xk = ohm.lerp(xx, x, self.mix_k)
  k = ohm.square(ohm.relu(self.key(xk)))
  return ohm.sigmoid(self.receptance(xk)) * self.value(k)
end
Block = nn.Module:extend("Block")
function Block:__init(d)
  self.ln1 = nn.LayerNorm(d)
  self.ln2 = nn.LayerNorm(d)
  self.att = TimeMix(d)
  self.ffn = ChannelMix(d)
end
function Block:forward(x)
  x = x + self.att(self.ln1(x))
  x = x + self.ffn(self.ln2(x))
  return x
end
RWKV = nn.Module:extend("RWKV")
function RWKV:__init(vocab, d, layers)
  self.emb = nn.Embedding(vocab, d)
  self.blocks = nn.Sequential(collect(layers, function(i) return Block(d) end))
  self.ln_out = nn.LayerNorm(d)
  self.head = nn.Linear(d, vocab, {bias = false})
end
function RWKV:forward(idx, targets)
  local x, loss
  x = self.head(self.ln_out(self.blocks(self.emb(idx))))
  loss = nil
  if targets ~= nil then
    loss = F.cross_entropy(x:view(-1, x:size(-1)), targets:view(-1))
  end
  return x, loss
end
model = RWKV(60, 32, 2):cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.0006, betas = {0.9, 0.99}, eps = 1e-08})
mark("model")
for step = 0, 2 - 1 do
  data = ohm.randint(0, 60, {3, 9}, {device = "cuda"})
  logits, loss = model(slice(slice(data, 0, 0), 1, 0, -1):contiguous(), slice(slice(data, 0, 0), 1, 1):contiguous())
  optimizer:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
data = nil
logits = nil
loss = nil
mark("globals deleted")

--== model_sac
local Actor, Critic, actor, q1, q2, t1, t2, log_alpha, actor_opt, q_opt, alpha_opt, s, a, r, s2, alpha, a2, logp2, target, y, q_loss, pi, logp, actor_loss, alpha_loss, p, tp
Actor = nn.Module:extend("Actor")
function Actor:__init(obs, act, hidden)
  if hidden == nil then hidden = 64 end
  self.net = nn.Sequential(nn.Linear(obs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
  self.mean = nn.Linear(hidden, act)
  self.log_std = nn.Linear(hidden, act)
end
function Actor:forward(x)
  local h, mean, log_std, std, u, action, logp
  h = self.net(x)
  mean = self.mean(h)
  log_std = ohm.clamp(self.log_std(h), -5, 2)
  std = log_std:exp()
  u = mean + (std * ohm.randn_like(std))
  action = ohm.tanh(u)
  logp = (((-((u - mean) ^ 2)) / (2 * (std ^ 2))) - log_std) - math.log(math.sqrt(2 * math.pi))
  logp = logp - ohm.log((1 - action:pow(2)) + 1e-06)
  return action, logp:sum(1, {keepdim = true})
end
Critic = nn.Module:extend("Critic")
function Critic:__init(obs, act, hidden)
  if hidden == nil then hidden = 64 end
  self.net = nn.Sequential(nn.Linear(obs + act, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
end
function Critic:forward(s, a)
  return self.net(ohm.cat({s, a}, {dim = 1}))
end
actor = Actor(6, 2):cuda()
q1, q2 = Critic(6, 2):cuda(), Critic(6, 2):cuda()
t1, t2 = ohm.copy.deepcopy(q1), ohm.copy.deepcopy(q2)
log_alpha = ohm.zeros(1, {requires_grad = true, device = "cuda"})
actor_opt = ohm.optim.Adam(actor:parameters(), {lr = 0.0003})
q_opt = ohm.optim.Adam(joined(q1:parameters(), q2:parameters()), {lr = 0.0003})
alpha_opt = ohm.optim.Adam({log_alpha}, {lr = 0.0003})
mark("models")
for step = 0, 2 - 1 do
  s = ohm.randn(32, 6, {device = "cuda"})
  a = (ohm.rand(32, 2, {device = "cuda"}) * 2) - 1
  r = ohm.randn(32, 1, {device = "cuda"})
  s2 = ohm.randn(32, 6, {device = "cuda"})
  alpha = log_alpha:exp():item()
  do
    local mode1 <close> = ohm.no_grad()
    a2, logp2 = actor(s2)
    target = ohm.min(t1(s2, a2), t2(s2, a2)) - (alpha * logp2)
    y = r + (0.99 * target)
  end
  q_loss = F.mse_loss(q1(s, a), y) + F.mse_loss(q2(s, a), y)
  q_opt:zero_grad()
  q_loss:backward()
  q_opt:step()
  mark("critics " .. step)
  pi, logp = actor(s)
  actor_loss = ((alpha * logp) - ohm.min(q1(s, pi), q2(s, pi))):mean()
  actor_opt:zero_grad()
  actor_loss:backward()
  actor_opt:step()
  mark("actor " .. step)
  alpha_loss = -(log_alpha * (logp:detach() - 2)):mean()
  alpha_opt:zero_grad()
  alpha_loss:backward()
  alpha_opt:step()
  do
    local list2_2 = t1:parameters()
    for number2, item2 in ipairs(q1:parameters()) do
      p = item2
      tp = list2_2[number2]
      tp.data:copy_((0.005 * p.data) + (0.995 * tp.data))
    end
  end
  do
    local list3_2 = t2:parameters()
    for number3, item3 in ipairs(q2:parameters()) do
      p = item3
      tp = list3_2[number3]
      tp.data:copy_((0.005 * p.data) + (0.995 * tp.data))
    end
  end
  mark("targets " .. step)
end
mark("end of program (globals alive)")
actor = nil
q1 = nil
q2 = nil
t1 = nil
t2 = nil
log_alpha = nil
actor_opt = nil
q_opt = nil
alpha_opt = nil
s = nil
a = nil
r = nil
s2 = nil
alpha = nil
a2 = nil
logp2 = nil
target = nil
y = nil
q_loss = nil
pi = nil
logp = nil
actor_loss = nil
alpha_loss = nil
p = nil
tp = nil
mark("globals deleted")

--== model_sam
local model, base, rho, grad_norm, x, y, loss, old, scale, p, e_w, o
model = nn.Sequential(nn.Conv2d(3, 8, 3, {padding = 1}), nn.GroupNorm(2, 8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, {padding = 1}), nn.GroupNorm(4, 16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)):cuda()
base = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9, weight_decay = 0.0005})
rho = 0.05
function grad_norm()
  return ohm.norm(ohm.stack(map(function(p) return p.grad:norm({p = 2}) end, model:parameters())), {p = 2})
end
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(8, 3, 16, 16, {device = "cuda"})
  y = ohm.randint(0, 10, {8}, {device = "cuda"})
  loss = F.cross_entropy(model(x), y, {label_smoothing = 0.1})
  loss:backward()
  mark("first " .. step)
  old = {}
  do
    local mode1 <close> = ohm.no_grad()
    scale = rho / (grad_norm() + 1e-12)
    for _, item2 in ipairs(model:parameters()) do
      p = item2
      old[#old + 1] = p.data:clone()
      e_w = p.grad * scale
      p:add_(e_w)
    end
  end
  base:zero_grad()
  mark("perturbed " .. step)
  F.cross_entropy(model(x), y, {label_smoothing = 0.1}):backward()
  do
    local mode3 <close> = ohm.no_grad()
    do
      local list4_2 = old
      for number4, item4 in ipairs(model:parameters()) do
        p = item4
        o = list4_2[number4]
        p.data:copy_(o)
      end
    end
  end
  base:step()
  base:zero_grad()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
base = nil
x = nil
y = nil
loss = nil
old = nil
scale = nil
p = nil
e_w = nil
o = nil
mark("globals deleted")

--== model_score_sde
local GaussianFourier, Dense, ScoreNet, marginal_std, model, ema, p, optimizer, x, t, z, std, perturbed, score, loss, q, x1, x0, xt, r, xr, v, goal, flow, consistency, time_steps, step_size, batch_time_step, grad, grad_norm, langevin, g, x_mean
GaussianFourier = nn.Module:extend("GaussianFourier")
function GaussianFourier:__init(dim, scale)
  if scale == nil then scale = 30.0 end
  self.W = nn.Parameter(ohm.randn(dim // 2) * scale, {requires_grad = false})
end
function GaussianFourier:forward(x)
  local x_proj
  x_proj = ((slice(x, 0, 0):unsqueeze(1) * slice(self.W:unsqueeze(0), 1, 0)) * 2) * math.pi
  return ohm.cat({ohm.sin(x_proj), ohm.cos(x_proj)}, {dim = -1})
end
Dense = nn.Module:extend("Dense")
function Dense:__init(i, o)
  self.dense = nn.Linear(i, o)
end
function Dense:forward(x)
  return self.dense(x):unsqueeze(-1):unsqueeze(-1)
end
ScoreNet = nn.Module:extend("ScoreNet")
function ScoreNet:__init(channels, dim)
  if dim == nil then dim = 32 end
  if channels == nil then channels = {16, 32, 48} end
  self.embed = nn.Sequential(GaussianFourier(dim), nn.Linear(dim, dim))
  self.conv1 = nn.Conv2d(1, 16, 3, {stride = 1, bias = false})
  self.dense1 = Dense(dim, 16)
  self.gnorm1 = nn.GroupNorm(4, 16)
  self.conv2 = nn.Conv2d(16, 32, 3, {stride = 2, bias = false})
  self.dense2 = Dense(dim, 32)
  self.gnorm2 = nn.GroupNorm(32, 32)
  self.conv3 = nn.Conv2d(32, 48, 3, {stride = 2, bias = false})
  self.dense3 = Dense(dim, 48)
  self.gnorm3 = nn.GroupNorm(16, 48)
  self.tconv3 = nn.ConvTranspose2d(48, 32, 3, {stride = 2, bias = false, output_padding = 1})
  self.dense4 = Dense(dim, 32)
  self.tgnorm3 = nn.GroupNorm(32, 32)
  self.tconv2 = nn.ConvTranspose2d(64, 16, 3, {stride = 2, bias = false, output_padding = 1})
  self.dense5 = Dense(dim, 16)
  self.tgnorm2 = nn.GroupNorm(16, 16)
  self.tconv1 = nn.ConvTranspose2d(32, 1, 3, {stride = 1})
end
function ScoreNet:act(x)
  return x * ohm.sigmoid(x)
end
function ScoreNet:forward(x, t)
  local embed, h1, h2, h3, h
  embed = self:act(self.embed(t))
  h1 = self.conv1(x)
  h1 = iadd(h1, self.dense1(embed))
  h1 = self:act(self.gnorm1(h1))
  h2 = self.conv2(h1)
  h2 = iadd(h2, self.dense2(embed))
  h2 = self:act(self.gnorm2(h2))
  h3 = self.conv3(h2)
  h3 = iadd(h3, self.dense3(embed))
  h3 = self:act(self.gnorm3(h3))
  h = self.tconv3(h3)
  h = iadd(h, self.dense4(embed))
  h = self:act(self.tgnorm3(h))
  h = self.tconv2(ohm.cat({h, h2}, {dim = 1}))
  h = iadd(h, self.dense5(embed))
  h = self:act(self.tgnorm2(h))
  h = self.tconv1(ohm.cat({h, h1}, {dim = 1}))
  h = h / slice(marginal_std(t), 0, 0):unsqueeze(1):unsqueeze(2):unsqueeze(3)
  return h
end
function marginal_std(t)
  return ohm.sqrt((((25.0 ^ (2 * t)) - 1.0) / 2.0) / math.log(25.0))
end
model = ScoreNet():cuda()
ema = ohm.copy.deepcopy(model)
for _, item1 in ipairs(ema:parameters()) do
  p = item1
  p:requires_grad_(false)
end
optimizer = ohm.optim.Adam(filter(model:parameters(), function(p) return p.requires_grad end), {lr = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.rand(4, 1, 20, 20, {device = "cuda"})
  t = (ohm.rand(x:size(0), {device = x.device}) * (1.0 - 1e-05)) + 1e-05
  z = ohm.randn_like(x)
  std = marginal_std(t)
  perturbed = x + (z * slice(std, 0, 0):unsqueeze(1):unsqueeze(2):unsqueeze(3))
  score = model(perturbed, t)
  loss = ohm.mean(ohm.sum(((score * slice(std, 0, 0):unsqueeze(1):unsqueeze(2):unsqueeze(3)) + z) ^ 2, {dim = {1, 2, 3}}))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  do
    local mode2 <close> = ohm.no_grad()
    do
      local list3_2 = model:parameters()
      for number3, item3 in ipairs(ema:parameters()) do
        q = item3
        p = list3_2[number3]
        q:lerp_(p, 0.01)
      end
    end
  end
  mark("dsm " .. step)
end
for step = 0, 2 - 1 do
  x1 = ohm.rand(4, 1, 20, 20, {device = "cuda"})
  x0 = ohm.randn_like(x1)
  t = ohm.rand(4, {device = "cuda"}):clamp(0.001, 1)
  xt = (t:view(-1, 1, 1, 1) * x1) + ((1 - t:view(-1, 1, 1, 1)) * x0)
  r = (t + 0.05):clamp({max = 1.0})
  xr = (r:view(-1, 1, 1, 1) * x1) + ((1 - r:view(-1, 1, 1, 1)) * x0)
  v = model(xt, t)
  do
    local mode4 <close> = ohm.no_grad()
    goal = ema(xr, r)
  end
  flow = F.mse_loss(v, x1 - x0)
  consistency = ohm.sqrt((v - goal):square():mean({dim = {1, 2, 3}}) + 1e-06) - 0.001
  loss = flow + consistency:mean()
  optimizer:zero_grad({set_to_none = false})
  loss:backward()
  optimizer:step()
  mark("flow " .. step)
end
model:eval()
do
  local mode5 <close> = ohm.no_grad()
  t = ohm.ones(2, {device = "cuda"})
  x = ohm.randn(2, 1, 20, 20, {device = "cuda"}) * slice(marginal_std(t), 0, 0):unsqueeze(1):unsqueeze(2):unsqueeze(3)
  time_steps = ohm.linspace(1.0, 0.001, 4, {device = "cuda"})
  step_size = time_steps:select(0, 0) - time_steps:select(0, 1)
  for i = 0, 4 - 1 do
    batch_time_step = ohm.ones(2, {device = "cuda"}) * time_steps:select(0, i)
    grad = model(x, batch_time_step)
    grad_norm = ohm.norm(grad:reshape(grad:size(0), -1), {dim = -1}):mean()
    langevin = 2 * (((0.16 * 18) / grad_norm) ^ 2)
    x = (x + (langevin * grad)) + (ohm.sqrt(2 * langevin) * ohm.randn_like(x))
    g = 25.0 ^ batch_time_step
    x_mean = x + ((slice((g ^ 2), 0, 0):unsqueeze(1):unsqueeze(2):unsqueeze(3) * model(x, batch_time_step)) * step_size)
    x = x_mean + (slice(ohm.sqrt((g ^ 2) * step_size), 0, 0):unsqueeze(1):unsqueeze(2):unsqueeze(3) * ohm.randn_like(x))
  end
  mark("sampled")
end
mark("end of program (globals alive)")
model = nil
ema = nil
p = nil
optimizer = nil
x = nil
t = nil
z = nil
std = nil
perturbed = nil
score = nil
loss = nil
q = nil
x1 = nil
x0 = nil
xt = nil
r = nil
xr = nil
v = nil
goal = nil
flow = nil
consistency = nil
time_steps = nil
step_size = nil
batch_time_step = nil
grad = nil
grad_norm = nil
langevin = nil
g = nil
x_mean = nil
mark("globals deleted")

--== model_seg_losses
local DoubleConv, AttentionGate, NestedUNet, TverskyLoss, lovasz_grad, lovasz, boundary, model, optimizer, tversky, x, y, aux, out, weights, ce, pt, focal, loss
DoubleConv = nn.Module:extend("DoubleConv")
function DoubleConv:__init(i, o)
  self.net = nn.Sequential(nn.Conv2d(i, o, 3, {padding = 1}), nn.BatchNorm2d(o), nn.LeakyReLU(0.1, {inplace = true}), nn.Conv2d(o, o, 3, {padding = 1}), nn.BatchNorm2d(o), nn.LeakyReLU(0.1, {inplace = true}))
end
function DoubleConv:forward(x)
  return self.net(x)
end
AttentionGate = nn.Module:extend("AttentionGate")
function AttentionGate:__init(g, x, inner)
  self.W_g = nn.Conv2d(g, inner, 1)
  self.W_x = nn.Conv2d(x, inner, 1)
  self.psi = nn.Sequential(nn.Conv2d(inner, 1, 1), nn.Sigmoid())
end
function AttentionGate:forward(g, x)
  return x * self.psi(F.relu(self.W_g(g) + self.W_x(x), {inplace = true}))
end
NestedUNet = nn.Module:extend("NestedUNet")
function NestedUNet:__init(classes)
  local f
  f = {12, 24, 48}
  self.pool = nn.MaxPool2d(2, 2)
  self.up = nn.Upsample({scale_factor = 2, mode = "bilinear", align_corners = true})
  self.conv0_0 = DoubleConv(3, f[1])
  self.conv1_0 = DoubleConv(f[1], f[2])
  self.conv2_0 = DoubleConv(f[2], f[3])
  self.conv0_1 = DoubleConv(f[1] + f[2], f[1])
  self.conv1_1 = DoubleConv(f[2] + f[3], f[2])
  self.conv0_2 = DoubleConv((f[1] * 2) + f[2], f[1])
  self.gate = AttentionGate(f[2], f[1], 8)
  self.final1 = nn.Conv2d(f[1], classes, 1)
  self.final2 = nn.Conv2d(f[1], classes, 1)
end
function NestedUNet:forward(x)
  local x0_0, x1_0, x0_1, x2_0, x1_1, g, x0_2
  x0_0 = self.conv0_0(x)
  x1_0 = self.conv1_0(self.pool(x0_0))
  x0_1 = self.conv0_1(ohm.cat({x0_0, self.up(x1_0)}, 1))
  x2_0 = self.conv2_0(self.pool(x1_0))
  x1_1 = self.conv1_1(ohm.cat({x1_0, self.up(x2_0)}, 1))
  g = self.up(x1_1)
  x0_2 = self.conv0_2(ohm.cat({self.gate(g, x0_0), x0_1, g}, 1))
  return self.final1(x0_1), self.final2(x0_2)
end
TverskyLoss = nn.Module:extend("TverskyLoss")
function TverskyLoss:__init(alpha, beta, gamma)
  self.alpha = alpha
  self.beta = beta
  self.gamma = gamma
end
function TverskyLoss:forward(logits, target)
  local probs, onehot, dims, tp, fp, fn, tversky
  probs = logits:softmax(1)
  onehot = F.one_hot(target, logits:size(1)):permute(0, 3, 1, 2):float()
  dims = {0, 2, 3}
  tp = (probs * onehot):sum(dims)
  fp = (probs * (1 - onehot)):sum(dims)
  fn = ((1 - probs) * onehot):sum(dims)
  tversky = (tp + 1) / (((tp + (self.alpha * fp)) + (self.beta * fn)) + 1)
  return ((1 - tversky) ^ self.gamma):mean()
end
function lovasz_grad(sorted_truth)
  local p, gts, intersection, union, jaccard
  p = sorted_truth:size(0)
  gts = sorted_truth:sum()
  intersection = gts - sorted_truth:cumsum(0)
  union = gts + (1 - sorted_truth):cumsum(0)
  jaccard = 1.0 - (intersection / union)
  slice(jaccard, 0, 1, p):copy_(slice(jaccard, 0, 1, p) - slice(jaccard, 0, 0, -1))
  return jaccard
end
function lovasz(logits, target, classes)
  local probs, labels, losses, fg, errors, errors_sorted, perm
  probs = logits:softmax(1):permute(0, 2, 3, 1):reshape(-1, classes)
  labels = target:view(-1)
  losses = {}
  for c = 0, classes - 1 do
    fg = (labels:eq(c)):float()
    errors = (fg - slice(probs, 0, 0):select(1, c)):abs()
    errors_sorted, perm = ohm.sort(errors, 0, {descending = true})
    losses[#losses + 1] = ohm.dot(errors_sorted, lovasz_grad(fg:index({perm})))
  end
  return ohm.stack(losses):mean()
end
function boundary(target)
  local t, dilated, eroded
  t = target:unsqueeze(1):float()
  dilated = F.max_pool2d(t, 3, {stride = 1, padding = 1})
  eroded = -F.max_pool2d(-t, 3, {stride = 1, padding = 1})
  return (dilated - eroded):clamp(0, 1):squeeze(1)
end
model = NestedUNet(4):to("cuda", {memory_format = ohm.channels_last})
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
tversky = TverskyLoss(0.3, 0.7, 0.75)
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(2, 3, 32, 32, {device = "cuda"}):to({memory_format = ohm.channels_last})
  y = ohm.randint(0, 4, {2, 32, 32}, {device = "cuda"})
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    aux, out = model(x)
  end
  weights = 1 + (4 * boundary(y))
  ce = F.cross_entropy(out:float(), y, {weight = ohm.tensor({0.5, 1.0, 1.0, 2.0}, {device = "cuda"}), reduction = "none"})
  pt = ohm.exp(-ce)
  focal = ((((1 - pt) ^ 2) * ce) * weights):mean()
  loss = ((focal + tversky(out:float(), y)) + (0.4 * F.cross_entropy(aux:float(), y))) + (0.5 * lovasz(out:float(), y, 4))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
tversky = nil
x = nil
y = nil
aux = nil
out = nil
weights = nil
ce = nil
pt = nil
focal = nil
loss = nil
mark("globals deleted")

--== model_seq2seq
local vocab, hidden, length, batch, Encoder, Attention, Decoder, encoder, decoder, enc_opt, dec_opt, criterion, source, target, keys, h, logp, _, loss
vocab, hidden, length, batch = 200, 64, 7, 8
Encoder = nn.Module:extend("Encoder")
function Encoder:__init()
  self.embedding = nn.Embedding(vocab, hidden)
  self.gru = nn.GRU(hidden, hidden, {batch_first = true})
  self.dropout = nn.Dropout(0.1)
end
function Encoder:forward(x)
  local output, h
  output, h = several(self.gru(self.dropout(self.embedding(x))))
  return output, h
end
Attention = nn.Module:extend("Attention")
function Attention:__init()
  self.Wa = nn.Linear(hidden, hidden)
  self.Ua = nn.Linear(hidden, hidden)
  self.Va = nn.Linear(hidden, 1)
end
function Attention:forward(query, keys)
  local scores, weights, context
  scores = self.Va(ohm.tanh(self.Wa(query) + self.Ua(keys)))
  scores = scores:squeeze(2):unsqueeze(1)
  weights = F.softmax(scores, {dim = -1})
  context = ohm.bmm(weights, keys)
  return context, weights
end
Decoder = nn.Module:extend("Decoder")
function Decoder:__init()
  self.embedding = nn.Embedding(vocab, hidden)
  self.attention = Attention()
  self.gru = nn.GRU(2 * hidden, hidden, {batch_first = true})
  self.out = nn.Linear(hidden, vocab)
  self.dropout = nn.Dropout(0.1)
end
function Decoder:forward(keys, h, target)
  local x, outputs, attentions, embedded, query, context, weights, output
  x = ohm.zeros(batch, 1, {dtype = ohm.int64, device = "cuda"})
  outputs = {}
  attentions = {}
  for t = 0, length - 1 do
    embedded = self.dropout(self.embedding(x))
    query = h:permute(1, 0, 2)
    context, weights = self.attention(query, keys)
    output, h = several(self.gru(ohm.cat({embedded, context}, {dim = 2}), h))
    output = self.out(output)
    outputs[#outputs + 1] = output
    attentions[#attentions + 1] = weights
    if target ~= nil then
      x = slice(target, 0, 0):select(1, t):unsqueeze(1)
    else
      x = second(output:topk(1)):squeeze(-1):detach()
    end
  end
  outputs = ohm.cat(outputs, {dim = 1})
  attentions = ohm.cat(attentions, {dim = 1})
  return F.log_softmax(outputs, {dim = -1}), h, attentions
end
encoder = Encoder():cuda()
decoder = Decoder():cuda()
enc_opt = ohm.optim.Adam(encoder:parameters(), {lr = 0.001})
dec_opt = ohm.optim.Adam(decoder:parameters(), {lr = 0.001})
criterion = nn.NLLLoss()
mark("models")
for step = 0, 2 - 1 do
  source = ohm.randint(0, vocab, {batch, length}, {device = "cuda"})
  target = ohm.randint(0, vocab, {batch, length}, {device = "cuda"})
  enc_opt:zero_grad()
  dec_opt:zero_grad()
  keys, h = encoder(source)
  logp, h, _ = decoder(keys, h, (step == 0 and target or nil))
  loss = criterion(logp:view(-1, vocab), target:view(-1))
  mark("forward " .. step)
  loss:backward()
  enc_opt:step()
  dec_opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
encoder = nil
decoder = nil
enc_opt = nil
dec_opt = nil
criterion = nil
source = nil
target = nil
keys = nil
h = nil
logp = nil
_ = nil
loss = nil
mark("globals deleted")

--== model_set_perceiver
local MAB, ISAB, Perceiver, model, optimizer, x, target, pred, w, cost, chamfer, loss
MAB = nn.Module:extend("MAB")
function MAB:__init(dim_q, dim_k, dim_v, heads)
  self.dim_v = dim_v
  self.heads = heads
  self.fc_q = nn.Linear(dim_q, dim_v)
  self.fc_k = nn.Linear(dim_k, dim_v)
  self.fc_v = nn.Linear(dim_k, dim_v)
  self.ln0 = nn.LayerNorm(dim_v)
  self.ln1 = nn.LayerNorm(dim_v)
  self.fc_o = nn.Linear(dim_v, dim_v)
end
function MAB:forward(q, k)
  local v, split, q_, k_, v_, a, o
  q = self.fc_q(q)
  do
    local new1, new2 = self.fc_k(k), self.fc_v(k)
    k = new1
    v = new2
  end
  split = self.dim_v // self.heads
  q_ = ohm.cat({q:split(split, 2)}, 0)
  k_ = ohm.cat({k:split(split, 2)}, 0)
  v_ = ohm.cat({v:split(split, 2)}, 0)
  a = ohm.softmax(q_:bmm(k_:transpose(1, 2)) / 8.0, 2)
  o = ohm.cat({(q_ + a:bmm(v_)):split(q:size(0), 0)}, 2)
  o = self.ln0(o)
  o = o + F.relu(self.fc_o(o))
  o = self.ln1(o)
  return o
end
ISAB = nn.Module:extend("ISAB")
function ISAB:__init(dim_in, dim, heads, inducing)
  self.I = nn.Parameter(ohm.empty(1, inducing, dim))
  nn.init.xavier_uniform_(self.I)
  self.mab0 = MAB(dim, dim_in, dim, heads)
  self.mab1 = MAB(dim_in, dim, dim, heads)
end
function ISAB:forward(x)
  local h
  h = self.mab0(repeated(self.I, x:size(0), 1, 1), x)
  return self.mab1(x, h)
end
Perceiver = nn.Module:extend("Perceiver")
function Perceiver:__init()
  self.isab = ISAB(6, 64, 4, 8)
  self.latents = nn.Parameter(ohm.randn(12, 64))
  self.cross = nn.MultiheadAttention(64, 4, {batch_first = true})
  self.norm = nn.LayerNorm(64)
  self.ff = nn.Sequential(nn.Linear(64, 128 * 2), nn.GLU({dim = -1}), nn.Linear(128, 64))
  self.self_attn = nn.MultiheadAttention(64, 4, {dropout = 0.1, batch_first = true})
  self.decoder_query = nn.Parameter(ohm.randn(3, 64))
  self.decode = nn.MultiheadAttention(64, 1, {batch_first = true})
  self.out = nn.Linear(64, 2)
end
function Perceiver:forward(x)
  local b, ctx, z, a, _, n, w, q, d
  b = x:size(0)
  ctx = self.isab(x)
  z = self.latents:unsqueeze(0):expand(b, -1, -1)
  for i = 0, 2 - 1 do
    do
      local new1, new2 = self.cross(self.norm(z), ctx, ctx, {need_weights = false})
      a = new1
      _ = new2
    end
    z = z + a
    n = self.norm(z)
    do
      local new1, new2 = several(self.self_attn(n, n, n, {average_attn_weights = false}))
      a = new1
      w = new2
    end
    z = z + a
    z = z + self.ff(self.norm(z))
  end
  q = self.decoder_query:expand(b, -1, -1)
  do
    local new1, new2 = several(self.decode(q, z, z))
    d = new1
    _ = new2
  end
  return self.out(d), w
end
model = Perceiver():cuda()
optimizer = ohm.optim.RAdam(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(4, 30, 6, {device = "cuda"})
  target = ohm.randn(4, 3, 2, {device = "cuda"})
  do
    local new1, new2 = model(x)
    pred = new1
    w = new2
  end
  cost = (pred:unsqueeze(2) - target:unsqueeze(1)):norm({dim = -1})
  chamfer = (cost:min(1)):mean() + (cost:min(2)):mean()
  loss = chamfer + (0.01 * w:pow(2):mean())
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
target = nil
pred = nil
w = nil
cost = nil
chamfer = nil
loss = nil
mark("globals deleted")

--== model_shufflenet
local shuffle, Unit, Fire, Ghost, model, optimizer, scheduler, scaler, accumulate, x, y, loss
function shuffle(x, groups)
  local b, c, h, w
  b, c, h, w = table.unpack(x.shape)
  x = x:view(b, groups, c // groups, h, w)
  x = ohm.transpose(x, 1, 2):contiguous()
  return x:view(b, -1, h, w)
end
Unit = nn.Module:extend("Unit")
function Unit:__init(inputs, outputs, stride)
  local half, begin
  self.stride = stride
  half = outputs // 2
  if stride > 1 then
    self.left = nn.Sequential(nn.Conv2d(inputs, inputs, 3, stride, 1, {groups = inputs, bias = false}), nn.BatchNorm2d(inputs), nn.Conv2d(inputs, half, 1, {bias = false}), nn.BatchNorm2d(half), nn.ReLU({inplace = true}))
  else
    self.left = nn.Sequential()
  end
  begin = (stride > 1 and inputs or half)
  self.right = nn.Sequential(nn.Conv2d(begin, half, 1, {bias = false}), nn.BatchNorm2d(half), nn.ReLU({inplace = true}), nn.Conv2d(half, half, 3, stride, 1, {groups = half, bias = false}), nn.BatchNorm2d(half), nn.Conv2d(half, half, 1, {bias = false}), nn.BatchNorm2d(half), nn.ReLU({inplace = true}))
end
function Unit:forward(x)
  local x1, x2, out
  if self.stride == 1 then
    x1, x2 = x:chunk(2, {dim = 1})
    out = ohm.cat({x1, self.right(x2)}, {dim = 1})
  else
    out = ohm.cat({self.left(x), self.right(x)}, {dim = 1})
  end
  return shuffle(out, 2)
end
Fire = nn.Module:extend("Fire")
function Fire:__init(inputs, squeeze, expand)
  self.squeeze = nn.Conv2d(inputs, squeeze, 1)
  self.e1 = nn.Conv2d(squeeze, expand, 1)
  self.e3 = nn.Conv2d(squeeze, expand, 3, {padding = 1})
  self.act = nn.ReLU({inplace = true})
end
function Fire:forward(x)
  x = self.act(self.squeeze(x))
  return ohm.cat({self.act(self.e1(x)), self.act(self.e3(x))}, 1)
end
Ghost = nn.Module:extend("Ghost")
function Ghost:__init(inputs, outputs)
  self.primary = nn.Sequential(nn.Conv2d(inputs, outputs // 2, 1, {bias = false}), nn.BatchNorm2d(outputs // 2), nn.ReLU({inplace = true}))
  self.cheap = nn.Sequential(nn.Conv2d(outputs // 2, outputs // 2, 3, {padding = 1, groups = outputs // 2, bias = false}), nn.BatchNorm2d(outputs // 2), nn.ReLU({inplace = true}))
  self.outputs = outputs
end
function Ghost:forward(x)
  local a
  a = self.primary(x)
  return slice(slice(ohm.cat({a, self.cheap(a)}, {dim = 1}), 0, 0), 1, 0, self.outputs)
end
model = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.MaxPool2d(3, 2, 1), Unit(16, 32, 2), Unit(32, 32, 1), Fire(32, 8, 16), Ghost(32, 48), nn.Conv2d(48, 10, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()):cuda()
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9})
scheduler = ohm.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, {T_0 = 2})
scaler = ohm.amp.GradScaler()
mark("model")
accumulate = 2
for step = 0, 4 - 1 do
  x = ohm.randn(8, 3, 64, 64, {device = "cuda"})
  y = ohm.randint(10, {8}, {device = "cuda"})
  do
    local mode1 <close> = ohm.autocast({device_type = "cuda", dtype = ohm.bfloat16})
    loss = F.cross_entropy(model(x), y) / accumulate
  end
  scaler:scale(loss):backward()
  if ((step + 1) % accumulate) == 0 then
    scaler:unscale_(optimizer)
    nn.utils.clip_grad_norm_(model:parameters(), 5.0)
    scaler:step(optimizer)
    scaler:update()
    optimizer:zero_grad({set_to_none = true})
    scheduler:step()
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
scaler = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== model_side_stream
local model, optimizer, copy_stream, stats_stream, ready, totals, host, labels, x_next, y_next, x, y, out, loss, scores, mean, grads
model = nn.Sequential(nn.Linear(257, 515), nn.ReLU(), nn.Linear(515, 515), nn.ReLU(), nn.Linear(515, 17)):cuda()
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.05})
copy_stream = ohm.cuda.Stream()
stats_stream = ohm.cuda.Stream()
ready = ohm.cuda.Event()
totals = ohm.zeros(17, {device = "cuda"})
mark("model")
host = collect(4, function(i) return ohm.randn(70, 257):pin_memory() end)
labels = collect(4, function(i) return ohm.randint(0, 17, {70}):pin_memory() end)
do
  local mode1 <close> = ohm.cuda.stream(copy_stream)
  x_next = host[1]:to("cuda", {non_blocking = true})
  y_next = labels[1]:to("cuda", {non_blocking = true})
end
for step = 0, 4 - 1 do
  ohm.cuda.current_stream():wait_stream(copy_stream)
  x, y = x_next, y_next
  x:record_stream(ohm.cuda.current_stream())
  y:record_stream(ohm.cuda.current_stream())
  if (step + 1) < 4 then
    do
      local mode2 <close> = ohm.cuda.stream(copy_stream)
      x_next = host[step + 1 + 1]:to("cuda", {non_blocking = true})
      y_next = labels[step + 1 + 1]:to("cuda", {non_blocking = true})
    end
  end
  out = model(x)
  loss = F.cross_entropy(out, y)
  optimizer:zero_grad()
  loss:backward()
  ready:record()
  optimizer:step()
  do
    local mode3 <close> = ohm.cuda.stream(stats_stream)
    stats_stream:wait_event(ready)
    scores = out:detach():softmax({dim = 1})
    scores:record_stream(stats_stream)
    totals:add_(scores:sum({dim = 0}))
  end
  scores = nil
  mark("step " .. step)
end
ohm.cuda.current_stream():wait_stream(stats_stream)
mean = (totals / (4 * 70)):cpu()
ohm.cuda.synchronize()
mark("synchronized")
grads = map(function(p) return p.grad:to("cpu", {non_blocking = true}) end, model:parameters())
ohm.cuda.synchronize()
x_next = nil
y_next = nil
ohm.cuda.empty_cache()
mark("end")
mark("end of program (globals alive)")
model = nil
optimizer = nil
copy_stream = nil
stats_stream = nil
ready = nil
totals = nil
host = nil
labels = nil
x = nil
y = nil
out = nil
loss = nil
mean = nil
grads = nil
mark("globals deleted")

--== model_simclr
local Encoder, info_nce, model, opt, scheduler, criterion, images, x, features, logits, labels, loss
Encoder = nn.Module:extend("Encoder")
function Encoder:__init()
  self.features = nn.Sequential(nn.Conv2d(3, 16, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
  self.projection = nn.Sequential(nn.Linear(32, 64, {bias = false}), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32))
end
function Encoder:forward(x)
  return F.normalize(self.projection(self.features(x)), {dim = 1})
end
function info_nce(features, batch, temperature)
  local labels, similarity, mask, positives
  if temperature == nil then temperature = 0.1 end
  labels = ohm.cat(collect(2, function(i) return ohm.arange(batch) end), {dim = 0})
  labels = (labels:unsqueeze(0):eq(labels:unsqueeze(1))):float():cuda()
  similarity = ohm.matmul(features, features.T)
  mask = ohm.eye(labels:size(0), {dtype = ohm.bool}):cuda()
  similarity = similarity:masked_fill(mask, -1000000000.0)
  positives = labels:masked_fill(mask, 0.0):argmax({dim = 1})
  return similarity / temperature, positives
end
model = Encoder():cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.03, momentum = 0.9, weight_decay = 0.0001})
scheduler = ohm.optim.lr_scheduler.CosineAnnealingLR(opt, {T_max = 2, eta_min = 0})
criterion = nn.CrossEntropyLoss():cuda()
mark("model")
for step = 0, 3 - 1 do
  images = collect(2, function(_) return ohm.randn(8, 3, 24, 24) end)
  x = ohm.cat(images, {dim = 0}):cuda()
  features = model(x)
  logits, labels = info_nce(features, 8)
  loss = criterion(logits, labels)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
scheduler = nil
criterion = nil
images = nil
x = nil
features = nil
logits = nil
labels = nil
loss = nil
mark("globals deleted")

--== model_sngan
local GenBlock, Generator, DiscBlock, Discriminator, G, D, opt_g, opt_d, real, y, z, fake, d_real, d_fake, loss_d, loss_g
ohm.backends.cudnn.enabled = true
GenBlock = nn.Module:extend("GenBlock")
function GenBlock:__init(cin, cout, classes)
  self.bn1 = nn.BatchNorm2d(cin, {affine = false})
  self.gamma = nn.Embedding(classes, cin)
  self.beta = nn.Embedding(classes, cin)
  self.conv1 = nn.Conv2d(cin, cout, 3, {padding = 1})
  self.bn2 = nn.BatchNorm2d(cout)
  self.conv2 = nn.Conv2d(cout, cout, 3, {padding = 1})
  self.skip = nn.Conv2d(cin, cout, 1)
end
function GenBlock:forward(x, y)
  local h
  h = self.bn1(x)
  h = (h * slice(slice(self.gamma(y), 0, 0), 1, 0):unsqueeze(2):unsqueeze(3)) + slice(slice(self.beta(y), 0, 0), 1, 0):unsqueeze(2):unsqueeze(3)
  h = F.interpolate(F.relu(h), {scale_factor = 2})
  h = self.conv1(h)
  h = self.conv2(F.relu(self.bn2(h)))
  return h + self.skip(F.interpolate(x, {scale_factor = 2}))
end
Generator = nn.Module:extend("Generator")
function Generator:__init(z_dim, ch, classes)
  if classes == nil then classes = 10 end
  if ch == nil then ch = 32 end
  if z_dim == nil then z_dim = 64 end
  self.ch = ch
  self.fc = nn.Linear(z_dim, (ch * 4) * 4)
  self.block1 = GenBlock(ch, ch, classes)
  self.block2 = GenBlock(ch, ch, classes)
  self.bn = nn.BatchNorm2d(ch)
  self.out = nn.Conv2d(ch, 3, 3, {padding = 1})
end
function Generator:forward(z, y)
  local h
  h = self.fc(z):view(-1, self.ch, 4, 4)
  h = self.block1(h, y)
  h = self.block2(h, y)
  return ohm.tanh(self.out(F.relu(self.bn(h))))
end
DiscBlock = nn.Module:extend("DiscBlock")
function DiscBlock:__init(cin, cout)
  self.conv1 = nn.utils.spectral_norm(nn.Conv2d(cin, cout, 3, {padding = 1}))
  self.conv2 = nn.utils.spectral_norm(nn.Conv2d(cout, cout, 3, {padding = 1}))
  self.skip = nn.utils.spectral_norm(nn.Conv2d(cin, cout, 1))
end
function DiscBlock:forward(x)
  local h
  h = self.conv2(F.relu(self.conv1(F.relu(x))))
  return F.avg_pool2d(h, 2) + F.avg_pool2d(self.skip(x), 2)
end
Discriminator = nn.Module:extend("Discriminator")
function Discriminator:__init(ch, classes)
  if classes == nil then classes = 10 end
  if ch == nil then ch = 32 end
  self.block1 = DiscBlock(3, ch)
  self.block2 = DiscBlock(ch, ch)
  self.fc = nn.utils.spectral_norm(nn.Linear(ch, 1))
  self.embed = nn.utils.spectral_norm(nn.Embedding(classes, ch))
end
function Discriminator:forward(x, y)
  local h, out
  h = self.block2(self.block1(x))
  h = F.relu(h):sum({dim = {2, 3}})
  out = self.fc(h)
  out = iadd(out, ohm.sum(self.embed(y) * h, {dim = 1, keepdim = true}))
  return out
end
G = Generator():cuda()
D = Discriminator():cuda()
opt_g = ohm.optim.Adam(G:parameters(), {lr = 0.0002, betas = {0.0, 0.9}})
opt_d = ohm.optim.Adam(D:parameters(), {lr = 0.0002, betas = {0.0, 0.9}})
mark("models")
for step = 0, 2 - 1 do
  for _ = 0, 2 - 1 do
    real = ohm.randn(8, 3, 16, 16, {device = "cuda"})
    y = ohm.randint(0, 10, {8}, {device = "cuda"})
    z = ohm.randn(8, 64, {device = "cuda"})
    do
      local mode1 <close> = ohm.no_grad()
      fake = G(z, y)
    end
    d_real = D(real, y)
    d_fake = D(fake, y)
    loss_d = F.relu(1.0 - d_real):mean() + F.relu(1.0 + d_fake):mean()
    D:zero_grad()
    loss_d:backward()
    opt_d:step()
  end
  mark("discriminator " .. step)
  z = ohm.randn(8, 64, {device = "cuda"})
  y = ohm.randint(0, 10, {8}, {device = "cuda"})
  loss_g = -D(G(z, y), y):mean()
  G:zero_grad()
  loss_g:backward()
  opt_g:step()
  mark("generator " .. step)
end
mark("end of program (globals alive)")
G = nil
D = nil
opt_g = nil
opt_d = nil
real = nil
y = nil
z = nil
fake = nil
d_real = nil
d_fake = nil
loss_d = nil
loss_g = nil
mark("globals deleted")

--== model_spatial_transformer
local STN, model, optimizer, scheduler, data, target, output, grid, smooth, loss, test_loss, pred, correct
ohm.backends.cudnn.enabled = true
STN = nn.Module:extend("STN")
function STN:__init()
  self.localization = nn.Sequential(nn.Conv2d(1, 8, 7), nn.MaxPool2d(2, {stride = 2}), nn.ReLU(true), nn.Conv2d(8, 10, 5), nn.MaxPool2d(2, {stride = 2}), nn.ReLU(true))
  self.fc_loc = nn.Sequential(nn.Linear((10 * 3) * 3, 32), nn.ReLU(true), nn.Linear(32, 6))
  self.fc_loc[3].weight.data:zero_()
  self.fc_loc[3].bias.data:copy_(ohm.tensor({1, 0, 0, 0, 1, 0}, {dtype = ohm.float32}))
  self.conv = nn.Conv2d(1, 12, 5)
  self.drop = nn.Dropout2d()
  self.fc = nn.Linear((12 * 12) * 12, 10)
end
function STN:forward(x)
  local xs, theta, grid
  xs = self.localization(x)
  theta = self.fc_loc(xs:view(-1, 90)):view(-1, 2, 3)
  grid = F.affine_grid(theta, x:size(), {align_corners = false})
  x = F.grid_sample(x, grid, {align_corners = false})
  x = F.relu(F.max_pool2d(self.drop(self.conv(x)), 2))
  x = F.dropout(self.fc(x:flatten(1)), {training = self.training})
  return F.log_softmax(x, {dim = 1}), grid
end
model = STN():cuda()
optimizer = ohm.optim.Adadelta(model:parameters(), {lr = 1.0})
scheduler = ohm.optim.lr_scheduler.MultiStepLR(optimizer, {milestones = {1, 2}, gamma = 0.7})
mark("model")
for step = 0, 3 - 1 do
  data = ohm.randn(9, 1, 28, 28, {device = "cuda"})
  target = ohm.randint(0, 10, {9}, {device = "cuda"})
  optimizer:zero_grad()
  do
    local new1, new2 = model(data)
    output = new1
    grid = new2
  end
  smooth = (slice(slice(grid, 0, 0), 1, 1) - slice(slice(grid, 0, 0), 1, 0, -1)):abs():mean() + (slice(slice(slice(grid, 0, 0), 1, 0), 2, 1) - slice(slice(slice(grid, 0, 0), 1, 0), 2, 0, -1)):abs():mean()
  loss = F.nll_loss(output, target) + (0.1 * smooth)
  loss:backward()
  optimizer:step()
  scheduler:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  do
    local new1, new2 = model(data)
    output = new1
    grid = new2
  end
  test_loss = F.nll_loss(output, target, {reduction = "sum"}):item()
  pred = second(output:max(1, {keepdim = true}))
  correct = pred:eq(target:view_as(pred)):sum():item()
end
mark("tested")
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
data = nil
target = nil
output = nil
grid = nil
smooth = nil
loss = nil
test_loss = nil
pred = nil
correct = nil
mark("globals deleted")

--== model_speculative
local causal, Lm, big, small, ids, draft, chosen, p, token, q, new, ratio, accept, run, extra
function causal(n)
  return ohm.triu(ohm.full({n, n}, -math.huge, {device = "cuda"}), {diagonal = 1})
end
Lm = nn.Module:extend("Lm")
function Lm:__init(d, n)
  local layer
  self.embed = nn.Embedding(128, d)
  layer = nn.TransformerEncoderLayer(d, 4, 2 * d, {dropout = 0.0, batch_first = true, norm_first = true})
  self.body = nn.TransformerEncoder(layer, n, {enable_nested_tensor = false})
  self.head = nn.Linear(d, 128)
end
function Lm:forward(ids)
  return self.head(self.body(self.embed(ids), {mask = causal(ids:size(1)), is_causal = true}))
end
big = Lm(128, 3):cuda():eval()
small = Lm(32, 1):cuda():eval()
mark("models")
ids = ohm.randint(0, 128, {1, 8}, {device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  for round = 0, 3 - 1 do
    draft = ids
    chosen = {}
    for i = 0, 4 - 1 do
      p = F.softmax(slice(small(draft), 0, 0):select(1, -1), {dim = -1})
      token = p:argmax({dim = -1, keepdim = true})
      chosen[#chosen + 1] = p:gather(1, token)
      draft = ohm.cat({draft, token}, {dim = 1})
    end
    q = F.softmax(slice(slice(big(draft), 0, 0), 1, -5), {dim = -1})
    mark("verified " .. round)
    new = slice(slice(draft, 0, 0), 1, -4)
    ratio = slice(slice(q, 0, 0), 1, 0, 4):gather(2, new:unsqueeze(-1)):squeeze(-1) / ohm.cat(chosen, {dim = 1})
    accept = ohm.rand_like(ratio):lt(ratio:clamp({max = 1.0}))
    run = accept:float():cumprod({dim = 1}):sum()
    extra = slice(q, 0, 0):select(1, -1):argmax({dim = -1, keepdim = true})
    ids = ohm.cat({slice(slice(draft, 0, 0), 1, 0, -2), extra}, {dim = 1})
    mark("round " .. round)
  end
end
mark("end of program (globals alive)")
big = nil
small = nil
ids = nil
draft = nil
chosen = nil
p = nil
token = nil
q = nil
new = nil
ratio = nil
accept = nil
run = nil
extra = nil
mark("globals deleted")

--== model_spiking
local SurrogateSpike, spike, LIF, SNN, net, optimizer, log_softmax, nll, images, labels, x, spk, mem, p, loss, rate, _, idx, acc
SurrogateSpike = ohm.autograd.Function {
  forward = function(ctx, x)
    ctx:save_for_backward(x)
    return x:gt(0):float()
  end,
  backward = function(ctx, grad_output)
    local x = table.unpack(ctx.saved_tensors)
    local grad = grad_output / (10.0 * ohm.abs(x) + 1.0) ^ 2
    return grad
  end,
}
spike = SurrogateSpike.apply
LIF = nn.Module:extend("LIF")
function LIF:__init(features, beta)
  self.beta = nn.Parameter(ohm.full({features}, beta))
  self.threshold = 1.0
end
function LIF:forward(current, mem)
  local reset
  reset = spike(mem - self.threshold):detach()
  mem = ((self.beta:clamp(0, 1) * mem) + current) - (reset * self.threshold)
  return spike(mem - self.threshold), mem
end
SNN = nn.Module:extend("SNN")
function SNN:__init()
  self.fc1 = nn.Linear(64, 100)
  self.lif1 = LIF(100, 0.9)
  self.fc2 = nn.Linear(100, 10)
  self.lif2 = LIF(10, 0.8)
end
function SNN:forward(x)
  local mem1, mem2, spikes, mems, s1, s2
  mem1 = ohm.zeros(x:size(1), 100, {device = x.device})
  mem2 = ohm.zeros(x:size(1), 10, {device = x.device})
  spikes = {}
  mems = {}
  for t = 0, x:size(0) - 1 do
    do
      local new1, new2 = self.lif1(self.fc1(x:select(0, t)), mem1)
      s1 = new1
      mem1 = new2
    end
    do
      local new1, new2 = self.lif2(self.fc2(s1), mem2)
      s2 = new1
      mem2 = new2
    end
    spikes[#spikes + 1] = s2
    mems[#mems + 1] = mem2
  end
  return ohm.stack(spikes), ohm.stack(mems)
end
net = SNN():cuda()
optimizer = ohm.optim.Adamax(net:parameters(), {lr = 0.002, betas = {0.9, 0.999}})
log_softmax = nn.LogSoftmax({dim = -1})
nll = nn.NLLLoss()
mark("model")
for step = 0, 3 - 1 do
  images = ohm.rand(32, 64, {device = "cuda"})
  labels = ohm.randint(0, 10, {32}, {device = "cuda"})
  x = ohm.bernoulli(images:unsqueeze(0):expand(8, -1, -1))
  do
    local new1, new2 = net(x)
    spk = new1
    mem = new2
  end
  mark("forward " .. step)
  p = log_softmax(mem)
  loss = ohm.zeros(1, {device = "cuda"})
  for t = 0, 8 - 1 do
    loss = iadd(loss, nll(p:select(0, t), labels))
  end
  rate = spk:mean()
  loss = loss + (0.001 * ((rate - 0.1) ^ 2))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
  do
    local new1, new2 = spk:sum({dim = 0}):max(1)
    _ = new1
    idx = new2
  end
  acc = (idx:eq(labels)):float():mean()
end
mark("end of program (globals alive)")
spike = nil
net = nil
optimizer = nil
log_softmax = nil
nll = nil
images = nil
labels = nil
x = nil
spk = nil
mem = nil
p = nil
loss = nil
rate = nil
_ = nil
idx = nil
acc = nil
mark("globals deleted")

--== model_split_batches
local Net, predict, model, x, y, size, result, tries, optimizer, splits, done, part, target, loss
ohm.cuda.set_per_process_memory_fraction(0.004)
Net = nn.Module:extend("Net")
function Net:__init()
  self.inp = nn.Linear(300, 3000)
  self.hidden = nn.Linear(3000, 3000)
  self.out = nn.Linear(3000, 10)
end
function Net:forward(x)
  return self.out(ohm.tanh(self.hidden(F.relu(self.inp(x)))))
end
function predict(model, x, size)
  local outputs = {}
  do
    local mode <close> = ohm.no_grad()
    for start = 0, x:size(0) - 1, size do
      outputs[#outputs + 1] = model(slice(x, 0, start, start + size))
    end
  end
  local result = ohm.cat(outputs)
  clear(outputs)
  return result
end
model = Net():cuda()
x = ohm.randn(9000, 300, {device = "cuda"})
y = ohm.randint(0, 10, {9000}, {device = "cuda"})
mark("model")
size = 9000
tries = 0
while not result and size > 0 do
  local is_done, problem = pcall(function() result = predict(model, x, size) end)
  tries = tries + 1
  if not is_done then
    assert(tostring(problem):find("out of memory"), tostring(problem))
    problem = nil
    size = size // 2
    ohm.gc.collect()
    ohm.cuda.empty_cache()
  end
  mark("try " .. tries)
end
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9})
splits = 1
done = false
while not done do
  local is_done, problem = pcall(function()
    optimizer:zero_grad()
    local parts, targets = {x:chunk(splits)}, {y:chunk(splits)}
    for i = 1, #parts do
      part = parts[i]
      target = targets[i]
      loss = F.cross_entropy(model(part), target) / splits
      loss:backward()
    end
    optimizer:step()
  end)
  done = is_done
  if not is_done then
    assert(tostring(problem):find("out of memory"), tostring(problem))
    problem = nil
    part, target, loss = nil, nil, nil
    sweep()
    optimizer:zero_grad({set_to_none = true})
    ohm.cuda.empty_cache()
    splits = splits * 2
  end
  mark("splits " .. splits)
end
mark("end of program (globals alive)")
model = nil
x = nil
y = nil
result = nil
optimizer = nil
part = nil
target = nil
loss = nil
mark("globals deleted")

--== model_ssd
-- list[a:b]
local function part(x, first, last)
  if ohm.is_tensor(x) then return slice(x, 0, first or 0, last) end
  local size, kept = #x, {}
  first, last = first or 0, last or size
  if first < 0 then first = first + size end
  if last < 0 then last = last + size end
  for i = first + 1, math.min(last, size) do kept[#kept + 1] = x[i] end
  return kept
end

-- a < b and others, of tensors or numbers
local function compare(how, a, b)
  if ohm.is_tensor(a) then return a[how](a, b) end
  if ohm.is_tensor(b) then return b[({lt = "gt", gt = "lt", le = "ge", ge = "le", eq = "eq", ne = "ne"})[how]](b, a) end
  if how == "eq" then return a == b elseif how == "ne" then return a ~= b end
  if how == "lt" then return a < b elseif how == "le" then return a <= b end
  if how == "gt" then return a > b else return a >= b end
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

local SSD, box_loss, model, optimizer, images, boxes, scores, truth, labels, location, confidence, loss
SSD = nn.Module:extend("SSD")
function SSD:__init(classes)
  if classes == nil then classes = 5 end
  self.a = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU({inplace = true}), nn.MaxPool2d(2, {ceil_mode = true}), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU({inplace = true}), nn.MaxPool2d(2, {ceil_mode = true}))
  self.b = nn.Sequential(nn.Conv2d(32, 48, 3, {stride = 2, padding = 1}), nn.ReLU({inplace = true}))
  self.c = nn.Sequential(nn.Conv2d(48, 48, 3, {stride = 2, padding = 1}), nn.ReLU({inplace = true}))
  self.scale = nn.Parameter(ohm.full({1, 32, 1, 1}, 20.0))
  self.boxes = nn.ModuleList((function() local r = {} local l0 = items({32, 48, 48}) for i_ = 1, #l0 do local c = l0[i_] r[#r + 1] = nn.Conv2d(c, 4 * 4, 3, {padding = 1}) end return r end)())
  self.scores = nn.ModuleList((function() local r = {} local l0 = items({32, 48, 48}) for i_ = 1, #l0 do local c = l0[i_] r[#r + 1] = nn.Conv2d(c, 4 * classes, 3, {padding = 1}) end return r end)())
  self.classes = classes
end
function SSD:forward(x)
  local maps, boxes, scores
  maps = {}
  x = self.a(x)
  maps[#maps + 1] = F.normalize(x, {p = 2, dim = 1}) * self.scale
  x = self.b(x)
  maps[#maps + 1] = x
  maps[#maps + 1] = self.c(x)
  boxes = ohm.cat((function() local r = {} local l0 = items(self.boxes:children()) local l1 = items(maps) for i_ = 1, #l0 do local m = l0[i_] local f = l1[i_] r[#r + 1] = m(f):permute(0, 2, 3, 1):contiguous():view(f:size(0), -1) end return r end)(), 1)
  scores = ohm.cat((function() local r = {} local l0 = items(self.scores:children()) local l1 = items(maps) for i_ = 1, #l0 do local m = l0[i_] local f = l1[i_] r[#r + 1] = m(f):permute(0, 2, 3, 1):contiguous():view(f:size(0), -1) end return r end)(), 1)
  return boxes:view(x:size(0), -1, 4), scores:view(x:size(0), -1, self.classes)
end
function box_loss(boxes, scores, truth, labels, classes)
  local positive, count, mask, location, each, negatives, _, order, rank, hard, confidence, n
  positive = compare("gt", labels, 0)
  count = positive:sum(1, {keepdim = true})
  mask = positive:unsqueeze(2):expand_as(boxes)
  location = F.smooth_l1_loss(boxes * mask, truth * mask, {reduction = "sum"})
  each = F.cross_entropy(scores:view(-1, classes), labels:view(-1), {reduction = "none"}):view(labels:size(0), -1)
  negatives = each:detach():clone()
  negatives[positive] = 0
  _, order = negatives:sort(1, {descending = true})
  do
    local new1, new2 = order:sort(1)
    _ = new1
    rank = new2
  end
  hard = compare("lt", rank, (3 * count):clamp({max = labels:size(1) - 1}))
  confidence = (each * (positive | hard):float()):sum()
  n = count:sum():clamp({min = 1}):float()
  return location / n, confidence / n
end
model = SSD():cuda()
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.001, momentum = 0.9, weight_decay = 0.0005, nesterov = true})
mark("model")
for step = 0, 2 - 1 do
  images = ohm.randn(4, 3, 50, 50, {device = "cuda"})
  do
    local new1, new2 = model(images)
    boxes = new1
    scores = new2
  end
  truth = ohm.rand_like(boxes)
  labels = ohm.randint(0, 5, part(boxes.shape, nil, 2), {device = "cuda"})
  do
    local new1, new2 = box_loss(boxes, scores, truth, labels, 5)
    location = new1
    confidence = new2
  end
  loss = location + confidence
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
images = nil
boxes = nil
scores = nil
truth = nil
labels = nil
location = nil
confidence = nil
loss = nil
mark("globals deleted")

--== model_stream_prefetch
local model, optimizer, copies, done, hosts, labels, x, y, now, label, loss, a
model = nn.Sequential(nn.Linear(256, 700), nn.ReLU(), nn.Linear(700, 50)):cuda()
optimizer = ohm.optim.Adam(model:parameters())
copies = ohm.cuda.Stream()
done = ohm.cuda.Event()
mark("model")
hosts = collect(4, function(_) return ohm.randn(128, 256):pin_memory() end)
labels = collect(4, function(_) return ohm.randint(0, 50, {128}):pin_memory() end)
do
  local mode1 <close> = ohm.cuda.stream(copies)
  x = hosts[1]:to("cuda", {non_blocking = true})
  y = labels[1]:to("cuda", {non_blocking = true})
end
for i = 0, 4 - 1 do
  ohm.cuda.current_stream():wait_stream(copies)
  now, label = x, y
  now:record_stream(ohm.cuda.current_stream())
  label:record_stream(ohm.cuda.current_stream())
  if i < 3 then
    do
      local mode2 <close> = ohm.cuda.stream(copies)
      x = hosts[i + 1 + 1]:to("cuda", {non_blocking = true})
      y = labels[i + 1 + 1]:to("cuda", {non_blocking = true})
    end
  end
  loss = F.cross_entropy(model(now), label)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  done:record()
  mark("step " .. i)
end
now = nil
label = nil
x = nil
y = nil
ohm.cuda.synchronize()
mark("gone")
a = ohm.empty(1000, {device = "cuda"})
mark("after")
mark("end of program (globals alive)")
model = nil
optimizer = nil
copies = nil
done = nil
hosts = nil
labels = nil
loss = nil
a = nil
mark("globals deleted")

--== model_streams_branches
local left, right, head, optimizer, s1, s2, x, y, main, a, b, loss
left = nn.Sequential(nn.Linear(300, 900), nn.GELU(), nn.Linear(900, 300)):cuda()
right = nn.Sequential(nn.Linear(300, 900), nn.Tanh(), nn.Linear(900, 300)):cuda()
head = nn.Linear(600, 20):cuda()
optimizer = ohm.optim.SGD(nn.ModuleList({left, right, head}):parameters(), {lr = 0.1})
s1 = ohm.cuda.Stream()
s2 = ohm.cuda.Stream()
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(200, 300, {device = "cuda"})
  y = ohm.randint(0, 20, {200}, {device = "cuda"})
  main = ohm.cuda.current_stream()
  s1:wait_stream(main)
  s2:wait_stream(main)
  do
    local mode1 <close> = ohm.cuda.stream(s1)
    a = left(x)
  end
  do
    local mode2 <close> = ohm.cuda.stream(s2)
    b = right(x)
  end
  main:wait_stream(s1)
  main:wait_stream(s2)
  a:record_stream(main)
  b:record_stream(main)
  loss = F.cross_entropy(head(ohm.cat({a, b}, {dim = 1})), y)
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  a = nil
  b = nil
  ohm.cuda.synchronize()
  mark("step " .. step)
end
mark("end of program (globals alive)")
left = nil
right = nil
head = nil
optimizer = nil
s1 = nil
s2 = nil
x = nil
y = nil
main = nil
loss = nil
mark("globals deleted")

--== model_style_transfer
local Features, gram_matrix, tv_loss, net, p, content, style, mean, std, content_feats, style_feats, content_target, grams, image, optimizer, closure, result
Features = nn.Module:extend("Features")
function Features:__init()
  self.conv1 = nn.Conv2d(3, 32, 3, {padding = 1})
  self.conv2 = nn.Conv2d(32, 32, 3, {padding = 1})
  self.conv3 = nn.Conv2d(32, 64, 3, {padding = 1})
  self.conv4 = nn.Conv2d(64, 64, 3, {padding = 1})
  self.pool = nn.AvgPool2d(2)
end
function Features:forward(x)
  local feats
  feats = {}
  x = F.relu(self.conv1(x))
  feats[#feats + 1] = x
  x = F.relu(self.conv2(x))
  feats[#feats + 1] = x
  x = self.pool(x)
  x = F.relu(self.conv3(x), {inplace = true})
  feats[#feats + 1] = x
  x = F.relu(self.conv4(x))
  feats[#feats + 1] = x
  return feats
end
function gram_matrix(x)
  local b, c, h, w, features, gram
  b, c, h, w = table.unpack(x.shape)
  features = x:view(b * c, h * w)
  gram = ohm.mm(features, features:t())
  return gram:div(((b * c) * h) * w)
end
function tv_loss(x)
  local dx, dy
  dx = slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 0), 3, 1) - slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 0), 3, 0, -1)
  dy = slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 1), 3, 0) - slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 0, -1), 3, 0)
  return dx:abs():mean() + dy:pow(2):mean()
end
net = Features():cuda():eval()
for _, item1 in ipairs(net:parameters()) do
  p = item1
  p:requires_grad_(false)
end
content = ohm.rand(1, 3, 48, 48, {device = "cuda"})
style = ohm.rand(1, 3, 48, 48, {device = "cuda"})
mean = ohm.tensor({0.485, 0.456, 0.406}, {device = "cuda"}):view(-1, 1, 1)
std = ohm.tensor({0.229, 0.224, 0.225}, {device = "cuda"}):view(-1, 1, 1)
mark("images")
do
  local mode2 <close> = ohm.no_grad()
  content_feats = net((content - mean) / std)
  style_feats = net((style - mean) / std)
  content_target = content_feats[4]:detach()
  grams = map(function(f) return gram_matrix(f) end, style_feats)
end
content_feats = nil
style_feats = nil
mark("targets")
image = content:clone():requires_grad_(true)
optimizer = ohm.optim.LBFGS({image}, {max_iter = 4, history_size = 3, tolerance_grad = 0, tolerance_change = 0})
function closure()
  local feats, content_loss, style_loss, f, g, loss
  do
    local mode3 <close> = ohm.no_grad()
    image:clamp_(0, 1)
  end
  optimizer:zero_grad()
  feats = net((image - mean) / std)
  content_loss = F.mse_loss(feats[4], content_target)
  style_loss = 0
  do
    local list4_2 = grams
    for number4, item4 in ipairs(feats) do
      f = item4
      g = list4_2[number4]
      style_loss = style_loss + F.mse_loss(gram_matrix(f), g)
    end
  end
  loss = (content_loss + (100000.0 * style_loss)) + (0.01 * tv_loss(image))
  loss:backward()
  feats = nil
  return loss
end
for step = 0, 2 do
  optimizer:step(closure)
  mark("step " .. step)
end
do
  local mode5 <close> = ohm.no_grad()
  image:clamp_(0, 1)
end
result = image:detach():cpu():squeeze(0)
mark("result")
mark("end of program (globals alive)")
net = nil
p = nil
content = nil
style = nil
mean = nil
std = nil
content_target = nil
grams = nil
image = nil
optimizer = nil
result = nil
mark("globals deleted")

--== model_stylegan
-- x[i], of a tensor or a list
local function at(x, i)
  if not ohm.is_tensor(x) then
    if type(i) ~= "number" then return x[i] end
      return x[i < 0 and #x + 1 + i or i + 1]
  end
  if ohm.is_tensor(i) then return x:index({i}) end
  return x:select(0, i)
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

local EqualLinear, ModulatedConv2d, StyledConv, Generator, Discriminator, g, d, g_ema, g_optim, d_optim, mean_path, real, fake, _, d_loss, real_pred, grad_real, r1, w, g_loss, p_ema, p
EqualLinear = nn.Module:extend("EqualLinear")
function EqualLinear:__init(i, o, bias, lr_mul)
  if lr_mul == nil then lr_mul = 1.0 end
  if bias == nil then bias = 0.0 end
  self.weight = nn.Parameter(ohm.randn(o, i):div_(lr_mul))
  self.bias = nn.Parameter(ohm.zeros(o):fill_(bias))
  self.scale = (1 / math.sqrt(i)) * lr_mul
  self.lr_mul = lr_mul
end
function EqualLinear:forward(x)
  return F.linear(x, self.weight * self.scale, {bias = self.bias * self.lr_mul})
end
ModulatedConv2d = nn.Module:extend("ModulatedConv2d")
function ModulatedConv2d:__init(i, o, kernel, style, upsample, demodulate)
  if demodulate == nil then demodulate = true end
  if upsample == nil then upsample = false end
  self.i = i
  self.o = o
  self.kernel = kernel
  self.upsample = upsample
  self.demodulate = demodulate
  self.scale = 1 / math.sqrt(i * (kernel ^ 2))
  self.weight = nn.Parameter(ohm.randn(1, o, i, kernel, kernel))
  self.modulation = EqualLinear(style, i, 1.0)
end
function ModulatedConv2d:forward(x, style)
  local batch, c, height, width, weight, demod, out
  batch, c, height, width = table.unpack(x.shape)
  style = self.modulation(style):view(batch, 1, c, 1, 1)
  weight = (self.scale * self.weight) * style
  if self.demodulate then
    demod = ohm.rsqrt(weight:pow(2):sum({2, 3, 4}) + 1e-08)
    weight = weight * demod:view(batch, self.o, 1, 1, 1)
  end
  weight = weight:view(batch * self.o, c, self.kernel, self.kernel)
  if self.upsample then
    x = x:view(1, batch * c, height, width)
    weight = weight:view(batch, self.o, c, self.kernel, self.kernel)
    weight = weight:transpose(1, 2):reshape(batch * c, self.o, self.kernel, self.kernel)
    out = F.conv_transpose2d(x, weight, {padding = 0, stride = 2, groups = batch})
    out = slice(slice(slice(slice(out, 0, 0), 1, 0), 2, 0, -1), 3, 0, -1)
  else
    x = x:view(1, batch * c, height, width)
    out = F.conv2d(x, weight, {padding = self.kernel // 2, groups = batch})
  end
  return out:reshape(batch, self.o, out:size(2), out:size(3))
end
StyledConv = nn.Module:extend("StyledConv")
function StyledConv:__init(i, o, style, upsample)
  if upsample == nil then upsample = false end
  self.conv = ModulatedConv2d(i, o, 3, style, upsample)
  self.noise = nn.Parameter(ohm.zeros(1))
  self.bias = nn.Parameter(ohm.zeros(1, o, 1, 1))
end
function StyledConv:forward(x, style)
  local out, batch, _, height, width
  out = self.conv(x, style)
  batch, _, height, width = table.unpack(out.shape)
  out = out + (self.noise * out:new_empty(batch, 1, height, width):normal_())
  return F.leaky_relu(out + self.bias, {negative_slope = 0.2}) * math.sqrt(2)
end
Generator = nn.Module:extend("Generator")
function Generator:__init(style)
  self.mapping = nn.Sequential(EqualLinear(style, style, nil, 0.01), nn.LeakyReLU(0.2), EqualLinear(style, style, nil, 0.01), nn.LeakyReLU(0.2))
  self.input = nn.Parameter(ohm.randn(1, 16, 4, 4))
  self.conv1 = StyledConv(16, 16, style)
  self.conv2 = StyledConv(16, 16, style, true)
  self.conv3 = StyledConv(16, 8, style)
  self.to_rgb = ModulatedConv2d(8, 3, 1, style, nil, false)
end
function Generator:forward(z)
  local w, out
  z = z * ohm.rsqrt(ohm.mean(z ^ 2, {dim = 1, keepdim = true}) + 1e-08)
  w = self.mapping(z)
  out = repeated(self.input, z:size(0), 1, 1, 1)
  out = self.conv3(self.conv2(self.conv1(out, w), w), w)
  return self.to_rgb(out, w), w
end
Discriminator = nn.Module:extend("Discriminator")
function Discriminator:__init()
  self.convs = nn.Sequential(nn.Conv2d(3, 16, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 16, 3, 2, 1), nn.LeakyReLU(0.2))
  self.final_conv = nn.Conv2d(17, 16, 3, {padding = 1})
  self.final = nn.Linear(16 * 16, 1)
end
function Discriminator:forward(x)
  local out, batch, channel, height, width, group, stddev
  out = self.convs(x)
  batch, channel, height, width = table.unpack(out.shape)
  group = math.min(batch, 4)
  stddev = out:view(group, -1, 1, channel, height, width)
  stddev = ohm.sqrt(stddev:var(0, {unbiased = false}) + 1e-08)
  stddev = stddev:mean({2, 3, 4}, {keepdim = true}):squeeze(2)
  stddev = repeated(stddev, group, 1, height, width)
  out = self.final_conv(ohm.cat({out, stddev}, 1))
  return self.final(out:view(batch, -1))
end
g = Generator(24):cuda()
d = Discriminator():cuda()
g_ema = Generator(24):cuda()
g_ema:load_state_dict(g:state_dict())
g_optim = ohm.optim.Adam(g:parameters(), {lr = 0.002, betas = {0.0, 0.99}})
d_optim = ohm.optim.Adam(d:parameters(), {lr = 0.002, betas = {0.0, 0.99}})
mean_path = ohm.zeros({}, {device = "cuda"})
mark("model")
for step = 0, 2 - 1 do
  real = ohm.randn(4, 3, 8, 8, {device = "cuda"})
  do
    local new1, new2 = g(ohm.randn(4, 24, {device = "cuda"}))
    fake = new1
    _ = new2
  end
  d_loss = F.softplus(-d(real)):mean() + F.softplus(d(fake:detach())):mean()
  d:zero_grad()
  d_loss:backward()
  d_optim:step()
  mark("d " .. step)
  real.requires_grad = true
  real_pred = d(real)
  grad_real = at(ohm.autograd.grad(real_pred:sum(), {real}, {create_graph = true}), 0)
  r1 = grad_real:pow(2):reshape(grad_real:size(0), -1):sum(1):mean()
  d:zero_grad()
  ;((5.0 * r1) + (0 * at(real_pred, 0))):backward()
  d_optim:step()
  mark("r1 " .. step)
  do
    local new1, new2 = g(ohm.randn(4, 24, {device = "cuda"}))
    fake = new1
    w = new2
  end
  g_loss = F.softplus(-d(fake)):mean()
  g:zero_grad()
  g_loss:backward()
  g_optim:step()
  do
    local mode1 <close> = ohm.no_grad()
    do
      local list2_0 = items(g_ema:parameters())
      local list2_1 = items(g:parameters())
      for number2 = 1, math.min(#list2_0, #list2_1) do
        p_ema = list2_0[number2]
        p = list2_1[number2]
        p_ema:mul_(0.99):add_(p, {alpha = 0.01})
      end
    end
  end
  mark("g " .. step)
end
mark("end of program (globals alive)")
g = nil
d = nil
g_ema = nil
g_optim = nil
d_optim = nil
mean_path = nil
real = nil
fake = nil
_ = nil
d_loss = nil
real_pred = nil
grad_real = nil
r1 = nil
w = nil
g_loss = nil
p_ema = nil
p = nil
mark("globals deleted")


--== model_superres
local ResBlock, EDSR, model, opt, scheduler, hr, lr, sr, loss, mse, psnr
ResBlock = nn.Module:extend("ResBlock")
function ResBlock:__init(features, scale)
  if scale == nil then scale = 0.1 end
  self.scale = scale
  self.body = nn.Sequential(nn.Conv2d(features, features, 3, {padding = 1}), nn.ReLU(true), nn.Conv2d(features, features, 3, {padding = 1}))
end
function ResBlock:forward(x)
  local res
  res = self.body(x):mul(self.scale)
  res = iadd(res, x)
  return res
end
EDSR = nn.Module:extend("EDSR")
function EDSR:__init(features, blocks)
  if blocks == nil then blocks = 3 end
  if features == nil then features = 16 end
  self:register_buffer("mean", ohm.tensor({0.45, 0.44, 0.4}):view(1, 3, 1, 1))
  self.head = nn.Conv2d(3, features, 3, {padding = 1})
  self.body = nn.Sequential(collect(blocks, function(_) return ResBlock(features) end))
  self.tail = nn.Sequential(nn.Conv2d(features, 4 * features, 3, {padding = 1}), nn.PixelShuffle(2), nn.Conv2d(features, 3, 3, {padding = 1}))
end
function EDSR:forward(x)
  local res
  x = self.head(x - self.mean)
  res = self.body(x)
  res = iadd(res, x)
  return self.tail(res) + self.mean
end
model = EDSR():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.0001, betas = {0.9, 0.999}})
scheduler = ohm.optim.lr_scheduler.StepLR(opt, {step_size = 1, gamma = 0.5})
mark("model")
for step = 0, 2 - 1 do
  hr = ohm.rand(4, 3, 32, 32, {device = "cuda"})
  lr = F.interpolate(hr, {scale_factor = 0.5, mode = "bilinear", align_corners = false})
  sr = model(lr)
  loss = F.l1_loss(sr, hr)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_value_(model:parameters(), 0.5)
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  sr = model(lr):clamp(0, 1):mul(255):round()
  mse = ((sr - (hr * 255)) ^ 2):mean()
  psnr = (20 * ohm.log10(255.0 / ohm.sqrt(mse))):item()
end
mark("eval")
mark("end of program (globals alive)")
model = nil
opt = nil
scheduler = nil
hr = nil
lr = nil
sr = nil
loss = nil
mse = nil
psnr = nil
mark("globals deleted")

--== model_swin
local window_partition, window_reverse, WindowAttention, SwinBlock, PatchMerging, Swin, model, decay, others, opt, scheduler, x, y, out, loss
function window_partition(x, window)
  local B, H, W, C
  B, H, W, C = table.unpack(x.shape)
  x = x:view(B, H // window, window, W // window, window, C)
  return x:permute(0, 1, 3, 2, 4, 5):contiguous():view(-1, window * window, C)
end
function window_reverse(windows, window, H, W)
  local B, x
  B = windows:size(0) // (((H * W) // window) // window)
  x = windows:view(B, H // window, W // window, window, window, -1)
  return x:permute(0, 1, 3, 2, 4, 5):contiguous():view(B, H, W, -1)
end
WindowAttention = nn.Module:extend("WindowAttention")
function WindowAttention:__init(dim, window, heads)
  local coords, rows, cols, index
  self.window = window
  self.heads = heads
  self.scale = (dim // heads) ^ (-0.5)
  self.table = nn.Parameter(ohm.zeros(((2 * window) - 1) * ((2 * window) - 1), heads))
  coords = ohm.arange(window)
  rows = slice(coords, 0, 0):unsqueeze(1):expand(window, window):flatten()
  cols = slice(coords:unsqueeze(0), 1, 0):expand(window, window):flatten()
  index = (((((((slice(rows, 0, 0):unsqueeze(1) - slice(rows:unsqueeze(0), 1, 0)) + window) - 1) * ((2 * window) - 1)) + slice(cols, 0, 0):unsqueeze(1)) - slice(cols:unsqueeze(0), 1, 0)) + window) - 1
  self:register_buffer("index", index)
  self.qkv = nn.Linear(dim, 3 * dim)
  self.proj = nn.Linear(dim, dim)
end
function WindowAttention:forward(x, mask)
  local B, N, C, qkv, q, k, v, attn, bias, windows
  B, N, C = table.unpack(x.shape)
  qkv = self.qkv(x):reshape(B, N, 3, self.heads, C // self.heads):permute(2, 0, 3, 1, 4)
  q, k, v = qkv:select(0, 0), qkv:select(0, 1), qkv:select(0, 2)
  attn = ohm.matmul(q * self.scale, k:transpose(-2, -1))
  bias = self.table:index({self.index:view(-1)}):view(N, N, -1):permute(2, 0, 1):contiguous()
  attn = attn + bias:unsqueeze(0)
  if mask ~= nil then
    windows = mask:size(0)
    attn = attn:view(B // windows, windows, self.heads, N, N) + mask:unsqueeze(1):unsqueeze(0)
    attn = attn:view(-1, self.heads, N, N)
  end
  attn = attn:softmax({dim = -1})
  return self.proj((ohm.matmul(attn, v)):transpose(1, 2):reshape(B, N, C))
end
SwinBlock = nn.Module:extend("SwinBlock")
function SwinBlock:__init(dim, resolution, heads, window, shift)
  local regions, masks, mask
  self.resolution = resolution
  self.window = window
  self.shift = shift
  self.norm1 = nn.LayerNorm(dim)
  self.attn = WindowAttention(dim, window, heads)
  self.norm2 = nn.LayerNorm(dim)
  self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * dim, dim))
  if shift > 0 then
    regions = ohm.zeros(1, resolution, resolution, 1)
    slice(slice(slice(slice(regions, 0, 0), 1, -window), 2, 0), 3, 0):fill_(1)
    slice(slice(slice(slice(regions, 0, 0), 1, 0), 2, -window), 3, 0):add_(2)
    masks = window_partition(regions, window):view(-1, window * window)
    mask = masks:unsqueeze(1) - masks:unsqueeze(2)
    mask = mask:masked_fill(mask:ne(0), -100.0):masked_fill(mask:eq(0), 0.0)
    self:register_buffer("mask", mask)
  end
end
function SwinBlock:forward(x)
  local B, L, C, H, shortcut, windows
  B, L, C = table.unpack(x.shape)
  H = self.resolution
  shortcut = x
  x = self.norm1(x):view(B, H, H, C)
  if self.shift > 0 then
    x = ohm.roll(x, {shifts = {-self.shift, -self.shift}, dims = {1, 2}})
  end
  windows = window_partition(x, self.window)
  windows = self.attn(windows, (self.shift > 0 and self.mask or nil))
  x = window_reverse(windows, self.window, H, H)
  if self.shift > 0 then
    x = ohm.roll(x, {shifts = {self.shift, self.shift}, dims = {1, 2}})
  end
  x = shortcut + x:view(B, L, C)
  return x + self.mlp(self.norm2(x))
end
PatchMerging = nn.Module:extend("PatchMerging")
function PatchMerging:__init(resolution, dim)
  self.resolution = resolution
  self.reduction = nn.Linear(4 * dim, 2 * dim, {bias = false})
  self.norm = nn.LayerNorm(4 * dim)
end
function PatchMerging:forward(x)
  local B, L, C, x0, x1, x2, x3
  B, L, C = table.unpack(x.shape)
  x = x:view(B, self.resolution, self.resolution, C)
  x0 = slice(slice(slice(slice(x, 0, 0), 1, 0, nil, 2), 2, 0, nil, 2), 3, 0)
  x1 = slice(slice(slice(slice(x, 0, 0), 1, 1, nil, 2), 2, 0, nil, 2), 3, 0)
  x2 = slice(slice(slice(slice(x, 0, 0), 1, 0, nil, 2), 2, 1, nil, 2), 3, 0)
  x3 = slice(slice(slice(slice(x, 0, 0), 1, 1, nil, 2), 2, 1, nil, 2), 3, 0)
  x = ohm.cat({x0, x1, x2, x3}, -1):view(B, -1, 4 * C)
  return self.reduction(self.norm(x))
end
Swin = nn.Module:extend("Swin")
function Swin:__init()
  self.patch = nn.Conv2d(3, 32, 4, {stride = 4})
  self.norm0 = nn.LayerNorm(32)
  self.stage1 = nn.ModuleList(collect(2, function(i) return SwinBlock(32, 8, 2, 4, ((i % 2) == 0 and 0 or 2)) end))
  self.merge = PatchMerging(8, 32)
  self.stage2 = nn.ModuleList(collect(1, function(i) return SwinBlock(64, 4, 4, 4, 0) end))
  self.norm = nn.LayerNorm(64)
  self.head = nn.Linear(64, 10)
end
function Swin:forward(x)
  local block
  x = self.patch(x):flatten(2):transpose(1, 2)
  x = self.norm0(x)
  for _, item1 in ipairs(self.stage1:children()) do
    block = item1
    x = block(x)
  end
  x = self.merge(x)
  for _, item2 in ipairs(self.stage2:children()) do
    block = item2
    x = block(x)
  end
  x = self.norm(x)
  x = F.adaptive_avg_pool1d(x:transpose(1, 2), 1)
  return self.head(ohm.flatten(x, 1))
end
model = Swin():cuda()
decay = filter(model:parameters(), function(p) return p.ndim > 1 end)
others = filter(model:parameters(), function(p) return p.ndim <= 1 end)
opt = ohm.optim.AdamW({{params = decay, weight_decay = 0.05}, {params = others, weight_decay = 0.0}}, {lr = 0.001})
scheduler = ohm.optim.lr_scheduler.CosineAnnealingLR(opt, {T_max = 10})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(4, 3, 32, 32, {device = "cuda"})
  y = ohm.randint(0, 10, {4}, {device = "cuda"})
  out = model(x)
  loss = F.cross_entropy(out, y, {label_smoothing = 0.1})
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 5.0)
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
decay = nil
others = nil
opt = nil
scheduler = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== model_switch_moe
local Expert, SwitchLayer, Model, model, optimizer, ids, order, assigned, logits, aux, loss
Expert = nn.Module:extend("Expert")
function Expert:__init(dim)
  self.w1 = nn.Linear(dim, 2 * dim, {bias = false})
  self.w2 = nn.Linear(2 * dim, dim, {bias = false})
  self.w3 = nn.Linear(dim, 2 * dim, {bias = false})
end
function Expert:forward(x)
  return self.w2(F.silu(self.w1(x)) * self.w3(x))
end
SwitchLayer = nn.Module:extend("SwitchLayer")
function SwitchLayer:__init(dim, experts)
  self.norm = nn.LayerNorm(dim)
  self.router = nn.Linear(dim, experts)
  self.experts = nn.ModuleList(collect(experts, function(i) return Expert(dim) end))
  self.shared = Expert(dim)
end
function SwitchLayer:forward(x, assigned)
  local b, t, d, flat, probs, gate, index, out, expert, rows, y, load, aux, z
  b, t, d = table.unpack(x.shape)
  flat = self.norm(x):view(-1, d)
  probs = self.router(flat):float():softmax({dim = -1})
  gate, index = probs:max({dim = -1})
  out = ohm.zeros_like(flat)
  for number1, item1 in ipairs(self.experts:children()) do
    local e = number1 - 1
    expert = item1
    rows = assigned[e + 1]
    y = expert(flat:index({rows})) * gate:index({rows}):unsqueeze(-1)
    out:index_add_(0, rows, y:to(out.dtype))
  end
  load = F.one_hot(index, probs:size(-1)):float():mean(0)
  aux = probs:size(-1) * (load * probs:mean(0)):sum()
  z = ohm.logsumexp(self.router(flat), {dim = -1}):square():mean()
  return x + (out + self.shared(flat)):view(b, t, d), aux + (0.001 * z)
end
Model = nn.Module:extend("Model")
function Model:__init()
  self.embed = nn.Embedding(140, 40)
  self.l1 = SwitchLayer(40, 3)
  self.l2 = SwitchLayer(40, 3)
  self.head = nn.Linear(40, 140)
end
function Model:forward(ids, assigned)
  local x, a1, a2
  x = self.embed(ids)
  do
    local new1, new2 = self.l1(x, assigned)
    x = new1
    a1 = new2
  end
  do
    local new1, new2 = self.l2(x, assigned)
    x = new1
    a2 = new2
  end
  return self.head(x), a1 + a2
end
model = Model():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001, fused = true})
mark("model")
for step = 0, 3 - 1 do
  ids = ohm.randint(0, 140, {4, 19}, {device = "cuda"})
  order = ohm.randperm(4 * 18, {device = "cuda"})
  assigned = {order:split({30, 5 + step, 37 - step})}
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16, enabled = step > 0})
    do
      local new1, new2 = model(slice(slice(ids, 0, 0), 1, 0, -1), assigned)
      logits = new1
      aux = new2
    end
    loss = F.cross_entropy(logits:reshape(-1, 140), slice(slice(ids, 0, 0), 1, 1):reshape(-1)) + (0.01 * aux)
  end
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
ids = nil
order = nil
assigned = nil
logits = nil
aux = nil
loss = nil
mark("globals deleted")

--== model_t5
local width, heads, vocab, T5LayerNorm, bucket, Attention, FeedForward, EncoderLayer, DecoderLayer, T5, model, opt, source, target, shifted, logits, loss
width, heads, vocab = 64, 4, 120
T5LayerNorm = nn.Module:extend("T5LayerNorm")
function T5LayerNorm:__init(size, eps)
  if eps == nil then eps = 1e-06 end
  self.weight = nn.Parameter(ohm.ones(size))
  self.eps = eps
end
function T5LayerNorm:forward(x)
  local variance
  variance = x:to(ohm.float32):pow(2):mean(-1, {keepdim = true})
  x = x * ohm.rsqrt(variance + self.eps)
  return self.weight * x
end
function bucket(relative, bidirectional, buckets, furthest)
  local result, exact, small, large
  if furthest == nil then furthest = 128 end
  if buckets == nil then buckets = 32 end
  result = ohm.zeros_like(relative)
  if bidirectional then
    buckets = buckets // 2
    result = result + ((relative:gt(0)):to(ohm.int64) * buckets)
    relative = ohm.abs(relative)
  else
    relative = -ohm.min(relative, ohm.zeros_like(relative))
  end
  exact = buckets // 2
  small = relative:lt(exact)
  large = exact + ((ohm.log(relative:float() / exact) / math.log(furthest / exact)) * (buckets - exact)):to(ohm.int64)
  large = ohm.min(large, ohm.full_like(large, buckets - 1))
  return result + ohm.where(small, relative, large)
end
Attention = nn.Module:extend("Attention")
function Attention:__init(bias, bidirectional)
  self.bidirectional = bidirectional
  self.q = nn.Linear(width, width, {bias = false})
  self.k = nn.Linear(width, width, {bias = false})
  self.v = nn.Linear(width, width, {bias = false})
  self.o = nn.Linear(width, width, {bias = false})
  self.relative = (bias and nn.Embedding(32, heads) or false)
end
function Attention:compute_bias(queries, keys)
  local positions, memory, values
  positions = slice(ohm.arange(queries, {dtype = ohm.int64, device = "cuda"}), 0, 0):unsqueeze(1)
  memory = slice(ohm.arange(keys, {dtype = ohm.int64, device = "cuda"}):unsqueeze(0), 1, 0)
  values = self.relative(bucket(memory - positions, self.bidirectional))
  return values:permute({2, 0, 1}):unsqueeze(0)
end
function Attention:forward(x, memory, bias, mask)
  local B, T, _, S, q, k, v, scores, weights, out
  B, T, _ = table.unpack(x.shape)
  S = memory:size(1)
  q = self.q(x):view(B, T, heads, -1):transpose(1, 2)
  k = self.k(memory):view(B, S, heads, -1):transpose(1, 2)
  v = self.v(memory):view(B, S, heads, -1):transpose(1, 2)
  scores = ohm.matmul(q, k:transpose(3, 2))
  if bias == nil then
    if self.relative then
      bias = self:compute_bias(T, S)
    else
      bias = ohm.zeros(1, heads, T, S, {device = "cuda"})
    end
    if mask ~= nil then
      bias = bias + mask
    end
  end
  scores = iadd(scores, bias)
  weights = F.softmax(scores:float(), {dim = -1}):type_as(scores)
  weights = F.dropout(weights, {p = 0.1, training = self.training})
  out = ohm.matmul(weights, v):transpose(1, 2):contiguous():view(B, T, width)
  return self.o(out), bias
end
FeedForward = nn.Module:extend("FeedForward")
function FeedForward:__init()
  self.wi = nn.Linear(width, 2 * width, {bias = false})
  self.wo = nn.Linear(2 * width, width, {bias = false})
  self.norm = T5LayerNorm(width)
  self.dropout = nn.Dropout(0.1)
end
function FeedForward:forward(x)
  local h
  h = F.relu(self.wi(self.norm(x)))
  return x + self.dropout(self.wo(self.dropout(h)))
end
EncoderLayer = nn.Module:extend("EncoderLayer")
function EncoderLayer:__init(bias)
  self.norm = T5LayerNorm(width)
  self.attention = Attention(bias, true)
  self.ff = FeedForward()
end
function EncoderLayer:forward(x, bias)
  local h
  h = self.norm(x)
  h, bias = self.attention(h, h, bias, nil)
  return self.ff(x + h), bias
end
DecoderLayer = nn.Module:extend("DecoderLayer")
function DecoderLayer:__init(bias)
  self.norm1 = T5LayerNorm(width)
  self.attention = Attention(bias, false)
  self.norm2 = T5LayerNorm(width)
  self.cross = Attention(false, true)
  self.ff = FeedForward()
end
function DecoderLayer:forward(x, memory, bias, cross_bias, mask)
  local h
  h = self.norm1(x)
  h, bias = self.attention(h, h, bias, mask)
  x = x + h
  h, cross_bias = self.cross(self.norm2(x), memory, cross_bias, nil)
  x = x + h
  return self.ff(x), bias, cross_bias
end
T5 = nn.Module:extend("T5")
function T5:__init()
  self.shared = nn.Embedding(vocab, width)
  self.encoder = nn.ModuleList(collect(2, function(i) return EncoderLayer(i == 0) end))
  self.encoder_norm = T5LayerNorm(width)
  self.decoder = nn.ModuleList(collect(2, function(i) return DecoderLayer(i == 0) end))
  self.decoder_norm = T5LayerNorm(width)
  self.lm_head = nn.Linear(width, vocab, {bias = false})
end
function T5:forward(source, target)
  local memory, bias, layer, T, mask, x, cross_bias
  memory = self.shared(source)
  bias = nil
  for _, item1 in ipairs(self.encoder:children()) do
    layer = item1
    memory, bias = layer(memory, bias)
  end
  memory = self.encoder_norm(memory)
  T = target:size(1)
  mask = ohm.triu(ohm.full({T, T}, -1000000000.0, {device = "cuda"}), {diagonal = 1})
  x = self.shared(target)
  bias = nil
  cross_bias = nil
  for _, item2 in ipairs(self.decoder:children()) do
    layer = item2
    x, bias, cross_bias = layer(x, memory, bias, cross_bias, mask)
  end
  return self.lm_head(self.decoder_norm(x) * (width ^ (-0.5)))
end
model = T5():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 2 - 1 do
  source = ohm.randint(0, vocab, {3, 14}, {device = "cuda"})
  target = ohm.randint(0, vocab, {3, 9}, {device = "cuda"})
  shifted = target:new_zeros(target.shape)
  slice(slice(shifted, 0, 0), 1, 1):copy_(slice(slice(target, 0, 0), 1, 0, -1):clone())
  logits = model(source, shifted)
  loss = F.cross_entropy(logits:view(-1, logits:size(-1)), target:view(-1))
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
source = nil
target = nil
shifted = nil
logits = nil
loss = nil
mark("globals deleted")

--== model_tacotron
local LocationAttention, Prenet, Tacotron, model, optimizer, text, lengths, mel, target, out, post, gate, loss
LocationAttention = nn.Module:extend("LocationAttention")
function LocationAttention:__init(query, memory, width)
  self.q = nn.Linear(query, width, {bias = false})
  self.m = nn.Linear(memory, width, {bias = false})
  self.v = nn.Linear(width, 1, {bias = false})
  self.conv = nn.Conv1d(2, 8, 31, {padding = 15, bias = false})
  self.dense = nn.Linear(8, width, {bias = false})
end
function LocationAttention:forward(query, memory, keys, weights, mask)
  local location, energy, alignment
  location = self.dense(self.conv(weights):transpose(1, 2))
  energy = self.v(ohm.tanh((self.q(query:unsqueeze(1)) + location) + keys)):squeeze(-1)
  energy.data:masked_fill_(mask, -1000000000.0)
  alignment = F.softmax(energy, {dim = 1})
  return ohm.bmm(alignment:unsqueeze(1), memory):squeeze(1), alignment
end
Prenet = nn.Module:extend("Prenet")
function Prenet:__init(sizes)
  self.layers = nn.ModuleList(map(function(a, b) return nn.Linear(a, b, {bias = false}) end, {20, 32}, {32, 32}))
end
function Prenet:forward(x)
  local layer
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    x = F.dropout(F.relu(layer(x)), {p = 0.5, training = true})
  end
  return x
end
Tacotron = nn.Module:extend("Tacotron")
function Tacotron:__init(symbols, width, mels)
  if mels == nil then mels = 20 end
  if width == nil then width = 32 end
  if symbols == nil then symbols = 40 end
  self.embedding = nn.Embedding(symbols, width)
  self.convs = nn.ModuleList(collect(2, function(_) return nn.Sequential(nn.Conv1d(width, width, 5, {padding = 2}), nn.BatchNorm1d(width)) end))
  self.lstm = nn.LSTM(width, width // 2, 1, {batch_first = true, bidirectional = true})
  self.prenet = Prenet({mels, 32, 32})
  self.attention_cell = nn.LSTMCell(32 + width, 64)
  self.attention = LocationAttention(64, width, 32)
  self.decoder_cell = nn.LSTMCell(64 + width, 64)
  self.project = nn.Linear(64 + width, mels)
  self.gate = nn.Linear(64 + width, 1)
  self.postnet = nn.Sequential(nn.Conv1d(mels, 32, 5, {padding = 2}), nn.BatchNorm1d(32), nn.Tanh(), nn.Dropout(0.5), nn.Conv1d(32, mels, 5, {padding = 2}), nn.BatchNorm1d(mels))
  self.mels = mels
end
function Tacotron:forward(text, lengths, mel)
  local x, conv, memory, _, mask, keys, b, ah, ac, dh, dc, w, total, context, frames, outs, gates, frame, both, out
  x = self.embedding(text):transpose(1, 2)
  for _, item2 in ipairs(self.convs:children()) do
    conv = item2
    x = F.dropout(F.relu(conv(x)), 0.5, self.training)
  end
  do local r = self.lstm(x:transpose(1, 2)); memory = r[1]; _ = {r[2], r[3]}; r = nil; sweep() end
  mask = ohm.arange(text:size(1), {device = text.device}):unsqueeze(0):ge(slice(lengths, 0, 0):unsqueeze(1))
  keys = self.attention.m(memory)
  b = text:size(0)
  ah = memory:new_zeros(b, 64)
  ac = memory:new_zeros(b, 64)
  dh = memory:new_zeros(b, 64)
  dc = memory:new_zeros(b, 64)
  w = memory:new_zeros(b, text:size(1))
  total = ohm.zeros_like(w)
  context = memory:new_zeros(b, memory:size(2))
  frames = ohm.cat({mel:new_zeros(1, b, self.mels), slice(mel:permute(2, 0, 1), 0, 0, -1)})
  frames = self.prenet(frames)
  outs, gates = {}, {}
  for _, item3 in ipairs({frames:unbind(0)}) do
    frame = item3
    do
      local new1, new2 = several(self.attention_cell(ohm.cat({frame, context}, -1), {ah, ac}))
      ah = new1
      ac = new2
    end
    ah = F.dropout(ah, 0.1, self.training)
    do
      local new1, new2 = self.attention(ah, memory, keys, ohm.cat({w:unsqueeze(1), total:unsqueeze(1)}, {dim = 1}), mask)
      context = new1
      w = new2
    end
    total = iadd(total, w)
    do
      local new1, new2 = several(self.decoder_cell(ohm.cat({ah, context}, -1), {dh, dc}))
      dh = new1
      dc = new2
    end
    both = ohm.cat({dh, context}, {dim = 1})
    outs[#outs + 1] = self.project(both)
    gates[#gates + 1] = self.gate(both):squeeze(1)
  end
  out = ohm.stack(outs):permute(1, 2, 0):contiguous()
  return out, out + self.postnet(out), ohm.stack(gates, 1)
end
model = Tacotron():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001, weight_decay = 1e-06})
mark("model")
for step = 0, 2 - 1 do
  text = ohm.randint(0, 40, {4, 12}, {device = "cuda"})
  lengths = ohm.tensor({12, 10, 8, 5}, {device = "cuda"})
  mel = ohm.randn(4, 20, 6, {device = "cuda"})
  target = ohm.zeros(4, 6, {device = "cuda"})
  slice(target, 0, 0):select(1, -1):fill_(1)
  do
    local new1, new2, new3 = model(text, lengths, mel)
    out = new1
    post = new2
    gate = new3
  end
  loss = (F.mse_loss(out, mel) + F.mse_loss(post, mel)) + F.binary_cross_entropy_with_logits(gate, target)
  optimizer:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
text = nil
lengths = nil
mel = nil
target = nil
out = nil
post = nil
gate = nil
loss = nil
mark("globals deleted")

--== model_td3
local Actor, Critic, actor, actor_target, critic, critic_target, actor_opt, critic_opt, buffer_s, buffer_a, buffer_r, buffer_s2, buffer_d, state, action, ind, next_state, reward, not_done, noise, next_action, target1, target2, target, q1, q2, critic_loss, actor_loss, p, tp
Actor = nn.Module:extend("Actor")
function Actor:__init(s, a)
  self.l1 = nn.Linear(s, 128)
  self.l2 = nn.Linear(128, 128)
  self.l3 = nn.Linear(128, a)
end
function Actor:forward(x)
  x = F.relu(self.l1(x))
  x = F.relu(self.l2(x))
  return 2.0 * ohm.tanh(self.l3(x))
end
Critic = nn.Module:extend("Critic")
function Critic:__init(s, a)
  self.l1 = nn.Linear(s + a, 128)
  self.l2 = nn.Linear(128, 1)
  self.l3 = nn.Linear(s + a, 128)
  self.l4 = nn.Linear(128, 1)
end
function Critic:forward(s, a)
  local sa, q1, q2
  sa = ohm.cat({s, a}, 1)
  q1 = self.l2(F.relu(self.l1(sa)))
  q2 = self.l4(F.relu(self.l3(sa)))
  return q1, q2
end
function Critic:Q1(s, a)
  local sa
  sa = ohm.cat({s, a}, 1)
  return self.l2(F.relu(self.l1(sa)))
end
actor = Actor(11, 3):cuda()
actor_target = ohm.copy.deepcopy(actor)
critic = Critic(11, 3):cuda()
critic_target = ohm.copy.deepcopy(critic)
actor_opt = ohm.optim.Adam(actor:parameters(), {lr = 0.0003})
critic_opt = ohm.optim.Adam(critic:parameters(), {lr = 0.0003})
buffer_s = ohm.zeros(500, 11)
buffer_a = ohm.zeros(500, 3)
buffer_r = ohm.zeros(500, 1)
buffer_s2 = ohm.zeros(500, 11)
buffer_d = ohm.zeros(500, 1)
mark("models")
for i = 0, 8 - 1 do
  state = ohm.randn(1, 11)
  action = actor(state:to("cuda")):cpu():detach():flatten()
  buffer_s:select(0, i):copy_(state:select(0, 0))
  buffer_a:select(0, i):copy_(action + (0.1 * ohm.randn(3)))
  buffer_d:select(0, i):fill_(0.0)
end
mark("collected")
for step = 0, 4 - 1 do
  ind = ohm.randint(0, 500, {64})
  state = buffer_s:index({ind}):to("cuda")
  action = buffer_a:index({ind}):to("cuda")
  next_state = buffer_s2:index({ind}):to("cuda")
  reward = buffer_r:index({ind}):to("cuda")
  not_done = (1.0 - buffer_d:index({ind})):to("cuda")
  do
    local mode1 <close> = ohm.no_grad()
    noise = (ohm.randn_like(action) * 0.2):clamp(-0.5, 0.5)
    next_action = (actor_target(next_state) + noise):clamp(-2.0, 2.0)
    target1, target2 = critic_target(next_state, next_action)
    target = ohm.min(target1, target2)
    target = reward + ((not_done * 0.99) * target)
  end
  q1, q2 = critic(state, action)
  critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
  critic_opt:zero_grad()
  critic_loss:backward()
  critic_opt:step()
  mark("critic " .. step)
  if (step % 2) == 0 then
    actor_loss = -critic:Q1(state, actor(state)):mean()
    actor_opt:zero_grad()
    actor_loss:backward()
    actor_opt:step()
    do
      local mode2 <close> = ohm.no_grad()
      do
        local list3_2 = critic_target:parameters()
        for number3, item3 in ipairs(critic:parameters()) do
          p = item3
          tp = list3_2[number3]
          tp:lerp_(p, 0.005)
        end
      end
      do
        local list4_2 = actor_target:parameters()
        for number4, item4 in ipairs(actor:parameters()) do
          p = item4
          tp = list4_2[number4]
          tp:mul_(0.995)
          tp:add_(0.005 * p)
        end
      end
    end
    mark("actor " .. step)
  end
end
mark("end of program (globals alive)")
actor = nil
actor_target = nil
critic = nil
critic_target = nil
actor_opt = nil
critic_opt = nil
buffer_s = nil
buffer_a = nil
buffer_r = nil
buffer_s2 = nil
buffer_d = nil
state = nil
action = nil
ind = nil
next_state = nil
reward = nil
not_done = nil
noise = nil
next_action = nil
target1 = nil
target2 = nil
target = nil
q1 = nil
q2 = nil
critic_loss = nil
actor_loss = nil
p = nil
tp = nil
mark("globals deleted")

--== model_tft
-- a < b and others, of tensors or numbers
local function compare(how, a, b)
  if ohm.is_tensor(a) then return a[how](a, b) end
  if ohm.is_tensor(b) then return b[({lt = "gt", gt = "lt", le = "ge", ge = "le", eq = "eq", ne = "ne"})[how]](b, a) end
  if how == "eq" then return a == b elseif how == "ne" then return a ~= b end
  if how == "lt" then return a < b elseif how == "le" then return a <= b end
  if how == "gt" then return a > b else return a >= b end
end

-- what a module gives, several values or a list
local function spread(first, ...)
  if type(first) == "table" and select("#", ...) == 0 then return table.unpack(first) end
  return first, ...
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

local GRN, VariableSelection, TFT, quantile_loss, model, optimizer, quantiles, static, x, out, weights, attention, loss
GRN = nn.Module:extend("GRN")
function GRN:__init(inputs, hidden, outputs, context)
  outputs = (outputs or inputs)
  self.fc1 = nn.Linear(inputs, hidden)
  self.context = (context and nn.Linear(context, hidden, {bias = false}) or false)
  self.fc2 = nn.Linear(hidden, outputs)
  self.gate = nn.Linear(outputs, 2 * outputs)
  self.norm = nn.LayerNorm(outputs)
  self.skip = (compare("ne", inputs, outputs) and nn.Linear(inputs, outputs) or nn.Identity())
  self.dropout = nn.Dropout(0.1)
end
function GRN:forward(x, c)
  local h
  h = self.fc1(x)
  if c ~= nil then
    h = h + self.context(c):unsqueeze(1)
  end
  h = self.dropout(self.fc2(F.elu(h)))
  return self.norm(self.skip(x) + F.glu(self.gate(h), {dim = -1}))
end
VariableSelection = nn.Module:extend("VariableSelection")
function VariableSelection:__init(count, width)
  self.weights = GRN(count * width, width, count, width)
  self.each = nn.ModuleList(collect(count, function(_) return GRN(width, width) end))
end
function VariableSelection:forward(x, c)
  local weights, parts
  weights = F.softmax(self.weights(x:flatten(2), c), {dim = -1})
  parts = ohm.stack((function() local r = {} local l0 = items(self.each:children()) for i_ = 1, #l0 do local i = i_ - 1 local g = l0[i_] r[#r + 1] = g(slice(slice(x, 0, 0), 1, 0):select(2, i)) end return r end)(), {dim = -1})
  return ohm.sum(weights:unsqueeze(2) * parts, {dim = -1}), weights
end
TFT = nn.Module:extend("TFT")
function TFT:__init(width, variables, quantiles)
  if quantiles == nil then quantiles = 3 end
  if variables == nil then variables = 4 end
  if width == nil then width = 16 end
  self.static = nn.Embedding(10, width)
  self.inputs = nn.ModuleList(collect(variables, function(_) return nn.Linear(1, width) end))
  self.selection = VariableSelection(variables, width)
  self.h = GRN(width, width)
  self.c = GRN(width, width)
  self.encoder = nn.LSTM(width, width, {batch_first = true})
  self.gate = nn.Linear(width, 2 * width)
  self.norm = nn.LayerNorm(width)
  self.attention = nn.MultiheadAttention(width, 4, {batch_first = true})
  self.out = nn.Linear(width, quantiles)
end
function TFT:forward(static, x)
  local s, e, weights, state, h, _, t, mask, a, attention
  s = self.static(static)
  e = ohm.stack((function() local r = {} local l0 = items(self.inputs:children()) for i_ = 1, #l0 do local i = i_ - 1 local f = l0[i_] r[#r + 1] = f(slice(x, -1, i, i + 1)) end return r end)(), {dim = 2})
  do
    local new1, new2 = self.selection(e, s)
    e = new1
    weights = new2
  end
  state = {self.h(s):unsqueeze(0), self.c(s):unsqueeze(0)}
  do local results3 = self.encoder(e, state)
    local old = _
    h = results3[1]
    _ = {results3[2], results3[3]}
    if type(old) == 'table' then clear(old) end end
  h = self.norm(F.glu(self.gate(h)) + e)
  t = x:size(1)
  mask = ohm.triu(ohm.ones(t, t, {dtype = ohm.bool, device = x.device}), {diagonal = 1})
  a, attention = spread(self.attention(h, h, h, {attn_mask = mask}))
  return self.out(h + a), weights, attention
end
function quantile_loss(prediction, target, quantiles)
  local errors
  errors = target:unsqueeze(-1) - prediction
  return ohm.max((quantiles - 1) * errors, quantiles * errors):sum(-1):mean()
end
model = TFT():cuda()
optimizer = ohm.optim.NAdam(model:parameters(), {lr = 0.001})
quantiles = ohm.tensor({0.1, 0.5, 0.9}, {device = "cuda"})
mark("model")
for step = 0, 2 - 1 do
  static = ohm.randint(0, 10, {8}, {device = "cuda"})
  x = ohm.randn(8, 12, 4, {device = "cuda"})
  do
    local new1, new2, new3 = model(static, x)
    out = new1
    weights = new2
    attention = new3
  end
  loss = quantile_loss(out, ohm.randn(8, 12, {device = "cuda"}), quantiles)
  loss:backward()
  optimizer:step()
  optimizer:zero_grad()
  out = nil
  weights = nil
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
quantiles = nil
static = nil
x = nil
attention = nil
loss = nil
mark("globals deleted")

--== model_transformer_xl
local width, heads, head_dim, vocab, mem_len, length, PositionalEmbedding, RelAttention, Layer, TransformerXL, model, opt, mems, data, target, logits, loss
width, heads, head_dim, vocab, mem_len, length = 48, 4, 12, 150, 10, 8
PositionalEmbedding = nn.Module:extend("PositionalEmbedding")
function PositionalEmbedding:__init()
  local inv
  inv = 1 / (10000 ^ (ohm.arange(0.0, width, 2.0) / width))
  self:register_buffer("inv_freq", inv)
end
function PositionalEmbedding:forward(positions)
  local angles
  angles = ohm.outer(positions, self.inv_freq)
  return slice(slice(ohm.cat({angles:sin(), angles:cos()}, {dim = -1}), 0, 0):unsqueeze(1), 2, 0)
end
RelAttention = nn.Module:extend("RelAttention")
function RelAttention:__init()
  self.qkv = nn.Linear(width, (3 * heads) * head_dim, {bias = false})
  self.r = nn.Linear(width, heads * head_dim, {bias = false})
  self.o = nn.Linear(heads * head_dim, width, {bias = false})
  self.norm = nn.LayerNorm(width)
  self.drop = nn.Dropout(0.1)
end
function RelAttention:shift(x)
  local zero, padded
  zero = ohm.zeros({x:size(0), 1, x:size(2), x:size(3)}, {device = x.device, dtype = x.dtype})
  padded = ohm.cat({zero, x}, {dim = 1})
  padded = padded:view(x:size(1) + 1, x:size(0), x:size(2), x:size(3))
  return slice(padded, 0, 1):view_as(x)
end
function RelAttention:forward(w, r, u, v, mask, mems)
  local qlen, rlen, bsz, h, q, k, val, klen, rk, ac, bd, score, prob, vec
  qlen, rlen, bsz = w:size(0), r:size(0), w:size(1)
  h = ohm.cat({mems, w}, 0)
  q, k, val = ohm.chunk(self.qkv(h), 3, {dim = -1})
  q = slice(q, 0, -qlen)
  klen = k:size(0)
  q = q:view(qlen, bsz, heads, head_dim)
  k = k:view(klen, bsz, heads, head_dim)
  val = val:view(klen, bsz, heads, head_dim)
  rk = self.r(r):view(rlen, heads, head_dim)
  ac = ohm.einsum("ibnd,jbnd->ijbn", {q + u, k})
  bd = ohm.einsum("ibnd,jnd->ijbn", {q + v, rk})
  bd = self:shift(bd)
  score = (ac + bd) * (1 / (head_dim ^ 0.5))
  score = score:masked_fill(slice(slice(mask, 0, 0), 1, 0):unsqueeze(2):unsqueeze(3), -math.huge)
  prob = self.drop(F.softmax(score, {dim = 1}))
  vec = ohm.einsum("ijbn,jbnd->ibnd", {prob, val})
  vec = vec:contiguous():view(qlen, bsz, heads * head_dim)
  return self.norm(w + self.drop(self.o(vec)))
end
Layer = nn.Module:extend("Layer")
function Layer:__init()
  self.attn = RelAttention()
  self.ff = nn.Sequential(nn.Linear(width, 96), nn.ReLU({inplace = true}), nn.Dropout(0.1), nn.Linear(96, width))
  self.norm = nn.LayerNorm(width)
end
function Layer:forward(x, r, u, v, mask, mems)
  x = self.attn(x, r, u, v, mask, mems)
  return self.norm(x + self.ff(x))
end
TransformerXL = nn.Module:extend("TransformerXL")
function TransformerXL:__init()
  self.emb = nn.Embedding(vocab, width)
  self.pos = PositionalEmbedding()
  self.u = nn.Parameter(ohm.randn(heads, head_dim))
  self.v = nn.Parameter(ohm.randn(heads, head_dim))
  self.layers = nn.ModuleList(collect(2, function(_) return Layer() end))
  self.out = nn.Linear(width, vocab)
end
function TransformerXL:forward(data, mems)
  local qlen, mlen, klen, x, mask, r, hids, layer, new, joined
  qlen = data:size(0)
  mlen = mems[1]:size(0)
  klen = mlen + qlen
  x = self.emb(data) * (width ^ 0.5)
  mask = ohm.triu(ohm.ones(qlen, klen, {dtype = ohm.bool, device = x.device}), {diagonal = 1 + mlen})
  r = self.pos(ohm.arange(klen - 1, -1, -1.0, {device = x.device}))
  hids = {x}
  for number1, item1 in ipairs(self.layers:children()) do
    local i = number1 - 1
    layer = item1
    x = layer(x, r, self.u, self.v, mask, mems[i + 1])
    hids[#hids + 1] = x
  end
  do
    local mode2 <close> = ohm.no_grad()
    new = {}
    for i = 0, 2 - 1 do
      joined = ohm.cat({mems[i + 1], hids[i + 1]}, {dim = 0})
      new[#new + 1] = slice(joined, 0, -mem_len):detach()
    end
  end
  return self.out(x), new
end
model = TransformerXL():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.00025})
mems = collect(2, function(_) return ohm.zeros(mem_len, 4, width, {device = "cuda"}) end)
mark("model")
for step = 0, 3 - 1 do
  data = ohm.randint(0, vocab, {length, 4}, {device = "cuda"})
  target = ohm.randint(0, vocab, {length, 4}, {device = "cuda"})
  logits, mems = model(data, mems)
  loss = F.cross_entropy(logits:view(-1, vocab), target:view(-1), {reduction = "none"}):view(length, 4):mean()
  mark("forward " .. step)
  model:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 0.25)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mems = nil
data = nil
target = nil
logits = nil
loss = nil
mark("globals deleted")

--== model_triplet
local EmbeddingNet, Siamese, model, criterion, opt, anchor, positive, negative, a, p, n, loss, same, other, gallery, query, distances, nearest
EmbeddingNet = nn.Module:extend("EmbeddingNet")
function EmbeddingNet:__init()
  self.convnet = nn.Sequential(nn.Conv2d(1, 16, 5), nn.PReLU(), nn.MaxPool2d(2, {stride = 2}), nn.Conv2d(16, 32, 5), nn.PReLU(), nn.MaxPool2d(2, {stride = 2}))
  self.fc = nn.Sequential(nn.Linear((32 * 4) * 4, 64), nn.PReLU(), nn.Linear(64, 16))
end
function EmbeddingNet:forward(x)
  local output
  output = self.convnet(x)
  output = output:view(output:size(0), -1)
  return F.normalize(self.fc(output), {p = 2, dim = 1})
end
Siamese = nn.Module:extend("Siamese")
function Siamese:__init(embedding)
  self.embedding = embedding
end
function Siamese:forward(a, p, n)
  return self.embedding(a), self.embedding(p), self.embedding(n)
end
model = Siamese(EmbeddingNet()):cuda()
criterion = nn.TripletMarginLoss({margin = 0.2, p = 2})
opt = ohm.optim.Adagrad(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 2 - 1 do
  anchor = ohm.randn(8, 1, 28, 28, {device = "cuda"})
  positive = anchor + (0.1 * ohm.randn_like(anchor))
  negative = ohm.randn(8, 1, 28, 28, {device = "cuda"})
  a, p, n = model(anchor, positive, negative)
  loss = criterion(a, p, n)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("triplet " .. step)
  a, p, n = model(anchor, positive, negative)
  same = (a - p):pow(2):sum(1)
  other = (a - n):pow(2):sum(1)
  loss = (same + F.relu(1.0 - (other + 1e-09):sqrt()):pow(2)):mean() * 0.5
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("contrastive " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  gallery = model.embedding(ohm.randn(12, 1, 28, 28, {device = "cuda"}))
  query = model.embedding(anchor)
  distances = ohm.cdist(query, gallery)
  nearest = second(distances:topk(3, {dim = 1, largest = false}))
end
mark("retrieval")
mark("end of program (globals alive)")
model = nil
criterion = nil
opt = nil
anchor = nil
positive = nil
negative = nil
a = nil
p = nil
n = nil
loss = nil
same = nil
other = nil
gallery = nil
query = nil
distances = nil
nearest = nil
mark("globals deleted")

--== model_unet
local DoubleConv, UNet, dice_loss, model, opt, scaler, images, masks, pred, loss, accuracy
DoubleConv = nn.Module:extend("DoubleConv")
function DoubleConv:__init(inputs, outputs)
  self.net = nn.Sequential(nn.Conv2d(inputs, outputs, 3, {padding = 1, bias = false}), nn.BatchNorm2d(outputs), nn.ReLU({inplace = true}), nn.Conv2d(outputs, outputs, 3, {padding = 1, bias = false}), nn.BatchNorm2d(outputs), nn.ReLU({inplace = true}))
end
function DoubleConv:forward(x)
  return self.net(x)
end
UNet = nn.Module:extend("UNet")
function UNet:__init(channels, classes, width)
  if width == nil then width = 16 end
  if classes == nil then classes = 2 end
  if channels == nil then channels = 3 end
  self.inc = DoubleConv(channels, width)
  self.down1 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(width, 2 * width))
  self.down2 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(2 * width, 4 * width))
  self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, {stride = 2})
  self.conv1 = DoubleConv(4 * width, 2 * width)
  self.up2 = nn.Upsample({scale_factor = 2, mode = "bilinear", align_corners = true})
  self.conv2 = DoubleConv(3 * width, width)
  self.outc = nn.Conv2d(width, classes, 1)
end
function UNet:forward(x)
  local x1, x2, x3, dy, dx
  x1 = self.inc(x)
  x2 = self.down1(x1)
  x3 = self.down2(x2)
  x = self.up1(x3)
  dy = x2:size(2) - x:size(2)
  dx = x2:size(3) - x:size(3)
  x = F.pad(x, {dx // 2, dx - (dx // 2), dy // 2, dy - (dy // 2)})
  x = self.conv1(ohm.cat({x2, x}, {dim = 1}))
  x = self.up2(x)
  x = F.pad(x, {0, x1:size(3) - x:size(3), 0, x1:size(2) - x:size(2)})
  x = self.conv2(ohm.cat({x1, x}, {dim = 1}))
  return self.outc(x)
end
function dice_loss(logits, target, eps)
  local probs, onehot, inter, sets
  if eps == nil then eps = 1e-06 end
  probs = F.softmax(logits, {dim = 1})
  onehot = F.one_hot(target, 2):permute(0, 3, 1, 2):float()
  inter = 2 * (probs * onehot):sum({dim = {2, 3}})
  sets = probs:sum({dim = {2, 3}}) + onehot:sum({dim = {2, 3}})
  return 1 - ((inter + eps) / (sets + eps)):mean()
end
model = UNet():cuda()
opt = ohm.optim.RMSprop(model:parameters(), {lr = 0.001, weight_decay = 1e-08, momentum = 0.9, foreach = true})
scaler = ohm.amp.GradScaler("cuda")
mark("model")
for step = 0, 2 - 1 do
  images = ohm.randn(2, 3, 70, 66, {device = "cuda"})
  masks = ohm.randint(0, 2, {2, 70, 66}, {device = "cuda"})
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
    pred = model(images)
    loss = F.cross_entropy(pred, masks)
    loss = iadd(loss, dice_loss(pred:float(), masks))
  end
  mark("forward " .. step)
  opt:zero_grad({set_to_none = true})
  scaler:scale(loss):backward()
  mark("backward " .. step)
  scaler:unscale_(opt)
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  scaler:step(opt)
  scaler:update()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  pred = model(images):argmax({dim = 1})
  accuracy = (pred:eq(masks)):float():mean():item()
end
mark("eval")
mark("end of program (globals alive)")
model = nil
opt = nil
scaler = nil
images = nil
masks = nil
pred = nil
loss = nil
accuracy = nil
mark("globals deleted")

--== model_unet3d
local DoubleConv, UNet3d, dice_loss, model, opt, scans, masks, pred, loss
DoubleConv = nn.Module:extend("DoubleConv")
function DoubleConv:__init(inputs, outputs)
  self.net = nn.Sequential(nn.Conv3d(inputs, outputs, 3, {padding = 1, bias = false}), nn.BatchNorm3d(outputs), nn.ReLU({inplace = true}), nn.Conv3d(outputs, outputs, 3, {padding = 1, bias = false}), nn.InstanceNorm3d(outputs, {affine = true}), nn.LeakyReLU(0.01, {inplace = true}))
end
function DoubleConv:forward(x)
  return self.net(x)
end
UNet3d = nn.Module:extend("UNet3d")
function UNet3d:__init(channels, classes, width)
  if width == nil then width = 8 end
  if classes == nil then classes = 3 end
  if channels == nil then channels = 1 end
  self.inc = DoubleConv(channels, width)
  self.down1 = nn.Sequential(nn.MaxPool3d(2), DoubleConv(width, 2 * width))
  self.down2 = nn.Sequential(nn.AvgPool3d(2), DoubleConv(2 * width, 4 * width), nn.Dropout3d(0.2))
  self.up1 = nn.ConvTranspose3d(4 * width, 2 * width, 2, {stride = 2})
  self.conv1 = DoubleConv(4 * width, 2 * width)
  self.up2 = nn.ConvTranspose3d(2 * width, width, 2, {stride = 2, bias = false})
  self.conv2 = DoubleConv(2 * width, width)
  self.outc = nn.Conv3d(width, classes, 1)
end
function UNet3d:forward(x)
  local x1, x2, x3
  x1 = self.inc(x)
  x2 = self.down1(x1)
  x3 = self.down2(x2)
  x = self.up1(x3)
  x = self.conv1(ohm.cat({x2, x}, {dim = 1}))
  x = self.up2(x)
  x = self.conv2(ohm.cat({x1, x}, {dim = 1}))
  return self.outc(x)
end
function dice_loss(logits, target, eps)
  local probs, onehot, inter, sets
  if eps == nil then eps = 1e-06 end
  probs = F.softmax(logits, {dim = 1})
  onehot = F.one_hot(target, 3):permute(0, 4, 1, 2, 3):float()
  inter = 2 * (probs * onehot):sum({dim = {2, 3, 4}})
  sets = probs:sum({dim = {2, 3, 4}}) + onehot:sum({dim = {2, 3, 4}})
  return 1 - ((inter + eps) / (sets + eps)):mean()
end
model = UNet3d():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 2 - 1 do
  scans = ohm.randn(2, 1, 16, 24, 20, {device = "cuda"})
  masks = ohm.randint(0, 3, {2, 16, 24, 20}, {device = "cuda"})
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    pred = model(scans)
    loss = F.cross_entropy(pred, masks)
  end
  loss = loss + dice_loss(pred:float(), masks)
  mark("forward " .. step)
  opt:zero_grad({set_to_none = true})
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  pred = model(scans):argmax({dim = 1})
end
mark("eval")
mark("end of program (globals alive)")
model = nil
opt = nil
scans = nil
masks = nil
pred = nil
loss = nil
mark("globals deleted")

--== model_vae
local VAE, loss_function, model, opt, total, data, recon, mu, logvar, loss, comparison, sample
VAE = nn.Module:extend("VAE")
function VAE:__init()
  self.encoder = nn.Sequential(nn.Conv2d(1, 16, 3, {stride = 2, padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {stride = 2, padding = 1}), nn.ReLU(), nn.Flatten())
  self.mu = nn.Linear((32 * 7) * 7, 12)
  self.logvar = nn.Linear((32 * 7) * 7, 12)
  self.fc = nn.Linear(12, (32 * 7) * 7)
  self.decoder = nn.Sequential(nn.ReLU(), nn.Unflatten(1, {32, 7, 7}), nn.ConvTranspose2d(32, 16, 3, {stride = 2, padding = 1, output_padding = 1}), nn.ReLU(), nn.ConvTranspose2d(16, 1, 3, {stride = 2, padding = 1, output_padding = 1}))
end
function VAE:reparameterize(mu, logvar)
  local std, eps
  std = ohm.exp(0.5 * logvar)
  eps = ohm.randn_like(std)
  return mu + (eps * std)
end
function VAE:forward(x)
  local h, mu, logvar, z
  h = self.encoder(x)
  mu, logvar = self.mu(h), self.logvar(h)
  z = self:reparameterize(mu, logvar)
  return ohm.sigmoid(self.decoder(self.fc(z))), mu, logvar
end
function loss_function(recon, x, mu, logvar)
  local bce, kld
  bce = F.binary_cross_entropy(recon, x, {reduction = "sum"})
  kld = (-0.5) * ohm.sum(((1 + logvar) - mu:pow(2)) - logvar:exp())
  return bce + kld
end
model = VAE():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001})
total = 0
mark("model")
for step = 0, 3 - 1 do
  data = ohm.rand(16, 1, 28, 28):cuda()
  opt:zero_grad()
  recon, mu, logvar = model(data)
  loss = loss_function(recon, data, mu, logvar)
  mark("forward " .. step)
  loss:backward()
  total = total + loss:item()
  opt:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  recon, mu, logvar = model(data)
  comparison = ohm.cat({slice(data, 0, 0, 8), slice(recon:view(16, 1, 28, 28), 0, 0, 8)})
  sample = ohm.sigmoid(model.decoder(model.fc(ohm.randn(4, 12):cuda()))):cpu()
end
mark("eval")
mark("end of program (globals alive)")
model = nil
opt = nil
data = nil
recon = nil
mu = nil
logvar = nil
loss = nil
comparison = nil
sample = nil
mark("globals deleted")

--== model_vicreg
local off_diagonal, Net, vicreg, barlow, model, optimizer, x, shift, scaled, z, a, b, loss, bank, labels, query, distance, near, votes
function off_diagonal(m)
  local n
  n = m:size(0)
  return slice(slice(slice(m:flatten(), 0, 0, -1):view(n - 1, n + 1), 0, 0), 1, 1):flatten()
end
Net = nn.Module:extend("Net")
function Net:__init()
  self.backbone = nn.Sequential(nn.Conv1d(2, 16, 5, {stride = 2}), nn.BatchNorm1d(16), nn.ReLU(), nn.AdaptiveAvgPool1d(3), nn.Flatten())
  self.expander = nn.Sequential(nn.Linear(48, 65), nn.BatchNorm1d(65), nn.ReLU(true), nn.Linear(65, 65, {bias = false}))
end
function Net:forward(x)
  return self.expander(self.backbone(x))
end
function vicreg(a, b)
  local n, d, invariance, std_a, std_b, variance, cov_a, cov_b, covariance
  n, d = table.unpack(a.shape)
  invariance = F.mse_loss(a, b)
  a = a - a:mean({dim = 0})
  b = b - b:mean({dim = 0})
  std_a = ohm.sqrt(a:var({dim = 0}) + 0.0001)
  std_b = ohm.sqrt(b:var({dim = 0}) + 0.0001)
  variance = (F.relu(1 - std_a):mean() / 2) + (F.relu(1 - std_b):mean() / 2)
  cov_a = (ohm.matmul(a.T, a)) / (n - 1)
  cov_b = (ohm.matmul(b.T, b)) / (n - 1)
  covariance = off_diagonal(cov_a):pow_(2):sum():div(d) + off_diagonal(cov_b):pow_(2):sum():div(d)
  return ((25 * invariance) + (25 * variance)) + covariance
end
function barlow(a, b, lam)
  local n, c, on
  if lam == nil then lam = 0.005 end
  n = a:size(0)
  a = (a - a:mean(0)) / a:std(0)
  b = (b - b:mean(0)) / b:std(0)
  c = (ohm.matmul(a.T, b)) / n
  on = ohm.diagonal(c):add(-1):pow(2):sum()
  return on + (lam * off_diagonal(c):pow(2):sum())
end
model = Net():cuda()
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.3, momentum = 0.9, weight_decay = 1e-06, nesterov = true})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(22, 2, 50, {device = "cuda"})
  shift = x:roll(3, {dims = -1})
  scaled = x * (0.8 + (0.4 * ohm.rand(22, 1, 1, {device = "cuda"})))
  z = model(ohm.cat({shift, scaled}))
  a, b = slice(z, 0, 0, 22), slice(z, 0, 22)
  loss = (step < 2 and vicreg(a, b) or barlow(a, b))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.inference_mode()
  bank = model.backbone(ohm.randn(70, 2, 50, {device = "cuda"}))
  labels = ohm.randint(0, 4, {70}, {device = "cuda"})
  query = model.backbone(ohm.randn(12, 2, 50, {device = "cuda"}))
  distance = ohm.cdist(query, bank)
  near = second(distance:topk(5, {largest = false}))
  votes = F.one_hot(labels:index({near}), 4):sum(1):argmax(-1)
end
mark("knn")
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
shift = nil
scaled = nil
z = nil
a = nil
b = nil
loss = nil
bank = nil
labels = nil
query = nil
distance = nil
near = nil
votes = nil
mark("globals deleted")

--== model_video
local Conv2Plus1d, Block, VideoNet, net, opt, clips, labels, loss
Conv2Plus1d = nn.Module:extend("Conv2Plus1d")
function Conv2Plus1d:__init(inputs, outputs, stride)
  local middle
  if stride == nil then stride = 1 end
  middle = ((inputs * outputs) * 27) // ((inputs * 9) + (3 * outputs))
  self.spatial = nn.Conv3d(inputs, middle, {1, 3, 3}, {stride = {1, stride, stride}, padding = {0, 1, 1}, bias = false})
  self.norm = nn.BatchNorm3d(middle)
  self.temporal = nn.Conv3d(middle, outputs, {3, 1, 1}, {stride = {stride, 1, 1}, padding = {1, 0, 0}, bias = false})
end
function Conv2Plus1d:forward(x)
  return self.temporal(F.relu(self.norm(self.spatial(x))))
end
Block = nn.Module:extend("Block")
function Block:__init(inputs, outputs, stride)
  if stride == nil then stride = 1 end
  self.conv1 = Conv2Plus1d(inputs, outputs, stride)
  self.bn1 = nn.BatchNorm3d(outputs)
  self.conv2 = Conv2Plus1d(outputs, outputs)
  self.bn2 = nn.BatchNorm3d(outputs)
  self.depthwise = nn.Conv3d(outputs, outputs, 3, {padding = 1, groups = outputs})
  self.shortcut = nn.Sequential(nn.Conv3d(inputs, outputs, 1, {stride = stride, bias = false}), nn.BatchNorm3d(outputs))
end
function Block:forward(x)
  local out
  out = F.relu(self.bn1(self.conv1(x)))
  out = self.bn2(self.conv2(out))
  out = out + self.depthwise(out)
  return F.relu(out + self.shortcut(x))
end
VideoNet = nn.Module:extend("VideoNet")
function VideoNet:__init(classes)
  if classes == nil then classes = 5 end
  self.stem = nn.Sequential(nn.Conv3d(3, 8, {3, 7, 7}, {stride = {1, 2, 2}, padding = {1, 3, 3}, bias = false}), nn.BatchNorm3d(8), nn.ReLU(), nn.MaxPool3d({1, 3, 3}, {stride = {1, 2, 2}, padding = {0, 1, 1}}))
  self.layer1 = Block(8, 8)
  self.layer2 = Block(8, 16, 2)
  self.pool = nn.AdaptiveAvgPool3d({1, 1, 1})
  self.head = nn.Linear(16, classes)
end
function VideoNet:forward(x)
  x = self.layer2(self.layer1(self.stem(x)))
  return self.head(self.pool(x):flatten(1))
end
net = VideoNet():cuda()
opt = ohm.optim.SGD(net:parameters(), {lr = 0.01, momentum = 0.9, weight_decay = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  clips = ohm.randn(2, 3, 8, 32, 40, {device = "cuda"})
  labels = ohm.randint(0, 5, {2}, {device = "cuda"})
  loss = F.cross_entropy(net(clips), labels, {label_smoothing = 0.1})
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
net = nil
opt = nil
clips = nil
labels = nil
loss = nil
mark("globals deleted")

--== model_vit
local Block, ViT, model, opt, scheduler, x, y, logits, loss, top, correct
Block = nn.Module:extend("Block")
function Block:__init(dim, heads)
  self.ln1 = nn.LayerNorm(dim)
  self.attn = nn.MultiheadAttention(dim, heads, {dropout = 0.1, batch_first = true})
  self.ln2 = nn.LayerNorm(dim)
  self.fc1 = nn.Linear(dim, 4 * dim)
  self.fc2 = nn.Linear(4 * dim, dim)
  self.drop = nn.Dropout(0.1)
end
function Block:forward(x)
  local h, _
  h = self.ln1(x)
  h, _ = self.attn(h, h, h, {need_weights = false})
  x = x + self.drop(h)
  h = self.fc2(F.gelu(self.fc1(self.ln2(x))))
  return x + self.drop(h)
end
ViT = nn.Module:extend("ViT")
function ViT:__init(image, patch, dim, depth, heads, classes)
  if classes == nil then classes = 10 end
  if heads == nil then heads = 4 end
  if depth == nil then depth = 3 end
  if dim == nil then dim = 64 end
  if patch == nil then patch = 8 end
  if image == nil then image = 32 end
  self.patch = nn.Conv2d(3, dim, patch, {stride = patch})
  self.cls = nn.Parameter(ohm.zeros(1, 1, dim))
  self.pos = nn.Parameter(ohm.randn(1, ((image // patch) ^ 2) + 1, dim) * 0.02)
  self.blocks = nn.ModuleList(collect(depth, function(_) return Block(dim, heads) end))
  self.ln = nn.LayerNorm(dim)
  self.head = nn.Linear(dim, classes)
end
function ViT:forward(x)
  local block
  x = self.patch(x):flatten(2):transpose(1, 2)
  x = ohm.cat({self.cls:expand(x:size(0), -1, -1), x}, {dim = 1}) + self.pos
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    x = block(x)
  end
  return self.head(slice(self.ln(x), 0, 0):select(1, 0))
end
model = ViT():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.0003, weight_decay = 0.05})
scheduler = ohm.optim.lr_scheduler.OneCycleLR(opt, {max_lr = 0.001, total_steps = 10})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(8, 3, 32, 32):cuda({non_blocking = true})
  y = ohm.randint(0, 10, {8}):cuda({non_blocking = true})
  opt:zero_grad()
  do
    local mode2 <close> = ohm.autocast({device_type = "cuda", dtype = ohm.bfloat16})
    logits = model(x)
    loss = F.cross_entropy(logits, y)
  end
  mark("forward " .. step)
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
model:eval()
do
  local mode3 <close> = ohm.no_grad()
  logits = model(x)
  top = second(logits:topk(5, {dim = 1}))
  correct = (top:eq(y:unsqueeze(1))):any({dim = 1}):float():mean():item()
end
mark("eval")
mark("end of program (globals alive)")
model = nil
opt = nil
scheduler = nil
x = nil
y = nil
logits = nil
loss = nil
top = nil
correct = nil
mark("globals deleted")

--== model_vit_relpos
local Attention, window_partition, window_unpartition, Block, LayerNorm2d, Encoder, dice_loss, sigmoid_focal_loss, encoder, decoder, optimizer, image, mask, logits, loss
Attention = nn.Module:extend("Attention")
function Attention:__init(dim, heads, size)
  self.num_heads = heads
  self.scale = (dim // heads) ^ (-0.5)
  self.qkv = nn.Linear(dim, dim * 3, {bias = true})
  self.proj = nn.Linear(dim, dim)
  self.rel_pos_h = nn.Parameter(ohm.zeros((2 * size) - 1, dim // heads))
  self.rel_pos_w = nn.Parameter(ohm.zeros((2 * size) - 1, dim // heads))
end
function Attention:get_rel_pos(size, rel_pos)
  local q, k, relative
  q = slice(ohm.arange(size, {device = rel_pos.device}), 0, 0):unsqueeze(1)
  k = slice(ohm.arange(size, {device = rel_pos.device}):unsqueeze(0), 1, 0)
  relative = (q - k) + (size - 1)
  return rel_pos:index({relative:long()})
end
function Attention:forward(x)
  local B, H, W, D, qkv, q, k, v, attn, Rh, Rw, r_q, rel_h, rel_w
  B, H, W, D = table.unpack(x.shape)
  qkv = self.qkv(x):reshape(B, H * W, 3, self.num_heads, -1):permute(2, 0, 3, 1, 4)
  q, k, v = qkv:reshape(3, B * self.num_heads, H * W, -1):unbind(0)
  attn = ohm.matmul(q * self.scale, k:transpose(-2, -1))
  Rh = self:get_rel_pos(H, self.rel_pos_h)
  Rw = self:get_rel_pos(W, self.rel_pos_w)
  r_q = q:reshape(B * self.num_heads, H, W, -1)
  rel_h = ohm.einsum("bhwc,hkc->bhwk", {r_q, Rh})
  rel_w = ohm.einsum("bhwc,wkc->bhwk", {r_q, Rw})
  attn = ((attn:view(-1, H, W, H, W) + slice(slice(slice(slice(rel_h, 0, 0), 1, 0), 2, 0), 3, 0):unsqueeze(4)) + slice(slice(slice(slice(rel_w, 0, 0), 1, 0), 2, 0):unsqueeze(3), 4, 0)):view(-1, H * W, H * W)
  attn = attn:softmax({dim = -1})
  x = (ohm.matmul(attn, v)):view(B, self.num_heads, H, W, -1):permute(0, 2, 3, 1, 4):reshape(B, H, W, -1)
  return self.proj(x)
end
function window_partition(x, window)
  local B, H, W, C, pad_h, pad_w, Hp, Wp
  B, H, W, C = table.unpack(x.shape)
  pad_h = (window - (H % window)) % window
  pad_w = (window - (W % window)) % window
  if (pad_h > 0 or pad_w > 0) then
    x = F.pad(x, {0, 0, 0, pad_w, 0, pad_h})
  end
  Hp, Wp = H + pad_h, W + pad_w
  x = x:view(B, Hp // window, window, Wp // window, window, C)
  return x:permute(0, 1, 3, 2, 4, 5):contiguous():view(-1, window, window, C), Hp, Wp
end
function window_unpartition(windows, window, Hp, Wp, H, W)
  local B, x
  B = windows:size(0) // (((Hp * Wp) // window) // window)
  x = windows:view(B, Hp // window, Wp // window, window, window, -1)
  x = x:permute(0, 1, 3, 2, 4, 5):contiguous():view(B, Hp, Wp, -1)
  if (Hp > H or Wp > W) then
    x = slice(slice(slice(slice(x, 0, 0), 1, 0, H), 2, 0, W), 3, 0):contiguous()
  end
  return x
end
Block = nn.Module:extend("Block")
function Block:__init(dim, heads, window, size)
  self.norm1 = nn.LayerNorm(dim)
  self.attn = Attention(dim, heads, (window == 0 and size or window))
  self.norm2 = nn.LayerNorm(dim)
  self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
  self.window_size = window
end
function Block:forward(x)
  local shortcut, H, W, Hp, Wp
  shortcut = x
  x = self.norm1(x)
  if self.window_size > 0 then
    H, W = x:size(1), x:size(2)
    x, Hp, Wp = window_partition(x, self.window_size)
  end
  x = self.attn(x)
  if self.window_size > 0 then
    x = window_unpartition(x, self.window_size, Hp, Wp, H, W)
  end
  x = shortcut + x
  return x + self.mlp(self.norm2(x))
end
LayerNorm2d = nn.Module:extend("LayerNorm2d")
function LayerNorm2d:__init(channels, eps)
  if eps == nil then eps = 1e-06 end
  self.weight = nn.Parameter(ohm.ones(channels))
  self.bias = nn.Parameter(ohm.zeros(channels))
  self.eps = eps
end
function LayerNorm2d:forward(x)
  local u, s
  u = x:mean(1, {keepdim = true})
  s = (x - u):pow(2):mean(1, {keepdim = true})
  x = (x - u) / ohm.sqrt(s + self.eps)
  return (slice(self.weight, 0, 0):unsqueeze(1):unsqueeze(2) * x) + slice(self.bias, 0, 0):unsqueeze(1):unsqueeze(2)
end
Encoder = nn.Module:extend("Encoder")
function Encoder:__init()
  self.patch_embed = nn.Conv2d(3, 32, 4, 4)
  self.pos_embed = nn.Parameter(ohm.zeros(1, 10, 10, 32))
  self.blocks = nn.ModuleList({Block(32, 4, 4, 10), Block(32, 4, 0, 10)})
  self.neck = nn.Sequential(nn.Conv2d(32, 16, 1, {bias = false}), LayerNorm2d(16), nn.Conv2d(16, 16, 3, {padding = 1, bias = false}), LayerNorm2d(16))
end
function Encoder:forward(x)
  local blk
  x = self.patch_embed(x):permute(0, 2, 3, 1)
  x = x + self.pos_embed
  for _, item1 in ipairs(self.blocks:children()) do
    blk = item1
    x = blk(x)
  end
  return self.neck(x:permute(0, 3, 1, 2))
end
function dice_loss(inputs, targets)
  local numerator, denominator
  inputs = inputs:sigmoid():flatten(1)
  numerator = 2 * (inputs * targets):sum(-1)
  denominator = inputs:sum(-1) + targets:sum(-1)
  return (1 - ((numerator + 1) / (denominator + 1))):mean()
end
function sigmoid_focal_loss(inputs, targets, alpha, gamma)
  local prob, ce_loss, p_t, loss, alpha_t
  if gamma == nil then gamma = 2 end
  if alpha == nil then alpha = 0.25 end
  prob = inputs:sigmoid()
  ce_loss = F.binary_cross_entropy_with_logits(inputs, targets, {reduction = "none"})
  p_t = (prob * targets) + ((1 - prob) * (1 - targets))
  loss = ce_loss * ((1 - p_t) ^ gamma)
  alpha_t = (alpha * targets) + ((1 - alpha) * (1 - targets))
  return (alpha_t * loss):mean()
end
encoder = Encoder():cuda()
decoder = nn.Sequential(nn.ConvTranspose2d(16, 8, 2, 2), nn.GELU(), nn.ConvTranspose2d(8, 1, 2, 2)):cuda()
optimizer = ohm.optim.AdamW({{params = encoder:parameters(), lr = 1e-05}, {params = decoder:parameters()}}, {lr = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  image = ohm.randn(2, 3, 40, 40, {device = "cuda"})
  mask = (ohm.rand(2, 40, 40, {device = "cuda"}):gt(0.6)):float()
  logits = decoder(encoder(image)):squeeze(1)
  loss = (20 * sigmoid_focal_loss(logits, mask)) + dice_loss(logits, mask:flatten(1))
  optimizer:zero_grad({set_to_none = true})
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
encoder = nil
decoder = nil
optimizer = nil
image = nil
mask = nil
logits = nil
loss = nil
mark("globals deleted")

--== model_vocoder
local ResStack, Generator, PeriodCritic, G, critics, g_opt, d_opt, mel, real, fake, d_loss, critic, r, _, f, adv, fm, r1, r2, f1, f2, energy, g_loss
ohm.backends.cudnn.enabled = true
ResStack = nn.Module:extend("ResStack")
function ResStack:__init(channels, dilations)
  self.convs = nn.ModuleList(map(function(d) return nn.Conv1d(channels, channels, 3, {dilation = d, padding = d}) end, dilations))
end
function ResStack:forward(x)
  local conv
  for nth1, item1 in ipairs(self.convs:children()) do
    conv = item1
    x = x + conv(F.leaky_relu(x, 0.1))
  end
  return x
end
Generator = nn.Module:extend("Generator")
function Generator:__init(mels)
  self.pre = nn.Conv1d(mels, 48, 7, {padding = 3})
  self.up1 = nn.ConvTranspose1d(48, 24, 8, {stride = 4, padding = 2})
  self.r1 = ResStack(24, {1, 3})
  self.up2 = nn.ConvTranspose1d(24, 12, 4, {stride = 2, padding = 1})
  self.r2 = ResStack(12, {1, 3, 5})
  self.post = nn.Conv1d(12, 1, 7, {padding = 3})
end
function Generator:forward(mel)
  local x
  x = self.r1(self.up1(F.leaky_relu(self.pre(mel), 0.1)))
  x = self.r2(self.up2(F.leaky_relu(x, 0.1)))
  return ohm.tanh(self.post(F.leaky_relu(x)))
end
PeriodCritic = nn.Module:extend("PeriodCritic")
function PeriodCritic:__init(period)
  self.period = period
  self.c1 = nn.Conv2d(1, 8, {5, 1}, {3, 1}, {padding = {2, 0}})
  self.c2 = nn.Conv2d(8, 16, {5, 1}, {3, 1}, {padding = {2, 0}})
  self.post = nn.Conv2d(16, 1, {3, 1}, 1, {padding = {1, 0}})
end
function PeriodCritic:forward(x)
  local b, c, t, missing, f1, f2
  b, c, t = table.unpack(x.shape)
  missing = (-t) % self.period
  if missing > 0 then
    x = F.pad(x, {0, missing}, "reflect")
  end
  x = x:view(b, c, (t + missing) // self.period, self.period)
  f1 = F.leaky_relu(self.c1(x), 0.1)
  f2 = F.leaky_relu(self.c2(f1), 0.1)
  return self.post(f2):flatten(1), f1, f2
end
G = Generator(20):cuda()
critics = nn.ModuleList(map(function(p) return PeriodCritic(p) end, {2, 3, 5})):cuda()
g_opt = ohm.optim.AdamW(G:parameters(), 0.0002, {betas = {0.8, 0.99}})
d_opt = ohm.optim.AdamW(critics:parameters(), 0.0002, {betas = {0.8, 0.99}})
mark("models")
for step = 0, 2 - 1 do
  mel = ohm.randn(3, 20, 17, {device = "cuda"})
  real = (ohm.rand(3, 1, 136, {device = "cuda"}) * 2) - 1
  fake = G(mel)
  d_loss = 0
  for nth2, item2 in ipairs(critics) do
    critic = item2
    do
      local new1, new2, new3 = critic(real)
      r = new1
      _ = new2
      _ = new3
    end
    do
      local new1, new2, new3 = critic(fake:detach())
      f = new1
      _ = new2
      _ = new3
    end
    d_loss = (d_loss + ((1 - r) ^ 2):mean()) + (f ^ 2):mean()
  end
  d_opt:zero_grad()
  d_loss:backward()
  d_opt:step()
  mark("critics " .. step)
  adv, fm = 0, 0
  for nth3, item3 in ipairs(critics) do
    critic = item3
    do
      local mode4 <close> = ohm.no_grad()
      do
        local new1, new2, new3 = critic(real)
        r = new1
        r1 = new2
        r2 = new3
      end
    end
    do
      local new1, new2, new3 = critic(fake)
      f = new1
      f1 = new2
      f2 = new3
    end
    adv = adv + ((1 - f) ^ 2):mean()
    fm = (fm + F.l1_loss(f1, r1)) + F.l1_loss(f2, r2)
  end
  energy = F.l1_loss(F.avg_pool1d(fake:abs(), 8, 4), F.avg_pool1d(real:abs(), 8, 4))
  g_loss = (adv + (2 * fm)) + (45 * energy)
  g_opt:zero_grad()
  g_loss:backward()
  g_opt:step()
  mark("generator " .. step)
end
mark("end of program (globals alive)")
G = nil
critics = nil
g_opt = nil
d_opt = nil
mel = nil
real = nil
fake = nil
d_loss = nil
critic = nil
r = nil
_ = nil
f = nil
adv = nil
fm = nil
r1 = nil
r2 = nil
f1 = nil
f2 = nil
energy = nil
g_loss = nil
mark("globals deleted")

--== model_vq_ema
local VectorQuantizerEMA, Residual, VQVAE, model, optimizer, errors, x, vq_loss, rec, perplexity, rec_error, loss
VectorQuantizerEMA = nn.Module:extend("VectorQuantizerEMA")
function VectorQuantizerEMA:__init(num, dim, commitment, decay, eps)
  if eps == nil then eps = 1e-05 end
  if decay == nil then decay = 0.99 end
  if commitment == nil then commitment = 0.25 end
  self.num = num
  self.dim = dim
  self.embedding = nn.Embedding(num, dim)
  self.embedding.weight.data:normal_()
  self.commitment = commitment
  self:register_buffer("cluster_size", ohm.zeros(num))
  self.ema_w = nn.Parameter(ohm.empty(num, dim))
  self.ema_w.data:normal_()
  self.decay = decay
  self.eps = eps
end
function VectorQuantizerEMA:forward(inputs)
  local shape, flat, distances, indices, encodings, quantized, n, dw, e_loss, loss, avg, perplexity
  inputs = inputs:permute(0, 2, 3, 1):contiguous()
  shape = inputs.shape
  flat = inputs:view(-1, self.dim)
  distances = (ohm.sum(flat ^ 2, {dim = 1, keepdim = true}) + ohm.sum(self.embedding.weight ^ 2, {dim = 1})) - (2 * ohm.matmul(flat, self.embedding.weight:t()))
  indices = ohm.argmin(distances, {dim = 1}):unsqueeze(1)
  encodings = ohm.zeros(indices:size(0), self.num, {device = inputs.device})
  encodings:scatter_(1, indices, 1)
  quantized = ohm.matmul(encodings, self.embedding.weight):view(shape)
  if self.training then
    self.cluster_size = (self.cluster_size * self.decay) + ((1 - self.decay) * ohm.sum(encodings, 0))
    n = ohm.sum(self.cluster_size.data)
    self.cluster_size = ((self.cluster_size + self.eps) / (n + (self.num * self.eps))) * n
    dw = ohm.matmul(encodings:t(), flat)
    self.ema_w = nn.Parameter((self.ema_w * self.decay) + ((1 - self.decay) * dw))
    self.embedding.weight = nn.Parameter(self.ema_w / self.cluster_size:unsqueeze(1))
  end
  e_loss = F.mse_loss(quantized:detach(), inputs)
  loss = self.commitment * e_loss
  quantized = inputs + (quantized - inputs):detach()
  avg = ohm.mean(encodings, {dim = 0})
  perplexity = ohm.exp(-ohm.sum(avg * ohm.log(avg + 1e-10)))
  return loss, quantized:permute(0, 3, 1, 2):contiguous(), perplexity
end
Residual = nn.Module:extend("Residual")
function Residual:__init(channels)
  self.block = nn.Sequential(nn.ReLU(true), nn.Conv2d(channels, 16, 3, {padding = 1, bias = false}), nn.ReLU(true), nn.Conv2d(16, channels, 1, {bias = false}))
end
function Residual:forward(x)
  return x + self.block(x)
end
VQVAE = nn.Module:extend("VQVAE")
function VQVAE:__init()
  self.encoder = nn.Sequential(nn.Conv2d(3, 32, 4, {stride = 2, padding = 1}), nn.ReLU(), nn.Conv2d(32, 32, 3, {padding = 1}), Residual(32))
  self.pre = nn.Conv2d(32, 24, 1)
  self.vq = VectorQuantizerEMA(64, 24)
  self.decoder = nn.Sequential(nn.Conv2d(24, 32, 3, {padding = 1}), Residual(32), nn.ConvTranspose2d(32, 3, 4, {stride = 2, padding = 1}))
end
function VQVAE:forward(x)
  local z, loss, quantized, perplexity
  z = self.pre(self.encoder(x))
  loss, quantized, perplexity = self.vq(z)
  return loss, self.decoder(quantized), perplexity
end
model = VQVAE():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001, amsgrad = false})
errors = {}
mark("model")
for step = 0, 3 - 1 do
  x = ohm.rand(6, 3, 16, 16, {device = "cuda"})
  optimizer:zero_grad()
  vq_loss, rec, perplexity = model(x)
  rec_error = F.mse_loss(rec, x) / 0.06
  loss = rec_error + vq_loss
  mark("forward " .. step)
  loss:backward()
  optimizer:step()
  errors[#errors + 1] = rec_error:item()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
errors = nil
x = nil
vq_loss = nil
rec = nil
perplexity = nil
rec_error = nil
loss = nil
mark("globals deleted")

--== model_vqvae
local Quantizer, Residual, VQVAE, model, opt, errors, data, recon, vq_loss, perplexity, recon_error, loss
Quantizer = nn.Module:extend("Quantizer")
function Quantizer:__init(codes, dim, beta)
  if beta == nil then beta = 0.25 end
  self.codes = codes
  self.dim = dim
  self.beta = beta
  self.embedding = nn.Embedding(codes, dim)
  self.embedding.weight.data:uniform_((-1.0) / codes, 1.0 / codes)
end
function Quantizer:forward(z)
  local flat, distances, indices, encodings, quantized, e_loss, q_loss, loss, probs, perplexity
  z = z:permute(0, 2, 3, 1):contiguous()
  flat = z:view(-1, self.dim)
  distances = (ohm.sum(flat ^ 2, {dim = 1, keepdim = true}) + ohm.sum(self.embedding.weight ^ 2, {dim = 1})) - (2 * ohm.matmul(flat, self.embedding.weight:t()))
  indices = ohm.argmin(distances, {dim = 1}):unsqueeze(1)
  encodings = ohm.zeros(indices:size(0), self.codes, {device = z.device})
  encodings:scatter_(1, indices, 1)
  quantized = ohm.matmul(encodings, self.embedding.weight):view(z.shape)
  e_loss = F.mse_loss(quantized:detach(), z)
  q_loss = F.mse_loss(quantized, z:detach())
  loss = q_loss + (self.beta * e_loss)
  quantized = z + (quantized - z):detach()
  probs = ohm.mean(encodings, {dim = 0})
  perplexity = ohm.exp(-ohm.sum(probs * ohm.log(probs + 1e-10)))
  return quantized:permute(0, 3, 1, 2):contiguous(), loss, perplexity
end
Residual = nn.Module:extend("Residual")
function Residual:__init(channels)
  self.block = nn.Sequential(nn.ReLU(true), nn.Conv2d(channels, channels // 2, 3, {padding = 1, bias = false}), nn.ReLU(true), nn.Conv2d(channels // 2, channels, 1, {bias = false}))
end
function Residual:forward(x)
  return x + self.block(x)
end
VQVAE = nn.Module:extend("VQVAE")
function VQVAE:__init()
  self.encoder = nn.Sequential(nn.Conv2d(3, 32, 4, {stride = 2, padding = 1}), nn.ReLU(), nn.Conv2d(32, 32, 4, {stride = 2, padding = 1}), Residual(32), nn.Conv2d(32, 16, 1))
  self.vq = Quantizer(64, 16)
  self.decoder = nn.Sequential(nn.Conv2d(16, 32, 3, {padding = 1}), Residual(32), nn.ConvTranspose2d(32, 16, 4, {stride = 2, padding = 1}), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, {stride = 2, padding = 1}))
end
function VQVAE:forward(x)
  local z, quantized, loss, perplexity
  z = self.encoder(x)
  quantized, loss, perplexity = self.vq(z)
  return self.decoder(quantized), loss, perplexity
end
model = VQVAE():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001, amsgrad = false})
mark("model")
errors = {}
for step = 0, 2 - 1 do
  data = ohm.randn(4, 3, 24, 24, {device = "cuda"})
  opt:zero_grad()
  recon, vq_loss, perplexity = model(data)
  recon_error = F.mse_loss(recon, data) / 0.06
  loss = recon_error + vq_loss
  mark("forward " .. step)
  loss:backward()
  opt:step()
  errors[#errors + 1] = recon_error:item()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
errors = nil
data = nil
recon = nil
vq_loss = nil
perplexity = nil
recon_error = nil
loss = nil
mark("globals deleted")

--== model_wav2vec
local Quantizer, Wav2Vec, model, optimizer, wav, mask, negatives, logits, ppl, pen, loss
Quantizer = nn.Module:extend("Quantizer")
function Quantizer:__init(dim, groups, entries, out)
  self.groups = groups
  self.entries = entries
  self.vars = nn.Parameter(ohm.empty(1, groups * entries, out // groups))
  nn.init.uniform_(self.vars)
  self.weight_proj = nn.Linear(dim, groups * entries)
  nn.init.normal_(self.weight_proj.weight, {mean = 0, std = 1})
  nn.init.zeros_(self.weight_proj.bias)
end
function Quantizer:forward(x)
  local bsz, tsz, fsz, avg, ppl
  bsz, tsz, fsz = table.unpack(x.shape)
  x = self.weight_proj(x:reshape(-1, fsz)):view((bsz * tsz) * self.groups, -1)
  avg = ohm.softmax(x:view(bsz * tsz, self.groups, -1):float(), {dim = -1}):mean({dim = 0})
  ppl = ohm.exp(-ohm.sum(avg * ohm.log(avg + 1e-07), {dim = -1})):sum()
  x = F.gumbel_softmax(x:float(), {tau = 2.0, hard = true}):type_as(x)
  x = x:view(bsz * tsz, -1)
  x = x:unsqueeze(-1) * self.vars
  x = x:view(bsz * tsz, self.groups, self.entries, -1):sum(-2)
  return x:view(bsz, tsz, -1), ppl
end
Wav2Vec = nn.Module:extend("Wav2Vec")
function Wav2Vec:__init()
  local layer
  self.conv = nn.Sequential(nn.Conv1d(1, 32, 10, {stride = 5, bias = false}), nn.GroupNorm(32, 32), nn.GELU(), nn.Conv1d(32, 32, 3, {stride = 2, bias = false}), nn.GELU(), nn.Conv1d(32, 32, 2, {stride = 2, bias = false}), nn.GELU())
  self.norm = nn.LayerNorm(32)
  self.proj = nn.Linear(32, 48)
  self.mask_emb = nn.Parameter(ohm.empty(48):uniform_())
  self.pos_conv = nn.Conv1d(48, 48, 8, {padding = 4, groups = 4})
  self.pos_conv = nn.utils.weight_norm(self.pos_conv, {name = "weight", dim = 2})
  layer = nn.TransformerEncoderLayer(48, 4, 96, {dropout = 0.1, activation = "gelu", batch_first = true})
  self.encoder = nn.TransformerEncoder(layer, 2)
  self.quantizer = Quantizer(32, 2, 10, 24)
  self.project_q = nn.Linear(24, 24)
  self.final_proj = nn.Linear(48, 24)
end
function Wav2Vec:forward(wav, mask, negatives_idx)
  local features, pen, unmasked, x, pos, y, ppl, B, T, C, negs, targets, logits
  features = self.conv(wav:unsqueeze(1)):transpose(1, 2)
  pen = features:float():pow(2):mean()
  features = self.norm(features)
  unmasked = features:clone()
  x = F.dropout(self.proj(features), 0.1)
  x = ohm.where(mask:unsqueeze(-1), self.mask_emb, x)
  pos = slice(slice(slice(self.pos_conv(x:transpose(1, 2)), 0, 0), 1, 0), 2, 0, -1)
  x = x + F.gelu(pos):transpose(1, 2)
  x = self.encoder(x)
  y, ppl = self.quantizer(unmasked)
  y = self.project_q(y)
  B, T, C = table.unpack(y.shape)
  negs = y:view(-1, C):index({negatives_idx:view(-1)}):view(B, T, 6, C):permute(2, 0, 1, 3)
  x = self.final_proj(x)
  targets = ohm.cat({y:unsqueeze(0), negs}, {dim = 0})
  logits = ohm.cosine_similarity(x:float(), targets:float(), {dim = -1}) / 0.1
  return logits, ppl, pen
end
model = Wav2Vec():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.0005, betas = {0.9, 0.98}, eps = 1e-06, weight_decay = 0.01})
mark("model")
for step = 0, 3 - 1 do
  wav = ohm.randn(3, 800, {device = "cuda"})
  mask = ohm.rand(3, 39, {device = "cuda"}):lt(0.4)
  negatives = ohm.randint(0, 3 * 39, {3, 39 * 6}, {device = "cuda"})
  logits, ppl, pen = model(wav, mask, negatives)
  logits = logits:transpose(0, 2):reshape(-1, logits:size(0))
  loss = F.cross_entropy(logits, ohm.zeros(logits:size(0), {dtype = ohm.int64, device = "cuda"}), {reduction = "sum"})
  loss = (loss + ((0.1 * (20 - ppl)) / 20)) + (10 * pen)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
wav = nil
mask = nil
negatives = nil
logits = nil
ppl = nil
pen = nil
loss = nil
mark("globals deleted")

--== model_wavenet
local CausalConv1d, ResidualBlock, WaveNet, model, opt, scheduler, audio, logits, loss
CausalConv1d = nn.Module:extend("CausalConv1d")
function CausalConv1d:__init(inputs, outputs, kernel, dilation)
  if dilation == nil then dilation = 1 end
  self.pad = (kernel - 1) * dilation
  self.conv = nn.Conv1d(inputs, outputs, kernel, {dilation = dilation})
end
function CausalConv1d:forward(x)
  return self.conv(F.pad(x, {self.pad, 0}))
end
ResidualBlock = nn.Module:extend("ResidualBlock")
function ResidualBlock:__init(channels, skip, dilation)
  self.filter = CausalConv1d(channels, channels, 2, dilation)
  self.gate = CausalConv1d(channels, channels, 2, dilation)
  self.res = nn.Conv1d(channels, channels, 1)
  self.skip = nn.Conv1d(channels, skip, 1)
end
function ResidualBlock:forward(x)
  local h
  h = ohm.tanh(self.filter(x)) * ohm.sigmoid(self.gate(x))
  return self.res(h) + x, self.skip(h)
end
WaveNet = nn.Module:extend("WaveNet")
function WaveNet:__init(channels, skip, classes)
  if classes == nil then classes = 64 end
  if skip == nil then skip = 32 end
  if channels == nil then channels = 16 end
  self.embedding = nn.Embedding(classes, channels)
  self.front = CausalConv1d(channels, channels, 2)
  self.blocks = nn.ModuleList(collect(4, function(i) return ResidualBlock(channels, skip, (1 << i)) end))
  self.end1 = nn.Conv1d(skip, skip, 1)
  self.end2 = nn.Conv1d(skip, classes, 1)
end
function WaveNet:forward(x)
  local skips, block, s
  x = self.front(self.embedding(x):transpose(1, 2))
  skips = 0
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    x, s = block(x)
    skips = skips + s
  end
  return self.end2(F.relu(self.end1(F.relu(skips))))
end
model = WaveNet():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001})
scheduler = ohm.optim.lr_scheduler.ReduceLROnPlateau(opt, {patience = 1})
mark("model")
for step = 0, 2 - 1 do
  audio = ohm.randint(0, 64, {4, 65}, {device = "cuda"})
  logits = model(slice(slice(audio, 0, 0), 1, 0, -1))
  loss = F.cross_entropy(logits, slice(slice(audio, 0, 0), 1, 1))
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  scheduler:step(loss:item())
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
scheduler = nil
audio = nil
logits = nil
loss = nil
mark("globals deleted")

--== model_wgan_gp
local latent, size, Generator, Critic, gradient_penalty, G, D, opt_g, opt_d, real, z, fake, gp, loss_d, loss_g
latent, size = 16, 16
Generator = nn.Module:extend("Generator")
function Generator:__init()
  self.fc = nn.Linear(latent, (32 * 4) * 4)
  self.net = nn.Sequential(nn.BatchNorm2d(32), nn.Upsample({scale_factor = 2}), nn.Conv2d(32, 16, 3, {padding = 1}), nn.BatchNorm2d(16), nn.ReLU(), nn.Upsample({scale_factor = 2}), nn.Conv2d(16, 3, 3, {padding = 1}), nn.Tanh())
end
function Generator:forward(z)
  return self.net(self.fc(z):view(-1, 32, 4, 4))
end
Critic = nn.Module:extend("Critic")
function Critic:__init()
  self.net = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear((32 * 4) * 4, 1))
end
function Critic:forward(x)
  return self.net(x)
end
function gradient_penalty(critic, real, fake)
  local alpha, mixed, scores, gradients
  alpha = ohm.rand(real:size(0), 1, 1, 1, {device = "cuda"})
  mixed = ((alpha * real) + ((1 - alpha) * fake)):requires_grad_(true)
  scores = critic(mixed)
  gradients = (ohm.autograd.grad({outputs = scores, inputs = mixed, grad_outputs = ohm.ones_like(scores), create_graph = true, retain_graph = true}))
  gradients = gradients:view(gradients:size(0), -1)
  return ((gradients:norm(2, {dim = 1}) - 1) ^ 2):mean()
end
G = Generator():cuda()
D = Critic():cuda()
opt_g = ohm.optim.Adam(G:parameters(), {lr = 0.0001, betas = {0.0, 0.9}})
opt_d = ohm.optim.Adam(D:parameters(), {lr = 0.0001, betas = {0.0, 0.9}})
mark("models")
for step = 0, 2 - 1 do
  real = ohm.randn(8, 3, size, size, {device = "cuda"})
  z = ohm.randn(8, latent, {device = "cuda"})
  fake = G(z):detach()
  opt_d:zero_grad()
  gp = gradient_penalty(D, real, fake)
  mark("penalty " .. step)
  loss_d = (D(fake):mean() - D(real):mean()) + (10.0 * gp)
  loss_d:backward()
  opt_d:step()
  mark("critic " .. step)
  opt_g:zero_grad()
  loss_g = -D(G(z)):mean()
  loss_g:backward()
  opt_g:step()
  mark("generator " .. step)
end
mark("end of program (globals alive)")
G = nil
D = nil
opt_g = nil
opt_d = nil
real = nil
z = nil
fake = nil
gp = nil
loss_d = nil
loss_g = nil
mark("globals deleted")

--== model_world_model
local steps, batch, actions, stoch, deter, RSSM, model, actor, critic, model_opt, actor_opt, critic_opt, obs, act, rew, feats, rec, pred, kls, rec_loss, kl_loss, loss, p, f, h, s, imagined, rewards, a, _, state, states, values, returns, last, stacked, actor_loss, value, critic_loss
steps, batch, actions, stoch, deter = 6, 4, 3, 16, 48
local function reversed(list)
  local turned = {}
  for i = #list, 1, -1 do turned[#turned + 1] = list[i] end
  return turned
end
RSSM = nn.Module:extend("RSSM")
function RSSM:__init()
  self.encoder = nn.Sequential(nn.Conv2d(3, 16, 4, {stride = 2}), nn.ELU(), nn.Conv2d(16, 32, 4, {stride = 2}), nn.ELU(), nn.Flatten(), nn.Linear(32 * 4, 64))
  self.img_in = nn.Linear(stoch + actions, deter)
  self.cell = nn.GRUCell(deter, deter)
  self.prior = nn.Sequential(nn.Linear(deter, 64), nn.ELU(), nn.Linear(64, 2 * stoch))
  self.post = nn.Sequential(nn.Linear(deter + 64, 64), nn.ELU(), nn.Linear(64, 2 * stoch))
  self.decoder_in = nn.Linear(deter + stoch, 64)
  self.decoder = nn.Sequential(nn.ConvTranspose2d(64, 32, 5, {stride = 2}), nn.ELU(), nn.ConvTranspose2d(32, 3, 4, {stride = 2}))
  self.reward = nn.Linear(deter + stoch, 1)
end
function RSSM:sample(stats)
  local mean, std
  mean, std = stats:chunk(2, {dim = -1})
  std = F.softplus(std) + 0.1
  return mean + (std * ohm.randn_like(std)), mean, std
end
function RSSM:forward(obs, act)
  local embed, h, s, feats, kls, x, _, pm, ps, qm, qs, kl, rec
  embed = self.encoder(obs:flatten(0, 1)):view(steps, batch, 64)
  h = ohm.zeros(batch, deter, {device = "cuda"})
  s = ohm.zeros(batch, stoch, {device = "cuda"})
  feats, kls = {}, {}
  for t = 0, steps - 1 do
    x = F.elu(self.img_in(ohm.cat({s, act:select(0, t)}, {dim = -1})))
    h = self.cell(x, h)
    do
      local new1, new2, new3 = self:sample(self.prior(h))
      _ = new1
      pm = new2
      ps = new3
    end
    do
      local new1, new2, new3 = self:sample(self.post(ohm.cat({h, embed:select(0, t)}, {dim = -1})))
      s = new1
      qm = new2
      qs = new3
    end
    kl = (ohm.log(ps / qs) + (((qs ^ 2) + ((qm - pm) ^ 2)) / (2 * (ps ^ 2)))) - 0.5
    kls[#kls + 1] = kl:sum(-1)
    feats[#feats + 1] = ohm.cat({h, s}, {dim = -1})
  end
  feats = ohm.stack(feats)
  rec = self.decoder(self.decoder_in(feats):view(-1, 64, 1, 1))
  return feats, rec:view(steps, batch, 3, 12, 12), self.reward(feats):squeeze(-1), ohm.stack(kls)
end
model = RSSM():cuda()
actor = nn.Sequential(nn.Linear(deter + stoch, 64), nn.ELU(), nn.Linear(64, actions), nn.Tanh()):cuda()
critic = nn.Sequential(nn.Linear(deter + stoch, 64), nn.ELU(), nn.Linear(64, 1)):cuda()
model_opt = ohm.optim.Adam(model:parameters(), {lr = 0.0006, eps = 1e-07})
actor_opt = ohm.optim.Adam(actor:parameters(), {lr = 8e-05})
critic_opt = ohm.optim.Adam(critic:parameters(), {lr = 8e-05})
mark("models")
for step = 0, 2 - 1 do
  obs = ohm.rand(steps, batch, 3, 14, 14, {device = "cuda"}) - 0.5
  act = (ohm.rand(steps, batch, actions, {device = "cuda"}) * 2) - 1
  rew = ohm.randn(steps, batch, {device = "cuda"})
  do
    local new1, new2, new3, new4 = model(obs, act)
    feats = new1
    rec = new2
    pred = new3
    kls = new4
  end
  rec_loss = 0.5 * (rec - slice(slice(obs, -2, 1, 13), -1, 1, 13)):pow(2):sum({2, 3, 4}):mean()
  kl_loss = ohm.clamp(kls, {min = 3.0}):mean()
  loss = (rec_loss + F.mse_loss(pred, rew)) + kl_loss
  model_opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 100.0)
  model_opt:step()
  mark("model " .. step)
  for _, item2 in ipairs(model:parameters()) do
    p = item2
    p.requires_grad = false
  end
  f = feats:detach():flatten(0, 1)
  do
    local new1, new2 = f:split({deter, stoch}, {dim = -1})
    h = new1
    s = new2
  end
  imagined = {}
  rewards = {}
  for t = 0, 4 - 1 do
    a = actor(ohm.cat({h, s}, -1):detach())
    h = model.cell(F.elu(model.img_in(ohm.cat({s, a}, -1))), h)
    do
      local new1, new2, new3 = model:sample(model.prior(h))
      s = new1
      _ = new2
      _ = new3
    end
    state = ohm.cat({h, s}, -1)
    imagined[#imagined + 1] = state
    rewards[#rewards + 1] = model.reward(state):squeeze(-1)
  end
  states = ohm.stack(imagined)
  values = critic(states):squeeze(-1)
  returns = {}
  last = values:select(0, -1)
  for t = 4 - 1, 0, -1 do
    last = rewards[t + 1] + (0.99 * ((0.05 * values:select(0, t)) + (0.95 * last)))
    returns[#returns + 1] = last
  end
  stacked = ohm.stack(reversed(returns))
  actor_loss = -stacked:mean()
  actor_opt:zero_grad()
  actor_loss:backward()
  actor_opt:step()
  mark("actor " .. step)
  value = critic(states:detach()):squeeze(-1)
  critic_loss = F.smooth_l1_loss(value, stacked:detach())
  critic_opt:zero_grad()
  critic_loss:backward()
  critic_opt:step()
  for _, item6 in ipairs(model:parameters()) do
    p = item6
    p.requires_grad = true
  end
  mark("critic " .. step)
end
mark("end of program (globals alive)")
model = nil
actor = nil
critic = nil
model_opt = nil
actor_opt = nil
critic_opt = nil
obs = nil
act = nil
rew = nil
feats = nil
rec = nil
pred = nil
kls = nil
rec_loss = nil
kl_loss = nil
loss = nil
p = nil
f = nil
h = nil
s = nil
imagined = nil
rewards = nil
a = nil
_ = nil
state = nil
states = nil
values = nil
returns = nil
last = nil
stacked = nil
actor_loss = nil
value = nil
critic_loss = nil
mark("globals deleted")
