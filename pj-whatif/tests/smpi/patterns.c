/* Patterns of message passing. Work is given in floating-point operations, so a run is the same on any machine.
   Usage: patterns PATTERN VARIANT BYTES ITERATIONS. VARIANT is `base`, or the change of a hypothesis: `half`, `double`,
   `balanced` (each iteration's work is its mean over the ranks), `mended` (the slow rank is as fast as the others). */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, bytes;
static const char *variant;

/* Returns the work of a rank in an iteration. It takes 0.5 to 1.5 ms, and twice that time on the slow rank. */
static double work(int who, int iteration, int mended)
{
    unsigned mixed = (unsigned)who * 2654435761u + (unsigned)iteration * 40503u + 12345u;
    mixed ^= mixed >> 13;
    mixed *= 1274126177u;
    mixed ^= mixed >> 16;
    double flops = 5e5 + (mixed % 1000) * 1e3;
    return who == size / 3 && !mended ? 2 * flops : flops;
}

static void compute(int iteration)
{
    double flops = work(rank, iteration, !strcmp(variant, "mended"));
    if (!strcmp(variant, "half"))
        flops *= 0.5;
    if (!strcmp(variant, "double"))
        flops *= 2;
    if (!strcmp(variant, "balanced")) {
        flops = 0;
        for (int who = 0; who < size; who++)
            flops += work(who, iteration, 0) / size;
    }
    smpi_execute_flops(flops);
}

/* LU factorisation by columns of blocks with a cyclic distribution. The owner of a column factorises and broadcasts it.
   Then all ranks update their columns to the right of it. */
static void lu(int blocks, char *column)
{
    for (int k = 0; k < blocks; k++) {
        int rows = blocks - k, owned = 0;
        for (int j = k + 1; j < blocks; j++)
            owned += j % size == rank;
        if (rank == k % size)
            smpi_execute_flops(3e4 * rows);
        MPI_Bcast(column, bytes * rows, MPI_CHAR, k % size, MPI_COMM_WORLD);
        if (owned)
            smpi_execute_flops(1e4 * rows * owned);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *pattern = argv[1];
    variant = argv[2];
    bytes = atoi(argv[3]);
    int iterations = atoi(argv[4]);
    size_t room = (size_t)bytes * (size_t)(size + iterations + 50) * 2;
    char *in = malloc(room), *out = malloc(room);
    int left = (rank + size - 1) % size, right = (rank + 1) % size, partner = rank ^ 1;
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Status *ignored = MPI_STATUSES_IGNORE;
    MPI_Request requests[4], around[8];
    if (!strcmp(pattern, "lu")) {
        lu(iterations, in);
        iterations = 0;
    }
    for (int i = 0; i < iterations; i++) {
        compute(i);
        if (!strcmp(pattern, "ring")) {
            if (rank)
                MPI_Recv(in, bytes, MPI_CHAR, left, 0, all, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_CHAR, right, 0, all);
            if (!rank)
                MPI_Recv(in, bytes, MPI_CHAR, left, 0, all, MPI_STATUS_IGNORE);
        } else if (!strcmp(pattern, "halo") || !strcmp(pattern, "halo2")) {
            /* The pattern `halo2` has messages of two sizes. */
            int more = pattern[4] ? bytes * 2 : bytes;
            MPI_Irecv(in, bytes, MPI_CHAR, left, 0, all, &requests[0]);
            MPI_Irecv(in + bytes, more, MPI_CHAR, right, 0, all, &requests[1]);
            MPI_Isend(out, more, MPI_CHAR, left, 0, all, &requests[2]);
            MPI_Isend(out, bytes, MPI_CHAR, right, 0, all, &requests[3]);
            MPI_Waitall(4, requests, ignored);
        } else if (!strcmp(pattern, "pairs")) {
            if (rank & 1) {
                MPI_Recv(in, bytes, MPI_CHAR, partner, 0, all, MPI_STATUS_IGNORE);
                MPI_Send(out, bytes, MPI_CHAR, partner, 0, all);
            } else {
                MPI_Send(out, bytes, MPI_CHAR, partner, 0, all);
                MPI_Recv(in, bytes, MPI_CHAR, partner, 0, all, MPI_STATUS_IGNORE);
            }
        } else if (!strcmp(pattern, "waitall")) {
            MPI_Irecv(in, bytes, MPI_CHAR, partner, 0, all, &requests[0]);
            MPI_Isend(out, bytes, MPI_CHAR, partner, 0, all, &requests[1]);
            MPI_Waitall(2, requests, ignored);
        } else if (!strcmp(pattern, "allreduce")) {
            MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, all);
        } else if (!strcmp(pattern, "bcast")) {
            MPI_Bcast(in, bytes, MPI_CHAR, 0, all);
        } else if (!strcmp(pattern, "reduce")) {
            MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, all);
        } else if (!strcmp(pattern, "alltoall")) {
            MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, all);
        } else if (!strcmp(pattern, "gather")) {
            MPI_Gather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, all);
        } else if (!strcmp(pattern, "scatter")) {
            MPI_Scatter(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, all);
        } else if (!strcmp(pattern, "allgather")) {
            MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, all);
        } else if (!strcmp(pattern, "grid")) {
            /* Exchange of borders on a torus that is four columns wide. Messages along rows are smaller. */
            int row = rank / 4, column = rank % 4, rows = size / 4;
            int to[] = {row * 4 + (column + 1) % 4, row * 4 + (column + 3) % 4,
                        (row + 1) % rows * 4 + column, (row + rows - 1) % rows * 4 + column};
            for (int side = 0; side < 4; side++)
                MPI_Irecv(in + side * 2 * bytes, bytes << side / 2, MPI_CHAR, to[side ^ 1], side, all, &around[side]);
            for (int side = 0; side < 4; side++)
                MPI_Isend(out, bytes << side / 2, MPI_CHAR, to[side], side, all, &around[4 + side]);
            MPI_Waitall(8, around, ignored);
        } else if (!strcmp(pattern, "sizes")) {
            /* Small and large messages around a ring. The large ones are a rendezvous. */
            int some = i % 3 == 0 ? bytes : i % 3 == 1 ? 10 * bytes : 100 * bytes;
            MPI_Irecv(in, some, MPI_CHAR, left, 0, all, &requests[0]);
            MPI_Isend(out, some, MPI_CHAR, right, 0, all, &requests[1]);
            MPI_Waitall(2, requests, ignored);
        } else if (!strcmp(pattern, "master")) {
            /* The master receives a message from each worker, then answers all of them. */
            for (int who = 1; !rank && who < size; who++)
                MPI_Recv(in, bytes, MPI_CHAR, who, 0, all, MPI_STATUS_IGNORE);
            for (int who = 1; !rank && who < size; who++)
                MPI_Send(out, bytes, MPI_CHAR, who, 1, all);
            if (rank) {
                MPI_Send(out, bytes, MPI_CHAR, 0, 0, all);
                MPI_Recv(in, bytes, MPI_CHAR, 0, 1, all, MPI_STATUS_IGNORE);
            }
        } else if (!strcmp(pattern, "turning")) {
            MPI_Bcast(in, bytes, MPI_CHAR, i % size, all);
        } else if (!strcmp(pattern, "wavefront")) {
            /* Sweeps over a grid of ranks that is four columns wide. Each sweep processes three blocks one after the other. */
            int column = rank % 4;
            for (int block = 0; block < 3; block++) {
                if (column)
                    MPI_Recv(in, bytes, MPI_CHAR, rank - 1, 0, all, MPI_STATUS_IGNORE);
                if (rank >= 4)
                    MPI_Recv(in, bytes, MPI_CHAR, rank - 4, 1, all, MPI_STATUS_IGNORE);
                compute(100 + 3 * i + block);
                if (column < 3 && rank + 1 < size)
                    MPI_Send(out, bytes, MPI_CHAR, rank + 1, 0, all);
                if (rank + 4 < size)
                    MPI_Send(out, bytes, MPI_CHAR, rank + 4, 1, all);
            }
        } else if (!strcmp(pattern, "barrier")) {
            MPI_Barrier(all);
        } else if (!strcmp(pattern, "mixed")) {
            MPI_Irecv(in, bytes, MPI_CHAR, left, 0, all, &requests[0]);
            MPI_Send(out, bytes, MPI_CHAR, right, 0, all);
            compute(i + 1000);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, all);
        } else {
            MPI_Abort(all, 2);
        }
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
