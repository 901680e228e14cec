/* Runs of StarPU that are slow for one known reason each. StarPU simulates them with SimGrid, and this program gives the
   times of the kernels, so a trace is the same on any machine. Usage: tasks CAUSE */
#include <starpu.h>
#include <stdint.h>
#include <string.h>

/* Times of a kernel in microseconds. */
struct times {
	double cpu, gpu;
};

static double cost(struct starpu_task *task, unsigned worker, unsigned implementation)
{
	struct times *times = task->cl_arg;
	(void)implementation;
	return starpu_worker_get_type(worker) == STARPU_CUDA_WORKER ? times->gpu : times->cpu;
}

#define MODEL(name) { .type = STARPU_PER_WORKER, .worker_cost_function = cost, .symbol = name }

static struct starpu_perfmodel of_multiply = MODEL("multiply"), of_solve = MODEL("solve");

/* Simulated kernels are not called. */
#define KERNEL(label, places, times) \
	{ .where = places, .cpu_funcs = { (void *)1 }, .cuda_funcs = { (void *)1 }, .nbuffers = 1, .modes = { STARPU_RW }, \
	  .name = label, .model = &times }

static struct starpu_codelet multiply = KERNEL("multiply", STARPU_CPU | STARPU_CUDA, of_multiply);
static struct starpu_codelet solve = KERNEL("solve", STARPU_CPU | STARPU_CUDA, of_solve);
static struct starpu_codelet only_gpu = KERNEL("multiply", STARPU_CUDA, of_multiply);

enum { DATA = 200 };

static starpu_data_handle_t data[DATA];

/* Submits a task. Tasks with the same data depend on one another. */
static void submit(struct starpu_codelet *kernel, int at, double cpu, double gpu, int worker)
{
	static struct times all[1000];
	static int count;
	struct starpu_task *task = starpu_task_create();
	all[count] = (struct times){ 1000 * cpu, 1000 * gpu };
	task->cl = kernel;
	task->cl_arg = &all[count++];
	task->cl_arg_size = sizeof all[0];
	task->handles[0] = data[at];
	if (worker >= 0) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = worker;
	}
	if (starpu_task_submit(task) != 0)
		abort();
}

int main(int argc, char **argv)
{
	if (argc != 2 || starpu_init(NULL) != 0)
		return 1;
	const char *cause = argv[1];
#define IS(name) (!strcmp(cause, name))
	size_t size = IS("transfers") ? 16 << 20 : 8;
	for (int at = 0; at < DATA; at++)
		starpu_vector_data_register(&data[at], STARPU_MAIN_RAM, (uintptr_t)malloc(size), size, 1);
	if (IS("balanced-tasks")) {
		for (int at = 0; at < 120; at++)
			submit(at % 4 ? &multiply : &solve, at % 40, 8, 4, -1);
	} else if (IS("few-tasks")) {
		for (int at = 0; at < 8; at++)
			submit(&multiply, at, 10, 10, -1);
	} else if (IS("slow-kernel")) {
		for (int at = 0; at < 80; at++)
			submit(at % 2 ? &multiply : &solve, at, at % 2 ? 8 : 4, at % 2 ? 2 : 20, -1);
	} else if (IS("long-chain")) {
		for (int at = 0; at < 30; at++)
			submit(&solve, 0, 5, 5, -1);
		for (int at = 1; at < 60; at++)
			submit(&multiply, at, 4, 4, -1);
	} else if (IS("slow-submission")) {
		for (int at = 0; at < 60; at++) {
			starpu_sleep(0.002);
			submit(&multiply, at, 5, 5, -1);
		}
	} else if (IS("transfers")) {
		for (int at = 0; at < 40; at++)
			submit(&only_gpu, at, 0, 4, -1);
	} else if (IS("one-worker")) {
		/* All tasks go to the same worker. */
		for (int at = 0; at < 40; at++)
			submit(&multiply, at, 5, 5, at < 10 ? -1 : 0);
	} else {
		return 1;
	}
	starpu_task_wait_for_all();
	for (int at = 0; at < DATA; at++)
		starpu_data_unregister(data[at]);
	starpu_shutdown();
	return 0;
}
