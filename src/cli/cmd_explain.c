/* cmd_explain.c - dibs explain: all that a reader of one algorithm wants to know, on one page. Idea, rules and invariants
 * come from the head of its file (lab/explained.c); the costs are measured on the spot. */
#include "alg/list.h"
#include "cli.h"
#include "core/text.h"
#include "lab/explained.h"
#include "spec.h"

#include <stdarg.h>
#include <string.h>

/* How textbooks and other papers call the same things. */
static const struct {
    const char *name, *text;
} explain_names[] = {
    {"central", "GRANT is OK (Tanenbaum), REPLY or TOKEN (Coulouris)."},
    {"lamport", "REPLY is ACK or acknowledgment; the queue is request_queue; the conditions are L1 and L2 (Singhal and "
                "Shivaratri), or rule 5 of Lamport's paper."},
    {"ricart-agrawala", "REPLY is OK (Tanenbaum); deferred is Reply_Deferred in the report, RD in lectures; highest is "
                        "Highest_Sequence_Number."},
    {"maekawa", "GRANT is LOCKED, YIELD is RELINQUISH and FAILED is FAIL in Maekawa's paper; GRANT is REPLY in Singhal "
                "and Shivaratri's book, VOTE in others. A quorum is a request set or voting set."},
    {"agrawal-el-abbadi", "GRANT is LOCKED or REPLY, YIELD is RELINQUISH. A quorum is a tree quorum."},
    {"suzuki-kasami",
     "TOKEN is PRIVILEGE in the paper; the numbers of requests are RN, those served are LN, the queue is Q."},
    {"raymond", "TOKEN is PRIVILEGE in the paper; the neighbour towards the token is HOLDER, the queue is REQUEST_Q."},
    {"naimi-trehel", "father is LAST or owner, next is NEXT; the fathers form a tree that path reversal changes."},
    {"neilsen-mizuno",
     "the algorithm of a directed acyclic graph: LAST, FOLLOW (NEXT in some books), HOLDING; TOKEN is "
     "PRIVILEGE."},
    {"singhal-heuristic", "the guesses are SV, the numbers SN; those of the token are TSV and TSN."},
    {"singhal-dynamic", "the request set is R_i, the inform set I_i."},
    {"carvalho-roucairol",
     "a permission is an authorization; textbooks call it the Roucairol-Carvalho optimization of Ricart "
     "and Agrawala's algorithm."},
    {"swaroop-singh", "a mode is a session or forum; the states of the paper are N, R, EC, EF, HS, HI."},
    {"le-lann", "the token ring of textbooks."},
};

static const struct {
    const char *means, *without;
} explain_needs[DME_NEEDS] = {
    {"messages from one site to another arrive in the order of sending", "--without fifo"},
    {"every message arrives, exactly once", NULL},
    {"no site stops", NULL},
    {"a message is handled within a known time T", "--without bounded-delay"},
    {"one transmission reaches all other sites", NULL},
    {"all sites see all transmissions in one order", NULL},
    {"a crash is reported to all sites, and no site that is up is reported", "--without detection --crash 1"},
};

static const char *const explain_kinds_of_wrong[] = {"-as-published", "-tempting", "-as-retold"};

/* The sound algorithm behind "NAME-tempting" and the like; a draft is its own. */
static const struct explained *explain_find(const char *name)
{
    size_t len = strlen(name);
    const struct explained *e = explained;

    for (unsigned k = 0; k < sizeof explain_kinds_of_wrong / sizeof explain_kinds_of_wrong[0]; k++) {
        size_t tail = strlen(explain_kinds_of_wrong[k]);

        if (len > tail && strcmp(name + len - tail, explain_kinds_of_wrong[k]) == 0)
            len -= tail;
    }
    while (e->name && !(strlen(e->name) == len && memcmp(e->name, name, len) == 0))
        e++;
    return e->name ? e : NULL;
}

static void explain_part(const char *title, const char *text)
{
    if (text) {
        printf("\n%s\n", title);
        cli_help_text(stdout, text);
    }
}

static void explain_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void explain_line(const char *format, ...)
{
    char line[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    cli_help_text(stdout, line);
}

static void explain_head(const struct dme_alg *a)
{
    char rules[64] = "";
    struct dme_text text;

    dme_text_init(&text, rules, sizeof rules);
    for (unsigned r = 0; r < DME_RULES; r++)
        if (a->rules & 1u << r)
            dme_print(&text, "%s%s", text.len ? ", " : "", dme_rule_name(r));
    printf("%s\n", a->name);
    explain_line("%s. Family: %s. Rules: %s.", a->paper, dme_family_name(a->family), rules);
}

static void explain_assumptions(const struct dme_alg *a)
{
    printf("\nWhat it assumes\n");
    for (unsigned b = 0; b < DME_NEEDS; b++)
        if (a->needs & 1u << b)
            explain_line("%s\t%s%s%s %s", dme_need_name(b), explain_needs[b].means,
                         explain_needs[b].without ? "; without that: dibs check " : ".",
                         explain_needs[b].without ? a->name : "",
                         explain_needs[b].without ? explain_needs[b].without : "");
}

/* Messages per entry and delay of ten sites. */
static void explain_measure(const struct dme_alg *a, const char *load, const char *title)
{
    char words[256], line[256];
    struct dme_text wrong;
    struct sim_spec spec;
    struct sim_result r;

    snprintf(words, sizeof words, "%s --sites 10 %s --entries 2k%s", a->name, load,
             a->rules == 1u << DME_SLOTS ? " --rule slots:3" : "");
    spec = spec_parse(words);
    dme_text_init(&wrong, line, sizeof line);
    if (sim_run(&spec, &r, &wrong)) {
        explain_line(
            "%s\t%.3g messages per entry; waiting time %.3g T; from an exit to the next entry %.3g T: dibs sim %s",
            title, r.value[FIG_MESSAGES], r.value[FIG_WAIT], r.value[FIG_SYNC], words);
        sim_result_free(&r);
    }
    spec_free(&spec);
}

static void explain_costs(const struct dme_alg *a)
{
    printf("\nWhat it costs\n");
    explain_line("%s. Measured with ten sites, T = 1, a tenth of T inside:", a->cost);
    explain_measure(a, "--rate 0.001", "light load");
    explain_measure(a, "--closed", "full load");
}

static void explain_mistakes(const struct explained *e)
{
    bool any = false;

    for (unsigned k = 0; alg_list[k]; k++) {
        const struct dme_alg *a = alg_list[k];

        if (!a->mistakes || explain_find(a->name) != e)
            continue;
        for (unsigned m = 0; a->mistakes[m].name; m++)
            if (dme_makes(a, m)) {
                if (!any)
                    printf("\nMistakes, each with a schedule that shows it\n");
                any = true;
                explain_line("%s\t%s, %s: %s. dibs check %s --set mistake=%s", a->mistakes[m].name,
                             dme_mistake_kind_name(a->mistaken), a->mistakes[m].where, a->mistakes[m].what, a->name,
                             a->mistakes[m].name);
            }
    }
}

static void explain_names_of(const struct explained *e)
{
    for (size_t k = 0; k < sizeof explain_names / sizeof explain_names[0]; k++)
        if (strcmp(explain_names[k].name, e->name) == 0)
            explain_part("Other names", explain_names[k].text);
}

int cmd_explain(int argc, char **argv)
{
    static const struct cli_option options[] = {{0}};
    static const struct cli_usage usage = {
        .line = "dibs explain ALGORITHM",
        .about =
            "Explains an algorithm on one page: its idea, messages and rules, its invariants, what it assumes, what it "
            "costs (measured on the spot), where it departs from its publication, which mistakes are made with it, and "
            "a story to watch.",
        .options = options,
        .examples = {{"Explain Suzuki and Kasami's algorithm:", "dibs explain suzuki-kasami"},
                     {"Explain Maekawa's algorithm, page by page:", "dibs explain maekawa | less"}},
    };
    const char *word = NULL;
    const struct dme_alg *a;
    const struct explained *e;

    if (!cli_parse(argc, argv, &usage, &word, 1))
        cli_die("no algorithm is named (usage: %s; dibs list shows all)", usage.line);
    a = cli_algorithm(word);
    e = explain_find(a->name);
    explain_head(a);
    if (a->flaw)
        explain_line("Kept because it is wrong (%s): %s. The rest of this page is about the sound algorithm, %s.",
                     dme_mistake_kind_name(a->mistaken), a->flaw, e->name);
    explain_part("Idea", e->idea);
    explain_part("Messages", e->messages);
    explain_part("Rules of site i", e->algorithm);
    explain_part("Invariants", e->invariants);
    explain_assumptions(a);
    explain_costs(alg_find(e->name));
    explain_part("Departures from the publication", e->departures);
    explain_part("Notes", e->notes);
    explain_mistakes(e);
    explain_names_of(e);
    printf("\nTo watch\n");
    explain_line("dibs play %s", e->name);
    explain_line("dibs scenario --print tests/scenario/%s%s.txt", e->name, strstr(e->name, "-robust") ? "-*" : "");
    return CLI_OK;
}
