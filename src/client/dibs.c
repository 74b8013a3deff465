/* dibs.c - the functions of the library (include/dibs.h): each passes a call to belief.h and, if need be, waits. */
#include "dibs.h"

#include "conn.h"
#include "place.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

const char *dibs_text(int code)
{
    switch (code) {
    case DIBS_OK:
        return "fine";
    case DIBS_WAITING:
        return "not yet";
    case DIBS_TIMEOUT:
        return "not granted in time";
    case DIBS_LOST:
        return "lost";
    case DIBS_GONE:
        return "no daemon";
    case DIBS_NOT_HELD:
        return "not held";
    case DIBS_WRONG_KIND:
        return "a lock of another kind";
    case DIBS_NO_QUORUM:
        return "too few members";
    case DIBS_REFUSED:
        return "refused";
    case DIBS_MISUSE:
        return "a mistake of the program";
    case DIBS_NO_MEMORY:
        return "out of memory";
    case DIBS_IN_DOUBT:
        return "in doubt";
    case DIBS_DEADLOCK:
        return "a deadlock";
    default:
        return "unknown";
    }
}

const char *dibs_message(const struct dibs *d)
{
    return d ? d->belief.message : dibs_text(DIBS_NO_MEMORY);
}

/* ------------------------------------------------------------------------------------------------------- connections */

/* After fork, another process has the handle, too, and shares the socket. The daemon would take whatever that process sent for words of the process that
 * opened the connection, and whatever that process read would be missing there. With TLS the two would also use the same keys and numbers. */
static bool dibs_is_of_another_process(const struct dibs *d)
{
    return d->process != getpid() || (d->opener && !*d->opener);
}

/* The number of a process does not tell it from one that was forked into another PID namespace, where both may be number 1, nor from one
 * that got the same number later. So there is a page, too, that the system clears for each process that is forked. */
static void dibs_note_process(struct dibs *d)
{
    char *page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    d->process = getpid();
    if (page != MAP_FAILED && madvise(page, 1, MADV_WIPEONFORK) == 0) {
        *page = 1;
        d->opener = page;
    } else if (page != MAP_FAILED) { /* the system is older than Linux 4.14 */
        munmap(page, 1);
    }
}

/* DIBS_OK, or the refusal of a call in another process. */
static int dibs_check_process(struct dibs *d)
{
    return dibs_is_of_another_process(d) ? belief_fail(&d->belief, DIBS_MISUSE,
                                                       "process %d opened this connection, and process %d cannot use "
                                                       "it; open another one after fork",
                                                       (int)d->process, (int)getpid())
                                         : DIBS_OK;
}

static void dibs_default_name(char *name, size_t size)
{
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    snprintf(name, size, "%s:%d", host, (int)getpid());
}

static const char *dibs_variable(const char *name)
{
    const char *value = secure_getenv(name);

    return value ? value : "";
}

/* An option of the program comes before the variable of the environment. If the program has chosen a key, the certificates of the environment are
 * ignored; if it has chosen certificates, the key is. Returns false if there is no memory. */
static bool dibs_choose_files(struct secure_files *f, const struct dibs_options *o)
{
    bool by_key = o && o->key, by_cert = o && (o->cert || o->cert_key || o->ca);

    f->key = strdup(by_key ? o->key : by_cert ? "" : dibs_variable("DIBS_KEY"));
    f->cert = strdup(by_cert && o->cert ? o->cert : by_key ? "" : dibs_variable("DIBS_CERT"));
    f->cert_key = strdup(by_cert && o->cert_key ? o->cert_key : by_key ? "" : dibs_variable("DIBS_CERT_KEY"));
    f->ca = strdup(by_cert && o->ca ? o->ca : by_key ? "" : dibs_variable("DIBS_CA"));
    return f->key && f->cert && f->cert_key && f->ca;
}

/* Returns null, or the mistake in how the program wants to reach a daemon. */
static const char *dibs_mistake(const struct dibs *d)
{
    bool by_cert = *d->files.cert || *d->files.cert_key || *d->files.ca;

    for (unsigned k = 0; k < d->places; k++)
        if (!place_is_unix(d->place[k])) {
            if (*d->files.key && by_cert)
                return "choose a key or certificates: of --key ($DIBS_KEY) and --cert, --cert-key, --ca ($DIBS_CERT, "
                       "$DIBS_CERT_KEY, $DIBS_CA), only one is possible";
            if (place_has_name(d->place[k]) && !by_cert)
                return "the name of a daemon, as in NAME=HOST:PORT, is that in its certificate; without certificates, "
                       "leave it out";
        }
    return NULL;
}

/* Copies the whole lines at the beginning of $DIBS_LOCKS that fit into a request: dibs lock makes no text that is too long. Returns null if there
 * is no memory. */
static char *dibs_under(const char *all)
{
    size_t len = strlen(all);

    while (len > CONN_UNDER_MAX) {
        const char *line = memrchr(all, '\n', len);

        len = line ? (size_t)(line - all) : 0;
    }
    return strndup(all, len);
}

/* Copies all that is needed to make the connection, now and perhaps again. Returns false if there is no memory. */
static bool dibs_remember(struct dibs *d, const char *where, const struct dibs_options *options)
{
    const char *under = secure_getenv("DIBS_LOCKS");
    char name[96];
    bool fine;

    dibs_default_name(name, sizeof name);
    d->places = place_count(where);
    d->place = calloc(d->places + 1, sizeof *d->place);
    d->name = strdup(options && options->name ? options->name : name);
    fine = dibs_choose_files(&d->files, options) && d->place && d->name;
    if (under && *under)
        fine = (d->under = dibs_under(under)) && fine;
    for (unsigned k = 0; fine && k < d->places; k++)
        fine = (d->place[k] = place_of(where, k));
    return fine;
}

/* Connects to one place. */
static int dibs_connect_to(struct dibs *d, const char *place, uint64_t keep_ms)
{
    struct belief *b = &d->belief;
    char name[PLACE_NAME_MAX + 1];
    bool tcp;
    int code;

    d->fd = place_connect(place, &tcp, b->message, sizeof b->message);
    code = d->fd < 0 ? d->fd : DIBS_OK;
    if (code == DIBS_OK && tcp && secure_is_wanted(&d->files) &&
        !(d->secure = secure_new(&d->files, place_name(place, name), b->message, sizeof b->message)))
        code = DIBS_MISUSE;
    if (code != DIBS_OK) {
        if (d->fd >= 0)
            close(d->fd);
        d->fd = -1;
        b->gone = true;
        return code;
    }
    b->under = d->under;
    code = conn_wait(d, belief_hello(b, d->name, keep_ms, conn_now_ms()));
    return code != DIBS_OK && d->secure && *secure_why(d->secure) ? DIBS_REFUSED : code;
}

/* The connection to one place has failed: makes the handle as new. */
static void dibs_start_over(struct dibs *d)
{
    secure_free(d->secure, -1);
    d->secure = NULL;
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
    belief_free(&d->belief);
    d->belief = (struct belief){0};
}

int dibs_connect(struct dibs **made, const char *where, const struct dibs_options *options)
{
    struct dibs *d = *made = calloc(1, sizeof *d);
    uint64_t keep_ms = options ? options->keep_ms : 0;
    int code = DIBS_GONE;
    const char *mistake;

    if (!d)
        return DIBS_NO_MEMORY;
    d->fd = -1;
    dibs_note_process(d);
    if (!dibs_remember(d, where, options)) {
        d->belief.gone = true;
        return belief_fail(&d->belief, DIBS_NO_MEMORY, "out of memory");
    }
    if ((mistake = dibs_mistake(d))) {
        d->belief.gone = true;
        return belief_fail(&d->belief, DIBS_MISUSE, "%s", mistake);
    }
    for (d->redial.turn = 0; d->redial.turn < d->places && code == DIBS_GONE; d->redial.turn++) {
        if (d->redial.turn)
            dibs_start_over(d);
        code = dibs_connect_to(d, d->place[d->redial.turn], keep_ms);
    }
    d->redial.turn--; /* should the connection break, the same place comes first */
    d->belief.elsewhere = d->places > 1;
    return code;
}

void dibs_close(struct dibs *d)
{
    if (!d)
        return;
    if (dibs_is_of_another_process(d)) {
        secure_free(d->secure, -1);
    } else {
        belief_say_goodbye(&d->belief);
        conn_flush(d);
        secure_free(d->secure, d->fd);
        shutdown(d->fd, SHUT_RDWR); /* other processes may have the descriptor as well */
    }
    if (d->fd >= 0)
        close(d->fd);
    belief_free(&d->belief);
    for (unsigned k = 0; d->place && k < d->places; k++)
        free(d->place[k]);
    free(d->place);
    free(d->files.key);
    free(d->files.cert);
    free(d->files.cert_key);
    free(d->files.ca);
    free(d->name);
    free(d->under);
    if (d->opener)
        munmap(d->opener, 1);
    free(d);
}

int dibs_fd(const struct dibs *d)
{
    return d->fd;
}

short dibs_events(const struct dibs *d)
{
    size_t len;
    bool out;

    belief_output(&d->belief, &len);
    if (d->redial.under_way)
        return POLLOUT;
    out = d->secure ? secure_has_more(d->secure) || (len && secure_is_up(d->secure)) : len > 0;
    return (short)(POLLIN | (out ? POLLOUT : 0));
}

int dibs_timeout_ms(const struct dibs *d)
{
    return dibs_is_of_another_process(d) ? -1 : conn_timeout_ms(d);
}

int dibs_process(struct dibs *d)
{
    int code = dibs_check_process(d);

    return code == DIBS_OK ? conn_process(d) : code;
}

/* Would the command change what the connection holds, or its protocol, and the library not know? The lock of a token does not belong to
 * the connection. */
static bool dibs_changes_connection(const char *const *words, size_t count)
{
    static const char *const changing[] = {"LOCK",      "UNLOCK",     "RENEW",  "UPGRADE",     "DOWNGRADE",
                                           "SESSION",   "MEANWHILE",  "HELLO",  "AGENT",       "QUIT",
                                           "SUBSCRIBE", "PSUBSCRIBE", "CANCEL", "UNSUBSCRIBE", "PUNSUBSCRIBE"};
    bool known = false;

    for (size_t k = 0; words && count && words[0] && k < sizeof changing / sizeof changing[0]; k++)
        known |= strcasecmp(words[0], changing[k]) == 0;
    return known && !(count > 2 && words[2] && strcasecmp(words[2], "TOKEN") == 0 &&
                      (strcasecmp(words[0], "LOCK") == 0 || strcasecmp(words[0], "UNLOCK") == 0 ||
                       strcasecmp(words[0], "RENEW") == 0));
}

int dibs_ask(struct dibs *d, const char *const *words, size_t count, struct dibs_reply **reply)
{
    int code = dibs_check_process(d);

    *reply = NULL;
    if (code == DIBS_OK && dibs_changes_connection(words, count))
        code = belief_fail(&d->belief, DIBS_MISUSE, "dibs_ask cannot say %s; call the function of the library for that",
                           words[0]);
    if (code != DIBS_OK)
        return code;
    code = conn_wait(d, belief_ask(&d->belief, words, count, conn_now_ms()));
    *reply = d->belief.answer;
    d->belief.answer = NULL;
    return code;
}

/* ------------------------------------------------------------------------------------------------------------- locks */

static const struct dibs_wish dibs_no_wish;

int dibs_lock(struct dibs *d, const char *name, const struct dibs_wish *wish, uint64_t *fence)
{
    int code = dibs_check_process(d);

    if (code != DIBS_OK)
        return code;
    if (wish && wish->reentrant && name && belief_is_stale(&d->belief, name, conn_now_ms()))
        code = dibs_confirm(d, name);
    if (code == DIBS_OK || code == DIBS_LOST) /* one that was lost is requested anew */
        code = conn_wait(d, belief_lock(&d->belief, name, wish ? wish : &dibs_no_wish, true, conn_now_ms()));
    if (code == DIBS_OK && fence)
        *fence = d->belief.fence;
    return code;
}

int dibs_try(struct dibs *d, const char *name, const struct dibs_wish *wish, uint64_t *fence)
{
    struct dibs_wish brief = wish ? *wish : dibs_no_wish;

    brief.wait_ms = DIBS_NO_WAIT;
    return dibs_lock(d, name, &brief, fence);
}

int dibs_lock_many(struct dibs *d, struct dibs_part *parts, size_t count, const struct dibs_wish *wish)
{
    int code = dibs_check_process(d);

    if (code == DIBS_OK)
        code =
            conn_wait(d, belief_lock_many(&d->belief, parts, count, wish ? wish : &dibs_no_wish, true, conn_now_ms()));
    for (size_t k = 0; k < count && code == DIBS_OK; k++)
        parts[k].fence = held_find(&d->belief.held, parts[k].name)->fence;
    return code;
}

int dibs_start_lock(struct dibs *d, const char *name, const struct dibs_wish *wish)
{
    const struct dibs_wish *w = wish ? wish : &dibs_no_wish;
    const struct dibs_part part = {.name = name,
                                   .mode = w->mode,
                                   .slots = w->slots,
                                   .group = w->group,
                                   .value = w->value,
                                   .value_len = w->value_len};

    return dibs_start_lock_many(d, &part, 1, w);
}

int dibs_start_lock_many(struct dibs *d, const struct dibs_part *parts, size_t count, const struct dibs_wish *wish)
{
    int code = dibs_check_process(d);

    if (code == DIBS_OK)
        code = belief_lock_many(&d->belief, parts, count, wish ? wish : &dibs_no_wish, false, conn_now_ms());
    if (code == DIBS_OK)
        conn_process(d); /* dibs_lock_result will have the result */
    return code;
}

int dibs_lock_result(struct dibs *d, uint64_t *fence)
{
    int code = dibs_check_process(d);

    if (code == DIBS_OK)
        code = belief_lock_result(&d->belief, conn_now_ms());
    if (code == DIBS_OK && fence)
        *fence = d->belief.fence;
    return code;
}

int dibs_cancel(struct dibs *d)
{
    int code = dibs_check_process(d);

    if (code == DIBS_OK)
        code = belief_cancel(&d->belief);
    if (code == DIBS_OK)
        conn_process(d);
    return code;
}

int dibs_unlock(struct dibs *d, const char *name)
{
    int code = dibs_check_process(d);

    if (code == DIBS_OK)
        code = conn_wait(d, belief_unlock(&d->belief, name, conn_now_ms()));
    if (code == DIBS_LOST)
        conn_process(d); /* the daemon is told */
    return code;
}

int dibs_start_unlock(struct dibs *d, const char *name)
{
    int code = dibs_check_process(d);

    if (code != DIBS_OK)
        return code;
    code = belief_start_unlock(&d->belief, name);
    conn_process(d);
    return code;
}

int dibs_renew(struct dibs *d, const char *name, uint64_t ttl_ms)
{
    int code = dibs_check_process(d);

    return code == DIBS_OK ? conn_wait(d, belief_renew(&d->belief, name, ttl_ms, conn_now_ms())) : code;
}

int dibs_start_renew(struct dibs *d, const char *name, uint64_t ttl_ms)
{
    int code = dibs_check_process(d);

    if (code == DIBS_OK)
        code = belief_start_renew(&d->belief, name, ttl_ms);
    if (code == DIBS_OK)
        conn_process(d);
    return code;
}

int dibs_upgrade(struct dibs *d, const char *name, uint64_t wait_ms, uint64_t *fence)
{
    int code = dibs_check_process(d);

    if (code == DIBS_OK)
        code = conn_wait(d, belief_upgrade(&d->belief, name, wait_ms, conn_now_ms()));
    if (code == DIBS_OK && fence)
        *fence = d->belief.fence;
    return code;
}

int dibs_downgrade(struct dibs *d, const char *name)
{
    int code = dibs_check_process(d);

    return code == DIBS_OK ? conn_wait(d, belief_downgrade(&d->belief, name, conn_now_ms())) : code;
}

int dibs_confirm(struct dibs *d, const char *name)
{
    int code = dibs_check_process(d);

    return code == DIBS_OK ? conn_wait(d, belief_confirm(&d->belief, name, conn_now_ms())) : code;
}

uint64_t dibs_fence(const struct dibs *d, const char *name)
{
    return dibs_is_of_another_process(d) ? 0 : belief_fence(&d->belief, name, conn_now_ms());
}

uint64_t dibs_safe_ms(const struct dibs *d)
{
    return dibs_is_of_another_process(d) ? 0 : belief_safe_ms(&d->belief, conn_now_ms());
}

void dibs_on_doubt(struct dibs *d, dibs_doubt_fn *doubt, void *user)
{
    d->on_doubt = doubt;
    d->doubt_user = user;
}

void dibs_on_lost(struct dibs *d, dibs_lost_fn *lost, void *user)
{
    d->on_lost = lost;
    d->user = user;
}

int dibs_watch(struct dibs *d, const char *pattern, dibs_event_fn *fn, void *user)
{
    int code = dibs_check_process(d);

    if (code == DIBS_OK)
        code = belief_watch(&d->belief, pattern, conn_now_ms());
    if (code == DIBS_WAITING) {
        d->on_event = fn;
        d->event_user = user;
    }
    return conn_wait(d, code);
}
