/* A pool of workers. Rank 0 receives results with MPI_ANY_SOURCE and sends the next piece of work to the idle worker. The order
   of the workers' first results is a race. */
#include <mpi.h>
#include <smpi/smpi.h>

enum { PIECES = 12 };

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int piece = 0; piece < PIECES; piece++) {
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            int more = piece + size - 1 < PIECES;
            MPI_Send(&more, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
        }
    } else {
        int more = 1;
        while (more) {
            smpi_execute_flops(1e6 * rank);
            MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
