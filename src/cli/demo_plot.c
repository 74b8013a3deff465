/* demo_plot.c - `dibs demo`, a plot: what some algorithms cost, from light to full load. See demo.h. */
#include "demo.h"

#include <stdlib.h>

bool demo_plot(const char *out)
{
    struct demo_place place;
    char table[DEMO_PATH_MAX + 16], text[256];
    bool fine;

    if (!out || system("command -v gnuplot >/dev/null 2>&1") != 0) {
        printf("    %s\n\n", out ? "No plot is drawn: gnuplot is not installed (apt-get install gnuplot-nox)."
                                 : "\"dibs demo --plot load.svg\" draws a plot of it.");
        return true;
    }
    if (!demo_open(&place))
        return false;
    snprintf(table, sizeof table, "%s/table.csv", place.dir);
    fine = demo_run(text, sizeof text, NULL,
                    (const char *const[]){"sweep", "ricart-agrawala", "maekawa", "raymond", "suzuki-kasami", "--sites",
                                          "25", "--rate", "0.0001..0.1/7", "--entries", "10k", "--out", table, NULL}) ==
               0 &&
           demo_run(text, sizeof text, NULL, (const char *const[]){"plot", table, "--out", out, NULL}) == 0;
    demo_close(&place);
    if (fine)
        printf("    Messages per entry and waiting times over the load, for 25 sites,\n    are drawn in %s\n\n", out);
    else
        fprintf(stderr, "dibs: the plot %s could not be drawn\n", out);
    return fine;
}
