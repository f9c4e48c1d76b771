// Products of rows with weights, and the gradients of both: what linear layers do, in float.
//
// For matrices as layers of a model have them: many rows, few columns. Such rows are multiplied
// where they lie, while a general library copies them first, which takes a fifth of its time. How
// the work is divided depends on the sizes alone: results are bit-equal for any number of threads.
// They differ in the last bits between processors with other vectors.
#pragma once

#include <cstddef>
#include <span>

namespace graphmount {

/// Whether these products are known to be faster than those of a general library, on a processor
/// like this one: it has vectors of 256 bits and sums of products, and is not Intel's, where nobody
/// has measured. By what the processor is alone, so that all runs on it give the same.
bool has_fast_products();

/// Rows, and the weights that they are multiplied with: `outputs` times `inputs` of them.
struct LinearPart {
  std::span<const float> rows, weights;
  std::size_t inputs = 0;
};

/// For each row, `bias` and the products of all parts with their weights (rows of weights are what
/// one output takes). No bias counts as zeros. With `relu`, results below 0 become 0. Throws
/// std::invalid_argument if a size does not fit.
void apply_weights(std::span<const LinearPart> parts, std::span<const float> bias,
                   std::size_t outputs, bool relu, std::span<float> out);

/// The gradient of results: `outputs` for each row. With `relu`, `results` are those that were
/// made, and where they are 0 nothing goes back; else they are left out.
struct ResultGradient {
  std::span<const float> values, results;
  std::size_t outputs = 0;
};

/// The gradient of the rows of one part: that of the results, times the weights.
void return_to_rows(const ResultGradient& gradient, std::span<const float> weights,
                    std::size_t inputs, std::span<float> out);

/// Rows of one part, and where the gradient of its weights goes.
struct WeightGradient {
  std::span<const float> rows;
  std::size_t inputs = 0;
  std::span<float> out;
};

/// The gradients of the weights of all parts: for each output and input, the sum over rows of their
/// products. And that of the bias, the sum over rows, unless `bias` is empty.
void return_to_weights(const ResultGradient& gradient, std::span<const WeightGradient> parts,
                       std::span<float> bias);

}  // namespace graphmount
