/* page.h - the file of the web page, dibs-lab.html, which "make page" builds: where it is, and its bytes. */
#ifndef DIBS_SERVE_PAGE_H
#define DIBS_SERVE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { PAGE_SIZE_MAX = 16 << 20 };

/* The file that is beside the program or in ../share/dibs; false if there is none. */
bool page_path(char *path, size_t size);

/* Reads the file, or, if the path is null, looks for it beside the program and in ../share/dibs. Returns its bytes, to be
 * freed; or null, and a line in `wrong`. */
char *page_read(const char *path, size_t *len, char *wrong, size_t wrong_size);

/* Headers that go with the page, as "NAME: VALUE" lines. The page itself says the rest of its content security policy. */
extern const char *const page_headers[][2]; /* ends with a null name */

#endif
