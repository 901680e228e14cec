/* Each rank computes. Then each row of four ranks reduces 4 kB to its first rank. Rank 5 and the last row compute longer than the
   others, so the times of the reductions allow that all ranks take part, with the first rank of the last row as the root. Times are
   in flops of a host of 1 Gflop/s. The argument is the factor of computing. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    static double out[500], in[500];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm row;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 4, rank, &row);
    double factor = atof(argv[1]);
    for (int iteration = 0; iteration < 8; iteration++) {
        double more = rank == 5 ? 150000 : rank >= 8 ? 400000 : 0;
        smpi_execute_flops(factor * (40000 + 9000 * ((rank * 5 + iteration * 3) % 11) + more));
        MPI_Reduce(out, in, 500, MPI_DOUBLE, MPI_SUM, 0, row);
    }
    MPI_Finalize();
    return 0;
}
