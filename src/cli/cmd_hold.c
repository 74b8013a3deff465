/* dibs hold, renew, release - a lock that several commands of a script hold, one after the other: a token owns it. */
#include "lock.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    HOLD_TURN_MS = 1000000000
}; /* eleven days: a daemon waits for no longer. The next request is the last of the line */

struct hold {
    const char *name, *token;
    double ttl_s, wait_s;
    struct ask_place place;
    char made[33]; /* a new token */
};

/* Ends the program with the status that `dibs lock` has in such a case. */
static void hold_fail(const struct dibs *d, int code)
{
    fprintf(stderr, "dibs: %s\n", dibs_message(d));
    exit(code == DIBS_NO_QUORUM  ? LOCK_NO_QUORUM
         : code == DIBS_GONE     ? LOCK_NO_DAEMON
         : code == DIBS_NOT_HELD ? LOCK_LOST
                                 : LOCK_REFUSED);
}

static void hold_make_token(struct hold *h)
{
    unsigned char bytes[16];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        cli_die("cannot make a token: %s", strerror(errno));
    for (unsigned k = 0; k < sizeof bytes; k++)
        snprintf(h->made + 2 * k, 3, "%02x", bytes[k]);
    h->token = h->made;
}

/* Without --token it is that of the environment, as "dibs hold" has printed it. */
static void hold_find_token(struct hold *h)
{
    const char *token = getenv("DIBS_TOKEN");

    if (!h->token)
        h->token = token && *token ? token : NULL;
    if (!h->token)
        cli_die("no token is known; eval \"$(dibs hold NAME --ttl T)\" sets DIBS_TOKEN, or use --token");
}

/* Asks for the lock once, for at most this time. Returns its fence, or 0. */
static uint64_t hold_ask(struct dibs *d, const struct hold *h, uint64_t wait_ms)
{
    char ttl[24], wait[24];
    const char *words[] = {"LOCK", h->name, "TOKEN", h->token, "TTL", ttl, "WAIT", wait};
    struct dibs_reply *r;
    uint64_t fence = 0;
    int code;

    snprintf(ttl, sizeof ttl, "%" PRIu64, (uint64_t)(h->ttl_s * 1000));
    snprintf(wait, sizeof wait, "%" PRIu64, wait_ms);
    code = dibs_ask(d, words, 8, &r);
    if (code != DIBS_OK)
        hold_fail(d, code);
    if (r->type == DIBS_LIST && r->count == 2)
        fence = r->item[1]->number;
    dibs_free(r);
    return fence;
}

static uint64_t hold_wait(struct dibs *d, const struct hold *h)
{
    uint64_t until_ms = h->wait_s < 0 ? UINT64_MAX : lock_now_ms() + (uint64_t)(h->wait_s * 1000), fence;

    for (;;) {
        uint64_t now_ms = lock_now_ms(), left_ms = until_ms > now_ms ? until_ms - now_ms : 0;

        fence = hold_ask(d, h, left_ms < HOLD_TURN_MS ? left_ms : HOLD_TURN_MS);
        if (fence || lock_now_ms() >= until_ms)
            return fence;
    }
}

static int hold_tell(const struct hold *h, const char *const *words, size_t count)
{
    struct dibs *d = ask_connect(&h->place, NULL, LOCK_NO_DAEMON);
    struct dibs_reply *r;
    int code = dibs_ask(d, words, count, &r);

    if (code != DIBS_OK)
        hold_fail(d, code);
    dibs_free(r);
    dibs_close(d);
    return CLI_OK;
}

static int hold_parse(int argc, char **argv, struct hold *h, const struct cli_usage *usage, bool needs_ttl)
{
    int count = cli_parse(argc, argv, usage, &h->name, 1);

    if (count == 0)
        cli_die("no lock is named (usage: %s)", usage->line);
    if (needs_ttl && h->ttl_s < 0)
        cli_die("--ttl is missing: the time for which the lock is held unless it is renewed, for instance --ttl 5m");
    return count;
}

int cmd_hold(int argc, char **argv)
{
    struct hold h = {.ttl_s = -1, .wait_s = -1};
    const struct cli_option options[] = {
        {"--ttl", CLI_SPAN, &h.ttl_s, "T",
         "release the lock when it has not been renewed for T (no default: it is required)", 0.01, 1e6, NULL},
        {"--wait", CLI_SPAN, &h.wait_s, "T", "give up when the lock is not granted within T (default: no limit)", 0,
         1e6, NULL},
        {"--token", CLI_TEXT, &h.token, "TEXT", "hold the lock with this token (default: a new, random one)", 0, 0,
         NULL},
        ASK_PLACE_OPTIONS(h.place),
        {0},
    };
    const struct cli_usage usage = {
        "dibs hold NAME --ttl T [OPTION...]",
        "Takes the lock NAME for a token, and prints the token and the fence for the shell. The lock stays held after "
        "dibs has ended, until \"dibs release NAME\" with the token, at any member, or until T has passed. \"dibs "
        "renew\" begins T anew. T is in seconds, or has a unit: 250ms, 10s, 5m, 2h. Nothing ends the commands of the "
        "script if T has passed before they are done: let the resource check the fence.\n\n"
        "If a command can hold the lock, use \"dibs lock\" instead: it needs no T, and ends the command if the lock "
        "is lost. The exit statuses are those of \"dibs lock\".",
        options,
        {{"Hold a lock over several commands of a script:",
          "dibs hold deploy --ttl 10m >lock.env && . ./lock.env && ./build && ./push; dibs release deploy"},
         {"Try it, and go on with something else if it is held:", "dibs hold deploy --ttl 10m --wait 0"}}};
    struct dibs *d;
    uint64_t fence;

    hold_parse(argc, argv, &h, &usage, true);
    if (!h.token)
        hold_make_token(&h);
    if (h.token[strspn(h.token, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._:@-")])
        cli_die("--token takes letters, digits and . _ : @ -, as the shell reads it again");
    signal(SIGPIPE, SIG_IGN); /* a reader that has ended is an error of the output, see below */
    d = ask_connect(&h.place, NULL, LOCK_NO_DAEMON);
    if (lock_waits_for_itself(d, &(struct dibs_part){.name = h.name}, 1))
        exit(LOCK_REFUSED);
    fence = hold_wait(d, &h);
    dibs_close(d);
    if (!fence) {
        fprintf(stderr, "dibs: the lock \"%s\" was not granted in time (dibs why tells which client holds it)\n",
                ask_clean(h.name));
        return LOCK_NOT_GRANTED;
    }
    printf("export DIBS_TOKEN=%s DIBS_FENCE=%" PRIu64 "\n", h.token, fence);
    if (fflush(stdout) != 0 && h.token == h.made) { /* no script knows the token: it would hold the lock in vain */
        fprintf(stderr, "dibs: cannot write the output: %s; releasing the lock\n", strerror(errno));
        hold_tell(&h, (const char *const[]){"UNLOCK", h.name, "TOKEN", h.token}, 4);
        exit(CLI_USAGE);
    }
    return CLI_OK;
}

int cmd_renew(int argc, char **argv)
{
    struct hold h = {.ttl_s = -1};
    char ttl[24];
    const struct cli_option options[] = {
        {"--ttl", CLI_SPAN, &h.ttl_s, "T",
         "release the lock when it has not been renewed for T (no default: it is required)", 0.01, 1e6, NULL},
        {"--token", CLI_TEXT, &h.token, "TEXT", "the token that owns the lock (default: $DIBS_TOKEN)", 0, 0, NULL},
        ASK_PLACE_OPTIONS(h.place),
        {0},
    };
    const struct cli_usage usage = {
        "dibs renew NAME --ttl T [OPTION...]",
        "Begins the time anew for which the token of \"dibs hold\" owns the lock NAME: from now on it owns the lock "
        "for T, in seconds or with a unit: 250ms, 10s, 5m, 2h. The exit status is 113 if the token does not own the "
        "lock any more.",
        options,
        {{"Keep a lock for another ten minutes:", "dibs renew deploy --ttl 10m"},
         {"Do so at another member:", "dibs renew deploy --ttl 10m --connect 10.0.0.2:7411 --key client.key"}}};

    hold_parse(argc, argv, &h, &usage, true);
    hold_find_token(&h);
    snprintf(ttl, sizeof ttl, "%" PRIu64, (uint64_t)(h.ttl_s * 1000));
    return hold_tell(&h, (const char *const[]){"RENEW", h.name, "TOKEN", h.token, "TTL", ttl}, 6);
}

int cmd_release(int argc, char **argv)
{
    struct hold h = {0};
    const struct cli_option options[] = {
        {"--token", CLI_TEXT, &h.token, "TEXT", "the token that owns the lock (default: $DIBS_TOKEN)", 0, 0, NULL},
        ASK_PLACE_OPTIONS(h.place),
        {0},
    };
    const struct cli_usage usage = {
        "dibs release NAME [OPTION...]",
        "Releases the lock NAME, which the token of \"dibs hold\" owns, at any member. The exit status is 113 if it "
        "does not own the lock any more.",
        options,
        {{"Release the lock of this script:", "dibs release deploy"},
         {"Release it elsewhere, with a token that was passed on:", "dibs release deploy --token \"$TOKEN\""}}};

    hold_parse(argc, argv, &h, &usage, false);
    hold_find_token(&h);
    return hold_tell(&h, (const char *const[]){"UNLOCK", h.name, "TOKEN", h.token}, 4);
}
