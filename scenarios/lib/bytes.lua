-- Arithmetic of memory, so that a limit says where it comes from.
local bytes = {}

local BLOCK = 512 -- every tensor takes a multiple of this

-- The block of a tensor of these dimensions, `size` bytes an element.
local function block(size, ...)
  local elements = 1
  for _, n in ipairs {...} do elements = elements * n end
  return (elements * size + BLOCK - 1) // BLOCK * BLOCK
end

function bytes.float32(...) return block(4, ...) end
function bytes.float16(...) return block(2, ...) end
function bytes.int64(...) return block(8, ...) end
function bytes.uint8(...) return block(1, ...) end
bytes.scalar = BLOCK -- a loss, a counter
bytes.a100_workspace = 8519680 -- cuBLAS's on an A100, there while a matrix product runs

-- Weight and bias of a Linear, in float32.
function bytes.linear(inputs, outputs)
  return bytes.float32(inputs, outputs) + bytes.float32(outputs)
end

-- A limit in whole bytes: at_most("peak_allocated_bytes", 2 * P + A).
function bytes.at_most(measurement, most) return ("%s <= %d"):format(measurement, most) end
function bytes.exactly(measurement, figure) return ("%s == %d"):format(measurement, figure) end

return bytes
