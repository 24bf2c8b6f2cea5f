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
