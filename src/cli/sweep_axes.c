/* sweep_axes.c - see sweep_axes.h. */
#include "sweep_axes.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sweep_axis sweep_axes[SWEEP_AXES] = {
    [SWEEP_DELAY] = {.option = "--delay"},
    [SWEEP_HOLD] = {.option = "--hold"},
    [SWEEP_THINK] = {.option = "--think"},
    [SWEEP_ORDER] = {.option = "--order"},
    [SWEEP_BOUND] = {.option = "--bound"},
    [SWEEP_RULE] = {.option = "--rule"},
    [SWEEP_READERS] = {.option = "--readers"},
    [SWEEP_POPULARITY] = {.option = "--popularity"},
    [SWEEP_ZIPF] = {.option = "--zipf"},
    [SWEEP_HOT] = {.option = "--hot", .pair = true},
    [SWEEP_BURST] = {.option = "--burst", .pair = true},
    [SWEEP_FAULTS] = {.option = "--faults"},
    [SWEEP_CRASH_RATE] = {.option = "--crash-rate"},
    [SWEEP_CUT_RATE] = {.option = "--cut-rate"},
    [SWEEP_LEAVE_RATE] = {.option = "--leave-rate"},
    [SWEEP_ABSENCE] = {.option = "--absence"},
    [SWEEP_GAP] = {.option = "--gap"},
    [SWEEP_DETECT] = {.option = "--detect"},
    [SWEEP_ENTRIES] = {.option = "--entries", .whole = true},
    [SWEEP_WARMUP] = {.option = "--warmup", .whole = true},
    [SWEEP_PRECISION] = {.option = "--precision"},
    [SWEEP_SITES] = {.option = "--sites", .whole = true},
    [SWEEP_RATES] = {.option = "--rates"},
    [SWEEP_RATE] = {.option = "--rate"},
    [SWEEP_REQUESTERS] = {.option = "--requesters", .whole = true},
};

static void axes_add(struct sweep_axis *axis, const char *word, size_t len)
{
    if (axis->count == SWEEP_VALUES_MAX)
        cli_die("%s: more than %d values", axis->option, SWEEP_VALUES_MAX);
    axis->value = mem_grow(axis->value, (axis->count + 1) * sizeof *axis->value);
    axis->value[axis->count++] = strndup(word, len);
}

/* "0.001..1/10". Six digits: easy to read, and what the table shows is then exactly what was run. */
static bool axes_add_range(struct sweep_axis *axis, const char *text)
{
    double from, to;
    unsigned steps;
    int end = 0;

    if (sscanf(text, "%lf..%lf/%u%n", &from, &to, &steps, &end) != 3 || text[end] || !(from > 0 && to > from) ||
        steps < 2 || steps > SWEEP_VALUES_MAX || !isfinite(to))
        return false;
    for (unsigned k = 0; k < steps; k++) {
        double x = from * pow(to / from, (double)k / (steps - 1));
        char digits[40];

        snprintf(digits, sizeof digits, axis->whole ? "%.0f" : "%.6g", x);
        axes_add(axis, digits, strlen(digits));
    }
    return true;
}

static void axes_add_given(struct sweep_axis *axis, const char *text)
{
    bool numbers = text[strspn(text, "0123456789.,+-eEkM%/")] == 0 && *text != '/';

    if (axis->pair || !numbers) {
        axes_add(axis, text, strlen(text));
        return;
    }
    if (axes_add_range(axis, text))
        return;
    if (!*text || strstr(text, "..") || strchr(text, '/') || strstr(text, ",,") || text[strlen(text) - 1] == ',')
        cli_die("%s %s is not possible; it takes A,B,C or FROM..TO/STEPS, as in 0.001..1/10", axis->option, text);
    for (size_t len; *text; text += len + (text[len] == ',')) {
        len = strcspn(text, ",");
        axes_add(axis, text, len);
    }
}

void sweep_axes_expand(void)
{
    for (unsigned a = 0; a < SWEEP_AXES; a++)
        for (unsigned k = 0; k < sweep_axes[a].given.count; k++)
            axes_add_given(&sweep_axes[a], sweep_axes[a].given.item[k]);
}

const char *sweep_axis_value(enum sweep_axis_id id)
{
    const struct sweep_axis *axis = &sweep_axes[id];

    return axis->count ? axis->value[axis->at] : NULL;
}

bool sweep_axes_next(void)
{
    for (unsigned a = SWEEP_AXES; a-- > 0;) {
        struct sweep_axis *axis = &sweep_axes[a];

        if (axis->count && ++axis->at < axis->count)
            return true;
        axis->at = 0;
    }
    return false;
}

void sweep_axes_free(void)
{
    for (unsigned a = 0; a < SWEEP_AXES; a++) {
        for (unsigned k = 0; k < sweep_axes[a].count; k++)
            free(sweep_axes[a].value[k]);
        free(sweep_axes[a].value);
    }
}
