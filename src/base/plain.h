/* plain.h - texts that can be shown to people as they are: names of locks, of groups and of clients, and patterns.
 *
 * They are UTF-8, in its only valid form, and have nothing in them that a terminal or a page would obey or hide: no
 * control characters (U+0000 to U+001F, U+007F to U+009F) and no marks that change the direction of text (U+061C,
 * U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069). Text from clients and from members is checked where it comes
 * in. */
#ifndef DIBS_BASE_PLAIN_H
#define DIBS_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

bool plain_text(const char *text, size_t len);
/* The length of the longest prefix of at most `most` bytes that does not cut a character in two. */
size_t plain_cut(const char *text, size_t len, size_t most);

#endif
