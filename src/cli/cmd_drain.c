/* dibs drain - end a daemon when its clients hold no locks any more. */
#include "ask.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { DRAIN_PAUSE_MS = 100 };

/* "2 clients hold locks: "backup" (web1:812 backup.sh, user 0, at member ant) and 1 more"; without the locks that this client may not see */
static void drain_describe(const struct dibs_reply *r, char *text, size_t size)
{
    uint64_t count = r->item[0]->number, shown = 0;
    size_t len =
        (size_t)snprintf(text, size, "%" PRIu64 " client%s", count, count == 1 ? " holds a lock" : "s hold locks");

    for (size_t k = 1; k + 1 < r->count && len < size; k += 2)
        if (r->item[k]->text && r->item[k + 1]->text) {
            char name[300];

            snprintf(name, sizeof name, "%s", ask_clean(r->item[k]->text));
            len += (size_t)snprintf(text + len, size - len, "%s\"%s\" (%s)", shown++ ? ", " : ": ", name,
                                    ask_clean(r->item[k + 1]->text));
        }
    if (shown && count > shown && len < size)
        snprintf(text + len, size - len, " and %" PRIu64 " more", count - shown);
}

/* Until the daemon has ended, or the time is over. */
static int drain_watch(struct dibs *d, double wait_s, bool quiet)
{
    static const char *const words[] = {"DRAIN"};
    char said[2048] = "", now[2048] = "";
    double waited_s = 0;
    bool drained = false;

    for (;; waited_s += DRAIN_PAUSE_MS / 1000.0) {
        struct dibs_reply *r = NULL;
        int code = dibs_ask(d, words, 1, &r);

        if (code == DIBS_GONE && drained) {
            if (!quiet)
                printf("drained; the daemon has ended\n");
            return CLI_OK;
        }
        if (code != DIBS_OK || r->type != DIBS_LIST || !r->count) {
            fprintf(stderr, "dibs: %s\n",
                    code == DIBS_OK
                        ? "the daemon's answer to DRAIN is not understood: it may be of another version (dibs "
                          "status, dibs --version)"
                        : dibs_message(d));
            dibs_free(r);
            return CLI_FAILED;
        }
        drained = r->item[0]->number == 0;
        drain_describe(r, now, sizeof now);
        dibs_free(r);
        if (!drained && !quiet && strcmp(said, now) != 0)
            fprintf(stderr, "dibs: waiting: %s\n", now);
        memcpy(said, now, sizeof said);
        if (!drained && wait_s >= 0 && waited_s >= wait_s) {
            fprintf(stderr, "dibs: not drained after %g s: %s; locks are granted again\n", wait_s, now);
            return CLI_FAILED;
        }
        nanosleep(&(struct timespec){.tv_nsec = DRAIN_PAUSE_MS * 1000000}, NULL);
    }
}

int cmd_drain(int argc, char **argv)
{
    struct ask_place place = {0};
    double wait_s = -1;
    bool quiet = false;
    const struct cli_option options[] = {
        {"--wait", CLI_SPAN, &wait_s, "T",
         "give up if clients hold locks after T, in seconds or with a unit: 250ms, 10s, 5m, 2h (default: no limit)", 0,
         1e6, NULL},
        {"--quiet", CLI_FLAG, &quiet, NULL, "do not print what dibs waits for", 0, 0, NULL},
        ASK_PLACE_OPTIONS(place),
        {0},
    };
    const struct cli_usage usage = {
        "dibs drain [OPTION...]",
        "Ends a daemon gently. The daemon refuses requests for locks, also those that wait, so that clients go to "
        "other members; it waits until its clients hold no locks, and ends. If dibs drain is ended before, or --wait "
        "is over, the daemon grants locks again. Locks that a token owns, and kept sessions whose client is away, are "
        "not waited for.\n\n"
        "Only an operator may do that: the owner of the daemon's socket, root, or a holder of the cluster key. A "
        "service manager may start the daemon again.\n\n"
        "Exit status: 0 the daemon has ended, 1 clients hold locks or the daemon cannot be asked, 2 the command line "
        "is wrong.",
        options,
        {{"Wait until the jobs of this machine have ended, then end its daemon:", "dibs drain"},
         {"Wait for ten minutes at most:", "dibs drain --wait 10m"}},
    };
    struct dibs *d;
    int status;

    cli_parse(argc, argv, &usage, NULL, 0);
    d = ask_connect(&place, NULL, CLI_FAILED);
    status = drain_watch(d, wait_s, quiet);
    dibs_close(d);
    return status;
}
