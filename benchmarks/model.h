/* What the C programs beside this file have in common: a model to step, and random numbers. */
#include <stdint.h>

/* Alias tables: pair x * actions + a has the columns starts[pair] .. starts[pair + 1] - 1. */
typedef struct {
    int64_t num_states, num_actions;
    const int64_t *starts;
    const double *thresholds;
    const uint32_t *successors, *alternatives;
    const double *rewards;
} Model;

/* xoshiro256++ (Blackman and Vigna 2021), as a number in [0, 1). */
static inline double draw(uint64_t *s) {
    const uint64_t sum = s[0] + s[3], bits = ((sum << 23) | (sum >> 41)) + s[0], shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return (double)(int64_t)(bits >> 11) * 0x1p-53;
}
