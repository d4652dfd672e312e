/* AAPI with one-hot features on a finite MDP, in C: what the compiled learning loop of `aapi` is measured against.
 *
 * Runs are independent, so each goes through all its phases before the next begins, and all it works on stays in the
 * cache. Floating-point operations come in the order of the library, so that both compute the same bits; for the same
 * reason it is compiled without contraction to fused multiply-adds. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t s0, s1, s2, s3;
} Stream;

/* Walker's alias tables: pair x * actions + a has the columns starts[pair] .. starts[pair + 1] - 1. */
typedef struct {
    int64_t num_states, num_actions;
    const int64_t *starts;
    const double *thresholds;
    const uint32_t *successors, *alternatives;
    const double *rewards;
} Model;

typedef struct {
    int64_t num_phases, phase_length, horizon;
    int64_t centre;
    double ridge, eta;
} Settings;

/* xoshiro256++ (Blackman and Vigna 2021), as a number in [0, 1). */
static inline double draw(Stream *stream) {
    const uint64_t s0 = stream->s0, s3 = stream->s3, sum = s0 + s3;
    const uint64_t bits = ((sum << 23) | (sum >> 41)) + s0;
    const uint64_t shifted = stream->s1 << 17;
    const uint64_t s2 = stream->s2 ^ s0, turned = s3 ^ stream->s1;
    stream->s1 ^= s2;
    stream->s0 = s0 ^ turned;
    stream->s2 = s2 ^ shifted;
    stream->s3 = (turned << 45) | (turned >> 19);
    return (double)(int64_t)(bits >> 11) * 0x1p-53; /* signed, which converts in one instruction */
}

/* Act for a phase: the pair of every step, and the rewards cumulated before it. Returns the state it leads to. */
static int64_t roll(const Model model, const double *restrict policy, int64_t steps, int64_t x, Stream *restrict where,
                    int32_t *restrict pairs, double *restrict cumulated) {
    Stream stream = *where;
    const int64_t num_actions = model.num_actions;
    double total = 0.0;
    cumulated[0] = 0.0;
    for (int64_t t = 0; t < steps; t++) {
        const double u = draw(&stream);
        const double *probabilities = policy + x * num_actions;
        double reached = 0.0;
        int64_t a = 0;
        for (int64_t action = 0; action < num_actions; action++) {
            if (probabilities[action] > 0.0) {
                a = action;
                reached += probabilities[action];
                if (u < reached) break;
            }
        }
        const int64_t pair = x * num_actions + a;
        pairs[t] = (int32_t)pair;
        total += model.rewards[pair];
        cumulated[t + 1] = total;
        const int64_t first = model.starts[pair], count = model.starts[pair + 1] - first;
        if (count > 1) {
            const double place = draw(&stream) * (double)count;
            const int64_t column = (int64_t)place;
            const int kept = place - (double)column < model.thresholds[first + column];
            x = kept ? model.successors[first + column] : model.alternatives[first + column];
        } else {
            x = model.successors[first];
        }
    }
    *where = stream;
    return x;
}

/* Every-visit averages of truncated returns: Q of the phase's policy. */
static void evaluate(const Settings settings, int64_t num_pairs, const int32_t *restrict pairs,
                     const double *restrict cumulated, double *restrict visits, double *restrict q) {
    const int64_t steps = settings.phase_length, horizon = settings.horizon;
    const double baseline = settings.centre ? (double)horizon * (cumulated[steps] / (double)steps) : 0.0;
    memset(visits, 0, (size_t)num_pairs * sizeof *visits);
    memset(q, 0, (size_t)num_pairs * sizeof *q);
    for (int64_t t = 0; t <= steps - horizon; t++) {
        visits[pairs[t]] += 1.0;
        q[pairs[t]] += (cumulated[t + horizon] - cumulated[t]) - baseline;
    }
    for (int64_t pair = 0; pair < num_pairs; pair++)
        if (visits[pair] > 0.0) q[pair] /= visits[pair] + settings.ridge;
}

/* Follow the regularised leader in every state, with the last Q as side information. */
static void improve(int64_t num_states, int64_t num_actions, double scale, const double *restrict q,
                    const double *restrict predicted, double *restrict sum, double *restrict root_sum,
                    double *restrict policy) {
    for (int64_t x = 0; x < num_states; x++) {
        const double *new = q + x * num_actions, *old = predicted + x * num_actions;
        double *sums = sum + x * num_actions, *probabilities = policy + x * num_actions;
        double surprise = 0.0, top = -INFINITY;
        for (int64_t a = 0; a < num_actions; a++) {
            const double difference = fabs(new[a] - old[a]);
            surprise = difference > surprise ? difference : surprise;
            sums[a] += new[a];
            probabilities[a] = sums[a] + new[a];
            top = probabilities[a] > top ? probabilities[a] : top;
        }
        const double larger = surprise > root_sum[x] ? surprise : root_sum[x];
        const double smaller = surprise > root_sum[x] ? root_sum[x] : surprise;
        if (larger > 0.0) {
            const double ratio = smaller / larger;
            root_sum[x] = larger * sqrt(1.0 + ratio * ratio);
        }
        const double temperature = scale * root_sum[x];
        double total = 0.0;
        for (int64_t a = 0; a < num_actions; a++) {
            const double below = probabilities[a] - top;
            probabilities[a] = below == 0.0 ? 1.0 : temperature == 0.0 ? 0.0 : exp(below / temperature);
            total += probabilities[a];
        }
        for (int64_t a = 0; a < num_actions; a++) probabilities[a] /= total;
    }
}

/* phase_rewards: (runs, phases). policies: (runs, pairs), the policy that would come next. Returns 0, or 1 for want of
 * memory. */
int learn(const Model *model, const Settings *settings, int64_t num_runs, int64_t initial_state,
          Stream *restrict streams, double *restrict phase_rewards, double *restrict policies) {
    const int64_t num_states = model->num_states, num_actions = model->num_actions;
    const int64_t num_pairs = num_states * num_actions, steps = settings->phase_length;
    const double scale = settings->eta * sqrt(2.0);
    int32_t *pairs = malloc((size_t)steps * sizeof *pairs);
    double *numbers = malloc((size_t)(steps + 1 + 4 * num_pairs + num_states) * sizeof *numbers);
    if (!pairs || !numbers) {
        free(pairs);
        free(numbers);
        return 1;
    }
    double *cumulated = numbers, *visits = cumulated + steps + 1, *q = visits + num_pairs;
    double *predicted = q + num_pairs, *sum = predicted + num_pairs, *root_sum = sum + num_pairs;
    for (int64_t run = 0; run < num_runs; run++) {
        double *policy = policies + run * num_pairs;
        int64_t x = initial_state;
        for (int64_t pair = 0; pair < num_pairs; pair++) {
            policy[pair] = 1.0 / (double)num_actions;
            predicted[pair] = sum[pair] = 0.0;
        }
        memset(root_sum, 0, (size_t)num_states * sizeof *root_sum);
        for (int64_t phase = 0; phase < settings->num_phases; phase++) {
            x = roll(*model, policy, steps, x, &streams[run], pairs, cumulated);
            phase_rewards[run * settings->num_phases + phase] = cumulated[steps];
            evaluate(*settings, num_pairs, pairs, cumulated, visits, q);
            improve(num_states, num_actions, scale, q, predicted, sum, root_sum, policy);
            double *spare = predicted;
            predicted = q;
            q = spare;
        }
    }
    free(pairs);
    free(numbers);
    return 0;
}
