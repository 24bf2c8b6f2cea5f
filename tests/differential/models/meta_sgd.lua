local Learner, model, names, rates, optimizer, meta, xs, ys, xq, yq, fast, loss, grads, query
Learner = nn.Module:extend("Learner")
function Learner:__init()
  self.conv = nn.Conv2d(1, 10, 3, {padding = 1})
  self.norm = nn.GroupNorm(2, 10)
  self.fc = nn.Linear(10 * 4 * 4, 5)
end
function Learner:forward(x)
  local h = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
  return self.fc(F.adaptive_avg_pool2d(h, 4):flatten(1))
end
-- What a dictionary held, in its order.
local function drop(named)
  if not named then return end
  for _, name in ipairs(names) do named[name] = nil; sweep() end
end
model = Learner():cuda()
names, rates = {}, {}
for name, p in model:named_parameters() do
  names[#names + 1] = name
  rates[name] = ohm.full_like(p, 0.05):requires_grad_()
end
optimizer = ohm.optim.Adam(joined(model:parameters(), map(function(name) return rates[name] end, names)), {lr = 0.001})
mark("model")
for step = 0, 1 do
  meta = 0.0
  optimizer:zero_grad()
  for task = 0, 1 do
    xs = ohm.randn(10, 1, 9, 9, {device = "cuda"})
    ys = ohm.randint(0, 5, {10}, {device = "cuda"})
    xq = ohm.randn(15, 1, 9, 9, {device = "cuda"})
    yq = ohm.randint(0, 5, {15}, {device = "cuda"})
    fast = {}
    for name, p in model:named_parameters() do fast[name] = p end
    for inner = 0, 1 do
      loss = F.cross_entropy(ohm.func.functional_call(model, fast, {xs}), ys)
      do
        local old = grads
        grads = ohm.autograd.grad(loss, map(function(name) return fast[name] end, names), {create_graph = true})
        clear(old)
      end
      do
        local old, new = fast, {}
        for i, name in ipairs(names) do new[name] = fast[name] - rates[name] * grads[i] end
        fast = new
        drop(old)
      end
    end
    query = F.cross_entropy(ohm.func.functional_call(model, fast, {xq}), yq)
    ;(query / 2):backward()
    meta = meta + query:item()
    drop(fast)
    fast = nil
    grads = nil
    loss = nil
    query = nil
    mark("step " .. step .. " task " .. task)
  end
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
drop(rates)
optimizer = nil
xs = nil
ys = nil
xq = nil
yq = nil
mark("globals deleted")
