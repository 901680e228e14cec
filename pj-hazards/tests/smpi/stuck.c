/* In each iteration, all ranks exchange messages with both neighbours and enter a barrier. In the last iteration, rank 137
   waits for another message of its left neighbour, which is in the barrier. Therefore, 239 of 240 ranks wait for rank 137. */
#include <mpi.h>
#include <smpi/smpi.h>

enum { ITERATIONS = 2, STUCK = 137 };

int main(int argc, char **argv)
{
    int rank, size;
    char halo[2], mine[1] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < ITERATIONS; i++) {
        MPI_Request requests[2];
        smpi_execute_flops(1e6);
        MPI_Isend(mine, 1, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(mine, 1, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Recv(&halo[1], 1, MPI_CHAR, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&halo[0], 1, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (rank == STUCK && i == ITERATIONS - 1)
            MPI_Recv(&halo[0], 1, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
