/* dist.h - distributions of times, as a person writes them: "0.1" or "const:0.1", "uniform:1,3", "exp:2",
 * "lognormal:2,0.5" (mean, and the standard deviation of the logarithm). */
#ifndef DIBS_SIM_DIST_H
#define DIBS_SIM_DIST_H

#include "base/random.h"
#include "core/text.h"

enum dist_type { DIST_CONST, DIST_UNIFORM, DIST_EXP, DIST_LOGNORMAL };

struct dist {
    enum dist_type type;
    double a, b; /* const: a; uniform: a .. b; exp: mean a; lognormal: mean a, sigma b */
};

/* Times are 0 or within these: a run computes with sums and quotients of them. */
#define DIST_MIN 1e-12
#define DIST_MAX 1e12
static inline bool dist_is_time(double x)
{
    return x == 0 || (x >= DIST_MIN && x <= DIST_MAX);
}

/* False and a line that names the mistake, if the text is not a distribution. */
bool dist_parse(struct dist *dist, const char *text, struct dme_text *wrong);
/* The shortest decimal number that reads back as x. */
void dist_print_number(double x, struct dme_text *text);
void dist_print(const struct dist *dist, struct dme_text *text);
/* The largest value that can come, or infinity. */
double dist_max(const struct dist *dist);
double dist_mean(const struct dist *dist);
double dist_draw_random(const struct dist *dist, struct random *r);

static inline double dist_draw(const struct dist *dist, struct random *r)
{
    return dist->type == DIST_CONST ? dist->a : dist_draw_random(dist, r);
}

#endif
