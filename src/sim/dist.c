/* dist.c - see dist.h. */
#include "dist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned numbers;
} dist_types[] = {
    [DIST_CONST] = {"const", 1},
    [DIST_UNIFORM] = {"uniform", 2},
    [DIST_EXP] = {"exp", 1},
    [DIST_LOGNORMAL] = {"lognormal", 2},
};

static bool dist_number(const char **at, char end, double *x)
{
    char *stop;

    *x = strtod(*at, &stop);
    if (stop == *at || *stop != end || !isfinite(*x) || *x < 0)
        return false;
    *at = stop + (end != 0);
    return true;
}

bool dist_parse(struct dist *dist, const char *text, struct dme_text *wrong)
{
    size_t len = strcspn(text, ":");
    const char *at = text[len] ? text + len + 1 : text;
    unsigned t = 0;

    while (text[len] && t < sizeof dist_types / sizeof dist_types[0] &&
           (strlen(dist_types[t].name) != len || strncmp(dist_types[t].name, text, len) != 0))
        t++;
    if (t < sizeof dist_types / sizeof dist_types[0]) {
        *dist = (struct dist){.type = (enum dist_type)t};
        if (dist_number(&at, dist_types[t].numbers == 2 ? ',' : 0, &dist->a) &&
            (dist_types[t].numbers == 1 || dist_number(&at, 0, &dist->b)) &&
            (t != DIST_UNIFORM || dist->a <= dist->b)) {
            if (dist_is_time(dist->a) && (t == DIST_LOGNORMAL ? dist->b <= 10 : dist_is_time(dist->b)))
                return true;
            dme_print(wrong, "\"%s\" is out of range; a time is 0 or from %g to %g, and SIGMA is at most 10", text,
                      DIST_MIN, DIST_MAX);
            return false;
        }
    }
    dme_print(wrong, "\"%s\" is no time; it takes const:D, uniform:FROM,TO, exp:MEAN or lognormal:MEAN,SIGMA", text);
    return false;
}

void dist_print_number(double x, struct dme_text *text)
{
    char digits[40];

    for (int precision = 6; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, x);
        if (strtod(digits, NULL) == x)
            break;
    }
    dme_print(text, "%s", digits);
}

void dist_print(const struct dist *dist, struct dme_text *text)
{
    dme_print(text, "%s:", dist_types[dist->type].name);
    dist_print_number(dist->a, text);
    if (dist_types[dist->type].numbers == 2) {
        dme_print(text, ",");
        dist_print_number(dist->b, text);
    }
}

double dist_max(const struct dist *dist)
{
    if (dist->a == 0 && dist->type != DIST_UNIFORM)
        return 0;
    return dist->type == DIST_CONST ? dist->a : dist->type == DIST_UNIFORM ? dist->b : INFINITY;
}

double dist_mean(const struct dist *dist)
{
    return dist->type == DIST_UNIFORM ? (dist->a + dist->b) / 2 : dist->a;
}

double dist_draw_random(const struct dist *dist, struct random *r)
{
    switch (dist->type) {
    case DIST_UNIFORM:
        return dist->a + (dist->b - dist->a) * random_unit(r);
    case DIST_EXP:
        return random_exp(r, dist->a);
    case DIST_LOGNORMAL:
        return dist->a * exp(dist->b * random_normal(r) - dist->b * dist->b / 2);
    default:
        return dist->a;
    }
}
