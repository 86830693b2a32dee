#include "Check.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>

namespace {

double defaultTolerance(sprt_dtype dtype) {
  switch (dtype) {
  case SPRT_F64:
  case SPRT_C128:
    return 1e-10;
  case SPRT_F32:
  case SPRT_C64:
    return 1e-5;
  case SPRT_F16:
  case SPRT_BF16:
    return 2e-2;
  default:
    return 0;
  }
}

std::string indexText(int64_t element, const sprt_parameter &parameter) {
  std::string text;
  for (int32_t d = parameter.dimensions; d-- > 0; element /= parameter.shape[d])
    text = std::to_string(element % parameter.shape[d]) +
           (text.empty() ? "" : ",") + text;
  return "[" + text + "]";
}

/// |a-b|; 0 where both are the same special value, infinite where only one is.
double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  double result = std::fabs(a - b);
  return std::isnan(result) ? std::numeric_limits<double>::infinity() : result;
}

struct Worst {
  int64_t element = 0;
  double error = 0;
  double got = 0;
  double expected = 0;
  double largest = 0; ///< of the finite reference values
};

Worst compare(const sprt_array &result, const sprt_array &reference,
              int64_t elements) {
  Worst worst;
  // A complex number is two real ones.
  bool complex = result.dtype == SPRT_C64 || result.dtype == SPRT_C128;
  int64_t parts = complex ? 2 : 1;
  auto real = [](sprt_dtype dtype) {
    return dtype == SPRT_C64 ? SPRT_F32 : dtype == SPRT_C128 ? SPRT_F64 : dtype;
  };
  for (int64_t i = 0; i < elements * parts; ++i) {
    double a = sprt_array_element(real(result.dtype), result.data, i);
    double b = sprt_array_element(real(reference.dtype), reference.data, i);
    double error = difference(a, b);
    if (std::isfinite(b))
      worst.largest = std::max(worst.largest, std::fabs(b));
    if (error > worst.error || i == 0)
      worst.element = i / parts, worst.error = error, worst.got = a,
      worst.expected = b;
  }
  return worst;
}

} // namespace

bool checkResults(const sprt_program *program, const Options &options,
                  const std::vector<sprt_array> &results, Errors &out_errors) {
  sprt_arrays *arrays = nullptr;
  if (failed(sprt_arrays_read(options.check.c_str(), &arrays)))
    return false;
  ArraysPtr owner(arrays);
  bool passed = true;
  for (size_t i = 0; i < results.size(); ++i) {
    sprt_parameter parameter = resultOf(program, static_cast<int64_t>(i));
    sprt_array reference;
    if (!findArray(arrays, options.check, parameter, "result",
                   static_cast<int64_t>(i), reference))
      return false;
    // Raw 16-bit words stand for bf16 where a bf16 was computed.
    if (parameter.dtype == SPRT_BF16 &&
        sprt_dtype_accepts(SPRT_BF16, reference.dtype))
      reference.dtype = SPRT_BF16;
    int64_t elements = 1;
    for (int32_t d = 0; d < parameter.dimensions; ++d)
      elements *= parameter.shape[d];
    Worst worst =
        elements > 0 ? compare(results[i], reference, elements) : Worst();
    double relative = worst.error == 0 ? 0 : worst.error / worst.largest;
    double rtol =
        options.rtol >= 0 ? options.rtol : defaultTolerance(parameter.dtype);
    bool close = worst.error <= options.atol + rtol * worst.largest;
    passed &= close;
    out_errors.compared = true;
    out_errors.maxAbs = std::max(out_errors.maxAbs, worst.error);
    out_errors.maxRel = std::max(out_errors.maxRel, relative);
    std::fprintf(close ? stdout : stderr,
                 "%sresult%zu  max abs error %.3g, relative %.3g (%s %.3g)",
                 close ? "" : "sp-run: error: ", i, worst.error, relative,
                 close ? "within" : "expected at most", rtol);
    int64_t rank = -1;
    if (elements > 0)
      sprt_status_free(sprt_program_result_rank(
          program, static_cast<int64_t>(i), worst.element, &rank));
    if (worst.error > 0)
      std::fprintf(close ? stdout : stderr,
                   ", worst at %s of rank %" PRId64 ": got %.9g, expected %.9g",
                   indexText(worst.element, parameter).c_str(), rank, worst.got,
                   worst.expected);
    std::fputs("\n", close ? stdout : stderr);
  }
  return passed;
}
