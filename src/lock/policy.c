/* policy.c - see policy.h. */
#include "policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool policy_fail(struct policy_mistake *m, const char *unknown, const char *word)
{
    m->unknown = unknown;
    snprintf(m->word, sizeof m->word, "%s", word);
    return false;
}

bool policy_can_run(const struct dme_alg *alg, bool slots, uint32_t n, struct dme_text *why)
{
    while (n && locks_can_run(alg, slots, n, why))
        n--;
    return n == 0;
}

static bool policy_kind(struct lock_policy *p, const char *value, struct policy_mistake *m)
{
    char *end;
    long slots = strtol(value, &end, 10);

    p->kind = (int)slots; /* 0 of "none" */
    if (strcmp(value, "none") == 0)
        return true;
    if (*value >= '0' && *value <= '9' && !*end && slots >= 1 && slots <= LOCK_SLOTS_MAX)
        return true;
    snprintf(m->text, sizeof m->text, "slots=%.40s is not possible; it takes a number from 1 to %d, or none", value,
             LOCK_SLOTS_MAX);
    return false;
}

static bool policy_algorithm(const struct dme_alg **alg, const char *name, bool slots, const struct policy_frame *frame,
                             struct policy_mistake *m)
{
    char line[256];
    struct dme_text why;

    *alg = frame->find(name);
    if (!*alg)
        return policy_fail(m, "algorithm", name);
    dme_text_init(&why, line, sizeof line);
    if (policy_can_run(*alg, slots, frame->n, &why))
        return true;
    snprintf(m->text, sizeof m->text, "%s; choose another one (dibs list shows all)", line);
    return false;
}

/* "algorithm=raymond". `seen` has a bit for each key that was there before in this line. */
static bool policy_word(struct lock_policy *p, char *word, unsigned *seen, const struct policy_frame *frame,
                        struct policy_mistake *m)
{
    static const char *const keys[] = {"algorithm", "slots-algorithm", "slots"};
    char *equals = strchr(word, '=');
    unsigned key = 0;

    if (!equals) {
        snprintf(m->text, sizeof m->text,
                 "\"%.80s\" is not KEY=VALUE; a pattern has no blanks (? stands for any character)", word);
        return false;
    }
    *equals = '\0';
    while (key < 3 && strcmp(word, keys[key]) != 0)
        key++;
    if (key == 3)
        return policy_fail(m, "part of a policy", word);
    if (*seen & 1u << key) {
        snprintf(m->text, sizeof m->text, "\"%s\" is there twice; keep one of them", keys[key]);
        return false;
    }
    *seen |= 1u << key;
    return key == 0   ? policy_algorithm(&p->algorithm, equals + 1, false, frame, m)
           : key == 1 ? policy_algorithm(&p->slots_algorithm, equals + 1, true, frame, m)
                      : policy_kind(p, equals + 1, m);
}

bool policy_parse(struct lock_policy *p, char *text, const struct policy_frame *frame, struct policy_mistake *m)
{
    char *rest = text, *word = strtok_r(rest, " \t", &rest);
    bool good = true;
    unsigned seen = 0;

    *m = (struct policy_mistake){.text =
                                     "a policy is a pattern and what it is for: policy PATTERN algorithm=NAME slots=K"};
    *p = (struct lock_policy){.pattern = word,
                              .algorithm = frame->algorithm,
                              .slots_algorithm = frame->slots_algorithm,
                              .kind = LOCK_ANY_KIND};
    if (!word || !*rest)
        return false;
    while (good && (word = strtok_r(NULL, " \t", &rest)))
        good = policy_word(p, word, &seen, frame, m);
    return good;
}

uint32_t policy_before(const struct lock_policy *p, uint32_t count)
{
    const char *last = p[count - 1].pattern;

    for (uint32_t k = 0; last && k < count - 1; k++)
        if (p[k].pattern && (strcmp(p[k].pattern, last) == 0 || strcmp(p[k].pattern, "*") == 0))
            return k;
    return count - 1;
}

/* Reads one line, as the policy `count`. */
static bool policies_line(struct lock_policy *p, uint32_t count, char *line, const struct policy_frame *frame,
                          struct dme_text *why)
{
    struct policy_mistake m;

    if (count == LOCK_POLICIES_MAX || strncmp(line, "policy ", 7) != 0) {
        dme_print(why, "line %u: %s", count + 1,
                  count == LOCK_POLICIES_MAX ? "there are too many policies" : "this is no line \"policy PATTERN ..\"");
        return false;
    }
    if (!policy_parse(&p[count], line + 7, frame, &m)) {
        if (m.unknown)
            dme_print(why, "line %u: unknown %s \"%s\"", count + 1, m.unknown, m.word);
        else
            dme_print(why, "line %u: %s", count + 1, m.text);
        return false;
    }
    if (policy_before(p, count + 1) < count) {
        dme_print(why, "line %u: this policy applies to no name: line %u matches all of them; put this one before it",
                  count + 1, policy_before(p, count + 1) + 1);
        return false;
    }
    return true;
}

uint32_t policies_parse(struct lock_policy p[LOCK_POLICIES_MAX], char *text, const struct policy_frame *frame,
                        struct dme_text *why)
{
    uint32_t count = 0;

    for (char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        if (!end) {
            dme_print(why, "line %u has no line feed at its end", count + 1);
            return UINT32_MAX;
        }
        *end = '\0';
        if (!policies_line(p, count, text, frame, why))
            return UINT32_MAX;
        count++;
    }
    return count;
}

static void policy_write(struct bytes *to, const char *text)
{
    memcpy(bytes_add(to, strlen(text)), text, strlen(text));
}

void policy_print(const struct lock_policy *p, struct bytes *to)
{
    char slots[24] = " slots=none";

    policy_write(to, p->pattern);
    policy_write(to, " algorithm=");
    policy_write(to, p->algorithm->name);
    policy_write(to, " slots-algorithm=");
    policy_write(to, p->slots_algorithm->name);
    if (p->kind > 0)
        snprintf(slots, sizeof slots, " slots=%d", p->kind);
    if (p->kind != LOCK_ANY_KIND)
        policy_write(to, slots);
}

void policies_print(const struct lock_policy *p, uint32_t count, struct bytes *to)
{
    for (uint32_t k = 0; k < count; k++) {
        policy_write(to, "policy ");
        policy_print(&p[k], to);
        policy_write(to, "\n");
    }
}
