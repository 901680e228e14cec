/* The task graph of a tiled Cholesky factorisation, with kernels that sleep instead of computing. So the run depends on
 * the scheduler and the number of workers, but not on how busy the machine is.
 *
 * sleeping TILES POTRF TRSM SYRK GEMM   (times in microseconds) */
#include <starpu.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static unsigned times[4];

static void sleeps(void *buffers[], void *time)
{
	(void)buffers;
	unsigned us = *(unsigned *)time;
	struct timespec span = { us / 1000000, us % 1000000 * 1000L };
	nanosleep(&span, NULL);
}

static struct starpu_perfmodel models[4] = {
	{ .type = STARPU_HISTORY_BASED, .symbol = "POTRF" },
	{ .type = STARPU_HISTORY_BASED, .symbol = "TRSM" },
	{ .type = STARPU_HISTORY_BASED, .symbol = "SYRK" },
	{ .type = STARPU_HISTORY_BASED, .symbol = "GEMM" },
};

#define CODELET(at, label, count, ...) \
	{ .cpu_funcs = { sleeps }, .nbuffers = count, .modes = { __VA_ARGS__ }, .name = label, .model = &models[at] }

static struct starpu_codelet potrf = CODELET(0, "POTRF", 1, STARPU_RW);
static struct starpu_codelet trsm = CODELET(1, "TRSM", 2, STARPU_R, STARPU_RW);
static struct starpu_codelet syrk = CODELET(2, "SYRK", 2, STARPU_R, STARPU_RW);
static struct starpu_codelet gemm = CODELET(3, "GEMM", 3, STARPU_R, STARPU_R, STARPU_RW);

int main(int argc, char **argv)
{
	if (argc != 6 || starpu_init(NULL) != 0)
		return 1;
	int n = atoi(argv[1]);
	for (int at = 0; at < 4; at++)
		times[at] = atoi(argv[2 + at]);
	starpu_data_handle_t *tiles = calloc(n * n, sizeof *tiles);
	int64_t *values = calloc(n * n, sizeof *values);
#define TILE(row, column) tiles[(row) * n + (column)]
#define PRIORITY(number) STARPU_PRIORITY, (number)
	for (int at = 0; at < n * n; at++)
		starpu_variable_data_register(&tiles[at], STARPU_MAIN_RAM, (uintptr_t)&values[at], sizeof *values);
	/* All tasks are submitted before the first one starts. */
	starpu_pause();
	for (int k = 0; k < n; k++) {
		starpu_task_insert(&potrf, STARPU_RW, TILE(k, k), STARPU_CL_ARGS_NFREE, &times[0], sizeof times[0],
				   PRIORITY(2 * (n - k)), 0);
		for (int m = k + 1; m < n; m++)
			starpu_task_insert(&trsm, STARPU_R, TILE(k, k), STARPU_RW, TILE(m, k), STARPU_CL_ARGS_NFREE,
					   &times[1], sizeof times[1], PRIORITY(2 * (n - k) - m), 0);
		for (int m = k + 1; m < n; m++) {
			starpu_task_insert(&syrk, STARPU_R, TILE(m, k), STARPU_RW, TILE(m, m), STARPU_CL_ARGS_NFREE,
					   &times[2], sizeof times[2], PRIORITY(2 * (n - k) - m), 0);
			for (int l = k + 1; l < m; l++)
				starpu_task_insert(&gemm, STARPU_R, TILE(m, k), STARPU_R, TILE(l, k), STARPU_RW,
						   TILE(m, l), STARPU_CL_ARGS_NFREE, &times[3], sizeof times[3],
						   PRIORITY(2 * (n - k) - m - l), 0);
		}
	}
	starpu_resume();
	starpu_task_wait_for_all();
	for (int at = 0; at < n * n; at++)
		starpu_data_unregister(tiles[at]);
	starpu_shutdown();
	free(tiles);
	free(values);
	return 0;
}
