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
