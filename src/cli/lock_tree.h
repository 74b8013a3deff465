/* lock_tree.h - signals to all processes below this one, by what /proc tells of them. src/wrap/wrap.h decides to which. */
#ifndef DIBS_CLI_LOCK_TREE_H
#define DIBS_CLI_LOCK_TREE_H

#include "wrap/wrap.h"

/* Does this system tell which children a process has? */
bool tree_is_visible(void);
/* A signal to each of them once; or, if there is a group, to those of that process group. */
void tree_signal(struct wrap_sweep *s, int signal, int32_t group);
/* Is this process stopped, or gone? */
bool tree_is_stopped(int32_t pid);
/* Stops all of them. */
void tree_stop(struct wrap_sweep *s);
/* The same again. Processes that tree_stop has stopped may have been continued by another process, and may have started new ones; and so may those
 * that cannot be stopped. */
void tree_stop_again(struct wrap_sweep *s);
/* Continues those that tree_stop has stopped. */
void tree_continue(struct wrap_sweep *s);
/* Stops all of them, then kills all of them. There may be new ones afterwards: call it until there are no children left. */
void tree_kill(struct wrap_sweep *s);
/* A line on stderr for each process that cannot be killed, or that was and does not end; once for each. */
void tree_name_stubborn(struct wrap_sweep *s, bool patient, const char *remark);
/* "812 (sleep), 813 (cat)": those that were seen, into a static buffer. */
const char *tree_text(struct wrap_sweep *s);

#endif
