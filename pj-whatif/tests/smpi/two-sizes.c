/* Each rank sends 20 kB to the next rank and 10 kB to the previous one, computes, and waits for all messages. Times are in
   flops of a host of 1 Gflop/s. The argument is the factor of computing. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    static char out[2][20000], in[2][20000];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    double factor = atof(argv[1]);
    for (int iteration = 0; iteration < 10; iteration++) {
        MPI_Request requests[4];
        MPI_Irecv(in[0], 20000, MPI_CHAR, previous, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in[1], 10000, MPI_CHAR, next, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out[0], 20000, MPI_CHAR, next, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out[1], 10000, MPI_CHAR, previous, 0, MPI_COMM_WORLD, &requests[3]);
        smpi_execute_flops(factor * (40000 + 7000 * ((rank * 5 + iteration * 3) % 11)));
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
