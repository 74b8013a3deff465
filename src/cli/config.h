/* config.h - between the files of dibs config. */
#ifndef DIBS_CLI_CONFIG_H
#define DIBS_CLI_CONFIG_H

#include <stdbool.h>

/* The policies of this configuration file, "-" for standard input, as lines of text that the caller frees. Ends the command, with
 * the file and the lines of all mistakes, if it has some; or if it has no policy, unless that is meant. Other settings of the file are left alone. */
char *config_read_policies(const char *file, bool may_be_none);
/* The same for rights: rules, limits and logins, in the one form in which a member shows them. */
char *config_read_rights(const char *file);
/* Does `agreed`, as a member shows it, have the policies of `wanted`, in which algorithms may be left out? */
bool config_is_policies(const char *agreed, const char *wanted);

#endif
