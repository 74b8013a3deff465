/* fault.c - see fault.h: reading a script of failures. */
#include "fault.h"

#include "base/memory.h"
#include "lab/world.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *verb;
    uint32_t type, arg;
} fault_verbs[] = {
    {"crash", WORLD_CRASH, 0}, {"restart", DME_RESTART, 0}, {"resume", DME_RESTART, 1}, {"join", DME_JOIN, 0},
    {"leave", DME_LEAVE, 0},   {"cut", WORLD_CUT, 0},       {"heal", WORLD_HEAL, 0},    {0},
};

/* The sites of the line: one; or, of a cut, those of one side. */
static const char *fault_parse_sites(struct fault_line *l, char *rest, uint32_t n)
{
    unsigned count = 0;

    for (char *word; (word = strtok_r(rest, " \t\r\n", &rest)); count++) {
        char *end;
        unsigned long site = strtoul(word, &end, 10);

        if (*end || site >= n)
            return "there is no such site; sites are numbered from 0";
        if (l->type == WORLD_CUT && site >= 32)
            return "a cut names the side whose sites are all below 32";
        l->site = (dme_id)site;
        if (l->type == WORLD_CUT)
            l->arg |= 1u << site;
    }
    if (l->type == WORLD_HEAL ? count != 0 : count == 0 || (count > 1 && l->type != WORLD_CUT))
        return "a line is TIME crash|restart|resume|join|leave SITE, TIME cut SITE..., or TIME heal";
    return NULL;
}

/* A line without words has type UINT32_MAX. */
static const char *fault_parse_line(struct fault_line *l, char *text, uint32_t n)
{
    char *rest = text, *word, *end;
    unsigned k = 0;

    *l = (struct fault_line){.type = UINT32_MAX};
    text[strcspn(text, "#")] = 0;
    if (!(word = strtok_r(rest, " \t\r\n", &rest)))
        return NULL;
    l->at = strtod(word, &end);
    if (*end || !isfinite(l->at) || l->at < 0)
        return "it begins with a time, 0 or later";
    word = strtok_r(rest, " \t\r\n", &rest);
    while (word && fault_verbs[k].verb && strcmp(fault_verbs[k].verb, word) != 0)
        k++;
    if (!word || !fault_verbs[k].verb)
        return "behind the time comes one of crash, restart, resume, join, leave, cut, heal";
    l->type = fault_verbs[k].type;
    l->arg = fault_verbs[k].arg;
    return fault_parse_sites(l, rest, n);
}

bool fault_read_script(struct fault_spec *spec, const char *path, uint32_t n, struct dme_text *wrong)
{
    FILE *file = fopen(path, "r");
    const char *objection = NULL;
    size_t text_room = 0;
    unsigned number = 0;
    char *text = NULL;

    if (!file) {
        dme_print(wrong, "%s: %s", path, strerror(errno));
        return false;
    }
    while (!objection && getline(&text, &text_room, file) >= 0) {
        struct fault_line l;

        number++;
        objection = fault_parse_line(&l, text, n);
        if (!objection && l.type != UINT32_MAX && spec->lines && l.at < spec->line[spec->lines - 1].at)
            objection = "it is earlier than the line before";
        if (objection || l.type == UINT32_MAX)
            continue;
        spec->line = mem_grow(spec->line, (spec->lines + 1) * sizeof *spec->line);
        spec->line[spec->lines++] = l;
    }
    free(text);
    fclose(file);
    if (objection)
        dme_print(wrong, "%s:%u: %s", path, number, objection);
    return !objection;
}

void fault_spec_free(struct fault_spec *spec)
{
    free(spec->line);
    spec->line = NULL;
}
