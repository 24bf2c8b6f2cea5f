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
