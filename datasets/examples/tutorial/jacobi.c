/* Jacobi's method for the heat equation on a square plate, which is divided into blocks of 64 rows. Each rank
   has some of the blocks. It exchanges the rows at its borders with its neighbours in every iteration, and all ranks
   add up the change in every tenth.

   As first written, the last rank gets all the blocks that are left over. Compiled with -DEVEN, the first ranks get one
   more block each.

   The simulator is given the work in floating-point operations, and a host does 10^9 of them per second. So the trace
   is the same on any machine. */
#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdlib.h>

enum { BLOCKS = 60, ROWS = 64, COLUMNS = 1024, ITERATIONS = 40, FLOPS = 6 };

static int blocks_of(int rank, int size)
{
#ifdef EVEN
    return BLOCKS / size + (rank < BLOCKS % size);
#else
    return BLOCKS / size + (rank == size - 1 ? BLOCKS % size : 0);
#endif
}

/* Sends the first and the last row to the neighbours, and receives theirs. */
static void exchange(double *plate, int rows, int rank, int size)
{
    MPI_Request requests[4];
    int count = 0;
    double *below = plate + (rows + 1) * COLUMNS;
    if (rank > 0)
        MPI_Irecv(plate, COLUMNS, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, &requests[count++]);
    if (rank < size - 1)
        MPI_Irecv(below, COLUMNS, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, &requests[count++]);
    if (rank > 0)
        MPI_Isend(plate + COLUMNS, COLUMNS, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, &requests[count++]);
    if (rank < size - 1)
        MPI_Isend(below - COLUMNS, COLUMNS, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

/* Writes the next values of the rows, and returns the sum of the changes. */
static double relax(double *next, const double *plate, int rows)
{
    double change = 0;
    for (int row = 1; row <= rows; row++) {
        for (int column = 1; column < COLUMNS - 1; column++) {
            int at = row * COLUMNS + column;
            next[at] = 0.25 * (plate[at - COLUMNS] + plate[at + COLUMNS] + plate[at - 1] + plate[at + 1]);
            change += fabs(next[at] - plate[at]);
        }
    }
    smpi_execute_flops((double)rows * COLUMNS * FLOPS);
    return change;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = ROWS * blocks_of(rank, size);
    double *plate = calloc((size_t)(rows + 2) * COLUMNS, sizeof *plate);
    double *next = calloc((size_t)(rows + 2) * COLUMNS, sizeof *next);
    for (int column = 0; rank == 0 && column < COLUMNS; column++)
        plate[column] = next[column] = 100;
    for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
        exchange(plate, rows, rank, size);
        double change = relax(next, plate, rows);
        double *old = plate;
        plate = next;
        next = old;
        if (iteration % 10 == 0)
            MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    free(plate);
    free(next);
    MPI_Finalize();
    return 0;
}
