/* The same work without races. Results are received from each worker by rank, with MPI_Irecv and MPI_Wait. The only wildcard
   receives (MPI_Recv with MPI_ANY_SOURCE) take a single token that is passed around.

   These receives request a status, because without a status SMPI 3.32 does not trace the sender of the message. */
#include <mpi.h>
#include <smpi/smpi.h>

enum { ROUNDS = 3 };

int main(int argc, char **argv)
{
    int rank, size, value = 0, token = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            for (int worker = 1; worker < size; worker++) {
                MPI_Request request;
                MPI_Irecv(&value, 1, MPI_INT, worker, 1, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
            MPI_Send(&token, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
        } else {
            smpi_execute_flops(1e6 * rank);
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
