/* A ring of processes that compute and pass a message to both neighbours in each iteration. One of them, rank 3, computes
   longer and causes all waiting: directly in its neighbours, and indirectly in all others.

   The simulator is given the work in floating-point operations, and a host does 10^9 of them per second. So the time
   of computing is known: 1 ms per iteration, 1.5 ms in rank 3. */
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
