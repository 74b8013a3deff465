/* loop - wait for a lock without being blocked, hold it, and hear at once when it is lost.
 *
 *   loop NAME
 *
 * A program with a loop of its own: it waits with poll for its input, here lines that it repeats, and for the daemon. The
 * first line that comes while the lock is held releases it; the end of the input ends the program. */
#include <dibs.h>

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct program {
    const char *name;
    struct dibs *d;
    int waiting, held, lost;
};

/* Called by the library, from dibs_process: whatever the lock protects must be left alone from now on. */
static void lost(void *user, const char *name, uint64_t fence, const char *why)
{
    struct program *p = user;

    printf("lost %s, whose token was %" PRIu64 ": %s\n", name, fence, why);
    p->held = 0;
    p->lost = 1;
}

static void look_at_result(struct program *p)
{
    uint64_t fence;
    int code = dibs_lock_result(p->d, &fence);

    if (code == DIBS_WAITING)
        return;
    p->waiting = 0;
    p->held = code == DIBS_OK;
    if (p->held)
        printf("held %s, token %" PRIu64 "\n", p->name, fence);
    else
        printf("not held: %s\n", dibs_message(p->d));
}

/* A line has come, or the end: 0. */
static int take_input(struct program *p)
{
    char line[256];
    ssize_t len = read(STDIN_FILENO, line, sizeof line);

    if (len <= 0)
        return 0;
    printf("you say: %.*s", (int)len, line);
    if (p->held && dibs_start_unlock(p->d, p->name) == DIBS_OK) {
        p->held = 0;
        printf("released %s\n", p->name);
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct program p = {.name = argc > 1 ? argv[1] : "loop"};
    int going = 1;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (dibs_connect(&p.d, NULL, NULL) != DIBS_OK || dibs_start_lock(p.d, p.name, NULL) != DIBS_OK) {
        fprintf(stderr, "loop: %s\n", dibs_message(p.d));
        dibs_close(p.d);
        return 1;
    }
    dibs_on_lost(p.d, lost, &p);
    for (p.waiting = 1; going;) {
        struct pollfd polled[2] = {{.fd = dibs_fd(p.d), .events = dibs_events(p.d)},
                                   {.fd = STDIN_FILENO, .events = POLLIN}};

        if (p.waiting)
            look_at_result(&p);
        if (poll(polled, 2, dibs_timeout_ms(p.d)) < 0)
            break;
        dibs_process(p.d); /* whether or not there is something to read: time may have passed */
        if (polled[1].revents)
            going = take_input(&p);
    }
    dibs_close(p.d);
    return p.lost;
}
