/* Programs that are slow for one known reason each. Work is given in floating-point operations, and a host does 10^9 of
   them per second, so a trace is the same on any machine. Usage: causes CAUSE */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 40, LARGE = 400000 };

static int rank, size;
static const char *cause;
static char out[2][LARGE], in[2][LARGE];

static int is(const char *name)
{
    return !strcmp(cause, name);
}

/* Computes for some milliseconds. The slow node takes twice as long for everything. */
static void compute(double ms)
{
    smpi_execute_flops(ms * 1e6 * (is("slow-node") && rank == 5 ? 2 : 1));
}

/* Exchanges messages with both neighbours. */
static void exchange(int bytes)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request requests[4];
    MPI_Irecv(in[0], bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out[0], bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out[1], bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void sum(void)
{
    double mine = rank, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Returns a number from 0 to 1 that depends on the rank and the iteration. */
static double random_part(int i)
{
    unsigned x = rank * 2654435761u ^ (i * 40503u + 977u);
    x = (x ^ x >> 13) * 1274126177u;
    return ((x ^ x >> 16) % 2001) / 2000.0;
}

/* Exchanges messages with the neighbours of a hypercube, one after the other. */
static void exchange_in_cube(void)
{
    for (int bit = 1; bit < size; bit *= 2) {
        MPI_Request requests[2];
        MPI_Irecv(in[0], 1000, MPI_CHAR, rank ^ bit, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out[0], 1000, MPI_CHAR, rank ^ bit, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

/* Rank 0 lets one rank after the other compute. */
static void serve(void)
{
    static int queue[1000], first, last;
    for (int left = 2 * ITERATIONS / 4 * (size - 1), busy = 0; left > 0; left--) {
        MPI_Status status;
        MPI_Recv(in[0], 1, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        if (in[0][0])
            busy = 0;
        else
            queue[last++] = status.MPI_SOURCE;
        if (!busy && first < last) {
            busy = 1;
            MPI_Send(out[0], 1, MPI_CHAR, queue[first++], 0, MPI_COMM_WORLD);
        }
    }
}

static void receive(int from)
{
    MPI_Recv(in[0], 100, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to)
{
    MPI_Send(out[0], 100, MPI_CHAR, to, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cause = argv[1];
    int iterations = is("small-messages") ? 8 : ITERATIONS;
    for (int i = 0; i < iterations; i++) {
        if (is("late-sender")) {
            /* Rank 0 prepares data while the others wait for it. */
            if (rank == 0) {
                compute(1);
                for (int to = 1; to < size; to++)
                    send(to);
            } else {
                receive(0);
            }
            compute(1);
        } else if (is("late-pairs")) {
            /* Even ranks send late. Each rank computes as long as the others. */
            if (rank % 2 == 0) {
                compute(1);
                send(rank + 1);
                compute(0.2);
            } else {
                compute(0.2);
                receive(rank - 1);
                compute(1);
            }
            sum();
        } else if (is("late-in-cube")) {
            /* Half of the ranks of a hypercube send to their neighbours after their work, and the other half then works.
               They change their roles in each iteration. */
            int sends = (__builtin_popcount(rank) + i) % 2;
            compute(sends ? 3 : 1);
            for (int bit = 1; bit < size; bit *= 2)
                sends ? send(rank ^ bit) : receive(rank ^ bit);
            compute(sends ? 1 : 3);
        } else if (is("late-broadcast")) {
            /* Rank 0 works before a broadcast, and the others after it. */
            compute(rank == 0 ? 1 : 0.1);
            MPI_Bcast(in[0], 100, MPI_CHAR, 0, MPI_COMM_WORLD);
            compute(rank == 0 ? 0.1 : 1);
            sum();
        } else if (is("late-receiver")) {
            /* Messages are so large that senders wait for receivers, which work before they receive. */
            compute(rank % 2 == 0 ? 0.2 : 1);
            if (rank % 2 == 0)
                MPI_Send(out[0], 100000, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(in[0], 100000, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(rank % 2 == 0 ? 1 : 0.2);
            sum();
        } else if (is("late-in-turn")) {
            /* Another rank has more work in each iteration. */
            compute(rank == i % size ? 4 : 1);
            exchange_in_cube();
        } else if (is("ring")) {
            /* Each rank receives from one side, and its work differs each time. */
            compute(0.5 + 2 * random_part(i));
            send((rank + 1) % size);
            receive((rank + size - 1) % size);
        } else if (is("one-function")) {
            /* Rank 6 has more work between the second and the third call of the same function, but not before. */
            compute(1);
            sum();
            compute(rank == 6 ? 2.5 : 0.5);
            sum();
        } else if (is("requests")) {
            /* Ranks send requests, and wait until the other ranks have worked on them. */
            int serves = rank % 2, other = rank ^ 1;
            serves ? receive(other) : compute(1);
            serves ? compute(1) : send(other);
            serves ? send(other) : receive(other);
        } else if (is("lock")) {
            /* Rank 0 does not work itself, but lets only one rank work at a time. */
            if (i == 0 && rank == 0)
                serve();
            if (rank > 0 && i % 4 == 0) {
                compute(1 + random_part(i) / 2);
                out[0][0] = 0;
                MPI_Send(out[0], 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
                receive(0);
                compute(0.4);
                out[0][0] = 1;
                MPI_Send(out[0], 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
            }
        } else if (is("imbalance")) {
            /* Higher ranks have more work in one of two functions. */
            compute(0.5);
            sum();
            compute(0.3 + 0.3 * rank);
            sum();
        } else if (is("imbalance-halo")) {
            compute(0.5 + 0.2 * rank);
            exchange(1000);
        } else if (is("serialisation")) {
            /* A token goes round, and only its holder computes. */
            if (rank > 0)
                receive(rank - 1);
            compute(0.5);
            if (rank < size - 1)
                send(rank + 1);
            sum();
        } else if (is("token")) {
            /* After work that all do at the same time, a token goes round for a short piece of work. */
            compute(3.4 + random_part(i) / 5);
            exchange(1000);
            compute(1);
            if (rank > 0)
                receive(rank - 1);
            compute(0.4);
            if (rank < size - 1)
                send(rank + 1);
            sum();
        } else if (is("pipeline")) {
            /* Each sweep starts at rank 0, and the next sweep only after the end of the last. */
            for (int block = 0; block < 3; block++) {
                if (rank > 0)
                    receive(rank - 1);
                compute(0.2);
                if (rank < size - 1)
                    send(rank + 1);
            }
            sum();
        } else if (is("slow-network") || is("high-latency")) {
            compute(1);
            exchange(is("slow-network") ? LARGE : 2000);
        } else if (is("small-messages")) {
            compute(1);
            for (int part = 0; part < 40; part++)
                exchange(8);
        } else if (is("late-phase")) {
            /* From iteration 24 to 31, rank 2 has much more work. */
            compute(rank == 2 && i >= 24 && i < 32 ? 6 : 1);
            exchange(1000);
        } else if (is("longer-phase")) {
            /* From iteration 24 to 31, all ranks have more work. */
            compute(i >= 24 && i < 32 ? 3 : 1);
            exchange(1000);
        } else if (is("slow-node") || is("balanced")) {
            compute(0.8);
            exchange(1000);
            compute(0.3);
            sum();
            compute(0.1);
            exchange(1000);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
