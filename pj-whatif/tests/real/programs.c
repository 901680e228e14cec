/* Small MPI programs that sleep instead of computing. Usage: programs PATTERN ITERATIONS, with the milliseconds that rank N
 * sleeps in each iteration in the variable SLEEP_N, and those of all other ranks in SLEEP. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 64 };
static int me, ranks;
static double seconds;
static char in[2][BYTES], out[2][BYTES];

static void work(void) {
  struct timespec left = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
  while (nanosleep(&left, &left)) {}
}

/* Round trips with rank 0 show how far the clocks are apart. */
static void compare_clocks(void) {
  for (int rank = 1; rank < ranks; rank++) {
    for (int i = 0; i < 20 && me == 0; i++) {
      MPI_Send(out[0], BYTES, MPI_BYTE, rank, 2, MPI_COMM_WORLD);
      MPI_Recv(in[0], BYTES, MPI_BYTE, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 20 && me == rank; i++) {
      MPI_Recv(in[0], BYTES, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out[0], BYTES, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
  }
}

static void finish(MPI_Request *requests, int count) {
  for (int i = 0; i < count; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void ring(void) { /* work, pass a message on, and wait for the one from the left */
  MPI_Request request;
  work();
  MPI_Isend(out[0], BYTES, MPI_BYTE, (me + 1) % ranks, 0, MPI_COMM_WORLD, &request);
  MPI_Recv(in[0], BYTES, MPI_BYTE, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  finish(&request, 1);
}

static void halo(void) { /* send to both neighbours, work, and receive from both */
  int left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;
  MPI_Request requests[2];
  MPI_Isend(out[0], BYTES, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out[1], BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[1]);
  work();
  MPI_Recv(in[0], BYTES, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(in[1], BYTES, MPI_BYTE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  finish(requests, 2);
}

static void workers(void) { /* rank 0 hands out work and collects the results in order */
  if (me > 0) {
    MPI_Recv(in[0], BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work();
    MPI_Send(out[0], BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    return;
  }
  work();
  for (int rank = 1; rank < ranks; rank++) MPI_Send(out[0], BYTES, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
  for (int rank = 1; rank < ranks; rank++)
    MPI_Recv(in[0], BYTES, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reduce(void) { /* work, then agree on a sum */
  double sum, own = me;
  work();
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void pipeline(void) { /* each rank works on what the previous rank has finished */
  if (me > 0) MPI_Recv(in[0], BYTES, MPI_BYTE, me - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work();
  if (me + 1 < ranks) MPI_Send(out[0], BYTES, MPI_BYTE, me + 1, 0, MPI_COMM_WORLD);
}

int main(int count, char **words) {
  static const struct { const char *name; void (*once)(void); } all[] = {
    { "ring", ring }, { "halo", halo }, { "workers", workers }, { "reduce", reduce }, { "pipeline", pipeline },
  };
  if (count != 3) return 2;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char name[32];
  snprintf(name, sizeof name, "SLEEP_%d", me);
  const char *own = getenv(name) ? getenv(name) : getenv("SLEEP");
  seconds = (own ? atof(own) : 10) * 1e-3;
  compare_clocks();
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (size_t at = 0; at < sizeof all / sizeof *all; at++)
    if (!strcmp(words[1], all[at].name))
      for (int i = 0; i < atoi(words[2]); i++) all[at].once();
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) printf("%.6f\n", MPI_Wtime() - begin);
  MPI_Finalize();
}
