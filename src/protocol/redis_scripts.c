/* redis_scripts.c - see redis_scripts.h. tests/redis_locks.sh runs some libraries, unmodified. The digests of
 * the others are those of their published scripts. */
#include "redis_scripts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SCRIPT_TEXT_MAX = 1 << 12 };

const char script_libraries[] =
    "redis-py, redlock-py, node-redlock 3 to 5, redis-semaphore (Mutex), redsync, Laravel, ShedLock, Spring's "
    "RedisLockRegistry (spin locks) and Redisson (RLock of getLock)";

/* By the digest of the text as it is, and of the text without comments, white space and differences of quotation marks. */
static const struct script {
    const char *sha1, *plain;
    enum script_means means;
} scripts[] = {
    /* redis-py: release, extend, reacquire */
    {"c3f8721cbb97f72bc19e972846bd7aaf91901658", "d214d855453090fb73077dd608bef0fdf06d89f0", SCRIPT_RELEASE},
    {"a4e8783852e6b949f9ef3a97212805108459a890", "e2fec663793074635604e47026e7592ce9835275", SCRIPT_EXTEND_BY},
    {"1cac51482acf5858da00f6d685d68f886cd6b6b2", "409f8ac7e94a48cdbc580ae97a2fef60def449e3", SCRIPT_EXTEND},
    /* node-redlock 5 and 4: acquire, extend, release */
    {"96da70f7716f27d278a5218544df37fd8b0a5e4c", "6ee0f75f76ef6c73dd35c8d50a4c613a64b636bd", SCRIPT_ACQUIRE},
    {"aed6f382e410db8ba7926d4e5e9aab410bf2a78a", "ab91c54554a7536308a6b45f0ca48ed572d29a9a", SCRIPT_EXTEND},
    {"e4612211c9f8f51c257e26e056b0a654b3187242", "9853dbcfb5ded7858d7cdafcf32d3aed1655e48f", SCRIPT_RELEASE},
    {"e5a322e2634ef59a516e8ea150cb085afafee684", NULL, SCRIPT_ACQUIRE},
    {"ce46f80993d5dac20dd066eb301a4e37994bdbed", NULL, SCRIPT_EXTEND},
    {"0f0f23b9048b36752b5be114f357ba083449f908", NULL, SCRIPT_RELEASE},
    /* node-redlock 3: acquire, extend; and, as many others have it, release */
    {"862f31bf38e9b63ce28d6e9e5143551bb34ef981", "230413ca975490192d8fb9743eded1548b73f479", SCRIPT_ACQUIRE_SET},
    {"a7aba3bc5d6e99b3003da8b9d80a63b9f4092ecf", "69c83c2c72f194f785721733b61d8e231462a0f3", SCRIPT_EXTEND},
    {"cf0e94b2e9ffc7e04395cf88f7583fc309985910", "8495ec8158ab82a537af96feaa2f098671909b2f", SCRIPT_RELEASE},
    /* redlock-py, redsync before 4.12, Laravel, ShedLock: release; redsync: extend */
    {"4e92fdc63815b3a0a2dd1c1df3694de73607c88d", NULL, SCRIPT_RELEASE},
    {"00583931c4e4d483f6233879c133c71ed5393f9d", NULL, SCRIPT_RELEASE},
    {"647c65a442733a1aa440f99908d249d13b4d6c4a", NULL, SCRIPT_RELEASE},
    {"194f3902b2dd08557818d09fc2e7682d91480e53", NULL, SCRIPT_RELEASE},
    {"67256370c2d1c87e2250898075542b1a7fa5b917", NULL, SCRIPT_EXTEND},
    {"d75bb8b5bd13532ddedd17762e772346e39b321e", NULL, SCRIPT_EXTEND},
    /* redsync from 4.12 on: release */
    {"e950836ed1e694540c503ef9972b8de518044d3b", NULL, SCRIPT_RELEASE_OR},
    /* redis-semaphore, mutex: refresh, release */
    {"594683e49a64ebaf975caf5f8079a1d097c438f1", "fac70d174264960712c092e33bf3ca391146bc3a", SCRIPT_EXTEND},
    {"7157921a7cc7cfba979acf6d63f073151df17d12", "184bc454c9f0bc5f7e2b3aebda1ee43ab397d54f", SCRIPT_RELEASE},
    /* Spring, RedisLockRegistry with spin locks: obtain, renew, release */
    {"175897a4e379e99e79a54937be09226f76cdcfe5", "2cf654a4d20327363421a97a1f8c6bd5059008f4", SCRIPT_OBTAIN},
    {"879e0f7b8d83c3266d4e996627438c05dbda0b89", "1ddc5f0c05a5a05a3390486955900f2719902bff", SCRIPT_RENEW},
    {"f0f9038aa2b6d6c3436c72d147573ea2a58f0ef2", "4999dd89038ed5237396e5fbef2752b7e4310b96", SCRIPT_GIVE_BACK},
    {"356d97191f2b63031781ccc0e8e82f02e1995a90", "8e5830856222ca38cadadd379e50a74cbabe7ca4", SCRIPT_GIVE_BACK},
    /* Redisson, RLock, from 2015 to 2026, the newest first: lock, unlock, renew, unlock by force */
    {"149c5a8bf18676fd99e9e6e24923bd64d9b62f94", "853e867d0cfaa9c591035fb02470fdc52101e2b1", SCRIPT_COUNT_UP},
    {"dad0f8d619e548e04f21fb48d50be5034df3adae", "e47f9ad3049d2cef91ab6776d15044bb73a91db9", SCRIPT_COUNT_UP},
    {"9401052d872adfd0179ef8c8e8c028512707629a", "c65465713f172a45abb18b01ec590cb9190c2b31", SCRIPT_COUNT_UP},
    {"6866459238a13a701d42f4971f12d9f3a50e2442", "dcff8f755698f77c2d887efa3eb08ffc177f5b70", SCRIPT_COUNT_DOWN},
    {"778cea8aada230ae060b432fc333adaec85f2f4c", "a07b6e6862430dc67c80c9f8634f533d33002f92", SCRIPT_COUNT_DOWN},
    {"3ffe249c16dee540ac8ab32e39bd408626b9aff7", "48b31eb4d389e21f01bf50d8a44e905a360431b7", SCRIPT_COUNT_DOWN},
    {"93cfc048f82624d1670a310aa0ad58918c0824a5", "10fde5a3dd7fcb7c33c67dd6b7f63875ae095bd5", SCRIPT_COUNT_DOWN},
    {"8e19a1ddbdee9138df9f32a480c57addab4353d1", "dd42a662bc134a468811d495c95be31187f8615d", SCRIPT_REFRESH},
    {"6a3d31570dc6f4b0bd32bcdc8e75667747c6f635", "41146bc01f81264e6014b278ce4aa207188ba9bb", SCRIPT_REFRESH_EACH},
    {"605e338249a7a1d40df83b04f7658354f883b41b", "7ad043aa46d7dfd22337401a2ed40937a03bf99f", SCRIPT_REMOVE},
    {"7e9c80b3d786b95d5d4aaf8fd73adb9775fa6fb1", "fc745e9349a774f47a1c7fe0db1df0bbb661ea92", SCRIPT_REMOVE},
};

static enum script_means script_find(const char *hex, bool plain)
{
    for (size_t k = 0; k < sizeof scripts / sizeof scripts[0]; k++) {
        const char *known = plain ? scripts[k].plain : scripts[k].sha1;

        if (known && strncasecmp(known, hex, SHA1_HEX) == 0)
            return scripts[k].means;
    }
    return SCRIPT_UNKNOWN;
}

enum script_means script_by_sha1(const char hex[SHA1_HEX])
{
    return script_find(hex, false);
}

/* Without comments and white space, and with one sort of quotation marks. Returns the length. */
static size_t script_strip(const char *text, size_t len, char *plain)
{
    size_t end = 0;

    for (size_t k = 0; k < len; k++) {
        if (text[k] == '-' && k + 1 < len && text[k + 1] == '-')
            while (k < len && text[k] != '\n')
                k++;
        if (k < len && !strchr(" \t\r\n\v\f", text[k]))
            plain[end++] = text[k] == '\'' ? '"' : text[k];
    }
    return end;
}

enum script_means script_by_text(const char *text, size_t len)
{
    char hex[SHA1_HEX + 1], plain[SCRIPT_TEXT_MAX];
    enum script_means means;

    if (len > sizeof plain)
        return SCRIPT_UNKNOWN;
    sha1_hex(text, len, hex);
    means = script_find(hex, false);
    if (means != SCRIPT_UNKNOWN)
        return means;
    sha1_hex(plain, script_strip(text, len, plain), hex);
    return script_find(hex, true);
}
