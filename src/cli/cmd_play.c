/* cmd_play.c - dibs play: an algorithm step by step, by hand. On a terminal it is a screen with keys, for 80 columns and 24 lines
 * at least; else it reads a command from each line of standard input and prints the screen after it. */
#include "base/memory.h"
#include "cli.h"
#include "lab/hand.h"
#include "lab/scenario.h"
#include "progress.h"
#include "terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of a screen with 24 lines: for the states of the sites, for the last moves, and for those that are possible. */
enum { SCREEN_LINES = 24, SCREEN_SITES = 7, SCREEN_PAST = 3, SCREEN_CHOICES = 6, SCREEN_INDENT = 4 };

struct screen {
    struct hand_run *play;
    const char *save;                       /* file for the scenario */
    const char *note;                       /* about the last command; or null */
    uint32_t selected;                      /* choice */
    unsigned columns, sites, past, choices; /* the room that there is, and rows for each part */
    bool terminal, plain /* no colours */;
};

/* ------------------------------------------------------------------------------------------------------- the screen */

/* One line, cut at the width of the screen. Marked: it has changed, or is selected. */
static void screen_line(const struct screen *s, bool marked, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void screen_line(const struct screen *s, bool marked, const char *format, ...)
{
    char line[8192 + 256];
    bool inverse = marked && s->terminal && !s->plain;
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    printf("%s%c %.*s%s\n", inverse ? "\033[7m" : "", marked ? '*' : ' ', s->terminal ? (int)s->columns - 2 : 8192,
           line, inverse ? "\033[0m" : "");
}

/* Where to break a line: its length if it fits, or the last space that does. */
static size_t screen_break(const char *line, size_t width)
{
    size_t at = strlen(line);

    if (at <= width)
        return at;
    for (at = width; at && line[at] != ' '; at--)
        ;
    return at ? at : width;
}

/* The number of rows of a state. Prints them, too, if `shown`. */
static unsigned screen_state(const struct screen *s, bool marked, const char *state, bool shown)
{
    size_t width = s->terminal ? s->columns - 2 : 8192, at = screen_break(state, width);
    unsigned rows = 1;

    if (shown)
        screen_line(s, marked, "%.*s", (int)at, state);
    for (state += at; *state; state += at, rows++) {
        state += *state == ' ';
        at = screen_break(state, width - SCREEN_INDENT);
        if (shown)
            screen_line(s, marked, "%*s%.*s", SCREEN_INDENT, "", (int)at, state);
    }
    return rows;
}

/* The states, on more than one line each if there is room for that. Leaves the rest of the room to the last moves. */
static void screen_show_sites(struct screen *s)
{
    const struct hand_run *p = s->play;
    unsigned rows = 0;
    dme_id count = p->conf.n;

    for (dme_id site = 0; site < p->conf.n; site++)
        rows += screen_state(s, false, p->state[site], false);
    if (s->terminal && p->conf.n > s->sites)
        count = (dme_id)(s->sites - 1);
    for (dme_id site = 0; site < count; site++)
        if (rows <= s->sites)
            screen_state(s, p->changed[site], p->state[site], true);
        else
            screen_line(s, p->changed[site], "%s", p->state[site]);
    if (count < p->conf.n)
        screen_line(s, false, "... and %u more sites", p->conf.n - count);
    if (rows > s->sites)
        rows = p->conf.n < s->sites ? p->conf.n : s->sites;
    s->past += s->sites - rows;
}

static void screen_show_past(const struct screen *s)
{
    const struct hand_run *p = s->play;
    uint32_t first = p->place > s->past ? p->place - s->past : 0;

    screen_line(s, false, "%s", "");
    for (uint32_t k = first; k < p->place; k++)
        screen_line(s, false, "%4u  %s", k + 1, p->effect[k]);
    if (p->place == 0)
        screen_line(s, false, "   no move yet");
}

static void screen_show_choices(const struct screen *s)
{
    const struct hand_run *p = s->play;
    uint32_t shown = s->terminal && p->choices > s->choices ? s->choices : p->choices;
    uint32_t first = s->selected >= shown ? s->selected - shown + 1 : 0;

    screen_line(s, false, "%s", "");
    screen_line(s, false, "Moves that are possible now: %u%s", p->choices,
                shown < p->choices ? " (arrow keys: more)" : "");
    for (uint32_t k = first; k < first + shown; k++) {
        char move[256];
        struct dme_text text;

        dme_text_init(&text, move, sizeof move);
        world_print_move(p->world, &p->choice[k], &text);
        screen_line(s, s->terminal && k == s->selected, "%4u  %s", k + 1, move);
    }
}

/* Half of the lines beyond 24 are for states, and a quarter for each other part. Without a terminal there are no limits but that
 * of the past. */
static void screen_measure(struct screen *s)
{
    unsigned lines = SCREEN_LINES, more;

    if (s->terminal)
        terminal_size(&s->columns, &lines);
    if (s->columns < SCREEN_INDENT * 4)
        s->columns = SCREEN_INDENT * 4;
    more = lines > SCREEN_LINES ? lines - SCREEN_LINES : 0;
    s->sites = s->terminal ? SCREEN_SITES + more / 2 : s->play->conf.n;
    s->choices = SCREEN_CHOICES + more / 4;
    s->past = SCREEN_PAST + more - more / 2 - more / 4;
}

static void screen_show(struct screen *s)
{
    const struct hand_run *p = s->play;
    const char *wrong = hand_wrong(p);

    screen_measure(s);
    if (s->terminal)
        printf("\033[H\033[J");
    screen_line(s, false, "%s, %u sites, %s, %s: move %u of %u", p->conf.alg->name, p->conf.n, cli_rule_text(&p->conf),
                p->fifo ? "fifo" : "any order", p->place, p->count);
    screen_line(s, wrong, "%s",
                wrong ? wrong : "mutual exclusion holds, no deadlock, the invariants of the algorithm hold");
    screen_line(s, false, "%s", "");
    screen_show_sites(s);
    screen_show_past(s);
    screen_show_choices(s);
    if (s->note)
        screen_line(s, false, "%s", s->note);
    else if (s->terminal)
        screen_line(s, false, "up down Enter move, left back, right again, r random, e entry, s save, q quit");
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------------ the commands */

static void screen_save(struct screen *s)
{
    static char note[512];
    char *text = hand_scenario(s->play);

    cli_write_file(s->save, text);
    free(text);
    snprintf(note, sizeof note, "saved as %s; dibs scenario --print %s plays it", s->save, s->save);
    s->note = note;
}

/* The move of this number, counted from 1. */
static void screen_number(struct screen *s, uint32_t number)
{
    if (number < 1 || number > s->play->choices)
        s->note = "no such move";
    else
        hand_choose(s->play, number - 1);
}

/* Returns false if the command is to quit. */
static bool screen_command(struct screen *s, int command)
{
    uint32_t before = s->play->place;

    s->note = NULL;
    switch (command) {
    case 'q':
        return false;
    case 'b':
    case 'u':
        s->note = hand_back(s->play) ? NULL : "this is the beginning";
        break;
    case 'f':
        s->note = hand_forward(s->play) ? NULL : "no move was taken back; choose one";
        break;
    case 'r':
        s->note = hand_random(s->play) ? NULL : "no move is possible";
        break;
    case 'e':
        s->note = hand_to_entry(s->play) ? NULL : "no site has entered";
        break;
    case 's':
        screen_save(s);
        break;
    default:
        s->note = "commands: a number, f forward, b back, u undo, r random, e next entry, s save, q quit";
    }
    if (s->play->place != before)
        s->selected = 0;
    return true;
}

/* ---------------------------------------------------------------------------------------------------- on a terminal */

static bool screen_press(struct screen *s, int key)
{
    struct hand_run *p = s->play;

    s->note = NULL;
    switch (key) {
    case KEY_GONE:
    case KEY_ESCAPE:
    case 3: /* Ctrl-C */
    case 4:
        return false;
    case KEY_NONE: /* the terminal was given back meanwhile: the screen is shown again */
        return true;
    case KEY_UP:
    case 'k':
        s->selected -= s->selected > 0;
        return true;
    case KEY_DOWN:
    case 'j':
        s->selected += s->selected + 1 < p->choices;
        return true;
    case KEY_LEFT:
    case 127:
        return screen_command(s, 'b');
    case KEY_RIGHT:
        return screen_command(s, 'f');
    case '\r':
    case '\n':
    case ' ':
        if (p->choices)
            screen_number(s, s->selected + 1);
        s->selected = 0;
        return true;
    default:
        if (key >= '1' && key <= '9') {
            screen_number(s, (uint32_t)(key - '0'));
            s->selected = 0;
            return true;
        }
        return screen_command(s, key);
    }
}

/* ---------------------------------------------------------------------------------------------------------- command */

static void screen_by_lines(struct screen *s)
{
    char line[256];

    screen_show(s);
    while (fgets(line, sizeof line, stdin)) {
        char *end;
        unsigned long number = strtoul(line, &end, 10);

        s->note = NULL;
        if (end != line)
            screen_number(s, number > UINT32_MAX ? 0 : (uint32_t)number);
        else if (!screen_command(s, line[0]))
            break;
        printf("\n");
        screen_show(s);
    }
}

static struct hand_run *screen_scenario_file(const char *path)
{
    struct scenario_error error;
    struct moves run;
    char *text = cli_read_file(path);
    struct hand_run *p;

    if (!scenario_run(path, text, &run, &error))
        cli_die("%s:%u: %s", path, error.line, error.text);
    p = hand_of(&run);
    scenario_run_free(&run);
    free(text);
    return p;
}

int cmd_play(int argc, char **argv)
{
    static uint64_t sites = 3;
    static const char *rule, *save = "played.txt";
    static struct cli_list sets;
    static unsigned order;
    static const struct cli_option options[] = {
        {"--sites", CLI_COUNT, &sites, "N", "play with N sites (default 3)", 1, 32, NULL},
        {"--rule", CLI_TEXT, &rule, "RULE",
         "rule for sharing: exclusive, shared, slots:K or group:M (default: the first that the algorithm supports)", 0,
         0, NULL},
        {"--set", CLI_LIST, &sets, "KEY=VALUE",
         "set option KEY of the algorithm (default: as \"dibs list ALGORITHM\" shows); may be repeated", 0, 0, NULL},
        {"--order", CLI_CHOICE, &order, "ORDER",
         "deliver the messages of a channel in this order (default needed: FIFO if the algorithm relies on it, any "
         "order otherwise)",
         0, 0, cli_orders},
        {"--save", CLI_TEXT, &save, "FILE",
         "the command s writes the moves into FILE as a scenario (default played.txt)", 0, 0, NULL},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs play (ALGORITHM | SCENARIO.txt) [OPTION...]",
        .about = "Steps through an algorithm, or a scenario file, by hand. The screen shows the state of each site, "
                 "with what the last move has changed, the last moves, the moves that are possible now, and whether "
                 "mutual exclusion and the invariants hold.\n\n"
                 "up, down\tselect a move; Enter makes it, and so does its number\n"
                 "left, right\ttake the last move back; make it again (a scenario is played with \"right\")\n"
                 "r, e\ta random move; random moves until a site enters\n"
                 "s, q\tsave the moves as a scenario; quit\n\n"
                 "If standard input or output is no terminal, each line of standard input is a command: a number, f "
                 "(forward), b or u (back), r, e, s, q.",
        .options = options,
        .examples = {{"Play Suzuki and Kasami's algorithm with three sites:", "dibs play suzuki-kasami"},
                     {"Step through a scenario:", "dibs play tests/scenario/maekawa.txt"},
                     {"Make two random moves without a terminal:", "printf 'r\\nr\\n' | dibs play raymond"}},
    };
    struct screen s = {.plain = !has_colours()};
    const char *word = NULL;
    struct dme_conf conf;

    if (!cli_parse(argc, argv, &usage, &word, 1))
        cli_die("no algorithm or scenario is named (usage: %s)", usage.line);
    if (strchr(word, '/') || (strlen(word) > 4 && strcmp(word + strlen(word) - 4, ".txt") == 0)) {
        s.play = screen_scenario_file(word);
    } else {
        conf = cli_conf(word, sites, rule, &sets);
        s.play = hand_new(&conf, order == 0 ? conf.alg->needs & DME_FIFO : order == 1);
    }
    s.save = save;
    s.terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (s.terminal) {
        terminal_take("play");
        do
            screen_show(&s);
        while (screen_press(&s, terminal_key(-1)));
    } else {
        screen_by_lines(&s);
    }
    hand_free(s.play);
    return CLI_OK;
}
