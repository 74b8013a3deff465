/* pool.c - see pool.h. */
#include "pool.h"

#include "memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct pool {
    atomic_size_t next;
    size_t count;
    void (*job)(void *context, size_t k);
    void *context;
};

unsigned pool_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores > 0 ? (unsigned)cores : 1;
}

static void *pool_work(void *arg)
{
    struct pool *pool = arg;
    size_t k;

    while ((k = atomic_fetch_add(&pool->next, 1)) < pool->count)
        pool->job(pool->context, k);
    return NULL;
}

void pool_run(unsigned threads, size_t count, void (*job)(void *context, size_t k), void *context)
{
    struct pool pool = {.count = count, .job = job, .context = context};
    pthread_t *thread;
    unsigned started = 0;

    if (threads > count)
        threads = (unsigned)count;
    thread = mem_new(threads * sizeof *thread);
    /* This thread works, too: if no other one can be started, it does everything. */
    while (started + 1 < threads && pthread_create(&thread[started], NULL, pool_work, &pool) == 0)
        started++;
    pool_work(&pool);
    for (unsigned k = 0; k < started; k++)
        pthread_join(thread[k], NULL);
    free(thread);
}
