/* A ring of processes that compute and pass a message to both neighbours in each iteration. Rank 3 computes longer
   and causes all waiting. Its neighbours wait for it directly, and all other ranks wait for it indirectly.

   The simulator is given the work in floating-point operations, and a host does 10^9 operations per second. Therefore,
   the computing takes 1 ms per iteration, or 1.5 ms in rank 3. */
#include <mpi.h>
#include <smpi/smpi.h>

enum { ITERATIONS = 60, SLOW = 3 };

int main(int argc, char **argv)
{
    int rank, size;
    char halo[2], mine[1] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < ITERATIONS; i++) {
        smpi_execute_flops(rank == SLOW ? 1.5e6 : 1e6);
        MPI_Request requests[4];
        MPI_Irecv(&halo[0], 1, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&halo[1], 1, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(mine, 1, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(mine, 1, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
