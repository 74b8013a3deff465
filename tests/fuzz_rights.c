/* Whatever the words of a rule are: it is refused with a sentence, or printed and read again it is the same. And the decision
 * by the rules that were understood is that of a second, naive one. The same is true of the text of a whole table.
 * Invariant: I34. */
#include "fuzz.h"

#include "rights/rights.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

static const char *const fuzz_words[] = {
    "any",
    "user:",
    "group:",
    "key:",
    "cert:",
    "auth:",
    "1",
    "2",
    "a",
    "b.c",
    " ",
    "  ",
    "\t",
    "lock",
    ",",
    "shared",
    "watch",
    "admin",
    "force-unlock",
    "all",
    "none",
    "*",
    "?",
    "a*",
    "x",
    "user:1 lock a*",
    "any all *",
    "group:2 watch,shared *b",
    "key:a none *",
    "auth:b lock x",
    "locks=",
    "waiters=9",
    "connections=3",
    "=",
};

static void fuzz_line(struct fuzz_input *in, char *text, size_t room)
{
    unsigned words = 1 + fuzz_take(in) % 8;

    *text = '\0';
    while (words--) {
        uint8_t k = fuzz_take(in);
        char byte[2] = {(char)fuzz_take(in), 0};
        const char *word = k < 200 ? fuzz_words[k % (sizeof fuzz_words / sizeof fuzz_words[0])] : byte;

        if (strlen(text) + strlen(word) + 1 < room)
            strcat(text, word);
    }
}

/* The same question, asked one subject after the other. */
static bool fuzz_is(const struct rights_rule *r, const struct rights_who *who)
{
    bool group = false;

    for (uint32_t k = 0; k < who->groups; k++)
        group |= who->group[k] == r->who.number;
    return r->who.kind == RIGHTS_ANY ||
           (r->who.kind == RIGHTS_USER && r->who.known && who->has_user && who->user == r->who.number) ||
           (r->who.kind == RIGHTS_GROUP && r->who.known && group) ||
           (r->who.kind == RIGHTS_KEY && who->key && strcmp(who->key, r->who.name) == 0) ||
           (r->who.kind == RIGHTS_AUTH && strcmp(who->auth, r->who.name) == 0);
}

static bool fuzz_may(const struct rights *t, const struct rights_who *who, unsigned right, const char *name)
{
    if (who->operates)
        return true;
    if (!t->rules)
        return right & (RIGHT_LOCK | RIGHT_SHARED | RIGHT_WATCH);
    for (unsigned k = 0; k < t->rules; k++)
        if (fuzz_is(&t->rule[k], who) && fnmatch(t->rule[k].pattern, name, 0) == 0)
            return t->rule[k].rights & right;
    return false;
}

static void fuzz_read(struct rights *t, const char *line)
{
    char why[RIGHTS_WHY_MAX] = "", text[RIGHTS_WHY_MAX];
    struct rights_rule r, again;
    struct rights_limit limit;
    struct rights_login login;

    rights_parse_limit(&limit, line, why);
    rights_parse_login(&login, line, why);
    why[0] = '\0';
    if (!rights_parse_rule(&r, line, why)) {
        FUZZ_EXPECT(*why, "\"%s\"", line);
        return;
    }
    rights_print_rule(&r, text);
    FUZZ_EXPECT(rights_parse_rule(&again, text, why), "%s", why);
    FUZZ_EXPECT(memcmp(&r, &again, sizeof r) == 0, "\"%s\" is not \"%s\"", line, text);
    /* fnmatch has its own mind about brackets, backslashes and bytes that are no ASCII */
    for (const char *c = r.pattern; *c; c++)
        if (strchr("[]\\!", *c) || *c < 0)
            return;
    t->rule[t->rules++] = r;
}

/* Whatever the lines of a table are: it is refused with a sentence, or printed and read again it is the same. */
static void fuzz_table(struct fuzz_input *in)
{
    static const char *const keys[] = {"allow ", "limit ", "login ", "allow any all *\n", "login b h\n", ""};
    static struct rights t, again;
    char text[2048] = "", line[512], why[RIGHTS_WHY_MAX] = "";
    struct bytes first = {0}, second = {0};

    for (unsigned lines = fuzz_take(in) % 6; lines; lines--) {
        fuzz_line(in, line, 300);
        strcat(strcat(text, keys[fuzz_take(in) % 6]), line);
        if (fuzz_take(in) % 32)
            strcat(text, "\n");
    }
    if (!rights_read(&t, text, strlen(text), why)) {
        FUZZ_EXPECT(*why, "\"%s\"", text);
        return;
    }
    rights_print(&t, &first);
    FUZZ_EXPECT(rights_read(&again, (char *)first.at, bytes_len(&first), why), "%s", why); /* nothing was consumed */
    rights_print(&again, &second);
    FUZZ_EXPECT(bytes_len(&first) == bytes_len(&second) &&
                    (!first.at || memcmp(first.at, second.at, bytes_len(&first)) == 0),
                "\"%s\"", text);
    FUZZ_EXPECT(!rights_unsure(&t) == !rights_unsure(&again), "\"%s\"", text);
    bytes_free(&first);
    bytes_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"", "a", "ab", "x", "b", "aab"};
    static uint32_t group[] = {1, 2};
    static struct rights t;
    static char key[] = "a";
    struct fuzz_input in = {data, data + size};
    unsigned rules = fuzz_take(&in) % 8, seed = fuzz_take(&in);
    struct rights_who who = {.operates = seed % 16 == 0,
                             .has_user = seed & 1,
                             .user = 1 + (seed >> 1 & 1),
                             .group = group,
                             .groups = seed >> 2 & 3};
    char line[512];

    who.groups = who.groups > 2 ? 2 : who.groups;
    who.key = seed & 16 ? key : NULL;
    if (seed & 32)
        strcpy(who.auth, "b");
    memset(&t, 0, sizeof t);
    while (rules--) {
        fuzz_line(&in, line, sizeof line);
        fuzz_read(&t, line);
    }
    for (unsigned k = 0; k < sizeof names / sizeof names[0]; k++)
        for (unsigned right = 1; right < RIGHTS_ALL; right *= 2) {
            struct rights_verdict v = rights_decide(&t, &who, right, names[k], strlen(names[k]));
            char text[RIGHTS_WHY_MAX];

            FUZZ_EXPECT(v.allowed == fuzz_may(&t, &who, right, names[k]), "%u \"%s\"", right, names[k]);
            rights_explain(&t, &who, right, names[k], strlen(names[k]), v, text);
        }
    fuzz_table(&in);
    return 0;
}
