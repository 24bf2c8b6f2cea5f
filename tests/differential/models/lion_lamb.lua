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
