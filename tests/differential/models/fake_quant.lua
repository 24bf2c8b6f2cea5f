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
