/* maker_redis.c - locks by Redis, in the two ways its manual describes, and in the fastest one that is used.
 *
 * redis: one server. SET name mine NX PX 30000; to release, a script deletes the name if it is still mine. redlock: the
 * same on all servers at once; a client that has the majority holds the lock, one that has not gives up what it got. No client is told when
 * a lock becomes free: a client that fails tries again after a random time of at most RETRY_US. The commands go to all servers
 * before the first answer is read, which is as fast as it can be done.
 *
 * redis-list: one server, and a list with one token in it. A client takes the token (BLPOP), which wakes the client that has
 * waited for longest, and puts it back (LPUSH). If a client dies with the token, the lock is lost for ever. There is
 * one such lock, x. */
#include "contend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SERVERS_MAX = 8, RETRY_US = 1000 };

struct redis {
    int servers, fd[SERVERS_MAX];
    char mine[32], script[64]; /* its digest */
};

static const char release[] =
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

static void redis_send(int fd, int words, const char *const *word)
{
    char bytes[512];
    int len = sprintf(bytes, "*%d\r\n", words);

    for (int k = 0; k < words; k++)
        len += sprintf(bytes + len, "$%zu\r\n%s\r\n", strlen(word[k]), word[k]);
    write_all(fd, bytes, (unsigned long)len);
}

/* One answer: a line, a text of one line, or two such texts. */
static void redis_hear(int fd, char *answer, size_t size)
{
    size_t len = 0;
    long got;
    int lines = 0, wanted = 1;

    while (lines < wanted) {
        got = read(fd, answer + len, size - 1 - len);
        if (got <= 0)
            die("Redis has gone");
        for (long k = 0; k < got; k++)
            lines += answer[len + (size_t)k] == '\n';
        len += (size_t)got;
        wanted = answer[0] == '*' ? 5 : answer[0] == '$' && answer[1] != '-' ? 2 : 1;
    }
    answer[len] = '\0';
    if (answer[0] == '-')
        die("Redis says %s", answer);
}

static void *redis_begin_with(char **place, int servers, int k)
{
    struct redis *r = calloc(1, sizeof *r);
    char answer[128];

    r->servers = servers < SERVERS_MAX ? servers : SERVERS_MAX;
    snprintf(r->mine, sizeof r->mine, "client-%d-%d", k, (int)getpid());
    srandom((unsigned)getpid());
    for (int s = 0; s < r->servers; s++) {
        r->fd[s] = reach(place[s]);
        redis_send(r->fd[s], 3, (const char *const[]){"SCRIPT", "LOAD", release});
        redis_hear(r->fd[s], answer, sizeof answer);
    }
    if (sscanf(answer, "$40\r\n%40s", r->script) != 1)
        die("Redis takes no script: %s", answer);
    return r;
}

static void *redis_begin(char **place, int places, int k)
{
    (void)places;
    return redis_begin_with(place, 1, k);
}

static void redis_let_go(void *client, const char *name)
{
    struct redis *r = client;
    char answer[128];

    for (int s = 0; s < r->servers; s++)
        redis_send(r->fd[s], 5, (const char *const[]){"EVALSHA", r->script, "1", name, r->mine});
    for (int s = 0; s < r->servers; s++)
        redis_hear(r->fd[s], answer, sizeof answer);
}

static void redis_take(void *client, const char *name)
{
    struct redis *r = client;
    char answer[128];

    for (;;) {
        int got = 0;

        for (int s = 0; s < r->servers; s++)
            redis_send(r->fd[s], 6, (const char *const[]){"SET", name, r->mine, "NX", "PX", "30000"});
        for (int s = 0; s < r->servers; s++) {
            redis_hear(r->fd[s], answer, sizeof answer);
            got += answer[0] == '+';
        }
        if (got > r->servers / 2)
            return;
        if (got)
            redis_let_go(r, name);
        usleep((unsigned)random() % RETRY_US);
    }
}

const struct maker maker_redis = {"redis", redis_begin, redis_take, redis_let_go};
const struct maker maker_redlock = {"redlock", redis_begin_with, redis_take, redis_let_go};

static void *list_begin(char **place, int places, int k)
{
    struct redis *r = calloc(1, sizeof *r);
    char answer[128];

    (void)places;
    r->servers = 1;
    r->fd[0] = reach(place[0]);
    if (k == 0) { /* the token, and no other that was left behind */
        redis_send(r->fd[0], 2, (const char *const[]){"DEL", "x"});
        redis_hear(r->fd[0], answer, sizeof answer);
        redis_send(r->fd[0], 3, (const char *const[]){"LPUSH", "x", "t"});
        redis_hear(r->fd[0], answer, sizeof answer);
    }
    return r;
}

static void list_take(void *client, const char *name)
{
    struct redis *r = client;
    char answer[128];

    redis_send(r->fd[0], 3, (const char *const[]){"BLPOP", name, "0"});
    redis_hear(r->fd[0], answer, sizeof answer);
}

static void list_let_go(void *client, const char *name)
{
    struct redis *r = client;
    char answer[128];

    redis_send(r->fd[0], 3, (const char *const[]){"LPUSH", name, "t"});
    redis_hear(r->fd[0], answer, sizeof answer);
}

const struct maker maker_redis_list = {"redis-list", list_begin, list_take, list_let_go};
