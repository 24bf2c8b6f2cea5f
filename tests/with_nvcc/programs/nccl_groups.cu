// exec: --gpu tiny-64m,count=2 --shared-gpu
// links: -lnccl
// says: Duplicate GPU detected : rank 0 and rank 1 both on CUDA device
// One thread that is two ranks, two ranks on one GPU, and arguments that cannot be.
#include <nccl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/// Two processes on the first GPU: NCCL refuses both.
static int refused(const ncclUniqueId& id, int rank) {
  ncclComm_t communicator;
  const ncclResult_t result = ncclCommInitRank(&communicator, 2, id, rank);
  std::printf("%s\n", ncclGetLastError(nullptr));
  return result;
}

static void check_processes() {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  ncclUniqueId id;
  if (child == 0) {
    CHECK(read(ends[0], &id, sizeof(id)) == sizeof(id));
    std::exit(refused(id, 1));
  }
  OK(ncclGetUniqueId(&id));
  CHECK(write(ends[1], &id, sizeof(id)) == sizeof(id));
  CHECK(refused(id, 0) == ncclInvalidUsage);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == ncclInvalidUsage);
}

static void check_arguments(float* data, ncclComm_t communicator) {
  CHECK(ncclAllReduce(data, data, 8, ncclFloat, ncclSum, nullptr, 0) == ncclInvalidArgument);
  CHECK(ncclAllReduce(data, nullptr, 8, ncclFloat, ncclSum, communicator, 0) ==
        ncclInvalidArgument);
  CHECK(ncclAllReduce(data, data, 8, ncclDataType_t(99), ncclSum, communicator, 0) ==
        ncclInvalidArgument);
  CHECK(ncclAllReduce(data, data, 8, ncclFloat, ncclRedOp_t(99), communicator, 0) ==
        ncclInvalidArgument);
  CHECK(ncclBroadcast(data, data, 8, ncclFloat, 2, communicator, 0) == ncclInvalidArgument);
  CHECK(ncclSend(data, 8, ncclFloat, -1, communicator, 0) == ncclInvalidArgument);
  ncclUniqueId id;
  OK(ncclGetUniqueId(&id));
  CHECK(ncclCommInitRank(&communicator, 2, id, 2) == ncclInvalidArgument);
  const int same[] = {0, 0}, far[] = {0, 7};
  ncclComm_t two[2];
  CHECK(ncclCommInitAll(two, 2, same) == ncclInvalidUsage);
  CHECK(ncclCommInitAll(two, 2, far) == ncclInvalidArgument);
}

int main() {
  check_processes();
  ncclUniqueId id;
  ncclComm_t communicators[2], parts[2];
  float* data[2];
  OK(ncclGetUniqueId(&id));
  OK(ncclGroupStart());
  for (int rank = 0; rank < 2; ++rank) {
    OK(cudaSetDevice(rank));
    OK(cudaMalloc(&data[rank], kMiB));
    OK(ncclCommInitRank(&communicators[rank], 2, id, rank));
  }
  OK(ncclGroupEnd());
  OK(ncclGroupStart());
  for (int rank = 0; rank < 2; ++rank) {
    OK(ncclCommSplit(communicators[rank], 0, 1 - rank, &parts[rank], nullptr));
  }
  OK(ncclGroupEnd());
  for (int rank = 0; rank < 2; ++rank) {
    int device, new_rank;
    OK(ncclCommCuDevice(communicators[rank], &device));
    OK(ncclCommUserRank(parts[rank], &new_rank));
    CHECK(device == rank && new_rank == 1 - rank);
  }
  check_arguments(data[0], communicators[0]);
  for (int rank = 0; rank < 2; ++rank) {
    OK(ncclCommDestroy(parts[rank]));
    OK(ncclCommDestroy(communicators[rank]));
  }
  return 0;
}
