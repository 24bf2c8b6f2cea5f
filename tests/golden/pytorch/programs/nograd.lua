-- Written by tests/comparisons/translate_programs.py: do not edit.

--== nograd_conv_grad_cpu
local net, outputs, image
net = nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear((8 * 72) * 72, 10)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
    outputs[#outputs + 1] = net(image):cpu()
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== nograd_conv_grad_detach
local net, outputs, image
net = nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear((8 * 72) * 72, 10)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
    outputs[#outputs + 1] = net(image):detach()
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== nograd_conv_grad_list
local net, outputs, image
net = nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear((8 * 72) * 72, 10)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
    outputs[#outputs + 1] = net(image)
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== nograd_conv_inference_list
local net, outputs, image
net = nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear((8 * 72) * 72, 10)):cuda()
mark("model")
outputs = {}
do
  local mode1 <close> = ohm.inference_mode()
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
    outputs[#outputs + 1] = net(image)
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== nograd_conv_nograd_cpu
local net, outputs, image
net = nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear((8 * 72) * 72, 10)):cuda()
mark("model")
outputs = {}
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
    outputs[#outputs + 1] = net(image):cpu()
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== nograd_conv_nograd_rebind
local net, outputs, image, out
net = nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear((8 * 72) * 72, 10)):cuda()
mark("model")
outputs = {}
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
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

--== nograd_gap_grad_cpu
local net, outputs, image
net = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    image = ohm.randn(1, 3, 300, 300):cuda()
    outputs[#outputs + 1] = net(image):cpu()
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== nograd_gap_grad_detach_cpu
local net, outputs, image
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

--== nograd_gap_grad_rebind
local net, outputs, image, out
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

--== nograd_gap_nograd_list
local net, outputs, image
net = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)):cuda()
mark("model")
outputs = {}
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 24 do
    image = ohm.randn(1, 3, 300, 300):cuda()
    outputs[#outputs + 1] = net(image)
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== nograd_gap_nograd_rebind
local net, outputs, image, out
net = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)):cuda()
mark("model")
outputs = {}
do
  local mode1 <close> = ohm.no_grad()
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

--== nograd_mlp_grad_list
local net, outputs, image
net = nn.Sequential(nn.Flatten(), nn.Linear(90000, 64), nn.ReLU(), nn.Linear(64, 90000)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
    outputs[#outputs + 1] = net(image)
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== nograd_mlp_grad_rebind
local net, outputs, image, out
net = nn.Sequential(nn.Flatten(), nn.Linear(90000, 64), nn.ReLU(), nn.Linear(64, 90000)):cuda()
mark("model")
outputs = {}
do
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
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

--== nograd_mlp_inference_list
local net, outputs, image
net = nn.Sequential(nn.Flatten(), nn.Linear(90000, 64), nn.ReLU(), nn.Linear(64, 90000)):cuda()
mark("model")
outputs = {}
do
  local mode1 <close> = ohm.inference_mode()
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
    outputs[#outputs + 1] = net(image)
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")

--== nograd_mlp_nograd_list
local net, outputs, image
net = nn.Sequential(nn.Flatten(), nn.Linear(90000, 64), nn.ReLU(), nn.Linear(64, 90000)):cuda()
mark("model")
outputs = {}
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 24 do
    image = ohm.randn(1, 1, 300, 300):cuda()
    outputs[#outputs + 1] = net(image)
    mark("image " .. i)
  end
end
mark("end of program (globals alive)")
net = nil
outputs = nil
image = nil
mark("globals deleted")
