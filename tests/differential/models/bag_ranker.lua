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
