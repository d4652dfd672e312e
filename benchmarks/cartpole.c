/* A softmax policy that is linear in Fourier features, in C: what action selection in `aapi` is measured against.
 *
 * One observation after the other, as a policy meets them. The compiler may use fused multiply-adds and the C library its
 * own exp, sin and cos, so that the last digits differ from the library's. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* index: (actions, features). differences: (features, width), where difference s of action a is in column
 * s * actions + a, and the rest of a row is zero. */
typedef struct {
    int64_t dimension, order, num_features, num_actions, width;
    const double *low, *range;
    const double *index, *differences;
} Policy;

/* From e^{ix}, in the first `filled` entries, to e^{i(x + k y)}, k = 0 .. order, given cos y and sin y. */
static int64_t fill_waves(double cosine, double sine, int64_t order, double *restrict real, double *restrict imaginary,
                          int64_t filled, int last) {
    double wave_real = 1.0, wave_imaginary = 0.0;
    for (int64_t k = 1; k <= order; k++) {
        const double turned = wave_real * cosine - wave_imaginary * sine;
        wave_imaginary = wave_real * sine + wave_imaginary * cosine;
        wave_real = turned;
        double *real_k = real + k * filled, *imaginary_k = imaginary + k * filled;
#pragma GCC ivdep
        for (int64_t i = 0; i < filled; i++) real_k[i] = real[i] * wave_real - imaginary[i] * wave_imaginary;
        if (last) continue;
#pragma GCC ivdep
        for (int64_t i = 0; i < filled; i++) imaginary_k[i] = real[i] * wave_imaginary + imaginary[i] * wave_real;
    }
    return filled * (order + 1);
}

/* cos(pi c.s) for c in {0 .. order}^dimension, then the observation itself. */
static void fill_features(const Policy policy, const double *restrict observation, double *restrict features,
                          double *restrict work) {
    int64_t filled = 1;
    features[0] = 1.0;
    work[0] = 0.0;
    for (int64_t j = 0; j < policy.dimension; j++) {
        double place = (observation[j] - policy.low[j]) / policy.range[j];
        place = place > 0.0 ? place : 0.0;
        place = place < 1.0 ? place : 1.0;
        const double angle = M_PI * place;
        filled = fill_waves(cos(angle), sin(angle), policy.order, features, work, filled, j == policy.dimension - 1);
    }
    for (int64_t j = 0; j < policy.dimension; j++) features[filled + j] = observation[j];
}

/* In four partial sums, which fit a vector register. */
static double dot(const double *restrict left, const double *restrict right, int64_t size) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t i = 0;
    for (; i + 4 <= size; i += 4)
        for (int64_t lane = 0; lane < 4; lane++) sums[lane] += left[i + lane] * right[i + lane];
    for (; i < size; i++) sums[0] += left[i] * right[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* out = features' weights, four features at a time, so that `out` is read and written once for all of them. */
static void weigh(const double *restrict features, const double *restrict weights, int64_t num_features, int64_t width,
                  double *restrict out) {
    for (int64_t r = 0; r < width; r++) out[r] = 0.0;
    int64_t f = 0;
    for (; f + 4 <= num_features; f += 4) {
        const double f0 = features[f], f1 = features[f + 1], f2 = features[f + 2], f3 = features[f + 3];
        const double *restrict w0 = weights + f * width, *restrict w1 = w0 + width;
        const double *restrict w2 = w1 + width, *restrict w3 = w2 + width;
        for (int64_t r = 0; r < width; r++) out[r] = out[r] + (f0 * w0[r] + f1 * w1[r] + f2 * w2[r] + f3 * w3[r]);
    }
    for (; f < num_features; f++)
        for (int64_t r = 0; r < width; r++) out[r] += features[f] * weights[f * width + r];
}

/* The root of the sum of squared sup-norms of the differences, without squares that over- or underflow. */
static double root_sum(const double *restrict products, int64_t count, int64_t num_actions, double *restrict sizes) {
    double largest = 0.0;
    for (int64_t s = 0; s < count; s++) {
        double size = 0.0;
        for (int64_t a = 0; a < num_actions; a++) {
            const double magnitude = fabs(products[s * num_actions + a]);
            size = magnitude > size ? magnitude : size;
        }
        sizes[s] = size;
        largest = size > largest ? size : largest;
    }
    if (!(largest > 0.0)) return 0.0;
    double total = 0.0;
    for (int64_t s = 0; s < count; s++) {
        const double ratio = sizes[s] / largest;
        total += ratio * ratio;
    }
    return largest * sqrt(total);
}

/* probabilities: (count, actions), at observations of shape (count, dimension). Returns 0, or 1 for want of memory. */
int act(const Policy *given, int64_t count, const double *restrict observations, double *restrict probabilities) {
    const Policy policy = *given;
    const int64_t num_actions = policy.num_actions, num_features = policy.num_features;
    const size_t in_rows = ((size_t)num_features + 7) / 8 * 8, in_columns = ((size_t)policy.width + 7) / 8 * 8;
    double *numbers = aligned_alloc(64, 2 * (in_rows + in_columns) * sizeof *numbers);
    if (!numbers) return 1;
    double *features = numbers, *work = features + in_rows, *products = work + in_rows, *sizes = products + in_columns;
    for (int64_t t = 0; t < count; t++) {
        double *scores = probabilities + t * num_actions;
        fill_features(policy, observations + t * policy.dimension, features, work);
        double top = -INFINITY;
        for (int64_t a = 0; a < num_actions; a++) {
            scores[a] = dot(features, policy.index + a * num_features, num_features);
            top = scores[a] > top ? scores[a] : top;
        }
        weigh(features, policy.differences, num_features, policy.width, products);
        const double temperature = root_sum(products, policy.width / num_actions, num_actions, sizes);
        double total = 0.0;
        for (int64_t a = 0; a < num_actions; a++) {
            const double below = scores[a] - top;
            scores[a] = below == 0.0 ? 1.0 : temperature == 0.0 ? 0.0 : exp(below / temperature);
            total += scores[a];
        }
        for (int64_t a = 0; a < num_actions; a++) scores[a] /= total;
    }
    free(numbers);
    return 0;
}
