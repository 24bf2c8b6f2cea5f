-- Symptom: "I deleted the trainer, and its tensors are still on the GPU; a minute later they are
-- not."
--
-- Python frees an object when the last reference to it goes. Objects that refer to each other
-- always have one: a trainer and its callbacks, a child and its parent. Only the garbage collector
-- finds them, later. What to do: break the cycle, or let one side refer weakly; gc.collect()
-- where that is not possible. empty_cache() frees nothing: to the allocator the tensors are in use.
--
-- Chapter: leaks
-- PyTorch:
--     gc.collect()    # or break the cycle: node.parent = weakref.ref(parent)

local bytes = require("bytes")

-- Each step makes a trainer with 1 MiB and a callback that refers back to it. One of them at a
-- time, its sum, and what summing takes.
local BUFFER, STEPS = {1024, 256}, 8
local ONE = bytes.float32(table.unpack(BUFFER)) + 3 * bytes.scalar

local function new_trainer(device, step, refer)
  local trainer = ohm.object {buffer = ohm.full(BUFFER, step / 2, {device = device})}
  trainer.callback = ohm.object {trainer = refer(trainer)}
  return trainer
end

-- `finish(trainer)` is what the script does with a trainer before it drops it.
local function train(device, refer, finish, after)
  local sum = 0
  for step = 1, STEPS do
    local trainer = new_trainer(device, step, refer)
    sum = sum + trainer.buffer:sum():item()
    if finish then finish(trainer) end
    trainer = nil -- luacheck: ignore
    if after then after() end
    ohm.step()
  end
  return {sum = sum}
end

local function strongly(trainer) return trainer end

local function break_the_cycle(trainer) trainer.callback.trainer = nil end
local function collect_and_empty_cache()
  ohm.gc.collect()
  ohm.cuda.empty_cache()
end

-- A step that fails leaves its cycle behind, as in Python: until the collector runs.
local UNTIL_COLLECTED = {{
  verdict = "leak", reason = "the failed step's cycle is garbage until the collector runs",
}}

return ohm.scenario {
  name = "reference_cycles",
  summary = "Objects that refer to each other hold their tensors after their last name is gone",
  gpu = {profile = "tiny-64m", values = true},
  limits = {"growth_bytes_per_step == 0", bytes.at_most("peak_allocated_bytes", ONE)},

  problems = {trainer_and_callback = function(d) return train(d, strongly) end},
  mitigations = {
    collect_garbage = {
      waive = UNTIL_COLLECTED,
      run = function(d) return train(d, strongly, nil, ohm.gc.collect) end,
    },
    -- It costs a segment in every step.
    collect_and_empty_cache = {
      waive = UNTIL_COLLECTED, limits = {"num_device_alloc == " .. STEPS},
      run = function(d) return train(d, strongly, nil, collect_and_empty_cache) end,
    },
    break_the_cycle = {
      waive = UNTIL_COLLECTED,
      run = function(d) return train(d, strongly, break_the_cycle) end,
    },
    weak_reference = function(d) return train(d, ohm.weakref) end,
  },
  non_fixes = {
    empty_cache = function(d) return train(d, strongly, nil, ohm.cuda.empty_cache) end,
    del_the_name_twice = function(d)
      return train(d, strongly, function(trainer)
        local callback = trainer.callback
        trainer, callback = nil, nil -- luacheck: ignore
      end)
    end,
  },
  controls = {
    no_cycle = function(d) return train(d, function() return false end) end,
  },
  checks = {
    collector_says_how_many = {
      returns = {found = 2 * STEPS, allocated = 0},
      run = function(d)
        train(d, strongly)
        return {found = ohm.gc.collect(), allocated = ohm.cuda.memory_allocated()}
      end,
    },
  },
}
