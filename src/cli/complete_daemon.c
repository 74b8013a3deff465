/* complete_daemon.c - completion: the locks and members of the daemon that a command line names. See complete.h. */
#include "ask.h"
#include "complete.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { COMPLETE_PATIENCE_S = 2 };

static void complete_name(struct complete *c, const char *name, const char *text)
{
    name = ask_clean(name);
    complete_offer(c, name, strlen(name), text);
}

static void complete_give_up(int signal)
{
    (void)signal;
    _exit(CLI_FAILED);
}

/* A connection to the daemon that is meant; or null. A stopped daemon would never answer: then an alarm ends the
 * program. */
static struct dibs *complete_connect(const struct complete *c)
{
    const struct ask_place place = {.socket = c->socket,
                                    .address = c->address,
                                    .key = c->key,
                                    .cert = c->cert,
                                    .cert_key = c->cert_key,
                                    .ca = c->ca};
    struct dibs *d = NULL;

    fflush(stdout);
    signal(SIGALRM, complete_give_up);
    alarm(COMPLETE_PATIENCE_S);
    if (ask_try_connect(&place, "completion", &d) == DIBS_OK)
        return d;
    dibs_close(d);
    return NULL;
}

/* The names that begin as typed, as all members know them. */
void complete_locks(struct complete *c)
{
    char pattern[512] = "*";
    struct dibs *d = complete_connect(c);
    struct ask_lock *locks;
    size_t count;

    if (strlen(c->typed) < sizeof pattern - 1 && !c->typed[strcspn(c->typed, "*?[\\")])
        snprintf(pattern, sizeof pattern, "%s*", c->typed);
    if (d) {
        locks = ask_list_locks(d, pattern, false, &count);
        for (size_t k = 0; k < count; k++)
            complete_name(c, locks[k].name, locks[k].holders ? "lock, held" : "lock");
        ask_free_locks(locks, count);
    }
    dibs_close(d);
}

void complete_members(struct complete *c)
{
    const char *words[] = {"MEMBER", "LIST"};
    struct dibs *d = complete_connect(c);
    struct dibs_reply *r = NULL;

    if (d && dibs_ask(d, words, 2, &r) == DIBS_OK)
        for (size_t k = 0; k < r->count; k++)
            complete_name(c, ask_field(r->item[k], "name")->text, ask_clean(ask_field(r->item[k], "address")->text));
    dibs_free(r);
    dibs_close(d);
}
