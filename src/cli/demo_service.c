/* demo_service.c - `dibs demo`, the lock service: three daemons on this machine, and a lock that two commands want. See demo.h.
 *
 * All of it is done by the commands that a user would type. */
#include "demo.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MEMBERS = 3, ATTEMPTS = 5, LOOKS = 3000 };

static const char *const demo_names[MEMBERS] = {"ant", "bee", "cat"};

struct demo_cluster {
    struct demo_place place;
    struct demo_process daemon[MEMBERS];
    uint16_t port[MEMBERS];
    char socket[MEMBERS][DEMO_PATH_MAX + 16], log[MEMBERS][DEMO_PATH_MAX + 16];
};

/* Ports of this machine that no process listens on. Another process may take one before the daemon does: then the daemon ends, and
 * others are tried. */
static bool demo_free_ports(uint16_t port[MEMBERS])
{
    int fd[MEMBERS];
    bool fine = true;

    for (unsigned k = 0; k < MEMBERS; k++) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        socklen_t len = sizeof at;

        fd[k] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        fine = fine && fd[k] >= 0 && bind(fd[k], (struct sockaddr *)&at, sizeof at) == 0 &&
               getsockname(fd[k], (struct sockaddr *)&at, &len) == 0;
        port[k] = ntohs(at.sin_port);
    }
    for (unsigned k = 0; k < MEMBERS; k++)
        close(fd[k]);
    return fine;
}

static bool demo_is_ready(const char *socket)
{
    char text[4096];

    return demo_run(text, sizeof text, "/dev/null", (const char *const[]){"status", "--socket", socket, NULL}) == 0 &&
           (strncmp(text, "ready yes", 9) == 0 || strstr(text, "\nready yes"));
}

static void demo_stop_daemons(struct demo_cluster *c)
{
    for (unsigned k = 0; k < MEMBERS; k++)
        demo_end(&c->daemon[k]);
}

enum demo_start { DEMO_READY, DEMO_ENDED, DEMO_NOT_READY };

/* Starts the daemons, and waits until each is ready. */
static enum demo_start demo_start_daemons(struct demo_cluster *c)
{
    char members[160], data[MEMBERS][DEMO_PATH_MAX + 16];
    unsigned ready = 0;

    if (!demo_free_ports(c->port))
        return DEMO_ENDED;
    snprintf(members, sizeof members, "ant=127.0.0.1:%u,bee=127.0.0.1:%u,cat=127.0.0.1:%u", c->port[0], c->port[1],
             c->port[2]);
    for (unsigned k = 0; k < MEMBERS; k++) {
        snprintf(c->socket[k], sizeof c->socket[k], "%s/%s.sock", c->place.dir, demo_names[k]);
        snprintf(c->log[k], sizeof c->log[k], "%s/%s.log", c->place.dir, demo_names[k]);
        /* Other ports are another cluster. */
        snprintf(data[k], sizeof data[k], "%s/%s.%u", c->place.dir, demo_names[k], c->port[0]);
        if (!demo_start(&c->daemon[k], DEMO_NO_PIPES, c->log[k],
                        (const char *const[]){"serve", "--name", demo_names[k], "--members", members, "--data", data[k],
                                              "--socket", c->socket[k], NULL}))
            return DEMO_ENDED;
    }
    for (unsigned looks = 0; looks < LOOKS && ready < MEMBERS; looks++) {
        for (unsigned k = 0; k < MEMBERS; k++)
            if (demo_has_ended(&c->daemon[k]))
                return DEMO_ENDED;
        if (demo_is_ready(c->socket[ready]))
            ready++;
        else
            demo_pause();
    }
    return ready == MEMBERS ? DEMO_READY : DEMO_NOT_READY;
}

/* Tells on stderr what the daemons said last. */
static void demo_show_logs(const struct demo_cluster *c)
{
    for (unsigned k = 0; k < MEMBERS; k++) {
        FILE *from = c->log[k][0] ? fopen(c->log[k], "r") : NULL;
        char line[512], last[512] = "";

        while (from && fgets(line, sizeof line, from))
            memcpy(last, line, sizeof last);
        if (from)
            fclose(from);
        if (last[0])
            fprintf(stderr, "dibs: the daemon %s said: %s", demo_names[k], last);
    }
}

/* Prints a text of several lines, each indented. */
static void demo_indent(const char *text)
{
    while (*text) {
        int len = (int)strcspn(text, "\n");

        printf("      %.*s\n", len, text);
        text += len + (text[len] == '\n');
    }
}

/* `dibs lock deploy` at a member, around a command that prints its fence and ends when its input does. */
static bool demo_lock(const struct demo_cluster *c, unsigned member, struct demo_process *command)
{
    static const char script[] = "echo $DIBS_FENCE; cat";

    printf("    $ dibs lock deploy --socket %s \\\n          -- sh -c '%s' &\n", c->socket[member], script);
    return demo_start(
        command, DEMO_PIPES, NULL,
        (const char *const[]){"lock", "deploy", "--socket", c->socket[member], "--", "sh", "-c", script, NULL});
}

/* The fence that a command prints when it holds the lock; 0: it does not hold it. */
static uint64_t demo_fence(const struct demo_process *command)
{
    enum { LONG_MS = 120 * 1000 };
    struct pollfd wait = {.fd = command->out, .events = POLLIN};
    char text[32] = "";
    size_t len = 0;

    while (len < sizeof text - 1 && !strchr(text, '\n') && poll(&wait, 1, LONG_MS) == 1 &&
           read(command->out, text + len, 1) == 1)
        text[++len] = 0;
    return strtoull(text, NULL, 10);
}

/* Waits until a client waits for the lock, and prints what `dibs waiters` says. */
static bool demo_show_waiter(const struct demo_cluster *c)
{
    char text[1024];

    for (unsigned looks = 0; looks < LOOKS; looks++) {
        if (demo_run(text, sizeof text, NULL,
                     (const char *const[]){"waiters", "deploy", "--socket", c->socket[2], NULL}) != 0)
            return false;
        if (text[0]) {
            printf("    $ dibs waiters deploy --socket %s\n", c->socket[2]);
            demo_indent(text);
            return true;
        }
        demo_pause();
    }
    return false;
}

/* Returns null, or what went wrong. */
static const char *demo_two_commands(const struct demo_cluster *c, struct demo_process *first,
                                     struct demo_process *second)
{
    uint64_t fence, larger;

    if (!demo_lock(c, 0, first) || (fence = demo_fence(first)) == 0)
        return "the first command did not get the lock";
    printf("      runs on ant, with the fencing token %" PRIu64 "\n", fence);
    if (!demo_lock(c, 1, second) || !demo_show_waiter(c))
        return "the second command was not seen waiting";
    printf("      waits on bee. Now the first command ends.\n");
    if (demo_wait(first) != 0)
        return "the first command failed";
    if ((larger = demo_fence(second)) == 0)
        return "the second command did not get the lock";
    printf("      runs on bee, with the fencing token %" PRIu64 "\n", larger);
    if (larger <= fence)
        return "the second fencing token is not larger than the first";
    if (demo_wait(second) != 0)
        return "the second command failed";
    return NULL;
}

bool demo_service(void)
{
    struct demo_cluster c = {0};
    struct demo_process first = {0}, second = {0};
    const char *wrong = "the daemons did not get ready";
    enum demo_start start = DEMO_ENDED;

    printf("1. One lock, three daemons, two commands\n\n");
    if (!demo_open(&c.place))
        return false;
    for (unsigned attempt = 0; attempt < ATTEMPTS && start == DEMO_ENDED; attempt++) {
        demo_stop_daemons(&c);
        start = demo_start_daemons(&c);
    }
    if (start == DEMO_READY) {
        printf("    The daemons ant, bee and cat are members of a cluster,\n    at 127.0.0.1:%u, %u and %u.\n\n",
               c.port[0], c.port[1], c.port[2]);
        wrong = demo_two_commands(&c, &first, &second);
    }
    if (wrong) {
        fprintf(stderr, "dibs: the tour of the lock service has failed: %s\n", wrong);
        demo_show_logs(&c);
    }
    demo_end(&first);
    demo_end(&second);
    demo_stop_daemons(&c);
    demo_close(&c.place);
    if (!wrong)
        printf("\n    A resource refuses a smaller token than it has seen, and so a holder that\n    comes too late.\n"
               "    The daemons have ended, and their files are removed.\n\n");
    return !wrong;
}
