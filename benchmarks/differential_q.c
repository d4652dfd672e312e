/* Differential Q-learning on a finite MDP in plain C, the way one would write it, one run after the other. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* total_rewards: of each run. Returns 0, or 1 for want of memory. */
int learn(const Model *model, double step_size, double gain_rate, double epsilon, int64_t steps, int64_t num_runs,
          int64_t initial_state, uint64_t *streams, double *total_rewards) {
    const int64_t num_actions = model->num_actions, num_pairs = model->num_states * num_actions;
    double *q = malloc((size_t)num_pairs * sizeof *q);
    if (!q) return 1;
    for (int64_t run = 0; run < num_runs; run++) {
        uint64_t s[4];
        memcpy(s, streams + 4 * run, sizeof s);
        memset(q, 0, (size_t)num_pairs * sizeof *q);
        double gain = 0.0, total = 0.0;
        int64_t x = initial_state;
        for (int64_t t = 0; t < steps; t++) {
            const double u = draw(s), *row = q + x * num_actions;
            int64_t a = 0;
            if (u < epsilon) {
                a = (int64_t)(u / epsilon * (double)num_actions);
            } else {
                for (int64_t b = 1; b < num_actions; b++)
                    if (row[b] > row[a]) a = b;
            }
            const int64_t pair = x * num_actions + a, first = model->starts[pair];
            const double place = draw(s) * (double)(model->starts[pair + 1] - first), reward = model->rewards[pair];
            const int64_t column = first + (int64_t)place;
            x = place - floor(place) < model->thresholds[column] ? model->successors[column] : model->alternatives[column];
            const double *next = q + x * num_actions;
            double best = next[0];
            for (int64_t b = 1; b < num_actions; b++) best = fmax(best, next[b]);
            const double change = step_size * (reward - gain + best - q[pair]);
            q[pair] += change;
            gain += gain_rate * change;
            total += reward;
        }
        total_rewards[run] = total;
    }
    free(q);
    return 0;
}
