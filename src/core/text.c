/* text.c - see text.h. */
#include "text.h"

#include "alg.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const text_rules[] = {"exclusive", "shared", "slots", "group"};
static const char *const text_needs[] = {"fifo",      "reliable",  "alive",    "bounded-delay",
                                         "broadcast", "sequenced", "detection"};
static const char *const text_families[] = {"permission", "quorum", "token", "central"};
static const char *const text_news[] = {"DOWN", "CUT", "HEALED"};
static const char *const text_phases[] = {"idle", "waiting", "inside"};

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

void dme_print_msg(const struct dme_conf *conf, const struct dme_msg *m, struct dme_text *text)
{
    dme_print(text, "%s", dme_kind_name(conf->alg, m->kind));
    for (uint32_t k = 0; k < m->count; k++) {
        dme_print(text, k ? " " : "[");
        text_ticket(&m->ticket[k], text);
    }
    if (m->count)
        dme_print(text, "]");
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
