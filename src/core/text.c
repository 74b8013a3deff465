/* text.c - see text.h. */
#include "text.h"

#include "alg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const text_rules[] = {"exclusive", "shared", "slots", "group"};
static const char *const text_needs[] = {"fifo",      "reliable",  "alive",    "bounded-delay",
                                         "broadcast", "sequenced", "detection"};
static const char *const text_families[] = {"permission", "quorum", "token", "central"};
static const char *const text_news[] = {"DOWN", "CUT", "HEALED"};
static const char *const text_phases[] = {"idle", "waiting", "inside"};
_Static_assert(sizeof text_rules / sizeof text_rules[0] == DME_RULES, "a rule has a name");
_Static_assert(sizeof text_families / sizeof text_families[0] == DME_CENTRAL + 1, "a family has a name");
_Static_assert(sizeof text_news / sizeof text_news[0] == DME_HEALED - DME_NEWS + 1, "news have names");
_Static_assert(sizeof text_phases / sizeof text_phases[0] == DME_INSIDE + 1, "a phase has a name");

void dme_text_init(struct dme_text *text, char *buf, size_t size)
{
    text->buf = buf;
    text->size = size;
    text->len = 0;
    buf[0] = 0;
}

void dme_print(struct dme_text *text, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text->buf + text->len, text->size - text->len, format, args);
    va_end(args);
    if (len > 0)
        text->len += (size_t)len < text->size - text->len ? (size_t)len : text->size - text->len - 1;
}

const char *dme_rule_name(unsigned rule)
{
    return text_rules[rule];
}

const char *dme_need_name(unsigned bit)
{
    return text_needs[bit];
}

const char *dme_family_name(unsigned family)
{
    return text_families[family];
}

const char *dme_phase_name(unsigned phase)
{
    return text_phases[phase];
}

const char *dme_kind_name(const struct dme_alg *alg, unsigned kind)
{
    return kind >= DME_NEWS ? text_news[kind - DME_NEWS] : alg->kinds[kind].name;
}

static void text_ticket(const struct dme_ticket *t, struct dme_text *text)
{
    dme_print(text, "%llu", (unsigned long long)t->clock);
    if (t->site == DME_NONE)
        dme_print(text, ".-");
    else
        dme_print(text, ".%u", t->site);
    if (t->mode)
        dme_print(text, "/%u", t->mode);
}

/* Tickets as they are, in brackets. Of n tickets (listed) the empty ones are left out. */
static void text_tickets(const struct dme_ticket *t, uint32_t count, bool listed, struct dme_text *text)
{
    const char *before = "[";

    for (uint32_t k = 0; k < count; k++) {
        if (listed && t[k].site == DME_NONE)
            continue;
        dme_print(text, "%s", before);
        text_ticket(&t[k], text);
        before = " ";
    }
    if (count)
        dme_print(text, *before == '[' ? "[]" : "]");
}

/* Column 0, 1 or 2 (clock, mode, site) of these tickets: "version=3" of one, "LN=[0,1,2]" of n. */
static void text_column(const struct dme_ticket *t, uint32_t count, bool listed, unsigned column, const char *name,
                        size_t len, struct dme_text *text)
{
    const char *comma = "";

    dme_print(text, " %.*s=%s", (int)len, name, listed ? "[" : "");
    for (uint32_t k = 0; k < count; k++) {
        if (column == 2 && t[k].site == DME_NONE) {
            dme_print(text, "%s", listed ? "" : "-");
            continue;
        }
        dme_print(text, "%s%llu", comma,
                  column == 0   ? (unsigned long long)t[k].clock
                  : column == 1 ? (unsigned long long)t[k].mode
                                : (unsigned long long)t[k].site);
        comma = ",";
    }
    dme_print(text, "%s", listed ? "]" : "");
}

/* One word of alg->fields, and the tickets that it names. */
static void text_word(const char *word, const struct dme_ticket *t, uint32_t count, bool listed, struct dme_text *text)
{
    size_t len = strcspn(word, " ");

    if (*word == '*') {
        if (len > 1)
            dme_print(text, " %.*s=", (int)len - 1, word + 1);
        text_tickets(t, count, listed, text);
        return;
    }
    for (unsigned column = 0; column < 3; column++) {
        size_t size = strcspn(word, ", ");

        if (size)
            text_column(t, count, listed, column, word, size, text);
        word += size + (word[size] == ',');
    }
}

void dme_print_msg(const struct dme_conf *conf, const struct dme_msg *m, struct dme_text *text)
{
    const char *word = m->kind < DME_NEWS && conf->alg->fields ? conf->alg->fields[m->kind] : NULL;
    uint32_t fixed = m->kind < DME_NEWS ? conf->alg->kinds[m->kind].fixed : 0;

    dme_print(text, "%s", dme_kind_name(conf->alg, m->kind));
    if (!word)
        text_tickets(m->ticket, m->count, false, text);
    for (uint32_t at = 0; word && *word && at < m->count;) {
        uint32_t count = at < fixed ? 1 : conf->n;

        text_word(word, m->ticket + at, count, at >= fixed, text);
        at += count;
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
}

void dme_print_state(const struct dme_conf *conf, const struct dme_node *node, struct dme_text *text)
{
    struct dme d = {.conf = conf, .node = (struct dme_node *)node, .self = node->self, .n = conf->n};

    conf->alg->show(&d, dme_state(node), text);
}

void dme_print_set(struct dme_text *text, const char *key, const uint8_t *first, size_t stride, uint32_t n)
{
    const char *comma = "";

    dme_print(text, "%s=", key);
    for (uint32_t j = 0; j < n; j++)
        if (first[j * stride]) {
            dme_print(text, "%s%u", comma, j);
            comma = ",";
        }
    if (!*comma)
        dme_print(text, "-");
}

void dme_print_numbers(struct dme_text *text, const char *key, const uint64_t *first, size_t stride, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        const uint64_t *number = (const uint64_t *)((const char *)first + j * stride);

        dme_print(text, "%s%s%llu", j ? "," : key, j ? "" : "=", (unsigned long long)*number);
    }
}

void dme_print_line(struct dme_text *text, const char *key, const dme_id *first, size_t stride, uint32_t len)
{
    dme_print(text, "%s=%s", key, len ? "" : "-");
    for (uint32_t k = 0; k < len; k++)
        dme_print(text, "%s%u", k ? "," : "", *(const dme_id *)((const char *)first + k * stride));
}

void dme_print_site(struct dme_text *text, const char *key, dme_id site)
{
    if (site == DME_NONE)
        dme_print(text, "%s=-", key);
    else
        dme_print(text, "%s=%u", key, site);
}
