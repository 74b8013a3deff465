/* The parser of configurations (src/serve/conf.c, members.c and policy.c, src/lock/policy.c), for Frama-C's Eva. See tests/prove/run. Invariant: I19.
 *
 * Lines. conf_read is called with any text of any length up to BYTES, with and without a byte order mark in front, in a buffer that ends with it,
 * and conf_line with each key and any bytes behind it. The draft is any that earlier lines may have left: any number of each repeated setting, any number of mistakes. So this is
 * about files of any number of lines.
 *
 * Values. What reads the value of a setting is called with any text of up to WORD bytes; addresses and members also with texts around the
 * length of their buffers, of which all but the last byte are letters.
 *
 * Policies. The bytes behind the word "policy" are any bytes, behind nothing, a pattern, and a pattern and each key. A list of policies, which members get from each
 * other with a view, is read with such a line. A line of it is also read where the list is full, and where there is one place left.
 *
 * conf_mistake is looked at by itself, with short and long texts. Elsewhere its arguments go to printf, whose contract Frama-C
 * knows: what is quoted must be a string. meant is looked at by itself, too.
 *
 * Assumed: the stubs, which do what the standard says of functions of the C library; that lines about rights are parsed safely
 * (rights.c); and that an algorithm refuses a number of members safely. */
#include <arpa/inet.h>
#include <grp.h>
#include <limits.h>
#include <stdarg.h>
#include <unistd.h>

#include "strings.h" /* behind the headers of the C library: it gives other names to their functions */

#include "alg/list.h"
#include "core/text.h"
#include "lab/meant.h"
#include "serve/conf.h"

/* ---------------------------------------------------------------------------------------------------------- stubs */

/* Some text that ends within the size. */
static void prove_fill(char *to, size_t size)
{
    Frama_C_make_unknown(to, size);
    to[size - 1] = '\0';
}

static bool prove_long; /* texts that fill their buffers */

/* What a mistake says: a text of one byte, or one that does not fit. */
static int prove_vsnprintf(char *to, size_t size)
{
    size_t len = prove_long || size < 2 ? size - 1 : 1;

    for (size_t k = 0; k < len && k + 1 < size; k++)
        to[k] = k ? 'x' : (char)Frama_C_interval(1, 255);
    to[len] = '\0';
    return (int)len;
}

/* Copies a string, or the first bytes of it, as far as there is room. Returns its length. The rest counts as written, since Eva joins texts of
 * several lengths: reads behind the end of such a text, but within its buffer, are not noticed. */
static size_t prove_part(char *to, size_t size, int most, const char *from)
{
    size_t k = 0;

    for (; k + 1 < size && (most < 0 || k < (size_t)most) && from[k]; k++)
        to[k] = from[k];
    to[k] = '\0';
    for (size_t i = k + 1; i < size; i++)
        to[i] = '\0';
    return k;
}

/* "%.*s", "%s", "%s:%d" and "[%s]:%d". A number has one digit. Sentences that quote one word are as "%s:%d". */
static void prove_snprintf(char *to, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (format[0] == '%' && format[1] == '.') {
        int most = va_arg(args, int);

        prove_part(to, size, most, va_arg(args, const char *));
    } else if (format[0] == '%' && !format[2]) {
        prove_part(to, size, -1, va_arg(args, const char *));
    } else {
        bool brackets = format[0] == '[';
        size_t len = prove_part(to, size, -1, brackets ? "[" : "");
        char end[4] = {']', ':', (char)Frama_C_interval('0', '9'), '\0'};

        len += prove_part(to + len, size - len, -1, va_arg(args, const char *));
        prove_part(to + len, size - len, -1, end + !brackets);
    }
    va_end(args);
}

/* Copies into an array of this size. */
static void prove_copy(char *to, size_t size, const char *from, size_t n)
{
    //@ assert it_fits: n <= size;
    for (size_t k = 0; k < n; k++)
        to[k] = from[k];
}

/* Where the byte is in the set, Eva knows it afterwards: prove_strchr has only its value. */
static bool prove_in(const char *c, const char *set)
{
    for (; *set; set++)
        if (*c == *set)
            return true;
    return false;
}

static size_t prove_count(const char *s, const char *set, bool in)
{
    size_t len = 0;

    while (s[len] && prove_in(s + len, set) == in)
        len++;
    return len;
}

/* It stops where either ends. Eva does not know that an unknown byte is not 0, so it needs both. */
static int prove_compare(const char *a, const char *b)
{
    for (; *a && *b && *a == *b; a++, b++)
        ;
    return *a == *b ? 0 : (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static char *prove_strrchr(const char *s, int c)
{
    const char *found = NULL;

    for (;; s++) {
        if (*s == (char)c)
            found = s;
        if (!*s)
            return (char *)found;
    }
}

static int prove_strncmp(const char *a, const char *b, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (a[k] < b[k])
            return -1;
        if (a[k] > b[k])
            return 1;
        if (!a[k])
            return 0;
    }
    return 0;
}

static char *prove_strtok_r(char *s, const char *set, char **rest)
{
    char *word = s ? s : *rest;

    word += prove_count(word, set, true);
    *rest = word + prove_count(word, set, false);
    if (*word == '\0')
        return NULL;
    if (**rest)
        *(*rest)++ = '\0';
    return word;
}

/* Any number. The text that is read has digits, with blanks and a sign before them, or nothing. */
static long prove_strtol(const char *s, char **end)
{
    size_t len = prove_count(s, " \t\r\v\f\n", true), digits;

    len += s[len] == '-' || s[len] == '+';
    digits = prove_count(s + len, "0123456789", true);
    if (end)
        *end = (char *)s + (digits ? len + digits : 0);
    return Frama_C_long_interval(LONG_MIN, LONG_MAX);
}

static int prove_inet_pton(int family, const char *text, void *to)
{
    (void)prove_strlen(text);
    Frama_C_make_unknown(to, family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr));
    return Frama_C_interval(0, 1);
}

static const struct group *prove_getgrnam(const char *name)
{
    static struct group group;

    (void)prove_strlen(name);
    group.gr_gid = (gid_t)Frama_C_interval(0, 1000);
    return Frama_C_interval(0, 1) ? &group : NULL;
}

static int prove_gethostname(char *to, size_t size)
{
    prove_fill(to, size < 4 ? size : 4);
    return 0;
}

/* The members are in some order. */
static void prove_qsort(struct serve_member *member, size_t n)
{
    for (size_t k = 0; k + 1 < n; k++)
        if (Frama_C_interval(0, 1)) {
            struct serve_member m = member[k];

            member[k] = member[k + 1];
            member[k + 1] = m;
        }
}

const char *const record_level_name[RECORD_LEVELS + 1] = {"error", "warning", "info", "debug", NULL};
const char *const record_format_name[RECORD_FORMATS + 1] = {"text", "json", "journal", NULL};

bool record_is_journal(int fd)
{
    (void)fd;
    return Frama_C_interval(0, 1);
}

static const struct dme_alg prove_alg = {.name = "prove"};
const struct dme_alg *const alg_list[] = {&prove_alg, NULL};

const struct dme_alg *alg_find(const char *name)
{
    (void)prove_strlen(name);
    return Frama_C_interval(0, 1) ? &prove_alg : NULL;
}

bool locks_can_run(const struct dme_alg *alg, bool slots, uint32_t n, struct dme_text *why)
{
    (void)alg, (void)slots, (void)n;
    if (Frama_C_interval(0, 1))
        return true;
    prove_part(why->buf, why->size, -1, "no");
    return false;
}

struct rights *conf_rights(struct conf_draft *d, bool here)
{
    (void)d, (void)here;
    return NULL;
}

void conf_summarize(struct serve_conf *conf)
{
    (void)conf;
}

void dme_text_init(struct dme_text *text, char *buf, size_t size)
{
    *text = (struct dme_text){buf, size, 0};
    buf[0] = 0;
}

/* The place of a mistake. */
static void prove_place(struct dme_text *text)
{
    size_t len = prove_long ? text->size - 1 : 1;

    for (size_t k = 0; k < len; k++)
        text->buf[k] = 'x';
    text->buf[len] = '\0';
    text->len = len;
}

#undef snprintf
#undef strcmp
#undef strspn
#undef strcspn
#define strcmp prove_compare
#define strspn(s, set) prove_count(s, set, true)
#define strcspn(s, set) prove_count(s, set, false)
#define dme_print(text, ...) (printf(__VA_ARGS__), prove_place(text))
#define vsnprintf(to, size, format, args) prove_vsnprintf(to, size)
#define strrchr prove_strrchr
#define strncmp prove_strncmp
#define strtok_r prove_strtok_r
#define strtol(s, end, base) prove_strtol(s, end)
#define strtoul(s, end, base) (unsigned long)prove_strtol(s, end)
#define inet_pton prove_inet_pton
#define getgrnam prove_getgrnam
#define gethostname prove_gethostname
#define qsort(member, n, size, compare) prove_qsort(member, n)
#define memcpy(to, from, n) prove_copy(to, sizeof(to), from, n)
#define IN6_IS_ADDR_LOOPBACK(address) ((address)->s6_addr[15] == 1)

/* What an unknown word may have meant. */
static const char *prove_meant(const char *word, const char *const *names)
{
    (void)prove_strlen(word);
    return Frama_C_interval(0, 1) ? names[0] : NULL;
}

static void prove_mistake(struct conf_draft *d, const struct conf_setting *at)
{
    d->mistakes++;
    (void)at;
}

#include "lab/meant.c"
#define meant prove_meant
#include "conf_parts.c" /* serve/conf.c: tests/prove/run says what is different there */
#define snprintf prove_snprintf
#include "lock/policy.c"
#include "serve/members.c"
#include "serve/policy.c"
#undef meant

/* ---------------------------------------------------------------------------------------------------------- proof */

static struct conf_draft draft;
static struct serve_conf conf;

/* A draft that any lines may have left. */
static void prove_begin(void)
{
    memset(&conf, 0, sizeof conf);
    conf_begin(&draft);
    draft.file = "x";
    draft.members = (uint32_t)Frama_C_interval(0, NODE_MEMBERS_MAX);
    draft.policies = (uint32_t)Frama_C_interval(0, LOCK_POLICIES_MAX);
    draft.allows = (uint32_t)Frama_C_interval(0, RIGHTS_RULES_MAX);
    draft.limits = (uint32_t)Frama_C_interval(0, RIGHTS_LIMITS_MAX);
    draft.logins = (uint32_t)Frama_C_interval(0, RIGHTS_LOGINS_MAX);
}

/* No list has more entries than places. Eva has an alarm only where an access leaves the whole draft. */
static void prove_end(void)
{
    //@ assert members_fit: draft.members <= NODE_MEMBERS_MAX;
    //@ assert policies_fit: draft.policies <= LOCK_POLICIES_MAX;
    //@ assert allows_fit: draft.allows <= RIGHTS_RULES_MAX;
    //@ assert limits_fit: draft.limits <= RIGHTS_LIMITS_MAX;
    //@ assert logins_fit: draft.logins <= RIGHTS_LOGINS_MAX;
}

/* A file that begins with these bytes, and any behind them. */
static void prove_text(const char *first, size_t len)
{
    size_t first_len = prove_strlen(first);
    char *text = any_text(first_len + len);

    for (size_t k = 0; k < first_len; k++)
        text[k] = first[k];
    prove_begin();
    conf_read(&draft, "x", text);
    prove_end();
    free(text);
}

/* A line of this key, and any bytes behind it. */
static void prove_key(const char *key, size_t len)
{
    size_t key_len = prove_strlen(key);
    char *text = any_text(key_len + len);

    for (size_t k = 0; k < key_len; k++)
        text[k] = key[k];
    prove_begin();
    conf_line(&draft, text, 1);
    prove_end();
    free(text);
}

static void prove_lines(void)
{
    //@ loop unroll BYTES + 1;
    for (size_t len = 0; len <= BYTES; len++) {
        prove_text("", len);
        prove_text("\xef\xbb\xbf", len);
    }
    //@ loop unroll 3;
    for (size_t len = 0; len <= 2; len++) {
        //@ loop unroll CONF_KEYS;
        for (unsigned k = 0; k < CONF_KEYS; k++)
            prove_key(conf_keys[k].name, len);
        prove_key("member", len);
        prove_key("policy", len);
        prove_key("allow", len);
        prove_key("limit", len);
        prove_key("login", len);
    }
}

/* One more mistake: at any line of a file, or on the command line. */
static void prove_mistake_after(unsigned mistakes, bool file)
{
    struct conf_setting setting = {.key = "x", .line = (unsigned)(file ? Frama_C_interval(0, 1000) : 0)};

    conf_begin(&draft);
    draft.file = file ? "x" : NULL;
    //@ loop unroll CONF_MISTAKES_MAX;
    for (unsigned k = 0; k < CONF_MISTAKES_MAX; k++)
        draft.mistake[k].line = (unsigned)Frama_C_interval(0, 1000);
    draft.mistakes = mistakes;
    (conf_mistake)(&draft, Frama_C_interval(0, 1) ? &setting : NULL, "x");
}

static void prove_mistakes(void)
{
    prove_long = true;
    prove_mistake_after(0, true);
    prove_long = false;
    //@ loop unroll CONF_MISTAKES_MAX + 1;
    for (unsigned mistakes = 0; mistakes <= CONF_MISTAKES_MAX; mistakes++) {
        prove_mistake_after(mistakes, true);
        prove_mistake_after(mistakes, false);
    }
}

static void prove_meant_word(size_t len)
{
    static const char *const names[] = {"", "a", "slots", NULL};
    char *text = any_text(len);

    (void)(meant)(text, names);
    free(text);
}

/* What settings mean: this one is given; CONF_KEYS: all are. */
static void prove_setting(unsigned key, const char *text)
{
    prove_begin();
    //@ loop unroll CONF_KEYS;
    for (unsigned k = 0; k < CONF_KEYS; k++)
        draft.set[k].text = k == key || key == CONF_KEYS ? text : NULL;
    conf_empty(&draft);
    conf_certificates(&draft);
    conf_socket(&draft, &conf);
    conf_lease(&draft, &conf);
    conf_deadlock(&draft, &conf);
    conf_memory(&draft, &conf);
    conf_expiry(&draft, &conf);
    conf_log(&draft, &conf);
    conf_alone(&draft, &conf);
    (void)conf_default(&draft, CONF_ALGORITHM, "x", 1);
}

static void prove_address(const char *text)
{
    struct conf_setting setting = {.text = text, .key = "x", .line = 1};

    prove_begin();
    conf_address(&draft, &setting, &conf.clients, text);
    conf_split_address(&conf.http, text);
    (void)conf_objects(&conf, text, text);
}

static void prove_value(size_t len, size_t letters)
{
    char *text = any_text(letters + len);

    for (size_t k = 0; k < letters; k++)
        text[k] = 'a';
    prove_address(text);
    //@ loop unroll CONF_KEYS + 1;
    for (unsigned key = 0; key <= CONF_KEYS && !letters; key++)
        prove_setting(key, text);
    free(text);
}

/* A list of members, or a line of one: letters, "=" or not, and any bytes. */
static void prove_members(size_t letters, bool equals, size_t len, bool list)
{
    char *text = any_text(letters + equals + len);

    for (size_t k = 0; k < letters; k++)
        text[k] = 'a';
    if (equals)
        text[letters] = '=';
    memset(&conf, 0, sizeof conf);
    conf_begin(&draft);
    draft.set[CONF_MEMBERS].text = list ? text : NULL;
    draft.set[CONF_NAME].text = list ? "a" : NULL;
    draft.member[0].text = text;
    draft.members = !list;
    conf_members(&draft, &conf);
    free(text);
}

/* This member alone has any name. */
static void prove_name(size_t len)
{
    char *text = any_text(len);

    memset(&conf, 0, sizeof conf);
    conf_begin(&draft);
    draft.set[CONF_NAME].text = text;
    conf_members(&draft, &conf);
    free(text);
}

/* These letters, and any bytes behind them. */
static char *prove_begin_text(const char *letters, size_t len)
{
    size_t first = prove_strlen(letters);
    char *text = any_text(first + len);

    for (size_t k = 0; k < first; k++)
        text[k] = letters[k];
    return text;
}

static void prove_policies(const char *letters, size_t len)
{
    char *text = prove_begin_text(letters, len), *other = any_text(1);

    memset(&conf, 0, sizeof conf);
    conf_begin(&draft);
    draft.policy[0].text = other;
    draft.policy[1].text = text;
    draft.policies = 2;
    conf.n = 1;
    conf_policies(&draft, &conf);
    free(text);
    free(other);
}

static struct lock_policy list[LOCK_POLICIES_MAX];
static const struct policy_frame frame = {alg_find, &prove_alg, &prove_alg, 1};

/* A list of one line, or of what comes of line feeds in it. */
static void prove_policy_list(const char *letters, size_t len)
{
    char *text = prove_begin_text(letters, len), line[64];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    (void)policies_parse(list, text, &frame, &why);
    free(text);
}

/* One more line behind this many. */
static void prove_policy_after(uint32_t count)
{
    char line[64], text[] = "policy y slots=1";
    struct dme_text why;

    //@ loop unroll LOCK_POLICIES_MAX;
    for (uint32_t k = 0; k < LOCK_POLICIES_MAX; k++)
        list[k].pattern = "x";
    dme_text_init(&why, line, sizeof line);
    if (policies_line(list, count, text, &frame, &why)) {
        //@ assert it_fits: count < LOCK_POLICIES_MAX;
    }
}

static void prove_values(void)
{
    //@ loop unroll WORD + 1;
    for (size_t len = 0; len <= WORD; len++) {
        prove_meant_word(len);
        prove_value(len, 0);
        prove_name(len);
        prove_members(0, false, len, true);
        prove_members(1, true, len, true);
        prove_members(1, true, len, false);
        prove_policies("", len);
        prove_policies("y ", len);
        prove_policies("y slots=", len);
        prove_policies("y algorithm=", len);
        prove_policies("y slots-algorithm=", len);
        prove_policy_list("", len);
        prove_policy_list("policy ", len);
        prove_policy_list("policy y", len);
        prove_policy_list("policy y slots=", len + 1);
        prove_policy_list("policy y slots=1\n", len);
    }
    prove_policy_after(LOCK_POLICIES_MAX - 1);
    prove_policy_after(LOCK_POLICIES_MAX);
    //@ loop unroll 4;
    for (size_t letters = 61; letters <= 64; letters++) {
        prove_value(1, letters);
        prove_members(letters, true, 1, true);
    }
    //@ loop unroll 4;
    for (size_t letters = 156; letters <= 159; letters++)
        prove_members(letters, false, 1, false);
}

void prove_parser(void)
{
    prove_mistakes();
    prove_lines();
    prove_values();
    Frama_C_show_each_end();
}
