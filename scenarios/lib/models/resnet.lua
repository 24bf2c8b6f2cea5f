-- ResNet-18 and ResNet-50, layer by layer as in torchvision: 11,689,512 and 25,557,032 parameters.
local nn = ohm.nn

local function conv(inputs, outputs, size, stride, options)
  return nn.Conv2d(inputs, outputs, size, {
    stride = stride, padding = size // 2, bias = false,
    device = options.device, dtype = options.dtype,
  })
end

local function norm(channels, options)
  return nn.BatchNorm2d(channels, {device = options.device, dtype = options.dtype})
end

-- What goes around a block: false for nothing, or a projection where the shape changes.
local function shortcut(inputs, outputs, stride, options)
  if stride == 1 and inputs == outputs then return false end
  return nn.Sequential(conv(inputs, outputs, 1, stride, options), norm(outputs, options))
end

local Basic = nn.Module:extend("BasicBlock")
Basic.expansion = 1

function Basic:__init(inputs, width, stride, options)
  self.conv1, self.bn1 = conv(inputs, width, 3, stride, options), norm(width, options)
  self.relu = nn.ReLU({inplace = true})
  self.conv2, self.bn2 = conv(width, width, 3, 1, options), norm(width, options)
  self.downsample = shortcut(inputs, width, stride, options)
end

function Basic:forward(x)
  local identity = x
  local out = self.relu(self.bn1(self.conv1(x)))
  out = self.bn2(self.conv2(out))
  if self.downsample then identity = self.downsample(x) end
  return self.relu(out:add_(identity))
end

local Bottleneck = nn.Module:extend("Bottleneck")
Bottleneck.expansion = 4

function Bottleneck:__init(inputs, width, stride, options)
  local outputs = width * Bottleneck.expansion
  self.conv1, self.bn1 = conv(inputs, width, 1, 1, options), norm(width, options)
  self.conv2, self.bn2 = conv(width, width, 3, stride, options), norm(width, options)
  self.conv3, self.bn3 = conv(width, outputs, 1, 1, options), norm(outputs, options)
  self.relu = nn.ReLU({inplace = true})
  self.downsample = shortcut(inputs, outputs, stride, options)
end

function Bottleneck:forward(x)
  local identity = x
  local out = self.relu(self.bn1(self.conv1(x)))
  out = self.relu(self.bn2(self.conv2(out)))
  out = self.bn3(self.conv3(out))
  if self.downsample then identity = self.downsample(x) end
  return self.relu(out:add_(identity))
end

local function layer(Block, inputs, width, blocks, stride, options)
  local made = {Block(inputs, width, stride, options)}
  for i = 2, blocks do made[i] = Block(width * Block.expansion, width, 1, options) end
  return nn.Sequential(table.unpack(made))
end

local ResNet = nn.Module:extend("ResNet")

function ResNet:__init(Block, blocks, options)
  self.conv1 = nn.Conv2d(3, 64, 7, {
    stride = 2, padding = 3, bias = false, device = options.device, dtype = options.dtype,
  })
  self.bn1, self.relu = norm(64, options), nn.ReLU({inplace = true})
  self.maxpool = nn.MaxPool2d(3, {stride = 2, padding = 1})
  self.layer1 = layer(Block, 64, 64, blocks[1], 1, options)
  self.layer2 = layer(Block, 64 * Block.expansion, 128, blocks[2], 2, options)
  self.layer3 = layer(Block, 128 * Block.expansion, 256, blocks[3], 2, options)
  self.layer4 = layer(Block, 256 * Block.expansion, 512, blocks[4], 2, options)
  self.avgpool, self.flatten = nn.AdaptiveAvgPool2d(1), nn.Flatten()
  self.fc = nn.Linear(512 * Block.expansion, options.classes or 1000,
                      {device = options.device, dtype = options.dtype})
end

function ResNet:forward(x)
  x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
  x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
  return self.fc(self.flatten(self.avgpool(x)))
end

-- options: classes (1000), device, dtype.
return {
  resnet18 = function(options) return ResNet(Basic, {2, 2, 2, 2}, options or {}) end,
  resnet50 = function(options) return ResNet(Bottleneck, {3, 4, 6, 3}, options or {}) end,
}
