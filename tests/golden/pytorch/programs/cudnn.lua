-- Written by tests/comparisons/translate_programs.py: do not edit.

--== cudnn_ws0_gap_inline_grad_list
local net, outputs
ohm.backends.cudnn.enabled = true
net = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    outputs[#outputs + 1] = net(ohm.randn(1, 3, 300, 300, {device = "cuda"}))
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
mark("globals deleted")

--== cudnn_ws0_gap_inline_grad_rebind
local net, outputs, out
ohm.backends.cudnn.enabled = true
net = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    out = net(ohm.randn(1, 3, 300, 300, {device = "cuda"}))
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
out = nil
mark("globals deleted")

--== cudnn_ws0_gap_inline_nograd_list
local net, outputs
ohm.backends.cudnn.enabled = true
net = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)):cuda()
mark("model")
outputs = {}
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 24 do
    outputs[#outputs + 1] = net(ohm.randn(1, 3, 300, 300, {device = "cuda"}))
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
mark("globals deleted")

--== cudnn_ws0_nograd_gap_grad_detach_cpu
local net, outputs, image
ohm.backends.cudnn.enabled = true
net = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    image = ohm.randn(1, 3, 300, 300):cuda()
    outputs[#outputs + 1] = net(image):detach():cpu()
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== cudnn_ws0_nograd_gap_grad_rebind
local net, outputs, image, out
ohm.backends.cudnn.enabled = true
net = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    image = ohm.randn(1, 3, 300, 300):cuda()
    out = net(image)
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
out = nil
mark("globals deleted")

--== cudnn_ws0_op_batch_norm_1d_3d_small
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 160
m = nn.BatchNorm1d(64, {device = "cuda"})
x = ohm.randn(16, 64, (N * N) // 1024, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_op_batch_norm_2d_big
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 1024
m = nn.BatchNorm2d(16, {device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_op_batch_norm_2d_small
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 160
m = nn.BatchNorm2d(16, {device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_op_conv2d_1x1_big
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 1024
m = nn.Conv2d(16, 32, 1, {device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_op_conv2d_1x1_small
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 160
m = nn.Conv2d(16, 32, 1, {device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_op_conv2d_big
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 1024
m = nn.Conv2d(16, 16, 3, {padding = 1, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_op_conv2d_no_bias_small
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 160
m = nn.Conv2d(16, 16, 3, {padding = 1, bias = false, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_op_conv2d_small
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 160
m = nn.Conv2d(16, 16, 3, {padding = 1, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_op_conv_transpose2d_big
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 1024
m = nn.ConvTranspose2d(16, 16, 2, {stride = 2, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_op_conv_transpose2d_small
local N, m, x, out, g
ohm.backends.cudnn.enabled = true
N = 160
m = nn.ConvTranspose2d(16, 16, 2, {stride = 2, device = "cuda"})
x = ohm.randn(16, 16, N // 16, N // 16, {device = "cuda", requires_grad = true})
mark("inputs")
out = m(x)
mark("forward")
g = ohm.ones_like(out)
mark("grad_output")
out:backward(g)
mark("backward")
g = nil
mark("del g")
out = nil
mark("del out")
mark("end of program (globals alive)")
m = nil
x = nil
mark("globals deleted")

--== cudnn_ws0_resnet_block
local Block, model, opt, x, y, out, loss
ohm.backends.cudnn.enabled = true
Block = nn.Module:extend("Block")
function Block:__init(c)
  self.a = nn.Conv2d(c, c, 3, {padding = 1, bias = false})
  self.b = nn.Conv2d(c, c, 3, {padding = 1, bias = false})
  self.n = nn.BatchNorm2d(c)
  self.m = nn.BatchNorm2d(c)
  self.relu = nn.ReLU({inplace = true})
end
function Block:forward(x)
  local h
  h = self.relu(self.n(self.a(x)))
  return self.relu(self.m(self.b(h)) + x)
end
model = nn.Sequential(nn.Conv2d(3, 64, 7, {stride = 2, padding = 3, bias = false}), nn.BatchNorm2d(64), nn.ReLU({inplace = true}), nn.MaxPool2d(3, 2, 1), Block(64), Block(64), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 1000)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9})
mark("model")
for step = 0, 1 do
  x = ohm.randn(16, 3, 224, 224):cuda()
  y = ohm.randint(0, 1000, {16}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = F.cross_entropy(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")
