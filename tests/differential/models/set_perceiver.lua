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
