/* The tasks of a Cholesky factorisation of a matrix in TILES x TILES tiles, for StarPU.

   A task does not compute. It sleeps as long as its kernel would compute on a processor of ten billion operations per
   second, so that runs on a busy machine are alike. */
#include <stdint.h>
#include <stdlib.h>
#include <starpu.h>
#include <unistd.h>

enum { ORDER = 3000 };

static void sleep_for(void *buffers[], void *arguments)
{
    double operations;
    (void)buffers;
    starpu_codelet_unpack_args(arguments, &operations);
    usleep((useconds_t)(operations / 1e4));
}

/* Codelets with one, two and three tiles. The last one is changed. */
#define CODELET(NAME, COUNT, ...) \
    static struct starpu_codelet NAME = {.cpu_funcs = {sleep_for}, .nbuffers = COUNT, .modes = {__VA_ARGS__}, .name = #NAME}

CODELET(POTRF, 1, STARPU_RW);
CODELET(TRSM, 2, STARPU_R, STARPU_RW);
CODELET(SYRK, 2, STARPU_R, STARPU_RW);
CODELET(GEMM, 3, STARPU_R, STARPU_R, STARPU_RW);

int main(int argc, char **argv)
{
    int tiles = argc > 1 ? atoi(argv[1]) : 4;
    if (tiles < 1 || starpu_init(NULL) != 0)
        return 1;
    double cube = (double)ORDER / tiles * ORDER / tiles * ORDER / tiles;
    double third = cube / 3, two = 2 * cube;
    char *memory = malloc((size_t)tiles * tiles);
    starpu_data_handle_t *tile = malloc((size_t)tiles * tiles * sizeof *tile);
    for (int i = 0; i < tiles * tiles; i++)
        starpu_variable_data_register(&tile[i], STARPU_MAIN_RAM, (uintptr_t)&memory[i], 1);
#define AT(ROW, COLUMN) tile[(ROW) * tiles + (COLUMN)]
    for (int k = 0; k < tiles; k++) {
        starpu_task_insert(&POTRF, STARPU_RW, AT(k, k), STARPU_VALUE, &third, sizeof third, 0);
        for (int m = k + 1; m < tiles; m++)
            starpu_task_insert(&TRSM, STARPU_R, AT(k, k), STARPU_RW, AT(m, k), STARPU_VALUE, &cube, sizeof cube, 0);
        for (int m = k + 1; m < tiles; m++) {
            starpu_task_insert(&SYRK, STARPU_R, AT(m, k), STARPU_RW, AT(m, m), STARPU_VALUE, &cube, sizeof cube, 0);
            for (int n = k + 1; n < m; n++)
                starpu_task_insert(&GEMM, STARPU_R, AT(m, k), STARPU_R, AT(n, k), STARPU_RW, AT(m, n), STARPU_VALUE, &two,
                                   sizeof two, 0);
        }
    }
    starpu_task_wait_for_all();
    for (int i = 0; i < tiles * tiles; i++)
        starpu_data_unregister(tile[i]);
    starpu_shutdown();
    free(tile);
    free(memory);
    return 0;
}
