/* AAPI with one-hot features on a finite MDP in plain C, the way one would write it: what `aapi` is measured against.
 *
 * One run after the other, so that all it works on stays in the cache; nothing is bound to how the library does it, so
 * that the compiler may use whatever the processor has. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

typedef struct {
    int64_t num_phases, phase_length, horizon;
    double ridge, eta;
} Settings;

/* Act for a phase: the pair of every step, and the rewards before it. Returns the state it leads to. */
static int64_t roll(const Model *model, const double *restrict cumulated, int64_t steps, int64_t x, uint64_t *stream,
                    int32_t *restrict pairs, double *restrict earned) {
    const int64_t num_actions = model->num_actions;
    uint64_t s[4] = {stream[0], stream[1], stream[2], stream[3]};
    double total = 0.0;
    earned[0] = 0.0;
    for (int64_t t = 0; t < steps; t++) {
        const double u = draw(s), *row = cumulated + x * num_actions;
        int64_t a = 0;
        while (a < num_actions - 1 && u >= row[a]) a++;
        const int64_t pair = x * num_actions + a, first = model->starts[pair], count = model->starts[pair + 1] - first;
        pairs[t] = (int32_t)pair;
        total += model->rewards[pair];
        earned[t + 1] = total;
        const double place = draw(s) * (double)count;
        const int64_t column = first + (int64_t)place;
        x = place - floor(place) < model->thresholds[column] ? model->successors[column] : model->alternatives[column];
    }
    memcpy(stream, s, sizeof s);
    return x;
}

/* total_rewards: of each run. Returns 0, or 1 for want of memory. */
int learn(const Model *model, const Settings *settings, int64_t num_runs, int64_t initial_state, uint64_t *streams,
          double *total_rewards) {
    const int64_t num_states = model->num_states, num_actions = model->num_actions;
    const int64_t num_pairs = num_states * num_actions, steps = settings->phase_length, horizon = settings->horizon;
    int32_t *pairs = malloc((size_t)steps * sizeof *pairs);
    double *numbers = malloc((size_t)(steps + 1 + 5 * num_pairs + num_states) * sizeof *numbers);
    if (!pairs || !numbers) {
        free(pairs);
        free(numbers);
        return 1;
    }
    double *earned = numbers, *visits = earned + steps + 1, *q = visits + num_pairs, *predicted = q + num_pairs;
    double *sum = predicted + num_pairs, *cumulated = sum + num_pairs, *surprise = cumulated + num_pairs;
    for (int64_t run = 0; run < num_runs; run++) {
        int64_t x = initial_state;
        total_rewards[run] = 0.0;
        for (int64_t pair = 0; pair < num_pairs; pair++) {
            cumulated[pair] = (double)(pair % num_actions + 1) / (double)num_actions;
            predicted[pair] = sum[pair] = 0.0;
        }
        memset(surprise, 0, (size_t)num_states * sizeof *surprise);
        for (int64_t phase = 0; phase < settings->num_phases; phase++) {
            x = roll(model, cumulated, steps, x, streams + 4 * run, pairs, earned);
            total_rewards[run] += earned[steps];
            /* Monte Carlo: averages of centred returns over the visits of each pair. */
            const double baseline = (double)horizon * (earned[steps] / (double)steps);
            memset(visits, 0, (size_t)num_pairs * sizeof *visits);
            memset(q, 0, (size_t)num_pairs * sizeof *q);
            for (int64_t t = 0; t + horizon <= steps; t++) {
                visits[pairs[t]] += 1.0;
                q[pairs[t]] += earned[t + horizon] - earned[t] - baseline;
            }
            for (int64_t pair = 0; pair < num_pairs; pair++)
                if (visits[pair] > 0.0) q[pair] /= visits[pair] + settings->ridge;
            /* Adaptive optimistic follow-the-regularised-leader in every state. */
            for (int64_t state = 0; state < num_states; state++) {
                double *now = q + state * num_actions, *before = predicted + state * num_actions;
                double *sums = sum + state * num_actions, *row = cumulated + state * num_actions;
                double worst = 0.0, top = -INFINITY, total = 0.0;
                for (int64_t a = 0; a < num_actions; a++) {
                    worst = fmax(worst, fabs(now[a] - before[a]));
                    sums[a] += now[a];
                    row[a] = sums[a] + now[a];
                    top = fmax(top, row[a]);
                }
                surprise[state] += worst * worst;
                const double temperature = settings->eta * sqrt(2.0 * surprise[state]);
                for (int64_t a = 0; a < num_actions; a++) {
                    total += temperature > 0.0 ? exp((row[a] - top) / temperature) : row[a] == top;
                    row[a] = total;
                }
                for (int64_t a = 0; a < num_actions; a++) row[a] /= total;
            }
            double *spare = predicted;
            predicted = q;
            q = spare;
        }
    }
    free(pairs);
    free(numbers);
    return 0;
}
