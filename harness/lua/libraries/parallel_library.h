// Parallelism over GPUs: nn.DataParallel, nn.parallel.DistributedDataParallel, ohm.distributed.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// Of ohm.nn: DataParallel(module, {device_ids, output_device, gather}), DataParallelCriterion;
/// SyncBatchNorm(num_features, {process_group}), convert_sync_batchnorm(module, process_group).
std::span<const luaL_Reg> data_parallel_functions();

/// Of ohm.nn.parallel: DistributedDataParallel(module, {bucket_cap_mb, gradient_as_bucket_view}).
std::span<const luaL_Reg> distributed_module_functions();

/// Of ohm.distributed: spawn(n, fn) calls fn(rank, n) on n ranks that take turns where they wait.
std::span<const luaL_Reg> distributed_functions();

}  // namespace ohm::lua
