// exec: --gpu tiny-64m
// Data of a program that graphs keep: it ends with its last reference.
#include "check.h"

static int ended = 0;
static void end(void* data) { ended += *static_cast<int*>(data); }

int main() {
  int one = 1, ten = 10;
  cudaUserObject_t object;
  CHECK(cudaUserObjectCreate(&object, &one, end, 1, 0) == cudaErrorInvalidValue);
  CHECK(cudaUserObjectCreate(&object, &one, end, 0, cudaUserObjectNoDestructorSync) ==
        cudaErrorInvalidValue);
  OK(cudaUserObjectCreate(&object, &one, end, 1, cudaUserObjectNoDestructorSync));
  OK(cudaUserObjectRetain(object, 2));
  OK(cudaUserObjectRelease(object, 2));
  CHECK(ended == 0);
  OK(cudaUserObjectRelease(object, 1));
  CHECK(ended == 1);
  CHECK(cudaUserObjectRelease(object, 1) == cudaErrorInvalidValue);

  ended = 0;
  cudaGraph_t graph, clone;
  cudaGraphExec_t executable;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaUserObjectCreate(&object, &ten, end, 1, cudaUserObjectNoDestructorSync));
  OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphExecDestroy(executable));
  CHECK(ended == 0);
  CHECK(cudaGraphReleaseUserObject(clone, object, 2) == cudaErrorInvalidValue);
  OK(cudaGraphReleaseUserObject(clone, object, 1));
  CHECK(ended == 10);
  OK(cudaGraphDestroy(clone));
  CHECK(ended == 10);
  return 0;
}
