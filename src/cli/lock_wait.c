/* lock_wait.c - see lock.h.
 *
 * With --wait T dibs waits for up to T for whatever is missing: a holder that has to release the lock, a majority of the members,
 * or the daemon itself. A waiter holds nothing, so when its daemon ends it connects again and makes a new request. Without
 * --wait it waits for a holder and for a majority without a limit. It does not wait for a daemon that is not there at the
 * beginning; if the connection breaks later, the library connects again, within --keep. `dibs lead` waits for all of them
 * without a limit. */
#include "lock.h"

#include "base/spin.h"
#include "wrap/again.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_TELL_MS = 2000, WAIT_HOLDERS_SHOWN = 2 };

struct wait {
    struct lock_run *run;
    struct again again;
    uint64_t tell_ms; /* when to tell for whom it waits; 0: not at all, or not again */
    char name[96];    /* "host:process command", which others see */
};

/* -------------------------------------------------------------------------------------------------------- who holds it */

/* "14:02:11", and the date if it was not today. */
static void wait_since(uint64_t age_ms, char *text, size_t size)
{
    time_t now = time(NULL), since = now - (time_t)(age_ms / 1000);
    struct tm today, then;

    localtime_r(&now, &today);
    localtime_r(&since, &then);
    strftime(text, size,
             today.tm_yday == then.tm_yday && today.tm_year == then.tm_year ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
}

/* "held by web1:812 backup.sh since 14:02:11", or "" if that cannot be told. What this process itself holds, of several locks, is
 * not told. */
static void wait_describe_one(struct dibs *d, const struct wait *w, const char *name, char *text, size_t size)
{
    const char *words[] = {"HOLDERS", name};
    struct dibs_reply *r = NULL;
    size_t shown = 0, holders = 0, len = 0;
    char since[32];

    text[0] = '\0';
    if (dibs_ask(d, words, 2, &r) != DIBS_OK || r->type != DIBS_LIST) {
        dibs_free(r);
        return;
    }
    for (size_t k = 0; k < r->count; k++) {
        const struct dibs_reply *who = ask_field(r->item[k], "who");

        if (!who->text || strcmp(who->text, w->name) == 0 || holders++ >= WAIT_HOLDERS_SHOWN)
            continue;
        wait_since(ask_field(r->item[k], "age_ms")->number, since, sizeof since);
        len += (size_t)snprintf(text + len, size - len, "%s%s since %s", shown++ ? ", " : "held by ",
                                *who->text ? ask_clean(who->text) : "a client without a name", since);
        len = len < size ? len : size - 1;
    }
    if (holders > shown)
        snprintf(text + len, size - len, " and %zu more", holders - shown);
    dibs_free(r);
}

/* " (held by ..)"; of several locks " ("b" is held by ..)", the first that others hold; or "". */
static void wait_describe(struct dibs *d, const struct wait *w, char *text, size_t size)
{
    char one[300];

    text[0] = '\0';
    for (size_t k = 0; k < w->run->count && !*text; k++) {
        const char *name = w->run->part[k].name;

        wait_describe_one(d, w, name, one, sizeof one);
        if (*one && w->run->count > 1)
            snprintf(text, size, " (\"%s\" is %s)", ask_clean(name), one);
        else if (*one)
            snprintf(text, size, " (%s)", one);
    }
}

/* After some seconds of waiting: over a connection of its own, as the first one waits. Signals may end us meanwhile. */
static void wait_tell(struct wait *w)
{
    char text[400] = "";
    struct ask_place place = w->run->place;
    struct dibs *d = NULL;

    place.keep_ms = 0;
    w->tell_ms = 0;
    sigprocmask(SIG_SETMASK, &w->run->before, NULL);
    if (ask_try_connect(&place, w->name, &d) == DIBS_OK)
        wait_describe(d, w, text, sizeof text);
    dibs_close(d);
    sigprocmask(SIG_BLOCK, &w->run->watched, NULL);
    lock_say("dibs: waiting for lock %s%s\n", lock_label(w->run), text);
}

static void wait_timed_out(const struct wait *w)
{
    char text[400];

    if (w->run->quiet)
        return;
    wait_describe(w->run->daemon, w, text, sizeof text);
    if (w->run->wait_s > 0)
        fprintf(stderr, "dibs: timed out after %g s waiting for lock %s%s\n", w->run->wait_s, lock_label(w->run), text);
    else
        fprintf(stderr, "dibs: lock %s is not free%s\n", lock_label(w->run), text);
}

/* ----------------------------------------------------------------------------------------------------------- to ask */

static int wait_ask(struct wait *w)
{
    const struct lock_run *run = w->run;
    uint64_t left_ms = again_left_ms(&w->again, lock_now_ms());
    const struct dibs_wish wish = {
        .wait_ms = !w->again.deadline_ms ? 0
                   : left_ms             ? left_ms
                                         : DIBS_NO_WAIT,
        .ttl_ms = run->ttl_s > 0 ? (uint64_t)ceil(run->ttl_s * 1000) : 0,
        .priority = (unsigned)run->priority,
    };

    return dibs_start_lock_many(run->daemon, run->part, run->count, &wish);
}

static int wait_patience(const struct wait *w)
{
    int library_ms = dibs_timeout_ms(w->run->daemon);
    uint64_t now = lock_now_ms();
    int tell_ms = !w->tell_ms ? -1 : w->tell_ms <= now ? 0 : (int)(w->tell_ms - now);

    return tell_ms < 0 || (library_ms >= 0 && library_ms < tell_ms) ? library_ms : tell_ms;
}

/* What the library says. A signal ends the wait: the connection closes, and that withdraws the request. */
static int wait_for_answer(struct wait *w, int *number)
{
    struct lock_run *run = w->run;
    struct spin spin = {0};
    int code = wait_ask(w);

    spin_begin(&spin);
    while (code == DIBS_OK && (code = dibs_lock_result(run->daemon, NULL)) == DIBS_WAITING) {
        struct pollfd polled[2] = {{.fd = dibs_fd(run->daemon), .events = dibs_events(run->daemon)},
                                   {.fd = run->signals, .events = POLLIN}};

        poll(polled, 2, spin_on(&spin) ? 0 : wait_patience(w));
        *number = polled[1].revents ? lock_signal(run) : 0;
        if (lock_ignores(run, *number))
            *number = 0;
        if (*number == SIGTSTP)
            lock_suspend();
        else if (*number && *number != SIGCHLD)
            return DIBS_WAITING;
        *number = 0;
        dibs_process(run->daemon); /* if the daemon has gone, that is the result */
        if (w->tell_ms && lock_now_ms() >= w->tell_ms)
            wait_tell(w);
        code = DIBS_OK;
    }
    for (size_t k = 0; k < run->count && code == DIBS_OK; k++)
        run->part[k].fence = dibs_fence(run->daemon, run->part[k].name);
    return code;
}

/* ------------------------------------------------------------------------------------------------------ to ask again */

/* The exit status for what the library has returned, and a line. */
static int wait_failed(const struct wait *w, int code)
{
    if (code == DIBS_TIMEOUT) {
        wait_timed_out(w);
        return w->run->not_granted;
    }
    ask_complain(&w->run->place, w->run->daemon);
    return code == DIBS_GONE        ? LOCK_NO_DAEMON
           : code == DIBS_LOST      ? LOCK_LOST
           : code == DIBS_NO_QUORUM ? LOCK_NO_QUORUM
           : code == DIBS_DEADLOCK  ? LOCK_DEADLOCK
                                    : LOCK_REFUSED;
}

static enum again_why wait_why(const struct wait *w, int code)
{
    if (code == DIBS_GONE)
        return strstr(dibs_message(w->run->daemon), "Permission denied") ? AGAIN_DENIED : AGAIN_GONE;
    return code == DIBS_NO_QUORUM ? AGAIN_NO_QUORUM : code == DIBS_LOST ? AGAIN_LOST : AGAIN_REFUSED;
}

/* May a request share the lock with this holder? A group is taken for the same one, and slots for more than one. */
static bool wait_may_share(const struct dibs_reply *holder, const struct dibs_part *wanted)
{
    const char *mode = ask_field(holder, "mode")->text;

    return strcmp(mode, "slot") == 0     ? wanted->slots != 1
           : strcmp(mode, "shared") == 0 ? wanted->mode == DIBS_SHARED
                                         : strcmp(mode, "group") == 0 && wanted->mode == DIBS_GROUP;
}

/* Does the command that has started this one, by `dibs lock`, hold the lock in a mode that excludes this request? Its daemon may
 * be another one, with other locks of the same names: a holder with the fence of the outer lock tells. If the holders are not
 * shown to this client, an exclusive request is taken for one that would wait. */
static bool wait_is_outer(struct dibs *d, const struct dibs_part *wanted, uint64_t outer)
{
    const char *words[] = {"HOLDERS", wanted->name};
    struct dibs_reply *r = NULL;
    bool shown = dibs_ask(d, words, 2, &r) == DIBS_OK && r->type == DIBS_LIST;
    bool held = !shown && wanted->mode == DIBS_EXCLUSIVE;

    for (size_t k = 0; shown && !held && k < r->count; k++)
        held = ask_field(r->item[k], "fence")->number == outer && !wait_may_share(r->item[k], wanted);
    dibs_free(r);
    return held;
}

bool lock_waits_for_itself(struct dibs *d, const struct dibs_part *parts, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const char *name = parts[k].name;
        uint64_t outer = lock_outer_fence(name);

        if (!outer || !wait_is_outer(d, &parts[k], outer))
            continue;
        fprintf(
            stderr,
            "dibs: this runs under the lock \"%s\" (fence %" PRIu64
            ", from DIBS_LOCKS), and would wait for itself; leave the inner lock out, or name all locks in the outer "
            "one: dibs lock A B -- COMMAND\n",
            ask_clean(name), outer);
        return true;
    }
    return false;
}

static int wait_once(struct wait *w, int *number)
{
    struct lock_run *run = w->run;
    int code = ask_try_connect(&run->place, w->name, &run->daemon);

    if (code != DIBS_OK)
        return code;
    if (lock_waits_for_itself(run->daemon, run->part, run->count))
        exit(LOCK_REFUSED);
    sigprocmask(SIG_BLOCK, &run->watched, NULL);
    code = wait_for_answer(w, number);
    if (code != DIBS_OK && !*number)
        sigprocmask(SIG_SETMASK, &run->before, NULL);
    return code;
}

/* The places that --connect names, with commas between them, or null. */
static const char *wait_places(const struct lock_run *run)
{
    return run->place.address ? run->place.address : run->place.socket ? NULL : getenv("DIBS_CONNECT");
}

static unsigned wait_count_places(const struct lock_run *run)
{
    const char *list = wait_places(run);
    unsigned count = list ? 1 : 0;

    for (const char *at = list; at && (at = strchr(at, ',')); at++)
        count++;
    return count;
}

/* The next place of --connect comes first from now on. */
static void wait_go_elsewhere(struct lock_run *run)
{
    static char *places; /* the list as it is now */
    const char *list = wait_places(run), *comma = strchr(list, ',');
    char *next;

    if (!comma || asprintf(&next, "%s,%.*s", comma + 1, (int)(comma - list), list) < 0)
        return;
    free(places);
    run->place.address = places = next;
}

static void wait_end(int number)
{
    _exit(LOCK_SIGNAL + number);
}

/* When signals are watched, they are an event like others. While nothing but a connection is made, they just end us: the first process of a PID
 * namespace, as in a container, needs handlers for that, since the system drops its signals otherwise. The system does not drop a signal that is
 * blocked, although the caller ignores it (nohup): so dibs looks which these are. Returns false, after a line on stderr, if signals cannot be watched:
 * dibs would hear neither them nor the end of the command. */
static bool wait_begin(struct wait *w)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD};
    struct lock_run *run = w->run;
    const char *slash = strrchr(run->command[0], '/');
    const pid_t self = getpid();
    const bool first = self == 1;
    struct sigaction action;
    char host[65] = "";

    gethostname(host, sizeof host - 1);
    snprintf(w->name, sizeof w->name, "%s:%d %s", host, (int)self, slash ? slash + 1 : run->command[0]);
    for (char *c = w->name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    sigemptyset(&run->watched);
    for (unsigned k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        sigaddset(&run->watched, numbers[k]);
        if (sigaction(numbers[k], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            sigaddset(&run->ignored, numbers[k]);
        else if (first && numbers[k] != SIGTSTP && numbers[k] != SIGCHLD)
            signal(numbers[k], wait_end);
    }
    sigprocmask(SIG_BLOCK, NULL, &run->before);
    run->signals = signalfd(-1, &run->watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run->signals < 0)
        fprintf(stderr, "dibs: cannot watch for signals: %s\n", strerror(errno));
    w->again = (struct again){
        .forever = run->forever,
        .deadline_ms = run->wait_s < 0 ? 0 : lock_now_ms() + (uint64_t)ceil(run->wait_s * 1000),
        .places = wait_count_places(run),
    };
    w->tell_ms = run->verbose || (isatty(STDERR_FILENO) && !run->quiet) ? lock_now_ms() + WAIT_TELL_MS : 0;
    return run->signals >= 0;
}

bool lock_wait(struct lock_run *run, int *status)
{
    struct wait w = {.run = run};
    int code, number = 0;

    if (lock_nests_too_deep(run)) {
        *status = LOCK_REFUSED;
        return false;
    }
    if (!wait_begin(&w)) {
        *status = LOCK_CANNOT_RUN;
        return false;
    }
    while ((code = wait_once(&w, &number)) != DIBS_OK) {
        struct again_next next = {.ends = true};

        if (!number)
            next = again_step(&w.again, wait_why(&w, code), lock_now_ms());
        if (next.ends) {
            *status = number ? LOCK_SIGNAL + number : wait_failed(&w, code);
            return false;
        }
        if (next.pause_ms && w.tell_ms && lock_now_ms() >= w.tell_ms) {
            w.tell_ms = 0;
            lock_say("dibs: waiting for lock %s: %s\n", lock_label(run), dibs_message(run->daemon));
        }
        dibs_close(run->daemon);
        if (next.elsewhere)
            wait_go_elsewhere(run);
        if (next.pause_ms)
            poll(NULL, 0, (int)next.pause_ms);
    }
    return true;
}
