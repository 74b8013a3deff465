/* A client that takes and releases locks for as long as it lives, and writes down what it believed, for a checker to judge.
 *
 *   chaos_client LOG WHO PLACE HOLD_MS NAME:MODE...    until it is ended; MODE is x, s, gGROUP or nSLOTS
 *
 * A line for each lock that it asked for, times in ns of CLOCK_BOOTTIME, which is one clock for all who write on a machine:
 *
 *   WHO NAME MODE FENCE ASKED GRANTED BELIEVED END
 *
 * From GRANTED, read after the library had said so, to BELIEVED, read before the library said so for the last time, it held
 * the lock for all it knew. END is released, lost (it was told so), gone (the daemon died, or did not vouch for it in time);
 * or, with a fence of 0, why it was not granted: timeout, noquorum, .. A hold of 0 ms is for ever.
 *
 * With CHAOS_KEEP_MS in its environment, it has kept sessions. When its lock is in doubt, it ends the line with doubt, and
 * begins another one, with the same fence, when the lock is held again. */
#include <dibs.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 3000, STEP_MS = 2, AGAIN_MS = 50 };

static volatile sig_atomic_t ends;
static uint64_t keep_ms;
static int lost; /* the library has told that the lock is */

static void client_end(int number)
{
    (void)number;
    ends = 1;
}

static uint64_t client_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct hold {
    char name[64], mode[32];
    uint64_t fence, asked, granted, believed;
    const char *end;
};

/* In one write: a line is whole, whatever happens. */
static void client_write(FILE *log, const char *who, const struct hold *h)
{
    fprintf(log, "%s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", who, h->name, h->mode, h->fence,
            h->asked, h->granted, h->believed, h->end);
    fflush(log);
}

static struct dibs_wish client_wish(const struct hold *h)
{
    struct dibs_wish wish = {.wait_ms = WAIT_MS};

    wish.mode = h->mode[0] == 's'   ? DIBS_SHARED
                : h->mode[0] == 'g' ? DIBS_GROUP
                : h->mode[0] == 'n' ? DIBS_SLOTS
                                    : DIBS_EXCLUSIVE;
    if (wish.mode == DIBS_GROUP)
        wish.group = h->mode + 1;
    if (wish.mode == DIBS_SLOTS)
        wish.slots = (unsigned)atoi(h->mode + 1);
    return wish;
}

/* Does it still believe? Then it did at this moment. */
static int client_believes(const struct dibs *d, struct hold *h)
{
    uint64_t now = client_now_ns();

    if (!dibs_fence(d, h->name))
        return 0;
    h->believed = now;
    return 1;
}

static void client_lost(void *user, const char *name, uint64_t fence, const char *why)
{
    (void)user;
    (void)name;
    (void)fence;
    (void)why;
    lost = 1;
}

static void client_step(struct dibs *d)
{
    struct pollfd polled = {.fd = dibs_fd(d), .events = dibs_events(d)};
    int timeout = dibs_timeout_ms(d);

    poll(&polled, 1, timeout >= 0 && timeout < STEP_MS ? timeout : STEP_MS);
    if (dibs_process(d) == DIBS_GONE)
        lost = 1;
}

/* Until the lock is held again, or lost. */
static void client_doubt(struct dibs *d, struct hold *h, FILE *log, const char *who)
{
    h->end = "doubt";
    client_write(log, who, h);
    while (!ends && !lost && !client_believes(d, h))
        client_step(d);
    h->granted = h->believed;
}

static void client_hold(struct dibs *d, struct hold *h, uint64_t hold_ms, FILE *log, const char *who)
{
    uint64_t until = hold_ms ? h->granted + hold_ms * 1000000 : UINT64_MAX;

    while (!ends && !lost && h->believed < until) {
        if (client_believes(d, h))
            client_step(d);
        else if (keep_ms)
            client_doubt(d, h, log, who);
        else
            break;
    }
    if (keep_ms ? !lost : client_believes(d, h)) { /* a lock that is in doubt just now is released later */
        h->end = "released";
        dibs_unlock(d, h->name);
    } else {
        h->end = dibs_fd(d) < 0 ? "gone" : "lost";
        dibs_unlock(d, h->name);
    }
}

static const char *client_why(int code)
{
    return code == DIBS_TIMEOUT     ? "timeout"
           : code == DIBS_NO_QUORUM ? "noquorum"
           : code == DIBS_GONE      ? "no-daemon"
           : code == DIBS_LOST      ? "lost-at-once"
                                    : "refused";
}

/* One lock, from asking to its end. Returns false if the connection cannot be used any more. */
static int client_take(struct dibs *d, const char *spec, uint64_t hold_ms, FILE *log, const char *who)
{
    struct hold h = {.asked = client_now_ns()};
    struct dibs_wish wish;
    int code;

    if (sscanf(spec, "%63[^:]:%31s", h.name, h.mode) != 2) {
        fprintf(stderr, "chaos_client: \"%s\" is not NAME:MODE\n", spec);
        exit(2);
    }
    wish = client_wish(&h);
    lost = 0;
    code = dibs_lock(d, h.name, &wish, &h.fence);
    h.granted = h.believed = client_now_ns();
    if (code == DIBS_OK) {
        client_hold(d, &h, hold_ms, log, who);
    } else {
        h.fence = 0;
        h.end = client_why(code);
    }
    client_write(log, who, &h);
    return keep_ms ? dibs_process(d) != DIBS_GONE : dibs_fd(d) >= 0;
}

int main(int argc, char **argv)
{
    FILE *log = argc > 5 ? fopen(argv[1], "a") : NULL;
    struct sigaction end = {.sa_handler = client_end};
    struct dibs *d = NULL;

    if (!log) {
        fprintf(stderr, "usage: chaos_client LOG WHO PLACE HOLD_MS NAME:MODE...\n");
        return 2;
    }
    sigaction(SIGTERM, &end, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    srand((unsigned)getpid());
    keep_ms = getenv("CHAOS_KEEP_MS") ? strtoull(getenv("CHAOS_KEEP_MS"), NULL, 10) : 0;
    while (!ends) {
        if (!d && dibs_connect(&d, argv[3], &(struct dibs_options){.name = argv[2], .keep_ms = keep_ms}) != DIBS_OK) {
            dibs_close(d);
            d = NULL;
            usleep(AGAIN_MS * 1000);
            continue;
        }
        dibs_on_lost(d, client_lost, NULL);
        if (!client_take(d, argv[5 + rand() % (argc - 5)], strtoull(argv[4], NULL, 10), log, argv[2])) {
            dibs_close(d);
            d = NULL;
        }
        usleep((useconds_t)(rand() % AGAIN_MS) * 1000);
    }
    dibs_close(d);
    return 0;
}
