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
