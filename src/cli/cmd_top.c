/* dibs top - the locks that are held or waited for, as a screen that is kept up to date. See top.h.
 *
 * The screen, from top to bottom: a title; a line for what is asked of the user, or was done, or is in trouble; the table; the
 * selected lock with its holders and waiters, if there is room; the keys. It is written at once, so that it does not flicker over a
 * slow line. While the daemon is asked, a key that is pressed ends the asking. */
#include "progress.h"
#include "terminal.h"
#include "top.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS_MAX = 200, PANE = 8, FILL_MS = 1500, PASS_PAUSE_MS = 500, WIDEST = 4096, WHY_MAX = 1 << 16 };

/* What the keys mean just now. */
enum mode { MODE_LIST, MODE_FILTER, MODE_CONFIRM, MODE_WHY };

/* The holders of a lock, as they were when they were asked for. */
struct detail {
    char *name;
    struct dibs_reply *holders, *waiters; /* or null; waiters: of the selected lock only */
    unsigned round;
};

struct live {
    struct top top;
    struct detail detail[ROWS_MAX]; /* by line of the table */
    unsigned round;                 /* how often the list was made */
    char *selected;                 /* the name of a lock; or null */
    size_t place, first;            /* of the selected lock in the list; of the first line of the table */
    enum mode mode;
    char input[sizeof((struct top *)0)->pattern]; /* the filter that is being typed */
    char note[512];                               /* what was done; or "" */
    char *evicts, *fences;                        /* MODE_CONFIRM: the lock, and its holders when that was asked */
    char *why;                                    /* MODE_WHY: the text, and the first line of it that is shown */
    unsigned why_first;
    double interval_s;
    bool colours;
    unsigned columns, lines;
    FILE *to;
};

static uint64_t live_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct top_lock *live_selected(struct live *s)
{
    struct top_list *l = &s->top.shown;

    return s->place < l->count ? &l->lock[s->place] : NULL;
}

/* ---------------------------------------------------------------------------------------------------------- details */

static void detail_free(struct detail *d)
{
    free(d->name);
    dibs_free(d->holders);
    dibs_free(d->waiters);
    *d = (struct detail){0};
}

static struct dibs_reply *detail_ask(struct top *t, const char *command, const char *name)
{
    return top_ask(t, (const char *const[]){command, name}, 2);
}

/* The answers about this lock, in line `row` of the table. An answer that is known already moves there. */
static struct detail *detail_of(struct live *s, unsigned row, const char *name)
{
    struct detail *here = &s->detail[row];

    for (unsigned k = 0; k < ROWS_MAX && !(here->name && strcmp(here->name, name) == 0); k++)
        if (s->detail[k].name && strcmp(s->detail[k].name, name) == 0) {
            struct detail other = *here;

            *here = s->detail[k];
            s->detail[k] = other;
        }
    if (!here->name || strcmp(here->name, name) != 0) {
        detail_free(here);
        here->name = strdup(name);
    }
    return here;
}

/* Asks for what the lines of the table show and is not known of this round, until a key is pressed or it takes too long, as it does
 * while a member does not answer. */
static void live_fill(struct live *s, unsigned rows)
{
    uint64_t end_ms = live_now_ms() + FILL_MS;

    for (unsigned k = 0; k < rows && k < ROWS_MAX && s->first + k < s->top.shown.count; k++) {
        const struct top_lock *lock = &s->top.shown.lock[s->first + k];
        struct detail *d = detail_of(s, k, lock->name);
        bool chosen = s->first + k == s->place, known = d->round == s->round;

        if (known && !(chosen && lock->waiters && !d->waiters))
            continue;
        if (terminal_is_waited_for() || live_now_ms() > end_ms)
            return;
        if (!known) {
            dibs_free(d->holders);
            dibs_free(d->waiters);
            d->waiters = NULL;
            d->holders = lock->holders ? detail_ask(&s->top, "HOLDERS", lock->name) : NULL;
            d->round = s->round;
        }
        if (chosen && lock->waiters && !d->waiters)
            d->waiters = detail_ask(&s->top, "WAITERS", lock->name);
    }
}

/* ------------------------------------------------------------------------------------------------------- the screen */

/* A line as wide as the screen at most. The old line is erased before the new one is written: behind a line that is as wide as the screen, the
 * cursor is still in the last column, and to erase from there would take the last character. */
static void live_line(struct live *s, const char *colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void live_line(struct live *s, const char *colour, const char *format, ...)
{
    char line[WIDEST], shown[TOP_TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    top_text(shown, line, s->columns);
    fprintf(s->to, "\033[K%s%s%s\n", s->colours ? colour : "", shown, s->colours && *colour ? "\033[0m" : "");
}

/* "ant web1:812 backup, user root" */
static void live_client(const struct dibs_reply *row, char *to, size_t size)
{
    const char *member = ask_field(row, "member")->text, *who = ask_field(row, "who")->text,
               *from = ask_field(row, "from")->text, *error = ask_field(row, "error")->text;
    char number[40];

    snprintf(number, sizeof number, "client %" PRIu64, ask_field(row, "client")->number);
    if (error)
        snprintf(to, size, "%s: %s", member ? member : "?", error);
    else
        snprintf(to, size, "%s %s%s%s", member ? member : "?", who && *who ? who : number, from && *from ? ", " : "",
                 from ? from : "");
}

/* The columns of a lock. `width`: of its name; 0: as wide as it is. `narrow`: as below live_narrow_head. */
static void live_row(const struct top_lock *lock, const struct dibs_reply *holders, bool marked, bool narrow,
                     unsigned width, char *to, size_t size)
{
    char wait[24], hold[24], numbers[160], mode[40] = "-", by[1024] = "", name[TOP_TEXT], more[40] = "";
    const char *held_mode = holders && holders->count ? ask_field(holders->item[0], "mode")->text : NULL;
    unsigned used = top_text(name, lock->name, width ? width : WIDEST);

    if (lock->slots)
        snprintf(mode, sizeof mode, "slots:%" PRIu64, lock->slots);
    else if (held_mode)
        snprintf(mode, sizeof mode, "%s", held_mode);
    if (holders && holders->count)
        live_client(holders->item[0], by, sizeof by);
    if (lock->holders > 1)
        snprintf(more, sizeof more, " and %" PRIu64 " more", lock->holders - 1);
    if (narrow)
        snprintf(numbers, sizeof numbers, "%6s %6s", lock->waiters ? top_age(lock->wait_ms, wait) : "-",
                 lock->holders ? top_age(lock->hold_ms, hold) : "-");
    else
        snprintf(numbers, sizeof numbers, "%6s %7" PRIu64 " %6s %7" PRIu64 " %-9s",
                 lock->waiters ? top_age(lock->wait_ms, wait) : "-", lock->waiters,
                 lock->holders ? top_age(lock->hold_ms, hold) : "-", lock->holders, mode);
    snprintf(to, size, "%c %s %s%*s %s%s", marked ? '*' : ' ', numbers, name, (int)(used < width ? width - used : 0),
             "", by, *by ? more : "");
}

static const char live_head[] = "    WAIT WAITERS   HELD HOLDERS MODE      ";
/* On a narrow screen the names of locks are worth more than the other columns; the holders, too, if there is room for them. */
static const char live_narrow_head[] = "    WAIT   HELD ";
enum { NARROW = 70, NARROWEST_WITH_HOLDERS = 56 };

static void live_title(struct live *s)
{
    size_t waited = 0;
    time_t now = time(NULL);
    struct tm local;
    char clock[16] = "";

    for (size_t k = 0; k < s->top.shown.count; k++)
        waited += s->top.shown.lock[k].waiters > 0;
    if (localtime_r(&now, &local))
        strftime(clock, sizeof clock, "%H:%M:%S", &local);
    if (s->top.complete)
        live_line(s, "", "dibs top  %s  %zu lock%s in use, %zu waited for, by %s%s%s", clock, s->top.shown.count,
                  s->top.shown.count == 1 ? "" : "s", waited, top_sorts[s->top.sort],
                  s->top.pattern[0] ? ", filter " : "", s->top.pattern);
    else
        live_line(s, "", "dibs top  %s  reading the locks: %zu so far", clock, s->top.pass.count);
}

static void live_state(struct live *s)
{
    if (s->mode == MODE_FILTER)
        live_line(s, "", "filter (a part of the name, or a pattern; Enter, Escape): %s", s->input);
    else if (s->mode == MODE_CONFIRM)
        live_line(s, colour_of(VERDICT_BAD), "y takes it away from its holders, other keys do not: %s", s->evicts);
    else if (s->note[0])
        live_line(s, "", "%s", s->note);
    else
        live_line(s, s->top.trouble[0] ? colour_of(VERDICT_BAD) : "", "%s", s->top.trouble);
}

/* The clients of one answer, `most` lines at most. Returns how many lines that were. */
static unsigned live_clients(struct live *s, const char *what, const struct dibs_reply *rows, unsigned most)
{
    unsigned lines = 0;

    for (size_t k = 0; rows && k < rows->count && lines < most; k++, lines++) {
        char client[1024], age[24];
        uint64_t fence = ask_field(rows->item[k], "fence")->number;
        const char *state = ask_field(rows->item[k], "state")->text;

        live_client(rows->item[k], client, sizeof client);
        if (lines == most - 1 && rows->count > most)
            live_line(s, "", "  %s and %zu more", what, rows->count - k);
        else if (ask_field(rows->item[k], "error")->text)
            live_line(s, "", "  %s", client);
        else if (fence)
            live_line(s, "", "  %s %s, %s, fence %" PRIu64 ", for %s", what, client, state ? state : "", fence,
                      top_age(ask_field(rows->item[k], "age_ms")->number, age));
        else
            live_line(s, "", "  %s %s, for %s", what, client, top_age(ask_field(rows->item[k], "age_ms")->number, age));
    }
    return lines;
}

/* The selected lock, in PANE lines. */
static void live_pane(struct live *s)
{
    const struct top_lock *lock = live_selected(s);
    const struct detail *d = lock ? detail_of(s, (unsigned)(s->place - s->first), lock->name) : NULL;
    unsigned used = 2;

    live_line(s, "", "%s", "");
    live_line(s, "", lock ? "%s" : "%sno lock is held or waited for", lock ? lock->name : "");
    if (d) {
        used += live_clients(s, "held by", lock->holders ? d->holders : NULL, TOP_HOLDERS);
        used += live_clients(s, "waits:", lock->waiters ? d->waiters : NULL, PANE - used);
    }
    for (; used < PANE; used++)
        live_line(s, "", "%s", "");
}

static unsigned live_pane_lines(const struct live *s)
{
    return s->lines >= 5 + 2 * PANE ? PANE : 0;
}

/* The lines of the table. */
static unsigned live_rows(const struct live *s)
{
    unsigned others = 4 + live_pane_lines(s);

    return s->lines > others ? s->lines - others : 1;
}

/* The selected lock stays selected while it is in the list; else the one that took its place is. */
static void live_place(struct live *s)
{
    const struct top_list *l = &s->top.shown;
    unsigned rows = live_rows(s) < ROWS_MAX ? live_rows(s) : ROWS_MAX;

    for (size_t k = 0; s->selected && k < l->count; k++)
        if (strcmp(l->lock[k].name, s->selected) == 0)
            s->place = k;
    if (s->place >= l->count)
        s->place = l->count ? l->count - 1 : 0;
    free(s->selected);
    s->selected = l->count ? strdup(l->lock[s->place].name) : NULL;
    if (s->place < s->first)
        s->first = s->place;
    if (s->place >= s->first + rows)
        s->first = s->place - rows + 1;
    if (s->first + rows > l->count)
        s->first = l->count > rows ? l->count - rows : 0;
}

static void live_table(struct live *s)
{
    bool narrow = s->columns < NARROW;
    const char *head = narrow ? live_narrow_head : live_head;
    unsigned fixed = (unsigned)strlen(head), rows = live_rows(s);
    unsigned width = s->columns > fixed + 2 ? s->columns - fixed : 2;

    if (s->columns >= NARROWEST_WITH_HOLDERS)
        width = (width - 1) / 2;
    live_line(s, "\033[1m", "%s%-*s %s", head, (int)width, "NAME", "HELD BY");
    for (unsigned k = 0; k < rows; k++) {
        const struct top_lock *lock =
            s->first + k < s->top.shown.count && k < ROWS_MAX ? &s->top.shown.lock[s->first + k] : NULL;
        char line[WIDEST] = "";
        bool marked = lock && s->first + k == s->place;

        if (lock)
            live_row(lock, lock->holders ? detail_of(s, k, lock->name)->holders : NULL, marked, narrow, width, line,
                     sizeof line);
        live_line(s, marked ? "\033[7m" : "", "%s", line);
    }
}

/* The answer of dibs why, from line why_first on. A line that is too long goes on in the next one. */
static void live_why(struct live *s)
{
    unsigned number = 0, used = 0, room = s->lines > 2 ? s->lines - 2 : 1;

    for (const char *at = s->why; *at;) {
        size_t len = strcspn(at, "\n");
        char line[TOP_TEXT], clean[TOP_TEXT], piece[TOP_TEXT];
        const char *rest = clean;

        snprintf(line, sizeof line, "%.*s", (int)(len < sizeof line ? len : sizeof line - 1), at);
        top_text(clean, line, WIDEST);
        do {
            top_text(piece, rest, s->columns);
            rest += strlen(piece);
            if (number++ >= s->why_first && used < room) {
                live_line(s, "", "%s", piece);
                used++;
            }
        } while (*rest && *piece);
        at += len + (at[len] == '\n');
    }
    for (; used < room; used++)
        live_line(s, "", "%s", "");
    if (s->why_first + room > number)
        s->why_first = number > room ? number - room : 0;
}

static void live_show(struct live *s)
{
    static const char keys[] = "s sort  / filter  up down select  w why  f force-unlock  q quit";
    char *text = NULL, last[TOP_TEXT];
    size_t len;

    terminal_size(&s->columns, &s->lines);
    if (!(s->to = open_memstream(&text, &len)))
        cli_die("out of memory");
    fprintf(s->to, "\033[H");
    live_title(s);
    if (s->mode == MODE_WHY) {
        live_why(s);
    } else {
        live_place(s);
        live_state(s);
        live_table(s);
        if (live_pane_lines(s))
            live_pane(s);
    }
    top_text(last, s->mode == MODE_WHY ? "up down scroll  other keys back" : keys, s->columns - 1); /* see live_line */
    fprintf(s->to, "\033[K%s\033[J", last);
    fclose(s->to);
    fwrite(text, 1, len, stdout);
    fflush(stdout);
    free(text);
}

/* --------------------------------------------------------------------------------------------------- what keys cause */

/* The holders, so that it can be seen whether they are still the same. */
static char *live_fences(const struct dibs_reply *holders)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (!to)
        cli_die("out of memory");
    for (size_t k = 0; k < holders->count; k++) {
        const char *member = ask_field(holders->item[k], "member")->text;

        fprintf(to, "%s %" PRIu64 "\n", member ? member : "?", ask_field(holders->item[k], "fence")->number);
    }
    fclose(to);
    return text;
}

/* The trouble of the last question becomes the note: it is told once. */
static void live_note_trouble(struct live *s)
{
    snprintf(s->note, sizeof s->note, "%s", s->top.trouble);
    s->top.trouble[0] = '\0';
}

static void live_begin_evicting(struct live *s)
{
    const struct top_lock *lock = live_selected(s);
    struct dibs_reply *holders = lock ? detail_ask(&s->top, "HOLDERS", lock->name) : NULL;

    if (lock && !holders)
        live_note_trouble(s);
    else if (!lock || holders->count == 0)
        snprintf(s->note, sizeof s->note, "no client holds it");
    else {
        s->evicts = strdup(lock->name);
        s->fences = live_fences(holders);
        s->mode = MODE_CONFIRM;
    }
    dibs_free(holders);
}

/* Takes the lock away, unless its holders have changed since the user was asked. */
static void live_evict(struct live *s)
{
    struct dibs_reply *holders = detail_ask(&s->top, "HOLDERS", s->evicts), *evicted = NULL;
    char *fences = holders ? live_fences(holders) : NULL;
    size_t count = 0;

    if (holders && strcmp(fences, s->fences) != 0)
        snprintf(s->note, sizeof s->note, "the holders have changed meanwhile: nothing was taken away");
    else if (!holders || !(evicted = detail_ask(&s->top, "FORCE-UNLOCK", s->evicts)))
        live_note_trouble(s);
    for (size_t k = 0; evicted && k < evicted->count; k++)
        count += !ask_field(evicted->item[k], "error")->text;
    if (evicted)
        snprintf(s->note, sizeof s->note, "\"%s\" was taken away from %zu client%s", s->evicts, count,
                 count == 1 ? "" : "s");
    free(fences);
    dibs_free(holders);
    dibs_free(evicted);
}

static void live_end_evicting(struct live *s)
{
    free(s->evicts);
    free(s->fences);
    s->evicts = s->fences = NULL;
    s->mode = MODE_LIST;
}

/* The child: dibs why, into the pipe. */
static void live_be_why(const struct ask_place *place, const char *name, int to)
{
    char *argv[10] = {strdup("why")};
    const char *const options[][2] = {
        {"--socket", place->socket}, {"--connect", place->address}, {"--key", place->key}};
    int argc = 1, status;

    for (unsigned k = 0; k < 3; k++)
        if (options[k][1]) {
            argv[argc++] = strdup(options[k][0]);
            argv[argc++] = strdup(options[k][1]);
        }
    argv[argc++] = strdup("--");
    argv[argc++] = strdup(name);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    close(to);
    status = cmd_why(argc, argv);
    fflush(stdout);
    _exit(status);
}

/* Reads what the child says, until it ends or a key is pressed. */
static void live_read_why(struct live *s, int from, pid_t child)
{
    struct pollfd in[2] = {{.fd = from, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    size_t len = 0;
    ssize_t got = 1;

    s->why = malloc(WHY_MAX + 1);
    if (!s->why)
        cli_die("out of memory");
    while (got > 0 && len < WHY_MAX) {
        if (poll(in, 2, -1) < 0)
            continue;
        if (in[1].revents)
            break;
        if (in[0].revents && (got = read(from, s->why + len, WHY_MAX - len)) > 0)
            len += (size_t)got;
    }
    s->why[len] = '\0';
    kill(child, SIGKILL); /* it has ended, or is not waited for any more */
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* In a process of its own: dibs why ends when something goes wrong, and may take long. */
static void live_ask_why(struct live *s)
{
    const struct top_lock *lock = live_selected(s);
    int pipes[2];
    pid_t child;

    if (!lock)
        return;
    if (pipe(pipes) != 0 || (child = fork()) < 0) {
        snprintf(s->note, sizeof s->note, "no process can be started");
        return;
    }
    if (child == 0) {
        close(pipes[0]);
        live_be_why(s->top.place, lock->name, pipes[1]);
    }
    close(pipes[1]);
    free(s->why);
    live_read_why(s, pipes[0], child);
    close(pipes[0]);
    s->why_first = 0;
    s->mode = MODE_WHY;
}

/* --------------------------------------------------------------------------------------------------------------- keys */

static void live_move(struct live *s, bool down, size_t by)
{
    if (!s->top.shown.count)
        return;
    s->place = !down ? s->place - (by < s->place ? by : s->place) : s->place + by;
    if (s->place >= s->top.shown.count)
        s->place = s->top.shown.count - 1;
    free(s->selected);
    s->selected = strdup(s->top.shown.lock[s->place].name);
}

static void live_sort(struct live *s, enum top_sort sort)
{
    s->top.sort = sort;
    top_sort_list(&s->top);
    s->place = s->first = 0;
    free(s->selected);
    s->selected = NULL;
}

/* Returns true if the list has to be asked for again. */
static bool live_press_filter(struct live *s, int key)
{
    size_t len = strlen(s->input);

    if (key == KEY_ESCAPE) {
        s->mode = MODE_LIST;
    } else if (key == '\r' || key == '\n') {
        s->mode = MODE_LIST;
        memcpy(s->top.pattern, s->input, sizeof s->input);
        top_begin(&s->top);
        return true;
    } else if (key == 127 || key == 8) {
        while (len && (s->input[--len] & 0xc0) == 0x80) /* all bytes of a character */
            ;
        s->input[len] = '\0';
    } else if (key == 21) { /* Ctrl-U */
        s->input[0] = '\0';
    } else if (key >= ' ' && key < KEY_NONE && len + 4 < sizeof s->input) {
        s->input[len] = (char)key;
        s->input[len + 1] = '\0';
    }
    return false;
}

static bool live_press_list(struct live *s, int key)
{
    s->note[0] = '\0';
    switch (key) {
    case KEY_UP:
    case 'k':
        live_move(s, false, 1);
        break;
    case KEY_DOWN:
    case 'j':
        live_move(s, true, 1);
        break;
    case KEY_PAGE_UP:
        live_move(s, false, live_rows(s));
        break;
    case KEY_PAGE_DOWN:
        live_move(s, true, live_rows(s));
        break;
    case 's':
        live_sort(s, (s->top.sort + 1) % TOP_SORTS);
        break;
    case '1':
    case '2':
    case '3':
    case '4':
        live_sort(s, (enum top_sort)(key - '1'));
        break;
    case '/':
        s->input[0] = '\0';
        s->mode = MODE_FILTER;
        break;
    case 'w':
        live_ask_why(s);
        break;
    case 'f':
        live_begin_evicting(s);
        break;
    case ' ':
        return true;
    default:
        break;
    }
    return false;
}

static void live_press_why(struct live *s, int key)
{
    if (key == KEY_UP || key == 'k')
        s->why_first -= s->why_first > 0;
    else if (key == KEY_DOWN || key == 'j')
        s->why_first++;
    else
        s->mode = MODE_LIST;
}

/* Returns false at the end. */
static bool live_press(struct live *s, int key, bool *again)
{
    if (key == KEY_NONE)
        return true;
    if (key == KEY_GONE || key == 3 || key == 4 || (key == 'q' && s->mode == MODE_LIST))
        return false;
    switch (s->mode) {
    case MODE_LIST:
        *again = live_press_list(s, key);
        break;
    case MODE_FILTER:
        *again = live_press_filter(s, key);
        break;
    case MODE_CONFIRM:
        if (key == 'y') {
            live_evict(s);
            *again = true;
        }
        live_end_evicting(s);
        break;
    case MODE_WHY:
        live_press_why(s, key);
        break;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ command */

static void live_run(struct live *s)
{
    uint64_t due_ms = 0;
    bool again, goes_on = true;

    terminal_take("top");
    while (goes_on) {
        uint64_t now_ms = live_now_ms();

        again = false;
        if (now_ms >= due_ms && s->mode != MODE_WHY) {
            enum top_pass pass = top_go_on(&s->top, terminal_is_waited_for);

            s->round += pass == TOP_COMPLETE;
            due_ms = live_now_ms() + (uint64_t)(s->interval_s * 1000);
            if (pass == TOP_MORE && s->interval_s * 1000 > PASS_PAUSE_MS)
                due_ms = live_now_ms() + PASS_PAUSE_MS;
        }
        live_show(s);
        if (s->mode != MODE_WHY && s->top.complete && s->top.d && !terminal_is_waited_for()) {
            live_fill(s, live_rows(s));
            live_show(s);
        }
        now_ms = live_now_ms();
        goes_on = live_press(s, terminal_key(due_ms > now_ms ? (int)(due_ms - now_ms) : 0), &again);
        if (again)
            due_ms = 0;
    }
}

/* One frame as text: nothing is cut. */
static int live_print(struct live *s, uint64_t rows)
{
    struct top *t = &s->top;
    enum top_pass pass;
    unsigned width = 4;

    while ((pass = top_go_on(t, NULL)) == TOP_MORE)
        ;
    if (t->trouble[0])
        fprintf(stderr, "dibs: %s\n", ask_clean(t->trouble));
    if (pass == TOP_FAILED)
        return CLI_FAILED;
    for (size_t k = 0; k < t->shown.count && k < rows; k++) {
        char name[TOP_TEXT];
        unsigned used = top_text(name, t->shown.lock[k].name, WIDEST);

        width = used > width ? used : width;
    }
    printf("%s%-*s %s\n", live_head, (int)width, "NAME", "HELD BY");
    for (size_t k = 0; k < t->shown.count && k < rows; k++) {
        const struct top_lock *lock = &t->shown.lock[k];
        struct dibs_reply *holders = lock->holders ? detail_ask(t, "HOLDERS", lock->name) : NULL;
        char line[WIDEST], shown[TOP_TEXT];

        live_row(lock, holders, false, false, width, line, sizeof line);
        top_text(shown, line, WIDEST);
        printf("%s\n", shown);
        dibs_free(holders);
    }
    if (t->shown.count > rows)
        printf("and %zu more\n", t->shown.count - (size_t)rows);
    return CLI_OK;
}

int cmd_top(int argc, char **argv)
{
    const char *pattern = NULL;
    struct ask_place place = {0};
    bool once = false;
    double interval = 2;
    uint64_t rows = 20;
    unsigned sort = TOP_BY_WAIT;
    const struct cli_option options[] = {
        {"--once", CLI_FLAG, &once, NULL, "print the table once, as text that is not cut, and end", 0, 0, NULL},
        {"--rows", CLI_COUNT, &rows, "N", "with --once: print at most N locks (default 20)", 1, 10000, NULL},
        {"--interval", CLI_SPAN, &interval, "T",
         "ask again after T, in seconds or with a unit: 500ms, 10s, 5m (default 2s)", 0.2, 3600, NULL},
        {"--sort", CLI_CHOICE, &sort, "S",
         "sort by S: the longest wait, the longest hold, the number of waiters, or the name (default wait)", 0, 0,
         top_sorts},
        ASK_PLACE_OPTIONS(place),
        {0},
    };
    const struct cli_usage usage = {
        "dibs top [PATTERN] [OPTION...]",
        "Shows the locks that are held or waited for, at all members, as a screen that is kept up to date: for how "
        "long the first client has waited, how many wait, for how long it is held, by how many, in which mode, and by "
        "which client: member, name (machine, process, command), user or address. Below is the selected lock with its "
        "holders and waiters. PATTERN is a pattern of the shell, or a part of a name (default: all locks).\n"
        "\n"
        "up, down\tselect a lock; page up and page down, too\n"
        "s\tsort by the next column; 1 to 4: by wait, hold, waiters, name\n"
        "/\tshow only locks whose names have this part, or match this pattern\n"
        "w\ttell why clients wait for the selected lock, as dibs why does\n"
        "f\ttake the selected lock away from its holders (force-unlock), after a question that y answers\n"
        "space, q\task again now; quit\n"
        "\n"
        "Only the locks that fit the screen are asked for in detail, and a list of very many locks is read in parts, "
        "so that the daemons have little work. If NO_COLOR is set, there are no colours.",
        options,
        {{"Watch the locks, those with the longest wait first:", "dibs top"},
         {"Watch the locks whose names begin with \"db-\", once in ten seconds:", "dibs top 'db-*' --interval 10s"},
         {"Print the five locks that most clients wait for:", "dibs top --once --sort waiters --rows 5"}}};
    struct live s = {.top.place = &place, .colours = has_colours()};
    int status = CLI_OK;

    cli_parse(argc, argv, &usage, &pattern, 1);
    if (pattern && strlen(pattern) >= sizeof s.top.pattern)
        cli_die("the pattern has more than 255 bytes, and no name of a lock is longer than that");
    snprintf(s.top.pattern, sizeof s.top.pattern, "%s", pattern ? pattern : "");
    s.top.sort = (enum top_sort)sort;
    s.interval_s = interval;
    if (!once && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
        cli_die("top needs a terminal; \"dibs top --once\" prints the table once");
    s.top.d = ask_connect(&place, NULL, CLI_FAILED);
    if (once)
        status = live_print(&s, rows);
    else
        live_run(&s);
    for (unsigned k = 0; k < ROWS_MAX; k++)
        detail_free(&s.detail[k]);
    live_end_evicting(&s);
    free(s.selected);
    free(s.why);
    top_free(&s.top);
    return status;
}
